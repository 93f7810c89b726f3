//! The host's counters of back edges.
//!
//! Problem: the host's fast path must be one decrement and one test, yet loops share counters by hashing.
//! Design: the counters are the host's array. Each says how many back edges may pass; the one after them
//! *fires*. The VM knows what each counter was last set to, so that the ticks that elapsed are credited to
//! whoever fires, and *pins* a counter to 0 while any loop that uses it has code. All counters start at 0
//! without being written, and the first back edge of each fires: memory of counters that no loop uses is
//! never touched. Counters of entries of functions are the same, one for each function, wherever the host has
//! them. Invariant: the sum of elapsed ticks over all counters of back edges is exactly the number of those
//! that the interpreter took.
//!
//! ```text
//! threshold 200:  0 -> fires, set to 198 -> 198 back edges pass -> fires: the loop has run 200 times
//! ```

use rustc_hash::{FxHashMap, FxHashSet};

/// The host's counters and what the VM last set them to.
pub(crate) struct Counters {
    start: *mut i32,
    /// So many lie there, in a row, and count back edges. The others have the numbers after these.
    in_row: usize,
    /// Those of entries, and their numbers.
    others: Vec<*mut i32>,
    numbers: FxHashMap<usize, usize>,
    /// By counter. Arrays, since zeros of these come without a word written.
    states: Vec<[u32; 2]>,
    /// Those in the row that were ever set.
    used: FxHashSet<usize>,
    spent: u64,
    /// Ticks from one firing to the next of a loop of which nothing else is known.
    pub initial: u32,
}

/// In a counter's state: at which back edge it fires, counted from when it was set. 0: it never was.
const SET_TO: usize = 0;
/// In a counter's state: how often it is pinned.
const PINS: usize = 1;

/// Ticks that a counter can be set to at most: all but one pass.
pub(crate) const MOST_TICKS: u32 = 1 << 31;

impl Counters {
    /// No counters yet; see [`Counters::attach`].
    pub fn new(initial: u32) -> Counters {
        Counters {
            start: std::ptr::null_mut(),
            in_row: 0,
            others: Vec::new(),
            numbers: FxHashMap::default(),
            states: Vec::new(),
            used: FxHashSet::default(),
            spent: 0,
            initial,
        }
    }

    /// Takes over the host's counters of back edges.
    ///
    /// # Safety
    /// `start` points to `count` counters that live as long as the VM and are only decremented by the host.
    pub unsafe fn attach(&mut self, start: *mut i32, count: usize) {
        assert!(!self.has_any(), "counters of back edges come first, and once");
        (self.start, self.in_row) = (start, count);
        self.states = vec![[0; 2]; count];
    }

    /// Whether there are any. They have numbers, which locations keep.
    pub fn has_any(&self) -> bool {
        !self.states.is_empty()
    }

    /// Takes over a counter of entries, if it is not known yet. It is 0 or below.
    ///
    /// # Safety
    /// It lives until it is dropped, or as long as the VM, and is only decremented by the host.
    pub unsafe fn adopt(&mut self, counter: *mut i32) {
        if self.index(counter).is_none() {
            self.numbers.insert(counter as usize, self.states.len());
            self.others.push(counter);
            self.states.push([0; 2]);
        }
    }

    /// A counter of entries will soon be gone. No trace begins at its locations any more.
    pub fn abandon(&mut self, counter: *const i32) {
        let Some(index) = self.numbers.remove(&(counter as usize)) else { return };
        // The last one gets its number.
        let last = self.states.len() - 1;
        self.states.swap_remove(index);
        self.others.swap_remove(index - self.in_row);
        if index != last {
            self.numbers.insert(self.others[index - self.in_row] as usize, index);
        }
    }

    /// The number of the one that was adopted last.
    pub fn last(&self) -> usize {
        self.states.len().saturating_sub(1)
    }

    /// Whether this counter counts entries.
    pub fn is_of_entries(&self, index: usize) -> bool {
        index >= self.in_row
    }

    /// Where it lies.
    fn place(&self, index: usize) -> *mut i32 {
        match index.checked_sub(self.in_row) {
            Some(other) => self.others[other],
            None => self.start.wrapping_add(index),
        }
    }

