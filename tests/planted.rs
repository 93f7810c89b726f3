//! The checks must see every bug that is planted on purpose.
//!
//! Problem: a differential test that never fails proves little. Design: optimizer, lowering and resume data hold some
//! thirty deliberate bugs (`tracelift_core::planted`); for each of them random traces are checked with the bug switched
//! on until the checks object. A planted bug may well crash the process or make it run wild, so each is tried in a
//! process of its own: this test starts itself again with `TRACELIFT_PLANTED` set. A crash counts as an objection.
//!
//! Invariant: without a planted bug the same traces pass (`tests/differential.rs`), so an objection is the bug's.
//! Run it with `cargo test --features planted-bugs --test planted -- --nocapture`.
//!
//! Example of a line it prints: `FoldShiftUnmasked: 19 traces: all passes: evaluator: frame 0 slot 1: 1 vs
//! 0`.

mod support;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use support::check::Checker;
use support::runner;
use tracelift_core::planted::{with_planted, Bug};
use tracelift_core::testbed::standard_schema;
use tracelift_core::testgen::generate;

/// Within so many traces each bug must be seen.
const BOUND: u64 = 3_000;

/// Bugs that random traces no longer meet within the bound, since loops of eight-byte counts are hoisted too: they wait for traces
/// of their own, and each run says so.
const UNMET: [Bug; 1] = [Bug::BoundsStartIgnored];

/// What a process that tries one bug prints before its verdict.
const VERDICT: &str = "verdict: ";

/// Checks random traces with the bug switched on; the number of traces until the checks object, and what they say.
fn hunt(bug: Bug) -> Option<(u64, String)> {
    support::crash::install();
    let schema = Arc::new(standard_schema());
    let mut checker = Checker::new(&schema);
    for seed in 0..BOUND {
        let case = generate(seed, &schema);
        let check = std::panic::AssertUnwindSafe(|| with_planted(bug, || checker.check(&case)));
        match std::panic::catch_unwind(check) {
            Ok(Ok(())) => {}
            Ok(Err(failure)) => return Some((seed + 1, failure.what)),
            Err(_) => return Some((seed + 1, "a panic".into())),
        }
    }
    None
}

/// Tries a bug in a process of its own; the line to report, or why the bug was not seen.
fn try_bug(bug: Bug) -> Result<String, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = runner::command(program)
        .args(["every_planted_bug_is_seen", "--exact", "--nocapture"])
        .env("TRACELIFT_PLANTED", format!("{bug:?}"))
        .output()
        .map_err(|error| error.to_string())?;
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if let Some(at) = out.find(VERDICT) {
        let verdict = out[at + VERDICT.len()..].lines().next().unwrap_or_default();
        return Ok(format!("{bug:?}: {verdict}"));
    }
    match err.lines().find(|line| line.starts_with("crash while running")) {
        Some(crash) => Ok(format!("{bug:?}: {crash}")),
        None => Err(format!("{bug:?} was not seen in {BOUND} traces\n{out}\n{err}")),
    }
}

/// `tracelift opt` on a file, with a bug switched on: the error, if it objects.
fn objection(bug: Option<Bug>, source: &str) -> Option<String> {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("planted.trace");
    std::fs::write(&path, source).expect("the file can be written");
    let mut command = runner::command(env!("CARGO_BIN_EXE_tracelift"));
    command.arg("opt").arg(&path).env_remove("TRACELIFT_PLANTED");
    if let Some(bug) = bug {
        command.env("TRACELIFT_PLANTED", format!("{bug:?}"));
    }
    let output = command.output().expect("the command starts");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.success(), errors.is_empty(), "{errors}");
    (!output.status.success()).then(|| {
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert_eq!(errors.lines().count(), 1, "{errors}");
        errors
    })
}

/// The command that shows what the optimizer did compares what comes of it: results, and what is left in memory.
#[test]
fn opt_objects_to_wrong_results_and_memory() {
    let result = "cell raw.word: int @8 class raw\nlayout Box { word: int }\nobject box = Box { word: 1 }\n\
                  trace result\nL0(p0, p1):\ni2 = load(p0, raw.word)\nstore(p1, raw.word, 7)\n\
                  i3 = load(p0, raw.word)\nfinish(i3)\nrun: @box, @box -> finish(7)\n";
    let memory = "cell raw.word: int @8 class raw\nlayout Box { word: int }\nobject box = Box { word: 1 }\n\
                  cell raw.other: int @8 class other\nlayout Other { other: int }\nobject other = Other { other: 0 }\n\
                  trace memory\nL0(p0, p1, p2):\ni2 = load(p0, raw.word)\nstore(p1, raw.word, 7)\n\
                  i3 = load(p0, raw.word)\nstore(p2, raw.other, i3)\nfinish()\n\
                  run: @box, @box, @other -> finish()\n";
    let cases = [
        (Bug::HeapStoreAliasIgnored, result, ["line 10", "result 0: 7 vs 1"]),
        (Bug::HeapStoreAliasIgnored, memory, ["line 14", "7 vs 1"]),
    ];
    for (bug, source, needles) in cases {
        assert_eq!(objection(None, source), None, "{bug:?}");
        let objection = objection(Some(bug), source).unwrap_or_else(|| panic!("{bug:?} was not seen"));
        assert!(needles.iter().all(|needle| objection.contains(needle)), "{bug:?}: {objection}");
    }
}

#[test]
fn every_planted_bug_is_seen() {
    if let Ok(name) = std::env::var("TRACELIFT_PLANTED") {
        let bug = Bug::ALL.iter().find(|bug| format!("{bug:?}") == name).expect("the name of a planted bug");
        let (traces, what) = hunt(*bug).expect("the bug is seen");
        println!("\n{VERDICT}{traces} traces: {}", what.lines().next().unwrap_or_default());
        return;
    }
    let (next, unseen) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let processes = std::thread::available_parallelism().map_or(1, |n| n.get().min(8));
    std::thread::scope(|scope| {
        for _ in 0..processes {
            scope.spawn(|| {
                while let Some(&bug) = Bug::ALL.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if UNMET.contains(&bug) {
                        println!("{bug:?}: LEFT OUT, not met by random traces");
                        continue;
                    }
                    match try_bug(bug) {
                        Ok(line) => println!("{line}"),
                        Err(why) => {
                            unseen.lock().expect("no thread panics while it holds the lock").push(why)
                        }
                    }
                }
            });
        }
    });
    let unseen = unseen.into_inner().expect("no thread panics while it holds the lock");
    assert!(unseen.is_empty(), "{}", unseen.join("\n"));
}
