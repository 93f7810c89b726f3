//! Recording: for each operation about to be executed, the trace operations that do the same.
//!
//! Problem: a trace must contain what *this* execution does, method dispatch included, and be left exactly
//! where another execution would differ. Design: each method call is inlined after a `guard_class` of its
//! receiver, as in the papers; the arithmetic follows the classes that the objects have right now. An
//! operation reads, guards, computes, and writes last, so that a failed guard redoes the whole operation in
//! the interpreter. Invariant: nothing here changes the program's state.
//!
//! Example: `dst = y.add(step)` for two integers becomes
//!
//! ```text
//! guard_class(p0; BoxedInteger)
//!   i1 = get(p0; intval)
//!   guard_class(p1; BoxedInteger)
//!     i2 = get(p1; intval)
//!     i3 = int_add(i1, i2)
//!     p2 = new(BoxedInteger)
//!       set(p2, i3; intval)
//! ```

use tracelift_core::schema::{CellId, LayoutId};
use tracelift_core::{ExitKind, Op as Trace, Payload, Schema, Type, Value};
use tracelift_runtime::Recorder;

use crate::code::Slot;
use crate::frames::Frame;
use crate::heap::{COLLECT_AFTER, FLOAT, INTEGER};
use crate::host::Host;

/// An operand: its value in the trace and the class that it has right now.
pub(crate) type Operand = (Value, u64);

/// A recording in progress, with what is needed to write to it. Every function gives `None` once it has
/// failed.
pub(crate) struct Tape<'a> {
    pub recorder: &'a mut Recorder,
    pub schema: &'a Schema,
    pub host: &'a Host,
}

