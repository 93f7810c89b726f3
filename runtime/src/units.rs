//! Units: functions as code that code calls.
//!
//! Problem: what compiled code calls must have one address for all its callers, although its tree grows, and
//! must be left without a frame of the host's. Design: a unit has a number, the tags of its arguments, and a
//! cell with its code's address. The traces of its tree are compiled to one function
//! (`jit-cranelift/src/lower/units.rs`), which is made anew when the tree has grown: nobody is in the old one
//! then, since units call nobody but units, and the host decides only when all of them were left. A unit
//! that is left leaves records of its callers, from which [`Vm::exit`](crate::Vm::exit) rebuilds the frames
//! of all.
//!
//! How deep units may call one another is a matter of one cell, the *limit*: the highest base of a frame that
//! may call. The host sets it whenever it enters code, so far above the frame as there is room, and as it has
//! announced (`Units::set_depth`); whatever wants all code to be left sets it to 0.
//!
//! Invariant: the room for records, and for what is said of the frames, is enough for the deepest calls that
//! the limit allows.
//!
//! ```text
//! unit 0: key 7f00, arguments [0: int], traces 3 and 5 (exit 1 of 3), code at 0x1234
//! ```

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use tracelift_core::ir::EntrySlot;
use tracelift_core::{Op, Payload, UnitId};
use tracelift_cranelift::{UnitCells, Units as UnitLinks, RECORD_WORDS};

use crate::ids::{ExitPoint, Key, TraceId};
use crate::tree::Member;
use crate::tunables::{LEFTS_JUDGED, LEFT_TOO_OFTEN, STRIKES};

/// What is written of calls up to a limit of so many slots above the first frame: each call moves the base by
/// a slot at least, has its words, and no more values than slots up to the callee's frame. The last ones, of
/// code that is no unit, have some more.
fn record_cells(depth: u32) -> usize {
    (RECORD_WORDS + 2) * depth as usize + 4096
}

/// A unit.
pub(crate) struct Unit {
    pub id: UnitId,
    /// The entry of its function.
    pub key: Key,
    /// Its arguments: those with a payload are passed in this order.
    pub entry: Vec<EntrySlot>,
    /// Arguments whose tag says all.
    pub entry_tags: Vec<EntrySlot>,
    /// Its traces, the first one first.
    pub members: Vec<Arc<Member>>,
    /// How many of them, the first ones, are one function; each of the others is one of its own.
    pub merged: usize,
    /// Whether it is called no more: it was left too often.
    pub is_retired: bool,
    pub judged: Judged,
    code: Box<AtomicU64>,
}

/// How often a unit is left.
#[derive(Default)]
pub(crate) struct Judged {
    /// Since when, in ticks, and how often it was left since then.
    since: u64,
    lefts: u32,
    /// How many times in a row that was too often.
    strikes: u32,
}

impl Judged {
    /// Whether it is time to look at the clock.
    pub fn is_due(&self) -> bool {
        u64::from(self.lefts) >= LEFTS_JUDGED
    }

    /// At this tick, after so many nanoseconds for each time that it was left; whether it is too often.
    pub fn look(&mut self, now: u64, ns: impl FnOnce(u64) -> Option<f64>) -> bool {
        let each = ns(now.wrapping_sub(self.since)).map(|ns| ns / f64::from(self.lefts));
        let is_known = self.since != 0;
        (self.since, self.lefts) = (now, 0);
        self.strikes = match each {
            Some(each) if is_known && each < LEFT_TOO_OFTEN as f64 => self.strikes + 1,
            _ => 0,
        };
        u64::from(self.strikes) >= STRIKES
    }

    /// The unit has got more code: it may be left less often.
    pub fn begin(&mut self) {
        *self = Judged::default();
    }
}

/// All units, and what they share.
#[derive(Default)]
pub(crate) struct Units {
    all: Vec<Option<Unit>>,
    /// Made with the first unit.
    cells: Option<Box<Cells>>,
    /// Those of units that are gone: code that is entered no more still names them.
    #[expect(clippy::vec_box, reason = "code knows their addresses")]
    gone: Vec<Box<AtomicU64>>,
}

