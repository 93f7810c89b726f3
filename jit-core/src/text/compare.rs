//! Whether two traces are the same but for names.
//!
//! Problem: a test's author chooses names, a pass makes its own, and the order in which a label lists its
//! arguments is nobody's promise (seed 000 appends them, its Figure 8 does not). Design: both traces are
//! walked side by side and values are paired as they meet. Arguments of labels other than the entry are
//! paired when their first use pairs them; a pair of arguments then pairs what the jumps pass for them.
//! Arguments that nothing but jumps use are tried in order.
//!
//! Invariant: `Ok` only if one renaming of values, labels and snapshots, with one order for each label's
//! arguments, turns one trace into the other. Depths, names and the places of snapshots do not count.

use std::collections::HashMap;

use super::names::SchemaNames;
use super::print::Printer;
use crate::ir::{Inst, LabelId, Payload, Trace, Value};
use crate::ops::Op;
use crate::schema::Schema;
use crate::snapshot::Snapshot;

/// A trace with its values named in order, its snapshots just before their first guard and everything
/// cosmetic left out: equal traces print equally.
pub fn print_trace_canonical(trace: &Trace, schema: &Schema) -> String {
    let mut trace = trace.clone();
    let mut snapshots: Vec<Snapshot> = Vec::new();
    let mut numbers = HashMap::new();
    for (index, inst) in trace.insts.iter_mut().enumerate() {
        let Some(snap) = inst.snap else { continue };
        let Some(snapshot) = trace.snapshots.get(snap.index()) else { continue };
        let next = crate::ir::SnapId(snapshots.len() as u32);
        inst.snap = Some(*numbers.entry(snap).or_insert_with(|| {
            snapshots.push(Snapshot { position: index as u32, ..snapshot.clone() });
            next
        }));
    }
    trace.snapshots = snapshots;
    Printer::canonical(&trace, &SchemaNames::new(schema, None)).trace()
}

/// Whether the traces are equal up to renaming and the order of labels' arguments; else the first difference.
pub fn equal_up_to_renaming(a: &Trace, b: &Trace, schema: &Schema) -> Result<(), String> {
    let entry = |of: &Trace| [&of.entry, &of.entry_tags, &of.entry_known].map(|slots| slots.clone());
    if entry(a) != entry(b) || a.entry_cells != b.entry_cells {
        return Err("the entry slots differ".to_string());
    }
    let mut pairs = Pairs::default();
    for index in 0..a.insts.len().max(b.insts.len()) {
        let (Some(x), Some(y)) = (a.insts.get(index), b.insts.get(index)) else {
            let side = |trace: &Trace| {
                trace.insts.get(index).map_or("nothing".to_string(), |i| super::print_inst(trace, schema, i))
            };
            return Err(format!("instruction {index}: {} against {}", side(a), side(b)));
        };
        if !pairs.inst(a, b, x, y) {
            let (x, y) = (super::print_inst(a, schema, x), super::print_inst(b, schema, y));
            return Err(format!("instruction {index}: {x} against {y}"));
        }
    }
    let jumps = jumps(a, b);
    if pairs.settle(a, b, &jumps, &mut 1000) {
        Ok(())
    } else {
        Err("no order of the labels' arguments makes the jumps equal".to_string())
    }
}

/// The jumps of both traces, side by side, by label of the first.
fn jumps<'a>(a: &'a Trace, b: &'a Trace) -> Vec<(LabelId, &'a Inst, &'a Inst)> {
    let both = a.insts.iter().zip(&b.insts).filter(|(x, _)| x.op == Op::Jump);
    both.filter_map(|(x, y)| Some((x.label()?, x, y))).collect()
}

/// What is paired so far.
#[derive(Clone, Default)]
struct Pairs {
    forward: HashMap<Value, Value>,
    back: HashMap<Value, Value>,
    labels: HashMap<LabelId, LabelId>,
    labels_back: HashMap<LabelId, LabelId>,
    /// Labels' arguments that may be paired at their first use, with the label's number in its trace.
    open: (HashMap<Value, usize>, HashMap<Value, usize>),
}

