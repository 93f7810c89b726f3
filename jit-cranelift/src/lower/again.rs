//! A preamble that is passed again, from a bridge, does only what may have changed.
//!
//! Problem: a side trace of a peeled loop goes back to the loop's first label, and so through the preamble,
//! which tests and loads again what the loop has known since its entry: a third of the instructions of a way
//! that is taken every other time. The peeled loop itself cannot be entered there, as it relies on all that
//! the preamble has found. Design: where a tree is one function, the preamble of its first trace is lowered
//! twice. Side traces that begin after it go on in its second copy, where what is *steady* is left out:
//! operations on constants, on inputs from slots that no trace of the function writes, and on steady values;
//! loads from such addresses of memory that no instruction of the function writes; guards on steady values.
//! Their values are those of the first copy, in registers: whoever comes to the second one has come through
//! all of the first. Side traces that begin in the preamble are made twice as well, for their exits in either
//! copy; those of the second one come back to it.
//!
//! What such a side trace does itself that the preamble has done, with the same steady values, is left out.
//!
//! Invariant: the second copy does to values, memory and exits what the first would do there. So all that the
//! peeled loop takes for granted holds, whatever it is. What is steady is decided in one place ([`Again`]).
//!
//! Example: `L0(p0, i1): i2 = load(p0, table.count) i3 = uint_lt(i1, i2) guard_true(i3) ... jump(L1, ...)`,
//! where nobody writes `table.count` and `p0` comes from a steady slot, is `again(i1): guard_true(i1 < i2)
//! ... jump(L1, ...)` for those who come again.

use crate::lir::Builder;
use cranelift_codegen::ir::Block;
use tracelift_core::effects::{CellAccess, Memory};
use tracelift_core::ir::EntrySlot;
use tracelift_core::ops::Flags;
use tracelift_core::planted::{planted, Bug};
use tracelift_core::schema::ClassId;
use tracelift_core::slot_memory::SlotMemory;
use tracelift_core::{Const, ExitKind, Inst, Op, Payload, Trace, Type, Value};

use super::checks::{Groups, Role};
use super::frame::{slot_classes, Slots};
use super::region::{counts_replaced, label_block};
use super::values::{Def, Values};
use super::{Input, Lowering, Result};

/// Instructions that have to be left out for a second copy to be worth it.
const LEAST_LEFT_OUT: usize = 4;
/// Operations of side traces that are made twice at most, and where tests want both cases. If there are more,
/// exits of both copies lead to the same ones.
const MOST_COPIED: [usize; 2] = [300, 60];

/// The second copy of a preamble.
pub(super) struct Again {
    /// Its number among the traces of the function.
    number: usize,
    /// The position of the jump that ends it.
    end: usize,
    /// By instruction: whether it is left out.
    left_out: Vec<bool>,
    /// By input of the trace: whether it is steady, and not passed.
    pub inputs: Vec<bool>,
    /// Where it begins, if anybody goes there.
    block: Option<Block>,
    /// How steady values are known at the end of the first copy.
    known: Vec<(Value, Def)>,
    /// The blocks of the trace's labels.
    labels: Vec<(Block, bool)>,
    /// By trace: what it does that the preamble has done, and whether it begins after the preamble.
    done: Vec<Done>,
    after: Vec<bool>,
}

