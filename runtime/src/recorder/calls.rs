//! Calls of the host: what must be in memory before them, and what is known after them.
//!
//! Problem: a function of the host's may do anything. It runs the interpreter, collects, throws and yields
//! across compiled code, looks at the frames, and changes those that it can reach.
//!
//! Design: before the call the trace stores every live slot whose memory is stale, also those of functions
//! that were inlined, so that nothing is lost if the call never comes back. The function gets a
//! [`CallSite`], which says what the frames are, and makes the host's records of them itself. It answers
//! null if the code cannot go on; the trace is then left at the *next* resume point, where memory has all,
//! so that this exit writes nothing. Slots that the call may have changed are *forgotten*: memory has them
//! right, and the host reads them from there, under guards, when they are wanted.
//!
//! A loop with such a call also stores what is stale at its end: the next iteration's call finds the memory
//! right that the trace does not name before it.
//!
//! Invariants: a forgotten slot is in no snapshot until it is written or known again; what a call may change
//! was known before it, or is forgotten, so that no input is read from memory that the call has changed.
//!
//! ```text
//! s = s + f(i):   store(frame + 16 * 0, slot.int, i1)   -- s; f and i lie in their slots already
//!                 a5 = call(host, context, frame, site)
//!                 guard_nonnull(a5) @2                   @2 frame 0: no slots
//!                 guard_value(load(frame + 16 * 3, slot.tag), int); i6 = load(frame + 16 * 3, slot.int)
//! ```

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use smallvec::SmallVec;
use tracelift_core::planted::{planted, Bug};
use tracelift_core::schema::FuncId;
use tracelift_core::snapshot::Frame;
use tracelift_core::{ExitKind, Inst, Op, Payload, Schema, Type, Value};

use super::{is_live, units, Live, OpenFrame, Recorder, SlotState, Start, AFTER_EFFECT};
use crate::ids::TraceId;
use crate::restore::{ExitFrame, MAX_WORDS};
use crate::run::Room;

/// The frames at a call of the host (`tl_call_site`): a number of frames, the trace's number, the room that
/// its code needs to go on, and the frames (`tl_frame`), outermost first. Code holds its address, which never
/// changes.
#[derive(Clone, Debug)]
pub struct CallSite(Arc<[AtomicU64]>);

/// Words before the frames.
const HEAD_WORDS: usize = 2;

/// Words of a frame in a call site.
const FRAME_WORDS: usize = size_of::<ExitFrame>() / 8;

impl CallSite {
    fn new<'a>(frames: impl Iterator<Item = (i32, &'a [u64])>) -> CallSite {
        let mut words = vec![0; HEAD_WORDS];
        for (base, frame) in frames {
            words[0] += 1;
            words.push(u64::from(base as u32));
            words.extend((0..MAX_WORDS).map(|n| frame.get(n).copied().unwrap_or(0)));
        }
        debug_assert!((words.len() - HEAD_WORDS).is_multiple_of(FRAME_WORDS));
        CallSite(words.into_iter().map(AtomicU64::new).collect())
    }

    /// Where the host finds it.
    pub fn address(&self) -> u64 {
        self.0.as_ptr() as u64
    }

    /// The code that makes the call is part of this trace.
    pub(crate) fn belongs_to(&self, trace: TraceId) {
        let frames = self.0[0].load(Ordering::Relaxed) & u64::from(u32::MAX);
        self.0[0].store(frames | u64::from(trace.0) << 32, Ordering::Relaxed);
    }

    /// The code needs so much to go on.
    pub(crate) fn needs(&self, room: Room) {
        self.0[1].store(u64::from(room.slots) | u64::from(room.frames) << 32, Ordering::Relaxed);
    }
}

/// What calls of the host have left in a recording.
#[derive(Clone, Default, Debug)]
pub(super) struct HostCalls {
    /// Where they are made.
    pub sites: Vec<CallSite>,
    /// Whether slots were stored: then all that the loop changes is, at its end.
    has_stored: bool,
    /// What the last one has answered, as long as nobody has looked.
    answer: Option<Value>,
}

/// How a slot was forgotten.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Forgotten {
    /// Nobody needs to know it before it is read.
    Quite,
    /// The loop knew it at its head, and has to know it again at its end.
    ButCarried,
}

/// Why nothing else may follow a call: where it has answered null, what comes next must not be done.
const NOT_LOOKED_AT: &str = "what follows tl_host_call is tl_resume_point in the same frame";

