//! Rules for addresses: constant parts gather in one place, so that equal addresses look equal.
//!
//! Invariant: address arithmetic wraps at 64 bits, as the machine's does. Example: item `i + 1` of an array
//! is `item_addr(base, i; stride 8, offset 8)`: one addition less, and the same index value as item `i`.

use smallvec::smallvec;
use tracelift_core::Op::*;
use tracelift_core::{Payload, Value};

use super::matcher::{op2, Match, Rewrite, Rule};

#[rustfmt::skip]
pub(super) static RULES: &[Rule] = &[
    Rule { name: "addr_add_zero", law: "a + 0 => a", ops: &[AddrAdd],
        apply: |m| m.is_int(1, 0).then(|| m.arg(0)) },
    Rule { name: "addr_add_chain", law: "(a + c) + d => a + (c + d)", ops: &[AddrAdd],
        apply: |m| { let (a, c) = m.def_const(0, AddrAdd)?; Some(op2(AddrAdd, a, c.wrapping_add(m.int(1)?))) } },
    Rule { name: "item_addr_constant", law: "item_addr(a, c) => a + (c * stride + offset)", ops: &[ItemAddr],
        apply: |m| {
            let (stride, offset) = scale(m)?;
            Some(op2(AddrAdd, m.value(0), m.int(1)?.wrapping_mul(stride as i64).wrapping_add(offset as i64)))
        } },
    Rule { name: "item_addr_of_sum", law: "item_addr(a, i + c) => item_addr(a, i), offset + c * stride", ops: &[ItemAddr],
        apply: |m| {
            let (stride, _) = scale(m)?;
            let (index, c) = m.def_const(1, IntAdd)?;
            moved(m, m.value(0), index, c.checked_mul(stride as i64)?)
        } },
    Rule { name: "item_addr_of_offset", law: "item_addr(a + c, i) => item_addr(a, i), offset + c", ops: &[ItemAddr],
        apply: |m| { let (base, c) = m.def_const(0, AddrAdd)?; moved(m, base, m.value(1), c) } },
];

fn scale(m: &Match<'_, '_>) -> Option<(u32, i32)> {
    match m.inst.payload {
        Payload::Scale { stride, offset } => Some((stride, offset)),
        _ => None,
    }
}

/// The same item address with other operands and `by` more bytes, if the offset still fits.
fn moved(m: &Match<'_, '_>, base: Value, index: Value, by: i64) -> Option<Rewrite> {
    let (stride, offset) = scale(m)?;
    let offset = i32::try_from((offset as i64).checked_add(by)?).ok()?;
    Some(Rewrite::With(ItemAddr, smallvec![base.into(), index.into()], Payload::Scale { stride, offset }))
}
