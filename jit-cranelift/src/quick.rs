//! Quick code: Cranelift's input made into x86-64 machine code in one pass, without Cranelift.
//!
//! Problem: Cranelift takes 5 us for each operation of a trace, and nearly half of that is register
//! allocation: a program that runs for a tenth of a second cannot buy much code. What lowering makes of traces
//! is simple: long chains of blocks, exits that nobody comes back from, a loop. Design: one pass in the order
//! of the code, which keeps account of where values are (`places.rs`), with what is known beforehand of their
//! uses (`plan.rs`). The state at a branch is the state where its target begins, if that comes from there
//! first; others that lead there move their values to the same places (`moves.rs`). So an exit's stub finds
//! its values where the guard had them, and costs the loop nothing.
//!
//! What a loop passes around is in registers as far as they go, what is used most first. What the loop does
//! not use, but something after it, waits in the frame.
//!
//! Invariants: all that lowering makes is either made, or refused as a whole ([`Unsupported`]): then Cranelift
//! makes it. Operands of doubles never change places, so NaNs are as Cranelift has them. Code obeys the
//! conventions that the function's signature names, as Cranelift does.
//!
//! Example: `v2 = iadd v0, v1; brif v3, block1, block2` with `v0` not wanted any more is `add rdi, rsi;
//! test rdx, rdx; jne block1`.

mod asm;
mod calls;
mod conditions;
mod doubles;
mod ints;
mod memory;
mod moves;
mod places;
mod plan;

use cranelift_codegen::ir::{
    self, types, Block, BlockCall, Function, Inst, InstructionData, Opcode, SourceLoc,
};
use cranelift_codegen::ir::{Value, ValueDef};
use cranelift_codegen::{Final, MachSrcLoc};

use asm::{Asm, Label, Mem, Op, Reg, FLOAT_SCRATCH, RBP, RSP, SCRATCH};
use moves::{Move, Source};
use places::{choose, slot_mem, Place, Places, FLOATS, INTS, PRESERVED, SAVED};
use plan::{is_double, passed, targets, Kind, Plan};

/// Something that quick code cannot be made for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unsupported(#[allow(dead_code, reason = "for who debugs")] pub &'static str);

type Result<T> = std::result::Result<T, Unsupported>;

/// What the machine can do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Features {
    pub has_rounding: bool,
    pub has_fused_product: bool,
    /// Operations on doubles with three operands.
    pub has_avx: bool,
}

/// Finished code.
pub(crate) struct Code {
    pub bytes: Vec<u8>,
    /// What each part is for.
    pub marks: Vec<MachSrcLoc<Final>>,
    /// Bytes of the frame.
    pub frame_bytes: u32,
}

/// The buffers, used again and again.
#[derive(Default)]
pub(crate) struct Quick {
    plan: Plan,
    asm: Asm,
    places: Places,
}

impl Quick {
    /// Makes code of a function.
    pub(crate) fn generate(&mut self, func: &Function, features: Features) -> Result<Code> {
        self.plan.make(func);
        self.asm.clear();
        self.places.reset(func.dfg.num_values());
        let labels = (0..func.dfg.num_blocks()).map(|_| self.asm.label()).collect();
        let emit = Emit {
            func,
            plan: &self.plan,
            features,
            asm: &mut self.asm,
            places: &mut self.places,
            labels,
            entries: vec![None; func.dfg.num_blocks()],
            hints: vec![None; func.dfg.num_values()],
            number: 0,
            end: 0,
            block: Block::from_u32(0),
            next: None,
            busy: 0,
            scratch: Scratch::default(),
            flags: None,
            used: 0,
            edges: Vec::new(),
            epilogues: Vec::new(),
            marks: Vec::new(),
            regions: Vec::new(),
        };
        emit.all()
    }
}

