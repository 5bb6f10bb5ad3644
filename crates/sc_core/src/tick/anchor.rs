//! Anchors: lives for what is not an object of the runtime, such as an entity of the host's.

use std::borrow::Cow;

use super::slots::flag;
use super::{Owner, TickError, TickSettings, Tickable};
use crate::cx::Cx;

/// Stands for something of the host's, so that flows, commands and whatever is bound to objects can
/// be bound to it: its life is that of its owner. It never ticks, belongs to no world, stands in no list,
/// and dropping its owner is its proper end.
#[derive(Debug)]
pub struct Anchor(Cow<'static, str>);

impl<H: 'static> Tickable<H> for Anchor {
    fn name(&self) -> Cow<'static, str> {
        self.0.clone()
    }

    fn settings(&self) -> TickSettings {
        TickSettings::default().start_ticking(false)
    }
}

impl<H> Cx<'_, H> {
    /// A new anchor, by the name that errors call it.
    ///
    /// ```
    /// # use sc_core::Runtime;
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// let of_door = cx.spawn_anchor("door 7")?;
    /// let life = cx.life(&of_door)?;
    /// assert!(cx.is_living(life));
    /// drop(of_door); // In a component of the door, it goes with that.
    /// assert!(!cx.is_living(life));
    /// assert_eq!(rt.tick_secs(&mut host, 0.1)?.reports, 0);
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`TickError::ShutDown`].
    pub fn spawn_anchor(
        &mut self,
        name: impl Into<Cow<'static, str>>,
    ) -> Result<Owner<Anchor>, TickError> {
        let owner = self.insert(Anchor(name.into()), flag::WORLDLESS | flag::ANCHOR);
        self.initialize(&owner, None)?;
        Ok(owner)
    }
}
