//! Operations in pairs that rewriting rules look for, and guards that exclude what was just proved.
//!
//! Problem: a rule that wants a constant after an operation on a constant, or a choice between 1 and 0 by a
//! compare, fires once in ten thousand traces of random operations. Design: such pairs are made on purpose,
//! with random operands and constants, so that the rule meets edges as well. Invariant: bits are taken only
//! of floats that are no NaN; an address stays within the object that it was made from; what excludes itself
//! is the last of a body, as the trace always leaves there.
//!
//! Example: `i5 = int_lt(i1, i2)`, `i6 = select(i5, 0, 1)`; or `guard_true(i3)`, `guard_false(i3)` at the
//! end.

use super::{Generator, Made, Refused};
use crate::ir::{Inst, Payload, Value};
use crate::ops::Op;
use crate::types::Type;

impl Generator {
    /// One operation upon another.
    pub(super) fn pair(&mut self) -> Made {
        use Op::*;
        let (x, y) = (self.operand(Type::Int), self.operand(Type::Int));
        let (c, d) = (self.constant(Type::Int), self.constant(Type::Int));
        match self.rng.below(13) {
            0 => {
                let [c, d] = [0; 2].map(|_| *self.rng.pick(&[3, 7, 10, -3, 31, 255, i64::MAX]));
                let [c, d] = [c, d].map(|int| self.trace.const_int(int));
                let inner = self.op(IntMul, &[x, c])?;
                self.op(IntMul, &[inner, d])?;
            }
            1 => {
                let op = *self.rng.pick(&[IntAnd, IntOr, IntXor]);
                let inner = self.op(op, &[x, c])?;
                self.op(op, &[inner, d])?;
            }
            2 => {
                let (outer, inner) = *self.rng.pick(&[(IntAnd, IntOr), (IntOr, IntAnd)]);
                let args = if self.rng.chance(50) { [x, y] } else { [y, x] };
                let inner = self.op(inner, &args)?;
                let args = if self.rng.chance(50) { [x, inner] } else { [inner, x] };
                self.op(outer, &args)?;
            }
            3 => {
                let minus = self.op(IntNeg, &[y])?;
                let args = if self.rng.chance(70) { [x, minus] } else { [minus, x] };
                let op = *self.rng.pick(&[IntSub, IntSub, IntAdd]);
                self.op(op, &args)?;
            }
            4 => {
                let (op, with) = *self.rng.pick(&[(IntMulOvf, 2), (IntOr, -1), (IntXor, -1), (IntAnd, -1)]);
                let with = self.trace.const_int(with);
                self.op(op, &[x, with])?;
            }
            5 => {
                let inner = *self.rng.pick(&[IntXor, IntSub]);
                let inner = self.op(inner, &[x, y])?;
                let zero = self.trace.const_int(0);
                let op = *self.rng.pick(&[IntEq, IntNe]);
                self.op(op, &[inner, zero])?;
            }
            6 | 7 => self.choice(x, y)?,
            8 => {
                let float = self.operand(Type::Float);
                let inner = *self.rng.pick(&[FloatNeg, FloatAbs]);
                let inner = self.op(inner, &[float])?;
                let outer = *self.rng.pick(&[FloatNeg, FloatAbs]);
                self.op(outer, &[inner])?;
            }
            9 => {
                // Without the lowest exponent bit it is no NaN.
                let mask = self.trace.const_int(!(1 << 52));
                let bits = self.op(IntAnd, &[x, mask])?;
                let float = self.op(FloatFromBits, &[bits])?;
                self.op(FloatToBits, &[float])?;
            }
            10 => {
                let (c, d) = (self.rng.range(1, 5) as i64, self.rng.range(1, 5) as i64);
                let (inner, outer) = *self.rng.pick(&[(IntShl, IntShl), (IntShl, IntShr), (IntShr, IntShl)]);
                let d = if self.rng.chance(60) { c } else { d };
                let [c, d] = [c, d].map(|int| self.trace.const_int(int));
                let inner = self.op(inner, &[x, c])?;
                self.op(outer, &[inner, d])?;
            }
            11 => self.sums(x, y, c)?,
            _ => self.address_pair()?,
        }
        Ok(())
    }

    /// Sums and differences that have a part in common.
    fn sums(&mut self, x: Value, y: Value, c: Value) -> Made {
        use Op::*;
        let inner = *self.rng.pick(&[IntSub, IntAdd]);
        let inner = self.op(inner, &[x, y])?;
        match self.rng.below(3) {
            0 => self.op(IntNeg, &[inner])?,
            1 => self.op(IntSub, &[x, inner])?,
            _ => {
                let sum = self.op(IntAdd, &[x, c])?;
                let other = self.op(IntAdd, &[y, c])?;
                self.op(IntSub, &[sum, other])?
            }
        };
        Ok(())
    }

