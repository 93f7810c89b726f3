//! What the traces of a region do with the host's slots.
//!
//! Problem: side traces store slots early, so that their exits need no stubs, write all others at their end,
//! and look at tags at their entry, each time that the program passes: in a region half of what a short way
//! does. Design: three things are found out before a region is lowered.
//! - A *steady* slot is one that no trace of the region writes in memory. It is looked at once, where the
//!   function is entered: its value is in a register from there on, and what side traces would check is one
//!   flag for each of them.
//! - A slot is *covered* by a loop if each of the loop's exits writes it. What a side trace would write there
//!   at its end nobody will see, if it goes on in that loop.
//! - In a side trace that looks at steady slots alone, early stores wait: see `waiting.rs`.
//!
//! Invariant: at each place where the region is left memory holds what the linked traces' would hold, as far
//! as the exit does not write it. So all of this is a matter of speed.
//!
//! Example: a loop counts slot 2, and says so at all exits. Its side trace with `store(slot 2, i5)` before
//! `guard_true(i6)`, and `finish` with `2: int i9`, does the first store only if the guard fails, and the one
//! at the end never.

use cranelift_codegen::ir::MemFlagsData;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use tracelift_core::effects::CellAccess;
use tracelift_core::ir::EntrySlot;
use tracelift_core::planted::{planted, Bug};
use tracelift_core::schema::{ClassId, TagId};
use tracelift_core::slot_memory::{Part, SlotMemory};
use tracelift_core::snapshot::Source;
use tracelift_core::{Inst, Op, Payload, Schema, Trace, Value};

use super::{clif_type, Input, Lowering, Result, Ssa};

/// What is to be written to a slot. Slots are counted from the function's base here.
#[derive(Clone, Copy, Debug)]
pub(super) enum Content {
    /// A payload: a value of the trace.
    Own(Value),
    /// A payload, from the trace before.
    Passed(Ssa),
    /// The bits of a tag.
    Tag(u64),
}

/// A write of a slot that has not been made yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Write {
    pub slot: i32,
    pub content: Content,
}

impl Write {
    pub fn is_tag(&self) -> bool {
        matches!(self.content, Content::Tag(_))
    }

    /// Takes the place of one to the same part of the slot.
    pub fn add_to(self, writes: &mut Vec<Write>) {
        writes.retain(|write| (write.slot, write.is_tag()) != (self.slot, self.is_tag()));
        writes.push(self);
    }
}

/// A steady slot: the tag that it was found to have, and its payload.
#[derive(Clone, Copy, Debug, Default)]
struct Steady {
    tag: Option<TagId>,
    payload: Option<Ssa>,
}

/// What is known of the slots of a function's frame, for all of its traces. Empty where it has but one.
#[derive(Default)]
pub(super) struct Slots {
    /// By trace: stores that wait, by instruction, and whether others may wait in it.
    pub early: Vec<HashMap<usize, i32>>,
    pub takes_over: Vec<bool>,
    /// By trace: it writes slots in memory where it is left, and nowhere else.
    leaves_alone: Vec<bool>,
    /// By trace without a parent: slots that all its exits write.
    covered: Vec<HashSet<i32>>,
    /// Slots that are written in memory; `None`: any may be.
    written: Option<HashSet<i32>>,
    steady: HashMap<i32, Steady>,
    /// By side trace: whether steady slots have other tags than it expects.
    differs: Vec<Option<Ssa>>,
    /// By side trace: the writes that it takes over, each payload as an argument of its first block.
    pub taken: HashMap<usize, Vec<Write>>,
}

/// What one trace does.
struct Study {
    written: HashSet<i32>,
    /// It may write any slot.
    writes_any: bool,
    /// It may look at any.
    reads_any: bool,
    /// Its stores to slots, by instruction, and slots that it loads.
    stores: HashMap<usize, i32>,
    loaded: HashSet<i32>,
}

impl Study {
    fn of(trace: &Trace, schema: &Schema) -> Study {
        let (stores, loaded) = (HashMap::default(), HashSet::default());
        let mut study =
            Study { written: HashSet::default(), writes_any: false, reads_any: false, stores, loaded };
        let Some(mut memory) = SlotMemory::of_places(schema) else {
            let calls = trace.insts.iter().any(|inst| matches!(inst.payload, Payload::Func(_)));
            return Study { writes_any: calls, reads_any: true, ..study };
        };
        let classes = slot_classes(schema);
        for (index, inst) in trace.insts.iter().enumerate() {
            study.look_at(index, inst, &memory, trace, schema, &classes);
            memory.step(trace, inst);
        }
        study
    }

