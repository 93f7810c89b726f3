//! Bounds of indexes: what holds for families of loops and of constants.
//!
//! Problem: single loops stand in `tests/traces/opt` (`bounds-…`), but what goes wrong with bounds goes
//! wrong for one step, one constant or one size. Design: count the guards before each loop of a family, and
//! run all small loops as recorded and as optimized. Invariant: what is hoisted changes nothing, and a loop
//! that stays inside is not left by it. Example: no guard stands for a loop in steps of 3.

use std::sync::Arc;

use tracelift_core::eval::{compare_with_recorded, may_end_as, End, Evaluator, Limits, Outcome};
use tracelift_core::testbed::{natives, standard_schema};
use tracelift_core::text::{parse_file, print_trace, RunValue};
use tracelift_core::world::World;
use tracelift_core::{ExitKind, Trace};

use super::{halves, optimized, optimized_text};
use crate::Config;

/// How many guards stand before the loop for others in it, without the pass `ranges`, which knows some too,
/// and how many compares of bounds the loop has.
fn counts(input: &str) -> (usize, usize) {
    let (before, body) = halves("-ranges", input);
    let compares = ["uint_lt(", "uint_ge(", "int_lt(", "int_le(", "int_gt(", "int_ge("];
    let in_loop = |line: &&str| compares.iter().any(|compare| line.contains(compare));
    (before.matches("hoisted").count(), body.lines().filter(in_loop).count())
}

/// A loop that takes `index`, what it counts down in `i2`, and two more integers, and ends by going on with
/// these; `i7` is the count of the table `p0`, `body` may use values from `i20` on.
fn looping(body: &str, guard: &str, next: &str) -> String {
    format!(
        "L0(p0, i1, i2, i3, i4):\n@0 = frame(words 1 2)[0: int i1, 1: int i2]\ni7 = load(p0, table.count)\n{body}\n{guard}\n\
         {next}\n"
    )
}

/// The guard on the counter, and the usual way on.
const COUNTED: &str = "guard_true(i2) @0 loop_end";
const ON: &str = "i8 = int_sub(i2, 1)\ni9 = int_add(i1, 1)\njump(L0, p0, i9, i8, i3, i4)";

/// An access to `i1` below the table's count.
const ACCESS: &str = "i20 = uint_lt(i1, i7)\nguard_true(i20) @0";

/// A loop over items `i - 1` and `i + plus` of a table, that counts down and takes these steps.
fn counted(step: i64, plus: i64) -> String {
    let body = format!(
        "i20 = int_add(i1, -1)\ni21 = uint_lt(i20, i7)\nguard_true(i21) @0\ni22 = int_add(i1, {plus})\ni23 = uint_lt(i22, i7)\n\
         guard_true(i23) @0"
    );
    let next = format!("i8 = int_sub(i2, 1)\ni9 = int_add(i1, {step})\njump(L0, p0, i9, i8, i3, i4)");
    looping(&body, COUNTED, &next)
}

#[test]
fn steps_that_are_no_power_of_two_are_tested_each_time() {
    for step in [3, 5, -3, 6, 1 << 31, i64::MIN, i64::MAX] {
        assert_eq!(counts(&counted(step, 0)).0, 0, "step {step}");
        assert!(counts(&counted(step, 0)).1 > 0, "step {step}");
    }
}

#[test]
fn a_limit_that_is_tested_first_says_how_far_the_loop_goes() {
    let limited = |guard: &str, step: &str| {
        let next = ON.replace("int_add(i1, 1)", &format!("int_add(i1, {step})"));
        counts(&looping(
            &format!("{guard}\n{ACCESS}"),
            "i60 = int_lt(i4, 5)\nguard_true(i60) @0 loop_end",
            &next,
        ))
    };
    let guard = |compare: &str| format!("i50 = {compare}\nguard_true(i50) @0 loop_end");
    // What is left are the limit itself and the guard at the end.
    for compare in
        ["int_le(i1, i3)", "int_lt(i1, i3)", "int_gt(i3, i1)", "int_ge(i3, i1)", "int_le(i1, 1000)"]
    {
        for step in ["1", "3"] {
            let (hoisted, tests) = limited(&guard(compare), step);
            assert!(hoisted == 1 && tests <= 2, "{compare} {step}: {tests}");
        }
    }
    // Downward, from the other side, of another value, and after the access: no limit.
    assert_eq!(limited(&guard("int_le(i1, i3)"), "-1").0, 0);
    for compare in ["int_ge(i1, i3)", "int_le(i3, i1)", "int_le(i4, i3)", "uint_le(i1, i3)"] {
        assert_eq!(limited(&guard(compare), "1").0, 0, "{compare}");
    }
    let behind = format!("{ACCESS}\n{}", guard("int_le(i1, i3)"));
    assert_eq!(counts(&looping(&behind, "", ON.trim_start())).0, 0);
}

