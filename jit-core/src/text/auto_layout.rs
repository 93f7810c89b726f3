//! Layouts that say nothing of their memory, as the papers' objects do.
//!
//! Problem: `layout BoxedInteger { intval: int }` says all that a reader wants to know. Design: everything
//! else follows from the order of the entries: a class word at 0 with a number of the layout's own, then 8
//! bytes for each field, two words (size and address) for each of the parts `items` and `keys`, one alias
//! class per field and part. [`recognize`] finds layouts that look like this, by parsing the short form that
//! they would have.
//!
//! Invariant: a layout is recognized only if its short form makes exactly the same layout, but for ids that
//! are higher by a constant.

use super::decl::{self, Parsed};
use super::lex::{self, Cursor};
use super::names::SchemaNames;
use super::{operand, ParseError};
use crate::schema::{Cell, CellId, Element, Items, Keys, LayoutId, LayoutSpec, Schema};
use crate::types::Type;

/// A layout's short form.
pub(super) struct ShortForm {
    /// Its line.
    pub text: String,
    /// The first cell that it declares.
    pub first_cell: CellId,
    /// How many cells it declares, one after another.
    pub cells: usize,
}

/// The short form of a layout, if it has one.
pub(super) fn recognize(schema: &Schema, id: LayoutId, names: &SchemaNames) -> Option<ShortForm> {
    let text = short_form(schema, id, names)?;
    let mut scratch = Schema::new();
    for tag in schema.tags() {
        scratch.add_tag(&tag.name, tag.bits, tag.payload);
    }
    for func in schema.funcs() {
        scratch.add_func(func.clone());
    }
    for number in 0..id.0 {
        scratch.add_layout(LayoutSpec { name: format!("?{number}"), size: 0 });
    }
    let line = lex::lex(&text, &mut Vec::new()).ok()?.pop()?;
    let mut cur = Cursor::new(&line);
    cur.pos = 1;
    decl::layout(&mut cur, &mut scratch).ok()?;
    let cells = layout_cells(schema, id);
    let other = layout_cells(&scratch, id);
    let same_cells = cells.len() == other.len()
        && cells.iter().zip(&other).all(|(a, b)| same_cell(schema, *a, &scratch, *b));
    // The same cells with the same ids, but for where the first one is: then nothing lies between them.
    let first_cell = cells.iter().min().copied()?;
    let same_order = cells.iter().zip(&other).all(|(a, b)| a.0 - first_cell.0 == b.0);
    let same = same_cells && same_order && shape(schema, id) == shape(&scratch, id);
    same.then_some(ShortForm { text, first_cell, cells: cells.len() })
}

/// `layout Table { x: int, items: tagged from 1, keys: tagged find f insert g, alloc h }`.
fn short_form(schema: &Schema, id: LayoutId, names: &SchemaNames) -> Option<String> {
    let layout = schema.layouts().get(id.index())?;
    let mut parts = Vec::new();
    for field in &layout.fields {
        let cell = schema.cells().get(schema.fields().get(field.index())?.cell.index())?;
        parts.push(format!("{}: {}", lex::write_name(&cell.name, &decl::KEYWORDS), cell.ty));
    }
    let element = |element: &Element| if element.tag.is_some() { "tagged" } else { element.untagged.name() };
    if let Some(items) = &layout.items {
        let from = if items.first == 0 { String::new() } else { format!(" from {}", items.first) };
        parts.push(format!("items: {}{from}", element(&items.element)));
    }
    if let Some(keys) = &layout.keys {
        let insert = keys.insert.map_or(String::new(), |insert| format!(" insert {}", names.func(insert)));
        parts.push(format!("keys: {} find {}{insert}", element(&keys.element), names.func(keys.find)));
    }
    if let Some(alloc) = layout.alloc {
        parts.push(format!("alloc {}", names.func(alloc)));
    }
    let text = format!("layout {} {{ {} }}\n", names.layout(id), parts.join(", "));
    (layout.barrier.is_none()).then(|| text.replace("{  }", "{}"))
}

/// All cells that a layout mentions, in a fixed order.
pub(super) fn layout_cells(schema: &Schema, id: LayoutId) -> Vec<CellId> {
    let layout = schema.layout(id);
    let mut cells: Vec<CellId> = layout.class_word.iter().map(|(cell, _)| *cell).collect();
    cells.extend(layout.fields.iter().map(|field| schema.field(*field).cell));
    let element = |element: &Element| element.value.into_iter().chain(element.tag).collect::<Vec<_>>();
    if let Some(items) = &layout.items {
        cells.extend([items.count, items.base].into_iter().chain(element(&items.element)));
    }
    if let Some(keys) = &layout.keys {
        let key_tag = keys.key_tag.map(|(cell, _)| cell);
        cells.extend(
            [keys.size, keys.base, keys.key]
                .into_iter()
                .chain(element(&keys.element))
                .chain(key_tag)
                .chain(keys.next),
        );
    }
    cells
}

