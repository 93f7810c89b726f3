//! Integers that are known to be small, and what need not be done because of that.
//!
//! Problem: a sum of a byte and a counter below 2^32 is tested for overflow, `x & 255` for being below 256,
//! and a division rounds down although both operands are positive: the optimizer of seed 000 "does not manage
//! to prove" more, and names that as what holds back `sqrt(int)`. Design: for each integer of the output the
//! facts hold a [`Range`]: what its operation makes of its operands' ranges, cut down by the guards that it
//! has passed, and from there on to the operands of its operation (*forward and backward*, as RPython's
//! `intbounds.py`). Nothing needs to be said of loops: what the preamble has found of the values that it
//! passes to the loop holds for each iteration (`peel.rs`), so that `i + 1` of a guarded `i` has its bounds
//! in the loop. This pass comes before folding, which finds what it has left.
//!
//! Invariants: a range is learned from committed operations and guards only, and holds from there on; where
//! ranges contradict, the place is not reached, and nothing is concluded. Example, where `i1` was loaded from
//! a cell of one byte:
//!
//! ```text
//! i2 = int_add_ovf(i1, 1) @3    =>  i2 = int_add(i1, 1)
//! i3 = int_lt(i2, 512)          =>  1
//! i4 = int_floordiv(i2, 3)      =>  i4 = int_div(i2, 3)
//! ```

use smallvec::SmallVec;

use tracelift_core::effects::CellAccess;
use tracelift_core::planted::{planted, Bug};
use tracelift_core::schema::Cell;
use tracelift_core::{Inst, Op, Type, Value};

use crate::pass::{once, Cx, Ops, Outcome, Pass};
use crate::range::{cannot_overflow, decided, is_first, is_rounded_down, narrowed, operands, result, Range};
use crate::state::State;
use crate::OptError;

/// How many operations a guard's knowledge goes back.
const BACK: u32 = 2;

/// The pass.
pub(crate) struct Ranges;

fn is_compare(op: Op) -> bool {
    use Op::*;
    matches!(op, IntEq | IntNe | IntLt | IntLe | IntGt | IntGe | UintLt | UintLe | UintGt | UintGe)
}

fn is_checked(op: Op) -> bool {
    matches!(op, Op::IntAddOvf | Op::IntSubOvf | Op::IntMulOvf)
}

/// What is known of a value, by itself or as a constant.
fn range_of(st: &State<'_>, value: Value) -> Range {
    let value = st.resolve(value);
    match st.out.int_of(value) {
        Some(int) => Range::of(int),
        None => st.facts.ranges.get(value).unwrap_or(Range::ANY),
    }
}

/// The ranges of an operation's operands; nothing is known of those that are no integers.
fn ranges_of(st: &State<'_>, inst: &Inst) -> SmallVec<[Range; 3]> {
    inst.args.iter().map(|&arg| range_of(st, arg)).collect()
}

/// What a cell may hold.
fn of_cell(cell: &Cell) -> Option<Range> {
    let bits = u32::from(cell.width) * 8 - u32::from(planted(Bug::RangeCellHalved));
    match (cell.width, cell.signed) {
        (8.., _) => None,
        (_, true) => Some(Range::between(-1 << (bits - 1), (1 << (bits - 1)) - 1)),
        (_, false) => Some(Range::between(0, (1 << bits) - 1)),
    }
}

