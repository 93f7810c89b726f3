//! Graphs of fresh objects: nested, shared, cyclic, half filled; and what is done to them before anybody sees
//! them.
//!
//! Problem: objects that are never made have to behave like made ones whatever they hold and whoever looks,
//! and single objects with numbers in them show nothing of that. Design: a few objects are made, then linked
//! to one another at random, through fields, items and entries, so that some are shared, some hold themselves
//! or each other and some parts stay unset. Then they are read, written, compared and guarded while still
//! unseen; late, one of them may escape. Invariant: only parts that the allocator has defined are read, and a
//! tag is the one that the shadow holds.
//!
//! Example: `p4 = new(Pair)`, `p5 = new(Table, 2, 1)`, `set(p4, first, p5)`,
//! `insert_key(p5, @b0, p4, Table:ref)`, `guard_true(i2)`, `p6 = get(p4, first)`, `i7 = ref_eq(p5, p6)`.

use super::{Generator, Made, Refused};
use crate::ir::{Const, Inst, Payload, Value};
use crate::ops::Op;
use crate::schema::LayoutId;
use crate::types::Type;

/// Layouts of the objects of a graph: those that hold references come more often.
const NODES: [&str; 12] = [
    "Pair",
    "Pair",
    "Pair",
    "Table",
    "Table",
    "Table",
    "RefArray",
    "BoxedInteger",
    "BoxedInteger",
    "BoxedFloat",
    "Narrow",
    "FloatArray",
];

impl Generator {
    /// A few objects that hold one another, and work on them.
    pub(super) fn graph(&mut self) -> Made {
        let count = self.rng.range(1, 4);
        let mut nodes = Vec::new();
        for _ in 0..count {
            nodes.push(self.node()?);
        }
        for _ in 0..self.rng.below(2 * count + 1) {
            let (from, to) = (*self.rng.pick(&nodes), *self.rng.pick(&nodes));
            let _ = self.write_part(from, Some(to));
        }
        if self.rng.one_in(8) {
            let (holder, held) = (*self.rng.pick(&nodes), *self.rng.pick(&nodes));
            let _ = self.marked(holder, held);
        }
        for _ in 0..self.rng.below(5) {
            let node = *self.rng.pick(&nodes);
            let _ = self.look_at(node);
        }
        if self.rng.chance(30) {
            let node = *self.rng.pick(&nodes);
            let _ = self.escape(node);
            // What was seen once goes on being used.
            let other = *self.rng.pick(&nodes);
            let _ = self.look_at(other);
        }
        Ok(())
    }

    /// An object that holds another when, in this iteration or a later one, a barrier minds it.
    fn marked(&mut self, holder: Value, held: Value) -> Made {
        for (object, mark) in [(holder, self.mark()), (held, self.trace.const_int(2))] {
            let layout = self.class_of(object).ok_or(Refused)?;
            let field = self.schema.layout(layout).fields[0];
            self.set_field_to(object, field, mark)?;
        }
        self.write_part(holder, Some(held))
    }

    /// A fresh object without contents, or with some.
    pub(super) fn node(&mut self) -> Made<Value> {
        let name = *self.rng.pick(&NODES);
        let layout = self.layout(name);
        if self.rng.chance(40) {
            return self.fresh(layout);
        }
        let declared = self.schema.layout(layout);
        let (has_items, has_keys) = (declared.items.is_some(), declared.keys.is_some());
        let items = if has_items { self.rng.below(4) as u32 } else { 0 };
        let keys = if has_keys { self.rng.below(4) as u32 } else { 0 };
        self.empty(layout, items, keys)
    }

    /// An object made in this iteration.
    pub(super) fn fresh_one(&mut self) -> Made<Value> {
        let fresh: Vec<Value> = self.vars.iter().filter(|var| var.fresh).map(|var| var.value).collect();
        match fresh.is_empty() || self.rng.chance(30) {
            true => self.node(),
            false => Ok(*self.rng.pick(&fresh)),
        }
    }

    /// An object of that layout that was there before the trace: one of the world, or one that came in.
    pub(super) fn old_one(&mut self, layout: LayoutId) -> Made<Value> {
        let came: Vec<Value> = self
            .vars
            .iter()
            .filter(|var| var.class == Some(layout) && !var.fresh)
            .map(|var| var.value)
            .collect();
        if !came.is_empty() && self.rng.chance(70) {
            return Ok(*self.rng.pick(&came));
        }
        let objects = super::spec::objects_of(&self.spec, layout);
        if objects.is_empty() {
            return Err(Refused);
        }
        let number = *self.rng.pick(&objects);
        Ok(self.trace.constant(Type::Ref, Const::Object(number)))
    }

