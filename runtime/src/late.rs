//! Long loops that get their preamble late.
//!
//! Problem: a preamble doubles what a loop's code costs, and most long loops do not run for long enough to
//! earn that; so they are compiled without one ([`PEELED_OPS`](crate::tunables::PEELED_OPS)). But a long loop
//! that does run on computes in each iteration what a preamble would compute once: a convolution with nine
//! numbers through methods takes five times as long. Design: such a loop's code counts its *turns*, at the
//! guard that looks for interruptions, which leaves when there were enough. How many are enough follows from
//! what peeling costs: an iteration takes the longer the more operations it has, and so does compiling it, so
//! that the operations cancel out. Then the loop has *outgrown* its code. The next time that the program
//! comes to its head with slots that this code takes, it is recorded once more and compiled with a preamble;
//! the code before it is entered until then, and after it if that fails. A loop that is left after few
//! iterations, or in which the program goes its ways through side traces, has nothing to hoist for, and would
//! lose the tree that it has: it counts on, twice as far each time.
//!
//! Invariant: where thresholds alone decide all loops have a preamble, and nothing is counted.
//!
//! ```text
//! trace 4, 334 operations, no preamble; after 1,048,576 iterations it leaves by its interrupt exit
//! its loop is recorded again: trace 5, peeled.  Trace 4 is entered no more
//! ```

use crate::ids::{Key, TraceId};
use crate::location::Outgrown;
use crate::tunables::{LEAST_TURNS_PER_ENTRY, MANY_TURNS, MOST_ASKED};
use crate::vm::Vm;

impl Vm {
    /// A trace was left after its loop has had its turns.
    #[cold]
    pub(crate) fn has_turned(&mut self, number: TraceId) {
        let Some(trace) = self.traces.get(number) else { return };
        let Some(turns) = &trace.tree.turns else { return };
        let root = trace.worth.ops.0.max(1);
        let ops = |number: TraceId| self.traces.get(number).map_or(0, |trace| trace.worth.ops.0);
        let tree: u64 = self.tree_of(number).into_iter().map(ops).sum();
        // The loop twice, and its side traces, beside the loop twice.
        let enough = (MANY_TURNS as f64 * (root + tree) as f64 / (2 * root) as f64) as u64;
        let (all, ways) = (turns.all(), trace.entries + trace.region.crossed());
        // Within one function crossings are not counted; it was made for a loop of several ways.
        let is_region = trace.region.plain.is_some();
        let goes_on = !is_region && all >= ways.saturating_mul(LEAST_TURNS_PER_ENTRY);
        let (key, more) = match (all < enough, goes_on) {
            (true, _) => (None, enough - all),
            (false, false) => (None, all),
            (false, true) => (Some(trace.tree.key), i64::MAX as u64),
        };
        if let Some(turns) = self.traces.get_mut(number).and_then(|trace| trace.tree.turns.as_mut()) {
            turns.begin(more);
        }
        let Some(location) = key.and_then(|key| self.locations.get_mut(&key)) else { return };
        if location.entries.contains(&number) {
            location.outgrown = Some(Outgrown { trace: number, asked: 0 });
            location.is_peeled_always = true;
            self.gates.shut();
            self.tell(|vm| format!("{} goes on for long: it will be compiled again", vm.shown(number)));
        }
    }

    /// Whether the loop is to be recorded although it has code, which it has outgrown.
    ///
    /// # Safety
    /// `base` points to the frame's slots, as many as any trace of this loop names.
    pub(crate) unsafe fn has_outgrown(&mut self, key: Key, base: *const u8) -> bool {
        let Some(location) = self.locations.get_mut(&key) else { return false };
        let is_asleep = location.state.is_asleep();
        let Some(outgrown) = location.outgrown.as_mut().filter(|_| !is_asleep) else { return false };
        let ids = [outgrown.trace];
        // SAFETY: promised by the caller.
        if unsafe { self.traces.fitting(&ids, base, &self.schema) }.is_none() {
            return false;
        }
        outgrown.asked += 1;
        if outgrown.asked > MOST_ASKED {
            // The host cannot record here.
            location.outgrown = None;
        }
        location.outgrown.is_some()
    }

