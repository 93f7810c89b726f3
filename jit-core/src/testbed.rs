//! The standard test schema: a small imaginary host with objects of every kind and functions with every
//! effect.
//!
//! Problem: trace files, the random-trace generator and the tests of each layer need objects and functions to
//! talk about, and hosts are far above this crate. Design: [`standard_schema`] declares tags, layouts with
//! every part (fields, narrow fields, tagged and untagged items, keyed entries, barriers, a raw buffer) and
//! functions; their addresses come from [`natives`], by which trace files that declare schemas of their own
//! find them too. All records work in any [`World`](crate::world::World), since `world.alloc`, `world.find`
//! and `world.insert` follow the layouts.
//!
//! Invariant: every object begins with the same header: class word (4 bytes at 0, immutable) and mark byte
//! (at 4, which barriers look at). Tag bits lie on both sides of 0x80, so that a narrow load with the wrong
//! sign is seen.
//!
//! | layout | parts |
//! |---|---|
//! | `BoxedInteger`, `BoxedFloat` | one field, as in the seeds |
//! | `Pair` | two references, with a barrier |
//! | `Narrow` | signed and unsigned fields of 1, 2, 4 and 8 bytes, one of them immutable |
//! | `Table` | items from 1 and keyed entries, with tags and the absent tag `nil`; a barrier that calls |
//! | `FloatArray`, `RefArray` | items from 0 without tags |
//! | `Square`, `Circle` | one field, and a class word of their own that functions may rewrite |
//! | `Buffer` | 64 raw bytes at offset 16, for the `raw.*` cells |

pub mod every;
mod functions;

use crate::schema::*;
use crate::types::Type;

/// Offset of a `Buffer`'s raw bytes.
pub const BUFFER_START: i32 = 16;
/// How many raw bytes a `Buffer` has.
pub const BUFFER_BYTES: u32 = 64;

/// The address of the native test function with that name: for trace files and test schemas.
///
/// | name | signature | effect |
/// |---|---|---|
/// | `world.alloc` | (addr context, int layout, int items, int keys) -> ref | makes it; null without memory |
/// | `world.alloc_in_frame` | (addr context, addr base, int layout, int site, int keys) -> ref | the same |
/// | `world.find` | (addr context, int layout, ref record, ref key) -> addr | reads; null if absent |
/// | `world.insert` | (addr context, int layout, ref record, ref key) -> addr | writes; null without memory |
/// | `math.sin` | (float) -> float | none |
/// | `math.fmod` | (float, float) -> float | none |
/// | `test.mix` | (int, float) -> int | none |
/// | `test.wide` | (6 ints and 8 floats, in turn) -> float | none |
/// | `test.same` | (ref, ref) -> int | none: 1 if they are the same object |
/// | `test.bump` | (ref BoxedInteger) | adds 1 to `intval` |
/// | `test.peek` | (ref BoxedInteger) -> int | reads `intval` |
/// | `test.keep` | (ref Pair, ref) | writes `first` |
/// | `test.look` | (ref Pair) -> int | reads `first`: 1 if it is null |
/// | `test.mend` | (addr context, ref) | sets the byte at [`REMEMBERED_AT`] |
/// | `test.maybe` | (int) -> addr | none; null if the argument is divisible by 3 |
/// | `test.maybe_bump` | (ref BoxedInteger, int n) -> addr | null if n is even, else adds n to `intval` |
/// | `test.boxed` | (addr context, int) -> ref | makes a `BoxedInteger` (layout 0); null without memory |
/// | `does.…` | (addr context, int combination, int, ref) -> int | what its name says ([`every`]) |
/// | `tries.…` | the same, but -> addr | the same; null now and then |
/// | `test.anything` | (addr context) | counts in `context.counter`, adds 1 to `intval` of the first object |
pub fn natives(name: &str) -> Option<usize> {
    use crate::world::natives::*;
    use functions::*;
    let address = match name {
        "world.alloc" => world_alloc as *const () as usize,
        "world.alloc_in_frame" => world_alloc_in_frame as *const () as usize,
        "world.find" => world_find as *const () as usize,
        "world.insert" => world_insert as *const () as usize,
        "math.sin" => sin as *const () as usize,
        "math.fmod" => fmod as *const () as usize,
        "test.mix" => mix as *const () as usize,
        "test.wide" => wide as *const () as usize,
        "test.same" => same as *const () as usize,
        "test.bump" => bump as *const () as usize,
        "test.peek" => peek as *const () as usize,
        "test.keep" => keep as *const () as usize,
        "test.look" => look as *const () as usize,
        "test.mend" => mend as *const () as usize,
        "test.maybe" => maybe as *const () as usize,
        "test.maybe_bump" => maybe_bump as *const () as usize,
        "test.boxed" => boxed as *const () as usize,
        "test.anything" => anything as *const () as usize,
        _ => return every::native(name),
    };
    Some(address)
}

