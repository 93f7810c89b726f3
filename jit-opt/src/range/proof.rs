//! The proof that ranges are right, for small numbers of bits by trying all of them.
//!
//! Problem: a rule on ranges that is wrong for one number of 2^64 gives a wrong program years later. (After
//! `x + 10 < 15`, `x` need not be below 5.) Design: the functions take the number of bits as a parameter.
//! At 3 bits in every test run, and at 4 bits on request, *all* pairs of abstract values are taken, with
//! all numbers that they stand for. What is learned of operands from a result wants three ranges: all of
//! them at 3 bits, some at 4. At 8 bits all pairs of intervals are taken for results, overflows and
//! compares, and all pairs of tristate numbers for results: what an operation truly gives is not counted
//! out for each pair, which would take days, but put together from that of smaller ones. At 64 bits,
//! ranges around random numbers are asked about these. The operations at small widths are written down
//! here a second time, and compared with the op table at 64 bits.
//!
//! The whole proof, a quarter of an hour: `cargo test --release -p tracelift-opt proof -- --include-ignored`.
//!
//! Invariant: what a range loses is a failure, what it has too much is none. Example: at 3 bits 3 + 1 is -4.

use std::sync::atomic::{AtomicUsize, Ordering};

use tracelift_core::Op::{self, *};

use super::{cannot_overflow, decided, is_first, is_rounded_down, narrowed, operands, result, Range};

const BINARY: &[Op] = &[
    IntAdd,
    IntSub,
    IntMul,
    IntAnd,
    IntOr,
    IntXor,
    IntShl,
    IntSar,
    IntShr,
    IntDiv,
    IntRem,
    IntFloorDiv,
    IntFloorMod,
];
const OVERFLOWING: &[Op] = &[IntAddOvf, IntSubOvf, IntMulOvf];
const COMPARES: &[Op] = &[IntEq, IntNe, IntLt, IntLe, IntGt, IntGe, UintLt, UintLe, UintGt, UintGe];

/// The number of `W` bits that is left of a wider one.
fn cut<const W: u32>(wide: i128) -> i64 {
    (wide as i64) << (64 - W) >> (64 - W)
}

/// What an operation on numbers of `W` bits gives.
fn meaning<const W: u32>(op: Op, x: i64, y: i64) -> Option<i64> {
    let (wide_x, wide_y) = (i128::from(x), i128::from(y));
    let count = y.rem_euclid(W.into()) as u32;
    let unsigned = |x: i64| x as u64 & (u64::MAX >> (64 - W));
    let whole = |wide: i128| Some(cut::<W>(wide));
    let checked = |wide: i128| (i128::from(cut::<W>(wide)) == wide).then(|| cut::<W>(wide));
    let floor = || if wide_x % wide_y != 0 && (x < 0) != (y < 0) { 1 } else { 0 };
    let divides = (y != 0).then_some(());
    match op {
        IntAdd => whole(wide_x + wide_y),
        IntSub => whole(wide_x - wide_y),
        IntMul => whole(wide_x * wide_y),
        IntAddOvf => checked(wide_x + wide_y),
        IntSubOvf => checked(wide_x - wide_y),
        IntMulOvf => checked(wide_x * wide_y),
        IntAnd => Some(x & y),
        IntOr => Some(x | y),
        IntXor => Some(x ^ y),
        IntShl => whole(wide_x << count),
        IntSar => Some(x >> count),
        IntShr => whole(i128::from(unsigned(x) >> count)),
        IntDiv => divides.and_then(|()| whole(wide_x / wide_y)),
        IntRem => divides.and_then(|()| whole(wide_x % wide_y)),
        IntFloorDiv => divides.and_then(|()| whole(wide_x / wide_y - floor())),
        IntFloorMod => divides.and_then(|()| whole(wide_x % wide_y + floor() * wide_y)),
        IntEq => Some((x == y).into()),
        IntNe => Some((x != y).into()),
        IntLt => Some((x < y).into()),
        IntLe => Some((x <= y).into()),
        IntGt => Some((x > y).into()),
        IntGe => Some((x >= y).into()),
        UintLt => Some((unsigned(x) < unsigned(y)).into()),
        UintLe => Some((unsigned(x) <= unsigned(y)).into()),
        UintGt => Some((unsigned(x) > unsigned(y)).into()),
        UintGe => Some((unsigned(x) >= unsigned(y)).into()),
        _ => unreachable!("{op:?}"),
    }
}

