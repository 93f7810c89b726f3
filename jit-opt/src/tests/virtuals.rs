//! Allocation removal where no figure of the papers shows it; those are in `tests/papers`.

use std::collections::BTreeSet;

use tracelift_core::planted::{with_planted, Bug};
use tracelift_core::text::{equal_up_to_renaming, parse_file, print_trace, TraceFile};

use super::optimized;
use crate::{Config, Optimized};

/// What the rules of the pass are called; every one is fired below.
const RULES: &[&str] =
    &["virtual_new", "virtual_get", "virtual_set", "virtual_guard", "virtual_test", "lift"];

/// The objects and functions that the traces speak of.
const HEADER: &str = "func make(addr, int, int, int) -> ref allocates = native world.alloc
func print(int) writes out
func seen(ref) writes out
layout BoxedInteger { intval: int, alloc make }
layout Pair { first: ref, second: ref, alloc make }
trace t
";

pub fn parse(input: &str) -> TraceFile {
    let text = format!("{HEADER}{input}");
    let file = parse_file(&text, &tracelift_core::testbed::natives);
    file.unwrap_or_else(|err| panic!("{err}\n{}", &text[..text.len().min(3000)]))
}

/// Optimizes with these passes, record operations kept, and compares with the listing.
pub fn figure(passes: &str, input: &str, expected: &str) -> Optimized {
    let file = parse(input);
    let optimized = run(passes, &file);
    let wanted = parse(expected);
    if let Err(difference) = equal_up_to_renaming(&optimized.trace, &wanted.traces[0], &file.schema) {
        panic!("{difference}\n{}", print_trace(&optimized.trace, &file.schema));
    }
    optimized
}

pub fn run(passes: &str, file: &TraceFile) -> Optimized {
    let config = Config::parse(passes).unwrap().keeping_records();
    optimized(&config, &file.traces[0], &file.schema).unwrap()
}

const ALONE: &str = "-all,+virtuals";

/// Every rule fires; the papers' own cases are in `tests/papers`.
#[test]
fn each_rule_fires() {
    let cases = [
        // new, set and get of a static object; a guard on its class.
        (
            "L0(i0):\np1 = new(BoxedInteger)\nset(p1, intval, i0)\nguard_class(p1, BoxedInteger)\ni2 = get(p1, intval)\nfinish(i2)\n",
            "L0(i0):\nfinish(i0)\n",
        ),
        // An object is itself, no other, and not null.
        (
            "L0(p0):\np1 = new(Pair)\np2 = new(Pair)\ni3 = ref_eq(p1, p2)\ni4 = ref_eq(p1, p1)\ni5 = ref_ne(p1, p0)\ni6 = ref_is_null(p1)\nguard_nonnull(p1)\nfinish(i3, i4, i5, i6)\n",
            "L0(p0):\nfinish(0, 1, 1, 0)\n",
        ),
        // Lifting is made once.
        (
            "L0():\np1 = new(Pair)\ncall(seen, p1)\ncall(seen, p1)\nset(p1, first, p1)\nfinish()\n",
            "L0():\np1 = new(Pair)\ncall(seen, p1)\ncall(seen, p1)\nset(p1, first, p1)\nfinish()\n",
        ),
    ];
    let mut fired = BTreeSet::new();
    for (input, expected) in cases {
        fired.extend(figure(ALONE, input, expected).report.rules.keys().copied());
    }
    assert_eq!(fired, RULES.iter().copied().collect());
}

#[test]
fn a_trace_without_a_place_to_leave_to_keeps_the_object() {
    let input = "L0(p0):\n@0 = frame[0: ref p0]\np1 = new(BoxedInteger) @0\ncall(seen, p0)\ncall(seen, p1)\nfinish()\n";
    let optimized = figure(ALONE, input, input);
    assert_eq!(optimized.report.fired("virtual_new"), 0);
}

#[test]
fn planted_bugs_change_the_listings() {
    let source = "L0(i0):\np1 = new(BoxedInteger)\nset(p1, intval, 1)\nset(p1, intval, i0)\n\
                  call(seen, p1)\ncall(seen, p1)\nfinish()\n";
    let broken = |bug| with_planted(bug, || run(ALONE, &parse(source)).trace.insts.len());
    assert_eq!(broken(Bug::ResumeSlotShifted), 6);
    assert_eq!(broken(Bug::LiftTwice), 8);
}