/// The standard test schema; see the file's table.
pub fn standard_schema() -> Schema {
    let mut schema = Schema::new();
    schema.frame_words = 2;
    add_tags(&mut schema);
    add_header(&mut schema);
    let alloc = add_func(
        &mut schema,
        "world.alloc",
        &[Type::Addr, Type::Int, Type::Int, Type::Int],
        Some(Type::Ref),
        FuncEffects::pure().allocating(),
    );
    // `test.boxed` relies on BoxedInteger being layout 0.
    let boxed = add_record(&mut schema, "BoxedInteger", 16, 0x11, alloc);
    field(&mut schema, boxed, "intval", 8, Type::Int);
    let boxed_float = add_record(&mut schema, "BoxedFloat", 16, 0x12, alloc);
    field(&mut schema, boxed_float, "floatval", 8, Type::Float);
    let pair = add_record(&mut schema, "Pair", 24, 0x8000_0013, alloc);
    field(&mut schema, pair, "first", 8, Type::Ref);
    field(&mut schema, pair, "second", 16, Type::Ref);
    add_barrier(&mut schema, pair);
    add_narrow(&mut schema, alloc);
    add_table(&mut schema, alloc);
    for (name, element, class) in [("FloatArray", Type::Float, 0x16), ("RefArray", Type::Ref, 0x17)] {
        add_array(&mut schema, name, element, class, alloc);
    }
    add_record(&mut schema, "Buffer", BUFFER_START as u32 + BUFFER_BYTES, 0x18, alloc);
    add_shapes(&mut schema, alloc);
    add_framed(&mut schema);
    add_raw_cells(&mut schema);
    add_functions(&mut schema);
    every::declare(&mut schema);
    schema
}

fn add_tags(schema: &mut Schema) {
    for (name, bits, payload) in [
        ("int", 0x03, Some(Type::Int)),
        ("float", 0x13, Some(Type::Float)),
        ("ref", 0x85, Some(Type::Ref)),
        ("addr", 0x02, Some(Type::Addr)),
        ("table", 0xC6, Some(Type::Ref)),
        ("nil", 0x20, None),
        ("true", 0x91, None),
        ("false", 0x11, None),
    ] {
        schema.add_tag(name, bits, payload);
    }
}

/// The cells that every object begins with.
fn add_header(schema: &mut Schema) {
    let class = schema.alias_class("header.class");
    schema.add_cell(Cell { immutable: true, ..Cell::narrow("header.class", 0, 4, class) });
    let mark = schema.alias_class("header.mark");
    schema.add_cell(Cell::narrow("header.mark", 4, 1, mark));
}

fn add_func(
    schema: &mut Schema,
    name: &str,
    params: &[Type],
    result: Option<Type>,
    effects: FuncEffects,
) -> FuncId {
    schema.add_func(Func {
        name: name.to_string(),
        params: params.to_vec(),
        result,
        effects,
        address: natives(name).unwrap_or(0),
        evaluable: true,
    })
}

