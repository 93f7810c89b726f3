//! Record operations become loads, stores, compares and guards.
//!
//! Problem: the recorder says `get_item` without knowing whether the record will turn out virtual; the ones
//! that are real must become address arithmetic, and nobody below us would share that. Design: one function
//! per operation, written over the layout's parts. What it emits goes into the passes after this one, so a
//! repeated lookup is found there. Finding an entry by key has two forms: with the recorder's hint, compares
//! of the table's size and of the entry's key; without, a call of the layout's `find`.
//!
//! Invariant: every guard of an operation uses the operation's snapshot and is emitted before the operation's
//! first write, so that leaving the trace means that the host does the whole operation itself. Reference
//! stores into layouts with a barrier leave the trace exactly when both masks hit. Example, for a layout with
//! tagged items that begin at 1:
//!
//! ```text
//! i5 = get_item(p0, i1; table, int) =>
//!     i2 = int_sub(i1, 1)                i3 = load(p0; count)
//!     i4 = uint_lt(i2, i3)               guard_true(i4)
//!     a0 = load(p0; base)                a1 = item_addr(a0, i2; 16)
//!     i6 = load(a1; item.tag)            guard_value(i6, 3)
//!     i5 = load(a1; item.int)
//! ```

use tracelift_core::ops::Flags;
use tracelift_core::planted::{planted, Bug};
use tracelift_core::schema::{
    Barrier, CellId, Element, Field, FieldId, FuncId, Items, Keys, Layout, LayoutId, TagId,
};
use tracelift_core::{Hint, Inst, Op, Payload, Schema, Type, Value};

use crate::pass::{Cx, Ops, Outcome, Pass};
use crate::state::State;
use crate::OptError;

/// The pass.
pub(crate) struct Expand {
    keep_records: bool,
}

impl Expand {
    /// With `keep_records`, the pass only notes what record operations tell.
    pub fn new(keep_records: bool) -> Expand {
        Expand { keep_records }
    }
}

impl Pass for Expand {
    fn name(&self) -> &'static str {
        "expand"
    }

    fn rules(&self) -> Vec<&'static str> {
        Vec::new()
    }

    fn minds(&self) -> Ops {
        Ops::that(|op| !self.keep_records && op.is(Flags::RECORD))
    }

    fn feed(&mut self, cx: &mut Cx<'_, '_>, inst: &Inst) -> Result<Outcome, OptError> {
        match expand(cx, inst)? {
            Some(result) => Ok(Outcome::Equal(result)),
            None => Ok(Outcome::Drop),
        }
    }

    fn hears(&self) -> Ops {
        Ops::that(|op| self.keep_records && matches!(op, Op::GuardClass | Op::New))
    }

    fn committed(&mut self, st: &mut State<'_>, inst: &Inst) {
        // Only with `keep_records` are there such instructions; expansion learns the same when it emits.
        match (inst.op, inst.payload) {
            (Op::GuardClass, Payload::Layout(layout)) => {
                st.facts.learn_class(st.schema, inst.args[0], layout)
            }
            (Op::New, Payload::New { layout, .. }) => {
                if let Some(result) = inst.result {
                    st.facts.learn_class(st.schema, result, layout);
                }
            }
            _ => {}
        }
    }
}

