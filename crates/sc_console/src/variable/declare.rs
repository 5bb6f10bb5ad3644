//! Static variables: declared anywhere in the program, each runtime has its own value.

use std::any::Any;
use std::fmt;
use std::sync::atomic::AtomicU32;

use super::definition::{Changed, Current, Ops};
use crate::command::Place;
use crate::info::{Flags, ParamInfo};

/// A variable that is declared in the program. [`variable!`](crate::variable) makes it.
pub struct StaticVariable {
    pub(crate) name: &'static str,
    pub(crate) place: Place,
    pub(crate) make: fn() -> AnyVariable,
    /// A guess where the value lies in a runtime. Each use checks it, so a wrong one is only slow.
    pub(crate) guess: AtomicU32,
}

impl StaticVariable {
    #[doc(hidden)]
    #[must_use]
    pub const fn new(
        name: &'static str,
        place: (&'static str, u32, &'static str),
        make: fn() -> AnyVariable,
    ) -> Self {
        StaticVariable {
            name,
            place: Place {
                file: place.0,
                line: place.1,
                module: place.2,
            },
            make,
            guess: AtomicU32::new(0),
        }
    }
}

impl fmt::Debug for StaticVariable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StaticVariable({} at {})", self.name, self.place)
    }
}

/// What `inventory` collects.
#[doc(hidden)]
pub struct VariableEntry(pub &'static StaticVariable);

inventory::collect!(VariableEntry);

/// A variable whatever its type.
#[doc(hidden)]
pub struct AnyVariable {
    pub(crate) about: String,
    pub(crate) flags: Flags,
    pub(crate) info: ParamInfo,
    pub(crate) default: Box<dyn Any>,
    pub(crate) changed: Option<Changed>,
    pub(crate) current: Option<Current>,
    pub(crate) ops: Ops,
}