impl Again {
    /// If the first trace's preamble is worth a second copy, adds that to the traces of the function, and
    /// those that are made twice.
    pub(super) fn plan(tree: &mut Vec<Input<'_>>, slots: &mut Slots) -> Option<Again> {
        let root = *tree.first()?;
        let is_loop = root.trace.insts.first().is_some_and(|first| first.op == Op::Label);
        // A second body is entered from exits of the preamble, too.
        let has_second = root.request.loops.second.is_some() && tree.iter().any(|input| input.enters);
        if tree.len() < 2 || root.trace.unit.is_some() || !is_loop || has_second {
            return None;
        }
        let end = root.trace.insts.iter().position(|inst| inst.op == Op::Jump)?;
        // Each side trace of the first trace, and of those: whether the way there passes the preamble.
        let mut after: Vec<Option<bool>> = vec![None];
        for input in &tree[1..] {
            after.push(input.parent.and_then(|(parent, exit)| match parent {
                0 => root.exits.get(exit as usize).map(|exit| exit.inst > end),
                _ => *after.get(parent)?,
            }));
        }
        let goes_back = |&at: &usize| after[at] == Some(true) && tree[at].goes_to == Some(0);
        (1..tree.len()).find(goes_back)?;
        let steady = Steady::find(tree, slots, end)?;
        let plain = steady.plain();
        // By those that begin in the preamble, if their copies do.
        let done = tree.iter().zip(&after).map(|(input, &after)| match after {
            Some(_) => steady.done_by(input, &plain),
            None => Done::default(),
        });
        let done = done.collect();
        let mut again = steady.again(tree.len(), done);
        again.add_copies(tree, slots, &after);
        Some(again)
    }

    /// Adds the copy of the preamble and those of its side traces, and says who goes on in the former.
    fn add_copies(&mut self, tree: &mut Vec<Input<'_>>, slots: &mut Slots, after: &[Option<bool>]) {
        let count = self.number;
        self.after = after.iter().map(|&after| after == Some(true)).collect();
        for (input, &after) in tree.iter_mut().zip(&self.after) {
            input.again = input.goes_to == Some(0) && after;
        }
        tree.push(Input { copy_of: Some(0), goes_to: None, ..tree[0] });
        slots.copy(0);
        let ops = |at: usize| tree[at].trace.op_count();
        let twice = (1..count).filter(|&at| after[at] == Some(false));
        let most = MOST_COPIED[usize::from(tree[0].environment.always_again)];
        if twice.clone().map(ops).sum::<usize>() > most {
            return;
        }
        let twice: Vec<usize> = twice.collect();
        for &at in &twice {
            let input = tree[at];
            let copy = |parent: usize| match parent {
                0 => count,
                _ => count + 1 + twice.iter().position(|&of| of == parent).unwrap_or_default(),
            };
            let parent = input.parent.map(|(parent, exit)| (copy(parent), exit));
            tree.push(Input { parent, copy_of: Some(at), again: input.goes_to == Some(0), ..input });
            slots.copy(at);
        }
    }

    /// What a trace of the function does that the preamble has done, if it begins after that.
    fn done_in(&self, number: usize, copy_of: Option<usize>) -> Option<&Done> {
        let is_after = copy_of.is_some() || self.after.get(number) == Some(&true);
        self.done.get(copy_of.unwrap_or(number)).filter(|_| is_after)
    }

    /// Whether this trace of the function is it, and nobody goes there.
    pub(super) fn is_unused(&self, number: usize) -> bool {
        self.number == number && self.block.is_none()
    }

    /// The block in which it begins.
    pub(super) fn block(&mut self, b: &mut Builder<'_>, tree: &[Input<'_>]) -> Block {
        let trace = tree[0].trace;
        let steady = self.inputs.iter().zip(trace.inputs());
        let args: Vec<Value> = steady.filter(|(&steady, _)| !steady).map(|(_, &input)| input).collect();
        *self.block.get_or_insert_with(|| label_block(b, trace, &args, 0, counts_replaced(tree, 0)))
    }
}

/// What is steady in the first trace of a function, up to the end of its preamble.
struct Steady<'t, 'a> {
    tree: &'t [Input<'a>],
    slots: &'t Slots,
    trace: &'a Trace,
    end: usize,
    /// What instructions of the function write.
    written: Memory<'a>,
    /// The classes of slots, which are also written where traces end.
    slot_classes: Vec<ClassId>,
    values: Vec<bool>,
    left_out: Vec<bool>,
}

