//! Loops that allocate nothing ask for no collection.
//!
//! Problem: a recorded loop that makes objects looks at the collector's debt in each iteration, and once its objects
//! are virtual nothing is left to collect. Design: over the finished trace, guards of exit kind `collect` go from each
//! *part* (a label and what follows) that allocates nothing and lies on no cycle with a part that does: however often
//! the program passes there, the debt does not grow. The exits of the loop may allocate, when they make virtual
//! objects; the host looks at its debt behind each exit, and this is why only hosts that promise to
//! ([`Config::host_collects`](crate::Config)) get this. Being interrupted is the business of guards of kind `interrupt`,
//! which stay.
//!
//! Invariant: a guard that may go has taught the other passes nothing (`passes/guards.rs`), so that nothing relies on it.
//! A cycle that allocates keeps all its checks. Cycles are seen within one trace: who closes one over several (a side trace
//! that enters a loop) must give the side trace a check of its own if it allocates.
//!
//! ```text
//! L0(i0):                                                    L0(i0):
//! i2 = load(a1, global.debt)                                 i2 = load(a1, global.debt)     -- unused: goes too
//! i3 = int_le(i2, 0)                                     =>
//! guard_true(i3) @0 collect
//! i4 = int_add(i0, 1)                                        i4 = int_add(i0, 1)
//! jump(L0, i4)                                               jump(L0, i4)
//! ```

use tracelift_core::{ExitKind, Inst, Op, Schema, Trace};

use crate::{dce, Report};

/// The names of the rewrites here.
pub(crate) const RULES: &[&str] = &["collect_unneeded"];

/// Whether this is a check that may go.
pub(crate) fn is_check(inst: &Inst) -> bool {
    inst.exit == ExitKind::Collect && matches!(inst.op, Op::GuardTrue | Op::GuardFalse | Op::GuardValue)
}

/// A label and what follows up to the next.
struct Part {
    insts: std::ops::Range<usize>,
    allocates: bool,
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
    let mut parts = Vec::new();
    for (number, &start) in starts.iter().enumerate() {
        let end = starts.get(number + 1).copied().unwrap_or(trace.insts.len());
        let insts = &trace.insts[start..end];
        let mut next: Vec<usize> = insts
            .iter()
            .filter(|inst| inst.op == Op::Jump)
            .filter_map(|jump| part_of(jump.label()))
            .collect();
        if insts.last().is_some_and(|last| !matches!(last.op, Op::Jump | Op::Finish)) {
            next.push(number + 1);
        }
        let allocates = insts.iter().any(|inst| inst.effects(schema).allocates);
        parts.push(Part { insts: start..end, allocates, next });
    }
    parts
}

/// The parts that the program may come to behind a part, which is among them if it lies on a cycle.
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

/// The trace without checks that nothing needs; at most as many go as the fuel that is left allows.
pub(crate) fn remove_unneeded(trace: &mut Trace, schema: &Schema, fuel: Option<u64>, report: &mut Report) {
    if !trace.insts.iter().any(is_check) {
        return;
    }
    let mut fuel = fuel.map(|fuel| fuel.saturating_sub(report.rewrites()));
    let parts = parts(trace, schema);
    let behind: Vec<Vec<bool>> = (0..parts.len()).map(|part| reached(&parts, part)).collect();
    let mut keep = vec![true; trace.insts.len()];
    for (number, part) in parts.iter().enumerate() {
        report.visited += part.insts.len() as u64;
        let on_one_cycle = |other: usize| behind[number][other] && behind[other][number];
        if part.allocates || (0..parts.len()).any(|other| parts[other].allocates && on_one_cycle(other)) {
            continue;
        }
        for index in part.insts.clone() {
            if is_check(&trace.insts[index]) && fuel != Some(0) {
                fuel = fuel.map(|fuel| fuel - 1);
                keep[index] = false;
                *report.rules.entry(RULES[0]).or_default() += 1;
            }
        }
    }
    dce::retain(trace, |index| keep[index]);
}
