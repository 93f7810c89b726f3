//! Constants and names in operand position.
//!
//! Problem: traces, worlds, runs and snapshots all mention constants and declared things. Design: one
//! function per kind, over a [`Cx`] that knows what was declared so far. A constant is `-100`, `1.5`, `inf`,
//! `nan`, `null`, `@object`, or bits with their type: `ref:0x7f00`, `addr:0x10`, `float:0x7ff8000000000001`.
//!
//! Invariant: what [`super::names`] writes, this file reads as the same thing.

use std::collections::HashMap;

use super::lex::{Cursor, Tok};
use super::ParseError;
use crate::ir::Const;
use crate::schema::{CellId, FieldId, FuncId, LayoutId, Schema, TagId};
use crate::types::{Bits, Type};

/// Names that stand for constants or types and therefore for no value.
pub(super) const RESERVED: [&str; 8] = ["null", "inf", "nan", "int", "float", "ref", "addr", "in_place"];

/// A constant as it is written.
#[derive(Clone, Copy, Debug)]
pub(super) enum Written {
    Bits(Bits),
    /// An object of the file's world, by number.
    Object(u32),
}

impl Written {
    /// As the constant of a trace; `None`: this build knows no traces of test worlds.
    pub fn in_trace(self) -> Option<Const> {
        match self {
            Written::Bits(bits) => Some(Const::Bits(bits)),
            #[cfg(feature = "oracle")]
            Written::Object(number) => Some(Const::Object(number)),
            #[cfg(not(feature = "oracle"))]
            Written::Object(_) => None,
        }
    }
}

/// What an operand may name.
pub(super) struct Cx<'a> {
    pub schema: &'a Schema,
    /// Objects by name.
    pub objects: &'a HashMap<String, u32>,
    /// Whether `@7` may name an object that the file does not declare.
    pub any_object: bool,
}

/// The constant at the cursor, if there is one.
pub(super) fn constant(cur: &mut Cursor, cx: &Cx) -> Result<Option<(Type, Written)>, ParseError> {
    if cur.is("@") {
        return Ok(Some((Type::Ref, object(cur, cx)?)));
    }
    let negative = cur.is("-");
    let sign = |value: f64| if negative { -value } else { value };
    let float = |value: f64| Some((Type::Float, Written::Bits(sign(value).to_bits())));
    let found = match cur.peek_at(negative as usize) {
        Some(Tok::Int(..)) => {
            return Ok(Some((Type::Int, Written::Bits(cur.int("an integer")? as u64))));
        }
        Some(Tok::Float(value)) => float(*value),
        Some(Tok::Ident(name)) if name == "inf" => float(f64::INFINITY),
        Some(Tok::Ident(name)) if name == "nan" => float(f64::from_bits(NAN_BITS)),
        Some(Tok::Ident(name)) if name == "null" && !negative => Some((Type::Ref, Written::Bits(0))),
        Some(Tok::Ident(name)) if !negative && cur.peek_at(1) == Some(&Tok::Punct(":")) => {
            let Some(ty) = Type::from_name(name) else { return Ok(None) };
            cur.pos += 2;
            if cur.is("@") {
                return Ok(Some((ty, object(cur, cx)?)));
            }
            return Ok(Some((ty, Written::Bits(cur.u64("bits such as 0x10")?))));
        }
        _ if negative => return Err(cur.error(format!("expected a number after '-', found {}", cur.found()))),
        _ => None,
    };
    if found.is_some() {
        cur.pos += 1 + negative as usize;
    }
    Ok(found)
}

/// The bits of `nan`.
pub(super) const NAN_BITS: u64 = 0x7ff8_0000_0000_0000;

/// `@name` or `@number`.
fn object(cur: &mut Cursor, cx: &Cx) -> Result<Written, ParseError> {
    let start = cur.pos;
    cur.expect("@")?;
    let number = match cur.peek() {
        Some(Tok::Int(..)) => Some(cur.small::<u32>("an object's number")?),
        _ => cx.objects.get(&cur.name("an object's name")?).copied(),
    };
    match number {
        Some(number) if cx.any_object || (number as usize) < cx.objects.len() => Ok(Written::Object(number)),
        _ => Err(cur.error_at(start, "this object is not declared")),
    }
}

