//! Lowered code: what lowering makes, and what both makers of machine code begin with.
//!
//! Problem: to build a function of Cranelift's took a fifth of compiling, and to read it was slow too: it is
//! made to be changed, as a list of instructions with links, tables by number and pools of operands. Traces
//! are lowered in one pass and then only read. Design: a [`Function`] has its instructions one after another
//! as they were made. Values are numbered as they are defined, so that an instruction's results are a range.
//! Operands of no fixed number lie in one list. Operations, types and entities are Cranelift's, with their
//! meaning. `build.rs` makes it; quick code is made of it as it is; for Cranelift it is told once more
//! (`clif.rs`).
//!
//! Invariants: a block's instructions lie together, its last one ends it, and nothing is changed any more.
//! The buffers are used again and again. Example: `v2 = iadd v0, v1` is one `Node` with `Data::Binary`, its
//! first result 2 and one result.

mod build;
mod clif;
#[cfg(test)]
mod tests;

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{
    AliasRegion, Block, Inst, MemFlagsData, Opcode, SigRef, Signature, SourceLoc, StackSlot, Type, Value,
};

pub(crate) use build::Builder;

/// Values that lie together in the function's list.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct List {
    start: u32,
    len: u32,
}

/// Where a jump leads, and what it passes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Target {
    pub block: Block,
    pub args: List,
}

/// An instruction, by its form.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Data {
    Nullary {
        opcode: Opcode,
    },
    Unary {
        opcode: Opcode,
        arg: Value,
    },
    /// A constant.
    Int {
        bits: i64,
    },
    Float {
        bits: u64,
    },
    Binary {
        opcode: Opcode,
        args: [Value; 2],
    },
    Ternary {
        opcode: Opcode,
        args: [Value; 3],
    },
    IntCompare {
        cond: IntCC,
        args: [Value; 2],
    },
    FloatCompare {
        cond: FloatCC,
        args: [Value; 2],
    },
    Load {
        opcode: Opcode,
        flags: MemFlagsData,
        arg: Value,
        offset: i32,
    },
    /// What is stored, and where.
    Store {
        opcode: Opcode,
        flags: MemFlagsData,
        args: [Value; 2],
        offset: i32,
    },
    StackAddr {
        slot: StackSlot,
    },
    Jump {
        target: Target,
    },
    Brif {
        arg: Value,
        targets: [Target; 2],
    },
    /// The first of these is the function.
    Call {
        opcode: Opcode,
        signature: SigRef,
        args: List,
    },
    Return {
        args: List,
    },
}

impl Data {
    /// The operation.
    pub(crate) fn opcode(&self) -> Opcode {
        match *self {
            Data::Nullary { opcode }
            | Data::Unary { opcode, .. }
            | Data::Binary { opcode, .. }
            | Data::Ternary { opcode, .. }
            | Data::Load { opcode, .. }
            | Data::Store { opcode, .. }
            | Data::Call { opcode, .. } => opcode,
            Data::Int { .. } => Opcode::Iconst,
            Data::Float { .. } => Opcode::F64const,
            Data::IntCompare { .. } => Opcode::Icmp,
            Data::FloatCompare { .. } => Opcode::Fcmp,
            Data::StackAddr { .. } => Opcode::StackAddr,
            Data::Jump { .. } => Opcode::Jump,
            Data::Brif { .. } => Opcode::Brif,
            Data::Return { .. } => Opcode::Return,
        }
    }

    /// Whether it is a block's last instruction.
    fn ends_block(&self) -> bool {
        match self {
            Data::Jump { .. } | Data::Brif { .. } | Data::Return { .. } => true,
            Data::Call { opcode, .. } => *opcode == Opcode::ReturnCallIndirect,
            _ => false,
        }
    }
}

/// An instruction in its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub(crate) data: Data,
    /// The number of its first result, and how many it has.
    first: u32,
    results: u32,
    pub(crate) loc: SourceLoc,
}

impl Node {
    pub(crate) fn results(&self) -> impl ExactSizeIterator<Item = Value> {
        (self.first..self.first + self.results).map(Value::from_u32)
    }

    /// Its first result, if it has any.
    pub(crate) fn result(&self) -> Option<Value> {
        (self.results > 0).then(|| Value::from_u32(self.first))
    }

    /// The same of one that has some.
    pub(crate) fn first(&self) -> Value {
        debug_assert!(self.results > 0);
        Value::from_u32(self.first)
    }

    /// Where it leads.
    pub(crate) fn targets(&self) -> &[Target] {
        match &self.data {
            Data::Jump { target } => std::slice::from_ref(target),
            Data::Brif { targets, .. } => targets,
            _ => &[],
        }
    }
}

/// A value: its type, and the instruction that defines it, unless it is a block's parameter.
#[derive(Clone, Copy, Debug)]
struct Origin {
    ty: Type,
    inst: Option<Inst>,
}

#[derive(Clone, Copy, Debug, Default)]
struct BlockNode {
    params: List,
    /// Its instructions: the first one's number, and the one after the last one's.
    insts: (u32, u32),
    is_cold: bool,
}

/// See the file's top.
pub(crate) struct Function {
    pub(crate) signature: Signature,
    signatures: Vec<Signature>,
    /// Bytes of the stack slots; each is aligned to 8.
    slots: Vec<u32>,
    /// What alias regions stand for.
    regions: Vec<u32>,
    nodes: Vec<Node>,
    values: Vec<Origin>,
    lists: Vec<Value>,
    blocks: Vec<BlockNode>,
    /// Blocks in the order of their code.
    order: Vec<Block>,
}