/// Why a call is refused.
const NO_SLOT_CELLS: &str = "tl_host_call: tl_set_slot_cells was not called";

impl Recorder {
    /// Records a call of the host's at the current resume point; see `tl_host_call`. `changed` are slots of
    /// the current frame. What is wrong with it fails the recording.
    pub fn host_call(&mut self, func: FuncId, args: &[Value], changed: &[i32], schema: &Schema) {
        if !self.check_args(args) {
            return;
        }
        if self.unit().is_some() {
            return self.misuse("tl_host_call in a unit, whose frames are nowhere");
        }
        if schema.slot_cells().is_none() {
            return self.misuse(NO_SLOT_CELLS);
        }
        let written = (!self.points.written.is_empty()).then_some(AFTER_EFFECT);
        if let Some(sentence) = self.points.dirty.or(written) {
            return self.misuse(sentence);
        }
        self.store_slots(schema);
        self.forget_dead_slots();
        let frames = self.stack.frames.iter().map(|frame| (frame.base, &frame.words[..]));
        let site = CallSite::new(frames);
        let site_value = self.constant(Type::Addr, site.address());
        let context = self.emit(Op::Context, &[], Payload::None, ExitKind::Guard, schema);
        let base = self.emit(Op::FrameBase, &[], Payload::None, ExitKind::Guard, schema);
        let (Some(context), Some(base)) = (context, base) else { return };
        let mut all: SmallVec<[Value; 8]> = SmallVec::from_slice(&[context, base, site_value]);
        all.extend_from_slice(args);
        let answer = self.emit(Op::Call, &all, Payload::Func(func), ExitKind::Guard, schema);
        self.stack.host_calls.sites.push(site);
        self.stack.host_calls.answer = answer;
        for &slot in changed {
            self.forget_slot(slot, schema);
        }
        // What an exit of any frame mentions is told by the site as well.
        for frame in &self.stack.frames {
            self.room.max_slot = self.room.max_slot.max(frame.base + frame.live.len() as i32 * 8);
        }
        self.points.current = None;
        self.points.dirty = Some("a guard between tl_host_call and the next tl_resume_point");
    }

    /// Stores what is live at the current resume point where memory does not hold it; see `tl_store_slots`.
    pub fn store_slots(&mut self, schema: &Schema) {
        if schema.slot_cells().is_none() {
            return self.misuse(NO_SLOT_CELLS);
        }
        let skipped = planted(Bug::CallSlotNotStored) as usize;
        let stale: Vec<(i32, SlotState)> = self.stale_slots().skip(skipped).collect();
        for (at, state) in stale {
            self.store_slot(at, &state, schema);
            self.slots.get_mut(at).into_iter().for_each(|state| state.clean = true);
        }
        self.stack.host_calls.has_stored = true;
    }

    /// Whether the recording has called the host.
    pub fn has_called(&self) -> bool {
        self.stack.host_calls.has_stored
    }

    /// Whether the answer of the last call was looked at; else the host has done too early what it is about
    /// to do.
    pub(super) fn has_looked(&mut self) -> bool {
        let has_looked = self.stack.host_calls.answer.is_none();
        if !has_looked {
            self.misuse(NOT_LOOKED_AT);
        }
        if self.must_look_at_result() {
            self.misuse(units::NOT_LOOKED_AT);
        }
        has_looked && !self.must_look_at_result()
    }

