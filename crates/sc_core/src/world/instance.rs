//! Game instances: one play session each, which worlds may belong to.

use std::borrow::Cow;

use super::{InstanceId, WorldError};
use crate::cx::Cx;

pub(crate) struct Instance {
    pub(crate) name: Cow<'static, str>,
    pub(crate) paused: bool,
}

impl<H> Cx<'_, H> {
    /// Starts a game instance: one play session. A runtime holds any number.
    ///
    /// ```
    /// # use sc_core::{Runtime, WorldKind, WorldOptions};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// let castle = cx.create_instance("castle");
    /// let cellar = cx.create_world(WorldOptions::new(WorldKind::Game).instance(castle))?;
    /// assert_eq!(cx.world_info(cellar)?.instance, Some(castle));
    /// assert_eq!(cx.instance_name(castle)?, "castle");
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    pub fn create_instance(&mut self, name: impl Into<Cow<'static, str>>) -> InstanceId {
        self.rt.instances.insert(Instance {
            name: name.into(),
            paused: false,
        })
    }

    /// A game instance's name.
    ///
    /// # Errors
    /// [`WorldError::InstanceGone`].
    pub fn instance_name(&self, instance: InstanceId) -> Result<&str, WorldError> {
        let found = self.rt.instances.get(instance);
        found.map(|i| &*i.name).ok_or(WorldError::InstanceGone)
    }

    /// Pauses or resumes a game instance, and with it all of its worlds, from the next frame.
    ///
    /// ```
    /// # use sc_core::{Runtime, WorldKind, WorldOptions};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// let castle = cx.create_instance("castle");
    /// let cellar = cx.create_world(WorldOptions::new(WorldKind::Game).instance(castle))?;
    /// cx.set_instance_paused(castle, true)?;
    /// assert!(cx.world_info(cellar)?.effectively_paused);
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`WorldError::InstanceGone`].
    pub fn set_instance_paused(
        &mut self,
        instance: InstanceId,
        paused: bool,
    ) -> Result<(), WorldError> {
        let found = self.rt.instances.get_mut(instance);
        found.ok_or(WorldError::InstanceGone)?.paused = paused;
        Ok(())
    }

    /// Ends a game instance: destroys its worlds, newest first. `false` when it is gone already.
    ///
    /// ```
    /// # use sc_core::{Runtime, WorldKind, WorldOptions};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// let castle = cx.create_instance("castle");
    /// let cellar = cx.create_world(WorldOptions::new(WorldKind::Game).instance(castle))?;
    /// assert!(cx.destroy_instance(castle));
    /// assert!(!cx.is_world_alive(cellar));
    /// assert!(!cx.destroy_instance(castle), "it is gone");
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    ///
    /// # Panics
    /// As [`destroy_world`](Self::destroy_world).
    pub fn destroy_instance(&mut self, instance: InstanceId) -> bool {
        if self.rt.instances.remove(instance).is_none() {
            return false;
        }
        let worlds: Vec<_> = self.rt.world_order.iter().rev().copied().collect();
        for world in worlds {
            let of = self.rt.worlds.get(world).and_then(|w| w.instance);
            if of == Some(instance) {
                self.rt.mark_dying(world);
            }
        }
        self.after_callback();
        self.rt.raise_handler_panic();
        true
    }
}
