//! The real thing: plays a case in one of the two forms.

use std::rc::Rc;
use std::time::Duration;

use sc_core::{Clock, Cx, Owner, Runtime, Tickable, WorldId, WorldKind};
use sc_flow::{
    DoForDuration, Done, Flow, FlowCx, FlowError, FlowExt, FlowFinish, FlowId, ForEach,
    Step as Says, Wait, WaitUntil,
};

use crate::ops::{Act, Answer, Form, Kind, Line, MOST_FLOWS, OWNERS, Reason, Spec, What};

pub struct Host {
    form: Form,
    specs: Rc<Vec<Spec>>,
    log: Vec<Line>,
    flows: Vec<Option<FlowId>>,
    seen: Vec<u32>,
    worlds: Vec<WorldId>,
    owners: Vec<Owner<Thing>>,
    in_tick: Vec<Act>,
}

type C<'a> = Cx<'a, Host>;

pub struct Thing;
impl Tickable<Host> for Thing {}

struct Ticker;
impl Tickable<Host> for Ticker {
    fn tick(&mut self, cx: &mut C<'_>) {
        for what in std::mem::take(&mut cx.host_mut().in_tick) {
            act(cx, &what);
        }
    }
}

fn log(cx: &mut C<'_>, flow: usize, what: What) {
    let frame = cx.frame();
    cx.host_mut().log.push(Line { flow, frame, what });
}

fn act(cx: &mut C<'_>, what: &Act) {
    match *what {
        Act::Start(spec) => start(cx, spec),
        Act::Cancel(flow) => {
            if let Some(&Some(id)) = cx.host().flows.get(flow) {
                // What happens in the call comes before its answer.
                let answer = cx.cancel(id);
                log(cx, flow, What::Cancel(answer));
            }
        }
        Act::Continue(flow) => {
            if let Some(&Some(id)) = cx.host().flows.get(flow) {
                let answer = cx.continue_loop(id);
                log(cx, flow, What::Continue(answer));
            }
        }
        Act::CancelOf(owner) => {
            let id = cx.host().owners[owner].id();
            cx.cancel_flows_of(id);
        }
        Act::CancelIn(world) => {
            let world = world.map(|n| cx.host().worlds[n]);
            cx.cancel_flows_in(world);
        }
        Act::Shutdown(owner) => {
            let id = cx.host().owners[owner].id();
            let _ = cx.shutdown(id);
        }
        Act::Destroy(world) => {
            let world = cx.host().worlds[world];
            cx.destroy_world(world);
        }
    }
}

/// A callback of a flow: logs it, and does what the script says.
fn called(cx: &mut C<'_>, flow: usize, spec: usize, what: What) {
    log(cx, flow, what);
    let nth = cx.host().seen[flow];
    cx.host_mut().seen[flow] += 1;
    let specs = Rc::clone(&cx.host().specs);
    for (at, what) in &specs[spec].cues {
        if *at == nth {
            act(cx, what);
        }
    }
}

fn finished(cx: &mut C<'_>, flow: usize, spec: usize, finish: FlowFinish) {
    let reason = match finish {
        FlowFinish::Cancelled => Reason::Cancelled,
        FlowFinish::Aborted => Reason::Aborted,
        _ => Reason::Itself,
    };
    log(cx, flow, What::Finished(reason));
    let specs = Rc::clone(&cx.host().specs);
    if let Some(what) = &specs[spec].at_end {
        act(cx, what);
    }
}

fn told(cx: &mut C<'_>, flow: usize, finish: FlowFinish) {
    let what = match finish {
        FlowFinish::Completed => What::Answered(Answer::Completed),
        FlowFinish::Broken => What::Answered(Answer::Broken),
        FlowFinish::TimedOut => What::Answered(Answer::TimedOut),
        _ => What::ToldOfCancel,
    };
    log(cx, flow, what);
}

fn says(spec: &Spec, index: usize) -> Says {
    if spec.breaks_at == Some(index) {
        Says::Break
    } else if spec.suspends_at == Some(index) {
        Says::Suspend
    } else {
        Says::Continue
    }
}

