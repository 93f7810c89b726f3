//! Slots during a recording: what is read and written.
//!
//! Problem: the host reads and writes slots by number and frame, and may be wrong about them; a trace has
//! values. Design: the first read of a slot makes a typed input, a write only changes the map. A slot that is
//! written before it is read keeps the tag that memory holds at the head, which matters where the slot is
//! live there alone. Invariant: what the host says of a slot fits what it has said before (its tag, its
//! frame, how many slots there are); all else is a misuse, and ends the recording.
//!
//! ```text
//! read 0 as int   -> i0, an input        write 0 := int i1  -> the map only
//! read 0 as int   -> i1                  read 0 as float    -> misuse
//! ```

use tracelift_core::schema::TagId;
use tracelift_core::{Schema, Value};

use super::units::NOT_LOOKED_AT;
use super::{is_live, Recorder, SlotState, Start, MAX_SLOTS};

impl Recorder {
    /// A slot of the current frame, counted from the entry frame's base.
    pub(super) fn absolute(&mut self, slot: i32) -> Option<i32> {
        let base = self.stack.frames.last().map_or(0, |frame| frame.base);
        // A side trace may begin in, or return to, frames below the one whose base it is entered with.
        let lowest = self.stack.frames[0].base.min(0);
        let at = base.checked_add(slot).filter(|at| (lowest..MAX_SLOTS as i32).contains(at));
        if at.is_none() {
            let where_it_is = if slot < 0 { "below the entry frame" } else { "beyond all frames" };
            self.misuse(format!("slot {slot} of the frame at slot {base} lies {where_it_is}"));
        }
        at
    }

    /// The tag that memory holds in a slot; `None` where slots have no tags. Asked for slots alone that are
    /// live at the head: the host has said that they are there.
    pub(super) fn tag_in_memory(&self, slot: i32, schema: &Schema) -> Option<TagId> {
        // SAFETY: the host promised that `base` is where its frame's slots are now, and it asks only for
        // slots of that frame or frames above it, which lie in the same stack.
        let bits = unsafe { crate::slots::read_tag(self.stack.base, slot, &schema.slots()) }?;
        schema.tags().iter().position(|tag| tag.bits == bits).map(|index| TagId(index as u32))
    }

    /// The value of a slot of the current frame, which now holds `tag`; see `tl_slot_read`.
    pub fn read_slot(&mut self, slot: i32, tag: TagId, schema: &Schema) -> Option<Value> {
        if self.failure.is_some() {
            return None;
        }
        if self.must_look_at_result() {
            self.misuse(NOT_LOOKED_AT);
            return None;
        }
        let at = self.absolute(slot)?;
        if self.checker.is_some() {
            return self.read_checked(at, slot, tag, schema);
        }
        self.read_at(at, slot, tag, schema)
    }

    fn read_checked(&mut self, at: i32, slot: i32, tag: TagId, schema: &Schema) -> Option<Value> {
        let is_new = !self.slots.contains(at);
        let value = self.read_at(at, slot, tag, schema);
        self.check_read(at, tag, is_new, schema);
        if is_new {
            self.learn_read(at, value, schema);
        }
        value.filter(|_| self.failure.is_none())
    }

    /// The value of the slot `at`, which is `slot` of the current frame.
    fn read_at(&mut self, at: i32, slot: i32, tag: TagId, schema: &Schema) -> Option<Value> {
        if let Some(state) = self.slots.get(at) {
            if state.forgotten {
                self.misuse(format!("slot {at} is read after tl_host_call and before tl_slot_known"));
                return None;
            }
            if state.tag != tag {
                let (old, new) = (&schema.tag(state.tag).name, &schema.tag(tag).name);
                self.misuse(format!("slot {at} is read as {new} but was last written as {old}"));
                return None;
            }
            if let Some(value) = state.value {
                return Some(value);
            }
            return self.materialize_input(at, schema);
        }
        let inner = self.stack.frames.len() > self.stack.initial && slot >= 0;
        if inner {
            self.misuse(format!("slot {at} of a called frame is read before it was written"));
            return None;
        }
        if self.stack.returned.is_some() {
            self.misuse(format!("slot {at} of a frame that was returned to is read before tl_slot_known"));
            return None;
        }
        // The frames of a side trace are told one by one, and their slots may be read meanwhile: `finish`
        // looks at those.
        let is_told = !self.is_new() || !matches!(self.start, Start::Side(_));
        if is_told && at >= self.room.extent {
            self.misuse(self.beyond(at));
            return None;
        }
        if is_told && self.trace.unit.is_some() && matches!(self.start, Start::Side(_)) {
            return self.load_slot(at, tag, schema);
        }
        let known = self.in_place.get(&at);
        if let Some(&known) = known.filter(|&&known| known != tag) {
            let (old, new) = (&schema.tag(known).name, &schema.tag(tag).name);
            self.misuse(format!("slot {at} is read as {new}, but the exit has left it as {old}"));
            return None;
        }
        let checked = known.is_some();
        self.slots.insert(
            at,
            SlotState {
                head_tag: tag,
                input: None,
                tag,
                value: None,
                written: false,
                inner: false,
                read: true,
                checked,
                ..SlotState::default()
            },
        );
        self.materialize_input(at, schema)
    }

