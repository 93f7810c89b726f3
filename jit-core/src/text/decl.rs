//! Declarations: tags, slots, cells, layouts, functions and the world's objects.
//!
//! Problem: a real host's layouts need a dozen numbers, the papers' objects none. Design: a layout block with
//! a `size` is read as it stands; one without gets everything from [`super::auto_layout`]:
//! `layout BoxedInteger { intval: int }` is 16 bytes, a class word at 0 with a number of its own, the field
//! at 8, one alias class per field.
//!
//! Invariant: declarations only refer to what was declared above them (objects also to objects below), and
//! nothing here calls a schema function with arguments that it asserts against.

use super::auto_layout as auto;
use super::lex::{Cursor, Tok};
use super::operand::{self, Cx, Written};
use super::{ParseError, TraceFile};
use crate::schema::{
    Barrier, Cell, CellId, ClassSet, Element, Func, FuncEffects, Items, Keys, LayoutId, LayoutSpec, Schema,
    SlotCells, SlotLayout,
};
use crate::types::Type;
use crate::world_spec::{ObjectSpec, SpecValue};

/// Words with a meaning in declarations; schema names that equal one are written in quotes.
pub(super) const KEYWORDS: [&str; 36] = [
    "size",
    "class",
    "field",
    "items",
    "keys",
    "alloc",
    "barrier",
    "width",
    "signed",
    "immutable",
    "volatile",
    "polled",
    "room",
    "entries",
    "count",
    "base",
    "first",
    "stride",
    "value",
    "tag",
    "absent",
    "untagged",
    "key",
    "key_tag",
    "find",
    "insert",
    "pure",
    "reads",
    "writes",
    "allocates",
    "reenters",
    "anything",
    "evaluable",
    "all",
    "tagged",
    "from",
];

pub(super) type Parsed = Result<(), ParseError>;

/// `tag int = 0: int` or `tag nil = 4`.
pub(super) fn tag(cur: &mut Cursor, schema: &mut Schema) -> Parsed {
    let name = cur.name("a tag's name")?;
    cur.expect("=")?;
    let bits = cur.u64("the tag's bits")?;
    let payload = if cur.eat(":") { Some(operand::ty(cur)?) } else { None };
    unique(cur, schema.find_tag(&name).is_some(), "tag", &name)?;
    schema.add_tag(&name, bits, payload);
    cur.end()
}

/// `slots { stride 16, payload 0, tag 8 width 1 }`; without `tag`, slots have no tags.
pub(super) fn slots(cur: &mut Cursor, schema: &mut Schema) -> Parsed {
    let mut slots = SlotLayout { stride: 16, payload: 0, tag: None };
    cur.expect("{")?;
    cur.list("}", |cur| {
        if cur.eat_word("stride") {
            slots.stride = cur.small("a stride")?;
        } else if cur.eat_word("payload") {
            slots.payload = cur.small("an offset")?;
        } else {
            cur.expect_word("tag")?;
            let offset = cur.small("an offset")?;
            let width = if cur.eat_word("width") { cur.small("a width")? } else { 1 };
            slots.tag = Some((offset, width));
        }
        Ok(())
    })?;
    schema.set_slots(slots);
    cur.end()
}

/// `slot_cells { tv.int, tv.float, tv.ref, tv.addr, tag tv.tt }`; the tag may be left out.
pub(super) fn slot_cells(cur: &mut Cursor, schema: &mut Schema) -> Parsed {
    let mut cells = SlotCells { value: [CellId::default(); 4], tag: None };
    cur.expect("{")?;
    for ty in Type::ALL {
        let start = cur.pos;
        let cell = operand::cell(cur, schema)?;
        if schema.cell(cell).ty != ty {
            return Err(cur.error_at(start, format!("expected a cell of type {ty}")));
        }
        cells.value[ty as usize] = cell;
        cur.eat(",");
    }
    if cur.eat_word("tag") {
        cells.tag = Some(operand::cell(cur, schema)?);
    }
    cur.expect("}")?;
    schema.set_slot_cells(cells);
    cur.end()
}

