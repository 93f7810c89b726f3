//! Control flow: loops, labels, jump arguments, exits and what they leave in the buffer, entry, forced
//! guards.

mod common;

use common::*;
use tracelift_core::schema::{Cell, Func, FuncEffects};
use tracelift_core::{ir::*, Op, Schema, Type};
use tracelift_cranelift::*;

/// Sums `0..n` with overflow checks; leaves by exit 0 when done, with `[i, sum]` live at every exit.
fn sum_loop() -> Trace {
    let mut trace = Trace::new("sum");
    let inputs = trace.input(&[Type::Int, Type::Int, Type::Int]);
    let [i, sum, n] = inputs[..] else { unreachable!() };
    let snap = Some(trace.snap(&[i, sum]));
    let more = trace.op(Op::IntLt, &[i, n], Type::Int);
    trace.push(Inst::new(Op::GuardTrue, &[more]).at(snap).exit_kind(ExitKind::LoopEnd), None);
    let sum2 = trace.push(Inst::new(Op::IntAddOvf, &[sum, i]).at(snap), Some(Type::Int)).unwrap();
    let one = trace.const_int(1);
    let i2 = trace.push(Inst::new(Op::IntAddOvf, &[i, one]).at(snap), Some(Type::Int)).unwrap();
    trace.jump(LabelId(0), &[i2, sum2, n]);
    trace
}

#[test]
fn a_loop_runs_to_its_end() {
    for mut harness in Harness::all() {
        harness.iterations = Some(Box::new(0));
        let outcome = harness.run(&sum_loop(), &Schema::new(), &[0, 0, 1000]);
        assert_eq!(outcome, Outcome { exit: 0, cells: vec![1000, 499_500] });
        assert_eq!(**harness.iterations.as_ref().unwrap(), 1000);
        assert_eq!(*harness.replaced, 7000);
        let outcome = harness.run(&sum_loop(), &Schema::new(), &[0, i64::MAX as u64 - 5, 1000]);
        assert_eq!(outcome, Outcome { exit: 1, cells: vec![3, i64::MAX as u64 - 2] });
    }
}

/// Code that adds nothing up for its iterations says that it was entered.
#[test]
fn entries_may_be_all_that_counts() {
    for mut harness in Harness::all() {
        harness.counts_entries = true;
        for entries in 1..=3 {
            let outcome = harness.run(&sum_loop(), &Schema::new(), &[0, 0, 10]);
            assert_eq!(outcome, Outcome { exit: 0, cells: vec![10, 45] });
            assert_eq!(*harness.replaced, 100 * entries);
        }
    }
}

/// The first iteration of a peeled loop ends with a jump forwards, and counts as every other.
#[test]
fn the_preamble_is_an_iteration() {
    let mut trace = Trace::new("peeled");
    let inputs = trace.input(&[Type::Int]);
    let one = trace.const_int(1);
    let limit = trace.const_int(1000);
    let mut counted = inputs[0];
    for label in [LabelId(0), LabelId(1)] {
        if label == LabelId(1) {
            let arg = trace.new_value(Type::Int);
            trace.jump(LabelId(1), &[counted]);
            counted = arg;
            assert_eq!(trace.add_label("L1", &[arg]), label);
        }
        let snap = Some(trace.snap(&[counted]));
        let more = trace.op(Op::IntLt, &[counted, limit], Type::Int);
        trace.push(Inst::new(Op::GuardTrue, &[more]).at(snap).exit_kind(ExitKind::LoopEnd), None);
        counted = trace.op(Op::IntAdd, &[counted, one], Type::Int);
    }
    trace.jump(LabelId(1), &[counted]);
    for mut harness in Harness::all() {
        harness.iterations = Some(Box::new(0));
        assert_eq!(harness.run(&trace, &Schema::new(), &[0]).cells, [1000]);
        assert_eq!(**harness.iterations.as_ref().unwrap(), 1000);
        assert_eq!(*harness.replaced, 7000);
    }
}

#[test]
fn exits_know_kind_and_values() {
    let mut harness = Harness::with(Options { no_unrolling: true, verify: true, ..Options::default() });
    let trace = sum_loop();
    let compiled = harness.compile(&trace, &Schema::new());
    let kinds: Vec<ExitKind> = compiled.exits.iter().map(|exit| exit.kind).collect();
    assert_eq!(kinds, [ExitKind::LoopEnd, ExitKind::Guard], "one snapshot and one kind are one exit");
    assert_eq!(compiled.exits.iter().map(|exit| exit.inst).collect::<Vec<_>>(), [2, 3]);
    for exit in &compiled.exits {
        assert_eq!(exit.live[..], trace.inputs()[..2]);
    }
    assert_eq!(compiled.stats.stubs, 2, "guards of one exit share a stub");
    assert_eq!(compiled.stats.guards, 3);
    assert_eq!(compiled.buffer_cells, 3);
    assert!(compiled.stats.stub_bytes > 0 && compiled.stats.stub_bytes < compiled.stats.code_bytes);
}

/// Forcing the nth guard execution leaves with the state that the interpreter would have there.
#[test]
fn every_guard_execution_can_be_forced() {
    for mut harness in Harness::all() {
        harness.force = Some(Box::new(0));
        let trace = sum_loop();
        let compiled = harness.compile(&trace, &Schema::new());
        for nth in 1..=30u64 {
            **harness.force.as_mut().unwrap() = nth;
            let outcome = harness.run_all(&compiled, &[vec![0, 0, 1000]]).remove(0);
            let i = (nth - 1) / 3;
            // The third guard of an iteration sees the sum's snapshot, not the sum that was just made.
            let sum = (0..i).sum();
            assert_eq!(outcome, Outcome { exit: u32::from((nth - 1) % 3 > 0), cells: vec![i, sum] });
        }
        **harness.force.as_mut().unwrap() = 0;
        let outcome = harness.run_all(&compiled, &[vec![0, 0, 10]]).remove(0);
        assert_eq!(outcome.exit, 0);
        assert_eq!(0u64.wrapping_sub(**harness.force.as_ref().unwrap()), 31, "guards that ran");
    }
}

