//! Prefetching: a loop that walks through arrays asks for their memory before it comes there.
//!
//! Problem: the processor's own prefetcher stops where a page ends and knows nothing of the next row, and a
//! host's values are wide: at 16 bytes each, a walk waits for another page every 256 items. Design: an item's
//! address that moves by a constant from iteration to iteration, from a base that stays, is a *stream*; the
//! facts of the loop name them ([`LoopFacts::streams`]). For each line of the cache that it comes to, the
//! loop touches the one that it will come to after some [`AHEAD`] bytes, or [`FAR_AHEAD`], if it was seen to
//! have a long way to go ([`LoopFacts::to_come`]). Items in one line are one stream. Short walks end before
//! that, and what they would ask for is in the way of what others have in the cache.
//!
//! Cranelift knows no prefetch. Lowering puts a load of one byte whose result nobody wants in its place, the
//! *carrier*, marked by its source location; [`patch`] makes a prefetch of it in the finished code: both
//! x86-64 and aarch64 have one of the same length with the same operand.
//!
//! Invariants: a prefetch does not fault and the program cannot see it, wherever it points; no carrier is
//! left in code, or there is no code. Not with Cranelift's mid-end, which might take a carrier's value for
//! that of a later load.
//!
//! Example: `a2 = item_addr(a0, i1, 16, 0) ... i3 = int_add(i1, 1); jump(L1, a0,
//! i3)`, four iterations in a row, has one `prefetcht0 0xc00(%rax,%rcx)` in each round.

use cranelift_codegen::ir::{types, MemFlagsData, SourceLoc};
use cranelift_codegen::{Final, MachSrcLoc};
use iced_x86::{Code, Decoder, DecoderOptions, OpKind};
use target_lexicon::Architecture;
use tracelift_core::loops::{LoopFacts, Stream};
use tracelift_core::Value;

use super::unroll::Unroll;
use super::values::Def;
use super::{Lowering, Result};
use crate::error::CompileError;
use crate::listing::location;

/// How far ahead, in bytes, by the length of the walk. Measured on x86-64: over rows of 16 KB LU and SOR take
/// 1.06 and 1.15 of the time without; with a kilobyte the memory still comes late, and a whole page puts what
/// is asked for into the sets of the cache that are in use. Over 16 MB conv3 takes, beside 3 KB: with 6 KB
/// .81, 8 KB .75, 12 KB .71, 16 KB .74, 32 KB .80, not at all .97.
const AHEAD: u64 = 3072;
const FAR_AHEAD: u64 = 12288;
/// Walks over less memory than this, in bytes, are short: LU over rows of 1.6 KB takes .92 without.
const SHORT: u64 = 8 << 10;
/// Walks over so much are long. Measured on conv3, with 12 KB: arrays of 256 KB take .89 of the time, those
/// of 64 KB 1.01.
const LONG: u64 = 128 << 10;
/// At least so many iterations ahead: where each of them moves far.
const ITERATIONS_AHEAD: u64 = 8;
/// A line of the cache, in bytes.
const LINE: u64 = 64;

/// The streams whose memory is asked for, in the order of the trace.
#[derive(Default)]
pub(super) struct Streams {
    streams: Vec<Stream>,
    /// Iterations that are to come.
    to_come: u64,
}

impl Streams {
    /// One stream for all whose items lie in one line.
    pub(super) fn plan(facts: &LoopFacts) -> Streams {
        let mut wanted: Vec<Stream> = Vec::new();
        let to_come = facts.to_come.unwrap_or(0);
        let goes_far = |stream: &&Stream| to_come.saturating_mul(stream.step.unsigned_abs()) >= SHORT;
        for stream in facts.streams.iter().filter(goes_far) {
            let is_beside = |other: &Stream| {
                let is_alike = (other.base, other.step) == (stream.base, stream.step);
                is_alike && other.beside.abs_diff(stream.beside) < LINE
            };
            if !wanted.iter().any(is_beside) {
                wanted.push(*stream);
            }
        }
        Streams { streams: wanted, to_come }
    }