    /// Ticks of a counter are accounted for.
    fn spend(&mut self, index: usize, ticks: u64) {
        if !self.is_of_entries(index) {
            self.spent += ticks;
        }
    }

    /// Which of them it is.
    pub fn index(&self, counter: *const i32) -> Option<usize> {
        let offset = (counter as usize).wrapping_sub(self.start as usize);
        let index = offset / size_of::<i32>();
        if index < self.in_row {
            return Some(index);
        }
        self.numbers.get(&(counter as usize)).copied()
    }

    /// Whether it is one of them.
    pub fn owns(&self, counter: *const i32) -> bool {
        self.index(counter).is_some()
    }

    /// Back edges that pass before the counter fires, from when it was set.
    fn passing(&self, index: usize) -> u32 {
        self.states[index][SET_TO].saturating_sub(1)
    }

    /// Back edges that have passed since then.
    pub fn passed(&self, index: usize) -> u64 {
        // SAFETY: the index is below the number of counters, which live as long as they are known (see
        // `attach` and `adopt`).
        let left = unsafe { self.place(index).read() };
        u64::from(self.passing(index).wrapping_sub(left as u32))
    }

    /// Whether a trace begins at a loop with this counter.
    pub fn is_pinned(&self, index: usize) -> bool {
        self.states[index][PINS] > 0
    }

    /// The counter has fired: the back edges since it was set, this one among them, are accounted for.
    pub fn take(&mut self, index: usize) -> u64 {
        let ticks = u64::from(self.passing(index)) + 1;
        self.spend(index, ticks);
        ticks
    }

    /// The counter is to fire at the back edge of that number from now on.
    pub fn set(&mut self, index: usize, ticks: u32) {
        if self.states[index][SET_TO] == 0 && !self.is_of_entries(index) {
            self.used.insert(index);
        }
        self.states[index][SET_TO] = ticks.clamp(1, MOST_TICKS);
        // SAFETY: as in `passed`.
        unsafe { self.place(index).write(self.passing(index) as i32) };
    }

    /// Whether that was the first back edge of a counter, and no loop is hot yet: most loops of a program run
    /// too few times to be remembered.
    pub fn starts(&mut self, index: usize) -> bool {
        let starts = self.states[index][SET_TO] == 0 && self.initial > 1;
        if starts {
            self.set(index, self.initial);
            // SAFETY: as in `passed`. This back edge is one of those that pass.
            unsafe { *self.place(index) -= 1 };
        }
        starts
    }

    /// Makes a counter fire after so many more back edges, if that is sooner. Those that have passed stay
    /// counted.
    pub fn hasten(&mut self, index: usize, ticks: u32) {
        // SAFETY: as in `passed`.
        let left = unsafe { self.place(index).read() } as u32;
        if left > ticks && self.passing(index) >= left {
            self.states[index][SET_TO] -= left - ticks;
            // SAFETY: as in `passed`.
            unsafe { self.place(index).write(ticks as i32) };
        }
    }

    /// Back edges that the interpreter took.
    pub fn ticks(&self) -> u64 {
        self.spent + self.used.iter().map(|&index| self.passed(index)).sum::<u64>()
    }

    /// Whether every back edge with this counter takes the slow path.
    pub fn is_pinned_at(&self, counter: *const i32) -> bool {
        self.index(counter).is_some_and(|index| self.is_pinned(index) && self.passing(index) == 0)
    }

    /// A pinned counter, which is one of them, has fired, and stays pinned.
    #[inline]
    pub fn fire_again(&mut self, counter: *const i32) {
        let offset = (counter as usize).wrapping_sub(self.start as usize);
        let is_of_back_edges = offset < self.in_row * size_of::<i32>();
        self.spent += u64::from(is_of_back_edges);
        // SAFETY: as in `passed`.
        unsafe { counter.cast_mut().write(0) };
    }

    /// A loop with this counter is gone. The next one that has it is to be looked at as early as any, and not
    /// after what the old one had still to count.
    pub fn renew(&mut self, index: usize) {
        if self.is_of_entries(index) || self.is_pinned(index) || self.states[index][SET_TO] == 0 {
            return;
        }
        self.spend(index, self.passed(index));
        self.states[index][SET_TO] = 0;
        // SAFETY: as in `passed`.
        unsafe { self.place(index).write(0) };
    }

