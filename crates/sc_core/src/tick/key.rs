//! How objects are named and owned: ids, typed keys, and the RAII owner.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::num::NonZeroU32;
use std::sync::Arc;

use super::TickError;
use crate::cx::Cx;
use crate::inbox::OwnerSink;

/// Names an object whatever its type. Copyable, and inert once the object is gone.
///
/// A slot is reused up to 2^32 - 1 times and then retired, so a stale id never names another
/// object of the same runtime. Used with another runtime that lives at the same time, calls
/// answer [`TickError::WrongRuntime`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TickId {
    pub(crate) index: u32,
    pub(crate) generation: NonZeroU32,
    /// Tells runtimes that live at the same time from each other; no part of the hash, since it
    /// differs from one run of a program to the next.
    pub(crate) runtime: u32,
}

impl Hash for TickId {
    fn hash<S: Hasher>(&self, state: &mut S) {
        (self.index, self.generation).hash(state);
    }
}

impl TickId {
    /// A key that says of what type the object is. Checked when it is used: of another type, a
    /// call answers `Err(WrongType)`.
    ///
    /// ```
    /// # use sc_core::{Cx, Runtime, Tickable, TickKey, WorldKind};
    /// struct Lamp;
    /// impl Tickable<Option<TickKey<Lamp>>> for Lamp {
    ///     fn initialize(&mut self, cx: &mut Cx<'_, Option<TickKey<Lamp>>>) {
    ///         *cx.host_mut() = cx.current_object().map(|me| me.of_type());
    ///     }
    /// }
    /// # let (mut rt, mut host) = (Runtime::new(), None);
    /// # let mut cx = rt.cx(&mut host);
    /// # let world = cx.create_world(WorldKind::Game)?;
    /// let lamp = cx.spawn_in(world, Lamp)?;
    /// assert_eq!(*cx.host(), Some(lamp.key()));
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    #[must_use]
    pub fn of_type<T>(self) -> TickKey<T> {
        TickKey::new(self)
    }
}

impl fmt::Debug for TickId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TickId({}v{})", self.index, self.generation)
    }
}

/// Names an object of type `T`. Copyable, `Send + Sync`, and inert once the object is gone.
///
/// ```
/// use sc_core::{Runtime, Tickable, TickError};
/// struct Lamp;
/// impl Tickable<()> for Lamp {}
/// let mut rt = Runtime::<()>::new();
/// let mut host = ();
/// let mut cx = rt.cx(&mut host);
/// let owner = cx.spawn(Lamp);
/// let key = owner.key();
/// assert!(cx.get(key).is_ok());
/// drop(owner);
/// assert_eq!(cx.get(key).err(), Some(TickError::Gone));
/// ```
pub struct TickKey<T> {
    id: TickId,
    of: PhantomData<fn() -> T>,
}

impl<T> TickKey<T> {
    pub(crate) fn new(id: TickId) -> Self {
        TickKey {
            id,
            of: PhantomData,
        }
    }

    /// The same without the type.
    #[must_use]
    pub fn id(self) -> TickId {
        self.id
    }
}

impl<T> Clone for TickKey<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for TickKey<T> {}
impl<T> PartialEq for TickKey<T> {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}
impl<T> Eq for TickKey<T> {}
impl<T> Hash for TickKey<T> {
    fn hash<S: Hasher>(&self, state: &mut S) {
        self.id.hash(state);
    }
}
impl<T> fmt::Debug for TickKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.id.fmt(f)
    }
}

