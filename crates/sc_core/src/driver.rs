//! The standalone driver: a loop around [`Runtime::tick`], paced by a clock.
//!
//! The only file that reads the OS clock or sleeps.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::clock::Secs;
use crate::frame_error::FrameError;
use crate::{FrameTrace, Runtime, Stopwatch, TimeError, secs};

/// A clock to pace frames by: a [`Stopwatch`] that can be waited on.
pub trait FrameClock: Stopwatch {
    /// Returns when `now` has reached `moment`, or at once if it has.
    fn wait_until(&mut self, moment: Duration);
    /// A stopwatch over the same clock, for a runtime that has none.
    fn stopwatch(&self) -> Box<dyn Stopwatch>;
}

/// The OS's monotonic clock, from its creation on. Waits by sleeping.
///
/// ```
/// use sc_core::{OsClock, Runtime};
/// let mut rt = Runtime::<()>::new();
/// rt.set_stopwatch(OsClock::default());
/// rt.set_profiling(true);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct OsClock {
    start: Instant,
}

impl Default for OsClock {
    /// A clock that starts at zero now.
    fn default() -> Self {
        OsClock {
            start: Instant::now(),
        }
    }
}

impl Stopwatch for OsClock {
    fn now(&self) -> Duration {
        self.start.elapsed()
    }
}

impl FrameClock for OsClock {
    fn wait_until(&mut self, moment: Duration) {
        let left = moment.saturating_sub(self.now());
        if !left.is_zero() {
            std::thread::sleep(left);
        }
    }

    fn stopwatch(&self) -> Box<dyn Stopwatch> {
        Box::new(*self)
    }
}

/// A clock that stands still until it is told to move: for tests and simulations. Waiting moves
/// it to the moment waited for. Clones share one reading, so a test can keep one and
/// hand the other to the driver, and it serves as stopwatch too.
///
/// ```
/// use sc_core::{Driver, ManualClock, Runtime, secs};
/// let clock = ManualClock::default();
/// let (mut rt, mut host) = (Runtime::<()>::new(), ());
/// let run = Driver::at_fps(60).clock(clock.clone()).run_for(secs(3), &mut rt, &mut host)?;
/// assert_eq!((run.frames, run.elapsed.as_secs_f64()), (180, 3.0));
/// # Ok::<(), sc_core::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ManualClock(Rc<Cell<Duration>>);

impl ManualClock {
    /// Moves the clock forward.
    ///
    /// ```
    /// # use sc_core::{ManualClock, Stopwatch};
    /// # use std::time::Duration;
    /// let clock = ManualClock::default();
    /// clock.advance(Duration::from_millis(5));
    /// assert_eq!(clock.now(), Duration::from_millis(5));
    /// ```
    pub fn advance(&self, by: Duration) {
        self.0.set(self.0.get().saturating_add(by));
    }
}

impl FrameClock for ManualClock {
    fn wait_until(&mut self, moment: Duration) {
        self.0.set(self.0.get().max(moment));
    }

    fn stopwatch(&self) -> Box<dyn Stopwatch> {
        Box::new(self.clone())
    }
}

impl Stopwatch for ManualClock {
    fn now(&self) -> Duration {
        self.0.get()
    }
}

#[derive(Clone, Copy, Debug)]
enum Pace {
    /// As fast as it goes.
    Uncapped,
    /// At most so many frames a second, each with the time that really passed.
    Capped(f64),
    /// Frames of one length, as many as time has passed.
    Fixed(Secs),
}

/// How many frames in a row may find the clock where it was.
const MAX_STANDSTILL: u32 = 100_000;

/// How many fixed steps may follow each other to catch up after a hitch.
const MAX_CATCH_UP: u32 = 8;

