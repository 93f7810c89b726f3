//! Integers as sums: what the passes on memory and on bounds mean by "the same index, one further on".
//!
//! Problem: `t[i + 1]` of one iteration is `t[j]` of the next, where `j` is `i + 1` and perhaps neither is
//! ever computed in this form. Design: each integer is `(value + other) * scale + plus`, with constants
//! `scale` and `plus` and at most two values that are no such sums themselves; the form of a result is noted
//! when its instruction is committed, so that it costs constant time. Two values are what a row and a column
//! need, `y * width + x`.
//!
//! Invariant: all of it wraps at 64 bits as the machine does, so that the form is exact. Example: with
//! `i2 = int_add(i0, -1)`, the integers `int_add(i1, i2)` and `int_add(int_add(i0, i1), 7)` have the same
//! terms, and their constants are -1 and 7.

use tracelift_core::{Inst, Op, Trace, Value};

use crate::facts::SparseTable;

/// `(value + other) * scale`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Terms {
    pub value: Value,
    /// After `value` in the order of values.
    pub other: Option<Value>,
    pub scale: i64,
}

impl Terms {
    /// Whether they are one value as it is.
    pub fn is_alone(&self) -> bool {
        self.other.is_none() && self.scale == 1
    }
}

/// `terms + plus`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Linear {
    pub terms: Terms,
    pub plus: i64,
}

/// The forms of the integers of a trace, as far as it was walked.
#[derive(Default)]
pub(crate) struct Sums {
    linear: SparseTable<Linear>,
}

impl Sums {
    /// The form of an integer; the error is its value, if it is a constant.
    pub fn of(&self, trace: &Trace, value: Value) -> Result<Linear, i64> {
        match trace.int_of(value) {
            Some(int) => Err(int),
            None => {
                let alone = Linear { terms: Terms { value, other: None, scale: 1 }, plus: 0 };
                Ok(self.linear.get(value).unwrap_or(alone))
            }
        }
    }

    /// From here on an integer is no sum, but a value of its own.
    pub fn set_alone(&mut self, value: Value) {
        self.linear.set(value, Linear { terms: Terms { value, other: None, scale: 1 }, plus: 0 });
    }

    /// Whether [`Sums::note`] does anything with this operation.
    pub fn notes(op: Op) -> bool {
        use Op::*;
        matches!(op, IntAdd | IntAddOvf | IntMul | IntSub | IntSubOvf | IntShl)
    }

    /// Notes what a committed instruction defines.
    pub fn note(&mut self, trace: &Trace, inst: &Inst) {
        let Some(result) = inst.result.filter(|_| Sums::notes(inst.op)) else { return };
        let commutes = matches!(inst.op, Op::IntAdd | Op::IntAddOvf | Op::IntMul);
        let is_sum = matches!(inst.op, Op::IntAdd | Op::IntAddOvf);
        let (linear, int) = match (self.of(trace, inst.args[0]), self.of(trace, inst.args[1])) {
            (Ok(linear), Err(int)) => (linear, int),
            (Err(int), Ok(linear)) if commutes => (linear, int),
            (Ok(a), Ok(b)) if is_sum => {
                if let Some(linear) = together(a, b) {
                    self.linear.set(result, linear);
                }
                return;
            }
            _ => return,
        };
        let Linear { terms, plus } = linear;
        let scaled = |by: i64| Linear {
            terms: Terms { scale: terms.scale.wrapping_mul(by), ..terms },
            plus: plus.wrapping_mul(by),
        };
        let linear = match inst.op {
            Op::IntMul => scaled(int),
            Op::IntShl => scaled(1i64.wrapping_shl(int as u32)),
            Op::IntAdd | Op::IntAddOvf => Linear { terms, plus: plus.wrapping_add(int) },
            _ => Linear { terms, plus: plus.wrapping_sub(int) },
        };
        self.linear.set(result, linear);
    }
}

/// The sum of two, if it has two values and one scale.
fn together(a: Linear, b: Linear) -> Option<Linear> {
    if a.terms.other.is_some() || b.terms.other.is_some() || a.terms.scale != b.terms.scale {
        return None;
    }
    let (first, second) = (a.terms.value.min(b.terms.value), a.terms.value.max(b.terms.value));
    let terms = Terms { value: first, other: Some(second), scale: a.terms.scale };
    Some(Linear { terms, plus: a.plus.wrapping_add(b.plus) })
}
