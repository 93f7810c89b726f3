//! Programs whose allocator refuses, at every request in turn.
//!
//! Problem: compiled code leaves tables out and makes them when it is left, and that must not fail. Design: each program runs
//! once for each request for memory that it makes, with that request refused, with a few, and with all from it on. The
//! interpreter raises "not enough memory" where an allocation of its own fails, and programs catch it; every line that is
//! printed is that error or what stock Lua prints there.
//!
//! Invariant: no run crashes, none prints anything else, and some exits were given memory that was held for them.
//!
//! Example: `RUNLUA_MODE=jit RUNLUA_THRESHOLD=2 RUNLUA_REFUSE=700 runlua tests/memory/objects.lua`.

mod support;

use std::path::{Path, PathBuf};

use support::{count, patched, stock, Outcome};

fn program(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/memory").join(name)
}

fn run(program: &Path, passes: &str, settings: &[(&str, String)]) -> Outcome {
    let fixed = [("RUNLUA_MODE", "jit"), ("RUNLUA_THRESHOLD", "2"), ("RUNLUA_REPORT", "1")];
    let mut all: Vec<(&str, &str)> = fixed.to_vec();
    all.push(("RUNLUA_PASSES", passes));
    all.extend(settings.iter().map(|(name, value)| (*name, value.as_str())));
    patched(program, &[], &all)
}

/// Each line is what stock Lua prints, or the error; an error that nobody caught may come in the middle of the last one.
fn check(what: &str, expected: &Outcome, found: &Outcome) {
    const ERROR: &str = "not enough memory";
    let lines: Vec<&str> = found.stdout.lines().collect();
    for (number, (line, wanted)) in lines.iter().zip(expected.stdout.lines()).enumerate() {
        let is_error = line.ends_with(ERROR);
        let is_cut = number + 1 == lines.len() && found.code == Some(1) && wanted.starts_with(line);
        assert!(*line == wanted || is_error || is_cut, "{what}: {line}\ninstead of {wanted}");
    }
    match found.code {
        Some(0) => assert_eq!(lines.len(), expected.stdout.lines().count(), "{what}"),
        Some(1) => assert!(found.stderr.contains(ERROR), "{what}: {}", found.stderr),
        // The state, or the library's part of it, could not be made.
        Some(2) => {
            assert!(found.stdout.is_empty() && found.stderr.starts_with("lua: "), "{what}: {}", found.stderr)
        }
        code => panic!("{what}: ended with {code:?}: {}", found.stderr),
    }
}

/// Refuses `refused` requests (0: all) from each on; the blocks given to exits and the entries put off.
fn refuse(name: &str, refused: u64) -> (u64, u64) {
    let program = program(name);
    let expected = stock(&program, &[]);
    assert_eq!(expected.code, Some(0), "{}", expected.stderr);
    let counted = run(&program, "", &[("RUNLUA_REFUSE", u64::MAX.to_string())]);
    assert_eq!(counted.stdout, expected.stdout);
    assert!(count(&counted, "compiled") > 0, "{}", counted.stderr);
    let requests = count(&counted, "requests");
    let (mut given, mut put_off) = (0, 0);
    for from in 1..=requests {
        let settings = [("RUNLUA_REFUSE", from.to_string()), ("RUNLUA_REFUSE_COUNT", refused.to_string())];
        let found = run(&program, "", &settings);
        check(&format!("{name}: {refused} refused from {from} on"), &expected, &found);
        if matches!(found.code, Some(0 | 1)) {
            given += count(&found, "spare_blocks");
            put_off += u64::from(found.stderr.contains("entries put off"));
        }
    }
    (given, put_off)
}

#[test]
fn one_request_refused() {
    let (given, _) = refuse("objects.lua", 1);
    assert!(given > 0);
}

#[test]
fn some_requests_refused() {
    let (given, put_off) = refuse("objects.lua", 30);
    assert!(given > 0 && put_off > 0, "{given} blocks given, {put_off} runs put entries off");
}

#[test]
fn all_requests_refused_from_one_on() {
    let (given, _) = refuse("objects.lua", 0);
    assert!(given > 0);
}

/// Functions of the library make strings here; none of them may be lost or cut when there is no memory for it.
#[test]
fn memory_of_library_functions_refused() {
    refuse("library.lua", 1);
}
