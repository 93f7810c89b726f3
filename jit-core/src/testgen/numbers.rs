//! Integers, floats, conversions, choices: the ops whose meaning is a function of bits.
//!
//! Problem: folding rules fire on particular shapes and go wrong at particular values. Design: operands come
//! from lists of edges and from few variables; chains such as `(x + 1) - 1`, repeated operations and equal
//! operands are made on purpose. Invariant: a divisor is a constant other than 0 or is guarded; bits are
//! taken only of floats that are no NaN, whose bits two compilers may choose differently.
//!
//! Example: `i5 = int_ne(i2, 0)`, `guard_true(i5)`, `i6 = int_floordiv(i1, i2)`.

use super::{Generator, Made, Rng};
use crate::ir::{Inst, Value};
use crate::ops::{ArgType, Arity, Op};
use crate::types::Type;

const INTS: [i64; 26] = [
    0,
    0,
    1,
    1,
    -1,
    2,
    -2,
    3,
    7,
    8,
    10,
    31,
    63,
    64,
    65,
    -64,
    127,
    255,
    i32::MAX as i64,
    u32::MAX as i64,
    1 << 53,
    (1 << 53) + 1,
    1 << 62,
    i64::MAX,
    i64::MIN,
    i64::MIN + 1,
];

const FLOATS: [f64; 20] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    1.5,
    2.0,
    -2.5,
    3.0,
    1e10,
    0.1,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::MIN_POSITIVE,
    5e-324,
    f64::MAX,
    9007199254740992.0,
    9223372036854775808.0,
    -9223372036854775808.0,
];

/// A random integer, often an edge.
pub(super) fn random_int(rng: &mut Rng) -> i64 {
    match rng.below(10) {
        0 => rng.bits() as i64,
        1..=4 => rng.below(20) as i64 - 4,
        _ => *rng.pick(&INTS),
    }
}

/// A random double, often an edge.
pub(super) fn random_float(rng: &mut Rng) -> f64 {
    match rng.below(10) {
        0 => (rng.bits() as i64 as f64) / 1e12,
        1..=4 => rng.below(40) as f64 / 4.0 - 3.0,
        _ => *rng.pick(&FLOATS),
    }
}

impl Generator {
    /// An op whose meaning is in the table: operands by their types.
    pub(super) fn plain(&mut self, op: Op) -> Made {
        let Arity::Fixed(kinds) = op.info().args else { unreachable!("{op:?} has a fixed arity") };
        let same = *self.rng.pick(&Type::ALL);
        let mut args: Vec<Value> = kinds
            .iter()
            .map(|kind| match kind {
                ArgType::Is(ty) => self.operand(*ty),
                ArgType::Pointer => self.operand(Type::Ref),
                ArgType::Same | ArgType::Declared => self.operand(same),
            })
            .collect();
        if let ([a, b], true) = (&mut args[..], self.rng.one_in(12)) {
            if self.trace.ty(*a) == self.trace.ty(*b) {
                *b = *a;
            }
        }
        self.op(op, &args)?;
        Ok(())
    }

    /// A division or remainder whose divisor is not 0.
    pub(super) fn division(&mut self, op: Op) -> Made {
        let dividend = self.operand(Type::Int);
        let divisor = match self.rng.chance(50) {
            true => {
                let edge = *self.rng.pick(&[1, -1, 2, -2, 3, -3, 7, 8, 10, 64, i64::MIN, i64::MAX]);
                self.trace.const_int(edge)
            }
            false => {
                let divisor = self.var(Type::Int)?;
                let zero = self.trace.const_int(0);
                let nonzero = self.hidden(Inst::new(Op::IntNe, &[divisor, zero]))?;
                self.emit(Inst::new(Op::GuardTrue, &[nonzero]))?;
                divisor
            }
        };
        self.op(op, &[dividend, divisor])?;
        Ok(())
    }

    /// A shift, mostly by an edge.
    pub(super) fn shift(&mut self, op: Op) -> Made {
        let value = self.operand(Type::Int);
        let count = match self.rng.chance(70) {
            true => {
                let edge = *self.rng.pick(&[0, 1, 3, 31, 32, 63, 64, 65, -1, 127]);
                self.trace.const_int(edge)
            }
            false => self.operand(Type::Int),
        };
        self.op(op, &[value, count])?;
        Ok(())
    }

