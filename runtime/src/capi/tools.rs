//! `tl_code_at` and its kin: code for profilers and debuggers; see `debug/mod.rs`.
//!
//! Example: a signal handler notes an address that lies within `tl_get_code_bounds`; later
//! `tl_code_at(vm, address, &info)` says `loop sum.lua:3 main`, and the words of the place there.

use std::ffi::{c_char, c_void};
use std::mem::offset_of;

use tracelift_cranelift::frameless;

use super::{c_string, enter, name, not_null, slice, TlStatus, TlVm};
use crate::backend::Bounds;
use crate::debug::{CodeKind, Owner, Piece};

/// `tl_code_info`.
#[repr(C)]
pub struct TlCodeInfo {
    kind: u32,
    trace: u32,
    name: *const c_char,
    start: usize,
    size: usize,
    owner: usize,
    words: *const u64,
    nwords: u32,
}

/// `tl_code_span`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct TlCodeSpan {
    start: u32,
    end: u32,
}

// Both sides of the border agree; tests/capi/header.c has the other side of this.
const _: () = {
    assert!(size_of::<TlCodeInfo>() == 56 && offset_of!(TlCodeInfo, name) == 8);
    assert!(offset_of!(TlCodeInfo, start) == 16 && offset_of!(TlCodeInfo, size) == 24);
    assert!(offset_of!(TlCodeInfo, owner) == 32 && offset_of!(TlCodeInfo, words) == 40);
    assert!(offset_of!(TlCodeInfo, nwords) == 48 && size_of::<TlCodeSpan>() == 8);
    assert!(size_of::<Bounds>() == 40 && offset_of!(Bounds, host) == 16);
    assert!(offset_of!(Bounds, compiling) == 32);
};

/// `TL_CODE_…`, and the trace.
fn number_of(kind: CodeKind) -> (u32, u32) {
    match kind {
        CodeKind::Loop(trace) => (0, trace.0),
        CodeKind::Entry(trace) => (1, trace.0),
        CodeKind::Side(trace, _) => (2, trace.0),
        CodeKind::Unit(trace) => (3, trace.0),
        CodeKind::Region(trace) => (4, trace.0),
        CodeKind::Glue => (5, u32::MAX),
        CodeKind::Host => (6, u32::MAX),
    }
}

/// See `tracelift.h`.
///
/// # Safety
/// `info` points to a `tl_code_info`.
#[no_mangle]
pub unsafe extern "C" fn tl_code_at(vm: *mut TlVm, address: *const c_void, info: *mut TlCodeInfo) -> i32 {
    enter(vm, 0, |handle| {
        not_null(info, "tl_code_at: the place for what is found")?;
        let Some(known) = handle.vm.code_at(address as usize) else { return Ok(0) };
        handle.text = c_string(&known.name);
        let (kind, trace) = number_of(known.kind);
        let words = known.words(address as usize);
        let found = TlCodeInfo {
            kind,
            trace,
            name: handle.text.as_ptr(),
            start: known.address,
            size: known.end() - known.address,
            owner: known.tree_owner,
            words: words.as_ptr(),
            nwords: words.len() as u32,
        };
        // SAFETY: promised by the caller.
        unsafe { info.write(found) };
        Ok(1)
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_get_code_bounds(vm: *mut TlVm) -> *const Bounds {
    enter(vm, std::ptr::null(), |handle| Ok(handle.vm.code_bounds()))
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_is_watched(vm: *mut TlVm) -> i32 {
    enter(vm, 0, |handle| Ok(i32::from(handle.vm.watch().is_some())))
}

/// See `tracelift.h`.
///
/// # Safety
/// `label` is NUL-terminated, and `spans` points to so many.
#[no_mangle]
pub unsafe extern "C" fn tl_host_code_note(
    vm: *mut TlVm,
    id: u32,
    label: *const c_char,
    spans: *const TlCodeSpan,
    count: u32,
) -> TlStatus {
    enter(vm, TlStatus::Misuse, |handle| {
        // SAFETY: promised by the caller.
        let (label, spans) = unsafe { (name(label)?, slice(spans, count as usize)) };
        let Some(code) = handle.host_code.piece(id) else {
            return Err(format!("tl_host_code_note: {id} is no code of the host's"));
        };
        // SAFETY: the code was installed, and is not freed before the host says so.
        let bytes = unsafe { std::slice::from_raw_parts(code.0 as *const u8, code.1) };
        let spans: Vec<(u32, u32)> = spans.iter().map(|span| (span.start, span.end)).collect();
        let is_in_order = spans.iter().all(|span| span.0 < span.1 && span.1 as usize <= bytes.len())
            && spans.windows(2).all(|pair| pair[0].1 <= pair[1].0);
        if !is_in_order {
            return Err("tl_host_code_note: the spans are not in order, or not in the code".into());
        }
        let Some(watch) = handle.vm.watch() else { return Ok(TlStatus::Ok) };
        let unwind = match cfg!(target_arch = "x86_64") {
            true => frameless(bytes.len(), &spans),
            false => Vec::new(),
        };
        watch.added(Piece {
            owner: Owner::Host(id),
            kind: CodeKind::Host,
            name: label.to_string(),
            tree_owner: 0,
            address: code.0,
            code: bytes,
            unwind: &unwind,
            places: Vec::new(),
        });
        Ok(TlStatus::Ok)
    })
}
