//! Doubles.
//!
//! Problem: instructions on doubles change their left operand, and a NaN's bits depend on which one is left.
//! Design: where the processor has instructions of three operands (AVX) nothing is changed. Elsewhere the
//! left operand is the result's register, copied if it is still wanted. The right one is another register, or
//! memory: a constant after the code, or what a folded load reads. Signs are changed by bits.
//!
//! Invariant: operands never change places. Example: `v3 = fadd v1, v2` is `vaddsd xmm3, xmm1, xmm2`, or
//! without AVX `addsd xmm1, xmm2` if `v1` is not wanted any more.

use crate::lir::{Data, Function};
use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{types, Inst, Opcode, Value};

use super::asm::{Cond, Op, Operand, Reg};
use super::emit::{bytes_of, sized, Emit};
use super::places::{slot_mem, FLOATS};
use super::plan::{is_double, Kind};
use super::{Result, Unsupported};

const SIGN: u64 = 1 << 63;

impl Emit<'_> {
    pub(super) fn double(&mut self, inst: Inst, opcode: Opcode) -> Result<()> {
        let result = self.func.first_result(inst);
        match (opcode, self.func.data(inst)) {
            (_, Data::Binary { args: [x, y], .. }) => {
                let op = match opcode {
                    Opcode::Fadd => Op::double(0x58),
                    Opcode::Fmul => Op::double(0x59),
                    Opcode::Fsub => Op::double(0x5c),
                    Opcode::Fdiv => Op::double(0x5e),
                    Opcode::Band => Op::packed(0x54),
                    Opcode::Bor => Op::packed(0x56),
                    Opcode::Bxor => Op::packed(0x57),
                    _ => return Err(Unsupported("an operation on doubles")),
                };
                self.double_of_two(opcode, op, [result, x, y])
            }
            (_, Data::Unary { arg, .. }) => self.double_of_one(opcode, result, arg),
            (Opcode::Fma, Data::Ternary { args: [x, y, z], .. }) if self.features.has_fused_product => {
                let (x, y) = (self.operand(x)?, self.operand(y)?);
                let to = self.define_over(result, z)?;
                self.asm.add_product(to, x, y);
                Ok(())
            }
            _ => Err(Unsupported("an operation on doubles")),
        }
    }

    fn double_of_two(&mut self, opcode: Opcode, op: Op, [result, x, y]: [Value; 3]) -> Result<()> {
        let is_scalar = !matches!(opcode, Opcode::Band | Opcode::Bor | Opcode::Bxor);
        let right = match self.plan.kind(y) {
            Kind::Plain if is_scalar && self.is_read_once(y) => slot_mem(self.places.slot(y)).into(),
            _ => self.double_operand(y)?,
        };
        if !self.features.has_avx {
            let to = self.define_over(result, x)?;
            let right = if x == y { to.into() } else { right };
            self.asm.op(op, to, right);
            return Ok(());
        }
        let left = self.operand(x)?;
        self.free_dying(x);
        if self.plan.kind(y) == Kind::Plain {
            self.free_dying(y);
        }
        let to = self.define(result)?;
        self.asm.op3(op, to, left, right);
        Ok(())
    }

    /// A register, or memory: a constant, or what a folded load reads.
    pub(super) fn double_operand(&mut self, value: Value) -> Result<Operand> {
        match self.plan.kind(value) {
            Kind::Float(bits) => Ok(self.asm.constant(bits.into())),
            Kind::Folded => {
                let load = self.func.inst_of(value).map(|inst| self.func.data(inst));
                match load {
                    Some(Data::Load { arg, offset, .. }) => Ok(self.address(arg, offset)?.into()),
                    _ => Err(Unsupported("a folded operand")),
                }
            }
            _ => Ok(self.operand(value)?.into()),
        }
    }

    /// Whether a value is in its slot alone, and not worth a register: it is not wanted again in this round,
    /// or no register is free.
    fn is_read_once(&self, value: Value) -> bool {
        let is_in_slot = self.places.reg(value).is_none() && self.places.is_stored(value);
        let has_room = FLOATS & !self.places.held & !self.busy != 0;
        is_in_slot && !(has_room && self.plan.next_use(value, self.number).is_some())
    }

    fn double_of_one(&mut self, opcode: Opcode, result: Value, arg: Value) -> Result<()> {
        match opcode {
            Opcode::Fneg | Opcode::Fabs => {
                let to = self.define_over(result, arg)?;
                let (op, bits) = match opcode {
                    Opcode::Fneg => (Op::packed(0x57), SIGN),
                    _ => (Op::packed(0x54), !SIGN),
                };
                let mask = self.asm.constant(u128::from(bits));
                self.asm.op(op, to, mask);
            }
            Opcode::Sqrt => {
                let from = self.operand(arg)?;
                let to = self.define(result)?;
                self.asm.op(Op::double(0x51), to, from);
            }
            Opcode::Floor | Opcode::Ceil | Opcode::Trunc if self.features.has_rounding => {
                let mode = match opcode {
                    Opcode::Floor => 9,
                    Opcode::Ceil => 10,
                    _ => 11,
                };
                let from = self.operand(arg)?;
                let to = self.define(result)?;
                self.asm.op_imm(Op::packed(0x0b).escaped_by(0x3a), to, from, mode, 1);
            }
            Opcode::FcvtFromSint => {
                if bytes_of(self.func, arg)? != 8 {
                    return Err(Unsupported("a conversion of a narrow integer"));
                }
                let from = self.operand(arg)?;
                let to = self.define(result)?;
                // The upper half would wait for what was in the register before.
                self.asm.op(Op::narrow(0x57).escaped(), to, to);
                self.asm.op(Op::wide(0x2a).escaped().prefixed(0xf2), to, from);
            }
            Opcode::FcvtToSintSat => self.saturated(result, arg)?,
            Opcode::Bitcast => {
                let types = [arg, result].map(|value| self.func.value_type(value));
                if types != [types::F64, types::I64] && types != [types::I64, types::F64] {
                    return Err(Unsupported("a bitcast"));
                }
                let from = self.operand(arg)?;
                let to = self.define(result)?;
                self.asm.mov(to, from);
            }
            _ => return Err(Unsupported("an operation on a double")),
        }
        Ok(())
    }

    /// The integer, 0 for a NaN, and the nearest one for what is too large. The processor's conversion gives
    /// the least integer for all that it cannot convert.
    fn saturated(&mut self, result: Value, arg: Value) -> Result<()> {
        if self.func.value_type(result) != types::I64 || !is_double(self.func, arg) {
            return Err(Unsupported("a conversion"));
        }
        let from = self.operand(arg)?;
        if converts_exactly(self.func, result) {
            let to = self.define(result)?;
            self.asm.op(Op::wide(0x2c).escaped().prefixed(0xf2), to, from);
            return Ok(());
        }
        let zero = self.temporary(true)?;
        let to = self.define(result)?;
        let (done, is_nan) = (self.asm.label(), self.asm.label());
        self.asm.op(Op::wide(0x2c).escaped().prefixed(0xf2), to, from);
        // Only the least integer overflows if 1 is subtracted.
        self.asm.arith_imm(7, true, to, 1);
        self.asm.jump_if(Cond::NO_OVERFLOW, done);
        self.asm.op(Op::packed(0x2e), from, from);
        self.asm.jump_if(Cond::PARITY, is_nan);
        self.asm.op(Op::narrow(0x57).escaped(), zero, zero);
        self.asm.op(Op::packed(0x2e), zero, from);
        self.asm.jump_if(Cond::ABOVE, done);
        // not
        self.asm.op(Op::wide(0xf7), Reg(2), to);
        self.asm.jump(done);
        self.asm.place(is_nan);
        self.asm.op(sized(false, 0x31), to, to);
        self.asm.place(done);
        Ok(())
    }
}

/// Whether code goes on after a saturating conversion only if the integer, converted back, is the double:
/// then it need not saturate. What cannot be converted becomes the least integer, which is none of these.
pub(super) fn converts_exactly(func: &Function, int: Value) -> bool {
    let next = |inst: Inst| func.next_inst(inst).map(|next| (next, func.data(next)));
    let Some(inst) = func.inst_of(int) else { return false };
    let Data::Unary { opcode: Opcode::FcvtToSintSat, arg: double } = func.data(inst) else {
        return false;
    };
    let Some((back, Data::Unary { opcode: Opcode::FcvtFromSint, arg })) = next(inst) else {
        return false;
    };
    let Some((compare, Data::FloatCompare { args, cond: FloatCC::NotEqual, .. })) = next(back) else {
        return false;
    };
    let branches = |condition: Value| condition == func.first_result(compare);
    arg == int
        && args == [func.first_result(back), double]
        && matches!(next(compare), Some((_, Data::Brif { arg, .. })) if branches(arg))
}
