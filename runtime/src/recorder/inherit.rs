//! What a side trace begins with: the state at its exit, as values of its own.
//!
//! Problem: the program comes to a side trace straight from the exit, with raw values in the exit buffer.
//! Slots hold what the exit would have written, objects that the exit would have made do not exist, and
//! stores still wait. Design: values of the exit buffer become typed inputs. A slot that the exit has in
//! place is as at the entry, and its tag is known: read, it is an input without a check. If there are objects
//! or stores, the recording begins with operations that make and fill the former and make the latter, one
//! after another, and slots hold their results. So the optimizer may keep these objects virtual in the side
//! trace too, and drop those that nobody looks at. All these operations leave to one snapshot, which is the
//! exit's own: it describes the same virtual objects and the same stores that wait, over the side trace's
//! inputs. What was made up to there is dropped, as nobody can have seen it.
//!
//! Invariant: the snapshot's state and that after the last of these operations are the same. After the first
//! store nothing leaves to it any more. Example, after an exit with `0: table v0`, `v0 = Box(value = i5)` in
//! cell 0 of the buffer:
//!
//! ```text
//! L0(i0):                               -- entry cells: 0
//! p1 = new(Box) @0                      @0 frame 0 slots 0: table v0; virtual v0 = Box { value: i0 }
//! set(p1, value, i0) @0
//! ...                                   -- slot 0 holds p1
//! ```

use tracelift_core::schema::{Cell, Element, TagId};
use tracelift_core::snapshot::{Frame, Pending, SlotValue, Snapshot, Source, Virtual};
use tracelift_core::{ExitKind, Inst, Op, Payload, Schema, SnapId, Type, Value};
use tracelift_opt::resume::{ResumeSource, ResumeState, VirtualData};

use super::{Live, Recorder, SlotState};
use crate::abort::AbortReason;

/// A recording at an exit, as long as it takes over the exit's state.
struct Heir<'a> {
    recorder: &'a mut Recorder,
    schema: &'a Schema,
    /// The constants of the exit's resume data.
    pool: &'a [u64],
    /// The virtual objects, made.
    objects: Vec<Value>,
}

impl Recorder {
    /// Begins a side trace after an exit with this state, which memory does not hold when the program comes
    /// straight from the exit.
    pub(crate) fn inherit(&mut self, state: &ResumeState<'_>, pool: &[u64], schema: &Schema) {
        let mut heir = Heir { recorder: self, schema, pool, objects: Vec::new() };
        if state.virtuals().next().is_some() || state.pending().next().is_some() {
            heir.rebuild(state);
        }
        heir.take_slots(state);
        if let Some(checker) = &mut self.checker {
            let frames = state
                .frames()
                .map(|mut frame| (frame.base, frame.words.next().map_or(0, |word| pool[word as usize])));
            checker.exit = Some(frames.collect());
        }
    }
}

