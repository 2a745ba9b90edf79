//! A queue that costs a few instructions: the simulator passes a dozen of them for every host
//! write.
//!
//! `VecDeque` has a capacity of any size, and pays for it with a comparison and a subtraction at
//! each step. Here the capacity is a power of two and positions only grow.

/// First in, first out; grows on demand.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(
    from = "Vec<T>",
    into = "Vec<T>",
    bound(serialize = "T: Copy + Default + serde::Serialize"),
    bound(deserialize = "T: Copy + Default + serde::Deserialize<'de>")
)]
pub struct Ring<T> {
    /// Its length is a power of two, or 0.
    slots: Vec<T>,
    /// Positions of the first entry and behind the last one; a slot is a position modulo the length.
    head: usize,
    tail: usize,
}

impl<T: Copy + Default> From<Vec<T>> for Ring<T> {
    fn from(entries: Vec<T>) -> Self {
        let mut ring = Self::with_capacity(entries.len());
        entries.into_iter().for_each(|entry| ring.push_back(entry));
        ring
    }
}

impl<T: Copy + Default> From<Ring<T>> for Vec<T> {
    fn from(ring: Ring<T>) -> Self {
        (0..ring.len()).filter_map(|index| ring.get(index)).collect()
    }
}

impl<T: Copy + Default> Ring<T> {
    /// An empty ring with room for at least `capacity` entries.
    pub fn with_capacity(capacity: usize) -> Self {
        Self { slots: vec![T::default(); capacity.next_power_of_two()], head: 0, tail: 0 }
    }

    /// Entries.
    #[inline]
    pub fn len(&self) -> usize {
        self.tail.wrapping_sub(self.head)
    }

