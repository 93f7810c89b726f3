//! How a recording ends: as a loop that is back at its head, or as a trace that goes on elsewhere.
//!
//! Problem: a loop's second iteration begins with what the first has left, and memory holds a slot's old
//! content until an exit writes it. Design: when the loop closes, the slots that were read at the head, or
//! written and live there, become the label's arguments (the slot layout's contract in design section 5). If
//! a tag differs from that at the head, the recording is taken again. A side trace has only inputs; it hands
//! on what its slots hold to the code that comes next.
//!
//! Invariant: a slot that the loop changes is written at *every* exit where it is live, also at those
//! recorded before the change: from the second iteration on its memory is stale there too, so
//! [`Recorder::close`] completes the snapshots.
//!
//! ```text
//! slot 0 was read as i0 and is i1 at the end:  L0(i0): ... jump(L0, i1); each exit writes slot 0
//! ```

use smallvec::SmallVec;
use tracelift_core::ir::EntrySlot;
use tracelift_core::snapshot::{SlotValue, Source};
use tracelift_core::{ExitKind, Inst, Op, Payload, Schema, Value};

use tracelift_opt::counter_of;

use super::{is_live, Closed, Finished, Recorder, SlotState};
use crate::abort::AbortReason;
use crate::slots::read_safely;

impl Recorder {
    /// The loop is back at its head.
    pub fn close(mut self, schema: &Schema) -> Result<Closed, (AbortReason, String)> {
        self.has_looked();
        self.check_close(schema);
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        if self.limits.discard_at.is_some() {
            return Err((AbortReason::Discarded, "at its close".into()));
        }
        if self.stack.frames.len() != 1 {
            return Err((AbortReason::Misuse, "the loop closed inside a called frame".into()));
        }
        let Some(head_live) = self.head_live.clone() else {
            return Err((AbortReason::Misuse, "the loop closed before its first resume point".into()));
        };
        self.store_at_end(schema);
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let mut carried = Vec::new(); // (slot, input, jump argument)
        for (slot, state) in self.slots.iter_mut() {
            let read_at_head = state.input.is_some() || !state.written;
            if state.forgotten {
                let was_known = read_at_head || state.read;
                if was_known && is_live(&head_live, slot) {
                    let sentence = format!("slot {slot} is not known at the loop's end after tl_host_call");
                    return Err((AbortReason::Misuse, sentence));
                }
                if !was_known {
                    // Memory holds it at both ends of the loop, and the trace does not name it in between.
                    continue;
                }
            }
            if state.inner || !(read_at_head || is_live(&head_live, slot)) {
                continue;
            }
            let matters = is_live(&head_live, slot);
            if state.tag != state.head_tag && matters {
                return Ok(Closed::Again);
            }
            let entry = EntrySlot { slot, tag: state.head_tag };
            match schema.tag(state.head_tag).payload {
                None => self.trace.entry_tags.push(entry),
                Some(ty) => {
                    let input = *state.input.get_or_insert_with(|| self.trace.new_value(ty));
                    // A slot that is dead at the head was read before it was written only by a host whose
                    // liveness is too small; then it is carried unchanged, which is what memory holds.
                    let next = if matters { state.value.unwrap_or(input) } else { input };
                    carried.push((entry, input, next));
                }
            }
        }
        self.complete_snapshots(&carried);
        let inputs: Vec<Value> = carried.iter().map(|(_, input, _)| *input).collect();
        let next: Vec<Value> = carried.iter().map(|(_, _, next)| *next).collect();
        self.trace.entry = carried.iter().map(|(entry, _, _)| *entry).collect();
        self.trace.labels[0].args.clone_from(&inputs);
        self.trace.insts[0].args = SmallVec::from_slice(&inputs);
        let jump = Inst::new(Op::Jump, &next).with(Payload::Label(tracelift_core::LabelId(0)));
        self.trace.push(jump, None);
        let to_come = self.to_come(schema);
        Ok(Closed::Loop(Finished { to_come, ..self.finished() }))
    }

    /// What the loop's counter says in memory: where code goes on for long is told lowering.
    fn to_come(&self, schema: &Schema) -> Option<u64> {
        let counter = counter_of(&self.trace)?;
        let position = self.trace.labels[0].args.iter().position(|&arg| arg == counter)?;
        let layout = schema.slots();
        let payload =
            i64::from(self.trace.entry[position].slot) * i64::from(layout.stride) + i64::from(layout.payload);
        read_safely((self.stack.base as u64).wrapping_add_signed(payload), 8)
    }

