//! Comparisons, and what they decide.
//!
//! Problem: a comparison and its branch are one operation of the processor, if they stand together; and
//! comparisons of doubles have a third outcome. Design: a [`Test`] is a condition of the flags, for doubles
//! with what the parity flag, which tells that one of them is a NaN, has to do with it. A value that has just
//! been computed by an instruction that sets flags is not tested again.
//!
//! Invariant: between a comparison and what looks at its flags there are moves only. Example: `fcmp lt f1,
//! f2` is `ucomisd f2, f1; ja`, as `above` does not hold for NaNs.

use crate::lir::Data;
use cranelift_codegen::ir::condcodes::{CondCode, FloatCC, IntCC};
use cranelift_codegen::ir::{Inst, Opcode, Value};
use tracelift_core::planted::{planted, Bug};

use super::asm::{Asm, Cond, Label, Op, Operand, Reg};
use super::doubles::converts_exactly;
use super::emit::{bytes_of, sized, Emit};
use super::memory::is_byte_load;
use super::plan::{is_double, Kind};
use super::{Result, Unsupported};

/// What the parity flag has to do with a condition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Parity {
    Ignored,
    /// It holds if the flag is clear, and the condition holds.
    Clear,
    /// It holds also if the flag is set.
    Set,
}

/// A condition of the flags.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Test {
    cond: Cond,
    parity: Parity,
}

impl Test {
    fn plain(cond: Cond) -> Test {
        Test { cond, parity: Parity::Ignored }
    }

    pub(super) fn opposite(self) -> Test {
        let parity = match self.parity {
            Parity::Ignored => Parity::Ignored,
            Parity::Clear => Parity::Set,
            Parity::Set => Parity::Clear,
        };
        Test { cond: self.cond.opposite(), parity }
    }

    /// Goes there if it holds.
    pub(super) fn jump(self, asm: &mut Asm, to: Label) {
        match self.parity {
            Parity::Ignored => asm.jump_if(self.cond, to),
            Parity::Set => {
                asm.jump_if(self.cond, to);
                asm.jump_if(Cond::PARITY, to);
            }
            Parity::Clear => {
                let past = asm.label();
                asm.jump_if(Cond::PARITY, past);
                asm.jump_if(self.cond, to);
                asm.place(past);
            }
        }
    }
}

fn int_cond(cc: IntCC) -> Cond {
    match cc {
        IntCC::Equal => Cond::EQUAL,
        IntCC::NotEqual => Cond::NOT_EQUAL,
        IntCC::SignedLessThan => Cond::LESS,
        IntCC::SignedGreaterThanOrEqual => Cond::GREATER_EQUAL,
        IntCC::SignedGreaterThan => Cond::GREATER,
        IntCC::SignedLessThanOrEqual => Cond::LESS_EQUAL,
        IntCC::UnsignedLessThan => Cond::BELOW,
        IntCC::UnsignedGreaterThanOrEqual => Cond::ABOVE_EQUAL,
        IntCC::UnsignedGreaterThan => Cond::ABOVE,
        IntCC::UnsignedLessThanOrEqual => Cond::BELOW_EQUAL,
    }
}

