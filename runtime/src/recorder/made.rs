//! Objects that a recording makes.
//!
//! Problem: an object that refers to slots of a frame, such as a closure that shares variables with it, must
//! exist before that frame ends, or never. Design: the host asks which such objects the recording has made,
//! and whether anybody could still get hold of one; operations and slots tell. Invariant: an object that is
//! not in use is known to nobody but to slots that die with the frame, so that no later exit makes it.
//!
//! ```text
//! r5 = new(Closure, 3); set(r5, upvalue_1, r2)     -- in use: no
//! set_key(Table.closure, r4, "f", r5)              -- in use: yes
//! ```

use tracelift_core::schema::LayoutId;
use tracelift_core::{Op, Payload, Schema, Value};

use super::Recorder;

impl Recorder {
    /// The nth object of that layout that the trace makes, and its room for items, or its site.
    pub fn nth_made(&self, layout: LayoutId, n: u32) -> Option<(Value, u32)> {
        let mut made = self.trace.insts.iter().filter_map(|inst| match (inst.op, inst.payload) {
            (Op::New, Payload::New { layout: of, items, .. }) if of == layout => Some((inst.result?, items)),
            _ => None,
        });
        made.nth(n as usize)
    }

    /// Whether the trace makes the object.
    pub fn is_made(&self, object: Value) -> bool {
        self.trace.insts.iter().any(|inst| inst.op == Op::New && inst.result == Some(object))
    }

    /// The room for keyed entries of a record that the trace makes, with the host's bits.
    pub fn key_room(&self, record: Value) -> Option<u32> {
        self.trace.insts.iter().find_map(|inst| match inst.payload {
            Payload::New { keys, .. } if inst.result == Some(record) => Some(keys),
            _ => None,
        })
    }

    /// Makes such a record with another room; why not, if there is none. What was recorded of it holds for
    /// the room that it had, so the new one must be larger, or the host sees to it.
    pub fn set_key_room(&mut self, record: Value, room: u32, schema: &Schema) -> Result<(), String> {
        let made = self.trace.insts.iter_mut().find(|inst| inst.op == Op::New && inst.result == Some(record));
        let Some(Payload::New { layout, keys, .. }) = made.map(|inst| &mut inst.payload) else {
            return Err("the recording has not made that record".into());
        };
        let declared = schema.layout(*layout);
        if room != 0 && declared.keys.is_none() {
            return Err(format!("layout {} has no keyed part", declared.name));
        }
        *keys = room;
        Ok(())
    }

    /// Whether anything but slots from `slot` on, counted from the innermost frame's base, knows an object
    /// that this trace has made: another slot, or an operation that does more than read and write its fields.
    pub fn is_in_use(&self, object: Value, slot: i32) -> bool {
        let base = self.stack.frames.last().map_or(0, |frame| frame.base);
        let in_slot = self.slots.iter().any(|(at, state)| at < base + slot && state.value == Some(object));
        in_slot
            || self.trace.insts.iter().any(|inst| {
                let own = usize::from(matches!(inst.op, Op::Get | Op::Set));
                inst.args.iter().skip(own).any(|&arg| arg == object)
            })
    }
}
