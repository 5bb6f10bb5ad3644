//! The reference: what the specification says a case does. It looks at every flow in every frame,
//! and sorts them by the order of the stage; it shares nothing with the executor.

use crate::ops::{Act, Answer, Form, Kind, Line, MOST_FLOWS, OWNERS, Reason, Spec, What};

/// What a flow waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Waits {
    /// The first frame from this one on in which its clock runs.
    Frame(u64),
    /// A reading of its clock, and the number of the registration.
    At(u64, u64),
    /// `continue_loop`, since this reading.
    Continue(u64),
}

/// What comes after a turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Next {
    Frame,
    At(u64),
    Continue(u64),
    End(Reason),
}

#[derive(Clone, Debug)]
struct Flow {
    spec: usize,
    /// Its place in the order of starts: what a poll during a start starts comes before it.
    started: u64,
    alive: bool,
    /// Its id is known to the script.
    known: bool,
    waits: Waits,
    callbacks: u32,
    /// How it was asked to end while it was running.
    asked: Option<Reason>,
    /// What the gameplay callback is told at its end, in the builder's form.
    answer: Option<Answer>,
    had_a_turn: bool,
    /// `continue_loop` came from inside its body.
    continued: bool,

    /// The reading of its clock at its start, at the last batch, update or poll.
    start: u64,
    base: u64,
    /// The next index, or attempt.
    next: u64,
    lap: u32,
    elapsed: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Life {
    Alive,
    Dying,
    Gone,
}

#[derive(Clone, Debug)]
struct World {
    life: Life,
    paused: bool,
    halves: u64,
    /// Of this frame.
    is_paused: bool,
    /// Game, Unscaled, GameThroughPause, Real.
    readings: [u64; 4],
}

pub struct Model {
    form: Form,
    specs: Vec<Spec>,
    log: Vec<Line>,
    flows: Vec<Flow>,
    worlds: Vec<World>,
    owners: Vec<bool>,
    /// Owners gone, that nobody was told of yet.
    gone: Vec<usize>,
    /// Worlds that are dying.
    dying: Vec<usize>,
    real: u64,
    frame: u64,
    /// The clocks of the frame have not advanced yet.
    in_begin: bool,
    shut_down: bool,
    depth: u32,
    tearing_down: bool,
    running: Option<usize>,
    registrations: u64,
    starts: u64,
    posted: Vec<Act>,
    in_tick: Vec<Act>,
}

fn stops(clock: usize) -> bool {
    clock < 2
}

impl Model {
    pub fn new(form: Form, specs: &[Spec]) -> Self {
        let world = World {
            life: Life::Alive,
            paused: false,
            halves: 2,
            is_paused: false,
            readings: [0; 4],
        };
        Model {
            form,
            specs: specs.to_vec(),
            log: Vec::new(),
            flows: Vec::new(),
            worlds: vec![world; 2],
            owners: vec![true; OWNERS],
            gone: Vec::new(),
            dying: Vec::new(),
            real: 0,
            frame: 0,
            in_begin: false,
            shut_down: false,
            depth: 0,
            tearing_down: false,
            running: None,
            registrations: 0,
            starts: 0,
            posted: Vec::new(),
            in_tick: Vec::new(),
        }
    }

    pub fn take_log(&mut self) -> Vec<Line> {
        std::mem::take(&mut self.log)
    }

    fn log(&mut self, flow: usize, what: What) {
        let frame = self.frame;
        self.log.push(Line { flow, frame, what });
    }

    fn spec(&self, flow: usize) -> Spec {
        self.specs[self.flows[flow].spec].clone()
    }

    fn reading(&self, spec: &Spec) -> u64 {
        match spec.world {
            Some(world) => self.worlds[world].readings[spec.clock],
            None => self.real,
        }
    }

    /// Whether what it is bound to is gone.
    fn is_unbound(&self, spec: &Spec) -> bool {
        spec.world
            .is_some_and(|w| self.worlds[w].life != Life::Alive)
            || spec.owner.is_some_and(|o| !self.owners[o])
    }

