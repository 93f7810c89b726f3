//! Stores that are overwritten before anybody can look go.
//!
//! Problem: a loop body writes the same field twice, and only the second value is ever seen. Design: one
//! backward walk over the finished trace keeps, per alias class, the accesses that are overwritten further on
//! with nothing between that could see the difference. A store to exactly such bytes is removed. Loads that
//! may meet an access strike it out, calls strike out the classes that they read, and everything that can
//! leave the trace strikes out all, since the interpreter reads memory there. At most [`KEPT`](super::KEPT)
//! accesses of a class are kept, so the walk is linear.
//!
//! Invariant: memory is what it was at every exit, label and call that reads it. Example:
//!
//! ```text
//! store(p0, BoxedInteger.intval, i1)       => gone
//! i3 = int_add(i1, i2)
//! store(p0, BoxedInteger.intval, i3)
//! ```

use std::collections::VecDeque;

use rustc_hash::FxHashMap as HashMap;

use tracelift_core::effects::{CellAccess, Effects, Memory};
use tracelift_core::ops::Flags;
use tracelift_core::schema::ClassId;
use tracelift_core::{Inst, Op, Schema, Trace};

use super::place::{Access, Places};
use super::KEPT;
use crate::Report;

/// The names of the rewrites here.
pub(crate) const RULES: &[&str] = &["store_overwritten"];

/// Accesses whose bytes are written before they are read, by class.
#[derive(Default)]
struct Overwritten(HashMap<ClassId, VecDeque<Access>>);

impl Overwritten {
    fn contains(&self, class: ClassId, at: &Access) -> bool {
        // Another view of the same bytes overwrites them as well.
        let covers = |later: &Access| later.place == at.place && later.width >= at.width;
        self.0.get(&class).is_some_and(|accesses| accesses.iter().any(covers))
    }

    /// Whether an older one was given up for it.
    fn add(&mut self, class: ClassId, at: Access) -> bool {
        let accesses = self.0.entry(class).or_default();
        let is_full = accesses.len() == KEPT;
        if is_full {
            accesses.pop_front();
        }
        accesses.push_back(at);
        is_full
    }

    fn read(&mut self, trace: &Trace, places: &Places, class: ClassId, at: &Access) {
        if let Some(accesses) = self.0.get_mut(&class) {
            accesses.retain(|later| places.are_disjoint(trace, later, at));
        }
    }

    fn read_memory(&mut self, memory: &Memory<'_>) {
        match memory.classes() {
            Some(classes) => classes.iter().for_each(|class| drop(self.0.remove(class))),
            None => self.0.clear(),
        }
    }
}

/// Whether memory can be looked at there by somebody that the trace does not show.
fn is_watched(inst: &Inst, effects: &Effects<'_>) -> bool {
    effects.leaves || inst.op == Op::Label || inst.op.is(Flags::ENDS)
}

/// Whether there are two stores of one class with nothing between where the trace is left. Few traces have
/// any, and to ask is far cheaper than to follow all accesses.
fn has_two_stores(trace: &Trace, schema: &Schema) -> bool {
    let mut stored: Vec<ClassId> = Vec::new();
    trace.insts.iter().any(|inst| {
        if inst.is_exit() {
            stored.clear();
        }
        match CellAccess::of(inst, schema) {
            Some(CellAccess { cell, stored: Some(_), is_raw: true, .. }) => {
                let class = schema.cell(cell).class;
                let is_again = stored.contains(&class);
                stored.push(class);
                is_again
            }
            _ => false,
        }
    })
}

/// The trace without stores that are overwritten; at most as many go as the fuel that is left allows.
pub(crate) fn remove_overwritten(trace: &mut Trace, schema: &Schema, fuel: Option<u64>, report: &mut Report) {
    if !has_two_stores(trace, schema) {
        report.visited += trace.insts.len() as u64;
        return;
    }
    let mut fuel = fuel.map(|fuel| fuel.saturating_sub(report.rewrites()));
    let mut places = Places::default();
    for inst in &trace.insts {
        places.note(trace, schema, inst);
    }
    let mut overwritten = Overwritten::default();
    let mut dead = vec![false; trace.insts.len()];
    for (index, inst) in trace.insts.iter().enumerate().rev() {
        report.visited += 1;
        // Where record operations are kept, their barriers and expansions are left alone.
        match CellAccess::of(inst, schema).filter(|access| access.is_raw) {
            Some(CellAccess { cell, base, stored: Some(_), .. }) => {
                let cell = schema.cell(cell);
                let at = Access::new(places.of(trace, base), cell);
                if !at.volatile && overwritten.contains(cell.class, &at) && fuel != Some(0) {
                    fuel = fuel.map(|fuel| fuel - 1);
                    dead[index] = true;
                    *report.rules.entry(RULES[0]).or_default() += 1;
                } else {
                    report.given_up += overwritten.add(cell.class, at) as u64;
                }
            }
            Some(CellAccess { cell, base, .. }) => {
                let cell = schema.cell(cell);
                let at = Access::new(places.of(trace, base), cell);
                overwritten.read(trace, &places, cell.class, &at);
            }
            None => {
                let effects = inst.effects(schema);
                match is_watched(inst, &effects) {
                    true => overwritten.0.clear(),
                    false => overwritten.read_memory(&effects.reads),
                }
            }
        }
    }
    crate::dce::retain(trace, |index| !dead[index]);
}
