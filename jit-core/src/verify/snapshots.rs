//! Snapshots against the guards that use them.
//!
//! Problem: a snapshot's fault shows only when its guard fails, in code that runs once a day. Design: each
//! guard checks its snapshot as if it failed: every value must be visible there, every tag must fit its
//! source, every virtual object its layout; a shared snapshot is checked at each of its guards. Invariant: a
//! snapshot without faults can be restored. Example: `1: int f3` is reported as
//! `snapshot @0: slot 1: tag int does not fit f3`.

use super::{Checker, ErrorKind, Mode};
use crate::ir::{key_room, Inst, Payload, Trace, Value};
use crate::ops::Op;
use crate::schema::{FieldId, LayoutId, TagId};
use crate::snapshot::{Frame, Pending, Snapshot, Source, Virtual};
use crate::types::Type;

/// Whether a snapshot mentions nothing but values.
fn is_plain(snapshot: &Snapshot) -> bool {
    snapshot.virtuals.is_empty() && snapshot.pending.is_empty()
}

/// Whether it was taken before the first instruction after the entry label.
fn is_at_head(snapshot: &Snapshot) -> bool {
    snapshot.position == 1
}

/// Where a recorded side trace has made and filled the objects that its exit left virtual, and these objects:
/// as long as it may leave to that exit's state nobody can have seen them.
pub(super) fn head(trace: &Trace) -> (usize, Vec<Value>) {
    let is_head = |inst: &&Inst| {
        let snapshot = inst.snap.and_then(|snap| trace.snapshots.get(snap.index()));
        snapshot.is_some_and(|snapshot| is_at_head(snapshot) && !is_plain(snapshot))
    };
    let head: Vec<&Inst> = trace.insts.iter().skip(1).take_while(is_head).collect();
    let made = head.iter().filter(|inst| inst.op == Op::New).filter_map(|inst| inst.result);
    (1 + head.len(), made.collect())
}