    fn look_at(
        &mut self,
        index: usize,
        inst: &Inst,
        memory: &SlotMemory<'_>,
        trace: &Trace,
        schema: &Schema,
        classes: &[ClassId],
    ) {
        if matches!(inst.payload, Payload::Func(_) | Payload::Unit { .. }) {
            let effects = inst.effects(schema);
            self.writes_any |= memory.is_lost_by(inst) || effects.leaves;
            self.reads_any |= self.writes_any || classes.iter().any(|&class| effects.reads.contains(class));
        }
        let Some(CellAccess { cell, stored, .. }) = CellAccess::of(inst, schema) else { return };
        match memory.access(inst) {
            Some((Part::Payload(slot) | Part::Tag(slot), None)) => drop(self.loaded.insert(slot)),
            Some((Part::Payload(slot), Some(_))) => {
                self.written.insert(slot);
                self.stores.insert(index, slot);
            }
            Some((Part::Tag(slot), Some(tag))) => {
                self.written.insert(slot);
                match trace.bits_of(tag) {
                    Some(_) => drop(self.stores.insert(index, slot)),
                    None => self.reads_any = true,
                }
            }
            Some((Part::Other(_) | Part::Unknown, stored)) => {
                self.writes_any |= stored.is_some();
                self.reads_any = true;
            }
            None if classes.contains(&schema.cell(cell).class) => {
                self.writes_any |= stored.is_some();
                self.reads_any = true;
            }
            None => {}
        }
    }
}

/// The alias classes of slots.
pub(super) fn slot_classes(schema: &Schema) -> Vec<ClassId> {
    let cells = schema.slot_cells();
    let cells = cells.iter().flat_map(|cells| cells.value.iter().chain(&cells.tag));
    cells.map(|&cell| schema.cell(cell).class).collect()
}

/// The slots that all exits of a trace write.
fn written_by_exits(trace: &Trace) -> HashSet<i32> {
    let mut covered: Option<HashSet<i32>> = None;
    for (_, inst) in trace.exits() {
        let Some(snapshot) = trace.snapshot_of(inst) else { return HashSet::default() };
        let written = snapshot.slots().filter(|(_, slot)| slot.source != Source::InPlace);
        let written: HashSet<i32> = written.map(|(slot, _)| slot).collect();
        covered = Some(match covered {
            Some(before) if planted(Bug::RegionCoveredByOne) => &before | &written,
            Some(before) => &before & &written,
            None => written,
        });
    }
    covered.unwrap_or_default()
}

impl Slots {
    /// What the traces of a function do; nothing is found out for one alone, nor for those of a unit, which
    /// have no frame.
    pub(super) fn of(tree: &[Input<'_>]) -> Slots {
        if tree.len() < 2 || tree.iter().any(|input| input.trace.unit.is_some()) {
            return Slots::default();
        }
        let mut slots = Slots { written: Some(HashSet::default()), ..Slots::default() };
        slots.differs = vec![None; tree.len()];
        let studies: Vec<Study> = tree.iter().map(|input| Study::of(input.trace, input.schema)).collect();
        tree.iter().zip(&studies).for_each(|(input, study)| slots.note_written(input, study));
        for (input, study) in tree.iter().zip(studies) {
            let is_side = input.parent.is_some();
            slots.leaves_alone.push(!study.writes_any && study.written.is_empty());
            let at = |slot: i32| slot.saturating_add(input.frame);
            // What nobody writes is in memory, whatever waits.
            let finds = |slot: &i32| slots.is_steady(at(*slot)) || planted(Bug::RegionWaitingPassed);
            let waits = is_side && !study.reads_any && study.loaded.iter().all(finds);
            slots.takes_over.push(waits);
            let early = study.stores.iter().filter(|_| waits).map(|(&index, &slot)| (index, at(slot)));
            slots.early.push(early.collect());
            let is_loop = input.trace.insts.last().is_some_and(|last| last.op == Op::Jump);
            let covers = !is_side && is_loop && !study.writes_any;
            let covered = written_by_exits(input.trace).into_iter();
            let covered = covered.filter(|slot| covers && !study.loaded.contains(slot)).map(at);
            slots.covered.push(covered.collect());
        }
        slots
    }

    /// The same for one more copy of a trace.
    pub(super) fn copy(&mut self, of: usize) {
        self.early.push(self.early[of].clone());
        self.takes_over.push(self.takes_over[of]);
        self.leaves_alone.push(self.leaves_alone[of]);
        self.covered.push(self.covered[of].clone());
        self.differs.push(None);
    }

    /// Notes what a trace writes in memory.
    fn note_written(&mut self, input: &Input<'_>, study: &Study) {
        let trace = input.trace;
        let ends = trace.insts.iter().filter(|inst| inst.op == Op::Finish);
        let ends = ends.filter_map(|inst| trace.snapshot_of(inst)).flat_map(|snapshot| snapshot.slots());
        let ends = ends.filter(|(_, slot)| slot.source != Source::InPlace).map(|(slot, _)| slot);
        let ends = ends.filter(|_| !planted(Bug::RegionSteadyWritten));
        match &mut self.written {
            Some(written) if !study.writes_any => {
                let own = study.written.iter().copied();
                written.extend(ends.chain(own).map(|slot| slot.saturating_add(input.frame)));
            }
            written => *written = None,
        }
    }

    /// Whether no trace of the function writes this slot in memory.
    pub(super) fn is_steady(&self, slot: i32) -> bool {
        self.written.as_ref().is_some_and(|written| !written.contains(&slot))
    }

    /// Whether a loop never stores what it carries, so that each iteration but the first finds memory stale.
    pub fn leaves_alone(&self, to: usize) -> bool {
        self.leaves_alone.get(to) == Some(&true)
    }

    /// Whether a trace without a parent writes this slot wherever it is left.
    pub fn is_covered(&self, to: Option<usize>, slot: i32) -> bool {
        to.and_then(|to| self.covered.get(to)).is_some_and(|covered| covered.contains(&slot))
    }
}

/// The slots that a trace takes at its entry: those that are checked, those that are not, and tags alone.
fn entry_slots(trace: &Trace) -> impl Iterator<Item = (&EntrySlot, bool)> {
    let checked = trace.entry.iter().chain(&trace.entry_tags).map(|slot| (slot, true));
    checked.chain(trace.entry_known.iter().map(|slot| (slot, false)))
}

impl Lowering<'_, '_, '_> {
    /// A slot of the trace, counted from the function's base.
    pub(super) fn at(&self, slot: i32) -> i32 {
        slot.saturating_add(self.input.frame)
    }

