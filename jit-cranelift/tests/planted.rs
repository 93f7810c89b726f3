//! Deliberate bugs of lowering, each of which these tests must see.

mod common;

use common::*;
use tracelift_core::planted::{with_planted, Bug};
use tracelift_core::schema::Cell;
use tracelift_core::testbed::standard_schema;
use tracelift_core::text::parse_trace;
use tracelift_core::{ir::*, Op, Schema, Type};
use tracelift_cranelift::Options;

/// The outcome without the bug, and with it. Loops are not unrolled: the copies of a short one pass no
/// arguments by jumps.
fn both(bug: Bug, trace: &Trace, schema: &Schema, inputs: &[u64]) -> (Outcome, Outcome) {
    let quick = format!("{bug:?}").starts_with("Quick");
    let mut harness =
        Harness::with(Options { no_unrolling: true, verify: true, quick, ..Options::default() });
    let right = harness.run(trace, schema, inputs);
    let wrong = with_planted(bug, || harness.run(trace, schema, inputs));
    assert_eq!(right, harness.run(trace, schema, inputs), "the bug is off again");
    (right, wrong)
}

fn binary(bug: Bug, op: Op, inputs: [i64; 2]) {
    let mut trace = Trace::new("binary");
    let args = trace.input(&[Type::Int; 2]);
    let result = trace.op(op, &args, Type::Int);
    trace.finish(&[result]);
    let (right, wrong) = both(bug, &trace, &Schema::new(), &inputs.map(|int| int as u64));
    assert_eq!(right.cells, [op.info().eval.unwrap()(&inputs.map(|int| int as u64)).unwrap()]);
    assert_ne!(right, wrong);
}

#[test]
fn unsigned_as_signed() {
    for op in [Op::UintLt, Op::UintLe, Op::UintGt, Op::UintGe] {
        binary(Bug::LowerUnsignedAsSigned, op, [1, -1]);
    }
}

#[test]
fn floor_division_truncates() {
    binary(Bug::LowerFloorDivTruncates, Op::IntFloorDiv, [-7, 2]);
}

#[test]
fn large_operands_of_any_sign() {
    binary(Bug::LowerDivisionSignIgnored, Op::IntFloorDiv, [-7, 2]);
}

/// The integer above a quotient that is made as a double.
#[test]
fn quotients_are_rounded_down() {
    let mut trace = Trace::new("quotient");
    let inputs = trace.input(&[Type::Int]);
    let ten = trace.const_float(10.0);
    let double = trace.op(Op::IntToFloat, &inputs, Type::Float);
    let quotient = trace.op(Op::FloatDiv, &[double, ten], Type::Float);
    let above = trace.op(Op::FloatCeil, &[quotient], Type::Float);
    let snap = trace.snap(&inputs);
    let int = trace.push(Inst::new(Op::FloatToIntExact, &[above]).at(Some(snap)), Some(Type::Int)).unwrap();
    trace.finish(&[int]);
    let (right, wrong) = both(Bug::LowerQuotientRoundedDown, &trace, &Schema::new(), &[41]);
    assert_eq!((right.cells, wrong.cells), (vec![5], vec![4]));
}

/// A loop over the items of a row, which is left with the sum of those that it has read.
#[test]
fn items_of_a_row() {
    let (trace, schema) = sum_of_row();
    let items: Vec<[i64; 2]> = (0..40).map(|item| [item * item, 0]).collect();
    let inputs = [items.as_ptr() as u64, 10, 3, 5, 0];
    let mut bugs = vec![Bug::LowerRowAddendForgotten];
    if cfg!(target_arch = "x86_64") {
        bugs.push(Bug::QuickScaleForgotten);
    }
    for bug in bugs {
        let (right, wrong) = both(bug, &trace, &schema, &inputs);
        assert_ne!(right, wrong, "{bug:?}");
    }
}

#[test]
fn narrow_load_extends_wrongly() {
    for signed in [false, true] {
        let mut schema = Schema::new();
        let class = schema.alias_class("memory");
        let cell = schema.add_cell(Cell { signed, ..Cell::narrow("byte", 0, 1, class) });
        let mut trace = Trace::new("narrow");
        let inputs = trace.input(&[Type::Addr]);
        let load = Inst::new(Op::Load, &inputs).with(Payload::Cell(cell));
        let byte = trace.push(load, Some(Type::Int)).unwrap();
        trace.finish(&[byte]);
        let memory = [0x80u8; 8];
        let (right, wrong) = both(Bug::LowerNarrowLoadSigned, &trace, &schema, &[memory.as_ptr() as u64]);
        assert_ne!(right, wrong);
    }
}

/// Both tags of an entry, which the right code finds once as expected and once not. Only guards of one exit
/// are made together.
#[test]
fn checks_of_one_entry() {
    let text = "L0(a0):\n@0 = frame[0: int 7]\ni1 = load(a0, entry.key_tag)\nguard_value(i1, 1) @0\n\
                p2 = load(a0, entry.key)\nguard_value(p2, ref:0x5) @0\n\
                i3 = load(a0, entry.tag)\nguard_value(i3, 3) @0\nfinish()\n";
    let schema = standard_schema();
    let trace = parse_trace(text, &schema).expect(text);
    for (bug, tag, key_tag) in [(Bug::LowerNeighboursExchanged, 3, 1), (Bug::LowerCheckForgotten, 3, 2)] {
        let entry = [0u64, tag | key_tag << 8, 5];
        let (right, wrong) = both(bug, &trace, &schema, &[entry.as_ptr() as u64]);
        assert_ne!(right, wrong, "{bug:?}");
    }
}

#[test]
fn jump_arguments_one_after_the_other() {
    let mut trace = Trace::new("swap");
    let args = trace.input(&[Type::Int; 3]);
    let zero = trace.const_int(0);
    let snap = trace.snap(&args[..2]);
    trace.guard(Op::GuardTrue, &args[2..], Some(snap));
    trace.jump(LabelId(0), &[args[1], args[0], zero]);
    let (right, wrong) = both(Bug::LowerJumpArgsSequential, &trace, &Schema::new(), &[1, 2, 1]);
    assert_eq!((right.cells, wrong.cells), (vec![2, 1], vec![2, 2]));
}
