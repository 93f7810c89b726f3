//! B8, B10, B11, B12: the four kinds of objects of Figure 3, sharing, fields that were not set, and the
//! extensions that section 6 names: arrays, more than two fields, frames on the heap.
//!
//! Problem: the rules are one thing, what they do to objects as programs make them another. Design: a listing
//! for each kind; where seed 000 goes further (objects that survive the jump), both. Invariant: what a guard
//! describes is what the recorded trace has there. Example: an object that only a guard sees is never made,
//! and described at that guard.

use tracelift_core::Op;

use super::ALONE;
use crate::support::{figure, in_loop, listing, loop_ops, optimized, parse};

const PEELED: &str = "-all,+virtuals,+peel";

/// Category 1: it lives for some time and is then not used any more.
#[test]
fn b8_category_1_dies_in_the_trace() {
    let input = "L0(i0):\np1 = new(BoxedInteger)\nset(p1, intval, i0)\ni2 = get(p1, intval)\ncall(print, i2)\njump(L0, i2)\n";
    listing(ALONE, input, "L0(i0):\ncall(print, i0)\njump(L0, i0)\n");
}

/// Category 2: it escapes. What is done with it before is done without it.
#[test]
fn b8_category_2_escapes() {
    let input = "L0(i0):\np1 = new(BoxedInteger)\nset(p1, intval, 7)\nguard_class(p1, BoxedInteger)\ni2 = get(p1, intval)\n\
                 i3 = int_add(i0, i2)\nset(p1, intval, i3)\ncall(seen, p1)\njump(L0, i3)\n";
    listing(
        ALONE,
        input,
        "L0(i0):\ni3 = int_add(i0, 7)\np1 = new(BoxedInteger)\nset(p1, intval, i3)\ncall(seen, p1)\njump(L0, i3)\n",
    );
}

/// An object of category 3 is made by each iteration and taken apart by the next.
const SURVIVES: &str = "L0(p0, i1):
guard_class(p0, BoxedInteger)
i2 = get(p0, intval)
i3 = int_add(i2, i1)
p4 = new(BoxedInteger)
set(p4, intval, i3)
jump(L0, p4, i1)
";

/// Category 3: seed 002 delays the allocation to the end of the trace; seed 000 removes it.
#[test]
fn b8_category_3_survives_the_jump_and_dies() {
    listing(ALONE, SURVIVES, SURVIVES);
    listing(
        PEELED,
        SURVIVES,
        "L0(p0, i1):
guard_class(p0, BoxedInteger)
i2 = get(p0, intval)
i3 = int_add(i2, i1)
jump(L1, i3, i1)
L1(i3, i1):
i6 = int_add(i3, i1)
jump(L1, i6, i1)
",
    );
}

/// Category 4: it survives the jump and then escapes. Seed 002 makes it at the end of the trace, with peeling
/// it is made where it escapes, one iteration later.
#[test]
fn b8_category_4_survives_the_jump_and_escapes() {
    let input = "L0(p0, i1):
call(seen, p0)
p2 = new(BoxedInteger)
set(p2, intval, i1)
i3 = int_add(i1, 1)
jump(L0, p2, i3)
";
    listing(
        ALONE,
        input,
        "L0(p0, i1):
call(seen, p0)
i3 = int_add(i1, 1)
p2 = new(BoxedInteger)
set(p2, intval, i1)
jump(L0, p2, i3)
",
    );
    listing(
        PEELED,
        input,
        "L0(p0, i1):
call(seen, p0)
i3 = int_add(i1, 1)
jump(L1, i1, i3)
L1(i1, i3):
p2 = new(BoxedInteger)
set(p2, intval, i1)
call(seen, p2)
i5 = int_add(i3, 1)
jump(L1, i3, i5)
",
    );
}

/// Also of category 4: objects that live across several jumps.
#[test]
fn b8_category_4_survives_several_jumps() {
    let input = "L0(p0, p1, i2):\ncall(seen, p0)\np3 = new(BoxedInteger)\nset(p3, intval, i2)\njump(L0, p1, p3, i2)\n";
    let out = optimized(PEELED, &parse(input));
    assert_eq!(in_loop(&out.trace, Op::New), 1, "one object per iteration escapes, so one is made");
}

