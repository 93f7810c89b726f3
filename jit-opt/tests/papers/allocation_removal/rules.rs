//! B5, B6, B7: each rule of Figure 6, the example of lifting, and every operation that lifts.
//!
//! Problem: an optimizer with one rule wrong still gets the figures right. Design: the smallest trace for
//! each rule, and for B7 a trace for each operation of the op table that takes an object. Invariant: an
//! operation that is added to the table makes `b7_…` fail until it is listed. Example:
//! `guard_class(p1, Pair)` on a `Pair` that was never made is removed.

use std::collections::BTreeSet;

use tracelift_core::ops::{ArgType, Arity, Flags};
use tracelift_core::text::print_trace;
use tracelift_core::{Op, Type};

use super::ALONE;
use crate::support::{listing, optimized, parse};

/// A trace of which nothing is optimized away.
fn stays(input: &str) {
    listing(ALONE, input, input);
}

#[test]
fn b5_new_makes_a_static_object() {
    let optimized = listing(ALONE, "L0():\np1 = new(Pair)\nfinish()\n", "L0():\nfinish()\n");
    assert_eq!(optimized.report.fired("virtual_new"), 1);
}

#[test]
fn b5_get_of_a_static_object_is_answered() {
    let input = "L0(i0):\np1 = new(BoxedInteger)\nset(p1, intval, i0)\ni2 = get(p1, intval)\nfinish(i2)\n";
    let optimized = listing(ALONE, input, "L0(i0):\nfinish(i0)\n");
    assert_eq!(optimized.report.fired("virtual_get"), 1);
}

#[test]
fn b5_get_of_a_dynamic_object_stays() {
    stays("L0(p0):\np1 = get(p0, left)\nfinish(p1)\n");
}

#[test]
fn b5_set_on_a_static_object_is_remembered() {
    let input = "L0(i0, p1):\np2 = new(Pair)\nset(p2, left, p1)\nset(p2, left, p2)\nset(p2, right, p1)\np3 = get(p2, left)\n\
                 p4 = get(p3, right)\nfinish(p4)\n";
    let optimized = listing(ALONE, input, "L0(i0, p1):\nfinish(p1)\n");
    assert_eq!(optimized.report.fired("virtual_set"), 3);
}

/// E(u), the value; the figure prints E(v), which is dynamic already.
#[test]
fn b5_set_on_a_dynamic_object_lifts_the_value() {
    let input = "L0(p0, i1):\np2 = new(BoxedInteger)\nset(p2, intval, i1)\np3 = get(p0, left)\nset(p0, right, p2)\nfinish(p3)\n";
    let expected = "L0(p0, i1):\np3 = get(p0, left)\np2 = new(BoxedInteger)\nset(p2, intval, i1)\nset(p0, right, p2)\nfinish(p3)\n";
    let optimized = listing(ALONE, input, expected);
    assert_eq!(optimized.report.fired("lift"), 1);
}

#[test]
fn b5_guard_on_a_static_object_of_that_type_goes() {
    let input = "L0():\np1 = new(Pair)\nguard_class(p1, Pair)\nfinish()\n";
    let optimized = listing(ALONE, input, "L0():\nfinish()\n");
    assert_eq!(optimized.report.fired("virtual_guard"), 1);
}

#[test]
fn b5_guard_on_a_static_object_of_another_type_stays_and_lifts() {
    stays("L0():\np1 = new(Pair)\nguard_class(p1, BoxedFloat)\nfinish()\n");
}

#[test]
fn b5_guard_on_a_dynamic_object_stays() {
    stays("L0(p0):\nguard_class(p0, Pair)\nguard_class(p0, Pair)\nfinish()\n");
}

#[test]
fn b5_lifting_a_dynamic_object_does_nothing() {
    let optimized = listing(
        ALONE,
        "L0(p0):\np1 = new(Pair)\ncall(seen, p1)\ncall(seen, p1)\ncall(seen, p0)\nfinish()\n",
        "L0(p0):\np1 = new(Pair)\ncall(seen, p1)\ncall(seen, p1)\ncall(seen, p0)\nfinish()\n",
    );
    assert_eq!(optimized.report.fired("lift"), 1);
    // Once lifted, the object is dynamic for all other rules too.
    stays("L0():\np1 = new(Pair)\ncall(seen, p1)\nset(p1, left, p1)\nguard_class(p1, Pair)\np2 = get(p1, left)\nfinish(p2)\n");
}

