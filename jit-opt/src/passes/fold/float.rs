//! Rules for floats and conversions: only those that are exact for every bit pattern, NaNs included.
//!
//! Negation and absolute value touch the sign bit alone, and rounding a rounded number changes nothing.
//! Invariant: no rule exchanges the operands of an arithmetic operation, since the machine hands on the first
//! NaN. Example: `float_div(x, 4.0)` is `float_mul(x, 0.25)`: both divide by a power of two, exactly.

use smallvec::smallvec;
use tracelift_core::Op::{self, *};
use tracelift_core::Type;

use super::matcher::{is, op1, Match, Rewrite, Rule, Term};

const ROUNDINGS: &[Op] = &[FloatFloor, FloatCeil, FloatTrunc];

#[rustfmt::skip]
pub(super) static RULES: &[Rule] = &[
    Rule { name: "float_neg_neg", law: "-(-x) => x", ops: &[FloatNeg],
        apply: |m| Some(is(m.def(0, FloatNeg)?[0])) },
    Rule { name: "float_abs_neg", law: "|-x| => |x|", ops: &[FloatAbs],
        apply: |m| Some(op1(FloatAbs, m.def(0, FloatNeg)?[0])) },
    Rule { name: "float_abs_abs", law: "||x|| => |x|", ops: &[FloatAbs],
        apply: |m| m.def(0, FloatAbs).map(|_| m.arg(0)) },
    Rule { name: "float_round_round", law: "floor(ceil x) => ceil x", ops: ROUNDINGS,
        apply: |m| ROUNDINGS.iter().any(|&op| m.def(0, op).is_some()).then(|| m.arg(0)) },
    Rule { name: "float_round_int", law: "floor(float i) => float i", ops: ROUNDINGS,
        apply: |m| m.def(0, IntToFloat).map(|_| m.arg(0)) },
    Rule { name: "float_div_power_of_two", law: "x / 2^n => x * 2^-n", ops: &[FloatDiv],
        apply: |m| {
            let reciprocal = exact_reciprocal(f64::from_bits(m.st.bits(m.value(1))?))?;
            Some(Rewrite::Op(FloatMul, smallvec![m.value(0).into(), Term::Const(Type::Float, reciprocal.to_bits())]))
        } },
    Rule { name: "bits_of_float_of_bits", law: "bits(float_from_bits x) => x", ops: &[FloatToBits],
        apply: |m| Some(is(m.def(0, FloatFromBits)?[0])) },
    Rule { name: "float_of_bits_of_float", law: "float_from_bits(bits x) => x", ops: &[FloatFromBits],
        apply: |m| Some(is(m.def(0, FloatToBits)?[0])) },
    Rule { name: "int_of_float_of_int", law: "int(float i) => i, |i| <= 2^53", ops: &[FloatToInt, FloatToIntExact],
        apply: int_of_float },
];

/// `1 / x`, if both are powers of two and normal numbers.
fn exact_reciprocal(x: f64) -> Option<f64> {
    const FRACTION: u64 = (1 << 52) - 1;
    let reciprocal = 1.0 / x;
    let exact = x.is_normal() && reciprocal.is_normal() && x.to_bits() & FRACTION == 0;
    exact.then_some(reciprocal)
}

fn int_of_float(m: &Match<'_, '_>) -> Option<Rewrite> {
    let int = m.def(0, IntToFloat)?[0];
    m.is_exact_in_double(int).then(|| is(int))
}
