//! `fx`: access to host and runtime, foreign wakers, tasks, the ends of other flows, threads.

use std::cell::RefCell;
use std::future::Future;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};

use crate::probe::{C, Game, Test, guard, log, reports, say, start, story, tell, told_story};
use sc_core::{AccessError, PanicPolicy, TickError, WorldError, secs};
use sc_flow::{DoForDuration, Flow, FlowCx, FlowError, FlowExt, FlowFinish, Task, race};

type Kept = Rc<RefCell<Option<FlowCx<Game>>>>;

/// Starts a flow that leaves its `fx` outside and sleeps.
fn kept(t: &mut Test) -> Kept {
    let kept = Kept::default();
    let theirs = Rc::clone(&kept);
    story(t, "kept", async move |fx| {
        *theirs.borrow_mut() = Some(fx);
        std::future::pending().await
    });
    t.tick(0.1);
    kept
}

#[test]
fn with_gives_host_and_runtime_and_may_borrow_locals() {
    let mut t = start();
    let w = t.world;
    story(&mut t, "story", async move |fx| {
        let name = String::from("local");
        let mut frames = Vec::new();
        let alive = fx.with(|cx| {
            frames.push(cx.frame());
            say(cx, &name);
            cx.is_world_alive(w)
        })?;
        assert!(alive);
        assert_eq!(frames, [1]);
        Ok(())
    });
    t.tick(0.1);
    assert_eq!(log(&t), ["1: local"]);
}

#[test]
fn nested_access_is_an_error() {
    let mut t = start();
    story(&mut t, "story", async |fx| {
        let inner = fx.with(|_| fx.with(|_| ()))?;
        assert!(matches!(inner, Err(FlowError::Access(AccessError::Nested))));
        tell(&fx, "and the outer one still works");
        Ok(())
    });
    t.tick(0.1);
    assert_eq!(log(&t), ["1: and the outer one still works"]);
}

#[test]
fn access_out_of_scope_is_an_error() {
    let mut t = start();
    let kept = kept(&mut t);
    let kept = kept.borrow();
    let access = kept.as_ref().unwrap().with(|_| ());
    assert!(matches!(
        access,
        Err(FlowError::Access(AccessError::OutOfScope))
    ));
}

#[test]
fn access_in_another_runtime_is_an_error() {
    let (mut t, mut other) = (start(), start());
    let kept = kept(&mut t);
    story(&mut other, "story", async move |fx| {
        let access = kept.borrow().as_ref().unwrap().with(|_| ());
        assert!(matches!(
            access,
            Err(FlowError::Access(AccessError::WrongRuntime))
        ));
        tell(&fx, "refused");
        Ok(())
    });
    other.tick(0.1);
    assert_eq!(log(&other), ["1: refused"]);
}

#[test]
fn awaiting_what_belongs_to_another_flow_is_an_error() {
    let mut t = start();
    let kept = kept(&mut t);
    story(&mut t, "story", async move |fx| {
        let theirs = kept.borrow_mut().take().unwrap();
        let outside = |r: Result<(), FlowError>| matches!(r, Err(FlowError::OutsideItsFlow));
        assert!(outside(theirs.delay(1).await));
        assert!(outside(theirs.next_tick().await));
        assert!(outside(theirs.do_for_duration(1, |_, _, _| ()).await));
        assert!(outside(theirs.wait_until(|_, _| true).await.map(drop)));
        let each = theirs.for_each_with_delay(1, 0, async |_| ());
        assert!(outside(each.await.map(drop)));
        assert!(outside(theirs.pace(1)?.next().await));
        tell(&fx, "all refused");
        Ok(())
    });
    t.tick(0.1);
    assert_eq!(log(&t), ["2: all refused"]);
}

#[test]
fn polling_an_awaitable_outside_any_flow_is_an_error() {
    let mut t = start();
    let kept = kept(&mut t);
    let kept = kept.borrow();
    let fx = kept.as_ref().unwrap();
    let mut context = Context::from_waker(Waker::noop());
    let polled = pin!(fx.delay(1)).poll(&mut context);
    assert!(matches!(
        polled,
        Poll::Ready(Err(FlowError::OutsideItsFlow))
    ));
}

