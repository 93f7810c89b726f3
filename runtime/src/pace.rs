//! What is known of a loop's iterations in the interpreter.
//!
//! Problem: a loop's iterations are timed from back edge to back edge, and where the loop was left and
//! entered again between two of them the interval is too long by far. Design: of a *burst* of intervals those
//! count that are not much longer than the shortest but one. Where all are alike the loop goes on for long,
//! and their mean is believed; else it may contain more than iterations, and what bytecodes take as a rule is
//! believed if that is less. Who times them is `pacing.rs`. Invariant: without a burst nothing is known, and
//! bytecodes count alone.
//!
//! ```text
//! loop_7f00: 210, 190, 200, 3400, 180, 220, 200, 190 ns: 199 ns each, less 15 for the way to us
//! ```

use crate::ids::Key;
use crate::tunables::LONG_INTERVAL;

/// Units in a nanosecond of what code adds up.
pub(crate) const UNITS: f64 = 16.0;

/// What is known of a loop's iterations in the interpreter.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    /// Nanoseconds of one iteration, if they are known.
    ns: Option<f64>,
    /// A third of the intervals of a burst was no longer: the least of all bursts. Intervals in which the
    /// loop was left meanwhile are longer than that.
    usual: Option<f64>,
    /// Intervals of a burst differed so much that the loop may have been left in between.
    is_broken: bool,
    /// Bursts begun since the loop was due: most loops end their first one.
    pub started: u64,
}

impl Pace {
    /// Nanoseconds of an iteration, if they are known.
    pub fn ns(&self) -> Option<f64> {
        self.ns
    }

    /// Nanoseconds that an iteration takes as a rule, if that is known.
    pub fn usual(&self) -> Option<f64> {
        if self.is_broken {
            self.usual
        } else {
            self.ns
        }
    }

    /// Whether the loop was left while its iterations were timed: it is left soon, and the mean may contain
    /// more than iterations.
    pub fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// A burst has shown such a mean, which counts as much as all before. A third of its intervals was no
    /// longer than `usual`.
    pub fn learn(&mut self, ns: f64, usual: f64, is_broken: bool) {
        self.ns = Some(self.ns.map_or(ns, |before| (before + ns) / 2.0));
        self.usual = Some(self.usual.map_or(usual, |before| before.min(usual)));
        self.is_broken |= is_broken;
    }
}

/// Iterations that are being timed.
#[derive(Debug)]
pub(crate) struct Burst {
    pub key: Key,
    /// The frame's slots at the last back edge.
    pub base: *const u8,
    /// When the interpreter went on after the last back edge.
    pub since: Option<u64>,
    /// Back edges that are still to come.
    pub left: u64,
    pub intervals: Vec<u64>,
}

/// The mean of the intervals of a burst that are iterations, as far as that can be told.
pub(crate) fn mean(mut intervals: Vec<u64>) -> Option<f64> {
    intervals.sort_unstable();
    let limit = intervals.get(1)?.saturating_mul(LONG_INTERVAL);
    let counted = intervals.partition_point(|&interval| interval <= limit);
    Some(intervals[..counted].iter().sum::<u64>() as f64 / counted as f64)
}

/// What a third of the intervals takes at most.
pub(crate) fn usual(mut intervals: Vec<u64>) -> f64 {
    intervals.sort_unstable();
    intervals.get(intervals.len() / 3).copied().unwrap_or(0) as f64
}

/// Whether the loop was left within a burst, more than once: two intervals differ from the shortest by more
/// than the clock's steps and chance explain. One may be an accident.
pub(crate) fn is_broken(intervals: &[u64], step: u64) -> bool {
    let limit = intervals.iter().min().map_or(0, |shortest| 2 * shortest + step);
    intervals.len() < 2 || intervals.iter().filter(|&&interval| interval > limit).count() > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_between_two_runs_of_a_loop_is_no_iteration() {
        assert_eq!(mean(vec![210, 190, 200, 3400, 180, 220, 200, 200]), Some(200.0));
        assert_eq!(mean(vec![10, 1000, 10, 1000]), Some(10.0), "two iterations each");
        assert_eq!(
            mean(vec![1, 100, 300, 401]),
            Some((1 + 100 + 300) as f64 / 3.0),
            "a lucky one says little"
        );
        assert_eq!((mean(vec![7]), mean(Vec::new())), (None, None));
    }

    #[test]
    fn what_is_usual_contains_nothing_else() {
        assert_eq!(usual(vec![900, 30, 40, 800, 30, 700, 600, 50]), 40.0);
        assert_eq!((usual(vec![7]), usual(Vec::new())), (7.0, 0.0));
    }

    #[test]
    fn a_burst_shows_whether_the_loop_was_left() {
        assert!(!is_broken(&[30, 40, 30, 70, 30], 20), "steps of the clock");
        assert!(!is_broken(&[30, 40, 900, 40, 30], 20), "an accident");
        assert!(is_broken(&[30, 90, 30, 90, 30], 20) && is_broken(&[], 20));
        assert!(!is_broken(&[1000, 1900, 1900], 20) && is_broken(&[1000, 2100, 2100], 20));
    }

    #[test]
    fn later_bursts_count_as_much_as_all_before() {
        let mut pace = Pace::default();
        assert_eq!(pace.ns(), None);
        pace.learn(100.0, 90.0, false);
        assert_eq!((pace.ns(), pace.is_broken()), (Some(100.0), false), "it goes on for long");
        assert_eq!(pace.usual(), Some(100.0));
        pace.learn(50.0, 30.0, true);
        assert_eq!((pace.ns(), pace.is_broken()), (Some(75.0), true));
        assert_eq!(pace.usual(), Some(30.0), "the mean may contain more");
        pace.learn(50.0, 40.0, true);
        assert_eq!(pace.usual(), Some(30.0));
    }
}
