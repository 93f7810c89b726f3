//! Operations on records: fields, items, entries, fresh objects.
//!
//! Problem: virtual objects, lookups and barriers interact with everything else. Design: records come from
//! [`Generator::record`] (world objects, fresh ones, guarded references); tags are mostly those that the
//! shadow's memory holds; keys are constant objects, with hints that are mostly right. Invariant: operations
//! are used on records of their layout only, and a key is inserted only after a guard of its absence.
//!
//! Example: `p7 = new(Table, 0, 2)`, `guard_key_absent(p7, @b0)`, `insert_key(p7, @b0, i1, Table:int)`.

use super::{Generator, Made, Refused};
use crate::ir::{Hint, Inst, Payload, Value, HOST_BITS};
use crate::ops::Op;
use crate::schema::{Element, FieldId, LayoutId, TagId};
use crate::types::{Bits, Type};

impl Generator {
    /// A new record of that layout.
    pub(super) fn fresh(&mut self, layout: LayoutId) -> Made<Value> {
        let declared = self.schema.layout(layout);
        let items = match () {
            () if declared.items.is_some() => self.rng.below(4) as u32,
            () if self.schema.is_made_in_frame(layout) => 1 + self.rng.below(200) as u32,
            () => 0,
        };
        let keys = if self.schema.layout(layout).keys.is_some() { self.rng.below(4) as u32 } else { 0 };
        let record = self.empty(layout, items, keys)?;
        // A few fields right away, as constructors do.
        let fields = self.schema.layout(layout).fields.clone();
        for field in fields {
            let is_mark = self.schema.field_cell(field).name.ends_with("_mark");
            if self.rng.chance(if is_mark { 2 } else { 60 }) && !self.schema.field_cell(field).immutable {
                // A barrier that hits leaves; then the field stays as it is.
                let _ = self.set_field(record, field);
            }
        }
        Ok(record)
    }

    /// A new record that holds nothing yet.
    pub(super) fn empty(&mut self, layout: LayoutId, items: u32, keys: u32) -> Made<Value> {
        let keys = if keys == 3 { keys | HOST_BITS } else { keys };
        let record = self.value(Inst::new(Op::New, &[]).with(Payload::New { layout, items, keys }))?;
        self.learn(record, Some(layout));
        self.vars.iter_mut().filter(|var| var.value == record).for_each(|var| var.fresh = true);
        Ok(record)
    }

    /// A new record of any layout.
    pub(super) fn new_record(&mut self) -> Made {
        let layouts =
            ["BoxedInteger", "BoxedInteger", "BoxedFloat", "Pair", "Pair", "Narrow", "Table", "Table"];
        let more = ["FloatArray", "RefArray", "Buffer", "Square", "Circle", "Framed", "Framed"];
        let name = if self.rng.chance(80) { *self.rng.pick(&layouts) } else { *self.rng.pick(&more) };
        let layout = self.layout(name);
        self.fresh(layout).map(|_| ())
    }

    /// Any field of a layout that has fields.
    fn any_field(&mut self) -> FieldId {
        let names = [
            "BoxedInteger",
            "BoxedInteger",
            "BoxedFloat",
            "Pair",
            "Pair",
            "Narrow",
            "Table",
            "Square",
            "Circle",
            "Framed",
        ];
        let name = *self.rng.pick(&names);
        let layout = self.layout(name);
        let fields = self.schema.layout(layout).fields.clone();
        let plain: Vec<FieldId> = fields[1..].to_vec();
        if self.rng.one_in(12) {
            fields[0]
        } else {
            *self.rng.pick(&plain)
        }
    }

    /// Reads a field.
    pub(super) fn get(&mut self) -> Made {
        let field = self.any_field();
        let record = self.record(self.schema.field(field).layout)?;
        self.value(Inst::new(Op::Get, &[record]).with(Payload::Field(field)))?;
        Ok(())
    }

    /// Writes a field that may be written.
    pub(super) fn set(&mut self) -> Made {
        let field = self.any_field();
        if self.schema.field_cell(field).immutable {
            return Err(Refused);
        }
        let record = self.record(self.schema.field(field).layout)?;
        self.set_field(record, field)
    }

    fn set_field(&mut self, record: Value, field: FieldId) -> Made {
        let cell = self.schema.field_cell(field).clone();
        let value = match cell.name.ends_with("_mark") {
            true => self.mark(),
            false => self.stored(cell.ty),
        };
        self.set_field_to(record, field, value)
    }

