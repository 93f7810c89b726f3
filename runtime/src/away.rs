//! What waits for its code, and what will be done with that.
//!
//! Problem: code may be made on another thread, and the program has gone on when it comes. Design: all that
//! is to be done then is said by values ([`Attach`]): what the trace is for, and where it goes on. The VM has
//! one [`Background`]; what is done with it is in `background.rs` and `attach.rs`. Invariant: what waits
//! holds no pointer to the host's frames.
//!
//! ```text
//! recorded after exit 3 of trace 0, on to loop_7f00: Attach { Side(0, 3), onward: Known(trace 0) }
//! ```

use tracelift_core::UnitId;

use crate::abort::Failure;
use crate::ids::{ExitPoint, Key, TraceId};
use crate::job::Wanted;
use crate::recorder::Start;
use crate::stats::ThreadUse;
use crate::tree::Part;
use crate::worker::Worker;

/// What a recorded trace is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// A loop that comes back to its head.
    Loop,
    /// What begins at a location and goes on elsewhere.
    Root,
    /// What runs after an exit; of a unit, too.
    Side(ExitPoint),
    /// A unit's first trace.
    Unit(UnitId),
}

/// Where a trace goes on at its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Onward {
    pub key: Key,
    pub entry: EntryThere,
}

/// Which of the entries there.
#[derive(Clone, Copy, Debug)]
pub(crate) enum EntryThere {
    /// The one that takes the slots at this address: those that the recording's count from. Not to be kept.
    Fitting(*const u8),
    /// This one, if it is still entered then; if there is none, what the program finds.
    Known(Option<TraceId>),
}

/// What is to be done with a trace's code.
#[derive(Clone, Debug)]
pub(crate) struct Attach {
    pub key: Key,
    pub role: Role,
    pub onward: Option<Onward>,
    /// Why it ends, if that is before something that cannot be recorded.
    pub ends: Option<Failure>,
}

impl Role {
    /// What a recording of a location that began so is for, where it does not come back to its head.
    pub fn of(start: Start) -> Role {
        match start {
            Start::Side(at) => Role::Side(at),
            Start::Unit(unit) => Role::Unit(unit),
            Start::Loop { .. } | Start::Entry => Role::Root,
        }
    }
}

/// The thread, and what it does.
#[derive(Default)]
pub(crate) struct Background {
    pub worker: Option<Worker>,
    pub away: Option<Away>,
    /// Test aid: after so many looks in vain what is away is waited for, so that a run can be made again.
    pub looks: Option<u64>,
    /// The system gave no thread.
    pub is_refused: bool,
    pub used: ThreadUse,
}

/// What is being made elsewhere.
pub(crate) enum Away {
    Trace { ops: u64, attach: Attach, wanted: Wanted },
    Region { root: TraceId, parts: Vec<Part> },
}
