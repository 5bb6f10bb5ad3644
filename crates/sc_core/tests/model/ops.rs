//! What a random case is made of: operations, scripts, steps, and the lines both sides log.

use std::cell::RefCell;
use std::rc::Rc;

use proptest::prelude::*;
use sc_core::TickGroup;

/// Names an object: by number (modulo how many were made), or the one whose callback runs.
#[derive(Clone, Copy, Debug)]
pub enum Who {
    Nth(u8),
    Me,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum How {
    /// `spawn`: stays uninitialized.
    Plain,
    In,
    Batched,
    WorldOwned,
    Worldless,
}

/// The settings an object starts with.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    pub interval: u64,
    pub group: TickGroup,
    pub start_ticking: bool,
    pub when_paused: bool,
    pub in_editor: bool,
    pub at_start: bool,
}

pub const PLAIN: Start = Start {
    interval: 0,
    group: TickGroup::PostPhysics,
    start_ticking: true,
    when_paused: false,
    in_editor: false,
    at_start: false,
};

#[derive(Clone, Copy, Debug)]
pub enum Change {
    Interval(u64),
    /// Minus one second.
    BadInterval,
    Group(TickGroup),
    WhenPaused(bool),
    AtStart(bool),
    StartTicking(bool),
    After(Who),
    NotAfter(Who),
    /// Two prerequisites and a group in one `apply`.
    Many(TickGroup, Who, Who),
}

#[derive(Clone, Debug)]
pub enum Op {
    Spawn {
        how: How,
        world: u8,
        start: Start,
        script: u8,
    },
    Initialize(Who, Option<u8>),
    Shutdown(Who),
    Enable(Who, bool),
    DropOwner(Who),
    Configure(Who, Change),
    Get(Who),
    /// Another operation inside `Cx::with`.
    With(Who, Box<Op>),
    CreateWorld {
        editor: bool,
        steps: bool,
        parent: Option<u8>,
        instance: Option<u8>,
    },
    DestroyWorld(u8),
    PauseWorld(u8, bool),
    /// In thousandths.
    Dilate(u8, u16),
    BadDilation(u8),
    CreateInstance,
    PauseInstance(u8, bool),
    DestroyInstance(u8),
    Forgive,
    /// Another operation, posted.
    Post(Box<Op>),
    /// Only in scripts.
    Panic,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    Initialize,
    Tick,
    Shutdown,
}

/// On the n-th event of a kind (from 1), some operations.
#[derive(Clone, Debug)]
pub struct Cue {
    pub event: Event,
    pub nth: u32,
    pub ops: Vec<Op>,
}

pub type Script = Vec<Cue>;

#[derive(Clone, Debug)]
pub enum Step {
    Do(Op),
    Frame(u64),
    /// A frame of the worlds that step.
    Fixed(u64),
    /// A frame with a NaN delta.
    BadFrame,
}

#[derive(Clone, Debug)]
pub struct Case {
    pub scripts: Vec<Script>,
    pub steps: Vec<Step>,
}

/// How many objects a case makes at most: chains of scripts end.
pub const MOST_OBJECTS: usize = 40;

/// The script of what an object with script `own` spawns: always a later one, so that chains
/// of spawning end. `None` outside callbacks.
pub fn script_for(own: Option<usize>, asked: u8, scripts: usize) -> usize {
    own.map_or(usize::from(asked), |own| own + 1 + usize::from(asked))
        .min(scripts)
}

/// Whether the answer to a change of group is promised: a worldless object has no group, and
/// what it answers when asked for the one its settings name is open.
pub fn is_promised(how: How, start: Start, change: &Change) -> bool {
    !matches!(change, Change::Group(_) | Change::Many(..))
        || how != How::Worldless
        || start.group == TickGroup::PostPhysics
}

/// What an operation answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    Done,
    Was(bool),
    /// The name of the error's variant.
    Refused(&'static str),
    /// There is no such object, world, key or owner to try it with.
    NoTarget,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Line {
    Called {
        object: usize,
        event: Event,
        delta: u64,
        world: Option<usize>,
        frame: u64,
    },
    Answered(Answer),
    Reported(&'static str, Option<usize>),
    Framed {
        frame: u64,
        real_delta: u64,
        forgiven: u64,
        ticks: u64,
        reports: u64,
    },
    /// Storage freed. Several in one `End` come sorted.
    Dropped(usize),
}

pub type Log = Rc<RefCell<Vec<Line>>>;

/// What one can see of an object between frames.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Seen {
    pub initialized: bool,
    pub world: Option<usize>,
    pub enabled: bool,
    pub group: Option<TickGroup>,
    pub interval: u64,
    pub ticks: u64,
    pub carry: u64,
    pub next_due: Option<u64>,
}

/// What one can see of a world between frames.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SeenWorld {
    pub number: usize,
    pub paused: bool,
    pub elapsed: [u64; 4],
}

