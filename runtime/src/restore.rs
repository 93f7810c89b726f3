//! Restoring the interpreter's state from resume data.
//!
//! Problem: after an exit the host's frames must hold exactly what the interpreter would have put there, and
//! objects that were never made must exist. Design: virtual objects are lifted first (all made, then filled,
//! so that cycles are no special case: seed 002, Figure 6), then pending stores are made, then slots are
//! written, and the frames' words are handed to the host. The buffers for that are reserved when a trace is
//! published. Invariants: restoring cannot fail; it allocates nothing of ours, and the host holds memory for
//! the objects (`reserve.rs`). The frames that the host was handed stay where they are until the next exit,
//! whatever is published, evicted or forgotten meanwhile. An exit that is taken often has a
//! [plan](crate::plan), which does the same.
//!
//! ```text
//! exit 3, v0 = Box { value: cell 0 }, slot 2: table v0
//! =>  v0 is made, cell 0 of the exit buffer is written into it, its address and its tag into slot 2
//! ```

use std::ffi::c_void;

use tracelift_core::schema::{CellId, Element, LayoutId, TagId};
use tracelift_core::Schema;
use tracelift_opt::resume::{PendingData, ResumeSource, ResumeState, VirtualData};
use tracelift_opt::ResumeTable;

use crate::ids::ExitId;
use crate::reserve::WorstCase;
use crate::slots;

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
    pub frames: Vec<ExitFrame>,
    /// The objects made, and with a plan all other addresses that it finds.
    pub registers: Vec<u64>,
    /// Frames that the host may still look at, although they have been replaced or their trace is gone.
    kept: Vec<Vec<ExitFrame>>,
}

impl ExitState {
    /// An exit begins: the host looks at those of the one before no more.
    #[inline]
    pub fn begin(&mut self) {
        if !self.kept.is_empty() {
            self.kept.clear();
        }
    }

    /// Frames of a plan that is gone.
    pub fn keep(&mut self, frames: Box<[ExitFrame]>) {
        self.kept.push(frames.into_vec());
    }

    /// Makes room for the exits of a trace, so that leaving it allocates nothing of ours; whether there is
    /// memory for it.
    pub fn reserve(&mut self, worst: &WorstCase) -> bool {
        let objects = worst.objects.saturating_sub(self.registers.len());
        self.reserve_frames(worst.frames) && self.registers.try_reserve(objects).is_ok()
    }

    /// The same for so many frames; whether there is memory for them.
    pub fn reserve_frames(&mut self, count: usize) -> bool {
        if self.frames.capacity() >= count {
            return true;
        }
        let mut larger = Vec::new();
        if larger.try_reserve(count).is_err() {
            return false;
        }
        larger.extend_from_slice(&self.frames);
        self.kept.push(std::mem::replace(&mut self.frames, larger));
        true
    }

    /// The same for an exit that finds so many addresses.
    pub fn reserve_registers(&mut self, count: usize) {
        self.registers.reserve(count.saturating_sub(self.registers.len()));
    }
}

/// The host's memory as an exit sees it.
pub(crate) struct Host<'a> {
    pub schema: &'a Schema,
    pub context: *mut c_void,
    /// The exit buffer, as compiled code has left it.
    pub buffer: &'a [u64],
    /// The constants of the trace's resume data, as bits.
    pub pool: &'a [u64],
    /// The objects that were made so far.
    pub lifted: &'a mut Vec<u64>,
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

/// How an object of a layout is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Allocator {
    address: usize,
    in_frame: bool,
}

impl Allocator {
    /// That of a layout that may be virtual.
    pub fn of(layout: LayoutId, schema: &Schema) -> Allocator {
        let func = schema.layout(layout).alloc.expect("virtual records have an allocator");
        Allocator { address: schema.func(func).address, in_frame: schema.is_made_in_frame(layout) }
    }

