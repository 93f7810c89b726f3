//! Guards of every kind: those that hold for good, those that fail in some iteration, repeated ones.
//!
//! Problem: a guard that never fails shows nothing, one that always fails hides everything after it. Design:
//! the shadow says how a condition comes out in the first iteration, and the guard is chosen to hold there;
//! conditions on the loop's counter fail in a later one. Invariant: kinds of exit other than `guard` are used
//! as recorders do.
//!
//! Example: `i9 = int_lt(i0, 3)`, `guard_true(i9)` holds in three iterations of a loop that counts `i0`.

use super::{Generator, Made, Refused};
use crate::ir::{ExitKind, Inst, Payload, Value};
use crate::ops::Op;
use crate::types::Type;

impl Generator {
    /// A condition: a comparison of variables, of the counter, or any integer.
    fn condition(&mut self) -> Made<Value> {
        use Op::*;
        match self.rng.below(6) {
            0 => self.var(Type::Int),
            1 if self.counter.is_some() => {
                let counter = self.counter.ok_or(Refused)?;
                let turn = self.rng.range(1, 6) as i64;
                let turn = self.trace.const_int(turn);
                let op = *self.rng.pick(&[IntEq, IntLt, IntNe, UintGe]);
                self.op(op, &[counter, turn])
            }
            2 => {
                let (x, y) = (self.operand(Type::Float), self.operand(Type::Float));
                let op = *self.rng.pick(&[FloatEq, FloatNe, FloatLt, FloatLe, FloatGt, FloatGe]);
                self.op(op, &[x, y])
            }
            3 => {
                let (x, y) = (self.operand(Type::Ref), self.operand(Type::Ref));
                let op = *self.rng.pick(&[RefEq, RefNe]);
                self.op(op, &[x, y])
            }
            _ => {
                let (x, y) = (self.operand(Type::Int), self.operand(Type::Int));
                let op = *self.rng.pick(&[IntEq, IntNe, IntLt, IntLe, IntGt, IntGe, UintLt, UintGe]);
                self.op(op, &[x, y])
            }
        }
    }

    /// `guard_true` or `guard_false`, whichever holds now.
    pub(super) fn guard_condition(&mut self) -> Made {
        let condition = self.condition()?;
        let op = match self.shadow(condition) {
            Some(0) => Op::GuardFalse,
            _ => Op::GuardTrue,
        };
        self.emit(Inst::new(op, &[condition]))?;
        if self.rng.one_in(6) {
            self.emit(Inst::new(op, &[condition]))?;
        }
        Ok(())
    }

    /// A guard of a value that it has now.
    pub(super) fn guard_value(&mut self) -> Made {
        let ty = *self.rng.pick(&[Type::Int, Type::Int, Type::Float, Type::Ref]);
        let mut value = self.var(ty)?;
        if ty == Type::Float {
            // A NaN has no bits to rely on.
            value = self.without_nan(value)?;
        }
        let bits = self.shadow(value).ok_or(Refused)?;
        let expected = match ty {
            Type::Int => self.trace.const_int(bits as i64),
            Type::Float => self.trace.const_float(f64::from_bits(bits)),
            _ => {
                let number = (0..self.shadow.object_count()).find(|&n| self.shadow.object_address(n) == bits);
                match number {
                    Some(number) => self.trace.constant(Type::Ref, crate::ir::Const::Object(number)),
                    None if bits == 0 => self.trace.const_ref(0),
                    None => return Err(Refused),
                }
            }
        };
        let kind = if bits % 4 == 3 { ExitKind::Assumed } else { ExitKind::Guard };
        self.emit(Inst::new(Op::GuardValue, &[value, expected]).exit_kind(kind))?;
        Ok(())
    }

    /// `guard_null` or `guard_nonnull`, whichever holds now.
    pub(super) fn guard_null(&mut self) -> Made {
        let ty = *self.rng.pick(&[Type::Ref, Type::Ref, Type::Addr]);
        let value = self.operand(ty);
        self.sync();
        match self.shadow(value) {
            Some(0) => {
                self.emit(Inst::new(Op::GuardNull, &[value]))?;
            }
            _ => {
                self.emit(Inst::new(Op::GuardNonnull, &[value]))?;
                self.learn(value, None);
            }
        }
        Ok(())
    }

    /// A guard of the class that a reference has now.
    pub(super) fn guard_class(&mut self) -> Made {
        let value = self.var(Type::Ref)?;
        let layout = self.shadow_class(value).ok_or(Refused)?;
        self.prove_nonnull(value)?;
        self.emit(Inst::new(Op::GuardClass, &[value]).with(Payload::Layout(layout)))?;
        self.learn(value, Some(layout));
        Ok(())
    }

    /// A guard that was there before.
    pub(super) fn guard_again(&mut self) -> Made {
        use Op::{GuardFalse, GuardNonnull, GuardNull, GuardTrue, GuardValue};
        if self.guards.is_empty() {
            return Ok(());
        }
        let inst = self.rng.pick(&self.guards).clone();
        if !matches!(inst.op, GuardTrue | GuardFalse | GuardNull | GuardNonnull | GuardValue) {
            return Ok(());
        }
        self.emit(Inst { snap: None, ..inst })?;
        Ok(())
    }

    /// What a recorder puts at a loop's head: leave when the collector or an interrupt wants it.
    pub(super) fn head_checks(&mut self) -> Made {
        for (name, kind) in [("context.debt", ExitKind::Collect), ("context.interrupt", ExitKind::Interrupt)]
        {
            if !self.rng.chance(25) {
                continue;
            }
            let context = self.context()?;
            let cell = self.schema.find_cell(name).expect("a standard cell");
            let word = self.hidden(Inst::new(Op::Load, &[context]).with(Payload::Cell(cell)))?;
            self.emit(Inst::new(Op::GuardFalse, &[word]).exit_kind(kind))?;
        }
        Ok(())
    }
}
