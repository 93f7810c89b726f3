//! The pass: instructions one by one, and the registers that they get.
//!
//! Problem: each instruction wants its operands in registers and a register for its result, which is best the
//! one of an operand that nobody wants any more. Design: while an instruction is made the registers that it
//! uses are *busy*, and nothing moves them away. A constant is part of the instruction, or in the scratch
//! register, which the next instruction may find as it was. What dies leaves its register at the end.
//!
//! Invariant: moves, loads and stores are all that getting a register makes, so the flags stay. Example:
//! `v2 = bxor v0, v1` with `v0` in its slot is `mov rax, [rbp-0x30]; xor rax, rcx`.

use crate::lir::{Data, Function, Node};
use cranelift_codegen::ir::{types, Block, Inst, Opcode, SourceLoc, Value};
use cranelift_codegen::{Final, MachSrcLoc};
use tracelift_core::planted::{planted, Bug};

use super::asm::{Asm, Label, Op, Reg, FLOAT_SCRATCH, SCRATCH};
use super::moves::{self, Move, Source};
use super::places::{choose, slot_mem, Place, Places, Wish, FLOATS, INTS};
use super::plan::{is_double, Kind, Plan};
use super::{Code, Features, Result, Unsupported};
use crate::listing::location;

/// Where values are when a block begins.
#[derive(Clone, Copy, Debug)]
pub(super) enum Entry {
    /// Where the code before it has left them. No other code leads there.
    AsItIs,
    /// Where these say.
    In(Parts),
}

/// The places of a block's values and parameters: ranges of the lists of [`Held`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts {
    pub(super) values: (u32, u32),
    pub(super) params: (u32, u32),
}

/// What entries say: buffers, used again and again, as a trace has as many blocks as guards, twice.
#[derive(Default)]
pub(super) struct Held {
    /// Values, their registers, and whether they are in their slots.
    pub(super) values: Vec<(Value, Option<Reg>, bool)>,
    pub(super) params: Vec<Place>,
    entries: Vec<Option<Entry>>,
    /// The moves to each of a branch's targets.
    moves: [Vec<Move>; 2],
}

impl Held {
    /// Forgets all; so many blocks are to come.
    pub(super) fn reset(&mut self, blocks: usize) {
        self.values.clear();
        self.params.clear();
        self.entries.clear();
        self.entries.resize(blocks, None);
    }

    pub(super) fn entry(&self, block: Block) -> Option<Entry> {
        self.entries[block.as_u32() as usize]
    }

    pub(super) fn set_entry(&mut self, block: Block, entry: Entry) {
        self.entries[block.as_u32() as usize] = Some(entry);
    }

    /// The entry of what was added after so many values and parameters.
    pub(super) fn since(&self, (values, params): (usize, usize)) -> Parts {
        Parts {
            values: (values as u32, self.values.len() as u32),
            params: (params as u32, self.params.len() as u32),
        }
    }

    pub(super) fn len(&self) -> (usize, usize) {
        (self.values.len(), self.params.len())
    }

    /// The values of an entry.
    pub(super) fn values_of(&self, parts: Parts) -> &[(Value, Option<Reg>, bool)] {
        &self.values[parts.values.0 as usize..parts.values.1 as usize]
    }

    /// The parameters' places of an entry.
    pub(super) fn params_of(&self, parts: Parts) -> &[Place] {
        &self.params[parts.params.0 as usize..parts.params.1 as usize]
    }

    /// A buffer for moves, which comes back by [`Held::keep`].
    pub(super) fn moves(&mut self, at: usize) -> Vec<Move> {
        let mut moves = std::mem::take(&mut self.moves[at]);
        moves.clear();
        moves
    }

    pub(super) fn keep(&mut self, at: usize, moves: Vec<Move>) {
        self.moves[at] = moves;
    }
}

/// The state of the scratch register.
#[derive(Clone, Copy, Default)]
pub(super) struct Scratch {
    /// The constant that it holds.
    pub(super) holds: Option<i64>,
    /// Whether the instruction at hand needs what is in it, and the same of that for doubles.
    pub(super) is_busy: bool,
    pub(super) is_float_busy: bool,
}