    /// A float like `value`, but 1 instead of NaN.
    pub(super) fn without_nan(&mut self, value: Value) -> Made<Value> {
        let one = self.trace.const_float(1.0);
        let is_number = self.hidden(Inst::new(Op::FloatEq, &[value, value]))?;
        self.hidden(Inst::new(Op::Select, &[is_number, value, one]))
    }

    /// The bits of a double, and sometimes back.
    pub(super) fn float_bits(&mut self) -> Made {
        let value = self.operand(Type::Float);
        let value = self.without_nan(value)?;
        let bits = self.op(Op::FloatToBits, &[value])?;
        if self.rng.chance(50) {
            self.op(Op::FloatFromBits, &[bits])?;
        }
        Ok(())
    }

    /// A double from bits that are no NaN.
    pub(super) fn float_from_bits(&mut self) -> Made {
        let bits = self.operand(Type::Int);
        // Without the lowest exponent bit the exponent is never all ones.
        let mask = self.trace.const_int(!(1 << 52));
        let bits = self.op(Op::IntAnd, &[bits, mask])?;
        self.op(Op::FloatFromBits, &[bits])?;
        Ok(())
    }

    /// An exact conversion of a double that mostly has one, also of a quotient that was rounded.
    pub(super) fn exact(&mut self) -> Made {
        let float = match self.rng.below(3) {
            0 => {
                let int = self.operand(Type::Int);
                self.op(Op::IntToFloat, &[int])?
            }
            1 => {
                let int = self.operand(Type::Int);
                let double = self.op(Op::IntToFloat, &[int])?;
                let (op, by) = *self.rng.pick(&[
                    (Op::FloatMul, 0.5),
                    (Op::FloatMul, 2f64.powi(-20)),
                    (Op::FloatDiv, 3.0),
                    (Op::FloatDiv, 10.0),
                    (Op::FloatDiv, 2.5),
                ]);
                let by = self.trace.const_float(by);
                let quotient = self.op(op, &[double, by])?;
                let round = *self.rng.pick(&[Op::FloatFloor, Op::FloatCeil]);
                self.op(round, &[quotient])?
            }
            _ => self.operand(Type::Float),
        };
        self.op(Op::FloatToIntExact, &[float])?;
        Ok(())
    }

    /// Shapes that folding rules look for.
    pub(super) fn foldable(&mut self) -> Made {
        let x = self.operand(Type::Int);
        let y = self.operand(Type::Int);
        let c = self.constant(Type::Int);
        let d = self.constant(Type::Int);
        match self.rng.below(10) {
            0 => {
                let sum = self.op(Op::IntAdd, &[x, c])?;
                let op = *self.rng.pick(&[Op::IntAdd, Op::IntSub]);
                self.op(op, &[sum, d])?;
            }
            1 => {
                let sum = self.op(Op::IntAdd, &[x, y])?;
                let back = *self.rng.pick(&[x, y]);
                self.op(Op::IntSub, &[sum, back])?;
            }
            2 => {
                let difference = self.op(Op::IntSub, &[x, y])?;
                self.op(Op::IntAdd, &[difference, y])?;
            }
            3 => {
                let op =
                    *self.rng.pick(&[Op::IntSub, Op::IntXor, Op::IntAnd, Op::IntOr, Op::IntEq, Op::UintLt]);
                self.op(op, &[x, x])?;
            }
            4 => {
                let op =
                    *self.rng.pick(&[Op::IntAdd, Op::IntSub, Op::IntMul, Op::IntAnd, Op::IntOr, Op::IntShl]);
                let neutral = *self.rng.pick(&[0, 1, -1, 2]);
                let neutral = self.trace.const_int(neutral);
                let args = if self.rng.chance(70) { [x, neutral] } else { [neutral, x] };
                self.op(op, &args)?;
            }
            5 => {
                let op = *self.rng.pick(&[Op::IntNeg, Op::IntNot]);
                let once = self.op(op, &[x])?;
                self.op(op, &[once])?;
            }
            6 => {
                // A comparison that folds, as a condition.
                let less = self.op(Op::IntLt, &[x, y])?;
                let zero = self.trace.const_int(0);
                let op = *self.rng.pick(&[Op::IntEq, Op::IntNe]);
                self.op(op, &[less, zero])?;
            }
            7 => {
                let f = self.operand(Type::Float);
                let neutral = *self.rng.pick(&[0.0, -0.0, 1.0, -1.0, 2.0]);
                let neutral = self.trace.const_float(neutral);
                let op = *self.rng.pick(&[Op::FloatAdd, Op::FloatSub, Op::FloatMul, Op::FloatDiv]);
                self.op(op, &[f, neutral])?;
            }
            8 => {
                let float = self.op(Op::IntToFloat, &[x])?;
                let op = *self.rng.pick(&[Op::FloatToInt, Op::FloatNeg, Op::FloatTrunc]);
                self.op(op, &[float])?;
            }
            _ => {
                // All of it constant.
                let op =
                    *self.rng.pick(&[Op::IntAdd, Op::IntMul, Op::IntSub, Op::IntShl, Op::IntLt, Op::UintLt]);
                self.op(op, &[c, d])?;
            }
        }
        Ok(())
    }

