//! Loops that count down or up to a limit, with an index that goes through a range.
//!
//! Problem: a bounds check leaves a loop only if something puts it there, and only where the index leaves its
//! range in the very iteration that the loop would have been left in anyway, or one more, does a guard that
//! is too weak by one show. Design: five integers more go round. `left` counts down to 0; `index` is changed
//! by a constant, or by a stride that goes round; `n` and `m` are bounds, of which one may take the other's
//! place in each iteration; `limit` is what `index` is compared with at the loop's head, a bound of later
//! iterations, or the stride. The bound is chosen first (the items of a table, a narrow field, an argument, a
//! constant), then an index so near to it that a few steps lead to its edge, then how many iterations there
//! are: so many that the last access is just within the bound, or one beyond. Everything is now and then done
//! otherwise: other steps, bounds that change, counters that nobody tests, values at the ends of the
//! integers. Invariant: a loop that may go round more than [`MAX_ROUNDS`] times keeps the guard on the
//! counter that counts up.
//!
//! Example, with 2 in `i2`, 1 in `i3` and 4 items in the table: `i9 = int_add(i3, 1)`,
//! `get_item(@t0, i9, Table:int)`, `guard_true(i2) loop_end`, `i10 = int_sub(i2, 1)`, `i11 = int_add(i3, 1)`,
//! `jump(L0, i1, i10, i11)`.

use super::{numbers, spec, Generator, Made, Refused};
use crate::ir::{Const, Inst, Payload, Value};
use crate::ops::Op;
use crate::schema::{FieldId, LayoutId};
use crate::types::Type;
use crate::world_spec::SpecValue;

/// So often a counter that counts down lets its loop go round.
const MAX_ROUNDS: i64 = 12;

/// What an index is compared with.
#[derive(Clone, Copy)]
enum Bound {
    /// The number of items of this object.
    Items(u32, LayoutId),
    /// A narrow unsigned field of this object.
    Field(u32, FieldId),
    /// The argument `n`.
    Argument,
    Constant(i64),
}

/// Five integers that go round, and how.
pub(super) struct Counted {
    bound: Bound,
    step: i64,
    /// How far from the index the accesses lie.
    plus: i64,
    /// Whether the loop is left when `left` is 0.
    is_left_tested: bool,
    /// Whether the limit is one that `index` must be less than, and not more than it may be.
    is_limit_open: bool,
    has_limit: bool,
    /// Whether `m` is the next iteration's `n`.
    shifts: bool,
    /// Whether `limit` is what `index` changes by.
    is_strided: bool,
    /// What `left`, `index`, `n`, `m` and `limit` are at first.
    at_first: [i64; 5],
    /// The values of these names, once there are such.
    args: Vec<Value>,
}

impl Generator {
    /// Chooses all that a counted loop goes by; the inputs that it has.
    pub(super) fn plan_counted(&mut self) -> Vec<SpecValue> {
        let (bound, n) = self.plan_bound();
        let step: i64 =
            *self.rng.pick(&[1, 1, 1, 1, 1, 2, 2, 4, -1, -1, -1, -2, -4, 3, 3, -3, 5, 8, 1 << 31]);
        let plus = *self.rng.pick(&[0, 0, 0, 1, -1, 2, -2, 5]);
        // The first access, a few steps and a bit from the edge.
        let size = step.unsigned_abs() as i64;
        let way = (self.rng.below(7) as i64 * size).saturating_add(self.rng.below(size.min(8) as u64) as i64);
        let last = n.saturating_sub(1);
        let first = if step > 0 { last - way.min(last.max(0)) } else { way.min(last) };
        let room = if step > 0 { (last - first) / size } else { first.max(0) / size };
        let beyond = *self.rng.pick(&[0, 0, 0, 1, 1, 1, 2, -1]);
        let rounds = (room + beyond).clamp(0, MAX_ROUNDS);
        let index = first.wrapping_sub(plus);
        let has_limit = step > 0 && self.rng.chance(45) || self.rng.one_in(10);
        let is_limit_open = self.rng.chance(50);
        let limit = index.wrapping_add(step.wrapping_mul(rounds)).wrapping_add(is_limit_open as i64);
        let limit = limit.wrapping_add(*self.rng.pick(&[0, 0, 0, 1, step - 1, -1]));
        let m = n.wrapping_add(*self.rng.pick(&[0, 0, 1, -1, 2]));
        let mut at_first = [rounds, index, n, m, limit];
        if self.rng.one_in(8) {
            at_first[self.rng.below(5) as usize] = numbers::random_int(&mut self.rng);
        }
        let shifts = matches!(bound, Bound::Argument) && self.rng.chance(60);
        if shifts {
            // It will be the bound of a later iteration, and too small for the next one.
            let soon = first.wrapping_add(size.wrapping_mul(self.rng.range(1, 3) as i64));
            at_first[4] = soon.wrapping_add(self.rng.below(size.min(2) as u64 + 1) as i64);
        }
        let has_limit = has_limit && !shifts;
        let is_strided = !has_limit && !shifts && self.rng.chance(40);
        if is_strided {
            // Some of these wrap around to 0, or to a small number, when they are taken a few times.
            let wraps = [1 << 61, 1 << 62, i64::MIN, -1, 0, (1 << 62) + step];
            at_first[4] = if self.rng.one_in(3) { *self.rng.pick(&wraps) } else { step };
        }
        let is_left_tested = self.rng.chance(if has_limit { 30 } else { 90 });
        let args = Vec::new();
        self.counted = Some(Counted {
            bound,
            step,
            plus,
            is_left_tested,
            is_limit_open,
            has_limit,
            shifts,
            is_strided,
            at_first,
            args,
        });
        at_first.iter().map(|&int| SpecValue::Bits(int as u64)).collect()
    }

