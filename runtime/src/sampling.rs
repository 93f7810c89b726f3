//! Timing entries of code, and what becomes of code that does not pay.
//!
//! Problem: entering code and leaving it costs as much as interpreting some dozen bytecodes. A loop that a
//! `return` ends after two iterations, or whose side exits cannot be recorded, makes a program slower each
//! time it is entered, for ever. Design: some entries are timed, from the back edge to the exit that leads
//! back to the interpreter, with the processor's counter. What the interpreter would have taken is added up
//! by the code that was run, trace by trace ([`crate::policy::Replaced`]); the exit adds what of its trace
//! was over. Where nothing is limited code adds nothing up, and the time in it is multiplied by what a
//! nanosecond in the trace that was entered saves. A loop whose entries lose gets a *trial* from the time on
//! that it got code last, as its exits have to be taken often before they get side traces. Then it *rests*:
//! its back edges count down as if it had no code, 4,096 at first, and each time in a row twice as many; then
//! a few entries are timed again. After some rests it is *retired*: the same, and recordings of other loops
//! treat it as a loop without code. The sum of gains and losses says how much compiling may take
//! ([`crate::budget`]).
//!
//! Invariant: a loop that rests does not pin its counter; all else about it, links to its code included,
//! stays as it is. Where the thresholds alone decide (no share is set) nothing rests, and the same happens in
//! each run.
//!
//! ```text
//! loop_7f00 entered 3,000 times, 20 ns each, of which 18 are the way there; replaces 25 ns: loses 67
//!   ->  rests for 4,096 back edges, is tried 16 times, rests for 8,192 ...
//! ```

use tracelift_core::ExitKind;

use crate::abort::AbortReason;
use crate::budget::Budget;
use crate::counters::MOST_TICKS;
use crate::ids::{ExitId, Key, TraceId};
use crate::pace::UNITS;
use crate::pay::{Sample, Verdict};
use crate::policy::{self, LoopState, SideState};
use crate::tunables::{LEAST_EXITS, LONGEST_SAMPLE, LONG_SAMPLE, RESTS_BEFORE_RETIRED};
use crate::venture::Turn;
use crate::vm::Vm;

/// No timed entry replaces so much.
const NONSENSE: u64 = 1 << 40;

impl Vm {
    /// The loop `key` is entered, by a trace that saves so much: the entry is timed if it is its turn.
    pub(crate) fn time_entry(&mut self, key: Key, saved_per_ns: f64, adds_up: bool, is_timed: bool) {
        let Some(location) = self.locations.get_mut(&key) else { return };
        let is_due = location.pay.enters() || self.config.count_iterations;
        let depth = self.nested.depth();
        if is_due && self.gives_way(depth) {
            let (start, replaced) = (self.timing.ticks.now(), *self.code.cells.replaced);
            let (end, elsewhere) = (start, 0);
            self.timing.sample = Some(Sample {
                key,
                saved_per_ns,
                start,
                end,
                replaced,
                adds_up,
                is_timed,
                partial: 0.0,
                elsewhere,
                nested: 0,
                calls: 0,
                stands_for: 0,
                depth,
            });
            // The first call that the entry makes is timed.
            self.nested.calls.until_timed = 1;
        }
    }

    /// Whether an entry at this depth can be timed: no other one is, or one that has called what leads here
    /// so long ago that it would keep all others from being timed. That one is given up.
    fn gives_way(&mut self, depth: u32) -> bool {
        let Some(sample) = self.timing.sample else { return true };
        let lasted = self.timing.ticks.peek_ns(self.timing.ticks.now().wrapping_sub(sample.start));
        let gives_way = sample.depth < depth && lasted.is_some_and(|ns| ns > LONG_SAMPLE as f64);
        if gives_way {
            self.timing.sample = None;
            self.nested.calls.timed_depth = 0;
        }
        gives_way
    }

    /// The interpreter has run since the last exit: the timed entry, if there is one, is over.
    #[inline]
    pub(crate) fn close_sample(&mut self) {
        if let Some(sample) = self.timing.sample {
            let depth = self.nested.depth();
            // It goes on if it has called what leads here.
            if sample.depth >= depth {
                self.timing.sample = None;
                self.close(sample, depth);
            }
        }
    }

