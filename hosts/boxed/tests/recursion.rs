//! Functions that call themselves run as linked code: entries on the Rust API.
//!
//! Problem: that results agree says nothing of whether recursion was compiled at all, or ran in the
//! interpreter for want of a link. Design: the machine counts what it interprets, and the VM what it enters;
//! a recursion of thousands of calls may have few of both. When a function is hot is exact: its entries are
//! counted one by one. Invariant: every run is compared with the interpreter's.
//!
//! Example: `fib` of 16 makes some 2,000 calls; the host enters code some dozen times.

mod common;

use common::{compare, config, DOWN, FIB};
use tracelift_boxed::{Machine, Number, Options, Outcome};
use tracelift_runtime::{Config, Stats};

use Number::{Float, Integer};

/// No function is a unit.
fn linked(config: Config) -> Options {
    Options { config, units: false, ..Options::default() }
}

fn machine(source: &str, config: Config) -> Machine {
    Machine::new(source, linked(config)).unwrap()
}

fn entries_compiled(stats: &Stats) -> usize {
    stats.traces.iter().filter(|trace| trace.name.starts_with("entry_")).count()
}

#[test]
fn fib_runs_without_the_interpreter() {
    for threshold in [1, 2, 5, 20] {
        let calls: [&[Number]; 3] = [&[Integer(16)], &[Float(9.5)], &[Integer(16)]];
        let (stats, interpreted, plain) = compare(FIB, linked(config(threshold)), &calls);
        let text = stats.text();
        assert!(entries_compiled(&stats) >= 3, "the function, and after both calls\n{text}");
        assert!(stats.entries < 400, "threshold {threshold}: {} entries\n{text}", stats.entries);
        assert!(interpreted * 10 < plain, "threshold {threshold}: {interpreted} of {plain}\n{text}");
    }
}

#[test]
fn a_loop_around_recursion_runs_without_the_interpreter() {
    for threshold in [1, 3, 10] {
        let (stats, interpreted, plain) =
            compare(DOWN, linked(config(threshold)), &[&[Integer(2_000), Integer(30)]]);
        assert!(
            interpreted * 20 < plain,
            "threshold {threshold}: {interpreted} of {plain}\n{}",
            stats.text()
        );
        assert!(stats.entries < 2_000, "threshold {threshold}: {} entries\n{}", stats.entries, stats.text());
    }
}

/// As many entries as it takes, and not one less.
#[test]
fn thresholds_of_entries_are_exact() {
    for threshold in [1, 2, 3, 10, 101] {
        // A loop that calls the function gets its turn first.
        let needed = threshold + threshold / 2;
        let mut machine = machine(FIB, config(threshold));
        for entry in 1..=needed {
            assert_eq!(machine.vm().stats().recordings, 0, "before entry {entry}, threshold {threshold}");
            assert_eq!(machine.run("f", &[Integer(1)], 0), Ok(Outcome::Finished(Integer(1))));
        }
        assert_eq!(machine.vm().stats().recordings, 1, "threshold {threshold}");
        assert_eq!(machine.vm().stats().interpreted_back_edges, 0, "entries are no back edges");
    }
}

/// The limit on calls strikes at the same call, however many of the frames code has made.
#[test]
fn the_depth_limit_is_that_of_the_interpreter() {
    for threshold in [1, 4] {
        let once = [Integer(1)];
        let depths: Vec<[Number; 2]> = (150..230).map(|depth| [once[0], Integer(depth)]).collect();
        let calls: Vec<&[Number]> = depths.iter().map(|args| &args[..]).collect();
        let (stats, interpreted, plain) = compare(DOWN, linked(config(threshold)), &calls);
        assert!(interpreted * 2 < plain, "{interpreted} of {plain}\n{}", stats.text());
        assert!(stats.exits.get("interrupt").is_some_and(|&exits| exits > 0), "{}", stats.text());
    }
}

/// Circles of traces without a loop make objects, and look at the garbage.
#[test]
fn recursion_collects() {
    let mut machine = machine(FIB, config(2));
    let found = machine.run("f", &[Integer(23)], 0);
    assert_eq!(found, Ok(Outcome::Finished(Integer(28_657))));
    let (made, collections) = (machine.heap().made, machine.heap().collections);
    assert!(made > 100_000 && collections > made / 16_384, "{made} objects, {collections} collections");
    let stats = machine.vm().stats();
    assert!(stats.exits.get("collect").is_some_and(|&exits| exits > 10), "{}", stats.text());
}

/// Wherever recordings start, and whatever of them is thrown away.
#[test]
fn from_random_starts() {
    let mut compiled = 0;
    for seed in 1..40 {
        let config = Config { start_seed: Some(seed), ..config(4) };
        let calls: [&[Number]; 3] = [&[Integer(9)], &[Float(8.5)], &[Integer(9)]];
        compiled += entries_compiled(&compare(FIB, linked(config.clone()), &calls).0);
        let calls: [&[Number]; 2] = [&[Integer(30), Integer(25)], &[Integer(9), Float(199.5)]];
        compiled += entries_compiled(&compare(DOWN, linked(config), &calls).0);
    }
    assert!(compiled > 100, "{compiled} traces that begin at entries");
}

/// Without a threshold that is set, compiling must pay; the results are the same. The calls are so many that
/// code is bought in a debug build, too.
#[test]
fn by_default_too() {
    let calls: [&[Number]; 2] = [&[Integer(25)], &[Integer(25)]];
    let (stats, interpreted, plain) = compare(FIB, linked(Config::default()), &calls);
    assert!(stats.compile.traces > 0 && interpreted < plain, "{interpreted} of {plain}\n{}", stats.text());
}
