//! The recorder: turns one iteration of a host's loop into a trace.
//!
//! Problem: an interpreter works on frames of tagged slots, a trace on typed values. Design: a map from slots
//! to (tag, value). The first read of a slot makes a typed input; a write only changes the map; memory holds
//! a slot's old content until an exit writes it. At each bytecode the host names the resume point; the first
//! guard after it takes the snapshot: the frames' changed live slots. Reading and writing slots is in
//! `recorder/slots.rs`, what becomes of them at the end in `recorder/close.rs`, what a side trace begins with
//! in `recorder/inherit.rs`, and calls of the host in `recorder/calls.rs`.
//!
//! Invariant: an exit is exact. A guard after an effect of the same bytecode is refused, since the
//! interpreter could not redo that bytecode. Writing a slot is no effect, as it changes the map alone: a
//! later guard's snapshot has the slots as they were. Nor is filling a record that the bytecode has made
//! itself: the redone one makes another, and nobody has seen the first.
//!
//! Example: recording `s = s + 1` (slot 0) at a loop head gives
//! `L0(i0): i1 = int_add(i0, 1)  jump(L0, i1)` with entry `[0: int]`.

mod calls;
mod check;
mod close;
mod inherit;
mod made;
mod slots;
mod table;
mod units;

use std::collections::BTreeMap;
use std::num::NonZeroU8;
use std::sync::atomic::{AtomicU32, Ordering};

use smallvec::SmallVec;
use tracelift_core::ops::Flags;
use tracelift_core::schema::TagId;
use tracelift_core::snapshot::{Frame, SlotValue, Snapshot, Source, Words};
use tracelift_core::{ExitKind, Inst, Op, Payload, Schema, SnapId, Trace, Type, UnitId, Value};

use crate::abort::AbortReason;
use crate::ids::{ExitPoint, Key};
use crate::operands;
use crate::place::Place;
use crate::policy::Work;
use crate::run::Room;
use calls::HostCalls;
pub use calls::{CallSite, Forgotten};
use table::Slots;

/// Limits of a recording.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Operations.
    pub ops: usize,
    /// Snapshots.
    pub snapshots: usize,
    /// Host frames, the outermost included.
    pub frames: usize,
    /// Test aid: the recording is thrown away at this operation, or at its close if it has fewer.
    pub discard_at: Option<usize>,
    /// What the host says is compared with what its memory holds.
    pub checks: bool,
}

/// Slots that a recording may name, counted from the entry frame's base: more than any stack of frames needs,
/// and so few that their places in memory are small offsets.
pub const MAX_SLOTS: u32 = 1 << 16;

/// Most recordings have fewer operations, so that their lists need not grow.
const USUAL_OPS: usize = 256;

/// Why a guard cannot be recorded now: there is no bytecode that the interpreter could do again.
const NO_RESUME_POINT: &str = "a guard before the first tl_resume_point: it would lead nowhere";
const AFTER_EFFECT: &str = "a guard after an effect of the same bytecode: the interpreter could not redo it";
const AFTER_FRAME: &str = "a guard after a frame was pushed or popped, and before the next tl_resume_point";

/// A set of small slot numbers, as a bit map.
pub type Live = SmallVec<[u8; 16]>;

fn is_live(live: &[u8], slot: i32) -> bool {
    usize::try_from(slot).is_ok_and(|slot| live.get(slot / 8).is_some_and(|byte| byte >> (slot % 8) & 1 == 1))
}

/// The slots of the set, in their order.
fn live_slots(live: &[u8]) -> impl Iterator<Item = i32> + '_ {
    (0..).step_by(8).zip(live).flat_map(|(first, &byte)| {
        let without_lowest = |bits: &NonZeroU8| NonZeroU8::new(bits.get() & (bits.get() - 1));
        let left = std::iter::successors(NonZeroU8::new(byte), without_lowest);
        left.map(move |bits| first + bits.trailing_zeros() as i32)
    })
}

fn clear_live(live: &mut Live, slot: i32) {
    let byte = usize::try_from(slot).ok().and_then(|slot| live.get_mut(slot / 8));
    byte.into_iter().for_each(|byte| *byte &= !(1 << (slot % 8)));
}

/// A host frame during the recording.
#[derive(Clone, Debug)]
struct OpenFrame {
    base: i32,
    words: Words,
    live: Live,
}

