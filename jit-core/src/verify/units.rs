//! Calls of units, and what is looked at after them.
//!
//! Problem: whether a unit was left shows only where its result is looked at, and what its caller has to say
//! then is its snapshot for the call. Design: one walk over neighbours. A call is followed at once by the
//! operation that looks at its result, which nobody else uses; so nothing can be done between a unit that was
//! left and its caller, who is left as well. What a caller writes down are values alone: its snapshot has no
//! virtual objects and no stores that wait, and its last frame is the one that the unit gets.
//!
//! Invariant: a trace without faults here says all that the host needs of its frames when a unit that it has
//! called is left. Example: `i5 = call_unit(0, 3, i1) @0` must be followed by `unit_result(i5, …)`, and the
//! last frame of `@0` has the base 3.

use super::{Checker, ErrorKind};
use crate::ir::{ExitKind, Inst, Payload};
use crate::ops::Op;

impl Checker<'_> {
    /// Checks what an instruction has to do with units.
    pub(super) fn units(&mut self, index: usize, inst: &Inst) {
        match inst.op {
            Op::CallUnit => self.unit_call(index, inst),
            Op::UnitResult => self.unit_result(index, inst),
            _ => {}
        }
        if (inst.exit == ExitKind::Called) != (inst.op == Op::CallUnit) {
            let name = inst.op.info().name;
            let message = format!("the exit of {name} is of kind {}", inst.exit.name());
            self.error(ErrorKind::Unit, message);
        }
        // What a call results in is no value for others.
        let calls = || self.trace.insts.iter().filter(|inst| inst.op == Op::CallUnit);
        if inst.op == Op::UnitResult || calls().next().is_none() {
            return;
        }
        let is_call = |value| calls().any(|call| call.result == Some(value));
        let mut used: Vec<_> = inst.args.iter().copied().filter(|&value| is_call(value)).collect();
        if let Some(snapshot) = inst.snap.and_then(|snap| self.trace.snapshots.get(snap.index())) {
            snapshot.for_each_value(|value| used.extend(Some(value).filter(|&value| is_call(value))));
        }
        for value in used {
            let message = format!("{} is for unit_result alone", self.name(value));
            self.error(ErrorKind::Unit, message);
        }
    }

    fn unit_call(&mut self, index: usize, inst: &Inst) {
        let next = self.trace.insts.get(index + 1);
        if !next.is_some_and(|next| next.op == Op::UnitResult && next.args.first().copied() == inst.result) {
            self.error(ErrorKind::Unit, "call_unit is not followed by its unit_result");
        }
        let snapshot = inst.snap.and_then(|snap| self.trace.snapshots.get(snap.index()));
        let Some(snapshot) = snapshot else {
            return self.error(ErrorKind::Unit, "call_unit needs a snapshot");
        };
        if !snapshot.virtuals.is_empty() || !snapshot.pending.is_empty() {
            let message = "the snapshot of call_unit has virtual objects, or stores that wait";
            self.error(ErrorKind::Unit, message);
        }
        let Some(callee) = snapshot.frames.last() else {
            return self.error(ErrorKind::Unit, "the snapshot of call_unit has no frame");
        };
        if let Payload::Unit { base, .. } = inst.payload {
            if base != callee.base {
                let message = format!("the unit's frame begins at {base}, the snapshot's at {}", callee.base);
                self.error(ErrorKind::Unit, message);
            }
        }
    }

    fn unit_result(&mut self, index: usize, inst: &Inst) {
        let before = index.checked_sub(1).and_then(|index| self.trace.insts.get(index));
        let is_its = |call: &Inst| call.op == Op::CallUnit && call.result == inst.args.first().copied();
        if !before.is_some_and(is_its) {
            self.error(ErrorKind::Unit, "unit_result does not follow its call_unit");
        }
        let Payload::Result { slot: Some(slot), .. } = inst.payload else { return };
        let snapshot = inst.snap.and_then(|snap| self.trace.snapshots.get(snap.index()));
        if snapshot.is_some_and(|snapshot| snapshot.slots().any(|(at, _)| at == slot)) {
            let message = format!("the snapshot of unit_result writes slot {slot}, which holds the result");
            self.error(ErrorKind::Unit, message);
        }
    }
}
