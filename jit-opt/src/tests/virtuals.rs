//! Allocation removal where no figure of the papers shows it; those are in `tests/papers`.

use std::collections::BTreeSet;

use tracelift_core::planted::{with_planted, Bug};
use tracelift_core::text::{equal_up_to_renaming, parse_file, print_trace, TraceFile};
use tracelift_core::verify::{verify, Mode};

use crate::{optimize, Config, Optimized};

/// What the rules of the pass are called; every one is fired below.
pub const RULES: &[&str] =
    &["virtual_new", "virtual_get", "virtual_set", "virtual_guard", "virtual_test", "lift"];

/// The objects and functions that the traces speak of.
const HEADER: &str = "func make(addr, int, int, int) -> ref allocates = native world.alloc
func \"find\"(addr, int, ref, ref) -> addr reads all = native world.find
func \"insert\"(addr, int, ref, ref) -> addr writes all = native world.insert
func print(int) writes out
func escape(int) writes out
func seen(ref) writes out
tag int = 0x3: int
tag ref = 0x5: ref
tag nil = 0x0
layout BoxedInteger { intval: int, alloc make }
layout BoxedFloat { floatval: float, alloc make }
layout Pair { first: ref, second: ref, alloc make }
layout Other { left: ref, alloc make }
layout Array { items: tagged from 1, alloc make }
layout Dict { keys: tagged find \"find\" insert \"insert\", alloc make }
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
    let errors = verify(&file.traces[0], &file.schema, Mode::Recorded);
    assert!(errors.is_empty(), "{errors:?}");
    let config = Config::parse(passes).unwrap().keeping_records();
    let optimized = optimize(&file.traces[0], &file.schema, &config).unwrap();
    let errors = verify(&optimized.trace, &file.schema, Mode::Optimized);
    assert!(errors.is_empty(), "{errors:?}\n{}", print_trace(&optimized.trace, &file.schema));
    optimized
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
        // What was not set is null.
        ("L0():\np1 = new(BoxedInteger)\ni2 = get(p1, intval)\nfinish(i2)\n", "L0():\nfinish(0)\n"),
        // get and set of a dynamic object; the stored object is lifted.
        (
            "L0(p0, i1):\np2 = get(p0, first)\np3 = new(BoxedInteger)\nset(p3, intval, i1)\nset(p0, second, p3)\nfinish(p2)\n",
            "L0(p0, i1):\np2 = get(p0, first)\np3 = new(BoxedInteger)\nset(p3, intval, i1)\nset(p0, second, p3)\nfinish(p2)\n",
        ),
        // A guard that fails stays, and lifts.
        (
            "L0():\np1 = new(BoxedInteger)\nguard_class(p1, BoxedFloat)\nfinish()\n",
            "L0():\np1 = new(BoxedInteger)\nguard_class(p1, BoxedFloat)\nfinish()\n",
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
fn items_at_constant_indexes_are_virtual() {
    figure(
        ALONE,
        "L0(i0, p1):\np2 = new(Array, 2, 0)\nput_item(p2, 1, i0, Array:int)\ni3 = get_item(p2, 1, Array:int)\nget_item(p2, 2, Array:nil)\ni4 = item_count(p2, Array)\nfinish(i3, i4)\n",
        "L0(i0, p1):\nfinish(i0, 2)\n",
    );
    // An index that is not known, or outside, makes the array.
    for index in ["i0", "3"] {
        let input = format!("L0(i0):\np2 = new(Array, 2, 0)\nput_item(p2, 1, i0, Array:int)\ni3 = get_item(p2, {index}, Array:int)\nfinish(i3)\n");
        figure(ALONE, &input, &input);
    }
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
