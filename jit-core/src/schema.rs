//! The schema: what a host tells once about its memory, its objects and its functions.
//!
//! Problem: an optimizer that knows nothing of the host's objects can forward no load and remove no
//! allocation. Design: the host declares tags, the slot layout of its frames, raw memory *cells*, *record
//! layouts* with up to three parts (fixed fields, indexed items, keyed entries) and *functions* with effects;
//! each gets a dense id, and instructions carry ids. One schema serves all traces of a VM and only grows.
//!
//! Aliasing: each cell belongs to one alias class; accesses of different classes never touch the same memory.
//! All typed views of one payload (int, float, ref, addr) belong to one class and are one location.
//!
//! Invariant: ids handed out stay valid for the life of the schema; cell widths are 1, 2, 4 or 8 bytes and
//! only integers are narrower than 8.
//!
//! ```
//! use tracelift_core::schema::*;
//! use tracelift_core::Type;
//! let mut schema = Schema::new();
//! let name = "BoxedInteger".into();
//! let boxed = schema.add_layout(LayoutSpec { name, size: 16, ..LayoutSpec::default() });
//! let class = schema.alias_class("boxed.class");
//! let word = schema.add_cell(Cell { ty: Type::Int, ..Cell::new("class", 0, Type::Int, class) });
//! schema.set_class_word(boxed, word, 1);
//! let intval = schema.alias_class("boxed.intval");
//! schema.add_field(boxed, Cell::new("intval", 8, Type::Int, intval));
//! assert_eq!(schema.layout(boxed).fields.len(), 1);
//! ```

use rustc_hash::FxHashMap;

pub use crate::effects::{ClassSet, FuncEffects};
use crate::types::Type;

macro_rules! define_id {
    ($(#[doc = $doc:literal] $name:ident),* $(,)?) => {$(
        #[doc = $doc]
        #[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub struct $name(pub u32);

        impl $name {
            /// The id as an index into its table.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}
pub(crate) use define_id;

define_id! {
    /// A host tag: the dynamic type that stands beside a payload in slots, items and entries.
    TagId,
    /// An alias class.
    ClassId,
    /// A raw memory cell, relative to an object or address.
    CellId,
    /// A record layout.
    LayoutId,
    /// A fixed field of a record layout (ids are global, not per layout).
    FieldId,
    /// A function that traces may call.
    FuncId,
}

/// A dynamic type of the host, as it stands in a tag byte or word.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tag {
    /// Name in the text form.
    pub name: String,
    /// The tag's bits in memory.
    pub bits: u64,
    /// The type of the payload; `None` for tags that are the whole value (nil, true, false).
    pub payload: Option<Type>,
}

/// Where a frame slot keeps payload and tag. A slot is `stride` bytes; slot `n` of a frame is at
/// `base + n * stride`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SlotLayout {
    /// Bytes from slot to slot.
    pub stride: u32,
    /// Offset of the 8-byte payload.
    pub payload: u32,
    /// Offset and width in bytes of the tag, if slots are tagged.
    pub tag: Option<(u32, u8)>,
}

/// The cells of a slot, from its address on, through which traces access slots as memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SlotCells {
    /// The payload, by [`Type`].
    pub value: [CellId; 4],
    /// The tag, if slots are tagged.
    pub tag: Option<CellId>,
}

/// A raw memory cell at a fixed offset from an object or address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cell {
    /// Name in the text form; unique in the schema.
    pub name: String,
    /// Byte offset.
    pub offset: i32,
    /// Bytes: 1, 2, 4 or 8; less than 8 for integers only.
    pub width: u8,
    /// Whether a narrow integer is sign-extended when loaded.
    pub signed: bool,
    /// Type of the loaded value.
    pub ty: Type,
    /// The memory it may share with other cells.
    pub class: ClassId,
    /// Never written after the object was made: loads survive every store and call.
    pub immutable: bool,
    /// May change at any time from outside (a signal handler's flag): a load is made in each iteration, where
    /// the trace has it.
    pub volatile: bool,
    /// Of a volatile cell: a loop may load it in one of [`POLL_DISTANCE`] iterations only, as no harm is done
    /// if it sees a change so much later.
    pub polled: bool,
}

