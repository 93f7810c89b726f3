//! How long the interpreter takes for an iteration of a loop.
//!
//! Problem: whether code pays depends on what the interpreter would have taken instead, and that cannot be
//! computed from bytecodes: one is a move, the next one a call that searches a table. Design: before a loop
//! is recorded, and each time that its code is tried again after a rest, some of its iterations are timed,
//! from back edge to back edge, with the processor's counter ([`crate::ticks`]). Where the loop was left and
//! entered again between two of them the interval is too long by far: of a *burst* the intervals count that
//! are not much longer than the shortest but one. Where all are alike the loop goes on for long, and the time
//! that is spent in its code says enough; else the code that is made from then on adds them up, one for each
//! iteration ([`tracelift_cranelift::Replaced`]), so that an entry's gain is the difference of two times that
//! were both measured ([`crate::pay`]). Invariant: what code adds up is in iterations of its own loop, times
//! what was known of that loop when the code was made. Where thresholds alone decide nothing is timed, and
//! nothing added up.
//!
//! ```text
//! loop_7f00: 210, 190, 200, 3400, 180, 220, 200, 190 ns: 199 ns each, less 15 for the way to us
//! ```

use crate::ids::Key;
use crate::policy::{ARRIVAL, BURST, BURSTS_STARTED, CLOCK_STEPS, LONG_INTERVAL};
use crate::vm::Vm;

/// Units in a nanosecond of what code adds up.
pub(crate) const UNITS: f64 = 16.0;

/// What is known of a loop's iterations in the interpreter.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    /// Nanoseconds of one iteration, if they are known.
    ns: Option<f64>,
    /// Intervals of a burst differed so much that the loop may have been left in between.
    is_broken: bool,
    /// Bursts begun since the loop was due: most loops end their first one.
    started: u64,
}

impl Pace {
    /// Nanoseconds of an iteration, if they are known.
    pub fn ns(&self) -> Option<f64> {
        self.ns
    }

    /// What code adds up for an iteration, in [`UNITS`]; `None` where it need not: nothing is known, or the
    /// loop goes on for long, so that the time in it says enough.
    pub fn amount(&self) -> Option<u32> {
        self.ns.filter(|_| self.is_broken).map(|ns| (ns * UNITS).clamp(1.0, f64::from(1 << 20)) as u32)
    }

    /// A burst has shown so much; it counts as much as all before.
    fn learn(&mut self, ns: f64, is_broken: bool) {
        self.ns = Some(self.ns.map_or(ns, |before| (before + ns) / 2.0));
        self.is_broken |= is_broken;
    }
}

/// Iterations that are being timed.
#[derive(Debug)]
pub(crate) struct Burst {
    key: Key,
    base: *const u8,
    /// When the interpreter went on after the last back edge.
    since: Option<u64>,
    /// Back edges that are still to come.
    left: u64,
    intervals: Vec<u64>,
}

/// The mean of the intervals of a burst that are iterations, as far as that can be told.
fn mean(mut intervals: Vec<u64>) -> Option<f64> {
    intervals.sort_unstable();
    let limit = intervals.get(1)?.saturating_mul(LONG_INTERVAL);
    let counted = intervals.partition_point(|&interval| interval <= limit);
    Some(intervals[..counted].iter().sum::<u64>() as f64 / counted as f64)
}

/// Whether the loop was left within a burst, more than once: two intervals differ from the shortest by more
/// than the clock's steps and chance explain. One may be an accident.
fn is_broken(intervals: &[u64], step: u64) -> bool {
    let limit = intervals.iter().min().map_or(0, |shortest| 2 * shortest + step);
    intervals.len() < 2 || intervals.iter().filter(|&&interval| interval > limit).count() > 1
}

impl Vm {
    /// A back edge of the loop `key`: ends an interval, if its iterations are being timed.
    #[inline]
    pub(crate) fn time_back_edge(&mut self, key: Key, base: *const u8) {
        let Some(burst) = self.burst.as_mut().filter(|burst| burst.key == key) else { return };
        let since = burst.since.take().filter(|_| burst.base == base);
        burst.intervals.extend(since.map(|since| self.ticks.now().wrapping_sub(since)));
        burst.left = burst.left.saturating_sub(1);
        burst.base = base;
    }

    /// Whether iterations of the loop `key` are being timed.
    pub(crate) fn is_pacing(&self, key: Key) -> bool {
        self.burst.as_ref().is_some_and(|burst| burst.key == key)
    }

