//! The policy: what is recorded, compiled and entered, and when.
//!
//! Problem: whether code is worth its price shows only when it runs. A loop may be left after one iteration
//! each time it is entered, a recording may fail for the same reason for ever, and a program may gain nothing
//! at all; then the JIT makes it slower. Design: each location and each exit has *one* state, the enums
//! below. What moves it on is decided here, by pure functions over plain numbers; who asks (`hot.rs`,
//! `side.rs`, `sampling.rs`, `nest.rs`, `budget.rs`) keeps the numbers and does what it is told. All constants
//! stand in one table, with their units, and whether they were measured, computed or assumed. Invariant:
//! nothing here reads a clock or touches memory, so each decision has a test.
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
use crate::ids::TraceId;

/// A constant of the policy, as documentation shows it.
#[derive(Clone, Copy, Debug)]
pub struct Tunable {
    /// Its name in the source.
    pub name: &'static str,
    /// Its value.
    pub value: u64,
    /// What it counts.
    pub unit: &'static str,
    /// Where its value comes from.
    pub basis: Basis,
    /// What it is for, and what was measured or computed.
    pub why: &'static str,
}

/// Where a constant's value comes from. What is assumed waits for a measurement of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Basis {
    /// A measurement, which the text gives.
    Measured,
    /// A computation from other constants.
    Derived,
    /// Chosen, or carried over; no measurement was made of it alone.
    Assumed,
}

macro_rules! tunables {
    ($( $name:ident = $value:expr, $unit:literal, $basis:ident, $why:literal; )*) => {
        $(
            #[doc = $why]
            pub(crate) const $name: u64 = $value;
        )*
        /// All constants of the policy.
        pub const TUNABLES: &[Tunable] =
            &[$( Tunable {
                name: stringify!($name),
                value: $value,
                unit: $unit,
                basis: Basis::$basis,
                why: $why,
            } ),*];
    };
}