/// Whether the operands change places, and what is tested then.
fn float_test(cc: FloatCC) -> (bool, Test) {
    let with = |parity, cond| match planted(Bug::QuickNanUnseen) {
        true => Test::plain(cond),
        false => Test { cond, parity },
    };
    match cc {
        FloatCC::Equal => (false, with(Parity::Clear, Cond::EQUAL)),
        FloatCC::NotEqual => (false, with(Parity::Set, Cond::NOT_EQUAL)),
        FloatCC::Ordered => (false, Test::plain(Cond::NO_PARITY)),
        FloatCC::Unordered => (false, Test::plain(Cond::PARITY)),
        FloatCC::OrderedNotEqual => (false, Test::plain(Cond::NOT_EQUAL)),
        FloatCC::UnorderedOrEqual => (false, Test::plain(Cond::EQUAL)),
        FloatCC::GreaterThan => (false, Test::plain(Cond::ABOVE)),
        FloatCC::GreaterThanOrEqual => (false, Test::plain(Cond::ABOVE_EQUAL)),
        FloatCC::LessThan => (true, Test::plain(Cond::ABOVE)),
        FloatCC::LessThanOrEqual => (true, Test::plain(Cond::ABOVE_EQUAL)),
        FloatCC::UnorderedOrLessThan => (false, Test::plain(Cond::BELOW)),
        FloatCC::UnorderedOrLessThanOrEqual => (false, Test::plain(Cond::BELOW_EQUAL)),
        FloatCC::UnorderedOrGreaterThan => (true, Test::plain(Cond::BELOW)),
        FloatCC::UnorderedOrGreaterThanOrEqual => (true, Test::plain(Cond::BELOW_EQUAL)),
    }
}

/// Whether the operands change places, and what `cmpsd` is told then.
fn predicate(cc: FloatCC) -> Option<(bool, i32)> {
    Some(match cc {
        FloatCC::Equal => (false, 0),
        FloatCC::LessThan => (false, 1),
        FloatCC::LessThanOrEqual => (false, 2),
        FloatCC::Unordered => (false, 3),
        FloatCC::NotEqual => (false, 4),
        FloatCC::UnorderedOrGreaterThanOrEqual => (false, 5),
        FloatCC::UnorderedOrGreaterThan => (false, 6),
        FloatCC::Ordered => (false, 7),
        FloatCC::GreaterThan => (true, 1),
        FloatCC::GreaterThanOrEqual => (true, 2),
        FloatCC::UnorderedOrLessThanOrEqual => (true, 5),
        FloatCC::UnorderedOrLessThan => (true, 6),
        FloatCC::OrderedNotEqual | FloatCC::UnorderedOrEqual => return None,
    })
}

