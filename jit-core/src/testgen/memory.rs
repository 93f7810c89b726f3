//! Raw memory: buffers, the context's cells, the frame, items reached by hand.
//!
//! Problem: loads and stores must be tried at constant and variable addresses, through every width and view,
//! without a single access outside. Design: a buffer's bytes 0 to 31 hold numbers in all views (a store
//! through one is read through another), 32 to 47 references, 48 to 63 addresses; variable indices are
//! masked. Invariant: a number is never read where an address may have been written, and no NaN is written
//! where an integer may be read.
//!
//! Example: `i4 = int_and(i2, 3)`, `a5 = item_addr(a3, i4, 8, 16)`, `store(a5, raw.i16, i1)`, `load(a5,
//! raw.int)`.

use super::{Generator, Made, Refused};
use crate::ir::{Inst, Payload, Value};
use crate::ops::Op;
use crate::schema::CellId;
use crate::testbed::BUFFER_START;
use crate::types::Type;

impl Generator {
    pub(super) fn cell(&self, name: &str) -> CellId {
        self.schema.find_cell(name).expect("a standard cell")
    }

    pub(super) fn load(&mut self, at: Value, cell: CellId) -> Made<Value> {
        self.value(Inst::new(Op::Load, &[at]).with(Payload::Cell(cell)))
    }

    pub(super) fn store(&mut self, at: Value, cell: CellId, value: Value) -> Made {
        self.emit(Inst::new(Op::Store, &[at, value]).with(Payload::Cell(cell)))?;
        Ok(())
    }

    /// An address inside a buffer, `slots` 8-byte slots from `first` on.
    pub(super) fn buffer_address(&mut self, first: i64, slots: i64) -> Made<Value> {
        let layout = self.layout("Buffer");
        let buffer = self.record(layout)?;
        let start = self.op(Op::RefToAddr, &[buffer])?;
        let offset = BUFFER_START as i64 + first * 8;
        match self.rng.chance(50) {
            true => {
                let fixed = self.rng.below(slots as u64) as i64;
                let fixed = self.trace.const_int(offset + fixed * 8);
                self.op(Op::AddrAdd, &[start, fixed])
            }
            false => {
                let index = self.operand(Type::Int);
                let mask = self.trace.const_int(slots - 1);
                let index = self.op(Op::IntAnd, &[index, mask])?;
                let scale = Payload::Scale { stride: 8, offset: offset as i32 };
                self.value(Inst::new(Op::ItemAddr, &[start, index]).with(scale))
            }
        }
    }

    /// A number's cell in a buffer.
    fn number_cell(&mut self) -> CellId {
        let name = *self.rng.pick(&[
            "raw.int",
            "raw.int",
            "raw.float",
            "raw.u8",
            "raw.i8",
            "raw.u16",
            "raw.i16",
            "raw.u32",
            "raw.i32",
        ]);
        self.cell(name)
    }

    /// A load or a store of raw memory.
    pub(super) fn raw(&mut self, op: Op) -> Made {
        match self.rng.below(10) {
            0..=3 => {
                let at = self.buffer_address(0, 4)?;
                let cell = self.number_cell();
                if op == Op::Load {
                    // Any bits may be there; as a float they may be a NaN, which is fine for floats.
                    return self.load(at, cell).map(|_| ());
                }
                // What is read on both sides of a store shows whether it was rightly taken to be the same.
                let other = self.buffer_address(0, 4)?;
                let seen = self.number_cell();
                let looks_around = self.rng.chance(50);
                if looks_around {
                    self.load(other, seen)?;
                }
                let value = self.number(cell)?;
                self.store(at, cell, value)?;
                if looks_around {
                    self.load(other, seen)?;
                }
                if self.rng.chance(50) {
                    let cell = self.number_cell();
                    self.load(at, cell)?;
                }
                Ok(())
            }
            4 => {
                let at = self.buffer_address(4, 2)?;
                let views = ["raw.ref", "raw.ref", "raw.addr"];
                let name = *self.rng.pick(if op == Op::Store { &views[..1] } else { &views });
                let cell = self.cell(name);
                if op == Op::Load {
                    return self.load(at, cell).map(|_| ());
                }
                let value = self.stored(Type::Ref);
                self.store(at, cell, value)
            }
            5 => {
                let at = self.buffer_address(6, 2)?;
                let cell = self.cell("raw.addr");
                if op == Op::Load {
                    return self.load(at, cell).map(|_| ());
                }
                let value = self.operand(Type::Addr);
                self.store(at, cell, value)
            }
            6 => {
                let context = self.context()?;
                let cell = self.cell("context.spare");
                if op == Op::Load {
                    return self.load(context, cell).map(|_| ());
                }
                let value = self.operand(Type::Int);
                self.store(context, cell, value)
            }
            7 => self.frame(op),
            8 if op == Op::Load => {
                let var = self.var(Type::Ref)?;
                self.prove_nonnull(var)?;
                let name = *self.rng.pick(&["header.class", "header.mark"]);
                let cell = self.cell(name);
                self.load(var, cell).map(|_| ())
            }
            _ if op == Op::Load => self.item_by_hand(),
            _ => Err(Refused),
        }
    }

