//! Permanent helpers: functions that code of all traces calls, made once by Cranelift's own linker.
//!
//! Problem: a call spoils all registers that C functions may use, doubles' registers among them. If a cold
//! block calls and then goes on in the trace, the register allocator keeps every live double in memory all
//! the time, also while the cold block never runs: a loop of half a nanosecond takes 2.7. Design: a *thunk*
//! for each C function that is called in such a place. It has Cranelift's convention under which nothing is
//! spoilt, so it saves what the C function may spoil, calls it, and puts its result into memory. A call costs
//! some four nanoseconds more, so this is for what is seldom needed and slow by itself.
//!
//! The thunks are one module of `cranelift-jit`, with the C functions as its imports, and live as long as the
//! process; traces come and go in the arena. The module is made when the first trace wants a thunk. Where
//! the system refuses the memory there are none, and traces call the C functions themselves.
//!
//! Invariant: a thunk leaves all registers as they were. Vectors count with 128 bits: Cranelift uses no
//! longer ones.
//!
//! Example: in a cold block, `call float_rem aside(x, y, place)`, then `v = load place`. What the host's
//! write barrier asks for is called by one thunk for all functions: `call any aside(function, context,
//! record, 0)`.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use cranelift_codegen::ir::{self, types, AbiParam, InstBuilder, MemFlagsData};
use cranelift_codegen::isa::CallConv;
use cranelift_codegen::Context;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{default_libcall_names, FuncId, Linkage, Module, ModuleError};
use tracelift_core::meaning;

use crate::error::CompileError;
use crate::isa::{self, Options};

/// A C function of two doubles.
pub(crate) type Function = extern "C" fn(f64, f64) -> f64;

/// The C functions that are called aside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Callee {
    /// The C library's `fmod`.
    FloatRem,
    /// Lua's `%`.
    FloatFloorMod,
}

extern "C" fn float_rem(x: f64, y: f64) -> f64 {
    x % y
}

extern "C" fn float_floor_mod(x: f64, y: f64) -> f64 {
    meaning::float_floor_mod(x, y)
}

impl Callee {
    const ALL: [Callee; 2] = [Callee::FloatRem, Callee::FloatFloorMod];

    /// The function itself.
    pub(crate) fn function(self) -> Function {
        match self {
            Callee::FloatRem => float_rem,
            Callee::FloatFloorMod => float_floor_mod,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Callee::FloatRem => "float_rem",
            Callee::FloatFloorMod => "float_floor_mod",
        }
    }

    /// The address of its thunk `(x, y, place)`, which writes the result to the place; `None` where there is
    /// no memory for thunks. See [`signature`].
    pub(crate) fn thunk(self) -> Option<usize> {
        made().as_ref().ok().map(|made| made.thunks[self as usize])
    }
}

/// What the helpers of this process take, beside the arena.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HelperUse {
    /// How many there are.
    pub functions: usize,
    /// Bytes of their code, on pages of their own.
    pub code: usize,
    /// What it took to make them.
    pub time: Duration,
}

/// What the helpers take; `None` if no trace has wanted any.
pub fn helper_use() -> Option<HelperUse> {
    MADE.get()?.as_ref().ok().map(|made| made.used)
}

/// How many arguments the thunk for any function passes on, and how many a function may have that is called
/// by it.
pub(crate) const PASSED: usize = 3;

/// The address of the thunk `(function, a, b, c)`, which calls a function of so many integers or pointers, or
/// fewer, and forgets its result; `None` where there is no memory for thunks. See [`any_signature`].
pub(crate) fn any_thunk() -> Option<usize> {
    made().as_ref().ok().map(|made| made.any)
}

/// Helpers that are ready to be called.
struct Made {
    thunks: Vec<usize>,
    any: usize,
    used: HelperUse,
}

static MADE: OnceLock<Result<Made, CompileError>> = OnceLock::new();

fn made() -> &'static Result<Made, CompileError> {
    MADE.get_or_init(|| make(&Callee::ALL.map(|callee| (callee.name(), callee.function()))))
}

/// How traces call a thunk.
pub(crate) fn signature() -> ir::Signature {
    let mut signature = ir::Signature::new(CallConv::PreserveAll);
    signature.params.extend([types::F64, types::F64, types::I64].map(AbiParam::new));
    signature
}

/// How traces call the thunk for any function.
pub(crate) fn any_signature() -> ir::Signature {
    let mut signature = ir::Signature::new(CallConv::PreserveAll);
    signature.params.extend([AbiParam::new(types::I64); 1 + PASSED]);
    signature
}

fn failed(error: ModuleError) -> CompileError {
    CompileError::Codegen(format!("helpers: {error}"))
}