/// `cell asize: int @12 width 4 class table.asize`.
pub(super) fn cell(cur: &mut Cursor, schema: &mut Schema) -> Parsed {
    let name = cur.name("a cell's name")?;
    unique(cur, schema.find_cell(&name).is_some(), "cell", &name)?;
    cur.expect(":")?;
    let cell = cell_options(cur, schema, &name, &name, 0)?;
    schema.add_cell(cell);
    cur.end()
}

/// `views item: @0 class table.items`: the four views `item.int`, `item.float`, `item.ref` and `item.addr`.
pub(super) fn views(cur: &mut Cursor, schema: &mut Schema) -> Parsed {
    let name = cur.name("the views' name")?;
    cur.expect(":")?;
    let offset = if cur.eat("@") { cur.small("an offset")? } else { 0 };
    let class = if cur.eat_word("class") { cur.name("an alias class")? } else { name.clone() };
    for ty in Type::ALL {
        let view = format!("{name}.{ty}");
        unique(cur, schema.find_cell(&view).is_some(), "cell", &view)?;
    }
    let class = schema.alias_class(&class);
    schema.add_views(&name, offset, class);
    cur.end()
}

/// `int @12 width 4 signed class table.asize immutable`; all but the type may be left out.
fn cell_options(
    cur: &mut Cursor,
    schema: &mut Schema,
    name: &str,
    class: &str,
    offset: i32,
) -> Result<Cell, ParseError> {
    let ty = operand::ty(cur)?;
    let mut class = class.to_string();
    let (mut offset, mut width, mut signed) = (offset, 8, false);
    let (mut immutable, mut volatile, mut polled) = (false, false, false);
    loop {
        if cur.eat("@") {
            offset = cur.small("an offset")?;
        } else if cur.eat_word("width") {
            width = cur.small("a width")?;
            if !matches!(width, 1 | 2 | 4 | 8) || (width != 8 && ty != Type::Int) {
                return Err(
                    cur.error_at(cur.pos - 1, "a width is 1, 2, 4 or 8, and less than 8 only for ints")
                );
            }
        } else if cur.eat_word("class") {
            class = cur.name("an alias class")?;
        } else if cur.eat_word("signed") {
            signed = true;
        } else if cur.eat_word("immutable") {
            immutable = true;
        } else if cur.eat_word("volatile") {
            volatile = true;
        } else if cur.eat_word("polled") {
            (volatile, polled) = (true, true);
        } else {
            break;
        }
    }
    let class = schema.alias_class(&class);
    Ok(Cell { name: name.to_string(), offset, width, signed, ty, class, immutable, volatile, polled })
}

/// `func find(addr, int, ref) -> addr reads a b writes c allocates reenters evaluable = native find`.
pub(super) fn func(
    cur: &mut Cursor,
    file: &mut TraceFile,
    natives: &dyn Fn(&str) -> Option<usize>,
) -> Parsed {
    let name = cur.name("a function's name")?;
    unique(cur, file.schema.find_func(&name).is_some(), "function", &name)?;
    let mut params = Vec::new();
    cur.expect("(")?;
    cur.list(")", |cur| {
        params.push(operand::ty(cur)?);
        Ok(())
    })?;
    let result = if cur.eat("->") { Some(operand::ty(cur)?) } else { None };
    let (effects, evaluable) = effects(cur, &mut file.schema)?;
    let mut func = Func { name, params, result, effects, address: 0, evaluable };
    let mut native = None;
    if cur.eat("=") {
        cur.expect_word("native")?;
        let start = cur.pos;
        let name = cur.name("a native function's name")?;
        let address = natives(&name);
        func.address =
            address.ok_or_else(|| cur.error_at(start, format!("unknown native function '{name}'")))?;
        native = Some(name);
    }
    cur.end()?;
    let id = file.schema.add_func(func);
    file.natives.extend(native.map(|name| (id, name)));
    Ok(())
}

