//! Times the benchmarks with the JIT off and on, side by side.
//!
//! Problem: what does the JIT bring to Wren? Design: each program of `bench/` (of which `name_2` is `name`,
//! written another way), and those of Wren's own suite, is run in turns, off and on; the least time of some
//! runs counts. Output is compared. Invariant: whole processes are timed, so that compiling counts.
//! Example: `cargo build --release -p tracelift-wren`, which makes the command, and then
//! `cargo run --release -p tracelift-wren --example bench -- 5` for five runs each.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Those of Wren's own benchmarks that need nothing that its command does not have.
const OWN: [&str; 9] = [
    "binary_trees",
    "binary_trees_gc",
    "delta_blue",
    "fib",
    "fibers",
    "for",
    "map_numeric",
    "method_call",
    "string_equals",
];

fn main() {
    let runs = std::env::args().nth(1).map_or(Ok(5), |text| text.parse::<u32>());
    let Ok(runs) = runs else {
        eprintln!("bench: give the number of runs");
        std::process::exit(2);
    };
    let command = std::env::current_exe().expect("it has a path").with_file_name("../wrenlift");
    if !command.exists() {
        eprintln!("bench: there is no {}: build the package first", command.display());
        std::process::exit(1);
    }
    let mut programs: Vec<PathBuf> = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("bench"))
        .expect("there is the folder")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|end| end == "wren"))
        .collect();
    programs.sort();
    let own = Path::new(tracelift_wren::SUITE).join("benchmark");
    programs.extend(OWN.iter().map(|name| own.join(format!("{name}.wren"))));
    println!("{:24} {:>8} {:>8} {:>7}", "seconds", "off", "on", "times");
    let mut product = 0.0;
    for program in &programs {
        let (mut off, mut on) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..runs {
            let (expected, without) = time(&command, &["-joff"], program);
            let (found, with) = time(&command, &[], program);
            assert_eq!(expected, found, "{}", program.display());
            (off, on) = (off.min(without), on.min(with));
        }
        product += (off / on).ln();
        let of = if program.starts_with(&own) { "wren's " } else { "" };
        let name = program.file_stem().unwrap_or_default().to_string_lossy();
        println!("{:24} {off:8.3} {on:8.3} {:7.2}", format!("{of}{name}"), off / on);
    }
    println!("geometric mean of {}: {:.2}", programs.len(), (product / programs.len() as f64).exp());
}

/// What it prints, without the lines that tell times; and seconds.
fn time(command: &Path, words: &[&str], program: &Path) -> (String, f64) {
    let start = Instant::now();
    let output = Command::new(command).args(words).arg(program).output().expect("wrenlift is built");
    let seconds = start.elapsed().as_secs_f64();
    assert!(output.status.success(), "{}: {}", program.display(), String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    (text.lines().filter(|line| !line.contains("elapsed")).collect(), seconds)
}
