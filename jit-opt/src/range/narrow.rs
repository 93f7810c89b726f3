//! What compares say of ranges, and results of operands.
//!
//! Problem: a guard that is passed tells more than that it would be passed again: `i < n` bounds both, and
//! what bounds `i + 1` bounds `i`. Design: three questions. How does a compare come out ([`decided`])? What
//! do its operands have if it came out like this ([`narrowed`])? What do the operands of an operation have if
//! its result is in a range ([`operands`])? The last goes against the direction in which a trace computes
//! (*backward propagation*, as in RPython's `intbounds.py`).
//!
//! Invariant: no pair of numbers is lost for which the compare comes out so, or the operation gives a number
//! of that range. A sum that may wrap around says little: `x + 10 < 15` does not make `x` less than 5.
//! Example: after `x + 1 < 10`, where `x` is known not to be negative, `x` is from 0 to 8.

use tracelift_core::planted::{planted, Bug};
use tracelift_core::Op;

use super::Range;

/// What is known of two operands.
pub(crate) type Pair<const W: u32> = (Range<W>, Range<W>);

/// Whether a compare of integers holds for all, or for none of the numbers.
pub(crate) fn decided<const W: u32>(op: Op, a: Range<W>, b: Range<W>) -> Option<bool> {
    let either = |holds: bool, fails: bool| match (holds, fails) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    };
    let ((a_min, a_max), (b_min, b_max)) = (a.unsigned_ends(), b.unsigned_ends());
    match op {
        Op::IntLt => either(a.max < b.min, a.min >= b.max),
        Op::IntLe if planted(Bug::RangeLessOrEqual) => either(a.max <= b.min, a.min >= b.max),
        Op::IntLe => either(a.max <= b.min, a.min > b.max),
        Op::UintLt => either(a_max < b_min, a_min >= b_max),
        Op::UintLe => either(a_max <= b_min, a_min > b_max),
        Op::IntEq => either(a.single().is_some() && a.single() == b.single(), a.met(b).is_none()),
        Op::IntNe => decided(Op::IntEq, a, b).map(|equal| !equal),
        Op::IntGt => decided(Op::IntLt, b, a),
        Op::IntGe => decided(Op::IntLe, b, a),
        Op::UintGt => decided(Op::UintLt, b, a),
        Op::UintGe => decided(Op::UintLe, b, a),
        _ => None,
    }
}

/// The operands of a compare that came out like this; `None` if it cannot.
pub(crate) fn narrowed<const W: u32>(op: Op, holds: bool, a: Range<W>, b: Range<W>) -> Option<Pair<W>> {
    let (op, is_swapped) = plain(op, holds)?;
    let (a, b) = if is_swapped { (b, a) } else { (a, b) };
    let (a, b) = match op {
        Op::IntLt => (a.at_most(b.max.checked_sub(1)?)?, b.at_least(a.min.checked_add(1)?)?),
        Op::IntLe => (a.at_most(b.max)?, b.at_least(a.min)?),
        Op::UintLt => {
            let (least, most) = (a.unsigned_ends().0, b.unsigned_ends().1);
            (a.at_most_unsigned(most.checked_sub(1)?)?, b.at_least_unsigned(least.checked_add(1)?)?)
        }
        Op::UintLe => {
            let (least, most) = (a.unsigned_ends().0, b.unsigned_ends().1);
            (a.at_most_unsigned(most)?, b.at_least_unsigned(least)?)
        }
        Op::IntEq => {
            let both = a.met(b)?;
            (both, both)
        }
        _ => (a.without(b)?, b.without(a)?),
    };
    Some(if is_swapped { (b, a) } else { (a, b) })
}

