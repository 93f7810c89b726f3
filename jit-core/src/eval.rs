//! The evaluator: the oracle that every other way to run a trace is compared with.
//!
//! Problem: optimizer, lowering and resume data are right when nobody can tell that they ran; something
//! simple has to say what a trace means. Design: seed 002's Figure 5, extended to every op: one register per
//! value, one step per instruction, real memory in a [`World`]. Recorded traces run directly (record
//! operations are answered from the layout's descriptors), optimized ones just as well (raw loads and stores,
//! calls, virtual objects and pending stores in snapshots, which are lifted into the world at an exit). Any
//! guard execution can be forced to fail, and a run can be stopped at a snapshot of a given iteration: there
//! the state of an optimized run is compared.
//!
//! Invariant: a malformed trace gives an [`EvalError`], never undefined behaviour; only the functions that
//! the trace calls are trusted, and they get no reference to memory that the world does not know. The
//! evaluator uses the table's `eval` column for ops on bits and shares nothing else with optimizer and
//! lowering.
//!
//! ```
//! use std::sync::Arc;
//! use tracelift_core::{eval::*, ir::*, world::World, world_spec::WorldSpec, Op, Schema, Type};
//! let mut trace = Trace::new("count");
//! let i0 = trace.new_value(Type::Int);
//! let top = trace.add_label("L0", &[i0]);
//! let (one, ten) = (trace.const_int(1), trace.const_int(10));
//! let i1 = trace.push(Inst::new(Op::IntAdd, &[i0, one]), Some(Type::Int)).unwrap();
//! let i2 = trace.push(Inst::new(Op::IntLt, &[i1, ten]), Some(Type::Int)).unwrap();
//! trace.push(Inst::new(Op::GuardTrue, &[i2]).exit_kind(ExitKind::LoopEnd), None);
//! trace.push(Inst::new(Op::Jump, &[i1]).with(Payload::Label(top)), None);
//! let schema = Arc::new(Schema::with_default_tags());
//! let mut world = World::build(&WorldSpec::default(), &schema);
//! let outcome = Evaluator::new(&trace, &schema).run(&mut world, &[0], Limits::default()).unwrap();
//! assert_eq!((outcome.iteration, outcome.end), (9, End::Exit { number: 0, kind: ExitKind::LoopEnd }));
//! ```

mod against;
mod call;
mod exit;
mod records;
mod step;
#[cfg(test)]
mod tests;

pub use against::{compare_with_recorded, finish_types, may_end_as};
pub use exit::{compare_frames, compare_outcomes, frames_at, FrameState, SlotState};
#[cfg(feature = "testgen")]
pub(crate) use step::Registers;
pub(crate) use step::{step, Flow};

use std::collections::BTreeSet;

use crate::ir::{ExitKind, Inst, Trace};
use crate::ops::Op;
use crate::schema::Schema;
use crate::types::Bits;
use crate::world::World;

/// Why a trace has no meaning at some instruction.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("instruction {at}: {fault}")]
pub struct EvalError {
    /// Index of the instruction.
    pub at: usize,
    /// What is wrong there.
    pub fault: Fault,
}

/// What is wrong at an instruction.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Fault {
    /// A partial op outside its domain: division by zero that no guard excluded.
    #[error("{} has no value here", .0.info().name)]
    Partial(Op),
    /// A function without an address or without a body for the evaluator: the trace cannot be evaluated.
    #[error("function `{0}` cannot be evaluated")]
    Opaque(String),
    /// An access outside the world's memory, or through null.
    #[error("access of {width} bytes at {address:#x}, which is no memory of the world")]
    Wild {
        /// Where.
        address: Bits,
        /// How many bytes.
        width: u8,
    },
    /// A use of a value that was not defined on this path.
    #[error("value {0} is used before it is defined")]
    Undefined(u32),
    /// An instruction that the verifier would reject.
    #[error("malformed: {0}")]
    Malformed(&'static str),
}

/// How long and how far to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Instructions to execute at most.
    pub steps: u64,
    /// Jumps to take at most.
    pub iterations: u64,
    /// Fail the Nth guard execution, counted from 1, whatever its condition (and before any effect it has).
    pub force_guard: Option<u64>,
    /// Stop where the recorded snapshot with this number was taken, in this iteration.
    pub stop_at: Option<(u32, u64)>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { steps: 1_000_000, iterations: u64::MAX, force_guard: None, stop_at: None }
    }
}

/// How a run ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// At a `finish`, with the bits of its arguments.
    Finish(Vec<Bits>),
    /// At a guard.
    Exit {
        /// The exit's number: see [`Trace::exit_numbers`].
        number: u32,
        /// Its kind.
        kind: ExitKind,
    },
    /// At the snapshot it was asked to stop at.
    Stopped,
    /// At one of the limits.
    OutOfFuel,
}

/// What a run led to. The world holds the rest of the state: lifted objects and pending stores are made.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// The recorded snapshot at which the interpreter goes on, if the exit has one.
    pub origin: Option<u32>,
    /// Jumps taken.
    pub iteration: u64,
    /// The host's frames there.
    pub frames: Vec<FrameState>,
    /// Slots, from the frame's base at entry on, that the snapshots of exits up to here mention: what memory
    /// holds in those is not the program's state, unless the frames say so.
    pub mentioned: BTreeSet<i32>,
    /// Guard executions.
    pub guards_executed: u64,
    /// Executions of each exit's instruction, by exit number.
    pub exit_counts: Vec<u64>,
    /// Executions of each op, by `Op as usize`.
    pub op_counts: Vec<u64>,
}