#[test]
fn a_limit_needs_a_bound_that_is_small() {
    // The index could wrap around before it comes to the limit, if the bound were at the end of the range.
    let body = |bound: &str| {
        format!(
            "i50 = int_le(i1, i3)\nguard_true(i50) @0 loop_end\ni20 = int_lt(i1, 0)\nguard_false(i20) @0\n\
             i21 = int_ge(i1, {bound})\nguard_false(i21) @0"
        )
    };
    let hoisted = |bound: &str| counts(&looping(&body(bound), "", ON)).0;
    assert_eq!([hoisted("i4"), hoisted("4294967296"), hoisted("9223372036854775807")], [0, 0, 0]);
    assert_eq!([hoisted("i7"), hoisted("4294967295"), hoisted("10")], [1, 1, 1]);
}

/// `x < 0 or x >= width` after accesses on both sides of `x`: that it is not negative is known already.
#[test]
fn a_bound_is_hoisted_where_others_say_that_the_index_is_not_negative() {
    let tests = |window: &str| {
        let body = format!(
            "{window}\ni40 = int_lt(i1, 0)\nguard_false(i40) @0\ni41 = int_ge(i1, i3)\nguard_false(i41) @0"
        );
        counts(&looping(&body, COUNTED, ON))
    };
    let item = |plus: i64, index: u32| {
        let test = index + 1;
        format!("i{index} = int_add(i1, {plus})\ni{test} = uint_lt(i{index}, i7)\nguard_true(i{test}) @0")
    };
    assert_eq!(tests(&format!("{}\n{}", item(-1, 20), item(1, 22))), (2, 0));
    assert_eq!(tests(""), (1, 0));
}

/// Without the pass `ranges`: the compares of a trace without a loop, and what became of the value that it
/// finishes with.
fn finished(body: &str) -> String {
    let schema = standard_schema();
    let input = format!(
        "L0(p0, i1, i2):\n@0 = frame(words 1 2)[0: int i1]\ni7 = load(p0, table.count)\n{body}\nfinish(i9)\n"
    );
    let config = Config::parse("-ranges").unwrap();
    let text = print_trace(&optimized_text(&config, &input, &schema).trace, &schema);
    let last = text.lines().rev().find(|line| line.contains("finish(")).unwrap_or_else(|| panic!("{text}"));
    last.trim().to_string()
}

/// A sum of `i1`, the compare with it, and the guard that it holds.
fn inside(plus: i64, number: u32) -> String {
    let (sum, compare) = (number, number + 1);
    format!("i{sum} = int_add(i1, {plus})\ni{compare} = uint_lt(i{sum}, i7)\nguard_true(i{compare}) @0\n")
}

#[test]
fn constants_of_sums_do_not_wrap_around() {
    let far = i64::from(u32::MAX);
    for plus in [1 << 31, -(1 << 31), far, i64::MAX, i64::MIN] {
        let both = format!("{}{}", inside(plus, 20), inside(1, 30));
        assert_eq!(finished(&format!("{both}i9 = uint_lt(i1, i7)")), "finish(i9)", "{plus}");
    }
    let near = (1 << 31) - 1;
    let both = format!("{}{}", inside(-near, 20), inside(near, 30));
    assert_eq!(finished(&format!("{both}i9 = uint_lt(i1, i7)")), "finish(1)");
}

/// A loop over a row of `size` items, whose count has so many bytes: up or down in steps, `left` times, from
/// an index.
struct Walk {
    width: u8,
    step: i64,
    /// Constants with which items are read before and after the guard that ends the loop.
    before: &'static [i64],
    behind: &'static [i64],
    /// The guard that ends the loop.
    guard: &'static str,
}

impl Walk {
    fn file(&self, index: i64, left: i64, limit: i64, size: i64) -> String {
        let access = |at: usize, plus: &i64| {
            let (index, is_in) = (20 + 2 * at, 21 + 2 * at);
            format!(
                "i{index} = int_add(i1, {plus})\ni{is_in} = uint_lt(i{index}, i7)\nguard_true(i{is_in}) @0\n"
            )
        };
        let before: String = self.before.iter().enumerate().map(|(at, plus)| access(at, plus)).collect();
        let behind: String = self.behind.iter().enumerate().map(|(at, plus)| access(10 + at, plus)).collect();
        let (width, step, guard) = (self.width, self.step, self.guard);
        format!(
            "cell row.count: int @8 width {width} class row.count\nlayout Row {{ count: int }}\n\
             object row = Row {{ count: {size} }}\ntrace walk\nL0(p0, i1, i2, i3):\n\
             @0 = frame[0: int i1, 1: int i2]\ni7 = load(p0, row.count)\n{before}{guard}{behind}\
             i8 = int_sub(i2, 1)\ni9 = int_add(i1, {step})\njump(L0, p0, i9, i8, i3)\nrun: @row, {index}, {left}, {limit}\n"
        )
    }
}

