//! Unwind information: how debuggers and profilers get from code of ours to whoever has called it.
//!
//! Problem: C's tools find a caller by tables (DWARF's call frame information, in an `.eh_frame` section),
//! and code that was made while the program runs has none. Design: one small section for each piece of code,
//! made only when asked for. Cranelift tells what its frames are like; for quick code, the ready-made glue
//! and code of the host's a [`Frame`] says it. A section does not depend on where the code lies: it stands
//! right after the code ([`section_offset`]), and counts from itself.
//!
//! Invariant: at every instruction after a call the section leads to the caller's frame, with the registers
//! that functions preserve. Between the last instructions of Cranelift's functions, when the frame pointer is
//! the caller's again, it does not: Cranelift describes where frames begin only.
//!
//! Example: quick code that saves `rbx` has the rows `1: cfa = rsp+16, rbp at cfa-16; 4: cfa = rbp+16; 12:
//! rbx at cfa-24`, and after each `leave`: `cfa = rsp+8`.

use cranelift_codegen::gimli::write::{
    Address, CallFrameInstruction, CommonInformationEntry, EhFrame, EndianVec, Expression,
    FrameDescriptionEntry, FrameTable,
};
use cranelift_codegen::gimli::{
    DW_EH_PE_pcrel, DW_EH_PE_sdata4, DW_OP_and, DwEhPe, Encoding, Format, LittleEndian, Register,
};
use cranelift_codegen::isa::unwind::UnwindInfo;
use cranelift_codegen::isa::TargetIsa;
use cranelift_codegen::CompiledCode;

/// Where the section of code of this length stands, from the code's start.
pub fn section_offset(code_len: usize) -> usize {
    code_len.next_multiple_of(8)
}

/// Bytes of the table in which perf looks a section's row up (`.eh_frame_hdr`), which comes after it.
pub const LOOKUP_BYTES: usize = 20;

/// The room that code takes which has a section of this length. Tools are told that the section and its
/// table lie after the code. They need not, but nothing else may: perf would look for them in that.
pub fn room_for(code_len: usize, section_len: usize) -> usize {
    section_offset(code_len) + section_len + LOOKUP_BYTES
}

/// The same for code of the host's, of which nobody knows the section so far. A span has 17 bytes of code at
/// least, and 30 of the section at most.
pub fn room_for_host(code_len: usize) -> usize {
    room_for(code_len, 2 * code_len + 128)
}

const RBX: Register = Register(3);
const RBP: Register = Register(6);
const RSP: Register = Register(7);
const RETURN_ADDRESS: Register = Register(16);

/// A frame of code for x86-64 that pushes the frame pointer first, and sets it next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Frame {
    /// Registers, by their numbers in instructions, and how far below the frame pointer they are saved.
    pub saved: Vec<(u8, i32)>,
    /// Where they all are.
    pub saved_at: u32,
    /// Where the frame has been left, from after that instruction to the next one that is in it.
    pub left: Vec<(u32, u32)>,
}

/// Bytes of `push rbp`, and of that with `mov rbp, rsp`.
const PUSHED: u32 = 1;
const BEGUN: u32 = 4;

impl Frame {
    /// The frame of the ready-made glue: `enter` saves five registers, `leave` none.
    pub(crate) fn of_glue(code: &[u8], saves: bool) -> Frame {
        let len = code.len() as u32;
        let saved = [3u8, 12, 13, 14, 15].into_iter().zip((1..).map(|place| 8 * place));
        Frame {
            saved: if saves { saved.collect() } else { Vec::new() },
            saved_at: if saves { BEGUN + 9 } else { BEGUN },
            left: vec![(len - 1, len)],
        }
    }

    /// Its section.
    pub(crate) fn section(&self, code_len: usize) -> Vec<u8> {
        let mut fde = begin(code_len);
        fde.add_instruction(PUSHED, CallFrameInstruction::CfaOffset(16));
        fde.add_instruction(PUSHED, CallFrameInstruction::Offset(RBP, -16));
        fde.add_instruction(BEGUN, CallFrameInstruction::CfaRegister(RBP));
        for &(reg, below) in &self.saved {
            // The others have the same numbers in both.
            let reg = if reg == 3 { RBX } else { Register(reg.into()) };
            fde.add_instruction(self.saved_at, CallFrameInstruction::Offset(reg, -16 - below));
        }
        for &(from, to) in &self.left {
            fde.add_instruction(from, CallFrameInstruction::RememberState);
            fde.add_instruction(from, CallFrameInstruction::Cfa(RSP, 8));
            fde.add_instruction(from, CallFrameInstruction::SameValue(RBP));
            if (to as usize) < code_len {
                fde.add_instruction(to, CallFrameInstruction::RestoreState);
            }
        }
        write(x86_64(), fde)
    }
}

