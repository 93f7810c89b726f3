//! Loops of few iterations within other loops.
//!
//! Problem: which of two nested loops is hot first is a matter of chance. Code of an inner loop that soon
//! ends is left as soon as it is entered; recorded as it runs, as part of the loop around it, it costs no
//! more than what it does. But the longer trace has a higher price, and may turn out not to be recordable at
//! all. Design, first: before it records such a loop the host asks whether it is *left to* the loop around
//! it. It is while that one waits for its price, unless that is so long that two short traces are better
//! than one; else a number of times, so that the outer loop has its turn, until that one has failed. What
//! the inner loop's back edges cost until then is rent that the outer one pays too. A loop that is recorded
//! again, as it has outgrown its code, is left to nobody: it would not be asked a second time. Invariant: who
//! is left to another loop gets code of its own in the end if that one gets none.
//!
//! Second, when an inner loop has code all the same, and the program crosses between it and its way around so
//! often that both would become one function: if there are few ways through it, it *gives way*, once, or
//! again if the outer loop's turn came to nothing by chance. Where the outer loop has no code, that way is
//! given up for a while, so that the interpreter comes to the outer loop. What the inner loop's entries lose
//! meanwhile does not count. The outer loop's recording takes the inner one in although it has code;
//! recordings that meet no iteration of it are thrown away, up to a few. Where the outer loop has code, its
//! side traces that end at the inner loop are recorded anew.
//!
//! Third, a side trace takes in some iterations of a loop that the tree's first trace has met, so that each
//! number of iterations has its way, and none leads to the inner loop's code. Fourth, a recording in which
//! some loop has no iteration is thrown away, two at most for each loop: the next one may know what
//! that loop changes. So are some in which a loop has fewer iterations than it has in the mean: of trees
//! whose numbers of iterations are random those are the fastest whose first trace has many: a way with fewer
//! iterations leaves that trace early, and has nothing to add.
//!
//! ```text
//! for i = 1, n do for k = 1, 3 do ... end end
//! inner loop hot: left to the outer one, which has not been tried          (1 of 8)
//! outer loop hot: 90 operations recorded, 20 ms missing
//! inner loop hot: left to it, and not asked for 5,000 back edges
//! outer loop hot: recorded and compiled
//! ```

use crate::abort::{AbortReason, Failure};
use crate::budget::Order;
use crate::compile::CloseOutcome;
use crate::ids::{Key, TraceId};
use crate::log::Stage;
use crate::policy::{back_edges_until, back_off, SideState};
use crate::recorder::{Passed, Recorder, Start};
use crate::tree::Part;
use crate::tunables::{
    INNER_EDGES, KNOWN_AROUND, MOST_AWAITED, MOST_LEFT, MOST_MISSED, MOST_PARDONS, MOST_SHORTER,
    MOST_SKIPPED, MOST_VAIN, MOST_WAYS_GIVEN, SHORTER_OPS, SIMPLE, TURN,
};
use crate::vm::Vm;

/// Why, in the log.
const LEFT: &str = "left to the loop around it";
const MISSED: &str = "a loop in it had no iteration this time";
const SHORTER: &str = "a loop in it had fewer iterations than usual";

impl Vm {
    /// Whether the loop for which [`Vm::hot`] has just answered [`Record`](crate::Action::Record), and which
    /// ends after few iterations, is left to the loop `outer` around it. If so it is not to be recorded now;
    /// that is counted as an attempt that was given up.
    pub fn leave_to(&mut self, outer: Key) -> bool {
        let Some(key) = self.recording.asked.filter(|&key| key != outer) else { return false };
        let awaited = self.locations.get(&outer).map_or_else(Order::default, |outer| outer.order);
        let failures =
            self.locations.get(&outer).map_or(0, |outer| u64::from(outer.attempts.for_one_reason()));
        let rent = self.rent_of(outer);
        let missing = if awaited.ops > 0 { self.budget.wait(awaited, rent) } else { None };
        let Some(inner) = self.locations.get_mut(&key) else { return false };
        let is_due = inner.is_expected()
            || inner.outgrown.is_some()
            || inner.order.ops > 0
            || awaited.ops > MOST_AWAITED
            || failures >= MOST_VAIN
            || missing.is_none() && u64::from(inner.left) == MOST_LEFT;
        if is_due {
            return false;
        }
        inner.left += u32::from(missing.is_none());
        let back_edges = inner.back_edges;
        self.recording.asked = None;
        self.totals.recordings += 1;
        let threshold = self.config.threshold;
        // It has not failed: it asks again when the outer one does, and waits no longer each time. With twice
        // as long a nest of three loops, of 6, 11 and 6,000 iterations, had no code after .28 s, and now it
        // has after .08 s.
        self.count_abort(key, &Failure::new(AbortReason::FewIterations, LEFT));
        let location = self.locations.entry(key).or_default();
        location.last_abort = Some(AbortReason::FewIterations);
        location.back_edges = 0;
        location.postpone(match missing {
            Some(missing) => back_edges_until(missing, u64::MAX, threshold),
            None => back_off(0, threshold),
        });
        self.locations.entry(outer).or_default().back_edges += back_edges;
        true
    }

