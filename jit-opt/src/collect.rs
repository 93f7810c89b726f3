//! Loops that allocate nothing ask for no collection, or seldom.
//!
//! Problem: a recorded loop that makes objects looks at the collector's debt in each iteration, and once its
//! objects are virtual there is no debt. But the program may wait for the collector: for a finalizer, or for
//! a weak reference to be cleared. Design: over the finished trace, guards of exit kind `collect` are looked
//! at in each *part* (a label and what follows) that allocates nothing and lies on no cycle with a part that
//! does: however often the program passes there, the debt does not grow. If the recorded trace allocated
//! nothing either, such a guard is removed. Else it becomes a *counted* check, `guard_true(1)`: it holds for
//! whoever reads the trace, and lowering makes it leave once in some millions of operations, so that the host
//! can let its collector go on. Where some of what allocated is gone, and what is left are functions of which
//! it is not known that they do (one that finds its result among the strings, say), there are checks of both
//! kinds.
//!
//! The exits of the loop may allocate, when they make virtual objects; the host looks at its debt after each
//! exit, and this is why only hosts that promise to ([`Config::host_collects`](crate::Config)) get this.
//! Being interrupted is the business of guards of kind `interrupt`, which stay.
//!
//! Invariant: a guard that may be removed has taught the other passes nothing (`passes/guards.rs`), so that
//! nothing relies on it. A cycle that allocates keeps all its checks; each cycle of a trace that allocated
//! when it was recorded has checks of one kind or the other, and counted ones unless it surely allocates as
//! much as it did. Cycles are seen within one trace: who closes one over several (a side trace that enters a
//! loop) must give the side trace a check of its own if it allocates.
//!
//! ```text
//! L0(i0):                                              L0(i0):
//! i2 = load(a1, global.debt)                           i2 = load(a1, global.debt)  -- unused: is removed too
//! i3 = int_le(i2, 0)                               =>
//! guard_true(i3) @0 collect                            guard_true(1) @0 collect    -- only with a `new`
//! i4 = int_add(i0, 1)                                  i4 = int_add(i0, 1)
//! jump(L0, i4)                                         jump(L0, i4)
//! ```

use tracelift_core::ops::Flags;
use tracelift_core::{ExitKind, Inst, Op, Payload, Schema, Trace};

use crate::{dce, Report};

/// The names of the rewrites here: a check is removed, or counted.
pub(crate) const RULES: &[&str] = &["collect_unneeded", "collect_counted"];

/// How many instructions of a trace may allocate, or run code that does.
pub(crate) fn allocations(trace: &Trace, schema: &Schema) -> usize {
    trace.insts.iter().filter(|inst| inst.allocates(schema)).count()
}

/// The name of what is done with an unneeded check of a trace that allocated when it was recorded, or did
/// not.
pub(crate) fn rule(allocated: bool) -> &'static str {
    RULES[usize::from(allocated)]
}

/// Makes the check at a position a counted one.
pub(crate) fn count(trace: &mut Trace, index: usize) {
    let holds = trace.const_int(1);
    let check = &mut trace.insts[index];
    check.op = Op::GuardTrue;
    check.args.clear();
    check.args.push(holds);
}

/// Whether this is a check that may be removed.
pub(crate) fn is_check(inst: &Inst) -> bool {
    inst.exit == ExitKind::Collect && matches!(inst.op, Op::GuardTrue | Op::GuardFalse | Op::GuardValue)
}

/// A label and what follows up to the next.
struct Part {
    insts: std::ops::Range<usize>,
    /// Instructions that may allocate, and those of them that do: they make objects of a layout.
    allocations: usize,
    makes_objects: bool,
    /// Parts that the program may go on in.
    next: Vec<usize>,
}

