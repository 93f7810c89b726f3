//! Ark's loop peeling, requirement by requirement (checklist C1 to C5 of seed 001), on texts.
//!
//! Each region has runs: what comes of them must be the same before and after.

use std::sync::Arc;

use expect_test::{expect, Expect};
use tracelift_core::eval::{End, Evaluator, Limits, Outcome};
use tracelift_core::text::{parse_file, print_trace, RunValue, TraceFile};
use tracelift_core::verify::{verify, Mode};
use tracelift_core::world::World;
use tracelift_core::{Op, Trace};

use super::{clean_up, optimize_region, peel_loops, Refusal};
use crate::{Config, OptError};

fn read(text: &str) -> TraceFile {
    let file =
        parse_file(text, &tracelift_core::testbed::natives).unwrap_or_else(|error| panic!("{error}\n{text}"));
    check(&file, &file.traces[0]);
    file
}

/// The verifier accepts it, and each run gives the results that the file says.
fn check(file: &TraceFile, region: &Trace) {
    let text = print_trace(region, &file.schema);
    assert_eq!(verify(region, &file.schema, Mode::Region), [], "{text}");
    assert!(!file.runs.is_empty());
    for run in &file.runs {
        let bits = |value: &RunValue| match value {
            RunValue::Bits(_, bits) => *bits,
            other => panic!("{other:?} is no number"),
        };
        let inputs: Vec<u64> = run.inputs.iter().map(bits).collect();
        let outcome = evaluate(file, region, &inputs, Limits::default());
        let tracelift_core::text::Outcome::Finish(wanted) = &run.outcome else {
            panic!("no results are wanted")
        };
        assert_eq!(outcome.end, End::Finish(wanted.iter().map(bits).collect()), "line {}\n{text}", run.line);
    }
}

fn evaluate(file: &TraceFile, region: &Trace, inputs: &[u64], limits: Limits) -> Outcome {
    let mut world = World::build(&file.world, &Arc::new(file.schema.clone()));
    Evaluator::new(region, &file.schema).run(&mut world, inputs, limits).unwrap()
}

/// The region after peeling, and after that and cleaning up, with what became of each loop.
fn peeled(text: &str) -> (String, String, Vec<(String, Option<Refusal>)>) {
    let file = read(text);
    let (region, report) = peel_loops(&file.traces[0]);
    check(&file, &region);
    let clean = clean_up(region.clone(), &file.schema);
    check(&file, &clean);
    let loops = report.loops.into_iter().map(|one| (one.header, one.refusal)).collect();
    (print_trace(&region, &file.schema), print_trace(&clean, &file.schema), loops)
}

/// The one loop is refused, and the region stays as it is.
fn refused(text: &str, why: Refusal) {
    let (after, _, loops) = peeled(text);
    assert!(loops.iter().any(|(_, refusal)| *refusal == Some(why)), "{loops:?}");
    assert!(loops.iter().all(|(_, refusal)| refusal.is_some()), "{loops:?}");
    assert_eq!(after, print_trace(&read(text).traces[0], &read(text).schema));
}

fn shows(text: &str, before_cleaning: Expect, clean: Expect) {
    let (after, cleaned, loops) = peeled(text);
    assert!(loops.iter().any(|(_, refusal)| refusal.is_none()), "{loops:?}");
    before_cleaning.assert_eq(&after);
    clean.assert_eq(&cleaned);
}

/// A sum of 0 to n - 1, the test at the header.
const SUM: &str = "L0(i0):
jump(L1, i0, 0, 0)
L1(i1, i2, i3):
i4 = i2 < i1
jump_if(i4, L2, i1, i2, i3)
jump(L3, i3)
L2(i5, i6, i7):
i8 = i7 + i6
i9 = i6 + 1
jump(L1, i5, i9, i8)
L3(i10):
finish(i10)
run: 5 -> finish(10)
run: 1 -> finish(0)
run: 0 -> finish(0)
";

#[test]
fn c1_an_irreducible_loop_is_refused() {
    let text = "L0(i0):\njump_if(i0, L1, i0)\njump(L2, 9)\nL1(i1):\ni2 = i1 - 1\njump_if(i2, L2, i2)\n\
        jump(L3, i2)\nL2(i3):\njump(L1, i3)\nL3(i4):\nfinish(i4)\nrun: 3 -> finish(0)\nrun: 0 -> finish(0)\n";
    refused(text, Refusal::Irreducible);
}

#[test]
fn c1_the_regions_entry_is_refused() {
    let text =
        "L0(i0):\ni1 = i0 > 0\njump_if(i1, L1, i0)\njump(L2, i0)\nL1(i2):\ni3 = i2 - 3\njump(L0, i3)\n\
        L2(i4):\nfinish(i4)\nrun: 7 -> finish(-2)\n";
    refused(text, Refusal::OsrEntry);
}

