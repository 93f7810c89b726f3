//! Leaving compiled code: from raw values in the exit buffer to the interpreter's state.
//!
//! Problem: after an exit the host's frames must hold exactly what the interpreter would have put there, and
//! objects that were never made must exist. Design: the exit's number leads straight to its resume data;
//! virtual objects are lifted first (all made, then filled, so that cycles are no special case: seed 002,
//! Figure 6), then pending stores are made, then slots are written, and the frames' words are handed to the
//! host. Nothing is searched or locked, the buffers are reserved when a trace is published, and the host
//! holds memory for the objects (`reserve.rs`). Invariant: an exit cannot fail.

use std::ffi::c_void;

use tracelift_core::schema::{CellId, Element, TagId};
use tracelift_core::{ExitKind, Schema};
use tracelift_opt::resume::{PendingData, ResumeSource, ResumeState, VirtualData};

use crate::ids::{ExitId, ExitPoint};
use crate::log::Stage;
use crate::plan;
use crate::reserve::WorstCase;
use crate::slots;
use crate::traces::{Left, TraceData};
use crate::vm::{Vm, COLLECT_AFTER};

/// Words per frame that an exit has room for.
pub const MAX_WORDS: usize = 8;

/// A host frame to go on in (`tl_frame`).
#[repr(C)]
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct ExitFrame {
    /// Slots from the entry frame's base to this frame's.
    pub base: i32,
    /// The host's words, as they were recorded.
    pub words: [u64; MAX_WORDS],
}

/// Buffers of exits, reused.
#[derive(Default)]
pub(crate) struct ExitState {
    frames: Vec<ExitFrame>,
    /// The objects made, and with a plan all other addresses that it finds.
    registers: Vec<u64>,
}

impl ExitState {
    /// Makes room for the exits of a trace, so that leaving it allocates nothing of ours.
    pub(crate) fn reserve(&mut self, worst: &WorstCase) {
        self.frames.reserve(worst.frames.saturating_sub(self.frames.len()));
        self.reserve_registers(worst.objects);
    }

    /// The same for an exit that finds so many addresses.
    pub(crate) fn reserve_registers(&mut self, count: usize) {
        self.registers.reserve(count.saturating_sub(self.registers.len()));
    }
}

/// How compiled code was left.
#[derive(Clone, Copy, Debug)]
pub struct Exit<'a> {
    /// Why; `None` if the entry was refused and nothing happened.
    pub kind: Option<ExitKind>,
    /// Frames to go on in, outermost first.
    pub frames: &'a [ExitFrame],
}

/// The host's memory as an exit sees it.
struct Host<'a> {
    schema: &'a Schema,
    context: *mut c_void,
    buffer: &'a [u64],
    pool: &'a [u64],
    lifted: &'a mut Vec<u64>,
}

impl Vm {
    /// Compiled code returned `left`; see `tl_exit`. It may make objects, so that the host looks at its
    /// collector's debt after it, whatever the exit's kind.
    ///
    /// # Safety
    /// This VM's code was just called with this context and base, and returned `left`. The frame has room for
    /// the slots and frames that the entry said an exit needs.
    #[inline]
    pub unsafe fn exit(&mut self, left: u64, context: *mut c_void, base: *mut u8) -> Exit<'_> {
        let at = ExitPoint::of_code(left);
        if self.traces.get(at.trace).is_none_or(|trace| at.exit.index() >= trace.exits.len()) {
            // Neither a refused entry nor a number that no code returns leads anywhere.
            return self.was_refused();
        }
        let trace = self.traces.get_mut(at.trace).expect("it is there, as was just seen");
        let cell = &mut trace.exits[at.exit.index()];
        let kind = cell.kind;
        cell.count += 1;
        let count = cell.count;
        self.last_exit = (count >= cell.quiet_until).then_some(Left { at, kind });
        if let Some(sample) = &mut self.sample {
            sample.left_by(kind, self.ticks.now());
        }
        if kind == ExitKind::Collect && *self.cells.collect < 0 {
            *self.cells.collect = COLLECT_AFTER;
        }
        if self.log.wants(Stage::Exit) {
            let heading = format!("exit {} of trace {}: {}", at.exit, at.trace, kind.name());
            self.log.entry(Stage::Exit, &heading, String::new);
        }
        let trace = &*trace;
        let ExitState { frames, registers } = &mut self.exit_state;
        registers.clear();
        if let Some(plan) = &trace.exits[at.exit.index()].plan {
            if plan.lifts {
                self.reserves.spend(&trace.lifts);
            }
            // SAFETY: passed on from the caller.
            unsafe { plan.restore(&self.cells.exit_buffer, context, base, registers) };
            return Exit { kind: Some(kind), frames: &plan.frames };
        }
        if plan::is_hot(count) {
            self.hot_exit = Some(at);
            self.gates.shut();
        }
        frames.clear();
        let buffer = &self.cells.exit_buffer;
        let mut host = Host { schema: &self.schema, context, buffer, pool: &trace.pool, lifted: registers };
        // SAFETY: passed on from the caller.
        unsafe { host.restore(trace, at.exit, base, frames) };
        if !registers.is_empty() {
            self.reserves.spend(&trace.lifts);
        }
        Exit { kind: Some(kind), frames: &self.exit_state.frames }
    }

    #[cold]
    fn was_refused(&mut self) -> Exit<'_> {
        self.totals.refused += 1;
        self.last_exit = None;
        self.gate_refused();
        Exit { kind: None, frames: &[] }
    }
}

