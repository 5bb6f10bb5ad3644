//! Loops as awaitables, over the same core as their builder.

use std::cell::RefCell;
use std::future::{Future, poll_fn};

use sc_core::{Clock, Secs};

use crate::error::FlowError;
use crate::finish::{Done, Step};
use crate::fx::FlowCx;
use crate::fx::gate::Gate;
use crate::list::{Progress, WaitingFor};
use crate::node::for_each::{ForEachCore, Plan, length};
use crate::node::options::loop_options;

impl<H> FlowCx<H> {
    /// A loop over the items of any iterator, one each tick if nothing else is said: see
    /// [`ForEach`](crate::ForEach). It runs when its [`each`](ForEachFx::each) is awaited. The body
    /// parks the loop by awaiting.
    ///
    /// ```
    /// # use sc_core::{Clock, Cx, Owner, Runtime, Tickable, WorldKind, secs};
    /// # use sc_flow::*;
    /// # let (mut rt, mut log) = (Runtime::<Vec<u32>>::new(), Vec::new());
    /// # let mut cx = rt.cx(&mut log);
    /// # let level = cx.create_world(WorldKind::Game)?;
    /// Flow::new("example").world(level).spawn(&mut cx, async |fx| {
    ///     fx.for_each(1..=5)
    ///         .delay(secs(0.5))
    ///         .items_per_tick(2)
    ///         .each(async |item| fx.with(|cx| cx.host_mut().push(item)))
    ///         .await?;
    ///     Ok(())
    /// })?;
    /// for _ in 0..3 { rt.tick_secs(&mut log, 0.25)?; }
    /// assert_eq!(log, [1, 2, 3, 4]);
    /// # Ok::<(), FlowError>(())
    /// ```
    pub fn for_each<I: IntoIterator>(&self, items: I) -> ForEachFx<'_, H, I::IntoIter> {
        ForEachFx {
            gate: Gate::new(self),
            items: items.into_iter(),
            plan: Plan::new(),
        }
    }

    /// Calls an async body for each index below `count`, with a delay between iterations: short
    /// for a [`for_each`](Self::for_each) with a [`delay`](ForEachFx::delay).
    ///
    /// # Errors
    /// As [`each`](ForEachFx::each).
    ///
    /// ```
    /// # use sc_core::{Clock, Cx, Owner, Runtime, Tickable, WorldKind, secs};
    /// # use sc_flow::*;
    /// # let (mut rt, mut log) = (Runtime::<Vec<u32>>::new(), Vec::new());
    /// # let mut cx = rt.cx(&mut log);
    /// # let level = cx.create_world(WorldKind::Game)?;
    /// Flow::new("example").world(level).spawn(&mut cx, async |fx| {
    ///     fx.for_each_with_delay(3, secs(0.5), async |i| fx.with(|cx| cx.host_mut().push(i as u32))).await?;
    ///     Ok(())
    /// })?;
    /// for _ in 0..5 { rt.tick_secs(&mut log, 0.25)?; }
    /// assert_eq!(log, [0, 1, 2]);
    /// # Ok::<(), FlowError>(())
    /// ```
    pub fn for_each_with_delay<A: LoopAnswer>(
        &self,
        count: i64,
        delay: impl Into<Secs>,
        body: impl AsyncFnMut(usize) -> A,
    ) -> impl Future<Output = Result<Done, FlowError>> {
        let indices = 0..usize::try_from(count).unwrap_or(0);
        self.for_each(indices).delay(delay).each(body)
    }

    /// Calls an async body for each item of an iterator, so many a tick: short for a
    /// [`for_each`](Self::for_each) with [`items_per_tick`](ForEachFx::items_per_tick).
    ///
    /// # Errors
    /// As [`each`](ForEachFx::each).
    ///
    /// ```
    /// # use sc_core::{Clock, Cx, Owner, Runtime, Tickable, WorldKind, secs};
    /// # use sc_flow::*;
    /// # let (mut rt, mut log) = (Runtime::<Vec<u32>>::new(), Vec::new());
    /// # let mut cx = rt.cx(&mut log);
    /// # let level = cx.create_world(WorldKind::Game)?;
    /// Flow::new("example").world(level).spawn(&mut cx, async |fx| {
    ///     fx.for_each_per_tick([7, 8, 9], 2, async |item| fx.with(|cx| cx.host_mut().push(item))).await?;
    ///     Ok(())
    /// })?;
    /// for _ in 0..1 { rt.tick_secs(&mut log, 0.25)?; }
    /// assert_eq!(log, [7, 8]);
    /// # Ok::<(), FlowError>(())
    /// ```
    pub fn for_each_per_tick<I: IntoIterator, A: LoopAnswer>(
        &self,
        items: I,
        items_per_tick: i64,
        body: impl AsyncFnMut(I::Item) -> A,
    ) -> impl Future<Output = Result<Done, FlowError>> {
        let items = self.for_each(items);
        items.items_per_tick(items_per_tick).each(body)
    }
}

