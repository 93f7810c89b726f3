//! Calls aside: a C function called from a trace that goes on, without a price for the trace that does not
//! call it.
//!
//! Problem: a call spoils all registers that C functions may use, doubles' registers among them. If a cold
//! block calls and then goes on in the trace, the register allocator keeps every live double in memory all
//! the time, also while the cold block never runs: a loop of half a nanosecond takes 2.7. Design: one
//! function, written by hand, saves what the C function may spoil, calls it, and puts its result into memory.
//! Cranelift knows it by a convention under which nothing is spoilt. A call costs some four nanoseconds more,
//! so this is for what is seldom needed and slow by itself.
//!
//! Invariant: all registers have their contents again on return. Vectors
//! count with 128 bits: Cranelift uses no longer ones.
//!
//! Example: in a cold block, `call aside(x, y, fmod, slot)`, then `v = load slot`.

/// A C function of two doubles.
pub(crate) type Function = extern "C" fn(f64, f64) -> f64;

/// Whether this machine has [`aside`].
pub(crate) const IS_THERE: bool = cfg!(all(unix, any(target_arch = "x86_64", target_arch = "aarch64")));

/// The address of the function `(x, y, function, result)` that calls the function with both numbers and
/// writes its result.
pub(crate) fn address() -> usize {
    #[cfg(all(unix, any(target_arch = "x86_64", target_arch = "aarch64")))]
    return aside as *const () as usize;
    #[cfg(not(all(unix, any(target_arch = "x86_64", target_arch = "aarch64"))))]
    unreachable!("nobody asks where `IS_THERE` is false")
}

/// Gets `x`, `y` in `xmm0`, `xmm1` and function, result in `rdi`, `rsi`, on a stack that is aligned for a
/// call.
#[cfg(all(unix, target_arch = "x86_64"))]
#[unsafe(naked)]
extern "C" fn aside() {
    std::arch::naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        "push rax",
        "push rcx",
        "push rdx",
        "push rsi",
        "push rdi",
        "push r8",
        "push r9",
        "push r10",
        "push r11",
        // Nine registers and this leave the stack aligned to 16 bytes.
        "sub rsp, 264",
        "movups [rsp], xmm0",
        "movups [rsp + 16], xmm1",
        "movups [rsp + 32], xmm2",
        "movups [rsp + 48], xmm3",
        "movups [rsp + 64], xmm4",
        "movups [rsp + 80], xmm5",
        "movups [rsp + 96], xmm6",
        "movups [rsp + 112], xmm7",
        "movups [rsp + 128], xmm8",
        "movups [rsp + 144], xmm9",
        "movups [rsp + 160], xmm10",
        "movups [rsp + 176], xmm11",
        "movups [rsp + 192], xmm12",
        "movups [rsp + 208], xmm13",
        "movups [rsp + 224], xmm14",
        "movups [rsp + 240], xmm15",
        "call rdi",
        "mov rsi, [rbp - 32]",
        "movsd [rsi], xmm0",
        "movups xmm0, [rsp]",
        "movups xmm1, [rsp + 16]",
        "movups xmm2, [rsp + 32]",
        "movups xmm3, [rsp + 48]",
        "movups xmm4, [rsp + 64]",
        "movups xmm5, [rsp + 80]",
        "movups xmm6, [rsp + 96]",
        "movups xmm7, [rsp + 112]",
        "movups xmm8, [rsp + 128]",
        "movups xmm9, [rsp + 144]",
        "movups xmm10, [rsp + 160]",
        "movups xmm11, [rsp + 176]",
        "movups xmm12, [rsp + 192]",
        "movups xmm13, [rsp + 208]",
        "movups xmm14, [rsp + 224]",
        "movups xmm15, [rsp + 240]",
        "add rsp, 264",
        "pop r11",
        "pop r10",
        "pop r9",
        "pop r8",
        "pop rdi",
        "pop rsi",
        "pop rdx",
        "pop rcx",
        "pop rax",
        "pop rbp",
        "ret",
    )
}

