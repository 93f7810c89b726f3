//! The shape of a random trace: straight line or loop, label arguments, body, end.
//!
//! Problem: an optimizer treats inputs, loop-carried values and the end of a loop in different ways; all must
//! come. Design: three shapes: a straight line that finishes, a loop, and a loop with a preamble before its
//! label. A loop counts, so that it ends by itself; its other arguments go round as themselves, as new values
//! or as fresh objects of the same class. Invariant: the last instruction is `jump` or `finish`, and what
//! lies before a label that is not the entry is used after it through label arguments only.
//!
//! Example: `L0(i0, p1):`, the body, `i9 = int_add(i0, 1)`, `guard_true(int_lt(i9, 4))`, `jump(L0, i9, p8)`.

use std::sync::LazyLock;

use super::{spec, Case, Generator, Made, ModelFrame, HOMES};
use crate::ir::{EntrySlot, ExitKind, Inst, LabelId, Payload, Value};
use crate::ops::Op;
use crate::snapshot::Source;
use crate::types::Type;
use crate::world_spec::SpecValue;

impl Generator {
    /// Makes the whole case.
    pub(super) fn case(mut self) -> Case {
        let seed = self.trace.name.trim_start_matches("random").parse().unwrap_or_default();
        self.about_objects = self.rng.chance(45);
        let is_loop = self.rng.chance(if self.about_objects { 85 } else { 70 });
        let has_preamble = is_loop && self.rng.chance(15);
        let more = match is_loop && !has_preamble && self.rng.chance(35) {
            true => self.plan_counted(),
            false => Vec::new(),
        };
        let inputs = self.inputs(&more);
        self.push_frame();
        let args = self.trace.inputs().to_vec();
        self.name_counted(&args);
        self.begin(&args);
        self.counter = is_loop.then_some(args[0]);
        if has_preamble {
            let length = self.rng.range(2, 12);
            self.body(length);
            self.second_label(&args);
        }
        let length = match self.rng.below(10) {
            // Each operation more may leave the loop before it comes to its end.
            0..=7 if self.counted.is_some() => self.rng.range(1, 5),
            0..=6 if self.about_objects => self.rng.range(2, 6),
            _ if self.about_objects => self.rng.range(5, 12),
            0..=3 => self.rng.range(3, 10),
            4..=8 => self.rng.range(8, 25),
            _ => self.rng.range(20, 45),
        };
        if is_loop {
            let _ = self.head_checks();
            let _ = self.counted_head();
            if self.about_objects && self.rng.chance(60) {
                self.classes_first();
            }
        }
        self.body(length);
        if self.rng.one_in(30) {
            let _ = self.excluded();
        }
        if self.rng.one_in(80) {
            let _ = self.emit(Inst::new(Op::GuardAlwaysFails, &[]));
        }
        match is_loop {
            true => self.close_loop(has_preamble as u32, seed),
            false => self.finish(),
        }
        Case { seed, trace: self.trace, spec: self.spec, inputs }
    }

    /// The entry label: a counter, a few values of all types, and these integers.
    fn inputs(&mut self, more: &[SpecValue]) -> Vec<SpecValue> {
        let mut types = vec![Type::Int];
        let refs = if self.about_objects { self.rng.range(1, 4) } else { 0 };
        types.extend((0..refs).map(|_| Type::Ref));
        let favourite = *self.rng.pick(&["Pair", "Pair", "BoxedInteger", "Table", "Table"]);
        for _ in 0..self.rng.range(1, 6) {
            types.push(*self.rng.pick(&[
                Type::Int,
                Type::Int,
                Type::Float,
                Type::Float,
                Type::Ref,
                Type::Ref,
            ]));
        }
        let random = types.len();
        types.extend(more.iter().map(|_| Type::Int));
        let args: Vec<Value> = types.iter().map(|&ty| self.trace.new_value(ty)).collect();
        self.trace.add_label("L0", &args);
        let mut inputs: Vec<SpecValue> =
            types[..random].iter().map(|&ty| spec::random_value(&mut self.rng, ty)).collect();
        inputs.extend(more);
        inputs[0] = SpecValue::Bits(0);
        let objects = spec::objects_of(&self.spec, self.layout(favourite));
        for input in &mut inputs[1..=refs as usize] {
            // Of one class, so that they can take one another's places; two of them may be the same.
            if self.rng.chance(80) {
                *input = SpecValue::Object(*self.rng.pick(&objects));
            }
        }
        if refs > 1 && self.rng.one_in(4) {
            inputs[2] = inputs[1];
        }
        if self.rng.chance(30) {
            for (slot, &ty) in types.iter().enumerate() {
                let tag = self.slot_tag(ty);
                let tag = self.schema.find_tag(tag).expect("a standard tag");
                self.trace.entry.push(EntrySlot { slot: slot as i32, tag });
            }
        }
        self.sync();
        for (&arg, &input) in args.iter().zip(&inputs) {
            let bits = self.shadow.bits(input);
            self.regs.set(arg, bits);
        }
        inputs
    }