/// Every mapping of three label arguments to jump arguments: permutations, duplicates, cycles.
#[test]
fn jump_arguments_move_in_parallel() {
    let mut harness = Harness::new();
    for code in 0..27 {
        let picks = [code % 3, code / 3 % 3, code / 9];
        let mut trace = Trace::new("moves");
        let args = trace.input(&[Type::Int; 4]);
        let zero = trace.const_int(0);
        let one = trace.const_int(1);
        let snap = trace.snap(&args);
        let more = trace.op(Op::IntGt, &[args[3], zero], Type::Int);
        trace.guard(Op::GuardTrue, &[more], Some(snap));
        let less = trace.op(Op::IntSub, &[args[3], one], Type::Int);
        trace.jump(LabelId(0), &[args[picks[0]], args[picks[1]], args[picks[2]], less]);
        let outcome = harness.run(&trace, &Schema::new(), &[100, 200, 300, 5]);
        let mut expected = vec![100, 200, 300];
        for _ in 0..5 {
            expected = picks.map(|pick| expected[pick]).into();
        }
        expected.push(0);
        assert_eq!(outcome, Outcome { exit: 0, cells: expected }, "{picks:?}");
    }
}

/// A preamble, a peeled loop, and a third part that the loop never reaches by falling through.
#[test]
fn several_labels() {
    let mut trace = Trace::new("peeled");
    let inputs = trace.input(&[Type::Int, Type::Float]);
    let two = trace.const_int(2);
    let doubled = trace.op(Op::IntMul, &[inputs[0], two], Type::Int);
    let half = trace.const_float(0.5);
    let scaled = trace.op(Op::FloatMul, &[inputs[1], half], Type::Float);
    trace.jump(LabelId(1), &[doubled, inputs[0], scaled]);
    let (header, args) = trace.label(&[Type::Int, Type::Int, Type::Float]);
    let zero = trace.const_int(0);
    let one = trace.const_int(1);
    let snap = trace.snap(&args);
    let more = trace.op(Op::IntNe, &[args[1], zero], Type::Int);
    trace.guard(Op::GuardTrue, &[more], Some(snap));
    let sum = trace.op(Op::IntAdd, &[args[0], two], Type::Int);
    let fewer = trace.op(Op::IntSub, &[args[1], one], Type::Int);
    let grown = trace.op(Op::FloatAdd, &[args[2], args[2]], Type::Float);
    trace.jump(header, &[sum, fewer, grown]);
    let outcome = Harness::new().run(&trace, &Schema::new(), &[4, 3.0f64.to_bits()]);
    assert_eq!(outcome, Outcome { exit: 0, cells: vec![16, 0, 24.0f64.to_bits()] });
}

/// Values that the exit needs but that were kept as recipes: comparisons and addresses.
/// Steps of Collatz's sequence down to 1: a region, which goes both ways, to blocks before and after.
#[test]
fn regions_go_both_ways() {
    let mut trace = Trace::new("collatz");
    let start = trace.input(&[Type::Int])[0];
    let [zero, one, three] = [0, 1, 3].map(|int| trace.const_int(int));
    trace.jump(LabelId(1), &[start, zero]);
    let block = |trace: &mut Trace| {
        let args = [(); 2].map(|()| trace.new_value(Type::Int));
        trace.add_label(&format!("L{}", trace.labels.len()), &args);
        args
    };
    let jump_if = |trace: &mut Trace, condition: Value, to: u32, args: &[Value]| {
        let args: Vec<Value> = std::iter::once(condition).chain(args.iter().copied()).collect();
        trace.push(Inst::new(Op::JumpIf, &args).with(Payload::Label(LabelId(to))), None);
    };
    let [i, steps] = block(&mut trace);
    let [done, odd] = [trace.op(Op::IntEq, &[i, one], Type::Int), trace.op(Op::IntAnd, &[i, one], Type::Int)];
    jump_if(&mut trace, done, 4, &[i, steps]);
    jump_if(&mut trace, odd, 3, &[i, steps]);
    trace.jump(LabelId(2), &[i, steps]);
    let [i, steps] = block(&mut trace);
    let half = trace.op(Op::IntSar, &[i, one], Type::Int);
    let next = trace.op(Op::IntAdd, &[steps, one], Type::Int);
    trace.jump(LabelId(1), &[half, next]);
    let [i, steps] = block(&mut trace);
    let triple = trace.op(Op::IntMul, &[i, three], Type::Int);
    let more = trace.op(Op::IntAdd, &[triple, one], Type::Int);
    let next = trace.op(Op::IntAdd, &[steps, one], Type::Int);
    trace.jump(LabelId(1), &[more, next]);
    let [i, steps] = block(&mut trace);
    trace.push(Inst::new(Op::Finish, &[steps, i]), None);
    for mut harness in Harness::all() {
        for (start, steps) in [(1, 0), (2, 1), (7, 16), (27, 111)] {
            let outcome = harness.run(&trace, &Schema::new(), &[start]);
            assert_eq!(outcome, Outcome { exit: 0, cells: vec![steps, 1] }, "from {start}");
        }
    }
}

