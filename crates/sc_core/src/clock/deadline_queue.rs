//! What waits: a queue that yields in the order of (deadline, sequence) and costs nothing for
//! what is not due.
//!
//! A hierarchical timing wheel. Eight levels of 64 buckets; a bucket of level 0 spans
//! 2^20 ns (about a millisecond), one of level n 64^n as much. An entry lies in the level of
//! the highest bits in which its deadline differs from the wheel's position, and moves down
//! when the position reaches its bucket, at most seven times in its life. Within the bucket in
//! which it falls due, entries are sorted, so that the order is exact to the nanosecond.
//! Buckets are lists through one slab: removal takes constant time, and after warm-up nothing
//! is allocated.

use std::mem;

/// log2 of a level-0 bucket's nanoseconds.
const BUCKET_SHIFT: u32 = 20;
/// log2 of the buckets of a level.
const LEVEL_BITS: u32 = 6;
const BUCKETS: usize = 1 << LEVEL_BITS;
/// 64 bits of nanoseconds, less the bucket's, in steps of six.
const LEVELS: usize = (u64::BITS - BUCKET_SHIFT).div_ceil(LEVEL_BITS) as usize;
const NIL: u32 = u32::MAX;

/// Names one entry of a [`DeadlineQueue`] until it is taken or removed; inert afterwards. A
/// slot is reused up to 2^32 times, after which a stale token could name a new entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DeadlineToken {
    index: u32,
    generation: u32,
}

#[derive(Clone, Debug)]
struct Node<T> {
    deadline: u64,
    sequence: u64,
    item: T,
    next: u32,
    prev: u32,
    /// `level * 64 + bucket`; `NIL` when the node is free.
    bucket: u32,
    generation: u32,
}

/// A queue ordered by (deadline, sequence): deadlines in nanoseconds of whatever clock the
/// owner of the queue reads, the sequence a number the caller gives to break ties.
///
/// ```
/// use sc_core::DeadlineQueue;
/// let mut queue = DeadlineQueue::new();
/// queue.insert(2_000_000, 1, "second");
/// queue.insert(2_000_000, 0, "first");
/// let never = queue.insert(1_000, 2, "removed");
/// queue.remove(never);
/// let mut due = Vec::new();
/// queue.take_due(1_999_999, &mut due);
/// assert!(due.is_empty());
/// queue.take_due(2_000_000, &mut due);
/// assert_eq!(due, ["first", "second"]);
/// ```
#[derive(Clone, Debug)]
pub struct DeadlineQueue<T> {
    nodes: Vec<Node<T>>,
    free: u32,
    len: usize,
    /// In buckets of level 0: the bucket of the last `take_due`.
    position: u64,
    /// The latest `now` so far.
    latest: u64,
    heads: Vec<u32>,
    occupied: [u64; LEVELS],
    /// Scratch of `take_due`: (deadline, sequence, node).
    bucket_due: Vec<(u64, u64, u32)>,
}

impl<T> Default for DeadlineQueue<T> {
    fn default() -> Self {
        Self {
            nodes: Vec::new(),
            free: NIL,
            len: 0,
            position: 0,
            latest: 0,
            heads: Vec::new(),
            occupied: [0; LEVELS],
            bucket_due: Vec::new(),
        }
    }
}

impl<T: Copy> DeadlineQueue<T> {
    /// An empty queue; allocates nothing until something waits in it.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many entries wait.
    ///
    /// ```
    /// # use sc_core::DeadlineQueue;
    /// let mut queue = DeadlineQueue::new();
    /// queue.insert(5, 0, 'a');
    /// assert_eq!(queue.len(), 1);
    /// ```
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds an entry, due as soon as `take_due` is called with `deadline` (ns) or later. One
    /// that lies in the past is due at the next call.
    pub fn insert(&mut self, deadline: u64, sequence: u64, item: T) -> DeadlineToken {
        if self.heads.is_empty() {
            self.heads = vec![NIL; LEVELS * BUCKETS];
        }
        let index = if self.free == NIL {
            let index = u32::try_from(self.nodes.len()).unwrap_or(NIL);
            self.nodes.push(Node {
                deadline,
                sequence,
                item,
                next: NIL,
                prev: NIL,
                bucket: NIL,
                generation: 0,
            });
            index
        } else {
            let index = self.free;
            let node = &mut self.nodes[index as usize];
            self.free = node.next;
            node.deadline = deadline;
            node.sequence = sequence;
            node.item = item;
            index
        };
        self.len += 1;
        self.link(index);
        DeadlineToken {
            index,
            generation: self.nodes[index as usize].generation,
        }
    }

