//! Quotients of integers that a program makes as doubles, and rounds to integers.
//!
//! Problem: `math.floor(i / 2)` is how programs halve an integer: in a search, in a heap, in the digits of a
//! number. As written it is a conversion, a product, a rounding, a conversion back and a test that nothing
//! was lost: 25 cycles from one integer to the next, where a shift takes one. Design: such a chain is found
//! before the trace is lowered ([`Quotients::of`]), if nothing but exits wants what lies between. Its doubles
//! are recipes then ([`Def::Quotient`]), which exits carry out for themselves. Where the chain ends, an
//! integer from 0 to 2^52 - 1 is divided as an integer. Any other takes the way of doubles, apart.
//!
//! Why that is the same: let `0 <= i < 2^52`, and `1 <= d <= 2^52` an integer. `i` and `d` are doubles.
//! Let `m` be the integer below `i / d`. Rounding keeps order, and `m` is a double, so that the double
//! quotient is not below `m`. It could only be `m + 1` or more if `i / d` were nearer to that than half of
//! the distance between doubles there, which is at most `(m + 1) * 2^-53`. But it is at least `1 / d` away,
//! and `d * (m + 1) <= i + d < 2^53`. The same holds of the integer above, from the other side.
//!
//! Invariant: what the chain means is not changed for any integer; the way apart leaves as the chain would.
//! Example: `f2 = int_to_float(i1)`, `f3 = float_mul(f2, 0.5)`, `f4 = float_floor(f3)`,
//! `i5 = float_to_int_exact(f4)` is `i5 = i1 >> 1` where `i1 >> 52` is 0.

use cranelift_codegen::ir::types;
use rustc_hash::FxHashMap as HashMap;
use tracelift_core::planted::{planted, Bug};
use tracelift_core::{Inst, Op, Trace, Value};

use super::values::Def;
use super::{arg, Lowering, Result, Ssa};

/// From so many bits on, integers are not divided here.
const BITS: u32 = 52;

/// The chains of a trace.
#[derive(Default)]
pub(super) struct Quotients {
    /// The doubles between, sorted.
    between: Vec<Value>,
    /// The last double of each chain, with the divisor.
    ends: Vec<(Value, i64)>,
}

impl Quotients {
    /// Finds the chains of a trace.
    pub(super) fn of(trace: &Trace) -> Quotients {
        let mut found = Quotients::default();
        if !trace.insts.iter().any(|inst| inst.op == Op::FloatToIntExact) {
            return found;
        }
        let mut makers: HashMap<Value, &Inst> = HashMap::default();
        let mut uses: HashMap<Value, u32> = HashMap::default();
        for inst in &trace.insts {
            if let Some(result) = inst.result.filter(|_| is_link(inst.op)) {
                makers.insert(result, inst);
            }
            for value in inst.args.iter().filter(|value| makers.contains_key(value)) {
                *uses.entry(*value).or_default() += 1;
            }
            if let Op::FloatToIntExact = inst.op {
                found.add(trace, &makers, inst.args[0]);
            }
        }
        let is_alone = |value: &Value| uses.get(value) == Some(&1);
        let chains = std::mem::take(&mut found.between);
        for (chain, &end) in chains.chunks(3).zip(&std::mem::take(&mut found.ends)) {
            if chain.iter().all(is_alone) {
                found.between.extend(chain);
                found.ends.push(end);
            }
        }
        found.between.sort();
        found
    }

    /// Notes a chain that ends with this double, if it is one: the double, the quotient, and the integer's.
    fn add(&mut self, trace: &Trace, makers: &HashMap<Value, &Inst>, end: Value) {
        let made = |value: Value| makers.get(&value).copied();
        let Some(round) = made(end).filter(|inst| matches!(inst.op, Op::FloatFloor | Op::FloatCeil)) else {
            return;
        };
        let Some((quotient, [of, by])) = made(round.args[0]).and_then(|inst| match inst.args[..] {
            [of, by] => Some((inst, [of, by])),
            _ => None,
        }) else {
            return;
        };
        let divisor = trace.bits_of(by).and_then(|bits| divisor(quotient.op, f64::from_bits(bits)));
        let is_int = made(of).is_some_and(|inst| inst.op == Op::IntToFloat);
        if let (Some(divisor), true) = (divisor, is_int) {
            self.between.extend([end, round.args[0], of]);
            self.ends.push((end, divisor));
        }
    }

