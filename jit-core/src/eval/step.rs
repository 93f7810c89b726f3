//! One instruction: what it reads, writes and where it leads.
//!
//! Problem: the run loop and the random-trace generator (which executes what it has just emitted) both need
//! to execute single instructions. Design: registers are a table by value id, and [`step`] is a function of
//! trace, world and instruction. Invariant: a guard that does not hold has changed nothing.
//!
//! Example: stepping `i2 = int_add(i0, i1)` sets one register and gives `Flow::Next`.

use smallvec::SmallVec;

use super::{call, records, Fault};
use crate::ir::{Const, Inst, LabelId, Payload, Trace, Value};
use crate::ops::Op;
use crate::schema::{Cell, Schema, TagId};
use crate::types::Bits;
use crate::world::World;

/// What a unit that was called has returned.
#[derive(Clone, Copy)]
pub(super) struct Called {
    pub tag: TagId,
    pub bits: Option<Bits>,
}

/// The tag as memory and compiled code have it.
pub(super) fn tag_bits(schema: &Schema, tag: TagId) -> u64 {
    let width = schema.slots().tag.map_or(0, |(_, width)| u32::from(width));
    let bits = schema.tags().get(tag.index()).map_or(0, |tag| tag.bits);
    bits & u64::MAX.checked_shr(64 - width.min(8) * 8).unwrap_or(0)
}

/// The values of a trace that runs.
pub(crate) struct Registers {
    values: Vec<Option<Bits>>,
    /// The last unit that was called: the value that stands for what happened, and what it has returned.
    called: Option<(Value, Called)>,
}

impl Registers {
    /// Registers that hold the trace's constants.
    pub(crate) fn new(trace: &Trace, world: &World) -> Result<Registers, Fault> {
        let mut regs = Registers { values: Vec::new(), called: None };
        regs.extend(trace, world)?;
        Ok(regs)
    }

    /// Registers for the values that the trace has got since.
    pub(crate) fn extend(&mut self, trace: &Trace, world: &World) -> Result<(), Fault> {
        for data in &trace.values[self.values.len()..] {
            self.values.push(match data.constant {
                None => None,
                Some(Const::Bits(bits)) => Some(bits),
                Some(Const::Object(number)) if number < world.object_count() => {
                    Some(world.object_address(number))
                }
                Some(Const::Object(_)) => return Err(Fault::Malformed("an object that the world has not")),
            });
        }
        Ok(())
    }

    /// Forgets the registers of values that were taken back.
    #[cfg(feature = "testgen")]
    pub(crate) fn truncate(&mut self, len: usize) {
        self.values.truncate(len);
    }

    pub(crate) fn get(&self, value: Value) -> Result<Bits, Fault> {
        self.values.get(value.index()).copied().flatten().ok_or(Fault::Undefined(value.0))
    }

    pub(crate) fn set(&mut self, value: Value, bits: Bits) {
        if let Some(register) = self.values.get_mut(value.index()) {
            *register = Some(bits);
        }
    }

    /// A unit has returned; its call's result is the tag.
    pub(super) fn call(
        &mut self,
        schema: &Schema,
        result: Option<Value>,
        called: Called,
    ) -> Result<(), Fault> {
        let result = result.ok_or(Fault::Malformed("a call of a unit without a result"))?;
        self.set(result, tag_bits(schema, called.tag));
        self.called = Some((result, called));
        Ok(())
    }

    /// What the call of a unit with this result has returned, if it was the last one.
    pub(super) fn called(&self, result: Value) -> Option<Called> {
        self.called.filter(|(of, _)| *of == result).map(|(_, called)| called)
    }
}

/// Where an instruction leads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Flow {
    /// To the next one.
    Next,
    /// Out of the trace, at its snapshot.
    Leave,
    /// To a label, whose arguments are set.
    Jump(LabelId),
    /// To the end, with these values.
    Finish(Vec<Bits>),
    /// To the unit's caller, with this.
    Return(TagId, Option<Bits>),
}

pub(crate) fn load(world: &World, base: Bits, cell: &Cell) -> Result<Bits, Fault> {
    let wild = Fault::Wild { address: base.wrapping_add(cell.offset as i64 as u64), width: cell.width };
    world.load_cell(base, cell).ok_or(wild)
}

pub(crate) fn store(world: &mut World, base: Bits, cell: &Cell, bits: Bits) -> Result<(), Fault> {
    let wild = Fault::Wild { address: base.wrapping_add(cell.offset as i64 as u64), width: cell.width };
    world.store_cell(base, cell, bits).ok_or(wild)
}

