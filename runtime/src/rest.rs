//! Loops whose code rests.
//!
//! Problem: an exit whose side trace is put off is taken again and again in the meantime, and code that is left after a few
//! dozen instructions costs more to enter and to leave than it saves: a program of fifty milliseconds loses five of them that
//! way. Design: where a side trace is put off the clock is read anyway. How often the loop's code was entered since it was read
//! there last says how long one round takes, from entry to entry. If that is shorter than [`QUICK`], the loop *rests*: its
//! back edges count down as if it had no code, about as many as fit into the time that is missing, and then it is entered
//! again. Invariant: a loop that rests does not pin its counter; all else about it, links to its code included, stays as it is.
//!
//! ```text
//! exit 5 of trace 0 put off, 0.8 ms missing; 1,200 entries in 0.3 ms: 250 ns a round  ->  rests for 50,000 back edges
//! ```

use crate::location::{Key, Location};
use crate::vm::Vm;

/// Rounds shorter than this, in nanoseconds, are mostly entering and leaving: both together take some hundred.
const QUICK: u64 = 500;
/// Fewer rounds than this say nothing.
const ENOUGH: u64 = 16;
/// What an interpreted back edge takes, in nanoseconds: few take less.
const INTERPRETED: u64 = 16;
/// Longest rest, in back edges: what a loop does may change.
const LONGEST: u64 = 1 << 18;

/// How far the program and a loop's code were when the clock was read for the loop last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Round {
    /// Nanoseconds that the program had run.
    ran: u64,
    /// Entries from the host.
    entries: u64,
}

/// For how many back edges a loop rests whose code was entered so often in so many nanoseconds, with so many missing until there
/// may be time for its side trace; `None` if it is better entered.
fn rest(elapsed: u64, entries: u64, missing: u64) -> Option<u64> {
    let round = elapsed.checked_div(entries).filter(|_| entries >= ENOUGH)?;
    (round < QUICK).then(|| (missing / INTERPRETED).clamp(ENOUGH, LONGEST))
}

impl Location {
    /// Counts back edges of a loop that rests; whether it still does.
    pub(crate) fn rests(&mut self, ticks: u64) -> bool {
        self.heat += ticks;
        self.resting.is_some_and(|back_edges| self.heat < back_edges)
    }
}

impl Vm {
    /// A side trace of this loop's trace was put off just now, and so much time is missing: the loop rests if its code is left
    /// almost at once.
    pub(crate) fn rest_if_quick(&mut self, root: u32, missing: u64) {
        let ran = self.budget.ran();
        let Some(Some(trace)) = self.traces.get_mut(root as usize) else { return };
        let now = Round { ran, entries: trace.entries };
        let Some(last) = trace.round.replace(now) else { return };
        let elapsed = now.ran.saturating_sub(last.ran);
        let Some(back_edges) = rest(elapsed, now.entries - last.entries, missing) else { return };
        let Some(location) = self.locations.get_mut(&trace.tree.key) else { return };
        if location.resting.is_some() || !location.entries.contains(&root) {
            return;
        }
        location.resting = Some(back_edges);
        location.heat = 0;
        self.totals.rests += 1;
        let pins = location.entries.len();
        let counter = location.counter;
        (0..pins).for_each(|_| counter.into_iter().for_each(|counter| self.counters.unpin(counter)));
    }

