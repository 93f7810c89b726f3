//! Loops: what an iteration changes, by how much, and what stays the same.
//!
//! Problem: guards are put before a loop by what it counts; copies of its body leave out what is the same in
//! all of them; memory is asked for early where an address moves by a constant. These are one question, asked
//! of two traces: while the passes walk, of the recorded one, which is all that there is; in the end, of the
//! finished one, whose facts go to lowering. Design: a [`Loop`] is a view of a label, what follows, and the
//! jump back; it can be had of either trace, and answers from the label's arguments, what the jump passes for
//! them, and the linear forms of what lies between (`linear.rs`). [`loops_of`] asks all of it of a finished
//! trace. Each question walks the loop once.
//!
//! Invariants: an argument changes by a constant if the jump passes the argument and that constant, however
//! it was added up; it wraps around as the machine does. A value is *steady* if no iteration can make another
//! one of it: arguments that are passed on as they are, constants, and what is computed from such, or loaded
//! from memory that nothing in the loop writes. Facts are about any machine; how many copies to make and how
//! far ahead to ask is lowering's.
//!
//! Example: in `L0(p0, i1, i2): ... i3 = int_add(i1, 2); i4 = int_sub(i2, 1); guard_true(i4); jump(L0, p0,
//! i3, i4)` the steps are 2 and -1, `p0` is steady, and `guard_true(i2)` would make `i2` the counter.

use smallvec::SmallVec;

use tracelift_core::effects::Memory;
use tracelift_core::loops::{Base, LoopFacts, Loops, Stream};
use tracelift_core::ops::Flags;
use tracelift_core::{ExitKind, Inst, LabelId, Op, Payload, Schema, Trace, Value};

use crate::facts::ValueTable;
use crate::linear::{Linear, Sums, Terms};

/// A loop of a trace, recorded or finished.
#[derive(Clone, Copy)]
pub(crate) struct Loop<'t> {
    trace: &'t Trace,
    /// The position of its label's instruction.
    start: usize,
    /// From there up to the jump.
    body: &'t [Inst],
    jump: &'t Inst,
}

/// An argument of a loop's label that each iteration changes by a constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Step {
    pub value: Value,
    /// Not 0.
    pub by: i64,
}

/// What is known of the loops of a finished trace.
pub fn loops_of(trace: &Trace, schema: &Schema) -> Loops {
    let is_label = |&position: &usize| trace.insts[position].op == Op::Label;
    let found = (0..trace.insts.len()).filter(is_label).filter_map(|start| Loop::at(trace, start));
    Loops::new(found.map(|of| of.facts(schema)).collect())
}

/// The argument of a recorded loop's label that says how many iterations are still to come, if there is one.
pub fn counter_of(recorded: &Trace) -> Option<Value> {
    let of = Loop::at(recorded, 0)?;
    of.counter(&of.steps(&of.sums()))
}

impl<'t> Loop<'t> {
    /// The loop that begins with the label at this position, if what follows ends in a jump back there.
    pub fn at(trace: &'t Trace, start: usize) -> Option<Loop<'t>> {
        let part = trace.insts.get(start..)?;
        let length = part.iter().position(|inst| inst.op.is(Flags::ENDS))?;
        let (body, jump) = (&part[..length], &part[length]);
        let is_back = |label: LabelId| jump.op == Op::Jump && jump.label() == Some(label);
        body.first()?.label().filter(|&label| is_back(label))?;
        Some(Loop { trace, start, body, jump })
    }

    /// The label's arguments, each with what the jump passes for it.
    fn passed(&self) -> impl Iterator<Item = (Value, Value)> + 't {
        self.body[0].args.iter().copied().zip(self.jump.args.iter().copied())
    }

    /// The label's arguments that are passed on as they are.
    fn passed_on(&self) -> ValueTable<()> {
        let mut same = ValueTable::default();
        self.passed().filter(|(param, arg)| param == arg).for_each(|(param, _)| same.set(param, ()));
        same
    }

