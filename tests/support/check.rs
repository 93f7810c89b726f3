//! One case, run every way and compared everywhere.
//!
//! Problem and design: see `mod.rs`. The reference is the recorded trace in the evaluator, stopped at the
//! snapshot and iteration at which another run was left. An optimized trace runs in the evaluator first: if
//! that goes wrong (wild access, endless loop), machine code is not tried, so that a bug is reported and does
//! not crash the tests.
//!
//! Invariant: whatever is found wrong comes back as a [`Failure`] with a trace file ready to be committed.
//!
//! Example of what it finds: `-fold: machine code, guard execution 7 forced: b1.intval: 5 vs 6`.

use std::sync::Arc;

use tracelift_core::eval::{compare_outcomes, finish_types, End, Evaluator, Limits, Outcome};
use tracelift_core::snapshot::Snapshot;
use tracelift_core::testgen::{shrink, Case, MAX_ITERATIONS};
use tracelift_core::text;
use tracelift_core::verify::{verify, ErrorKind, Mode};
use tracelift_core::world::{ContextCells, World};
use tracelift_core::world_spec::SpecValue;
use tracelift_core::{ExitKind, LabelId, Op, Schema, Trace, Type};
use tracelift_cranelift::Options;
use tracelift_opt::{optimize, Config, Optimized, Peeled, PASSES};

use super::coverage::{loop_length, Coverage, ExitCounts};
use super::crash;
use super::machine::{Code, Guards, Machine};

/// Guard executions that are forced in the evaluator and in machine code, per configuration: in the first one
/// (all passes on), and in each other one.
const FORCED: [u64; 2] = [400, 12];

/// The name of the first configuration.
const ALL_PASSES: &str = "all passes";

/// What is wrong with a case.
#[derive(Debug)]
pub struct Failure {
    /// The case's seed.
    pub seed: u64,
    /// What was found, where.
    pub what: String,
    /// The case as a trace file.
    pub file: String,
    /// The optimized trace, if it got that far.
    pub optimized: String,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "TRACELIFT_SEED={}: {}", self.seed, self.what)?;
        writeln!(f, "---- the case, as a trace file ----\n{}", self.file)?;
        writeln!(f, "---- optimized ----\n{}", self.optimized)
    }
}

/// What differs between runs of one case.
#[derive(Clone, Copy, Default)]
struct Variation {
    force: Option<u64>,
    allocations_left: Option<u64>,
    cells: ContextCells,
}

/// Checks cases; one per thread.
pub struct Checker {
    schema: Arc<Schema>,
    configs: Vec<(String, Config)>,
    /// As hosts run traces, without unrolling, both by Cranelift, and with its own optimizations.
    machines: [Machine; 5],
    /// What was covered so far.
    pub coverage: Coverage,
}

impl Checker {
    /// A checker over this schema.
    pub fn new(schema: &Arc<Schema>) -> Checker {
        let mut configs = vec![(ALL_PASSES.to_string(), Config::new().with_way_in())];
        let optional = PASSES.iter().filter(|pass| pass.optional).map(|pass| format!("-{}", pass.name));
        for off in optional.chain(["-all".to_string()]) {
            let config = Config::parse(&off).expect("names of optional passes");
            configs.push((off, config));
        }
        Checker {
            schema: schema.clone(),
            configs,
            machines: [
                Options { quick: true, ..Options::default() },
                Options { quick: true, no_unrolling: true, ..Options::default() },
                Options::default(),
                Options { no_unrolling: true, ..Options::default() },
                Options { optimize: true, ..Options::default() },
            ]
            .map(Machine::new),
            coverage: Coverage::default(),
        }
    }

    /// A failure of the same kind as `failure`, of a case as small as can be found.
    pub fn smaller(&mut self, case: &Case, failure: Box<Failure>) -> Box<Failure> {
        let mut smallest = failure;
        let coverage = self.coverage.clone();
        shrink(case, 600, |smaller| {
            // A case without meaning is no smaller form of one that has a meaning.
            let schema = self.schema.clone();
            let valid = verified(&smaller.trace, &schema, Mode::Recorded).is_ok()
                && Runs::new(smaller, &schema).recorded(&mut self.coverage).is_ok();
            match self.check(smaller) {
                Err(failure) if valid => {
                    smallest = failure;
                    true
                }
                _ => false,
            }
        });
        self.coverage = coverage;
        smallest
    }

