//! Random straight-line code without memory, and a small evaluator for it.
//!
//! Arguments are chosen so that rules have something to match: recent results, equal operands and the
//! constants at which arithmetic turns. Each guard has a snapshot of its own, whose origin tells which exit
//! was taken.

use tracelift_core::ir::{Args, SnapId};
use tracelift_core::ops::{ArgType, Arity, Flags};
use tracelift_core::schema::TagId;
use tracelift_core::snapshot::{Frame, SlotValue, Snapshot, Source};
use tracelift_core::{Bits, Const, Inst, Op, Payload, Trace, Type, Value};

use super::random::Random;

const INTS: [i64; 22] = [
    0,
    1,
    -1,
    2,
    3,
    4,
    7,
    8,
    -8,
    10,
    11,
    53,
    62,
    63,
    64,
    65,
    -64,
    255,
    1 << 53,
    i64::MIN,
    i64::MAX,
    i64::MIN + 1,
];
const FLOATS: [f64; 14] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    4.0,
    -1.5,
    3.0,
    1e300,
    5e-324,
    9_223_372_036_854_775_808.0,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];
const POINTERS: [u64; 4] = [0, 0x1000, 0x2000, 0x1008];
const INPUTS: [Type; 9] =
    [Type::Int, Type::Int, Type::Int, Type::Float, Type::Float, Type::Ref, Type::Ref, Type::Addr, Type::Addr];

/// Inputs of a generated trace.
#[derive(Clone, Debug)]
pub struct Inputs(Vec<Bits>);

impl Inputs {
    pub fn random(random: &mut Random) -> Inputs {
        Inputs(INPUTS.iter().map(|&ty| edge(random, ty)).collect())
    }
}

fn edge(random: &mut Random, ty: Type) -> Bits {
    match ty {
        Type::Int if random.percent(20) => random.next(),
        Type::Int if random.percent(40) => random.below(2) as u64,
        Type::Int => random.pick(&INTS) as u64,
        Type::Float if random.percent(20) => random.next(),
        Type::Float => random.pick(&FLOATS).to_bits(),
        Type::Ref | Type::Addr => random.pick(&POINTERS),
    }
}

fn ops() -> Vec<Op> {
    let usable = |op: &Op| match op.info().args {
        Arity::Variadic => false,
        Arity::Fixed(_) => {
            op.info().eval.is_some() || matches!(op, Op::ItemAddr | Op::Context | Op::FrameBase)
        }
    };
    let elsewhere = [Op::GuardAlwaysFails, Op::FloatRem, Op::FloatFloorMod, Op::AddrToRef];
    Op::ALL.iter().copied().filter(usable).filter(|op| !elsewhere.contains(op)).collect()
}

/// A random trace: an entry label, operations, and a `finish` of the last values.
pub fn generate(random: &mut Random) -> Trace {
    let mut trace = Trace::new("random");
    let inputs: Vec<Value> = INPUTS.iter().map(|&ty| trace.new_value(ty)).collect();
    trace.add_label("L0", &inputs);
    let mut values = inputs;
    // A few ops per trace: rules look at pairs of certain ones, which would else seldom meet.
    let all = ops();
    let ops: Vec<Op> = (0..2 + random.below(4)).map(|_| random.pick(&all)).collect();
    let length = 4 + random.below(20);
    for _ in 0..length {
        // Remainders take the place of some divisions: no rule of their own needs them to be met often.
        let op = match (random.pick(&ops), values.len() % 4) {
            (Op::FloatDiv, 0) => Op::FloatRem,
            (Op::FloatDiv, 1) => Op::FloatFloorMod,
            (op, _) => op,
        };
        push(&mut trace, &mut values, random, op);
    }
    let results: Vec<Value> = values.iter().rev().take(6).copied().collect();
    let snap = snapshot(&mut trace, &values, random);
    trace.push(Inst::new(Op::Finish, &results).at(Some(snap)), None);
    trace
}

fn push(trace: &mut Trace, values: &mut Vec<Value>, random: &mut Random, op: Op) {
    let Arity::Fixed(kinds) = op.info().args else { return };
    let same =
        if op == Op::GuardValue { random.pick(&Type::ALL) } else { random.pick(&[Type::Int, Type::Float]) };
    let mut args = Args::new();
    for (index, kind) in kinds.iter().enumerate() {
        let ty = match kind {
            ArgType::Is(ty) => *ty,
            ArgType::Pointer => random.pick(&[Type::Ref, Type::Addr]),
            ArgType::Same | ArgType::Declared => same,
        };
        let constant = op == Op::GuardValue && index == 1;
        args.push(argument(trace, values, random, ty, &args, constant));
    }
    let mut inst = Inst::new(op, &args);
    if op == Op::ItemAddr {
        let (stride, offset) = (random.pick(&[1, 8, 16, 24]), random.pick(&[0, 8, -16]));
        inst = inst.with(Payload::Scale { stride, offset });
    }
    if op.is(Flags::GUARD) {
        inst.snap = Some(snapshot(trace, values, random));
    }
    let ty = inst.result_type(trace, &tracelift_core::Schema::new());
    values.extend(trace.push(inst, ty));
}

