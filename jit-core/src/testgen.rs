//! Random valid traces.
//!
//! Problem: the interesting bugs of a trace compiler lie where operations meet, and nobody writes all
//! meetings down. Design: traces are valid by construction, never by rejection: a division is emitted after
//! a guard of its divisor, a field access after a guard of its class, an address stays inside a buffer by
//! masking. While a trace grows, each instruction is executed in a *shadow* world, so that most guards hold
//! in the first iteration (one that would fail is taken back, or rarely kept), tags fit what memory holds,
//! and loops go round; in later iterations the values have changed and guards fail where they may. Snapshots
//! model an interpreter: results get homes in the slots of one to three nested frames and stay live there
//! until they are overwritten.
//!
//! Invariant: the same seed gives the same [`Case`], whatever ran before; a case's trace verifies, ends
//! within [`MAX_ITERATIONS`] jumps, and never computes a number from an address or from the bits of a NaN, so
//! its results are the same in all copies of its world.
//!
//! ```
//! use std::sync::Arc;
//! use tracelift_core::{eval::*, testbed::standard_schema, testgen::*, world::World};
//! let schema = Arc::new(standard_schema());
//! let case = generate(7, &schema);
//! let mut world = World::build(&case.spec, &schema);
//! let inputs = case.enter(&mut world);
//! let outcome = Evaluator::new(&case.trace, &schema).run(&mut world, &inputs, Limits::default()).unwrap();
//! assert_ne!(outcome.end, End::OutOfFuel);
//! ```

mod calls;
mod chosen;
mod counted;
mod delayed;
mod folds;
mod graphs;
mod guards;
mod loops;
mod memory;
mod numbers;
mod pick;
mod records;
mod regions;
mod rng;
mod shape;
mod shrink;
mod spec;
mod units;

use std::sync::Arc;

pub use regions::generate_region;
pub use rng::Rng;
pub use shrink::shrink;
pub use units::{generate_tree, generate_units, side_of, tree_side, Program, TreeCase, TREE_SLOTS};

use crate::eval::{step, Flow, Registers};
use crate::ir::{Inst, SnapId, Trace, Value};
use crate::ops::Op;
use crate::schema::{LayoutId, Schema};
use crate::snapshot::{Frame, SlotValue, Snapshot, Source};
use crate::types::{Bits, Type};
use crate::world::World;
use crate::world_spec::{SpecValue, WorldSpec};

/// Jumps that a generated trace takes at most.
pub const MAX_ITERATIONS: u64 = 16;

/// A trace with a world to run it in.
#[derive(Clone, Debug)]
pub struct Case {
    /// What it was made from.
    pub seed: u64,
    /// The trace, as a recorder would have written it.
    pub trace: Trace,
    /// Its world's objects.
    pub spec: WorldSpec,
    /// Its inputs.
    pub inputs: Vec<SpecValue>,
}

impl Case {
    /// The inputs as bits of `world`; where the trace is entered through slots, they are written there as
    /// well.
    pub fn enter(&self, world: &mut World) -> Vec<Bits> {
        let schema = world.schema();
        let inputs: Vec<Bits> = self.inputs.iter().map(|&input| world.bits(input)).collect();
        let slots = schema.slots();
        for (slot, &bits) in self.trace.entry.iter().zip(&inputs) {
            let at = world.frame_base() + slot.slot as u64 * slots.stride as u64;
            world.write(at + slots.payload as u64, 8, bits).expect("entry slots lie in the world's frame");
            if let Some((offset, width)) = slots.tag {
                let tag = schema.tag(slot.tag).bits;
                world.write(at + offset as u64, width, tag).expect("entry slots lie in the world's frame");
            }
        }
        inputs
    }
}

/// The case of this seed over the standard test schema.
pub fn generate(seed: u64, schema: &Arc<Schema>) -> Case {
    Generator::new(seed, schema).case()
}

/// A guard that would fail in the shadow, or nothing suitable to work on: this step is given up.
struct Refused;

type Made<T = ()> = Result<T, Refused>;

/// What is known of a value by construction.
#[derive(Clone, Copy, Debug)]
struct Var {
    value: Value,
    ty: Type,
    /// A `Ref` that is known not to be null, in every iteration.
    nonnull: bool,
    /// A `Ref` of this class, in every iteration (then it is not null either).
    class: Option<LayoutId>,
    /// The result of a `new` of this iteration.
    fresh: bool,
}

/// What a slot of the modelled interpreter holds.
type Home = Option<SlotValue>;

/// Slots of each modelled frame.
const HOMES: usize = 7;