    #[cold]
    fn close(&mut self, sample: Sample, depth: u32) {
        // Who was never left has called the host, and was unwound: how long that was after the entry is not
        // known, but the way there has cost what it costs.
        let was_unwound = sample.end == sample.start && depth <= sample.depth;
        if was_unwound || sample.depth == depth {
            self.account_entry(sample.key, sample.end.wrapping_sub(sample.start), Some(sample));
        }
    }

    /// Nanoseconds of the timed entry, if it has been left already.
    pub(crate) fn open_sample_ns(&self) -> f64 {
        let ns = |sample: Sample| self.timing.ticks.peek_ns(sample.end.wrapping_sub(sample.start));
        self.timing.sample.and_then(ns).unwrap_or(0.0)
    }

    /// A back edge of a loop whose code is not entered after all: the way there was in vain.
    pub(crate) fn entry_refused(&mut self, key: Key) {
        let is_timed = self.locations.get_mut(&key).is_some_and(|location| location.pay.enters());
        if is_timed {
            self.account_entry(key, 0, None);
        }
    }

    /// An entry took so many ticks; without a sample it was refused.
    fn account_entry(&mut self, key: Key, ticks: u64, sample: Option<Sample>) {
        let Some(ns) = self.timing.ticks.ns(ticks) else { return };
        let ns = self.on_the_processor(ns);
        let Some(location) = self.locations.get_mut(&key) else { return };
        if location.state.is_asleep() {
            return;
        }
        // What functions of the host took is no time of the code's, and saves nothing; but iterations that
        // were timed in the interpreter contain it as well.
        let elsewhere = sample.and_then(|sample| self.timing.ticks.peek_ns(sample.elsewhere)).unwrap_or(0.0);
        let own = (ns - elsewhere).max(0.0);
        let stands_for = if self.config.count_iterations { 1.0 } else { location.pay.stride.max(1) as f64 };
        // What code in functions of the host has added is not this entry's. It is known of some calls only,
        // so that the difference may be nonsense.
        let added = |sample: Sample| {
            let all = self.code.cells.replaced.wrapping_sub(sample.replaced).wrapping_sub(sample.nested);
            (sample.adds_up && all < NONSENSE).then_some(all as f64 / UNITS)
        };
        let gain = match sample.and_then(|sample| Some(added(sample)? + sample.partial)) {
            // Iterations that were timed in the interpreter contain what functions of the host took.
            Some(replaced) if sample.is_some_and(|sample| sample.is_timed) => {
                policy::measured_gain(ns, replaced)
            }
            Some(replaced) => policy::measured_gain(own, replaced),
            None => policy::gain(own, sample.map_or(0.0, |sample| sample.saved_per_ns)),
        };
        self.totals.machine_ns += own * stands_for;
        location.machine_ns += own * stands_for;
        location.gained += Budget::believed(gain * stands_for, own * stands_for);
        if gain < 0.0 && self.background.away.is_some() {
            // What is being compiled may be the side trace that it loses for want of.
            return self.budget.lose_for_now(gain * stands_for);
        }
        self.budget.gain(gain * stands_for, own * stands_for);
        if location.pay.add(ns, gain) == Verdict::Loses {
            if self.budget.is_limited() && !location.pay.is_on_trial(self.budget.ventures.is_open()) {
                self.put_to_sleep(key);
            } else {
                location.pay.goes_on();
            }
        }
    }

    /// What of so many nanoseconds the thread itself may have run: no more than since this was asked last.
    /// Short times are believed.
    fn on_the_processor(&mut self, ns: f64) -> f64 {
        if ns < LONGEST_SAMPLE as f64 {
            return ns;
        }
        let ran = self.budget.ran_until_now();
        let at_most = ran - std::mem::replace(&mut self.timing.sampled_until, ran);
        ns.min(at_most as f64)
    }

