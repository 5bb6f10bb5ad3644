//! Random stories in two worlds and the runtime, against a reference that looks at every story in every
//! frame: each step comes in the frame in which it has to.

use std::cell::RefCell;
use std::future::{Future, pending, poll_fn};
use std::rc::Rc;
use std::task::{Poll, Waker};

use crate::probe::{Bell, Game, start, world, yield_now};
use futures::stream::{FuturesUnordered, StreamExt};

use sc_flow::{Either, Flow, FlowCx, FlowError, FlowExt, FlowId, join, race};

#[derive(Clone, Copy, Debug)]
enum Await {
    /// Tenths of a second.
    Delay(u64),
    Ticks(u64),
    NextTick,
    Yield,
    /// Its own bell.
    Bell,
    /// Rings the bell of another.
    Ring(usize),
}

#[derive(Clone, Copy, Debug)]
enum Wrap {
    Plain,
    Foreign,
    Join,
    Race,
    /// In a race against a bell that nobody rings.
    RaceBell,
}

/// A bell that counts: one ring, one waiter.
#[derive(Clone, Default)]
struct Gong(Rc<RefCell<(u32, Option<Waker>)>>);

impl Gong {
    fn ring(&self) {
        let waker = {
            let mut gong = self.0.borrow_mut();
            gong.0 += 1;
            gong.1.take()
        };
        waker.into_iter().for_each(Waker::wake);
    }

    fn wait(&self) -> impl Future<Output = ()> + 'static {
        let gong = self.clone();
        poll_fn(move |context| {
            let mut gong = gong.0.borrow_mut();
            if gong.0 > 0 {
                gong.0 -= 1;
                return Poll::Ready(());
            }
            gong.1 = Some(context.waker().clone());
            Poll::Pending
        })
    }
}

type Seen = Rc<RefCell<Vec<(usize, usize)>>>;

