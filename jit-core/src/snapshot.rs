//! Snapshots and resume data: the interpreter's state at a guard, as a function of the trace's values.
//!
//! Problem: compiled code keeps the host's variables in registers, and objects that were never made in
//! nothing at all; when a guard fails the interpreter must find everything as if it had run every instruction
//! itself. Design: a snapshot lists the host's frames, outermost first, each with opaque host words
//! (function, resume pc, …) and its changed live slots. The optimizer turns a snapshot into the *resume data*
//! of one guard by adding the virtual objects that it mentions and the stores still pending there. A recorded
//! snapshot has neither. A slot that the trace has written already, as the interpreter would have, is *in
//! place*: the snapshot still says its tag, and nobody writes it.
//!
//! Invariant: lifting the virtual objects in order, making the pending stores in order and then writing the
//! slots rebuilds the state that the unoptimized trace has at the snapshot [`Snapshot::origin`]. A slot that
//! a snapshot does not mention holds what memory has there since the entry, or is dead: so is one that an
//! earlier snapshot of a trace without loop has mentioned, unless a call of the host has written it since.

use rustc_hash::FxHashSet as HashSet;

use smallvec::SmallVec;

use crate::ir::{Inst, Trace, Value};
use crate::schema::{CellId, FieldId, LayoutId, TagId};

/// Where the interpreter goes on when a guard fails.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Snapshot {
    /// The number of the recorded snapshot that this one comes from (its own number in a recorded trace).
    pub origin: u32,
    /// In a recorded trace: the index of the instruction before which the snapshot was taken.
    pub position: u32,
    /// Back edges that the program has passed up to here without a jump of the trace's: since the loop's
    /// head, or the side trace's start. Inner loops that were recorded as they ran pass them.
    pub edges: u32,
    /// Host frames, outermost first.
    pub frames: Vec<Frame>,
    /// Objects that exist only here; [`Source::Virtual`] names them by index. Cycles are allowed.
    pub virtuals: Vec<Virtual>,
    /// Stores into real objects that the trace has not made yet, in order.
    pub pending: Vec<Pending>,
}

/// A frame's words; those of the Lua host have room without an allocation.
pub type Words = SmallVec<[u64; 5]>;

/// One host frame.
#[derive(PartialEq, Eq, Hash, Debug, Default)]
pub struct Frame {
    /// Slots from the frame base at entry to this frame's base.
    pub base: i32,
    /// The host's words, handed back as they are: as many as the schema says.
    pub words: Words,
    /// Changed live slots.
    pub slots: Vec<SlotValue>,
}

impl Clone for Frame {
    /// As derived, but words are copied at once and not one by one.
    fn clone(&self) -> Frame {
        Frame { base: self.base, words: Words::from_slice(&self.words), slots: self.slots.clone() }
    }
}

/// What a slot holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SlotValue {
    /// Slot number, relative to its frame's base.
    pub slot: i32,
    /// The tag to write.
    pub tag: TagId,
    /// The payload; nothing for tags without one.
    pub source: Source,
}

/// Where a payload comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Source {
    /// No payload: the tag says it all.
    Nothing,
    /// A value of the trace.
    Value(Value),
    /// A virtual object of the same snapshot, by index.
    Virtual(u32),
    /// Memory holds tag and payload already. Only of slots, and in no recorded trace.
    InPlace,
}

impl Source {
    /// The value of the trace that it is.
    pub fn value(self) -> Option<Value> {
        match self {
            Source::Value(value) => Some(value),
            _ => None,
        }
    }
}

/// An object that was never made: its layout and what it would hold (a *static object* of seed 002, section
/// 5).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Virtual {
    /// Its layout.
    pub layout: LayoutId,
    /// Fields that were set.
    pub fields: Vec<(FieldId, Source)>,
    /// Capacity of the indexed part, and the items that were set: index (counted from the part's first), tag,
    /// payload.
    pub items: u32,
    /// The items set.
    pub item_values: Vec<(u32, Option<TagId>, Source)>,
    /// Capacity of the keyed part.
    pub keys: u32,
    /// Entries in insertion order: key (a constant), tag, payload.
    pub entries: Vec<(Value, Option<TagId>, Source)>,
}

/// A store that the trace has put off, since what it stores does not exist.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Pending {
    /// Where it is stored: an address or a real object.
    pub address: Value,
    /// The cell there.
    pub cell: CellId,
    /// What is stored.
    pub source: Source,
}

impl Snapshot {
    /// The slots of all frames, counted from the frame base at entry.
    pub fn slots(&self) -> impl Iterator<Item = (i32, &SlotValue)> {
        let of = |frame: &Frame, slot: &SlotValue| frame.base.saturating_add(slot.slot);
        self.frames.iter().flat_map(move |frame| frame.slots.iter().map(move |slot| (of(frame, slot), slot)))
    }

