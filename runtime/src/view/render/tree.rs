//! Trees of traces as pictures.
//!
//! Problem: which exits are taken, how often, and what comes after them, is a tree, and a table of it cannot
//! be read. Design: a picture of rows: a trace, below it those of its exits that were taken, and below each
//! exit the side trace that hangs on it, one step further to the right. A column at the left has the counts
//! as numbers and as bars, so that nothing lies over anything else. Invariant: rows are in the order of what
//! is taken most, and what is left out is said in a row of its own.
//!
//! ```text
//!  1,000,000 ======   trace 0, loop, app.lua:3 in sum
//!     90,000 =        |- exit 2 at line 5: a condition went the other way
//!     90,000 =        |   '- trace 1, side trace
//!          3          |- exit 4 at line 7: the loop is over -> interpreter
//! ```

use maud::{html, Markup};

use super::parts::{count, place_or, trace_id};
use super::trace;
use crate::ids::TraceId;
use crate::view::model::{Exit, Model, Trace};

/// Exits of a trace in the picture at most, and rows.
const MOST_EXITS: usize = 10;
const MOST_ROWS: usize = 400;

/// Pixels: a row, a step to the right, the column of counts, a character.
const ROW: usize = 22;
const STEP: usize = 18;
const COUNTS: usize = 190;
const CHARACTER: f64 = 7.3;

/// All trees, with all of their traces.
pub(super) fn trees(model: &Model) -> Markup {
    let mut roots: Vec<&Trace> = model.traces.iter().filter(|trace| trace.parent.is_none()).collect();
    let runs = |root: &&Trace| model.tree(root.number).iter().map(|(trace, _)| weight(trace)).sum::<u64>();
    roots.sort_by_cached_key(|root| std::cmp::Reverse(runs(root)));
    html! {
        section id="trees" {
            h2 { "Traces" }
            @if roots.is_empty() { p { "Nothing was compiled." } }
            @else {
                p { "Each tree: a trace, its exits that were taken, and the side traces after them. "
                    "Numbers are how often "
                    "a trace ran, or an exit was taken, in this run." }
            }
            @for root in roots { (tree(model, root)) }
        }
    }
}

/// How often a trace ran.
fn weight(trace: &Trace) -> u64 {
    trace.iterations.max(trace.entries)
}

fn tree(model: &Model, root: &Trace) -> Markup {
    let members = model.tree(root.number);
    let many = members.len() > 1;
    html! {
        section class="tree" id={ "tree" (root.number) } {
            h3 {
                (root.kind) " at " (place_or(model, root.place.as_ref(), "an unknown place"))
                " " span class="exact" {
                    "trace " (root.number) @if many { " and " (members.len() - 1) " side traces" }
                }
            }
            @if let Some(unit) = root.unit {
                p { "Function that machine code calls natively (unit " (unit) ")." }
            }
            @if !root.region.is_empty() {
                p { (root.region.len()) " of these traces were made one function (a region); the code below "
                    "is what each had on its own." }
            }
            div class="wide" { (picture(model, root)) }
            @for (member, _) in &members { (trace::trace(model, member)) }
        }
    }
}

/// A row of the picture.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub depth: usize,
    pub count: u64,
    pub class: &'static str,
    pub text: String,
    pub link: Option<TraceId>,
}

/// The rows of a tree.
pub(super) fn rows(model: &Model, root: &Trace) -> Vec<Row> {
    let mut rows = Vec::new();
    add_trace(model, root, root, 0, &mut rows);
    let (all, left_out) = (rows.len(), rows.len().saturating_sub(MOST_ROWS));
    rows.truncate(MOST_ROWS);
    if left_out > 0 {
        let text = format!("{left_out} of {all} rows are left out: see the traces below");
        rows.push(Row { depth: 0, count: 0, class: "more", text, link: None });
    }
    rows
}

