//! The bodies of flows, apart from everything else about them: what a turn takes out and puts
//! back, reachable without the runtime.

use std::cell::RefCell;

use super::Body;

/// By slot. `None` while a flow runs, and where there is none.
pub(crate) struct Bodies<H: 'static>(RefCell<Vec<Option<Body<H>>>>);

impl<H> Default for Bodies<H> {
    fn default() -> Self {
        Bodies(RefCell::default())
    }
}

impl<H> Bodies<H> {
    pub(crate) fn take(&self, slot: u32) -> Option<Body<H>> {
        self.0.borrow_mut().get_mut(slot as usize)?.take()
    }

    pub(crate) fn put(&self, slot: u32, body: Body<H>) {
        let bodies = &mut *self.0.borrow_mut();
        match bodies.get_mut(slot as usize) {
            // Nothing but this puts a body there while it is out: there is none to drop.
            Some(place) => std::mem::forget(place.replace(body)),
            None => {
                bodies.resize_with(slot as usize, || None);
                bodies.push(Some(body));
            }
        }
    }

    pub(crate) fn is_out(&self, slot: u32) -> bool {
        let bodies = self.0.borrow();
        bodies.get(slot as usize).is_none_or(Option::is_none)
    }

    /// Looks at a body that is in its place. `f` must not call user code.
    pub(crate) fn look<R>(&self, slot: u32, f: impl FnOnce(&Body<H>) -> R) -> Option<R> {
        self.0.borrow().get(slot as usize)?.as_ref().map(f)
    }
}
