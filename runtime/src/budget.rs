//! How much time compiling may take.
//!
//! Problem: compiling a trace takes as long as interpreting ten thousand iterations of a small loop. Thresholds that suit a
//! program of a second make one of ten milliseconds twice as slow, and back edges are a poor measure of the work that has
//! been done: one stands for ten nanoseconds here and for ten microseconds there. Design: thresholds say *which* loops and
//! exits are hot; *when* they are recorded follows from the thread's processor time. Compiling, failed attempts included, may
//! take the share [`Config::compile_share`](crate::Config) of the time that the program has run, and [`LATER`] times as much of
//! what comes once it is no longer [`YOUNG`]: who has run long will, as a rule, run long. What is hot before there is time for it
//! is put off until there may be. What a recording costs is expected of its operations once it is there, and of the average
//! before: recording is cheap, so one that turns out too long is thrown away, and its place knows its price from then on.
//! A loop need not wait for its share any more once interpreting it has cost what its code would have saved: rent or buy.
//! Invariant: compiling takes no more than its share or what it would have saved, but for what a trace takes longer than expected;
//! the clock is read only where a recording would begin, around compilation and where code rests, and nothing but what is
//! compiled and entered depends on it.
//!
//! ```text
//! share 6 %:  run 5 ms, spent 0        put off: the first trace, if small, is expected to take 1.3 ms, so 17 ms are missing
//!             run 22 ms, spent 0       record: 23 operations, so 1.6 ms are expected, and 5 ms are missing; put off
//!             run 27 ms, spent 0       record and compile; it takes 1.4 ms for 23 operations, so much is expected of the next
//!             run 6 ms, 330,000 back edges of the loop with 23 operations: its code would have paid for itself; compile
//! ```

/// What the first trace takes, in nanoseconds, besides its operations: the code generator is made for it, and its pages are touched.
const FIRST: u64 = 800_000;
/// What an operation takes, as recorded, as long as none was compiled.
const COMPILED_OP: u64 = 35_000;
/// Operations that a loop is expected to have before it is recorded, and before any was.
const SMALL: u64 = 14;
/// A program that has run so many nanoseconds is one that runs long, as far as anyone can tell ...
const YOUNG: u64 = 80_000_000;
/// ... and compiling may take so many times its share of what is yet to come.
const LATER: u64 = 8;
/// What an iteration saves that does not run in the interpreter, in nanoseconds: few save less.
const SAVED: u64 = 5;
/// What recording takes, in nanoseconds per operation.
const RECORDED_OP: u64 = 250;
/// An attempt that failed early took this long all the same.
const ATTEMPT: u64 = 5_000;

/// The account of one VM, in nanoseconds of processor time.
#[derive(Debug)]
pub(crate) struct Budget {
    /// In hundredths; `None` where thresholds alone decide.
    share: Option<u32>,
    /// Processor time of this thread in nanoseconds, but for tests.
    pub clock: fn() -> u64,
    /// The clock when it was last read.
    pub last: u64,
    pub ran: u64,
    pub spent: u64,
    /// Traces that the code generator was asked for, even in vain; their operations as recorded, and the time that these took.
    compiled: u64,
    ops: u64,
    compiling: u64,
    refused: Option<Refusal>,
}

/// A recording that was too long for the time that there was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Refusal {
    /// Its operations.
    pub ops: u64,
    /// How long the program must run on before it may be compiled.
    pub missing: u64,
}

impl Budget {
    pub fn new(share: Option<u32>) -> Budget {
        let share = share.map(|share| share.max(1));
        let (ran, spent, compiled, ops, compiling) = (0, 0, 0, 0, 0);
        Budget {
            share,
            clock: thread_time,
            last: thread_time(),
            ran,
            spent,
            compiled,
            ops,
            compiling,
            refused: None,
        }
    }

    /// How long the program must run on before a recording may begin of what has so many operations (0: nobody knows); `None` if
    /// it may now.
    pub fn wait(&mut self, ops: u64) -> Option<u64> {
        self.share?;
        self.read_clock();
        self.missing(self.expected(ops).saturating_add(recording(ops)))
    }

