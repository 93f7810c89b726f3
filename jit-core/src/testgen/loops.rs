//! What goes round a loop: records that are taken apart and made anew, invariants and what kills them, and
//! label arguments that change places.
//!
//! Problem: the second copy of a peeled loop is right when every argument of its label is passed rightly on
//! both ways, and when nothing outlives what made it true; arguments that go round in their own places show
//! little. Design: an argument may get a *successor*, a fresh record of its class made from its parts, so
//! that later iterations take apart what earlier ones made; of others something invariant is read, and
//! sometimes killed further on; and at the jump arguments are exchanged, rotated, doubled, or replaced by
//! constants. Records that this iteration made take the last of several places, through which all go, one in
//! each iteration. Invariant: the counter stays the first argument, and types fit.
//!
//! Example: `i4 = get(p1, intval)`, `i5 = int_add(i4, 1)`, `p6 = new(BoxedInteger)`, `set(p6, intval, i5)`,
//! `jump(L0, i9, p2, p6)`.

use super::{spec, Generator, Made, Refused, Rng};
use crate::ir::{Const, Inst, Payload, Value};
use crate::ops::Op;
use crate::schema::LayoutId;
use crate::types::Type;

impl Generator {
    /// A reference that came in with the label.
    fn reference(&mut self) -> Made<Value> {
        let label = self.trace.labels.last().map(|label| label.args.clone()).unwrap_or_default();
        let refs: Vec<Value> = label.into_iter().filter(|&arg| self.trace.ty(arg) == Type::Ref).collect();
        match refs.is_empty() {
            true => Err(Refused),
            false => Ok(*self.rng.pick(&refs)),
        }
    }

    /// Tests the classes of what came in, as a loop over objects does first.
    pub(super) fn classes_first(&mut self) {
        for _ in 0..3 {
            if let Ok(arg) = self.reference() {
                if let Some(layout) = self.shadow_class(arg) {
                    let _ = self.prove_class(arg, layout);
                }
            }
        }
    }

    /// A fresh record made from the parts of one that came in; it takes its place in the next iteration.
    pub(super) fn successor(&mut self) -> Made {
        let arg = self.reference()?;
        let layout = self.shadow_class(arg).ok_or(Refused)?;
        if self.schema.layout(layout).name == "Buffer" {
            return Err(Refused);
        }
        self.prove_class(arg, layout)?;
        self.sync();
        let at = self.shadow(arg).ok_or(Refused)?;
        let room =
            |g: &Generator, cell| g.shadow.load_cell(at, g.schema.cell(cell)).unwrap_or(0).min(6) as u32;
        let declared = self.schema.layout(layout).clone();
        let mut items = declared.items.map_or(0, |part| room(self, part.count));
        let mut keys = declared.keys.map_or(0, |part| room(self, part.size));
        if self.rng.one_in(6) {
            items += declared.items.is_some() as u32;
            keys += declared.keys.is_some() as u32;
        }
        let next = self.empty(layout, items, keys)?;
        self.successors.push((arg, next));
        for &field in &declared.fields[1..] {
            if !self.schema.field_cell(field).immutable && self.rng.chance(75) {
                let old = self.value(Inst::new(Op::Get, &[arg]).with(Payload::Field(field)))?;
                let new = self.changed(old, next);
                self.set_field_to(next, field, new)?;
            }
        }
        if declared.items.is_some() {
            self.copy_items(arg, next, layout, items)?;
        }
        if declared.keys.is_some() {
            self.copy_entries(arg, next, layout)?;
        }
        Ok(())
    }

    /// What takes a part's place: itself, another number, or a fresh object.
    fn changed(&mut self, old: Value, next: Value) -> Value {
        let ty = self.trace.ty(old);
        let made = match (ty, self.rng.below(6)) {
            (_, 0..=1) => Ok(old),
            (Type::Int, _) => {
                let step = self.rng.range(1, 3) as i64;
                let step = self.trace.const_int(step);
                self.op(Op::IntAdd, &[old, step])
            }
            (Type::Float, _) => {
                let half = self.trace.const_float(0.5);
                self.op(Op::FloatAdd, &[old, half])
            }
            (Type::Ref, 2) => Ok(next),
            (Type::Ref, 3) => self.node(),
            (Type::Ref, 4) => self.reference(),
            _ => Ok(old),
        };
        made.unwrap_or(old)
    }

    /// Reads the items that there are and puts them into another record.
    fn copy_items(&mut self, from: Value, to: Value, layout: LayoutId, count: u32) -> Made {
        let part = self.schema.layout(layout).items.ok_or(Refused)?;
        for index in 0..count.min(3) {
            let at = self.shadow(from).ok_or(Refused)?;
            let base = self.shadow.load_cell(at, self.schema.cell(part.base)).ok_or(Refused)?;
            let Ok(tag) = self.tag_at(&part.element, base + index as u64 * part.element.stride as u64) else {
                continue;
            };
            let index = self.trace.const_int(part.first + index as i64);
            let item = Payload::Item { layout, tag };
            let old = self.emit(Inst::new(Op::GetItem, &[from, index]).with(item))?;
            let new = old.map(|old| {
                self.add_var(old);
                self.changed(old, to)
            });
            let mut args = vec![to, index];
            args.extend(new);
            self.emit(Inst::new(Op::PutItem, &args).with(item))?;
        }
        Ok(())
    }