    /// Checks one case in every way.
    pub fn check(&mut self, case: &Case) -> Result<(), Box<Failure>> {
        crash::running(case.seed);
        let failure = |what: String, optimized: Option<&Trace>| {
            let shown = optimized.map(|trace| text::print_trace_in(trace, &self.schema, &case.spec));
            let (seed, file) = (case.seed, trace_file(case, &self.schema));
            Box::new(Failure { seed, what, file, optimized: shown.unwrap_or_default() })
        };
        verified(&case.trace, &self.schema, Mode::Recorded).map_err(|what| failure(what, None))?;
        let mut runs = Runs::new(case, &self.schema);
        runs.recorded(&mut self.coverage).map_err(|what| failure(what, None))?;
        let mut tried: Vec<Trace> = Vec::new();
        let mut all_passes: Option<(Trace, Option<Peeled>)> = None;
        for (index, (name, config)) in self.configs.iter().enumerate() {
            let optimized = optimize(&case.trace, &self.schema, config)
                .map_err(|error| failure(format!("{name}: {error}"), None))?;
            for (rule, count) in &optimized.report.rules {
                *self.coverage.rules.entry(rule.to_string()).or_default() += count;
            }
            match (name.as_str(), &all_passes) {
                ("-peel", Some((with_peeling, peeled))) if is_loop(&case.trace) => {
                    let lengths = [&optimized.trace, with_peeling].map(loop_length);
                    if lengths[1] > lengths[0] {
                        let what = format!("a loop of {} operations, peeled of {}", lengths[0], lengths[1]);
                        return Err(failure(what, Some(with_peeling)));
                    }
                    self.coverage.count_peeling(lengths, peeled.as_ref());
                }
                (ALL_PASSES, _) => all_passes = Some((optimized.trace.clone(), optimized.peeled.clone())),
                _ => {}
            }
            // The same trace has the same resume data and code: nothing new would be seen.
            if tried.contains(&optimized.trace) {
                self.coverage.forms[1] += 1;
                continue;
            }
            self.coverage.forms[0] += 1;
            tried.push(optimized.trace.clone());
            verified(&optimized.trace, &self.schema, Mode::Expanded)
                .map_err(|what| failure(format!("{name}: {what}"), Some(&optimized.trace)))?;
            let machine = &mut self.machines[(case.seed % 5) as usize];
            let mut way = Way {
                runs: &mut runs,
                machine,
                coverage: &mut self.coverage,
                optimized: &optimized,
                code: None,
                is_first: index == 0,
                forced: FORCED[(index > 0) as usize],
                rng: tracelift_core::testgen::Rng::new(case.seed ^ index as u64),
            };
            let checked = way.all();
            if let Some(code) = way.code.take() {
                machine.free(code);
            }
            checked.map_err(|what| failure(format!("{name}: {what}"), Some(&optimized.trace)))?;
        }
        self.coverage.traces += 1;
        round_trip(case, &self.schema).map_err(|what| failure(what, None))
    }
}

/// Whether the case may be checked over this schema: where traces may access slots, no pointer is used after
/// a call that may run the collector, which random traces do not know.
pub fn keeps_pointers_found(case: &Case, schema: &Schema) -> bool {
    schema.slot_cells().is_none()
        || !verify(&case.trace, schema, Mode::Recorded).iter().any(|error| error.kind == ErrorKind::Collected)
}

/// The case as a trace file.
pub fn trace_file(case: &Case, schema: &Schema) -> String {
    text::print_file(&as_file(case, schema))
}

fn as_file(case: &Case, schema: &Schema) -> text::TraceFile {
    let natives = schema
        .funcs()
        .iter()
        .enumerate()
        .map(|(index, func)| (tracelift_core::schema::FuncId(index as u32), func.name.clone()));
    let value = |(&input, &arg): (&SpecValue, &tracelift_core::Value)| match input {
        SpecValue::Object(number) => text::RunValue::Object(number),
        SpecValue::Bits(bits) => text::RunValue::Bits(case.trace.ty(arg), bits),
        SpecValue::Nothing => text::RunValue::Any,
    };
    let inputs = case.inputs.iter().zip(case.trace.inputs()).map(value).collect();
    text::TraceFile {
        schema: schema.clone(),
        world: case.spec.clone(),
        traces: vec![case.trace.clone()],
        runs: vec![text::Run { line: 0, trace: 0, inputs, outcome: text::Outcome::Any }],
        natives: natives.collect(),
        ..text::TraceFile::default()
    }
}

