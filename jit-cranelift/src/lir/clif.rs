//! Lowered code told to Cranelift.
//!
//! Problem: where there is no quick code, or code is worth more, Cranelift makes it, and wants a function of
//! its own. Design: each instruction is added in its order, by its form. What controls the types of an
//! instruction's results, in Cranelift's terms, is the result's type or an operand's.
//!
//! Invariant: values have the numbers that they have in lowered code, so that nothing is looked up. Example:
//! `Data::Unary { opcode: Uextend, .. }` with a result of type `i64` is `v5 = uextend.i64 v4`.

use std::borrow::Cow;

use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::ir::immediates::{Ieee64, Imm64};
use cranelift_codegen::ir::{
    self, types, AliasRegionData, Block, BlockArg, BlockCall, Endianness, Inst, InstBuilder, MemFlags,
    MemFlagsData, Opcode, StackSlotData, StackSlotKind, Type, Value, ValueList,
};

use super::{Data, Function, Target};

impl Function {
    /// Tells an empty function of Cranelift's what this one does.
    pub(crate) fn tell(&self, func: &mut ir::Function) {
        func.signature = self.signature.clone();
        // Else each instruction makes it longer by one.
        func.srclocs.resize(self.nodes.len());
        for signature in &self.signatures {
            func.import_signature(signature.clone());
        }
        for &bytes in &self.slots {
            func.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 3));
        }
        for &class in &self.regions {
            let description = Cow::from("alias class");
            func.dfg.alias_regions.insert(AliasRegionData { user_id: class, description });
        }
        let mut homes = vec![None; self.values.len()];
        for at in 0..self.blocks.len() {
            let block = func.dfg.make_block();
            debug_assert_eq!(block.as_u32() as usize, at);
            self.block_params(block).iter().for_each(|param| homes[param.as_u32() as usize] = Some(block));
        }
        let mut known = 0;
        let mut pos = FuncCursor::new(func);
        for &block in &self.order {
            pos.insert_block(block);
            if self.is_cold(block) {
                pos.func.layout.set_cold(block);
            }
            for inst in self.block_insts(block) {
                self.add_params(pos.func, &homes, &mut known, self.node(inst).first);
                pos.set_srcloc(self.srcloc(inst));
                let made = self.add(&mut pos, inst);
                debug_assert!(self.inst_results(inst).eq(pos.func.dfg.inst_results(made).iter().copied()));
                known += self.node(inst).results;
            }
        }
        self.add_params(pos.func, &homes, &mut known, self.values.len() as u32);
    }

    /// Adds the parameters whose numbers are less than that.
    fn add_params(&self, func: &mut ir::Function, homes: &[Option<Block>], known: &mut u32, end: u32) {
        while *known < end {
            let Some(block) = homes[*known as usize] else { break };
            func.dfg.append_block_param(block, self.value_type(Value::from_u32(*known)));
            *known += 1;
        }
    }

    fn add(&self, pos: &mut FuncCursor<'_>, inst: Inst) -> Inst {
        let result = self.result(inst).map_or(types::INVALID, |result| self.value_type(result));
        let data = self.data(inst);
        let opcode = data.opcode();
        match data {
            Data::Nullary { .. } => pos.ins().NullAry(opcode, types::INVALID).0,
            Data::Unary { arg, .. } => self.add_unary(pos, opcode, result, arg),
            Data::Int { bits } => pos.ins().UnaryImm(opcode, result, Imm64::new(bits)).0,
            Data::Float { bits } => pos.ins().UnaryIeee64(opcode, types::INVALID, Ieee64::with_bits(bits)).0,
            Data::Binary { args: [x, y], .. } => pos.ins().Binary(opcode, self.value_type(x), x, y).0,
            Data::Ternary { args: [x, y, z], .. } => pos.ins().Ternary(opcode, result, x, y, z).0,
            Data::IntCompare { cond, args: [x, y] } => {
                pos.ins().IntCompare(opcode, self.value_type(x), cond, x, y).0
            }
            Data::FloatCompare { cond, args: [x, y] } => {
                pos.ins().FloatCompare(opcode, self.value_type(x), cond, x, y).0
            }
            Data::Load { flags, arg, offset, .. } => {
                let ty = match opcode {
                    Opcode::Uload32 | Opcode::Sload32 => self.value_type(arg),
                    _ => result,
                };
                let flags = known_flags(pos, flags);
                pos.ins().Load(opcode, ty, flags, offset.into(), arg).0
            }
            Data::Store { flags, args: [value, address], offset, .. } => {
                let flags = known_flags(pos, flags);
                pos.ins().Store(opcode, self.value_type(value), flags, offset.into(), value, address).0
            }
            Data::StackAddr { slot } => pos.ins().StackAddr(opcode, result, slot, 0.into()).0,
            Data::Jump { target } => {
                let target = self.block_call(pos, target);
                pos.ins().Jump(opcode, types::INVALID, target).0
            }
            Data::Brif { arg, targets } => {
                let [yes, no] = targets.map(|target| self.block_call(pos, target));
                pos.ins().Brif(opcode, self.value_type(arg), yes, no, arg).0
            }
            Data::Call { signature, args, .. } => {
                let ty = self.value_type(self.list(args)[0]);
                let args = ValueList::from_slice(self.list(args), &mut pos.func.dfg.value_lists);
                pos.ins().CallIndirect(opcode, ty, signature, args).0
            }
            Data::Return { args } => {
                let args = ValueList::from_slice(self.list(args), &mut pos.func.dfg.value_lists);
                pos.ins().MultiAry(opcode, types::INVALID, args).0
            }
        }
    }

    fn add_unary(&self, pos: &mut FuncCursor<'_>, opcode: Opcode, result: Type, arg: Value) -> Inst {
        match opcode {
            Opcode::Bitcast => {
                let flags = match result.is_vector() {
                    true => MemFlagsData::new().with_endianness(Endianness::Little),
                    false => MemFlagsData::new(),
                };
                let flags = known_flags(pos, flags);
                pos.ins().LoadNoOffset(opcode, result, flags, arg).0
            }
            Opcode::Extractlane => pos.ins().BinaryImm8(opcode, self.value_type(arg), 0, arg).0,
            _ => pos.ins().Unary(opcode, result, arg).0,
        }
    }

    fn block_call(&self, pos: &mut FuncCursor<'_>, target: Target) -> BlockCall {
        let args = self.list(target.args).iter().map(|&arg| BlockArg::Value(arg));
        BlockCall::new(target.block, args, &mut pos.func.dfg.value_lists)
    }
}

fn known_flags(pos: &mut FuncCursor<'_>, flags: MemFlagsData) -> MemFlags {
    pos.func.dfg.mem_flags.insert(flags).expect("a function has few kinds of accesses")
}
