//! Quick code: lowered code made into x86-64 machine code in one pass, without Cranelift.
//!
//! Problem: Cranelift takes 5 us for each operation of a trace, and nearly half of that is register
//! allocation: a program that runs for a tenth of a second cannot buy much code. What lowering makes of
//! traces is simple: long chains of blocks, exits that nobody comes back from, a loop. Design: one pass in
//! the order of the code, which keeps account of where values are (`places.rs`), with what is known
//! beforehand of their uses (`plan.rs`). The state at a branch is the state where its target begins, if that
//! comes from there first; others that lead there move their values to the same places (`moves.rs`). So an
//! exit's stub finds its values where the guard had them, and costs the loop nothing.
//!
//! What a loop passes around is in registers as far as they go, what is used most on its own way first, which
//! ends with the first jump back: what its side traces use as well counts less than what runs in each
//! iteration. What the loop does not use, but something after it, waits in the frame.
//!
//! Invariants: all that lowering makes is either made, or refused as a whole ([`Unsupported`]): then
//! Cranelift makes it. Operands of doubles never change places, so NaNs are as Cranelift has them. Code obeys
//! the conventions that the function's signature names, as Cranelift does.
//!
//! Example: `v2 = iadd v0, v1; brif v3, block1, block2` with `v0` not wanted any more is `add rdi, rsi; test
//! rdx, rdx; jne block1`.

mod asm;
mod calls;
mod conditions;
mod doubles;
mod edges;
mod emit;
mod frame;
mod ints;
mod live;
mod memory;
mod moves;
mod places;
mod plan;

use crate::lir::Function;
use cranelift_codegen::{Final, MachSrcLoc};

use asm::Asm;
use emit::{Emit, Held};
use places::Places;
use plan::Plan;

use crate::unwind::Frame;

/// Something that quick code cannot be made for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unsupported(pub &'static str);

type Result<T> = std::result::Result<T, Unsupported>;

/// What the machine can do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Features {
    pub has_rounding: bool,
    pub has_fused_product: bool,
    /// Operations on doubles with three operands.
    pub has_avx: bool,
}

/// Finished code.
pub(crate) struct Code {
    pub bytes: Vec<u8>,
    /// What each part is for.
    pub marks: Vec<MachSrcLoc<Final>>,
    /// Bytes of the frame.
    pub frame_bytes: u32,
    pub frame: Frame,
}

/// The buffers, used again and again.
#[derive(Default)]
pub(crate) struct Quick {
    plan: Plan,
    asm: Asm,
    places: Places,
    held: Held,
}

impl Quick {
    /// Makes code of a function; `preserves` says whether it obeys the convention that certain registers are
    /// as before when it ends.
    pub(crate) fn generate(&mut self, func: &Function, features: Features, preserves: bool) -> Result<Code> {
        self.plan.make(func);
        self.asm.begin(func.num_blocks());
        self.places.reset(func.num_values());
        let mut emit = Emit::new(func, features, &self.plan, &mut self.asm, &mut self.places, &mut self.held);
        emit.preserves = preserves;
        emit.all()
    }
}
