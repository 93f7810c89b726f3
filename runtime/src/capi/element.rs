//! `tl_element`: how an item or an entry holds a value.
//!
//! Problem: it is made of up to seven cells that must fit together, and one that does not would be read as
//! something else. Design: [`read`] checks them against one another. Invariant: the four views are one place
//! in one alias class, each of its own type, and elements do not reach into one another.
//!
//! Example: items of 16 bytes with the payload at 0 and a tag of one byte at 8.

use std::mem::offset_of;

use tracelift_core::schema::{CellId, Element};
use tracelift_core::{Schema, Type};

use super::{cell_id, optional, tag_id, type_of};

/// `tl_element`.
#[repr(C)]
pub struct TlElement {
    stride: u32,
    value: [u32; 4],
    tag: u32,
    untagged: u32,
    absent: u32,
}

// Both sides of the border agree; tests/capi/header.c has the other side of this.
const _: () = assert!(size_of::<TlElement>() == 32 && offset_of!(TlElement, value) == 4);
const _: () = assert!(offset_of!(TlElement, tag) == 20 && offset_of!(TlElement, untagged) == 24);
const _: () = assert!(offset_of!(TlElement, stride) == 0 && offset_of!(TlElement, absent) == 28);

/// Whether a cell is of the type that it is used with.
pub(super) fn typed(schema: &Schema, cell: CellId, what: &str, expected: Type) -> Result<(), String> {
    let cell = schema.cell(cell);
    match cell.ty == expected {
        true => Ok(()),
        false => Err(format!("{what} is {}, of type {}: expected {expected}", cell.name, cell.ty)),
    }
}

/// The four views of the payload.
fn views(schema: &Schema, numbers: &[u32; 4]) -> Result<[CellId; 4], String> {
    let mut views = [CellId(0); 4];
    for ((view, &number), ty) in views.iter_mut().zip(numbers).zip(Type::ALL) {
        *view = cell_id(schema, number)?;
        typed(schema, *view, &format!("value[{}]", ty as usize), ty)?;
    }
    let first = schema.cell(views[0]);
    for &view in &views {
        let cell = schema.cell(view);
        if cell.width != 8 {
            return Err(format!("{} has {} bytes: a payload has 8", cell.name, cell.width));
        }
        if cell.offset != first.offset || cell.class != first.class {
            return Err(format!(
                "{} and {} are not the same place in one alias class",
                first.name, cell.name
            ));
        }
    }
    Ok(views)
}

/// An element that also has these cells.
pub(super) fn read(schema: &Schema, c: &TlElement, own: &[CellId]) -> Result<Element, String> {
    let value = views(schema, &c.value)?;
    let tag = optional(c.tag, |cell| cell_id(schema, cell))?;
    if let Some(cell) = tag {
        typed(schema, cell, "the tag", Type::Int)?;
    }
    let untagged = match (type_of(c.untagged)?, tag) {
        (Some(ty), _) => ty,
        (None, Some(_)) => Type::Int,
        (None, None) => return Err("elements without tags have a type".into()),
    };
    let absent = optional(c.absent, |tag| tag_id(schema, tag))?;
    if let Some(absent) = absent {
        let name = &schema.tag(absent).name;
        if tag.is_none() {
            return Err(format!("{name} cannot mean that nothing is there: the elements have no tags"));
        }
        if schema.tag(absent).payload.is_some() {
            return Err(format!("{name} cannot mean that nothing is there: it has a payload"));
        }
    }
    let cells = || own.iter().chain(&tag).chain(&value[..1]).map(|&cell| schema.cell(cell));
    let start = cells().map(|cell| i64::from(cell.offset)).min().unwrap_or(0);
    let end = cells().map(|cell| i64::from(cell.offset) + i64::from(cell.width)).max().unwrap_or(0);
    if i64::from(c.stride) < end - start {
        return Err(format!("a stride of {} bytes, but an element reaches over {}", c.stride, end - start));
    }
    Ok(Element { stride: c.stride, value, tag, untagged, absent })
}
