//! The layer through which `tracing` fills a ring.

use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer};

use super::{LogRecord, LogRing};

pub(super) struct RingLayer(pub(super) LogRing);

impl<S: Subscriber> Layer<S> for RingLayer {
    fn on_event(&self, event: &Event<'_>, _cx: Context<'_, S>) {
        // Formatted before the ring is locked: a `Debug` of a user's may log, too.
        self.0.catch(LogRecord::of(event));
    }
}
