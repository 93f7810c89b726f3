//! Bounds of indexes: what is implied, and one guard before the loop for all of its iterations.

use tracelift_core::testbed::standard_schema;
use tracelift_core::text::print_trace;

use super::optimized_text;
use crate::Config;

/// The rules that the tests here show.
pub const RULES: [&str; 2] = ["bound_known", "bound_hoisted"];

/// The preamble and the loop.
fn halves(config: &str, input: &str) -> (String, String) {
    let schema = standard_schema();
    let optimized = optimized_text(&Config::parse(config).unwrap(), input, &schema);
    let text = print_trace(&optimized.trace, &schema);
    let (before, body) = text.split_once("\nL1(").unwrap_or_else(|| panic!("not peeled:\n{text}"));
    (before.to_string(), body.to_string())
}

/// A loop over items `i - 1` and `i + plus` of a table, that counts down and takes these steps.
fn counted(step: i64, plus: i64) -> String {
    format!(
        "L0(p0, i1, i2):\ni3 = load(p0, table.count)\ni4 = int_add(i1, -1)\ni5 = uint_lt(i4, i3)\n@0 = frame(words 1 2)[0: int i1, 1: int i2]\n\
         guard_true(i5) @0\ni6 = int_add(i1, {plus})\ni7 = uint_lt(i6, i3)\nguard_true(i7) @0\nguard_true(i2) @0 loop_end\n\
         i8 = int_sub(i2, 1)\ni9 = int_add(i1, {step})\njump(L0, p0, i9, i8)\n"
    )
}

#[test]
fn a_counted_loop_tests_before_it_begins() {
    for (step, plus) in [(1, 0), (1, 1), (2, 1), (4, 0), (-1, 0), (-1, 1), (-2, 1)] {
        let (before, body) = halves("", &counted(step, plus));
        assert!(before.contains("hoisted") && !body.contains("uint_l"), "{before}\n{body}");
        let (before, body) = halves("-bounds", &counted(step, plus));
        assert!(!before.contains("hoisted") && body.contains("uint_lt"), "{before}\n{body}");
    }
}