/// A layout with the common header; the mark byte is a field, so that specs and traces can set it.
fn add_record(schema: &mut Schema, name: &str, size: u32, class_value: u64, alloc: FuncId) -> LayoutId {
    let word = schema.find_cell("header.class").expect("declared first");
    let layout = schema.add_layout(LayoutSpec { name: name.to_string(), size });
    schema.set_class_word(layout, word, class_value);
    let mark = schema.alias_class("header.mark");
    schema.add_field(layout, Cell::narrow(&format!("{}_mark", name.to_lowercase()), 4, 1, mark));
    schema.layout_mut(layout).alloc = Some(alloc);
    layout
}

/// Objects that refer to the frame, as closures do that share its variables.
fn add_framed(schema: &mut Schema) {
    let params = [Type::Addr, Type::Addr, Type::Int, Type::Int, Type::Int];
    let effects = FuncEffects::pure().allocating();
    let alloc = add_func(schema, "world.alloc_in_frame", &params, Some(Type::Ref), effects);
    let framed = add_record(schema, "Framed", 32, 0x1b, alloc);
    field(schema, framed, "kept_1", 8, Type::Ref);
    field(schema, framed, "kept_2", 16, Type::Ref);
}

fn field(schema: &mut Schema, layout: LayoutId, name: &str, offset: i32, ty: Type) -> FieldId {
    let class = schema.alias_class(name);
    schema.add_field(layout, Cell::new(name, offset, ty, class))
}

/// Storing a marked object (bit 1) into a marked record (bit 0) needs the collector.
fn add_barrier(schema: &mut Schema, layout: LayoutId) {
    let mark = schema.find_cell("header.mark").expect("declared first");
    schema.layout_mut(layout).barrier =
        Some(Barrier { object: mark, object_mask: 1, value: mark, value_mask: 2, mend: None });
}

/// Where the byte of a record's header lies that `test.mend` sets. No cell is there, so that no trace can
/// tell; a trace may do it sooner than what it was made of, or where that need not.
pub const REMEMBERED_AT: u64 = 5;

fn add_narrow(schema: &mut Schema, alloc: FuncId) {
    let layout = add_record(schema, "Narrow", 48, 0x14, alloc);
    for (name, offset, width, signed) in [
        ("u8", 8, 1, false),
        ("i8", 9, 1, true),
        ("u16", 10, 2, false),
        ("i16", 12, 2, true),
        ("u32", 16, 4, false),
        ("i32", 20, 4, true),
        ("i64", 24, 8, false),
    ] {
        let class = schema.alias_class(&format!("narrow.{name}"));
        schema.add_field(layout, Cell { signed, ..Cell::narrow(name, offset, width, class) });
    }
    let class = schema.alias_class("narrow.fixed");
    schema.add_field(layout, Cell { immutable: true, ..Cell::new("fixed", 32, Type::Int, class) });
}

fn element(schema: &mut Schema, prefix: &str, stride: u32, tag: Option<i32>, untagged: Type) -> Element {
    let class = schema.alias_class(&format!("{prefix}.value"));
    let value = schema.add_views(&format!("{prefix}.value"), 0, class);
    let tag = tag.map(|offset| {
        let class = schema.alias_class(&format!("{prefix}.tag"));
        schema.add_cell(Cell::narrow(&format!("{prefix}.tag"), offset, 1, class))
    });
    let absent = tag.and_then(|_| schema.find_tag("nil"));
    Element { stride, value, tag, untagged, absent }
}

