//! Whether an operation that a host records makes sense: operands, types, and what it says of records and
//! functions.
//!
//! Problem: a host passes values and ids as numbers, and a slip must be a sentence at the call that makes it,
//! instead of a trace that nobody can compile, or one that reads the wrong memory. Design: the op table says
//! how many operands of which types an operation takes; what its payload names must have the parts that the
//! operation needs, and tags where the layout has tags. Invariant: what passes needs no further check in the
//! optimizer, and each check costs the same however much is declared.
//!
//! Example: `get_item` with a tag, of a layout whose items are all doubles: "get_item: the items of Vector
//! have no tags".

use tracelift_core::effects::Effects;
use tracelift_core::ops::{ArgType, Arity};
use tracelift_core::schema::{CellId, Element, LayoutId, TagId};
use tracelift_core::{Inst, Op, Payload, Schema, Trace, Type};

/// Whether a layout has what the operation needs.
fn payload(inst: &Inst, schema: &Schema) -> Result<(), String> {
    let name = inst.op.info().name;
    let has = |layout: LayoutId, is_there: bool, what: &str| match is_there {
        true => Ok(()),
        false => Err(format!("{name}: layout {} has no {what}", schema.layout(layout).name)),
    };
    match inst.payload {
        Payload::New { layout, items, keys } => {
            let declared = schema.layout(layout);
            has(layout, declared.alloc.is_some(), "allocator")?;
            let in_frame = schema.is_made_in_frame(layout);
            has(layout, items == 0 || in_frame || declared.items.is_some(), "indexed part")?;
            has(layout, keys == 0 || declared.keys.is_some(), "keyed part")
        }
        Payload::Layout(layout) if inst.op == Op::GuardClass => {
            has(layout, schema.layout(layout).class_word.is_some(), "class word")
        }
        Payload::Layout(layout) => has(layout, schema.layout(layout).items.is_some(), "indexed part"),
        Payload::Item { layout, tag } => {
            let items = schema.layout(layout).items.as_ref();
            has(layout, items.is_some(), "indexed part")?;
            items.map_or(Ok(()), |items| element_tag(inst, layout, &items.element, tag, schema))
        }
        Payload::Key { layout, tag, .. } => {
            let keys = schema.layout(layout).keys.as_ref();
            has(layout, keys.is_some(), "keyed part")?;
            let Some(keys) = keys else { return Ok(()) };
            match inst.op {
                Op::GuardKeyAbsent => return Ok(()),
                Op::InsertKey => has(layout, keys.insert.is_some(), "function that inserts")?,
                _ => {}
            }
            element_tag(inst, layout, &keys.element, tag, schema)
        }
        Payload::Func(func) if inst.op == Op::TryCall => {
            let func = schema.func(func);
            match func.result {
                Some(ty) if ty.is_pointer() => Ok(()),
                Some(ty) => Err(format!("{name}: {} returns {ty}, which is never null", func.name)),
                None => Err(format!("{name}: {} returns nothing, which is never null", func.name)),
            }
        }
        Payload::Func(func) if inst.op == Op::Mend => {
            let may_make = Effects::of_call(func, schema).allocates;
            let name_of = &schema.func(func).name;
            (!may_make)
                .then_some(())
                .ok_or_else(|| format!("{name}: {name_of} may make objects or run any code"))
        }
        Payload::Scale { stride: 0, .. } => Err(format!("{name}: a stride of 0")),
        _ => Ok(()),
    }
}

/// Elements have tags, or they have none; and a tag's bits fit the cell that they lie in.
fn element_tag(
    inst: &Inst,
    layout: LayoutId,
    element: &Element,
    tag: Option<TagId>,
    schema: &Schema,
) -> Result<(), String> {
    let (op, layout) = (inst.op.info().name, &schema.layout(layout).name);
    let part = if matches!(inst.payload, Payload::Item { .. }) { "items" } else { "entries" };
    match (element.tag, tag) {
        (None, None) => Ok(()),
        (None, Some(_)) => Err(format!("{op}: the {part} of {layout} have no tags")),
        (Some(_), None) => Err(format!("{op}: the {part} of {layout} have tags, and none is given")),
        (Some(cell), Some(tag)) => fits(schema, cell, tag).map_err(|sentence| format!("{op}: {sentence}")),
    }
}

fn fits(schema: &Schema, cell: CellId, tag: TagId) -> Result<(), String> {
    let (cell, tag) = (schema.cell(cell), schema.tag(tag));
    match tag.bits.checked_shr(u32::from(cell.width) * 8).unwrap_or(0) {
        0 => Ok(()),
        _ => {
            Err(format!("the bits of tag {} do not fit the {} bytes of {}", tag.name, cell.width, cell.name))
        }
    }
}

/// Checks an instruction's operands against the op table, so that a host's slip is a sentence and not a
/// crash.
pub(crate) fn check(inst: &Inst, trace: &Trace, schema: &Schema) -> Result<(), String> {
    payload(inst, schema)?;
    let name = inst.op.info().name;
    let fail = |position: usize, expected: &str| {
        let found = trace.ty(inst.args[position]);
        Err(format!("{name}: operand {} is {found}, expected {expected}", position + 1))
    };
    match inst.op.info().args {
        Arity::Fixed(kinds) => {
            // A tag without a payload leaves the declared operand out.
            let declared = matches!(kinds.last(), Some(ArgType::Declared));
            let omitted = declared && inst.declared_type(schema).is_none();
            let expected = kinds.len() - usize::from(omitted);
            if inst.args.len() != expected {
                return Err(format!("{name}: {} operands, expected {expected}", inst.args.len()));
            }
            let kinds = &kinds[..expected];
            let mut same = None;
            for (position, kind) in kinds.iter().enumerate() {
                let ty = trace.ty(inst.args[position]);
                match kind {
                    ArgType::Is(expected) if ty != *expected => return fail(position, expected.name()),
                    ArgType::Pointer if !ty.is_pointer() => return fail(position, "ref or addr"),
                    ArgType::Same if *same.get_or_insert(ty) != ty => return fail(position, "the same type"),
                    ArgType::Declared => match inst.declared_type(schema) {
                        Some(expected) if expected != ty => return fail(position, expected.name()),
                        _ => {}
                    },
                    _ => {}
                }
            }
            // The second operand of these is part of what the operation is.
            let fixed = inst.op == Op::GuardValue || matches!(inst.payload, Payload::Key { .. });
            if fixed && trace.constant_of(inst.args[1]).is_none() {
                return fail(1, "a constant");
            }
        }
        Arity::Variadic => {
            if let Payload::Func(func) = inst.payload {
                let params = &schema.func(func).params;
                let types: Vec<Type> = inst.args.iter().map(|&arg| trace.ty(arg)).collect();
                if inst.op.arguments_of(params).as_ref() != Some(&types) {
                    return Err(format!(
                        "{name}: {} is called with other types than declared",
                        schema.func(func).name
                    ));
                }
            }
        }
    }
    Ok(())
}
