//! The state that compiled code leaves behind: resume data read against the exit buffer.
//!
//! Problem: the resume data's own encoding must be tested, not only the snapshots that it was made from.
//! Design: the decoded state is written as a snapshot over numbered cells, which the evaluator's lifting then
//! makes. Invariant: only what the resume table says is used; the optimized trace's snapshots are not looked
//! at.
//!
//! Example: a slot with source `Buffer(3)` gets the fourth cell of the exit buffer.

use tracelift_core::eval::{frames_at, Fault, FrameState};
use tracelift_core::snapshot::{Frame, Pending, SlotValue, Snapshot, Source, Virtual};
use tracelift_core::world::World;
use tracelift_core::{Bits, Value};
use tracelift_opt::resume::{ResumeSource, ResumeState, ResumeTable};

/// What an exit of compiled code amounts to.
pub struct Lifted {
    /// The recorded snapshot.
    pub origin: Option<u32>,
    /// The results, if the exit is a `finish`.
    pub results: Vec<Bits>,
    /// The host's frames.
    pub frames: Vec<FrameState>,
}

/// Sources as values of a snapshot: the value is an index into `cells`.
struct Cells<'a> {
    buffer: &'a [Bits],
    pool: &'a [Bits],
    cells: Vec<Bits>,
}

impl Cells<'_> {
    fn value(&mut self, source: ResumeSource) -> Result<Value, String> {
        let bits = source.bits(self.buffer, self.pool).ok_or("a key or index that is no value")?;
        self.cells.push(bits);
        Ok(Value(self.cells.len() as u32 - 1))
    }

    fn source(&mut self, source: ResumeSource) -> Result<Source, String> {
        Ok(match source {
            ResumeSource::Nothing => Source::Nothing,
            ResumeSource::InPlace => Source::InPlace,
            ResumeSource::Virtual(index) => Source::Virtual(index),
            _ => Source::Value(self.value(source)?),
        })
    }
}

/// Rebuilds the state at an exit from the exit buffer, in `world`.
pub fn lift(
    table: &ResumeTable,
    exit: u32,
    buffer: &[Bits],
    pool: &[Bits],
    world: &mut World,
) -> Result<Lifted, String> {
    let state = table.state(exit as usize).map_err(|error| error.to_string())?;
    let mut cells = Cells { buffer, pool, cells: Vec::new() };
    let snapshot = snapshot(&state, pool, &mut cells)?;
    let results: Option<Vec<Bits>> = state.results().map(|source| source.bits(buffer, pool)).collect();
    let schema = world.schema();
    let values = |value: Value| cells.cells.get(value.index()).copied().ok_or(Fault::Undefined(value.0));
    let frames = frames_at(&snapshot, &schema, &values, world).map_err(|fault| fault.to_string())?;
    let results = results.ok_or("a result that is no value")?;
    Ok(Lifted { origin: state.origin, results, frames })
}

fn snapshot(state: &ResumeState<'_>, pool: &[Bits], cells: &mut Cells<'_>) -> Result<Snapshot, String> {
    let mut snapshot = Snapshot::default();
    for object in state.virtuals() {
        let mut copy = Virtual {
            layout: object.layout,
            fields: Vec::new(),
            items: object.items,
            item_values: Vec::new(),
            keys: object.keys,
            entries: Vec::new(),
        };
        for (field, source) in object.fields {
            copy.fields.push((field, cells.source(source)?));
        }
        for (index, tag, source) in object.item_values {
            copy.item_values.push((index, tag, cells.source(source)?));
        }
        for (key, tag, source) in object.entries {
            copy.entries.push((cells.value(key)?, tag, cells.source(source)?));
        }
        snapshot.virtuals.push(copy);
    }
    for pending in state.pending() {
        let address = cells.value(pending.address)?;
        let source = cells.source(pending.source)?;
        snapshot.pending.push(Pending { address, cell: pending.cell, source });
    }
    for frame in state.frames() {
        let mut copy = Frame { base: frame.base, ..Frame::default() };
        for word in frame.words {
            copy.words.push(*pool.get(word as usize).ok_or("a word outside the pool")?);
        }
        for slot in frame.slots {
            let source = cells.source(slot.source)?;
            copy.slots.push(SlotValue { slot: slot.slot, tag: slot.tag, source });
        }
        snapshot.frames.push(copy);
    }
    Ok(snapshot)
}