#[test]
fn c1_several_back_edges_are_refused() {
    let text = "L0(i0):\njump(L1, i0)\nL1(i1):\ni2 = i1 > 0\njump_if(i2, L2, i1)\njump(L4, i1)\n\
        L2(i3):\ni4 = i3 & 1\njump_if(i4, L3, i3)\ni5 = i3\nL3(i6):\ni7 = i6 - 1\njump(L1, i7)\n";
    // The body goes back from two places.
    let text = text.replace("i5 = i3\n", "jump(L5, i3)\n")
        + "L4(i8):\nfinish(i8)\nL5(i9):\ni10 = i9 - 2\njump(L1, i10)\nrun: 7 -> finish(0)\n";
    refused(&text, Refusal::SeveralBackEdges);
}

#[test]
fn c1_a_loop_that_is_not_left_at_its_header_is_refused() {
    let text = "L0(i0):\njump(L1, i0)\nL1(i1):\ni2 = i1 - 1\njump(L2, i2)\nL2(i3):\njump_if(i3, L1, i3)\n\
        finish(i3)\nrun: 5 -> finish(0)\n";
    refused(text, Refusal::NotLeftAtHeader);
}

#[test]
fn c1_a_loop_with_an_inner_loop_is_refused() {
    let text = "L0(i0):\njump(L1, i0, 0)\nL1(i1, i2):\njump_if(i1, L2, i1, i2)\njump(L4, i2)\n\
        L2(i3, i4):\ni5 = i4 + 1\ni6 = i5 & 3\njump_if(i6, L2, i3, i5)\njump(L3, i3, i5)\n\
        L3(i7, i8):\ni9 = i7 - 1\njump(L1, i9, i8)\nL4(i10):\nfinish(i10)\nrun: 3 -> finish(12)\n";
    let (_, _, loops) = peeled(text);
    let inner = ("L2".to_string(), Some(Refusal::LeftAtBackEdge));
    assert_eq!(loops, [("L1".to_string(), Some(Refusal::InnerLoops)), inner]);
}

