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

use support::seeds::check_all;
use support::turn::number;
use support::units::{Seen, UnitChecker};
use tracelift_core::testbed::{schema_with_wide_tags, standard_schema};
use tracelift_core::testgen::generate_units;
use tracelift_core::Schema;

/// As many programs as this must have everything.
const ENOUGH: u64 = 600;

#[test]
fn random_programs_of_units_mean_the_same_every_way() {
    let count = number("TRACELIFT_UNIT_PROGRAMS").unwrap_or(ENOUGH);
    let seen = check_random(&Arc::new(standard_schema()), count);
    let has_all = seen.finished > 500
        && seen.left.iter().all(|&count| count > 300)
        && seen.other_tags > 100
        && seen.sides > 500
        && seen.lifted > 100;
    assert!(count < ENOUGH || number("TRACELIFT_SEED").is_some() || has_all, "{seen:?}");
}

#[test]
fn so_do_those_whose_tags_fill_a_word() {
    let count = number("TRACELIFT_UNIT_PROGRAMS").unwrap_or(ENOUGH) / 4;
    let seen = check_random(&Arc::new(schema_with_wide_tags()), count);
    let has_all = seen.left.iter().all(|&count| count > 50) && seen.other_tags > 20;
    assert!(count < ENOUGH / 4 || number("TRACELIFT_SEED").is_some() || has_all, "{seen:?}");
}

fn check_random(schema: &Arc<Schema>, count: u64) -> Seen {
    support::crash::install();
    let seeds = number("TRACELIFT_SEED").map_or(0..count, |seed| seed..seed + 1);
    let check = |checker: &mut UnitChecker, seed| checker.check(&generate_units(seed, schema));
    let parts = check_all(seeds, || UnitChecker::new(schema), check, |checker| checker.seen);
    let mut seen = Seen::default();
    parts.unwrap_or_else(|failure| panic!("{failure}")).iter().for_each(|part| seen.add(part));
    println!("{seen:?}");
    seen
}
