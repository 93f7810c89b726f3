//! Parts that several sections of the page are made of.
//!
//! Problem: a line of the program, or a trace, is named in many places, and is to look and to lead the same
//! in all. Design: one function for each kind of name and link. Invariant: each link leads to something that
//! the page has: a line that is not shown is named without one.
//!
//! Example: `app.lua:12 in sum`, a link to the line; `trace 3`, a link to all that is known of it.

use maud::{html, Markup};

use crate::ids::TraceId;
use crate::view::model::{Failure, Level, Model, Place};
pub(super) use crate::view::verdict::{count, percent};

/// The name of a line's place in the page.
pub(super) fn line_id(file: usize, line: u32) -> String {
    format!("f{file}l{line}")
}

/// The name of a trace's place in the page.
pub(super) fn trace_id(number: TraceId) -> String {
    format!("t{number}")
}

/// Whether a file is shown with its lines.
pub(super) fn is_shown(model: &Model, file: usize) -> bool {
    model.files.get(file).is_some_and(|file| {
        let is_hot = |line: &crate::view::model::Line| line.machine + line.interpreted > 0;
        !file.lines.is_empty() && (file.lines.iter().any(is_hot) || !file.name.starts_with("[text "))
    })
}

/// A place by its name.
pub(super) fn place(model: &Model, place: &Place) -> Markup {
    let has_line = model.files.get(place.file).is_some_and(|file| {
        place.line > 0 && (place.line as usize) <= file.lines.len() && is_shown(model, place.file)
    });
    html! {
        @if has_line {
            a href={ "#" (line_id(place.file, place.line)) } { (place.name) }
        } @else {
            (place.name)
        }
    }
}

/// A place that may not be known.
pub(super) fn place_or(model: &Model, known: Option<&Place>, otherwise: &str) -> Markup {
    match known {
        Some(known) => place(model, known),
        None => html! { (otherwise) },
    }
}

/// A trace by its number.
pub(super) fn trace(model: &Model, number: TraceId) -> Markup {
    html! {
        @if model.trace(number).is_some() {
            a href={ "#" (trace_id(number)) } { "trace " (number) }
        } @else {
            "trace " (number)
        }
    }
}

/// How well something fares.
pub(super) fn badge(level: Level) -> Markup {
    let (class, word) = match level {
        Level::Good => ("good", "fine"),
        Level::Fair => ("fair", "look"),
        Level::Bad => ("bad", "slow"),
    };
    html! { span class={ "badge " (class) } { (word) } }
}

/// Attempts that failed, with the exact reason beside what it means.
pub(super) fn failures(model: &Model, failures: &[Failure]) -> Markup {
    html! {
        @for failure in failures {
            li {
                (failure.meaning)
                @if let Some(at) = &failure.place { ", at " (place(model, at)) }
                " " span class="exact" { "(" (failure.reason) ", " (count(failure.count)) "×)" }
            }
        }
    }
}

/// Seconds for people.
pub(super) fn seconds(seconds: f64) -> String {
    match seconds {
        _ if seconds >= 0.1 => format!("{seconds:.2} s"),
        _ if seconds >= 1e-4 => format!("{:.1} ms", seconds * 1e3),
        _ => format!("{:.0} µs", seconds * 1e6),
    }
}