/// Iterations from one load of a polled cell to the next, at most.
pub const POLL_DISTANCE: usize = 4;

impl Cell {
    /// An 8-byte, mutable cell.
    pub fn new(name: &str, offset: i32, ty: Type, class: ClassId) -> Cell {
        Cell {
            name: name.to_string(),
            offset,
            width: 8,
            signed: false,
            ty,
            class,
            immutable: false,
            volatile: false,
            polled: false,
        }
    }

    /// An unsigned integer cell of `width` bytes.
    pub fn narrow(name: &str, offset: i32, width: u8, class: ClassId) -> Cell {
        Cell { width, ..Cell::new(name, offset, Type::Int, class) }
    }
}

/// A fixed field of a record: a cell of the record itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    /// The record layout.
    pub layout: LayoutId,
    /// Where it lies.
    pub cell: CellId,
}

/// How one element (item or entry) of a record holds a value: payload views and tag, relative to the element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Element {
    /// Bytes from element to element.
    pub stride: u32,
    /// The payload seen as int, float, ref and addr (indexed by `Type as usize`); one location, one alias
    /// class.
    pub value: [CellId; 4],
    /// The tag, if elements are tagged; `None` means that all elements have the type `untagged`.
    pub tag: Option<CellId>,
    /// The element type of untagged elements.
    pub untagged: Type,
    /// The tag that means "nothing here" (Lua: nil), if there is one.
    pub absent: Option<TagId>,
}

/// The indexed part of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Items {
    /// How many items there are room for, a cell of the record.
    pub count: CellId,
    /// The address of the first item, a cell of the record (type `Addr`).
    pub base: CellId,
    /// The index of the first item (Lua: 1).
    pub first: i64,
    /// Each item.
    pub element: Element,
}

/// The keyed part of a record: a table of entries found by constant keys. Who may read one cell of an entry
/// may read them all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Keys {
    /// A cell of the record whose value says how large the entry table is (any encoding; Lua: log2).
    pub size: CellId,
    /// The address of the first entry, a cell of the record.
    pub base: CellId,
    /// Each entry's value.
    pub element: Element,
    /// The entry's key (type `Ref`), relative to the entry.
    pub key: CellId,
    /// The entry's key tag and its value for a live constant key (a dead entry may keep its key pointer).
    pub key_tag: Option<(CellId, u64)>,
    /// How far the entry that follows in a search lies after this one, in entries; 0 if none does. A key is
    /// in the entry where it belongs, or in one of those that follow it, or nowhere.
    pub next: Option<CellId>,
    /// `find(context, layout id, record, key) -> Addr` of the entry, or null when the key is absent (also:
    /// when its entry holds the absent tag). Reads the keyed part, no effect.
    pub find: FuncId,
    /// `insert(context, layout id, record, key) -> Addr` of the new entry, whose value the trace then writes;
    /// null when there is no memory (then without effect).
    pub insert: Option<FuncId>,
}

/// When a reference stored into a record needs the host collector's attention: both masks hit. The trace then
/// calls the function that sees to it; without one it leaves before the store, and the interpreter does it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Barrier {
    /// A cell of the record stored into.
    pub object: CellId,
    /// The bits of it that matter.
    pub object_mask: i64,
    /// A cell of the object stored.
    pub value: CellId,
    /// The bits of it that matter.
    pub value_mask: i64,
    /// `mend(context, record)`: what the collector needs before the store. It looks again at what the masks
    /// test, as traces may remember it from before a call of this function. See [`crate::Op::Mend`].
    pub mend: Option<FuncId>,
}

