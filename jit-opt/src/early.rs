//! Slots are stored once, before the exits that would each store them.
//!
//! Problem: a side trace has a guard in three operations, and each exit stores every slot that has changed:
//! in code that hardly ever runs, but has to be compiled. Design: over the finished trace, if it is no loop,
//! a slot with the same value in the snapshots of several exits is stored to the frame before the first of
//! them, as the interpreter would have done, and is *in place* in all of them. So exits have few live values
//! or none, restoring them writes less, and the end of the trace need not write the slot again. What memory
//! holds anyway (from the entry, or because a call of the host wanted it there) is in place for nothing, and
//! is not stored twice. Constants stay in the snapshots: they cost an exit nothing, and what begins there
//! wants to know them. So do virtual objects. Stores of the same value that follow are left out.
//!
//! Nobody may look at what memory held before. Exits do not: they mention the slot, or it is dead there (see
//! [`tracelift_core::snapshot`]). If the trace itself loads from the slot later, or from a place in the frame
//! that is not known, the slot is left alone; and where stores to slots wait in snapshots, all of them are,
//! as such a store is made at the exit, after ours. A store that the trace makes for a call stays until here,
//! even if memory held the same before it: then there was no store of ours between (`passes/heap.rs`).
//!
//! Invariant: at each exit that has a slot in place memory holds the tag and payload that the snapshot had.
//!
//! ```text
//! @1 = frame[0: int i2]                  @1 = frame[0: int in_place]
//! guard_true(i3) @1                      a9 = frame_base()
//! @2 = frame[0: int i2, 1: nil]          store(a9, slot.int, i2)       -- slot 0 held an int at the entry
//! guard_true(i4) @2                      guard_true(i3) @1
//! @3 = frame[0: int i2, 1: nil]     =>   @2 = frame[0: int in_place, 1: nil]
//! finish() @3                            guard_true(i4) @2
//!                                        @3 = frame[0: int in_place, 1: nil]
//!                                        finish() @3
//! ```

use rustc_hash::FxHashMap as HashMap;

use tracelift_core::planted::{planted, Bug};
use tracelift_core::schema::{SlotCells, TagId};
use tracelift_core::slot_memory::{Part, SlotMemory, SlotTable};
use tracelift_core::snapshot::{SlotValue, Snapshot, Source};
use tracelift_core::{Inst, Op, Payload, Schema, SnapId, Trace, Type, Value};

use crate::Report;

/// The names of the rewrites here: a slot is stored early, was in memory anyway, or a store is left out.
pub(crate) const RULES: &[&str] = &["slot_early", "slot_in_place", "slot_stored_before"];

/// So many snapshots must have a slot, that of the end among them, before it is stored early. With 1 to 4
/// compiling takes the same time; the fewer stores, the less there is to run.
const SPARED: u32 = 3;

/// A slot that exits mention with one value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Held {
    slot: i32,
    tag: TagId,
    value: Value,
}

/// Such a slot from one exit on.
struct Run {
    held: Held,
    /// Index of the first exit.
    first: usize,
    /// How many snapshots mention it, and the last of them.
    exits: u32,
    last: Option<SnapId>,
}

/// What of a snapshot's slots could be stored early.
fn held<'t>(trace: &'t Trace, snapshot: &'t Snapshot) -> impl Iterator<Item = Held> + 't {
    snapshot.slots().filter_map(|(slot, &SlotValue { tag, source, .. })| {
        let value = source.value().filter(|&value| trace.constant_of(value).is_none())?;
        Some(Held { slot, tag, value })
    })
}

/// The stores that are worth it, by the exit before which they are made.
struct Plan<'t> {
    trace: &'t Trace,
    memory: SlotMemory<'t>,
    runs: SlotTable<Run>,
    /// The snapshot of the last exit, and what was known of memory there.
    last: Option<(SnapId, u32)>,
    stores: Vec<(usize, Held)>,
}

