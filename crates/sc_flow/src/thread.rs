//! Work on a thread of its own, and its result on the game thread.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use sc_core::{Report, ReportKind};

use crate::error::FlowError;
use crate::reports;

/// Work that runs on a thread. Dropping it lets the thread run on; the result is dropped.
pub(crate) struct Work<T>(Arc<Mutex<Shared<T>>>);

struct Shared<T> {
    result: Option<Result<T, Failed>>,
    waker: Option<Waker>,
}

/// Why there is no result.
pub(crate) enum Failed {
    Panicked(String),
    NoThread(String),
}

impl Failed {
    /// The error, and the report that the flow called `name` makes of it.
    pub(crate) fn told(self, name: String) -> (FlowError, Option<Report>) {
        match self {
            Failed::NoThread(why) => (FlowError::NoThread { why }, None),
            Failed::Panicked(message) => {
                let kind = ReportKind::Extension(&reports::THREAD_PANICKED);
                let what = format!("work on a thread panicked: {message}");
                let report = Report::new(kind, what).object(name);
                (FlowError::Panicked, Some(report))
            }
        }
    }
}

impl<T: Send + 'static> Work<T> {
    pub(crate) fn start(work: impl FnOnce() -> T + Send + 'static) -> Self {
        let started = Work(Arc::new(Mutex::new(Shared {
            result: None,
            waker: None,
        })));
        let theirs = Work(Arc::clone(&started.0));
        let thread = std::thread::Builder::new().spawn(move || {
            let result = catch_unwind(AssertUnwindSafe(work));
            let waker = {
                let mut shared = theirs.shared();
                shared.result = Some(result.map_err(|payload| Failed::Panicked(text(&*payload))));
                shared.waker.take()
            };
            waker.into_iter().for_each(Waker::wake);
        });
        if let Err(error) = thread {
            started.shared().result = Some(Err(Failed::NoThread(error.to_string())));
        }
        started
    }
}

impl<T> Work<T> {
    fn shared(&self) -> MutexGuard<'_, Shared<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its result, if it has come; once.
    pub(crate) fn take(&self) -> Option<Result<T, Failed>> {
        self.shared().result.take()
    }

    /// The same; if it has not, the waker is woken when it does.
    pub(crate) fn take_or_wake(&self, waker: &Waker) -> Option<Result<T, Failed>> {
        let mut shared = self.shared();
        let result = shared.result.take();
        if result.is_none() {
            shared.waker = Some(waker.clone());
        }
        result
    }
}

fn text(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "(no message)".into())
}