/// Effects and `evaluable`; no word about effects means that anything may happen.
fn effects(cur: &mut Cursor, schema: &mut Schema) -> Result<(FuncEffects, bool), ParseError> {
    let (mut effects, mut said, mut evaluable) = (FuncEffects::pure(), false, false);
    loop {
        if cur.eat_word("evaluable") {
            evaluable = true;
            continue;
        }
        if cur.eat_word("anything") {
            effects = FuncEffects::anything();
        } else if cur.eat_word("reads") {
            effects = effects.reading(class_set(cur, schema)?);
        } else if cur.eat_word("writes") {
            effects = effects.writing(class_set(cur, schema)?);
        } else if cur.eat_word("allocates") {
            effects = effects.allocating();
        } else if cur.eat_word("reenters") {
            effects = effects.reentering();
        } else if !cur.eat_word("pure") {
            return Ok((if said { effects } else { FuncEffects::anything() }, evaluable));
        }
        said = true;
    }
}

/// Alias classes up to the next keyword, or `all`.
fn class_set(cur: &mut Cursor, schema: &mut Schema) -> Result<ClassSet, ParseError> {
    if cur.eat_word("all") {
        return Ok(ClassSet::All);
    }
    let mut classes = Vec::new();
    loop {
        match cur.peek() {
            Some(Tok::Ident(name)) if !KEYWORDS.contains(&name.as_str()) => {
                classes.push(schema.alias_class(name));
            }
            Some(Tok::Quoted(name)) => classes.push(schema.alias_class(name)),
            _ if classes.is_empty() => return Err(cur.error("expected an alias class or 'all'")),
            _ => return Ok(ClassSet::of(classes)),
        }
        cur.pos += 1;
    }
}

/// `extend NAME { … }`: more of a layout that was declared above.
pub(super) fn extend(cur: &mut Cursor, schema: &mut Schema) -> Parsed {
    let id = operand::layout(cur, schema)?;
    let name = schema.layout(id).name.clone();
    let mut offset = 0;
    cur.expect("{")?;
    cur.list("}", |cur| layout_entry(cur, schema, id, &name, true, &mut offset))?;
    cur.end()
}

/// `layout NAME { … }`.
pub(super) fn layout(cur: &mut Cursor, schema: &mut Schema) -> Parsed {
    let name = cur.name("a layout's name")?;
    unique(cur, schema.find_layout(&name).is_some(), "layout", &name)?;
    let sized = cur.tokens.windows(2).any(|pair| {
        matches!(&pair[0].tok, Tok::Ident(word) if word == "size") && matches!(pair[1].tok, Tok::Int(..))
    });
    let id = schema.add_layout(LayoutSpec { name: name.clone(), size: 0 });
    let mut offset = if sized { 0 } else { auto::class_word(schema, id, &name) };
    if cur.eat("{") {
        cur.list("}", |cur| layout_entry(cur, schema, id, &name, sized, &mut offset))?;
    }
    if !sized {
        schema.layout_mut(id).size = offset as u32;
    }
    cur.end()
}

