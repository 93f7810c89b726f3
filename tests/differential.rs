//! Random traces, run every way there is: evaluator and machine code, recorded and optimized, with each pass
//! off, with every guard forced to fail. See `support/mod.rs` for what is compared.
//!
//! Environment: `TRACELIFT_RANDOM_TRACES` is the number of traces (default 2,000), `TRACELIFT_FIRST_SEED` the
//! first seed (default 0), `TRACELIFT_SEED` one seed to run alone. A failure prints its seed and a trace
//! file, made as small as possible, that can be committed as a test. Invariant: with the default number or
//! more, every op was executed and every guard op and kind of exit was left through, or the test fails.
//!
//! Cases that failed once are trace files in `traces/found`; they are checked first, in the same ways.
//!
//! Example: `TRACELIFT_SEED=386 cargo test --test differential` runs one case again and makes it small if it
//! fails.

mod support;

use std::sync::Arc;

use support::check::{keeps_pointers_found, Checker};
use support::coverage::Coverage;
use support::found::{case_of, found};
use support::seeds::check_all;
use support::turn::number;
use tracelift_core::testbed::{schema_with_slots, standard_schema};
use tracelift_core::testgen::generate;
use tracelift_core::Schema;

/// As many traces as this must cover everything.
const ENOUGH: u64 = 2_000;

#[test]
fn cases_that_failed_once_mean_the_same_every_way() {
    for (name, file) in found() {
        let mut checker = Checker::new(&Arc::new(file.schema.clone()));
        checker.check(&case_of(&file)).unwrap_or_else(|failure| panic!("{name}: {failure}"));
    }
}

#[test]
fn random_traces_mean_the_same_every_way() {
    support::crash::install();
    let schema = Arc::new(standard_schema());
    let count = number("TRACELIFT_RANDOM_TRACES").unwrap_or(ENOUGH);
    let coverage = check_random(&schema, count);
    println!("{}", coverage.table());
    let missing = coverage.missing();
    let is_enough = count >= ENOUGH && number("TRACELIFT_SEED").is_none();
    assert!(!is_enough || missing.is_empty(), "not covered:\n{}", missing.join("\n"));
}

/// The same where traces may access slots, so that the optimizer stores them early.
#[test]
fn random_traces_with_slots_mean_the_same_every_way() {
    support::crash::install();
    let count = number("TRACELIFT_RANDOM_TRACES").unwrap_or(ENOUGH);
    let coverage = check_random(&Arc::new(schema_with_slots()), count);
    let fired = |rule: &str| coverage.rules.get(rule).copied().unwrap_or(0);
    let counts = ["slot_early", "slot_in_place"].map(fired);
    println!("stored early {}, in place in {} snapshots", counts[0], counts[1]);
    let is_enough = count >= ENOUGH && number("TRACELIFT_SEED").is_none();
    assert!(!is_enough || counts.iter().all(|&count| count > 500), "{counts:?}");
}

/// Checks random traces over a schema, or the one with the seed that is asked for; what was covered.
fn check_random(schema: &Arc<Schema>, count: u64) -> Coverage {
    if let Some(seed) = number("TRACELIFT_SEED") {
        let mut checker = Checker::new(schema);
        let case = generate(seed, schema);
        if !keeps_pointers_found(&case, schema) {
            return checker.coverage;
        }
        if let Err(failure) = checker.check(&case) {
            let found = failure.to_string();
            panic!("{found}\nand smaller:\n{}", checker.smaller(&case, failure));
        }
        return checker.coverage;
    }
    let first = number("TRACELIFT_FIRST_SEED").unwrap_or(0);
    let check = |checker: &mut Checker, seed| {
        let case = generate(seed, schema);
        match keeps_pointers_found(&case, schema) {
            true => checker.check(&case).map_err(|failure| checker.smaller(&case, failure)),
            false => Ok(()),
        }
    };
    let parts = check_all(first..first + count, || Checker::new(schema), check, |checker| checker.coverage);
    let mut coverage = Coverage::default();
    parts.unwrap_or_else(|failure| panic!("{failure}")).iter().for_each(|part| coverage.merge(part));
    coverage
}
