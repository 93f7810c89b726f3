//! `tl_set_stable_name_of` to `tl_write_hints`: what one run leaves to the next.
//!
//! Problem: a host wants warm starts, and keeps the bytes where it likes, or in a directory. Design: the
//! host's function names places; bytes go in before the program runs and come out at its end; for those who
//! want files there are two calls with a directory. Invariant: no bytes of a file, however they came about,
//! are an error: they are refused, and the statistics say so.
//!
//! Example: `tl_set_stable_name_of(vm, name, interp); tl_read_hints(vm, dir);  ...  tl_write_hints(vm, dir)`.

use std::ffi::{c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::ptr;

use super::{enter, text, TlStatus, TlVm};
use crate::hints::{StableNameOf, Verdict};
use crate::place::Place;

/// `tl_stable_name_of`.
pub type TlStableNameOf =
    unsafe extern "C" fn(data: *mut c_void, key: *const c_void, words: *const u64) -> u64;

/// See `tracelift.h`.
///
/// # Safety
/// The function keeps what `tracelift.h` says of it, as long as the vm lives or has no other one.
#[no_mangle]
pub unsafe extern "C" fn tl_set_stable_name_of(
    vm: *mut TlVm,
    function: Option<TlStableNameOf>,
    data: *mut c_void,
) -> TlStatus {
    enter(vm, TlStatus::Misuse, |handle| {
        let ask = function.map(|function| -> StableNameOf {
            Box::new(move |place| {
                let (key, words) = match place {
                    Place::Key(key) => (key as *const c_void, ptr::null()),
                    Place::Frame(words) => (ptr::null(), words.as_ptr()),
                };
                // SAFETY: promised by the caller.
                unsafe { function(data, key, words) }
            })
        });
        handle.vm.set_stable_name_of(ask);
        Ok(TlStatus::Ok)
    })
}

/// Bytes of the host's.
///
/// # Safety
/// `bytes` points to `size` bytes, or `size` is 0.
unsafe fn slice<'a>(bytes: *const u8, size: usize) -> Result<&'a [u8], String> {
    match (bytes.is_null(), size) {
        (_, 0) => Ok(&[]),
        (true, _) => Err("the bytes are null".into()),
        // SAFETY: promised by the caller.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts(bytes, size) }),
    }
}

/// See `tracelift.h`.
///
/// # Safety
/// `bytes` points to `size` bytes.
#[no_mangle]
pub unsafe extern "C" fn tl_give_hints(vm: *mut TlVm, bytes: *const u8, size: usize) -> TlStatus {
    enter(vm, TlStatus::Misuse, |handle| {
        // SAFETY: promised by the caller.
        let bytes = unsafe { slice(bytes, size) }?;
        // What is refused is told by the statistics.
        let _ = handle.vm.give_hints(bytes);
        Ok(TlStatus::Ok)
    })
}

/// See `tracelift.h`.
///
/// # Safety
/// `older` points to `older_size` bytes, `size` to a number.
#[no_mangle]
pub unsafe extern "C" fn tl_take_hints(
    vm: *mut TlVm,
    older: *const u8,
    older_size: usize,
    size: *mut usize,
) -> *const u8 {
    enter(vm, ptr::null(), |handle| {
        // SAFETY: promised by the caller.
        let (older, size) = unsafe { (slice(older, older_size)?, size.as_mut()) };
        let size = size.ok_or("tl_take_hints needs a place for the size")?;
        handle.hints = handle.vm.take_hints(older);
        *size = handle.hints.len();
        Ok(handle.hints.as_ptr())
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_note_hint(vm: *mut TlVm, name: u64) {
    enter(vm, (), |handle| {
        handle.vm.note_hint(name);
        Ok(())
    });
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_has_hint(vm: *mut TlVm, name: u64) -> c_int {
    enter(vm, 0, |handle| {
        Ok(match handle.vm.hint(name) {
            Some(Verdict::Pays) => 1,
            Some(Verdict::Fails) => -1,
            None => 0,
        })
    })
}

/// A directory, which is made if only the last part of it is missing.
///
/// # Safety
/// `directory` is null or NUL-terminated.
unsafe fn directory_of(directory: *const c_char) -> Result<PathBuf, String> {
    if directory.is_null() {
        return Err("the directory is null".into());
    }
    // SAFETY: promised by the caller.
    let directory = Path::new(unsafe { text(directory) }?);
    let made = match std::fs::metadata(directory) {
        Ok(found) if found.is_dir() => return Ok(directory.to_path_buf()),
        Ok(_) => Err(std::io::Error::from_raw_os_error(libc::ENOTDIR)),
        Err(_) => std::fs::create_dir(directory),
    };
    match made {
        Ok(()) => Ok(directory.to_path_buf()),
        // Another process may have made it meanwhile.
        Err(_) if directory.is_dir() => Ok(directory.to_path_buf()),
        Err(error) => Err(format!("{}: {error}", directory.display())),
    }
}

/// See `tracelift.h`.
///
/// # Safety
/// `directory` is null or NUL-terminated.
#[no_mangle]
pub unsafe extern "C" fn tl_read_hints(vm: *mut TlVm, directory: *const c_char) -> TlStatus {
    enter(vm, TlStatus::Misuse, |handle| {
        // SAFETY: promised by the caller.
        let directory = unsafe { directory_of(directory) }?;
        let _ = handle.vm.read_hints(&directory);
        Ok(TlStatus::Ok)
    })
}

/// See `tracelift.h`.
///
/// # Safety
/// `directory` is null or NUL-terminated.
#[no_mangle]
pub unsafe extern "C" fn tl_write_hints(vm: *mut TlVm, directory: *const c_char) -> TlStatus {
    enter(vm, TlStatus::Misuse, |handle| {
        // SAFETY: promised by the caller.
        let directory = unsafe { directory_of(directory) }?;
        handle.vm.write_hints(&directory).map_err(|error| error.to_string())?;
        Ok(TlStatus::Ok)
    })
}
