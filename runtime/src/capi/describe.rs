//! `tl_add_tag` to `tl_add_func`: the host describes its memory, objects and functions.

use std::ffi::{c_char, c_void};
use std::mem::offset_of;

use tracelift_core::schema::{
    Barrier, Cell, ClassSet, Element, Field, Func, FuncEffects, Items, Keys, LayoutSpec, SlotLayout,
};
use tracelift_core::Type;

use super::{
    cell_id, class_id, func_id, layout_id, optional, tag_id, text, type_of, TlStatus, TlVm, MAX_WORDS,
};
use crate::reserve::ReserveFn;
use crate::vm::Vm;

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

/// Most integer or pointer parameters and most float parameters of a function.
const MAX_PARAMS: (usize, usize) = (6, 8);

fn describe(vm: *mut TlVm, f: impl FnOnce(&mut Vm) -> Result<u32, String>) -> u32 {
    super::enter(vm, 0, |handle| f(&mut handle.vm))
}

fn set(vm: *mut TlVm, f: impl FnOnce(&mut Vm) -> Result<(), String>) -> TlStatus {
    super::enter(vm, TlStatus::Misuse, |handle| f(&mut handle.vm).map(|()| TlStatus::Ok))
}

/// See `tracelift.h`.
///
/// # Safety
/// `name` is NUL-terminated.
#[no_mangle]
pub unsafe extern "C" fn tl_add_tag(vm: *mut TlVm, name: *const c_char, bits: u64, payload: u32) -> u32 {
    // SAFETY: promised by the caller.
    describe(vm, |vm| Ok(vm.schema.add_tag(unsafe { text(name) }?, bits, type_of(payload)?).0 + 1))
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
    set(vm, |vm| {
        let tag = match tag_width {
            0 => None,
            1 | 2 | 4 | 8 => Some((tag_offset, tag_width as u8)),
            _ => return Err(format!("a tag of {tag_width} bytes: expected 0, 1, 2, 4 or 8")),
        };
        vm.schema.set_slots(SlotLayout { stride, payload, tag });
        Ok(())
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_set_frame_words(vm: *mut TlVm, words: u32) -> TlStatus {
    set(vm, |vm| {
        if words as usize > MAX_WORDS {
            return Err(format!("{words} words per frame: at most {MAX_WORDS}"));
        }
        vm.schema.frame_words = words;
        Ok(())
    })
}

/// See `tracelift.h`.
///
/// # Safety
/// `name` is NUL-terminated.
#[no_mangle]
pub unsafe extern "C" fn tl_alias_class(vm: *mut TlVm, name: *const c_char) -> u32 {
    // SAFETY: promised by the caller.
    describe(vm, |vm| Ok(vm.schema.alias_class(unsafe { text(name) }?).0 + 1))
}

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
    describe(vm, |vm| {
        let class = class_id(vm, alias)?;
        let ty = type_of(ty)?.ok_or("a cell has a type")?;
        // SAFETY: promised by the caller.
        let name = unsafe { text(name) }?;
        if !(width == 8 || ty == Type::Int && matches!(width, 1 | 2 | 4)) {
            return Err(format!("cell {name}: a {ty} of {width} bytes"));
        }
        let cell = Cell {
            width: width as u8,
            signed: flags & 1 != 0,
            immutable: flags & 2 != 0,
            volatile: flags & (4 | 8) != 0,
            polled: flags & 8 != 0,
            ..Cell::new(name, offset, ty, class)
        };
        Ok(vm.schema.add_cell(cell).0 + 1)
    })
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
    describe(vm, |vm| {
        let cell = optional(class_word, |cell| cell_id(vm, cell))?;
        // SAFETY: promised by the caller.
        let name = unsafe { text(name) }?.to_string();
        let layout = vm.schema.add_layout(LayoutSpec { name, size });
        if let Some(cell) = cell {
            vm.schema.set_class_word(layout, cell, class_value);
        }
        Ok(layout.0)
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_add_field(vm: *mut TlVm, layout: u32, cell: u32) -> u32 {
    describe(vm, |vm| {
        let field = Field { layout: layout_id(vm, layout)?, cell: cell_id(vm, cell)? };
        Ok(vm.schema.add_field_of(field).0 + 1)
    })
}

fn element(vm: &Vm, c: &TlElement) -> Result<Element, String> {
    let mut value = [tracelift_core::schema::CellId(0); 4];
    for (view, &number) in value.iter_mut().zip(&c.value) {
        *view = cell_id(vm, number)?;
    }
    Ok(Element {
        stride: c.stride,
        value,
        tag: optional(c.tag, |cell| cell_id(vm, cell))?,
        untagged: type_of(c.untagged)?.unwrap_or(Type::Int),
        absent: optional(c.absent, |tag| tag_id(vm, tag))?,
    })
}

/// See `tracelift.h`.
///
/// # Safety
/// `c_element` points to a `tl_element`.
#[no_mangle]
pub unsafe extern "C" fn tl_set_items(
    vm: *mut TlVm,
    layout: u32,
    count: u32,
    base: u32,
    first: i64,
    c_element: *const TlElement,
) -> TlStatus {
    set(vm, |vm| {
        // SAFETY: promised by the caller.
        let c_element = unsafe { c_element.as_ref() }.ok_or("the element is null")?;
        let (count, base) = (cell_id(vm, count)?, cell_id(vm, base)?);
        let items = Items { count, base, first, element: element(vm, c_element)? };
        let layout = layout_id(vm, layout)?;
        vm.schema.layout_mut(layout).items = Some(items);
        Ok(())
    })
}

/// See `tracelift.h`.
///
/// # Safety
/// `c_element` points to a `tl_element`.
#[no_mangle]
pub unsafe extern "C" fn tl_set_keys(
    vm: *mut TlVm,
    layout: u32,
    size: u32,
    base: u32,
    c_element: *const TlElement,
    key: u32,
    key_tag: u32,
    key_tag_value: u64,
    find: u32,
    insert: u32,
) -> TlStatus {
    set(vm, |vm| {
        // SAFETY: promised by the caller.
        let c_element = unsafe { c_element.as_ref() }.ok_or("the element is null")?;
        let keys = Keys {
            size: cell_id(vm, size)?,
            base: cell_id(vm, base)?,
            element: element(vm, c_element)?,
            key: cell_id(vm, key)?,
            key_tag: optional(key_tag, |cell| cell_id(vm, cell))?.map(|cell| (cell, key_tag_value)),
            find: func_id(vm, find)?,
            insert: optional(insert, |func| func_id(vm, func))?,
        };
        let layout = layout_id(vm, layout)?;
        vm.schema.layout_mut(layout).keys = Some(keys);
        Ok(())
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_set_alloc(vm: *mut TlVm, layout: u32, alloc: u32) -> TlStatus {
    set(vm, |vm| {
        let (layout, alloc) = (layout_id(vm, layout)?, func_id(vm, alloc)?);
        vm.schema.layout_mut(layout).alloc = Some(alloc);
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
    set(vm, |vm| {
        let layout = layout_id(vm, layout)?;
        let reserve = reserve.ok_or("the function that holds memory is null")?;
        if vm.schema.layout(layout).alloc.is_none() {
            return Err("tl_set_alloc comes before tl_set_reserve".into());
        }
        // SAFETY: promised by the caller.
        unsafe { vm.set_reserve(layout, reserve, context) };
        Ok(())
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
    set(vm, |vm| {
        let barrier =
            Barrier { object: cell_id(vm, object)?, object_mask, value: cell_id(vm, value)?, value_mask };
        let layout = layout_id(vm, layout)?;
        vm.schema.layout_mut(layout).barrier = Some(barrier);
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

/// # Safety
/// `classes` is null or ends with 0.
unsafe fn class_set(vm: &Vm, all: bool, classes: *const u32) -> Result<ClassSet, String> {
    if all {
        return Ok(ClassSet::All);
    }
    let mut set = Vec::new();
    if !classes.is_null() {
        // SAFETY: the array ends with 0, promised by the caller.
        let mut numbers = (0..).map(|index| unsafe { *classes.add(index) }).take_while(|&number| number != 0);
        numbers.try_for_each(|number| class_id(vm, number).map(|class| set.push(class)))?;
    }
    Ok(ClassSet::of(set))
}

/// See `tracelift.h`.
///
/// # Safety
/// The texts are NUL-terminated; `reads` and `writes` are null or end with 0; `address` is a C function of that
/// signature, or null.
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
    describe(vm, |vm| {
        // SAFETY: promised by the caller.
        let (name, signature_text) = unsafe { (text(name)?, text(c_signature)?) };
        let (params, result) = signature(signature_text)?;
        // SAFETY: promised by the caller.
        let (reads, writes) =
            unsafe { (class_set(vm, effects & 1 != 0, reads)?, class_set(vm, effects & 2 != 0, writes)?) };
        let (allocates, reenters) = (effects & 4 != 0, effects & 8 != 0);
        let mut effects = FuncEffects::pure().reading(reads).writing(writes);
        if allocates {
            effects = effects.allocating();
        }
        if reenters {
            effects = effects.reentering();
        }
        let func =
            Func { name: name.into(), params, result, effects, address: address as usize, evaluable: false };
        Ok(vm.schema.add_func(func).0 + 1)
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