/// What is known of a slot (numbered from the entry frame's base).
#[derive(Clone, Copy, Default, Debug)]
struct SlotState {
    /// The tag in memory at the head.
    head_tag: TagId,
    /// The trace input made of it.
    input: Option<Value>,
    /// The tag now.
    tag: TagId,
    /// The payload now, if the tag has one.
    value: Option<Value>,
    written: bool,
    /// Belongs to a pushed frame, so that it has no meaning at the head.
    inner: bool,
    /// Was read before it was written: its tag belongs to the entry.
    read: bool,
    /// The tag in memory at the head needs no check.
    checked: bool,
    /// Memory holds what the slot holds: a call of the host wanted it there.
    clean: bool,
    /// A call of the host may have changed it: memory alone knows what it holds.
    forgotten: bool,
}

/// What a recording begins with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    /// The head of a loop.
    Loop {
        /// How often this recording was taken again because of unstable tags.
        retries: u32,
    },
    /// The entry of a function, or where one goes on after a call: there is no way back to it.
    Entry,
    /// The entry of a function that becomes a unit.
    Unit(UnitId),
    /// The state after an exit of a trace.
    Side(ExitPoint),
}

impl Start {
    /// What a recording begins with at a location.
    pub(crate) fn of_location(is_entry: bool, retries: u32) -> Start {
        if is_entry {
            Start::Entry
        } else {
            Start::Loop { retries }
        }
    }

    /// The name of what is recorded there, at the location `key` or in its tree.
    pub(crate) fn name(self, key: Key) -> String {
        match self {
            Start::Loop { .. } => format!("loop_{key:x}"),
            Start::Entry => format!("entry_{key:x}"),
            Start::Unit(_) => format!("unit_{key:x}"),
            Start::Side(at) => format!("side_{}_{}", at.trace, at.exit),
        }
    }
}

/// Back edges of one loop that a recording passes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Passed {
    /// The loop's head.
    pub head: Key,
    /// How many.
    pub edges: u32,
    /// Whether it is a loop around the one that the tree begins with.
    pub is_around: bool,
}

impl Passed {
    /// Adds a loop of which no back edge is passed.
    pub(crate) fn meet(all: &mut Vec<Passed>, head: Key) {
        if !all.iter().any(|passed| passed.head == head) {
            all.push(Passed { head, edges: 0, is_around: false });
        }
    }
}

/// A recording that has come to its end.
#[derive(Debug)]
pub struct Finished {
    /// What was recorded.
    pub trace: Box<Trace>,
    /// Back edges of inner loops that it passes, from one jump to the next if it is a loop.
    pub edges: u32,
    /// Of which loops they are.
    pub passed: Vec<Passed>,
    /// Where it calls the host: its code refers to these.
    pub sites: Vec<CallSite>,
    /// Iterations that were still to come when the loop closed, if it counts them.
    pub to_come: Option<u64>,
}

/// How a recording closed.
#[derive(Debug)]
pub enum Closed {
    /// A loop, ready to be optimized.
    Loop(Finished),
    /// Slot tags at the closing differ from those at the head: the program is in a new state now.
    Again,
}

/// The host's frames during the recording.
#[derive(Clone, Debug)]
struct Stack {
    frames: Vec<OpenFrame>,
    /// How many of them there were at the start; what they hold is the entry's.
    initial: usize,
    /// Address of the entry frame's slots now, to look at tags in memory.
    base: *const u8,
    /// Calls of the host's own that operations are marked with; see [`Recorder::set_inlined`].
    inlined: usize,
    /// What the trace has read, before it returned, of the frames that it began in; `None` in a recording
    /// that has not returned from them.
    returned: Option<Vec<(i32, SlotState)>>,
    /// What it has called of the host.
    host_calls: HostCalls,
}

/// Where guards lead: the resume point, and the snapshots taken at those before.
#[derive(Clone, Debug)]
struct Points {
    /// The snapshot of the current one, if there is one already.
    current: Option<SnapId>,
    /// For each snapshot, the live slots of its outermost frame.
    live: Vec<Live>,
    /// Why a guard cannot be recorded now.
    dirty: Option<&'static str>,
    /// What slots were before they were written since the resume point, the first time each.
    written: SmallVec<[(i32, Option<SlotState>); 4]>,
    /// Records made since the resume point.
    fresh: SmallVec<[Value; 2]>,
    /// How many operations there were before the first effect since the resume point.
    effect_at: Option<u32>,
    /// The snapshot of the trace's end, if the host has said that what follows makes the frames for it.
    end: Option<SnapId>,
}