    pub fn act(&mut self, what: &Act) {
        match *what {
            Act::Start(spec) => self.start(spec),
            Act::Cancel(flow) => {
                if self.flows.get(flow).is_some_and(|f| f.known) {
                    let answer = self.request(flow, Reason::Cancelled);
                    self.log(flow, What::Cancel(answer));
                }
            }
            Act::Continue(flow) => {
                if self.flows.get(flow).is_some_and(|f| f.known) {
                    let answer = self.continue_loop(flow);
                    self.log(flow, What::Continue(answer));
                }
            }
            Act::CancelOf(owner) => self.cancel_all(|spec| spec.owner == Some(owner)),
            Act::CancelIn(world) => self.cancel_all(|spec| spec.world == world),
            Act::Shutdown(owner) => {
                if std::mem::take(&mut self.owners[owner]) {
                    self.gone.push(owner);
                }
            }
            Act::Destroy(world) => {
                if self.worlds[world].life == Life::Alive {
                    self.worlds[world].life = Life::Dying;
                    self.dying.push(world);
                    self.attend();
                }
            }
        }
    }

    fn cancel_all(&mut self, which: impl Fn(&Spec) -> bool) {
        let mut all = self.in_start_order();
        all.retain(|&f| self.flows[f].alive && which(&self.spec(f)));
        for flow in all {
            self.request(flow, Reason::Cancelled);
        }
    }

    fn continue_loop(&mut self, flow: usize) -> bool {
        if self.running == Some(flow) {
            self.flows[flow].continued = true;
            return true;
        }
        let Waits::Continue(since) = self.flows[flow].waits else {
            return false;
        };
        if !self.flows[flow].alive {
            return false;
        }
        let spec = self.spec(flow);
        let (Kind::Delay { count, .. } | Kind::PerTick { count, .. }) = spec.kind else {
            return false;
        };
        if self.flows[flow].next == u64::try_from(count).unwrap() {
            self.flows[flow].answer = Some(Answer::Completed);
            return self.request(flow, Reason::Itself);
        }
        // The delay stood still meanwhile.
        self.flows[flow].base += self.reading(&spec) - since;
        match spec.kind {
            Kind::Delay { delay, .. } if delay > 0 => {
                self.register(flow, self.flows[flow].base + delay);
            }
            _ => {
                let first = self.frame + u64::from(!self.in_begin);
                self.flows[flow].waits = Waits::Frame(first);
            }
        }
        true
    }

    /// What waits until no callback is running any more.
    fn attend(&mut self) {
        if self.depth > 0 || self.tearing_down {
            return;
        }
        self.tearing_down = true;
        while !self.dying.is_empty() {
            let world = self.dying.remove(0);
            let ends = |m: &Self, f: usize| m.spec(f).world == Some(world);
            self.end_newest_first(ends);
            for owner in (0..OWNERS).rev().filter(|o| o % 2 == world) {
                self.act(&Act::Shutdown(owner));
            }
            self.worlds[world].life = Life::Gone;
        }
        self.tearing_down = false;
    }

    fn end_newest_first(&mut self, which: impl Fn(&Self, usize) -> bool) {
        let all = self.in_start_order().into_iter().rev();
        let ids: Vec<usize> = all.filter(|&f| which(self, f)).collect();
        for flow in ids {
            self.request(flow, Reason::Aborted);
        }
    }

    fn in_start_order(&self) -> Vec<usize> {
        let mut all: Vec<usize> = (0..self.flows.len()).collect();
        all.sort_by_key(|&f| self.flows[f].started);
        all
    }

    fn request(&mut self, flow: usize, reason: Reason) -> bool {
        if !self.flows[flow].alive {
            return false;
        }
        let unbound = self.is_unbound(&self.spec(flow));
        let reason = if unbound { Reason::Aborted } else { reason };
        if self.running == Some(flow) {
            let first = self.flows[flow].asked.is_none();
            self.flows[flow].asked.get_or_insert(reason);
            return first;
        }
        self.end(flow, reason);
        self.attend();
        true
    }

    /// Once, for one reason.
    fn end(&mut self, flow: usize, reason: Reason) {
        let ended = &mut self.flows[flow];
        if !std::mem::take(&mut ended.alive) {
            return;
        }
        let answer = ended.answer;
        if self.form == Form::Builder {
            match (reason, answer) {
                (Reason::Itself, Some(answer)) => self.log(flow, What::Answered(answer)),
                (Reason::Cancelled, _) => self.log(flow, What::ToldOfCancel),
                _ => {}
            }
        }
        self.depth += 1;
        self.finished(flow, reason);
        self.depth -= 1;
    }

