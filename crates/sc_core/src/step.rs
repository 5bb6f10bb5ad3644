//! Steps: the frames of worlds that have frames of their own.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::Secs;
use crate::frame::{FrameReport, WorldDelta};
use crate::frame_error::FrameError;
use crate::frame_run::DeltaSource;
use crate::runtime::Runtime;
use crate::world::WorldId;

impl<H> Runtime<H> {
    /// Runs one frame of the worlds that step ([`WorldOptions::steps`](crate::WorldOptions::steps)), any
    /// number of times between two frames of the runtime, or between two stages of one. It has the
    /// stages of a frame, with the worlds' part in each.
    ///
    /// The runtime's own part is not in it: its clock stands, and closures that were posted, worldless
    /// objects, flows that are bound to the runtime, and console lines wait for its frame. What ends meanwhile
    /// is freed in its `End` too, if the step lies in an open frame.
    ///
    /// ```
    /// # use {sc_core::{Clock, Runtime, WorldKind, WorldOptions}, std::time::Duration};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// let physics = WorldOptions::new(WorldKind::Game).steps(true);
    /// let physics = rt.cx(&mut host).create_world(physics)?;
    /// for _ in 0..3 {
    ///     rt.step(&mut host, 0.01)?;
    /// }
    /// assert_eq!(rt.cx(&mut host).readings(physics)?.frame, 3);
    /// assert_eq!(rt.frame_number(), 0);
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`FrameError::BadDelta`]; [`FrameError::AlreadyTicking`] in a step; [`FrameError::ShutDown`].
    /// Nothing ran.
    ///
    /// # Panics
    /// As [`tick`](Self::tick).
    pub fn step(
        &mut self,
        host: &mut H,
        delta: impl Into<Secs>,
    ) -> Result<FrameReport, FrameError> {
        let delta = self.check_step(delta.into())?;
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            self.open_step(host, delta, None);
            self.run_all_stages(host);
        }));
        self.raise_or_report(host, outcome)
    }

    /// The first piece of a step. The others are those of a frame: [`run_stage`](Self::run_stage),
    /// [`run_through`](Self::run_through), [`end_frame`](Self::end_frame) and
    /// [`abandon_frame`](Self::abandon_frame) go to the step as long as it is open.
    ///
    /// ```
    /// # use sc_core::{Runtime, Stage};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// rt.begin_frame(&mut host, 0.016)?;
    /// rt.begin_step(&mut host, 0.01)?;
    /// assert!(rt.is_stepping());
    /// rt.run_through(&mut host, Stage::Console)?;
    /// assert_eq!(rt.end_frame(&mut host)?.frame, 1, "the first step is over");
    /// rt.run_through(&mut host, Stage::Console)?;
    /// assert_eq!(rt.end_frame(&mut host)?.frame, 1, "and the first frame");
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`step`](Self::step). Nothing ran.
    ///
    /// # Panics
    /// When a hook of `Begin` panics and the policy is `Propagate`: no step is open then.
    pub fn begin_step(&mut self, host: &mut H, delta: impl Into<Secs>) -> Result<(), FrameError> {
        self.begin_step_by(host, delta.into(), None)
    }

    /// As [`begin_step`](Self::begin_step), with each world's deltas ready-made, as
    /// [`begin_frame_with`](Self::begin_frame_with) takes them.
    ///
    /// ```
    /// # use {sc_core::{Clock, Runtime, WorldDelta, WorldKind, WorldOptions}, std::time::Duration};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let physics = WorldOptions::new(WorldKind::Game).steps(true);
    /// # let physics = rt.cx(&mut host).create_world(physics)?;
    /// let dilated = Duration::from_millis(10);
    /// rt.begin_step_with(&mut host, dilated, |_| {
    ///     Some(WorldDelta { dilated, through_pause: dilated, real: dilated * 2, paused: false })
    /// })?;
    /// let cx = rt.cx(&mut host);
    /// assert_eq!(cx.elapsed(physics, Clock::Game)?.as_millis(), 10);
    /// assert_eq!(cx.elapsed(physics, Clock::Unscaled)?.as_millis(), 20);
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`step`](Self::step). Nothing ran.
    ///
    /// # Panics
    /// As [`begin_step`](Self::begin_step).
    pub fn begin_step_with(
        &mut self,
        host: &mut H,
        delta: impl Into<Secs>,
        mut deltas: impl FnMut(WorldId) -> Option<WorldDelta>,
    ) -> Result<(), FrameError> {
        self.begin_step_by(host, delta.into(), Some(&mut deltas))
    }

    /// Whether a step is open.
    #[must_use]
    pub fn is_stepping(&self) -> bool {
        self.frame.is_stepping()
    }

    /// Whether there is a world that steps: without one a step does nothing.
    ///
    /// ```
    /// # use sc_core::{Runtime, WorldKind, WorldOptions};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// assert!(!rt.has_steps());
    /// rt.cx(&mut host).create_world(WorldOptions::new(WorldKind::Game).steps(true))?;
    /// assert!(rt.has_steps());
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    #[must_use]
    pub fn has_steps(&self) -> bool {
        self.worlds_that_step > 0
    }

    fn begin_step_by(
        &mut self,
        host: &mut H,
        delta: Secs,
        deltas: Option<DeltaSource<'_>>,
    ) -> Result<(), FrameError> {
        let delta = self.check_step(delta)?;
        self.open_or_raise(|rt| rt.open_step(host, delta, deltas));
        Ok(())
    }

    /// Everything that can refuse a step.
    fn check_step(&self, delta: Secs) -> Result<u64, FrameError> {
        if self.is_shut_down {
            return Err(FrameError::ShutDown);
        }
        if self.frame.is_stepping() {
            return Err(FrameError::AlreadyTicking);
        }
        Ok(delta.to_nanos()?)
    }
}
