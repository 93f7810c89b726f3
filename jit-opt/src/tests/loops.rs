//! What is found out of single loops: steps, counters, what is the same again, streams.
//!
//! Problem: an analysis that finds too little only costs time, so that no outcome of a trace shows it; one
//! that finds too much is wrong for one form of a loop among many. Design: loops of a few lines, each with
//! what is to be known of it and one thing changed that makes it unknown. Invariant: a fact that is asked for
//! here is found, and the loop beside it does not have it. Example: `i1 + 1 - 3` is a step of -2, `i1 + i2`
//! is none.

use tracelift_core::loops::{LoopFacts, Stream};
use tracelift_core::testbed::{natives, standard_schema};
use tracelift_core::text::{parse_file, parse_trace};
use tracelift_core::Value;

use crate::loops::Loop;
use crate::loops_of;

/// The steps of the loop that takes `i0`, `i1`, `i2`, has this body and passes these on, by the number of
/// their argument; and its counter.
fn steps(body: &str, passed: &str) -> (Vec<(u32, i64)>, Option<u32>) {
    let text = format!("L0(i0, i1, i2):\n{body}\njump(L0, {passed})\n");
    let trace = parse_trace(&text, &standard_schema()).expect(&text);
    let of = Loop::at(&trace, 0).expect("it is a loop");
    let steps = of.steps(&of.sums());
    let number = |value: Value| trace.inputs().iter().position(|&input| input == value).unwrap() as u32;
    let counter = of.counter(&steps).map(number);
    (steps.iter().map(|step| (number(step.value), step.by)).collect(), counter)
}

#[test]
fn an_argument_changes_by_what_is_added_up() {
    let (found, counter) = steps("i5 = int_add(i0, 1)\ni6 = int_sub(i1, 3)", "i5, i6, i2");
    assert_eq!((found, counter), (vec![(0, 1), (1, -3)], None));
    let (found, _) = steps("i5 = int_add(1, i0)\ni6 = int_sub(i5, 3)", "i6, i1, i5");
    assert_eq!(found, [(0, -2)], "two operations, and an argument that gets another one's sum");
    let (found, _) =
        steps("i5 = int_add_ovf(i0, 1)\ni6 = int_add(i1, i2)\ni7 = int_sub(4, i2)", "i5, i6, i7");
    assert_eq!(found, [(0, 1)], "neither what is no constant nor what is taken from one");
    let (found, _) = steps("i5 = int_mul(i0, 2)\ni6 = int_add(i5, 1)\ni7 = int_add(i1, 0)", "i6, i7, i2");
    assert_eq!(found, []);
    let (found, _) = steps("i5 = int_add(i0, 1)", "i1, i5, i2");
    assert_eq!(found, [], "they change places");
}

#[test]
fn a_counter_falls_by_one_and_is_tested() {
    let counter =
        |body: &str| steps(&format!("{body}\ni5 = int_sub(i0, 1)\ni6 = int_add(i1, -1)"), "i5, i6, i2").1;
    assert_eq!(counter("guard_true(i1)"), Some(1));
    assert_eq!(counter("guard_true(i0)\nguard_true(i1)"), Some(0));
    assert_eq!(counter("i9 = int_ne(i1, 0)\nguard_true(i9)"), Some(1));
    for other in [
        "",
        "guard_false(i1)",
        "guard_true(i2)",
        "i9 = int_ne(i1, 1)\nguard_true(i9)",
        "i9 = int_ne(i1, 0)\nguard_false(i9)",
        "i9 = int_ne(i2, 0)\nguard_true(i9)",
    ] {
        assert_eq!(counter(other), None, "{other}");
    }
}

