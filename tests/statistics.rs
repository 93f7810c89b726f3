//! What the optimizer removes, over whole programs: the table in the README.
//!
//! Problem: a table of percentages in a README is a promise that nobody checks. Design: the table is made
//! here, in the manner of seed 002's Figure 7, from both papers' programs on `hosts/boxed` and all Lua
//! programs of `examples/` and `hosts/lua/bench/idle`, with the passes that are on by default, and the README
//! must have this very table; `UPDATE_EXPECT=1` rewrites it. One thing is left to chance: Lua's hash seed
//! decides which key lies in a table's first slot, whose address needs no addition, so that one operation of
//! a hundred may be there or not.
//!
//! Invariant: every program of these folders is in the README, those of which no loop is compiled below the
//! table. Example: the row of seed 002's program says that all of its 5 allocations per iteration go.

use std::path::{Path, PathBuf};

#[path = "support/runner.rs"]
mod runner;

use tracelift_boxed::{Machine, Number, Options, SEED_000, SEED_002};
use tracelift_runtime::{CompileStats, Config, GroupedOps, OpGroups};

const BEGIN: &str = "<!-- statistics: generated; UPDATE_EXPECT=1 cargo test --test statistics -->\n";
const END: &str = "<!-- statistics end -->";

struct Row {
    program: String,
    loops: u64,
    operations: GroupedOps,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// What is compiled of a paper's program on the boxed host.
fn compiled(source: &str, count_iterations: bool) -> CompileStats {
    let config = Config { threshold: 3, count_iterations, ..Config::exact() };
    let options = Options { config, ..Options::default() };
    let mut machine = Machine::new(source, options).expect("the program compiles");
    machine.run("f", &[Number::Integer(1_000)], 1_000).expect("the program runs");
    machine.vm().stats().compile
}

/// Its row.
fn boxed(name: &str, source: &str) -> Row {
    let compile = compiled(source, true);
    Row {
        program: name.to_string(),
        loops: compile.traces,
        operations: compile.operations.unwrap_or_default(),
    }
}

/// A Lua program, as the command runs it; without baseline code, which not all machines have, and without
/// regions: both move the counters that decide what is compiled.
fn lua(path: &Path) -> Row {
    let output = runner::command(env!("CARGO_BIN_EXE_tracelift"))
        .args(["run", "--threshold=56", "--side-threshold=10", "--baseline=off", "--no-regions"])
        .arg("--stats=json")
        // Counters are found by addresses, and these depend on how long the name is.
        .arg(path.strip_prefix(root()).expect("programs lie in the project"))
        .current_dir(root())
        .output()
        .expect("the command starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {errors}", path.display());
    // What the program itself has written to standard error stands above.
    let start = errors.find("{\n").unwrap_or_else(|| panic!("{}: no statistics in {errors}", path.display()));
    let json: serde_json::Value = serde_json::from_str(&errors[start..])
        .unwrap_or_else(|error| panic!("{}: {error} in {errors}", path.display()));
    let compile = &json["compile"];
    let number = |value: &serde_json::Value| value.as_u64().unwrap_or(0);
    let group = |side: &str| {
        let of = &compile["operations"][side];
        let [new, get_set, guard, all] = ["new", "get_set", "guard", "all"].map(|name| number(&of[name]));
        OpGroups { new, get_set, guard, all }
    };
    Row {
        program: path.file_stem().expect("a file has a name").to_string_lossy().into_owned(),
        loops: number(&compile["traces"]),
        operations: GroupedOps { before: group("before"), after: group("after") },
    }
}

/// All Lua programs, by folder and name.
fn programs() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in ["examples", "hosts/lua/bench/idle"] {
        let entries = std::fs::read_dir(root().join(folder)).expect("the folder is there");
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be read").path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "lua"));
        paths.sort();
        found.extend(paths);
    }
    found
}

/// The rows: the papers' programs, then Lua's, run side by side.
fn rows() -> Vec<Row> {
    let mut rows =
        vec![boxed("`f` of loop-aware optimization", SEED_000), boxed("`f` of allocation removal", SEED_002)];
    let lua: Vec<Row> = std::thread::scope(|scope| {
        let threads: Vec<_> = programs().into_iter().map(|path| scope.spawn(move || lua(&path))).collect();
        threads.into_iter().map(|thread| thread.join().expect("the program ran")).collect()
    });
    rows.extend(lua);
    let mut total = Row { program: "total".into(), loops: 0, operations: GroupedOps::default() };
    for row in &rows {
        total.loops += row.loops;
        total.operations.before += row.operations.before;
        total.operations.after += row.operations.after;
    }
    rows.push(total);
    rows
}

/// The generated part of the README.
fn section(rows: &[Row]) -> String {
    let mut out = String::from(
        "| program | traces | new | get/set | guards | all operations |\n|---|--:|--:|--:|--:|--:|\n",
    );
    for row in rows.iter().filter(|row| row.loops > 0) {
        let GroupedOps { before, after } = row.operations;
        out += &format!("| {} | {} |", row.program, row.loops);
        for (before, after) in [
            (before.new, after.new),
            (before.get_set, after.get_set),
            (before.guard, after.guard),
            (before.all, after.all),
        ] {
            out += &format!(" {} |", cell(before, after));
        }
        out.push('\n');
    }
    let none: Vec<&str> = rows.iter().filter(|row| row.loops == 0).map(|row| row.program.as_str()).collect();
    if !none.is_empty() {
        out += &format!("\nNo loop compiled: {}.\n", none.join(", "));
    }
    out
}