/// Owns an object: while it lives, the object does. `Send + Sync`, so that it can live in a
/// component or on another thread.
///
/// Call [`shutdown`](Owner::shutdown) before it goes. An owner dropped while its object is
/// initialized marks the object dead: no callback of it runs any more, from any place; the next
/// `End` reports it by name and drops it on the game thread. Its shutdown event does not run, unless
/// the shutdown was asked for before, while the object was running: then it is still owed.
///
/// ```
/// use sc_core::{Runtime, Tickable, WorldKind};
/// struct Lamp;
/// impl Tickable<()> for Lamp {}
/// let mut rt = Runtime::<()>::new();
/// let mut host = ();
/// let mut cx = rt.cx(&mut host);
/// let world = cx.create_world(WorldKind::Game)?;
/// let lamp = cx.spawn_in(world, Lamp)?;
/// assert!(lamp.shutdown(&mut cx)?);
/// assert!(!lamp.shutdown(&mut cx)?, "idempotent: nothing happens the second time");
/// # Ok::<(), sc_core::Error>(())
/// ```
#[must_use = "dropping the owner destroys the object"]
pub struct Owner<T> {
    key: TickKey<T>,
    then: OnDrop,
    sink: Arc<dyn OwnerSink>,
}

/// What becomes of an object when its owner is dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OnDrop {
    /// It is dead.
    Dies,
    /// It is shut down, and then dead.
    ShutsDown,
}

impl<T> Owner<T> {
    pub(crate) fn new(key: TickKey<T>, sink: Arc<dyn OwnerSink>) -> Self {
        Owner {
            key,
            then: OnDrop::Dies,
            sink,
        }
    }

    /// The same owner, the drop of which is a shutdown: for objects that end with what holds their
    /// owner, such as an entity with a component. From the drop on the object does not tick and what
    /// is bound to it is not called; its shutdown event runs between two callbacks, by the next stage
    /// or, if none follows, in this frame's `End` (between frames: in the next `Begin`). Nothing is
    /// reported.
    ///
    /// ```
    /// # use sc_core::{Cx, Runtime, Tickable, WorldKind};
    /// struct Lamp;
    /// impl Tickable<u32> for Lamp {
    ///     fn shutdown(&mut self, cx: &mut Cx<'_, u32>) { *cx.host_mut() += 1; }
    /// }
    /// # let (mut rt, mut shut_down) = (Runtime::<u32>::new(), 0);
    /// # let mut cx = rt.cx(&mut shut_down);
    /// # let world = cx.create_world(WorldKind::Game)?;
    /// let lamp = cx.spawn_in(world, Lamp)?.shutdown_on_drop();
    /// drop(lamp);
    /// let report = rt.tick_secs(&mut shut_down, 0.1)?;
    /// assert_eq!((shut_down, report.reports), (1, 0));
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    #[must_use = "dropping the owner destroys the object"]
    pub fn shutdown_on_drop(mut self) -> Self {
        self.then = OnDrop::ShutsDown;
        self
    }

    /// The object's key.
    #[must_use]
    pub fn key(&self) -> TickKey<T> {
        self.key
    }

    /// The object's id: its key without the type.
    #[must_use]
    pub fn id(&self) -> TickId {
        self.key.id
    }

    /// As [`Cx::shutdown`].
    ///
    /// ```
    /// # use sc_core::{Runtime, Tickable, WorldKind};
    /// # struct Lamp;
    /// # impl Tickable<()> for Lamp {}
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// # let world = cx.create_world(WorldKind::Game)?;
    /// let lamp = cx.spawn_in(world, Lamp)?;
    /// assert!(lamp.shutdown(&mut cx)?);
    /// assert!(!cx.is_initialized(&lamp));
    /// # Ok::<(), sc_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Cx::shutdown`].
    pub fn shutdown<H>(&self, cx: &mut Cx<'_, H>) -> Result<bool, TickError> {
        cx.shutdown(self.key)
    }
}

impl<T> Drop for Owner<T> {
    fn drop(&mut self) {
        self.sink.owner_dropped(self.key.id, self.then);
    }
}

impl<T> fmt::Debug for Owner<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Owner").field(&self.key.id).finish()
    }
}

impl<T> From<TickKey<T>> for TickId {
    fn from(key: TickKey<T>) -> Self {
        key.id
    }
}
impl<T> From<&Owner<T>> for TickId {
    fn from(owner: &Owner<T>) -> Self {
        owner.key.id
    }
}
impl<T> From<&Owner<T>> for TickKey<T> {
    fn from(owner: &Owner<T>) -> Self {
        owner.key
    }
}
