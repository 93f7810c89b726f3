//! Floats: arithmetic that keeps NaNs as the machine makes them, rounding, conversions.
//!
//! Problem: the host prints the sign of a NaN, so operands must never change places; Cranelift however
//! exchanges the operands of an addition or multiplication to read the left one from memory. Design: where
//! the left operand was loaded in the same block, an empty instruction that nothing moves across stands
//! between load and operation, so that the load stays a load. Rounding without a machine instruction calls a
//! function by address. A select of doubles, for which x86-64 has no conditional move, is a blend of vectors:
//! Cranelift's own is a jump, and selects are for what no processor predicts.
//!
//! Invariant: for one NaN operand the result has its payload, for two the left one's, as the machine does it.
//! Example: `float_add(f0, f1)` with two NaNs returns the first, quieted, also when `f0` has just been
//! loaded.

use crate::lir::{Builder, Data};
use cranelift_codegen::ir::condcodes::{CondCode, FloatCC, IntCC};
use cranelift_codegen::ir::{self, types, AbiParam, Block, Opcode};
use tracelift_core::{Inst, Op, Value};

use super::values::Def;
use super::{Lowering, Result, Ssa};

/// As the instructions do it: the library may hand a signalling NaN back as it is.
fn quieted(x: f64, round: fn(f64) -> f64) -> f64 {
    if x.is_nan() {
        f64::from_bits(x.to_bits() | 1 << 51)
    } else {
        round(x)
    }
}

/// Rounding towards minus infinity, for machines without an instruction.
pub(super) extern "C" fn floor(x: f64) -> f64 {
    quieted(x, f64::floor)
}

/// Rounding towards plus infinity, for machines without an instruction.
pub(super) extern "C" fn ceil(x: f64) -> f64 {
    quieted(x, f64::ceil)
}

/// Rounding towards zero, for machines without an instruction.
pub(super) extern "C" fn trunc(x: f64) -> f64 {
    quieted(x, f64::trunc)
}

