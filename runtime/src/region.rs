//! Regions: trees whose traces have become one function.
//!
//! Problem: a loop with several ways is a trace with side traces, and the program crosses between their
//! functions all the time (`jit-cranelift/src/lower/region.rs`). Most trees cross too seldom for that to
//! matter, and to make the code of a tree again takes as long as it took the first time. Design: each tree
//! has a counter of crossings, which side traces count down at their entry. It begins with as many crossings
//! as pay for the code of the whole tree, made once more; each new side trace adds its share. The entry that
//! brings it to 0 is refused, which the host sees as the exit before it, and says so in a cell: then the
//! tree's traces are compiled once more, as one function, which takes the place of the root's code. All else
//! stays: numbers, exits, counts, resume data, and what later side traces hang on. So compiling takes no
//! more than crossings have cost, as in rent or buy.
//!
//! The root's own code is kept. It takes its place again when a trace of the region is to be entered no more.
//! A trace that calls units is never in one: it may have to be entered no more at once.
//!
//! Invariant: whoever leads to a root leads to its code of now: links change with it, and gates are shut.
//!
//! ```text
//! trace 0, 60 operations; its side trace 1 of 40: after 100 * 500 crossings both are one function
//! trace 2, at another exit, of 20: a function of its own, for the next 120 * 500
//! ```

use std::sync::Arc;

use tracelift_cranelift::{CodePtr, Crossings};

use crate::abort::AbortReason;
use crate::backend::Backend;
use crate::config::DEFAULT_SIDE_THRESHOLD;
use crate::ids::TraceId;
use crate::job::{self, NoCode};
use crate::log::Stage;
use crate::traces::TraceData;
use crate::tree::{Member, Tree};
use crate::tunables::{CROSSINGS_PER_OP, MOST_REGION_OPS};
use crate::vm::Vm;

/// Fewest crossings before a region is made.
const LEAST_CROSSINGS: u64 = 8;
/// A counter that is counted down no further in a program's life.
const NEVER: u64 = i64::MAX as u64;

impl Vm {
    /// What counts the entries of a side trace that is about to be compiled.
    pub(crate) fn crossings(&mut self, tree: &Tree) -> Option<Crossings> {
        if self.config.no_regions || tree.parent.is_none() || tree.unit.is_some() || !tree.calls.is_empty() {
            return None;
        }
        let due = &raw mut *self.code.cells.crossings_due;
        let each = self.crossings_per_op();
        let root = self.traces.get_mut(tree.root).filter(|root| root.tree.calls.is_empty())?;
        let first = crossings_for(root, each);
        let count = root.region.crossings.get_or_insert_with(|| Box::new(first));
        Some(Crossings { count: &raw mut **count, due })
    }

    /// A side trace hangs on the tree. If there is a region already, all of it has to be made again.
    pub(crate) fn tree_has_grown(&mut self, root: TraceId, side: TraceId) {
        let each = self.crossings_per_op();
        let all = self.tree_of(root).into_iter().filter_map(|number| self.traces.get(number));
        let all: u64 = all.map(|trace| crossings_for(trace, each)).sum();
        let more = self.traces.get(side).map_or(0, |trace| crossings_for(trace, each));
        let region = self.traces.get_mut(root).map(|root| &mut root.region);
        if let Some(count) = region.and_then(|region| region.crossings.as_mut()) {
            **count = if **count > NEVER / 2 { all } else { **count + more };
        }
    }

    /// How many crossings pay for the code of an operation. Where a test lowers the threshold of side traces
    /// regions come sooner, too.
    fn crossings_per_op(&self) -> f64 {
        let sooner = f64::from(self.config.side_threshold.min(DEFAULT_SIDE_THRESHOLD));
        let share = sooner / f64::from(DEFAULT_SIDE_THRESHOLD);
        CROSSINGS_PER_OP as f64 * share * share
    }

    /// Makes the regions that have become worth it.
    #[cold]
    pub(crate) fn make_regions(&mut self) {
        *self.code.cells.crossings_due = 0;
        let is_due = |(number, trace): (TraceId, &TraceData)| {
            trace.region.crossings.as_ref().is_some_and(|count| **count as i64 <= 0).then_some(number)
        };
        let due: Vec<TraceId> = self.traces.alive().filter_map(is_due).collect();
        for root in due {
            self.budget.begin();
            let result = self.make_region(root);
            self.totals.regions.ns += self.budget.end(0);
            if let Err((reason, sentence)) = result {
                self.totals.regions.refused += 1;
                let heading = format!("no region of trace {root}: {reason}: {sentence}");
                self.log.entry(Stage::Abort, &heading, String::new);
            }
            if let Some(count) = self.traces.get_mut(root).and_then(|root| root.region.crossings.as_mut()) {
                **count = NEVER;
            }
        }
    }

