//! Places in programs: what the service and its host mean by one.
//!
//! Problem: a place is asked for by what is at hand, which is a key before a recording and words of a frame
//! within one. Design: it is either. Invariant: what is in it belongs to the host, and only the host can say
//! what people call it ([`crate::names`]).
//!
//! Example: `Place::Frame(&[0x7f08, 1, 0])`, with the address of an instruction in the first word.

use crate::ids::Key;

/// A place in the program that a host may have a name for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place<'a> {
    /// A loop's head, or an entry.
    Key(Key),
    /// Where a frame with these words goes on.
    Frame(&'a [u64]),
}
