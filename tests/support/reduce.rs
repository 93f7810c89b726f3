//! Makes a failing program small.
//!
//! Problem: a program that was made at random has hundreds of lines, of which ten matter. Design: statements
//! stand on lines of their own and blocks are indented, so that a part of the program is a run of lines:
//! blocks are dropped whole or lose their first and last lines, then runs of lines are dropped, long ones
//! first, down to single lines, until nothing goes any more. Whether what is left still fails, the caller
//! says.
//!
//! Invariant: the result fails, if the text did; a part that must stay makes no other part stay.
//!
//! Example: `reduce(text, deadline, &mut |text| text.contains("boom"))` is the one line with that word.

use std::ops::RangeInclusive;
use std::time::Instant;

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The last line of the block that begins in a line, if one does.
fn end_of_block(lines: &[&str], first: usize) -> Option<usize> {
    let depth = indent(lines[first]);
    let inner = lines.get(first + 1)?;
    if !inner.trim().is_empty() && indent(inner) <= depth {
        return None;
    }
    (first + 1..lines.len()).find(|&at| !lines[at].trim().is_empty() && indent(lines[at]) <= depth)
}

/// The lines without those in the ranges.
fn without<'a>(lines: &[&'a str], gone: &[RangeInclusive<usize>]) -> Vec<&'a str> {
    let is_left = |at: &usize| !gone.iter().any(|range| range.contains(at));
    (0..lines.len()).filter(is_left).map(|at| lines[at]).collect()
}

/// The smallest text that was found before the deadline and still fails.
pub fn reduce(text: &str, deadline: Instant, fails: &mut dyn FnMut(&str) -> bool) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let mut try_without = |lines: &mut Vec<_>, gone: &[RangeInclusive<usize>]| {
        let candidate = without(lines, gone);
        let is_kept = Instant::now() < deadline && fails(&candidate.join("\n"));
        if is_kept {
            *lines = candidate;
        }
        is_kept
    };
    loop {
        let before = lines.len();
        let mut at = 0;
        while at < lines.len() {
            let Some(end) = end_of_block(&lines, at) else {
                at += 1;
                continue;
            };
            if !try_without(&mut lines, &[at..=end]) && !try_without(&mut lines, &[at..=at, end..=end]) {
                at += 1;
            }
        }
        let mut length = (lines.len() / 2).max(1);
        loop {
            let mut at = 0;
            while at < lines.len() {
                let end = (at + length).min(lines.len()) - 1;
                if !try_without(&mut lines, &[at..=end]) {
                    at += length;
                }
            }
            if length == 1 {
                break;
            }
            length /= 2;
        }
        if lines.len() == before || Instant::now() >= deadline {
            return lines.join("\n");
        }
    }
}
