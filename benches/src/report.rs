//! What was measured, as tables for readers and as JSON for programs.
//!
//! Problem: times of one machine and one day tell little; ratios within one run tell more. Design: a table of
//! seconds, the same relative to gcc with the geometric mean, what peeling gains, what whole processes use,
//! what the JIT made, then small rows; whole programs have tables of their own. Invariant: a result that is
//! wrong never enters a mean.
//!
//! Example: `markdown(&results)` is what the command prints.

use std::fmt::Write as _;

use serde_json::{json, Value};

use crate::contenders::{Contender, CONTENDERS};
use crate::jit_figures::JitFigures;
use crate::measure::{geometric_mean, Measured, MeasuredRow};
use crate::rows::Group;
use crate::script_report;
use crate::scripts::Script;

/// Everything that was measured in one run.
#[derive(Debug)]
pub struct Results {
    /// Who took part.
    pub contenders: Vec<Contender>,
    /// Who could not, and why.
    pub left_out: Vec<(&'static str, String)>,
    /// The rows.
    pub rows: Vec<MeasuredRow>,
    /// The programs that ran as whole processes.
    pub scripts: Vec<Script>,
    /// How it was measured, in a sentence.
    pub how: String,
}

impl Results {
    /// Seconds of a row, unless the result is wrong.
    pub fn seconds(row: &MeasuredRow, contender: &str) -> Option<f64> {
        let measured = row.of(contender)?;
        measured.seconds.filter(|_| measured.failure.is_none())
    }

    /// How many times as long as another one.
    pub fn ratio(row: &MeasuredRow, contender: &str, other: &str) -> Option<f64> {
        let base = Self::seconds(row, other).filter(|seconds| *seconds > 0.0)?;
        Some(Self::seconds(row, contender)? / base)
    }

    /// Everything that went wrong, one line each.
    pub fn failures(&self) -> Vec<String> {
        let rows = self.rows.iter().flat_map(|row| {
            row.by_contender.iter().filter_map(move |measured| {
                Some(format!("{}, {}: {}", row.label, measured.contender, measured.failure.as_ref()?))
            })
        });
        let scripts = self.scripts.iter().flat_map(|script| {
            script.by_contender.iter().filter_map(move |runs| {
                Some(format!("{}, {}: {}", script.name, runs.contender, runs.failure.as_ref()?))
            })
        });
        rows.chain(scripts).collect()
    }

    fn group(&self, group: Group) -> Vec<&MeasuredRow> {
        self.rows.iter().filter(|row| row.row.group == group).collect()
    }

    fn has(&self, contender: &str) -> bool {
        self.contenders.iter().any(|found| found.name == contender)
    }
}

/// A table whose first column is text.
pub(crate) struct Table {
    pub(crate) text: String,
}

impl Table {
    pub(crate) fn new(first: &str, columns: &[&str]) -> Table {
        let mut text = format!("| {first} |");
        for column in columns {
            let _ = write!(text, " {column} |");
        }
        text += "\n|---|";
        text += &"--:|".repeat(columns.len());
        text += "\n";
        Table { text }
    }

    pub(crate) fn row(&mut self, first: &str, cells: impl IntoIterator<Item = String>) {
        let _ = write!(self.text, "| {first} |");
        for cell in cells {
            let _ = write!(self.text, " {cell} |");
        }
        self.text.push('\n');
    }
}

pub(crate) fn number(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "-".into(), |value| format!("{value:.digits$}"))
}

fn seconds_cell(measured: Option<&Measured>) -> String {
    let Some(measured) = measured else {
        return "-".into();
    };
    if let Some(failure) = &measured.failure {
        return if failure.starts_with("wrong") { "WRONG".into() } else { "failed".into() };
    }
    let cold = if measured.is_cold { " (cold)" } else { "" };
    let interval = measured.interval.map_or_else(String::new, |half| format!(" ± {half:.4}"));
    number(measured.seconds, 4) + &interval + cold
}

