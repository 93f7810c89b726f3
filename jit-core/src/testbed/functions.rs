//! The native functions of the standard test schema.
//!
//! Problem: calls must be tested with every effect that a schema can declare. Design: plain C functions on
//! the standard layouts (`intval` and `first` lie at offset 8 of their records). Invariant: they never panic,
//! and they do nothing on null, so that a wrong trace is seen as a difference and not as a crash.
//!
//! Example: `maybe(6)` is null, `maybe(7)` is an address that belongs to no world.

use super::REMEMBERED_AT;
use crate::schema::LayoutId;
use crate::world::Context;

/// Offset of `BoxedInteger.intval` and of `Pair.first`.
const FIRST_FIELD: u64 = 8;

/// The first field of a record as memory; `None` for null.
///
/// # Safety
/// `record` is null or a live record of at least 16 bytes, and nothing else refers to its first field
/// meanwhile.
unsafe fn first_field<'a>(record: u64) -> Option<&'a mut u64> {
    // SAFETY: the caller gives null or a record; blocks are 16-byte aligned, so the field is 8-byte aligned.
    (record != 0).then(|| unsafe { &mut *((record + FIRST_FIELD) as usize as *mut u64) })
}

pub(super) extern "C" fn sin(x: f64) -> f64 {
    x.sin()
}

pub(super) extern "C" fn fmod(x: f64, y: f64) -> f64 {
    x % y
}

/// A hash that treats all NaNs alike.
pub(super) extern "C" fn mix(x: u64, y: f64) -> u64 {
    let bits = if y.is_nan() { 7 } else { y.to_bits() };
    x.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(17) ^ bits
}

/// Tells all its parameters apart.
#[allow(clippy::too_many_arguments)]
pub(super) extern "C" fn wide(
    a: i64,
    s: f64,
    b: i64,
    t: f64,
    c: i64,
    u: f64,
    d: i64,
    v: f64,
    e: i64,
    w: f64,
    f: i64,
    x: f64,
    y: f64,
    z: f64,
) -> f64 {
    let ints = [a, b, c, d, e, f].into_iter().fold(0i64, |sum, n| sum.wrapping_mul(3).wrapping_add(n));
    [s, t, u, v, w, x, y, z].into_iter().fold((ints >> 12) as f64, |sum, n| sum * 0.5 + n)
}

pub(super) extern "C" fn same(x: u64, y: u64) -> u64 {
    (x == y) as u64
}

/// # Safety
/// As for [`first_field`]; likewise below.
pub(super) unsafe extern "C" fn bump(record: u64) {
    // SAFETY: the caller gives null or a BoxedInteger.
    if let Some(intval) = unsafe { first_field(record) } {
        *intval = intval.wrapping_add(1);
    }
}

pub(super) unsafe extern "C" fn peek(record: u64) -> u64 {
    // SAFETY: the caller gives null or a BoxedInteger.
    unsafe { first_field(record) }.map_or(0, |intval| *intval)
}

pub(super) unsafe extern "C" fn keep(record: u64, object: u64) {
    // SAFETY: the caller gives null or a Pair.
    if let Some(first) = unsafe { first_field(record) } {
        *first = object;
    }
}

pub(super) unsafe extern "C" fn look(record: u64) -> i64 {
    // SAFETY: the caller gives null or a Pair.
    unsafe { first_field(record) }.map_or(0, |first| (*first == 0) as i64)
}

/// Remembers the record, as a collector's list would.
pub(super) unsafe extern "C" fn mend(_context: u64, record: u64) {
    // SAFETY: the caller gives a record, whose header has eight bytes.
    unsafe { *((record + REMEMBERED_AT) as usize as *mut u8) = 1 };
}

/// An address that is none of the world's, so equal in all worlds.
pub(super) extern "C" fn maybe(x: i64) -> u64 {
    if x % 3 == 0 {
        0
    } else {
        (x as u64) << 4 | 1
    }
}

pub(super) unsafe extern "C" fn maybe_bump(record: u64, by: u64) -> u64 {
    if by & 1 == 0 {
        return 0;
    }
    // SAFETY: the caller gives null or a BoxedInteger.
    if let Some(intval) = unsafe { first_field(record) } {
        *intval = intval.wrapping_add(by);
    }
    1
}

pub(super) unsafe extern "C" fn boxed(context: u64, x: u64) -> u64 {
    // SAFETY: the caller gives the context pointer of a living world, which holds no reference now.
    let context = unsafe { &mut *(context as usize as *mut Context) };
    let made = context.allocate(LayoutId(0), 0, 0).unwrap_or(0);
    // SAFETY: null or a fresh BoxedInteger.
    if let Some(intval) = unsafe { first_field(made) } {
        *intval = x;
    }
    made
}

pub(super) unsafe extern "C" fn anything(context: u64) {
    // SAFETY: as in `boxed`.
    let context = unsafe { &mut *(context as usize as *mut Context) };
    context.cells.counter += 1;
    let first = context.objects.first().copied().unwrap_or(0);
    if context
        .heap
        .block_at(first)
        .is_some_and(|(_, kind)| kind == crate::world::BlockKind::Object(LayoutId(0)))
    {
        // SAFETY: the world's first object is a BoxedInteger.
        unsafe { bump(first) };
    }
}
