//! Why recordings are given up, and why code is not compiled: one table of names.
//!
//! Problem: a JIT that silently does not compile a loop cannot be understood or improved. Design: every
//! reason has a constant name, is counted in the statistics under it, and is kept with the location that it
//! stopped. Hosts add reasons of their own as text. Invariant: no recording ends without either code or a
//! reason.

use std::fmt;

macro_rules! define_reasons {
    ($( $(#[doc = $doc:literal])+ $variant:ident = $name:literal; )*) => {
        /// Why a recording was given up: a normal, counted outcome, or (the last two) somebody's mistake.
        #[derive(Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        pub enum AbortReason {
            $( $(#[doc = $doc])+ $variant, )*
            /// A reason of the host's own, such as an opcode that it does not record yet.
            Host(String),
        }

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
    TooManyOps = "trace too long";
    /// The recorded trace reached the configured number of snapshots.
    TooManySnapshots = "too many snapshots";
    /// More host frames than configured.
    TooManyFrames = "too many frames";
    /// Slot types at the head and at the closing kept differing.
    Unstable = "unstable slot types";
    /// The system gave no executable memory.
    NoExecutableMemory = "no executable memory";
    /// The configured amount of code memory is used up.
    CodeMemoryFull = "code memory full";
    /// A function called by the trace has no known address.
    UnknownFunction = "function without address";
    /// Thrown away at random, as `Config::start_seed` asks for.
    Discarded = "discarded by the test aid";
    /// Making code of it takes longer than compiling may take by now; it is recorded again when there is
    /// time.
    TooCostly = "too long to compile by now";
    /// Calls of the host take more than the loop's few bytecodes gain.
    MostlyCalls = "little between calls";
    /// Better recorded as it runs, as part of the loop around it: see [`crate::Vm::leave_to`].
    FewIterations = "loop of few iterations";
    /// No guard is left in the optimized loop: no iteration would leave it, not even for an interrupt.
    Endless = "loop that nothing leaves";
    /// The host gave the recording up without a reason.
    Abandoned = "abandoned";
    /// The host broke a rule of the recording interface.
    Misuse = "misuse of the recording interface";
    /// A bug of Tracelift's: the optimizer or the lowering failed on a valid trace.
    Internal = "internal error";
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
