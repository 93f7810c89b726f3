//! Which machine to generate code for, and with which settings.
//!
//! Problem: Cranelift's defaults are made for whole modules; a tracing JIT wants cheap compiles and its own
//! checks. Design: [`Options`] is all that a user chooses; everything else is fixed here, as measured: the
//! backtracking register allocator (the fast one makes code several times slower), no mid-end unless asked
//! for (the trace optimizer has done its work), frame pointers always, verifier in tests only, functions
//! aligned to cache lines.
//!
//! Invariant: code for [`Target::Native`] runs on this machine; the other targets are for tests. Example:
//! `Options { target: Target::Aarch64, ..Options::default() }` generates code that can only be looked at.

use cranelift_codegen::isa::{self, OwnedTargetIsa};
use cranelift_codegen::settings::{self, Configurable};

use crate::error::CompileError;

/// The machine that code is generated for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Target {
    /// This machine, with every feature that it has.
    #[default]
    Native,
    /// The oldest machine of this architecture: runs here, uses none of the newer instructions.
    Baseline,
    /// 64-bit Arm, whatever the machine: the code can be looked at, not run (unless this is an Arm machine).
    /// On other machines only this crate's tests have its code generator.
    Aarch64,
}

/// What to generate, and what to keep for people to read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// The machine.
    pub target: Target,
    /// Run Cranelift's mid-end too: 1.4 to 2 times the compile time, for short traces that our optimizer did
    /// not see. It computes again in each exit stub what only exits still need, so its time and code grow
    /// with the square of a trace whose guards have snapshots of their own (measured: 166 such guards, 15
    /// times the time).
    pub optimize: bool,
    /// Make code without Cranelift's code generator where that is possible: see `quick.rs`. On x86-64 for
    /// System V alone, and not with Cranelift's mid-end.
    pub quick: bool,
    /// A tree of traces that is one function, but no unit's, is made by Cranelift's code generator all the
    /// same if it has no more operations than this: such code is made seldom and runs long.
    pub carefully: usize,
    /// Lower each loop once, as it stands in the trace, instead of repeating the bodies of short ones: see
    /// `lower/unroll.rs`.
    pub no_unrolling: bool,
    /// Do not ask early for the memory that loops walk through: see `lower/prefetch.rs`.
    pub no_prefetching: bool,
    /// Make a second copy of a preamble, for those who come again, wherever it can leave anything out: for
    /// tests. See `lower/again.rs`.
    pub always_again: bool,
    /// Check Cranelift's input: for tests, 60 % more compile time.
    pub verify: bool,
    /// Keep Cranelift's input as text.
    pub want_clif: bool,
    /// Keep the machine code as text.
    pub want_disasm: bool,
    /// Keep the trace and its machine code side by side as text.
    pub want_listing: bool,
    /// Make what debuggers and profilers want to know of code: see [`Compiled::notes`](crate::Compiled).
    pub want_notes: bool,
}

/// The code generator for these options.
pub(crate) fn build(options: &Options) -> Result<OwnedTargetIsa, CompileError> {
    let target = |error: &dyn std::fmt::Display| CompileError::Target(error.to_string());
    let mut flags = settings::builder();
    let choices = [
        ("opt_level", if options.optimize { "speed" } else { "none" }),
        ("regalloc_algorithm", "backtracking"),
        ("preserve_frame_pointers", "true"),
        ("enable_verifier", if options.verify { "true" } else { "false" }),
        ("log2_min_function_alignment", "6"),
        // Errors are returned, and a host's longjmp needs no tables: only tools unwind through traces.
        ("unwind_info", if options.want_notes { "true" } else { "false" }),
    ];
    for (name, value) in choices {
        flags.set(name, value).map_err(|error| target(&error))?;
    }
    let mut builder = match options.target {
        Target::Native => cranelift_native::builder().map_err(|error| target(&error))?,
        Target::Baseline => cranelift_native::builder_with_options(false).map_err(|error| target(&error))?,
        Target::Aarch64 => {
            isa::lookup_by_name("aarch64-unknown-linux-gnu").map_err(|error| target(&error))?
        }
    };
    let has_landing_pads = match options.target {
        Target::Native => processor_has_landing_pads(),
        Target::Baseline => false,
        Target::Aarch64 => true,
    };
    if has_landing_pads {
        builder.enable("use_bti").map_err(|error| target(&error))?;
    }
    builder.finish(settings::Flags::new(flags)).map_err(|error| target(&error))
}

fn has_flag(isa: &dyn isa::TargetIsa, name: &str) -> bool {
    isa.isa_flags().iter().any(|flag| flag.name == name && flag.as_bool() == Some(true))
}

/// Whether the processor can be told to fault where an indirect branch leads to no landing pad, and the
/// kernel lets programs tell it (`PROT_BTI`).
fn processor_has_landing_pads() -> bool {
    #[cfg(all(target_arch = "aarch64", target_os = "linux"))]
    {
        const HWCAP2_BTI: libc::c_ulong = 1 << 17;
        // SAFETY: asks for a number, has no other effect.
        unsafe { libc::getauxval(libc::AT_HWCAP2) & HWCAP2_BTI != 0 }
    }
    #[cfg(not(all(target_arch = "aarch64", target_os = "linux")))]
    false
}

/// Whether functions begin with landing pads.
pub(crate) fn has_landing_pads(isa: &dyn isa::TargetIsa) -> bool {
    has_flag(isa, "use_bti")
}

/// Whether prefetches can be made of loads: see `lower/prefetch.rs`.
pub(crate) fn has_prefetch(isa: &dyn isa::TargetIsa) -> bool {
    use target_lexicon::Architecture;
    matches!(isa.triple().architecture, Architecture::X86_64 | Architecture::Aarch64(_))
}

/// Whether floats are rounded by one instruction. Without it Cranelift would call a library function through
/// a relocation, and we call our own by its address instead.
pub(crate) fn has_rounding(isa: &dyn isa::TargetIsa) -> bool {
    match isa.triple().architecture {
        target_lexicon::Architecture::X86_64 => has_flag(isa, "has_sse41"),
        _ => true,
    }
}

/// Whether vectors can be compared and blended, and doubles are not moved under a condition by one
/// instruction.
pub(crate) fn has_blend(isa: &dyn isa::TargetIsa) -> bool {
    isa.triple().architecture == target_lexicon::Architecture::X86_64
        && ["has_sse3", "has_sse41", "has_sse42"].iter().all(|name| has_flag(isa, name))
}

/// Whether there are operations on doubles with three operands.
pub(crate) fn has_avx(isa: &dyn isa::TargetIsa) -> bool {
    isa.triple().architecture == target_lexicon::Architecture::X86_64 && has_flag(isa, "has_avx")
}

/// Whether `x * y + z` with one rounding is one instruction, and rounding to a whole number is another.
pub(crate) fn has_fused_product(isa: &dyn isa::TargetIsa) -> bool {
    match isa.triple().architecture {
        target_lexicon::Architecture::X86_64 => {
            has_rounding(isa) && has_flag(isa, "has_avx") && has_flag(isa, "has_fma")
        }
        _ => true,
    }
}