impl<'t, 'a> Steady<'t, 'a> {
    /// `None` if too little is, or if it may not be kept.
    fn find(tree: &'t [Input<'a>], slots: &'t Slots, end: usize) -> Option<Steady<'t, 'a>> {
        let root = tree[0];
        let mut written = Memory::NOTHING;
        for inst in tree.iter().flat_map(|input| &input.trace.insts) {
            let effects = inst.effects(root.schema);
            // What collects may move what is known.
            if effects.collects || matches!(inst.payload, Payload::Unit { .. }) {
                return None;
            }
            written.add(&effects.writes);
        }
        let mut steady = Steady {
            tree,
            slots,
            trace: root.trace,
            end,
            written,
            slot_classes: slot_classes(root.schema),
            values: root.trace.values.iter().map(|data| data.constant.is_some()).collect(),
            left_out: vec![false; end + 1],
        };
        steady.walk()?;
        let count = steady.left_out.iter().filter(|&&out| out).count();
        let least = if root.environment.always_again { 1 } else { LEAST_LEFT_OUT };
        (count >= least).then_some(steady)
    }

    fn walk(&mut self) -> Option<()> {
        let (trace, schema) = (self.trace, self.tree[0].schema);
        let entry = trace.entry.iter().chain(&trace.entry_known);
        for (slot, input) in entry.zip(trace.inputs()) {
            self.values[input.index()] = self.slots.is_steady(slot.slot);
        }
        let mut memory = SlotMemory::of_places(schema)?;
        for (index, inst) in trace.insts[..self.end].iter().enumerate().skip(1) {
            let is_straight =
                !matches!(inst.op, Op::Label | Op::JumpIf | Op::EnterLoop | Op::GuardAlwaysFails);
            is_straight.then_some(())?;
            memory.step(trace, inst);
            let stays = inst.args.iter().all(|arg| self.values[arg.index()]) || planted(Bug::AgainUnasked);
            self.left_out[index] = stays && self.may_be_left_out(inst, &memory);
            if let Some(result) = inst.result {
                self.values[result.index()] = self.left_out[index];
            }
        }
        keep_groups(&self.tree[0], &mut self.left_out);
        Some(())
    }

    /// Whether an instruction on steady values does, and finds, the same each time.
    fn may_be_left_out(&self, inst: &Inst, memory: &SlotMemory<'_>) -> bool {
        let schema = self.tree[0].schema;
        if let Some(CellAccess { cell, stored: None, .. }) = CellAccess::of(inst, schema) {
            let cell = schema.cell(cell);
            let is_of_slot = self.slot_classes.contains(&cell.class);
            let is_written = self.written.contains(cell.class) && !planted(Bug::AgainWritten);
            return inst.op == Op::Load
                && !cell.volatile
                && match memory.access(inst) {
                    Some((part, _)) => {
                        let is_steady = part.slot().is_some_and(|slot| self.slots.is_steady(slot));
                        is_steady && (is_of_slot || !is_written)
                    }
                    None => !is_of_slot && (cell.immutable || !is_written),
                };
        }
        match inst.op {
            Op::GuardTrue | Op::GuardFalse | Op::GuardValue | Op::GuardNull | Op::GuardNonnull => {
                !matches!(inst.exit, ExitKind::Interrupt | ExitKind::Collect)
            }
            Op::Context | Op::FrameBase => true,
            op => {
                op.is(Flags::PURE)
                    && !op.is_guard()
                    && matches!(inst.payload, Payload::None | Payload::Scale { .. })
            }
        }
    }

    fn again(self, number: usize, done: Vec<Done>) -> Again {
        let inputs = self.trace.inputs().iter().map(|input| self.values[input.index()]).collect();
        let Steady { end, left_out, .. } = self;
        let after = vec![false; number];
        Again {
            number,
            end,
            left_out,
            inputs,
            block: None,
            known: Vec::new(),
            labels: Vec::new(),
            done,
            after,
        }
    }
}

/// Of checks that are made together all are left out, or none.
fn keep_groups(input: &Input<'_>, left_out: &mut [bool]) {
    if !left_out.contains(&true) {
        return;
    }
    let groups = Groups::find(input.trace, input.schema, &input.trace.exit_numbers());
    keep_whole(|index| groups.role(index), left_out);
}