#[test]
fn a_step_is_made_at_once_by_one_sum() {
    let at_once = |body: &str| {
        let text = format!("L0(i0, i1):\n{body}\njump(L0, i5, i1)\n");
        let trace = parse_trace(&text, &standard_schema()).expect(&text);
        let of = Loop::at(&trace, 0).expect("it is a loop");
        let steps = of.steps(&of.sums());
        assert_eq!(steps.len(), 1, "{text}");
        of.is_made_at_once(steps[0].value)
    };
    assert!(
        at_once("i5 = int_add(i0, 1)") && at_once("i5 = int_add(1, i0)") && at_once("i5 = int_sub(i0, 1)")
    );
    assert!(!at_once("i4 = int_add(i0, 1)\ni5 = int_add(i4, 1)") && !at_once("i5 = int_add_ovf(i0, 1)"));
}

/// The facts of the loops of a trace file, whose schema has flags of three kinds and an array.
fn facts(trace: &str) -> Vec<LoopFacts> {
    let schema = "cell plain: int @0 class flags\ncell polled: int @0 class flags polled\n\
         cell wild: int @0 class flags volatile\ncell other: int @8 class others\ncell base: addr @16 class others\n";
    let text = format!("{schema}trace t\n{trace}");
    let file = parse_file(&text, &natives).unwrap_or_else(|error| panic!("{error}\n{text}"));
    loops_of(&file.traces[0], &file.schema).iter().cloned().collect()
}

/// What one iteration does for several, by distance from the label.
fn once(body: &str) -> Vec<usize> {
    let found = facts(&format!("L0(a0, a1, i2):\n{body}\ni9 = int_add(i2, 1)\njump(L0, a0, a1, i9)\n"));
    assert_eq!(found.len(), 1);
    found[0].once.clone()
}

#[test]
fn a_test_that_has_the_same_outcome_again_is_made_once() {
    let test = |cell: &str| format!("i3 = load(a0, {cell})\ni4 = int_and(i3, 5)\nguard_true(i4) interrupt");
    for cell in ["plain", "polled", "other"] {
        assert_eq!(once(&test(cell)), [1, 2, 3], "{cell}");
    }
    assert_eq!(once(&test("wild")), []);
    assert_eq!(once(&test("plain").replace(" interrupt", "")), [], "it is another guard");
    // The loop writes the flag's class, or another.
    for (cell, found) in [("polled", vec![]), ("other", vec![1, 2, 3])] {
        assert_eq!(once(&format!("{}\nstore(a1, plain, i2)", test(cell))), found, "{cell}");
    }
    // What it looks at changes.
    assert_eq!(once(&test("plain").replace("i3, 5", "i3, i2")), []);
    // What the test looks at is wanted by others too, or by nobody but a test that is left out.
    assert_eq!(once(&format!("{}\nstore(a1, other, i4)", test("plain"))), [3]);
    assert_eq!(once(&format!("{}\nguard_true(i3) interrupt", test("plain"))), [1, 2, 3, 4]);
}

#[test]
fn a_check_that_counts_is_made_once() {
    assert_eq!(once("guard_true(1) collect"), [1]);
    assert_eq!(once("guard_true(1)"), []);
    assert_eq!(once("guard_true(i2) collect"), []);
}

#[test]
fn only_what_jumps_back_to_its_own_label_is_a_loop() {
    let found =
        facts("L0(i0):\ni1 = int_add(i0, 1)\njump(L1, i1)\nL1(i2):\ni3 = int_add(i2, 1)\njump(L1, i3)\n");
    assert_eq!((found.len(), &found[0].body), (1, &(3..5)));
    assert_eq!(facts("L0(i0):\nfinish(i0)\n"), []);
}

/// The streams of a loop over the array `a0` with the index `i2`, by distance of the instruction, step and
/// place.
fn streams(body: &str, next: &str) -> Vec<(usize, i64, i64)> {
    let found = facts(&format!("L0(a0, a1, i2, i3):\n{body}\ni30 = {next}\njump(L0, a0, a1, i30, i3)\n"));
    let stream = |stream: &Stream| (stream.inst, stream.step, stream.beside);
    found[0].streams.iter().map(stream).collect()
}

