//! Running programs under stock Lua and under the patched interpreter.
//!
//! Problem: both must see the same command line, or positions in messages differ.
//!
//! Design: each run is a process; the two are compared by their standard output, standard error and exit
//! code.
//!
//! Invariant: environment variables of Lua do not leak into a run.
//!
//! Example: `assert_eq!(stock(&script, &[]), patched(&script, &[], &[("RUNLUA_MODE", "stress")]))`.
#![allow(dead_code)] // each test file uses its own part

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

#[path = "../../../../tests/support/runner.rs"]
mod runner;

/// What a program did.
#[derive(Debug, PartialEq, Eq)]
pub struct Outcome {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl From<Output> for Outcome {
    fn from(output: Output) -> Self {
        Outcome {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

fn run(program: &str, script: &Path, args: &[&str], settings: &[(&str, &str)]) -> Outcome {
    let mut command = runner::command(program);
    command.arg(script).args(args).stdin(Stdio::null());
    for name in ["LUA_INIT", "LUA_PATH", "LUA_CPATH"] {
        for suffix in ["", "_5_4", "_5_5"] {
            command.env_remove(format!("{name}{suffix}"));
        }
    }
    command.envs(settings.iter().copied()).output().expect("the interpreter was built").into()
}

/// Runs a script with stock Lua.
pub fn stock(script: &Path, args: &[&str]) -> Outcome {
    run(tracelift_lua::STOCK_LUA, script, args, &[])
}

/// Runs a script with the patched interpreter; the settings are those of `runlua`.
pub fn patched(script: &Path, args: &[&str], settings: &[(&str, &str)]) -> Outcome {
    run(env!("CARGO_BIN_EXE_runlua"), script, args, settings)
}

/// A command that runs the patched interpreter, as [`patched`] does.
pub fn runlua() -> Command {
    runner::command(env!("CARGO_BIN_EXE_runlua"))
}

/// The value of a count in the report that `RUNLUA_REPORT` adds to standard error.
pub fn count(outcome: &Outcome, name: &str) -> u64 {
    let after =
        outcome.stderr.split(&format!("{name}: ")).nth(1).unwrap_or_else(|| panic!("{name} in {outcome:?}"));
    let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().expect("the report prints numbers")
}

/// The programs that every mode must run as stock Lua does.
pub fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let entries = std::fs::read_dir(folder).expect("the folder is part of the package");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
    files.sort();
    assert!(files.len() >= 15);
    files
}

/// Writes a script to a file of its own.
pub fn script(name: &str, text: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).expect("the folder for test files can be written");
    path
}
