//! Random control flow graphs, run every way there is: as they were made, peeled (seed 001), cleaned up; in
//! the evaluator and as machine code; with each guard forced to fail. See `support/graphs.rs` for what is
//! compared.
//!
//! Environment: `TRACELIFT_RANDOM_GRAPHS` is the number of graphs (default 400), `TRACELIFT_FIRST_SEED` the
//! first seed (default 0), `TRACELIFT_SEED` one seed to run alone. A failure prints its seed and the region.
//! Invariant: with the default number or more, loops were peeled, and refused for each reason.
//!
//! Example: `TRACELIFT_SEED=7 cargo test --test graphs` runs one region again.

mod support;

use std::sync::Arc;

use support::graphs::{GraphChecker, GraphsSeen};
use support::seeds::check_all;
use support::turn::number;
use tracelift_core::testbed::standard_schema;

/// As many graphs as this must have everything.
const ENOUGH: u64 = 400;

#[test]
fn random_graphs_mean_the_same_every_way() {
    support::crash::install();
    let schema = Arc::new(standard_schema());
    let count = number("TRACELIFT_RANDOM_GRAPHS").unwrap_or(ENOUGH);
    let first = number("TRACELIFT_FIRST_SEED").unwrap_or(0);
    let seeds = number("TRACELIFT_SEED").map_or(first..first + count, |seed| seed..seed + 1);
    let check = |checker: &mut GraphChecker, seed| checker.check(seed);
    let parts = check_all(seeds.clone(), || GraphChecker::new(&schema), check, |checker| checker.seen);
    let mut seen = GraphsSeen::default();
    parts.unwrap_or_else(|failure| panic!("{failure}")).iter().for_each(|part| seen.add(part));
    println!("{seen:?}");
    if seeds.end - seeds.start >= ENOUGH {
        assert!(seen.peeled > 100 && seen.refused.iter().all(|&refused| refused > 0), "{seen:?}");
        assert!(seen.safepoints_left_out > 20 && seen.exits.iter().all(|&exits| exits > 2_000), "{seen:?}");
        assert!(seen.executed[1] < seen.executed[0], "passes make regions shorter: {seen:?}");
    }
}
