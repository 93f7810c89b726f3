//! Memory and calls.
//!
//! Problem: cells are narrow or wide, signed or not, at addresses that are sums; functions are C's. Design:
//! an access uses the operand's recipe (see `values`) so that the whole sum becomes one addressing mode; a
//! narrow integer is extended by the load itself. Functions are called by their address as a constant, with
//! the declared signature.
//!
//! Invariant: no access traps as far as Cranelift knows (the trace's guards protect it), none is taken to be
//! aligned, and none may move above the guard that protects it. Example: `i1 = load(p0, flags)`, a one-byte
//! cell at 9, is `movzx r, byte [p0+9]`.

use cranelift_codegen::ir::{self, types, AbiParam, MemFlagsData};
use tracelift_core::planted::{planted, Bug};
use tracelift_core::schema::{Cell, Func};
use tracelift_core::{Inst, Payload, Type};

use super::{arg, clif_type, int_of_width, Lowering, Result, Ssa};
use crate::error::CompileError;
use crate::helpers;

impl<'a> Lowering<'_, 'a, '_> {
    pub(super) fn load(&mut self, inst: &Inst) -> Result<()> {
        let cell = self.cell(inst)?;
        let (base, offset) = self.address(inst, 0, cell.offset)?;
        let flags = self.flags(cell);
        let signed = cell.signed != (planted(Bug::LowerNarrowLoadSigned) && cell.width < 8);
        let ins = &mut self.b;
        let result = match (cell.width, signed) {
            (1, false) => ins.uload8(types::I64, flags, base, offset),
            (1, true) => ins.sload8(types::I64, flags, base, offset),
            (2, false) => ins.uload16(types::I64, flags, base, offset),
            (2, true) => ins.sload16(types::I64, flags, base, offset),
            (4, false) => ins.uload32(types::I64, flags, base, offset),
            (4, true) => ins.sload32(types::I64, flags, base, offset),
            (8, _) => ins.load(clif_type(cell.ty), flags, base, offset),
            _ => return Err(self.malformed("a cell has no machine width")),
        };
        self.define(inst, result)
    }

    /// A load of a cell and of its neighbour: so many bytes from there on, without a sign.
    pub(super) fn load_wide(&mut self, inst: &Inst, offset: i32, width: u8) -> Result<()> {
        let (base, offset) = self.address(inst, 0, offset)?;
        // No region: the cells are of two alias classes.
        let flags = MemFlagsData::new().with_notrap();
        let ins = &mut self.b;
        let result = match width {
            2 => ins.uload16(types::I64, flags, base, offset),
            4 => ins.uload32(types::I64, flags, base, offset),
            8 => ins.load(types::I64, flags, base, offset),
            _ => return Err(self.malformed("two cells have no machine width")),
        };
        self.define(inst, result)
    }

    pub(super) fn store(&mut self, inst: &Inst) -> Result<()> {
        let cell = self.cell(inst)?;
        let narrow = int_of_width(cell.width).filter(|_| cell.ty != Type::Float);
        let constant = self.input.trace.bits_of(arg(inst, 1, self.index)?).zip(narrow);
        if let Some((bits, ty)) = constant {
            // A constant of the cell's own width is part of the instruction.
            let (base, offset) = self.address(inst, 0, cell.offset)?;
            let flags = self.flags(cell);
            let value = self.b.iconst(ty, (bits & (u64::MAX >> (64 - ty.bits()))) as i64);
            self.b.store(flags, value, base, offset);
            return Ok(());
        }
        let value = self.operand(inst, 1)?;
        let (base, offset) = self.address(inst, 0, cell.offset)?;
        let flags = self.flags(cell);
        let ins = &mut self.b;
        match cell.width {
            1 => ins.istore8(flags, value, base, offset),
            2 => ins.istore16(flags, value, base, offset),
            4 => ins.istore32(flags, value, base, offset),
            8 => ins.store(flags, value, base, offset),
            _ => return Err(self.malformed("a cell has no machine width")),
        };
        Ok(())
    }

