//! Random programs of units, run every way there is: evaluator and machine code, recorded and optimized, with
//! side traces in their unit's function and apart, with every guard forced to fail. See `support/units.rs`
//! for what is compared.
//!
//! Environment: `TRACELIFT_UNIT_PROGRAMS` is the number of programs (default 600), `TRACELIFT_SEED` one seed
//! to run alone. A failure prints its seed and a trace file. Invariant: with the default number or more,
//! units were left at every depth, by results of other tags too, and with side traces.
//!
//! Example: `TRACELIFT_SEED=7 cargo test --test units` runs one program again.

mod support;

use std::sync::Arc;

use support::seeds::{check_all, number};
use support::units::{Seen, UnitChecker};
use tracelift_core::testbed::standard_schema;
use tracelift_core::testgen::generate_units;

/// As many programs as this must have everything.
const ENOUGH: u64 = 600;

#[test]
fn random_programs_of_units_mean_the_same_every_way() {
    support::crash::install();
    let schema = Arc::new(standard_schema());
    if let Some(seed) = number("TRACELIFT_SEED") {
        let checked = UnitChecker::new(&schema).check(&generate_units(seed, &schema));
        checked.unwrap_or_else(|failure| panic!("{failure}"));
        return;
    }
    let count = number("TRACELIFT_UNIT_PROGRAMS").unwrap_or(ENOUGH);
    let check = |checker: &mut UnitChecker, seed| checker.check(&generate_units(seed, &schema));
    let parts = check_all(0..count, || UnitChecker::new(&schema), check, |checker| checker.seen);
    let mut seen = Seen::default();
    parts.unwrap_or_else(|failure| panic!("{failure}")).iter().for_each(|part| seen.add(part));
    println!("{seen:?}");
    let has_all = seen.finished > 500
        && seen.left.iter().all(|&count| count > 300)
        && seen.other_tags > 100
        && seen.sides > 500
        && seen.lifted > 100;
    assert!(count < ENOUGH || has_all, "{seen:?}");
}