/// The standalone loop. Choose a pace, then run it.
///
/// | made by | delta of a frame | pace |
/// | --- | --- | --- |
/// | [`at_fps`](Driver::at_fps) | the time that really passed | at most so many frames a second, on a grid without drift |
/// | [`uncapped`](Driver::uncapped) | the time that really passed | as fast as it goes |
/// | [`fixed`](Driver::fixed) | always one step | as many steps as time has passed; after a hitch at most 8 in a row, the rest is dropped and counted |
/// | [`replay`](Driver::replay) | what the trace says | as fast as it goes, no clock |
///
/// ```
/// use sc_core::{Driver, ManualClock, Runtime, secs};
/// let (mut rt, mut host) = (Runtime::<()>::new(), ());
/// let run = Driver::fixed(secs(0.02))
///     .clock(ManualClock::default())
///     .run_for(secs(1), &mut rt, &mut host)?;
/// assert_eq!(run.frames, 50);
/// # Ok::<(), sc_core::Error>(())
/// ```
#[must_use = "a driver does nothing until it runs"]
pub struct Driver {
    pace: Pace,
    clock: Box<dyn FrameClock>,
    record: bool,
}

/// What a run of the driver did.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RunReport {
    /// Frames run.
    pub frames: u64,
    /// The sum of the deltas handed to the runtime.
    pub elapsed: Duration,
    /// What `max_delta` cut off them.
    pub clamped: Duration,
    /// What `forgive_elapsed` dropped.
    pub forgiven: Duration,
    /// Time for which no fixed step was run, since more than 8 would have had to follow each other.
    pub dropped: Duration,
    /// Ticks of objects.
    pub ticks: u64,
    /// Reports made.
    pub reports: u64,
    /// The frames' deltas, when [recording](Driver::recording).
    pub trace: Option<FrameTrace>,
}

