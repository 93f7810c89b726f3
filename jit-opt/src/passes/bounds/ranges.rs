//! What is known of where integers lie, by the sums that are made of one root.
//!
//! Problem: `t[i - 1]`, `t[i]` and `t[i + 1]` are tested one after the other; the outer two say all of the
//! one between, and in a loop the guard before it says all of those to come. Design: a [`Span`] holds what
//! guards have shown of the sums of one root: constants with which it is not negative, or below a bound, and
//! the guards that speak for later iterations ([`Ahead`]). It answers whether another constant follows from
//! them. Whose guards these are, and what the loop does with the root, is the pass's to say.
//!
//! Invariant: constants are below 2^31, so that none of those compared wraps around. Example: a span that is
//! not negative with -1, and not negative and below `i7` with 1, is in range of `i7` with 0.

use smallvec::SmallVec;

use tracelift_core::planted::{planted, Bug};
use tracelift_core::{Trace, Value};

use crate::linear::{Sums, Terms};

/// Constants of sums stay below this, so that sums of some of them do not wrap around.
pub(super) const FAR: u64 = 1 << 31;

/// `value = root + plus`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sum {
    pub value: Value,
    pub root: Terms,
    pub plus: i64,
}

impl Sum {
    /// An integer as a sum, if it is no constant and its constant part is not far.
    pub fn of(sums: &Sums, trace: &Trace, value: Value) -> Option<Sum> {
        let linear = sums.of(trace, value).ok()?;
        let is_near = linear.plus.unsigned_abs() < FAR;
        is_near.then_some(Sum { value, root: linear.terms, plus: linear.plus })
    }
}

/// A guard that speaks for the iterations to come: `root + plus` stays in range of `bound` (or not negative,
/// if it falls).
#[derive(Clone, Copy, Debug)]
pub(super) struct Ahead {
    pub bound: Value,
    pub plus: i64,
    /// Its number in [`Hoisted::guards`](crate::state::Hoisted::guards).
    pub number: usize,
    /// The number of another guard that it needs: that a stride is near.
    pub are_near: Option<usize>,
    /// It speaks for accesses after the guard that ends the loop, and not for those before it.
    pub is_after_end: bool,
    /// It tests the bound too, so that `root + plus` is in range in the preamble, also as a signed number.
    pub tests_bound: bool,
}

/// What is known of the sums of one root.
#[derive(Clone, Debug, Default)]
pub(super) struct Span {
    /// Constants with which it is not negative.
    not_negative: SmallVec<[i64; 4]>,
    /// Constants with which it is less than a bound, as signed numbers.
    below: SmallVec<[(i64, Value); 4]>,
    /// What the preamble has made sure of.
    pub ahead: SmallVec<[Ahead; 2]>,
}

impl Span {
    /// Learns that it is not negative with this constant.
    pub fn learn_not_negative(&mut self, plus: i64) {
        if !self.not_negative.contains(&plus) {
            self.not_negative.push(plus);
        }
    }

    /// Learns that it is below a bound with this constant, as signed numbers.
    pub fn learn_below(&mut self, plus: i64, bound: Value) {
        if !self.below.contains(&(plus, bound)) {
            self.below.push((plus, bound));
        }
    }

    /// The bound that it was found to be below last with this constant.
    pub fn bound_of(&self, plus: i64) -> Option<Value> {
        self.below.iter().rev().find(|(known, _)| *known == plus).map(|&(_, bound)| bound)
    }

    /// Whether it was found not to be negative with this very constant.
    pub fn was_not_negative(&self, plus: i64) -> bool {
        self.not_negative.contains(&plus)
    }

    /// Whether it lies between two sums that are not negative.
    pub fn is_not_negative(&self, plus: i64) -> bool {
        let known = &self.not_negative;
        known.iter().any(|&low| low <= plus) && known.iter().any(|&high| high >= plus)
    }

    /// Whether it lies between one sum that is not negative and one that is in range.
    pub fn is_in_range(&self, plus: i64, bound: Value) -> bool {
        self.not_negative.iter().any(|&low| low <= plus) && self.has_higher(plus, bound)
    }

    /// Whether a sum with this constant or a greater one is in range.
    fn has_higher(&self, plus: i64, bound: Value) -> bool {
        let is_high = |&(high, of): &(i64, Value)| high >= plus && of == bound && self.was_not_negative(high);
        self.below.iter().any(is_high)
    }

    /// Whether `ahead` speaks for a sum of an iteration, over the root of the first one, in this iteration
    /// and in all later ones, and why it is in range at the start. Each iteration adds `step` to the root,
    /// those before have added `added`; `is_after_end` says that the guard which ends the loop was passed.
    pub fn covers(
        &self,
        ahead: &Ahead,
        plus: i64,
        (step, added): (i64, i64),
        is_after_end: bool,
    ) -> Option<Start> {
        let before = plus - added;
        let (is_near, is_known) = match step > 0 {
            true => {
                let is_above = self.not_negative.iter().any(|&low| low <= plus);
                (before <= ahead.plus, is_above || planted(Bug::BoundsStartIgnored))
            }
            false => (before >= ahead.plus, self.has_higher(plus, ahead.bound)),
        };
        let is_outside = |other: &&Ahead| match step > 0 {
            true => other.tests_bound && other.bound == ahead.bound && other.plus <= plus,
            false => other.tests_bound && other.bound == ahead.bound && other.plus >= plus,
        };
        if !is_near || ahead.is_after_end && !is_after_end {
            return None;
        }
        match is_known {
            true => Some(Start::Known),
            false => self.ahead.iter().find(is_outside).map(|other| Start::Tested(other.number)),
        }
    }
}

/// Why a sum is in range where the loop begins.
#[derive(Clone, Copy, Debug)]
pub(super) enum Start {
    /// Guards of the preamble have shown it.
    Known,
    /// The hoisted guard of this number has, which tests the bound too.
    Tested(usize),
}
