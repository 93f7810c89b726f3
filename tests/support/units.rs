//! One program of units, run every way and compared everywhere.
//!
//! Problem and design: as for single traces (`check.rs`). The reference is the recorded program in the
//! evaluator, stopped where another run was left: in the same trace, for the same call. The optimized program
//! runs in the evaluator first, then as machine code in two forms, with side traces as parts of their unit's
//! function and as functions of their own; then once more with side traces at further exits of units, which
//! begin with what the optimized exit has. Machine code must agree with the evaluator in each number: exit,
//! callers and their exits, bases, and all that the frames hold.
//!
//! Invariant: whatever is found wrong comes back as a [`Failure`] with a trace file.
//!
//! Example of what it finds: `all passes: merged, guard execution 5 forced: frame 2 slot 1: 3 vs 4`.

use std::sync::Arc;

use tracelift_core::eval::{compare_outcomes, finish_types, End, Evaluator, Limits, Outcome, Side};
use tracelift_core::testgen::{side_of, Program, Rng, MAX_ITERATIONS};
use tracelift_core::text::{self, RunValue};
use tracelift_core::verify::{verify, Mode};
use tracelift_core::world::World;
use tracelift_core::world_spec::SpecValue;
use tracelift_core::{Op, Payload, Schema, Trace, Type};
use tracelift_opt::{optimize, Config, Optimized, PASSES};

use super::check::Failure;
use super::crash;
use super::unit_machine::{is_finish, Form, Left, UnitMachine};

/// Guard executions that are forced, per configuration.
const FORCED: u64 = 24;

/// What was seen, so that the tests can tell that programs are worth something.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Seen {
    pub finished: u64,
    /// By how many callers there were; the last one counts all that have more.
    pub left: [u64; 4],
    /// Results with another tag than the caller wants.
    pub other_tags: u64,
    /// Runs of machine code in which a side trace ran at least once, by form.
    pub sides: u64,
    pub lifted: u64,
}

impl Seen {
    pub fn add(&mut self, other: &Seen) {
        self.finished += other.finished;
        self.left.iter_mut().zip(other.left).for_each(|(sum, count)| *sum += count);
        self.other_tags += other.other_tags;
        self.sides += other.sides;
        self.lifted += other.lifted;
    }
}

/// Checks programs; one per thread.
pub struct UnitChecker {
    schema: Arc<Schema>,
    /// By quick code, and by Cranelift.
    machines: [UnitMachine; 2],
    pub seen: Seen,
}

impl UnitChecker {
    pub fn new(schema: &Arc<Schema>) -> UnitChecker {
        let machines = [true, false].map(UnitMachine::new);
        UnitChecker { schema: schema.clone(), machines, seen: Seen::default() }
    }

    /// Checks one program in every way.
    pub fn check(&mut self, program: &Program) -> Result<(), Box<Failure>> {
        crash::running(program.seed);
        let optional: Vec<&str> = PASSES.iter().filter(|pass| pass.optional).map(|pass| pass.name).collect();
        let without = format!("-{}", optional[program.seed as usize % optional.len()]);
        for (number, name) in ["", "-all", &without].into_iter().enumerate() {
            let mut optimized = Vec::new();
            let checked = self.optimized(program, name, &mut optimized).and_then(|()| {
                let machine = &mut self.machines[program.seed as usize / 2 % 2];
                let mut way = Way::new(self.schema.clone(), program, &optimized, machine);
                way.all(number, &mut self.seen)
            });
            if let Err(what) = checked {
                let name = if name.is_empty() { "all passes" } else { name };
                let (seed, file) = (program.seed, unit_file(program, &self.schema));
                let texts: Vec<String> =
                    optimized.iter().map(|one| self.print(program, &one.trace)).collect();
                let (what, optimized) = (format!("{name}: {what}"), texts.join("\n"));
                return Err(Box::new(Failure { seed, what, file, optimized }));
            }
        }
        Ok(())
    }

    fn print(&self, program: &Program, trace: &Trace) -> String {
        text::print_trace_in(trace, &self.schema, &program.spec)
    }

