//! Why recordings are given up, and why code is not compiled: one table of names and meanings.
//!
//! Problem: a JIT that silently does not compile a loop cannot be understood or improved. Design: every
//! reason has a constant name, is counted in the statistics under it, and is kept with the location that it
//! stopped. A sentence says what it means to users of the language. Hosts add reasons of their own as text.
//! Invariant: no recording ends without either code or a reason.

use std::fmt;

macro_rules! define_reasons {
    ($( $(#[doc = $doc:literal])+ $variant:ident = $name:literal, $meaning:literal; )*) => {
        /// Why a recording was given up: a normal, counted outcome, or (the last two) somebody's mistake.
        #[derive(Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        pub enum AbortReason {
            $( $(#[doc = $doc])+ $variant, )*
            /// A reason of the host's own, such as an opcode that it does not record yet.
            Host(String),
        }

        /// Names of reasons with what they mean to whoever has written the program.
        pub(crate) const MEANINGS: &[(&str, &str)] = &[$( ($name, $meaning) ),*];

        impl AbortReason {
            /// The name under which the reason is counted.
            pub fn name(&self) -> &str {
                match self {
                    $( AbortReason::$variant => $name, )*
                    AbortReason::Host(text) => text,
                }
            }
        }
    };
}

define_reasons! {
    /// The recorded trace reached the configured number of operations.
    TooManyOps = "trace too long", "one way through it is longer than what can be compiled at once";
    /// The recorded trace reached the configured number of snapshots.
    TooManySnapshots = "too many snapshots", "one way through it has more tests than can be compiled at once";
    /// More host frames than configured.
    TooManyFrames = "too many frames", "calls lie deeper in one another than can be compiled";
    /// Slot types at the head and at the closing kept differing.
    Unstable = "unstable slot types", "variables kept changing their types from one iteration to the next";
    /// The system gave no executable memory.
    NoExecutableMemory = "no executable memory", "the system gave no memory for machine code";
    /// The configured amount of code memory is used up.
    CodeMemoryFull = "code memory full", "the memory for machine code was used up";
    /// A function called by the trace has no known address.
    UnknownFunction = "function without address", "a function of the host has no address: please report it";
    /// Thrown away at random, as `Config::start_seed` asks for.
    Discarded = "discarded by the test aid", "a setting for tests threw it away";
    /// Making code of it takes longer than compiling may take by now; it is recorded again when there is
    /// time.
    TooCostly = "too long to compile by now", "compiling it would have taken longer than it has cost so far";
    /// Calls of the host take more than the loop's few bytecodes gain.
    MostlyCalls = "little between calls",
        "it only calls functions that are not compiled: machine code would gain nothing";
    /// Better recorded as it runs, as part of the loop around it: see [`crate::Vm::leave_to`].
    FewIterations = "loop of few iterations",
        "it ends after few iterations: it is compiled as a part of the loop around it";
    /// A function returned soon after its entry, where the recording had begun: it is better a part of those
    /// that call it. Hosts say so by the reason's name.
    ShortFunction = "short function",
        "it is short: it is compiled as a part of the functions and loops that call it";
    /// The host was asked for a recording, and has begun none.
    Declined = "not recorded where it was hot",
        "it was never hot where it could be recorded: mostly in the last iteration";
    /// The host has called something that goes on for longer than recordings wait.
    LongCall = "long call", "a function that it calls ran for too long";
    /// No guard is left in the optimized loop: no iteration would leave it, not even for an interrupt.
    Endless = "loop that nothing leaves", "nothing would ever leave it";
    /// The host gave the recording up without a reason.
    Abandoned = "abandoned", "the recording was interrupted";
    /// The host broke a rule of the recording interface.
    Misuse = "misuse of the recording interface", "a mistake of the host's: please report it";
    /// A bug of Tracelift's: the optimizer or the lowering failed on a valid trace.
    Internal = "internal error", "a mistake of Tracelift's: please report it";
}

impl AbortReason {
    /// The reason that a host gives as text. The runtime has a rule of its own for short functions.
    pub fn of_host(text: &str) -> AbortReason {
        match text == AbortReason::ShortFunction.name() {
            true => AbortReason::ShortFunction,
            false => AbortReason::Host(text.into()),
        }
    }
}

/// A recording that has come to nothing.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub reason: AbortReason,
    /// More of that, for people; may be empty.
    pub sentence: String,
    /// What the host calls the place of the operation that could not be recorded.
    pub at: Option<String>,
}

impl Failure {
    /// One of no operation in particular.
    pub fn new(reason: AbortReason, sentence: &str) -> Failure {
        Failure { reason, sentence: sentence.into(), at: None }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.fmt(f)?;
        if let Some(at) = &self.at {
            write!(f, ", at {at}")?;
        }
        if !self.sentence.is_empty() {
            write!(f, ": {}", self.sentence)?;
        }
        Ok(())
    }
}

impl fmt::Display for AbortReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
