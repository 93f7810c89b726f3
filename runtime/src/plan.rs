//! Exits that are taken often are decoded once.
//!
//! Problem: resume data is written to be small, and reading it again costs more than everything else at an
//! exit. Design: an exit that was taken [`HOT`] times gets a *plan*: what it does to memory, as a list of
//! steps with all numbers of the schema looked up. First come the steps that make and fill the virtual
//! objects and make the stores that wait, then a write per slot, then the frames as the host wants them,
//! which it reads where they lie. Addresses that come up on the way (objects, the starts of their items,
//! their entries) are numbered *registers*. Plans are made before an entry, never at an exit, which allocates
//! nothing of ours. Invariant: a plan does what [`crate::restore`] does with the resume data itself, in the
//! same order.
//!
//! ```text
//! slot 3: table v0, v0 = Table of 0 items and 1 key, "x" = i5
//! =>  make Table 0 1                            -- register 0
//!     insert register 0 "x"                     -- register 1
//!     store register 1 + 0, 8 bytes, cell 0
//!     store register 1 + 8, 1 byte, the tag
//!     slot 3: register 0, tag table
//! ```

use std::ffi::c_void;

use tracelift_core::schema::{CellId, Element, FuncId, SlotLayout, TagId};
use tracelift_core::Schema;
use tracelift_opt::resume::{ResumeSource, VirtualData};
use tracelift_opt::ResumeTable;

use crate::ids::ExitId;
use crate::restore::{call_lifting, Allocator, ExitFrame, MAX_WORDS};
use crate::slots;

/// Exits before one is decoded.
const HOT: u64 = 4;

/// Where a word comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Word {
    /// A cell of the exit buffer.
    Cell(u32),
    /// It is this one.
    Bits(u64),
    /// An address that an earlier step has found.
    Register(u32),
}

/// What is done before the slots are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    /// Makes an object: the next register.
    Make { allocator: Allocator, layout: u32, items: u32, keys: u32 },
    /// Reads the address in a cell of an object: the next register.
    Load { object: u32, offset: i32 },
    /// Adds a key to an object: its entry is the next register.
    Insert { function: usize, layout: u32, object: u32, key: Word },
    /// Writes the low bytes of a word.
    Store { to: Word, offset: i32, width: u8, word: Word },
}

/// What slots are to hold, by where their payloads come from: each an offset in bytes from the base of the
/// entry's frame, and what is written there. An exit walks through these lists more often than through any
/// other.
#[derive(PartialEq, Eq, Debug, Default)]
struct Writes {
    /// Cells of the exit buffer.
    cells: Vec<(i32, u32)>,
    registers: Vec<(i32, u32)>,
    bits: Vec<(i32, u64)>,
    /// The tags' bits, and how many bytes of them are written.
    tags: Vec<(i32, u64)>,
    tag_bytes: u8,
}

/// A decoded exit.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Plan {
    pub frames: Box<[ExitFrame]>,
    steps: Box<[Step]>,
    writes: Writes,
    /// How many the steps need.
    pub registers: usize,
    /// Whether it makes objects.
    pub lifts: bool,
}

impl Writes {
    /// A slot of this layout, that begins `offset` bytes from the frame's base.
    fn add(&mut self, layout: &SlotLayout, offset: i32, word: Option<Word>, tag: u64) -> Option<()> {
        let payload = offset.checked_add(i32::try_from(layout.payload).ok()?)?;
        match word {
            Some(Word::Cell(cell)) => self.cells.push((payload, cell)),
            Some(Word::Bits(bits)) => self.bits.push((payload, bits)),
            Some(Word::Register(register)) => self.registers.push((payload, register)),
            None => {}
        }
        if let Some((at, bytes)) = layout.tag {
            self.tags.push((offset.checked_add(i32::try_from(at).ok()?)?, tag));
            self.tag_bytes = bytes;
        }
        Some(())
    }

