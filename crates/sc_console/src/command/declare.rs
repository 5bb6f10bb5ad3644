//! Static commands: declared anywhere in the program, there from program start.

use std::any::{Any, TypeId, type_name};
use std::fmt;

use sc_core::{AnyCx, Cx};

use super::call::Call;
use super::param::ParamDef;
use super::result::CallResult;
use crate::info::Flags;

/// A command that is declared in the program. [`command!`](crate::command) makes it.
pub struct StaticCommand {
    pub(crate) name: &'static str,
    pub(crate) docs: &'static [&'static str],
    pub(crate) flags: Flags,
    /// It does not ask for a game world.
    pub(crate) anytime: bool,
    pub(crate) place: Place,
    pub(crate) params: fn() -> Vec<ParamDef>,
    pub(crate) body: fn() -> StaticBody,
}

/// Where in the program something is declared.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Place {
    pub(crate) file: &'static str,
    pub(crate) line: u32,
    pub(crate) module: &'static str,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

impl StaticCommand {
    #[doc(hidden)]
    #[must_use]
    pub const fn new(
        name: &'static str,
        docs: &'static [&'static str],
        place: (&'static str, u32, &'static str),
        params: fn() -> Vec<ParamDef>,
        body: fn() -> StaticBody,
    ) -> Self {
        StaticCommand {
            name,
            docs,
            flags: Flags::NONE,
            anytime: false,
            place: Place {
                file: place.0,
                line: place.1,
                module: place.2,
            },
            params,
            body,
        }
    }

    /// One without anything in it: what is left of a command where there are none.
    #[doc(hidden)]
    #[must_use]
    pub const fn stripped() -> Self {
        StaticCommand::new("", &[], ("", 0, ""), Vec::new, || {
            StaticBody(AnyBody::Registry)
        })
    }

    #[doc(hidden)]
    #[must_use]
    pub const fn cheat(mut self) -> Self {
        self.flags.cheat = true;
        self
    }

    #[doc(hidden)]
    #[must_use]
    pub const fn hidden(mut self) -> Self {
        self.flags.hidden = true;
        self
    }

    #[doc(hidden)]
    #[must_use]
    pub const fn server_only(mut self) -> Self {
        self.flags.server_only = true;
        self
    }

    #[doc(hidden)]
    #[must_use]
    pub const fn anytime(mut self) -> Self {
        self.anytime = true;
        self
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }
}

impl fmt::Debug for StaticCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StaticCommand({} at {})", self.name, self.place)
    }
}

/// What `inventory` collects.
#[doc(hidden)]
pub struct CommandEntry(pub &'static StaticCommand);

inventory::collect!(CommandEntry);

pub(crate) type HostBody<H> = fn(&mut Cx<'_, H>, &mut Call<'_>) -> CallResult;
pub(crate) type FreeBody = fn(&mut dyn AnyCx, &mut Call<'_>) -> CallResult;

/// The body of a static command, whatever its host type.
#[doc(hidden)]
pub struct StaticBody(pub(crate) AnyBody);

pub(crate) enum AnyBody {
    /// Of one host type; the box holds a `HostBody` of it.
    Host {
        host: TypeId,
        host_name: &'static str,
        body: Box<dyn Any>,
    },
    /// Of any host type.
    Free(FreeBody),
    /// The registry's `on_static_command`.
    Registry,
}

/// A function that can be the body of a static command.
#[doc(hidden)]
pub trait IntoStaticBody {
    fn into_body(self) -> StaticBody;
}

impl<H: 'static> IntoStaticBody for fn(&mut Cx<'_, H>, &mut Call<'_>) -> CallResult {
    fn into_body(self) -> StaticBody {
        StaticBody(AnyBody::Host {
            host: TypeId::of::<H>(),
            host_name: type_name::<H>(),
            body: Box::new(self),
        })
    }
}

impl IntoStaticBody for fn(&mut dyn AnyCx, &mut Call<'_>) -> CallResult {
    fn into_body(self) -> StaticBody {
        StaticBody(AnyBody::Free(self))
    }
}

/// What the body `=> registry` of a static command stands for.
#[doc(hidden)]
pub struct Forwarded;

impl IntoStaticBody for Forwarded {
    fn into_body(self) -> StaticBody {
        StaticBody(AnyBody::Registry)
    }
}
