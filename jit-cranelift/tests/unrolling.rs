//! Short loops are lowered several times in a row: what leaves them, when and with what, is the same as
//! without.

mod common;

use common::*;
use tracelift_core::schema::{Cell, ClassId};
use tracelift_core::testbed::standard_schema;
use tracelift_core::text::parse_trace;
use tracelift_core::{ir::*, Op, Schema, Type};
use tracelift_cranelift::*;

/// Runs a trace with these inputs, unrolled and not, with prefetches and without, by each code generation
/// setting; returns exit, values and iterations, which all must agree on.
fn run(trace: &Trace, schema: &Schema, inputs: &[u64], mut prepare: impl FnMut()) -> (Outcome, u64) {
    let mut first = None;
    let settings = [
        (Target::Native, false, true),
        (Target::Native, false, false),
        (Target::Native, true, false),
        (Target::Baseline, false, false),
    ];
    for (target, optimize, quick) in settings {
        for (no_unrolling, no_prefetching) in [(true, true), (true, false), (false, true), (false, false)] {
            let options = Options {
                target,
                optimize,
                quick,
                no_unrolling,
                no_prefetching,
                verify: true,
                ..Options::default()
            };
            let mut harness = Harness::with(options);
            harness.iterations = Some(Box::new(0));
            prepare();
            let outcome = harness.run(trace, schema, inputs);
            let found = (outcome, **harness.iterations.as_ref().unwrap());
            assert_eq!(*harness.replaced, 7 * found.1, "copies count as iterations");
            let expected = first.get_or_insert_with(|| found.clone());
            assert_eq!(found, *expected, "{options:?}, {inputs:?}");
        }
    }
    first.unwrap()
}

/// What is made of a trace, as a listing.
fn listing(trace: &Trace, schema: &Schema, no_unrolling: bool) -> String {
    let options = Options {
        want_listing: true,
        no_unrolling,
        no_prefetching: true,
        verify: true,
        ..Options::default()
    };
    Harness::with(options).compile(trace, schema).listing.unwrap()
}

/// Adds up items of 8 bytes up to one that is negative, `i` counting up and `left` down; the exits hold
/// `[i, left, sum]`.
fn sum_of_items() -> (Trace, Schema) {
    let mut schema = Schema::new();
    let cell = schema.add_cell(Cell::new("item", 0, Type::Int, ClassId(1)));
    let mut trace = Trace::new("items");
    let inputs = trace.input(&[Type::Addr, Type::Int, Type::Int, Type::Int]);
    let [items, i, left, sum] = inputs[..] else { unreachable!() };
    let snap = Some(trace.snap(&[i, left, sum]));
    let place = Inst::new(Op::ItemAddr, &[items, i]).with(Payload::Scale { stride: 8, offset: 0 });
    let place = trace.push(place, Some(Type::Addr)).unwrap();
    let load = Inst::new(Op::Load, &[place]).with(Payload::Cell(cell));
    let item = trace.push(load, Some(Type::Int)).unwrap();
    let zero = trace.const_int(0);
    let negative = trace.op(Op::IntLt, &[item, zero], Type::Int);
    trace.guard(Op::GuardFalse, &[negative], snap);
    let sum2 = trace.op(Op::IntAdd, &[sum, item], Type::Int);
    let done = Some(trace.snap(&[i, left, sum2]));
    trace.push(Inst::new(Op::GuardTrue, &[left]).at(done).exit_kind(ExitKind::LoopEnd), None);
    let (one, less) = (trace.const_int(1), trace.const_int(-1));
    let i2 = trace.op(Op::IntAdd, &[i, one], Type::Int);
    let left2 = trace.op(Op::IntAdd, &[left, less], Type::Int);
    trace.jump(LabelId(0), &[items, i2, left2, sum2]);
    (trace, schema)
}

#[test]
fn every_copy_leaves_with_its_own_values() {
    let (trace, schema) = sum_of_items();
    for negative in 0..11usize {
        let mut items = [7i64; 11];
        items[negative] = -1;
        let address = items.as_ptr() as u64;
        for count in 0..11u64 {
            let ((Outcome { exit, cells }, iterations), n) =
                (run(&trace, &schema, &[address, 0, count, 0], || {}), count);
            let ends = (n as usize) < negative;
            let i = if ends { n } else { negative as u64 };
            assert_eq!((exit, iterations), (u32::from(ends), i));
            assert_eq!(cells, [i, n - i, 7 * (i + u64::from(ends))]);
        }
    }
}

