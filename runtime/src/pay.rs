//! What is known of a loop's entries: whether its code pays.
//!
//! Problem: entering code and leaving it costs as much as interpreting some dozen bytecodes, and a single
//! entry says little: the first ones find cold caches, and a long one makes up for many short ones. Design:
//! some entries are timed, each a [`Sample`]; a [`Pay`] sums up what they have gained, and comes to a verdict
//! after a number of them. Code that pays is asked more seldom from then on. Who times entries, and what
//! becomes of code that does not pay, is `sampling.rs`. Invariant: a verdict rests on samples of one time:
//! new code, or a new trial, begins anew.
//!
//! ```text
//! 3 cold entries, then 48 that gain -54 ns each: the code loses.  One of 4,000 ns among them: it pays
//! ```

use crate::ids::Key;
use crate::tunables::{
    CALLS_PER_TIMED, COLD_SAMPLES, FIRST_SAMPLES, LATER_SAMPLES, LONG_ENTRY, SAMPLE_STRIDE, TRIAL,
    VENTURE_TRIAL, WAKE_SAMPLES,
};

/// What is known of a loop's entries.
#[derive(Debug, Default)]
pub(crate) struct Pay {
    /// Entries, and refusals to enter, since the last judgement began.
    entries: u64,
    /// Timed ones of these, their nanoseconds, and what they have gained.
    samples: u64,
    ns: f64,
    gain: f64,
    /// What all entries have lost since there was new code, in nanoseconds.
    lost: f64,
    /// Timed entries that are still to be passed over.
    cold: u64,
    /// Timed entries until the next judgement.
    until: u64,
    /// One entry of so many is timed.
    pub stride: u64,
    /// Rests in a row.
    pub times: u32,
    /// All timed entries, and their nanoseconds.
    all: (u64, f64),
}

/// What a judgement comes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// Not enough is known.
    Open,
    /// The code goes on being entered.
    Pays,
    /// It is better interpreted.
    Loses,
}

impl Pay {
    /// There is new code, at the loop's head or after one of its exits: its entries are timed anew.
    pub fn begin(&mut self) {
        let (cold, until, stride) = (COLD_SAMPLES, FIRST_SAMPLES, 1);
        *self = Pay { cold, until, stride, times: self.times, all: self.all, ..Pay::default() };
    }

    /// It is tried again.
    pub fn wake(&mut self) {
        self.begin();
        self.lost = TRIAL as f64;
        self.until = WAKE_SAMPLES;
    }

    /// Whether it may go on losing for now: it may still lack side traces. While the program ventures it may
    /// lose more.
    pub fn is_on_trial(&self, ventures: bool) -> bool {
        self.lost < if ventures { VENTURE_TRIAL } else { TRIAL } as f64
    }

    /// Nanoseconds of an entry, in the mean of all that were timed.
    pub fn ns_per_entry(&self) -> Option<f64> {
        (self.all.0 > 0).then(|| self.all.1 / self.all.0 as f64)
    }

    /// One more entry: whether it is timed.
    pub fn enters(&mut self) -> bool {
        self.entries += 1;
        self.entries.is_multiple_of(self.stride.max(1))
    }

    /// How many entries come before the next one that is timed. They count as made.
    pub fn pass_until_timed(&mut self) -> u32 {
        let stride = self.stride.max(1);
        let left = stride - 1 - self.entries % stride;
        self.entries += left;
        left as u32
    }

    /// So many of them were not made.
    pub fn did_not_pass(&mut self, entries: u32) {
        self.entries = self.entries.saturating_sub(u64::from(entries));
    }

    /// A timed entry took so long, and has gained so much.
    pub fn add(&mut self, ns: f64, gain: f64) -> Verdict {
        self.all = (self.all.0 + 1, self.all.1 + ns);
        if self.cold > 0 {
            self.cold -= 1;
            return Verdict::Open;
        }
        self.samples += 1;
        self.lost = (self.lost - gain * self.stride.max(1) as f64).max(0.0);
        self.ns += ns;
        self.gain += gain;
        self.judge()
    }

    fn judge(&mut self) -> Verdict {
        if self.samples < self.until {
            return Verdict::Open;
        }
        if self.gain < 0.0 {
            return Verdict::Loses;
        }
        self.times = self.times.saturating_sub(1);
        self.goes_on();
        Verdict::Pays
    }

