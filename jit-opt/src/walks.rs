//! What the walks of a peeled loop have to do with one another.
//!
//! Problem: the loop uses what the preamble has computed, and its jump must pass the same of its own
//! iteration; a preamble may have several iterations, and the loop may use values of each. Design: each walk
//! leaves behind what recorded values, and parts of expansions, became in it ([`Walk`]). A value is named by
//! what it is in an iteration, and by how many iterations ago that was: its *age*. So the next of a value is
//! the same of the walk after that one's, which is the loop's if the age is 0.
//!
//! Invariant: walks are kept in order, and all of them have walked the same recorded operations. Example:
//! with `jump(L0, p1, p2)` at the end of `L0(p0, p1)` and a preamble of two iterations, what `p0` was in the
//! second of these is what `p1` was in the first.

use rustc_hash::FxHashSet as HashSet;

use tracelift_core::{Op, Payload, Value};

/// What an expansion emits: recorded instruction, operation, payload, and how many such there were before.
pub(crate) type MadeKey = (u32, Op, Payload, u32);

/// What a walk that is over has made.
pub(crate) struct Walk {
    /// Output value of each source value.
    pub map: Vec<Option<Value>>,
    /// Results of operations that expansions emitted.
    pub made: Vec<(MadeKey, Value)>,
}

/// The walks of a peeled loop: one or more for the preamble, one for the loop.
#[derive(Default)]
pub(crate) struct Walks {
    /// Whether there will be more than one, or the last is going on.
    pub is_peeling: bool,
    /// Those that are over.
    pub over: Vec<Walk>,
    /// Results of operations that expansions emitted on the walk at hand.
    pub made: Vec<(MadeKey, Value)>,
    /// On the loop's: how many values the preamble has made; 0 before.
    pub first_values: usize,
    /// On the loop's: those of them that the jump passes.
    pub passed: HashSet<Value>,
    /// On the loop's: values of the preamble that the same operations have again.
    pub steady: HashSet<Value>,
}

impl Walks {
    /// A walk is over, in which source values became these.
    pub fn end_one(&mut self, map: &[Option<Value>]) {
        self.over.push(Walk { map: map.to_vec(), made: std::mem::take(&mut self.made) });
    }
}
