//! Locations: loop heads, how hot they are, and what has become of them.
//!
//! Problem: a loop should be recorded once it is hot, not again and again when that fails, and yet not be
//! given up at the first failure: programs change. Design: the host's counters (shared by hashing) fire the
//! slow path, which finds the location by its key and adds the elapsed ticks to its heat; its state says how
//! much heat it needs ([`crate::policy`]). Invariant: a location whose code is entered (its state is
//! `Compiled`) has its counter pinned to 0, so that every back edge reaches the code.
//!
//! Example: a loop that was given up for the third time because of one opcode is tried again after 1,600 back
//! edges.

use std::sync::atomic::AtomicU64;
use std::sync::Arc;

use crate::abort::AbortReason;
use crate::budget::Order;
use crate::hints::{Expected, Verdict};
pub use crate::ids::Key;
use crate::ids::{ExitPoint, TraceId};
use crate::pace::Pace;
use crate::pay::Pay;
use crate::policy::{after_eviction, Attempts, LoopState};
use crate::tunables::{AGAIN_AFTER_DECLINED, BACK_EDGES_PER_ENTRY, HINTED_BACK_EDGES, IN_VAIN};

/// A loop head, or an entry. So many fields: all that is known of one place in the program.
#[derive(Debug, Default)]
pub struct Location {
    /// What the host calls it, once that was asked for.
    pub(crate) place: Option<String>,
    /// What has become of it.
    pub(crate) state: LoopState,
    /// Whether it is no loop's head, but a place where functions are entered, or go on after a call.
    pub(crate) is_entry: bool,
    /// The location whose code goes on here, and leads to the interpreter as long as there is no code.
    pub(crate) wanted_by: Option<Key>,
    /// Back edges seen since it came into this state.
    pub(crate) heat: u64,
    /// Back edges since the last attempt, those before it was put off included.
    pub(crate) back_edges: u64,
    /// How old the program was when these began.
    pub(crate) rent_since: u64,
    /// Back edges that were interpreted, in all.
    pub(crate) interpreted: u64,
    /// Iterations and calls that traces which are gone have counted.
    pub(crate) counted: [u64; 2],
    /// Nanoseconds in code that was entered here; see [`crate::sampling`].
    pub(crate) machine_ns: f64,
    /// What that code has gained, as far as it can be believed.
    pub(crate) gained: f64,
    /// What earlier runs say of it.
    pub(crate) expected: Expected,
    /// A test aid draws the heat that the next attempt needs: see [`crate::starts`].
    pub(crate) drawn: Option<u64>,
    /// Index of the host's counter that it uses, known since it was hot for the first time.
    pub(crate) counter: Option<usize>,
    /// Compiled entries.
    pub(crate) entries: Vec<TraceId>,
    /// How many slots these may need, for code that goes on here from frames below.
    pub(crate) room: Option<Arc<AtomicU64>>,
    /// Traces whose code is entered no more, but may still be on the host's stack.
    pub(crate) discarded: Vec<TraceId>,
    /// A guard before the loop that stood for those of its iterations failed too often: no more of them.
    pub(crate) no_hoisting: bool,
    /// It has gone round often enough for a preamble, however long it is.
    pub(crate) is_peeled_always: bool,
    /// Its code that lacks one, until there is other code.
    pub(crate) outgrown: Option<Outgrown>,
    /// How often code was given up because of what it had assumed.
    pub(crate) assumed: u32,
    /// What was recorded and not compiled for want of time.
    pub(crate) order: Order,
    /// How often it was left to the loop around it, although that one did not wait for its price: see
    /// [`crate::Vm::leave_to`].
    pub(crate) left: u32,
    /// How often it has given way to loops around it, whose recordings take it in although it has code: see
    /// [`crate::nest`].
    pub(crate) ways_given: u32,
    /// How often its code was evicted, where thresholds alone decide: see [`crate::evict`].
    pub(crate) evictions: u32,
    /// Its code was evicted as it was of no use since this age of the program.
    pub(crate) idle_since: Option<u64>,
    /// The loops that have given way to it.
    pub(crate) awaited: Vec<Key>,
    /// How many more recordings may be thrown away because one of these had no iteration in them.
    pub(crate) may_miss: u32,
    /// How many recordings were thrown away because some loop in them had no iteration.
    pub(crate) skipped: u32,
    /// The same because some loop in them had fewer iterations than usual; and how many operations they had.
    pub(crate) shorter: u32,
    pub(crate) shorter_ops: u64,
    /// The exit where a way began that it has given up for a while; and how many verdicts that its code does
    /// not pay are still to be ignored meanwhile: see [`crate::nest`].
    pub(crate) way: Option<ExitPoint>,
    pub(crate) pardons: u32,
    /// Failed attempts, by reason.
    pub(crate) attempts: Attempts,
    /// Why the last attempt failed.
    pub(crate) last_abort: Option<AbortReason>,
    /// What the host calls the place of the operation where it did.
    pub(crate) aborted_at: Option<String>,
    /// Whether its code pays.
    pub(crate) pay: Pay,
    /// What the interpreter takes for it.
    pub(crate) pace: Pace,
}

/// Code that a loop has outgrown, until it has other code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outgrown {
    pub trace: TraceId,
    /// How often its host was asked for a recording.
    pub asked: u64,
}