/// One entry of a layout's block; `offset` is where the next automatic cell goes.
fn layout_entry(
    cur: &mut Cursor,
    schema: &mut Schema,
    id: LayoutId,
    layout: &str,
    sized: bool,
    offset: &mut i32,
) -> Parsed {
    let next_is = |punct| cur.peek_at(1) == Some(&Tok::Punct(punct));
    let (is_typed, is_block) = (next_is(":"), next_is("{"));
    if !sized && cur.is_word("items") && is_typed {
        return auto::items(cur, schema, id, layout, offset);
    }
    if !sized && cur.is_word("keys") && is_typed {
        return auto::keys(cur, schema, id, layout, offset);
    }
    if is_typed || cur.eat_word("field") {
        let name = cur.name("a field's name")?;
        unique(cur, schema.find_field(id, &name).is_some(), "field", &name)?;
        cur.expect(":")?;
        let cell = cell_options(cur, schema, &name, &format!("{layout}.{name}"), *offset)?;
        *offset = (*offset).max(cell.offset.saturating_add(8));
        schema.add_field(id, cell);
        return Ok(());
    }
    if cur.eat_word("size") {
        schema.layout_mut(id).size = cur.small("a size")?;
    } else if cur.eat_word("class") {
        let cell = operand::cell(cur, schema)?;
        cur.expect("=")?;
        let value = cur.u64("the class word's value")?;
        schema.set_class_word(id, cell, value);
    } else if cur.eat_word("alloc") {
        schema.layout_mut(id).alloc = Some(operand::func(cur, schema)?);
    } else if is_block && cur.eat_word("items") {
        schema.layout_mut(id).items = Some(items(cur, schema)?);
    } else if is_block && cur.eat_word("keys") {
        schema.layout_mut(id).keys = Some(keys(cur, schema)?);
    } else if is_block && cur.eat_word("barrier") {
        schema.layout_mut(id).barrier = Some(barrier(cur, schema)?);
    } else {
        let wanted = if sized { "a layout's entry" } else { "a field such as 'x: int'" };
        return Err(cur.error(format!("expected {wanted}, found {}", cur.found())));
    }
    Ok(())
}

/// What blocks of `name: thing` pairs collect before they become items or keys.
#[derive(Default)]
struct Part {
    cells: Vec<(String, CellId)>,
    funcs: Vec<(String, crate::schema::FuncId)>,
    first: i64,
    stride: u32,
    views: Option<[CellId; 4]>,
    absent: Option<crate::schema::TagId>,
    untagged: Option<Type>,
    key_tag: Option<(CellId, u64)>,
}

impl Part {
    fn parse(cur: &mut Cursor, schema: &Schema) -> Result<Part, ParseError> {
        let mut part = Part::default();
        cur.expect("{")?;
        cur.list("}", |cur| {
            let start = cur.pos;
            let word = cur.name("an entry")?;
            cur.expect(":")?;
            match word.as_str() {
                "count" | "size" | "base" | "tag" | "key" | "next" => {
                    part.cells.push((word, operand::cell(cur, schema)?))
                }
                "find" | "insert" => part.funcs.push((word, operand::func(cur, schema)?)),
                "first" => part.first = cur.int("an index")?,
                "stride" => part.stride = cur.small("a stride")?,
                "absent" => part.absent = Some(operand::tag(cur, schema)?),
                "untagged" => part.untagged = Some(operand::ty(cur)?),
                "value" => part.views = Some(view_cells(cur, schema)?),
                "key_tag" => {
                    let cell = operand::cell(cur, schema)?;
                    cur.expect("=")?;
                    part.key_tag = Some((cell, cur.u64("the key tag's value")?));
                }
                _ => return Err(cur.error_at(start, format!("unknown entry '{word}'"))),
            }
            Ok(())
        })?;
        Ok(part)
    }

    fn find_cell(&self, name: &str) -> Option<CellId> {
        self.cells.iter().find(|(word, _)| word == name).map(|(_, cell)| *cell)
    }

    fn cell(&self, cur: &Cursor, name: &str) -> Result<CellId, ParseError> {
        self.find_cell(name).ok_or_else(|| cur.error_at(cur.pos - 1, format!("'{name}: CELL' is missing")))
    }

    fn func(&self, name: &str) -> Option<crate::schema::FuncId> {
        self.funcs.iter().find(|(word, _)| word == name).map(|(_, func)| *func)
    }

    fn element(&self, cur: &Cursor) -> Result<Element, ParseError> {
        let missing = |what: &str| cur.error_at(cur.pos - 1, format!("'{what}' is missing"));
        let (tag, absent) = (self.find_cell("tag"), self.absent);
        if self.stride == 0 {
            return Err(missing("stride: BYTES"));
        }
        if tag.is_none() && self.untagged.is_none() {
            return Err(missing("tag: CELL' or 'untagged: TYPE"));
        }
        let value = self.views.ok_or_else(|| missing("value: VIEWS"))?;
        Ok(Element { stride: self.stride, value, tag, untagged: self.untagged.unwrap_or(Type::Int), absent })
    }
}