    /// A loop was recorded. Throws the recording away, and says so, if a loop that has given way to
    /// it had no iteration meanwhile: side traces would lead to that loop's code. Does the same, less
    /// often, if any loop in it had none. The tree's first trace, to which all ways come back, would know
    /// nothing of what such a loop changes, and that would lie in memory. Nor may it have few, see above.
    /// There is another recording soon; until then the inner loop is left to this one as if it were new.
    pub(crate) fn has_missed(&mut self, recorder: &Recorder) -> Option<CloseOutcome> {
        let (key, passed, skips) = (recorder.key, &recorder.passed, recorder.skips);
        let ops = (recorder.trace().op_count() as u64).max(SHORTER_OPS / MOST_SHORTER);
        let location = self.locations.get_mut(&key)?;
        let is_missed = |head: &Key| !passed.iter().any(|passed| passed.head == *head && passed.edges > 0);
        let mut why = MISSED;
        if location.may_miss > 0 && location.awaited.iter().any(is_missed) {
            location.may_miss -= 1;
        } else if skips && u64::from(location.skipped) < MOST_SKIPPED {
            location.skipped += 1;
        } else if location.shorter_ops + ops <= SHORTER_OPS && self.is_shorter_than_usual(key, passed) {
            let location = self.locations.entry(key).or_default();
            location.shorter += 1;
            location.shorter_ops += ops;
            why = SHORTER;
        } else {
            return None;
        }
        for inner in passed {
            if let Some(inner) = self.locations.get_mut(&inner.head) {
                inner.left = 0;
            }
        }
        let location = self.locations.entry(key).or_default();
        let thrown_away = location.may_miss + location.skipped + location.shorter;
        // The last part is another each time: the inner loop's numbers of iterations may have a period.
        location.postpone(u64::from(self.config.threshold) / TURN + u64::from(thrown_away));
        self.count_abort(key, &Failure::new(AbortReason::FewIterations, why));
        Some(CloseOutcome::Aborted(AbortReason::FewIterations, why.into()))
    }

    /// Whether some loop in a recording of the loop `key` has jumped back less often than it does in the mean
    /// of all iterations so far, and that is worth another attempt.
    fn is_shorter_than_usual(&self, key: Key, passed: &[Passed]) -> bool {
        let around = self.interpreted_by_now(key);
        let is_shorter = |passed: &Passed| {
            let inner = self.interpreted_by_now(passed.head);
            // The two counts began at different times, so that the mean is off by some hundredths.
            let least = u64::from(passed.edges) * around + around / 10;
            inner <= around.saturating_mul(INNER_EDGES) && least < inner
        };
        around >= KNOWN_AROUND && passed.iter().any(is_shorter)
    }

    /// The recording has come to the head `key` of a loop; `is_long` says that many iterations follow now.
    /// Whether it ends here and goes on in the loop's code, as side traces and what begins at an entry do.
    /// If the tree's first trace has met that loop, too, a side trace takes some iterations in instead. Else
    /// each number of iterations but one would lead to the loop's code, and from there around the outer loop.
    pub fn goes_on_at(&mut self, key: Key, is_long: bool) -> bool {
        let Some(location) = self.locations.get(&key) else { return false };
        let (has_code, is_entry) = (location.has_code(), location.is_entry);
        let Some(recorder) = &mut self.recording.recorder else { return false };
        if !has_code {
            if matches!(recorder.start, Start::Loop { .. }) && !is_entry {
                recorder.meet(key);
            }
            return false;
        }
        match recorder.start {
            Start::Loop { .. } => recorder.meet(key),
            Start::Side(_) => return is_long || !self.is_simple(key) || !self.takes_in(key),
            // What was called may leave its loop early, however many iterations that says it has.
            Start::Entry if recorder.is_in_called() && u64::from(recorder.edges()) < INNER_EDGES => {
                return !self.is_simple(key)
            }
            Start::Entry => return true,
            Start::Unit(_) => {}
        }
        false
    }

