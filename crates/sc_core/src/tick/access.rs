//! Reaching an object by its key.

use std::any::Any;

use super::batch::Batch;
use super::set::Place;
use super::slots::flag;
use super::{TickError, TickKey, Tickable};
use crate::cx::Cx;

impl<H> Cx<'_, H> {
    /// The object of a key.
    ///
    /// # Errors
    /// [`TickError::Gone`]; [`TickError::Running`] while it is being called (or, of a typed
    /// batch, a sibling is).
    pub fn get<T: Tickable<H>>(&self, key: impl Into<TickKey<T>>) -> Result<&T, TickError> {
        let slot = self.rt.live_now(key.into().id())?;
        let (holder, label) = self.holder(slot);
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
    /// # Errors
    /// As [`get`](Self::get).
    pub fn get_mut<T: Tickable<H>>(
        &mut self,
        key: impl Into<TickKey<T>>,
    ) -> Result<&mut T, TickError> {
        let slot = self.rt.live(key.into().id())?;
        let (holder, label) = self.holder(slot);
        let (running, wrong_type) = (self.running(slot), self.wrong_type(slot));
        let Some(object) = &mut self.rt.slots.hot[holder as usize].object else {
            return Err(running);
        };
        let any: &mut dyn Any = &mut **object;
        match label {
            Some(label) => any
                .downcast_mut::<Batch<T>>()
                .and_then(|b| b.get_mut(label)),
            None => any.downcast_mut::<T>(),
        }
        .ok_or(wrong_type)
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
        let (_, label) = self.holder(slot);
        let wrong_type = self.wrong_type(slot);
        let Some((holder, mut object)) = self.rt.take_out(slot) else {
            return Err(self.running(slot));
        };
        let any: &mut dyn Any = &mut *object;
        let target = match label {
            Some(label) => any
                .downcast_mut::<Batch<T>>()
                .and_then(|b| b.get_mut(label)),
            None => any.downcast_mut::<T>(),
        };
        let outcome = match target {
            Some(target) => Ok(self.guarded(self.scope, |cx| f(target, cx))),
            None => Err(wrong_type),
        };
        self.rt.slots.hot[holder as usize].object = Some(object);
        self.after_callback();
        match outcome? {
            Ok(value) => Ok(value),
            Err(payload) => std::panic::resume_unwind(payload),
        }
    }

    /// The slot that holds the object, and its row's label if that is a batch.
    fn holder(&self, slot: u32) -> (u32, Option<super::Label>) {
        match self.rt.slots.cold[slot as usize].place {
            Place::Batched { batch, label, .. } if self.rt.slots.has(slot, flag::BATCHED) => {
                (batch, Some(label))
            }
            _ => (slot, None),
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
