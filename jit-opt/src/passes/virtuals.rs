//! Objects that nobody else sees are not made (seed 002, Figures 5 and 6).
//!
//! Problem: boxes, tuples, small tables and frames live for a few operations, and making one costs more than
//! all its uses. Design: the pass comes first. It answers `new` with a name and keeps the object on the
//! static heap; record operations on such an object are answered from there. Any other use *lifts* it: the
//! object is really made at that place, with `new` and with a write for every part that was set, which then
//! go through the passes after this one like recorded operations. What the object holds is lifted with it,
//! so lifting walks a graph, which can be deep or cyclic: it keeps a stack of its own, and an object leaves
//! the static heap before its parts are looked at.
//!
//! Leaving while lifting: `new` and the writes are guards. They all leave to the *resume point*, a snapshot
//! that was mapped before lifting began, where the objects are still virtual: what was written into new
//! objects since then is dropped with them. The resume point is the last snapshot that no committed effect
//! has followed. Where there is none, the recorded `new` is noted and the trace is optimized again with that
//! object real from the start.
//!
//! Invariant: a write barrier says the same as for the real object: while virtual no barrier is tested, so an
//! object whose barrier cell was written is lifted before the next reference is stored into it. Example:
//!
//! ```text
//! p5 = new(BoxedInteger)          =>
//! set(p5, intval, i4)             =>
//! i6 = get(p5, intval)            => i4
//! jump(L0, p5)                    => p5 = new(BoxedInteger); set(p5, intval, i4); jump(L0, p5)
//! ```

mod chosen;
mod delay;

use rustc_hash::FxHashMap as HashMap;

use tracelift_core::ir::key_room;
use tracelift_core::ops::Flags;
use tracelift_core::planted::{planted, Bug};
use tracelift_core::schema::{Cell, CellId, FieldId, Items, LayoutId, Schema, TagId};
use tracelift_core::{Const, Inst, Op, Payload, Type, Value};

use crate::pass::{Cx, Outcome, Pass};
use crate::state::State;
use crate::statics::{Element, Object};
use crate::{Config, OptError, PassName};
use chosen::Chosen;
pub(crate) use delay::make_those;

/// An item beyond this index makes its object real: exits rebuild virtual objects from room set aside
/// beforehand.
const MAX_ROOM: u32 = 1 << 12;

/// The pass.
pub(crate) struct Virtuals {
    /// Whether stores of virtual objects wait.
    delay: bool,
    /// Whether objects of a layout can be virtual.
    layouts: HashMap<LayoutId, bool>,
    /// What items at indexes that vary have cost.
    chosen: Chosen,
}

impl Pass for Virtuals {
    fn name(&self) -> &'static str {
        "virtuals"
    }

    fn makes_objects(&self) -> bool {
        true
    }

    fn rules(&self) -> Vec<&'static str> {
        vec![
            "virtual_new",
            "virtual_get",
            "virtual_set",
            "virtual_guard",
            "virtual_test",
            "virtual_get_chosen",
            "virtual_set_chosen",
            "lift",
            "delay_store",
            "delayed_read",
            "delayed_overwritten",
            "delayed_kept",
        ]
    }

    fn feed(&mut self, cx: &mut Cx<'_, '_>, inst: &Inst) -> Result<Outcome, OptError> {
        if let (Op::New, Payload::New { layout, items, keys }) = (inst.op, inst.payload) {
            let outcome = self.make(cx.st, layout, items, keys);
            if let Outcome::Keep = outcome {
                cx.st.map_resume_point()?;
                delay::make_touched(cx, inst)?;
            }
            return Ok(outcome);
        }
        if inst.op == Op::CallUnit {
            cx.st.map_resume_point()?;
            return make_found(cx, inst);
        }
        let is_virtual = inst.args.iter().any(|&arg| cx.st.facts.statics.has(arg));
        if !is_virtual && cx.st.facts.delayed.is_empty() {
            return Ok(Outcome::Keep);
        }
        if inst.op.is(Flags::WRITES) || !cx.st.facts.delayed.is_empty() {
            cx.st.map_resume_point()?;
        }
        if let Some(outcome) = if is_virtual { self.answer(cx, inst)? } else { None } {
            return Ok(outcome);
        }
        if let Some(outcome) = delay::feed(cx, inst, self.delay)? {
            return Ok(outcome);
        }
        let mut real = inst.clone();
        for arg in &mut real.args {
            *arg = lift(cx, *arg)?;
        }
        delay::make_touched(cx, &real)?;
        Ok(if is_virtual { Outcome::Replace(real) } else { Outcome::Keep })
    }

    fn next_walk(&mut self, _: &State<'_>) {
        self.chosen = Chosen::default();
    }
}

