//! Functions that call themselves as units: code that calls code, on the Rust API.
//!
//! Problem: results agree as well where a unit is left at each call, or is never made. Design: the machine
//! counts what it interprets, and the VM units, their entries and the callers that were left with them.
//! Invariant: every run is compared with the interpreter's.
//!
//! Example: `fib` of 16 makes some 2,000 calls; the host enters code a few times, and interprets nothing.

mod common;

use common::{compare, config, DOWN, FIB};
use tracelift_boxed::{Machine, Number, Options, Outcome};
use tracelift_runtime::{Config, Stats, UnitUse};

use Number::{Float, Integer};

/// Two functions that call one another, one that both take in, and one with a loop, which is no unit.
const MUTUAL: &str = "\
def less(n):
    return n.add(BoxedInteger(-1))
def odd(n):
    if n.is_positive():
        return even(less(n))
    return BoxedInteger(0)
def even(n):
    if n.is_positive():
        return odd(less(n))
    return BoxedFloat(1.5)
def looping(n):
    i = n
    while i.is_positive():
        i = less(i)
    if n.is_positive():
        return looping(less(n)).add(even(n))
    return i
def f(times, n):
    res = BoxedInteger(0)
    while times.is_positive():
        res = res.add(even(n)).add(odd(n)).add(looping(n))
        times = less(times)
    return res
";

fn with(config: Config) -> Options {
    Options { config, ..Options::default() }
}

fn units(stats: &Stats) -> UnitUse {
    stats.units.unwrap_or_default()
}

#[test]
fn fib_calls_itself() {
    for threshold in [1, 2, 5, 20] {
        // What is recorded is interpreted meanwhile, with all that it calls.
        let calls: [&[Number]; 4] = [&[Integer(10)], &[Float(9.5)], &[Integer(16)], &[Integer(17)]];
        let (stats, interpreted, plain) = compare(FIB, with(config(threshold)), &calls);
        let text = stats.text();
        assert_eq!((units(&stats).compiled, units(&stats).retired), (1, 0), "{text}");
        assert!(units(&stats).deepest > 4, "left with callers around: {text}");
        assert!(stats.entries < 200, "threshold {threshold}: {} entries\n{text}", stats.entries);
        assert!(interpreted * 10 < plain, "threshold {threshold}: {interpreted} of {plain}\n{text}");
    }
}

#[test]
fn a_loop_calls_a_unit() {
    for threshold in [1, 3, 10] {
        let (stats, interpreted, plain) =
            compare(DOWN, with(config(threshold)), &[&[Integer(2_000), Integer(30)]]);
        let text = stats.text();
        assert!(units(&stats).compiled == 1 && stats.entries < 200, "threshold {threshold}\n{text}");
        assert!(interpreted * 100 < plain, "threshold {threshold}: {interpreted} of {plain}\n{text}");
    }
}

#[test]
fn units_call_one_another_and_take_functions_in() {
    for threshold in [1, 3, 10] {
        let calls: [&[Number]; 3] =
            [&[Integer(150), Integer(12)], &[Integer(20), Float(7.25)], &[Integer(150), Integer(13)]];
        let (stats, interpreted, plain) = compare(MUTUAL, with(config(threshold)), &calls);
        let text = stats.text();
        assert!(units(&stats).compiled >= 1, "threshold {threshold}\n{text}");
        assert!(interpreted * 4 < plain, "threshold {threshold}: {interpreted} of {plain}\n{text}");
    }
}

/// The limit on calls strikes at the same call, where units would find no room, and where they do.
#[test]
fn the_depth_limit_is_that_of_the_interpreter() {
    for threshold in [1, 4] {
        let depths: Vec<[Number; 2]> = (150..230).map(|depth| [Integer(2), Integer(depth)]).collect();
        let calls: Vec<&[Number]> = depths.iter().map(|args| &args[..]).collect();
        let (stats, interpreted, plain) = compare(DOWN, with(config(threshold)), &calls);
        let text = stats.text();
        assert!(interpreted * 2 < plain, "{interpreted} of {plain}\n{text}");
        assert!(stats.exits.get("interrupt").is_some_and(|&exits| exits > 0), "{text}");
        assert!(units(&stats).deepest > 100, "{text}");
    }
}

/// Units make objects, and look at the garbage.
#[test]
fn units_collect() {
    let mut machine = Machine::new(FIB, with(config(2))).unwrap();
    machine.run("f", &[Integer(10)], 0).unwrap();
    let found = machine.run("f", &[Integer(23)], 0);
    assert_eq!(found, Ok(Outcome::Finished(Integer(28_657))));
    let (made, collections) = (machine.heap().made, machine.heap().collections);
    assert!(made > 100_000 && collections > made / 16_384, "{made} objects, {collections} collections");
    let stats = machine.vm().stats();
    assert!(stats.exits.get("collect").is_some_and(|&exits| exits > 10), "{}", stats.text());
    assert!(units(&stats).compiled == 1 && machine.interpreted() < 20_000, "{}", stats.text());
}

/// Each call of a unit is counted, if iterations are.
#[test]
fn calls_are_counted() {
    let calls: [&[Number]; 3] = [&[Integer(8)], &[Integer(8)], &[Integer(12)]];
    let counted = |count_iterations| {
        let (stats, ..) = compare(FIB, with(Config { count_iterations, ..config(2) }), &calls);
        (units(&stats), stats.text())
    };
    let (found, text) = counted(true);
    // The last run makes 465 calls, and those of 8, where it is recorded, 67 each.
    assert!(
        found.calls.is_some_and(|calls| (465..465 + 2 * 67).contains(&calls)),
        "{calls:?}\n{text}",
        calls = found.calls
    );
    assert!(text.contains(" calls, of which "), "{text}");
    assert_eq!(counted(false).0.calls, None);
}

/// Wherever recordings start, and whatever of them is thrown away.
#[test]
fn from_random_starts() {
    let mut compiled = 0;
    for seed in 1..40 {
        let config = Config { start_seed: Some(seed), ..config(4) };
        let calls: [&[Number]; 3] = [&[Integer(9)], &[Float(8.5)], &[Integer(9)]];
        compiled += compare(FIB, with(config.clone()), &calls).0.units.map_or(0, |units| units.compiled);
        let calls: [&[Number]; 2] = [&[Integer(30), Integer(25)], &[Integer(9), Float(199.5)]];
        compiled += compare(DOWN, with(config.clone()), &calls).0.units.map_or(0, |units| units.compiled);
        let calls: [&[Number]; 2] = [&[Integer(20), Integer(9)], &[Integer(9), Float(5.5)]];
        compiled += compare(MUTUAL, with(config), &calls).0.units.map_or(0, |units| units.compiled);
    }
    assert!(compiled > 60, "{compiled} units");
}

/// Without a threshold that is set, compiling must pay, which an emulator's does not; the results are the
/// same.
#[test]
fn by_default_too() {
    compare(FIB, with(Config::default()), &[&[Integer(22)], &[Integer(22)]]);
}
