//! What the host is told to do: nothing, to run code, or to record.
//!
//! Problem: the answer at a hot back edge and after an exit crosses the boundary to the host, and is made in
//! several places. Design: an [`Action`] is plain data. Code to be run comes with the [`Room`] on the host's
//! stack that its exits may need, as the host alone knows how much it has. Invariant: an action names code
//! that is installed when the answer is given; the host acts on it before it calls anything else.
//!
//! ```text
//! Run { code, needs: Room { slots: 12, frames: 2 } }: call it, if 12 slots and 2 more frames are there
//! ```

use tracelift_cranelift::LinkedEntry;

/// What the host is to do.
#[derive(Clone, Copy, Debug)]
pub enum Action {
    /// Go on interpreting.
    Nothing,
    /// Call this code.
    Run(Run),
    /// Start a recording.
    Record,
}

/// Code to be called.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// The code.
    pub code: LinkedEntry,
    /// What an exit may need.
    pub needs: Room,
}

/// Room on the host's stack that exits need.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Room {
    /// Slots from the entry frame's base.
    pub slots: u32,
    /// Frames besides the entry frame.
    pub frames: u32,
}

impl Room {
    /// Room for both.
    pub(crate) fn or(self, other: Room) -> Room {
        Room { slots: self.slots.max(other.slots), frames: self.frames.max(other.frames) }
    }
}
