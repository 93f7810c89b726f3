//! Cells and layouts to text.
//!
//! Problem: cells, fields and layouts are declared in any order, and a dump is only worth something if the
//! parsed file gives them the same ids. Design: cells are printed by id. A field opens its layout's block
//! (`layout`, or `extend` when the block was closed before); a layout's parts are printed with the first
//! block below all cells that they need. A layout that is what its short form would make, ids included, is
//! printed in short form; four cells that are the views of one payload as one `views` line.
//!
//! Invariant: parsing what is printed gives every cell, field and layout the id that it had.

use std::collections::HashMap;
use std::fmt::Write;

use super::auto_layout::{self, ShortForm};
use super::decl::KEYWORDS;
use super::lex::write_name;
use super::names::SchemaNames;
use crate::schema::{Cell, CellId, Element, Layout, LayoutId, Schema};
use crate::types::Type;

/// All cells and layouts of a schema.
pub(super) fn cells_and_layouts(schema: &Schema, names: &SchemaNames) -> String {
    let ids = || (0..schema.layouts().len() as u32).map(LayoutId);
    let short: Vec<_> = ids().map(|id| auto_layout::recognize(schema, id, names)).collect();
    let starts = ids().filter_map(|id| Some((short[id.index()].as_ref()?.first_cell.index(), id))).collect();
    let owners = schema.fields().iter().map(|field| (field.cell, field.layout)).collect();
    let parts_left = vec![true; short.len()];
    let out = String::new();
    let mut printer =
        Layouts { schema, names, out, short, starts, owners, declared: 0, open: None, parts_left };
    let mut next = 0;
    while next < schema.cells().len() {
        next = printer.cell(next);
    }
    printer.close(next);
    printer.declare_below(LayoutId(printer.short.len() as u32));
    for id in ids() {
        if printer.parts_left[id.index()] && has_parts(schema.layout(id)) {
            let _ = writeln!(printer.out, "extend {} {{", names.layout(id));
            printer.open = Some(id);
            printer.close(next);
        }
    }
    printer.out
}

struct Layouts<'a> {
    schema: &'a Schema,
    names: &'a SchemaNames,
    out: String,
    short: Vec<Option<ShortForm>>,
    /// Layouts with a short form by their first cell.
    starts: HashMap<usize, LayoutId>,
    /// Which layout a cell is a field of.
    owners: HashMap<CellId, LayoutId>,
    /// Layouts with lower ids are declared.
    declared: u32,
    /// The layout whose block is open.
    open: Option<LayoutId>,
    /// Layouts whose parts are not printed yet.
    parts_left: Vec<bool>,
}

impl Layouts<'_> {
    /// Prints the cell with that id, and perhaps some that follow; the id of the next one.
    fn cell(&mut self, id: usize) -> usize {
        if let Some(&layout) = self.starts.get(&id).filter(|layout| layout.0 >= self.declared) {
            self.close(id);
            self.declare_below(layout);
            if let Some(short) = &self.short[layout.index()] {
                self.out += &short.text;
                self.declared += 1;
                self.parts_left[layout.index()] = false;
                return id + short.cells;
            }
        }
        let Some(cell) = self.schema.cells().get(id) else { return id + 1 };
        if let Some(&layout) = self.owners.get(&CellId(id as u32)) {
            self.open_block(layout, id);
            let layout = self.schema.layouts().get(layout.index()).map_or("", |layout| layout.name.as_str());
            let options = cell_options(cell, self.schema, &format!("{layout}.{}", cell.name));
            let _ = writeln!(self.out, "  field {}: {options}", write_name(&cell.name, &KEYWORDS));
            return id + 1;
        }
        self.close(id);
        if let Some(prefix) = self.views_at(id) {
            let class = self.class_option(cell, &prefix);
            let _ = writeln!(self.out, "views {}: @{}{class}", write_name(&prefix, &KEYWORDS), cell.offset);
            return id + Type::ALL.len();
        }
        // A cell that has to be renamed would get another alias class by default.
        let name = self.names.cell(CellId(id as u32));
        let class = if name == write_name(&cell.name, &KEYWORDS) { cell.name.as_str() } else { "" };
        let _ = writeln!(self.out, "cell {name}: {}", cell_options(cell, self.schema, class));
        id + 1
    }

    /// Opens the block of a layout, when the cells below `next_cell` are printed.
    fn open_block(&mut self, layout: LayoutId, next_cell: usize) {
        if self.open == Some(layout) {
            return;
        }
        self.close(next_cell);
        self.declare_below(layout);
        let name = self.names.layout(layout);
        if layout.0 < self.declared {
            let _ = writeln!(self.out, "extend {name} {{");
        } else {
            let size = self.schema.layouts().get(layout.index()).map_or(0, |layout| layout.size);
            let _ = writeln!(self.out, "layout {name} {{\n  size {size}");
            self.declared += 1;
        }
        self.open = Some(layout);
    }

    /// Closes the open block, with the layout's parts if all cells that they need are printed.
    fn close(&mut self, next_cell: usize) {
        let Some(id) = self.open.take() else { return };
        if let Some(layout) = self.schema.layouts().get(id.index()) {
            let ready =
                auto_layout::layout_cells(self.schema, id).iter().all(|cell| cell.index() < next_cell);
            if ready && self.parts_left[id.index()] {
                self.parts_left[id.index()] = false;
                self.out += &parts(layout, self.schema, self.names);
            }
        }
        self.out += "}\n";
    }

    /// Declares the layouts with lower ids, whose fields and parts follow later.
    fn declare_below(&mut self, layout: LayoutId) {
        while self.declared < layout.0 {
            let id = LayoutId(self.declared);
            let size = self.schema.layout(id).size;
            let _ = writeln!(self.out, "layout {} {{ size {size} }}", self.names.layout(id));
            self.declared += 1;
        }
    }

    /// The prefix of the four views that begin at that cell.
    fn views_at(&self, id: usize) -> Option<String> {
        let cells = self.schema.cells().get(id..id + Type::ALL.len())?;
        let prefix = cells[0].name.strip_suffix(".int")?;
        let unique = (id..id + cells.len()).zip(cells).all(|(id, cell)| {
            self.names.cell(CellId(id as u32)) == write_name(&cell.name, &KEYWORDS)
                && !self.starts.contains_key(&id)
        });
        let are_views = cells.iter().zip(Type::ALL).all(|(cell, ty)| {
            let view = Cell::new(&format!("{prefix}.{ty}"), cells[0].offset, ty, cells[0].class);
            *cell == view
        });
        (unique && are_views && !prefix.is_empty()).then(|| prefix.to_string())
    }

    fn class_option(&self, cell: &Cell, usual: &str) -> String {
        let class = self.schema.classes().get(cell.class.index()).map_or("", String::as_str);
        if class == usual {
            String::new()
        } else {
            format!(" class {}", write_name(class, &KEYWORDS))
        }
    }
}

