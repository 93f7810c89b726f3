//! What is known of an integer: how far it goes, and which of its bits.
//!
//! Problem: a trace tests what can only come out in one way: that a sum of two bytes does not overflow, that
//! `x & 7` is below 8, that a count is not negative. Design: an abstract value that is two things at once, as
//! RPython's `IntBound` is: an interval of signed numbers, and for each bit whether it is 0, 1 or unknown
//! (*tristate numbers*; Vishwanathan and others, CGO 2022, for their sums and differences). Each tells the
//! other what it knows ([`Range::met`]). What an operation makes of ranges is in `transfer.rs`; what a
//! compare says of its operands, and a result of an operation's, in `narrow.rs`.
//!
//! The number of bits is a parameter, so that each function can be *proved* by trying everything at 3, 4 and
//! 8 bits. `proof.rs` says what is tried at which width. The optimizer uses 64.
//!
//! Invariants: a range is never empty, and both its ends are numbers that it has; smaller numbers of bits are
//! kept with their sign extended, so that comparisons need not know of it. Example: of `x & 12` it is known
//! that it is 0, 4, 8 or 12: from 0 to 12, and the last two bits are 0.

mod narrow;
#[cfg(test)]
mod proof;
mod transfer;

pub(crate) use narrow::{decided, narrowed, operands};
pub(crate) use transfer::{cannot_overflow, is_first, is_rounded_down, result};

/// What is known of an integer of `W` bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Range<const W: u32 = 64> {
    min: i64,
    max: i64,
    /// The known bits that are 1.
    ones: u64,
    /// The bits of which nothing is known.
    unknown: u64,
}

impl<const W: u32> Range<W> {
    const MIN: i64 = i64::MIN >> (64 - W);
    const MAX: i64 = i64::MAX >> (64 - W);
    /// The sign, and where `W` is less than 64 its copies.
    const SIGN: u64 = !(Self::MAX as u64);

    /// Nothing is known.
    pub const ANY: Range<W> = Range { min: Self::MIN, max: Self::MAX, ones: 0, unknown: u64::MAX };

    /// 0 or 1.
    const TRUTH: Range<W> = Range { min: 0, max: 1, ones: 0, unknown: 1 };

    /// Whether nothing is known.
    #[inline]
    pub(crate) fn is_any(&self) -> bool {
        self.unknown == u64::MAX && self.min == Self::MIN && self.max == Self::MAX
    }

    /// One number.
    pub fn of(int: i64) -> Range<W> {
        Range { min: int, max: int, ones: int as u64, unknown: 0 }
    }

    /// From one number to another, both of them possible; nothing known if there is none between.
    pub fn between(min: i64, max: i64) -> Range<W> {
        Range { min, max, ..Self::ANY }.normal().unwrap_or(Self::ANY)
    }

    /// The smallest number, and the greatest one.
    pub fn ends(self) -> (i64, i64) {
        (self.min, self.max)
    }

    /// The number, if there is only one.
    pub fn single(self) -> Option<i64> {
        (self.min == self.max).then_some(self.min)
    }

    /// Whether the number may be this one.
    pub fn has(self, int: i64) -> bool {
        (self.min..=self.max).contains(&int) && int as u64 & !self.unknown == self.ones
    }

    /// Whether it is not negative for sure.
    pub fn is_not_negative(self) -> bool {
        self.min >= 0
    }

    /// What both say; `None` if no number is in both.
    pub fn met(self, other: Range<W>) -> Option<Range<W>> {
        let known = !self.unknown & !other.unknown;
        if (self.ones ^ other.ones) & known != 0 {
            return None;
        }
        let met = Range {
            min: self.min.max(other.min),
            max: self.max.min(other.max),
            ones: self.ones | other.ones,
            unknown: self.unknown & other.unknown,
        };
        met.normal()
    }

    /// What holds of the numbers of both.
    pub fn joined(self, other: Range<W>) -> Range<W> {
        let unknown = self.unknown | other.unknown | (self.ones ^ other.ones);
        let (min, max) = (self.min.min(other.min), self.max.max(other.max));
        Range { min, max, ones: self.ones & !unknown, unknown }.normal().unwrap_or(Self::ANY)
    }