#[test]
fn addresses_that_move_by_a_constant_are_streams() {
    let by_one = "int_add(i2, 1)";
    assert_eq!(streams("a9 = item_addr(a0, i2, 16, 8)", by_one), [(1, 16, 0)]);
    assert_eq!(streams("a9 = item_addr(a0, i2, 8, 0)", "int_sub(i2, 3)"), [(1, -24, 0)]);
    let beside = "i5 = int_add(i2, 2)\ni6 = int_sub(i5, 3)\na9 = item_addr(a0, i6, 16, 0)";
    assert_eq!(streams(beside, by_one), [(3, 16, -16)]);
    // A base that is loaded anew each time, even if the loop writes there.
    let loaded = "a5 = load(a0, base)\na9 = item_addr(a5, i2, 4, 0)\nstore(a1, base, a9)";
    assert_eq!(streams(loaded, by_one), [(2, 4, 0)]);
    for none in [
        "a9 = item_addr(a0, i3, 16, 0)",
        "a9 = item_addr(a0, 7, 16, 0)",
        "i5 = int_add(i2, i3)\na9 = item_addr(a0, i5, 16, 0)",
        "i5 = int_mul(i2, 3)\na9 = item_addr(a0, i5, 16, 0)",
        "a5 = item_addr(a0, i3, 16, 0)\na9 = item_addr(a5, i2, 16, 0)",
    ] {
        assert_eq!(streams(none, by_one), [], "{none}");
    }
    assert_eq!(streams("a9 = item_addr(a0, i2, 16, 0)", "int_add(i2, i3)"), []);
    // The step wraps around to nothing.
    assert_eq!(streams("a9 = item_addr(a0, i2, 16, 0)", "int_add(i2, -9223372036854775808)"), []);
}

/// The rows of a loop over the array `a0`, whose arguments `i1` and `i2` stay, by positions of the arguments.
fn rows(body: &str) -> Vec<(u32, u32, u32)> {
    let found = facts(&format!(
        "L0(a0, i1, i2, i3, a4):\n{body}\ni30 = int_add(i3, 1)\na31 = addr_add(a4, 8)\n\
         jump(L0, a0, i1, i2, i30, a31)\n"
    ));
    found[0].bases.iter().map(|base| (base.array.0, base.index.0, base.stride)).collect()
}

#[test]
fn what_stays_of_an_index_that_is_a_sum_makes_a_row() {
    let sum = "i5 = int_add(i1, i3)\n";
    assert_eq!(rows(&format!("{sum}a9 = item_addr(a0, i5, 16, 8)")), [(0, 1, 16)]);
    let twice = "i6 = int_add(i5, 7)\na9 = item_addr(a0, i6, 16, 8)\na10 = item_addr(a0, i5, 16, 0)";
    assert_eq!(rows(&format!("{sum}{twice}")), [(0, 1, 16)]);
    let two = "i6 = int_add(i3, i2)\na9 = item_addr(a0, i6, 16, 8)\na10 = item_addr(a0, i5, 8, 0)";
    assert_eq!(rows(&format!("{sum}{two}")), [(0, 2, 16), (0, 1, 8)]);
    for none in [
        "a9 = item_addr(a0, i3, 16, 0)",
        // Nothing changes; both do; the array does; the sum is scaled.
        "i5 = int_add(i1, i2)\na9 = item_addr(a0, i5, 16, 0)",
        "i5 = int_mul(i3, i3)\ni6 = int_add(i3, i5)\na9 = item_addr(a0, i6, 16, 0)",
        "i5 = int_add(i1, i3)\na9 = item_addr(a4, i5, 16, 0)",
        "i5 = int_add(i1, i3)\ni6 = int_mul(i5, 2)\na9 = item_addr(a0, i6, 16, 0)",
    ] {
        assert_eq!(rows(none), [], "{none}");
    }
}
