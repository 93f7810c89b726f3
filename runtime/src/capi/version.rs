//! `tl_version`: which library a host has got, which may be another one than it was compiled for.
//!
//! Example: `tl_version()` gives `"0.1.0"`, and `tl_version_number()` 100 (a thousand for each minor version,
//! a million for each major one).

use std::ffi::{c_char, CStr};

use super::config::ABI_VERSION;

/// The version, with the NUL that C wants.
const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
    Ok(version) => version,
    Err(_) => panic!("the version of a package has no NUL inside"),
};

const fn number(text: &str) -> u32 {
    let (bytes, mut at, mut value) = (text.as_bytes(), 0, 0);
    while at < bytes.len() {
        value = value * 10 + (bytes[at] - b'0') as u32;
        at += 1;
    }
    value
}

/// Major, minor and patch version in one number.
const NUMBER: u32 = number(env!("CARGO_PKG_VERSION_MAJOR")) * 1_000_000
    + number(env!("CARGO_PKG_VERSION_MINOR")) * 1_000
    + number(env!("CARGO_PKG_VERSION_PATCH"));

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_version() -> *const c_char {
    VERSION.as_ptr()
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_version_number() -> u32 {
    NUMBER
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_abi_version() -> u32 {
    ABI_VERSION
}