    /// By how many bytes an iteration moves the address that an instruction computes, if it is one of these,
    /// and how far ahead it asks for memory.
    fn step(&self, inst: usize) -> Option<(i64, u64)> {
        let found = self.streams.binary_search_by_key(&inst, |stream| stream.inst).ok()?;
        let step = self.streams[found].step;
        let is_long = self.to_come.saturating_mul(step.unsigned_abs()) >= LONG;
        Some((step, if is_long { FAR_AHEAD } else { AHEAD }))
    }
}

impl Lowering<'_, '_, '_> {
    /// Where an item's address has been computed: asks for what lies ahead, if that is a stream and at a new
    /// line.
    pub(super) fn prefetch(&mut self, address: Value) -> Result<()> {
        let Some((bytes, ahead)) = self.streams.step(self.index) else { return Ok(()) };
        let line = |copy: usize| (copy as u64).saturating_mul(bytes.unsigned_abs()) / LINE;
        let copy = self.unroll.as_ref().map_or(0, Unroll::jumps_passed);
        if copy > 0 && line(copy) == line(copy - 1) {
            return Ok(());
        }
        let Def::Address(base, offset) = self.def(address)? else { return Ok(()) };
        let iterations = ahead.div_ceil(bytes.unsigned_abs()).max(ITERATIONS_AHEAD) as i64;
        let ahead = bytes.checked_mul(iterations).and_then(|ahead| ahead.checked_add(offset.into()));
        let Some(Ok(offset)) = ahead.map(i32::try_from) else { return Ok(()) };
        self.b.set_srcloc(SourceLoc::new(self.mark(self.index) | location::PREFETCH));
        // That it might trap is what keeps it: Cranelift drops what has neither effect nor use.
        self.b.uload8(types::I32, MemFlagsData::new(), base, offset);
        self.prefetches += 1;
        self.b.set_srcloc(SourceLoc::new(self.mark(self.index)));
        Ok(())
    }
}

/// Makes prefetches of the carriers in finished code.
pub(crate) fn patch(architecture: Architecture, code: &mut [u8], marks: &[MachSrcLoc<Final>]) -> Result<()> {
    let patch_range = match architecture {
        Architecture::X86_64 => patch_range,
        _ => patch_words,
    };
    let is_carrier = |mark: &&MachSrcLoc<Final>| location::is_prefetch(mark.loc.bits());
    for mark in marks.iter().filter(is_carrier) {
        let bytes = code.get_mut(mark.start as usize..mark.end as usize);
        bytes.and_then(patch_range).ok_or_else(|| {
            CompileError::Codegen(format!("no prefetch can be made of the code at {}", mark.start))
        })?;
    }
    Ok(())
}

/// All loads of bytes in what was made for carriers on aarch64; the register allocator may have put moves
/// beside them, and a distance may be made in a register first.
fn patch_words(bytes: &mut [u8]) -> Option<()> {
    let mut is_patched = false;
    for bytes in bytes.as_chunks_mut::<4>().0 {
        let prefetch = prefetch_for(u32::from_le_bytes(*bytes));
        is_patched |= prefetch.is_some();
        *bytes = prefetch.map_or(*bytes, u32::to_le_bytes);
    }
    is_patched.then_some(())
}

/// The prefetch (`pldl1keep`, which is 0 in place of the register) of where an instruction loads a byte, if
/// it is one that does.
fn prefetch_for(word: u32) -> Option<u32> {
    let base = word & (0x1f << 5);
    Some(match word {
        // From a base and bytes up to 4095; what is told to a prefetch are eights of bytes.
        _ if word & 0xffc00000 == 0x39400000 => 0xf9800000 | (((word >> 10) & 0xfff) / 8) << 10 | base,
        // From a base and bytes from -256 to 255.
        _ if word & 0xffe00c00 == 0x38400000 => 0xf8800000 | word & (0x1ff << 12) | base,
        // From a base and a register, which is not shifted.
        _ if word & 0xffe00c00 == 0x38600800 => 0xf8a00800 | word & (0x1f << 16) | word & (0x7 << 13) | base,
        _ => return None,
    })
}

