//! The command `tlua`: Lua's own command line, with the JIT on.
//!
//! Problem: people who have `lua` in scripts and first lines want to replace that word and nothing else.
//! Design: the C library's `main` is Lua's own `lua.c` (`tracelift_lua::run_command`); Rust's start is left
//! out, which would ignore SIGPIPE and read what no script needs. Invariant: what `lua` prints, `tlua`
//! prints; what is ours is behind `-j` and `TLUA_JIT`.
//!
//! ```text
//! tlua -jstats -e 'print(_VERSION)'
//! ```

#![cfg_attr(not(test), no_main)]

mod lines;

use std::ffi::{c_char, c_int};

/// The C library's way in.
///
/// # Safety
/// The arguments are those of a process.
#[cfg(not(test))]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn main(argc: c_int, argv: *mut *mut c_char) -> c_int {
    // SAFETY: promised by the caller; this is the process's only call.
    unsafe { command(argc, argv) }
}

/// All of the command.
///
/// # Safety
/// As [`tracelift_lua::run_command`].
#[cfg_attr(test, allow(dead_code, reason = "tests have a main of their own"))]
unsafe fn command(argc: c_int, argv: *mut *mut c_char) -> c_int {
    tracelift_lua::edit_lines(lines::EDITOR);
    // SAFETY: promised by the caller.
    unsafe { tracelift_lua::run_command(argc, argv) }
}
