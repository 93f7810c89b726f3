//! Small arrays that are read and written at indexes that vary.
//!
//! Problem: an optimizer may keep such an array off the heap by choosing among its items, and must still see
//! each index that is none of theirs, each item with another tag, and what was stored before. Design: a fresh
//! array whose items mostly have one tag, rarely two or none; then reads and writes at indexes that are in it
//! for any input, or only as it is now; in between a guard, which shows the array at its exit, or something
//! that makes it real. Invariant: arrays have items of their layout's first index on, and the shadow says
//! what a read finds.
//!
//! Example: `p4 = new(FloatArray, 3, 0)`, `put_item(p4, 0, f1)`, ..., `i5 = int_floor_mod(i0, 3)`,
//! `f6 = get_item(p4, i5)`, `put_item(p4, i5, f2)`, `guard_true(i3)`.

use super::{Generator, Made, Refused};
use crate::ir::Value;
use crate::ops::Op;
use crate::schema::{LayoutId, TagId};
use crate::types::Type;

impl Generator {
    /// A small array, filled, and what is done to it at indexes that vary.
    pub(super) fn chosen(&mut self) -> Made {
        let name = *self.rng.pick(&["Table", "Table", "Table", "FloatArray", "RefArray"]);
        let layout = self.layout(name);
        let length = if self.rng.chance(90) { self.rng.range(1, 5) } else { self.rng.range(5, 11) };
        let array = self.empty(layout, length as u32, 0)?;
        let part = self.schema.layout(layout).items.expect("a layout with items");
        let tag = part.element.tag.map(|_| self.any_tag());
        for item in 0..length {
            if self.rng.chance(90) {
                let index = self.trace.const_int(part.first + item as i64);
                let tag = if self.rng.chance(85) { tag } else { tag.map(|_| self.any_tag()) };
                self.store_item(Op::PutItem, array, layout, index, tag)?;
            }
        }
        for _ in 0..self.rng.range(1, 6) {
            let _ = self.choose(array, layout, length, tag);
        }
        Ok(())
    }

    fn store_item(&mut self, op: Op, array: Value, layout: LayoutId, at: Value, tag: Option<TagId>) -> Made {
        let part = self.schema.layout(layout).items.expect("a layout with items");
        let ty = self.schema.element_type(&part.element, tag);
        // A fresh object is one that need not exist either.
        let value = ty.map(|ty| if self.rng.chance(70) { self.operand(ty) } else { self.stored(ty) });
        self.item_at(op, array, layout, at, Some((tag, value))).map(|_| ())
    }

    /// An index that is in the array for any input, or as it is now, or is not.
    fn varying(&mut self, first: i64, length: u64) -> Made<Value> {
        if self.rng.chance(30) {
            return Ok(self.index(first, length));
        }
        let from = self.counter.filter(|_| self.rng.chance(60));
        let from = from.unwrap_or_else(|| self.operand(Type::Int));
        let (length, first) = (self.trace.const_int(length as i64), self.trace.const_int(first));
        let index = self.op(Op::IntFloorMod, &[from, length])?;
        self.op(Op::IntAdd, &[index, first])
    }

    fn choose(&mut self, array: Value, layout: LayoutId, length: u64, tag: Option<TagId>) -> Made {
        let first = self.schema.layout(layout).items.map_or(0, |part| part.first);
        match self.rng.below(12) {
            0..=4 => {
                let index = self.varying(first, length)?;
                self.item_at(Op::GetItem, array, layout, index, None).map(|_| ())
            }
            5..=8 => {
                let index = self.varying(first, length)?;
                let op = *self.rng.pick(&[Op::PutItem, Op::SetItem]);
                let other = self.rng.one_in(10);
                let tag = if other { tag.map(|_| self.any_tag()) } else { tag };
                self.store_item(op, array, layout, index, tag)
            }
            9 => {
                let index = self.trace.const_int(first + self.rng.below(length) as i64);
                self.item_at(Op::GetItem, array, layout, index, None).map(|_| ())
            }
            10 => self.guard_condition(),
            _ if self.rng.chance(50) => self.escape(array),
            _ => Err(Refused),
        }
    }
}
