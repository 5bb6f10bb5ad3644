//! The order of objects as a list that is moved by hand.
//!
//! Initialized last, placed last. A prerequisite that would tick after its dependent is pulled to
//! just before the first of its dependents, with its own prerequisites; everybody else stays.

/// What has a place in the order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Item {
    Object(usize),
    /// A typed batch, just behind the one that was its first member when it came to be.
    Batch(usize),
}

#[derive(Debug, Default)]
pub struct Order(Vec<Item>);

impl Order {
    pub fn items(&self) -> &[Item] {
        &self.0
    }

    pub fn place(&self, object: usize) -> usize {
        let item = Item::Object(object);
        self.0.iter().position(|i| *i == item).unwrap()
    }

    pub fn put_last(&mut self, object: usize) {
        self.0.retain(|i| *i != Item::Object(object));
        self.0.push(Item::Object(object));
    }

    /// Behind its first member, and behind those of `others` that lie there already.
    pub fn put_behind(&mut self, batch: usize, first: usize, others: &[usize]) {
        let mut at = self.place(first) + 1;
        while let Some(Item::Batch(there)) = self.0.get(at)
            && others.contains(there)
        {
            at += 1;
        }
        self.0.insert(at, Item::Batch(batch));
    }

    /// Restores the order after `object` was initialized, moved to another group, or got a
    /// prerequisite. `prerequisites` and `dependents` give those that are ordered with an object:
    /// active in the same world and group.
    pub fn enforce(
        &mut self,
        object: usize,
        dependents: &[usize],
        prerequisites: &dyn Fn(usize) -> Vec<usize>,
    ) {
        let first = dependents.iter().map(|d| self.place(*d)).min();
        if let Some(first) = first
            && first < self.place(object)
        {
            self.pull(object, first);
        }
        self.pull_prerequisites(object, prerequisites);
    }

    fn pull_prerequisites(&mut self, of: usize, prerequisites: &dyn Fn(usize) -> Vec<usize>) {
        for prerequisite in prerequisites(of) {
            let (place, before) = (self.place(prerequisite), self.place(of));
            if place > before {
                self.pull(prerequisite, before);
                self.pull_prerequisites(prerequisite, prerequisites);
            }
        }
    }

    fn pull(&mut self, object: usize, to: usize) {
        let from = self.place(object);
        self.0[to..=from].rotate_right(1);
    }
}
