//! A12: which writes may change what was read. Footnote 3 of seed 000: alias analysis by type, and "writes on
//! newly allocated objects can never change the value of old existing ones".
//!
//! Problem: an analysis that is too bold gives wrong results, one that is too timid removes nothing; both
//! must show. Design: each trace is optimized with record operations kept, where the listing is compared, and
//! expanded, where the loop's loads are counted. Invariant: for each pair of accesses that cannot meet there
//! is one that can, with the same listing but for that. Example: `set(p1, intval, …)` keeps `get(p0, left)`
//! known, and not `get(p0, intval)`.

use tracelift_core::Op;
use tracelift_opt::Config;

use crate::support::{in_loop, listing, optimized_by, parse};

const PASSES: &str = "-all,+peel,+cse,+load_forward,+store_forward";

/// Loads of a field in the loop once everything is expanded.
fn loads(input: &str) -> usize {
    let file = parse(input);
    let config = Config::parse(PASSES).expect("the passes exist");
    in_loop(&optimized_by(&config, &file.traces[0], &file.schema).trace, Op::Load)
}

#[test]
fn a12_a_write_to_another_field_keeps_what_was_read() {
    let input = "L0(p0, p1, p2):
p3 = get(p0, left)
call(seen, p3)
set(p1, right, p2)
jump(L0, p0, p1, p2)
";
    listing(
        PASSES,
        input,
        "L0(p0, p1, p2):
p3 = get(p0, left)
call(seen, p3)
set(p1, right, p2)
jump(L1, p0, p1, p2, p3)
L1(p0, p1, p2, p3):
call(seen, p3)
set(p1, right, p2)
jump(L1, p0, p1, p2, p3)
",
    );
    assert_eq!(loads(input), 0);
}

#[test]
fn a12_a_write_to_an_object_of_another_type_keeps_what_was_read() {
    let input = "L0(p0, p1, f2):
i3 = get(p0, intval)
call(print, i3)
set(p1, floatval, f2)
jump(L0, p0, p1, f2)
";
    let optimized = listing(
        PASSES,
        input,
        "L0(p0, p1, f2):
i3 = get(p0, intval)
call(print, i3)
set(p1, floatval, f2)
jump(L1, p0, p1, f2, i3)
L1(p0, p1, f2, i3):
call(print, i3)
set(p1, floatval, f2)
jump(L1, p0, p1, f2, i3)
",
    );
    assert_eq!((optimized.report.fired("load_seen"), loads(input)), (1, 0));
}

/// The same field of an object that may be the same one: the read stays, and reads what was stored where it
/// was.
#[test]
fn a12_a_write_that_may_alias_makes_the_read_stay() {
    let input = "L0(p0, p1, i2):
i3 = get(p0, intval)
call(print, i3)
set(p1, intval, i2)
jump(L0, p0, p1, i2)
";
    let optimized = listing(
        PASSES,
        input,
        "L0(p0, p1, i2):
i3 = get(p0, intval)
call(print, i3)
set(p1, intval, i2)
jump(L1, p0, p1, i2)
L1(p0, p1, i2):
i4 = get(p0, intval)
call(print, i4)
set(p1, intval, i2)
jump(L1, p0, p1, i2)
",
    );
    assert_eq!((optimized.report.fired("load_seen"), loads(input)), (0, 1));
}

/// The write of a new object's field changes nothing that an older object holds.
#[test]
fn a12_a_write_to_a_new_object_keeps_what_was_read() {
    let input = "L0(p0, i1):
i2 = get(p0, intval)
p3 = new(BoxedInteger)
set(p3, intval, i1)
call(seen, p3)
i4 = get(p0, intval)
call(print, i4)
jump(L0, p0, i1)
";
    let file = parse(input);
    let optimized = optimized_by(&crate::support::config(PASSES), &file.traces[0], &file.schema);
    assert_eq!(in_loop(&optimized.trace, Op::Get), 0, "the new object is no older one");
    assert_eq!(loads(input), 0);
    // An object that was told to the host before the write may be any that is read later; the old one still
    // differs.
    let told =
        input.replace("set(p3, intval, i1)\ncall(seen, p3)\n", "call(seen, p3)\nset(p3, intval, i1)\n");
    assert_eq!(loads(&told), 0);
    // But an object that was read from somewhere after that may be the new one: all three reads stay.
    let read_back = "func anything(ref) anything
L0(p0, i1):
p2 = new(BoxedInteger)
call(anything, p2)
p3 = get(p0, left)
i4 = get(p3, intval)
set(p2, intval, i1)
i5 = get(p3, intval)
i6 = int_add(i4, i5)
call(print, i6)
jump(L0, p0, i1)
";
    assert_eq!(loads(read_back), 3);
    let file = parse(read_back);
    let optimized = optimized_by(&crate::support::config(PASSES), &file.traces[0], &file.schema);
    assert_eq!(in_loop(&optimized.trace, Op::Get), 3);
}

/// A call that declares nothing but output changes no object; one that may write everything changes all.
#[test]
fn a12_calls_change_what_they_declare() {
    let input = "L0(p0):\ni1 = get(p0, intval)\ncall(print, i1)\njump(L0, p0)\n";
    assert_eq!(loads(input), 0);
    let declared = "func anything(int) anything\n";
    assert_eq!(loads(&format!("{declared}{}", input.replace("print", "anything"))), 1);
}
