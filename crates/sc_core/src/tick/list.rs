//! The ordered list of one tick group: who ticks every frame, in order. Changes are gathered and
//! applied between passes, so that a pass walks a plain slice.

/// An object's place in the order of its group: the number of its initialization, refined
/// where a prerequisite pulled it forward (see `order.rs`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Label {
    pub(crate) major: u64,
    pub(crate) minor: u32,
}

/// An object in a list: its label and its slot, packed into 16 bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Entry {
    major: u64,
    minor: u32,
    pub(crate) slot: u32,
}

impl Entry {
    pub(crate) fn new(Label { major, minor }: Label, slot: u32) -> Self {
        Entry { major, minor, slot }
    }

    pub(crate) fn label(&self) -> Label {
        Label {
            major: self.major,
            minor: self.minor,
        }
    }
}

/// Sorted by label, then slot: a batch shares the label of its first row.
#[derive(Debug, Default)]
pub(crate) struct OrderedList {
    entries: Vec<Entry>,
    removed: Vec<Entry>,
    added: Vec<Entry>,
}

impl OrderedList {
    pub(crate) fn remove(&mut self, entry: Entry) {
        self.removed.push(entry);
    }

    pub(crate) fn add(&mut self, entry: Entry) {
        self.added.push(entry);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The list itself, for the length of a pass; give it back with `restore`.
    pub(crate) fn take(&mut self) -> Vec<Entry> {
        std::mem::take(&mut self.entries)
    }

    pub(crate) fn restore(&mut self, entries: Vec<Entry>) {
        self.entries = entries;
    }

    /// Applies the gathered changes: removals first, each of an entry that was there before.
    /// Costs the gathered changes, and one move of what lies behind the first of them.
    pub(crate) fn apply(&mut self) {
        if !self.removed.is_empty() {
            self.apply_removed();
        }
        if !self.added.is_empty() {
            self.apply_added();
        }
    }

    fn apply_removed(&mut self) {
        self.removed.sort_unstable();
        let mut write: Option<usize> = None;
        let mut read = 0;
        for entry in &self.removed {
            let Ok(at) = self.entries[read..].binary_search(entry) else {
                continue;
            };
            let at = read + at;
            match &mut write {
                None => write = Some(at),
                Some(write) => {
                    self.entries.copy_within(read..at, *write);
                    *write += at - read;
                }
            }
            read = at + 1;
        }
        if let Some(write) = write {
            let rest = self.entries.len() - read;
            self.entries.copy_within(read.., write);
            self.entries.truncate(write + rest);
        }
        self.removed.clear();
    }

    fn apply_added(&mut self) {
        self.added.sort_unstable();
        let mut end = self.entries.len();
        self.entries.extend_from_slice(&self.added);
        // From the back: the largest new entry takes its place first.
        for (before, &entry) in self.added.iter().enumerate().rev() {
            let at = self.entries[..end].partition_point(|e| *e < entry);
            self.entries.copy_within(at..end, at + before + 1);
            self.entries[at + before] = entry;
            end = at;
        }
        self.added.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(major: u64) -> Entry {
        Entry::new(Label { major, minor: 0 }, major as u32)
    }

    fn list(of: &[u64]) -> OrderedList {
        let mut l = OrderedList::default();
        for &m in of {
            l.add(entry(m));
        }
        l.apply();
        l
    }

    fn majors(l: &OrderedList) -> Vec<u64> {
        l.entries.iter().map(|e| e.major).collect()
    }

    #[test]
    fn additions_are_merged_in_order() {
        let mut l = list(&[5, 1, 9]);
        for m in [0, 6, 7, 10] {
            l.add(entry(m));
        }
        l.apply();
        assert_eq!(majors(&l), [0, 1, 5, 6, 7, 9, 10]);
    }

    #[test]
    fn removal_keeps_the_rest_in_order() {
        let mut l = list(&[1, 2, 3, 4, 5, 6]);
        for m in [5, 1, 4] {
            l.remove(entry(m));
        }
        l.apply();
        assert_eq!(majors(&l), [2, 3, 6]);
    }

    #[test]
    fn a_moved_entry_is_removed_and_added_in_one_go() {
        let mut l = list(&[1, 2, 3]);
        l.remove(entry(1));
        l.add(entry(4));
        l.apply();
        assert_eq!(majors(&l), [2, 3, 4]);
    }
}