/// liftfields: L before R, all objects before all writes of the one that holds them.
#[test]
fn b5_lifting_lifts_the_fields() {
    listing(
        ALONE,
        "L0(i0):\np1 = new(Pair)\np2 = new(BoxedInteger)\np3 = new(BoxedInteger)\nset(p3, intval, i0)\nset(p2, intval, i0)\n\
         set(p1, left, p3)\nset(p1, right, p2)\ncall(seen, p1)\nfinish()\n",
        "L0(i0):\np1 = new(Pair)\np3 = new(BoxedInteger)\nset(p3, intval, i0)\nset(p1, left, p3)\np2 = new(BoxedInteger)\n\
         set(p2, intval, i0)\nset(p1, right, p2)\ncall(seen, p1)\nfinish()\n",
    );
}

/// `{v: (T1, w, v), w: (T2, u, u)}` of section 5.1.
const GRAPH: &str = "layout T1 { L: ref, R: ref, alloc make }
layout T2 { L: ref, R: ref, alloc make }
L0(u: ref):
v: ref = new(T1)
w: ref = new(T2)
set(w, T2.L, u)
set(w, T2.R, u)
set(v, T1.L, w)
set(v, T1.R, v)
";

/// Lifting v: the paper's six operations, in its order, and nothing is left static.
#[test]
fn b6_lifting_v_lifts_w_with_it() {
    lifts("v", "v: ref = new(T1)\nw: ref = new(T2)\nset(w, T2.L, u)\nset(w, T2.R, u)\nset(v, T1.L, w)\nset(v, T1.R, v)\n", "");
}

/// Lifting w: three operations, and `{v: (T1, w, v)}` stays, as a guard after it shows.
#[test]
fn b6_lifting_w_leaves_v_static() {
    lifts("w", "w: ref = new(T2)\nset(w, T2.L, u)\nset(w, T2.R, u)\n", " virtual v0 T1{T1.L: w, T1.R: v0}");
}

/// Makes `object` escape and looks at what is made, and at what a guard after it still describes.
fn lifts(object: &str, made: &str, left: &str) {
    let input = format!("{GRAPH}call(seen, {object})\n@0 = frame[0: ref v]\nguard_nonnull(u) @0\nfinish()\n");
    let file = parse(&input);
    let out = optimized(ALONE, &file);
    let v = if left.is_empty() { "v" } else { "v0" };
    assert_eq!(
        print_trace(&out.trace, &file.schema),
        format!("L0(u: ref):\n{made}call(seen, {object})\n@0 = frame[0: ref {v}]{left}\nguard_nonnull(u) @0\nfinish()\n")
    );
}

/// What becomes of a static object `p1` (a `Pair`) in an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    /// It is made, before the operation.
    Lifted,
    /// The operation is answered, and the object stays what it is.
    Static,
}

use Fate::{Lifted, Static};