impl Virtuals {
    /// The pass, for objects of all layouts but those that must be real. In the papers' mode nothing waits:
    /// record operations that are kept cannot show it.
    pub fn new(config: &Config) -> Virtuals {
        let delay = config.is_on(PassName::DelayStore) && !config.keep_records;
        let layouts = config.real_layouts.iter().map(|&layout| (layout, false)).collect();
        Virtuals { delay, layouts, chosen: Chosen::default() }
    }

    fn make(&mut self, st: &mut State<'_>, layout: LayoutId, items: u32, keys: u32) -> Outcome {
        let schema = st.schema;
        let possible = *self.layouts.entry(layout).or_insert_with(|| can_be_virtual(schema, layout));
        let is_small = items <= MAX_ROOM && key_room(keys) <= MAX_ROOM;
        if !possible || !is_small || st.is_real() || !st.fire("virtual_new") {
            return Outcome::Keep;
        }
        let name = st.out.new_value(Type::Ref);
        let object = Object {
            layout,
            fields: Vec::new(),
            item_room: items,
            items: Default::default(),
            key_room: keys,
            entries: Vec::new(),
            made_at: st.current(),
        };
        st.facts.statics.add(name, object);
        st.facts.version += 1;
        Outcome::Equal(name)
    }

    /// Answers an operation that mentions a virtual object; `None`: it must be lifted.
    fn answer(&mut self, cx: &mut Cx<'_, '_>, inst: &Inst) -> Result<Option<Outcome>, OptError> {
        if let Some(outcome) = test(cx, inst) {
            return Ok(Some(outcome));
        }
        let name = inst.args[0];
        let Some(object) = cx.st.facts.statics.get(name) else { return Ok(None) };
        let layout = object.layout;
        let schema = cx.st.schema;
        match (inst.op, inst.payload) {
            (Op::GuardClass, Payload::Layout(wanted)) if wanted == layout => {
                Ok(dropped(cx.st, "virtual_guard"))
            }
            (Op::Get, Payload::Field(field)) if schema.field(field).layout == layout => get(cx, name, field),
            (Op::Set, Payload::Field(field)) if schema.field(field).layout == layout => {
                Ok(set(cx.st, name, field, inst.args[1]))
            }
            (Op::ItemCount, Payload::Layout(wanted)) if wanted == layout => {
                let count = cx.st.constant(Type::Int, object.item_room as u64);
                Ok(equal(cx.st, "virtual_get", count))
            }
            (Op::GetItem | Op::SetItem | Op::PutItem, Payload::Item { layout: wanted, tag })
                if wanted == layout =>
            {
                match cx.st.out.int_of(inst.args[1]) {
                    Some(index) => Ok(item(cx.st, inst, index, tag)),
                    None => self.chosen.item(cx, inst, tag),
                }
            }
            (
                Op::GetKey | Op::SetKey | Op::InsertKey | Op::GuardKeyAbsent,
                Payload::Key { layout: wanted, tag, .. },
            ) if wanted == layout => Ok(keyed(cx.st, inst, tag)),
            _ => Ok(None),
        }
    }
}

