//! What the tests of recursion share: two programs, and the comparison with the interpreter.

use tracelift_boxed::{Machine, Number, Options};
use tracelift_runtime::{Config, Stats};

pub const FIB: &str = "\
def f(n):
    m = n.add(BoxedInteger(-1))
    if m.is_positive():
        return f(m).add(f(m.add(BoxedInteger(-1))))
    return n
";

/// Down and up again, in a loop around it.
pub const DOWN: &str = "\
def down(n):
    if n.is_positive():
        return down(n.add(BoxedInteger(-1))).add(n)
    return n
def f(times, n):
    res = BoxedInteger(0)
    while times.is_positive():
        res = res.add(down(n))
        times = times.add(BoxedInteger(-1))
    return res
";

/// Thresholds alone decide.
pub fn config(threshold: u32) -> Config {
    Config { threshold, side_threshold: threshold, verify: true, ..Config::exact() }
}

/// Runs `f` with and without the JIT; the first one's statistics, and what both have interpreted.
pub fn compare(source: &str, options: Options, calls: &[&[Number]]) -> (Stats, u64, u64) {
    let mut plain = Machine::new(source, Options::interpreter()).unwrap();
    let mut machine = Machine::new(source, options).unwrap();
    for args in calls {
        let expected = plain.run("f", args, i64::MAX);
        let found = machine.run("f", args, i64::MAX);
        assert_eq!(found, expected, "{args:?}\n{}", machine.vm().stats().text());
    }
    let stats = machine.vm().stats();
    for bug in ["internal error", "misuse of the recording interface"] {
        assert!(!stats.aborts.contains_key(bug), "{:?}", stats.aborts);
    }
    (stats, machine.interpreted(), plain.interpreted())
}
