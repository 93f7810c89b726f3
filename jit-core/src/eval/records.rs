//! Operations on records, answered from the layout's descriptors.
//!
//! Problem: a recorded trace speaks of fields, items and keys, and its meaning must not depend on how the
//! optimizer expands these. Design: each op follows its line in the op table, with the cells of the layout.
//! Invariant: an op that leaves the trace has changed nothing; barriers are tested before the first write.
//!
//! Example: `set_item(p0, 3, i1; Table:int)` leaves the trace if `p0` has two items, or if item 3 is nil.

use super::step::{load, store};
use super::{call, Fault};
use crate::ir::{Inst, Payload};
use crate::ops::Op;
use crate::schema::{Element, FuncId, Keys, Layout, LayoutId, Schema, TagId};
use crate::types::{Bits, Type};
use crate::world::World;

/// What a record operation gives.
pub(super) enum Answer {
    /// It cannot go on: the trace is left at its snapshot.
    Leave,
    /// It is done, with this result.
    Done(Option<Bits>),
}

const DONE: Answer = Answer::Done(None);

/// Executes a record operation.
pub(super) fn record(
    schema: &Schema,
    world: &mut World,
    inst: &Inst,
    args: &[Bits],
) -> Result<Answer, Fault> {
    let wrong = Fault::Malformed("a record operation with another one's payload");
    match (inst.op, inst.payload) {
        (Op::New, Payload::New { layout, items, keys }) => {
            let alloc = schema.layout(layout).alloc.ok_or(Fault::Malformed("a layout without `alloc`"))?;
            let mut args = vec![world.context(), layout.0 as u64, items as u64, keys as u64];
            if schema.is_made_in_frame(layout) {
                args.insert(1, world.frame_base());
            }
            let made = call::call(schema, world, schema.func(alloc), &args)?.unwrap_or(0);
            Ok(if made == 0 { Answer::Leave } else { Answer::Done(Some(made)) })
        }
        (Op::GuardClass, Payload::Layout(layout)) => {
            let word = schema.layout(layout).class_word;
            let (cell, value) = word.ok_or(Fault::Malformed("a layout without a class word"))?;
            let class = load(world, args[0], schema.cell(cell))?;
            Ok(if class == value { DONE } else { Answer::Leave })
        }
        (Op::Get, Payload::Field(field)) => {
            Ok(Answer::Done(Some(load(world, args[0], schema.field_cell(field))?)))
        }
        (Op::Set, Payload::Field(field)) => {
            let cell = schema.field_cell(field);
            let bits = *args.get(1).ok_or(Fault::Malformed("set without a value"))?;
            let layout = schema.layout(schema.field(field).layout);
            if !may_store(schema, world, layout, args[0], Some(cell.ty), bits)? {
                return Ok(Answer::Leave);
            }
            store(world, args[0], cell, bits)?;
            Ok(DONE)
        }
        (Op::ItemCount, Payload::Layout(layout)) => {
            let part = schema.layout(layout).items.as_ref();
            let part = part.ok_or(Fault::Malformed("a layout without items"))?;
            Ok(Answer::Done(Some(load(world, args[0], schema.cell(part.count))?)))
        }
        (Op::GetItem | Op::SetItem | Op::PutItem, Payload::Item { layout, tag }) => {
            item(schema, world, inst.op, layout, tag, args)
        }
        (Op::GetKey | Op::GuardKeyAbsent | Op::SetKey | Op::InsertKey, Payload::Key { layout, tag, .. }) => {
            let part = schema.layout(layout).keys.as_ref();
            let part = *part.ok_or(Fault::Malformed("a layout without keys"))?;
            keyed(schema, world, inst.op, layout, &part, tag, args)
        }
        _ => Err(wrong),
    }
}

/// Whether `bits` of type `ty` may be stored into `record`, once the host's function has done what its
/// barrier asks for. Without such a function they may not.
fn may_store(
    schema: &Schema,
    world: &mut World,
    layout: &Layout,
    record: Bits,
    ty: Option<Type>,
    bits: Bits,
) -> Result<bool, Fault> {
    if !barrier_hits(schema, world, layout, record, ty, bits)? {
        return Ok(true);
    }
    let Some(mend) = layout.barrier.and_then(|barrier| barrier.mend) else { return Ok(false) };
    let args = [world.context(), record];
    call::call(schema, world, schema.func(mend), &args)?;
    Ok(true)
}

/// Whether storing `bits` of type `ty` into `record` needs the host's barrier.
fn barrier_hits(
    schema: &Schema,
    world: &World,
    layout: &Layout,
    record: Bits,
    ty: Option<Type>,
    bits: Bits,
) -> Result<bool, Fault> {
    let Some(barrier) = layout.barrier else { return Ok(false) };
    if ty != Some(Type::Ref) || bits == 0 {
        return Ok(false);
    }
    if load(world, record, schema.cell(barrier.object))? & barrier.object_mask as u64 == 0 {
        return Ok(false);
    }
    Ok(load(world, bits, schema.cell(barrier.value))? & barrier.value_mask as u64 != 0)
}

