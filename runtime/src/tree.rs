//! Trees of traces: a loop's trace, its side traces, and what a way through them may need.
//!
//! Problem: side traces hang on exits of other traces, are linked to loops, and are freed with their root;
//! and the program comes from one trace to the next without the host, which must hold beforehand what any
//! exit on the way needs. Design: each trace knows its place in its [`Tree`] and who leads to it. Its
//! [`Reach`] is the most that the exits of all that it leads to may need; a new link adds the target's reach
//! to that of its source, and of those that lead there. Invariant: a reach only grows, so adding what is
//! there already ends the walk, in circles too.
//!
//! ```text
//! trace 1, a side trace of trace 0, may make 2 boxes  ->  the reach of trace 0 has room for 2 boxes as well
//! ```

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::Arc;

use tracelift_core::{Trace, UnitId};
use tracelift_cranelift::{CodePtr, Request};

use crate::abort::Failure;
use crate::ids::{ExitId, ExitPoint, Key, TraceId};
use crate::policy::{Replaced, SideState, Work};
use crate::recorder::{CallSite, Passed};
use crate::reserve::Need;
use crate::run::Room;
use crate::tunables::MANY_TURNS;

/// What a trace has to do with others, and with the host. So many fields: it is all that is kept of a trace
/// but its code and exits.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    /// The loop that the tree's root begins with.
    pub key: Key,
    /// The tree's root.
    pub root: TraceId,
    /// What the host knows the tree by.
    pub owner: usize,
    /// The exit that a side trace begins at.
    pub parent: Option<ExitPoint>,
    /// The loop where a side trace goes on at its end.
    pub link: Option<Key>,
    /// The frame where a side trace goes on at its end, whose base it passes on: in slots from the base that
    /// it is entered with.
    pub end: i32,
    /// The cell that says how many slots the code there may need, while this trace reads it.
    #[expect(dead_code, reason = "it is held for the code, which reads it")]
    pub room: Option<Arc<AtomicU64>>,
    /// Where the trace calls the host: its code hands these on.
    pub sites: Vec<CallSite>,
    /// Its exits that were tried.
    pub sides: BTreeMap<ExitId, SideState>,
    /// In a side trace: what has become of slots of other types than it expects, as of an exit. There may be
    /// another side trace for them.
    pub other: Option<SideState>,
    /// Why recording at some of them has failed last.
    pub failures: BTreeMap<ExitId, Failure>,
    /// In a root: the side traces of the tree.
    pub count: u32,
    /// Back edges that the trace passes from one jump to the next, the loop's own left out.
    pub edges: u32,
    /// Of which loops they are.
    pub passed: Vec<Passed>,
    /// In a loop that counts its iterations: how many were still to come when it was recorded.
    pub to_come: Option<u64>,
    /// What the interpreter had to do for what was recorded.
    pub work: Work,
    /// What of the interpreter's time that is.
    pub replaced: Replaced,
    /// Whether the tree's code adds that up.
    pub adds_up: bool,
    /// In a long loop without a preamble: how often it has gone round.
    pub turns: Option<Turns>,
    /// Traces whose links lead here, or which call the unit.
    pub from: Vec<Way>,
    /// The unit that it belongs to.
    pub unit: Option<UnitId>,
    /// The units that it calls, and in how many slots' distance, if it belongs to none.
    pub calls: Vec<(UnitId, i32)>,
}

/// A trace as code is made of it, alone or together with others of its tree.
#[derive(Debug)]
pub(crate) struct Member {
    pub number: TraceId,
    /// Optimized.
    pub trace: Trace,
    pub request: Request,
    pub parent: Option<ExitPoint>,
    /// The loop's trace whose second body it may go on in.
    pub enters: Option<TraceId>,
}

/// A trace in a region.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Part {
    pub trace: TraceId,
    /// Where its frame is, in slots from the root's.
    pub frame: i32,
    /// The position of the root in which it goes on.
    pub goes_to: Option<usize>,
}

/// What is kept of a root's region.
#[derive(Default)]
pub(crate) struct Region {
    /// What the side traces count down; made with the first one.
    pub crossings: Option<Box<u64>>,
    /// Where that count began, and what was counted before, since a region was made last.
    pub wanted: u64,
    pub paid: u64,
    /// Crossings in the tree before that count began.
    before: u64,
    /// The root's own code, while that of the region is in its place.
    pub plain: Option<CodePtr>,
    /// The traces that are in it, the root first.
    pub members: Vec<TraceId>,
    /// How often in a row it could not be made.
    pub refused: u64,
}