fn add_table(schema: &mut Schema, alloc: FuncId) {
    let table = add_record(schema, "Table", 48, 0x15, alloc);
    field(schema, table, "meta", 32, Type::Ref);
    add_barrier(schema, table);
    let array = schema.alias_class("table.array");
    let count = schema.add_cell(Cell::narrow("table.count", 8, 4, array));
    let base = schema.add_cell(Cell::new("table.items", 16, Type::Addr, array));
    let item = element(schema, "item", 16, Some(8), Type::Int);
    schema.layout_mut(table).items = Some(Items { count, base, first: 1, element: item });

    let hash = schema.alias_class("table.hash");
    let size = schema.add_cell(Cell::narrow("table.size", 12, 4, hash));
    let base = schema.add_cell(Cell::new("table.entries", 24, Type::Addr, hash));
    let entry = element(schema, "entry", 24, Some(8), Type::Int);
    let (key_class, key_tag_class) = (schema.alias_class("entry.key"), schema.alias_class("entry.key_tag"));
    let key = schema.add_cell(Cell::new("entry.key", 16, Type::Ref, key_class));
    let key_tag = schema.add_cell(Cell::narrow("entry.key_tag", 9, 1, key_tag_class));
    let classes: Vec<ClassId> = ["table.hash", "entry.key", "entry.key_tag", "entry.tag", "entry.value"]
        .map(|name| schema.alias_class(name))
        .into();
    let params = [Type::Addr, Type::Int, Type::Ref, Type::Ref];
    let reads = ClassSet::of(classes);
    let effects = FuncEffects::pure().reading(reads.clone());
    let find = add_func(schema, "world.find", &params, Some(Type::Addr), effects);
    let effects = FuncEffects::pure().reading(reads.clone()).writing(reads);
    let insert = add_func(schema, "world.insert", &params, Some(Type::Addr), effects);
    schema.layout_mut(table).keys = Some(Keys {
        size,
        base,
        element: entry,
        key,
        key_tag: Some((key_tag, 0x85)),
        next: None,
        find,
        insert: Some(insert),
    });
}

fn add_array(schema: &mut Schema, name: &str, ty: Type, class_value: u64, alloc: FuncId) {
    let layout = add_record(schema, name, 24, class_value, alloc);
    let prefix = name.to_lowercase();
    let class = schema.alias_class(&format!("{prefix}.shape"));
    let count = schema.add_cell(Cell::new(&format!("{prefix}.count"), 8, Type::Int, class));
    let base = schema.add_cell(Cell::new(&format!("{prefix}.base"), 16, Type::Addr, class));
    let element = element(schema, &prefix, 8, None, ty);
    schema.layout_mut(layout).items = Some(Items { count, base, first: 0, element });
    if ty == Type::Ref {
        add_barrier(schema, layout);
    }
}

/// Two layouts whose class word host code may rewrite: what one of them is may become the other.
fn add_shapes(schema: &mut Schema, alloc: FuncId) {
    let (kind, size) = (schema.alias_class("shape.kind"), schema.alias_class("shape.size"));
    let word = schema.add_cell(Cell::new("shape.kind", 8, Type::Int, kind));
    for (name, field, class) in [("Square", "side", 0x19_0000_0001), ("Circle", "radius", 0x1A_0000_0001)] {
        let layout = add_record(schema, name, 24, 0, alloc);
        schema.set_class_word(layout, word, class);
        schema.add_field(layout, Cell::new(field, 16, Type::Int, size));
    }
}

/// The standard test schema, and cells for the frame's slots: so the optimizer may store them.
pub fn schema_with_slots() -> Schema {
    let mut schema = standard_schema();
    let layout = schema.slots();
    let class = schema.alias_class("slot");
    let payload = layout.payload as i32;
    let value = Type::ALL.map(|ty| schema.add_cell(Cell::new(&format!("slot.{ty}"), payload, ty, class)));
    let tag = layout.tag.map(|(offset, width)| {
        let class = schema.alias_class("slot.tag");
        schema.add_cell(Cell::narrow("slot.tag", offset as i32, width, class))
    });
    schema.set_slot_cells(SlotCells { value, tag });
    schema
}

/// The standard test schema with tags of 8 bytes. Two of them need more than 4, and one is what units would
/// return where they are left if no tag were that.
pub fn schema_with_wide_tags() -> Schema {
    let mut schema = standard_schema();
    schema.set_slots(SlotLayout { stride: 16, payload: 0, tag: Some((8, 8)) });
    for (name, bits) in [("true", 1 << 32), ("false", 0xFFFF_FFFF_0000_0020)] {
        let tag = schema.find_tag(name).expect("a tag of the standard schema");
        schema.set_tag_bits(tag, bits);
    }
    schema
}

