//! Who has asked the runtime for what: for the messages about what nobody will do.

use std::fmt;
use std::panic::Location;

/// What was asked for, and where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    pub(crate) what: What,
    pub(crate) location: &'static Location<'static>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum What {
    /// The start of a flow.
    Flow(&'static str),
    /// The cancel of a flow.
    Cancel(&'static str),
    Closure,
    /// Something of the adapter's own: nobody misses it when the runtime has ended.
    Own,
    /// The beginning or the end of a state's world.
    #[cfg(feature = "state")]
    StateWorld,
}

impl Origin {
    /// Asked for where the caller of this is called.
    #[track_caller]
    pub(crate) fn here(what: What) -> Self {
        Origin {
            what,
            location: Location::caller(),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.what {
            What::Flow(name) => write!(f, "flow `{name}`"),
            What::Cancel(name) => write!(f, "the cancel of flow `{name}`"),
            What::Closure | What::Own => write!(f, "a closure"),
            #[cfg(feature = "state")]
            What::StateWorld => write!(f, "the world of a state"),
        }?;
        let (file, line) = (self.location.file(), self.location.line());
        write!(f, ", asked for at {file}:{line},")
    }
}