impl Location {
    /// Whether it has code that is entered.
    pub(crate) fn has_code(&self) -> bool {
        !self.entries.is_empty() && !matches!(self.state, LoopState::Retired { .. })
    }

    /// The heat at which something is to be done.
    pub(crate) fn needed(&self, threshold: u32) -> u64 {
        let threshold = match self.expected {
            _ if self.is_expected() => threshold.min(HINTED_BACK_EDGES as u32),
            Expected::Known(Verdict::Fails) if self.attempts.total == 0 => {
                threshold.saturating_mul(IN_VAIN as u32)
            }
            _ => threshold,
        };
        // A loop that calls the function becomes hot first, and takes it in.
        let threshold = if self.is_entry { threshold.saturating_add(threshold / 2) } else { threshold };
        match (self.drawn, self.state) {
            (_, LoopState::Resting { until, .. } | LoopState::Retired { until, .. }) => until,
            (Some(drawn), _) => drawn,
            // Not a multiple of the iterations of a short loop each time: an attempt that starts with the
            // last one fails.
            (None, state) => state.until(threshold).saturating_add(u64::from(self.attempts.total % 8)),
        }
    }

    /// Whether its code has paid in an earlier run, and nothing says that it will not in this one.
    pub(crate) fn is_expected(&self) -> bool {
        self.expected == Expected::Known(Verdict::Pays)
            && self.attempts.for_one_reason() == 0
            && self.pay.times == 0
    }

    /// How many back edges of a small loop a tick stands for.
    pub(crate) fn edges_per_tick(&self) -> u64 {
        if self.is_entry {
            BACK_EDGES_PER_ENTRY
        } else {
            1
        }
    }

    /// How many of its traces pin its counter. Where only code leads to it no counter has to fire, and that
    /// of its function, which has other entries, would at each call.
    pub(crate) fn pins(&self) -> usize {
        if self.state.is_asleep() || self.wanted_by.is_some() {
            0
        } else {
            self.entries.len()
        }
    }

    /// If its recording has failed, it is tried again as if it had not.
    pub(crate) fn forgive(&mut self) {
        if let LoopState::BackedOff { .. } = self.state {
            self.state = LoopState::Counting;
            self.heat = 0;
        }
    }

    /// There is no time for an attempt now: the next one comes after so many back edges.
    pub(crate) fn postpone(&mut self, back_edges: u64) {
        self.wait(LoopState::Postponed { until: back_edges }, back_edges);
    }

    /// An attempt was given up: the next one needs more heat.
    pub(crate) fn back_off(&mut self, reason: AbortReason, threshold: u32) {
        let until = self.attempts.fail(&reason, threshold);
        self.wait(LoopState::BackedOff { until }, until);
        self.back_edges = 0;
        self.order = Order::default();
        self.last_abort = Some(reason);
    }

    /// Nothing was recorded where the host was asked to: it is asked again, each time later.
    pub(crate) fn declined(&mut self, threshold: u32) {
        let until = self.attempts.fail(&AbortReason::Declined, threshold) / AGAIN_AFTER_DECLINED;
        self.postpone(until);
    }

    /// Code of it, of so many operations as recorded, had to make room for other code.
    pub(crate) fn evicted(&mut self, ops: u64, is_exact: bool, threshold: u32) {
        self.evictions = if is_exact { self.evictions.saturating_add(1) } else { 0 };
        let until = after_eviction(self.evictions, threshold);
        self.wait(LoopState::Postponed { until }, until);
        self.back_edges = 0;
        self.order = Order::of(ops);
    }

    /// The next attempt comes after so many back edges; with code, so many must also find no entry.
    fn wait(&mut self, state: LoopState, until: u64) {
        self.drawn = None;
        self.heat = 0;
        self.state = if self.entries.is_empty() { state } else { LoopState::Compiled { until } };
    }

    /// An attempt succeeded: what failed before is forgotten.
    pub(crate) fn compiled(&mut self, trace: TraceId) {
        self.entries.push(trace);
        self.drawn = None;
        self.heat = 0;
        self.back_edges = 0;
        self.order = Order::default();
        self.attempts.forgive();
        self.last_abort = None;
        self.state = LoopState::Compiled { until: 0 };
        self.pay.begin();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn back_off_doubles_for_the_same_reason() {
        let mut location = Location::default();
        assert_eq!(location.needed(56), 56);
        location.back_off(AbortReason::Abandoned, 56);
        assert_eq!(location.needed(56), 112 + 1);
        location.back_off(AbortReason::Abandoned, 56);
        assert_eq!(location.needed(56), 224 + 2);
        location.back_off(AbortReason::Unstable, 56);
        assert_eq!(location.needed(56), 112 + 3, "another reason");
    }

    #[test]
    fn success_forgets_what_failed() {
        let mut location = Location::default();
        location.back_off(AbortReason::Unstable, 56);
        location.order = Order::of(99);
        location.compiled(TraceId(3));
        assert_eq!(location.order, Order::default(), "the next recording is another one");
        assert_eq!((location.needed(56), location.pins()), (56 + 1, 1));
        assert!(location.last_abort.is_none());
        location.back_off(AbortReason::Unstable, 56);
        assert_eq!(location.state, LoopState::Compiled { until: 112 }, "its code is entered all the same");
    }
}
