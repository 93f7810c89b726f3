//! Stores of fresh objects into old ones, and whatever may come between such a store and the end of the
//! iteration.
//!
//! Problem: an optimizer may put off a store of an object that does not exist, and must still make it before
//! anybody could miss it: a guard's exit, a read of the place or of one that may be the same, a second store,
//! a call, the loop's end. Design: one store of each kind, then a few of these in any order; the old object
//! is sometimes marked for the write barrier, and the fresh one goes on changing after the store. Invariant:
//! places are written through the record operations of their layout, or in the part of a buffer that holds
//! references.
//!
//! Example: `set(@p0, first, p4)`, `guard_true(i2)`, `p5 = get(p1, first)`, `set(p4, second, p5)`,
//! `jump(...)`.

use super::{Generator, Made, Refused};
use crate::ir::{Inst, Payload, Value};
use crate::ops::Op;
use crate::schema::FieldId;
use crate::types::Type;

/// Where a fresh object was stored.
#[derive(Clone, Copy)]
enum Place {
    Field(Value, FieldId),
    Items(Value),
    Key(Value, Value),
    Raw(Value),
}

impl Generator {
    /// A store of a fresh object into an old one, and what follows it.
    pub(super) fn delayed(&mut self) -> Made {
        if self.rng.one_in(6) {
            return self.ordered();
        }
        let node = self.fresh_one()?;
        let place = self.place()?;
        let was_null = self.rng.one_in(5);
        if was_null {
            // Whoever does not see the store sees that nothing is there.
            let null = self.trace.const_ref(0);
            self.put(place, null)?;
        }
        self.put(place, node)?;
        if was_null && self.rng.chance(60) {
            self.look(place)?;
        }
        if let (Place::Field(old, field), true) = (place, self.rng.one_in(3)) {
            // Another one to the same place, by another name; then the first name reads.
            if let Some(twin) = self.twin(old) {
                let other = self.empty(self.layout("Pair"), 0, 0)?;
                self.put(Place::Field(twin, field), other)?;
                if self.rng.chance(40) {
                    let null = self.trace.const_ref(0);
                    self.put(Place::Field(twin, field), null)?;
                }
                self.take(place)?;
            }
        }
        for _ in 0..self.rng.below(6) {
            let _ = self.after(place, node);
        }
        Ok(())
    }

    /// Stores to two items that may be one, as they are in the first iteration, and a look at a third that
    /// can be one of them only.
    fn ordered(&mut self) -> Made {
        let name = *self.rng.pick(&["RefArray", "RefArray", "Table"]);
        let layout = self.layout(name);
        let first = self.schema.layout(layout).items.map_or(0, |part| part.first);
        let (old, node, other) = (self.old_one(layout)?, self.fresh_one()?, self.fresh_one()?);
        let fixed = self.trace.const_int(first);
        let varies = self.index(first, 1);
        let varies = self.counter.filter(|_| first == 0 && self.rng.chance(70)).unwrap_or(varies);
        let (one, two) = if self.rng.chance(70) { (fixed, varies) } else { (varies, fixed) };
        let tag = self.schema.layout(layout).items.and_then(|part| part.element.tag);
        let tag = tag.and_then(|_| self.schema.find_tag("ref"));
        self.item_at(Op::PutItem, old, layout, one, Some((tag, Some(node))))?;
        self.item_at(Op::PutItem, old, layout, two, Some((tag, Some(other))))?;
        if self.rng.chance(60) {
            let third = self.trace.const_int(first + 1);
            self.item_at(Op::GetItem, old, layout, third, None)?;
        }
        if self.rng.chance(40) {
            let null = self.trace.const_ref(0);
            self.item_at(Op::PutItem, old, layout, two, Some((tag, Some(null))))?;
        }
        self.item_at(Op::GetItem, old, layout, fixed, None).map(|_| ())
    }

    /// The last stores of an iteration: fresh objects, into places that are mostly the same in the next one,
    /// and nobody looks before the loop's end.
    pub(super) fn kept(&mut self) -> Made {
        for _ in 0..self.rng.range(1, 4) {
            let (place, node) = (self.place()?, self.fresh_one()?);
            if self.rng.chance(60) {
                let _ = self.write_part(node, None);
            }
            self.put(place, node)?;
            if self.rng.chance(30) {
                let _ = self.write_part(node, None);
            }
        }
        Ok(())
    }

    /// A place in an old object.
    fn place(&mut self) -> Made<Place> {
        let (kind, name) = *self.rng.pick(&[
            (0, "Pair"),
            (0, "Pair"),
            (0, "Table"),
            (1, "Table"),
            (1, "RefArray"),
            (2, "Table"),
            (2, "Table"),
            (3, "Buffer"),
        ]);
        if kind == 3 {
            return self.buffer_address(4, 2).map(Place::Raw);
        }
        let layout = self.layout(name);
        let old = match self.rng.chance(85) {
            true => self.old_one(layout)?,
            false => self.record(layout)?,
        };
        let fields = self.schema.layout(layout).fields.clone();
        if self.rng.chance(15) {
            let mark = self.mark();
            let _ = self.set_field_to(old, fields[0], mark);
        }
        Ok(match kind {
            0 => Place::Field(old, *self.rng.pick(&fields[1..])),
            1 => Place::Items(old),
            _ => Place::Key(old, self.key()),
        })
    }