#[test]
fn a_short_loop_scales_its_index_once_and_jumps_back_once() {
    let (trace, schema) = sum_of_items();
    let (plain, unrolled) = (listing(&trace, &schema, true), listing(&trace, &schema, false));
    let loads = |listing: &str| listing.matches("load(").count();
    assert_eq!((loads(&plain), loads(&unrolled)), (1, 4), "{unrolled}");
    if cfg!(target_arch = "x86_64") {
        let scaled = |listing: &str| listing.matches(",8)").count();
        assert_eq!((scaled(&plain), scaled(&unrolled)), (1, 4), "{unrolled}");
        assert!(unrolled.contains("cmp $3,") && !plain.contains("cmp $3,"), "{unrolled}");
    }
}

/// Arguments that change places, a comparison among them, and steps as large as a displacement can just (not)
/// be.
#[test]
fn what_a_jump_passes_is_read_before_it_is_bound() {
    for step in [1, -1, i64::from(i32::MAX), i64::from(i32::MIN), i64::MAX, 1 << 40] {
        let mut trace = Trace::new("exchange");
        let inputs = trace.input(&[Type::Int; 5]);
        let [a, b, n, count, flag] = inputs[..] else { unreachable!() };
        let (less, step) = (trace.const_int(-1), trace.const_int(step));
        let snap = Some(trace.snap(&inputs));
        trace.push(Inst::new(Op::GuardTrue, &[count]).at(snap).exit_kind(ExitKind::LoopEnd), None);
        let count2 = trace.op(Op::IntAdd, &[count, less], Type::Int);
        let n2 = trace.op(Op::IntAdd, &[n, step], Type::Int);
        let b2 = trace.op(Op::IntSub, &[b, flag], Type::Int);
        let less = trace.op(Op::IntLt, &[n2, a], Type::Int);
        trace.guard(Op::GuardTrue, &[n2], snap);
        trace.jump(LabelId(0), &[b2, a, n2, count2, less]);
        for count in 0..13 {
            let n = 1u64.wrapping_neg().wrapping_mul(trace.int_of(step).unwrap() as u64).wrapping_mul(7);
            let (outcome, iterations) = run(&trace, &Schema::new(), &[3, 1 << 33, n, count, 1], || {});
            assert_eq!(iterations, count.min(6));
            assert_eq!(outcome.exit, u32::from(count > 6));
        }
    }
}

/// A loop that looks at a flag of the host each time round; `spends` makes it count the flag down itself.
fn interruptible(spends: bool) -> (Trace, Schema) {
    interruptible_by(Cell::new("fuel", 0, Type::Int, ClassId(1)), spends)
}

/// The same, and what the flag is.
fn interruptible_by(cell: Cell, spends: bool) -> (Trace, Schema) {
    let mut schema = Schema::new();
    let cell = schema.add_cell(cell);
    let mut trace = Trace::new("interruptible");
    let inputs = trace.input(&[Type::Addr, Type::Int]);
    let snap = Some(trace.snap(&inputs[1..]));
    let load = Inst::new(Op::Load, &[inputs[0]]).with(Payload::Cell(cell));
    let fuel = trace.push(load, Some(Type::Int)).unwrap();
    trace.push(Inst::new(Op::GuardTrue, &[fuel]).at(snap).exit_kind(ExitKind::Interrupt), None);
    trace.guard(Op::GuardTrue, &[inputs[1]], snap);
    let less = trace.const_int(-1);
    if spends {
        let fuel = trace.op(Op::IntAdd, &[fuel, less], Type::Int);
        trace.push(Inst::new(Op::Store, &[inputs[0], fuel]).with(Payload::Cell(cell)), None);
    }
    let left = trace.op(Op::IntAdd, &[inputs[1], less], Type::Int);
    trace.jump(LabelId(0), &[inputs[0], left]);
    (trace, schema)
}

