//! Making lowered code: an instruction at a time, each after the last one.
//!
//! Problem: lowering wants one call for each operation, with its operands, that gives the result. Design: the
//! calls are named as Cranelift's instructions. The types of results follow from the operation and from those
//! of operands, or are given. `..._imm_s` and `..._imm_u` make a constant first, for a right operand with
//! sign or without.
//!
//! Invariant: who switches to a block ends it before he switches to another, or has put nothing into it.
//! Example: `let sum = b.iadd_imm_s(x, 8)` makes `v2 = iconst 8; v3 = iadd x, v2` and gives `v3`.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::immediates::Ieee64;
use cranelift_codegen::ir::{
    types, AbiParam, Block, Inst, MemFlagsData, Opcode, SigRef, Signature, SourceLoc, StackSlot, Type, Value,
};
use cranelift_codegen::isa::CallConv;

use super::{BlockNode, Data, Function, List, Node, Origin, Target};

/// A function that is being made, and where.
pub(crate) struct Builder<'f> {
    pub(crate) func: &'f mut Function,
    block: Option<Block>,
    loc: SourceLoc,
}

impl<'f> Builder<'f> {
    pub(crate) fn new(func: &'f mut Function) -> Builder<'f> {
        Builder { func, block: None, loc: SourceLoc::default() }
    }

    pub(crate) fn create_block(&mut self) -> Block {
        self.func.blocks.push(BlockNode::default());
        Block::from_u32(self.func.blocks.len() as u32 - 1)
    }

    /// The block that instructions are added to.
    pub(crate) fn current_block(&self) -> Option<Block> {
        self.block
    }

    /// Adds instructions to this block from now on.
    pub(crate) fn switch_to_block(&mut self, block: Block) {
        debug_assert!(!self.func.is_begun(block), "a block that has its code");
        self.block = Some(block);
    }

    /// The block's code comes after all that runs.
    pub(crate) fn set_cold_block(&mut self, block: Block) {
        self.func.blocks[block.as_u32() as usize].is_cold = true;
    }

    pub(crate) fn block_params(&self, block: Block) -> &[Value] {
        self.func.block_params(block)
    }

    pub(crate) fn append_block_param(&mut self, block: Block, ty: Type) -> Value {
        let param = Value::from_u32(self.func.values.len() as u32);
        self.func.values.push(Origin { ty, inst: None });
        let (lists, params) = (&mut self.func.lists, &mut self.func.blocks[block.as_u32() as usize].params);
        let (start, len) = (params.start as usize, params.len as usize);
        if start + len != lists.len() {
            // Others have been added since: the block's parameters move to the end.
            params.start = lists.len() as u32;
            lists.extend_from_within(start..start + len);
        }
        lists.push(param);
        params.len += 1;
        param
    }

    /// Gives a block the parameters that the function has.
    pub(crate) fn append_block_params_for_function_params(&mut self, block: Block) {
        for at in 0..self.func.signature.params.len() {
            let AbiParam { value_type, .. } = self.func.signature.params[at];
            self.append_block_param(block, value_type);
        }
    }

    /// What instructions are made for from now on.
    pub(crate) fn set_srcloc(&mut self, loc: SourceLoc) {
        self.loc = loc;
    }

    pub(crate) fn srcloc(&self) -> SourceLoc {
        self.loc
    }

    pub(crate) fn import_signature(&mut self, signature: Signature) -> SigRef {
        let Signature { call_conv, params, returns } = signature;
        self.import_signature_of(call_conv, params.iter().copied(), returns.iter().copied())
    }

    /// The signature of these parts. It is made only if the function has none that is equal.
    pub(crate) fn import_signature_of(
        &mut self,
        call_conv: CallConv,
        params: impl Iterator<Item = AbiParam> + Clone,
        returns: impl Iterator<Item = AbiParam> + Clone,
    ) -> SigRef {
        let is_it = |known: &Signature| {
            known.call_conv == call_conv
                && known.params.iter().copied().eq(params.clone())
                && known.returns.iter().copied().eq(returns.clone())
        };
        let known = self.func.signatures.iter().position(is_it);
        SigRef::from_u32(known.unwrap_or_else(|| {
            let mut signature = Signature::new(call_conv);
            signature.params.extend(params);
            signature.returns.extend(returns);
            self.func.signatures.push(signature);
            self.func.signatures.len() - 1
        }) as u32)
    }

    /// A place of so many bytes in the function's frame.
    pub(crate) fn create_stack_slot(&mut self, bytes: u32) -> StackSlot {
        self.func.slots.push(bytes);
        StackSlot::from_u32(self.func.slots.len() as u32 - 1)
    }

    pub(crate) fn value_type(&self, value: Value) -> Type {
        self.func.value_type(value)
    }

    fn list(&mut self, values: &[Value]) -> List {
        let start = self.func.lists.len() as u32;
        self.func.lists.extend_from_slice(values);
        List { start, len: values.len() as u32 }
    }

    fn target(&mut self, block: Block, args: &[Value]) -> Target {
        Target { block, args: if args.is_empty() { List::default() } else { self.list(args) } }
    }

    /// Adds an instruction with so many results. They are to be added by [`Builder::result`] next.
    fn push(&mut self, data: Data, results: u32) -> Inst {
        let number = self.func.nodes.len() as u32;
        let block = self.block.expect("code is made in a block");
        let node = &mut self.func.blocks[block.as_u32() as usize];
        if node.insts.0 == node.insts.1 {
            node.insts = (number, number);
            self.func.order.push(block);
        }
        debug_assert_eq!(node.insts.1, number, "a block's code lies together");
        node.insts.1 = number + 1;
        let first = self.func.values.len() as u32;
        self.func.nodes.push(Node { data, first, results, loc: self.loc });
        Inst::from_u32(number)
    }

    /// Adds a result of the last instruction.
    fn result(&mut self, inst: Inst, ty: Type) -> Value {
        let result = Value::from_u32(self.func.values.len() as u32);
        self.func.values.push(Origin { ty, inst: Some(inst) });
        result
    }

    fn value(&mut self, data: Data, ty: Type) -> Value {
        let inst = self.push(data, 1);
        self.result(inst, ty)
    }
}

/// Operations of one operand with a result of its type.
macro_rules! unary {
    ($($name:ident $opcode:ident),+) => {
        impl Builder<'_> {
            $(pub(crate) fn $name(&mut self, arg: Value) -> Value {
                let ty = self.value_type(arg);
                self.value(Data::Unary { opcode: Opcode::$opcode, arg }, ty)
            })+
        }
    };
}