    /// A side trace ends here, at the resume point. Its entry is what it has read before it was written.
    pub fn finish(mut self, schema: &Schema) -> Result<Finished, (AbortReason, String)> {
        self.has_looked();
        if self.trace.unit.is_some() {
            self.misuse("a trace of a unit ends by tl_unit_return");
        }
        let snapshot = self.points.end.or_else(|| self.snapshot());
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        if self.limits.discard_at.is_some() {
            return Err((AbortReason::Discarded, "at its end".into()));
        }
        let read = self.read_at_entry();
        if let Some(&(slot, _)) = read.iter().find(|(slot, _)| *slot >= self.room.extent) {
            return Err((AbortReason::Misuse, self.beyond(slot)));
        }
        // What the slots hold goes on to other code: objects among it have to be real.
        let frames = snapshot.map(|snapshot| &self.trace.snapshots[snapshot.index()].frames);
        let slots = frames.into_iter().flatten().flat_map(|frame| &frame.slots);
        let values: SmallVec<[Value; 8]> = slots.filter_map(|slot| slot.source.value()).collect();
        let mut finish = Inst::new(Op::Finish, &values).at(snapshot).exit_kind(ExitKind::Finish);
        finish.depth = self.stack.frames.len().min(255) as u8 - 1;
        self.trace.push(finish, None);
        let (mut inputs, mut known): (SmallVec<[Value; 4]>, SmallVec<[Value; 4]>) = Default::default();
        for (slot, state) in read {
            let entry = EntrySlot { slot, tag: state.head_tag };
            match (schema.tag(state.head_tag).payload, state.input) {
                (Some(_), Some(input)) if state.checked => {
                    self.trace.entry_known.push(entry);
                    known.push(input);
                }
                (Some(_), Some(input)) => {
                    self.trace.entry.push(entry);
                    inputs.push(input);
                }
                _ if state.checked => {}
                _ => self.trace.entry_tags.push(entry),
            }
        }
        inputs.extend(known);
        self.trace.entry_cells = self.cells.iter().map(|&(cell, _)| cell).collect();
        inputs.extend(self.cells.iter().map(|&(_, value)| value));
        self.trace.labels[0].args = inputs.to_vec();
        self.trace.insts[0].args = inputs.iter().copied().collect();
        Ok(self.finished())
    }

    /// The slots that a side trace has read before they were written.
    fn read_at_entry(&self) -> Vec<(i32, SlotState)> {
        let now = self.slots.iter().filter(|(_, state)| state.read && !state.inner);
        let before = self.stack.returned.iter().flatten().copied();
        before.chain(now.map(|(slot, &state)| (slot, state))).collect()
    }

    pub(super) fn finished(mut self) -> Finished {
        // What was recorded may be kept for long, and grows no more.
        self.trace.insts.shrink_to_fit();
        self.trace.values.shrink_to_fit();
        self.trace.snapshots.shrink_to_fit();
        let sites = self.stack.host_calls.sites;
        let (trace, edges, passed) = (Box::new(self.trace), self.edges, self.passed);
        Finished { trace, edges, passed, sites, to_come: None }
    }

    /// Adds the slots that the loop changes to the snapshots where they are live and not yet changed: their
    /// memory is stale from the second iteration on.
    fn complete_snapshots(&mut self, carried: &[(EntrySlot, Value, Value)]) {
        let changed: Vec<_> = carried.iter().filter(|(_, input, next)| input != next).collect();
        for (snapshot, live) in self.trace.snapshots.iter_mut().zip(&self.points.live) {
            // The head's slots belong to the outermost frame; a called frame wrote what it holds.
            let Some(frame) = snapshot.frames.first_mut() else { continue };
            for (entry, input, _) in &changed {
                let known = frame.slots.iter().any(|known| known.slot == entry.slot);
                if !known && is_live(live, entry.slot) {
                    frame.slots.push(SlotValue {
                        slot: entry.slot,
                        tag: entry.tag,
                        source: Source::Value(*input),
                    });
                }
            }
        }
    }
}
