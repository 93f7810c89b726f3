//! Making a failing case small.
//!
//! Problem: a random trace that fails has forty operations, and two of them matter. Design: take away one
//! thing at a time (an operation, whose result becomes a constant; a slot of the snapshots; an object's
//! contents), and keep what still fails; go round until nothing more can go. The caller says what failing
//! means, and must reject cases that the evaluator rejects: taking a guard away can make a trace invalid.
//! Invariant: the result fails as the caller says, or is the case that was given.
//!
//! ```
//! use std::sync::Arc;
//! use tracelift_core::{testbed::standard_schema, testgen::*, Op};
//! let case = generate(3, &Arc::new(standard_schema()));
//! let small = shrink(&case, 1000, |case| case.trace.insts.iter().any(|inst| inst.op == Op::GuardTrue));
//! assert!(small.trace.insts.len() < case.trace.insts.len());
//! ```

use super::Case;
use crate::ir::{Const, Trace, Value};
use crate::ops::{Flags, Op};

/// The smallest case found with at most `budget` questions to `fails`.
pub fn shrink(case: &Case, budget: u32, mut fails: impl FnMut(&Case) -> bool) -> Case {
    let mut best = case.clone();
    let mut left = budget;
    let mut progress = true;
    while progress && left > 0 {
        progress = false;
        for step in STEPS {
            let mut place = 0;
            while left > 0 {
                let mut smaller = best.clone();
                match step(&mut smaller, place) {
                    None => break,
                    Some(false) => place += 1,
                    Some(true) => {
                        left -= 1;
                        if fails(&smaller) {
                            best = smaller;
                            progress = true;
                        } else {
                            place += 1;
                        }
                    }
                }
            }
        }
    }
    best
}

/// Changes a case at a place; `None`: there are no more places, `Some(false)`: nothing to change there.
type Step = fn(&mut Case, usize) -> Option<bool>;

/// All ways to make a case smaller.
const STEPS: [Step; 6] = [remove_group, remove_op, remove_slot, remove_frame, empty_object, replace_operand];

fn can_go(trace: &Trace, at: usize) -> bool {
    let inst = &trace.insts[at];
    inst.op != Op::Label && !inst.op.is(Flags::ENDS)
}

/// Puts `to` wherever `from` is used.
fn replace(trace: &mut Trace, from: Value, to: Value) {
    let put = |value: &mut Value| {
        if *value == from {
            *value = to;
        }
    };
    trace
        .insts
        .iter_mut()
        .filter(|inst| inst.op != Op::Label)
        .for_each(|inst| inst.args.iter_mut().for_each(put));
    for snapshot in &mut trace.snapshots {
        snapshot.map_values(|value| if value == from { to } else { value });
    }
}

/// Takes an operation away; its result becomes 0 or null.
fn remove(trace: &mut Trace, at: usize) {
    let inst = trace.insts.remove(at);
    if let Some(result) = inst.result {
        let zero = trace.constant(trace.ty(result), Const::Bits(0));
        replace(trace, result, zero);
    }
    for snapshot in trace.snapshots.iter_mut().filter(|snapshot| snapshot.position as usize > at) {
        snapshot.position -= 1;
    }
}

/// Operations that nobody needs go fastest in groups: a quarter of the trace at a time.
fn remove_group(case: &mut Case, place: usize) -> Option<bool> {
    let len = case.trace.insts.len();
    let size = (len / 4).max(1);
    let end = len.checked_sub(place * size).filter(|_| place < 4)?;
    let group = (end.saturating_sub(size)..end).rev();
    let before = case.trace.insts.len();
    for at in group {
        if at < case.trace.insts.len() && can_go(&case.trace, at) {
            remove(&mut case.trace, at);
        }
    }
    Some(case.trace.insts.len() < before)
}

/// One operation, last ones first.
fn remove_op(case: &mut Case, place: usize) -> Option<bool> {
    let at = case.trace.insts.len().checked_sub(place + 1)?;
    let can_go = can_go(&case.trace, at);
    if can_go {
        remove(&mut case.trace, at);
    }
    Some(can_go)
}

/// One slot number of one frame depth, in all snapshots.
fn remove_slot(case: &mut Case, place: usize) -> Option<bool> {
    let (depth, slot) = (place / 16, (place % 16) as i32);
    let mut found = false;
    for snapshot in &mut case.trace.snapshots {
        if let Some(frame) = snapshot.frames.get_mut(depth) {
            let before = frame.slots.len();
            frame.slots.retain(|value| value.slot != slot);
            found |= frame.slots.len() < before;
        }
    }
    (depth < 3).then_some(found)
}

/// The innermost frame of one snapshot.
fn remove_frame(case: &mut Case, place: usize) -> Option<bool> {
    Some(case.trace.snapshots.get_mut(place)?.frames.pop().is_some())
}

/// An object's contents.
fn empty_object(case: &mut Case, place: usize) -> Option<bool> {
    let object = case.spec.objects.get_mut(place / 3)?;
    let emptied = match place % 3 {
        0 => !std::mem::take(&mut object.fields).is_empty(),
        1 => object.items.pop().is_some(),
        _ => object.entries.pop().is_some(),
    };
    Some(emptied)
}

/// An operand becomes 0 or null.
fn replace_operand(case: &mut Case, place: usize) -> Option<bool> {
    let trace = &mut case.trace;
    let inst = trace.insts.get(place / 8)?;
    let Some(&arg) = inst.args.get(place % 8).filter(|_| inst.op != Op::Label) else { return Some(false) };
    if trace.constant_of(arg).is_some() {
        return Some(false);
    }
    let zero = trace.constant(trace.ty(arg), Const::Bits(0));
    trace.insts[place / 8].args[place % 8] = zero;
    Some(true)
}
