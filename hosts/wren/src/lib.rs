//! Stock Wren 0.4 with Tracelift: the second real interpreter that embeds it.
//!
//! Problem: one host proves little of an interface. Wren is another language, by others, with a stack of
//! values instead of registers, methods instead of operators, and numbers that are all doubles. Design: all
//! that connects it is C (`c/`), which knows of the library what `tracelift.h` says; this crate only builds
//! it and is the command. Invariant: nothing here calls the library's Rust.
//!
//! Example: `wrenlift -jstats hosts/wren/bench/sieve.wren`.

use std::ffi::{c_char, c_int, CString};

// Linked for its C interface.
use tracelift_runtime as _;

/// Path of an executable with unpatched Wren of the same version and flags: the oracle of the tests.
pub const STOCK: &str = env!("TRACELIFT_STOCK_WREN");

/// The folder with Wren's own tests and benchmarks.
pub const SUITE: &str = env!("TRACELIFT_WREN_SUITE");

/// Number of insertions the build script made into Wren's sources.
pub const INSERTIONS: &str = env!("TRACELIFT_WREN_INSERTIONS");

/// Number of lines these insertions added.
pub const INSERTED_LINES: &str = env!("TRACELIFT_WREN_INSERTED_LINES");

extern "C" {
    fn wl_command(argc: c_int, argv: *const *const c_char) -> c_int;
}

/// Runs the command with these arguments, of which the first is its own name; returns its exit code.
pub fn run_command(arguments: Vec<CString>) -> i32 {
    let mut pointers: Vec<*const c_char> = arguments.iter().map(|argument| argument.as_ptr()).collect();
    pointers.push(std::ptr::null());
    let count = c_int::try_from(arguments.len()).expect("so many arguments fit");
    // SAFETY: `count` strings that end with NUL, and a null pointer behind them, which live during the call.
    unsafe { wl_command(count, pointers.as_ptr()) }
}
