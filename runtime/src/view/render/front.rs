//! The first screen: where the time went, and which loops to look at.
//!
//! Problem: a user has two minutes and one question. Design: a bar of the whole time, a sentence on the loop
//! that costs most of those that do not fare well, and a table of loops and functions, those that took
//! longest first, each with a sentence of what became of it. Invariant: what is estimated says so.
//!
//! Example: "Look first at app.lua:12 in sum: not compiled, since ..."

use maud::{html, Markup};

use super::parts::{badge, count, failures, percent, place, place_or, seconds, trace};
use crate::view::model::{Level, Location, Model, Split};

/// Rows that are shown at once; the others follow on demand.
const ROWS: usize = 12;
/// What takes less of the program's time in the interpreter is not what makes it slow.
const LEAST_SHARE: f64 = 0.01;
/// Rows of the table at most.
const MOST_ROWS: usize = 200;

/// All of it.
pub(super) fn front(model: &Model, title: &str) -> Markup {
    html! {
        section id="front" {
            h1 { (title) }
            (time(model))
            (look_first(model))
            h2 { "Loops and functions, those that took longest first" }
            (table(model))
        }
    }
}

/// Where the time went, and the iterations.
fn time(model: &Model) -> Markup {
    let stats = &model.stats;
    let Split { machine_s, compiling_s, rest_s } = model.time;
    let all = (machine_s + compiling_s + rest_s).max(f64::MIN_POSITIVE);
    let parts = [
        ("machine", "machine code", machine_s),
        ("interpreter", "interpreter, library and the rest", rest_s),
        ("compiling", "recording and compiling", compiling_s),
    ];
    let compiled = stats.compiled_iterations.unwrap_or(0);
    let iterations = compiled + stats.interpreted_back_edges;
    html! {
        div class="bar" role="img" aria-label="where the time went" {
            @for (class, word, part) in parts {
                @if part / all >= 0.005 {
                    div class=(class) style={ "flex-grow:" (format!("{:.4}", part / all)) }
                        title={ (word) ": " (seconds(part)) } {}
                }
            }
        }
        p class="legend" {
            @for (class, word, part) in parts {
                span class="key" {
                    i class=(class) {} (word) " " b { (seconds(part)) }
                    " (" (format!("{:.1}", part / all * 100.0)) " %)"
                }
            }
        }
        p {
            b { (count(iterations)) } " loop iterations: " b { (percent(compiled, iterations)) }
            " as machine code (" (count(compiled)) "), "
            (count(stats.interpreted_back_edges)) " interpreted. "
            (count(stats.compile.traces)) " traces were compiled, " (count(stats.compile.side_traces))
            " of them side traces; " (count(stats.aborts.values().sum())) " attempts to record were given up."
            @if stats.jit != "on" { " The JIT is " b { (stats.jit) } "." }
        }
    }
}

/// The location that costs most of those that do not fare well.
fn look_first(model: &Model) -> Markup {
    let worst = model.locations.iter().filter(|location| location.level > Level::Good);
    let worst = worst.max_by(|a, b| a.interpreter_s.total_cmp(&b.interpreter_s));
    let worst = worst.filter(|worst| worst.interpreter_s >= LEAST_SHARE * model.stats.time.program);
    html! {
        @match worst {
            Some(location) => {
                div class={ "first " (level_class(location.level)) } {
                    b { "Look first at " (place_or(model, location.place.as_ref(), &location.key)) }
                    " (" (location.kind) ", about " (seconds(location.interpreter_s)) " in the interpreter): "
                    (location.verdict) " " (location.advice)
                    @if !location.failures.is_empty() { ul { (failures(model, &location.failures)) } }
                    (cause(model, location))
                }
            }
            None => {
                div class="first good" { "No loop that takes much time was left to the interpreter." }
            }
        }
    }
}

/// The line that the verdict is about, with its text.
fn cause(model: &Model, location: &Location) -> Markup {
    let at = location.cause.as_ref();
    let line = at.and_then(|at| model.files.get(at.file)?.lines.get((at.line as usize).checked_sub(1)?));
    html! {
        @if let (Some(at), Some(line)) = (at, line) {
            div class="wide cause" { (place(model, at)) ": " code { (line.text.trim()) } }
        }
    }
}

fn level_class(level: Level) -> &'static str {
    match level {
        Level::Good => "good",
        Level::Fair => "fair",
        Level::Bad => "bad",
    }
}