fn numbers<const W: u32>() -> std::ops::RangeInclusive<i64> {
    Range::<W>::MIN..=Range::<W>::MAX
}

/// All intervals.
fn intervals<const W: u32>() -> Vec<Range<W>> {
    numbers::<W>().flat_map(|min| (min..=Range::<W>::MAX).map(move |max| Range::between(min, max))).collect()
}

/// All tristate numbers.
fn tristates<const W: u32>() -> Vec<Range<W>> {
    let masks = 0..1u64 << W;
    let of = |unknown: u64| {
        (0..1u64 << W).filter(move |ones| ones & unknown == 0).map(move |ones| (ones, unknown))
    };
    masks.flat_map(of).map(|(ones, unknown)| Range::of_bits(ones, unknown)).collect()
}

/// All abstract values.
fn all<const W: u32>() -> Vec<Range<W>> {
    let (intervals, tristates) = (intervals::<W>(), tristates::<W>());
    let pairs = intervals.iter().flat_map(|&a| tristates.iter().filter_map(move |&b| a.met(b)));
    let mut all: Vec<Range<W>> = pairs.collect();
    all.sort_by_key(|range| (range.min, range.max, range.ones, range.unknown));
    all.dedup();
    all
}

/// The numbers of a range.
fn within<const W: u32>(range: Range<W>) -> Vec<i64> {
    numbers::<W>().filter(|&int| range.has(int)).collect()
}

/// What is asked of one pair of abstract values, with their numbers.
fn check_pair<const W: u32>(a: Range<W>, b: Range<W>, xs: &[i64], ys: &[i64]) {
    let pairs = || xs.iter().flat_map(|&x| ys.iter().map(move |&y| (x, y)));
    let joined = a.joined(b);
    assert!(xs.iter().chain(ys).all(|&int| joined.has(int)), "{a:?} or {b:?}: {joined:?}");
    let both = xs.iter().find(|x| ys.contains(x));
    match a.met(b) {
        Some(met) => assert!(xs.iter().all(|&x| met.has(x) || !ys.contains(&x)), "{a:?} and {b:?}: {met:?}"),
        None => assert_eq!(both, None, "{a:?} and {b:?}"),
    }
    for &op in BINARY.iter().chain(OVERFLOWING) {
        let known = result(op, &[a, b]).unwrap_or(Range::ANY);
        let is_a = is_first(op, a, b);
        for (x, y) in pairs() {
            let Some(z) = meaning::<W>(op, x, y) else { continue };
            assert!(known.has(z), "{op:?} of {a:?} and {b:?}: {known:?}, but {x}, {y} give {z}");
            assert!(!is_a || z == x, "{op:?} of {a:?} and {b:?}: {x}, {y} give {z}");
        }
    }
    for &op in OVERFLOWING {
        if cannot_overflow(op, a, b) {
            let overflows = |&(x, y): &(i64, i64)| meaning::<W>(op, x, y).is_none();
            assert_eq!(pairs().find(overflows), None, "{op:?} of {a:?} and {b:?}");
        }
    }
    if is_rounded_down(a, b) {
        let rounded = |op| pairs().map(move |(x, y)| meaning::<W>(op, x, y)).collect::<Vec<_>>();
        assert_eq!(rounded(IntDiv), rounded(IntFloorDiv), "{a:?} and {b:?}");
        assert_eq!(rounded(IntRem), rounded(IntFloorMod), "{a:?} and {b:?}");
    }
    for &op in COMPARES {
        let comes_out =
            |holds: bool| move |&(x, y): &(i64, i64)| meaning::<W>(op, x, y) == Some(holds.into());
        if let Some(holds) = decided(op, a, b) {
            assert_eq!(pairs().find(comes_out(!holds)), None, "{op:?} of {a:?} and {b:?} is {holds}");
        }
        for holds in [true, false] {
            let found = narrowed(op, holds, a, b);
            let is_lost = |&(x, y): &(i64, i64)| !found.is_some_and(|(a, b)| a.has(x) && b.has(y));
            let lost = pairs().filter(comes_out(holds)).find(is_lost);
            assert_eq!(lost, None, "{op:?} of {a:?} and {b:?} is {holds}: {found:?}");
        }
    }
}