    /// Writes some part of a record; a reference that is wanted there goes there if the part takes one.
    pub(super) fn write_part(&mut self, record: Value, wanted: Option<Value>) -> Made {
        let layout = self.class_of(record).ok_or(Refused)?;
        let declared = self.schema.layout(layout);
        let (has_items, has_keys) = (declared.items.is_some(), declared.keys.is_some());
        if has_keys && self.rng.chance(40) {
            let op = *self.rng.pick(&[Op::InsertKey, Op::InsertKey, Op::SetKey]);
            let key = self.key();
            return self.keyed_in(op, record, key, wanted).map(|_| ());
        }
        if has_items && self.rng.chance(70) {
            let op = *self.rng.pick(&[Op::PutItem, Op::PutItem, Op::SetItem]);
            return self.item_in(op, record, layout, wanted).map(|_| ());
        }
        let fields: Vec<_> = self.schema.layout(layout).fields[1..].to_vec();
        let fields: Vec<_> =
            fields.into_iter().filter(|&field| !self.schema.field_cell(field).immutable).collect();
        if fields.is_empty() || self.rng.one_in(12) {
            // The mark, which barriers look at.
            let mark = self.mark();
            let field = self.schema.layout(layout).fields[0];
            return self.set_field_to(record, field, mark);
        }
        let field = *self.rng.pick(&fields);
        let ty = self.schema.field_cell(field).ty;
        let value = match wanted.filter(|_| ty == Type::Ref) {
            Some(wanted) => wanted,
            None => self.stored(ty),
        };
        self.set_field_to(record, field, value)
    }

    /// Reads some part of a record, set or not.
    pub(super) fn read_part(&mut self, record: Value) -> Made<Option<Value>> {
        let layout = self.class_of(record).ok_or(Refused)?;
        let declared = self.schema.layout(layout);
        let (has_items, has_keys) = (declared.items.is_some(), declared.keys.is_some());
        if has_keys && self.rng.chance(40) {
            let op = *self.rng.pick(&[Op::GetKey, Op::GetKey, Op::GuardKeyAbsent]);
            let key = self.key();
            return self.keyed_in(op, record, key, None);
        }
        if has_items && self.rng.chance(70) {
            if self.rng.chance(20) {
                return self
                    .value(Inst::new(Op::ItemCount, &[record]).with(Payload::Layout(layout)))
                    .map(Some);
            }
            return self.item_in(Op::GetItem, record, layout, None);
        }
        let fields = self.schema.layout(layout).fields.clone();
        let field = *self.rng.pick(if fields.len() > 1 { &fields[1..] } else { &fields });
        self.value(Inst::new(Op::Get, &[record]).with(Payload::Field(field))).map(Some)
    }

    /// Something that shows what an object holds or is, or changes it.
    fn look_at(&mut self, node: Value) -> Made {
        match self.rng.below(12) {
            0..=3 => self.read_part(node).map(|_| ()),
            4..=5 => self.write_part(node, None),
            6 => {
                let other = if self.rng.chance(50) { self.fresh_one()? } else { self.stored(Type::Ref) };
                let op = *self.rng.pick(&[Op::RefEq, Op::RefNe]);
                let same = self.op(op, &[node, other])?;
                self.guard_as_now(same)
            }
            7 => {
                let is_null = self.op(Op::RefIsNull, &[node])?;
                self.guard_as_now(is_null)
            }
            8 => {
                let layout = self.class_of(node).ok_or(Refused)?;
                self.emit(Inst::new(Op::GuardClass, &[node]).with(Payload::Layout(layout)))?;
                Ok(())
            }
            9 => self.emit(Inst::new(Op::GuardNonnull, &[node])).map(|_| ()),
            _ => self.guard_condition(),
        }
    }

    /// `guard_true` or `guard_false`, as the condition comes out now.
    pub(super) fn guard_as_now(&mut self, condition: Value) -> Made {
        let op = if self.shadow(condition) == Some(0) { Op::GuardFalse } else { Op::GuardTrue };
        self.emit(Inst::new(op, &[condition])).map(|_| ())
    }

    /// Somebody sees the object: it is stored into an old one, or passed to a call.
    pub(super) fn escape(&mut self, node: Value) -> Made {
        match self.rng.below(5) {
            0 | 1 => {
                let name = *self.rng.pick(&["Pair", "Table", "RefArray"]);
                let layout = self.layout(name);
                let old = self.old_one(layout)?;
                self.write_part(old, Some(node))
            }
            2 => {
                let other = self.stored(Type::Ref);
                self.call_with(Op::Call, "test.same", &[node, other]).map(|_| ())
            }
            3 if self.class_of(node) == Some(self.layout("BoxedInteger")) => {
                let name = *self.rng.pick(&["test.bump", "test.peek"]);
                self.call_with(Op::Call, name, &[node]).map(|_| ())
            }
            _ => {
                let layout = self.layout("Pair");
                let pair = self.record(layout)?;
                self.call_with(Op::Call, "test.keep", &[pair, node]).map(|_| ())
            }
        }
    }
}