/// Why a run was refused or ended early.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DriverError {
    /// A frame rate that is none.
    #[error("the frame rate {fps:?} is not usable: a frame must last from 1 ns to 584 years")]
    BadRate {
        /// The number given.
        fps: f64,
    },
    /// A fixed step that is, or rounds to, zero nanoseconds.
    #[error("a fixed step of 0 ns never gets anywhere: pass at least 1e-9 seconds")]
    ZeroStep,
    /// The clock does not move: the run would never end.
    #[error(
        "the driver's clock has stood still for 100000 frames: move it, or pace the driver by `at_fps` or `fixed`, which wait on it"
    )]
    ClockStandsStill,
    /// A duration or a fixed step that is no usable time.
    #[error("the driver's time was refused: {0}")]
    BadTime(#[from] TimeError),
    /// A frame was refused.
    #[error(transparent)]
    Frame(#[from] FrameError),
}

impl Driver {
    /// At most `fps` frames a second; validated when it runs.
    ///
    /// ```
    /// # use sc_core::{Driver, DriverError, ManualClock, Runtime, secs};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// let clock = ManualClock::default();
    /// let run = Driver::at_fps(60).clock(clock).run_for(secs(1), &mut rt, &mut host)?;
    /// assert_eq!(run.frames, 60);
    /// let refused = Driver::at_fps(0).run_for(secs(1), &mut rt, &mut host);
    /// assert!(matches!(refused, Err(DriverError::BadRate { .. })));
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    pub fn at_fps(fps: impl Into<f64>) -> Self {
        Self::new(Pace::Capped(fps.into()))
    }

    /// As many frames as it goes.
    ///
    /// ```
    /// # use sc_core::{Driver, Runtime};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// let run = Driver::uncapped().run_while(|rt, _| rt.frame_number() < 100, &mut rt, &mut host)?;
    /// assert_eq!(run.frames, 100);
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    pub fn uncapped() -> Self {
        Self::new(Pace::Uncapped)
    }

    /// Frames of exactly one step; validated when it runs.
    ///
    /// ```
    /// # use sc_core::{Driver, DriverError, ManualClock, Runtime, secs};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// let clock = ManualClock::default();
    /// let run = Driver::fixed(secs(0.02)).clock(clock).run_for(secs(1), &mut rt, &mut host)?;
    /// assert_eq!((run.frames, run.elapsed.as_secs()), (50, 1));
    /// let refused = Driver::fixed(0).run_for(secs(1), &mut rt, &mut host);
    /// assert_eq!(refused.err(), Some(DriverError::ZeroStep));
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    pub fn fixed(step: impl Into<Secs>) -> Self {
        Self::new(Pace::Fixed(step.into()))
    }

    fn new(pace: Pace) -> Self {
        Driver {
            pace,
            clock: Box::new(OsClock::default()),
            record: false,
        }
    }

    /// Paces by another clock than the OS's.
    pub fn clock(mut self, clock: impl FrameClock + 'static) -> Self {
        self.clock = Box::new(clock);
        self
    }

    /// Keeps the frames' deltas for the [`RunReport`].
    ///
    /// ```
    /// # use sc_core::{Driver, ManualClock, Runtime, secs};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// let run = Driver::at_fps(50)
    ///     .clock(ManualClock::default())
    ///     .recording()
    ///     .run_for(secs(1), &mut rt, &mut host)?;
    /// let trace = run.trace.unwrap_or_default();
    /// assert_eq!((trace.len(), trace.total()), (50, run.elapsed));
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    pub fn recording(mut self) -> Self {
        self.record = true;
        self
    }

    /// Runs until the deltas handed out have reached `time`.
    ///
    /// ```
    /// # use sc_core::{Driver, ManualClock, Runtime, secs};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// let run = Driver::at_fps(10)
    ///     .clock(ManualClock::default())
    ///     .run_for(secs(0.95), &mut rt, &mut host)?;
    /// assert_eq!((run.frames, run.elapsed.as_millis()), (10, 1000));
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`DriverError`], before the first frame for what is wrong with the driver or `time`.
    ///
    /// # Panics
    /// As [`Runtime::tick`].
    pub fn run_for<H>(
        self,
        time: impl Into<Secs>,
        rt: &mut Runtime<H>,
        host: &mut H,
    ) -> Result<RunReport, DriverError> {
        let time = time.into().to_duration()?;
        self.run(rt, host, |_, _, run| run.elapsed < time)
    }

    /// Runs while `go_on` says so, asked before each frame.
    ///
    /// ```
    /// use sc_core::{Driver, ManualClock, Runtime};
    /// let (mut rt, mut host) = (Runtime::<u32>::new(), 0);
    /// let run = Driver::at_fps(30)
    ///     .clock(ManualClock::default())
    ///     .run_while(|rt, _host| rt.frame_number() < 5, &mut rt, &mut host)?;
    /// assert_eq!(run.frames, 5);
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`DriverError`].
    ///
    /// # Panics
    /// As [`Runtime::tick`].
    pub fn run_while<H>(
        self,
        mut go_on: impl FnMut(&mut Runtime<H>, &mut H) -> bool,
        rt: &mut Runtime<H>,
        host: &mut H,
    ) -> Result<RunReport, DriverError> {
        self.run(rt, host, |rt, host, _| go_on(rt, host))
    }

    /// Runs one frame for each frame of a trace, with its delta, as fast as it goes: a player's
    /// hitch as a reproducible test. The pace and the clock have no part in it.
    ///
    /// ```
    /// use sc_core::{Driver, FrameTrace, Runtime};
    /// let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// let trace = FrameTrace::parse("frametime_ms\n16.5\n250.0\n16.5\n")?;
    /// let run = Driver::uncapped().replay(&trace, &mut rt, &mut host)?;
    /// assert_eq!((run.frames, run.elapsed), (3, trace.total()));
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`DriverError::Frame`].
    ///
    /// # Panics
    /// As [`Runtime::tick`].
    pub fn replay<H>(
        self,
        trace: &FrameTrace,
        rt: &mut Runtime<H>,
        host: &mut H,
    ) -> Result<RunReport, DriverError> {
        let mut run = self.report();
        for &delta in trace.frames() {
            run.frame(delta, rt, host)?;
        }
        Ok(run)
    }

    fn report(&self) -> RunReport {
        RunReport {
            trace: self.record.then(FrameTrace::default),
            ..RunReport::default()
        }
    }

    fn run<H>(
        mut self,
        rt: &mut Runtime<H>,
        host: &mut H,
        mut go_on: impl FnMut(&mut Runtime<H>, &mut H, &RunReport) -> bool,
    ) -> Result<RunReport, DriverError> {
        let pace = CheckedPace::of(self.pace)?;
        if !rt.has_stopwatch() {
            rt.set_boxed_stopwatch(self.clock.stopwatch());
        }
        let mut run = self.report();
        let start = self.clock.now();
        let mut last = start;
        let mut stands_still = 0;
        while go_on(rt, host, &run) {
            let since_start = last.saturating_sub(start);
            if let Some(next) = pace.next_frame(since_start) {
                self.clock.wait_until(start.saturating_add(next));
            }
            let now = self.clock.now().max(last);
            stands_still = if now > last { 0 } else { stands_still + 1 };
            if stands_still > MAX_STANDSTILL {
                return Err(DriverError::ClockStandsStill);
            }
            let CheckedPace::Fixed(step) = pace else {
                run.frame(now - last, rt, host)?;
                last = now;
                continue;
            };
            let mut steps = 0;
            while now - last >= step
                && steps < MAX_CATCH_UP
                && (steps == 0 || go_on(rt, host, &run))
            {
                run.frame(step, rt, host)?;
                last += step;
                steps += 1;
            }
            if steps == MAX_CATCH_UP {
                let behind = now - last;
                let rest = Duration::from_nanos_u128(behind.as_nanos() % step.as_nanos());
                run.dropped += behind - rest;
                last = now - rest;
            }
        }
        Ok(run)
    }
}

