//! `tl_add_tag` to `tl_add_func`: the host describes its memory, objects and functions.
//!
//! Problem: a description that is wrong makes traces that read the wrong memory, long after the call that was
//! wrong. Design: each call is checked against what was declared before it, and what depends on the order of
//! calls when the first recording starts ([`Description::close`]). The first failure stays: each later call
//! fails with its sentence, and nothing is recorded. Invariant: a recording sees a description that is
//! complete, free of contradictions, and does not change any more.
//!
//! Example: `tl_set_slots(vm, 16, 0, 8, 3)` is refused, and so is the `tl_record` of a host that did not
//! look.

use std::collections::BTreeMap;
use std::ffi::{c_char, c_void};

use rustc_hash::{FxHashMap, FxHashSet};
use tracelift_core::effects::Effects;
use tracelift_core::schema::{
    Barrier, Cell, CellId, ClassId, ClassSet, Field, FieldId, Func, FuncEffects, FuncId, Items, Keys,
    LayoutId, LayoutSpec, SlotCells, SlotLayout,
};
use tracelift_core::{Schema, Type};

use super::element::{self, TlElement};
use super::{
    cell_id, class_id, enter, func_id, layout_id, name, not_null, optional, slice, text, type_of, TlStatus,
    TlVm, MAX_WORDS,
};
use crate::abort::AbortReason;
use crate::reserve::ReserveFn;

/// Most integer or pointer parameters and most float parameters of a function.
const MAX_PARAMS: (usize, usize) = (6, 8);
/// Bytes from slot to slot, at most: so the slots that a recording may name are small offsets.
pub(super) const MAX_STRIDE: u32 = 4096;

/// How far the host's description is.
#[derive(Debug, Default)]
pub(super) struct Description {
    /// The first call that failed.
    failed: Option<String>,
    /// A recording has started.
    is_closed: bool,
    /// By layout and offset: the bytes and the alias class of the fields there.
    fields: FxHashMap<LayoutId, BTreeMap<i32, (u8, ClassId)>>,
}

impl Description {
    /// A recording starts: nothing more may be declared. Why the description cannot be used, if so.
    pub(super) fn close(&mut self, schema: &Schema) -> Result<(), String> {
        if !self.is_closed && self.failed.is_none() {
            self.is_closed = true;
            self.failed = check_all(schema).err();
        }
        self.failed.clone().map_or(Ok(()), Err)
    }
}

/// What can be told when all is declared.
fn check_all(schema: &Schema) -> Result<(), String> {
    if !schema.has_slots() {
        return Err("tl_record: tl_set_slots was not called".into());
    }
    if schema.frame_words == 0 {
        return Err("tl_record: tl_set_frame_words was not called".into());
    }
    let Some((_, width)) = schema.slots().tag else { return Ok(()) };
    let mut seen = FxHashSet::default();
    for tag in schema.tags() {
        if tag.bits.checked_shr(u32::from(width) * 8).unwrap_or(0) != 0 {
            return Err(format!(
                "tl_record: the bits of tag {} do not fit the {width} bytes of a slot's tag",
                tag.name
            ));
        }
        if !seen.insert(tag.bits) {
            return Err(format!("tl_record: tag {} has the bits {:#x} of another one", tag.name, tag.bits));
        }
    }
    Ok(())
}

/// Runs a call that describes something. What it says when it fails begins with its name.
pub(super) fn describe<T: Copy>(
    vm: *mut TlVm,
    call: &str,
    otherwise: T,
    f: impl FnOnce(&mut Schema, &mut Description) -> Result<T, String>,
) -> T {
    enter(vm, otherwise, |handle| {
        let TlVm { vm, description, .. } = handle;
        if let Some(first) = &description.failed {
            return Err(first.clone());
        }
        let result = match description.is_closed {
            true => Err("it comes before the first recording".into()),
            false => f(vm.schema_mut(), description),
        };
        result.map_err(|sentence| {
            let sentence = format!("{call}: {sentence}");
            description.failed = Some(sentence.clone());
            if let Some((recorder, _)) = vm.recorder() {
                recorder.fail(AbortReason::Misuse, sentence.clone());
            }
            sentence
        })
    })
}

