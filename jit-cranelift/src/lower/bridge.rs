//! `enter_loop`: from a bridge into the second body of the loop that it is one function with.
//!
//! Problem: a bridge may end with objects that do not exist, and the loop has a body that takes them so
//! (`jit-opt/src/bridge.rs`); elsewhere the bridge has to make them. Design: what is passed is computed, tags
//! are looked at that nobody knows, and if they are right the program goes on there; if not it comes to what
//! follows, which makes the objects and goes on at the loop's first label. Slots that the loop has in its
//! arguments need not be written; all others are, also those whose writes waited. Where nobody enters it, no
//! code is made for a second body: nothing leads there.
//!
//! Invariants: a loop that is entered so has stale slots in memory from its second iteration on anyway, and
//! relies on none of them. What follows `enter_loop` finds all as if it were not there. Example:
//!
//! ```text
//! enter_loop(i5)    =>    brif differs, next, way    way: store slot 3, v5; jump second(v4)    next: ...
//! ```

use tracelift_core::ir::EntrySlot;
use tracelift_core::loops::{Entering, Given};
use tracelift_core::ops::Flags;
use tracelift_core::planted::{planted, Bug};
use tracelift_core::snapshot::Source;
use tracelift_core::{Inst, Op};

use super::frame::{Content, Write};
use super::{clif_type, Lowering, Result, Ssa};

impl Lowering<'_, '_, '_> {
    /// If a part begins that nobody comes to: how many instructions it has.
    pub(super) fn unreached(&self, inst: &Inst) -> Option<usize> {
        let second = self.input.request.loops.second.filter(|_| inst.op == Op::Label)?;
        if inst.label() != Some(second) || self.heads[self.number].second.is_some() {
            return None;
        }
        let rest = &self.input.trace.insts[self.index..];
        rest.iter().position(|inst| inst.op.is(Flags::ENDS)).map(|end| end + 1)
    }

    /// Goes on in the second body of the loop, if it is in the same function.
    pub(super) fn enter_loop(&mut self, inst: &Inst) -> Result<()> {
        let input = self.input;
        let to = input.goes_to.filter(|_| input.enters);
        let block = to.and_then(|to| self.heads[to].second);
        let (Some(to), Some(block), Some(entering)) = (to, block, &input.request.loops.entering) else {
            return Ok(());
        };
        // A loop that calls the host finds in memory what it has stored there in the iteration before.
        let is_fit = self.tree[to].frame == input.frame && self.shared.slots.leaves_alone(to);
        if !is_fit || entering.checks.iter().any(|slot| self.waiting_tag(slot) == Some(false)) {
            return Ok(());
        }
        let (values, writes) = (self.passed_to_second(inst, entering, to)?, self.writes_of(inst, entering)?);
        let is_unknown = |slot: &&EntrySlot| !self.has_steady_tag(slot) && self.waiting_tag(slot).is_none();
        let unknown: Vec<EntrySlot> = entering.checks.iter().filter(is_unknown).copied().collect();
        let differs = self.tags_differ(&unknown)?.filter(|_| !planted(Bug::BridgeUnchecked));
        let next = self.b.create_block();
        if let Some(differs) = differs {
            let way = self.b.create_block();
            self.b.brif(differs, next, &[], way, &[]);
            self.b.switch_to_block(way);
        }
        let replaced = self.replaced;
        if !planted(Bug::BridgeUncounted) {
            self.count_end(inst);
        }
        self.write(&writes)?;
        self.arrive(to, block, values);
        self.replaced = replaced;
        self.b.switch_to_block(next);
        self.open = true;
        Ok(())
    }

    /// What is passed for each argument of the second body's label.
    fn passed_to_second(&mut self, inst: &Inst, entering: &Entering, to: usize) -> Result<Vec<Ssa>> {
        let root = self.tree[to];
        let label = root.request.loops.second.and_then(|label| root.trace.labels.get(label.index()));
        let params = label.map_or(&[][..], |label| &label.args[..]);
        if params.len() != entering.given.len() {
            return Err(self.malformed("a second body takes other arguments than it is given"));
        }
        let mut values = Vec::with_capacity(params.len() + 1);
        for (&param, &given) in params.iter().zip(&entering.given) {
            let ty = root.trace.ty(param);
            let value = match given {
                Given::Arg(at) => self.operand(inst, at as usize)?,
                Given::Slot(slot) => self.payload_of(slot, ty)?,
            };
            if self.b.value_type(value) != clif_type(ty) {
                return Err(self.malformed("a second body is given a value of another type"));
            }
            values.push(value);
        }
        if planted(Bug::BridgeArgsReversed) {
            let alike = |at: usize| root.trace.ty(params[at]) == root.trace.ty(params[at - 1]);
            (1..params.len()).filter(|&at| alike(at)).for_each(|at| values.swap(at - 1, at));
        }
        Ok(values)
    }

    /// The writes of slots that the loop relies on.
    fn writes_of(&mut self, inst: &Inst, entering: &Entering) -> Result<Vec<Write>> {
        let (trace, schema) = (self.input.trace, self.input.schema);
        let Some(snapshot) = trace.snapshot_of(inst) else {
            return Err(self.malformed("enter_loop without a snapshot"));
        };
        let carried: Vec<i32> = entering.carried.iter().map(|&slot| self.at(slot)).collect();
        let mut writes = self.waiting.clone();
        writes.retain(|write| !carried.contains(&write.slot));
        for (at, held) in snapshot.slots() {
            let slot = self.at(at);
            match held.source {
                Source::InPlace => continue,
                Source::Nothing => {}
                Source::Value(value) => {
                    // It is computed here, for both ways.
                    self.value(value)?;
                    Write { slot, content: Content::Own(value) }.add_to(&mut writes);
                }
                Source::Virtual(_) => {
                    return Err(self.malformed("enter_loop with a virtual object in a slot"))
                }
            }
            let tag = schema.slots().tag.map(|_| Content::Tag(schema.tag(held.tag).bits));
            tag.into_iter().for_each(|content| Write { slot, content }.add_to(&mut writes));
        }
        for write in &writes {
            if let Content::Own(value) = write.content {
                self.value(value)?;
            }
        }
        Ok(writes)
    }
}