/// What one can see between frames.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct State {
    /// By number; `None` = gone.
    pub objects: Vec<Option<Seen>>,
    /// The list of live entries.
    pub list: Vec<usize>,
    pub worlds: Vec<SeenWorld>,
    pub runtime_elapsed: u64,
}

/// How much a case may do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// Operations from outside callbacks only.
    Outside,
    /// From inside callbacks too.
    Inside,
    /// And batches, `with`, posted closures, panics.
    Everything,
}

fn who() -> impl Strategy<Value = Who> {
    prop_oneof![4 => (0..6_u8).prop_map(Who::Nth), 2 => Just(Who::Me)]
}

fn interval() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => Just(0),
        3 => 1..12_u64,
        1 => Just(33_333_333),
        1 => Just(1_000_000_000),
        1 => Just(3_600_000_000_000),
    ]
}

fn delta() -> impl Strategy<Value = u64> {
    prop_oneof![
        1 => Just(0),
        4 => 1..10_u64,
        1 => Just(16_666_667),
        1 => Just(1_000_000_000),
        1 => Just(5_000_000_000_000),
    ]
}

fn group() -> impl Strategy<Value = TickGroup> {
    prop_oneof![
        4 => Just(TickGroup::PostPhysics),
        1 => Just(TickGroup::PrePhysics),
        1 => Just(TickGroup::DuringPhysics),
        1 => Just(TickGroup::PostUpdate),
    ]
}

fn start() -> impl Strategy<Value = Start> {
    let rare = || prop::bool::weighted(0.2);
    (
        interval(),
        group(),
        prop::bool::weighted(0.9),
        rare(),
        rare(),
        rare(),
    )
        .prop_map(
            |(interval, group, start_ticking, when_paused, in_editor, at_start)| Start {
                interval,
                group,
                start_ticking,
                when_paused,
                in_editor,
                at_start,
            },
        )
}

fn change() -> BoxedStrategy<Change> {
    prop_oneof![
        4 => interval().prop_map(Change::Interval),
        1 => Just(Change::BadInterval),
        3 => group().prop_map(Change::Group),
        2 => any::<bool>().prop_map(Change::WhenPaused),
        1 => any::<bool>().prop_map(Change::AtStart),
        1 => any::<bool>().prop_map(Change::StartTicking),
        6 => who().prop_map(Change::After),
        1 => who().prop_map(Change::NotAfter),
        1 => (group(), who(), who()).prop_map(|(g, a, b)| Change::Many(g, a, b)),
    ]
    .boxed()
}

fn how(reach: Reach) -> impl Strategy<Value = How> {
    let batched = if reach == Reach::Everything {
        How::Batched
    } else {
        How::In
    };
    prop_oneof![
        2 => Just(How::Plain),
        5 => Just(How::In),
        5 => Just(batched),
        1 => Just(How::WorldOwned),
        1 => Just(How::Worldless),
    ]
}

/// Boxed where it nests: unboxed, the trees by which cases shrink fill a test thread's stack.
fn simple_op(reach: Reach) -> BoxedStrategy<Op> {
    let world = || 0..4_u8;
    let maybe = || prop::option::weighted(0.4, 0..4_u8);
    let objects = prop_oneof![
        8 => (how(reach), world(), start(), 0..4_u8).prop_map(|(how, world, start, script)| {
            Op::Spawn { how, world, start, script }
        }),
        5 => (who(), prop::option::weighted(0.8, 0..4_u8)).prop_map(|(w, to)| Op::Initialize(w, to)),
        5 => who().prop_map(Op::Shutdown),
        5 => (who(), any::<bool>()).prop_map(|(w, on)| Op::Enable(w, on)),
        3 => who().prop_map(Op::DropOwner),
        10 => (who(), change()).prop_map(|(w, change)| Op::Configure(w, change)),
        1 => who().prop_map(Op::Get),
    ];
    let worlds = prop_oneof![
        3 => (prop::bool::weighted(0.2), any::<bool>(), maybe(), maybe()).prop_map(
            |(editor, steps, parent, instance)| Op::CreateWorld { editor, steps, parent, instance }
        ),
        2 => world().prop_map(Op::DestroyWorld),
        3 => (world(), any::<bool>()).prop_map(|(w, on)| Op::PauseWorld(w, on)),
        2 => (world(), prop::sample::select(vec![0, 1, 300, 500, 1000, 1000, 2500]))
            .prop_map(|(w, factor)| Op::Dilate(w, factor)),
        1 => world().prop_map(Op::BadDilation),
        1 => Just(Op::CreateInstance),
        1 => (world(), any::<bool>()).prop_map(|(i, on)| Op::PauseInstance(i, on)),
        1 => world().prop_map(Op::DestroyInstance),
        1 => Just(Op::Forgive),
    ];
    prop_oneof![3 => objects.boxed(), 1 => worlds.boxed()].boxed()
}

