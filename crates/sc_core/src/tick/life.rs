//! One life of an object: from an initialize to the shutdown, the death or the panic that ends
//! it. What is bound to an object is bound to one life of it.

use super::slots::flag;
use super::{TickError, TickId};
use crate::cx::Cx;
use crate::runtime::Runtime;

/// One life of an object. An object that is shut down and initialized again has a new one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Life {
    object: TickId,
    /// The number of its initialization.
    initialization: u64,
}

impl Life {
    pub(crate) fn new(object: TickId, initialization: u64) -> Self {
        Life {
            object,
            initialization,
        }
    }

    /// Whose life it is.
    #[must_use]
    pub fn object(self) -> TickId {
        self.object
    }
}

impl<H> Cx<'_, H> {
    /// The present life of an initialized object, to bind something to.
    ///
    /// ```
    /// # use sc_core::{Runtime, Tickable, WorldKind};
    /// # struct Lamp;
    /// # impl Tickable<()> for Lamp {}
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// # let world = cx.create_world(WorldKind::Game)?;
    /// let lamp = cx.spawn_in(world, Lamp)?;
    /// let life = cx.life(&lamp)?;
    /// assert!(cx.is_living(life));
    /// lamp.shutdown(&mut cx)?;
    /// cx.initialize(&lamp, world)?;
    /// assert!(!cx.is_living(life), "this is another life");
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`TickError::Gone`]; [`TickError::WrongRuntime`]; [`TickError::NotInitialized`].
    pub fn life(&self, object: impl Into<TickId>) -> Result<Life, TickError> {
        let object = object.into();
        let slot = self.rt.live_now(object)?;
        if !self.rt.slots.has(slot, flag::INITIALIZED) {
            return Err(TickError::NotInitialized {
                object: self.rt.slots.name(slot),
            });
        }
        let initialization = self.rt.slots.cold[slot as usize].initialization;
        Ok(Life {
            object,
            initialization,
        })
    }

    /// Whether a life goes on: its object is neither shut down (or about to be) nor dead.
    #[must_use]
    pub fn is_living(&self, life: Life) -> bool {
        self.rt.live_now(life.object).is_ok_and(|slot| {
            let ending = flag::INITIALIZED | flag::SHUTDOWN_PENDING | flag::SHUTTING_DOWN;
            self.rt.slots.flags(slot) & ending == flag::INITIALIZED
                && self.rt.slots.cold[slot as usize].initialization == life.initialization
        })
    }

    /// Whether an object is between initialize and shutdown; of one that is gone, false.
    ///
    /// ```
    /// # use sc_core::{Runtime, Tickable, WorldKind};
    /// # struct Lamp;
    /// # impl Tickable<()> for Lamp {}
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// # let world = cx.create_world(WorldKind::Game)?;
    /// let lamp = cx.spawn(Lamp);
    /// assert!(!cx.is_initialized(&lamp));
    /// cx.initialize(&lamp, world)?;
    /// assert!(cx.is_initialized(&lamp));
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    #[must_use]
    pub fn is_initialized(&self, object: impl Into<TickId>) -> bool {
        let slot = self.rt.live_now(object.into());
        slot.is_ok_and(|slot| self.rt.slots.has(slot, flag::INITIALIZED))
    }
}

impl<H> Runtime<H> {
    /// Its owner was dropped, and that asks for its shutdown.
    pub(super) fn owe_shutdown(&mut self, slot: u32) {
        let slots = &mut self.slots;
        let ending = flag::INITIALIZED | flag::SHUTDOWN_PENDING | flag::SHUTTING_DOWN;
        if slots.flags(slot) & ending == flag::INITIALIZED {
            slots.set(slot, flag::SHUTDOWN_PENDING);
            slots.pending_shutdown.push(slot);
            self.attention = true;
        }
    }
}