fn expand(cx: &mut Cx<'_, '_>, inst: &Inst) -> Result<Option<Value>, OptError> {
    let mut ex = Expansion { cx, inst };
    let record = inst.args.first().copied();
    match (inst.op, inst.payload, record) {
        (Op::New, Payload::New { layout, items, keys }, _) => ex.new_record(layout, items, keys),
        (Op::GuardClass, Payload::Layout(layout), Some(record)) => ex.guard_class(layout, record),
        (Op::ItemCount, Payload::Layout(layout), Some(record)) => {
            let count = ex.items(layout)?.count;
            ex.load(record, count).map(Some)
        }
        (Op::Get, Payload::Field(field), Some(record)) => {
            let cell = ex.field(field).cell;
            ex.load(record, cell).map(Some)
        }
        (Op::Set, Payload::Field(field), Some(record)) => {
            let Field { layout, cell } = ex.field(field);
            ex.barrier(layout, record, inst.args[1])?;
            ex.store(record, cell, inst.args[1])
        }
        (Op::GetItem, Payload::Item { layout, tag }, Some(record)) => ex.get_item(layout, tag, record),
        (Op::SetItem, Payload::Item { layout, tag }, Some(record)) => {
            ex.write_item(layout, tag, record, true)
        }
        (Op::PutItem, Payload::Item { layout, tag }, Some(record)) => {
            ex.write_item(layout, tag, record, false)
        }
        (Op::GetKey, Payload::Key { layout, tag, hint }, Some(record)) => {
            ex.get_key(layout, tag, hint, record)
        }
        (Op::SetKey, Payload::Key { layout, tag, hint }, Some(record)) => {
            ex.set_key(layout, tag, hint, record)
        }
        (Op::InsertKey, Payload::Key { layout, tag, .. }, Some(record)) => ex.insert_key(layout, tag, record),
        (Op::GuardKeyAbsent, Payload::Key { layout, hint, .. }, Some(record)) => {
            ex.guard_key_absent(layout, hint, record)
        }
        _ => Err(OptError::Malformed("a record operation with a payload of another kind")),
    }
}

/// An operation being expanded.
struct Expansion<'e, 'c, 's> {
    cx: &'e mut Cx<'c, 's>,
    inst: &'e Inst,
}

/// Most steps have no value to hand on, and end an expansion without a result.
type Done = Result<Option<Value>, OptError>;