#[derive(Clone, Copy)]
enum CheckedPace {
    Uncapped,
    Capped(f64),
    Fixed(Duration),
}

impl CheckedPace {
    fn of(pace: Pace) -> Result<Self, DriverError> {
        match pace {
            Pace::Uncapped => Ok(CheckedPace::Uncapped),
            Pace::Capped(fps) => {
                let period = secs(1.0 / fps).to_duration();
                let usable = period.is_ok_and(|period| !period.is_zero());
                let pace = usable.then_some(CheckedPace::Capped(fps));
                pace.ok_or(DriverError::BadRate { fps })
            }
            Pace::Fixed(step) => match step.to_duration()? {
                Duration::ZERO => Err(DriverError::ZeroStep),
                step => Ok(CheckedPace::Fixed(step)),
            },
        }
    }

    /// When the next frame is due, counted from the start, after one at `last`.
    #[allow(clippy::cast_precision_loss)]
    fn next_frame(self, last: Duration) -> Option<Duration> {
        match self {
            CheckedPace::Uncapped => None,
            // The next line of the grid, so that lateness does not add up: strictly behind `last`,
            // which may lie up to half a nanosecond before its own line.
            CheckedPace::Capped(fps) => {
                let mut line = (last.as_secs_f64() * fps).floor() + 1.0;
                loop {
                    let next = secs(line / fps).to_duration().unwrap_or(Duration::MAX);
                    if next > last || next == Duration::MAX {
                        return Some(next);
                    }
                    line += 1.0;
                }
            }
            CheckedPace::Fixed(step) => last.checked_add(step),
        }
    }
}

impl RunReport {
    fn frame<H>(
        &mut self,
        delta: Duration,
        rt: &mut Runtime<H>,
        host: &mut H,
    ) -> Result<(), FrameError> {
        let report = rt.tick(host, delta)?;
        self.frames += 1;
        self.elapsed += delta;
        self.clamped += report.clamped;
        self.forgiven += report.forgiven;
        self.ticks += report.ticks;
        self.reports += report.reports;
        if let Some(trace) = &mut self.trace {
            trace.push(delta);
        }
        Ok(())
    }
}
