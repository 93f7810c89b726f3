//! Guards that were passed before, or that something known implies, go.
//!
//! Problem: most of a trace is guards, and most of those test again what an earlier one has tested: the same
//! class, the same bound, the same tag. Design: when a guard is committed, the pass writes down as facts what
//! it proves; a later guard that the facts answer is dropped, or replaced by `guard_always_fails`. A compare
//! whose outcome a guard has established is a constant from then on, in its own form and in its opposite's;
//! of two pointers or integers that are found to be equal the earlier one stands for both; what compares say
//! together is in `guards/order.rs`. Guards on classes are looked at before record operations are expanded
//! ([`ClassGuards`]), all others after.
//!
//! Invariants: a fact is learned from a *committed* guard only, so a guard never justifies itself; facts die
//! at a label that is not the entry; a value that a guard pins becomes its constant in all that follows,
//! floats by bits. Example:
//!
//! ```text
//! i2 = int_lt(i0, i1)
//! guard_true(i2)
//! i3 = int_ge(i0, i1)     => 0
//! guard_false(i3)         => gone
//! ```

mod order;

use rustc_hash::FxHashMap as HashMap;

use tracelift_core::planted::{planted, Bug};
use tracelift_core::{Const, Inst, Op, Payload, Type, Value};

use super::fold::{guard_fails, inverse, is_compare, mirrored};
use crate::pass::{once, Cx, Ops, Outcome, Pass};
use crate::state::State;
use crate::OptError;
use order::Order;

/// Guards on the class of a record, before they are expanded.
pub(crate) struct ClassGuards;

impl Pass for ClassGuards {
    fn name(&self) -> &'static str {
        "guards"
    }

    fn rules(&self) -> Vec<&'static str> {
        vec!["class_known", "class_other"]
    }

    fn minds(&self) -> Ops {
        once!({ Ops::that(|op| op == Op::GuardClass) })
    }

    fn feed(&mut self, cx: &mut Cx<'_, '_>, inst: &Inst) -> Result<Outcome, OptError> {
        let (Op::GuardClass, Payload::Layout(wanted)) = (inst.op, inst.payload) else {
            return Ok(Outcome::Keep);
        };
        let schema = cx.st.schema;
        let Some(known) = cx.st.facts.class_of(schema, inst.args[0]) else { return Ok(Outcome::Keep) };
        if known == wanted {
            return Ok(if cx.st.fire("class_known") { Outcome::Drop } else { Outcome::Keep });
        }
        // Two layouts may be told apart by different words; only different values of one word exclude each
        // other.
        match (schema.layout(known).class_word, schema.layout(wanted).class_word) {
            (Some((cell, is)), Some((other, wants))) if cell == other && is != wants => {
                Ok(guard_fails(cx, inst, "class_other")?.unwrap_or(Outcome::Keep))
            }
            _ => Ok(Outcome::Keep),
        }
    }
}

/// All other guards.
#[derive(Default)]
pub(crate) struct Guards {
    /// Compares whose outcome a guard has established.
    compares: HashMap<Key, bool>,
    /// What they say together.
    order: Order,
    /// Checked operations that were passed, and their results.
    checked: HashMap<Key, Value>,
}

/// An operation of one or two operands; the second is the first again where there is none.
type Key = (Op, [Value; 2]);

fn key(op: Op, args: &[Value]) -> Key {
    (op, [args[0], args.get(1).copied().unwrap_or(args[0])])
}

impl Guards {
    /// Notes what a compare answers, and with it the compares that say the same.
    fn learn_compare(&mut self, compare: &Inst, outcome: bool) {
        let (_, args @ [a, b]) = key(compare.op, &compare.args);
        self.compares.insert((compare.op, args), outcome);
        if let Some(op) = inverse(compare.op) {
            self.compares.insert((op, args), !outcome);
        }
        if let Some(op) = mirrored(compare.op) {
            self.compares.insert((op, [b, a]), outcome);
            if let Some(op) = inverse(op) {
                self.compares.insert((op, [b, a]), !outcome);
            }
        }
        if outcome {
            self.learn_implied(compare);
        }
    }

