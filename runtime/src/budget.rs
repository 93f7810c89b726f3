//! How much time compiling may take.
//!
//! Problem: compiling a trace takes as long as interpreting ten thousand iterations of a small loop.
//! Thresholds that suit a program of a second make one of ten milliseconds twice as slow, and back edges are
//! a poor measure of the work that has been done: one stands for ten nanoseconds here and for ten
//! microseconds there. And a program of many small loops, whose code saves nothing, would be compiled for
//! ever. Design: thresholds say *which* loops and exits are hot; *when* they are recorded follows from the
//! thread's processor time. Recording and compiling, failed attempts included, may take the share
//! [`Config::compile_share`](crate::Config) of the time that a young program has run. Later they have to be
//! earned: they may take twice what code is believed to have saved ([`crate::pay`]), and a small share that
//! depends on how what was spent compares with what it has gained. What is hot before there is time for it is
//! put off until there may be. What a recording costs is expected of its operations once it is there, and of
//! the average before: recording is cheap, so one that turns out too long is thrown away, and its place knows
//! its price from then on. A loop need not wait for its share any more once interpreting it has cost what its
//! code would have saved: rent or buy. The rules are pure functions of [`crate::policy`]. Invariant:
//! compiling takes no more than its share or what it would have saved, but for what a trace takes longer than
//! expected; the clock is read only where a recording begins and ends and around compilation, and nothing but
//! what is compiled and entered depends on it. A young program counts as older if its counted loops say that
//! it will run on for long ([`crate::foresight`]), and may spend a larger share of that age. What is dear is
//! bought in this way only if it should pay in the time to come ([`policy::pays_ahead`]). An old one may
//! spend what it has not earned, from time to time ([`crate::venture`]).
//!
//! ```text
//! share 3 %:  run 5 ms, spent 0        put off: a small first trace should take 1.9 ms, so 57 ms are missing
//!             run 62 ms, spent 0       record: 23 operations, 2 ms, for which 4 ms are missing; put off
//!             run 67 ms, spent 0       record and compile; it takes 1.4 ms, so much is expected of the next
//!             run 6 ms, 330,000 back edges of the loop with 23 operations: its code would have paid for
//!                                      itself; compile
//!             run 500 ms, spent 9 ms, gained 0: 3 % of what comes, and less each time
//!                                      gained 90 ms: 6 %, and 180 ms at once
//! ```

use crate::foresight::Foresight;
use crate::policy::{self, Account, Rent};
use crate::stats::Time;
use crate::tunables::{
    ATTEMPT, COMPILED_OP, DOUBT, FIRST_TRACE, FORESEEN_PRICE, FORESEEN_SHARE, FULL_AGAIN, KNOWN_OPS,
    LOST_AHEAD, RECORDED_OP, SMALL_LOOP,
};
use crate::venture::{Balance, Turn, Ventures};

/// Looks at ventures for each reading of the clock.
const LOOKS_PER_CLOCK: u32 = 64;

/// The account of one VM, in nanoseconds of processor time. So many fields: each is a sum of its own.
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
    /// What code has saved, less what entering it has cost.
    gained: f64,
    /// What of that may be believed: see [`Budget::gain`].
    believed: f64,
    /// How far the program was when the recording began that is going on.
    recording_since: u64,
    /// Traces that the code generator was asked for, even in vain; their operations as recorded, and the time
    /// that these took.
    compiled: u64,
    ops: u64,
    compiling: u64,
    /// Making code once more, of traces that had some.
    again: u64,
    /// What recordings took.
    recording: u64,
    refused: Option<Refusal>,
    /// What counted loops have to come.
    pub foresight: Foresight,
    /// How useful the code was lately that has to make room for new code; 0: there is room.
    pub displaces: u64,
    /// When code is bought whatever it has gained.
    pub ventures: Ventures,
    /// How often it was asked whether that begins, or is over.
    looks: u32,
}

/// What is to be compiled, as far as its price goes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Order {
    /// Operations as recorded; 0 if nobody knows.
    pub ops: u64,
    /// It counts as if it cost so many times its price: see [`policy::dearer`].
    pub dearer: f64,
}

impl Default for Order {
    fn default() -> Order {
        Order::of(0)
    }
}

