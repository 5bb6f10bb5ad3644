//! Access from where no `Cx` can be passed: futures, and destructors that a call runs.
//!
//! [`Cx::enter`] makes a `Cx` reachable while a closure runs; an [`Access`] reaches it, for the length
//! of a closure of its own, so it can never be kept.

use std::any::Any;
use std::cell::Cell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::Duration;

use scoped_tls_hkt::scoped_thread_local;

use crate::clock::Clock;
use crate::cx::{Cx, NOBODY, Scope};
use crate::inbox::Inbox;
use crate::runtime::Runtime;
use crate::tick::Home;
use crate::world::WorldId;

scoped_thread_local!(
    /// The host and the runtime of the innermost `enter`, unless an access has them out.
    static mut ENTERED: for<'a> (&'a mut dyn Any, &'a mut dyn Any)
);

thread_local! {
    /// Whether an access has them out.
    static OUT: Cell<bool> = const { Cell::new(false) };
    /// What the runtime that is entered has to see to: as of its `enter`, or the last access to it.
    static PENDING: Pending = const {
        Pending { attention: Cell::new(false), lives: Cell::new(false) }
    };
}

struct Pending {
    /// Objects to shut down, worlds to end.
    attention: Cell<bool>,
    /// Lives that have ended, of which extensions were not told yet.
    lives: Cell<bool>,
}

impl Pending {
    /// As a runtime is now; gives what it was before.
    fn set<H>(&self, rt: &Runtime<H>) -> (bool, bool) {
        let attention = self.attention.replace(rt.attention);
        (attention, self.lives.replace(rt.slots.any_life_ended()))
    }
}

/// Sets `OUT` until it goes.
struct SetOut(bool);

impl SetOut {
    fn to(out: bool) -> Self {
        SetOut(OUT.replace(out))
    }
}

impl Drop for SetOut {
    fn drop(&mut self) {
        OUT.set(self.0);
    }
}

/// Puts `PENDING` back when it goes: another runtime may be entered further out.
struct SetPending((bool, bool));

impl Drop for SetPending {
    fn drop(&mut self) {
        PENDING.with(|pending| {
            pending.attention.set(self.0.0);
            pending.lives.set(self.0.1);
        });
    }
}

/// Why host and runtime could not be reached. The closure was not called.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AccessError {
    /// Inside another access: the outer closure has them.
    #[error("host and runtime are in use by an outer `with`: use the `cx` that it was given")]
    Nested,
    /// Outside anything the runtime called, or the runtime is gone.
    #[error(
        "host and runtime are out of reach here: use `with` only while the runtime polls, or drops, what holds it"
    )]
    OutOfScope,
    /// Another runtime is running here.
    #[error("another runtime is running here: keep what belongs to one out of the other")]
    WrongRuntime,
}

/// Reaches host and runtime while the runtime is running what holds it. Made by [`Cx::access`].
///
/// ```
/// use sc_core::{AccessError, Runtime};
/// let (mut rt, mut score) = (Runtime::<u32>::new(), 0);
/// let mut cx = rt.cx(&mut score);
/// let access = cx.access();
/// assert_eq!(access.with(|_| ()), Err(AccessError::OutOfScope));
/// let mut seen = 0;
/// cx.enter(|| {
///     access.with(|cx| *cx.host_mut() += 1)?;
///     seen = access.with(|cx| *cx.host())?;
///     assert_eq!(access.with(|_| access.with(|_| ()))?, Err(AccessError::Nested));
///     Ok::<(), AccessError>(())
/// })?;
/// assert_eq!(seen, 1);
/// # Ok::<(), AccessError>(())
/// ```
pub struct Access<H: 'static> {
    /// Tells the runtime from others.
    inbox: Arc<Inbox<H>>,
    world: Home,
}

impl<H> Clone for Access<H> {
    fn clone(&self) -> Self {
        Access {
            inbox: Arc::clone(&self.inbox),
            world: self.world,
        }
    }
}

impl<H> fmt::Debug for Access<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access")
            .field("world", &self.world)
            .finish()
    }
}