    /// The interpreter goes on after a back edge of the loop `key`.
    #[inline]
    pub(crate) fn time_iteration(&mut self, key: Key) {
        if let Some(burst) = self.burst.as_mut().filter(|burst| burst.key == key) {
            burst.since = Some(self.ticks.now());
        }
    }

    /// The loop `key` is due: whether some of its iterations are to be timed first.
    pub(crate) fn times_iterations(&mut self, key: Key, base: *const u8) -> bool {
        if !self.budget.is_limited() || u64::from(self.config.threshold) < BURST {
            return false;
        }
        let Some(location) = self.locations.get_mut(&key) else { return false };
        match self.burst.take() {
            Some(burst) if burst.key == key && burst.left == 0 => {
                location.pace.started = 0;
                // A nanosecond in ticks, at least: where the clock's speed is not known yet nothing is
                // learned.
                let per_ns = self.ticks.ns(1_000).map(|ns| 1_000.0 / ns);
                if let (Some(per_ns), intervals) = (per_ns, burst.intervals) {
                    let is_broken = is_broken(&intervals, (per_ns * CLOCK_STEPS as f64) as u64);
                    if let Some(mean) = mean(intervals) {
                        location.pace.learn((mean / per_ns - ARRIVAL as f64).max(1.0), is_broken);
                    }
                }
                false
            }
            Some(burst) if burst.key == key => {
                self.burst = Some(burst);
                true
            }
            others => {
                location.pace.started += 1;
                if location.pace.started > BURSTS_STARTED {
                    location.pace.started = 0;
                    self.burst = others;
                    return false;
                }
                self.burst = Some(Burst { key, base, since: None, left: BURST, intervals: Vec::new() });
                true
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::run::Action;
    use crate::support::{int, Host};
    use crate::ticks::Ticks;
    use crate::Config;

    const HEAD: usize = 1;
    const OTHER: usize = 2;

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
        pace.learn(100.0, false);
        assert_eq!((pace.ns(), pace.amount()), (Some(100.0), None), "it goes on for long");
        pace.learn(50.0, true);
        assert_eq!((pace.ns(), pace.amount()), (Some(75.0), Some(75 * 16)));
    }

    thread_local!(static CLOCK: Cell<u64> = const { Cell::new(0) });

    fn host(config: Config) -> Host {
        let mut host = Host::new(config);
        let budget = &mut host.vm.budget;
        (budget.clock, budget.last, budget.ran) = (|| 0, 0, 1_000_000_000);
        host.vm.ticks = Ticks::of_test(|| CLOCK.replace(CLOCK.get() + 100));
        host.frame[..2].copy_from_slice(&[int(0), int(1)]);
        host
    }

    /// Back edges until the loop is to be recorded.
    fn back_edges(host: &mut Host, key: usize) -> u64 {
        (1..10_000)
            .find(|_| matches!(host.back_edge(key), Action::Record))
            .expect("a loop is hot at some time")
    }

    #[test]
    fn a_loop_is_timed_before_it_is_recorded() {
        let mut host = host(Config { threshold: 20, ..Config::default() });
        assert_eq!(back_edges(&mut host, HEAD), 20 + BURST);
        assert_eq!(host.vm.locations[&HEAD].pace.ns(), Some(100.0 - ARRIVAL as f64));
        assert!(host.vm.burst.is_none());
    }

    #[test]
    fn where_thresholds_decide_nothing_is_timed() {
        for config in [
            Config { threshold: 20, compile_share: None, ..Config::default() },
            Config { threshold: 1, ..Config::default() },
        ] {
            let threshold = u64::from(config.threshold);
            let mut host = host(config);
            assert_eq!(back_edges(&mut host, HEAD), threshold);
            assert_eq!(host.vm.locations[&HEAD].pace.ns(), None);
        }
    }

    /// Loops that are due together do not take the burst from one another for ever.
    #[test]
    fn a_loop_that_is_not_let_alone_is_recorded_untimed() {
        let mut host = host(Config { threshold: 20, ..Config::default() });
        let hot = |host: &mut Host, key| matches!(host.back_edge(key), Action::Record);
        let found = (0..10_000).find(|_| hot(&mut host, HEAD) || hot(&mut host, OTHER));
        assert!(found.is_some_and(|turns| turns < 20 + 4 * BURSTS_STARTED), "{found:?}");
    }
}
