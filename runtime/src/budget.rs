//! How much time compiling may take.
//!
//! Problem: compiling a trace takes as long as interpreting ten thousand iterations of a small loop. Thresholds that suit a
//! program of a second make one of ten milliseconds twice as slow, and back edges are a poor measure of the work that has
//! been done: one stands for ten nanoseconds here and for ten microseconds there. Design: thresholds say *which* loops and
//! exits are hot; *when* they are recorded follows from the thread's processor time. Compiling, failed attempts included, may
//! take the share [`Config::compile_share`](crate::Config) of the time that the program has run, and [`LATER`] times as much of
//! what comes once it is no longer [`YOUNG`]: who has run long will, as a rule, run long. What is hot before there is time for it
//! is put off until there may be. Invariant: compiling takes no more than its share, but for the excess of one trace; the clock is
//! read only where a recording would begin and around compilation, and nothing but what is compiled depends on it.
//!
//! ```text
//! share 10 %:  run 5 ms, spent 0       put off: the first trace is expected to take 2.5 ms, so 20 ms are missing
//!              run 25 ms, spent 0      record; it takes 1.3 ms, so that is expected of the next one too
//!              run 26 ms, spent 1.3    record
//! ```

/// What the first trace is expected to take, in nanoseconds: the code generator is made for it, and its pages are touched.
const FIRST: u64 = 2_500_000;
/// A program that has run so many nanoseconds is one that runs long, as far as anyone can tell ...
const YOUNG: u64 = 80_000_000;
/// ... and compiling may take so many times its share of what is yet to come.
const LATER: u64 = 5;
/// What recording takes, in nanoseconds per operation.
const RECORDED_OP: u64 = 250;
/// An attempt that failed early took this long all the same.
const ATTEMPT: u64 = 5_000;

/// The account of one VM, in nanoseconds of processor time.
#[derive(Debug)]
pub(crate) struct Budget {
    /// In hundredths; `None` where thresholds alone decide.
    share: Option<u32>,
    /// The clock when it was last read.
    last: u64,
    ran: u64,
    spent: u64,
    compiled: u64,
}

impl Budget {
    pub fn new(share: Option<u32>) -> Budget {
        Budget { share: share.map(|share| share.max(1)), last: thread_time(), ran: 0, spent: 0, compiled: 0 }
    }

    /// How long the program must run on before the next recording may begin; `None` if it may now.
    pub fn wait(&mut self) -> Option<u64> {
        self.share?;
        self.read_clock();
        self.missing()
    }

    fn missing(&self) -> Option<u64> {
        let share = u64::from(self.share?);
        let expected = self.spent.checked_div(self.compiled).unwrap_or(FIRST);
        let price = self.spent.saturating_add(expected);
        let at_first = YOUNG * share / 100;
        let needed = if price <= at_first {
            price.saturating_mul(100) / share
        } else {
            YOUNG + (price - at_first).saturating_mul(100) / (share * LATER)
        };
        needed.checked_sub(self.ran).filter(|&missing| missing > 0)
    }

    /// Something was recorded; it remains to be seen whether code comes of it.
    pub fn recorded(&mut self, ops: usize) {
        self.spent += ATTEMPT + ops as u64 * RECORDED_OP;
    }

    /// Compilation begins.
    pub fn begin(&mut self) {
        if self.share.is_some() {
            self.read_clock();
        }
    }

    /// Compilation that began last has ended.
    pub fn end(&mut self, is_compiled: bool) {
        if self.share.is_some() {
            self.spent += self.read_clock();
            self.compiled += u64::from(is_compiled);
        }
    }

    /// Time since the clock was last read. A VM that moves to another thread finds another clock there, which may be behind.
    fn read_clock(&mut self) -> u64 {
        let now = thread_time();
        let elapsed = now.saturating_sub(self.last);
        self.last = now;
        self.ran += elapsed;
        elapsed
    }
}

/// Back edges of a loop until it is worth asking again, if so much time is missing. Of the fastest loops there are so many in a
/// hundredth of that time, so that asking costs them nothing worth mentioning.
pub(crate) fn back_edges_until(missing: u64, threshold: u32) -> u64 {
    (missing >> 12).max(u64::from(threshold))
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
        Budget { ran, spent, compiled, ..Budget::new(Some(10)) }
    }

    #[test]
    fn a_tenth_at_first_and_half_of_what_comes_later() {
        assert_eq!(budget(5 * MS, 0, 0).missing(), Some(20 * MS));
        assert_eq!(budget(25 * MS, 0, 0).missing(), None);
        assert_eq!(budget(16 * MS, 8 * MS / 10, 1).missing(), None);
        assert_eq!(budget(16 * MS, 8 * MS, 8).missing(), Some((80 + 2 - 16) * MS), "1 of 9 ms comes later");
        assert_eq!(budget(1000 * MS, 500 * MS, 500).missing(), Some((80 + 2 * 493 - 1000) * MS));
        assert_eq!(Budget { share: None, ..budget(0, 0, 0) }.missing(), None, "no limit, no wait");
    }

    #[test]
    fn failed_attempts_are_paid_for() {
        let mut budget = budget(25 * MS, 0, 0);
        budget.recorded(400);
        assert_eq!((budget.spent, budget.missing()), (105_000, Some(1_050_000)));
    }

    #[test]
    fn the_clock_runs_while_we_do() {
        let mut budget = Budget::new(Some(10));
        assert!(budget.wait().is_some(), "nothing has run");
        let mut rounds = 0u64;
        while budget.wait().is_some() {
            rounds += 1;
        }
        assert!(rounds > 0 && budget.ran >= 25 * MS && budget.ran < 10_000 * MS, "{budget:?}");
        budget.begin();
        let before = budget.ran;
        while budget.ran < before + MS {
            budget.read_clock();
        }
        let spent = budget.spent;
        budget.begin();
        budget.end(true);
        assert!(budget.compiled == 1 && budget.spent >= spent && budget.spent < 5 * MS, "{budget:?}");
    }

    #[test]
    fn asking_is_rare_and_never_below_the_threshold() {
        assert_eq!((back_edges_until(10 * MS, 200), exits_until(10 * MS, 30)), (2441, 305));
        assert_eq!((back_edges_until(1, 200), exits_until(1, 30)), (200, 30));
    }
}
