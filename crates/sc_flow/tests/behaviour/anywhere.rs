//! Everything that can be done to flows and worlds, done from every callback and destructor of a flow:
//! nobody is lost, nobody ends twice, nobody has a turn too many.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use crate::probe::{Bell, C, Game, Test, caught, start, thing, world};
use sc_core::{Owner, PanicPolicy, WorldId};
use sc_flow::{
    DoForDuration, Flow, FlowCx, FlowError, FlowExt, FlowId, ForEach, Step, WaitUntil, race,
};

/// Where something is done.
const PLACES: [&str; 13] = [
    "each",
    "completed",
    "finished of a node",
    "condition",
    "satisfied",
    "timed out",
    "cancelled",
    "update",
    "body",
    "guard of a cancelled",
    "guard of a loser",
    "finished of a story",
    "destructor of a ready body",
];

/// What is done there.
const ACTS: [&str; 16] = [
    "nothing",
    "start a story",
    "start a node",
    "cancel itself",
    "cancel the next",
    "cancel the other world's",
    "cancel all here",
    "pause itself",
    "pause and resume itself",
    "pause and resume all",
    "destroy its world",
    "destroy the other world",
    "end the owner",
    "ring",
    "panic",
    "destroy its world and panic",
];

#[derive(Clone, Default)]
struct Ends(Rc<RefCell<BTreeMap<String, u32>>>);

impl Ends {
    fn of(&self, name: &str) -> impl FnOnce(&mut C<'_>, sc_flow::FlowFinish) + 'static {
        let (ends, name) = (self.clone(), name.to_owned());
        move |_, _| *ends.0.borrow_mut().entry(name).or_default() += 1
    }

    fn count(&self, name: &str) -> u32 {
        self.0.borrow().get(name).copied().unwrap_or(0)
    }
}

type Act = Rc<RefCell<dyn FnMut(&mut C<'_>)>>;

fn call(act: &Act, cx: &mut C<'_>) {
    if let Ok(mut act) = act.try_borrow_mut() {
        act(cx);
    }
}

/// The flows round about, in one world.
struct Round {
    turns: [Rc<Cell<u32>>; 3],
    ids: Vec<FlowId>,
}

fn count(turns: &Rc<Cell<u32>>) -> Rc<Cell<u32>> {
    Rc::clone(turns)
}

fn round(
    t: &mut Test,
    w: WorldId,
    tag: &str,
    ends: &Ends,
    bell: &Bell,
    owner: Option<&Owner<crate::probe::Thing>>,
) -> Round {
    let turns: [Rc<Cell<u32>>; 3] = Default::default();
    let name = |n: &str| format!("{tag} {n}");
    let mut ids = Vec::new();
    let flow = |n: &str| {
        Flow::<Game>::new("f")
            .world(w)
            .on_finished(ends.of(&name(n)))
    };
    let n = count(&turns[0]);
    let every = flow("every").spawn(&mut t.cx(), async move |fx| {
        loop {
            n.set(n.get() + 1);
            fx.next_tick().await?;
        }
    });
    ids.push(every.unwrap());
    let n = count(&turns[1]);
    let node = DoForDuration::new(1000, move |_: &mut C<'_>, _, _| n.set(n.get() + 1));
    let node = node.world(w).on_finished(ends.of(&name("node")));
    ids.push(node.start(&mut t.cx()).unwrap());
    ids.push(
        flow("sleep")
            .spawn(&mut t.cx(), async |fx| fx.delay(1000).await)
            .unwrap(),
    );
    let (n, bell) = (count(&turns[2]), bell.clone());
    let woken = flow("woken").spawn(&mut t.cx(), async move |fx| {
        loop {
            drop(race(bell.wait(), fx.delay(1000)).await);
            n.set(n.get() + 1);
            fx.next_tick().await?;
        }
    });
    ids.push(woken.unwrap());
    if let Some(owner) = owner {
        let owned = flow("owned").owner(owner);
        ids.push(
            owned
                .spawn(&mut t.cx(), async |fx| fx.delay(1000).await)
                .unwrap(),
        );
    }
    Round { turns, ids }
}

/// A body that is ready at once, with a destructor.
struct Ready(FlowCx<Game>, Act);
impl Future for Ready {
    type Output = Result<(), FlowError>;
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(Ok(()))
    }
}
impl Drop for Ready {
    fn drop(&mut self) {
        self.0.with(|cx| call(&self.1, cx)).unwrap();
    }
}

struct Guard<'f>(&'f FlowCx<Game>, Act);
impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.0.with(|cx| call(&self.1, cx)).unwrap();
    }
}

