//! Listings in, listings out; and runs of both that must agree.
//!
//! Problem: a listing that looks right proves nothing if it means something else. Design: [`listing`] and
//! [`figure`] compare text; [`Subject`] runs recorded and optimized trace in two copies of one world and
//! compares where they end, at every guard, with the state that the recorded trace has there. Invariant: both
//! forms verify before anything is compared. Example: `figure("-all,+cse", "L0(i0):\n…", "L0(i0):\n…")`.

use std::sync::Arc;

use tracelift_core::eval::{compare_with_recorded, Evaluator, Limits, Outcome};
use tracelift_core::testgen::Case;
use tracelift_core::text::{equal_up_to_renaming, parse_file, print_trace, RunValue, TraceFile};
use tracelift_core::verify::{verify, Mode};
use tracelift_core::world::World;
use tracelift_core::world_spec::WorldSpec;
use tracelift_core::{Op, Schema, Trace};
use tracelift_opt::{optimize, Config, Optimized};

/// The objects and functions that the papers' listings speak of, and a few more.
pub const HEADER: &str = "func make(addr, int, int, int) -> ref allocates evaluable = native world.alloc
func \"find\"(addr, int, ref, ref) -> addr reads all = native world.find
func \"insert\"(addr, int, ref, ref) -> addr writes all = native world.insert
func print(int) writes out
func escape(int) writes out
func seen(ref) writes out
tag int = 0x3: int
tag ref = 0x5: ref
tag nil = 0x0
layout BoxedInteger { intval: int, alloc make }
layout BoxedFloat { floatval: float, alloc make }
layout Pair { left: ref, right: ref, alloc make }
layout Triple { a: int, b: float, c: ref, alloc make }
layout Array { items: tagged from 1, alloc make }
layout Dict { keys: tagged find \"find\" insert \"insert\", alloc make }
";

/// A trace file of the header and this text.
pub fn parse(input: &str) -> TraceFile {
    let text = format!("{HEADER}{input}");
    let file = parse_file(&text, &tracelift_core::testbed::natives);
    file.unwrap_or_else(|err| panic!("{err}\n{}", &text[..text.len().min(3000)]))
}

/// The optimized form of a file's first trace; both forms verify.
pub fn optimized(passes: &str, file: &TraceFile) -> Optimized {
    optimized_by(&config(passes), &file.traces[0], &file.schema)
}

/// These passes, with record operations kept.
pub fn config(passes: &str) -> Config {
    Config::parse(passes).expect("the test names passes").keeping_records()
}

/// The same for any trace and configuration.
pub fn optimized_by(config: &Config, trace: &Trace, schema: &Schema) -> Optimized {
    let errors = verify(trace, schema, Mode::Recorded);
    assert!(errors.is_empty(), "{errors:?}\n{}", print_trace(trace, schema));
    let before = trace.clone();
    let optimized = optimize(trace, schema, config).expect("a verified trace can be optimized");
    assert_eq!(*trace, before, "the input was changed");
    let mode = if config.keep_records { Mode::Optimized } else { Mode::Expanded };
    let errors = verify(&optimized.trace, schema, mode);
    assert!(errors.is_empty(), "{errors:?}\n{}", print_trace(&optimized.trace, schema));
    optimized
}

/// Optimizes with these passes and compares with the listing, up to renaming.
pub fn figure(passes: &str, input: &str, expected: &str) -> Optimized {
    let file = parse(input);
    let optimized = optimized(passes, &file);
    // What the input declares the listing may speak of as well.
    let declarations = &input[..input.find("L0(").expect("a trace begins with its label")];
    let wanted = parse(&format!("{declarations}{expected}"));
    if let Err(difference) = equal_up_to_renaming(&optimized.trace, &wanted.traces[0], &file.schema) {
        panic!("{difference}\n{}", print_trace(&optimized.trace, &file.schema));
    }
    optimized
}

/// The same, and what is printed is the listing to the letter.
pub fn listing(passes: &str, input: &str, expected: &str) -> Optimized {
    let optimized = figure(passes, input, expected);
    assert_eq!(print_trace(&optimized.trace, &parse(input).schema), expected);
    optimized
}

/// The operations after the last label.
pub fn loop_ops(trace: &Trace) -> Vec<Op> {
    let start =
        trace.insts.iter().rposition(|inst| inst.op == Op::Label).expect("a trace begins with a label");
    trace.insts[start + 1..].iter().map(|inst| inst.op).collect()
}

/// How often one occurs there.
pub fn in_loop(trace: &Trace, op: Op) -> usize {
    loop_ops(trace).into_iter().filter(|&other| other == op).count()
}

/// A recorded trace, where it runs, and with which inputs.
pub struct Subject<'a> {
    pub schema: Arc<Schema>,
    pub recorded: &'a Trace,
    world: &'a WorldSpec,
    inputs: Inputs<'a>,
}

enum Inputs<'a> {
    Listed(&'a [RunValue]),
    Random(&'a Case),
}

impl<'a> Subject<'a> {
    /// The file's first trace with the inputs of its first `run:` line.
    pub fn of(file: &'a TraceFile) -> Subject<'a> {
        Subject {
            schema: Arc::new(file.schema.clone()),
            recorded: &file.traces[0],
            world: &file.world,
            inputs: Inputs::Listed(&file.runs[0].inputs),
        }
    }

    /// A random trace.
    pub fn random(case: &'a Case, schema: &Arc<Schema>) -> Subject<'a> {
        Subject {
            schema: schema.clone(),
            recorded: &case.trace,
            world: &case.spec,
            inputs: Inputs::Random(case),
        }
    }

    /// A new world, and the inputs in it.
    pub fn world(&self) -> (World, Vec<u64>) {
        let mut world = World::build(self.world, &self.schema);
        let inputs = match self.inputs {
            Inputs::Random(case) => case.enter(&mut world),
            Inputs::Listed(values) => values
                .iter()
                .map(|value| match *value {
                    RunValue::Bits(_, bits) => bits,
                    RunValue::Object(number) => world.object_address(number),
                    RunValue::Any => panic!("an input of a run is a value"),
                })
                .collect(),
        };
        (world, inputs)
    }

    /// Runs a trace in a new world.
    pub fn run(&self, trace: &Trace, limits: Limits) -> Result<(Outcome, World), String> {
        let (mut world, inputs) = self.world();
        let outcome = Evaluator::new(trace, &self.schema).run(&mut world, &inputs, limits);
        Ok((outcome.map_err(|error| error.to_string())?, world))
    }

    /// Compares where the optimized trace ends with the recorded trace at the same place.
    pub fn compare(&self, optimized: &Trace, force_guard: Option<u64>) -> Result<Outcome, String> {
        let run = |trace: &Trace, limits| self.run(trace, limits);
        compare_with_recorded(&self.schema, self.recorded, optimized, force_guard, run)
    }

    /// Compares a run, and the run with each guard execution failing in turn (at most `guards`, evenly
    /// chosen); how many runs were compared.
    pub fn compare_all(&self, optimized: &Trace, guards: u64) -> Result<u64, String> {
        let all = self.compare(optimized, None)?.guards_executed;
        let step = 1 + all / guards;
        let mut runs = 1;
        for guard in (1..=all).step_by(step as usize) {
            self.compare(optimized, Some(guard))
                .map_err(|what| format!("guard execution {guard}: {what}"))?;
            runs += 1;
        }
        Ok(runs)
    }
}
