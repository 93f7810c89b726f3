//! From a closed recording to a trace that is entered.
//!
//! Problem: between a recording and its code lie four stages, each of which may say no, and none of which may
//! take the program down. Design: one function per stage (code generation and installing are in
//! `codegen.rs`), a typed reason for every no, and a net below our own panics: an optimizer that panics on a
//! valid trace is a bug, counted as `internal error`, and the program goes on in the interpreter (with
//! `verify`, as in tests, it is an error that tests see). Invariant: a trace is published in its location
//! only when its code is installed and its exit tables are complete.
//!
//! ```text
//! close_recording -> verify -> optimize -> verify -> generate -> publish -> attached to its loop: Compiled
//! ```

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::time::Instant;

use tracelift_core::schema::FuncEffects;
use tracelift_core::{text, verify, Inst, Op, Payload, Trace};
use tracelift_opt::{OpCounts, Optimized};

use crate::abort::AbortReason;
use crate::ids::{ExitPoint, Key, TraceId};
use crate::log::Stage;
use crate::recorder::{Closed, Finished, Recorder, Start};
use crate::run::Room;
use crate::stats::GroupedOps;
use crate::traces::TraceData;
use crate::tree::Tree;
use crate::vm::Vm;

/// How often a recording is taken again because slot types changed under it.
const MAX_RETRIES: u32 = 3;

/// What became of a recording.
#[derive(Debug)]
pub enum CloseOutcome {
    /// Compiled.
    Compiled(TraceId),
    /// Slot types changed: record again at once.
    Again,
    /// Given up, for this reason.
    Aborted(AbortReason, String),
}

impl Vm {
    /// The recorded loop is back at its head; see `tl_record_close`.
    pub fn close_recording(&mut self) -> CloseOutcome {
        let Some(recorder) = self.take_recorder() else {
            return CloseOutcome::Aborted(AbortReason::Misuse, "no recording is in progress".into());
        };
        let (key, start, needs) = (recorder.key, recorder.start, recorder.needs());
        let work = recorder.work();
        let base = recorder.base();
        let Start::Loop { retries } = start else {
            return self.misused(recorder, "a side trace does not close");
        };
        let result = match recorder.close(&self.schema) {
            Ok(Closed::Loop(Finished { trace, edges })) => {
                let root = self.traces.next_id();
                let tree = Tree { key, root, edges, work, ..Tree::default() };
                let compiled = if can_be_left(&trace, &self.schema) {
                    self.compile(*trace, needs, tree)
                } else {
                    Err((
                        AbortReason::Misuse,
                        "nothing can leave the loop: it has no guard of any kind".into(),
                    ))
                };
                compiled.inspect(|&number| self.attach_loop(key, number))
            }
            Ok(Closed::Again) if retries < MAX_RETRIES => {
                self.totals.retaken += 1;
                self.recording.asked = Some(key).filter(|_| self.recording.was_asked);
                self.start_recording(key, base, retries + 1);
                return CloseOutcome::Again;
            }
            Ok(Closed::Again) => Err((AbortReason::Unstable, "slot types kept changing".into())),
            Err(failure) => Err(failure),
        };
        match result {
            Ok(number) => CloseOutcome::Compiled(number),
            Err((reason, sentence)) => {
                self.give_up(key, reason.clone(), &sentence);
                CloseOutcome::Aborted(reason, sentence)
            }
        }
    }

    /// The recorded side trace has come to the head of the loop `link`; see `tl_record_link`.
    pub fn link_recording(&mut self, link: Key) -> CloseOutcome {
        let Some(recorder) = self.take_recorder() else {
            return CloseOutcome::Aborted(AbortReason::Misuse, "no recording is in progress".into());
        };
        let Start::Side(at) = recorder.start else {
            return self.misused(recorder, "a loop is closed and not linked");
        };
        self.side_recorded(recorder, at, Some(link))
    }

