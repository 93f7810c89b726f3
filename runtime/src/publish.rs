//! What is done on the host's thread before and after a trace is compiled.
//!
//! Problem: what compiling needs lies all over the VM (counters, the exit buffer, what the interpreter takes
//! for an iteration), and what comes of it has to get there, while the program may be in other code. Design:
//! [`Vm::job`] takes all of it by value, and [`Vm::publish`] is one step: it tells what there is to tell,
//! installs the code, sets its links and puts together what is kept of it. Invariant: whichever part of the
//! step fails, nothing has to be taken back, since of all that can fail code memory is asked for last; and a
//! trace is found by its number only when its code is installed and its exit tables are complete.
//!
//! ```text
//! trace 3, 2 exits: its links lead to the glue's way out at first; its exits have counts of 0 and no plan
//! ```

use std::sync::Arc;

use tracelift_core::{text, Op, Payload, Trace, UnitId};
use tracelift_cranelift::{CodeMemory, Compiled, Replaced as Adds, Request};
use tracelift_opt::ResumeTable;

use crate::abort::AbortReason;
use crate::backend::{free_code, Backend};
use crate::evict::For;
use crate::ids::TraceId;
use crate::job::{Done, Extras, Job, NoCode, Product, Told, UnitSoFar, Wanted};
use crate::log::Stage;
use crate::pace::UNITS;
use crate::plan::Plan;
use crate::policy::{self, Replaced};
use crate::run::Room;
use crate::stats::GroupedOps;
use crate::traces::{ExitCell, TraceData, Worth};
use crate::tree::{Reach, Region, Tree, Turns};
use crate::tunables::{PEELED_OPS, PEELED_SOON_OPS};
use crate::vm::Vm;

impl Vm {
    /// What is needed to compile a recorded trace.
    pub(crate) fn job(&mut self, recorded: Trace, needs: Room, mut tree: Tree) -> Result<Job, NoCode> {
        let number = self.traces.next_id();
        let title = self.title_of(&tree);
        self.log.entry(Stage::Record, &format!("trace {number} {title} recorded"), || {
            text::print_trace(&recorded, &self.schema)
        });
        if let Backend::Refused(reason, sentence) = self.code.ready(&self.config) {
            return Err((reason.clone(), sentence.clone()));
        }
        let mut opt = self.config.opt.clone().keeping_real(self.never_virtual());
        opt.no_hoisting |= self.locations.get(&tree.key).is_some_and(|location| location.no_hoisting);
        // The contract of exits: see `TL_EXIT_COLLECT`.
        opt.host_collects = true;
        let is_closed = recorded.insts.last().is_some_and(|inst| inst.op == Op::Jump);
        if !self.peels(&tree, recorded.op_count() as u64) {
            opt = opt.without_peeling();
            tree.turns = (is_closed && tree.parent.is_none() && tree.unit.is_none()).then(Turns::new);
        }
        let extras = Extras {
            verify: self.config.verify,
            count_operations: self.config.count_iterations,
            optimized: self.log.wants(Stage::Opt),
            resume: self.log.wants(Stage::Resume),
        };
        tree.calls = units_called(&recorded);
        (tree.replaced, tree.adds_up) = self.replaced_by(&tree, is_closed);
        if let Some(notes) = &mut self.notes {
            let noted = notes.begin_trace(number, &recorded, &tree);
            self.budget.leave_out(noted);
        }
        let mut request = self.request(number, &mut tree);
        if !tree.calls.is_empty() || tree.unit.is_some() {
            request = request.know_units(self.units.links(tree.parent.is_some() && tree.unit.is_some()));
        }
        let unit = tree.unit.and_then(|unit| self.units.get(unit));
        let unit = unit.map(|unit| UnitSoFar { members: unit.members.clone(), merged: unit.merged });
        let schema = Arc::clone(&self.schema);
        let enters = self.bridge_of(&tree, &mut opt);
        Ok(Job {
            number,
            title,
            recorded,
            needs,
            tree,
            schema,
            opt,
            request,
            extras,
            unit,
            enters,
            wanted: Wanted::default(),
        })
    }

