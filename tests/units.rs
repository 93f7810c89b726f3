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

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use support::check::Failure;
use support::units::{Seen, UnitChecker};
use tracelift_core::testbed::standard_schema;
use tracelift_core::testgen::generate_units;
use tracelift_core::Schema;

/// As many programs as this must have everything.
const ENOUGH: u64 = 600;

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} must be a number, not {text:?}")))
}

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
    let seen = check_random(&schema, count);
    println!("{seen:?}");
    let has_all = seen.finished > 500
        && seen.left.iter().all(|&count| count > 300)
        && seen.other_tags > 100
        && seen.sides > 500
        && seen.lifted > 100;
    assert!(count < ENOUGH || has_all, "{seen:?}");
}

fn check_random(schema: &Arc<Schema>, count: u64) -> Seen {
    let (next, failed) = (AtomicU64::new(0), AtomicBool::new(false));
    let results: Mutex<(Seen, Option<Box<Failure>>)> = Mutex::default();
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get().min(8));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut checker = UnitChecker::new(schema);
                let mut failure = None;
                while failure.is_none() && !failed.load(Ordering::Relaxed) {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= count {
                        break;
                    }
                    failure = checker.check(&generate_units(seed, schema)).err();
                }
                failed.fetch_or(failure.is_some(), Ordering::Relaxed);
                let mut results = results.lock().expect("no thread panics while it holds the lock");
                results.0.add(&checker.seen);
                results.1 = results.1.take().or(failure);
            });
        }
    });
    let (seen, failure) = results.into_inner().expect("no thread panics while it holds the lock");
    if let Some(failure) = failure {
        panic!("{failure}");
    }
    seen
}
