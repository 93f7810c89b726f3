//! Unrolling: a short loop's body several times in a row.
//!
//! Problem: a peeled loop is often a dozen operations, and a test of the host's interrupt flag, an index to
//! be scaled, counters and the jump back are half of its instructions. Design: where a part ends in a jump to
//! its own label, lowering does not jump but lowers the part again, with the label's arguments bound to what
//! the jump would have passed, recipes included: the next iteration's index is the same register with another
//! displacement. Exits keep their numbers, as a copy's exit is the same exit with its values in other
//! registers; only the stubs are each copy's own. What need not be done by each of them is no question here:
//! the facts of the loop say it ([`LoopFacts::once`]). The first copy alone looks at an interrupt flag that
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

use tracelift_core::loops::LoopFacts;
use tracelift_core::schema::POLL_DISTANCE;
use tracelift_core::{Inst, LabelId, Trace};

use super::{arg, Lowering, Result};

/// Operations of all copies together, about: how much may be made of a loop.
const LARGEST: usize = 80;
/// Copies at most: the first few save most of what can be saved.
const MOST_COPIES: usize = 4;
// The first copy alone loads a polled cell.
const _: () = assert!(MOST_COPIES <= POLL_DISTANCE);

/// The same where values move on from argument to argument, as a window does that moves over an array: with
/// as many copies as a window of three items has places they need not be moved at all.
const LARGEST_ROTATING: usize = 240;
const ROTATING_COPIES: usize = 3;

/// Whether the jump passes two arguments of the label at least in the places of others.
fn rotates(facts: &LoopFacts, trace: &Trace) -> bool {
    let args = |at: usize| trace.insts.get(at).map_or(&[][..], |inst| &inst.args);
    let (params, passed) = (args(facts.body.start), args(facts.body.end));
    let moved = params.iter().zip(passed).filter(|(param, arg)| param != arg && params.contains(arg));
    moved.count() >= 2
}

/// The loop that is lowered several times, and how far that is.
pub(super) struct Unroll<'a> {
    facts: &'a LoopFacts,
    label: LabelId,
    /// Copies that are wanted, and those that are finished.
    wanted: usize,
    finished: usize,
}

impl<'a> Unroll<'a> {
    /// How often a loop is to be lowered; `None` if it is too long.
    pub(super) fn plan(facts: &'a LoopFacts, label: LabelId, trace: &Trace) -> Option<Unroll<'a>> {
        let mut wanted = LARGEST.checked_div(facts.body.len())?.min(MOST_COPIES);
        if wanted < ROTATING_COPIES && rotates(facts, trace) {
            wanted = wanted.max(LARGEST_ROTATING / facts.body.len()).min(ROTATING_COPIES);
        }
        (wanted > 1).then_some(Unroll { facts, label, wanted, finished: 0 })
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
        self.finished > 0 && self.facts.once.binary_search(&index).is_ok()
    }
}

impl Lowering<'_, '_, '_> {
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
        let start = unroll.facts.body.start;
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
        Ok(true)
    }
}