    /// Whether it has no entry.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.head == self.tail
    }

    #[inline]
    fn slot(&self, position: usize) -> usize {
        position & self.slots.len().wrapping_sub(1)
    }

    /// The first entry.
    #[inline]
    pub fn front(&self) -> Option<T> {
        if self.is_empty() { None } else { self.slots.get(self.slot(self.head)).copied() }
    }

    /// The place of the last entry.
    #[inline]
    pub fn back_mut(&mut self) -> Option<&mut T> {
        let last = self.len().checked_sub(1)?;
        self.get_mut(last)
    }

    /// The entry at `index`, counted from the first.
    #[inline]
    pub fn get(&self, index: usize) -> Option<T> {
        if index >= self.len() {
            return None;
        }
        self.slots.get(self.slot(self.head.wrapping_add(index))).copied()
    }

    /// The place of the entry at `index`, counted from the first.
    #[inline]
    pub fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        if index >= self.len() {
            return None;
        }
        let slot = self.slot(self.head.wrapping_add(index));
        self.slots.get_mut(slot)
    }

    /// Adds an entry behind the last.
    #[inline]
    pub fn push_back(&mut self, entry: T) {
        if self.len() == self.slots.len() {
            self.grow();
        }
        let slot = self.slot(self.tail);
        if let Some(place) = self.slots.get_mut(slot) {
            *place = entry;
        }
        self.tail = self.tail.wrapping_add(1);
    }

    /// Adds this entry so many times behind the last.
    pub fn push_copies(&mut self, entry: T, count: usize) {
        while self.slots.len() - self.len() < count {
            self.grow();
        }
        let begin = self.slot(self.tail);
        let until_end = count.min(self.slots.len() - begin);
        self.slots[begin..begin + until_end].fill(entry);
        self.slots[..count - until_end].fill(entry);
        self.tail = self.tail.wrapping_add(count);
    }

    /// Removes so many of the first entries, or all if it has fewer; the number of those removed.
    #[inline]
    pub fn discard(&mut self, count: usize) -> usize {
        let count = count.min(self.len());
        self.head = self.head.wrapping_add(count);
        count
    }

    /// Removes the first entry.
    #[inline]
    pub fn pop_front(&mut self) -> Option<T> {
        let entry = self.front()?;
        self.head = self.head.wrapping_add(1);
        Some(entry)
    }

    /// Adds an entry before those at the end that come after it.
    #[inline(never)]
    pub fn insert(&mut self, entry: T, comes_after: impl Fn(&T) -> bool) {
        self.push_back(entry);
        for at in (1..self.len()).rev() {
            let Some(before) = self.get(at - 1).filter(&comes_after) else { return };
            if let Some(place) = self.get_mut(at) {
                *place = before;
            }
            if let Some(place) = self.get_mut(at - 1) {
                *place = entry;
            }
        }
    }

    /// Adds an entry behind the last one that fits; false if none does, and nothing is added.
    pub fn insert_behind_last(&mut self, entry: T, fits: impl Fn(&T) -> bool) -> bool {
        let last = self.len();
        let Some(index) = (0..last).rev().find(|&at| self.get(at).as_ref().is_some_and(&fits))
        else {
            return false;
        };
        self.push_back(entry);
        for at in (index + 1..last).rev() {
            if let (Some(moved), Some(place)) = (self.get(at), self.get_mut(at + 1)) {
                *place = moved;
            }
        }
        if let Some(place) = self.get_mut(index + 1) {
            *place = entry;
        }
        true
    }

    /// Removes the first entry that is wanted, or `None` if there is none; the others keep their order.
    pub fn take(&mut self, is_wanted: impl Fn(&T) -> bool) -> Option<T> {
        let index =
            (0..self.len()).find(|&index| self.get(index).as_ref().is_some_and(&is_wanted))?;
        let taken = self.get(index);
        for index in (0..index).rev() {
            if let (Some(entry), Some(place)) = (self.get(index), self.get_mut(index + 1)) {
                *place = entry;
            }
        }
        self.head = self.head.wrapping_add(1);
        taken
    }

    #[cold]
    fn grow(&mut self) {
        let entries: Vec<T> = (0..self.len()).filter_map(|index| self.get(index)).collect();
        self.head = 0;
        self.tail = entries.len();
        let length = (2 * self.slots.len()).max(4);
        self.slots = entries;
        self.slots.resize(length, T::default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Rng;
    use std::collections::VecDeque;

    #[test]
    fn does_what_a_deque_does() {
        let mut rng = Rng::new(1);
        for capacity in [0, 1, 2, 3, 8] {
            let mut ring = Ring::with_capacity(capacity);
            let mut deque = VecDeque::new();
            for value in 0..10_000_u64 {
                // In long waves, so that it fills, grows and runs empty.
                if rng.chance(if value / 100 % 2 == 0 { 6 } else { 4 }, 10) {
                    ring.push_back(value);
                    deque.push_back(value);
                } else {
                    assert_eq!(ring.pop_front(), deque.pop_front());
                }
                if rng.chance(1, 50) {
                    let (more, fewer) = (rng.below(9), rng.below(9) as usize);
                    ring.push_copies(value, more as usize);
                    deque.extend((0..more).map(|_| value));
                    assert_eq!(ring.discard(fewer), deque.drain(..fewer.min(deque.len())).count());
                }
                if rng.chance(1, 20) {
                    let wanted = value.saturating_sub(rng.below(20));
                    let place = deque.iter().position(|&entry| entry == wanted);
                    let taken = place.and_then(|place| deque.remove(place));
                    assert_eq!(ring.take(|&entry| entry == wanted), taken);
                }
                if rng.chance(1, 40) {
                    let wanted = value.saturating_sub(rng.below(20));
                    let place = deque.iter().rposition(|&entry| entry <= wanted);
                    assert_eq!(
                        ring.insert_behind_last(value, |&entry| entry <= wanted),
                        place.is_some()
                    );
                    if let Some(place) = place {
                        deque.insert(place + 1, value);
                    }
                }
                if rng.chance(1, 40) {
                    let wanted = value.saturating_sub(rng.below(20));
                    let place = deque.iter().rposition(|&entry| entry <= wanted);
                    ring.insert(wanted, |&entry| entry > wanted);
                    deque.insert(place.map_or(0, |place| place + 1), wanted);
                }
                let index = rng.below(20) as usize;
                assert_eq!(ring.get(index), deque.get(index).copied());
                assert_eq!(ring.get_mut(index), deque.get_mut(index));
                assert_eq!((ring.len(), ring.front()), (deque.len(), deque.front().copied()));
                assert_eq!(ring.is_empty(), deque.is_empty());
            }
        }
    }
}
