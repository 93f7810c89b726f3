//! Peeling where no figure of the papers shows it; those are in `tests/papers`.

use super::virtuals::{figure, parse, run};

/// What the loop would drop is what it has to make: another object each time round, in turn real and virtual.
#[test]
fn another_shape_keeps_the_plain_loop() {
    let input = "L0(p0, p1):\np2 = new(BoxedInteger)\ncall(seen, p0)\njump(L0, p1, p2)\n";
    let optimized = run("-all,+peel,+virtuals", &parse(input));
    assert!(optimized.trace.op_count() <= 8);
}

/// `i2 - 1` in the loop could be `i0 - 2` of the preamble; but then `i0` would have to be passed as well.
#[test]
fn chains_do_not_reach_over_the_loops_label() {
    figure(
        "",
        "L0(i0):\ni1 = int_add(i0, 3)\ncall(print, i1)\ni2 = int_add(i1, 4)\njump(L0, i2)\n",
        "L0(i0):\ni1 = int_add(i0, 3)\ncall(print, i1)\ni2 = int_add(i0, 7)\njump(L1, i2)\n\
         L1(i3):\ni4 = int_add(i3, 3)\ncall(print, i4)\ni5 = int_add(i3, 7)\njump(L1, i5)\n",
    );
    // What makes the operation go is worth an argument.
    figure(
        "-virtuals",
        "L0(i0, i1):\ni2 = int_sub(i1, 1)\ncall(print, i2)\ni3 = int_add(i0, 1)\njump(L0, i0, i3)\n",
        "L0(i0, i1):\ni2 = int_add(i1, -1)\ncall(print, i2)\ni3 = int_add(i0, 1)\njump(L1, i0, i3)\n\
         L1(i4, i5):\ncall(print, i4)\njump(L1, i4, i5)\n",
    );
}