fn add_trace(model: &Model, root: &Trace, trace: &Trace, depth: usize, rows: &mut Vec<Row>) {
    let place = trace.place.as_ref().map_or(String::new(), |place| format!(", {}", place.name));
    let is_in_region = root.region.contains(&trace.number);
    let mut text = format!("trace {}, {}{place}", trace.number, trace.kind);
    if !trace.state.is_empty() {
        text += &format!(" ({})", trace.state);
    }
    let class = if is_in_region { "trace region" } else { "trace" };
    rows.push(Row { depth, count: weight(trace), class, text, link: Some(trace.number) });
    let mut taken: Vec<&Exit> = trace.exits.iter().filter(|exit| exit.taken() > 0).collect();
    taken.sort_by_key(|exit| std::cmp::Reverse(exit.taken()));
    let shown = taken.len().min(MOST_EXITS);
    for exit in &taken[..shown] {
        rows.push(exit_row(trace, exit, depth + 1));
        let hangs = |side: &&Trace| side.parent == Some((trace.number, exit.number));
        for side in model.traces.iter().filter(hangs).filter(|side| side.number > trace.number) {
            add_trace(model, root, side, depth + 2, rows);
        }
    }
    let rest = &taken[shown..];
    if !rest.is_empty() {
        let count = rest.iter().map(|exit| exit.taken()).sum();
        let text = format!("{} more exits", rest.len());
        rows.push(Row { depth: depth + 1, count, class: "more", text, link: Some(trace.number) });
    }
}

fn exit_row(trace: &Trace, exit: &Exit, depth: usize) -> Row {
    let at = exit.place.as_ref().map_or(String::new(), |place| format!(" at line {}", place.line));
    let to = match (exit.to_interpreter, exit.to_side) {
        (0, _) => String::new(),
        (_, 0) => " → interpreter".to_string(),
        (host, _) => format!(" → interpreter {} times", count(host)),
    };
    let class = match (exit.kind, exit.to_side) {
        (_, 1..) => "exit side",
        ("guard" | "hoisted" | "assumed", _) => "exit lost",
        _ => "exit",
    };
    // What is said of each of them need not be said in a picture.
    let meaning = exit.meaning.replace(" than when it was recorded", "");
    let text = format!("exit {}{at}: {meaning}{to}", exit.number);
    Row { depth, count: exit.taken(), class, text, link: Some(trace.number) }
}

/// The picture.
fn picture(model: &Model, root: &Trace) -> Markup {
    let rows = rows(model, root);
    let most = rows.iter().map(|row| row.count).max().unwrap_or(1).max(1);
    let end = |row: &Row| x_of(row.depth) + 16.0 + row.text.chars().count() as f64 * CHARACTER;
    let width = rows.iter().map(end).fold(600.0, f64::max).ceil();
    let height = rows.len() * ROW + 4;
    html! {
        svg class="picture" width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) } role="img"
            aria-label={ "the tree of trace " (root.number) } xmlns="http://www.w3.org/2000/svg" {
            @for (at, row) in rows.iter().enumerate() {
                @let y = at * ROW + 2;
                @let x = x_of(row.depth);
                @let bar = (row.count as f64 / most as f64 * 80.0).max(if row.count > 0 { 1.0 } else { 0.0 });
                @if row.depth > 0 {
                    @let up = parent_row(&rows, at);
                    path class="edge" d={
                        "M" (x - STEP as f64 + 6.0) " " (up * ROW + ROW - 2) " V" (y + ROW / 2) " H" (x + 2.0)
                    } {}
                }
                rect class={ "amount " (row.class) } x={ (COUNTS - 84) } y=(y + 5)
                    width=(format!("{bar:.1}")) height={ (ROW - 10) } {}
                @if row.count > 0 {
                    text class="count" x={ (COUNTS - 90) } y=(y + 15) text-anchor="end" { (count(row.count)) }
                }
                circle class=(row.class) cx=(x + 6.0) cy=(y + ROW / 2) r="4" {}
                @match row.link {
                    Some(link) => a class=(row.class) href={ "#" (trace_id(link)) } {
                        text x=(x + 16.0) y=(y + 15) { (row.text) }
                    },
                    None => text x=(x + 16.0) y=(y + 15) { (row.text) },
                }
            }
        }
    }
}

fn x_of(depth: usize) -> f64 {
    (COUNTS + 6 + depth * STEP) as f64
}

/// The last row before this one that is one step further to the left.
fn parent_row(rows: &[Row], at: usize) -> usize {
    let depth = rows[at].depth;
    rows[..at].iter().rposition(|row| row.depth < depth).unwrap_or(0)
}