impl Pairs {
    /// Pairs two instructions with all that they mention.
    fn inst(&mut self, a: &Trace, b: &Trace, x: &Inst, y: &Inst) -> bool {
        if (x.op, x.exit, x.args.len()) != (y.op, y.exit, y.args.len()) {
            return false;
        }
        if !self.payload(x.payload, y.payload) {
            return false;
        }
        let is_entry = x.label() == Some(LabelId(0)) && y.label() == Some(LabelId(0));
        if x.op == Op::Label && !is_entry {
            let number = self.labels.len();
            self.open.0.extend(x.args.iter().map(|&arg| (arg, number)));
            self.open.1.extend(y.args.iter().map(|&arg| (arg, number)));
        } else if x.op == Op::Label {
            if !x.args.iter().zip(&y.args).all(|(&p, &q)| self.define(a, b, p, q)) {
                return false;
            }
        } else if x.op != Op::Jump && !x.args.iter().zip(&y.args).all(|(&p, &q)| self.operand(a, b, p, q)) {
            // A jump's arguments are compared at the end, when the order of the label's is known.
            return false;
        }
        let snapshots = match (x.snap, y.snap) {
            (None, None) => true,
            (Some(p), Some(q)) => match (a.snapshots.get(p.index()), b.snapshots.get(q.index())) {
                (Some(p), Some(q)) => self.snapshot(a, b, p, q),
                _ => false,
            },
            _ => false,
        };
        let results = match (x.result, y.result) {
            (None, None) => true,
            (Some(p), Some(q)) => self.define(a, b, p, q),
            _ => false,
        };
        snapshots && results
    }

    fn payload(&mut self, x: Payload, y: Payload) -> bool {
        let (Payload::Label(p), Payload::Label(q)) = (x, y) else { return x == y };
        *self.labels.entry(p).or_insert(q) == q && *self.labels_back.entry(q).or_insert(p) == p
    }

    fn snapshot(&mut self, a: &Trace, b: &Trace, x: &Snapshot, y: &Snapshot) -> bool {
        let values = |snapshot: &Snapshot| {
            let mut values = Vec::new();
            snapshot.for_each_value(|value| values.push(value));
            values
        };
        // With all values made equal, the rest of the snapshots must be.
        let shape = |snapshot: &Snapshot| {
            let mut shape = Snapshot { origin: 0, position: 0, ..snapshot.clone() };
            shape.map_values(|_| Value(0));
            shape
        };
        let (p, q) = (values(x), values(y));
        shape(x) == shape(y)
            && p.len() == q.len()
            && p.iter().zip(&q).all(|(&p, &q)| self.operand(a, b, p, q))
    }

    /// Pairs two definitions.
    fn define(&mut self, a: &Trace, b: &Trace, x: Value, y: Value) -> bool {
        let (Some(p), Some(q)) = (a.values.get(x.index()), b.values.get(y.index())) else { return false };
        p.ty == q.ty && self.bind(x, y)
    }

    fn bind(&mut self, x: Value, y: Value) -> bool {
        *self.forward.entry(x).or_insert(y) == y && *self.back.entry(y).or_insert(x) == x
    }

    /// Whether two operands are the same.
    fn operand(&mut self, a: &Trace, b: &Trace, x: Value, y: Value) -> bool {
        let (Some(p), Some(q)) = (a.values.get(x.index()), b.values.get(y.index())) else { return false };
        if p.ty != q.ty || p.constant != q.constant {
            return false;
        }
        if p.constant.is_some() || self.forward.get(&x) == Some(&y) {
            return true;
        }
        let (open_x, open_y) = (self.open.0.get(&x), self.open.1.get(&y));
        open_x.is_some() && open_x == open_y && self.bind(x, y)
    }

    /// Lets pairs of arguments pair what the jumps pass, then tries the arguments that are left.
    fn settle(&mut self, a: &Trace, b: &Trace, jumps: &[(LabelId, &Inst, &Inst)], tries: &mut usize) -> bool {
        loop {
            let before = self.forward.len();
            for &(label, x, y) in jumps {
                for (i, j) in self.argument_pairs(a, b, label) {
                    let (Some(&p), Some(&q)) = (x.args.get(i), y.args.get(j)) else { return false };
                    if !self.operand(a, b, p, q) {
                        return false;
                    }
                }
            }
            if self.forward.len() == before {
                break;
            }
        }
        let left = self.open.0.keys().copied().filter(|x| !self.forward.contains_key(x)).min();
        let Some(x) = left else { return true };
        let mut candidates: Vec<Value> = self.open.1.keys().copied().collect();
        candidates.retain(|y| !self.back.contains_key(y) && self.open.1.get(y) == self.open.0.get(&x));
        candidates.sort();
        for y in candidates {
            if *tries == 0 {
                return false;
            }
            *tries -= 1;
            let mut trial = self.clone();
            if trial.operand(a, b, x, y) && trial.settle(a, b, jumps, tries) {
                *self = trial;
                return true;
            }
        }
        false
    }

    /// Positions of the label's arguments that are paired.
    fn argument_pairs(&self, a: &Trace, b: &Trace, label: LabelId) -> Vec<(usize, usize)> {
        let other = self.labels.get(&label).and_then(|label| b.labels.get(label.index()));
        let (Some(x), Some(y)) = (a.labels.get(label.index()), other) else { return Vec::new() };
        let position = |arg: &Value| y.args.iter().position(|other| Some(other) == self.forward.get(arg));
        x.args.iter().enumerate().filter_map(|(i, arg)| Some((i, position(arg)?))).collect()
    }
}
