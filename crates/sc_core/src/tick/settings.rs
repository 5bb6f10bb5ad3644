//! The settings of a tickable object.

use crate::{Clock, Secs, secs};

/// In which part of the frame an object ticks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum TickGroup {
    /// Before the host's physics.
    PrePhysics,
    /// While the host's physics runs.
    DuringPhysics,
    /// After the host's physics. The default.
    #[default]
    PostPhysics,
    /// After the flows.
    PostUpdate,
}

impl TickGroup {
    /// All groups in frame order.
    pub const ALL: [TickGroup; 4] = [
        TickGroup::PrePhysics,
        TickGroup::DuringPhysics,
        TickGroup::PostPhysics,
        TickGroup::PostUpdate,
    ];
}

/// How an object ticks. [`Tickable::settings`](crate::Tickable::settings) gives a type's
/// defaults; [`Cx::configure`](crate::Cx::configure) changes one object's.
///
/// ```
/// use sc_core::{TickGroup, TickSettings, secs};
/// let throttled = TickSettings::default()
///     .interval(secs(0.2))
///     .tick_at_start(true)
///     .group(TickGroup::PrePhysics);
/// assert!(throttled.start_ticking && throttled.tick_at_start);
/// let menu = TickSettings::default()
///     .start_ticking(false)
///     .tick_when_paused(true)
///     .tick_in_editor(true);
/// assert_eq!((menu.interval, menu.group), (secs(0), TickGroup::PostPhysics));
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TickSettings {
    /// Whether initializing the object enables its tick. Default: true.
    pub start_ticking: bool,
    /// Whether it ticks while its world is paused. Default: false.
    pub tick_when_paused: bool,
    /// Whether it ticks in worlds that tick nothing gameplay-like (editor and preview worlds).
    /// Independent of the pause. Default: false.
    pub tick_in_editor: bool,
    /// Time between two ticks on the object's clock; 0 = every frame. Default: 0.
    pub interval: Secs,
    /// Whether the first tick of an object with an interval comes at once instead of after one
    /// full interval. Default: false.
    pub tick_at_start: bool,
    /// In which part of the frame it ticks. No meaning for worldless objects, which have a
    /// stage of their own. Default: `PostPhysics`.
    pub group: TickGroup,
}

impl Default for TickSettings {
    fn default() -> Self {
        TickSettings {
            start_ticking: true,
            tick_when_paused: false,
            tick_in_editor: false,
            interval: secs(0),
            tick_at_start: false,
            group: TickGroup::default(),
        }
    }
}

macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident: $type:ty;)*) => {$(
        $(#[$doc])*
        #[must_use]
        pub fn $name(mut self, $name: $type) -> Self {
            self.$name = $name;
            self
        }
    )*};
}

impl TickSettings {
    setters! {
        /// Sets [`start_ticking`](Self::start_ticking).
        start_ticking: bool;
        /// Sets [`tick_when_paused`](Self::tick_when_paused).
        tick_when_paused: bool;
        /// Sets [`tick_in_editor`](Self::tick_in_editor).
        tick_in_editor: bool;
        /// Sets [`tick_at_start`](Self::tick_at_start).
        tick_at_start: bool;
        /// Sets [`group`](Self::group).
        group: TickGroup;
    }

    /// Sets [`interval`](Self::interval). Validated where the settings are used.
    #[must_use]
    pub fn interval(mut self, interval: impl Into<Secs>) -> Self {
        self.interval = interval.into();
        self
    }

    /// The clock on which an object of a world with these settings counts its interval.
    pub(crate) fn clock(&self) -> Clock {
        if self.tick_when_paused {
            Clock::GameThroughPause
        } else {
            Clock::Game
        }
    }
}
