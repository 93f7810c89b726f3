//! Making and filling records of any layout: fields, items, keyed entries.
//!
//! Problem: a schema may put a record's parts anywhere; test functions must serve them all. Design:
//! everything goes through the layout's cells. An entry table's size cell holds its capacity as a count; an
//! entry is free while its key is null; a key whose value has the absent tag counts as absent but keeps its
//! entry, which an insertion of the same key takes again (as Lua's dead keys do). Invariant: failed
//! allocations have no effect.
//!
//! Example: inserting into a full table of 2 entries makes a block of 4, copies both, and retires the old
//! block.

use super::heap::{read_raw, write_raw};
use super::{cell_address, extend, BlockKind, Context};
use crate::ir::key_room;
use crate::schema::{CellId, Element, Keys, LayoutId};
use crate::types::{Bits, Type};
use crate::world_spec::{SpecValue, WorldSpec};

/// More elements than any test needs; beyond this an allocation fails like one without memory.
const MAX_ELEMENTS: u32 = 1 << 20;

/// Where records that refer to the frame say how they were made.
const IN_FRAME_AT: usize = 24;

impl Context {
    pub(super) fn spec_bits(&self, value: SpecValue) -> Bits {
        match value {
            SpecValue::Nothing => 0,
            SpecValue::Bits(bits) => bits,
            SpecValue::Object(number) => self.objects[number as usize],
        }
    }

    /// Reads a cell; `None` outside the heap's blocks.
    pub(crate) fn get(&self, base: Bits, cell: CellId) -> Option<Bits> {
        let cell = self.schema.cell(cell);
        let address = cell_address(base, cell);
        // SAFETY: checked to lie inside a live block.
        self.heap
            .contains(address, cell.width as usize)
            .then(|| extend(unsafe { read_raw(address, cell.width) }, cell))
    }

    /// Writes a cell; `None` outside the heap's blocks.
    pub(crate) fn put(&mut self, base: Bits, cell: CellId, bits: Bits) -> Option<()> {
        let cell = self.schema.cell(cell);
        let address = cell_address(base, cell);
        // SAFETY: checked to lie inside a live block.
        self.heap
            .contains(address, cell.width as usize)
            .then(|| unsafe { write_raw(address, cell.width, bits) })
    }

    /// Counts an allocation; whether it may go on.
    fn may_allocate(&mut self) -> bool {
        match &mut self.allocations_left {
            Some(0) => return false,
            Some(left) => *left -= 1,
            None => {}
        }
        self.allocations += 1;
        true
    }

    /// A block for `count` elements, all of them absent; null for none.
    fn elements(&mut self, kind: BlockKind, element: &Element, count: u32) -> Option<Bits> {
        if count == 0 {
            return Some(0);
        }
        let base = self.heap.add(kind, count as usize * element.stride as usize);
        if let (Some(tag), Some(absent)) = (element.tag, element.absent) {
            let bits = self.schema.tag(absent).bits;
            for index in 0..count as u64 {
                self.put(base + index * element.stride as u64, tag, bits)?;
            }
        }
        Some(base)
    }

    /// An empty record; `None` without memory (or such a layout).
    pub(crate) fn allocate(&mut self, id: LayoutId, items: u32, keys: u32) -> Option<Bits> {
        let schema = self.schema.clone();
        let layout = schema.layouts().get(id.index())?;
        let keys = key_room(keys);
        if items > MAX_ELEMENTS || keys > MAX_ELEMENTS || !self.may_allocate() {
            return None;
        }
        let record = self.heap.add(BlockKind::Object(id), layout.size as usize);
        if let Some((cell, value)) = layout.class_word {
            self.put(record, cell, value)?;
        }
        if let Some(part) = &layout.items {
            let base = self.elements(BlockKind::Items(id), &part.element, items)?;
            self.put(record, part.count, items as u64)?;
            self.put(record, part.base, base)?;
        }
        if let Some(part) = &layout.keys {
            let base = self.elements(BlockKind::Entries(id), &part.element, keys)?;
            self.put(record, part.size, keys as u64)?;
            self.put(record, part.base, base)?;
        }
        Some(record)
    }

    /// An empty record that refers to the frame. Where no cell is it says which site it was, and whether that
    /// was the base: worlds that differ there differ.
    pub(crate) fn allocate_in_frame(
        &mut self,
        base: Bits,
        id: LayoutId,
        site: u32,
        keys: u32,
    ) -> Option<Bits> {
        let record = self.allocate(id, 0, keys)?;
        let seen = record as usize as *mut [u8; 2];
        let is_base = u8::from(base == self.frame);
        // SAFETY: the record is that long, and nobody else has it yet.
        unsafe { seen.byte_add(IN_FRAME_AT).write([site as u8, is_base]) };
        Some(record)
    }

