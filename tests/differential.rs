//! Random traces, run every way there is: evaluator and machine code, recorded and optimized, with each pass off, with
//! every guard forced to fail. See `support/mod.rs` for what is compared.
//!
//! Environment: `TRACELIFT_RANDOM_TRACES` is the number of traces (default 2,000), `TRACELIFT_FIRST_SEED` the first
//! seed (default 0), `TRACELIFT_SEED` one seed to run alone. A failure prints its seed and a trace file, made as
//! small as possible, that can be committed as a test. Invariant: with the default number or more, every op was executed and every guard op and kind
//! of exit was left through, or the test fails.
//!
//! Cases that failed once are trace files in `traces/found`; they are checked first, in the same ways.
//!
//! Example: `TRACELIFT_SEED=386 cargo test --test differential` runs one case again and makes it small if it
//! fails.

mod support;

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use support::check::{Checker, Failure};
use support::coverage::Coverage;
use tracelift_core::testbed::{natives, standard_schema};
use tracelift_core::testgen::{generate, Case};
use tracelift_core::text::{parse_file, RunValue, TraceFile};
use tracelift_core::world_spec::SpecValue;

/// As many traces as this must cover everything.
const ENOUGH: u64 = 2_000;

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} must be a number, not {text:?}")))
}

/// The case that a trace file holds: its first trace with the inputs of its first run.
fn case_of(file: &TraceFile) -> Case {
    let inputs = file.runs[0].inputs.iter().map(|input| match *input {
        RunValue::Object(number) => SpecValue::Object(number),
        RunValue::Bits(_, bits) => SpecValue::Bits(bits),
        RunValue::Any => panic!("an input without a value"),
    });
    let (trace, inputs) = (file.traces[0].clone(), inputs.collect());
    Case { seed: 0, trace, spec: file.world.clone(), inputs }
}

#[test]
fn cases_that_failed_once_mean_the_same_every_way() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces/found");
    let mut checked = 0;
    for entry in std::fs::read_dir(folder).expect("the folder of cases can be read") {
        let path = entry.expect("its entries can be read").path();
        let source = std::fs::read_to_string(&path).expect("a case can be read");
        let file = parse_file(&source, &natives).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        let mut checker = Checker::new(&Arc::new(file.schema.clone()));
        checker.check(&case_of(&file)).unwrap_or_else(|failure| panic!("{path:?}: {failure}"));
        checked += 1;
    }
    assert!(checked > 0, "no case was found");
}

#[test]
fn random_traces_mean_the_same_every_way() {
    support::crash::install();
    let schema = Arc::new(standard_schema());
    if let Some(seed) = number("TRACELIFT_SEED") {
        let mut checker = Checker::new(&schema);
        let case = generate(seed, &schema);
        if let Err(failure) = checker.check(&case) {
            let found = failure.to_string();
            panic!("{found}\nand smaller:\n{}", checker.smaller(&case, failure));
        }
        return;
    }
    let count = number("TRACELIFT_RANDOM_TRACES").unwrap_or(ENOUGH);
    let first = number("TRACELIFT_FIRST_SEED").unwrap_or(0);
    let next = AtomicU64::new(first);
    let failed = AtomicBool::new(false);
    let results: Mutex<(Coverage, Option<Box<Failure>>)> = Mutex::default();
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get().min(8));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut checker = Checker::new(&schema);
                let mut failure = None;
                while failure.is_none() && !failed.load(Ordering::Relaxed) {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= first + count {
                        break;
                    }
                    let case = generate(seed, &schema);
                    failure = checker.check(&case).err().map(|failure| checker.smaller(&case, failure));
                }
                failed.fetch_or(failure.is_some(), Ordering::Relaxed);
                let mut results = results.lock().expect("no thread panics while it holds the lock");
                results.0.merge(&checker.coverage);
                results.1 = results.1.take().or(failure);
            });
        }
    });
    let (coverage, failure) = results.into_inner().expect("no thread panics while it holds the lock");
    println!("{}", coverage.table());
    if let Some(failure) = failure {
        panic!("{failure}");
    }
    let missing = coverage.missing();
    assert!(count < ENOUGH || missing.is_empty(), "not covered:\n{}", missing.join("\n"));
}
