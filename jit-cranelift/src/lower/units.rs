//! Units: trees of traces as one function, which compiled code calls.
//!
//! Problem: a function that calls itself as traces linked in a circle makes a frame of the host for each
//! call, and passes everything through memory. Design: a unit's traces are lowered into one function. Its
//! parameters are the frame's base and its arguments, in registers; a side trace begins in the block that
//! would be its exit's stub, with that exit's values. The function results in two words: the tag and the
//! payload of what it returns, so that its caller's one comparison shows that it has returned, and what. No
//! tag is [`left_word`]: then the second word is the exit, as linked traces return it.
//!
//! A side trace that came later is a function of its own, until the unit is made anew: the exit's link cell
//! leads there, and it takes its inputs from the exit buffer. It returns to the unit's caller.
//!
//! Where a unit is left nobody goes on: each caller writes a *record*, with its own exit for the call, its
//! base and that exit's values, where the last record ends, and returns the same words. So the host finds the
//! exit first, whose values lie in the exit buffer, and the records of the frames around it, innermost first.
//!
//! Invariants: the exit buffer is not written between the exit and the host; a unit that was left has changed
//! nothing since its exit; what is in records was in registers.
//!
//! Example: `i5 = call_unit(3, 4, i1); i6 = unit_result(i5, 2: int)` is
//! `call [unit 3](base + 4 * 16, i1); cmp rax, int; jne aside`, and `i6` is the second word.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, types, AbiParam, MemFlagsData, SourceLoc};
use cranelift_codegen::isa::CallConv;
use tracelift_core::planted::{planted, Bug};
use tracelift_core::schema::TagId;
use tracelift_core::{Inst, Op, Payload, Schema, Trace, Type, Value};

use super::{arg, clif_type, int_of_width, Lowering, Result, Ssa};
use crate::listing::location;
use crate::request::{Request, UnitCells};

/// In place of the tag that a unit returns: it was left. No tag of the host's is that, however wide it is.
pub fn left_word(schema: &Schema) -> u64 {
    let is_tag = |word: u64| schema.tags().iter().any(|tag| tag.bits == word);
    (1 << 32..).find(|&word| !is_tag(word)).expect("there are fewer tags than words")
}

/// The words of a record before the exit's values: the exit, and the base.
pub const RECORD_WORDS: usize = 2;

/// The signature of a unit with these arguments.
pub(super) fn signature(arguments: impl Iterator<Item = Type>) -> ir::Signature {
    let mut signature = ir::Signature::new(CallConv::Tail);
    signature.params.push(AbiParam::new(types::I64));
    signature.params.extend(arguments.map(|ty| AbiParam::new(clif_type(ty))));
    signature.returns.extend([AbiParam::new(types::I64); 2]);
    signature
}

/// The signature of a unit's code that begins with this trace.
pub(super) fn signature_of(trace: &Trace, request: &Request) -> ir::Signature {
    match request.units.as_ref().is_some_and(|units| units.is_side) {
        true => side_signature(),
        false => signature(trace.inputs().iter().map(|&input| trace.ty(input))),
    }
}

/// The signature of a side trace of a unit that is a function of its own: base, and the exit that led there.
pub(super) fn side_signature() -> ir::Signature {
    signature([Type::Int].into_iter())
}

/// A payload in a register for integers, or from one.
pub(super) fn is_float(ty: Option<Type>) -> bool {
    ty == Some(Type::Float)
}

