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

use crate::lir::{Data, Function, Node, Target};
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

/// How often a value is used, before anything is folded.
#[derive(Clone, Copy, Default)]
struct Counts {
    all: u32,
    /// As an address, or as part of one that is folded.
    as_address: u32,
    is_less_scaled: bool,
}

/// Where a value is used: a range in the list of all uses.
#[derive(Clone, Copy, Default)]
struct Uses {
    start: u32,
    end: u32,
    /// Where code that runs has it last, on the way to cold code or around a loop too.
    last: u32,
}

/// What is known of a block.
#[derive(Clone, Copy, Default)]
struct About {
    /// The number of its first instruction, and of the one after its last.
    span: (u32, u32),
    /// If jumps from further down lead to it, unless it is cold: their numbers.
    ways: Option<Ways>,
    /// Whether it has been numbered, and whether code that comes later leads to it.
    is_placed: bool,
    is_led_back_to: bool,
    /// How many jumps and branches lead to it.
    leads: u32,
    /// If it is cold, the last instruction that leads there from code that runs.
    origin: u32,
}

/// See the file's top.
#[derive(Default)]
pub(super) struct Plan {
    /// Blocks in the order of their code.
    pub order: Vec<Block>,
    blocks: Vec<About>,
    /// Where jumps back lead to, and the blocks of code that runs that end with them.
    pub back: Vec<(Block, Block)>,
    /// By value.
    kinds: Vec<Kind>,
    counts: Vec<Counts>,
    ranges: Vec<Uses>,
    pub live: Live,
    /// The numbers of all uses, by value; and in order, with the value.
    uses: Vec<u32>,
    listed: Vec<(Value, u32)>,
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
        self.blocks.clear();
        self.blocks.resize(blocks, About::default());
        self.kinds.clear();
        self.kinds.resize(values, Kind::Plain);
        self.counts.clear();
        self.counts.resize(values, Counts::default());
        self.ranges.clear();
        self.ranges.resize(values, Uses::default());
        self.calls.clear();
        self.back.clear();
        self.live.reset(values);
        self.count(func, hot);
        self.fold(func);
        self.find_uses(func);
        self.find_live(func);
    }

    /// Numbers the instructions, finds constants and ways back, and counts uses.
    fn count(&mut self, func: &Function, hot: usize) {
        let mut number = 0;
        for at in 0..self.order.len() {
            let block = self.order[at];
            let about = &mut self.blocks[block.as_u32() as usize];
            about.span.0 = number;
            about.is_placed = true;
            for &param in func.block_params(block) {
                self.live.define(param, block);
            }
            for node in func.block_nodes(block) {
                match node.data {
                    Data::Int { bits } => self.set_kind(node.first(), Kind::Int(bits)),
                    Data::Float { bits } => self.set_kind(node.first(), Kind::Float(bits)),
                    _ => {
                        if matches!(node.data, Data::Call { .. }) && at < hot {
                            self.calls.push(number);
                        }
                        node.results().for_each(|result| self.live.define(result, block));
                        func.args_of(node).iter().for_each(|&arg| self.count_use(arg));
                        for target in node.targets() {
                            self.count_way(func, (block, number), target, at < hot);
                        }
                    }
                }
                number += 1;
            }
            self.blocks[block.as_u32() as usize].span.1 = number;
        }
    }

    fn count_use(&mut self, value: Value) {
        self.counts[value.as_u32() as usize].all += 1;
    }

    /// A block's last instruction, that of this number, leads to another block.
    fn count_way(&mut self, func: &Function, from: (Block, u32), to: &Target, is_hot: bool) {
        let (block, number) = from;
        let origin = if is_hot { number } else { self.blocks[block.as_u32() as usize].origin };
        let target = &mut self.blocks[to.block.as_u32() as usize];
        target.origin = origin.max(target.origin);
        target.leads += 1;
        if target.is_placed {
            target.is_led_back_to = true;
            if is_hot {
                target.ways.get_or_insert(Ways { first: number, last: number }).last = number;
                self.back.push((to.block, block));
            }
        }
        func.list(to.args).iter().for_each(|&arg| self.count_use(arg));
    }

    fn about(&self, block: Block) -> &About {
        &self.blocks[block.as_u32() as usize]
    }

    /// The number of a block's first instruction, and of the one after its last.
    pub(super) fn span(&self, block: Block) -> (u32, u32) {
        self.about(block).span
    }

    /// If a block is a loop, the jumps back to it.
    pub(super) fn ways(&self, block: Block) -> Option<Ways> {
        self.about(block).ways
    }

    /// Whether one jump or branch leads to a block, and no more.
    pub(super) fn has_one_way(&self, block: Block) -> bool {
        self.about(block).leads == 1
    }

    pub(super) fn kind(&self, value: Value) -> Kind {
        self.kinds[value.as_u32() as usize]
    }

    /// Whether nobody uses a value.
    pub(super) fn is_unused(&self, value: Value) -> bool {
        self.counts[value.as_u32() as usize].all == 0
    }

    fn set_kind(&mut self, value: Value, kind: Kind) {
        self.kinds[value.as_u32() as usize] = kind;
    }

    fn folds(&mut self, value: Value) {
        self.set_kind(value, Kind::Folded);
    }

    /// The instruction whose first result a value is, if nobody else uses it.
    fn alone(&self, func: &Function, value: Value) -> Option<Inst> {
        let is_alone = self.counts[value.as_u32() as usize].all == 1 && self.kind(value) == Kind::Plain;
        let inst = func.inst_of(value).filter(|_| is_alone)?;
        (func.first_result(inst) == value).then_some(inst)
    }

    /// Decides what is folded into what.
    fn fold(&mut self, func: &Function) {
        let mut sums = Vec::new();
        for at in 0..self.order.len() {
            let block = self.order[at];
            let first = func.first_inst(block).as_u32();
            for (inst, node) in (first..).map(Inst::from_u32).zip(func.block_nodes(block)) {
                match node.data {
                    Data::Brif { arg, .. } => self.fold_condition(func, inst, arg),
                    Data::Ternary { opcode: Opcode::Select, args } => {
                        self.fold_condition(func, inst, args[0]);
                    }
                    Data::Binary { opcode, args } => self.fold_double(func, inst, opcode, args[1]),
                    Data::Load { arg, .. } => self.fold_address(func, arg, &mut sums),
                    Data::Store { args, .. } => self.fold_address(func, args[1], &mut sums),
                    _ => {}
                }
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
    fn fold_double(&mut self, func: &Function, user: Inst, opcode: Opcode, operand: Value) {
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
        self.counts[address.as_u32() as usize].as_address += 1;
        let Some(sum) = self.only_address(func, address) else { return };
        if let Data::Binary { opcode: Opcode::Iadd, args } = func.data(sum) {
            if args.iter().all(|&arg| matches!(self.kind(arg), Kind::Plain)) {
                self.folds(address);
                self.counts[args[1].as_u32() as usize].as_address += 1;
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
            Some((_, count)) if count > MOST_SCALE => {
                self.counts[index.as_u32() as usize].is_less_scaled = true
            }
            _ => {}
        }
    }

    /// Whether a scaled index is computed with so much less, as the addresses that it is part of add it.
    pub(super) fn is_less_scaled(&self, value: Value) -> bool {
        self.counts[value.as_u32() as usize].is_less_scaled
    }

    /// The instruction whose first result a value is, if nobody uses it but as (part of) an address.
    fn only_address(&self, func: &Function, value: Value) -> Option<Inst> {
        let Counts { all, as_address, .. } = self.counts[value.as_u32() as usize];
        let is_only = all == as_address && self.kind(value) == Kind::Plain;
        let inst = func.inst_of(value).filter(|_| is_only)?;
        (func.first_result(inst) == value).then_some(inst)
    }

    /// All values that an instruction uses in registers, with those of what is folded into it.
    pub(super) fn each_use(&self, func: &Function, node: &Node, each: &mut impl FnMut(Value)) {
        for &arg in func.args_of(node) {
            self.each_of(func, arg, each);
        }
        for target in node.targets() {
            for &arg in func.list(target.args) {
                self.each_of(func, arg, each);
            }
        }
    }

    fn each_of(&self, func: &Function, arg: Value, each: &mut impl FnMut(Value)) {
        match self.kind(arg) {
            Kind::Plain => each(arg),
            Kind::Int(_) | Kind::Float(_) => {}
            Kind::Folded => self.each_folded_use(func, arg, each),
        }
    }

    fn each_folded_use(&self, func: &Function, folded: Value, each: &mut dyn FnMut(Value)) {
        let inst = func.inst_of(folded).expect("what is folded is a result");
        for &arg in func.inst_args(inst) {
            match self.kind(arg) {
                Kind::Plain => each(arg),
                Kind::Int(_) | Kind::Float(_) => {}
                Kind::Folded => self.each_folded_use(func, arg, each),
            }
        }
    }

    /// Lists the uses, by value in the end.
    fn find_uses(&mut self, func: &Function) {
        let mut listed = std::mem::take(&mut self.listed);
        listed.clear();
        for &block in &self.order {
            let from = listed.len();
            for (number, node) in (self.span(block).0..).zip(func.block_nodes(block)) {
                let is_folded = node.result().is_some_and(|first| self.kind(first) == Kind::Folded);
                if !is_folded {
                    self.each_use(func, node, &mut |value| listed.push((value, number)));
                }
            }
            for &(value, _) in &listed[from..] {
                self.ranges[value.as_u32() as usize].end += 1;
                self.live.used(value, block);
            }
        }
        let mut next = 0;
        for range in &mut self.ranges {
            // As many as there are; the end moves on as they are filled in.
            let count = std::mem::replace(&mut range.end, next);
            range.start = next;
            next += count;
        }
        self.live.number(self.blocks.len());
        self.uses.clear();
        self.uses.resize(listed.len(), 0);
        let mut rest = &listed[..];
        for &block in &self.order {
            let &About { span: (_, end), origin, .. } = self.about(block);
            let is_cold = func.is_cold(block);
            while let [(value, number), others @ ..] = rest {
                if *number >= end {
                    break;
                }
                rest = others;
                let range = &mut self.ranges[value.as_u32() as usize];
                self.uses[range.end as usize] = *number;
                range.end += 1;
                range.last = range.last.max(if is_cold { origin } else { *number });
                self.live.wanted(*value, block);
            }
        }
        self.listed = listed;
    }

    /// Where a value is used, in order.
    pub(super) fn uses(&self, value: Value) -> &[u32] {
        let Uses { start, end, .. } = self.ranges[value.as_u32() as usize];
        &self.uses[start as usize..end as usize]
    }

    /// Where a value is used last.
    pub(super) fn last_use(&self, value: Value) -> Option<u32> {
        let Uses { start, end, .. } = self.ranges[value.as_u32() as usize];
        (start < end).then(|| self.uses[end as usize - 1])
    }

    /// Where a value is used next after an instruction.
    pub(super) fn next_use(&self, value: Value, after: u32) -> Option<u32> {
        let uses = self.uses(value);
        uses.get(uses.partition_point(|&number| number <= after)).copied()
    }

    /// What a value wants of a register that it gets here: what happens while it is wanted decides.
    pub(super) fn wish(&self, value: Value, from: u32) -> Wish {
        let last = self.ranges[value.as_u32() as usize].last;
        let call = self.calls.get(self.calls.partition_point(|&call| call <= from));
        Wish { at: None, preserved: call.is_some_and(|&call| call < last) }
    }

    fn find_live(&mut self, func: &Function) {
        while self.spread(func) {}
        for &(block, _) in &self.back {
            let end = self.ways(block).map_or(0, |ways| ways.last);
            for value in self.live.at_start(block) {
                let last = &mut self.ranges[value.as_u32() as usize].last;
                *last = end.max(*last);
            }
        }
    }

    /// Takes what successors want to each block once, last blocks first. Another round is wanted if there is
    /// news for a block to which later code leads: that code had its turn before.
    fn spread(&mut self, func: &Function) -> bool {
        let mut again = false;
        for &block in self.order.iter().rev() {
            let targets = func.ways_from(block);
            for target in targets {
                self.live.lead(block, target.block);
            }
            // Whoever leads nowhere wants what it uses, as was found.
            let is_news = !targets.is_empty() && self.live.pass(block);
            again |= is_news && self.about(block).is_led_back_to;
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