/// Views of raw memory at an address, all in one alias class, and the cells at the context pointer.
fn add_raw_cells(schema: &mut Schema) {
    let raw = schema.alias_class("raw");
    for ty in Type::ALL {
        schema.add_cell(Cell::new(&format!("raw.{ty}"), 0, ty, raw));
    }
    for (name, width, signed) in [
        ("raw.u8", 1, false),
        ("raw.i8", 1, true),
        ("raw.u16", 2, false),
        ("raw.i16", 2, true),
        ("raw.u32", 4, false),
        ("raw.i32", 4, true),
    ] {
        schema.add_cell(Cell { signed, ..Cell::narrow(name, 0, width, raw) });
    }
    for (index, name) in ["interrupt", "debt", "counter", "spare"].into_iter().enumerate() {
        let class = schema.alias_class(&format!("context.{name}"));
        schema.add_cell(Cell::new(&format!("context.{name}"), index as i32 * 8, Type::Int, class));
    }
    let frame = schema.alias_class("frame");
    schema.add_cell(Cell::new("frame.int", 0, Type::Int, frame));
}

fn add_functions(schema: &mut Schema) {
    use Type::{Addr, Float, Int, Ref};
    let pure = FuncEffects::pure;
    let touching = |schema: &mut Schema, name: &str, write: bool| {
        let class = ClassSet::of(vec![schema.alias_class(name)]);
        let writes = if write { class.clone() } else { ClassSet::None };
        FuncEffects::pure().reading(class).writing(writes)
    };
    add_func(schema, "math.sin", &[Float], Some(Float), pure());
    add_func(schema, "math.fmod", &[Float, Float], Some(Float), pure());
    add_func(schema, "test.mix", &[Int, Float], Some(Int), pure());
    let wide: Vec<Type> = (0..14).map(|n| if n < 12 && n % 2 == 0 { Int } else { Float }).collect();
    add_func(schema, "test.wide", &wide, Some(Float), pure());
    add_func(schema, "test.same", &[Ref, Ref], Some(Int), pure());
    let bumps = touching(schema, "intval", true);
    add_func(schema, "test.bump", &[Ref], None, bumps.clone());
    let peeks = touching(schema, "intval", false);
    add_func(schema, "test.peek", &[Ref], Some(Int), peeks);
    let keeps = touching(schema, "first", true);
    add_func(schema, "test.keep", &[Ref, Ref], None, keeps);
    let looks = touching(schema, "first", false);
    add_func(schema, "test.look", &[Ref], Some(Int), looks);
    let mends = pure().writing(ClassSet::of(vec![schema.alias_class("collector")]));
    let mend = add_func(schema, "test.mend", &[Addr, Ref], None, mends);
    let table = schema.find_layout("Table").expect("declared before");
    let barrier = schema.layout_mut(table).barrier.as_mut().expect("declared with one");
    barrier.mend = Some(mend);
    add_func(schema, "test.maybe", &[Int], Some(Addr), pure());
    add_func(schema, "test.maybe_bump", &[Ref, Int], Some(Addr), bumps);
    let makes = FuncEffects::pure().allocating();
    add_func(schema, "test.boxed", &[Addr, Int], Some(Ref), makes);
    add_func(schema, "test.anything", &[Addr], None, FuncEffects::anything());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_of_the_standard_schema_has_an_address() {
        for func in standard_schema().funcs() {
            assert_ne!(func.address, 0, "{}", func.name);
        }
    }

    #[test]
    fn names_of_cells_are_unique() {
        let schema = standard_schema();
        for (index, cell) in schema.cells().iter().enumerate() {
            assert_eq!(schema.find_cell(&cell.name), Some(CellId(index as u32)), "{}", cell.name);
        }
    }
}
