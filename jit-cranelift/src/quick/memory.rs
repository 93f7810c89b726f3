//! Loads and stores, and addresses.
//!
//! Problem: an address is a sum, and an instruction holds most of it. Design: a sum that nobody but accesses
//! uses is part of each of them, and so is the scale of its index up to 8: where items are larger, the index
//! is computed in eighths. A constant address is in the scratch register, where the next access finds it
//! again, as in an exit's stub. Narrow integers are extended as they are loaded; what a register has above a
//! narrow value means nothing. A load whose place is marked as a prefetch is one.
//!
//! Invariant: an access is made where it stands, except for loads that the plan has folded. Example: `v3 =
//! iadd v1, v2; v4 = load.i64 v3+16` is `mov rax, [rcx+rdx+16]`, and `[rcx+rax*8+16]` after `lea rax,
//! [rdx+rdx]` if `v2` is something in `rdx` times 16.

use crate::lir::Data;
use cranelift_codegen::ir::{self, types, Inst, Opcode, Value};

use tracelift_core::planted::{planted, Bug};

use super::asm::{Mem, Op, Reg, RBP};
use super::emit::{bytes_of, Emit};
use super::plan::{self, is_double, Kind, MOST_SCALE};
use super::{Result, Unsupported};
use crate::listing::location;

/// Whether a load reads a byte without a sign.
pub(super) fn is_byte_load(opcode: Opcode) -> bool {
    opcode == Opcode::Uload8
}

impl Emit<'_> {
    /// The memory at an address.
    pub(super) fn address(&mut self, address: Value, disp: i32) -> Result<Mem> {
        if self.plan.kind(address) == Kind::Folded {
            let sum = self.func.inst_of(address).map(|inst| self.func.data(inst));
            let Some(Data::Binary { opcode: Opcode::Iadd, args }) = sum else {
                return Err(Unsupported("a folded address"));
            };
            let (index, scale) = match (self.plan.kind(args[1]), self.plan.is_less_scaled(args[1])) {
                (Kind::Folded, _) => self
                    .func
                    .inst_of(args[1])
                    .and_then(|inst| plan::scale(self.func, inst))
                    .ok_or(Unsupported("a folded index"))?,
                (_, true) => (args[1], MOST_SCALE),
                _ => (args[1], 0),
            };
            let (base, index) = (self.operand(args[0])?, self.operand(index)?);
            let scale = if planted(Bug::QuickScaleForgotten) { 0 } else { scale };
            return Ok(Mem { base, index: Some((index, scale)), disp });
        }
        Ok(Mem::at(self.operand(address)?, disp))
    }

    pub(super) fn load(&mut self, inst: Inst, opcode: Opcode, address: Value, disp: i32) -> Result<()> {
        let mem = self.address(address, disp)?;
        if location::is_prefetch(self.func.srcloc(inst).bits()) {
            // prefetcht0
            self.asm.op(Op::narrow(0x18).escaped(), Reg(1), mem);
            return Ok(());
        }
        let result = self.func.first_result(inst);
        if self.plan.is_unused(result) {
            return Ok(());
        }
        // What is loaded may take the place of its address.
        self.free_dying(address);
        let to = self.define(result)?;
        let zero_extending = |code: u8| Op::narrow(code).escaped();
        let op = match (opcode, self.func.value_type(result)) {
            (Opcode::Load, types::F64) => Op::double(0x10),
            (Opcode::Load, types::I64) => Op::wide(0x8b),
            (Opcode::Load, types::I32) | (Opcode::Uload32, _) => Op::narrow(0x8b),
            (Opcode::Load, types::I8) | (Opcode::Uload8, _) => zero_extending(0xb6),
            (Opcode::Load, types::I16) | (Opcode::Uload16, _) => zero_extending(0xb7),
            (Opcode::Sload8, _) => Op::wide(0xbe).escaped(),
            (Opcode::Sload16, _) => Op::wide(0xbf).escaped(),
            (Opcode::Sload32, _) => Op::wide(0x63),
            _ => return Err(Unsupported("a load")),
        };
        self.asm.op(op, to, mem);
        Ok(())
    }

    /// Frees the register of an operand that nobody wants after this instruction, which reads it before it
    /// writes its result.
    pub(super) fn free_dying(&mut self, operand: Value) {
        if self.plan.kind(operand) == Kind::Plain && self.dies(operand) {
            if let Some(reg) = self.places.reg(operand) {
                self.places.take(operand);
                self.busy &= !reg.bit();
            }
        }
    }

    pub(super) fn store(&mut self, opcode: Opcode, value: Value, address: Value, disp: i32) -> Result<()> {
        let bytes = match opcode {
            Opcode::Store if is_double(self.func, value) => 8,
            Opcode::Store => bytes_of(self.func, value)?,
            Opcode::Istore8 => 1,
            Opcode::Istore16 => 2,
            Opcode::Istore32 => 4,
            _ => return Err(Unsupported("a store")),
        };
        let mem = self.address(address, disp)?;
        let imm = match self.plan.kind(value) {
            // The upper bits are of no interest if fewer are stored.
            Kind::Int(imm) if bytes < 8 => Some(imm as i32),
            _ => self.imm32(value),
        };
        if let Some(imm) = imm {
            match bytes {
                1 => self.asm.op_imm(Op::narrow(0xc6), Reg(0), mem, imm, 1),
                2 => self.asm.op_imm(Op::narrow(0xc7).prefixed(0x66), Reg(0), mem, imm, 2),
                4 => self.asm.op_imm(Op::narrow(0xc7), Reg(0), mem, imm, 4),
                _ => self.asm.op_imm(Op::wide(0xc7), Reg(0), mem, imm, 4),
            }
            return Ok(());
        }
        let from = self.operand(value)?;
        match bytes {
            1 => self.asm.op(Op::narrow(0x88).of_bytes(), from, mem),
            2 => self.asm.op(Op::narrow(0x89).prefixed(0x66), from, mem),
            4 => self.asm.op(Op::narrow(0x89), from, mem),
            _ => self.asm.store(mem, from),
        }
        Ok(())
    }

    pub(super) fn stack_addr(&mut self, inst: Inst, slot: ir::StackSlot) -> Result<()> {
        let place = self.region(slot);
        let result = self.func.first_result(inst);
        if self.plan.is_unused(result) {
            return Ok(());
        }
        let to = self.define(result)?;
        self.asm.lea(to, Mem::at(RBP, place));
        Ok(())
    }
}