#[test]
fn b10_two_names_of_one_object_see_each_others_writes() {
    let input = "L0(i0, i1):
p2 = new(Pair)
p3 = new(BoxedInteger)
set(p3, intval, i0)
set(p2, left, p3)
set(p2, right, p3)
p4 = get(p2, left)
set(p4, intval, i1)
p5 = get(p2, right)
i6 = get(p5, intval)
i7 = get(p3, intval)
finish(i6, i7)
";
    listing(ALONE, input, "L0(i0, i1):\nfinish(i1, i1)\n");
}

/// One object in two places is one object again when a guard fails, and when it is lifted.
#[test]
fn b10_what_is_shared_stays_shared() {
    listing(
        ALONE,
        "L0(i0):\np1 = new(BoxedInteger)\nset(p1, intval, i0)\np2 = new(Pair)\nset(p2, left, p1)\n\
         @0 = frame[0: ref p1, 1: ref p2, 2: ref p1]\nguard_true(i0) @0\nfinish()\n",
        "L0(i0):\n@0 = frame[0: ref v0, 1: ref v1, 2: ref v0]\n    virtual v0 BoxedInteger{intval: i0}\n    \
         virtual v1 Pair{left: v0}\nguard_true(i0) @0\nfinish()\n",
    );
    listing(
        ALONE,
        "L0(i0):\np1 = new(BoxedInteger)\nset(p1, intval, i0)\np2 = new(Pair)\nset(p2, left, p1)\nset(p2, right, p1)\n\
         call(seen, p2)\ncall(seen, p1)\nfinish()\n",
        "L0(i0):\np2 = new(Pair)\np1 = new(BoxedInteger)\nset(p1, intval, i0)\nset(p2, left, p1)\nset(p2, right, p1)\n\
         call(seen, p2)\ncall(seen, p1)\nfinish()\n",
    );
}

/// Figure 5 begins with null fields; hosts may read them (the paper calls that malformed, see B4).
#[test]
fn b11_fields_begin_as_null() {
    let input =
        "L0():\np1 = new(Triple)\ni2 = get(p1, a)\nf3 = get(p1, b)\np4 = get(p1, c)\nfinish(i2, f3, p4)\n";
    listing(ALONE, input, "L0():\nfinish(0, 0.0, null)\n");
}

/// Only what was set is written when the object is made, and described at a guard.
#[test]
fn b11_objects_that_are_set_in_part() {
    listing(
        ALONE,
        "L0(f0, i1):\np2 = new(Triple)\nset(p2, b, f0)\n@0 = frame[0: ref p2]\nguard_true(i1) @0\nset(p2, a, i1)\n\
         call(seen, p2)\nfinish()\n",
        "L0(f0, i1):\n@0 = frame[0: ref v0] virtual v0 Triple{b: f0}\nguard_true(i1) @0\np2 = new(Triple) @0\n\
         set(p2, b, f0) @0\nset(p2, a, i1) @0\ncall(seen, p2)\nfinish()\n",
    );
}

/// Arrays of a fixed length are objects with numbered fields.
#[test]
fn b12_arrays_of_fixed_length() {
    let input = "L0(i0, p1):
p2 = new(Array, 3)
put_item(p2, 1, i0, Array:int)
put_item(p2, 3, p1, Array:ref)
i3 = get_item(p2, 1, Array:int)
get_item(p2, 2, Array:nil)
p4 = get_item(p2, 3, Array:ref)
i5 = item_count(p2, Array)
finish(i3, p4, i5)
";
    listing(ALONE, input, "L0(i0, p1):\nfinish(i0, p1, 3)\n");
    // An index outside makes the array.
    for index in ["4", "0"] {
        let input = format!(
            "L0(i0):\np2 = new(Array, 3)\nput_item(p2, 1, i0, Array:int)\ni3 = get_item(p2, {index}, Array:int)\nfinish(i3)\n"
        );
        figure(ALONE, &input, &input);
    }
    // One that is not known chooses among the items, if these have one type.
    let input = "L0(i0, i1):
p2 = new(Array, 2)
put_item(p2, 1, i0, Array:int)
put_item(p2, 2, i1, Array:int)
i3 = get_item(p2, i0, Array:int)
finish(i3)
";
    let chosen = "L0(i0, i1):
i2 = int_sub(i0, 1)
i4 = uint_lt(i2, 2)
guard_true(i4)
i5 = int_eq(i2, 1)
i3 = select(i5, i1, i0)
finish(i3)
";
    figure(ALONE, input, chosen);
}

