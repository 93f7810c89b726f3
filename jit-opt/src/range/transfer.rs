//! What an operation makes of ranges.
//!
//! Problem: the result of `a op b` for all numbers of two ranges, in a few instructions. Design: interval and
//! bits on their own, each exact or wider. Intervals go by their corners where an operation rises or falls
//! steadily in each operand, in numbers of twice the width, so that it is seen what wraps around. A divisor
//! that may be 0 leaves nothing known, as the operation has no value then.
//!
//! Invariant: whatever numbers the ranges have, the result's range has what the op table's `eval` makes of
//! them. Example: 3 to 5 times -2 to 1 is -10 to 5.

use tracelift_core::planted::{planted, Bug};
use tracelift_core::Op;

use super::Range;

/// The range of an operation's result; `None` if nothing is known.
pub(crate) fn result<const W: u32>(op: Op, args: &[Range<W>]) -> Option<Range<W>> {
    if is_test(op) {
        return Some(Range::TRUTH);
    }
    // Mostly so; the others make something of nothing, such as a shift of its count.
    let is_arithmetic = matches!(op, Op::IntAdd | Op::IntSub | Op::IntMul | Op::IntXor);
    if is_arithmetic && args.iter().all(|arg| arg.is_any()) {
        return None;
    }
    let known = match (op, args) {
        (Op::IntAdd, &[a, b]) => a.plus(b),
        (Op::IntSub, &[a, b]) => a.minus(b),
        (Op::IntMul, &[a, b]) => a.times(b),
        (Op::IntAddOvf, &[a, b]) => a.plus(b).not_wrapped(a.sum(b)),
        (Op::IntSubOvf, &[a, b]) => a.minus(b).not_wrapped(a.difference(b)),
        (Op::IntMulOvf, &[a, b]) => a.times(b).not_wrapped(a.product(b)),
        (Op::IntNeg, &[a]) => Range::of(0).minus(a),
        (Op::IntNot, &[a]) => Range::of(-1).minus(a),
        (Op::IntAnd, &[a, b]) => a.and(b),
        (Op::IntOr, &[a, b]) => a.or(b),
        (Op::IntXor, &[a, b]) => Range::of_bits(a.ones ^ b.ones, a.unknown | b.unknown),
        (Op::IntShl, &[a, count]) => a.shifted_left(count),
        (Op::IntSar, &[a, count]) => a.shifted_right(count),
        (Op::IntShr, &[a, count]) => a.shifted_right_unsigned(count),
        (Op::IntDiv, &[a, b]) => a.divided(b, |x, y| x / y),
        (Op::IntFloorDiv, &[a, b]) => a.divided(b, floor_quotient),
        (Op::IntRem, &[a, b]) => a.rest(b),
        (Op::IntFloorMod, &[a, b]) => a.floor_rest(b),
        (Op::Select, &[_, a, b]) => a.joined(b),
        _ => return None,
    };
    (!known.is_any()).then_some(known)
}

/// Whether a sum, difference or product of these never overflows.
pub(crate) fn cannot_overflow<const W: u32>(op: Op, a: Range<W>, b: Range<W>) -> bool {
    let ends = match op {
        Op::IntAddOvf | Op::IntSubOvf | Op::IntMulOvf if planted(Bug::RangeOverflowForgotten) => return true,
        Op::IntAddOvf => a.sum(b),
        Op::IntSubOvf => a.difference(b),
        Op::IntMulOvf => a.product(b),
        _ => return false,
    };
    Range::<W>::MIN as i128 <= ends.0 && ends.1 <= Range::<W>::MAX as i128
}

/// Whether `a op b` is `a`, whatever these are.
pub(crate) fn is_first<const W: u32>(op: Op, a: Range<W>, b: Range<W>) -> bool {
    let least_divisor = || i128::from(b.min).abs().min(i128::from(b.max).abs());
    match op {
        // No bit is taken away; none is new.
        Op::IntAnd => (a.ones | a.unknown) & !b.ones == 0,
        Op::IntOr => (b.ones | b.unknown) & !a.ones == 0,
        Op::IntRem if b.min > 0 || b.max < 0 => {
            let (min, max) = a.wide();
            -least_divisor() < min && max < least_divisor()
        }
        Op::IntFloorMod if b.min > 0 => a.min >= 0 && a.max < b.min,
        Op::IntFloorMod if b.max < 0 => a.max <= 0 && a.min > b.max,
        _ => false,
    }
}