impl<'t> Plan<'t> {
    fn new(trace: &'t Trace, memory: &SlotMemory<'t>) -> Plan<'t> {
        Plan { trace, memory: memory.clone(), runs: SlotTable::default(), last: None, stores: Vec::new() }
    }

    fn make(mut self) -> Vec<(usize, Held)> {
        let trace = self.trace;
        for (index, inst) in trace.insts.iter().enumerate() {
            // Between the call of a unit and the look at its result nothing is done. Who goes on in a loop
            // says only what the loop does not write itself.
            let is_exit = !matches!(inst.op, Op::UnitResult | Op::EnterLoop);
            if let Some(snap) = inst.snap.filter(|_| is_exit) {
                let here = Some((snap, self.memory.changes()));
                if std::mem::replace(&mut self.last, here) != here {
                    held(trace, &trace.snapshots[snap.index()])
                        .for_each(|held| self.mention(index, snap, held));
                }
            }
            if SlotMemory::may_change(inst) {
                self.change(inst);
            }
            self.memory.step(trace, inst);
        }
        self.end_all();
        self.leave_out_loaded();
        self.stores.sort_by_key(|&(index, held)| (index, held.slot));
        self.stores
    }

    /// An instruction may change what memory holds.
    fn change(&mut self, inst: &Inst) {
        if self.memory.is_lost_by(inst) {
            self.end_all();
        }
        match self.memory.access(inst) {
            Some((Part::Unknown, Some(_))) => self.end_all(),
            Some((part, Some(stored))) => {
                if let Some(mut run) = part.slot().and_then(|slot| self.runs.place(slot)?.take()) {
                    // A store that the trace makes anyway may as well come earlier.
                    run.exits += if run.held.value == stored { SPARED } else { 0 };
                    self.end(&run);
                }
            }
            _ => {}
        }
    }

    /// An exit mentions a slot.
    fn mention(&mut self, index: usize, snap: SnapId, held: Held) {
        if self.memory.holds(held.slot, held.tag, Some(held.value)) {
            return;
        }
        let Some(place) = self.runs.place(held.slot) else { return };
        match place {
            Some(run) if run.held == held => {
                run.exits += u32::from(run.last != Some(snap));
                run.last = Some(snap);
            }
            _ => {
                let run = Run { held, first: index, exits: 1, last: Some(snap) };
                let before = place.replace(run);
                before.into_iter().for_each(|before| self.end(&before));
            }
        }
    }

    fn end_all(&mut self) {
        let runs: Vec<Run> = self.runs.drain().collect();
        runs.iter().for_each(|run| self.end(run));
    }

    /// No more exits will mention this.
    fn end(&mut self, run: &Run) {
        if run.exits >= SPARED {
            self.stores.push((run.first, run.held));
        }
    }

    /// Slots that the trace loads from later keep what they had.
    fn leave_out_loaded(&mut self) {
        let is_any = !self.stores.is_empty() && !planted(Bug::EarlyStoreAboveLoad);
        let Some(mut places) = self.memory.anew().filter(|_| is_any) else { return };
        // The last load from a slot, and the last one that may be from any.
        let (mut last_load, mut last_wild_load) = (SlotTable::default(), None);
        for (index, inst) in self.trace.insts.iter().enumerate() {
            match places.access(inst) {
                Some((Part::Unknown, None)) => last_wild_load = Some(index),
                Some((part, None)) => {
                    let row = part.slot().and_then(|slot| last_load.place(slot));
                    row.into_iter().for_each(|row| *row = Some(index));
                }
                _ => {}
            }
            places.step(self.trace, inst);
        }
        self.stores.retain(|&(first, held)| {
            let is_later = |load: Option<usize>| load.is_some_and(|load| load > first);
            !is_later(last_load.get(held.slot).copied()) && !is_later(last_wild_load)
        });
    }
}

/// Whether the step may touch the trace at all.
fn is_fit(trace: &Trace, schema: &Schema, cells: &SlotCells) -> bool {
    let class = |cell: tracelift_core::schema::CellId| schema.cell(cell).class;
    let classes: Vec<_> = cells.value.iter().chain(&cells.tag).map(|&cell| class(cell)).collect();
    let mut origin = 0;
    trace.exits().all(|(_, inst)| {
        let Some(snapshot) = trace.snapshot_of(inst) else { return true };
        let is_later = snapshot.origin >= std::mem::replace(&mut origin, snapshot.origin);
        is_later && snapshot.pending.iter().all(|store| !classes.contains(&class(store.cell)))
    }) && !has_two_views(trace)
}