/// The views `item` stands for `item.int` and so on; or four cells in parentheses.
fn view_cells(cur: &mut Cursor, schema: &Schema) -> Result<[CellId; 4], ParseError> {
    if cur.eat("(") {
        let mut cells = [CellId(0); 4];
        for (index, cell) in cells.iter_mut().enumerate() {
            if index > 0 {
                cur.expect(",")?;
            }
            *cell = operand::cell(cur, schema)?;
        }
        cur.expect(")")?;
        return Ok(cells);
    }
    let start = cur.pos;
    let name = cur.name("views")?;
    let found = Type::ALL.map(|ty| schema.find_cell(&format!("{name}.{ty}")));
    match found {
        [Some(a), Some(b), Some(c), Some(d)] => Ok([a, b, c, d]),
        _ => Err(cur.error_at(start, format!("unknown views '{name}'"))),
    }
}

fn items(cur: &mut Cursor, schema: &Schema) -> Result<Items, ParseError> {
    let part = Part::parse(cur, schema)?;
    let (count, base) = (part.cell(cur, "count")?, part.cell(cur, "base")?);
    Ok(Items { count, base, first: part.first, element: part.element(cur)? })
}

fn keys(cur: &mut Cursor, schema: &Schema) -> Result<Keys, ParseError> {
    let part = Part::parse(cur, schema)?;
    let find = part.func("find").ok_or_else(|| cur.error_at(cur.pos - 1, "'find: FUNCTION' is missing"))?;
    Ok(Keys {
        size: part.cell(cur, "size")?,
        base: part.cell(cur, "base")?,
        element: part.element(cur)?,
        key: part.cell(cur, "key")?,
        key_tag: part.key_tag,
        next: part.find_cell("next"),
        find,
        insert: part.func("insert"),
    })
}

/// `{ object: marked & 0x20, value: marked & 0x18 }`, also with `mend: FUNCTION`.
fn barrier(cur: &mut Cursor, schema: &Schema) -> Result<Barrier, ParseError> {
    let zero = CellId(0);
    let mut barrier = Barrier { object: zero, object_mask: 0, value: zero, value_mask: 0, mend: None };
    cur.expect("{")?;
    cur.list("}", |cur| {
        if cur.eat_word("mend") {
            cur.expect(":")?;
            barrier.mend = Some(operand::func(cur, schema)?);
            return Ok(());
        }
        let is_object = cur.eat_word("object");
        if !is_object {
            cur.expect_word("value")?;
        }
        cur.expect(":")?;
        let cell = operand::cell(cur, schema)?;
        cur.expect("&")?;
        let mask = cur.int("a mask")?;
        if is_object {
            (barrier.object, barrier.object_mask) = (cell, mask);
        } else {
            (barrier.value, barrier.value_mask) = (cell, mask);
        }
        Ok(())
    })?;
    if barrier.object_mask == 0 || barrier.value_mask == 0 {
        return Err(
            cur.error_at(cur.pos - 1, "a barrier needs 'object: CELL & MASK' and 'value: CELL & MASK'")
        );
    }
    Ok(barrier)
}

fn unique(cur: &Cursor, exists: bool, kind: &str, name: &str) -> Parsed {
    if exists {
        return Err(cur.error_at(cur.pos.saturating_sub(1), format!("{kind} '{name}' is declared twice")));
    }
    Ok(())
}

