//! Runs the command and its oracle.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a run has shown.
#[derive(Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The exit code; none if a signal ended it.
    pub code: Option<i32>,
    /// What it printed.
    pub stdout: String,
    /// What it complained of.
    pub stderr: String,
}

fn run(mut command: Command, program: &Path) -> Outcome {
    let output = command.arg(program).stdin(Stdio::null()).output().expect("it can be run");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Outcome { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// By Wren without the JIT, untouched.
pub fn stock(program: &Path) -> Outcome {
    run(Command::new(tracelift_wren::STOCK), program)
}

/// By ours, with these words.
pub fn ours(program: &Path, words: &[&str]) -> Outcome {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wrenlift"));
    command.args(words);
    run(command, program)
}

/// All Wren programs in a folder and below it, sorted.
pub fn programs(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("it can be listed").path();
        if path.is_dir() {
            found.extend(programs(&path));
        } else if path.extension().is_some_and(|end| end == "wren") {
            found.push(path);
        }
    }
    found.sort();
    found
}
