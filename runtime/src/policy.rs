//! The policy: what is recorded, compiled and entered, and when.
//!
//! Problem: whether code is worth its price shows only when it runs. A loop may be left after one iteration
//! each time it is entered, a recording may fail for the same reason for ever, and a program may gain nothing
//! at all; then the JIT makes it slower. Design: each location and each exit has *one* state, the enums
//! below. What moves it on is decided here, by pure functions over plain numbers; who asks (`hot.rs`,
//! `side.rs`, `sampling.rs`, `nest.rs`, `budget.rs`) keeps the numbers and does what it is told. The
//! constants stand in one table (`tunables.rs`). Invariant: nothing here reads a clock or touches memory, so
//! each decision has a test.
//!
//! ```text
//!             heat >= threshold           closed                       does not pay
//!  Counting ---------------------> (recording) ------> Compiled ---------------------------> Resting
//!     ^  \                            |                    ^       after so many back edges     |
//!     |   '--> Postponed (no time)    | failed             '--- it is tried again --------------+
//!     |                               v                    '--- again, more seldom --- Retired (has no code)
//!     '------------------------- BackedOff (twice as long for each failure for the same reason)
//! ```

use crate::abort::AbortReason;
use crate::config::Config;
use crate::ids::TraceId;
use crate::pace::Pace;
use crate::tunables::*;
pub use crate::tunables::{Advice, Basis, Tunable, ADVICE, TUNABLES};

/// What has become of a loop head. Back edges are counted from the moment that the state was entered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum LoopState {
    /// It has no code; its back edges are counted up to the threshold.
    #[default]
    Counting,
    /// It is hot, but there is no time for compiling: it asks again after so many back edges.
    Postponed { until: u64 },
    /// Recording it has failed: it is tried again after so many back edges.
    BackedOff { until: u64 },
    /// Its code is entered. Where the slots' types fit no entry, another one is recorded after so many back
    /// edges (0: the threshold).
    Compiled { until: u64 },
    /// Its code did not pay, so often in a row: it is interpreted for so many back edges.
    Resting { until: u64, times: u32 },
    /// The same for ever, as far as anyone can tell: recordings of other loops take it in.
    Retired { until: u64, times: u32 },
}

impl LoopState {
    /// Back edges in this state before something is to be done.
    pub fn until(self, threshold: u32) -> u64 {
        match self {
            LoopState::Counting | LoopState::Compiled { until: 0 } => u64::from(threshold),
            LoopState::Postponed { until }
            | LoopState::BackedOff { until }
            | LoopState::Compiled { until }
            | LoopState::Resting { until, .. }
            | LoopState::Retired { until, .. } => until,
        }
    }

    /// Its name in statistics.
    pub fn name(self) -> &'static str {
        match self {
            LoopState::Counting => "counting",
            LoopState::Postponed { .. } => "postponed",
            LoopState::BackedOff { .. } => "backed off",
            LoopState::Compiled { .. } => "compiled",
            LoopState::Resting { .. } => "resting",
            LoopState::Retired { .. } => "retired",
        }
    }

    /// Whether its code, if it has any, is not entered.
    pub fn is_asleep(self) -> bool {
        matches!(self, LoopState::Resting { .. } | LoopState::Retired { .. })
    }

    /// The state of a loop whose code does not pay, `times` rests after the last time that it did.
    pub fn asleep(times: u32) -> LoopState {
        let until = FIRST_REST << u64::from(times).min(LONGEST_WAIT);
        if u64::from(times) < RESTS_BEFORE_RETIRED {
            LoopState::Resting { until, times }
        } else {
            LoopState::Retired { until, times }
        }
    }
}

/// What has become of an exit as a place where a side trace begins. Its count of exits never starts anew.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SideState {
    /// There is no time for compiling: it asks again at this count. If it was recorded, the recording had so
    /// many operations.
    Postponed { at: u64, ops: u64, failures: u32 },
    /// Recording it has failed so often: it is tried again at this count.
    BackedOff { at: u64, failures: u32 },
    /// The number of the trace that runs after it.
    Compiled(TraceId),
}

impl SideState {
    /// How often recording has failed.
    pub fn failures(self) -> u32 {
        match self {
            SideState::Postponed { failures, .. } | SideState::BackedOff { failures, .. } => failures,
            SideState::Compiled(_) => 0,
        }
    }
}

/// What an exit that was taken so often is to lead to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SideDecision {
    /// Back to the interpreter, until it was taken so often.
    NothingUntil(u64),
    /// To a recording, if there is time: of so many operations, if that is known (else 0).
    Record { ops: u64 },
}