/// `object t = Table { size: 5, items: [int 1, nil] room 8, entries: {@k: int 5} room 4 }`.
pub(super) fn object(cur: &mut Cursor, cx: &Cx) -> Result<ObjectSpec, ParseError> {
    let name = cur.name("an object's name")?;
    cur.expect("=")?;
    let layout = operand::layout(cur, cx.schema)?;
    let mut object = ObjectSpec {
        name,
        layout,
        fields: vec![],
        items: vec![],
        item_capacity: 0,
        entries: vec![],
        key_capacity: 0,
    };
    let (items, keys) = (cx.schema.layout(layout).items, cx.schema.layout(layout).keys);
    if cur.eat("{") {
        cur.list("}", |cur| {
            let part_follows = cur.peek_at(1) == Some(&Tok::Punct(":"));
            if part_follows && cur.eat_word("items") {
                let part = items.ok_or_else(|| cur.error("this layout has no items"))?;
                object_items(cur, cx, &part.element, &mut object)
            } else if part_follows && cur.eat_word("entries") {
                let part = keys.ok_or_else(|| cur.error("this layout has no keyed entries"))?;
                object_entries(cur, cx, &part.element, &mut object)
            } else {
                let field = operand::field(cur, cx.schema, Some(layout))?;
                cur.expect(":")?;
                let value = spec_value(cur, cx, cx.schema.field_cell(field).ty)?;
                object.fields.push((field, value));
                Ok(())
            }
        })?;
    }
    cur.end()?;
    Ok(object)
}

fn object_items(cur: &mut Cursor, cx: &Cx, element: &Element, object: &mut ObjectSpec) -> Parsed {
    cur.expect(":")?;
    cur.expect("[")?;
    cur.list("]", |cur| {
        object.items.push(spec_element(cur, cx, element)?);
        Ok(())
    })?;
    object.item_capacity = room(cur, object.items.len())?;
    Ok(())
}

fn object_entries(cur: &mut Cursor, cx: &Cx, element: &Element, object: &mut ObjectSpec) -> Parsed {
    cur.expect(":")?;
    cur.expect("{")?;
    cur.list("}", |cur| {
        let start = cur.pos;
        let Some((_, Written::Object(key))) = operand::constant(cur, cx)? else {
            return Err(cur.error_at(start, "expected a key object such as '@k'"));
        };
        cur.expect(":")?;
        let (tag, value) = spec_element(cur, cx, element)?;
        object.entries.push((key, tag, value));
        Ok(())
    })?;
    object.key_capacity = room(cur, object.entries.len())?;
    Ok(())
}

/// `room 8`, at least `used`.
fn room(cur: &mut Cursor, used: usize) -> Result<u32, ParseError> {
    let capacity: u32 = if cur.eat_word("room") { cur.small("room")? } else { used as u32 };
    if (capacity as usize) < used {
        return Err(cur.error_at(cur.pos - 1, format!("room for {capacity} is too little for {used}")));
    }
    Ok(capacity)
}

/// `int 5`, `nil`, or without a tag `5`.
fn spec_element(
    cur: &mut Cursor,
    cx: &Cx,
    element: &Element,
) -> Result<(Option<crate::schema::TagId>, SpecValue), ParseError> {
    if element.tag.is_none() {
        return Ok((None, spec_value(cur, cx, element.untagged)?));
    }
    let tag = operand::tag(cur, cx.schema)?;
    match cx.schema.tag(tag).payload {
        None => Ok((Some(tag), SpecValue::Nothing)),
        Some(ty) => Ok((Some(tag), spec_value(cur, cx, ty)?)),
    }
}

/// A constant of that type.
fn spec_value(cur: &mut Cursor, cx: &Cx, ty: Type) -> Result<SpecValue, ParseError> {
    let start = cur.pos;
    let Some((found, constant)) = operand::constant(cur, cx)? else {
        return Err(cur.error(format!("expected a constant, found {}", cur.found())));
    };
    match constant {
        Written::Object(number) if ty.is_pointer() => Ok(SpecValue::Object(number)),
        Written::Bits(bits) if found == ty || (found.is_pointer() && ty.is_pointer()) => {
            Ok(SpecValue::Bits(bits))
        }
        _ => Err(cur.error_at(start, format!("this is no {ty}"))),
    }
}
