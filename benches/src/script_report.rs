//! Tables of the programs that run as whole processes.
//!
//! Problem: one mean over many programs hides the one that became slower, and a mean over another set of
//! programs says something else. Design: a table for each set, and for each frozen list of it; below the
//! programs stand the geometric mean and the worst of each ratio. What the JIT made of each program is a
//! second table, and the examples have the counts of seed 002's Figure 7 beside the gain of its optimization
//! (Figure 8). Invariant: a program that printed something wrong is in no mean.
//!
//! Example: `| lexer | 0.70 | 0.66 | … | 0.94 |` with the columns `lua`, `tracelift`, …, `ours / stock`.

use std::fmt::Write as _;

use serde_json::{json, Value};

use crate::jit_figures::{operations, JitFigures};
use crate::measure::geometric_mean;
use crate::report::{number, Table};
use crate::scripts::{Script, ScriptRuns, Set, SETS};

/// A ratio of processor times.
struct Ratio {
    head: &'static str,
    who: &'static str,
    relative_to: &'static str,
    /// Whether more is better.
    is_gain: bool,
}

const fn ratio(head: &'static str, who: &'static str, relative_to: &'static str, is_gain: bool) -> Ratio {
    Ratio { head, who, relative_to, is_gain }
}

const RATIOS: [Ratio; 4] = [
    ratio("ours / stock", "tracelift", "lua", false),
    ratio("ours / LuaJIT", "tracelift", "luajit", false),
    ratio("on / off", "tracelift", "tracelift-off", false),
    ratio("without virtuals / with", "tracelift-novirtuals", "tracelift", true),
];

impl Ratio {
    fn of(&self, script: &Script) -> Option<f64> {
        script.ratio(self.who, self.relative_to)
    }

    fn mean(&self, rows: &[&Script]) -> String {
        number(geometric_mean(rows.iter().filter_map(|script| self.of(script))), 3)
    }

    /// The worst one, and whose it is.
    fn worst(&self, rows: &[&Script]) -> String {
        let badness = |ratio: f64| if self.is_gain { -ratio } else { ratio };
        let found = rows.iter().filter_map(|script| Some((self.of(script)?, &script.name)));
        match found.max_by(|(a, _), (b, _)| badness(*a).total_cmp(&badness(*b))) {
            Some((ratio, name)) => format!("{ratio:.2} ({name})"),
            None => "-".into(),
        }
    }
}

/// All tables.
pub fn markdown(scripts: &[Script]) -> String {
    let mut out = String::new();
    for set in SETS {
        let of_set: Vec<&Script> = scripts.iter().filter(|script| script.set == set).collect();
        let mut lists: Vec<&str> = Vec::new();
        for script in &of_set {
            if !lists.contains(&script.list.as_str()) {
                lists.push(&script.list);
            }
        }
        for list in lists {
            let rows: Vec<&Script> = of_set.iter().copied().filter(|script| script.list == list).collect();
            let title = title(set, list);
            let unit = if set.is_short() { "milliseconds" } else { "seconds" };
            let _ = write!(out, "\n## {title}, {unit} of processor time\n\n{}", time_table(set, &rows));
            if rows.iter().any(|script| script.statistics.is_some()) {
                let _ = write!(out, "\n## {title}: what tracelift made\n\n{}", jit_table(&rows));
                if set == Set::Examples {
                    let _ = write!(out, "\n## {title}: allocation removal\n\n{}", removal_table(&rows));
                }
            }
        }
    }
    out
}

fn title(set: Set, list: &str) -> String {
    let name = match set {
        Set::Short => "Short scripts",
        Set::Brief => "Standing set with less to do",
        Set::Standing => "Standing set",
        Set::Micro => "Micro programs",
        Set::Examples => "Examples",
        Set::Libraries => "Programs around libraries",
    };
    let is_frozen = matches!(set, Set::Standing | Set::Micro);
    match (list, is_frozen) {
        ("", true) => format!("{name}, not frozen"),
        ("", false) => name.into(),
        (list, _) => format!("{name}, list \"{list}\""),
    }
}