#[test]
fn a_flag_that_the_loop_cannot_change_is_tested_once_for_all_copies() {
    let (trace, schema) = interruptible(false);
    let mut fuel = 1u64;
    let address = &raw mut fuel as u64;
    let interrupts = |listing: &str| listing.matches("interrupt\n").count();
    let code = listing(&trace, &schema, false);
    assert_eq!(interrupts(&code), 1, "{code}");
    assert_eq!(code.matches("load(").count(), 1, "{code}");
    for count in 0..10 {
        let (outcome, iterations) = run(&trace, &schema, &[address, count], || {});
        assert_eq!((outcome.exit, outcome.cells, iterations), (1, vec![0], count));
    }
    fuel = 0;
    assert_eq!(
        run(&trace, &schema, &[&raw mut fuel as u64, 5], || {}).0,
        Outcome { exit: 0, cells: vec![5] }
    );
}

#[test]
fn a_volatile_flag_is_tested_by_every_copy_and_a_polled_one_once() {
    let flag = Cell { volatile: true, ..Cell::new("fuel", 0, Type::Int, ClassId(1)) };
    for (polled, tests) in [(false, 4), (true, 1)] {
        let (trace, schema) = interruptible_by(Cell { polled, ..flag.clone() }, false);
        let code = listing(&trace, &schema, false);
        assert_eq!(code.matches("interrupt\n").count(), tests, "{code}");
        assert_eq!(code.matches("load(").count(), tests, "{code}");
        assert_eq!(listing(&trace, &schema, true).matches("load(").count(), 1);
    }
}

#[test]
fn a_flag_that_the_loop_changes_is_tested_by_every_copy() {
    let (trace, schema) = interruptible(true);
    let mut memory = Box::new(0u64);
    let address = &raw mut *memory;
    for fuel in 0..10u64 {
        // SAFETY: the box is there, and the code writes it only while it runs.
        let prepare = || unsafe { address.write(fuel) };
        let (outcome, iterations) = run(&trace, &schema, &[address as u64, 7], prepare);
        let left = 7 - fuel.min(7);
        assert_eq!((outcome.exit, outcome.cells, iterations), (u32::from(fuel > 7), vec![left], 7 - left));
    }
}

/// Counts up to a limit, with a check for a collection that counts operations.
fn counted_loop() -> Trace {
    let mut trace = Trace::new("counted");
    let inputs = trace.input(&[Type::Int, Type::Int]);
    let [i, limit] = inputs[..] else { unreachable!() };
    let head = Some(trace.snap(&[i]));
    let holds = trace.const_int(1);
    trace.push(Inst::new(Op::GuardTrue, &[holds]).at(head).exit_kind(ExitKind::Collect), None);
    let below = trace.op(Op::IntLt, &[i, limit], Type::Int);
    trace.push(Inst::new(Op::GuardTrue, &[below]).at(head).exit_kind(ExitKind::LoopEnd), None);
    let one = trace.const_int(1);
    let next = trace.op(Op::IntAdd, &[i, one], Type::Int);
    trace.jump(LabelId(0), &[next, limit]);
    trace
}

#[test]
fn a_counted_check_leaves_once_in_so_many_operations() {
    let (trace, schema) = (counted_loop(), Schema::new());
    // Four operations each iteration; four iterations are counted at once where they are lowered in a row.
    for (no_unrolling, at, left) in [(true, 25, -4), (false, 24, -12)] {
        for target in [Target::Native, Target::Baseline] {
            let mut harness =
                Harness::with(Options { target, no_unrolling, verify: true, ..Options::default() });
            harness.collect = Some(Box::new(100));
            let compiled = harness.compile(&trace, &schema);
            let outcome = harness.run_all(&compiled, &[vec![0, 1000]]).remove(0);
            assert_eq!(outcome, Outcome { exit: 0, cells: vec![at] }, "{no_unrolling}");
            assert_eq!(harness.collect, Some(Box::new(left)));
        }
    }
    // It holds where nobody counts.
    let nobody = run(&trace, &schema, &[0, 1000], || {});
    assert_eq!(nobody, (Outcome { exit: 1, cells: vec![1000] }, 1000));
}

