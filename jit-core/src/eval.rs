//! The evaluator: the oracle that every other way to run a trace is compared with.
//!
//! Problem: optimizer, lowering and resume data are right when nobody can tell that they ran; something
//! simple has to say what a trace means. Design: seed 002's Figure 5, extended to every op: one register per
//! value, one step per instruction, real memory in a [`World`]. Recorded traces run directly (record
//! operations are answered from the layout's descriptors), optimized ones just as well (raw loads and stores,
//! calls, virtual objects and pending stores in snapshots, which are lifted into the world at an exit). Any
//! guard execution can be forced to fail, and a run can be stopped at a snapshot of a given iteration: there
//! the state of an optimized run is compared. Units that call one another run in the same world, each with
//! the frame's base of its own (`eval/run.rs`).
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
mod run;
mod step;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_of_units;

pub use against::{compare_with_recorded, finish_types, may_end_as};
pub use exit::{compare_frames, compare_outcomes, frames_at, FrameState, SlotState};
#[cfg(feature = "testgen")]
pub(crate) use step::Registers;
pub(crate) use step::{step, Flow};

use std::collections::BTreeSet;

use crate::ir::{ExitKind, LabelId, Trace, UnitId};
use crate::loops::Entering;
use crate::ops::Op;
use crate::schema::{Schema, TagId};
use crate::types::Bits;
use crate::world::World;

/// Why a trace has no meaning at some instruction.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("instruction {at}: {fault}")]
pub struct EvalError {
    /// Index of the instruction, in the trace that it belongs to.
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
    /// Instructions to execute at most, those of units that are called included.
    pub steps: u64,
    /// Jumps to take at most.
    pub iterations: u64,
    /// Fail the Nth guard execution, counted from 1, whatever its condition (and before any effect it has).
    /// Calls of units do not count, as they leave nobody by themselves; looking at what came of them does.
    pub force_guard: Option<u64>,
    /// Stop where the recorded snapshot with this number was taken, in this iteration.
    pub stop_at: Option<(u32, u64)>,
    /// In which trace, and which time that one runs, it is to stop.
    pub stop_in: Place,
}

impl Default for Limits {
    fn default() -> Limits {
        let stop_in = Place::default();
        Limits { steps: 1_000_000, iterations: u64::MAX, force_guard: None, stop_at: None, stop_in }
    }
}

/// A trace of a run, and which call it runs for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Place {
    /// The trace: 0 is the one that is run, the others follow in the order of [`Evaluator::with_units`].
    pub trace: usize,
    /// How many calls of units had begun, this one included: 0 for the trace that is run.
    pub call: u64,
}

/// How a run ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// At a `finish`, with the bits of its arguments.
    Finish(Vec<Bits>),
    /// At a `return_unit`, where the trace that is run is one of a unit.
    Returned {
        /// The tag.
        tag: TagId,
        /// The payload; none for tags without one.
        bits: Option<Bits>,
    },
    /// At a guard, maybe of a unit that was called: see [`Outcome::place`].
    Exit {
        /// The exit's number: see [`Trace::exit_numbers`].
        number: u32,
        /// Its kind.
        kind: ExitKind,
    },
    /// At an `enter_loop` that goes on elsewhere ([`Evaluator::going_on`]), with what is passed there.
    Enters(Vec<Bits>),
    /// At the snapshot it was asked to stop at.
    Stopped,
    /// At one of the limits.
    OutOfFuel,
}

/// A caller of a unit that was left, as compiled code writes it down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Caller {
    /// Its trace, as in [`Place::trace`].
    pub trace: usize,
    /// Its exit for the call.
    pub exit: u32,
    /// Slots from the base at entry to the base of its frame.
    pub base: i32,
}

