//! The harness of the ratios: runs two sides in turn and prints their rows.
#![allow(clippy::print_stdout, clippy::cast_precision_loss)]

use std::time::{Duration, Instant};

/// Rounds of each side, in turn. The fastest of each counts: what disturbs a round only adds.
const ROUNDS: usize = 41;
/// A round repeats its side until it has taken about this long.
const ROUND_TIME: Duration = Duration::from_millis(20);

pub(crate) struct Rows {
    filter: Option<String>,
    run: u32,
    short: u32,
}

impl Rows {
    pub(crate) fn new(filter: Option<String>) -> Self {
        Rows {
            filter,
            run: 0,
            short: 0,
        }
    }

    /// Whether a row is asked for: its set-up is costly.
    pub(crate) fn wants(&self, name: &str) -> bool {
        self.filter
            .as_ref()
            .is_none_or(|f| name.contains(f.as_str()))
    }

    /// Measures both sides, each of which handles `items` a call, and prints the row.
    pub(crate) fn row(
        &mut self,
        name: &str,
        bar: f64,
        items: usize,
        mut ours: impl FnMut(),
        mut peer: impl FnMut(),
    ) {
        let (ours_calls, peer_calls) = (calls(&mut ours), calls(&mut peer));
        let (mut ours_best, mut peer_best) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..ROUNDS {
            ours_best = ours_best.min(round(&mut ours, ours_calls));
            peer_best = peer_best.min(round(&mut peer, peer_calls));
        }
        let (ours, peer) = (ours_best / items as f64, peer_best / items as f64);
        let ratio = ours / peer;
        let verdict = if ratio <= bar { "ok" } else { "short" };
        self.run += 1;
        self.short += u32::from(ratio > bar);
        println!("ratio {name} {ours:.2} {peer:.2} {ratio:.3} bar {bar} {verdict}");
    }

    /// Measures one side against a time (ns a call), and prints the row with that as the peer's.
    pub(crate) fn limit(&mut self, name: &str, limit: f64, mut ours: impl FnMut()) {
        if !self.wants(name) {
            return;
        }
        let calls = calls(&mut ours);
        let rounds = (0..ROUNDS).map(|_| round(&mut ours, calls));
        let best = rounds.fold(f64::INFINITY, f64::min);
        self.print_limit(name, best, limit);
    }

    /// Measures what one side takes more than the other against a time (ns a call): the difference of their medians.
    /// Prints the row with that time as the peer's.
    #[cfg(feature = "bevy")]
    pub(crate) fn difference(
        &mut self,
        name: &str,
        limit: f64,
        mut more: impl FnMut(),
        mut less: impl FnMut(),
    ) {
        if !self.wants(name) {
            return;
        }
        let (more_calls, less_calls) = (calls(&mut more), calls(&mut less));
        let (mut mores, mut lesses) = ([0.0; ROUNDS], [0.0; ROUNDS]);
        for (with, without) in mores.iter_mut().zip(&mut lesses) {
            *with = round(&mut more, more_calls);
            *without = round(&mut less, less_calls);
        }
        let (with, without) = (median(mores), median(lesses));
        self.print_limit(name, with - without, limit);
    }

    fn print_limit(&mut self, name: &str, ours: f64, limit: f64) {
        let ratio = ours / limit;
        let verdict = if ratio <= 1.0 { "ok" } else { "short" };
        self.run += 1;
        self.short += u32::from(ratio > 1.0);
        println!("ratio {name} {ours:.2} {limit:.2} {ratio:.3} bar 1 {verdict}");
    }

    pub(crate) fn finish(self) {
        println!("{} rows, {} short", self.run, self.short);
    }
}

/// How many calls fill a round.
fn calls(side: &mut impl FnMut()) -> u32 {
    let start = Instant::now();
    let mut calls = 0;
    while start.elapsed() < ROUND_TIME {
        side();
        calls += 1;
    }
    calls
}

/// Nanoseconds a call.
fn round(side: &mut impl FnMut(), calls: u32) -> f64 {
    let start = Instant::now();
    for _ in 0..calls {
        side();
    }
    start.elapsed().as_nanos() as f64 / f64::from(calls)
}

#[cfg(feature = "bevy")]
fn median(mut rounds: [f64; ROUNDS]) -> f64 {
    rounds.sort_by(f64::total_cmp);
    rounds[ROUNDS / 2]
}
