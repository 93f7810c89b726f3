//! Resume data: what an exit needs to rebuild the interpreter's state, in few bytes.
//!
//! Problem: a trace has a guard every few instructions and each remembers tens of slots, so that resume data
//! can be larger than the machine code. Design: per exit a string of variable-length integers; a payload
//! names a place in the exit buffer, a constant of a pool that all exits of the trace share, or a virtual
//! object; exits with equal state share the bytes. `encode` writes it from the optimized trace, `decode`
//! reads it where it lies, without building anything.
//!
//! ```text
//! exit   := origin+1 (0: no snapshot)  results  virtuals  pending  frames
//! results, virtuals, pending, frames, … := count, then that many
//! virtual:= layout  items  keys  fields(field source)*  items(index tag+1 source)*
//!           entries(source tag+1 source)*
//! pending:= source  cell  source
//! frame  := zigzag(base)  words(pool index)*  slots(zigzag(slot - previous - 1) tag source)*
//! source := index*4 + kind (0 nothing, 1 exit buffer, 2 pool, 3 virtual); nothing's index: 1 in place
//! ```
//!
//! Invariant: index `n` of the exit buffer is the `n`th value of [`tracelift_core::live_values`], which
//! lowering stores in that order. Example: a frame that sets slot 3 to an integer in buffer cell 0 is
//! `base, words, 01, 06, tag, 01`.

mod decode;
mod encode;
mod varint;

pub use decode::{DecodeError, FrameData, Items, PendingData, ResumeState, SlotData, VirtualData};
pub(crate) use encode::encode;
use tracelift_core::{Bits, Const, ExitKind};

/// Where a payload comes from when an exit is decoded.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ResumeSource {
    /// No payload: the tag says it all.
    Nothing,
    /// A cell of the exit buffer.
    Buffer(u32),
    /// A constant of the trace's pool.
    Constant(u32),
    /// A virtual object of the same exit.
    Virtual(u32),
    /// Memory holds the slot already, its tag too.
    InPlace,
}

impl ResumeSource {
    /// The bits it stands for; `None` for virtual objects, for nothing, for what is in place, and for indices
    /// outside.
    pub fn bits(self, buffer: &[Bits], pool: &[Bits]) -> Option<Bits> {
        match self {
            ResumeSource::Nothing | ResumeSource::Virtual(_) | ResumeSource::InPlace => None,
            ResumeSource::Buffer(index) => buffer.get(index as usize).copied(),
            ResumeSource::Constant(index) => pool.get(index as usize).copied(),
        }
    }
}

/// The resume data of one exit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Resume {
    /// Position of the instruction in the optimized trace.
    pub inst: u32,
    /// Why the exit is taken.
    pub kind: ExitKind,
    /// How many cells of the exit buffer it uses.
    pub live: u32,
    start: u32,
    len: u32,
}

/// The resume data of a trace.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ResumeTable {
    /// The exits' strings, equal ones once.
    pub bytes: Vec<u8>,
    /// Constants of all exits, equal ones once.
    pub pool: Vec<Const>,
    /// The exits, by exit number.
    pub exits: Vec<Resume>,
    /// How many different strings there are.
    pub distinct: usize,
}

impl ResumeTable {
    /// The string of an exit.
    pub fn data(&self, exit: usize) -> Option<&[u8]> {
        let exit = self.exits.get(exit)?;
        self.bytes.get(exit.start as usize..exit.start as usize + exit.len as usize)
    }

    /// The state at an exit, ready to be read.
    pub fn state(&self, exit: usize) -> Result<ResumeState<'_>, DecodeError> {
        let data = self.data(exit).ok_or(DecodeError::NoSuchExit)?;
        ResumeState::parse(data, self.exits[exit].live, self.pool.len() as u32)
    }

    /// The pool as bits; `None` while it holds objects of a test world that are not bound to addresses.
    pub fn pool_bits(&self) -> Option<Vec<Bits>> {
        self.pool.iter().map(|constant| constant.bits()).collect()
    }
}

#[cfg(test)]
mod tests;
