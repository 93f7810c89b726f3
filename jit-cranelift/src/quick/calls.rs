//! Calls, returns, and what a function is given.
//!
//! Problem: a call wants its arguments in certain registers, and what is in registers that functions may use
//! is gone after it. Design: what is wanted after a call moves to a register that is preserved, or to its
//! slot; then all arguments go to their places at once. The conventions are System V's; Cranelift's `Tail`
//! passes the same way, and returns in `rax` and `rcx`; `PreserveAll` passes the same way, and leaves all
//! other registers as they are.
//!
//! Invariant: the stack is aligned to 16 bytes at each call, as the frame is. Nothing is passed on the stack:
//! then Cranelift makes the code. Example: `call_indirect sig0, v9(v1, 3)` with `v1` wanted later is `mov
//! rbx, rdi; mov esi, 3; mov r11, address; call r11`.

use cranelift_codegen::ir::{self, Block, Inst, Signature, Value};
use cranelift_codegen::isa::CallConv;
use tracelift_core::planted::{planted, Bug};

use super::asm::{Reg, RAX, RCX, RDI, RDX, RSI, SCRATCH};
use super::emit::{Emit, Parts};
use super::moves::Move;
use super::places::{choose, Place, FLOATS, INTS, PRESERVED};
use super::plan::{is_double, Kind};
use super::{moves, Result, Unsupported};

const INT_ARGUMENTS: [Reg; 6] = [RDI, RSI, RDX, RCX, Reg(8), Reg(9)];
const FLOAT_ARGUMENTS: usize = 8;

fn argument_registers(params: &[ir::AbiParam]) -> impl Iterator<Item = Result<Reg>> + '_ {
    let (mut ints, mut floats) = (INT_ARGUMENTS.into_iter(), (16..16 + FLOAT_ARGUMENTS as u8).map(Reg));
    let next = move |param: &ir::AbiParam| match param.value_type {
        ir::types::F64 => floats.next(),
        ty if ty.is_int() && ty.bits() <= 64 => ints.next(),
        _ => None,
    };
    params.iter().map(next).map(|reg| reg.ok_or(Unsupported("arguments on the stack")))
}

fn result_registers(signature: &Signature) -> impl Iterator<Item = Result<Reg>> + '_ {
    let second = if signature.call_conv == CallConv::Tail { RCX } else { RDX };
    let (mut ints, mut floats) = ([RAX, second].into_iter(), [Reg(16), Reg(17)].into_iter());
    let next = move |param: &ir::AbiParam| match param.value_type {
        ir::types::F64 => floats.next(),
        _ => ints.next(),
    };
    signature.returns.iter().map(next).map(|reg| reg.ok_or(Unsupported("results in memory")))
}

fn is_known(convention: CallConv) -> bool {
    matches!(convention, CallConv::SystemV | CallConv::Tail | CallConv::PreserveAll)
}