struct ModelFrame {
    base: i32,
    words: [u64; 2],
    homes: [Home; HOMES],
}

/// What makes one trace. So many fields: the trace, the machine that runs it meanwhile, and what earlier
/// operations left for later ones to use, which each kind of operation draws from.
struct Generator {
    rng: Rng,
    schema: Arc<Schema>,
    spec: WorldSpec,
    shadow: World,
    trace: Trace,
    regs: Registers,
    vars: Vec<Var>,
    frames: Vec<ModelFrame>,
    /// The snapshot that guards may still use: nothing visible has happened since.
    snapshot: Option<SnapId>,
    /// A guard that fails in the shadow was kept: nothing after it is executed there.
    dead: bool,
    /// The loop's counter, if the trace is a loop.
    counter: Option<Value>,
    context: Option<Value>,
    /// Pure operations so far, to repeat.
    pure: Vec<Inst>,
    /// Guards without effect so far, to repeat.
    guards: Vec<Inst>,
    /// Whether the trace is mostly about objects: graphs, records that go round, stores of fresh objects.
    about_objects: bool,
    /// Label arguments, and the record that shall take their place in the next iteration.
    successors: Vec<(Value, Value)>,
    /// Label arguments that go round as themselves, because something invariant was made of them.
    invariant: Vec<Value>,
    /// Set if the loop counts down, or up to a limit.
    counted: Option<counted::Counted>,
}

impl Generator {
    fn new(seed: u64, schema: &Arc<Schema>) -> Generator {
        let mut rng = Rng::new(seed);
        let spec = spec::random(&mut rng, schema);
        let shadow = World::build(&spec, schema);
        let trace = Trace::new(&format!("random{seed}"));
        let regs = Registers::new(&trace, &shadow).unwrap_or_else(|_| unreachable!("an empty trace"));
        Generator {
            rng,
            schema: schema.clone(),
            spec,
            shadow,
            trace,
            regs,
            vars: Vec::new(),
            frames: Vec::new(),
            snapshot: None,
            dead: false,
            counter: None,
            context: None,
            pure: Vec::new(),
            guards: Vec::new(),
            about_objects: false,
            successors: Vec::new(),
            invariant: Vec::new(),
            counted: None,
        }
    }

    /// The bits that a value has in the shadow.
    fn shadow(&self, value: Value) -> Option<Bits> {
        self.regs.get(value).ok()
    }

    /// Emits an instruction, executes it in the shadow and gives its result a home. Guards get a snapshot.
    fn emit(&mut self, mut inst: Inst) -> Made<Option<Value>> {
        if inst.op.is_guard() && inst.snap.is_none() {
            inst.snap = Some(self.snapshot());
        }
        self.sync();
        let values = self.trace.values.len();
        let ty = inst.result_type(&self.trace, &self.schema);
        let result = self.trace.push(inst, ty);
        self.sync();
        let inst = self.trace.insts.last().expect("just pushed").clone();
        if !self.dead {
            let schema = self.schema.clone();
            match step(&self.trace, &schema, &mut self.shadow, &mut self.regs, &inst) {
                Ok(Flow::Leave) if inst.op != Op::GuardAlwaysFails && !self.rng.one_in(60) => {
                    self.trace.insts.pop();
                    self.trace.values.truncate(values);
                    self.regs.truncate(values);
                    return Err(Refused);
                }
                Ok(Flow::Leave) => self.dead = true,
                Ok(_) => {}
                Err(fault) => panic!("the generator made an invalid {inst:?}: {fault}"),
            }
        }
        if inst.has_visible_effect(&self.schema) {
            self.snapshot = None;
        }
        if inst.op.is(crate::ops::Flags::PURE) && !inst.args.is_empty() {
            self.pure.push(inst.clone());
        }
        if inst.op.is_guard() && inst.op.info().flags.has(crate::ops::Flags::GUARD) && result.is_none() {
            self.guards.push(inst);
        }
        Ok(result)
    }

    fn sync(&mut self) {
        let synced = self.regs.extend(&self.trace, &self.shadow);
        synced.unwrap_or_else(|fault| panic!("the generator made an invalid constant: {fault}"));
    }

    /// Emits an instruction whose result nothing else shall use.
    fn hidden(&mut self, inst: Inst) -> Made<Value> {
        Ok(self.emit(inst)?.expect("an op with a result"))
    }

    /// Emits an instruction and makes its result a variable.
    fn value(&mut self, inst: Inst) -> Made<Value> {
        let value = self.hidden(inst)?;
        self.add_var(value);
        Ok(value)
    }

