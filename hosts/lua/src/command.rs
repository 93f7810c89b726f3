//! The stand-alone interpreter, as a function that an executable's `main` calls.
//!
//! Problem: `lua.c` is C from end to end, with errors that `longjmp`; what edits lines on a terminal is Rust.
//! Design: [`run_command`] is all of `lua.c`, in its own process; a [`LineEditor`] is two functions that C
//! calls between Lua's own work, which return before Lua goes on. Invariant: no function here is on the stack
//! while Lua may throw, but below all of it.
//!
//! Example: `unsafe { run_command(argc, argv) }` in an `extern "C" fn main`.

use std::ffi::{c_char, c_int};

/// Who reads lines for the prompt, where standard input and output are a terminal.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LineEditor {
    /// Shows a prompt and returns a line from `malloc`, without its end, or null at the end of input.
    pub read: extern "C" fn(prompt: *const c_char) -> *mut c_char,
    /// Keeps a line for the history.
    pub save: extern "C" fn(line: *const c_char),
}

extern "C" {
    fn tlua_front_edit_lines(editor: *const LineEditor);
    fn tlua_main(argc: c_int, argv: *mut *mut c_char) -> c_int;
}

/// Has this editor read lines from a terminal. Without one they are read as the terminal gives them.
pub fn edit_lines(editor: LineEditor) {
    // SAFETY: the C side copies the two pointers.
    unsafe { tlua_front_edit_lines(&editor) }
}

/// Does what the command `lua` does with these arguments, and returns its exit code.
///
/// # Safety
/// `argv` is what the C library gave to `main`: `argc` strings and a null pointer. It is the process's only
/// use of this function.
pub unsafe fn run_command(argc: c_int, argv: *mut *mut c_char) -> c_int {
    // SAFETY: promised by the caller.
    unsafe { tlua_main(argc, argv) }
}
