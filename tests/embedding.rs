//! The guide for embedders: its steps are whole programs, its listings pieces of them.
//!
//! Problem: a listing that was never compiled is wrong soon. Design: each step of `docs/embedding.md` is a
//! file in `examples/embedding`, which is compiled with every warning an error, linked with the static
//! library and run: its programs with the JIT off, on under `TL_FLAG_CHECK`, and with guards forced to fail.
//! Regions of these files have names; each listing of the guide names its region, and is a part of it word
//! for word. Invariant: what the guide shows is what was run; no time is measured.
//!
//! Example: `/* listing jump */` begins a region of `step1.c`, `/* end */` ends it, and
//! `<!-- step1.c: jump -->` stands before the listing.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

#[path = "support/runner.rs"]
mod runner;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The static library, beside this test.
fn library() -> PathBuf {
    let executable = std::env::current_exe().expect("the test has a path");
    executable.parent().expect("it lies in a folder").join("libtracelift_runtime.a")
}

/// Compiles a step, links it with this library and runs it; what it prints.
fn run(step: &str, library: &Path) -> String {
    let linked = library.file_stem().expect("a library has a name").to_string_lossy().into_owned();
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("embedding_{step}_{linked}"));
    let prefix = std::env::var("CROSS_COMPILE").unwrap_or_default();
    let compiler = if prefix.is_empty() { "cc".to_string() } else { prefix + "gcc" };
    let mut cc = Command::new(compiler);
    cc.args(["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O2"]);
    cc.arg("-I").arg(root().join("runtime/include"));
    cc.arg(root().join(format!("examples/embedding/{step}.c"))).arg(library);
    cc.args(["-lpthread", "-ldl", "-lm", "-o"]).arg(&program);
    let compiled = cc.output().expect("a C compiler is there");
    assert!(compiled.status.success(), "{step}: {}", String::from_utf8_lossy(&compiled.stderr));
    let ran = runner::command(&program).arg("check").output().expect("it was just linked");
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success() && err.is_empty(), "{step}: {}\n{out}{err}", ran.status);
    out.into_owned()
}

#[test]
fn each_step_runs_its_programs_and_those_of_the_steps_before() {
    let programs = ["sum", "calls", "pairs", "lists", "ways", "fib"];
    for (number, program) in programs.iter().enumerate() {
        let step = format!("step{}", number + 1);
        let printed = run(&step, &library());
        assert!(printed.contains(&format!("{program}: ")), "{step}: {printed}");
        assert!(number == 0 || printed.contains("calls: "), "{step}: {printed}");
    }
}

/// `scripts/pack-library`: what is left out is nothing that a host needs.
#[test]
fn the_packed_library_is_less_than_half_as_large() {
    let packed = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libtracelift.a");
    let script = root().join("scripts/pack-library");
    let made = Command::new(&script).arg(library()).arg(&packed).output().expect("the script is there");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let size = |path: &Path| std::fs::metadata(path).expect("the library is there").len();
    let (before, after) = (size(&library()), size(&packed));
    assert!(after * 2 < before, "{after} bytes of {before}");
    assert!(run("step4", &packed).contains("lists: "));
    let wrong = Command::new(&script).arg("no such library").output().expect("as above");
    assert!(!wrong.status.success() && String::from_utf8_lossy(&wrong.stderr).lines().count() == 1);
}

/// A region of a file, its lines without the marks.
fn region(file: &str, name: &str) -> String {
    let text = read(&format!("examples/embedding/{file}"));
    let begin = format!("/* listing {name} */\n");
    let at = text.find(&begin).unwrap_or_else(|| panic!("{file} has no region {name}")) + begin.len();
    let end = text[at..].find("/* end */").unwrap_or_else(|| panic!("{file}: {name} has no end"));
    format!("\n{}", &text[at..at + end])
}

#[test]
fn each_listing_of_the_guide_is_a_part_of_a_step() {
    let guide = read("docs/embedding.md");
    let mut steps = BTreeSet::new();
    let mut parts = guide.split("```c\n");
    let mut before = parts.next().expect("a text has a beginning");
    for part in parts {
        let (listing, after) = part.split_once("```").expect("a listing ends");
        let mark = before.trim_end().rsplit('\n').next().unwrap_or_default();
        let mark = mark.strip_prefix("<!-- ").and_then(|mark| mark.strip_suffix(" -->"));
        let (file, name) = mark
            .and_then(|mark| mark.split_once(": "))
            .unwrap_or_else(|| panic!("no region is named before this listing:\n{listing}"));
        let found = region(file, name).contains(&format!("\n{listing}"));
        assert!(found, "this is not in {file}, region {name}:\n{listing}");
        steps.insert(file.to_string());
        before = after;
    }
    let all: BTreeSet<String> = (1..=6).map(|step| format!("step{step}.c")).collect();
    assert_eq!(steps, all, "each step has a listing");
}
