//! Guards and exit stubs.
//!
//! Problem: a trace has one guard in three operations, each with its own way out, and a way out that costs
//! hot code or much cold code is too expensive. Design: a guard is `brif fail, way, next`; the way is a cold
//! block that jumps to the exit's stub, or is the stub if no other guard leaves by that exit. A stub is a
//! cold block that stores the snapshot's values to the exit buffer, whose address is a constant there (so no
//! register is held for it), and passes the exit's number to the one block that returns. The jumps of the
//! ways vanish in the code; branches to the stub itself would have to be split by Cranelift, which takes
//! longer.
//!
//! Invariant: a stub stores the exit table's values in the exit table's order; all of them are known at the
//! part's first guard of that exit, since snapshots are taken before their guards.
//!
//! Example: `guard_true(i1)` at snapshot 3, exit 5, with `i2` live, becomes `brif fail, way, next`,
//! `way: jump stub5`, and `stub5: store i2; jump return(5)`.

use crate::lir::Builder;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{types, Block, MemFlagsData, SourceLoc};
use tracelift_core::ops::Flags;
use tracelift_core::planted::{planted, Bug};
use tracelift_core::{ExitKind, Inst, Op, Trace, Type, Value};

use super::checks::Groups;
use super::unroll::Unroll;
use super::{arg, Input, Lowering, Result, Ssa};
use crate::exits::ENTRY_REFUSED;
use crate::glue;
use crate::listing::location;

/// The stubs of the current part, and the block that all of them end in.
pub(super) struct Stubs {
    /// Returns its parameter, an exit number, with the trace's number. In a loop a second one is added to
    /// what was replaced.
    return_block: Block,
    by_exit: Vec<Option<Block>>,
    /// How many branches lead to each exit's stub, if there were one for the whole trace.
    branches: Vec<u32>,
    /// How many there are in the whole trace.
    pub(super) made: usize,
}

impl Stubs {
    pub(super) fn new(b: &mut Builder<'_>, branches: Vec<u32>, counts_replaced: bool) -> Stubs {
        let return_block = b.create_block();
        b.append_block_param(return_block, types::I32);
        if counts_replaced {
            b.append_block_param(return_block, types::I64);
        }
        b.set_cold_block(return_block);
        Stubs { return_block, by_exit: vec![None; branches.len()], branches, made: 0 }
    }

    /// Another part begins, whose values are others.
    pub(super) fn forget(&mut self) {
        self.by_exit.fill(None);
    }
}

/// How many branches lead out of the trace by each of its exits; each guard has one more where tests force
/// them.
pub(super) fn branches(input: &Input<'_>, groups: &Groups) -> Vec<u32> {
    let forced = u32::from(input.request.force_counter.is_some());
    let mut branches = vec![0; input.exits.len()];
    for (index, (inst, exit)) in input.trace.insts.iter().zip(input.exit_numbers).enumerate() {
        if let Some(exit) = exit.filter(|_| inst.op.is_guard()) {
            let own = u32::from(groups.branches(index)) + u32::from(inst.op == Op::FloatToIntExact);
            branches[exit as usize] += own + forced;
        }
    }
    branches
}

/// The first guard in a loop that leaves when the host is to be interrupted, if it is one that tests a flag.
pub(super) fn first_for_interruptions(trace: &Trace) -> Option<usize> {
    let label = trace.insts.iter().rposition(|inst| inst.op == Op::Label)?;
    let is_it =
        |inst: &Inst| matches!(inst.op, Op::GuardTrue | Op::GuardFalse) && inst.exit == ExitKind::Interrupt;
    trace.insts[label..].iter().position(is_it).map(|at| label + at)
}

