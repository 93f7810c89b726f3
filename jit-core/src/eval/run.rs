//! A run: one trace, and the units that it calls, instruction by instruction.
//!
//! Problem: units call one another, each in a frame of its own, and where one is left all of its callers are.
//! Design: a call is a recursion in the same world, whose frame has its base moved meanwhile; it ends by what
//! the unit returns, or by the end of the whole run. In the second case each caller adds what compiled code
//! would write down for it: the frames of its call's snapshot before those that are there already, and a
//! [`Caller`]. A side trace takes the place of the trace whose exit leads to it.
//!
//! Invariant: the world's frame has its own base again after the run, however that ends; steps and guards are
//! counted over all traces, so that a run with units is bounded as any other.
//!
//! Example: `i5 = call_unit(3, 4, i1)` with 7 in `i1` runs unit 3 with the input 7, in the frame four slots
//! above; `return_unit(i9, int)` there makes `unit_result(i5, 2: int)` the value of `i9`.

use super::step::{Called, Registers};
use super::{exit, step, Caller, Code, End, EvalError, Evaluator, Fault, Flow, Limits, Outcome, Place};
use crate::ir::{EntrySlot, Inst, Payload, SnapId, Trace};
use crate::loops::Given;
use crate::ops::Op;
use crate::schema::TagId;
use crate::snapshot::{live_values, Snapshot};
use crate::types::Bits;
use crate::world::World;

/// Calls of units that may lie one in the other.
const DEEPEST: u32 = 200;

/// What a unit has returned.
type Returned = (TagId, Option<Bits>);

/// The trace that runs, and in which frame.
#[derive(Clone, Copy)]
struct Here {
    place: Place,
    /// Slots from the base at entry.
    base: i32,
    depth: u32,
}

struct Run<'r, 'a> {
    evaluator: &'r Evaluator<'a>,
    world: &'r mut World,
    limits: Limits,
    /// The instruction where it is to stop, in the trace that [`Limits::stop_in`] names.
    stop: Option<(usize, SnapId)>,
    steps: u64,
    calls: u64,
    /// Snapshots of the trace that is run whose slots are noted.
    passed: Vec<bool>,
    outcome: Outcome,
}

/// Runs the evaluator's trace.
pub(super) fn run(
    evaluator: &Evaluator<'_>,
    world: &mut World,
    inputs: &[Bits],
    limits: Limits,
) -> Result<Outcome, EvalError> {
    let trace = evaluator.codes[0].trace;
    let stop = limits.stop_at.and_then(|(origin, _)| {
        let snapshots = &evaluator.codes.get(limits.stop_in.trace)?.trace.snapshots;
        let snap = snapshots.iter().position(|snapshot| snapshot.origin == origin)?;
        Some((snapshots[snap].position as usize, SnapId(snap as u32)))
    });
    let outcome = Outcome {
        end: End::OutOfFuel,
        place: Place::default(),
        base: 0,
        callers: Vec::new(),
        origin: None,
        iteration: 0,
        frames: Vec::new(),
        live: Vec::new(),
        mentioned: Default::default(),
        guards_executed: 0,
        forced_aside: false,
        exit_counts: vec![0; trace.exits().count()],
        op_counts: vec![0; Op::COUNT],
    };
    let passed = vec![false; trace.snapshots.len()];
    let mut run = Run { evaluator, world, limits, stop, steps: limits.steps, calls: 0, passed, outcome };
    let here = Here { place: Place::default(), base: 0, depth: 0 };
    if let Some((tag, bits)) = run.trace(here, inputs)? {
        run.outcome.end = End::Returned { tag, bits };
    }
    Ok(run.outcome)
}

