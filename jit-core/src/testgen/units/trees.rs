//! Random trees of traces: a loop, and side traces of its exits and of theirs.
//!
//! Problem: where a program comes from one trace of a tree to another it goes through the host's slots and
//! the exits' values, and each of both may have another tag than the other side wants. Design: the first
//! slots of the frame belong to the loop: each has a kind at its head, and is *steady*, so that no trace
//! writes it, or stands in every snapshot. A side trace is made for an exit of a trace as the optimizer has
//! left it: it takes the exit's values and slots that the exit does not mention, does what traces of units
//! do, and finishes in the state of the loop's head, mostly. Invariant: the loop's counter grows on each way
//! round; a slot with the tag that the head wants holds what it wants.
//!
//! Example: `entry [0: int, 1: float]`, `guard_true(int_lt(i0, 5)) @0 loop_end`, ..., and for its third exit
//! `entry [3: nil]`, `entry_cells [1, 0]`, ..., `finish(i4) @2` with slot 0 as `i4`.

use super::{spec, EntrySlot, Kind, Maker, ModelFrame, Rng, SlotValue, Source, HOMES};
use crate::ir::{Const, ExitKind, Inst, LabelId, Payload, Trace, Value};
use crate::ops::Op;
use crate::schema::{Schema, TagId};
use crate::snapshot::{live_values, Frame, Snapshot, Virtual};
use crate::types::Type;
use crate::world::World;
use crate::world_spec::{SpecValue, WorldSpec};

/// Slots that such traces know.
pub const TREE_SLOTS: usize = 24;

/// Slots of the loop's frame that are live at its head; the first one counts.
const HEAD: usize = 5;

/// A slot as the loop's head wants it.
#[derive(Clone, Copy, PartialEq, Debug)]
struct HeadSlot {
    /// `None`: nil.
    kind: Option<Kind>,
    tag: TagId,
    /// Nobody writes it.
    steady: bool,
    /// The loop reads it at its head.
    read: bool,
    /// The loop neither writes it nor mentions it; its side traces may.
    kept: bool,
}

/// A loop, and a world to run it in.
#[derive(Clone, Debug)]
pub struct TreeCase {
    /// What it was made from.
    pub seed: u64,
    /// The loop's trace, as a recorder would have written it.
    pub root: Trace,
    /// What the frame's slots hold at first.
    pub slots: Vec<(TagId, SpecValue)>,
    /// Its world's objects.
    pub spec: WorldSpec,
    head: [HeadSlot; HEAD],
}

impl TreeCase {
    /// Writes the slots into `world`.
    pub fn enter(&self, world: &mut World, schema: &Schema) {
        let layout = schema.slots();
        for (slot, &(tag, value)) in self.slots.iter().enumerate() {
            let at = world.frame_base() + slot as u64 * u64::from(layout.stride);
            let bits = world.bits(value);
            world.write(at + u64::from(layout.payload), 8, bits).expect("slots lie in the world's frame");
            if let Some((part, width)) = layout.tag {
                let tag = schema.tag(tag).bits;
                world.write(at + u64::from(part), width, tag).expect("slots lie in the world's frame");
            }
        }
    }
}

/// The loop of this seed.
pub fn generate_tree(seed: u64, schema: &Schema) -> TreeCase {
    let mut rng = Rng::new(seed ^ 0x7472_6565);
    let spec = spec::random(&mut rng, schema);
    let head = head(&mut rng, schema);
    let mut slots = Vec::with_capacity(TREE_SLOTS);
    for slot in 0..TREE_SLOTS {
        let other = *rng.pick(&["int", "float", "ref", "nil", "true"]);
        let other = schema.find_tag(other).expect("a standard tag");
        let (tag, kind) = head.get(slot).map_or((other, None), |slot| (slot.tag, slot.kind));
        let value = match (kind, schema.tag(tag).payload) {
            _ if slot == 0 => SpecValue::Bits(0),
            (Some(Kind::Object(layout)), _) => SpecValue::Object(*rng.pick(&spec::objects_of(&spec, layout))),
            (_, Some(Type::Float)) => SpecValue::Bits((rng.below(64) as f64 * 0.5).to_bits()),
            (_, Some(Type::Ref)) => SpecValue::Object(rng.below(6) as u32),
            (_, _) => SpecValue::Bits(rng.below(64)),
        };
        slots.push((tag, value));
    }
    let is_loop = rng.chance(85);
    let mut maker = Maker::of_tree(&mut rng, schema, &format!("tree{seed}"));
    maker.root(&head, is_loop);
    let root = maker.trace;
    TreeCase { seed, root, slots, spec, head }
}