impl Region {
    /// So many crossings are to be counted.
    pub fn begin(&mut self, wanted: u64) {
        self.before = self.crossed();
        self.wanted = wanted;
        self.crossings.iter_mut().for_each(|count| **count = wanted);
    }

    /// How often the program has come to side traces of the tree from others, as long as no region was made
    /// that contains both.
    pub fn crossed(&self) -> u64 {
        let left = self.crossings.as_ref().map_or(self.wanted, |count| **count);
        self.before + self.wanted.saturating_sub(left)
    }
}

/// What counts the iterations of a loop without a preamble.
#[derive(Debug)]
pub(crate) struct Turns {
    /// What its code counts down.
    left: Box<i64>,
    /// Where that began, and what was counted before.
    begun: i64,
    before: u64,
}

impl Turns {
    pub fn new() -> Turns {
        let begun = MANY_TURNS as i64;
        Turns { left: Box::new(begun), begun, before: 0 }
    }

    /// The cell that code counts down.
    pub fn cell(&mut self) -> *mut i64 {
        &raw mut *self.left
    }

    /// Whether there were enough.
    pub fn is_due(&self) -> bool {
        *self.left < 0
    }

    /// Iterations so far.
    pub fn all(&self) -> u64 {
        self.before + (self.begun - *self.left).max(0) as u64
    }

    /// The code leaves again after so many.
    pub fn begin(&mut self, more: u64) {
        self.before = self.all();
        self.begun = i64::try_from(more).unwrap_or(i64::MAX);
        *self.left = self.begun;
    }
}

/// A link from another trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Way {
    pub from: TraceId,
    /// The frame that it passes on, in slots from that trace's own.
    pub frame: i32,
}

impl Tree {
    /// Exits where no side trace could be recorded so far.
    pub fn failed(&self) -> u32 {
        self.sides.values().filter(|side| side.failures() > 0).count() as u32
    }
}

/// What exits need that the program may come to once it has entered a trace.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Reach {
    /// On the host's stack.
    pub needs: Room,
    /// Virtual objects, by index of their shape, each once.
    pub lifts: Vec<Need>,
}

impl Reach {
    /// The same as a trace needs it that passes on the base of another frame, so many slots from its own.
    /// Where that one lies above, the trace makes sure of the room itself.
    pub fn seen_from(&self, frame: i32) -> Reach {
        let slots = if frame > 0 { 0 } else { self.needs.slots.saturating_sub(frame.unsigned_abs()) };
        Reach { needs: Room { slots, ..self.needs }, lifts: self.lifts.clone() }
    }

    /// Of one trace alone.
    pub fn new(needs: Room, lifts: &[Need]) -> Reach {
        let mut reach = Reach { needs, lifts: Vec::new() };
        reach.absorb(&Reach { needs, lifts: lifts.to_vec() });
        reach
    }

    /// Adds what another trace needs; whether it was more.
    pub fn absorb(&mut self, other: &Reach) -> bool {
        let needs = self.needs.or(other.needs);
        let mut grows = needs != self.needs;
        self.needs = needs;
        for need in &other.lifts {
            match self.lifts.iter_mut().find(|known| known.index == need.index) {
                Some(known) if known.count >= need.count => continue,
                Some(known) => known.count = need.count,
                None => self.lifts.push(*need),
            }
            grows = true;
        }
        grows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reach_grows_by_what_is_more() {
        let need = |index, count| Need { index, count };
        let room = |slots, frames| Room { slots, frames };
        let mut reach = Reach::new(room(4, 1), &[need(0, 2)]);
        assert!(!reach.absorb(&Reach::new(room(3, 1), &[need(0, 1)])), "all of it was there");
        assert!(reach.absorb(&Reach::new(room(3, 2), &[])) && reach.needs == room(4, 2));
        assert!(reach.absorb(&Reach::new(room(9, 0), &[])) && reach.needs == room(9, 2));
        assert!(reach.absorb(&Reach::new(room(0, 0), &[need(0, 5)])) && reach.lifts == [need(0, 5)]);
        assert!(
            reach.absorb(&Reach::new(room(0, 0), &[need(3, 1)])) && reach.lifts == [need(0, 5), need(3, 1)]
        );
        assert!(!reach.absorb(&reach.clone()));
    }
}