/// What is asked of a result's range: that no pair of operands is lost.
fn check_operands<const W: u32>(op: Op, a: Range<W>, b: Range<W>, known: Range<W>, xs: &[i64], ys: &[i64]) {
    let found = operands(op, a, b, known);
    for (x, y) in xs.iter().flat_map(|&x| ys.iter().map(move |&y| (x, y))) {
        let is_it = meaning::<W>(op, x, y).is_some_and(|z| known.has(z));
        let is_kept = || found.is_none_or(|(a, b)| a.has(x) && b.has(y));
        assert!(!is_it || is_kept(), "{op:?} of {a:?} and {b:?} in {known:?}: {found:?}, lost {x}, {y}");
    }
}

/// Operations that [`operands`] has an answer for.
const TURNED: &[Op] = &[IntAdd, IntAddOvf, IntSub, IntSubOvf, IntXor, IntAnd, IntOr];

/// Asks about all pairs of abstract values; and of a result's range, about one triple in `stride`.
fn check_all<const W: u32>(stride: usize) {
    let all = all::<W>();
    let numbers: Vec<Vec<i64>> = all.iter().map(|&range| within(range)).collect();
    for (&a, xs) in all.iter().zip(&numbers) {
        assert!(!xs.is_empty(), "{a:?} is empty");
        for (&b, ys) in all.iter().zip(&numbers) {
            check_pair(a, b, xs, ys);
        }
    }
    // Three ranges at once, of which some are left out where they are many.
    let mut turn = 0;
    for (&a, xs) in all.iter().zip(&numbers) {
        for (&b, ys) in all.iter().zip(&numbers) {
            for &known in &all {
                turn += 1;
                if turn % stride == 0 {
                    TURNED.iter().for_each(|&op| check_operands(op, a, b, known, xs, ys));
                }
            }
        }
    }
}

#[test]
fn proof_at_three_bits() {
    check_all::<3>(1);
}

#[test]
#[ignore = "minutes: a part of the proof"]
fn proof_at_four_bits() {
    check_all::<4>(1009);
}

/// The least and the greatest of some numbers of 8 bits.
type Hull = (i16, i16);

fn joined((a, b): Hull, (c, d): Hull) -> Hull {
    (a.min(c), b.max(d))
}

/// Asks `check` about all pairs of intervals at 8 bits, with the hulls of what `of` gives for their numbers:
/// several at once, and `None` if it gives nothing. What it gives for an interval and a number follows from
/// the interval without its last number, and so on in the other operand.
fn for_intervals<const N: usize>(
    of: impl Fn(i64, i64) -> Option<[i64; N]>,
    check: impl Fn(Range<8>, Range<8>, Option<[Hull; N]>),
) {
    let both = |a: Option<[Hull; N]>, b: Option<[Hull; N]>| match (a, b) {
        (Some(a), Some(b)) => Some(std::array::from_fn(|at| joined(a[at], b[at]))),
        (a, b) => a.or(b),
    };
    let columns = intervals::<8>();
    // For a number on the left, by interval on the right.
    let row = |x: i64| {
        let mut row: Vec<Option<[Hull; N]>> = Vec::with_capacity(columns.len());
        for column in &columns {
            let (min, max) = column.ends();
            let last = of(x, max).map(|all| all.map(|z| (z as i16, z as i16)));
            let before = if min == max { None } else { row.last().copied().flatten() };
            row.push(both(before, last));
        }
        row
    };
    let rows: Vec<_> = numbers::<8>().map(row).collect();
    for min in numbers::<8>() {
        let mut truth = vec![None; columns.len()];
        for max in min..=Range::<8>::MAX {
            let a = Range::between(min, max);
            let row = &rows[(max - Range::<8>::MIN) as usize];
            for ((truth, &more), &b) in truth.iter_mut().zip(row).zip(&columns) {
                *truth = both(*truth, more);
                check(a, b, *truth);
            }
        }
    }
}

