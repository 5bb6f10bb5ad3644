//! How a world ends, from wherever it is destroyed.
//!
//! Marking is immediate: from that moment no callback of the world runs but those of its
//! teardown. The teardown itself runs when no callback is on the stack any more: at once outside
//! callbacks, else when the running one has returned. Children end before their parent; within a
//! world, kind by kind as [`TeardownPhase`] orders them, each kind newest first.

use std::panic::resume_unwind;

use super::{Life, World, WorldId};
use crate::cx::{Culprit, Cx, NOBODY, Panic, Scope};
use crate::extension::TeardownPhase;
use crate::runtime::Runtime;
use crate::tick::slots::flag;

impl<H> Cx<'_, H> {
    /// Destroys a world, from anywhere, also from a callback running in it. Its children go
    /// first. `false` when it is gone or dying already.
    ///
    /// ```
    /// # use sc_core::{Cx, Runtime, Tickable, WorldKind};
    /// struct Lamp;
    /// impl Tickable<u32> for Lamp {
    ///     fn shutdown(&mut self, cx: &mut Cx<'_, u32>) { *cx.host_mut() += 1; }
    /// }
    /// # let (mut rt, mut host) = (Runtime::<u32>::new(), 0);
    /// # let mut cx = rt.cx(&mut host);
    /// # let world = cx.create_world(WorldKind::Game)?;
    /// let lamp = cx.spawn_in(world, Lamp)?;
    /// assert!(cx.destroy_world(world));
    /// assert!(!cx.destroy_world(world), "it is gone");
    /// assert_eq!((cx.is_initialized(&lamp), *cx.host()), (false, 1));
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    ///
    /// # Panics
    /// When something panicked in the teardown and the policy is `Propagate`: the first panic is
    /// raised again when everything has ended (inside a callback: when that has returned).
    pub fn destroy_world(&mut self, world: WorldId) -> bool {
        let marked = self.rt.mark_dying(world);
        self.after_callback();
        self.rt.raise_handler_panic();
        marked
    }

    /// Runs the teardown of every world that is dying, those that begin to die in it too.
    pub(crate) fn tear_down_dying_worlds(&mut self) {
        if self.rt.tearing_down || self.rt.dying.is_empty() {
            return;
        }
        self.rt.tearing_down = true;
        while let Some(world) = self.rt.dying.pop_front() {
            self.tear_down(world);
        }
        self.rt.tearing_down = false;
        if let Some(payload) = self.rt.teardown_panic.take() {
            self.rt.attention = !self.rt.slots.pending_shutdown.is_empty();
            resume_unwind(payload);
        }
    }

    fn tear_down(&mut self, world: WorldId) {
        for phase in TeardownPhase::ALL {
            if phase == TeardownPhase::Tickables {
                self.shut_down_all(Some(world));
            }
            for index in 0..self.rt.teardown_hooks.len() {
                let Some(entry) = self.rt.teardown_hooks.get(index) else {
                    break;
                };
                if entry.phase == phase {
                    let (extension, hook) = (entry.extension, entry.hook);
                    let scope = Scope::event(Some(world), NOBODY);
                    self.run_hook(extension, scope, |cx| hook(cx, world));
                }
            }
        }
        let Some(gone) = self.rt.forget_world(world) else {
            return;
        };
        // What lies in the world's state may be user code's, and its destructor too.
        let name = gone.name.clone().into_owned();
        let dropped = self.guarded(Scope::OUTSIDE, |cx| cx.enter(|| drop(gone)));
        if let Err(payload) = dropped {
            let culprit = Culprit::new(
                format!("state of world {name}"),
                "fix the destructor that panics; the rest of the world's state may be leaked",
            );
            self.settle_panic(&culprit, Panic(payload));
        }
        self.after_callback();
    }

    /// Shuts down every object of a tick set, newest first.
    pub(crate) fn shut_down_all(&mut self, home: Option<WorldId>) {
        self.finish_owed_shutdowns();
        let Some(set) = self.rt.tick_set(home) else {
            return;
        };
        for slot in self.rt.slots.newest_first(&set.members) {
            let id = self.rt.slots.id(slot);
            // What an earlier one has let go of keeps its turn.
            self.finish_owed_shutdowns();
            // A dead owner's object gets no callback, here as anywhere.
            let Ok(slot) = self.rt.live(id) else {
                continue;
            };
            if self.rt.slots.cold[slot as usize].home == home
                && self.rt.slots.has(slot, flag::INITIALIZED)
                && !self.rt.slots.has(slot, flag::SHUTTING_DOWN)
            {
                let _ = self.finish_shutdown(slot);
            }
        }
        self.finish_owed_shutdowns();
    }

    /// Runs the shutdowns that are owed, those of which an owner's drop was the wish among them, and what
    /// follows from them.
    pub(crate) fn finish_owed_shutdowns(&mut self) {
        loop {
            self.rt.mark_dropped();
            if !self.finish_pending_shutdowns() {
                return;
            }
        }
    }
}

impl<H> Runtime<H> {
    /// Marks a world and everything under it dying, children before parents.
    pub(crate) fn mark_dying(&mut self, world: WorldId) -> bool {
        let Some(found) = self.worlds.get_mut(world) else {
            return false;
        };
        if found.life == Life::Dying {
            return false;
        }
        // Parents before children, oldest first; so the reverse is children before parents, newest
        // first. With a list of its own: a long chain of worlds is no deep recursion.
        let mut order = Vec::new();
        let mut open = vec![world];
        while let Some(next) = open.pop() {
            let Some(found) = self.worlds.get_mut(next) else {
                continue;
            };
            if found.life == Life::Alive {
                found.life = Life::Dying;
                order.push(next);
                open.extend(found.children.iter().rev().copied());
            }
        }
        self.dying.extend(order.into_iter().rev());
        self.attention = true;
        true
    }

    /// The end of a teardown: takes the world and its batches out of the runtime.
    fn forget_world(&mut self, world: WorldId) -> Option<World> {
        let found = self.worlds.get(world)?;
        let batches: Vec<u32> = found.ticks.batches.iter().map(|b| b.slot).collect();
        for batch in batches {
            self.empty_batch(batch);
        }
        let gone = self.worlds.remove(world)?;
        self.world_order.retain(|&id| id != world);
        self.worlds_that_step -= usize::from(gone.steps);
        if let Some(parent) = gone.parent.and_then(|p| self.worlds.get_mut(p)) {
            parent.children.retain(|&id| id != world);
        }
        // What is left of dead owners' objects is reported and dropped in the next `End`.
        for &slot in &gone.ticks.members {
            self.slots.mark_dirty(slot);
            self.slots.cold[slot as usize].last_world = Some(gone.name.clone());
        }
        Some(gone)
    }
}