    fn cell(&self, inst: &Inst) -> Result<&'a Cell> {
        let schema = self.input.schema;
        match inst.payload {
            Payload::Cell(cell) => {
                schema.cells().get(cell.index()).ok_or_else(|| self.malformed("no such cell"))
            }
            _ => Err(self.malformed("a memory access names no cell")),
        }
    }

    /// `can_move` is never set: an immutable cell is still only readable after the guard on its object.
    fn flags(&mut self, cell: &Cell) -> MemFlagsData {
        let mut flags = MemFlagsData::new().with_notrap();
        if self.input.environment.alias_regions {
            let region = self.b.func.alias_region(cell.class.0);
            flags = flags.with_alias_region(Some(region));
        }
        flags
    }

    pub(super) fn call(&mut self, inst: &Inst) -> Result<()> {
        match (self.emit_call(inst)?, inst.result) {
            (Some(result), Some(_)) => self.define(inst, result),
            (None, Some(_)) => Err(self.malformed("the function has no result")),
            (_, None) => Ok(()),
        }
    }

    /// A call whose null result leaves the trace.
    pub(super) fn try_call(&mut self, inst: &Inst, exit: u32) -> Result<()> {
        let result = self.emit_call(inst)?;
        let (Some(result), false) = (result, self.func(inst)?.result == Some(Type::Float)) else {
            return Err(self.malformed("a call that may fail has a result that can be null"));
        };
        let null = self.b.icmp_imm_s(ir::condcodes::IntCC::Equal, result, 0);
        self.leave_if(null, inst, exit)?;
        match inst.result {
            Some(_) => self.define(inst, result),
            None => Ok(()),
        }
    }

    /// A call in a cold block, which spoils nothing, with the context in the condition's place.
    pub(super) fn mend(&mut self, inst: &Inst) -> Result<()> {
        let func = self.func(inst)?;
        if func.address == 0 {
            return Err(CompileError::UnknownFunction { name: func.name.clone(), inst: self.index });
        }
        let types: Vec<Type> = inst.args.iter().map(|&arg| self.input.trace.ty(arg)).collect();
        if inst.op.arguments_of(&func.params) != Some(types) {
            return Err(self.malformed("the call's arguments are not those of the function"));
        }
        if planted(Bug::LowerMendIgnored) {
            return Ok(());
        }
        let condition = self.operand(inst, 0)?;
        let others = inst.args[1..].iter().map(|&arg| self.value(arg)).collect::<Result<Vec<_>>>()?;
        let (aside, done) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(aside);
        self.b.brif(condition, aside, &[], done, &[]);
        self.b.switch_to_block(aside);
        self.call_aside_of_any(func, &others)?;
        self.b.jump(done, &[]);
        self.b.switch_to_block(done);
        Ok(())
    }

    /// Calls `function(context, others…)`, by the thunk for any function if it can.
    fn call_aside_of_any(&mut self, func: &Func, others: &[Ssa]) -> Result<()> {
        let address = self.iconst(func.address as i64);
        let mut args = vec![self.context()?];
        args.extend_from_slice(others);
        let is_plain = func.params.iter().all(|&ty| ty != Type::Float) && args.len() <= helpers::PASSED;
        let thunk = if is_plain { helpers::any_thunk() } else { None };
        let Some(thunk) = thunk else {
            let mut signature = ir::Signature::new(self.input.environment.call_conv);
            signature.params.extend(func.params.iter().map(|&ty| AbiParam::new(clif_type(ty))));
            let signature = self.b.import_signature(signature);
            self.b.call_indirect(signature, address, &args);
            return Ok(());
        };
        while args.len() < helpers::PASSED {
            args.push(self.iconst(0));
        }
        args.insert(0, address);
        let signature = self.b.import_signature(helpers::any_signature());
        let thunk = self.iconst(thunk as i64);
        self.b.call_indirect(signature, thunk, &args);
        Ok(())
    }

    fn func(&self, inst: &Inst) -> Result<&'a Func> {
        let schema = self.input.schema;
        match inst.payload {
            Payload::Func(func) => {
                schema.funcs().get(func.index()).ok_or_else(|| self.malformed("no such function"))
            }
            _ => Err(self.malformed("a call names no function")),
        }
    }

    fn emit_call(&mut self, inst: &Inst) -> Result<Option<Ssa>> {
        let func = self.func(inst)?;
        if func.address == 0 {
            return Err(CompileError::UnknownFunction { name: func.name.clone(), inst: self.index });
        }
        let types_agree = func.params.len() == inst.args.len()
            && func.params.iter().zip(&inst.args).all(|(&ty, &arg)| self.input.trace.ty(arg) == ty);
        if !types_agree {
            return Err(self.malformed("the call's arguments are not those of the function"));
        }
        let param = |ty: Type| AbiParam::new(clif_type(ty));
        let (params, returns) = (func.params.iter().copied().map(param), func.result.into_iter().map(param));
        let signature = self.b.import_signature_of(self.input.environment.call_conv, params, returns);
        let args = inst.args.iter().map(|&arg| self.value(arg)).collect::<Result<Vec<_>>>()?;
        let address = self.iconst(func.address as i64);
        let call = self.b.call_indirect(signature, address, &args);
        Ok(self.b.func.result(call))
    }
}
