//! How long the interpreter takes for an iteration of a loop.
//!
//! Problem: whether code pays depends on what the interpreter would have taken instead, and that cannot be
//! computed from bytecodes: one is a move, the next one a call that searches a table. Design: before a loop
//! is recorded, and each time that its code is tried again after a rest, some of its iterations are timed,
//! from back edge to back edge, with the processor's counter ([`crate::ticks`]). Where the loop was left and
//! entered again between two of them the interval is too long by far: of a *burst* the intervals count that
//! are not much longer than the shortest but one. What comes out stands in a cell of the location. Code adds
//! it up, one for each iteration ([`tracelift_cranelift::Replaced`]), so that an entry's gain is the
//! difference of two times that were both measured ([`crate::pay`]). Invariant: a cell lives as long as the
//! location, as does all code that names it; 0 says that nothing is known. Where thresholds alone decide
//! nothing is timed.
//!
//! ```text
//! loop_7f00: 210, 190, 200, 3400, 180, 220, 200, 190 ns: 199 ns each, less 15 for the way to us
//! ```

use crate::location::Key;
use crate::policy::{ARRIVAL, BURST, BURSTS_STARTED, LONG_INTERVAL};
use crate::vm::Vm;

/// Units of the cells in a nanosecond.
pub(crate) const UNITS: f64 = 16.0;

/// What is known of a loop's iterations in the interpreter.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    /// Of one iteration, in [`UNITS`]; 0: unknown. Code holds its address.
    cell: Box<u64>,
    /// Bursts begun since the loop was due: most loops end their first one.
    started: u64,
}

impl Pace {
    /// The address of the cell.
    pub fn cell(&self) -> *const u64 {
        &*self.cell
    }

    /// Nanoseconds of an iteration, if they are known.
    pub fn ns(&self) -> Option<f64> {
        (*self.cell > 0).then(|| *self.cell as f64 / UNITS)
    }

    /// A burst has shown so much; it counts as much as all before.
    fn learn(&mut self, ns: f64) {
        let ns = self.ns().map_or(ns, |before| (before + ns) / 2.0);
        *self.cell = ((ns * UNITS) as u64).max(1);
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
                let mean = mean(burst.intervals).and_then(|ticks| self.ticks.ns(ticks as u64));
                if let Some(mean) = mean {
                    location.pace.learn((mean - ARRIVAL as f64).max(1.0));
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
    use crate::hot::Action;
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
    fn later_bursts_count_as_much_as_all_before() {
        let mut pace = Pace::default();
        assert_eq!(pace.ns(), None);
        pace.learn(100.0);
        pace.learn(50.0);
        assert_eq!(pace.ns(), Some(75.0));
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