    fn is_between(&self, inst: &Inst) -> bool {
        !self.between.is_empty()
            && inst.result.is_some_and(|value| self.between.binary_search(&value).is_ok())
    }
}

/// Whether such operations make a chain.
fn is_link(op: Op) -> bool {
    matches!(op, Op::IntToFloat | Op::FloatMul | Op::FloatDiv | Op::FloatFloor | Op::FloatCeil)
}

/// By which integer this divides, if it does so exactly.
fn divisor(op: Op, by: f64) -> Option<i64> {
    let divisor = match op {
        Op::FloatDiv => by,
        // A factor of 2^-n. The inverse of another one would be rounded.
        Op::FloatMul if by.to_bits() << 12 == 0 => 1.0 / by,
        _ => return None,
    };
    let is_one = (1.0..=(1_u64 << BITS) as f64).contains(&divisor) && divisor.fract() == 0.0;
    is_one.then_some(divisor as i64)
}

impl Lowering<'_, '_, '_> {
    /// Puts an operation of a chain off. Returns whether it is one.
    pub(super) fn put_off_quotient(&mut self, inst: &Inst) -> Result<bool> {
        if !self.quotients.is_between(inst) || !self.input.environment.has_rounding {
            return Ok(false);
        }
        let def = match (inst.op, self.def(arg(inst, 0, self.index)?)?) {
            (Op::IntToFloat, _) => Def::Double(self.operand(inst, 0)?),
            (Op::FloatMul | Op::FloatDiv, Def::Double(int)) => {
                Def::Quotient(inst.op, int, self.operand(inst, 1)?)
            }
            (Op::FloatFloor | Op::FloatCeil, Def::Quotient(op, int, by)) => {
                Def::Rounded([inst.op, op], int, by)
            }
            _ => return Ok(false),
        };
        self.define_as(inst, def)?;
        Ok(true)
    }

    /// Carries out the rounding of a chain.
    pub(super) fn rounded(&mut self, op: Op, quotient: Ssa) -> Ssa {
        match op {
            Op::FloatFloor => self.b.floor(quotient),
            _ => self.b.ceil(quotient),
        }
    }

    /// Carries out the conversion and the division of a chain.
    pub(super) fn quotient_of_int(&mut self, op: Op, int: Ssa, by: Ssa) -> Result<Ssa> {
        let double = self.b.fcvt_from_sint(types::F64, int);
        self.float_of_two(op, double, by)
    }

    /// The end of a chain: the integer of a rounded quotient. Returns whether it is one.
    pub(super) fn int_of_quotient(&mut self, inst: &Inst, exit: u32) -> Result<bool> {
        let end = arg(inst, 0, self.index)?;
        let Def::Rounded([round, _], int, _) = self.def(end)? else { return Ok(false) };
        let Some(&(_, divisor)) = self.quotients.ends.iter().find(|(value, _)| *value == end) else {
            return Ok(false);
        };
        let (apart, plain, done) = (self.cold_block(), self.b.create_block(), self.b.create_block());
        let result = self.b.append_block_param(done, types::I64);
        let high = self.b.ushr_imm_u(int, i64::from(BITS));
        self.b.brif(high, apart, &[], plain, &[]);
        self.b.switch_to_block(apart);
        // What is carried out here does not dominate what follows, as in a stub.
        let in_stub = std::mem::replace(&mut self.in_stub, true);
        let double = self.value(end)?;
        self.in_stub = in_stub;
        let other = self.exact_int(double, inst, exit, |lowering| lowering.cold_block())?;
        self.b.jump(done, &[other]);
        self.b.switch_to_block(plain);
        let dividend = match round {
            Op::FloatCeil if !planted(Bug::LowerQuotientRoundedDown) => self.b.iadd_imm_s(int, divisor - 1),
            _ => int,
        };
        let quotient = self.positive_quotient(dividend, divisor);
        self.b.jump(done, &[quotient]);
        self.b.switch_to_block(done);
        self.define(inst, result)?;
        Ok(true)
    }

    /// `x / divisor` for `x` of 0 or more.
    fn positive_quotient(&mut self, x: Ssa, divisor: i64) -> Ssa {
        match divisor {
            1 => x,
            _ if divisor & (divisor - 1) == 0 => self.b.ushr_imm_u(x, i64::from(divisor.trailing_zeros())),
            _ => self.quotient_by_constant(x, divisor),
        }
    }
}