    /// Where the function is entered, whose first trace has these inputs in slots: looks at what is steady.
    pub(super) fn find_steady(&mut self, args: &[Ssa]) -> Result<()> {
        if self.shared.slots.written.is_none() || self.input.parent.is_some() {
            return Ok(());
        }
        let trace = self.input.trace;
        let (mut first, mut last) = (0, 0);
        for (slot, _) in entry_slots(trace) {
            (first, last) = (first.min(slot.slot), last.max(slot.slot));
        }
        let inputs = trace.entry.iter().chain(&trace.entry_known).zip(args).enumerate();
        for (at, (slot, arg)) in inputs {
            let payload = *arg;
            if self.shared.slots.is_steady(slot.slot) {
                let tag = (at < trace.entry.len()).then_some(slot.tag);
                self.shared.slots.steady.insert(slot.slot, Steady { tag, payload: Some(payload) });
            }
        }
        for (side, input) in self.tree.iter().enumerate().filter(|(_, input)| input.parent.is_some()) {
            if let Some(of) = input.copy_of {
                self.shared.slots.differs[side] = self.shared.slots.differs[of];
                continue;
            }
            let mut unchecked = Vec::new();
            for (slot, is_checked) in entry_slots(input.trace) {
                let at = slot.slot.saturating_add(input.frame);
                if !self.shared.slots.is_steady(at) || !(first..=last).contains(&at) {
                    continue;
                }
                let known = self.shared.slots.steady.get(&at).copied().unwrap_or_default();
                if is_checked && known.tag != Some(slot.tag) {
                    unchecked.push(EntrySlot { slot: at, ..*slot });
                }
                let payload = match (known.payload, self.input.schema.tag(slot.tag).payload) {
                    (None, Some(ty)) => {
                        let offset = self.slot_offset(at, self.input.schema.slots().payload)?;
                        let flags = MemFlagsData::trusted();
                        Some(self.b.load(clif_type(ty), flags, self.base, offset))
                    }
                    (payload, _) => payload,
                };
                self.shared.slots.steady.insert(at, Steady { payload, ..known });
            }
            if !planted(Bug::RegionSteadyUnchecked) {
                self.shared.slots.differs[side] = self.tags_differ(&unchecked)?;
            }
        }
        Ok(())
    }

    /// A steady slot's payload, where it was looked at.
    pub(super) fn steady_payload(&self, slot: i32) -> Option<Ssa> {
        self.shared.slots.steady.get(&self.at(slot))?.payload
    }

    /// Whether a steady slot was found to have this tag.
    pub(super) fn has_steady_tag(&self, slot: &EntrySlot) -> bool {
        self.shared.slots.steady.get(&self.at(slot.slot)).is_some_and(|steady| steady.tag == Some(slot.tag))
    }

    /// Whether a side trace's slot was looked at where the function was entered; its flag says what came of
    /// it.
    pub(super) fn is_looked_at(&self, slot: &EntrySlot) -> bool {
        self.shared.slots.steady.contains_key(&self.at(slot.slot))
    }

    /// Whether steady slots have other tags than a side trace expects, if any may.
    pub(super) fn steady_differs(&self, side: usize) -> Option<Ssa> {
        self.shared.slots.differs.get(side).copied().flatten()
    }
}
