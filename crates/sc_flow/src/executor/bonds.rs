//! What is bound to the lives of objects: found by life when one ends, in order of binding.

use rustc_hash::FxHashMap;
use sc_core::Life;

use crate::id::FlowId;

/// What a flow has to do with a life.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// It is the flow's owner's.
    Owner,
    /// A condition it waits for belongs to it.
    Condition,
}

/// One binding, by its place.
pub(crate) type Bond = u32;

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Link {
    life: Life,
    flow: FlowId,
    role: Role,
    previous: u32,
    next: u32,
}

/// A list a life, through one slab: to bind and to let go take constant time, and allocate nothing
/// after warm-up.
#[derive(Default)]
pub(crate) struct Bonds {
    links: Vec<Link>,
    free: Vec<u32>,
    /// The first and the last of a life.
    ends: FxHashMap<Life, (u32, u32)>,
}

impl Bonds {
    pub(crate) fn add(&mut self, life: Life, flow: FlowId, role: Role) -> Bond {
        let last = self.ends.get(&life).map_or(NONE, |&(_, last)| last);
        let link = Link {
            life,
            flow,
            role,
            previous: last,
            next: NONE,
        };
        let bond = match self.free.pop() {
            Some(bond) => {
                self.links[bond as usize] = link;
                bond
            }
            None => {
                self.links.push(link);
                u32::try_from(self.links.len() - 1).unwrap_or(NONE)
            }
        };
        if let Some(last) = self.links.get_mut(last as usize) {
            last.next = bond;
        }
        self.ends.entry(life).or_insert((bond, bond)).1 = bond;
        bond
    }

    pub(crate) fn remove(&mut self, bond: Bond) {
        let Some(&Link {
            life,
            previous,
            next,
            ..
        }) = self.links.get(bond as usize)
        else {
            return;
        };
        if let Some(previous) = self.links.get_mut(previous as usize) {
            previous.next = next;
        }
        if let Some(next) = self.links.get_mut(next as usize) {
            next.previous = previous;
        }
        if let Some(ends) = self.ends.get_mut(&life) {
            if ends.0 == bond {
                ends.0 = next;
            }
            if ends.1 == bond {
                ends.1 = previous;
            }
            if ends.0 == NONE {
                self.ends.remove(&life);
            }
        }
        self.free.push(bond);
    }

    /// Everything bound to a life, in order of binding.
    pub(crate) fn of(&self, life: Life) -> impl Iterator<Item = (FlowId, Role)> + '_ {
        let mut at = self.ends.get(&life).map_or(NONE, |&(first, _)| first);
        std::iter::from_fn(move || {
            let link = self.links.get(at as usize)?;
            at = link.next;
            Some((link.flow, link.role))
        })
    }
}

#[cfg(test)]
mod tests {
    use sc_core::testing::TestWorld;
    use sc_core::{Owner, Tickable};

    use super::*;

    struct Lamp;
    impl Tickable<()> for Lamp {}

    fn flow(index: u32) -> FlowId {
        FlowId {
            index,
            generation: 0,
        }
    }

    fn of(bonds: &Bonds, life: Life) -> Vec<u32> {
        bonds.of(life).map(|(flow, _)| flow.index).collect()
    }

    #[test]
    fn each_life_has_its_own_in_order_of_binding() -> Result<(), sc_core::Error> {
        let mut t = TestWorld::new(());
        let world = t.world;
        let lamps: Result<Vec<Owner<Lamp>>, _> =
            (0..2).map(|_| t.cx().spawn_in(world, Lamp)).collect();
        let lamps = lamps?;
        let (a, b) = (t.cx().life(&lamps[0])?, t.cx().life(&lamps[1])?);
        let mut bonds = Bonds::default();
        let made: Vec<Bond> = (0..6)
            .map(|i| bonds.add(if i % 2 == 0 { a } else { b }, flow(i), Role::Owner))
            .collect();
        assert_eq!(
            (of(&bonds, a), of(&bonds, b)),
            (vec![0, 2, 4], vec![1, 3, 5])
        );
        bonds.remove(made[2]);
        bonds.remove(made[0]);
        assert_eq!(of(&bonds, a), [4]);
        bonds.add(a, flow(9), Role::Condition);
        assert_eq!(of(&bonds, a), [4, 9]);
        bonds.remove(made[4]);
        assert_eq!(of(&bonds, a), [9]);
        for i in [1, 3, 5] {
            bonds.remove(made[i]);
        }
        assert_eq!(of(&bonds, b), [0; 0]);
        Ok(())
    }
}