/// Whether a snapshot says twice what a slot holds, and not the same.
fn has_two_views(trace: &Trace) -> bool {
    let mut seen = HashMap::default();
    trace.snapshots.iter().any(|snapshot| {
        if snapshot.slots().map(|(at, _)| at).is_sorted_by(|a, b| a < b) {
            return false;
        }
        seen.clear();
        snapshot.slots().any(|(at, slot)| {
            let said = (slot.tag, slot.source);
            seen.insert(at, said).is_some_and(|before| before != said)
        })
    })
}

/// The trace while it is written anew.
struct Writer<'t> {
    schema: &'t Schema,
    cells: SlotCells,
    memory: SlotMemory<'t>,
    /// The trace; its instructions and snapshots are those written so far.
    trace: Trace,
    base: Option<Value>,
    /// The depth of the exit at hand, for listings.
    depth: u8,
    places: SlotTable<Value>,
    /// What became of a snapshot at its last exit, and what was known of memory there.
    copies: Vec<Option<(SnapId, u32)>>,
    old: Vec<Snapshot>,
    /// How many exits to come have each of these.
    exits_left: Vec<u32>,
    fuel: Option<u64>,
    counts: [u64; 3],
}

impl Writer<'_> {
    fn rewrites(&mut self, rule: usize) -> bool {
        if self.fuel == Some(0) {
            return false;
        }
        self.fuel = self.fuel.map(|fuel| fuel - 1);
        self.counts[rule] += 1;
        true
    }

    fn emit(&mut self, op: Op, args: &[Value], payload: Payload, ty: Option<Type>) -> Option<Value> {
        let inst = Inst { depth: self.depth, ..Inst::new(op, args).with(payload) };
        let result = self.trace.push(inst, ty);
        let inst = self.trace.insts.last().expect("just pushed").clone();
        self.memory.step(&self.trace, &inst);
        result
    }

    /// The address of a slot.
    fn place(&mut self, slot: i32) -> Option<Value> {
        if let Some(&place) = self.places.get(slot) {
            return Some(place);
        }
        let base = match self.base {
            Some(base) => base,
            None => self.emit(Op::FrameBase, &[], Payload::None, Some(Type::Addr))?,
        };
        self.base = Some(base);
        let distance = i64::from(slot) * i64::from(self.schema.slots().stride);
        let place = match distance {
            0 => base,
            _ => {
                let distance = self.trace.const_int(distance);
                self.emit(Op::AddrAdd, &[base, distance], Payload::None, Some(Type::Addr))?
            }
        };
        *self.places.place(slot)? = Some(place);
        Some(place)
    }

    /// Stores a slot where memory does not hold it.
    fn store(&mut self, held: Held) {
        let Held { slot, tag, value } = held;
        if self.memory.holds(slot, tag, Some(value)) || !self.rewrites(0) {
            return;
        }
        let Some(place) = self.place(slot) else { return };
        let known = self.memory.content(slot).unwrap_or_default();
        if known.value != Some(value) {
            let cell = self.cells.value[self.trace.ty(value) as usize];
            self.emit(Op::Store, &[place, value], Payload::Cell(cell), None);
        }
        let Some(cell) = self.cells.tag.filter(|_| known.tag != Some(tag)) else { return };
        let bits = self.trace.const_int(self.schema.tag(tag).bits as i64);
        self.emit(Op::Store, &[place, bits], Payload::Cell(cell), None);
    }

    /// Whether the instruction stores what memory holds.
    fn is_idle(&self, inst: &Inst) -> bool {
        match self.memory.access(inst) {
            Some((Part::Payload(slot), Some(value))) => {
                self.memory.content(slot).is_some_and(|known| known.value == Some(value))
            }
            Some((Part::Tag(slot), Some(value))) => {
                let tag = self.memory.content(slot).and_then(|known| known.tag);
                tag.is_some_and(|tag| self.trace.bits_of(value) == Some(self.schema.tag(tag).bits))
            }
            _ => false,
        }
    }

    /// The snapshot of an exit with all in place that is.
    fn snapshot(&mut self, snap: SnapId, is_end: bool) -> SnapId {
        let changes = self.memory.changes();
        let before = self.copies[snap.index()];
        self.exits_left[snap.index()] -= 1;
        if let Some((copy, _)) = before.filter(|&(_, at)| at == changes && !is_end) {
            return copy;
        }
        let (mut is_changed, may_change) = (false, self.fuel != Some(0));
        // Most belong to one exit.
        let mut snapshot = match self.exits_left[snap.index()] {
            0 => std::mem::take(&mut self.old[snap.index()]),
            _ => self.old[snap.index()].clone(),
        };
        for frame in snapshot.frames.iter_mut().filter(|_| may_change) {
            for slot in &mut frame.slots {
                let is_kept = match slot.source {
                    Source::Value(value) => !is_end && self.trace.constant_of(value).is_some(),
                    Source::Nothing => !is_end,
                    Source::Virtual(_) | Source::InPlace => true,
                };
                let at = frame.base.saturating_add(slot.slot);
                if !is_kept && self.memory.holds(at, slot.tag, slot.source.value()) {
                    slot.source = Source::InPlace;
                    is_changed = true;
                }
            }
        }
        if is_changed {
            self.rewrites(1);
        }
        let copy = match before {
            Some((copy, _)) if self.trace.snapshots[copy.index()] == snapshot => copy,
            _ => self.trace.add_snapshot(snapshot),
        };
        self.copies[snap.index()] = Some((copy, changes));
        copy
    }
}

