//! Constant folding, and algebraic rewrites as a table of named rules.
//!
//! Problem: expansion and recording produce arithmetic that a person would never write: `x + 0`, `not not x`,
//! compares of compares, guards on constants. Design: an operation on constants is evaluated by the op
//! table's own `eval`; else the rules for its op are tried in table order, and the first that matches
//! replaces it. The rules stand in the files beside this one, grouped by what they look at; each has a name,
//! a law for readers, and a function. Laws on integers are proved for 64 bits by `scripts/prove-rules`.
//!
//! Laws for rules:
//! 1. **Keep the value, bit by bit, and the type.** Wrapping integer laws hold for wrapping ops only; an op
//!    that leaves the trace on overflow may only be replaced where it never does. Floats obey almost no law:
//!    `x + 0.0` changes -0.0 and `x * 1.0` quiets a signalling NaN, so neither is here, and float operands
//!    are never exchanged.
//! 2. **Never to something worse.** An operation becomes a constant, a value that exists, or one operation
//!    that is no dearer. No rule makes two operations out of one.
//! 3. **Shrink only.** Each rewrite lowers (operations, operand depth, cost of the op) in this order or puts
//!    a constant to the right; so rules cannot run in circles.
//! 4. **Nothing across a label.** Operands' definitions are looked at, and those from before a label are not
//!    visible after it: the label's arguments have no definition that a rule could see. In a peeled loop
//!    they are visible, but no rule makes an operation over a value of the preamble that the jump does not
//!    pass anyway.
//! 5. **NaN results are not folded**: their sign bit is the machine's choice and can be printed. A partial op
//!    without a value stays as it is.
//!
//! Invariant: a guard that fails for sure becomes `guard_always_fails` in its place and the rest of the trace
//! is still optimized: nothing of it will run, and nothing of it is trusted. Example:
//! `i2 = int_add(int_add(i0, 3), -3)` is `i0`.

mod address;
mod compare;
mod float;
mod guard;
mod int;
mod matcher;

use std::sync::OnceLock;

use smallvec::SmallVec;
use tracelift_core::ir::Args;
use tracelift_core::ops::Flags;
use tracelift_core::planted::{planted, Bug};
use tracelift_core::{Inst, Op, Payload, Type, Value};

use crate::pass::{once, Cx, Ops, Outcome, Pass};
use crate::state::State;
use crate::OptError;
pub(crate) use matcher::{inverse, is_compare, mirrored};
use matcher::{Match, Rewrite, Rule};

/// The pass.
pub(crate) struct Fold;

/// Rules in the order in which they are tried.
fn tables() -> impl Iterator<Item = &'static Rule> {
    [int::RULES, compare::RULES, float::RULES, address::RULES, guard::RULES].into_iter().flatten()
}

/// An algebraic rule, for readers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AlgebraicRule {
    /// Its name in reports.
    pub name: &'static str,
    /// The operations that it looks at.
    pub ops: &'static [Op],
    /// What it says, as `x + 0 => x`.
    pub law: &'static str,
}

/// The algebraic rules of the pass `fold`, in the order in which they are tried.
pub fn algebraic_rules() -> Vec<AlgebraicRule> {
    tables().map(|&Rule { name, ops, law, .. }| AlgebraicRule { name, ops, law }).collect()
}

/// The rules for each op.
fn rules_of(op: Op) -> &'static [&'static Rule] {
    static BY_OP: OnceLock<Vec<Vec<&'static Rule>>> = OnceLock::new();
    let by_op = BY_OP.get_or_init(|| {
        // Rule by rule and not op by op: the first trace pays for this.
        let mut by_op = vec![Vec::new(); Op::COUNT];
        for rule in tables() {
            for (at, &op) in rule.ops.iter().enumerate() {
                if !rule.ops[..at].contains(&op) {
                    by_op[op as usize].push(rule);
                }
            }
        }
        by_op
    });
    &by_op[op as usize]
}

impl Pass for Fold {
    fn name(&self) -> &'static str {
        "fold"
    }

    fn rules(&self) -> Vec<&'static str> {
        let mut names = vec!["constant", "guard_holds", "guard_fails"];
        for rule in tables() {
            if !names.contains(&rule.name) {
                names.push(rule.name);
            }
        }
        names
    }

    fn minds(&self) -> Ops {
        once!({ Ops::that(|op| op.info().eval.is_some() || !rules_of(op).is_empty()) })
    }

    fn feed(&mut self, cx: &mut Cx<'_, '_>, inst: &Inst) -> Result<Outcome, OptError> {
        if let Some(outcome) = constant(cx, inst)? {
            return Ok(outcome);
        }
        for rule in rules_of(inst.op) {
            let rewrite = (rule.apply)(&Match { st: cx.st, inst });
            if let Some(rewrite) = rewrite.filter(|rewrite| !reaches_over_label(cx, inst, rewrite)) {
                if cx.st.fire(rule.name) {
                    return Ok(commit(cx, inst, rewrite));
                }
            }
        }
        Ok(Outcome::Keep)
    }
}

