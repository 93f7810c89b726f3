//! Programs of the corpus while another thread compiles, with noise at the hand-over.
//!
//! Problem: where code comes late, it comes when the program is anywhere: in another function or coroutine,
//! after a collection, when what the trace was made of is gone. On a quiet machine it comes a millisecond
//! later, always at the same few places. Design: with a seed (`--start-seed=N`) recordings start at random,
//! and the program looks for code as often in vain as the seed says, and then waits for it: so each seed is
//! an order of events of its own, which can be had again. What a program prints is the same as with the JIT
//! off. In CI some programs run with some seeds; `TRACELIFT_THREAD_SEEDS=100` runs that many of each, and
//! `TRACELIFT_EVERY=1` all programs.
//!
//! Invariant: when code comes cannot be seen by the program.
//! Example: `TRACELIFT_THREAD_SEEDS=100 TRACELIFT_EVERY=40 cargo test --test compile_thread`.

use std::path::{Path, PathBuf};

#[path = "support/runner.rs"]
mod runner;

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |text| text.parse().expect("a number"))
}

/// What a program prints, and how it ends.
fn run(program: &Path, options: &[String]) -> (String, String, Option<i32>) {
    let mut command = runner::command(env!("CARGO_BIN_EXE_tracelift"));
    let output = command.arg("run").args(options).arg(program).output().expect("the command starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lua");
    let entries = std::fs::read_dir(folder).expect("the corpus is there");
    let mut all: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be read").path()).collect();
    all.retain(|path| path.extension().is_some_and(|extension| extension == "lua"));
    all.sort();
    all
}

#[test]
fn when_code_comes_cannot_be_seen() {
    let (seeds, every) = (number("TRACELIFT_THREAD_SEEDS", 2), number("TRACELIFT_EVERY", 9) as usize);
    let mut ran = 0;
    for program in programs().into_iter().skip(every / 2).step_by(every) {
        let expected = run(&program, &["--jit=off".into()]);
        for seed in 1..=seeds {
            let threshold = [1, 3][seed as usize % 2];
            let options = [
                "--compile=thread".to_string(),
                format!("--start-seed={seed}"),
                format!("--threshold={threshold}"),
                format!("--side-threshold={threshold}"),
            ];
            let found = run(&program, &options);
            assert_eq!(found, expected, "{} {options:?}", program.display());
            ran += 1;
        }
    }
    assert!(ran > 0, "no program was run");
}

/// Most of what is recorded is handed over, and the program seldom waits.
#[test]
fn code_is_made_on_the_thread() {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/short/life.lua");
    let json = |options: &[&str]| -> serde_json::Value {
        let mut command = runner::command(env!("CARGO_BIN_EXE_tracelift"));
        let output = command.args(["run", "--stats=json"]).args(options).arg(&program).output();
        let errors = String::from_utf8(output.expect("the command starts").stderr).expect("it is text");
        serde_json::from_str(&errors).unwrap_or_else(|error| panic!("{error}: {errors}"))
    };
    let exact = ["--threshold=50", "--side-threshold=10"];
    let inline = json(&exact);
    assert!(inline["thread"].is_null(), "a threshold makes each run the same");
    let thread = json(&[&exact[..], &["--compile=thread"]].concat());
    let used = &thread["thread"];
    let count = |of: &str| used[of].as_u64().expect("it is counted");
    assert!(count("handed_over") > 3 && count("ns") > 0, "{used}");
    assert!(count("waited_for") <= count("handed_over") / 2, "{used}");
    let traces = thread["compile"]["traces"].as_u64().expect("it is counted");
    assert!((1..=count("handed_over")).contains(&traces), "{used}, {traces} traces");
}