impl Checker<'_> {
    /// Checks the snapshot of an instruction.
    pub(super) fn snapshot(&mut self, index: usize, inst: &Inst) {
        let Some(id) = inst.snap else { return };
        if !inst.is_exit() && inst.op != Op::EnterLoop {
            self.error(ErrorKind::Snapshot, format!("{} takes no snapshot", inst.op.info().name));
        }
        let trace = self.trace;
        let Some(snapshot) = trace.snapshots.get(id.index()) else {
            return self.error(ErrorKind::Snapshot, format!("there is no snapshot @{}", id.0));
        };
        let mut faults = Vec::new();
        snapshot.for_each_value(|value| faults.extend(self.use_fault(value)));
        snapshot.frames.iter().for_each(|frame| self.frame_faults(frame, snapshot, &mut faults));
        snapshot.virtuals.iter().for_each(|object| self.virtual_faults(object, snapshot, &mut faults));
        snapshot.pending.iter().for_each(|store| self.pending_faults(store, snapshot, &mut faults));
        for fault in faults {
            self.error(ErrorKind::Snapshot, format!("snapshot @{}: {fault}", id.0));
        }
        if self.mode == Mode::Recorded {
            self.recorded(index, inst, id.0, snapshot);
        }
    }

    /// The program passes back edges, and never takes one back: what was recorded later has passed as many or
    /// more, and copies of one recorded snapshot have passed the same.
    pub(super) fn edges(&mut self) {
        let mut passed: Vec<(u32, u32, usize)> = Vec::with_capacity(self.trace.snapshots.len());
        passed.extend(self.trace.snapshots.iter().enumerate().map(|(id, s)| (s.origin, s.edges, id)));
        passed.sort_unstable();
        for pair in passed.windows(2) {
            let [(earlier, before, of), (later, after, id)] = [pair[0], pair[1]];
            if after < before || (earlier == later && after != before) {
                let message = format!("snapshot @{id} has passed {after} back edges, but @{of} {before}");
                self.error(ErrorKind::Snapshot, message);
            }
        }
    }

    /// What only recorded traces promise.
    fn recorded(&mut self, index: usize, inst: &Inst, id: u32, snapshot: &Snapshot) {
        if !is_plain(snapshot) && !is_at_head(snapshot) {
            self.error(ErrorKind::Snapshot, format!("snapshot @{id}: a recorder knows no virtual objects"));
        }
        let position = snapshot.position as usize;
        if position > index {
            self.error(ErrorKind::Snapshot, format!("snapshot @{id} is used before it is taken"));
        } else if inst.op != Op::Finish
            && !inst.never_leaves(self.schema)
            && self.effects_before[position] != self.effects_before[index]
            && self.is_seen_between(position, index)
        {
            // Nothing is done again after the end, before which a host may make its frames.
            let message = format!("a visible effect lies between snapshot @{id} and this guard");
            self.error(ErrorKind::Effect, message);
        }
    }

    /// Whether anybody can tell that what lies between two instructions was executed. Nobody can who only
    /// sees that a record was filled which was made there: made again, it is another one.
    fn is_seen_between(&self, position: usize, index: usize) -> bool {
        let insts = &self.trace.insts[position..index];
        let mut made: Vec<Value> = Vec::new();
        insts.iter().any(|inst| {
            made.extend(inst.result.filter(|_| inst.op == Op::New));
            let fills = matches!(inst.op, Op::Set | Op::SetItem | Op::PutItem | Op::SetKey | Op::InsertKey)
                && inst.args.first().is_some_and(|record| made.contains(record));
            let is_taken = matches!(inst.payload, Payload::Result { slot: Some(_), .. });
            !fills && (is_taken || inst.has_visible_effect(self.schema))
        })
    }

    fn frame_faults(&self, frame: &Frame, snapshot: &Snapshot, faults: &mut Vec<String>) {
        let words = self.schema.frame_words as usize;
        if frame.words.len() != words {
            faults.push(format!("a frame has {} words, not {words}", frame.words.len()));
        }
        for slot in &frame.slots {
            let place = format!("slot {}", slot.slot);
            match slot.source {
                Source::InPlace => faults.extend(self.in_place_fault(frame.base + slot.slot, slot.tag)),
                source => faults.extend(self.tagged_fault(&place, slot.tag, source, snapshot)),
            }
        }
    }

    fn virtual_faults(&self, object: &Virtual, snapshot: &Snapshot, faults: &mut Vec<String>) {
        if !self.layout_exists(object.layout) {
            return faults.push("a virtual object has no such layout".to_string());
        }
        for &(field, source) in &object.fields {
            faults.extend(self.field_fault(object.layout, field, source, snapshot));
        }
        for &(index, tag, source) in &object.item_values {
            if index >= object.items {
                faults.push(format!("item {index} is outside the room for {}", object.items));
            }
            faults.extend(self.item_source_fault(object.layout, tag, source, snapshot));
        }
        let room = key_room(object.keys);
        if object.entries.len() > room as usize {
            faults.push(format!("{} entries are outside the room for {room}", object.entries.len()));
        }
        for &(key, tag, source) in &object.entries {
            faults.extend(self.key_source_fault(object.layout, key, tag, source, snapshot));
        }
        faults.extend(self.new_fault(object.layout, object.items, object.keys));
    }

    fn pending_faults(&self, store: &Pending, snapshot: &Snapshot, faults: &mut Vec<String>) {
        if self.type_of(store.address).is_some_and(|ty| !ty.is_pointer()) {
            faults.push("a pending store needs an address".to_string());
        }
        let Some(cell) = self.schema.cells().get(store.cell.index()) else {
            return faults.push("no such cell".to_string());
        };
        match self.source_type(store.source, snapshot) {
            Ok(Some(ty)) if ty == cell.ty => {}
            Ok(_) => faults.push(format!("{} does not fit {}", self.source_name(store.source), cell.name)),
            Err(fault) => faults.push(fault),
        }
    }

    fn field_fault(
        &self,
        layout: LayoutId,
        field: FieldId,
        source: Source,
        snapshot: &Snapshot,
    ) -> Option<String> {
        let Some(known) = self.schema.fields().get(field.index()) else {
            return Some("no such field".to_string());
        };
        let cell = self.schema.cell(known.cell);
        if known.layout != layout {
            return Some(format!("{} is no field of {}", cell.name, self.schema.layout(layout).name));
        }
        match self.source_type(source, snapshot) {
            Ok(Some(ty)) if ty == cell.ty => None,
            Ok(_) => Some(format!("{} does not fit field {}", self.source_name(source), cell.name)),
            Err(fault) => Some(fault),
        }
    }

    fn item_source_fault(
        &self,
        layout: LayoutId,
        tag: Option<TagId>,
        source: Source,
        snapshot: &Snapshot,
    ) -> Option<String> {
        if let Some(fault) = self.item_fault(layout, tag) {
            return Some(fault);
        }
        let untagged = self.schema.layout(layout).items.map(|items| items.element.untagged);
        self.element_fault("item", tag, untagged, source, snapshot)
    }

    fn key_source_fault(
        &self,
        layout: LayoutId,
        key: Value,
        tag: Option<TagId>,
        source: Source,
        snapshot: &Snapshot,
    ) -> Option<String> {
        if !self.is_constant(key) || self.type_of(key) != Some(Type::Ref) {
            return Some(format!("key {} is no constant object", self.name(key)));
        }
        if let Some(fault) = self.key_fault(layout, tag) {
            return Some(fault);
        }
        let untagged = self.schema.layout(layout).keys.map(|keys| keys.element.untagged);
        self.element_fault("entry", tag, untagged, source, snapshot)
    }

    fn element_fault(
        &self,
        place: &str,
        tag: Option<TagId>,
        untagged: Option<Type>,
        source: Source,
        snapshot: &Snapshot,
    ) -> Option<String> {
        if let Some(tag) = tag {
            return self.tagged_fault(place, tag, source, snapshot);
        }
        match self.source_type(source, snapshot) {
            Ok(ty) if ty == untagged => None,
            Ok(_) => Some(format!("{} does not fit an {place}", self.source_name(source))),
            Err(fault) => Some(fault),
        }
    }

    /// A tag and its payload.
    fn tagged_fault(&self, place: &str, tag: TagId, source: Source, snapshot: &Snapshot) -> Option<String> {
        let Some(tag) = self.schema.tags().get(tag.index()) else {
            return Some(format!("{place}: no such tag"));
        };
        match self.source_type(source, snapshot) {
            Ok(ty) if ty == tag.payload => None,
            Ok(_) => Some(format!("{place}: tag {} does not fit {}", tag.name, self.source_name(source))),
            Err(fault) => Some(format!("{place}: {fault}")),
        }
    }

    /// The type of a source: nothing's is `None`.
    fn source_type(&self, source: Source, snapshot: &Snapshot) -> Result<Option<Type>, String> {
        match source {
            Source::Nothing => Ok(None),
            Source::Value(value) => self.type_of(value).map(Some).ok_or_else(|| "no such value".to_string()),
            Source::Virtual(index) if (index as usize) < snapshot.virtuals.len() => Ok(Some(Type::Ref)),
            Source::Virtual(index) => Err(format!("there is no virtual object v{index}")),
            Source::InPlace => Err("only a slot can be in place".to_string()),
        }
    }

    fn source_name(&self, source: Source) -> String {
        match source {
            Source::Nothing => "nothing".to_string(),
            Source::Value(value) => self.name(value),
            Source::Virtual(index) => format!("v{index}"),
            Source::InPlace => "in_place".to_string(),
        }
    }

    /// A slot that the trace must have written before, or been entered with.
    fn in_place_fault(&self, slot: i32, tag: TagId) -> Option<String> {
        if self.mode == Mode::Recorded {
            return Some(format!("slot {slot}: a recorder leaves no slot in place"));
        }
        let Some(known) = self.slots.as_ref().and_then(|memory| memory.content(slot)) else {
            return Some(format!("slot {slot} is in place, but was not written"));
        };
        let expected = self.schema.tags().get(tag.index()).map(|tag| tag.payload);
        let payload = known.value.map(|value| self.type_of(value)).unwrap_or_default();
        let is_tagged = known.tag == Some(tag) || self.schema.slots().tag.is_none();
        let fits = is_tagged && expected.is_some_and(|ty| ty.is_none() || ty == payload);
        (!fits).then(|| format!("slot {slot} is in place, but memory holds something else"))
    }
}
