//! Stores that wait beyond the end of an iteration.
//!
//! Problem: `o.last = {x = i}` makes a table in each iteration, though the next one overwrites it: the store
//! waits until the loop's end and no longer. Design: in a peeled loop what waits is a part of the state at
//! the loop's label, as virtual objects are that the jump passes ([`crate::peel`]): the preamble may end, and
//! the loop begin, while stores wait, if the loop ends with the same stores waiting. "The same" is by what is
//! carried: the next of the address is the address, and the next of each part of the stored object is the
//! part of the one stored then. Who leaves the loop finds them pending at every exit. The addresses, and what
//! the objects hold, are arguments of the loop's label.
//!
//! Only what overwrites the same place in each iteration comes to such an end. So only stores to addresses
//! that no iteration seems to change are kept; if the loop does not end with them after all, it is peeled
//! once more without.
//!
//! Invariant: at the loop's label, the stores that wait, made in order, turn memory into what the recorded
//! trace has there, in each iteration. Example:
//!
//! ```text
//! L0(p0, i1):                        L0(p0, i1):
//! p2 = new(Box)                      i3 = int_add(i1, 1)
//! set(p2, value, i1)                 jump(L1, p0, i3, i1)
//! set(p0, last, p2)            =>    L1(p0, i3, i1):          store(p0, last, Box{value = i1}) waits
//! i3 = int_add(i1, 1)                i4 = int_add(i3, 1)
//! jump(L0, p0, i3)                   jump(L1, p0, i4, i3)
//! ```

use tracelift_core::ops::Flags;
use tracelift_core::{Op, Value};

use crate::delayed::Delayed;
use crate::state::State;

/// So far back is looked for what an address is made from.
const DEEPEST: u32 = 8;

/// Whether no iteration seems to change where a store goes: a guess, which the loop's end confirms.
pub(crate) fn seems_steady(st: &State<'_>, delayed: &Delayed) -> bool {
    delayed.stores.iter().all(|&(address, ..)| is_steady(st, st.resolve(address), DEEPEST))
}

/// Whether a value is made from constants, from what the recorded jump passes on as it is, and from memory
/// that is found by these.
fn is_steady(st: &State<'_>, value: Value, depth: u32) -> bool {
    if st.out.constant_of(value).is_some() {
        return true;
    }
    let Some(def) = st.def(value) else {
        let (inputs, jump) = (st.source.inputs(), &st.source.insts[st.at.current as usize]);
        let is_it = |input: &Value| st.at.map[input.index()].map(|input| st.resolve(input)) == Some(value);
        return inputs.iter().zip(&jump.args).any(|(input, arg)| input == arg && is_it(input));
    };
    let is_plain = def.op.is(Flags::PURE) || matches!(def.op, Op::Load | Op::Context | Op::FrameBase);
    is_plain && depth > 0 && def.args.iter().all(|&arg| is_steady(st, st.resolve(arg), depth - 1))
}
