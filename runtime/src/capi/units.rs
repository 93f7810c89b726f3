//! `tl_record_unit` to `tl_unit_return`: functions as code that code calls; see `units.rs` and
//! `recorder/units.rs`.
//!
//! Example, for `fib (n)` that is called with an integer: `tl_record_unit(vm, fib, base)`,
//! `n = tl_unit_argument(vm, 0, integer)`, …, `tl_unit_return(vm, integer, sum)`.

use std::ffi::c_void;

use tracelift_core::ir::EntrySlot;
use tracelift_core::schema::TagId;
use tracelift_core::UnitId;

use super::record::{ended, operand, recording, to_c};
use super::{c_string, enter, not_null, optional, slice, tag_id, TlStatus, TlVm};
use crate::abort::AbortReason;
use crate::units::Limit;

/// `TL_NO_SLOT`.
const NO_SLOT: i32 = i32::MIN;

/// A frame's place is a small number.
const MOST_SLOTS: u32 = 1 << 20;

/// `tl_argument`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct TlArgument {
    slot: i32,
    tag: u32,
}

const _: () = assert!(size_of::<TlArgument>() == 8);

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_record_unit(vm: *mut TlVm, key: *const c_void, base: *const u8) -> TlStatus {
    enter(vm, TlStatus::Misuse, |handle| {
        if handle.words.slot.is_some() {
            return Err("tl_record_unit: where slots are words there are no units".into());
        }
        not_null(key, "tl_record_unit: the key")?;
        not_null(base, "tl_record_unit: the frame's base")?;
        match handle.vm.start_unit(key as usize, base) {
            Ok(()) => handle.begin(),
            Err(sentence) => {
                handle.last_error = c_string(sentence);
                Ok(TlStatus::Aborted)
            }
        }
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_unit_argument(vm: *mut TlVm, slot: i32, tag: u32) -> u32 {
    recording(vm, |recorder, schema| {
        let value = recorder.unit_argument(slot, tag_id(schema, tag)?, schema);
        Ok(to_c(recorder, value))
    })
}

/// See `tracelift.h`.
///
/// # Safety
/// `arguments` points to so many.
#[no_mangle]
pub unsafe extern "C" fn tl_find_unit(
    vm: *mut TlVm,
    key: *const c_void,
    arguments: *const TlArgument,
    count: u32,
) -> u32 {
    enter(vm, 0, |handle| {
        not_null(key, "tl_find_unit: the key")?;
        if count > 0 {
            not_null(arguments, "tl_find_unit: the arguments")?;
        }
        // SAFETY: promised by the caller.
        let arguments = unsafe { slice(arguments, count as usize) };
        let schema = handle.vm.schema();
        let entry = |&TlArgument { slot, tag }| Ok(EntrySlot { slot, tag: tag_id(schema, tag)? });
        let arguments = arguments.iter().map(entry).collect::<Result<Vec<_>, String>>()?;
        Ok(handle.vm.find_unit(key as usize, &arguments).map_or(0, |unit| unit.0 + 1))
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_drop_entries(vm: *mut TlVm, key: *const c_void) {
    enter(vm, (), |handle| {
        not_null(key, "tl_drop_entries: the key")?;
        handle.vm.drop_entries(key as usize);
        Ok(())
    });
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_has_unit(vm: *mut TlVm, key: *const c_void) -> i32 {
    enter(vm, 0, |handle| Ok(i32::from(handle.vm.has_unit(key as usize))))
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_records_unit(vm: *mut TlVm) -> u32 {
    recording(vm, |recorder, _| Ok(recorder.unit().map_or(0, |unit| unit.0 + 1)))
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_unit_depth(vm: *mut TlVm, slots: u32) -> TlStatus {
    enter(vm, TlStatus::Misuse, |handle| {
        if slots > MOST_SLOTS {
            return Err(format!("tl_unit_depth: {slots} slots, expected {MOST_SLOTS} at most"));
        }
        match handle.vm.set_unit_depth(slots) {
            true => Ok(TlStatus::Ok),
            false => {
                handle.last_error = c_string("tl_unit_depth: there is no memory for so many slots");
                Ok(TlStatus::Aborted)
            }
        }
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_unit_limit(vm: *mut TlVm) -> *mut Limit {
    enter(vm, std::ptr::null_mut(), |handle| Ok(handle.vm.unit_limit()))
}

/// See `tracelift.h`.
///
/// # Safety
/// `args` points to `nargs` values, `changed` to `nchanged` numbers.
#[no_mangle]
pub unsafe extern "C" fn tl_call_unit(
    vm: *mut TlVm,
    unit: u32,
    args: *const u32,
    nargs: u32,
    slot: i32,
    changed: *const i32,
    nchanged: u32,
) {
    let called = unit.checked_sub(1).map(UnitId);
    let takes = enter(vm, None, |handle| Ok(called.and_then(|unit| handle.vm.unit_takes(unit))));
    recording(vm, |recorder, schema| {
        let (Some(called), Some(takes)) = (called, takes) else {
            return Err(format!("tl_call_unit: {unit} is no unit that can be called"));
        };
        if nargs as usize != takes.len() {
            return Err(format!("tl_call_unit: {nargs} arguments, expected {}", takes.len()));
        }
        if nargs > 0 {
            not_null(args, "tl_call_unit: the arguments")?;
        }
        if nchanged > 0 {
            not_null(changed, "tl_call_unit: the changed slots")?;
        }
        // SAFETY: promised by the caller.
        let (args, changed) = unsafe { (slice(args, nargs as usize), slice(changed, nchanged as usize)) };
        let args = args.iter().map(|&arg| operand(recorder, arg)).collect::<Result<Vec<_>, _>>()?;
        if args.iter().map(|&arg| recorder.trace().ty(arg)).ne(takes) {
            return Err("tl_call_unit: an argument of another type than the unit takes".into());
        }
        recorder.call_unit(called, &args, Some(slot).filter(|&slot| slot != NO_SLOT), changed, schema);
        Ok(())
    });
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_unit_returned(vm: *mut TlVm, tag: u32) -> u32 {
    recording(vm, |recorder, schema| {
        let tag = optional(tag, |tag| tag_id(schema, tag))?;
        let value = recorder.unit_returned(tag, schema);
        Ok(to_c(recorder, value))
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_unit_return(vm: *mut TlVm, tag: u32, value: u32) -> TlStatus {
    ended(vm, |vm| {
        // What is wrong fails the recording, which ends here all the same.
        let mut returned = (TagId(0), None);
        if let Some((recorder, schema)) = vm.recorder() {
            let value = optional(value, |value| operand(recorder, value));
            match value.and_then(|value| Ok((tag_id(schema, tag)?, value))) {
                Ok(found) => returned = found,
                Err(sentence) => recorder.fail(AbortReason::Misuse, sentence),
            }
        }
        vm.end_unit(returned.0, returned.1)
    })
}