    /// Takes an entry out before it is due; `None` for a stale token.
    pub fn remove(&mut self, token: DeadlineToken) -> Option<T> {
        let node = self.nodes.get(token.index as usize)?;
        if node.generation != token.generation || node.bucket == NIL {
            return None;
        }
        self.unlink(token.index);
        Some(self.release(token.index))
    }

    /// The deadline (ns) of a waiting entry; `None` for a stale token.
    #[must_use]
    pub fn deadline(&self, token: DeadlineToken) -> Option<u64> {
        let node = self.nodes.get(token.index as usize)?;
        (node.generation == token.generation && node.bucket != NIL).then_some(node.deadline)
    }

    /// Moves everything due at `now` (ns) to the end of `due`, in the order of (deadline,
    /// sequence). `now` must not go backwards; an earlier one counts as the latest so far.
    pub fn take_due(&mut self, now: u64, due: &mut Vec<T>) {
        let now = now.max(self.latest);
        self.latest = now;
        let target = now >> BUCKET_SHIFT;
        while let Some((level, bucket, start)) = self.next_bucket() {
            if start > target {
                break;
            }
            self.position = start;
            let mut index = self.take_bucket(level, bucket);
            if level == 0 {
                let mut scratch = mem::take(&mut self.bucket_due);
                while index != NIL {
                    let node = &mut self.nodes[index as usize];
                    let next = node.next;
                    if node.deadline <= now {
                        scratch.push((node.deadline, node.sequence, index));
                    } else {
                        self.link(index);
                    }
                    index = next;
                }
                scratch.sort_unstable();
                for (_, _, index) in scratch.drain(..) {
                    due.push(self.release(index));
                }
                self.bucket_due = scratch;
                if start == target {
                    break;
                }
            } else {
                while index != NIL {
                    let next = self.nodes[index as usize].next;
                    self.link(index);
                    index = next;
                }
            }
        }
        self.position = target;
    }

    /// The earliest bucket that holds anything, and its first level-0 bucket number.
    fn next_bucket(&self) -> Option<(usize, usize, u64)> {
        self.occupied.iter().enumerate().find_map(|(level, &bits)| {
            if bits == 0 {
                return None;
            }
            let shift = LEVEL_BITS * u32::try_from(level).unwrap_or(0);
            let here = (self.position >> shift) & (BUCKETS as u64 - 1);
            let ahead = bits & (u64::MAX << here);
            // Entries lie at or ahead of the position in their level, always.
            let bucket = u64::from(ahead.trailing_zeros().min(63));
            let above = (self.position >> shift) & !(BUCKETS as u64 - 1);
            Some((level, bucket as usize, (above | bucket) << shift))
        })
    }

    fn take_bucket(&mut self, level: usize, bucket: usize) -> u32 {
        self.occupied[level] &= !(1 << bucket);
        mem::replace(&mut self.heads[level * BUCKETS + bucket], NIL)
    }

    fn link(&mut self, index: u32) {
        let node = &mut self.nodes[index as usize];
        let at = (node.deadline >> BUCKET_SHIFT).max(self.position);
        let differing = u64::BITS - (at ^ self.position).leading_zeros();
        let level = differing.saturating_sub(1) / LEVEL_BITS;
        let bucket = ((at >> (level * LEVEL_BITS)) & (BUCKETS as u64 - 1)) as usize;
        let place = level as usize * BUCKETS + bucket;
        let head = mem::replace(&mut self.heads[place], index);
        node.bucket = place as u32;
        node.prev = NIL;
        node.next = head;
        if head != NIL {
            self.nodes[head as usize].prev = index;
        }
        self.occupied[level as usize] |= 1 << bucket;
    }

