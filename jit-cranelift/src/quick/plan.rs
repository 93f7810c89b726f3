//! What is to be known of a function before its code is made.
//!
//! Problem: code is made in one pass, and at each place that pass wants to know which values are still needed
//! and how soon, and what need not be computed by itself. Design: blocks are put in the order of their code:
//! those that run, then the cold ones. Instructions are numbered in that order, and each value has the list
//! of the numbers where it is used. What one instruction alone uses is *folded* into it where the processor
//! can: comparisons into branches, loads into comparisons, sums into addresses; then their operands are used
//! there. Constants are values of no place. What is live where is in `live.rs`.
//!
//! Invariant: a folded load reads the same at its user as where it stood: no store or call lies between.
//! Example: of `v2 = uload8 v1+11; v3 = iconst 3; v4 = icmp ne v2, v3; brif v4, ...` only `v1` is a value in
//! a register: `cmp byte [v1+11], 3; jne`.

use crate::lir::{Data, Function, Target};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{types, Block, Inst, Opcode, Value};
use tracelift_core::planted::{planted, Bug};

use super::live::Live;
use super::places::Wish;

/// What a value is to quick code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// It is computed, into a register.
    Plain,
    Int(i64),
    Float(u64),
    /// Its user computes it.
    Folded,
}

/// The numbers of jumps back to a loop: as far as the first one goes the loop's own way, which runs most; up
/// to the last one come side traces too, and loops around it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ways {
    pub first: u32,
    pub last: u32,
}

/// See the file's top. So many fields: a buffer for each thing that is known by block or by value.
#[derive(Default)]
pub(super) struct Plan {
    /// Blocks in the order of their code, and all their instructions: by number.
    pub order: Vec<Block>,
    insts: Vec<Inst>,
    /// By block: the number of its first instruction, and of the one after its last.
    pub spans: Vec<(u32, u32)>,
    /// By block: if jumps from further down lead to it, the numbers of the first and the last of them.
    pub loops: Vec<Option<Ways>>,
    /// These jumps, and where they lead to.
    pub back: Vec<(Block, Inst)>,
    /// Whether code that comes later leads to some that comes before.
    goes_back: bool,
    /// By block: how many jumps and branches lead to it.
    leads: Vec<u32>,
    /// By value.
    pub kinds: Vec<Kind>,
    pub live: Live,
    /// By block: whether it has been numbered; and if it is cold, the last instruction that leads there from
    /// code that runs.
    placed: Vec<bool>,
    origins: Vec<u32>,
    /// By value: where code that runs has it last, on the way to cold code or around a loop too.
    lasts: Vec<u32>,
    /// By value: where its uses begin; and all uses. How many it had before anything was folded.
    firsts: Vec<u32>,
    uses: Vec<u32>,
    counts: Vec<u32>,
    /// All uses, in order: the value, and the number of the instruction.
    listed: Vec<(Value, u32)>,
    /// How often it was an address, or part of one that is folded.
    as_address: Vec<u32>,
    less_scaled: Vec<bool>,
    /// Where functions are called, if not in cold blocks.
    calls: Vec<u32>,
}

/// The scale of an address at most, as a power of two.
pub(super) const MOST_SCALE: u8 = 3;

/// How many instructions a load may be before the comparison that it is folded into.
const NEAR: usize = 4;

impl Plan {
    pub(super) fn make(&mut self, func: &Function) {
        let (blocks, values) = (func.num_blocks(), func.num_values());
        self.order.clear();
        self.order.extend(func.blocks().filter(|&block| !func.is_cold(block)));
        let hot = self.order.len();
        self.order.extend(func.blocks().filter(|&block| func.is_cold(block)));
        self.spans.clear();
        self.spans.resize(blocks, (0, 0));
        self.loops.clear();
        self.loops.resize(blocks, None);
        self.kinds.clear();
        self.kinds.resize(values, Kind::Plain);
        self.live.reset(values);
        self.count(func, hot);
        self.fold(func);
        self.find_uses(func);
        self.find_live(func);
    }