#[test]
fn errors_of_the_core_and_of_the_program_convert() {
    let mut t = start();
    let w = t.world;
    type Body = fn(&mut C<'_>) -> Result<(), FlowError>;
    let bodies: [Body; 4] = [
        |_| Err(WorldError::Gone)?,
        |_| Err(TickError::Gone)?,
        |_| {
            secs(-1).to_duration()?;
            Ok(())
        },
        |_| Err(FlowError::other(std::fmt::Error)),
    ];
    for body in bodies {
        Flow::new("fails")
            .world(w)
            .spawn(&mut t.cx(), async move |fx| fx.with(body)?)
            .unwrap();
    }
    t.tick(0.1);
    assert_eq!(reports(&t), ["FlowFailed"; 4]);
}

/// Polls its children each with a waker of the child's own, and only those that were woken: as
/// `FuturesUnordered` does.
struct EachByItself<'f> {
    children: Vec<Option<ByItself<'f>>>,
}

type ByItself<'f> = (Pin<Box<dyn Future<Output = ()> + 'f>>, Arc<ChildWaker>);

struct ChildWaker {
    is_woken: AtomicBool,
    parent: Mutex<Option<Waker>>,
}

impl Wake for ChildWaker {
    fn wake(self: Arc<Self>) {
        self.is_woken.store(true, Ordering::SeqCst);
        let parent = self.parent.lock().unwrap().clone();
        parent.into_iter().for_each(Waker::wake);
    }
}

impl<'f> EachByItself<'f> {
    fn new(children: Vec<Pin<Box<dyn Future<Output = ()> + 'f>>>) -> Self {
        let child = |future| {
            let waker = ChildWaker {
                is_woken: AtomicBool::new(true),
                parent: Mutex::default(),
            };
            Some((future, Arc::new(waker)))
        };
        EachByItself {
            children: children.into_iter().map(child).collect(),
        }
    }
}

impl Future for EachByItself<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        for place in &mut self.children {
            let Some((future, waker)) = place else {
                continue;
            };
            *waker.parent.lock().unwrap() = Some(context.waker().clone());
            if waker.is_woken.swap(false, Ordering::SeqCst) {
                let own = Waker::from(Arc::clone(waker));
                if future
                    .as_mut()
                    .poll(&mut Context::from_waker(&own))
                    .is_ready()
                {
                    *place = None;
                }
            }
        }
        if self.children.iter().all(Option::is_none) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

/// A child that tells its name at its end.
fn named<'f>(
    fx: &'f FlowCx<Game>,
    name: &'static str,
    future: impl Future<Output = ()> + 'f,
) -> Pin<Box<dyn Future<Output = ()> + 'f>> {
    Box::pin(async move {
        future.await;
        tell(fx, name);
    })
}

#[test]
fn every_awaitable_honours_a_foreign_waker() {
    let mut t = start();
    let leaf = story(&mut t, "leaf", async |fx| fx.delay(0.25).await);
    let w = t.world;
    let task = Flow::new("task").world(w);
    let task = task.spawn_task(&mut t.cx(), async |fx| fx.delay(0.35).await);
    let task = task.unwrap();
    story(&mut t, "story", async move |fx| {
        let fx = &fx;
        let children = vec![
            named(fx, "delay", async { fx.delay(0.3).await.unwrap() }),
            named(fx, "delay 0", async { fx.delay(0).await.unwrap() }),
            named(fx, "next tick", async { fx.next_tick().await.unwrap() }),
            named(fx, "ticks", async { fx.ticks(3).await.unwrap() }),
            named(fx, "drive", async {
                fx.do_for_duration(0.4, |_, _, _| ()).await.unwrap();
            }),
            named(fx, "wait", async {
                fx.wait_until(|_, attempt| attempt == 4).await.unwrap();
            }),
            named(fx, "sleeping wait", async {
                fx.wait_until(|_, _| true).every(0.6).await.unwrap();
            }),
            named(fx, "pace", async {
                let mut pace = fx.pace(0.4).unwrap();
                pace.next().await.unwrap();
                pace.next().await.unwrap();
            }),
            named(fx, "loop", async {
                fx.for_each_with_delay(4, 0.2, async |_| ()).await.unwrap();
            }),
            named(fx, "flow", async {
                fx.flow(leaf).await.unwrap();
            }),
            named(fx, "task", async { task.join(fx).await.unwrap().unwrap() }),
        ];
        EachByItself::new(children).await;
        tell(fx, "all");
        Ok(())
    });
    t.ticks(0.1, 12);
    let mut lines = log(&t);
    let all = lines.pop().unwrap();
    lines.sort();
    assert_eq!(
        lines,
        [
            "2: delay 0",
            "2: next tick",
            "3: delay",
            "3: flow",
            "4: drive",
            "4: task",
            "4: ticks",
            "5: wait",
            "6: sleeping wait",
            "7: loop",
            "8: pace",
        ]
    );
    assert_eq!(all, "8: all");
}

