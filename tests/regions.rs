//! Random trees of traces, run every way there is: in the evaluator, as linked functions, as one function, as
//! one of some of them; with every guard forced to fail, and every entry refused. See `support/trees.rs` for
//! what is compared.
//!
//! Environment: `TRACELIFT_RANDOM_TREES` is the number of trees (default 300), `TRACELIFT_FIRST_SEED` the
//! first seed (default 0), `TRACELIFT_SEED` one seed to run alone. A failure prints its seed and a trace
//! file. Invariant: with the default number or more, side traces of both kinds were entered, left and
//! refused, and loops were peeled and unrolled.
//!
//! Example: `TRACELIFT_SEED=7 cargo test --test regions` runs one tree again.

mod support;

use std::sync::Arc;

use support::seeds::check_all;
use support::trees::{Seen, TreeChecker};
use support::turn::number;
use tracelift_core::testbed::{schema_with_slots, schema_with_wide_tags, standard_schema};
use tracelift_core::Schema;

/// As many trees as this must have everything.
const ENOUGH: u64 = 300;

#[test]
fn random_trees_mean_the_same_every_way() {
    check_random(&Arc::new(standard_schema()), 1);
}

/// The same where traces store slots early, and write their tags in memory.
#[test]
fn random_trees_with_slots_mean_the_same_every_way() {
    check_random(&Arc::new(schema_with_slots()), 1);
}

#[test]
fn so_do_those_whose_tags_fill_a_word() {
    check_random(&Arc::new(schema_with_wide_tags()), 4);
}

/// Checks that share of the trees over a schema.
fn check_random(schema: &Arc<Schema>, share: u64) {
    support::crash::install();
    let count = number("TRACELIFT_RANDOM_TREES").unwrap_or(ENOUGH) / share;
    let first = number("TRACELIFT_FIRST_SEED").unwrap_or(0);
    let seeds = number("TRACELIFT_SEED").map_or(first..first + count, |seed| seed..seed + 1);
    let check = |checker: &mut TreeChecker, seed| checker.check(seed);
    let parts = check_all(seeds, || TreeChecker::new(schema), check, |checker| checker.seen);
    let mut seen = Seen::default();
    parts.unwrap_or_else(|failure| panic!("{failure}")).iter().for_each(|part| seen.add(part));
    println!("{seen:?}");
    let Seen { sides, backs, refused, left_in_side, ends, crossings, .. } = seen;
    let Seen { unrolled, again, peeled, linear, rebuilt, pending, bridges, bridges_compared, .. } = seen;
    let least = [
        (sides[0], 40_000),
        (sides[1], 8_000),
        (backs, 25_000),
        (refused[0], 1_500),
        (refused[1], 400),
        (left_in_side, 3_000),
        (ends, 5_000),
        (crossings, 700),
        (unrolled, 800),
        (peeled, 100),
        (linear, 60),
        (rebuilt, 60),
        (pending, 8),
        (bridges, 20),
        (bridges_compared, 1),
    ];
    // No slot is known to be steady where nobody says how slots are accessed.
    let has_again = again > 15 || schema.slot_cells().is_none();
    let has_all = has_again && least.iter().all(|&(found, least)| found > least / share);
    assert!(count < ENOUGH / share || number("TRACELIFT_SEED").is_some() || has_all, "{seen:?}");
}
