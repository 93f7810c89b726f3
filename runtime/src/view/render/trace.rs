//! All that is known of a trace: source, what was recorded, what is left of it, machine code, and exits.
//!
//! Problem: the four forms of a trace explain one another, but only side by side. Design: four columns, each
//! in a box that scrolls; operations have the line that they are for, by which the script marks those that
//! belong together under the mouse. Below is a table of all exits with how often each was taken, and what
//! came of that. Invariant: a trace's part of the page has its name inside the part that opens, so that
//! browsers open it for a link.
//!
//! Example: line 12 | i7 = int_add(i5, i6) | guard_true(i9) @3 | 4a  add %rax,%rcx

use maud::{html, Markup};

use super::parts::{count, failures, place_or, trace as link, trace_id};
use crate::view::model::{Exit, Model, Op, Trace};

/// Bytes of machine code's text that are shown.
const LONGEST_CODE: usize = 300_000;

/// A trace, closed until it is asked for.
pub(super) fn trace(model: &Model, trace: &Trace) -> Markup {
    html! {
        details class="onetrace" {
            summary {
                "trace " (trace.number) ": " (trace.kind) " "
                @if let Some((parent, exit)) = trace.parent { "at exit " (exit) " of trace " (parent) ", " }
                @if let Some(place) = &trace.place { (place.name) ", " }
                (count(trace.entries)) " entries"
                @if trace.iterations > 0 { ", " (count(trace.iterations)) " iterations" }
            }
            div id=(trace_id(trace.number)) class="inside" {
                (facts(model, trace))
                div class="wide" { div class="columns" {
                    (source(model, trace))
                    (ops("Recorded", &trace.recorded))
                    (ops("Optimized", &trace.optimized))
                    (code(trace))
                } }
                (exits(model, trace))
            }
        }
    }
}

fn facts(model: &Model, trace: &Trace) -> Markup {
    html! {
        p {
            "Begins at " (place_or(model, trace.place.as_ref(), "an unknown place"))
            @if let Some((parent, exit)) = trace.parent { " after exit " (exit) " of " (link(model, parent)) }
            @if let Some(at) = &trace.goes_on_at { "; goes on at " (place_or(model, Some(at), "")) }
            ". " (trace.ops.0) " operations were recorded, " (trace.ops.1) " are left, in "
            (count(trace.code_bytes))
            " bytes of machine code; compiling took " (trace.compile_us) " µs."
            @if !trace.state.is_empty() { " It was " (trace.state) " before the end." }
        }
    }
}

/// A line's name for the script.
fn name_of(at: Option<(usize, u32)>) -> Option<String> {
    at.map(|(file, line)| format!("{file}-{line}"))
}

/// The lines that the trace passes.
fn source(model: &Model, trace: &Trace) -> Markup {
    let mut file_before = None;
    html! {
        div class="column" {
            h4 { "Source" }
            div class="listing" {
                @for &(file, number) in &trace.lines {
                    @if file_before.replace(file) != Some(file) {
                        div class="file" { (model.files.get(file).map_or("", |file| file.name.as_str())) }
                    }
                    @let text = model.files.get(file).and_then(|file| file.lines.get(number as usize - 1));
                    div data-line=[name_of(Some((file, number)))] {
                        span class="at" { (number) }
                        code { (text.map_or("", |line| line.text.as_str())) }
                    }
                }
                @if trace.lines.is_empty() { div { "not known" } }
            }
        }
    }
}

fn ops(title: &str, ops: &[Op]) -> Markup {
    let mut before = None;
    // A line is named where it begins.
    let mut first_of = |op: &Op| {
        let line = op.at.map(|at| at.1)?;
        (before.replace(line) != Some(line)).then_some(line)
    };
    html! {
        div class="column" {
            h4 { (title) " " span class="exact" { (ops.len()) } }
            div class="listing" {
                @for op in ops {
                    div data-line=[name_of(op.at)] {
                        span class="at" { @if let Some(line) = first_of(op) { (line) } }
                        code { (op.text) }
                    }
                }
            }
        }
    }
}

fn code(trace: &Trace) -> Markup {
    let mut end = trace.code.len().min(LONGEST_CODE);
    while !trace.code.is_char_boundary(end) {
        end -= 1;
    }
    html! {
        div class="column code" {
            h4 { "Machine code " span class="exact" { (count(trace.code_bytes)) " bytes" } }
            pre class="listing" {
                (trace.code[..end])
                @if trace.code.is_empty() {
                    "It was compiled as one function with others: there is no listing of it alone.\n"
                }
                @if end < trace.code.len() { "… the rest is left out here; it is in the data\n" }
            }
        }
    }
}

fn exits(model: &Model, trace: &Trace) -> Markup {
    let mut all: Vec<&Exit> = trace.exits.iter().collect();
    all.sort_by_key(|exit| std::cmp::Reverse(exit.taken()));
    let taken = all.iter().filter(|exit| exit.taken() > 0).count();
    let (taken, never) = all.split_at(taken);
    html! {
        h4 { "Exits" }
        @if !taken.is_empty() { (exit_table(model, taken)) } @else { p { "None was taken." } }
        @if !never.is_empty() {
            details { summary { (never.len()) " that were never taken" } (exit_table(model, never)) }
        }
    }
}

fn exit_table(model: &Model, exits: &[&Exit]) -> Markup {
    html! {
        div class="wide" { table {
            thead { tr {
                th { "exit" }
                th class="number" { "to the interpreter" } th class="number" { "to a side trace" }
                th { "where" } th { "why" } th { "test" }
            } }
            tbody {
                @for exit in exits {
                    tr {
                        td class="number" { (exit.number) }
                        td class="number" { (count(exit.to_interpreter)) }
                        td class="number" {
                            (count(exit.to_side))
                            @if let Some(side) = exit.side { " " (link(model, side)) }
                        }
                        td { (place_or(model, exit.place.as_ref(), "")) }
                        td {
                            (exit.meaning)
                            @if !exit.failures.is_empty() {
                                div class="advice" {
                                    "no side trace:" ul { (failures(model, &exit.failures)) }
                                }
                            }
                        }
                        td { code { (exit.test) } }
                    }
                }
            }
        } }
    }
}