#[test]
fn exits_store_lazy_values() {
    let mut trace = Trace::new("lazy");
    let inputs = trace.input(&[Type::Int, Type::Float, Type::Addr]);
    let seven = trace.const_int(7);
    let less = trace.op(Op::IntLt, &[inputs[0], seven], Type::Int);
    let same = trace.op(Op::FloatEq, &[inputs[1], inputs[1]], Type::Int);
    let scale =
        Inst::new(Op::ItemAddr, &[inputs[2], inputs[0]]).with(Payload::Scale { stride: 24, offset: -8 });
    let item = trace.push(scale, Some(Type::Addr)).unwrap();
    let further = trace.op(Op::AddrAdd, &[item, seven], Type::Addr);
    let as_int = trace.op(Op::AddrToInt, &[further], Type::Int);
    let snap = trace.snap(&[less, same, item, further, as_int]);
    trace.guard(Op::GuardFalse, &[less], Some(snap));
    trace.finish(&[same]);
    let outcome = Harness::new().run(&trace, &Schema::new(), &[5, f64::NAN.to_bits(), 1000]);
    assert_eq!(outcome, Outcome { exit: 0, cells: vec![1, 0, 1112, 1119, 1119] });
}

#[test]
fn twenty_and_more_live_values() {
    for count in [20usize, 40, 100] {
        let mut trace = Trace::new("pressure");
        let types: Vec<Type> = (0..count).map(|n| if n % 3 == 2 { Type::Float } else { Type::Int }).collect();
        let args = trace.input(&types);
        let snap = trace.snap(&args);
        let limit = trace.const_int(1_000_000);
        let less = trace.op(Op::IntLt, &[args[0], limit], Type::Int);
        trace.guard(Op::GuardTrue, &[less], Some(snap));
        let next: Vec<Value> = (args.iter().zip(&types))
            .map(|(&arg, &ty)| match ty {
                Type::Float => trace.op(Op::FloatAdd, &[arg, arg], ty),
                _ => trace.op(Op::IntAdd, &[arg, args[0]], ty),
            })
            .collect();
        trace.jump(LabelId(0), &next);
        let mut state: Vec<u64> = types
            .iter()
            .zip(1..)
            .map(|(ty, n)| if *ty == Type::Float { f64::to_bits(n as f64) } else { n })
            .collect();
        let inputs = state.clone();
        while (state[0] as i64) < 1_000_000 {
            let first = state[0];
            for (cell, ty) in state.iter_mut().zip(&types) {
                *cell = match ty {
                    Type::Float => (f64::from_bits(*cell) * 2.0).to_bits(),
                    _ => cell.wrapping_add(first),
                };
            }
        }
        let outcome = Harness::new().run(&trace, &Schema::new(), &inputs);
        assert_eq!(outcome, Outcome { exit: 0, cells: state });
    }
}

#[test]
fn guards_on_values_and_pointers() {
    let mut harness = Harness::new();
    let mut exit = |op: Op, ty: Type, expected: Option<u64>, found: u64| {
        let mut trace = Trace::new("guard");
        let mut args = trace.input(&[ty]);
        args.extend(expected.map(|bits| trace.constant(ty, Const::Bits(bits))));
        let snap = trace.snap(&args);
        trace.guard(op, &args, Some(snap));
        trace.finish(&args[..1]);
        let outcome = harness.run(&trace, &Schema::new(), &[found]);
        assert_eq!(outcome.cells, [found], "constants are not stored");
        outcome.exit
    };
    let (zero, minus_zero, nan) = (0.0f64.to_bits(), (-0.0f64).to_bits(), f64::NAN.to_bits());
    assert_eq!(exit(Op::GuardValue, Type::Float, Some(zero), minus_zero), 0, "bits decide");
    assert_eq!(exit(Op::GuardValue, Type::Float, Some(nan), nan), 1, "a NaN is itself");
    assert_eq!(exit(Op::GuardValue, Type::Int, Some(u64::MAX), u64::MAX), 1);
    assert_eq!(exit(Op::GuardValue, Type::Ref, Some(1 << 40), 2 << 40), 0);
    assert_eq!(exit(Op::GuardNull, Type::Ref, None, 0), 1);
    assert_eq!(exit(Op::GuardNull, Type::Addr, None, 8), 0);
    assert_eq!(exit(Op::GuardNonnull, Type::Ref, None, 0), 0);
    assert_eq!(exit(Op::GuardNonnull, Type::Addr, None, 8), 1);
    assert_eq!(exit(Op::GuardAlwaysFails, Type::Int, None, 8), 0);
}

/// Guards without a snapshot only say which they were.
#[test]
fn guards_without_snapshot() {
    let mut trace = Trace::new("bare");
    let inputs = trace.input(&[Type::Int, Type::Int]);
    trace.guard(Op::GuardTrue, &inputs[..1], None);
    trace.guard(Op::GuardTrue, &inputs[1..], None);
    trace.finish(&inputs);
    let mut harness = Harness::new();
    for (inputs, exit) in [([0, 1], 0), ([1, 0], 1), ([1, 1], 2)] {
        assert_eq!(harness.run(&trace, &Schema::new(), &inputs).exit, exit);
    }
}

/// Adds slot 0 (int) and slot 2 (float), checks that slot 1 is nil.
fn framed() -> (Trace, Schema) {
    let schema = Schema::with_default_tags();
    let tag = |name| schema.find_tag(name).unwrap();
    let mut trace = Trace::new("framed");
    let inputs = trace.input(&[Type::Int, Type::Float]);
    trace.entry = vec![EntrySlot { slot: 0, tag: tag("int") }, EntrySlot { slot: 2, tag: tag("float") }];
    trace.entry_tags = vec![EntrySlot { slot: 1, tag: tag("nil") }];
    let float = trace.op(Op::IntToFloat, &inputs[..1], Type::Float);
    let sum = trace.op(Op::FloatAdd, &[float, inputs[1]], Type::Float);
    let base = trace.op(Op::FrameBase, &[], Type::Addr);
    let context = trace.op(Op::Context, &[], Type::Addr);
    trace.finish(&[sum, base, context]);
    (trace, schema)
}