    /// A small integer, and what only its size decides: a compare with its end or with what it is here, a sum
    /// that just does or does not overflow, a division by what is hardly greater.
    pub(super) fn bounded(&mut self) -> Made {
        let bits = *self.rng.pick(&[1, 3, 8, 16, 31, 62]);
        let most = (1i64 << bits) - 1;
        let value = self.operand(Type::Int);
        let (op, by) = *self.rng.pick(&[(Op::IntAnd, most), (Op::IntShr, 64 - bits)]);
        let by = self.trace.const_int(by);
        let mut small = self.op(op, &[value, by])?;
        if self.rng.chance(40) {
            let offset = *self.rng.pick(&[-1, 1, -most, 1 << 40]);
            let offset = self.trace.const_int(offset);
            small = self.op(Op::IntAdd, &[small, offset])?;
        }
        let recorded = self.shadow(small).map_or(most, |bits| bits as i64);
        let most = if self.rng.chance(50) { most } else { recorded };
        let near = *self.rng.pick(&[-1, 0, 1]);
        use Op::*;
        let (ops, end): (&[Op], i64) = match self.rng.below(4) {
            0 => (&[IntAddOvf], i64::MAX.wrapping_sub(most).wrapping_add(near)),
            1 => (&[IntMulOvf], (i64::MAX / most.max(1)).wrapping_add(near)),
            2 => (&[IntFloorMod, IntRem, IntFloorDiv, IntAnd, IntOr], most.wrapping_add(1 + near)),
            _ => (&[IntLt, IntLe, IntGt, IntGe, UintLt, UintLe, IntEq], most.wrapping_add(near)),
        };
        let op = *self.rng.pick(ops);
        // A divisor of 0 has no value.
        let end = if end == 0 { 1 } else { end };
        let end = self.trace.const_int(end);
        let decided = self.op(op, &[small, end])?;
        if matches!(op, IntLt | IntLe | IntGt | IntGe | UintLt | UintLe) && self.rng.chance(50) {
            let guard = if self.shadow(decided) == Some(0) { GuardFalse } else { GuardTrue };
            self.emit(Inst::new(guard, &[decided]))?;
        }
        Ok(())
    }

    /// A pure operation that was there before.
    pub(super) fn again(&mut self) -> Made {
        if self.pure.is_empty() {
            return Ok(());
        }
        let inst = self.rng.pick(&self.pure).clone();
        // Numbers made from addresses must stay hidden, and so must what was made from NaN.
        let hides = matches!(inst.op, Op::AddrToInt | Op::FloatToBits | Op::FloatFromBits);
        let known = |g: &Generator, arg: &Value| {
            g.trace.constant_of(*arg).is_some() || g.vars.iter().any(|var| var.value == *arg)
        };
        if hides || !inst.args.iter().all(|arg| known(self, arg)) {
            return Ok(());
        }
        let again = Inst { result: None, snap: None, ..inst };
        let value = self.hidden(again)?;
        self.add_var(value);
        Ok(())
    }
}
