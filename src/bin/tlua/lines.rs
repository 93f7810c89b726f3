//! Lines from a terminal, with a history.
//!
//! Problem: at the prompt people want to take back what they typed, and to find what they typed before.
//! Design: the crate `rustyline`, behind two functions that Lua's `lua.c` calls for a line and for the
//! history; the history lives as long as the process, as `lua`'s does. Ctrl-C at the prompt ends the process
//! by its signal, as it does there; Ctrl-D ends the input. Invariant: no panic leaves a function here, and
//! the terminal is as it was when one returns.
//!
//! Example: `> 1 + 1`, `2`, and the arrow up brings `1 + 1` again.

use std::cell::RefCell;
use std::ffi::{c_char, CStr, CString};
use std::panic::catch_unwind;
use std::ptr::null_mut;

use rustyline::error::ReadlineError;
use rustyline::DefaultEditor;
use tracelift_lua::LineEditor;

/// The functions that Lua's command calls.
pub const EDITOR: LineEditor = LineEditor { read, save };

thread_local! {
    /// Made for the first line; none if the terminal cannot do it.
    static LINES: RefCell<Option<DefaultEditor>> = const { RefCell::new(None) };
}

extern "C" fn read(prompt: *const c_char) -> *mut c_char {
    // SAFETY: the caller gives a string that lives for the call.
    let prompt = unsafe { CStr::from_ptr(prompt) }.to_string_lossy().into_owned();
    let line = catch_unwind(|| line(&prompt)).ok().flatten();
    match line.and_then(|line| CString::new(line).ok()) {
        // SAFETY: it is a string.
        Some(line) => unsafe { libc::strdup(line.as_ptr()) },
        None => null_mut(),
    }
}

/// A line without its end, or nothing at the end of the input.
fn line(prompt: &str) -> Option<String> {
    LINES.with_borrow_mut(|lines| {
        if lines.is_none() {
            *lines = Some(DefaultEditor::new().ok()?);
        }
        let editor = lines.as_mut()?;
        loop {
            match editor.readline(prompt) {
                Ok(line) => return Some(line),
                // SAFETY: Lua has given this signal back its usual meaning before it asks for a line.
                Err(ReadlineError::Interrupted) => unsafe {
                    libc::raise(libc::SIGINT);
                },
                // The window has another size now.
                Err(ReadlineError::Signal(_)) => {}
                Err(_) => return None,
            }
        }
    })
}

extern "C" fn save(line: *const c_char) {
    // SAFETY: the caller gives a string that lives for the call.
    let line = unsafe { CStr::from_ptr(line) }.to_string_lossy().into_owned();
    // Without a history the prompt is still one.
    let _ = catch_unwind(|| {
        LINES.with_borrow_mut(|lines| lines.as_mut().map(|editor| editor.add_history_entry(line)))
    });
}