#[test]
fn entry_checks_tags_before_anything() {
    let (trace, schema) = framed();
    let tags = |int: u8, nil: u8, float: u8| {
        let mut harness = Harness::new();
        harness.frame[0..8].copy_from_slice(&40u64.to_le_bytes());
        harness.frame[32..40].copy_from_slice(&2.5f64.to_bits().to_le_bytes());
        (harness.frame[8], harness.frame[24], harness.frame[40]) = (int, nil, float);
        let before = harness.frame.clone();
        let outcome = harness.run(&trace, &schema, &[]);
        assert_eq!(harness.frame, before);
        (outcome.exit, outcome.cells.first().copied())
    };
    assert_eq!(tags(0, 4, 1), (0, Some(42.5f64.to_bits())));
    for (int, nil, float) in [(1, 4, 1), (0, 0, 1), (0, 4, 0), (0, 4, 0x81)] {
        assert_eq!(tags(int, nil, float), (ENTRY_REFUSED, None));
    }
}

#[test]
fn frame_and_context_are_arguments() {
    let (trace, schema) = framed();
    let mut harness = Harness::new();
    (harness.frame[24], harness.frame[40]) = (4, 1);
    let compiled = harness.compile(&trace, &schema);
    let outcome = harness.run_all(&compiled, &[vec![]]).remove(0);
    assert_eq!(outcome.cells[1..], [harness.frame.as_ptr() as u64, &raw const harness.context as u64]);
    // The same trace as a side trace: inputs from the buffer, no tags.
    harness.frame.fill(0xFF);
    let request = Request::new(9, harness.buffer.as_mut_ptr()).enter_by(EntryKind::Buffer);
    let compiled = harness.compiler.compile(&trace, &schema, &request).unwrap();
    let outcome = harness.run_all(&compiled, &[vec![1, 0.5f64.to_bits()]]).remove(0);
    assert_eq!((outcome.exit, outcome.cells[0]), (0, 1.5f64.to_bits()));
}

/// Sums with a constant are made where they are used: in stubs before that and after it, in the trace, as
/// another sum's part, and across what could overflow.
#[test]
fn sums_agree_wherever_they_are_made() {
    let mut trace = Trace::new("sums");
    let inputs = trace.input(&[Type::Int, Type::Int]);
    let constants = [7, -9, i64::MAX, 1 << 40].map(|c| trace.const_int(c));
    let sum = trace.op(Op::IntAdd, &[inputs[0], constants[0]], Type::Int);
    let less = trace.op(Op::IntSub, &[sum, constants[1]], Type::Int);
    let wrapped = trace.op(Op::IntAdd, &[constants[2], less], Type::Int);
    let far = trace.op(Op::IntSub, &[inputs[0], constants[3]], Type::Int);
    let from = trace.op(Op::IntSub, &[constants[0], inputs[0]], Type::Int);
    let all = [sum, less, wrapped, far, from];
    let snap = Some(trace.snap(&all));
    let exact = trace.push(Inst::new(Op::IntAddOvf, &[sum, constants[0]]).at(snap), Some(Type::Int)).unwrap();
    let beyond = trace.op(Op::IntAdd, &[exact, constants[0]], Type::Int);
    let small = trace.op(Op::IntLt, &[inputs[1], less], Type::Int);
    let snap = Some(trace.snap(&[&all[..], &[exact, beyond]].concat()));
    trace.guard(Op::GuardTrue, &[small], snap);
    let product = trace.op(Op::IntMul, &[less, beyond], Type::Int);
    let snap = Some(trace.snap(&[&all[..], &[exact, beyond, product]].concat()));
    let even = trace.op(Op::IntAnd, &[product, constants[0]], Type::Int);
    trace.guard(Op::GuardFalse, &[even], snap);
    trace.finish(&[sum, less, wrapped, far, from, exact, beyond, product]);
    for mut harness in Harness::all() {
        let compiled = harness.compile(&trace, &Schema::new());
        let tuples: Vec<Vec<u64>> = INTS
            .iter()
            .chain(&[i64::MAX - 10])
            .flat_map(|&x| [-40, 0, i64::MAX].map(|y| vec![x as u64, y as u64]))
            .collect();
        let mut seen = [0; 4];
        for (inputs, outcome) in tuples.iter().zip(harness.run_all(&compiled, &tuples)) {
            let (x, y) = (inputs[0] as i64, inputs[1] as i64);
            let (sum, less) = (x.wrapping_add(7), x.wrapping_add(16));
            let mut expected =
                vec![sum, less, less.wrapping_add(i64::MAX), x.wrapping_sub(1 << 40), 7i64.wrapping_sub(x)];
            let exit = match sum.checked_add(7) {
                None => 0,
                Some(exact) => {
                    let beyond = exact.wrapping_add(7);
                    expected.extend([exact, beyond]);
                    let product = less.wrapping_mul(beyond);
                    if y < less {
                        expected.push(product);
                        if product & 7 == 0 {
                            3
                        } else {
                            2
                        }
                    } else {
                        1
                    }
                }
            };
            seen[exit as usize] += 1;
            let cells = expected.into_iter().map(|bits| bits as u64).collect();
            assert_eq!(outcome, Outcome { exit, cells }, "{x} {y}");
        }
        assert!(seen.iter().all(|&count| count > 0), "{seen:?}");
    }
}