/// Makes what the unit that is called can find, and what its callers say of their frames if it is left. That
/// state has neither virtual objects nor stores that wait: so many callers could have such, one in the other,
/// that nobody could hold the memory to make them.
fn make_found(cx: &mut Cx<'_, '_>, call: &Inst) -> Result<Outcome, OptError> {
    let snapshot = call.snap.and_then(|snap| cx.st.source.snapshots.get(snap.index()));
    let mut mentioned = Vec::new();
    snapshot.into_iter().for_each(|snapshot| snapshot.for_each_value(|value| mentioned.push(value)));
    if planted(Bug::UnitVirtualKept) {
        mentioned.clear();
    }
    for value in mentioned {
        let value = cx.st.mapped(value)?;
        lift(cx, value)?;
    }
    let mut real = call.clone();
    // An argument that was mentioned, too, has another name by now.
    for arg in &mut real.args {
        *arg = lift(cx, *arg)?;
    }
    if !planted(Bug::UnitStorePending) {
        delay::make_all(cx)?;
    }
    Ok(if real.args == call.args { Outcome::Keep } else { Outcome::Replace(real) })
}

fn bytes(cell: &Cell) -> std::ops::Range<i64> {
    cell.offset as i64..cell.offset as i64 + cell.width as i64
}

fn overlap(a: &Cell, b: &Cell) -> bool {
    bytes(a).start < bytes(b).end && bytes(b).start < bytes(a).end
}

/// Whether what an object of this layout holds can be told without making it: it can be made later, and its
/// fields share no memory with one another or with what the allocator writes. Fields of the same bytes are
/// views of one place, of which the object holds the one that was set last.
pub fn can_be_virtual(schema: &Schema, layout: LayoutId) -> bool {
    let declared = schema.layout(layout);
    let can_insert = declared.keys.is_none_or(|keys| keys.insert.is_some());
    let mut cells: Vec<CellId> = declared.fields.iter().map(|&field| schema.field(field).cell).collect();
    let plain = cells.iter().all(|&cell| !schema.cell(cell).volatile);
    cells.sort_by_key(|&cell| (bytes(schema.cell(cell)).start, bytes(schema.cell(cell)).end));
    cells.dedup_by_key(|cell| bytes(schema.cell(*cell)));
    cells.extend(declared.class_word.map(|(cell, _)| cell));
    cells.extend(declared.items.iter().flat_map(|part| [part.count, part.base]));
    cells.extend(declared.keys.iter().flat_map(|part| [part.size, part.base]));
    let mut ranges: Vec<_> = cells.iter().map(|&cell| bytes(schema.cell(cell))).collect();
    ranges.sort_by_key(|range| range.start);
    let apart = ranges.windows(2).all(|pair| pair[0].end <= pair[1].start);
    let plain = plain && cells.iter().all(|&cell| !schema.cell(cell).volatile);
    declared.alloc.is_some() && can_insert && apart && plain
}

fn dropped(st: &mut State<'_>, rule: &'static str) -> Option<Outcome> {
    st.fire(rule).then_some(Outcome::Drop)
}

fn equal(st: &mut State<'_>, rule: &'static str, value: Value) -> Option<Outcome> {
    st.fire(rule).then_some(Outcome::Equal(value))
}

/// Tests of identity: a virtual object is itself, not null, and no other object.
fn test(cx: &mut Cx<'_, '_>, inst: &Inst) -> Option<Outcome> {
    let outcome = match inst.op {
        Op::RefEq if planted(Bug::VirtualIdentityByClass) => {
            let layout = |name| cx.st.facts.statics.get(name).map(|object| object.layout);
            (layout(inst.args[0]) == layout(inst.args[1])) as i64
        }
        Op::RefEq => (inst.args[0] == inst.args[1]) as i64,
        Op::RefNe => (inst.args[0] != inst.args[1]) as i64,
        Op::RefIsNull => 0,
        Op::GuardNonnull => return dropped(cx.st, "virtual_guard"),
        _ => return None,
    };
    let outcome = cx.int(outcome);
    equal(cx.st, "virtual_test", outcome)
}