impl Function {
    pub(crate) fn new(signature: Signature) -> Function {
        Function {
            signature,
            signatures: Vec::new(),
            slots: Vec::new(),
            regions: Vec::new(),
            nodes: Vec::new(),
            values: Vec::new(),
            lists: Vec::new(),
            blocks: Vec::new(),
            order: Vec::new(),
        }
    }

    /// Forgets all, for another function with this signature.
    pub(crate) fn begin(&mut self, signature: Signature) {
        self.signature = signature;
        self.signatures.clear();
        self.slots.clear();
        self.regions.clear();
        self.nodes.clear();
        self.values.clear();
        self.lists.clear();
        self.blocks.clear();
        self.order.clear();
    }

    pub(crate) fn num_blocks(&self) -> usize {
        self.blocks.len()
    }

    pub(crate) fn num_values(&self) -> usize {
        self.values.len()
    }

    pub(crate) fn num_insts(&self) -> usize {
        self.nodes.len()
    }

    /// Blocks with code, in its order.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = Block> + '_ {
        self.order.iter().copied()
    }

    pub(crate) fn is_cold(&self, block: Block) -> bool {
        self.block(block).is_cold
    }

    fn block(&self, block: Block) -> &BlockNode {
        &self.blocks[block.as_u32() as usize]
    }

    pub(crate) fn node(&self, inst: Inst) -> &Node {
        &self.nodes[inst.as_u32() as usize]
    }

    /// The values of a list.
    pub(crate) fn list(&self, list: List) -> &[Value] {
        &self.lists[list.start as usize..(list.start + list.len) as usize]
    }

    pub(crate) fn block_params(&self, block: Block) -> &[Value] {
        self.list(self.block(block).params)
    }

    pub(crate) fn block_insts(&self, block: Block) -> impl Iterator<Item = Inst> {
        let (first, end) = self.block(block).insts;
        (first..end).map(Inst::from_u32)
    }

    /// A block's instructions, as they are.
    pub(crate) fn block_nodes(&self, block: Block) -> &[Node] {
        let (first, end) = self.block(block).insts;
        &self.nodes[first as usize..end as usize]
    }

    /// Whether a block has instructions.
    pub(crate) fn is_begun(&self, block: Block) -> bool {
        let (first, end) = self.block(block).insts;
        first < end
    }

    pub(crate) fn first_inst(&self, block: Block) -> Inst {
        Inst::from_u32(self.block(block).insts.0)
    }

    /// Where a block leads at its end.
    pub(crate) fn ways_from(&self, block: Block) -> &[Target] {
        self.block_nodes(block).last().map_or(&[], Node::targets)
    }

    pub(crate) fn data(&self, inst: Inst) -> Data {
        self.node(inst).data
    }

    /// What the instruction is made for.
    pub(crate) fn srcloc(&self, inst: Inst) -> SourceLoc {
        self.node(inst).loc
    }

    /// An instruction's operands, but for what jumps pass.
    pub(crate) fn inst_args(&self, inst: Inst) -> &[Value] {
        self.args_of(self.node(inst))
    }

    pub(crate) fn args_of<'n>(&'n self, node: &'n Node) -> &'n [Value] {
        match &node.data {
            Data::Unary { arg, .. } | Data::Load { arg, .. } | Data::Brif { arg, .. } => {
                std::slice::from_ref(arg)
            }
            Data::Binary { args, .. }
            | Data::IntCompare { args, .. }
            | Data::FloatCompare { args, .. }
            | Data::Store { args, .. } => args,
            Data::Ternary { args, .. } => args,
            Data::Call { args, .. } | Data::Return { args } => self.list(*args),
            Data::Nullary { .. }
            | Data::Int { .. }
            | Data::Float { .. }
            | Data::StackAddr { .. }
            | Data::Jump { .. } => &[],
        }
    }

    pub(crate) fn inst_results(&self, inst: Inst) -> impl ExactSizeIterator<Item = Value> {
        self.node(inst).results()
    }

    /// An instruction's first result, if it has any.
    pub(crate) fn result(&self, inst: Inst) -> Option<Value> {
        self.node(inst).result()
    }

    /// The first result of an instruction that has some.
    pub(crate) fn first_result(&self, inst: Inst) -> Value {
        self.node(inst).first()
    }

    pub(crate) fn value_type(&self, value: Value) -> Type {
        self.values[value.as_u32() as usize].ty
    }

    /// The instruction that defines a value, unless it is a parameter.
    pub(crate) fn inst_of(&self, value: Value) -> Option<Inst> {
        self.values[value.as_u32() as usize].inst
    }

    /// The instruction after another one in its block.
    pub(crate) fn next_inst(&self, inst: Inst) -> Option<Inst> {
        let next = Inst::from_u32(inst.as_u32() + 1);
        ((next.as_u32() as usize) < self.nodes.len() && !self.data(inst).ends_block()).then_some(next)
    }

    /// The instruction before another one in its block.
    pub(crate) fn prev_inst(&self, inst: Inst) -> Option<Inst> {
        let before = inst.as_u32().checked_sub(1).map(Inst::from_u32)?;
        (!self.data(before).ends_block()).then_some(before)
    }

    pub(crate) fn signature_of(&self, signature: SigRef) -> &Signature {
        &self.signatures[signature.as_u32() as usize]
    }

    /// Bytes of a stack slot.
    pub(crate) fn slot_bytes(&self, slot: StackSlot) -> u32 {
        self.slots[slot.as_u32() as usize]
    }

    /// The alias region that stands for this class.
    pub(crate) fn alias_region(&mut self, class: u32) -> AliasRegion {
        let at = self.regions.iter().position(|&region| region == class).unwrap_or_else(|| {
            self.regions.push(class);
            self.regions.len() - 1
        });
        AliasRegion::from_u32(at as u32)
    }
}
