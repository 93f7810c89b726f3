//! Seed 000, "Loop-Aware Optimizations in PyPy's Tracing JIT": figures, equations, and what the text says
//! besides.
//!
//! Problem, design and invariant are those of the whole target, `main.rs`. The figures' labels print to the
//! letter; the paper writes `i2 + i3` for `int_add(i2, i3)` and `print(i1)` for `call(print, i1)`, which the
//! parser accepts too.
//!
//! Slips of the paper, met below: Figure 6 keeps `i6` and uses `i4` without passing it (two readings make
//! sense, A6); Figure 8 does not pass `i3` to its label, and lists it before `i4` although equations 5 to 8
//! append it (A8).
//!
//! Example: `a5_figure_5_redundant_guards`.

mod equations;
mod memory;
mod runs;

use tracelift_core::text::{equal_up_to_renaming, parse_file, print_trace};
use tracelift_core::verify::{verify, Mode};

use crate::support::{figure, listing, optimized, parse, HEADER};

/// Seed 000, Figure 2: p1 is `y`, p0 is `step` (the text has them the other way round).
pub(crate) const FIGURE_2: &str = "L0(p0, p1):
guard_class(p1, BoxedInteger)
  i2 = get(p1, intval)
  guard_class(p0, BoxedInteger)
    i3 = get(p0, intval)
    i4 = int_add(i2, i3)
    p5 = new(BoxedInteger)
      set(p5, intval, i4)
jump(L0, p0, p5)
";

const INTRODUCTION: &str = "L0(i0):
i1 = int_add(i0, 1)
call(print, i1)
jump(L0, i0)
";

/// Section 3, right listing: one iteration is peeled off.
#[test]
fn a1_the_introduction_peeled() {
    let peeled = "L0(i0):
i1 = int_add(i0, 1)
call(print, i1)
jump(L1, i0)
L1(i0):
i2 = int_add(i0, 1)
call(print, i2)
jump(L1, i0)
";
    listing("-all,+peel", INTRODUCTION, peeled);
}

/// Third listing: the verifier names the line that uses `i1` after the label.
#[test]
fn a1_the_malformed_trace_is_rejected() {
    let malformed = "L0(i0):
i1 = int_add(i0, 1)
call(print, i1)
jump(L1, i0)
L1(i0):
call(print, i1)
jump(L1, i0)
";
    let file = parse(malformed);
    let errors = verify(&file.traces[0], &file.schema, Mode::Recorded);
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(errors[0].message, "i1 is used after L1 but not passed to it");
    let line = file.inst_lines[0][errors[0].inst.expect("the message is about an instruction")];
    assert_eq!(line, HEADER.lines().count() + 6);
}

/// Fourth listing: the sum is passed along, and computed once.
#[test]
fn a1_the_introduction_optimized() {
    let fixed = "L0(i0):
i1 = int_add(i0, 1)
call(print, i1)
jump(L1, i0, i1)
L1(i0, i1):
call(print, i1)
jump(L1, i0, i1)
";
    let optimized = listing("-all,+peel,+cse", INTRODUCTION, fixed);
    assert_eq!(optimized.report.fired("peel"), 1);
    listing("", INTRODUCTION, fixed);
}

/// The paper's print of Figure 2, comments and sums as it writes them, is the same trace.
#[test]
fn a3_figure_2_reads_and_prints() {
    let as_printed = "L0(p0, p1):
# inside f: y = y.add(step)
guard_class(p1, BoxedInteger)
  # inside BoxedInteger.add
  i2 = get(p1, intval)
  guard_class(p0, BoxedInteger)
    # inside BoxedInteger.add__int
    i3 = get(p0, intval)
    i4 = i2 + i3
    p5 = new(BoxedInteger)
      # inside BoxedInteger.__init__
      set(p5, intval, i4)
jump(L0, p0, p5)
";
    assert_eq!(as_printed.lines().count(), 13, "the text refers to its lines by number");
    listing("-all", as_printed, FIGURE_2);
}

/// I = (p0, p1), J = (p0, p5), K = (p0, p9); m(i2) = i6, m(i3) = i7, m(i4) = i8, m(p5) = p9.
#[test]
fn a4_figure_4_peeling_alone() {
    listing("-all,+peel", FIGURE_2, &with_loop(FIGURE_4_END));
}