/// A record layout.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layout {
    /// Name in the text form; unique in the schema.
    pub name: String,
    /// Bytes of the record itself (its parts may lie elsewhere).
    pub size: u32,
    /// The cell and value by which a real object of this layout is recognized (`guard_class`).
    pub class_word: Option<(CellId, u64)>,
    /// Fixed fields, in order.
    pub fields: Vec<FieldId>,
    /// The indexed part.
    pub items: Option<Items>,
    /// The keyed part.
    pub keys: Option<Keys>,
    /// `alloc(context, layout id, items, keys) -> Ref`, null when there is no memory: makes an empty record
    /// of this layout with its class word set and room for that many items and entries. It neither collects
    /// nor throws. A virtual object that becomes real is filled right after it, without the barrier.
    ///
    /// An object that refers to slots of the frame, as a closure does that shares variables with it, is made
    /// by `alloc(context, frame base, layout id, site, keys)`: the base that the trace was entered with, and
    /// in place of the items a number that says something to the host only.
    /// [`Schema::is_made_in_frame`] tells them apart.
    pub alloc: Option<FuncId>,
    /// The write barrier.
    pub barrier: Option<Barrier>,
}

/// What [`Schema::add_layout`] needs to know at first; parts are added later.
#[derive(Clone, Debug, Default)]
pub struct LayoutSpec {
    /// Name in the text form; unique in the schema.
    pub name: String,
    /// Bytes of the record itself.
    pub size: u32,
}

/// A C function that traces may call: at most 6 integer or pointer and 8 float parameters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Func {
    /// Name in the text form; unique in the schema.
    pub name: String,
    /// Parameter types.
    pub params: Vec<Type>,
    /// Result type, if it has one.
    pub result: Option<Type>,
    /// What it may do; [`Effects::of_call`](crate::effects::Effects::of_call) tells.
    pub effects: FuncEffects,
    /// Its address; 0 if it is not known (such a trace cannot be compiled).
    pub address: usize,
    /// Whether the evaluator may call it too. If not, traces that call it are not evaluated, and the tools
    /// say so.
    pub evaluable: bool,
}

/// All that a host has declared.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    tags: Vec<Tag>,
    classes: Vec<String>,
    cells: Vec<Cell>,
    layouts: Vec<Layout>,
    fields: Vec<Field>,
    funcs: Vec<Func>,
    slots: Option<SlotLayout>,
    slot_cells: Option<SlotCells>,
    names: Names,
    /// 64-bit words per frame that the host wants back at an exit (resume pc and the like).
    pub frame_words: u32,
}

/// Where things stand by name; of several with one name, the first. Looking a name up costs the same however
/// much is declared.
#[derive(Clone, Debug, Default)]
struct Names {
    tags: FxHashMap<String, TagId>,
    classes: FxHashMap<String, ClassId>,
    cells: FxHashMap<String, CellId>,
    layouts: FxHashMap<String, LayoutId>,
    funcs: FxHashMap<String, FuncId>,
    /// By layout, then by name.
    fields: FxHashMap<LayoutId, FxHashMap<String, FieldId>>,
}

impl Default for SlotLayout {
    /// Payload and a one-byte tag side by side, 16 bytes a slot.
    fn default() -> SlotLayout {
        SlotLayout { stride: 16, payload: 0, tag: Some((8, 1)) }
    }
}

impl Schema {
    /// An empty schema.
    pub fn new() -> Schema {
        Schema::default()
    }

    /// A schema with one tag per type (`int` 0, `float` 1, `ref` 2, `addr` 3) and `nil` 4, for traces written
    /// by hand.
    pub fn with_default_tags() -> Schema {
        let mut schema = Schema::new();
        for ty in Type::ALL {
            schema.add_tag(ty.name(), ty as u64, Some(ty));
        }
        schema.add_tag("nil", 4, None);
        schema
    }

    /// The slot layout of frames.
    pub fn slots(&self) -> SlotLayout {
        self.slots.unwrap_or_default()
    }

    /// Whether the slot layout was declared.
    pub fn has_slots(&self) -> bool {
        self.slots.is_some()
    }

    /// Declares the slot layout of frames.
    pub fn set_slots(&mut self, slots: SlotLayout) {
        self.slots = Some(slots);
    }

    /// The cells of a slot, if they were declared: calls of the host need them.
    pub fn slot_cells(&self) -> Option<SlotCells> {
        self.slot_cells
    }

    /// Declares them.
    pub fn set_slot_cells(&mut self, cells: SlotCells) {
        self.slot_cells = Some(cells);
    }