/// What a part that was never set holds: the allocator makes it 0.
fn null(st: &mut State<'_>, ty: Type) -> Value {
    st.constant(ty, 0)
}

fn get(cx: &mut Cx<'_, '_>, name: Value, field: FieldId) -> Result<Option<Outcome>, OptError> {
    let cell = cx.st.schema.field_cell(field);
    let object = cx.st.facts.statics.get(name);
    let value = object.and_then(|object| object.fields.iter().find(|(set, _)| *set == field));
    let value = value.map(|&(_, value)| cx.st.resolve(value));
    let is_other = |&(set, _): &(FieldId, Value)| overlap(cx.st.schema.field_cell(set), cell);
    let is_seen_otherwise =
        value.is_none() && object.is_some_and(|object| object.fields.iter().any(is_other));
    if is_seen_otherwise || !cx.st.fire("virtual_get") {
        return Ok(None);
    }
    let value = match value {
        None if planted(Bug::VirtualUnsetRead) && cell.ty == Type::Ref => name,
        None => null(cx.st, cell.ty),
        Some(value) if cell.width < 8 => narrowed(cx, value, cell)?,
        Some(value) => value,
    };
    Ok(Some(Outcome::Equal(value)))
}

/// What is read back after a value went through a narrow cell.
fn narrowed(cx: &mut Cx<'_, '_>, value: Value, cell: &Cell) -> Result<Value, OptError> {
    let bits = cell.width as i64 * 8;
    if !cell.signed {
        let mask = cx.int((1 << bits) - 1);
        return cx.emit_value(Inst::new(Op::IntAnd, &[value, mask]));
    }
    let shift = cx.int(64 - bits);
    let high = cx.emit_value(Inst::new(Op::IntShl, &[value, shift]))?;
    cx.emit_value(Inst::new(Op::IntSar, &[high, shift]))
}

/// Whether the next reference stored into the object must be looked at by its write barrier: a cell that the
/// barrier tests was written.
fn barrier_was_set(schema: &Schema, object: &Object) -> bool {
    let Some(barrier) = schema.layout(object.layout).barrier else { return false };
    let tested = schema.cell(barrier.object);
    object.fields.iter().any(|&(field, _)| overlap(schema.field_cell(field), tested))
}

/// Whether this value may be stored into the object without its becoming real.
fn may_hold(st: &State<'_>, name: Value, value: Option<Value>) -> bool {
    let is_ref = value.is_some_and(|value| st.out.ty(value) == Type::Ref && st.bits(value) != Some(0));
    !is_ref
        || planted(Bug::VirtualBarrierIgnored)
        || !st.facts.statics.get(name).is_some_and(|object| barrier_was_set(st.schema, object))
}

fn set(st: &mut State<'_>, name: Value, field: FieldId, value: Value) -> Option<Outcome> {
    if !may_hold(st, name, Some(value)) || !st.fire("virtual_set") {
        return None;
    }
    st.facts.version += 1;
    let (schema, cell) = (st.schema, st.schema.field_cell(field));
    let object = st.facts.statics.get_mut(name)?;
    object.fields.retain(|&(set, _)| set == field || !overlap(schema.field_cell(set), cell));
    match object.fields.iter_mut().find(|(set, _)| *set == field) {
        Some(_) if planted(Bug::VirtualSetForgotten) => {}
        Some(place) => place.1 = value,
        None => object.fields.push((field, value)),
    }
    Some(Outcome::Drop)
}

/// Reads an element with the tag that the operation wants; `None`: the guard on the tag would fail.
fn read(st: &mut State<'_>, element: Element, tag: Option<TagId>) -> Option<Outcome> {
    if element.0 != tag {
        return None;
    }
    match element.1 {
        Some(value) => {
            let value = st.resolve(value);
            equal(st, "virtual_get", value)
        }
        None => dropped(st, "virtual_guard"),
    }
}

