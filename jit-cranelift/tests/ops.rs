//! Every op against its meaning in the op table, on edge values, with operands in registers and as constants.
//!
//! Ops without an `eval` (memory, calls, structure) have tests of their own; a test here counts both kinds,
//! so that a new op cannot be forgotten.

mod common;

use common::*;
use tracelift_core::ops::{ArgType, Arity, Flags, ResultType};
use tracelift_core::{ir::*, Op, Schema, Type};

/// The types of an op's arguments, one list per choice of `Same` and `Pointer`.
fn signatures(op: Op) -> Vec<Vec<Type>> {
    let Arity::Fixed(kinds) = op.info().args else { return Vec::new() };
    let pick = |kind: &ArgType, same: Type| match *kind {
        ArgType::Is(ty) => ty,
        ArgType::Pointer if same == Type::Addr => Type::Addr,
        ArgType::Pointer => Type::Ref,
        ArgType::Same => same,
        ArgType::Declared => unreachable!("only ops on memory declare types"),
    };
    let mut signatures: Vec<Vec<Type>> =
        Type::ALL.iter().map(|&same| kinds.iter().map(|kind| pick(kind, same)).collect()).collect();
    signatures.dedup();
    signatures
}

fn edges(ty: Type) -> Vec<u64> {
    match ty {
        Type::Int => INTS.map(|int| int as u64).into(),
        Type::Float => floats(),
        Type::Ref | Type::Addr => vec![0, 0x1000, 0x1008, !7],
    }
}

fn tuples(types: &[Type]) -> Vec<Vec<u64>> {
    types.iter().fold(vec![Vec::new()], |tuples, &ty| {
        let edges = if types.len() > 2 { edges(ty).into_iter().step_by(3).collect() } else { edges(ty) };
        tuples
            .iter()
            .flat_map(|tuple| edges.iter().map(move |&edge| [&tuple[..], &[edge]].concat()))
            .collect()
    })
}

fn result_type(op: Op, types: &[Type]) -> Option<Type> {
    match op.info().result {
        ResultType::Nothing => None,
        ResultType::Is(ty) => Some(ty),
        ResultType::Same => Some(types[types.len() - 1]),
        ResultType::Declared => unreachable!("only ops on memory declare types"),
    }
}

/// `finish(op(...))`, with the arguments at the positions in `constants` as constants.
fn trace_of(op: Op, types: &[Type], constants: &[Option<u64>]) -> Trace {
    let mut trace = Trace::new(op.info().name);
    let inputs = trace.input(types);
    let args: Vec<Value> = (inputs.iter().zip(constants))
        .map(|(&input, constant)| match constant {
            Some(bits) => trace.constant(trace.ty(input), Const::Bits(*bits)),
            None => input,
        })
        .collect();
    let result = trace.push(Inst::new(op, &args), result_type(op, types));
    trace.finish(result.as_slice());
    trace
}

fn check(op: Op, types: &[Type], inputs: &[u64], outcome: &Outcome) {
    let eval = op.info().eval.expect("the op has a meaning");
    let context = || format!("{} {inputs:x?} gave {outcome:x?}", op.info().name);
    match eval(inputs) {
        Some(expected) => {
            // `finish` is exit 1 after a guard, else exit 0.
            assert_eq!(outcome.exit, op.is_guard() as u32, "{}", context());
            if result_type(op, types).is_some() {
                assert_eq!(outcome.cells, [expected], "{}, not {expected:x}", context());
            }
        }
        None if op.is_guard() => assert_eq!(outcome.exit, 0, "{}", context()),
        // No value: anything may come out, but no trap.
        None => assert_eq!(outcome.exit, 0, "{}", context()),
    }
}

fn evaluated() -> impl Iterator<Item = Op> {
    Op::ALL.iter().copied().filter(|op| op.info().eval.is_some())
}

#[test]
fn ops_agree_with_their_meaning() {
    for mut harness in Harness::all() {
        for op in evaluated() {
            for types in signatures(op) {
                let tuples = tuples(&types);
                let compiled =
                    harness.compile(&trace_of(op, &types, &vec![None; types.len()]), &Schema::new());
                let outcomes = harness.run_all(&compiled, &tuples);
                for (inputs, outcome) in tuples.iter().zip(&outcomes) {
                    check(op, &types, inputs, outcome);
                }
            }
        }
    }
}

#[test]
fn ops_agree_with_constant_operands() {
    let mut harness = Harness::new();
    for op in evaluated() {
        for types in signatures(op) {
            for (position, &ty) in types.iter().enumerate() {
                for constant in edges(ty) {
                    let mut constants = vec![None; types.len()];
                    constants[position] = Some(constant);
                    let compiled = harness.compile(&trace_of(op, &types, &constants), &Schema::new());
                    let mut tuples = tuples(&types);
                    tuples.retain_mut(|tuple| {
                        let first = tuple[position] == edges(ty)[0];
                        tuple[position] = constant;
                        first
                    });
                    let outcomes = harness.run_all(&compiled, &tuples);
                    for (inputs, outcome) in tuples.iter().zip(&outcomes) {
                        check(op, &types, inputs, outcome);
                    }
                }
            }
        }
    }
}