    /// What a compare that holds says of others: `x < y` makes `x <= y` and `x != y` hold, and `x > y` fail.
    fn learn_implied(&mut self, compare: &Inst) {
        let implied: &[(Op, bool)] = match compare.op {
            Op::IntLt => &[(Op::IntLe, true), (Op::IntNe, true), (Op::IntEq, false), (Op::IntGt, false)],
            Op::IntGt => &[(Op::IntGe, true), (Op::IntNe, true), (Op::IntEq, false), (Op::IntLt, false)],
            Op::UintLt => &[(Op::UintLe, true), (Op::IntNe, true), (Op::IntEq, false), (Op::UintGt, false)],
            Op::UintGt => &[(Op::UintGe, true), (Op::IntNe, true), (Op::IntEq, false), (Op::UintLt, false)],
            Op::FloatLt => {
                &[(Op::FloatLe, true), (Op::FloatNe, true), (Op::FloatGt, false), (Op::FloatGe, false)]
            }
            Op::FloatGt => {
                &[(Op::FloatGe, true), (Op::FloatNe, true), (Op::FloatLt, false), (Op::FloatLe, false)]
            }
            _ => &[],
        };
        for &(op, outcome) in implied {
            self.compares.insert(key(op, &compare.args), outcome);
        }
    }

    /// Notes what is known of an integer that a guard has found to be 0 or not.
    fn learn_truth(&mut self, st: &mut State<'_>, value: Value, truth: bool) {
        let truth = truth || planted(Bug::GuardFalseTakenAsTrue);
        if let Some(compare) = st.def(value).filter(|def| is_compare(def.op)).cloned() {
            self.learn_compare(&compare, truth);
            let (_, args) = key(compare.op, &compare.args);
            // Ranges know more of constants.
            if args.iter().all(|&arg| st.bits(arg).is_none()) {
                self.order.learn(compare.op, args, truth);
            }
            pin(st, value, truth as u64);
            let is_equality = match compare.op {
                Op::RefEq | Op::AddrEq | Op::IntEq => truth,
                Op::RefNe | Op::IntNe => !truth,
                _ => false,
            };
            if is_equality {
                learn_same(st, compare.args[0], compare.args[1]);
            }
        } else if truth {
            st.facts.nonzero.set(value, ());
        } else {
            pin(st, value, 0);
        }
    }
}

/// Notes that a value has these bits.
fn pin(st: &mut State<'_>, value: Value, bits: u64) {
    let constant = st.constant(st.out.ty(value), bits);
    learn_value(st, value, constant);
}

/// Notes that a value is a constant, which may be an object of the test world whose bits are not known yet.
fn learn_value(st: &mut State<'_>, value: Value, constant: Value) {
    let is_constant = |value| st.out.constant_of(value).is_some();
    if is_constant(constant) && !is_constant(value) && st.fire("value_known") {
        st.facts.learn_constant(value, constant);
    }
}

/// Notes that two pointers or integers are equal, for which the earlier one stands from then on: so what was
/// loaded through it, or computed from it, need not be again.
fn learn_same(st: &mut State<'_>, a: Value, b: Value) {
    let (a, b) = (st.resolve(a), st.resolve(b));
    let is_plain = |value| st.out.constant_of(value).is_none() && !st.facts.statics.has(value);
    if a != b && is_plain(a) && is_plain(b) && st.fire("equal_known") {
        st.facts.learn_same(st.schema, a, b);
    }
}

fn is_checked(op: Op) -> bool {
    matches!(op, Op::IntAddOvf | Op::IntSubOvf | Op::IntMulOvf | Op::FloatToIntExact)
}

fn checked_key(inst: &Inst) -> Key {
    let (op, mut args) = key(inst.op, &inst.args);
    if op.is(tracelift_core::ops::Flags::COMMUTES) {
        args.sort();
    }
    (op, args)
}

/// Whether a pointer is known not to be null.
fn is_nonnull(st: &State<'_>, value: Value) -> bool {
    match st.out.constant_of(value) {
        Some(constant) => constant != Const::Bits(0),
        None => st.facts.nonnull.get(value).is_some(),
    }
}