/// Printing and parsing a case must give the same case.
fn round_trip(case: &Case, schema: &Schema) -> Result<(), String> {
    let printed = trace_file(case, schema);
    let parsed = text::parse_file(&printed, &tracelift_core::testbed::natives)
        .map_err(|error| format!("the printed case does not parse: {error}"))?;
    if text::print_file(&parsed) != printed {
        return Err("the parsed case prints otherwise".into());
    }
    let trace = parsed.traces.first().ok_or("the printed case has no trace")?;
    // The parsed schema may number its cells otherwise, so the traces are compared as text.
    let canonical = [(&case.trace, schema), (trace, &parsed.schema)]
        .map(|(trace, schema)| text::print_trace_canonical(trace, schema));
    match canonical[0] == canonical[1] {
        true => Ok(()),
        false => Err(format!("the parsed trace differs:\n{}\n{}", canonical[0], canonical[1])),
    }
}

/// Whether the trace is one loop around its entry label, which can be peeled.
fn is_loop(trace: &Trace) -> bool {
    let last = trace.insts.last().expect("a trace has instructions");
    last.op == Op::Jump && last.label() == Some(LabelId(0)) && trace.labels.len() == 1
}

/// What the verifier says of a trace.
fn verified(trace: &Trace, schema: &Schema, mode: Mode) -> Result<(), String> {
    match verify(trace, schema, mode).first() {
        None => Ok(()),
        Some(error) => Err(format!("the verifier objects: {error}")),
    }
}

fn count_exit(exits: &mut ExitCounts, trace: &Trace, end: &End) {
    let exit = match end {
        End::Exit { number, .. } => trace.exits().nth(*number as usize).map(|(_, inst)| (inst.op, inst.exit)),
        End::Finish(_) => Some((Op::Finish, ExitKind::Finish)),
        _ => None,
    };
    if let Some(exit) = exit {
        *exits.entry(exit).or_default() += 1;
    }
}

/// Snapshot and iteration at which the reference stops (if it does not run to its end), and the context's
/// cells.
type Stop = (Option<(u32, u64)>, ContextCells);

/// The worlds of a case and the reference runs in them.
struct Runs<'a> {
    case: &'a Case,
    schema: Arc<Schema>,
    finish: Vec<Type>,
    /// Where the reference runs.
    reference: World,
    /// Where another run in the evaluator is made.
    other: World,
    /// Where machine code runs.
    real: World,
    /// How the recorded trace ends by itself.
    end: Option<Outcome>,
    /// How many objects it makes until then.
    made: u64,
    /// Where the reference's world is.
    referred: Option<(Stop, Outcome)>,
}