    /// The linear forms of its integers.
    pub fn sums(&self) -> Sums {
        let mut sums = Sums::default();
        self.body.iter().for_each(|inst| sums.note(self.trace, inst));
        sums
    }

    /// The label's arguments that change by a constant.
    pub fn steps(&self, sums: &Sums) -> Vec<Step> {
        let step = |(value, passed)| match sums.of(self.trace, passed) {
            Ok(Linear { terms, plus: by }) if terms.is_alone() && terms.value == value && by != 0 => {
                Some(Step { value, by })
            }
            _ => None,
        };
        self.passed().filter_map(step).collect()
    }

    /// The label's arguments that change by a value that is passed on as it is, each with that value.
    pub fn strides(&self, sums: &Sums) -> Vec<(Value, Value)> {
        let same = self.passed_on();
        let stride = |(value, passed)| match sums.of(self.trace, passed) {
            Ok(Linear { terms: Terms { value: one, other: Some(two), scale: 1 }, plus: 0 }) => {
                let by = if one == value { two } else { one };
                ([one, two].contains(&value) && same.get(by).is_some()).then_some((value, by))
            }
            _ => None,
        };
        self.passed().filter_map(stride).collect()
    }

    /// Whether a single sum or difference makes a step.
    pub fn is_made_at_once(&self, of: Value) -> bool {
        let Some((_, next)) = self.passed().find(|&(value, _)| value == of) else { return false };
        self.body.iter().any(|inst| {
            let is_sum = matches!(inst.op, Op::IntAdd | Op::IntSub);
            is_sum && inst.result == Some(next) && inst.args.contains(&of)
        })
    }

    /// The first of these that is counted down by one, and of which a guard says that it is not 0.
    pub fn counter(&self, steps: &[Step]) -> Option<Value> {
        let mut falling = steps.iter().filter(|step| step.by == -1).map(|step| step.value);
        falling.find(|&value| self.is_tested(value))
    }

    /// Whether a guard tests that a value is not 0.
    fn is_tested(&self, value: Value) -> bool {
        let mut tests: SmallVec<[Value; 4]> = SmallVec::from_slice(&[value]);
        self.body.iter().any(|inst| match inst.op {
            Op::IntNe if inst.args[0] == value && self.trace.int_of(inst.args[1]) == Some(0) => {
                tests.extend(inst.result);
                false
            }
            op => op == Op::GuardTrue && tests.contains(&inst.args[0]),
        })
    }

    fn facts(&self, schema: &Schema) -> LoopFacts {
        let body = self.start..self.start + self.body.len();
        let (once, streams, bases) = (self.once(schema), self.streams(), self.bases());
        LoopFacts { body, once, streams, bases, to_come: None }
    }

    /// What one of several iterations does for all of them: see [`LoopFacts::once`].
    fn once(&self, schema: &Schema) -> Vec<usize> {
        let is_interrupt = |inst: &Inst| inst.op.is_guard() && inst.exit == ExitKind::Interrupt;
        let mut once: Vec<bool> = self.body.iter().map(|inst| self.trace.is_counted_check(inst)).collect();
        if self.body.iter().any(is_interrupt) {
            for ((inst, same), once) in self.body.iter().zip(self.same_again(schema)).zip(&mut once) {
                *once |= same && is_interrupt(inst);
            }
            self.add_unwanted(&mut once);
        }
        let positions = once.iter().enumerate().filter(|(_, &once)| once);
        positions.map(|(distance, _)| self.start + distance).collect()
    }

    /// Adds what is computed only for those that are marked.
    fn add_unwanted(&self, marked: &mut [bool]) {
        let mut wanted: ValueTable<()> = ValueTable::default();
        self.jump.args.iter().for_each(|&arg| wanted.set(arg, ()));
        for (inst, marked) in self.body.iter().zip(marked).rev() {
            let is_wanted = inst.result.is_none_or(|result| wanted.get(result).is_some());
            *marked |= has_no_more_than_a_result(inst) && !is_wanted;
            if !*marked {
                inst.args.iter().for_each(|&arg| wanted.set(arg, ()));
                if let Some(snapshot) = self.trace.snapshot_of(inst) {
                    snapshot.for_each_value(|value| wanted.set(value, ()));
                }
            }
        }
    }

