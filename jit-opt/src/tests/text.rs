//! What is true of whole traces: names and depths, stages, and how the work grows.
//!
//! Problem: a listing shows neither call depths nor how long it took to make. Design: a test for each such
//! property, on one small trace or on a family of growing ones; "this trace in, that trace out" stands in
//! `tests/traces/opt`. Invariant: each instruction is visited about as often whatever the length. Example:
//! 2,000 reads of an item take twice the visits that 1,000 take.

use tracelift_core::testbed::standard_schema;
use tracelift_core::text::parse_trace;

use crate::{optimize, Config};

#[test]
fn names_and_depths_are_kept() {
    let schema = standard_schema();
    let input = "L0(i_counter):\ni_next = int_add(i_counter, 1)\njump(L0, i_next)\n";
    let mut trace = parse_trace(input, &schema).unwrap();
    trace.insts[1].depth = 2;
    let optimized = optimize(&trace, &schema, &Config::parse("-peel").unwrap()).unwrap();
    assert_eq!(optimized.trace.insts[1].depth, 2);
    assert_eq!(optimized.trace.values, trace.values);
}

#[test]
fn stages_show_each_pass() {
    let schema = standard_schema();
    let trace = parse_trace(
        "L0(i0):\ni1 = int_add(i0, 0)\ni2 = int_eq(i1, 3)\nguard_true(i2)\nfinish(i1)\n",
        &schema,
    );
    let optimized = optimize(&trace.unwrap(), &schema, &Config::new().with_stages()).unwrap();
    let sizes: Vec<(&str, usize)> =
        optimized.report.stages.iter().map(|stage| (stage.name, stage.trace.insts.len())).collect();
    let before = ["recorded", "virtuals", "guards", "expand", "ranges"].map(|name| (name, 5));
    let after = ["fold", "cse", "guards", "bounds", "heap"].map(|name| (name, 4));
    assert_eq!(sizes, [before, after].concat());
}

/// The work grows with the trace, not with its square: ten times the trace, about ten times the visits.
#[test]
fn the_optimizer_is_linear() {
    let schema = standard_schema();
    let visits = |repeats: usize| {
        let mut input = String::from("L0(p0, i1):\n");
        for n in 0..repeats {
            input += &format!("i{} = get_item(p0, i1, Table:int)\n", n + 2);
        }
        input += "finish()\n";
        let trace = parse_trace(&input, &schema).unwrap();
        optimize(&trace, &schema, &Config::new()).unwrap().report.visited as f64
    };
    let slope = (visits(2_000) - visits(1_000)) / (visits(1_000) - visits(100)) * 0.9;
    assert!((0.9..1.1).contains(&slope), "{slope}");
}
