//! `tl_set_name_of`, `tl_set_meanings`: what the host calls places of the program, and what its reasons mean.
//!
//! Problem: names lie in the host's own structures, and are wanted while calls of this library are under
//! way. Design: the host's function writes into room of ours, and is believed as far as the first NUL there.
//! Meanings are a table of the host's, in which nothing is looked up before somebody asks.
//! Invariant: the function is called with one of a key and a frame's words, never with both.
//!
//! Example: `tl_set_name_of(vm, name_of, interpreter)`, and the log says `loop app.lua:12 sum`.

use std::ffi::{c_char, c_int, c_void, CStr};

use super::{enter, text, TlStatus, TlVm};
use crate::names::{NameOf, Place};
use crate::reasons::MeaningOf;

/// Bytes for a name, its NUL included.
const ROOM: usize = 256;

/// `tl_name_of`.
pub type TlNameOf = unsafe extern "C" fn(
    data: *mut c_void,
    key: *const c_void,
    words: *const u64,
    name: *mut c_char,
    room: usize,
) -> c_int;

/// See `tracelift.h`.
///
/// # Safety
/// The function keeps what `tracelift.h` says of it, as long as the vm lives or has no other one.
#[no_mangle]
pub unsafe extern "C" fn tl_set_name_of(
    vm: *mut TlVm,
    function: Option<TlNameOf>,
    data: *mut c_void,
) -> TlStatus {
    enter(vm, TlStatus::Misuse, |handle| {
        let ask = function.map(|function| -> NameOf {
            Box::new(move |place| {
                let (key, words) = match place {
                    Place::Key(key) => (key as *const c_void, std::ptr::null()),
                    Place::Frame(words) => (std::ptr::null(), words.as_ptr()),
                };
                let mut name = [0u8; ROOM];
                // SAFETY: promised by the caller; there is so much room.
                let is_known = unsafe { function(data, key, words, name.as_mut_ptr().cast(), ROOM) } != 0;
                let name = CStr::from_bytes_until_nul(&name).ok().filter(|_| is_known)?;
                Some(name.to_string_lossy().into_owned())
            })
        });
        handle.vm.set_name_of(ask);
        Ok(TlStatus::Ok)
    })
}

/// `tl_meaning`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct TlMeaning {
    /// A reason, or how some begin.
    pub reason: *const c_char,
    /// What it means.
    pub meaning: *const c_char,
}

/// See `tracelift.h`.
///
/// # Safety
/// There are so many rows, whose texts are NUL-terminated; they live as long as the vm.
#[no_mangle]
pub unsafe extern "C" fn tl_set_meanings(vm: *mut TlVm, rows: *const TlMeaning, count: usize) -> TlStatus {
    enter(vm, TlStatus::Misuse, |handle| {
        if rows.is_null() && count > 0 {
            return Err("the rows are null".into());
        }
        let find = move |reason: &str| {
            (0..count).find_map(|row| {
                // SAFETY: promised by the caller.
                let row = unsafe { *rows.add(row) };
                // SAFETY: as above.
                let known = unsafe { text(row.reason) }.ok()?;
                // SAFETY: as above.
                reason.starts_with(known).then(|| unsafe { text(row.meaning) }.ok().map(str::to_string))?
            })
        };
        handle.vm.set_meaning_of((count > 0).then(|| -> MeaningOf { Box::new(find) }));
        Ok(TlStatus::Ok)
    })
}
