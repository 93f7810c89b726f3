//! What is done with a region after a pass: blocks are merged, and what nobody uses is removed.
//!
//! Problem: passes make blocks of one instruction, arguments that nobody reads, and blocks that nothing leads
//! to. Design: rounds of four small steps, until one changes nothing. Blocks that control does not reach are
//! removed. A block with one way in, by a jump, becomes a part of the block that jumps. An argument that is
//! the same constant whichever way control comes is that constant. Arguments and pure operations count as
//! used when something with an effect, a snapshot or an argument that is used needs them; the others are
//! removed, however they pass one another round a loop.
//!
//! Invariant: the entry's arguments, which are the region's inputs, stay; each round leaves a region that the
//! verifier accepts.
//!
//! ```text
//! L0(i0): jump(L1, i0, 7)   L1(i1, i2): i3 = i1 + i2, finish(i3)
//!     =>  L0(i0): i1 = i0 + 7, finish(i1)
//! ```

use rustc_hash::FxHashMap as HashMap;

use tracelift_core::planted::{planted, Bug};
use tracelift_core::{Inst, LabelId, Op, Payload, Schema, Trace, Value};

use super::graph::{target, Graph};
use super::peel::passed;
use crate::dce::{compact, is_removable};

/// Cleans up a region that the verifier accepts.
pub fn clean_up(mut region: Trace, schema: &Schema) -> Trace {
    loop {
        let before = (region.insts.len(), count_args(&region));
        drop_unreachable(&mut region);
        merge(&mut region);
        pass_constants(&mut region);
        drop_unused(&mut region, schema);
        if (region.insts.len(), count_args(&region)) == before {
            return compact(number_labels(region));
        }
    }
}

fn count_args(region: &Trace) -> usize {
    region.labels.iter().map(|label| label.args.len()).sum()
}

/// Removes blocks that control does not reach.
fn drop_unreachable(region: &mut Trace) {
    let graph = Graph::of(region);
    let mut keep = vec![false; region.insts.len()];
    for &block in &graph.order {
        graph.blocks[block].clone().for_each(|index| keep[index] = true);
    }
    let mut keep = keep.into_iter();
    region.insts.retain(|_| keep.next().unwrap_or(true));
    for (block, label) in region.labels.iter_mut().enumerate() {
        if !graph.order.contains(&block) {
            label.args.clear();
        }
    }
}

/// Makes blocks with one way in a part of the block that jumps there.
fn merge(region: &mut Trace) {
    let graph = Graph::of(region);
    let mut parts: Vec<Option<Vec<Inst>>> = (graph.blocks.iter())
        .enumerate()
        .map(|(block, range)| graph.order.contains(&block).then(|| region.insts[range.clone()].to_vec()))
        .collect();
    let mut names: HashMap<Value, Value> = HashMap::default();
    for &block in &graph.order {
        while let Some(next) = only_way(&graph, &parts, block) {
            let (Some(mut first), Some(second)) = (parts[block].take(), parts[next].take()) else { break };
            let jump = first.pop();
            let args = jump.map(|jump| jump.args).unwrap_or_default();
            // All at once: what is passed may be named as an argument that comes later.
            let known = |value: Value| names.get(&value).copied().unwrap_or(value);
            let args: Vec<Value> = args.iter().map(|&arg| known(arg)).collect();
            names.extend(second[0].args.iter().copied().zip(args));
            region.labels[next].args.clear();
            first.extend(second.into_iter().skip(1));
            parts[block] = Some(first);
        }
    }
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|&block| graph.blocks[block].start);
    region.insts = order.into_iter().filter_map(|block| parts[block].take()).flatten().collect();
    rename(region, &names);
}

/// The block that this one jumps to, if nothing else does, and if it can be a part of this one.
fn only_way(graph: &Graph, parts: &[Option<Vec<Inst>>], block: usize) -> Option<usize> {
    let insts = parts[block].as_ref()?;
    let next = insts.last().filter(|last| last.op == Op::Jump)?.label()?.index();
    let second = parts[next].as_ref()?;
    let has_one_way = graph.predecessors[next].iter().filter(|from| graph.order.contains(from)).count() == 1;
    let splits = insts.iter().any(|inst| inst.op == Op::JumpIf);
    let goes_on = second.iter().skip(1).any(|inst| target(inst).is_none() && inst.op != Op::Finish);
    (has_one_way && next != 0 && next != block && !(splits && goes_on)).then_some(next)
}

