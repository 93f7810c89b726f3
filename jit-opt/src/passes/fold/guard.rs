//! Rules for guards: test what the tested value was made of.
//!
//! A guard on a compare with a constant becomes a guard on the value itself, and the guard pass then knows
//! that value. Invariant: a rewritten guard fails for exactly the same values and leaves the trace at the
//! same snapshot. Example: `guard_false(ref_is_null(p0))` is `guard_nonnull(p0)`; the compare has no use left
//! and is removed.

use tracelift_core::Op::*;
use tracelift_core::{Op, Type};

use super::matcher::{is_compare, op1, op2, Match, Rewrite, Rule};

#[rustfmt::skip]
pub(super) static RULES: &[Rule] = &[
    Rule { name: "guard_zero", law: "guard_value(i, 0) => guard_false(i)", ops: &[GuardValue],
        apply: |m| (m.is_int(1, 0)).then(|| op1(GuardFalse, m.value(0))) },
    Rule { name: "guard_compare_one", law: "guard_value(x < y, 1) => guard_true(x < y)", ops: &[GuardValue],
        apply: |m| { m.compare(0)?; m.is_int(1, 1).then(|| op1(GuardTrue, m.value(0))) } },
    Rule { name: "guard_sum", law: "guard_value(x + c, d) => guard_value(x, d - c)", ops: &[GuardValue],
        apply: |m| { let (x, c) = m.def_const(0, IntAdd)?; Some(op2(GuardValue, x, m.int(1)?.wrapping_sub(c))) } },
    Rule { name: "guard_same", law: "guard_value(x, x) holds", ops: &[GuardValue],
        apply: |m| m.same().then_some(Rewrite::Holds) },
    Rule { name: "guard_null_value", law: "guard_value(p, null) => guard_null(p)", ops: &[GuardValue],
        apply: |m| {
            let pointer = m.st.out.ty(m.value(0)).is_pointer();
            (pointer && m.is_null(1)).then(|| op1(GuardNull, m.value(0)))
        } },
    Rule { name: "guard_equal", law: "guard_true(x == c) => guard_value(x, c)", ops: &[GuardTrue],
        apply: |m| equal(m, &[IntEq, RefEq, AddrEq]) },
    Rule { name: "guard_not_different", law: "guard_false(x != c) => guard_value(x, c)", ops: &[GuardFalse],
        apply: |m| equal(m, &[IntNe, RefNe]) },
    Rule { name: "guard_nonzero", law: "guard_true(x != 0), guard_false(x == 0) => guard_true(x)",
        ops: &[GuardTrue, GuardFalse],
        apply: |m| {
            let (x, c) = m.def_const(0, if m.inst.op == GuardTrue { IntNe } else { IntEq })?;
            (c == 0).then(|| op1(GuardTrue, x))
        } },
    Rule { name: "guard_not", law: "guard_true((x < y) ^ 1) => guard_false(x < y)", ops: &[GuardTrue, GuardFalse],
        apply: not },
    Rule { name: "guard_is_null", law: "guard_true(is_null p) => guard_null(p)", ops: &[GuardTrue, GuardFalse],
        apply: |m| {
            let pointer = m.def(0, RefIsNull)?[0];
            Some(op1(if m.inst.op == GuardTrue { GuardNull } else { GuardNonnull }, pointer))
        } },
    Rule { name: "guard_not_null", law: "guard_true(p != null) => guard_nonnull(p)", ops: &[GuardTrue],
        apply: |m| {
            let args = m.def(0, RefNe)?;
            let is_null = m.st.bits(args[1]) == Some(0) && m.st.out.ty(args[1]) == Type::Ref;
            is_null.then(|| op1(GuardNonnull, args[0]))
        } },
];

/// A guard that an equality with a constant holds.
fn equal(m: &Match<'_, '_>, ops: &[Op]) -> Option<Rewrite> {
    let compare = m.st.def(m.value(0)).filter(|def| ops.contains(&def.op))?;
    m.st.out.constant_of(compare.args[1])?;
    Some(op2(GuardValue, compare.args[0], compare.args[1]))
}

/// A guard on the opposite of a compare that has no opposite among the ops (floats).
fn not(m: &Match<'_, '_>) -> Option<Rewrite> {
    let (compare, constant) = m
        .def_const(0, IntEq)
        .filter(|&(_, c)| c == 0)
        .or_else(|| m.def_const(0, IntXor).filter(|&(_, c)| c == 1))?;
    let is_compare = m.st.def(compare).is_some_and(|def| is_compare(def.op));
    if !is_compare && constant == 1 {
        return None;
    }
    Some(op1(if m.inst.op == GuardTrue { GuardFalse } else { GuardTrue }, compare))
}
