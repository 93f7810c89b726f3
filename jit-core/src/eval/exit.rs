//! The state at an exit: lifted objects, pending stores, frames; and how two such states are compared.
//!
//! Problem: resume data describes objects that were never made and stores that were put off; the oracle has
//! to make them before it can say what the interpreter would see. Design: in the order that the snapshot's
//! invariant states: all virtual objects are made empty (so that cycles work), then filled in order, then the
//! pending stores are made, then slots are read. Lifting never fails for lack of memory, as a host secures it
//! before entry. Invariant: a snapshot without virtual objects and pending stores changes nothing in the
//! world.
//!
//! Example: two pairs that hold each other are both made empty, then each gets the other's address.

use super::records::{item_place, write};
use super::step::store;
use super::{End, Fault, Outcome};
use crate::ir::{Trace, Value};
use crate::schema::{Schema, TagId};
use crate::snapshot::{Snapshot, Source, Virtual};
use crate::types::{Bits, Type};
use crate::world::compare::{Comparison, Difference};
use crate::world::World;

/// A host frame as the interpreter finds it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FrameState {
    /// Slots from the frame base at entry to this frame's base.
    pub base: i32,
    /// The host's words.
    pub words: Vec<u64>,
    /// Its changed live slots.
    pub slots: Vec<SlotState>,
}

/// What a slot holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SlotState {
    /// Slot number, relative to its frame's base.
    pub slot: i32,
    /// Its tag.
    pub tag: TagId,
    /// Its payload; none for tags without one.
    pub bits: Option<Bits>,
}

/// The bits that a value of the trace has.
type Values<'a> = &'a dyn Fn(Value) -> Result<Bits, Fault>;

/// Rebuilds the interpreter's state at a snapshot: lifts and stores into `world`, and reads the frames.
/// `values` says what the values are that the snapshot mentions; the evaluator's registers, or what compiled
/// code left behind.
pub fn frames_at(
    snapshot: &Snapshot,
    schema: &Schema,
    values: Values<'_>,
    world: &mut World,
) -> Result<Vec<FrameState>, Fault> {
    let mut lifted = Vec::with_capacity(snapshot.virtuals.len());
    for object in &snapshot.virtuals {
        let made = world.make(object.layout, object.items, object.keys);
        lifted.push(made.ok_or(Fault::Malformed("a virtual object that cannot be made"))?);
    }
    let bits = |source: Source| -> Result<Option<Bits>, Fault> {
        match source {
            Source::Nothing => Ok(None),
            Source::InPlace => Err(Fault::Malformed("only a slot can be in place")),
            Source::Value(value) => values(value).map(Some),
            Source::Virtual(index) => {
                let object = lifted.get(index as usize).copied();
                object.map(Some).ok_or(Fault::Malformed("a virtual object that the snapshot has not"))
            }
        }
    };
    for (object, &address) in snapshot.virtuals.iter().zip(&lifted) {
        fill(schema, values, world, object, address, &bits)?;
    }
    for pending in &snapshot.pending {
        let value = bits(pending.source)?.ok_or(Fault::Malformed("a pending store of nothing"))?;
        store(world, values(pending.address)?, schema.cell(pending.cell), value)?;
    }
    snapshot
        .frames
        .iter()
        .map(|frame| {
            let slots = frame.slots.iter().map(|slot| {
                let bits = match slot.source {
                    Source::InPlace => in_place(schema, world, frame.base + slot.slot, slot.tag)?,
                    source => bits(source)?,
                };
                if bits.is_some() != schema.tag(slot.tag).payload.is_some() {
                    return Err(Fault::Malformed("a slot whose tag and payload do not fit"));
                }
                Ok(SlotState { slot: slot.slot, tag: slot.tag, bits })
            });
            Ok(FrameState {
                base: frame.base,
                words: frame.words.to_vec(),
                slots: slots.collect::<Result<_, _>>()?,
            })
        })
        .collect()
}

/// Writes the inputs of a trace that lie in slots to the world's frame, as far as that has such slots. Those
/// of a unit lie nowhere.
pub(super) fn enter(trace: &Trace, schema: &Schema, world: &mut World, inputs: &[Bits]) {
    if trace.unit.is_some() {
        return;
    }
    let layout = schema.slots();
    let in_slots = trace.entry.iter().chain(&trace.entry_known).zip(inputs.iter().map(|&bits| Some(bits)));
    for (slot, bits) in in_slots.chain(trace.entry_tags.iter().map(|slot| (slot, None))) {
        let distance = i64::from(slot.slot) * i64::from(layout.stride);
        let at = world.frame_base().wrapping_add(distance as u64);
        if let Some(bits) = bits {
            world.write(at.wrapping_add(u64::from(layout.payload)), 8, bits);
        }
        if let (Some((offset, width)), Some(tag)) = (layout.tag, schema.tags().get(slot.tag.index())) {
            world.write(at.wrapping_add(u64::from(offset)), width, tag.bits);
        }
    }
}