impl Emit<'_> {
    /// Where the function's arguments are.
    pub(super) fn arguments(&mut self, first: Block) -> Result<Parts> {
        if !is_known(self.func.signature.call_conv) {
            return Err(Unsupported("a convention"));
        }
        let before = self.held.len();
        for reg in argument_registers(&self.func.signature.params) {
            self.held.params.push(Place::Reg(reg?));
        }
        match self.plan.ways(first) {
            None => Ok(self.held.since(before)),
            Some(_) => Err(Unsupported("a loop to the beginning")),
        }
    }

    /// Calls a function.
    pub(super) fn call(&mut self, inst: Inst, signature: ir::SigRef) -> Result<()> {
        let func = self.func;
        let signature = func.signature_of(signature);
        let (callee, args) = func.inst_args(inst).split_first().ok_or(Unsupported("a call of nothing"))?;
        let registers = || argument_registers(&signature.params);
        let spoilt = match signature.call_conv {
            CallConv::PreserveAll => registers().try_fold(0, |set, reg| Ok(set | reg?.bit()))?,
            convention if is_known(convention) => (INTS | FLOATS) & !PRESERVED,
            _ => return Err(Unsupported("a convention")),
        };
        if !planted(Bug::QuickCallUnsecured) {
            self.secure(spoilt);
        }
        let mut steps = self.passing(args, registers())?;
        let target = self.callee(*callee, &mut steps)?;
        moves::make(self.asm, &mut steps);
        self.held.keep(0, steps);
        let target = self.target(target);
        self.asm.call(target);
        if !planted(Bug::QuickScratchKept) {
            self.scratch.holds = None;
        }
        self.flags = None;
        self.places.retain(spoilt, |_| false);
        for (result, reg) in func.inst_results(inst).zip(result_registers(signature)) {
            self.places.put(result, reg?);
        }
        self.release(func.node(inst));
        Ok(())
    }

    /// Saves what is wanted after a call and lies where it is gone then.
    fn secure(&mut self, spoilt: u32) {
        let wanted: Vec<(Reg, Value)> =
            self.places.held_in(spoilt).filter(|&(_, value)| !self.dies(value)).collect();
        for (reg, value) in wanted {
            let all = if reg.is_float() { FLOATS } else { INTS };
            match choose(all & !self.places.held & !spoilt, self.plan.wish(value, self.number)) {
                Some(to) => {
                    self.asm.mov(to, reg);
                    self.used |= to.bit();
                    self.places.take(value);
                    self.places.put(value, to);
                }
                None => self.store_to_slot(value),
            }
        }
    }

    /// The moves that pass arguments, or results, in these registers: the buffer for moves.
    fn passing(&mut self, args: &[Value], registers: impl Iterator<Item = Result<Reg>>) -> Result<Vec<Move>> {
        let mut steps = self.held.moves(0);
        for (&arg, reg) in args.iter().zip(registers) {
            steps.push(Move { to: Place::Reg(reg?), from: self.source(arg)? });
        }
        Ok(steps)
    }

    /// A function that is no constant goes to `rax`, with the arguments.
    fn callee(&mut self, callee: Value, steps: &mut Vec<Move>) -> Result<Option<i64>> {
        match self.plan.kind(callee) {
            Kind::Int(address) => Ok(Some(address)),
            Kind::Plain if !is_double(self.func, callee) => {
                let from = self.source(callee)?;
                steps.push(Move { to: Place::Reg(RAX), from });
                Ok(None)
            }
            _ => Err(Unsupported("a function")),
        }
    }

    /// The register that the function's address is in.
    fn target(&mut self, address: Option<i64>) -> Reg {
        match address {
            Some(address) => {
                self.asm.mov_imm(SCRATCH, address);
                SCRATCH
            }
            None => RAX,
        }
    }

    /// Calls a function in this one's place.
    pub(super) fn tail_call(&mut self, inst: Inst, signature: ir::SigRef) -> Result<()> {
        let func = self.func;
        let signature = func.signature_of(signature);
        let (callee, args) = func.inst_args(inst).split_first().ok_or(Unsupported("a call of nothing"))?;
        if signature.call_conv != CallConv::Tail || func.signature.call_conv != CallConv::Tail {
            return Err(Unsupported("a tail call"));
        }
        let mut steps = self.passing(args, argument_registers(&signature.params))?;
        let target = self.callee(*callee, &mut steps)?;
        moves::make(self.asm, &mut steps);
        self.held.keep(0, steps);
        let target = self.target(target);
        self.epilogue(|asm| asm.jump_to(target));
        Ok(())
    }

    /// Returns.
    pub(super) fn give_back(&mut self, inst: Inst) -> Result<()> {
        let func = self.func;
        let mut steps = self.passing(func.inst_args(inst), result_registers(&func.signature))?;
        moves::make(self.asm, &mut steps);
        self.held.keep(0, steps);
        self.epilogue(|asm| asm.bytes.push(0xc3));
        Ok(())
    }
}