impl Lowering<'_, '_, '_> {
    /// Fills the block that returns: last, when the trace itself is lowered.
    pub(super) fn emit_return_block(&mut self) -> Result<()> {
        let block = self.stubs.return_block;
        self.b.switch_to_block(block);
        self.b.set_srcloc(SourceLoc::new(location::RETURN));
        let number = self.b.block_params(block)[0];
        if self.is_in_unit() {
            return self.emit_left_block(number);
        }
        let replaced = self.b.block_params(block).get(1).copied();
        self.add_replaced(replaced);
        let mut result = self.b.uextend(types::I64, number);
        let trace_no = self.input.request.trace_no;
        if trace_no != 0 {
            let upper = self.iconst((u64::from(trace_no) << 32) as i64);
            result = self.b.bor(result, upper);
        }
        let Some(links) = &self.input.request.links else {
            self.b.return_(&[result]);
            return Ok(());
        };
        let cells = self.iconst(links.cells as i64);
        let number = self.b.uextend(types::I64, number);
        let offset = self.b.ishl_imm_u(number, 3);
        let cell = self.b.iadd(cells, offset);
        let base = self.base_of(0)?;
        self.go_on(cell, 0, base, result)
    }

    /// Adds what a loop has replaced since it was entered to the sum.
    pub(super) fn add_replaced(&mut self, replaced: Option<Ssa>) {
        let (Some(amounts), Some(replaced)) = (self.input.request.replaced, replaced) else { return };
        let total = self.iconst(amounts.total as i64);
        let before = self.b.load(types::I64, MemFlagsData::trusted(), total, 0);
        let after = self.b.iadd(before, replaced);
        self.b.store(MemFlagsData::trusted(), after, total, 0);
    }

    /// Goes on where a link cell says, in the frame with that base.
    pub(super) fn go_on(&mut self, cell: Ssa, offset: i32, base: Ssa, exit: Ssa) -> Result<()> {
        let context = self.context()?;
        let next = self.b.load(types::I64, MemFlagsData::trusted(), cell, offset);
        let callee = glue::import_signature(&mut self.b);
        self.b.return_call_indirect(callee, next, &[context, base, exit]);
        Ok(())
    }

    /// If the flag is not zero, goes on where slots of other types lead, or returns the exit by which the
    /// program came, or [`ENTRY_REFUSED`].
    pub(super) fn refuse_if(&mut self, flag: Ssa) -> Result<()> {
        let other = self.input.request.links.as_ref().map(|links| links.other).filter(|cell| !cell.is_null());
        let (way, next) = (self.cold_block(), self.b.create_block());
        self.b.brif(flag, way, &[], next, &[]);
        self.b.switch_to_block(way);
        self.b.set_srcloc(SourceLoc::new(location::STUB | location::ENTRY));
        match (self.origin, other) {
            (Some(origin), Some(other)) => {
                let cell = self.iconst(other as i64);
                self.go_on(cell, 0, self.base, origin)?;
            }
            (Some(origin), None) => {
                self.b.return_(&[origin, self.base]);
            }
            (None, _) => self.pass_number(self.stubs.return_block, ENTRY_REFUSED),
        }
        self.b.set_srcloc(SourceLoc::new(location::ENTRY));
        self.b.switch_to_block(next);
        Ok(())
    }

    /// Leaves the trace by this exit if the flag is set: to its stub, if that is there.
    pub(super) fn leave_if(&mut self, flag: Ssa, inst: &Inst, exit: u32) -> Result<()> {
        let next = self.b.create_block();
        self.leave_if_not(flag, inst, exit, next)
    }

    /// The same; else code goes on in that block.
    pub(super) fn leave_if_not(&mut self, flag: Ssa, inst: &Inst, exit: u32, next: Block) -> Result<()> {
        if let Some(stub) = self.stubs.by_exit[exit as usize] {
            self.b.brif(flag, stub, &[], next, &[]);
        } else {
            let way = self.way_block(exit);
            self.b.brif(flag, way, &[], next, &[]);
            self.b.switch_to_block(way);
            self.leave(inst, exit)?;
        }
        self.b.switch_to_block(next);
        Ok(())
    }

    /// Ends the current block, a cold one, by going to the exit's stub; or makes it the stub, if nobody
    /// shares it.
    pub(super) fn leave(&mut self, inst: &Inst, exit: u32) -> Result<()> {
        let hot = self.b.srcloc();
        self.b.set_srcloc(SourceLoc::new(location::STUB | self.mark(self.index)));
        match self.stubs.by_exit[exit as usize] {
            Some(stub) => {
                self.b.jump(stub, &[]);
            }
            None => self.make_stub(inst, exit)?,
        }
        self.b.set_srcloc(hot);
        Ok(())
    }

    /// Makes the stub of an exit in the part that is lowered now, from the current block on.
    fn make_stub(&mut self, inst: &Inst, exit: u32) -> Result<()> {
        if self.stubs.branches[exit as usize] > 1 {
            let stub = match self.b.current_block().filter(|&block| !self.b.func.is_begun(block)) {
                Some(way) => way,
                None => {
                    let stub = self.way_block(exit);
                    self.b.jump(stub, &[]);
                    self.b.switch_to_block(stub);
                    stub
                }
            };
            self.stubs.by_exit[exit as usize] = Some(stub);
        }
        let replaced = (self.replaced, self.replaced_more);
        (self.replaced, self.replaced_more) = (self.replaced_now(), 0);
        self.fill_stub(inst, exit)?;
        (self.replaced, self.replaced_more) = replaced;
        Ok(())
    }

    fn fill_stub(&mut self, inst: &Inst, exit: u32) -> Result<()> {
        if let Some(side) = self.side_at(exit) {
            self.begin_way(inst, exit, side);
            return Ok(());
        }
        self.in_stub = true;
        self.count_edges(inst);
        if !planted(Bug::RegionWaitingForgotten) {
            self.write_waiting()?;
        }
        self.store_live(exit)?;
        self.pass_number(self.stubs.return_block, exit);
        self.in_stub = false;
        self.stubs.made += 1;
        Ok(())
    }

    /// Goes on at the return block with that exit number. Only cold blocks may do so: a number passed by the
    /// guard's own branch would be loaded into a register each time that the guard holds.
    fn pass_number(&mut self, block: Block, number: u32) {
        let number = self.b.iconst(types::I32, i64::from(number));
        match self.replaced {
            Some(replaced) => self.b.jump(block, &[number, replaced]),
            None => self.b.jump(block, &[number]),
        };
    }

    /// The way out by an exit: cold, unless a side trace begins there.
    fn way_block(&mut self, exit: u32) -> Block {
        match self.side_at(exit) {
            Some(_) => self.b.create_block(),
            None => self.cold_block(),
        }
    }

    pub(super) fn cold_block(&mut self) -> Block {
        let block = self.b.create_block();
        self.b.set_cold_block(block);
        block
    }

    /// Stores an exit's values to the exit buffer.
    pub(super) fn store_live(&mut self, exit: u32) -> Result<()> {
        let exits = self.input.exits;
        let live: &[Value] = &exits[exit as usize].live;
        if live.is_empty() {
            return Ok(());
        }
        let buffer = self.iconst(self.input.request.exit_buffer as i64);
        for (cell, &value) in live.iter().enumerate() {
            let value = self.value(value)?;
            self.b.store(MemFlagsData::trusted(), value, buffer, cell as i32 * 8);
        }
        Ok(())
    }

    /// The test facility: counts this execution of a guard, and leaves if it is the one that is to fail.
    pub(super) fn count_guard(&mut self, inst: &Inst, exit: u32) -> Result<()> {
        let Some(counter) = self.input.request.force_counter else { return Ok(()) };
        let left = self.add_to_cell(counter, -1);
        let forced = self.b.icmp_imm_s(IntCC::Equal, left, 0);
        self.leave_if(forced, inst, exit)
    }

    /// Goes on if the condition is as wanted.
    pub(super) fn guard_condition(&mut self, inst: &Inst, exit: u32, wanted: bool) -> Result<()> {
        let mut fails = self.condition(arg(inst, 0, self.index)?, !wanted)?;
        if let Some(counter) = self.input.request.turns.filter(|_| self.turns_at == Some(self.index)) {
            let left = self.add_to_cell(counter.cast(), -1);
            let enough = self.b.icmp_imm_s(IntCC::SignedLessThan, left, 0);
            fails = self.b.bor(fails, enough);
        }
        self.leave_if(fails, inst, exit)
    }

    /// Counts the operations from here to the part's end, and leaves when there were enough. It neither looks
    /// nor leaves if nobody wants to know.
    pub(super) fn counted_check(&mut self, inst: &Inst, exit: u32) -> Result<()> {
        let Some(counter) = self.input.request.collect_counter else { return Ok(()) };
        let copies = self.unroll.as_ref().map_or(1, Unroll::copies) as i64;
        let rest = &self.input.trace.insts[self.index..];
        let ops = rest.iter().position(|inst| inst.op.is(Flags::ENDS)).unwrap_or(rest.len());
        let left = self.add_to_cell(counter.cast(), -(ops as i64 * copies));
        let enough = self.b.icmp_imm_s(IntCC::SignedLessThan, left, 0);
        self.leave_if(enough, inst, exit)
    }

    /// Goes on if both operands have the same bits: doubles too, so 0.0 is not -0.0, and a NaN is itself.
    pub(super) fn guard_value(&mut self, inst: &Inst, exit: u32) -> Result<()> {
        let (mut found, expected) = (self.operand(inst, 0)?, arg(inst, 1, self.index)?);
        let expected = if self.input.trace.ty(expected) == Type::Float {
            found = self.b.bitcast(types::I64, found);
            match self.input.trace.bits_of(expected) {
                Some(bits) => self.iconst(bits as i64),
                None => {
                    let expected = self.value(expected)?;
                    self.b.bitcast(types::I64, expected)
                }
            }
        } else {
            self.value(expected)?
        };
        let differs = self.b.icmp(IntCC::NotEqual, found, expected);
        self.leave_if(differs, inst, exit)
    }

    /// Goes on if the pointer is null (`wanted`), or if it is not.
    pub(super) fn guard_null(&mut self, inst: &Inst, exit: u32, wanted: bool) -> Result<()> {
        let pointer = self.operand(inst, 0)?;
        let cc = if wanted { IntCC::NotEqual } else { IntCC::Equal };
        let fails = self.b.icmp_imm_s(cc, pointer, 0);
        self.leave_if(fails, inst, exit)
    }

    /// Leaves for good. What follows is never reached, but lowered all the same.
    pub(super) fn guard_always_fails(&mut self, inst: &Inst, exit: u32) -> Result<()> {
        let way = self.way_block(exit);
        self.b.jump(way, &[]);
        self.b.switch_to_block(way);
        self.leave(inst, exit)?;
        let never = self.b.create_block();
        self.b.switch_to_block(never);
        Ok(())
    }

    /// Counts the back edges that were passed up to this exit without a jump.
    fn count_edges(&mut self, inst: &Inst) {
        self.count_passed(self.edges_at(inst));
    }

    pub(super) fn count_passed(&mut self, edges: i64) {
        if let Some(counter) = self.input.request.iteration_counter.filter(|_| edges > 0) {
            self.add_to_cell(counter, edges);
        }
    }

    /// The back edges that were passed up to this exit without a jump: by a side trace, or by copies of the
    /// loop.
    pub(super) fn edges_at(&self, inst: &Inst) -> i64 {
        let edges = self.input.trace.snapshot_of(inst).map_or(0, |snapshot| snapshot.edges);
        let copies = self.unroll.as_ref().map_or(0, Unroll::jumps_passed);
        self.edges_of_jumps(copies) + i64::from(edges)
    }

    /// Back edges that the host passes in so many iterations.
    pub(super) fn edges_of_jumps(&self, jumps: usize) -> i64 {
        let inner = self.input.request.links.as_ref().map_or(0, |links| links.edges_per_jump);
        jumps as i64 * (1 + i64::from(inner))
    }

    /// Goes on after the end of a trace in the frame that it ends in.
    fn go_on_in_frame(&mut self, exit: u32, frame: i32) -> Result<()> {
        let Some(links) = &self.input.request.links else {
            return Err(self.malformed("an end without links"));
        };
        let cells = self.iconst(links.cells as i64);
        let base = self.base_of(frame)?;
        let exit_and_trace = u64::from(self.input.request.trace_no) << 32 | u64::from(exit);
        let result = self.iconst(exit_and_trace as i64);
        self.go_on(cells, exit as i32 * 8, base, result)
    }

    /// Ends the trace: its results and its snapshot's values are stored here, not in a stub, and no guard
    /// shares it.
    pub(super) fn finish(&mut self, inst: &Inst, exit: u32) -> Result<()> {
        self.count_end(inst);
        let is_linked = self.input.request.links.as_ref().is_some_and(|links| links.finish_writes_slots);
        match is_linked {
            true if self.input.goes_to.is_some() && planted(Bug::RegionEndUnwritten) => {}
            true => {
                let writes = self.writes_at_end(inst)?;
                self.write_uncovered(writes)?;
            }
            false => {
                self.write_waiting()?;
                self.store_live(exit)?;
            }
        }
        if let Some(to) = self.input.goes_to {
            if self.jump_to(to, inst, exit)? {
                return Ok(());
            }
        }
        match is_linked {
            true => {
                self.write_waiting()?;
                self.add_replaced(self.replaced);
                self.go_on_in_frame(exit, self.input.trace.last_frame(inst))?;
            }
            false => self.pass_number(self.stubs.return_block, exit),
        }
        self.open = false;
        Ok(())
    }

    /// Counts what the trace has passed and replaced where it ends.
    pub(super) fn count_end(&mut self, inst: &Inst) {
        self.count_edges(inst);
        if let Some(amounts) = self.input.request.replaced.filter(|amounts| amounts.finish > 0) {
            match self.replaced {
                Some(replaced) => {
                    self.replaced = Some(self.b.iadd_imm_s(replaced, i64::from(amounts.finish)));
                }
                None => drop(self.add_to_cell(amounts.total, i64::from(amounts.finish))),
            }
        }
    }
}