fn has_parts(layout: &Layout) -> bool {
    let heap = layout.class_word.is_some() || layout.items.is_some() || layout.keys.is_some();
    heap || layout.alloc.is_some() || layout.barrier.is_some()
}

/// `int @12 width 4 signed class c immutable`.
fn cell_options(cell: &Cell, schema: &Schema, class: &str) -> String {
    let mut text = format!("{} @{}", cell.ty, cell.offset);
    if cell.width != 8 {
        text += &format!(" width {}", cell.width);
    }
    if cell.signed {
        text += " signed";
    }
    let own = schema.classes().get(cell.class.index()).map_or("", String::as_str);
    if own != class {
        text += &format!(" class {}", write_name(own, &KEYWORDS));
    }
    if cell.immutable {
        text += " immutable";
    }
    if cell.polled {
        text += " polled";
    } else if cell.volatile {
        text += " volatile";
    }
    text
}

/// Everything in a layout's block but its size and fields.
fn parts(layout: &Layout, schema: &Schema, names: &SchemaNames) -> String {
    let mut out = String::new();
    if let Some((cell, value)) = layout.class_word {
        let _ = writeln!(out, "  class {} = {value:#x}", names.cell(cell));
    }
    if let Some(items) = &layout.items {
        let head = format!(
            "count: {}, base: {}, first: {}",
            names.cell(items.count),
            names.cell(items.base),
            items.first
        );
        let _ = writeln!(out, "  items {{ {head}, {} }}", element(&items.element, schema, names));
    }
    if let Some(keys) = &layout.keys {
        let mut text = format!("size: {}, base: {}, ", names.cell(keys.size), names.cell(keys.base));
        text += &element(&keys.element, schema, names);
        text += &format!(", key: {}", names.cell(keys.key));
        if let Some((cell, value)) = keys.key_tag {
            text += &format!(", key_tag: {} = {value:#x}", names.cell(cell));
        }
        if let Some(cell) = keys.next {
            text += &format!(", next: {}", names.cell(cell));
        }
        text += &format!(", find: {}", names.func(keys.find));
        if let Some(insert) = keys.insert {
            text += &format!(", insert: {}", names.func(insert));
        }
        let _ = writeln!(out, "  keys {{ {text} }}");
    }
    if let Some(alloc) = layout.alloc {
        let _ = writeln!(out, "  alloc {}", names.func(alloc));
    }
    if let Some(barrier) = layout.barrier {
        let part = |cell, mask: i64| format!("{} & {mask:#x}", names.cell(cell));
        let (object, value) =
            (part(barrier.object, barrier.object_mask), part(barrier.value, barrier.value_mask));
        let mend = barrier.mend.map_or(String::new(), |mend| format!(", mend: {}", names.func(mend)));
        let _ = writeln!(out, "  barrier {{ object: {object}, value: {value}{mend} }}");
    }
    out
}

fn element(element: &Element, schema: &Schema, names: &SchemaNames) -> String {
    let mut text = format!("stride: {}, value: ", element.stride);
    let cells =
        element.value.map(|cell| schema.cells().get(cell.index()).map_or("", |cell| cell.name.as_str()));
    let prefix = cells[0].strip_suffix(".int").unwrap_or("");
    let are_views = Type::ALL.iter().zip(cells).all(|(ty, name)| name == format!("{prefix}.{ty}"));
    if are_views && !prefix.is_empty() {
        text += &write_name(prefix, &KEYWORDS);
    } else {
        text += &format!("({})", element.value.map(|cell| names.cell(cell)).join(", "));
    }
    match element.tag {
        Some(tag) => text += &format!(", tag: {}", names.cell(tag)),
        None => text += &format!(", untagged: {}", element.untagged),
    }
    if let Some(absent) = element.absent {
        text += &format!(", absent: {}", names.tag(absent));
    }
    text
}