    /// Whether traces are optimized to go on in a loop's second body, once they are one function: for a loop
    /// it is made, and for a side trace the loop's trace is returned that it goes on in.
    fn bridge_of(&self, tree: &Tree, opt: &mut tracelift_opt::Config) -> Option<TraceId> {
        if self.config.no_regions || tree.unit.is_some() {
            return None;
        }
        opt.second_body = tree.parent.is_none();
        let key = tree.link.filter(|_| tree.parent.is_some() && tree.end == 0)?;
        let entries = &self.locations.get(&key)?.entries;
        let first = entries.iter().filter(|&&entry| entry == tree.root).chain(entries);
        let with_target = |&entry: &TraceId| Some((entry, self.traces.get(entry)?.target.as_ref()?));
        let (root, target) = first.copied().filter_map(|entry| with_target(&entry)).next()?;
        opt.bridge_to = Some(Arc::clone(target));
        Some(root)
    }

    /// Whether a loop is worth a preamble: one that goes on for long, and is short, so that what it computes
    /// before matters. Where thresholds alone decide all loops have one.
    fn peels(&self, tree: &Tree, ops: u64) -> bool {
        let location = self.locations.get(&tree.key);
        let is_left_soon = location.is_some_and(|location| location.pace.is_broken());
        !self.budget.is_limited()
            || ops <= if is_left_soon { PEELED_SOON_OPS } else { PEELED_OPS }
            || location.is_some_and(|location| location.is_peeled_always)
    }

    /// What of the interpreter's time a trace replaces, and whether its code is to add it up. What a loop's
    /// iteration takes there is known of whole iterations: a trace that does not come back to the loop's
    /// head, as it goes on in a function that calls itself, is a part of one.
    fn replaced_by(&self, tree: &Tree, is_closed: bool) -> (Replaced, bool) {
        let parent = tree.parent.and_then(|at| Some((self.traces.get(at.trace)?, at.exit)));
        if let Some((parent, exit)) = parent {
            let progress = parent.exits[exit.index()].progress;
            return (parent.tree.replaced.side(progress, tree.work, self.prices), parent.tree.adds_up);
        }
        // Units add up what they replace themselves, and an iteration that was timed contains that.
        let is_whole = is_closed && tree.calls.is_empty();
        let pace = self.locations.get(&tree.key).map(|location| &location.pace).filter(|_| is_whole);
        (Replaced::root(tree.work, self.prices, pace, !tree.sites.is_empty()), self.budget.is_limited())
    }

    /// What the code of a trace counts, and where.
    fn request(&mut self, number: TraceId, tree: &mut Tree) -> Request {
        let counts_guards = self.counts_guards();
        let cells = &mut self.code.cells;
        let mut request = Request::new(number.0, cells.exit_buffer.as_mut_ptr());
        request = request.count_for_collections(&mut *cells.collect);
        if counts_guards {
            request = request.force(&mut *cells.force);
        }
        if self.config.count_iterations {
            let [iterations, calls] = cells.counts_of(number);
            request = request.count_iterations(iterations).count_unit_calls(calls);
        }
        if let Some([entries, iterations]) = self.notes.as_mut().and_then(|notes| notes.cells()) {
            request = request.count_entries(entries).count_iterations(iterations);
        }
        if let Some(crossings) = self.crossings(tree) {
            request = request.count_crossings(crossings);
        }
        if let Some(turns) = &mut tree.turns {
            request = request.count_turns(turns.cell());
        }
        if !self.budget.is_limited() {
            return request;
        }
        let units = |ns: f64| (ns * UNITS).clamp(1.0, f64::from(1 << 24)) as u32;
        let (iteration, finish) = (units(tree.replaced.whole), units(tree.replaced.at(1.0)));
        let total = &raw mut *self.code.cells.replaced;
        request.count_replaced(Adds { total, entry: 0, iteration, finish })
    }

