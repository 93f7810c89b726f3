//! The recorded traces of the papers' programs are the papers' traces.

use tracelift_boxed::{Machine, Number, Options, Outcome, SEED_000, SEED_002};
use tracelift_core::text::{equal_up_to_renaming, parse_trace, print_trace};
use tracelift_core::Trace;
use tracelift_runtime::Config;

/// Seed 000, Figure 2: p1 is y, p0 is step. The figure's label is `L0(p0, p1)`; here labels follow the frame's slots,
/// in which the parameter comes first.
const FIGURE_2_OF_000: &str = "\
L0(p1, p0):
guard_class(p1, BoxedInteger)
  i2 = get(p1, intval)
  guard_class(p0, BoxedInteger)
    i3 = get(p0, intval)
    i4 = i2 + i3
    p5 = new(BoxedInteger)
      set(p5, intval, i4)
jump(L0, p5, p0)
";

/// Seed 002, Figure 2: p0 is y, p1 is res.
const FIGURE_2_OF_002: &str = "\
L0(p0, p1):
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

/// The trace without what the figures leave out: snapshots, exit kinds and entry slots.
fn bare(trace: &Trace) -> Trace {
    let mut trace = trace.clone();
    trace.entry.clear();
    trace.snapshots.clear();
    for inst in &mut trace.insts {
        (inst.snap, inst.exit) = (None, Default::default());
    }
    trace
}

fn check(source: &str, figure: &str) {
    let config = Config { threshold: 3, ..Config::default() };
    let options =
        Options { config, polls: false, keep_recorded: true, stop_when_recorded: true, ..Options::default() };
    let mut machine = Machine::new(source, options).unwrap();
    assert_eq!(machine.run("f", &[Number::Integer(100)], 0), Ok(Outcome::Recorded));
    let recorded = bare(&machine.recorded()[0]);
    let expected = parse_trace(figure, machine.schema()).unwrap();
    if let Err(difference) = equal_up_to_renaming(&recorded, &expected, machine.schema()) {
        panic!("{difference}\n{}", print_trace(&recorded, machine.schema()));
    }
    let depths = |trace: &Trace| trace.insts.iter().map(|inst| inst.depth).collect::<Vec<_>>();
    let printed = print_trace(&recorded, machine.schema());
    let reparsed = parse_trace(&printed, machine.schema()).unwrap();
    assert_eq!(depths(&reparsed), depths(&recorded), "call depths survive the text form\n{printed}");
}

#[test]
fn seed_000_figure_2() {
    check(SEED_000, FIGURE_2_OF_000);
}

#[test]
fn seed_002_figure_2() {
    check(SEED_002, FIGURE_2_OF_002);
}
