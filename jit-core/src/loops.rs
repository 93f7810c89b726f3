//! What is known of a finished trace's loops: what its optimizer tells lowering.
//!
//! Problem: a loop is lowered several times in a row, and asks early for the memory that it walks through.
//! Both need to know what its iterations have in common. Who finds it out needs linear forms, what changes
//! and what an instruction may write, as the optimizer does; who uses it knows the machine: how much code is
//! too much, how long a line of the cache is. Design: the analysis (`jit-opt/src/loops.rs`) is made once, of
//! the finished trace, and says here what holds of the loop on any machine. Lowering decides what to make of
//! it, and analyses nothing.
//!
//! Invariants: positions are those of the trace that was analysed, and no other; whoever changes the trace
//! makes the facts anew. To know of no loop is never wrong: each is then lowered once, as it stands. Example:
//!
//! ```text
//! 0  L1(p0, i1):                        once: 1, 2
//! 1  i2 = load(p0, global.flag)         streams: 3, of p0, by 16 bytes
//! 2  guard_true(i2) interrupt
//! 3  a3 = item_addr(p0, i1, 16, 0)
//!    ...
//! 7  i6 = int_add(i1, 1)
//! 8  jump(L1, p0, i6)
//! ```

use std::ops::Range;

use crate::ir::{EntrySlot, LabelId, Value};

/// The loops of a trace.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Loops {
    loops: Vec<LoopFacts>,
    /// The label of a second body, to which nothing in the trace itself leads: traces that go on in the loop
    /// and become one function with it come there by `enter_loop`.
    pub second: Option<LabelId>,
    /// How the trace's `enter_loop` goes on, if it has one.
    pub entering: Option<Entering>,
}

/// How a trace goes on in the second body of a loop.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Entering {
    /// What is passed for each argument of the second body's label.
    pub given: Vec<Given>,
    /// Slots whose tags are to be what they say, or the trace goes on after `enter_loop`.
    pub checks: Vec<EntrySlot>,
    /// Slots that the loop has in its arguments, and writes where it is left: memory need not hold them.
    pub carried: Vec<i32>,
}

/// What is passed for an argument of a label.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Given {
    /// An argument of `enter_loop`, by position.
    Arg(u32),
    /// What a slot holds.
    Slot(i32),
}

impl Loops {
    /// Loops in the order of the trace.
    pub fn new(loops: Vec<LoopFacts>) -> Loops {
        Loops { loops, ..Loops::default() }
    }

    /// The loop whose label's instruction stands at this position.
    pub fn at(&self, position: usize) -> Option<&LoopFacts> {
        self.loops.iter().find(|facts| facts.body.start == position)
    }

    /// The same, where so many iterations are to come when a loop begins, if that is known.
    #[must_use]
    pub fn expect(mut self, iterations: Option<u64>) -> Loops {
        self.loops.iter_mut().for_each(|facts| facts.to_come = iterations);
        self
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &LoopFacts> {
        self.loops.iter()
    }
}

/// What is known of a loop: a label and what follows, up to a jump to that label.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoopFacts {
    /// Where it stands: from the label's instruction up to and without the jump.
    pub body: Range<usize>,
    /// Positions, in order, of what an iteration may leave out if one of the
    /// [`POLL_DISTANCE`](crate::schema::POLL_DISTANCE) - 1 before it has done it: tests for interrupts whose
    /// outcome no iteration changes, what is computed for them alone, and counted checks for a collection.
    /// The latter have to count for the iterations that leave them out.
    pub once: Vec<usize>,
    /// Addresses that move by a constant, in the order of the trace.
    pub streams: Vec<Stream>,
    /// What addresses of items have in common in all iterations.
    pub bases: Vec<Base>,
    /// How many iterations are to come where it begins, as far as its recording tells.
    pub to_come: Option<u64>,
}

/// A row of an array: the part of an item's address that stays the same where its index is the sum of what
/// stays and what changes, as in `y * width + x`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Base {
    /// What the item is one of, and the part of its index: arguments of the label that are passed on.
    pub array: Value,
    /// See there.
    pub index: Value,
    /// Bytes from one item to the next.
    pub stride: u32,
}

/// An item's address that moves by a constant from iteration to iteration, from a base that stays; a base
/// that is loaded anew in each iteration is taken to stay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stream {
    /// The position of the instruction that computes the address.
    pub inst: usize,
    /// What the item is one of.
    pub base: Value,
    /// The bytes by which an iteration moves it; not 0.
    pub step: i64,
    /// How far it is, in bytes, from where the index would be without the constant that is added to it: what
    /// tells streams of one base and step from one another.
    pub beside: i64,
}
