//! Bytes and traces as text for people.
//!
//! Problem: names and sources of a program are bytes, and need be no text; and a printed trace does not say
//! which line of the program each operation is for. Design: what is no UTF-8, and what would not show, is
//! written as an escape, so that nothing is lost and nothing is guessed. What an exit tests is put together
//! from two lines of its trace. Invariant: text has no control characters but ends of lines and tabs.
//!
//! ```text
//! the bytes 61 FF 00  ->  a\xff\x00
//! ```

use std::fmt::Write;

use tracelift_core::Trace;

/// Bytes as text; those that are none as escapes.
pub fn readable(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            let shows = c == '\n' || c == '\t' || !c.is_control() && !changes_direction(c);
            match shows {
                true => out.push(c),
                false if c == '\r' => {}
                false => _ = write!(out, "\\u{{{:x}}}", u32::from(c)),
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out
}

/// Characters that make text look like other text.
fn changes_direction(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
}

/// A file's name.
#[cfg(unix)]
pub fn path_of(bytes: &[u8]) -> std::path::PathBuf {
    use std::os::unix::ffi::OsStrExt;
    std::ffi::OsStr::from_bytes(bytes).into()
}

/// A file's name.
#[cfg(not(unix))]
pub fn path_of(bytes: &[u8]) -> std::path::PathBuf {
    String::from_utf8_lossy(bytes).into_owned().into()
}

/// For each instruction of an optimized trace the address of the bytecode where the interpreter would go on:
/// only what may leave knows it.
pub fn addresses(trace: &Trace) -> impl Iterator<Item = Option<u64>> + '_ {
    let address = |inst| trace.snapshot_of(inst)?.frames.last()?.words.first().copied();
    trace.insts.iter().map(address)
}

/// What is tested by an operation, with what its first operand is.
pub fn test_of(lines: &[String], index: usize) -> String {
    let Some(test) = lines.get(index) else { return String::new() };
    let operand = test.rsplit('(').next().and_then(|rest| rest.split([',', ')']).next()).unwrap_or_default();
    let begin = format!("{operand} = ");
    match lines[..index].iter().rev().find(|line| line.starts_with(&begin)) {
        Some(line) if !operand.is_empty() => format!("{test}, where {line}"),
        _ => test.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_text_show_as_escapes() {
        assert_eq!(readable(b"a <&\"\n\tb"), "a <&\"\n\tb");
        assert_eq!(readable(b"\xff\x00\xc3\xa9\r\n"), "\\xff\\u{0}\u{e9}\n");
        assert_eq!(readable("x\u{202e}y".as_bytes()), "x\\u{202e}y");
    }

    #[test]
    fn a_test_says_what_its_operand_is() {
        let lines = ["L0(i1, i2):", "i3 = int_lt(i1, i2)", "i30 = int_add(i1, i2)", "guard_true(i3) @2"];
        let lines = lines.map(str::to_string);
        assert_eq!(test_of(&lines, 3), "guard_true(i3) @2, where i3 = int_lt(i1, i2)");
        assert_eq!(test_of(&lines, 1), "i3 = int_lt(i1, i2)");
        assert_eq!(test_of(&lines, 4), "");
    }
}
