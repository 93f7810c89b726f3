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

use crate::lir::Target;
use cranelift_codegen::ir::{Block, Value};
use tracelift_core::planted::{planted, Bug};

use super::asm::{Label, Reg};
use super::emit::{Edge, Emit, Entry, Parts};
use super::moves::{self, Move, Source};
use super::places::{choose, Place, FLOATS, INTS, PRESERVED};
use super::plan::{is_double, Ways};
use super::{Result, Unsupported};

/// Values that go around a loop in registers at most: some are left for what it computes. Measured: with 8
/// or 9 integers FFT(1024) takes 1.07 of the time, with more 1.0; with 9 or 13 doubles conv3x3 takes 1.06 to
/// 1.09.
const LOOP_INTS: usize = 10;
const LOOP_FLOATS: usize = 11;

impl Emit<'_> {
    /// Goes on with a block for sure.
    pub(super) fn jump(&mut self, to: Target) -> Result<()> {
        let block = to.block;
        let mut moves = self.held.moves(0);
        self.edge(to, &mut moves)?;
        moves.retain(|step| step.from != Source::Place(step.to));
        let here = Label::of_block(self.block);
        // The way to a shared stub, as a rule. No cold code is a loop, so that nobody waits for himself.
        let is_way = self.func.is_cold(self.block) && self.asm.is_here(here) && !self.is_fallen_into;
        if is_way && moves.is_empty() && self.next != Some(block) {
            self.asm.forward(here, Label::of_block(block));
            self.held.keep(0, moves);
            return Ok(());
        }
        self.move_all(&mut moves);
        self.held.keep(0, moves);
        self.go_to(block);
        Ok(())
    }

    /// Goes on with a block, by a jump if its code is not next.
    pub(super) fn go_to(&mut self, block: Block) {
        self.falls = self.next == Some(block);
        if !self.falls {
            let label = Label::of_block(block);
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
    pub(super) fn branch(&mut self, condition: Value, blocks: [Target; 2]) -> Result<()> {
        if self.never_holds(condition) {
            return self.jump(blocks[1]);
        }
        let mut test = self.test(condition)?;
        let [yes, no] = blocks;
        // The one that follows needs no jump.
        let (mut taken, mut other) = (yes, no);
        if self.next == Some(yes.block) {
            (taken, other) = (no, yes);
            test = test.opposite();
        }
        let (mut taken_moves, mut other_moves) = (self.held.moves(0), self.held.moves(1));
        self.edge(taken, &mut taken_moves)?;
        self.edge(other, &mut other_moves)?;
        let mut to = Label::of_block(taken.block);
        if taken_moves.iter().any(|step| step.from != Source::Place(step.to)) {
            let label = self.asm.label();
            self.edges.push(Edge { label, moves: taken_moves, to });
            to = label;
        } else {
            self.held.keep(0, taken_moves);
        }
        test.jump(self.asm, to);
        self.move_all(&mut other_moves);
        self.held.keep(1, other_moves);
        self.go_to(other.block);
        Ok(())
    }

    /// The moves that lead to a block from here. If nobody has led there yet, its values begin where they are
    /// now.
    pub(super) fn edge(&mut self, call: Target, moves: &mut Vec<Move>) -> Result<()> {
        let block = call.block;
        let args = self.func.list(call.args);
        if args.len() != self.func.block_params(block).len() {
            return Err(Unsupported("arguments of a jump"));
        }
        let (parts, stays) = match self.held.entry(block) {
            Some(Entry::In(parts)) => (parts, false),
            Some(Entry::AsItIs) => return Err(Unsupported("another way to a block")),
            None if self.goes_straight(block) => {
                self.held.set_entry(block, Entry::AsItIs);
                return Ok(());
            }
            None => {
                let parts = self.begin(block, args);
                self.held.set_entry(block, Entry::In(parts));
                // Where code leads first, values stay in their places, unless it is a loop.
                let stays = self.plan.ways(block).is_none();
                if !stays {
                    self.hint_back(block, parts);
                }
                (parts, stays)
            }
        };
        for (at, &arg) in (parts.params.0..parts.params.1).zip(args) {
            let place = self.held.params[at as usize];
            moves.push(Move { to: place, from: self.source(arg)? });
            if let Place::Reg(reg) = place {
                self.used |= reg.bit();
            }
        }
        for at in if stays { 0..0 } else { parts.values.0..parts.values.1 } {
            let (value, reg, is_stored) = self.held.values[at as usize];
            let from = self.source(value)?;
            if is_stored && !self.places.is_stored(value) && !planted(Bug::QuickEdgeUnstored) {
                moves.push(Move { to: Place::Slot(self.places.slot(value)), from });
            }
            if let Some(reg) = reg {
                moves.push(Move { to: Place::Reg(reg), from });
                self.used |= reg.bit();
            }
        }
        Ok(())
    }

    /// Whether a block is reached from here alone, and its code comes next. Then its values stay where they
    /// are, and no list of their places is made. Most guards go on in such a block.
    fn goes_straight(&self, block: Block) -> bool {
        self.next == Some(block) && self.plan.has_one_way(block) && self.func.block_params(block).is_empty()
    }

    /// Decides where the values of a block begin that is reached from here first.
    pub(super) fn begin(&mut self, block: Block, args: &[Value]) -> Parts {
        let plan = self.plan;
        let before = self.held.len();
        let mut taken = 0;
        for value in plan.live.at_start(block) {
            let reg = self.places.reg(value);
            taken |= reg.map_or(0, Reg::bit);
            self.held.values.push((value, reg, self.places.is_stored(value)));
        }
        let params = self.func.block_params(block);
        match plan.ways(block) {
            Some(ways) => self.begin_loop(block, args, ways, before),
            None => {
                for (&param, &arg) in params.iter().zip(args) {
                    let place = self.param(param, arg, &mut taken);
                    self.held.params.push(place);
                }
            }
        }
        self.held.since(before)
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

    /// The same for a loop: what its own way uses most gets registers, of which some are left for what it
    /// computes. In a tree of traces the jumps back that come later are those of side traces, and of loops
    /// around it, whose uses would take registers from the loop that runs most. Its values come after so many
    /// of others.
    fn begin_loop(&mut self, block: Block, args: &[Value], ways: Ways, before: (usize, usize)) {
        let (first, _) = self.plan.span(block);
        let uses_in = |value: Value| {
            let uses = self.plan.uses(value);
            uses.partition_point(|&number| number <= ways.first)
                - uses.partition_point(|&number| number < first)
        };
        let params = self.func.block_params(block);
        let mut wanted: Vec<(usize, Value, usize)> = Vec::new();
        wanted.extend(params.iter().enumerate().map(|(at, &param)| (uses_in(param) + 1, param, at)));
        wanted.extend(
            (self.held.values[before.0..].iter().enumerate())
                .map(|(at, &(value, ..))| (uses_in(value), value, params.len() + at)),
        );
        wanted.sort_by_key(|&(uses, value, _)| (std::cmp::Reverse(uses), value));
        let mut room = [LOOP_INTS, LOOP_FLOATS];
        let mut taken = 0;
        self.held.params.resize(before.1 + params.len(), Place::Slot(0));
        for (uses, value, at) in wanted {
            let is_float = is_double(self.func, value);
            let room = &mut room[usize::from(is_float)];
            let fits = *room > 0 && uses > 0;
            *room -= usize::from(fits);
            if let Some(at) = at.checked_sub(params.len()) {
                let (_, now, is_stored) = self.held.values[before.0 + at];
                let reg = match fits {
                    true => self.free_place(value, is_float, taken, now, block),
                    false => None,
                };
                taken |= reg.map_or(0, Reg::bit);
                // What leaves its register before the loop is in its slot.
                self.held.values[before.0 + at] = (value, reg, is_stored || reg.is_none());
            } else {
                let reg = match fits {
                    true => self.free_place(value, is_float, taken, self.places.reg(args[at]), block),
                    false => None,
                };
                taken |= reg.map_or(0, Reg::bit);
                self.held.params[before.1 + at] = match reg {
                    Some(reg) => Place::Reg(reg),
                    None => Place::Slot(self.places.slot(value)),
                };
            }
        }
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
        let first = self.plan.span(block).0.saturating_sub(1);
        let wish = self.plan.wish(value, first);
        let now = now.filter(|reg| !wish.preserved || PRESERVED & reg.bit() != 0);
        choose(all & !taken, wish.at(now))
    }

    /// What jumps back to a loop is best computed where the loop wants it.
    fn hint_back(&mut self, block: Block, parts: Parts) {
        for &(_, from) in self.plan.back.iter().filter(|&&(target, _)| target == block) {
            for target in self.func.ways_from(from) {
                for (&arg, &place) in self.func.list(target.args).iter().zip(self.held.params_of(parts)) {
                    if let (Place::Reg(reg), Some(_)) = (place, self.func.inst_of(arg)) {
                        self.places.set_hint(arg, reg);
                    }
                }
            }
        }
    }
}