fn head(rng: &mut Rng, schema: &Schema) -> [HeadSlot; HEAD] {
    let tag = |name: &str| schema.find_tag(name).expect("a standard tag");
    let [boxed, pair] = ["BoxedInteger", "Pair"].map(|name| schema.find_layout(name).map(Kind::Object));
    std::array::from_fn(|slot| {
        if slot == 0 {
            return HeadSlot {
                kind: Some(Kind::Int),
                tag: tag("int"),
                steady: false,
                read: true,
                kept: false,
            };
        }
        let kinds = [(Some(Kind::Int), "int"), (Some(Kind::Float), "float"), (boxed, "ref"), (pair, "ref")];
        let (kind, name) = if rng.chance(85) { *rng.pick(&kinds) } else { (None, "nil") };
        let (steady, read) = (rng.chance(35), rng.chance(80));
        HeadSlot { kind, tag: tag(name), steady, read, kept: rng.chance(15) }
    })
}

/// A side trace for this exit of a trace of the tree, which goes back to the loop or ends elsewhere. None may
/// go back where the loop is over. `None` where the exit is no place to begin at: it has virtual arrays, say.
pub fn tree_side(
    seed: u64,
    parent: &Trace,
    exit: u32,
    goes_back: bool,
    case: &TreeCase,
    schema: &Schema,
) -> Option<Trace> {
    let (_, inst) = parent.exits().nth(exit as usize)?;
    let snapshot = parent.snapshot_of(inst)?;
    let is_simple = |object: &Virtual| object.items == 0 && object.keys == 0;
    let is_plain = snapshot.virtuals.iter().all(is_simple);
    let is_fit = |frame: &Frame| frame.slots.iter().all(|slot| (0..HOMES as i32).contains(&slot.slot));
    if !inst.op.is_guard() || !is_plain || !snapshot.frames.iter().all(is_fit) {
        return None;
    }
    let mut rng = Rng::new(seed);
    let mut maker = Maker::of_tree(&mut rng, schema, &format!("{}_{exit}", parent.name));
    maker.inherit(parent, snapshot, &live_values(parent, inst), case);
    // Where it goes back the loop reads what the exit would have written, and memory does not hold it.
    let stale = snapshot.slots().filter(|(_, slot)| goes_back && slot.source != Source::InPlace);
    let stale: Vec<usize> = stale.map(|(slot, _)| slot as usize).collect();
    maker.side(case, goes_back, &stale);
    Some(maker.trace)
}

/// Where an input of a side trace comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Given {
    /// A slot, whose tag is checked.
    Slot,
    /// A slot that the exit has in place.
    Known,
    /// The exit's values.
    Cell(u32),
}

/// An input, or a slot without a payload.
struct Input {
    /// The slot that it is, if it is one.
    at: i32,
    tag: TagId,
    given: Given,
    value: Option<Value>,
}

