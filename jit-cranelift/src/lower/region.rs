//! Regions: a tree of traces as one function.
//!
//! Problem: where a loop has several ways, the program crosses from the loop's trace to a side trace and back
//! all the time. Between functions that takes an exit's stores, a jump through a cell, a prologue, loads, and
//! at the end the same again through the host's slots: forty instructions for ways of a dozen. Design: a
//! side trace begins in the block that would be its exit's stub, and its inputs are the exit's values where
//! they are. At its end it writes the host's slots, as the loop relies on those that it does not read at its
//! entry (not all of them: see `frame.rs`); what it does read there is passed to the loop's first label in
//! registers, with what was counted on the way. Tags that are known need no check. The *ways* into side
//! traces are made when the trace with the exits is finished, so that they do not stand in the middle of its
//! code.
//!
//! Traces of units become one function in the same way (`units.rs`); they end by a return instead.
//!
//! Invariants: what a region does can be told from the linked traces' by its speed only. So a side trace that
//! finds other tags at its entry leaves by the exit before it, and a loop that does, at its entry from a side
//! trace, by that one's end; both to the host, who goes on from there. A trace that came later is a function
//! of its own, which the exit's link cell leads to.
//!
//! Example: exit 3 of a loop `L0(i0)` with `i7` live, whose side trace has the input `i0` in cell 0 and ends
//! by `finish(i4)` with slot 0 an int: `brif fails, way, next ... way: jump side(v7) ... side(v9): v12 = iadd
//! v9, 1; store slot 0, v12; jump L0(v12)`.

use crate::lir::Builder;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{types, Block, MemFlagsData, SourceLoc};
use tracelift_core::ir::{EntrySlot, Label};
use tracelift_core::planted::{planted, Bug};
use tracelift_core::snapshot::Source;
use tracelift_core::{Inst, LabelId, Op, Trace, Type, Value};

use super::frame::Write;
use super::units::is_float;
use super::values::Def;
use super::{clif_type, Input, Lowering, Result, Ssa};
use crate::listing::location;
use crate::request::{Replaced, Request};

/// A way from an exit into the side trace that begins there.
pub(super) struct Way {
    block: Block,
    exit: u32,
    side: usize,
    /// How the exit's values are known there.
    defs: Vec<Def>,
    /// Back edges that were passed, and what was replaced so far.
    edges: i64,
    replaced: Option<Ssa>,
    /// Writes of slots that were not made yet.
    waiting: Vec<(Write, Def)>,
}

/// The blocks in which a trace without a parent is entered by the others.
#[derive(Clone, Copy, Default)]
pub(super) struct Heads {
    /// That of its first label.
    pub first: Option<Block>,
    /// That of its second body, if another trace goes on there.
    pub second: Option<Block>,
}

impl Heads {
    /// The block of the label at this position, if it is one of them.
    pub fn of(&self, position: usize, request: &Request) -> Option<Block> {
        match request.loops.second.map(LabelId::index) {
            _ if position == 0 => self.first,
            Some(second) if second == position => self.second,
            _ => None,
        }
    }
}

pub(super) fn heads_of(b: &mut Builder<'_>, tree: &[Input<'_>], number: usize) -> Heads {
    let Input { trace, request, parent: None, copy_of: None, .. } = tree[number] else {
        return Heads::default();
    };
    let counts = counts_replaced(tree, number);
    // Neither takes rows of arrays: the others know nothing of them.
    let mut block = |label: &Label| label_block(b, trace, &label.args, 0, counts);
    let is_entered = tree.iter().any(|input| input.enters && input.goes_to == Some(number));
    let second = request.loops.second.filter(|_| is_entered);
    Heads {
        first: trace.labels.first().map(&mut block),
        second: second.and_then(|label| trace.labels.get(label.index())).map(&mut block),
    }
}