/// Does this for each operation, on all processors.
fn for_each_op(ops: &[Op], check: impl Fn(Op) + Sync) {
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(&op) = ops.get(next.fetch_add(1, Ordering::Relaxed)) {
                    check(op);
                }
            });
        }
    });
}

#[test]
#[ignore = "minutes: a part of the proof"]
fn proof_of_intervals_at_eight_bits() {
    for_each_op(BINARY, |op| {
        let of = |x, y| meaning::<8>(op, x, y).map(|z| [z]);
        for_intervals(of, |a, b, truth| {
            let (min, max) = result(op, &[a, b]).unwrap_or(Range::ANY).ends();
            let is_in = |[(low, high)]: [Hull; 1]| min <= low.into() && i64::from(high) <= max;
            assert!(truth.is_none_or(is_in), "{op:?} of {a:?} and {b:?}: {truth:?}");
        });
    });
}

#[test]
#[ignore = "minutes: a part of the proof"]
fn proof_of_overflows_at_eight_bits() {
    for_each_op(OVERFLOWING, |op| {
        let overflows = |x, y| Some([meaning::<8>(op, x, y).is_none().into()]);
        for_intervals(overflows, |a, b, truth| {
            let never = truth == Some([(0, 0)]);
            assert!(never || !cannot_overflow(op, a, b), "{op:?} of {a:?} and {b:?}");
        });
    });
}

#[test]
#[ignore = "minutes: a part of the proof"]
fn proof_of_compares_at_eight_bits() {
    for_each_op(COMPARES, |op| {
        let of = |x, y| meaning::<8>(op, x, y).map(|z| [z]);
        for_intervals(of, |a, b, truth| {
            let is_right = |holds: bool| truth == Some([(holds.into(), holds.into())]);
            assert!(decided(op, a, b).is_none_or(is_right), "{op:?} of {a:?} and {b:?}: {truth:?}");
        });
        for holds in [true, false] {
            // Those that fit, of both operands.
            let of = |x, y| (meaning::<8>(op, x, y) == Some(holds.into())).then_some([x, y]);
            for_intervals(of, |a, b, truth| {
                let has_ends =
                    |range: Range<8>, (low, high): Hull| range.has(low.into()) && range.has(high.into());
                let keeps = |[x, y]: [Hull; 2]| {
                    narrowed(op, holds, a, b).is_some_and(|(a, b)| has_ends(a, x) && has_ends(b, y))
                };
                assert!(truth.is_none_or(keeps), "{op:?} of {a:?} and {b:?} is {holds}: {truth:?}");
            });
        }
    });
}

