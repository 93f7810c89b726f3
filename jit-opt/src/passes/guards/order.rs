//! Which integers are known to be less than which others.
//!
//! Problem: `a < b` and `b <= c` were tested, so `a < c` need not be. Design: the compares that guards have
//! established are edges from the smaller operand to the greater one, for signed and unsigned compares apart;
//! a compare is answered if a path leads from one of its operands to the other. The walk along them is short
//! ([`STEPS`]), and few edges are kept for each value: a search for long proofs costs more than it saves, and
//! the optimizer's work must not grow with the square of a trace. The caller leaves out constants, of which
//! `ranges.rs` knows more, and which many values are compared with.
//!
//! Invariant: an edge holds from the guard that made it to the next label that is not the entry. Example:
//! after `guard_true(int_lt(i0, i1))` and `guard_false(int_lt(i2, i1))`, `int_ge(i2, i0)` is 1.

use rustc_hash::FxHashMap as HashMap;
use smallvec::SmallVec;

use tracelift_core::{Op, Value};

/// How many values a walk comes to.
const STEPS: usize = 8;

/// How many edges a value has at most; the first ones stay.
const EDGES: usize = 8;

/// A compare as "the first is less than the second", or less or equal.
struct Less {
    from: Value,
    to: Value,
    is_strict: bool,
    is_unsigned: bool,
}

/// A greater value, and whether it is a different one for sure.
type Edge = (Value, bool);

/// The edges.
#[derive(Default)]
pub(super) struct Order {
    /// By the smaller value, and whether they are compared without a sign.
    greater: HashMap<(Value, bool), SmallVec<[Edge; 2]>>,
}

impl Order {
    /// Notes a compare that came out like this.
    pub fn learn(&mut self, op: Op, args: [Value; 2], holds: bool) {
        let Some(Less { from, to, is_strict, is_unsigned }) = less(op, args, holds) else { return };
        let edges = self.greater.entry((from, is_unsigned)).or_default();
        if edges.len() < EDGES && !edges.contains(&(to, is_strict)) {
            edges.push((to, is_strict));
        }
    }

    /// How a compare comes out, if the edges tell.
    pub fn decide(&self, op: Op, args: [Value; 2]) -> Option<bool> {
        if self.greater.is_empty() {
            return None;
        }
        if matches!(op, Op::IntEq | Op::IntNe) {
            let [a, b] = args;
            let differ = |is_unsigned| {
                self.leads(a, b, is_unsigned) == Some(true) || self.leads(b, a, is_unsigned) == Some(true)
            };
            return (differ(false) || differ(true)).then_some(op == Op::IntNe);
        }
        [true, false].into_iter().find(|&holds| {
            less(op, args, holds).is_some_and(|claim| {
                let path = self.leads(claim.from, claim.to, claim.is_unsigned);
                path.is_some_and(|is_strict| is_strict || !claim.is_strict)
            })
        })
    }

    /// Whether a path leads from one to the other, and whether a step of it is strict.
    fn leads(&self, from: Value, to: Value, is_unsigned: bool) -> Option<bool> {
        let mut todo: SmallVec<[(Value, bool); STEPS]> = SmallVec::from_slice(&[(from, false)]);
        let (mut at, mut found) = (0, None);
        while let Some(&(value, was_strict)) = todo.get(at) {
            at += 1;
            for &(next, is_strict) in self.greater.get(&(value, is_unsigned)).into_iter().flatten() {
                let is_strict = was_strict || is_strict;
                if next == to {
                    found = Some(is_strict || found == Some(true));
                } else if todo.len() < STEPS && !todo.contains(&(next, is_strict)) {
                    todo.push((next, is_strict));
                }
            }
        }
        found
    }

    /// Nothing is known any more.
    pub fn clear(&mut self) {
        self.greater.clear();
    }
}

fn less(op: Op, [a, b]: [Value; 2], holds: bool) -> Option<Less> {
    let is_unsigned = matches!(op, Op::UintLt | Op::UintLe | Op::UintGt | Op::UintGe);
    let is_of_less = matches!(op, Op::IntLt | Op::UintLt | Op::IntLe | Op::UintLe);
    let is_strict = matches!(op, Op::IntLt | Op::UintLt | Op::IntGt | Op::UintGt) == holds;
    let is_order = is_unsigned || matches!(op, Op::IntLt | Op::IntLe | Op::IntGt | Op::IntGe);
    let (from, to) = if is_of_less == holds { (a, b) } else { (b, a) };
    is_order.then_some(Less { from, to, is_strict, is_unsigned })
}

#[cfg(test)]
mod tests {
    use super::*;
    use Op::*;

    /// Two compares of three values are known. Each order of the values that fits gives what is answered.
    #[test]
    fn answers_are_what_all_orders_say() {
        let ops = [IntEq, IntNe, IntLt, IntLe, IntGt, IntGe];
        let eval = |op: Op, x: u64, y: u64| op.info().eval.expect("a compare has one")(&[x, y]) == Some(1);
        let orders: Vec<[u64; 3]> = (0..27).map(|n| [n % 3, n / 3 % 3, n / 9]).collect();
        let facts = |code: usize| {
            let (op, holds, pair) = (ops[code % 4 + 2], code % 8 < 4, code / 8 % 6);
            let (a, b) = [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)][pair];
            (op, holds, a, b)
        };
        let value = |at: usize| Value(at as u32);
        let mut answered = 0;
        for (first, second) in (0..48).flat_map(|first| (0..48).map(move |second| (first, second))) {
            let mut order = Order::default();
            let known = [facts(first), facts(second)];
            for (op, holds, a, b) in known {
                order.learn(op, [value(a), value(b)], holds);
            }
            let fits =
                |of: &&[u64; 3]| known.iter().all(|&(op, holds, a, b)| eval(op, of[a], of[b]) == holds);
            for (a, b) in [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)] {
                for op in ops {
                    let Some(answer) = order.decide(op, [value(a), value(b)]) else { continue };
                    answered += 1;
                    let right = orders.iter().filter(fits).all(|of| eval(op, of[a], of[b]) == answer);
                    assert!(right, "{known:?}: {op:?} {a} {b} is not always {answer}");
                }
            }
        }
        assert!(answered > 5000, "{answered}");
    }
}
