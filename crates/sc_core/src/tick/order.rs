//! The order within a group: initialization order, refined by prerequisites.
//!
//! Every object gets the next number when it is initialized. Where a prerequisite would tick
//! after its dependent, the *prerequisite* is pulled forward to just before the dependent, with
//! its own prerequisites; everybody else stays. So nobody's place depends on whether another is
//! enabled, and removing an object never reorders the rest.
//!
//! A pulled object shares the `major` number of the one it was pulled before, and `minor`
//! numbers order those that share one. Several prerequisites of one object that are all behind it
//! end up in the order in which they were declared. The model test says the same with a list that
//! is moved by hand.

use std::collections::BTreeMap;

use super::key::TickId;
use super::list::Label;
use super::slots::{Links, Slots, flag};
use super::{TickError, TickGroup};

#[derive(Debug, Default)]
pub(crate) struct Order {
    next: u64,
    /// Objects that share a major number, in order. Only where something was pulled.
    shared: BTreeMap<u64, Vec<u32>>,
}

impl Order {
    /// The next number of initialization.
    pub(crate) fn next(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// The object leaves the order (freed, or about to get a new label).
    pub(crate) fn forget(&mut self, slot: u32, label: Label) {
        if let Some(sharing) = self.shared.get_mut(&label.major) {
            sharing.retain(|&s| s != slot);
            if sharing.is_empty() {
                self.shared.remove(&label.major);
            }
        }
    }
}

impl<H> Slots<H> {
    /// Puts an object that is being initialized at the end of the order.
    pub(crate) fn order_last(&mut self, slot: u32) {
        let old = self.cold[slot as usize].label;
        self.order.forget(slot, old);
        let number = self.order.next();
        let cold = &mut self.cold[slot as usize];
        cold.initialization = number;
        cold.label = Label {
            major: number,
            minor: 0,
        };
    }

    /// Restores the order after `slot` was initialized, changed its group, or got a new
    /// prerequisite.
    pub(crate) fn enforce_order(&mut self, slot: u32) {
        let Some(links) = &self.cold[slot as usize].links else {
            return;
        };
        // Dependents that tick before it: it is pulled before the first of them.
        let first = links
            .dependents
            .iter()
            .filter(|id| self.ordered_together(slot, id.index))
            .min_by_key(|id| self.cold[id.index as usize].label)
            .map(|id| id.index);
        let mut work = Vec::new();
        match first {
            // Its own prerequisites follow it.
            Some(first) => work.push((slot, first)),
            None => self.push_prerequisites(slot, &mut work),
        }
        while let Some((pulled, before)) = work.pop() {
            if self.cold[pulled as usize].label > self.cold[before as usize].label {
                self.pull(pulled, before);
            }
            self.push_prerequisites_after(pulled, &mut work);
        }
    }

    fn push_prerequisites(&self, slot: u32, work: &mut Vec<(u32, u32)>) {
        if let Some(links) = &self.cold[slot as usize].links {
            let together = links
                .prerequisites
                .iter()
                .filter(|id| self.ordered_together(slot, id.index));
            // Last first: popped in the order in which they were declared.
            work.extend(together.rev().map(|id| (id.index, slot)));
        }
    }

    fn push_prerequisites_after(&self, slot: u32, work: &mut Vec<(u32, u32)>) {
        let from = work.len();
        self.push_prerequisites(slot, work);
        let own = self.cold[slot as usize].label;
        let mut index = from;
        while index < work.len() {
            if self.cold[work[index].0 as usize].label > own {
                index += 1;
            } else {
                work.remove(index);
            }
        }
    }

    /// Both initialized, in the same tick set and group: only then they have an order.
    fn ordered_together(&self, a: u32, b: u32) -> bool {
        let (ca, cb) = (&self.cold[a as usize], &self.cold[b as usize]);
        let alive = |slot| self.flags(slot) & (flag::INITIALIZED | flag::DEAD) == flag::INITIALIZED;
        alive(a) && alive(b) && ca.home == cb.home && ca.settings.group == cb.settings.group
    }

    fn pull(&mut self, pulled: u32, before: u32) {
        let old = self.cold[pulled as usize].label;
        self.order.forget(pulled, old);
        let major = self.cold[before as usize].label.major;
        let sharing = self
            .order
            .shared
            .entry(major)
            .or_insert_with(|| vec![before]);
        let at = sharing.iter().position(|&s| s == before).unwrap_or(0);
        sharing.insert(at, pulled);
        for (minor, &slot) in (0_u32..).zip(sharing.iter()) {
            self.cold[slot as usize].label = Label { major, minor };
        }
        let many = sharing.len();
        for index in 0..many {
            let sharing = self.order.shared.get(&major);
            if let Some(&slot) = sharing.and_then(|sharing| sharing.get(index)) {
                self.mark_dirty(slot);
            }
        }
    }