/// Starts a flow that acts at a place in frame 2, and one that sees to it that it gets there.
fn actor(t: &mut Test, place: &str, act: &Act, ends: &Ends) -> FlowId {
    let (w, act) = (t.world, Rc::clone(act));
    let told = ends.of("actor");
    let cx = &mut t.cx();
    match place {
        "each" => ForEach::index(3)
            .each(move |cx: &mut C<'_>, i| {
                if i == 1 {
                    call(&act, cx);
                }
            })
            .world(w)
            .on_finished(told)
            .start(cx),
        "completed" => ForEach::index(2)
            .each(|_: &mut C<'_>, _| Step::Continue)
            .completed(move |cx, _| call(&act, cx))
            .world(w)
            .on_finished(told)
            .start(cx),
        "finished of a node" => ForEach::index(2)
            .each(|_: &mut C<'_>, _| Step::Continue)
            .world(w)
            .on_finished(move |cx, f| {
                told(cx, f);
                call(&act, cx);
            })
            .start(cx),
        "condition" => WaitUntil::new(move |cx: &mut C<'_>, n| {
            if n == 1 {
                call(&act, cx);
            }
            n == 2
        })
        .world(w)
        .on_finished(told)
        .start(cx),
        "satisfied" => WaitUntil::new(|_: &mut C<'_>, n| n == 1)
            .satisfied(move |cx| call(&act, cx))
            .world(w)
            .on_finished(told)
            .start(cx),
        "timed out" => WaitUntil::new(|_: &mut C<'_>, _| false)
            .timeout(0.2)
            .timed_out(move |cx| call(&act, cx))
            .world(w)
            .on_finished(told)
            .start(cx),
        "cancelled" => {
            let id = WaitUntil::new(|_: &mut C<'_>, _| false)
                .cancelled(move |cx| call(&act, cx))
                .world(w)
                .on_finished(told)
                .start(cx)
                .unwrap();
            cancel_in_2(cx, w, id);
            Ok(id)
        }
        "update" => DoForDuration::new(0.3, move |cx: &mut C<'_>, _, _| {
            if cx.frame() == 2 {
                call(&act, cx);
            }
        })
        .world(w)
        .on_finished(told)
        .start(cx),
        "body" => Flow::new("actor")
            .world(w)
            .on_finished(told)
            .spawn(cx, async move |fx| {
                fx.next_tick().await?;
                fx.with(|cx| call(&act, cx))?;
                fx.next_tick().await
            }),
        "guard of a cancelled" => {
            let id = Flow::new("actor")
                .world(w)
                .on_finished(told)
                .spawn(cx, async move |fx| {
                    let _guard = Guard(&fx, act);
                    fx.delay(50).await
                })
                .unwrap();
            cancel_in_2(cx, w, id);
            Ok(id)
        }
        "guard of a loser" => {
            Flow::new("actor")
                .world(w)
                .on_finished(told)
                .spawn(cx, async move |fx| {
                    let loser = async {
                        let _guard = Guard(&fx, act);
                        fx.delay(50).await
                    };
                    race(fx.next_tick(), loser).await;
                    fx.next_tick().await
                })
        }
        "finished of a story" => Flow::new("actor")
            .world(w)
            .on_finished(move |cx: &mut C<'_>, f| {
                told(cx, f);
                call(&act, cx);
            })
            .spawn(cx, async |fx| fx.next_tick().await),
        "destructor of a ready body" => {
            // Bare: its end is not told.
            told(cx, sc_flow::FlowFinish::Completed);
            let starts = Flow::new("starts").world(w);
            starts.spawn(cx, async move |fx| {
                fx.with(|cx| {
                    let flow = Flow::new("actor").world(w);
                    flow.spawn(cx, move |fx| Ready(fx, act)).map(drop)
                })?
            })
        }
        other => panic!("{other}"),
    }
    .unwrap()
}

fn cancel_in_2(cx: &mut C<'_>, w: WorldId, id: FlowId) {
    Flow::new("canceller")
        .world(w)
        .spawn(cx, async move |fx| {
            fx.next_tick().await?;
            fx.with(|cx| {
                cx.cancel(id);
            })
        })
        .unwrap();
}

fn play(place: &'static str, what: &'static str, policy: PanicPolicy) {
    let at = format!("{what} in {place}, {policy:?}");
    let mut t = start();
    t.rt.set_panic_policy(policy);
    let (w, w2) = (t.world, world(&mut t));
    let owner = thing(&mut t);
    let (ends, bell) = (Ends::default(), Bell::default());
    let before = round(&mut t, w, "before", &ends, &bell, Some(&owner));
    let acted = Rc::new(Cell::new(0_u32));
    let next: Rc<RefCell<Vec<FlowId>>> = Rc::default();
    let me: Rc<Cell<Option<FlowId>>> = Rc::default();
    let act: Act = {
        let (acted, next, me, ends, bell) = (
            Rc::clone(&acted),
            Rc::clone(&next),
            Rc::clone(&me),
            ends.clone(),
            bell.clone(),
        );
        let owner = owner.id();
        Rc::new(RefCell::new(move |cx: &mut C<'_>| {
            acted.set(acted.get() + 1);
            let me = me.get().unwrap();
            match what {
                "nothing" => {}
                "start a story" => drop(
                    Flow::new("new")
                        .world(w)
                        .on_finished(ends.of("new"))
                        .spawn(cx, async |_| Ok(()))
                        .unwrap(),
                ),
                "start a node" => drop(
                    ForEach::index(1)
                        .each(|_: &mut C<'_>, _| ())
                        .world(w)
                        .on_finished(ends.of("new"))
                        .start(cx)
                        .unwrap(),
                ),
                "cancel itself" => drop(cx.cancel(me)),
                "cancel the next" => drop(cx.cancel(next.borrow()[0])),
                "cancel the other world's" => drop(cx.cancel_flows_in(Some(w2))),
                "cancel all here" => drop(cx.cancel_flows_in(Some(w))),
                "pause itself" => drop(cx.pause_flow(me)),
                "pause and resume itself" => {
                    cx.pause_flow(me);
                    cx.resume_flow(me);
                }
                "pause and resume all" => {
                    for flow in cx.flow_list() {
                        cx.pause_flow(flow.id);
                        cx.resume_flow(flow.id);
                    }
                }
                "destroy its world" => drop(cx.destroy_world(w)),
                "destroy the other world" => drop(cx.destroy_world(w2)),
                "end the owner" => drop(cx.shutdown(owner)),
                "ring" => bell.ring(),
                "panic" => panic!("in the act"),
                "destroy its world and panic" => {
                    cx.destroy_world(w);
                    panic!("in the act")
                }
                other => panic!("{other}"),
            }
        }))
    };
    me.set(Some(actor(&mut t, place, &act, &ends)));
    let after = round(&mut t, w, "after", &ends, &Bell::default(), None);
    next.borrow_mut().extend(&after.ids);
    let other = round(&mut t, w2, "other", &ends, &Bell::default(), None);
    let mut panicked = 0;
    for _ in 0..6 {
        panicked += u32::from(caught(|| t.tick(0.1)).is_some());
    }
    assert_eq!(acted.get(), 1, "{at}: acted once");
    let panics = what.contains("panic");
    let propagates = policy == PanicPolicy::Propagate;
    assert_eq!(panicked, u32::from(panics && propagates), "{at}: panics");
    let destroyed = what.starts_with("destroy its world");
    // A panic that goes on costs the rest of its stage; the other world's too.
    let lost = u32::from(panics && propagates);
    let here = if destroyed { None } else { Some(6) };
    let gone_here = u32::from(destroyed || what == "cancel all here");
    for (tag, round, gone) in [("before", &before, gone_here), ("after", &after, gone_here)] {
        let mut names = vec!["every", "node", "sleep", "woken"];
        if tag == "before" {
            names.push("owned");
        }
        for name in names {
            let mut expected = gone;
            if name == "owned" && what == "end the owner"
                || tag == "after" && name == "every" && what == "cancel the next"
            {
                expected = 1;
            }
            let ended = ends.count(&format!("{tag} {name}"));
            assert_eq!(ended, expected, "{at}: {tag} {name}");
        }
        if let Some(frames) = here.filter(|_| gone == 0) {
            for (turns, name) in round.turns[..2].iter().zip(["every", "node"]) {
                if what == "cancel the next" && tag == "after" && name == "every" {
                    continue;
                }
                let range = frames - lost..=frames;
                assert!(
                    range.contains(&turns.get()),
                    "{at}: {tag} {name} had {}",
                    turns.get()
                );
                if what == "pause and resume all" {
                    continue;
                }
                assert!(
                    lost == 1 || turns.get() == frames,
                    "{at}: {tag} {name} had {}",
                    turns.get()
                );
            }
        }
    }
    if what == "ring" {
        assert_eq!(before.turns[2].get(), 1, "{at}: woken");
    }
    let other_gone =
        u32::from(what == "destroy the other world" || what == "cancel the other world's");
    for name in ["every", "node", "sleep", "woken"] {
        assert_eq!(
            ends.count(&format!("other {name}")),
            other_gone,
            "{at}: other {name}"
        );
    }
    if what.starts_with("start") {
        assert_eq!(ends.count("new"), 1, "{at}: new");
    }
    if what == "pause itself" {
        let live: Vec<_> = t.cx().flow_list().into_iter().map(|f| f.id).collect();
        for id in live {
            t.cx().resume_flow(id);
        }
        t.ticks(0.1, 3);
    }
    assert_eq!(ends.count("actor"), 1, "{at}: actor");
    t.rt.set_panic_policy(PanicPolicy::Isolate);
    t.rt.shutdown(&mut t.host);
    for tag in ["before", "after", "other"] {
        for name in ["every", "node", "sleep", "woken"] {
            assert_eq!(
                ends.count(&format!("{tag} {name}")),
                1,
                "{at}: {tag} {name} at the end"
            );
        }
    }
    assert!(t.cx().flow_list().is_empty());
    drop(other);
    drop(owner);
}

#[test]
fn everything_can_be_done_from_everywhere() {
    let mut failed = Vec::new();
    for place in PLACES {
        for what in ACTS {
            for policy in [PanicPolicy::Isolate, PanicPolicy::Propagate] {
                failed.extend(caught_text(|| play(place, what, policy)));
            }
        }
    }
    assert!(failed.is_empty(), "{}\n{failed:#?}", failed.len());
}

fn caught_text(f: impl FnOnce()) -> Option<String> {
    let payload = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)).err()?;
    let text = payload.downcast_ref::<String>().cloned();
    Some(
        text.or_else(|| payload.downcast_ref::<&str>().map(|s| (*s).to_owned()))
            .unwrap_or_default(),
    )
}