    /// The loop's code is not entered for a while, or is given up if that helps.
    fn put_to_sleep(&mut self, key: Key) {
        if self.discard_hoisted(key) {
            return;
        }
        if self.lacks_way(key) {
            self.judge_anew(key);
            return;
        }
        self.gates.shut();
        let Some(location) = self.locations.get_mut(&key) else { return };
        let pins = location.pins();
        location.state = LoopState::asleep(location.pay.times);
        location.pay.times = location.pay.times.saturating_add(1);
        location.heat = 0;
        let is_retired = matches!(location.state, LoopState::Retired { .. });
        let counter = location.counter;
        (0..pins).for_each(|_| counter.into_iter().for_each(|counter| self.counters.unpin(counter)));
        self.totals.rests += 1;
        if is_retired && location.pay.times == RESTS_BEFORE_RETIRED as u32 + 1 {
            self.totals.retired += 1;
            self.tell(|vm| format!("{} is retired: it costs more than it saves", vm.name_of_location(key)));
            self.forgive_others();
        }
    }

    /// A loop stands in nobody's way any more: those around it that have failed are tried once more. Should
    /// that fail too, they back off as far as before, and farther.
    fn forgive_others(&mut self) {
        for location in self.locations.values_mut() {
            if location.last_abort != Some(AbortReason::FewIterations) {
                location.forgive();
            }
        }
    }

    /// A loop that has rested is entered again. Its counter has just fired, and is set by the caller.
    pub(crate) fn wake(&mut self, key: Key) {
        self.gates.shut();
        let Some(location) = self.locations.get_mut(&key) else { return };
        location.state = LoopState::Compiled { until: 0 };
        location.heat = 0;
        match self.budget.ventures.is_open() {
            true => location.pay.begin(),
            false => location.pay.wake(),
        }
        let pins = location.pins();
        let counter = location.counter;
        (0..pins).for_each(|_| counter.into_iter().for_each(|counter| self.counters.pin_fired(counter)));
        let followers: Vec<Key> =
            self.locations.keys().copied().filter(|&other| self.leader(other) == key).collect();
        for follower in followers {
            let roots = self.locations[&follower].entries.clone();
            if roots.is_empty() && follower != key {
                self.ask_for_code(follower);
            }
            roots.into_iter().for_each(|root| self.ask_again(root));
        }
    }

    /// Ventures begin and end as the program goes on: see [`crate::venture`]. As one begins all that rests or
    /// was put off has its turn.
    pub(crate) fn look_for_venture(&mut self) {
        match self.budget.look_for_venture() {
            Turn::None => return,
            Turn::Begins => self.tell(|_| "a venture begins".to_string()),
            Turn::Ends { has_paid } => {
                let outcome = if has_paid { "has paid" } else { "was in vain" };
                return self.tell(|_| format!("the venture is over: it {outcome}"));
            }
        }
        self.gates.shut();
        let keys: Vec<Key> = self.locations.keys().copied().collect();
        for key in keys {
            let Some(location) = self.locations.get_mut(&key) else { continue };
            if !location.state.is_asleep() && !matches!(location.state, LoopState::Postponed { .. }) {
                continue;
            }
            location.pay.times = 0;
            location.heat = location.needed(self.config.threshold);
            if let Some(counter) = location.counter.filter(|&counter| !self.counters.is_pinned(counter)) {
                self.counters.set(counter, 1);
            }
        }
    }

    /// The next time that the program comes to this location it is due.
    fn ask_for_code(&mut self, key: Key) {
        let Some(location) = self.locations.get_mut(&key) else { return };
        if !matches!(location.state, LoopState::Counting | LoopState::Postponed { .. }) {
            return;
        }
        location.state = LoopState::Counting;
        location.heat = MOST_TICKS.into();
        let counter = location.counter.filter(|_| location.is_entry);
        if let Some(counter) = counter.filter(|&counter| !self.counters.is_pinned(counter)) {
            self.counters.set(counter, 1);
        }
    }

    /// Side traces that were put off are asked for at the next exit: how long they still have to wait was
    /// counted in exits, of which there were none while the loop rested. So is the side trace of the exit
    /// that is taken most, which may be why the code does not pay.
    fn ask_again(&mut self, root: TraceId) {
        let called = self.traces.get(root).map(|root| root.tree.calls.clone()).unwrap_or_default();
        let units = called.iter().filter_map(|&(unit, _)| self.units.get(unit)?.root());
        let roots: Vec<TraceId> = std::iter::once(root).chain(units).collect();
        roots.iter().for_each(|&root| self.ask_at_worst_exit(root));
        let trees: Vec<TraceId> = roots.into_iter().flat_map(|root| self.tree_of(root)).collect();
        for number in trees {
            let Some(trace) = self.traces.get_mut(number) else { continue };
            for (&exit, side) in &mut trace.tree.sides {
                if let SideState::Postponed { at, .. } = side {
                    let exit = &mut trace.exits[exit.index()];
                    *at = exit.count;
                    exit.quiet_until = 0;
                }
            }
        }
    }

