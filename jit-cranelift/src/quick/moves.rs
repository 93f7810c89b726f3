//! Moves that happen all at once.
//!
//! Problem: where code meets code, or calls, values have to go to places that other values leave at the same
//! moment. Design: a move whose target nobody reads any more is made first; where there is none left, the
//! rest are cycles, and one value of a cycle waits in a scratch register. Constants come last, as they need
//! no place.
//!
//! Invariant: moves do not change flags. Example: `rax <- rcx, rcx <- rax` is `r11 <- rcx; rcx <- rax;
//! rax <- r11`.

use tracelift_core::planted::{planted, Bug};

use super::asm::{Asm, FLOAT_CYCLE, FLOAT_SCRATCH, SCRATCH};
use super::places::{slot_mem, Place};

/// What is moved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Source {
    Place(Place),
    Int(i64),
    Float(u64),
}

/// One of several moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Move {
    pub to: Place,
    pub from: Source,
}

/// Makes the moves; the list is empty then.
pub(super) fn make(asm: &mut Asm, moves: &mut Vec<Move>) {
    moves.retain(|step| step.from != Source::Place(step.to));
    while !moves.is_empty() {
        let reads = |place: Place| moves.iter().any(|other| other.from == Source::Place(place));
        let is_place = |step: &Move| matches!(step.from, Source::Place(_));
        let is_ready = |step: &Move| is_place(step) && (!reads(step.to) || planted(Bug::QuickMovesInOrder));
        let ready = moves.iter().position(is_ready);
        if let Some(ready) = ready {
            let step = moves.swap_remove(ready);
            one(asm, step);
            continue;
        }
        match moves.iter().find(|step| is_place(step)).map(|step| step.from) {
            // All are parts of cycles.
            Some(from) => {
                let is_float = matches!(from, Source::Place(Place::Reg(reg)) if reg.is_float());
                let aside = Place::Reg(if is_float { FLOAT_CYCLE } else { SCRATCH });
                one(asm, Move { to: aside, from });
                for step in moves.iter_mut().filter(|step| step.from == from) {
                    step.from = Source::Place(aside);
                }
            }
            None => moves.drain(..).for_each(|step| one(asm, step)),
        }
    }
}

fn one(asm: &mut Asm, Move { to, from }: Move) {
    match (to, from) {
        (Place::Reg(to), Source::Place(Place::Reg(from))) => asm.mov(to, from),
        (Place::Reg(to), Source::Place(Place::Slot(from))) => asm.load(to, slot_mem(from)),
        (Place::Slot(to), Source::Place(Place::Reg(from))) => asm.store(slot_mem(to), from),
        (Place::Slot(to), Source::Place(Place::Slot(from))) => {
            asm.load(FLOAT_SCRATCH, slot_mem(from));
            asm.store(slot_mem(to), FLOAT_SCRATCH);
        }
        (Place::Reg(to), Source::Int(imm)) => asm.mov_imm(to, imm),
        (Place::Slot(to), Source::Int(imm)) => {
            asm.mov_imm(SCRATCH, imm);
            asm.store(slot_mem(to), SCRATCH);
        }
        (Place::Reg(to), Source::Float(bits)) => {
            let constant = asm.constant(bits.into());
            asm.load(to, constant);
        }
        (Place::Slot(to), Source::Float(bits)) => {
            asm.mov_imm(SCRATCH, bits as i64);
            asm.store(slot_mem(to), SCRATCH);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quick::asm::Reg;

    fn reg(number: u8) -> Place {
        Place::Reg(Reg(number))
    }

    /// What the moves become.
    fn made(moves: &[(Place, Place)]) -> String {
        let mut asm = Asm::default();
        let mut moves: Vec<Move> =
            moves.iter().map(|&(to, from)| Move { to, from: Source::Place(from) }).collect();
        make(&mut asm, &mut moves);
        assert!(moves.is_empty());
        let text = crate::disassembly::lines(target_lexicon::Architecture::X86_64, &asm.bytes);
        let lines: Vec<String> = (text.lines())
            .map(|line| line.split_whitespace().skip(1).collect::<Vec<_>>().join(" "))
            .collect();
        lines.join("; ")
    }

    #[test]
    fn who_is_read_is_written_later() {
        assert_eq!(made(&[(reg(1), reg(0)), (reg(2), reg(1))]), "mov %rcx, %rdx; mov %rax, %rcx");
        assert_eq!(made(&[(reg(1), reg(1))]), "");
    }

    #[test]
    fn cycles_go_by_a_scratch_register() {
        let swap = [(reg(0), reg(1)), (reg(1), reg(0))];
        assert_eq!(made(&swap), "mov %rcx, %r11; mov %rax, %rcx; mov %r11, %rax");
        let floats = [(reg(16), reg(17)), (reg(17), reg(16))];
        assert_eq!(made(&floats), "movaps %xmm1, %xmm14; movaps %xmm0, %xmm1; movaps %xmm14, %xmm0");
    }

    #[test]
    fn slots_take_part() {
        let (one, other) = (Place::Slot(0), Place::Slot(1));
        assert_eq!(
            made(&[(one, other), (other, one)]),
            "mov -0x38(%rbp), %r11; movsd -0x30(%rbp), %xmm15; movsd %xmm15, -0x38(%rbp); \
             mov %r11, -0x30(%rbp)"
        );
    }
}