tunables! {
    THRESHOLD = 200, "back edges", Assumed,
        "Back edges of a loop before it is recorded. Carried over; the budget decides more.";
    SIDE_THRESHOLD = 30, "exits", Assumed,
        "Exits by one guard before a side trace is recorded. Carried over, as above.";
    SHARE = 3, "hundredths of the program's time", Measured,
        "What compiling may take of a young program. The ten short scripts took 1.05 times as long as \
         without the JIT with 6, and 1.00 with 3; the rows of the papers lose nothing, as a loop that \
         has cost as much as its code is compiled at once.";
    YOUNG = 80_000_000, "ns", Assumed,
        "Who has run so long will, as a rule, run long.";
    LATER_SHARE = 3, "hundredths of the program's time", Assumed,
        "What compiling may take of what comes later, at most, before anything is gained: times the \
         trust in what is compiled.";
    LEAST_TRUST = 5, "hundredths", Assumed,
        "Trust in compiling that never gains anything.";
    CREDIT = 3_000_000, "ns", Derived,
        "So much compiling is trusted before it is known what it gains. Who never gains has then spent \
         1.1 % of a second, 0.3 % of ten: a test below.";
    REINVESTED = 50, "hundredths of the gain", Measured,
        "How much of what code has saved may be spent on more code. With 80, and a gain that was only \
         estimated, two of six runs of the program `heaps` compiled for 0.15 s and took 0.9 s instead of \
         0.6. With 50, and a gain that is bounded by a measurement, it compiles for 0.009 s.";
    FIRST_TRACE = 1_700_000, "ns", Measured,
        "What the first trace takes besides its operations: the code generator is made, and its pages are \
         touched. A small process with one trace takes 1.2 ms longer than one without, where all is in the \
         caches; the script `sieve` took 2.0 to 3.7 ms longer.";
    COMPILED_OP = 12_000, "ns", Measured,
        "What compiling an operation, as recorded, takes, as long as none was compiled: 8 us in a \
         program of 35 traces, 19 us in one of a single trace. Later the average counts.";
    SMALL_LOOP = 14, "operations", Assumed,
        "What a loop is expected to have before it is recorded.";
    SAVED_PER_OP = 36, "hundredths of ns", Assumed,
        "What an iteration saves for each recorded operation when it does not run in the interpreter: 5 \
         ns for a small loop. For rent or buy.";
    RECORDED_OP = 250, "ns", Assumed,
        "What recording an operation takes, the host's part included. Expected only: afterwards it is \
         measured.";
    ATTEMPT = 5_000, "ns", Assumed,
        "What a recording takes that fails at once. Expected only, as above.";
    ENTRY_COST = 60, "ns", Measured,
        "What an entry from the host and its exit take beyond the code itself: 37 in the bench `exits`, \
         where all is in the caches, and 65 before there were gates. Programs took up to three times what \
         the bench shows, so that the value stays.";
    GLUE = 18, "ns", Measured,
        "What of that lies within the time that is measured: entries of one iteration show 20 to 30 ns, \
         by a counter that moves in steps of 10.";
    BURST = 8, "back edges", Assumed,
        "Iterations that are timed before a loop is recorded. With a smaller threshold none are.";
    BURSTS_STARTED = 3, "bursts", Assumed,
        "So often the timing of a loop's iterations may be cut short by another loop's.";
    LONG_INTERVAL = 4, "times the shortest but one", Assumed,
        "An interval that is longer is no iteration: the loop was left meanwhile.";
    CLOCK_STEPS = 30, "ns", Measured,
        "Two intervals that differ by no more may be the same: the clock moves in steps of 10 ns on AMD's \
         processors.";
    ARRIVAL = 15, "ns", Assumed,
        "What of an interval is the way from a back edge to us and back.";
    BYTECODE = 20, "tenths of ns", Assumed,
        "What the interpreter takes for a bytecode.";
    NATIVE_OP = 30, "hundredths of ns", Assumed,
        "What machine code takes for an operation that is left.";
    HOST_CALL = 12, "ns", Assumed,
        "What a call of the host takes in both: a length is cheaper, a new string dearer.";
    INLINED_CALL = 12, "ns", Assumed,
        "What a call and its return take in the interpreter beyond their two bytecodes, and in a trace \
         not.";
    NEW_OBJECT = 45, "ns", Assumed,
        "What an object takes, the collector's work included, in both; one that is removed takes \
         nothing.";
    FIRST_SAMPLES = 48, "entries", Assumed,
        "Entries that are timed before code is judged for the first time: more than an exit needs to \
         get its side trace.";
    WAKE_SAMPLES = 16, "entries", Assumed,
        "Entries that are timed when code that has rested is tried again.";
    COLD_SAMPLES = 3, "entries", Measured,
        "The first ones after a rest say nothing, as code and data are not in the caches: with them, \
         `m1_return_few` rested 2,430 times and never retired; without, 13 times.";
    LATER_SAMPLES = 32, "entries", Assumed,
        "Timed entries between two later judgements.";
    SAMPLE_STRIDE = 32, "entries", Assumed,
        "One entry of so many is timed later, and takes the long way; all others pass through a gate.";
    LONG_ENTRY = 2_000, "ns", Assumed,
        "Where entries take so long in the mean each one is timed: the sum counts, and timing costs \
         nothing beside it.";
    LONGEST_SAMPLE = 20_000, "ns", Assumed,
        "Longer samples are compared with the thread's processor time, as others may have had their \
         turn.";
    FIRST_REST = 4096, "back edges", Derived,
        "How long code rests that does not pay, at first; each time in a row twice as long. A trial of \
         19 entries then costs 0.3 ns for each back edge.";
    RESTS_BEFORE_RETIRED = 5, "rests", Assumed,
        "After so many rests in a row code counts as retired: recordings of other loops take the loop \
         in as if it had none.";
    LONGEST_WAIT = 40, "doublings", Derived,
        "Rests and back-offs are doubled so often at most: for good, in any program that ends.";
    LEAST_BACK_OFF = 8, "back edges", Assumed,
        "The first back-off, where the threshold is smaller.";
    LEAST_SIDE_BACK_OFF = 8, "exits", Assumed,
        "The same for exits.";
    MOST_SIDE_FAILURES = 16, "attempts", Derived,
        "After so many failed attempts an exit is left alone for good: each took twice the exits of the \
         one before.";
    CROWD = 8, "side traces", Assumed,
        "With each so many on one loop the threshold for the next ones doubles: a tree has as many \
         paths as the program has states.";
    MOST_LEFT = 8, "attempts", Assumed,
        "How often a loop of few iterations is left to one around it that does not wait for its price.";
    MOST_AWAITED = 400, "operations", Assumed,
        "A recording of the loop around it that is longer is not waited for.";
    INNER_EDGES = 8, "jumps back", Measured,
        "A host's recording takes in so many iterations of loops without code. With no limit in called \
         functions, nine queens made 87 traces.";
    LEVELS_OUT = 3, "callers", Assumed,
        "How far a host looks for the loop around one of few iterations.";
    SIDE_BYTECODES = 1000, "bytecodes", Assumed,
        "What is longer is no way to a loop that has code, but a loop without.";
    ENDED_BYTECODES = 150, "bytecodes", Assumed,
        "A recording that comes to what cannot be recorded is worth its entry from here on.";
    PASSED_OVER_AFTER = 8, "attempts", Measured,
        "After so many vain ones a loop's recording passes over inner loops that are met for no \
         iteration: 63 to 97 % of a program's iterations became machine code.";
    CHOICE_TESTS = 4, "tests", Assumed,
        "A choice of more is a guard, as each test doubles the ways that are computed.";
    CHOICE_CYCLES = 8, "cycles", Assumed,
        "A way of a choice that takes longer costs more than a test that the processor guesses.";
}