    /// Whether there are few ways through the loop `key`.
    fn is_simple(&self, key: Key) -> bool {
        let entries = self.locations.get(&key).map_or(&[][..], |location| &location.entries);
        let mut roots = entries.iter().filter_map(|&entry| self.traces.get(entry));
        roots.all(|root| u64::from(root.tree.count) <= SIMPLE)
    }

    /// Whether a side trace takes in one more iteration of a loop.
    fn takes_in(&self, key: Key) -> bool {
        let Some((recorder, Start::Side(at))) =
            self.recording.recorder.as_ref().map(|recorder| (recorder, recorder.start))
        else {
            return false;
        };
        let count = |passed: &[Passed]| {
            passed.iter().find(|passed| passed.head == key).map_or(0, |passed| u64::from(passed.edges))
        };
        let mut passed = u64::from(recorder.edges());
        let mut next = Some(at.trace);
        while let Some(trace) = next.and_then(|number| self.traces.get(number)) {
            passed += count(&trace.tree.passed);
            next = trace.tree.parent.map(|at| at.trace);
            if next.is_none() && !trace.tree.passed.iter().any(|passed| passed.head == key) {
                return false;
            }
        }
        passed < INNER_EDGES
    }

    /// The program crosses between these traces so often that they would become one function. If some of them
    /// go around other loops than the one that their tree begins with, that one gives way, once: the loops
    /// around it have their turn, and may take it in. Returns whether there were any.
    pub(crate) fn give_way(&mut self, parts: &[Part]) -> bool {
        let mut ways: Vec<(TraceId, Key, Vec<Key>)> = Vec::new();
        for part in parts.iter().filter(|part| part.goes_to.is_some()) {
            let Some(tree) = self.traces.get(part.trace).map(|trace| &trace.tree) else { continue };
            let around = tree.passed.iter().filter(|passed| passed.is_around);
            let outer: Vec<Key> = around.map(|passed| passed.head).collect();
            if tree.parent.is_some() && !outer.is_empty() && self.may_give_way(tree.key, &outer) {
                ways.push((part.trace, tree.key, outer));
            }
        }
        for (way, key, outer) in &ways {
            self.locations.entry(*key).or_default().ways_given += 1;
            self.lead_around(*way, *key, outer);
            self.judge_anew(*key);
        }
        !ways.is_empty()
    }

    /// Whether the loop `key` may give way to these loops around it: if there are few ways through it, and it
    /// has not done so before, or did it in vain although nothing is known to stand in their way.
    fn may_give_way(&self, key: Key, outer: &[Key]) -> bool {
        let Some(location) = self.locations.get(&key) else { return false };
        let has_chance = |head: &Key| {
            let failures = self.locations.get(head).map_or(0, |outer| outer.attempts.for_one_reason());
            !self.has_code(*head) && u64::from(failures) < MOST_VAIN
        };
        let may = match location.ways_given {
            0 => true,
            given => u64::from(given) < MOST_WAYS_GIVEN && outer.iter().all(has_chance),
        };
        may && self.is_simple(key)
    }

    /// Whether the loop `key` has given up a way for loops around it, and does not have it again. Its entries
    /// end where that way began, so that they lose now. This says nothing of what the loop's code is worth.
    /// The answer is yes a limited number of times.
    pub(crate) fn lacks_way(&mut self, key: Key) -> bool {
        let Some(location) = self.locations.get_mut(&key) else { return false };
        let Some(at) = location.way.filter(|_| location.pardons > 0) else { return false };
        let is_lacking = self.traces.get(at.trace).is_some_and(|trace| {
            let heat = trace.exits.get(at.exit.index()).map_or(u64::MAX, |exit| exit.heat());
            matches!(trace.tree.sides.get(&at.exit), Some(SideState::BackedOff { at, .. }) if heat < *at)
        });
        match is_lacking {
            true => location.pardons -= 1,
            false => location.way = None,
        }
        is_lacking
    }