    /// Numbers the instructions, finds constants and ways back, and counts uses.
    fn count(&mut self, func: &Function, hot: usize) {
        self.counts.clear();
        self.counts.resize(self.kinds.len(), 0);
        self.as_address.clear();
        self.as_address.resize(self.kinds.len(), 0);
        self.less_scaled.clear();
        self.less_scaled.resize(self.kinds.len(), false);
        self.calls.clear();
        self.back.clear();
        self.leads.clear();
        self.leads.resize(self.spans.len(), 0);
        self.origins.clear();
        self.origins.resize(self.spans.len(), 0);
        self.placed.clear();
        self.placed.resize(self.spans.len(), false);
        self.goes_back = false;
        self.insts.clear();
        let mut number = 0;
        for (at, &block) in self.order.iter().enumerate() {
            self.spans[block.as_u32() as usize].0 = number;
            self.placed[block.as_u32() as usize] = true;
            for &param in func.block_params(block) {
                self.live.define(param, block);
            }
            for inst in func.block_insts(block) {
                self.insts.push(inst);
                for result in func.inst_results(inst) {
                    self.live.define(result, block);
                }
                match func.data(inst) {
                    Data::Int { bits } => {
                        self.kinds[func.first_result(inst).as_u32() as usize] = Kind::Int(bits);
                    }
                    Data::Float { bits } => {
                        self.kinds[func.first_result(inst).as_u32() as usize] = Kind::Float(bits);
                    }
                    Data::Call { .. } if at < hot => self.calls.push(number),
                    _ => {}
                }
                for &arg in func.inst_args(inst) {
                    self.counts[arg.as_u32() as usize] += 1;
                }
                for &Target { block: target, args } in func.targets(inst) {
                    let from = if at < hot { number } else { self.origins[block.as_u32() as usize] };
                    let origin = &mut self.origins[target.as_u32() as usize];
                    *origin = from.max(*origin);
                    self.leads[target.as_u32() as usize] += 1;
                    if self.placed[target.as_u32() as usize] {
                        self.goes_back = true;
                        if at < hot {
                            let ways = &mut self.loops[target.as_u32() as usize];
                            ways.get_or_insert(Ways { first: number, last: number }).last = number;
                            self.back.push((target, inst));
                        }
                    }
                    for arg in func.list(args) {
                        self.counts[arg.as_u32() as usize] += 1;
                    }
                }
                number += 1;
            }
            self.spans[block.as_u32() as usize].1 = number;
        }
    }

    /// Whether one jump or branch leads to a block, and no more.
    pub(super) fn has_one_way(&self, block: Block) -> bool {
        self.leads[block.as_u32() as usize] == 1
    }

    pub(super) fn kind(&self, value: Value) -> Kind {
        self.kinds[value.as_u32() as usize]
    }

    /// Whether nobody uses a value.
    pub(super) fn is_unused(&self, value: Value) -> bool {
        self.counts[value.as_u32() as usize] == 0
    }

    fn folds(&mut self, value: Value) {
        self.kinds[value.as_u32() as usize] = Kind::Folded;
    }

    /// The instruction whose first result a value is, if nobody else uses it.
    fn alone(&self, func: &Function, value: Value) -> Option<Inst> {
        let is_alone = self.counts[value.as_u32() as usize] == 1 && self.kind(value) == Kind::Plain;
        let inst = func.inst_of(value).filter(|_| is_alone)?;
        (func.first_result(inst) == value).then_some(inst)
    }

    /// Decides what is folded into what.
    fn fold(&mut self, func: &Function) {
        let mut sums = Vec::new();
        for at in 0..self.insts.len() {
            let inst = self.insts[at];
            match func.data(inst) {
                Data::Brif { arg, .. } => self.fold_condition(func, inst, arg),
                Data::Ternary { opcode: Opcode::Select, args } => {
                    self.fold_condition(func, inst, args[0]);
                }
                Data::Binary { args, .. } => self.fold_double(func, inst, args[1]),
                Data::Load { arg, .. } => self.fold_address(func, arg, &mut sums),
                Data::Store { args, .. } => self.fold_address(func, args[1], &mut sums),
                _ => {}
            }
        }
        sums.iter().for_each(|&sum| self.fold_scale(func, sum));
    }

    fn fold_condition(&mut self, func: &Function, user: Inst, condition: Value) {
        let Some(inst) = self.alone(func, condition) else { return };
        match func.data(inst) {
            Data::FloatCompare { args, .. } if is_double(func, args[0]) => self.folds(condition),
            Data::IntCompare { args, cond, .. } => {
                self.folds(condition);
                let Some(load) = self.alone(func, args[0]) else { return };
                let fits = match (func.data(load).opcode(), self.kind(args[1])) {
                    (Opcode::Load, Kind::Int(_) | Kind::Plain) => func.value_type(args[0]) == types::I64,
                    (Opcode::Uload8, Kind::Int(0..=0xff)) => is_equality(cond),
                    (Opcode::Uload32, Kind::Int(0..=0x7fff_ffff)) => is_equality(cond),
                    _ => false,
                };
                if fits && is_near(func, load, user) {
                    self.folds(args[0]);
                }
            }
            _ => {}
        }
    }

