//! Exits that are taken often are decoded once.
//!
//! Problem: resume data is written to be small, and reading it again costs more than everything else at an exit. Design: an
//! exit that was taken [`HOT`] times gets a *plan*: the frames as the host wants them, and for each slot where it lies,
//! which bits its tag has and where its payload comes from. Plans are made before an entry, never at an exit, which
//! allocates nothing. Exits with virtual objects or pending stores have none: making the objects costs more.
//! Invariant: a plan does what [`Vm::exit`] does with the resume data itself.
//!
//! Example: the guard of `if i & 1 == 0` in a loop: two frames' words and three slots, copied each other iteration.

use tracelift_core::Schema;
use tracelift_opt::resume::ResumeSource;
use tracelift_opt::ResumeTable;

use crate::exit::{ExitFrame, MAX_WORDS};
use crate::slots;
use crate::vm::{TraceData, Vm};

/// Exits before one is decoded.
const HOT: u64 = 4;

struct Write {
    slot: i32,
    tag: u64,
    source: ResumeSource,
}

/// A decoded exit.
pub(crate) struct Plan {
    frames: Vec<ExitFrame>,
    writes: Vec<Write>,
}

impl Plan {
    fn of(trace: &TraceData, exit: u32, schema: &Schema) -> Option<Plan> {
        let state = trace.resume.state(exit as usize).ok()?;
        if state.virtuals().next().is_some() || state.pending().next().is_some() {
            return None;
        }
        let mut plan = Plan::of_frames(&trace.resume, &trace.pool, exit as usize)?;
        for frame in state.frames() {
            for slot in frame.slots {
                let tag = schema.tag(slot.tag).bits;
                plan.writes.push(Write { slot: frame.base + slot.slot, tag, source: slot.source });
            }
        }
        Some(plan)
    }

    /// The plan of an exit whose slots are written already.
    pub(crate) fn of_frames(resume: &ResumeTable, pool: &[u64], exit: usize) -> Option<Plan> {
        let state = resume.state(exit).ok()?;
        let mut frames = Vec::new();
        for frame in state.frames() {
            let mut words = [0; MAX_WORDS];
            words.iter_mut().zip(frame.words).for_each(|(word, index)| *word = pool[index as usize]);
            frames.push(ExitFrame { base: frame.base, words });
        }
        Some(Plan { frames, writes: Vec::new() })
    }

    /// Restores the interpreter's state.
    ///
    /// # Safety
    /// As for [`Vm::exit`].
    pub unsafe fn restore(
        &self,
        schema: &Schema,
        buffer: &[u64],
        pool: &[u64],
        base: *mut u8,
        frames: &mut Vec<ExitFrame>,
    ) {
        let layout = schema.slots();
        for write in &self.writes {
            let payload = write.source.bits(buffer, pool);
            // SAFETY: passed on from the caller.
            unsafe { slots::write_slot(base, write.slot, &layout, write.tag, payload) };
        }
        frames.extend_from_slice(&self.frames);
    }
}

impl Vm {
    /// Notes that an exit was taken; when it has become hot, it gets a plan before the next entry.
    pub(crate) fn note_exit(&mut self, number: usize, exit: u32, count: u64) {
        if count == HOT {
            self.hot_exit = Some((number as u32, exit));
        }
    }

    /// Makes the plan of the exit that has become hot.
    pub(crate) fn plan_hot_exit(&mut self) {
        let Some((number, exit)) = self.hot_exit.take() else { return };
        if let Some(Some(trace)) = self.traces.get_mut(number as usize) {
            trace.plans[exit as usize] = Plan::of(trace, exit, &self.schema).map(Box::new);
        }
    }
}
