//! Seed 002, "Allocation Removal by Partial Evaluation in a Tracing JIT": figures, rules, and what the text
//! says besides.
//!
//! Problem, design and invariant are those of the whole target, `main.rs`. The paper's traces begin without a
//! label and end with `jump(p15, p10)`; here the label is `L0(p0, p1)` and the jump names it.
//!
//! A slip of the paper: Figure 6's rule for `set` on a dynamic object lifts `E(v)`, the object stored into;
//! what has to be lifted, by the text, is `E(u)`, the value stored
//! (`rules::b5_set_on_a_dynamic_object_lifts_the_value`).
//!
//! Example: `b2_figure_2_becomes_figure_4`.

mod lifetimes;
mod rules;
mod scale;
mod semantics;

use tracelift_core::Op;

use crate::support::{figure, in_loop, listing, loop_ops, optimized, parse};

/// Allocation removal alone.
const ALONE: &str = "-all,+virtuals";

/// Seed 002, Figure 2: p0 is `y`, p1 is `res`.
const FIGURE_2: &str = "L0(p0, p1):
guard_class(p1, BoxedInteger)
  i2 = get(p1, intval)
  guard_class(p0, BoxedInteger)
    i3 = get(p0, intval)
    i4 = int_add(i2, i3)
    p5 = new(BoxedInteger)
      set(p5, intval, i4)
p6 = new(BoxedInteger)
  set(p6, intval, -100)
guard_class(p5, BoxedInteger)
  i7 = get(p5, intval)
  guard_class(p6, BoxedInteger)
    i8 = get(p6, intval)
    i9 = int_add(i7, i8)
    p10 = new(BoxedInteger)
      set(p10, intval, i9)
p11 = new(BoxedInteger)
  set(p11, intval, -1)
guard_class(p0, BoxedInteger)
  i12 = get(p0, intval)
  guard_class(p11, BoxedInteger)
    i13 = get(p11, intval)
    i14 = int_add(i12, i13)
    p15 = new(BoxedInteger)
      set(p15, intval, i14)
guard_class(p15, BoxedInteger)
  i16 = get(p15, intval)
  i17 = int_gt(i16, 0)
guard_true(i17)
jump(L0, p15, p10)
";

/// The same as an interpreter records it, with a snapshot before each of its operations: what A11 and B4 run.
pub(crate) const COUNTING_DOWN: &str = "object y = BoxedInteger { intval: 9 }
object res = BoxedInteger { intval: 1000 }
L0(p0, p1):
@0 = frame[0: ref p0, 1: ref p1]
guard_class(p1, BoxedInteger) @0
i2 = get(p1, intval)
guard_class(p0, BoxedInteger) @0
i3 = get(p0, intval)
i4 = int_add(i2, i3)
p5 = new(BoxedInteger) @0
set(p5, intval, i4) @0
@1 = frame[0: ref p0, 1: ref p1, 2: ref p5]
p6 = new(BoxedInteger) @1
set(p6, intval, -100) @1
@2 = frame[0: ref p0, 1: ref p1, 2: ref p5, 3: ref p6]
guard_class(p5, BoxedInteger) @2
i7 = get(p5, intval)
guard_class(p6, BoxedInteger) @2
i8 = get(p6, intval)
i9 = int_add(i7, i8)
p10 = new(BoxedInteger) @2
set(p10, intval, i9) @2
@3 = frame[0: ref p0, 1: ref p10]
p11 = new(BoxedInteger) @3
set(p11, intval, -1) @3
@4 = frame[0: ref p0, 1: ref p10, 2: ref p11]
guard_class(p0, BoxedInteger) @4
i12 = get(p0, intval)
guard_class(p11, BoxedInteger) @4
i13 = get(p11, intval)
i14 = int_add(i12, i13)
p15 = new(BoxedInteger) @4
set(p15, intval, i14) @4
@5 = frame[0: ref p15, 1: ref p10]
guard_class(p15, BoxedInteger) @5
i16 = get(p15, intval)
i17 = int_gt(i16, 0)
guard_true(i17) @5 loop_end
jump(L0, p15, p10)
run: @y, @res
";

