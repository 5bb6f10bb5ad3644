//! Latent commands: a command starts a flow, and its line goes on when the flow is done.

use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::rc::Rc;

use sc_console::{Latent, LatentEnd};
use sc_core::Cx;
use sc_flow::{Flow, FlowCx, FlowError, FlowFinish};

/// Commands that take their time, as a call on the [`Cx`].
pub trait LatentExt<H: 'static> {
    /// Starts a flow for the command that is running, which gives back what this returns. The line goes on
    /// when the flow is done; when it ends otherwise, or with an error, the command has failed. An error that no
    /// line waits for any more is reported, as that of any flow. The flow is bound to the world that the command runs in, or to the runtime if there is none.
    ///
    /// ```
    /// use stillcooking::prelude::*;
    ///
    /// command! {
    ///     /// Counts down.
    ///     MyGame.CountDown (
    ///         /// From what.
    ///         from: u32 = 3,
    ///     ) |cx: &mut Cx<'_, Vec<u32>>, _out| {
    ///         Ok(cx.latent("count down", async move |fx| {
    ///             for left in (0..from).rev() {
    ///                 fx.delay(secs(1)).await?;
    ///                 fx.with(|cx| cx.host_mut().push(left))?;
    ///             }
    ///             Ok(())
    ///         })?)
    ///     }
    /// }
    ///
    /// let (mut rt, mut log) = (Runtime::<Vec<u32>>::new(), Vec::new());
    /// let mut cx = rt.cx(&mut log);
    /// cx.create_world(WorldKind::Game)?;
    /// # #[cfg(feature = "commands")] {
    /// cx.queue_line("MyGame.CountDown 2; MyGame.CountDown 1", Source::Local, |cx, run| {
    ///     assert_eq!(run.outcome, LineOutcome::Done);
    ///     cx.host_mut().push(99);
    /// });
    /// for _ in 0..5 { rt.tick_secs(&mut log, 1)?; }
    /// assert_eq!(log, [1, 0, 0, 99]);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of a flow's start: the command is to return them.
    #[track_caller]
    fn latent<F>(&mut self, name: &'static str, body: F) -> Result<Latent, FlowError>
    where
        F: AsyncFnOnce(FlowCx<H>) -> Result<(), FlowError> + 'static;
}

impl<H> LatentExt<H> for Cx<'_, H> {
    #[track_caller]
    fn latent<F>(&mut self, name: &'static str, body: F) -> Result<Latent, FlowError>
    where
        F: AsyncFnOnce(FlowCx<H>) -> Result<(), FlowError> + 'static,
    {
        let (latent, end) = Latent::new();
        let (end, failed) = (Rc::new(Cell::new(Some(end))), Rc::new(RefCell::new(None)));
        let (of_body, waits) = (Rc::clone(&failed), Rc::clone(&end));
        let mut flow = Flow::new(name).started_at(Location::caller());
        if self.world().is_none() {
            flow = flow.runtime();
        }
        flow.on_finished(move |_cx: &mut Cx<'_, H>, finish| {
            let failed = failed.borrow_mut().take();
            let Some(end) = end.take() else {
                return;
            };
            end.finish(match (failed, finish) {
                (Some(error), _) => Err(error),
                (None, FlowFinish::Completed) => Ok(()),
                (None, FlowFinish::Panicked) => Err("its flow panicked: see the report".to_owned()),
                (None, FlowFinish::Aborted) => {
                    Err("its flow was aborted: its world is gone".to_owned())
                }
                (None, _) => Err("its flow was cancelled".to_owned()),
            });
        })
        .spawn(self, async move |fx| {
            let Err(error) = body(fx).await else {
                return Ok(());
            };
            // The error goes to the line, if that still waits; else the flow ends with it, and it is reported.
            let end = waits.take().filter(LatentEnd::is_wanted);
            if end.is_none() {
                return Err(error);
            }
            waits.set(end);
            *of_body.borrow_mut() = Some(error.to_string());
            Ok(())
        })?;
        Ok(latent)
    }
}
