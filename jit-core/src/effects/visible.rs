//! Whether an instruction has a visible effect, for those who ask nothing else of every instruction.
//!
//! Problem: the recorder asks it of each operation, and all effects of one that looks for a key are lists of
//! memory. Design: the op table says which operations write; beside them only a function of the host's can be
//! seen, and it is asked alone. Invariant: the answer is that of [`Effects::is_visible`], or yes where that
//! is no. Example: `get_key` is visible if the host's function that finds a key declares an effect.

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
    /// [`super::Effects::is_visible`] says of its effects.
    pub fn has_visible_effect(&self, schema: &Schema) -> bool {
        match (self.op, self.payload) {
            (Op::Call | Op::TryCall, Payload::Func(func)) => is_call_visible(func, schema),
            (Op::GetKey | Op::GuardKeyAbsent, _) => layout(self, schema)
                .is_none_or(|layout| layout.keys.is_none_or(|keys| is_call_visible(keys.find, schema))),
            (op, _) => op.is(Flags::WRITES),
        }
    }
}