/// A constant that is stored is a part of the instruction, and leaves the bytes around it alone.
#[test]
fn constants_are_stored_at_their_width() {
    for width in [1u8, 2, 4, 8] {
        for value in [0, 19, -1, 0x7F80, 0x8182_8384_8586_87C8u64 as i64] {
            let mut schema = Schema::new();
            let class = schema.alias_class("memory");
            let cell = schema.add_cell(Cell::narrow("cell", 4, width, class));
            let mut trace = Trace::new("constant");
            let inputs = trace.input(&[Type::Addr]);
            let constant = trace.const_int(value);
            let store = Inst::new(Op::Store, &[inputs[0], constant]);
            trace.push(store.with(Payload::Cell(cell)), None);
            trace.finish(&[]);
            for mut harness in Harness::all() {
                let mut memory = [0xF1u8; 24];
                harness.run(&trace, &schema, &[memory.as_mut_ptr() as u64]);
                let mut expected = [0xF1u8; 24];
                expected[4..4 + width as usize].copy_from_slice(&value.to_le_bytes()[..width as usize]);
                assert_eq!(memory, expected, "width {width}, value {value:x}");
            }
        }
    }
}

#[test]
fn narrow_cells_extend_and_truncate() {
    for width in [1u8, 2, 4, 8] {
        for signed in [false, true] {
            let mut schema = Schema::new();
            let class = schema.alias_class("memory");
            let cell = schema.add_cell(Cell { signed, ..Cell::narrow("cell", 4, width, class) });
            let mut trace = Trace::new("narrow");
            let inputs = trace.input(&[Type::Addr, Type::Int]);
            let payload = Payload::Cell(cell);
            let before =
                trace.push(Inst::new(Op::Load, &inputs[..1]).with(payload), Some(Type::Int)).unwrap();
            trace.push(Inst::new(Op::Store, &inputs).with(payload), None);
            let after = trace.push(Inst::new(Op::Load, &inputs[..1]).with(payload), Some(Type::Int)).unwrap();
            trace.finish(&[before, after]);
            let extend = |bits: u64| {
                let unused = 64 - u32::from(width) * 8;
                if signed {
                    ((bits << unused) as i64 >> unused) as u64
                } else {
                    bits << unused >> unused
                }
            };
            for mut harness in Harness::all() {
                let mut memory = [0xF1u8; 24];
                let value = 0x8182_8384_8586_87C8u64;
                let outcome = harness.run(&trace, &schema, &[memory.as_mut_ptr() as u64, value]);
                let found = u64::from_le_bytes([0xF1; 8]);
                assert_eq!(outcome.cells, [extend(found), extend(value)], "width {width}, signed {signed}");
                let mut expected = [0xF1u8; 24];
                expected[4..4 + width as usize].copy_from_slice(&value.to_le_bytes()[..width as usize]);
                assert_eq!(memory, expected);
            }
        }
    }
}

/// `a[i-1] + a[i] + a[i+1]` for strides that scale and strides that do not.
#[test]
fn item_addresses_share_their_base() {
    for stride in [8u32, 16, 24, 1 << 20] {
        let mut schema = Schema::new();
        let class = schema.alias_class("items");
        let cell = schema.add_cell(Cell::new("item", 8, Type::Int, class));
        let mut trace = Trace::new("items");
        let inputs = trace.input(&[Type::Addr, Type::Int]);
        let one = trace.const_int(1);
        let before = trace.op(Op::IntSub, &[inputs[1], one], Type::Int);
        let after = trace.op(Op::IntAdd, &[one, inputs[1]], Type::Int);
        let loads: Vec<Value> = [before, inputs[1], after]
            .map(|index| {
                let inst = Inst::new(Op::ItemAddr, &[inputs[0], index]);
                let inst = inst.with(Payload::Scale { stride, offset: -8 });
                let item = trace.push(inst, Some(Type::Addr)).unwrap();
                trace.push(Inst::new(Op::Load, &[item]).with(Payload::Cell(cell)), Some(Type::Int)).unwrap()
            })
            .into();
        trace.finish(&loads);
        let mut memory = vec![0u8; stride as usize * 3 + 16];
        for (index, value) in [7u64, 8, 9].iter().enumerate() {
            memory[index * stride as usize..][..8].copy_from_slice(&value.to_le_bytes());
        }
        for mut harness in Harness::all() {
            let outcome = harness.run(&trace, &schema, &[memory.as_ptr() as u64, 1]);
            assert_eq!(outcome.cells, [7, 8, 9]);
        }
    }
}

/// One index into several arrays is scaled once.
#[test]
fn an_index_is_scaled_once() {
    let mut schema = Schema::new();
    let class = schema.alias_class("items");
    let cell = schema.add_cell(Cell::new("item", 8, Type::Int, class));
    let mut trace = Trace::new("items");
    let inputs = trace.input(&[Type::Addr, Type::Addr, Type::Addr, Type::Int]);
    let two = trace.const_int(2);
    let after = trace.op(Op::IntAdd, &[two, inputs[3]], Type::Int);
    let loads: Vec<Value> = [(0, inputs[3]), (1, after), (2, inputs[3]), (0, after)]
        .map(|(base, index)| {
            let inst = Inst::new(Op::ItemAddr, &[inputs[base], index]);
            let inst = inst.with(Payload::Scale { stride: 16, offset: -8 });
            let item = trace.push(inst, Some(Type::Addr)).unwrap();
            trace.push(Inst::new(Op::Load, &[item]).with(Payload::Cell(cell)), Some(Type::Int)).unwrap()
        })
        .into();
    trace.finish(&loads);
    let memory: Vec<u64> = (0..24).collect();
    let address = |index: usize| &raw const memory[index] as u64;
    let mut harness = Harness::with(Options { want_clif: true, verify: true, ..Options::default() });
    let compiled = harness.compile(&trace, &schema);
    let clif = compiled.clif.as_deref().unwrap();
    assert_eq!(clif.matches(" ishl").count(), 1, "{clif}");
    let inputs = vec![address(0), address(4), address(8), 1];
    assert_eq!(harness.run_all(&compiled, &[inputs])[0].cells, [2, 10, 10, 6]);
}

