//! Objects that go round: how many iterations it takes until a loop's objects have the form that they keep.
//!
//! Problem: after `a, b = b, {x = 1}` the new object is in `b` for one iteration and in `a` for the next. At
//! the end of the first iteration `b` is virtual and `a` what came in as `b`, real; only at the end of the
//! second are both virtual, and stay so. A loop whose label wants `a` real would make an object in each
//! iteration. Design: what the jump passes at the end of one iteration tells all later ones, as what came in
//! at a place is then what was passed for it, and what was read from it a part of that. [`turns`] follows
//! this from jump to jump, until no place takes another form, and says how many iterations more the preamble
//! needs ([`crate::peel`]). A list that grows never comes to an end; nor does it cost much, as only forms are
//! followed and no operation is walked.
//!
//! A preamble of several iterations has a label before each, so that each jump ends one iteration, in the
//! preamble as in the loop: whoever counts iterations, or back edges up to an exit, counts jumps. What lies
//! before such a label is used after it through its arguments only; [`split_iterations`] sees to that when
//! all is known.
//!
//! Invariant: how many turns are taken is a matter of speed only; any preamble has a sound loop. Example:
//!
//! ```text
//! a, b, c = b, c, {}        after the first iteration    (real,    real,    virtual)
//!                           after the second             (real,    virtual, virtual)
//!                           after the third, 2 turns     (virtual, virtual, virtual), and so on
//! ```

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use tracelift_core::planted::{planted, Bug};
use tracelift_core::{Inst, LabelId, Op, Payload, Trace, Value};

use crate::state::State;
use crate::statics::Object;

/// Iterations that a preamble may have beyond the first.
pub(crate) const MOST_TURNS: u32 = 3;

/// Recorded operations in all iterations of such a preamble.
const LONGEST_PREAMBLE: usize = 400;

/// What becomes of what came in: followed by values of the first iteration.
struct Forms<'s> {
    st: &'s State<'s>,
    /// Virtual objects that the first jump passes, and those in them.
    shape: &'s HashMap<Value, Object>,
    /// By what came in, and what was read from it: what stands in the same place in the next iteration.
    next: HashMap<Value, Value>,
    /// By value: the objects that hold it.
    holders: HashMap<Value, Vec<Value>>,
}