    /// The right operand of an operation on doubles may be in memory.
    fn fold_double(&mut self, func: &Function, user: Inst, operand: Value) {
        let opcode = func.data(user).opcode();
        if !matches!(opcode, Opcode::Fadd | Opcode::Fsub | Opcode::Fmul | Opcode::Fdiv) {
            return;
        }
        let Some(load) = self.alone(func, operand) else { return };
        if func.data(load).opcode() == Opcode::Load && is_near(func, load, user) {
            self.folds(operand);
        }
    }

    /// A sum that is nothing but an address, of however many accesses, is part of each.
    fn fold_address(&mut self, func: &Function, address: Value, sums: &mut Vec<Inst>) {
        self.as_address[address.as_u32() as usize] += 1;
        let Some(sum) = self.only_address(func, address) else { return };
        if let Data::Binary { opcode: Opcode::Iadd, args } = func.data(sum) {
            if args.iter().all(|&arg| matches!(self.kind(arg), Kind::Plain)) {
                self.folds(address);
                self.as_address[args[1].as_u32() as usize] += 1;
                sums.push(sum);
            }
        }
    }

    /// The scale of an index, if nobody but folded sums uses it, is part of the address too, up to 8.
    fn fold_scale(&mut self, func: &Function, sum: Inst) {
        let index = func.inst_args(sum)[1];
        let Some(inst) = self.only_address(func, index) else { return };
        match scale(func, inst) {
            Some((value, 1..=MOST_SCALE)) if self.kind(value) == Kind::Plain => self.folds(index),
            Some((_, count)) if count > MOST_SCALE => self.less_scaled[index.as_u32() as usize] = true,
            _ => {}
        }
    }

    /// Whether a scaled index is computed with so much less, as the addresses that it is part of add it.
    pub(super) fn is_less_scaled(&self, value: Value) -> bool {
        self.less_scaled[value.as_u32() as usize]
    }

    /// The instruction whose first result a value is, if nobody uses it but as (part of) an address.
    fn only_address(&self, func: &Function, value: Value) -> Option<Inst> {
        let at = value.as_u32() as usize;
        let is_only = self.counts[at] == self.as_address[at] && self.kind(value) == Kind::Plain;
        let inst = func.inst_of(value).filter(|_| is_only)?;
        (func.first_result(inst) == value).then_some(inst)
    }

    /// All values that an instruction uses in registers, with those of what is folded into it.
    pub(super) fn each_use(&self, func: &Function, inst: Inst, each: &mut impl FnMut(Value)) {
        let mut one = |arg: Value| match self.kind(arg) {
            Kind::Plain => each(arg),
            Kind::Int(_) | Kind::Float(_) => {}
            Kind::Folded => {
                let inst = func.inst_of(arg).expect("what is folded is a result");
                self.each_folded_use(func, inst, each);
            }
        };
        func.inst_args(inst).iter().for_each(|&arg| one(arg));
        for target in func.targets(inst) {
            func.list(target.args).iter().for_each(|&arg| one(arg));
        }
    }

    fn each_folded_use(&self, func: &Function, inst: Inst, each: &mut dyn FnMut(Value)) {
        for &arg in func.inst_args(inst) {
            match self.kind(arg) {
                Kind::Plain => each(arg),
                Kind::Int(_) | Kind::Float(_) => {}
                Kind::Folded => {
                    let inst = func.inst_of(arg).expect("what is folded is a result");
                    self.each_folded_use(func, inst, each);
                }
            }
        }
    }

    fn is_folded(&self, func: &Function, inst: Inst) -> bool {
        func.result(inst).is_some_and(|first| self.kind(first) == Kind::Folded)
    }

