//! Whether a trace is one: the checks that every layer relies on.
//!
//! Problem: recorder, passes, generators and hand-written tests all make traces, and a wrong one shows far
//! from where it was made. Design: one walk over the instructions that trusts nothing (ids may be out of
//! range, types may disagree), driven by the op table; what it finds is a list of errors that name the
//! instruction. It runs between passes in tests, and it has tests that plant each fault. Checked are:
//!
//! - structure: the entry label first, each label once, control never falls into a label, an end at the end;
//! - definitions: every value defined once and before its uses; after a label only its arguments and what is
//!   defined there are visible (seed 000, section 3: a value of the preamble must be passed to the peeled
//!   loop);
//! - arity, types, payloads and constants of every op, against op table and schema;
//! - snapshots: visible values, tags and types that agree, virtual objects that fit their layouts, back edges
//!   that grow; slots that are in place were written before;
//! - in recorded traces: no virtual objects but in the snapshot at the head of a side trace, and no visible
//!   effect between a snapshot and its guards; what such a head writes into the objects that it makes is
//!   none, and what a unit returns is one: it takes the place of a slot;
//! - calls of units, and what is looked at after them (`verify/units.rs`);
//! - in expanded traces: no record ops; entry slots that match the inputs;
//! - `jump_if` in regions alone, and there at the end of a block;
//! - where the schema has slot cells: no pointer is used after a call that may run the collector, unless the
//!   host can find it in the call (`verify/collected.rs`).
//!
//! Invariant: no trace and no schema make [`verify`] panic; a trace without errors can be evaluated and
//! lowered.
//!
//! ```
//! use tracelift_core::{text::parse_file, verify::{verify, Mode}};
//! let text = "L0(i0):\ni1 = i0 + 1\njump(L1, i0)\nL1(i2):\ni3 = i1 + i2\njump(L1, i3)\n";
//! let file = parse_file(text, &|_| None).unwrap();
//! let errors = verify(&file.traces[0], &file.schema, Mode::Recorded);
//! assert_eq!(errors[0].message, "i1 is used after L1 but not passed to it");
//! ```

mod collected;
mod snapshots;
mod types;
mod units;

use std::cell::OnceCell;

use crate::ir::{Inst, Payload, Trace, Value};
use crate::ops::{Flags, Op};
use crate::schema::{LayoutId, Schema, TagId};
use crate::slot_memory::SlotMemory;
use crate::text::value_names;
use crate::types::Type;

/// What kind of trace is expected.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// From a recorder (or written by hand): snapshots mention no virtual objects, but for that of the exit
    /// which a side trace begins at, and effects come after the guards of their snapshot.
    Recorded,
    /// Between passes: snapshots may be resume data, record ops may be there.
    #[default]
    Optimized,
    /// Ready for lowering: no record ops are left.
    Expanded,
    /// A region, ready for lowering: a control flow graph of labels, with `jump_if`.
    Region,
}

/// What kind of rule is broken.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ErrorKind {
    /// Labels and ends of the trace.
    Structure,
    /// A value is defined twice, or what is defined is no value.
    Definition,
    /// A value is used where it is not visible.
    Use,
    /// The number of arguments is wrong.
    Arity,
    /// A type is wrong.
    Type,
    /// What an instruction carries does not fit its op or the schema.
    Payload,
    /// A constant is required.
    Constant,
    /// A snapshot is malformed.
    Snapshot,
    /// A visible effect lies between a snapshot and a guard that uses it.
    Effect,
    /// The op is not allowed in this mode.
    Mode,
    /// Entry slots do not match the inputs.
    Entry,
    /// A pointer is used after a call that may have collected what it leads to.
    Collected,
    /// A unit is called, or its result looked at, in a way that says not enough where it is left.
    Unit,
    /// A field of a new object is read before it was set ([`reads_unset_fields`]).
    UnsetField,
}

/// A fault of a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerifyError {
    /// The instruction, by index; `None` if the fault is the whole trace's.
    pub inst: Option<usize>,
    /// What is wrong, in the text form's names.
    pub message: String,
    /// The rule that is broken.
    pub kind: ErrorKind,
}

