//! The side under test: a case played on the runtime.

use std::borrow::Cow;
use std::cell::RefCell;
use std::panic::resume_unwind;
use std::rc::Rc;
use std::time::Duration;

use sc_core::{
    Clock, Cx, FrameError, FrameReport, InstanceId, Owner, PanicPolicy, Poster, Report, ReportKind,
    Runtime, Secs, TickError, TickId, TickKey, TickSettings, Tickable, WorldError, WorldId,
    WorldKind, WorldOptions, secs,
};

use crate::ops::{
    Answer, Change, Event, How, Line, Log, MOST_OBJECTS, Op, Script, Seen, SeenWorld, Start, State,
    Who, is_promised, script_for,
};

/// The host: everything by number.
pub struct Lab {
    log: Log,
    scripts: Rc<[Script]>,
    ids: Vec<Option<TickId>>,
    keys: Vec<Option<TickKey<Probe>>>,
    owners: Vec<Option<Owner<Probe>>>,
    spawned: Vec<(How, Start)>,
    worlds: Vec<WorldId>,
    instances: Vec<InstanceId>,
    poster: Option<Poster<Lab>>,
}

pub struct Probe {
    number: usize,
    script: usize,
    /// How often each event came.
    seen: [u32; 3],
    start: Start,
    log: Log,
}

impl Drop for Probe {
    fn drop(&mut self) {
        self.log.borrow_mut().push(Line::Dropped(self.number));
    }
}

impl Probe {
    fn called(&mut self, cx: &mut Cx<'_, Lab>, event: Event) {
        let id = cx.current_object();
        let delta = u64::try_from(cx.delta().as_nanos()).unwrap();
        let frame = cx.frame();
        let world = cx.world();
        let lab = cx.host_mut();
        let known = &mut lab.ids[self.number];
        assert!(known.is_none() || *known == id, "the object being called");
        *known = id;
        let world = world.map(|id| lab.number_of(id));
        lab.log.borrow_mut().push(Line::Called {
            object: self.number,
            event,
            delta,
            world,
            frame,
        });
        let count = &mut self.seen[event as usize];
        *count += 1;
        let scripts = Rc::clone(&lab.scripts);
        let Some(script) = scripts.get(self.script) else {
            return;
        };
        for cue in script {
            if cue.event == event && cue.nth == self.seen[event as usize] {
                for op in &cue.ops {
                    if let Op::Panic = op {
                        // Without the message of the panic hook.
                        resume_unwind(Box::new("scripted"));
                    }
                    act(cx, op, Some((self.number, self.script)));
                }
            }
        }
    }
}

impl Tickable<Lab> for Probe {
    fn initialize(&mut self, cx: &mut Cx<'_, Lab>) {
        self.called(cx, Event::Initialize);
    }
    fn tick(&mut self, cx: &mut Cx<'_, Lab>) {
        self.called(cx, Event::Tick);
    }
    fn shutdown(&mut self, cx: &mut Cx<'_, Lab>) {
        self.called(cx, Event::Shutdown);
    }
    fn name(&self) -> Cow<'static, str> {
        self.number.to_string().into()
    }
    fn settings(&self) -> TickSettings {
        TickSettings::default()
            .interval(Duration::from_nanos(self.start.interval))
            .group(self.start.group)
            .start_ticking(self.start.start_ticking)
            .tick_when_paused(self.start.when_paused)
            .tick_in_editor(self.start.in_editor)
            .tick_at_start(self.start.at_start)
    }
}

impl Lab {
    fn number_of(&self, world: WorldId) -> usize {
        self.worlds.iter().position(|w| *w == world).unwrap()
    }

    fn world(&self, nth: u8) -> Option<WorldId> {
        let count = self.worlds.len();
        (count > 0).then(|| self.worlds[usize::from(nth) % count])
    }

    fn instance(&self, nth: u8) -> Option<InstanceId> {
        let count = self.instances.len();
        (count > 0).then(|| self.instances[usize::from(nth) % count])
    }

    fn object(&self, who: Who, me: Option<usize>) -> Option<usize> {
        let count = self.ids.len();
        match (who, me) {
            _ if count == 0 => None,
            (Who::Me, Some(me)) => Some(me),
            (Who::Me, None) => Some(count - 1),
            (Who::Nth(nth), _) => Some(usize::from(nth) % count),
        }
    }
}