    /// The recording ends before something that cannot be recorded, where the interpreter goes on; see
    /// `tl_record_end`.
    pub fn end_recording(&mut self, reason: AbortReason) -> CloseOutcome {
        let Some(recorder) = self.take_recorder() else {
            return CloseOutcome::Aborted(AbortReason::Misuse, "no recording is in progress".into());
        };
        let (key, needs, work) = (recorder.key, recorder.needs(), recorder.work());
        let outcome = match recorder.start {
            Start::Side(at) => self.side_recorded(recorder, at, None),
            Start::Loop { .. } => {
                let root = self.traces.next_id();
                let compiled = recorder.finish(&self.schema).and_then(|Finished { trace, edges }| {
                    let tree = Tree { key, root, edges, work, ..Tree::default() };
                    self.compile(*trace, needs, tree)
                });
                match compiled {
                    Ok(number) => {
                        self.attach_loop(key, number);
                        CloseOutcome::Compiled(number)
                    }
                    Err((reason, sentence)) => {
                        self.give_up(key, reason.clone(), &sentence);
                        CloseOutcome::Aborted(reason, sentence)
                    }
                }
            }
        };
        if let CloseOutcome::Compiled(_) = outcome {
            *self.totals.ends.entry(reason.name().to_string()).or_default() += 1;
        }
        outcome
    }

    /// The recording ends as it cannot; what failed before comes first.
    fn misused(&mut self, mut recorder: Recorder, sentence: &str) -> CloseOutcome {
        recorder.fail(AbortReason::Misuse, sentence);
        let failure = recorder.failure().cloned();
        self.gates.shut();
        self.recording.recorder = Some(recorder);
        self.abort_recording(AbortReason::Misuse);
        let (reason, sentence) = failure.unwrap_or((AbortReason::Misuse, sentence.into()));
        CloseOutcome::Aborted(reason, sentence)
    }

    fn side_recorded(&mut self, recorder: Recorder, at: ExitPoint, link: Option<Key>) -> CloseOutcome {
        match self.compile_side(recorder, at, link) {
            Ok(number) => {
                self.attach_side(at, number);
                CloseOutcome::Compiled(number)
            }
            Err((reason, sentence)) => {
                self.give_up_side(at, &reason, &sentence);
                CloseOutcome::Aborted(reason, sentence)
            }
        }
    }

    fn compile_side(
        &mut self,
        recorder: Recorder,
        at: ExitPoint,
        link: Option<Key>,
    ) -> Result<TraceId, (AbortReason, String)> {
        let (needs, base, work) = (recorder.needs(), recorder.base(), recorder.work());
        let Finished { trace, edges } = recorder.finish(&self.schema)?;
        let Some(of) = self.traces.get(at.trace) else {
            return Err((AbortReason::Abandoned, "the trace that it hangs on is gone".into()));
        };
        let tree = Tree {
            key: of.tree.key,
            root: of.tree.root,
            parent: Some(at),
            link,
            edges,
            work,
            ..Tree::default()
        };
        let number = self.compile(*trace, needs, tree)?;
        if let Some(link) = link {
            // SAFETY: the host has just recorded in this frame.
            unsafe { self.link_finish(number, link, base) };
        }
        Ok(number)
    }

    /// The recording ends, in whatever way: what it took is accounted for.
    fn take_recorder(&mut self) -> Option<Recorder> {
        let recorder = self.recording.recorder.take()?;
        self.budget.recorded(recorder.trace().op_count());
        self.recording.was_asked = recorder.is_asked;
        Some(recorder)
    }

    /// Gives the recording up; see `tl_record_abort`. A failure that the recorder found itself goes first.
    pub fn abort_recording(&mut self, reason: AbortReason) {
        if let Some(recorder) = self.take_recorder() {
            let (reason, sentence) = recorder.failure().cloned().unwrap_or((reason, String::new()));
            match recorder.start {
                Start::Loop { .. } => self.give_up(recorder.key, reason, &sentence),
                Start::Side(at) => self.give_up_side(at, &reason, &sentence),
            }
        }
    }

    fn compile(
        &mut self,
        recorded: Trace,
        needs: Room,
        tree: Tree,
    ) -> Result<TraceId, (AbortReason, String)> {
        let ops = recorded.op_count() as u64;
        let is_loop = tree.parent.is_none();
        let location = self.locations.get(&tree.key).filter(|_| is_loop);
        let back_edges = location.map_or(0, |location| location.back_edges);
        if self.recording.was_asked && !self.budget.affords(ops, back_edges) {
            return Err((AbortReason::TooCostly, format!("{ops} operations")));
        }
        self.budget.begin();
        let result = self.compile_recorded(recorded, needs, tree);
        let compile_ns = self.budget.end(ops);
        if let Ok(number) = result {
            if let Some(trace) = self.traces.get_mut(number) {
                trace.worth.compile_ns = compile_ns;
            }
        }
        result
    }