/// How often the threshold of side traces has doubled in a tree of so many, if time is limited or not.
pub(crate) fn crowds(sides: u32, is_limited: bool) -> u64 {
    u64::from(sides) / if is_limited { CROWD } else { CROWD_UNLIMITED }
}

/// Decides what comes after an exit in this state (`None`: it only counts so far) at this count, in a tree
/// with so many crowds of side traces.
pub(crate) fn after_exit(
    state: Option<SideState>,
    count: u64,
    side_threshold: u32,
    crowds: u64,
) -> SideDecision {
    let threshold = u64::from(side_threshold) << crowds.min(16);
    match state {
        // The code follows the link itself: if it came back here, the side trace was not entered.
        Some(SideState::Compiled(_)) => SideDecision::NothingUntil(u64::MAX),
        Some(SideState::Postponed { at, .. } | SideState::BackedOff { at, .. }) if count < at => {
            SideDecision::NothingUntil(at)
        }
        Some(SideState::Postponed { ops, .. }) => SideDecision::Record { ops },
        Some(SideState::BackedOff { .. }) => SideDecision::Record { ops: 0 },
        None if count < threshold => SideDecision::NothingUntil(threshold),
        None => SideDecision::Record { ops: 0 },
    }
}

/// The count at which an exit is tried again that has failed so often, now at `count`.
pub(crate) fn side_backed_off(failures: u32, count: u64, side_threshold: u32) -> SideState {
    let wait = u64::from(side_threshold).max(LEAST_SIDE_BACK_OFF) << failures.min(MOST_SIDE_FAILURES as u32);
    let is_over = u64::from(failures) >= MOST_SIDE_FAILURES;
    SideState::BackedOff { at: if is_over { u64::MAX } else { count.saturating_add(wait) }, failures }
}

/// Failed attempts of one location, by reason: each reason backs off on its own, so that a loop which fails
/// for another reason, since the program has moved on, is soon tried again, and one that always fails for the
/// same is tried ever more seldom.
#[derive(Debug, Default)]
pub(crate) struct Attempts {
    by_reason: Vec<(AbortReason, u32)>,
    /// All that were given up, those that are forgiven among them.
    pub total: u32,
}

impl Attempts {
    /// One more failure: back edges until the next attempt.
    pub fn fail(&mut self, reason: &AbortReason, threshold: u32) -> u64 {
        let index = self.by_reason.iter().position(|(known, _)| known == reason).unwrap_or_else(|| {
            self.by_reason.push((reason.clone(), 0));
            self.by_reason.len() - 1
        });
        let failures = &mut self.by_reason[index].1;
        let usual = back_off(*failures, threshold);
        let wait = match reason {
            AbortReason::ShortFunction => usual.saturating_mul(SHORT_FUNCTION),
            _ => usual,
        };
        *failures += 1;
        self.total = self.total.saturating_add(1);
        wait
    }

    /// How often it has failed for the reason that was the most frequent one. Who was left to another loop
    /// has not failed, nor who was not recorded at all, nor whose recording was thrown away by lot.
    pub fn for_one_reason(&self) -> u32 {
        use AbortReason::{Declined, Discarded, FewIterations};
        let counts = |reason: &AbortReason| !matches!(reason, FewIterations | Declined | Discarded);
        self.by_reason.iter().filter(|(reason, _)| counts(reason)).map(|&(_, count)| count).max().unwrap_or(0)
    }

    /// An attempt succeeded, or what stood in its way is gone.
    pub fn forgive(&mut self) {
        self.by_reason.clear();
    }
}

/// Back edges until the next attempt of a loop that has failed so often before for the same reason.
pub(crate) fn back_off(failures: u32, threshold: u32) -> u64 {
    let doublings = u64::from(failures.saturating_add(1)).min(LONGEST_WAIT);
    u64::from(threshold).max(LEAST_BACK_OFF).saturating_mul(1 << doublings)
}

/// Back edges until a loop may be recorded again whose code was evicted so often.
pub(crate) fn after_eviction(evictions: u32, threshold: u32) -> u64 {
    let doublings = u64::from(evictions).min(LONGEST_WAIT);
    u64::from(threshold).max(LEAST_BACK_OFF).saturating_mul(1 << doublings)
}

/// What a trace does once through, as far as it tells how long that takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Work {
    /// Bytecodes of the interpreter, or operations of machine code.
    pub steps: u64,
    /// Calls of functions that became part of the trace.
    pub inlined: u64,
    /// Calls of the host.
    pub calls: u64,
    /// Objects made.
    pub objects: u64,
}