    /// The entries' part of a record with its size and base.
    fn entries_of(&self, layout: LayoutId, record: Bits) -> Option<(Keys, u64, Bits)> {
        let part = self.schema.layouts().get(layout.index())?.keys?;
        Some((part, self.get(record, part.size)?, self.get(record, part.base)?))
    }

    /// The entry whose key it is, absent value or not.
    fn entry_of(&self, layout: LayoutId, record: Bits, key: Bits) -> Option<Bits> {
        let (part, size, base) = self.entries_of(layout, record)?;
        (0..size).map(|index| base + index * part.element.stride as u64).find(|&entry| {
            let live = part.key_tag.is_none_or(|(cell, bits)| self.get(entry, cell) == Some(bits));
            key != 0 && live && self.get(entry, part.key) == Some(key)
        })
    }

    /// The entry of a key that is present.
    pub(crate) fn find(&self, layout: LayoutId, record: Bits, key: Bits) -> Option<Bits> {
        let entry = self.entry_of(layout, record, key)?;
        let element = &self.schema.layout(layout).keys.as_ref()?.element;
        let absent = element.tag.zip(element.absent);
        match absent {
            Some((cell, tag)) if self.get(entry, cell)? == self.schema.tag(tag).bits => None,
            _ => Some(entry),
        }
    }

    /// The entry of a key, added if there was none; `None` without memory.
    pub(crate) fn insert(&mut self, layout: LayoutId, record: Bits, key: Bits) -> Option<Bits> {
        if key == 0 {
            return None;
        }
        if let Some(entry) = self.entry_of(layout, record, key) {
            return Some(entry);
        }
        let (part, size, base) = self.entries_of(layout, record)?;
        let stride = part.element.stride as u64;
        let free =
            (0..size).map(|index| base + index * stride).find(|&entry| self.get(entry, part.key) == Some(0));
        let entry = match free {
            Some(entry) => entry,
            None => self.grow(layout, record, &part, size, base)?,
        };
        if let Some((cell, bits)) = part.key_tag {
            self.put(entry, cell, bits)?;
        }
        self.put(entry, part.key, key)?;
        Some(entry)
    }

    /// Doubles the entry table; the first free entry.
    fn grow(&mut self, layout: LayoutId, record: Bits, part: &Keys, size: u64, base: Bits) -> Option<Bits> {
        let capacity = (size * 2).max(1);
        if capacity > MAX_ELEMENTS as u64 || !self.may_allocate() {
            return None;
        }
        let new = self.elements(BlockKind::Entries(layout), &part.element, capacity as u32)?;
        let used = size * part.element.stride as u64;
        for offset in 0..used {
            // SAFETY: the old block has `used` bytes in use, the new one at least as many.
            unsafe { write_raw(new + offset, 1, read_raw(base + offset, 1)) };
        }
        self.heap.retire(base);
        self.put(record, part.base, new)?;
        self.put(record, part.size, capacity)?;
        Some(new + used)
    }

    /// Writes an element's tag and payload.
    fn put_element(
        &mut self,
        at: Bits,
        element: &Element,
        tag: Option<crate::schema::TagId>,
        value: SpecValue,
    ) {
        let schema = self.schema.clone();
        let bits = self.spec_bits(value);
        if let (Some(cell), Some(tag)) = (element.tag, tag) {
            self.put(at, cell, schema.tag(tag).bits).expect("an element of the world's own");
        }
        if let Some(ty) = schema.element_type(element, tag) {
            self.put(at, element.value[ty as usize], bits).expect("an element of the world's own");
        }
    }

    /// Gives object `number` what the spec says it holds.
    pub(super) fn fill(&mut self, spec: &WorldSpec, number: usize) {
        let object = &spec.objects[number];
        let record = self.objects[number];
        let schema = self.schema.clone();
        let layout = schema.layout(object.layout);
        for &(field, value) in &object.fields {
            let bits = self.spec_bits(value);
            self.put(record, schema.field(field).cell, bits).expect("a field lies inside its record");
        }
        if let Some(part) = &layout.items {
            let base = self.get(record, part.base).expect("the base lies inside its record");
            for (index, &(tag, value)) in object.items.iter().enumerate() {
                self.put_element(base + index as u64 * part.element.stride as u64, &part.element, tag, value);
            }
        }
        if let Some(part) = &layout.keys {
            for &(key, tag, value) in &object.entries {
                let key = self.objects[key as usize];
                let entry = self.insert(object.layout, record, key).expect("a world's entry fits in memory");
                self.put_element(entry, &part.element, tag, value);
            }
        }
    }

    /// The payload type under a tag's bits in memory, if the schema has such a tag.
    pub(super) fn payload_type(&self, bits: u64) -> Option<Option<Type>> {
        self.schema.tags().iter().find(|tag| tag.bits == bits).map(|tag| tag.payload)
    }
}
