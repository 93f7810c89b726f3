//! Remainders of doubles against the C library, bit by bit: many distributions, divisors in registers and as
//! constants.
//!
//! What is done in place and what is left to the library must not show: neither in the result nor in what
//! else is live.

mod common;

use common::*;
use tracelift_core::testgen::Rng;
use tracelift_core::{ir::*, Op, Schema, Type};

// SAFETY: the C library declares it so, and it takes all numbers.
unsafe extern "C" {
    safe fn fmod(x: f64, y: f64) -> f64;
}

/// `luai_nummod` of Lua 5.4.
fn lua_mod(x: f64, y: f64) -> f64 {
    let mut m = fmod(x, y);
    if if m > 0.0 { y < 0.0 } else { m < 0.0 && y > 0.0 } {
        m += y;
    }
    m
}

type Reference = fn(f64, f64) -> f64;
const OPS: [(Op, Reference); 2] = [(Op::FloatRem, |x, y| fmod(x, y)), (Op::FloatFloorMod, lua_mod)];

/// A double of a random kind.
fn any(rng: &mut Rng) -> f64 {
    let sign = if rng.chance(50) { 1.0 } else { -1.0 };
    let small = |rng: &mut Rng, n| rng.below(n) as f64;
    sign * match rng.below(12) {
        0 => f64::from_bits(rng.bits()),
        1 => small(rng, 20),
        2 => small(rng, 1 << 31),
        3 => small(rng, 1 << 53),
        4 => small(rng, 1000) / 10.0,
        5 => small(rng, 1000) * 0.1,
        6 => small(rng, 1 << 40) / 1024.0,
        7 => f64::from_bits(rng.below(1 << 54)),
        8 => 2f64.powi(rng.below(2100) as i32 - 1060),
        9 => small(rng, 1 << 53) * 2f64.powi(rng.below(120) as i32 - 60),
        10 => std::f64::consts::PI * small(rng, 1 << 20),
        _ => f64::from_bits(*rng.pick(&floats())),
    }
}

/// The doubles next to this one, and itself.
fn near(x: f64) -> [f64; 5] {
    [x, x.next_up(), x.next_down(), x.next_up().next_up(), x.next_down().next_down()]
}

/// Dividends that are hard for a divisor: multiples of it and their neighbours, halves, and anything.
fn dividends(rng: &mut Rng, y: f64) -> Vec<f64> {
    let mut all = vec![any(rng)];
    let factor = match rng.below(4) {
        0 => rng.below(10) as f64,
        1 => rng.below(1 << 20) as f64,
        2 => rng.below(1 << 53) as f64,
        _ => 2f64.powi(rng.below(120) as i32 - 20),
    };
    all.extend(near(y * factor));
    all.extend(near(-y * factor));
    all.extend(near(y * (factor + 0.5)));
    all.extend(near(y));
    all
}

fn trace_of(op: Op, constant: Option<f64>) -> Trace {
    let mut trace = Trace::new("remainder");
    let inputs = trace.input(&[Type::Float, Type::Float]);
    let y = constant.map_or(inputs[1], |y| trace.const_float(y));
    let result = trace.op(op, &[inputs[0], y], Type::Float);
    trace.finish(&[result]);
    trace
}

fn check(harness: &mut Harness, op: Op, reference: Reference, constant: Option<f64>, pairs: &[(f64, f64)]) {
    let compiled = harness.compile(&trace_of(op, constant), &Schema::new());
    let inputs: Vec<Vec<u64>> = pairs.iter().map(|&(x, y)| vec![x.to_bits(), y.to_bits()]).collect();
    for (&(x, y), outcome) in pairs.iter().zip(harness.run_all(&compiled, &inputs)) {
        let (found, expected) = (outcome.cells[0], reference(x, y).to_bits());
        assert_eq!(
            found,
            expected,
            "{}({x:e}, {y:e}) gave {:e} and not {:e} ({constant:?})",
            op.info().name,
            f64::from_bits(found),
            f64::from_bits(expected)
        );
    }
}

#[test]
fn remainders_have_the_librarys_bits() {
    let mut rng = Rng::new(1);
    let mut pairs: Vec<(f64, f64)> = Vec::new();
    for x in floats() {
        pairs.extend(floats().iter().map(|&y| (f64::from_bits(x), f64::from_bits(y))));
    }
    while pairs.len() < 300_000 {
        let y = any(&mut rng);
        pairs.extend(dividends(&mut rng, y).into_iter().map(|x| (x, y)));
    }
    for mut harness in Harness::all() {
        for (op, reference) in OPS {
            check(&mut harness, op, reference, None, &pairs);
        }
    }
}

