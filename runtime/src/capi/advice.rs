//! `tl_advice`: the policy's numbers for whoever records.
//!
//! Problem: how many iterations of an inner loop a recording should take in, or when a side trace has gone
//! too far, is policy, which each new host would have to find out by measuring. Design: the numbers stand in
//! the one table of [`crate::policy`]; the host reads them. Invariant: the struct only ever grows at its end,
//! as its size tells old hosts from new.
//!
//! Example: `if (++edges > tl_get_advice()->inner_edges) tl_record_abort(vm, "inner loop");`

use crate::tunables::{Advice, ADVICE};

// tests/capi/header.c has the other side of this.
const _: () = assert!(size_of::<Advice>() == 28);

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_get_advice() -> *const Advice {
    &ADVICE
}
