//! Starting what was built for the tests' own processor, which may not be the machine's.
//!
//! Problem: tests that were built for another processor run in an emulator. What they start must run there,
//! too, and the machine's kernel need not know how. Design: `TRACELIFT_RUNNER` is the emulator with its
//! options, and is put before the program. All tests that start a program of ours, or stock Lua, do it by
//! [`command`], or give [`emulator`] to who starts it; what belongs to the machine (a compiler, Python) is
//! started as ever.
//!
//! Invariant: this is the only place that reads the variable; without it, [`command`] is `Command::new`.
//!
//! Example: `TRACELIFT_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"`; `scripts/aarch64` sets it.

use std::ffi::{OsStr, OsString};
use std::process::Command;

/// What is put before a program that was built for the test's processor. Empty if that is the machine's own.
pub fn emulator() -> Vec<OsString> {
    let words = std::env::var("TRACELIFT_RUNNER").unwrap_or_default();
    words.split_whitespace().map(OsString::from).collect()
}

/// A command that runs this program, which was built for the same processor as the test.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut words = emulator().into_iter();
    let Some(emulator) = words.next() else { return Command::new(program) };
    let mut command = Command::new(emulator);
    command.args(words).arg(program);
    command
}