/// What an iteration adds up for the index of an item in a row is wanted by exits only, in each copy.
#[test]
fn rows_are_left_with_the_index_of_the_item() {
    let (trace, schema) = sum_of_row();
    let items: Vec<[i64; 2]> = (0..64).map(|item| [item * 3, item]).collect();
    for count in 0..11u64 {
        for (y, x) in [(10i64, 3i64), (40, -20), (-5, 6)] {
            let inputs = [items.as_ptr() as u64, y as u64, x as u64, count, 100];
            let (Outcome { cells, .. }, iterations) = run(&trace, &schema, &inputs, || {});
            let index = y + x + count as i64;
            let sum: i64 = (y + x - 1..index).map(|item| 3 * item).sum();
            assert_eq!(
                (cells, iterations),
                (vec![index as u64, index as u64 - 1, sum as u64 + 100], count + 1)
            );
        }
    }
}

#[test]
fn a_row_is_one_register_and_its_index_another() {
    let (trace, schema) = sum_of_row();
    if cfg!(target_arch = "x86_64") {
        let options = Options {
            want_listing: true,
            no_unrolling: true,
            no_prefetching: true,
            quick: true,
            ..Options::default()
        };
        let listing = Harness::with(options).compile(&trace, &schema).listing.unwrap();
        let body = listing.split_once("L1(").and_then(|(_, rest)| rest.split_once("exit")).unwrap().0;
        let instructions = |name: &str| body.lines().filter(|line| line.contains(name)).count();
        assert_eq!((instructions("shl "), instructions(",8)")), (0, 1), "{listing}");
    }
}

/// A window of three doubles moves over an array; each product of what goes round waits for the sum that it
/// is added to, and for the exit.
const WINDOW: &str = "L0(f0, f1, f2, f3, i4, f5):
jump(L1, f0, f1, f2, f3, i4, f5)
L1(f6, f7, f8, f9, i10, f11):
f12 = float_mul(f6, f7)
f13 = float_mul(f6, f8)
f14 = float_mul(f9, f6)
f15 = float_add(f9, f11)
@0 = frame[0: float f12, 1: float f13, 2: float f14, 3: float f15]
guard_true(i10) @0 loop_end
f16 = float_add(f12, f13)
f17 = float_add(f16, f14)
i18 = int_add(i10, -1)
jump(L1, f6, f8, f9, f15, i18, f17)
";

#[test]
fn products_of_what_goes_round_wait() {
    let schema = standard_schema();
    let trace = parse_trace(WINDOW, &schema).unwrap();
    let nan = |payload: u64| f64::from_bits(0x7ff8_0000_0000_0000 | payload);
    for count in 0..8u64 {
        for start in
            [[1.5, 2.0, 3.0, 5.0, 0.25], [nan(1), 2.0, nan(2), nan(3), -0.0], [2.0, nan(7), 1.0, 0.0, nan(9)]]
        {
            let [k, mut a, mut b, mut c, mut sum] = start;
            for _ in 0..count {
                let next = c + sum;
                sum = k * a + k * b + c * k;
                (a, b, c) = (b, c, next);
            }
            let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<u64>>();
            let mut inputs = bits(&start[..4]);
            inputs.extend([count, start[4].to_bits()]);
            let (outcome, iterations) = run(&trace, &schema, &inputs, || {});
            assert_eq!(iterations, count + 1);
            if start.iter().all(|value| !value.is_nan()) {
                assert_eq!(outcome.cells, bits(&[k * a, k * b, c * k, c + sum]), "{count}");
            }
        }
    }
}

/// The values of a window need no moves if the loop is made three times.
#[test]
fn a_long_loop_that_moves_a_window_is_lowered_three_times() {
    let middle = "f20 = float_sqrt(f11)\n".repeat(LONG);
    let text = WINDOW.replace("f12 = ", &format!("{}f12 = ", numbered(&middle)));
    let schema = standard_schema();
    for (text, copies) in
        [(text.clone(), 3), (text.replace("f6, f8, f9, f15, i18", "f6, f7, f8, f15, i18"), 1)]
    {
        let trace = parse_trace(&text, &schema).unwrap();
        let listing = listing(&trace, &schema, false);
        assert_eq!(1 + listing.matches("(more) guard_true").count(), copies, "{listing}");
    }
}

/// So many operations make a loop too long to be lowered twice.
const LONG: usize = 50;

/// Each line defines another value.
fn numbered(lines: &str) -> String {
    lines
        .lines()
        .enumerate()
        .map(|(at, line)| line.replace("f20", &format!("f{}", 100 + at)) + "\n")
        .collect()
}
