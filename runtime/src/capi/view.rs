//! `tl_view_function` and `tl_view_write`: what the host tells of its functions, and the page.
//!
//! Problem: the page shows lines of the program, which only the host knows; and it is written when the
//! program ends, from C. Design: the host hands over a function's tables as pointers for the time of a call,
//! and the library copies what it needs. The page is made and written here in one go, so that no text that
//! large crosses the border. Invariant: where no view was configured nothing is read and nothing is written.
//!
//! Example: `tl_view_write(vm, "out.html")`; a name that ends in `.json` gets the data instead.

use std::ffi::{c_char, CStr};
use std::mem::offset_of;

use super::service::stats_of;
use super::{enter, TlStatus, TlVm};
use crate::view::functions::Told;
use crate::view::render;

/// `tl_view_info`.
#[repr(C)]
pub struct TlViewInfo {
    code: usize,
    lines: *const u32,
    /// Pairs.
    loops: *const u32,
    source: *const u8,
    name: *const c_char,
    source_length: usize,
    count: u32,
    stride: u32,
    nloops: u32,
    first_line: u32,
}

// Both sides of the border agree; tests/capi/header.c has the other side of this.
const _: () = {
    assert!(size_of::<TlViewInfo>() == 64 && offset_of!(TlViewInfo, code) == 0);
    assert!(offset_of!(TlViewInfo, lines) == 8 && offset_of!(TlViewInfo, loops) == 16);
    assert!(offset_of!(TlViewInfo, source) == 24 && offset_of!(TlViewInfo, name) == 32);
    assert!(offset_of!(TlViewInfo, source_length) == 40 && offset_of!(TlViewInfo, count) == 48);
    assert!(offset_of!(TlViewInfo, stride) == 52 && offset_of!(TlViewInfo, nloops) == 56);
    assert!(offset_of!(TlViewInfo, first_line) == 60);
};

/// A table of the host's.
///
/// # Safety
/// `start` is null or points to `count` elements that live as long as the answer.
unsafe fn table<'a, T>(start: *const T, count: usize) -> &'a [T] {
    match start.is_null() {
        true => &[],
        // SAFETY: promised by the caller.
        false => unsafe { std::slice::from_raw_parts(start, count) },
    }
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_has_view(vm: *mut TlVm) -> i32 {
    enter(vm, 0, |handle| Ok(i32::from(handle.vm.config().view)))
}

/// See `tracelift.h`.
///
/// # Safety
/// `info` points to a `tl_view_info` whose tables are as long as it says.
#[no_mangle]
pub unsafe extern "C" fn tl_view_function(vm: *mut TlVm, info: *const TlViewInfo) -> TlStatus {
    enter(vm, TlStatus::Misuse, |handle| {
        // SAFETY: promised by the caller.
        let info = unsafe { info.as_ref() }.ok_or("tl_view_function needs a function")?;
        if !handle.vm.config().view {
            return Ok(TlStatus::Ok);
        }
        if info.lines.is_null() || info.count == 0 || info.stride == 0 {
            return Err("tl_view_function: a function has lines, and instructions have a size".into());
        }
        let pairs = 2 * info.nloops as usize;
        // SAFETY: promised by the caller.
        let (lines, loops, source) = unsafe {
            (
                table(info.lines, info.count as usize),
                table(info.loops, pairs),
                table(info.source, info.source_length),
            )
        };
        let name = match info.name.is_null() {
            true => &[][..],
            // SAFETY: promised by the caller.
            false => unsafe { CStr::from_ptr(info.name) }.to_bytes(),
        };
        let loops: Vec<(u32, u32)> = loops.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
        handle.vm.tell_function(&Told {
            low: info.code,
            stride: info.stride as usize,
            name,
            first_line: info.first_line,
            source,
            lines,
            loops: &loops,
        });
        Ok(TlStatus::Ok)
    })
}

/// See `tracelift.h`.
///
/// # Safety
/// `path` is NUL-terminated.
#[no_mangle]
pub unsafe extern "C" fn tl_view_write(vm: *mut TlVm, path: *const c_char) -> TlStatus {
    enter(vm, TlStatus::Misuse, |handle| {
        if path.is_null() {
            return Err("tl_view_write needs a file's name".into());
        }
        // SAFETY: promised by the caller.
        let path = unsafe { CStr::from_ptr(path) }.to_bytes();
        let stats = stats_of(handle);
        let model = handle.vm.view(stats).ok_or("no view was configured")?;
        let text = match path.ends_with(b".json") {
            true => serde_json::to_string(&model).map_err(|error| error.to_string())?,
            false => render::page(&model),
        };
        let path = crate::view::text::path_of(path);
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(TlStatus::Ok)
    })
}
