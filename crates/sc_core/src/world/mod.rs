//! Worlds: what they are, how they are made, paused and dilated. How they end is in `teardown.rs`.

mod error;
mod instance;
mod lifecycle;
mod options;
mod teardown;

use std::borrow::Cow;

use crate::clock::WorldClocks;
use crate::extension::StateMap;
use crate::tick::TickSet;

pub use error::WorldError;
pub(crate) use instance::Instance;
pub use lifecycle::{Readings, WorldInfo};
pub use options::WorldOptions;

slotmap::new_key_type! {
    /// Names a world. Copyable, and inert once the world is gone; a default one names none.
    ///
    /// A slot is reused up to 2^31 times before a stale id could name a new world.
    pub struct WorldId;

    /// Names a game instance: one play session. Copyable, and inert once the instance is gone;
    /// a default one names none.
    pub struct InstanceId;
}

/// What a world is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WorldKind {
    /// The game.
    Game,
    /// The game, played inside an editor.
    PlayInEditor,
    /// A level being edited. Ticks nothing gameplay-like unless told to.
    Editor,
    /// A preview in a tool. Ticks nothing gameplay-like unless told to.
    Preview,
}

impl WorldKind {
    /// Whether worlds of this kind tick gameplay unless told otherwise.
    ///
    /// ```
    /// use sc_core::WorldKind;
    /// assert!(WorldKind::PlayInEditor.ticks_gameplay());
    /// assert!(!WorldKind::Preview.ticks_gameplay());
    /// ```
    #[must_use]
    pub const fn ticks_gameplay(self) -> bool {
        matches!(self, WorldKind::Game | WorldKind::PlayInEditor)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Life {
    Alive,
    /// Destroyed: no callback of it runs but those of its teardown.
    Dying,
}

pub(crate) struct World {
    pub(crate) name: Cow<'static, str>,
    pub(crate) kind: WorldKind,
    /// The number of its creation; the first is 1.
    pub(crate) number: u64,
    pub(crate) parent: Option<WorldId>,
    /// In creation order.
    pub(crate) children: Vec<WorldId>,
    pub(crate) instance: Option<InstanceId>,
    pub(crate) ticks_gameplay: bool,
    /// Its frames are steps, not the runtime's.
    pub(crate) steps: bool,
    /// How many frames it has had; the running one counts from the advance of its clocks.
    pub(crate) frames: u64,
    pub(crate) paused: bool,
    /// The effective pause, as sampled when the frame began.
    pub(crate) paused_this_frame: bool,
    pub(crate) clocks: WorldClocks,
    pub(crate) life: Life,
    pub(crate) ticks: TickSet,
    pub(crate) state: StateMap,
    /// Its dilated delta was reported to be out of range; until the dilation changes.
    pub(crate) saturation_reported: bool,
}

impl World {
    pub(crate) fn is_alive(&self) -> bool {
        self.life == Life::Alive
    }
}
