//! Glue: from the host into linked traces, from one to the next, and back.
//!
//! Problem: where a program goes on after an exit that it takes often is compiled too, and coming back to
//! the host between two pieces of code costs more than what they do. Design: linked traces are functions of
//! Cranelift's `Tail` convention with the host's context, the frame's base and the number of the exit by
//! which the program came. Each exit goes on, by a tail call, where its *link cell* says: at first that is
//! [`leave`], which returns the exit's number to whoever has called [`enter`]; later it may be another
//! trace's code. Changing a cell is all that linking takes.
//!
//! A trace that returns from its frame, or calls, ends in another frame than it began in, and passes that
//! frame's base on. So whoever has called `enter` is told two things: the exit, and the base that its trace
//! had.
//!
//! Linked traces preserve no registers for whoever has called `enter`, which saves them once for all; what
//! Cranelift makes saves them all the same. Functions that traces call preserve them as ever.
//!
//! Invariant: no linked trace needs stack between it and `enter`. Code that finds itself entered with slots
//! of other types than it expects returns the number that it was given: the host sees the exit by which the
//! program came, as if nobody had been linked there; or [`ENTRY_REFUSED`](crate::ENTRY_REFUSED) if it came
//! from the host. Or it passes all that it was given on to other code, if there is some for such slots.
//!
//! Example: exit 3 of trace 0 is linked to trace 5, whose end is linked to trace 0:
//! `enter(context, base, code 0)` runs both in turn until one of them takes an exit whose cell holds `leave`.

use std::ffi::c_void;

use cranelift_codegen::ir::{self, types, AbiParam};
use cranelift_codegen::isa::CallConv;

use crate::arena::CodePtr;
use crate::lir::{self, Builder};

/// Enters a linked trace, given its code's address; says how the program came back.
pub type Enter = unsafe extern "C" fn(context: *mut c_void, base: *mut u8, code: *const u8) -> LeftBy;

/// How the program came back from linked traces.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LeftBy {
    /// The trace and its exit; see [`trace_number`](crate::trace_number).
    pub exit: u64,
    /// The base that the slots of this exit count from.
    pub base: *mut u8,
}

/// A linked trace's code, and how to get there.
#[derive(Clone, Copy, Debug)]
pub struct LinkedEntry {
    /// The glue.
    pub enter: Enter,
    /// The code.
    pub code: *const u8,
}

impl LinkedEntry {
    /// Runs the code; says how the program came back.
    ///
    /// # Safety
    /// As for [`EntryPoint`](crate::EntryPoint), for this trace and all that are linked.
    pub unsafe fn call(self, context: *mut c_void, base: *mut u8) -> LeftBy {
        // SAFETY: passed on from the caller.
        unsafe { (self.enter)(context, base, self.code) }
    }
}

/// The two pieces of glue, installed.
#[derive(Clone, Copy, Debug)]
pub struct Glue {
    enter: CodePtr,
    leave: CodePtr,
}

impl Glue {
    /// What [`Compiler::glue`](crate::Compiler::glue) has made, installed in this order.
    pub fn new(enter: CodePtr, leave: CodePtr) -> Glue {
        Glue { enter, leave }
    }

    /// How the host enters this trace's code.
    pub fn entry(&self, code: CodePtr) -> LinkedEntry {
        // SAFETY: the code was made by `enter` below, with this type; it may run as long as its arena lives.
        let enter = unsafe { std::mem::transmute::<usize, Enter>(self.enter.address()) };
        LinkedEntry { enter, code: code.address() as *const u8 }
    }

    /// What a link cell holds whose exit leads back to the host.
    pub fn leave(&self) -> u64 {
        self.leave.address() as u64
    }
}

/// The signature of linked traces.
pub(crate) fn signature() -> ir::Signature {
    with_three_words(CallConv::Tail)
}

/// The same for a call in a function that is being made.
pub(crate) fn import_signature(b: &mut Builder<'_>) -> ir::SigRef {
    b.import_signature_of(CallConv::Tail, words(3), words(2))
}

fn with_three_words(convention: CallConv) -> ir::Signature {
    let mut signature = ir::Signature::new(convention);
    signature.params.extend(words(3));
    signature.returns.extend(words(2));
    signature
}

fn words(count: usize) -> impl Iterator<Item = AbiParam> + Clone {
    std::iter::repeat_n(AbiParam::new(types::I64), count)
}

/// `enter(context, base, code)`: calls the code with context, base and the number of no exit.
pub(crate) fn enter(func: &mut lir::Function, convention: CallConv) {
    build(func, with_three_words(convention), |b, params| {
        let callee = b.import_signature(signature());
        let refused = b.iconst(types::I64, -1);
        let call = b.call_indirect(callee, params[2], &[params[0], params[1], refused]);
        b.func.inst_results(call).collect()
    });
}

/// `leave(context, base, exit)`: returns exit and base.
pub(crate) fn leave(func: &mut lir::Function, _convention: CallConv) {
    build(func, signature(), |_, params| vec![params[2], params[1]]);
}

/// Both, ready-made: `enter` and `leave` for x86-64 and the System V convention. To compile them takes an
/// eighth of what the first trace of a program takes. What `enter` preserves quick code need not.
#[rustfmt::skip]
pub(crate) const X86_64: [&[u8]; 2] = [
    &[
        0x55, 0x48, 0x89, 0xe5, // push rbp; mov rbp, rsp
        0x53, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56, 0x41, 0x57, 0x50, // push rbx, r12 to r15, rax
        0x49, 0x89, 0xd0, 0x48, 0xc7, 0xc2, 0xff, 0xff, 0xff, 0xff, // mov r8, rdx; mov rdx, -1
        0x41, 0xff, 0xd0, // call r8
        0x48, 0x89, 0xca, // mov rdx, rcx
        0x59, 0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c, 0x5b, // pop rcx, r15 to r12, rbx
        0x48, 0x89, 0xec, 0x5d, 0xc3, // mov rsp, rbp; pop rbp; ret
    ],
    &[
        0x55, 0x48, 0x89, 0xe5, // push rbp; mov rbp, rsp
        0x48, 0x89, 0xd0, 0x48, 0x89, 0xf1, // mov rax, rdx; mov rcx, rsi
        0x48, 0x89, 0xec, 0x5d, 0xc3, // mov rsp, rbp; pop rbp; ret
    ],
];

fn build(
    func: &mut lir::Function,
    signature: ir::Signature,
    body: impl FnOnce(&mut Builder<'_>, [ir::Value; 3]) -> Vec<ir::Value>,
) {
    func.begin(signature);
    let mut b = Builder::new(func);
    let block = b.create_block();
    b.append_block_params_for_function_params(block);
    b.switch_to_block(block);
    let params = [0, 1, 2].map(|at| b.block_params(block)[at]);
    let results = body(&mut b, params);
    b.return_(&results);
}