impl Tape<'_> {
    pub(crate) fn emit(&mut self, op: Trace, args: &[Value], payload: Payload) -> Option<Value> {
        self.recorder.emit(op, args, payload, ExitKind::Guard, self.schema)
    }

    pub(crate) fn guard(&mut self, op: Trace, condition: Value, kind: ExitKind) {
        self.recorder.emit(op, &[condition], Payload::None, kind, self.schema);
    }

    fn guard_class(&mut self, object: Operand) {
        let (layout, _) = self.host.class(object.1);
        self.emit(Trace::GuardClass, &[object.0], Payload::Layout(layout));
    }

    fn get(&mut self, object: Operand) -> Option<Value> {
        let (_, field) = self.host.class(object.1);
        self.emit(Trace::Get, &[object.0], Payload::Field(field))
    }

    /// The object in a slot of the current frame.
    pub fn read(&mut self, slot: Slot) -> Option<Value> {
        self.recorder.read_slot(slot.into(), self.host.object, self.schema)
    }

    /// The slot now holds this object.
    pub fn write(&mut self, slot: Slot, object: Value) {
        self.recorder.write_slot(slot.into(), self.host.object, Some(object), self.schema);
    }

    /// The callee returns what its slot holds, to this slot of its caller.
    pub fn return_to(&mut self, dst: Option<Slot>, src: Slot) {
        let value = self.read(src);
        self.recorder.pop_frame();
        if let (Some(value), Some(dst)) = (value, dst) {
            self.write(dst, value);
        }
    }

    /// A constructor call at that depth of inlined calls; `__init__` lies one deeper.
    fn construct(&mut self, depth: usize, layout: LayoutId, value: Value) -> Option<Value> {
        let object = self.emit(Trace::New, &[], Payload::New { layout, items: 0, keys: 0 })?;
        self.recorder.set_inlined(depth + 1);
        let field = self.host.fields[layout.index()];
        self.emit(Trace::Set, &[object, value], Payload::Field(field));
        self.recorder.set_inlined(0);
        Some(object)
    }

    /// `BoxedInteger(value)`.
    pub fn integer(&mut self, value: i64) -> Option<Value> {
        let value = self.recorder.constant(Type::Int, value as u64);
        self.construct(0, self.host.layouts[0], value)
    }

    /// `BoxedFloat(value)`.
    pub fn float(&mut self, value: f64) -> Option<Value> {
        let value = self.recorder.constant(Type::Float, value.to_bits());
        self.construct(0, self.host.layouts[1], value)
    }

    /// `receiver.add(argument)`, by double dispatch.
    pub fn add(&mut self, receiver: Operand, argument: Operand) -> Option<Value> {
        let none = Payload::None;
        self.guard_class(receiver);
        self.recorder.set_inlined(1); // in receiver.add
        let mut mine = self.get(receiver)?;
        self.guard_class(argument);
        self.recorder.set_inlined(2); // in argument.add__int or argument.add__float
        let sum = match (receiver.1, argument.1) {
            (INTEGER, INTEGER) => {
                let other = self.get(argument)?;
                self.emit(Trace::IntAdd, &[mine, other], none)?
            }
            (FLOAT, INTEGER) => {
                let other = self.get(argument)?;
                let other = self.emit(Trace::IntToFloat, &[other], none)?;
                self.emit(Trace::FloatAdd, &[mine, other], none)?
            }
            (class, _) => {
                if class == INTEGER {
                    mine = self.emit(Trace::IntToFloat, &[mine], none)?;
                }
                let other = self.get(argument)?;
                self.emit(Trace::FloatAdd, &[mine, other], none)?
            }
        };
        let both_integers = (receiver.1, argument.1) == (INTEGER, INTEGER);
        self.construct(2, self.host.layouts[usize::from(!both_integers)], sum)
    }

    /// `object.is_positive()`, which gives `outcome` now; another outcome is an exit of that kind.
    pub fn is_positive(&mut self, object: Operand, outcome: bool, kind: ExitKind) -> Option<()> {
        self.guard_class(object);
        self.recorder.set_inlined(1); // in object.is_positive
        let value = self.get(object)?;
        let (op, ty) =
            if object.1 == INTEGER { (Trace::IntGt, Type::Int) } else { (Trace::FloatGt, Type::Float) };
        let zero = self.recorder.constant(ty, 0); // the bits of 0 and of 0.0
        let positive = self.emit(op, &[value, zero], Payload::None)?;
        self.recorder.set_inlined(0);
        self.guard(if outcome { Trace::GuardTrue } else { Trace::GuardFalse }, positive, kind);
        Some(())
    }

    fn int(&mut self, value: i64) -> Value {
        self.recorder.constant(Type::Int, value as u64)
    }

    fn context(&mut self) -> Option<Value> {
        self.emit(Trace::Context, &[], Payload::None)
    }

    /// What lies in a cell of the context.
    fn global(&mut self, context: Value, cell: CellId) -> Option<Value> {
        self.emit(Trace::Load, &[context], Payload::Cell(cell))
    }

    fn set_global(&mut self, context: Value, cell: CellId, value: Value) {
        self.emit(Trace::Store, &[context, value], Payload::Cell(cell));
    }

    /// The poll at a loop head: one iteration's fuel, and a look at the garbage.
    pub fn poll(&mut self) -> Option<()> {
        let context = self.context()?;
        let fuel = self.global(context, self.host.fuel)?;
        let zero = self.int(0);
        let some = self.emit(Trace::IntGt, &[fuel, zero], Payload::None)?;
        self.guard(Trace::GuardTrue, some, ExitKind::Interrupt);
        self.guard_debt(context)?;
        let one = self.int(1);
        let left = self.emit(Trace::IntSub, &[fuel, one], Payload::None)?;
        self.set_global(context, self.host.fuel, left);
        Some(())
    }

    fn guard_debt(&mut self, context: Value) -> Option<()> {
        let debt = self.global(context, self.host.debt)?;
        let limit = self.int(COLLECT_AFTER);
        let much = self.emit(Trace::IntGt, &[debt, limit], Payload::None)?;
        self.guard(Trace::GuardFalse, much, ExitKind::Collect);
        Some(())
    }

    /// Leaves the trace if there is much garbage.
    pub fn look_at_debt(&mut self) -> Option<()> {
        let context = self.context()?;
        self.guard_debt(context)
    }

    /// The frame so many above the one that runs, or below it.
    fn frame(&mut self, above: i64) -> Option<Value> {
        let context = self.context()?;
        let top = self.global(context, self.host.frames[0])?;
        let bytes = self.int(above * size_of::<Frame>() as i64);
        self.emit(Trace::AddrAdd, &[top, bytes], Payload::None)
    }

    /// The outermost frame, which is the one that runs, returns what its slot holds, under guards that it
    /// returns to this frame; to this slot of that one.
    pub fn return_below(&mut self, caller: Frame, from: Frame, dst: Slot, src: Slot) -> Option<()> {
        let value = self.read(src)?;
        let below = self.frame(-1)?;
        for (cell, now) in [(self.host.frame[0], caller.function), (self.host.frame[1], caller.pc)] {
            let found = self.emit(Trace::Load, &[below], Payload::Cell(cell))?;
            let now = self.int(now as i64);
            self.emit(Trace::GuardValue, &[found, now], Payload::None);
        }
        self.recorder.return_frame(caller.base as i32 - from.base as i32);
        self.write(dst, value);
        Some(())
    }

    /// The trace ends in the innermost of these frames, the outermost of which has run until now: the others
    /// are made. Not if fewer than `room` would be left besides.
    pub fn make_frames(&mut self, frames: &[Frame], room: usize) -> Option<()> {
        let calls = frames.len() as i64 - 1;
        let context = self.context()?;
        let [top, last] = self.host.frames.map(|cell| {
            let frame = self.global(context, cell)?;
            self.emit(Trace::AddrToInt, &[frame], Payload::None)
        });
        let left = self.emit(Trace::IntSub, &[last?, top?], Payload::None)?;
        let wanted = self.int((calls + room as i64) * size_of::<Frame>() as i64);
        let is_there = self.emit(Trace::IntGe, &[left, wanted], Payload::None)?;
        self.guard(Trace::GuardTrue, is_there, ExitKind::Interrupt);
        let outermost = self.frame(0)?;
        let base = self.emit(Trace::Load, &[outermost], Payload::Cell(self.host.frame[2]))?;
        self.recorder.link_frames();
        let places = (0..frames.len() as i64).map(|above| self.frame(above)).collect::<Option<Vec<_>>>()?;
        for (&frame, &place) in frames.iter().zip(&places) {
            let above = self.int(frame.base as i64 - frames[0].base as i64);
            let base = self.emit(Trace::IntAdd, &[base, above], Payload::None)?;
            let [function, pc] = [frame.function, frame.pc].map(|word| self.int(word as i64));
            for (cell, value) in self.host.frame.into_iter().zip([function, pc, base]) {
                self.emit(Trace::Store, &[place, value], Payload::Cell(cell));
            }
        }
        self.set_global(context, self.host.frames[0], *places.last()?);
        Some(())
    }

    /// The trace ends in the frame that the one which ran has returned to.
    pub fn drop_frame(&mut self) -> Option<()> {
        let below = self.frame(-1)?;
        self.recorder.link_frames();
        let context = self.context()?;
        self.set_global(context, self.host.frames[0], below);
        Some(())
    }
}
