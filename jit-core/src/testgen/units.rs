//! Random programs of units that call one another.
//!
//! Problem: what a unit leaves behind, its caller passes on and the host puts together meets in no single
//! trace. Design: one to three units and a main trace, straight lines that call units where they stand; the
//! first argument of a unit says how deep calls may still go, each call passes one less, and a guard at the
//! head leaves where it is not positive, or goes on in a side trace that returns. Numbers are kept small, so
//! that most guards hold and some do not, at every depth. Frames and homes are those of the other random
//! traces (`super`), but nothing is executed while a trace grows: what is read and written is of a class that
//! is known by construction.
//!
//! Invariant: the same seed gives the same [`Program`]; its traces verify, its calls end, it writes no slot
//! beyond the world's frame, and no float in it is a NaN.
//!
//! Example: `unit 0`, `entry [0: int, 1: ref]`, `guard_true(int_gt(i0, 0)) @0`, a `new`, a call of unit 1
//! with it, `return_unit(f9, float)`.

mod steps;
mod trees;

pub use trees::{generate_tree, tree_side, TreeCase, TREE_SLOTS};

use super::{snapshot_of, spec, ModelFrame, Rng, HOMES};
use crate::eval::Side;
use crate::ir::{Const, EntrySlot, ExitKind, Inst, Payload, SnapId, Trace, UnitId, Value};
use crate::ops::Op;
use crate::schema::{LayoutId, Schema, TagId};
use crate::snapshot::{live_values, SlotValue, Source};
use crate::types::{Bits, Type};
use crate::world::World;
use crate::world_spec::{SpecValue, WorldSpec};

/// Slots of a frame here: calls are to go deep within the world's frame.
const SLOTS: usize = 4;

/// How deep calls may go below the main trace, at most.
const DEPTH: u64 = 3;

/// Calls of a trace, at most.
const CALLS: usize = 4;

/// A program: traces that call one another, and a world to run them in.
#[derive(Clone, Debug)]
pub struct Program {
    /// What it was made from.
    pub seed: u64,
    /// The main trace, the units' entries by number, and side traces.
    pub traces: Vec<Trace>,
    /// Where side traces begin: always at the first exit of a unit's entry.
    pub sides: Vec<Side>,
    /// Its world's objects.
    pub spec: WorldSpec,
    /// The main trace's inputs.
    pub inputs: Vec<SpecValue>,
}

impl Program {
    /// The inputs as bits of `world`.
    pub fn enter(&self, world: &World) -> Vec<Bits> {
        self.inputs.iter().map(|&input| world.bits(input)).collect()
    }
}

/// What a value is known to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// A small integer.
    Int,
    /// A finite float.
    Float,
    /// An object of this layout.
    Object(LayoutId),
    /// An object, never null.
    Present,
    /// Whatever.
    Any(Type),
}

impl Kind {
    fn ty(self) -> Type {
        match self {
            Kind::Int => Type::Int,
            Kind::Float => Type::Float,
            Kind::Object(_) | Kind::Present => Type::Ref,
            Kind::Any(ty) => ty,
        }
    }
}

/// What callers have to know of a unit.
#[derive(Clone)]
struct Signature {
    unit: UnitId,
    /// Its parameters after the first one.
    params: Vec<Kind>,
    /// What its entry trace returns; nothing: nil.
    returns: Option<Kind>,
    calls: bool,
}

/// A trace that grows.
struct Maker<'a> {
    rng: &'a mut Rng,
    schema: &'a Schema,
    units: &'a [Signature],
    trace: Trace,
    vars: Vec<(Value, Kind)>,
    frames: Vec<ModelFrame>,
    snapshot: Option<SnapId>,
    /// What calls pass as the first argument, if the trace may call units.
    depth: Option<Value>,
    /// Slots of a frame, and the first slots of the first frame that new values do not get.
    slots: usize,
    kept: usize,
}

