//! The program's lines, with their heat and the traces that pass them.
//!
//! Problem: a reader knows the source, and nothing of traces. Design: each file whose functions were met is
//! shown whole, a line for a line, with two strips for how much of it ran as machine code and in the
//! interpreter, links to the traces that pass it, and what could not be recorded there. Invariant: each line
//! has a name that links lead to.
//!
//! Example: line 12, a strip in the colour of the interpreter, "recordings ended here: ..."

use maud::{html, Markup};

use super::parts::{count, is_shown, line_id, trace_id};
use crate::view::model::{File, Line, Model};

/// Links to traces beside a line at most.
const MOST_LINKS: usize = 8;

/// All files.
pub(super) fn sources(model: &Model) -> Markup {
    let hottest = |line: &Line| line.machine.max(line.interpreted);
    let most = model.files.iter().flat_map(|file| &file.lines).map(hottest).max().unwrap_or(0);
    html! {
        section id="sources" {
            h2 { "Source" }
            p class="legend" {
                span class="key" { i class="machine" {} "ran as machine code" }
                span class="key" { i class="interpreter" {} "ran in the interpreter" }
                "The darker, the more (each step is ten times as much). Numbers at the right are the traces "
                "that pass the line."
            }
            @for (number, file) in model.files.iter().enumerate() {
                @if is_shown(model, number) {
                    (source(number, file, most))
                } @else if let Some(reason) = file.missing.as_ref().filter(|_| is_met(model, number)) {
                    p { b { (file.path) } ": the text is not shown, as " (reason) "." }
                }
            }
        }
    }
}

/// Whether something on the page lies in the file.
fn is_met(model: &Model, number: usize) -> bool {
    let is_here =
        |place: &Option<crate::view::model::Place>| place.as_ref().is_some_and(|at| at.file == number);
    model.locations.iter().any(|location| is_here(&location.place))
        || model.traces.iter().any(|trace| is_here(&trace.place))
}

fn source(number: usize, file: &File, most: u64) -> Markup {
    let is_hot = file.lines.iter().any(|line| line.machine + line.interpreted > 0);
    html! {
        details open[is_hot] {
            summary { (file.path) " " span class="exact" { (count(file.lines.len() as u64)) " lines" } }
            div class="source" {
                @for (at, line) in (1..).zip(&file.lines) { (source_line(number, at, line, most)) }
            }
        }
    }
}

/// A step for each factor of ten below the hottest line, from 1 (little) to 5; 0 is nothing.
fn step(heat: u64, most: u64) -> u32 {
    match heat {
        0 => 0,
        _ => 5u32.saturating_sub((most / heat).max(1).ilog10()).max(1),
    }
}

fn source_line(file: usize, number: u32, line: &Line, most: u64) -> Markup {
    let (machine, interpreted) = (step(line.machine, most), step(line.interpreted, most));
    let title = format!(
        "about {} instructions as machine code, {} interpreted",
        count(line.machine),
        count(line.interpreted)
    );
    let is_cold = line.machine + line.interpreted == 0;
    html! {
        div class={ "line" @if !line.failures.is_empty() { " failed" } } id=(line_id(file, number)) {
            span class="at" { (number) }
            @if is_cold {
                span class="heat" {}
            } @else {
                span class="heat" title=(title) {
                    i class={ "m" (machine) } {} i class={ "i" (interpreted) } {}
                }
            }
            code { (line.text) }
            span class="notes" {
                @for (at, &trace) in line.traces.iter().take(MOST_LINKS).enumerate() {
                    @if at > 0 { " " }
                    a href={ "#" (trace_id(trace)) } { (trace) }
                }
                @if line.traces.len() > MOST_LINKS { " and " (line.traces.len() - MOST_LINKS) " more" }
                @for failure in &line.failures {
                    span class="why" {
                        "recording ended here: " (failure.meaning) " (" (count(failure.count)) "×)"
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heat_has_five_steps() {
        assert_eq!([0, 1, 10, 99, 100_000].map(|heat| step(heat, 100_000)), [0, 1, 1, 2, 5]);
        assert_eq!(step(1, 1), 5);
    }
}
