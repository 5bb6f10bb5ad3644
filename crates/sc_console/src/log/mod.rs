//! The log: the last events of `tracing`, for an overlay and a terminal to show.

#[cfg(feature = "commands")]
pub(crate) mod command;
mod filter;
mod layer;
mod record;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use sc_core::{Cx, Extension, Stage};
use tracing::Subscriber;
use tracing_subscriber::layer::{Layer, SubscriberExt as _};
use tracing_subscriber::registry::LookupSpan;

use self::filter::{Directives, LiveFilter};
use self::layer::RingLayer;

pub use self::filter::LogFilterError;
pub use self::record::LogRecord;

/// The last events of the log, whoever made them, on whatever thread. A clone is the same ring.
///
/// Its time is that of the runtime it is attached to ([`LogExt::attach_log`]), which moves once a
/// frame: the library reads no clock. Attach a ring to one runtime only.
///
/// Nothing waits for a reader: the ring's lock is held to put an event in, or to copy pointers out,
/// never to format or to write anything. When it is full, the oldest goes.
///
/// ```
/// use sc_console::LogRing;
/// let ring = LogRing::new();
/// // In a program: `ring.install()?`, or its layer beside others.
/// tracing::subscriber::with_default(ring.subscriber(), || {
///     tracing::info!(lives = 3, "ready");
///     tracing::debug!("not by default");
///     assert!(ring.set_filter("debug").is_ok());
///     tracing::debug!("now it is");
/// });
/// let lines: Vec<String> = ring.records().iter().map(|r| r.message.clone()).collect();
/// assert_eq!(lines, ["ready", "now it is"]);
/// ```
#[derive(Clone, Debug)]
pub struct LogRing {
    shared: Arc<Shared>,
    filter: LiveFilter,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    records: VecDeque<Arc<LogRecord>>,
    capacity: usize,
    /// How many there were.
    caught: u64,
    time: Duration,
    frame: u64,
    #[cfg(feature = "terminal")]
    feeds: Vec<std::sync::Weak<crate::terminal::Feed>>,
}

/// The subscriber of the program is set already.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "the program has a `tracing` subscriber already: add `ring.layer()` to it, as in `registry().with(ring.layer())`, instead of `install`"
)]
pub struct LogInstalledAlready;

impl Default for LogRing {
    fn default() -> Self {
        Self::new()
    }
}

impl LogRing {
    /// How many events a ring holds that was made by [`new`](Self::new).
    pub const CAPACITY: usize = 4096;

    /// A ring of [`CAPACITY`](Self::CAPACITY) events, which catches `info` and what is graver.
    #[must_use]
    pub fn new() -> Self {
        Self::with_capacity(Self::CAPACITY)
    }