/// What a step takes, and a call beyond its steps, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Prices {
    step: f64,
    call: f64,
}

impl Prices {
    /// A host that interprets, and says what that takes.
    pub fn of_interpreter(config: &Config) -> Prices {
        Prices { step: f64::from(config.step_price) / 10.0, call: f64::from(config.call_price) }
    }

    /// A host whose functions have code of its own.
    pub const HOST_CODE: Prices =
        Prices { step: HOST_CODE_BYTECODE as f64 / 10.0, call: HOST_CODE_CALL as f64 };
    /// What is left of a trace.
    const NATIVE: Prices = Prices { step: NATIVE_OP as f64 / 100.0, call: INLINED_CALL as f64 };

    /// What a bytecode takes, in nanoseconds.
    pub fn bytecode(self) -> f64 {
        self.step
    }
}

impl Work {
    /// Nanoseconds.
    pub fn ns(self, prices: Prices) -> f64 {
        let rest = self.calls * HOST_CALL + self.objects * NEW_OBJECT;
        self.steps as f64 * prices.step + self.inlined as f64 * prices.call + rest as f64
    }
}

/// How many times its price has to be there for a loop of which `work` was recorded, and whose iterations
/// were timed. Where these take much longer than what was recorded they go other ways, or most of the time
/// passes in functions of the host, and code for this way gains little. Where they all take the same and call
/// nothing it is the bytecodes that are slow.
pub(crate) fn dearer(work: Work, prices: Prices, pace: &Pace) -> f64 {
    let Some(usual) = pace.usual().filter(|_| pace.is_broken() || work.calls > 0) else { return 1.0 };
    let covered = work.ns(prices) / usual.max(1.0) * 100.0 / COVERED as f64;
    covered.clamp(1.0 / MOST_DEAR as f64, 1.0).powi(-2)
}

/// What a nanosecond in this code saves, in nanoseconds: what the interpreter would take over what machine
/// code takes for what is left, less that itself. An estimate, between 0.2 and twelve.
pub(crate) fn saved_per_ns(interpreted: f64, left: Work) -> f64 {
    let native = left.ns(Prices::NATIVE).max(0.1);
    ((interpreted - native) / native).clamp(0.2, 12.0)
}

/// What the interpreter takes for what a trace does, in nanoseconds: for what came before it since its loop's
/// head, and for the trace itself.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Replaced {
    pub before: f64,
    pub whole: f64,
    /// Whether iterations were timed: then this contains what functions of the host take in them.
    pub is_timed: bool,
}

impl Replaced {
    /// A root. Where the loop's iterations were timed in the interpreter, that counts; but if it was left
    /// meanwhile only what is less than bytecodes take as a rule. Where the trace calls the host, and takes
    /// far less than the iterations did, the rest passes in the calls, where it passes still.
    pub fn root(work: Work, prices: Prices, pace: Option<&Pace>, calls_host: bool) -> Replaced {
        let model = work.ns(prices);
        // The clock is too coarse for the shortest iterations.
        let least = model * LEAST_TIMED as f64 / 100.0;
        let timed = |pace: &Pace| Some((pace.ns()?.max(least), pace.is_broken()));
        let (whole, is_timed) = match pace.and_then(timed) {
            Some((ns, false)) if calls_host && ns > model * ELSEWHERE as f64 / 10.0 => (model, false),
            Some((ns, false)) => (ns, true),
            Some((ns, true)) => (model.min(ns), true),
            None => (model, false),
        };
        Replaced { before: 0.0, whole, is_timed }
    }

    /// The side trace that begins when so much of this trace is over, 0 to 1.
    pub fn side(self, progress: f32, work: Work, prices: Prices) -> Replaced {
        Replaced { before: self.at(progress), whole: work.ns(prices), ..self }
    }

    /// What is replaced when so much of the trace is over, 0 to 1.
    pub fn at(self, progress: f32) -> f64 {
        self.before + self.whole * f64::from(progress)
    }
}

/// What an entry gains, or loses (below 0), in nanoseconds, that takes so long and saves so much per
/// nanosecond.
pub(crate) fn gain(ns: f64, saved_per_ns: f64) -> f64 {
    (ns - GLUE as f64).max(0.0) * saved_per_ns - ENTRY_COST as f64
}

/// The same, where it was measured what the interpreter takes for what it replaces.
pub(crate) fn measured_gain(ns: f64, replaced: f64) -> f64 {
    replaced - (ns - GLUE as f64).max(0.0) - ENTRY_COST as f64
}