const AT_THE_GUARD: &str = "guard_true(i2) @0 loop_end\n";
const BY_COMPARING: &str = "i50 = int_ne(i2, 0)\nguard_true(i50) @0 loop_end\n";
const TO_A_LIMIT: &str = "i51 = int_le(i1, i3)\nguard_true(i51) @0 loop_end\n";

fn walks() -> Vec<Walk> {
    let mut walks = Vec::new();
    for width in [4, 8] {
        for step in [1, 2, -1, -2] {
            for guard in [AT_THE_GUARD, BY_COMPARING, TO_A_LIMIT] {
                let places: [(&[i64], &[i64]); 8] = [
                    (&[0], &[]),
                    (&[], &[0]),
                    (&[-1], &[0]),
                    (&[0], &[-1, 1]),
                    (&[], &[-1, 0, 1]),
                    (&[1, -1], &[0]),
                    (&[0], &[0]),
                    (&[], &[1, -1]),
                ];
                walks.extend(places.map(|(before, behind)| Walk { width, step, before, behind, guard }));
            }
        }
    }
    walks
}

/// Runs a walk as recorded and as optimized; the kinds of their exits.
fn run_walk(source: &str, optimized: &crate::Optimized) -> (ExitKind, ExitKind) {
    let file = parse_file(source, &natives).unwrap_or_else(|error| panic!("{error}\n{source}"));
    let schema = Arc::new(file.schema.clone());
    let recorded = &file.traces[0];
    let run = |trace: &Trace, limits: Limits| {
        let mut world = World::build(&file.world, &schema);
        let bits = |input: &RunValue| match *input {
            RunValue::Object(number) => world.object_address(number),
            RunValue::Bits(_, bits) => bits,
            RunValue::Any => 0,
        };
        let inputs: Vec<u64> = file.runs[0].inputs.iter().map(bits).collect();
        let mut bound = trace.clone();
        bound.bind(|number| world.object_address(number));
        let outcome = Evaluator::new(&bound, &schema).run(&mut world, &inputs, limits);
        outcome.map(|outcome| (outcome, world)).map_err(|error| error.to_string())
    };
    let kind = |outcome: &Outcome| match outcome.end {
        End::Exit { kind, .. } => kind,
        _ => panic!("{outcome:?}\n{source}"),
    };
    let told = |what: String| format!("{what}\n{source}\n{}", print_trace(&optimized.trace, &schema));
    let (expected, _) = run(recorded, Limits::default()).unwrap_or_else(|what| panic!("{}", told(what)));
    let found = compare_with_recorded(&schema, recorded, &optimized.trace, None, run)
        .unwrap_or_else(|what| panic!("{}", told(what)));
    let has_delayed = optimized.report.has_delayed();
    assert!(may_end_as(recorded, has_delayed, &expected, &found), "{}", told(format!("{found:?}")));
    (kind(&expected), kind(&found))
}

/// All small loops: what is hoisted changes nothing, and a loop that stays inside is not left by it.
#[test]
fn loops_that_stay_inside_pass_the_guard_before_them() {
    let (mut hoisted, mut passed) = ([0, 0], 0);
    for walk in walks() {
        let shape = parse_file(&walk.file(0, 1, 1, 1), &natives).expect("the walk parses");
        let optimized = optimized(&Config::new(), &shape.traces[0], &shape.schema).expect("it is optimized");
        let has_guard = optimized.trace.insts.iter().any(|inst| inst.exit == ExitKind::Hoisted);
        hoisted[(walk.width == 8) as usize] += has_guard as u32;
        for size in 0..5 {
            for index in -2..6 {
                for left in 0..5 {
                    let limit = index + (left - 1) * walk.step;
                    let (recorded, found) = run_walk(&walk.file(index, left, limit, size), &optimized);
                    let stays_inside = recorded == ExitKind::LoopEnd;
                    // Accesses before the guard are made once more than those after it; one guard may stand
                    // for both.
                    let is_plain = walk.before.is_empty() || walk.behind.is_empty();
                    if stays_inside && is_plain {
                        assert_ne!(found, ExitKind::Hoisted, "{}", walk.file(index, left, limit, size));
                        passed += has_guard as u32;
                    }
                }
            }
        }
    }
    assert!(hoisted[0] > 50 && hoisted[1] >= hoisted[0], "counts of four bytes and of eight: {hoisted:?}");
    assert!(passed > 1000, "{passed}");
}