    /// Optimizes all traces of a program.
    fn optimized(&self, program: &Program, passes: &str, out: &mut Vec<Optimized>) -> Result<(), String> {
        let config = match passes {
            "" => Config::new().with_way_in(),
            passes => Config::parse(passes).map_err(|error| error.to_string())?,
        };
        for trace in &program.traces {
            verified(trace, &self.schema, Mode::Recorded)?;
            let optimized = optimize(trace, &self.schema, &config).map_err(|error| error.to_string())?;
            out.push(optimized);
            verified(&out[out.len() - 1].trace, &self.schema, Mode::Expanded)?;
        }
        Ok(())
    }
}

fn verified(trace: &Trace, schema: &Schema, mode: Mode) -> Result<(), String> {
    match verify(trace, schema, mode).first() {
        None => Ok(()),
        Some(error) => Err(format!("the verifier objects to {}: {error}", trace.name)),
    }
}

/// The program as a trace file.
pub fn unit_file(program: &Program, schema: &Schema) -> String {
    let funcs = schema.funcs().iter().enumerate();
    let natives = funcs.map(|(at, func)| (tracelift_core::schema::FuncId(at as u32), func.name.clone()));
    let main = &program.traces[0];
    let value = |(&input, &arg): (&SpecValue, &tracelift_core::Value)| match input {
        SpecValue::Object(number) => RunValue::Object(number),
        SpecValue::Bits(bits) => RunValue::Bits(main.ty(arg), bits),
        SpecValue::Nothing => RunValue::Any,
    };
    let inputs = program.inputs.iter().zip(main.inputs()).map(value).collect();
    let file = text::TraceFile {
        schema: schema.clone(),
        world: program.spec.clone(),
        traces: program.traces.clone(),
        runs: vec![text::Run { line: 0, trace: 0, inputs, outcome: text::Outcome::Any }],
        natives: natives.collect(),
        ..text::TraceFile::default()
    };
    format!("# sides: {:?}\n{}", program.sides, text::print_file(&file))
}

/// What differs between runs of one program.
#[derive(Clone, Copy, Default, Debug)]
struct Variation {
    force: Option<u64>,
    allocations_left: Option<u64>,
}

/// One optimized form of a program.
struct Way<'a> {
    schema: Arc<Schema>,
    program: &'a Program,
    optimized: &'a [Optimized],
    machine: &'a mut UnitMachine,
    finish: Vec<Type>,
    /// Where the recorded program runs, the optimized one in the evaluator, and machine code.
    worlds: [World; 3],
}