/// How many exits have each of so many snapshots.
fn exits_of(insts: &[Inst], snapshots: usize) -> Vec<u32> {
    let mut exits = vec![0; snapshots];
    insts.iter().filter_map(|inst| inst.snap).for_each(|snap| exits[snap.index()] += 1);
    exits
}

/// The trace with slots stored early, as far as the fuel allows.
pub(crate) fn store_slots(trace: &mut Trace, schema: &Schema, fuel: Option<u64>, report: &mut Report) {
    let Some(cells) = schema.slot_cells() else { return };
    let Some(memory) = SlotMemory::at_entry(trace, schema).filter(|_| is_fit(trace, schema, &cells)) else {
        return;
    };
    report.visited += 2 * trace.insts.len() as u64;
    let stores = Plan::new(trace, &memory).make();
    let (insts, old) = (std::mem::take(&mut trace.insts), std::mem::take(&mut trace.snapshots));
    let mut writer = Writer {
        schema,
        cells,
        memory,
        copies: vec![None; old.len()],
        exits_left: exits_of(&insts, old.len()),
        old,
        trace: std::mem::take(trace),
        base: None,
        depth: 0,
        places: SlotTable::default(),
        fuel: fuel.map(|fuel| fuel.saturating_sub(report.rewrites())),
        counts: [0; 3],
    };
    writer.trace.insts.reserve(insts.len() + 2 * stores.len());
    writer.trace.snapshots.reserve(writer.old.len());
    let mut stores = stores.into_iter().peekable();
    let mut moved = Vec::with_capacity(insts.len() + 1);
    for (index, mut inst) in insts.into_iter().enumerate() {
        moved.push(writer.trace.insts.len() as u32);
        writer.depth = inst.depth;
        while let Some((_, held)) = stores.next_if(|&(at, _)| at == index) {
            writer.store(held);
        }
        if let Some(snap) = inst.snap {
            inst.snap = Some(writer.snapshot(snap, inst.op == Op::Finish));
        }
        if writer.is_idle(&inst) && writer.rewrites(2) {
            continue;
        }
        writer.memory.step(&writer.trace, &inst);
        writer.trace.insts.push(inst);
    }
    let Writer { trace: mut out, counts, .. } = writer;
    for snapshot in &mut out.snapshots {
        snapshot.position = moved.get(snapshot.position as usize).copied().unwrap_or(snapshot.position);
    }
    *trace = out;
    for (rule, count) in RULES.iter().zip(counts).filter(|&(_, count)| count > 0) {
        *report.rules.entry(rule).or_default() += count;
    }
}