/// Whether a division of these comes out the same towards zero and towards minus infinity.
pub(crate) fn is_rounded_down<const W: u32>(a: Range<W>, b: Range<W>) -> bool {
    a.min >= 0 && b.min > 0
}

/// Whether the result is 0 or 1, whatever the operands.
fn is_test(op: Op) -> bool {
    use Op::*;
    let of_ints =
        matches!(op, IntEq | IntNe | IntLt | IntLe | IntGt | IntGe | UintLt | UintLe | UintGt | UintGe);
    let of_floats = matches!(op, FloatEq | FloatNe | FloatLt | FloatLe | FloatGt | FloatGe);
    of_ints || of_floats || matches!(op, RefEq | RefNe | RefIsNull | AddrEq)
}

/// Towards minus infinity; the divisor is not 0.
fn floor_quotient(x: i128, y: i128) -> i128 {
    x.div_euclid(y) - i128::from(y < 0 && x.rem_euclid(y) != 0)
}

/// The least and the greatest of these.
fn hull(corners: [i128; 4]) -> (i128, i128) {
    corners.iter().fold((corners[0], corners[0]), |(min, max), &corner| (min.min(corner), max.max(corner)))
}

impl<const W: u32> Range<W> {
    /// The ends as numbers of twice the width.
    fn wide(self) -> (i128, i128) {
        (self.min.into(), self.max.into())
    }

    /// What the operation gives for the four corners.
    fn corners(self, other: Range<W>, op: impl Fn(i128, i128) -> i128) -> (i128, i128) {
        let ((a, b), (c, d)) = (self.wide(), other.wide());
        hull([op(a, c), op(a, d), op(b, c), op(b, d)])
    }

    /// Of a result that did not wrap around, with the interval that it would have had in wider numbers.
    fn not_wrapped(self, (min, max): (i128, i128)) -> Range<W> {
        let (low, high) = (Self::MIN.into(), Self::MAX.into());
        let (min, max) = (min.max(low), max.min(high));
        let interval = if min <= max { Range::between(min as i64, max as i64) } else { Self::ANY };
        self.met(interval).unwrap_or(self)
    }

    fn sum(self, other: Range<W>) -> (i128, i128) {
        let ((a, b), (c, d)) = (self.wide(), other.wide());
        (a + c, b + d)
    }

    fn difference(self, other: Range<W>) -> (i128, i128) {
        let ((a, b), (c, d)) = (self.wide(), other.wide());
        (a - d, b - c)
    }

    fn product(self, other: Range<W>) -> (i128, i128) {
        self.corners(other, |x, y| x * y)
    }

    fn plus(self, other: Range<W>) -> Range<W> {
        // A bit is unknown where an operand's is, or where what is carried depends on one that is.
        let least = self.ones.wrapping_add(other.ones);
        let most = least.wrapping_add(self.unknown.wrapping_add(other.unknown));
        let unknown = (least ^ most) | self.unknown | other.unknown;
        let (min, max) = self.sum(other);
        Range::wrapped(min, max, Range::of_bits(least, unknown))
    }

    fn minus(self, other: Range<W>) -> Range<W> {
        let middle = self.ones.wrapping_sub(other.ones);
        let most = middle.wrapping_add(self.unknown);
        let least = middle.wrapping_sub(other.unknown);
        let unknown = (least ^ most) | self.unknown | other.unknown;
        let (min, max) = self.difference(other);
        Range::wrapped(min, max, Range::of_bits(middle, unknown))
    }

    fn times(self, other: Range<W>) -> Range<W> {
        // From the right: how many bits are 0, and how many are known.
        let zeros = |of: Range<W>| (of.ones | of.unknown).trailing_zeros();
        let known = |of: Range<W>| of.unknown.trailing_zeros();
        let count = (known(self) + zeros(other)).min(known(other) + zeros(self)).min(64);
        let unknown = if count == 64 { 0 } else { u64::MAX << count };
        let bits = Range::of_bits(self.ones.wrapping_mul(other.ones), unknown);
        let (min, max) = self.product(other);
        Range::wrapped(min, max, bits)
    }

    fn and(self, other: Range<W>) -> Range<W> {
        let may_be_one = (self.ones | self.unknown) & (other.ones | other.unknown);
        let ones = self.ones & other.ones;
        let bits = Range::of_bits(ones, may_be_one & !ones);
        // No number of which bits are taken away is less than it was, if it was not negative.
        let most = [self, other].iter().filter(|of| of.is_not_negative()).map(|of| of.max).min();
        let interval = most.map_or(Self::ANY, |most| Range::between(0, most));
        bits.met(interval).unwrap_or(bits)
    }