impl Lowering<'_, '_, '_> {
    /// Whether the trace is one of a unit.
    pub(super) fn is_in_unit(&self) -> bool {
        self.input.trace.unit.is_some()
    }

    /// The host's context. Units do not pass it on: the cell where it lies is read where it is wanted.
    pub(super) fn context(&mut self) -> Result<Ssa> {
        if let Some(context) = self.context {
            return Ok(context);
        }
        let cells = self.unit_cells()?;
        let cell = self.iconst(cells.context as i64);
        Ok(self.b.load(types::I64, MemFlagsData::trusted(), cell, 0))
    }

    fn unit_cells(&self) -> Result<UnitCells> {
        self.input
            .request
            .units
            .as_ref()
            .map(|units| units.cells)
            .ok_or_else(|| self.malformed("no cells for units"))
    }

    /// The inputs of a unit's trace: the function's arguments, or what the block is passed that it begins in.
    pub(super) fn unit_inputs(&mut self) -> Result<Vec<Ssa>> {
        let trace = self.input.trace;
        let inputs = trace.inputs().len();
        let is_side = self.input.request.units.as_ref().is_some_and(|units| units.is_side);
        let given: Vec<Ssa> = match self.input.parent {
            None if is_side => {
                let buffer = self.iconst(self.input.request.exit_buffer as i64);
                let shift = i32::from(planted(Bug::UnitSideBufferShifted));
                let load = |(&cell, &input): (&u32, &Value)| {
                    let ty = clif_type(trace.ty(input));
                    self.b.load(ty, MemFlagsData::trusted(), buffer, (cell as i32 + shift) * 8)
                };
                trace.entry_cells.iter().zip(trace.inputs()).map(load).collect()
            }
            None => self.arguments.to_vec(),
            Some(_) => return self.passed_inputs(),
        };
        if given.len() != inputs {
            return Err(self.malformed("a unit's trace has other inputs than are passed"));
        }
        Ok(given)
    }

    /// Fills the block that all exits of a unit's trace end in.
    pub(super) fn emit_left_block(&mut self, number: Ssa) -> Result<()> {
        let cells = self.unit_cells()?;
        let Some(links) = &self.input.request.links else {
            return Err(self.malformed("a unit without links"));
        };
        let number = self.b.uextend(types::I64, number);
        let trace_no = match planted(Bug::UnitExitOfRoot) {
            true => self.tree[0].request.trace_no,
            false => self.input.request.trace_no,
        };
        let upper = self.iconst((u64::from(trace_no) << 32) as i64);
        let exit = self.b.bor(number, upper);
        let offset = self.b.ishl_imm_u(number, 3);
        let first = self.iconst(links.cells as i64);
        let cell = self.b.iadd(first, offset);
        let side = match planted(Bug::UnitSideIgnored) {
            true => self.iconst(0),
            false => self.b.load(types::I64, MemFlagsData::trusted(), cell, 0),
        };
        let (to_side, out) = (self.cold_block(), self.cold_block());
        self.b.brif(side, to_side, &[], out, &[]);
        self.b.switch_to_block(to_side);
        let signature = self.b.import_signature(side_signature());
        self.b.return_call_indirect(signature, side, &[self.base, exit]);
        self.b.switch_to_block(out);
        if !planted(Bug::UnitBaseNotTold) {
            let cell = self.iconst(cells.base as i64);
            self.b.store(MemFlagsData::trusted(), self.base, cell, 0);
        }
        let left = self.left_word();
        self.b.return_(&[left, exit]);
        Ok(())
    }

    /// The operations of units: a call, what it gave, and the return from one.
    pub(super) fn unit_op(&mut self, inst: &Inst, exit: u32) -> Result<()> {
        match inst.op {
            Op::CallUnit => self.call_unit(inst),
            Op::UnitResult => self.unit_result(inst, exit),
            _ => self.return_unit(inst),
        }
    }

    /// Calls a unit. Who looks at the result decides whether it was left.
    fn call_unit(&mut self, inst: &Inst) -> Result<()> {
        let Payload::Unit { unit, base } = inst.payload else {
            return Err(self.malformed("a call of no unit"));
        };
        let cells = self.unit_cells()?;
        let units = self.input.request.units.as_ref();
        let code = units.and_then(|units| units.code.iter().find(|(known, _)| *known == unit));
        let &(_, code) = code.ok_or_else(|| self.malformed("a call of an unknown unit"))?;
        if let Some(context) = self.context.filter(|_| !planted(Bug::UnitContextForgotten)) {
            let cell = self.iconst(cells.context as i64);
            self.b.store(MemFlagsData::trusted(), context, cell, 0);
        }
        let base = match base {
            _ if planted(Bug::UnitBaseNotMoved) => 0,
            _ if planted(Bug::UnitBaseMovedTwice) => base * 2,
            base => base,
        };
        if let Some(counter) = self.input.request.unit_call_counter {
            self.add_to_cell(counter, 1);
        }
        let distance = self.slot_offset(base, 0)?;
        let mut args = vec![match distance {
            0 => self.base,
            _ => self.b.iadd_imm_s(self.base, i64::from(distance)),
        }];
        for &arg in &inst.args {
            args.push(self.value(arg)?);
        }
        if planted(Bug::UnitArgumentsExchanged) {
            let ty = |at: usize| inst.args.get(at).map(|&arg| is_float(Some(self.input.trace.ty(arg))));
            let same = (1..inst.args.len()).find(|&at| ty(at) == ty(at - 1));
            same.into_iter().for_each(|at| args.swap(at, at + 1));
        }
        let signature = signature(inst.args.iter().map(|&arg| self.input.trace.ty(arg)));
        let signature = self.b.import_signature(signature);
        let cell = self.iconst(code as i64);
        let code = self.b.load(types::I64, MemFlagsData::trusted(), cell, 0);
        let call = self.b.call_indirect(signature, code, &args);
        let mut results = self.b.func.inst_results(call);
        let (Some(what), Some(payload)) = (results.next(), results.next()) else {
            return Err(self.malformed("a unit has two results"));
        };
        let result = inst.result.ok_or_else(|| self.malformed("a call of a unit has a result"))?;
        self.called.push((result, payload, self.index));
        self.define(inst, what)
    }

    /// What a unit has returned, if that is what the trace goes on with.
    fn unit_result(&mut self, inst: &Inst, exit: u32) -> Result<()> {
        let Payload::Result { slot, tag } = inst.payload else { return Err(self.malformed("no result")) };
        let call: Value = arg(inst, 0, self.index)?;
        let what = self.value(call)?;
        let &(_, payload, at) = (self.called.iter().rev().find(|(result, ..)| *result == call))
            .ok_or_else(|| self.malformed("the result of no call of a unit"))?;
        let schema = self.input.schema;
        let differs = match tag.map(|tag| self.tag_bits(tag)) {
            Some(bits) if !planted(Bug::UnitTagUnchecked) => {
                self.b.icmp_imm_s(IntCC::NotEqual, what, bits as i64)
            }
            _ => self.is_left(what),
        };
        let differs = match self.input.request.force_counter {
            Some(counter) => {
                let left = self.add_to_cell(counter, -1);
                let forced = self.b.icmp_imm_s(IntCC::Equal, left, 0);
                self.b.bor(differs, forced)
            }
            None => differs,
        };
        let (aside, next) = (self.cold_block(), self.b.create_block());
        self.b.brif(differs, aside, &[], next, &[]);
        self.b.switch_to_block(aside);
        let (left, other) = (self.cold_block(), self.cold_block());
        let is_left = match planted(Bug::UnitLeftAsReturned) {
            true => self.iconst(0),
            false => self.is_left(what),
        };
        self.b.brif(is_left, left, &[], other, &[]);
        self.b.switch_to_block(left);
        self.pass_on(at, payload)?;
        self.b.switch_to_block(other);
        if !planted(Bug::UnitResultNotStored) {
            self.put_result(slot, what, payload)?;
        }
        self.leave(inst, exit)?;
        self.b.switch_to_block(next);
        match (tag.and_then(|tag| schema.tag(tag).payload), inst.result) {
            (Some(ty), Some(_)) => {
                let payload = match ty {
                    Type::Float if planted(Bug::UnitFloatConverted) => {
                        self.b.fcvt_from_sint(types::F64, payload)
                    }
                    Type::Float => self.b.bitcast(types::F64, payload),
                    _ => payload,
                };
                self.define(inst, payload)
            }
            (None, None) if tag.is_some() || slot.is_none() => Ok(()),
            (None, None) => self.put_result(slot, what, payload),
            _ => Err(self.malformed("a result that does not fit its tag")),
        }
    }

    fn is_left(&mut self, what: Ssa) -> Ssa {
        let left = self.left_word();
        self.b.icmp(IntCC::Equal, what, left)
    }

    fn left_word(&mut self) -> Ssa {
        self.iconst(left_word(self.input.schema) as i64)
    }

    /// The tag as units return it.
    fn tag_bits(&self, tag: TagId) -> u64 {
        let width = self.input.schema.slots().tag.map_or(0, |(_, width)| u32::from(width));
        let mask = u64::MAX.checked_shr(64 - width.min(8) * 8).unwrap_or(0);
        self.input.schema.tag(tag).bits & mask
    }

    /// Puts what a unit has returned into its slot.
    fn put_result(&mut self, slot: Option<i32>, what: Ssa, payload: Ssa) -> Result<()> {
        let Some(slot) = slot else { return Ok(()) };
        let layout = self.input.schema.slots();
        let place = self.slot_offset(slot, layout.payload)?;
        self.b.store(MemFlagsData::trusted(), payload, self.base, place);
        let tag = layout.tag.filter(|_| !planted(Bug::UnitResultTagNotStored));
        let Some((part, width)) = tag else { return Ok(()) };
        let place = self.slot_offset(slot, part)?;
        let ty = int_of_width(width).ok_or_else(|| self.malformed("a slot tag has no machine width"))?;
        let tag = match ty {
            types::I64 => what,
            _ => self.b.ireduce(ty, what),
        };
        self.b.store(MemFlagsData::trusted(), tag, self.base, place);
        Ok(())
    }

    /// A unit that the instruction `at` called was left: so is the trace, which says what its frames hold.
    fn pass_on(&mut self, at: usize, exit: Ssa) -> Result<()> {
        let hot = self.b.srcloc();
        self.b.set_srcloc(SourceLoc::new(location::STUB | self.mark(at)));
        let cells = self.unit_cells()?;
        let call = &self.input.trace.insts[at];
        let at = if planted(Bug::UnitRecordOfResult) { self.index } else { at };
        let own =
            self.input.exit_numbers[at].ok_or_else(|| self.malformed("a call of a unit has an exit"))?;
        // A trace that lends the unit its own frame has nothing to add.
        let is_own_frame =
            self.input.trace.snapshot_of(call).is_none_or(|snapshot| snapshot.frames.len() < 2);
        if !is_own_frame || planted(Bug::UnitRecordForOwnFrame) {
            let cell = self.iconst(cells.records as i64);
            let record = self.b.load(types::I64, MemFlagsData::trusted(), cell, 0);
            let number = self.iconst((u64::from(self.input.request.trace_no) << 32 | u64::from(own)) as i64);
            self.b.store(MemFlagsData::trusted(), number, record, 0);
            if !planted(Bug::UnitRecordWithoutBase) {
                self.b.store(MemFlagsData::trusted(), self.base, record, 8);
            }
            let mut live = self.input.exits[own as usize].live.to_vec();
            if planted(Bug::UnitRecordOneShort) {
                live.pop();
            }
            if planted(Bug::UnitRecordReversed) {
                live.reverse();
            }
            self.in_stub = true;
            for (at, &value) in live.iter().enumerate() {
                let value = self.value(value)?;
                let offset = (RECORD_WORDS + at) as i32 * 8;
                self.b.store(MemFlagsData::trusted(), value, record, offset);
            }
            self.in_stub = false;
            let words = (RECORD_WORDS + live.len()) as i64;
            let end = self.b.iadd_imm_s(record, words * 8);
            if !planted(Bug::UnitRecordOverwritten) {
                self.b.store(MemFlagsData::trusted(), end, cell, 0);
            }
        }
        if self.is_in_unit() {
            let left = self.left_word();
            self.b.return_(&[left, exit]);
        } else {
            let cell = self.iconst(cells.base as i64);
            let base = self.b.load(types::I64, MemFlagsData::trusted(), cell, 0);
            match self.input.request.links {
                Some(_) => self.b.return_(&[exit, base]),
                None => self.b.return_(&[exit]),
            };
        }
        self.b.set_srcloc(hot);
        Ok(())
    }

    /// Ends a unit.
    fn return_unit(&mut self, inst: &Inst) -> Result<()> {
        let Payload::Tag(tag) = inst.payload else { return Err(self.malformed("a return without a tag")) };
        let payload = match inst.args.first() {
            Some(&value) => {
                let ssa = self.value(value)?;
                match self.input.trace.ty(value) {
                    Type::Float if planted(Bug::UnitReturnConverted) => {
                        self.b.fcvt_to_sint_sat(types::I64, ssa)
                    }
                    Type::Float => self.b.bitcast(types::I64, ssa),
                    _ => ssa,
                }
            }
            None => self.iconst(0),
        };
        self.count_end(inst);
        let tag = self.iconst(self.tag_bits(tag) as i64);
        self.b.return_(&[tag, payload]);
        self.open = false;
        Ok(())
    }
}
