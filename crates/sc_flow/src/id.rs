//! How flows are named.

use std::fmt;

/// Names a flow. Copyable, and inert once the flow has ended.
///
/// A slot is reused up to 2^32 times before a stale id could name a new flow of the same runtime. An id that
/// was [reserved](FlowId::reserve) is never given out again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

/// In the index: no slot, but an id that was reserved. The other 63 bits are its number.
const RESERVED: u32 = 1 << 31;

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

    /// The reserved id of a number.
    #[allow(clippy::cast_possible_truncation)]
    pub(crate) fn of_number(number: u64) -> Self {
        FlowId {
            index: RESERVED | (number >> 32) as u32,
            generation: number as u32,
        }
    }

    /// The number of a reserved id.
    fn number(self) -> u64 {
        u64::from(self.index & !RESERVED) << 32 | u64::from(self.generation)
    }

    /// Whether it was reserved: then it says nothing of a slot.
    #[inline]
    pub(crate) fn is_reserved(self) -> bool {
        self.index & RESERVED != 0
    }
}

impl fmt::Debug for FlowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_reserved() {
            write!(f, "FlowId(reserved {})", self.number())
        } else {
            write!(f, "FlowId({}v{})", self.index, self.generation)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reserved_id_is_its_number_and_no_slots() {
        for number in [0, 1, u64::from(u32::MAX), 1 << 32, (1 << 40) + 7] {
            let id = FlowId::of_number(number);
            assert!(id.is_reserved());
            assert_eq!(id.number(), number);
            assert_eq!(FlowId::of_word(id.word()), id);
        }
        let id = FlowId {
            index: 12,
            generation: u32::MAX,
        };
        assert!(!id.is_reserved());
        assert_eq!(format!("{id:?}"), "FlowId(12v4294967295)");
        let reserved = FlowId::of_number((1 << 32) + 5);
        assert_eq!(format!("{reserved:?}"), "FlowId(reserved 4294967301)");
    }
}