/// How far a host's recordings should go (`tl_advice`): the host decides, but need not find these numbers
/// out.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Advice {
    /// Jumps back of loops without code that one recording takes in.
    pub inner_edges: u32,
    /// Callers in which a loop around a loop is looked for.
    pub levels_out: u32,
    /// Bytecodes of a side trace on its way to a loop that has code.
    pub side_bytecodes: u32,
    /// Bytecodes of a recording that is worth being ended before what cannot be recorded.
    pub ended_bytecodes: u32,
    /// Vain attempts at a loop after which inner loops without an iteration are passed over.
    pub passed_over_after: u32,
    /// Tests of a choice.
    pub choice_tests: u32,
    /// Cycles of a choice's way.
    pub choice_cycles: u32,
}

/// The advice for every host.
pub static ADVICE: Advice = Advice {
    inner_edges: INNER_EDGES as u32,
    levels_out: LEVELS_OUT as u32,
    side_bytecodes: SIDE_BYTECODES as u32,
    ended_bytecodes: ENDED_BYTECODES as u32,
    passed_over_after: PASSED_OVER_AFTER as u32,
    choice_tests: CHOICE_TESTS as u32,
    choice_cycles: CHOICE_CYCLES as u32,
};

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

/// Decides what comes after an exit in this state (`None`: it only counts so far) at this count, in a tree of
/// so many side traces.
pub(crate) fn after_exit(
    state: Option<SideState>,
    count: u64,
    side_threshold: u32,
    sides: u32,
) -> SideDecision {
    let threshold = u64::from(side_threshold) << (u64::from(sides) / CROWD).min(16);
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
}

impl Attempts {
    /// One more failure: back edges until the next attempt.
    pub fn fail(&mut self, reason: &AbortReason, threshold: u32) -> u64 {
        let index = self.by_reason.iter().position(|(known, _)| known == reason).unwrap_or_else(|| {
            self.by_reason.push((reason.clone(), 0));
            self.by_reason.len() - 1
        });
        let failures = &mut self.by_reason[index].1;
        let wait = back_off(*failures, threshold);
        *failures += 1;
        wait
    }

    /// An attempt succeeded, or what stood in its way is gone.
    pub fn forgive(&mut self) {
        self.by_reason.clear();
    }
}