    /// Another trace begins at a loop with this counter: every back edge from now on takes the slow path.
    pub fn pin(&mut self, index: usize) {
        let Some(state) = self.states.get_mut(index) else { return };
        state[PINS] += 1;
        self.spend(index, self.passed(index));
        self.set(index, 1);
    }

    /// The same for a counter that has just fired: its ticks are accounted for, and it is set next.
    pub fn pin_fired(&mut self, index: usize) {
        if let Some(state) = self.states.get_mut(index) {
            state[PINS] += 1;
        }
    }

    /// Such a trace is gone, or rests.
    pub fn unpin(&mut self, index: usize) {
        if let Some(state) = self.states.get_mut(index) {
            state[PINS] = state[PINS].saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_renewed_counter_starts_as_a_new_one() {
        let mut row = [0; 2];
        let mut counters = Counters::new(2000);
        // SAFETY: the counters live as long as `row`, and nobody else decrements them.
        unsafe { counters.attach(row.as_mut_ptr(), 2) };
        assert!(counters.starts(0) && !counters.starts(0));
        row[0] -= 40;
        assert_eq!(counters.ticks(), 41);
        counters.renew(0);
        assert_eq!((row[0], counters.ticks()), (0, 41));
        assert!(counters.starts(0));
        assert_eq!(counters.ticks(), 42);
        counters.pin(0);
        counters.renew(0);
        assert!(!counters.starts(0), "the code of others begins there");
    }

    /// To look at all of them would touch 48 pages of memory, and take 10 us.
    #[test]
    fn counters_that_no_loop_uses_are_not_looked_at() {
        let mut row = vec![0; 1000];
        let mut counters = Counters::new(2000);
        // SAFETY: the counters live as long as `row`, and nobody else decrements them.
        unsafe { counters.attach(row.as_mut_ptr(), 1000) };
        assert!(counters.starts(7));
        row[7] -= 3;
        row[8] = -100;
        assert_eq!(counters.ticks(), 4);
        counters.renew(7);
        assert!(counters.starts(7));
        assert_eq!((counters.ticks(), counters.used.len()), (5, 1));
    }

    #[test]
    fn a_hastened_counter_counts_what_has_passed() {
        let mut row = [0; 2];
        let start = row.as_mut_ptr();
        let mut counters = Counters::new(10);
        // SAFETY: the row lives as long as the counters.
        unsafe { counters.attach(start, 2) };
        assert!(counters.starts(0));
        counters.hasten(0, 3);
        counters.hasten(0, 5);
        // SAFETY: as above.
        assert_eq!(unsafe { *start }, 3, "three pass and the next one fires");
        assert_eq!(counters.ticks(), 1);
        assert_eq!(counters.take(0), 5, "they have passed, and the one that fires");
        counters.set(0, 7);
        assert_eq!(counters.ticks(), 5);
    }

    #[test]
    fn counters_of_entries_keep_their_own_numbers() {
        let mut row = [0; 2];
        let mut others = [0; 3];
        let mut counters = Counters::new(10);
        let places: Vec<*mut i32> = others.iter_mut().map(|other| &raw mut *other).collect();
        // SAFETY: all of them live as long as the counters.
        unsafe {
            counters.attach(row.as_mut_ptr(), row.len());
            places.iter().chain(&places[..1]).for_each(|&place| counters.adopt(place));
        }
        let numbers =
            |counters: &Counters| -> Vec<_> { places.iter().map(|&at| counters.index(at)).collect() };
        assert_eq!(numbers(&counters), [Some(2), Some(3), Some(4)]);
        assert!(!counters.is_of_entries(1) && counters.is_of_entries(2));
        counters.set(4, 7);
        counters.pin(3);
        counters.take(4);
        assert_eq!(counters.ticks(), 0, "entries are no back edges");
        counters.abandon(places[0]);
        assert_eq!(numbers(&counters), [None, Some(3), Some(2)], "the last one gets the number");
        assert!(counters.is_pinned(3) && !counters.is_pinned(2));
        counters.set(2, 5);
        // SAFETY: as above.
        assert_eq!(unsafe { [*places[0], *places[1], *places[2]] }, [0, 0, 4]);
    }
}
