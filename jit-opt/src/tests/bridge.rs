//! Second bodies of loops, and bridges that go on there ([`crate::bridge`]).

use std::sync::Arc;

use tracelift_core::loops::{Entering, Given};
use tracelift_core::testbed::standard_schema;
use tracelift_core::{Op, Trace};

use super::optimized_text;
use crate::{BridgeTarget, Config, Optimized};

/// Slot 2 is what the loop adds; it does not change it.
const ONE_OBJECT: &str = "trace loop\nentry [0: int, 1: ref, 2: int]\nL0(i0, p1, i2):\n\
    @0 = frame(words 1 1)[0: int i0, 1: ref p1]\n\
    i3 = int_lt(i0, 100)\nguard_true(i3) @0 loop_end\nguard_class(p1, BoxedInteger) @0\n\
    i4 = get(p1, intval)\ni5 = int_add(i4, i2)\np6 = new(BoxedInteger) @0\nset(p6, intval, i5) @0\n\
    i7 = int_add(i0, 1)\njump(L0, i7, p6, i2)\n";

const TWO_OBJECTS: &str = "trace loop\nentry [0: int, 1: ref, 2: ref]\nL0(i0, p1, p2):\n\
    @0 = frame(words 1 1)[0: int i0, 1: ref p1, 2: ref p2]\n\
    i3 = int_lt(i0, 100)\nguard_true(i3) @0 loop_end\nguard_class(p1, BoxedInteger) @0\n\
    guard_class(p2, BoxedInteger) @0\ni4 = get(p1, intval)\ni5 = get(p2, intval)\n\
    p6 = new(BoxedInteger) @0\nset(p6, intval, i5) @0\n\
    @1 = frame(words 1 1)[0: int i0, 1: ref p1, 2: ref p2]\np7 = new(BoxedInteger) @1\nset(p7, intval, i4) @1\n\
    i8 = int_add(i0, 1)\njump(L0, i8, p6, p7)\n";

fn target(text: &str) -> (Optimized, Arc<BridgeTarget>) {
    let config = Config::new().with_second_body();
    let optimized = optimized_text(&config, text, &standard_schema());
    let target = optimized.target.clone().expect("the loop has a second body");
    (optimized, Arc::new(target))
}

/// A bridge with the counter as `i0`, and 7 as `i1`, which leaves that in the slots.
fn bridge(to: &Arc<BridgeTarget>, made: &str, slots: &str, results: &str) -> Optimized {
    let text = format!(
        "trace bridge\nentry_cells [0, 1]\nL0(i0, i1):\n@0 = frame(words 1 1)[0: int i0]\n{made}\
         @1 = frame(words 1 1)[{slots}]\nfinish({results}) @1\n"
    );
    let config = Config::new().bridging_to(to.clone());
    optimized_text(&config, &text, &standard_schema())
}

const BOXED: &str = "p2 = new(BoxedInteger) @0\nset(p2, intval, i1) @0\n";
const TWO_BOXED: &str = "p2 = new(BoxedInteger) @0\nset(p2, intval, i1) @0\n\
    @2 = frame(words 1 1)[0: int i0]\np3 = new(BoxedInteger) @2\nset(p3, intval, i0) @2\n";

fn entered(trace: &Trace) -> Option<(usize, Vec<i32>)> {
    let inst = trace.insts.iter().find(|inst| inst.op == Op::EnterLoop)?;
    let snapshot = trace.snapshot_of(inst).expect("it says what the loop relies on");
    Some((inst.args.len(), snapshot.slots().map(|(slot, _)| slot).collect()))
}

#[test]
fn a_loop_with_virtual_objects_has_a_second_body() {
    let (optimized, _) = target(ONE_OBJECT);
    let trace = &optimized.trace;
    let second = optimized.loops.second.expect("there is a label");
    assert_eq!(trace.labels[second.index()].args.len(), 3, "the counter, what the object holds, the sum");
    let label = |inst: &&tracelift_core::Inst| inst.label() == Some(second);
    let leads: Vec<Op> = trace.insts.iter().filter(label).map(|inst| inst.op).collect();
    assert_eq!(leads, [Op::Label, Op::Jump], "nothing else leads there");
    let new = |inst: &&tracelift_core::Inst| matches!(inst.op, Op::New | Op::Call);
    assert_eq!(trace.insts.iter().filter(new).count(), 0);
    // A loop without objects has none, nor one that nobody asked it for.
    let plain = ONE_OBJECT.replace("p6 = new(BoxedInteger) @0\nset(p6, intval, i5) @0\n", "");
    let plain = plain.replace("i7, p6, i2", "i7, p1, i5");
    let config = Config::new().with_second_body();
    assert_eq!(optimized_text(&config, &plain, &standard_schema()).target, None);
    assert_eq!(optimized_text(&Config::new(), ONE_OBJECT, &standard_schema()).target, None);
}

#[test]
fn a_bridge_with_objects_of_that_form_goes_on_there() {
    let (_, to) = target(ONE_OBJECT);
    // Slot 2 is as it was: it is read there. What the loop carries is not written.
    let kept = bridge(&to, BOXED, "0: int i0, 1: ref p2", "i0, p2");
    let entering = kept.loops.entering.expect("it goes on");
    assert_eq!(entering.carried, [0, 1]);
    assert_eq!(entering.checks.iter().map(|slot| slot.slot).collect::<Vec<_>>(), [2]);
    assert!(entering.given.contains(&Given::Slot(2)) && entering.given.len() == 3);
    assert_eq!(entered(&kept.trace), Some((2, vec![])));
    // What the loop does not change, and the bridge does, has to be in memory.
    let changed = bridge(&to, BOXED, "0: int i0, 1: ref p2, 2: int i1", "i0, p2, i1");
    let Entering { checks, carried, .. } = changed.loops.entering.expect("it goes on");
    assert_eq!((checks, carried), (vec![], vec![0, 1]));
    assert_eq!(entered(&changed.trace), Some((3, vec![2])));
}

#[test]
fn a_bridge_with_others_does_not() {
    let (_, to) = target(ONE_OBJECT);
    let none = |made: &str, slots: &str, results: &str| {
        let bridge = bridge(&to, made, slots, results);
        assert_eq!((entered(&bridge.trace), bridge.loops.entering), (None, None), "{made}{slots}");
    };
    none("p2 = new(BoxedFloat) @0\n", "0: int i0, 1: ref p2", "i0, p2");
    none("p2 = new(BoxedInteger) @0\n", "0: int i0, 1: ref p2", "i0, p2");
    none(BOXED, "0: int i0, 1: nil", "i0");
    none(BOXED, "0: int i0", "i0");
    // The loop does not know that the object is in slot 2 as well.
    none(BOXED, "0: int i0, 1: ref p2, 2: ref p2", "i0, p2, p2");
    none(BOXED, "0: int i0, 1: ref p2, 5: ref p2", "i0, p2, p2");
}

#[test]
fn two_objects_are_not_one() {
    let (_, to) = target(TWO_OBJECTS);
    let two = bridge(&to, TWO_BOXED, "0: int i0, 1: ref p2, 2: ref p3", "i0, p2, p3");
    assert_eq!(entered(&two.trace), Some((3, vec![])));
    let exchanged = bridge(&to, TWO_BOXED, "0: int i0, 1: ref p3, 2: ref p2", "i0, p3, p2");
    assert!(exchanged.loops.entering.is_some());
    let twins = bridge(&to, TWO_BOXED, "0: int i0, 1: ref p2, 2: ref p2", "i0, p2, p2");
    assert_eq!(entered(&twins.trace), None);
}