fn table(model: &Model) -> Markup {
    let (first, more) = model.locations.split_at(model.locations.len().min(ROWS));
    let (more, cut) = more.split_at(more.len().min(MOST_ROWS - ROWS));
    html! {
        @if !first.is_empty() { (rows(model, first, 1)) }
        @if !more.is_empty() {
            details {
                summary { (more.len()) " more, which took less" }
                (rows(model, more, ROWS + 1))
                @if !cut.is_empty() {
                    @let interpreted = cut.iter().map(|location| location.interpreted).sum::<u64>();
                    p { (count(cut.len() as u64)) " more are not shown, with together " (count(interpreted))
                        " interpreted iterations and entries; they are in the data "
                        "(a file that ends in .json)." }
                }
            }
        }
        @if model.locations.is_empty() { p { "There was no loop, and no function was called often." } }
    }
}

fn rows(model: &Model, locations: &[Location], from: usize) -> Markup {
    html! {
        div class="wide" {
            table {
                thead { tr {
                    th { "#" } th { "where" } th { "iterations" }
                    th class="number" { "time" } th { "what became of it" }
                } }
                tbody {
                    @for (number, location) in (from..).zip(locations) { (row(model, number, location)) }
                }
            }
        }
    }
}

fn row(model: &Model, number: usize, location: &Location) -> Markup {
    let all = (location.machine + location.interpreted).max(1) as f64;
    let share = location.machine as f64 / all * 100.0;
    let word = if location.kind == "loop" { "iterations" } else { "entries" };
    html! {
        tr {
            td class="number" { (number) }
            td class="where" {
                (place_or(model, location.place.as_ref(), &location.key))
                div class="kind" { (location.kind) }
            }
            td class="share" {
                div class="bar small" title={ (format!("{share:.1}")) " % as machine code" } {
                    div class="machine" style={ "width:" (format!("{share:.1}")) "%" } {}
                }
                div { (count(location.machine)) " machine code" }
                div { (count(location.interpreted)) " interpreted " (word) }
            }
            td class="number" {
                div { (seconds(location.machine_s)) " machine code" }
                div { "≈ " (seconds(location.interpreter_s)) " interpreted" }
            }
            td {
                (badge(location.level)) " " (location.verdict)
                @if !location.advice.is_empty() { div class="advice" { (location.advice) } }
                @if !location.failures.is_empty() {
                    details {
                        summary { "why recordings were given up" }
                        ul { (failures(model, &location.failures)) }
                    }
                }
                @if !location.roots.is_empty() {
                    div class="links" {
                        @for (at, &root) in location.roots.iter().enumerate() {
                            @if at > 0 { ", " }
                            (trace(model, root))
                        }
                    }
                }
            }
        }
    }
}

/// What was counted, and what words mean.
pub(super) fn about() -> Markup {
    html! {
        section id="about" {
            h2 { "How to read this" }
            p {
                "A " b { "loop" } " that runs often is " b { "recorded" } ": one iteration is written down, "
                "operation by operation. That is a " b { "trace" } "; it is optimized and becomes machine "
                "code. Where the program goes another way than the recorded one, a test in the code fails: "
                "that is an " b { "exit" } ", and the interpreter goes on. An exit that is taken often gets "
                "a " b { "side trace" } " of its own. A loop's trace and its side traces are a " b { "tree" }
                "; where the program often goes from one to another they are made " b { "one function" }
                " (a region). A function that calls itself may become a " b { "unit" } ", which machine code "
                "calls natively."
            }
            p {
                b { "Counted" } " were, one by one: iterations and entries of each trace, exits to the "
                "interpreter, entries of side traces, back edges in the interpreter, and failed attempts. "
                "Counting costs something: the program was slower than without this page, and loops of few "
                "operations most."
            }
            p {
                b { "Estimated" } " is the heat of lines: from how often a trace or a loop ran and from how "
                "many instructions its lines have. Ways that were not taken in the interpreter count there, "
                "too. Times marked with ≈ are sampled: whenever the interpreter comes to a loop or a "
                "function whose counter is due, at least once in a thousand times, the time since the last "
                "such event counts as that one's, with all that ran meanwhile. Time in machine code is from "
                "its entry to the exit, so a loop's time contains that of loops which its code leads to, and "
                "of what its code calls. What it took to write this page down is left out."
            }
        }
    }
}