    fn compile_recorded(
        &mut self,
        recorded: Trace,
        needs: Room,
        tree: Tree,
    ) -> Result<TraceId, (AbortReason, String)> {
        let number = self.traces.next_id();
        self.log.entry(Stage::Record, &format!("trace {number} {} recorded", recorded.name), || {
            text::print_trace(&recorded, &self.schema)
        });
        if self.config.verify {
            check(&recorded, &self.schema, verify::Mode::Recorded)?;
        }
        let start = Instant::now();
        let optimized = self.optimize(&recorded, tree.key)?;
        self.totals.compile.optimize_us += start.elapsed().as_micros() as u64;
        self.log.entry(Stage::Opt, &format!("trace {number} {} optimized", recorded.name), || {
            text::print_trace(&optimized.trace, &self.schema)
        });
        if self.config.verify {
            check(&optimized.trace, &self.schema, verify::Mode::Expanded)?;
        }
        if !can_be_left(&optimized.trace, &self.schema) {
            let sentence = "no guard is left in the loop: record a test for interrupts (TL_EXIT_INTERRUPT)";
            return Err((AbortReason::Endless, sentence.into()));
        }
        self.log.entry(Stage::Resume, &format!("trace {number} resume data"), || {
            describe_resume(&optimized.resume, &self.schema)
        });
        let operations = self.count_operations(&recorded, &optimized)?;
        let data = self.generate(number, &recorded, optimized, needs, tree)?;
        self.publish(data);
        if let Some(GroupedOps { before, after }) = operations {
            let totals = self.totals.compile.operations.get_or_insert_with(GroupedOps::default);
            totals.before += before;
            totals.after += after;
        }
        Ok(number)
    }

    /// What an iteration consists of, if statistics are wanted: the recording is taken apart by a run of its
    /// own, without any optional pass.
    fn count_operations(
        &self,
        recorded: &Trace,
        optimized: &Optimized,
    ) -> Result<Option<GroupedOps>, (AbortReason, String)> {
        let is_loop = recorded.insts.last().is_some_and(|last| last.op == Op::Jump);
        if !self.config.count_iterations || !is_loop {
            return Ok(None);
        }
        let none = tracelift_opt::Config::parse("-all").expect("`all` stands for every optional pass");
        let apart = self.optimize_with(&none, recorded)?;
        let [before, after] = [&apart, optimized].map(|of| OpCounts::of_loop(&of.trace, &self.schema).into());
        Ok(Some(GroupedOps { before, after }))
    }

    fn optimize(&mut self, recorded: &Trace, key: Key) -> Result<Optimized, (AbortReason, String)> {
        let mut config = self.config.opt.clone().keeping_real(self.never_virtual());
        config.no_hoisting |= self.locations.get(&key).is_some_and(|location| location.no_hoisting);
        // The contract of exits: see `TL_EXIT_COLLECT`.
        config.host_collects = true;
        let optimized = self.optimize_with(&config, recorded)?;
        self.totals.compile.places_forgotten += optimized.report.given_up;
        for (&rule, &count) in &optimized.report.rules {
            *self.totals.rewrites.entry(rule.to_string()).or_default() += count;
        }
        Ok(optimized)
    }

    fn optimize_with(
        &self,
        config: &tracelift_opt::Config,
        recorded: &Trace,
    ) -> Result<Optimized, (AbortReason, String)> {
        let run = AssertUnwindSafe(|| tracelift_opt::optimize(recorded, &self.schema, config));
        match catch_unwind(run) {
            Ok(Ok(optimized)) => Ok(optimized),
            Ok(Err(error)) => Err((AbortReason::Misuse, error.to_string())),
            Err(_) => Err((AbortReason::Internal, "the optimizer panicked".into())),
        }
    }