impl Order {
    /// So many operations, of which nothing else is known.
    pub fn of(ops: u64) -> Order {
        Order { ops, dearer: 1.0 }
    }
}

/// A recording that was too long for the time that there was.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Refusal {
    pub order: Order,
    /// How long the program must run on before it may be compiled.
    pub missing: u64,
}

impl Budget {
    pub fn new(share: Option<u32>) -> Budget {
        Budget {
            share,
            clock: thread_time,
            last: thread_time(),
            ran: 0,
            spent: 0,
            gained: 0.0,
            believed: 0.0,
            recording_since: 0,
            compiled: 0,
            ops: 0,
            compiling: 0,
            again: 0,
            recording: 0,
            refused: None,
            foresight: Foresight::default(),
            displaces: 0,
            ventures: Ventures::default(),
            looks: 0,
        }
    }

    /// Whether time is limited at all; else the thresholds alone decide.
    pub fn is_limited(&self) -> bool {
        self.share.is_some()
    }

    /// Entries of code have saved so many nanoseconds, or lost them, and took so many. What the interpreter
    /// would have taken is an estimate, so that not all of a gain is believed where it is small beside what
    /// the code itself takes.
    pub fn gain(&mut self, ns: f64, took: f64) {
        self.gained += ns;
        self.believed += Budget::believed(ns, took);
    }

    /// What may be believed of a gain of code that took so long.
    pub fn believed(gain: f64, took: f64) -> f64 {
        gain - took * DOUBT as f64 / 100.0
    }

    /// Whether compiling has taken no more than this, a quarter of the program's time and twice what it has
    /// gained: so far hints are followed.
    pub fn is_within(&self, ns: u64) -> bool {
        let gained = self.believed.max(0.0) as u64;
        self.spent <= ns.saturating_add(self.ran / 4).saturating_add(2 * gained)
    }

    /// Entries of code have lost so much while what they lack was being made, as later ones will not.
    pub fn lose_for_now(&mut self, ns: f64) {
        self.gained += ns;
    }

    fn account(&self) -> Account {
        Account { ran: self.age(), spent: self.spent, gained: self.believed.max(0.0) as u64 }
    }

    /// How old the program counts as. Who is believed to have lost much gets no more code for what its
    /// counted loops have to come.
    fn age(&self) -> u64 {
        match self.believed < -(LOST_AHEAD as f64) {
            true => self.ran,
            false => self.foresight.age(self.ran),
        }
    }

    /// How long the program must run on before a recording may begin; `None` if it may now.
    pub fn wait(&mut self, order: Order, rent: Rent) -> Option<u64> {
        self.share?;
        self.read_clock();
        self.missing(self.to_come(order, rent), order.ops, rent)
    }

    /// What recording and compiling it are expected to take.
    fn to_come(&self, order: Order, rent: Rent) -> u64 {
        let first = if self.recording == 0 { policy::first_recording(self.ran, rent) } else { 0 };
        self.expected(order).saturating_add(recording(order.ops)).saturating_add(first)
    }

    /// Whether the host is to say what its counted loops have to come, and notes that it is asked.
    pub fn asks(&mut self) -> bool {
        let asks = self.is_limited() && self.foresight.is_due(self.ran);
        if asks {
            self.foresight.was_asked(self.ran);
        }
        asks
    }

    /// The counted loop at this place has so many iterations to come.
    pub fn foresee(&mut self, place: usize, left: u64) {
        self.foresight.sees(place, left, self.ran);
    }

    /// Whether a venture begins, or is over. The clock is read at some looks only.
    pub fn look_for_venture(&mut self) -> Turn {
        if !self.is_limited() {
            return Turn::None;
        }
        self.looks = self.looks.wrapping_add(1);
        if self.looks.is_multiple_of(LOOKS_PER_CLOCK) {
            self.read_clock();
        }
        self.ventures.look(Balance { ran: self.ran, spent: self.spent, gained: self.believed })
    }