/// The address of an item, if the index is inside the bounds.
pub(super) fn item_place(
    schema: &Schema,
    world: &World,
    layout: LayoutId,
    record: Bits,
    index: Bits,
) -> Result<Option<Bits>, Fault> {
    let part = schema.layout(layout).items.as_ref();
    let part = part.ok_or(Fault::Malformed("a layout without items"))?;
    let index = index.wrapping_sub(part.first as u64);
    if index >= load(world, record, schema.cell(part.count))? {
        return Ok(None);
    }
    let base = load(world, record, schema.cell(part.base))?;
    Ok(Some(base.wrapping_add(index.wrapping_mul(part.element.stride as u64))))
}

fn item(
    schema: &Schema,
    world: &mut World,
    op: Op,
    id: LayoutId,
    tag: Option<TagId>,
    args: &[Bits],
) -> Result<Answer, Fault> {
    let layout = schema.layout(id);
    let part = layout.items.as_ref().ok_or(Fault::Malformed("a layout without items"))?;
    let Some(place) = item_place(schema, world, id, args[0], args[1])? else { return Ok(Answer::Leave) };
    if op == Op::GetItem {
        return read(schema, world, &part.element, tag, place);
    }
    if op == Op::SetItem && is_absent(schema, world, &part.element, place)? {
        return Ok(Answer::Leave);
    }
    let bits = args.get(2).copied();
    let ty = schema.element_type(&part.element, tag);
    if !may_store(schema, world, layout, args[0], ty, bits.unwrap_or(0))? {
        return Ok(Answer::Leave);
    }
    write(schema, world, &part.element, tag, place, bits)?;
    Ok(DONE)
}

fn keyed(
    schema: &Schema,
    world: &mut World,
    op: Op,
    id: LayoutId,
    part: &Keys,
    tag: Option<TagId>,
    args: &[Bits],
) -> Result<Answer, Fault> {
    let [record, key, ..] = *args else { return Err(Fault::Malformed("a keyed operation without a key")) };
    // A record that is none would make `find` read foreign memory: `call` checks it.
    let find = |world: &mut World, func: FuncId| -> Result<Bits, Fault> {
        let args = [world.context(), id.0 as u64, record, key];
        Ok(call::call(schema, world, schema.func(func), &args)?.unwrap_or(0))
    };
    if record == 0 {
        return Err(Fault::Wild { address: 0, width: 8 });
    }
    let entry = find(world, part.find)?;
    let bits = args.get(2).copied();
    match op {
        Op::GetKey if entry == 0 => return Ok(Answer::Leave),
        Op::GetKey => return read(schema, world, &part.element, tag, entry),
        Op::GuardKeyAbsent => return Ok(if entry == 0 { DONE } else { Answer::Leave }),
        Op::SetKey if entry == 0 => return Ok(Answer::Leave),
        _ => {}
    }
    let ty = schema.element_type(&part.element, tag);
    if !may_store(schema, world, schema.layout(id), record, ty, bits.unwrap_or(0))? {
        return Ok(Answer::Leave);
    }
    let entry = match (op, part.insert) {
        (Op::InsertKey, Some(insert)) => find(world, insert)?,
        (Op::InsertKey, None) => return Err(Fault::Malformed("a layout without `insert`")),
        _ => entry,
    };
    if entry == 0 {
        return Ok(Answer::Leave);
    }
    write(schema, world, &part.element, tag, entry, bits)?;
    Ok(DONE)
}

fn read(
    schema: &Schema,
    world: &World,
    element: &Element,
    tag: Option<TagId>,
    place: Bits,
) -> Result<Answer, Fault> {
    if let (Some(cell), Some(tag)) = (element.tag, tag) {
        if load(world, place, schema.cell(cell))? != schema.tag(tag).bits {
            return Ok(Answer::Leave);
        }
    }
    let ty = schema.element_type(element, tag);
    let bits = ty.map(|ty| load(world, place, schema.cell(element.value[ty as usize]))).transpose()?;
    Ok(Answer::Done(bits))
}

fn is_absent(schema: &Schema, world: &World, element: &Element, place: Bits) -> Result<bool, Fault> {
    let Some((cell, absent)) = element.tag.zip(element.absent) else { return Ok(false) };
    Ok(load(world, place, schema.cell(cell))? == schema.tag(absent).bits)
}

/// Writes an element's payload and tag.
pub(super) fn write(
    schema: &Schema,
    world: &mut World,
    element: &Element,
    tag: Option<TagId>,
    place: Bits,
    bits: Option<Bits>,
) -> Result<(), Fault> {
    if let Some(ty) = schema.element_type(element, tag) {
        let bits = bits.ok_or(Fault::Malformed("an element without a value"))?;
        store(world, place, schema.cell(element.value[ty as usize]), bits)?;
    }
    if let (Some(cell), Some(tag)) = (element.tag, tag) {
        store(world, place, schema.cell(cell), schema.tag(tag).bits)?;
    }
    Ok(())
}