    /// A side trace of the loop `key` goes around these loops. If none of them has code they have their turn,
    /// and the side trace is given up for a while.
    fn lead_around(&mut self, way: TraceId, key: Key, outer: &[Key]) {
        let has_code = |head: &&Key| self.has_code(**head);
        let (with_code, without): (Vec<&Key>, Vec<&Key>) = outer.iter().partition(has_code);
        with_code.iter().for_each(|&&head| self.lead_past(head, key));
        if !with_code.is_empty() {
            return;
        }
        let heading = format!("{} is given up: it goes around", self.shown(way));
        self.log.entry(Stage::Region, &heading, String::new);
        for head in without {
            let outer = self.locations.entry(*head).or_default();
            outer.forgive();
            outer.awaited.push(key);
            outer.may_miss = MOST_MISSED as u32;
        }
        let parent = self.traces.get(way).and_then(|trace| trace.tree.parent);
        let location = self.locations.entry(key).or_default();
        (location.way, location.pardons) = (parent, MOST_PARDONS as u32);
        self.drop_side(way, TURN * u64::from(self.config.threshold.max(self.config.side_threshold)));
    }

    /// The code of the loop `outer` leads to that of `inner`, which is no part of it: these side traces are
    /// recorded anew, and take in some iterations.
    fn lead_past(&mut self, outer: Key, inner: Key) {
        let roots = self.locations.get(&outer).map(|location| location.entries.clone()).unwrap_or_default();
        for root in roots {
            if let Some(trace) = self.traces.get_mut(root) {
                Passed::meet(&mut trace.tree.passed, inner);
            }
            let leads = |number: &TraceId| {
                let tree = self.traces.get(*number).map(|trace| &trace.tree);
                tree.is_some_and(|tree| tree.parent.is_some() && tree.link == Some(inner))
            };
            let sides: Vec<TraceId> = self.tree_of(root).into_iter().filter(leads).collect();
            for side in sides {
                let heading =
                    format!("{} is given up: it leads to a loop of few iterations", self.shown(side));
                self.log.entry(Stage::Region, &heading, String::new);
                self.drop_side(side, u64::from(self.config.side_threshold));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{ExitId, ExitPoint};
    use crate::policy::Rent;
    use crate::run::Action;
    use crate::support::{int, Host, Tape};
    use crate::{CloseOutcome, Config};

    const INNER: usize = 1;
    const OUTER: usize = 2;

    fn host(compile_share: Option<u32>) -> Host {
        let mut host = Host::new(Config { threshold: 1, compile_share, ..Config::default() });
        host.frame[..2].copy_from_slice(&[int(0), int(1_000_000)]);
        host.vm.budget.stands_at(80_000_000);
        host
    }

    /// As if compiling had taken so much that there is just time for a small trace.
    fn spend_nearly_all(host: &mut Host) {
        let budget = &mut host.vm.budget;
        while budget.wait(Order::default(), Rent::default()).is_none() {
            budget.spent += 100_000;
        }
        budget.spent -= 200_000;
    }

    /// Back edges of the inner loop until it is hot.
    fn until_hot(host: &mut Host) -> u64 {
        (1..100_000_000)
            .find(|_| matches!(host.back_edge(INNER), Action::Record))
            .expect("a loop is hot at some time")
    }

    /// `while i < n: i = i + 1`, so many times in one.
    fn iterations(count: u64) -> impl FnOnce(&mut Tape<'_>) {
        move |tape| {
            for word in 0..count {
                tape.add(word, 3, 0, 1);
            }
            tape.while_less(count, 3, 0, 1);
        }
    }

    /// The loop around it is recorded, and is too long to be compiled as long as there is no more time.
    fn outer_waits(host: &mut Host, operations: u64) {
        spend_nearly_all(host);
        assert!(matches!(host.back_edge(OUTER), Action::Record));
        let outcome = host.record(OUTER, iterations(operations));
        assert!(matches!(outcome, CloseOutcome::Aborted(AbortReason::TooCostly, _)), "{outcome:?}");
        assert!(host.vm.locations[&OUTER].order.ops >= operations);
    }

    fn attempts(host: &Host) -> u64 {
        host.vm.stats().aborts.get("loop of few iterations").copied().unwrap_or(0)
    }

    #[test]
    fn the_outer_loop_has_its_turn_and_then_the_inner_one_has() {
        let mut host = host(None);
        let mut waits = Vec::new();
        for attempt in 0..MOST_LEFT {
            waits.push(until_hot(&mut host));
            assert!(host.vm.leave_to(OUTER), "{attempt}");
            assert!(!host.vm.leave_to(OUTER), "it was answered");
            assert_eq!(attempts(&host), attempt + 1);
        }
        assert!(waits[1..].iter().all(|wait| *wait == waits[1]), "not twice as long each time: {waits:?}");
        until_hot(&mut host);
        assert!(!host.vm.leave_to(OUTER));
        assert!(matches!(host.record(INNER, iterations(1)), CloseOutcome::Compiled(crate::TraceId(0))));
        assert_eq!(host.vm.stats().recordings, MOST_LEFT + 1);
    }

    #[test]
    fn it_is_left_to_the_outer_one_as_long_as_that_waits_for_its_price() {
        let mut host = host(Some(6));
        outer_waits(&mut host, 100);
        let credit = host.vm.locations[&OUTER].back_edges;
        let mut back_edges = 0;
        for attempt in 0..3 * MOST_LEFT {
            host.vm.budget.ran += 10_000;
            let waited = until_hot(&mut host);
            back_edges += waited;
            assert!(attempt == 0 || waited > 100, "as long as there is no time: {waited}");
            assert!(host.vm.leave_to(OUTER), "{attempt}");
        }
        assert_eq!(host.vm.locations[&OUTER].back_edges - credit, back_edges, "rent for both");
        // There is time, but the program comes no more to where the outer loop would be recorded.
        host.vm.budget.ran += 1_000_000_000;
        for attempt in 0..MOST_LEFT {
            until_hot(&mut host);
            assert!(host.vm.leave_to(OUTER), "{attempt}");
        }
        until_hot(&mut host);
        assert!(!host.vm.leave_to(OUTER));
    }

    /// The host cannot record the outer loop with the inner one in it: it runs for too many iterations, say.
    #[test]
    fn it_is_left_to_nobody_who_was_tried_in_vain() {
        let mut host = host(None);
        for failures in 0..MOST_VAIN {
            until_hot(&mut host);
            assert!(host.vm.leave_to(OUTER), "{failures}");
            let hot = (0..1000).any(|_| matches!(host.back_edge(OUTER), Action::Record));
            assert!(hot && host.vm.start_recording(OUTER, host.frame.as_ptr().cast(), 0));
            host.vm.abort_recording(AbortReason::Host("inner loop".into()));
        }
        until_hot(&mut host);
        assert!(!host.vm.leave_to(OUTER));
        assert_eq!(attempts(&host), MOST_VAIN);
    }

    /// What becomes of each recording of the outer loop up to the first that is compiled, if each is told
    /// this.
    fn outcomes(host: &mut Host, tell: impl Fn(&mut Tape<'_>)) -> Vec<&'static str> {
        let mut outcomes = Vec::new();
        while outcomes.last() != Some(&"compiled") {
            assert!((0..1000).any(|_| matches!(host.back_edge(OUTER), Action::Record)), "{outcomes:?}");
            let outcome = host.record(OUTER, |tape| {
                tell(tape);
                iterations(1)(tape);
            });
            outcomes.push(match outcome {
                CloseOutcome::Compiled(_) => "compiled",
                CloseOutcome::Aborted(AbortReason::FewIterations, _) => "thrown away",
                other => panic!("{other:?}"),
            });
        }
        outcomes
    }

    #[test]
    fn what_passes_by_an_inner_loop_is_thrown_away_a_few_times() {
        let mut thrown = vec!["thrown away"; MOST_SKIPPED as usize];
        thrown.push("compiled");
        assert_eq!(outcomes(&mut host(None), |tape| tape.recorder.skip(INNER)), thrown);
        let leaves = |tape: &mut Tape<'_>| {
            tape.recorder.back_edge(INNER, false);
            tape.recorder.skip(INNER);
        };
        assert_eq!(outcomes(&mut host(None), leaves), ["compiled"], "it had an iteration");
        assert_eq!(outcomes(&mut host(None), |tape| tape.recorder.skip(OUTER)), ["compiled"], "itself");
    }

    /// The inner loop has jumped back one and a half times in each iteration of the outer one, in the mean.
    #[test]
    fn what_has_few_iterations_of_an_inner_loop_is_thrown_away_some_times() {
        let with = |edges: u32| {
            let mut host = host(None);
            host.vm.locations.entry(OUTER).or_default().interpreted = 1_000_000;
            host.vm.locations.entry(INNER).or_default().interpreted = 1_500_000;
            outcomes(&mut host, move |tape| (0..edges).for_each(|_| tape.recorder.back_edge(INNER, false)))
        };
        assert_eq!(with(2), ["compiled"]);
        assert_eq!(with(1).len() as u64, MOST_SHORTER + 1);
        assert_eq!(with(0), ["compiled"], "nothing is known of the inner loop");
    }

    #[test]
    fn what_lacks_a_way_that_it_gave_up_is_not_found_to_lose() {
        let mut host = host(None);
        until_hot(&mut host);
        let CloseOutcome::Compiled(trace) = host.record(INNER, iterations(1)) else { panic!("it compiles") };
        let at = ExitPoint { trace, exit: ExitId(0) };
        let give_up = |host: &mut Host, until: u64, pardons: u32| {
            let location = host.vm.locations.get_mut(&INNER).expect("it was recorded");
            (location.way, location.pardons) = (Some(at), pardons);
            let state = SideState::BackedOff { at: until, failures: 1 };
            host.vm.traces.get_mut(trace).expect("it lives").set_side(at.exit, state);
        };
        assert!(!host.vm.lacks_way(INNER), "it has given up nothing");
        give_up(&mut host, 1_000_000, 2);
        assert_eq!([(); 3].map(|()| host.vm.lacks_way(INNER)), [true, true, false], "not for ever");
        give_up(&mut host, 0, 2);
        assert!(!host.vm.lacks_way(INNER), "the way may be recorded again");
        assert_eq!(host.vm.locations[&INNER].way, None);
    }

    #[test]
    fn who_gave_way_in_vain_does_so_again_if_nothing_is_known_to_be_in_the_way() {
        let mut host = host(None);
        until_hot(&mut host);
        assert!(matches!(host.record(INNER, iterations(1)), CloseOutcome::Compiled(_)));
        let may = |host: &mut Host, given: u32| {
            host.vm.locations.entry(INNER).or_default().ways_given = given;
            host.vm.may_give_way(INNER, &[OUTER])
        };
        let fail = |host: &mut Host, reason: AbortReason| {
            for _ in 0..MOST_VAIN {
                host.vm.locations.entry(OUTER).or_default().attempts.fail(&reason, 1);
            }
        };
        let most = MOST_WAYS_GIVEN as u32;
        assert_eq!([0, 1, most].map(|given| may(&mut host, given)), [true, true, false]);
        fail(&mut host, AbortReason::Discarded);
        assert!(may(&mut host, 1), "a lot was drawn");
        fail(&mut host, AbortReason::Host("inner loop".into()));
        assert_eq!([0, 1].map(|given| may(&mut host, given)), [true, false], "it runs for too long, say");
    }

    #[test]
    fn nobody_waits_for_a_long_trace() {
        let mut host = host(Some(6));
        outer_waits(&mut host, MOST_AWAITED);
        host.vm.budget.spent = 0;
        until_hot(&mut host);
        assert!(!host.vm.leave_to(OUTER));
    }

    #[test]
    fn who_was_recorded_already_or_was_not_asked_for_is_left_to_nobody() {
        let mut host = host(Some(6));
        assert!(!host.vm.leave_to(OUTER), "nothing was asked for");
        spend_nearly_all(&mut host);
        until_hot(&mut host);
        assert!(!host.vm.leave_to(INNER), "itself");
        host.record(INNER, iterations(100));
        assert!(host.vm.locations[&INNER].order.ops > 0);
        host.vm.budget.spent = 0;
        until_hot(&mut host);
        assert!(!host.vm.leave_to(OUTER));
    }
}