/// What an item holds, which may never have been set; `None` if nobody can say.
fn held(st: &mut State<'_>, name: Value, part: &Items, index: u32) -> Option<Element> {
    let absent = part.element.tag.and(part.element.absent);
    match (st.facts.statics.get(name)?.items.get(&index), part.element.tag, absent) {
        (Some(&element), ..) => Some(element),
        (None, None, _) => Some((None, Some(null(st, part.element.untagged)))),
        (None, Some(_), Some(absent)) if st.schema.tag(absent).payload.is_none() => {
            Some((Some(absent), None))
        }
        _ => None,
    }
}

/// An item at this index.
fn item(st: &mut State<'_>, inst: &Inst, index: i64, tag: Option<TagId>) -> Option<Outcome> {
    let name = inst.args[0];
    let object = st.facts.statics.get(name)?;
    let part = st.schema.layout(object.layout).items.as_ref()?;
    let index = index.wrapping_sub(part.first);
    let index = u32::try_from(index).ok().filter(|&index| index < object.item_room)?;
    if inst.op == Op::GetItem {
        let element = held(st, name, part, index)?;
        return read(st, element, tag);
    }
    let absent = part.element.tag.and(part.element.absent);
    let is_absent = match object.items.get(&index) {
        _ if planted(Bug::VirtualAbsentIgnored) => false,
        Some((tag, _)) => absent.is_some() && *tag == absent,
        None => absent.is_some(),
    };
    let value = inst.args.get(2).copied();
    if (inst.op == Op::SetItem && is_absent) || !may_hold(st, name, value) || !st.fire("virtual_set") {
        return None;
    }
    st.facts.version += 1;
    st.facts.statics.get_mut(name)?.items.insert(index, (tag, value));
    Some(Outcome::Drop)
}

/// Whether two constant keys are the same object; `None` when they cannot be compared yet.
fn same_key(st: &State<'_>, a: Value, b: Value) -> Option<bool> {
    st.out.constant_of(a)?.is_same(st.out.constant_of(b)?)
}

fn keyed(st: &mut State<'_>, inst: &Inst, tag: Option<TagId>) -> Option<Outcome> {
    let (name, key) = (inst.args[0], inst.args[1]);
    st.out.constant_of(key).filter(|&key| key != Const::Bits(0))?;
    let object = st.facts.statics.get(name)?;
    let part = st.schema.layout(object.layout).keys?;
    let mut found = None;
    for (index, &(other, element)) in object.entries.iter().enumerate() {
        if same_key(st, key, other)? {
            found = Some((index, element));
        }
    }
    // Deleting from a virtual record makes it real, so no entry holds the absent tag.
    let absent = part.element.tag.and(part.element.absent);
    let deletes = absent.is_some() && tag == absent;
    let has_room = object.entries.len() < key_room(object.key_room) as usize;
    let value = inst.args.get(2).copied();
    match (inst.op, found) {
        (Op::GuardKeyAbsent, None) => return dropped(st, "virtual_guard"),
        (Op::GetKey, Some((_, element))) => return read(st, element, tag),
        (Op::SetKey, Some(_)) | (Op::InsertKey, None) if deletes || !may_hold(st, name, value) => {
            return None
        }
        (Op::SetKey, Some(_)) => {}
        (Op::InsertKey, None) if has_room => {}
        _ => return None,
    }
    if !st.fire("virtual_set") {
        return None;
    }
    st.facts.version += 1;
    let object = st.facts.statics.get_mut(name)?;
    match found {
        Some((index, _)) => object.entries[index].1 = (tag, value),
        None => object.entries.push((key, (tag, value))),
    }
    Some(Outcome::Drop)
}

/// An object that was made, and what is still to be written into it (the next write last).
struct Lifting {
    writes: Vec<Inst>,
}