/// What an async body of a loop may answer: `()`, a [`Step`], or a `Result` with one of them. An
/// `Err` ends the loop and is the awaiter's `Err`; `Suspend` only ends the batch: an async body
/// parks by awaiting.
pub trait LoopAnswer {
    /// The step it means.
    ///
    /// # Errors
    /// The body's own.
    fn into_step(self) -> Result<Step, FlowError>;
}

impl LoopAnswer for () {
    fn into_step(self) -> Result<Step, FlowError> {
        Ok(Step::Continue)
    }
}

impl LoopAnswer for Step {
    fn into_step(self) -> Result<Step, FlowError> {
        Ok(self)
    }
}

impl<A: LoopAnswer, E: Into<FlowError>> LoopAnswer for Result<A, E> {
    fn into_step(self) -> Result<Step, FlowError> {
        self.map_err(Into::into)?.into_step()
    }
}

/// Made by [`FlowCx::for_each`].
#[must_use = "nothing happens until its `each` is awaited"]
pub struct ForEachFx<'f, H: 'static, I> {
    gate: Gate<'f, H>,
    items: I,
    plan: Plan,
}

impl<H, I: Iterator> ForEachFx<'_, H, I> {
    loop_options!();

    /// Counts on another clock than the flow's.
    pub fn on(mut self, clock: Clock) -> Self {
        self.gate.on(clock);
        self
    }

    /// Runs the loop: calls an async body for each item.
    ///
    /// # Errors
    /// The body's, [`FlowError::BadTime`] for a delay or a budget that is no usable time,
    /// [`FlowError::OutsideItsFlow`].
    pub async fn each<A: LoopAnswer>(
        self,
        mut body: impl AsyncFnMut(I::Item) -> A,
    ) -> Result<Done, FlowError> {
        let mut noting = Noting(self.gate);
        let gate = &mut noting.0;
        let (fx, clock) = (gate.fx, gate.clock);
        fx.check_turn()?;
        let core = RefCell::new(ForEachCore::new(&self.plan)?);
        let of = length(&self.items);
        let mut items = self.items.peekable();
        let mut done = 0;
        if items.peek().is_none() {
            return Ok(Done::Completed);
        }
        loop {
            let next = Progress::Index { next: done, of };
            gate.note(core.borrow().waiting_for(), next);
            let now = poll_fn(|context| {
                gate.drive(
                    context,
                    &mut |start| {
                        core.borrow_mut().starts(start);
                        Ok(None)
                    },
                    &mut |now| {
                        let mut core = core.borrow_mut();
                        Ok(core.begins_batch(now).then_some(now).ok_or(core.next()))
                    },
                    &mut || core.borrow().next(),
                )
            })
            .await?;
            core.borrow_mut().park(now);
            fx.with(|cx| core.borrow_mut().begin(cx))?;
            let frame = fx.home.frame.get();
            let mut was_parked = false;
            while let Some(item) = items.next() {
                done += 1;
                gate.note(WaitingFor::Await, Progress::Index { next: done, of });
                let step = body(item).await.into_step();
                let suspends = matches!(step, Ok(Step::Suspend));
                let ended = match step {
                    Err(error) => Some(Err(error)),
                    Ok(Step::Break) => Some(Ok(Done::Broken)),
                    Ok(_) if items.peek().is_none() => Some(Ok(Done::Completed)),
                    Ok(_) => None,
                };
                if let Some(ended) = ended {
                    fx.has_awaited();
                    return ended;
                }
                was_parked = fx.home.frame.get() != frame;
                if was_parked || suspends || !goes_on(fx, &core)? {
                    break;
                }
            }
            core.borrow_mut().unpark(fx.home.now(clock));
            if was_parked && core.borrow().waits_every_tick() {
                // It goes on with the next tick.
                gate.skip_frame();
            }
        }
    }
}

/// Takes back what is noted of a loop, when it ends or is given up.
struct Noting<'f, H: 'static>(Gate<'f, H>);

impl<H> Drop for Noting<'_, H> {
    fn drop(&mut self) {
        self.0.takes_back_note();
    }
}

/// Whether a batch goes on after one more item.
fn goes_on<H>(fx: &FlowCx<H>, core: &RefCell<ForEachCore>) -> Result<bool, FlowError> {
    fx.with(|cx| {
        let goes_on = core.borrow_mut().goes_on(cx, || fx.name());
        goes_on && !fx.is_ending(cx)
    })
}
