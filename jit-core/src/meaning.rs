//! What the ops mean on bits: the small functions that the op table's `eval` column is written with.
//!
//! Folder and oracle share them, so each op has one meaning; independence comes from running the same traces
//! as machine code and in the host's own interpreter. Invariant: nothing here reads memory or panics.

use crate::types::Bits;

/// The integer in a cell.
pub fn int(bits: Bits) -> i64 {
    bits as i64
}

/// The double in a cell.
pub fn float(bits: Bits) -> f64 {
    f64::from_bits(bits)
}

/// A guard's outcome.
pub fn holds(condition: bool) -> Option<Bits> {
    condition.then_some(0)
}

pub(crate) fn int1(a: &[Bits], f: fn(i64) -> i64) -> Option<Bits> {
    Some(f(int(a[0])) as u64)
}

pub(crate) fn int2(a: &[Bits], f: fn(i64, i64) -> i64) -> Option<Bits> {
    Some(f(int(a[0]), int(a[1])) as u64)
}

pub(crate) fn checked2(a: &[Bits], f: fn(i64, i64) -> Option<i64>) -> Option<Bits> {
    f(int(a[0]), int(a[1])).map(|x| x as u64)
}

/// Division-like: no value on a zero divisor.
pub(crate) fn partial2(a: &[Bits], f: fn(i64, i64) -> i64) -> Option<Bits> {
    (a[1] != 0).then(|| f(int(a[0]), int(a[1])) as u64)
}

pub(crate) fn cmp2(a: &[Bits], f: fn(i64, i64) -> bool) -> Option<Bits> {
    Some(f(int(a[0]), int(a[1])) as u64)
}

pub(crate) fn float1(a: &[Bits], f: fn(f64) -> f64) -> Option<Bits> {
    Some(f(float(a[0])).to_bits())
}

/// Rounding to a whole number. Libraries differ in what they make of a signalling NaN; machines quiet it.
pub(crate) fn round1(a: &[Bits], f: fn(f64) -> f64) -> Option<Bits> {
    let x = float(a[0]);
    Some(if x.is_nan() { a[0] | 1 << 51 } else { f(x).to_bits() })
}

pub(crate) fn float2(a: &[Bits], f: fn(f64, f64) -> f64) -> Option<Bits> {
    Some(f(float(a[0]), float(a[1])).to_bits())
}

/// Arithmetic. Of two NaNs the machine hands on the left one; what Rust's compiler makes of `x + y` is not
/// told. On 64-bit Arm a signalling one comes before a quiet one.
pub(crate) fn arith2(a: &[Bits], f: fn(f64, f64) -> f64) -> Option<Bits> {
    const QUIET: u64 = 1 << 51;
    if !(float(a[0]).is_nan() && float(a[1]).is_nan()) {
        return float2(a, f);
    }
    let takes_right = cfg!(target_arch = "aarch64") && a[0] & QUIET != 0 && a[1] & QUIET == 0;
    Some(a[takes_right as usize] | QUIET)
}

pub(crate) fn fcmp2(a: &[Bits], f: fn(f64, f64) -> bool) -> Option<Bits> {
    Some(f(float(a[0]), float(a[1])) as u64)
}

/// Division rounding towards minus infinity, wrapping on `MIN / -1`; the divisor is not 0.
pub fn floor_div(x: i64, y: i64) -> i64 {
    let q = x.wrapping_div(y);
    if x.wrapping_rem(y) != 0 && (x ^ y) < 0 {
        q - 1
    } else {
        q
    }
}

/// Remainder with the sign of the divisor; the divisor is not 0.
pub fn floor_mod(x: i64, y: i64) -> i64 {
    let r = x.wrapping_rem(y);
    if r != 0 && (r ^ y) < 0 {
        r + y
    } else {
        r
    }
}

/// Remainder of doubles, plus the divisor if their signs differ; zeros keep the dividend's sign. (The
/// remainder itself, `%`, is the C library's `fmod`, NaNs included.)
pub fn float_floor_mod(x: f64, y: f64) -> f64 {
    let rest = x % y;
    if (rest > 0.0 && y < 0.0) || (rest < 0.0 && y > 0.0) {
        rest + y
    } else {
        rest
    }
}

/// The integer with exactly the value of the double in `bits`, if there is one.
pub fn float_to_int_exact(bits: Bits) -> Option<Bits> {
    let x = float(bits);
    // 2^63 is a double, i64::MAX is not: the upper bound is exclusive.
    let in_range = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&x);
    (in_range && x.trunc() == x).then_some(x as i64 as u64)
}