    /// Emits an op without payload.
    fn op(&mut self, op: Op, args: &[Value]) -> Made<Value> {
        self.value(Inst::new(op, args))
    }

    fn add_var(&mut self, value: Value) {
        let ty = self.trace.ty(value);
        self.vars.push(Var { value, ty, nonnull: false, class: None, fresh: false });
        if self.rng.chance(75) {
            self.give_home(Source::Value(value));
        }
    }

    /// Puts a value into a random slot of a random frame.
    fn give_home(&mut self, source: Source) {
        let tag = match source.value() {
            Some(value) => self.slot_tag(self.trace.ty(value)),
            None => *self.rng.pick(&["nil", "true", "false"]),
        };
        let tag = self.schema.find_tag(tag).expect("a standard tag");
        if self.frames.is_empty() {
            return;
        }
        let frame = self.rng.below(self.frames.len() as u64) as usize;
        let slot = self.rng.below(HOMES as u64) as usize;
        self.frames[frame].homes[slot] = Some(SlotValue { slot: slot as i32, tag, source });
    }

    fn slot_tag(&mut self, ty: Type) -> &'static str {
        match ty {
            Type::Int => "int",
            Type::Float => "float",
            Type::Addr => "addr",
            Type::Ref if self.rng.chance(50) => "table",
            Type::Ref => "ref",
        }
    }

    /// A snapshot for the next guard: an old one, as long as nothing visible happened, or one taken here.
    fn snapshot(&mut self) -> SnapId {
        if let (Some(snapshot), true) = (self.snapshot, self.rng.chance(80)) {
            return snapshot;
        }
        // As if each third one stood after the back edge of an inner loop.
        let edges = self.trace.snapshots.len() as u32 / 3;
        let snapshot = Snapshot { edges, ..snapshot_of(&self.trace, &mut self.frames) };
        let id = self.trace.add_snapshot(snapshot);
        self.snapshot = Some(id);
        id
    }
}

/// A snapshot of these frames at the trace's end, whose innermost frame is one instruction farther.
fn snapshot_of(trace: &Trace, frames: &mut [ModelFrame]) -> Snapshot {
    if let Some(frame) = frames.last_mut() {
        frame.words[1] += 1;
    }
    let frames = frames.iter().map(|frame| Frame {
        base: frame.base,
        words: frame.words.iter().copied().collect(),
        slots: frame.homes.iter().copied().flatten().collect(),
    });
    Snapshot {
        origin: trace.snapshots.len() as u32,
        position: trace.insts.len() as u32,
        frames: frames.collect(),
        ..Snapshot::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::{compare_outcomes, finish_types, End, Evaluator, Limits};

    #[test]
    fn cases_are_deterministic_and_run_without_errors() {
        let schema = Arc::new(crate::testbed::standard_schema());
        let mut ops = vec![0u64; Op::COUNT];
        let mut deep = 0;
        for seed in 0..400 {
            let (one, two) = (generate(seed, &schema), generate(seed, &schema));
            assert_eq!((&one.trace, &one.spec), (&two.trace, &two.spec), "seed {seed}");
            let run = |case: &Case| {
                let mut world = World::build(&case.spec, &schema);
                let inputs = case.enter(&mut world);
                let evaluator = Evaluator::new(&case.trace, &schema);
                let outcome = evaluator.run(&mut world, &inputs, Limits::default());
                (outcome.unwrap_or_else(|error| panic!("seed {seed}: {error}")), world)
            };
            let ((left, left_world), (right, right_world)) = (run(&one), run(&two));
            assert_ne!(left.end, End::OutOfFuel);
            assert!(left.iteration <= MAX_ITERATIONS);
            let types = finish_types(&one.trace);
            compare_outcomes(&schema, (&left, &left_world), (&right, &right_world), &types)
                .unwrap_or_else(|difference| panic!("seed {seed}: {difference}"));
            ops.iter_mut().zip(&left.op_counts).for_each(|(sum, count)| *sum += count);
            deep += (left.iteration > 0) as u32;
        }
        assert!(deep > 100, "only {deep} loops went round");
        // A trace alone calls nobody, and goes one way: see `units` and `regions`.
        let of_others = [Op::CallUnit, Op::UnitResult, Op::ReturnUnit, Op::JumpIf, Op::EnterLoop];
        let missing = Op::ALL.iter().filter(|op| ops[**op as usize] == 0 && !of_others.contains(op));
        let missing: Vec<_> = missing.collect();
        assert!(missing.is_empty(), "never executed: {missing:?}");
    }
}