    /// A ring of so many events. Of none, it holds nothing, but still counts them and hands them to a terminal.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        let state = State {
            records: VecDeque::new(),
            capacity,
            caught: 0,
            time: Duration::ZERO,
            frame: 0,
            #[cfg(feature = "terminal")]
            feeds: Vec::new(),
        };
        LogRing {
            shared: Arc::new(Shared {
                state: Mutex::new(state),
            }),
            filter: LiveFilter(Arc::new(RwLock::new(Directives::standard()))),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        let lock = self.shared.state.lock();
        lock.unwrap_or_else(PoisonError::into_inner)
    }

    /// The layer that fills the ring, to stand beside others. It has a filter of its own: what the
    /// ring does not want, the others still get.
    ///
    /// ```
    /// use sc_console::LogRing;
    /// use tracing_subscriber::prelude::*;
    /// let ring = LogRing::new();
    /// let other = tracing_subscriber::layer::Identity::new();
    /// let subscriber = tracing_subscriber::registry().with(ring.layer()).with(other);
    /// tracing::subscriber::with_default(subscriber, || tracing::warn!("heard by both"));
    /// assert_eq!(ring.records().len(), 1);
    /// ```
    pub fn layer<S>(&self) -> impl Layer<S> + Send + Sync + 'static
    where
        S: Subscriber + for<'s> LookupSpan<'s>,
    {
        RingLayer(self.clone()).with_filter(self.filter.clone())
    }

    /// A subscriber that does nothing but fill the ring.
    pub fn subscriber(&self) -> impl Subscriber + Send + Sync + 'static {
        tracing_subscriber::registry().with(self.layer())
    }

    /// Makes it the log of the program, on every thread.
    ///
    /// ```
    /// let ring = sc_console::LogRing::new();
    /// ring.install()?;
    /// tracing::error!("the disk is full");
    /// assert_eq!(ring.records()[0].message, "the disk is full");
    /// assert!(ring.install().is_err());
    /// # Ok::<(), sc_console::LogInstalledAlready>(())
    /// ```
    ///
    /// # Errors
    /// [`LogInstalledAlready`] when the program has a subscriber; that one stays.
    pub fn install(&self) -> Result<(), LogInstalledAlready> {
        let set = tracing::subscriber::set_global_default(self.subscriber());
        set.map_err(|_| LogInstalledAlready)
    }

    /// Changes which events are caught, from now on and everywhere: levels for targets, and one for
    /// everything else, which is `off` if none is named. `warn,game::audio=trace` is everything
    /// from `WARN` up, and all of what `game::audio` and the modules in it have to say.
    ///
    /// ```
    /// use sc_console::LogRing;
    /// let ring = LogRing::new();
    /// assert!(ring.set_filter("warn,stillcooking=trace").is_ok());
    /// let refused = ring.set_filter("stillcooking=trce").map_err(|e| e.to_string());
    /// assert!(refused.is_err_and(|text| text.starts_with("`trce` is no log level")));
    /// assert_eq!(ring.filter(), "warn,stillcooking=trace");
    /// ```
    ///
    /// # Errors
    /// [`LogFilterError`]; the old filter stays.
    pub fn set_filter(&self, filter: &str) -> Result<(), LogFilterError> {
        self.filter.replace(Directives::parse(filter)?);
        Ok(())
    }

    /// The filter in force, as [`set_filter`](Self::set_filter) would take it.
    #[must_use]
    pub fn filter(&self) -> String {
        self.filter.read(|now| now.text.clone())
    }

    /// The events in the ring, oldest first.
    #[must_use]
    pub fn records(&self) -> Vec<Arc<LogRecord>> {
        self.lock().records.iter().cloned().collect()
    }

    /// The events after number `seen`, oldest first, at most so many: for a reader that comes again
    /// and again. Start with 0. When the first of them is not number `seen + 1`, those between have
    /// been pushed out.
    ///
    /// ```
    /// # let ring = sc_console::LogRing::with_capacity(2);
    /// # tracing::subscriber::with_default(ring.subscriber(), || {
    /// for n in 0..5 { tracing::info!("{n}"); }
    /// # });
    /// let read = ring.records_after(1, 10);
    /// assert_eq!(read.iter().map(|r| r.number).collect::<Vec<_>>(), [4, 5]);
    /// assert!(ring.records_after(5, 10).is_empty());
    /// ```
    #[must_use]
    pub fn records_after(&self, seen: u64, at_most: usize) -> Vec<Arc<LogRecord>> {
        let state = self.lock();
        let newer = state.caught.saturating_sub(seen);
        let newer = usize::try_from(newer).unwrap_or(usize::MAX);
        let skip = state.records.len().saturating_sub(newer);
        let read = state.records.iter().skip(skip).take(at_most);
        read.cloned().collect()
    }

    /// Empties the ring. Numbers go on.
    pub fn clear(&self) {
        self.lock().records.clear();
    }

    fn catch(&self, mut record: LogRecord) {
        let mut state = self.lock();
        state.caught += 1;
        record.number = state.caught;
        record.time = state.time;
        record.frame = state.frame;
        let record = Arc::new(record);
        #[cfg(feature = "terminal")]
        state.feeds.retain(|feed| {
            let feed = feed.upgrade();
            feed.inspect(|feed| feed.push_log(&record)).is_some()
        });
        // One out before one comes in, so that the memory is that of `capacity` pointers.
        let full = state.records.len() >= state.capacity;
        let pushed_out = full.then(|| state.records.pop_front());
        if state.capacity > 0 {
            state.records.push_back(record);
        }
        drop(state);
        // Its texts are freed when nobody waits for the ring.
        drop(pushed_out);
    }

    /// What is caught from now on goes there too.
    #[cfg(feature = "terminal")]
    pub(crate) fn feed(&self, feed: &Arc<crate::terminal::Feed>) {
        self.lock().feeds.push(Arc::downgrade(feed));
    }

    /// .. and from now on no more.
    #[cfg(feature = "terminal")]
    fn unfeed(&self, feed: &Arc<crate::terminal::Feed>) {
        let fed = |other: &std::sync::Weak<_>| !std::ptr::eq(other.as_ptr(), Arc::as_ptr(feed));
        self.lock().feeds.retain(fed);
    }
}

/// The ring that is attached to a runtime.
#[derive(Default)]
struct Attached(Option<LogRing>);

/// The log, as calls on the [`Cx`].
pub trait LogExt {
    /// Attaches a ring: its events get their time and frame from this runtime, `SC.Log.Filter` sets
    /// its filter, and a terminal shows it. One attached before is let go.
    ///
    /// ```
    /// use sc_console::{LogExt, LogRing};
    /// # let (mut rt, mut host) = (sc_core::Runtime::<()>::new(), ());
    /// let ring = LogRing::new();
    /// rt.cx(&mut host).attach_log(&ring);
    /// rt.tick_secs(&mut host, 0.5)?;
    /// tracing::subscriber::with_default(ring.subscriber(), || tracing::info!("half a second in"));
    /// let record = &ring.records()[0];
    /// assert_eq!((record.time.as_millis(), record.frame), (500, 1));
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    fn attach_log(&mut self, ring: &LogRing);

    /// The ring that is attached.
    fn attached_log(&mut self) -> Option<LogRing>;
}

impl<H> LogExt for Cx<'_, H> {
    fn attach_log(&mut self, ring: &LogRing) {
        self.install(
            Extension::<H>::new("sc.log")
                .ours()
                .on_runtime_stage(Stage::Begin, stamp)
                .on_runtime_stage(Stage::Timers, stamp),
        );
        let before = self.runtime_state::<Attached>().0.replace(ring.clone());
        #[cfg(feature = "terminal")]
        for feed in crate::terminal::feeds_of(self) {
            if let Some(before) = &before {
                before.unfeed(&feed);
            }
            ring.feed(&feed);
        }
        drop(before);
        stamp(self);
    }

    fn attached_log(&mut self) -> Option<LogRing> {
        self.runtime_state::<Attached>().0.clone()
    }
}

/// Tells the attached ring the time.
fn stamp<H>(cx: &mut Cx<'_, H>) {
    let (time, frame) = (cx.runtime_elapsed(), cx.frame());
    if let Some(ring) = &cx.runtime_state::<Attached>().0 {
        let mut state = ring.lock();
        (state.time, state.frame) = (time, frame);
    }
}
