//! Timing a loop's iterations in the interpreter.
//!
//! Problem: whether code pays depends on what the interpreter would have taken instead, and that cannot be
//! computed from bytecodes: one is a move, the next one a call that searches a table. Design: before a loop
//! is recorded, and each time that its code is tried again after a rest, some of its iterations are timed,
//! from back edge to back edge, with the processor's counter ([`crate::ticks`]). What follows from these
//! intervals is decided in [`crate::pace`]. Code adds an iteration up each time that one ends
//! ([`tracelift_cranelift::Replaced`]), so that an entry's gain is the difference of two times that were both
//! measured (`sampling.rs`). Invariant: what code adds up is what was known of its loop when the code was
//! made. Where thresholds alone decide nothing is timed, and nothing added up.
//!
//! ```text
//! loop_7f00 is due: 8 more back edges are interpreted and timed; then it is recorded
//! ```

use crate::ids::Key;
use crate::pace::{is_broken, mean, usual, Burst};
use crate::tunables::{ARRIVAL, BURST, BURSTS_STARTED, CLOCK_STEPS};
use crate::vm::Vm;

impl Vm {
    /// A back edge of the loop `key`: ends an interval, if its iterations are being timed.
    #[inline]
    pub(crate) fn time_back_edge(&mut self, key: Key, base: *const u8) {
        let Some(burst) = self.timing.burst.as_mut().filter(|burst| burst.key == key) else { return };
        let since = burst.since.take().filter(|_| burst.base == base);
        burst.intervals.extend(since.map(|since| self.timing.ticks.now().wrapping_sub(since)));
        burst.left = burst.left.saturating_sub(1);
        burst.base = base;
    }

    /// Whether iterations of the loop `key` are being timed.
    pub(crate) fn is_pacing(&self, key: Key) -> bool {
        self.timing.burst.as_ref().is_some_and(|burst| burst.key == key)
    }

    /// The interpreter goes on after a back edge of the loop `key`.
    #[inline]
    pub(crate) fn time_iteration(&mut self, key: Key) {
        if let Some(burst) = self.timing.burst.as_mut().filter(|burst| burst.key == key) {
            burst.since = Some(self.timing.ticks.now());
        }
    }

    /// The loop `key` is due: whether some of its iterations are to be timed first.
    pub(crate) fn times_iterations(&mut self, key: Key, base: *const u8) -> bool {
        if !self.budget.is_limited() || u64::from(self.config.threshold) < BURST {
            return false;
        }
        let Some(location) = self.locations.get_mut(&key) else { return false };
        if location.is_entry {
            // What lies between two entries of a function is mostly its callers'.
            return false;
        }
        match self.timing.burst.take() {
            Some(burst) if burst.key == key && burst.left == 0 => {
                location.pace.started = 0;
                // A nanosecond in ticks, at least: where the clock's speed is not known yet nothing is
                // learned.
                let per_ns = self.timing.ticks.ns(1_000).map(|ns| 1_000.0 / ns);
                if let (Some(per_ns), intervals) = (per_ns, burst.intervals) {
                    let is_broken = is_broken(&intervals, (per_ns * CLOCK_STEPS as f64) as u64);
                    let ns = |ticks: f64| (ticks / per_ns - ARRIVAL as f64).max(1.0);
                    let usual = ns(usual(intervals.clone()));
                    if let Some(mean) = mean(intervals) {
                        location.pace.learn(ns(mean), usual, is_broken);
                    }
                }
                false
            }
            Some(burst) if burst.key == key => {
                self.timing.burst = Some(burst);
                true
            }
            others => {
                location.pace.started += 1;
                if location.pace.started > BURSTS_STARTED {
                    location.pace.started = 0;
                    self.timing.burst = others;
                    return false;
                }
                self.timing.burst =
                    Some(Burst { key, base, since: None, left: BURST, intervals: Vec::new() });
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

    thread_local!(static CLOCK: Cell<u64> = const { Cell::new(0) });

    fn host(config: Config) -> Host {
        let mut host = Host::new(config);
        host.vm.budget.stands_at(1_000_000_000);
        host.vm.timing.ticks = Ticks::of_test(|| CLOCK.replace(CLOCK.get() + 100));
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
        assert!(host.vm.timing.burst.is_none());
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
