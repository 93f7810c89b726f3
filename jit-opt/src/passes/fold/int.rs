//! Rules for integer arithmetic: all of it wraps, so the laws of the ring of integers modulo 2^64 hold
//! exactly.
//!
//! Invariant: `_ovf` ops appear only in rules whose answer cannot overflow. Example: `x - 5` becomes
//! `x + -5`, so that chains of additions and subtractions meet in one rule.

use tracelift_core::planted::{planted, Bug};
use tracelift_core::Op::{self, *};

use super::matcher::{int, is, op1, op2, Match, Rewrite, Rule};

/// The commuting ops whose constant goes to the right.
const COMMUTING: &[Op] =
    &[IntAdd, IntMul, IntAnd, IntOr, IntXor, IntEq, IntNe, IntAddOvf, IntMulOvf, RefEq, RefNe, AddrEq];

#[rustfmt::skip]
pub(super) static RULES: &[Rule] = &[
    Rule { name: "constant_right", law: "c op x => x op c", ops: COMMUTING,
        apply: |m| (m.is_const(0) && !m.is_const(1)).then(|| op2(m.inst.op, m.value(1), m.value(0))) },

    Rule { name: "add_zero", law: "x + 0 => x", ops: &[IntAdd, IntAddOvf],
        apply: |m| m.is_int(1, 0).then(|| m.arg(0)) },
    Rule { name: "add_chain", law: "(x + c) + d => x + (c + d)", ops: &[IntAdd],
        apply: |m| { let (x, c) = m.def_const(0, IntAdd)?; Some(op2(IntAdd, x, c.wrapping_add(m.int(1)?))) } },
    Rule { name: "add_neg", law: "x + -y => x - y", ops: &[IntAdd],
        apply: |m| match (m.def(1, IntNeg), m.def(0, IntNeg)) {
            (Some(y), _) => Some(op2(IntSub, m.value(0), y[0])),
            (_, Some(x)) => Some(op2(IntSub, m.value(1), x[0])),
            _ => None,
        } },
    Rule { name: "add_undoes_sub", law: "(x - y) + y => x", ops: &[IntAdd],
        apply: |m| undone(m, IntSub).map(is) },

    Rule { name: "sub_zero", law: "x - 0 => x", ops: &[IntSub, IntSubOvf],
        apply: |m| m.is_int(1, 0).then(|| m.arg(0)) },
    Rule { name: "sub_self", law: "x - x => 0", ops: &[IntSub, IntSubOvf],
        apply: |m| m.same().then(|| int(0)) },
    Rule { name: "sub_constant", law: "x - c => x + -c", ops: &[IntSub],
        apply: |m| Some(op2(IntAdd, m.value(0), m.int(1)?.wrapping_neg())) },
    Rule { name: "sub_from_zero", law: "0 - x => -x", ops: &[IntSub],
        apply: |m| m.is_int(0, 0).then(|| op1(IntNeg, m.value(1))) },
    Rule { name: "sub_neg", law: "x - -y => x + y", ops: &[IntSub],
        apply: |m| Some(op2(IntAdd, m.value(0), m.def(1, IntNeg)?[0])) },
    Rule { name: "sub_undoes_add", law: "(x + y) - y => x", ops: &[IntSub],
        apply: |m| {
            let sum = m.def(0, IntAdd)?;
            let left = if sum[1] == m.value(1) { sum[0] } else if sum[0] == m.value(1) { sum[1] } else { return None };
            Some(is(left))
        } },
    Rule { name: "sub_of_sum", law: "d - (x + c) => (d - c) - x", ops: &[IntSub],
        apply: |m| { let (x, c) = m.def_const(1, IntAdd)?; Some(op2(IntSub, m.int(0)?.wrapping_sub(c), x)) } },
    Rule { name: "sub_common", law: "(x + c) - x => c", ops: &[IntSub],
        apply: |m| {
            let (x, c) = offset(m, 0);
            let (y, d) = offset(m, 1);
            (x == y).then(|| int(c.wrapping_sub(d)))
        } },

    Rule { name: "neg_neg", law: "-(-x) => x", ops: &[IntNeg],
        apply: |m| Some(is(m.def(0, IntNeg)?[0])) },
    Rule { name: "neg_sub", law: "-(x - y) => y - x", ops: &[IntNeg],
        apply: |m| { let sub = m.def(0, IntSub)?; Some(op2(IntSub, sub[1], sub[0])) } },

    Rule { name: "mul_zero", law: "x * 0 => 0", ops: &[IntMul, IntMulOvf],
        apply: |m| m.is_int(1, 0).then(|| int(0)) },
    Rule { name: "mul_one", law: "x * 1 => x", ops: &[IntMul, IntMulOvf],
        apply: |m| m.is_int(1, 1).then(|| m.arg(0)) },
    Rule { name: "mul_minus_one", law: "x * -1 => -x", ops: &[IntMul],
        apply: |m| m.is_int(1, -1).then(|| op1(IntNeg, m.value(0))) },
    Rule { name: "mul_chain", law: "(x * c) * d => x * (c * d)", ops: &[IntMul],
        apply: |m| { let (x, c) = m.def_const(0, IntMul)?; Some(op2(IntMul, x, c.wrapping_mul(m.int(1)?))) } },
    Rule { name: "mul_power_of_two", law: "x * 2^n => x << n", ops: &[IntMul],
        apply: |m| Some(op2(IntShl, m.value(0), power_of_two(m.int(1)?)?)) },
    Rule { name: "mul_ovf_two", law: "x * 2 => x + x, checked", ops: &[IntMulOvf],
        apply: |m| m.is_int(1, 2).then(|| op2(IntAddOvf, m.value(0), m.value(0))) },

    Rule { name: "div_one", law: "x / 1 => x", ops: &[IntDiv, IntFloorDiv],
        apply: |m| m.is_int(1, 1).then(|| m.arg(0)) },
    Rule { name: "div_minus_one", law: "x / -1 => -x, wrapping", ops: &[IntDiv, IntFloorDiv],
        apply: |m| m.is_int(1, -1).then(|| op1(IntNeg, m.value(0))) },
    Rule { name: "rem_one", law: "x % 1, x % -1 => 0", ops: &[IntRem, IntFloorMod],
        apply: |m| (m.is_int(1, 1) || m.is_int(1, -1)).then(|| int(0)) },
    Rule { name: "floordiv_power_of_two", law: "x // 2^n => x >> n", ops: &[IntFloorDiv],
        apply: |m| Some(op2(IntSar, m.value(0), power_of_two(m.int(1)?)?)) },
    Rule { name: "floormod_power_of_two", law: "x mod 2^n => x & (2^n - 1)", ops: &[IntFloorMod],
        apply: |m| { let n = m.int(1)?; power_of_two(n)?; Some(op2(IntAnd, m.value(0), n - 1)) } },

    Rule { name: "and_or_self", law: "x & x, x | x => x", ops: &[IntAnd, IntOr],
        apply: |m| m.same().then(|| m.arg(0)) },
    Rule { name: "and_zero", law: "x & 0 => 0", ops: &[IntAnd],
        apply: |m| m.is_int(1, 0).then(|| int(0)) },
    Rule { name: "and_all", law: "x & -1 => x", ops: &[IntAnd],
        apply: |m| m.is_int(1, -1).then(|| m.arg(0)) },
    Rule { name: "and_chain", law: "(x & c) & d => x & (c & d)", ops: &[IntAnd],
        apply: |m| { let (x, c) = m.def_const(0, IntAnd)?; Some(op2(IntAnd, x, c & m.int(1)?)) } },
    Rule { name: "or_zero", law: "x | 0 => x", ops: &[IntOr],
        apply: |m| m.is_int(1, 0).then(|| m.arg(0)) },
    Rule { name: "or_all", law: "x | -1 => -1", ops: &[IntOr],
        apply: |m| m.is_int(1, -1).then(|| int(-1)) },
    Rule { name: "or_chain", law: "(x | c) | d => x | (c | d)", ops: &[IntOr],
        apply: |m| { let (x, c) = m.def_const(0, IntOr)?; Some(op2(IntOr, x, c | m.int(1)?)) } },
    Rule { name: "absorb", law: "x & (x | y), x | (x & y) => x", ops: &[IntAnd, IntOr],
        apply: |m| {
            let other = if m.inst.op == IntAnd { IntOr } else { IntAnd };
            let in_other = |index: usize| m.def(1 - index, other).is_some_and(|args| args.contains(&m.value(index)));
            [0, 1].into_iter().find(|&index| in_other(index)).map(|index| m.arg(index))
        } },
    Rule { name: "xor_self", law: "x ^ x => 0", ops: &[IntXor],
        apply: |m| m.same().then(|| int(0)) },
    Rule { name: "xor_zero", law: "x ^ 0 => x", ops: &[IntXor],
        apply: |m| m.is_int(1, 0).then(|| m.arg(0)) },
    Rule { name: "xor_all", law: "x ^ -1 => not x", ops: &[IntXor],
        apply: |m| m.is_int(1, -1).then(|| op1(IntNot, m.value(0))) },
    Rule { name: "xor_chain", law: "(x ^ c) ^ d => x ^ (c ^ d)", ops: &[IntXor],
        apply: |m| { let (x, c) = m.def_const(0, IntXor)?; Some(op2(IntXor, x, c ^ m.int(1)?)) } },
    Rule { name: "not_not", law: "not not x => x", ops: &[IntNot],
        apply: |m| Some(is(m.def(0, IntNot)?[0])) },

    Rule { name: "shift_zero", law: "x shift 0 => x", ops: &[IntShl, IntSar, IntShr],
        apply: |m| m.is_int(1, 0).then(|| m.arg(0)) },
    Rule { name: "zero_shift", law: "0 shift n => 0", ops: &[IntShl, IntSar, IntShr],
        apply: |m| m.is_int(0, 0).then(|| int(0)) },
    Rule { name: "shift_masked", law: "x shift n => x shift (n & 63)", ops: &[IntShl, IntSar, IntShr],
        apply: |m| {
            let n = m.int(1).filter(|n| !(0..64).contains(n))?;
            Some(if planted(Bug::FoldShiftUnmasked) { int(0) } else { op2(m.inst.op, m.value(0), n & 63) })
        } },
    Rule { name: "shift_chain", law: "(x shift m) shift n => x shift (m + n)", ops: &[IntShl, IntSar, IntShr],
        apply: shift_chain },
    Rule { name: "shift_undone", law: "(x << n) >>> n => x & mask", ops: &[IntShr],
        apply: |m| {
            let (x, n) = m.def_const(0, IntShl)?;
            (m.int(1)? == n && (0..64).contains(&n)).then(|| op2(IntAnd, x, (u64::MAX >> n) as i64))
        } },
];

/// The exponent, if the number is a power of two from 2^1 to 2^62.
fn power_of_two(int: i64) -> Option<i64> {
    (int > 1 && int & (int - 1) == 0).then(|| int.trailing_zeros() as i64)
}

/// For `(x op y) + y` or `y + (x op y)`: `x`.
fn undone(m: &Match<'_, '_>, op: Op) -> Option<tracelift_core::Value> {
    [0, 1].into_iter().find_map(|index| {
        let args = m.def(index, op)?;
        (args[1] == m.value(1 - index)).then_some(args[0])
    })
}

/// An operand as `x + c`.
fn offset(m: &Match<'_, '_>, index: usize) -> (tracelift_core::Value, i64) {
    m.def_const(index, IntAdd).unwrap_or((m.value(index), 0))
}

fn shift_chain(m: &Match<'_, '_>) -> Option<Rewrite> {
    let (x, first) = m.def_const(0, m.inst.op)?;
    let second = m.int(1)?;
    if !(0..64).contains(&first) || !(0..64).contains(&second) {
        return None;
    }
    Some(match (m.inst.op, first + second) {
        (op, sum @ 0..=63) => op2(op, x, sum),
        (IntSar, _) => op2(IntSar, x, 63),
        _ => int(0),
    })
}
