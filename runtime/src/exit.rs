//! Leaving compiled code: what is known of the exit, and who restores the interpreter's state.
//!
//! Problem: an exit is on the program's way each time that a loop ends, so it must be short; and what it says
//! about the program (how often it is taken) must not be lost. Design: what the code returns leads straight
//! to the exit's cell. It counts, marks the end of the entry that is timed, and remembers the exit if there
//! may be something to decide after it (`side.rs`). Then its plan restores the state, or, as long as it has
//! none, the resume data does (`restore.rs`). Nothing is searched or locked. Invariant: an exit cannot fail;
//! plans are made before the next entry and never here.
//!
//! ```text
//! 0x00000000_00000003 returned: exit 3 of trace 0, for the 4th time  ->  restored from the resume data
//! the next hot back edge makes its plan; the 5th time the plan restores the state
//! ```

use std::ffi::c_void;

use tracelift_core::ExitKind;
use tracelift_cranelift::LeftBy;

use crate::backend::COLLECT_AFTER;
use crate::ids::ExitPoint;
use crate::log::Stage;
use crate::plan::{self, Plan};
pub use crate::restore::{ExitFrame, MAX_WORDS};
use crate::restore::{ExitState, Host};
use crate::traces::Left;
use crate::tree::Turns;
use crate::vm::Vm;

/// How compiled code was left.
#[derive(Clone, Copy, Debug)]
pub struct Exit<'a> {
    /// Its kind's number, or [`REFUSED`]. A whole word, as a byte that was just written must not be read back
    /// with what lies beside it.
    pub(crate) code: u32,
    /// Where the slots of the frames' bases count from: the base that the code's entry had, unless the code
    /// went on in other frames since.
    pub base: *mut u8,
    /// Frames to go on in, outermost first. The first one lies below `base` if the code has returned from the
    /// frame there.
    pub frames: &'a [ExitFrame],
    /// How many of them, the first ones, are those of callers of the unit that was left. The frame that each
    /// of these has called is the last one of its own and the first one of the next caller's; what it goes on
    /// with is said by the latter.
    pub outer: u32,
    /// What the host knows the tree by that was left.
    pub owner: usize,
}

/// No kind of an exit: the entry was refused.
const REFUSED: u32 = u32::MAX;

/// The number of a kind, or [`REFUSED`], as an [`Exit`] holds it.
pub(crate) fn code_of(kind: Option<ExitKind>) -> u32 {
    kind.map_or(REFUSED, |kind| kind as u32)
}

impl Exit<'_> {
    /// Why the code was left; `None` if the entry was refused and nothing happened.
    #[inline]
    pub fn kind(&self) -> Option<ExitKind> {
        ExitKind::ALL.get(self.code as usize).copied()
    }
}

impl Vm {
    #[cold]
    fn tell_exit(&mut self, at: ExitPoint) {
        let kind = self.traces.get(at.trace).map(|trace| trace.exits[at.exit.index()].kind);
        let heading = format!("{}: {}", self.shown_exit(at), kind.map_or("", ExitKind::name));
        self.log.entry(Stage::Exit, &heading, String::new);
    }