/// Where values are when a block begins.
#[derive(Clone, Debug, Default)]
struct Entry {
    /// Values, their registers, and whether they are in their slots.
    values: Vec<(Value, Option<Reg>, bool)>,
    params: Vec<Place>,
}

/// The state of the scratch register.
#[derive(Clone, Copy, Default)]
struct Scratch {
    /// The constant that it holds.
    holds: Option<i64>,
    /// Whether the instruction at hand needs what is in it, and the same of that for doubles.
    is_busy: bool,
    is_float_busy: bool,
}

/// Moves on the way to a block that are made apart from the code that leads there.
struct Edge {
    label: Label,
    moves: Vec<Move>,
    to: Label,
}

/// The pass. So many fields: code, the state of the machine, and where in the function it is, which the code
/// of each instruction needs together.
struct Emit<'f> {
    func: &'f Function,
    plan: &'f Plan,
    features: Features,
    asm: &'f mut Asm,
    places: &'f mut Places,
    /// By block.
    labels: Vec<Label>,
    entries: Vec<Option<Entry>>,
    /// By value: the register where it will be wanted.
    hints: Vec<Option<Reg>>,
    /// The number of the instruction at hand, and of the one after the block's last.
    number: u32,
    end: u32,
    block: Block,
    /// The block whose code comes next.
    next: Option<Block>,
    /// Registers that the instruction at hand uses.
    busy: u32,
    scratch: Scratch,
    /// The value whose being zero the flags tell.
    flags: Option<Value>,
    /// Registers that were written so far.
    used: u32,
    edges: Vec<Edge>,
    /// Where registers are restored.
    epilogues: Vec<usize>,
    marks: Vec<MachSrcLoc<Final>>,
    /// By the function's own stack slots: the first slot of the frame that is theirs.
    regions: Vec<Option<u32>>,
}