    /// A place in an object that may be the same; it may be the very place.
    fn maybe_same(&mut self, place: Place) -> Made<Place> {
        let (Place::Field(old, _) | Place::Items(old) | Place::Key(old, _)) = place else {
            return self.buffer_address(4, 2).map(Place::Raw);
        };
        let layout = self.class_of(old).ok_or(Refused)?;
        let other = match self.twin(old).filter(|_| self.rng.chance(60)) {
            Some(twin) => twin,
            None => self.old_one(layout)?,
        };
        let fields = self.schema.layout(layout).fields.clone();
        let is_other = self.rng.chance(25);
        Ok(match place {
            Place::Field(..) if is_other => Place::Field(other, *self.rng.pick(&fields[1..])),
            Place::Field(_, field) => Place::Field(other, field),
            Place::Key(..) if is_other => Place::Key(other, self.key()),
            Place::Key(_, key) => Place::Key(other, key),
            _ => Place::Items(other),
        })
    }

    /// Another value of the trace that is the same object now.
    fn twin(&mut self, old: Value) -> Option<Value> {
        let (bits, class) = (self.shadow(old)?, self.class_of(old)?);
        let is_twin = |value: Value| value != old && self.shadow(value) == Some(bits);
        let refs = self.vars.iter().filter(|var| var.ty == Type::Ref).map(|var| var.value);
        let twins: Vec<Value> = refs.filter(|&value| is_twin(value)).collect();
        let twin = (!twins.is_empty()).then(|| *self.rng.pick(&twins))?;
        self.prove_class(twin, class).ok()?;
        Some(twin)
    }

    /// A call that reads what was stored.
    fn look(&mut self, place: Place) -> Made {
        match place {
            Place::Field(old, _) if self.class_of(old) == Some(self.layout("Pair")) => {
                self.call_with(Op::Call, "test.look", &[old]).map(|_| ())
            }
            _ => self.call(),
        }
    }

    /// Stores a reference there.
    fn put(&mut self, place: Place, node: Value) -> Made {
        match place {
            Place::Field(old, field) => self.set_field_to(old, field, node),
            Place::Items(old) => {
                let layout = self.class_of(old).ok_or(Refused)?;
                let op = *self.rng.pick(&[Op::PutItem, Op::PutItem, Op::SetItem]);
                self.item_in(op, old, layout, Some(node)).map(|_| ())
            }
            Place::Key(old, key) => {
                let op = *self.rng.pick(&[Op::SetKey, Op::InsertKey]);
                self.keyed_in(op, old, key, Some(node)).map(|_| ())
            }
            Place::Raw(at) => {
                let cell = self.cell("raw.ref");
                self.store(at, cell, node)
            }
        }
    }

    /// Reads what is there.
    fn take(&mut self, place: Place) -> Made<Option<Value>> {
        match place {
            Place::Field(old, field) => {
                self.value(Inst::new(Op::Get, &[old]).with(Payload::Field(field))).map(Some)
            }
            Place::Items(old) => {
                let layout = self.class_of(old).ok_or(Refused)?;
                self.item_in(Op::GetItem, old, layout, None)
            }
            Place::Key(old, key) => self.keyed_in(Op::GetKey, old, key, None),
            Place::Raw(at) => {
                let name = *self.rng.pick(&["raw.ref", "raw.ref", "raw.addr"]);
                let cell = self.cell(name);
                self.load(at, cell).map(Some)
            }
        }
    }

    /// Something that may come after such a store.
    fn after(&mut self, place: Place, node: Value) -> Made {
        match self.rng.below(14) {
            0..=2 => self.guard_condition(),
            3 | 4 => {
                let back = self.take(place)?.ok_or(Refused)?;
                if self.trace.ty(back) == Type::Ref && self.rng.chance(60) {
                    let same = self.op(Op::RefEq, &[back, node])?;
                    self.guard_as_now(same)?;
                }
                Ok(())
            }
            5 | 6 => {
                let other = self.maybe_same(place)?;
                self.take(other).map(|_| ())
            }
            7 => {
                let again = self.stored(Type::Ref);
                self.put(place, again)
            }
            8 => {
                let other = self.maybe_same(place)?;
                let value = if self.rng.chance(60) { self.fresh_one()? } else { self.stored(Type::Ref) };
                self.put(other, value)?;
                match self.rng.chance(50) {
                    true => self.take(place).map(|_| ()),
                    false => Ok(()),
                }
            }
            9 | 10 => self.write_part(node, None),
            11 => self.read_part(node).map(|_| ()),
            12 => self.escape(node),
            _ if self.rng.chance(60) => self.look(place),
            _ => self.call(),
        }
    }
}
