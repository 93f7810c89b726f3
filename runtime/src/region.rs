//! Regions: trees of traces that have become one function.
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
//! Inner loops that got code first have trees of their own, and the way between them is crossed as often: so
//! a region takes in the trees that its traces lead to and that lead back, if none of them calls the host.
//! (Then nobody is in the function while one of them is forgotten.) Frames of different functions lie at
//! fixed distances there, or the way is no part of it: recursion goes on by links.
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

use tracelift_core::planted::{planted, Bug};
use tracelift_cranelift::{CodePtr, Compiled, Crossings};

use crate::abort::AbortReason;
use crate::backend::Backend;
use crate::config::DEFAULT_SIDE_THRESHOLD;
use crate::evict::For;
use crate::ids::TraceId;
use crate::job::NoCode;
use crate::log::Stage;
use crate::traces::TraceData;
use crate::tree::{Part, Region, Tree};
use crate::tunables::{CROSSINGS_PER_OP, MOST_REFUSED, MOST_REGION_OPS};
use crate::vm::Vm;
use crate::worker::{Made, RegionPart, Task};

/// Fewest crossings before a region is made.
const LEAST_CROSSINGS: u64 = 8;
/// A counter that no program counts down.
const NEVER: u64 = i64::MAX as u64;
/// Trees in a region at most.
const MOST_ROOTS: usize = 4;

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
        if root.region.crossings.is_none() {
            root.region.wanted = first;
        }
        let count = root.region.crossings.get_or_insert_with(|| Box::new(first));
        Some(Crossings { count: &raw mut **count, due })
    }

    /// A side trace hangs on the tree. If there is a region already, all of it has to be made again.
    pub(crate) fn tree_has_grown(&mut self, root: TraceId, side: TraceId) {
        let each = self.crossings_per_op();
        let all = self.tree_of(root).into_iter().filter_map(|number| self.traces.get(number));
        let all: u64 = all.map(|trace| crossings_for(trace, each)).sum();
        let more = self.traces.get(side).map_or(0, |trace| crossings_for(trace, each));
        let Some(region) = self.traces.get_mut(root).map(|root| &mut root.region) else { return };
        match &mut region.crossings {
            _ if planted(Bug::RegionGrowthIgnored) => {}
            Some(count) if **count > NEVER / 2 => region.begin(all),
            Some(count) => {
                **count += more;
                region.wanted += more;
            }
            None => {}
        }
    }

    /// How many crossings pay for the code of an operation. Where a test lowers the threshold of side traces
    /// regions come sooner, too.
    fn crossings_per_op(&self) -> f64 {
        let sooner = f64::from(self.config.side_threshold.min(DEFAULT_SIDE_THRESHOLD));
        let share = sooner / f64::from(DEFAULT_SIDE_THRESHOLD);
        CROSSINGS_PER_OP as f64 * share * share
    }

    /// Makes the regions that have become worth it, if there are some.
    #[inline]
    pub(crate) fn look_for_regions(&mut self) {
        if *self.code.cells.crossings_due != 0 && !self.is_compiling() {
            self.make_regions();
        }
    }

    #[cold]
    fn make_regions(&mut self) {
        *self.code.cells.crossings_due = 0;
        let is_due = |(number, trace): (TraceId, &TraceData)| {
            trace.region.crossings.as_ref().is_some_and(|count| **count as i64 <= 0).then_some(number)
        };
        let due: Vec<TraceId> = self.traces.alive().filter_map(is_due).collect();
        for root in due {
            if self.is_compiling() {
                *self.code.cells.crossings_due = 1;
                return;
            }
            let parts = self.parts_of(root);
            let price = self.price_of(&parts);
            let Some(region) = self.traces.get_mut(root).map(|root| &mut root.region) else { continue };
            region.paid += region.wanted;
            if region.paid < price {
                region.begin(price - region.paid);
                continue;
            }
            (region.paid, region.wanted) = (0, 0);
            region.crossings.iter_mut().for_each(|cell| **cell = NEVER);
            if self.give_way(&parts) {
                self.begin_anew(root, price);
            } else if self.make_others(root) {
                // The program may come to the root's own code all the same.
                self.begin_anew(root, price);
            } else {
                self.make_or_tell(root, &parts);
            }
        }
    }

    /// Where regions of other roots contain the tree of this one, which has grown, these are made again, or
    /// stay as they are if that has failed some times. Returns whether there was one to be made.
    fn make_others(&mut self, root: TraceId) -> bool {
        let contains = |(number, trace): (TraceId, &TraceData)| {
            (number != root && trace.region.members.contains(&root)).then_some(number)
        };
        let others: Vec<TraceId> = self.traces.alive().filter_map(contains).collect();
        let mut any = false;
        for other in others {
            let parts = self.parts_of(other);
            let region = self.traces.get(other).map(|other| &other.region);
            let is_other = |region: &Region| !region.members.iter().eq(parts.iter().map(|part| &part.trace));
            if region.is_some_and(|region| region.refused < MOST_REFUSED && is_other(region)) {
                self.make_or_tell(other, &parts);
                any = true;
            }
        }
        any
    }

    /// The crossings in a tree are counted anew.
    fn begin_anew(&mut self, root: TraceId, price: u64) {
        if let Some(root) = self.traces.get_mut(root) {
            root.region.paid = 0;
            root.region.begin(price);
        }
    }

    /// How many crossings pay for a region.
    fn price_of(&self, parts: &[Part]) -> u64 {
        (self.ops_of(parts) as f64 * self.crossings_per_op()) as u64
    }

    fn make_or_tell(&mut self, root: TraceId, parts: &[Part]) {
        self.settle();
        let task = match self.task_of_region(root, parts) {
            Ok(Some(task)) => task,
            Ok(None) => return,
            Err(no) => return self.tell_of_no_region(root, no),
        };
        let Err(task) = self.hand_over_region(root, parts, task) else { return };
        self.budget.begin();
        self.code.bounds.begin();
        let made = match &mut self.code.backend {
            Backend::Ready(ready) => ready.compiler.as_mut().map(|compiler| task.run(compiler)),
            _ => None,
        };
        let result = match made {
            Some(Made::Region(made)) => made.and_then(|code| self.install_region(root, parts, *code)),
            _ => Err(gone()),
        };
        self.code.bounds.end();
        self.totals.regions.ns += self.budget.end_again();
        if let Err(no) = result {
            self.tell_of_no_region(root, no);
        }
    }

    fn tell_of_no_region(&mut self, root: TraceId, (reason, sentence): NoCode) {
        self.totals.regions.refused += 1;
        self.traces.get_mut(root).into_iter().for_each(|root| root.region.refused += 1);
        let heading = format!("no region of {}: {reason}: {sentence}", self.shown(root));
        self.log.entry(Stage::Abort, &heading, String::new);
    }

    /// The code of a region has come from another thread: it is used if the trees are what they were.
    pub(crate) fn region_has_come(
        &mut self,
        root: TraceId,
        parts: &[Part],
        made: Result<Box<Compiled>, NoCode>,
    ) {
        if self.traces.get(root).is_none() || self.nested.doomed.contains(&root) {
            return;
        }
        if self.parts_of(root) != parts {
            return self.region_is_off(root);
        }
        if let Err(no) = made.and_then(|code| self.install_region(root, parts, *code)) {
            self.tell_of_no_region(root, no);
        }
    }

    /// What was made of the trees as they were is of no use: they are due again soon.
    pub(crate) fn region_is_off(&mut self, root: TraceId) {
        self.begin_anew(root, LEAST_CROSSINGS);
    }

    /// What becomes one function with a root: its tree; and where no trace calls the host the trees that
    /// these traces lead to and that lead back.
    fn parts_of(&self, root: TraceId) -> Vec<Part> {
        let mut roots = vec![(root, 0)];
        let mut parts = Vec::new();
        let mut at = 0;
        while let Some(&(root, frame)) = roots.get(at) {
            at += 1;
            let first = parts.len();
            self.add_tree(root, frame, &mut parts);
            let is_alone = parts.iter().any(|part| self.calls_host(part.trace));
            let ends = parts[first..].iter().filter(|_| !is_alone).filter_map(|part| self.end_of_part(part));
            for (target, frame) in ends {
                let is_known = roots.iter().any(|&(known, _)| known == target);
                if !is_known && roots.len() < MOST_ROOTS && self.leads_back(target, frame, &roots) {
                    roots.push((target, frame));
                }
            }
        }
        let goes_to = |part: &Part| {
            let is_unasked = planted(Bug::RegionBackUnasked) && self.traces.get(part.trace)?.tree.end == 0;
            let (target, frame) = if is_unasked { (root, 0) } else { self.end_of_part(part)? };
            parts.iter().position(|other| other.trace == target && other.frame == frame)
        };
        let goes_to: Vec<Option<usize>> = parts.iter().map(goes_to).collect();
        parts.iter_mut().zip(goes_to).for_each(|(part, to)| part.goes_to = to);
        parts
    }

    /// Adds the traces of a tree, as far as they may be in a region.
    fn add_tree(&self, root: TraceId, frame: i32, parts: &mut Vec<Part>) {
        let mut ops = self.ops_of(parts);
        let first = parts.len();
        for number in self.tree_of(root) {
            let Some(trace) = self.traces.get(number) else { continue };
            // At an exit the first one is in it; others of other types stay functions of their own.
            let hangs = trace.tree.parent.is_none_or(|at| {
                let is_first = |parent: &TraceData| parent.has_side(at.exit, number);
                self.traces.get(at.trace).is_some_and(is_first)
                    && parts[first..].iter().any(|part| part.trace == at.trace)
            });
            let more = trace.worth.ops.1;
            if hangs && trace.tree.calls.is_empty() && ops + more <= MOST_REGION_OPS {
                ops += more;
                parts.push(Part { trace: number, frame, goes_to: None });
            }
        }
    }

    fn ops_of(&self, parts: &[Part]) -> u64 {
        parts.iter().filter_map(|part| self.traces.get(part.trace)).map(|trace| trace.worth.ops.1).sum()
    }

    /// Whether a trace calls the host: then a frame of it may lie on the native stack.
    pub(crate) fn calls_host(&self, number: TraceId) -> bool {
        self.traces.get(number).is_none_or(|trace| !trace.tree.sites.is_empty())
    }

    /// The root whose code a part goes on in at its end, and where the frame of that one is.
    fn end_of_part(&self, part: &Part) -> Option<(TraceId, i32)> {
        let trace = self.traces.get(part.trace)?;
        let (key, code) = (trace.tree.link?, *trace.links.last()?);
        let is_it = |&&entry: &&TraceId| self.traces.get(entry).is_some_and(|of| of.address() == code);
        let root = self.locations.get(&key)?.entries.iter().find(is_it)?;
        Some((*root, part.frame + trace.tree.end))
    }

    /// Whether a root's tree may be in a region with these roots, and leads to one of them.
    fn leads_back(&self, root: TraceId, frame: i32, roots: &[(TraceId, i32)]) -> bool {
        let mut parts = Vec::new();
        self.add_tree(root, frame, &mut parts);
        let is_free = parts.iter().all(|part| !self.calls_host(part.trace));
        is_free
            && !self.nested.doomed.contains(&root)
            && parts.iter().any(|part| self.end_of_part(part).is_some_and(|end| roots.contains(&end)))
    }

    /// What it takes to make a root and what goes with it one function; nothing if it is one.
    fn task_of_region(&self, number: TraceId, parts: &[Part]) -> Result<Option<Task>, NoCode> {
        let root = self.traces.get(number).ok_or_else(gone)?;
        if self.nested.doomed.contains(&number) {
            return Err(gone());
        }
        if root.region.members.iter().eq(parts.iter().map(|part| &part.trace)) {
            return Ok(None);
        }
        if parts.len() < 2 {
            return Err((AbortReason::TooManyOps, "it has no room for a side trace".into()));
        }
        let part = |&Part { trace, frame, goes_to }: &Part| {
            let member = Arc::clone(&self.traces.get(trace)?.source);
            Some(RegionPart { member, goes_to, frame })
        };
        let all: Option<Vec<RegionPart>> = parts.iter().map(part).collect();
        Ok(Some(Task::Region(all.ok_or_else(gone)?, Arc::clone(&self.schema))))
    }

    /// A root and what goes with it have become one function.
    fn install_region(
        &mut self,
        number: TraceId,
        parts: &[Part],
        mut compiled: Compiled,
    ) -> Result<(), NoCode> {
        let numbers: Vec<TraceId> = parts.iter().map(|part| part.trace).collect();
        self.make_room(number, &compiled, For::Region(&numbers));
        let Backend::Ready(ready) = &mut self.code.backend else { return Err(gone()) };
        let code = (ready.arena.install(number.tree(), &compiled))
            .map_err(|error| (AbortReason::CodeMemoryFull, error.to_string()))?;
        self.tell_of_region(number, code, &mut compiled);
        let heading = format!("region of {}", self.shown(number));
        if self.log.wants(Stage::Region) {
            let parts: Vec<String> = parts.iter().map(|part| self.describe(part, parts)).collect();
            self.log.entry(Stage::Region, &heading, || parts.join("\n"));
        }
        self.log.entry(Stage::Asm, &format!("{heading} machine code"), || {
            compiled.disasm.clone().unwrap_or_default()
        });
        let ops = self.ops_of(parts);
        let totals = &mut self.totals;
        totals.regions.ops += ops;
        totals.regions.largest = totals.regions.largest.max(ops);
        totals.regions.made += 1;
        totals.regions.traces += numbers.len() as u64;
        totals.compile.code_bytes += compiled.stats.code_bytes as u64;
        if let Some(reason) = compiled.stats.by_cranelift {
            *totals.compile.by_cranelift.entry(reason).or_default() += 1;
        }
        if let Some(root) = self.traces.get_mut(number) {
            root.region.plain.get_or_insert(root.code);
            root.region.members = numbers;
            root.region.refused = 0;
        }
        self.exchange(number, code);
        let price = self.price_of(parts);
        for part in parts.iter().skip(1) {
            if self.traces.get(part.trace).is_some_and(|trace| trace.tree.parent.is_none()) {
                self.begin_anew(part.trace, price);
            }
        }
        Ok(())
    }

    /// A part for people: where it begins, and where it goes on.
    fn describe(&self, part: &Part, parts: &[Part]) -> String {
        let Some(trace) = self.traces.get(part.trace) else { return String::new() };
        let from =
            trace.tree.parent.map_or("root".into(), |at| format!("exit {} of trace {}", at.exit, at.trace));
        let to = match (part.goes_to.and_then(|to| parts.get(to)), trace.tree.link) {
            (Some(to), _) => format!("goes on in trace {}", to.trace),
            (None, Some(link)) => format!("goes on at {link:x}, {} slots above, by a link", trace.tree.end),
            (None, None) => String::from("ends"),
        };
        format!("trace {}, {from}, frame {}: {to}", part.trace, part.frame)
    }

    /// A trace is about to be entered no more: no region of another root may contain it.
    pub(crate) fn leave_region(&mut self, number: TraceId) {
        if self.totals.regions.made == 0 || planted(Bug::RegionMemberKept) {
            return;
        }
        let contains = |(root, trace): (TraceId, &TraceData)| {
            (root != number && trace.region.members.contains(&number)).then_some(root)
        };
        let roots: Vec<TraceId> = self.traces.alive().filter_map(contains).collect();
        for root in roots {
            let Some(of) = self.traces.get_mut(root) else { continue };
            of.region.members.clear();
            if let Some(plain) = of.region.plain.take() {
                self.exchange(root, plain);
            }
            let price = self.price_of(&self.parts_of(root));
            self.begin_anew(root, price);
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
            if planted(Bug::RegionLinksKept) {
                continue;
            }
            trace.link_cells().filter(|link| **link == old).for_each(|link| *link = new);
        }
    }
}

fn gone() -> NoCode {
    (AbortReason::Abandoned, "the trace is gone".into())
}

/// So many crossings cost what it takes to make the trace's code once more.
fn crossings_for(trace: &TraceData, each: f64) -> u64 {
    ((trace.worth.ops.1 as f64 * each) as u64).max(LEAST_CROSSINGS)
}
