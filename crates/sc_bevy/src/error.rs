//! Why the runtime could not be reached, and why something could not be bound to an entity.

use bevy_ecs::entity::Entity;
use sc_core::{TickError, WorldError};

/// What Bevy says of a system whose parameter needs the runtime where there is none: as [`CxError::NotInstalled`].
pub(crate) const NO_RUNTIME: &str =
    "there is no runtime in this `World`: add `StillCookingPlugins` to the app";

/// Why [`WorldCx::with_cx`](crate::WorldCx::with_cx) did not give a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CxError {
    /// There is no runtime in this `World`.
    #[error("there is no runtime in this `World`: add `StillCookingPlugins` to the app")]
    NotInstalled,
    /// The runtime is running, further out.
    #[error(
        "the runtime is running and calls this code: use the `cx` it was given, or ask by `Commands` or `Flows`"
    )]
    Running,
    /// The closure panicked, and the policy is to go on; there is a report.
    #[error("the closure panicked: see the report")]
    Panicked,
}

/// Why something could not be bound to an entity.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EntityError {
    /// The entity does not exist.
    #[error("entity {entity} does not exist: bind to one that is spawned")]
    Gone {
        /// The entity.
        entity: Entity,
    },
    /// The runtime refused.
    #[error("the entity's part in the runtime was refused: {0}")]
    Tick(#[from] TickError),
    /// The runtime refused a world.
    #[error("the entity's world was refused: {0}")]
    World(#[from] WorldError),
}