    /// The code goes on being entered, and fewer entries are timed.
    pub fn goes_on(&mut self) {
        let mean = self.ns / self.samples as f64;
        let stride = if mean >= LONG_ENTRY as f64 { 1 } else { SAMPLE_STRIDE };
        let (until, times) = (LATER_SAMPLES, self.times);
        *self = Pay { until, stride, times, all: self.all, lost: self.lost, ..Pay::default() };
    }
}

/// An entry that is timed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub key: Key,
    pub saved_per_ns: f64,
    pub start: u64,
    /// At the last exit; before the first one: the start.
    pub end: u64,
    /// What had been replaced at the start: see [`crate::pace`].
    pub replaced: u64,
    /// Whether the code adds up what it replaces.
    pub adds_up: bool,
    /// Whether that contains what functions of the host take.
    pub is_timed: bool,
    /// What the last exit has left unfinished, which the code has not added up: in nanoseconds of the
    /// interpreter.
    pub partial: f64,
    /// Ticks in functions of the host that the code has called.
    pub elsewhere: u64,
    /// What code that these have entered has added up meanwhile: it is no part of the entry's gain.
    pub nested: u64,
    /// Calls so far, as far as one was timed for them, and so many for the last timed one.
    pub calls: u64,
    pub stands_for: u64,
    /// Calls of the host that were open when the code was entered.
    pub depth: u32,
}

impl Sample {
    /// A call of the host is timed. It stands for all since the one that was timed before it: the first, the
    /// second, the fourth and so on are. Returns how many calls the next one comes after it.
    pub fn times_call(&mut self) -> u64 {
        let most = CALLS_PER_TIMED;
        self.stands_for = self.calls.clamp(1, most);
        self.calls += self.stands_for;
        self.calls.min(most)
    }

    /// Compiled code was just left, so many nanoseconds of the interpreter's after what it has added up: if
    /// the host goes no further, its time ends here.
    #[inline]
    pub fn left_by(&mut self, partial: f64, now: u64) {
        self.end = now;
        self.partial = partial;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy;

    const SAVES: f64 = 2.0;

    /// So many entries of so many nanoseconds; the last verdict.
    fn add(pay: &mut Pay, count: u64, ns: f64) -> Verdict {
        (0..count).map(|_| pay.add(ns, policy::gain(ns, SAVES))).last().expect("there is one")
    }

    fn fresh() -> Pay {
        let mut pay = Pay::default();
        pay.begin();
        assert_eq!(add(&mut pay, COLD_SAMPLES, 9000.0), Verdict::Open, "cold");
        pay
    }

    #[test]
    fn each_timed_call_stands_for_those_before_it() {
        let mut pay = Sample {
            key: 1,
            saved_per_ns: 1.0,
            start: 0,
            end: 0,
            replaced: 0,
            adds_up: false,
            is_timed: false,
            partial: 0.0,
            elsewhere: 0,
            nested: 0,
            calls: 0,
            stands_for: 0,
            depth: 0,
        };
        let (mut call, mut timed) = (1, Vec::new());
        for _ in 0..8 {
            let next = call + pay.times_call();
            timed.push((call, pay.stands_for));
            assert_eq!(pay.calls, call, "all of them, and no more");
            call = next;
        }
        assert_eq!(timed, [(1, 1), (2, 1), (4, 2), (8, 4), (16, 8), (32, 16), (48, 16), (64, 16)]);
    }

    #[test]
    fn the_mean_of_some_entries_decides() {
        let mut pay = fresh();
        assert_eq!(add(&mut pay, FIRST_SAMPLES - 1, 20.0), Verdict::Open);
        assert_eq!(add(&mut pay, 1, 20.0), Verdict::Loses);
        let mut pay = fresh();
        assert_eq!(add(&mut pay, FIRST_SAMPLES - 1, 20.0), Verdict::Open);
        assert_eq!(add(&mut pay, 1, 4000.0), Verdict::Pays, "a long one makes up for them");
        assert_eq!((pay.stride, pay.until), (SAMPLE_STRIDE, LATER_SAMPLES));
        let timed = (0..10 * SAMPLE_STRIDE).filter(|_| pay.enters()).count();
        assert_eq!(timed, 10);
    }

    #[test]
    fn long_entries_are_all_timed() {
        let mut pay = fresh();
        assert_eq!(add(&mut pay, FIRST_SAMPLES, LONG_ENTRY as f64), Verdict::Pays);
        assert_eq!(pay.stride, 1);
    }
}