impl Outcome {
    /// The snapshot of an exit is passed.
    fn mention(&mut self, trace: &Trace, exit: &Inst, passed: &mut [bool]) {
        let Some(snap) = exit.snap.filter(|snap| snap.index() < passed.len()) else { return };
        if !std::mem::replace(&mut passed[snap.index()], true) {
            self.mentioned.extend(trace.snapshots[snap.index()].slots().map(|(at, _)| at));
        }
    }
}

/// Runs one trace.
pub struct Evaluator<'a> {
    trace: &'a Trace,
    schema: &'a Schema,
    /// Index of each label's instruction.
    labels: Vec<Option<usize>>,
    /// Exit number of each instruction that is an exit.
    exits: Vec<Option<u32>>,
}

impl<'a> Evaluator<'a> {
    /// An evaluator of `trace`; the trace is not checked beforehand.
    pub fn new(trace: &'a Trace, schema: &'a Schema) -> Evaluator<'a> {
        let mut labels = vec![None; trace.labels.len()];
        for (index, inst) in trace.insts.iter().enumerate() {
            if let (Op::Label, Some(label)) = (inst.op, inst.label()) {
                if let Some(place) = labels.get_mut(label.index()) {
                    *place = Some(index);
                }
            }
        }
        Evaluator { trace, schema, labels, exits: trace.exit_numbers() }
    }

    /// The index of the instruction with that exit number.
    pub fn exit_instruction(&self, number: u32) -> Option<usize> {
        self.trace.exits().nth(number as usize).map(|(index, _)| index)
    }

    /// Runs the trace in `world` with these inputs. Objects of the test world that the trace names as
    /// constants are found there; a trace bound to another world's addresses must not be run here. The inputs
    /// that lie in slots are written to the world's frame as well.
    pub fn run(&self, world: &mut World, inputs: &[Bits], limits: Limits) -> Result<Outcome, EvalError> {
        let trace = self.trace;
        let error = |at: usize, fault: Fault| EvalError { at, fault };
        let mut regs = step::Registers::new(trace, world).map_err(|fault| error(0, fault))?;
        if inputs.len() != trace.inputs().len() {
            return Err(error(0, Fault::Malformed("the number of inputs is not that of the entry label")));
        }
        for (&value, &bits) in trace.inputs().iter().zip(inputs) {
            regs.set(value, bits);
        }
        exit::enter(trace, self.schema, world, inputs);
        let stop = limits.stop_at.map(|(origin, iteration)| {
            (trace.snapshots.iter().find(|snapshot| snapshot.origin == origin), iteration)
        });
        let mut outcome = Outcome {
            end: End::OutOfFuel,
            origin: None,
            iteration: 0,
            frames: Vec::new(),
            mentioned: BTreeSet::new(),
            guards_executed: 0,
            exit_counts: vec![0; trace.exits().count()],
            op_counts: vec![0; Op::COUNT],
        };
        let mut passed = vec![false; trace.snapshots.len()];
        let mut at = 0;
        for _ in 0..limits.steps {
            let inst = trace.insts.get(at).ok_or(error(at, Fault::Malformed("the trace has no end")))?;
            if let Some((Some(snapshot), iteration)) = stop {
                if iteration == outcome.iteration && snapshot.position as usize == at {
                    outcome.end = End::Stopped;
                    outcome.origin = Some(snapshot.origin);
                    outcome.frames = frames_at(snapshot, self.schema, &|value| regs.get(value), world)
                        .map_err(|f| error(at, f))?;
                    return Ok(outcome);
                }
            }
            outcome.op_counts[inst.op as usize] += 1;
            let mut forced = false;
            if let Some(exit) = self.exits[at] {
                outcome.exit_counts[exit as usize] += 1;
                outcome.mention(trace, inst, &mut passed);
            }
            if inst.op.is_guard() {
                outcome.guards_executed += 1;
                forced = limits.force_guard == Some(outcome.guards_executed);
            }
            let flow = match forced {
                true => Flow::Leave,
                false => {
                    step(trace, self.schema, world, &mut regs, inst).map_err(|fault| error(at, fault))?
                }
            };
            match flow {
                Flow::Next => at += 1,
                Flow::Jump(label) => {
                    if outcome.iteration == limits.iterations {
                        return Ok(outcome);
                    }
                    outcome.iteration += 1;
                    let target = self.labels.get(label.index()).copied().flatten();
                    at = target.ok_or(error(at, Fault::Malformed("jump to a label of another trace")))?;
                }
                Flow::Leave | Flow::Finish(_) => {
                    outcome.end = match flow {
                        Flow::Finish(values) => End::Finish(values),
                        _ => End::Exit { number: self.exits[at].unwrap_or_default(), kind: inst.exit },
                    };
                    if let Some(snapshot) = trace.snapshot_of(inst) {
                        outcome.origin = Some(snapshot.origin);
                        outcome.frames = frames_at(snapshot, self.schema, &|value| regs.get(value), world)
                            .map_err(|f| error(at, f))?;
                    }
                    return Ok(outcome);
                }
            }
        }
        Ok(outcome)
    }
}