    /// Slots whose memory does not hold what the interpreter would have there, of those that are live.
    fn stale_slots(&self) -> impl Iterator<Item = (i32, SlotState)> + '_ {
        let is_live_in =
            |at: i32| self.stack.frames.iter().any(|frame| is_live(&frame.live, at - frame.base));
        let stale = self.slots.iter().filter(|(_, state)| state.written && !state.clean && !state.forgotten);
        stale.filter(move |&(at, _)| is_live_in(at)).map(|(at, &state)| (at, state))
    }

    /// What is in no frame's live slots is not stored, and must not come back: it may be a pointer that the
    /// collector knows nothing of. A function that is called later may lie over it, and the host may not know
    /// exactly which of its slots are live.
    fn forget_dead_slots(&mut self) {
        for (_, state) in self.slots.iter_mut().filter(|(_, state)| state.written && !state.clean) {
            (state.forgotten, state.clean, state.value) = (true, true, None);
        }
    }

    /// Stores what a slot holds into its memory.
    fn store_slot(&mut self, at: i32, state: &SlotState, schema: &Schema) {
        let Some(cells) = schema.slot_cells() else { return };
        let stride = schema.slots().stride;
        let index = self.constant(Type::Int, i64::from(at) as u64);
        let base = self.emit(Op::FrameBase, &[], Payload::None, ExitKind::Guard, schema);
        let Some(base) = base else { return };
        let scale = Payload::Scale { stride, offset: 0 };
        let Some(place) = self.emit(Op::ItemAddr, &[base, index], scale, ExitKind::Guard, schema) else {
            return;
        };
        if let Some(value) = state.value {
            let cell = cells.value[self.trace.ty(value) as usize];
            self.emit(Op::Store, &[place, value], Payload::Cell(cell), ExitKind::Guard, schema);
        }
        if let Some(cell) = cells.tag {
            let bits = self.constant(Type::Int, schema.tag(state.tag).bits);
            self.emit(Op::Store, &[place, bits], Payload::Cell(cell), ExitKind::Guard, schema);
        }
    }

    /// The call may have changed a slot of the current frame: what was known of it is void.
    pub(super) fn forget_slot(&mut self, slot: i32, schema: &Schema) {
        let Some(at) = self.absolute(slot) else { return };
        if planted(Bug::CallSlotStillKnown) {
            return;
        }
        let inner = self.stack.frames.get(1).is_some_and(|frame| at >= frame.base);
        let matters = !inner && self.head_live.as_ref().is_some_and(|live| is_live(live, at));
        // The call is about to be made: memory holds what it held at the head, where nothing was written.
        let in_memory = if matters { self.tag_in_memory(at, schema) } else { None };
        let head_tag = in_memory.unwrap_or_default();
        let state = self.slots.get_or_insert(at, SlotState { head_tag, inner, ..SlotState::default() });
        (state.forgotten, state.written, state.clean, state.value) = (true, true, true, None);
    }

    /// Whether a call of the host may have changed a slot of the current frame, and nobody has looked since;
    /// see `tl_slot_is_forgotten`.
    pub fn is_slot_forgotten(&self, slot: i32) -> Option<Forgotten> {
        let base = self.stack.frames.last().map_or(0, |frame| frame.base);
        let at = base.checked_add(slot)?;
        let state = self.slots.get(at).filter(|state| state.forgotten)?;
        let is_loop = matches!(self.start, Start::Loop { .. });
        let is_live_at_head = self.head_live.as_ref().is_some_and(|live| is_live(live, at));
        let was_known = state.read || state.input.is_some();
        let is_wanted = is_loop && !state.inner && is_live_at_head && was_known;
        Some(if is_wanted { Forgotten::ButCarried } else { Forgotten::Quite })
    }

    /// The first resume point after a call: leaves here if the code cannot go on. Memory has all there is.
    pub(super) fn look_at_answer(&mut self) {
        let answer = self.stack.host_calls.answer.take();
        let Some(answer) = answer.filter(|_| !planted(Bug::CallAnswerIgnored)) else { return };
        let bare =
            |frame: &OpenFrame| Frame { base: frame.base, words: frame.words.clone(), slots: Vec::new() };
        let frames = self.stack.frames.iter().map(bare).collect();
        let position = self.trace.insts.len() as u32;
        let Some(snap) = self.add_snapshot(frames, Live::new(), position) else { return };
        let mut guard = Inst::new(Op::GuardNonnull, &[answer]).at(Some(snap)).exit_kind(ExitKind::Interrupt);
        guard.depth = self.depth().min(255) as u8;
        self.trace.push(guard, None);
    }

    /// At the end of a loop with calls of the host: memory gets what the head's slots hold.
    pub(super) fn store_at_end(&mut self, schema: &Schema) {
        let is_wanted = self.has_called() && !planted(Bug::CallEndNotStored);
        let Some(live) = self.head_live.clone().filter(|_| is_wanted) else { return };
        let stale = |(at, state): &(i32, &SlotState)| {
            state.written && !state.clean && !state.forgotten && !state.inner && is_live(&live, *at)
        };
        let stale: Vec<(i32, SlotState)> =
            self.slots.iter().filter(stale).map(|(at, &state)| (at, state)).collect();
        for (at, state) in stale {
            self.store_slot(at, &state, schema);
        }
    }
}