    fn or(self, other: Range<W>) -> Range<W> {
        let ones = self.ones | other.ones;
        let bits = Range::of_bits(ones, (self.unknown | other.unknown) & !ones);
        // Nor is one less to which bits are added, if the sign is not among them.
        let least = match (self.is_not_negative() && other.is_not_negative(), self.max < 0, other.max < 0) {
            (true, ..) => self.min.max(other.min),
            (_, true, true) => self.min.max(other.min),
            (_, true, _) => self.min,
            (_, _, true) => other.min,
            _ => Self::MIN,
        };
        bits.met(Range { min: least, ..Self::ANY }).unwrap_or(bits)
    }

    /// The count, if it is known to be less than the width.
    fn counts(self) -> Option<(u32, u32)> {
        (self.min >= 0 && self.max < W.into()).then_some((self.min as u32, self.max as u32))
    }

    fn shifted_left(self, count: Range<W>) -> Range<W> {
        let count = count.single().map_or(count, |count| Range::of(count.rem_euclid(W.into())));
        let Some((least, most)) = count.counts() else { return Self::ANY };
        let bits = match least == most {
            true => Range::of_bits(self.ones << least, self.unknown << least),
            false => {
                let zeros = (self.ones | self.unknown).trailing_zeros() + least;
                Range::of_bits(0, u64::MAX.checked_shl(zeros).unwrap_or(0))
            }
        };
        let (min, max) = self.corners(Range::between(least.into(), most.into()), |x, n| x << n);
        match Self::MIN as i128 <= min && max <= Self::MAX as i128 {
            true => Range::wrapped(min, max, bits),
            false => bits,
        }
    }

    fn shifted_right(self, count: Range<W>) -> Range<W> {
        let count = count.single().map_or(count, |count| Range::of(count.rem_euclid(W.into())));
        let Some((least, most)) = count.counts() else {
            // It comes nearer to 0, or to -1.
            return Range::between(self.min.min(0), self.max.max(-1));
        };
        let (min, max) = self.corners(Range::between(least.into(), most.into()), |x, n| x >> n);
        let shifted = |bits: u64| (bits as i64 >> least) as u64;
        let bits = match least == most {
            true => Range::of_bits(shifted(self.ones), shifted(self.unknown)),
            false => Self::ANY,
        };
        Range::wrapped(min, max, bits)
    }

    fn shifted_right_unsigned(self, count: Range<W>) -> Range<W> {
        if self.is_not_negative() {
            return self.shifted_right(count);
        }
        let count = count.single().map_or(count, |count| Range::of(count.rem_euclid(W.into())));
        match count.counts() {
            Some((0, 0)) => self,
            Some((least @ 1.., most)) => {
                let shifted = |bits: u64| (bits & (u64::MAX >> (64 - W))) >> least;
                match least == most {
                    true => Range::of_bits(shifted(self.ones), shifted(self.unknown)),
                    false => Range::between(0, shifted(u64::MAX) as i64),
                }
            }
            _ => Self::ANY,
        }
    }

    /// Any division that rises or falls steadily in each operand, for divisors of one sign.
    fn divided(self, by: Range<W>, op: impl Fn(i128, i128) -> i128) -> Range<W> {
        // `MIN / -1` wraps around.
        let wraps = self.min == Self::MIN && by.has(-1);
        if by.min <= 0 && by.max >= 0 || wraps {
            return Self::ANY;
        }
        let (min, max) = self.corners(by, op);
        Range::wrapped(min, max, Self::ANY)
    }

    /// What is greater than each rest of a division, with its sign taken off.
    fn rests_below(self) -> i128 {
        let (min, max) = self.wide();
        min.abs().max(max.abs())
    }

    /// The rest with the dividend's sign.
    fn rest(self, by: Range<W>) -> Range<W> {
        if by.min <= 0 && by.max >= 0 {
            return Self::ANY;
        }
        if is_first(Op::IntRem, self, by) {
            return self;
        }
        let (min, max) = self.wide();
        let most = by.rests_below() - 1;
        let (least, most) = (min.max(-most).min(0), max.min(most).max(0));
        Range::wrapped(least, most, Self::ANY)
    }

    /// The rest with the divisor's sign.
    fn floor_rest(self, by: Range<W>) -> Range<W> {
        if by.min <= 0 && by.max >= 0 {
            return Self::ANY;
        }
        match by.min > 0 {
            _ if is_first(Op::IntFloorMod, self, by) => self,
            true => Range::between(0, by.max - 1),
            false => Range::between(by.min + 1, 0),
        }
    }
}
