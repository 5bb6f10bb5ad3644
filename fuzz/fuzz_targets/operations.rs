//! Fuzz target: operations on a runtime, from outside and from inside callbacks, with objects that
//! panic. What must hold is checked in every callback (`operations/lab.rs`), for every answer
//! (`operations/act.rs`) and after every step (`operations/checks.rs`). A panic that the case did
//! not ask for is a bug. With `FUZZ_TELL` set, a case says what it does.
#![no_main]
#![forbid(unsafe_code)]

#[path = "operations/act.rs"]
mod act;
#[path = "operations/checks.rs"]
mod checks;
#[path = "operations/input.rs"]
mod input;
#[path = "operations/lab.rs"]
mod lab;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use input::Input;
use lab::{Lab, Scripted, throw};
use libfuzzer_sys::fuzz_target;
use sc_core::{
    FrameError, FrameReport, PanicPolicy, Runtime, Secs, Stage, WorldKind, WorldOptions, secs,
};

fuzz_target!(|bytes: &[u8]| play(bytes));

/// A runtime and its host.
struct Bench {
    rt: Runtime<Lab>,
    lab: Lab,
    /// The stage that comes next, while a frame is open.
    open: Option<usize>,
    shut_down: bool,
    /// Whether a panic went through the frame.
    panicked: bool,
}

fn play(bytes: &[u8]) {
    let mut bench = Bench::new(bytes);
    while let Some(op) = bench.lab.input.op() {
        bench.step(op);
        if bench.open.is_none() {
            checks::between_steps(&mut bench.rt, &mut bench.lab);
        }
    }
    bench.end();
}

/// Runs what may panic. `None`: it did, as the case asked.
fn scripted<T>(f: impl FnOnce() -> T) -> Option<T> {
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(value) => Some(value),
        Err(payload) => {
            assert!(payload.is::<Scripted>(), "a panic nobody asked for");
            None
        }
    }
}

impl Bench {
    fn new(bytes: &[u8]) -> Self {
        let mut input = Input::new(bytes);
        let options = input.number(8);
        let mut rt = Runtime::new();
        if options & 1 != 0 {
            rt.set_panic_policy(PanicPolicy::Isolate);
        }
        let reports = Rc::new(Cell::new(0_u64));
        let counter = Rc::clone(&reports);
        let handler_panics = options & 6 == 6;
        rt.set_report_handler(move |report| {
            assert!(!report.to_string().is_empty());
            counter.set(counter.get() + 1);
            // A panic while another unwinds would end the process.
            if handler_panics && counter.get() % 4 == 3 && !std::thread::panicking() {
                throw();
            }
        });
        let lab = Lab {
            input,
            objects: Vec::new(),
            worlds: Vec::new(),
            instances: Vec::new(),
            links: Vec::new(),
            poster: Some(rt.poster()),
            closed: false,
            pass_open: false,
            in_post: 0,
            depth: 0,
            ticks: 0,
            turns: 1,
            pause_touched: false,
            reports,
            told: std::env::var_os("FUZZ_TELL").is_some(),
        };
        let mut bench = Bench {
            rt,
            lab,
            open: None,
            shut_down: false,
            panicked: false,
        };
        act::make_world(
            &mut bench.rt.cx(&mut bench.lab),
            WorldOptions::new(WorldKind::Game),
        );
        bench
    }

    fn step(&mut self, op: u8) {
        if matches!(op, b'f' | b'j' | b'y' | b'z') {
            self.lab.say(format_args!("{}", char::from(op)));
        }
        match op {
            b'f' => self.frame(),
            b'j' => self.piece(),
            b'y' => self.runtime_settings(),
            b'z' => self.shut_down(),
            _ => {
                let done = scripted(|| act::do_op(&mut self.rt.cx(&mut self.lab), op));
                self.panicked |= done.is_none();
                self.lab.depth = 0;
            }
        }
    }

    fn runtime_settings(&mut self) {
        match self.lab.input.number(4) {
            0 => self.rt.set_panic_policy(PanicPolicy::Propagate),
            1 => self.rt.set_panic_policy(PanicPolicy::Isolate),
            2 => {
                let limit = self.lab.input.delta();
                let _ = self.rt.set_max_delta(Some(limit));
            }
            _ => self.rt.set_profiling(self.lab.input.flag()),
        }
    }

