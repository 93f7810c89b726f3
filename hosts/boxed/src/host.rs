//! What this host tells Tracelift about itself: slots, cells, the two record layouts and their allocator.
//!
//! Problem: the optimizer can remove a box only if it knows what a box is. Design: both classes are record
//! layouts with a class word and one immutable-in-practice field; slots are untagged words, since every value
//! is an object. Invariant: layout `n` has class word `n + 1` (`heap::class_of`), which the allocator relies
//! on.
//!
//! Example: the whole description of a class is three calls: a layout, its class word, its field.

use tracelift_core::schema::{
    Cell, CellId, ClassSet, FieldId, Func, FuncEffects, FuncId, LayoutId, LayoutSpec, SlotCells, SlotLayout,
    TagId,
};
use tracelift_core::{Schema, Type};
use tracelift_runtime::UnitLimit;

use crate::frames::{self, Frame};
use crate::heap::{self, Context, Object};

/// Ids of what was described.
#[derive(Clone, Copy, Debug)]
pub struct Host {
    /// The tag of every slot: an object.
    pub object: TagId,
    /// The layouts of `BoxedInteger` and `BoxedFloat`.
    pub layouts: [LayoutId; 2],
    /// Their fields `intval` and `floatval`.
    pub fields: [FieldId; 2],
    /// Iterations left, a cell of the context.
    pub fuel: CellId,
    /// Objects made since the last collection, a cell of the context.
    pub debt: CellId,
    /// The frame that runs and the last one that there may be, cells of the context.
    pub frames: [CellId; 2],
    /// Function, next operation and first slot: cells of a frame.
    pub frame: [CellId; 3],
    /// Where units must end: a cell of what the library keeps of them.
    pub limit: CellId,
}

/// Words that this host keeps with a frame: function and next operation.
pub const FRAME_WORDS: u32 = 2;

/// Describes the host.
pub fn describe(schema: &mut Schema) -> Host {
    schema.set_slots(SlotLayout { stride: 8, payload: 0, tag: None });
    schema.frame_words = FRAME_WORDS;
    let object = schema.add_tag("object", 0, Some(Type::Ref));
    let class = schema.alias_class("class");
    let fuel = schema.alias_class("fuel");
    let debt = schema.alias_class("debt");
    let at = |offset: usize| offset as i32;
    let class_word = Cell {
        immutable: true,
        ..Cell::new("class", at(std::mem::offset_of!(Object, class)), Type::Int, class)
    };
    let class_word = schema.add_cell(class_word);
    let fuel = schema.add_cell(Cell::new("fuel", at(std::mem::offset_of!(Context, fuel)), Type::Int, fuel));
    let debt_cell = Cell::new("debt", at(std::mem::offset_of!(Context, debt)), Type::Int, debt);
    let debt_cell = schema.add_cell(debt_cell);
    let alloc = schema.add_func(Func {
        name: "alloc".into(),
        params: vec![Type::Addr, Type::Int, Type::Int, Type::Int],
        result: Some(Type::Ref),
        effects: FuncEffects::pure().allocating().writing(ClassSet::of(vec![debt])),
        address: heap::alloc as *const () as usize,
        evaluable: false,
    });
    let (integer, intval) = add_class(schema, "BoxedInteger", "intval", Type::Int, class_word, alloc);
    let (float, floatval) = add_class(schema, "BoxedFloat", "floatval", Type::Float, class_word, alloc);
    let (frames, frame) = add_frames(schema);
    let limits = schema.alias_class("limit");
    let limit = Cell::new("limit.end", at(std::mem::offset_of!(UnitLimit, end)), Type::Int, limits);
    let limit = schema.add_cell(limit);
    add_slot_cells(schema);
    Host {
        object,
        layouts: [integer, float],
        fields: [intval, floatval],
        fuel,
        debt: debt_cell,
        frames,
        frame,
        limit,
    }
}

/// A slot in memory: a side trace of a unit finds there what another unit has returned.
fn add_slot_cells(schema: &mut Schema) {
    let slots = schema.alias_class("slot");
    let mut cell = |name: &str, ty: Type| schema.add_cell(Cell::new(name, 0, ty, slots));
    let value = [
        cell("slot.int", Type::Int),
        cell("slot.float", Type::Float),
        cell("slot.ref", Type::Ref),
        cell("slot.addr", Type::Addr),
    ];
    schema.set_slot_cells(SlotCells { value, tag: None });
}

/// The cells of the frames, which only recursion touches.
fn add_frames(schema: &mut Schema) -> ([CellId; 2], [CellId; 3]) {
    use std::mem::offset_of;
    let mut add = |name: &str, offset: usize, ty: Type| {
        let class = schema.alias_class(name);
        schema.add_cell(Cell::new(name, offset as i32, ty, class))
    };
    let at = offset_of!(Context, frames);
    let frames = [("frames.top", at + frames::TOP), ("frames.last", at + frames::LAST)]
        .map(|(name, offset)| add(name, offset, Type::Addr));
    let frame = [
        ("frame.function", offset_of!(Frame, function)),
        ("frame.pc", offset_of!(Frame, pc)),
        ("frame.base", offset_of!(Frame, base)),
    ];
    (frames, frame.map(|(name, offset)| add(name, offset, Type::Int)))
}

fn add_class(
    schema: &mut Schema,
    name: &str,
    field: &str,
    ty: Type,
    class_word: CellId,
    alloc: FuncId,
) -> (LayoutId, FieldId) {
    let size = size_of::<Object>() as u32;
    let layout = schema.add_layout(LayoutSpec { name: name.into(), size });
    schema.set_class_word(layout, class_word, heap::class_of(layout));
    schema.layout_mut(layout).alloc = Some(alloc);
    let value = schema.alias_class(field);
    let field = Cell::new(field, std::mem::offset_of!(Object, value) as i32, ty, value);
    let field = schema.add_field(layout, field);
    (layout, field)
}

impl Host {
    /// Layout and field of the objects with a class word.
    pub fn class(&self, class: u64) -> (LayoutId, FieldId) {
        let index = if class == heap::INTEGER { 0 } else { 1 };
        (self.layouts[index], self.fields[index])
    }
}