impl Emit<'_> {
    fn all(mut self) -> Result<Code> {
        let mut waiting: Vec<Block> = self.plan.order.clone();
        let Some(&first) = waiting.first() else { return Err(Unsupported("no code")) };
        self.entries[first.as_u32() as usize] = Some(self.arguments(first)?);
        // Blocks that nothing has led to yet wait for another round.
        loop {
            let mut later = Vec::new();
            for at in 0..waiting.len() {
                let block = waiting[at];
                match self.entries[block.as_u32() as usize].clone() {
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
            self.mark(SourceLoc::new(crate::listing::location::RETURN), from);
        }
        self.finish()
    }

    fn block(&mut self, block: Block, entry: Entry) -> Result<()> {
        self.block = block;
        let (start, end) = self.plan.spans[block.as_u32() as usize];
        (self.number, self.end) = (start, end);
        self.flags = None;
        self.scratch = Scratch::default();
        self.places.clear();
        for (value, reg, is_stored) in entry.values {
            self.places.set_stored(value, is_stored);
            if let Some(reg) = reg {
                self.places.put(value, reg);
            }
        }
        for (&param, place) in self.func.dfg.block_params(block).iter().zip(entry.params) {
            self.places.set_stored(param, matches!(place, Place::Slot(_)));
            if let Place::Reg(reg) = place {
                self.places.put(param, reg);
            }
        }
        let label = self.labels[block.as_u32() as usize];
        if self.plan.loops[block.as_u32() as usize].is_some() {
            self.asm.align(LOOP_ALIGNMENT);
        }
        self.asm.place(label);
        let func = self.func;
        for inst in func.layout.block_insts(block) {
            let from = self.asm.position();
            self.inst(inst)?;
            self.mark(func.srcloc(inst), from);
            self.number += 1;
        }
        Ok(())
    }

    /// Notes what code is for.
    fn mark(&mut self, loc: SourceLoc, from: u32) {
        let to = self.asm.position();
        match self.marks.last_mut() {
            _ if from == to => {}
            Some(last)
                if last.loc == loc
                    && last.end == from
                    && !crate::listing::location::is_prefetch(loc.bits()) =>
            {
                last.end = to;
            }
            _ => self.marks.push(MachSrcLoc { start: from, end: to, loc }),
        }
    }

    fn inst(&mut self, inst: Inst) -> Result<()> {
        let results = self.func.dfg.inst_results(inst);
        if results.first().is_some_and(|&first| self.plan.kind(first) != Kind::Plain) {
            return Ok(());
        }
        (self.busy, self.scratch.is_busy, self.scratch.is_float_busy) = (0, false, false);
        let flags = self.flags.take();
        let data = &self.func.dfg.insts[inst];
        let opcode = data.opcode();
        match *data {
            InstructionData::Brif { arg, ref blocks, .. } => {
                self.flags = flags;
                return self.branch(arg, blocks);
            }
            InstructionData::Jump { ref destination, .. } => return self.jump(destination),
            InstructionData::MultiAry { opcode: Opcode::Return, .. } => return self.give_back(inst),
            InstructionData::CallIndirect { opcode: Opcode::CallIndirect, sig_ref, .. } => {
                return self.call(inst, sig_ref);
            }
            InstructionData::CallIndirect { opcode: Opcode::ReturnCallIndirect, sig_ref, .. } => {
                return self.tail_call(inst, sig_ref);
            }
            InstructionData::Load { arg, offset, .. } => self.load(inst, opcode, arg, offset.into())?,
            InstructionData::Store { args, offset, .. } => {
                self.store(opcode, args[0], args[1], offset.into())?
            }
            InstructionData::NullAry { opcode: Opcode::SequencePoint } => {}
            InstructionData::StackAddr { stack_slot, offset, .. } => {
                self.stack_addr(inst, stack_slot, offset.into())?;
            }
            _ if results.is_empty() => return Err(Unsupported("an instruction without a result")),
            _ if results.iter().all(|&result| self.plan.is_unused(result)) => {}
            InstructionData::Ternary { opcode: Opcode::Select, args } => self.select(inst, args)?,
            InstructionData::IntCompare { .. } | InstructionData::FloatCompare { .. } => {
                self.compare(inst)?
            }
            _ if is_double(self.func, results[0]) || self.takes_double(inst) => self.double(inst, opcode)?,
            _ => self.int(inst, opcode)?,
        }
        self.release(inst);
        Ok(())
    }

    fn takes_double(&self, inst: Inst) -> bool {
        self.func.dfg.inst_args(inst).first().is_some_and(|&arg| is_double(self.func, arg))
    }

    // Values and registers.

    /// Whether a value is not wanted after the instruction at hand.
    fn dies(&self, value: Value) -> bool {
        let is_used_here = self.plan.next_use(value, self.number).is_some_and(|next| next < self.end);
        !is_used_here && !self.plan.live_out.contains(self.block, value)
    }

    /// After an instruction: its operands and results that nobody wants any more leave their registers.
    fn release(&mut self, inst: Inst) {
        let plan = self.plan;
        plan.each_use(self.func, inst, &mut |value| {
            if self.places.reg(value).is_some() && self.dies(value) {
                self.places.take(value);
            }
        });
        for &result in self.func.dfg.inst_results(inst) {
            if self.places.reg(result).is_some() && self.dies(result) {
                self.places.take(result);
            }
        }
    }

    /// Makes a register free that this instruction does not use.
    fn alloc(&mut self, is_float: bool, hint: Option<Reg>, preserved: bool) -> Result<Reg> {
        let all = if is_float { FLOATS } else { INTS };
        let reg = match choose(all & !self.places.held & !self.busy, hint, preserved) {
            Some(reg) => reg,
            None => self.evict(all & !self.busy)?,
        };
        self.busy |= reg.bit();
        self.used |= reg.bit();
        Ok(reg)
    }

    /// Frees the register of these whose value is wanted last.
    fn evict(&mut self, set: u32) -> Result<Reg> {
        let farthest = (self.places.held_in(set))
            .max_by_key(|&(_, value)| self.plan.next_use(value, self.number).unwrap_or(u32::MAX));
        let (reg, value) = farthest.ok_or(Unsupported("too few registers"))?;
        self.to_slot(value);
        self.places.take(value);
        Ok(reg)
    }

    /// Stores a value to its slot, if it is not there.
    fn to_slot(&mut self, value: Value) {
        if let (false, Some(reg)) = (self.places.is_stored(value), self.places.reg(value)) {
            let slot = self.places.slot(value);
            self.asm.store(slot_mem(slot), reg);
            self.places.set_stored(value, true);
        }
    }

    /// A register that only this instruction uses.
    fn temporary(&mut self, is_float: bool) -> Result<Reg> {
        self.alloc(is_float, None, false)
    }

    /// A value in a register, which this instruction must not change.
    fn operand(&mut self, value: Value) -> Result<Reg> {
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

    fn reload(&mut self, value: Value) -> Result<Reg> {
        if !self.places.is_stored(value) {
            return Err(Unsupported("a value is nowhere"));
        }
        let preserved = self.plan.outlives_call(value, self.number);
        let reg = self.alloc(is_double(self.func, value), self.hint(value), preserved)?;
        let slot = self.places.slot(value);
        self.asm.load(reg, slot_mem(slot));
        self.places.put(value, reg);
        Ok(reg)
    }

    fn int_in_reg(&mut self, imm: i64) -> Result<Reg> {
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

    fn float_in_reg(&mut self, bits: u64) -> Result<Reg> {
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
    fn scratch(&mut self) -> Result<Reg> {
        if self.scratch.is_busy {
            return self.temporary(false);
        }
        (self.scratch.is_busy, self.scratch.holds) = (true, None);
        Ok(SCRATCH)
    }

    /// A constant that fits into an instruction's 32 bits.
    fn imm32(&self, value: Value) -> Option<i32> {
        match self.plan.kind(value) {
            Kind::Int(imm) => i32::try_from(imm).ok(),
            _ => None,
        }
    }

    fn hint(&self, value: Value) -> Option<Reg> {
        self.hints[value.as_u32() as usize]
    }

    /// The register for a result, which is not one of the operands'.
    fn define(&mut self, result: Value) -> Result<Reg> {
        let preserved = self.plan.outlives_call(result, self.number);
        let reg = self.alloc(is_double(self.func, result), self.hint(result), preserved)?;
        self.places.put(result, reg);
        Ok(reg)
    }

    /// The register for a result that begins as a copy of an operand: the operand's own if that dies.
    fn define_over(&mut self, result: Value, operand: Value) -> Result<Reg> {
        let reg = self.operand(operand)?;
        self.define_over_reg(result, operand, reg)
    }

    /// The same for an operand that is in that register.
    fn define_over_reg(&mut self, result: Value, operand: Value, reg: Reg) -> Result<Reg> {
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
    fn claim(&mut self, reg: Reg) -> Result<()> {
        self.busy |= reg.bit();
        self.used |= reg.bit();
        let Some(value) = self.places.holder(reg) else { return Ok(()) };
        let all = if reg.is_float() { FLOATS } else { INTS };
        match choose(all & !self.places.held & !self.busy, None, self.plan.outlives_call(value, self.number))
        {
            Some(to) => {
                self.asm.mov(to, reg);
                self.used |= to.bit();
                self.places.take(value);
                self.places.put(value, to);
                self.busy |= to.bit();
            }
            None => {
                self.to_slot(value);
                self.places.take(value);
            }
        }
        Ok(())
    }

    /// Where a value is, for a move.
    fn source(&mut self, value: Value) -> Source {
        match self.plan.kind(value) {
            Kind::Int(imm) => Source::Int(imm),
            Kind::Float(bits) => Source::Float(bits),
            Kind::Plain | Kind::Folded => Source::Place(match self.places.reg(value) {
                Some(reg) => Place::Reg(reg),
                None => {
                    debug_assert!(self.places.is_stored(value), "{value} is nowhere");
                    Place::Slot(self.places.slot(value))
                }
            }),
        }
    }

    // Edges.

    fn jump(&mut self, to: &BlockCall) -> Result<()> {
        let block = to.block(&self.func.dfg.value_lists);
        let mut moves = self.edge(to)?;
        self.move_all(&mut moves);
        if self.next != Some(block) {
            let label = self.labels[block.as_u32() as usize];
            self.asm.jump(label);
        }
        Ok(())
    }

    fn move_all(&mut self, moves: &mut Vec<Move>) {
        if !moves.is_empty() {
            moves::make(self.asm, moves);
            self.scratch.holds = None;
        }
    }

    fn branch(&mut self, condition: Value, blocks: &[BlockCall; 2]) -> Result<()> {
        let mut test = self.test(condition)?;
        let [yes, no] = blocks;
        let pool = &self.func.dfg.value_lists;
        // The one that follows needs no jump.
        let (mut taken, mut other) = (yes, no);
        if self.next == Some(yes.block(pool)) {
            (taken, other) = (no, yes);
            test = test.opposite();
        }
        let taken_moves = self.edge(taken)?;
        let mut other_moves = self.edge(other)?;
        let mut to = self.labels[taken.block(pool).as_u32() as usize];
        if taken_moves.iter().any(|step| step.from != Source::Place(step.to)) {
            let label = self.asm.label();
            self.edges.push(Edge { label, moves: taken_moves, to });
            to = label;
        }
        test.jump(self.asm, to);
        self.move_all(&mut other_moves);
        let other = other.block(pool);
        if self.next != Some(other) {
            let label = self.labels[other.as_u32() as usize];
            self.asm.jump(label);
        }
        Ok(())
    }

    /// The moves that lead to a block from here. If nobody has led there yet, its values begin where they are
    /// now.
    fn edge(&mut self, call: &BlockCall) -> Result<Vec<Move>> {
        let block = call.block(&self.func.dfg.value_lists);
        let args: Vec<Value> = passed(self.func, call).collect();
        if self.entries[block.as_u32() as usize].is_none() {
            let entry = self.begin(block, &args);
            self.hint_back(block, &entry);
            self.entries[block.as_u32() as usize] = Some(entry);
        }
        let func = self.func;
        let entry = self.entries[block.as_u32() as usize].take().unwrap_or_default();
        let mut moves = Vec::new();
        for (&place, &arg) in entry.params.iter().zip(&args) {
            moves.push(Move { to: place, from: self.source(arg) });
            if let Place::Reg(reg) = place {
                self.used |= reg.bit();
            }
        }
        for &(value, reg, is_stored) in &entry.values {
            let from = self.source(value);
            if is_stored && !self.places.is_stored(value) {
                moves.push(Move { to: Place::Slot(self.places.slot(value)), from });
            }
            if let Some(reg) = reg {
                moves.push(Move { to: Place::Reg(reg), from });
                self.used |= reg.bit();
            }
        }
        if entry.params.len() != func.dfg.block_params(block).len() {
            return Err(Unsupported("arguments of a jump"));
        }
        self.entries[block.as_u32() as usize] = Some(entry);
        Ok(moves)
    }

    /// Decides where the values of a block begin that is reached from here first.
    fn begin(&mut self, block: Block, args: &[Value]) -> Entry {
        let plan = self.plan;
        let mut entry = Entry::default();
        for value in plan.live_in.members(block) {
            entry.values.push((value, self.places.reg(value), self.places.is_stored(value)));
        }
        let params = self.func.dfg.block_params(block);
        match plan.loops[block.as_u32() as usize] {
            Some(last) => self.begin_loop(block, args, last, &mut entry),
            None => {
                let mut taken =
                    entry.values.iter().filter_map(|&(_, reg, _)| reg).fold(0, |set, reg| set | reg.bit());
                for (&param, &arg) in params.iter().zip(args) {
                    entry.params.push(self.param(param, arg, &mut taken));
                }
            }
        }
        entry
    }

    /// The place of a parameter: where its argument is, if nobody else is there; any free register; its slot.
    fn param(&mut self, param: Value, arg: Value, taken: &mut u32) -> Place {
        let all = if is_double(self.func, param) { FLOATS } else { INTS };
        let preserved = self.plan.outlives_call(param, self.number);
        let at = self.places.reg(arg).filter(|reg| !preserved || PRESERVED & reg.bit() != 0);
        match choose(all & !*taken, at, preserved) {
            Some(reg) => {
                *taken |= reg.bit();
                Place::Reg(reg)
            }
            None => Place::Slot(self.places.slot(param)),
        }
    }

    /// The same for a loop: what it uses most gets registers, of which some are left for what it computes.
    fn begin_loop(&mut self, block: Block, args: &[Value], last: u32, entry: &mut Entry) {
        let (first, _) = self.plan.spans[block.as_u32() as usize];
        let uses_in = |value: Value| {
            let uses = self.plan.uses(value);
            uses.partition_point(|&number| number <= last) - uses.partition_point(|&number| number < first)
        };
        let params = self.func.dfg.block_params(block);
        let mut wanted: Vec<(usize, Value, usize)> = Vec::new();
        wanted.extend(params.iter().enumerate().map(|(at, &param)| (uses_in(param) + 1, param, at)));
        wanted.extend(
            (entry.values.iter().enumerate())
                .map(|(at, &(value, ..))| (uses_in(value), value, params.len() + at)),
        );
        wanted.sort_by_key(|&(uses, value, _)| (std::cmp::Reverse(uses), value));
        let mut room = [LOOP_INTS, LOOP_FLOATS];
        let mut taken = 0;
        let mut places = vec![Place::Slot(0); params.len()];
        for (uses, value, at) in wanted {
            let is_float = is_double(self.func, value);
            let room = &mut room[usize::from(is_float)];
            let fits = *room > 0 && uses > 0;
            *room -= usize::from(fits);
            if let Some(at) = at.checked_sub(params.len()) {
                let place = &mut entry.values[at];
                let reg = match fits {
                    true => self.free_place(value, is_float, taken, place.1, block),
                    false => None,
                };
                taken |= reg.map_or(0, Reg::bit);
                // What leaves its register before the loop is in its slot.
                (place.1, place.2) = (reg, place.2 || reg.is_none());
            } else {
                let reg = match fits {
                    true => self.free_place(value, is_float, taken, self.places.reg(args[at]), block),
                    false => None,
                };
                taken |= reg.map_or(0, Reg::bit);
                places[at] = match reg {
                    Some(reg) => Place::Reg(reg),
                    None => Place::Slot(self.places.slot(value)),
                };
            }
        }
        entry.params = places;
    }

    fn free_place(
        &self,
        value: Value,
        is_float: bool,
        taken: u32,
        now: Option<Reg>,
        block: Block,
    ) -> Option<Reg> {
        let all = if is_float { FLOATS } else { INTS };
        let preserved = self.plan.outlives_call(value, self.plan.spans[block.as_u32() as usize].0);
        let now = now.filter(|reg| !preserved || PRESERVED & reg.bit() != 0);
        choose(all & !taken, now, preserved)
    }

    /// What jumps back to a loop is best computed where the loop wants it.
    fn hint_back(&mut self, block: Block, entry: &Entry) {
        for &(_, inst) in self.plan.back.iter().filter(|&&(target, _)| target == block) {
            for call in targets(self.func, inst) {
                for (arg, &place) in passed(self.func, call).zip(&entry.params) {
                    if let (Place::Reg(reg), ValueDef::Result(..)) = (place, self.func.dfg.value_def(arg)) {
                        self.hints[arg.as_u32() as usize] = Some(reg);
                    }
                }
            }
        }
    }

    // The frame.

    /// Makes the code whole: what comes before it, and what restores registers.
    fn finish(mut self) -> Result<Code> {
        let saved: Vec<Reg> = (0..16).map(Reg).filter(|reg| self.used & PRESERVED & reg.bit() != 0).collect();
        let words =
            if saved.is_empty() && self.places.count == 0 { 0 } else { SAVED as u32 + self.places.count };
        let frame = (words * 8).div_ceil(16) * 16;
        for &at in &self.epilogues {
            let mut restore = Asm::default();
            saved.iter().for_each(|&reg| restore.load(reg, saved_mem(reg)));
            let room = &mut self.asm.bytes[at..at + EPILOGUE];
            room[..restore.bytes.len()].copy_from_slice(&restore.bytes);
            // No operation, of four bytes.
            room[restore.bytes.len()..]
                .chunks_mut(4)
                .for_each(|rest| rest.copy_from_slice(&[0x0f, 0x1f, 0x40, 0]));
        }
        let mut before = Asm::default();
        before.bytes.push(0x55);
        before.mov(RBP, RSP);
        if frame > 0 {
            before.arith_imm(5, true, RSP, frame as i32);
        }
        saved.iter().for_each(|&reg| before.store(saved_mem(reg), reg));
        before.align(LOOP_ALIGNMENT);
        self.asm.finish(before.bytes.len()).ok_or(Unsupported("a jump to no code"))?;
        let mut bytes = before.bytes;
        let shift = bytes.len() as u32;
        bytes.extend_from_slice(&self.asm.bytes);
        for mark in &mut self.marks {
            (mark.start, mark.end) = (mark.start + shift, mark.end + shift);
        }
        Ok(Code { bytes, marks: self.marks, frame_bytes: frame + 16 })
    }

    /// Leaves room to restore registers, and leaves the frame.
    fn epilogue(&mut self) {
        self.epilogues.push(self.asm.bytes.len());
        self.asm.bytes.extend([0x90; EPILOGUE]);
        self.asm.bytes.push(0xc9);
    }

    /// The first slot of one of the function's own stack slots.
    fn region(&mut self, slot: ir::StackSlot) -> i32 {
        let at = slot.as_u32() as usize;
        if self.regions.len() <= at {
            self.regions.resize(at + 1, None);
        }
        let words = self.func.sized_stack_slots[slot].size.div_ceil(8).max(1);
        let count = &mut self.places.count;
        let last = *self.regions[at].get_or_insert_with(|| {
            *count += words;
            *count - 1
        });
        places::slot_offset(last)
    }
}

/// Values that go around a loop in registers at most: some are left for what it computes.
const LOOP_INTS: usize = 10;
const LOOP_FLOATS: usize = 11;
/// Where loops begin: what the processor fetches at once.
const LOOP_ALIGNMENT: usize = 32;
/// Bytes that restore five registers.
const EPILOGUE: usize = 4 * SAVED as usize;

/// Where a register is saved.
fn saved_mem(reg: Reg) -> Mem {
    let place = if reg.0 == 3 { 1 } else { i32::from(reg.0) - 10 };
    Mem::at(RBP, -8 * place)
}

/// Bytes of an integer.
fn bytes_of(func: &Function, value: Value) -> Result<u8> {
    match func.dfg.value_type(value) {
        types::I8 => Ok(1),
        types::I16 => Ok(2),
        types::I32 => Ok(4),
        types::I64 => Ok(8),
        _ => Err(Unsupported("a type")),
    }
}

/// An instruction of 32 bits or 64.
fn sized(wide: bool, code: u8) -> Op {
    if wide {
        Op::wide(code)
    } else {
        Op::narrow(code)
    }
}