unary! { ineg Ineg, bnot Bnot, fneg Fneg, fabs Fabs, sqrt Sqrt, floor Floor, ceil Ceil, trunc Trunc }

/// Operations of one operand with a result of another type.
macro_rules! conversions {
    ($($name:ident $opcode:ident),+) => {
        impl Builder<'_> {
            $(pub(crate) fn $name(&mut self, ty: Type, arg: Value) -> Value {
                self.value(Data::Unary { opcode: Opcode::$opcode, arg }, ty)
            })+
        }
    };
}

conversions! {
    uextend Uextend, ireduce Ireduce, bitcast Bitcast, splat Splat, scalar_to_vector ScalarToVector,
    fcvt_from_sint FcvtFromSint, fcvt_to_sint_sat FcvtToSintSat
}

/// Operations of two operands of one type, which is the result's.
macro_rules! binary {
    ($($name:ident $opcode:ident),+) => {
        impl Builder<'_> {
            $(pub(crate) fn $name(&mut self, x: Value, y: Value) -> Value {
                let ty = self.value_type(x);
                self.value(Data::Binary { opcode: Opcode::$opcode, args: [x, y] }, ty)
            })+
        }
    };
}

binary! {
    iadd Iadd, isub Isub, imul Imul, smulhi Smulhi, sdiv Sdiv, udiv Udiv, urem Urem, band Band, bor Bor,
    bxor Bxor, ishl Ishl, sshr Sshr, ushr Ushr, fadd Fadd, fsub Fsub, fmul Fmul, fdiv Fdiv
}

/// The same with a constant on the right.
macro_rules! with_constant {
    ($($name:ident $operation:ident),+) => {
        impl Builder<'_> {
            $(pub(crate) fn $name(&mut self, x: Value, y: i64) -> Value {
                let ty = self.value_type(x);
                let y = self.iconst(ty, y);
                self.$operation(x, y)
            })+
        }
    };
}

with_constant! {
    iadd_imm_s iadd, imul_imm_s imul, band_imm_s band, ishl_imm_u ishl, sshr_imm_u sshr, ushr_imm_u ushr
}

/// Operations with a second result, which says whether the first one overflows.
macro_rules! overflowing {
    ($($name:ident $opcode:ident),+) => {
        impl Builder<'_> {
            $(pub(crate) fn $name(&mut self, x: Value, y: Value) -> (Value, Value) {
                let ty = self.value_type(x);
                let inst = self.push(Data::Binary { opcode: Opcode::$opcode, args: [x, y] }, 2);
                (self.result(inst, ty), self.result(inst, types::I8))
            })+
        }
    };
}

overflowing! { sadd_overflow SaddOverflow, ssub_overflow SsubOverflow, smul_overflow SmulOverflow }

/// Loads of fewer bytes than the result has.
macro_rules! narrow_loads {
    ($($name:ident $opcode:ident),+) => {
        impl Builder<'_> {
            $(pub(crate) fn $name(&mut self, ty: Type, flags: MemFlagsData, arg: Value, offset: i32) -> Value {
                self.value(Data::Load { opcode: Opcode::$opcode, flags, arg, offset }, ty)
            })+
        }
    };
}

narrow_loads! {
    load Load, uload8 Uload8, sload8 Sload8, uload16 Uload16, sload16 Sload16, uload32 Uload32,
    sload32 Sload32
}

