//! Names: of loops, of traces, of their exits.
//!
//! Problem: traces name one another (a side trace its parent, a loop its entries, code the exit that it
//! took), and what they name may be gone. Design: a loop has a key that the host chooses ([`Key`]), a trace a
//! number for good ([`TraceId`]), an exit a number within its trace ([`ExitId`]), and what names both is an
//! [`ExitPoint`]. These are plain numbers: whoever has one must look up what it stands for.
//!
//! Invariant: numbers of traces are not used again, so a name leads to what it was made for, or to nothing.
//!
//! ```text
//! code returns 0x00000003_00000007  ->  ExitPoint { trace: TraceId(3), exit: ExitId(7) }
//! ```

use std::fmt;

use serde::{Serialize, Serializer};
use tracelift_cranelift::TreeId;

/// The key of a location: an address that the host chooses, such as that of the loop head's bytecode.
pub type Key = usize;

/// The number of a trace, from 0, in the order in which they were compiled.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize)]
#[serde(transparent)]
pub struct TraceId(pub u32);

impl TraceId {
    pub(crate) fn tree(self) -> TreeId {
        TreeId(self.0)
    }
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The number of an exit in its trace, from 0, in the order of the code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize)]
#[serde(transparent)]
pub struct ExitId(pub u32);

impl ExitId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for ExitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// An exit of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ExitPoint {
    /// The trace.
    pub trace: TraceId,
    /// Which of its exits.
    pub exit: ExitId,
}

impl ExitPoint {
    /// What compiled code returns when it is left there.
    pub fn of_code(left: u64) -> ExitPoint {
        ExitPoint { trace: TraceId((left >> 32) as u32), exit: ExitId(left as u32) }
    }
}

/// In statistics: trace and exit, in this order.
impl Serialize for ExitPoint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.trace, self.exit).serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_names_trace_and_exit_in_a_word() {
        let at = ExitPoint { trace: TraceId(3), exit: ExitId(7) };
        assert_eq!(ExitPoint::of_code(0x3_0000_0007), at);
        assert_eq!(serde_json::to_string(&at).expect("it is a pair"), "[3,7]");
    }
}