/// Whether the rewrite is, or is an operation over, another value of the preamble: the loop would have to be
/// passed that one as well, which is dearer than what the rule saves. Not so if the loop computes an operand
/// from it anyway, or if the operand is the same in all iterations: then so is the rewrite, and the preamble
/// may have it already.
fn reaches_over_label(cx: &Cx<'_, '_>, inst: &Inst, rewrite: &Rewrite) -> bool {
    let terms = match rewrite {
        Rewrite::Op(_, terms) | Rewrite::With(_, terms, _) => &terms[..],
        Rewrite::Is(term) => std::slice::from_ref(term),
        Rewrite::Holds => &[],
    };
    let reaches = |term: &matcher::Term| match *term {
        matcher::Term::Value(value) => {
            let is_at_hand = |&arg: &Value| arg == value || is_free_through(cx.st, arg, value);
            cx.st.is_preamble(value)
                && !cx.st.walks.passed.contains(&value)
                && !inst.args.iter().any(is_at_hand)
        }
        matcher::Term::Const(..) => false,
    };
    terms.iter().any(reaches)
}

/// Whether an operand is computed from `value`, by the loop itself or once and for all.
fn is_free_through(st: &State<'_>, operand: Value, value: Value) -> bool {
    let is_free = !st.is_preamble(operand) || st.walks.steady.contains(&operand);
    is_free && st.def(operand).is_some_and(|def| def.args.contains(&value))
}

/// Evaluates an operation on constants.
fn constant(cx: &mut Cx<'_, '_>, inst: &Inst) -> Result<Option<Outcome>, OptError> {
    let Some(eval) = inst.op.info().eval else { return Ok(None) };
    let mut bits: SmallVec<[u64; 4]> = SmallVec::new();
    for &arg in &inst.args {
        match cx.st.bits(arg) {
            Some(arg) => bits.push(arg),
            None => return Ok(None),
        }
    }
    if planted(Bug::FoldSubSwapped) && inst.op == Op::IntSub {
        bits.reverse();
    }
    let result = eval(&bits);
    let ty = inst.result_type(&cx.st.out, cx.st.schema);
    match (result, ty) {
        (None, _) if inst.op == Op::GuardAlwaysFails || !inst.op.is_guard() => Ok(None),
        (None, _) => guard_fails(cx, inst, "guard_fails"),
        (Some(_), None) => Ok(cx.st.fire("guard_holds").then_some(Outcome::Drop)),
        (Some(bits), Some(Type::Float)) if f64::from_bits(bits).is_nan() && !moves_bits(inst.op) => Ok(None),
        (Some(bits), Some(ty)) => {
            Ok(cx.st.fire("constant").then(|| Outcome::Equal(cx.st.constant(ty, bits))))
        }
    }
}

/// Whether the op hands bits on as they are: then even a NaN is exact.
fn moves_bits(op: Op) -> bool {
    matches!(op, Op::FloatFromBits | Op::Select | Op::FloatNeg | Op::FloatAbs)
}

/// Puts `guard_always_fails` where a guard fails for sure. A result, if the guard has one, is never used at
/// run time: any value will do.
pub(super) fn guard_fails(
    cx: &mut Cx<'_, '_>,
    inst: &Inst,
    rule: &'static str,
) -> Result<Option<Outcome>, OptError> {
    if !cx.st.fire(rule) {
        return Ok(None);
    }
    cx.guard(Op::GuardAlwaysFails, &[], inst)?;
    let ty = inst.result_type(&cx.st.out, cx.st.schema);
    Ok(Some(ty.map_or(Outcome::Drop, |ty| Outcome::Equal(cx.st.constant(ty, 0)))))
}

fn commit(cx: &mut Cx<'_, '_>, inst: &Inst, rewrite: Rewrite) -> Outcome {
    match rewrite {
        Rewrite::Is(term) => Outcome::Equal(term.value(cx)),
        Rewrite::Holds => Outcome::Drop,
        Rewrite::Op(op, terms) => Outcome::Replace(rewritten(cx, inst, op, &terms, Payload::None)),
        Rewrite::With(op, terms, payload) => Outcome::Replace(rewritten(cx, inst, op, &terms, payload)),
    }
}

fn rewritten(cx: &mut Cx<'_, '_>, inst: &Inst, op: Op, terms: &[matcher::Term], payload: Payload) -> Inst {
    let args: Args = terms.iter().map(|term| term.value(cx)).collect();
    let mut new = Inst::new(op, &args).with(payload);
    new.depth = inst.depth;
    if op.is(Flags::GUARD) {
        new = new.at(inst.snap).exit_kind(inst.exit);
    }
    new
}