extern "C" fn many(a: i64, b: i64, c: i64, d: i64, e: i64, f: i64, floats: f64, more: f64) -> f64 {
    (a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f) as f64 + floats * 0.5 + more * 0.25
}

#[allow(clippy::too_many_arguments, reason = "the most arguments that a function may have")]
extern "C" fn most(
    a: i64,
    p: f64,
    b: i64,
    q: f64,
    c: i64,
    r: f64,
    d: i64,
    s: f64,
    e: i64,
    t: f64,
    f: i64,
    u: f64,
    v: f64,
    w: f64,
) -> i64 {
    let ints = a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f;
    ints * 1000 + (p + 2.0 * q + 3.0 * r + 4.0 * s + 5.0 * t + 6.0 * u + 7.0 * v + 8.0 * w) as i64
}

extern "C" fn null_if_odd(x: i64) -> u64 {
    if x & 1 == 1 {
        0
    } else {
        x as u64
    }
}

extern "C" fn touch(context: *mut u64) {
    // SAFETY: the test passes its own cell.
    unsafe { *context += 1 }
}

fn func(schema: &mut Schema, name: &str, params: Vec<Type>, result: Option<Type>, address: usize) -> Payload {
    let effects = FuncEffects::anything();
    Payload::Func(schema.add_func(Func {
        name: name.into(),
        params,
        result,
        effects,
        address,
        evaluable: false,
    }))
}

#[test]
fn calls_pass_every_kind_of_argument() {
    let mut schema = Schema::new();
    let mut params = vec![Type::Int; 6];
    params.extend([Type::Float; 2]);
    let many = func(&mut schema, "many", params.clone(), Some(Type::Float), many as *const () as usize);
    let mixed: Vec<Type> =
        (0..14).map(|n| if n > 11 || n % 2 == 1 { Type::Float } else { Type::Int }).collect();
    let most = func(&mut schema, "most", mixed.clone(), Some(Type::Int), most as *const () as usize);
    let touch = func(&mut schema, "touch", vec![Type::Addr], None, touch as *const () as usize);
    for mut harness in Harness::all() {
        let mut trace = Trace::new("calls");
        let ints = trace.input(&[Type::Int, Type::Int, Type::Float]);
        let [x, y, z] = ints[..] else { unreachable!() };
        let context = trace.op(Op::Context, &[], Type::Addr);
        let args = [x, y, x, y, x, y, z, z];
        let first = trace.push(Inst::new(Op::Call, &args).with(many), Some(Type::Float)).unwrap();
        trace.push(Inst::new(Op::Call, &[context]).with(touch), None);
        let args: Vec<Value> = mixed
            .iter()
            .enumerate()
            .map(|(n, ty)| if *ty == Type::Float { z } else { [x, y][n / 2 % 2] })
            .collect();
        let second = trace.push(Inst::new(Op::Call, &args).with(most), Some(Type::Int)).unwrap();
        trace.finish(&[first, second, x, z]);
        let outcome = harness.run(&trace, &schema, &[3, 5, 2.0f64.to_bits()]);
        let ints = 3 + 10 + 9 + 20 + 15 + 30;
        let expected = [(ints as f64 + 1.0 + 0.5).to_bits(), ints * 1000 + 72, 3, 2.0f64.to_bits()];
        assert_eq!(outcome.cells, expected);
        assert_eq!(harness.context, 1);
    }
}

extern "C" fn tell(context: &mut u64, a: u64, b: u64) {
    *context = *context * 100 + a * 10 + b;
}

extern "C" fn tell_much(context: &mut u64, x: f64, a: u64, b: u64, c: u64) {
    *context = *context * 100 + x as u64 + a + b + c;
}

/// `mend` calls where the condition holds, with the context, and spoils nothing: eleven doubles and as many
/// integers live across it. A function of another kind than the thunk is for is called all the same.
#[test]
fn mend_calls_if_it_is_asked_to() {
    let mut schema = Schema::new();
    let pointers = vec![Type::Addr, Type::Int, Type::Int];
    let few = func(&mut schema, "tell", pointers, None, tell as *const () as usize);
    let types = vec![Type::Addr, Type::Float, Type::Int, Type::Int, Type::Int];
    let much = func(&mut schema, "tell_much", types, None, tell_much as *const () as usize);
    for mut harness in Harness::all() {
        for (condition, told) in [(0, 0), (1, 23_00 + 2 + 2 + 3 + 2), (-1i64 as u64, 23_09)] {
            let mut trace = Trace::new("mend");
            let inputs = trace.input(&[Type::Int, Type::Int, Type::Int, Type::Float]);
            let [asked, a, b, x] = inputs[..] else { unreachable!() };
            let ints: Vec<Value> = (0..11)
                .map(|n| {
                    let n = trace.const_int(n);
                    trace.op(Op::IntAdd, &[a, n], Type::Int)
                })
                .collect();
            let floats: Vec<Value> =
                ints.iter().map(|&int| trace.op(Op::IntToFloat, &[int], Type::Float)).collect();
            trace.push(Inst::new(Op::Mend, &[asked, a, b]).with(few), None);
            trace.push(Inst::new(Op::Mend, &[asked, x, a, b, a]).with(much), None);
            let results: Vec<Value> = ints.iter().chain(&floats).copied().collect();
            trace.finish(&results);
            harness.context = 0;
            let outcome = harness.run(&trace, &schema, &[condition, 2, 3, 2.0f64.to_bits()]);
            let expected: Vec<u64> = (2..13).chain((2..13).map(|n: u64| (n as f64).to_bits())).collect();
            assert_eq!((outcome.cells, harness.context), (expected, told));
        }
    }
}