impl Heir<'_> {
    /// A value of the exit: an input, a constant, or one of the objects.
    fn value(&mut self, source: ResumeSource, ty: Type) -> Option<Value> {
        match source {
            ResumeSource::Nothing | ResumeSource::InPlace => None,
            ResumeSource::Buffer(cell) => Some(self.recorder.input_cell(cell, ty)),
            ResumeSource::Constant(index) => Some(self.recorder.constant(ty, self.pool[index as usize])),
            ResumeSource::Virtual(number) => self.objects.get(number as usize).copied(),
        }
    }

    /// The same as a snapshot's source.
    fn source(&mut self, source: ResumeSource, ty: Option<Type>) -> Source {
        match (source, ty) {
            (ResumeSource::Virtual(number), _) => Source::Virtual(number),
            (_, Some(ty)) => self.value(source, ty).map_or(Source::Nothing, Source::Value),
            (_, None) => Source::Nothing,
        }
    }

    fn payload(&self, tag: TagId) -> Option<Type> {
        self.schema.tag(tag).payload
    }

    /// The type of an element with that tag.
    fn element(&self, element: Option<Element>, tag: Option<TagId>) -> Option<Type> {
        element.and_then(|element| self.schema.element_type(&element, tag))
    }

    fn take_slots(&mut self, state: &ResumeState<'_>) {
        for (depth, frame) in state.frames().enumerate() {
            if depth == 0 {
                self.recorder.stack.frames[0].base = frame.base;
            }
            for slot in frame.slots {
                if slot.source == ResumeSource::InPlace {
                    self.recorder.in_place.insert(frame.base + slot.slot, slot.tag);
                    continue;
                }
                let value = self.payload(slot.tag).and_then(|ty| self.value(slot.source, ty));
                let (tag, inner) = (slot.tag, depth > 0);
                let state =
                    SlotState { head_tag: tag, tag, value, written: true, inner, ..SlotState::default() };
                self.recorder.slots.insert(frame.base + slot.slot, state);
            }
        }
    }

    /// Makes the exit's objects, fills them, and makes its stores.
    fn rebuild(&mut self, state: &ResumeState<'_>) {
        let snapshot = self.snapshot(state);
        let highest =
            snapshot.frames.iter().flat_map(|frame| frame.slots.iter().map(|slot| frame.base + slot.slot));
        self.recorder.room.max_slot =
            highest.map(|slot| slot + 1).fold(self.recorder.room.max_slot, i32::max);
        self.recorder.room.max_frames = snapshot.frames.len().max(self.recorder.room.max_frames);
        self.recorder.points.live.push(Live::new());
        let snap = self.recorder.trace.add_snapshot(snapshot);
        for object in state.virtuals() {
            let payload = Payload::New { layout: object.layout, items: object.items, keys: object.keys };
            let inst = Inst::new(Op::New, &[]).with(payload).at(Some(snap)).exit_kind(ExitKind::Guard);
            let made = self.recorder.trace.push(inst, Some(Type::Ref));
            self.objects.extend(made);
        }
        for (number, object) in state.virtuals().enumerate() {
            self.fill(self.objects[number], &object, snap);
        }
        for store in state.pending() {
            let ty = self.schema.cell(store.cell).ty;
            let (Some(address), Some(value)) =
                (self.value(store.address, Type::Addr), self.value(store.source, ty))
            else {
                continue;
            };
            let inst = Inst::new(Op::Store, &[address, value]).with(Payload::Cell(store.cell));
            self.recorder.trace.push(inst, None);
        }
        if self.recorder.trace.insts.len() > self.recorder.limits.ops {
            self.recorder.fail(AbortReason::TooManyOps, "an exit leaves too many objects behind");
        }
    }

    /// The exit's state, over inputs of this trace.
    fn snapshot(&mut self, state: &ResumeState<'_>) -> Snapshot {
        let mut snapshot =
            Snapshot { position: self.recorder.trace.insts.len() as u32, ..Snapshot::default() };
        for object in state.virtuals() {
            let virtual_object = self.describe(&object);
            snapshot.virtuals.push(virtual_object);
        }
        for store in state.pending() {
            let cell = self.schema.cell(store.cell);
            let source = self.source(store.source, Some(cell.ty));
            if let Some(address) = self.value(store.address, Type::Addr) {
                snapshot.pending.push(Pending { address, cell: store.cell, source });
            }
        }
        for frame in state.frames() {
            let words = frame.words.map(|index| self.pool[index as usize]).collect();
            let mut slots = Vec::new();
            for slot in frame.slots.filter(|slot| slot.source != ResumeSource::InPlace) {
                let source = self.source(slot.source, self.payload(slot.tag));
                slots.push(SlotValue { slot: slot.slot, tag: slot.tag, source });
            }
            snapshot.frames.push(Frame { base: frame.base, words, slots });
        }
        snapshot
    }

    fn describe(&mut self, object: &VirtualData<'_>) -> Virtual {
        let layout = self.schema.layout(object.layout);
        let (item, entry) = (layout.items.map(|part| part.element), layout.keys.map(|part| part.element));
        let mut fields = Vec::new();
        for (field, source) in object.fields.clone() {
            let ty = self.schema.field_cell(field).ty;
            fields.push((field, self.source(source, Some(ty))));
        }
        let mut item_values = Vec::new();
        for (index, tag, source) in object.item_values.clone() {
            let ty = self.element(item, tag);
            item_values.push((index, tag, self.source(source, ty)));
        }
        let mut entries = Vec::new();
        for (key, tag, source) in object.entries.clone() {
            let ty = self.element(entry, tag);
            if let Some(key) = self.value(key, Type::Ref) {
                entries.push((key, tag, self.source(source, ty)));
            }
        }
        let (items, keys) = (object.items, object.keys);
        Virtual { layout: object.layout, fields, items, item_values, keys, entries }
    }

    /// Writes what a new object holds. Cells that its barrier tests come last, so that the other writes find
    /// it as new.
    fn fill(&mut self, object: Value, data: &VirtualData<'_>, snap: SnapId) {
        let layout = self.schema.layout(data.layout);
        let (item, entry) = (layout.items.map(|part| part.element), layout.keys.map(|part| part.element));
        let first = layout.items.map_or(0, |part| part.first);
        let tested = layout.barrier.map(|barrier| self.schema.cell(barrier.object));
        let is_tested = |cell: &Cell| tested.is_some_and(|tested| overlap(cell, tested));
        let mut last = Vec::new();
        for (field, source) in data.fields.clone() {
            let cell = self.schema.field_cell(field);
            let value = self.value(source, cell.ty);
            let write = (Op::Set, Payload::Field(field), None, value);
            match is_tested(cell) {
                true => last.push(write),
                false => self.write(object, write, snap),
            }
        }
        for (index, tag, source) in data.item_values.clone() {
            let value = self.element(item, tag).and_then(|ty| self.value(source, ty));
            let at = self.recorder.constant(Type::Int, (first + i64::from(index)) as u64);
            let payload = Payload::Item { layout: data.layout, tag };
            self.write(object, (Op::PutItem, payload, Some(at), value), snap);
        }
        for (key, tag, source) in data.entries.clone() {
            let value = self.element(entry, tag).and_then(|ty| self.value(source, ty));
            let key = self.value(key, Type::Ref);
            let payload = Payload::Key { layout: data.layout, tag, hint: None };
            self.write(object, (Op::InsertKey, payload, key, value), snap);
        }
        last.into_iter().for_each(|write| self.write(object, write, snap));
    }

    fn write(
        &mut self,
        object: Value,
        (op, payload, place, value): (Op, Payload, Option<Value>, Option<Value>),
        snap: SnapId,
    ) {
        let args: Vec<Value> = [Some(object), place, value].into_iter().flatten().collect();
        let inst = Inst::new(op, &args).with(payload).at(Some(snap)).exit_kind(ExitKind::Guard);
        self.recorder.trace.push(inst, None);
    }
}