    /// A mark for barriers: fixed, or one that comes with a later iteration.
    pub(super) fn mark(&mut self) -> Value {
        let fixed = self.rng.below(4) as i64;
        match self.counter.filter(|_| self.rng.chance(50)) {
            Some(counter) => counter,
            None => self.trace.const_int(fixed),
        }
    }

    /// Writes a field.
    pub(super) fn set_field_to(&mut self, record: Value, field: FieldId, value: Value) -> Made {
        self.emit(Inst::new(Op::Set, &[record, value]).with(Payload::Field(field)))?;
        Ok(())
    }

    /// A value to store: for references often a fresh object.
    pub(super) fn stored(&mut self, ty: Type) -> Value {
        let fresh: Vec<Value> = self
            .vars
            .iter()
            .filter(|var| var.ty == Type::Ref && var.class.is_some())
            .map(|var| var.value)
            .collect();
        if ty == Type::Ref && !fresh.is_empty() && self.rng.chance(50) {
            return *self.rng.pick(&fresh);
        }
        self.operand(ty)
    }

    /// How many items a record holds.
    pub(super) fn item_count(&mut self) -> Made {
        let name = *self.rng.pick(&["Table", "FloatArray", "RefArray"]);
        let layout = self.layout(name);
        let record = self.record(layout)?;
        self.value(Inst::new(Op::ItemCount, &[record]).with(Payload::Layout(layout)))?;
        Ok(())
    }

    /// The tag that an element has in the shadow; rarely another one.
    pub(super) fn tag_at(&mut self, element: &Element, at: Bits) -> Made<Option<TagId>> {
        let Some(cell) = element.tag else { return Ok(None) };
        let bits = self.shadow.load_cell(at, self.schema.cell(cell)).ok_or(Refused)?;
        let tag = self.schema.tags().iter().position(|tag| tag.bits == bits).ok_or(Refused)?;
        if self.rng.one_in(40) {
            return Ok(Some(self.any_tag()));
        }
        Ok(Some(TagId(tag as u32)))
    }

    /// A tag for elements: no `addr`, which only slots hold.
    pub(super) fn any_tag(&mut self) -> TagId {
        let name = *self.rng.pick(&["int", "int", "float", "float", "ref", "table", "nil", "true", "false"]);
        self.schema.find_tag(name).expect("a standard tag")
    }

    /// The tag to write and the value with it; a reference that is wanted there goes there if it can.
    fn payload_for(&mut self, element: &Element, wanted: Option<Value>) -> (Option<TagId>, Option<Value>) {
        let tagged = element.tag.is_some();
        if let Some(wanted) = wanted.filter(|_| tagged || element.untagged == Type::Ref) {
            let name = *self.rng.pick(&["ref", "table"]);
            let tag = self.schema.find_tag(name).expect("a standard tag");
            return (tagged.then_some(tag), Some(wanted));
        }
        let tag = element.tag.map(|_| self.any_tag());
        let ty = self.schema.element_type(element, tag);
        (tag, ty.map(|ty| self.stored(ty)))
    }

    /// An index that mostly is inside the bounds.
    pub(super) fn index(&mut self, first: i64, count: u64) -> Value {
        if count > 0 && self.rng.chance(90) {
            let inside = first + self.rng.below(count) as i64;
            // A variable that has this value now, so that it varies from iteration to iteration.
            let fitting: Vec<Value> = self
                .vars
                .iter()
                .filter(|var| var.ty == Type::Int)
                .map(|var| var.value)
                .filter(|&value| {
                    self.shadow(value).is_some_and(|bits| bits.wrapping_sub(first as u64) < count)
                })
                .collect();
            if !fitting.is_empty() && self.rng.chance(60) {
                return *self.rng.pick(&fitting);
            }
            return self.trace.const_int(inside);
        }
        self.operand(Type::Int)
    }

    /// `get_item`, `set_item` or `put_item`.
    pub(super) fn item(&mut self, op: Op) -> Made {
        let name = *self.rng.pick(&["Table", "Table", "FloatArray", "RefArray"]);
        let layout = self.layout(name);
        let record = self.record(layout)?;
        self.item_in(op, record, layout, None).map(|_| ())
    }