    /// The bits alone.
    fn of_bits(ones: u64, unknown: u64) -> Range<W> {
        let (ones, unknown) = (Self::extended(ones & !unknown), Self::extended(unknown));
        Range { ones, unknown, ..Self::ANY }.normal().unwrap_or(Self::ANY)
    }

    /// This interval, if all of it is within `W` bits, or all of it beyond the same end of them; and these
    /// bits.
    fn wrapped(min: i128, max: i128, bits: Range<W>) -> Range<W> {
        let (low, high) = (Self::MIN as i128, Self::MAX as i128);
        let ends = match () {
            () if low <= min && max <= high => Some((min, max)),
            () if min > high && max <= high + (1 << W) => Some((min - (1 << W), max - (1 << W))),
            () if max < low && min >= low - (1 << W) => Some((min + (1 << W), max + (1 << W))),
            () => None,
        };
        let interval = ends.map_or(Self::ANY, |(min, max)| Self::between(min as i64, max as i64));
        bits.met(interval).unwrap_or(bits)
    }

    /// Without a sign: the smallest number, and the greatest one.
    fn unsigned_ends(self) -> (u64, u64) {
        match (self.min < 0) == (self.max < 0) {
            true => (self.min as u64, self.max as u64),
            false => (self.ones, self.ones | self.unknown),
        }
    }

    /// Bits above the sign are as the sign is.
    fn extended(bits: u64) -> u64 {
        (((bits << (64 - W)) as i64) >> (64 - W)) as u64
    }

    /// Interval and bits tell one another what they know: both ends are numbers that it has. `None` if there
    /// is no number.
    fn normal(self) -> Option<Range<W>> {
        if self.is_any() {
            return Some(self);
        }
        let mut range = self.with_bits_of_ends()?;
        if range.unknown == 0 {
            let int = range.ones as i64;
            return (range.min..=range.max).contains(&int).then(|| Range::of(int));
        }
        range.min = Self::least_from(range.min, range.ones, range.unknown)?;
        // With all bits turned round, numbers are in the opposite order.
        let zeros = !range.ones & !range.unknown;
        range.max = !Self::least_from(!range.max, zeros, range.unknown)?;
        range.with_bits_of_ends()
    }

    /// Bits above the highest in which the ends differ are the same in all numbers between.
    fn with_bits_of_ends(self) -> Option<Range<W>> {
        let Range { min, max, ones, unknown } = self;
        let above = match (min ^ max) as u64 {
            0 => u64::MAX,
            differ => !(u64::MAX >> differ.leading_zeros()),
        };
        let contradict = (min as u64 ^ ones) & above & !unknown != 0;
        let known = Range { min, max, ones: ones | min as u64 & above, unknown: unknown & !above };
        (min <= max && !contradict).then_some(known)
    }

    /// The least number from this one on that has these bits.
    fn least_from(min: i64, ones: u64, unknown: u64) -> Option<i64> {
        // As numbers without a sign, in the same order, at the upper end of 64 bits.
        let (up, top) = (64 - W, 1 << 63);
        let known = !(unknown << up);
        let (min, ones) = ((min << up) as u64 ^ top, (ones << up) ^ (top & known));
        let wrong = (min ^ ones) & known;
        if wrong == 0 {
            return Some((min ^ top) as i64 >> up);
        }
        // From the highest wrong bit on all is as small as can be, once a bit there or above has risen.
        let highest = 1u64 << (63 - wrong.leading_zeros());
        let rises = match ones & highest {
            0 => {
                let may_rise = !known & !min & !(highest | (highest - 1));
                may_rise & may_rise.wrapping_neg()
            }
            _ => highest,
        };
        let least = (min & !(rises.wrapping_sub(1))) | rises | (ones & rises.wrapping_sub(1));
        (rises != 0).then_some((least ^ top) as i64 >> up)
    }
}