/// All pairs of tristate numbers at 8 bits. What the operation truly gives for a number with an unknown bit
/// follows from the two that have it.
#[test]
#[ignore = "minutes: a part of the proof"]
fn proof_of_bits_at_eight_bits() {
    const W: u32 = 8;
    const COUNT: usize = 6561;
    // In base 3, 2 is unknown: one with an unknown digit comes after both that have it.
    let digits = |mut code: usize| -> (u64, u64, Option<[usize; 2]>) {
        let (start, mut parts) = (code, None);
        let (mut ones, mut unknown) = (0, 0);
        for bit in 0..W {
            let power = 3usize.pow(bit);
            match code % 3 {
                1 => ones |= 1 << bit,
                2 => {
                    unknown |= 1 << bit;
                    parts = Some([start - 2 * power, start - power]);
                }
                _ => {}
            }
            code /= 3;
        }
        (ones, unknown, parts)
    };
    let values: Vec<_> = (0..COUNT).map(digits).collect();
    let ranges: Vec<Range<W>> =
        values.iter().map(|&(ones, unknown, _)| Range::of_bits(ones, unknown)).collect();
    // Bits that may be 0, and bits that may be 1.
    type Truth = (u8, u8);
    let either = |a: Truth, b: Truth| (a.0 | b.0, a.1 | b.1);
    for &op in BINARY {
        let mut truth: Vec<Truth> = vec![(0, 0); COUNT * COUNT];
        for (i, &(x, _, x_parts)) in values.iter().enumerate() {
            for (j, &(y, _, y_parts)) in values.iter().enumerate() {
                let at = |i: usize, j: usize| i * COUNT + j;
                let all = match (x_parts, y_parts) {
                    (Some([a, b]), _) => either(truth[at(a, j)], truth[at(b, j)]),
                    (_, Some([a, b])) => either(truth[at(i, a)], truth[at(i, b)]),
                    _ => match meaning::<W>(op, cut::<W>(x.into()), cut::<W>(y.into())) {
                        Some(z) => (!z as u8, z as u8),
                        None => (0, 0),
                    },
                };
                truth[at(i, j)] = all;
                let known = result(op, &[ranges[i], ranges[j]]).unwrap_or(Range::ANY);
                let (zeros, ones) = (!(known.ones | known.unknown) as u8, known.ones as u8);
                let is_wrong = zeros & all.1 != 0 || ones & all.0 != 0;
                assert!(!is_wrong, "{op:?} of {:?} and {:?}: {known:?}", ranges[i], ranges[j]);
            }
        }
    }
}

#[test]
fn meanings_are_those_of_the_table() {
    arbtest::arbtest(|u| {
        let (x, y) = (number(u)?, number(u)?);
        for &op in BINARY.iter().chain(OVERFLOWING).chain(COMPARES) {
            let eval = op.info().eval.expect("all of these have one");
            let wanted = eval(&[x as u64, y as u64]).map(|bits| bits as i64);
            assert_eq!(meaning::<64>(op, x, y), wanted, "{op:?} {x} {y}");
        }
        Ok(())
    });
}

/// A number, often near an end or near 0.
fn number(u: &mut arbitrary::Unstructured<'_>) -> arbitrary::Result<i64> {
    let near = *u.choose(&[0, i64::MIN, i64::MAX, 1 << 32, 63])?;
    let apart: i64 = u.arbitrary()?;
    let shift = u.int_in_range(0..=63)?;
    Ok(near.wrapping_add(apart >> shift))
}

/// A range around a number.
fn around(u: &mut arbitrary::Unstructured<'_>, int: i64) -> arbitrary::Result<Range> {
    let (other, unknown): (i64, u64) = (number(u)?, u.arbitrary::<u64>()? & u.arbitrary::<u64>()?);
    let interval = Range::between(int.min(other), int.max(other));
    let bits = Range::of_bits(int as u64 & !unknown, unknown);
    Ok(match u.int_in_range(0..=3)? {
        0 => Range::of(int),
        1 => interval,
        2 => bits,
        _ => interval.met(bits).expect("the number is in both"),
    })
}

#[test]
fn proof_by_random_numbers_of_64_bits() {
    arbtest::arbtest(|u| {
        let (x, y) = (number(u)?, number(u)?);
        let (a, b) = (around(u, x)?, around(u, y)?);
        assert!(a.has(x) && b.has(y), "{a:?} {x}, {b:?} {y}");
        check_pair(a, b, &[x], &[y]);
        for &op in TURNED {
            if let Some(z) = meaning::<64>(op, x, y) {
                check_operands(op, a, b, around(u, z)?, &[x], &[y]);
            }
        }
        Ok(())
    })
    .budget_ms(1500);
}
