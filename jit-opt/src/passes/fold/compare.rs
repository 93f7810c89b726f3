//! Rules for compares and choices.
//!
//! Invariant: ordered float compares are turned round nowhere: their opposite is no compare (NaN). Example: a
//! host's `not (a < b)` is recorded as `int_eq(int_lt(a, b), 0)` and becomes `int_ge(a, b)`.

use smallvec::smallvec;
use tracelift_core::Op::{self, *};

use super::matcher::{int, inverse, is_compare, mirrored, op1, op2, Match, Rewrite, Rule};

/// Compares that a constant can be on either side of, but that do not commute.
const ORDERED: &[Op] = &[IntLt, IntLe, IntGt, IntGe, UintLt, UintLe, UintGt, UintGe];

#[rustfmt::skip]
pub(super) static RULES: &[Rule] = &[
    Rule { name: "compare_self_true", law: "x == x, x <= x => 1",
        ops: &[IntEq, IntLe, IntGe, UintLe, UintGe, RefEq, AddrEq],
        apply: |m| m.same().then(|| int(1)) },
    Rule { name: "compare_self_false", law: "x != x, x < x => 0",
        ops: &[IntNe, IntLt, IntGt, UintLt, UintGt, RefNe, FloatLt, FloatGt],
        apply: |m| m.same().then(|| int(0)) },
    Rule { name: "compare_mirrored", law: "c < x => x > c", ops: ORDERED,
        apply: |m| (m.is_const(0) && !m.is_const(1)).then(|| Some(op2(mirrored(m.inst.op)?, m.value(1), m.value(0))))? },
    Rule { name: "compare_limit", law: "x < MIN, x <=u MAX => 0, 1", ops: ORDERED,
        apply: |m| limit(m.inst.op, m.int(1)?).map(int) },
    Rule { name: "compare_unsigned_one", law: "x <u 1 => x == 0", ops: &[UintLt, UintGe],
        apply: |m| m.is_int(1, 1).then(|| op2(if m.inst.op == UintLt { IntEq } else { IntNe }, m.value(0), 0)) },
    Rule { name: "compare_unsigned_zero", law: "x >u 0 => x != 0", ops: &[UintGt, UintLe],
        apply: |m| m.is_int(1, 0).then(|| op2(if m.inst.op == UintGt { IntNe } else { IntEq }, m.value(0), 0)) },

    Rule { name: "compare_of_compare", law: "(x < y) != 0, (x < y) == 1 => x < y", ops: &[IntEq, IntNe],
        apply: |m| {
            m.compare(0)?;
            (m.is_int(1, 1) && m.inst.op == IntEq || m.is_int(1, 0) && m.inst.op == IntNe).then(|| m.arg(0))
        } },
    Rule { name: "not_of_compare", law: "(x < y) == 0 => x >= y", ops: &[IntEq, IntNe, IntXor],
        apply: not_of_compare },
    Rule { name: "equal_sum", law: "x + c == d => x == d - c", ops: &[IntEq, IntNe],
        apply: |m| { let (x, c) = m.def_const(0, IntAdd)?; Some(op2(m.inst.op, x, m.int(1)?.wrapping_sub(c))) } },
    Rule { name: "equal_difference", law: "x - y == 0 => x == y", ops: &[IntEq, IntNe],
        apply: |m| {
            let args = m.def(0, IntSub)?;
            m.is_int(1, 0).then(|| op2(m.inst.op, args[0], args[1]))
        } },
    Rule { name: "equal_xor", law: "x ^ y == 0 => x == y", ops: &[IntEq, IntNe],
        apply: |m| {
            let args = m.def(0, IntXor)?;
            m.is_int(1, 0).then(|| op2(m.inst.op, args[0], args[1]))
        } },
    Rule { name: "equal_negated", law: "-x == c => x == -c", ops: &[IntEq, IntNe],
        apply: |m| Some(op2(m.inst.op, m.def(0, IntNeg)?[0], m.int(1)?.wrapping_neg())) },

    Rule { name: "ref_eq_null", law: "p == null => is_null p", ops: &[RefEq],
        apply: |m| m.is_null(1).then(|| op1(RefIsNull, m.value(0))) },

    Rule { name: "select_known", law: "c ? x : y => x or y", ops: &[Select],
        apply: |m| m.st.bits(m.value(0)).map(|c| m.arg(if c != 0 { 1 } else { 2 })) },
    Rule { name: "select_same", law: "c ? x : x => x", ops: &[Select],
        apply: |m| (m.value(1) == m.value(2)).then(|| m.arg(1)) },
    Rule { name: "select_compare", law: "(x < y) ? 1 : 0 => x < y", ops: &[Select],
        apply: |m| { m.compare(0)?; (m.is_int(1, 1) && m.is_int(2, 0)).then(|| m.arg(0)) } },
    Rule { name: "select_not_compare", law: "(x < y) ? 0 : 1 => x >= y", ops: &[Select],
        apply: |m| {
            let compare = m.compare(0)?;
            let inverse = inverse(compare.op)?;
            (m.is_int(1, 0) && m.is_int(2, 1)).then(|| op2(inverse, compare.args[0], compare.args[1]))
        } },
    Rule { name: "select_nonzero", law: "x != 0 ? y : z => x ? y : z", ops: &[Select],
        apply: |m| { let (x, c) = m.def_const(0, IntNe)?; (c == 0).then(|| select(x, m, [1, 2])) } },
    Rule { name: "select_zero", law: "x == 0 ? y : z => x ? z : y", ops: &[Select],
        apply: |m| { let (x, c) = m.def_const(0, IntEq)?; (c == 0).then(|| select(x, m, [2, 1])) } },
];

fn select(condition: tracelift_core::Value, m: &Match<'_, '_>, arms: [usize; 2]) -> Rewrite {
    Rewrite::Op(Select, smallvec![condition.into(), m.value(arms[0]).into(), m.value(arms[1]).into()])
}

/// What a compare with the end of the range answers.
fn limit(op: Op, right: i64) -> Option<i64> {
    match (op, right) {
        (IntLt, i64::MIN) | (IntGt, i64::MAX) | (UintLt, 0) | (UintGt, -1) => Some(0),
        (IntGe, i64::MIN) | (IntLe, i64::MAX) | (UintGe, 0) | (UintLe, -1) => Some(1),
        _ => None,
    }
}

fn not_of_compare(m: &Match<'_, '_>) -> Option<Rewrite> {
    let compare = m.compare(0)?;
    let negates = match m.inst.op {
        IntEq => m.is_int(1, 0),
        _ => m.is_int(1, 1),
    };
    if !negates || !is_compare(compare.op) {
        return None;
    }
    let terms = compare.args.iter().map(|&arg| arg.into()).collect();
    Some(Rewrite::Op(inverse(compare.op)?, terms))
}