impl Points {
    /// A bytecode begins: nothing of it was recorded.
    fn begin(&mut self) {
        (self.current, self.dirty, self.effect_at) = (None, None, None);
        self.written.clear();
        self.fresh.clear();
    }

    /// Whether an instruction writes into a record that this bytecode has made.
    fn is_filling(&self, inst: &Inst) -> bool {
        matches!(inst.op, Op::Set | Op::SetItem | Op::PutItem | Op::SetKey | Op::InsertKey)
            && inst.args.first().is_some_and(|record| self.fresh.contains(record))
    }
}

/// How much of the host's stack the recording has to do with.
#[derive(Clone, Debug)]
struct Reached {
    /// How many slots the host has said that there are, counted from the entry frame's base.
    extent: i32,
    /// Highest slot (from the entry base) that a snapshot mentions.
    max_slot: i32,
    /// Most frames that a snapshot mentions.
    max_frames: usize,
}

/// A recording in progress. So many fields: each is written by other calls of the host's.
#[derive(Clone, Debug)]
pub struct Recorder {
    /// Which one of this process it is.
    pub(crate) number: u32,
    /// The location recorded.
    pub key: Key,
    /// What it begins with.
    pub start: Start,
    /// What the host knows its tree by.
    pub(crate) owner: usize,
    /// Whether the VM has asked for it; what the host records unasked is compiled whatever it costs.
    pub(crate) is_asked: bool,
    limits: Limits,
    trace: Trace,
    slots: Slots,
    stack: Stack,
    points: Points,
    room: Reached,
    /// Slots that the exit where a side trace begins has in place, and their tags: nobody checks them.
    in_place: BTreeMap<i32, TagId>,
    /// Inputs that lie in the exit buffer, and their cells.
    cells: Vec<(u32, Value)>,
    /// Bytecodes and calls so far.
    work: Work,
    /// The first word of each resume point, and how many operations there were before it; if wanted.
    pub(crate) steps: Option<Vec<(u64, u32)>>,
    /// Back edges passed, and of which loops.
    edges: u32,
    pub(crate) passed: Vec<Passed>,
    /// It passes by a loop that had no iteration.
    pub(crate) skips: bool,
    head_live: Option<Live>,
    /// A unit that was called, and has returned what was not looked at.
    called: Option<units::Called>,
    /// Compares what the host says with what memory holds, if wanted.
    checker: Option<Box<check::Checker>>,
    failure: Option<(AbortReason, String)>,
}

/// What these instructions do. Labels do nothing.
pub(crate) fn work_of(insts: &[Inst]) -> Work {
    let mut work = Work::default();
    for inst in insts {
        match inst.op {
            Op::Label => continue,
            Op::Call | Op::TryCall => work.calls += 1,
            Op::New => work.objects += 1,
            _ => {}
        }
        work.steps += 1;
    }
    work
}

impl Recorder {
    /// Starts a recording of the loop `key` whose frame has its slots at `base`.
    pub fn new(key: Key, base: *const u8, limits: Limits, start: Start) -> Recorder {
        let name = start.name(key);
        let mut trace = Trace::new(&name);
        trace.insts.reserve(USUAL_OPS);
        trace.values.reserve(USUAL_OPS);
        trace.snapshots.reserve(USUAL_OPS / 4);
        trace.add_label("L0", &[]);
        static STARTED: AtomicU32 = AtomicU32::new(0);
        Recorder {
            number: STARTED.fetch_add(1, Ordering::Relaxed),
            key,
            start,
            owner: 0,
            is_asked: false,
            trace,
            slots: Slots::default(),
            limits,
            stack: Stack {
                frames: vec![OpenFrame { base: 0, words: Words::new(), live: Live::new() }],
                initial: 1,
                base,
                inlined: 0,
                returned: None,
                host_calls: HostCalls::default(),
            },
            points: Points {
                current: None,
                live: Vec::new(),
                dirty: Some(NO_RESUME_POINT),
                written: SmallVec::new(),
                fresh: SmallVec::new(),
                effect_at: None,
                end: None,
            },
            room: Reached { extent: 0, max_slot: 0, max_frames: 1 },
            in_place: BTreeMap::new(),
            cells: Vec::new(),
            work: Work::default(),
            steps: None,
            edges: 0,
            passed: Vec::new(),
            skips: false,
            head_live: None,
            called: None,
            checker: limits.checks.then(Box::default),
            failure: None,
        }
    }