/// What a program has run, what compiling has taken of that, and what code has saved: nanoseconds.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Account {
    pub ran: u64,
    pub spent: u64,
    pub gained: u64,
}

/// How far compiling is trusted, by what it has gained: 0 to 1.
fn trust(account: Account) -> f64 {
    let [gained, spent, credit] = [account.gained, account.spent, CREDIT].map(|ns| ns as f64);
    ((gained + credit) / (spent + credit)).clamp(LEAST_TRUST as f64 / 100.0, 1.0)
}

/// How long the program must run on until so much more may be spent, if it gains nothing meanwhile; `None` if
/// it may be now. `share` is in hundredths.
pub(crate) fn missing(account: Account, share: u32, expected: u64) -> Option<u64> {
    let price = account.spent.saturating_add(expected) as f64;
    let share = f64::from(share.max(1)) / 100.0;
    let later = LATER_SHARE as f64 / 100.0 * trust(account);
    let reinvested = account.gained as f64 * REINVESTED as f64 / 100.0;
    let at_first = YOUNG as f64 * share;
    let to_earn = (price - reinvested).max(0.0);
    let needed =
        if to_earn <= at_first { to_earn / share } else { YOUNG as f64 + (to_earn - at_first) / later };
    let missing = needed - account.ran as f64;
    (missing >= 1.0).then(|| missing.min(1e18) as u64)
}

/// What there is to say of the back edges of a loop, or of the exits at one place, that the program has taken
/// in the interpreter.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Rent {
    /// How many.
    pub back_edges: u64,
    /// What an iteration of the loop was seen to take, in nanoseconds; 0 if nobody knows.
    pub ns: f64,
    /// What a bytecode takes, in nanoseconds; 0 if nobody knows.
    pub bytecode: f64,
    /// How old the program was when counting them began.
    pub since: u64,
    /// What the code must gain beside its price, as other code makes room for it: see [`displacing`].
    pub displaced: u64,
}

/// What new code must gain beside its price so that other code makes room for it that has gained so much
/// lately: twice as much in the same time, or both would be exchanged for ever. Its place was interpreted for
/// so long.
pub(crate) fn displacing(useful: u64, elapsed: u64) -> u64 {
    // In what is left of old scores, all of the past counts as much as so long a time.
    let window = USEFUL_FOR as f64 / std::f64::consts::LN_2;
    (useful as f64 * 2.0 * (elapsed as f64 / window).max(1.0)) as u64
}

/// What a price counts as in a program that has not run long, where a large loss would show.
fn larger(price: u64) -> u64 {
    let times = (price as f64 / LARGE_PRICE as f64).max(1.0);
    (price as f64 * times * times) as u64
}

/// What is added to the price of a program's first recording, when the program has run for `ran`, in
/// nanoseconds. It is the less, the more of that time has passed in the loop, and 0 for the main loop.
pub(crate) fn first_recording(ran: u64, rent: Rent) -> u64 {
    let ns = rent.ns.max(rent.bytecode * SMALLEST_LOOP as f64);
    let share = rent.back_edges as f64 * ns / ran.max(1) as f64;
    (FIRST_RECORDING as f64 * (1.0 - share * 100.0 / MAIN_LOOP as f64).max(0.0)) as u64
}

/// How many more back edges a loop of so many operations must take (0: nobody knows), until interpreting them
/// has cost what compiling it (`price`) would have saved; 0 if it has. What compiling has lost so far comes
/// on top: a program may lose once to learn that code does not help it, and must have run long when it loses
/// again. A short script counts on nothing that it has not seen, and what is very dear must have cost more
/// than its price, until the program has run long.
pub(crate) fn back_edges_missing(account: Account, price: u64, ops: u64, rent: Rent) -> u64 {
    let lost_share = if account.ran < YOUNG { LOST_SHARE_YOUNG } else { LOST_SHARE };
    let saved_share = if account.ran < SHORT_SCRIPT { 0 } else { SAVED_SHARE };
    let by_operations = (ops.max(SMALL_LOOP) * SAVED_PER_OP) as f64 / 100.0;
    let saved = by_operations.max(rent.ns * saved_share as f64 / 100.0);
    let lost = account.spent.saturating_sub(account.gained) / 100 * lost_share;
    let is_large = price.saturating_mul(LARGE_RUN) > account.ran;
    let price = if is_large { larger(price) } else { price }.saturating_add(rent.displaced);
    ((price.saturating_add(lost) as f64 / saved).ceil() as u64).saturating_sub(rent.back_edges)
}