    /// A choice by a compare, or a guard on the opposite of one.
    fn choice(&mut self, x: Value, y: Value) -> Made {
        use Op::*;
        let [zero, one] = [0, 1].map(|int| self.trace.const_int(int));
        let kind = *self.rng.pick(&[0, 1, 1, 1, 2]);
        let compare = match kind {
            0 => {
                let (x, y) = (self.operand(Type::Float), self.operand(Type::Float));
                let op = *self.rng.pick(&[FloatLt, FloatLe, FloatEq]);
                self.op(op, &[x, y])?
            }
            1 => {
                let x = self.var(Type::Int)?;
                let op = *self.rng.pick(&[IntEq, IntNe, IntNe]);
                self.op(op, &[x, zero])?
            }
            _ => {
                let op = *self.rng.pick(&[IntLt, UintLt, IntGe, IntEq]);
                self.op(op, &[x, y])?
            }
        };
        match self.rng.below(4) {
            _ if kind == 1 && self.rng.chance(70) => self.op(Select, &[compare, x, y]).map(|_| ()),
            0 => self.op(Select, &[compare, one, zero]).map(|_| ()),
            1 => self.op(Select, &[compare, zero, one]).map(|_| ()),
            2 => self.op(Select, &[compare, x, y]).map(|_| ()),
            _ => {
                let (x, y) = (self.var(Type::Float)?, self.operand(Type::Float));
                let compare = self.op(FloatLt, &[x, y])?;
                let opposite = self.op(IntXor, &[compare, one])?;
                self.guard_as_now(opposite)
            }
        }
    }

    /// An address in two steps, or a guard on a sum.
    fn address_pair(&mut self) -> Made {
        if self.rng.chance(30) {
            let (x, c) = (self.var(Type::Int)?, self.constant(Type::Int));
            let sum = self.op(Op::IntAdd, &[x, c])?;
            let now = self.shadow(sum).ok_or(Refused)?;
            let now = self.trace.const_int(now as i64);
            self.emit(Inst::new(Op::GuardValue, &[sum, now]))?;
            return Ok(());
        }
        let record = self.operand(Type::Ref);
        let start = self.op(Op::RefToAddr, &[record])?;
        // The smallest record has 16 bytes.
        let first = self.rng.below(8) as i64;
        let first = self.trace.const_int(first);
        let inner = self.op(Op::AddrAdd, &[start, first])?;
        if self.rng.chance(50) {
            let second = self.rng.below(8) as i64;
            let second = self.trace.const_int(second);
            self.op(Op::AddrAdd, &[inner, second])?;
            return Ok(());
        }
        let x = self.operand(Type::Int);
        let mask = self.trace.const_int(3);
        let index = self.op(Op::IntAnd, &[x, mask])?;
        let scale = Payload::Scale { stride: 2, offset: self.rng.below(2) as i32 };
        self.value(Inst::new(Op::ItemAddr, &[inner, index]).with(scale)).map(|_| ())
    }

    /// A guard that cannot hold after one that did.
    pub(super) fn excluded(&mut self) -> Made {
        match self.rng.below(3) {
            0 => {
                let x = self.var(Type::Int)?;
                self.guard_as_now(x)?;
                let op = if self.shadow(x) == Some(0) { Op::GuardTrue } else { Op::GuardFalse };
                self.dead = true;
                self.emit(Inst::new(op, &[x]))?;
            }
            1 => {
                let object = self.var(Type::Ref)?;
                if self.shadow(object).is_none_or(|bits| bits == 0) {
                    return Err(Refused);
                }
                self.prove_nonnull(object)?;
                self.dead = true;
                self.emit(Inst::new(Op::GuardNull, &[object]))?;
            }
            _ => {
                let object = self.var(Type::Ref)?;
                let layout = self.shadow_class(object).ok_or(Refused)?;
                let other = *self.rng.pick(&["Pair", "Table", "BoxedInteger", "BoxedFloat"]);
                let other = self.layout(other);
                if layout == other {
                    return Err(Refused);
                }
                self.prove_class(object, layout)?;
                self.dead = true;
                self.emit(Inst::new(Op::GuardClass, &[object]).with(Payload::Layout(other)))?;
            }
        }
        Ok(())
    }
}