/// `tl_unit_limit`: what units may do, and what they need for it.
#[repr(C)]
#[derive(Debug)]
pub struct Limit {
    /// Where the slots that a unit may need must end.
    pub end: u64,
    /// Bytes of the native stack for each slot that a call moves the base by, at most.
    pub native_bytes: u32,
    /// Slots that a call moves the base by, at least.
    pub least_base: u32,
}

/// What the code of units reads and writes.
struct Cells {
    context: u64,
    base: u64,
    next_record: u64,
    limit: Limit,
    /// Much room, of which little is ever touched.
    records: Vec<MaybeUninit<u64>>,
}

/// A caller of a unit that was left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    /// Its exit for the call.
    pub at: ExitPoint,
    pub base: *mut u8,
    /// Where its values begin, among the cells of all records, and how many there are.
    values: usize,
    count: usize,
}

impl Units {
    fn cells(&mut self) -> &mut Cells {
        self.cells.get_or_insert_with(|| {
            let mut cells = Box::new(Cells {
                context: 0,
                base: 0,
                next_record: 0,
                limit: Limit { end: 0, native_bytes: 1, least_base: u32::MAX },
                records: vec![MaybeUninit::new(0); record_cells(0)],
            });
            cells.next_record = cells.records.as_ptr() as u64;
            cells
        })
    }

    /// A new unit, which has no code yet.
    pub fn begin(&mut self, key: Key) -> UnitId {
        let id = UnitId(self.all.len() as u32);
        self.cells();
        let (entry, entry_tags, members) = (Vec::new(), Vec::new(), Vec::new());
        let (is_retired, judged, code, merged) = (false, Judged::default(), Box::default(), 0);
        self.all.push(Some(Unit { id, key, entry, entry_tags, members, merged, is_retired, judged, code }));
        id
    }

    pub fn get_mut(&mut self, id: UnitId) -> Option<&mut Unit> {
        self.all.get_mut(id.index())?.as_mut()
    }

    pub fn get(&self, id: UnitId) -> Option<&Unit> {
        self.all.get(id.index())?.as_ref()
    }

    /// The unit is no more, or never was.
    pub fn take(&mut self, id: UnitId) -> Option<Unit> {
        self.all.get_mut(id.index())?.take()
    }

    /// Code that calls the unit may be on the native stack, and is kept: the cell is there as long.
    pub fn keep_cell(&mut self, gone: Unit) {
        if !gone.members.is_empty() {
            self.gone.push(gone.code);
        }
    }

    /// The units of functions whose entries lie in this range.
    pub fn of(&self, keys: std::ops::Range<Key>) -> Vec<UnitId> {
        self.all.iter().flatten().filter(|unit| keys.contains(&unit.key)).map(|unit| unit.id).collect()
    }

    /// The unit with code that a function with these arguments is.
    pub fn find(&self, key: Key, arguments: &[EntrySlot]) -> Option<&Unit> {
        self.all.iter().flatten().find(|unit| unit.key == key && unit.has_code() && unit.takes(arguments))
    }

    /// What code is told of all units; `is_side`: the code of a side trace of one.
    pub fn links(&mut self, is_side: bool) -> UnitLinks {
        let code = self.all.iter().flatten().map(|unit| (unit.id, unit.code.as_ptr().cast_const())).collect();
        let cells = self.cells();
        let (context, base, records) =
            (&raw mut cells.context, &raw mut cells.base, &raw mut cells.next_record);
        UnitLinks { cells: UnitCells { context, base, records }, code, is_side }
    }

