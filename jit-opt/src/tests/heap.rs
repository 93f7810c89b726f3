//! Loads and stores: what is forwarded, what must not be, and stores that go.
//!
//! Each pitfall of alias analysis has a test of its own, as the smallest trace that shows it: once where forwarding is
//! right and once where it would be wrong. Only the passes on memory run, unless a test says otherwise, so that what
//! is seen is theirs.

use tracelift_core::testbed::standard_schema;
use tracelift_core::text::{parse_trace, print_trace};
use tracelift_core::verify::{verify, Mode};
use tracelift_core::Schema;

use crate::{optimize, Config, Optimized};

/// The rules that the tests here show.
pub const RULES: [&str; 5] =
    ["load_seen", "load_of_store", "load_of_narrow_store", "store_same", "store_overwritten"];

const MEMORY: &str = "-all,+load_forward,+store_forward,+dead_store";

fn optimized_with(config: &Config, input: &str, schema: &Schema) -> Optimized {
    let trace = parse_trace(input, schema).unwrap_or_else(|err| panic!("{err}"));
    let errors = verify(&trace, schema, Mode::Recorded);
    assert!(errors.is_empty(), "{errors:?}\n{input}");
    let optimized = optimize(&trace, schema, config).unwrap();
    let errors = verify(&optimized.trace, schema, Mode::Expanded);
    assert!(errors.is_empty(), "{errors:?}\n{}", print_trace(&optimized.trace, schema));
    optimized
}

/// What comes out, a line per instruction, and the rules that fired.
fn lines(config: &str, input: &str) -> (Vec<String>, Vec<&'static str>) {
    let schema = standard_schema();
    let optimized = optimized_with(&Config::parse(config).unwrap(), input, &schema);
    let text = print_trace(&optimized.trace, &schema);
    let rules = optimized.report.rules.keys().copied().filter(|rule| RULES.contains(rule)).collect();
    (text.lines().map(|line| line.trim().to_string()).collect(), rules)
}

/// Nothing of the body goes.
#[track_caller]
fn kept(input: &str) {
    let schema = standard_schema();
    let count = parse_trace(input, &schema).unwrap().insts.len();
    let (out, rules) = lines(MEMORY, input);
    assert!(rules.is_empty() && out.len() == count, "{rules:?} fired on\n{input}\n{}", out.join("\n"));
}

/// Exactly this rule fires, and this is the last line.
#[track_caller]
fn fires(rule: &str, input: &str, last: &str) {
    let (out, rules) = lines(MEMORY, input);
    assert_eq!(rules, [rule], "{}", out.join("\n"));
    assert_eq!(out.last().unwrap(), last, "{}", out.join("\n"));
}

#[test]
fn a_load_is_not_repeated() {
    let input = "L0(p0):\ni1 = load(p0, BoxedInteger.intval)\ni2 = load(p0, BoxedInteger.intval)\n\
                 finish(i1, i2)\n";
    fires("load_seen", input, "finish(i1, i1)");
    assert!(lines("-load_forward", input).1.is_empty());
}

#[test]
fn a_stored_value_is_not_loaded() {
    let input = "L0(p0, i1):\nstore(p0, BoxedInteger.intval, i1)\ni2 = load(p0, BoxedInteger.intval)\n\
                 finish(i2)\n";
    fires("load_of_store", input, "finish(i1)");
    assert!(lines("-store_forward", input).1.is_empty());
}

#[test]
fn a_store_of_what_is_there_goes() {
    let input = "L0(p0):\ni1 = load(p0, BoxedInteger.intval)\nstore(p0, BoxedInteger.intval, i1)\nfinish()\n";
    fires("store_same", input, "finish()");
    assert!(lines("-dead_store", input).1.is_empty());
    // Something else was stored in between.
    kept(
        "L0(p0, p1):\ni2 = load(p0, BoxedInteger.intval)\nstore(p1, BoxedInteger.intval, 3)\n\
          store(p0, BoxedInteger.intval, i2)\nfinish()\n",
    );
}