/// Calls a function that makes or extends an object, with three words besides the context.
///
/// # Safety
/// The host declared a function of that type at this address, and has secured what it needs.
pub(crate) unsafe fn call_lifting(address: usize, context: *mut c_void, args: [u64; 3]) -> u64 {
    // SAFETY: promised by the caller: lifting functions take the context and three integers or pointers (see
    // the schema).
    let result = unsafe {
        let function: extern "C" fn(*mut c_void, u64, u64, u64) -> u64 = std::mem::transmute(address);
        function(context, args[0], args[1], args[2])
    };
    assert!(result != 0, "the host secured memory for lifting before the entry");
    result
}

impl Host<'_> {
    unsafe fn restore(
        &mut self,
        trace: &TraceData,
        exit: ExitId,
        base: *mut u8,
        frames: &mut Vec<ExitFrame>,
    ) {
        let state = match trace.resume.state(exit.index()) {
            Ok(state) => state,
            // The table was made with the code; that it does not decode is a bug which must not go on
            // silently.
            Err(error) => panic!("the resume data of exit {exit} is damaged: {error}"),
        };
        // SAFETY: passed on from the caller, for all below.
        unsafe {
            self.lift(&state);
            state.pending().for_each(|store| self.store(&store));
            let layout = self.schema.slots();
            for frame in state.frames() {
                let mut words = [0; MAX_WORDS];
                words.iter_mut().zip(frame.words).for_each(|(word, index)| *word = self.pool[index as usize]);
                for slot in frame.slots {
                    let tag = self.schema.tag(slot.tag).bits;
                    slots::write_slot(base, frame.base + slot.slot, &layout, tag, self.bits(slot.source));
                }
                frames.push(ExitFrame { base: frame.base, words });
            }
        }
    }

    fn bits(&self, source: ResumeSource) -> Option<u64> {
        match source {
            ResumeSource::Virtual(index) => Some(self.lifted[index as usize]),
            _ => source.bits(self.buffer, self.pool),
        }
    }

    /// Makes every virtual object, then fills them.
    unsafe fn lift(&mut self, state: &ResumeState<'_>) {
        for object in state.virtuals() {
            let func = self.schema.layout(object.layout).alloc.expect("virtual records have an allocator");
            let args = [u64::from(object.layout.0), u64::from(object.items), u64::from(object.keys)];
            // SAFETY: the host declared the function with this signature.
            let address = unsafe { call_lifting(self.schema.func(func).address, self.context, args) };
            self.lifted.push(address);
        }
        for (index, object) in state.virtuals().enumerate() {
            let address = self.lifted[index];
            // SAFETY: the object was just made with this layout and room for its parts.
            unsafe { self.fill(address, &object) };
        }
    }

    unsafe fn fill(&mut self, address: u64, object: &VirtualData<'_>) {
        let layout = self.schema.layout(object.layout);
        // SAFETY: passed on from the caller, for all below.
        unsafe {
            for (field, source) in object.fields.clone() {
                self.write(address, self.schema.field(field).cell, self.bits(source));
            }
            if let Some(items) = &layout.items {
                let base = self.read_cell(address, items.base);
                for (index, tag, source) in object.item_values.clone() {
                    let at = base + u64::from(index) * u64::from(items.element.stride);
                    self.write_element(at, &items.element, tag, self.bits(source));
                }
            }
            for (key, tag, source) in object.entries.clone() {
                let keys = layout.keys.as_ref().expect("entries lie in a keyed part");
                let insert = keys.insert.expect("virtual records with entries can insert");
                let key = self.bits(key).expect("a key is a constant");
                let args = [u64::from(object.layout.0), address, key];
                let at = call_lifting(self.schema.func(insert).address, self.context, args);
                self.write_element(at, &keys.element, tag, self.bits(source));
            }
        }
    }

    unsafe fn store(&self, store: &PendingData) {
        let address = self.bits(store.address).expect("a pending store has an address");
        // SAFETY: passed on from the caller; the place existed when the trace put the store off, and what may
        // move it makes the store first.
        unsafe { self.write(address, store.cell, self.bits(store.source)) }
    }

    unsafe fn read_cell(&self, object: u64, cell: CellId) -> u64 {
        let offset = self.schema.cell(cell).offset as isize;
        // SAFETY: passed on from the caller.
        unsafe { slots::read_word((object as *const u8).offset(offset)) }
    }

    unsafe fn write(&self, object: u64, cell: CellId, payload: Option<u64>) {
        let cell = self.schema.cell(cell);
        // SAFETY: passed on from the caller.
        unsafe {
            let at = (object as *mut u8).offset(cell.offset as isize);
            slots::write_cell(at, cell.width, payload.unwrap_or(0));
        }
    }

    unsafe fn write_element(&self, at: u64, element: &Element, tag: Option<TagId>, payload: Option<u64>) {
        // SAFETY: passed on from the caller, for both.
        unsafe {
            if payload.is_some() {
                self.write(at, element.value[0], payload);
            }
            if let (Some(cell), Some(tag)) = (element.tag, tag) {
                self.write(at, cell, Some(self.schema.tag(tag).bits));
            }
        }
    }
}