/// What code of so many operations (0: nobody knows) would have gained over these back edges, in nanoseconds.
pub(crate) fn would_have_gained(ops: u64, rent: Rent) -> f64 {
    let by_operations = (ops.max(SMALL_LOOP) * SAVED_PER_OP) as f64 / 100.0;
    by_operations.max(rent.ns * SAVED_SHARE as f64 / 100.0) * rent.back_edges as f64
}

/// Whether code should gain some times its price in what a program has still to do. The program has run for
/// `ran` and counts as `age` old. In what is to come code should gain as much as it would have gained in the
/// same time so far.
pub(crate) fn pays_ahead(ran: u64, age: u64, price: u64, ops: u64, rent: Rent) -> bool {
    // Of what is to come half counts as age.
    let ahead = 2 * age.saturating_sub(ran);
    would_have_gained(ops, rent) * ahead as f64 / ran.max(1) as f64 >= (FORESEEN_GAIN * price) as f64
}

/// Back edges of a loop until it is worth asking again, if so much time is missing, or so many back edges
/// until it pays. Of the fastest loops there are so many in a hundredth of that time, so that asking costs
/// them nothing worth mentioning.
pub(crate) fn back_edges_until(missing: u64, until_it_pays: u64, threshold: u32) -> u64 {
    (missing >> 12).min(until_it_pays).max(u64::from(threshold))
}

/// The same for a location that has taken so many back edges by now: it does not wait for more than as many
/// again. An estimate made early knows neither how long an iteration takes nor what else will cost or gain:
/// in `nbody_oo` a loop of 1,700 operations was to wait for 27,000 back edges, 60 ms, and asked again after
/// 4,000 it is recorded at once. Each doubling is asked about once, which costs nothing.
pub(crate) fn at_most_twice(wait: u64, taken: u64, threshold: u32) -> u64 {
    wait.min(taken.max(u64::from(threshold)))
}