    /// A bound, and what it is at first.
    fn plan_bound(&mut self) -> (Bound, i64) {
        let name = if self.rng.chance(60) { "Table" } else { "Narrow" };
        let layout = self.layout(name);
        let number = *self.rng.pick(&spec::objects_of(&self.spec, layout));
        let object = &self.spec.objects[number as usize];
        if self.rng.chance(60) {
            if self.schema.layout(layout).items.is_some() {
                return (Bound::Items(number, layout), object.items.len() as i64);
            }
            let is_unsigned = |&(field, _): &(FieldId, SpecValue)| {
                let cell = self.schema.field_cell(field);
                ["u8", "u16", "u32"].contains(&&*cell.name)
            };
            let fields: Vec<_> = object.fields.iter().copied().filter(is_unsigned).collect();
            let (field, value) = *self.rng.pick(&fields);
            let now = if let SpecValue::Bits(bits) = value { bits as i64 } else { 0 };
            return (Bound::Field(number, field), now);
        }
        let n = match self.rng.below(8) {
            0 => i64::MAX - self.rng.below(3) as i64,
            1 => numbers::random_int(&mut self.rng),
            2 => u32::MAX as i64 + self.rng.below(3) as i64,
            _ => self.rng.range(1, 12) as i64,
        };
        (if self.rng.chance(70) { Bound::Argument } else { Bound::Constant(n) }, n)
    }

    /// Names the five integers.
    pub(super) fn name_counted(&mut self, args: &[Value]) {
        if let Some(counted) = &mut self.counted {
            counted.args = args[args.len() - counted.at_first.len()..].to_vec();
        }
    }

    /// Whether a loop is a counted one that ends without the guard on the counter that counts up.
    pub(super) fn counts_down(&self) -> bool {
        let rounds = 0..=MAX_ROUNDS;
        self.counted.as_ref().is_some_and(|it| it.is_left_tested && rounds.contains(&it.at_first[0]))
    }

    fn counted(&self) -> Made<&Counted> {
        self.counted.as_ref().ok_or(Refused)
    }

    /// What a counted loop begins with: its limit, and an access or two.
    pub(super) fn counted_head(&mut self) -> Made {
        let it = self.counted()?;
        let (index, limit) = (it.args[1], it.args[4]);
        if it.has_limit {
            let (op, swapped) =
                if it.is_limit_open { (Op::IntLt, Op::IntGt) } else { (Op::IntLe, Op::IntGe) };
            let is_in = match self.rng.chance(70) {
                true => self.op(op, &[index, limit])?,
                false => self.op(swapped, &[limit, index])?,
            };
            self.guard_as_now(is_in)?;
        }
        let it = self.counted()?;
        let (shifts, plus, bounds) = (it.shifts, it.plus, [it.args[2], it.args[3]]);
        if shifts && self.rng.chance(80) {
            let by = self.trace.const_int(plus);
            let index = if plus == 0 { index } else { self.op(Op::IntAdd, &[index, by])? };
            for bound in bounds {
                self.signed_pair(index, bound)?;
            }
        }
        for _ in 0..self.rng.range(1, 3) {
            self.counted_access()?;
        }
        Ok(())
    }

