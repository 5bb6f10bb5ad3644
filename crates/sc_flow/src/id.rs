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

impl FlowId {
    /// No flow's.
    pub(crate) const NOBODY: FlowId = FlowId {
        index: u32::MAX,
        generation: 0,
    };

    /// The id of a [word](Self::word).
    #[allow(clippy::cast_possible_truncation)]
    pub(crate) fn of_word(word: u64) -> Self {
        FlowId {
            index: word as u32,
            generation: (word >> 32) as u32,
        }
    }

    /// Both numbers in one, to compare in one step.
    #[inline]
    pub(crate) fn word(self) -> u64 {
        u64::from(self.index) | u64::from(self.generation) << 32
    }
}

impl fmt::Debug for FlowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FlowId({}v{})", self.index, self.generation)
    }
}
