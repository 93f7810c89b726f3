//! A10 and A11: what a peeled trace does when it runs.
//!
//! Problem: moving an operation to the preamble must never make it run where it did not run before, and the
//! preamble must serve any iteration, not only the first. Design: listings for the first, and for both of
//! them runs against the recorded trace, over all inputs that matter. Invariant: every run that the recorded
//! trace survives, the peeled one survives with the same end. Example: `guard_true(d != 0); q = x / d` leaves
//! at the guard when `d` is 0.

use tracelift_core::eval::{compare_outcomes, End, Evaluator, Limits};
use tracelift_core::world::World;
use tracelift_core::Op;

use crate::allocation_removal::COUNTING_DOWN;
use crate::support::{in_loop, listing, optimized, parse, Subject};

/// Section 6.2: the division runs in the preamble, after its guard; the loop uses the result.
#[test]
fn a10_an_invariant_division_stays_behind_its_guard() {
    listing(
        "-all,+peel,+fold,+cse,+guards,+dce",
        "L0(i0, i1):
@0 = frame[0: int i0, 1: int i1]
i2 = int_ne(i1, 0)
guard_true(i2) @0
i3 = int_floordiv(i0, i1)
call(print, i3)
jump(L0, i0, i1)
",
        "L0(i0, i1):
@0 = frame[0: int i0, 1: int i1]
guard_true(i1) @0
i3 = int_floordiv(i0, i1)
call(print, i3)
jump(L1, i0, i1, i3)
L1(i0, i1, i3):
call(print, i3)
jump(L1, i0, i1, i3)
",
    );
}

/// With guards kept, the loop tests again, and still uses the preamble's quotient.
#[test]
fn a10_without_guard_removal_the_guard_stays_too() {
    let file = parse(
        "L0(i0, i1):\ni2 = int_ne(i1, 0)\nguard_true(i2)\ni3 = int_floordiv(i0, i1)\ncall(print, i3)\njump(L0, i0, i1)\n",
    );
    let out = optimized("-all,+peel,+cse", &file);
    assert_eq!((in_loop(&out.trace, Op::GuardTrue), in_loop(&out.trace, Op::IntFloorDiv)), (1, 0));
}

/// Where the divisor changes, guard and division stay in the loop, in this order.
#[test]
fn a10_a_divisor_that_changes_is_tested_in_each_iteration() {
    let file = parse(DIVISIONS);
    let out = optimized("", &file);
    assert!(out.peeled.is_some());
    let body: Vec<Op> =
        out.trace.insts.iter().rev().take_while(|inst| inst.op != Op::Label).map(|i| i.op).collect();
    let place = |op: Op| body.iter().rev().position(|other| *other == op).expect("the loop has it");
    assert!(place(Op::IntFloorDiv) > place(Op::GuardTrue));
}

/// Divides by what counts down to 0, and keeps the sum of the quotients.
const DIVISIONS: &str = "object sum = BoxedInteger { intval: 0 }
L0(p0, i1, i2):
@0 = frame[0: ref p0, 1: int i1, 2: int i2]
i3 = int_ne(i2, 0)
guard_true(i3) @0
i4 = int_floordiv(i1, i2)
i5 = get(p0, intval)
i6 = int_add(i5, i4)
set(p0, intval, i6) @0
i7 = int_sub(i2, 1)
jump(L0, p0, i1, i7)
";

/// No run divides by 0 where the recorded trace would have left: the evaluator would say so.
#[test]
fn a10_no_division_runs_ahead_of_its_guard() {
    for divisor in [0, 1, 2, 3, 7] {
        let file = parse(&format!("{DIVISIONS}run: @sum, 1000, {divisor}\n"));
        let subject = Subject::of(&file);
        for passes in ["-all,+peel", "-all,+peel,+cse,+guards", ""] {
            let out = optimized(passes, &file);
            let end =
                subject.compare(&out.trace, None).unwrap_or_else(|what| panic!("{divisor} {passes}: {what}"));
            assert_eq!(end.iteration, divisor, "it leaves where the divisor is 0");
            subject.compare_all(&out.trace, 20).unwrap_or_else(|what| panic!("{divisor} {passes}: {what}"));
        }
    }
}

/// "The preamble … corresponds to any iteration": entered at iteration n, the peeled trace goes on as the
/// recorded one.
#[test]
fn a11_the_preamble_serves_any_iteration() {
    let (divisions, counting) = (format!("{DIVISIONS}run: @sum, 1000, 9\n"), COUNTING_DOWN.to_string());
    for input in [divisions, counting] {
        let file = parse(&input);
        let subject = Subject::of(&file);
        let whole = subject.run(subject.recorded, Limits::default()).expect("it runs").0;
        assert!(whole.iteration >= 8, "the loop goes round");
        for passes in ["-all,+peel", "-all,+peel,+virtuals", ""] {
            let out = optimized(passes, &file);
            assert!(out.peeled.is_some(), "{passes}");
            for start in 0..=whole.iteration {
                let (mut world, inputs) = at_head(&subject, start);
                let peeled =
                    Evaluator::new(&out.trace, &subject.schema).run(&mut world, &inputs, Limits::default());
                let peeled = peeled.expect("it runs");
                let (mut other, inputs) = at_head(&subject, start);
                let evaluator = Evaluator::new(subject.recorded, &subject.schema);
                let recorded = evaluator.run(&mut other, &inputs, Limits::default()).expect("it runs");
                assert!(matches!(peeled.end, End::Exit { .. }));
                let what = format!("{passes}: entered at iteration {start}");
                assert_eq!(peeled.origin, recorded.origin, "{what}");
                assert_eq!(peeled.iteration, whole.iteration - start, "{what}");
                compare_outcomes(&subject.schema, (&recorded, &other), (&peeled, &world), &[])
                    .unwrap_or_else(|difference| panic!("{what}: {difference}"));
            }
        }
    }
}

/// A world in which the recorded trace has gone round so often, and what it would pass to its head.
fn at_head(subject: &Subject<'_>, iteration: u64) -> (World, Vec<u64>) {
    let (mut world, inputs) = subject.world();
    let limits = Limits { stop_at: Some((0, iteration)), ..Limits::default() };
    let stopped = Evaluator::new(subject.recorded, &subject.schema).run(&mut world, &inputs, limits);
    let stopped = stopped.expect("the recorded trace runs");
    assert_eq!(stopped.end, End::Stopped, "snapshot 0 is the head's");
    let bits = stopped.frames[0].slots.iter().map(|slot| slot.bits.expect("the head's slots have payloads"));
    (world, bits.collect())
}