impl std::fmt::Display for VerifyError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.inst {
            Some(index) => write!(f, "instruction {index}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

/// All faults of a trace, in the order of its instructions.
pub fn verify(trace: &Trace, schema: &Schema, mode: Mode) -> Vec<VerifyError> {
    let mut checker = Checker::new(trace, schema, mode);
    checker.entry_slots();
    checker.labels();
    checker.edges();
    for (index, inst) in trace.insts.iter().enumerate() {
        checker.at = Some(index);
        checker.instruction(index, inst);
    }
    checker.collected();
    checker.errors
}

/// Reads of fields of objects made in the same stretch of the trace before anything set them: *malformed* in
/// the seeds' language, which knows no null; harmless in hosts whose new objects hold nulls.
pub fn reads_unset_fields(trace: &Trace, schema: &Schema) -> Vec<VerifyError> {
    let mut checker = Checker::new(trace, schema, Mode::Optimized);
    // Objects made since the last label or visible call, with the fields that were set.
    let mut fresh: Vec<(Value, Vec<crate::schema::FieldId>)> = Vec::new();
    for (index, inst) in trace.insts.iter().enumerate() {
        checker.at = Some(index);
        let object = inst.args.first().copied();
        let known = fresh.iter_mut().find(|(made, _)| Some(*made) == object);
        match (inst.op, inst.payload, known) {
            (Op::New, ..) => fresh.extend(inst.result.map(|made| (made, Vec::new()))),
            (Op::Set, Payload::Field(field), Some((_, set))) => set.push(field),
            (Op::Get, Payload::Field(field), Some((_, set))) if !set.contains(&field) => {
                let name = object.map_or(String::new(), |object| checker.name(object));
                let field =
                    schema.fields().get(field.index()).map_or("a field", |_| &schema.field_cell(field).name);
                let message = format!("{field} of {name} is read before it is set");
                checker.error(ErrorKind::UnsetField, message);
            }
            (Op::Label, ..) => fresh.clear(),
            // A function may set fields behind the trace's back; so may a store through an address.
            _ if !inst.op.is(Flags::RECORD) && !inst.effects(schema).writes.is_nothing() => fresh.clear(),
            _ => {}
        }
    }
    checker.errors
}

/// Where a value is defined.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nowhere up to here.
    Undefined,
    /// In a stretch before the last label.
    Hidden,
    /// Since the last label.
    Visible,
}

struct Checker<'a> {
    trace: &'a Trace,
    schema: &'a Schema,
    mode: Mode,
    errors: Vec<VerifyError>,
    at: Option<usize>,
    states: Vec<State>,
    /// The values' names, made when the first message needs one.
    names: OnceCell<Vec<String>>,
    /// The label above, for messages.
    label: String,
    /// For each instruction, how many visible effects lie before it.
    effects_before: Vec<u32>,
    /// What memory holds in the frame's slots; `None` if no slot can be in place.
    slots: Option<SlotMemory<'a>>,
}