/// Every operation that takes objects, in every place where it takes one.
const PLACES: &[(Op, Fate, &str)] = &[
    (Op::RefToAddr, Lifted, "a2 = ref_to_addr(p1)"),
    (Op::Select, Lifted, "p2 = select(i3, p1, p0)"),
    (Op::Select, Lifted, "p2 = select(i3, p0, p1)"),
    (Op::RefEq, Static, "i2 = ref_eq(p1, p0)"),
    (Op::RefNe, Static, "i2 = ref_ne(p0, p1)"),
    (Op::RefIsNull, Static, "i2 = ref_is_null(p1)"),
    (Op::Load, Lifted, "i2 = load(p1, raw)"),
    (Op::Store, Lifted, "store(p1, raw, i3)"),
    (Op::Store, Lifted, "store(p0, link, p1)"),
    (Op::GuardClass, Static, "guard_class(p1, Pair)"),
    (Op::GuardClass, Lifted, "guard_class(p1, Triple)"),
    (Op::Get, Static, "p2 = get(p1, left)"),
    (Op::Get, Lifted, "i2 = get(p1, intval)"),
    (Op::Set, Static, "set(p1, left, p0)"),
    (Op::Set, Static, "set(p1, left, p1)"),
    (Op::Set, Lifted, "set(p0, left, p1)"),
    (Op::ItemCount, Lifted, "i2 = item_count(p1, Array)"),
    (Op::GetItem, Lifted, "i2 = get_item(p1, 1, Array:int)"),
    (Op::SetItem, Lifted, "set_item(p0, 1, p1, Array:ref)"),
    (Op::PutItem, Lifted, "put_item(p0, 1, p1, Array:ref)"),
    (Op::GetKey, Lifted, "i2 = get_key(p1, @k, Dict:int)"),
    (Op::GuardKeyAbsent, Lifted, "guard_key_absent(p1, @k, Dict)"),
    (Op::SetKey, Lifted, "set_key(p0, @k, p1, Dict:ref)"),
    (Op::InsertKey, Lifted, "insert_key(p0, @k, p1, Dict:ref)"),
    (Op::Call, Lifted, "call(seen, p1)"),
    (Op::TryCall, Lifted, "a2 = try_call(maybe, p1)"),
    (Op::Mend, Lifted, "mend(tell, i3, p1)"),
    (Op::GuardValue, Lifted, "guard_value(p1, @k)"),
    (Op::GuardNull, Lifted, "guard_null(p1)"),
    (Op::GuardNonnull, Static, "guard_nonnull(p1)"),
    (
        Op::CallUnit,
        Lifted,
        "@0 = frame[0: ref p0] frame(base 3)[]\ni2 = call_unit(0, 3, p1) @0\n@1 = frame[]\nunit_result(i2, _) @1",
    ),
    (Op::ReturnUnit, Lifted, "return_unit(p1, ref)"),
    (Op::Jump, Lifted, "jump(L0, p1, i3)"),
    (Op::Finish, Lifted, "finish(p1)"),
];

fn takes_objects(op: Op) -> bool {
    match op.info().args {
        // Regions are not optimized as traces are.
        Arity::Variadic => !matches!(op, Op::Label | Op::JumpIf | Op::EnterLoop),
        Arity::Fixed(kinds) => kinds.iter().any(|kind| {
            matches!(kind, ArgType::Is(Type::Ref) | ArgType::Pointer | ArgType::Same | ArgType::Declared)
        }),
    }
}

#[test]
fn b7_every_operation_lifts_or_is_answered() {
    let listed: BTreeSet<u8> = PLACES.iter().map(|&(op, ..)| op as u8).collect();
    let there: BTreeSet<u8> = Op::ALL.iter().filter(|op| takes_objects(**op)).map(|&op| op as u8).collect();
    let names = |ops: &BTreeSet<u8>| -> Vec<&str> {
        ops.iter().map(|&op| Op::ALL[op as usize].info().name).collect()
    };
    assert_eq!(names(&listed), names(&there), "the list has every operation that takes an object");
    for &(op, fate, line) in PLACES {
        let end = if op.is(Flags::ENDS) { "" } else { "finish()\n" };
        let unit = if op == Op::ReturnUnit { "unit 0\nentry [0: ref, 1: int]\n" } else { "" };
        let input = format!(
            "cell raw: int @8\ncell link: ref @8\nfunc maybe(ref) -> addr\n\
             func tell(addr, ref) writes told\nobject k = BoxedInteger {{ intval: 1 }}\n\
             {unit}L0(p0, i3):\np1 = new(Pair)\n{line}\n{end}"
        );
        let file = parse(&input);
        let out = optimized(ALONE, &file);
        let printed = print_trace(&out.trace, &file.schema);
        let ops: Vec<Op> = out.trace.insts.iter().map(|inst| inst.op).collect();
        let made = ops.iter().position(|&op| op == Op::New);
        match fate {
            Static => assert!(made.is_none() && !ops.contains(&op), "{line}: {printed}"),
            Lifted => {
                let at = ops.iter().rposition(|&other| other == op);
                assert!(made.is_some() && made < at, "{line}: {printed}");
            }
        }
    }
}

/// What else names an object is no use of it: a snapshot describes it.
#[test]
fn b7_snapshots_describe_and_do_not_lift() {
    let input =
        "L0(i0):\np1 = new(Pair)\nset(p1, left, p1)\n@0 = frame[0: ref p1]\nguard_true(i0) @0\nfinish()\n";
    let expected = "L0(i0):\n@0 = frame[0: ref v0] virtual v0 Pair{left: v0}\nguard_true(i0) @0\nfinish()\n";
    listing(ALONE, input, expected);
}