    /// The loop has new code, in place of that which it has outgrown.
    pub(crate) fn replace_outgrown(&mut self, key: Key) {
        let outgrown = self.locations.get_mut(&key).and_then(|location| location.outgrown.take());
        if let Some(Outgrown { trace, .. }) = outgrown {
            self.drop_entry(trace);
            self.totals.outgrown += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use tracelift_core::{ExitKind, Op};

    use super::*;
    use crate::run::Action;
    use crate::support::{int, Host, Tape};
    use crate::tunables::PEELED_OPS;
    use crate::{CloseOutcome, Config};

    const HEAD: Key = 1;
    /// More iterations than a loop without a preamble goes round before it is looked at.
    const N: i64 = 2 * MANY_TURNS as i64;

    /// `while i < n: if flag then interrupt; s = s ~ i, often; i = i + 1` with s, i, n, flag in slots 0 to 3.
    fn long(tape: &mut Tape<'_>) {
        tape.while_less(0, 0b1111, 1, 2);
        tape.at(1, 0b1111);
        let (flag, zero) = (tape.int(3), tape.constant(0));
        let goes_on = tape.op2(Op::IntEq, flag, zero);
        tape.guard(goes_on, ExitKind::Interrupt);
        let (mut s, i) = (tape.int(0), tape.int(1));
        for _ in 0..PEELED_OPS | 1 {
            s = tape.op2(Op::IntXor, s, i);
        }
        tape.write_int(0, s);
        tape.add(2, 0b1111, 1, 1);
    }

    /// All numbers below `n`, exclusive or.
    fn sum(n: i64) -> i64 {
        (0..n).fold(0, |sum, i| sum ^ i)
    }

    /// A host whose loop has code without a preamble, as it is long.
    fn host() -> Host {
        let mut host = Host::new(Config { threshold: 1, ..Config::default() });
        // A clock that stands: there is time for all code.
        host.vm.budget.stands_at(1_000_000_000);
        set(&mut host, 100);
        assert!(matches!(host.back_edge(HEAD), Action::Record));
        assert!(matches!(host.record(HEAD, long), CloseOutcome::Compiled(TraceId(0))));
        host
    }

    fn set(host: &mut Host, n: i64) {
        host.frame[..4].copy_from_slice(&[int(0), int(0), int(n), int(0)]);
    }

    fn is_peeled(host: &Host, number: u32) -> bool {
        let trace = &host.vm.traces.get(TraceId(number)).unwrap().source.trace;
        trace.labels.len() > 1
    }

    /// Runs the loop until its code is outgrown.
    fn outgrow(host: &mut Host) {
        set(host, N);
        assert_eq!(host.run(HEAD), Some((ExitKind::Interrupt, 1)), "the flag is not set");
        let i = host.frame[1].payload as i64;
        assert_eq!((host.frame[0], i), (int(sum(i)), MANY_TURNS as i64), "so many guards have let it pass");
        assert!(matches!(host.next(), Action::Nothing));
        assert!(host.vm.locations[&HEAD].outgrown.is_some());
    }

    #[test]
    fn a_long_loop_gets_a_preamble_when_it_has_gone_on() {
        let mut host = host();
        assert!(!is_peeled(&host, 0));
        outgrow(&mut host);
        assert!(matches!(host.back_edge(HEAD), Action::Record));
        assert!(matches!(host.record(HEAD, long), CloseOutcome::Compiled(TraceId(1))));
        assert!(is_peeled(&host, 1));
        let location = &host.vm.locations[&HEAD];
        assert_eq!((&location.entries[..], &location.discarded[..]), (&[TraceId(1)][..], &[TraceId(0)][..]));
        set(&mut host, N);
        assert_eq!(host.run(HEAD), Some((ExitKind::LoopEnd, 0)));
        assert_eq!(host.frame[..3], [int(sum(N)), int(N), int(N)]);
        let text = host.vm.stats().text();
        assert!(text.contains("long loops compiled again with a preamble: 1"), "{text}");
    }

    /// The tree would have to grow once more, trace by trace.
    #[test]
    fn a_tree_that_became_one_function_is_kept() {
        let mut host = host();
        let root = host.vm.traces.get_mut(TraceId(0)).unwrap();
        root.region.plain = Some(root.code);
        set(&mut host, N);
        assert_eq!(host.run(HEAD), Some((ExitKind::Interrupt, 1)));
        assert!(matches!(host.next(), Action::Nothing));
        assert!(host.vm.locations[&HEAD].outgrown.is_none());
    }

    #[test]
    fn what_cannot_be_recorded_again_keeps_its_code() {
        let mut host = host();
        outgrow(&mut host);
        assert!(matches!(host.back_edge(HEAD), Action::Record));
        host.begin(HEAD, |_| {});
        host.vm.abort_recording(crate::AbortReason::Abandoned);
        assert!(matches!(host.back_edge(HEAD), Action::Run(_)));
        set(&mut host, N);
        assert_eq!(host.run(HEAD), Some((ExitKind::LoopEnd, 0)), "it is not asked again");
        assert_eq!((host.frame[0], host.vm.stats().outgrown), (int(sum(N)), 0));
    }

    /// That it is left to the loop around it would be for good: its code is entered, and no back edge counts.
    #[test]
    fn who_has_outgrown_its_code_is_left_to_nobody() {
        let mut host = host();
        outgrow(&mut host);
        assert!(matches!(host.back_edge(HEAD), Action::Record));
        assert!(!host.vm.leave_to(HEAD + 1));
        assert!(matches!(host.record(HEAD, long), CloseOutcome::Compiled(TraceId(1))));
        assert!(is_peeled(&host, 1));
    }

    /// A host that cannot record where it is asked for it.
    #[test]
    fn nobody_is_asked_for_ever() {
        let mut host = host();
        outgrow(&mut host);
        let asked = (0..100).filter(|_| matches!(host.back_edge(HEAD), Action::Record)).count();
        assert_eq!(asked as u64, MOST_ASKED);
    }

    #[test]
    fn slots_of_another_type_do_not_replace_it() {
        let mut host = host();
        outgrow(&mut host);
        host.frame[0] = crate::support::float(1.5);
        assert!(matches!(host.back_edge(HEAD), Action::Record), "for these it has no code yet");
        host.frame[0] = int(0);
        assert!(matches!(host.back_edge(HEAD), Action::Record));
    }

    #[test]
    fn a_loop_that_is_left_soon_is_not_peeled() {
        let mut host = host();
        let mut kinds = [0, 0];
        for _ in 0..MANY_TURNS {
            set(&mut host, 3);
            let kind = host.run(HEAD).map(|(kind, _)| kind);
            kinds[usize::from(kind == Some(ExitKind::Interrupt))] += 1;
            host.next();
        }
        assert!(kinds[1] <= 4 && host.vm.locations[&HEAD].outgrown.is_none(), "{kinds:?}");
    }
}
