//! The recorder: turns one iteration of a host's loop into a trace.
//!
//! Problem: an interpreter works on frames of tagged slots, a trace on typed values. Design: a map from slots
//! to (tag, value). The first read of a slot makes a typed input; a write only changes the map; memory holds
//! a slot's old content until an exit writes it. At each bytecode the host names the resume point; the first
//! guard after it takes the snapshot: the frames' changed live slots. When the loop closes, the slots that
//! were read at the head, or written and live there, become the label's arguments (the slot layout's contract
//! in design section 5).
//!
//! Two rules make an exit exact. A guard after a write of the same bytecode is refused, since the interpreter
//! could not redo that bytecode. And a slot that the loop changes is written at *every* exit where it is
//! live, also at those recorded before the change: from the second iteration on its memory is stale there too
//! ([`Recorder::close`] completes the snapshots).
//!
//! Example: recording `s = s + 1` (slot 0) at a loop head gives
//! `L0(i0): i1 = int_add(i0, 1)  jump(L0, i1)` with entry `[0: int]`.

mod inherit;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;

use smallvec::SmallVec;
use tracelift_core::ir::EntrySlot;
use tracelift_core::ops::Flags;
use tracelift_core::schema::TagId;
use tracelift_core::snapshot::{Frame, SlotValue, Snapshot, Source};
use tracelift_core::{ExitKind, Inst, Op, Payload, Schema, SnapId, Trace, Type, Value};

use crate::abort::AbortReason;
use crate::ids::{ExitPoint, Key};
use crate::operands;
use crate::policy::Work;
use crate::run::Room;

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
}

/// Slots that a recording may name, counted from the entry frame's base: more than any stack of frames needs,
/// and so few that their places in memory are small offsets.
pub const MAX_SLOTS: u32 = 1 << 16;

/// Why a guard cannot be recorded now: there is no bytecode that the interpreter could do again.
const NO_RESUME_POINT: &str = "a guard before the first tl_resume_point: it would lead nowhere";
const AFTER_EFFECT: &str = "a guard after an effect of the same bytecode: the interpreter could not redo it";
const AFTER_FRAME: &str = "a guard after a frame was pushed or popped, and before the next tl_resume_point";

/// A set of small slot numbers, as a bit map.
pub type Live = SmallVec<[u8; 16]>;

fn is_live(live: &[u8], slot: i32) -> bool {
    usize::try_from(slot).is_ok_and(|slot| live.get(slot / 8).is_some_and(|byte| byte >> (slot % 8) & 1 == 1))
}

/// A host frame during the recording.
#[derive(Clone, Debug)]
struct OpenFrame {
    base: i32,
    words: SmallVec<[u64; 4]>,
    live: Live,
}

/// What is known of a slot (numbered from the entry frame's base).
#[derive(Clone, Copy, Debug)]
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
}

/// What a recording begins with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    /// The head of a loop.
    Loop {
        /// How often this recording was taken again because of unstable tags.
        retries: u32,
    },
    /// The state after an exit of a trace.
    Side(ExitPoint),
}

/// A recording that has come to its end.
#[derive(Debug)]
pub struct Finished {
    /// What was recorded.
    pub trace: Box<Trace>,
    /// Back edges of inner loops that it has passed.
    pub edges: Edges,
}

/// Back edges that a trace passes without a jump of its own: they count where it is left.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Edges {
    /// At each recorded snapshot, since the trace's start or its last jump.
    pub at_snapshots: Arc<[u32]>,
    /// From one jump to the next, if it is a loop.
    pub per_jump: u32,
}

/// How a recording closed.
#[derive(Debug)]
pub enum Closed {
    /// A loop, ready to be optimized.
    Loop(Finished),
    /// Slot tags at the closing differ from those at the head: the program is in a new state now.
    Again,
}