/// Stores, of a value or of its lower part.
macro_rules! stores {
    ($($name:ident $opcode:ident),+) => {
        impl Builder<'_> {
            $(pub(crate) fn $name(&mut self, flags: MemFlagsData, value: Value, address: Value, offset: i32) {
                let args = [value, address];
                self.push(Data::Store { opcode: Opcode::$opcode, flags, args, offset }, 0);
            })+
        }
    };
}

stores! { store Store, istore8 Istore8, istore16 Istore16, istore32 Istore32 }

impl Builder<'_> {
    pub(crate) fn iconst(&mut self, ty: Type, bits: i64) -> Value {
        // As Cranelift has them: without sign.
        let bits = if ty != types::I64 && ty.bits() < 64 { bits & ((1 << ty.bits()) - 1) } else { bits };
        self.value(Data::Int { bits }, ty)
    }

    pub(crate) fn f64const(&mut self, number: Ieee64) -> Value {
        self.value(Data::Float { bits: number.bits() }, types::F64)
    }

    /// Scalars compare to a byte, vectors to a mask.
    fn truth(&self, arg: Value) -> Type {
        self.value_type(arg).as_truthy()
    }

    pub(crate) fn icmp(&mut self, cond: IntCC, x: Value, y: Value) -> Value {
        let ty = self.truth(x);
        self.value(Data::IntCompare { cond, args: [x, y] }, ty)
    }

    pub(crate) fn icmp_imm_s(&mut self, cond: IntCC, x: Value, y: i64) -> Value {
        let ty = self.value_type(x);
        let y = self.iconst(ty, y);
        self.icmp(cond, x, y)
    }

    pub(crate) fn fcmp(&mut self, cond: FloatCC, x: Value, y: Value) -> Value {
        let ty = self.truth(x);
        self.value(Data::FloatCompare { cond, args: [x, y] }, ty)
    }

    fn ternary(&mut self, opcode: Opcode, args: [Value; 3], ty: Type) -> Value {
        self.value(Data::Ternary { opcode, args }, ty)
    }

    pub(crate) fn select(&mut self, condition: Value, x: Value, y: Value) -> Value {
        let ty = self.value_type(x);
        self.ternary(Opcode::Select, [condition, x, y], ty)
    }

    pub(crate) fn bitselect(&mut self, mask: Value, x: Value, y: Value) -> Value {
        let ty = self.value_type(x);
        self.ternary(Opcode::Bitselect, [mask, x, y], ty)
    }

    pub(crate) fn fma(&mut self, x: Value, y: Value, z: Value) -> Value {
        let ty = self.value_type(x);
        self.ternary(Opcode::Fma, [x, y, z], ty)
    }

    /// The first lane of a vector.
    pub(crate) fn first_lane(&mut self, arg: Value) -> Value {
        let ty = self.value_type(arg).lane_type();
        self.value(Data::Unary { opcode: Opcode::Extractlane, arg }, ty)
    }

    pub(crate) fn sequence_point(&mut self) {
        self.push(Data::Nullary { opcode: Opcode::SequencePoint }, 0);
    }

    pub(crate) fn stack_addr(&mut self, ty: Type, slot: StackSlot) -> Value {
        self.value(Data::StackAddr { slot }, ty)
    }

    pub(crate) fn jump(&mut self, block: Block, args: &[Value]) {
        let target = self.target(block, args);
        self.push(Data::Jump { target }, 0);
    }

    pub(crate) fn brif(&mut self, arg: Value, yes: Block, given: &[Value], no: Block, else_given: &[Value]) {
        let targets = [self.target(yes, given), self.target(no, else_given)];
        self.push(Data::Brif { arg, targets }, 0);
    }

    pub(crate) fn return_(&mut self, args: &[Value]) {
        let args = self.list(args);
        self.push(Data::Return { args }, 0);
    }

    fn callee_and(&mut self, callee: Value, args: &[Value]) -> List {
        let start = self.func.lists.len() as u32;
        self.func.lists.push(callee);
        self.func.lists.extend_from_slice(args);
        List { start, len: 1 + args.len() as u32 }
    }

    pub(crate) fn call_indirect(&mut self, signature: SigRef, callee: Value, args: &[Value]) -> Inst {
        let args = self.callee_and(callee, args);
        let count = self.func.signature_of(signature).returns.len();
        let inst = self.push(Data::Call { opcode: Opcode::CallIndirect, signature, args }, count as u32);
        for at in 0..count {
            let ty = self.func.signature_of(signature).returns[at].value_type;
            self.result(inst, ty);
        }
        inst
    }

    pub(crate) fn return_call_indirect(&mut self, signature: SigRef, callee: Value, args: &[Value]) {
        let args = self.callee_and(callee, args);
        self.push(Data::Call { opcode: Opcode::ReturnCallIndirect, signature, args }, 0);
    }
}
