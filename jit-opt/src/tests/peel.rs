//! Peeling where no figure of the papers shows it; those are in `tests/papers`.

use super::virtuals::{figure, parse, run};

/// What the loop would drop is what it has to make: another object each time round, in turn real and virtual.
#[test]
fn another_shape_keeps_the_plain_loop() {
    let input = "L0(p0, p1):\np2 = new(BoxedInteger)\ncall(seen, p0)\njump(L0, p1, p2)\n";
    let optimized = run("-all,+peel,+virtuals", &parse(input));
    assert!(optimized.trace.op_count() <= 8);
}

/// The call in the loop gets the object of the iteration before, and has no place to leave to if there is no
/// memory for it. So the object would be made at once and written three times; the plain loop makes it at its
/// end and writes it once.
#[test]
fn a_peeled_loop_is_never_longer_than_the_plain_one() {
    let input = "L0(p0, i1, i2):\ncall(print, i1)\ncall(seen, p0)\n@0 = frame[0: int i1]\np3 = new(BoxedInteger) @0\n\
                 set(p3, intval, i1)\n@1 = frame[0: int i1]\nguard_true(i1) @1\nset(p3, intval, i2)\n\
                 @2 = frame[0: int i2]\nguard_true(i2) @2\nset(p3, intval, 7)\n\
                 i4 = int_add(i1, 1)\ni5 = int_add(i2, 2)\njump(L0, p3, i4, i5)\n";
    let optimized = run("", &parse(input));
    assert!(optimized.peeled.is_none());
    assert_eq!(optimized.trace.op_count(), 9);
    // With a place to leave to before the call the object is lifted there, and the loop is peeled.
    let input = input.replace("call(print, i1)\n", "@3 = frame[0: int i1]\nguard_true(i1) @3\n");
    let optimized = run("", &parse(&input));
    assert!(optimized.peeled.is_some());
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

/// `(i2 + 1) - 1` is `i2` only for the iteration before, whose `i2` the loop would have to be passed beside
/// `i3`: it is another one each time round, and nothing that the loop computes.
#[test]
fn chains_do_not_reach_what_another_iteration_has_computed() {
    figure(
        "",
        "L0(i0):\ni1 = int_sub(i0, 1)\ncall(print, i1)\ni2 = int_mul(i0, 3)\ni3 = int_add(i2, 1)\njump(L0, i3)\n",
        "L0(i0):\ni1 = int_add(i0, -1)\ncall(print, i1)\ni2 = int_mul(i0, 3)\ni3 = int_add(i2, 1)\njump(L1, i3)\n\
         L1(i4):\ni5 = int_add(i4, -1)\ncall(print, i5)\ni6 = int_mul(i4, 3)\ni7 = int_add(i6, 1)\njump(L1, i7)\n",
    );
    // Here `i3` is the same in all iterations, but the loop has not come to it yet when it asks.
    figure(
        "",
        "L0(i0, i8):\ni1 = int_sub(i0, 1)\ncall(print, i1)\ni2 = int_mul(i8, 3)\ni3 = int_add(i2, 1)\n\
         jump(L0, i3, i8)\n",
        "L0(i0, i8):\ni1 = int_add(i0, -1)\ncall(print, i1)\ni2 = int_mul(i8, 3)\ni3 = int_add(i2, 1)\n\
         jump(L1, i3, i8)\nL1(i4, i9):\ni5 = int_add(i4, -1)\ncall(print, i5)\njump(L1, i4, i9)\n",
    );
}

/// The loop computes `i2 + 1` anyway, so that `(i2 + 1) - 1` may be `i2`; and then the compare is the
/// preamble's.
#[test]
fn chains_reach_what_the_loop_uses_anyway() {
    let input =
        "L0(i0, i1, i5):\ni2 = int_mul(i0, 3)\ni3 = int_add(i2, i0)\ni4 = int_add(i3, 1)\ncall(print, i4)\n\
                 i6 = int_sub(i4, 1)\ni7 = uint_lt(i6, i1)\nguard_true(i7)\ni8 = int_add(i5, 1)\n\
                 jump(L0, i0, i1, i8)\n";
    let file = parse(input);
    let optimized = run("", &file);
    let text = tracelift_core::text::print_trace(&optimized.trace, &file.schema);
    let body = text.split("\nL1(").nth(1).unwrap();
    assert!(!body.contains("uint_lt") && !body.contains("guard_true"), "{text}");
}
