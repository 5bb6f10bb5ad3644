//! What a random case is made of, and what is seen of it.

use proptest::prelude::*;

/// Between frames, in a tick, at `Begin`, or from inside a callback.
#[derive(Clone, Debug)]
pub enum Act {
    Start(usize),
    Cancel(usize),
    /// Lets a parked loop go on.
    Continue(usize),
    /// Cancels every flow bound to an owner, or to a world (`None`: to the runtime).
    CancelOf(usize),
    CancelIn(Option<usize>),
    /// Shuts an owner down.
    Shutdown(usize),
    Destroy(usize),
}

#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Delay {
        count: i64,
        delay: u64,
        items: i64,
        before_first: bool,
    },
    PerTick {
        count: i64,
        items: i64,
    },
    Duration {
        duration: u64,
        laps: u32,
        ping_pong: bool,
    },
    Wait {
        interval: u64,
        timeout: u64,
        immediately: bool,
    },
}

/// A flow that can be started, any number of times.
#[derive(Clone, Debug)]
pub struct Spec {
    pub kind: Kind,
    /// `None`: bound to the runtime.
    pub world: Option<usize>,
    /// The place in `Clock::ALL`.
    pub clock: usize,
    pub owner: Option<usize>,
    /// The index at which the body says break.
    pub breaks_at: Option<usize>,
    /// The index at which the body says suspend.
    pub suspends_at: Option<usize>,
    /// The frame from which the condition is true.
    pub true_from: Option<u64>,
    /// Done from inside the nth callback (from 0).
    pub cues: Vec<(u32, Act)>,
    /// Done from inside `on_finished`.
    pub at_end: Option<Act>,
}

#[derive(Clone, Debug)]
pub enum Step {
    Do(Act),
    /// In the next frame's `Begin`.
    Post(Act),
    /// In the next tick of a tickable.
    InTick(Act),
    Pause(usize, bool),
    /// In halves.
    Dilate(usize, u64),
    Frame(u64),
}

#[derive(Clone, Debug)]
pub struct Case {
    pub specs: Vec<Spec>,
    pub steps: Vec<Step>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    Builder,
    Async,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// It ended by itself.
    Itself,
    Cancelled,
    Aborted,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    Completed,
    Broken,
    TimedOut,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    Started(bool),
    Body(usize),
    /// The bits of alpha, and the delta.
    Update(u32, u64),
    Poll(u64, bool),
    /// The gameplay callback; in the async form, what the awaiter got.
    Answered(Answer),
    /// The gameplay callback of the builder's form, cancelled: nobody awaits it in the other.
    ToldOfCancel,
    Finished(Reason),
    /// The answer of `cancel`.
    Cancel(bool),
    /// The answer of `continue_loop`.
    Continue(bool),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Line {
    pub flow: usize,
    pub frame: u64,
    pub what: What,
}

/// No more flows than this are started in a case.
pub const MOST_FLOWS: usize = 24;
pub const OWNERS: usize = 3;

/// What cases may contain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reach {
    /// What is the same in both forms.
    Both,
    /// What one form has alone, or does in another way.
    Alone(Form),
}

fn few() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0u64), 1u64..16, 1u64..60]
}

fn kind(reach: Reach) -> BoxedStrategy<Kind> {
    let least = i64::from(reach == Reach::Both);
    let immediately = reach != Reach::Both;
    prop_oneof![
        (least..6, few(), 0i64..4, any::<bool>()).prop_map(|(count, delay, items, first)| {
            Kind::Delay {
                count,
                delay,
                items,
                before_first: first,
            }
        }),
        (least..9, 0i64..4).prop_map(|(count, items)| Kind::PerTick { count, items }),
        (few(), 1u32..4, any::<bool>()).prop_map(|(duration, laps, ping_pong)| Kind::Duration {
            duration,
            laps: if duration == 0 { 1 } else { laps },
            ping_pong,
        }),
        (few(), few(), any::<bool>()).prop_map(move |(interval, timeout, check)| Kind::Wait {
            interval,
            timeout,
            immediately: immediately && check,
        }),
    ]
    .boxed()
}

fn act(specs: usize) -> impl Strategy<Value = Act> {
    prop_oneof![
        20 => (0..specs).prop_map(Act::Start),
        6 => (0..MOST_FLOWS / 2).prop_map(Act::Cancel),
        8 => (0..MOST_FLOWS / 3).prop_map(Act::Continue),
        2 => (0..OWNERS).prop_map(Act::Shutdown),
        1 => (0..OWNERS).prop_map(Act::CancelOf),
        1 => proptest::option::of(0usize..2).prop_map(Act::CancelIn),
        1 => (0usize..2).prop_map(Act::Destroy),
    ]
}

fn mild(specs: usize) -> impl Strategy<Value = Act> {
    prop_oneof![
        (0..specs).prop_map(Act::Start),
        (0..MOST_FLOWS).prop_map(Act::Cancel),
    ]
}

const SPECS: usize = 5;

fn spec(reach: Reach) -> impl Strategy<Value = Spec> {
    let cues = if reach == Reach::Both { 0..1 } else { 0..3 };
    (
        kind(reach),
        prop_oneof![4 => Just(Some(0)), 3 => Just(Some(1)), 1 => Just(None)],
        0usize..4,
        proptest::option::weighted(0.3, 0..OWNERS),
        proptest::option::weighted(0.2, 0usize..5),
        proptest::option::weighted(0.4, 0usize..5),
        proptest::option::weighted(0.6, 0u64..14),
        proptest::collection::vec((0u32..5, act(SPECS)), cues),
        proptest::option::weighted(0.2, mild(SPECS)),
    )
        .prop_map(
            move |(kind, world, clock, owner, breaks_at, suspends_at, true_from, cues, at_end)| {
                Spec {
                    kind,
                    world,
                    clock,
                    owner,
                    breaks_at,
                    suspends_at: suspends_at.filter(|_| reach == Reach::Alone(Form::Builder)),
                    true_from,
                    cues,
                    at_end: at_end.filter(|_| reach != Reach::Both),
                }
            },
        )
}

fn step() -> impl Strategy<Value = Step> {
    // Even, so that half of it is a whole number of nanoseconds.
    let delta = prop_oneof![
        1 => Just(0u64),
        6 => (1u64..8).prop_map(|n| n * 2),
        1 => (20u64..80).prop_map(|n| n * 2),
    ];
    prop_oneof![
        8 => delta.prop_map(Step::Frame),
        4 => act(SPECS).prop_map(Step::Do),
        2 => act(SPECS).prop_map(Step::Post),
        2 => act(SPECS).prop_map(Step::InTick),
        1 => (0usize..2, any::<bool>()).prop_map(|(w, on)| Step::Pause(w, on)),
        1 => (0usize..2, 0u64..5).prop_map(|(w, halves)| Step::Dilate(w, halves)),
    ]
}

pub fn case(reach: Reach) -> impl Strategy<Value = Case> {
    (
        proptest::collection::vec(spec(reach), SPECS),
        proptest::collection::vec(step(), 1..70),
    )
        .prop_map(|(specs, steps)| Case { specs, steps })
}