/// All loads of bytes in what was made for carriers on x86-64; the register allocator may have put moves
/// beside them.
fn patch_range(bytes: &mut [u8]) -> Option<()> {
    let carriers = loads_among_moves(bytes).unwrap_or_else(|| loads_of_bytes(bytes));
    for &at in &carriers {
        // `[REX] 0F B6 /r` becomes `[REX] 0F 18 /1`; REX.R and REX.W are about the register.
        let has_rex = bytes[at] & 0xf0 == 0x40;
        if has_rex {
            bytes[at] &= !0x0c;
        }
        let [0x0f, opcode @ 0xb6, operand] = bytes.get_mut(at + usize::from(has_rex)..)?.first_chunk_mut()?
        else {
            return None;
        };
        *opcode = 0x18;
        *operand = *operand & !0o070 | 0o010;
    }
    (!carriers.is_empty()).then_some(())
}

/// Where loads of bytes begin, if there is nothing else but moves of registers to and from memory: `[REX] 0F
/// B6 /r`, `[REX] 8B /r`, `[REX] 89 /r`. That is what there is as a rule, and a disassembler's tables take
/// three million instructions to be made.
fn loads_among_moves(bytes: &[u8]) -> Option<Vec<usize>> {
    let mut loads = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        at += usize::from(bytes[at] & 0xf0 == 0x40);
        let is_load = match bytes.get(at..)? {
            [0x0f, 0xb6, ..] => true,
            [0x8b | 0x89, ..] => false,
            _ => return None,
        };
        at += 1 + usize::from(is_load);
        let operand = operand_len(bytes.get(at..)?)?;
        let is_in_memory = bytes[at] < 0xc0;
        at += operand;
        loads.extend((is_load && is_in_memory).then_some(start));
    }
    (at == bytes.len()).then_some(loads)
}

/// Bytes of an operand: ModR/M, SIB and displacement.
fn operand_len(bytes: &[u8]) -> Option<usize> {
    let &modrm = bytes.first()?;
    let (mode, register) = (modrm >> 6, modrm & 7);
    let has_index = mode != 3 && register == 4;
    let base = if has_index { bytes.get(1)? & 7 } else { register };
    let displacement = match mode {
        0 if base == 5 => 4,
        1 => 1,
        2 => 4,
        _ => 0,
    };
    Some(1 + usize::from(has_index) + displacement)
}

