//! Where code meets code: jumps, branches, loops.
//!
//! Problem: a block has its values in certain places, and code comes to it from several others, which have
//! them elsewhere. Design: who leads to a block first decides: its values stay where they are. Whoever comes
//! later moves them there, on the way: before the jump, or, where a branch leads there, in a piece of code of
//! its own. For a loop it is decided anew what goes around in registers: what it uses most, whether passed or
//! only looked at; what it passes is computed into these registers, if they are free then.
//!
//! Invariant: nothing is moved on the way that a branch does not take. Example: `jump block1(v3)` back to a
//! loop that has its parameter in `rax` is `mov rax, rcx; jmp block1`, or the jump alone, if `v3` is there.

use cranelift_codegen::ir::{Block, BlockCall, Value, ValueDef};
use tracelift_core::planted::{planted, Bug};

use super::asm::Reg;
use super::emit::{Edge, Emit, Entry};
use super::moves::{self, Move, Source};
use super::places::{choose, Place, FLOATS, INTS, PRESERVED};
use super::plan::{is_double, passed, targets};
use super::{Result, Unsupported};

/// Values that go around a loop in registers at most: some are left for what it computes. Chosen, not
/// measured.
const LOOP_INTS: usize = 10;
const LOOP_FLOATS: usize = 11;

impl Emit<'_> {
    /// Goes on with a block for sure.
    pub(super) fn jump(&mut self, to: &BlockCall) -> Result<()> {
        let block = to.block(&self.func.dfg.value_lists);
        let mut moves = self.edge(to)?;
        moves.retain(|step| step.from != Source::Place(step.to));
        let here = self.labels[self.block.as_u32() as usize];
        // The way to a shared stub, as a rule. No cold code is a loop, so that nobody waits for himself.
        let is_way = self.func.layout.is_cold(self.block) && self.asm.is_here(here) && !self.is_fallen_into;
        if is_way && moves.is_empty() && self.next != Some(block) {
            self.asm.forward(here, self.labels[block.as_u32() as usize]);
            return Ok(());
        }
        self.move_all(&mut moves);
        self.go_to(block);
        Ok(())
    }

    /// Goes on with a block, by a jump if its code is not next.
    pub(super) fn go_to(&mut self, block: Block) {
        self.falls = self.next == Some(block);
        if !self.falls {
            let label = self.labels[block.as_u32() as usize];
            self.asm.jump(label);
        }
    }

    /// Makes moves here; constants in the scratch register are gone then.
    pub(super) fn move_all(&mut self, moves: &mut Vec<Move>) {
        if !moves.is_empty() {
            moves::make(self.asm, moves);
            self.scratch.holds = None;
        }
    }

    /// Goes on with one of two blocks.
    pub(super) fn branch(&mut self, condition: Value, blocks: &[BlockCall; 2]) -> Result<()> {
        if self.never_holds(condition) {
            return self.jump(&blocks[1]);
        }
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
        self.go_to(other.block(pool));
        Ok(())
    }

    /// The moves that lead to a block from here. If nobody has led there yet, its values begin where they are
    /// now.
    pub(super) fn edge(&mut self, call: &BlockCall) -> Result<Vec<Move>> {
        let block = call.block(&self.func.dfg.value_lists);
        let mut args = std::mem::take(&mut self.args);
        args.clear();
        args.extend(passed(self.func, call));
        let known = self.entries[block.as_u32() as usize].take();
        // Where code leads first, values stay in their places, unless it is a loop.
        let stays = known.is_none() && self.plan.loops[block.as_u32() as usize].is_none();
        let entry = match known {
            Some(entry) => entry,
            None => {
                let entry = self.begin(block, &args);
                self.hint_back(block, &entry);
                entry
            }
        };
        let func = self.func;
        let values = if stays { &[][..] } else { &entry.values };
        let mut moves = Vec::with_capacity(args.len() + values.len());
        for (&place, &arg) in entry.params.iter().zip(&args) {
            moves.push(Move { to: place, from: self.source(arg)? });
            if let Place::Reg(reg) = place {
                self.used |= reg.bit();
            }
        }
        self.args = args;
        for &(value, reg, is_stored) in values {
            let from = self.source(value)?;
            if is_stored && !self.places.is_stored(value) && !planted(Bug::QuickEdgeUnstored) {
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
    pub(super) fn begin(&mut self, block: Block, args: &[Value]) -> Entry {
        let plan = self.plan;
        let mut entry = Entry {
            values: Vec::with_capacity(plan.live.count_at_start(block)),
            params: Vec::with_capacity(args.len()),
        };
        for value in plan.live.at_start(block) {
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
    pub(super) fn param(&mut self, param: Value, arg: Value, taken: &mut u32) -> Place {
        let all = if is_double(self.func, param) { FLOATS } else { INTS };
        let wish = self.plan.wish(param, self.number);
        let at = self.places.reg(arg).filter(|reg| !wish.preserved || PRESERVED & reg.bit() != 0);
        match choose(all & !*taken, wish.at(at)) {
            Some(reg) => {
                *taken |= reg.bit();
                Place::Reg(reg)
            }
            None => Place::Slot(self.places.slot(param)),
        }
    }

    /// The same for a loop: what it uses most gets registers, of which some are left for what it computes.
    pub(super) fn begin_loop(&mut self, block: Block, args: &[Value], last: u32, entry: &mut Entry) {
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

    /// The register of a value where a loop begins: the one where it is now, if it may.
    pub(super) fn free_place(
        &self,
        value: Value,
        is_float: bool,
        taken: u32,
        now: Option<Reg>,
        block: Block,
    ) -> Option<Reg> {
        let all = if is_float { FLOATS } else { INTS };
        // As if it were there just before.
        let first = self.plan.spans[block.as_u32() as usize].0.saturating_sub(1);
        let wish = self.plan.wish(value, first);
        let now = now.filter(|reg| !wish.preserved || PRESERVED & reg.bit() != 0);
        choose(all & !taken, wish.at(now))
    }

    /// What jumps back to a loop is best computed where the loop wants it.
    pub(super) fn hint_back(&mut self, block: Block, entry: &Entry) {
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
}