/// A declared tag.
pub(super) fn tag(cur: &mut Cursor, schema: &Schema) -> Result<TagId, ParseError> {
    let start = cur.pos;
    let name = cur.name("a tag")?;
    schema.find_tag(&name).ok_or_else(|| cur.error_at(start, format!("unknown tag '{name}'")))
}

/// A declared layout.
pub(super) fn layout(cur: &mut Cursor, schema: &Schema) -> Result<LayoutId, ParseError> {
    let start = cur.pos;
    let name = cur.name("a layout")?;
    schema.find_layout(&name).ok_or_else(|| cur.error_at(start, format!("unknown layout '{name}'")))
}

/// A declared function.
pub(super) fn func(cur: &mut Cursor, schema: &Schema) -> Result<FuncId, ParseError> {
    let start = cur.pos;
    let name = cur.name("a function")?;
    schema.find_func(&name).ok_or_else(|| cur.error_at(start, format!("unknown function '{name}'")))
}

/// A declared type.
pub(super) fn ty(cur: &mut Cursor) -> Result<Type, ParseError> {
    let start = cur.pos;
    let name = cur.name("a type")?;
    Type::from_name(&name).ok_or_else(|| {
        cur.error_at(start, format!("unknown type '{name}': the types are int, float, ref and addr"))
    })
}

/// A field, by `Layout.field`, by its name alone where only one has it, or by its name in `within`.
pub(super) fn field(
    cur: &mut Cursor,
    schema: &Schema,
    within: Option<LayoutId>,
) -> Result<FieldId, ParseError> {
    let start = cur.pos;
    let name = cur.name("a field")?;
    if let Some(field) = within.and_then(|layout| schema.find_field(layout, &name)) {
        return Ok(field);
    }
    let mut named =
        (0..schema.fields().len() as u32).map(FieldId).filter(|f| schema.field_cell(*f).name == name);
    match (named.next(), named.next()) {
        (Some(field), None) => return Ok(field),
        (Some(_), Some(_)) => {
            let message = format!("several layouts have a field '{name}': write Layout.{name}");
            return Err(cur.error_at(start, message));
        }
        _ => {}
    }
    qualified_field(schema, &name).ok_or_else(|| cur.error_at(start, format!("unknown field '{name}'")))
}

/// The field with the name `Layout.field`.
fn qualified_field(schema: &Schema, name: &str) -> Option<FieldId> {
    name.match_indices('.').find_map(|(dot, _)| {
        let layout = schema.find_layout(&name[..dot])?;
        schema.find_field(layout, &name[dot + 1..])
    })
}

/// A cell by its name or, where it is a field's, by `Layout.field`.
pub(super) fn cell(cur: &mut Cursor, schema: &Schema) -> Result<CellId, ParseError> {
    let start = cur.pos;
    let name = cur.name("a cell")?;
    let found = qualified_field(schema, &name).map(|field| schema.field(field).cell);
    found
        .or_else(|| schema.find_cell(&name))
        .ok_or_else(|| cur.error_at(start, format!("unknown cell '{name}'")))
}

/// The type that a value's name tells: `i1` is an int. Longer names such as `index` tell nothing.
pub(super) fn type_of_short_name(name: &str) -> Option<Type> {
    let digits = &name[1.min(name.len())..];
    let short = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    if short {
        type_of_first_letter(name)
    } else {
        None
    }
}

/// The type that the first letter of a name suggests.
pub(super) fn type_of_first_letter(name: &str) -> Option<Type> {
    name.chars().next().and_then(Type::from_letter)
}

/// The number of a virtual object, which `v0`, `v1` and so on name in snapshots.
pub(super) fn virtual_number(name: &str) -> Option<u32> {
    let digits = name.strip_prefix('v')?;
    digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok())?
}

/// Whether a value may have this name.
pub(super) fn can_name_value(name: &str) -> bool {
    super::lex::is_bare_name(name)
        && !RESERVED.contains(&name)
        && virtual_number(name).is_none()
        && name != "_"
}