/// Makes the thunks of these functions.
fn make(callees: &[(&str, Function)]) -> Result<Made, CompileError> {
    let start = Instant::now();
    let isa = isa::build(&Options::default())?;
    let mut builder = JITBuilder::with_isa(isa, default_libcall_names());
    for &(name, function) in callees {
        builder.symbol(name, function as *const u8);
    }
    let mut module = JITModule::new(builder);
    let (mut context, mut buffers) = (module.make_context(), FunctionBuilderContext::new());
    let mut functions = Vec::new();
    for &(name, _) in callees {
        thunk(&mut module, &mut context, &mut buffers, name)?;
        functions.push(define(&mut module, &mut context, name)?);
    }
    thunk_of_any(&module, &mut context, &mut buffers);
    functions.push(define(&mut module, &mut context, "any")?);
    let code = functions.iter().map(|&(_, bytes)| bytes).sum();
    module.finalize_definitions().map_err(failed)?;
    let address = |&(id, _): &(FuncId, usize)| module.get_finalized_function(id) as usize;
    let mut thunks: Vec<usize> = functions.iter().map(address).collect();
    // A module that is dropped keeps its memory: nobody gives these functions back.
    let used = HelperUse { functions: thunks.len(), code, time: start.elapsed() };
    let any = thunks.pop().unwrap_or_default();
    Ok(Made { thunks, any, used })
}

/// Defines what was built, and tells how many bytes it has.
fn define(
    module: &mut JITModule,
    context: &mut Context,
    name: &str,
) -> Result<(FuncId, usize), CompileError> {
    let id = module
        .declare_function(&format!("{name} aside"), Linkage::Export, &context.func.signature)
        .map_err(failed)?;
    module.define_function(id, context).map_err(failed)?;
    let code = context.compiled_code().map_or(0, |made| made.code_buffer().len());
    module.clear_context(context);
    Ok((id, code))
}

/// Builds `thunk(function, a, b, c)`: `function(a, b, c)`.
fn thunk_of_any(module: &JITModule, context: &mut Context, buffers: &mut FunctionBuilderContext) {
    let mut callee = module.make_signature();
    callee.params.extend([AbiParam::new(types::I64); PASSED]);
    context.func.signature = any_signature();
    let mut b = FunctionBuilder::new(&mut context.func, buffers);
    let callee = b.import_signature(callee);
    let block = b.create_block();
    b.append_block_params_for_function_params(block);
    b.switch_to_block(block);
    let params = b.block_params(block).to_vec();
    b.ins().call_indirect(callee, params[0], &params[1..]);
    b.ins().return_(&[]);
    b.seal_all_blocks();
    b.finalize(module.isa().frontend_config());
}

/// Builds `thunk(x, y, place)`: `*place = name(x, y)`.
fn thunk(
    module: &mut JITModule,
    context: &mut Context,
    buffers: &mut FunctionBuilderContext,
    name: &str,
) -> Result<(), CompileError> {
    let mut callee = module.make_signature();
    callee.params.extend([AbiParam::new(types::F64); 2]);
    callee.returns.push(AbiParam::new(types::F64));
    let callee = module.declare_function(name, Linkage::Import, &callee).map_err(failed)?;
    context.func.signature = signature();
    let callee = module.declare_func_in_func(callee, &mut context.func);
    let mut b = FunctionBuilder::new(&mut context.func, buffers);
    let block = b.create_block();
    b.append_block_params_for_function_params(block);
    b.switch_to_block(block);
    let &[x, y, place] = b.block_params(block) else { unreachable!("a thunk has three parameters") };
    let call = b.ins().call(callee, &[x, y]);
    let result = b.inst_results(call)[0];
    b.ins().store(MemFlagsData::trusted(), result, place, 0);
    b.ins().return_(&[]);
    b.seal_all_blocks();
    b.finalize(module.isa().frontend_config());
    Ok(())
}

