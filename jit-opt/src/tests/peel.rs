//! Peeling against the listings of seed 000.

use tracelift_core::text::{equal_up_to_renaming, print_trace};
use tracelift_core::verify::{verify, Mode};

use super::virtuals::{figure, parse, run};
use crate::{optimize, CarriedKey, Config};

const FIGURE_2: &str = "L0(p0, p1):
guard_class(p1, BoxedInteger)
i2 = get(p1, intval)
guard_class(p0, BoxedInteger)
i3 = get(p0, intval)
i4 = int_add(i2, i3)
p5 = new(BoxedInteger)
set(p5, intval, i4)
jump(L0, p0, p5)
";

/// Figure 2 with another end, and the loop behind it.
fn with_loop(end: &str) -> String {
    FIGURE_2.replace("jump(L0, p0, p5)\n", end)
}

#[test]
fn a1_what_the_preamble_computed_is_passed_to_the_loop() {
    let optimized = figure(
        "-all,+cse,+peel",
        "L0(i0):\ni1 = int_add(i0, 1)\ncall(print, i1)\njump(L0, i0)\n",
        "L0(i0):\ni1 = int_add(i0, 1)\ncall(print, i1)\njump(L1, i0, i1)\nL1(i2, i3):\ncall(print, i3)\njump(L1, i2, i3)\n",
    );
    let peeled = optimized.peeled.unwrap();
    assert_eq!((peeled.passed, peeled.args.len()), (1, 2));
    assert!(matches!(peeled.args[1], CarriedKey::Recorded(_)));
    assert_eq!(optimized.report.fired("peel"), 1);
}

#[test]
fn a3_without_passes_nothing_changes() {
    figure("-all", FIGURE_2, FIGURE_2);
}

#[test]
fn a4_figure_4_peeling_alone() {
    figure(
        "-all,+peel",
        FIGURE_2,
        &with_loop(
            "jump(L1, p0, p5)
L1(p10, p11):
guard_class(p11, BoxedInteger)
i6 = get(p11, intval)
guard_class(p10, BoxedInteger)
i7 = get(p10, intval)
i8 = int_add(i6, i7)
p9 = new(BoxedInteger)
set(p9, intval, i8)
jump(L1, p10, p9)
",
        ),
    );
}

#[test]
fn a5_figure_5_guards() {
    figure(
        "-all,+peel,+guards",
        FIGURE_2,
        &with_loop(
            "jump(L1, p0, p5)
L1(p10, p11):
i6 = get(p11, intval)
i7 = get(p10, intval)
i8 = int_add(i6, i7)
p9 = new(BoxedInteger)
set(p9, intval, i8)
jump(L1, p10, p9)
",
        ),
    );
}

#[test]
fn a7_figure_7_allocation_removal() {
    figure(
        "-all,+peel,+virtuals",
        FIGURE_2,
        "L0(p0, p1):
guard_class(p1, BoxedInteger)
i2 = get(p1, intval)
guard_class(p0, BoxedInteger)
i3 = get(p0, intval)
i4 = int_add(i2, i3)
jump(L1, p0, i4)
L1(p10, i11):
guard_class(p10, BoxedInteger)
i7 = get(p10, intval)
i8 = int_add(i11, i7)
jump(L1, p10, i8)
",
    );
}

/// Everything on, and expanded: only the addition is left.
#[test]
fn a8_figure_8_everything() {
    let file = parse(FIGURE_2);
    let optimized = optimize(&file.traces[0], &file.schema, &Config::new()).unwrap();
    let errors = verify(&optimized.trace, &file.schema, Mode::Expanded);
    assert!(errors.is_empty(), "{errors:?}");
    let preamble = parse(
        &FIGURE_2.replace("p5 = new(BoxedInteger)\nset(p5, intval, i4)\njump(L0, p0, p5)\n", "finish()\n"),
    );
    let preamble = optimize(&preamble.traces[0], &preamble.schema, &Config::parse("-dce").unwrap()).unwrap();
    let preamble = print_trace(&preamble.trace, &file.schema);
    let wanted = preamble.trim_start_matches("trace t\n").replace(
        "finish()\n",
        "jump(L1, p0, i4, i3)\nL1(p10, i11, i12):\ni8 = int_add(i11, i12)\njump(L1, p10, i8, i12)\n",
    );
    let wanted = parse(&wanted);
    if let Err(difference) = equal_up_to_renaming(&optimized.trace, &wanted.traces[0], &file.schema) {
        panic!("{difference}\n{}", print_trace(&optimized.trace, &file.schema));
    }
}

/// An object in an object: both stay virtual across the label.
#[test]
fn a13_nested_objects_are_exploded() {
    figure(
        "-all,+peel,+virtuals",
        "L0(p0, i1):
guard_class(p0, Pair)
p2 = get(p0, first)
guard_class(p2, BoxedInteger)
i3 = get(p2, intval)
i4 = int_add(i3, i1)
p5 = new(BoxedInteger)
set(p5, intval, i4)
p6 = new(Pair)
set(p6, first, p5)
set(p6, second, p6)
jump(L0, p6, i1)
",
        "L0(p0, i1):
guard_class(p0, Pair)
p2 = get(p0, first)
guard_class(p2, BoxedInteger)
i3 = get(p2, intval)
i4 = int_add(i3, i1)
jump(L1, i4, i1)
L1(i5, i6):
i7 = int_add(i5, i6)
jump(L1, i7, i6)
",
    );
}

#[test]
fn a15_nothing_is_invariant_and_an_addition_goes() {
    figure(
        "-all,+peel,+cse,+dce",
        "L0(i1, i2):\ni3 = int_add(i1, 1)\ni4 = int_add(i2, 1)\ncall(escape, i4)\njump(L0, i2, i3)\n",
        "L0(i1, i2):\ni3 = int_add(i1, 1)\ni4 = int_add(i2, 1)\ncall(escape, i4)\njump(L1, i2, i3, i4)\nL1(i5, i6, i7):\ni8 = int_add(i6, 1)\ncall(escape, i8)\njump(L1, i6, i7, i8)\n",
    );
}

/// What the loop would drop is what it has to make: another object each time round, in turn real and virtual.
#[test]
fn another_shape_keeps_the_plain_loop() {
    let input = "L0(p0, p1):\np2 = new(BoxedInteger)\ncall(seen, p0)\njump(L0, p1, p2)\n";
    let optimized = run("-all,+peel,+virtuals", &parse(input));
    assert!(optimized.trace.op_count() <= 8);
}
