//! Common subexpressions: a pure operation whose operation, payload and operands were seen before is that
//! value.
//!
//! Problem: interpreters compute the same tag test and the same address again and again. Design: one hash
//! table from what determines a pure operation's result to the value that holds it, filled as instructions
//! are committed. Operands of commuting operations are put in order first. Invariant: the table is empty at a
//! label that is not the entry, since values from before are not visible there; and it holds no pointer that
//! was computed before a call that may run the collector (the object may be gone). A partial operation
//! (`int_div`) needs no care: the first one stands earlier on the same straight line, after its own guards.
//!
//! Example: `i2 = int_mul(i0, i1); i3 = int_mul(i1, i0)` commits one multiplication.

use rustc_hash::{FxBuildHasher, FxHashMap as HashMap};

use tracelift_core::ir::{args_of, Args};
use tracelift_core::ops::{Flags, PayloadKind};
use tracelift_core::planted::{planted, Bug};
use tracelift_core::{Inst, Op, Payload, Value};

use crate::pass::{Cx, Ops, Outcome, Pass};
use crate::state::State;
use crate::OptError;

type Key = (Op, Payload, Args);

/// The pass.
pub(crate) struct Cse {
    seen: HashMap<Key, Value>,
}

impl Default for Cse {
    fn default() -> Cse {
        // Room for what most traces compute.
        Cse { seen: HashMap::with_capacity_and_hasher(56, FxBuildHasher) }
    }
}

fn key(inst: &Inst) -> Key {
    let mut args = args_of(&inst.args);
    if is_merged_by_mistake(inst.op) {
        args.clear();
    }
    if inst.op.is(Flags::COMMUTES) {
        args.sort();
    }
    (inst.op, inst.payload, args)
}

/// What units return differs from call to call.
fn is_merged_by_mistake(op: Op) -> bool {
    op == Op::UnitResult && planted(Bug::UnitResultMerged)
}

impl Pass for Cse {
    fn name(&self) -> &'static str {
        "cse"
    }

    fn rules(&self) -> Vec<&'static str> {
        vec!["seen_before"]
    }

    fn minds(&self) -> Ops {
        Ops::that(|op| op.is(Flags::PURE) || is_merged_by_mistake(op))
    }

    fn feed(&mut self, cx: &mut Cx<'_, '_>, inst: &Inst) -> Result<Outcome, OptError> {
        match self.seen.get(&key(inst)) {
            Some(&value) if cx.st.fire("seen_before") => Ok(Outcome::Equal(value)),
            _ => Ok(Outcome::Keep),
        }
    }

    fn hears(&self) -> Ops {
        let is_kept = |op: Op| op.is(Flags::PURE) || is_merged_by_mistake(op);
        Ops::that(|op| is_kept(op) || op.info().payload == PayloadKind::Func)
    }

    fn committed(&mut self, st: &mut State<'_>, inst: &Inst) {
        let is_kept = inst.op.is(Flags::PURE) || is_merged_by_mistake(inst.op);
        if let (true, Some(result)) = (is_kept, inst.result) {
            self.seen.insert(key(inst), result);
        } else if st.collects(inst) && !planted(Bug::CseKeepsPointers) {
            // The context and the frame's base stay as long as the code runs.
            let stays = |&(op, ..): &Key| matches!(op, Op::Context | Op::FrameBase);
            self.seen.retain(|key, &mut value| stays(key) || !st.out.ty(value).is_pointer());
        }
    }

    fn label(&mut self) {
        self.seen.clear();
    }
}