/// Moves on the way to a block that are made apart from the code that leads there.
pub(super) struct Edge {
    pub(super) label: Label,
    pub(super) moves: Vec<Move>,
    pub(super) to: Label,
}

/// The pass. So many fields: code, the state of the machine, and where in the function it is, which the code
/// of each instruction needs together.
pub(super) struct Emit<'f> {
    pub(super) func: &'f Function,
    pub(super) plan: &'f Plan,
    pub(super) features: Features,
    pub(super) asm: &'f mut Asm,
    pub(super) places: &'f mut Places,
    /// Where values are when blocks begin.
    pub(super) held: &'f mut Held,
    /// The number of the instruction at hand, and of the one after the block's last.
    pub(super) number: u32,
    pub(super) end: u32,
    pub(super) block: Block,
    /// The block whose code comes next, and whether the code before this block goes on here without a jump.
    pub(super) next: Option<Block>,
    pub(super) is_fallen_into: bool,
    pub(super) falls: bool,
    /// Registers that the instruction at hand uses.
    pub(super) busy: u32,
    pub(super) scratch: Scratch,
    /// The value whose being zero the flags tell.
    pub(super) flags: Option<Value>,
    /// Registers that were written so far.
    pub(super) used: u32,
    /// Whether those that functions preserve are to be restored at the end.
    pub(super) preserves: bool,
    pub(super) edges: Vec<Edge>,
    /// Where registers are restored.
    pub(super) epilogues: Vec<usize>,
    /// Where the frame has been left.
    pub(super) left: Vec<(u32, u32)>,
    pub(super) marks: Vec<MachSrcLoc<Final>>,
    /// By the function's own stack slots: the first slot of the frame that is theirs.
    pub(super) regions: Vec<Option<u32>>,
}

/// Where loops begin: what the processor fetches at once.
pub(super) const LOOP_ALIGNMENT: usize = 32;

impl<'f> Emit<'f> {
    /// The pass over a function, before it begins.
    pub(super) fn new(
        func: &'f Function,
        features: Features,
        plan: &'f Plan,
        asm: &'f mut Asm,
        places: &'f mut Places,
        held: &'f mut Held,
    ) -> Emit<'f> {
        held.reset(func.num_blocks());
        Emit {
            func,
            plan,
            features,
            asm,
            places,
            held,
            number: 0,
            end: 0,
            block: Block::from_u32(0),
            next: None,
            is_fallen_into: false,
            falls: false,
            busy: 0,
            scratch: Scratch::default(),
            flags: None,
            used: 0,
            preserves: true,
            edges: Vec::new(),
            epilogues: Vec::new(),
            left: Vec::new(),
            marks: Vec::with_capacity(func.num_insts()),
            regions: Vec::new(),
        }
    }
}