/// The same for calls with a status.
pub(super) fn set(
    vm: *mut TlVm,
    call: &str,
    f: impl FnOnce(&mut Schema, &mut Description) -> Result<(), String>,
) -> TlStatus {
    describe(vm, call, TlStatus::Misuse, |schema, description| f(schema, description).map(|()| TlStatus::Ok))
}

/// A name that nothing else of its kind has.
///
/// # Safety
/// `new` is null or NUL-terminated.
unsafe fn unused<'a, T>(
    new: *const c_char,
    kind: &str,
    find: impl FnOnce(&str) -> Option<T>,
) -> Result<&'a str, String> {
    // SAFETY: promised by the caller.
    let new = unsafe { name(new) }?;
    match find(new) {
        None => Ok(new),
        Some(_) => Err(format!("there is a {kind} {new} already")),
    }
}

/// Refuses what was declared before.
fn once(is_set: bool, what: &str, layout: &str) -> Result<(), String> {
    match is_set {
        false => Ok(()),
        true => Err(format!("{what} of layout {layout} was declared before")),
    }
}

/// Refuses unknown bits.
fn known_flags(flags: u32, known: u32, kind: &str) -> Result<(), String> {
    match flags & !known {
        0 => Ok(()),
        unknown => Err(format!("{unknown:#x} is no {kind}")),
    }
}

/// See `tracelift.h`.
///
/// # Safety
/// `name` is NUL-terminated.
#[no_mangle]
pub unsafe extern "C" fn tl_add_tag(vm: *mut TlVm, name: *const c_char, bits: u64, payload: u32) -> u32 {
    describe(vm, "tl_add_tag", 0, |schema, _| {
        // SAFETY: promised by the caller.
        let name = unsafe { unused(name, "tag", |name| schema.find_tag(name)) }?;
        Ok(schema.add_tag(name, bits, type_of(payload)?).0 + 1)
    })
}

