//! The frame: what is saved, where it is restored, and the code as a whole.
//!
//! Problem: which registers have to be saved, and how large the frame is, is known when all code is made.
//! Design: what comes before the code is made last, and put in front; where the function is left there is
//! room to restore all registers that may have to be, and what is not needed is filled with instructions that
//! do nothing. The frame pointer is kept, for debuggers and profilers. Linked traces restore no registers:
//! who enters the first of them does that for all (`glue.rs`).
//!
//! Invariant: slots lie below the five places of saved registers, whether these are in use or not. Example:
//! code that uses `rbx` alone begins with `push rbp; mov rbp, rsp; sub rsp, 48; mov [rbp-8], rbx`.

use cranelift_codegen::ir;

use super::asm::{Asm, Mem, Reg, RBP, RSP};
use super::emit::{Emit, LOOP_ALIGNMENT};
use super::places::{self, PRESERVED, SAVED};
use super::{Code, Result, Unsupported};
use crate::unwind::Frame;

/// Bytes that restore five registers.
const EPILOGUE: usize = 4 * SAVED as usize;

/// Room for the code that makes the frame, for alignment, and for some constants after the code.
const AROUND: usize = 128;

/// How far below the frame pointer a register is saved.
fn saved_below(reg: Reg) -> i32 {
    8 * if reg.0 == 3 { 1 } else { i32::from(reg.0) - 10 }
}

/// Where that is.
fn saved_mem(reg: Reg) -> Mem {
    Mem::at(RBP, -saved_below(reg))
}

impl Emit<'_> {
    /// Makes the code whole: what comes before it, and what restores registers.
    pub(super) fn finish(mut self) -> Result<Code> {
        let in_use = if self.preserves { self.used & PRESERVED } else { 0 };
        let saved: Vec<Reg> = (0..16).map(Reg).filter(|reg| in_use & reg.bit() != 0).collect();
        let words =
            if saved.is_empty() && self.places.count == 0 { 0 } else { SAVED as u32 + self.places.count };
        let frame = (words * 8).div_ceil(16) * 16;
        for &at in &self.epilogues {
            let mut restore = Asm::default();
            saved.iter().for_each(|&reg| restore.load(reg, saved_mem(reg)));
            let room = &mut self.asm.bytes[at..at + EPILOGUE];
            room[..restore.bytes.len()].copy_from_slice(&restore.bytes);
            // No operation, of four bytes.
            room[restore.bytes.len()..]
                .chunks_mut(4)
                .for_each(|rest| rest.copy_from_slice(&[0x0f, 0x1f, 0x40, 0]));
        }
        let mut before = Asm::default();
        before.bytes.reserve(self.asm.bytes.len() + AROUND);
        before.bytes.push(0x55);
        before.mov(RBP, RSP);
        if frame > 0 {
            before.arith_imm(5, true, RSP, frame as i32);
        }
        saved.iter().for_each(|&reg| before.store(saved_mem(reg), reg));
        let saved_at = before.position();
        before.align(LOOP_ALIGNMENT);
        self.asm.finish(before.bytes.len()).ok_or(Unsupported("a jump to no code"))?;
        let mut bytes = before.bytes;
        let shift = bytes.len() as u32;
        bytes.extend_from_slice(&self.asm.bytes);
        for mark in &mut self.marks {
            (mark.start, mark.end) = (mark.start + shift, mark.end + shift);
        }
        self.left.iter_mut().for_each(|(from, to)| (*from, *to) = (*from + shift, *to + shift));
        let saved = saved.iter().map(|&reg| (reg.0, saved_below(reg))).collect();
        let frame_of_code = Frame { saved, saved_at, left: self.left };
        Ok(Code { bytes, marks: self.marks, frame_bytes: frame + 16, frame: frame_of_code })
    }

    /// Leaves room to restore registers, if any may have to be, leaves the frame, and makes what comes last.
    pub(super) fn epilogue(&mut self, last: impl FnOnce(&mut Asm)) {
        if self.preserves {
            self.epilogues.push(self.asm.bytes.len());
            self.asm.bytes.extend([0x90; EPILOGUE]);
        }
        self.asm.bytes.push(0xc9);
        let from = self.asm.position();
        last(self.asm);
        self.left.push((from, self.asm.position()));
    }

    /// The first slot of one of the function's own stack slots.
    pub(super) fn region(&mut self, slot: ir::StackSlot) -> i32 {
        let at = slot.as_u32() as usize;
        if self.regions.len() <= at {
            self.regions.resize(at + 1, None);
        }
        let words = self.func.slot_bytes(slot).div_ceil(8).max(1);
        let count = &mut self.places.count;
        let last = *self.regions[at].get_or_insert_with(|| {
            *count += words;
            *count - 1
        });
        places::slot_offset(last)
    }
}