impl Lowering<'_, '_, '_> {
    /// A unary operation on a double.
    pub(super) fn float1(&mut self, inst: &Inst, f: impl FnOnce(&mut Builder<'_>, Ssa) -> Ssa) -> Result<()> {
        self.int1(inst, f)
    }

    /// A binary operation on doubles: here, or where its result is wanted.
    pub(super) fn float2(&mut self, inst: &Inst) -> Result<()> {
        let (x, y) = (self.operand(inst, 0)?, self.operand(inst, 1)?);
        if self.held.keep_operands(inst) {
            return self.define_as(inst, Def::Late(inst.op, x, y));
        }
        let result = self.float_of_two(inst.op, x, y)?;
        self.define(inst, result)
    }

    pub(super) fn float_of_two(&mut self, op: Op, x: Ssa, y: Ssa) -> Result<Ssa> {
        // Cranelift takes these to commute.
        let commutes = matches!(op, Op::FloatAdd | Op::FloatMul);
        if commutes && self.is_load(x) && !self.is_constant(y) {
            self.b.sequence_point();
        }
        Ok(match op {
            Op::FloatAdd => self.b.fadd(x, y),
            Op::FloatSub => self.b.fsub(x, y),
            Op::FloatMul => self.b.fmul(x, y),
            Op::FloatDiv => self.b.fdiv(x, y),
            _ => return Err(self.malformed("not an operation on two doubles")),
        })
    }

    fn is_load(&self, value: Ssa) -> bool {
        matches!(self.data_of(value), Some(Data::Load { opcode: Opcode::Load, .. }))
    }

    /// A constant is only a NaN if the trace says so; then order matters as with variables.
    fn is_constant(&self, value: Ssa) -> bool {
        matches!(self.data_of(value), Some(Data::Float { bits }) if !f64::from_bits(bits).is_nan())
    }

    fn data_of(&self, value: Ssa) -> Option<Data> {
        self.b.func.inst_of(value).map(|inst| self.b.func.data(inst))
    }

    /// A comparison of doubles, made where it is used.
    pub(super) fn float_compare(&mut self, inst: &Inst, cc: FloatCC) -> Result<()> {
        let (x, y) = (self.operand(inst, 0)?, self.operand(inst, 1)?);
        self.define_as(inst, Def::FloatCompare(cc, x, y))
    }

    /// Rounding, by an instruction or by a call.
    pub(super) fn float_round(
        &mut self,
        inst: &Inst,
        function: extern "C" fn(f64) -> f64,
        f: impl FnOnce(&mut Builder<'_>, Ssa) -> Ssa,
    ) -> Result<()> {
        if self.input.environment.has_rounding {
            return self.float1(inst, f);
        }
        let x = self.operand(inst, 0)?;
        let mut signature = ir::Signature::new(self.input.environment.call_conv);
        signature.params.push(AbiParam::new(types::F64));
        signature.returns.push(AbiParam::new(types::F64));
        let signature = self.b.import_signature(signature);
        let address = self.iconst(function as usize as i64);
        let call = self.b.call_indirect(signature, address, &[x]);
        let result = self.b.func.first_result(call);
        self.define(inst, result)
    }

    /// Whether a select of these is better made by [`Self::blend`]. The smaller and the larger of two are an
    /// instruction.
    pub(super) fn is_blended(&mut self, condition: Value, x: Ssa, y: Ssa) -> Result<bool> {
        if !self.input.environment.has_blend || self.b.value_type(x) != types::F64 {
            return Ok(false);
        }
        let def = self.def(condition)?;
        Ok(!matches!(def, Def::FloatCompare(FloatCC::LessThan, a, b) if (a, b) == (x, y) || (b, a) == (x, y)))
    }

    /// `condition ? x : y` of two doubles without a jump, by a mask in a vector register.
    pub(super) fn blend(&mut self, condition: Value, x: Ssa, y: Ssa) -> Result<Ssa> {
        let (mask, yes, no) = match self.def(condition)? {
            Def::FloatCompare(cc, a, b) => {
                let (a, b) = (self.b.splat(types::F64X2, a), self.b.splat(types::F64X2, b));
                (self.b.fcmp(cc, a, b), x, y)
            }
            Def::IntCompare(cc @ (IntCC::Equal | IntCC::SignedLessThan | IntCC::SignedGreaterThan), a, b) => {
                (self.int_mask(cc, a, b), x, y)
            }
            // The others are opposites of these, or need several instructions.
            Def::IntCompare(
                cc @ (IntCC::NotEqual | IntCC::SignedGreaterThanOrEqual | IntCC::SignedLessThanOrEqual),
                a,
                b,
            ) => (self.int_mask(cc.complement(), a, b), y, x),
            _ => {
                let (number, zero) = (self.value(condition)?, self.iconst(0));
                (self.int_mask(IntCC::Equal, number, zero), y, x)
            }
        };
        let mask = self.b.bitcast(types::F64X2, mask);
        let mask = self.b.first_lane(mask);
        Ok(self.b.bitselect(mask, yes, no))
    }

    fn int_mask(&mut self, cc: IntCC, a: Ssa, b: Ssa) -> Ssa {
        let (a, b) = (self.b.scalar_to_vector(types::I64X2, a), self.b.scalar_to_vector(types::I64X2, b));
        self.b.icmp(cc, a, b)
    }

    /// The integer with exactly this value. Conversion saturates and turns NaN into 0, so converting back
    /// shows fractions, NaN and what is out of range, except for 2^63, which saturates to `MAX` and comes
    /// back as itself; no double converts to `MAX` otherwise.
    pub(super) fn float_to_int_exact(&mut self, inst: &Inst, exit: u32) -> Result<()> {
        if self.int_of_quotient(inst, exit)? {
            return Ok(());
        }
        let x = self.operand(inst, 0)?;
        let int = self.exact_int(x, inst, exit, |lowering| lowering.b.create_block())?;
        self.define(inst, int)
    }

    /// The same of this double; code goes on in such blocks.
    pub(super) fn exact_int(
        &mut self,
        x: Ssa,
        inst: &Inst,
        exit: u32,
        next: impl Fn(&mut Self) -> Block,
    ) -> Result<Ssa> {
        let int = self.b.fcvt_to_sint_sat(types::I64, x);
        let back = self.b.fcvt_from_sint(types::F64, int);
        let differs = self.b.fcmp(FloatCC::NotEqual, back, x);
        let block = next(self);
        self.leave_if_not(differs, inst, exit, block)?;
        let saturated = self.b.icmp_imm_s(IntCC::Equal, int, i64::MAX);
        let block = next(self);
        self.leave_if_not(saturated, inst, exit, block)?;
        Ok(int)
    }
}
