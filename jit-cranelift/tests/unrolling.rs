//! Short loops are lowered several times in a row: what leaves them, when and with what, is the same as
//! without.

mod common;

use common::*;
use tracelift_core::schema::{Cell, ClassId};
use tracelift_core::{ir::*, Op, Schema, Type};
use tracelift_cranelift::*;

/// Runs a trace with these inputs, unrolled and not, with prefetches and without, by each code generation
/// setting; returns exit, values and iterations, which all must agree on.
fn run(trace: &Trace, schema: &Schema, inputs: &[u64], mut prepare: impl FnMut()) -> (Outcome, u64) {
    let mut first = None;
    for (target, optimize) in [(Target::Native, false), (Target::Native, true), (Target::Baseline, false)] {
        for (no_unrolling, no_prefetching) in [(true, true), (true, false), (false, true), (false, false)] {
            let options = Options {
                target,
                optimize,
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