/// What memory holds in a slot, which must have that tag.
fn in_place(schema: &Schema, world: &World, slot: i32, tag: TagId) -> Result<Option<Bits>, Fault> {
    let (layout, tag) = (schema.slots(), schema.tag(tag));
    let at = world.frame_base().wrapping_add((i64::from(slot) * i64::from(layout.stride)) as u64);
    let read = |offset: u32, width: u8| {
        let address = at.wrapping_add(u64::from(offset));
        world.read(address, width).ok_or(Fault::Wild { address, width })
    };
    if let Some((offset, width)) = layout.tag {
        let mask = u64::MAX >> (64 - u32::from(width) * 8);
        if read(offset, width)? != tag.bits & mask {
            return Err(Fault::Malformed("a slot that is in place has another tag in memory"));
        }
    }
    tag.payload.map(|_| read(layout.payload, 8)).transpose()
}

fn fill(
    schema: &Schema,
    values: Values<'_>,
    world: &mut World,
    object: &Virtual,
    address: Bits,
    bits: &dyn Fn(Source) -> Result<Option<Bits>, Fault>,
) -> Result<(), Fault> {
    let layout = schema.layout(object.layout);
    for &(field, source) in &object.fields {
        let value = bits(source)?.ok_or(Fault::Malformed("a virtual object's field without a value"))?;
        store(world, address, schema.field_cell(field), value)?;
    }
    if let Some(part) = &layout.items {
        for &(index, tag, source) in &object.item_values {
            let index = (part.first + index as i64) as u64;
            let place = item_place(schema, world, object.layout, address, index)?;
            let place = place.ok_or(Fault::Malformed("a virtual object's item outside its capacity"))?;
            write(schema, world, &part.element, tag, place, bits(source)?)?;
        }
    }
    if let Some(part) = &layout.keys {
        for &(key, tag, source) in &object.entries {
            let entry = world.make_entry(object.layout, address, values(key)?);
            let entry = entry.ok_or(Fault::Malformed("a virtual object's entry that cannot be made"))?;
            write(schema, world, &part.element, tag, entry, bits(source)?)?;
        }
    }
    Ok(())
}

/// Compares frames of two runs in two worlds, adding the objects in their slots to the comparison.
pub fn compare_frames(
    walk: &mut Comparison<'_>,
    schema: &Schema,
    left: &[FrameState],
    right: &[FrameState],
) -> Result<(), Difference> {
    if left.len() != right.len() {
        return Err(Difference(format!("number of frames: {} vs {}", left.len(), right.len())));
    }
    for (number, (l, r)) in left.iter().zip(right).enumerate() {
        if (l.base, &l.words) != (r.base, &r.words) {
            let shown = |f: &FrameState| format!("base {} words {:?}", f.base, f.words);
            return Err(Difference(format!("frame {number}: {} vs {}", shown(l), shown(r))));
        }
        let sorted = |frame: &FrameState| {
            let mut slots = frame.slots.clone();
            slots.sort_by_key(|slot| slot.slot);
            slots
        };
        let (l, r) = (sorted(l), sorted(r));
        let shape =
            |slots: &[SlotState]| -> Vec<(i32, TagId)> { slots.iter().map(|s| (s.slot, s.tag)).collect() };
        if shape(&l) != shape(&r) {
            return Err(Difference(format!(
                "slots and tags of frame {number}: {:?} vs {:?}",
                shape(&l),
                shape(&r)
            )));
        }
        for (l, r) in l.iter().zip(&r) {
            if let (Some(ty), Some(a), Some(b)) = (schema.tag(l.tag).payload, l.bits, r.bits) {
                walk.value(ty, a, b, &format_args!("frame {number} slot {}", l.slot))?;
            }
        }
    }
    Ok(())
}

/// Compares two runs' results, frames and worlds. `finish` holds the types of the trace's results.
pub fn compare_outcomes(
    schema: &Schema,
    (left, left_world): (&Outcome, &World),
    (right, right_world): (&Outcome, &World),
    finish: &[Type],
) -> Result<(), Difference> {
    let mut walk = Comparison::new(left_world, right_world)?;
    for outcome in [left, right] {
        let slots = outcome.frames.iter().flat_map(|frame| frame.slots.iter().map(|s| frame.base + s.slot));
        walk.ignore_slots(outcome.mentioned.iter().copied().chain(slots));
    }
    if let (End::Finish(l), End::Finish(r)) = (&left.end, &right.end) {
        if l.len() != r.len() {
            return Err(Difference(format!("number of results: {} vs {}", l.len(), r.len())));
        }
        for (number, ((&l, &r), &ty)) in l.iter().zip(r).zip(finish).enumerate() {
            walk.value(ty, l, r, &format_args!("result {number}"))?;
        }
    }
    if let (End::Returned { tag, bits }, End::Returned { tag: other, bits: others }) = (&left.end, &right.end)
    {
        if tag != other {
            return Err(Difference(format!("tag returned: {} vs {}", tag.0, other.0)));
        }
        if let (Some(ty), Some(&l), Some(&r)) = (schema.tag(*tag).payload, bits.as_ref(), others.as_ref()) {
            walk.value(ty, l, r, &"what is returned")?;
        }
    }
    compare_frames(&mut walk, schema, &left.frames, &right.frames)?;
    walk.finish()
}