fn tick_error(error: &TickError) -> &'static str {
    match error {
        TickError::Gone => "Gone",
        TickError::Running { .. } => "Running",
        TickError::AlreadyInitialized { .. } => "AlreadyInitialized",
        TickError::NoLiveWorld { .. } => "NoLiveWorld",
        TickError::ShutDown { .. } => "ShutDown",
        TickError::Worldless { .. } => "Worldless",
        TickError::BadInterval(_) => "BadInterval",
        TickError::PrerequisiteCycle { .. } => "Cycle",
        TickError::PrerequisiteLater { .. } => "Later",
        TickError::PrerequisiteElsewhere { .. } => "Elsewhere",
        TickError::Panicked { .. } => "Panicked",
        other => panic!("{other:?}"),
    }
}

fn ticked<T>(result: Result<T, TickError>) -> Answer {
    match result {
        Ok(_) => Answer::Done,
        Err(error) => Answer::Refused(tick_error(&error)),
    }
}

fn worlded<T>(result: Result<T, WorldError>) -> Answer {
    match result {
        Ok(_) => Answer::Done,
        Err(WorldError::Gone) => Answer::Refused("Gone"),
        Err(WorldError::NoLiveWorld) => Answer::Refused("NoLiveWorld"),
        Err(WorldError::InstanceGone) => Answer::Refused("InstanceGone"),
        Err(WorldError::ShutDown) => Answer::Refused("ShutDown"),
        Err(WorldError::BadDilation(_)) => Answer::Refused("BadDilation"),
        Err(other) => panic!("{other:?}"),
    }
}

/// Does an operation and logs what it answered. `me`: whose callback this is, and its script.
fn act(cx: &mut Cx<'_, Lab>, op: &Op, me: Option<(usize, usize)>) {
    let answer = answer(cx, op, me).unwrap_or(Answer::NoTarget);
    cx.host_mut().log.borrow_mut().push(Line::Answered(answer));
}