/// The trace without a parent in whose tree this one is.
fn root_of(tree: &[Input<'_>], number: usize) -> usize {
    let mut root = number;
    while let Some((parent, _)) = tree[root].parent {
        root = parent;
    }
    tree[root].copy_of.unwrap_or(root)
}

/// Whether what is replaced goes round with the arguments of the trace's labels: in loops, and in the side
/// traces of a loop that are in one function with it.
pub(super) fn counts_replaced(tree: &[Input<'_>], number: usize) -> bool {
    let root = root_of(tree, number);
    let total = |number: usize| tree[number].request.replaced.map(|amounts| amounts.total);
    let is_loop = tree[root].trace.insts.last().is_some_and(|last| last.op == Op::Jump);
    is_loop
        && tree[root].request.replaced.is_some_and(|amounts| amounts.iteration > 0)
        && total(root) == total(number)
}

/// A block for a label with these arguments, and with so many rows of arrays.
pub(super) fn label_block(
    b: &mut Builder<'_>,
    trace: &Trace,
    args: &[Value],
    rows: usize,
    counts: bool,
) -> Block {
    let block = b.create_block();
    for &arg in args {
        b.append_block_param(block, clif_type(trace.ty(arg)));
    }
    for _ in 0..rows {
        b.append_block_param(block, types::I64);
    }
    if counts {
        b.append_block_param(block, types::I64);
    }
    block
}

/// Where the value of a slot comes from that a trace without a parent reads at its entry.
enum Passed {
    Value(Ssa),
    /// From memory, or what waits to be written there, with a tag that is known or not.
    Memory {
        checked: bool,
    },
}

impl Lowering<'_, '_, '_> {
    /// The side trace that begins at an exit, if it is part of the function.
    pub(super) fn side_at(&self, exit: u32) -> Option<usize> {
        self.sides.iter().find(|side| side.0 == exit).map(|side| side.1)
    }

    /// The current block leads to a side trace: what it will have to know is noted.
    pub(super) fn begin_way(&mut self, inst: &Inst, exit: u32, side: usize) {
        let Some(mut block) = self.b.current_block() else { return };
        if self.b.func.is_begun(block) {
            block = self.b.create_block();
            self.b.jump(block, &[]);
        }
        let live = &self.input.exits[exit as usize].live;
        let defs = live.iter().map(|&value| self.values.known(value)).collect();
        let edges = if self.is_in_unit() { 0 } else { self.edges_at(inst) };
        let waiting = self.waiting_at_exit();
        self.ways.push(Way { block, exit, side, defs, edges, replaced: self.replaced, waiting });
    }

    /// Makes the ways into all side traces that begin at exits of this trace, which is finished.
    pub(super) fn emit_ways(&mut self) -> Result<()> {
        for way in std::mem::take(&mut self.ways) {
            self.b.switch_to_block(way.block);
            self.index = self.input.exits[way.exit as usize].inst;
            self.b.set_srcloc(SourceLoc::new(location::STUB | self.mark(self.index)));
            self.emit_way(way)?;
        }
        Ok(())
    }

    fn emit_way(&mut self, Way { exit, side, defs, edges, replaced, waiting, .. }: Way) -> Result<()> {
        let live = self.input.exits[exit as usize].live.clone();
        for (&value, &def) in live.iter().zip(&defs) {
            let is_kept = planted(Bug::RegionWayForgotten) && self.values.is_known(value);
            if !is_kept {
                self.values.restore(value, def);
            }
        }
        self.wait_as_at_exit(&waiting);
        self.in_stub = true;
        if !self.is_in_unit() {
            self.count_passed(if planted(Bug::RegionEdgesForgotten) { 0 } else { edges });
        }
        let trace = self.tree[side].trace;
        let passed = replaced.filter(|_| counts_replaced(self.tree, side));
        if passed.is_none() {
            self.add_replaced(replaced);
        }
        let payloads = match self.is_in_unit() {
            true => Vec::new(),
            false => {
                self.check_side(exit, side, passed)?;
                self.hand_over(side)?
            }
        };
        let block = match self.shared.begun_block(side) {
            Some(block) => block,
            None => {
                let block = self.b.create_block();
                for &input in trace.inputs() {
                    self.b.append_block_param(block, clif_type(trace.ty(input)));
                }
                for &payload in &payloads {
                    let ty = self.b.value_type(payload);
                    self.b.append_block_param(block, ty);
                }
                if passed.is_some() {
                    self.b.append_block_param(block, types::I64);
                }
                self.shared.begun.push((side, block));
                block
            }
        };
        let mut args = self.side_inputs(exit, trace)?;
        args.extend(payloads);
        if let Some(replaced) = passed {
            let forgotten = planted(Bug::RegionSumForgotten).then(|| self.iconst(0));
            args.push(forgotten.unwrap_or(replaced));
        }
        self.b.jump(block, &args);
        self.in_stub = false;
        Ok(())
    }

    /// Leaves by the exit, to the host, if the frame's slots have other tags than the side trace expects.
    fn check_side(&mut self, exit: u32, side: usize, replaced: Option<Ssa>) -> Result<()> {
        let trace = self.tree[side].trace;
        let mut slots: Vec<EntrySlot> = trace.entry.iter().chain(&trace.entry_tags).copied().collect();
        if slots.iter().any(|slot| self.waiting_tag(slot) == Some(false)) {
            // It does not fit, and is refused for what memory says.
            self.write_waiting()?;
        } else {
            slots.retain(|slot| !self.is_looked_at(slot) && self.waiting_tag(slot).is_none());
        }
        let found = [self.steady_differs(side), self.tags_differ(&slots)?];
        for differs in found.into_iter().flatten().filter(|_| !planted(Bug::RegionSideUnchecked)) {
            let (refused, next) = (self.cold_block(), self.b.create_block());
            self.b.brif(differs, refused, &[], next, &[]);
            self.b.switch_to_block(refused);
            self.add_replaced(replaced);
            if !planted(Bug::RegionWaitingRefused) {
                self.write_waiting()?;
            }
            if !planted(Bug::RegionRefusedUnstored) {
                self.store_live(exit)?;
            }
            self.go_on_refused(exit, side)?;
            self.b.switch_to_block(next);
        }
        Ok(())
    }

    /// Goes on where a side trace leads whose slots have other types, as if it had been entered after the
    /// exit; or comes back to the host.
    fn go_on_refused(&mut self, exit: u32, side: usize) -> Result<()> {
        let links = self.tree[side].request.links.as_ref();
        let Some(other) = links.map(|links| links.other).filter(|cell| !cell.is_null()) else {
            return self.return_to_host(exit, 0);
        };
        let (base, number) = (self.base_of(0)?, self.number_of(exit));
        let cell = self.iconst(other as i64);
        self.go_on(cell, 0, base, number)
    }

    /// The base of a frame, so many slots above the trace's own.
    pub(super) fn base_of(&mut self, frame: i32) -> Result<Ssa> {
        Ok(match self.slot_offset(frame, 0)? {
            0 => self.base,
            distance => self.b.iadd_imm_s(self.base, i64::from(distance)),
        })
    }

    /// Returns an exit's number, wherever its link cell leads, and the base of the frame that it is left in.
    fn return_to_host(&mut self, exit: u32, frame: i32) -> Result<()> {
        let (base, number) = (self.base_of(frame)?, self.number_of(exit));
        self.b.return_(&[number, base]);
        Ok(())
    }

    /// An exit's number, as the host is told it.
    fn number_of(&mut self, exit: u32) -> Ssa {
        let exit = if planted(Bug::RegionRefusedElsewhere) { 0 } else { exit };
        let number = u64::from(self.input.request.trace_no) << 32 | u64::from(exit);
        self.iconst(number as i64)
    }

    /// What is passed to a side trace: slots of the frame, and values of the exit. Payloads that wait come
    /// after it, and then what was replaced.
    fn side_inputs(&mut self, exit: u32, trace: &Trace) -> Result<Vec<Ssa>> {
        let live = self.input.exits[exit as usize].live.clone();
        let (checked, known, cells) = (&trace.entry, &trace.entry_known, &trace.entry_cells);
        let slots = match planted(Bug::RegionKnownFirst) {
            true => known.iter().chain(checked),
            false => checked.iter().chain(known),
        };
        let count = checked.len() + known.len();
        if !self.is_in_unit() && count + cells.len() != trace.inputs().len() {
            return Err(self.malformed("a side trace has other inputs than are passed"));
        }
        let mut args = Vec::with_capacity(trace.inputs().len());
        let count = if self.is_in_unit() { 0 } else { count };
        for (slot, &input) in slots.zip(&trace.inputs()[..count]) {
            args.push(self.payload_of(slot.slot, trace.ty(input))?);
        }
        let shift = usize::from(planted(Bug::UnitSideCellsShifted) || planted(Bug::RegionCellsShifted));
        for (&cell, &input) in cells.iter().zip(&trace.inputs()[count..]) {
            let &value = live
                .get((cell as usize + shift) % live.len().max(1))
                .ok_or_else(|| self.malformed("a side trace wants more values"))?;
            if is_float(Some(self.input.trace.ty(value))) != is_float(Some(trace.ty(input))) {
                return Err(self.malformed("a side trace takes a value for one of another type"));
            }
            args.push(self.value(value)?);
        }
        Ok(args)
    }

    /// The inputs of a side trace: what its first block is passed.
    pub(super) fn passed_inputs(&mut self) -> Result<Vec<Ssa>> {
        let block = self.b.current_block().ok_or_else(|| self.malformed("a side trace begins nowhere"))?;
        let mut given: Vec<Ssa> = self.b.block_params(block).to_vec();
        if self.counts_replaced {
            self.replaced = given.pop();
        }
        if let Some(inputs) = given.len().checked_sub(self.taken_over()) {
            let payloads = given.split_off(inputs);
            self.take_over(&payloads);
        }
        match given.len() == self.input.trace.inputs().len() {
            true => Ok(given),
            false => Err(self.malformed("a side trace has other inputs than are passed")),
        }
    }

    /// In a side trace that is a function of its own: counts the entry, which is refused if it is the one
    /// that makes the tree worth a function.
    pub(super) fn count_crossing(&mut self) -> Result<()> {
        let Some(crossings) = self.input.request.crossings else { return Ok(()) };
        let left = self.add_to_cell(crossings.count, -1);
        let last = i64::from(planted(Bug::RegionCrossingEarly));
        let is_due = self.b.icmp_imm_s(IntCC::Equal, left, last);
        let Some(origin) = self.origin else { return Err(self.malformed("a side trace without links")) };
        let (due, next) = (self.cold_block(), self.b.create_block());
        self.b.brif(is_due, due, &[], next, &[]);
        self.b.switch_to_block(due);
        let (cell, one) = (self.iconst(crossings.due as i64), self.iconst(1));
        self.b.store(MemFlagsData::trusted(), one, cell, 0);
        self.b.return_(&[origin, self.base]);
        self.b.switch_to_block(next);
        Ok(())
    }

    /// At the end of a trace, whose slots are written: goes on in another one, without a parent. Returns
    /// false, and makes nothing, where that one surely refuses to be entered.
    pub(super) fn jump_to(&mut self, to: usize, inst: &Inst, exit: u32) -> Result<bool> {
        let (Some(head), Some(&root)) = (self.heads.get(to).and_then(|heads| heads.first), self.tree.get(to))
        else {
            return Ok(false);
        };
        let (entry, known) = (&root.trace.entry, &root.trace.entry_known);
        // Where that one's slot 0 is for this one.
        let distance = root.frame - self.input.frame;
        if self.input.trace.last_frame(inst) != distance || !root.trace.entry_cells.is_empty() {
            return Ok(false);
        }
        let seen = |slot: &EntrySlot| EntrySlot { slot: slot.slot + distance, ..*slot };
        let mut passed = Vec::with_capacity(root.trace.inputs().len());
        let mut unchecked = Vec::new();
        let slots = entry.iter().chain(known).chain(&root.trace.entry_tags).map(seen);
        for (at, slot) in slots.enumerate() {
            let Some(source) = self.end_of_slot(inst, &slot)? else { return Ok(false) };
            let is_known = (entry.len()..entry.len() + known.len()).contains(&at);
            let is_steady = self.has_steady_tag(&slot);
            if matches!(source, Passed::Memory { checked: false }) && !is_known && !is_steady {
                unchecked.push(slot);
            }
            passed.push((slot.slot, source));
        }
        if let Some(differs) = self.tags_differ(&unchecked)?.filter(|_| !planted(Bug::RegionHeadUnchecked)) {
            let (refused, next) = (self.cold_block(), self.b.create_block());
            self.b.brif(differs, refused, &[], next, &[]);
            self.b.switch_to_block(refused);
            self.in_stub = true;
            self.add_replaced(self.replaced);
            self.write_waiting()?;
            self.return_to_host(exit, distance)?;
            self.in_stub = false;
            self.b.switch_to_block(next);
        }
        let (head, left_out) = self.head_again(head, &passed);
        let mut args = Vec::with_capacity(root.trace.inputs().len() + 1);
        for (at, (&input, (slot, source))) in root.trace.inputs().iter().zip(passed).enumerate() {
            if left_out.get(at) == Some(&true) {
                continue;
            }
            let value = match source {
                Passed::Value(value) => value,
                Passed::Memory { .. } => {
                    let slot = slot + i32::from(planted(Bug::RegionBackShifted));
                    self.payload_of(slot, root.trace.ty(input))?
                }
            };
            args.push(value);
        }
        let steady = left_out.iter().filter(|&&out| out).count();
        if args.len() + steady != root.trace.inputs().len() {
            return Err(self.malformed("a loop has other inputs than slots"));
        }
        self.arrive(to, head, args);
        Ok(true)
    }

    /// The block in which this trace goes on that passes these for a loop's inputs, and which of them are not
    /// passed: the loop's first label, or the second copy of its preamble.
    fn head_again(&mut self, first: Block, passed: &[(i32, Passed)]) -> (Block, Vec<bool>) {
        let again = self.shared.again.as_mut().filter(|_| self.input.again);
        let Some(again) = again else { return (first, Vec::new()) };
        let is_steady = |source: &Passed| matches!(source, Passed::Memory { .. });
        let mut steady = again.inputs.iter().zip(passed).filter(|(&steady, _)| steady);
        match steady.all(|(_, (_, source))| is_steady(source)) {
            true => (again.block(&mut self.b, self.tree), again.inputs.clone()),
            false => (first, Vec::new()),
        }
    }

    /// Goes on in a block of a trace without a parent, with these arguments, and with what was replaced.
    pub(super) fn arrive(&mut self, to: usize, head: Block, mut args: Vec<Ssa>) {
        let root = self.tree[to];
        if let Some(counter) = root.request.entry_counter {
            self.add_to_cell(counter, 1);
        }
        let amounts = root.request.replaced.filter(|_| !planted(Bug::RegionBackUncounted));
        let goes_round = counts_replaced(self.tree, to);
        if !goes_round {
            self.add_replaced(self.replaced);
        }
        let is_marked = root_of(self.tree, self.number) == to;
        let entry =
            amounts.map(|amounts| amounts.entry).filter(|&entry| !is_marked || entry < Replaced::MARK);
        let entry = entry.unwrap_or(0);
        match self.replaced.filter(|_| goes_round) {
            Some(replaced) if entry == 0 => args.push(replaced),
            Some(replaced) => args.push(self.b.iadd_imm_s(replaced, entry as i64)),
            None => {
                if let Some(amounts) = amounts.filter(|_| entry > 0) {
                    self.add_to_cell(amounts.total, entry as i64);
                }
                args.extend(goes_round.then(|| self.iconst(0)));
            }
        }
        self.b.jump(head, &args);
        self.open = false;
    }

    /// What a slot holds at the end of the trace; `None` if it has another tag than is wanted.
    fn end_of_slot(&mut self, inst: &Inst, slot: &EntrySlot) -> Result<Option<Passed>> {
        let trace = self.input.trace;
        let Some(snapshot) = trace.snapshot_of(inst) else { return Ok(None) };
        let slots = snapshot.frames.iter().flat_map(|frame| {
            frame.slots.iter().map(move |held| (frame.base + held.slot, held.tag, held.source))
        });
        let held = slots.rev().find(|&(at, ..)| at == slot.slot);
        let wanted = self.input.schema.tag(slot.tag).payload;
        if held.is_none_or(|(.., source)| source == Source::InPlace) {
            match self.waiting_tag(slot) {
                Some(true) => return Ok(Some(Passed::Memory { checked: true })),
                Some(false) => return Ok(None),
                None => {}
            }
        }
        Ok(match held {
            None => Some(Passed::Memory { checked: false }),
            Some((_, tag, _)) if tag != slot.tag && !planted(Bug::RegionBackTagIgnored) => None,
            Some((_, _, Source::Value(value))) => {
                let is_same =
                    wanted.is_some_and(|ty: Type| is_float(Some(ty)) == is_float(Some(trace.ty(value))));
                match is_same {
                    true => Some(Passed::Value(self.value(value)?)),
                    false => None,
                }
            }
            Some((_, _, Source::InPlace)) => Some(Passed::Memory { checked: true }),
            // The tag says all.
            Some((_, _, Source::Nothing)) => Some(Passed::Memory { checked: true }),
            Some((_, _, Source::Virtual(_))) => None,
        })
    }
}