/// See `tracelift.h`.
///
/// # Safety
/// `value` points to four cells.
#[no_mangle]
pub unsafe extern "C" fn tl_set_slot_cells(vm: *mut TlVm, value: *const u32, tag: u32) -> TlStatus {
    set(vm, "tl_set_slot_cells", |schema, _| {
        if !schema.has_slots() {
            return Err("tl_set_slots comes first".into());
        }
        not_null(value, "the cells of the payload")?;
        // SAFETY: promised by the caller.
        let value = unsafe { slice(value, Type::ALL.len()) };
        let slots = schema.slots();
        let mut cells = SlotCells { value: [CellId::default(); 4], tag: None };
        for (ty, &number) in Type::ALL.iter().zip(value) {
            let id = cell_id(schema, number)?;
            let cell = schema.cell(id);
            if cell.ty != *ty || i64::from(cell.offset) != i64::from(slots.payload) || cell.width != 8 {
                return Err(format!("cell {} is not the payload of a slot", cell.name));
            }
            cells.value[*ty as usize] = id;
        }
        cells.tag = optional(tag, |number| cell_id(schema, number))?;
        let found = cells.tag.map(|id| (schema.cell(id).offset, schema.cell(id).width));
        if found != slots.tag.map(|(offset, width)| (offset as i32, width)) {
            return Err("the cell of the tag is not that of a slot".into());
        }
        schema.set_slot_cells(cells);
        Ok(())
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_set_slots(
    vm: *mut TlVm,
    stride: u32,
    payload: u32,
    tag_offset: u32,
    tag_width: u32,
) -> TlStatus {
    set(vm, "tl_set_slots", |schema, _| {
        if schema.has_slots() {
            return Err("it was called before".into());
        }
        if stride == 0 || stride > MAX_STRIDE {
            return Err(format!("a stride of {stride} bytes: expected 8 to {MAX_STRIDE}"));
        }
        let ends = |offset: u32, width: u32| offset.checked_add(width).filter(|&end| end <= stride);
        let payload_end = ends(payload, 8).ok_or_else(|| {
            format!("a payload of 8 bytes at {payload} lies outside of a slot of {stride} bytes")
        })?;
        let tag = match tag_width {
            0 => None,
            1 | 2 | 4 | 8 => Some((tag_offset, tag_width as u8)),
            _ => return Err(format!("a tag of {tag_width} bytes: expected 0, 1, 2, 4 or 8")),
        };
        if tag.is_some() {
            let tag_end = ends(tag_offset, tag_width).ok_or_else(|| {
                format!("a tag of {tag_width} bytes at {tag_offset} lies outside of a slot of {stride} bytes")
            })?;
            if tag_offset < payload_end && payload < tag_end {
                return Err(format!("the tag at {tag_offset} lies in the payload at {payload}"));
            }
        }
        schema.set_slots(SlotLayout { stride, payload, tag });
        Ok(())
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_set_frame_words(vm: *mut TlVm, words: u32) -> TlStatus {
    set(vm, "tl_set_frame_words", |schema, _| {
        if schema.frame_words != 0 {
            return Err("it was called before".into());
        }
        if words == 0 || words as usize > MAX_WORDS {
            return Err(format!("{words} words per frame: at least 1, at most {MAX_WORDS}"));
        }
        schema.frame_words = words;
        Ok(())
    })
}

/// See `tracelift.h`.
///
/// # Safety
/// `name` is NUL-terminated.
#[no_mangle]
pub unsafe extern "C" fn tl_alias_class(vm: *mut TlVm, class: *const c_char) -> u32 {
    // SAFETY: promised by the caller.
    describe(vm, "tl_alias_class", 0, |schema, _| Ok(schema.alias_class(unsafe { name(class) }?).0 + 1))
}

const SIGNED: u32 = 1;
const IMMUTABLE: u32 = 2;
const VOLATILE: u32 = 4;
const POLLED: u32 = 8;

/// See `tracelift.h`.
///
/// # Safety
/// `name` is NUL-terminated.
#[no_mangle]
pub unsafe extern "C" fn tl_add_cell(
    vm: *mut TlVm,
    name: *const c_char,
    offset: i32,
    width: u32,
    ty: u32,
    alias: u32,
    flags: u32,
) -> u32 {
    describe(vm, "tl_add_cell", 0, |schema, _| {
        // SAFETY: promised by the caller.
        let name = unsafe { unused(name, "cell", |name| schema.find_cell(name)) }?;
        let class = class_id(schema, alias)?;
        let ty = type_of(ty)?.ok_or_else(|| format!("cell {name}: a cell has a type"))?;
        if !(width == 8 || ty == Type::Int && matches!(width, 1 | 2 | 4)) {
            return Err(format!("cell {name}: a {ty} of {width} bytes"));
        }
        known_flags(flags, SIGNED | IMMUTABLE | VOLATILE | POLLED, "flag of a cell")?;
        let (immutable, volatile) = (flags & IMMUTABLE != 0, flags & (VOLATILE | POLLED) != 0);
        if immutable && volatile {
            return Err(format!("cell {name}: what is immutable does not change from outside"));
        }
        if flags & SIGNED != 0 && ty != Type::Int {
            return Err(format!("cell {name}: a {ty} has no sign to extend"));
        }
        let cell = Cell {
            width: width as u8,
            signed: flags & SIGNED != 0,
            immutable,
            volatile,
            polled: flags & POLLED != 0,
            ..Cell::new(name, offset, ty, class)
        };
        Ok(schema.add_cell(cell).0 + 1)
    })
}

/// Whether a cell ends within the bytes of a record.
fn ends_within(cell: &Cell, size: u32) -> bool {
    i64::from(cell.offset) + i64::from(cell.width) <= i64::from(size)
}

/// See `tracelift.h`.
///
/// # Safety
/// `name` is NUL-terminated.
#[no_mangle]
pub unsafe extern "C" fn tl_add_layout(
    vm: *mut TlVm,
    name: *const c_char,
    size: u32,
    class_word: u32,
    class_value: u64,
) -> u32 {
    describe(vm, "tl_add_layout", 0, |schema, _| {
        // SAFETY: promised by the caller.
        let name = unsafe { unused(name, "layout", |name| schema.find_layout(name)) }?;
        if size == 0 {
            return Err(format!("layout {name} has 0 bytes"));
        }
        let word = optional(class_word, |cell| cell_id(schema, cell))?;
        match word.map(|cell| schema.cell(cell)) {
            None if class_value != 0 => {
                return Err(format!("layout {name} has a class value, but no class word"))
            }
            None => {}
            Some(cell) if cell.ty == Type::Float || cell.volatile => {
                return Err(format!(
                    "layout {name}: {} is a float or volatile, and no class word",
                    cell.name
                ));
            }
            Some(cell) if !ends_within(cell, size) => {
                return Err(format!(
                    "layout {name}: its class word {} lies beyond its {size} bytes",
                    cell.name
                ));
            }
            Some(cell) if class_value.checked_shr(u32::from(cell.width) * 8).unwrap_or(0) != 0 => {
                return Err(format!(
                    "layout {name}: {class_value:#x} does not fit the class word {}",
                    cell.name
                ));
            }
            Some(_) => {}
        }
        let layout = schema.add_layout(LayoutSpec { name: name.into(), size });
        if let Some(cell) = word {
            schema.set_class_word(layout, cell, class_value);
        }
        Ok(layout.0)
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_add_field(vm: *mut TlVm, layout: u32, cell: u32) -> u32 {
    describe(vm, "tl_add_field", 0, |schema, description| {
        let field = Field { layout: layout_id(schema, layout)?, cell: cell_id(schema, cell)? };
        Ok(add_field(schema, description, field)?.0 + 1)
    })
}

/// One more field of a layout, if it can be one.
pub(super) fn add_field(
    schema: &mut Schema,
    description: &mut Description,
    field: Field,
) -> Result<FieldId, String> {
    let Field { layout, cell } = field;
    let (record, cell) = (schema.layout(layout), schema.cell(cell));
    if !ends_within(cell, record.size) {
        return Err(format!("{} lies beyond the {} bytes of {}", cell.name, record.size, record.name));
    }
    if schema.find_field(layout, &cell.name).is_some() {
        return Err(format!("{} is a field of {} already", cell.name, record.name));
    }
    // Only fields that begin up to 7 bytes before it, or inside of it, can reach into it.
    let fields = description.fields.entry(layout).or_default();
    let end = cell.offset.saturating_add(i32::from(cell.width));
    let shared = fields.range(cell.offset.saturating_sub(7)..end).find(|(&offset, &(width, class))| {
        class != cell.class && i64::from(offset) + i64::from(width) > i64::from(cell.offset)
    });
    if let Some((offset, _)) = shared {
        return Err(format!("{} shares memory with the field at {offset}, but no alias class", cell.name));
    }
    let widest = fields.entry(cell.offset).or_insert((cell.width, cell.class));
    widest.0 = widest.0.max(cell.width);
    Ok(schema.add_field_of(field))
}

/// See `tracelift.h`.
///
/// # Safety
/// `element` points to a `tl_element`.
#[no_mangle]
pub unsafe extern "C" fn tl_set_items(
    vm: *mut TlVm,
    layout: u32,
    count: u32,
    base: u32,
    first: i64,
    element: *const TlElement,
) -> TlStatus {
    set(vm, "tl_set_items", |schema, _| {
        // SAFETY: promised by the caller.
        let element = unsafe { element.as_ref() }.ok_or("the element is null")?;
        let layout = layout_id(schema, layout)?;
        once(schema.layout(layout).items.is_some(), "the indexed part", &schema.layout(layout).name)?;
        let (count, base) = (cell_id(schema, count)?, cell_id(schema, base)?);
        element::typed(schema, count, "the count", Type::Int)?;
        element::typed(schema, base, "the base", Type::Addr)?;
        let element = element::read(schema, element, &[])?;
        schema.layout_mut(layout).items = Some(Items { count, base, first, element });
        Ok(())
    })
}

/// See `tracelift.h`.
///
/// # Safety
/// `element` points to a `tl_element`.
#[no_mangle]
pub unsafe extern "C" fn tl_set_keys(
    vm: *mut TlVm,
    layout: u32,
    size: u32,
    base: u32,
    element: *const TlElement,
    key: u32,
    key_tag: u32,
    key_tag_value: u64,
    find: u32,
    insert: u32,
) -> TlStatus {
    set(vm, "tl_set_keys", |schema, _| {
        // SAFETY: promised by the caller.
        let element = unsafe { element.as_ref() }.ok_or("the element is null")?;
        let layout = layout_id(schema, layout)?;
        once(schema.layout(layout).keys.is_some(), "the keyed part", &schema.layout(layout).name)?;
        let (size, base, key) = (cell_id(schema, size)?, cell_id(schema, base)?, cell_id(schema, key)?);
        element::typed(schema, size, "the size", Type::Int)?;
        element::typed(schema, base, "the base", Type::Addr)?;
        element::typed(schema, key, "the key", Type::Ref)?;
        let key_tag = optional(key_tag, |cell| cell_id(schema, cell))?;
        if let Some(cell) = key_tag {
            element::typed(schema, cell, "the key's tag", Type::Int)?;
            let width = u32::from(schema.cell(cell).width);
            if key_tag_value.checked_shr(width * 8).unwrap_or(0) != 0 {
                return Err(format!("{key_tag_value:#x} does not fit the key's tag of {width} bytes"));
            }
        }
        let own: Vec<_> = key_tag.into_iter().chain([key]).collect();
        let element = element::read(schema, element, &own)?;
        let find = func_id(schema, find)?;
        let insert = optional(insert, |func| func_id(schema, func))?;
        for func in insert.into_iter().chain([find]) {
            has_signature(schema, func, "airr>a")?;
        }
        if Effects::of_call(find, schema).is_visible() {
            return Err(format!("{} has effects, and finding a key must have none", schema.func(find).name));
        }
        let key_tag = key_tag.map(|cell| (cell, key_tag_value));
        schema.layout_mut(layout).keys =
            Some(Keys { size, base, element, key, key_tag, next: None, find, insert });
        Ok(())
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_set_key_next(vm: *mut TlVm, layout: u32, next: u32) -> TlStatus {
    set(vm, "tl_set_key_next", |schema, _| {
        let (layout, next) = (layout_id(schema, layout)?, cell_id(schema, next)?);
        element::typed(schema, next, "what follows an entry", Type::Int)?;
        let name = schema.layout(layout).name.clone();
        let keys = schema.layout_mut(layout).keys.as_mut();
        let keys = keys.ok_or_else(|| format!("layout {name} has no keyed part"))?;
        once(keys.next.is_some(), "what follows an entry", &name)?;
        keys.next = Some(next);
        Ok(())
    })
}

/// Whether a function has the parameters and the result that it is used with.
fn has_signature(schema: &Schema, func: FuncId, expected: &str) -> Result<(), String> {
    let func = schema.func(func);
    let (params, result) = signature(expected)?;
    match func.params == params && func.result == result {
        true => Ok(()),
        false => Err(format!("{} has another signature than \"{expected}\"", func.name)),
    }
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_set_alloc(vm: *mut TlVm, layout: u32, alloc: u32) -> TlStatus {
    set(vm, "tl_set_alloc", |schema, _| {
        let (layout, alloc) = (layout_id(schema, layout)?, func_id(schema, alloc)?);
        once(schema.layout(layout).alloc.is_some(), "the allocator", &schema.layout(layout).name)?;
        has_signature(schema, alloc, "aiii>r")?;
        schema.layout_mut(layout).alloc = Some(alloc);
        Ok(())
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_set_alloc_in_frame(vm: *mut TlVm, layout: u32, alloc: u32) -> TlStatus {
    set(vm, "tl_set_alloc_in_frame", |schema, _| {
        let (layout, alloc) = (layout_id(schema, layout)?, func_id(schema, alloc)?);
        let declared = schema.layout(layout);
        once(declared.alloc.is_some(), "the allocator", &declared.name)?;
        if declared.items.is_some() {
            return Err(format!(
                "layout {} has an indexed part: its objects have room, not a site",
                declared.name
            ));
        }
        has_signature(schema, alloc, "aaiii>r")?;
        schema.layout_mut(layout).alloc = Some(alloc);
        Ok(())
    })
}

/// See `tracelift.h`.
///
/// # Safety
/// `reserve` keeps the promise of [`ReserveFn`] as long as the vm lives, and `context` is what it expects.
#[no_mangle]
pub unsafe extern "C" fn tl_set_reserve(
    vm: *mut TlVm,
    layout: u32,
    reserve: Option<ReserveFn>,
    context: *mut c_void,
) -> TlStatus {
    let mut checked = None;
    let status = set(vm, "tl_set_reserve", |schema, _| {
        let layout = layout_id(schema, layout)?;
        let reserve = reserve.ok_or("the function that holds memory is null")?;
        if schema.layout(layout).alloc.is_none() {
            return Err(format!("tl_set_alloc of layout {} comes first", schema.layout(layout).name));
        }
        checked = Some((layout, reserve));
        Ok(())
    });
    let Some((layout, reserve)) = checked else { return status };
    enter(vm, TlStatus::Misuse, |handle| {
        // SAFETY: promised by the caller.
        unsafe { handle.vm.set_reserve(layout, reserve, context) };
        Ok(TlStatus::Ok)
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_set_barrier(
    vm: *mut TlVm,
    layout: u32,
    object: u32,
    object_mask: i64,
    value: u32,
    value_mask: i64,
) -> TlStatus {
    set(vm, "tl_set_barrier", |schema, _| {
        let layout = layout_id(schema, layout)?;
        once(schema.layout(layout).barrier.is_some(), "the barrier", &schema.layout(layout).name)?;
        let (object, value) = (cell_id(schema, object)?, cell_id(schema, value)?);
        element::typed(schema, object, "what tells of the object", Type::Int)?;
        element::typed(schema, value, "what tells of the value", Type::Int)?;
        if object_mask == 0 || value_mask == 0 {
            return Err("a mask is 0, so that the barrier would never be needed".into());
        }
        schema.layout_mut(layout).barrier =
            Some(Barrier { object, object_mask, value, value_mask, mend: None });
        Ok(())
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_set_barrier_call(vm: *mut TlVm, layout: u32, mend: u32) -> TlStatus {
    set(vm, "tl_set_barrier_call", |schema, _| {
        let (layout, mend) = (layout_id(schema, layout)?, func_id(schema, mend)?);
        let func = schema.func(mend);
        if func.params != [Type::Addr, Type::Ref] || func.result.is_some() {
            return Err(format!("{} is not declared with the signature \"ar>v\"", func.name));
        }
        if Effects::of_call(mend, schema).allocates {
            return Err(format!("{} may make objects or run any code", func.name));
        }
        let declared = schema.layout(layout);
        let Some(barrier) = declared.barrier else { return Err(format!("{} has no barrier", declared.name)) };
        once(barrier.mend.is_some(), "the barrier's function", &declared.name)?;
        schema.layout_mut(layout).barrier = Some(Barrier { mend: Some(mend), ..barrier });
        Ok(())
    })
}

fn signature(text: &str) -> Result<(Vec<Type>, Option<Type>), String> {
    let bad = || format!("signature '{text}': expected letters i, f, r, a, then '>', then one of them or v");
    let (params, result) = text.split_once('>').ok_or_else(bad)?;
    let letter = |letter: char| match letter {
        'r' => Some(Type::Ref),
        letter => Type::from_letter(letter).filter(|ty| *ty != Type::Ref),
    };
    let params: Vec<Type> = params.chars().map(letter).collect::<Option<_>>().ok_or_else(bad)?;
    let mut letters = result.chars();
    let result = match (letters.next(), letters.next()) {
        (Some('v'), None) => None,
        (Some(one), None) => Some(letter(one).ok_or_else(bad)?),
        _ => return Err(bad()),
    };
    let floats = params.iter().filter(|&&ty| ty == Type::Float).count();
    if params.len() - floats > MAX_PARAMS.0 || floats > MAX_PARAMS.1 {
        return Err(format!("signature '{text}': too many parameters"));
    }
    Ok((params, result))
}

const READS_ALL: u32 = 1;
const WRITES_ALL: u32 = 2;
const ALLOCATES: u32 = 4;
const REENTERS: u32 = 8;

/// # Safety
/// `classes` is null or ends with 0.
unsafe fn class_set(schema: &Schema, all: bool, classes: *const u32) -> Result<ClassSet, String> {
    if all {
        return Ok(ClassSet::All);
    }
    let mut set = Vec::new();
    if !classes.is_null() {
        // SAFETY: the array ends with 0, promised by the caller.
        let mut numbers = (0..).map(|index| unsafe { *classes.add(index) }).take_while(|&number| number != 0);
        numbers.try_for_each(|number| class_id(schema, number).map(|class| set.push(class)))?;
    }
    Ok(ClassSet::of(set))
}

/// See `tracelift.h`.
///
/// # Safety
/// The texts are NUL-terminated; `reads` and `writes` are null or end with 0; `address` is a C function of
/// that signature.
#[no_mangle]
pub unsafe extern "C" fn tl_add_func(
    vm: *mut TlVm,
    name: *const c_char,
    address: *const c_void,
    c_signature: *const c_char,
    effects: u32,
    reads: *const u32,
    writes: *const u32,
) -> u32 {
    describe(vm, "tl_add_func", 0, |schema, _| {
        // SAFETY: promised by the caller.
        let (name, signature_text) =
            unsafe { (unused(name, "function", |name| schema.find_func(name))?, text(c_signature)?) };
        let (params, result) = signature(signature_text)?;
        if address.is_null() {
            return Err(format!("the address of {name} is null"));
        }
        known_flags(effects, READS_ALL | WRITES_ALL | ALLOCATES | REENTERS, "effect of a function")?;
        // SAFETY: promised by the caller.
        let (reads, writes) = unsafe {
            (
                class_set(schema, effects & READS_ALL != 0, reads)?,
                class_set(schema, effects & WRITES_ALL != 0, writes)?,
            )
        };
        let (allocates, reenters) = (effects & ALLOCATES != 0, effects & REENTERS != 0);
        let mut effects = FuncEffects::pure().reading(reads).writing(writes);
        if allocates {
            effects = effects.allocating();
        }
        // What may run any code of the host's may do anything, whatever else is said of it.
        if reenters {
            effects = effects.reentering();
        }
        let func =
            Func { name: name.into(), params, result, effects, address: address as usize, evaluable: false };
        Ok(schema.add_func(func).0 + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures() {
        assert_eq!(signature("af>f"), Ok((vec![Type::Addr, Type::Float], Some(Type::Float))));
        assert_eq!(signature(">v"), Ok((vec![], None)));
        for bad in ["a", "x>i", "a>", "a>q", "a>ii", "a>vi", "iiiiiii>i"] {
            assert!(signature(bad).is_err(), "{bad}");
        }
    }
}