/// The contenders that ran at least one of the programs.
fn columns(rows: &[&Script]) -> Vec<&'static str> {
    let mut found: Vec<&'static str> = Vec::new();
    for runs in rows.iter().flat_map(|script| &script.by_contender) {
        if !found.contains(&runs.contender) {
            found.push(runs.contender);
        }
    }
    found
}

fn time_cell(set: Set, runs: Option<&ScriptRuns>) -> String {
    let Some(runs) = runs else {
        return "-".into();
    };
    if let Some(failure) = &runs.failure {
        return if failure.starts_with("wrong") { "WRONG".into() } else { "failed".into() };
    }
    let (scale, digits) = if set.is_short() { (1e3, 1) } else { (1.0, 3) };
    let mut cell = number(runs.cpu.map(|cpu| cpu * scale), digits);
    if let Some(half) = runs.interval {
        let _ = write!(cell, " ± {:.digits$}", half * scale);
    }
    cell
}

fn time_table(set: Set, rows: &[&Script]) -> String {
    let columns = columns(rows);
    let is_there = |name: &str| columns.contains(&name);
    let ratios: Vec<&Ratio> =
        RATIOS.iter().filter(|ratio| is_there(ratio.who) && is_there(ratio.relative_to)).collect();
    let heads: Vec<&str> = columns.iter().copied().chain(ratios.iter().map(|ratio| ratio.head)).collect();
    let mut table = Table::new("program", &heads);
    for script in rows {
        let runs = |name| script.by_contender.iter().find(|runs| runs.contender == name);
        let times = columns.iter().map(|name| time_cell(set, runs(*name)));
        table.row(&script.name, times.chain(ratios.iter().map(|ratio| number(ratio.of(script), 2))));
    }
    if !ratios.is_empty() {
        let empty = || columns.iter().map(|_| String::new());
        table.row("**geometric mean**", empty().chain(ratios.iter().map(|ratio| ratio.mean(rows))));
        table.row("**worst**", empty().chain(ratios.iter().map(|ratio| ratio.worst(rows))));
    }
    let all_runs = || rows.iter().flat_map(|script| &script.by_contender);
    let count = all_runs().map(|runs| runs.times.len()).max().unwrap_or(0);
    let what = if all_runs().any(|runs| runs.interval.is_some()) {
        "Means with 95 % confidence intervals"
    } else {
        "Medians"
    };
    let processes = if count == 1 { "whole process" } else { "whole processes" };
    table.text + &format!("\n{what} of {count} {processes}.\n")
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".into(), |share| format!("{:.1} %", share * 100.0))
}

fn jit_table(rows: &[&Script]) -> String {
    let heads = [
        "iterations per entry",
        "iterations as machine code",
        "time as machine code",
        "compiling, s",
        "traces",
        "side traces",
        "peak MiB, on",
        "peak MiB, off",
    ];
    let mut table = Table::new("program", &heads);
    for script in rows {
        let figures = script.statistics.as_ref().map(JitFigures::of).unwrap_or_default();
        let peak = |name| number(script.of(name).and_then(|runs| runs.peak_kib).map(|kib| kib / 1024.0), 1);
        table.row(
            &script.name,
            [
                number(figures.iterations_per_entry, 1),
                percent(figures.iteration_share),
                percent(figures.time_share),
                number(figures.compile_seconds, 3),
                number(figures.traces, 0),
                number(figures.side_traces, 0),
                peak("tracelift"),
                peak("tracelift-off"),
            ],
        );
    }
    table.text + "\nIterations are those of all loops, also outer ones. \"-\": the command does not say.\n"
}