    /// Begins a part of the trace at a label whose arguments are all that is known.
    fn begin(&mut self, args: &[Value]) {
        self.vars.clear();
        self.pure.clear();
        self.guards.clear();
        self.context = None;
        self.snapshot = None;
        for frame in &mut self.frames {
            frame.homes = [None; HOMES];
        }
        for &arg in args {
            self.add_var(arg);
        }
    }

    /// Ends the preamble with a jump to a second label.
    fn second_label(&mut self, inputs: &[Value]) {
        let mut args: Vec<Value> = vec![inputs[0]];
        for _ in 0..self.rng.range(1, 5) {
            let ty = *self.rng.pick(&[Type::Int, Type::Float, Type::Ref, Type::Ref]);
            args.push(self.operand(ty));
        }
        self.sync();
        let label = LabelId(1);
        let names: Vec<Value> = args.iter().map(|&arg| self.trace.new_value(self.trace.ty(arg))).collect();
        self.trace.push(Inst::new(Op::Jump, &args).with(Payload::Label(label)), None);
        self.trace.add_label("L1", &names);
        self.sync();
        for (&name, &arg) in names.iter().zip(&args) {
            if let Some(bits) = self.shadow(arg) {
                self.regs.set(name, bits);
            }
        }
        self.counter = Some(names[0]);
        self.begin(&names);
    }

    fn push_frame(&mut self) {
        let depth = self.frames.len() as u64;
        let words = [100 + depth, self.rng.below(1000)];
        self.frames.push(ModelFrame { base: depth as i32 * (HOMES as i32 + 1), words, homes: [None; HOMES] });
    }

    fn body(&mut self, length: u64) {
        for _ in 0..length {
            if self.dead {
                return;
            }
            // What cannot be done here is left out.
            let _ = self.one();
        }
    }

    /// One operation, or a small group around it.
    fn one(&mut self) -> Made {
        if self.counted.is_some() && self.rng.chance(40) {
            return self.counted_access();
        }
        if self.about_objects && self.rng.chance(60) {
            return match self.rng.below(10) {
                0..=1 => self.graph(),
                2 => self.chosen(),
                3..=5 => self.delayed(),
                6..=7 => self.successor(),
                _ => self.invariant(),
            };
        }
        match self.rng.below(100) {
            0..=1 if self.frames.len() < 3 => {
                self.push_frame();
                Ok(())
            }
            2..=3 if self.frames.len() > 1 => {
                self.frames.pop();
                Ok(())
            }
            4..=5 => {
                let source = match self.rng.chance(50) {
                    true => Source::Nothing,
                    false => {
                        let ty = *self.rng.pick(&[Type::Int, Type::Float, Type::Ref]);
                        Source::Value(self.constant(ty))
                    }
                };
                self.give_home(source);
                Ok(())
            }
            6..=7 => self.foldable(),
            8..=9 => self.bounded(),
            10 => self.graph(),
            11 => self.delayed(),
            12 => self.pair(),
            13 => self.chosen(),
            14..=15 => self.again(),
            16..=18 => self.guard_again(),
            19..=26 => self.guard_condition(),
            27..=52 => {
                use Op::{Get, GetItem, GetKey, InsertKey, New, PutItem, Set, SetItem, SetKey};
                let often = [New, New, New, Get, Get, Get, Set, Set, GetItem, GetItem, SetItem, PutItem];
                let keyed = [GetKey, GetKey, SetKey, InsertKey];
                let op = if self.rng.chance(75) { *self.rng.pick(&often) } else { *self.rng.pick(&keyed) };
                self.any(op)
            }
            _ => {
                let op = *self.rng.pick(alone());
                self.any(op)
            }
        }
    }

    /// Emits this op. The match is exhaustive: a new op does not compile until random traces have it.
    fn any(&mut self, op: Op) -> Made {
        use Op::*;
        match op {
            IntAdd | IntSub | IntMul | IntNeg | IntAddOvf | IntSubOvf | IntMulOvf | IntAnd | IntOr
            | IntXor | IntNot | IntEq | IntNe | IntLt | IntLe | IntGt | IntGe | UintLt | UintLe | UintGt
            | UintGe => self.plain(op),
            FloatAdd | FloatSub | FloatMul | FloatDiv | FloatNeg | FloatAbs | FloatSqrt | FloatFloor
            | FloatCeil | FloatTrunc | FloatRem | FloatFloorMod | FloatEq | FloatNe | FloatLt | FloatLe
            | FloatGt | FloatGe => self.plain(op),
            IntToFloat | FloatToInt | Select | RefEq | RefNe | RefIsNull => self.plain(op),
            IntDiv | IntRem | IntFloorDiv | IntFloorMod => self.division(op),
            IntShl | IntSar | IntShr => self.shift(op),
            FloatToIntExact => self.exact(),
            FloatToBits => self.float_bits(),
            FloatFromBits => self.float_from_bits(),
            RefToAddr | AddrToRef | AddrToInt | AddrEq | AddrAdd | ItemAddr => self.address(op),
            Context => self.context().map(|_| ()),
            FrameBase | Load => self.raw(Load),
            Store => self.raw(Store),
            New => self.new_record(),
            GuardClass => self.guard_class(),
            Get => self.get(),
            Set => self.set(),
            ItemCount => self.item_count(),
            GetItem | SetItem | PutItem => self.item(op),
            GetKey | GuardKeyAbsent | SetKey | InsertKey => self.keyed(op),
            Call => self.call(),
            TryCall => self.try_call(),
            Mend => self.mend(),
            GuardTrue | GuardFalse => self.guard_condition(),
            GuardValue => self.guard_value(),
            GuardNull | GuardNonnull => self.guard_null(),
            // Structure comes from the shape, and a guard that always fails ends it.
            GuardAlwaysFails | Label | Jump | JumpIf | EnterLoop | Finish => Ok(()),
            // Programs of several traces are in `units`.
            CallUnit | UnitResult | ReturnUnit => Ok(()),
        }
    }

