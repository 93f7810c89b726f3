//! Wren's own test suite.
//!
//! Problem: an interpreter's own tests know its corners. Design: all programs of its folders `language`,
//! `core`, `limit`, `meta`, `random` and `regression` are run by stock Wren and by ours; what they are to
//! print stands in their comments (`// expect: text`, `// expect runtime error: text`, and so on).
//! Invariant: a program passes with the JIT if it passes without, and prints the same. The suite is a little
//! older than the interpreter: what stock Wren does not pass, which is counted, ours must not either.
//! Example: `cargo test -p tracelift-wren --test wren_suite -- --nocapture` prints the closing lines.

mod support;

use std::path::{Path, PathBuf};
use support::{ours, programs, stock, Outcome};

const FOLDERS: [&str; 6] = ["language", "core", "limit", "meta", "random", "regression"];

/// All of them, or one in so many as the variable `TRACELIFT_EVERY` says.
fn suite() -> Vec<PathBuf> {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let (every, turn) = (number("TRACELIFT_EVERY").unwrap_or(1), number("TRACELIFT_TURN").unwrap_or(0));
    let all = FOLDERS.iter().flat_map(|folder| programs(&Path::new(tracelift_wren::SUITE).join(folder)));
    all.skip(turn % every.max(1)).step_by(every.max(1)).collect()
}

/// Whether the run is as the program's comments say; `None` if they say that it is no test.
fn passes(text: &str, outcome: &Outcome) -> Option<bool> {
    let (mut printed, mut error, mut fails, mut is_wrong) = (Vec::new(), None, false, false);
    for line in text.lines() {
        if line.contains("// skip:") || line.contains("// nontest") {
            return None;
        }
        if let Some(at) = line.find("// expect: ").or(line.strip_suffix("// expect:").map(str::len)) {
            printed.push(line[at..].trim_start_matches("// expect:").trim_start_matches(' '));
        }
        if let Some((_, message)) =
            line.split_once("runtime error: ").filter(|(start, _)| start.contains("// expect "))
        {
            error = Some(message);
            fails = !line.contains("// expect handled");
        }
        is_wrong |= line.contains("// expect error");
    }
    let expected = if is_wrong {
        65
    } else if fails {
        70
    } else {
        0
    };
    let lines: Vec<&str> = outcome.stdout.lines().map(|line| line.trim_start_matches(' ')).collect();
    let has_error = error.is_none_or(|message| outcome.stderr.lines().any(|line| line == message));
    Some(outcome.code == Some(expected) && has_error && (is_wrong || lines == printed))
}

fn compare(words: &[&str]) {
    let (mut passed, mut failed, mut others) = (0, 0, 0);
    for program in suite() {
        let text = String::from_utf8_lossy(&std::fs::read(&program).expect("it can be read")).into_owned();
        let (expected, found) = (stock(&program), ours(&program, words));
        assert_eq!(expected, found, "{} {words:?}", program.display());
        match passes(&text, &found) {
            Some(true) => passed += 1,
            Some(false) => failed += 1,
            None => others += 1,
        }
    }
    println!(
        "wren's suite {words:?}: {passed} tests pass, {failed} fail as in stock Wren, {others} are no tests"
    );
    let all = passed + failed + others;
    assert!(passed * 100 > all * 94 && failed * 100 < all * 4, "{passed} {failed}");
}

#[test]
fn as_users_have_it() {
    compare(&[]);
}

#[test]
fn with_recordings_that_start_at_once() {
    compare(&["-jthreshold=1", "-jside=1", "-jverify"]);
}