    /// Whether the recording knows what a slot of the current frame holds; see `tl_slot_is_known`.
    pub fn is_slot_known(&self, slot: i32) -> bool {
        let base = self.stack.frames.last().map_or(0, |frame| frame.base);
        let state = base.checked_add(slot).and_then(|at| self.slots.get(at));
        state.is_some_and(|state| !state.forgotten)
    }

    /// Memory holds this in a slot of the current frame, as the trace has seen; see `tl_slot_known`.
    pub fn know_slot(&mut self, slot: i32, tag: TagId, value: Option<Value>, schema: &Schema) {
        if self.failure.is_some() || !self.check_args(value.as_slice()) {
            return;
        }
        if schema.tag(tag).payload != value.map(|value| self.trace.ty(value)) {
            let name = &schema.tag(tag).name;
            return self.misuse(format!("slot {slot} is known to hold a value that does not fit tag {name}"));
        }
        let Some(at) = self.absolute(slot) else { return };
        self.check_write(at);
        if let Some(state) = self.slots.get_mut(at).filter(|state| state.forgotten) {
            (state.tag, state.value, state.forgotten) = (tag, value, false);
            return;
        }
        if self.stack.returned.is_none() || self.slots.contains(at) {
            return self.misuse(format!("tl_slot_known: slot {at} is one that tl_slot_read reads"));
        }
        let state = SlotState { head_tag: tag, tag, value, inner: true, ..SlotState::default() };
        self.slots.insert(at, state);
    }

    /// Why a slot there cannot be read.
    pub(super) fn beyond(&self, slot: i32) -> String {
        match self.is_new() {
            true => format!("slot {slot} is read before the first tl_resume_point"),
            false => format!("slot {slot} is read, but the frames have {} slots", self.room.extent),
        }
    }

    /// Makes the typed input of a slot whose tag has a payload and whose value is still the one at the head.
    fn materialize_input(&mut self, at: i32, schema: &Schema) -> Option<Value> {
        let state = self.slots.get_mut(at)?;
        if state.written {
            return None; // written as a tag without payload
        }
        let ty = schema.tag(state.head_tag).payload?;
        let value = *state.input.get_or_insert_with(|| self.trace.new_value(ty));
        state.value = Some(value);
        Some(value)
    }

    /// The slot now holds this; see `tl_slot_write`.
    pub fn write_slot(&mut self, slot: i32, tag: TagId, value: Option<Value>, schema: &Schema) {
        if self.failure.is_some() {
            return;
        }
        if !self.check_args(value.as_slice()) {
            return;
        }
        let payload = schema.tag(tag).payload;
        if payload != value.map(|value| self.trace.ty(value)) {
            let name = &schema.tag(tag).name;
            return self.misuse(format!("slot {slot} is written with a value that does not fit tag {name}"));
        }
        let Some(at) = self.absolute(slot) else { return };
        self.check_write(at);
        let Some(head_live) = &self.head_live else {
            return self.misuse(format!("slot {slot} is written before the first tl_resume_point"));
        };
        // A called function may share a slot of the loop's own frame, which matters at the head.
        let inner = self.stack.frames.get(1).is_some_and(|frame| at >= frame.base);
        if !self.points.written.iter().any(|&(slot, _)| slot == at) {
            self.points.written.push((at, self.slots.get(at).copied()));
        }
        match self.slots.get_mut(at) {
            Some(state) => {
                (state.tag, state.value, state.written) = (tag, value, true);
                (state.clean, state.forgotten) = (false, false);
            }
            None => {
                // Memory still holds the head's tag, as no earlier bytecode of the iteration wrote the slot.
                // That matters where the slot is live at the head alone; a tag that the host did not declare
                // is stale.
                let matters = !inner && is_live(head_live, at);
                let in_memory = if matters { self.tag_in_memory(at, schema) } else { None };
                let head_tag = in_memory.unwrap_or(tag);
                let state = SlotState { head_tag, tag, value, written: true, inner, ..SlotState::default() };
                self.slots.insert(at, state);
            }
        }
    }
}
