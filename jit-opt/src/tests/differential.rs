//! Random traces over real memory: the optimized trace must do what the recorded one does, also at forced
//! exits.
//!
//! At an exit the state of the optimized run (frames, and everything they reach in memory) is compared with
//! the state of the recorded trace where its snapshot was taken, in the same iteration.

use std::sync::Arc;

use tracelift_core::eval::{compare_with_recorded, may_end_as, End, Evaluator, Limits, Outcome};
use tracelift_core::planted::{with_planted, Bug};
use tracelift_core::testbed::{schema_with_slots, standard_schema};
use tracelift_core::testgen::{generate, Case};
use tracelift_core::text::print_trace;
use tracelift_core::verify::{verify, ErrorKind, Mode};
use tracelift_core::world::World;
use tracelift_core::{Op, Schema, Trace};

use crate::{optimize, Config, Optimized};

struct Harness {
    schema: Arc<Schema>,
}

impl Harness {
    fn run(&self, case: &Case, trace: &Trace, limits: Limits) -> Result<(Outcome, World), String> {
        let mut world = World::build(&case.spec, &self.schema);
        let inputs = case.enter(&mut world);
        let outcome = Evaluator::new(trace, &self.schema).run(&mut world, &inputs, limits);
        Ok((outcome.map_err(|err| err.to_string())?, world))
    }

    /// Runs the optimized trace and compares its end with the recorded trace at the same place.
    fn compare(
        &self,
        case: &Case,
        optimized: &Optimized,
        force_guard: Option<u64>,
    ) -> Result<Outcome, String> {
        let run = |trace: &Trace, limits| self.run(case, trace, limits);
        let found = compare_with_recorded(&self.schema, &case.trace, &optimized.trace, force_guard, run)?;
        if force_guard.is_none() {
            // A recorded trace that leaves at some guard must not be left later by the optimized one.
            let (recorded, _) = self.run(case, &case.trace, Limits::default())?;
            if !may_end_as(&case.trace, optimized.report.has_delayed(), &recorded, &found) {
                return Err(format!("left at {:?}, not at {:?}", found.origin, recorded.origin));
            }
        }
        Ok(found)
    }

    fn check(&self, seed: u64, config: &Config) -> Result<(), String> {
        let case = generate(seed, &self.schema);
        let errors = verify(&case.trace, &self.schema, Mode::Recorded);
        if self.schema.slot_cells().is_some() && errors.iter().any(|e| e.kind == ErrorKind::Collected) {
            // The generator keeps pointers across calls that may collect.
            return Ok(());
        }
        assert!(errors.is_empty(), "seed {seed}: the generator is wrong: {errors:?}");
        let optimized = optimize(&case.trace, &self.schema, config).map_err(|err| err.to_string())?;
        let told = |what: String| {
            let (before, after) = (&case.trace, &optimized.trace);
            let shown = |trace: &Trace| print_trace(trace, &self.schema);
            format!("seed {seed}: {what}\n{}\n==>\n{}", shown(before), shown(after))
        };
        let mode = if config.keep_records { Mode::Optimized } else { Mode::Expanded };
        let errors = verify(&optimized.trace, &self.schema, mode);
        if !errors.is_empty() {
            return Err(told(format!("{errors:?}")));
        }
        for exit in 0..optimized.resume.exits.len() {
            optimized.resume.state(exit).map_err(|err| told(err.to_string()))?;
        }
        let outcome = self.compare(&case, &optimized, None).map_err(&told)?;
        let step = 1 + outcome.guards_executed / 12;
        for guard in (1..=outcome.guards_executed).step_by(step as usize) {
            self.compare(&case, &optimized, Some(guard))
                .map_err(|what| told(format!("guard execution {guard}: {what}")))?;
        }
        Ok(())
    }

    fn check_all(&self, seeds: std::ops::Range<u64>, config: &str) -> Result<(), String> {
        let config = Config::parse(config).map_err(|err| err.to_string())?;
        seeds.into_iter().try_for_each(|seed| self.check(seed, &config))
    }
}

fn harness() -> Harness {
    Harness { schema: Arc::new(standard_schema()) }
}

/// The same where the optimizer may store slots early.
fn harness_with_slots() -> Harness {
    Harness { schema: Arc::new(schema_with_slots()) }
}

#[test]
fn slots_may_be_stored_early() {
    for (config, count) in [("", 6_000), ("-virtuals", 300), ("-dce", 300), ("-all,+early_store", 300)] {
        let checked = harness_with_slots().check_all(0..count, config);
        checked.unwrap_or_else(|what| panic!("{config}: {what}"));
    }
}

#[test]
fn planted_bugs_of_early_stores_are_seen() {
    for bug in [Bug::EarlyStoreAboveLoad, Bug::EarlyTagIgnored] {
        let result = with_planted(bug, || harness_with_slots().check_all(0..6_000, ""));
        println!(
            "{bug:?}: {}",
            result.as_ref().err().map_or("not seen", |what| what.lines().next().unwrap())
        );
        assert!(result.is_err(), "{bug:?} was not seen");
    }
}