fn answer(cx: &mut Cx<'_, Lab>, op: &Op, me: Option<(usize, usize)>) -> Option<Answer> {
    let number = me.map(|m| m.0);
    let lab = cx.host();
    let object = |who: &Who| lab.object(*who, number);
    let id = |who: &Who| lab.ids[object(who)?];
    Some(match op {
        Op::Spawn {
            how,
            world,
            start,
            script,
        } => {
            if lab.ids.len() >= MOST_OBJECTS {
                return None;
            }
            let world = lab.world(*world)?;
            let script = script_for(me.map(|m| m.1), *script, lab.scripts.len());
            spawn(cx, *how, world, *start, script)
        }
        Op::Initialize(who, world) => {
            let world = match world {
                Some(nth) => Some(lab.world(*nth)?),
                None => None,
            };
            let id = id(who)?;
            ticked(cx.initialize(id, world))
        }
        Op::Shutdown(who) => {
            let id = id(who)?;
            match cx.shutdown(id) {
                Ok(was) => Answer::Was(was),
                Err(error) => Answer::Refused(tick_error(&error)),
            }
        }
        Op::Enable(who, on) => {
            let id = id(who)?;
            ticked(cx.set_tick_enabled(id, *on))
        }
        Op::DropOwner(who) => {
            let object = object(who)?;
            let owner = cx.host_mut().owners[object].take()?;
            drop(owner);
            Answer::Done
        }
        Op::Configure(who, change) => {
            let target = id(who)?;
            let (how, start) = lab.spawned[object(who)?];
            if !is_promised(how, start, change) {
                return None;
            }
            let others: Vec<TickId> = match change {
                Change::After(a) | Change::NotAfter(a) => vec![id(a)?],
                Change::Many(_, a, b) => vec![id(a)?, id(b)?],
                _ => Vec::new(),
            };
            ticked(configure(cx, target, change, &others))
        }
        Op::Get(who) => {
            let key = lab.keys[object(who)?]?;
            ticked(cx.get(key).map(|probe| probe.number))
        }
        Op::With(who, op) => {
            let key = lab.keys[object(who)?]?;
            ticked(cx.with(key, |_, cx| act(cx, op, me)))
        }
        Op::CreateWorld {
            editor,
            steps,
            parent,
            instance,
        } => {
            let kind = if *editor {
                WorldKind::Editor
            } else {
                WorldKind::Game
            };
            let mut options = WorldOptions::new(kind).steps(*steps);
            if let Some(parent) = parent {
                options = options.parent(lab.world(*parent)?);
            }
            if let Some(instance) = instance.and_then(|nth| lab.instance(nth)) {
                options = options.instance(instance);
            }
            let made = cx.create_world(options);
            if let Ok(world) = made {
                cx.host_mut().worlds.push(world);
            }
            worlded(made)
        }
        Op::DestroyWorld(nth) => {
            let world = lab.world(*nth)?;
            Answer::Was(cx.destroy_world(world))
        }
        Op::PauseWorld(nth, on) => {
            let world = lab.world(*nth)?;
            worlded(cx.set_paused(world, *on))
        }
        Op::Dilate(nth, factor) => {
            let world = lab.world(*nth)?;
            worlded(cx.set_dilation(world, f64::from(*factor) / 1000.0))
        }
        Op::BadDilation(nth) => {
            let world = lab.world(*nth)?;
            worlded(cx.set_dilation(world, f64::NAN))
        }
        Op::CreateInstance => {
            let instance = cx.create_instance("session");
            cx.host_mut().instances.push(instance);
            Answer::Done
        }
        Op::PauseInstance(nth, on) => {
            let instance = lab.instance(*nth)?;
            worlded(cx.set_instance_paused(instance, *on))
        }
        Op::DestroyInstance(nth) => {
            let instance = lab.instance(*nth)?;
            Answer::Was(cx.destroy_instance(instance))
        }
        Op::Forgive => {
            cx.forgive_elapsed();
            Answer::Done
        }
        Op::Post(op) => {
            let poster = lab.poster.clone()?;
            let op = op.clone();
            poster.post(move |cx| act(cx, &op, None)).unwrap();
            Answer::Done
        }
        Op::Panic => return None,
    })
}

fn spawn(cx: &mut Cx<'_, Lab>, how: How, world: WorldId, start: Start, script: usize) -> Answer {
    let lab = cx.host_mut();
    let number = lab.ids.len();
    lab.ids.push(None);
    lab.keys.push(None);
    lab.owners.push(None);
    lab.spawned.push((how, start));
    let probe = Probe {
        number,
        script,
        seen: [0; 3],
        start,
        log: Rc::clone(&lab.log),
    };
    let owner = match how {
        How::Plain => Ok(cx.spawn(probe)),
        How::Worldless => Ok(cx.spawn_worldless(probe)),
        How::In => cx.spawn_in(world, probe),
        How::Batched => cx.spawn_batched(world, probe),
        How::WorldOwned => {
            let made = cx.spawn_world_owned(world, probe);
            if let Ok(key) = made {
                let lab = cx.host_mut();
                lab.ids[number] = Some(key.id());
                lab.keys[number] = Some(key);
            }
            return ticked(made);
        }
    };
    match owner {
        Ok(owner) => {
            let lab = cx.host_mut();
            lab.ids[number] = Some(owner.id());
            lab.keys[number] = Some(owner.key());
            lab.owners[number] = Some(owner);
            Answer::Done
        }
        Err(error) => Answer::Refused(tick_error(&error)),
    }
}

fn configure(
    cx: &mut Cx<'_, Lab>,
    target: TickId,
    change: &Change,
    others: &[TickId],
) -> Result<(), TickError> {
    let configure = cx.configure(target)?;
    match change {
        Change::Interval(ns) => configure.interval(Duration::from_nanos(*ns)),
        Change::BadInterval => configure.interval(secs(-1)),
        Change::Group(group) => configure.group(*group),
        Change::WhenPaused(on) => configure.tick_when_paused(*on),
        Change::AtStart(on) => configure.tick_at_start(*on),
        Change::StartTicking(on) => configure.start_ticking(*on),
        Change::After(_) => configure.after(others[0]),
        Change::NotAfter(_) => configure.not_after(others[0]),
        Change::Many(group, _, _) => configure.group(*group).after(others[0]).after(others[1]),
    }
    .apply()
}

