//! Calls of the host from compiled code: what may have changed when they come back, and what runs meanwhile.
//!
//! Problem: a function that compiled code calls may run the interpreter, and so enter, leave, record, compile
//! and forget other code, or the very code that has called it; and it may never come back. Design: each such
//! call is announced with its place on the native stack, in a list that the host writes itself
//! (`open_calls.rs`). A longjmp takes nothing back from it; but whoever stands on the stack at some place
//! knows that all calls from places at or below it are over, and drops them. Code that may have such a frame
//! on the stack is *doomed* instead of freed: nobody enters it any more, and it is freed when no call is
//! open.
//!
//! When a call comes back the *epoch* says whether what was secured at the entry may be gone or not be enough
//! any more: another exit has used what was held for objects, or a new side trace needs more. Then it is
//! secured again, or the code is left.
//!
//! Invariants: code is not freed while a call from it is open, on this native stack or another thread's. An
//! entry that is timed belongs to a depth of calls: what is entered deeper down is not timed meanwhile, but
//! after a long time, and what its calls take, of which one in some is timed, is told apart.
//!
//! ```text
//! trace 3 calls the host at 7ff8: [7ff8]; that runs trace 5, which calls the host at 7fe0: [7ff8, 7fe0]
//! the inner call throws, and the outer one comes back: 7fe0 lies below 7ff8, so it is over; then []
//! ```

use tracelift_core::planted::{planted, Bug};

use crate::ids::TraceId;
use crate::open_calls::{Calls, MOST_CALLS};
use crate::tunables::CALLS_PER_TIMED;
use crate::vm::Vm;

impl Vm {
    /// The calls of the host, for the host; see `tl_get_calls`.
    pub fn calls(&mut self) -> *mut Calls {
        &raw mut *self.nested.calls
    }

    /// Compiled code calls the host from this place on the native stack; see `tl_call_begin`. Returns the
    /// epoch.
    pub fn begin_call(&mut self, stack: usize) -> u64 {
        self.nested.drop_over(stack);
        let calls = &mut *self.nested.calls;
        let depth = calls.depth as usize;
        let is_due = calls.until_timed == 0;
        if is_due {
            calls.until_timed = CALLS_PER_TIMED as u32;
        }
        let sample = self.timing.sample.as_mut().filter(|sample| is_due && sample.depth == calls.depth);
        if depth == MOST_CALLS {
            calls.has_overflowed = 1;
            return calls.epoch;
        }
        calls.open[depth] = stack;
        if let Some(sample) = sample {
            calls.until_timed = sample.times_call() as u32;
            calls.timed_depth = calls.depth + 1;
            self.nested.began = (self.timing.ticks.now(), *self.code.cells.replaced);
        }
        calls.depth += 1;
        calls.epoch
    }

    /// It has come back; see `tl_call_end`. False if the code of this trace must be left, since memory for
    /// objects is not there.
    pub fn end_call(&mut self, trace: TraceId, stack: usize, epoch: u64) -> bool {
        self.nested.is_here();
        let calls = &mut *self.nested.calls;
        let open = &calls.open[..calls.depth as usize];
        if let Some(mine) = open.iter().rposition(|&at| at == stack) {
            let was_timed = calls.timed_depth == mine as u32 + 1;
            calls.depth = mine as u32;
            if calls.timed_depth > calls.depth {
                calls.timed_depth = 0;
            }
            if let (true, Some(sample)) = (was_timed, &mut self.timing.sample) {
                let (began, replaced) = self.nested.began;
                let took = self.timing.ticks.now().wrapping_sub(began);
                sample.elsewhere = sample.elsewhere.wrapping_add(took.wrapping_mul(sample.stands_for));
                let theirs = self.code.cells.replaced.wrapping_sub(replaced);
                sample.nested = sample.nested.wrapping_add(theirs.wrapping_mul(sample.stands_for));
            }
        }
        let Some(trace) = self.traces.get(trace) else { return false };
        if planted(Bug::CallEpochIgnored) {
            return true;
        }
        // SAFETY: promised to `set_reserve`.
        epoch == self.nested.calls.epoch || unsafe { self.reserves.secure(&trace.reach.lifts) }
    }

    /// Frees what had to wait, if no call is open any more.
    pub(crate) fn free_doomed(&mut self) {
        if self.nested.doomed.is_empty() || self.nested.may_be_open() {
            return;
        }
        let doomed = std::mem::take(&mut self.nested.doomed);
        self.free_all(&doomed);
    }

    /// Frees trees to which nobody leads from outside, and of which no frame lies on a native stack.
    pub(crate) fn free_all(&mut self, roots: &[TraceId]) {
        for number in roots.iter().flat_map(|&root| self.tree_of(root)).collect::<Vec<_>>() {
            self.free_trace(number);
        }
        let live = self.traces.alive().map(|(_, trace)| trace.lifts.as_slice());
        // SAFETY: promised to `set_reserve`.
        unsafe { self.reserves.shrink(live) };
    }
}
