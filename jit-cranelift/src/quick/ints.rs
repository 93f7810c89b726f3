//! Integers.
//!
//! Problem: most instructions change their left operand, some want their operands in certain registers, and a
//! sum can also be had from the address unit, into a register of its own. Design: if an operand is not wanted
//! any more the result takes its register, and operands change places for that where they may. Divisions and
//! shifts claim their registers first; what lies there moves away.
//!
//! Invariant: what a register has above a narrow value means nothing, and nobody looks at it. Example: `v3 =
//! iadd v1, v2` with both wanted later is `lea rax, [rcx+rdx]`.

use crate::lir::Data;
use cranelift_codegen::ir::{types, Inst, Opcode, Value};

use super::asm::{Mem, Op, Reg, RAX, RCX, RDX};
use super::emit::{bytes_of, sized, Emit};
use super::plan::{Kind, MOST_SCALE};
use super::{Result, Unsupported};

impl Emit<'_> {
    pub(super) fn int(&mut self, inst: Inst, opcode: Opcode) -> Result<()> {
        let result = self.func.first_result(inst);
        match self.func.data(inst) {
            Data::Binary { args: [x, y], .. } => self.int_of_two(inst, opcode, result, x, y),
            Data::Unary { arg, .. } => self.int_of_one(opcode, result, arg),
            _ => Err(Unsupported("an operation on integers")),
        }
    }

    fn int_of_one(&mut self, opcode: Opcode, result: Value, arg: Value) -> Result<()> {
        let wide = bytes_of(self.func, result)? == 8;
        match opcode {
            Opcode::Ineg | Opcode::Bnot => {
                let to = self.define_over(result, arg)?;
                let number = if opcode == Opcode::Ineg { 3 } else { 2 };
                self.asm.op(sized(wide, 0xf7), Reg(number), to);
            }
            // Nobody looks at what is above.
            Opcode::Ireduce => {
                self.define_over(result, arg)?;
            }
            Opcode::Uextend => {
                let bytes = bytes_of(self.func, arg)?;
                let from = self.operand(arg)?;
                self.free_dying(arg);
                let to = self.define(result)?;
                match bytes {
                    1 => self.asm.op(Op::narrow(0xb6).escaped().of_bytes(), to, from),
                    2 => self.asm.op(Op::narrow(0xb7).escaped(), to, from),
                    _ => self.asm.op(Op::narrow(0x8b), to, from),
                }
            }
            _ => return Err(Unsupported("an operation on an integer")),
        }
        Ok(())
    }

    fn int_of_two(&mut self, inst: Inst, opcode: Opcode, result: Value, x: Value, y: Value) -> Result<()> {
        let bytes = bytes_of(self.func, result)?;
        if bytes < 8
            && !matches!(opcode, Opcode::Band | Opcode::Bor | Opcode::Bxor | Opcode::Udiv | Opcode::Urem)
        {
            return Err(Unsupported("a narrow operation"));
        }
        match opcode {
            Opcode::Iadd => self.sum(result, x, y),
            Opcode::Isub => self.arith(5, 0x2b, false, [result, x, y]),
            Opcode::Band => self.arith(4, 0x23, true, [result, x, y]),
            Opcode::Bor => self.arith(1, 0x0b, true, [result, x, y]),
            Opcode::Bxor => self.arith(6, 0x33, true, [result, x, y]),
            Opcode::Imul => self.product(result, x, y),
            Opcode::Smulhi => self.high_product(result, x, y),
            Opcode::Ishl => self.shift(4, result, x, y),
            Opcode::Ushr => self.shift(5, result, x, y),
            Opcode::Sshr => self.shift(7, result, x, y),
            Opcode::Sdiv => self.quotient(result, x, y, true),
            Opcode::Udiv if bytes == 4 => self.quotient(result, x, y, false),
            Opcode::Urem if bytes == 4 => self.quotient(result, x, y, false),
            Opcode::SaddOverflow | Opcode::SsubOverflow | Opcode::SmulOverflow => {
                match opcode {
                    Opcode::SaddOverflow => self.arith(0, 0x03, true, [result, x, y])?,
                    Opcode::SsubOverflow => self.arith(5, 0x2b, false, [result, x, y])?,
                    _ => self.product(result, x, y)?,
                }
                self.flags = None;
                self.overflow(inst)
            }
            _ => Err(Unsupported("an operation on two integers")),
        }
    }

    /// What an overflow check says: in the flags if the branch is next, else in a register.
    fn overflow(&mut self, inst: Inst) -> Result<()> {
        let Some(flag) = self.func.inst_results(inst).nth(1) else { return Err(Unsupported("an overflow")) };
        if self.plan.is_unused(flag) {
            return Ok(());
        }
        let next = self.func.next_inst(inst).map(|next| self.func.data(next));
        let is_next = matches!(next, Some(Data::Brif { arg, .. }) if arg == flag);
        if is_next && self.dies_after(flag) {
            self.flags = Some(flag);
            return Ok(());
        }
        let reg = self.define(flag)?;
        self.set_overflow(reg)
    }

    /// Whether the next instruction is the last that uses a value.
    fn dies_after(&self, value: Value) -> bool {
        self.plan.last_use(value) == Some(self.number + 1)
    }

    fn sum(&mut self, result: Value, x: Value, y: Value) -> Result<()> {
        let (x, y) = if self.imm32(x).is_some() { (y, x) } else { (x, y) };
        let from = self.operand(x)?;
        let dies = self.plan.kind(x) == Kind::Plain && self.dies(x);
        if let Some(imm) = self.imm32(y) {
            if dies {
                let to = self.define_over(result, x)?;
                self.asm.arith_imm(0, true, to, imm);
                self.flags = Some(result);
            } else {
                let to = self.define(result)?;
                self.asm.lea(to, Mem::at(from, imm));
            }
            return Ok(());
        }
        let other = self.operand(y)?;
        if dies || self.plan.kind(y) == Kind::Plain && self.dies(y) {
            let (x, other) = if dies { (x, other) } else { (y, from) };
            let to = self.define_over(result, x)?;
            self.asm.op(Op::wide(0x03), to, other);
            self.flags = Some(result);
        } else {
            let to = self.define(result)?;
            self.asm.lea(to, Mem { base: from, index: Some((other, 0)), disp: 0 });
        }
        Ok(())
    }

    /// `add`, `or`, `and`, `sub`, `xor`, by their numbers with a constant and their opcodes.
    fn arith(&mut self, number: u8, code: u8, commutes: bool, [result, x, y]: [Value; 3]) -> Result<()> {
        let bytes = bytes_of(self.func, result)?;
        let wide = bytes == 8;
        let (x, y) = match (self.plan.kind(x), self.plan.kind(y)) {
            (Kind::Int(_), Kind::Plain) if commutes => (y, x),
            (Kind::Plain, Kind::Plain) if commutes && !self.dies(x) && self.dies(y) => (y, x),
            _ => (x, y),
        };
        if let Some(imm) = self.imm32(y) {
            let to = self.define_over(result, x)?;
            self.asm.arith_imm(number, wide, to, imm);
        } else {
            let other = self.operand(y)?;
            let from = self.operand(x)?;
            // The result must not be in the other operand's register.
            let to = self.define_over_reg(result, x, from)?;
            self.asm.op(sized(wide, code), to, other);
        }
        if bytes >= 4 {
            self.flags = Some(result);
        }
        Ok(())
    }

    fn product(&mut self, result: Value, x: Value, y: Value) -> Result<()> {
        let (x, y) = if matches!(self.plan.kind(x), Kind::Int(_)) { (y, x) } else { (x, y) };
        if let Some(imm) = self.imm32(y) {
            let from = self.operand(x)?;
            let to = self.define(result)?;
            let (code, bytes) = if i8::try_from(imm).is_ok() { (0x6b, 1) } else { (0x69, 4) };
            self.asm.op_imm(Op::wide(code), to, from, imm, bytes);
            return Ok(());
        }
        let (from, other) = (self.operand(x)?, self.operand(y)?);
        let dies = |emit: &Self, value| emit.plan.kind(value) == Kind::Plain && emit.dies(value);
        let (x, from, other) = match !dies(self, x) && dies(self, y) {
            true => (y, other, from),
            false => (x, from, other),
        };
        let to = self.define_over_reg(result, x, from)?;
        self.asm.op(Op::wide(0xaf).escaped(), to, other);
        Ok(())
    }

    /// Puts a value into a register that was claimed.
    fn bring(&mut self, to: Reg, value: Value) -> Result<()> {
        match self.plan.kind(value) {
            Kind::Int(imm) => self.asm.mov_imm(to, imm),
            _ => {
                let from = self.operand(value)?;
                self.asm.mov(to, from);
            }
        }
        Ok(())
    }

    /// The upper half of the product.
    fn high_product(&mut self, result: Value, x: Value, y: Value) -> Result<()> {
        self.claim(RAX)?;
        self.claim(RDX)?;
        let (x, y) = if matches!(self.plan.kind(x), Kind::Int(_)) { (y, x) } else { (x, y) };
        let from = self.operand(x)?;
        self.bring(RAX, y)?;
        self.asm.op(Op::wide(0xf7), Reg(5), from);
        self.places.put(result, RDX);
        Ok(())
    }

    /// Quotient or rest, of 64 bits with a sign, or of 32 bits without.
    fn quotient(&mut self, result: Value, x: Value, y: Value, signed: bool) -> Result<()> {
        let is_rest = matches!(self.func.inst_of(result), Some(inst)
            if self.func.data(inst).opcode() == Opcode::Urem);
        self.claim(RAX)?;
        self.claim(RDX)?;
        let divisor = self.operand(y)?;
        self.bring(RAX, x)?;
        if signed {
            self.asm.op_cqo();
            self.asm.op(Op::wide(0xf7), Reg(7), divisor);
        } else {
            self.asm.op(Op::narrow(0x31), RDX, RDX);
            self.asm.op(Op::narrow(0xf7), Reg(6), divisor);
        }
        self.places.put(result, if is_rest { RDX } else { RAX });
        Ok(())
    }

    fn shift(&mut self, number: u8, result: Value, x: Value, count: Value) -> Result<()> {
        if let Kind::Int(mut count) = self.plan.kind(count) {
            if self.plan.is_less_scaled(result) {
                count -= i64::from(MOST_SCALE);
                if count == 1 {
                    return self.sum(result, x, x);
                }
            }
            let to = self.define_over(result, x)?;
            self.asm.op_imm(Op::wide(0xc1), Reg(number), to, count as i32 & 63, 1);
            // Shifting by nothing leaves the flags.
            self.flags = Some(result).filter(|_| count & 63 != 0);
            return Ok(());
        }
        if self.func.value_type(count) != types::I64 {
            return Err(Unsupported("a shift by a narrow integer"));
        }
        self.claim(RCX)?;
        self.bring(RCX, count)?;
        let to = self.define_over(result, x)?;
        self.asm.op(Op::wide(0xd3), Reg(number), to);
        Ok(())
    }
}