impl Emit<'_> {
    /// Sets the flags by a value that is zero or not; what holds if it is not.
    pub(super) fn test(&mut self, condition: Value) -> Result<Test> {
        let func = self.func;
        if self.plan.kind(condition) == Kind::Folded {
            let inst = func.inst_of(condition).ok_or(Unsupported("a condition"))?;
            return self.compare_for(inst);
        }
        if self.flags == Some(condition) {
            let is_first = |inst: Inst| func.first_result(inst) == condition;
            return Ok(match func.inst_of(condition).is_none_or(is_first) {
                true => Test::plain(Cond::NOT_EQUAL),
                false => Test::plain(Cond::OVERFLOW),
            });
        }
        let reg = self.operand(condition)?;
        self.test_reg(reg, bytes_of(func, condition)?);
        Ok(Test::plain(Cond::NOT_EQUAL))
    }

    fn test_reg(&mut self, reg: Reg, bytes: u8) {
        match bytes {
            1 => self.asm.op(Op::narrow(0x84).of_bytes(), reg, reg),
            2 => self.asm.op(Op::narrow(0x85).prefixed(0x66), reg, reg),
            _ => self.asm.op(sized(bytes == 8, 0x85), reg, reg),
        }
    }

    /// Makes a comparison; what holds if it is true.
    fn compare_for(&mut self, inst: Inst) -> Result<Test> {
        match self.func.data(inst) {
            Data::IntCompare { args, cond, .. } => self.compare_ints(args, cond),
            Data::FloatCompare { args, cond, .. } if is_double(self.func, args[0]) => {
                let (exchanged, test) = float_test(cond);
                let [x, y] = if exchanged { [args[1], args[0]] } else { args };
                let (x, y) = (self.operand(x)?, self.operand(y)?);
                self.asm.op(Op::packed(0x2e), x, y);
                Ok(test)
            }
            _ => Err(Unsupported("a comparison")),
        }
    }

    fn compare_ints(&mut self, [x, y]: [Value; 2], cc: IntCC) -> Result<Test> {
        let bytes = bytes_of(self.func, x)?;
        // A constant stands on the right.
        let (x, y, cc) = match (self.plan.kind(x), self.plan.kind(y)) {
            (Kind::Int(_), Kind::Plain) => (y, x, cc.swap_args()),
            _ => (x, y, cc),
        };
        let test = Test::plain(int_cond(cc));
        let operand: Operand = match self.plan.kind(x) {
            Kind::Folded => {
                let load = self.func.inst_of(x).ok_or(Unsupported("a folded operand"))?;
                return self.compare_memory(load, y).map(|()| test);
            }
            _ => self.operand(x)?.into(),
        };
        let Operand::Reg(reg) = operand else { return Err(Unsupported("an operand")) };
        match self.imm32(y) {
            Some(0) => self.test_reg(reg, bytes),
            Some(imm) => match bytes {
                1 => self.asm.op_imm(Op::narrow(0x80).of_bytes(), Reg(7), reg, imm, 1),
                2 => self.asm.op_imm(Op::narrow(0x81).prefixed(0x66), Reg(7), reg, imm, 2),
                _ => self.asm.arith_imm(7, bytes == 8, reg, imm),
            },
            None => {
                let y = self.operand(y)?;
                match bytes {
                    1 => self.asm.op(Op::narrow(0x38).of_bytes(), y, reg),
                    2 => self.asm.op(Op::narrow(0x39).prefixed(0x66), y, reg),
                    _ => self.asm.op(sized(bytes == 8, 0x39), y, reg),
                }
            }
        }
        Ok(test)
    }

    /// Compares what a folded load would read.
    fn compare_memory(&mut self, load: Inst, y: Value) -> Result<()> {
        let Data::Load { opcode, arg, offset, .. } = self.func.data(load) else {
            return Err(Unsupported("a folded load"));
        };
        let mem = self.address(arg, offset)?;
        let wide = opcode == Opcode::Load;
        match (self.imm32(y), is_byte_load(opcode)) {
            (Some(imm), true) => self.asm.op_imm(Op::narrow(0x80), Reg(7), mem, imm, 1),
            (Some(imm), false) => self.asm.arith_imm(7, wide, mem, imm),
            (None, false) => {
                let y = self.operand(y)?;
                self.asm.op(sized(wide, 0x39), y, mem);
            }
            (None, true) => return Err(Unsupported("a comparison of a byte")),
        }
        Ok(())
    }

    /// Whether a condition asks if an exact conversion has saturated: it has failed then.
    pub(super) fn never_holds(&self, condition: Value) -> bool {
        let inst = self.func.inst_of(condition).map(|inst| self.func.data(inst));
        matches!(inst, Some(Data::IntCompare { args: [int, most], cond: IntCC::Equal, .. })
            if self.plan.kind(most) == Kind::Int(i64::MAX) && converts_exactly(self.func, int))
    }

    /// A comparison whose outcome is a value.
    pub(super) fn compare(&mut self, inst: Inst) -> Result<()> {
        let test = self.compare_for(inst)?;
        let result = self.define(self.func.first_result(inst))?;
        self.set(test, result)
    }

    /// 1 if it holds, else 0.
    pub(super) fn set(&mut self, test: Test, result: Reg) -> Result<()> {
        let set = |asm: &mut Asm, cond: Cond, reg: Reg| {
            asm.op(Op::narrow(0x90 | cond.0).escaped().of_bytes(), Reg(0), reg);
        };
        set(self.asm, test.cond, result);
        if test.parity != Parity::Ignored {
            let other = self.scratch()?;
            let (cond, code) = match test.parity {
                Parity::Clear => (Cond::NO_PARITY, 0x21),
                _ => (Cond::PARITY, 0x09),
            };
            set(self.asm, cond, other);
            self.asm.op(Op::narrow(code), other, result);
        }
        self.asm.op(Op::narrow(0xb6).escaped().of_bytes(), result, result);
        Ok(())
    }

    /// The outcome of an overflow check as a value.
    pub(super) fn set_overflow(&mut self, result: Reg) -> Result<()> {
        self.set(Test::plain(Cond::OVERFLOW), result)
    }

    /// `condition ? x : y`.
    pub(super) fn select(&mut self, inst: Inst, [condition, x, y]: [Value; 3]) -> Result<()> {
        let result = self.func.first_result(inst);
        if is_double(self.func, x) {
            return self.select_double(result, condition, x, y);
        }
        if bytes_of(self.func, x)? < 4 {
            return Err(Unsupported("a select of narrow integers"));
        }
        let mut test = self.test(condition)?;
        let (mut x, mut y) = (x, y);
        // Both must hold: else it is the other one.
        if test.parity == Parity::Clear {
            (test, x, y) = (test.opposite(), y, x);
        }
        let from = self.operand(x)?;
        let to = self.define_over(result, y)?;
        self.asm.op(Op::wide(0x40 | test.cond.0).escaped(), to, from);
        if test.parity == Parity::Set {
            self.asm.op(Op::wide(0x40 | Cond::PARITY.0).escaped(), to, from);
        }
        Ok(())
    }

    fn select_double(&mut self, result: Value, condition: Value, x: Value, y: Value) -> Result<()> {
        if let Some(code) = self.is_extreme(condition, x, y) {
            // The instruction's second operand is the result if they are equal, or one is a NaN: that is `y`.
            let other = self.operand(y)?;
            let to = self.define_over(result, x)?;
            self.asm.op(Op::double(code), to, other);
            return Ok(());
        }
        let mask = self.mask(condition)?;
        let yes = self.temporary(true)?;
        self.asm.mov(yes, mask);
        let x = self.double_operand(x)?;
        self.asm.op(Op::packed(0x54), yes, x);
        // Not the mask, and.
        let y = self.double_operand(y)?;
        self.asm.op(Op::packed(0x55), mask, y);
        let to = self.define(result)?;
        self.asm.mov(to, mask);
        self.asm.op(Op::packed(0x56), to, yes);
        Ok(())
    }

    /// A register all of whose bits tell whether a condition holds: selects are for what no processor
    /// predicts.
    fn mask(&mut self, condition: Value) -> Result<Reg> {
        let mask = self.temporary(true)?;
        let inst = self.func.inst_of(condition).filter(|_| self.plan.kind(condition) == Kind::Folded);
        if let Some(Data::FloatCompare { args: [x, y], cond, .. }) = inst.map(|inst| self.func.data(inst)) {
            if let Some((exchanged, predicate)) = predicate(cond) {
                let (x, y) = if exchanged { (y, x) } else { (x, y) };
                let x = self.operand(x)?;
                self.asm.mov(mask, x);
                let y = self.operand(y)?;
                self.asm.op_imm(Op::double(0xc2), mask, y, predicate, 1);
                return Ok(mask);
            }
        }
        let test = self.test(condition)?;
        let flag = self.temporary(false)?;
        self.set(test, flag)?;
        // neg
        self.asm.op(Op::wide(0xf7), Reg(3), flag);
        self.asm.mov(mask, flag);
        Ok(mask)
    }

    /// The opcode of `minsd` or `maxsd`, if a select is what they do: `a < b ? a : b`, and `a < b ? b : a`.
    fn is_extreme(&self, condition: Value, x: Value, y: Value) -> Option<u8> {
        let inst = self.func.inst_of(condition)?;
        let Data::FloatCompare { args, cond: FloatCC::LessThan, .. } = self.func.data(inst) else {
            return None;
        };
        let is_here = self.plan.kind(condition) == Kind::Folded && x != y;
        match (args == [x, y], args == [y, x]) {
            (true, _) if is_here => Some(0x5d),
            (_, true) if is_here => Some(0x5f),
            _ => None,
        }
    }
}