/// The same by the roles of instructions. What is made by others of its group may come after the guard that
/// makes the group's branch.
fn keep_whole(role: impl Fn(usize) -> Role, left_out: &mut [bool]) {
    let mut group: Vec<usize> = Vec::new();
    let mut is_over = false;
    let keep = |group: &mut Vec<usize>, left_out: &mut [bool]| {
        let is_whole = group.iter().all(|&at| left_out[at]);
        group.drain(..).for_each(|at| left_out[at] &= is_whole);
    };
    for index in 0..left_out.len() {
        let role = role(index);
        match role {
            Role::Alone => continue,
            Role::Made => {}
            _ if is_over => {
                keep(&mut group, left_out);
                is_over = false;
            }
            _ => {}
        }
        group.push(index);
        is_over |= matches!(role, Role::Last(_));
    }
    keep(&mut group, left_out);
}

/// What a side trace does that the preamble has done.
#[derive(Default)]
struct Done {
    left_out: Vec<bool>,
    /// Its values, and those of the preamble that they are.
    values: Vec<(Value, Value)>,
}

/// A value by which two traces name the same.
#[derive(Clone, Copy, PartialEq)]
enum Name {
    Constant(Type, Const),
    Steady(Value),
}

impl Name {
    fn of(trace: &Trace, value: Value) -> Option<Name> {
        trace.constant_of(value).map(|constant| Name::Constant(trace.ty(value), constant))
    }
}

impl Steady<'_, '_> {
    /// What a side trace does of what is left out in the second copy, if it begins after the preamble.
    fn done_by(&self, input: &Input<'_>, plain: &[usize]) -> Done {
        let (trace, root) = (input.trace, self.trace);
        if trace.labels.len() != 1 || input.frame != self.tree[0].frame {
            return Done::default();
        }
        let mut names: Vec<Option<Name>> =
            (0..trace.values.len()).map(|value| Name::of(trace, Value(value as u32))).collect();
        let of_root = |slot: &EntrySlot| {
            let entry = root.entry.iter().chain(&root.entry_known);
            let found = entry.zip(root.inputs()).find(|(known, _)| *known == slot);
            found.map(|(_, &input)| input).filter(|input| self.values[input.index()])
        };
        for (slot, input) in trace.entry.iter().chain(&trace.entry_known).zip(trace.inputs()) {
            names[input.index()] = of_root(slot).map(Name::Steady);
        }
        let name_in_root = |value: Value| Name::of(root, value).unwrap_or(Name::Steady(value));
        let mut done = Done { left_out: vec![false; trace.insts.len()], values: Vec::new() };
        for (index, inst) in trace.insts.iter().enumerate() {
            let is_same = |&at: &usize| {
                let other = &root.insts[at];
                // A counted check for a collection looks like any guard on a constant.
                !matches!(inst.exit, ExitKind::Interrupt | ExitKind::Collect)
                    && (other.op, other.payload, other.args.len()) == (inst.op, inst.payload, inst.args.len())
                    && (other.args.iter().zip(&inst.args))
                        .all(|(&other, arg)| names[arg.index()] == Some(name_in_root(other)))
            };
            let Some(other) = plain.iter().copied().find(is_same).map(|at| &root.insts[at]) else { continue };
            done.left_out[index] = true;
            if let (Some(result), Some(other)) = (inst.result, other.result) {
                names[result.index()] = Some(Name::Steady(other));
                done.values.push((result, other));
            }
        }
        keep_groups(input, &mut done.left_out);
        done
    }

    /// What is left out, without what is loaded together with something else.
    fn plain(&self) -> Vec<usize> {
        let root = self.tree[0];
        let groups = Groups::find(root.trace, root.schema, &root.trace.exit_numbers());
        let is_plain =
            |&at: &usize| self.left_out[at] && !matches!(groups.role(at), Role::Wide { .. } | Role::Made);
        (0..self.left_out.len()).filter(is_plain).collect()
    }
}

impl Again {
    /// At the end of the first copy, where a jump passes on what it must: notes what is known.
    fn note(&mut self, trace: &Trace, values: &Values, labels: &[(Block, bool)]) {
        let inputs = trace.inputs().iter().zip(&self.inputs).filter(|(_, &steady)| steady);
        let inputs = inputs.map(|(&input, _)| input);
        let out = trace.insts.iter().zip(&self.left_out).filter(|(_, &out)| out);
        let results = out.filter_map(|(inst, _)| inst.result);
        self.known = inputs.chain(results).map(|value| (value, values.known(value))).collect();
        self.labels = labels.to_vec();
    }
}