#[test]
fn a_call_that_fails_leaves_the_trace() {
    let mut schema = Schema::new();
    let payload =
        func(&mut schema, "null_if_odd", vec![Type::Int], Some(Type::Ref), null_if_odd as *const () as usize);
    let mut trace = Trace::new("try");
    let inputs = trace.input(&[Type::Int]);
    let snap = trace.snap(&inputs);
    let call = Inst::new(Op::TryCall, &inputs).with(payload).at(Some(snap));
    let object = trace.push(call, Some(Type::Ref)).unwrap();
    trace.finish(&[object]);
    let mut harness = Harness::new();
    assert_eq!(harness.run(&trace, &schema, &[8]), Outcome { exit: 1, cells: vec![8] });
    assert_eq!(harness.run(&trace, &schema, &[7]), Outcome { exit: 0, cells: vec![7] });
}

#[test]
fn what_cannot_be_compiled_says_why() {
    let mut schema = Schema::new();
    let unknown = func(&mut schema, "elsewhere", vec![], None, 0);
    let mut compiler = Compiler::new(Options::default()).unwrap();
    let mut reason = |build: &dyn Fn(&mut Trace, &[Value])| {
        let mut trace = Trace::new("bad");
        let inputs = trace.input(&[Type::Int]);
        build(&mut trace, &inputs);
        let mut buffer = [0; 4];
        match compiler.compile(&trace, &schema, &Request::new(1, buffer.as_mut_ptr())) {
            Ok(_) => "compiled",
            Err(error) => error.reason(),
        }
    };
    assert_eq!(reason(&|trace, inputs| trace.finish(inputs)), "compiled");
    assert_eq!(reason(&|_, _| ()), "malformed_trace");
    assert_eq!(reason(&|trace, inputs| trace.jump(LabelId(7), inputs)), "malformed_trace");
    assert_eq!(reason(&|trace, _| trace.jump(LabelId(0), &[])), "malformed_trace");
    assert_eq!(
        reason(&|trace, _| {
            trace.push(Inst::new(Op::Call, &[]).with(unknown), None);
        }),
        "unknown_function"
    );
    assert_eq!(
        reason(&|trace, inputs| {
            let object = trace.constant(Type::Ref, Const::Object(3));
            let null = trace.op(Op::RefIsNull, &[object], Type::Int);
            trace.finish(&[null, inputs[0]]);
        }),
        "unbound_object"
    );
    // A value of the preamble after a label that it was not passed to.
    assert_eq!(
        reason(&|trace, inputs| {
            trace.jump(LabelId(1), inputs);
            trace.label(&[Type::Int]);
            trace.finish(inputs);
        }),
        "undefined_value"
    );
}

/// Loads, stores, calls, entry and exits for 64-bit Arm: looked at, not run.
#[test]
fn structure_has_code_for_aarch64() {
    let options = Options { target: Target::Aarch64, verify: true, want_disasm: true, ..Options::default() };
    let mut harness = Harness::with(options);
    harness.force = Some(Box::new(0));
    harness.iterations = Some(Box::new(0));
    harness.compile(&sum_loop(), &Schema::new());
    let (trace, schema) = framed();
    let compiled = harness.compile(&trace, &schema);
    assert!(compiled.disasm.expect("it was asked for").contains("ldrb"), "the tag check");

    let mut schema = Schema::new();
    let class = schema.alias_class("memory");
    let params: Vec<Type> = (0..14).map(|n| if n % 7 < 3 { Type::Int } else { Type::Float }).collect();
    let most = func(&mut schema, "most", params.clone(), Some(Type::Ref), 0x1234_5678_9ABC);
    let mut trace = Trace::new("arm");
    let inputs = trace.input(&[Type::Addr, Type::Int, Type::Float]);
    for width in [1u8, 2, 4, 8] {
        for signed in [false, true] {
            let name = format!("cell{width}{signed}");
            let cell = schema.add_cell(Cell { signed, ..Cell::narrow(&name, -4, width, class) });
            let item =
                Inst::new(Op::ItemAddr, &inputs[..2]).with(Payload::Scale { stride: 24, offset: 1 << 20 });
            let item = trace.push(item, Some(Type::Addr)).unwrap();
            let load = Inst::new(Op::Load, &[item]).with(Payload::Cell(cell));
            let loaded = trace.push(load, Some(Type::Int)).unwrap();
            trace.push(Inst::new(Op::Store, &[inputs[0], loaded]).with(Payload::Cell(cell)), None);
        }
    }
    let args: Vec<Value> =
        params.iter().map(|ty| if *ty == Type::Float { inputs[2] } else { inputs[1] }).collect();
    let snap = trace.snap(&inputs);
    trace.push(Inst::new(Op::TryCall, &args).with(most).at(Some(snap)), Some(Type::Ref));
    trace.jump(LabelId(0), &inputs);
    let compiled = harness.compile(&trace, &schema);
    assert!(compiled.stats.code_bytes.is_multiple_of(4));
}