    /// How long the program must run on before it may spend so much, on code of so many operations. What is
    /// dear is bought for what is to come only if it should pay in that time.
    fn missing(&self, expected: u64, ops: u64, rent: Rent) -> Option<u64> {
        if self.ventures.covers(expected) {
            return (self.displaces > 0).then_some(FULL_AGAIN);
        }
        let account = self.account();
        let is_ahead = account.ran > self.ran
            && (expected <= FORESEEN_PRICE || policy::pays_ahead(self.ran, account.ran, expected, ops, rent));
        let (ran, times) = if is_ahead { (account.ran, FORESEEN_SHARE as u32) } else { (self.ran, 1) };
        let account = Account { ran, ..account };
        let missing = policy::missing(account, self.share?.saturating_mul(times), expected);
        // What other code gives way to must have paid in advance.
        missing.or((self.displaces > 0).then_some(FULL_AGAIN))
    }

    /// What compiling is expected to take, as far as it has to be there.
    fn expected(&self, order: Order) -> u64 {
        let ops = order.ops;
        let price = match (ops, self.compiled) {
            (0, 0) => FIRST_TRACE + SMALL_LOOP * COMPILED_OP,
            (_, 0) => FIRST_TRACE.saturating_add(ops.saturating_mul(COMPILED_OP)),
            (0, compiled) => self.spent / compiled,
            _ => ops.saturating_mul(self.compiled_op()),
        };
        (price as f64 * order.dearer) as u64
    }

    /// The price of an operation in nanoseconds: a mean of what was compiled so far and of some operations at
    /// the usual price. What the first trace takes once for all does not count.
    fn compiled_op(&self) -> u64 {
        let took = self.compiling.saturating_sub(FIRST_TRACE);
        (took + KNOWN_OPS * COMPILED_OP) / (self.ops + KNOWN_OPS)
    }

    /// How many more back edges a loop must take, until interpreting them has cost what compiling it would
    /// have saved; 0 if it has.
    pub fn back_edges_missing(&self, order: Order, rent: Rent) -> u64 {
        let displaced = policy::displacing(self.displaces, self.ran.saturating_sub(rent.since));
        let rent = Rent { displaced, ..rent };
        let price = self.to_come(order, rent);
        policy::back_edges_missing(self.account(), price, order.ops, rent)
    }

    /// Whether code would have gained so many times its price, had it been there for all these back edges.
    pub fn would_have_gained(&self, order: Order, rent: Rent, times: u64) -> bool {
        let price = self.expected(order).saturating_add(recording(order.ops));
        policy::would_have_gained(order.ops, rent) >= times as f64 * price as f64
    }

    /// Whether what was recorded, and is paid for as far as that goes, may be compiled now, after so
    /// many back edges or exits.
    pub fn affords(&mut self, order: Order, rent: Rent) -> bool {
        self.read_clock();
        // Who was asked to record because there was time for it is not refused for what recording took.
        let expected = self.expected(order);
        let missing = self.missing(expected - expected / 10, order.ops, rent);
        let refusal = missing.map(|missing| Refusal { order, missing });
        let rent = Rent { back_edges: rent.back_edges + rent.back_edges / 10, ..rent };
        self.refused = refusal.filter(|_| rent.back_edges == 0 || self.back_edges_missing(order, rent) > 0);
        self.refused.is_none()
    }

    /// What was refused last.
    pub fn refusal(&mut self) -> Option<Refusal> {
        self.refused.take()
    }

    /// Processor time of the program so far, what compiling took included.
    pub fn ran_until_now(&mut self) -> u64 {
        self.read_clock();
        self.ran
    }

    /// Where the program's time went, of which so many nanoseconds passed in compiled code.
    pub fn time(&self, machine_ns: f64) -> Time {
        let ran = self.ran + (self.clock)().saturating_sub(self.last);
        let seconds = |ns: u64| ns as f64 / 1e9;
        Time {
            program: seconds(ran),
            machine: machine_ns / 1e9,
            machine_share: machine_ns / ran.max(1) as f64,
            saved: self.gained / 1e9,
            recording: seconds(self.recording),
            compiling: seconds(self.compiling + self.again),
        }
    }

    /// A recording begins.
    pub fn begin_recording(&mut self) {
        self.recording_since = self.ran_until_now();
    }

    /// It has ended with so many operations; it remains to be seen whether code comes of it. What a function
    /// took that was called meanwhile is not recording: no more counts than recordings of this length take.
    pub fn recorded(&mut self, ops: usize) {
        let elapsed = self.ran_until_now().saturating_sub(self.recording_since);
        let took = elapsed.min(4 * recording(ops as u64));
        self.recording += took;
        self.spent += took;
    }