const FIGURE_4_END: &str = "jump(L1, p0, p5)
L1(p0, p5):
guard_class(p5, BoxedInteger)
  i6 = get(p5, intval)
  guard_class(p0, BoxedInteger)
    i7 = get(p0, intval)
    i8 = int_add(i6, i7)
    p9 = new(BoxedInteger)
      set(p9, intval, i8)
jump(L1, p0, p9)
";

/// Figure 2 with another end.
fn with_loop(end: &str) -> String {
    FIGURE_2.replace("jump(L0, p0, p5)\n", end)
}

/// The guard on p5 goes as p5 was made with a known class, the one on p0 as it was passed before.
#[test]
fn a5_figure_5_redundant_guards() {
    let optimized = listing(
        "-all,+peel,+guards",
        FIGURE_2,
        &with_loop(
            "jump(L1, p0, p5)
L1(p0, p5):
  i6 = get(p5, intval)
    i7 = get(p0, intval)
    i8 = int_add(i6, i7)
    p9 = new(BoxedInteger)
      set(p9, intval, i8)
jump(L1, p0, p9)
",
        ),
    );
    assert_eq!(optimized.report.fired("class_known"), 2);
}

/// Figure 6, left reading: loads are forwarded to loads, so `i6` stays and is used.
#[test]
fn a6_figure_6_with_loads_forwarded_to_loads() {
    listing(
        "-all,+peel,+cse,+load_forward",
        FIGURE_2,
        &with_loop(
            "jump(L1, p0, p5, i3)
L1(p0, p5, i3):
guard_class(p5, BoxedInteger)
  i6 = get(p5, intval)
  guard_class(p0, BoxedInteger)
    i8 = int_add(i6, i3)
    p9 = new(BoxedInteger)
      set(p9, intval, i8)
jump(L1, p0, p9, i3)
",
        ),
    );
}

/// Figure 6, right reading: stores are forwarded as well, so `i6` is removed and `i4` is passed.
#[test]
fn a6_figure_6_with_stores_forwarded_too() {
    figure(
        "-all,+peel,+cse,+load_forward,+store_forward",
        FIGURE_2,
        &with_loop(
            "jump(L1, p0, p5, i3, i4)
L1(p0, p5, i3, i4):
guard_class(p5, BoxedInteger)
  guard_class(p0, BoxedInteger)
    i8 = int_add(i4, i3)
    p9 = new(BoxedInteger)
      set(p9, intval, i8)
jump(L1, p0, p9, i3, i8)
",
        ),
    );
}

/// As printed, the figure uses a value of the preamble that was not passed.
#[test]
fn a6_figure_6_as_printed_is_malformed() {
    let file = parse(&with_loop(
        "jump(L1, p0, p5, i3)
L1(p0, p5, i3):
guard_class(p5, BoxedInteger)
i6 = get(p5, intval)
guard_class(p0, BoxedInteger)
i8 = i4 + i3
p9 = new(BoxedInteger)
set(p9, intval, i8)
jump(L1, p0, p9, i3)
",
    ));
    let errors = verify(&file.traces[0], &file.schema, Mode::Recorded);
    let messages: Vec<_> = errors.iter().map(|error| error.message.as_str()).collect();
    assert_eq!(messages, ["i4 is used after L1 but not passed to it"]);
}

const FIGURE_7: &str = "L0(p0, p1):
guard_class(p1, BoxedInteger)
  i2 = get(p1, intval)
  guard_class(p0, BoxedInteger)
    i3 = get(p0, intval)
    i4 = int_add(i2, i3)
jump(L1, p0, i4)
L1(p0, i4):
  guard_class(p0, BoxedInteger)
    i7 = get(p0, intval)
    i8 = int_add(i4, i7)
jump(L1, p0, i8)
";

/// The guard on p0 and the read of p0 stay: no other pass is on.
#[test]
fn a7_figure_7_allocation_removal() {
    listing("-all,+peel,+virtuals", FIGURE_2, FIGURE_7);
}

