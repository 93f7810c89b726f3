//! Fields that hold a value with its tag, as slots and items do: one call for both.
//!
//! Problem: such a field is a payload that may be of each type, and a tag beside it; a host that writes them
//! one after the other must know which of the two may leave the trace. Design: four views of the payload and
//! the tag are fields of the layout ([`tracelift_core`] knows that views of one place are one place), and the
//! calls here record what reads or writes both. Reading looks at the tag first. Writing begins with the
//! payload, whose barrier may leave the trace; the tag is a number and never does. Invariant: nothing is
//! written before what may leave.
//!
//! ```text
//! tl_set_tagged(list.head, int, p0, i1):  set(p0, head.int, i1)   set(p0, head.tag, 1)
//! ```

use tracelift_core::schema::{CellId, Field, FieldId, LayoutId, TagId};
use tracelift_core::{ExitKind, Op, Payload, Schema, Type};

use super::describe::{add_field, describe};
use super::record::{emit, recording, to_c};
use super::{cell_id, layout_id, not_null, slice, tag_id, TlVm};
use crate::recorder::Recorder;

/// A field with a tag.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tagged {
    value: [FieldId; 4],
    tag: FieldId,
}

/// Whether these cells are views of one payload.
fn views(schema: &Schema, cells: &[CellId]) -> Result<(), String> {
    let first = schema.cell(cells[0]);
    for (ty, &cell) in Type::ALL.iter().zip(cells) {
        let cell = schema.cell(cell);
        if cell.ty != *ty || cell.width != 8 {
            return Err(format!("{} is no view of 8 bytes as {ty}", cell.name));
        }
        if (cell.offset, cell.class) != (first.offset, first.class) {
            return Err(format!("{} and {} are not one payload", first.name, cell.name));
        }
    }
    Ok(())
}

/// See `tracelift.h`.
///
/// # Safety
/// `value` points to four cells.
#[no_mangle]
pub unsafe extern "C" fn tl_add_tagged_field(vm: *mut TlVm, layout: u32, value: *const u32, tag: u32) -> u32 {
    let mut declared = None;
    let number = describe(vm, "tl_add_tagged_field", 0, |schema, description| {
        not_null(value, "the cells of the payload")?;
        // SAFETY: promised by the caller.
        let numbers = unsafe { slice(value, Type::ALL.len()) };
        let layout: LayoutId = layout_id(schema, layout)?;
        let cells: Vec<CellId> =
            numbers.iter().map(|&number| cell_id(schema, number)).collect::<Result<_, _>>()?;
        views(schema, &cells)?;
        let tag = cell_id(schema, tag)?;
        if schema.cell(tag).ty != Type::Int {
            return Err(format!("{} is no integer, and no tag", schema.cell(tag).name));
        }
        let mut fields = [FieldId::default(); 4];
        for (field, &cell) in fields.iter_mut().zip(&cells) {
            *field = add_field(schema, description, Field { layout, cell })?;
        }
        let tag = add_field(schema, description, Field { layout, cell: tag })?;
        declared = Some(Tagged { value: fields, tag });
        Ok(1)
    });
    let Some(declared) = declared.filter(|_| number == 1) else { return 0 };
    super::enter(vm, 0, |handle| {
        handle.tagged.push(declared);
        Ok(handle.tagged.len() as u32)
    })
}

/// The field with that number.
fn tagged(all: &[Tagged], number: u32) -> Result<Tagged, String> {
    let found = number.checked_sub(1).and_then(|index| all.get(index as usize));
    found.copied().ok_or_else(|| format!("{number} is no field with a tag of this vm"))
}

/// The bits of a tag, which must fit the field's.
fn bits_of(schema: &Schema, field: FieldId, tag: TagId) -> Result<i64, String> {
    let (cell, tag) = (schema.field_cell(field), schema.tag(tag));
    match tag.bits.checked_shr(u32::from(cell.width) * 8).unwrap_or(0) {
        0 => Ok(tag.bits as i64),
        _ => {
            Err(format!("the bits of tag {} do not fit the {} bytes of {}", tag.name, cell.width, cell.name))
        }
    }
}

fn constant(recorder: &mut Recorder, number: i64) -> u32 {
    let value = recorder.constant(Type::Int, number as u64);
    to_c(recorder, Some(value))
}

/// The tagged fields, which the closures of `recording` cannot reach.
fn fields(vm: *mut TlVm) -> Vec<Tagged> {
    super::enter(vm, Vec::new(), |handle| Ok(handle.tagged.clone()))
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_get_tagged(vm: *mut TlVm, field: u32, tag: u32, record: u32) -> u32 {
    let all = fields(vm);
    recording(vm, |recorder, schema| {
        let (field, tag) = (tagged(&all, field)?, tag_id(schema, tag)?);
        let expected = bits_of(schema, field.tag, tag)?;
        let get = |field| (Op::Get, Payload::Field(field));
        let (op, payload) = get(field.tag);
        let found = emit(recorder, schema, op, &[record], payload, ExitKind::Guard)?;
        let expected = constant(recorder, expected);
        emit(recorder, schema, Op::GuardValue, &[found, expected], Payload::None, ExitKind::Guard)?;
        let Some(ty) = schema.tag(tag).payload else { return Ok(0) };
        let (op, payload) = get(field.value[ty as usize]);
        emit(recorder, schema, op, &[record], payload, ExitKind::Guard)
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_set_tagged(vm: *mut TlVm, field: u32, tag: u32, record: u32, value: u32) {
    let all = fields(vm);
    recording(vm, |recorder, schema| {
        let (field, tag) = (tagged(&all, field)?, tag_id(schema, tag)?);
        let bits = bits_of(schema, field.tag, tag)?;
        match schema.tag(tag).payload {
            Some(ty) => {
                let payload = Payload::Field(field.value[ty as usize]);
                emit(recorder, schema, Op::Set, &[record, value], payload, ExitKind::Guard)?;
            }
            None if value != 0 => {
                return Err(format!("tl_set_tagged: tag {} has no payload", schema.tag(tag).name))
            }
            None => {}
        }
        let bits = constant(recorder, bits);
        emit(recorder, schema, Op::Set, &[record, bits], Payload::Field(field.tag), ExitKind::Guard)?;
        Ok(())
    });
}