impl Pass for Guards {
    fn name(&self) -> &'static str {
        "guards"
    }

    fn rules(&self) -> Vec<&'static str> {
        vec![
            "value_known",
            "equal_known",
            "compare_known",
            "order_known",
            "checked_before",
            "nonzero_known",
            "nonnull_known",
            "null_test_known",
            "zero_test_known",
            "zero_excluded",
            "null_excluded",
        ]
    }

    fn minds(&self) -> Ops {
        once!({
            use Op::*;
            let is_test = |op| matches!(op, GuardTrue | GuardFalse | GuardNonnull | GuardNull | RefIsNull);
            Ops::that(|op| is_test(op) || is_compare(op) || is_checked(op))
        })
    }

    fn feed(&mut self, cx: &mut Cx<'_, '_>, inst: &Inst) -> Result<Outcome, OptError> {
        let first = inst.args.first().copied();
        let drop_if = |cx: &mut Cx<'_, '_>, known: bool, rule| {
            Ok(if known && cx.st.fire(rule) { Outcome::Drop } else { Outcome::Keep })
        };
        match (inst.op, first) {
            (Op::GuardTrue, Some(value)) => {
                let known = cx.st.facts.nonzero.get(value).is_some();
                drop_if(cx, known, "nonzero_known")
            }
            (Op::GuardFalse, Some(value)) if cx.st.facts.nonzero.get(value).is_some() => {
                Ok(guard_fails(cx, inst, "zero_excluded")?.unwrap_or(Outcome::Keep))
            }
            (Op::GuardNonnull, Some(value)) => {
                let known = is_nonnull(cx.st, value);
                drop_if(cx, known, "nonnull_known")
            }
            (Op::GuardNull, Some(value)) if is_nonnull(cx.st, value) => {
                Ok(guard_fails(cx, inst, "null_excluded")?.unwrap_or(Outcome::Keep))
            }
            (Op::RefIsNull, Some(value)) if is_nonnull(cx.st, value) => {
                let zero = cx.int(0);
                Ok(if cx.st.fire("null_test_known") { Outcome::Equal(zero) } else { Outcome::Keep })
            }
            (Op::IntEq | Op::IntNe, Some(value))
                if cx.st.out.int_of(inst.args[1]) == Some(0) && cx.st.facts.nonzero.get(value).is_some() =>
            {
                let outcome = cx.int((inst.op == Op::IntNe) as i64);
                Ok(if cx.st.fire("zero_test_known") { Outcome::Equal(outcome) } else { Outcome::Keep })
            }
            (op, _) if is_compare(op) => match self.compares.get(&key(op, &inst.args)) {
                Some(&outcome) if cx.st.fire("compare_known") => Ok(Outcome::Equal(cx.int(outcome as i64))),
                Some(_) => Ok(Outcome::Keep),
                None => match self.order.decide(op, key(op, &inst.args).1) {
                    Some(outcome) if cx.st.fire("order_known") => Ok(Outcome::Equal(cx.int(outcome as i64))),
                    _ => Ok(Outcome::Keep),
                },
            },
            (op, _) if is_checked(op) => match self.checked.get(&checked_key(inst)) {
                Some(&result) if cx.st.fire("checked_before") => Ok(Outcome::Equal(result)),
                _ => Ok(Outcome::Keep),
            },
            _ => Ok(Outcome::Keep),
        }
    }

    fn hears(&self) -> Ops {
        once!({
            use Op::*;
            let is_test = |op| matches!(op, GuardTrue | GuardFalse | GuardValue | GuardNull | GuardNonnull);
            Ops::that(|op| is_test(op) || matches!(op, Load | Store | TryCall) || is_checked(op))
        })
    }

    fn committed(&mut self, st: &mut State<'_>, inst: &Inst) {
        match inst.op {
            Op::GuardTrue => self.learn_truth(st, inst.args[0], true),
            Op::GuardFalse => self.learn_truth(st, inst.args[0], false),
            Op::GuardValue => learn_value(st, inst.args[0], inst.args[1]),
            Op::GuardNull => pin(st, inst.args[0], 0),
            Op::GuardNonnull => st.facts.nonnull.set(inst.args[0], ()),
            // Memory was there, or the trace would have been malformed.
            Op::Load | Op::Store => st.facts.nonnull.set(inst.args[0], ()),
            Op::TryCall => {
                if let Some(result) = inst.result.filter(|&result| st.out.ty(result) != Type::Int) {
                    st.facts.nonnull.set(result, ());
                }
            }
            op if is_checked(op) => {
                if let Some(result) = inst.result {
                    self.checked.insert(checked_key(inst), result);
                }
            }
            _ => {}
        }
    }

    fn label(&mut self) {
        self.compares.clear();
        self.order.clear();
        self.checked.clear();
    }
}