/// An argument that is one constant on all ways is that constant.
fn pass_constants(region: &mut Trace) {
    let mut found: HashMap<Value, Option<Value>> = HashMap::default();
    for inst in region.insts.iter().filter(|inst| target(inst).is_some()) {
        let params = &region.labels[target(inst).map_or(0, LabelId::index)].args;
        for (&param, &arg) in params.iter().zip(passed(inst)).filter(|(param, arg)| param != arg) {
            let constant = region.constant_of(arg).map(|_| arg);
            let known = found.entry(param).or_insert(constant);
            if *known != constant && !planted(Bug::CleanConstantOfOneWay) {
                *known = None;
            }
        }
    }
    let inputs = region.inputs().to_vec();
    let names = found.into_iter().filter(|(param, _)| !inputs.contains(param));
    let names: HashMap<Value, Value> = names.filter_map(|(param, known)| Some((param, known?))).collect();
    let is_other = |param: &Value| !names.contains_key(param);
    drop_args(region, &is_other);
    rename(region, &names);
}

/// Removes arguments and operations that nothing needs.
fn drop_unused(region: &mut Trace, schema: &Schema) {
    let mut is_used = vec![false; region.values.len()];
    let mut defs: HashMap<Value, usize> = HashMap::default();
    // What a label's argument is passed.
    let mut ways: HashMap<Value, Vec<Value>> = HashMap::default();
    let mut todo: Vec<Value> = region.inputs().to_vec();
    for (index, inst) in region.insts.iter().enumerate() {
        defs.extend(inst.result.map(|result| (result, index)));
        if let Some(label) = target(inst) {
            let params = &region.labels[label.index()].args;
            params
                .iter()
                .zip(passed(inst))
                .for_each(|(&param, &arg)| ways.entry(param).or_default().push(arg));
            todo.extend((inst.op == Op::JumpIf).then(|| inst.args[0]));
        } else if inst.op != Op::Label && !is_removable(inst, schema) {
            uses(region, inst, &mut todo);
        }
    }
    while let Some(value) = todo.pop() {
        if std::mem::replace(&mut is_used[value.index()], true) {
            continue;
        }
        if let Some(&def) = defs.get(&value) {
            uses(region, &region.insts[def], &mut todo);
        }
        todo.extend(ways.get(&value).into_iter().flatten());
    }
    drop_args(region, &|param: &Value| is_used[param.index()]);
    region.insts.retain(|inst| {
        inst.op == Op::Label
            || !is_removable(inst, schema)
            || inst.result.is_some_and(|result| is_used[result.index()])
    });
}

/// What an instruction uses.
fn uses(region: &Trace, inst: &Inst, into: &mut Vec<Value>) {
    into.extend(&inst.args);
    if let Some(snapshot) = region.snapshot_of(inst).filter(|_| !planted(Bug::CleanForgetsSnapshots)) {
        snapshot.for_each_value(|value| into.push(value));
    }
}

/// Keeps those labels' arguments of which this holds, and what is passed for them.
fn drop_args(region: &mut Trace, stays: &dyn Fn(&Value) -> bool) {
    let kept: Vec<Vec<bool>> =
        region.labels.iter().map(|label| label.args.iter().map(stays).collect()).collect();
    for inst in &mut region.insts {
        let is_jump = target(inst).is_some();
        let Some(label) = inst.label().filter(|_| is_jump || inst.op == Op::Label) else { continue };
        let first = usize::from(inst.op == Op::JumpIf);
        let mut position = 0;
        inst.args.retain(|_| {
            position += 1;
            position <= first || kept[label.index()].get(position - 1 - first).copied().unwrap_or(true)
        });
    }
    for (label, kept) in region.labels.iter_mut().zip(&kept) {
        let mut kept = kept.iter();
        label.args.retain(|_| kept.next().copied().unwrap_or(true));
    }
}

/// Puts values in place of others, everywhere.
fn rename(region: &mut Trace, names: &HashMap<Value, Value>) {
    let known = |mut value: Value| {
        while let Some(&other) = names.get(&value) {
            value = other;
        }
        value
    };
    for inst in &mut region.insts {
        inst.args.iter_mut().for_each(|arg| *arg = known(*arg));
    }
    region.snapshots.iter_mut().for_each(|snapshot| snapshot.map_values(known));
}

/// Labels are numbered as they stand, and those without a place removed.
fn number_labels(mut region: Trace) -> Trace {
    let mut numbers: HashMap<LabelId, LabelId> = HashMap::default();
    for label in region.insts.iter().filter(|inst| inst.op == Op::Label).filter_map(Inst::label) {
        let next = LabelId(numbers.len() as u32);
        numbers.insert(label, next);
    }
    let mut labels = vec![None; numbers.len()];
    for (number, label) in std::mem::take(&mut region.labels).into_iter().enumerate() {
        if let Some(new) = numbers.get(&LabelId(number as u32)) {
            labels[new.index()] = Some(label);
        }
    }
    region.labels = labels.into_iter().flatten().collect();
    for inst in &mut region.insts {
        if let Payload::Label(label) = &mut inst.payload {
            *label = numbers.get(label).copied().unwrap_or(*label);
        }
    }
    region
}