    /// Counts, leaves when the count is reached, and jumps.
    fn close_loop(&mut self, label: u32, seed: u64) {
        if self.about_objects && self.rng.chance(30) {
            let _ = self.kept();
        }
        let rotation = self.rotation(seed);
        let counter = self.counter.expect("a loop has a counter");
        let one = self.trace.const_int(1);
        let limit = if self.counted.is_some() { self.rng.range(3, 12) } else { self.rng.range(2, 6) };
        // Until each has gone through all places, and on.
        let limit = limit + rotation.as_ref().map_or(0, |(places, _)| places.len() as u64);
        let limit = self.trace.const_int(limit as i64);
        let next = self.closing(Inst::new(Op::IntAdd, &[counter, one]));
        if !self.counts_down() || self.rng.chance(20) {
            let goes_on = self.closing(Inst::new(Op::IntLt, &[next, limit]));
            self.leave_unless(goes_on);
        }
        if let Some(goes_on) = self.goes_down() {
            self.leave_unless(goes_on);
        }
        let label = LabelId(label);
        let mut args = vec![next];
        let names = self.trace.labels[label.index()].args.clone();
        let counted = self.counted_next();
        for &arg in &names[1..names.len() - counted.len()] {
            args.push(self.carried(arg));
        }
        args.extend(&counted);
        if self.rng.chance(40) {
            self.twist(&names, &mut args);
        }
        if let Some((places, next)) = rotation {
            places.windows(2).for_each(|pair| args[pair[0]] = names[pair[1]]);
            args[places[places.len() - 1]] = next;
        }
        if !counted.is_empty() && (self.counts_down() || self.rng.chance(85)) {
            args.splice(names.len() - counted.len().., counted);
        }
        self.trace.push(Inst::new(Op::Jump, &args).with(Payload::Label(label)), None);
    }

    /// The guard at the loop's end.
    fn leave_unless(&mut self, goes_on: Value) {
        let snap = self.snapshot();
        let guard = Inst::new(Op::GuardTrue, &[goes_on]).exit_kind(ExitKind::LoopEnd).at(Some(snap));
        self.trace.push(guard, None);
    }

    /// A pure instruction of the loop's end.
    pub(super) fn closing(&mut self, inst: Inst) -> Value {
        let value = self.trace.push(inst, Some(Type::Int)).expect("has a type");
        self.sync();
        self.add_var(value);
        value
    }

    /// What a label argument is in the next iteration.
    fn carried(&mut self, arg: Value) -> Value {
        let ty = self.trace.ty(arg);
        if self.rng.chance(25) || self.invariant.contains(&arg) {
            return arg;
        }
        let successor = self.successors.iter().rev().find(|(of, _)| *of == arg).map(|&(_, next)| next);
        if let Some(next) = successor.filter(|_| self.rng.chance(85)) {
            return next;
        }
        if ty == Type::Ref && self.rng.chance(85) {
            let class = self.class_of(arg).or(self.shadow_class(arg));
            let same: Vec<Value> = self
                .vars
                .iter()
                .filter(|var| var.class.is_some() && var.class == class)
                .map(|var| var.value)
                .collect();
            return if same.is_empty() { arg } else { *self.rng.pick(&same) };
        }
        self.operand(ty)
    }

    fn finish(&mut self) {
        let mut results = Vec::new();
        if self.schema.slot_cells().is_some() {
            for _ in 0..self.rng.below(3) {
                let _ = self.frame(Op::Load);
                results.extend(self.vars.last().map(|var| var.value));
            }
        }
        for _ in 0..self.rng.below(5) {
            let ty = *self.rng.pick(&Type::ALL);
            results.push(self.operand(ty));
        }
        let snap = self.rng.chance(70).then(|| self.snapshot());
        self.trace.push(Inst::new(Op::Finish, &results).at(snap), None);
    }
}

/// The operations of a trace that calls nobody, and goes one way.
fn alone() -> &'static [Op] {
    static OPS: LazyLock<Vec<Op>> = LazyLock::new(|| {
        let of_others = [Op::CallUnit, Op::UnitResult, Op::ReturnUnit, Op::JumpIf];
        Op::ALL.iter().copied().filter(|op| !of_others.contains(op)).collect()
    });
    &OPS
}
