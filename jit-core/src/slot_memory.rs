//! What memory holds in the slots of the frame, along a trace.
//!
//! Problem: a slot that memory holds already need not be stored again, nor written by an exit. Design: a walk
//! along a trace without loop. Addresses at a constant distance from the frame's base are slots; what the
//! trace was entered with in slots and what it stores there is known, by value. A call that may write slots
//! makes all of it unknown: slots that were dead in the call may have been written.
//!
//! Invariant: what is known holds, if accesses by other pointers do not meet slots of the trace's own frames
//! that it has changed; such a slot is in the recorder's map and not in memory, so that a recorder never
//! lets a trace look for it there.
//!
//! ```text
//! entry [0: int]   L0(i0):             slot 0: int i0
//! a1 = addr_add(frame_base(), 16)
//! store(a1, slot.int, i0)              slot 1: i0, of which no tag is known
//! store(a1, slot.tag, 3)               slot 1: int i0
//! call(test.anything, a2)              nothing
//! ```

use crate::effects::CellAccess;
use crate::ir::{EntrySlot, Inst, Payload, Trace, Value};
use crate::ops::{Flags, Op};
use crate::planted::{planted, Bug};
use crate::schema::{Schema, SlotCells, TagId};

/// What is known of a slot's memory.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Content {
    /// The tag.
    pub tag: Option<TagId>,
    /// The payload.
    pub value: Option<Value>,
}

/// Where an access of the frame goes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// The payload of a slot.
    Payload(i32),
    /// The tag of a slot.
    Tag(i32),
    /// Something else in a slot.
    Other(i32),
    /// Anywhere.
    Unknown,
}

impl Part {
    /// The slot, if it is known.
    pub fn slot(self) -> Option<i32> {
        match self {
            Part::Payload(slot) | Part::Tag(slot) | Part::Other(slot) => Some(slot),
            Part::Unknown => None,
        }
    }
}

/// An address in the frame: bytes from its base, if they are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    At(i64),
    Somewhere,
}

/// A table by slot; slots may be negative.
#[derive(Clone, Debug)]
pub struct SlotTable<T> {
    first: i32,
    rows: Vec<Option<T>>,
}

impl<T> Default for SlotTable<T> {
    fn default() -> SlotTable<T> {
        SlotTable { first: 0, rows: Vec::new() }
    }
}

impl<T> SlotTable<T> {
    fn row(&self, slot: i32) -> Option<usize> {
        usize::try_from(i64::from(slot) - i64::from(self.first)).ok()
    }

    /// The row of a slot.
    pub fn get(&self, slot: i32) -> Option<&T> {
        self.rows.get(self.row(slot)?)?.as_ref()
    }

    /// The row of a slot, to be changed; there is room for it. What lies too far away has none.
    pub fn place(&mut self, slot: i32) -> Option<&mut Option<T>> {
        if self.rows.is_empty() {
            self.first = slot;
        }
        if slot < self.first {
            let more = usize::try_from(i64::from(self.first) - i64::from(slot)).ok()?;
            if more > FAR {
                return None;
            }
            self.rows.splice(0..0, (0..more).map(|_| None));
            self.first = slot;
        }
        let row = self.row(slot).filter(|&row| row <= FAR)?;
        if row >= self.rows.len() {
            self.rows.resize_with(row + 1, || None);
        }
        self.rows.get_mut(row)
    }

    /// Empties all rows, and gives what was in them.
    pub fn drain(&mut self) -> impl Iterator<Item = T> + '_ {
        self.rows.iter_mut().filter_map(Option::take)
    }
}

/// Slots that are further apart than any recorder's are not known.
const FAR: usize = 1 << 18;

/// What is known of the frame's slots at a place of a trace.
#[derive(Clone, Debug)]
pub struct SlotMemory<'s> {
    schema: &'s Schema,
    cells: SlotCells,
    /// By value: bytes from the frame's base, of addresses in it, or that the distance is no constant.
    places: Vec<Option<Place>>,
    known: SlotTable<Content>,
    /// How often something has changed.
    changes: u32,
}