/// A trace that has everything a listing distinguishes: a preamble, constants in memory, shared stubs, a
/// refused entry.
fn listed(options: Options) -> (Trace, Schema, Compiled) {
    let (mut trace, mut schema) = (Trace::new("listed"), Schema::new());
    let class = schema.alias_class("memory");
    let cell = schema.add_cell(Cell::narrow("tag", 8, 1, class));
    let inputs = trace.input(&[Type::Addr, Type::Int, Type::Float]);
    let (half, nineteen, one) = (trace.const_float(0.3), trace.const_int(19), trace.const_int(1));
    let tag = Inst::new(Op::Load, &[inputs[0]]).with(Payload::Cell(cell));
    let tag = trace.push(tag, Some(Type::Int)).unwrap();
    let snap = Some(trace.snap(&inputs));
    trace.guard(Op::GuardValue, &[tag, nineteen], snap);
    let (label, args) = trace.label(&[Type::Addr, Type::Int, Type::Float]);
    trace.insts.pop();
    trace.jump(label, &inputs);
    trace.push(Inst::new(Op::Label, &args).with(Payload::Label(label)), None);
    let snap = Some(trace.snap(&args));
    let product = trace.op(Op::FloatMul, &[args[2], half], Type::Float);
    let small = trace.op(Op::FloatLt, &[product, half], Type::Int);
    trace.guard(Op::GuardFalse, &[small], snap);
    let next = trace.op(Op::IntSub, &[args[1], one], Type::Int);
    let more = trace.op(Op::IntGt, &[next, one], Type::Int);
    trace.guard(Op::GuardTrue, &[more], snap);
    trace.jump(label, &[args[0], next, product]);
    let mut harness =
        Harness::with(Options { want_listing: true, no_unrolling: true, verify: true, ..options });
    let compiled = harness.compile(&trace, &schema);
    (trace, schema, compiled)
}

/// In the listing each instruction of the trace stands once and in order, guards with a compare and a jump
/// below; after them each exit, and the bytes of the whole code.
#[test]
fn the_listing_shows_code_below_its_instruction() {
    let (trace, schema, compiled) = listed(Options::default());
    let listing = compiled.listing.unwrap();
    let is_code = |line: &&str| line.starts_with("     ");
    let lines: Vec<&str> = listing.lines().collect();
    let mut place = 0;
    for inst in &trace.insts {
        let text = tracelift_core::text::print_inst(&trace, &schema, inst);
        let found =
            lines.iter().position(|&line| line == text).unwrap_or_else(|| panic!("{text}: {listing}"));
        assert!(found >= place, "{text}: {listing}");
        place = found + 1;
        assert!(!lines[place..].contains(&text.as_str()), "{text}: {listing}");
        let below: Vec<&str> = lines[place..].iter().copied().take_while(is_code).collect();
        if inst.op.is_guard() {
            let has = |words: &[&str]| {
                below
                    .iter()
                    .any(|line| words.iter().any(|&word| line.split_whitespace().nth(1) == Some(word)))
            };
            if cfg!(target_arch = "x86_64") {
                assert!(has(&["cmp", "test", "ucomisd", "vucomisd"]), "{text}: {listing}");
                assert!(below.iter().any(|line| line.contains("  j")), "{text}: {listing}");
            }
            if cfg!(target_arch = "aarch64") {
                assert!(has(&["cmp", "tst", "subs", "ands", "fcmp", "cbz", "cbnz"]), "{text}: {listing}");
                assert!(below.iter().any(|line| line.contains(" 0x")), "a branch: {text}: {listing}");
            }
        }
    }
    let headings: Vec<&str> = lines.iter().copied().filter(|line| line.ends_with(':')).collect();
    for heading in ["entry:", "exit 0 (guard):", "exit 1 (guard):", "all exits:"] {
        assert_eq!(headings.iter().filter(|&&line| line == heading).count(), 1, "{heading} {listing}");
    }
    if cfg!(target_arch = "x86_64") {
        assert!(
            listing.contains("constants:") && listing.contains(&format!("{:#x}", 0.3f64.to_bits())),
            "{listing}"
        );
    }
    let positions: Vec<usize> = (lines.iter().filter(|line| is_code(line)))
        .map(|line| usize::from_str_radix(line.split_whitespace().next().unwrap(), 16).unwrap())
        .collect();
    assert!(positions[0] == 0 && positions.is_sorted(), "{listing}");
    assert!(positions.last().unwrap() + 16 > compiled.code.len(), "{listing}");
    assert!(!listing.contains("(bad)") && !listing.contains(".word"), "{listing}");
}

/// A build has the disassembler for its own processor.
#[test]
fn the_listing_says_where_it_cannot_disassemble() {
    if cfg!(target_arch = "aarch64") {
        return;
    }
    let (trace, schema, compiled) = listed(Options { target: Target::Aarch64, ..Options::default() });
    let listing = compiled.listing.unwrap();
    assert!(listing.starts_with("there is no disassembler"), "{listing}");
    assert!(listing.matches(".word").count() * 4 > compiled.code.len() / 2, "{listing}");
    for inst in &trace.insts {
        let text = tracelift_core::text::print_inst(&trace, &schema, inst);
        assert!(listing.lines().any(|line| line == text), "{text}: {listing}");
    }
}

#[test]
fn texts_on_request() {
    let options = Options { want_clif: true, want_disasm: true, verify: true, ..Options::default() };
    let mut harness = Harness::with(options);
    let compiled = harness.compile(&sum_loop(), &Schema::new());
    let clif = compiled.clif.unwrap();
    assert!(clif.contains("sadd_overflow") && clif.contains("cold"), "{clif}");
    assert!(compiled.disasm.unwrap().len() > 100);
}