    /// Checks that `dependent` may tick after `prerequisite`, groups aside.
    pub(crate) fn check_prerequisite(
        &self,
        dependent: u32,
        prerequisite: u32,
    ) -> Result<(), TickError> {
        let (d, p) = (dependent as usize, prerequisite as usize);
        let initialized =
            |slot| self.flags(slot) & (flag::INITIALIZED | flag::DEAD) == flag::INITIALIZED;
        let worldless = |slot| self.has(slot, flag::WORLDLESS);
        let both = initialized(dependent) && initialized(prerequisite);
        if worldless(dependent) != worldless(prerequisite)
            || (both && self.cold[d].home != self.cold[p].home)
        {
            return Err(TickError::PrerequisiteElsewhere {
                object: self.name(dependent),
                prerequisite: self.name(prerequisite),
            });
        }
        if let Some(path) = self.path(prerequisite, dependent) {
            return Err(TickError::PrerequisiteCycle {
                path: self.path_text(dependent, &path),
            });
        }
        Ok(())
    }

    /// Checks that an object in `group` has no prerequisite in a later one, and is none for an
    /// object in an earlier one.
    pub(crate) fn check_groups(&self, slot: u32, group: TickGroup) -> Result<(), TickError> {
        let Some(links) = &self.cold[slot as usize].links else {
            return Ok(());
        };
        let group_of = |id: &TickId| self.cold[id.index as usize].settings.group;
        let alive = |id: &&TickId| !self.has(id.index, flag::DEAD);
        let mut prerequisites = links.prerequisites.iter().filter(alive);
        let mut dependents = links.dependents.iter().filter(alive);
        if let Some(later) = prerequisites.find(|id| group_of(id) > group) {
            return Err(TickError::PrerequisiteLater {
                object: self.name(slot),
                prerequisite: self.name(later.index),
            });
        }
        if let Some(earlier) = dependents.find(|id| group_of(id) < group) {
            return Err(TickError::PrerequisiteLater {
                object: self.name(earlier.index),
                prerequisite: self.name(slot),
            });
        }
        Ok(())
    }

    /// A path by names; where two objects on it share one, with their numbers.
    fn path_text(&self, dependent: u32, path: &[u32]) -> String {
        let named = |slot: u32| {
            let alike = |&other: &u32| other != slot && self.name(other) == self.name(slot);
            if path.iter().any(alike) {
                format!("{}#{slot}", self.name(slot))
            } else {
                self.name(slot)
            }
        };
        let path = std::iter::once(&dependent).chain(path);
        let names: Vec<String> = path.map(|&slot| named(slot)).collect();
        names.join(" -> ")
    }

    /// The way from one object through prerequisites to another, both included.
    fn path(&self, from: u32, to: u32) -> Option<Vec<u32>> {
        let mut seen = std::collections::BTreeSet::from([from]);
        let mut path = vec![(from, 0_usize)];
        while let Some(&mut (at, ref mut next)) = path.last_mut() {
            if at == to {
                return Some(path.into_iter().map(|(slot, _)| slot).collect());
            }
            let links = self.cold[at as usize].links.as_deref();
            let step = links.and_then(|l| l.prerequisites.get(*next));
            *next += 1;
            match step {
                Some(id) if self.has(id.index, flag::DEAD) => {}
                Some(id) if seen.insert(id.index) => path.push((id.index, 0)),
                Some(_) => {}
                None => {
                    path.pop();
                }
            }
        }
        None
    }

    pub(crate) fn link(&mut self, dependent: u32, prerequisite: u32) {
        let (d, p) = (self.id(dependent), self.id(prerequisite));
        let mut add =
            |at: u32, which: fn(&mut Links) -> &mut smallvec::SmallVec<[TickId; 2]>, id| {
                let list = which(self.cold[at as usize].links.get_or_insert_default());
                if !list.contains(&id) {
                    list.push(id);
                }
            };
        add(dependent, |l| &mut l.prerequisites, p);
        add(prerequisite, |l| &mut l.dependents, d);
        // Linked objects are kept singly.
        self.mark_dirty(dependent);
        self.mark_dirty(prerequisite);
    }

    pub(crate) fn unlink_pair(&mut self, dependent: u32, prerequisite: u32) {
        let (d, p) = (self.id(dependent), self.id(prerequisite));
        if let Some(links) = &mut self.cold[dependent as usize].links {
            links.prerequisites.retain(|id| *id != p);
        }
        if let Some(links) = &mut self.cold[prerequisite as usize].links {
            links.dependents.retain(|id| *id != d);
        }
        self.mark_dirty(dependent);
        self.mark_dirty(prerequisite);
    }
}