impl<'s> Expansion<'_, '_, 's> {
    fn schema(&self) -> &'s Schema {
        self.cx.st.schema
    }

    fn layout(&self, layout: LayoutId) -> &'s Layout {
        self.schema().layout(layout)
    }

    fn field(&self, field: FieldId) -> Field {
        self.schema().field(field)
    }

    fn lacks(&self, layout: LayoutId, what: &'static str) -> OptError {
        OptError::LayoutLacks { layout: self.layout(layout).name.clone(), what }
    }

    fn items(&self, layout: LayoutId) -> Result<Items, OptError> {
        self.layout(layout).items.ok_or_else(|| self.lacks(layout, "indexed part"))
    }

    fn keys(&self, layout: LayoutId) -> Result<Keys, OptError> {
        self.layout(layout).keys.ok_or_else(|| self.lacks(layout, "keyed part"))
    }

    fn part(&mut self, inst: Inst) -> Result<Value, OptError> {
        let result = self.cx.emit_part(inst)?;
        result.ok_or(OptError::Malformed("an instruction without result is used as a value"))
    }

    fn op(&mut self, op: Op, args: &[Value]) -> Result<Value, OptError> {
        self.part(Inst::new(op, args))
    }

    fn guard(&mut self, op: Op, args: &[Value]) -> Done {
        self.cx.guard(op, args, self.inst).map(|()| None)
    }

    fn load(&mut self, at: Value, cell: CellId) -> Result<Value, OptError> {
        self.part(Inst::new(Op::Load, &[at]).with(Payload::Cell(cell)))
    }

    fn store(&mut self, at: Value, cell: CellId, value: Value) -> Done {
        self.cx.emit(Inst::new(Op::Store, &[at, value]).with(Payload::Cell(cell)))?;
        Ok(None)
    }

    /// Calls a function of a layout: `(context, layout id, …)`. A `try_call` leaves where the operation does.
    fn call(&mut self, op: Op, func: FuncId, layout: LayoutId, args: &[Value]) -> Result<Value, OptError> {
        let context = self.cx.context()?;
        let id = self.cx.int(layout.0 as i64);
        let mut all = vec![context, id];
        all.extend_from_slice(args);
        self.call_with(op, func, &all)
    }

    fn call_with(&mut self, op: Op, func: FuncId, args: &[Value]) -> Result<Value, OptError> {
        let inst = Inst::new(op, args).with(Payload::Func(func));
        let snap = if op.is_guard() { self.inst.snap } else { None };
        self.part(inst.at(snap).exit_kind(self.inst.exit))
    }

    /// Loads a cell and leaves the trace unless it has these bits.
    fn guard_cell(&mut self, at: Value, cell: CellId, bits: u64) -> Done {
        let value = self.load(at, cell)?;
        let ty = self.schema().cell(cell).ty;
        let expected = self.cx.st.constant(ty, bits);
        self.guard(Op::GuardValue, &[value, expected])
    }

    fn new_record(&mut self, layout: LayoutId, items: u32, keys: u32) -> Done {
        let alloc = self.layout(layout).alloc.ok_or_else(|| self.lacks(layout, "allocator"))?;
        let mut args = vec![self.cx.context()?];
        if self.schema().is_made_in_frame(layout) {
            let base = self.cx.frame_base()?;
            let is_shifted = planted(Bug::ExpandFrameShifted);
            args.push(if is_shifted { self.cx.context()? } else { base });
        }
        args.extend([layout.0, items, keys].map(|number| self.cx.int(i64::from(number))));
        let object = self.call_with(Op::TryCall, alloc, &args)?;
        let schema = self.schema();
        self.cx.st.facts.learn_class(schema, object, layout);
        Ok(Some(object))
    }

    fn guard_class(&mut self, layout: LayoutId, record: Value) -> Done {
        let (cell, bits) = self.layout(layout).class_word.ok_or_else(|| self.lacks(layout, "class word"))?;
        self.guard_cell(record, cell, bits)?;
        let schema = self.schema();
        self.cx.st.facts.learn_class(schema, record, layout);
        Ok(None)
    }

    /// Tells the collector of this store if it wants to know: both masks hit. Where the host has no function
    /// for that the trace is left.
    fn barrier(&mut self, layout: LayoutId, record: Value, stored: Value) -> Done {
        let Some(barrier) = self.layout(layout).barrier else { return Ok(None) };
        let st = &self.cx.st;
        // What an object is filled with that was just made needs no barrier: see `Layout::alloc`.
        if st.is_lifting() || st.out.ty(stored) != Type::Ref || st.bits(stored) == Some(0) {
            return Ok(None);
        }
        let is_virtual = st.facts.statics.has(stored);
        let nonnull = st.out.constant_of(stored).is_some() || st.facts.nonnull.get(stored).is_some();
        let object_mask = self.cx.int(barrier.object_mask);
        let value_mask = self.cx.int(barrier.value_mask);
        let object_word = self.load(record, barrier.object)?;
        let object_bits = self.op(Op::IntAnd, &[object_word, object_mask])?;
        if is_virtual {
            // It is new when it is made, which a barrier always minds.
            let zero = self.cx.int(0);
            let hit = self.op(Op::IntNe, &[object_bits, zero])?;
            return self.mind(&barrier, record, hit);
        }
        let value_bits = if nonnull {
            let value_word = self.load(stored, barrier.value)?;
            self.op(Op::IntAnd, &[value_word, value_mask])?
        } else {
            // A null has no cell to read: the record's own is read instead and then ignored.
            let zero = self.cx.int(0);
            let is_null = self.op(Op::RefIsNull, &[stored])?;
            let readable = self.op(Op::Select, &[is_null, record, stored])?;
            let value_word = self.load(readable, barrier.value)?;
            let mask = self.op(Op::Select, &[is_null, zero, value_mask])?;
            self.op(Op::IntAnd, &[value_word, mask])?
        };
        let zero = self.cx.int(0);
        let object_hit = self.op(Op::IntNe, &[object_bits, zero])?;
        let value_hit = self.op(Op::IntNe, &[value_bits, zero])?;
        let hit = self.op(Op::IntAnd, &[object_hit, value_hit])?;
        self.mind(&barrier, record, hit)
    }

    /// Both masks hit if `hit` is not 0.
    fn mind(&mut self, barrier: &Barrier, record: Value, hit: Value) -> Done {
        let Some(mend) = barrier.mend else { return self.guard(Op::GuardFalse, &[hit]) };
        if self.cx.st.bits(hit) != Some(0) && !planted(Bug::ExpandMendUnasked) {
            self.cx.emit(Inst::new(Op::Mend, &[hit, record]).with(Payload::Func(mend)))?;
        }
        Ok(None)
    }

    /// Guards the bounds; the address of the item.
    fn item_address(&mut self, items: &Items, record: Value) -> Result<Value, OptError> {
        let first = self.cx.int(items.first);
        let index = self.op(Op::IntSub, &[self.inst.args[1], first])?;
        if !planted(Bug::ExpandNoBoundsCheck) {
            let count = self.load(record, items.count)?;
            let inside = self.op(Op::UintLt, &[index, count])?;
            self.guard(Op::GuardTrue, &[inside])?;
        }
        let base = self.load(record, items.base)?;
        let scale = Payload::Scale { stride: items.element.stride, offset: 0 };
        self.part(Inst::new(Op::ItemAddr, &[base, index]).with(scale))
    }

    fn get_item(&mut self, layout: LayoutId, tag: Option<TagId>, record: Value) -> Done {
        let items = self.items(layout)?;
        let address = self.item_address(&items, record)?;
        self.read_element(&items.element, tag, address)
    }

    fn write_item(&mut self, layout: LayoutId, tag: Option<TagId>, record: Value, present: bool) -> Done {
        let items = self.items(layout)?;
        let value = self.inst.args.get(2).copied();
        let address = self.item_address(&items, record)?;
        if present {
            self.guard_present(&items.element, address)?;
        }
        if let Some(value) = value {
            self.barrier(layout, record, value)?;
        }
        self.write_element(&items.element, tag, address, value)
    }

    /// Guards the tag; loads the payload that it announces.
    fn read_element(&mut self, element: &Element, tag: Option<TagId>, at: Value) -> Done {
        if let (Some(cell), Some(tag)) = (element.tag, tag) {
            let bits = self.schema().tag(tag).bits;
            if !planted(Bug::ExpandNoTagCheck) {
                self.guard_cell(at, cell, bits)?;
            }
        }
        match self.schema().element_type(element, tag) {
            Some(ty) => self.load(at, element.value[ty as usize]).map(Some),
            None => Ok(None),
        }
    }

    /// Leaves the trace when the element holds the absent tag.
    fn guard_present(&mut self, element: &Element, at: Value) -> Done {
        let (Some(cell), Some(absent)) = (element.tag, element.absent) else { return Ok(None) };
        let bits = self.schema().tag(absent).bits;
        let absent = self.cx.int(bits as i64);
        let old = self.load(at, cell)?;
        let is_absent = self.op(Op::IntEq, &[old, absent])?;
        self.guard(Op::GuardFalse, &[is_absent])
    }

    fn write_element(
        &mut self,
        element: &Element,
        tag: Option<TagId>,
        at: Value,
        value: Option<Value>,
    ) -> Done {
        if let Some(value) = value {
            let ty = self.cx.st.out.ty(value);
            self.store(at, element.value[ty as usize], value)?;
        }
        if let (Some(cell), Some(tag)) = (element.tag, tag) {
            let bits = self.schema().tag(tag).bits;
            let bits = self.cx.int(bits as i64);
            self.store(at, cell, bits)?;
        }
        Ok(None)
    }

    /// The address of the entry with the operation's key; leaves the trace when there is none (or, with a
    /// hint, when it lies elsewhere).
    fn entry(
        &mut self,
        layout: LayoutId,
        hint: Option<Hint>,
        record: Value,
    ) -> Result<(Keys, Value), OptError> {
        let keys = self.keys(layout)?;
        let key = self.inst.args[1];
        let Some(hint) = hint else {
            let entry = self.call(Op::Call, keys.find, layout, &[record, key])?;
            self.guard(Op::GuardNonnull, &[entry])?;
            return Ok((keys, entry));
        };
        let entry = self.entry_at(&keys, hint, record)?;
        if let Some((cell, bits)) = keys.key_tag {
            self.guard_cell(entry, cell, bits)?;
        }
        let there = self.load(entry, keys.key)?;
        self.guard(Op::GuardValue, &[there, key])?;
        Ok((keys, entry))
    }

    /// The address of the entry at the place that a hint names, under a guard that the record has that size.
    fn entry_at(&mut self, keys: &Keys, hint: Hint, record: Value) -> Result<Value, OptError> {
        self.guard_cell(record, keys.size, u64::from(hint.size))?;
        let base = self.load(record, keys.base)?;
        let offset = self.cx.int(i64::from(hint.entry) * i64::from(keys.element.stride));
        self.op(Op::AddrAdd, &[base, offset])
    }

    /// With a hint each entry is looked at that a search would come to. Where fewer follow than it says, the
    /// last one is looked at again.
    fn guard_key_absent(&mut self, layout: LayoutId, hint: Option<Hint>, record: Value) -> Done {
        let keys = self.keys(layout)?;
        let key = self.inst.args[1];
        let (Some(hint), Some(next)) = (hint, keys.next) else {
            let entry = self.call(Op::Call, keys.find, layout, &[record, key])?;
            return self.guard(Op::GuardNull, &[entry]);
        };
        let mut entry = self.entry_at(&keys, hint, record)?;
        self.guard_other_key(&keys, entry, key)?;
        for _ in 0..hint.followed {
            let distance = self.load(entry, next)?;
            let scale = Payload::Scale { stride: keys.element.stride, offset: 0 };
            entry = self.part(Inst::new(Op::ItemAddr, &[entry, distance]).with(scale))?;
            self.guard_other_key(&keys, entry, key)?;
        }
        let distance = self.load(entry, next)?;
        self.guard(Op::GuardFalse, &[distance])
    }

    fn guard_other_key(&mut self, keys: &Keys, entry: Value, key: Value) -> Done {
        let there = self.load(entry, keys.key)?;
        let is_there = self.op(Op::RefEq, &[there, key])?;
        self.guard(Op::GuardFalse, &[is_there])
    }

    fn get_key(&mut self, layout: LayoutId, tag: Option<TagId>, hint: Option<Hint>, record: Value) -> Done {
        let (keys, entry) = self.entry(layout, hint, record)?;
        if tag.is_some() && tag == keys.element.absent {
            // An entry that holds the absent tag is no entry.
            self.guard(Op::GuardAlwaysFails, &[])?;
        }
        self.read_element(&keys.element, tag, entry)
    }

    fn set_key(&mut self, layout: LayoutId, tag: Option<TagId>, hint: Option<Hint>, record: Value) -> Done {
        let value = self.inst.args.get(2).copied();
        let (keys, entry) = self.entry(layout, hint, record)?;
        if hint.is_some() {
            // `find` answers null for an absent entry already.
            self.guard_present(&keys.element, entry)?;
        }
        if let Some(value) = value {
            self.barrier(layout, record, value)?;
        }
        self.write_element(&keys.element, tag, entry, value)
    }

    fn insert_key(&mut self, layout: LayoutId, tag: Option<TagId>, record: Value) -> Done {
        let keys = self.keys(layout)?;
        let insert = keys.insert.ok_or_else(|| self.lacks(layout, "insert function"))?;
        let (key, value) = (self.inst.args[1], self.inst.args.get(2).copied());
        if let Some(value) = value {
            self.barrier(layout, record, value)?;
        }
        let entry = self.call(Op::TryCall, insert, layout, &[record, key])?;
        self.write_element(&keys.element, tag, entry, value)
    }
}