impl<'a> Way<'a> {
    fn new(
        schema: Arc<Schema>,
        program: &'a Program,
        optimized: &'a [Optimized],
        machine: &'a mut UnitMachine,
    ) -> Way<'a> {
        let worlds = [(); 3].map(|()| World::build(&program.spec, &schema));
        let finish = finish_types(&program.traces[0]);
        Way { schema, program, optimized, machine, finish, worlds }
    }

    fn all(&mut self, config: usize, seen: &mut Seen) -> Result<(), String> {
        let optimized: Vec<&Optimized> = self.optimized.iter().collect();
        let traces: Vec<Trace> = optimized.iter().map(|one| one.trace.clone()).collect();
        let sides = &self.program.sides;
        let mut rng = Rng::new(self.program.seed ^ config as u64);
        // The evaluator goes first and alone: it finds wild accesses and endless calls without harm.
        let free = self.referred(&traces, Variation::default())?;
        let variations = variations(&free, &mut rng);
        for &variation in &variations {
            let ended = self.referred(&traces, variation)?;
            note(seen, &traces, &ended);
        }
        let merged = (self.program.seed + config as u64).is_multiple_of(2);
        let forms = [Form { merged, linked: true }, Form { merged: !merged, linked: rng.chance(50) }];
        for form in forms {
            if form.merged != merged && sides.is_empty() {
                continue;
            }
            self.machine_code(&optimized, &traces, sides, form, &variations, seen)?;
        }
        self.more_sides(&mut rng, seen)
    }

    /// The same with side traces at other exits of units.
    fn more_sides(&mut self, rng: &mut Rng, seen: &mut Seen) -> Result<(), String> {
        let mut extra: Vec<Optimized> = Vec::new();
        let mut sides = self.program.sides.clone();
        for parent in 1..self.optimized.len() {
            let trace = &self.optimized[parent].trace;
            if trace.unit.is_none() || !trace.entry_cells.is_empty() {
                continue;
            }
            for (exit, _) in trace.exits().enumerate() {
                let exit = exit as u32;
                let is_taken = sides.iter().any(|side| (side.parent, side.exit) == (parent, exit));
                if is_taken || !rng.chance(50) {
                    continue;
                }
                let Some(side) = side_of(rng.bits(), trace, exit, &self.schema) else { continue };
                verified(&side, &self.schema, Mode::Recorded)?;
                let optimized = optimize(&side, &self.schema, &Config::new());
                extra.push(optimized.map_err(|error| error.to_string())?);
                sides.push(Side { parent, exit, trace: self.optimized.len() + extra.len() - 1 });
            }
        }
        if extra.is_empty() {
            return Ok(());
        }
        let optimized: Vec<&Optimized> = self.optimized.iter().chain(&extra).take(16).collect();
        sides.retain(|side| side.trace < optimized.len());
        let traces: Vec<Trace> = optimized.iter().map(|one| one.trace.clone()).collect();
        let free = self.evaluate(1, &traces, &sides, Limits::default(), Variation::default())?;
        let variations = variations(&free, rng);
        for merged in [true, false] {
            let form = Form { merged, linked: rng.chance(50) };
            self.machine_code(&optimized, &traces, &sides, form, &variations, seen)
                .map_err(|what| format!("with more side traces: {what}\n{sides:?}"))?;
        }
        Ok(())
    }

    /// Runs traces in the evaluator, in a world of ours.
    fn evaluate(
        &mut self,
        world: usize,
        traces: &[Trace],
        sides: &[Side],
        limits: Limits,
        variation: Variation,
    ) -> Result<Outcome, String> {
        let world = &mut self.worlds[world];
        world.reset();
        world.set_allocations_left(variation.allocations_left);
        let inputs = self.program.enter(world);
        let limits = Limits { steps: 200_000, iterations: MAX_ITERATIONS, ..limits };
        let evaluator = Evaluator::new(&traces[0], &self.schema).with_units(&traces[1..]).with_sides(sides);
        let mut outcome = evaluator.run(world, &inputs, limits).map_err(|error| error.to_string())?;
        // Whatever is written to slots is written the same way in all runs.
        outcome.mentioned.clear();
        match outcome.end {
            End::OutOfFuel => Err("it never ends".into()),
            _ => Ok(outcome),
        }
    }

    /// Runs the optimized program in the evaluator, and compares with the recorded one.
    fn referred(&mut self, traces: &[Trace], variation: Variation) -> Result<Outcome, String> {
        let sides = &self.program.sides;
        let limits = Limits { force_guard: variation.force, ..Limits::default() };
        let told = |what: &dyn std::fmt::Display| format!("evaluator, {variation:?}: {what}");
        let left = self.evaluate(1, traces, sides, limits, variation).map_err(|error| told(&error))?;
        // The recorded program would have gone on elsewhere: an object that could not be made leads to a side
        // trace, too.
        if left.forced_aside || variation.allocations_left.is_some() && !sides.is_empty() {
            return Ok(left);
        }
        let stop_at = match left.end {
            End::Finish(_) => None,
            _ => Some((left.origin.ok_or_else(|| told(&"an exit without snapshot"))?, left.iteration)),
        };
        let limits = Limits { stop_at, stop_in: left.place, ..Limits::default() };
        let recorded = &self.program.traces;
        let expected = self.evaluate(0, recorded, sides, limits, Variation::default());
        let expected = expected.map_err(|error| told(&format_args!("the recorded program: {error}")))?;
        let is_same = match left.end {
            End::Finish(_) => matches!(expected.end, End::Finish(_)),
            _ => expected.end == End::Stopped,
        };
        let places = |outcome: &Outcome| {
            let callers = outcome.callers.iter().map(|caller| (caller.trace, caller.base));
            (outcome.place, outcome.base, outcome.iteration, callers.collect::<Vec<_>>())
        };
        if !is_same || places(&left) != places(&expected) {
            let [left, expected] = [&left, &expected].map(|outcome| (&outcome.end, places(outcome)));
            return Err(told(&format_args!("left as {left:?}, the recorded program as {expected:?}")));
        }
        let [reference, other, _] = &self.worlds;
        compare_outcomes(&self.schema, (&expected, reference), (&left, other), &self.finish)
            .map_err(|difference| told(&difference))?;
        Ok(left)
    }

    /// Compiles a program in one form, and compares with the evaluator.
    fn machine_code(
        &mut self,
        optimized: &[&Optimized],
        traces: &[Trace],
        sides: &[Side],
        form: Form,
        variations: &[Variation],
        seen: &mut Seen,
    ) -> Result<(), String> {
        let code = self.machine.compile(optimized, sides, form, &self.schema, &self.worlds[2])?;
        for &variation in variations {
            let limits = Limits { force_guard: variation.force, ..Limits::default() };
            let expected = self.evaluate(1, traces, sides, limits, variation)?;
            let world = &mut self.worlds[2];
            world.reset();
            world.set_allocations_left(variation.allocations_left);
            let told = |what: &dyn std::fmt::Display| format!("{form:?}, {variation:?}: {what}");
            let left = self.machine.run(&code, self.program, &self.schema, world, variation.force);
            let left = left.map_err(|error| told(&error))?;
            self.compare(traces, &expected, left).map_err(|difference| told(&difference))?;
            seen.sides += u64::from(!sides.is_empty());
        }
        self.machine.free(&code);
        Ok(())
    }

    /// Compares what machine code has left behind with the evaluator.
    fn compare(&self, traces: &[Trace], expected: &Outcome, left: Left) -> Result<(), String> {
        let Left { trace, exit, base, callers, frames, origin, results } = left;
        let end = match is_finish(&traces[trace], exit) {
            true => End::Finish(results),
            false => {
                let inst = traces[trace].exits().nth(exit as usize).ok_or("an exit that is none")?.1;
                End::Exit { number: exit, kind: inst.exit }
            }
        };
        let is_same = match (&end, &expected.end) {
            (End::Finish(_), End::Finish(_)) => true,
            (end, expected) => end == expected,
        };
        let found = (trace, base, &callers[..], origin);
        let wanted = (expected.place.trace, expected.base, &expected.callers[..], expected.origin);
        if !is_same || found != wanted {
            return Err(format!("left by {end:?} {found:?}, the evaluator by {:?} {wanted:?}", expected.end));
        }
        let outcome = Outcome { end, frames, ..expected.clone() };
        let [_, evaluated, real] = &self.worlds;
        compare_outcomes(&self.schema, (expected, evaluated), (&outcome, real), &self.finish)
            .map_err(|difference| difference.to_string())
    }
}

/// Guards to force, and allocations to fail.
fn variations(free: &Outcome, rng: &mut Rng) -> Vec<Variation> {
    let guards = free.guards_executed;
    let forced = (0..guards.min(FORCED)).map(|number| match guards <= FORCED {
        true => number + 1,
        false => rng.range(1, guards),
    });
    let forced = forced.map(|force| Variation { force: Some(force), allocations_left: None });
    let failing = (0..2).map(|left| Variation { force: None, allocations_left: Some(left) });
    std::iter::once(Variation::default()).chain(forced).chain(failing).collect()
}

fn note(seen: &mut Seen, traces: &[Trace], outcome: &Outcome) {
    let End::Exit { number, .. } = outcome.end else {
        seen.finished += 1;
        return;
    };
    seen.left[outcome.callers.len().min(3)] += 1;
    let Some((_, inst)) = traces[outcome.place.trace].exits().nth(number as usize) else { return };
    let has_slot = matches!(inst.payload, Payload::Result { slot: Some(_), tag: Some(_) });
    seen.other_tags += u64::from(inst.op == Op::UnitResult && has_slot);
    seen.lifted +=
        inst.snap.map_or(0, |snap| traces[outcome.place.trace].snapshots[snap.index()].virtuals.len() as u64);
}
