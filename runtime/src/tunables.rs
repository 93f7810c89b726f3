//! The constants of the policy, in one table.
//!
//! Problem: a number such as "200 back edges" is either measured or a guess, and code does not show which;
//! and a host has no place to find out how far its recordings should go. Design: one macro makes each
//! constant and its row of [`TUNABLES`]: unit, basis and reason. Hosts get those that are theirs as
//! [`ADVICE`]. Invariant: each constant says what it counts, and a measured one gives the figures: a test
//! below.
//!
//! ```text
//! GLUE = 18, "ns", Measured, "What of that lies within the time that is measured: entries of one ..."
//! ```

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
    BYTECODES_PER_CALL = 12, "bytecodes", Measured,
        "So many lie between calls of the host in a loop that is worth compiling: a call costs some 12 ns \
         more than the interpreter's. A loop around 'pcall' with 7, 11, 15 and 19 bytecodes takes 1.17, 1.01, \
         0.84 and 0.78 of its time without the JIT.";
    CALLS_PER_TIMED = 16, "calls", Assumed,
        "One call of the host in so many is timed at least, where an entry is, and the first ones more \
         often: to read the clock twice takes a third of what a call of 'pcall' takes (12 ns of 40).";
    MOST_ASIDE = 8, "recordings", Assumed,
        "Recordings that wait for calls of the host to come back. Deeper nests of such calls were not met.";
    THRESHOLD = 2000, "back edges", Measured,
        "Back edges of a loop before it is recorded. Without a budget 35 programs that people write took 1.15 \
         of stock Lua's time with 56 back edges and 10 exits, 0.80 with 500 and 500, 0.75 with 2000 and 1500: \
         a trace costs what some thousand iterations take.";
    LOOK_AGAIN = 20_000, "ns", Assumed,
        "After so long a location that is hot asks again while a trace is compiled on another thread.";
    MOST_LOOK_AGAIN = 1000, "back edges", Assumed,
        "But no later than after so many. Each time costs some 100 ns.";
    SIDE_THRESHOLD = 1000, "exits", Measured,
        "Exits by one guard before a side trace is recorded: see the threshold. With the budget 1000 are \
         better than 30 and 500 (0.81, 0.86 and 0.80, but more programs slower than stock).";
    SHARE = 3, "hundredths of the program's time", Measured,
        "What compiling may take of a young program. The ten short scripts took 1.05 times as long as \
         without the JIT with 6, and 1.00 with 3; the rows of the papers lose nothing, as a loop that \
         has cost as much as its code is compiled at once.";
    FORESEEN = 10, "times what it has run", Assumed,
        "So long a program is believed to run on, if its counted loops say so. Half of that counts.";
    FORESEEN_SHARE = 3, "times", Measured,
        "So many times its share such a program may spend. 35 programs that people write take .511 of stock \
         Lua's time with 1, .509 with 2, .496 with 3 (medians); `m10_lexer` 2.2, 1.85 and 1.75 of LuaJIT's; \
         short scripts are no slower.";
    FORESEEN_PRICE = 800_000, "ns", Measured,
        "What is dearer, as the first trace is, is not bought only because a program will run on for long. \
         23 programs of 10 to 200 ms around libraries take .95 of their time with this, ten short scripts \
         .99, 35 programs as long as before.";
    FORESEEN_GAIN = 2, "times the price", Assumed,
        "What is dearer is bought all the same if it should gain so much in what is to come.";
    LOST_AHEAD = 1_000_000, "ns", Measured,
        "Who is believed to have lost more gets no more code for what its counted loops have to come. The \
         script `sieve` took 1.09 of its time without the JIT before, and 1.03 with this. `m10_lexer` loses \
         0.8 ms before it gains: with 0.5 ms it took 1.8 times as long.";
    FORESIGHT_INTERVAL = 500_000, "ns", Assumed,
        "Time between two questions how many iterations its counted loops have to come.";
    YOUNG = 80_000_000, "ns", Assumed,
        "Who has run so long will, as a rule, run long.";
    LATER_SHARE = 4, "hundredths of the program's time", Measured,
        "What compiling may take of what comes later, at most, before anything is gained: times the trust \
         in what is compiled. With 1 programs of half a second that people write take .85 of their time \
         without the JIT, with 6 .80, and with 10 those that gain nothing lose more. Where the host has code \
         of its own 4 is better: see CREDIT.";
    LEAST_TRUST = 10, "hundredths", Assumed,
        "Trust in compiling that never gains anything.";
    CREDIT = 10_000_000, "ns", Measured,
        "So much compiling is trusted before it is known what it gains: what a tree lacks may be all that \
         keeps it from gaining. Who never gains has then spent 2 % of half a second, 0.6 % of ten. With 3 \
         ms, 100 for LOST_SHARE, and no SIDES_IN_PRICE sixteen programs of the standing set take 1.05 \
         times as long in the mean when they are run again and again for .6 s, and `tasks` and `objects` \
         1.2 times. With 20 ms, 30, and 3 they do not, but all 35 take 1.015 times as long, as most of \
         them end before that.";
    REINVESTED = 250, "hundredths of the gain", Measured,
        "How much of what code is believed to have saved may be spent on more code. 35 programs that \
         people write take .82 of their time without the JIT with 100, and .80 to .815 with 200. With host \
         code 19 of them take .46 of stock Lua's time with 250, .48 with 500 and less doubt.";
    DOUBT = 50, "hundredths of the time in code", Measured,
        "So much of the time in code is taken off a gain before it is believed. What the interpreter would \
         have taken is an estimate: where code saves four times what it takes that does not matter, and \
         where it seems to save a third it does. Without it `heaps` and `heaps_alt` take 1.17 and 1.14 of \
         their time without the JIT, with it 1.05 and 1.02.";
    PEELED_OPS = 200, "operations", Measured,
        "A longer loop gets no preamble: that is as much again to compile. 35 programs that people write, \
         with exact thresholds, take .765 of their time without the JIT if all loops are peeled, .727 if \
         those up to 150 are, and .714 if none is; loops over arrays of numbers take 1.4 to 1.7 times as \
         long then.";
    PEELED_SOON_OPS = 100, "operations", Measured,
        "The same for a loop that is left soon. With 50 a sparse product of ten elements a row takes 1.67 of \
         LuaJIT's time where the row is in a called function, and 1.03 with 100.";
    MANY_TURNS = 1 << 18, "iterations", Assumed,
        "After so many a long loop without a preamble is compiled once more, with one. An operation takes some \
         .06 ns in each, and 8,000 ns to compile twice: a fourth of the time that has passed.";
    LEAST_TURNS_PER_ENTRY = 4, "iterations", Assumed,
        "Fewer of them make a preamble worthless.";
    MOST_ASKED = 8, "times", Assumed,
        "So often a host is asked to record a loop that has code.";
    SIDES_IN_PRICE = 2, "side traces", Measured,
        "So many side traces of a loop are not asked whether there is time for them. The loop's code was \
         bought, and with one way through it does not pay. `raytrace_alt` takes .85 of its time with \
         them, `trees_alt` .9, 35 programs as long as before.";
    SIDES_IN_PRICE_OF_UNIT = 4, "side traces", Measured,
        "The same for a unit, which has two ways at least if it calls itself. Without them `towers` takes \
         1.2 times as long.";
    SIDES_OF_UNITS = 16, "times sooner", Assumed,
        "Exits of units get their side traces so much sooner than others: to leave a unit leaves all its \
         callers.";
    MERGED_OPS = 150, "operations", Assumed,
        "A unit of so many is compiled as a whole whenever it grows.";
    MOST_MERGED_OPS = 4000, "operations", Measured,
        "No more than so many are compiled as one function: what is added to a larger unit is code of its own. \
         Without a limit `linter` at a threshold of 3 compiled one of 40 ways in 176 ms, and took 72 MB, not 21.";
    CROSSINGS_PER_OP = 500, "crossings", Derived,
        "So often the program crosses from one trace of a tree to another before they become one function, \
         for each operation of the tree: making its code takes 2 us, a crossing 4 ns more than in one \
         function.";
    CAREFUL_REGION_OPS = 300, "operations", Measured,
        "Regions of no more are made by Cranelift's code generator, at twice the price. Where nobody can \
         foretell a branch five programs take .88 of their time, with quick code .98. Others are alike.";
    MOST_REFUSED = 3, "attempts", Assumed,
        "So often in a row a region is made again in vain, as for want of code memory, when a tree in it has \
         grown. With 100 KiB and a threshold of 10 a program did nothing else, without end.";
    MOST_REGION_OPS = 1500, "operations", Measured,
        "No more than so many become one function. With 4,000 `baseline_lib` at a threshold of 3 takes 22 \
         MB, with 1,500 17, without regions 16.";
    LEFTS_JUDGED = 64, "exits", Assumed,
        "So often a unit is left between two looks at the clock.";
    LEFT_TOO_OFTEN = 6000, "ns", Assumed,
        "A unit that is left more often than once in that time is no gain: to leave it takes half a \
         microsecond, more with each frame around it, and then all returns are interpreted.";
    STRIKES = 4, "looks", Assumed,
        "After so many looks in a row that found that the unit is called no more. Between them there is time \
         for side traces, each of which begins the count anew.";
    LOST_SHARE = 60, "hundredths", Measured,
        "How much of what compiling has lost comes on top of a loop's price, when the program has run for \
         long. 100 was too much, 30 too little: see CREDIT.";
    LOST_SHARE_YOUNG = 200, "hundredths", Measured,
        "The same in a young program: short scripts buy one trace in vain, and not three. With half as much \
         20 programs took .600 of stock Lua's time instead of .575.";
    SAVED_SHARE = 40, "hundredths of the time", Assumed,
        "What code saves of the time that an iteration was seen to take in the interpreter, for rent or \
         buy, unless the program is a short script. With none of it loops of few, long iterations never had \
         theirs.";
    SHORT_SCRIPT = 20_000_000, "ns", Measured,
        "Who has not run so long counts on nothing that it has not seen. With 2 ms three of ten short scripts \
         take 1.15 to 1.36 of their time with 10. With 45 ms `raytrace_alt` takes 1.23 of it, and all 45 \
         programs 1.007. With FIRST_RECORDING 41 programs of 5 to 90 ms take .951 with 20, and .961 with 10.";
    LARGE_PRICE = 5_000_000, "ns", Assumed,
        "A price that is so many times larger counts that many times more, squared. A single loss may not \
         show.";
    LARGE_RUN = 50, "times the price", Measured,
        "It counts as it is when the program has run so long. A recording of 2,500 operations, bought early, \
         took 52 of the 540 ms of `collide2d`. With nothing bought above 5 ms until then, `nbody_oo` took 80 \
         ms where its trace was expected to take 4.9, and 130 where it was 5.1.";
    FIRST_RECORDING = 3_000_000, "ns", Measured,
        "Added to the price of a program's first recording. First recordings take more than the clock shows: \
         code and data are touched for the first time, and the program's data leave the caches. Of 5 to 90 \
         ms, programs lost 0.3 to 2.3 by recordings that came to nothing. With this and SHORT_SCRIPT 41 \
         programs take .95 of their time, and 35 longer ones as long as before.";
    MAIN_LOOP = 33, "hundredths of the program's time", Measured,
        "For a loop in which so much of it has passed FIRST_RECORDING does not count. Without this rule \
         programs of 4 to 8 ms that are a single loop take 1.3 to 2.1 times as long.";
    SMALLEST_LOOP = 4, "bytecodes", Assumed,
        "An iteration takes as long as so many bytecodes at least. That counts where none was timed.";
    SHORT_FUNCTION = 16, "times longer", Measured,
        "An entry whose function was too short waits so much longer for the next attempt than after any \
         other failure. Before, 14 of 25 recordings of `nbody_oo` were such entries. 35 programs take .985 \
         of their time.";
    TRIAL = 200_000, "ns", Measured,
        "So much the entries of a loop may lose since it has got code last, before it rests: meanwhile its \
         exits are counted, and it gets the side traces without which it cannot pay. With 400 us programs \
         took as long.";
    VENTURE_TRIAL = 1_000_000, "ns", Measured,
        "The same while the program ventures, in place of TRIAL: exits of a tree with many ways are counted \
         to the threshold several at a time. With 0.4 ms what is gained late is .94 in place of .92.";
    FIRST_VENTURE = 400_000_000, "ns", Measured,
        "How old a program is that ventures for the first time. 17 programs take .96 of their time when they \
         are run 16 times, .92 the last four times, 1.05 the first three; with 700 ms .97, .92, and 1.015.";
    VENTURE_SPENDS = 80_000_000, "ns", Measured,
        "What compiling may take in the first venture. With 40 ms, and the next one sooner, the same \
         programs take .97, .925, and 1.04.";
    VENTURE_GROWTH = 170, "hundredths", Assumed,
        "Each venture may spend so much of what the one before might.";
    VENTURE_LASTS = 6, "times what it may spend", Assumed,
        "The longest venture.";
    VENTURE_LOSES = 10_000_000, "ns", Assumed,
        "So much more than it spends a venture may lose before it is over.";
    VENTURE_PIECE = 10, "parts", Assumed,
        "A trace may take such a part of what the venture may spend.";
    VENTURE_WINDOW = 50_000_000, "ns", Assumed,
        "After so long it is seen whether much is still bought.";
    VENTURE_STALLED = 5, "hundredths of the time", Assumed,
        "A venture in which compiling takes less is over.";
    VENTURE_AGAIN = 150, "hundredths of its age", Assumed,
        "The next one, if it has paid, comes when the program is so old.";
    VENTURE_IN_VAIN = 400, "hundredths of its age", Assumed,
        "The same if it has not.";
    FIRST_TRACE = 800_000, "ns", Measured,
        "What the first trace takes besides its operations: the code generator is made, and its pages are \
         touched. Two traces of 45 operations take 0.7 to 0.9 ms of compiling in a small process.";
    COMPILED_OP = 4_000, "ns", Measured,
        "What compiling an operation, as recorded, takes, as long as none was compiled: 3 us in programs of \
         44 and 76 traces, with the caches warm. Later the average counts. With 12 us, as Cranelift takes, \
         and 1.7 ms for the first trace 35 programs take 1 % longer.";
    KNOWN_OPS = 100, "operations", Measured,
        "So many operations at that price count beside those that were compiled. When the first trace, of 26 \
         operations, had taken 1.5 ms, 110 more were expected to take 6.3: the side trace without which a \
         sparse product does not pay was too dear in every second run, which then took 3 times as long.";
    SMALL_LOOP = 14, "operations", Assumed,
        "What a loop is expected to have before it is recorded.";
    SAVED_PER_OP = 36, "hundredths of ns", Assumed,
        "What an iteration saves for each recorded operation when it does not run in the interpreter: 5 \
         ns for a small loop. For rent or buy.";
    BACK_EDGES_PER_ENTRY = 4, "back edges", Assumed,
        "What code saves where a function is entered, the call and the return among it: as much as in so many \
         iterations of a small loop.";
    BACK_EDGES_PER_EXIT = 8, "back edges", Derived,
        "What a side trace saves each time, the way to the host and back at least: as much as in so many \
         iterations of a small loop, 40 of the 90 ns of an entry.";
    BACK_EDGES_PER_LEFT = 40, "back edges", Assumed,
        "The same where a unit is left, and each time for each of its callers: 200 ns, as the calls are \
         interpreted to their ends.";
    RECORDED_OP = 250, "ns", Assumed,
        "What recording an operation takes, the host's part included. Expected only: afterwards it is \
         measured.";
    ATTEMPT = 5_000, "ns", Assumed,
        "What a recording takes that fails at once. Expected only, as above.";
    ENTRY_COST = 90, "ns", Measured,
        "What an entry from the host and its exit take beyond the code itself: 37 in the bench `exits`, \
         where all is in the caches; in a profile of `regexvm` 100.";
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
    ARRIVAL = 40, "ns", Measured,
        "What of an interval is the way from a back edge to us and back. Loops of 2 to 13 bytecodes \
         without calls show 46 to 60 ns, where a bytecode takes 1.3. With 15 what short loops gain was \
         guessed at 2 to 4 times what it is.";
    LEAST_TIMED = 60, "hundredths of what bytecodes take", Assumed,
        "An iteration that was timed takes no less: the clock moves in steps of 10 ns.";
    BYTECODE = 30, "tenths of ns", Measured,
        "What the interpreter takes for a bytecode. Loops that were timed took 3 to 7 ns for each, calls \
         and objects included. With 4 ns the gains of 35 programs were estimated at 1.3 to 1.6 times what \
         they were.";
    ELSEWHERE = 25, "tenths of what bytecodes take", Derived,
        "Where a loop that calls the host took longer than this in the interpreter, it passed in the calls: \
         bytecodes take 7 ns at most.";
    NATIVE_OP = 20, "hundredths of ns", Assumed,
        "What machine code takes for an operation that is left: where it adds nothing up.";
    HOST_CALL = 4, "ns", Measured,
        "What a call of a function takes in both beyond its bytecodes: a lookup in a hash part 4 in baseline \
         code, 'string.byte' nothing, a new string more. With 12 code was believed to gain five times what \
         it did in 46 programs of 30 to 100 ms. With 4 they take .99 of their time, 41 short ones .97.";
    INLINED_CALL = 12, "ns", Assumed,
        "What a call and its return take in the interpreter beyond their two bytecodes, and in a trace \
         not.";
    HOST_CODE_BYTECODE = 13, "tenths of ns", Measured,
        "The same as for the interpreter, in code of the host's own: loops took 1.2 to 2.0 ns for each, with \
         calls 1.0 to 1.6. With the interpreter's prices programs that gained nothing spent as if they did: \
         .520 of stock Lua's time in the median of 35, and .509 with these.";
    HOST_CODE_CALL = 4, "ns", Measured,
        "The same for a call: a loop around one takes 6 ns, and 2 without.";
    COVERED = 50, "hundredths of the time", Measured,
        "So much of what a loop's iterations take is explained by what was recorded, at least, where code \
         gains something. Of 35 programs those that gained had .6 to 2, those that lost .2 to .5. With it \
         they take .511 of stock Lua's time, without .522.";
    MOST_DEAR = 4, "times", Assumed,
        "What was recorded counts as this part of that at least: chance makes a loop seem to go other ways.";
    NEW_OBJECT = 25, "ns", Measured,
        "What an object takes, the collector's work included, in both; one that is removed takes nothing. A \
         loop around '{i}' or '{x = i}' takes 24 to 26 in baseline code.";
    FIRST_SAMPLES = 48, "entries", Assumed,
        "Entries that are timed before code is judged for the first time: more than an exit needs to \
         get its side trace.";
    WAKE_SAMPLES = 16, "entries", Assumed,
        "Entries that are timed when code that has rested is tried again.";
    LEAST_EXITS = 16, "exits", Assumed,
        "Where code that has rested is tried again, the exit that is taken most gets a side trace if it was \
         taken so often, without waiting for the threshold: else `m10_lexer` had no code in two runs of \
         three, since its tree rested before any exit was hot.";
    COLD_SAMPLES = 3, "entries", Measured,
        "The first ones after a rest say nothing, as code and data are not in the caches: with them, \
         `m1_return_few` rested 2,430 times and never retired; without, 13 times.";
    LATER_SAMPLES = 32, "entries", Assumed,
        "Timed entries between two later judgements.";
    SAMPLE_STRIDE = 32, "entries", Assumed,
        "One entry of so many is timed later, and takes the long way; all others pass through a gate.";
    GATE_REFUSALS = 32, "entries", Assumed,
        "A trace that refuses more than one of so many entries gets no gate for a while, if its loop has \
         others. When one refusal was enough for ever, `lexer`, `query`, `lexer_alt` and `regexvm` took the \
         long way at 97 to 100 % of 110,000 to 210,000 entries. Other values were not tried.";
    LONG_ENTRY = 2_000, "ns", Assumed,
        "Where entries take so long in the mean each one is timed: the sum counts, and timing costs \
         nothing beside it.";
    LONG_SAMPLE = 1_000_000, "ns", Assumed,
        "A timed entry that has run so long gives way to entries in calls that it makes, of which none \
         would be timed else.";
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
    FULL_AGAIN = 10_000_000, "ns", Assumed,
        "Where code memory is full of useful code there is no time for more; who asks is told so much, and \
         asks again after a hundredth of it, or when the code would have paid.";
    USEFUL_FOR = 100_000_000, "ns", Measured,
        "What code has gained counts half after so much of the program's time. 1,000 loops in turn in a \
         quarter of the code memory that they need: see the design log.";
    PATIENCE = 10_000_000, "ns", Assumed,
        "A tree that was of no use for so long of the program's time is idle, as long as no loop comes back \
         later than that.";
    MOST_PATIENCE = 1_000_000_000, "ns", Assumed,
        "Nobody waits longer than that for a loop to come back.";
    HINTED_BACK_EDGES = 16, "back edges", Assumed,
        "A loop whose code has paid in an earlier run is recorded after so many: the first ones may go other \
         ways, as caches fill.";
    HINTED_EXITS = 100, "exits", Measured,
        "The same for an exit that had a side trace. After 8 exits, and bought at once, 'json' gets 75 side \
         traces in place of 18, and takes 1.04 of its time, 'permute' 1.16.";
    HINTED_NS = 3_000_000, "ns", Measured,
        "So much compiling, a quarter of the program's time and twice what it has gained: no more is bought \
         by hints, which may be about another input. With 10 ms, 2 for WORTH, and no side trace in the price \
         of what has paid, the second run of 41 short programs took 1.03 of the first one's time, `tasks` 1.4 \
         and `raytrace_alt` 1.5; now .98. Longer ones take .98 with both.";
    WORTH = 6, "times the price", Measured,
        "So much code would have gained, by what was interpreted, that the next run is told to make it at \
         once. With 2 instead second runs of `tasks` took 1.4 times as long: see HINTED_NS.";
    IN_VAIN = 8, "times the threshold", Assumed,
        "So much later is tried what has failed in an earlier run.";
    LEAST_BACK_OFF = 8, "back edges", Assumed,
        "The first back-off, where the threshold is smaller.";
    LEAST_SIDE_BACK_OFF = 8, "exits", Assumed,
        "The same for exits.";
    AGAIN_AFTER_DECLINED = 8, "part of the first back-off", Assumed,
        "So much sooner a host is asked again that has recorded nothing: it was in the last iteration, \
         say. Before it had to wait at all, `collide2d` was asked 44,000 times a second and took 1.2 \
         times as long.";
    MOST_SIDE_FAILURES = 16, "attempts", Derived,
        "After so many failed attempts an exit is left alone for good: each took twice the exits of the \
         one before.";
    MOST_OTHERS = 3, "side traces", Assumed,
        "An exit gets so many more side traces where slots of other types come to it than those expect that \
         are there.";
    MOST_IN_A_ROW = 16, "side traces", Assumed,
        "So many begin at one place of the program one after the other, each where the one before did not \
         go on: at a call of 1,000 functions in turn there were 200, and the program took 3.8 s, not .6, in \
         some runs.";
    CROWD = 32, "side traces", Measured,
        "With each so many on one loop the threshold for the next ones doubles: a tree has as many paths as \
         the program has states. With 8, `interp`, `lexer` and `tasks` leave their code 20,000 times at \
         exits without side traces. 35 programs that are run 14 times take .975 of that with 32, and .98 \
         with 100.";
    CROWD_UNLIMITED = 8, "side traces", Assumed,
        "The same where thresholds alone decide.";
    MOST_LEFT = 8, "attempts", Assumed,
        "How often a loop of few iterations is left to one around it that does not wait for its price.";
    TURN = 4, "thresholds", Assumed,
        "So many exits, or back edges, the loops around one have to be recorded when it gives way to them.";
    MOST_MISSED = 4, "recordings", Assumed,
        "So many of a loop are thrown away that those that gave way to it had no iteration in.";
    MOST_SKIPPED = 2, "recordings", Measured,
        "So many are thrown away because some loop in them had no iteration. With 0 to 4 at random the tree \
         that begins with none takes 1.3 times as long as the others.";
    SHORTER_OPS = 1500, "operations", Measured,
        "Recordings of so many are thrown away because some loop in them had fewer iterations than in the \
         mean. With 0 to 4 at random, in straight code, functions, and methods, the slowest of 20 seeds took \
         1.10, 1.16, and 1.27 times as long as the fastest, and with this 1.05, 1.05, and 1.10.";
    MOST_SHORTER = 20, "recordings", Assumed,
        "No more recordings are thrown away for that, however short they are.";
    KNOWN_AROUND = 32, "iterations", Assumed,
        "After so many iterations of the outer loop there is a mean.";
    MOST_PARDONS = 64, "verdicts", Assumed,
        "So many verdicts that a loop's code does not pay are ignored as long as the loop lacks a way that \
         it has given up for another loop.";
    SIMPLE = 3, "side traces", Measured,
        "A loop whose tree has more does not give way to those around it: unrolled there each way through it \
         would be as many in each iteration. Without a limit `permute` takes 1.2 times as long, \
         and 1.15 if those around other loops are not counted.";
    MOST_VAIN = 2, "attempts", Assumed,
        "A loop of few iterations is left to none that was given up so often for one reason: as it has ten \
         iterations, say, which is more than a recording takes in.";
    MOST_WAYS_GIVEN = 3, "times", Measured,
        "So often a loop gives way to loops around it if these get no code. Where one recording of three is \
         thrown away at random, a loop of three iterations took 1.6 times as long for one seed of eight \
         with 1.";
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_constant_says_what_it_counts_and_a_measured_one_gives_figures() {
        for tunable in TUNABLES {
            assert!(!tunable.unit.is_empty() && !tunable.why.is_empty(), "{}", tunable.name);
            let has_figures = tunable.why.contains(|c: char| c.is_ascii_digit());
            assert!(tunable.basis != Basis::Measured || has_figures, "{}", tunable.name);
        }
    }
}