/// Whether two cells of an object share a byte.
fn overlap(a: &Cell, b: &Cell) -> bool {
    let end = |cell: &Cell| i64::from(cell.offset) + i64::from(cell.width);
    i64::from(a.offset) < end(b) && i64::from(b.offset) < end(a)
}

#[cfg(test)]
mod tests {
    use tracelift_core::text::{parse_file, print_trace};

    use super::*;
    use crate::ids::{ExitId, ExitPoint, TraceId};
    use crate::recorder::{Limits, Start};

    /// Slot 1 is in place at the exits, slot 2 is not.
    const PARENT: &str = "views slot: @0 class slot\ncell slot.tag: int @8 width 1 class slot.tag\n\
        slot_cells { slot.int, slot.float, slot.ref, slot.addr, tag slot.tag }\nentry [0: int]\nL0(i0):\n\
        i1 = int_add(i0, 1)\ni2 = int_mul(i0, 3)\n@0 = frame[1: int i1, 2: int i2]\nguard_true(i1) @0\n\
        @1 = frame[1: int i1]\nguard_true(i2) @1\n@2 = frame[1: int i1]\nfinish() @2\n";

    #[test]
    fn a_slot_in_place_is_read_without_a_check() {
        let file = parse_file(PARENT, &|_| None).unwrap();
        let schema = file.schema;
        let parent = tracelift_opt::optimize(&file.traces[0], &schema, &Default::default()).unwrap();
        let (state, pool) = (parent.resume.state(0).unwrap(), parent.resume.pool_bits().unwrap());
        let in_place = state.frames().next().unwrap().slots.map(|slot| slot.source == ResumeSource::InPlace);
        assert_eq!(in_place.collect::<Vec<_>>(), [true, false]);

        let limits = Limits { ops: 100, snapshots: 10, frames: 2, discard_at: None, checks: false };
        let memory = [0u8; 64];
        let at = ExitPoint { trace: TraceId(0), exit: ExitId(0) };
        let mut recorder = Recorder::new(1, memory.as_ptr(), limits, Start::Side(at));
        recorder.inherit(&state, &pool, &schema);
        recorder.resume_point(memory.as_ptr(), &[], &[0b111]);
        let int = schema.find_tag("int").unwrap();
        let [one, two] = [1, 2].map(|slot| recorder.read_slot(slot, int, &schema).unwrap());
        recorder.emit(Op::IntAddOvf, &[one, two], Payload::None, ExitKind::Guard, &schema);
        let text = print_trace(&recorder.finish(&schema).unwrap().trace, &schema);
        let expected = "entry_known [1: int]\nentry_cells [0]\nL0(i1, i0):\n\
            @0 = frame[2: int i0]\ni2 = int_add_ovf(i1, i0) @0\nfinish(i0) @0\n";
        assert_eq!(text.split_once('\n').unwrap().1, expected);
    }

    #[test]
    fn a_slot_in_place_has_the_tag_that_the_exit_says() {
        let file = parse_file(PARENT, &|_| None).unwrap();
        let parent = tracelift_opt::optimize(&file.traces[0], &file.schema, &Default::default()).unwrap();
        let limits = Limits { ops: 100, snapshots: 10, frames: 2, discard_at: None, checks: false };
        let at = ExitPoint { trace: TraceId(0), exit: ExitId(0) };
        let mut recorder = Recorder::new(1, std::ptr::null(), limits, Start::Side(at));
        recorder.inherit(&parent.resume.state(0).unwrap(), &[], &file.schema);
        recorder.resume_point(std::ptr::null(), &[], &[0b111]);
        assert_eq!(recorder.read_slot(1, file.schema.find_tag("float").unwrap(), &file.schema), None);
        let (_, sentence) = recorder.failure().unwrap();
        assert_eq!(sentence, "slot 1 is read as float, but the exit has left it as int");
    }
}
