//! Dynamic commands: defined at run time, with a closure for a body, bound to an owner and a world.

use std::borrow::Cow;
use std::fmt;
use std::panic::Location;

use sc_core::{Cx, TickId, WorldId};

use super::call::Call;
use super::param::{Param, ParamDef};
use super::result::CallResult;
use crate::info::{Flags, doc_text};

pub(crate) type DynBody<H> = Box<dyn FnMut(&mut Cx<'_, H>, &mut Call<'_>) -> CallResult>;

/// To which world a command is bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Bound {
    /// That of the `Cx` it is registered with.
    Here,
    World(WorldId),
    Runtime,
}

/// A command that is to be registered at run time. [`dynamic_command!`](crate::dynamic_command)
/// makes it, [`ConsoleExt::register_command`](crate::ConsoleExt::register_command) takes it.
///
/// Without the feature `commands` there is nothing in it.
pub struct CommandDef<H: 'static>(pub(crate) Option<Parts<H>>);

pub(crate) struct Parts<H: 'static> {
    pub(crate) name: Cow<'static, str>,
    pub(crate) about: String,
    pub(crate) flags: Flags,
    pub(crate) params: Vec<Param>,
    pub(crate) body: DynBody<H>,
    pub(crate) owner: Option<TickId>,
    pub(crate) bound: Bound,
    /// It may be named as the console's own are.
    pub(crate) ours: bool,
    pub(crate) location: &'static Location<'static>,
}

impl<H> CommandDef<H> {
    #[doc(hidden)]
    #[track_caller]
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        docs: &[&str],
        params: Vec<ParamDef>,
        body: impl FnMut(&mut Cx<'_, H>, &mut Call<'_>) -> CallResult + 'static,
    ) -> Self {
        CommandDef(Some(Parts {
            name: name.into(),
            about: doc_text(docs),
            flags: Flags::NONE,
            params: params.into_iter().map(|param| param.0).collect(),
            body: Box::new(body),
            owner: None,
            bound: Bound::Here,
            ours: false,
            location: Location::caller(),
        }))
    }

    #[doc(hidden)]
    #[must_use]
    pub fn stripped() -> Self {
        CommandDef(None)
    }

    fn with(mut self, change: impl FnOnce(&mut Parts<H>)) -> Self {
        if let Some(parts) = &mut self.0 {
            change(parts);
        }
        self
    }

    /// Bound to one life of an object: when that ends, the command goes. The registry holds the
    /// object weakly.
    #[must_use]
    pub fn owner(self, owner: impl Into<TickId>) -> Self {
        let owner = owner.into();
        self.with(|parts| parts.owner = Some(owner))
    }

    /// Bound to a world. Default: that of the `Cx` it is registered with.
    #[must_use]
    pub fn world(self, world: WorldId) -> Self {
        self.with(|parts| parts.bound = Bound::World(world))
    }

    /// Bound to no world: it ends with the runtime.
    #[must_use]
    pub fn runtime(self) -> Self {
        self.with(|parts| parts.bound = Bound::Runtime)
    }

    /// For the crates of this project: its name may start with `SC.`.
    #[doc(hidden)]
    #[must_use]
    pub fn ours(self) -> Self {
        self.with(|parts| parts.ours = true)
    }

    #[doc(hidden)]
    #[must_use]
    pub fn cheat(self) -> Self {
        self.with(|parts| parts.flags.cheat = true)
    }

    #[doc(hidden)]
    #[must_use]
    pub fn hidden(self) -> Self {
        self.with(|parts| parts.flags.hidden = true)
    }

    #[doc(hidden)]
    #[must_use]
    pub fn server_only(self) -> Self {
        self.with(|parts| parts.flags.server_only = true)
    }

    /// A dynamic command asks for no game world anyway.
    #[doc(hidden)]
    #[must_use]
    pub fn anytime(self) -> Self {
        self
    }
}

impl<H> fmt::Debug for CommandDef<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.0.as_ref().map(|parts| &parts.name);
        f.debug_tuple("CommandDef").field(&name).finish()
    }
}