#[test]
fn optimized_traces_do_what_recorded_ones_do() {
    harness().check_all(0..1_500, "").unwrap_or_else(|what| panic!("{what}"));
}

#[test]
fn every_pass_can_be_off() {
    for config in [
        "-all",
        "-fold",
        "-cse",
        "-guards",
        "-dce",
        "-all,+fold",
        "-all,+guards",
        "-virtuals",
        "-peel",
        "-virtuals,-peel",
        "-all,+peel",
        "-all,+peel,+virtuals",
        "-all,+peel,+cse",
        "-all,+peel,+guards",
        "-all,+peel,+load_forward,+store_forward",
        "-all,+virtuals",
        "-all,+load_forward",
        "-all,+store_forward",
        "-all,+dead_store",
    ] {
        harness().check_all(0..150, config).unwrap_or_else(|what| panic!("{config}: {what}"));
    }
}

#[test]
fn records_can_be_kept() {
    let config = Config::new().keeping_records();
    (0..200).try_for_each(|seed| harness().check(seed, &config)).unwrap_or_else(|what| panic!("{what}"));
}

#[test]
fn planted_bugs_are_seen() {
    for bug in [
        Bug::ExpandNoBoundsCheck,
        Bug::ExpandNoTagCheck,
        Bug::GuardFalseTakenAsTrue,
        Bug::VirtualChosenUnchecked,
        Bug::VirtualChosenOther,
        Bug::VirtualChosenAll,
        Bug::DelayedAliasIgnored,
        Bug::DelayedMadeAlone,
        Bug::DelayedDroppedFirst,
        Bug::DelayedKeptForgotten,
    ] {
        let result = with_planted(bug, || harness().check_all(0..1_500, ""));
        assert!(result.is_err(), "{bug:?} was not seen");
    }
}

/// The preamble, then the short preamble on what it passes, then everything as results: what the jump passes
/// and what the short preamble gives.
fn with_short_preamble(optimized: &Optimized) -> Option<(Trace, usize)> {
    let peeled = optimized.peeled.as_ref()?;
    let short = peeled.short_preamble()?;
    let is_end = |inst: &tracelift_core::Inst| inst.op == Op::Jump && inst.label() == Some(peeled.label);
    let end = optimized.trace.insts.iter().position(is_end)?;
    let mut trace = optimized.trace.clone();
    trace.labels.truncate(peeled.label.index());
    let passed = trace.insts[end].args.to_vec();
    trace.insts.truncate(end);
    let mut map: Vec<_> = short
        .values
        .iter()
        .map(|data| data.constant.map(|constant| trace.constant(data.ty, constant)))
        .collect();
    for (input, &value) in short.inputs().iter().zip(&passed) {
        map[input.index()] = Some(value);
    }
    for inst in &short.insts[1..] {
        let mut inst = inst.clone();
        inst.args.iter_mut().for_each(|arg| *arg = map[arg.index()].expect("defined before"));
        if inst.op == Op::Finish {
            inst.args = passed.iter().chain(&inst.args).copied().collect();
        }
        if let Some(result) = inst.result {
            let value = trace.new_value(short.ty(result));
            map[result.index()] = Some(value);
            inst.result = Some(value);
        }
        trace.insts.push(inst);
    }
    Some((trace, passed.len()))
}

#[test]
fn short_preambles_give_what_the_preamble_passes() {
    let harness = harness();
    let (mut peeled, mut short, mut compared) = (0, 0, 0);
    for seed in 0..1_500 {
        let case = generate(seed, &harness.schema);
        let optimized = optimize(&case.trace, &harness.schema, &Config::new().with_way_in()).unwrap();
        peeled += optimized.peeled.is_some() as u32;
        short += optimized.peeled.as_ref().is_some_and(|peeled| peeled.short_preamble().is_some()) as u32;
        let Some((trace, count)) = with_short_preamble(&optimized) else { continue };
        let told = |what: &str| {
            let short = optimized.peeled.as_ref().and_then(|peeled| peeled.short_preamble());
            let shown = [&optimized.trace, short.unwrap(), &trace].map(|t| print_trace(t, &harness.schema));
            format!("seed {seed}: {what}\n{}", shown.join("\n==>\n"))
        };
        let errors = verify(&trace, &harness.schema, Mode::Expanded);
        assert!(errors.is_empty(), "{}", told(&format!("{errors:?}")));
        let (outcome, _) =
            harness.run(&case, &trace, Limits::default()).unwrap_or_else(|err| panic!("{}", told(&err)));
        match outcome.end {
            End::Finish(results) => {
                assert_eq!(results[..count], results[count..], "{}", told("other values"));
                compared += 1;
            }
            // The preamble itself may leave.
            End::Exit { .. } => {
                assert!(outcome.origin.is_some(), "{}", told("a guard of the short preamble fails"))
            }
            other => panic!("{}", told(&format!("{other:?}"))),
        }
    }
    let what = format!("{peeled} loops peeled, {short} short preambles, {compared} compared");
    assert!(peeled > 200 && short > peeled / 2 && compared > 100, "{what}");
}