    /// The slots of all frames but the last, which is that of a unit that is called: its slots are its own.
    fn callers(&self) -> impl Iterator<Item = &SlotValue> {
        let callers = self.frames.split_last().map_or(&[][..], |(_, callers)| callers);
        callers.iter().flat_map(|frame| &frame.slots)
    }

    /// Calls `f` with every value of the trace that the snapshot mentions, constants included, in a fixed
    /// order: frames, virtual objects, pending stores. Values can come more than once.
    pub fn for_each_value(&self, mut f: impl FnMut(Value)) {
        let mut source = |s: &Source| s.value().into_iter().for_each(&mut f);
        self.frames.iter().flat_map(|frame| &frame.slots).for_each(|slot| source(&slot.source));
        for object in &self.virtuals {
            object.fields.iter().for_each(|(_, s)| source(s));
            object.item_values.iter().for_each(|(_, _, s)| source(s));
            object.entries.iter().for_each(|(_, _, s)| source(s));
        }
        self.pending.iter().for_each(|store| source(&store.source));
        self.virtuals.iter().flat_map(|object| &object.entries).for_each(|&(key, _, _)| f(key));
        self.pending.iter().for_each(|store| f(store.address));
    }

    /// Replaces every value that the snapshot mentions, in the order of [`Snapshot::for_each_value`].
    pub fn map_values(&mut self, mut f: impl FnMut(Value) -> Value) {
        let mut source = |s: &mut Source| {
            if let Source::Value(value) = s {
                *value = f(*value);
            }
        };
        for slot in self.frames.iter_mut().flat_map(|frame| &mut frame.slots) {
            source(&mut slot.source);
        }
        for object in &mut self.virtuals {
            object.fields.iter_mut().for_each(|(_, s)| source(s));
            object.item_values.iter_mut().for_each(|(_, _, s)| source(s));
            object.entries.iter_mut().for_each(|(_, _, s)| source(s));
        }
        self.pending.iter_mut().for_each(|store| source(&mut store.source));
        for object in &mut self.virtuals {
            object.entries.iter_mut().for_each(|(key, _, _)| *key = f(*key));
        }
        self.pending.iter_mut().for_each(|store| store.address = f(store.address));
    }
}

/// The values that an exit stores to the exit buffer, in buffer order: a `finish`'s arguments first, then
/// each value that the snapshot mentions, once, constants left out. Lowering (which stores them) and resume
/// data (which finds them) both use this order.
pub fn live_values(trace: &Trace, inst: &Inst) -> Vec<Value> {
    let mut live: Vec<Value> = Vec::with_capacity(16);
    let mut seen = HashSet::default();
    // A linear scan beats a hash set at the sizes seen (tens of values); deep graphs of virtual objects need
    // the set.
    let mut add = |value: Value| {
        let few = live.len() < 64;
        if trace.constant_of(value).is_some() || (few && live.contains(&value)) {
            return;
        }
        if live.len() == 64 && seen.is_empty() {
            seen.extend(live.iter().copied());
        }
        if few || seen.insert(value) {
            live.push(value);
        }
    };
    if inst.op == crate::Op::Finish {
        inst.args.iter().for_each(|&arg| add(arg));
    }
    if let Some(snapshot) = trace.snapshot_of(inst) {
        match inst.op {
            // Such a snapshot has neither virtual objects nor stores that wait.
            crate::Op::CallUnit => {
                snapshot.callers().for_each(|slot| slot.source.value().into_iter().for_each(&mut add))
            }
            _ => snapshot.for_each_value(add),
        }
    }
    live
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_and_mapping_meet_values_in_one_order() {
        let v = |n| Source::Value(Value(n));
        let slot = SlotValue { slot: 0, tag: TagId(0), source: v(1) };
        let object = Virtual {
            layout: LayoutId(0),
            fields: vec![(FieldId(0), v(2)), (FieldId(1), Source::Virtual(0))],
            items: 1,
            item_values: vec![(0, None, v(3))],
            keys: 1,
            entries: vec![(Value(4), None, v(5))],
        };
        let store = Pending { address: Value(6), cell: CellId(0), source: v(7) };
        let mut snapshot = Snapshot {
            frames: vec![Frame { slots: vec![slot], ..Frame::default() }],
            virtuals: vec![object],
            pending: vec![store],
            ..Snapshot::default()
        };
        let (mut read, mut mapped) = (Vec::new(), Vec::new());
        snapshot.for_each_value(|value| read.push(value.0));
        snapshot.map_values(|value| {
            mapped.push(value.0);
            value
        });
        assert_eq!(read, mapped);
        assert_eq!(read, [1, 2, 3, 5, 7, 4, 6]);
    }
}
