//! Checks of one entry that are made together: what passes, and where it is left, is as if each stood alone.
//!
//! Problem: that a group was made shows in no result, and a group that forgets a check shows only where this
//! one alone fails. Design: each trace runs on entries of which each part is as expected or not, in all
//! combinations, also with each guard counted. How many branches there are is read in the input of the code
//! generator. Example: the three checks of a field are one branch, and one more each where they are counted.

mod common;

use common::*;
use tracelift_core::testbed::standard_schema;
use tracelift_core::text::parse_trace;
use tracelift_core::{ir::*, Schema};
use tracelift_cranelift::*;

/// An entry of the standard schema's tables: value, tag, tag of the key, key.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Entry {
    value: i64,
    tag: u8,
    key_tag: u8,
    key: u64,
}

const KEY: u64 = 0x1234_5678_9ABC_DEF0;
const FITS: Entry = Entry { value: 77, tag: 3, key_tag: 0x85, key: KEY };

const HEAD: &str = "\
trace checks
L0(a0, a1, i2):
@0 = frame[0: int i2]
@1 = frame[0: int i2, 1: int 5]
";

fn parse(body: &str) -> (Trace, Schema) {
    let schema = standard_schema();
    let text = format!("{HEAD}{body}");
    let trace = parse_trace(&text, &schema).unwrap_or_else(|error| panic!("{error}\n{text}"));
    (trace, schema)
}

/// Branches before the code generator's own.
fn branches(trace: &Trace, schema: &Schema, counts: bool) -> usize {
    let options = Options { want_clif: true, verify: true, ..Options::default() };
    let mut harness = Harness::with(options);
    harness.force = counts.then(|| Box::new(0));
    let clif = harness.compile(trace, schema).clif.expect("it was asked for");
    clif.lines().filter(|line| line.contains("brif")).count()
}

/// All entries of which some parts differ from what fits, in one bit or more.
fn entries() -> Vec<Entry> {
    let mut all = Vec::new();
    for wrong in 0..16 {
        let is = |part: u32| wrong >> part & 1 == 1;
        all.push(Entry {
            value: 77,
            tag: if is(0) { 4 } else { 3 },
            key_tag: if is(1) { 0x05 } else { 0x85 },
            key: KEY ^ if is(2) { 1 << 63 } else { 0 } ^ if is(3) { 1 } else { 0 },
        });
    }
    // One tag for the other.
    all.push(Entry { tag: 0x85, key_tag: 3, ..FITS });
    all
}

/// Runs the trace on each entry, with guards counted and not, by each code generation setting; which fit.
fn fitting(body: &str) -> Vec<usize> {
    let (trace, schema) = parse(body);
    let mut found: Option<Vec<Outcome>> = None;
    for counts in [true, false] {
        for mut harness in Harness::all() {
            harness.force = counts.then(|| Box::new(0));
            let compiled = harness.compile(&trace, &schema);
            let run = |&(mut entry): &Entry| {
                let mut other = FITS;
                let inputs = vec![&raw mut entry as u64, &raw mut other as u64, 55];
                let mut outcome = harness.run_all(&compiled, &[inputs]).remove(0);
                outcome.cells.push(entry.tag.into());
                outcome
            };
            let outcomes: Vec<Outcome> = entries().iter().map(run).collect();
            let before = found.get_or_insert_with(|| outcomes.clone());
            assert_eq!(outcomes, *before, "guards counted: {counts}\n{body}");
        }
    }
    let end = trace.exit_numbers().into_iter().flatten().max();
    let all = found.expect("there was a run");
    (0..all.len()).filter(|&at| Some(all[at].exit) == end).collect()
}

/// A check of this part of the entry at `a0`, as `n`.
fn check(n: u32, part: &str, expected: &str, exit: u32) -> String {
    let ty = if part == "key" { 'p' } else { 'i' };
    format!("{ty}{n} = load(a0, entry.{part})\nguard_value({ty}{n}, {expected}) @{exit}\n")
}

