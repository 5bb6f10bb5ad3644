//! The order of objects as a list that is moved by hand.
//!
//! Initialized last, placed last. A prerequisite that would tick after its dependent is pulled to
//! just before the first of its dependents, with its own prerequisites; everybody else stays.

#[derive(Debug, Default)]
pub struct Order(Vec<usize>);

impl Order {
    pub fn objects(&self) -> &[usize] {
        &self.0
    }

    pub fn place(&self, object: usize) -> usize {
        self.0.iter().position(|o| *o == object).unwrap()
    }

    pub fn put_last(&mut self, object: usize) {
        self.0.retain(|o| *o != object);
        self.0.push(object);
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