    fn missing(&self, expected: u64) -> Option<u64> {
        let share = u64::from(self.share?);
        let price = self.spent.saturating_add(expected);
        let at_first = YOUNG * share / 100;
        let needed = if price <= at_first {
            price.saturating_mul(100) / share
        } else {
            YOUNG + (price - at_first).saturating_mul(100) / (share * LATER)
        };
        needed.checked_sub(self.ran).filter(|&missing| missing > 0)
    }

    /// What compiling so many operations is expected to take.
    fn expected(&self, ops: u64) -> u64 {
        match (ops, self.compiled) {
            (0, 0) => FIRST + SMALL * COMPILED_OP,
            (_, 0) => FIRST.saturating_add(ops.saturating_mul(COMPILED_OP)),
            (0, compiled) => self.spent / compiled,
            _ => ops.saturating_mul(self.compiling) / self.ops.max(1),
        }
    }

    /// How many more back edges a loop must take that has taken so many, until interpreting them has cost what compiling it would
    /// have saved; 0 if it has.
    pub fn back_edges_missing(&self, ops: u64, back_edges: u64) -> u64 {
        let price = self.expected(ops).saturating_add(recording(ops));
        price.div_ceil(SAVED).saturating_sub(back_edges)
    }

    /// Whether what was recorded, and is paid for as far as that goes, may be compiled now: a loop with so many back edges behind
    /// it, or a side trace (0).
    pub fn affords(&mut self, ops: u64, back_edges: u64) -> bool {
        self.read_clock();
        let missing = self.missing(self.expected(ops));
        let refusal = missing.map(|missing| Refusal { ops, missing });
        self.refused = refusal.filter(|_| back_edges == 0 || self.back_edges_missing(ops, back_edges) > 0);
        self.refused.is_none()
    }

    /// What was refused last.
    pub fn refusal(&mut self) -> Option<Refusal> {
        self.refused.take()
    }

    /// Nanoseconds that the program had run, what compiling took included, when the clock was read last.
    pub fn ran(&self) -> u64 {
        self.ran
    }

    /// The same now.
    pub fn ran_until_now(&mut self) -> u64 {
        self.read_clock();
        self.ran
    }

    /// Something was recorded; it remains to be seen whether code comes of it.
    pub fn recorded(&mut self, ops: usize) {
        self.spent += recording(ops as u64);
    }

    /// Compilation begins.
    pub fn begin(&mut self) {
        if self.share.is_some() {
            self.read_clock();
        }
    }

    /// Compilation that began last has ended.
    pub fn end(&mut self, ops: u64) {
        if self.share.is_some() {
            let elapsed = self.read_clock();
            self.spent += elapsed;
            self.compiling += elapsed;
            self.compiled += 1;
            self.ops += ops;
        }
    }

    /// Time since the clock was last read. A VM that moves to another thread finds another clock there, which may be behind.
    fn read_clock(&mut self) -> u64 {
        let now = (self.clock)();
        let elapsed = now.saturating_sub(self.last);
        self.last = now;
        self.ran += elapsed;
        elapsed
    }
}

/// What it takes to record so many operations.
fn recording(ops: u64) -> u64 {
    ATTEMPT.saturating_add(ops.saturating_mul(RECORDED_OP))
}

/// Back edges of a loop until it is worth asking again, if so much time is missing, or so many back edges until it pays. Of the
/// fastest loops there are so many in a hundredth of that time, so that asking costs them nothing worth mentioning.
pub(crate) fn back_edges_until(missing: u64, until_it_pays: u64, threshold: u32) -> u64 {
    (missing >> 12).min(until_it_pays).max(u64::from(threshold))
}

/// The same in exits, of which each takes some hundred nanoseconds, and what comes behind it much longer at times.
pub(crate) fn exits_until(missing: u64, threshold: u32) -> u64 {
    (missing >> 15).max(u64::from(threshold))
}