fn start(cx: &mut C<'_>, number: usize) {
    let flow = cx.host().flows.len();
    if flow >= MOST_FLOWS {
        return;
    }
    cx.host_mut().flows.push(None);
    cx.host_mut().seen.push(0);
    let id = match cx.host().form {
        Form::Builder => build(cx, flow, number),
        Form::Async => spawn(cx, flow, number),
    };
    let id = id.ok();
    cx.host_mut().flows[flow] = id;
    log(cx, flow, What::Started(id.is_some()));
}

macro_rules! bound {
    ($builder:expr, $cx:ident, $flow:ident, $number:ident, $spec:ident) => {{
        let mut builder = $builder.clock(Clock::ALL[$spec.clock]);
        builder = match $spec.world {
            Some(world) => builder.world($cx.host().worlds[world]),
            None => builder.runtime(),
        };
        if let Some(owner) = $spec.owner {
            builder = builder.owner($cx.host().owners[owner].id());
        }
        builder.on_finished(move |cx: &mut C<'_>, finish| finished(cx, $flow, $number, finish))
    }};
}

fn build(cx: &mut C<'_>, flow: usize, number: usize) -> Result<FlowId, FlowError> {
    let specs = Rc::clone(&cx.host().specs);
    let spec = &specs[number];
    let own = spec.clone();
    let body = move |cx: &mut C<'_>, index: usize| {
        called(cx, flow, number, What::Body(index));
        says(&own, index)
    };
    let tell = move |cx: &mut C<'_>, finish| told(cx, flow, finish);
    match spec.kind {
        Kind::Delay {
            count,
            delay,
            items,
            before_first,
        } => {
            let node = ForEach::index(count)
                .delay(Duration::from_nanos(delay))
                .delay_before_first(before_first)
                .items_per_tick(items)
                .each(body)
                .completed(tell);
            bound!(node, cx, flow, number, spec).start(cx)
        }
        Kind::PerTick { count, items } => {
            let node = ForEach::index(count)
                .items_per_tick(items)
                .each(body)
                .completed(tell);
            bound!(node, cx, flow, number, spec).start(cx)
        }
        Kind::Duration {
            duration,
            laps,
            ping_pong,
        } => {
            let duration = Duration::from_nanos(duration);
            let mut node = DoForDuration::new(duration, move |cx: &mut C<'_>, alpha, delta| {
                called(cx, flow, number, update(alpha, delta));
            })
            .laps(laps)
            .completed(tell);
            if ping_pong {
                node = node.ping_pong();
            }
            bound!(node, cx, flow, number, spec).start(cx)
        }
        Kind::Wait {
            interval,
            timeout,
            immediately,
        } => {
            let from = spec.true_from;
            let node = WaitUntil::new(move |cx: &mut C<'_>, n| poll(cx, flow, number, from, n));
            let mut node = node
                .every(Duration::from_nanos(interval))
                .timeout(Duration::from_nanos(timeout))
                .satisfied(move |cx| told(cx, flow, FlowFinish::Completed))
                .timed_out(move |cx| told(cx, flow, FlowFinish::TimedOut))
                .cancelled(move |cx| told(cx, flow, FlowFinish::Cancelled));
            if immediately {
                node = node.check_immediately();
            }
            bound!(node, cx, flow, number, spec).start(cx)
        }
    }
}

fn update(alpha: f32, delta: Duration) -> What {
    What::Update(alpha.to_bits(), u64::try_from(delta.as_nanos()).unwrap())
}

fn poll(cx: &mut C<'_>, flow: usize, number: usize, from: Option<u64>, attempt: u64) -> bool {
    let answer = from.is_some_and(|from| cx.frame() >= from);
    called(cx, flow, number, What::Poll(attempt, answer));
    answer
}

fn spawn(cx: &mut C<'_>, flow: usize, number: usize) -> Result<FlowId, FlowError> {
    let specs = Rc::clone(&cx.host().specs);
    let own = specs[number].clone();
    let spec = &specs[number];
    let story = Flow::new("story");
    bound!(story, cx, flow, number, spec).spawn(cx, async move |fx: FlowCx<Host>| {
        let answer = play(&fx, flow, number, &own).await?;
        fx.with(|cx| log(cx, flow, What::Answered(answer)))?;
        Ok(())
    })
}

