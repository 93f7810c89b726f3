//! Recording units, and calls of units.
//!
//! Problem: a unit has its arguments in registers and no frame in memory, and what it is called by must know
//! what it returns. Design: a unit's recording declares its arguments, which are the only slots that it may
//! read; from then on they are values like all others, which every snapshot has where they are live. Another
//! unit, or itself, is called where a frame was pushed for it: the snapshot there is the state in which the
//! callee has the program. The program makes the call meanwhile; what it has returned is looked at at the
//! next resume point, under a guard on the tag.
//!
//! A side trace that begins where a unit has returned something unexpected finds that in its slot in memory,
//! and loads it; there is nothing else that it could want to read.
//!
//! Invariant: no trace of a unit has a slot for an input. Example, in a unit of the function `fib (n)`:
//!
//! ```text
//! i4 = call_unit(0, 3, i3) @2             @2 frame 0: its slots; frame 3, the callee's
//! i5 = unit_result(i4, 2: int) @3         @3 after the call: slot 2 is not mentioned
//! ```

use tracelift_core::ir::EntrySlot;
use tracelift_core::schema::TagId;
use tracelift_core::{ExitKind, Inst, Op, Payload, Schema, Type, UnitId, Value};

use super::{Finished, Recorder, SlotState, Start};
use crate::abort::AbortReason;

/// A unit was called, and the recording has not looked at what it has returned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Called {
    result: Value,
    /// Where the host puts what it returns, from the entry frame's base.
    slot: Option<i32>,
}

pub(super) const NOT_LOOKED_AT: &str = "what follows tl_call_unit is tl_resume_point and tl_unit_returned";

impl Recorder {
    /// The unit that the recording belongs to.
    pub fn unit(&self) -> Option<UnitId> {
        self.trace.unit
    }

    /// The recording is one of a unit, at its function's first instruction.
    pub(crate) fn begin_unit(&mut self, unit: UnitId) {
        self.trace.unit = Some(unit);
    }

    /// What the unit takes so far.
    pub(crate) fn arguments(&self) -> (&[EntrySlot], &[EntrySlot]) {
        (&self.trace.entry, &self.trace.entry_tags)
    }

    /// The unit is given this slot; see `tl_unit_argument`.
    pub fn unit_argument(&mut self, slot: i32, tag: TagId, schema: &Schema) -> Option<Value> {
        if self.failure.is_some() {
            return None;
        }
        if !matches!(self.start, Start::Unit(_)) || !self.is_new() {
            self.misuse("tl_unit_argument comes after tl_record_unit and before the first resume point");
            return None;
        }
        let at = self.absolute(slot)?;
        if self.slots.contains(at) {
            self.misuse(format!("tl_unit_argument: slot {at} is an argument already"));
            return None;
        }
        let entry = EntrySlot { slot: at, tag };
        let value = schema.tag(tag).payload.map(|ty| self.trace.new_value(ty));
        match value {
            Some(value) => {
                self.trace.entry.push(entry);
                self.trace.labels[0].args.push(value);
                self.trace.insts[0].args.push(value);
            }
            None => self.trace.entry_tags.push(entry),
        }
        let state =
            SlotState { head_tag: tag, input: value, tag, value, written: true, ..SlotState::default() };
        self.slots.insert(at, state);
        value
    }

    /// Calls a unit in the frame that was pushed for it, which is popped, or else in the trace's own; see
    /// `tl_call_unit`. Slots count from the caller's base.
    pub fn call_unit(
        &mut self,
        unit: UnitId,
        args: &[Value],
        slot: Option<i32>,
        changed: &[i32],
        schema: &Schema,
    ) {
        if !self.check_args(args) {
            return;
        }
        let base = self.stack.frames.last().map_or(0, |frame| frame.base);
        if self.trace.unit.is_some() && base <= 0 {
            // The limit would never be reached.
            return self.misuse("tl_call_unit in a unit: push a frame that lies above the unit's own");
        }
        // Where the callee is left it may have changed these: the exit must not write what they held before.
        let caller = self.stack.frames.iter().rev().nth(1).map_or(base, |frame| frame.base);
        if !changed.is_empty() {
            changed.iter().for_each(|&slot| self.forget_slot(slot + caller - base, schema));
            self.points.current = None;
        }
        let Some(snap) = self.snapshot() else { return };
        let mut inst = Inst::new(Op::CallUnit, args).with(Payload::Unit { unit, base }).at(Some(snap));
        inst.depth = self.depth().min(255) as u8;
        let Some(result) = self.trace.push(inst, Some(Type::Int)) else { return };
        if self.stack.frames.len() > 1 {
            self.pop_frame();
        }
        let slot = slot.and_then(|slot| self.absolute(slot));
        if let Some(at) = slot {
            let state = SlotState { written: true, forgotten: true, clean: true, ..SlotState::default() };
            let inner = self.stack.frames.get(1).is_some_and(|frame| at >= frame.base);
            let known = self.slots.get_or_insert(at, SlotState { inner, ..state });
            (known.written, known.forgotten, known.clean, known.value) = (true, true, true, None);
        }
        self.called = Some(Called { result, slot });
        self.points.current = None;
        self.points.dirty = Some(NOT_LOOKED_AT);
    }