    /// # Safety
    /// As for [`crate::Vm::exit`].
    #[inline]
    unsafe fn make(&self, buffer: &[u64], base: *mut u8, registers: &[u64]) {
        // SAFETY: passed on from the caller, for all below.
        unsafe {
            let write = |at: i32, word: u64| base.offset(at as isize).cast::<u64>().write_unaligned(word);
            self.cells.iter().for_each(|&(at, cell)| write(at, buffer[cell as usize]));
            self.registers.iter().for_each(|&(at, register)| write(at, registers[register as usize]));
            self.bits.iter().for_each(|&(at, bits)| write(at, bits));
            match self.tag_bytes {
                1 => self.tags.iter().for_each(|&(at, bits)| base.offset(at as isize).write(bits as u8)),
                bytes => self
                    .tags
                    .iter()
                    .for_each(|&(at, bits)| slots::write_cell(base.offset(at as isize), bytes, bits)),
            }
        }
    }
}

impl Plan {
    /// The plan of an exit, from the resume data of its trace and the constants there.
    pub fn of(resume: &ResumeTable, pool: &[u64], exit: ExitId, schema: &Schema) -> Option<Plan> {
        let state = resume.state(exit.index()).ok()?;
        let mut maker = Maker { schema, pool, steps: Vec::new(), registers: 0 };
        state.virtuals().for_each(|object| maker.make(&object));
        let lifts = maker.registers > 0;
        for (number, object) in state.virtuals().enumerate() {
            maker.fill(number as u32, &object)?;
        }
        for store in state.pending() {
            maker.store(maker.word(store.address)?, 0, store.cell, maker.word(store.source));
        }
        let slots = schema.slots();
        let mut writes = Writes::default();
        for frame in state.frames() {
            for slot in frame.slots.filter(|slot| slot.source != ResumeSource::InPlace) {
                let offset = (frame.base + slot.slot).checked_mul(i32::try_from(slots.stride).ok()?)?;
                writes.add(&slots, offset, maker.word(slot.source), schema.tag(slot.tag).bits)?;
            }
        }
        let Maker { steps, registers, .. } = maker;
        let frames = frames(resume, pool, exit.index())?;
        Some(Plan { frames, steps: steps.into(), writes, registers: registers as usize, lifts })
    }

    /// The plan of an exit whose slots are written already.
    pub fn of_frames(resume: &ResumeTable, pool: &[u64], exit: usize) -> Option<Plan> {
        let frames = frames(resume, pool, exit)?;
        let (steps, writes) = (Box::default(), Writes::default());
        Some(Plan { frames, steps, writes, registers: 0, lifts: false })
    }

    /// Restores the interpreter's state. The registers are empty, and have room.
    ///
    /// # Safety
    /// As for [`crate::Vm::exit`].
    #[inline]
    pub unsafe fn restore(
        &self,
        buffer: &[u64],
        context: *mut c_void,
        base: *mut u8,
        registers: &mut Vec<u64>,
    ) {
        // SAFETY: passed on from the caller, for all below.
        unsafe {
            for step in &self.steps {
                run(step, buffer, context, base, registers);
            }
            self.writes.make(buffer, base, registers);
        }
    }
}

fn get(word: Word, buffer: &[u64], registers: &[u64]) -> u64 {
    match word {
        Word::Cell(cell) => buffer[cell as usize],
        Word::Bits(bits) => bits,
        Word::Register(register) => registers[register as usize],
    }
}

/// # Safety
/// As for [`crate::Vm::exit`]; the steps before this one are done.
unsafe fn run(step: &Step, buffer: &[u64], context: *mut c_void, base: *mut u8, registers: &mut Vec<u64>) {
    // SAFETY: the host declared the functions with their types, objects have the cells of their layouts, and
    // pending stores go to places that existed when the trace put them off: what may move them makes the
    // stores first.
    unsafe {
        match *step {
            Step::Make { allocator, layout, items, keys } => {
                let args = [u64::from(layout), u64::from(items), u64::from(keys)];
                registers.push(allocator.make(context, base, args));
            }
            Step::Load { object, offset } => {
                let at = registers[object as usize] as *const u8;
                registers.push(slots::read_word(at.offset(offset as isize)));
            }
            Step::Insert { function, layout, object, key } => {
                let args = [u64::from(layout), registers[object as usize], get(key, buffer, registers)];
                registers.push(call_lifting(function, context, args));
            }
            Step::Store { to, offset, width, word } => {
                let at = get(to, buffer, registers) as *mut u8;
                slots::write_cell(at.offset(offset as isize), width, get(word, buffer, registers));
            }
        }
    }
}