fn argument(
    trace: &mut Trace,
    values: &[Value],
    random: &mut Random,
    ty: Type,
    others: &[Value],
    constant: bool,
) -> Value {
    let of_type = |value: &&Value| trace.ty(**value) == ty;
    if let (Some(&other), false) = (others.iter().find(of_type), constant) {
        if random.percent(12) {
            return other;
        }
    }
    if constant || random.percent(30) {
        if ty == Type::Ref && random.percent(30) {
            return trace.constant(ty, Const::Object(random.below(2) as u32));
        }
        let is_constant =
            |index: &usize| trace.values[*index].ty == ty && trace.values[*index].constant.is_some();
        let old: Vec<usize> = (0..trace.values.len()).filter(is_constant).collect();
        if !old.is_empty() && random.percent(30) {
            return Value(random.pick(&old) as u32);
        }
        let bits = edge(random, ty);
        return trace.constant(ty, Const::Bits(bits));
    }
    let recent: Vec<Value> = values.iter().rev().filter(of_type).take(3).copied().collect();
    let all: Vec<Value> = values.iter().filter(of_type).copied().collect();
    if random.percent(60) {
        random.pick(&recent)
    } else {
        random.pick(&all)
    }
}

fn snapshot(trace: &mut Trace, values: &[Value], random: &mut Random) -> SnapId {
    let slots = (0..random.below(3))
        .map(|slot| SlotValue {
            slot: slot as i32,
            tag: TagId(0),
            source: Source::Value(random.pick(values)),
        })
        .collect();
    let frame = Frame { slots, ..Frame::default() };
    let origin = trace.snapshots.len() as u32;
    let position = trace.insts.len() as u32;
    trace.add_snapshot(Snapshot { origin, position, frames: vec![frame], ..Snapshot::default() })
}

/// How a run ended: the origin of the snapshot of its exit, the slots there and the results of a `finish`.
#[derive(Clone, PartialEq, Debug)]
pub struct Ended {
    origin: u32,
    slots: Vec<Bits>,
    results: Vec<Bits>,
}

/// Runs a straight-line trace; `None` where it has no meaning.
pub fn run(trace: &Trace, inputs: &Inputs) -> Option<Ended> {
    let mut bits: Vec<Option<Bits>> = trace.values.iter().map(|_| None).collect();
    for (index, slot) in bits.iter_mut().enumerate() {
        *slot = trace.constant_of(Value(index as u32)).map(|constant| match constant {
            Const::Bits(bits) => bits,
            Const::Object(number) => 0x1000 * (number as u64 + 1),
        });
    }
    for (&value, &input) in trace.inputs().iter().zip(&inputs.0) {
        bits[value.index()] = Some(input);
    }
    for inst in &trace.insts[1..] {
        let args: Vec<Bits> = inst.args.iter().map(|arg| bits[arg.index()]).collect::<Option<_>>()?;
        let result = match (inst.op, inst.payload) {
            (Op::Finish, _) => return ended(trace, inst, &bits, args),
            (Op::ItemAddr, Payload::Scale { stride, offset }) => {
                Some(args[0].wrapping_add(args[1].wrapping_mul(stride as u64)).wrapping_add(offset as u64))
            }
            (Op::Context, _) => Some(0xc000),
            (Op::FrameBase, _) => Some(0xf000),
            _ => inst.op.info().eval?(&args),
        };
        match (result, inst.result) {
            (None, _) if inst.op.is_guard() => return ended(trace, inst, &bits, Vec::new()),
            (None, _) => return None,
            (Some(found), Some(value)) => bits[value.index()] = Some(found),
            (Some(_), None) => {}
        }
    }
    None
}

fn ended(trace: &Trace, inst: &Inst, bits: &[Option<Bits>], results: Vec<Bits>) -> Option<Ended> {
    let snapshot = trace.snapshot_of(inst)?;
    let mut slots = Vec::new();
    for value in snapshot.frames.iter().flat_map(|frame| &frame.slots).filter_map(|slot| slot.source.value())
    {
        slots.push(bits[value.index()]?);
    }
    Some(Ended { origin: snapshot.origin, slots, results })
}

/// Whether every use comes after its definition and every value id is mentioned.
pub fn check_form(trace: &Trace) -> Result<(), String> {
    let mut defined: Vec<bool> = trace.values.iter().map(|data| data.constant.is_some()).collect();
    for (index, inst) in trace.insts.iter().enumerate() {
        if inst.op == Op::Label {
            inst.args.iter().for_each(|arg| defined[arg.index()] = true);
        }
        let mut uses: Vec<Value> = inst.args.to_vec();
        if let Some(snapshot) = trace.snapshot_of(inst) {
            snapshot.for_each_value(|value| uses.push(value));
            if snapshot.position as usize > index {
                return Err(format!("the snapshot of instruction {index} lies after it"));
            }
        }
        if let Some(value) = uses.iter().find(|value| !defined[value.index()]) {
            return Err(format!("instruction {index} uses {value:?} too early"));
        }
        if let Some(result) = inst.result {
            defined[result.index()] = true;
        }
    }
    match defined.iter().position(|defined| !defined) {
        Some(value) => Err(format!("value {value} is never defined")),
        None => Ok(()),
    }
}