/// A compare that holds or not as one that holds: less, less or equal, equal or different; and whether its
/// operands change places.
fn plain(op: Op, holds: bool) -> Option<(Op, bool)> {
    let (less, less_or_equal) = match op {
        Op::UintLt | Op::UintLe | Op::UintGt | Op::UintGe => (Op::UintLt, Op::UintLe),
        _ => (Op::IntLt, Op::IntLe),
    };
    Some(match (op, holds) {
        (Op::IntLt | Op::UintLt, true) | (Op::IntGe | Op::UintGe, false) => (less, false),
        (Op::IntLt | Op::UintLt, false) | (Op::IntGe | Op::UintGe, true) => (less_or_equal, true),
        (Op::IntGt | Op::UintGt, true) | (Op::IntLe | Op::UintLe, false) => (less, true),
        (Op::IntGt | Op::UintGt, false) | (Op::IntLe | Op::UintLe, true) => (less_or_equal, false),
        (Op::IntEq, true) | (Op::IntNe, false) => (Op::IntEq, false),
        (Op::IntEq, false) | (Op::IntNe, true) => (Op::IntNe, false),
        _ => return None,
    })
}

impl<const W: u32> Range<W> {
    fn at_most(self, max: i64) -> Option<Range<W>> {
        (max >= Self::MIN).then_some(())?;
        self.met(Range { max, ..Self::ANY })
    }

    fn at_least(self, min: i64) -> Option<Range<W>> {
        (min <= Self::MAX).then_some(())?;
        self.met(Range { min, ..Self::ANY })
    }

    /// An end between the greatest number and the least one, where `W` is less than 64, is at one of them.
    fn at_most_unsigned(self, max: u64) -> Option<Range<W>> {
        match max >= Self::SIGN {
            true if self.max < 0 => self.at_most(max as i64),
            true => Some(self),
            false => self.met(Range { min: 0, max: max.min(Self::MAX as u64) as i64, ..Self::ANY }),
        }
    }

    fn at_least_unsigned(self, min: u64) -> Option<Range<W>> {
        match min > Self::MAX as u64 {
            true => self.met(Range { min: min.max(Self::SIGN) as i64, max: -1, ..Self::ANY }),
            false if self.is_not_negative() => self.at_least(min as i64),
            false => Some(self),
        }
    }

    /// Without the only number of another, if that is at an end.
    fn without(self, other: Range<W>) -> Option<Range<W>> {
        let Some(gone) = other.single() else { return Some(self) };
        match (self.min == gone, self.max == gone) {
            (true, true) => None,
            (true, _) => self.at_least(gone + 1),
            (_, true) => self.at_most(gone - 1),
            _ => Some(self),
        }
    }
}

/// The operands of an operation of two operands whose result is in this range, given what is known of them;
/// `None` if nothing is.
pub(crate) fn operands<const W: u32>(op: Op, a: Range<W>, b: Range<W>, result: Range<W>) -> Option<Pair<W>> {
    let of_bits = |known: u64| Range::<W>::of_bits(result.ones & known, !known);
    let inverse = |op: Op, x, y| super::result(op, &[x, y]).unwrap_or(Range::ANY);
    let (x, y) = match op {
        // They are the difference and the sum, whatever wraps around.
        Op::IntAdd | Op::IntAddOvf => {
            let (x, y) = (inverse(Op::IntSub, result, b), inverse(Op::IntSub, result, a));
            if planted(Bug::RangeWrapForgotten) {
                let upper = |other: Range<W>| result.max.saturating_sub(other.min).min(Range::<W>::MAX);
                let not_above = |other: Range<W>| Range { max: upper(other), ..Range::ANY };
                return Some((a.met(not_above(b)).unwrap_or(a), b.met(not_above(a)).unwrap_or(b)));
            }
            (x, y)
        }
        Op::IntSub | Op::IntSubOvf => (inverse(Op::IntAdd, result, b), inverse(Op::IntSub, a, result)),
        Op::IntXor => (inverse(Op::IntXor, result, b), inverse(Op::IntXor, result, a)),
        // A bit that is 1 is 1 in both; one that is 0 is 0 in one where the other has 1.
        Op::IntAnd => {
            let known = |other: Range<W>| !result.unknown & (result.ones | other.ones);
            (of_bits(known(b)), of_bits(known(a)))
        }
        Op::IntOr => {
            let zeros = |of: Range<W>| !of.unknown & !of.ones;
            let known = |other: Range<W>| !result.unknown & (!result.ones | zeros(other));
            (of_bits(known(b)), of_bits(known(a)))
        }
        _ => return None,
    };
    Some((a.met(x)?, b.met(y)?))
}