/// The host's frames at an exit.
fn frames(resume: &ResumeTable, pool: &[u64], exit: usize) -> Option<Box<[ExitFrame]>> {
    let state = resume.state(exit).ok()?;
    let frames = state.frames().map(|frame| {
        let mut words = [0; MAX_WORDS];
        words.iter_mut().zip(frame.words).for_each(|(word, index)| *word = pool[index as usize]);
        ExitFrame { base: frame.base, words }
    });
    Some(frames.collect())
}

/// Turns resume data into steps.
struct Maker<'a> {
    schema: &'a Schema,
    pool: &'a [u64],
    steps: Vec<Step>,
    registers: u32,
}

impl Maker<'_> {
    fn word(&self, source: ResumeSource) -> Option<Word> {
        match source {
            ResumeSource::Nothing | ResumeSource::InPlace => None,
            ResumeSource::Buffer(cell) => Some(Word::Cell(cell)),
            ResumeSource::Constant(index) => Some(Word::Bits(self.pool[index as usize])),
            // Objects are made first, in their order.
            ResumeSource::Virtual(number) => Some(Word::Register(number)),
        }
    }

    /// A step whose result is the next register.
    fn find(&mut self, step: Step) -> u32 {
        self.steps.push(step);
        self.registers += 1;
        self.registers - 1
    }

    fn address(&self, func: FuncId) -> usize {
        self.schema.func(func).address
    }

    fn make(&mut self, object: &VirtualData<'_>) {
        let allocator = Allocator::of(object.layout, self.schema);
        self.find(Step::Make { allocator, layout: object.layout.0, items: object.items, keys: object.keys });
    }

    fn fill(&mut self, object: u32, data: &VirtualData<'_>) -> Option<()> {
        let layout = self.schema.layout(data.layout);
        for (field, source) in data.fields.clone() {
            self.store(Word::Register(object), 0, self.schema.field(field).cell, self.word(source));
        }
        let mut items = data.item_values.clone().peekable();
        if let (Some(part), Some(_)) = (&layout.items, items.peek()) {
            let offset = self.schema.cell(part.base).offset;
            let base = Word::Register(self.find(Step::Load { object, offset }));
            for (index, tag, source) in items {
                let at = i32::try_from(u64::from(index) * u64::from(part.element.stride)).ok()?;
                self.element(base, at, &part.element, tag, self.word(source));
            }
        }
        for (key, tag, source) in data.entries.clone() {
            let keys = layout.keys.as_ref().expect("entries lie in a keyed part");
            let function = self.address(keys.insert.expect("virtual records with entries can insert"));
            let key = self.word(key)?;
            let entry = self.find(Step::Insert { function, layout: data.layout.0, object, key });
            self.element(Word::Register(entry), 0, &keys.element, tag, self.word(source));
        }
        Some(())
    }

    fn element(&mut self, to: Word, at: i32, element: &Element, tag: Option<TagId>, payload: Option<Word>) {
        if payload.is_some() {
            self.store(to, at, element.value[0], payload);
        }
        if let (Some(cell), Some(tag)) = (element.tag, tag) {
            self.store(to, at, cell, Some(Word::Bits(self.schema.tag(tag).bits)));
        }
    }

    fn store(&mut self, to: Word, at: i32, cell: CellId, word: Option<Word>) {
        let cell = self.schema.cell(cell);
        let word = word.unwrap_or(Word::Bits(0));
        self.steps.push(Step::Store { to, offset: at + cell.offset, width: cell.width, word });
    }
}

/// Whether an exit that was taken so often, and has no plan, is to have one.
pub(crate) fn is_hot(count: u64) -> bool {
    count >= HOT
}