/// Notes that a value is in a range, and what follows for what it was computed from.
fn learn(st: &mut State<'_>, value: Value, range: Range, back: u32) {
    let value = st.resolve(value);
    let known = range_of(st, value);
    let Some(range) = known.met(range).filter(|&range| range != known) else { return };
    if st.out.int_of(value).is_some() {
        return;
    }
    st.facts.ranges.set(value, range);
    let Some(def) = st.def(value).filter(|_| back > 0) else { return };
    let (op, args) = (def.op, def.args.clone());
    match (op, &args[..]) {
        (op, &[a, b]) if is_compare(op) => {
            if let Some(outcome) = range.single() {
                learn_compare(st, op, outcome != 0, (a, b), back - 1);
            }
        }
        (op, &[a, b]) if [a, b].map(|arg| st.out.ty(arg)) == [Type::Int; 2] => {
            if let Some((x, y)) = operands(op, range_of(st, a), range_of(st, b), range) {
                learn(st, a, x, back - 1);
                learn(st, b, y, back - 1);
            }
        }
        // `0 - x` and `-1 - x`.
        (Op::IntNeg | Op::IntNot, &[a]) => {
            let from = Range::of(if op == Op::IntNeg { 0 } else { -1 });
            if let Some((_, x)) = operands(Op::IntSub, from, range_of(st, a), range) {
                learn(st, a, x, back - 1);
            }
        }
        _ => {}
    }
}

fn learn_compare(st: &mut State<'_>, op: Op, holds: bool, (a, b): (Value, Value), back: u32) {
    if let Some((x, y)) = narrowed(op, holds, range_of(st, a), range_of(st, b)) {
        learn(st, a, x, back);
        learn(st, b, y, back);
    }
}

/// The rewrite for an operation whose result may have more than one value.
fn simpler(st: &mut State<'_>, inst: &Inst, args: &[Range]) -> Option<Outcome> {
    let with = |op: Op| {
        let mut new = Inst::new(op, &inst.args);
        new.depth = inst.depth;
        Outcome::Replace(new)
    };
    let &[a, b] = args else { return None };
    match inst.op {
        op if is_checked(op) && cannot_overflow(op, a, b) => {
            let plain = match op {
                Op::IntAddOvf => Op::IntAdd,
                Op::IntSubOvf => Op::IntSub,
                _ => Op::IntMul,
            };
            st.fire("overflow_excluded").then(|| with(plain))
        }
        // Bits that are not taken away, or are there already.
        Op::IntAnd | Op::IntOr => {
            let (kept, ..) = [(0, a, b), (1, b, a)].into_iter().find(|&(_, x, y)| is_first(inst.op, x, y))?;
            st.fire("mask_unneeded").then(|| Outcome::Equal(inst.args[kept]))
        }
        Op::IntRem | Op::IntFloorMod if is_first(inst.op, a, b) => {
            st.fire("rest_unneeded").then(|| Outcome::Equal(inst.args[0]))
        }
        // Where both are positive the two roundings agree, and the one towards zero is cheaper. Powers of two
        // are left to folding, which makes shifts and masks of them.
        Op::IntFloorDiv | Op::IntFloorMod if is_rounded_down(a, b) => {
            let is_power_of_two = b.single().is_some_and(|divisor| divisor & (divisor - 1) == 0);
            let plain = if inst.op == Op::IntFloorDiv { Op::IntDiv } else { Op::IntRem };
            (!is_power_of_two && st.fire("floor_unneeded")).then(|| with(plain))
        }
        _ => None,
    }
}

