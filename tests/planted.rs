//! The checks must see every bug that is planted on purpose.
//!
//! Problem: a differential test that never fails proves little. Design: optimizer, lowering and resume data
//! hold more than a hundred deliberate bugs (`tracelift_core::planted`). For each of them random traces are
//! checked, or random programs of units, trees or control flow graphs, with the bug switched on until the
//! checks object. What shows in too few of them has a trace of its own in `traces/found`. A planted bug may
//! well crash the process or make it run wild, so each is tried in a process of its own: this test starts
//! itself again with `TRACELIFT_PLANTED` set. A crash counts as an objection.
//!
//! Invariant: without a planted bug the same traces, programs, trees and graphs pass
//! (`tests/differential.rs`, `units.rs`, `regions.rs`, `graphs.rs`), so an objection is the bug's. Run it
//! with `cargo test --features planted-bugs --test planted -- --nocapture`; `TRACELIFT_PLANTED_LIKE=Unit`
//! tries those alone whose names have this in them, `TRACELIFT_EVERY=n` one in n, by `TRACELIFT_TURN`.
//!
//! Example of a line it prints: `FoldShiftUnmasked: 19 traces: all passes: evaluator: frame 0 slot 1: 1 vs
//! 0`.

mod support;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use support::check::{keeps_pointers_found, Checker, Failure};
use support::found::{case_of, found};
use support::graphs::GraphChecker;
use support::runner;
use support::trees::TreeChecker;
use support::turn::in_turn;
use support::units::UnitChecker;
use tracelift_core::planted::{with_planted, Bug};
use tracelift_core::testbed::{schema_with_slots, standard_schema};
use tracelift_core::testgen::{generate, generate_units};

/// Within so many traces each bug must be seen.
const BOUND: u64 = 3_000;

/// What a process that tries one bug prints before its verdict.
const VERDICT: &str = "verdict: ";

/// What a check says with the bug switched on, if it objects.
fn objected(bug: Bug, check: impl FnOnce() -> Result<(), Box<Failure>>) -> Option<String> {
    let check = std::panic::AssertUnwindSafe(|| with_planted(bug, check));
    match std::panic::catch_unwind(check) {
        Ok(Ok(())) => None,
        Ok(Err(failure)) => Some(failure.what),
        Err(_) => Some("a panic".into()),
    }
}

/// Checks random traces with the bug switched on, and those that are kept if none of them shows it; the
/// number of random ones until the checks object or the name of a kept one, and what they say.
fn hunt(bug: Bug) -> Option<(String, String)> {
    support::crash::install();
    // Slots are stored early only where traces may access them.
    let is_about_slots = matches!(bug, Bug::EarlyStoreAboveLoad | Bug::EarlyTagIgnored);
    let schema = Arc::new(if is_about_slots { schema_with_slots() } else { standard_schema() });
    let mut checker = Checker::new(&schema);
    let cases =
        (0..BOUND).map(|seed| generate(seed, &schema)).filter(|case| keeps_pointers_found(case, &schema));
    for case in cases {
        if let Some(what) = objected(bug, || checker.check(&case)) {
            return Some((format!("{} traces", case.seed + 1), what));
        }
    }
    found().into_iter().find_map(|(name, file)| {
        let mut checker = Checker::new(&Arc::new(file.schema.clone()));
        Some((format!("only by {name}"), objected(bug, || checker.check(&case_of(&file)))?))
    })
}

/// Checks random programs of units with the bug switched on, until the checks object.
fn hunt_in_units(bug: Bug) -> Option<(String, String)> {
    let schema = Arc::new(standard_schema());
    let mut checker = UnitChecker::new(&schema);
    hunt_in(bug, "programs", |seed| checker.check(&generate_units(seed, &schema)))
}

