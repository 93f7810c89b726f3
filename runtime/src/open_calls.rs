//! The list of calls of the host that may be open.
//!
//! Problem: a call begins and ends with each iteration of some loops, so that to announce it must cost next
//! to nothing; and a longjmp ends calls without a word. Design: the host writes the list itself ([`Calls`],
//! inline in `tracelift.h`): places on the native stack, outermost first. Who looks at it from some place
//! drops what began at or below it. Each thread has a list of its own, which is swapped in when that thread
//! enters code. Invariant: a call that is open is in the list of its thread.
//!
//! ```text
//! open: [7ff8, 7fe0]; asked from 7ff0, the call at 7fe0 is over: [7ff8]
//! ```

use tracelift_core::planted::{planted, Bug};

use crate::ids::TraceId;
use crate::tunables::CALLS_PER_TIMED;

/// So many calls can be open at a time; more are not told apart (`TL_MOST_CALLS`).
pub const MOST_CALLS: usize = 400;

/// Calls of the host that may be open (`tl_calls`).
#[repr(C)]
#[derive(Debug)]
pub struct Calls {
    /// Changes when what was secured at an entry may not be enough.
    pub epoch: u64,
    /// How many may be open.
    pub depth: u32,
    /// Calls until one is timed.
    pub until_timed: u32,
    /// The depth of the call that is timed; 0: none is.
    pub timed_depth: u32,
    /// There were more than can be told apart: nothing is freed from now on.
    pub has_overflowed: u32,
    /// Their places on the native stack, outermost first.
    pub open: [usize; MOST_CALLS],
}

/// Calls of the host, and what depends on them.
#[derive(Debug)]
pub(crate) struct Nested {
    /// Those of this thread. The host writes it too: its place does not change.
    pub calls: Box<Calls>,
    /// The thread that enters code now.
    thread: usize,
    /// Calls that are open on others, by thread.
    elsewhere: Vec<(usize, Vec<usize>)>,
    /// The clock when the call that is timed began, and what code had added up by then.
    pub began: (u64, u64),
    /// Trees that wait to be freed, by their roots.
    pub doomed: Vec<TraceId>,
}

impl Default for Nested {
    fn default() -> Nested {
        let calls = Calls {
            epoch: 0,
            depth: 0,
            until_timed: CALLS_PER_TIMED as u32,
            timed_depth: 0,
            has_overflowed: 0,
            open: [0; MOST_CALLS],
        };
        let calls = Box::new(calls);
        Nested { calls, thread: this_thread(), elsewhere: Vec::new(), began: (0, 0), doomed: Vec::new() }
    }
}

/// What tells one thread from another.
#[inline]
fn this_thread() -> usize {
    thread_local!(static MARK: u8 = const { 0 });
    MARK.with(|mark| std::ptr::from_ref(mark) as usize)
}

impl Nested {
    /// Code is about to be entered, or a question asked, maybe by another thread than before.
    #[inline]
    pub fn is_here(&mut self) {
        let thread = this_thread();
        if self.thread != thread {
            self.change_thread(thread);
        }
    }

    #[cold]
    fn change_thread(&mut self, thread: usize) {
        let calls = &mut *self.calls;
        let open = calls.open[..calls.depth as usize].to_vec();
        if !open.is_empty() {
            self.elsewhere.push((self.thread, open));
        }
        let place = self.elsewhere.iter().position(|&(other, _)| other == thread);
        let back = place.map(|place| self.elsewhere.swap_remove(place).1).unwrap_or_default();
        calls.open[..back.len()].copy_from_slice(&back);
        (calls.depth, calls.timed_depth, self.thread) = (back.len() as u32, 0, thread);
    }

    /// Whoever stands at `stack` is below no call that began at or below it.
    pub fn drop_over(&mut self, stack: usize) {
        let calls = &mut *self.calls;
        while calls.depth > 0 && calls.open[calls.depth as usize - 1] <= stack {
            calls.depth -= 1;
        }
        if calls.timed_depth > calls.depth {
            calls.timed_depth = 0;
        }
    }

    /// Calls of this thread that may be open; asked from a function of ours, which drops those that are over.
    #[inline]
    pub fn depth(&mut self) -> u32 {
        self.is_here();
        if self.calls.depth > 0 {
            let here = 0u8;
            self.drop_over(std::ptr::from_ref(&here) as usize);
        }
        self.calls.depth
    }

    /// Whether compiled code may have a frame on some native stack.
    pub fn may_be_open(&mut self) -> bool {
        if planted(Bug::CallForgottenFreed) {
            return false;
        }
        self.depth() > 0 || !self.elsewhere.is_empty() || self.calls.has_overflowed != 0
    }

    /// What was secured at an entry may not be enough any more.
    #[inline]
    pub fn needs_change(&mut self) {
        self.calls.epoch += 1;
    }
}
