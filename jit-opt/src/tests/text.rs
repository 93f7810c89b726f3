//! Trace in, trace out: the smallest trace that shows each expansion and each rule about guards.

use expect_test::{expect, Expect};
use tracelift_core::eval::{Evaluator, Limits};
use tracelift_core::planted::{with_planted, Bug};
use tracelift_core::testbed::standard_schema;
use tracelift_core::text::{parse_file, parse_trace, print_trace};
use tracelift_core::world::World;
use tracelift_core::world_spec::WorldSpec;

use super::optimized_text;
use crate::{optimize, Config, Optimized};

fn check(config: &str, input: &str, expect: Expect) -> Optimized {
    let schema = standard_schema();
    let optimized = optimized_text(&Config::parse(config).unwrap(), input, &schema);
    expect.assert_eq(&print_trace(&optimized.trace, &schema));
    optimized
}

/// Expansion alone.
fn check_expand(input: &str, expect: Expect) {
    check("-all", input, expect);
}

/// Everything on.
fn check_opt(input: &str, expect: Expect) -> Optimized {
    check("", input, expect)
}

#[test]
fn an_item_is_read_behind_its_bound_and_its_tag() {
    check_expand(
        "L0(p0, i1):\ni2 = get_item(p0, i1, Table:int)\nfinish(i2)\n",
        expect![[r#"
        L0(p0, i1):
        i3 = int_sub(i1, 1)
        i4 = load(p0, table.count)
        i5 = uint_lt(i3, i4)
        guard_true(i5)
        a6 = load(p0, table.items)
        a7 = item_addr(a6, i3, 16, 0)
        i8 = load(a7, item.tag)
        guard_value(i8, 3)
        i2 = load(a7, item.value.int)
        finish(i2)
    "#]],
    );
    // No payload: the tag guard is all.
    check_expand(
        "L0(p0, i1):\nget_item(p0, i1, Table:nil)\nfinish()\n",
        expect![[r#"
        L0(p0, i1):
        i3 = int_sub(i1, 1)
        i4 = load(p0, table.count)
        i5 = uint_lt(i3, i4)
        guard_true(i5)
        a6 = load(p0, table.items)
        a7 = item_addr(a6, i3, 16, 0)
        i8 = load(a7, item.tag)
        guard_value(i8, 32)
        finish()
    "#]],
    );
    check_expand(
        "L0(p0, i1):\nf2 = get_item(p0, i1, FloatArray)\nfinish(f2)\n",
        expect![[r#"
        L0(p0, i1):
        i3 = int_sub(i1, 0)
        i4 = load(p0, floatarray.count)
        i5 = uint_lt(i3, i4)
        guard_true(i5)
        a6 = load(p0, floatarray.base)
        a7 = item_addr(a6, i3, 8, 0)
        f2 = load(a7, floatarray.value.float)
        finish(f2)
    "#]],
    );
}

#[test]
fn an_item_is_written_when_it_is_there() {
    check_expand(
        "L0(p0, i1):\nset_item(p0, i1, 7, Table:int)\nfinish()\n",
        expect![[r#"
        L0(p0, i1):
        i3 = int_sub(i1, 1)
        i4 = load(p0, table.count)
        i5 = uint_lt(i3, i4)
        guard_true(i5)
        a6 = load(p0, table.items)
        a7 = item_addr(a6, i3, 16, 0)
        i8 = load(a7, item.tag)
        i10 = int_eq(i8, 32)
        guard_false(i10)
        store(a7, item.value.int, 7)
        store(a7, item.tag, 3)
        finish()
    "#]],
    );
    check_expand(
        "L0(p0, i1):\nput_item(p0, i1, Table:nil)\nfinish()\n",
        expect![[r#"
        L0(p0, i1):
        i3 = int_sub(i1, 1)
        i4 = load(p0, table.count)
        i5 = uint_lt(i3, i4)
        guard_true(i5)
        a6 = load(p0, table.items)
        a7 = item_addr(a6, i3, 16, 0)
        store(a7, item.tag, 32)
        finish()
    "#]],
    );
}

#[test]
fn a_reference_is_stored_behind_the_barrier() {
    // The value may be null: then it has no header to look at.
    check_expand(
        "L0(p0, p1):\nset(p0, Pair.first, p1)\nfinish()\n",
        expect![[r#"
        L0(p0, p1):
        i2 = load(p0, header.mark)
        i4 = int_and(i2, 1)
        i5 = ref_is_null(p1)
        p6 = select(i5, p0, p1)
        i7 = load(p6, header.mark)
        i10 = select(i5, 0, 2)
        i11 = int_and(i7, i10)
        i12 = int_ne(i4, 0)
        i13 = int_ne(i11, 0)
        i14 = int_and(i12, i13)
        guard_false(i14)
        store(p0, Pair.first, p1)
        finish()
    "#]],
    );
    check_opt(
        "L0(p0, p1):\nguard_nonnull(p1)\nset(p0, Pair.first, p1)\nset(p0, Pair.second, null)\nfinish()\n",
        expect![[r#"
            L0(p0, p1):
            guard_nonnull(p1)
            i2 = load(p0, header.mark)
            i4 = int_and(i2, 1)
            i5 = load(p1, header.mark)
            i7 = int_and(i5, 2)
            i9 = int_ne(i4, 0)
            i10 = int_ne(i7, 0)
            i11 = int_and(i9, i10)
            guard_false(i11)
            store(p0, Pair.first, p1)
            store(p0, Pair.second, null)
            finish()
        "#]],
    );
}

#[test]
fn a_key_is_found_by_hint_or_by_call() {
    check_expand(
        "L0(p0):\ni1 = get_key(p0, @1, Table:int) hint 4 2\nfinish(i1)\n",
        expect![[r#"
        L0(p0):
        i14 = load(p0, table.size)
        guard_value(i14, 4)
        a3 = load(p0, table.entries)
        a5 = addr_add(a3, 48)
        i6 = load(a5, entry.key_tag)
        guard_value(i6, 133)
        p8 = load(a5, entry.key)
        guard_value(p8, @1)
        i10 = load(a5, entry.tag)
        guard_value(i10, 3)
        i1 = load(a5, entry.value.int)
        finish(i1)
    "#]],
    );
    check_expand(
        "L0(p0):\ni1 = get_key(p0, @1, Table:int)\nfinish(i1)\n",
        expect![[r#"
        L0(p0):
        a1 = context()
        a4 = call(world.find, a1, 4, p0, @1)
        guard_nonnull(a4)
        i5 = load(a4, entry.tag)
        guard_value(i5, 3)
        i1 = load(a4, entry.value.int)
        finish(i1)
    "#]],
    );
    check_expand(
        "L0(p0):\nset_key(p0, @1, 5, Table:int) hint 4 0\nfinish()\n",
        expect![[r#"
        L0(p0):
        i1 = load(p0, table.size)
        guard_value(i1, 4)
        a3 = load(p0, table.entries)
        a5 = addr_add(a3, 0)
        i6 = load(a5, entry.key_tag)
        guard_value(i6, 133)
        p8 = load(a5, entry.key)
        guard_value(p8, @1)
        i10 = load(a5, entry.tag)
        i12 = int_eq(i10, 32)
        guard_false(i12)
        store(a5, entry.value.int, 5)
        store(a5, entry.tag, 3)
        finish()
    "#]],
    );
}

#[test]
fn a_key_is_inserted_where_it_is_absent() {
    check_expand(
        "L0(p0):\nguard_key_absent(p0, @1, Table:nil)\ninsert_key(p0, @1, 5, Table:int)\nfinish()\n",
        expect![[r#"
            L0(p0):
            a1 = context()
            a4 = call(world.find, a1, 4, p0, @1)
            guard_null(a4)
            a5 = try_call(world.insert, a1, 4, p0, @1)
            store(a5, entry.value.int, 5)
            store(a5, entry.tag, 3)
            finish()
        "#]],
    );
}

#[test]
fn a_record_is_made_by_its_allocator() {
    check(
        "-virtuals",
        "L0(i0):\np1 = new(BoxedInteger)\nset(p1, BoxedInteger.intval, i0)\nguard_class(p1, BoxedInteger)\n\
         i2 = get(p1, BoxedInteger.intval)\nfinish(i2)\n",
        expect![[r#"
            L0(i0):
            a1 = context()
            p1 = try_call(world.alloc, a1, 0, 0, 0)
            store(p1, BoxedInteger.intval, i0)
            finish(i0)
        "#]],
    );
}

#[test]
fn a_layout_without_allocator_is_an_ordinary_error() {
    let source = "layout Box { x: int }\ntrace t\nL0():\np0 = new(Box)\nfinish(p0)\n";
    let file = parse_file(source, &|_| None).unwrap();
    let error = optimize(&file.traces[0], &file.schema, &Config::new()).unwrap_err();
    assert_eq!(error.to_string(), "layout `Box` has no allocator");
    let kept = optimize(&file.traces[0], &file.schema, &Config::new().keeping_records()).unwrap();
    assert_eq!(kept.trace.insts.len(), 3);
}

#[test]
fn a_class_is_guarded_once() {
    let optimized = check_opt(
        "L0(p0):\nguard_class(p0, BoxedInteger)\nguard_class(p0, BoxedInteger)\nfinish()\n",
        expect![[r#"
            L0(p0):
            i1 = load(p0, header.class)
            guard_value(i1, 17)
            finish()
        "#]],
    );
    assert_eq!(optimized.report.fired("class_known"), 1);
    let optimized = check_opt(
        "L0(p0):\nguard_class(p0, BoxedInteger)\nguard_class(p0, BoxedFloat)\n\
         f1 = get(p0, BoxedFloat.floatval)\nfinish(f1)\n",
        expect![[r#"
            L0(p0):
            i1 = load(p0, header.class)
            guard_value(i1, 17)
            guard_always_fails()
            f1 = load(p0, BoxedFloat.floatval)
            finish(f1)
        "#]],
    );
    assert_eq!(optimized.report.fired("class_other"), 1);
}

#[test]
fn a_bound_is_tested_once() {
    check_opt(
        "L0(i0, i1):\ni2 = int_lt(i0, i1)\nguard_true(i2)\ni3 = int_lt(i0, i1)\nguard_true(i3)\n\
         i4 = int_ge(i0, i1)\nguard_false(i4)\ni5 = int_ne(i0, i1)\nfinish(i5)\n",
        expect![[r#"
            L0(i0, i1):
            i2 = int_lt(i0, i1)
            guard_true(i2)
            finish(1)
        "#]],
    );
}

#[test]
fn a_guarded_value_is_its_constant_in_all_that_follows() {
    check_opt(
        "L0(i0, f1):\n@0 = frame(base 0, words 1 2)[0: int i0]\ni2 = int_eq(i0, 7)\nguard_true(i2) @0\n\
         guard_value(f1, 0.5)\n@1 = frame(base 0, words 1 3)[0: int i0, 1: float f1]\n\
         i3 = int_add(i0, 1)\ni4 = int_lt(i3, i0)\nguard_false(i4) @1\nf5 = float_add(f1, f1)\n\
         finish(i3, f5) @1\n",
        expect![[r#"
            L0(i0, f1):
            @0 = frame(words 1 2)[0: int i0]
            guard_value(i0, 7) @0
            guard_value(f1, 0.5)
            @1 = frame(words 1 3)[0: int 7, 1: float 0.5]
            finish(8, 1.0) @1
        "#]],
    );
}

#[test]
fn a_guard_that_cannot_hold_stays_in_its_place() {
    check_opt(
        "L0(i0):\nguard_value(i0, 3)\ni1 = int_mul(i0, 2)\nguard_value(i1, 7)\ni2 = int_add_ovf(i1, i1)\n\
         i3 = int_add_ovf(9223372036854775807, i1)\nfinish(i2, i3)\n",
        expect![[r#"
            L0(i0):
            guard_value(i0, 3)
            guard_always_fails()
            guard_always_fails()
            finish(12, 0)
        "#]],
    );
}

#[test]
fn of_two_equal_pointers_the_earlier_stands_for_both() {
    // Not yet in the guard's own snapshot.
    let optimized = check_opt(
        "L0(p0, p1):\nguard_class(p1, BoxedInteger)\ni2 = get(p1, BoxedInteger.intval)\n\
         @0 = frame(base 0, words 1 2)[0: ref p0, 1: ref p1]\ni3 = ref_eq(p1, p0)\nguard_true(i3) @0\n\
         guard_class(p0, BoxedInteger)\ni4 = get(p0, BoxedInteger.intval)\nset(p1, BoxedInteger.intval, 5)\n\
         i5 = get(p0, BoxedInteger.intval)\n@1 = frame(base 0, words 1 3)[0: ref p0, 1: ref p1]\n\
         finish(i2, i4, i5) @1\n",
        expect![[r#"
            L0(p0, p1):
            i9 = load(p1, header.class)
            guard_value(i9, 17)
            i2 = load(p1, BoxedInteger.intval)
            @0 = frame(words 1 2)[0: ref p0, 1: ref p1]
            i3 = ref_eq(p1, p0)
            guard_true(i3) @0
            store(p0, BoxedInteger.intval, 5)
            @1 = frame(words 1 3)[0: ref p0, 1: ref p0]
            finish(i2, i2, 5) @1
        "#]],
    );
    assert_eq!(optimized.report.fired("pointer_known"), 1);
    // Three of them, by whatever compare.
    check_opt(
        "L0(p0, p1, p2):\ni3 = ref_ne(p1, p2)\nguard_false(i3)\ni4 = ref_eq(p0, p1)\nguard_true(i4)\n\
         i5 = ref_eq(p2, p0)\nguard_true(i5)\ni6 = get(p0, BoxedInteger.intval)\n\
         i7 = get(p2, BoxedInteger.intval)\nfinish(i6, i7)\n",
        expect![[r#"
            L0(p0, p1, p2):
            i3 = ref_ne(p1, p2)
            guard_false(i3)
            i4 = ref_eq(p0, p1)
            guard_true(i4)
            i6 = load(p0, BoxedInteger.intval)
            finish(i6, i6)
        "#]],
    );
    check_opt(
        "L0(a0, a1):\ni2 = addr_eq(a0, a1)\nguard_true(i2)\na3 = addr_add(a0, 8)\na4 = addr_add(a1, 8)\n\
         finish(a3, a4)\n",
        expect![[r#"
            L0(a0, a1):
            i2 = addr_eq(a0, a1)
            guard_true(i2)
            a3 = addr_add(a0, 8)
            finish(a3, a3)
        "#]],
    );
    // What ends up as a constant is that constant under both names.
    check_opt(
        "L0(p0, p1):\ni2 = ref_eq(p0, p1)\nguard_true(i2)\nguard_null(p1)\ni3 = ref_is_null(p0)\nfinish(i3)\n",
        expect![[r#"
            L0(p0, p1):
            i2 = ref_eq(p0, p1)
            guard_true(i2)
            guard_null(p0)
            finish(1)
        "#]],
    );
}

#[test]
fn pointers_that_may_differ_keep_their_names() {
    // The guard says that they differ; the compare was not guarded; it was, but only the preamble's pointers.
    for (compare, guard) in [("ref_eq", "guard_false(i2)"), ("ref_ne", "guard_true(i2)"), ("ref_eq", "")] {
        let guard = if guard.is_empty() { String::new() } else { format!("{guard}\n") };
        let input = format!(
            "L0(p0, p1):\ni2 = {compare}(p0, p1)\n{guard}i3 = load(p0, BoxedInteger.intval)\n\
             i4 = load(p1, BoxedInteger.intval)\nfinish(i2, i3, i4)\n"
        );
        let optimized = optimized_text(&Config::new(), &input, &standard_schema());
        assert_eq!(optimized.report.fired("pointer_known"), 0, "{input}");
        assert_eq!(optimized.trace.insts.len(), input.lines().count(), "{input}");
    }
    check_opt(
        "L0(p0, p1):\ni2 = ref_eq(p0, p1)\nguard_true(i2)\njump(L1, p0, p1)\nL1(p3, p4):\n\
         i5 = load(p3, BoxedInteger.intval)\ni6 = load(p4, BoxedInteger.intval)\nfinish(i5, i6)\n",
        expect![[r#"
            L0(p0, p1):
            i2 = ref_eq(p0, p1)
            guard_true(i2)
            jump(L1, p0, p0)
            L1(p3, p4):
            i5 = load(p3, BoxedInteger.intval)
            i6 = load(p4, BoxedInteger.intval)
            finish(i5, i6)
        "#]],
    );
}

/// Two fields are found to hold one object: the loop neither compares them again nor loads from it.
#[test]
fn a_loop_uses_what_its_guard_says_of_pointers() {
    check(
        "-virtuals",
        "L0(p0, p1, i2):\np3 = load(p0, Pair.first)\np4 = load(p1, Pair.second)\ni5 = ref_eq(p3, p4)\n\
         guard_true(i5)\ni6 = load(p4, BoxedInteger.intval)\ni7 = int_add(i2, i6)\njump(L0, p0, p1, i7)\n",
        expect![[r#"
            L0(p0, p1, i2):
            p3 = load(p0, Pair.first)
            p4 = load(p1, Pair.second)
            i5 = ref_eq(p3, p4)
            guard_true(i5)
            i6 = load(p3, BoxedInteger.intval)
            i7 = int_add(i2, i6)
            jump(L1, p0, p1, i7, i6)
            L1(p0, p1, i7, i6):
            i12 = int_add(i7, i6)
            jump(L1, p0, p1, i12, i6)
        "#]],
    );
}

const PEELED: &str = "L0(i0):\nguard_value(i0, 3)\njump(L1, i0)\nL1(i1):\ni2 = int_sub(i1, 1)\n\
                      guard_true(i2)\njump(L1, i2)\n";

#[test]
fn facts_die_at_a_label_that_is_not_the_entry() {
    check_opt(
        PEELED,
        expect![[r#"
        L0(i0):
        guard_value(i0, 3)
        jump(L1, 3)
        L1(i1):
        i2 = int_add(i1, -1)
        guard_true(i2)
        jump(L1, i2)
    "#]],
    );
    // From 3 the loop counts down and ends; with the planted bug it believes in 3 for ever.
    let schema = std::sync::Arc::new(standard_schema());
    let iterations = || {
        let trace = optimized_text(&Config::new(), PEELED, &schema).trace;
        let mut world = World::build(&WorldSpec::default(), &schema);
        let limits = Limits { steps: 1_000, ..Limits::default() };
        Evaluator::new(&trace, &schema).run(&mut world, &[3], limits).unwrap().iteration
    };
    assert_eq!(iterations(), 3);
    assert!(with_planted(Bug::GuardForgottenAcrossLabel, iterations) > 100);
}

#[test]
fn nothing_is_shared_across_a_label() {
    check(
        "-virtuals",
        "L0(p0):\np1 = new(BoxedInteger)\njump(L1, p0)\nL1(p2):\np3 = new(BoxedInteger)\njump(L1, p3)\n",
        expect![[r#"
            L0(p0):
            a1 = context()
            p1 = try_call(world.alloc, a1, 0, 0, 0)
            jump(L1, p0)
            L1(p2):
            a5 = context()
            p3 = try_call(world.alloc, a5, 0, 0, 0)
            jump(L1, p3)
        "#]],
    );
}

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
    expect![[r#"[("recorded", 5), ("virtuals", 5), ("guards", 5), ("expand", 5), ("fold", 4), ("cse", 4), ("guards", 4), ("bounds", 4), ("heap", 4)]"#]]
        .assert_eq(&format!("{sizes:?}"));
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