    fn unlink(&mut self, index: u32) {
        let Node {
            next, prev, bucket, ..
        } = self.nodes[index as usize];
        if next != NIL {
            self.nodes[next as usize].prev = prev;
        }
        if prev != NIL {
            self.nodes[prev as usize].next = next;
        } else {
            self.heads[bucket as usize] = next;
            if next == NIL {
                let bucket = bucket as usize;
                self.occupied[bucket / BUCKETS] &= !(1 << (bucket % BUCKETS));
            }
        }
    }

    fn release(&mut self, index: u32) -> T {
        let node = &mut self.nodes[index as usize];
        node.bucket = NIL;
        node.generation = node.generation.wrapping_add(1);
        node.next = self.free;
        self.free = index;
        self.len -= 1;
        node.item
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn order_is_deadline_then_sequence_within_a_bucket_too() {
        let mut q = DeadlineQueue::new();
        for (deadline, sequence) in [(700, 3), (100, 9), (700, 1), (5_000_000_000, 0), (0, 4)] {
            q.insert(deadline, sequence, (deadline, sequence));
        }
        let mut due = Vec::new();
        q.take_due(699, &mut due);
        assert_eq!(due, [(0, 4), (100, 9)]);
        q.take_due(u64::MAX, &mut due);
        assert_eq!(
            due,
            [(0, 4), (100, 9), (700, 1), (700, 3), (5_000_000_000, 0)]
        );
        assert!(q.is_empty());
    }

    #[test]
    fn a_stale_token_is_inert() {
        let mut q = DeadlineQueue::new();
        let a = q.insert(1, 0, 'a');
        assert_eq!(q.deadline(a), Some(1));
        q.take_due(1, &mut Vec::new());
        let b = q.insert(2, 0, 'b');
        assert_eq!((q.remove(a), q.deadline(a)), (None, None));
        assert_eq!(q.remove(b), Some('b'));
        assert_eq!(q.remove(b), None);
    }

    #[test]
    fn what_is_inserted_in_the_past_is_due_at_once() {
        let mut q = DeadlineQueue::new();
        let mut due = Vec::new();
        q.take_due(1 << 40, &mut due);
        q.insert(3, 0, 'x');
        q.take_due(1 << 40, &mut due);
        assert_eq!(due, ['x']);
    }

    #[test]
    fn an_earlier_now_counts_as_the_latest_so_far() {
        let mut q = DeadlineQueue::new();
        let mut due = Vec::new();
        q.take_due(2_000_000, &mut due);
        q.insert(1_900_000, 0, 'x');
        q.take_due(1_500_000, &mut due);
        assert_eq!(due, ['x']);
    }

    /// Against a sorted map, over steps from nanoseconds to years.
    #[test]
    fn agrees_with_a_sorted_map() {
        let mut random = 0x9E37_79B9_7F4A_7C15_u64;
        let mut next = move || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random
        };
        for _ in 0..200 {
            let mut q = DeadlineQueue::new();
            let mut model = BTreeMap::new();
            let mut now = 0_u64;
            for sequence in 0..200_u64 {
                match next() % 4 {
                    0 | 1 => {
                        let ahead = next() >> (next() % 64);
                        let deadline = now.saturating_add(ahead);
                        let token = q.insert(deadline, sequence, sequence);
                        model.insert((deadline, sequence), token);
                    }
                    2 => {
                        let pick = model.keys().nth((next() % 7) as usize).copied();
                        if let Some(key) = pick {
                            let token = model.remove(&key).unwrap();
                            assert_eq!(q.remove(token), Some(key.1));
                        }
                    }
                    _ => {
                        now = now.saturating_add(next() >> (next() % 64));
                        let mut due = Vec::new();
                        q.take_due(now, &mut due);
                        let later = model.split_off(&(now, u64::MAX));
                        let expected: Vec<u64> = model.keys().map(|k| k.1).collect();
                        model = later;
                        assert_eq!(due, expected);
                    }
                }
                assert_eq!(q.len(), model.len());
            }
        }
    }
}
