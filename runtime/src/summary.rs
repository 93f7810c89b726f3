//! The statistics for those who have written the program: what ran as machine code, and what did not and why.
//!
//! Problem: counters say how the service has done, and not what to change in a slow program. Design: three
//! lists, each with the worst first, by the host's names of places: loops and functions that ran as machine
//! code; what was interpreted though it was hot, with the reason of the last recording that was given up; and
//! where machine code was left or called the interpreter's functions. Reasons are said as what happened in
//! the program ([`crate::reasons`]). Invariant: a list that was cut says how many are missing.
//!
//! ```text
//! as machine code:
//!    62.1 %  1000000 iterations  loop app.lua:12 sum
//! interpreted:
//!    500 entries  entry app.lua:30 check: there was an error or a yield, at app.lua:32 check
//! ```

use std::collections::BTreeMap;
use std::fmt::{Result, Write};

use crate::stats::{LeftStats, PlaceStats, Stats};

/// Rows of a list.
const MOST_ROWS: usize = 20;

/// A reason with what it means, and its place.
fn because(reason: Option<&String>, meaning: Option<&String>, at: Option<&String>) -> String {
    let Some(reason) = reason else { return String::new() };
    let at = at.map(|at| format!(", at {at}")).unwrap_or_default();
    match meaning {
        Some(meaning) => format!(": {meaning} ({reason}){at}"),
        None => format!(": {reason}{at}"),
    }
}

/// Writes rows under a heading; nothing if there are none.
fn write_list(out: &mut String, heading: &str, rows: Vec<String>) -> Result {
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{heading}")?;
    rows.iter().take(MOST_ROWS).try_for_each(|row| writeln!(out, "  {row}"))?;
    match rows.len().checked_sub(MOST_ROWS) {
        Some(more @ 1..) => writeln!(out, "  and {more} more"),
        _ => Ok(()),
    }
}

impl Stats {
    /// The statistics for who has written the program.
    pub fn summary(&self) -> String {
        let mut out = String::new();
        self.write_summary(&mut out).expect("writing to a string does not fail");
        out
    }

    fn write_summary(&self, out: &mut String) -> Result {
        writeln!(out, "jit: {}", self.jit)?;
        let time = &self.time;
        writeln!(
            out,
            "the program took {:.3} s, {:.1} % of it as machine code; compiling took {:.3} s",
            time.program,
            time.machine / self.whole() * 100.0,
            time.recording + time.compiling,
        )?;
        if let (Some(iterations), Some(share)) = (self.compiled_iterations, self.compiled_share) {
            let all = iterations + self.interpreted_back_edges;
            writeln!(out, "of {all} iterations of loops {:.1} % ran as machine code", share * 100.0)?;
        }
        let places = joined(&self.places);
        write_list(
            out,
            "as machine code (share of the time, with what it leads to):",
            self.compiled(&places),
        )?;
        write_list(out, "interpreted, though it was hot:", interpreted(&places))?;
        write_list(out, "machine code that was often left to the interpreter:", left(&self.left))?;
        write_list(out, "done by calls of the interpreter's functions from machine code:", self.called())
    }

    /// The time of which shares are told. Both clocks are exact for longer times only.
    fn whole(&self) -> f64 {
        self.time.program.max(self.time.machine).max(1e-9)
    }

    /// What ran as machine code.
    fn compiled(&self, places: &[PlaceStats]) -> Vec<String> {
        let ran = |place: &&PlaceStats| place.iterations + place.calls > 0 || place.machine > 0.0;
        let mut places: Vec<&PlaceStats> = places.iter().filter(ran).collect();
        places.sort_by(|a, b| {
            let key = |place: &PlaceStats| (place.machine, (place.iterations + place.calls) as f64);
            key(b).partial_cmp(&key(a)).unwrap_or(std::cmp::Ordering::Equal)
        });
        let row = |place: &&PlaceStats| {
            let share = place.machine / self.whole() * 100.0;
            let mut row = match place.machine > 0.0 {
                true => format!("{share:5.1} %"),
                // Only other code leads there.
                false => "      -".into(),
            };
            if place.iterations > 0 {
                row += &format!("  {} iterations", place.iterations);
            }
            if place.calls > 0 {
                row += &format!("  {} calls", place.calls);
            }
            row += "  ";
            row += &place.name;
            if place.interpreted > place.iterations / 10 && place.is_compiled {
                row += &format!(", {} more interpreted", place.interpreted);
            }
            row
        };
        places.iter().map(row).collect()
    }

    /// What machine code has the interpreter's functions do, by place.
    fn called(&self) -> Vec<String> {
        self.called_at.keys().cloned().collect()
    }
}