/// Executes one instruction.
pub(crate) fn step(
    trace: &Trace,
    schema: &Schema,
    world: &mut World,
    regs: &mut Registers,
    inst: &Inst,
) -> Result<Flow, Fault> {
    let mut args: SmallVec<[Bits; 8]> = SmallVec::new();
    if inst.op != Op::Label {
        for &arg in &inst.args {
            args.push(regs.get(arg)?);
        }
    }
    if let crate::ops::Arity::Fixed(kinds) = inst.op.info().args {
        // Tags without a payload leave out the declared argument.
        let declared = kinds.iter().filter(|kind| **kind == crate::ops::ArgType::Declared).count();
        if args.len() > kinds.len() || args.len() + declared < kinds.len() {
            return Err(Fault::Malformed("wrong number of arguments"));
        }
    }
    let result = match inst.op {
        Op::Label | Op::EnterLoop => return Ok(Flow::Next),
        Op::Jump => return jump(trace, regs, inst, &args),
        Op::JumpIf => return jump_if(trace, regs, inst, &args),
        Op::Finish => return Ok(Flow::Finish(args.to_vec())),
        Op::ReturnUnit => match inst.payload {
            Payload::Tag(tag) => return Ok(Flow::Return(tag, args.first().copied())),
            _ => return Err(Fault::Malformed("return_unit without a tag")),
        },
        Op::Context => Some(world.context()),
        Op::FrameBase => Some(world.frame_base()),
        Op::ItemAddr => match inst.payload {
            Payload::Scale { stride, offset } => {
                let step = args[1].wrapping_mul(stride as u64);
                Some(args[0].wrapping_add(step).wrapping_add(offset as i64 as u64))
            }
            _ => return Err(Fault::Malformed("item_addr without a scale")),
        },
        Op::Load | Op::Store => match (inst.payload, inst.op) {
            (Payload::Cell(cell), Op::Load) => Some(load(world, args[0], schema.cell(cell))?),
            (Payload::Cell(cell), _) => {
                let bits = *args.get(1).ok_or(Fault::Malformed("store without a value"))?;
                store(world, args[0], schema.cell(cell), bits)?;
                None
            }
            _ => return Err(Fault::Malformed("memory access without a cell")),
        },
        Op::Call | Op::TryCall => {
            let Payload::Func(func) = inst.payload else {
                return Err(Fault::Malformed("call without a function"));
            };
            let result = call::call(schema, world, schema.func(func), &args)?;
            if inst.op == Op::TryCall && result.unwrap_or(0) == 0 {
                return Ok(Flow::Leave);
            }
            result
        }
        Op::Mend => mend(schema, world, inst, &mut args)?,
        op if op.is(crate::ops::Flags::RECORD) => match records::record(schema, world, inst, &args)? {
            records::Answer::Leave => return Ok(Flow::Leave),
            records::Answer::Done(result) => result,
        },
        op => {
            let eval = op.info().eval.ok_or(Fault::Malformed("an op without a meaning"))?;
            match eval(&args) {
                Some(bits) => Some(bits),
                None if op.is_guard() => return Ok(Flow::Leave),
                None => return Err(Fault::Partial(op)),
            }
        }
    };
    if let Some(value) = inst.result {
        regs.set(value, result.ok_or(Fault::Malformed("a result that the op does not give"))?);
    }
    Ok(Flow::Next)
}

/// A call with the context in the condition's place, if that is not 0.
fn mend(schema: &Schema, world: &mut World, inst: &Inst, args: &mut [Bits]) -> Result<Option<Bits>, Fault> {
    let Payload::Func(func) = inst.payload else { return Err(Fault::Malformed("mend without a function")) };
    let Some(condition) = args.first_mut() else { return Err(Fault::Malformed("mend without a condition")) };
    if *condition != 0 {
        *condition = world.context();
        call::call(schema, world, schema.func(func), args)?;
    }
    Ok(None)
}

fn jump_if(trace: &Trace, regs: &mut Registers, inst: &Inst, args: &[Bits]) -> Result<Flow, Fault> {
    match args.split_first() {
        Some((&condition, passed)) if condition != 0 => jump(trace, regs, inst, passed),
        Some(_) => Ok(Flow::Next),
        None => Err(Fault::Malformed("jump_if without a condition")),
    }
}

fn jump(trace: &Trace, regs: &mut Registers, inst: &Inst, args: &[Bits]) -> Result<Flow, Fault> {
    let label = inst.label().ok_or(Fault::Malformed("jump without a label"))?;
    let target = trace.labels.get(label.index()).ok_or(Fault::Malformed("jump to no label"))?;
    if target.args.len() != args.len() {
        return Err(Fault::Malformed("jump with the wrong number of arguments"));
    }
    // All arguments were read before the first is written: the assignment is parallel.
    for (&value, &bits) in target.args.iter().zip(args) {
        regs.set(value, bits);
    }
    Ok(Flow::Jump(label))
}