fn cell(before: u64, after: u64) -> String {
    match before {
        0 => format!("{before} → {after}"),
        _ => format!("{before} → {after} ({:.0} %)", 100.0 * (before as f64 - after as f64) / before as f64),
    }
}

/// Where the generated part of the README lies.
fn place(readme: &str) -> std::ops::Range<usize> {
    let begin = readme.find(BEGIN).expect("the README has the marker of the table") + BEGIN.len();
    begin..readme.find(END).expect("the README has the table's end")
}

/// The first line of the README's table that does not say what was counted, and that line as it should be.
fn difference<'a>(said: &'a str, counted: &'a str) -> Option<(&'a str, &'a str)> {
    let (mut said, mut counted) = (said.trim().lines(), counted.trim().lines());
    loop {
        match (said.next(), counted.next()) {
            (None, None) => return None,
            (said, counted) => {
                let lines = (said.unwrap_or("(nothing)"), counted.unwrap_or("(nothing)"));
                if !agrees(lines.0, lines.1) {
                    return Some(lines);
                }
            }
        }
    }
}

/// Whether two lines are equal but for what Lua's hash seed changes. Which key lies in which node decides how
/// many nodes a search for an absent key passes, of which each is looked at, and on loads that are known
/// already: in programs with objects 5 % of what was recorded. Small numbers are exact.
fn agrees(said: &str, counted: &str) -> bool {
    let numbers = |cell: &str| {
        let (before, after) = cell.split_once(" → ")?;
        let after = after.split(' ').next()?.parse::<u64>().ok()?;
        Some((before.trim().parse::<u64>().ok()?, after))
    };
    let cell_agrees = |(said, counted): (&str, &str)| match (numbers(said), numbers(counted)) {
        (Some((before, after)), Some((recorded, left))) => {
            let slack = recorded / 20;
            before.abs_diff(recorded) <= slack && after.abs_diff(left) <= slack
        }
        _ => said == counted,
    };
    let columns = [said, counted].map(|line| line.split('|').count());
    columns[0] == columns[1] && said.split('|').zip(counted.split('|')).all(cell_agrees)
}

#[test]
fn only_what_the_hash_seed_changes_may_differ() {
    let said = "| objects | 5 | 1 → 1 (0 %) | 1206 → 566 (53 %) | 848 → 425 (50 %) | 2464 → 1187 (52 %) |";
    assert!(agrees(said, &said.replace("566", "600").replace("1187", "1196").replace("52 %", "51 %")));
    assert!(agrees(said, &said.replace("1206", "1216")));
    assert!(!agrees(said, &said.replace("1 → 1", "1 → 0")));
    assert!(!agrees(said, &said.replace("566", "640")));
    assert!(!agrees(said, &said.replace("1206", "1300")));
    assert!(!agrees(said, "| objects | 5 |"));
}

#[test]
fn the_readme_has_the_table() {
    let path = root().join("README.md");
    let readme = std::fs::read_to_string(&path).expect("the README can be read");
    let rows = rows();
    let compiled = rows.iter().filter(|row| row.loops > 0).count();
    assert!(compiled > 2 + 8, "loops were compiled in {compiled} rows only");
    let (place, counted) = (place(&readme), section(&rows));
    let Some((said, line)) = difference(&readme[place.clone()], &counted) else { return };
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let now = format!("{}\n{counted}\n{}", &readme[..place.start], &readme[place.end..]);
        std::fs::write(&path, now).expect("the README can be written");
        return;
    }
    panic!("the README says\n  {said}\nwhat was counted is\n  {line}\nrun this test with UPDATE_EXPECT=1");
}

/// Nothing is left to allocate in the papers' own programs.
#[test]
fn the_papers_programs_allocate_nothing() {
    for (source, new) in [(SEED_000, 1), (SEED_002, 5)] {
        let GroupedOps { before, after } = compiled(source, true).operations.expect("operations are counted");
        assert_eq!((before.new, after.new), (new, 0));
        assert!(after.all < before.all && after.guard < before.guard && after.get_set < before.get_set);
    }
}

/// Taking recordings apart costs time: it is done where iterations are counted, and nowhere else.
#[test]
fn operations_are_counted_on_demand() {
    let compile = compiled(SEED_002, false);
    assert_eq!((compile.traces, compile.operations), (1, None));
}

#[test]
fn an_old_table_is_noticed() {
    let row = |new: u64, all: u64| Row {
        program: "p".into(),
        loops: 1,
        operations: GroupedOps {
            before: OpGroups { new: 8, get_set: 0, guard: 30, all: 100 },
            after: OpGroups { new, get_set: 0, guard: 10, all },
        },
    };
    let idle = || Row { program: "q".into(), loops: 0, operations: GroupedOps::default() };
    let said = section(&[row(2, 51), idle()]);
    assert!(said.contains("| p | 1 | 8 → 2 (75 %) | 0 → 0 | 30 → 10 (67 %) | 100 → 51 (49 %) |\n"), "{said}");
    assert!(said.contains("No loop compiled: q.\n"), "{said}");
    let agrees = |rows: &[Row]| difference(&said, &section(rows)).is_none();
    assert!(agrees(&[row(2, 51), idle()]));
    assert!(
        agrees(&[row(2, 56), idle()]) && !agrees(&[row(2, 57), idle()]) && !agrees(&[row(2, 45), idle()])
    );
    assert!(!agrees(&[row(3, 51), idle()]) && !agrees(&[row(1, 51), idle()]));
    assert!(!agrees(&[row(2, 51)]) && !agrees(&[row(2, 51), row(2, 51), idle()]) && !agrees(&[idle()]));
}
