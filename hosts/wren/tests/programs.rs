//! Programs print the same with the JIT as without.
//!
//! Problem: code must do what the interpreter does, wherever it is entered and left. Design: each program is
//! run by stock Wren, and by ours with the JIT off, as users have it, with recordings that start at once, and
//! from everywhere; then with a guard that is made to fail. The verifier looks at each trace.
//! Invariant: output, errors and exit code are the same to the byte.
//! Example: `cargo test -p tracelift-wren --test programs`, with `TRACELIFT_EVERY=1` for every forced exit.

mod support;

use std::path::{Path, PathBuf};
use support::{ours, programs, stock, Outcome};

/// This package's own programs.
fn own() -> Vec<PathBuf> {
    programs(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs"))
}

const MODES: &[&[&str]] = &[
    &["-joff"],
    &[],
    &["-jthreshold=1", "-jverify"],
    &["-jbudget", "-jverify"],
    &["-jthreshold=3", "-jside=1", "-jverify"],
    &["-jthreshold=1", "-jside=1"],
    &["-jthreshold=4", "-jside=3", "-jseed=7", "-jverify"],
    &["-jthreshold=2", "-jside=2", "-jseed=4"],
    &["-jthreshold=2", "-jside=1", "-jcollect"],
];

#[test]
fn programs_print_the_same() {
    for program in own() {
        let expected = stock(&program);
        assert_eq!(expected.code, Some(0), "{}: {}", program.display(), expected.stderr);
        for words in MODES {
            assert_eq!(expected, ours(&program, words), "{} {words:?}", program.display());
        }
    }
}

/// The number that the report in JSON has under a name.
fn number(json: &str, name: &str) -> u64 {
    let at = json.find(&format!("\"{name}\": ")).unwrap_or_else(|| panic!("no {name} in {json}"));
    let digits = json[at + name.len() + 4..].chars().take_while(char::is_ascii_digit).collect::<String>();
    digits.parse().unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn nothing_is_done_against_the_rules() {
    for program in own() {
        let words = ["-jthreshold=3", "-jside=2", "-jjson"];
        let report = ours(&program, &words).stderr;
        assert!(number(&report, "traces") > 2, "{}: {report}", program.display());
        assert!(
            !report.contains("misuse") && !report.contains("internal"),
            "{}: {report}",
            program.display()
        );
        assert!(!report.contains("not recordable"), "{}: {report}", program.display());
    }
}

/// How many of the executions of guards are made to fail, for each program.
fn forced() -> u64 {
    let every = std::env::var("TRACELIFT_EVERY").ok().and_then(|text| text.parse().ok());
    60 / every.unwrap_or(3u64).max(1)
}

#[test]
fn any_guard_may_fail() {
    for program in own() {
        let expected = stock(&program);
        let words = ["-jthreshold=3", "-jside=2"];
        let counted = ours(&program, &[words[0], words[1], "-jguards", "-jjson"]);
        let guards = number(&counted.stderr, "guards_executed");
        assert!(guards > 1000, "{}: {guards}", program.display());
        for n in 0..forced() {
            // From the first ones, which matter most, to the last one, farther and farther apart.
            let at = 1 + (guards - 1) * n * n / (forced() * forced()).max(1);
            let force = format!("-jforce={at}");
            assert_eq!(expected, ours(&program, &[words[0], words[1], &force]), "{} {at}", program.display());
        }
    }
}

#[test]
fn words_are_checked() {
    let program = &own()[0];
    for word in ["-jthreshold=0", "-jthreshold=x", "-jnone", "-j", "-x", "-jforce=", "-jside=99999999999"] {
        let Outcome { code, stdout, stderr } = ours(program, &[word]);
        assert_eq!((code, stdout.as_str()), (Some(64), ""), "{word}: {stderr}");
        assert_eq!(stderr.lines().count(), 1, "{word}: {stderr}");
    }
    let missing = ours(Path::new("no such file.wren"), &[]);
    assert_eq!((missing.code, missing.stderr.lines().count()), (Some(66), 1), "{missing:?}");
}
