//! Tests of the passes together: random straight-line code against a small evaluator, whole traces as text,
//! and a list of what fires which rule.

mod bounds;
mod bridge;
mod delay;
mod differential;
mod effects;
mod heap;
mod loops;
pub(crate) mod random;
mod rules;
mod straight;
mod text;
mod virtuals;

use std::collections::BTreeMap;

use tracelift_core::planted::{with_planted, Bug};
use tracelift_core::testbed::{schema_with_slots, standard_schema};
use tracelift_core::text::{parse_trace, print_trace};
use tracelift_core::verify::{verify, Mode};
use tracelift_core::{Schema, Trace};

use crate::{optimize, Config, OptError, Optimized};
use random::Random;

use straight::{generate, run, Inputs};

/// Optimizes a trace; both forms verify.
fn optimized(config: &Config, recorded: &Trace, schema: &Schema) -> Result<Optimized, OptError> {
    let verified = |trace: &Trace, mode| {
        let errors = verify(trace, schema, mode);
        assert!(errors.is_empty(), "{errors:?}\n{}", print_trace(trace, schema));
    };
    verified(recorded, Mode::Recorded);
    let optimized = optimize(recorded, schema, config)?;
    verified(&optimized.trace, if config.keep_records { Mode::Optimized } else { Mode::Expanded });
    Ok(optimized)
}

/// The same for a listing.
fn optimized_text(config: &Config, input: &str, schema: &Schema) -> Optimized {
    let trace = parse_trace(input, schema).unwrap_or_else(|err| panic!("{err}\n{input}"));
    optimized(config, &trace, schema).unwrap()
}

/// The preamble and the loop of a listing that is peeled.
fn halves(config: &str, input: &str) -> (String, String) {
    let schema = standard_schema();
    let optimized = optimized_text(&Config::parse(config).unwrap(), input, &schema);
    let text = print_trace(&optimized.trace, &schema);
    let (before, body) = text.split_once("\nL1(").unwrap_or_else(|| panic!("not peeled:\n{text}"));
    (before.to_string(), body.to_string())
}

/// Optimizes random traces and compares them on random inputs; how often each rule fired, or a
/// counterexample.
fn check_random(config: &Config, seeds: std::ops::Range<u64>) -> Result<BTreeMap<&'static str, u64>, String> {
    let schema = Schema::with_default_tags();
    let mut fired = BTreeMap::new();
    for seed in seeds {
        let mut random = Random::new(seed);
        let trace = generate(&mut random);
        let before = trace.clone();
        let optimized = optimize(&trace, &schema, config).map_err(|err| format!("seed {seed}: {err}"))?;
        assert_eq!(trace, before, "the input was changed");
        straight::check_form(&optimized.trace).map_err(|err| format!("seed {seed}: {err}"))?;
        for (rule, count) in &optimized.report.rules {
            *fired.entry(*rule).or_default() += count;
        }
        for _ in 0..6 {
            let inputs = Inputs::random(&mut random);
            compare(seed, &trace, &optimized.trace, &inputs)?;
        }
    }
    Ok(fired)
}

fn compare(seed: u64, trace: &Trace, optimized: &Trace, inputs: &Inputs) -> Result<(), String> {
    // A division by zero that no guard excludes has no meaning to keep.
    let Some(expected) = run(trace, inputs) else { return Ok(()) };
    let found = run(optimized, inputs);
    if found.as_ref() == Some(&expected) {
        return Ok(());
    }
    Err(format!(
        "seed {seed}: {expected:?}, but optimized {found:?}\ninputs {inputs:?}\n{trace:#?}\n{optimized:#?}"
    ))
}

#[test]
fn every_pass_and_every_rule_keeps_the_meaning_of_random_code() {
    let mut fired = check_random(&Config::new(), 0..40_000).unwrap();
    for config in ["-all", "-all,+fold", "-all,+guards", "-all,+cse", "-all,+dce", "-fold", "-dce"] {
        for (rule, count) in check_random(&Config::parse(config).unwrap(), 0..1_000).unwrap() {
            *fired.entry(rule).or_default() += count;
        }
    }
    for (rule, count) in fired_on_records() {
        *fired.entry(rule).or_default() += count;
    }
    let fires = |rule: &&str| fired.contains_key(*rule);
    let silent: Vec<&str> = crate::rule_names().into_iter().filter(|rule| !fires(rule)).collect();
    assert!(silent.is_empty(), "no test fires rule {}", silent.join(", "));
}

/// The rules about records and memory that fire on random traces over the standard objects, whose meaning is
/// checked in `differential.rs`.
fn fired_on_records() -> BTreeMap<&'static str, u64> {
    let schema = std::sync::Arc::new(standard_schema());
    let mut fired = BTreeMap::new();
    let mut collects = Config::new();
    collects.host_collects = true;
    for config in [Config::new(), collects] {
        for seed in 0..3_000 {
            let case = tracelift_core::testgen::generate(seed, &schema);
            let optimized = optimize(&case.trace, &schema, &config).unwrap();
            for (rule, count) in optimized.report.rules {
                *fired.entry(rule).or_default() += count;
            }
        }
    }
    let with_slots = std::sync::Arc::new(schema_with_slots());
    for seed in 0..500 {
        let case = tracelift_core::testgen::generate(seed, &with_slots);
        let optimized = optimize(&case.trace, &with_slots, &Config::new()).unwrap();
        for (rule, count) in optimized.report.rules.into_iter().filter(|(rule, _)| rule.starts_with("slot_"))
        {
            *fired.entry(rule).or_default() += count;
        }
    }
    // A store that a slot's early one makes idle is rare there, and so are two pointers that a guard finds to
    // be one.
    let idle = "entry [0: int]\nL0(i0):\na1 = frame_base()\nstore(a1, slot.int, i0)\nfinish()\n";
    for (rule, count) in optimized_text(&Config::new(), idle, &with_slots).report.rules {
        *fired.entry(rule).or_default() += count;
    }
    let equal = "L0(p0, p1):\ni2 = load(p0, BoxedInteger.intval)\ni3 = load(p1, BoxedInteger.intval)\n\
                 i4 = ref_eq(p0, p1)\nguard_true(i4)\nfinish(i2, i3)\n";
    for (rule, count) in optimized_text(&Config::new(), equal, &schema).report.rules {
        *fired.entry(rule).or_default() += count;
    }
    fired
}

#[test]
fn planted_bugs_are_seen() {
    for bug in [Bug::FoldSubSwapped, Bug::FoldShiftUnmasked, Bug::GuardFalseTakenAsTrue] {
        let result = with_planted(bug, || check_random(&Config::new(), 0..2_000));
        assert!(result.is_err(), "{bug:?} was not seen");
    }
}

#[test]
fn fuel_stops_after_so_many_rewrites() {
    let schema = Schema::with_default_tags();
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let trace = generate(&mut random);
        let config = Config::parse("-dce").unwrap();
        let all = optimize(&trace, &schema, &config).unwrap().report.rewrites();
        for fuel in [0, 1, all / 2, all] {
            let limited = optimize(&trace, &schema, &config.clone().with_fuel(fuel)).unwrap();
            assert!(limited.report.rewrites() <= fuel);
            let inputs = Inputs::random(&mut random);
            compare(seed, &trace, &limited.trace, &inputs).unwrap();
        }
    }
}