    /// Changes the bits of a tag.
    pub fn set_tag_bits(&mut self, tag: TagId, bits: u64) {
        self.tags[tag.index()].bits = bits;
    }

    /// Declares a tag.
    pub fn add_tag(&mut self, name: &str, bits: u64, payload: Option<Type>) -> TagId {
        self.tags.push(Tag { name: name.to_string(), bits, payload });
        let id = TagId(self.tags.len() as u32 - 1);
        self.names.tags.entry(name.to_string()).or_insert(id);
        id
    }

    /// The alias class with that name, declared at first use.
    pub fn alias_class(&mut self, name: &str) -> ClassId {
        if let Some(&id) = self.names.classes.get(name) {
            return id;
        }
        self.classes.push(name.to_string());
        let id = ClassId(self.classes.len() as u32 - 1);
        self.names.classes.insert(name.to_string(), id);
        id
    }

    /// Declares a raw memory cell.
    pub fn add_cell(&mut self, cell: Cell) -> CellId {
        debug_assert!(matches!(cell.width, 1 | 2 | 4 | 8) && (cell.width == 8 || cell.ty == Type::Int));
        let id = CellId(self.cells.len() as u32);
        self.names.cells.entry(cell.name.clone()).or_insert(id);
        self.cells.push(cell);
        id
    }

    /// Declares a record layout without parts.
    pub fn add_layout(&mut self, spec: LayoutSpec) -> LayoutId {
        let id = LayoutId(self.layouts.len() as u32);
        self.names.layouts.entry(spec.name.clone()).or_insert(id);
        self.layouts.push(Layout {
            name: spec.name,
            size: spec.size,
            class_word: None,
            fields: Vec::new(),
            items: None,
            keys: None,
            alloc: None,
            barrier: None,
        });
        id
    }

    /// Says how a real object of this layout is recognized.
    pub fn set_class_word(&mut self, layout: LayoutId, cell: CellId, value: u64) {
        self.layouts[layout.index()].class_word = Some((cell, value));
    }

    /// Adds a fixed field to a layout.
    pub fn add_field(&mut self, layout: LayoutId, cell: Cell) -> FieldId {
        let cell = self.add_cell(cell);
        self.add_field_of(Field { layout, cell })
    }

    /// Adds a field whose cell is declared already.
    pub fn add_field_of(&mut self, field: Field) -> FieldId {
        self.fields.push(field);
        let id = FieldId(self.fields.len() as u32 - 1);
        self.layouts[field.layout.index()].fields.push(id);
        let name = self.cell(field.cell).name.clone();
        self.names.fields.entry(field.layout).or_default().entry(name).or_insert(id);
        id
    }

    /// Declares the four views of one payload at `offset` in an element, named `prefix.int` and so on.
    pub fn add_views(&mut self, prefix: &str, offset: i32, class: ClassId) -> [CellId; 4] {
        Type::ALL.map(|ty| self.add_cell(Cell::new(&format!("{prefix}.{ty}"), offset, ty, class)))
    }

    /// A layout, to add its parts, allocator or barrier to.
    pub fn layout_mut(&mut self, layout: LayoutId) -> &mut Layout {
        &mut self.layouts[layout.index()]
    }

    /// Declares a function.
    pub fn add_func(&mut self, func: Func) -> FuncId {
        let id = FuncId(self.funcs.len() as u32);
        self.names.funcs.entry(func.name.clone()).or_insert(id);
        self.funcs.push(func);
        id
    }