/// Back edges until the next attempt of a loop that has failed so often before for the same reason.
fn back_off(failures: u32, threshold: u32) -> u64 {
    let doublings = u64::from(failures.saturating_add(1)).min(LONGEST_WAIT);
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

impl Work {
    /// Nanoseconds, at so much for a step.
    fn ns(self, step: f64) -> f64 {
        let rest = self.inlined * INLINED_CALL + self.calls * HOST_CALL + self.objects * NEW_OBJECT;
        self.steps as f64 * step + rest as f64
    }
}

/// What a nanosecond in this code saves, in nanoseconds: what the interpreter would take for what was
/// recorded over what machine code takes for what is left, less that itself. An estimate, between 0.2 and
/// twelve.
///
/// What the interpreter was seen to take (`seen`, in nanoseconds, if it was) counts where it is less.
pub(crate) fn saved_per_ns(recorded: Work, left: Work, seen: Option<f64>) -> f64 {
    let native = left.ns(NATIVE_OP as f64 / 100.0).max(0.1);
    let interpreted = recorded.ns(BYTECODE as f64 / 10.0).min(seen.unwrap_or(f64::INFINITY));
    ((interpreted - native) / native).clamp(0.2, 12.0)
}

/// What a side trace does, and the half of an iteration that comes before it, as a rule: in iterations of its
/// loop.
pub(crate) fn iterations_of_side(side: Work, iteration: Work) -> f64 {
    let [side, iteration] = [side, iteration].map(|work| work.ns(BYTECODE as f64 / 10.0).max(1.0));
    ((side + iteration / 2.0) / iteration).min(1024.0)
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

/// How many more back edges a loop of so many operations must take (0: nobody knows) that has taken so many,
/// until interpreting them has cost what compiling it (`price`) would have saved; 0 if it has. What compiling
/// has lost so far comes on top: a program may lose once to learn that code does not help it, and must have
/// run long when it loses again.
pub(crate) fn back_edges_missing(account: Account, price: u64, ops: u64, back_edges: u64) -> u64 {
    let saved = (ops.max(SMALL_LOOP) * SAVED_PER_OP) as f64 / 100.0;
    let lost = account.spent.saturating_sub(account.gained);
    ((price.saturating_add(lost) as f64 / saved).ceil() as u64).saturating_sub(back_edges)
}

/// Back edges of a loop until it is worth asking again, if so much time is missing, or so many back edges
/// until it pays. Of the fastest loops there are so many in a hundredth of that time, so that asking costs
/// them nothing worth mentioning.
pub(crate) fn back_edges_until(missing: u64, until_it_pays: u64, threshold: u32) -> u64 {
    (missing >> 12).min(until_it_pays).max(u64::from(threshold))
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
        assert_eq!(after_exit(None, 30, 30, 7), SideDecision::Record { ops: 0 });
        assert_eq!(after_exit(None, 59, 30, 8), SideDecision::NothingUntil(60), "in a crowd");
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

    #[test]
    fn code_that_is_left_at_once_does_not_pay() {
        let steps = |steps| Work { steps, ..Work::default() };
        let loop_of_ten = saved_per_ns(steps(10), steps(14), None);
        assert!((3.0..5.0).contains(&loop_of_ten), "{loop_of_ten}");
        assert!(gain(GLUE as f64 + 5.0, loop_of_ten) < 0.0, "an iteration");
        assert!(gain(GLUE as f64 + 20.0, loop_of_ten) > 0.0, "five");
        let calls = |steps| Work { steps, calls: 4, ..Work::default() };
        assert!(saved_per_ns(calls(4), calls(10), None) < 0.4, "calls take as long as in the interpreter");
        let object = Work { objects: 1, inlined: 1, ..steps(10) };
        assert!(
            saved_per_ns(object, steps(14), None) > 10.0,
            "the object is removed, the call is part of the trace"
        );
        assert_eq!(
            (saved_per_ns(steps(1), steps(1000), None), saved_per_ns(steps(1000), steps(1), None)),
            (0.2, 12.0)
        );
        assert_eq!(saved_per_ns(steps(100), steps(10), Some(9.0)), 2.0, "it was seen to be fast");
        assert_eq!(gain(1.0, 12.0), -(ENTRY_COST as f64), "no more than the way there");
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

    /// A program that never gains spends ever less of its time on compiling: here 0.3 % of ten seconds.
    #[test]
    fn who_gains_nothing_spends_next_to_nothing() {
        let mut account = Account::default();
        for _ in 0..10_000 {
            account.ran += MS;
            while missing(account, SHARE as u32, MS).is_none() {
                account.spent += MS;
            }
        }
        assert!((20 * MS..40 * MS).contains(&account.spent), "{account:?}");
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
        let enough = (MS as f64 / (20.0 * SAVED_PER_OP as f64 / 100.0)).ceil() as u64;
        assert_eq!(back_edges_missing(fresh, MS, 20, 0), enough);
        assert_eq!(back_edges_missing(fresh, MS, 20, enough), 0);
        assert!(back_edges_missing(fresh, MS, 200, 0) <= enough / 10 + 1, "long iterations save more");
        let in_vain = Account { spent: 9 * MS, ..fresh };
        assert!(back_edges_missing(in_vain, MS, 20, 0).abs_diff(10 * enough) <= 10);
        let it_paid = Account { spent: 9 * MS, gained: 9 * MS, ..fresh };
        assert_eq!(back_edges_missing(it_paid, MS, 20, 0), enough);
    }

    #[test]
    fn asking_is_rare_and_never_below_the_threshold() {
        assert_eq!((back_edges_until(10 * MS, 3000, 200), exits_until(10 * MS, 30)), (2441, 305));
        assert_eq!((back_edges_until(1, 3000, 200), exits_until(1, 30)), (200, 30));
        assert_eq!((back_edges_until(10 * MS, 1000, 200), back_edges_until(10 * MS, 10, 200)), (1000, 200));
    }

    #[test]
    fn each_constant_says_what_it_counts_and_a_measured_one_gives_figures() {
        for tunable in TUNABLES {
            assert!(!tunable.unit.is_empty() && !tunable.why.is_empty(), "{}", tunable.name);
            let has_figures = tunable.why.contains(|c: char| c.is_ascii_digit());
            assert!(tunable.basis != Basis::Measured || has_figures, "{}", tunable.name);
        }
    }
}
