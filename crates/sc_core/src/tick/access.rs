//! Reaching an object by its key.

use std::any::Any;

use super::batch::Batch;
use super::{Label, TickError, TickKey, Tickable};
use crate::cx::Cx;

impl<H> Cx<'_, H> {
    /// The object of a key.
    ///
    /// ```
    /// # use sc_core::{Runtime, TickError, Tickable, WorldKind};
    /// struct Door { open: bool }
    /// impl Tickable<()> for Door {}
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// # let world = cx.create_world(WorldKind::Game)?;
    /// let door = cx.spawn_in(world, Door { open: false })?;
    /// let key = door.key();
    /// cx.get_mut(key)?.open = true;
    /// assert!(cx.get(&door)?.open);
    /// drop(door);
    /// assert_eq!(cx.get(key).err(), Some(TickError::Gone));
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`TickError::Gone`]; [`TickError::WrongRuntime`]; [`TickError::Running`] while it is being called (or, of a typed
    /// batch, a sibling is).
    pub fn get<T: Tickable<H>>(&self, key: impl Into<TickKey<T>>) -> Result<&T, TickError> {
        let slot = self.rt.live_now(key.into().id())?;
        let (holder, label) = self.rt.slots.holder(slot);
        let Some(object) = &self.rt.slots.hot[holder as usize].object else {
            return Err(self.running(slot));
        };
        let any: &dyn Any = &**object;
        match label {
            Some(label) => any.downcast_ref::<Batch<T>>().and_then(|b| b.get(label)),
            None => any.downcast_ref::<T>(),
        }
        .ok_or_else(|| self.wrong_type(slot))
    }

    /// The object of a key, to change it.
    ///
    /// ```
    /// # use sc_core::{Runtime, Tickable, WorldKind};
    /// struct Door { open: bool }
    /// impl Tickable<()> for Door {}
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// # let world = cx.create_world(WorldKind::Game)?;
    /// let door = cx.spawn_in(world, Door { open: false })?;
    /// cx.get_mut(&door)?.open = true;
    /// assert!(cx.get(&door)?.open);
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub fn get_mut<T: Tickable<H>>(
        &mut self,
        key: impl Into<TickKey<T>>,
    ) -> Result<&mut T, TickError> {
        let slot = self.rt.live(key.into().id())?;
        let (holder, label) = self.rt.slots.holder(slot);
        let Some(object) = &self.rt.slots.hot[holder as usize].object else {
            return Err(self.running(slot));
        };
        if !is_of::<T, H>(&**object, label) {
            return Err(self.wrong_type(slot));
        }
        let object = &mut self.rt.slots.hot[holder as usize].object;
        let target = object.as_deref_mut().and_then(|o| target_mut(o, label));
        target.ok_or(TickError::Gone)
    }

    /// Calls `f` with the object of a key *and* the `Cx`: the object is out meanwhile, so `f` may
    /// do anything but reach it again.
    ///
    /// ```
    /// # use sc_core::{Cx, Runtime, Tickable, TickError, WorldKind};
    /// struct Door { open: bool }
    /// impl Tickable<u32> for Door {}
    /// # let (mut rt, mut host) = (Runtime::<u32>::new(), 0);
    /// # let mut cx = rt.cx(&mut host);
    /// # let world = cx.create_world(WorldKind::Game)?;
    /// let door = cx.spawn_in(world, Door { open: false })?;
    /// let seen = cx.with(&door, |door, cx| {
    ///     door.open = true;
    ///     *cx.host_mut() += 1;
    /// })?;
    /// assert!(cx.get(&door)?.open);
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`get`](Self::get).
    ///
    /// # Panics
    /// If `f` does: the panic goes on to the caller, the object is back in its place.
    pub fn with<T: Tickable<H>, R>(
        &mut self,
        key: impl Into<TickKey<T>>,
        f: impl FnOnce(&mut T, &mut Self) -> R,
    ) -> Result<R, TickError> {
        let slot = self.rt.live(key.into().id())?;
        let (holder, label) = self.rt.slots.holder(slot);
        let Some(mut object) = self.rt.slots.hot[holder as usize].object.take() else {
            return Err(self.running(slot));
        };
        let outcome = match target_mut(&mut *object, label) {
            Some(target) => Ok(self.guarded(self.scope, |cx| f(target, cx))),
            None => Err(self.wrong_type(slot)),
        };
        self.rt.slots.hot[holder as usize].object = Some(object);
        self.after_callback();
        match outcome? {
            Ok(value) => Ok(value),
            Err(payload) => std::panic::resume_unwind(payload),
        }
    }

    fn running(&self, slot: u32) -> TickError {
        TickError::Running {
            object: self.rt.slots.name(slot),
        }
    }

    fn wrong_type(&self, slot: u32) -> TickError {
        TickError::WrongType {
            object: self.rt.slots.name(slot),
        }
    }
}

/// Whether what a slot holds is (a batch of) the type asked for.
fn is_of<T: Tickable<H>, H: 'static>(object: &dyn Tickable<H>, label: Option<Label>) -> bool {
    let any: &dyn Any = object;
    match label {
        Some(_) => any.is::<Batch<T>>(),
        None => any.is::<T>(),
    }
}

/// The object in what a slot holds: itself, or a row of a batch.
fn target_mut<T: Tickable<H>, H: 'static>(
    object: &mut dyn Tickable<H>,
    label: Option<Label>,
) -> Option<&mut T> {
    let any: &mut dyn Any = object;
    match label {
        Some(label) => any.downcast_mut::<Batch<T>>()?.get_mut(label),
        None => any.downcast_mut::<T>(),
    }
}