    /// The input that a cell of the exit buffer holds; the same cell may be seen as values of several types.
    fn input_cell(&mut self, cell: u32, ty: Type) -> Value {
        let known = self.cells.iter().find(|&&(at, value)| at == cell && self.trace.ty(value) == ty);
        if let Some(&(_, value)) = known {
            return value;
        }
        let value = self.trace.new_value(ty);
        self.cells.push((cell, value));
        value
    }

    /// Whether nothing has been recorded yet.
    pub fn is_new(&self) -> bool {
        self.head_live.is_none()
    }

    /// Where the entry frame's slots are now.
    pub fn base(&self) -> *const u8 {
        self.stack.base
    }

    /// Why the recording has failed, if it has: the reason and a sentence.
    pub fn failure(&self) -> Option<&(AbortReason, String)> {
        self.failure.as_ref()
    }

    /// The trace so far, for logs.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Gives up; the first reason stays.
    pub fn fail(&mut self, reason: AbortReason, sentence: impl Into<String>) {
        self.failure.get_or_insert((reason, sentence.into()));
    }

    fn misuse(&mut self, sentence: impl Into<String>) {
        self.fail(AbortReason::Misuse, sentence);
    }

    /// Where the recording is: in the innermost frame that has words.
    pub(crate) fn place(&self) -> Option<Place<'_>> {
        let mut words = self.stack.frames.iter().rev().map(|frame| &frame.words[..]);
        words.find(|words| !words.is_empty()).map(Place::Frame)
    }

    /// The bytecode that is next; see `tl_resume_point`.
    pub fn resume_point(&mut self, base: *const u8, words: &[u64], live: &[u8]) {
        self.resume_point_of(base, words, live, live.len() as u32 * 8);
    }

    /// The same in a frame of so many slots.
    pub fn resume_point_of(&mut self, base: *const u8, words: &[u64], live: &[u8], nslots: u32) {
        self.stack.base = base;
        self.work.steps += 1;
        if let Some(steps) = &mut self.steps {
            steps.push((words.first().copied().unwrap_or(0), self.trace.insts.len() as u32));
        }
        self.extend(nslots);
        let frame = self.stack.frames.last_mut().expect("the entry frame is never popped");
        frame.words = Words::from_slice(words);
        frame.live = Live::from_slice(live);
        if self.head_live.is_none() {
            self.head_live = Some(frame.live.clone());
        }
        self.points.begin();
        self.look_at_answer();
    }

    /// The current frame has so many slots.
    fn extend(&mut self, nslots: u32) {
        let base = self.stack.frames.last().map_or(0, |frame| frame.base);
        if nslots > MAX_SLOTS || i64::from(base) + i64::from(nslots) > i64::from(MAX_SLOTS) {
            return self.misuse(format!("a frame of {nslots} slots: frames have at most {MAX_SLOTS} in all"));
        }
        self.room.extent = self.room.extent.max(base + nslots as i32);
    }

    /// What the interpreter had to do for what was recorded.
    pub(crate) fn work(&self) -> Work {
        let Work { calls, objects, .. } = work_of(&self.trace.insts);
        Work { calls, objects, ..self.work }
    }

    /// The current frame calls; see `tl_frame_push`.
    pub fn push_frame(&mut self, base: i32, words: &[u64], live: &[u8]) {
        self.push_frame_of(base, words, live, live.len() as u32 * 8);
    }

    /// The same where the caller has so many slots.
    pub fn push_frame_of(&mut self, base: i32, words: &[u64], live: &[u8], nslots: u32) {
        self.extend(nslots);
        if self.failure.is_some() || !self.has_looked() {
            return;
        }
        if self.stack.frames.len() >= self.limits.frames {
            return self.fail(AbortReason::TooManyFrames, "a call nests too deep");
        }
        let frame = self.stack.frames.last_mut().expect("the entry frame is never popped");
        frame.words = Words::from_slice(words);
        frame.live = Live::from_slice(live);
        let inside = (0..MAX_SLOTS as i32).contains(&base) && frame.base + base < MAX_SLOTS as i32;
        if !inside {
            return self.misuse(format!(
                "a frame {base} slots above its caller's: expected 0 or more, and {MAX_SLOTS} slots in all"
            ));
        }
        let base = frame.base + base;
        self.stack.frames.push(OpenFrame { base, words: Words::new(), live: Live::new() });
        // Counted although no exit may ever happen in it: a host that limits its frames must not enter code
        // that inlines more calls than the interpreter would allow.
        self.room.max_frames = self.room.max_frames.max(self.stack.frames.len());
        self.points.current = None;
        self.points.dirty = Some(if self.is_new() { NO_RESUME_POINT } else { AFTER_FRAME });
        if self.is_new() {
            // A side trace: the frame was there before.
            self.stack.initial = self.stack.frames.len();
        } else {
            self.work.inlined += 1;
        }
    }

    /// Whether the running function was called since the recording began.
    pub(crate) fn is_in_called(&self) -> bool {
        self.stack.frames.len() > self.stack.initial
    }

    /// Back edges passed so far.
    pub(crate) fn edges(&self) -> u32 {
        self.edges
    }

    /// The recording has come to the head `key` of a loop that has code.
    pub(crate) fn meet(&mut self, key: Key) {
        if key != self.key {
            Passed::meet(&mut self.passed, key);
        }
    }

    /// The recording passes by the loop `key`, or leaves it, which has no iteration this time unless the
    /// recording has jumped back to its head.
    pub fn skip(&mut self, key: Key) {
        let has_iterations = self.passed.iter().any(|passed| passed.head == key && passed.edges > 0);
        if matches!(self.start, Start::Loop { .. }) && key != self.key && !has_iterations {
            self.meet(key);
            self.skips = true;
        }
    }

    /// The program has jumped back to the head `key` of a loop that the recording takes in, one around the
    /// loop that the tree begins with or not.
    pub fn back_edge(&mut self, key: Key, is_around: bool) {
        self.edges += 1;
        match self.passed.iter_mut().find(|passed| passed.head == key) {
            Some(passed) => passed.edges += 1,
            None => self.passed.push(Passed { head: key, edges: 1, is_around }),
        }
    }

    /// The current frame returned.
    pub fn pop_frame(&mut self) {
        if !self.has_looked() {
            return;
        }
        if self.stack.frames.len() == 1 {
            return self.misuse("tl_frame_pop without tl_frame_push");
        }
        let frame = self.stack.frames.pop().expect("checked above");
        self.stack.initial = self.stack.initial.min(self.stack.frames.len());
        // Whatever lies above the returned frame's base is dead; results have been written by the host below
        // it.
        self.slots.remove_inner(frame.base);
        self.in_place.split_off(&frame.base);
        self.points.current = None;
        self.points.dirty = Some(AFTER_FRAME);
    }

    /// The outermost frame returned to its caller, whose base lies so many slots from that frame's; see
    /// `tl_frame_return`.
    pub fn return_frame(&mut self, base: i32) {
        if self.failure.is_some() || !self.has_looked() {
            return;
        }
        if self.is_new() || matches!(self.start, Start::Loop { .. }) {
            return self.misuse("tl_frame_return in a recording that begins at a loop's head");
        }
        if self.stack.frames.len() != 1 {
            return self.misuse("tl_frame_return from a frame that was pushed: call tl_frame_pop");
        }
        let outermost = &mut self.stack.frames[0];
        if base > 0 || outermost.base.checked_add(base).is_none_or(|at| at <= -(MAX_SLOTS as i32)) {
            return self.misuse(format!(
                "a caller's frame {base} slots from its callee's: expected 0, or a negative number, and \
                 {MAX_SLOTS} slots in all"
            ));
        }
        *outermost = OpenFrame { base: outermost.base + base, words: Words::new(), live: Live::new() };
        self.stack.initial = 1;
        // What was read at the entry remains an input. All else is dead: results are written after this.
        self.in_place.clear();
        let slots = std::mem::take(&mut self.slots);
        let read = slots.iter().filter(|(_, state)| state.read && !state.inner);
        self.stack.returned.get_or_insert_default().extend(read.map(|(at, &state)| (at, state)));
        self.points.current = None;
        self.points.dirty = Some(AFTER_FRAME);
    }

    /// The trace ends at this resume point; what follows makes its frames in memory; see `tl_link_frames`.
    pub fn link_frames(&mut self) {
        self.points.end = self.snapshot();
        self.points.dirty = Some(AFTER_EFFECT);
    }

    /// How many frames are pushed.
    pub fn depth(&self) -> usize {
        self.stack.frames.len() - 1
    }

    /// From now on operations belong to a function of the host's own, `depth` calls below the current frame's
    /// code. That has no frame of its own and is never resumed in; the depth is for listings, which indent by
    /// it.
    pub fn set_inlined(&mut self, depth: usize) {
        self.stack.inlined = depth;
    }

    /// Whether nothing of the current bytecode was written so far, neither memory nor slots.
    pub fn may_guard(&self) -> bool {
        self.points.dirty.is_none() && self.points.written.is_empty()
    }

    /// The snapshot of the current resume point, of what has written nothing so far.
    fn snapshot(&mut self) -> Option<SnapId> {
        let written = (!self.points.written.is_empty()).then_some(AFTER_EFFECT);
        if let Some(sentence) = self.points.dirty.or(written) {
            self.misuse(sentence);
            return None;
        }
        self.snapshot_before(self.trace.insts.len() as u32)
    }

    /// The snapshot for a guard: of the slots as they were at the resume point. What never leaves may come
    /// after effects.
    fn snapshot_of_guard(&mut self, never_leaves: bool) -> Option<SnapId> {
        let position = match (self.points.dirty, self.points.effect_at) {
            (None, _) => self.trace.insts.len() as u32,
            (Some(_), _) if never_leaves && self.points.current.is_some() => return self.points.current,
            (Some(AFTER_EFFECT), Some(position)) if never_leaves => position,
            (Some(sentence), _) => {
                self.misuse(sentence);
                return None;
            }
        };
        if self.points.current.is_some() || self.points.written.is_empty() {
            return self.snapshot_before(position);
        }
        let mut written = std::mem::take(&mut self.points.written);
        self.exchange(&mut written);
        let snapshot = self.snapshot_before(position);
        self.exchange(&mut written);
        self.points.written = written;
        snapshot
    }

    /// Exchanges what is known of these slots.
    fn exchange(&mut self, slots: &mut [(i32, Option<SlotState>)]) {
        for (at, state) in slots {
            let known = match *state {
                Some(state) => self.slots.insert(*at, state),
                None => self.slots.remove(*at),
            };
            *state = known;
        }
    }

    /// The snapshot of the current resume point, taken before that operation.
    fn snapshot_before(&mut self, position: u32) -> Option<SnapId> {
        if self.points.current.is_some() {
            return self.points.current;
        }
        let mut frames = Vec::with_capacity(self.stack.frames.len());
        for frame in &self.stack.frames {
            let mut slots = Vec::with_capacity(8);
            let changed = self.known_of(frame).filter(|(_, state)| state.written && !state.forgotten);
            changed.for_each(|(slot, state)| {
                let source = state.value.map_or(Source::Nothing, Source::Value);
                slots.push(SlotValue { slot, tag: state.tag, source });
            });
            frames.push(Frame { base: frame.base, words: Words::from_slice(&frame.words), slots });
            let top = frame.base + frame.live.len() as i32 * 8;
            self.room.max_slot = self.room.max_slot.max(top);
        }
        let outermost = &self.stack.frames[0];
        let mut live = Live::from_slice(&outermost.live);
        let forgotten = self.known_of(outermost).filter(|(_, state)| state.forgotten);
        forgotten.for_each(|(slot, _)| clear_live(&mut live, slot));
        self.points.current = self.add_snapshot(frames, live, position);
        self.points.current
    }

    /// The live slots of a frame, counted from its base, of which something is known.
    fn known_of<'a>(&'a self, frame: &'a OpenFrame) -> impl Iterator<Item = (i32, &'a SlotState)> {
        live_slots(&frame.live).filter_map(|slot| Some((slot, self.slots.get(frame.base + slot)?)))
    }

    /// A snapshot of these frames, with the slots that are live in the outermost one, taken before that
    /// operation.
    fn add_snapshot(&mut self, frames: Vec<Frame>, live: Live, position: u32) -> Option<SnapId> {
        if self.trace.snapshots.len() >= self.limits.snapshots {
            self.fail(AbortReason::TooManySnapshots, "the trace has too many snapshots");
            return None;
        }
        self.room.max_frames = self.room.max_frames.max(frames.len());
        self.points.live.push(live);
        Some(self.trace.add_snapshot(Snapshot {
            origin: self.trace.snapshots.len() as u32,
            position,
            edges: self.edges,
            frames,
            ..Snapshot::default()
        }))
    }

    /// Whether a value may be used: the host passes 0 on after a failure.
    fn check_args(&mut self, args: &[Value]) -> bool {
        if self.failure.is_some() || !self.has_looked() {
            return false;
        }
        let known = args.iter().all(|arg| arg.index() < self.trace.values.len());
        if !known {
            self.misuse("an operand is no value of this recording");
        }
        known
    }

    /// One operation; guards get the current snapshot. Constant operands of pure operations are folded at
    /// once.
    pub fn emit(
        &mut self,
        op: Op,
        args: &[Value],
        payload: Payload,
        exit: ExitKind,
        schema: &Schema,
    ) -> Option<Value> {
        if !self.check_args(args) {
            return None;
        }
        let mut inst = Inst::new(op, args).with(payload).exit_kind(exit);
        if let Err(sentence) = operands::check(&inst, &self.trace, schema) {
            self.misuse(sentence);
            return None;
        }
        if op.is(Flags::PURE) {
            if let Some(value) = self.fold(op, args) {
                return Some(value);
            }
        }
        if self.trace.insts.len() >= self.limits.ops {
            self.fail(AbortReason::TooManyOps, "the trace has too many operations");
            return None;
        }
        if self.limits.discard_at.is_some_and(|at| self.trace.insts.len() > at) {
            self.fail(AbortReason::Discarded, "in its midst");
            return None;
        }
        inst.depth = (self.depth() + self.stack.inlined).min(255) as u8;
        if op.is_guard() {
            inst.snap = Some(self.snapshot_of_guard(inst.never_leaves(schema))?);
        }
        if inst.has_visible_effect(schema) && !self.points.is_filling(&inst) {
            self.points.dirty = self.points.dirty.or(Some(AFTER_EFFECT));
            self.points.effect_at.get_or_insert(self.trace.insts.len() as u32);
        }
        let result = inst.result_type(&self.trace, schema);
        let checked = self.checker.is_some().then(|| inst.clone());
        let result = self.trace.push(inst, result);
        checked.into_iter().for_each(|inst| self.check_operation(&inst, result, schema));
        if op == Op::New {
            self.points.fresh.extend(result);
        }
        result
    }

    /// Folds a pure operation on constants, except where the result is a NaN, whose bits the machine decides.
    fn fold(&mut self, op: Op, args: &[Value]) -> Option<Value> {
        use tracelift_core::ops::ResultType;
        let eval = op.info().eval?;
        // Nearly always an operand is no constant, and that is all there is to it.
        let mut bits: SmallVec<[u64; 4]> = SmallVec::new();
        for &arg in args {
            bits.push(self.trace.bits_of(arg)?);
        }
        let ty = match op.info().result {
            ResultType::Is(ty) => ty,
            ResultType::Same => self.trace.ty(*args.last()?),
            _ => return None,
        };
        if args.is_empty() {
            return None;
        }
        let result = eval(&bits)?;
        if ty == Type::Float && f64::from_bits(result).is_nan() {
            return None;
        }
        Some(self.trace.constant(ty, tracelift_core::Const::Bits(result)))
    }

    /// A constant.
    pub fn constant(&mut self, ty: Type, bits: u64) -> Value {
        self.trace.constant(ty, tracelift_core::Const::Bits(bits))
    }

    /// The type of a value, if it is one of this recording.
    pub fn type_of(&self, value: Value) -> Option<Type> {
        (value.index() < self.trace.values.len()).then(|| self.trace.ty(value))
    }

    /// The integer that a value is, if it is a constant.
    pub fn int_of(&self, value: Value) -> Option<i64> {
        (value.index() < self.trace.values.len()).then(|| self.trace.int_of(value)).flatten()
    }

    /// The address of the object that a value refers to, if it is a constant.
    pub fn ref_of(&self, value: Value) -> Option<u64> {
        (value.index() < self.trace.values.len() && self.trace.ty(value) == Type::Ref)
            .then(|| self.trace.bits_of(value))
            .flatten()
    }

    /// The code may be entered only where there are so many slots from the entry frame's base; see
    /// `tl_needs_slots`.
    pub fn needs_slots(&mut self, slots: i32) {
        self.room.max_slot = self.room.max_slot.max(slots);
    }

    /// Slots from the entry frame's base that exits may write, and frames beyond the first that they may
    /// push.
    pub fn needs(&self) -> Room {
        Room { slots: self.room.max_slot.max(0) as u32, frames: self.room.max_frames as u32 - 1 }
    }
}