    /// Something with an index and its bound.
    pub(super) fn counted_access(&mut self) -> Made {
        let it = self.counted()?;
        let (bound, index, plus) = (it.bound, it.args[1], it.plus);
        match (self.rng.below(20), bound) {
            (0..=6, Bound::Items(number, layout)) => self.counted_item(number, layout),
            (17, _) => self.change_bound(),
            (18, _) => self.like_hoisted(),
            (kind, _) => {
                let guarded = [0, 0, 0, 0, -1, -1, 1, -3, 1 << 31, -(1 << 31), i64::MIN];
                let seen = [0, 1, -1, -1, -2, -2, -3, -3, -4, -6, -8];
                let near = *self.rng.pick(if kind < 14 { &guarded } else { &seen });
                let plus = plus.wrapping_add(near);
                let by = self.trace.const_int(plus);
                let index = if plus == 0 { index } else { self.op(Op::IntAdd, &[index, by])? };
                let bound = self.bound_value()?;
                match kind {
                    0..=9 => {
                        let inside = match self.rng.chance(70) {
                            true => self.op(Op::UintLt, &[index, bound])?,
                            false => self.op(Op::UintGt, &[bound, index])?,
                        };
                        self.guard_as_now(inside)
                    }
                    10..=13 => self.signed_pair(index, bound),
                    // Nothing leaves here: the value itself must be right.
                    _ => {
                        let op = *self.rng.pick(&[Op::UintLt, Op::UintLt, Op::IntLt, Op::UintGe]);
                        self.op(op, &[index, bound]).map(|_| ())
                    }
                }
            }
        }
    }

    /// Tests both ends by signed compares.
    fn signed_pair(&mut self, index: Value, bound: Value) -> Made {
        let zero = self.trace.const_int(0);
        let minus = self.trace.const_int(-1);
        let low = match self.rng.below(4) {
            0 => self.op(Op::IntGe, &[index, zero])?,
            1 => self.op(Op::IntGt, &[index, minus])?,
            _ => self.op(Op::IntLt, &[index, zero])?,
        };
        let is_low_first = self.rng.chance(70);
        if is_low_first {
            self.guard_as_now(low)?;
        }
        let high = match self.rng.below(4) {
            0 => self.op(Op::IntLt, &[index, bound])?,
            1 => self.op(Op::IntGt, &[bound, index])?,
            _ => self.op(Op::IntGe, &[index, bound])?,
        };
        self.guard_as_now(high)?;
        match is_low_first {
            true => Ok(()),
            false => self.guard_as_now(low),
        }
    }

    /// Reads an item.
    fn counted_item(&mut self, number: u32, layout: LayoutId) -> Made {
        let it = self.counted()?;
        let (index, plus) = (it.args[1], it.plus);
        let part = self.schema.layout(layout).items.ok_or(Refused)?;
        let by = self.trace.const_int(plus + part.first);
        let index = self.op(Op::IntAdd, &[index, by])?;
        let record = self.trace.constant(Type::Ref, Const::Object(number));
        self.sync();
        let shadow = self.shadow(record).ok_or(Refused)?;
        let load = |g: &Generator, cell| g.shadow.load_cell(shadow, g.schema.cell(cell)).ok_or(Refused);
        let (count, base) = (load(self, part.count)?, load(self, part.base)?);
        let offset = self.shadow(index).ok_or(Refused)?.wrapping_sub(part.first as u64);
        if offset >= count {
            return Err(Refused);
        }
        let tag = self.tag_at(&part.element, base + offset * part.element.stride as u64)?;
        let item = Payload::Item { layout, tag };
        let value = self.emit(Inst::new(Op::GetItem, &[record, index]).with(item))?;
        value.into_iter().for_each(|value| self.add_var(value));
        Ok(())
    }