#[test]
fn an_awaitable_polled_once_with_another_waker_can_be_awaited_after() {
    fn poll_once<F: Future + Unpin>(future: &mut F) {
        let mut context = Context::from_waker(Waker::noop());
        assert!(Pin::new(future).poll(&mut context).is_pending());
    }
    let mut t = start();
    story(&mut t, "delay", async |fx| {
        let mut delay = fx.delay(0.2);
        poll_once(&mut delay);
        delay.await?;
        tell(&fx, "delay");
        Ok(())
    });
    story(&mut t, "ticks", async |fx| {
        let mut ticks = fx.ticks(2);
        poll_once(&mut ticks);
        ticks.await?;
        tell(&fx, "ticks");
        Ok(())
    });
    story(&mut t, "wait", async |fx| {
        let mut wait = fx.wait_until(|_, attempt| attempt == 2).every(0.1);
        poll_once(&mut wait);
        wait.await?;
        tell(&fx, "wait");
        Ok(())
    });
    t.ticks(0.1, 5);
    let mut lines = log(&t);
    lines.sort();
    assert_eq!(lines, ["2: delay", "3: ticks", "3: wait"]);
}

#[test]
fn a_task_of_any_type_gives_its_value_once() {
    let mut t = start();
    let w = t.world;
    let task: Task<String> = Flow::new("task")
        .world(w)
        .spawn_task(&mut t.cx(), async |fx| {
            let _ = fx.next_tick().await;
            String::from("value")
        })
        .unwrap();
    assert_eq!(task.take(), None);
    assert!(t.cx().flow(task.id()).is_ok());
    t.ticks(0.1, 2);
    assert_eq!(task.take().as_deref(), Some("value"));
    assert_eq!(task.take(), None);
    assert!(!task.cancel(&mut t.cx()), "it has ended");
}

#[test]
fn a_task_can_be_awaited_before_and_after_its_end() {
    for delay in [0.05, 0.45] {
        let mut t = start();
        let w = t.world;
        let task = Flow::new("task")
            .world(w)
            .spawn_task(&mut t.cx(), async move |fx| {
                fx.delay(delay).await?;
                Ok::<u32, FlowError>(42)
            })
            .unwrap();
        story(&mut t, "awaiter", async move |fx| {
            fx.delay(0.25).await?;
            let value = task.join(&fx).await??;
            tell(&fx, value);
            Ok(())
        });
        t.ticks(0.1, 6);
        let expected = if delay < 0.25 { "3: 42" } else { "5: 42" };
        assert_eq!(log(&t), [expected]);
    }
}

#[test]
fn a_cancelled_task_is_cancelled_for_its_awaiter_whenever_it_asks() {
    let mut t = start();
    let w = t.world;
    for cancelled_first in [false, true] {
        let held = guard(&t, "guard");
        let task = Flow::new("task")
            .world(w)
            .spawn_task(&mut t.cx(), async move |fx| {
                let _held = held;
                let _ = fx.delay(9).await;
            })
            .unwrap();
        t.tick(0.1);
        let id = task.id();
        if cancelled_first {
            assert!(task.cancel(&mut t.cx()));
        }
        story(&mut t, "awaiter", async move |fx| {
            let end = task.join(&fx).await;
            assert!(matches!(end, Err(FlowError::Cancelled)), "{end:?}");
            fx.with(|cx| cx.host().log.add("told"))?;
            Ok(())
        });
        t.tick(0.1);
        t.cx().cancel(id);
        t.tick(0.1);
        assert_eq!(log(&t), ["drop guard", "told"], "{cancelled_first}");
        assert_eq!(reports(&t), [""; 0]);
    }
}

