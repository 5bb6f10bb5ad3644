//! Ranges of allowed values, as text.

use std::ops::{Bound, RangeBounds};

use super::ConsoleArg;

/// Says a range in words.
pub(crate) struct RangeText;

impl RangeText {
    pub(crate) fn of<T: ConsoleArg>(range: &impl RangeBounds<T>) -> String {
        let above = match range.start_bound() {
            Bound::Included(least) => Some(format!("from {}", least.show())),
            Bound::Excluded(least) => Some(format!("above {}", least.show())),
            Bound::Unbounded => None,
        };
        let below = match range.end_bound() {
            Bound::Included(most) => Some(format!("up to {}", most.show())),
            Bound::Excluded(most) => Some(format!("below {}", most.show())),
            Bound::Unbounded => None,
        };
        let parts: Vec<String> = above.into_iter().chain(below).collect();
        parts.join(" ")
    }
}
