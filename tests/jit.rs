//! The library `jit`: what it does to code, and that nobody sees it who does not ask for it.
//!
//! Problem: a program takes code back that runs, and switches functions off in the midst of a recording; and
//! programs that know nothing of the library must not find it. Design: scripts say what must hold, and are
//! run with the lowest thresholds, the usual ones, and without the JIT, where they print the same.
//! `invisible.lua` is compared with stock Lua. Invariant: each script comes to its end.
//!
//! Example: `TLUA_JIT=opt=threshold=1,side-threshold=1 tlua flushing.lua`.

#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::Command;

use tracelift_lua::STOCK_COMMAND;

const TLUA: &str = env!("CARGO_BIN_EXE_tlua");

const SETTINGS: [&str; 6] = [
    "off",
    "",
    "opt=threshold=1,side-threshold=1,+verify",
    "opt=threshold=3,side-threshold=2",
    "opt=threshold=3,side-threshold=2,-baseline,-regions",
    "opt=threshold=20,side-threshold=3,-quick-code",
];

/// What a script prints; it must end well.
fn printed(executable: &str, script: &str, jit: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/jit");
    let output = Command::new(executable).arg(script).current_dir(folder).env("TLUA_JIT", jit).output();
    let output = output.unwrap_or_else(|error| panic!("{executable}: {error}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{script}, TLUA_JIT={jit}: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn who_does_not_ask_sees_nothing() {
    let stock = printed(STOCK_COMMAND, "invisible.lua", "");
    assert!(stock.ends_with("own jit :preload:\n"), "{stock}");
    for jit in SETTINGS {
        assert_eq!(printed(TLUA, "invisible.lua", jit), stock, "{jit}");
    }
}

#[test]
fn functions_are_switched_and_flushed() {
    for script in ["switching.lua", "flushing.lua"] {
        let expected = printed(TLUA, script, SETTINGS[0]);
        assert!(!expected.is_empty());
        for jit in &SETTINGS[1..] {
            assert_eq!(printed(TLUA, script, jit), expected, "{script}, {jit}");
        }
    }
}

/// A function that is switched off stops a recording that comes to it, and the reason says so.
#[test]
fn what_is_switched_off_is_a_reason() {
    let script = "local jit = require 'jit' local function f(x) return x + 1 end jit.off(f)
        local s = 0 for i = 1, 60 do s = f(s) end print(s)";
    let words = ["-jopt=threshold=3", "-jstats", "-e", script];
    let output = Command::new(TLUA).args(words).env_remove("TLUA_JIT").output().expect("it starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "60\n");
    let line = "loop (command line):2 main chunk: switched off by jit.off, at (command line):2 main chunk\n";
    assert!(errors.contains(line), "{errors}");
}

#[test]
fn the_version_is_the_workspaces() {
    let version = env!("CARGO_PKG_VERSION");
    let script = "local jit = require 'jit' print(jit.version, jit.version_num)";
    let output = Command::new(TLUA).args(["-e", script]).output().expect("it starts");
    let parts: Vec<u32> = version.split('.').map(|part| part.parse().expect("a number")).collect();
    let number = parts[0] * 10_000 + parts[1] * 100 + parts[2];
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("Tracelift {version}\t{number}\n"));
}