    fn publish(&mut self, data: TraceData) {
        let stats = &data.generated;
        let totals = &mut self.totals.compile;
        totals.traces += 1;
        totals.side_traces += u64::from(data.tree.parent.is_some());
        totals.ops_recorded += data.worth.ops.0;
        totals.ops_optimized += data.worth.ops.1;
        totals.guards += stats.guards as u64;
        totals.code_bytes += stats.code_bytes as u64;
        totals.resume_bytes += data.resume.bytes.len() as u64;
        // Rounded once, so that the parts add up.
        let (build_us, cranelift_us) = (stats.build_ns / 1000, stats.codegen_ns / 1000);
        totals.codegen_us += build_us + cranelift_us;
        totals.build_us += build_us;
        // SAFETY: promised to `set_reserve`. What is refused now is asked for again before the trace is
        // entered.
        unsafe { self.reserves.secure(&data.reach.lifts) };
        self.traces.push(data);
    }

    fn attach_loop(&mut self, key: Key, number: TraceId) {
        self.gates.shut();
        let location = self.locations.entry(key).or_default();
        let pins = location.pins();
        location.compiled(number);
        let (more, counter) = (location.pins() - pins, location.counter);
        (0..more).for_each(|_| counter.into_iter().for_each(|counter| self.counters.pin(counter)));
    }

    /// Keys from `low` up to and without `high` are no longer valid: their code is freed. None of it may be
    /// running.
    pub fn forget(&mut self, low: Key, high: Key) {
        if self.recording.recorder.as_ref().is_some_and(|recorder| (low..high).contains(&recorder.key)) {
            self.recording.recorder = None;
            *self.totals.aborts.entry(AbortReason::Abandoned.name().to_string()).or_default() += 1;
        }
        let gone: Vec<Key> = self.locations.keys().copied().filter(|key| (low..high).contains(key)).collect();
        let is_any_gone = !gone.is_empty();
        for key in gone {
            let location = &self.locations[&key];
            for _ in 0..location.pins() {
                location.counter.into_iter().for_each(|counter| self.counters.unpin(counter));
            }
            let roots: Vec<TraceId> = location.entries.iter().chain(&location.discarded).copied().collect();
            for number in roots.iter().flat_map(|&root| self.tree_of(root)).collect::<Vec<_>>() {
                self.free_trace(number);
            }
            self.locations.remove(&key);
        }
        if is_any_gone {
            let live = self.traces.alive().map(|(_, trace)| trace.lifts.as_slice());
            // SAFETY: promised to `set_reserve`.
            unsafe { self.reserves.shrink(live) };
        }
    }
}

/// Whether something in a loop can leave it: a guard, or a call that may jump out of it. What ends otherwise
/// is no loop.
fn can_be_left(trace: &Trace, schema: &tracelift_core::Schema) -> bool {
    let Some(jump) = trace.insts.last().filter(|last| last.op == Op::Jump) else { return true };
    let is_head = |inst: &Inst| inst.op == Op::Label && inst.label() == jump.label();
    // What may run any code of the host's may also never come back.
    let may_jump = |inst: &Inst| match inst.payload {
        Payload::Func(func) => schema.func(func).effects.includes(&FuncEffects::anything()),
        _ => false,
    };
    let head = trace.insts.iter().position(is_head).unwrap_or(0);
    trace.insts[head..].iter().any(|inst| inst.is_exit() || may_jump(inst))
}

/// With `verify`, an invalid trace is a bug that tests must see.
fn check(
    trace: &Trace,
    schema: &tracelift_core::Schema,
    mode: verify::Mode,
) -> Result<(), (AbortReason, String)> {
    let errors = verify::verify(trace, schema, mode);
    match errors.first() {
        None => Ok(()),
        Some(error) => Err((AbortReason::Internal, format!("invalid trace: {error}"))),
    }
}

/// Resume data for people: one line per exit.
fn describe_resume(resume: &tracelift_opt::ResumeTable, schema: &tracelift_core::Schema) -> String {
    let mut out = format!("{} bytes, {} distinct\n", resume.bytes.len(), resume.distinct);
    for (number, exit) in resume.exits.iter().enumerate() {
        out += &format!("exit {number} ({}):", exit.kind.name());
        let Ok(state) = resume.state(number) else { continue };
        for frame in state.frames() {
            let words: Vec<_> =
                frame.words.map(|index| format!("{:?}", resume.pool[index as usize])).collect();
            let slots: Vec<_> = frame
                .slots
                .map(|slot| format!("{}: {} {:?}", slot.slot, schema.tag(slot.tag).name, slot.source))
                .collect();
            out +=
                &format!(" frame {} words [{}] slots [{}]", frame.base, words.join(", "), slots.join(", "));
        }
        out.push('\n');
    }
    out
}