impl<'a> Run<'_, 'a> {
    /// Runs a trace to its end: what it has returned, or `None` where the whole run has ended.
    fn trace(&mut self, here: Here, inputs: &[Bits]) -> Result<Option<Returned>, EvalError> {
        let evaluator = self.evaluator;
        let Code { trace, labels, exits } = &evaluator.codes[here.place.trace];
        let error = |at: usize, fault: Fault| EvalError { at, fault };
        let mut regs = Registers::new(trace, self.world).map_err(|fault| error(0, fault))?;
        let start = evaluator.start.filter(|_| here.place.call == 0);
        let begin = start.map(|label| (labels.get(label.index()).copied().flatten(), label));
        let (at, params) = match begin {
            None => (Some(0), trace.inputs()),
            Some((at, label)) => (at, trace.labels.get(label.index()).map_or(&[][..], |label| &label.args)),
        };
        let Some(mut at) = at.filter(|_| inputs.len() == params.len()) else {
            return Err(error(0, Fault::Malformed("the number of inputs is not that of the entry label")));
        };
        for (&value, &bits) in params.iter().zip(inputs) {
            regs.set(value, bits);
        }
        let mut iteration = 0;
        while self.steps > 0 {
            self.steps -= 1;
            let inst = trace.insts.get(at).ok_or(error(at, Fault::Malformed("the trace has no end")))?;
            if self.is_at_stop(here, iteration, at) {
                self.stop(here, trace, inst, &mut regs).map_err(|fault| error(at, fault))?;
                self.ends(here, iteration, End::Stopped);
                return Ok(None);
            }
            let forced = self.count(here, trace, inst, exits[at]);
            if let Some(values) = self.enters(here, inst, &regs).map_err(|fault| error(at, fault))? {
                self.state(here, trace, inst, &regs).map_err(|fault| error(at, fault))?;
                self.ends(here, iteration, End::Enters(values));
                return Ok(None);
            }
            let flow = match (inst.op, forced) {
                (Op::CallUnit, _) => match self.call(here, trace, inst, exits[at], &mut regs, at)? {
                    true => Flow::Next,
                    false => return Ok(None),
                },
                (Op::UnitResult, _) => self.result(&mut regs, inst, forced).map_err(|f| error(at, f))?,
                (_, true) => Flow::Leave,
                (_, false) => step(trace, evaluator.schema, self.world, &mut regs, inst)
                    .map_err(|fault| error(at, fault))?,
            };
            match flow {
                Flow::Next => at += 1,
                Flow::Jump(_) if iteration == self.limits.iterations => break,
                Flow::Jump(label) => {
                    iteration += 1;
                    let target = labels.get(label.index()).copied().flatten();
                    at = target.ok_or(error(at, Fault::Malformed("jump to a label of another trace")))?;
                }
                Flow::Return(tag, bits) => {
                    (self.outcome.place, self.outcome.iteration) = (here.place, iteration);
                    return Ok(Some((tag, bits)));
                }
                Flow::Leave => {
                    let number = exits[at].unwrap_or_default();
                    if let Some(side) = self.side(here, number) {
                        self.outcome.forced_aside |= forced;
                        let live = live_values(trace, inst);
                        let inputs = self.inputs_of_side(side, &live, &regs).map_err(|f| error(at, f))?;
                        let place = Place { trace: side, ..here.place };
                        return self.trace(Here { place, ..here }, &inputs);
                    }
                    self.state(here, trace, inst, &regs).map_err(|fault| error(at, fault))?;
                    self.ends(here, iteration, End::Exit { number, kind: inst.exit });
                    return Ok(None);
                }
                Flow::Finish(values) => {
                    self.state(here, trace, inst, &regs).map_err(|fault| error(at, fault))?;
                    self.ends(here, iteration, End::Finish(values));
                    return Ok(None);
                }
            }
        }
        self.ends(here, iteration, End::OutOfFuel);
        Ok(None)
    }

    /// At an `enter_loop` that goes on elsewhere: what is passed there.
    fn enters(&self, here: Here, inst: &Inst, regs: &Registers) -> Result<Option<Vec<Bits>>, Fault> {
        let entering = self.evaluator.entering.filter(|_| inst.op == Op::EnterLoop && here.base == 0);
        let Some(entering) = entering else { return Ok(None) };
        let (schema, layout) = (self.evaluator.schema, self.evaluator.schema.slots());
        let place = |slot: i32, part: u32| {
            let distance = i64::from(slot) * i64::from(layout.stride) + i64::from(part);
            self.world.frame_base().wrapping_add(distance as u64)
        };
        if let Some((part, width)) = layout.tag {
            let mask = u64::MAX >> (64 - u32::from(width) * 8);
            let wanted = |slot: &EntrySlot| Some(schema.tag(slot.tag).bits & mask);
            let fits = |slot: &EntrySlot| self.world.read(place(slot.slot, part), width) == wanted(slot);
            if !entering.checks.iter().all(fits) {
                return Ok(None);
            }
        }
        let given = |given: &Given| match *given {
            Given::Arg(at) => {
                let arg = inst.args.get(at as usize).copied();
                regs.get(arg.ok_or(Fault::Malformed("enter_loop without the argument"))?)
            }
            Given::Slot(slot) => {
                let address = place(slot, layout.payload);
                self.world.read(address, 8).ok_or(Fault::Wild { address, width: 8 })
            }
        };
        entering.given.iter().map(given).collect::<Result<_, _>>().map(Some)
    }

    fn ends(&mut self, here: Here, iteration: u64, end: End) {
        let outcome = &mut self.outcome;
        (outcome.end, outcome.place, outcome.base, outcome.iteration) =
            (end, here.place, here.base, iteration);
    }

    /// Counts an instruction, and notes what its exit mentions. Whether it is the guard that is to fail.
    fn count(&mut self, here: Here, trace: &Trace, inst: &Inst, exit: Option<u32>) -> bool {
        let outcome = &mut self.outcome;
        outcome.op_counts[inst.op as usize] += 1;
        if let Some(exit) = exit {
            let is_run = here.place.trace == 0 && here.base == 0;
            if let Some(count) = outcome.exit_counts.get_mut(exit as usize).filter(|_| is_run) {
                *count += 1;
            }
            if let Some(snap) = inst.snap.filter(|snap| snap.index() < trace.snapshots.len()) {
                if !is_run || !std::mem::replace(&mut self.passed[snap.index()], true) {
                    let slots = trace.snapshots[snap.index()].slots();
                    outcome.mentioned.extend(slots.map(|(at, _)| at.saturating_add(here.base)));
                }
            }
        }
        if !inst.op.is_guard() || inst.op == Op::CallUnit {
            return false;
        }
        outcome.guards_executed += 1;
        self.limits.force_guard == Some(outcome.guards_executed)
    }

    fn is_at_stop(&self, here: Here, iteration: u64, at: usize) -> bool {
        let is_iteration = self.limits.stop_at.is_some_and(|(_, stop)| stop == iteration);
        is_iteration && here.place == self.limits.stop_in && self.stop.is_some_and(|(stop, _)| stop == at)
    }

    /// The state where it was asked to stop. The interpreter has put down what a unit has returned there.
    fn stop(&mut self, here: Here, trace: &Trace, inst: &Inst, regs: &mut Registers) -> Result<(), Fault> {
        if inst.op == Op::UnitResult {
            self.result(regs, inst, true)?;
        }
        let snap = self.stop.map_or(0, |(_, snap)| snap.index());
        self.frames(here, &trace.snapshots[snap], regs)
    }

    /// The state at an exit, if it has a snapshot.
    fn state(&mut self, here: Here, trace: &Trace, inst: &Inst, regs: &Registers) -> Result<(), Fault> {
        let live = live_values(trace, inst);
        self.outcome.live = live.into_iter().map(|value| regs.get(value)).collect::<Result<_, _>>()?;
        trace.snapshot_of(inst).map_or(Ok(()), |snapshot| self.frames(here, snapshot, regs))
    }

    fn frames(&mut self, here: Here, snapshot: &Snapshot, regs: &Registers) -> Result<(), Fault> {
        let schema = self.evaluator.schema;
        let mut frames = exit::frames_at(snapshot, schema, &|value| regs.get(value), self.world)?;
        frames.iter_mut().for_each(|frame| frame.base += here.base);
        (self.outcome.origin, self.outcome.frames) = (Some(snapshot.origin), frames);
        Ok(())
    }

    fn side(&self, here: Here, exit: u32) -> Option<usize> {
        let begins_here = |side: &&super::Side| (side.parent, side.exit) == (here.place.trace, exit);
        let known = |&trace: &usize| trace < self.evaluator.codes.len();
        self.evaluator.sides.iter().find(begins_here).map(|side| side.trace).filter(known)
    }

    /// What a side trace takes of its exit's values.
    fn inputs_of_side(
        &self,
        side: usize,
        live: &[crate::ir::Value],
        regs: &Registers,
    ) -> Result<Vec<Bits>, Fault> {
        let cells = &self.evaluator.codes[side].trace.entry_cells;
        let value = |&cell: &u32| live.get(cell as usize).copied();
        let missing = Fault::Malformed("a side trace wants more values than its exit has");
        cells.iter().map(|cell| regs.get(value(cell).ok_or(missing.clone())?)).collect()
    }

    /// Calls a unit; false if the run has ended in it.
    fn call(
        &mut self,
        here: Here,
        trace: &'a Trace,
        inst: &Inst,
        exit: Option<u32>,
        regs: &mut Registers,
        at: usize,
    ) -> Result<bool, EvalError> {
        let malformed = |what: &'static str| EvalError { at, fault: Fault::Malformed(what) };
        let wrong = |fault: Fault| EvalError { at, fault };
        let Payload::Unit { unit, base } = inst.payload else {
            return Err(malformed("a call of no unit"));
        };
        let callee = self.evaluator.unit(unit).ok_or(malformed("a call of an unknown unit"))?;
        let inputs = self.evaluator.codes[callee].trace.inputs();
        let types = |trace: &'a Trace, values: &[crate::ir::Value]| -> Vec<_> {
            values.iter().map(|&value| trace.ty(value)).collect()
        };
        if types(self.evaluator.codes[callee].trace, inputs) != types(trace, &inst.args) {
            return Err(malformed("a unit takes other arguments"));
        }
        let args: Result<Vec<Bits>, Fault> = inst.args.iter().map(|&arg| regs.get(arg)).collect();
        let args = args.map_err(wrong)?;
        if here.depth >= DEEPEST {
            self.ends(here, 0, End::OutOfFuel);
            return Ok(false);
        }
        self.calls += 1;
        let place = Place { trace: callee, call: self.calls };
        let above = Here { place, base: here.base.saturating_add(base), depth: here.depth + 1 };
        let own = self.world.frame_base();
        let distance = i64::from(base) * i64::from(self.evaluator.schema.slots().stride);
        self.world.move_frame(own.wrapping_add(distance as u64));
        let returned = self.trace(above, &args);
        self.world.move_frame(own);
        match returned? {
            Some((tag, bits)) => {
                let what = regs.call(self.evaluator.schema, inst.result, Called { tag, bits });
                what.map_err(wrong)?;
                Ok(true)
            }
            None => {
                self.is_left_too(here, trace, inst, exit, regs).map_err(wrong)?;
                Ok(false)
            }
        }
    }

    /// The run has ended in a unit that was called here: what the caller has to say.
    fn is_left_too(
        &mut self,
        here: Here,
        trace: &Trace,
        call: &Inst,
        exit: Option<u32>,
        regs: &Registers,
    ) -> Result<(), Fault> {
        let (Some(snapshot), Some(exit)) = (trace.snapshot_of(call), exit) else { return Ok(()) };
        let is_left = matches!(self.outcome.end, End::Exit { .. } | End::Stopped);
        // A trace that lends the unit its own frame has nothing to add.
        if !is_left || snapshot.frames.len() < 2 {
            return Ok(());
        }
        self.outcome.callers.push(Caller { trace: here.place.trace, exit, base: here.base });
        let mut callers = snapshot.clone();
        callers.frames.last_mut().into_iter().for_each(|callee| callee.slots.clear());
        let inner = std::mem::take(&mut self.outcome.frames);
        let origin = self.outcome.origin;
        self.frames(here, &callers, regs)?;
        self.outcome.frames.extend(inner);
        self.outcome.origin = origin;
        Ok(())
    }

    /// Takes what a unit has returned, if it has the tag, or puts it into its slot.
    fn result(&mut self, regs: &mut Registers, inst: &Inst, forced: bool) -> Result<Flow, Fault> {
        let Payload::Result { slot, tag } = inst.payload else {
            return Err(Fault::Malformed("a result without a place"));
        };
        let call = *inst.args.first().ok_or(Fault::Malformed("the result of no call"))?;
        let Called { tag: found, bits } =
            regs.called(call).ok_or(Fault::Malformed("the result of no call of a unit"))?;
        let schema = self.evaluator.schema;
        let has_tag = tag.is_some_and(|tag| step::tag_bits(schema, tag) == step::tag_bits(schema, found));
        if !forced && has_tag {
            if let Some(value) = inst.result {
                regs.set(value, bits.ok_or(Fault::Malformed("a result that does not fit its tag"))?);
            }
            return Ok(Flow::Next);
        }
        if let Some(slot) = slot {
            self.put(slot, found, bits)?;
        }
        Ok(if forced || tag.is_some() { Flow::Leave } else { Flow::Next })
    }

    /// Writes a slot of the frame; one without a payload holds 0, as compiled code has it.
    fn put(&mut self, slot: i32, tag: TagId, bits: Option<Bits>) -> Result<(), Fault> {
        let schema = self.evaluator.schema;
        let layout = schema.slots();
        let distance = i64::from(slot) * i64::from(layout.stride);
        let at = self.world.frame_base().wrapping_add(distance as u64);
        let mut write = |part: u32, width: u8, bits: u64| {
            let address = at.wrapping_add(u64::from(part));
            self.world.write(address, width, bits).ok_or(Fault::Wild { address, width })
        };
        write(layout.payload, 8, bits.unwrap_or(0))?;
        layout.tag.map_or(Ok(()), |(part, width)| write(part, width, step::tag_bits(schema, tag)))
    }
}
