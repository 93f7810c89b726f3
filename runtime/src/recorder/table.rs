//! What is known of each slot, found by its number.
//!
//! Problem: each bytecode looks at several slots, and each snapshot at all that are live. Design: frames lie
//! one above the other, so their slots are numbers with few gaps: a vector, from the lowest slot that is
//! known of on. It grows at both ends, as a trace may return to frames below. Invariant: no gap is longer
//! than what a recording may name ([`super::MAX_SLOTS`], above and below the entry frame's base).
//!
//! ```text
//! 2: int i0, 5: nil      lowest 2, states [int i0, -, -, nil]
//! ```

use super::SlotState;

/// What is known of slots, which are numbered from the entry frame's base.
#[derive(Clone, Default, Debug)]
pub(super) struct Slots {
    lowest: i32,
    states: Vec<Option<SlotState>>,
}

impl Slots {
    fn index(&self, at: i32) -> Option<usize> {
        usize::try_from(at.checked_sub(self.lowest)?).ok()
    }

    /// What is known of a slot.
    pub fn get(&self, at: i32) -> Option<&SlotState> {
        self.states.get(self.index(at)?)?.as_ref()
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, at: i32) -> Option<&mut SlotState> {
        let index = self.index(at)?;
        self.states.get_mut(index)?.as_mut()
    }

    /// Whether anything is known of a slot.
    pub fn contains(&self, at: i32) -> bool {
        self.get(at).is_some()
    }

    /// The place of a slot, which is made if there is none.
    fn place(&mut self, at: i32) -> &mut Option<SlotState> {
        if self.states.is_empty() {
            self.lowest = at;
        }
        if at < self.lowest {
            let below = (self.lowest - at) as usize;
            self.states.splice(0..0, std::iter::repeat_n(None, below));
            self.lowest = at;
        }
        let index = (at - self.lowest) as usize;
        if index >= self.states.len() {
            self.states.resize(index + 1, None);
        }
        &mut self.states[index]
    }

    /// From now on this is known of a slot; what was before.
    pub fn insert(&mut self, at: i32, state: SlotState) -> Option<SlotState> {
        self.place(at).replace(state)
    }

    /// What is known of a slot; this, if nothing was.
    pub fn get_or_insert(&mut self, at: i32, state: SlotState) -> &mut SlotState {
        self.place(at).get_or_insert(state)
    }

    /// Nothing is known of a slot; what was before.
    pub fn remove(&mut self, at: i32) -> Option<SlotState> {
        let index = self.index(at)?;
        self.states.get_mut(index)?.take()
    }

    /// Nothing is known of slots from that one on that belong to pushed frames.
    pub fn remove_inner(&mut self, from: i32) {
        let first = self.index(from).unwrap_or(0);
        for place in self.states.iter_mut().skip(first) {
            if place.is_some_and(|state| state.inner) {
                *place = None;
            }
        }
    }

    /// What is known of all slots, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (i32, &SlotState)> {
        (self.lowest..).zip(&self.states).filter_map(|(at, state)| Some((at, state.as_ref()?)))
    }

    /// The same, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (i32, &mut SlotState)> {
        (self.lowest..).zip(&mut self.states).filter_map(|(at, state)| Some((at, state.as_mut()?)))
    }
}

#[cfg(test)]
mod tests {
    use tracelift_core::schema::TagId;

    use super::*;

    #[test]
    fn slots_are_found_by_number_and_told_in_order() {
        let mut slots = Slots::default();
        let state = |tag, inner| SlotState { tag: TagId(tag), inner, ..SlotState::default() };
        for (at, inner) in [(5, true), (-3, false), (9, true), (4, false)] {
            assert!(slots.insert(at, state(at as u32, inner)).is_none());
        }
        let numbers = |slots: &Slots| slots.iter().map(|(at, _)| at).collect::<Vec<_>>();
        assert_eq!(numbers(&slots), [-3, 4, 5, 9]);
        assert!([-4, -2, 0, 8, 10, i32::MIN, i32::MAX].iter().all(|&at| !slots.contains(at)));
        assert_eq!(slots.get(-3).unwrap().tag, TagId(-3i32 as u32));
        assert_eq!(slots.get_or_insert(4, state(1, true)).tag, TagId(4));
        slots.remove_inner(6);
        assert_eq!(numbers(&slots), [-3, 4, 5]);
        slots.remove_inner(-100);
        assert_eq!(numbers(&slots), [-3, 4]);
        assert!(slots.remove(4).is_some() && slots.remove(4).is_none() && slots.remove(100).is_none());
    }
}
