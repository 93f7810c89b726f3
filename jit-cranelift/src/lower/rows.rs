//! Rows of arrays: what addresses of items have in common in all iterations is computed before the loop.
//!
//! Problem: with `data[y * width + x]` for three rows an iteration adds each row's part to `x`, scales the
//! sum, and adds the array's address, nine operations for one that changes: `x`. Design: the facts of a loop
//! name its *bases*, an array and a part of the index that both stay ([`Base`]). The loop's block has an
//! argument for each: the address of the row. Who jumps there from outside computes it from what it passes.
//! In the loop such an index is not added up ([`Def::Index`]): its item's address is the row's with the other
//! part as index, which all rows share. The sum itself is made where somebody else wants it, an exit as a
//! rule.
//!
//! Invariant: array and index are arguments that the loop passes on as they are, so that the row stays; sums
//! wrap around as the trace's do. Example: with `i5 = int_add(i1, i2)` and `a6 = item_addr(a0, i5, 16, 0)`,
//! `a0` and `i1` passed on, `load.elem(a6)` reads `[row + i2*16 + elem]`.

use tracelift_core::loops::Base;
use tracelift_core::planted::{planted, Bug};
use tracelift_core::{Inst, LabelId, Value};

use super::values::Def;
use super::{Input, Lowering, Result, Ssa};

/// The rows of the current part.
#[derive(Default)]
pub(super) struct Rows<'a> {
    /// The label of the loop, and what its rows are.
    label: Option<LabelId>,
    bases: &'a [Base],
    addresses: Vec<Ssa>,
}

/// The rows that a label's block takes. An entry label is reached by others, who know nothing of them, and so
/// is a second body.
pub(super) fn bases_of<'a>(input: &Input<'a>, label: usize) -> &'a [Base] {
    let second = input.request.loops.second.map(LabelId::index);
    let is_own = label > 0 && second != Some(label);
    let is_it = |at: usize| {
        let inst = input.trace.insts.get(at);
        is_own && inst.and_then(Inst::label).is_some_and(|found| found.index() == label)
    };
    let mut loops = input.request.loops.iter();
    loops.find(|facts| is_it(facts.body.start)).map_or(&[], |facts| &facts.bases)
}

impl Lowering<'_, '_, '_> {
    /// A part begins with these arguments of its block after those of the label.
    pub(super) fn begin_rows(&mut self, label: LabelId, addresses: &[Ssa]) -> Result<()> {
        let bases = bases_of(&self.input, label.index());
        self.rows = Rows { label: Some(label), bases, addresses: addresses.to_vec() };
        for (base, &address) in bases.iter().zip(addresses) {
            let (array, index) = (self.value(base.array)?, self.value(base.index)?);
            self.values.learn_sum(array, index, base.stride, address);
        }
        Ok(())
    }

    /// The rows that a jump to a label passes beside the label's arguments.
    pub(super) fn rows_for(&mut self, label: LabelId, passed: &[Ssa]) -> Vec<Ssa> {
        if self.rows.label == Some(label) {
            return self.rows.addresses.clone();
        }
        let params = &self.input.trace.labels[label.index()].args;
        let of = |value: Value| params.iter().position(|&param| param == value).map(|at| passed[at]);
        let bases = bases_of(&self.input, label.index());
        let parts = bases.iter().filter_map(|base| Some((of(base.array)?, of(base.index)?, base.stride)));
        let parts: Vec<(Ssa, Ssa, u32)> = parts.collect();
        parts.into_iter().map(|(array, index, stride)| self.item_sum(array, index, stride)).collect()
    }

    /// An addition that makes the index of an item in a row is put off; whether it is one.
    pub(super) fn index_of_row(&mut self, inst: &Inst) -> Result<bool> {
        let (Some(result), &[x, y]) = (inst.result, &inst.args[..]) else { return Ok(false) };
        let trace = self.input.trace;
        let (steady, root, addend) = match (trace.int_of(x), trace.int_of(y)) {
            (None, None) => {
                let is_part = |value: Value| self.rows.bases.iter().any(|base| base.index == value);
                let (steady, other) = match (is_part(x), is_part(y)) {
                    (true, _) => (x, y),
                    (_, true) => (y, x),
                    _ => return Ok(false),
                };
                let steady = self.value(steady)?;
                let (root, addend) = self.affine(other)?;
                (steady, root, addend)
            }
            (constant, other) => {
                let part = if constant.is_some() { y } else { x };
                let Some(&(steady, root, addend)) = self.values.parts.get(&part) else { return Ok(false) };
                let more = constant.or(other).unwrap_or(0);
                (steady, root, i64::from(addend).wrapping_add(more))
            }
        };
        let Ok(addend) = i32::try_from(addend) else { return Ok(false) };
        self.values.parts.insert(result, (steady, root, addend));
        self.define_as(inst, Def::Index(steady, root, addend))?;
        Ok(true)
    }

    /// The address of the row in which an item lies, and the rest of its index.
    pub(super) fn row_of(&self, array: Ssa, index: Value, stride: u32) -> Option<(Ssa, Ssa, i64)> {
        let &(steady, root, addend) = self.values.parts.get(&index)?;
        let row = self.values.sum(array, steady, stride)?;
        let addend = if planted(Bug::LowerRowAddendForgotten) { 0 } else { addend };
        Some((row, root, i64::from(addend)))
    }
}