impl<H> Cx<'_, H> {
    /// An access to this runtime, bound to the `Cx`'s world.
    #[must_use]
    pub fn access(&self) -> Access<H> {
        Access {
            inbox: Arc::clone(&self.rt.inbox),
            world: self.scope.world,
        }
    }

    /// Calls `f`, in which every [`Access`] to this runtime reaches host and runtime. It counts as
    /// a callback.
    ///
    /// # Panics
    /// If `f` does.
    pub fn enter<R>(&mut self, f: impl FnOnce() -> R) -> R {
        let depth = self.rt.depth;
        self.rt.depth = depth + 1;
        let reachable = SetOut::to(false);
        let pending = SetPending(PENDING.with(|pending| pending.set(self.rt)));
        let (host, rt): (&mut dyn Any, &mut dyn Any) = (self.host, self.rt);
        let outcome = catch_unwind(AssertUnwindSafe(|| ENTERED.set((host, rt), f)));
        drop((reachable, pending));
        self.rt.depth = depth;
        self.after_callback();
        outcome.unwrap_or_else(|payload| resume_unwind(payload))
    }
}

impl<H> Access<H> {
    /// The same access, bound to another world or to none.
    ///
    /// ```
    /// # use sc_core::{AccessError, Runtime, WorldKind};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// let level = cx.create_world(WorldKind::Game).ok();
    /// let access = cx.access().in_world(level);
    /// let seen = cx.enter(|| access.with(|cx| cx.world()))?;
    /// assert_eq!(seen, level);
    /// # Ok::<(), AccessError>(())
    /// ```
    #[must_use]
    pub fn in_world(&self, world: Option<WorldId>) -> Self {
        Access {
            inbox: Arc::clone(&self.inbox),
            world,
        }
    }

    /// Calls `f` with host and runtime. `cx.world()` is the access's world, `cx.delta()` how far its
    /// `Game` clock moved in this frame.
    ///
    /// # Errors
    /// [`AccessError`]; `f` was not called.
    pub fn with<R>(&self, f: impl FnOnce(&mut Cx<'_, H>) -> R) -> Result<R, AccessError> {
        if !ENTERED.is_set() {
            return Err(if OUT.get() {
                AccessError::Nested
            } else {
                AccessError::OutOfScope
            });
        }
        ENTERED.with(|(host, rt)| {
            let _out = SetOut::to(true);
            let (Some(host), Some(rt)) = (host.downcast_mut(), rt.downcast_mut::<Runtime<H>>())
            else {
                return Err(AccessError::WrongRuntime);
            };
            if !Arc::ptr_eq(&rt.inbox, &self.inbox) {
                return Err(AccessError::WrongRuntime);
            }
            let world = self.world.and_then(|world| rt.worlds.get(world));
            let delta = world.map_or(0, |world| world.clocks.frame().get(Clock::Game));
            let scope = Scope {
                delta: Duration::from_nanos(delta),
                ..Scope::event(self.world, NOBODY)
            };
            // Noted also when `f` panics: what holds the access may catch that, and go on.
            let value = catch_unwind(AssertUnwindSafe(|| f(&mut Cx { host, rt, scope })));
            PENDING.with(|pending| pending.set(rt));
            Ok(value.unwrap_or_else(|payload| resume_unwind(payload)))
        })
    }

    /// Whether what the entered closure has done by now needs [`Cx::attend`] before the next
    /// callback: an executor then leaves [`Cx::enter`], and attends.
    ///
    /// ```
    /// # use sc_core::{Runtime, WorldKind};
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// let world = cx.create_world(WorldKind::Game)?;
    /// let access = cx.access();
    /// cx.enter(|| {
    ///     assert!(!access.must_attend());
    ///     access.with(|cx| cx.destroy_world(world))?;
    ///     assert!(access.must_attend());
    ///     Ok::<(), sc_core::Error>(())
    /// })?;
    /// assert!(!cx.is_world_alive(world)); // `enter` has attended.
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    #[must_use]
    pub fn must_attend(&self) -> bool {
        PENDING.with(|pending| pending.attention.get())
    }

    /// Whether lives have ended of which extensions were not told yet: what is bound to one asks
    /// [`Cx::is_living`] before its next callback.
    ///
    /// ```
    /// # use sc_core::{Extension, Runtime, Tickable, WorldKind};
    /// # struct Lamp;
    /// # impl Tickable<()> for Lamp {}
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// cx.install(Extension::new("light").on_lives_ended(|_, _| ()));
    /// let world = cx.create_world(WorldKind::Game)?;
    /// let lamp = cx.spawn_in(world, Lamp)?;
    /// let access = cx.access();
    /// cx.enter(|| {
    ///     assert!(!access.lives_ended());
    ///     drop(lamp);
    ///     assert!(access.lives_ended());
    /// });
    /// assert!(cx.lives_ended());
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    #[must_use]
    pub fn lives_ended(&self) -> bool {
        PENDING.with(|pending| pending.lives.get()) || self.inbox.any_dropped()
    }
}