/// An array that goes round the loop is passed item by item.
#[test]
fn b12_arrays_across_the_jump() {
    listing(
        PEELED,
        "L0(p0, i1):
i2 = get_item(p0, 1, Array:int)
i3 = get_item(p0, 2, Array:int)
i4 = int_add(i2, i3)
p5 = new(Array, 2)
put_item(p5, 1, i3, Array:int)
put_item(p5, 2, i4, Array:int)
jump(L0, p5, i1)
",
        "L0(p0, i1):
i2 = get_item(p0, 1, Array:int)
i3 = get_item(p0, 2, Array:int)
i4 = int_add(i2, i3)
jump(L1, i3, i4, i1)
L1(i3, i4, i1):
i8 = int_add(i3, i4)
jump(L1, i4, i8, i1)
",
    );
}

#[test]
fn b12_more_than_two_fields() {
    let input = "L0(i0, f1, p2):\np3 = new(Triple)\nset(p3, a, i0)\nset(p3, b, f1)\nset(p3, c, p2)\ni4 = get(p3, a)\n\
                 f5 = get(p3, b)\np6 = get(p3, c)\nfinish(i4, f5, p6)\n";
    listing(ALONE, input, "L0(i0, f1, p2):\nfinish(i0, f1, p2)\n");
}

/// An interpreter that keeps its variables in a frame on the heap: a call's frame is made, filled, read and
/// dropped. It stays virtual although guards inside the call see it, and so does all that is stored in it
/// ("every time an object is stored into a local variable, it is stored into the frame-object, which makes it
/// escape").
#[test]
fn b12_frames_on_the_heap() {
    let input = "layout Frame { back: ref, local0: ref, local1: ref, alloc make }
L0(p0, i1):
p2 = new(BoxedInteger)
set(p2, intval, i1)
p3 = new(Frame)
set(p3, back, p0)
set(p3, local0, p2)
p4 = get(p3, local0)
guard_class(p4, BoxedInteger)
i5 = get(p4, intval)
i6 = int_add(i5, 1)
p7 = new(BoxedInteger)
set(p7, intval, i6)
set(p3, local1, p7)
@0 = frame[0: ref p3]
i8 = int_lt(i6, 100)
guard_true(i8) @0
p9 = get(p3, local1)
i10 = get(p9, intval)
p11 = get(p3, back)
jump(L0, p11, i10)
";
    listing(
        ALONE,
        input,
        "L0(p0, i1):
i6 = int_add(i1, 1)
@0 = frame[0: ref v0]
    virtual v0 Frame{back: p0, local0: v1, local1: v2}
    virtual v1 BoxedInteger{intval: i1}
    virtual v2 BoxedInteger{intval: i6}
i8 = int_lt(i6, 100)
guard_true(i8) @0
jump(L0, p0, i6)
",
    );
}

/// The frame of the loop itself: made anew by each iteration, as a continuation is, it stays virtual round
/// the loop.
#[test]
fn b12_frames_across_the_jump() {
    let input = "layout Frame { pc: int, local0: ref, alloc make }
L0(p0):
guard_class(p0, Frame)
p1 = get(p0, local0)
guard_class(p1, BoxedInteger)
i2 = get(p1, intval)
i3 = int_add(i2, 1)
p4 = new(BoxedInteger)
set(p4, intval, i3)
p5 = new(Frame)
set(p5, pc, 12)
set(p5, local0, p4)
jump(L0, p5)
";
    let out = optimized(PEELED, &parse(input));
    assert_eq!(loop_ops(&out.trace), [Op::IntAdd, Op::Jump]);
}