const END: &str = "i9 = load(a0, entry.value.int)\nfinish(i9, i2)\n";
const KEY_TEXT: &str = "ref:0x123456789abcdef0";

fn field(order: [usize; 3]) -> String {
    let checks = [check(4, "key_tag", "133", 0), check(5, "key", KEY_TEXT, 0), check(6, "tag", "3", 0)];
    order.map(|at| checks[at].as_str()).concat() + END
}

#[test]
fn a_field_is_found_by_one_branch() {
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let (trace, schema) = parse(&field(order));
        assert_eq!((branches(&trace, &schema, true), branches(&trace, &schema, false)), (4, 1));
        assert_eq!(fitting(&field(order)), [0]);
    }
}

/// What is loaded, and what is expected, is as narrow as the cells are.
#[test]
fn what_no_tag_can_be_is_found_nowhere() {
    for (tag, fits) in [("3", vec![0]), ("259", vec![]), ("4", vec![1]), ("-253", vec![]), ("0", vec![])] {
        let body =
            check(4, "key_tag", "133", 0) + &check(5, "key", KEY_TEXT, 0) + &check(6, "tag", tag, 0) + END;
        assert_eq!(fitting(&body), fits, "tag {tag}");
    }
    let exchanged = check(4, "key_tag", "3", 0) + &check(6, "tag", "133", 0) + END;
    assert_eq!(fitting(&exchanged), [16]);
}

#[test]
fn a_value_that_others_use_is_loaded_alone() {
    for used in ["i4", "i6"] {
        let body = field([0, 1, 2]).replace("finish(i9, i2)", &format!("finish(i9, {used})"));
        let (trace, schema) = parse(&body);
        assert_eq!(branches(&trace, &schema, false), 1);
        assert_eq!(fitting(&body), [0]);
    }
    // Also by an exit.
    let body = check(4, "key_tag", "133", 0)
        + &check(6, "tag", "3", 0)
        + "@2 = frame[0: int i4, 1: int i6]\ni7 = int_lt(i2, 0)\nguard_true(i7) @2\n"
        + END;
    assert_eq!(fitting(&body), []);
}

/// Another exit, another entry, or something done between two checks: each group has a branch.
#[test]
fn what_does_not_belong_together_stays_apart() {
    let of_other = "i7 = load(a1, entry.tag)\nguard_value(i7, 3) @0\n";
    for (between, exit, count) in
        [("", 0, 1), ("", 1, 2), (of_other, 0, 3), ("store(a1, entry.value.int, 5)\n", 0, 2)]
    {
        let first = check(4, "key_tag", "133", 0) + &check(5, "key", KEY_TEXT, 0);
        let body = first + between + &check(6, "tag", "3", exit) + END;
        let (trace, schema) = parse(&body);
        assert_eq!(branches(&trace, &schema, false), count, "{body}");
        assert_eq!(fitting(&body), [0], "{body}");
    }
}

/// Copies of a loop may do without a test for interrupts.
#[test]
fn guards_of_another_kind_stand_alone() {
    let body = field([0, 1, 2]).replace(" @0\n", " @0 interrupt\n");
    let (trace, schema) = parse(&body);
    assert_eq!(branches(&trace, &schema, false), 3);
    assert_eq!(fitting(&body), [0]);
}

/// What is written between the places of two loads is seen by the second one.
#[test]
fn loads_stay_after_stores() {
    let first = "i4 = load(a0, entry.key_tag)\nstore(a0, entry.tag, 3)\nguard_value(i4, 133) @0\n";
    let body = first.to_string() + &check(6, "tag", "3", 0) + END;
    assert_eq!(fitting(&body), [0, 1, 4, 5, 8, 9, 12, 13], "whatever tag was there");
    let before = "i6 = load(a0, entry.tag)\nstore(a0, entry.tag, 4)\n";
    let body = before.to_string() + &check(4, "key_tag", "133", 0) + "guard_value(i6, 3) @0\n" + END;
    assert_eq!(fitting(&body), [0, 4, 8, 12], "whatever is there now");
}
