//! Peeling where no figure of the papers shows it; those are in `tests/papers`.

use super::virtuals::{parse, run};

/// What the loop would drop is what it has to make: another object each time round, in turn real and virtual.
#[test]
fn another_shape_keeps_the_plain_loop() {
    let input = "L0(p0, p1):\np2 = new(BoxedInteger)\ncall(seen, p0)\njump(L0, p1, p2)\n";
    let optimized = run("-all,+peel,+virtuals", &parse(input));
    assert!(optimized.trace.op_count() <= 8);
}