#[cfg(all(test, unix, any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    use cranelift_codegen::control::ControlPlane;

    use super::*;
    use crate::{Arena, ArenaOptions, TreeId};

    /// More than there are registers of either kind.
    const EACH: usize = 36;

    /// Overwrites all registers that a C function may overwrite.
    #[rustfmt::skip]
    extern "C" fn spoil(x: f64, y: f64) -> f64 {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: what is overwritten is declared, by the name of the convention.
        unsafe {
            std::arch::asm!(
                "mov rax, -1", "mov rcx, -1", "mov rdx, -1", "mov rsi, -1", "mov rdi, -1",
                "mov r8, -1", "mov r9, -1", "mov r10, -1", "mov r11, -1",
                "pcmpeqd xmm0, xmm0", "pcmpeqd xmm1, xmm1", "pcmpeqd xmm2, xmm2", "pcmpeqd xmm3, xmm3",
                "pcmpeqd xmm4, xmm4", "pcmpeqd xmm5, xmm5", "pcmpeqd xmm6, xmm6", "pcmpeqd xmm7, xmm7",
                "pcmpeqd xmm8, xmm8", "pcmpeqd xmm9, xmm9", "pcmpeqd xmm10, xmm10", "pcmpeqd xmm11, xmm11",
                "pcmpeqd xmm12, xmm12", "pcmpeqd xmm13, xmm13", "pcmpeqd xmm14, xmm14", "pcmpeqd xmm15, xmm15",
                clobber_abi("C"),
            );
        }
        #[cfg(target_arch = "aarch64")]
        // SAFETY: as above.
        unsafe {
            std::arch::asm!(
                "mov x0, #-1", "mov x1, #-1", "mov x2, #-1", "mov x3, #-1", "mov x4, #-1", "mov x5, #-1",
                "mov x6, #-1", "mov x7, #-1", "mov x8, #-1", "mov x9, #-1", "mov x10, #-1", "mov x11, #-1",
                "mov x12, #-1", "mov x13, #-1", "mov x14, #-1", "mov x15, #-1", "mov x16, #-1", "mov x17, #-1",
                "movi v0.2d, #0", "movi v1.2d, #0", "movi v2.2d, #0", "movi v3.2d, #0", "movi v4.2d, #0",
                "movi v5.2d, #0", "movi v6.2d, #0", "movi v7.2d, #0", "movi v16.2d, #0", "movi v17.2d, #0",
                "movi v18.2d, #0", "movi v19.2d, #0", "movi v20.2d, #0", "movi v21.2d, #0", "movi v22.2d, #0",
                "movi v23.2d, #0", "movi v24.2d, #0", "movi v25.2d, #0", "movi v26.2d, #0", "movi v27.2d, #0",
                "movi v28.2d, #0", "movi v29.2d, #0", "movi v30.2d, #0", "movi v31.2d, #0",
                clobber_abi("C"),
            );
        }
        x - y
    }

    /// `f(cells)`: loads all cells, calls the thunk with the first two, and stores everything again.
    fn caller(thunk: usize) -> Vec<u8> {
        let isa =
            isa::build(&Options { verify: true, ..Options::default() }).expect("this machine is supported");
        let mut context = Context::new();
        let mut builder = FunctionBuilderContext::new();
        let func = &mut context.func;
        func.signature = ir::Signature::new(isa.default_call_conv());
        func.signature.params.push(AbiParam::new(types::I64));
        let mut b = FunctionBuilder::new(func, &mut builder);
        let block = b.create_block();
        b.append_block_params_for_function_params(block);
        b.switch_to_block(block);
        let cells = b.block_params(block)[0];
        let flags = MemFlagsData::trusted();
        let loaded: Vec<ir::Value> = (0..2 * EACH)
            .map(|at| {
                let ty = if at < EACH { types::F64 } else { types::I64 };
                b.ins().load(ty, flags, cells, at as i32 * 8)
            })
            .collect();
        let signature = b.import_signature(signature());
        let thunk = b.ins().iconst(types::I64, thunk as i64);
        let place = b.ins().iadd_imm_s(cells, 2 * EACH as i64 * 8);
        b.ins().call_indirect(signature, thunk, &[loaded[0], loaded[1], place]);
        for (at, &value) in loaded.iter().enumerate() {
            b.ins().store(flags, value, cells, (2 * EACH + 1 + at) as i32 * 8);
        }
        b.ins().return_(&[]);
        b.seal_all_blocks();
        b.finalize(isa.frontend_config());
        let code = context.compile(&*isa, &mut ControlPlane::default()).expect("the function compiles");
        assert!(code.buffer.relocs().is_empty());
        code.code_buffer().to_vec()
    }

    #[test]
    fn nothing_is_spoilt() {
        let mut arena = Arena::new(ArenaOptions::default()).expect("there is executable memory");
        let made = make(&[("spoil", spoil)]).expect("there is executable memory");
        let code = arena.install_code(TreeId(0), &caller(made.thunks[0])).expect("the arena has room");
        // SAFETY: the code was made with this type.
        let call = unsafe { std::mem::transmute::<usize, extern "C" fn(*mut u64)>(code.address()) };
        let mut cells = vec![0u64; 4 * EACH + 1];
        for (at, cell) in cells[..2 * EACH].iter_mut().enumerate() {
            *cell = (at as f64 + 0.5).to_bits();
        }
        cells[0] = 9f64.to_bits();
        call(cells.as_mut_ptr());
        let (before, after) = cells.split_at(2 * EACH);
        assert_eq!(f64::from_bits(after[0]), 7.5);
        assert_eq!(before, &after[1..]);
    }
}