fn op(reach: Reach) -> BoxedStrategy<Op> {
    if reach < Reach::Everything {
        return simple_op(reach);
    }
    prop_oneof![
        12 => simple_op(reach),
        1 => simple_op(reach).prop_map(|op| Op::Post(Box::new(op))),
        1 => (who(), simple_op(reach)).prop_map(|(w, op)| Op::With(w, Box::new(op))),
    ]
    .boxed()
}

fn cue(reach: Reach) -> impl Strategy<Value = Cue> {
    let panic = if reach == Reach::Everything { 1 } else { 0 };
    let event = prop_oneof![
        1 => Just(Event::Initialize),
        4 => Just(Event::Tick),
        1 => Just(Event::Shutdown),
    ];
    let op = prop_oneof![20 => op(reach), panic => Just(Op::Panic)];
    let ops = prop::collection::vec(op, 1..4);
    (event, 1..4_u32, ops).prop_map(|(event, nth, ops)| Cue { event, nth, ops })
}

fn step(reach: Reach) -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => op(reach).prop_map(Step::Do),
        9 => delta().prop_map(Step::Frame),
        4 => delta().prop_map(Step::Fixed),
        1 => Just(Step::BadFrame),
    ]
}

/// Objects in one world, nearly all of one group, and what changes their order.
pub fn case_of_order() -> impl Strategy<Value = Case> {
    let who = || (0..6_u8).prop_map(Who::Nth);
    let op = prop_oneof![
        6 => (who(), who()).prop_map(|(a, b)| Op::Configure(a, Change::After(b))),
        2 => (group(), who(), who(), who()).prop_map(|(g, a, b, c)| {
            Op::Configure(a, Change::Many(g, b, c))
        }),
        1 => (who(), who()).prop_map(|(a, b)| Op::Configure(a, Change::NotAfter(b))),
        1 => (who(), group()).prop_map(|(a, g)| Op::Configure(a, Change::Group(g))),
        3 => who().prop_map(Op::Shutdown),
        4 => who().prop_map(|a| Op::Initialize(a, Some(0))),
        1 => (who(), any::<bool>()).prop_map(|(a, on)| Op::Enable(a, on)),
    ];
    let how = prop_oneof![3 => Just(How::In), 1 => Just(How::Plain), 1 => Just(How::Batched)];
    let crew = prop::collection::vec(how.prop_map(|how| (how, PLAIN, 0)), 4..7);
    let op = op.boxed();
    let cues = (1..4_u32, prop::collection::vec(op.clone(), 1..3)).prop_map(|(nth, ops)| Cue {
        event: Event::Tick,
        nth,
        ops,
    });
    let step = prop_oneof![3 => op.prop_map(Step::Do), 1 => Just(Step::Frame(1))];
    (
        prop::collection::vec(prop::collection::vec(cues, 0..2), 0..2),
        crew,
        prop::collection::vec(step, 1..30),
    )
        .prop_map(|(scripts, crew, steps)| assemble(scripts, crew, steps))
}

