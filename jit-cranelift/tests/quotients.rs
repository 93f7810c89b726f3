//! Quotients of integers that are made as doubles and rounded: each against the operations' own meaning, for
//! integers on both sides of what is divided as an integer, at the exit that the conversion and other guards
//! share, and where the doubles are wanted besides.

mod common;

use common::*;
use tracelift_core::testgen::Rng;
use tracelift_core::{ir::*, Op, Schema, Type};
use tracelift_cranelift::Options;

/// A chain: how the integer is divided, by what, how that is rounded, and whether the quotient is wanted.
#[derive(Clone, Copy, Debug)]
struct Chain {
    divide: Op,
    by: f64,
    round: Op,
    is_wanted: bool,
}

fn evaluated(op: Op, args: &[u64]) -> Option<u64> {
    op.info().eval.expect("it is a plain operation")(args)
}

impl Chain {
    /// The guards before and after the conversion leave by its exit, which has all the doubles.
    fn trace(self) -> Trace {
        let mut trace = Trace::new("quotient");
        let inputs = trace.input(&[Type::Int]);
        let by = trace.const_float(self.by);
        let seven = trace.const_int(7);
        let double = trace.op(Op::IntToFloat, &inputs, Type::Float);
        let quotient = trace.op(self.divide, &[double, by], Type::Float);
        let rounded = trace.op(self.round, &[quotient], Type::Float);
        let snap = trace.snap(&[inputs[0], double, quotient, rounded]);
        let is_other = trace.op(Op::IntNe, &[inputs[0], seven], Type::Int);
        trace.guard(Op::GuardTrue, &[is_other], Some(snap));
        let convert = Inst::new(Op::FloatToIntExact, &[rounded]).at(Some(snap));
        let int = trace.push(convert, Some(Type::Int)).expect("it has a result");
        let is_other = trace.op(Op::IntNe, &[int, seven], Type::Int);
        trace.guard(Op::GuardTrue, &[is_other], Some(snap));
        match self.is_wanted {
            true => trace.finish(&[int, quotient]),
            false => trace.finish(&[int]),
        }
        trace
    }

    /// Whether it comes to its end, and what is live there or at the exit.
    fn meaning(self, int: u64) -> (bool, Vec<u64>) {
        let pure = |op, args: &[u64]| evaluated(op, args).expect("it has a value");
        let double = pure(Op::IntToFloat, &[int]);
        let quotient = pure(self.divide, &[double, self.by.to_bits()]);
        let rounded = pure(self.round, &[quotient]);
        match evaluated(Op::FloatToIntExact, &[rounded]) {
            Some(result) if int != 7 && result != 7 => {
                (true, if self.is_wanted { vec![result, quotient] } else { vec![result] })
            }
            _ => (false, vec![int, double, quotient, rounded]),
        }
    }
}

/// Integers that are hard for a divisor: next to its multiples, next to powers of two, and any.
fn dividends(rng: &mut Rng, by: f64) -> Vec<u64> {
    let near = |int: i64| (-2..=2).map(move |more| int.wrapping_add(more));
    let mut ints: Vec<i64> = [0, 7, 70, i64::MAX, i64::MIN].into_iter().flat_map(near).collect();
    for log in [31, 32, 51, 52, 53, 54, 62] {
        ints.extend(near(1 << log).chain(near(-(1 << log))));
    }
    for _ in 0..200 {
        let int = (rng.bits() >> rng.below(64)) as i64;
        ints.extend(near(int));
        let below = rng.below(1 << 52) as i64;
        ints.extend(near((by as i64).saturating_mul(below / (by as i64).max(1))));
    }
    ints.into_iter().map(|int| int as u64).collect()
}

fn check(harness: &mut Harness, chain: Chain, ints: &[u64]) {
    let compiled = harness.compile(&chain.trace(), &Schema::new());
    let inputs: Vec<Vec<u64>> = ints.iter().map(|&int| vec![int]).collect();
    for (&int, outcome) in ints.iter().zip(harness.run_all(&compiled, &inputs)) {
        let (ends, live) = chain.meaning(int);
        assert_eq!((outcome.exit == 1, outcome.cells), (ends, live), "{chain:?} of {}", int as i64);
    }
}

#[test]
fn quotients_are_those_of_doubles() {
    let mut rng = Rng::new(1);
    let mut divisions: Vec<(Op, f64)> =
        [2.0, 3.0, 7.0, 10.0, 60.0, 1000.0, 65536.0, 1.0, 0.5, -2.0, 2.5, 0.0]
            .map(|by| (Op::FloatDiv, by))
            .into();
    divisions.extend(
        [0.5, 0.25, 1.0, 2.0, 0.1, -0.5, 2f64.powi(-52), 2f64.powi(-53)].map(|by| (Op::FloatMul, by)),
    );
    for log in [31, 32, 51, 52, 53] {
        divisions.extend([-1.0, 0.0, 1.0].map(|more| (Op::FloatDiv, 2f64.powi(log) + more)));
    }
    divisions.extend((0..40).map(|_| {
        let bits = 1 + rng.below(53);
        (Op::FloatDiv, rng.below(1 << bits) as f64)
    }));
    for mut harness in Harness::all() {
        for (divide, by) in divisions.iter().copied() {
            let ints = dividends(&mut rng, by);
            for round in [Op::FloatFloor, Op::FloatCeil] {
                for is_wanted in [false, true] {
                    check(&mut harness, Chain { divide, by, round, is_wanted }, &ints);
                }
            }
        }
    }
}

/// What is tested is there: the usual chain divides no doubles before its first branch, and one whose
/// quotient is wanted does.
#[test]
fn chains_are_divided_as_integers() {
    let mut harness = Harness::with(Options { want_clif: true, verify: true, ..Options::default() });
    let mut divides_first = |is_wanted| {
        let chain = Chain { divide: Op::FloatDiv, by: 10.0, round: Op::FloatFloor, is_wanted };
        let clif = harness.compile(&chain.trace(), &Schema::new()).clif.expect("it is wanted");
        clif.find("fdiv") < clif.find("brif")
    };
    assert!(divides_first(true) && !divides_first(false));
}
