//! Arrays that are told apart before a loop.
//!
//! Problem: `b[i] = k[1] * a[i] + k[2] * a[i + 1]` reads `k` anew in each iteration, as `b` and `k` may be
//! one table. Mostly they are not. Design: where a store would strike out what is known of another array, and
//! both addresses are starts of the same part of records ([`Places`](super::place::Places)), a loop that is
//! peeled gets a guard in its preamble: that the two starts differ. Then the parts do not overlap, and what
//! was known stays known. An entry remembers on which such pairs it relies; a guard on which nothing relies
//! in the end is removed, and one that fails too often makes the loop be compiled without, as with hoisted
//! bounds (`passes/bounds.rs`).
//!
//! Invariant: the loop relies on a pair only if both starts are the same in all iterations, which is asked
//! for ([`State::rely_on_hoisted`]) and known when the loop is closed. Example, where `a3` and `a4` are
//! starts of items:
//!
//! ```text
//! f5 = load(a3, item.float)           f5 = load(a3, item.float)
//! store(a4, item.float, f1)      =>   i6 = addr_eq(a3, a4)
//! f7 = load(a3, item.float)           guard_false(i6) hoisted
//!                                     store(a4, item.float, f1)
//! ```

use tracelift_core::{ExitKind, Inst, Op, Value};

use crate::pass::Cx;
use crate::state::State;
use crate::OptError;

/// More pairs than this are too many guards.
const MOST: usize = 16;

/// A set of pairs, by number.
pub(super) type Pairs = u16;

/// Pairs of starts that a guard has told apart.
#[derive(Default)]
pub(super) struct Apart {
    pairs: Vec<Pair>,
}

struct Pair {
    starts: (Value, Value),
    /// The guard's number in [`Hoisted::guards`](crate::state::Hoisted::guards).
    guard: usize,
}

impl Apart {
    /// The pair, as a set.
    pub fn of(&self, a: Option<Value>, b: Option<Value>) -> Pairs {
        let (Some(a), Some(b)) = (a, b) else { return 0 };
        let is_pair = |pair: &Pair| pair.starts == (a, b) || pair.starts == (b, a);
        self.pairs.iter().position(is_pair).map_or(0, |number| 1 << number)
    }

    /// Whether another pair may be told apart here: on the first of two walks, before all effects since the
    /// last snapshot.
    pub fn has_room(&self, st: &State<'_>) -> bool {
        let has_place = st.stores_plainly() && st.has_resume_point();
        st.is_before_loop() && has_place && self.pairs.len() < MOST
    }

    /// Tells two starts apart by a guard.
    pub fn guard(&mut self, cx: &mut Cx<'_, '_>, a: Value, b: Value) -> Result<(), OptError> {
        if !cx.st.fire("told_apart") {
            return Ok(());
        }
        let are_one = cx.emit_value(Inst::new(Op::AddrEq, &[a, b]))?;
        let guard = cx.st.hoist_next();
        let snap = cx.st.resume_point()?;
        cx.emit(Inst::new(Op::GuardFalse, &[are_one]).at(snap).exit_kind(ExitKind::Hoisted))?;
        self.pairs.push(Pair { starts: (a, b), guard });
        Ok(())
    }

    /// What is known only because of these pairs is used.
    pub fn rely(&self, st: &mut State<'_>, pairs: Pairs) {
        for (number, pair) in self.pairs.iter().enumerate() {
            if pairs & (1 << number) != 0 {
                let is_loop = st.is_loop();
                let steady = [pair.starts.0, pair.starts.1].into_iter().filter(|_| is_loop);
                st.rely_on_hoisted(pair.guard, steady);
            }
        }
    }
}
