//! Remainders of doubles, exactly as the C library's `fmod` has them, in a few instructions.
//!
//! Problem: `fmod` works bit by bit, and takes thirty to a hundred nanoseconds where the division takes four;
//! and formulas like `x - floor(x / y) * y` are wrong in the last bits, for infinities and for zeros with a
//! sign. Design: the formula with a fused product, which rounds once, *and a test of its result*. With
//! `y > 0`, any whole number `w`, and `r = fma(-w, y, x)`:
//!
//! > If `0 <= r < y`, then `r` is the remainder towards minus infinity as Lua computes it; `w` need not be
//! > the right quotient.
//!
//! *Proof.* `r` is `d = x - w * y` rounded. Rounding keeps order and leaves 0 and `y` as they are, and `d` is
//! a multiple of the least double, so it is not rounded to 0 unless it is 0. Hence `0 <= d < y`, and `d` is
//! the exact remainder. If `x >= 0`, it is what `fmod` returns, a double, and so is `r`. If `x < 0`, `fmod`
//! returns `d - y`, also a double, to which Lua adds `y`, rounded once: that is `d` rounded, which is `r`. If
//! `d` is 0, Lua adds nothing, and the zero has the sign of `x`.
//!
//! The quotient may be rounded up to a whole number (0.8 / 0.1); then `-y < r < 0`, and `-y < d < 0` as
//! before. If `|x| >= y`, `d` is a multiple of the last place of `y` and smaller than `y`, so it is a double
//! and `r = d`. If `|x| < y`, the quotient is rounded up only where it is negative and vanishes, and then
//! `r = d = x`. In both cases `r + y`, rounded once, is what Lua computes. All else fails the test:
//! infinities, NaNs, the divisor 0, quotients that 53 bits do not hold. For those the library is called
//! aside (`helpers.rs`), so that NaNs are the library's too. The test is one comparison of bits, as doubles
//! that are not negative are ordered as their bits are; a divisor that is a NaN is taken for infinity in it.
//!
//! Signs: with the divisor's sign taken off both, `y` is positive; the remainder gets it back. For `fmod`
//! both are made positive, and the remainder gets the dividend's sign.
//!
//! Invariant: results have the bits that the op table's `eval` gives, for all operands. Without a fused
//! product the library is called always. Example: `float_floormod(f0, 2.0)` is a product with 0.5, `roundsd`,
//! `vfnmadd`, a compare and jump, `andpd`, `maxsd`.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::immediates::Ieee64;
use cranelift_codegen::ir::{self, types, AbiParam, MemFlagsData};
use tracelift_core::Inst;

use super::{arg, Lowering, Result, Ssa};
use crate::helpers::{self, Callee};

/// Whose sign a remainder has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    /// `fmod`.
    Dividend,
    /// Lua's `%`.
    Divisor,
}

/// `1 / x`, if both are powers of two and normal numbers: a product with it is the quotient.
fn reciprocal_of(x: f64) -> Option<f64> {
    let reciprocal = 1.0 / x;
    let is_exact = x.is_normal() && reciprocal.is_normal() && x.to_bits() << 12 == 0;
    is_exact.then_some(reciprocal)
}

