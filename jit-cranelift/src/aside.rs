//! Calls aside: a C function called from a trace that goes on, without a price for the trace that does not call it.
//!
//! Problem: a call spoils all registers that C functions may use, doubles' registers among them. If a cold block calls and
//! then goes on in the trace, the register allocator keeps every live double in memory all the time, also while the cold block
//! never runs: a loop of half a nanosecond takes 2.7. Design: one function, written by hand, saves what the C function may spoil,
//! calls it, and puts its result into memory. Cranelift knows it by a convention under which nothing is spoilt.
//! A call costs some four nanoseconds more, so this is for what is seldom needed and slow by itself.
//!
//! Invariant: all registers but the stack pointer's neighbours (saved as usual) have their contents again on return. Vectors
//! count with 128 bits: Cranelift uses no longer ones.
//!
//! Example: in a cold block, `call aside(x, y, fmod, slot)`, then `v = load slot`.

/// A C function of two doubles.
pub(crate) type Function = extern "C" fn(f64, f64) -> f64;

/// Whether this machine has [`aside`].
pub(crate) const IS_THERE: bool = cfg!(all(unix, any(target_arch = "x86_64", target_arch = "aarch64")));

/// The address of the function `(x, y, function, result)` that calls the function with both numbers and writes its result.
pub(crate) fn address() -> usize {
    #[cfg(all(unix, any(target_arch = "x86_64", target_arch = "aarch64")))]
    return aside as *const () as usize;
    #[cfg(not(all(unix, any(target_arch = "x86_64", target_arch = "aarch64"))))]
    unreachable!("nobody asks where `IS_THERE` is false")
}

/// Gets `x`, `y` in `xmm0`, `xmm1` and function, result in `rdi`, `rsi`, on a stack that is aligned for a call.
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

/// Gets `x`, `y` in `d0`, `d1` and function, result in `x0`, `x1`. C functions keep `x19` to `x28` and the lower halves of `v8`
/// to `v15`; the upper halves are saved with the rest.
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