fn same_cell(a: &Schema, x: CellId, b: &Schema, y: CellId) -> bool {
    let (Some(x), Some(y)) = (a.cells().get(x.index()), b.cells().get(y.index())) else { return false };
    let same_class = a.classes().get(x.class.index()) == b.classes().get(y.class.index());
    same_class && *x == Cell { class: x.class, ..y.clone() }
}

/// What a layout is beside its cells, as text.
fn shape(schema: &Schema, id: LayoutId) -> String {
    let layout = schema.layout(id);
    let element = |e: &Element| (e.stride, e.tag.is_some(), e.untagged, e.absent);
    let items = layout.items.map(|items| (items.first, element(&items.element)));
    let keys =
        layout.keys.map(|k| (element(&k.element), k.key_tag.map(|(_, value)| value), k.find, k.insert));
    let class = layout.class_word.map(|(_, value)| value);
    format!("{:?}", (layout.size, layout.fields.len(), class, items, keys, layout.alloc, layout.barrier))
}

/// The class word: the first 8 bytes hold a number of the layout's own. Returns the offset after it.
pub fn class_word(schema: &mut Schema, id: LayoutId, layout: &str) -> i32 {
    let name = format!("{layout}.class");
    let class = schema.alias_class(&name);
    let cell = schema.add_cell(Cell { immutable: true, ..Cell::new(&name, 0, Type::Int, class) });
    schema.set_class_word(id, cell, id.0 as u64 + 1);
    8
}

/// A cell of the record that says how large a part is or where it lies.
fn part_word(schema: &mut Schema, layout: &str, name: &str, ty: Type, offset: &mut i32) -> CellId {
    let class = schema.alias_class(&format!("{layout}.shape"));
    let cell = schema.add_cell(Cell::new(&format!("{layout}.{name}"), *offset, ty, class));
    *offset = offset.saturating_add(8);
    cell
}

/// An element: value at 0, and where elements are tagged a tag byte at 8.
fn element(schema: &mut Schema, prefix: &str, untagged: Option<Type>) -> Element {
    let class = schema.alias_class(prefix);
    let value = schema.add_views(prefix, 0, class);
    let absent = schema.find_tag("nil").filter(|_| untagged.is_none());
    let tag = untagged.is_none().then(|| {
        let name = format!("{prefix}.tag");
        let class = schema.alias_class(&name);
        schema.add_cell(Cell::narrow(&name, 8, 1, class))
    });
    let stride = if tag.is_some() { 16 } else { 8 };
    Element { stride, value, tag, untagged: untagged.unwrap_or(Type::Int), absent }
}

/// `tagged` (no type) or a type.
fn element_type(cur: &mut Cursor) -> Result<Option<Type>, ParseError> {
    cur.pos += 1;
    cur.expect(":")?;
    if cur.eat_word("tagged") {
        return Ok(None);
    }
    operand::ty(cur).map(Some)
}

/// `items: float` or `items: tagged from 1`.
pub fn items(cur: &mut Cursor, schema: &mut Schema, id: LayoutId, layout: &str, offset: &mut i32) -> Parsed {
    let ty = element_type(cur)?;
    let first = if cur.eat_word("from") { cur.int("the first index")? } else { 0 };
    let count = part_word(schema, layout, "count", Type::Int, offset);
    let base = part_word(schema, layout, "items", Type::Addr, offset);
    let element = element(schema, &format!("{layout}.item"), ty);
    schema.layout_mut(id).items = Some(Items { count, base, first, element });
    Ok(())
}

/// `keys: tagged find F insert G`; the entry's key lies after its value and tag.
pub fn keys(cur: &mut Cursor, schema: &mut Schema, id: LayoutId, layout: &str, offset: &mut i32) -> Parsed {
    let ty = element_type(cur)?;
    cur.expect_word("find")?;
    let find = operand::func(cur, schema)?;
    let insert = if cur.eat_word("insert") { Some(operand::func(cur, schema)?) } else { None };
    let size = part_word(schema, layout, "room", Type::Int, offset);
    let base = part_word(schema, layout, "entries", Type::Addr, offset);
    let mut element = element(schema, &format!("{layout}.entry"), ty);
    let name = format!("{layout}.entry.key");
    let class = schema.alias_class(&name);
    let key = schema.add_cell(Cell::new(&name, element.stride as i32, Type::Ref, class));
    element.stride += 8;
    schema.layout_mut(id).keys =
        Some(Keys { size, base, element, key, key_tag: None, next: None, find, insert });
    Ok(())
}
