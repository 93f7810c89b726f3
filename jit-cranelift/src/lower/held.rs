//! Doubles that a loop holds in registers all the time, and operations on them that can wait.
//!
//! Problem: a program reads nine items, multiplies each, and then takes the largest of the products: they are
//! all held until the last one is there, which is more than the machine has registers. Half of the factors go
//! round the loop and are in registers anyway. Design: an operation on two doubles that are the label's
//! arguments, or passed by the jump, is made where its result is wanted first ([`Def::Late`]); the product
//! then takes a register for a moment only. What is passed by the jump itself is made at once.
//!
//! Invariant: one of the operands at least is passed by the jump, hence held to the iteration's end, so that
//! waiting never takes more registers. Example: `f5 = float_mul(f1, f2)` with `jump(L1, f1, f3)` is made
//! where `f5` is added to something.

use tracelift_core::loops::LoopFacts;
use tracelift_core::{Inst, Trace, Value};

/// The label's arguments and what the jump passes, in order.
#[derive(Default)]
pub(super) struct Held {
    arguments: Vec<Value>,
    passed: Vec<Value>,
}

impl Held {
    /// Those of a loop.
    pub(super) fn of(trace: &Trace, facts: &LoopFacts) -> Held {
        let sorted = |inst: Option<&Inst>| {
            let mut values: Vec<Value> = inst.map(|inst| inst.args.to_vec()).unwrap_or_default();
            values.sort();
            values
        };
        let label = trace.insts.get(facts.body.start);
        Held { arguments: sorted(label), passed: sorted(trace.insts.get(facts.body.end)) }
    }

    /// Whether an operation may wait for whoever wants its result.
    pub(super) fn keep_operands(&self, inst: &Inst) -> bool {
        let is_in = |values: &[Value], value: &Value| values.binary_search(value).is_ok();
        let is_passed = |value: &Value| is_in(&self.passed, value);
        let is_held = |value: &Value| is_passed(value) || is_in(&self.arguments, value);
        let is_needed = inst.result.as_ref().is_some_and(is_passed);
        !is_needed && inst.args.iter().all(is_held) && inst.args.iter().any(is_passed)
    }
}