impl<'s> Forms<'s> {
    fn new(st: &'s State<'s>, passed: &[Value], shape: &'s HashMap<Value, Object>) -> Forms<'s> {
        let mut forms = Forms { st, shape, next: HashMap::default(), holders: HashMap::default() };
        for (&input, &passed) in st.source.inputs().iter().zip(passed) {
            forms.comes_next(input, passed);
        }
        for inst in &st.source.insts {
            if let (Op::Get | Op::GetItem | Op::GetKey, Some(result)) = (inst.op, inst.result) {
                let base = forms.known(inst.args[0]).and_then(|base| shape.get(forms.next.get(&base)?));
                if let Some(part) = base.and_then(|object| forms.part(object, inst)) {
                    forms.comes_next(result, part);
                }
            }
        }
        for (&name, object) in shape {
            object.parts().for_each(|part| forms.holders.entry(part).or_default().push(name));
        }
        forms
    }

    /// What a recorded value was.
    fn known(&self, recorded: Value) -> Option<Value> {
        self.st.at.map[recorded.index()].map(|value| self.st.resolve(value))
    }

    fn comes_next(&mut self, recorded: Value, next: Value) {
        let known = self.known(recorded).filter(|&known| self.st.out.constant_of(known).is_none());
        known.map(|known| self.next.entry(known).or_insert(self.st.resolve(next)));
    }

    /// What a recorded operation would read from a virtual object.
    fn part(&self, object: &Object, inst: &Inst) -> Option<Value> {
        let place = inst.args.get(1).and_then(|&place| self.st.source.constant_of(place));
        match inst.payload {
            Payload::Field(field) => object.fields.iter().find(|(set, _)| *set == field).map(|part| part.1),
            Payload::Item { .. } => {
                let first = self.st.schema.layout(object.layout).items?.first;
                let index = u32::try_from((place?.bits()? as i64).wrapping_sub(first)).ok()?;
                object.items.get(&index)?.1
            }
            _ => {
                let is_it = |key: Value| self.st.out.constant_of(key).zip(place).is_some_and(|(a, b)| a == b);
                object.entries.iter().find(|&&(key, _)| is_it(key))?.1 .1
            }
        }
    }

    /// What came in real and will be virtual: objects are passed for it, or what becomes virtual itself.
    fn will_be_virtual(&self) -> HashSet<Value> {
        let mut moved: HashMap<Value, Vec<Value>> = HashMap::default();
        self.next.iter().for_each(|(&of, &next)| moved.entry(next).or_default().push(of));
        let mut todo: Vec<Value> =
            self.next.iter().filter(|(_, next)| self.shape.contains_key(next)).map(|(&of, _)| of).collect();
        let mut found = HashSet::default();
        while let Some(value) = todo.pop() {
            if found.insert(value) {
                todo.extend(moved.get(&value).into_iter().flatten());
            }
        }
        found
    }

    /// These, and the objects that hold them.
    fn held_by(&self, values: HashSet<Value>) -> HashSet<Value> {
        let mut todo: Vec<Value> = values.into_iter().collect();
        let mut found = HashSet::default();
        while let Some(value) = todo.pop() {
            if found.insert(value) {
                todo.extend(self.holders.get(&value).into_iter().flatten());
            }
        }
        found
    }
}

/// How many iterations more than one a preamble needs until all places have the form that they keep; 0 if
/// one is enough, or if they never do so within `most`. `passed` is what the first iteration's jump passes,
/// `shape` the virtual objects among and below it.
pub(crate) fn turns(st: &State<'_>, passed: &[Value], shape: &HashMap<Value, Object>, most: u32) -> u32 {
    if shape.is_empty() {
        return 0;
    }
    let forms = Forms::new(st, passed, shape);
    let mut changed = forms.will_be_virtual();
    for turns in 0..=most {
        // At the next jump these have another form than at the one before.
        let held = forms.held_by(changed);
        if !passed.iter().any(|&value| held.contains(&st.resolve(value))) {
            let is_short = st.source.op_count() * (turns as usize + 1) <= LONGEST_PREAMBLE;
            return if is_short { turns } else { 0 };
        }
        changed = forms.next.iter().filter(|(_, next)| held.contains(next)).map(|(&of, _)| of).collect();
    }
    0
}

/// Gives the labels between the iterations of the preamble, which ends where `last` begins, their arguments:
/// all that is used after them.
pub(crate) fn split_iterations(trace: &mut Trace, last: LabelId) {
    let is_jump = |inst: &Inst| inst.op == Op::Jump;
    let jumps: Vec<usize> = (0..trace.insts.len()).filter(|&at| is_jump(&trace.insts[at])).collect();
    let Some(end) = jumps.iter().position(|&at| trace.insts[at].label() == Some(last)) else { return };
    for &jump in jumps[..end].iter().rev() {
        split_at(trace, jump, jumps[end]);
    }
}

/// Gives the jump here, and the label after it, all that is used up to the end of the preamble.
fn split_at(trace: &mut Trace, jump: usize, end: usize) {
    let after = jump + 2..end + 1;
    let mut defined: HashSet<Value> = HashSet::default();
    for inst in &trace.insts[after.clone()] {
        defined.extend(inst.result);
        if inst.op == Op::Label {
            defined.extend(&inst.args);
        }
    }
    let mut passed = Vec::new();
    let mut names: HashMap<Value, Value> = HashMap::default();
    let mut copies = HashMap::default();
    for index in after {
        let mut inst = std::mem::replace(&mut trace.insts[index], Inst::new(Op::Label, &[]));
        let mut renamed = |trace: &mut Trace, value: Value| {
            if trace.constant_of(value).is_some() || defined.contains(&value) {
                return value;
            }
            *names.entry(value).or_insert_with(|| {
                passed.push(value);
                let name = trace.new_value(trace.ty(value));
                trace.values[name.index()].name = trace.values[value.index()].name.clone();
                name
            })
        };
        if inst.op != Op::Label {
            inst.args.iter_mut().for_each(|arg| *arg = renamed(trace, *arg));
        }
        if let Some(snap) = inst.snap {
            let copy = *copies.entry(snap).or_insert_with(|| {
                let mut snapshot = trace.snapshots[snap.index()].clone();
                snapshot.map_values(|value| renamed(trace, value));
                trace.add_snapshot(snapshot)
            });
            inst.snap = Some(copy);
        }
        trace.insts[index] = inst;
    }
    let mut args: Vec<Value> = passed.iter().map(|value| names[value]).collect();
    if planted(Bug::RotationSplitOrder) {
        args.sort_by_key(|&arg| (trace.ty(arg), std::cmp::Reverse(arg)));
        passed.sort_by_key(|&value| (trace.ty(value), value));
    }
    trace.insts[jump].args = passed.into_iter().collect();
    trace.insts[jump + 1].args = args.iter().copied().collect();
    if let Some(label) = trace.insts[jump + 1].label() {
        trace.labels[label.index()].args = args;
    }
}