impl Emit<'_> {
    /// Makes all code.
    pub(super) fn all(mut self) -> Result<Code> {
        let mut waiting: Vec<Block> = self.plan.order.clone();
        let Some(&first) = waiting.first() else { return Err(Unsupported("no code")) };
        let entry = self.arguments(first)?;
        self.held.set_entry(first, Entry::In(entry));
        // Blocks that nothing has led to yet wait for another round.
        loop {
            let mut later = Vec::new();
            for at in 0..waiting.len() {
                let block = waiting[at];
                match self.held.entry(block) {
                    Some(entry) => {
                        self.next = waiting.get(at + 1).copied();
                        self.block(block, entry)?;
                    }
                    None => later.push(block),
                }
            }
            if later.len() == waiting.len() || later.is_empty() {
                break;
            }
            waiting = later;
        }
        for Edge { label, mut moves, to } in std::mem::take(&mut self.edges) {
            let from = self.asm.position();
            self.asm.place(label);
            moves::make(self.asm, &mut moves);
            self.asm.jump(to);
            self.mark(SourceLoc::new(location::RETURN), from);
        }
        self.finish()
    }

    /// Makes a block's code, which begins with its values in these places.
    pub(super) fn block(&mut self, block: Block, entry: Entry) -> Result<()> {
        self.block = block;
        self.is_fallen_into = std::mem::take(&mut self.falls);
        let (start, end) = self.plan.span(block);
        (self.number, self.end) = (start, end);
        self.flags = None;
        self.scratch = Scratch::default();
        match entry {
            Entry::AsItIs => {
                self.places.retain(u32::MAX, |value| self.plan.live.is_at_start(block, value));
            }
            Entry::In(parts) => self.resume(block, parts),
        }
        let label = Label::of_block(block);
        if self.plan.ways(block).is_some() {
            self.asm.align(LOOP_ALIGNMENT);
        }
        self.asm.place(label);
        let func = self.func;
        for (inst, node) in func.block_insts(block).zip(func.block_nodes(block)) {
            // What is a constant, or folded into another one, is no code.
            if node.result().is_none_or(|first| self.plan.kind(first) == Kind::Plain) {
                let from = self.asm.position();
                self.inst(inst, node)?;
                self.mark(node.loc, from);
            }
            self.number += 1;
        }
        Ok(())
    }

    /// Values are where a block has them when it begins.
    fn resume(&mut self, block: Block, parts: Parts) {
        self.places.retain(u32::MAX, |_| false);
        for &(value, reg, is_stored) in self.held.values_of(parts) {
            self.places.set_stored(value, is_stored);
            if let Some(reg) = reg {
                self.places.put(value, reg);
            }
        }
        for (&param, place) in self.func.block_params(block).iter().zip(self.held.params_of(parts)) {
            self.places.set_stored(param, matches!(place, Place::Slot(_)));
            if let &Place::Reg(reg) = place {
                self.places.put(param, reg);
            }
        }
    }

    /// Notes what code is for.
    pub(super) fn mark(&mut self, loc: SourceLoc, from: u32) {
        let to = self.asm.position();
        match self.marks.last_mut() {
            _ if from == to => {}
            Some(last) if last.loc == loc && last.end == from && !location::is_prefetch(loc.bits()) => {
                last.end = to;
            }
            _ => self.marks.push(MachSrcLoc { start: from, end: to, loc }),
        }
    }

    /// Makes an instruction.
    fn inst(&mut self, inst: Inst, node: &Node) -> Result<()> {
        (self.busy, self.scratch.is_busy, self.scratch.is_float_busy) = (0, false, false);
        let flags = self.flags.take();
        match node.data {
            Data::Brif { arg, targets } => {
                self.flags = flags;
                return self.branch(arg, targets);
            }
            Data::Jump { target } => return self.jump(target),
            Data::Return { .. } => return self.give_back(inst),
            Data::Call { opcode: Opcode::CallIndirect, signature, .. } => {
                return self.call(inst, signature);
            }
            Data::Call { signature, .. } => {
                return self.tail_call(inst, signature);
            }
            Data::Load { opcode, arg, offset, .. } => self.load(inst, opcode, arg, offset)?,
            Data::Store { opcode, args, offset, .. } => self.store(opcode, args[0], args[1], offset)?,
            Data::Nullary { .. } => {}
            Data::StackAddr { slot } => self.stack_addr(inst, slot)?,
            _ if node.results().all(|result| self.plan.is_unused(result)) => {}
            Data::Ternary { opcode: Opcode::Select, args } => self.select(inst, args)?,
            Data::IntCompare { .. } | Data::FloatCompare { .. } => self.compare(inst)?,
            data if self.has_double(node) => self.double(inst, data.opcode())?,
            data => self.int(inst, data.opcode())?,
        }
        self.release(node);
        Ok(())
    }

    /// Whether an instruction's first result or operand is a double.
    fn has_double(&self, node: &Node) -> bool {
        let mut first = node.result().into_iter().chain(self.func.args_of(node).first().copied());
        first.any(|value| is_double(self.func, value))
    }

    /// Whether a value is not wanted after the instruction at hand.
    pub(super) fn dies(&self, value: Value) -> bool {
        let plan = self.plan;
        // Most values are used in one block only, and die with their last use.
        if plan.live.is_narrow(value) {
            return plan.last_use(value).is_none_or(|last| last <= self.number);
        }
        let is_live_out = plan.live.is_at_end(self.block, value) && !planted(Bug::QuickDiesInBlock);
        !is_live_out && plan.next_use(value, self.number).is_none_or(|next| next >= self.end)
    }

    /// After an instruction: its operands and results that nobody wants any more leave their registers.
    pub(super) fn release(&mut self, node: &Node) {
        let plan = self.plan;
        plan.each_use(self.func, node, &mut |value| self.release_dying(value));
        node.results().for_each(|result| self.release_dying(result));
    }

    fn release_dying(&mut self, value: Value) {
        if self.places.reg(value).is_some() && self.dies(value) {
            self.places.take(value);
        }
    }

    /// Makes a register free that this instruction does not use.
    pub(super) fn alloc(&mut self, is_float: bool, wish: Wish) -> Result<Reg> {
        let all = if is_float { FLOATS } else { INTS };
        let reg = match choose(all & !self.places.held & !self.busy, wish) {
            Some(reg) => reg,
            None => self.evict(all & !self.busy)?,
        };
        self.busy |= reg.bit();
        self.used |= reg.bit();
        Ok(reg)
    }

    /// Frees the register of these whose value is wanted last.
    pub(super) fn evict(&mut self, set: u32) -> Result<Reg> {
        let farthest = (self.places.held_in(set))
            .max_by_key(|&(_, value)| self.plan.next_use(value, self.number).unwrap_or(u32::MAX));
        let (reg, value) = farthest.ok_or(Unsupported("too few registers"))?;
        match planted(Bug::QuickEvictedUnstored) {
            true => self.places.set_stored(value, true),
            false => self.store_to_slot(value),
        }
        self.places.take(value);
        Ok(reg)
    }

    /// Stores a value to its slot, if it is not there.
    pub(super) fn store_to_slot(&mut self, value: Value) {
        if let (false, Some(reg)) = (self.places.is_stored(value), self.places.reg(value)) {
            let slot = self.places.slot(value);
            self.asm.store(slot_mem(slot), reg);
            self.places.set_stored(value, true);
        }
    }

    /// A register that only this instruction uses.
    pub(super) fn temporary(&mut self, is_float: bool) -> Result<Reg> {
        self.alloc(is_float, Wish::default())
    }

    /// A value in a register, which this instruction must not change.
    pub(super) fn operand(&mut self, value: Value) -> Result<Reg> {
        match self.plan.kind(value) {
            Kind::Int(imm) => self.int_in_reg(imm),
            Kind::Float(bits) => self.float_in_reg(bits),
            Kind::Folded => Err(Unsupported("a folded operand")),
            Kind::Plain => {
                let reg = match self.places.reg(value) {
                    Some(reg) => reg,
                    None => self.reload(value)?,
                };
                self.busy |= reg.bit();
                Ok(reg)
            }
        }
    }

    /// Loads a value from its slot.
    pub(super) fn reload(&mut self, value: Value) -> Result<Reg> {
        if !self.places.is_stored(value) {
            return Err(Unsupported("a value is nowhere"));
        }
        let wish = self.plan.wish(value, self.number).at(self.places.hint(value));
        let reg = self.alloc(is_double(self.func, value), wish)?;
        let slot = self.places.slot(value);
        self.asm.load(reg, slot_mem(slot));
        self.places.put(value, reg);
        Ok(reg)
    }

    /// A constant in a register: the scratch register, if the instruction has no other constant in it.
    pub(super) fn int_in_reg(&mut self, imm: i64) -> Result<Reg> {
        if !self.scratch.is_busy {
            self.scratch.is_busy = true;
            if self.scratch.holds != Some(imm) {
                self.asm.mov_imm(SCRATCH, imm);
                self.scratch.holds = Some(imm);
            }
            return Ok(SCRATCH);
        }
        if self.scratch.holds == Some(imm) {
            return Ok(SCRATCH);
        }
        let reg = self.temporary(false)?;
        self.asm.mov_imm(reg, imm);
        Ok(reg)
    }

    /// The same for a double.
    pub(super) fn float_in_reg(&mut self, bits: u64) -> Result<Reg> {
        let reg = match self.scratch.is_float_busy {
            false => FLOAT_SCRATCH,
            true => self.temporary(true)?,
        };
        self.scratch.is_float_busy = true;
        let constant = self.asm.constant(bits.into());
        self.asm.load(reg, constant);
        Ok(reg)
    }

    /// The scratch register for something else than a constant.
    pub(super) fn scratch(&mut self) -> Result<Reg> {
        if self.scratch.is_busy {
            return self.temporary(false);
        }
        (self.scratch.is_busy, self.scratch.holds) = (true, None);
        Ok(SCRATCH)
    }

    /// A constant that fits into an instruction's 32 bits.
    pub(super) fn imm32(&self, value: Value) -> Option<i32> {
        match self.plan.kind(value) {
            Kind::Int(imm) => i32::try_from(imm).ok(),
            _ => None,
        }
    }

    /// The register for a result, which is not one of the operands'.
    pub(super) fn define(&mut self, result: Value) -> Result<Reg> {
        let wish = self.plan.wish(result, self.number).at(self.places.hint(result));
        let reg = self.alloc(is_double(self.func, result), wish)?;
        self.places.put(result, reg);
        Ok(reg)
    }

    /// The register for a result that begins as a copy of an operand: the operand's own if that dies.
    pub(super) fn define_over(&mut self, result: Value, operand: Value) -> Result<Reg> {
        let reg = self.operand(operand)?;
        self.define_over_reg(result, operand, reg)
    }

    /// The same for an operand that is in that register.
    pub(super) fn define_over_reg(&mut self, result: Value, operand: Value, reg: Reg) -> Result<Reg> {
        if self.plan.kind(operand) == Kind::Plain
            && self.dies(operand)
            && self.places.reg(operand) == Some(reg)
        {
            self.places.take(operand);
            self.places.put(result, reg);
            self.used |= reg.bit();
            return Ok(reg);
        }
        let to = self.define(result)?;
        self.asm.mov(to, reg);
        Ok(to)
    }

    /// Makes this very register free for the instruction at hand, wherever its value goes.
    pub(super) fn claim(&mut self, reg: Reg) -> Result<()> {
        self.busy |= reg.bit();
        self.used |= reg.bit();
        let Some(value) = self.places.holder(reg) else { return Ok(()) };
        let all = if reg.is_float() { FLOATS } else { INTS };
        match choose(all & !self.places.held & !self.busy, self.plan.wish(value, self.number)) {
            Some(to) => {
                self.asm.mov(to, reg);
                self.used |= to.bit();
                self.places.take(value);
                self.places.put(value, to);
                self.busy |= to.bit();
            }
            None => {
                self.store_to_slot(value);
                self.places.take(value);
            }
        }
        Ok(())
    }

    /// Where a value is, for a move.
    pub(super) fn source(&mut self, value: Value) -> Result<Source> {
        Ok(match self.plan.kind(value) {
            Kind::Int(imm) => Source::Int(imm),
            Kind::Float(bits) => Source::Float(bits),
            Kind::Plain | Kind::Folded => Source::Place(match self.places.reg(value) {
                Some(reg) => Place::Reg(reg),
                None if self.places.is_stored(value) => Place::Slot(self.places.slot(value)),
                None => return Err(Unsupported("a value is nowhere")),
            }),
        })
    }
}

/// Bytes of an integer.
pub(super) fn bytes_of(func: &Function, value: Value) -> Result<u8> {
    match func.value_type(value) {
        types::I8 => Ok(1),
        types::I16 => Ok(2),
        types::I32 => Ok(4),
        types::I64 => Ok(8),
        _ => Err(Unsupported("a type")),
    }
}

/// An instruction of 32 bits or 64.
pub(super) fn sized(wide: bool, code: u8) -> Op {
    if wide {
        Op::wide(code)
    } else {
        Op::narrow(code)
    }
}