    /// The bound as a value of the trace.
    fn bound_value(&mut self) -> Made<Value> {
        let it = self.counted()?;
        let args = [it.args[2], it.args[3]];
        match it.bound {
            Bound::Items(number, layout) => {
                let part = self.schema.layout(layout).items.ok_or(Refused)?;
                let record = self.trace.constant(Type::Ref, Const::Object(number));
                self.load(record, part.count)
            }
            Bound::Field(number, field) => {
                let record = self.trace.constant(Type::Ref, Const::Object(number));
                self.value(Inst::new(Op::Get, &[record]).with(Payload::Field(field)))
            }
            Bound::Argument if it.shifts => Ok(*self.rng.pick(&args)),
            Bound::Argument => Ok(args[0]),
            Bound::Constant(int) => Ok(self.trace.const_int(int)),
        }
    }

    /// A store to where the bound is read from. Fewer items than there are: what is read lies in the array.
    fn change_bound(&mut self) -> Made {
        match self.counted()?.bound {
            Bound::Items(number, layout) => {
                let part = self.schema.layout(layout).items.ok_or(Refused)?;
                let record = self.trace.constant(Type::Ref, Const::Object(number));
                self.sync();
                let at = self.shadow(record).ok_or(Refused)?;
                let count = self.shadow.load_cell(at, self.schema.cell(part.count)).ok_or(Refused)?;
                let fewer = self.trace.const_int(count.saturating_sub(self.rng.below(3)) as i64);
                self.store(record, part.count, fewer)
            }
            Bound::Field(number, field) => {
                let record = self.trace.constant(Type::Ref, Const::Object(number));
                let value = self.operand(Type::Int);
                self.set_field_to(record, field, value)
            }
            _ => Err(Refused),
        }
    }

    /// A compare that an optimizer may ask of itself before the loop: it must not be taken for known because
    /// of that.
    fn like_hoisted(&mut self) -> Made {
        let it = self.counted()?;
        let (left, index, limit, plus, step) = (it.args[0], it.args[1], it.args[4], it.plus, it.step);
        let is_limited = it.has_limit;
        let by = self.trace.const_int(plus);
        let place = if plus == 0 { index } else { self.op(Op::IntAdd, &[index, by])? };
        let mut room = place;
        if step > 0 {
            let bound = self.bound_value()?;
            let one = self.trace.const_int(1);
            room = self.op(Op::IntSub, &[bound, place])?;
            room = self.op(Op::IntSub, &[room, one])?;
        }
        let way = if is_limited { self.op(Op::IntSub, &[limit, index])? } else { left };
        self.op(Op::UintLe, &[way, room]).map(|_| ())
    }

    /// The end of a counted loop: what takes the places of the five integers, in order.
    pub(super) fn counted_next(&mut self) -> Vec<Value> {
        let Some(it) = &self.counted else { return Vec::new() };
        let (step, shifts, is_strided, args) = (it.step, it.shifts, it.is_strided, it.args.clone());
        let [left, index, n, m, limit] = args[..] else { return args };
        let is_safe = self.counts_down();
        let by = |g: &mut Generator, value, by: i64| {
            let (op, by) = if g.rng.chance(60) { (Op::IntAdd, by) } else { (Op::IntSub, -by) };
            let by = g.trace.const_int(by);
            g.closing(Inst::new(op, &[value, by]))
        };
        let down = if !is_safe && self.rng.one_in(5) { -2 } else { -1 };
        let mut next = vec![by(self, left, down), by(self, index, step), n, m, limit];
        if is_strided {
            let both = if self.rng.chance(50) { [index, limit] } else { [limit, index] };
            next[1] = self.closing(Inst::new(Op::IntAdd, &both));
        }
        if self.rng.one_in(20) {
            next[1] = by(self, next[1], 1);
        }
        if shifts {
            next[2] = m;
            (next[3], next[4]) = match self.rng.below(6) {
                0 => (by(self, m, -1), limit),
                1 => (n, limit),
                2 => (m, limit),
                3 => (limit, m),
                _ => (limit, n),
            };
        }
        for argument in next.iter_mut().take(5).skip(2) {
            if self.rng.one_in(12) {
                *argument = self.operand(Type::Int);
            }
        }
        next
    }

    /// Whether the loop goes on, as the counter that counts down says it.
    pub(super) fn goes_down(&mut self) -> Option<Value> {
        let it = self.counted.as_ref().filter(|it| it.is_left_tested)?;
        let left = it.args[0];
        if self.rng.chance(50) {
            return Some(left);
        }
        let zero = self.trace.const_int(0);
        Some(self.closing(Inst::new(Op::IntNe, &[left, zero])))
    }
}
