//! Writing resume data: see the grammar in the module's description.
//!
//! Invariant: two exits with the same state and the same buffer order get the same bytes, stored once.
//! Example: the guards that an expanded `get_item` leaves share a snapshot, hence one string.

use rustc_hash::{FxBuildHasher, FxHashMap as HashMap};

use tracelift_core::planted::{planted, Bug};
use tracelift_core::schema::TagId;
use tracelift_core::snapshot::{Frame, Pending, SlotValue, Source, Virtual};
use tracelift_core::{live_values, Const, Op, Trace, Value};

use super::varint::{write, write_signed};
use super::{Resume, ResumeTable};

/// Room in tables that most traces do not outgrow.
const ROOM: usize = 28;

/// Encodes the resume data of every exit of an optimized trace.
pub(crate) fn encode(trace: &Trace) -> ResumeTable {
    let mut table = ResumeTable::default();
    let mut pool: HashMap<Const, u32> = HashMap::with_capacity_and_hasher(ROOM, FxBuildHasher);
    let mut known: HashMap<Vec<u8>, u32> = HashMap::with_capacity_and_hasher(ROOM, FxBuildHasher);
    // Lifting one large graph leaves a guard per object, all with one large snapshot.
    let mut done: Vec<Option<Resume>> = vec![None; trace.snapshots.len()];
    let (mut positions, mut out) = (Positions::new(trace), Vec::new());
    for (index, inst) in trace.exits() {
        let is_own = |op| op == Op::Finish || op == Op::CallUnit && !planted(Bug::ResumeCalledShared);
        let shared = inst.snap.filter(|_| !is_own(inst.op));
        if let Some(&resume) = shared.and_then(|snap| done[snap.index()].as_ref()) {
            table.exits.push(Resume { inst: index as u32, kind: inst.exit, ..resume });
            continue;
        }
        let live = live_values(trace, inst);
        positions.note(&live);
        let results = if inst.op == Op::Finish { &inst.args[..] } else { &[] };
        out.clear();
        let constants = &mut table.pool;
        let mut writer = Writer { trace, positions: &positions, pool: &mut pool, constants, out: &mut out };
        // The slots of the frame that a unit is called in are its own business.
        let own = usize::from(inst.op == Op::CallUnit && !planted(Bug::ResumeCalleeSlots));
        writer.exit(results, inst.snap.map(|snap| snap.index()), own);
        let len = out.len() as u32;
        let start = known.get(&out).copied().unwrap_or_else(|| {
            let start = table.bytes.len() as u32;
            table.bytes.extend_from_slice(&out);
            known.insert(out.clone(), start);
            start
        });
        let live = live.len() as u32;
        let resume = Resume { inst: index as u32, kind: inst.exit, live, start, len };
        table.exits.push(resume);
        shared.into_iter().for_each(|snap| done[snap.index()] = Some(resume));
    }
    table.distinct = known.len();
    table
}

/// Where the exit at hand has the values that it stores: by value, with the number of the exit that this was
/// noted for, so that nothing has to be forgotten in between.
struct Positions {
    noted: Vec<(u32, u32)>,
    exit: u32,
}

impl Positions {
    fn new(trace: &Trace) -> Positions {
        Positions { noted: vec![(0, 0); trace.values.len()], exit: 0 }
    }

    /// The next exit stores these values.
    fn note(&mut self, live: &[Value]) {
        self.exit += 1;
        live.iter().enumerate().for_each(|(at, value)| self.noted[value.index()] = (self.exit, at as u32));
    }

    /// The position of a value; `u32::MAX` if the exit does not store it.
    fn of(&self, value: Value) -> u32 {
        match self.noted[value.index()] {
            (exit, at) if exit == self.exit => at,
            _ => u32::MAX,
        }
    }
}

struct Writer<'a> {
    trace: &'a Trace,
    positions: &'a Positions,
    pool: &'a mut HashMap<Const, u32>,
    constants: &'a mut Vec<Const>,
    out: &'a mut Vec<u8>,
}

impl Writer<'_> {
    fn exit(&mut self, results: &[Value], snapshot: Option<usize>, without_slots: usize) {
        let snapshot = snapshot.map(|index| &self.trace.snapshots[index]);
        self.count(snapshot.map_or(0, |snapshot| snapshot.origin as usize + 1));
        self.count(results.len());
        results.iter().for_each(|&value| self.value(value));
        let Some(snapshot) = snapshot else {
            // No virtual objects, no pending stores, no frames.
            self.out.extend([0, 0, 0]);
            return;
        };
        self.count(snapshot.virtuals.len());
        snapshot.virtuals.iter().for_each(|object| self.virtual_object(object));
        self.count(snapshot.pending.len());
        snapshot.pending.iter().for_each(|store| self.pending(store));
        self.count(snapshot.frames.len());
        let with_slots = snapshot.frames.len().saturating_sub(without_slots);
        for (depth, frame) in snapshot.frames.iter().enumerate() {
            self.frame(frame, if depth < with_slots { &frame.slots } else { &[] });
        }
    }

    fn count(&mut self, count: usize) {
        write(self.out, count as u64);
    }

    fn tag(&mut self, tag: Option<TagId>) {
        write(self.out, tag.map_or(0, |tag| tag.0 as u64 + 1));
    }

    fn constant(&mut self, constant: Const) -> u32 {
        *self.pool.entry(constant).or_insert_with(|| {
            self.constants.push(constant);
            self.constants.len() as u32 - 1
        })
    }

    fn value(&mut self, value: Value) {
        self.source(Source::Value(value));
    }

    fn source(&mut self, source: Source) {
        let (kind, index) = match source {
            Source::Nothing => (0, 0),
            Source::InPlace => (0, 1),
            Source::Virtual(index) => (3, index),
            Source::Value(value) => match self.trace.constant_of(value) {
                Some(_) if planted(Bug::ResumeConstantDropped) => (0, 0),
                Some(constant) => (2, self.constant(constant)),
                // `live_values` lists every value of the exit that is no constant.
                None => (1, self.positions.of(value)),
            },
        };
        write(self.out, index as u64 * 4 + kind);
    }

    fn virtual_object(&mut self, object: &Virtual) {
        for number in [object.layout.0, object.items, object.keys] {
            write(self.out, number as u64);
        }
        self.count(object.fields.len());
        for &(field, source) in &object.fields {
            write(self.out, field.0 as u64);
            self.source(source);
        }
        self.count(object.item_values.len());
        for &(index, tag, source) in &object.item_values {
            write(self.out, index as u64);
            self.tag(tag);
            self.source(source);
        }
        self.count(object.entries.len());
        for &(key, tag, source) in &object.entries {
            self.value(key);
            self.tag(tag);
            self.source(source);
        }
    }

    fn pending(&mut self, store: &Pending) {
        self.value(store.address);
        write(self.out, store.cell.0 as u64);
        self.source(store.source);
    }

    fn frame(&mut self, frame: &Frame, slots: &[SlotValue]) {
        write_signed(self.out, frame.base as i64);
        self.count(frame.words.len());
        for &word in &frame.words {
            let index = self.constant(Const::Bits(word));
            write(self.out, index as u64);
        }
        self.count(slots.len());
        let mut previous = -1;
        for slot in slots {
            let shift = planted(Bug::ResumeSlotShifted) as i64;
            write_signed(self.out, slot.slot as i64 - previous - 1 + shift);
            previous = slot.slot as i64;
            write(self.out, slot.tag.0 as u64);
            self.source(slot.source);
        }
    }
}
