//! The life of an entity in the runtime: a component whose drop ends what is bound to it, wherever the
//! despawn happens.

use std::any::Any;

use bevy_ecs::component::Component;
use bevy_ecs::world::World;
use sc_core::{Anchor, Cx, Owner, TickId, Tickable, WorldId};

/// Put on an entity when the first thing is bound to it. Dropping its owners is what tells the
/// runtime: through the inbox, so that it works while the runtime is out of the `World` too.
#[derive(Component)]
#[component(storage = "SparseSet", clone_behavior = Ignore)]
pub(crate) struct EntityLife {
    /// What flows and commands are bound to.
    pub(crate) anchor: Owner<Anchor>,
    /// The owners of its tickables, in order of binding.
    pub(crate) objects: Vec<Bound>,
    /// When there are so many of them, those that were shut down are freed.
    pub(crate) crowd: usize,
    /// The world that lives as long as it does.
    pub(crate) world: Option<WorldId>,
}

/// An object of an entity, and its owner.
pub(crate) struct Bound {
    pub(crate) id: TickId,
    pub(crate) owner: Box<dyn Any + Send + Sync>,
}

impl EntityLife {
    pub(crate) fn new(anchor: Owner<Anchor>) -> Self {
        EntityLife {
            anchor,
            objects: Vec::new(),
            crowd: 8,
            world: None,
        }
    }
}

impl Drop for EntityLife {
    fn drop(&mut self) {
        // What came last ends first.
        while let Some(owner) = self.objects.pop() {
            drop(owner);
        }
    }
}

/// Ends a world when the entity it belongs to is despawned: its shutdown is the world's end.
pub(crate) struct EndsWorld(pub(crate) WorldId);

impl Tickable<World> for EndsWorld {
    fn shutdown(&mut self, cx: &mut Cx<'_, World>) {
        cx.destroy_world(self.0);
    }

    fn settings(&self) -> sc_core::TickSettings {
        sc_core::TickSettings::default().start_ticking(false)
    }
}