/// The section of code for x86-64 that has no frame pointer of its own: it is its caller's, who had set it
/// and aligned the stack when he called. In these spans it is the address where that one lies.
pub fn frameless(code_len: usize, spans: &[(u32, u32)]) -> Vec<u8> {
    let mut cie = x86_64();
    cie.add_instruction(CallFrameInstruction::CfaExpression(aligned(false)));
    let mut fde = begin(code_len);
    for &(from, to) in spans {
        let mut place = Expression::new();
        place.op_breg(RBP, 0);
        fde.add_instruction(from, CallFrameInstruction::CfaExpression(aligned(true)));
        fde.add_instruction(from, CallFrameInstruction::Expression(RBP, place));
        if (to as usize) < code_len {
            fde.add_instruction(to, CallFrameInstruction::CfaExpression(aligned(false)));
            fde.add_instruction(to, CallFrameInstruction::SameValue(RBP));
        }
    }
    write(cie, fde)
}

/// The caller's frame pointer, which is in the frame pointer or where that leads to, rounded down to 16.
fn aligned(is_saved: bool) -> Expression {
    let mut address = Expression::new();
    address.op_breg(RBP, 0);
    if is_saved {
        address.op_deref();
    }
    address.op_consts(-16);
    address.op(DW_OP_and);
    address
}

/// The section of code that Cranelift has made; empty if it does not tell.
pub(crate) fn of_cranelift(code: &CompiledCode, isa: &dyn TargetIsa) -> Vec<u8> {
    let (Ok(Some(UnwindInfo::SystemV(info))), Some(cie)) =
        (code.create_unwind_info(isa), isa.create_systemv_cie())
    else {
        return Vec::new();
    };
    write(cie, info.to_fde(address(code.code_buffer().len())))
}

/// The code's address as the section's writer takes it, which counts from the section's start.
fn address(code_len: usize) -> Address {
    Address::Constant((section_offset(code_len) as u64).wrapping_neg())
}

fn begin(code_len: usize) -> FrameDescriptionEntry {
    FrameDescriptionEntry::new(address(code_len), code_len as u32)
}

/// What holds before the first instruction of any function.
fn x86_64() -> CommonInformationEntry {
    let encoding = Encoding { address_size: 8, format: Format::Dwarf32, version: 1 };
    let mut cie = CommonInformationEntry::new(encoding, 1, -8, RETURN_ADDRESS);
    cie.add_instruction(CallFrameInstruction::Cfa(RSP, 8));
    cie.add_instruction(CallFrameInstruction::Offset(RETURN_ADDRESS, -8));
    cie
}

fn write(mut cie: CommonInformationEntry, fde: FrameDescriptionEntry) -> Vec<u8> {
    cie.fde_address_encoding = DwEhPe(DW_EH_PE_pcrel.0 | DW_EH_PE_sdata4.0);
    let mut table = FrameTable::default();
    let cie = table.add_cie(cie);
    table.add_fde(cie, fde);
    let mut section = EhFrame(EndianVec::new(LittleEndian));
    // Refused are only distances that code, which is no longer than its arena, cannot have.
    match table.write_eh_frame(&mut section) {
        Ok(()) => section.0.into_vec(),
        Err(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The instructions of a section's only row, without what fills it up.
    fn row(section: &[u8]) -> &[u8] {
        let word = |at: usize| i32::from_le_bytes(section[at..at + 4].try_into().unwrap()) as usize;
        let start = word(0) + 4;
        assert_eq!((word(start + 4), start + 4 + word(start)), (start + 4, section.len()));
        let end = section.iter().rposition(|&byte| byte != 0).unwrap() + 1;
        // Length, distance to what holds for all rows, address, length of the code, length of nothing.
        &section[start + 17..end]
    }

    #[test]
    fn a_frame_is_described_where_it_begins_and_where_it_is_left() {
        let frame = Frame { saved: vec![(3, 8), (12, 16)], saved_at: 12, left: vec![(20, 21)] };
        let expected = [
            [0x41, 0x0e, 16].as_slice(), // advance 1, CFA offset 16
            &[0x86, 2],                  // rbp at CFA-16
            &[0x43, 0x0d, 6],            // advance 3, CFA register rbp
            &[0x48, 0x83, 3, 0x8c, 4],   // advance 8, rbx at CFA-24, r12 at CFA-32
            &[0x48, 0x0a],               // advance 8, remember
            &[0x0c, 7, 8, 0x08, 6],      // CFA rsp+8, rbp as it was
            &[0x41, 0x0b],               // advance 1, as remembered
        ];
        assert_eq!(row(&frame.section(64)), expected.concat());
    }

    #[test]
    fn code_without_a_frame_is_described_where_it_calls() {
        let section = frameless(64, &[(10, 30)]);
        let address = |deref: &[u8]| [&[0x76, 0], deref, &[0x11, 0x70, 0x1a]].concat();
        let (plain, saved) = (address(&[]), address(&[0x06]));
        let expected = [
            [0x4a, 0x0f, 6].as_slice(), // advance 10, CFA by an expression
            &saved,
            &[0x10, 6, 2, 0x76, 0], // rbp where rbp leads to
            &[0x54, 0x0f, 5],
            &plain,
            &[0x08, 6],
        ];
        assert_eq!(row(&section), expected.concat());
    }
}