/// A runtime and its host, played step by step.
pub struct Real {
    rt: Runtime<Lab>,
    lab: Lab,
    log: Log,
}

impl Real {
    pub fn new(scripts: &[Script]) -> Self {
        let log: Log = Rc::new(RefCell::new(Vec::new()));
        let mut rt = Runtime::new();
        rt.set_panic_policy(PanicPolicy::Isolate);
        let sink = Rc::clone(&log);
        rt.set_report_handler(move |report: &Report| {
            let kind = match report.kind {
                ReportKind::AlreadyInitialized => "AlreadyInitialized",
                ReportKind::NoLiveWorld => "NoLiveWorld",
                ReportKind::OwnerDropped => "OwnerDropped",
                ReportKind::RuntimeDropped => "RuntimeDropped",
                ReportKind::Panicked => "Panicked",
                ReportKind::DeltaSaturated => "DeltaSaturated",
                _ => "?",
            };
            let object = report.object.as_ref().map(|name| name.parse().unwrap());
            sink.borrow_mut().push(Line::Reported(kind, object));
        });
        let lab = Lab {
            log: Rc::clone(&log),
            scripts: scripts.into(),
            ids: Vec::new(),
            keys: Vec::new(),
            owners: Vec::new(),
            spawned: Vec::new(),
            worlds: Vec::new(),
            instances: Vec::new(),
            poster: Some(rt.poster()),
        };
        Real { rt, lab, log }
    }

    pub fn act(&mut self, op: &Op) {
        act(&mut self.rt.cx(&mut self.lab), op, None);
    }

    pub fn frame(&mut self, delta: impl Into<Secs>) {
        let outcome = self.rt.tick_secs(&mut self.lab, delta);
        self.framed(outcome);
    }

    pub fn step(&mut self, delta: Duration) {
        let outcome = self.rt.step(&mut self.lab, delta);
        self.framed(outcome);
    }

    fn framed(&mut self, outcome: Result<FrameReport, FrameError>) {
        let line = match outcome {
            Ok(report) => Line::Framed {
                frame: report.frame,
                real_delta: nanos(report.real_delta),
                forgiven: nanos(report.forgiven),
                ticks: report.ticks,
                reports: report.reports,
            },
            Err(_) => Line::Answered(Answer::Refused("BadDelta")),
        };
        self.log.borrow_mut().push(line);
    }

    /// The end of the runtime; owners go after it.
    pub fn end(&mut self) {
        self.rt.shutdown(&mut self.lab);
    }

    pub fn take_log(&self) -> Vec<Line> {
        self.log.take()
    }

    pub fn state(&mut self) -> State {
        let list = self.rt.tick_list();
        let list = list.iter().map(|info| info.name.parse().unwrap()).collect();
        let lab = &self.lab;
        let worlds = self.rt.world_list();
        let worlds = worlds.iter().map(|world| SeenWorld {
            number: lab.number_of(world.id),
            paused: world.effectively_paused,
            elapsed: world.elapsed.map(nanos),
        });
        let worlds: Vec<_> = worlds.collect();
        let ids = self.lab.ids.clone();
        let cx = self.rt.cx(&mut self.lab);
        for world in &worlds {
            for clock in Clock::ALL {
                let id = cx.host().worlds[world.number];
                assert_eq!(cx.world_delta(id, clock), Ok(Duration::ZERO));
            }
        }
        let objects = ids.iter().map(|id| {
            let info = cx.tick_info((*id)?).ok()?;
            Some(Seen {
                initialized: info.initialized,
                world: info.world.map(|id| cx.host().number_of(id)),
                enabled: info.enabled,
                group: info.group,
                interval: nanos(info.interval),
                ticks: info.ticks,
                carry: nanos(info.carry),
                next_due: info.next_due.map(nanos),
            })
        });
        State {
            objects: objects.collect(),
            list,
            worlds,
            runtime_elapsed: nanos(cx.runtime_elapsed()),
        }
    }
}

fn nanos(d: Duration) -> u64 {
    u64::try_from(d.as_nanos()).unwrap()
}