impl<'a> Checker<'a> {
    fn new(trace: &'a Trace, schema: &'a Schema, mode: Mode) -> Checker<'a> {
        let mut effects = 0;
        let (rebuilding, rebuilt) = snapshots::head(trace);
        let effects_before = trace.insts.iter().enumerate().map(|(index, inst)| {
            let before = effects;
            let is_seen =
                index >= rebuilding || !inst.args.first().is_some_and(|object| rebuilt.contains(object));
            // What a unit has returned lies in its slot before it is taken, and nowhere after that.
            let is_taken = matches!(inst.payload, Payload::Result { slot: Some(_), .. });
            effects += (is_seen && (is_taken || inst.has_visible_effect(schema))) as u32;
            before
        });
        Checker {
            trace,
            schema,
            mode,
            errors: Vec::new(),
            at: None,
            states: vec![State::Undefined; trace.values.len()],
            names: OnceCell::new(),
            label: String::new(),
            effects_before: effects_before.collect(),
            slots: SlotMemory::at_entry(trace, schema),
        }
    }

    fn error(&mut self, kind: ErrorKind, message: impl Into<String>) {
        self.errors.push(VerifyError { inst: self.at, message: message.into(), kind });
    }

    /// A value's name or constant.
    fn name(&self, value: Value) -> String {
        let names = self.names.get_or_init(|| value_names(self.trace));
        names.get(value.index()).cloned().unwrap_or_else(|| format!("value {}", value.0))
    }

    /// A value's type, if there is such a value.
    fn type_of(&self, value: Value) -> Option<Type> {
        self.trace.values.get(value.index()).map(|data| data.ty)
    }

    fn is_constant(&self, value: Value) -> bool {
        self.trace.values.get(value.index()).is_some_and(|data| data.constant.is_some())
    }

    fn tag_exists(&self, tag: TagId) -> bool {
        tag.index() < self.schema.tags().len()
    }

    fn layout_exists(&self, layout: LayoutId) -> bool {
        layout.index() < self.schema.layouts().len()
    }

    fn entry_slots(&mut self) {
        let inputs = self.trace.inputs();
        let slots = self.trace.entry.len() + self.trace.entry_known.len();
        let cells = self.trace.entry_cells.len();
        if slots + cells > 0 && slots + cells != inputs.len() {
            let message = format!("{slots} entry slots and {cells} entry cells for {} inputs", inputs.len());
            self.error(ErrorKind::Entry, message);
        }
        let Trace { entry, entry_known, entry_tags, .. } = self.trace;
        for (slot, &input) in entry.iter().chain(entry_known).zip(inputs) {
            let Some(tag) = self.schema.tags().get(slot.tag.index()) else { continue };
            if tag.payload != self.type_of(input) {
                let message = format!(
                    "entry slot {}: tag {} does not fit input {}",
                    slot.slot,
                    tag.name,
                    self.name(input)
                );
                self.error(ErrorKind::Entry, message);
            }
        }
        let mut seen: Vec<i32> = Vec::new();
        for slot in entry.iter().chain(entry_known).chain(entry_tags) {
            if !self.tag_exists(slot.tag) {
                self.error(ErrorKind::Entry, format!("entry slot {}: no such tag", slot.slot));
            }
            if seen.contains(&slot.slot) {
                self.error(ErrorKind::Entry, format!("entry slot {} is given twice", slot.slot));
            }
            seen.push(slot.slot);
        }
    }

    /// Each label has one instruction, the entry's is the first, and the trace ends with an end.
    fn labels(&mut self) {
        let insts = &self.trace.insts;
        match insts.first() {
            Some(first)
                if first.op == Op::Label && first.payload == Payload::Label(crate::ir::LabelId(0)) => {}
            _ => self.error(ErrorKind::Structure, "the trace does not begin with its entry label"),
        }
        if !insts.last().is_some_and(|last| last.op.is(Flags::ENDS)) {
            self.error(ErrorKind::Structure, "the trace does not end with a jump or finish");
        }
        for (id, label) in self.trace.labels.iter().enumerate() {
            let id = crate::ir::LabelId(id as u32);
            let count = insts.iter().filter(|inst| inst.op == Op::Label && inst.label() == Some(id)).count();
            if count != 1 {
                self.error(ErrorKind::Structure, format!("label {} stands in {count} places", label.name));
            }
        }
    }

    fn instruction(&mut self, index: usize, inst: &Inst) {
        let name = inst.op.info().name;
        let before = index.checked_sub(1).and_then(|index| self.trace.insts.get(index));
        if let Some(before) = before {
            let ended = before.op.is(Flags::ENDS);
            if ended && inst.op != Op::Label {
                self.error(ErrorKind::Structure, format!("{name} stands after the end of the trace"));
            }
            if !ended && inst.op == Op::Label {
                self.error(ErrorKind::Structure, "control falls into a label without a jump");
            }
        }
        if matches!(self.mode, Mode::Expanded | Mode::Region) && inst.op.is(Flags::RECORD) {
            self.error(ErrorKind::Mode, format!("{name} is not expanded"));
        }
        if self.mode != Mode::Region && inst.op == Op::JumpIf {
            self.error(ErrorKind::Mode, "jump_if stands in no region");
        }
        if self.mode != Mode::Expanded && inst.op == Op::EnterLoop {
            self.error(ErrorKind::Mode, "enter_loop stands in a trace that was not optimized");
        }
        let splits = before.is_some_and(|before| before.op == Op::JumpIf);
        if splits && inst.op != Op::JumpIf && !inst.op.is(Flags::ENDS) {
            self.error(ErrorKind::Structure, format!("{name} stands between a jump_if and its block's end"));
        }
        if inst.op == Op::Label {
            return self.label(inst);
        }
        for &arg in &inst.args {
            self.use_of(arg);
        }
        if self.payload(inst) {
            self.arguments(inst);
            self.result(inst);
        }
        self.snapshot(index, inst);
        self.units(index, inst);
        if let Some(result) = inst.result {
            self.define(result);
        }
        if let Some(slots) = &mut self.slots {
            slots.step(self.trace, inst);
        }
    }

    fn label(&mut self, inst: &Inst) {
        for state in self.states.iter_mut().filter(|state| **state == State::Visible) {
            *state = State::Hidden;
        }
        let label = inst.label().and_then(|label| self.trace.labels.get(label.index()));
        match label {
            None => self.error(ErrorKind::Payload, "label names no label of the trace"),
            Some(label) => {
                if label.args.as_slice() != inst.args.as_slice() {
                    self.error(ErrorKind::Structure, format!("the arguments of {} disagree", label.name));
                }
                self.label = label.name.clone();
            }
        }
        if inst.result.is_some() {
            self.error(ErrorKind::Type, "label has no result");
        }
        if inst.snap.is_some() {
            self.error(ErrorKind::Snapshot, "label takes no snapshot");
        }
        for &arg in &inst.args {
            self.define(arg);
        }
    }

    fn define(&mut self, value: Value) {
        let is_constant = self.is_constant(value);
        let fault = match self.states.get_mut(value.index()) {
            _ if is_constant => "is a constant and cannot be defined",
            None => "does not exist",
            Some(state) if *state == State::Undefined => {
                *state = State::Visible;
                return;
            }
            Some(_) => "is defined twice",
        };
        self.error(ErrorKind::Definition, format!("{} {fault}", self.name(value)));
    }

    /// A use, which must be of a visible value or a constant.
    fn use_of(&mut self, value: Value) {
        if let Some(message) = self.use_fault(value) {
            self.error(ErrorKind::Use, message);
        }
    }

    fn use_fault(&self, value: Value) -> Option<String> {
        if self.is_constant(value) {
            return None;
        }
        let fault = match self.states.get(value.index()) {
            Some(State::Visible) => return None,
            None => "does not exist".to_string(),
            Some(State::Hidden) => format!("is used after {} but not passed to it", self.label),
            Some(State::Undefined) => "is used before its definition".to_string(),
        };
        Some(format!("{} {fault}", self.name(value)))
    }
}