/// Makes the object of that name, and all that it holds, real; the real object. Any other value is itself.
pub(crate) fn lift(cx: &mut Cx<'_, '_>, value: Value) -> Result<Value, OptError> {
    let name = cx.st.resolve(value);
    if !cx.st.facts.statics.has(name) {
        return Ok(name);
    }
    let outer = cx.st.set_lifting(true);
    let kept = if planted(Bug::LiftTwice) { cx.st.facts.statics.get(name).cloned() } else { None };
    let mut stack = vec![begin(cx, name)?];
    while let Some(top) = stack.last_mut() {
        let Some(write) = top.writes.last() else {
            stack.pop();
            continue;
        };
        let held = write.args.get(if write.op == Op::Set { 1 } else { 2 }).copied();
        let held = held.map(|held| cx.st.resolve(held)).filter(|&held| cx.st.facts.statics.has(held));
        if let Some(held) = held {
            let next = begin(cx, held)?;
            stack.push(next);
        } else if let Some(write) = top.writes.pop() {
            cx.emit(write)?;
        }
    }
    cx.st.set_lifting(outer);
    let real = cx.st.resolve(name);
    if let Some(object) = kept {
        cx.st.facts.statics.add(name, object);
        cx.st.facts.lifted.set(name, name);
    }
    Ok(real)
}

/// Emits the object's `new` and takes it off the static heap.
fn begin(cx: &mut Cx<'_, '_>, name: Value) -> Result<Lifting, OptError> {
    let st = &mut *cx.st;
    st.map_resume_point()?;
    let object = st.facts.statics.take(name);
    let object = object.ok_or(OptError::Malformed("a virtual object that is none"))?;
    st.facts.version += 1;
    let _ = st.fire("lift");
    let snap = st.lifting_snapshot(object.made_at)?;
    let forgets = planted(Bug::LiftSiteForgotten) && st.schema.is_made_in_frame(object.layout);
    let items = if forgets { 0 } else { object.item_room };
    let payload = Payload::New { layout: object.layout, items, keys: object.key_room };
    let real = cx.emit_value(Inst::new(Op::New, &[]).with(payload).at(snap))?;
    cx.st.facts.lifted.set(name, real);
    cx.st.take_name(name, real);
    let mut writes = writes(cx, &object, real);
    writes.iter_mut().for_each(|write| write.snap = snap);
    writes.reverse();
    Ok(Lifting { writes })
}

/// The operations that give a new object what it holds. Cells that its barrier tests come last, so that the
/// other writes find them as the trace's own did.
fn writes(cx: &mut Cx<'_, '_>, object: &Object, real: Value) -> Vec<Inst> {
    let schema = cx.st.schema;
    let declared = schema.layout(object.layout);
    let tested = declared.barrier.map(|barrier| schema.cell(barrier.object));
    let is_tested = |field: FieldId| tested.is_some_and(|tested| overlap(schema.field_cell(field), tested));
    let field =
        |&(field, value): &(FieldId, Value)| Inst::new(Op::Set, &[real, value]).with(Payload::Field(field));
    let mut writes: Vec<Inst> = object.fields.iter().filter(|(f, _)| !is_tested(*f)).map(field).collect();
    for (&index, &(tag, value)) in &object.items {
        let first = declared.items.map_or(0, |part| part.first);
        let mut args = vec![real, cx.int(first + index as i64)];
        args.extend(value);
        writes.push(Inst::new(Op::PutItem, &args).with(Payload::Item { layout: object.layout, tag }));
    }
    for &(key, (tag, value)) in &object.entries {
        let mut args = vec![real, key];
        args.extend(value);
        let payload = Payload::Key { layout: object.layout, tag, hint: None };
        writes.push(Inst::new(Op::InsertKey, &args).with(payload));
    }
    writes.extend(object.fields.iter().filter(|(f, _)| is_tested(*f)).map(field));
    writes
}