    fn finished(&mut self, flow: usize, reason: Reason) {
        self.log(flow, What::Finished(reason));
        if let Some(what) = self.spec(flow).at_end {
            self.act(&what);
        }
    }

    fn start(&mut self, number: usize) {
        let flow = self.flows.len();
        if flow >= MOST_FLOWS {
            return;
        }
        let spec = self.specs[number].clone();
        let now = self.reading(&spec);
        let first = self.frame + u64::from(!self.in_begin);
        self.flows.push(Flow {
            spec: number,
            started: 0,
            alive: false,
            known: false,
            waits: Waits::Frame(first),
            callbacks: 0,
            asked: None,
            answer: None,
            had_a_turn: false,
            continued: false,
            start: now,
            base: now,
            next: 0,
            lap: 0,
            elapsed: 0,
        });
        let worldless_end = spec.world.is_none() && self.shut_down;
        if self.is_unbound(&spec) || worldless_end {
            self.finished(flow, Reason::Aborted);
            return self.log(flow, What::Started(false));
        }
        let mut over = None;
        if self.form == Form::Builder {
            match spec.kind {
                // A loop over nothing completes during its start.
                Kind::Delay { count: 0, .. } | Kind::PerTick { count: 0, .. } => {
                    over = Some(Answer::Completed);
                }
                Kind::Wait {
                    immediately: true, ..
                } => {
                    self.depth += 1;
                    let answer = self.poll(flow, &spec);
                    self.depth -= 1;
                    self.attend();
                    over = answer.then_some(Answer::Completed);
                }
                _ => {}
            }
        }
        if spec
            .world
            .is_some_and(|w| self.worlds[w].life != Life::Alive)
        {
            self.finished(flow, Reason::Aborted);
            return self.log(flow, What::Started(false));
        }
        self.starts += 1;
        self.flows[flow].started = self.starts;
        self.flows[flow].alive = true;
        // A builder's wait is registered at its start, an async flow's at its first poll.
        let deadline = match (self.form, spec.kind) {
            (Form::Async, _) => None,
            (
                _,
                Kind::Delay {
                    before_first: true,
                    delay,
                    ..
                },
            ) => (delay > 0).then(|| now + delay),
            (
                _,
                Kind::Wait {
                    interval, timeout, ..
                },
            ) => wait_deadline(interval, timeout, now, now),
            _ => None,
        };
        if let Some(deadline) = deadline {
            self.register(flow, deadline);
        }
        if let Some(answer) = over {
            self.flows[flow].answer = Some(answer);
            self.request(flow, Reason::Itself);
        }
        self.flows[flow].known = true;
        self.log(flow, What::Started(true));
    }

    fn register(&mut self, flow: usize, deadline: u64) {
        self.registrations += 1;
        self.flows[flow].waits = Waits::At(deadline, self.registrations);
    }

    pub fn post(&mut self, what: &Act) {
        self.posted.push(what.clone());
    }

    pub fn in_tick(&mut self, what: &Act) {
        self.in_tick.push(what.clone());
    }

    pub fn pause(&mut self, world: usize, paused: bool) {
        self.worlds[world].paused = paused;
    }

    pub fn dilate(&mut self, world: usize, halves: u64) {
        self.worlds[world].halves = halves;
    }

    fn announce_gone(&mut self) {
        for owner in std::mem::take(&mut self.gone) {
            let mut bound = self.in_start_order();
            bound.retain(|&f| self.spec(f).owner == Some(owner));
            for flow in bound {
                self.request(flow, Reason::Aborted);
            }
        }
    }

    fn callback(&mut self, what: &Act) {
        self.depth += 1;
        self.act(what);
        self.depth -= 1;
    }

    pub fn frame(&mut self, delta: u64) {
        self.frame += 1;
        self.in_begin = true;
        self.announce_gone();
        for what in std::mem::take(&mut self.posted) {
            self.callback(&what);
            self.attend();
        }
        self.in_begin = false;
        self.real += delta;
        for world in &mut self.worlds {
            world.is_paused = world.paused;
            let dilated = delta * world.halves / 2;
            let runs = u64::from(!world.paused);
            let deltas = [dilated * runs, delta * runs, dilated, delta];
            for (reading, delta) in world.readings.iter_mut().zip(deltas) {
                *reading += delta;
            }
        }
        self.announce_gone();
        for what in std::mem::take(&mut self.in_tick) {
            self.callback(&what);
        }
        self.attend();
        self.announce_gone();
        for world in [Some(0), Some(1), None] {
            self.flows_stage(world);
        }
        self.announce_gone();
    }