async fn play(
    fx: &FlowCx<Host>,
    flow: usize,
    number: usize,
    spec: &Spec,
) -> Result<Answer, FlowError> {
    let body = async |index: usize| {
        fx.with(|cx| called(cx, flow, number, What::Body(index)))?;
        Ok::<_, FlowError>(says(spec, index))
    };
    let done = |done| match done {
        Done::Completed => Answer::Completed,
        Done::Broken => Answer::Broken,
    };
    match spec.kind {
        Kind::Delay {
            count,
            delay,
            items,
            before_first,
        } => {
            let delay = Duration::from_nanos(delay);
            let range = 0..usize::try_from(count).unwrap();
            let node = fx.for_each(range).delay(delay).items_per_tick(items);
            Ok(done(
                node.delay_before_first(before_first).each(body).await?,
            ))
        }
        Kind::PerTick { count, items } => {
            let range = 0..usize::try_from(count).unwrap();
            Ok(done(fx.for_each_per_tick(range, items, body).await?))
        }
        Kind::Duration {
            duration,
            laps,
            ping_pong,
        } => {
            let duration = Duration::from_nanos(duration);
            let mut node = fx
                .do_for_duration(duration, |cx, alpha, delta| {
                    called(cx, flow, number, update(alpha, delta));
                })
                .laps(laps);
            if ping_pong {
                node = node.ping_pong();
            }
            node.await?;
            Ok(Answer::Completed)
        }
        Kind::Wait {
            interval,
            timeout,
            immediately,
        } => {
            let from = spec.true_from;
            let mut node = fx
                .wait_until(move |cx: &mut C<'_>, n| poll(cx, flow, number, from, n))
                .every(Duration::from_nanos(interval))
                .timeout(Duration::from_nanos(timeout));
            if immediately {
                node = node.check_immediately();
            }
            Ok(match node.await? {
                Wait::Satisfied => Answer::Completed,
                Wait::TimedOut => Answer::TimedOut,
            })
        }
    }
}

pub struct Real {
    rt: Runtime<Host>,
    host: Host,
    _ticker: Owner<Ticker>,
}

impl Real {
    pub fn new(form: Form, specs: &[Spec]) -> Self {
        let mut rt = Runtime::new();
        let mut host = Host {
            form,
            specs: Rc::new(specs.to_vec()),
            log: Vec::new(),
            flows: Vec::new(),
            seen: Vec::new(),
            worlds: Vec::new(),
            owners: Vec::new(),
            in_tick: Vec::new(),
        };
        let mut cx = rt.cx(&mut host);
        for _ in 0..2 {
            let world = cx.create_world(WorldKind::Game).unwrap();
            cx.host_mut().worlds.push(world);
        }
        for n in 0..OWNERS {
            let world = cx.host().worlds[n % 2];
            let owner = cx.spawn_in(world, Thing).unwrap();
            cx.host_mut().owners.push(owner);
        }
        // A world of its own, that nothing stops: it ticks before the flows have their turns.
        let quiet = cx.create_world(WorldKind::Game).unwrap();
        let ticker = cx.spawn_in(quiet, Ticker).unwrap();
        Real {
            rt,
            host,
            _ticker: ticker,
        }
    }

    pub fn act(&mut self, what: &Act) {
        act(&mut self.rt.cx(&mut self.host), what);
    }

    pub fn post(&mut self, what: &Act) {
        let what = what.clone();
        let post = move |cx: &mut C<'_>| act(cx, &what);
        self.rt.poster().post(post).unwrap();
    }

    pub fn in_tick(&mut self, what: &Act) {
        self.host.in_tick.push(what.clone());
    }

    pub fn pause(&mut self, world: usize, paused: bool) {
        let world = self.host.worlds[world];
        let _ = self.rt.cx(&mut self.host).set_paused(world, paused);
    }

    #[allow(clippy::cast_precision_loss)]
    pub fn dilate(&mut self, world: usize, halves: u64) {
        let world = self.host.worlds[world];
        let mut cx = self.rt.cx(&mut self.host);
        let _ = cx.set_dilation(world, halves as f64 / 2.0);
    }

    pub fn frame(&mut self, delta: u64) {
        let delta = Duration::from_nanos(delta);
        self.rt.tick(&mut self.host, delta).unwrap();
    }

    pub fn take_log(&mut self) -> Vec<Line> {
        std::mem::take(&mut self.host.log)
    }

    pub fn end(&mut self) {
        self.rt.shutdown(&mut self.host);
    }
}