    /// From now on the limit may lie so many slots above the first frame. No code runs.
    pub fn set_depth(&mut self, slots: u32) -> bool {
        let cells = self.cells();
        let wanted = record_cells(slots);
        if wanted <= cells.records.len() {
            return true;
        }
        let mut records = Vec::new();
        if records.try_reserve_exact(wanted).is_err() {
            return false;
        }
        // SAFETY: there is room for so many, which need not be anything.
        unsafe { records.set_len(wanted) };
        cells.records = records;
        cells.next_record = cells.records.as_ptr() as u64;
        true
    }

    /// The cell of the limit.
    pub fn limit(&mut self) -> *mut Limit {
        &raw mut self.cells().limit
    }

    /// There is a unit whose calls move the base by so many slots at least, and whose native frame has so
    /// many bytes.
    pub fn needs(&mut self, base: u32, frame_bytes: usize) {
        let limit = &mut self.cells().limit;
        limit.least_base = limit.least_base.min(base);
        limit.native_bytes = limit.native_bytes.max(frame_bytes.div_ceil(base as usize) as u32);
    }

    /// A trace of this unit was left. Whether it is time to judge the unit.
    pub fn was_left(&mut self, unit: Option<UnitId>) -> bool {
        let Some(unit) = unit.and_then(|unit| self.get_mut(unit)) else { return false };
        unit.judged.lefts += 1;
        unit.judged.is_due()
    }

    /// Whether a unit was left whose callers have written records.
    #[inline]
    pub fn has_records(&self) -> bool {
        self.cells.as_ref().is_some_and(|cells| cells.next_record != cells.records.as_ptr() as u64)
    }

    /// Reads the records, innermost first, and makes room for others. `length` says how many values an exit
    /// has.
    pub fn take_records(&mut self, into: &mut Vec<Record>, length: impl Fn(ExitPoint) -> usize) {
        into.clear();
        let Some(cells) = &mut self.cells else { return };
        let start = cells.records.as_ptr() as u64;
        let end = (std::mem::replace(&mut cells.next_record, start) - start) as usize / 8;
        let mut at = 0;
        // SAFETY: code has written all words up to the end.
        let word = |at: usize| unsafe { cells.records[at].assume_init() };
        while at < end {
            let (exit, base) = (ExitPoint::of_code(word(at)), word(at + 1) as *mut u8);
            let count = length(exit);
            into.push(Record { at: exit, base, values: at + RECORD_WORDS, count });
            at += RECORD_WORDS + count;
        }
    }

    /// The values of a record that was taken, until code of units runs again.
    pub fn values(&self, record: &Record) -> &[u64] {
        let Some(cells) = &self.cells else { return &[] };
        let values = &cells.records[record.values..record.values + record.count];
        // SAFETY: code has written them: see above.
        unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), values.len()) }
    }
}

impl Unit {
    pub fn has_code(&self) -> bool {
        self.code.load(Ordering::Relaxed) != 0 && !self.is_retired
    }

    /// Slots that its calls move the base by, at least, if it makes any.
    pub fn least_base(&self) -> Option<u32> {
        let insts = self.members.iter().flat_map(|member| &member.trace.insts);
        let bases = insts.filter(|inst| inst.op == Op::CallUnit).map(|call| match call.payload {
            Payload::Unit { base, .. } => base.max(1) as u32,
            _ => u32::MAX,
        });
        bases.min()
    }

    /// The tree's root.
    pub fn root(&self) -> Option<TraceId> {
        self.members.first().map(|member| member.number)
    }

    /// There is one more trace, whose code lies here: that of all traces, or its own.
    pub fn has_grown(&mut self, member: Arc<Member>, is_merged: bool, address: u64) {
        self.members.push(member);
        self.judged.begin();
        if is_merged {
            self.merged = self.members.len();
            self.code.store(address, Ordering::Relaxed);
        }
    }

    /// Whether these are its arguments.
    fn takes(&self, arguments: &[EntrySlot]) -> bool {
        let own = self.entry.len() + self.entry_tags.len();
        own == arguments.len()
            && self.entry.iter().chain(&self.entry_tags).all(|slot| arguments.contains(slot))
    }
}