/// The program of this seed over the standard test schema.
pub fn generate_units(seed: u64, schema: &Schema) -> Program {
    let mut rng = Rng::new(seed ^ 0x0075_6e69_7473);
    let spec = spec::random(&mut rng, schema);
    let units: Vec<Signature> = signatures(&mut rng, schema);
    let mut traces = vec![Trace::default()];
    let mut sides = Vec::new();
    let mut later = Vec::new();
    for (index, signature) in units.iter().enumerate() {
        let mut maker = Maker::new(&mut rng, schema, &units, &format!("unit{index}"));
        maker.unit(signature);
        let trace = maker.trace;
        if signature.calls && rng.chance(75) {
            later.extend(side_of(rng.bits(), &trace, 0, schema).map(|side| (index + 1, side)));
        }
        traces.push(trace);
    }
    for (parent, trace) in later {
        sides.push(Side { parent, exit: 0, trace: traces.len() });
        traces.push(trace);
    }
    let mut maker = Maker::new(&mut rng, schema, &units, &format!("units{seed}"));
    let inputs = maker.main(&spec);
    traces[0] = maker.trace;
    Program { seed, traces, sides, spec, inputs }
}

fn signatures(rng: &mut Rng, schema: &Schema) -> Vec<Signature> {
    let [boxed, pair] = ["BoxedInteger", "Pair"].map(|name| schema.find_layout(name));
    let kinds = [
        Some(Kind::Int),
        Some(Kind::Int),
        Some(Kind::Float),
        boxed.map(Kind::Object),
        pair.map(Kind::Object),
    ];
    let count = rng.range(1, 3);
    let of = |index| {
        let params = (0..rng.below(4)).filter_map(|_| *rng.pick(&kinds)).collect();
        let returns = if rng.chance(85) { *rng.pick(&kinds[1..4]) } else { None };
        Signature { unit: UnitId(index as u32), params, returns, calls: rng.chance(65) }
    };
    (0..count).map(of).collect()
}

/// A side trace for this exit of a unit's trace, which goes on with all that the exit has, and returns.
/// `None` where the exit is no place to begin at: it has objects that do not exist, say.
pub fn side_of(seed: u64, parent: &Trace, exit: u32, schema: &Schema) -> Option<Trace> {
    let (_, inst) = parent.exits().nth(exit as usize)?;
    let snapshot = parent.snapshot_of(inst)?;
    let is_plain = snapshot.virtuals.is_empty() && snapshot.pending.is_empty();
    if !inst.op.is_guard() || inst.op == Op::CallUnit || !is_plain || inst.exit != ExitKind::Guard {
        return None;
    }
    let mut rng = Rng::new(seed);
    let live = live_values(parent, inst);
    let mut cells: Vec<u32> = (0..live.len() as u32).collect();
    if rng.chance(50) {
        cells.reverse();
    }
    let mut maker = Maker::new(&mut rng, schema, &[], &format!("{}_{exit}", parent.name));
    maker.trace.unit = parent.unit;
    let given: Vec<Value> = cells.iter().map(|&cell| live[cell as usize]).collect();
    let inputs: Vec<Value> = given.iter().map(|&value| maker.trace.new_value(parent.ty(value))).collect();
    maker.trace.entry_cells = cells;
    maker.trace.add_label("L0", &inputs);
    for &input in &inputs {
        let ty = maker.trace.ty(input);
        maker.vars.push((input, Kind::Any(ty)));
    }
    for frame in &snapshot.frames {
        let mut homes = [None; HOMES];
        for slot in &frame.slots {
            let source = match slot.source {
                Source::Value(value) => Source::Value(match parent.constant_of(value) {
                    Some(constant) => maker.trace.constant(parent.ty(value), constant),
                    None => inputs[given.iter().position(|&given| given == value)?],
                }),
                source => source,
            };
            *homes.get_mut(usize::try_from(slot.slot).ok()?)? = Some(SlotValue { source, ..*slot });
        }
        let words = [frame.words[0], frame.words[1]];
        maker.frames.push(ModelFrame { base: frame.base, words, homes });
    }
    let length = maker.rng.range(0, 5);
    maker.body(length);
    let kind = *maker.rng.pick(&[Kind::Int, Kind::Float, Kind::Int, Kind::Present]);
    let returns = maker.rng.chance(90).then_some(kind);
    maker.returns(returns);
    Some(maker.trace)
}