/// Checks random trees with the bug switched on, until the checks object.
fn hunt_in_trees(bug: Bug) -> Option<(String, String)> {
    let mut checker = TreeChecker::new(&Arc::new(schema_with_slots()));
    hunt_in(bug, "trees", |seed| checker.check(seed))
}

/// Checks random control flow graphs with the bug switched on, until the checks object.
fn hunt_in_graphs(bug: Bug) -> Option<(String, String)> {
    let mut checker = GraphChecker::new(&Arc::new(standard_schema()));
    hunt_in(bug, "graphs", |seed| checker.check(seed))
}

fn hunt_in(
    bug: Bug,
    cases: &str,
    mut check: impl FnMut(u64) -> Result<(), Box<Failure>>,
) -> Option<(String, String)> {
    support::crash::install();
    (0..BOUND).find_map(|seed| Some((format!("{} {cases}", seed + 1), objected(bug, || check(seed))?)))
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

/// The command that shows what the optimizer did compares what comes of it: results, and what is left in
/// memory.
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
    // What comes after a loop gets two arguments, of which one is the result and one is stored.
    let region = |end: &str| {
        format!(
            "cell raw.word: int @8 class raw\nlayout Box {{ word: int }}\nobject box = Box {{ word: 1 }}\n\
             trace graph\nL0(p0, i1):\njump(L1, p0, i1, 5)\nL1(p0, i1, i2):\njump_if(i1, L2, p0, i1, i2)\n\
             jump(L3, i1, i2)\nL2(p0, i1, i2):\ni3 = i2 + 3\ni4 = i1 - 1\njump(L1, p0, i4, i3)\n\
             L3(i1, i2):\n{end}\nrun: @box, 0\n"
        )
    };
    let result_of_region = region("finish(i2)");
    let state_of_region =
        region("i5 = i1 + i2\ni6 = i5 < 0\n@0 = frame[0: int i1, 1: int i2]\nguard_true(i6) @0\nfinish()");
    let memory_of_region = region("store(@box, raw.word, i2)\nfinish()");
    let cases = [
        (Bug::ArkResolverReversed, &*result_of_region, ["line 16", "result 0: 5 vs 0"]),
        (Bug::ArkResolverReversed, &state_of_region, ["line 20", "slot 0: 0 vs 5"]),
        (Bug::ArkResolverReversed, &memory_of_region, ["line 17", "5 vs 0"]),
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
        let named = |bugs: &[Bug]| bugs.iter().copied().find(|bug| format!("{bug:?}") == name);
        let kinds: [(&[Bug], fn(Bug) -> Option<(String, String)>); 4] = [
            (Bug::ALL, hunt),
            (Bug::OF_UNITS, hunt_in_units),
            (Bug::OF_REGIONS, hunt_in_trees),
            (Bug::OF_GRAPHS, hunt_in_graphs),
        ];
        let found = kinds.into_iter().find_map(|(bugs, hunt)| Some((named(bugs)?, hunt)));
        let (bug, hunt) = found.unwrap_or_else(|| panic!("no planted bug is called {name}"));
        let seen = hunt(bug);
        let (seen, what) = seen.expect("the bug is seen");
        println!("\n{VERDICT}{seen}: {}", what.lines().next().unwrap_or_default());
        return;
    }
    let (next, unseen) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let only = std::env::var("TRACELIFT_PLANTED_LIKE").unwrap_or_default();
    let all = Bug::ALL
        .iter()
        .chain(Bug::OF_UNITS)
        .chain(Bug::OF_REGIONS)
        .chain(Bug::OF_GRAPHS)
        .filter(|bug| format!("{bug:?}").contains(&only));
    let bugs: Vec<Bug> = in_turn(all.copied().collect(), 1);
    let processes = std::thread::available_parallelism().map_or(1, |n| n.get().min(8));
    std::thread::scope(|scope| {
        for _ in 0..processes {
            scope.spawn(|| {
                while let Some(&bug) = bugs.get(next.fetch_add(1, Ordering::Relaxed)) {
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