    /// Whether a unit's result is to be looked at.
    pub(super) fn must_look_at_result(&self) -> bool {
        self.called.is_some()
    }

    /// What the unit that was called has returned has this tag; see `tl_unit_returned`. The slot holds it.
    pub fn unit_returned(&mut self, tag: Option<TagId>, schema: &Schema) -> Option<Value> {
        if self.failure.is_some() {
            return None;
        }
        let Some(Called { result, slot }) = self.called.take() else {
            self.misuse("tl_unit_returned without tl_call_unit");
            return None;
        };
        let snap = self.snapshot()?;
        let tag = tag.filter(|_| slot.is_some());
        let payload = tag.and_then(|tag| schema.tag(tag).payload);
        let mut inst = Inst::new(Op::UnitResult, &[result]).with(Payload::Result { slot, tag });
        inst = inst.at(Some(snap)).exit_kind(ExitKind::Guard);
        inst.depth = self.depth().min(255) as u8;
        let value = self.trace.push(inst, payload);
        if let (Some(state), Some(tag)) = (slot.and_then(|slot| self.slots.get_mut(slot)), tag) {
            (state.tag, state.value) = (tag, value);
            (state.written, state.clean, state.forgotten) = (true, false, false);
        }
        // What was known of the slot is another thing from here on.
        self.points.current = None;
        value
    }

    /// What a slot holds of which a side trace of a unit knows nothing: memory has it, as a unit that was
    /// called has returned it.
    pub(super) fn load_slot(&mut self, at: i32, tag: TagId, schema: &Schema) -> Option<Value> {
        let Some(cells) = schema.slot_cells() else {
            self.misuse(format!("slot {at} lies in memory, and tl_set_slot_cells was not called"));
            return None;
        };
        let base = self.emit(Op::FrameBase, &[], Payload::None, ExitKind::Guard, schema)?;
        let index = self.constant(Type::Int, i64::from(at) as u64);
        let scale = Payload::Scale { stride: schema.slots().stride, offset: 0 };
        let place = self.emit(Op::ItemAddr, &[base, index], scale, ExitKind::Guard, schema)?;
        if let Some(cell) = cells.tag {
            let found = self.emit(Op::Load, &[place], Payload::Cell(cell), ExitKind::Guard, schema)?;
            let wanted = self.constant(Type::Int, schema.tag(tag).bits);
            self.emit(Op::GuardValue, &[found, wanted], Payload::None, ExitKind::Guard, schema);
        }
        let value = schema.tag(tag).payload.and_then(|ty| {
            let cell = Payload::Cell(cells.value[ty as usize]);
            self.emit(Op::Load, &[place], cell, ExitKind::Guard, schema)
        });
        let inner = self.stack.frames.get(1).is_some_and(|frame| at >= frame.base);
        let state = SlotState { head_tag: tag, tag, value, written: true, inner, ..SlotState::default() };
        self.slots.insert(at, state);
        self.points.current = None;
        value
    }

    /// The unit ends here, and returns this; see `tl_unit_return`.
    pub(crate) fn finish_unit(
        mut self,
        tag: TagId,
        value: Option<Value>,
        schema: &Schema,
    ) -> Result<Finished, (AbortReason, String)> {
        let is_known = self.check_args(value.as_slice());
        if self.trace.unit.is_none() {
            self.misuse("tl_unit_return in a recording of no unit");
        }
        if is_known && schema.tag(tag).payload != value.map(|value| self.trace.ty(value)) {
            let name = &schema.tag(tag).name;
            self.misuse(format!("tl_unit_return: a value that does not fit tag {name}"));
        }
        if self.stack.frames.len() != 1 {
            self.misuse("tl_unit_return in a frame that was pushed");
        }
        let reads = self.slots.iter().any(|(_, state)| state.read) || self.stack.returned.is_some();
        if reads || !self.in_place.is_empty() {
            self.fail(AbortReason::Host("unit reads its frame".into()), "a slot that nobody has given it");
        }
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        if self.limits.discard_at.is_some() {
            return Err((AbortReason::Discarded, "at its end".into()));
        }
        self.trace.push(Inst::new(Op::ReturnUnit, value.as_slice()).with(Payload::Tag(tag)), None);
        if !self.cells.is_empty() {
            self.trace.entry_cells = self.cells.iter().map(|&(cell, _)| cell).collect();
            let inputs: Vec<Value> = self.cells.iter().map(|&(_, value)| value).collect();
            self.trace.insts[0].args = inputs.iter().copied().collect();
            self.trace.labels[0].args = inputs;
        }
        Ok(self.finished())
    }
}