    /// Tells what has become of a job, and makes its code ready to be entered if there is any.
    pub(crate) fn publish(&mut self, done: Done) -> Result<TraceId, NoCode> {
        let Done { number, name, title, told, result } = done;
        self.account(number, &title, told);
        let product = *result?;
        self.make_room(number, &product.compiled, For::Trace(&product.tree));
        self.still_calls_what_is_there(&product.tree)?;
        if !self.exits.state.reserve(&product.worst) {
            return Err((
                AbortReason::CodeMemoryFull,
                "there is no memory for what its exits restore".into(),
            ));
        }
        let mut data = self.install(number, name, title, product)?;
        let location = self.locations.get(&data.tree.key);
        data.worth.machine_before = location.map_or(0.0, |location| location.machine_ns);
        let needs = data.reach.needs;
        for site in &data.tree.sites {
            site.belongs_to(number);
            site.needs(needs);
        }
        self.count(&data);
        self.tell(|vm| vm.heading(number, &data));
        // SAFETY: promised to `set_reserve`. What is refused now is asked for again before the trace is
        // entered.
        if !unsafe { self.reserves.secure(&data.reach.lifts) } {
            // What was held for others may be gone.
            self.nested.needs_change();
        }
        self.traces.push(data);
        self.calls_units(number);
        Ok(number)
    }

    fn account(&mut self, number: TraceId, title: &str, told: Told) {
        self.totals.compile.optimize_us += told.optimize_us;
        self.totals.compile.places_forgotten += told.places_forgotten;
        for (rule, count) in told.rules {
            *self.totals.rewrites.entry(rule.to_string()).or_default() += count;
        }
        if let Some(text) = told.optimized {
            self.log.entry(Stage::Opt, &format!("trace {number} {title} optimized"), || text);
        }
        if let Some(text) = told.resume {
            self.log.entry(Stage::Resume, &format!("trace {number} {title} resume data"), || text);
        }
    }

    /// Installs the code, and puts together what is kept of the trace.
    fn install(
        &mut self,
        number: TraceId,
        name: String,
        title: String,
        product: Product,
    ) -> Result<TraceData, NoCode> {
        let Product { mut compiled, mut links, mut other, needs, tree, resume, pool, ops, .. } = product;
        if number != self.traces.next_id() {
            return Err((AbortReason::Internal, format!("another trace has got the number {number}")));
        }
        if tree.parent.is_some_and(|at| self.traces.get(at.trace).is_none()) {
            return Err((AbortReason::Abandoned, "the trace that it hangs on is gone".into()));
        }
        let ready = match &mut self.code.backend {
            Backend::Ready(ready) => ready,
            Backend::Refused(reason, sentence) => return Err((reason.clone(), sentence.clone())),
            Backend::Pending => return Err((AbortReason::Internal, "there is no code memory".into())),
        };
        let glue = ready
            .glue(self.code.watch.as_deref_mut())
            .map_err(|sentence| (AbortReason::CodeMemoryFull, sentence))?;
        // Exits of units lead nowhere at first.
        links.fill(if tree.unit.is_some() { 0 } else { glue.leave() });
        *other = glue.leave();
        let unit = tree.unit.and_then(|unit| self.units.get_mut(unit));
        if tree.unit.is_some() && unit.is_none() {
            return Err((AbortReason::Abandoned, "the unit is gone".into()));
        }
        let code = ready.arena.install(number.tree(), &compiled).map_err(|error| match error {
            CodeMemory::Full { .. } => (AbortReason::CodeMemoryFull, error.to_string()),
            _ => (AbortReason::NoExecutableMemory, error.to_string()),
        })?;
        if let (Some(unit), Some(is_merged)) = (unit, product.is_merged) {
            if is_merged {
                // Nobody is in the code that the unit had before.
                for before in &unit.members {
                    free_code(ready, &mut self.code.watch, before.number);
                }
            }
            unit.has_grown(Arc::clone(&product.source), is_merged, code.address() as u64);
            if let Some(base) = unit.least_base() {
                // Frame pointer and return address lie above the frame.
                self.units.needs(base, compiled.frame_bytes + 16);
            }
        }
        let is_whole_unit = product.is_merged == Some(true);
        self.tell_of_code(number, &tree, is_whole_unit, (code, &title), &mut compiled);
        self.log_code(number, &title, &compiled);
        if let Some(notes) = &mut self.notes {
            let noted = notes.end_trace(number, &product.source, compiled.listing.as_deref());
            self.budget.leave_out(noted + compiled.stats.listing_ns);
        }
        let lifts = self.reserves.want(&product.worst);
        if let Some(GroupedOps { before, after }) = product.operations {
            let totals = self.totals.compile.operations.get_or_insert_with(GroupedOps::default);
            totals.before += before;
            totals.after += after;
        }
        let saved_per_ns = policy::saved_per_ns(tree.replaced.whole, product.work);
        Ok(TraceData {
            name,
            title,
            code,
            entry_code: glue.entry(code),
            links,
            other,
            reach: Reach::new(needs, &lifts),
            entry: product.entry,
            lifts,
            entries: 0,
            refusals: 0,
            exits: exit_cells(&compiled, &product.progress, &tree, &resume, &pool),
            worth: Worth { ops, saved_per_ns, compile_ns: 0, machine_before: 0.0 },
            tree,
            source: product.source,
            region: Region::default(),
            target: product.target,
            generated: compiled.stats,
            resume,
            pool,
        })
    }

