//! Integers: arithmetic, overflow checks, comparisons, division.
//!
//! Problem: division traps on 0 and on `MIN / -1`, and hosts divide in two ways (towards zero, towards minus
//! infinity). Design: for the divisors 0 and -1 the processor divides by 1: -1 negates (and leaves no
//! remainder), and 0, for which the op has no value, yields something but never traps, so an optimizer may
//! move a division above the guard that protects it. Most programs divide small numbers that are not
//! negative: if both fit into 32 bits without a sign, an unsigned division of that width gives all four
//! operations' results, with nothing to correct and, on many processors, in a fraction of the time. Larger
//! ones have nothing to correct either if neither is negative. Constant divisors cost no test: powers of two
//! become shifts, the others a multiplication by a fixed-point inverse.
//!
//! Invariant: results agree with the op table's `eval` wherever that has a value. Examples:
//! `int_floordiv(x, 8)` is one arithmetic shift; `int_floordiv(x, y)` is two tests and a 32-bit `div` for 7
//! and 2.

use crate::lir::Builder;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types;
use tracelift_core::planted::{planted, Bug};
use tracelift_core::Inst;

use super::values::Def;
use super::{arg, Lowering, Result, Ssa};

impl Lowering<'_, '_, '_> {
    /// A unary operation on a register.
    pub(super) fn int1(&mut self, inst: &Inst, f: impl FnOnce(&mut Builder<'_>, Ssa) -> Ssa) -> Result<()> {
        let x = self.operand(inst, 0)?;
        let result = f(&mut self.b, x);
        self.define(inst, result)
    }

    /// A binary operation on registers.
    pub(super) fn int2(
        &mut self,
        inst: &Inst,
        f: impl FnOnce(&mut Builder<'_>, Ssa, Ssa) -> Ssa,
    ) -> Result<()> {
        let (x, y) = (self.operand(inst, 0)?, self.operand(inst, 1)?);
        let result = f(&mut self.b, x, y);
        self.define(inst, result)
    }

    /// An operation that also says whether it overflowed, in which case the trace is left.
    pub(super) fn overflowing(
        &mut self,
        inst: &Inst,
        exit: u32,
        f: impl FnOnce(&mut Builder<'_>, Ssa, Ssa) -> (Ssa, Ssa),
    ) -> Result<()> {
        let (x, y) = (self.operand(inst, 0)?, self.operand(inst, 1)?);
        let (result, overflow) = f(&mut self.b, x, y);
        self.leave_if(overflow, inst, exit)?;
        self.define(inst, result)
    }

    /// A comparison of integers or pointers, made where it is used.
    pub(super) fn int_compare(&mut self, inst: &Inst, cc: IntCC) -> Result<()> {
        let (x, y) = (self.operand(inst, 0)?, self.operand(inst, 1)?);
        self.define_as(inst, Def::IntCompare(cc, x, y))
    }

    pub(super) fn uint_compare(&mut self, inst: &Inst, unsigned: IntCC, signed: IntCC) -> Result<()> {
        self.int_compare(inst, if planted(Bug::LowerUnsignedAsSigned) { signed } else { unsigned })
    }

    pub(super) fn is_null(&mut self, inst: &Inst) -> Result<()> {
        let x = self.operand(inst, 0)?;
        let null = self.iconst(0);
        self.define_as(inst, Def::IntCompare(IntCC::Equal, x, null))
    }

    pub(super) fn select(&mut self, inst: &Inst) -> Result<()> {
        let condition = arg(inst, 0, self.index)?;
        let (x, y) = (self.operand(inst, 1)?, self.operand(inst, 2)?);
        let result = if self.is_blended(condition, x, y)? {
            self.blend(condition, x, y)?
        } else {
            let condition = self.condition(condition, true)?;
            self.b.select(condition, x, y)
        };
        self.define(inst, result)
    }

    pub(super) fn int_div(&mut self, inst: &Inst) -> Result<()> {
        let (x, y) = self.division(inst)?;
        let result = self.quotient(x, y);
        self.define(inst, result)
    }

    pub(super) fn int_rem(&mut self, inst: &Inst) -> Result<()> {
        let (x, y) = self.division(inst)?;
        let result = self.remainder(x, y);
        self.define(inst, result)
    }

    pub(super) fn int_floor_div(&mut self, inst: &Inst) -> Result<()> {
        let (x, y) = self.division(inst)?;
        let result = match y {
            _ if planted(Bug::LowerFloorDivTruncates) => self.quotient(x, y),
            Divisor::Constant(y) if y > 0 && y & (y - 1) == 0 => {
                self.b.sshr_imm_u(x, i64::from(y.trailing_zeros()))
            }
            Divisor::Constant(constant) => {
                let quotient = self.quotient(x, y);
                let product = self.b.imul_imm_s(quotient, constant);
                let rest = self.b.isub(x, product);
                let one_less = self.wrong_side(rest, constant);
                self.b.iadd(quotient, one_less)
            }
            Divisor::Variable(divisor) => self.divide(x, divisor, Part::Quotient, |b| {
                let (quotient, rest) = quotient_and_rest(b, x, divisor);
                // The rest with the divisor's sign taken off: negative where it is on the wrong side.
                let sign = b.sshr_imm_u(divisor, 63);
                let flipped = b.bxor(rest, sign);
                let rest = b.isub(flipped, sign);
                let one_less = b.sshr_imm_u(rest, 63);
                b.iadd(quotient, one_less)
            }),
        };
        self.define(inst, result)
    }

    pub(super) fn int_floor_mod(&mut self, inst: &Inst) -> Result<()> {
        let (x, y) = self.division(inst)?;
        let result = match y {
            Divisor::Constant(y) if y > 0 && y & (y - 1) == 0 => self.b.band_imm_s(x, y - 1),
            Divisor::Constant(constant) => {
                let rest = self.remainder(x, y);
                let wrong = self.wrong_side(rest, constant);
                let correction = self.b.band_imm_s(wrong, constant);
                self.b.iadd(rest, correction)
            }
            Divisor::Variable(divisor) => self.divide(x, divisor, Part::Rest, |b| {
                let (_, rest) = quotient_and_rest(b, x, divisor);
                let signs = b.bxor(rest, divisor);
                let differ = b.sshr_imm_u(signs, 63);
                let correction = b.band(differ, divisor);
                let corrected = b.iadd(rest, correction);
                let exact = b.icmp_imm_s(IntCC::Equal, rest, 0);
                b.select(exact, rest, corrected)
            }),
        };
        self.define(inst, result)
    }

    fn division(&mut self, inst: &Inst) -> Result<(Ssa, Divisor)> {
        let x = self.operand(inst, 0)?;
        let divisor = arg(inst, 1, self.index)?;
        Ok(match self.input.trace.int_of(divisor) {
            Some(constant) => (x, Divisor::Constant(constant)),
            None => (x, Divisor::Variable(self.value(divisor)?)),
        })
    }

    /// -1 where a rest has the sign that is not the constant divisor's, else 0.
    fn wrong_side(&mut self, rest: Ssa, divisor: i64) -> Ssa {
        let rest = if divisor > 0 { rest } else { self.b.ineg(rest) };
        self.b.sshr_imm_u(rest, 63)
    }

    /// `x / y` towards zero.
    fn quotient(&mut self, x: Ssa, y: Divisor) -> Ssa {
        match y {
            Divisor::Constant(0 | -1) => self.b.ineg(x),
            Divisor::Constant(1) => x,
            Divisor::Constant(y) => self.quotient_by_constant(x, y),
            Divisor::Variable(y) => self.divide(x, y, Part::Quotient, |b| quotient_and_rest(b, x, y).0),
        }
    }

    /// The rest of `x / y` towards zero.
    fn remainder(&mut self, x: Ssa, y: Divisor) -> Ssa {
        match y {
            Divisor::Constant(-1..=1) => self.iconst(0),
            Divisor::Constant(constant) => {
                let quotient = self.quotient_by_constant(x, constant);
                let product = self.b.imul_imm_s(quotient, constant);
                self.b.isub(x, product)
            }
            Divisor::Variable(y) => self.divide(x, y, Part::Rest, |b| quotient_and_rest(b, x, y).1),
        }
    }

    /// The quotient or the rest (`part`) of operands that fit into 32 bits without a sign, the divisor not 0;
    /// else, apart, that of larger ones without a sign, or the value of `any`.
    fn divide(&mut self, x: Ssa, y: Ssa, part: Part, any: impl FnOnce(&mut Builder<'_>) -> Ssa) -> Ssa {
        let b = &mut self.b;
        let [nonzero, divide, apart, done] = [0; 4].map(|_| b.create_block());
        let [positive, plain, otherwise] = [0; 3].map(|_| b.create_block());
        [apart, positive, plain, otherwise].into_iter().for_each(|block| b.set_cold_block(block));
        let result = b.append_block_param(done, types::I64);
        let both = b.bor(x, y);
        let high = b.ushr_imm_u(both, 32);
        b.brif(high, apart, &[], nonzero, &[]);
        b.switch_to_block(nonzero);
        b.brif(y, divide, &[], apart, &[]);
        b.switch_to_block(divide);
        let (narrow_x, narrow_y) = (b.ireduce(types::I32, x), b.ireduce(types::I32, y));
        let narrow = match part {
            Part::Quotient => b.udiv(narrow_x, narrow_y),
            Part::Rest => b.urem(narrow_x, narrow_y),
        };
        let wide = b.uextend(types::I64, narrow);
        b.jump(done, &[wide]);
        b.switch_to_block(apart);
        // Once more, so that the way of small ones need not keep it.
        let both = b.bor(x, y);
        let is_negative = b.icmp_imm_s(IntCC::SignedLessThan, both, 0);
        let apart = if planted(Bug::LowerDivisionSignIgnored) { positive } else { otherwise };
        b.brif(is_negative, apart, &[], positive, &[]);
        b.switch_to_block(positive);
        b.brif(y, plain, &[], otherwise, &[]);
        b.switch_to_block(plain);
        let mut large = b.sdiv(x, y);
        if part == Part::Rest {
            let product = b.imul(large, y);
            large = b.isub(x, product);
        }
        b.jump(done, &[large]);
        b.switch_to_block(otherwise);
        let other = any(b);
        b.jump(done, &[other]);
        b.switch_to_block(done);
        result
    }

    /// `x / y` towards zero for a constant other than 0, 1 and -1: the upper half of a product with the
    /// divisor's inverse, rounded up; one more for negative quotients.
    pub(super) fn quotient_by_constant(&mut self, x: Ssa, y: i64) -> Ssa {
        let (inverse, shift) = fixed_point_inverse(y);
        let factor = self.iconst(inverse);
        let mut high = self.b.smulhi(x, factor);
        // The inverse needs 65 bits where its sign is not the divisor's; the missing addend is x itself.
        if y > 0 && inverse < 0 {
            high = self.b.iadd(high, x);
        } else if y < 0 && inverse > 0 {
            high = self.b.isub(high, x);
        }
        let shifted = if shift == 0 { high } else { self.b.sshr_imm_u(high, i64::from(shift)) };
        let negative = self.b.ushr_imm_u(shifted, 63);
        self.b.iadd(shifted, negative)
    }
}

/// What of a division is wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Quotient,
    Rest,
}

/// `x / y` towards zero with the rest, which is `x - y * quotient`. It is made without a branch, as it is
/// with any operands, and needs the divisors 0 and -1 out of the way: for them it is that by 1, of `-x`.
fn quotient_and_rest(b: &mut Builder<'_>, x: Ssa, y: Ssa) -> (Ssa, Ssa) {
    let shifted = b.iadd_imm_s(y, 1);
    let is_special = b.icmp_imm_s(IntCC::UnsignedLessThanOrEqual, shifted, 1);
    let (one, negated) = (b.iconst(types::I64, 1), b.ineg(x));
    let divisor = b.select(is_special, one, y);
    let dividend = b.select(is_special, negated, x);
    let quotient = b.sdiv(dividend, divisor);
    let product = b.imul(quotient, divisor);
    (quotient, b.isub(dividend, product))
}

#[derive(Clone, Copy)]
enum Divisor {
    Constant(i64),
    Variable(Ssa),
}

/// `(m, s)` such that for every `x`, `x / y` towards zero is the upper half of `x * m`, shifted right by `s`,
/// plus one if negative; `m` is taken modulo 2^64. `y` is not 0, 1 or -1.
///
/// The inverse is the smallest `2^p / |y|`, rounded up, whose error stays below `1 / |y|` for every dividend:
/// with `n` the largest dividend whose rest is `|y| - 1`, that is `2^p > n * (|y| - 2^p mod |y|)` (Granlund
/// and Montgomery, *Division by Invariant Integers using Multiplication*, 1994).
fn fixed_point_inverse(y: i64) -> (i64, u32) {
    let size = u128::from(y.unsigned_abs());
    // The largest magnitude of a dividend of the quotient's sign: 2^63 - 1 above, 2^63 below.
    let limit = (1u128 << 63) + u128::from(y < 0);
    let largest = limit - 1 - limit % size;
    let mut power = 64;
    loop {
        let two = 1u128 << power;
        let missing = size - two % size;
        if two > largest * missing {
            let inverse = (two + missing) / size;
            let inverse = inverse as u64 as i64;
            return (if y < 0 { inverse.wrapping_neg() } else { inverse }, power - 64);
        }
        power += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the generated code computes.
    fn divide(x: i64, y: i64) -> i64 {
        let (inverse, shift) = fixed_point_inverse(y);
        let mut high = ((i128::from(x) * i128::from(inverse)) >> 64) as i64;
        if y > 0 && inverse < 0 {
            high = high.wrapping_add(x);
        } else if y < 0 && inverse > 0 {
            high = high.wrapping_sub(x);
        }
        let shifted = high >> shift;
        shifted + (shifted as u64 >> 63) as i64
    }

    #[test]
    fn inverses_divide_exactly() {
        let mut edges: Vec<i64> = (-300..300).collect();
        for power in 3..64 {
            let two = 1i64.wrapping_shl(power);
            edges.extend((-3..4).flat_map(|d| [two.wrapping_add(d), two.wrapping_neg().wrapping_add(d)]));
        }
        edges.extend([i64::MIN, i64::MAX, 1_000_000_007, 233_280, 10_i64.pow(18), 3037000499, -3037000500]);
        for &y in edges.iter().filter(|y| !matches!(y, -1..=1)) {
            for &x in &edges {
                assert_eq!(divide(x, y), x.wrapping_div(y), "{x} / {y}");
            }
            // Dividends around multiples of the divisor are where a wrong inverse shows.
            for multiple in [1i64, 2, 3, 1 << 20, i64::MAX / y, i64::MIN / y] {
                for near in -1..=1 {
                    let x = multiple.wrapping_mul(y).wrapping_add(near);
                    assert_eq!(divide(x, y), x.wrapping_div(y), "{x} / {y}");
                }
            }
        }
    }
}
