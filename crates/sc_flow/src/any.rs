//! Flows whatever the host type: for code that is declared once for every program, such as console
//! commands.

use sc_core::{AnyCx, Cx, Secs};

use crate::error::FlowError;
use crate::executor::board;
use crate::ext::FlowExt;
use crate::watch;

/// Flows, as calls on an [`AnyCx`]. Those of [`FlowExt`], as far as they need no host type.
///
/// ```
/// use sc_core::{AnyCx, Runtime, secs};
/// use sc_flow::{AnyFlowExt, Flow};
///
/// /// Ends every flow, whatever the game.
/// fn hush(cx: &mut dyn AnyCx) -> usize {
///     let names = cx.flow_names();
///     names.iter().map(|name| cx.cancel_flows_named(name)).sum()
/// }
///
/// let (mut rt, mut host) = (Runtime::<()>::new(), ());
/// let mut cx = rt.cx(&mut host);
/// assert_eq!(hush(&mut cx), 0);
/// Flow::new("intro").runtime().spawn(&mut cx, async |fx| Ok(fx.delay(secs(60)).await?))?;
/// assert_eq!(hush(&mut cx), 1);
/// # Ok::<(), sc_flow::FlowError>(())
/// ```
pub trait AnyFlowExt {
    /// The names of the live flows, in order of start, each once.
    fn flow_names(&mut self) -> Vec<String>;

    /// As [`FlowExt::cancel_flows_named`].
    fn cancel_flows_named(&mut self, name: &str) -> usize;

    /// How long a loop may be parked before one warning, as it was set; zero or less: for ever.
    fn suspended_loop_warning(&mut self) -> Secs;

    /// How long a wait without deadline may wait before one warning, as it was set; zero or less: for ever.
    fn wait_until_warning(&mut self) -> Secs;

    /// As [`FlowExt::set_suspended_loop_warning`].
    ///
    /// # Errors
    /// [`FlowError::BadTime`] when it is no time; the threshold stays.
    fn set_suspended_loop_warning(&mut self, threshold: Secs) -> Result<(), FlowError>;

    /// As [`FlowExt::set_wait_until_warning`].
    ///
    /// # Errors
    /// [`FlowError::BadTime`] when it is no time; the threshold stays.
    fn set_wait_until_warning(&mut self, threshold: Secs) -> Result<(), FlowError>;
}

/// The way to the flows of a runtime without its host type: empty until the first flow.
#[derive(Default)]
pub(crate) struct Way {
    way: Option<Typed>,
    /// Thresholds that were set before there was a flow.
    suspended: Option<Secs>,
    waiting: Option<Secs>,
}

/// Calls that know the host type.
#[derive(Clone, Copy)]
struct Typed {
    names: fn(&mut dyn AnyCx) -> Vec<String>,
    cancel: fn(&mut dyn AnyCx, &str) -> usize,
    suspended: fn(&mut dyn AnyCx, Secs) -> Result<(), FlowError>,
    waiting: fn(&mut dyn AnyCx, Secs) -> Result<(), FlowError>,
    /// Both thresholds, in this order.
    thresholds: fn(&mut dyn AnyCx) -> [Secs; 2],
}

/// Opens the way to the flows of a runtime, and sets the thresholds that have waited for it.
pub(crate) fn open<H: 'static>(cx: &mut Cx<'_, H>) {
    let way = cx.runtime_state::<Way>();
    way.way = Some(Typed {
        names: |cx| {
            cx.typed::<H>()
                .map_or_else(Vec::new, |mut cx| names(&mut cx))
        },
        cancel: |cx, name| {
            let cx = cx.typed::<H>();
            cx.map_or(0, |mut cx| FlowExt::cancel_flows_named(&mut cx, name))
        },
        suspended: |cx, threshold| {
            let cx = cx.typed::<H>();
            cx.map_or(Ok(()), |mut cx| {
                FlowExt::set_suspended_loop_warning(&mut cx, threshold)
            })
        },
        waiting: |cx, threshold| {
            let cx = cx.typed::<H>();
            cx.map_or(Ok(()), |mut cx| {
                FlowExt::set_wait_until_warning(&mut cx, threshold)
            })
        },
        thresholds: |cx| {
            let cx = cx.typed::<H>();
            cx.map_or([watch::default(); 2], |mut cx| {
                watch::thresholds(&board(&mut cx))
            })
        },
    });
    let (suspended, waiting) = (way.suspended.take(), way.waiting.take());
    // They were looked at when they were set.
    let _ = suspended.map(|threshold| cx.set_suspended_loop_warning(threshold));
    let _ = waiting.map(|threshold| cx.set_wait_until_warning(threshold));
}

fn names<H: 'static>(cx: &mut Cx<'_, H>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for flow in cx.flow_list() {
        if !names.contains(&flow.name) {
            names.push(flow.name);
        }
    }
    names
}

impl AnyFlowExt for dyn AnyCx + '_ {
    fn flow_names(&mut self) -> Vec<String> {
        let way = self.runtime_state::<Way>().way;
        way.map_or_else(Vec::new, |way| (way.names)(self))
    }

    fn cancel_flows_named(&mut self, name: &str) -> usize {
        let way = self.runtime_state::<Way>().way;
        way.map_or(0, |way| (way.cancel)(self, name))
    }

    fn suspended_loop_warning(&mut self) -> Secs {
        let way = self.runtime_state::<Way>();
        match way.way {
            Some(typed) => (typed.thresholds)(self)[0],
            None => way.suspended.unwrap_or_else(watch::default),
        }
    }

    fn wait_until_warning(&mut self) -> Secs {
        let way = self.runtime_state::<Way>();
        match way.way {
            Some(typed) => (typed.thresholds)(self)[1],
            None => way.waiting.unwrap_or_else(watch::default),
        }
    }

    fn set_suspended_loop_warning(&mut self, threshold: Secs) -> Result<(), FlowError> {
        watch::threshold(threshold)?;
        let way = self.runtime_state::<Way>();
        match way.way {
            Some(typed) => (typed.suspended)(self, threshold),
            None => {
                way.suspended = Some(threshold);
                Ok(())
            }
        }
    }

    fn set_wait_until_warning(&mut self, threshold: Secs) -> Result<(), FlowError> {
        watch::threshold(threshold)?;
        let way = self.runtime_state::<Way>();
        match way.way {
            Some(typed) => (typed.waiting)(self, threshold),
            None => {
                way.waiting = Some(threshold);
                Ok(())
            }
        }
    }
}