    fn flows_stage(&mut self, world: Option<usize>) {
        if world.is_some_and(|w| self.worlds[w].life != Life::Alive) {
            return;
        }
        let paused = world.is_some_and(|w| self.worlds[w].is_paused);
        let has_turn = |m: &Self, flow: usize| {
            let spec = m.spec(flow);
            m.flows[flow].alive && spec.world == world && !(paused && stops(spec.clock))
        };
        let all = self.in_start_order();
        // Waits over: clocks in table order, each by (deadline, sequence). On the runtime all
        // clocks are the real one, and still four queues.
        let mut over: Vec<_> = all
            .iter()
            .copied()
            .filter(|&f| has_turn(self, f))
            .filter_map(|f| match self.flows[f].waits {
                Waits::At(deadline, sequence) => {
                    let spec = self.spec(f);
                    let due = deadline <= self.reading(&spec);
                    due.then_some((spec.clock, deadline, sequence, f))
                }
                Waits::Frame(_) | Waits::Continue(_) => None,
            })
            .collect();
        over.sort_unstable();
        for (.., flow) in over {
            self.turn(flow);
        }
        // First polls and those that run every frame, in order of start.
        for flow in all {
            let due = matches!(self.flows[flow].waits, Waits::Frame(at) if at <= self.frame);
            if due && has_turn(self, flow) {
                self.turn(flow);
            }
        }
    }

    fn turn(&mut self, flow: usize) {
        if !self.flows[flow].alive {
            return;
        }
        let spec = self.spec(flow);
        if spec.owner.is_some_and(|o| !self.owners[o]) {
            return self.end(flow, Reason::Aborted);
        }
        self.running = Some(flow);
        self.depth += 1;
        let next = self.node(flow, &spec);
        if let (Form::Async, Next::End(_), Some(answer)) =
            (self.form, next, self.flows[flow].answer)
        {
            self.log(flow, What::Answered(answer));
        }
        self.depth -= 1;
        self.running = None;
        self.flows[flow].had_a_turn = true;
        if let Some(asked) = self.flows[flow].asked {
            self.end(flow, asked);
        } else if spec
            .world
            .is_some_and(|w| self.worlds[w].life != Life::Alive)
        {
            // Its world's teardown ends it in its turn.
        } else if self.is_unbound(&spec) {
            self.end(flow, Reason::Aborted);
        } else {
            match next {
                Next::Frame => self.flows[flow].waits = Waits::Frame(self.frame + 1),
                Next::At(deadline) => self.register(flow, deadline),
                Next::Continue(since) => self.flows[flow].waits = Waits::Continue(since),
                Next::End(reason) => self.end(flow, reason),
            }
        }
        self.attend();
    }

    /// After a callback of a node that ended its flow: the turn is over.
    fn stops_here(&self, flow: usize, spec: &Spec) -> bool {
        self.flows[flow].asked.is_some() || self.is_unbound(spec)
    }

    fn answer(&mut self, flow: usize, answer: Answer) -> Next {
        self.flows[flow].answer = Some(answer);
        Next::End(Reason::Itself)
    }