    /// By instruction: whether each iteration finds the same operands and the same memory there.
    fn same_again(&self, schema: &Schema) -> Vec<bool> {
        let mut written = Memory::NOTHING;
        self.body.iter().for_each(|inst| written.add(&inst.effects(schema).writes));
        let mut steady = self.passed_on();
        let same_again = |inst: &Inst| {
            let is_steady = |&arg| steady.get(arg).is_some() || self.trace.constant_of(arg).is_some();
            let is_same = inst.args.iter().all(is_steady)
                && !may_change_by_itself(inst, schema)
                && !written.meets(&inst.effects(schema).reads);
            if let Some(result) = inst.result.filter(|_| is_same && has_no_more_than_a_result(inst)) {
                steady.set(result, ());
            }
            is_same
        };
        self.body.iter().map(same_again).collect()
    }

    /// The addresses of items that move by a constant.
    fn streams(&self) -> Vec<Stream> {
        let mut streams = Vec::new();
        if !self.body.iter().any(|inst| inst.op == Op::ItemAddr) {
            return streams;
        }
        let sums = self.sums();
        let steps = self.steps(&sums);
        let mut bases = self.passed_on();
        for (inst, position) in self.body.iter().zip(self.start..) {
            match (inst.op, inst.payload, &inst.args[..]) {
                // A base that is loaded in each iteration will be the same in nearly all of them.
                (Op::Load, _, &[from]) if bases.get(from).is_some() => {
                    inst.result.into_iter().for_each(|result| bases.set(result, ()));
                }
                (Op::ItemAddr, Payload::Scale { stride, .. }, &[base, index])
                    if bases.get(base).is_some() =>
                {
                    let Ok(Linear { terms, plus }) = sums.of(self.trace, index) else { continue };
                    let step = steps.iter().find(|step| terms.is_alone() && step.value == terms.value);
                    let step = step.map_or(0, |step| step.by.wrapping_mul(stride.into()));
                    if step != 0 {
                        let beside = plus.wrapping_mul(stride.into());
                        streams.push(Stream { inst: position, base, step, beside });
                    }
                }
                _ => {}
            }
        }
        streams
    }
}

impl Loop<'_> {
    /// The rows of arrays whose items it reaches.
    fn bases(&self) -> Vec<Base> {
        let mut bases = Vec::new();
        if !self.body.iter().any(|inst| inst.op == Op::ItemAddr) {
            return bases;
        }
        let (sums, same) = (self.sums(), self.passed_on());
        let stays = |value: Value| same.get(value).is_some();
        for inst in self.body.iter().filter(|inst| inst.op == Op::ItemAddr) {
            let (Payload::Scale { stride, .. }, &[array, index]) = (inst.payload, &inst.args[..]) else {
                continue;
            };
            let Ok(Linear { terms, .. }) = sums.of(self.trace, index) else { continue };
            let (Some(other), 1) = (terms.other, terms.scale) else { continue };
            let index = match (stays(terms.value), stays(other)) {
                (true, false) => terms.value,
                (false, true) => other,
                _ => continue,
            };
            let base = Base { array, index, stride };
            if stays(array) && !bases.contains(&base) {
                bases.push(base);
            }
        }
        bases
    }
}

/// Whether all that an instruction does is to make its result.
fn has_no_more_than_a_result(inst: &Inst) -> bool {
    inst.op.is(Flags::PURE) || inst.op == Op::Load
}

/// Whether an instruction reads what may change although nobody in the trace writes it, more often than a
/// poll has to notice.
fn may_change_by_itself(inst: &Inst, schema: &Schema) -> bool {
    match inst.payload {
        Payload::Cell(cell) => {
            schema.cells().get(cell.index()).is_some_and(|cell| cell.volatile && !cell.polled)
        }
        _ => false,
    }
}