#[test]
fn b2_figure_2_becomes_figure_4() {
    let optimized = listing(
        ALONE,
        FIGURE_2,
        "L0(p0, p1):
guard_class(p1, BoxedInteger)
  i2 = get(p1, intval)
  guard_class(p0, BoxedInteger)
    i3 = get(p0, intval)
    i4 = int_add(i2, i3)
    i9 = int_add(i4, -100)
guard_class(p0, BoxedInteger)
  i12 = get(p0, intval)
    i14 = int_add(i12, -1)
  i17 = int_gt(i14, 0)
guard_true(i17)
p15 = new(BoxedInteger)
set(p15, intval, i14)
p10 = new(BoxedInteger)
set(p10, intval, i9)
jump(L0, p15, p10)
",
    );
    assert_eq!((optimized.report.before.new, optimized.report.after.new), (5, 2));
    let guards = |trace| in_loop(trace, Op::GuardClass);
    assert_eq!((guards(&parse(FIGURE_2).traces[0]), guards(&optimized.trace)), (7, 3));
}

/// Lines 37 and 39 stay in the figure as the paper removes no repeated guards and loads; with those passes
/// they go.
#[test]
fn b2_lines_37_and_39_go_with_other_passes() {
    let file = parse(FIGURE_2);
    let out = optimized("-all,+virtuals,+guards,+load_forward", &file);
    assert_eq!((in_loop(&out.trace, Op::GuardClass), in_loop(&out.trace, Op::Get)), (2, 2));
}

/// After line 17: `{p5: (BoxedInteger, intval = i4), p6: (BoxedInteger, intval =
/// -100)}`, as a guard there describes it; after line 25, `i7` is `i4` and `i8` is -100.
#[test]
fn b3_the_static_heap_between_operations() {
    let first =
        |lines: usize| FIGURE_2.lines().take(lines).fold(String::new(), |text, line| text + line + "\n");
    let optimized = figure(
        ALONE,
        &format!("{}@0 = frame[0: ref p5, 1: ref p6]\nguard_true(i4) @0\nfinish()\n", first(10)),
        "L0(p0, p1):
guard_class(p1, BoxedInteger)
i2 = get(p1, intval)
guard_class(p0, BoxedInteger)
i3 = get(p0, intval)
i4 = int_add(i2, i3)
@0 = frame[0: ref v0, 1: ref v1] virtual v0 BoxedInteger{intval: i4} virtual v1 BoxedInteger{intval: -100}
guard_true(i4) @0
finish()
",
    );
    assert_eq!(optimized.report.after.new, 0);
    let input = format!("{}finish(i7, i8)\n", first(14));
    let file = parse(&input);
    let optimized = crate::support::optimized(ALONE, &file);
    let printed = tracelift_core::text::print_trace(&optimized.trace, &file.schema);
    assert!(printed.ends_with("finish(i4, -100)\n"), "{printed}");
}

/// The report counts by the groups of Figure 7, before and after.
#[test]
fn b13_the_report_counts_by_the_groups_of_figure_7() {
    let report = optimized(ALONE, &parse(FIGURE_2)).report;
    let counts = |counts: tracelift_opt::OpCounts| (counts.new, counts.get_set, counts.guard, counts.all);
    assert_eq!(counts(report.before), (5, 12, 8, 30));
    assert_eq!(counts(report.after), (2, 5, 4, 16));
    // All passes: the loop allocates nothing and keeps one guard; expanded or not, the groups are the same.
    for keep_records in [true, false] {
        let file = parse(FIGURE_2);
        let mut config = tracelift_opt::Config::new();
        config.keep_records = keep_records;
        let out = crate::support::optimized_by(&config, &file.traces[0], &file.schema);
        assert_eq!(counts(out.report.before), (5, 12, 8, 30));
        assert_eq!(out.report.after.new, 0);
        let wanted = [Op::IntAdd, Op::IntAdd, Op::IntAdd, Op::IntGt, Op::GuardTrue, Op::Jump];
        assert_eq!(loop_ops(&out.trace), wanted);
    }
}