fn parts(trace: &Trace, schema: &Schema) -> Vec<Part> {
    let is_start = |&index: &usize| index == 0 || trace.insts[index].op == Op::Label;
    let starts: Vec<usize> = (0..trace.insts.len()).filter(is_start).collect();
    let part_of = |label| {
        let position = trace.insts.iter().position(|inst| inst.op == Op::Label && inst.label() == label)?;
        starts.iter().rposition(|&start| start <= position)
    };
    let makers: Vec<_> = schema.layouts().iter().filter_map(|layout| layout.alloc).collect();
    let mut parts = Vec::new();
    for (number, &start) in starts.iter().enumerate() {
        let end = starts.get(number + 1).copied().unwrap_or(trace.insts.len());
        let insts = &trace.insts[start..end];
        let mut next: Vec<usize> = insts
            .iter()
            .filter(|inst| inst.op == Op::Jump)
            .filter_map(|jump| part_of(jump.label()))
            .collect();
        if insts.last().is_some_and(|last| !last.op.is(Flags::ENDS)) {
            next.push(number + 1);
        }
        let allocations = insts.iter().filter(|inst| inst.allocates(schema)).count();
        let makes_objects = insts.iter().any(|inst| match inst.payload {
            Payload::Func(func) => makers.contains(&func),
            _ => inst.op == Op::New,
        });
        parts.push(Part { insts: start..end, allocations, makes_objects, next });
    }
    parts
}

/// The parts that the program may come to after a part, which is among them if it lies on a cycle.
fn reached(parts: &[Part], from: usize) -> Vec<bool> {
    let mut reached = vec![false; parts.len()];
    let mut todo = parts[from].next.clone();
    while let Some(part) = todo.pop() {
        if part < parts.len() && !std::mem::replace(&mut reached[part], true) {
            todo.extend(&parts[part].next);
        }
    }
    reached
}

/// Puts a counted check after each of these, which are in order; `places` are others that move by that.
fn insert_counted(trace: &mut Trace, places: &mut [usize], checks: &[usize]) {
    for (already, &check) in checks.iter().enumerate() {
        let index = check + already + 1;
        places.iter_mut().filter(|place| **place >= index).for_each(|place| *place += 1);
        let copy = trace.insts[index - 1].clone();
        trace.insts.insert(index, copy);
        count(trace, index);
        for snapshot in trace.snapshots.iter_mut().filter(|snapshot| snapshot.position as usize >= index) {
            snapshot.position += 1;
        }
    }
}

/// The trace without checks that nothing needs, as far as the fuel allows, and with counted ones where the
/// program may wait for a collection for ever: that depends on how much the trace allocated when it was
/// recorded.
pub(crate) fn finish(
    trace: &mut Trace,
    recorded: &Trace,
    schema: &Schema,
    fuel: Option<u64>,
    report: &mut Report,
) {
    let is_plain = |trace: &Trace, index: usize| {
        let inst = &trace.insts[index];
        is_check(inst) && !trace.is_counted_check(inst)
    };
    if !(0..trace.insts.len()).any(|index| is_plain(trace, index)) {
        return;
    }
    let allocations = allocations(recorded, schema);
    let mut fuel = fuel.map(|fuel| fuel.saturating_sub(report.rewrites()));
    let parts = parts(trace, schema);
    let after: Vec<Vec<bool>> = (0..parts.len()).map(|part| reached(&parts, part)).collect();
    let (mut removed, mut doubled) = (Vec::new(), Vec::new());
    for (number, part) in parts.iter().enumerate() {
        report.visited += part.insts.len() as u64;
        let on_one_cycle = |other: usize| other == number || after[number][other] && after[other][number];
        let cycle =
            || parts.iter().enumerate().filter(|&(other, _)| on_one_cycle(other)).map(|(_, part)| part);
        let is_needed = cycle().any(|part| part.allocations > 0);
        let is_enough = cycle().any(|part| part.makes_objects || part.allocations >= allocations);
        for index in part.insts.clone() {
            if !is_plain(trace, index) || is_needed && is_enough {
                continue;
            }
            let may_go = !is_needed && fuel != Some(0);
            if may_go {
                fuel = fuel.map(|fuel| fuel - 1);
            }
            match (may_go, is_enough) {
                (true, true) => removed.push(index),
                (true, false) => count(trace, index),
                (false, true) => continue,
                (false, false) => doubled.push(index),
            }
            *report.rules.entry(rule(!is_enough)).or_default() += 1;
        }
    }
    insert_counted(trace, &mut removed, &doubled);
    if !removed.is_empty() {
        dce::retain(trace, |index| removed.binary_search(&index).is_err());
    }
}