/// Comparisons are emitted at their use: as a number, in both guards, and as a select's condition.
#[test]
fn comparisons_agree_in_every_use() {
    let suffixes = ["_eq", "_ne", "_lt", "_le", "_gt", "_ge", "_is_null"];
    let compares = evaluated().filter(|op| suffixes.iter().any(|suffix| op.info().name.ends_with(suffix)));
    let mut harness = Harness::new();
    let mut seen = 0;
    for op in compares {
        seen += 1;
        for types in signatures(op) {
            for guard in [Op::GuardTrue, Op::GuardFalse] {
                let mut trace = Trace::new(op.info().name);
                let inputs = trace.input(&types);
                let flag = trace.op(op, &inputs, Type::Int);
                let snap = trace.snap(&[flag]);
                let (one, two) = (trace.const_float(1.0), trace.const_float(2.0));
                let selected = trace.op(Op::Select, &[flag, one, two], Type::Float);
                trace.guard(guard, &[flag], Some(snap));
                let sum = trace.op(Op::IntAdd, &[flag, flag], Type::Int);
                trace.finish(&[flag, selected, sum]);
                let compiled = harness.compile(&trace, &Schema::new());
                let tuples = tuples(&types);
                for (inputs, outcome) in tuples.iter().zip(harness.run_all(&compiled, &tuples)) {
                    let flag = op.info().eval.unwrap()(inputs).expect("comparisons are total");
                    let holds = (flag != 0) == (guard == Op::GuardTrue);
                    let expected = match holds {
                        true => {
                            let selected = if flag != 0 { 1.0f64 } else { 2.0 };
                            Outcome { exit: 1, cells: vec![flag, selected.to_bits(), flag * 2] }
                        }
                        false => Outcome { exit: 0, cells: vec![flag] },
                    };
                    assert_eq!(outcome, expected, "{} {inputs:x?}", op.info().name);
                }
            }
        }
    }
    assert_eq!(seen, 20, "comparisons in the op table");
}

/// A left operand that has just been loaded must not change places with the right one.
#[test]
fn nan_operands_stay_in_place() {
    use tracelift_core::schema::Cell;
    let mut schema = Schema::new();
    let class = schema.alias_class("memory");
    let cell = schema.add_cell(Cell::new("double", 0, Type::Float, class));
    for mut harness in Harness::all() {
        for op in [Op::FloatAdd, Op::FloatSub, Op::FloatMul, Op::FloatDiv] {
            for loaded in 0..2 {
                let mut trace = Trace::new("nan");
                let inputs = trace.input(&[Type::Addr, Type::Float]);
                let load = Inst::new(Op::Load, &[inputs[0]]).with(Payload::Cell(cell));
                let other = trace.push(load, Some(Type::Float)).unwrap();
                let mut args = [other, inputs[1]];
                args.rotate_left(loaded);
                let result = trace.op(op, &args, Type::Float);
                trace.finish(&[result]);
                let (in_memory, in_register) = (0xFFF8_0000_0000_0001u64, 0x7FF8_0000_0000_0002);
                let outcome = harness.run(&trace, &schema, &[&raw const in_memory as u64, in_register]);
                let expected = if loaded == 0 { in_memory } else { in_register };
                assert_eq!(outcome.cells, [expected], "{} {loaded}", op.info().name);
            }
        }
    }
}

/// The same lowering serves 64-bit Arm: every op gives code, without relocations (the compiler refuses
/// those).
#[test]
fn every_op_has_code_for_aarch64() {
    use tracelift_cranelift::*;
    for optimize in [false, true] {
        let options = Options { target: Target::Aarch64, optimize, verify: true, ..Options::default() };
        let mut harness = Harness::with(options);
        for op in evaluated() {
            for types in signatures(op) {
                let mut choices = vec![vec![None; types.len()]];
                for (position, &ty) in types.iter().enumerate() {
                    choices.extend(edges(ty).into_iter().map(|edge| {
                        let mut constants = vec![None; types.len()];
                        constants[position] = Some(edge);
                        constants
                    }));
                }
                for constants in choices {
                    let compiled = harness.compile(&trace_of(op, &types, &constants), &Schema::new());
                    assert!(compiled.stats.code_bytes > 0 && compiled.stats.code_bytes.is_multiple_of(4));
                }
            }
        }
    }
}

/// The ops that have no meaning on bits alone; each is tested elsewhere in this crate, or refused by
/// lowering.
#[test]
fn every_op_is_accounted_for() {
    let elsewhere = [
        Op::Context,
        Op::FrameBase,
        Op::ItemAddr,
        Op::Load,
        Op::Store,
        Op::Call,
        Op::TryCall,
        Op::Mend,
        Op::Label,
        Op::Jump,
        Op::JumpIf,
        Op::EnterLoop,
        Op::Finish,
        Op::CallUnit,
        Op::UnitResult,
        Op::ReturnUnit,
    ];
    for &op in Op::ALL {
        let ways =
            op.info().eval.is_some() as u32 + elsewhere.contains(&op) as u32 + op.is(Flags::RECORD) as u32;
        assert_eq!(ways, 1, "{}", op.info().name);
    }
}

#[test]
fn record_operations_are_refused_by_name() {
    use tracelift_cranelift::*;
    let mut compiler = Compiler::new(Options::default()).unwrap();
    for &op in Op::ALL.iter().filter(|op| op.is(Flags::RECORD)) {
        let mut trace = Trace::new("record");
        let inputs = trace.input(&[Type::Ref]);
        trace.push(Inst::new(op, &inputs), None);
        trace.finish(&[]);
        let error =
            compiler.compile(&trace, &Schema::new(), &Request::new(0, std::ptr::null_mut())).unwrap_err();
        assert!(matches!(error, CompileError::RecordOp { op: named, inst: 1 } if named == op), "{error}");
        assert!(error.to_string().contains(op.info().name), "{error}");
    }
    // The compiler is as good as new afterwards.
    let trace = trace_of(Op::IntAdd, &[Type::Int; 2], &[None; 2]);
    let mut buffer = [0u64; 4];
    compiler.compile(&trace, &Schema::new(), &Request::new(0, buffer.as_mut_ptr())).unwrap();
}