/// Where loads of bytes begin.
fn loads_of_bytes(bytes: &[u8]) -> Vec<usize> {
    Decoder::new(64, bytes, DecoderOptions::NONE)
        .into_iter()
        .filter(|inst| {
            matches!(inst.code(), Code::Movzx_r32_rm8 | Code::Movzx_r64_rm8)
                && inst.op1_kind() == OpKind::Memory
        })
        .map(|inst| inst.ip() as usize)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patched(code: &[u8]) -> Option<Vec<u8>> {
        let mut code = code.to_vec();
        patch_range(&mut code)?;
        Some(code)
    }

    #[test]
    fn a_load_of_a_byte_becomes_a_prefetch_of_the_same_place() {
        // movzbl 0xc00(%rax), %edx
        assert_eq!(patched(&[0x0f, 0xb6, 0x90, 0, 12, 0, 0]), Some(vec![0x0f, 0x18, 0x88, 0, 12, 0, 0]));
        // movzbl 8(%r12,%r9,1), %r15d
        assert_eq!(patched(&[0x47, 0x0f, 0xb6, 0x7c, 0x0c, 8]), Some(vec![0x43, 0x0f, 0x18, 0x4c, 0x0c, 8]));
        // movzbq (%rcx), %rax, as Cranelift extends a byte
        assert_eq!(patched(&[0x48, 0x0f, 0xb6, 0x01]), Some(vec![0x40, 0x0f, 0x18, 0x09]));
        // mov 8(%rsp), %rcx comes first
        assert_eq!(
            patched(&[0x48, 0x8b, 0x4c, 0x24, 8, 0x0f, 0xb6, 0x01]),
            Some(vec![0x48, 0x8b, 0x4c, 0x24, 8, 0x0f, 0x18, 0x09])
        );
    }

    #[test]
    fn a_load_of_a_byte_becomes_a_prefetch_on_aarch64() {
        let both = [
            ("ldrb w3, [x4, #0xc00]", 0x39700083, "prfm pldl1keep, [x4, #0xc00]"),
            ("ldrb w3, [x4, #0xc0c]", 0x39703083, "prfm pldl1keep, [x4, #0xc08]"),
            ("ldurb w30, [x4, #-0x40]", 0x385c009e, "prfum pldl1keep, [x4, #-0x40]"),
            ("ldrb w0, [x4, x5]", 0x38656880, "prfm pldl1keep, [x4, x5]"),
            ("ldrb w0, [x4, w5, sxtw #0]", 0x3865c880, "prfm pldl1keep, [x4, w5, sxtw #0]"),
        ];
        let arm = Architecture::Aarch64(target_lexicon::Aarch64Architecture::Aarch64);
        let text = |word: u32| {
            let text = crate::disassembly::lines(arm, &word.to_le_bytes());
            text.split_once("0  ").expect("a position").1.trim().to_string()
        };
        for (load, word, prefetch) in both {
            assert_eq!(
                (text(word).as_str(), prefetch_for(word).map(text).as_deref()),
                (load, Some(prefetch))
            );
        }
        // A load of two bytes, of four, one that extends the sign, one that moves its base, a store, a move.
        for word in [0x79400083u32, 0xb9400083, 0x39800083, 0x38401483, 0x39000083, 0xaa0303e0] {
            assert_eq!(prefetch_for(word), None, "{}", text(word));
        }
        // movz x16, #0x5000; ldrb w0, [x4, x16]
        let code = |words: [u32; 2]| words.map(u32::to_le_bytes).concat();
        let mut bytes = code([0xd28a0010, 0x38706880]);
        assert_eq!(patch_words(&mut bytes), Some(()));
        assert_eq!(bytes, code([0xd28a0010, 0xf8b06880]));
        assert_eq!(patch_words(&mut bytes), None, "there is no load any more");
    }

    /// Whatever the bytes: among moves loads are where the disassembler sees them.
    #[test]
    fn loads_among_moves_are_seen_without_the_disassembler() {
        let mut seen = 0;
        let opcodes: [&[u8]; 4] = [&[0x0f, 0xb6], &[0x8b], &[0x89], &[0x0f, 0xb7]];
        let prefixes = (0x40..=0x4f).map(Some).chain([None]);
        for (prefix, opcode) in prefixes.flat_map(|prefix| opcodes.map(|opcode| (prefix, opcode))) {
            for (operand, index) in
                (0..=u8::MAX).flat_map(|all| [0x00, 0x24, 0x65, 0xff].map(|sib| (all, sib)))
            {
                let mut code: Vec<u8> = prefix.into_iter().chain(opcode.iter().copied()).collect();
                code.extend([operand, index, 0x8b, 0x41, 0x0f, 0xb6, 0x0f, 0xb6, 0x01, 0x48, 0x89, 0xc8]);
                for len in 2..=code.len() {
                    let code = &code[..len];
                    let Some(loads) = loads_among_moves(code) else { continue };
                    let mut decoder = Decoder::new(64, code, DecoderOptions::NONE);
                    assert!(decoder.iter().all(|inst| !inst.is_invalid()), "{code:02x?}");
                    assert_eq!(loads, loads_of_bytes(code), "{code:02x?}");
                    seen += loads.len();
                }
            }
        }
        assert!(seen > 10_000, "{seen}");
    }

    #[test]
    fn what_is_no_load_of_a_byte_is_no_carrier() {
        // mov (%rcx), %rax; movzbl %cl, %eax; movzwl (%rcx), %eax
        for code in [[0x48, 0x8b, 0x01], [0x0f, 0xb6, 0xc1], [0x0f, 0xb7, 0x01]] {
            assert_eq!(patched(&code), None);
        }
    }
}