    fn before_frame(&mut self) {
        self.panicked = false;
        self.lab.ticks = 0;
        self.lab.pause_touched = false;
        self.lab.pass_open = true;
        for info in self.rt.world_list() {
            if let Some(known) = self.lab.known(info.id) {
                known.paused_in_frame = info.effectively_paused;
            }
        }
    }

    fn after_frame(&mut self, report: Option<FrameReport>) {
        self.open = None;
        self.lab.pass_open = false;
        self.lab.depth = 0;
        let reports = self.lab.reports.take();
        if let Some(report) = report {
            assert_eq!(report.ticks, self.lab.ticks, "ticks counted");
            assert_eq!(report.reports, reports, "reports counted");
            assert_eq!(report.frame, self.rt.frame_number());
            checks::after_whole_frame(&mut self.rt, &mut self.lab, self.panicked);
        }
        checks::after_frame(&mut self.rt, &mut self.lab);
    }

    fn frame(&mut self) {
        let delta = self.lab.input.delta();
        if let Some(expected) = self.refused(delta) {
            let answer = self.rt.tick_secs(&mut self.lab, delta);
            assert_eq!(
                std::mem::discriminant(&answer.unwrap_err()),
                std::mem::discriminant(&expected)
            );
            return;
        }
        self.before_frame();
        let answer = scripted(|| self.rt.tick_secs(&mut self.lab, delta));
        let report = answer.map(|answer| answer.expect("nothing speaks against this frame"));
        self.after_frame(report);
    }

    /// Why a frame cannot begin.
    fn refused(&self, delta: Secs) -> Option<FrameError> {
        match delta.to_duration() {
            _ if self.shut_down => Some(FrameError::ShutDown),
            _ if self.open.is_some() => Some(FrameError::AlreadyTicking),
            Err(error) => Some(FrameError::BadDelta(error)),
            Ok(_) => None,
        }
    }

    /// The next piece of a frame: begin, a stage or several, end.
    fn piece(&mut self) {
        let Some(next) = self.open else {
            let delta = secs(0.01);
            if self.refused(delta).is_some() {
                assert_eq!(self.rt.end_frame(&mut self.lab), Err(FrameError::NoFrame));
                return;
            }
            self.before_frame();
            match scripted(|| self.rt.begin_frame(&mut self.lab, delta)) {
                Some(answer) => {
                    answer.expect("nothing speaks against this frame");
                    self.open = Some(1);
                }
                None => self.lab.pass_open = false,
            }
            self.lab.depth = 0;
            return;
        };
        let last = Stage::ALL.len() - 1;
        if next == last {
            let answer = scripted(|| self.rt.end_frame(&mut self.lab));
            self.after_frame(answer.map(|answer| answer.expect("all stages were run")));
            return;
        }
        let early = self.rt.end_frame(&mut self.lab);
        assert!(matches!(early, Err(FrameError::StageOrder { .. })));
        let many = 1 + self.lab.input.number(last);
        for index in next..(next + many).min(last) {
            let stage = Stage::ALL[index];
            let answer = scripted(|| self.rt.run_stage(&mut self.lab, stage));
            self.panicked |= answer.is_none();
            assert!(answer.is_none_or(|answer| answer.is_ok()), "in order");
            self.open = Some(index + 1);
            self.lab.depth = 0;
        }
    }

    fn shut_down(&mut self) {
        // Rare: most of what follows is refused.
        if self.lab.input.number(8) == 7 {
            self.end_runtime();
        }
    }

    fn end_runtime(&mut self) {
        for known in &mut self.lab.worlds {
            known.destroyed = true;
        }
        self.shut_down = true;
        scripted(|| self.rt.shutdown(&mut self.lab));
        self.lab.closed = true;
        self.open = None;
        self.lab.pass_open = false;
        self.lab.depth = 0;
        checks::after_shutdown(&mut self.rt, &mut self.lab);
    }

    /// Ends everything, in one order or the other: every object is freed.
    fn end(mut self) {
        let owners_first = self.lab.objects.len().is_multiple_of(2);
        if !self.lab.turns.is_multiple_of(4) {
            self.end_runtime();
        }
        let Bench { rt, mut lab, .. } = self;
        let owners: Vec<_> = lab.objects.iter_mut().map(|f| f.owner.take()).collect();
        if owners_first {
            drop(owners);
            scripted(|| drop(rt));
        } else {
            scripted(|| drop(rt));
            drop(owners);
        }
        for (number, facts) in lab.objects.iter().enumerate() {
            assert!(facts.freed.get(), "object {number} was leaked");
        }
    }
}