    /// A tag.
    pub fn tag(&self, id: TagId) -> &Tag {
        &self.tags[id.index()]
    }
    /// An alias class's name.
    pub fn class_name(&self, id: ClassId) -> &str {
        &self.classes[id.index()]
    }
    /// A cell.
    pub fn cell(&self, id: CellId) -> &Cell {
        &self.cells[id.index()]
    }
    /// A layout.
    pub fn layout(&self, id: LayoutId) -> &Layout {
        &self.layouts[id.index()]
    }
    /// Whether objects of the layout refer to slots of the frame; see [`Layout::alloc`].
    pub fn is_made_in_frame(&self, id: LayoutId) -> bool {
        self.layout(id).alloc.is_some_and(|alloc| self.func(alloc).params.len() == 5)
    }
    /// A field.
    pub fn field(&self, id: FieldId) -> Field {
        self.fields[id.index()]
    }
    /// The cell of a field.
    pub fn field_cell(&self, id: FieldId) -> &Cell {
        self.cell(self.field(id).cell)
    }
    /// A function.
    pub fn func(&self, id: FuncId) -> &Func {
        &self.funcs[id.index()]
    }
    /// A function, to give it an address.
    pub fn func_mut(&mut self, id: FuncId) -> &mut Func {
        &mut self.funcs[id.index()]
    }

    /// All tags, by id.
    pub fn tags(&self) -> &[Tag] {
        &self.tags
    }
    /// All alias classes' names, by id.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }
    /// All cells, by id.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// The layout in whose entries a cell is, if it is in any: the first one.
    pub fn entry_of(&self, cell: CellId) -> Option<LayoutId> {
        let position = self.layouts.iter().position(|layout| {
            layout.keys.is_some_and(|keys| {
                let key_tag = keys.key_tag.map(|(cell, _)| cell);
                let is_key = cell == keys.key || Some(cell) == key_tag || Some(cell) == keys.next;
                is_key || Some(cell) == keys.element.tag || keys.element.value.contains(&cell)
            })
        });
        position.map(|position| LayoutId(position as u32))
    }

    /// All layouts, by id.
    pub fn layouts(&self) -> &[Layout] {
        &self.layouts
    }
    /// All fields, by id.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }
    /// All functions, by id.
    pub fn funcs(&self) -> &[Func] {
        &self.funcs
    }

    /// The tag with that name.
    pub fn find_tag(&self, name: &str) -> Option<TagId> {
        self.names.tags.get(name).copied()
    }
    /// The cell with that name.
    pub fn find_cell(&self, name: &str) -> Option<CellId> {
        self.names.cells.get(name).copied()
    }
    /// The layout with that name.
    pub fn find_layout(&self, name: &str) -> Option<LayoutId> {
        self.names.layouts.get(name).copied()
    }
    /// The function with that name.
    pub fn find_func(&self, name: &str) -> Option<FuncId> {
        self.names.funcs.get(name).copied()
    }
    /// The field of that layout with that name.
    pub fn find_field(&self, layout: LayoutId, name: &str) -> Option<FieldId> {
        self.names.fields.get(&layout)?.get(name).copied()
    }

    /// The type that an element of a record has under `tag` (`None`: the tag has no payload, or no such
    /// element).
    pub fn element_type(&self, element: &Element, tag: Option<TagId>) -> Option<Type> {
        match tag {
            Some(tag) => self.tag(tag).payload,
            None => Some(element.untagged),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quadratic work would take minutes here.
    #[test]
    fn a_name_is_found_at_once_however_much_is_declared() {
        const MANY: u32 = 100_000;
        let mut schema = Schema::new();
        let layout = schema.add_layout(LayoutSpec { name: "Wide".into(), size: 0 });
        for n in 0..MANY {
            let name = format!("part {n}");
            let class = schema.alias_class(&name);
            assert_eq!((class, schema.alias_class(&name)), (ClassId(n), ClassId(n)));
            let field = schema.add_field(layout, Cell::new(&name, n as i32 * 8, Type::Int, class));
            assert_eq!(schema.find_field(layout, &name), Some(field));
            assert_eq!(schema.find_cell(&name), Some(schema.field(field).cell));
        }
        assert_eq!(schema.classes().len(), MANY as usize);
        assert_eq!(schema.find_field(LayoutId(1), "part 1"), None);
    }

    #[test]
    fn of_several_with_one_name_the_first_is_found() {
        let mut schema = Schema::new();
        let first = schema.add_tag("int", 1, Some(Type::Int));
        schema.add_tag("int", 2, Some(Type::Int));
        assert_eq!(schema.find_tag("int"), Some(first));
    }
}
