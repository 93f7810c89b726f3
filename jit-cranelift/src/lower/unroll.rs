//! Unrolling: a short loop's body several times in a row.
//!
//! Problem: a peeled loop is often a dozen operations, and a test of the host's interrupt flag, an index to
//! be scaled, counters and the jump back are half of its instructions. Design: where a part ends in a jump to
//! its own label, lowering does not jump but lowers the part again, with the label's arguments bound to what
//! the jump would have passed, recipes included: the next iteration's index is the same register with another
//! displacement. Exits keep their numbers, as a copy's exit is the same exit with its values in other
//! registers; only the stubs are each copy's own. The first copy alone looks at an interrupt flag that
//! nothing in the loop can change; who sets it from outside waits a few iterations longer. If the flag is
//! volatile and not *polled*, each copy does. The first copy also counts for all of them where a check for a
//! collection counts operations.
//!
//! Invariants: every iteration tests all that the trace tests, such interrupts excepted, and is left with
//! that iteration's values; the trace itself stays as it is, and so do its snapshots and resume data.
//!
//! Example: `L1(p0, i1): a2 = item_addr(p0, i1, 8, 0) ... i3 = int_add(i1, 1); jump(L1, p0,
//! i3)` reads `[p0+i1*8]`, then `[p0+i1*8+8]`, and so on; `i1` is scaled once, and added to once, before the
//! jump.

use std::collections::HashSet;

use tracelift_core::effects::Memory;
use tracelift_core::ops::Flags;
use tracelift_core::schema::POLL_DISTANCE;
use tracelift_core::{ExitKind, Inst, LabelId, Op, Payload, Schema, Trace, Value};

use super::{arg, Lowering, Result};

/// Operations of all copies together, about: how much may be made of a loop.
const LARGEST: usize = 80;
/// Copies at most: the first few save most of what can be saved.
const MOST_COPIES: usize = 4;
// The first copy alone loads a polled cell.
const _: () = assert!(MOST_COPIES <= POLL_DISTANCE);

/// The loop that is lowered several times, and how far that is.
pub(super) struct Unroll {
    label: LabelId,
    /// The label's place in the trace, and the number of the first exit after it.
    start: usize,
    first_exit: u32,
    /// Copies that are wanted, and those that are finished.
    wanted: usize,
    finished: usize,
    /// What later copies do without, by distance from the label.
    left_out: Vec<bool>,
}

impl Unroll {
    /// Looks at the part that begins with the label at `start`; `None` if it is no loop, or too long.
    pub(super) fn plan(
        trace: &Trace,
        schema: &Schema,
        label: LabelId,
        start: usize,
        first_exit: u32,
    ) -> Option<Unroll> {
        let end = start + trace.insts[start..].iter().position(|inst| inst.op.is(Flags::ENDS))?;
        let (part, last) = (&trace.insts[start..end], &trace.insts[end]);
        let wanted = (LARGEST / part.len()).min(MOST_COPIES);
        if last.op != Op::Jump || last.payload != Payload::Label(label) || wanted < 2 {
            return None;
        }
        let left_out = left_out(trace, schema, part, last);
        Some(Unroll { label, start, first_exit, wanted, finished: 0, left_out })
    }

    /// Copies that are wanted.
    pub(super) fn copies(&self) -> usize {
        self.wanted
    }

    /// Jumps that were passed without being made.
    pub(super) fn jumps_passed(&self) -> usize {
        self.finished
    }

    /// Whether the copy that is being lowered does without an instruction.
    pub(super) fn leaves_out(&self, index: usize) -> bool {
        self.finished > 0 && self.left_out.get(index.wrapping_sub(self.start)) == Some(&true)
    }
}

/// Tests for interrupts whose outcome no iteration changes, and what is computed for them alone.
fn left_out(trace: &Trace, schema: &Schema, part: &[Inst], jump: &Inst) -> Vec<bool> {
    let mut left_out = vec![false; part.len()];
    for (inst, left_out) in part.iter().zip(&mut left_out) {
        *left_out = trace.is_counted_check(inst);
    }
    let is_interrupt = |inst: &Inst| inst.op.is_guard() && inst.exit == ExitKind::Interrupt;
    if !part.iter().any(is_interrupt) {
        return left_out;
    }
    let is_volatile = |inst: &Inst| match inst.payload {
        Payload::Cell(cell) => {
            schema.cells().get(cell.index()).is_some_and(|cell| cell.volatile && !cell.polled)
        }
        _ => false,
    };
    let effects: Vec<_> = part.iter().map(|inst| inst.effects(schema)).collect();
    let is_written = |memory: &Memory<'_>| effects.iter().any(|effects| effects.writes.meets(memory));
    let passed = part[0].args.iter().zip(&jump.args);
    let mut steady: HashSet<Value> =
        passed.filter(|(param, arg)| param == arg).map(|(&param, _)| param).collect();
    let is_steady =
        |steady: &HashSet<Value>, value| steady.contains(&value) || trace.constant_of(value).is_some();
    for ((inst, effects), left_out) in part.iter().zip(&effects).zip(&mut left_out) {
        let args_steady = inst.args.iter().all(|&arg| is_steady(&steady, arg));
        if !args_steady || is_volatile(inst) || is_written(&effects.reads) {
            continue;
        }
        *left_out |= is_interrupt(inst);
        if inst.op.is(Flags::PURE) || inst.op == Op::Load {
            steady.extend(inst.result);
        }
    }
    let mut wanted: HashSet<Value> = jump.args.iter().copied().collect();
    for (inst, left_out) in part.iter().zip(&mut left_out).rev() {
        let is_wanted = inst.result.is_none_or(|result| wanted.contains(&result));
        let can_go = inst.op.is(Flags::PURE) || inst.op == Op::Load;
        *left_out |= can_go && !is_wanted;
        if !*left_out {
            wanted.extend(inst.args.iter().copied());
            if let Some(snapshot) = trace.snapshot_of(inst) {
                snapshot.for_each_value(|value| {
                    wanted.insert(value);
                });
            }
        }
    }
    left_out
}

impl Lowering<'_, '_> {
    /// At a jump: if it leads to the loop that is repeated, and another copy is wanted, lets lowering go on
    /// after the label with the jump's arguments, and returns true.
    pub(super) fn begin_next_copy(&mut self, jump: &Inst, label: LabelId) -> Result<bool> {
        let trace = self.input.trace;
        let Some(unroll) = self.unroll.as_mut().filter(|unroll| unroll.label == label) else {
            return Ok(false);
        };
        unroll.finished += 1;
        if unroll.finished == unroll.wanted {
            return Ok(false);
        }
        let (start, first_exit) = (unroll.start, unroll.first_exit);
        self.count_replaced();
        // All of them are read before any is bound: the arguments may be exchanged.
        let passed = (0..jump.args.len())
            .map(|position| self.passed(arg(jump, position, self.index)?))
            .collect::<Result<Vec<_>>>()?;
        for (&param, passed) in trace.labels[label.index()].args.iter().zip(passed) {
            self.values.bind(param, passed);
        }
        self.stubs.forget();
        self.index = start;
        self.next_exit = first_exit;
        Ok(true)
    }
}