    /// A number to store through `cell`: no NaN.
    fn number(&mut self, cell: CellId) -> Made<Value> {
        match self.schema.cell(cell).ty {
            Type::Float => {
                let value = self.operand(Type::Float);
                self.without_nan(value)
            }
            _ => Ok(self.operand(Type::Int)),
        }
    }

    /// A slot of the frame after those that a trace is entered through.
    pub(super) fn frame(&mut self, op: Op) -> Made {
        let base = self.hidden(Inst::new(Op::FrameBase, &[]))?;
        let slot = self.rng.range(40, 43) as i64;
        let has_slots = self.schema.slot_cells().is_some();
        // Exits write other slots, but the trace is not entered through them: memory holds numbers.
        let first = if self.trace.entry.is_empty() { 0 } else { 16 };
        let slot = if has_slots && self.rng.chance(70) { self.rng.range(first, 22) as i64 } else { slot };
        let distance = self.trace.const_int(slot * self.schema.slots().stride as i64);
        let at = self.op(Op::AddrAdd, &[base, distance])?;
        let cell = self.cell(if has_slots { "slot.int" } else { "frame.int" });
        if op == Op::Load {
            return self.load(at, cell).map(|_| ());
        }
        let value = self.operand(Type::Int);
        self.store(at, cell, value)
    }

    /// What `get_item` means, written out: bounds, base, tag, value.
    fn item_by_hand(&mut self) -> Made {
        let layout = self.layout("Table");
        let table = self.record(layout)?;
        let part = self.schema.layout(layout).items.expect("a layout with items");
        let count = self.load(table, part.count)?;
        let now = self.shadow(count).unwrap_or(0);
        let index = self.index(0, now);
        let inside = self.op(Op::UintLt, &[index, count])?;
        self.emit(Inst::new(Op::GuardTrue, &[inside]))?;
        let base = self.hidden(Inst::new(Op::Load, &[table]).with(Payload::Cell(part.base)))?;
        let scale = Payload::Scale { stride: part.element.stride, offset: 0 };
        let at = self.hidden(Inst::new(Op::ItemAddr, &[base, index]).with(scale))?;
        let tag = self.load(at, part.element.tag.expect("tagged items"))?;
        let bits = self.shadow(tag).ok_or(Refused)?;
        let expected = self.trace.const_int(bits as i64);
        self.emit(Inst::new(Op::GuardValue, &[tag, expected]))?;
        let payload = self.schema.tags().iter().find(|tag| tag.bits == bits).and_then(|tag| tag.payload);
        if let Some(ty) = payload {
            self.load(at, part.element.value[ty as usize])?;
        }
        Ok(())
    }

    /// `ref_to_addr`, `addr_add`, `item_addr`, `addr_to_int`, `addr_eq` without letting an address out as a
    /// number.
    pub(super) fn address(&mut self, op: Op) -> Made {
        let record = self.operand(Type::Ref);
        let start = self.op(Op::RefToAddr, &[record])?;
        // The smallest record has 16 bytes: an address outside its block would belong to no object.
        let fixed = self.rng.below(16) as i64;
        let fixed = self.trace.const_int(fixed);
        let other = match op {
            Op::ItemAddr => {
                let index = self.rng.range(2, 3) as i64;
                let index = self.trace.const_int(index);
                let (stride, offset) = *self.rng.pick(&[(4, -8), (4, 3), (1, -2), (1, 12), (3, -6), (5, 0)]);
                let scale = Payload::Scale { stride, offset };
                self.value(Inst::new(Op::ItemAddr, &[start, index]).with(scale))?
            }
            _ => self.op(Op::AddrAdd, &[start, fixed])?,
        };
        if op == Op::AddrToRef {
            self.op(Op::AddrToRef, &[start])?;
        }
        if op == Op::AddrToInt {
            let one = self.hidden(Inst::new(Op::AddrToInt, &[start]))?;
            let two = self.hidden(Inst::new(Op::AddrToInt, &[other]))?;
            self.op(Op::IntSub, &[two, one])?;
        }
        if op == Op::AddrEq {
            let last = self.operand(Type::Addr);
            let args = *self.rng.pick(&[[start, other], [other, last]]);
            self.op(Op::AddrEq, &args)?;
        }
        Ok(())
    }
}