    /// Compilation begins.
    pub fn begin(&mut self) {
        self.read_clock();
    }

    /// Compilation that began last has ended. Returns what it took.
    pub fn end(&mut self, ops: u64) -> u64 {
        let elapsed = self.read_clock();
        self.spent += elapsed;
        self.compiling += elapsed;
        self.compiled += 1;
        self.ops += ops;
        elapsed
    }

    /// The same was done on another thread, and took so much of its time.
    pub fn end_elsewhere(&mut self, ns: u64, ops: u64) {
        self.ran += ns;
        self.spent += ns;
        self.compiling += ns;
        self.compiled += 1;
        self.ops += ops;
    }

    /// So many of the nanoseconds that have passed since the clock was read last count as none of the
    /// program's: they were spent on looking at it, which is not to change what is compiled.
    pub fn leave_out(&mut self, ns: u64) {
        let now = (self.clock)();
        self.last = now.min(self.last.saturating_add(ns)).max(self.last);
    }

    /// Code was made once more on another thread.
    pub fn end_again_elsewhere(&mut self, ns: u64) {
        self.ran += ns;
        self.spent += ns;
        self.again += ns;
    }

    /// The same for code that was made once more: it says nothing of what new code takes.
    pub fn end_again(&mut self) -> u64 {
        let elapsed = self.read_clock();
        self.spent += elapsed;
        self.again += elapsed;
        elapsed
    }

    /// Time since the clock was last read. A VM that moves to another thread finds another clock there, which
    /// may be behind.
    fn read_clock(&mut self) -> u64 {
        let now = (self.clock)();
        let elapsed = now.saturating_sub(self.last);
        self.last = now;
        self.ran += elapsed;
        elapsed
    }
}

/// For tests, in which the same happens each time.
#[cfg(test)]
impl Budget {
    /// The clock stands, when the program has run so long, and something was recorded; it does not venture.
    pub fn stands_at(&mut self, ran: u64) {
        (self.clock, self.last, self.ran, self.recording) = (|| 0, 0, ran, 1);
        self.ventures = Ventures::never();
    }
}

/// What it takes to record so many operations.
fn recording(ops: u64) -> u64 {
    ATTEMPT.saturating_add(ops.saturating_mul(RECORDED_OP))
}

