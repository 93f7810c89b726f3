//! Listing which registers of a Lua function are live where.
//!
//! Problem: traces forget registers that are dead; when a trace goes wrong one wants to see what was held to
//! be dead.
//!
//! Design: the C side compiles a file without running it and prints the result of its analysis; here it
//! becomes a string.
//!
//! Invariant: no Lua code runs.
//!
//! Example line of a listing: `   7 FORLOOP      1 2 3 4`, index of the instruction, opcode, live registers.

use std::ffi::{c_char, c_int, CStr, CString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::driver::Error;

extern "C" {
    fn tlua_live_text(path: *const c_char, is_error: *mut c_int) -> *mut c_char;
}

/// Lists the live registers before each instruction of each function in a file.
pub fn list_liveness<P: AsRef<Path>>(path: P) -> Result<String, Error> {
    let path = CString::new(path.as_ref().as_os_str().as_bytes())?;
    let mut is_error = 0;
    // SAFETY: both pointers are valid for the call, which keeps neither and catches Lua's errors.
    let text = unsafe { tlua_live_text(path.as_ptr(), &mut is_error) };
    if text.is_null() {
        return Err(Error::Refused("not enough memory".to_owned()));
    }
    // SAFETY: the C side returns a terminated string from `malloc` that is ours now.
    let listing = unsafe {
        let copy = CStr::from_ptr(text).to_string_lossy().into_owned();
        libc::free(text.cast());
        copy
    };
    if is_error != 0 {
        return Err(Error::Refused(listing));
    }
    Ok(listing)
}