impl<'a> Runs<'a> {
    fn new(case: &'a Case, schema: &Arc<Schema>) -> Runs<'a> {
        let world = || World::build(&case.spec, schema);
        let (reference, other, real) = (world(), world(), world());
        let finish = finish_types(&case.trace);
        Runs {
            case,
            schema: schema.clone(),
            finish,
            reference,
            other,
            real,
            end: None,
            made: 0,
            referred: None,
        }
    }

    fn limits(variation: Variation) -> Limits {
        let (steps, iterations) = (200_000, MAX_ITERATIONS + 2);
        Limits { steps, iterations, force_guard: variation.force, ..Limits::default() }
    }

    /// Runs a trace in the evaluator, in the world `other`.
    fn evaluate(&mut self, trace: &Trace, variation: Variation) -> Result<Outcome, String> {
        self.other.reset();
        self.other.set_context_cells(variation.cells);
        self.other.set_allocations_left(variation.allocations_left);
        let inputs = self.case.enter(&mut self.other);
        let outcome = Evaluator::new(trace, &self.schema)
            .run(&mut self.other, &inputs, Self::limits(variation))
            .map_err(|error| error.to_string())?;
        match outcome.end {
            End::OutOfFuel => Err("it never ends".into()),
            _ => Ok(outcome),
        }
    }

    /// Runs the reference to where `left` was left.
    fn refer(&mut self, left: &Outcome, variation: Variation) -> Result<Outcome, String> {
        let stop_at = match left.end {
            End::Finish(_) => None,
            _ => Some((left.origin.ok_or("an exit without a snapshot")?, left.iteration)),
        };
        // Guards that follow one another often leave to the same place.
        if let Some((_, outcome)) = self.referred.as_ref().filter(|(at, _)| *at == (stop_at, variation.cells))
        {
            return Ok(outcome.clone());
        }
        self.referred = None;
        self.reference.reset();
        self.reference.set_context_cells(variation.cells);
        let inputs = self.case.enter(&mut self.reference);
        let limits = Limits { stop_at, force_guard: None, ..Self::limits(variation) };
        let outcome = Evaluator::new(&self.case.trace, &self.schema)
            .run(&mut self.reference, &inputs, limits)
            .map_err(|error| format!("the recorded trace: {error}"))?;
        let fits = match left.end {
            End::Finish(_) => matches!(outcome.end, End::Finish(_)) && left.iteration == outcome.iteration,
            _ => outcome.end == End::Stopped,
        };
        if fits {
            self.referred = Some(((stop_at, variation.cells), outcome.clone()));
            return Ok(outcome);
        }
        let (s, n) = (left.origin, left.iteration);
        Err(format!(
            "left by {:?} at snapshot {s:?} in iteration {n}, where the recorded trace never is: it ends by {:?} at \
             snapshot {:?} in iteration {}",
            left.end, outcome.end, outcome.origin, outcome.iteration
        ))
    }

    /// The recorded trace by itself: snapshots that several guards share must fit all of them.
    fn recorded(&mut self, coverage: &mut Coverage) -> Result<(), String> {
        let case = self.case;
        let free = self.evaluate(&case.trace, Variation::default())?;
        Coverage::count_ops(&mut coverage.recorded_ops, &free);
        let guards = free.guards_executed;
        self.made = self.other.allocations();
        self.end = Some(free);
        for force in std::iter::once(None).chain((1..=guards.min(FORCED[0])).map(Some)) {
            let variation = Variation { force, ..Variation::default() };
            let left = self.evaluate(&case.trace, variation)?;
            count_exit(&mut coverage.recorded_exits, &case.trace, &left.end);
            let expected = self.refer(&left, variation)?;
            compare_outcomes(&self.schema, (&expected, &self.reference), (&left, &self.other), &self.finish)
                .map_err(|difference| format!("recorded, guard {force:?} forced: {difference}"))?;
        }
        Ok(())
    }
}

/// One optimized form of the case.
struct Way<'r, 'a> {
    runs: &'r mut Runs<'a>,
    machine: &'r mut Machine,
    coverage: &'r mut Coverage,
    optimized: &'r Optimized,
    code: Option<Code>,
    /// Whether it is the form with all passes.
    is_first: bool,
    forced: u64,
    rng: tracelift_core::testgen::Rng,
}

impl Way<'_, '_> {
    fn all(&mut self) -> Result<(), String> {
        // The evaluator goes first and alone: it finds wild accesses and endless loops without harm.
        let (free, _) = self.evaluator(Variation::default())?;
        Coverage::count_ops(&mut self.coverage.optimized_ops, &free);
        self.coverage.free_runs += 1;
        let end = self.runs.end.as_ref().expect("the recorded trace ran");
        let is_same = (end.origin, end.iteration) == (free.origin, free.iteration);
        self.coverage.same_exit += is_same as u64;
        let runs = &*self.runs;
        if self.is_first && is_same {
            let recorded = runs.made;
            let lifted = self.snapshot_at(&free).map_or(0, |snapshot| snapshot.virtuals.len() as u64);
            let optimized = runs.other.allocations() - lifted;
            let [one, other] = &mut self.coverage.objects_made;
            (*one, *other) = (*one + recorded, *other + optimized);
        }
        let code = self.machine.compile(self.optimized, &runs.schema, &runs.real, Guards::Counted)?;
        self.coverage.unrolled += code.stats.unrolled as u64;
        self.coverage.prefetches += code.stats.prefetches as u64;
        self.code = Some(code);
        self.both(Variation::default())?;
        let guards = free.guards_executed;
        for number in 0..guards.min(self.forced) {
            let force = match guards <= self.forced {
                true => number + 1,
                false => self.rng.range(1, guards),
            };
            self.both(Variation { force: Some(force), ..Variation::default() })?;
        }
        for allocations in 0..self.runs.other.allocations().min(3) {
            self.both(Variation { allocations_left: Some(allocations), ..Variation::default() })?;
        }
        let interrupt = ContextCells { interrupt: 1, ..ContextCells::default() };
        self.both(Variation { cells: interrupt, ..Variation::default() })?;
        self.both(Variation { cells: ContextCells { debt: 1, ..interrupt }, ..Variation::default() })?;
        self.as_hosts_do()
    }