/// One addition. The label's arguments stand in the order of equations 5 to 8; the paper's order is a
/// permutation.
#[test]
fn a8_figure_8_everything() {
    let optimized = listing(
        "",
        FIGURE_2,
        "L0(p0, p1):
guard_class(p1, BoxedInteger)
  i2 = get(p1, intval)
  guard_class(p0, BoxedInteger)
    i3 = get(p0, intval)
    i4 = int_add(i2, i3)
jump(L1, p0, i4, i3)
L1(p0, i4, i3):
    i8 = int_add(i4, i3)
jump(L1, p0, i8, i3)
",
    );
    let printed = parse(&with_figure_8("jump(L1, p0, i3, i4)\n"));
    if let Err(difference) = equal_up_to_renaming(&optimized.trace, &printed.traces[0], &printed.schema) {
        panic!("{difference}\n{}", print_trace(&optimized.trace, &printed.schema));
    }
}

/// The loop of Figure 8 after this jump.
fn with_figure_8(jump: &str) -> String {
    let preamble = FIGURE_7.split("jump").next().expect("split gives at least one piece");
    format!("{preamble}{jump}L1(p0, i3, i4):\ni8 = int_add(i4, i3)\njump(L1, p0, i3, i8)\n")
}

/// As printed, the preamble passes two values to a label that takes three.
#[test]
fn a8_figure_8_as_printed_is_malformed() {
    let text = format!("{HEADER}{}", with_figure_8("jump(L1, p0, i4)\n"));
    let file = parse_file(&text, &tracelift_core::testbed::natives).expect("the listing parses");
    let errors = verify(&file.traces[0], &file.schema, Mode::Recorded);
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(errors[0].message, "jump takes 3 arguments, not 2");
}

/// Expanded to loads and compares, as machine code gets it, the loop is still one addition.
#[test]
fn a8_figure_8_expanded() {
    let file = parse(FIGURE_2);
    let config = tracelift_opt::Config::new();
    let optimized = crate::support::optimized_by(&config, &file.traces[0], &file.schema);
    let printed = print_trace(&optimized.trace, &file.schema);
    let body = printed.split("\nL1(").nth(1).expect("the trace was peeled");
    assert_eq!(body, "p0, i4, i3):\n    i8 = int_add(i4, i3)\njump(L1, p0, i8, i3)\n");
}

/// Objects in objects: what the innermost hold is passed, in the order of the fields, whatever order they
/// were set in.
#[test]
fn a13_nested_objects_are_exploded() {
    listing(
        "-all,+peel,+virtuals",
        "L0(p0, i1, f2):
guard_class(p0, Pair)
p3 = get(p0, right)
guard_class(p3, Triple)
i4 = get(p3, a)
p5 = get(p3, c)
guard_class(p5, BoxedInteger)
i6 = get(p5, intval)
i7 = int_add(i4, i6)
p8 = new(BoxedInteger)
set(p8, intval, i7)
p9 = new(Triple)
set(p9, c, p8)
set(p9, b, f2)
set(p9, a, i1)
p10 = new(Pair)
set(p10, right, p9)
set(p10, left, p8)
jump(L0, p10, i1, f2)
",
        "L0(p0, i1, f2):
guard_class(p0, Pair)
p3 = get(p0, right)
guard_class(p3, Triple)
i4 = get(p3, a)
p5 = get(p3, c)
guard_class(p5, BoxedInteger)
i6 = get(p5, intval)
i7 = int_add(i4, i6)
jump(L1, i7, i1, f2)
L1(i7, i1, f2):
i15 = int_add(i1, i7)
jump(L1, i15, i1, f2)
",
    );
}

/// From the authors' sources: nothing is invariant, and yet the second addition is removed.
#[test]
fn a15_nothing_is_invariant_and_an_addition_goes() {
    let input = "L0(i1, i2):
i3 = int_add(i1, 1)
i4 = int_add(i2, 1)
call(escape, i4)
jump(L0, i2, i3)
";
    listing(
        "-all,+peel,+cse,+dce",
        input,
        "L0(i1, i2):
i3 = int_add(i1, 1)
i4 = int_add(i2, 1)
call(escape, i4)
jump(L1, i2, i3, i4)
L1(i2, i3, i4):
i6 = int_add(i3, 1)
call(escape, i6)
jump(L1, i3, i4, i6)
",
    );
    let file = parse(input);
    let alone = optimized("-peel", &file);
    assert_eq!(crate::support::in_loop(&alone.trace, tracelift_core::Op::IntAdd), 2);
}