    /// Lists the uses, by value in the end.
    fn find_uses(&mut self, func: &Function) {
        let mut listed = std::mem::take(&mut self.listed);
        listed.clear();
        self.firsts.clear();
        self.firsts.resize(self.kinds.len() + 2, 0);
        for at in 0..self.order.len() {
            let block = self.order[at];
            let (start, end) = self.spans[block.as_u32() as usize];
            let from = listed.len();
            for number in start..end {
                let inst = self.insts[number as usize];
                if !self.is_folded(func, inst) {
                    self.each_use(func, inst, &mut |value| listed.push((value, number)));
                }
            }
            for &(value, _) in &listed[from..] {
                // First how many each value has, two further up, so that filling moves each start to its
                // place.
                self.firsts[value.as_u32() as usize + 2] += 1;
                self.live.used(value, block);
            }
        }
        for at in 2..self.firsts.len() {
            self.firsts[at] += self.firsts[at - 1];
        }
        self.live.number(self.spans.len());
        self.uses.clear();
        self.uses.resize(listed.len(), 0);
        self.lasts.clear();
        self.lasts.resize(self.kinds.len(), 0);
        let mut rest = &listed[..];
        for &block in &self.order {
            let is_cold = func.is_cold(block);
            let end = self.spans[block.as_u32() as usize].1;
            while let [(value, number), others @ ..] = rest {
                if *number >= end {
                    break;
                }
                rest = others;
                let next = &mut self.firsts[value.as_u32() as usize + 1];
                self.uses[*next as usize] = *number;
                *next += 1;
                let runs = if is_cold { self.origins[block.as_u32() as usize] } else { *number };
                let last = &mut self.lasts[value.as_u32() as usize];
                *last = runs.max(*last);
                self.live.wanted(*value, block);
            }
        }
        self.listed = listed;
    }

    /// Where a value is used, in order.
    pub(super) fn uses(&self, value: Value) -> &[u32] {
        let at = value.as_u32() as usize;
        &self.uses[self.firsts[at] as usize..self.firsts[at + 1] as usize]
    }

    /// Where a value is used last.
    pub(super) fn last_use(&self, value: Value) -> Option<u32> {
        self.uses(value).last().copied()
    }

    /// Where a value is used next after an instruction.
    pub(super) fn next_use(&self, value: Value, after: u32) -> Option<u32> {
        let uses = self.uses(value);
        uses.get(uses.partition_point(|&number| number <= after)).copied()
    }

    /// What a value wants of a register that it gets here: what happens while it is wanted decides.
    pub(super) fn wish(&self, value: Value, from: u32) -> Wish {
        let last = self.lasts[value.as_u32() as usize];
        let call = self.calls.get(self.calls.partition_point(|&call| call <= from));
        Wish { at: None, preserved: call.is_some_and(|&call| call < last) }
    }

    fn find_live(&mut self, func: &Function) {
        while self.spread(func) {}
        for &(block, _) in &self.back {
            let end = self.loops[block.as_u32() as usize].map_or(0, |ways| ways.last);
            for value in self.live.at_start(block) {
                let last = &mut self.lasts[value.as_u32() as usize];
                *last = end.max(*last);
            }
        }
    }

    /// Takes what successors want to each block once, last blocks first; whether another round is wanted.
    fn spread(&mut self, func: &Function) -> bool {
        let mut again = false;
        for &block in self.order.iter().rev() {
            let Some(last) = func.last_inst(block) else { continue };
            let targets = func.targets(last);
            for target in targets {
                self.live.lead(block, target.block);
            }
            // Whoever leads nowhere wants what it uses, as was found.
            again |= !targets.is_empty() && self.live.pass(block) && self.goes_back;
        }
        again
    }
}

/// A value shifted by a constant, and that.
pub(super) fn scale(func: &Function, inst: Inst) -> Option<(Value, u8)> {
    let Data::Binary { opcode: Opcode::Ishl, args: [value, count] } = func.data(inst) else {
        return None;
    };
    match func.data(func.inst_of(count)?) {
        Data::Int { bits } => {
            u8::try_from(bits).ok().filter(|count| (1..64).contains(count)).map(|count| (value, count))
        }
        _ => None,
    }
}

pub(super) fn is_double(func: &Function, value: Value) -> bool {
    func.value_type(value) == types::F64
}

fn is_equality(cond: IntCC) -> bool {
    matches!(cond, IntCC::Equal | IntCC::NotEqual)
}

/// Whether nothing that writes memory lies between a load and its user, as far as one looks.
fn is_near(func: &Function, load: Inst, user: Inst) -> bool {
    let mut at = user;
    for _ in 0..NEAR {
        match func.prev_inst(at) {
            Some(before) if before == load => return true,
            Some(before) if !is_write(func, before) || planted(Bug::QuickFoldedPastStores) => at = before,
            _ => return false,
        }
    }
    false
}

fn is_write(func: &Function, inst: Inst) -> bool {
    let opcode = func.data(inst).opcode();
    opcode.can_store() || opcode.is_call()
}