/// The same in exits, of which each takes some hundred nanoseconds, and what comes after it much longer at
/// times.
pub(crate) fn exits_until(missing: u64, side_threshold: u32) -> u64 {
    (missing >> 15).max(u64::from(side_threshold))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn who_waits_is_asked_at_each_doubling() {
        let (threshold, wait) = (2_000, 27_000);
        let mut taken = u64::from(threshold);
        let mut waits = Vec::new();
        while taken < wait {
            waits.push(at_most_twice(wait, taken, threshold));
            taken += waits[waits.len() - 1];
        }
        assert_eq!(waits, [2_000, 4_000, 8_000, 16_000]);
        assert_eq!(at_most_twice(wait, 100_000, threshold), wait, "never longer than it has to");
        assert_eq!(at_most_twice(wait, 0, threshold), 2_000, "nor at each back edge");
    }

    #[test]
    fn each_reason_backs_off_on_its_own_and_for_good() {
        let mut attempts = Attempts::default();
        assert_eq!(attempts.fail(&AbortReason::Abandoned, 56), 112);
        assert_eq!(attempts.fail(&AbortReason::Abandoned, 56), 224);
        assert_eq!(attempts.fail(&AbortReason::Unstable, 56), 112, "another reason");
        let waits: Vec<u64> = (0..60).map(|_| attempts.fail(&AbortReason::Abandoned, 56)).collect();
        assert!(waits.windows(2).all(|pair| pair[0] <= pair[1]) && waits[59] == 56 << LONGEST_WAIT);
        attempts.forgive();
        assert_eq!(attempts.fail(&AbortReason::Abandoned, 56), 112);
    }

    /// Any threshold that the interface takes works.
    #[test]
    fn no_threshold_is_too_large_to_back_off() {
        for threshold in [1, 65_536, 65_537, u32::MAX] {
            let mut attempts = Attempts::default();
            assert!(
                (0..100).all(|_| attempts.fail(&AbortReason::Abandoned, threshold) >= u64::from(threshold))
            );
            for failures in [0, 1, 16, u32::MAX] {
                let SideState::BackedOff { at, .. } = side_backed_off(failures, u64::MAX - 1, threshold)
                else {
                    panic!("it failed")
                };
                assert_eq!(at, u64::MAX);
            }
        }
    }

    #[test]
    fn exits_are_tried_more_and_more_seldom() {
        assert_eq!(after_exit(None, 29, 30, 0), SideDecision::NothingUntil(30));
        assert_eq!(after_exit(None, 30, 30, crowds(7, false)), SideDecision::Record { ops: 0 });
        assert_eq!(after_exit(None, 59, 30, crowds(8, false)), SideDecision::NothingUntil(60), "in a crowd");
        assert_eq!([31, 32, 64].map(|sides| crowds(sides, true)), [0, 1, 2]);
        let failed = side_backed_off(1, 30, 30);
        assert_eq!(failed, SideState::BackedOff { at: 90, failures: 1 });
        assert_eq!(after_exit(Some(failed), 89, 30, 0), SideDecision::NothingUntil(90));
        assert_eq!(after_exit(Some(failed), 90, 30, 0), SideDecision::Record { ops: 0 });
        let waits = SideState::Postponed { at: 40, ops: 77, failures: 2 };
        assert_eq!(after_exit(Some(waits), 40, 30, 0), SideDecision::Record { ops: 77 });
        assert_eq!(
            (waits.failures(), after_exit(Some(SideState::Compiled(TraceId(3))), 99, 30, 0)),
            (2, SideDecision::NothingUntil(u64::MAX))
        );
    }

    /// Who would gain as much as what makes room never does.
    #[test]
    fn room_is_made_for_what_gains_twice_as_much() {
        let window = (USEFUL_FOR as f64 / std::f64::consts::LN_2) as u64;
        // What a tree's score comes to that gains a nanosecond in each hundred.
        let useful = window / 100;
        for elapsed in [window, 2 * window, 100 * window] {
            let asked = displacing(useful, elapsed);
            assert!((elapsed / 51..elapsed / 49).contains(&asked), "{asked} after {elapsed}");
        }
        assert_eq!((displacing(useful, 0), displacing(0, 1 << 40)), (2 * useful, 0));
    }

    #[test]
    fn evicted_loops_wait_twice_as_long_each_time() {
        assert_eq!([0, 1, 5].map(|times| after_eviction(times, 10)), [10, 20, 320]);
        assert!(after_eviction(u32::MAX, u32::MAX) > 1 << 60);
    }

    const PRICES: Prices = Prices { step: BYTECODE as f64 / 10.0, call: INLINED_CALL as f64 };

    #[test]
    fn a_way_that_few_iterations_go_is_dear() {
        let work = Work { steps: 100, inlined: 5, calls: 1, objects: 0 };
        let model = work.ns(Prices::HOST_CODE);
        assert!(model < work.ns(PRICES) / 2.0);
        let timed = |ns: f64, is_broken| {
            let mut pace = Pace::default();
            pace.learn(ns, ns, is_broken);
            pace
        };
        let of = |times: f64| dearer(work, Prices::HOST_CODE, &timed(times * model, false));
        assert_eq!((of(0.5), of(1.0), of(1.9)), (1.0, 1.0, 1.0), "what was timed tells about that much");
        assert!((3.9..4.1).contains(&of(4.0)), "a quarter of it: {}", of(4.0));
        assert!(of(6.0) > of(4.0) && of(1e9) == (MOST_DEAR * MOST_DEAR) as f64);
        assert_eq!(dearer(work, Prices::HOST_CODE, &Pace::default()), 1.0, "nobody knows");
        let silent =
            |is_broken| dearer(Work { calls: 0, ..work }, Prices::HOST_CODE, &timed(4.0 * model, is_broken));
        assert!(silent(false) == 1.0 && silent(true) > 4.0, "slow bytecodes, and other ways");
    }

    #[test]
    fn code_that_is_left_at_once_does_not_pay() {
        let steps = |steps| Work { steps, ..Work::default() };
        let of_root = |work, left| saved_per_ns(Replaced::root(work, PRICES, None, false).whole, left);
        let loop_of_ten = of_root(steps(10), steps(14));
        assert!((8.0..12.0).contains(&loop_of_ten), "{loop_of_ten}");
        assert!(gain(GLUE as f64 + 5.0, loop_of_ten) < 0.0, "an iteration");
        assert!(gain(GLUE as f64 + 20.0, loop_of_ten) > 0.0, "five");
        let calls = |steps| Work { steps, calls: 16, ..Work::default() };
        assert!(of_root(calls(4), calls(10)) < 0.4, "calls take as long as in the interpreter");
        let object = Work { objects: 1, inlined: 1, ..steps(10) };
        assert_eq!(of_root(object, steps(14)), 12.0, "the object is removed, the call is part of the trace");
        assert_eq!((of_root(steps(1), steps(1000)), of_root(steps(1000), steps(1))), (0.2, 12.0));
        assert_eq!(gain(1.0, 12.0), -(ENTRY_COST as f64), "no more than the way there");
    }

    /// A host whose bytecodes take five times as long gains by code that is left sooner.
    #[test]
    fn hosts_have_prices_of_their_own() {
        let work = Work { steps: 10, inlined: 2, ..Work::default() };
        assert_eq!(work.ns(Prices::of_interpreter(&Config::default())), work.ns(PRICES));
        let config = Config { step_price: 150, call_price: 60, ..Config::default() };
        let prices = Prices::of_interpreter(&config);
        assert_eq!(work.ns(prices), 5.0 * work.ns(PRICES));
        let gain = |prices| measured_gain(60.0, Replaced::root(work, prices, None, false).whole);
        assert!(gain(PRICES) < 0.0 && gain(prices) > 0.0, "{} {}", gain(PRICES), gain(prices));
    }

    #[test]
    fn what_was_timed_counts_and_a_mixed_mean_only_if_it_is_less() {
        let work = Work { steps: 10, ..Work::default() };
        let of = |ns, is_broken| {
            let mut pace = Pace::default();
            pace.learn(ns, 1.0, is_broken);
            Replaced::root(work, PRICES, Some(&pace), false).whole
        };
        let model = Replaced::root(work, PRICES, None, false).whole;
        assert_eq!(model, (10 * BYTECODE) as f64 / 10.0);
        assert_eq!((of(9.0 * model, false), of(model * 0.7, false)), (9.0 * model, model * 0.7));
        assert_eq!((of(9.0 * model, true), of(model * 0.7, true)), (model, model * 0.7));
        assert_eq!((of(1.0, false), of(1.0, true)), (model * 0.6, model * 0.6), "the clock is coarse");
    }

    /// A recursion that the host makes took most of the iteration, and does still.
    #[test]
    fn what_passes_in_calls_of_the_host_is_not_replaced() {
        let work = Work { steps: 10, ..Work::default() };
        let model = Replaced::root(work, PRICES, None, true);
        let of = |times, calls_host| {
            let mut pace = Pace::default();
            pace.learn(times * model.whole, 1.0, false);
            Replaced::root(work, PRICES, Some(&pace), calls_host)
        };
        assert_eq!(of(9.0, true), model);
        assert_eq!(of(9.0, false), Replaced { whole: 9.0 * model.whole, is_timed: true, ..model });
        assert_eq!(of(2.0, true), Replaced { whole: 2.0 * model.whole, is_timed: true, ..model });
    }

    #[test]
    fn a_side_trace_replaces_what_comes_after_its_exit() {
        let work = |steps| Work { steps, ..Work::default() };
        let root = Replaced::root(work(100), PRICES, None, false);
        assert_eq!((root.at(0.0), root.at(0.5), root.at(1.0)), (0.0, root.whole / 2.0, root.whole));
        let side = root.side(0.25, work(10), PRICES);
        assert_eq!((side.before, side.at(1.0)), (root.whole / 4.0, root.whole / 4.0 + root.whole / 10.0));
    }

    #[test]
    fn rests_get_longer_and_end_in_retirement() {
        assert_eq!(LoopState::asleep(0), LoopState::Resting { until: FIRST_REST, times: 0 });
        assert_eq!(LoopState::asleep(5), LoopState::Retired { until: FIRST_REST << 5, times: 5 });
        assert_eq!(LoopState::asleep(u32::MAX).until(1), FIRST_REST << LONGEST_WAIT);
        assert!(LoopState::asleep(9).is_asleep() && !LoopState::Compiled { until: 0 }.is_asleep());
    }

    #[test]
    fn a_young_program_spends_its_share() {
        let share = 10;
        let account = |ran, spent, gained| Account { ran, spent, gained };
        assert_eq!(missing(account(6 * MS, 0, 0), share, MS), Some(4 * MS));
        assert_eq!(missing(account(10 * MS, 0, 0), share, MS), None);
        assert_eq!(missing(account(0, 0, 4 * MS), share, MS), None, "a part of the gain pays for it");
    }

    /// A program that never gains spends ever less of its time on compiling: here 0.6 % of ten seconds.
    #[test]
    fn who_gains_nothing_spends_next_to_nothing() {
        let mut account = Account::default();
        for _ in 0..10_000 {
            account.ran += MS;
            while missing(account, SHARE as u32, MS).is_none() {
                account.spent += MS;
            }
        }
        assert!((50 * MS..70 * MS).contains(&account.spent), "{account:?}");
    }

    /// Where each millisecond of compiling soon saves ten, compiling is not held up.
    #[test]
    fn who_gains_may_go_on() {
        let mut account = Account { ran: 100 * MS, spent: 4 * MS, gained: 20 * MS };
        for _ in 0..200 {
            assert_eq!(missing(account, SHARE as u32, MS), None, "{account:?}");
            account.spent += MS;
            account.gained += 10 * MS;
        }
    }

    /// Who waits for what is missing can pay then.
    #[test]
    fn waiting_is_enough() {
        for (ran, spent, gained, expected) in
            [(0, 0, 0, MS), (70 * MS, 3 * MS, 0, 4 * MS), (90 * MS, 9 * MS, MS, 2 * MS), (1, 500 * MS, 0, MS)]
        {
            let mut account = Account { ran, spent, gained };
            account.ran += missing(account, 6, expected).expect("time is missing") + 1;
            assert_eq!(missing(account, 6, expected), None, "{account:?}");
        }
    }

    #[test]
    fn a_loop_buys_its_code_later_where_code_has_not_paid() {
        let fresh = Account::default();
        let rent = |back_edges, ns| Rent { back_edges, ns, ..Rent::default() };
        let none = rent(0, 0.0);
        let enough = (MS as f64 / (20.0 * SAVED_PER_OP as f64 / 100.0)).ceil() as u64;
        assert_eq!(back_edges_missing(fresh, MS, 20, none), enough);
        assert_eq!(back_edges_missing(fresh, MS, 20, rent(enough, 0.0)), 0);
        assert!(back_edges_missing(fresh, MS, 200, none) <= enough / 10 + 1, "long iterations save more");
        let in_vain = Account { spent: 9 * MS, ..fresh };
        assert!(back_edges_missing(in_vain, MS, 20, none).abs_diff(19 * enough) <= 19);
        let it_paid = Account { spent: 9 * MS, gained: 9 * MS, ..fresh };
        assert_eq!(back_edges_missing(it_paid, MS, 20, none), enough);
        assert_eq!(back_edges_missing(fresh, MS, 20, rent(0, 1000.0)), enough, "a short script");
        let longer = Account { ran: SHORT_SCRIPT, ..fresh };
        assert_eq!(back_edges_missing(longer, MS, 20, rent(0, 1000.0)), MS / (10 * SAVED_SHARE));
        let old = Account { ran: YOUNG, ..fresh };
        assert_eq!(back_edges_missing(old, MS, 20, rent(0, 1000.0)), MS / (10 * SAVED_SHARE));
        let large = 2 * LARGE_PRICE;
        let [due, late] = [old, Account { ran: large * LARGE_RUN, ..fresh }]
            .map(|account| back_edges_missing(account, large, 2000, none));
        assert!(due.abs_diff(4 * late) <= 4, "{due} and {late}");
        let just = back_edges_missing(old, LARGE_PRICE + LARGE_PRICE / 50, 2000, none);
        assert!(just < late, "a little more is no other price");
        let old_in_vain = Account { ran: YOUNG, ..in_vain };
        assert!(back_edges_missing(old_in_vain, MS, 20, none) < 11 * enough);
    }

    #[test]
    fn the_first_recording_is_dear_but_in_the_main_loop() {
        let rent = Rent { bytecode: 1.3, ..Rent::default() };
        let of = |back_edges, ns| first_recording(10 * MS, Rent { back_edges, ns, ..rent });
        assert_eq!(of(0, 0.0), FIRST_RECORDING);
        assert!((FIRST_RECORDING / 2..FIRST_RECORDING).contains(&of(1000, 1000.0)), "a tenth of the time");
        assert_eq!(of(4000, 1000.0), 0);
        assert_eq!(of(800_000, 0.0), 0, "an iteration takes some time at least");
        let slow = Rent { back_edges: 80_000, bytecode: 13.0, ..rent };
        assert_eq!(first_recording(10 * MS, slow), 0, "more where bytecodes are slow");
        assert_eq!(first_recording(0, Rent::default()), FIRST_RECORDING);
    }

    #[test]
    fn short_functions_are_tried_more_seldom_than_others() {
        let mut attempts = Attempts::default();
        let of = AbortReason::of_host;
        assert_eq!(of("short function"), AbortReason::ShortFunction);
        assert_eq!(attempts.fail(&of("short function"), 56), 112 * SHORT_FUNCTION);
        assert_eq!(attempts.fail(&of("inner loop"), 56), 112);
    }

    #[test]
    fn asking_is_rare_and_never_below_the_threshold() {
        assert_eq!((back_edges_until(10 * MS, 3000, 200), exits_until(10 * MS, 30)), (2441, 305));
        assert_eq!((back_edges_until(1, 3000, 200), exits_until(1, 30)), (200, 30));
        assert_eq!((back_edges_until(10 * MS, 1000, 200), back_edges_until(10 * MS, 10, 200)), (1000, 200));
    }
}
