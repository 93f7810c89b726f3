//! Writes of the host's slots that wait, in a region: see `frame.rs` for what it is for.
//!
//! Problem: what a side trace stores early has to be in memory at each of its exits, but in a region most
//! ways come by no exit. Design: such a store is noted; each stub makes those that were noted before it, a
//! side trace that begins at such an exit is passed their payloads with its inputs (tags are constants), and
//! at the end they are made, but for what the loop covers in which the trace goes on. One write takes the
//! place of another to the same part of a slot.
//!
//! Invariant: memory and what waits are, together, what memory would be in a linked trace. A value that waits
//! is known at the exits after it, as traces with an exit have one part. Example: `store(slot 2, i5)`,
//! `guard_true(i6)`, `store(slot 2, i7)`: the guard's stub stores `i5`, the next one's `i7`.

use cranelift_codegen::ir::MemFlagsData;
use tracelift_core::ir::EntrySlot;
use tracelift_core::planted::{planted, Bug};
use tracelift_core::snapshot::Source;
use tracelift_core::{Inst, Payload, Type};

use super::frame::{Content, Write};
use super::values::Def;
use super::{clif_type, int_of_width, Lowering, Result, Ssa};

impl Lowering<'_, '_, '_> {
    /// If this is a store to a slot that may wait, lets it wait.
    pub(super) fn put_off(&mut self, inst: &Inst) -> bool {
        let early = self.shared.slots.early.get(self.number);
        let Some(&slot) = early.and_then(|early| early.get(&self.index)) else { return false };
        let Some(&value) = inst.args.get(1) else { return false };
        let is_tag = self.is_tag_store(inst);
        let content = match self.input.trace.bits_of(value).filter(|_| is_tag) {
            Some(bits) => Content::Tag(bits),
            None => Content::Own(value),
        };
        Write { slot, content }.add_to(&mut self.waiting);
        true
    }

    fn is_tag_store(&self, inst: &Inst) -> bool {
        let tag = self.input.schema.slot_cells().and_then(|cells| cells.tag);
        matches!(inst.payload, Payload::Cell(cell) if Some(cell) == tag)
    }

    /// What is to be written at the end of the trace, after what waits.
    pub(super) fn writes_at_end(&mut self, inst: &Inst) -> Result<Vec<Write>> {
        let (trace, schema) = (self.input.trace, self.input.schema);
        let Some(snapshot) = trace.snapshot_of(inst) else {
            return Err(self.malformed("a link without a snapshot"));
        };
        if !snapshot.virtuals.is_empty() || !snapshot.pending.is_empty() {
            return Err(self.malformed("a link with virtual objects or stores that wait"));
        }
        let mut writes = std::mem::take(&mut self.waiting);
        for (at, held) in snapshot.slots() {
            let slot = self.at(at);
            match held.source {
                Source::InPlace => continue,
                Source::Nothing => {}
                Source::Value(value) => Write { slot, content: Content::Own(value) }.add_to(&mut writes),
                Source::Virtual(_) => return Err(self.malformed("a link with a virtual object")),
            }
            let tag = schema.slots().tag.map(|_| Content::Tag(schema.tag(held.tag).bits));
            tag.into_iter().for_each(|content| Write { slot, content }.add_to(&mut writes));
        }
        Ok(writes)
    }

    /// Makes these writes, but those of slots that are covered where the trace goes on: these wait.
    pub(super) fn write_uncovered(&mut self, writes: Vec<Write>) -> Result<()> {
        let to = self.input.goes_to;
        let is_covered = |write: &Write| self.shared.slots.is_covered(to, write.slot);
        let (covered, rest): (Vec<Write>, Vec<Write>) = writes.into_iter().partition(is_covered);
        self.waiting = covered;
        self.write(&rest)
    }

    /// Makes all writes that wait.
    pub(super) fn write_waiting(&mut self) -> Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        self.write(&waiting)?;
        self.waiting = waiting;
        Ok(())
    }

    pub(super) fn write(&mut self, writes: &[Write]) -> Result<()> {
        let layout = self.input.schema.slots();
        for &Write { slot, content } in writes {
            let own = slot - self.input.frame;
            let (value, part) = match (content, layout.tag) {
                (Content::Own(value), _) => (self.value(value)?, layout.payload),
                (Content::Passed(value), _) => (value, layout.payload),
                (Content::Tag(bits), Some((part, width))) => {
                    let ty = int_of_width(width)
                        .ok_or_else(|| self.malformed("a slot tag has no machine width"))?;
                    let mask = u64::MAX >> (64 - u32::from(width) * 8);
                    (self.b.iconst(ty, (bits & mask) as i64), part)
                }
                (Content::Tag(_), None) => continue,
            };
            let offset = self.slot_offset(own, part)?;
            self.b.store(MemFlagsData::trusted(), value, self.base, offset);
        }
        Ok(())
    }

    /// The payload of a slot, for a value of this type: what waits to be written, what a steady slot was
    /// found to hold, or what memory holds now.
    pub(super) fn payload_of(&mut self, slot: i32, ty: Type) -> Result<Ssa> {
        let ty = clif_type(ty);
        let waiting = self.waiting_payload(slot)?.filter(|_| !planted(Bug::RegionWaitingUnread));
        let steady = self.steady_payload(slot);
        let known = waiting.or(steady);
        // Of another type is what has another tag, and is refused.
        match known.filter(|&value| self.b.value_type(value) == ty) {
            Some(value) => Ok(value),
            None => {
                let offset = self.slot_offset(slot, self.input.schema.slots().payload)?;
                Ok(self.b.load(ty, MemFlagsData::trusted(), self.base, offset))
            }
        }
    }

    /// The payload that waits to be written to a slot.
    fn waiting_payload(&mut self, slot: i32) -> Result<Option<Ssa>> {
        let at = self.at(slot);
        let found = self.waiting.iter().find(|write| write.slot == at && !write.is_tag()).copied();
        Ok(match found.map(|write| write.content) {
            Some(Content::Own(value)) => Some(self.value(value)?),
            Some(Content::Passed(value)) => Some(value),
            Some(Content::Tag(_)) | None => None,
        })
    }

    /// Whether the tag that waits to be written to a slot is this one; `None` if none waits.
    pub(super) fn waiting_tag(&self, slot: &EntrySlot) -> Option<bool> {
        let at = self.at(slot.slot);
        let (_, width) = self.input.schema.slots().tag?;
        let mask = u64::MAX >> (64 - u32::from(width) * 8);
        self.waiting.iter().find_map(|write| match write.content {
            Content::Tag(bits) if write.slot == at => {
                Some((bits ^ self.input.schema.tag(slot.tag).bits) & mask == 0)
            }
            _ => None,
        })
    }

    /// What waits at an exit, with how the values are known there.
    pub(super) fn waiting_at_exit(&self) -> Vec<(Write, Def)> {
        let def = |write: &Write| match write.content {
            Content::Own(value) => self.values.known(value),
            Content::Passed(_) | Content::Tag(_) => Def::Unknown,
        };
        self.waiting.iter().map(|write| (*write, def(write))).collect()
    }

    /// On the way into a side trace: what waits is what waited at the exit.
    pub(super) fn wait_as_at_exit(&mut self, waiting: &[(Write, Def)]) {
        for &(write, def) in waiting {
            if let Content::Own(value) = write.content {
                self.values.restore(value, def);
            }
        }
        self.waiting = waiting.iter().map(|&(write, _)| write).collect();
    }

    /// Gives what waits to a side trace, or writes it. What is passed are the payloads, in order.
    pub(super) fn hand_over(&mut self, side: usize) -> Result<Vec<Ssa>> {
        let takes_over = self.shared.slots.takes_over.get(side) == Some(&true);
        if !takes_over {
            self.write_waiting()?;
            self.waiting.clear();
        }
        let mut passed = Vec::new();
        let mut taken = Vec::new();
        for write in self.waiting.clone() {
            let content = match write.content {
                Content::Own(value) => Content::Passed(self.value(value)?),
                content => content,
            };
            passed.extend(match content {
                Content::Passed(value) => Some(value),
                _ => None,
            });
            taken.push(Write { content, ..write });
        }
        let alike = |(one, other): (&Write, &Write)| match (one.content, other.content) {
            (Content::Tag(one), Content::Tag(other)) if one != other => false,
            _ => (one.slot, one.is_tag()) == (other.slot, other.is_tag()),
        };
        match self.shared.slots.taken.get(&side) {
            Some(before) if before.len() != taken.len() || !before.iter().zip(&taken).all(alike) => {
                Err(self.malformed("other stores wait at another way to the same side trace"))
            }
            _ => {
                self.shared.slots.taken.insert(side, taken);
                Ok(passed)
            }
        }
    }

    /// How many arguments of a side trace's first block are payloads that wait.
    pub(super) fn taken_over(&self) -> usize {
        let taken = self.shared.slots.taken.get(&self.number);
        taken.map_or(0, |taken| taken.iter().filter(|write| !write.is_tag()).count())
    }

    /// In a side trace, which begins: what waits are these payloads, and the tags that it was given.
    pub(super) fn take_over(&mut self, payloads: &[Ssa]) {
        let taken = self.shared.slots.taken.get(&self.number).cloned().unwrap_or_default();
        let mut payloads = payloads.iter().copied();
        self.waiting = taken
            .into_iter()
            .filter_map(|write| match write.content {
                Content::Tag(_) => Some(write),
                _ => payloads.next().map(|value| Write { content: Content::Passed(value), ..write }),
            })
            .collect();
    }
}