/// A loop over items whose index takes strides of an input, scaled by so much, beside an input that stays.
fn strides(scale: u8, guard: &str, before: bool, inputs: [i64; 5]) -> String {
    let access = "i20 = int_shl(i1, SCALE)\ni21 = int_shl(i3, SCALE)\ni22 = int_add(i20, i21)\n\
                  i23 = int_add(i22, 1)\ni24 = uint_lt(i23, i7)\nguard_true(i24) @0\n";
    let access = access.replace("SCALE", &scale.to_string());
    let (first, second) = if before { (access.as_str(), guard) } else { (guard, access.as_str()) };
    let [index, left, beside, stride, size] = inputs;
    format!(
        "cell row.count: int @8 width 4 class row.count\nlayout Row {{ count: int }}\n\
         object row = Row {{ count: {size} }}\ntrace strides\nL0(p0, i1, i2, i3, i4):\n\
         @0 = frame[0: int i1, 1: int i2]\ni7 = load(p0, row.count)\n{first}{second}\
         i8 = int_sub(i2, 1)\ni9 = int_add(i1, i4)\njump(L0, p0, i9, i8, i3, i4)\n\
         run: @row, {index}, {left}, {beside}, {stride}\n"
    )
}

/// An index that takes strides of a value is tested before the loop, too: it must rise, and not so far that
/// anything wraps around.
#[test]
fn strides_may_be_values() {
    let mut passed = 0;
    for (scale, guard, before) in
        [(0, AT_THE_GUARD, true), (0, BY_COMPARING, false), (1, AT_THE_GUARD, false), (2, AT_THE_GUARD, true)]
    {
        let file = |inputs| strides(scale, guard, before, inputs);
        let shape = parse_file(&file([0, 1, 0, 1, 1]), &natives).expect("the loop parses");
        let optimized = optimized(&Config::new(), &shape.traces[0], &shape.schema).expect("it is optimized");
        let text = print_trace(&optimized.trace, &shape.schema);
        let (preamble, body) = text.split_once("\nL1(").expect("it is peeled");
        assert!(preamble.contains("hoisted") && !body.contains("uint_lt("), "{text}");
        let half = 1 << 62;
        for size in [0, 1, 4, 7, 100] {
            for index in -1..5 {
                for left in [0, 1, 2, 3, 5] {
                    for (beside, stride) in
                        [(0, 1), (1, 1), (0, 2), (2, 3), (0, 0), (0, -1), (3, -2), (1, 20)]
                    {
                        let source = file([index, left, beside, stride, size]);
                        let (recorded, found) = run_walk(&source, &optimized);
                        if recorded == ExitKind::LoopEnd && stride > 0 {
                            assert_ne!(found, ExitKind::Hoisted, "{source}");
                            passed += 1;
                        }
                    }
                    for stride in [half, half + 1, 1 << 61, 1 << 31, 1 << 32, i64::MAX, i64::MIN, -half] {
                        run_walk(&file([index, left, 0, stride, size]), &optimized);
                    }
                }
            }
        }
    }
    assert!(passed > 300, "{passed}");
}

/// A count of eight bytes that is no count: below nothing but itself, without a sign.
#[test]
fn counts_of_eight_bytes_may_be_anything() {
    // Downward no limit ends a walk.
    let ends = |walk: &Walk| walk.width == 8 && !(walk.step < 0 && walk.guard == TO_A_LIMIT);
    for walk in walks().into_iter().filter(ends) {
        let shape = parse_file(&walk.file(0, 1, 1, 1), &natives).expect("the walk parses");
        let optimized = optimized(&Config::new(), &shape.traces[0], &shape.schema).expect("it is optimized");
        for size in [-1, i64::MIN, i64::MIN + 2, i64::MAX, 1 << 62, (1 << 62) - 1] {
            for index in [0, 1, -1, -3, i64::MAX - 2, i64::MAX, i64::MIN, i64::MIN + 1, (1 << 62) - 3] {
                // A limit at the end of the range is none.
                let near = |plus| {
                    index
                        .checked_add(plus)
                        .filter(|&limit| limit < i64::MAX)
                        .unwrap_or(index.saturating_sub(1))
                };
                for (left, limit) in [(3, near(3)), (1, near(0)), (5, i64::MIN)] {
                    run_walk(&walk.file(index, left, limit, size), &optimized);
                }
            }
        }
    }
}
