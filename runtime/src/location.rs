//! Locations: loop heads, how hot they are, and what has become of them.
//!
//! Problem: a loop should be recorded once it is hot, not again and again when that fails, and yet never be given up
//! for ever: programs change. Design: the host's counters (shared by hashing) fire the slow path, which finds the
//! location by its key and adds the elapsed ticks to its heat. An abort doubles the heat that the next attempt
//! needs, and that penalty halves again as the program runs on. Invariant: a location with code that does not
//! rest (`rest.rs`) has its counter pinned to 1, so that every back edge reaches the code.
//!
//! ```text
//!   cold --heat >= needed--> recording --closed--> compiled (up to `max_entries` entries)
//!     ^                          |
//!     '---- needed *= 2 ---------'  aborted
//! ```

use crate::abort::AbortReason;

/// The key of a location: an address that the host chooses, such as that of the loop head's bytecode.
pub type Key = usize;

/// Longest back-off, in back edges.
const MAX_PENALTY: u64 = 1 << 16;
/// Slow-path events of the whole VM after which a penalty halves.
const PENALTY_HALF_LIFE: u64 = 4096;

/// A loop head.
#[derive(Debug, Default)]
pub struct Location {
    /// Back edges seen since the last attempt.
    pub heat: u64,
    /// Extra heat that the next attempt needs, as of the event number `penalized_at`.
    penalty: u64,
    penalized_at: u64,
    /// Back edges since the last attempt, those before it was put off included.
    pub(crate) back_edges: u64,
    /// The heat that the next attempt needs, whatever the threshold and the penalty: see [`crate::starts`] and [`crate::budget`].
    pub(crate) drawn: Option<u64>,
    /// While its code rests: for how many back edges; see [`crate::rest`].
    pub(crate) resting: Option<u64>,
    /// Index of the host's counter that it uses, known since it was hot for the first time.
    pub counter: Option<usize>,
    /// Compiled entries: trace numbers.
    pub entries: Vec<u32>,
    /// Traces whose code is entered no more, but may still be on the host's stack.
    pub retired: Vec<u32>,
    /// A guard before the loop that stood for those of its iterations failed too often: no more of them.
    pub no_hoisting: bool,
    /// Back edges that found no entry for the slots' types since the last attempt.
    pub misses: u64,
    /// Operations of a recording that was too long to be compiled at once, else 0.
    pub(crate) ops: u64,
    /// How often it was left to the loop around it, although that one did not wait for its price: see [`crate::Vm::leave_to`].
    pub(crate) left: u32,
    /// Why the last attempt failed.
    pub last_abort: Option<AbortReason>,
    /// Attempts that were given up.
    pub aborts: u32,
}

impl Location {
    /// The heat at which the location is recorded, `now` being the number of slow-path events so far.
    pub fn needed(&self, threshold: u32, now: u64) -> u64 {
        if let Some(drawn) = self.drawn {
            return drawn;
        }
        let halvings = ((now - self.penalized_at) / PENALTY_HALF_LIFE).min(63);
        // Not a multiple of the iterations of a short loop each time: an attempt that starts with the last one fails.
        u64::from(threshold) + (self.penalty >> halvings) + u64::from(self.aborts % 8)
    }

    /// There is no time for an attempt now: the next one comes after so many back edges.
    pub fn postpone(&mut self, back_edges: u64) {
        self.drawn = Some(back_edges);
        self.heat = 0;
    }

    /// An attempt was given up: the next one needs more heat.
    pub fn penalize(&mut self, reason: AbortReason, threshold: u32, now: u64) {
        let halvings = ((now - self.penalized_at) / PENALTY_HALF_LIFE).min(63);
        let current = self.penalty >> halvings;
        self.penalty = (current * 2).clamp(u64::from(threshold).max(8), MAX_PENALTY);
        self.penalized_at = now;
        self.drawn = None;
        self.heat = 0;
        self.back_edges = 0;
        self.ops = 0;
        self.misses = 0;
        self.aborts += 1;
        self.last_abort = Some(reason);
    }

    /// An attempt succeeded: the penalty is forgotten.
    pub fn compiled(&mut self, trace: u32) {
        self.entries.push(trace);
        self.drawn = None;
        self.heat = 0;
        self.back_edges = 0;
        self.ops = 0;
        self.misses = 0;
        self.penalty = 0;
        self.last_abort = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn back_off_doubles_and_decays() {
        let mut location = Location::default();
        assert_eq!(location.needed(56, 0), 56);
        location.penalize(AbortReason::Abandoned, 56, 0);
        assert_eq!(location.needed(56, 0), 56 + 56 + 1);
        location.penalize(AbortReason::Abandoned, 56, 1);
        assert_eq!(location.needed(56, 1), 56 + 112 + 2);
        for _ in 0..40 {
            location.penalize(AbortReason::Abandoned, 56, 1);
        }
        assert_eq!(location.needed(56, 1), 56 + MAX_PENALTY + 2, "capped, never for ever");
        assert_eq!(location.needed(56, 1 + PENALTY_HALF_LIFE), 56 + MAX_PENALTY / 2 + 2);
        assert_eq!(location.needed(56, 1 + 17 * PENALTY_HALF_LIFE), 56 + 2, "decayed");
    }

    #[test]
    fn success_forgets_the_penalty() {
        let mut location = Location::default();
        location.penalize(AbortReason::Unstable, 56, 7);
        location.ops = 99;
        location.compiled(3);
        assert_eq!(location.ops, 0, "the next recording is another one");
        assert_eq!(location.needed(56, 8), 56 + 1);
        assert!(location.last_abort.is_none());
    }
}