#[test]
fn a_task_that_is_cancelled_in_its_last_turn_has_no_value() {
    let mut t = start();
    let w = t.world;
    let task = Flow::new("task").world(w);
    let task = task.spawn_task(&mut t.cx(), async |fx| {
        fx.with(|cx| {
            let me = cx.host().flow.unwrap();
            assert!(cx.cancel(me));
        })
        .unwrap();
        5
    });
    let task = task.unwrap();
    t.host.flow = Some(task.id());
    t.tick(0.1);
    assert_eq!(task.take(), None, "the cancel wins over the answer");
    story(&mut t, "awaiter", async move |fx| {
        assert!(matches!(task.join(&fx).await, Err(FlowError::Cancelled)));
        tell(&fx, "told");
        Ok(())
    });
    t.tick(0.1);
    assert_eq!(log(&t), ["2: told"]);
}

#[test]
fn dropping_a_task_detaches() {
    let mut t = start();
    let w = t.world;
    let task = Flow::new("task").world(w);
    let task = task.spawn_task(&mut t.cx(), async |fx| {
        let _ = fx.delay(0.2).await;
        tell(&fx, "went on");
    });
    drop(task);
    t.ticks(0.1, 2);
    assert_eq!(log(&t), ["2: went on"]);
    assert_eq!(reports(&t), [""; 0]);
}

#[test]
fn the_value_of_a_task_that_panicked_never_comes() {
    let mut t = start();
    let w = t.world;
    t.rt.set_panic_policy(PanicPolicy::Isolate);
    let task = Flow::new("task").world(w);
    let task: Task<()> = task
        .spawn_task(&mut t.cx(), async |fx| {
            let _ = fx.next_tick().await;
            panic!("on purpose")
        })
        .unwrap();
    story(&mut t, "awaiter", async move |fx| {
        assert!(matches!(task.join(&fx).await, Err(FlowError::Panicked)));
        tell(&fx, "told");
        Ok(())
    });
    t.ticks(0.1, 3);
    assert_eq!(log(&t), ["2: told"]);
    assert_eq!(reports(&t), ["Panicked"]);
}

#[test]
fn awaiting_a_flow_that_has_ended_is_gone() {
    let mut t = start();
    let ended = story(&mut t, "short", async |_| Ok(()));
    t.tick(0.1);
    story(&mut t, "awaiter", async move |fx| {
        assert!(matches!(fx.flow(ended).await, Err(FlowError::Gone)));
        tell(&fx, "gone");
        Ok(())
    });
    t.tick(0.1);
    assert_eq!(log(&t), ["2: gone"]);
}

#[test]
fn a_flow_that_awaits_its_own_end_is_told_so() {
    let mut t = start();
    let me = story(&mut t, "self", async |fx| {
        let me = fx.with(|cx| cx.host().flow.unwrap())?;
        let end = fx.flow(me).await;
        assert!(matches!(end, Err(FlowError::AwaitsItself)), "{end:?}");
        tell(&fx, "told");
        Ok(())
    });
    t.host.flow = Some(me);
    t.tick(0.1);
    assert_eq!(log(&t), ["1: told"]);
    assert!(t.cx().flow_list().is_empty());
}

#[test]
fn many_can_await_one_flow_and_are_woken_in_order_of_asking() {
    let mut t = start();
    let leaf = story(&mut t, "leaf", async |fx| fx.delay(0.3).await);
    for i in 0..3 {
        story(&mut t, "awaiter", async move |fx| {
            assert_eq!(fx.flow(leaf).await?, FlowFinish::Completed);
            tell(&fx, i);
            Ok(())
        });
    }
    t.ticks(0.1, 3);
    assert_eq!(log(&t), ["3: 0", "3: 1", "3: 2"]);
}