/// Objects with intervals in one world, and what bears on their time.
pub fn case_of_time() -> impl Strategy<Value = Case> {
    let who = || (0..3_u8).prop_map(Who::Nth);
    let change = prop_oneof![
        4 => interval().prop_map(Change::Interval),
        3 => any::<bool>().prop_map(Change::WhenPaused),
        1 => any::<bool>().prop_map(Change::AtStart),
        1 => group().prop_map(Change::Group),
    ];
    let op = prop_oneof![
        6 => (who(), change).prop_map(|(a, change)| Op::Configure(a, change)),
        3 => (who(), any::<bool>()).prop_map(|(a, on)| Op::Enable(a, on)),
        3 => any::<bool>().prop_map(|on| Op::PauseWorld(0, on)),
        1 => prop::sample::select(vec![0, 300, 500, 1000, 2500]).prop_map(|f| Op::Dilate(0, f)),
        1 => who().prop_map(Op::Shutdown),
        1 => who().prop_map(|a| Op::Initialize(a, Some(0))),
        1 => Just(Op::Forgive),
    ];
    let how = prop_oneof![3 => Just(How::In), 1 => Just(How::Batched), 1 => Just(How::Worldless)];
    let op = op.boxed();
    let cues = (1..5_u32, prop::collection::vec(op.clone(), 1..4)).prop_map(|(nth, ops)| Cue {
        event: Event::Tick,
        nth,
        ops,
    });
    let step = prop_oneof![2 => op.prop_map(Step::Do), 3 => delta().prop_map(Step::Frame)];
    (
        prop::collection::vec(prop::collection::vec(cues, 0..4), 1..3),
        prop::collection::vec((how, start(), 0..2_u8), 2..4),
        prop::collection::vec(step, 1..30),
    )
        .prop_map(|(scripts, crew, steps)| assemble(scripts, crew, steps))
}

/// A batch in one world, and what its rows do to each other.
pub fn case_of_batches() -> impl Strategy<Value = Case> {
    let who = || prop_oneof![4 => (0..5_u8).prop_map(Who::Nth), 1 => Just(Who::Me)];
    let op = prop_oneof![
        3 => who().prop_map(Op::DropOwner),
        4 => who().prop_map(Op::Shutdown),
        3 => who().prop_map(|a| Op::Initialize(a, Some(0))),
        4 => (who(), any::<bool>()).prop_map(|(a, on)| Op::Enable(a, on)),
        2 => (who(), change()).prop_map(|(a, change)| Op::Configure(a, change)),
        2 => who().prop_map(Op::Get),
        2 => (who(), who()).prop_map(|(a, b)| Op::With(a, Box::new(Op::Shutdown(b)))),
        1 => Just(Op::Spawn { how: How::Batched, world: 0, start: PLAIN, script: 0 }),
        1 => Just(Op::Panic),
        1 => Just(Op::DestroyWorld(0)),
    ];
    let event = prop_oneof![4 => Just(Event::Tick), 1 => Just(Event::Shutdown)];
    let op = op.boxed();
    let ops = prop::collection::vec(op.clone(), 1..4);
    let cues = (event, 1..4_u32, ops).prop_map(|(event, nth, ops)| Cue { event, nth, ops });
    let how = prop_oneof![5 => Just(How::Batched), 1 => Just(How::In)];
    let step = prop_oneof![1 => op.prop_map(Step::Do), 2 => Just(Step::Frame(1))];
    (
        prop::collection::vec(prop::collection::vec(cues, 0..4), 1..3),
        prop::collection::vec((how, Just(PLAIN), 0..2_u8), 3..6),
        prop::collection::vec(step, 1..15),
    )
        .prop_map(|(scripts, crew, steps)| assemble(scripts, crew, steps))
}

/// A world, a crew in it, and the steps.
fn assemble(scripts: Vec<Script>, crew: Vec<(How, Start, u8)>, steps: Vec<Step>) -> Case {
    let mut all = vec![Step::Do(Op::CreateWorld {
        editor: false,
        steps: false,
        parent: None,
        instance: None,
    })];
    for (number, (how, start, script)) in (0..).zip(crew) {
        all.push(Step::Do(Op::Spawn {
            how,
            world: 0,
            start,
            script,
        }));
        if how == How::Worldless {
            all.push(Step::Do(Op::Initialize(Who::Nth(number), None)));
        }
    }
    all.extend(steps);
    Case {
        scripts,
        steps: all,
    }
}

/// Anything, as far as it reaches.
pub fn case(reach: Reach) -> impl Strategy<Value = Case> {
    let scripts = if reach == Reach::Outside {
        0..1_usize
    } else {
        1..5
    };
    (
        prop::collection::vec(prop::collection::vec(cue(reach), 0..5), scripts),
        prop::collection::vec((how(reach), start(), 0..4_u8), 0..7),
        prop::collection::vec(step(reach), 1..40),
    )
        .prop_map(|(scripts, crew, steps)| assemble(scripts, crew, steps))
}