    /// Makes a tree one function.
    fn make_region(&mut self, number: TraceId) -> Result<(), NoCode> {
        let gone = || (AbortReason::Abandoned, "the trace is gone".to_string());
        let root = self.traces.get(number).ok_or_else(gone)?;
        if self.nested.doomed.contains(&number) {
            return Err(gone());
        }
        let head = root.address();
        let mut members: Vec<(Arc<Member>, bool)> = Vec::new();
        let mut ops = 0;
        for number in self.tree_of(number) {
            let Some(trace) = self.traces.get(number) else { continue };
            let hangs = |(member, _): &(Arc<Member>, bool)| {
                trace.tree.parent.is_some_and(|at| at.trace == member.number)
            };
            let is_attached = trace.tree.parent.is_none() || members.iter().any(hangs);
            ops += trace.worth.ops.1;
            if is_attached && trace.tree.calls.is_empty() && ops <= MOST_REGION_OPS {
                let goes_back = trace.tree.end == 0 && trace.links.last() == Some(&head);
                members.push((Arc::clone(&trace.source), goes_back));
            }
        }
        if members.len() < 2 {
            return Err((AbortReason::TooManyOps, format!("{ops} operations")));
        }
        let numbers: Vec<TraceId> = members.iter().map(|(member, _)| member.number).collect();
        if root.region.members == numbers {
            return Ok(());
        }
        let Backend::Ready(ready) = &mut self.code.backend else { return Err(gone()) };
        let all: Vec<(&Member, bool)> = members.iter().map(|(member, back)| (&**member, *back)).collect();
        let compiled = job::generate_tree(&mut ready.compiler, &all, &self.schema)?;
        let code = (ready.arena.install(number.tree(), &compiled))
            .map_err(|error| (AbortReason::CodeMemoryFull, error.to_string()))?;
        let heading = format!("region of trace {number}: {numbers:?}");
        self.log.entry(Stage::Asm, &heading, || compiled.disasm.clone().unwrap_or_default());
        let totals = &mut self.totals;
        totals.regions.made += 1;
        totals.regions.traces += numbers.len() as u64;
        totals.compile.code_bytes += compiled.stats.code_bytes as u64;
        if let Some(reason) = compiled.stats.by_cranelift {
            *totals.compile.by_cranelift.entry(reason).or_default() += 1;
        }
        if let Some(root) = self.traces.get_mut(number) {
            root.region.plain.get_or_insert(root.code);
            root.region.members = numbers;
        }
        self.exchange(number, code);
        Ok(())
    }

    /// A trace is about to be entered no more: no region may contain it.
    pub(crate) fn leave_region(&mut self, number: TraceId) {
        let Some(root) = self.traces.get(number).map(|trace| trace.tree.root) else { return };
        let Some(of) = self.traces.get_mut(root) else { return };
        if !of.region.members.contains(&number) || number == root {
            return;
        }
        of.region.members.clear();
        if let Some(plain) = of.region.plain.take() {
            self.exchange(root, plain);
        }
    }

    /// A root has other code: all that leads to it leads there.
    fn exchange(&mut self, number: TraceId, code: CodePtr) {
        self.gates.shut();
        let Backend::Ready(ready) = &self.code.backend else { return };
        let Some(glue) = ready.glue else { return };
        let Some(root) = self.traces.get_mut(number) else { return };
        let (old, new) = (root.address(), code.address() as u64);
        (root.code, root.entry_code) = (code, glue.entry(code));
        for way in root.tree.from.clone() {
            let Some(trace) = self.traces.get_mut(way.from) else { continue };
            trace.links.iter_mut().filter(|link| **link == old).for_each(|link| *link = new);
        }
    }
}

/// So many crossings cost what it takes to make the trace's code once more.
fn crossings_for(trace: &TraceData, each: f64) -> u64 {
    ((trace.worth.ops.1 as f64 * each) as u64).max(LEAST_CROSSINGS)
}