    fn node(&mut self, flow: usize, spec: &Spec) -> Next {
        let now = self.reading(spec);
        match spec.kind {
            Kind::Delay {
                count,
                delay,
                items,
                before_first,
            } => self.loop_turn(flow, spec, count, delay, items, before_first),
            Kind::PerTick { count, items } => self.loop_turn(flow, spec, count, 0, items, false),
            Kind::Duration {
                duration,
                laps,
                ping_pong,
            } => {
                let mut left = now - self.flows[flow].base;
                self.flows[flow].base = now;
                loop {
                    let drive = &mut self.flows[flow];
                    let delta = left.min(duration - drive.elapsed);
                    left -= delta;
                    drive.elapsed += delta;
                    let lap_over = drive.elapsed == duration;
                    let alpha = alpha(drive.elapsed, duration, ping_pong && drive.lap % 2 == 1);
                    if lap_over {
                        drive.elapsed = 0;
                        drive.lap += 1;
                    }
                    let is_last = drive.lap == laps;
                    self.called(flow, spec, What::Update(alpha.to_bits(), delta));
                    if is_last {
                        return self.answer(flow, Answer::Completed);
                    }
                    if left == 0 || self.stops_here(flow, spec) {
                        return Next::Frame;
                    }
                }
            }
            Kind::Wait {
                interval,
                timeout,
                immediately,
            } => {
                let first = !self.flows[flow].had_a_turn;
                if self.form == Form::Async && immediately && first {
                    // The poll of the first await is that frame's.
                    if self.poll(flow, spec) {
                        return self.answer(flow, Answer::Completed);
                    }
                } else {
                    let wait = &mut self.flows[flow];
                    if timeout > 0 && now - wait.start >= timeout {
                        return self.answer(flow, Answer::TimedOut);
                    }
                    let gone = now - wait.base;
                    if gone >= interval {
                        wait.base = now - gone.checked_rem(interval).unwrap_or(0);
                        if self.poll(flow, spec) {
                            return self.answer(flow, Answer::Completed);
                        }
                    }
                }
                let wait = &self.flows[flow];
                match wait_deadline(interval, timeout, wait.start, wait.base) {
                    Some(deadline) => Next::At(deadline),
                    None => Next::Frame,
                }
            }
        }
    }

    fn loop_turn(
        &mut self,
        flow: usize,
        spec: &Spec,
        count: i64,
        delay: u64,
        items: i64,
        before_first: bool,
    ) -> Next {
        let now = self.reading(spec);
        let next = |m: &Self| match delay {
            0 => Next::Frame,
            _ => Next::At(m.flows[flow].base + delay),
        };
        if count == 0 {
            return self.answer(flow, Answer::Completed);
        }
        let gone = now - self.flows[flow].base;
        if self.flows[flow].next == 0 && !before_first {
            self.flows[flow].base = now;
        } else if gone < delay {
            return next(self);
        } else {
            self.flows[flow].base = now - gone.checked_rem(delay).unwrap_or(0);
        }
        for _ in 0..items.max(1) {
            let index = usize::try_from(self.flows[flow].next).unwrap();
            self.flows[flow].next += 1;
            self.flows[flow].continued = false;
            self.called(flow, spec, What::Body(index));
            let continued = std::mem::take(&mut self.flows[flow].continued);
            if spec.breaks_at == Some(index) {
                return self.answer(flow, Answer::Broken);
            }
            let suspends = spec.suspends_at == Some(index);
            if suspends && !continued {
                return Next::Continue(now);
            }
            if index + 1 == usize::try_from(count).unwrap() {
                return self.answer(flow, Answer::Completed);
            }
            if suspends || self.stops_here(flow, spec) {
                break;
            }
        }
        next(self)
    }

    fn poll(&mut self, flow: usize, spec: &Spec) -> bool {
        let answer = spec.true_from.is_some_and(|from| self.frame >= from);
        let attempt = self.flows[flow].next;
        self.flows[flow].next += 1;
        self.called(flow, spec, What::Poll(attempt, answer));
        answer
    }

    fn called(&mut self, flow: usize, spec: &Spec, what: What) {
        self.log(flow, what);
        let nth = self.flows[flow].callbacks;
        self.flows[flow].callbacks += 1;
        for (at, what) in &spec.cues {
            if *at == nth {
                self.act(what);
            }
        }
    }

    pub fn end_all(&mut self) {
        self.shut_down = true;
        for world in [1, 0] {
            if self.worlds[world].life == Life::Alive {
                self.worlds[world].life = Life::Dying;
                self.dying.push(world);
            }
        }
        self.attend();
        self.end_newest_first(|_, _| true);
    }
}

/// When a wait looks again; `None`: every frame.
fn wait_deadline(interval: u64, timeout: u64, start: u64, base: u64) -> Option<u64> {
    match (interval, timeout) {
        (0, _) => None,
        (_, 0) => Some(base + interval),
        _ => Some((base + interval).min(start + timeout)),
    }
}

#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)]
fn alpha(elapsed: u64, duration: u64, backwards: bool) -> f32 {
    let progress = if elapsed == duration {
        1.0
    } else {
        (elapsed as f64 / duration as f64) as f32
    };
    if backwards { 1.0 - progress } else { progress }
}
