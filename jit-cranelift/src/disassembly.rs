//! Machine code as text, an instruction a line, for the processors that code is made for.
//!
//! Problem: whoever reads code wants mnemonics, the places that branches lead to, and no byte left out.
//! Design: one decoder for each processor, with what its own text lacks put right here: a branch on aarch64
//! leads to a position, as on x86-64, and landing pads have their names. What no decoder knows is shown as a
//! number. A build has the decoder for its own processor; tests have both.
//!
//! Invariant: positions rise from 0, and what lies between two of them is shown.
//!
//! Example: `91001000 17ffffff` is `0  add x0, x0, #0x4` and `4  b 0x0`.

use iced_x86::{Decoder, DecoderOptions, Formatter, GasFormatter};
use target_lexicon::Architecture;

/// Calls `each` with the position and the text of each instruction. Whether there is a decoder.
pub(crate) fn disassemble(
    architecture: Architecture,
    code: &[u8],
    each: &mut dyn FnMut(usize, &str),
) -> bool {
    match architecture {
        Architecture::X86_64 => x86_64(code, each),
        #[cfg(any(test, target_arch = "aarch64"))]
        Architecture::Aarch64(_) => aarch64::disassemble(code, each),
        _ => return false,
    }
    true
}

fn x86_64(code: &[u8], each: &mut dyn FnMut(usize, &str)) {
    let mut formatter = GasFormatter::new();
    let options = formatter.options_mut();
    options.set_branch_leading_zeros(false);
    options.set_space_after_operand_separator(true);
    options.set_signed_immediate_operands(true);
    options.set_uppercase_hex(false);
    let mut text = String::new();
    for inst in &mut Decoder::with_ip(64, code, 0, DecoderOptions::NONE) {
        text.clear();
        formatter.format(&inst, &mut text);
        each(inst.ip() as usize, &text);
    }
}

#[cfg(any(test, target_arch = "aarch64"))]
mod aarch64 {
    use std::fmt::Write;

    use yaxpeax_arch::{Decoder, U8Reader};
    use yaxpeax_arm::armv8::a64::{InstDecoder, Instruction, Opcode, Operand};

    pub(super) fn disassemble(code: &[u8], each: &mut dyn FnMut(usize, &str)) {
        let decoder = InstDecoder::default();
        let (words, rest) = code.as_chunks::<4>();
        let mut text = String::new();
        for (index, bytes) in words.iter().enumerate() {
            text.clear();
            let word = u32::from_le_bytes(*bytes);
            match decoder.decode(&mut U8Reader::new(bytes)) {
                _ if landing_pad(word).is_some() => text += landing_pad(word).unwrap_or_default(),
                Ok(inst) => write(&inst, index * 4, &mut text),
                Err(_) => _ = write!(text, ".word {word:#x}"),
            }
            each(index * 4, &text);
        }
        for (index, byte) in rest.iter().enumerate() {
            each(words.len() * 4 + index, &format!(".byte {byte:#x}"));
        }
    }

    /// A hint whose number says from where an indirect branch may come.
    fn landing_pad(word: u32) -> Option<&'static str> {
        match word {
            0xd503_241f => Some("bti"),
            0xd503_245f => Some("bti c"),
            0xd503_249f => Some("bti j"),
            0xd503_24df => Some("bti jc"),
            _ => None,
        }
    }

    /// The decoder tells distances, and of pages: `$+0x10`, always last.
    fn write(inst: &Instruction, position: usize, text: &mut String) {
        let start = text.len();
        let _ = write!(text, "{inst}");
        let distance = inst.operands.iter().find_map(|operand| match operand {
            Operand::PCOffset(distance) if inst.opcode != Opcode::ADRP => Some(*distance),
            _ => None,
        });
        let at = text[start..].rfind('$').map(|at| start + at);
        if let (Some(distance), Some(at)) = (distance, at) {
            text.truncate(at);
            let place = position as i64 + distance;
            let sign = if place < 0 { "-" } else { "" };
            let _ = write!(text, "{sign}{:#x}", place.unsigned_abs());
        }
    }
}

/// A line for each instruction, with its position before it.
pub(crate) fn lines(architecture: Architecture, code: &[u8]) -> String {
    let mut text = String::new();
    disassemble(architecture, code, &mut |position, inst| {
        text += &format!("{position:>8x}  {inst}\n");
    });
    text
}

#[cfg(test)]
mod tests {
    use target_lexicon::Aarch64Architecture;

    use super::*;

    const ARM: Architecture = Architecture::Aarch64(Aarch64Architecture::Aarch64);

    fn of_words(words: &[u32]) -> Vec<String> {
        let code: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        lines(ARM, &code).lines().map(|line| line.trim().to_string()).collect()
    }

    #[test]
    fn code_for_aarch64_has_names() {
        let words = [
            0xd503_245f, // a landing pad
            0xa9bf_7bfd, // pushes frame pointer and return address
            0x9100_1000, // adds 4
            0xf940_0421, // loads 8 bytes, 8 bytes on
            0x1e61_2800, // adds doubles
            0x9a82_0020, // selects
            0xeb01_001f, // compares
            0x54ff_ffa0, // branches back to where 4 is added, if equal
            0x3600_0040, // branches over the next one
            0x1400_0002, // and so does this
            0xd61f_0060, // leaves by a register
            0xd65f_03c0, // returns
        ];
        let expected = [
            "0  bti c",
            "4  stp x29, x30, [sp, #-0x10]!",
            "8  add x0, x0, #0x4",
            "c  ldr x1, [x1, #0x8]",
            "10  fadd d0, d0, d1",
            "14  csel x0, x1, x2, eq",
            "18  cmp x0, x1",
            "1c  b.eq 0x10",
            "20  tbz w0, #0x0, 0x28",
            "24  b 0x2c",
            "28  br x3",
            "2c  ret",
        ];
        assert_eq!(of_words(&words), expected);
    }

    #[test]
    fn what_no_decoder_knows_is_a_number() {
        assert_eq!(
            of_words(&[0, 0xffff_ffff, 0x1400_0000]),
            ["0  udf #0x0", "4  .word 0xffffffff", "8  b 0x8"]
        );
        let mut shown = Vec::new();
        assert!(disassemble(ARM, &[0x1f, 0x20, 0x03, 0xd5, 7, 8], &mut |at, text| {
            shown.push(format!("{at} {text}"));
        }));
        assert_eq!(shown, ["0 nop", "4 .byte 0x7", "5 .byte 0x8"]);
        assert!(!disassemble(Architecture::S390x, &[0; 8], &mut |_, _| panic!("nothing is shown")));
    }

    /// Whatever the bits, also those of constants among code.
    #[test]
    fn any_word_is_shown() {
        let (mut word, mut known) = (1u32, 0);
        for _ in 0..200_000 {
            word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // The low bits of such a sequence have short periods.
            let line = lines(ARM, &(word ^ word >> 15).to_le_bytes());
            assert_eq!(line.lines().count(), 1, "{word:#x}");
            known += usize::from(!line.contains(".word"));
        }
        assert!(known > 20_000, "{known}");
    }
}