    fn count(&mut self, data: &TraceData) {
        let stats = &data.generated;
        self.totals.first_trace_after.get_or_insert_with(|| self.counters.ticks());
        let totals = &mut self.totals.compile;
        totals.traces += 1;
        if let Some(reason) = stats.by_cranelift {
            *totals.by_cranelift.entry(reason).or_default() += 1;
        }
        totals.side_traces += u64::from(data.tree.parent.is_some());
        totals.ops_recorded += data.worth.ops.0;
        totals.ops_optimized += data.worth.ops.1;
        totals.guards += stats.guards as u64;
        totals.code_bytes += stats.code_bytes as u64;
        totals.resume_bytes += data.resume.bytes.len() as u64;
        // Rounded once, so that the parts add up.
        let (build_us, machine_us) = (stats.build_ns / 1000, stats.codegen_ns / 1000);
        totals.codegen_us += build_us + machine_us;
        totals.build_us += build_us;
    }

    /// A new trace in one line.
    fn heading(&mut self, number: TraceId, data: &TraceData) -> String {
        let (title, ops, stats) = (&data.title, data.worth.ops.1, &data.generated);
        let (guards, bytes) = (stats.guards, stats.code_bytes);
        let to = data.tree.link.map(|key| format!(", goes on at {}", self.name_of_location(key)));
        let to = to.unwrap_or_default();
        format!("trace {number} {title}{to}: {ops} operations, {guards} guards, {bytes} bytes of code")
    }

    fn log_code(&mut self, number: TraceId, title: &str, compiled: &Compiled) {
        self.log.entry(Stage::Clif, &format!("trace {number} {title} clif"), || {
            compiled.clif.clone().unwrap_or_default()
        });
        self.log.entry(Stage::Asm, &format!("trace {number} {title} machine code"), || {
            compiled.disasm.clone().unwrap_or_default()
        });
        self.log.entry(Stage::Code, &format!("trace {number} {title} with its machine code"), || {
            compiled.listing.clone().unwrap_or_default()
        });
    }
}

/// The units that a trace calls, itself left out, and where their frames lie.
pub(crate) fn units_called(trace: &Trace) -> Vec<(UnitId, i32)> {
    let calls = trace.insts.iter().filter_map(|inst| match inst.payload {
        Payload::Unit { unit, base } if trace.unit != Some(unit) => Some((unit, base)),
        _ => None,
    });
    calls.collect()
}

/// The exits of a new trace, none of them taken so far.
fn exit_cells(
    compiled: &Compiled,
    progress: &[f32],
    tree: &Tree,
    resume: &ResumeTable,
    pool: &[u64],
) -> Box<[ExitCell]> {
    let cell =
        |(kind, progress)| ExitCell { count: 0, callers: 0, quiet_until: 0, plan: None, kind, progress };
    let kinds = compiled.exits.iter().map(|exit| exit.kind);
    let mut exits: Box<[ExitCell]> = kinds.zip(progress.iter().copied()).map(cell).collect();
    if let (Some(_), Some(finish)) = (tree.link, compiled.exits.len().checked_sub(1)) {
        // The code has written the slots itself.
        exits[finish].plan = Plan::of_frames(resume, pool, finish).map(Box::new);
    }
    exits
}