#[test]
fn remainders_by_constants_have_the_librarys_bits() {
    let mut rng = Rng::new(2);
    let mut divisors: Vec<f64> = floats().into_iter().map(f64::from_bits).collect();
    divisors.extend([
        2.0,
        3.0,
        10.0,
        360.0,
        2147483647.0,
        0.2,
        std::f64::consts::TAU,
        2f64.powi(-1022),
        1e-310,
    ]);
    divisors.extend((0..100).map(|_| any(&mut rng)));
    let mut harness = Harness::new();
    for y in divisors.iter().flat_map(|&y| [y, -y]) {
        let mut pairs: Vec<(f64, f64)> = floats().into_iter().map(|x| (f64::from_bits(x), y)).collect();
        while pairs.len() < 2000 {
            pairs.extend(dividends(&mut rng, y).into_iter().map(|x| (x, y)));
        }
        for (op, reference) in OPS {
            check(&mut harness, op, reference, Some(y), &pairs);
        }
    }
}

/// A call aside leaves everything that is live alone, in more values than there are registers.
#[test]
fn calls_aside_spoil_nothing() {
    const MANY: usize = 24;
    let types: Vec<Type> = [Type::Float, Type::Float]
        .into_iter()
        .chain((0..MANY).map(|_| Type::Float))
        .chain((0..MANY).map(|_| Type::Int))
        .collect();
    let mut trace = Trace::new("live");
    let inputs = trace.input(&types);
    // Each live value is changed before and used after, so that it sits in a register meanwhile.
    let mut live: Vec<Value> = Vec::new();
    for (at, &input) in inputs[2..].iter().enumerate() {
        let (op, ty) = if at < MANY { (Op::FloatAdd, Type::Float) } else { (Op::IntAdd, Type::Int) };
        live.push(trace.op(op, &[input, input], ty));
    }
    let first = trace.op(Op::FloatRem, &inputs[..2], Type::Float);
    let second = trace.op(Op::FloatFloorMod, &inputs[..2], Type::Float);
    let mut results = vec![first, second];
    for (at, &value) in live.iter().enumerate() {
        let (op, ty) = if at < MANY { (Op::FloatAdd, Type::Float) } else { (Op::IntAdd, Type::Int) };
        results.push(trace.op(op, &[value, inputs[2 + at]], ty));
    }
    trace.finish(&results);
    for mut harness in Harness::all() {
        for (x, y) in [(7.0, 2.0), (-0.7, 0.1), (1e300, 1e-300), (5.0, f64::INFINITY), (-5.0, f64::INFINITY)]
        {
            let mut bits = vec![f64::to_bits(x), f64::to_bits(y)];
            bits.extend((0..MANY).map(|n| (n as f64 + 0.25).to_bits()));
            bits.extend((0..MANY).map(|n| n as u64 * 1001));
            let mut expected = vec![fmod(x, y).to_bits(), lua_mod(x, y).to_bits()];
            expected.extend((0..MANY).map(|n| (3.0 * (n as f64 + 0.25)).to_bits()));
            expected.extend((0..MANY).map(|n| n as u64 * 3003));
            assert_eq!(harness.run(&trace, &Schema::new(), &bits).cells, expected, "{x} {y}");
        }
    }
}

/// In a loop the stack stays as it is, whatever the calls aside.
#[test]
fn calls_aside_in_a_loop() {
    let mut trace = Trace::new("loop");
    let start = trace.input(&[Type::Int, Type::Float, Type::Float]);
    let (label, args) = trace.label(&[Type::Int, Type::Float, Type::Float]);
    // The entry label falls into the loop by a jump.
    let body = trace.insts.split_off(1);
    trace.jump(label, &start);
    trace.insts.extend(body);
    let zero = trace.const_int(0);
    let (one, step) = (trace.const_int(1), trace.const_float(1e17));
    let y = trace.const_float(3.0);
    let rest = trace.op(Op::FloatFloorMod, &[args[1], y], Type::Float);
    let sum = trace.op(Op::FloatAdd, &[args[2], rest], Type::Float);
    let next = trace.op(Op::FloatAdd, &[args[1], step], Type::Float);
    let left = trace.op(Op::IntSub, &[args[0], one], Type::Int);
    let more = trace.op(Op::IntGt, &[left, zero], Type::Int);
    let snap = trace.snap(&[sum]);
    trace.guard(Op::GuardTrue, &[more], Some(snap));
    trace.jump(label, &[left, next, sum]);
    let outcome = Harness::new().run(&trace, &Schema::new(), &[10_000, 0.5f64.to_bits(), 0]);
    let (mut x, mut sum) = (0.5, 0.0);
    for _ in 0..10_000 {
        sum += lua_mod(x, 3.0);
        x += 1e17;
    }
    assert_eq!(outcome.cells, [f64::to_bits(sum)]);
}
