//! How flows are named.

use std::fmt;

/// Names a flow. Copyable, and inert once the flow has ended.
///
/// A slot is reused up to 2^32 times before a stale id could name a new flow of the same runtime.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

impl fmt::Debug for FlowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FlowId({}v{})", self.index, self.generation)
    }
}
