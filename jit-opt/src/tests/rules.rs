//! `docs/rules.md` lists the algebraic rules as they stand in the tables.

use std::fmt::Write;

use expect_test::expect_file;

use crate::algebraic_rules;

const OPENING: &str = "# The algebraic rules

What the pass `fold` knows besides evaluating operations on constants, in the order in which the rules are
tried. Integer arithmetic wraps; `=>` reads \"becomes\". The laws that the rules obey stand at the head of
`jit-opt/src/passes/fold/mod.rs`. This page is written by a test:
`UPDATE_EXPECT=1 cargo test -p tracelift-opt rules`.

| rule | operations | law |
|---|---|---|
";

#[test]
fn the_page_lists_every_rule() {
    let mut page = OPENING.to_string();
    for rule in algebraic_rules() {
        let ops: Vec<&str> = rule.ops.iter().map(|op| op.info().name).collect();
        let law = rule.law.replace('|', "\\|");
        let _ = writeln!(page, "| `{}` | {} | {law} |", rule.name, ops.join(", "));
    }
    expect_file!["../../../docs/rules.md"].assert_eq(&page);
}
