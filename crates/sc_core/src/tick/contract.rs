//! The contract of a tickable object.

use std::any::Any;
use std::borrow::Cow;

use super::TickSettings;
use crate::cx::Cx;

/// An object that ticks and is neither an entity nor a component: it has a life of its own,
/// owned by an [`Owner`](crate::Owner).
///
/// Constructing one registers nothing. Its life:
///
/// | state | entered by | left by |
/// | --- | --- | --- |
/// | uninitialized | [`Cx::spawn`], a shutdown, the end of its world, a panic in one of its events | initialize; dropping the owner |
/// | initialized | [`Cx::initialize`], [`Cx::spawn_in`]: the initialize event runs in that call; the first tick comes in the next pass | [`Cx::shutdown`], the end of its world: the shutdown event runs, once |
/// | dead | dropping the owner | in the next `End`: reported if it was initialized, then dropped |
///
/// Every event may do anything to the runtime: the object is moved out of its slot while it
/// runs, so that only the object itself is out of reach (`Err(Running)`).
///
/// ```
/// use sc_core::{Cx, Runtime, Tickable, WorldKind, secs};
/// struct Spinner { angle: f64 }
/// impl Tickable<u32> for Spinner {
///     fn tick(&mut self, cx: &mut Cx<'_, u32>) { self.angle += cx.delta_secs() * 90.0; }
///     fn shutdown(&mut self, cx: &mut Cx<'_, u32>) { *cx.host_mut() += 1; }
/// }
/// let (mut rt, mut score) = (Runtime::new(), 0_u32);
/// let mut cx = rt.cx(&mut score);
/// let level = cx.create_world(WorldKind::Game)?;
/// let spinner = cx.spawn_in(level, Spinner { angle: 0.0 })?;
/// rt.tick_secs(&mut score, 0.5)?;
/// let mut cx = rt.cx(&mut score);
/// assert_eq!(cx.get(spinner.key())?.angle, 45.0);
/// spinner.shutdown(&mut cx)?;
/// assert_eq!(score, 1);
/// # Ok::<(), sc_core::Error>(())
/// ```
pub trait Tickable<H: 'static>: Any {
    /// The initialize event. The object counts as initialized already.
    fn initialize(&mut self, cx: &mut Cx<'_, H>) {
        let _ = cx;
    }

    /// One tick. `cx.delta()` is the time since the last one: the frame's delta on the object's
    /// clock, or a multiple of its interval.
    fn tick(&mut self, cx: &mut Cx<'_, H>) {
        let _ = cx;
    }

    /// The shutdown event: the only one in which the object is torn down. Afterwards it may
    /// be initialized again.
    fn shutdown(&mut self, cx: &mut Cx<'_, H>) {
        let _ = cx;
    }

    /// What reports and lists call it; read once, when it is spawned. Any text: a report escapes
    /// control characters and shows an empty name as `(unnamed)`. Default: the type's name.
    fn name(&self) -> Cow<'static, str> {
        Cow::Borrowed(short_type_name::<Self>())
    }

    /// The settings it starts with; read once, when it is spawned.
    fn settings(&self) -> TickSettings {
        TickSettings::default()
    }
}

/// A type's name without its path: `Vec<u8>` of `alloc::vec::Vec<u8>`.
fn short_type_name<T: ?Sized>() -> &'static str {
    let full = std::any::type_name::<T>();
    let generics = full.find('<').unwrap_or(full.len());
    let start = full.get(..generics).and_then(|head| head.rfind("::"));
    start.and_then(|at| full.get(at + 2..)).unwrap_or(full)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_names_lose_their_path() {
        assert_eq!(short_type_name::<u8>(), "u8");
        assert_eq!(short_type_name::<String>(), "String");
        assert_eq!(short_type_name::<Vec<u8>>(), "Vec<u8>");
    }
}