impl<'a> Maker<'a> {
    fn of_tree(rng: &'a mut Rng, schema: &'a Schema, name: &str) -> Maker<'a> {
        Maker { slots: HOMES, kept: HEAD, ..Maker::new(rng, schema, &[], name) }
    }

    /// The loop; or what goes back to its start by a link only, as what begins where a function is entered.
    fn root(&mut self, head: &[HeadSlot; HEAD], is_loop: bool) {
        let mut args: Vec<Value> = Vec::new();
        self.trace.add_label("L0", &[]);
        self.push_frame();
        for (slot, wanted) in head.iter().enumerate() {
            let entry = EntrySlot { slot: slot as i32, tag: wanted.tag };
            let is_read = wanted.read || !wanted.steady;
            let source = match wanted.kind {
                Some(kind) if is_read => {
                    let arg = self.trace.new_value(kind.ty());
                    self.trace.entry.push(entry);
                    self.vars.push((arg, kind));
                    args.push(arg);
                    Source::Value(arg)
                }
                Some(_) => continue,
                None => {
                    if is_read {
                        self.trace.entry_tags.push(entry);
                    }
                    Source::Nothing
                }
            };
            if !wanted.steady && !wanted.kept {
                self.put(slot, wanted.tag, source);
            }
        }
        let head = &head.map(|slot| HeadSlot { steady: slot.steady || slot.kept, ..slot });
        self.trace.labels[0].args.clone_from(&args);
        self.trace.insts[0].args = args.iter().copied().collect();
        let limit = self.rng.range(3, 9);
        let limit = self.trace.const_int(limit as i64);
        let goes_on = self.pure(Op::IntLt, &[args[0], limit]);
        let snap = self.snapshot();
        let guard = Inst::new(Op::GuardTrue, &[goes_on]).exit_kind(ExitKind::LoopEnd).at(Some(snap));
        self.trace.push(guard, None);
        for _ in 0..self.rng.range(1, 4) {
            self.stretch(head);
        }
        self.close_frames(1);
        self.renew(head);
        self.count(args[0]);
        self.restore(head);
        if !is_loop {
            return self.finish();
        }
        let next = self.trace.entry.clone().into_iter().zip(&args).map(|(entry, &arg)| {
            let home = self.frames[0].homes[entry.slot as usize];
            home.and_then(|home| home.source.value()).unwrap_or(arg)
        });
        let next: Vec<Value> = next.collect();
        self.trace.push(Inst::new(Op::Jump, &next).with(Payload::Label(LabelId(0))), None);
        self.number_edges();
    }

    /// Some operations, then something else in one of the loop's slots.
    fn stretch(&mut self, head: &[HeadSlot; HEAD]) {
        let length = self.rng.range(1, 4);
        self.body(length);
        self.check();
        let slot = self.rng.range(1, HEAD as u64 - 1) as usize;
        if head[slot].steady {
            return;
        }
        match self.rng.chance(20) {
            true => self.put_other(slot),
            false => self.put_wanted(slot, head[slot]),
        }
    }

    /// Puts what the loop's head may not want into a slot.
    fn put_other(&mut self, slot: usize) {
        let (kind, name) =
            *self.rng.pick(&[(Some(Kind::Int), "int"), (Some(Kind::Float), "float"), (None, "nil")]);
        let source = match kind {
            Some(kind) => Source::Value(self.operand(kind)),
            None => Source::Nothing,
        };
        let tag = self.tag(name);
        self.put(slot, tag, source);
    }

    /// Puts what the loop's head wants into a slot.
    fn put_wanted(&mut self, slot: usize, wanted: HeadSlot) {
        let source = match wanted.kind {
            Some(kind) => Source::Value(self.operand(kind)),
            None => Source::Nothing,
        };
        self.put(slot, wanted.tag, source);
    }

    fn put(&mut self, slot: usize, tag: TagId, source: Source) {
        self.frames[0].homes[slot] = Some(SlotValue { slot: slot as i32, tag, source });
        self.snapshot = None;
    }

    /// The inlined functions return, and what only they and the loop's body know is dead.
    fn close_frames(&mut self, left: usize) {
        self.frames.truncate(left);
        self.snapshot = None;
        if left == 1 {
            self.frames[0].homes[HEAD..].fill(None);
        }
    }

    fn count(&mut self, counter: Value) {
        let one = self.trace.const_int(1);
        let next = self.pure(Op::IntAdd, &[counter, one]);
        let tag = self.tag("int");
        self.put(0, tag, Source::Value(next));
    }

    /// Puts new objects into slots, mostly: what goes round may be virtual then.
    fn renew(&mut self, head: &[HeadSlot; HEAD]) {
        let objects = self.rng.chance(50);
        let mut last = None;
        for slot in (1..HEAD).filter(|_| objects) {
            let Some(Kind::Object(layout)) = head[slot].kind.filter(|_| !head[slot].steady) else { continue };
            if self.rng.chance(80) {
                let twin = last.filter(|&(of, _)| of == layout && self.rng.chance(20));
                let object = twin.map_or_else(|| self.new_object_of(layout), |(_, object)| object);
                last = Some((layout, object));
                self.put(slot, head[slot].tag, Source::Value(object));
            }
        }
    }

    /// Each slot that changes gets the tag that the head wants.
    fn restore(&mut self, head: &[HeadSlot; HEAD]) {
        for (slot, &wanted) in head.iter().enumerate().skip(1) {
            let is_right = self.frames[0].homes[slot].is_none_or(|home| home.tag == wanted.tag);
            if !wanted.steady && !is_right {
                self.put_wanted(slot, wanted);
            }
        }
    }

    /// As if each second snapshot stood after the back edge of an inner loop.
    fn number_edges(&mut self) {
        for (number, snapshot) in self.trace.snapshots.iter_mut().enumerate() {
            snapshot.edges = number as u32 / 2;
        }
    }

    /// Begins a side trace with what its exit has.
    fn inherit(&mut self, parent: &Trace, snapshot: &Snapshot, live: &[Value], case: &TreeCase) {
        let mut given = self.given_slots(snapshot, case);
        let mut cells: Vec<u32> = (0..live.len() as u32).collect();
        if self.rng.chance(50) {
            cells.reverse();
        }
        for cell in cells {
            let value = live[cell as usize];
            let named = snapshot.slots().find(|(_, slot)| slot.source == Source::Value(value));
            let (at, tag) = named.map_or((-1, TagId(0)), |(at, slot)| (at, slot.tag));
            given.push(Input { at, tag, given: Given::Cell(cell), value: None });
        }
        let mut inputs = Vec::new();
        for input in &mut given {
            let ty = match input.given {
                Given::Cell(cell) => Some(parent.ty(live[cell as usize])),
                Given::Slot | Given::Known => self.schema.tag(input.tag).payload,
            };
            let slot = EntrySlot { slot: input.at, tag: input.tag };
            match (input.given, ty) {
                (Given::Cell(cell), _) => self.trace.entry_cells.push(cell),
                (_, None) => self.trace.entry_tags.push(slot),
                (Given::Slot, _) => self.trace.entry.push(slot),
                (Given::Known, _) => self.trace.entry_known.push(slot),
            }
            let Some(ty) = ty else { continue };
            let value = self.trace.new_value(ty);
            input.value = Some(value);
            inputs.push(value);
            let head = usize::try_from(input.at).ok().and_then(|at| case.head.get(at));
            let kind = match (ty, head.filter(|head| head.tag == input.tag).and_then(|head| head.kind)) {
                (Type::Int, _) => Kind::Int,
                (Type::Float, _) => Kind::Float,
                (_, Some(kind)) => kind,
                (ty, None) => Kind::Any(ty),
            };
            self.vars.push((value, kind));
        }
        self.trace.add_label("L0", &inputs);
        let objects = self.rebuild(parent, snapshot, live, &given);
        for frame in &snapshot.frames {
            let mut homes = [None; HOMES];
            for slot in &frame.slots {
                let source = match slot.source {
                    Source::Virtual(index) => Some(Source::Value(objects[index as usize])),
                    source => self.source(parent, frame.base + slot.slot, source, live, &given),
                };
                homes[slot.slot as usize] = source.map(|source| SlotValue { source, ..*slot });
            }
            let words = [frame.words[0], frame.words[1]];
            self.frames.push(ModelFrame { base: frame.base, words, homes });
        }
        self.peek(snapshot);
        let read = given.iter().find(|input| input.at == 0 && input.given == Given::Slot);
        if let Some(counter) = read.and_then(|input| input.value) {
            self.put(0, case.head[0].tag, Source::Value(counter));
        }
    }

    /// Makes the objects that the exit leaves virtual, and then its stores, as a recorder does: up to there
    /// the trace leaves to the exit's own state.
    fn rebuild(
        &mut self,
        parent: &Trace,
        snapshot: &Snapshot,
        live: &[Value],
        given: &[Input],
    ) -> Vec<Value> {
        if snapshot.virtuals.is_empty() && snapshot.pending.is_empty() {
            return Vec::new();
        }
        let mut own = Snapshot { origin: 0, position: 1, edges: 0, ..snapshot.clone() };
        for frame in &mut own.frames {
            frame.slots.retain(|slot| slot.source != Source::InPlace);
        }
        own.map_values(|value| match self.source(parent, 0, Source::Value(value), live, given) {
            Some(Source::Value(value)) => value,
            _ => unreachable!("all values of the exit are given"),
        });
        let snap = Some(self.trace.add_snapshot(own.clone()));
        let mut objects = Vec::new();
        for object in &own.virtuals {
            let new = Payload::New { layout: object.layout, items: 0, keys: 0 };
            let made = self.push(Inst::new(Op::New, &[]).with(new).at(snap)).expect("new has a result");
            self.vars.push((made, Kind::Object(object.layout)));
            objects.push(made);
        }
        let value = |source: Source| match source {
            Source::Virtual(index) => objects[index as usize],
            source => source.value().expect("cells hold values"),
        };
        for (number, object) in own.virtuals.iter().enumerate() {
            for &(field, source) in &object.fields {
                let set = Inst::new(Op::Set, &[objects[number], value(source)]);
                self.push(set.with(Payload::Field(field)).at(snap));
            }
        }
        for store in &own.pending {
            let made = Inst::new(Op::Store, &[store.address, value(store.source)]);
            self.push(made.with(Payload::Cell(store.cell)));
        }
        objects
    }

    /// Slots that a side trace reads from memory: those in place, the counter if it is not among the exit's
    /// values, and others, some with a tag that they have not. Those that are checked come first.
    fn given_slots(&mut self, snapshot: &Snapshot, case: &TreeCase) -> Vec<Input> {
        let mut given: Vec<Input> = Vec::new();
        let mut named: Vec<i32> = snapshot.slots().map(|(at, _)| at).collect();
        if !named.contains(&0) {
            named.push(0);
            given.push(Input { at: 0, tag: case.head[0].tag, given: Given::Slot, value: None });
        }
        for _ in 0..self.rng.below(4) {
            let slot = self.rng.below(TREE_SLOTS as u64) as i32;
            let tag = match self.rng.below(20) {
                0 => self.tag("float"),
                1 => self.tag("true"),
                _ => case.slots[slot as usize].0,
            };
            if !named.contains(&slot) {
                named.push(slot);
                given.push(Input { at: slot, tag, given: Given::Slot, value: None });
            }
        }
        for (at, slot) in snapshot.slots().filter(|(_, slot)| slot.source == Source::InPlace) {
            let has_payload = self.schema.tag(slot.tag).payload.is_some();
            if has_payload && (at == 0 || self.rng.chance(60)) {
                given.push(Input { at, tag: slot.tag, given: Given::Known, value: None });
            }
        }
        given
    }

    /// What a slot of the exit is in the side trace; `None` if memory alone knows it.
    fn source(
        &mut self,
        parent: &Trace,
        at: i32,
        source: Source,
        live: &[Value],
        given: &[Input],
    ) -> Option<Source> {
        let input = |given: Option<&Input>| given.and_then(|input| input.value).map(Source::Value);
        match source {
            Source::Value(value) => match parent.constant_of(value) {
                Some(constant) => Some(Source::Value(self.trace.constant(parent.ty(value), constant))),
                None => {
                    let cell = live.iter().position(|&of| of == value)? as u32;
                    input(given.iter().find(|input| input.given == Given::Cell(cell)))
                }
            },
            Source::InPlace => {
                input(given.iter().find(|input| input.at == at && input.given == Given::Known))
            }
            Source::Nothing | Source::Virtual(_) => Some(source),
        }
    }

    /// A side trace from its label on.
    fn side(&mut self, case: &TreeCase, goes_back: bool, stale: &[usize]) {
        let counter = self.frames[0].homes[0].and_then(|home| home.source.value());
        for _ in 0..self.rng.range(0, 3) {
            self.stretch(&case.head);
        }
        if self.rng.chance(25) {
            self.spoil(case);
        }
        let is_deep = !goes_back && self.rng.chance(30);
        self.close_frames(if is_deep { self.frames.len().min(2) } else { 1 });
        if goes_back {
            self.renew(&case.head);
        }
        match counter {
            Some(counter) => self.count(counter),
            None => unreachable!("the counter is given"),
        }
        self.restore(&case.head);
        for slot in 1..HEAD {
            match self.rng.below(40) {
                // Memory has it, or what it held before.
                0..=2 if !stale.contains(&slot) => self.frames[0].homes[slot] = None,
                3..=4 if !case.head[slot].steady => {
                    self.put_other(slot);
                }
                _ => {}
            }
        }
        self.finish();
    }

    /// Ends the trace here. What the slots hold goes on to other code: objects among it have to be real.
    fn finish(&mut self) {
        self.snapshot = None;
        let snap = self.snapshot();
        let slots = self.trace.snapshots[snap.index()].slots();
        let values: Vec<Value> = slots.filter_map(|(_, slot)| slot.source.value()).collect();
        self.trace.push(Inst::new(Op::Finish, &values).at(Some(snap)), None);
        self.number_edges();
    }

    /// Loads slots that the exit has in place and does not pass, where slots may be accessed: the parent may
    /// have stored them early.
    fn peek(&mut self, snapshot: &Snapshot) {
        let Some(cells) = self.schema.slot_cells().map(|cells| cells.value) else { return };
        for (at, slot) in snapshot.slots().filter(|(_, slot)| slot.source == Source::InPlace) {
            let kind = match self.schema.tag(slot.tag).payload {
                Some(Type::Int) => Kind::Int,
                Some(Type::Float) => Kind::Float,
                _ => continue,
            };
            if self.rng.chance(70) {
                continue;
            }
            let place = self.slot_place(at as usize);
            let cell = Payload::Cell(cells[kind.ty() as usize]);
            let loaded = self.push(Inst::new(Op::Load, &[place]).with(cell)).expect("an op with a result");
            self.vars.push((loaded, kind));
        }
    }

    /// The address of a slot.
    fn slot_place(&mut self, slot: usize) -> Value {
        let base = self.pure(Op::FrameBase, &[]);
        let index = self.trace.const_int(slot as i64);
        let scale = Payload::Scale { stride: self.schema.slots().stride, offset: 0 };
        self.push(Inst::new(Op::ItemAddr, &[base, index]).with(scale)).expect("an op with a result")
    }

    /// Writes the tag of a steady slot in memory, as a host may do in a call.
    fn spoil(&mut self, case: &TreeCase) {
        let Some(cell) = self.schema.slot_cells().and_then(|cells| cells.tag) else { return };
        let steady: Vec<usize> = (1..HEAD).filter(|&slot| case.head[slot].steady).collect();
        if steady.is_empty() {
            return;
        }
        let slot = *self.rng.pick(&steady);
        let name = *self.rng.pick(&["int", "float", "nil"]);
        let tag = self.schema.tag(self.tag(name)).bits;
        // What else may hold a reference must not be taken for one.
        let is_object = matches!(case.head[slot].kind, Some(Kind::Object(_)));
        let tag = if is_object { self.schema.tag(self.tag("nil")).bits } else { tag };
        let place = self.slot_place(slot);
        let tag = self.trace.constant(Type::Int, Const::Bits(tag));
        self.push(Inst::new(Op::Store, &[place, tag]).with(Payload::Cell(cell)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testbed::schema_with_slots;
    use crate::verify::{verify, Mode};

    #[test]
    fn trees_are_deterministic_and_verify() {
        let schema = schema_with_slots();
        let mut sides = 0;
        for seed in 0..300 {
            let [case, same] = [(); 2].map(|()| generate_tree(seed, &schema));
            assert_eq!((&case.root, &case.slots), (&same.root, &same.slots), "seed {seed}");
            let mut traces = vec![case.root.clone()];
            for exit in 0..case.root.exits().count() as u32 {
                let of = |case: &TreeCase| tree_side(seed, &case.root, exit, exit % 2 == 0, case, &schema);
                let made = of(&case);
                assert_eq!(made, of(&same), "seed {seed}");
                traces.extend(made);
            }
            sides += traces.len() - 1;
            for trace in &traces {
                let errors = verify(trace, &schema, Mode::Recorded);
                let text = || crate::text::print_trace_in(trace, &schema, &case.spec);
                assert!(errors.is_empty(), "seed {seed}: {}\n{}", errors[0], text());
            }
        }
        assert!(sides > 1000, "{sides}");
    }
}