    /// A loop that has rested is entered again. Its counter has just fired, and is set by the caller.
    pub(crate) fn wake(&mut self, key: Key) {
        let ran = self.budget.ran_until_now();
        let Some(location) = self.locations.get_mut(&key) else { return };
        location.resting = None;
        location.heat = 0;
        for &number in &location.entries {
            if let Some(Some(trace)) = self.traces.get_mut(number as usize) {
                trace.round = Some(Round { ran, entries: trace.entries });
            }
            location.counter.into_iter().for_each(|counter| self.counters.pin_fired(counter));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use tracelift_core::{ExitKind, Op};

    use super::*;
    use crate::hot::Action;
    use crate::support::{int, Host, Tape};
    use crate::Config;

    #[test]
    fn only_quick_rounds_make_a_loop_rest() {
        assert_eq!(rest(300_000, 1_200, 800_000), Some(50_000));
        assert_eq!(rest(700_000, 1_200, 8_000_000), None, "583 ns a round");
        assert_eq!(rest(3_000, 12, 8_000_000), None, "too few to say");
        assert_eq!((rest(0, 0, 1), rest(0, 100, 1)), (None, Some(ENOUGH)), "a clock that stands still");
        assert_eq!(rest(300_000, 1_200, u64::MAX), Some(LONGEST));
    }

    const HEAD: usize = 1;
    /// Shares HEAD's counter.
    const OTHER: usize = 3;

    thread_local!(static CLOCK: Cell<u64> = const { Cell::new(0) });

    /// `while 0 < n: i = i + 1; if i > 0 then leave`, with i and n in slots 0 and 1.
    fn leaves_at_once(tape: &mut Tape<'_>) {
        tape.add(0, 3, 0, 1);
        tape.at(1, 3);
        let (i, zero) = (tape.int(0), tape.constant(0));
        let go_on = tape.op2(Op::IntLe, i, zero);
        tape.guard(go_on, ExitKind::Guard);
    }

    /// A host with code for the loop, that leaves at once, and a clock that stands; 10 ms are missing for the next trace.
    fn short_of_time() -> Host {
        let mut host = Host::new(Config { threshold: 1, side_threshold: 3, ..Config::default() });
        let budget = &mut host.vm.budget;
        budget.clock = || CLOCK.get();
        CLOCK.set(budget.last);
        budget.ran = 1_000_000_000;
        host.frame[..2].copy_from_slice(&[int(-5), int(1)]);
        assert!(matches!(host.back_edge(HEAD), Action::Record));
        assert!(matches!(host.record(HEAD, leaves_at_once), crate::CloseOutcome::Compiled(0)));
        spend(&mut host);
        host
    }

    /// As if compiling had taken so much that 10 ms are missing.
    fn spend(host: &mut Host) {
        while host.vm.budget.wait(0).is_none_or(|missing| missing < 10_000_000) {
            host.vm.budget.spent += 100_000;
        }
    }

    /// Rounds of so many nanoseconds until the loop is not entered, at most `limit`.
    fn rounds(host: &mut Host, nanoseconds: u64, limit: u32) -> u32 {
        for round in 0..limit {
            CLOCK.set(CLOCK.get() + nanoseconds);
            host.frame[0] = int(5);
            if host.run(HEAD).is_none() {
                return round;
            }
            let base = host.base();
            // SAFETY: the exit was from code that ran in this frame.
            assert!(matches!(unsafe { host.vm.next(base) }, Action::Nothing));
        }
        limit
    }

    /// Back edges until the loop is entered again.
    fn back_edges(host: &mut Host) -> u64 {
        (1..).find(|_| matches!(host.back_edge(HEAD), Action::Run { .. })).expect("a rest ends")
    }

    #[test]
    fn code_that_is_left_at_once_rests() {
        let mut host = short_of_time();
        let before = host.vm.stats().interpreted_back_edges;
        let entered = rounds(&mut host, 200, 2000);
        assert!(entered < 1000, "{entered}: {}", host.vm.stats().text());
        let rested = back_edges(&mut host);
        assert!((LONGEST - 2..=LONGEST).contains(&rested), "10 ms are more: {rested}");
        let stats = host.vm.stats();
        assert_eq!((stats.rests, stats.entries), (1, u64::from(entered) + 1));
        assert_eq!(stats.interpreted_back_edges - before, u64::from(entered) + 1 + rested, "all are counted");
        assert!(stats.text().contains("rested 1 time"), "{}", stats.text());
    }

    #[test]
    fn code_that_runs_for_a_while_does_not() {
        let mut host = short_of_time();
        assert_eq!(rounds(&mut host, 1000, 2000), 2000);
        assert_eq!(host.vm.stats().rests, 0);
    }

    #[test]
    fn a_counter_that_is_shared_stays_pinned_for_the_others() {
        let mut host = short_of_time();
        host.vm.budget.spent = 0;
        host.frame[0] = int(-5);
        assert!(matches!(host.back_edge(OTHER), Action::Record));
        assert!(matches!(host.record(OTHER, leaves_at_once), crate::CloseOutcome::Compiled(1)));
        spend(&mut host);
        rounds(&mut host, 200, 2000);
        assert_eq!(host.vm.stats().rests, 1);
        assert!(matches!(host.back_edge(OTHER), Action::Run { .. }));
        assert!(matches!(host.back_edge(HEAD), Action::Nothing));
        assert!(matches!(host.back_edge(OTHER), Action::Run { .. }));
        host.vm.forget(HEAD, HEAD + 1);
        assert!(
            matches!(host.back_edge(OTHER), Action::Run { .. }),
            "what rests pins nothing that could be taken back"
        );
        host.vm.forget(OTHER, OTHER + 1);
        assert!(matches!(host.back_edge(OTHER), Action::Nothing));
    }
}
