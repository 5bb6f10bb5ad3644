//! Slots: values by a number that is used again once its value is gone, and how often it was.

/// A value a slot.
pub(crate) struct Slots<T> {
    slots: Vec<Option<T>>,
    generations: Vec<u32>,
    free: Vec<u32>,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Slots {
            slots: Vec::new(),
            generations: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<T> Slots<T> {
    pub(crate) fn get(&self, slot: u32) -> Option<&T> {
        self.slots.get(slot as usize)?.as_ref()
    }

    pub(crate) fn get_mut(&mut self, slot: u32) -> Option<&mut T> {
        self.slots.get_mut(slot as usize)?.as_mut()
    }

    /// How many values a slot has lost so far.
    pub(crate) fn generation(&self, slot: u32) -> u32 {
        self.generations.get(slot as usize).copied().unwrap_or(0)
    }

    pub(crate) fn insert(&mut self, value: T) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.generations.push(0);
            u32::try_from(self.slots.len() - 1).unwrap_or(u32::MAX)
        });
        if let Some(place) = self.slots.get_mut(slot as usize) {
            *place = Some(value);
        }
        slot
    }

    pub(crate) fn remove(&mut self, slot: u32) -> Option<T> {
        let gone = self.slots.get_mut(slot as usize)?.take()?;
        if let Some(generation) = self.generations.get_mut(slot as usize) {
            *generation = generation.wrapping_add(1);
        }
        self.free.push(slot);
        Some(gone)
    }

    /// The first slot whose value fits.
    pub(crate) fn position(&self, fits: impl Fn(&T) -> bool) -> Option<u32> {
        let at = self
            .slots
            .iter()
            .position(|value| value.as_ref().is_some_and(&fits))?;
        u32::try_from(at).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_used_again_and_tells_so() {
        let mut slots = Slots::default();
        let (a, b) = (slots.insert('a'), slots.insert('b'));
        assert_eq!((slots.get(a), slots.get(b)), (Some(&'a'), Some(&'b')));
        assert_eq!(slots.remove(a), Some('a'));
        assert_eq!(slots.get(a), None);
        assert_eq!(slots.remove(a), None);
        assert_eq!((slots.generation(a), slots.generation(b)), (1, 0));
        assert_eq!(slots.insert('c'), a);
        assert_eq!(slots.position(|&value| value == 'c'), Some(a));
        assert_eq!(slots.position(|&value| value == 'a'), None);
        assert_eq!((slots.get(9), slots.generation(9)), (None, 0));
    }
}