impl Lowering<'_, '_, '_> {
    /// At a jump: if it ends the preamble's first copy, what is steady is known from here on.
    pub(super) fn note_steady(&mut self) {
        let Some(again) = self.shared.again.as_mut().filter(|_| self.number == 0) else { return };
        if again.end == self.index {
            again.note(self.input.trace, &self.values, &self.labels);
        }
    }

    /// If this is the preamble's second copy, makes it. Returns whether it is.
    pub(super) fn pass_again(&mut self) -> Result<bool> {
        let Some(mut again) = self.shared.again.take() else { return Ok(false) };
        let block = again.block.filter(|_| again.number == self.number);
        if let Some(block) = block {
            self.labels = std::mem::take(&mut again.labels);
            self.b.switch_to_block(block);
            self.open = true;
            let mut params = self.b.block_params(block).to_vec().into_iter();
            let inputs = self.input.trace.inputs().iter().zip(&again.inputs);
            for ((&input, _), param) in inputs.filter(|(_, &steady)| !steady).zip(&mut params) {
                self.values.define(input, param);
            }
            again.known.iter().for_each(|&(value, def)| self.values.restore(value, def));
            self.replaced = params.next();
            for index in 1..=again.end {
                self.index = index;
                let inst = &self.input.trace.insts[index];
                match again.left_out[index] {
                    true => self.leave_out(inst)?,
                    false => self.inst(inst)?,
                }
            }
        }
        self.shared.again = Some(again);
        Ok(block.is_some())
    }

    /// In a side trace that begins after the preamble: what is known, from its label on.
    pub(super) fn know_steady(&mut self) {
        let Some(again) = &self.shared.again else { return };
        let Some(done) = again.done_in(self.number, self.input.copy_of) else { return };
        for &(value, of) in &done.values {
            if let Some(&(_, def)) = again.known.iter().find(|(known, _)| *known == of) {
                self.values.restore(value, def);
            }
        }
    }

    /// Whether the preamble has done what is to be lowered.
    pub(super) fn is_done(&self) -> bool {
        let done =
            self.shared.again.as_ref().and_then(|again| again.done_in(self.number, self.input.copy_of));
        done.is_some_and(|done| done.left_out.get(self.index) == Some(&true))
    }

    /// Leaves out an instruction; a guard is still counted where tests want it.
    pub(super) fn leave_out(&mut self, inst: &Inst) -> Result<()> {
        match self.input.exit_numbers[self.index].filter(|_| inst.op.is_guard()) {
            Some(exit) => self.count_guard(inst, exit),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key's tag, the key and the value's tag: the latter is loaded with the first, and its guard is made
    /// by that of the key, so that both come after the last guard that branches.
    const FIELD: [Role; 6] = [
        Role::Wide { offset: 8, width: 2 },
        Role::Joined(68),
        Role::Alone,
        Role::Last(1),
        Role::Made,
        Role::Made,
    ];

    #[test]
    fn groups_are_left_out_as_a_whole() {
        let roles = [&FIELD[..], &[Role::Joined(1), Role::Last(2)], &FIELD].concat();
        let left_out = |kept: &[usize]| {
            let mut left_out: Vec<bool> = (0..roles.len()).map(|at| !kept.contains(&at)).collect();
            keep_whole(|at| roles[at], &mut left_out);
            let kept: Vec<usize> = (0..roles.len()).filter(|&at| !left_out[at]).collect();
            kept
        };
        let field = |from: usize| [0, 1, 3, 4, 5].map(|at| from + at).to_vec();
        assert_eq!(left_out(&[]), []);
        // What is loaded on its own is no part of the check.
        assert_eq!(left_out(&[2]), [2]);
        assert_eq!(left_out(&[4, 5]), field(0));
        assert_eq!(left_out(&[1]), field(0));
        assert_eq!(left_out(&[6]), [6, 7]);
        assert_eq!(left_out(&[13]), field(8));
    }
}