    /// Asks for the side trace of one exit: of those that have none, the exit that was taken most. Its count
    /// is still below the threshold, and grows little while the code rests.
    fn ask_at_worst_exit(&mut self, root: TraceId) {
        let tree = self.tree_of(root);
        let exits = tree.iter().filter_map(|&number| Some((number, self.traces.get(number)?)));
        let worst = exits
            .flat_map(|(number, trace)| {
                let counts = trace.exits.iter().enumerate().filter(move |(exit, cell)| {
                    matches!(cell.kind, ExitKind::Guard | ExitKind::LoopEnd)
                        && !trace.tree.sides.contains_key(&ExitId(*exit as u32))
                });
                counts.map(move |(exit, cell)| (cell.count, number, ExitId(exit as u32)))
            })
            .max_by_key(|&(count, ..)| count);
        let Some((count, number, exit)) = worst.filter(|&(count, ..)| count >= LEAST_EXITS) else { return };
        if let Some(trace) = self.traces.get_mut(number) {
            trace.set_side(exit, SideState::Postponed { at: count, ops: 0, failures: 0 });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use tracelift_core::{ExitKind, Op};

    use super::*;
    use crate::run::Action;
    use crate::support::{int, leaves_at_once, Host, Tape};
    use crate::ticks::Ticks;
    use crate::tunables::{
        COLD_SAMPLES, FIRST_REST, FIRST_SAMPLES, RESTS_BEFORE_RETIRED, TRIAL, VENTURE_TRIAL, WAKE_SAMPLES,
    };
    use crate::Config;

    const HEAD: usize = 1;
    /// Shares HEAD's counter.
    const OTHER: usize = 3;

    thread_local!(static CLOCK: Cell<u64> = const { Cell::new(0) });

    /// A host with code for the loop, that leaves at once. Each reading of the counter comes so many
    /// nanoseconds after the last.
    fn host(step: u64) -> Host {
        let mut host = Host::new(Config { threshold: 1, side_threshold: 1_000_000, ..Config::default() });
        // A clock that stands: an emulator compiles slowly, which is not what is tested here.
        host.vm.budget.stands_at(1_000_000_000);
        host.vm.timing.ticks = Ticks::of_test(|| CLOCK.replace(CLOCK.get() + STEP.get()));
        STEP.set(step);
        host.frame[..2].copy_from_slice(&[int(-5), int(1)]);
        assert!(matches!(host.back_edge(HEAD), Action::Record));
        assert!(matches!(host.record(HEAD, leaves_at_once), crate::CloseOutcome::Compiled(TraceId(0))));
        host
    }

    thread_local!(static STEP: Cell<u64> = const { Cell::new(0) });

    // Exits at which a side trace was asked for, which this host does not record.
    thread_local!(static ASKED: Cell<u64> = const { Cell::new(0) });

    /// So many entries of code that is left at once are a trial: each loses some 70 ns, and a judgement comes
    /// once in a thousand.
    const TRIAL_ENTRIES: std::ops::Range<u64> = TRIAL / 80..TRIAL / 60;

    /// Entries until the loop is not entered, at most `limit`.
    fn entries(host: &mut Host, limit: u64) -> u64 {
        entries_from(host, 5, limit)
    }

    /// The same for entries that iterate up to 0 first.
    fn entries_from(host: &mut Host, start: i64, limit: u64) -> u64 {
        for entry in 0..limit {
            host.frame[0] = int(start);
            if host.run(HEAD).is_none() {
                return entry;
            }
            let base = host.base();
            // SAFETY: the exit was from code that ran in this frame.
            match unsafe { host.vm.next(base) } {
                Action::Nothing => {}
                Action::Record => ASKED.set(ASKED.get() + 1),
                other => panic!("{other:?}"),
            }
        }
        limit
    }

    /// Back edges until the loop is entered again.
    fn back_edges(host: &mut Host) -> u64 {
        host.frame[0] = int(-5);
        (1..).find(|_| matches!(host.back_edge(HEAD), Action::Run(_))).expect("a rest ends")
    }

    #[test]
    fn code_that_is_left_at_once_rests_and_is_retired() {
        let mut host = host(20);
        let before = host.vm.stats().interpreted_back_edges;
        let first = entries(&mut host, 100_000);
        assert!(TRIAL_ENTRIES.contains(&first), "{first}");
        assert_eq!(ASKED.get(), 0, "the threshold is far");
        let mut all = first + 1;
        for rest in 0..RESTS_BEFORE_RETIRED + 2 {
            let stats = host.vm.stats();
            assert_eq!((stats.rests, stats.retired), (rest + 1, u64::from(rest >= RESTS_BEFORE_RETIRED)));
            assert_eq!(host.vm.has_loop(HEAD), rest < RESTS_BEFORE_RETIRED);
            let rested = back_edges(&mut host);
            assert!((FIRST_REST << rest) - 1 <= rested && rested <= FIRST_REST << rest, "{rest}: {rested}");
            // The code that was asked for is not run: its host has declined.
            host.vm.declined();
            let tried = entries(&mut host, 2000);
            assert_eq!(tried, COLD_SAMPLES + WAKE_SAMPLES - 1);
            assert_eq!(ASKED.replace(0), tried, "it cannot pay without a side trace");
            all += rested + tried + 1;
        }
        let stats = host.vm.stats();
        assert_eq!(stats.interpreted_back_edges - before, all, "all are counted");
        assert!(stats.text().contains("rested 8 times; 1 loops retired"), "{}", stats.text());
        assert!(stats.time.saved < 0.0 && stats.time.machine > 0.0, "{:?}", stats.time);
    }

    /// `while i < n: if i is beyond 9 then leave; i = i + 1`, with i and n in slots 0 and 1.
    fn bounded(tape: &mut Tape<'_>) {
        tape.while_less(0, 3, 0, 1);
        tape.at(1, 3);
        let (i, bound) = (tape.int(0), tape.constant(9));
        let inside = tape.op2(Op::UintLt, i, bound);
        tape.guard(inside, ExitKind::Guard);
        tape.add(2, 3, 0, 1);
    }

    /// A guard before the loop fails each time. Nobody waits for the threshold of exits, which a loop that
    /// rests would not come to.
    #[test]
    fn code_whose_hoisted_guard_fails_is_given_up() {
        let mut host = host(20);
        assert!(matches!(host.back_edge(OTHER), Action::Record));
        assert!(matches!(host.record(OTHER, bounded), crate::CloseOutcome::Compiled(TraceId(1))));
        let mut entries = 0;
        loop {
            host.frame[..2].copy_from_slice(&[int(0), int(50)]);
            match host.run(OTHER) {
                Some((kind, _)) => assert_eq!(kind, ExitKind::Hoisted),
                None => break,
            }
            entries += 1;
        }
        assert!(TRIAL_ENTRIES.contains(&entries), "{entries}");
        let stats = host.vm.stats();
        assert_eq!((stats.unhoisted, stats.rests), (1, 0));
        assert!(matches!(host.record(OTHER, bounded), crate::CloseOutcome::Compiled(TraceId(2))));
        host.frame[..2].copy_from_slice(&[int(0), int(50)]);
        assert_eq!(host.run(OTHER), Some((ExitKind::Guard, 1)));
    }

    #[test]
    fn code_that_runs_for_a_while_is_entered() {
        let mut host = host(1000);
        assert_eq!(entries_from(&mut host, -500, 5000), 5000);
        let stats = host.vm.stats();
        assert!(stats.rests == 0 && stats.time.saved > 0.0, "{:?}", stats.time);
    }

    /// What takes long without doing much loses, however long it runs.
    #[test]
    fn code_that_is_slower_than_the_interpreter_rests() {
        let mut host = host(1000);
        assert!(entries(&mut host, 5000) < 5000);
        let stats = host.vm.stats();
        assert!(stats.rests == 1 && stats.time.saved < 0.0, "{:?}", stats.time);
    }

    /// A loop that runs as long as the program would keep all that it calls from being timed.
    #[test]
    fn a_long_entry_gives_way_to_entries_in_its_calls() {
        let mut host = host(20);
        let timed_at = |host: &Host| host.vm.timing.sample.map(|sample| sample.depth);
        assert!(matches!(host.back_edge(HEAD), Action::Run(_)));
        assert_eq!(timed_at(&host), Some(0));
        host.vm.begin_call(usize::MAX / 2);
        assert!(matches!(host.back_edge(HEAD), Action::Run(_)));
        assert_eq!(timed_at(&host), Some(0), "it has not lasted long");
        STEP.set(LONG_SAMPLE + 1);
        (0..2).for_each(|_| assert!(matches!(host.back_edge(HEAD), Action::Run(_))));
        assert_eq!(timed_at(&host), Some(1));
    }

    /// It may be that it only lacks side traces: there is time for them now.
    #[test]
    fn code_that_rests_is_entered_again_when_the_program_ventures() {
        let mut host = host(20);
        entries(&mut host, 100_000);
        assert!(matches!(host.back_edge(HEAD), Action::Nothing));
        host.vm.budget.ventures = crate::venture::Ventures::now();
        let rested = back_edges(&mut host);
        assert!(rested < FIRST_REST && host.vm.budget.ventures.is_open(), "{rested}");
        host.vm.declined();
        let tried = entries(&mut host, 100_000);
        assert!((VENTURE_TRIAL / 80..VENTURE_TRIAL / 60).contains(&tried), "{tried}");
        assert_eq!(host.vm.stats().rests, 2);
    }

    #[test]
    fn where_thresholds_alone_decide_nothing_rests() {
        let mut host = host(20);
        let budget = crate::budget::Budget::new(None);
        host.vm.budget = budget;
        assert_eq!(entries(&mut host, 2000), 2000);
    }

    #[test]
    fn a_counter_that_is_shared_stays_pinned_for_the_others() {
        let mut host = host(20);
        host.frame[0] = int(-5);
        assert!(matches!(host.back_edge(OTHER), Action::Record));
        assert!(matches!(host.record(OTHER, leaves_at_once), crate::CloseOutcome::Compiled(TraceId(1))));
        entries(&mut host, 100_000);
        assert_eq!(host.vm.stats().rests, 1);
        STEP.set(1000);
        assert!(matches!(host.back_edge(OTHER), Action::Run(_)));
        assert!(matches!(host.back_edge(HEAD), Action::Nothing));
        assert!(matches!(host.back_edge(OTHER), Action::Run(_)));
        host.vm.forget(HEAD, HEAD + 1);
        assert!(
            matches!(host.back_edge(OTHER), Action::Run(_)),
            "what rests pins nothing that could be taken back"
        );
        host.vm.forget(OTHER, OTHER + 1);
        assert!(!matches!(host.back_edge(OTHER), Action::Run(_)));
    }

    /// The loop's types have changed once and for all: it gets another entry, and does not rest before.
    #[test]
    fn a_loop_whose_types_change_gets_another_entry_first() {
        let mut host = host(1000);
        host.vm.config.threshold = 4 * (COLD_SAMPLES + FIRST_SAMPLES) as u32;
        host.frame[0] = crate::support::float(1.5);
        let asked = (1..10_000).find(|_| matches!(host.back_edge(HEAD), Action::Record));
        assert_eq!(asked, Some(u64::from(host.vm.config.threshold)));
        assert_eq!(host.vm.stats().rests, 0);
    }

    /// Back edges that fit no entry cost as much as entries that gain nothing.
    #[test]
    fn a_loop_whose_entries_do_not_fit_rests_too() {
        let mut host = host(1000);
        host.vm.config.max_entries = 1;
        host.frame[0] = crate::support::float(1.5);
        let mut refused = 0;
        while refused < 100_000 && !host.vm.locations[&HEAD].state.is_asleep() {
            host.back_edge(HEAD);
            refused += 1;
        }
        assert!(TRIAL_ENTRIES.contains(&refused), "{refused}");
    }
}