/// What a run led to. The world holds the rest of the state: lifted objects and pending stores are made.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// Where it ended.
    pub place: Place,
    /// Slots from the base at entry to that of the frame of the trace that it ended in.
    pub base: i32,
    /// Where units were left: who has called them, innermost first. Who lends a unit its own frame has
    /// nothing to say.
    pub callers: Vec<Caller>,
    /// The recorded snapshot at which the interpreter goes on, if the exit has one.
    pub origin: Option<u32>,
    /// Jumps taken, by the trace that it ended in.
    pub iteration: u64,
    /// The host's frames there, outermost first: those of each caller, of which the last is the frame that it
    /// has made for its callee (without slots, which are the callee's), then those of the exit. So a frame in
    /// which a unit was left comes twice, as compiled code has it.
    pub frames: Vec<FrameState>,
    /// Where it ended by an exit: the values that the exit stores to the exit buffer, in buffer order. A side
    /// trace begins with them.
    pub live: Vec<Bits>,
    /// Slots, from the frame's base at entry on, that the snapshots of exits up to here mention: what memory
    /// holds in those is not the program's state, unless the frames say so.
    pub mentioned: BTreeSet<i32>,
    /// Guard executions.
    pub guards_executed: u64,
    /// Whether a guard that was made to fail has led to a side trace.
    pub forced_aside: bool,
    /// Executions of each exit's instruction in the trace that is run, by exit number.
    pub exit_counts: Vec<u64>,
    /// Executions of each op, by `Op as usize`.
    pub op_counts: Vec<u64>,
}

/// A trace, and what is looked up in it.
struct Code<'a> {
    trace: &'a Trace,
    /// Index of each label's instruction.
    labels: Vec<Option<usize>>,
    /// Exit number of each instruction that is an exit.
    exits: Vec<Option<u32>>,
}

impl<'a> Code<'a> {
    fn new(trace: &'a Trace) -> Code<'a> {
        let mut labels = vec![None; trace.labels.len()];
        for (index, inst) in trace.insts.iter().enumerate() {
            if let (Op::Label, Some(label)) = (inst.op, inst.label()) {
                if let Some(place) = labels.get_mut(label.index()) {
                    *place = Some(index);
                }
            }
        }
        Code { trace, labels, exits: trace.exit_numbers() }
    }
}

/// Where a side trace of a unit begins; traces are numbered as in [`Place::trace`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Side {
    /// The trace that is left.
    pub parent: usize,
    /// By which exit.
    pub exit: u32,
    /// The trace that goes on: its inputs are the exit's values that its `entry_cells` name.
    pub trace: usize,
}

/// Runs one trace, and the units that it calls.
pub struct Evaluator<'a> {
    schema: &'a Schema,
    codes: Vec<Code<'a>>,
    sides: &'a [Side],
    entering: Option<&'a Entering>,
    start: Option<LabelId>,
}

impl<'a> Evaluator<'a> {
    /// An evaluator of `trace`; the trace is not checked beforehand.
    pub fn new(trace: &'a Trace, schema: &'a Schema) -> Evaluator<'a> {
        Evaluator { schema, codes: vec![Code::new(trace)], sides: &[], entering: None, start: None }
    }

    /// The same that knows these traces: units, found by their entries' [`Trace::unit`], and side traces.
    /// Others do no harm.
    pub fn with_units(mut self, traces: &'a [Trace]) -> Evaluator<'a> {
        self.codes.extend(traces.iter().map(Code::new));
        self
    }

    /// The same where these exits lead to side traces.
    pub fn with_sides(mut self, sides: &'a [Side]) -> Evaluator<'a> {
        self.sides = sides;
        self
    }

    /// The same where the trace's `enter_loop` goes on in another trace, if the tags are what it wants.
    pub fn going_on(mut self, entering: &'a Entering) -> Evaluator<'a> {
        self.entering = Some(entering);
        self
    }

    /// The same where the run begins at this label: the inputs are its arguments, and slots are as they are.
    pub fn starting_at(mut self, label: LabelId) -> Evaluator<'a> {
        self.start = Some(label);
        self
    }

    /// The index of the instruction with that exit number.
    pub fn exit_instruction(&self, number: u32) -> Option<usize> {
        self.codes[0].trace.exits().nth(number as usize).map(|(index, _)| index)
    }

    /// The entry of a unit.
    fn unit(&self, unit: UnitId) -> Option<usize> {
        let is_entry = |code: &Code<'_>| code.trace.unit == Some(unit) && code.trace.entry_cells.is_empty();
        self.codes.iter().position(is_entry)
    }

    /// Runs the trace in `world` with these inputs. Objects of the test world that the trace names as
    /// constants are found there; a trace bound to another world's addresses must not be run here. The inputs
    /// that lie in slots are written to the world's frame as well.
    pub fn run(&self, world: &mut World, inputs: &[Bits], limits: Limits) -> Result<Outcome, EvalError> {
        if self.start.is_none() {
            exit::enter(self.codes[0].trace, self.schema, world, inputs);
        }
        run::run(self, world, inputs, limits)
    }
}