impl Pass for Ranges {
    fn name(&self) -> &'static str {
        "ranges"
    }

    fn rules(&self) -> Vec<&'static str> {
        vec![
            "compare_decided",
            "value_by_range",
            "nonzero_by_range",
            "overflow_excluded",
            "mask_unneeded",
            "rest_unneeded",
            "floor_unneeded",
        ]
    }

    fn minds(&self) -> Ops {
        once!({
            use Op::*;
            let is_other = |op| {
                matches!(
                    op,
                    IntAnd
                        | IntOr
                        | IntDiv
                        | IntRem
                        | IntFloorDiv
                        | IntFloorMod
                        | IntSar
                        | IntShr
                        | GuardTrue
                )
            };
            Ops::that(|op| is_other(op) || is_compare(op) || is_checked(op))
        })
    }

    fn feed(&mut self, cx: &mut Cx<'_, '_>, inst: &Inst) -> Result<Outcome, OptError> {
        if inst.args.iter().all(|&arg| cx.st.out.constant_of(arg).is_some()) {
            // Evaluated by folding.
            return Ok(Outcome::Keep);
        }
        let args = ranges_of(cx.st, inst);
        if args.iter().all(Range::is_any) {
            return Ok(Outcome::Keep);
        }
        if inst.op == Op::GuardTrue {
            let is_known = !args[0].has(0);
            return Ok(if is_known && cx.st.fire("nonzero_by_range") {
                Outcome::Drop
            } else {
                Outcome::Keep
            });
        }
        if let (true, &[a, b]) = (is_compare(inst.op), &args[..]) {
            return Ok(match decided(inst.op, a, b) {
                Some(holds) if cx.st.fire("compare_decided") => Outcome::Equal(cx.int(holds.into())),
                _ => Outcome::Keep,
            });
        }
        let only = result(inst.op, &args).filter(|_| !is_checked(inst.op)).and_then(Range::single);
        if let Some(int) = only.filter(|_| cx.st.fire("value_by_range")) {
            return Ok(Outcome::Equal(cx.int(int)));
        }
        Ok(simpler(cx.st, inst, &args).unwrap_or(Outcome::Keep))
    }

    fn hears(&self) -> Ops {
        once!({
            use Op::*;
            let is_other =
                |op| matches!(op, Load | Select | IntNeg | IntNot | GuardTrue | GuardFalse | GuardValue);
            let is_binary = |op| {
                matches!(
                    op,
                    IntAdd
                        | IntSub
                        | IntMul
                        | IntAnd
                        | IntOr
                        | IntXor
                        | IntShl
                        | IntSar
                        | IntShr
                        | IntDiv
                        | IntRem
                        | IntFloorDiv
                        | IntFloorMod
                )
            };
            let is_test = |op| {
                matches!(
                    op,
                    RefEq
                        | RefNe
                        | RefIsNull
                        | AddrEq
                        | FloatEq
                        | FloatNe
                        | FloatLt
                        | FloatLe
                        | FloatGt
                        | FloatGe
                )
            };
            Ops::that(|op| is_other(op) || is_binary(op) || is_checked(op) || is_compare(op) || is_test(op))
        })
    }

    fn committed(&mut self, st: &mut State<'_>, inst: &Inst) {
        match (inst.op, inst.result) {
            (Op::GuardTrue | Op::GuardFalse, _) => learn_truth(st, inst.args[0], inst.op == Op::GuardTrue),
            (Op::GuardValue, _) => {
                if let Some(int) = st.out.int_of(inst.args[1]) {
                    learn(st, inst.args[0], Range::of(int), BACK);
                }
            }
            (Op::Load, Some(loaded)) if st.out.ty(loaded) == Type::Int => {
                let cell = CellAccess::loaded(inst).map(|cell| st.schema.cell(cell));
                if let Some(range) = cell.and_then(of_cell) {
                    st.facts.ranges.set(loaded, range);
                }
            }
            (_, Some(made)) if st.out.ty(made) == Type::Int => {
                if let Some(range) = result(inst.op, &ranges_of(st, inst)) {
                    st.facts.ranges.set(made, range);
                }
            }
            _ => {}
        }
    }
}

/// A guard has found an integer to be 0 or not.
fn learn_truth(st: &mut State<'_>, value: Value, truth: bool) {
    match st.def(value).map(|def| (def.op, def.args.clone())) {
        // Of a compare's outcome, the compare.
        Some((op, args)) if is_compare(op) => {
            st.facts.ranges.set(value, Range::of(truth.into()));
            learn_compare(st, op, truth, (args[0], args[1]), BACK);
        }
        _ if truth => {
            if let Some((range, _)) = narrowed(Op::IntNe, true, range_of(st, value), Range::of(0)) {
                learn(st, value, range, BACK);
            }
        }
        _ => learn(st, value, Range::of(0), BACK),
    }
}