/// All tables.
pub fn markdown(results: &Results) -> String {
    let mut out = format!("{}\n", results.how);
    for (name, reason) in &results.left_out {
        let _ = writeln!(out, "\nLeft out: {name} ({reason}).");
    }
    let paper = results.group(Group::Paper);
    let small = results.group(Group::Small);
    if !paper.is_empty() {
        let _ = write!(out, "\n## Seconds per call\n\n{}", seconds_table(results, &paper));
        if results.has("gcc") {
            let _ = write!(out, "\n## Times gcc\n\n{}", ratio_table(results, &paper, "gcc"));
        }
        let _ = write!(out, "\n## Gain of peeling\n\n{}", peeling_table(results, &paper));
        let _ = write!(out, "\n## Whole process, one call\n\n{}", process_table(results, &paper));
        let _ = write!(out, "\n## What tracelift made\n\n{}", jit_table(&paper));
    }
    if !small.is_empty() {
        let _ = write!(out, "\n## Small rows, seconds per call\n\n{}", seconds_table(results, &small));
        let _ = write!(out, "\n## Small rows: what tracelift made\n\n{}", jit_table(&small));
    }
    out += &script_report::markdown(&results.scripts);
    let failures = results.failures();
    if !failures.is_empty() {
        let _ = write!(out, "\n## Failures\n\n");
        for failure in failures {
            let _ = writeln!(out, "* {failure}");
        }
    }
    out
}

/// The contenders that have at least one of the rows.
fn columns(results: &Results, rows: &[&MeasuredRow]) -> Vec<&'static str> {
    let names = results.contenders.iter().map(|contender| contender.name);
    names.filter(|name| rows.iter().any(|row| row.of(name).is_some())).collect()
}

fn seconds_table(results: &Results, rows: &[&MeasuredRow]) -> String {
    let columns = columns(results, rows);
    let mut table = Table::new("row", &columns);
    for row in rows {
        table.row(&row.label, columns.iter().map(|name| seconds_cell(row.of(name))));
    }
    table.text
}

fn ratio_table(results: &Results, rows: &[&MeasuredRow], base: &str) -> String {
    let mut columns = columns(results, rows);
    columns.retain(|name| *name != base);
    let mut table = Table::new("row", &columns);
    for row in rows {
        table.row(&row.label, columns.iter().map(|name| number(Results::ratio(row, name, base), 2)));
    }
    table.row(
        "**geometric mean**",
        columns.iter().map(|name| {
            let ratios: Vec<f64> = rows.iter().filter_map(|row| Results::ratio(row, name, base)).collect();
            let mean = number(geometric_mean(ratios.iter().copied()), 2);
            if ratios.len() == rows.len() {
                mean
            } else {
                format!("{mean} ({} rows)", ratios.len())
            }
        }),
    );
    table.text
}

/// Time without peeling divided by time with it.
const PEELING: [(&str, &str); 3] =
    [("luajit-noloop", "luajit"), ("pypy3-nounroll", "pypy3"), ("tracelift-nopeel", "tracelift")];

fn peeling_table(results: &Results, rows: &[&MeasuredRow]) -> String {
    let pairs: Vec<_> =
        PEELING.iter().filter(|(without, with)| results.has(without) && results.has(with)).collect();
    if pairs.is_empty() {
        return "No contender ran both with and without.\n".into();
    }
    let names: Vec<&str> = pairs.iter().map(|(_, with)| *with).collect();
    let mut table = Table::new("row", &names);
    for row in rows {
        table.row(
            &row.label,
            pairs.iter().map(|(without, with)| number(Results::ratio(row, without, with), 2)),
        );
    }
    table.row(
        "**geometric mean**",
        pairs.iter().map(|(without, with)| {
            let ratios = rows.iter().filter_map(|row| Results::ratio(row, without, with));
            number(geometric_mean(ratios), 2)
        }),
    );
    table.text
}