struct Random(u64);
impl Random {
    fn below(&mut self, below: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
    fn index(&mut self, below: usize) -> usize {
        usize::try_from(self.below(below as u64)).unwrap()
    }
}

const STORIES: usize = 7;

fn script(random: &mut Random) -> Vec<(Await, Wrap)> {
    let steps = 2 + random.below(7);
    (0..steps)
        .map(|step| {
            // What a wait made first counts from is known only behind a wait of ours.
            let what = match random.below(if step == 0 { 6 } else { 12 }) {
                0..=2 => Await::Delay(random.below(6)),
                3 | 4 => Await::Ticks(random.below(4)),
                5 => Await::NextTick,
                6 => Await::Yield,
                7..=9 => Await::Bell,
                _ => Await::Ring(random.index(STORIES)),
            };
            let wrap = match random.below(8) {
                0 | 1 => Wrap::Foreign,
                2 => Wrap::Join,
                3 => Wrap::Race,
                4 => Wrap::RaceBell,
                _ => Wrap::Plain,
            };
            (what, wrap)
        })
        .collect()
}

async fn wait(fx: &FlowCx<Game>, what: Await, own: &Gong, bells: &[Gong]) -> Result<(), FlowError> {
    match what {
        Await::Delay(tenths) => fx.delay(tenths as f64 * 0.1).await,
        Await::Ticks(n) => fx.ticks(n).await,
        Await::NextTick => fx.next_tick().await,
        Await::Yield => {
            yield_now().await;
            Ok(())
        }
        Await::Bell => {
            own.wait().await;
            Ok(())
        }
        Await::Ring(of) => {
            bells[of].ring();
            Ok(())
        }
    }
}

async fn play(
    fx: FlowCx<Game>,
    me: usize,
    script: Vec<(Await, Wrap)>,
    bells: Vec<Gong>,
    seen: Seen,
) -> Result<(), FlowError> {
    for (step, (what, wrap)) in script.into_iter().enumerate() {
        let wait = wait(&fx, what, &bells[me], &bells);
        match wrap {
            Wrap::Plain => wait.await?,
            Wrap::Foreign => {
                let mut all = FuturesUnordered::new();
                all.push(wait);
                all.next().await.unwrap()?;
            }
            Wrap::Join => join(wait, async {}).await.0?,
            Wrap::Race => match race(wait, pending::<()>()).await {
                Either::First(done) => done?,
                Either::Second(()) => unreachable!(),
            },
            Wrap::RaceBell => match race(wait, Bell::default().wait()).await {
                Either::First(done) => done?,
                Either::Second(()) => unreachable!(),
            },
        }
        seen.borrow_mut().push((me, step));
    }
    Ok(())
}

/// A story as the reference knows it.
struct Model {
    home: usize,
    script: Vec<(Await, Wrap)>,
    at: usize,
    started: bool,
    awaited: bool,
    paused: bool,
    live: bool,
    /// When the present step was begun: in which of its home's frames, and at what reading.
    begun: Option<(u64, u64)>,
    yielded: bool,
}

fn case(seed: u64) {
    let mut random = Random(seed);
    let mut t = start();
    let worlds = [t.world, world(&mut t)];
    let bells: Vec<Gong> = (0..STORIES).map(|_| Gong::default()).collect();
    let mut rung = [0_u32; STORIES];
    let seen = Seen::default();
    let mut models: Vec<Model> = Vec::new();
    let mut ids: Vec<FlowId> = Vec::new();
    let mut paused = [false; 3];
    let mut frames = [0_u64; 3];
    let mut readings = [0_u64; 3];
    for frame in 0..40 {
        for _ in 0..random.below(4) {
            match random.below(10) {
                0..=3 if models.len() < STORIES => {
                    let (home, script) = (random.index(3), script(&mut random));
                    let flow = match home {
                        2 => Flow::new("story").runtime(),
                        home => Flow::new("story").world(worlds[home]),
                    };
                    let (me, steps) = (models.len(), script.clone());
                    let (bells, seen) = (bells.clone(), Rc::clone(&seen));
                    ids.push(
                        flow.spawn(&mut t.cx(), async move |fx| {
                            play(fx, me, steps, bells, seen).await
                        })
                        .unwrap(),
                    );
                    models.push(Model {
                        home,
                        script,
                        at: 0,
                        started: false,
                        awaited: false,
                        paused: false,
                        live: true,
                        begun: None,
                        yielded: false,
                    });
                }
                4 | 5 => {
                    let of = random.index(STORIES);
                    bells[of].ring();
                    rung[of] += 1;
                }
                6 => {
                    let home = random.index(2);
                    paused[home] = !paused[home];
                    t.cx().set_paused(worlds[home], paused[home]).unwrap();
                }
                7 | 8 if !models.is_empty() => {
                    let of = random.index(models.len());
                    let model = &mut models[of];
                    if model.live && model.started {
                        if model.paused {
                            assert!(t.cx().resume_flow(ids[of]));
                        } else {
                            assert!(t.cx().pause_flow(ids[of]));
                        }
                        model.paused = !model.paused;
                    }
                }
                9 if !models.is_empty() && random.below(4) == 0 => {
                    let of = random.index(models.len());
                    assert_eq!(t.cx().cancel(ids[of]), models[of].live, "seed {seed}");
                    models[of].live = false;
                }
                _ => {}
            }
        }
        let tenths = 1 + random.below(3);
        t.tick(tenths as f64 * 0.1);
        let mut expected = Vec::new();
        for home in 0..3 {
            if paused[home] {
                continue;
            }
            frames[home] += 1;
            readings[home] += tenths;
            let (frame, now) = (frames[home], readings[home]);
            loop {
                let mut goes_on = false;
                for (me, m) in models.iter_mut().enumerate() {
                    if m.home != home || !m.live || m.paused {
                        continue;
                    }
                    m.started = true;
                    let Some(&(what, _)) = m.script.get(m.at) else {
                        m.live = false;
                        continue;
                    };
                    let credit = if m.awaited { 0 } else { tenths };
                    let (made_in, made_at) = *m.begun.get_or_insert((frame, now - credit));
                    let done = match what {
                        Await::Delay(0) | Await::NextTick => frame > made_in,
                        Await::Delay(d) => now >= made_at + d,
                        Await::Ticks(n) => frame >= made_in + n.max(1),
                        Await::Yield => true,
                        Await::Bell => {
                            let has_rung = rung[me] > 0;
                            rung[me] -= u32::from(has_rung);
                            has_rung
                        }
                        Await::Ring(of) => {
                            rung[of] += 1;
                            true
                        }
                    };
                    if done {
                        // Only our own awaits take the credit away.
                        m.awaited |=
                            matches!(what, Await::Delay(_) | Await::NextTick | Await::Ticks(_));
                        expected.push((me, m.at));
                        m.at += 1;
                        m.begun = None;
                        m.yielded = false;
                        goes_on = true;
                    }
                }
                if !goes_on {
                    break;
                }
            }
            for m in models.iter_mut().filter(|m| m.home == home) {
                // Beyond its first turn.
                m.awaited |= m.started;
            }
        }
        let mut got = seen.take();
        got.sort_unstable();
        expected.sort_unstable();
        let scripts: Vec<_> = models.iter().map(|m| (m.home, &m.script, m.at)).collect();
        assert_eq!(got, expected, "seed {seed}, frame {frame}: {scripts:#?}");
    }
}

#[test]
fn each_step_of_a_story_comes_in_its_frame() {
    let cases: u64 = std::env::var("CASES")
        .ok()
        .map_or(2000, |n| n.parse().unwrap());
    for seed in 0..cases {
        case(seed);
    }
}