/// Places of one name together: a function may be made more than once.
fn joined(places: &[PlaceStats]) -> Vec<PlaceStats> {
    let mut by_name: BTreeMap<&str, PlaceStats> = BTreeMap::new();
    for place in places {
        let Some(known) = by_name.get_mut(place.name.as_str()) else {
            by_name.insert(&place.name, place.clone());
            continue;
        };
        known.iterations += place.iterations;
        known.calls += place.calls;
        known.interpreted += place.interpreted;
        known.machine += place.machine;
        known.attempts += place.attempts;
        if !place.is_compiled {
            (known.is_compiled, known.state) = (false, place.state);
            if place.reason.is_some() {
                (known.reason, known.meaning) = (place.reason.clone(), place.meaning.clone());
            }
            known.at = place.at.clone().or(known.at.take());
        }
    }
    by_name.into_values().collect()
}

/// What was interpreted.
fn interpreted(places: &[PlaceStats]) -> Vec<String> {
    let is_such = |place: &&PlaceStats| !place.is_compiled && place.interpreted > 0;
    let mut places: Vec<&PlaceStats> = places.iter().filter(is_such).collect();
    places.sort_by_key(|place| std::cmp::Reverse(place.interpreted));
    let row = |place: &&PlaceStats| {
        let what = if place.is_entry { "entries" } else { "iterations" };
        let why = match (&place.reason, place.state) {
            (_, "resting" | "retired") => ": its machine code costs more than it saves".into(),
            (Some(_), _) => because(place.reason.as_ref(), place.meaning.as_ref(), place.at.as_ref()),
            (None, "postponed") => ": compiling has taken its share of the time".into(),
            (None, _) if place.iterations + place.calls > 0 => {
                ": its machine code was given up, and there is no other so far".into()
            }
            (None, _) => ": it was not hot for long enough".into(),
        };
        format!("{} {what}  {}{why}", place.interpreted, place.name)
    };
    places.iter().map(row).collect()
}

/// Where code was left.
fn left(exits: &[LeftStats]) -> Vec<String> {
    let mut by_place: BTreeMap<String, (u64, String)> = BTreeMap::new();
    for exit in exits {
        let why = match exit.reason {
            Some(_) => because(exit.reason.as_ref(), exit.meaning.as_ref(), exit.at.as_ref()),
            None if exit.kind == "loop_end" => ": the loop ended".into(),
            None => String::new(),
        };
        let place = exit.place.clone().unwrap_or_else(|| exit.code.clone());
        let entry = by_place.entry(place).or_default();
        entry.0 += exit.count;
        if !why.is_empty() {
            entry.1 = why;
        }
    }
    let mut rows: Vec<_> = by_place.into_iter().collect();
    rows.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
    rows.into_iter().map(|(place, (count, why))| format!("{count} times  at {place}{why}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(name: &str) -> PlaceStats {
        PlaceStats { name: name.into(), state: "compiled", is_compiled: true, ..PlaceStats::default() }
    }

    /// The worst comes first, what is one for its author is one, and reasons are said as they are meant.
    #[test]
    fn a_summary_lists_places_by_what_they_cost() {
        let failed = PlaceStats {
            interpreted: 7,
            is_compiled: false,
            state: "backed off",
            reason: Some("unstable slot types".into()),
            meaning: Some("variables change their types".into()),
            at: Some("a.lua:3 f".into()),
            ..place("loop a.lua:2 f")
        };
        let worse = PlaceStats {
            interpreted: 90,
            reason: Some("call of a C function".into()),
            meaning: None,
            at: None,
            ..PlaceStats { name: "loop b.lua:1 g".into(), ..failed.clone() }
        };
        let fast = PlaceStats { iterations: 10, machine: 1.0, ..place("loop c.lua:1 h") };
        let mut stats =
            Stats { places: vec![failed.clone(), fast.clone(), worse, fast, failed], ..Stats::default() };
        stats.time.program = 4.0;
        let text = stats.summary();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.contains(&"   50.0 %  20 iterations  loop c.lua:1 h"), "{text}");
        let first =
            lines.iter().position(|line| *line == "  90 iterations  loop b.lua:1 g: call of a C function");
        let second = "  14 iterations  loop a.lua:2 f: variables change their types (unstable slot types), \
                      at a.lua:3 f";
        assert_eq!(first.map(|at| lines[at + 1]), Some(second), "{text}");
        assert!(!text.contains("often left"), "{text}");
    }

    #[test]
    fn long_lists_say_what_is_missing() {
        let of = |n: u64| PlaceStats { iterations: n, ..place(&format!("loop {n}")) };
        let stats = Stats { places: (1..=MOST_ROWS as u64 + 3).map(of).collect(), ..Stats::default() };
        assert!(stats.summary().contains("\n  and 3 more\n"), "{}", stats.summary());
    }
}