/// Ticks until something is logged: a thread decides in which frame.
fn until_logged(t: &mut Test) -> Vec<String> {
    for _ in 0..2_000_000 {
        t.tick(0.001);
        let lines = log(t);
        if !lines.is_empty() {
            return lines;
        }
        std::thread::yield_now();
    }
    Vec::new()
}

#[test]
fn work_runs_on_a_thread_and_its_result_comes_back_on_the_game_thread() {
    let mut t = start();
    let (go, gate) = mpsc::channel::<u32>();
    story(&mut t, "story", async move |fx| {
        let game_thread = std::thread::current().id();
        let work = move || (gate.recv().unwrap() * 2, std::thread::current().id());
        let (value, theirs) = fx.run_on_thread(work).await?;
        assert_ne!(theirs, game_thread);
        assert_eq!(std::thread::current().id(), game_thread);
        fx.with(|cx| cx.host().log.add(format!("{value}")))?;
        Ok(())
    });
    t.ticks(0.1, 5);
    assert_eq!(log(&t), [""; 0]);
    go.send(21).unwrap();
    assert_eq!(until_logged(&mut t), ["42"]);
    assert!(t.cx().flow_list().is_empty());
}

#[test]
fn work_that_panics_on_its_thread_is_an_error() {
    let mut t = start();
    story(&mut t, "story", async move |fx| {
        let work = || -> u32 { panic!("on purpose, on a thread") };
        let end = fx.run_on_thread(work).await;
        assert!(matches!(end, Err(FlowError::Panicked)));
        fx.with(|cx| cx.host().log.add("told"))?;
        Ok(())
    });
    assert_eq!(until_logged(&mut t), ["told"]);
}

#[test]
fn a_thread_whose_flow_was_cancelled_finishes_for_nobody() {
    let mut t = start();
    let (go, gate) = mpsc::channel::<()>();
    let (done, is_done) = mpsc::channel::<()>();
    let flow = told_story(&mut t, "story", async move |fx| {
        let work = move || {
            gate.recv().unwrap();
            done.send(()).unwrap();
        };
        fx.run_on_thread(work).await?;
        tell(&fx, "never");
        Ok(())
    });
    t.tick(0.1);
    t.cx().cancel(flow);
    go.send(()).unwrap();
    is_done.recv().unwrap();
    t.ticks(0.1, 3);
    assert_eq!(log(&t), ["1: story Cancelled"]);
    assert_eq!(reports(&t), [""; 0]);
}

#[test]
fn a_pending_awaitable_that_is_dropped_takes_its_registration_along() {
    let mut t = start();
    let leaf = story(&mut t, "leaf", async |fx| fx.delay(0.85).await);
    story(&mut t, "story", async move |fx| {
        let fx = &fx;
        // Each loses against the next frame.
        let _ = race(fx.delay(0.75), fx.next_tick()).await;
        let _ = race(fx.flow(leaf), fx.next_tick()).await;
        let _ = race(fx.ticks(9), fx.next_tick()).await;
        let _ = race(fx.wait_until(|_, _| true).every(0.7), fx.next_tick()).await;
        std::future::poll_fn::<(), _>(|_| {
            tell(fx, "poll");
            Poll::Pending
        })
        .await;
        Ok(())
    });
    t.ticks(0.1, 15);
    assert_eq!(log(&t), ["5: poll"]);
    assert_eq!(reports(&t), [""; 0]);
}

#[test]
fn nodes_of_a_story_give_what_the_callbacks_of_a_builder_get() {
    let mut t = start();
    let w = t.world;
    let drive = DoForDuration::new(0.2, |cx: &mut C<'_>, alpha, delta| {
        say(cx, format!("{alpha} {delta:?} {:?}", cx.delta()));
    });
    drive.world(w).start(&mut t.cx()).unwrap();
    t.ticks(0.1, 2);
    let by_builder = log(&t);
    assert_eq!(by_builder, ["1: 0.5 100ms 100ms", "2: 1 100ms 100ms"]);
    let mut t = start();
    story(&mut t, "story", async move |fx| {
        fx.do_for_duration(0.2, |cx, alpha, delta| {
            say(cx, format!("{alpha} {delta:?} {:?}", cx.delta()));
        })
        .await
    });
    t.ticks(0.1, 2);
    assert_eq!(log(&t), by_builder);
}