    /// Once more as hosts compile: counting the guards keeps apart what is before one and what is after it.
    /// Nothing ends an endless loop then, so the others go first.
    fn as_hosts_do(&mut self) -> Result<(), String> {
        let runs = &*self.runs;
        let plain = self.machine.compile(self.optimized, &runs.schema, &runs.real, Guards::Plain)?;
        if let Some(counted) = self.code.replace(plain) {
            self.machine.free(counted);
        }
        self.both(Variation::default())
    }

    /// The snapshot of the exit that the optimized trace was left by.
    fn snapshot_at(&self, left: &Outcome) -> Option<&Snapshot> {
        let End::Exit { number, .. } = left.end else { return None };
        let (_, inst) = self.optimized.trace.exits().nth(number as usize)?;
        inst.snap.map(|snap| &self.optimized.trace.snapshots[snap.index()])
    }

    /// Runs the optimized trace in the evaluator and compares; where it was left, and the reference there.
    fn evaluator(&mut self, variation: Variation) -> Result<(Outcome, Outcome), String> {
        let runs = &mut *self.runs;
        let trace = &self.optimized.trace;
        let left =
            runs.evaluate(trace, variation).map_err(|error| describe("evaluator", variation, &error))?;
        count_exit(&mut self.coverage.optimized_exits, trace, &left.end);
        let expected =
            runs.refer(&left, variation).map_err(|error| describe("evaluator", variation, &error))?;
        compare_outcomes(&runs.schema, (&expected, &runs.reference), (&left, &runs.other), &runs.finish)
            .map_err(|difference| describe("evaluator", variation, &difference))?;
        Ok((left, expected))
    }

    /// The same in the evaluator and in machine code.
    fn both(&mut self, variation: Variation) -> Result<(), String> {
        let (expected, reference) = self.evaluator(variation)?;
        let code = self.code.as_ref().expect("compiled before");
        let (runs, trace) = (&mut *self.runs, &self.optimized.trace);
        runs.real.reset();
        runs.real.set_context_cells(variation.cells);
        runs.real.set_allocations_left(variation.allocations_left);
        let wrong = |what: &dyn std::fmt::Display| describe("machine code", variation, what);
        let left = self
            .machine
            .run(code, runs.case, &mut runs.real, variation.force)
            .map_err(|error| wrong(&error))?;
        let (_, inst) =
            trace.exits().nth(left.exit as usize).ok_or_else(|| wrong(&"an exit that is none"))?;
        let end = match inst.op {
            Op::Finish => End::Finish(left.lifted.results),
            _ => End::Exit { number: left.exit, kind: inst.exit },
        };
        count_exit(&mut self.coverage.machine_exits, trace, &end);
        if let Some(snap) = inst.snap {
            self.coverage.count_lifted(&trace.snapshots[snap.index()]);
        }
        let same_way = match (&end, &expected.end) {
            (End::Finish(_), End::Finish(_)) => true,
            (end, expected) => end == expected,
        };
        if !same_way || left.lifted.origin != expected.origin {
            return Err(wrong(&format!(
                "left by {end:?} at snapshot {:?}, the evaluator by {:?} at {:?} in iteration {}",
                left.lifted.origin, expected.end, expected.origin, expected.iteration
            )));
        }
        // The reference's world still is where the evaluator's run was compared with it.
        let left = Outcome { end, frames: left.lifted.frames, ..expected };
        compare_outcomes(&runs.schema, (&reference, &runs.reference), (&left, &runs.real), &runs.finish)
            .map_err(|difference| wrong(&difference))
    }
}

fn describe(way: &str, variation: Variation, what: &dyn std::fmt::Display) -> String {
    let mut with = Vec::new();
    if let Some(force) = variation.force {
        with.push(format!("guard execution {force} forced"));
    }
    if let Some(left) = variation.allocations_left {
        with.push(format!("{left} allocations left"));
    }
    if variation.cells.interrupt != 0 {
        with.push("interrupted".into());
    }
    format!("{way}{}{}: {what}", if with.is_empty() { "" } else { ", " }, with.join(", "))
}
