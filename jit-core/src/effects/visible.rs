//! Whether an instruction has a visible effect, for those who ask nothing else of every instruction.
//!
//! Problem: the recorder asks it of each operation, and all effects of one that looks for a key are lists of
//! memory. Design: the op table says which operations write. Beside these only a call of a host's function
//! can be seen, and so only the function's declaration is looked at. Invariant: for an instruction that the
//! verifier accepts the answer is that of [`Effects::is_visible`](super::Effects::is_visible). Example:
//! `get_key` is visible if the host's function that finds a key declares an effect.

use super::{layout, ClassSet, FuncEffects};
use crate::ir::{Inst, Payload};
use crate::ops::{Flags, Op};
use crate::schema::{FuncId, Schema};

impl FuncEffects {
    /// Whether something outside the trace can tell that such a function was called.
    pub(super) fn is_visible(&self) -> bool {
        self.writes != ClassSet::None || self.allocates || self.reenters
    }
}

/// What names nothing of the schema may do anything.
fn is_call_visible(func: FuncId, schema: &Schema) -> bool {
    schema.funcs().get(func.index()).is_none_or(|func| func.effects.is_visible())
}

impl Inst {
    /// Whether it does something that must not lie between a snapshot and a guard that uses it: what
    /// [`Effects::is_visible`](super::Effects::is_visible) says of its effects.
    pub fn has_visible_effect(&self, schema: &Schema) -> bool {
        match (self.op, self.payload) {
            (Op::Call | Op::TryCall, Payload::Func(func)) => is_call_visible(func, schema),
            (Op::GetKey | Op::GuardKeyAbsent, _) => layout(self, schema)
                .is_none_or(|layout| layout.keys.is_some_and(|keys| is_call_visible(keys.find, schema))),
            (op, _) => op.is(Flags::WRITES),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effects::Effects;
    use crate::schema::LayoutId;
    use crate::testbed::every::Combination;
    use crate::testbed::standard_schema;

    fn agrees(op: Op, payload: Payload, schema: &Schema) -> bool {
        let inst = Inst::new(op, &[]).with(payload);
        let visible = Effects::of(&inst, schema).is_visible();
        assert_eq!(inst.has_visible_effect(schema), visible, "{} {payload:?}", op.info().name);
        visible
    }

    #[test]
    fn calls_are_seen_by_what_their_functions_declare() {
        let schema = standard_schema();
        let mut seen = [0, 0];
        for combination in Combination::all() {
            for (op, kind) in [(Op::Call, "does"), (Op::TryCall, "tries")] {
                let func = schema.find_func(&combination.name(kind)).unwrap();
                seen[usize::from(agrees(op, Payload::Func(func), &schema))] += 1;
            }
        }
        assert!(seen.iter().all(|&count| count > 0), "{seen:?}");
    }

    #[test]
    fn keys_are_looked_for_unseen_and_set_seen() {
        let schema = standard_schema();
        let with_keys = schema.layouts().iter().position(|layout| layout.keys.is_some()).unwrap();
        let without = schema.layouts().iter().position(|layout| layout.keys.is_none()).unwrap();
        let payload = |number| Payload::Key { layout: LayoutId(number as u32), tag: None, hint: None };
        for op in [Op::GetKey, Op::GuardKeyAbsent] {
            assert!(!agrees(op, payload(with_keys), &schema) && !agrees(op, payload(without), &schema));
        }
        assert!(agrees(Op::SetKey, payload(with_keys), &schema));
    }
}
