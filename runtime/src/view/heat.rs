//! How hot each line is.
//!
//! Problem: nobody counts instructions, neither in machine code nor in the interpreter, as that would make
//! the program another one. Design: both are estimated from what is counted. A trace is a list of
//! instructions, and ran so often as it had iterations, or entries. A loop that was interpreted ran all its
//! instructions but those of loops within, so often as it had back edges there; a function likewise, by its
//! entries. So a way that is not taken counts as well there. Invariant: what was counted nowhere is 0.
//!
//! ```text
//! trace 3: lines 4 4 5, 1,000 iterations  ->  line 4: 2,000, line 5: 1,000
//! ```

use rustc_hash::FxHashMap;

use super::functions::{Functions, Place};
use super::notes::{Seen, TraceNote};
use crate::ids::TraceId;

/// A line's file and number.
pub(super) type At = (usize, u32);

/// What is known of a line.
#[derive(Debug, Default)]
pub(super) struct Heat {
    pub machine: u64,
    pub interpreted: u64,
    pub traces: Vec<TraceId>,
}

/// How often a trace ran.
pub(super) fn runs(note: &TraceNote) -> u64 {
    match &note.last {
        Some(last) if last.is_loop => note.cells.iterations / (1 + u64::from(last.edges)),
        _ => note.cells.entries,
    }
}

/// The line of a place.
pub(super) fn line_of(functions: &Functions, place: Place) -> Option<At> {
    (place.line > 0).then(|| (functions.function(place).file, place.line))
}

/// The lines of an interpreted location, each as often as it has instructions.
pub(super) fn lines_of(functions: &Functions, seen: &Seen) -> Vec<At> {
    let Some(place) = seen.place else { return Vec::new() };
    let function = functions.function(place);
    let around = if seen.is_entry { None } else { function.loop_at(place.index) };
    if around.is_none() && !seen.is_entry {
        return line_of(functions, place).into_iter().collect();
    }
    let lines = function.own_instructions(around).filter_map(|index| function.lines.get(index as usize));
    lines.filter(|line| **line > 0).map(|&line| (function.file, line)).collect()
}

/// The heat of all lines.
pub(super) fn heat<'a>(
    functions: &Functions,
    locations: impl Iterator<Item = &'a Seen>,
    traces: &[TraceNote],
) -> FxHashMap<At, Heat> {
    let mut lines: FxHashMap<At, Heat> = FxHashMap::default();
    for seen in locations {
        for at in lines_of(functions, seen) {
            lines.entry(at).or_default().interpreted += seen.interpreted;
        }
    }
    for note in traces {
        let runs = runs(note);
        for at in note.steps.iter().filter_map(|&(step, _)| line_of(functions, step)) {
            let line = lines.entry(at).or_default();
            line.machine += runs;
            if line.traces.last() != Some(&note.number) {
                line.traces.push(note.number);
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::super::functions::Told;
    use super::super::notes::{Notes, Seen};
    use super::*;

    #[test]
    fn instructions_of_inner_loops_are_their_own() {
        let mut notes = Notes::default();
        let lines = [1, 2, 2, 3, 3, 2, 4];
        let told = Told {
            low: 0x100,
            stride: 4,
            name: b"f",
            first_line: 1,
            source: b"text",
            lines: &lines,
            loops: &[(1, 5), (3, 4)],
        };
        notes.functions.tell(&told);
        notes.ticks(0x104, false, 10);
        notes.ticks(0x10c, false, 500);
        let seen: Vec<&Seen> = notes.alive.values().collect();
        let heat = heat(&notes.functions, seen.into_iter(), &[]);
        assert_eq!((heat[&(0, 2)].interpreted, heat[&(0, 3)].interpreted), (30, 1000));
        assert!(!heat.contains_key(&(0, 1)) && !heat.contains_key(&(0, 4)));
    }
}