impl<'s> SlotMemory<'s> {
    /// What is known at a trace's start; `None` if the trace is a loop or has several parts, or if the schema
    /// does not say how slots are accessed.
    pub fn at_entry(trace: &Trace, schema: &'s Schema) -> Option<SlotMemory<'s>> {
        let cells = schema.slot_cells()?;
        let is_straight =
            trace.labels.len() == 1 && trace.insts.last().is_some_and(|last| last.op == Op::Finish);
        // The frame of a unit is not there.
        if !is_straight || trace.unit.is_some() {
            return None;
        }
        let mut known = SlotTable::default();
        let mut know = |slot: &EntrySlot, value| {
            if let Some(place) = known.place(slot.slot) {
                *place = Some(Content { tag: Some(slot.tag), value });
            }
        };
        for (slot, &input) in trace.entry.iter().chain(&trace.entry_known).zip(trace.inputs()) {
            know(slot, Some(input));
        }
        trace.entry_tags.iter().for_each(|slot| know(slot, None));
        Some(SlotMemory { schema, cells, places: Vec::new(), known, changes: 0 })
    }

    /// Nothing but where accesses go to, in any trace. `None` if the schema does not say how slots are
    /// accessed.
    pub fn of_places(schema: &'s Schema) -> Option<SlotMemory<'s>> {
        let cells = schema.slot_cells()?;
        Some(SlotMemory { schema, cells, places: Vec::new(), known: SlotTable::default(), changes: 0 })
    }

    /// For another walk that asks only where accesses go to.
    pub fn anew(&self) -> Option<SlotMemory<'s>> {
        SlotMemory::of_places(self.schema)
    }

    /// What is known of a slot, counted from the frame's base.
    pub fn content(&self, slot: i32) -> Option<Content> {
        self.known.get(slot).copied()
    }

    /// Whether memory holds tag and payload of a slot.
    pub fn holds(&self, slot: i32, tag: TagId, value: Option<Value>) -> bool {
        let is_untagged = self.cells.tag.is_none() || planted(Bug::EarlyTagIgnored);
        self.content(slot).is_some_and(|known| {
            (is_untagged || known.tag == Some(tag)) && (value.is_none() || known.value == value)
        })
    }

    /// A number that changes whenever what is known changes.
    pub fn changes(&self) -> u32 {
        self.changes
    }

    /// The part of the frame that a raw access goes to, and what it stores.
    pub fn access(&self, inst: &Inst) -> Option<(Part, Option<Value>)> {
        let CellAccess { cell, base, stored, .. } = CellAccess::of(inst, self.schema)?;
        let place = self.place(base)?;
        let cell = self.schema.cells().get(cell.index())?;
        let layout = self.schema.slots();
        let stride = i64::from(layout.stride.max(1));
        let Place::At(place) = place else { return Some((Part::Unknown, stored)) };
        let Some(at) = place.checked_add(i64::from(cell.offset)) else {
            return Some((Part::Unknown, stored));
        };
        let (slot, within) = (i32::try_from(at.div_euclid(stride)), at.rem_euclid(stride));
        let part = match slot {
            Err(_) => Part::Unknown,
            Ok(_) if within + i64::from(cell.width) > stride => Part::Unknown,
            Ok(slot) if within == i64::from(layout.payload) && cell.width == 8 => Part::Payload(slot),
            Ok(slot) if layout.tag.is_some_and(|tag| (within, cell.width) == (i64::from(tag.0), tag.1)) => {
                Part::Tag(slot)
            }
            Ok(slot) => Part::Other(slot),
        };
        Some((part, stored))
    }

    /// Whether an instruction may change what memory holds: most compute something, or load.
    #[inline]
    pub fn may_change(inst: &Inst) -> bool {
        matches!(inst.op, Op::Store | Op::Set)
            || matches!(inst.payload, Payload::Func(_) | Payload::Unit { .. })
            || inst.op.is(Flags::RECORD)
    }

    /// Whether an instruction may write slots in ways that are not seen: calls, mostly.
    pub fn is_lost_by(&self, inst: &Inst) -> bool {
        if !SlotMemory::may_change(inst) || CellAccess::of(inst, self.schema).is_some() {
            return false;
        }
        let effects = inst.effects(self.schema);
        let cells = self.cells.value.iter().chain(&self.cells.tag);
        let mut classes = cells.filter_map(|cell| self.schema.cells().get(cell.index()));
        effects.collects || classes.any(|cell| effects.writes.contains(cell.class))
    }

    /// Passes an instruction.
    pub fn step(&mut self, trace: &Trace, inst: &Inst) {
        self.note_place(trace, inst);
        if !SlotMemory::may_change(inst) {
            return;
        }
        if self.is_lost_by(inst) {
            self.known.drain().for_each(drop);
            self.changes += 1;
        }
        let Some((part, Some(stored))) = self.access(inst) else { return };
        self.changes += 1;
        let Some(slot) = part.slot() else { return self.known.drain().for_each(drop) };
        let tag = match part {
            Part::Tag(_) => trace.values.get(stored.index()).and_then(|_| trace.bits_of(stored)),
            _ => None,
        };
        let tag = tag.and_then(|bits| self.tag_of(bits));
        let Some(known) = self.known.place(slot) else { return };
        match part {
            Part::Payload(_) => known.get_or_insert_default().value = Some(stored),
            Part::Tag(_) => known.get_or_insert_default().tag = tag,
            Part::Other(_) | Part::Unknown => *known = None,
        }
    }

    fn tag_of(&self, bits: u64) -> Option<TagId> {
        let (_, width) = self.schema.slots().tag?;
        let mask = u64::MAX >> (64 - u32::from(width.clamp(1, 8)) * 8);
        let position = self.schema.tags().iter().position(|tag| (tag.bits ^ bits) & mask == 0);
        position.map(|index| TagId(index as u32))
    }

    #[inline]
    fn note_place(&mut self, trace: &Trace, inst: &Inst) {
        let is_address = matches!(inst.op, Op::FrameBase | Op::AddrAdd | Op::ItemAddr);
        let Some(result) = inst.result.filter(|_| is_address) else { return };
        let distance = |index: &Value| {
            let is_value = index.index() < trace.values.len();
            is_value.then(|| trace.int_of(*index)).flatten()
        };
        let more = match (inst.op, inst.args.as_slice(), inst.payload) {
            (Op::FrameBase, ..) => return self.note(result, Some(0)),
            (Op::AddrAdd, [_, more], _) => distance(more),
            (Op::ItemAddr, [_, index], Payload::Scale { stride, offset }) => distance(index)
                .and_then(|index| index.checked_mul(i64::from(stride))?.checked_add(i64::from(offset))),
            _ => return,
        };
        match self.place(inst.args[0]) {
            Some(Place::At(place)) => self.note(result, more.and_then(|more| place.checked_add(more))),
            Some(Place::Somewhere) => self.note(result, None),
            None => {}
        }
    }

    fn place(&self, value: Value) -> Option<Place> {
        self.places.get(value.index()).copied().flatten()
    }

    fn note(&mut self, result: Value, distance: Option<i64>) {
        if self.places.len() <= result.index() {
            self.places.resize(result.index() + 1, None);
        }
        self.places[result.index()] = Some(distance.map_or(Place::Somewhere, Place::At));
    }
}