/// User and system time, and peak memory.
fn process_table(results: &Results, rows: &[&MeasuredRow]) -> String {
    let columns = columns(results, rows);
    let mut table = Table::new("row: user + system s, peak MiB", &columns);
    for row in rows {
        table.row(
            &row.label,
            columns.iter().map(|name| match row.of(name).and_then(|measured| measured.whole.as_ref()) {
                None => "-".into(),
                Some(whole) => {
                    format!("{:.2} + {:.2}, {:.0}", whole.user, whole.system, whole.peak_kib as f64 / 1024.0)
                }
            }),
        );
    }
    table.text
}

/// The counters of an object, largest first, as text.
fn counters(value: Option<&Value>) -> String {
    let mut found: Vec<(&str, u64)> = value
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .filter_map(|(name, count)| Some((name.as_str(), count.as_u64()?)))
        .collect();
    found.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let text: Vec<String> = found.iter().take(3).map(|(name, count)| format!("{count} {name}")).collect();
    if text.is_empty() {
        "-".into()
    } else {
        text.join(", ")
    }
}

fn jit_table(rows: &[&MeasuredRow]) -> String {
    let mut table = Table::new(
        "row",
        &[
            "iterations as machine code",
            "traces",
            "side traces",
            "code bytes",
            "compile ms",
            "entered",
            "left",
            "given up",
        ],
    );
    for row in rows {
        let Some(statistics) = &row.statistics else {
            continue;
        };
        let figures = JitFigures::of(statistics);
        let milliseconds = |path: &str| Some(statistics.pointer(path)?.as_f64()? / 1000.0);
        let compile_ms = milliseconds("/compile/optimize_us").unwrap_or(0.0)
            + milliseconds("/compile/codegen_us").unwrap_or(0.0);
        table.row(
            &row.label,
            [
                number(figures.iteration_share.map(|share| share * 100.0), 1) + " %",
                number(figures.traces, 0),
                number(figures.side_traces, 0),
                number(figures.code_bytes, 0),
                number(Some(compile_ms), 1),
                number(figures.entries, 0),
                counters(statistics.get("exits")),
                counters(statistics.get("aborts")),
            ],
        );
    }
    table.text
        + "\nIterations are those of all loops, also outer ones, in one call; making the data is counted too.\n"
}

/// Everything, for programs.
pub fn to_json(results: &Results) -> Value {
    let rows: Vec<Value> = results
        .rows
        .iter()
        .map(|row| {
            let by_contender: serde_json::Map<String, Value> = row
                .by_contender
                .iter()
                .map(|measured| (measured.contender.to_string(), measured_json(measured)))
                .collect();
            json!({
                "row": row.label,
                "group": format!("{:?}", row.row.group).to_lowercase(),
                "contenders": by_contender,
                "statistics": row.statistics,
            })
        })
        .collect();
    let left_out: serde_json::Map<String, Value> =
        results.left_out.iter().map(|(name, reason)| (name.to_string(), json!(reason))).collect();
    let what: serde_json::Map<String, Value> = CONTENDERS
        .iter()
        .filter(|contender| results.has(contender.name))
        .map(|contender| (contender.name.to_string(), json!(contender.what)))
        .collect();
    json!({ "how": results.how, "contenders": what, "left_out": left_out, "rows": rows,
        "scripts": script_report::to_json(&results.scripts) })
}

fn measured_json(measured: &Measured) -> Value {
    let whole = measured.whole.as_ref().map(|whole| {
        json!({ "user": whole.user, "system": whole.system, "wall": whole.wall, "peak_kib": whole.peak_kib })
    });
    let (low, high) = (
        measured.times.iter().copied().fold(f64::INFINITY, f64::min),
        measured.times.iter().copied().fold(0.0, f64::max),
    );
    json!({
        "seconds": measured.seconds,
        "interval95": measured.interval,
        "times": measured.times,
        "spread": measured.seconds.map(|seconds| (high - low) / seconds),
        "cold": measured.is_cold,
        "whole_process": whole,
        "check": measured.check,
        "failure": measured.failure,
    })
}