    /// Reads the entries that there are and inserts them into another table, sometimes in another order.
    fn copy_entries(&mut self, from: Value, to: Value, layout: LayoutId) -> Made {
        let part = self.schema.layout(layout).keys.ok_or(Refused)?;
        let mut numbers: Vec<u32> = (0..spec::KEYS).collect();
        if self.rng.one_in(4) {
            numbers.reverse();
        }
        for number in numbers {
            let key = self.trace.constant(Type::Ref, Const::Object(number));
            self.sync();
            let (at, bits) = (self.shadow(from).ok_or(Refused)?, self.shadow(key).ok_or(Refused)?);
            let Some(entry) = self.shadow.find_entry(layout, at, bits) else { continue };
            let tag = self.tag_at(&part.element, entry)?;
            let keyed = Payload::Key { layout, tag, hint: None };
            let old = self.emit(Inst::new(Op::GetKey, &[from, key]).with(keyed))?;
            let new = old.map(|old| {
                self.add_var(old);
                self.changed(old, to)
            });
            let mut args = vec![to, key];
            args.extend(new);
            self.emit(Inst::new(Op::GuardKeyAbsent, &[to, key]).with(keyed))?;
            self.emit(Inst::new(Op::InsertKey, &args).with(keyed))?;
        }
        Ok(())
    }

    /// Something that is the same in every iteration, unless what comes after changes it.
    pub(super) fn invariant(&mut self) -> Made {
        let arg = self.reference()?;
        let layout = self.shadow_class(arg).ok_or(Refused)?;
        self.prove_class(arg, layout)?;
        if !self.invariant.contains(&arg) {
            self.invariant.push(arg);
        }
        let seen = self.read_part(arg)?;
        match (seen, self.rng.below(6)) {
            (Some(seen), 0) if self.trace.ty(seen) == Type::Int => {
                let now = self.shadow(seen).ok_or(Refused)?;
                let now = self.trace.const_int(now as i64);
                self.emit(Inst::new(Op::GuardValue, &[seen, now]))?;
            }
            (Some(seen), 1 | 2) if self.trace.ty(seen) == Type::Int => {
                let limit = self.constant(Type::Int);
                let less = self.op(Op::IntLt, &[seen, limit])?;
                self.guard_as_now(less)?;
            }
            (Some(seen), 3) if self.trace.ty(seen) == Type::Float => {
                let int = self.constant(Type::Int);
                self.call_with(Op::Call, "test.mix", &[int, seen])?;
            }
            (Some(seen), _) if self.trace.ty(seen) == Type::Ref && self.rng.chance(50) => {
                if let Some(class) = self.shadow_class(seen) {
                    self.prove_class(seen, class)?;
                    self.read_part(seen)?;
                }
            }
            _ => {}
        }
        if self.rng.chance(35) {
            // It may change after all, by a store that hits it or one that only might, or by a call.
            match self.rng.below(4) {
                0 => self.write_part(arg, None)?,
                1 => {
                    let other = self.old_one(layout)?;
                    self.write_part(other, None)?;
                }
                2 => {
                    let fresh = self.fresh_one()?;
                    self.write_part(arg, Some(fresh))?;
                }
                _ => self.call()?,
            }
        }
        Ok(())
    }

    /// Lets the jump's arguments change places, the counter left out; `args[n]` goes to the label's argument
    /// `n`.
    pub(super) fn twist(&mut self, label: &[Value], args: &mut [Value]) {
        let refs_first = self.about_objects && self.rng.chance(70);
        let ty = if refs_first { Type::Ref } else { *self.rng.pick(&[Type::Int, Type::Float, Type::Ref]) };
        let places: Vec<usize> = (1..args.len()).filter(|&n| self.trace.ty(args[n]) == ty).collect();
        if places.is_empty() {
            return;
        }
        let (one, other) = (*self.rng.pick(&places), *self.rng.pick(&places));
        match self.rng.below(8) {
            0 => args.swap(one, other),
            1 | 2 => {
                // Each gets what came in at the next place.
                let first = label[places[0]];
                for pair in places.windows(2) {
                    args[pair[0]] = label[pair[1]];
                }
                args[places[places.len() - 1]] = first;
            }
            3 => args[one] = args[other],
            4 => {
                args[one] = label[other];
                args[other] = label[other];
            }
            5 => args[one] = label[other],
            6 => {
                // The same object in two places, where two were before.
                let fresh: Vec<Value> =
                    self.vars.iter().filter(|var| var.fresh).map(|var| var.value).collect();
                if ty == Type::Ref && !fresh.is_empty() {
                    args[one] = *self.rng.pick(&fresh);
                    args[other] = args[one];
                }
            }
            _ => {
                let constant = self.constant(ty);
                args[one] = constant;
            }
        }
    }

    /// Places through which records of one class go, and one of this iteration's that takes the last. It asks
    /// random numbers of its own.
    pub(super) fn rotation(&mut self, seed: u64) -> Option<(Vec<usize>, Value)> {
        let mut rng = Rng::new(seed ^ 0x0107_a7e5);
        if !self.about_objects || !rng.chance(60) {
            return None;
        }
        self.sync();
        let fresh: Vec<Value> = self.vars.iter().filter(|var| var.fresh).map(|var| var.value).collect();
        let label = self.trace.labels.last()?.args.clone();
        let of_label = self.successors.iter().filter(|(of, _)| label.contains(of));
        let successors: Vec<Value> = of_label.map(|&(_, next)| next).collect();
        let next = match successors.is_empty() || rng.chance(20) {
            true if fresh.is_empty() => return None,
            true => *rng.pick(&fresh),
            false => *rng.pick(&successors),
        };
        let class = self.shadow_class(next)?;
        let refs = (1..label.len()).filter(|&place| self.trace.ty(label[place]) == Type::Ref);
        let refs: Vec<usize> = refs.collect();
        let mut places: Vec<usize> =
            refs.into_iter().filter(|&place| self.shadow_class(label[place]) == Some(class)).collect();
        if rng.chance(30) {
            places.reverse();
        }
        places.truncate(rng.range(2, 5) as usize);
        (places.len() > 1).then_some((places, next))
    }
}