    /// Compiled code returned `left`; see `tl_exit`. It may make objects, so that the host looks at its
    /// collector's debt after it, whatever the exit's kind.
    ///
    /// # Safety
    /// This VM's code was just called with this context, and returned `left`. The host's stack has room for
    /// the slots and frames that the entry said an exit needs.
    #[inline]
    pub unsafe fn exit(&mut self, left: LeftBy, context: *mut c_void) -> Exit<'_> {
        let at = ExitPoint::of_code(left.exit);
        self.exits.state.begin();
        if let Some(notes) = &mut self.notes {
            notes.leaves(self.timing.ticks.now());
        }
        if self.traces.get(at.trace).is_none_or(|trace| at.exit.index() >= trace.exits.len()) {
            // Neither a refused entry nor a number that no code returns leads anywhere.
            return self.was_refused(left.base);
        }
        if self.units.has_records() {
            // SAFETY: passed on from the caller.
            return unsafe { self.exit_unit(left, context) };
        }
        if self.log.wants(Stage::Exit) {
            self.tell_exit(at);
        }
        let trace = self.traces.get_mut(at.trace).expect("it is there, as was just seen");
        let cell = &mut trace.exits[at.exit.index()];
        let kind = cell.kind;
        let base = match kind {
            // The code has passed on the base of the frame that it ends in.
            ExitKind::Finish => {
                let stride = self.schema.slots().stride as isize;
                left.base.wrapping_offset(-(trace.tree.end as isize * stride))
            }
            _ => left.base,
        };
        let (owner, replaced, progress) = (trace.tree.owner, trace.tree.replaced, cell.progress);
        cell.count += 1;
        let count = cell.count;
        let is_quiet = cell.heat() < cell.quiet_until;
        let is_due = !is_quiet
            || *self.code.cells.crossings_due != 0
            || trace.tree.turns.as_ref().is_some_and(Turns::is_due)
            || (trace.is_left_in_vain(at.exit) && self.units.was_left(trace.tree.unit));
        self.totals.units.left += u64::from(trace.tree.unit.is_some());
        self.exits.last = is_due.then_some(Left { at, kind });
        if *self.code.cells.crossings_due != 0 {
            // Should the host ask for nothing now, as it has to collect, it asks before the next entry.
            self.gates.shut();
        }
        if let Some(sample) = &mut self.timing.sample {
            if sample.depth == self.nested.depth() {
                let partial = if kind == ExitKind::Finish { 0.0 } else { replaced.at(progress) };
                sample.left_by(partial, self.timing.ticks.now());
            }
        }
        if kind == ExitKind::Collect && *self.code.cells.collect < 0 {
            *self.code.cells.collect = COLLECT_AFTER;
        }
        let trace = &*trace;
        let ExitState { frames, registers, .. } = &mut self.exits.state;
        registers.clear();
        if let Some(plan) = &trace.exits[at.exit.index()].plan {
            if plan.lifts {
                self.reserves.spend(&trace.lifts);
                self.nested.needs_change();
            }
            // SAFETY: passed on from the caller.
            unsafe { plan.restore(&self.code.cells.exit_buffer, context, base, registers) };
            return Exit { code: code_of(Some(kind)), base, frames: &plan.frames, outer: 0, owner };
        }
        if plan::is_hot(count) {
            self.exits.hot = Some(at);
            self.gates.shut();
        }
        frames.clear();
        let buffer = &self.code.cells.exit_buffer;
        let mut host = Host { schema: &self.schema, context, buffer, pool: &trace.pool, lifted: registers };
        // SAFETY: passed on from the caller.
        unsafe { host.restore(&trace.resume, at.exit, base, frames) };
        if !registers.is_empty() {
            self.reserves.spend(&trace.lifts);
            self.nested.needs_change();
        }
        Exit { code: code_of(Some(kind)), base, frames: &self.exits.state.frames, outer: 0, owner }
    }

    /// How many slots from the base that the code returned an exit may write.
    pub(crate) fn room_of_exit(&self, left: LeftBy) -> u32 {
        let at = ExitPoint::of_code(left.exit);
        let Some(trace) = self.traces.get(at.trace) else { return 0 };
        let Ok(state) = trace.resume.state(at.exit.index()) else { return 0 };
        let is_end = trace.exits[at.exit.index()].kind == ExitKind::Finish;
        let shift = if is_end { trace.tree.end } else { 0 };
        let ends = state.frames().map(|frame| {
            let last = frame.slots.map(|slot| slot.slot + 1).max().unwrap_or(0);
            frame.base + last - shift
        });
        ends.max().map_or(0, |end| end.max(0) as u32)
    }

    #[cold]
    fn was_refused(&mut self, base: *mut u8) -> Exit<'_> {
        self.totals.refused += 1;
        self.exits.last = None;
        self.gate_refused();
        Exit { code: REFUSED, base, frames: &[], outer: 0, owner: 0 }
    }

    /// Makes the plan of the exit that has become hot.
    pub(crate) fn plan_hot_exit(&mut self) {
        let Some(at) = self.exits.hot.take() else { return };
        if let Some(trace) = self.traces.get_mut(at.trace) {
            let plan = Plan::of(&trace.resume, &trace.pool, at.exit, &self.schema);
            self.exits.state.reserve_registers(plan.as_ref().map_or(0, |plan| plan.registers));
            trace.exits[at.exit.index()].plan = plan.map(Box::new);
        }
    }
}