    /// Makes an object, given the number of its layout and its room, or its site.
    ///
    /// # Safety
    /// As for [`call_lifting`]; `base` is the base of the frame that the trace was entered with.
    pub unsafe fn make(self, context: *mut c_void, base: *mut u8, args: [u64; 3]) -> u64 {
        if !self.in_frame {
            // SAFETY: passed on from the caller.
            return unsafe { call_lifting(self.address, context, args) };
        }
        // SAFETY: promised by the caller: such functions take the base too.
        let result = unsafe {
            let function: extern "C" fn(*mut c_void, *mut u8, u64, u64, u64) -> u64 =
                std::mem::transmute(self.address);
            function(context, base, args[0], args[1], args[2])
        };
        assert!(result != 0, "the host secured memory for lifting before the entry");
        result
    }
}

impl Host<'_> {
    /// Restores the state of an exit; its frames are added to `frames`.
    ///
    /// # Safety
    /// As for [`crate::Vm::exit`]; the resume data and the constants are those of the trace that was left.
    pub unsafe fn restore(
        &mut self,
        resume: &ResumeTable,
        exit: ExitId,
        base: *mut u8,
        frames: &mut Vec<ExitFrame>,
    ) {
        let state = match resume.state(exit.index()) {
            Ok(state) => state,
            // The table was made with the code; that it does not decode is a bug which must not go on
            // silently.
            Err(error) => panic!("the resume data of exit {exit} is damaged: {error}"),
        };
        // SAFETY: passed on from the caller, for all below.
        unsafe {
            self.lift(&state, base);
            state.pending().for_each(|store| self.store(&store));
            let layout = self.schema.slots();
            for frame in state.frames() {
                let mut words = [0; MAX_WORDS];
                words.iter_mut().zip(frame.words).for_each(|(word, index)| *word = self.pool[index as usize]);
                for slot in frame.slots.filter(|slot| slot.source != ResumeSource::InPlace) {
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
    unsafe fn lift(&mut self, state: &ResumeState<'_>, base: *mut u8) {
        for object in state.virtuals() {
            let allocator = Allocator::of(object.layout, self.schema);
            let args = [u64::from(object.layout.0), u64::from(object.items), u64::from(object.keys)];
            // SAFETY: the host declared the function with this signature.
            let address = unsafe { allocator.make(self.context, base, args) };
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Where frames lie that the host was handed.
    fn handed(state: &ExitState) -> *const ExitFrame {
        state.frames.as_ptr()
    }

    #[test]
    fn frames_stay_where_they_are_until_the_next_exit() {
        let mut state = ExitState::default();
        assert!(state.reserve(&WorstCase { frames: 2, ..WorstCase::default() }));
        state.frames.push(ExitFrame { base: 7, ..ExitFrame::default() });
        let first = handed(&state);
        // Code is published whose exits have more frames, twice.
        for frames in [20, 200] {
            assert!(state.reserve(&WorstCase { frames, ..WorstCase::default() }));
            assert_eq!((state.frames.len(), state.frames[0].base), (1, 7));
        }
        assert!(state.kept.iter().any(|kept| kept.as_ptr() == first && kept[0].base == 7));
        state.begin();
        assert!(state.kept.is_empty() && state.frames.capacity() >= 200);
        let now = handed(&state);
        assert!(state.reserve(&WorstCase { frames: 200, ..WorstCase::default() }));
        assert!(handed(&state) == now && state.kept.is_empty(), "there is room");
        assert!(!state.reserve_frames(usize::MAX / 64), "and no more than that");
    }

    #[test]
    fn frames_of_a_plan_outlive_it() {
        let mut state = ExitState::default();
        let plan: Box<[ExitFrame]> = vec![ExitFrame::default(); 3].into();
        let frames = plan.as_ptr();
        state.keep(plan);
        assert_eq!(state.kept[0].as_ptr(), frames);
        state.begin();
        assert!(state.kept.is_empty());
    }
}