/// Processor time of this thread in nanoseconds.
pub(crate) fn thread_time() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the place for the answer is valid; should there be no such clock, it stays zero, and nothing is
    // recorded.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tunables::FIRST_VENTURE;

    const MS: u64 = 1_000_000;

    /// So many back edges, of which nothing else is known.
    fn edges(back_edges: u64) -> Rent {
        Rent { back_edges, ..Rent::default() }
    }

    /// A program that has run so long, of which compiling took so much for so many traces of twenty
    /// operations; something was recorded, and its clock stands.
    fn budget(ran: u64, spent: u64, compiled: u64) -> Budget {
        let ops = compiled * 20;
        let mut budget = Budget::new(Some(10));
        budget.stands_at(ran);
        Budget { spent, compiled, compiling: spent, ops, ventures: Ventures::default(), ..budget }
    }

    /// Until something is recorded, whatever comes of it.
    #[test]
    fn the_first_recording_has_a_price_of_its_own() {
        let known = budget(MS, 0, 0);
        let first = Budget { recording: 0, ..budget(MS, 0, 0) };
        let missing = |budget: &Budget| budget.back_edges_missing(Order::of(20), edges(0));
        assert!(missing(&first) > 3 * missing(&known));
        let main = Rent { bytecode: 1.3, ..edges(200_000) };
        assert_eq!(
            [&known, &first].map(|budget| budget.to_come(Order::of(20), main)),
            [known.to_come(Order::of(20), edges(0)); 2]
        );
    }

    #[test]
    fn the_price_follows_from_the_operations() {
        assert_eq!(budget(0, 0, 0).expected(Order::of(10)), FIRST_TRACE + 10 * COMPILED_OP);
        let many = budget(0, 200 * MS + FIRST_TRACE, 200).expected(Order::of(10));
        assert!((485_000..500_000).contains(&many), "20 of 4,000 took 1 ms: {many}");
        let few = budget(0, FIRST_TRACE, 1).expected(Order::of(110));
        assert!((MS / 4..110 * COMPILED_OP).contains(&few), "the first trace's price says little: {few}");
        let mut budget = budget(10 * MS, 0, 0);
        assert!(budget.affords(Order::of(14), edges(0)) && budget.refusal().is_none());
        assert!(!budget.affords(Order::of(114), edges(0)));
        let refusal =
            Refusal { order: Order::of(114), missing: 9 * (FIRST_TRACE + 114 * COMPILED_OP) - 10 * MS };
        assert_eq!((budget.refusal(), budget.refusal()), (Some(refusal), None), "known once");
    }

    #[test]
    fn who_has_lost_much_is_not_trusted_for_what_is_to_come() {
        let mut budget = budget(4 * MS, 0, 0);
        budget.foresight.sees(1, 100, 2 * MS);
        budget.foresight.sees(1, 90, 4 * MS);
        assert_eq!(budget.account().ran, 13 * MS);
        budget.gain(-(LOST_AHEAD as f64), 0.0);
        assert_eq!(budget.account().ran, 13 * MS, "it may still get the side traces that it lacks");
        budget.gain(-1.0, 0.0);
        assert_eq!(budget.account().ran, 4 * MS);
    }

    #[test]
    fn without_a_share_nobody_waits() {
        let mut budget = Budget { share: None, ..budget(0, 0, 0) };
        assert_eq!(
            (budget.wait(Order::of(0), edges(0)), budget.affords(Order::of(1_000_000), edges(0))),
            (None, true)
        );
    }

    /// An attempt that was refused costs time, which must not be the reason why the next one is refused too.
    #[test]
    fn who_has_waited_for_a_price_can_pay_it() {
        let mut budget = budget(8 * MS, 0, 0);
        let record = |budget: &mut Budget| {
            budget.begin_recording();
            budget.ran += recording(114);
            budget.recorded(114);
        };
        record(&mut budget);
        assert!(!budget.affords(Order::of(114), edges(0)));
        budget.ran += budget.wait(Order::of(114), edges(0)).expect("time is missing") + 1;
        assert_eq!(budget.wait(Order::of(114), edges(0)), None);
        record(&mut budget);
        assert!(budget.affords(Order::of(114), edges(0)));
    }

    /// Rent or buy: a loop that has been interpreted for as long as its code would have cost is compiled,
    /// whatever the share.
    #[test]
    fn a_loop_with_many_back_edges_behind_it_pays_for_itself() {
        let mut budget = budget(MS, 0, 0);
        let enough = budget.back_edges_missing(Order::of(20), edges(0));
        assert_eq!(
            (
                budget.back_edges_missing(Order::of(20), edges(enough)),
                budget.back_edges_missing(Order::of(20), edges(enough - 7))
            ),
            (0, 7)
        );
        assert!(
            !budget.affords(Order::of(20), edges(enough * 9 / 10))
                && budget.affords(Order::of(20), edges(enough))
        );
        assert!(budget.refusal().is_none());
        assert!(!budget.affords(Order::of(20), edges(0)), "a side trace");
    }

    /// Where memory is full of useful code no share of the time helps.
    #[test]
    fn who_displaces_useful_code_has_paid_for_that() {
        let mut budget = budget(1_000 * MS, 0, 0);
        budget.displaces = 40 * MS;
        assert_eq!(budget.wait(Order::of(20), edges(0)), Some(FULL_AGAIN));
        let rent = |back_edges| Rent { back_edges, since: 1_000 * MS, ..Rent::default() };
        let usual = Budget { displaces: 0, ..self::budget(1_000 * MS, 0, 0) };
        let usual = usual.back_edges_missing(Order::of(20), rent(0));
        let missing = budget.back_edges_missing(Order::of(20), rent(0));
        assert!(missing > 10 * usual, "{missing} {usual}");
        assert!(budget.affords(Order::of(20), rent(missing)) && !budget.affords(Order::of(20), rent(usual)));
    }

    #[test]
    fn what_code_saves_may_be_spent() {
        let mut budget = budget(100 * MS, 40 * MS, 40);
        assert!(!budget.affords(Order::of(20), edges(0)));
        budget.gain(200e6, 0.0);
        assert!(budget.affords(Order::of(20), edges(0)));
        budget.gain(-194e6, 0.0);
        assert!(!budget.affords(Order::of(20), edges(0)), "entries that lose count as well");
    }

    /// A young program with a loop that goes on for long need not wait until it is old.
    #[test]
    fn who_will_run_for_long_counts_as_older() {
        let mut budget = budget(5 * MS, 0, 0);
        assert!(budget.asks() && !budget.asks(), "once in a while");
        budget.foresee(1, 1000);
        assert!(budget.wait(Order::of(0), edges(100_000)).is_some());
        budget.ran += 2 * MS;
        assert!(budget.asks());
        budget.foresee(1, 990);
        assert_eq!(budget.wait(Order::of(0), edges(100_000)), None, "198 ms to come");
        assert!(budget.wait(Order::of(0), edges(10_000)).is_some(), "its code would not pay by then");
        budget.compiled = 1;
        assert_eq!(budget.wait(Order::of(100), edges(0)), None, "what is cheap need not");
        assert!(budget.wait(Order::of(200), edges(0)).is_some());
        budget.compiled = 0;
        assert_eq!(budget.time(0.0).program, 0.007, "nobody else is told so");
        let mut old = Budget { ran: 100 * MS, ..self::budget(0, 0, 0) };
        assert!(!old.asks() && !Budget { share: None, ..self::budget(5 * MS, 0, 0) }.asks());
        assert_eq!(old.wait(Order::of(0), edges(0)), None);
    }

    /// That a program has run for long says less than that it will.
    #[test]
    fn who_will_run_for_long_may_spend_a_larger_share() {
        let foreseen = |expected: u64| {
            let mut budget = budget(10 * MS, 0, 0);
            budget.foresee(1, 1_000_000);
            budget.ran += 10 * MS;
            budget.foresee(1, 999_000);
            assert_eq!(budget.account().ran, 80 * MS);
            budget.missing(expected, 20, edges(1_000_000_000)).is_none()
        };
        assert!(foreseen(FORESEEN_SHARE * 8 * MS) && !foreseen(FORESEEN_SHARE * 8 * MS + MS));
        let old = budget(80 * MS, 0, 0);
        let missing = |expected| old.missing(expected, 20, edges(0));
        assert!(missing(8 * MS).is_none() && missing(9 * MS).is_some());
    }

    #[test]
    fn failed_attempts_are_paid_for() {
        let mut budget = Budget { clock: || 300_000, recording: 0, ..budget(16 * MS, 0, 0) };
        budget.recording_since = 16 * MS;
        budget.recorded(400);
        assert_eq!((budget.spent, budget.recording), (300_000, 300_000));
        budget.last = 0;
        budget.recording_since = 0;
        budget.recorded(0);
        assert_eq!(budget.spent, 300_000 + 4 * ATTEMPT, "the program was elsewhere meanwhile");
    }

    #[test]
    fn who_ventures_buys_whatever_it_has_gained() {
        let mut budget = budget(2 * FIRST_VENTURE, 0, 0);
        budget.spent = FIRST_VENTURE;
        let dear = Order::of(1_000_000);
        assert!(budget.wait(Order::of(20), Rent::default()).is_some());
        assert_eq!(budget.look_for_venture(), Turn::Begins);
        assert_eq!(budget.wait(Order::of(20), Rent::default()), None);
        assert!(budget.affords(Order::of(20), Rent::default()));
        assert!(budget.wait(dear, Rent::default()).is_some(), "but not all at once");
        budget.displaces = 1;
        assert!(budget.wait(Order::of(20), Rent::default()).is_some(), "useful code makes no room for it");
        assert_eq!(Budget::new(None).look_for_venture(), Turn::None, "nothing is limited");
    }

    #[test]
    fn the_clock_runs_while_we_do() {
        let mut budget = Budget::new(Some(10));
        assert!(budget.wait(Order::of(0), edges(0)).is_some(), "nothing has run");
        let mut rounds = 0u64;
        while budget.wait(Order::of(0), edges(0)).is_some() {
            rounds += 1;
        }
        assert!(
            rounds > 0
                && budget.ran >= 10 * (FIRST_TRACE + SMALL_LOOP * COMPILED_OP)
                && budget.ran < 10_000 * MS,
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
}