/// Both stages: the clone of the header, the resolver, and the header's code at the back edge.
#[test]
fn c2_c3_the_exit_moves_to_the_back_edge() {
    shows(
        SUM,
        expect![[r#"
            L0(i0):
            jump(L1_pre, i0, 0, 0)
            L1_pre(i13, i14, i15):
            i16 = int_lt(i14, i13)
            jump_if(i16, L1, i13, i14, i15)
            jump(L1_out, i15)
            L1(i18, i19, i20):
            jump(L2, i18, i19, i20)
            L2(i5, i6, i7):
            i8 = int_add(i7, i6)
            i9 = int_add(i6, 1)
            jump(L1_exit, i5, i9, i8)
            L1_exit(i1, i2, i3):
            i4 = int_lt(i2, i1)
            jump_if(i4, L1, i1, i2, i3)
            jump(L1_out, i3)
            L1_out(i17):
            jump(L3, i17)
            L3(i10):
            finish(i10)
        "#]],
        expect![[r#"
            L0(i0):
            i2 = int_lt(0, i0)
            jump_if(i2, L1, i0, 0, 0)
            jump(L1_out, 0)
            L1(i3, i15, i5):
            i8 = int_add(i5, i15)
            i9 = int_add(i15, 1)
            i4 = int_lt(i9, i3)
            jump_if(i4, L1, i3, i9, i8)
            jump(L1_out, i8)
            L1_out(i10):
            finish(i10)
        "#]],
    );
}

/// The seed's example. Parameter 1 is passed as what phi 3 starts with; a flag stands for what the safepoint
/// looks at.
const EXAMPLE: &str = "L0(i0, i1, i2, i90):
jump(L2, i0, i2, i1, i2, i90)
L2(i10, i12, i3, i4, i91):
@0 = frame[0: int i10, 1: int i3, 2: int i4]
i5 = i3 - i12
guard_true(i91) @0 interrupt
i7 = i5 == i10
jump_if(i7, L3, i10, i12, i4, i5, i91)
jump(L4, i4)
L3(i13, i14, i15, i16, i92):
i9 = i15 & i16
i20 = i9 + i15
jump(L2, i13, i14, i16, i20, i92)
L4(i11):
finish(i11)
run: 4, 7, 3, 1 -> finish(3)
run: 0, 3, 3, 1 -> finish(3)
run: 5, 8, 3, 1 -> finish(4)
";

#[test]
fn c4_the_seeds_example() {
    shows(
        EXAMPLE,
        expect![[r#"
        L0(i0, i1, i2, i90):
        jump(L2_pre, i0, i2, i1, i2, i90)
        L2_pre(i19, i52, i21, i22, i23):
        i24 = int_sub(i21, i52)
        i25 = int_eq(i24, i19)
        jump_if(i25, L2, i19, i52, i22, i24, i23)
        jump(L2_out, i22)
        L2(i27, i28, i29, i30, i31):
        jump(L3, i27, i28, i29, i30, i31)
        L3(i13, i14, i15, i16, i92):
        i9 = int_and(i15, i16)
        i20 = int_add(i9, i15)
        jump(L2_exit, i13, i14, i16, i20, i92)
        L2_exit(i10, i12, i3, i4, i91):
        i5 = int_sub(i3, i12)
        @0 = frame[0: int i10, 1: int i3, 2: int i4]
        guard_true(i91) @0 interrupt
        i7 = int_eq(i5, i10)
        jump_if(i7, L2, i10, i12, i4, i5, i91)
        jump(L2_out, i4)
        L2_out(i26):
        jump(L4, i26)
        L4(i11):
        finish(i11)
    "#]],
        expect![[r#"
        L0(i0, i1, i2, i90):
        i4 = int_sub(i1, i2)
        i21 = int_eq(i4, i0)
        jump_if(i21, L2, i0, i2, i2, i4, i90)
        jump(L2_out, i2)
        L2(i6, i23, i8, i25, i10):
        i9 = int_and(i8, i25)
        i20 = int_add(i9, i8)
        i5 = int_sub(i25, i23)
        @0 = frame[0: int i6, 1: int i25, 2: int i20]
        guard_true(i10) @0 interrupt
        i7 = int_eq(i5, i6)
        jump_if(i7, L2, i6, i23, i20, i5, i10)
        jump(L2_out, i20)
        L2_out(i15):
        finish(i15)
    "#]],
    );
}

/// The state at the safepoint is that of its old place: the seed prints `5` where `3` is right.
#[test]
fn c4_the_safepoints_state_moves_with_it() {
    let file = read(EXAMPLE);
    let (region, _) = optimize_region(&file.traces[0], &file.schema, &Config::new());
    let states = |region: &Trace| -> Vec<String> {
        let forced = |guard| Limits { force_guard: Some(guard), ..Limits::default() };
        let outcomes = (1..).map(|guard| evaluate(&file, region, &[5, 8, 3, 1], forced(guard)));
        let exits = outcomes.take_while(|outcome| matches!(outcome.end, End::Exit { .. }));
        exits.map(|outcome| format!("{:?}", outcome.frames)).collect()
    };
    let [before, after] = [&file.traces[0], &region].map(states);
    assert_eq!(before.len(), 2, "two iterations");
    assert_eq!(after[..], before[1..], "the first one's safepoint is left out");
}

/// The inner loop of a nest is peeled, the outer one not.
#[test]
fn c5_the_inner_loop_of_a_nest() {
    let text = "L0(i0):\njump(L1, i0, 0)\nL1(i1, i2):\njump_if(i1, L2, i1, i2, 0)\njump(L5, i2)\n\
        L2(i3, i4, i5):\ni6 = i5 < i3\njump_if(i6, L3, i3, i4, i5)\njump(L4, i3, i4)\n\
        L3(i7, i8, i9):\ni10 = i8 + i9\ni11 = i9 + 1\njump(L2, i7, i10, i11)\n\
        L4(i12, i13):\ni14 = i12 - 1\njump(L1, i14, i13)\nL5(i15):\nfinish(i15)\nrun: 4 -> finish(10)\n";
    let (_, _, loops) = peeled(text);
    assert_eq!(loops, [("L1".to_string(), Some(Refusal::InnerLoops)), ("L2".to_string(), None)]);
}

#[test]
fn c5_a_diamond_in_the_body() {
    let text = "L0(i0):\njump(L1, i0, 0)\nL1(i1, i2):\njump_if(i1, L2, i1, i2)\njump(L6, i2)\n\
        L2(i3, i4):\ni5 = i3 & 1\njump_if(i5, L3, i3, i4)\njump(L4, i3, i4)\nL3(i6, i7):\ni8 = i7 + i6\n\
        jump(L5, i6, i8)\nL4(i9, i10):\ni11 = i10 ^ i9\njump(L5, i9, i11)\nL5(i12, i13):\ni14 = i12 - 1\n\
        jump(L1, i14, i13)\nL6(i15):\nfinish(i15)\nrun: 6 -> finish(17)\nrun: 0 -> finish(0)\n";
    let (_, clean, loops) = peeled(text);
    assert_eq!(loops, [("L1".to_string(), None)]);
    assert_eq!(clean.matches("jump_if").count(), 3, "before the loop, in it, and at its end:\n{clean}");
}

/// Left at the header and at the back edge; and never.
#[test]
fn c5_two_exits_and_none() {
    let two = "L0(i0):\njump(L1, i0)\nL1(i1):\njump_if(i1, L2, i1)\njump(L3, i1)\nL2(i2):\ni3 = i2 - 2\n\
        i4 = i3 < 0\njump_if(i4, L3, i3)\njump(L1, i3)\nL3(i5):\nfinish(i5)\n\
        run: 4 -> finish(0)\nrun: 5 -> finish(-1)\n";
    refused(two, Refusal::NotLeftAtHeader);
    let none = "L0(i0):\njump_if(i0, L1, i0)\nfinish(7)\nL1(i1):\njump(L2, i1)\nL2(i2):\njump(L1, i2)\n\
        run: 0 -> finish(7)\n";
    refused(none, Refusal::NotLeftAtHeader);
}

/// A loop may leave the region itself; there is nothing to resolve then.
#[test]
fn c5_the_exit_ends_the_region() {
    let text = SUM.replace("jump(L3, i3)\n", "finish(i3)\n").replace("L3(i10):\nfinish(i10)\n", "");
    let (_, clean, loops) = peeled(&text);
    assert_eq!((loops, clean.matches("finish").count()), (vec![("L1".to_string(), None)], 2), "{clean}");
    let in_body = SUM.replace("jump(L1, i5, i9, i8)", "jump_if(i9, L1, i5, i9, i8)\nfinish(i8)");
    refused(&in_body, Refusal::NotLeftAtHeader);
}

/// An argument of the header that nobody uses goes, also if it is passed round.
#[test]
fn c5_a_dead_argument_of_the_header() {
    let text = SUM
        .replace("jump(L1, i0, 0, 0)", "jump(L1, i0, 0, 0, i0)")
        .replace("L1(i1, i2, i3)", "L1(i1, i2, i3, i20)");
    let text = text.replace("jump(L1, i5, i9, i8)", "i21 = i9 * 3\njump(L1, i5, i9, i8, i21)");
    let (_, clean, _) = peeled(&text);
    let (_, without, _) = peeled(SUM);
    assert_eq!(clean, without);
}

#[test]
fn c5_the_header_is_the_back_edge() {
    let text = "L0(i0):\njump(L1, i0)\nL1(i1):\ni2 = i1 - 1\njump_if(i2, L1, i2)\njump(L2, i2)\n\
        L2(i3):\nfinish(i3)\nrun: 3 -> finish(0)\n";
    refused(text, Refusal::LeftAtBackEdge);
}

/// Of several safepoints only the header's is left out before the loop.
#[test]
fn c5_several_safepoints() {
    let text = EXAMPLE.replace(
        "i9 = i15 & i16\n",
        "@1 = frame[0: int i13, 1: int i16, 2: int i15]\nguard_true(i92) @1 interrupt\ni9 = i15 & i16\n",
    );
    let (_, clean, _) = peeled(&text);
    let before_the_loop = clean.split("L2(").next().unwrap_or_default();
    assert_eq!(
        (before_the_loop.matches("interrupt").count(), clean.matches("interrupt").count()),
        (0, 2),
        "{clean}"
    );
}

/// A call in the header is made as often as before.
#[test]
fn c5_a_call_in_the_header() {
    let text = SUM.replace("i4 = i2 < i1\n", "i4 = i2 < i1\ni20 = mix(i2, 1.5)\n");
    let text = text
        .replace("jump(L3, i3)", "i21 = i20 & 0\ni22 = i3 + i21\njump_if(i4, L2, i1, i2, i3)\njump(L3, i22)");
    let text = text.replacen("jump_if(i4, L2, i1, i2, i3)\n", "", 1);
    let file = read(&format!("func mix(int, float) -> int evaluable = native test.mix\n{text}"));
    let (region, report) = optimize_region(&file.traces[0], &file.schema, &Config::new());
    assert_eq!(report.peeled(), 1);
    check(&file, &region);
    let calls = |region| evaluate(&file, region, &[5], Limits::default()).op_counts[Op::Call as usize];
    assert_eq!([calls(&file.traces[0]), calls(&region)], [6, 6]);
}

#[test]
fn a_region_is_no_trace() {
    let file = read(SUM);
    let result = crate::optimize(&file.traces[0], &file.schema, &Config::new());
    assert_eq!(result.unwrap_err(), OptError::Malformed("a region is no trace"));
    let errors = verify(&file.traces[0], &file.schema, Mode::Optimized);
    assert_eq!(errors[0].message, "jump_if stands in no region");
    let mut region = file.traces[0].clone();
    let at = region.insts.iter().position(|inst| inst.op == Op::JumpIf).unwrap();
    region.insts.swap(at - 1, at);
    let messages: Vec<String> =
        verify(&region, &file.schema, Mode::Region).into_iter().map(|e| e.message).collect();
    assert!(
        messages.contains(&"int_lt stands between a jump_if and its block's end".to_string()),
        "{messages:?}"
    );
}
