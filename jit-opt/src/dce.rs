//! Unused operations go; what is left gets dense numbers.
//!
//! Problem: folding and expansion leave operations whose results nobody reads any more. Design: one backward
//! walk marks what is needed; an operation is removed when its result is not marked and the operation has
//! neither an effect nor an exit. Values that only a snapshot mentions are needed: the interpreter reads them
//! when that guard fails. A second function renumbers values and snapshots and drops those that nobody
//! mentions, so that tables by value stay small. Invariant: guards, writes, visible calls and labels stay,
//! and so do all label arguments.
//!
//! Example: `guard_true(int_eq(i0, 7))` became `guard_value(i0, 7)`; the `int_eq` has no use left and is
//! removed.

use tracelift_core::ops::Flags;
use tracelift_core::{Inst, Op, Schema, SnapId, Trace, Value};

use crate::Report;

/// The names of the rewrites here.
pub(crate) const RULES: &[&str] = &["unused"];

/// Whether the operation may go when its result is not used.
pub(crate) fn is_removable(inst: &Inst, schema: &Schema) -> bool {
    let effects = inst.effects(schema);
    let is_kept =
        matches!(inst.op, Op::Label | Op::JumpIf | Op::EnterLoop | Op::Mend) || inst.op.is(Flags::ENDS);
    !(effects.leaves || effects.is_visible() || is_kept)
}

/// Removes operations whose results are not used.
pub(crate) fn remove_unused(trace: &mut Trace, schema: &Schema, report: &mut Report) {
    let mut used = vec![false; trace.values.len()];
    let mut keep = vec![true; trace.insts.len()];
    let mut snapshot_seen = vec![false; trace.snapshots.len()];
    let mut unused = 0;
    for (index, inst) in trace.insts.iter().enumerate().rev() {
        report.visited += 1;
        if is_removable(inst, schema) && inst.result.is_none_or(|result| !used[result.index()]) {
            keep[index] = false;
            unused += 1;
            continue;
        }
        inst.args.iter().for_each(|arg| used[arg.index()] = true);
        if let Some(snap) = inst.snap {
            if !std::mem::replace(&mut snapshot_seen[snap.index()], true) {
                trace.snapshots[snap.index()].for_each_value(|value| used[value.index()] = true);
            }
        }
    }
    if unused > 0 {
        *report.rules.entry(RULES[0]).or_default() += unused;
    }
    retain(trace, |index| keep[index]);
}

/// Keeps the instructions at these positions only.
pub(crate) fn retain(trace: &mut Trace, keep: impl Fn(usize) -> bool) {
    if (0..trace.insts.len()).all(&keep) {
        return;
    }
    // A snapshot's position moves by as many operations as went before it.
    let mut position = 0;
    let moved: Vec<u32> = (0..trace.insts.len())
        .map(|index| {
            let here = position;
            position += keep(index) as u32;
            here
        })
        .collect();
    let mut index = 0;
    trace.insts.retain(|_| {
        index += 1;
        keep(index - 1)
    });
    for snapshot in &mut trace.snapshots {
        snapshot.position = moved.get(snapshot.position as usize).copied().unwrap_or(snapshot.position);
    }
}

/// The same trace with values and snapshots numbered in the order of their first mention.
pub(crate) fn compact(mut trace: Trace) -> Trace {
    let mut out = Trace::new(&trace.name);
    out.entry = std::mem::take(&mut trace.entry);
    out.entry_tags = std::mem::take(&mut trace.entry_tags);
    out.entry_known = std::mem::take(&mut trace.entry_known);
    out.entry_cells = std::mem::take(&mut trace.entry_cells);
    out.unit = trace.unit;
    out.labels = std::mem::take(&mut trace.labels);
    let mut insts = std::mem::take(&mut trace.insts);
    // Half of what there was is left, as a rule.
    out.values.reserve(trace.values.len() / 2);
    out.snapshots.reserve(trace.snapshots.len() / 2);
    let mut values: Vec<Option<Value>> = vec![None; trace.values.len()];
    let mut snapshots: Vec<Option<SnapId>> = vec![None; trace.snapshots.len()];
    for inst in &mut insts {
        for arg in inst.args.iter_mut().chain(&mut inst.result) {
            *arg = renumber(&mut trace, &mut out, &mut values, *arg);
        }
        if let Some(snap) = &mut inst.snap {
            let new = snapshots[snap.index()].unwrap_or_else(|| {
                let mut snapshot = std::mem::take(&mut trace.snapshots[snap.index()]);
                snapshot.map_values(|value| renumber(&mut trace, &mut out, &mut values, value));
                out.add_snapshot(snapshot)
            });
            snapshots[snap.index()] = Some(new);
            *snap = new;
        }
    }
    out.insts = insts;
    for label in &mut out.labels {
        label.args = label.args.iter().map(|arg| values[arg.index()].unwrap_or(*arg)).collect();
    }
    out
}

fn renumber(trace: &mut Trace, out: &mut Trace, values: &mut [Option<Value>], value: Value) -> Value {
    if let Some(new) = values[value.index()] {
        return new;
    }
    let data = &mut trace.values[value.index()];
    let new = match data.constant {
        Some(constant) => out.constant(data.ty, constant),
        None => out.new_value(data.ty),
    };
    out.values[new.index()].name = data.name.take();
    values[value.index()] = Some(new);
    new
}