/// Processor time of this thread in nanoseconds.
fn thread_time() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the place for the answer is valid; should there be no such clock, it stays zero, and nothing is recorded.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn budget(ran: u64, spent: u64, compiled: u64) -> Budget {
        Budget { ran, spent, compiled, compiling: spent, ops: compiled * 20, ..Budget::new(Some(10)) }
    }

    #[test]
    fn a_tenth_at_first_and_four_fifths_of_what_comes_later() {
        assert_eq!(budget(6 * MS, 0, 0).missing(MS), Some(4 * MS));
        assert_eq!(budget(10 * MS, 0, 0).missing(MS), None);
        assert_eq!(
            budget(16 * MS, 8 * MS, 8).missing(MS),
            Some(80 * MS + MS * 10 / 8 - 16 * MS),
            "1 of 9 ms comes later"
        );
        assert_eq!(
            budget(1000 * MS, 800 * MS, 800).missing(MS),
            Some(80 * MS + 793 * MS * 10 / 8 - 1000 * MS)
        );
        assert_eq!(Budget { share: None, ..budget(0, 0, 0) }.missing(MS), None, "no limit, no wait");
    }

    #[test]
    fn the_price_follows_from_the_operations() {
        assert_eq!(budget(0, 0, 0).expected(10), FIRST + 10 * COMPILED_OP);
        assert_eq!(budget(0, 8 * MS, 8).expected(10), MS / 2, "20 of them took 1 ms");
        let mut budget = Budget { last: 0, clock: || 0, ..budget(16 * MS, 0, 0) };
        assert!(budget.affords(14, 0) && budget.refusal().is_none());
        assert!(!budget.affords(114, 0));
        let refusal = Refusal { ops: 114, missing: 10 * (FIRST + 114 * COMPILED_OP) - 16 * MS };
        assert_eq!((budget.refusal(), budget.refusal()), (Some(refusal), None), "known once");
    }

    /// An attempt that was refused costs time, which must not be the reason why the next one is refused too.
    #[test]
    fn who_has_waited_for_a_price_can_pay_it() {
        let mut budget = Budget { last: 0, clock: || 0, ..budget(16 * MS, 0, 0) };
        budget.recorded(114);
        assert!(!budget.affords(114, 0));
        budget.ran += budget.wait(114).expect("time is missing");
        assert_eq!(budget.wait(114), None);
        budget.recorded(114);
        assert!(budget.affords(114, 0));
    }

    /// Rent or buy: a loop that has been interpreted for as long as its code would have cost is compiled, whatever the share.
    #[test]
    fn a_loop_with_many_back_edges_behind_it_pays_for_itself() {
        let mut budget = Budget { last: 0, clock: || 0, ..budget(MS, 0, 0) };
        let enough = (FIRST + 20 * COMPILED_OP + recording(20)) / SAVED;
        assert_eq!(
            (budget.back_edges_missing(20, enough), budget.back_edges_missing(20, enough - 7)),
            (0, 7)
        );
        assert!(!budget.affords(20, enough - 7) && budget.affords(20, enough));
        assert!(budget.refusal().is_none());
        assert!(!budget.affords(20, 0), "a side trace");
    }

    #[test]
    fn failed_attempts_are_paid_for() {
        let mut budget = budget(16 * MS, 0, 0);
        budget.recorded(400);
        assert_eq!((budget.spent, budget.missing(16 * MS / 10)), (105_000, Some(1_050_000)));
    }

    #[test]
    fn the_clock_runs_while_we_do() {
        let mut budget = Budget::new(Some(10));
        assert!(budget.wait(0).is_some(), "nothing has run");
        let mut rounds = 0u64;
        while budget.wait(0).is_some() {
            rounds += 1;
        }
        assert!(
            rounds > 0 && budget.ran >= 10 * (FIRST + SMALL * COMPILED_OP) && budget.ran < 10_000 * MS,
            "{budget:?}"
        );
        budget.begin();
        let before = budget.ran;
        while budget.ran < before + MS {
            budget.read_clock();
        }
        let spent = budget.spent;
        budget.begin();
        budget.end(20);
        assert!(budget.compiled == 1 && budget.spent >= spent && budget.spent < 5 * MS, "{budget:?}");
    }

    #[test]
    fn asking_is_rare_and_never_below_the_threshold() {
        assert_eq!((back_edges_until(10 * MS, 3000, 200), exits_until(10 * MS, 30)), (2441, 305));
        assert_eq!((back_edges_until(1, 3000, 200), exits_until(1, 30)), (200, 30));
        assert_eq!((back_edges_until(10 * MS, 1000, 200), back_edges_until(10 * MS, 10, 200)), (1000, 200));
    }
}