/// A recording in progress.
#[derive(Clone, Debug)]
pub struct Recorder {
    /// Which one of this process it is.
    pub(crate) number: u32,
    /// The location recorded.
    pub key: Key,
    /// What it begins with.
    pub start: Start,
    /// Whether the VM has asked for it; what the host records unasked is compiled whatever it costs.
    pub(crate) is_asked: bool,
    trace: Trace,
    slots: BTreeMap<i32, SlotState>,
    frames: Vec<OpenFrame>,
    /// How many of them there were at the start; what they hold is the entry's.
    initial_frames: usize,
    /// Inputs that lie in the exit buffer, and their cells.
    cells: Vec<(u32, Value)>,
    /// Bytecodes and calls so far.
    work: Work,
    /// Back edges passed, and the same at each snapshot.
    edges: u32,
    snapshot_edges: Vec<u32>,
    head_live: Option<Live>,
    /// Address of the entry frame's slots now, to look at tags in memory.
    base: *const u8,
    snapshot: Option<SnapId>,
    /// For each snapshot, the live slots of its frames: (frame base, live).
    snapshot_live: Vec<Vec<(i32, Live)>>,
    /// Why a guard cannot be recorded now.
    dirty: Option<&'static str>,
    limits: Limits,
    /// How many slots the host has said that there are, counted from the entry frame's base.
    extent: i32,
    /// Highest slot (from the entry base) and most frames that a snapshot mentions.
    max_slot: i32,
    max_frames: usize,
    failure: Option<(AbortReason, String)>,
    /// Calls of the host's own that operations are marked with; see [`Recorder::set_inlined`].
    inlined: usize,
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
        let name = match start {
            Start::Loop { .. } => format!("loop_{key:x}"),
            Start::Side(at) => format!("side_{}_{}", at.trace, at.exit),
        };
        let mut trace = Trace::new(&name);
        trace.add_label("L0", &[]);
        static STARTED: AtomicU32 = AtomicU32::new(0);
        Recorder {
            number: STARTED.fetch_add(1, Ordering::Relaxed),
            key,
            start,
            is_asked: false,
            trace,
            slots: BTreeMap::new(),
            frames: vec![OpenFrame { base: 0, words: SmallVec::new(), live: Live::new() }],
            initial_frames: 1,
            cells: Vec::new(),
            work: Work::default(),
            edges: 0,
            snapshot_edges: Vec::new(),
            head_live: None,
            base,
            snapshot: None,
            snapshot_live: Vec::new(),
            dirty: Some(NO_RESUME_POINT),
            limits,
            extent: 0,
            max_slot: 0,
            max_frames: 1,
            failure: None,
            inlined: 0,
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
        self.base
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

    /// The bytecode that is next; see `tl_resume_point`.
    pub fn resume_point(&mut self, base: *const u8, words: &[u64], live: &[u8]) {
        self.resume_point_of(base, words, live, live.len() as u32 * 8);
    }

    /// The same in a frame of so many slots.
    pub fn resume_point_of(&mut self, base: *const u8, words: &[u64], live: &[u8], nslots: u32) {
        self.base = base;
        self.work.steps += 1;
        self.extend(nslots);
        let frame = self.frames.last_mut().expect("the entry frame is never popped");
        frame.words = SmallVec::from_slice(words);
        frame.live = Live::from_slice(live);
        if self.head_live.is_none() {
            self.head_live = Some(frame.live.clone());
        }
        self.snapshot = None;
        self.dirty = None;
    }

    /// The current frame has so many slots.
    fn extend(&mut self, nslots: u32) {
        let base = self.frames.last().map_or(0, |frame| frame.base);
        if nslots > MAX_SLOTS || base as u32 + nslots > MAX_SLOTS {
            return self.misuse(format!("a frame of {nslots} slots: frames have at most {MAX_SLOTS} in all"));
        }
        self.extent = self.extent.max(base + nslots as i32);
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
        if self.failure.is_some() {
            return;
        }
        if self.frames.len() >= self.limits.frames {
            return self.fail(AbortReason::TooManyFrames, "a call nests too deep");
        }
        let frame = self.frames.last_mut().expect("the entry frame is never popped");
        frame.words = SmallVec::from_slice(words);
        frame.live = Live::from_slice(live);
        let inside = (0..MAX_SLOTS as i32).contains(&base) && frame.base + base < MAX_SLOTS as i32;
        if !inside {
            return self.misuse(format!(
                "a frame {base} slots above its caller's: expected 0 or more, and {MAX_SLOTS} slots in all"
            ));
        }
        let base = frame.base + base;
        self.frames.push(OpenFrame { base, words: SmallVec::new(), live: Live::new() });
        // Counted although no exit may ever happen in it: a host that limits its frames must not enter code
        // that inlines more calls than the interpreter would allow.
        self.max_frames = self.max_frames.max(self.frames.len());
        self.snapshot = None;
        self.dirty = Some(if self.is_new() { NO_RESUME_POINT } else { AFTER_FRAME });
        if self.is_new() {
            // A side trace: the frame was there before.
            self.initial_frames = self.frames.len();
        } else {
            self.work.inlined += 1;
        }
    }

    /// The program has jumped back, in a side trace; for statistics.
    pub fn back_edge(&mut self) {
        self.edges += 1;
    }

    /// The current frame returned.
    pub fn pop_frame(&mut self) {
        if self.frames.len() == 1 {
            return self.misuse("tl_frame_pop without tl_frame_push");
        }
        let frame = self.frames.pop().expect("checked above");
        self.initial_frames = self.initial_frames.min(self.frames.len());
        // Whatever lies above the returned frame's base is dead; results have been written by the host below
        // it.
        let dead: Vec<i32> = self.slots.range(frame.base..).map(|(&slot, _)| slot).collect();
        for slot in dead {
            if self.slots[&slot].inner {
                self.slots.remove(&slot);
            }
        }
        self.snapshot = None;
        self.dirty = Some(AFTER_FRAME);
    }

    /// How many frames are pushed.
    pub fn depth(&self) -> usize {
        self.frames.len() - 1
    }

    /// From now on operations belong to a function of the host's own, `depth` calls below the current frame's
    /// code. That has no frame of its own and is never resumed in; the depth is for listings, which indent by
    /// it.
    pub fn set_inlined(&mut self, depth: usize) {
        self.inlined = depth;
    }

    /// A slot of the current frame, counted from the entry frame's base.
    fn absolute(&mut self, slot: i32) -> Option<i32> {
        let base = self.frames.last().map_or(0, |frame| frame.base);
        let at = base.checked_add(slot).filter(|at| (0..MAX_SLOTS as i32).contains(at));
        if at.is_none() {
            let where_it_is = if slot < 0 { "below the entry frame" } else { "beyond all frames" };
            self.misuse(format!("slot {slot} of the frame at slot {base} lies {where_it_is}"));
        }
        at
    }

    /// The tag that memory holds in a slot; `None` where slots have no tags. Asked for slots alone that are
    /// live at the head: the host has said that they are there.
    fn tag_in_memory(&self, slot: i32, schema: &Schema) -> Option<TagId> {
        // SAFETY: the host promised that `base` is where its frame's slots are now, and it asks only for
        // slots of that frame or frames above it, which lie in the same stack.
        let bits = unsafe { crate::slots::read_tag(self.base, slot, &schema.slots()) }?;
        schema.tags().iter().position(|tag| tag.bits == bits).map(|index| TagId(index as u32))
    }

    /// The value of a slot of the current frame, which now holds `tag`; see `tl_slot_read`.
    pub fn read_slot(&mut self, slot: i32, tag: TagId, schema: &Schema) -> Option<Value> {
        if self.failure.is_some() {
            return None;
        }
        let at = self.absolute(slot)?;
        if let Some(state) = self.slots.get(&at) {
            if state.tag != tag {
                let (old, new) = (&schema.tag(state.tag).name, &schema.tag(tag).name);
                self.misuse(format!("slot {at} is read as {new} but was last written as {old}"));
                return None;
            }
            if let Some(value) = state.value {
                return Some(value);
            }
            return self.materialize_input(at, schema);
        }
        let inner = self.frames.len() > self.initial_frames && slot >= 0;
        if inner {
            self.misuse(format!("slot {at} of a called frame is read before it was written"));
            return None;
        }
        // The frames of a side trace are told one by one, and their slots may be read meanwhile: `finish`
        // looks at those.
        let is_told = !self.is_new() || matches!(self.start, Start::Loop { .. });
        if is_told && at >= self.extent {
            self.misuse(self.beyond(at));
            return None;
        }
        self.slots.insert(
            at,
            SlotState {
                head_tag: tag,
                input: None,
                tag,
                value: None,
                written: false,
                inner: false,
                read: true,
            },
        );
        self.materialize_input(at, schema)
    }

    fn beyond(&self, slot: i32) -> String {
        match self.is_new() {
            true => format!("slot {slot} is read before the first tl_resume_point"),
            false => format!("slot {slot} is read, but the frames have {} slots", self.extent),
        }
    }

    /// Makes the typed input of a slot whose tag has a payload and whose value is still the one at the head.
    fn materialize_input(&mut self, at: i32, schema: &Schema) -> Option<Value> {
        let state = self.slots.get_mut(&at)?;
        if state.written {
            return None; // written as a tag without payload
        }
        let ty = schema.tag(state.head_tag).payload?;
        let value = *state.input.get_or_insert_with(|| self.trace.new_value(ty));
        state.value = Some(value);
        Some(value)
    }

    /// The slot now holds this; see `tl_slot_write`.
    pub fn write_slot(&mut self, slot: i32, tag: TagId, value: Option<Value>, schema: &Schema) {
        if self.failure.is_some() {
            return;
        }
        if !self.check_args(value.as_slice()) {
            return;
        }
        let payload = schema.tag(tag).payload;
        if payload != value.map(|value| self.trace.ty(value)) {
            let name = &schema.tag(tag).name;
            return self.misuse(format!("slot {slot} is written with a value that does not fit tag {name}"));
        }
        let Some(at) = self.absolute(slot) else { return };
        let Some(head_live) = &self.head_live else {
            return self.misuse(format!("slot {slot} is written before the first tl_resume_point"));
        };
        // A called function may share a slot of the loop's own frame, which matters at the head.
        let inner = self.frames.get(1).is_some_and(|frame| at >= frame.base);
        match self.slots.get_mut(&at) {
            Some(state) => (state.tag, state.value, state.written) = (tag, value, true),
            None => {
                // Memory still holds the head's tag, as no earlier bytecode of the iteration wrote the slot.
                // That matters where the slot is live at the head alone; a tag that the host did not declare
                // is stale.
                let matters = !inner && is_live(head_live, at);
                let in_memory = if matters { self.tag_in_memory(at, schema) } else { None };
                let head_tag = in_memory.unwrap_or(tag);
                let state =
                    SlotState { head_tag, input: None, tag, value, written: true, inner, read: false };
                self.slots.insert(at, state);
            }
        }
        self.dirty = self.dirty.or(Some(AFTER_EFFECT));
    }

    /// The snapshot of the current resume point.
    fn snapshot(&mut self) -> Option<SnapId> {
        if let Some(sentence) = self.dirty {
            self.misuse(sentence);
            return None;
        }
        if self.snapshot.is_some() {
            return self.snapshot;
        }
        if self.trace.snapshots.len() >= self.limits.snapshots {
            self.fail(AbortReason::TooManySnapshots, "the trace has too many snapshots");
            return None;
        }
        let mut frames = Vec::with_capacity(self.frames.len());
        let mut live_slots = Vec::with_capacity(self.frames.len());
        for frame in &self.frames {
            let changed = self
                .slots
                .iter()
                .filter(|(&at, state)| state.written && is_live(&frame.live, at - frame.base));
            let slots = changed
                .map(|(&at, state)| SlotValue {
                    slot: at - frame.base,
                    tag: state.tag,
                    source: state.value.map_or(Source::Nothing, Source::Value),
                })
                .collect();
            frames.push(Frame { base: frame.base, words: frame.words.clone(), slots });
            live_slots.push((frame.base, frame.live.clone()));
            let top = frame.base + frame.live.len() as i32 * 8;
            self.max_slot = self.max_slot.max(top);
        }
        self.max_frames = self.max_frames.max(frames.len());
        let snapshot = Snapshot {
            origin: self.trace.snapshots.len() as u32,
            position: self.trace.insts.len() as u32,
            frames,
            ..Snapshot::default()
        };
        self.snapshot_live.push(live_slots);
        self.snapshot_edges.push(self.edges);
        self.snapshot = Some(self.trace.add_snapshot(snapshot));
        self.snapshot
    }

    /// Whether a value may be used: the host passes 0 on after a failure.
    fn check_args(&mut self, args: &[Value]) -> bool {
        if self.failure.is_some() {
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
        inst.depth = (self.depth() + self.inlined).min(255) as u8;
        if op.is_guard() {
            inst.snap = Some(self.snapshot()?);
        }
        if inst.has_visible_effect(schema) {
            self.dirty = self.dirty.or(Some(AFTER_EFFECT));
        }
        let result = inst.result_type(&self.trace, schema);
        self.trace.push(inst, result)
    }

    /// Folds a pure operation on constants, except where the result is a NaN, whose bits the machine decides.
    fn fold(&mut self, op: Op, args: &[Value]) -> Option<Value> {
        use tracelift_core::ops::ResultType;
        let eval = op.info().eval?;
        let bits: SmallVec<[u64; 4]> =
            args.iter().map(|&arg| self.trace.bits_of(arg)).collect::<Option<_>>()?;
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

    /// The integer that a value is, if it is a constant.
    pub fn int_of(&self, value: Value) -> Option<i64> {
        (value.index() < self.trace.values.len()).then(|| self.trace.int_of(value)).flatten()
    }

    /// The loop is back at its head.
    pub fn close(mut self, schema: &Schema) -> Result<Closed, (AbortReason, String)> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        if self.limits.discard_at.is_some() {
            return Err((AbortReason::Discarded, "at its close".into()));
        }
        if self.frames.len() != 1 {
            return Err((AbortReason::Misuse, "the loop closed inside a called frame".into()));
        }
        let Some(head_live) = self.head_live.clone() else {
            return Err((AbortReason::Misuse, "the loop closed before its first resume point".into()));
        };
        let mut carried = Vec::new(); // (slot, input, jump argument)
        for (&slot, state) in &mut self.slots {
            let read_at_head = state.input.is_some() || !state.written;
            if state.inner || !(read_at_head || is_live(&head_live, slot)) {
                continue;
            }
            let matters = is_live(&head_live, slot);
            if state.tag != state.head_tag && matters {
                return Ok(Closed::Again);
            }
            let entry = EntrySlot { slot, tag: state.head_tag };
            match schema.tag(state.head_tag).payload {
                None => self.trace.entry_tags.push(entry),
                Some(ty) => {
                    let input = *state.input.get_or_insert_with(|| self.trace.new_value(ty));
                    // A slot that is dead at the head was read before it was written only by a host whose
                    // liveness is too small; then it is carried unchanged, which is what memory holds.
                    let next = if matters { state.value.unwrap_or(input) } else { input };
                    carried.push((entry, input, next));
                }
            }
        }
        self.complete_snapshots(&carried);
        let inputs: Vec<Value> = carried.iter().map(|(_, input, _)| *input).collect();
        let next: Vec<Value> = carried.iter().map(|(_, _, next)| *next).collect();
        self.trace.entry = carried.iter().map(|(entry, _, _)| *entry).collect();
        self.trace.labels[0].args.clone_from(&inputs);
        self.trace.insts[0].args = SmallVec::from_slice(&inputs);
        let jump = Inst::new(Op::Jump, &next).with(Payload::Label(tracelift_core::LabelId(0)));
        self.trace.push(jump, None);
        Ok(Closed::Loop(self.finished()))
    }

    /// A side trace ends here, at the resume point. Its entry is what it has read before it was written.
    pub fn finish(mut self, schema: &Schema) -> Result<Finished, (AbortReason, String)> {
        let snapshot = self.snapshot();
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        if self.limits.discard_at.is_some() {
            return Err((AbortReason::Discarded, "at its end".into()));
        }
        let mut read = self.slots.iter().filter(|(_, state)| state.read && !state.inner);
        if let Some((&slot, _)) = read.find(|(&slot, _)| slot >= self.extent) {
            return Err((AbortReason::Misuse, self.beyond(slot)));
        }
        // What the slots hold goes on to other code: objects among it have to be real.
        let frames = snapshot.map(|snapshot| &self.trace.snapshots[snapshot.index()].frames);
        let slots = frames.into_iter().flatten().flat_map(|frame| &frame.slots);
        let values: SmallVec<[Value; 8]> = slots.filter_map(|slot| slot.source.value()).collect();
        let mut finish = Inst::new(Op::Finish, &values).at(snapshot).exit_kind(ExitKind::Finish);
        finish.depth = self.frames.len().min(255) as u8 - 1;
        self.trace.push(finish, None);
        let mut inputs: SmallVec<[Value; 4]> = SmallVec::new();
        for (&slot, state) in self.slots.iter().filter(|(_, state)| state.read && !state.inner) {
            let entry = EntrySlot { slot, tag: state.head_tag };
            match (schema.tag(state.head_tag).payload, state.input) {
                (Some(_), Some(input)) => {
                    self.trace.entry.push(entry);
                    inputs.push(input);
                }
                _ => self.trace.entry_tags.push(entry),
            }
        }
        self.trace.entry_cells = self.cells.iter().map(|&(cell, _)| cell).collect();
        inputs.extend(self.cells.iter().map(|&(_, value)| value));
        self.trace.labels[0].args = inputs.to_vec();
        self.trace.insts[0].args = inputs.iter().copied().collect();
        Ok(self.finished())
    }

    fn finished(self) -> Finished {
        let edges = Edges { at_snapshots: self.snapshot_edges.into(), per_jump: self.edges };
        Finished { trace: Box::new(self.trace), edges }
    }

    /// Adds the slots that the loop changes to the snapshots where they are live and not yet changed: their
    /// memory is stale from the second iteration on.
    fn complete_snapshots(&mut self, carried: &[(EntrySlot, Value, Value)]) {
        let changed: Vec<_> = carried.iter().filter(|(_, input, next)| input != next).collect();
        for (snapshot, live) in self.trace.snapshots.iter_mut().zip(&self.snapshot_live) {
            // The head's slots belong to the outermost frame; a called frame wrote what it holds.
            let (Some(frame), Some((_, live))) = (snapshot.frames.first_mut(), live.first()) else {
                continue;
            };
            for (entry, input, _) in &changed {
                let known = frame.slots.iter().any(|known| known.slot == entry.slot);
                if !known && is_live(live, entry.slot) {
                    frame.slots.push(SlotValue {
                        slot: entry.slot,
                        tag: entry.tag,
                        source: Source::Value(*input),
                    });
                }
            }
        }
    }

    /// Slots from the entry frame's base that exits may write, and frames beyond the first that they may
    /// push.
    pub fn needs(&self) -> Room {
        Room { slots: self.max_slot.max(0) as u32, frames: self.max_frames as u32 - 1 }
    }
}