/// What the optimizer removes of seed 002's groups, and what a program gains by the removal of allocations.
fn removal_table(rows: &[&Script]) -> String {
    const GROUPS: [(&str, &str); 4] =
        [("new", "new"), ("get/set", "get_set"), ("guards", "guard"), ("all operations", "all")];
    let mut heads: Vec<&str> = GROUPS.iter().map(|(head, _)| *head).collect();
    heads.extend(["without virtuals, s", "with, s", "without / with"]);
    let mut table = Table::new("program", &heads);
    for script in rows {
        let mut cells: Vec<String> = GROUPS
            .iter()
            .map(|(_, group)| {
                let counts = script.statistics.as_ref().and_then(|value| operations(value, group));
                counts.map_or_else(|| "-".into(), |(before, after)| format!("{before} → {after}"))
            })
            .collect();
        cells
            .extend(["tracelift-novirtuals", "tracelift"].map(|name| time_cell(script.set, script.of(name))));
        cells.push(number(script.ratio("tracelift-novirtuals", "tracelift"), 2));
        table.row(&script.name, cells);
    }
    table.text + "\nOperations before → after the optimizer, over all traces of the run.\n"
}

/// The programs, for other programs.
pub fn to_json(scripts: &[Script]) -> Value {
    let of = |runs: &ScriptRuns| {
        json!({
            "cpu": runs.cpu,
            "interval95": runs.interval,
            "times": runs.times,
            "wall": runs.wall,
            "peak_kib": runs.peak_kib,
            "failure": runs.failure,
        })
    };
    let script = |script: &Script| {
        let by_contender: serde_json::Map<String, Value> =
            script.by_contender.iter().map(|runs| (runs.contender.to_string(), of(runs))).collect();
        json!({
            "script": script.name,
            "set": script.set.name(),
            "list": script.list,
            "contenders": by_contender,
            "statistics": script.statistics,
        })
    };
    Value::Array(scripts.iter().map(script).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(name: &str, list: &str, times: &[(&'static str, f64)]) -> Script {
        let of = |&(contender, cpu)| ScriptRuns { contender, cpu: Some(cpu), ..ScriptRuns::default() };
        let by_contender = times.iter().map(of).collect();
        Script { set: Set::Standing, name: name.into(), list: list.into(), by_contender, statistics: None }
    }

    #[test]
    fn lists_are_reported_apart() {
        let scripts = [
            script("a", "first", &[("lua", 1.0), ("tracelift", 0.5)]),
            script("b", "first", &[("lua", 1.0), ("tracelift", 2.0)]),
            script("c", "later", &[("lua", 1.0), ("tracelift", 3.0)]),
        ];
        let text = markdown(&scripts);
        assert!(text.contains("## Standing set, list \"first\", seconds"), "{text}");
        assert!(text.contains("| program | lua | tracelift | ours / stock |\n"), "{text}");
        assert!(text.contains("| **geometric mean** |  |  | 1.000 |"), "{text}");
        assert!(text.contains("| **worst** |  |  | 2.00 (b) |"), "{text}");
        assert!(text.contains("## Standing set, list \"later\"") && text.contains("| 3.00 (c) |"), "{text}");
    }

    #[test]
    fn what_is_wrong_is_in_no_mean() {
        let mut wrong = script("b", "first", &[("lua", 1.0), ("tracelift", 9.0)]);
        wrong.by_contender[1].failure = Some("wrong: prints something else".into());
        let text = markdown(&[script("a", "first", &[("lua", 1.0), ("tracelift", 0.5)]), wrong]);
        assert!(text.contains("| b | 1.000 | WRONG | - |"), "{text}");
        assert!(text.contains("| **geometric mean** |  |  | 0.500 |"), "{text}");
    }

    #[test]
    fn counts_stand_beside_the_gain() {
        let mut example = script("p", "", &[("tracelift", 1.0), ("tracelift-novirtuals", 1.5)]);
        example.set = Set::Examples;
        let count = |new: u32| json!({ "new": new, "get_set": 5, "guard": 4, "all": 20 });
        example.statistics =
            Some(json!({ "compile": { "operations": { "before": count(2), "after": count(0) } } }));
        let text = markdown(&[example]);
        assert!(text.contains("| p | 2 → 0 | 5 → 5 | 4 → 4 | 20 → 20 | 1.500 | 1.000 | 1.50 |"), "{text}");
    }
}