/// Gets `x`, `y` in `d0`, `d1` and function, result in `x0`, `x1`. C functions keep `x19` to `x28` and the
/// lower halves of `v8` to `v15`; the upper halves are saved with the rest.
#[cfg(all(unix, target_arch = "aarch64"))]
#[unsafe(naked)]
extern "C" fn aside() {
    std::arch::naked_asm!(
        "stp x29, x30, [sp, #-16]!",
        "mov x29, sp",
        "sub sp, sp, #672",
        "stp x0, x1, [sp]",
        "stp x2, x3, [sp, #16]",
        "stp x4, x5, [sp, #32]",
        "stp x6, x7, [sp, #48]",
        "stp x8, x9, [sp, #64]",
        "stp x10, x11, [sp, #80]",
        "stp x12, x13, [sp, #96]",
        "stp x14, x15, [sp, #112]",
        "stp x16, x17, [sp, #128]",
        "str x18, [sp, #144]",
        "stp q0, q1, [sp, #160]",
        "stp q2, q3, [sp, #192]",
        "stp q4, q5, [sp, #224]",
        "stp q6, q7, [sp, #256]",
        "stp q8, q9, [sp, #288]",
        "stp q10, q11, [sp, #320]",
        "stp q12, q13, [sp, #352]",
        "stp q14, q15, [sp, #384]",
        "stp q16, q17, [sp, #416]",
        "stp q18, q19, [sp, #448]",
        "stp q20, q21, [sp, #480]",
        "stp q22, q23, [sp, #512]",
        "stp q24, q25, [sp, #544]",
        "stp q26, q27, [sp, #576]",
        "stp q28, q29, [sp, #608]",
        "stp q30, q31, [sp, #640]",
        "blr x0",
        "ldr x1, [sp, #8]",
        "str d0, [x1]",
        "ldp q0, q1, [sp, #160]",
        "ldp q2, q3, [sp, #192]",
        "ldp q4, q5, [sp, #224]",
        "ldp q6, q7, [sp, #256]",
        "ldp q8, q9, [sp, #288]",
        "ldp q10, q11, [sp, #320]",
        "ldp q12, q13, [sp, #352]",
        "ldp q14, q15, [sp, #384]",
        "ldp q16, q17, [sp, #416]",
        "ldp q18, q19, [sp, #448]",
        "ldp q20, q21, [sp, #480]",
        "ldp q22, q23, [sp, #512]",
        "ldp q24, q25, [sp, #544]",
        "ldp q26, q27, [sp, #576]",
        "ldp q28, q29, [sp, #608]",
        "ldp q30, q31, [sp, #640]",
        "ldp x0, x1, [sp]",
        "ldp x2, x3, [sp, #16]",
        "ldp x4, x5, [sp, #32]",
        "ldp x6, x7, [sp, #48]",
        "ldp x8, x9, [sp, #64]",
        "ldp x10, x11, [sp, #80]",
        "ldp x12, x13, [sp, #96]",
        "ldp x14, x15, [sp, #112]",
        "ldp x16, x17, [sp, #128]",
        "ldr x18, [sp, #144]",
        "add sp, sp, #672",
        "ldp x29, x30, [sp], #16",
        "ret",
    )
}

#[cfg(all(test, unix, any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    use cranelift_codegen::ir::{self, types, AbiParam, InstBuilder, MemFlagsData};
    use cranelift_codegen::isa::CallConv;
    use cranelift_codegen::{control::ControlPlane, Context};
    use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};

    use super::*;
    use crate::{isa, Arena, ArenaOptions, Options, TreeId};

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

    /// `f(cells)`: loads all cells, calls [`spoil`] aside with the first two, and stores everything again.
    fn caller() -> Vec<u8> {
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
        let mut signature = ir::Signature::new(CallConv::PreserveAll);
        signature.params.extend([types::F64, types::F64, types::I64, types::I64].map(AbiParam::new));
        let signature = b.import_signature(signature);
        let [aside, function] =
            [address(), spoil as *const () as usize].map(|at| b.ins().iconst(types::I64, at as i64));
        let place = b.ins().iadd_imm_s(cells, 2 * EACH as i64 * 8);
        b.ins().call_indirect(signature, aside, &[loaded[0], loaded[1], function, place]);
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
        let code = arena.install_code(TreeId(0), &caller()).expect("the arena has room");
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
