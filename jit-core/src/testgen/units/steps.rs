//! The operations of random programs of units.
//!
//! Problem: what lies between calls decides what an optimizer may carry across them. Design: arithmetic over
//! small numbers, objects that are made, filled, read and passed on, guards that hold more often than not,
//! and calls with what is looked at after them. Invariant: a field is read or written of objects of the right
//! class alone, and an integer from memory is made small before it is used.
//!
//! Example: `i9 = int_and(int_mul(i4, i5), 63)`, then `guard_false(int_eq(i9, 7)) @3`.

use super::{Kind, Maker, Signature, CALLS, SLOTS};
use crate::ir::{Inst, Payload, Value};
use crate::ops::Op;
use crate::schema::LayoutId;
use crate::snapshot::{Frame, SlotValue, Source};
use crate::types::Type;

impl Maker<'_> {
    /// Small again.
    fn masked(&mut self, value: Value) -> Value {
        let mask = self.trace.const_int(63);
        self.pure(Op::IntAnd, &[value, mask])
    }

    pub(super) fn arithmetic(&mut self) {
        let (a, b) = (self.operand(Kind::Int), self.operand(Kind::Int));
        let op = *self.rng.pick(&[Op::IntAdd, Op::IntSub, Op::IntMul, Op::IntXor]);
        let result = self.pure(op, &[a, b]);
        let result = self.masked(result);
        self.add(result, Kind::Int);
    }

    pub(super) fn floats(&mut self) {
        let half = self.trace.const_float(0.5);
        let result = match self.rng.below(3) {
            0 => {
                let int = self.operand(Kind::Int);
                self.pure(Op::IntToFloat, &[int])
            }
            1 => {
                let float = self.operand(Kind::Float);
                self.pure(Op::FloatMul, &[float, half])
            }
            _ => {
                let (a, b) = (self.operand(Kind::Float), self.operand(Kind::Float));
                self.pure(Op::FloatSub, &[a, b])
            }
        };
        self.add(result, Kind::Float);
    }

    fn any_layout(&mut self) -> LayoutId {
        let name = if self.rng.chance(65) { "BoxedInteger" } else { "Pair" };
        self.layout(name)
    }

    /// Makes an object, which may stay virtual.
    pub(super) fn new_object(&mut self) -> (Value, LayoutId) {
        let layout = self.any_layout();
        (self.new_object_of(layout), layout)
    }

    pub(super) fn new_object_of(&mut self, layout: LayoutId) -> Value {
        let snap = self.snapshot();
        let inst = Inst::new(Op::New, &[]).with(Payload::New { layout, items: 0, keys: 0 });
        let object = self.push(inst.at(Some(snap))).expect("new has a result");
        self.fill(object, layout);
        self.add(object, Kind::Object(layout));
        object
    }

    fn fill(&mut self, object: Value, layout: LayoutId) {
        let (name, kind) = match layout == self.layout("Pair") {
            true => (*self.rng.pick(&["first", "second"]), Kind::Present),
            false => ("intval", Kind::Int),
        };
        let field = self.schema.find_field(layout, name).expect("a standard field");
        let value = self.operand(kind);
        let snap = self.snapshot();
        self.push(Inst::new(Op::Set, &[object, value]).with(Payload::Field(field)).at(Some(snap)));
    }

    fn object(&mut self) -> (Value, LayoutId) {
        let layout = self.any_layout();
        (self.operand(Kind::Object(layout)), layout)
    }

    pub(super) fn read(&mut self) {
        let (object, layout) = self.object();
        let is_pair = layout == self.layout("Pair");
        let name = if is_pair { *self.rng.pick(&["first", "second"]) } else { "intval" };
        let field = self.schema.find_field(layout, name).expect("a standard field");
        let value = self.push(Inst::new(Op::Get, &[object]).with(Payload::Field(field)));
        let value = value.expect("get has a result");
        match is_pair {
            true => self.add(value, Kind::Any(Type::Ref)),
            false => {
                let value = self.masked(value);
                self.add(value, Kind::Int);
            }
        }
    }

    pub(super) fn write(&mut self) {
        let (object, layout) = self.object();
        self.fill(object, layout);
    }

    /// A guard that holds more often than not.
    pub(super) fn check(&mut self) {
        match self.rng.below(8) {
            0..=3 => {
                let (a, limit) = (self.operand(Kind::Int), self.rng.range(30, 64));
                let limit = self.trace.const_int(limit as i64);
                let holds = self.pure(Op::IntLt, &[a, limit]);
                self.guard(Op::GuardTrue, &[holds]);
            }
            4..=5 => {
                let (a, seven) = (self.operand(Kind::Int), self.trace.const_int(7));
                let fails = self.pure(Op::IntEq, &[a, seven]);
                self.guard(Op::GuardFalse, &[fails]);
            }
            6 => {
                let (a, b) = (self.operand(Kind::Present), self.operand(Kind::Present));
                let same = self.pure(Op::RefEq, &[a, b]);
                self.guard(Op::GuardFalse, &[same]);
            }
            _ => {
                // What has come back from a unit is of no known class.
                let returned = self.vars.iter().filter(|(_, kind)| *kind == Kind::Present);
                let Some(object) = returned.map(|var| var.0).next_back() else { return };
                let layout = self.layout("BoxedInteger");
                let snap = self.snapshot();
                let guard = Inst::new(Op::GuardClass, &[object]).with(Payload::Layout(layout));
                self.push(guard.at(Some(snap)));
                self.vars.push((object, Kind::Object(layout)));
            }
        }
    }

    /// Calls a unit, in a frame above the last one or in that itself, and looks at what it returns.
    pub(super) fn call(&mut self) {
        let calls = self.trace.insts.iter().filter(|inst| inst.op == Op::CallUnit).count();
        let Some(depth) = self.depth.filter(|_| calls < CALLS) else { return };
        let signature = self.rng.pick(self.units).clone();
        let mut args = vec![depth];
        for &kind in &signature.params {
            // An object that is made for the call.
            let is_fresh = kind.ty() == Type::Ref && self.rng.chance(40);
            let fresh = if is_fresh { Some(self.new_object()) } else { None };
            let fitting = fresh.filter(|&(_, layout)| kind == Kind::Object(layout));
            args.push(match fitting {
                Some((object, _)) => object,
                None => self.operand(kind),
            });
        }
        let is_own = self.trace.unit.is_none() && self.frames.len() == 1 && self.rng.chance(10);
        let last = self.frames.last().map_or(0, |frame| frame.base);
        let base = if is_own { last } else { last + SLOTS as i32 + self.rng.below(2) as i32 };
        self.snapshot = None;
        let snap = self.snapshot();
        if !is_own {
            let slots = args.iter().enumerate().map(|(slot, &arg)| {
                let tag = self.tag_of(self.trace.ty(arg));
                SlotValue { slot: slot as i32, tag, source: Source::Value(arg) }
            });
            let slots = slots.collect();
            let words = [200 + u64::from(signature.unit.0), self.rng.below(1000)].into_iter().collect();
            self.trace.snapshots[snap.index()].frames.push(Frame { base, words, slots });
        }
        if self.rng.chance(30) {
            // As if the room for the call were looked at, in the state that the call has.
            let (a, limit) = (self.operand(Kind::Int), self.trace.const_int(60));
            let holds = self.pure(Op::IntLt, &[a, limit]);
            self.push(Inst::new(Op::GuardTrue, &[holds]).at(Some(snap)));
        }
        let inst = Inst::new(Op::CallUnit, &args).with(Payload::Unit { unit: signature.unit, base });
        let result = self.push(inst.at(Some(snap))).expect("a call has a result");
        self.look(result, &signature);
        let boxed = self.layout("BoxedInteger");
        if let Some(object) = self.known(Kind::Object(boxed)).filter(|_| self.rng.chance(25)) {
            // A function that is shown an object, where there is no snapshot of its own to leave to.
            let bump = self.schema.find_func("test.bump").expect("a standard function");
            self.push(Inst::new(Op::Call, &[object]).with(Payload::Func(bump)));
        }
    }

    /// Takes what a unit has returned, under a tag that is mostly the right one.
    fn look(&mut self, result: Value, signature: &Signature) {
        let returned = signature.returns.map_or(self.tag("nil"), |kind| self.tag_of(kind.ty()));
        let other = *self.rng.pick(&["int", "float", "nil", "table"]);
        let (is_wanted, tag) = match self.rng.below(20) {
            0 => (false, None),
            1..=2 => (true, None),
            3 => (true, Some(self.tag(other))),
            _ => (true, Some(returned)),
        };
        let frame = self.frames.len() - 1;
        let home = self.rng.below(SLOTS as u64) as usize;
        let slot = is_wanted.then(|| {
            // Memory holds it there, until it is taken.
            self.frames[frame].homes[home] = None;
            self.frames[frame].base + home as i32
        });
        self.snapshot = None;
        let snap = self.snapshot();
        let inst = Inst::new(Op::UnitResult, &[result]).with(Payload::Result { slot, tag }).at(Some(snap));
        let value = self.push(inst);
        self.snapshot = None;
        let Some(tag) = tag else { return };
        let source = value.map_or(Source::Nothing, Source::Value);
        self.frames[frame].homes[home] = Some(SlotValue { slot: home as i32, tag, source });
        let Some(value) = value else { return };
        let kind = match self.trace.ty(value) {
            // Integers of side traces may be any.
            Type::Int => {
                let small = self.masked(value);
                return self.vars.push((small, Kind::Int));
            }
            Type::Float => Kind::Float,
            Type::Ref => Kind::Present,
            Type::Addr => Kind::Any(Type::Addr),
        };
        self.vars.push((value, kind));
    }
}