    /// The same in this record, with a reference to store; the result.
    pub(super) fn item_in(
        &mut self,
        op: Op,
        record: Value,
        layout: LayoutId,
        wanted: Option<Value>,
    ) -> Made<Option<Value>> {
        self.sync();
        let part = self.schema.layout(layout).items.expect("a layout with items");
        let shadow = self.shadow(record).ok_or(Refused)?;
        let load = |g: &Generator, cell| g.shadow.load_cell(shadow, g.schema.cell(cell)).ok_or(Refused);
        let count = load(self, part.count)?;
        let index = self.index(part.first, count);
        let payload = match op {
            Op::GetItem => None,
            _ => Some(self.payload_for(&part.element, wanted)),
        };
        self.item_at(op, record, layout, index, payload)
    }

    /// The same at this index, with a tag and value to store if the operation does; the result.
    pub(super) fn item_at(
        &mut self,
        op: Op,
        record: Value,
        layout: LayoutId,
        index: Value,
        payload: Option<(Option<TagId>, Option<Value>)>,
    ) -> Made<Option<Value>> {
        self.sync();
        let part = self.schema.layout(layout).items.expect("a layout with items");
        let shadow = self.shadow(record).ok_or(Refused)?;
        let load = |g: &Generator, cell| g.shadow.load_cell(shadow, g.schema.cell(cell)).ok_or(Refused);
        let (count, base) = (load(self, part.count)?, load(self, part.base)?);
        let offset = self.shadow(index).ok_or(Refused)?.wrapping_sub(part.first as u64);
        if offset >= count && !self.rng.one_in(20) {
            return Err(Refused);
        }
        let (tag, value) = match payload {
            Some(payload) => payload,
            None if offset >= count => (part.element.tag.map(|_| self.any_tag()), None),
            None => (self.tag_at(&part.element, base + offset * part.element.stride as u64)?, None),
        };
        let mut args = vec![record, index];
        args.extend(value);
        let result = self.emit(Inst::new(op, &args).with(Payload::Item { layout, tag }))?;
        result.into_iter().for_each(|value| self.add_var(value));
        Ok(result)
    }

    /// `get_key`, `guard_key_absent`, `set_key` or `insert_key`.
    pub(super) fn keyed(&mut self, op: Op) -> Made {
        let layout = self.layout("Table");
        let record = self.record(layout)?;
        let key = self.key();
        self.keyed_in(op, record, key, None).map(|_| ())
    }

    /// The same in this table, with a key to try first and a reference to store; the result.
    pub(super) fn keyed_in(
        &mut self,
        op: Op,
        record: Value,
        mut key: Value,
        wanted: Option<Value>,
    ) -> Made<Option<Value>> {
        let layout = self.layout("Table");
        self.sync();
        let part = self.schema.layout(layout).keys.expect("a layout with keys");
        let shadow = self.shadow(record).ok_or(Refused)?;
        let wants_entry = matches!(op, Op::GetKey | Op::SetKey);
        // Mostly a key that is there, or is not, as the operation wants it.
        for _ in 0..6 {
            self.sync();
            let bits = self.shadow(key).ok_or(Refused)?;
            if self.shadow.find_entry(layout, shadow, bits).is_some() == wants_entry {
                break;
            }
            key = self.key();
        }
        self.sync();
        let shadow_key = self.shadow(key).ok_or(Refused)?;
        let entry = self.shadow.find_entry(layout, shadow, shadow_key);
        if wants_entry != entry.is_some() && !self.rng.one_in(30) {
            return Err(Refused);
        }
        let hint = match entry {
            Some(entry) if wants_entry && self.rng.chance(50) => {
                let load =
                    |g: &Generator, cell| g.shadow.load_cell(shadow, g.schema.cell(cell)).ok_or(Refused);
                let (size, base) = (load(self, part.size)?, load(self, part.base)?);
                let entry = ((entry - base) / part.element.stride as u64) as u32;
                Some(Hint { size: size as u32, entry, followed: 0 })
            }
            _ => None,
        };
        let (tag, value) = match (op, entry) {
            (Op::GetKey, Some(entry)) => (self.tag_at(&part.element, entry)?, None),
            (Op::GetKey | Op::GuardKeyAbsent, _) => (Some(self.any_tag()), None),
            _ => self.payload_for(&part.element, wanted),
        };
        let keyed = |tag, hint| Payload::Key { layout, tag, hint };
        if op == Op::InsertKey {
            self.emit(Inst::new(Op::GuardKeyAbsent, &[record, key]).with(keyed(tag, None)))?;
        }
        let mut args = vec![record, key];
        args.extend(value);
        let result = self.emit(Inst::new(op, &args).with(keyed(tag, hint)))?;
        result.into_iter().for_each(|value| self.add_var(value));
        Ok(result)
    }
}