impl<'a> Maker<'a> {
    fn new(rng: &'a mut Rng, schema: &'a Schema, units: &'a [Signature], name: &str) -> Maker<'a> {
        let (trace, vars, frames) = (Trace::new(name), Vec::new(), Vec::new());
        let (slots, kept) = (SLOTS, 0);
        Maker { rng, schema, units, trace, vars, frames, snapshot: None, depth: None, slots, kept }
    }

    /// The entry trace of a unit.
    fn unit(&mut self, signature: &Signature) {
        self.trace.unit = Some(signature.unit);
        let kinds: Vec<Kind> = [&[Kind::Int], &signature.params[..]].concat();
        let args: Vec<Value> = kinds.iter().map(|kind| self.trace.new_value(kind.ty())).collect();
        self.trace.add_label("L0", &args);
        self.push_frame();
        for (slot, (&arg, &kind)) in args.iter().zip(&kinds).enumerate() {
            let tag = self.tag_of(kind.ty());
            self.trace.entry.push(EntrySlot { slot: slot as i32, tag });
            self.vars.push((arg, kind));
            self.frames[0].homes[slot] =
                Some(SlotValue { slot: slot as i32, tag, source: Source::Value(arg) });
        }
        let (zero, one) = (self.trace.const_int(0), self.trace.const_int(1));
        if signature.calls || self.rng.chance(50) {
            let is_deep = self.pure(Op::IntGt, &[args[0], zero]);
            self.guard(Op::GuardTrue, &[is_deep]);
        }
        if signature.calls {
            self.depth = Some(self.pure(Op::IntSub, &[args[0], one]));
        }
        let length = self.rng.range(1, 9);
        self.body(length);
        if signature.calls && !self.trace.insts.iter().any(|inst| inst.op == Op::CallUnit) {
            self.call();
        }
        let length = self.rng.range(0, 4);
        self.body(length);
        self.frames.truncate(1);
        self.returns(signature.returns);
    }

    /// The main trace: a straight line, or a loop of a few iterations.
    fn main(&mut self, spec: &WorldSpec) -> Vec<SpecValue> {
        let layouts = ["BoxedInteger", "Pair"].map(|name| self.layout(name));
        let kinds = [
            Kind::Int,
            Kind::Int,
            Kind::Float,
            Kind::Object(layouts[0]),
            Kind::Object(layouts[1]),
            Kind::Int,
        ];
        let args: Vec<Value> = kinds.iter().map(|kind| self.trace.new_value(kind.ty())).collect();
        let label = self.trace.add_label("L0", &args);
        let mut inputs: Vec<SpecValue> = Vec::new();
        for (position, &kind) in kinds.iter().enumerate() {
            inputs.push(match kind {
                _ if position == 0 => SpecValue::Bits(0),
                Kind::Float => SpecValue::Bits((self.rng.below(64) as f64 * 0.5).to_bits()),
                Kind::Object(layout) => SpecValue::Object(*self.rng.pick(&spec::objects_of(spec, layout))),
                _ => SpecValue::Bits(self.rng.range(1, DEPTH)),
            });
        }
        self.push_frame();
        self.vars.extend(args.iter().copied().zip(kinds));
        // How deep calls may go is an input, or a constant.
        self.depth = Some(match self.rng.chance(70) {
            true => args[1],
            false => self.trace.const_int(DEPTH as i64),
        });
        let is_loop = self.rng.chance(40);
        let length = self.rng.range(1, 8);
        self.body(length);
        self.call();
        let length = self.rng.range(0, 6);
        self.body(length);
        match is_loop {
            true => self.close(label, &args, &kinds),
            false => {
                let results: Vec<Value> = (0..self.rng.below(4))
                    .map(|_| self.rng.below(self.vars.len() as u64) as usize)
                    .map(|at| self.vars[at].0)
                    .collect();
                let snap = self.snapshot();
                self.trace.push(Inst::new(Op::Finish, &results).at(Some(snap)), None);
            }
        }
        inputs
    }

    fn close(&mut self, label: crate::ir::LabelId, args: &[Value], kinds: &[Kind]) {
        let one = self.trace.const_int(1);
        let next = self.pure(Op::IntAdd, &[args[0], one]);
        let limit = self.rng.range(2, 4);
        let limit = self.trace.const_int(limit as i64);
        let goes_on = self.pure(Op::IntLt, &[next, limit]);
        let snap = self.snapshot();
        let guard = Inst::new(Op::GuardTrue, &[goes_on]).exit_kind(ExitKind::LoopEnd).at(Some(snap));
        self.trace.push(guard, None);
        let mut passed = vec![next, args[1]];
        for (&arg, &kind) in args.iter().zip(kinds).skip(2) {
            let other = if self.rng.chance(50) { self.known(kind) } else { None };
            passed.push(other.unwrap_or(arg));
        }
        self.trace.push(Inst::new(Op::Jump, &passed).with(Payload::Label(label)), None);
    }

    fn returns(&mut self, kind: Option<Kind>) {
        let (tag, value) = match kind {
            Some(kind) => {
                let value = self.operand(kind);
                (self.tag_of(kind.ty()), Some(value))
            }
            None => {
                let name = *self.rng.pick(&["nil", "true", "false"]);
                (self.tag(name), None)
            }
        };
        self.trace.push(Inst::new(Op::ReturnUnit, value.as_slice()).with(Payload::Tag(tag)), None);
    }

    fn body(&mut self, length: u64) {
        for _ in 0..length {
            match self.rng.below(20) {
                0..=3 => self.arithmetic(),
                4 => self.floats(),
                5..=6 => _ = self.new_object(),
                7..=8 => self.read(),
                9..=11 => self.write(),
                12..=14 => self.check(),
                15 if self.frames.len() < 3 => self.push_frame(),
                16 if self.frames.len() > 1 => _ = self.frames.pop(),
                _ if self.depth.is_some() => self.call(),
                _ => self.check(),
            }
        }
    }

    fn layout(&self, name: &str) -> LayoutId {
        self.schema.find_layout(name).expect("a standard layout")
    }

    fn tag(&self, name: &str) -> TagId {
        self.schema.find_tag(name).expect("a standard tag")
    }

    fn tag_of(&self, ty: Type) -> TagId {
        self.tag(match ty {
            Type::Int => "int",
            Type::Float => "float",
            Type::Ref => "ref",
            Type::Addr => "addr",
        })
    }

    fn push_frame(&mut self) {
        let depth = self.frames.len();
        let words = [100 + depth as u64, self.rng.below(1000)];
        let base = self.frames.last().map_or(0, |frame| frame.base + self.slots as i32);
        self.frames.push(ModelFrame { base, words, homes: [None; HOMES] });
    }

    fn push(&mut self, inst: Inst) -> Option<Value> {
        let ty = inst.result_type(&self.trace, self.schema);
        let is_visible = inst.has_visible_effect(self.schema);
        let result = self.trace.push(inst, ty);
        if is_visible {
            self.snapshot = None;
        }
        result
    }

    fn pure(&mut self, op: Op, args: &[Value]) -> Value {
        self.push(Inst::new(op, args)).expect("an op with a result")
    }

    fn guard(&mut self, op: Op, args: &[Value]) {
        let snap = self.snapshot();
        self.push(Inst::new(op, args).at(Some(snap)));
    }

    /// A value that is known to be of a kind, if there is one.
    fn known(&mut self, kind: Kind) -> Option<Value> {
        let fits =
            |&(_, of): &(Value, Kind)| of == kind || kind == Kind::Present && matches!(of, Kind::Object(_));
        let fitting: Vec<Value> = self.vars.iter().filter(|&var| fits(var)).map(|var| var.0).collect();
        (!fitting.is_empty()).then(|| *self.rng.pick(&fitting))
    }

    /// A value of a kind; a constant where there is none, and now and then.
    fn operand(&mut self, kind: Kind) -> Value {
        if self.rng.chance(85) {
            if let Some(known) = self.known(kind) {
                return known;
            }
        }
        match kind {
            Kind::Int => {
                let int = self.rng.below(8);
                self.trace.const_int(int as i64)
            }
            Kind::Float => {
                let float = self.rng.below(16) as f64 * 0.25;
                self.trace.const_float(float)
            }
            // The first objects of a random world are such, the sixth is a pair.
            Kind::Object(layout) if layout == self.layout("Pair") => {
                self.trace.constant(Type::Ref, Const::Object(5))
            }
            _ => self.trace.constant(Type::Ref, Const::Object(1)),
        }
    }

    /// A new variable, which gets a home more often than not.
    fn add(&mut self, value: Value, kind: Kind) {
        self.vars.push((value, kind));
        if self.rng.chance(70) {
            let source = if self.rng.chance(92) { Source::Value(value) } else { Source::Nothing };
            let tag = match source {
                Source::Nothing => self.tag("nil"),
                _ => self.tag_of(kind.ty()),
            };
            let frame = self.rng.below(self.frames.len() as u64) as usize;
            let kept = if frame == 0 { self.kept } else { 0 };
            let slot = kept + self.rng.below((self.slots - kept) as u64) as usize;
            self.frames[frame].homes[slot] = Some(SlotValue { slot: slot as i32, tag, source });
        }
    }

    /// A snapshot for the next guard: the last one, as long as nothing visible happened, or one taken here.
    fn snapshot(&mut self) -> SnapId {
        if let (Some(snapshot), true) = (self.snapshot, self.rng.chance(70)) {
            return snapshot;
        }
        let id = self.trace.add_snapshot(snapshot_of(&self.trace, &mut self.frames));
        self.snapshot = Some(id);
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::{End, Evaluator, Limits};
    use crate::verify::{verify, Mode};
    use std::sync::Arc;

    #[test]
    fn programs_are_deterministic_verify_and_end() {
        let schema = Arc::new(crate::testbed::standard_schema());
        let (mut finished, mut left, mut deep) = (0, 0, 0);
        let mut executed = vec![0; Op::COUNT];
        for seed in 0..600 {
            let (program, same) = (generate_units(seed, &schema), generate_units(seed, &schema));
            assert_eq!((&program.traces, &program.spec), (&same.traces, &same.spec), "seed {seed}");
            for trace in &program.traces {
                let errors = verify(trace, &schema, Mode::Recorded);
                let text = || crate::text::print_trace_in(trace, &schema, &program.spec);
                assert!(errors.is_empty(), "seed {seed}: {}\n{}", errors[0], text());
            }
            let mut world = World::build(&program.spec, &schema);
            let inputs = program.enter(&world);
            let evaluator = Evaluator::new(&program.traces[0], &schema)
                .with_units(&program.traces[1..])
                .with_sides(&program.sides);
            let outcome = evaluator.run(&mut world, &inputs, Limits::default());
            let outcome = outcome.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            match outcome.end {
                End::Finish(_) => finished += 1,
                End::Exit { .. } => left += 1,
                end => panic!("seed {seed}: {end:?}"),
            }
            deep += u32::from(outcome.callers.len() > 1);
            executed.iter_mut().zip(&outcome.op_counts).for_each(|(sum, count)| *sum += count);
        }
        println!("{finished} finished, {left} were left, {deep} of them deep");
        for op in [Op::CallUnit, Op::UnitResult, Op::ReturnUnit] {
            assert!(executed[op as usize] > 500, "{op:?}");
        }
        assert!(finished > 60 && left > 200 && deep > 60, "{finished} {left} {deep}");
    }
}