impl Lowering<'_, '_, '_> {
    /// The remainder of two doubles.
    pub(super) fn float_remainder(&mut self, inst: &Inst, sign: Sign) -> Result<()> {
        let (x, y) = (self.operand(inst, 0)?, self.operand(inst, 1)?);
        let callee = if sign == Sign::Dividend { Callee::FloatRem } else { Callee::FloatFloorMod };
        let thunk = if self.input.environment.has_remainders { callee.thunk() } else { None };
        let Some(thunk) = thunk else {
            let result = self.call_of_two(callee.function(), x, y);
            return self.define(inst, result);
        };
        let constant = self.input.trace.bits_of(arg(inst, 1, self.index)?).map(f64::from_bits);
        let result = self.remainder_in_place(x, y, constant, sign, thunk);
        self.define(inst, result)
    }

    fn remainder_in_place(&mut self, x: Ssa, y: Ssa, constant: Option<f64>, sign: Sign, thunk: usize) -> Ssa {
        let sign_bit = self.b.f64const(Ieee64::with_bits(1 << 63));
        // The signs that are taken off and put on again; a constant divisor's is known.
        let mut flips = None;
        let (dividend, divisor) = match (sign, constant) {
            (Sign::Dividend, None) => (self.b.fabs(x), self.b.fabs(y)),
            (Sign::Dividend, Some(constant)) => (self.b.fabs(x), self.double(constant.abs())),
            (Sign::Divisor, None) => {
                let signs = self.b.band(y, sign_bit);
                flips = Some(signs);
                (self.b.bxor(x, signs), self.b.fabs(y))
            }
            (Sign::Divisor, Some(constant)) if constant.is_sign_negative() => {
                flips = Some(sign_bit);
                (self.b.bxor(x, sign_bit), self.double(-constant))
            }
            (Sign::Divisor, Some(_)) => (x, y),
        };
        let quotient = match constant.and_then(|constant| reciprocal_of(constant.abs())) {
            Some(reciprocal) => {
                let reciprocal = self.double(reciprocal);
                self.b.fmul(dividend, reciprocal)
            }
            None => self.b.fdiv(dividend, divisor),
        };
        let whole = self.b.floor(quotient);
        let negated = self.b.fneg(whole);
        let rest = self.b.fma(negated, divisor, dividend);

        let bits = self.b.bitcast(types::I64, rest);
        let limit = self.limit_of(divisor, constant);
        let (odd, below, apart, fits, done) = (
            self.b.create_block(),
            self.b.create_block(),
            self.b.create_block(),
            self.b.create_block(),
            self.b.create_block(),
        );
        for block in [odd, below, apart] {
            self.b.set_cold_block(block);
        }
        let fitting = self.b.append_block_param(fits, types::F64);
        let result = self.b.append_block_param(done, types::F64);
        let is_outside = self.b.icmp(IntCC::UnsignedGreaterThanOrEqual, bits, limit);
        self.b.brif(is_outside, odd, &[], fits, &[rest]);

        // From below 0 by less than the divisor: the quotient was rounded up.
        self.b.switch_to_block(odd);
        let opposite = self.b.fneg(rest);
        let opposite = self.b.bitcast(types::I64, opposite);
        let is_below = self.b.icmp(IntCC::UnsignedLessThan, opposite, limit);
        self.b.brif(is_below, below, &[], apart, &[]);
        self.b.switch_to_block(below);
        let corrected = self.b.fadd(rest, divisor);
        self.b.jump(fits, &[corrected]);

        self.b.switch_to_block(apart);
        let called = self.call_aside(thunk, x, y);
        self.b.jump(done, &[called]);

        self.b.switch_to_block(fits);
        let signed = match sign {
            Sign::Dividend => {
                let sign = self.b.band(x, sign_bit);
                self.b.bor(fitting, sign)
            }
            Sign::Divisor => {
                let zero = self.b.band(dividend, sign_bit);
                self.signed_as_divisor(fitting, zero, flips)
            }
        };
        self.b.jump(done, &[signed]);
        self.b.switch_to_block(done);
        result
    }

    /// A remainder that is not negative with the divisor's sign; `zero` has the dividend's, and `flips` are
    /// the signs that were taken off.
    fn signed_as_divisor(&mut self, rest: Ssa, zero: Ssa, flips: Option<Ssa>) -> Ssa {
        // The larger of the remainder and that zero: the zero, if both are zero.
        let is_larger = self.b.fcmp(FloatCC::LessThan, zero, rest);
        let rest = self.b.select(is_larger, rest, zero);
        match flips {
            Some(signs) => self.b.bxor(rest, signs),
            None => rest,
        }
    }

    /// What the bits of a remainder must be below: those of the divisor. A NaN's would be above another
    /// NaN's, and which of two comes out of the fused product depends on the processor; so infinity stands
    /// for it, below which no NaN is.
    fn limit_of(&mut self, divisor: Ssa, constant: Option<f64>) -> Ssa {
        if let Some(constant) = constant {
            // `min` takes the number if one operand is none.
            return self.iconst(constant.abs().min(f64::INFINITY).to_bits() as i64);
        }
        let infinity = self.double(f64::INFINITY);
        let is_finite = self.b.fcmp(FloatCC::LessThan, divisor, infinity);
        let limit = self.b.select(is_finite, divisor, infinity);
        self.b.bitcast(types::I64, limit)
    }

    fn double(&mut self, number: f64) -> Ssa {
        self.b.f64const(Ieee64::with_float(number))
    }

    /// A plain call, in the middle of the trace.
    fn call_of_two(&mut self, function: helpers::Function, x: Ssa, y: Ssa) -> Ssa {
        let mut signature = ir::Signature::new(self.input.environment.call_conv);
        signature.params.extend([AbiParam::new(types::F64); 2]);
        signature.returns.push(AbiParam::new(types::F64));
        let signature = self.b.import_signature(signature);
        let address = self.iconst(function as usize as i64);
        let call = self.b.call_indirect(signature, address, &[x, y]);
        self.b.func.first_result(call)
    }

    /// A call in a cold block from which the trace goes on.
    fn call_aside(&mut self, thunk: usize, x: Ssa, y: Ssa) -> Ssa {
        let signature = self.b.import_signature(helpers::signature());
        let slot = *self.aside.get_or_insert_with(|| self.b.create_stack_slot(8));
        let thunk = self.iconst(thunk as i64);
        let place = self.b.stack_addr(types::I64, slot);
        self.b.call_indirect(signature, thunk, &[x, y, place]);
        // Once more: no register holds the address during the call.
        let place = self.b.stack_addr(types::I64, slot);
        self.b.load(types::F64, MemFlagsData::new().with_notrap(), place, 0)
    }
}
