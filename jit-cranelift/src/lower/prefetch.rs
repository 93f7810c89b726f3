//! Prefetching: a loop that walks through arrays asks for their memory before it comes there.
//!
//! Problem: the processor's own prefetcher stops where a page ends and knows nothing of the next row, and a
//! host's values are wide: at 16 bytes each, a walk waits for another page every 256 items. Design: an item's
//! address that moves by a constant from iteration to iteration, from a base that stays, is a *stream*; for
//! each line of the cache that it comes to, the loop touches the one that it will come to after some
//! [`AHEAD`] bytes. Items beside one another are one stream.
//!
//! Cranelift knows no prefetch. Lowering puts a load of one byte whose result nobody wants in its place, the
//! *carrier*, marked by its source location; [`patch`] makes a prefetch of it in the finished code: x86-64
//! has one of the same length with the same operand.
//!
//! Invariants: a prefetch does not fault and the program cannot see it, wherever it points; no carrier is
//! left in code, or there is no code. Not with Cranelift's mid-end, which might take a carrier's value for
//! that of a later load.
//!
//! Example: `a2 = item_addr(a0, i1, 16, 0) ... i3 = int_add(i1, 1); jump(L1, a0,
//! i3)`, four iterations in a row, has one `prefetcht0 0xc00(%rax,%rcx)` in each round.

use std::collections::{HashMap, HashSet};

use cranelift_codegen::ir::{types, InstBuilder, MemFlagsData, SourceLoc};
use cranelift_codegen::{Final, MachSrcLoc};
use iced_x86::{Code, Decoder, DecoderOptions, OpKind};
use tracelift_core::ops::Flags;
use tracelift_core::{LabelId, Op, Payload, Trace, Value};

use super::unroll::Unroll;
use super::values::Def;
use super::{Lowering, Result};
use crate::error::CompileError;
use crate::listing::location;

/// How far ahead, in bytes. Measured on LU, SOR and conv3: with a kilobyte the memory still comes late, and a
/// whole page puts what is asked for into the sets of the cache that are in use.
const AHEAD: u64 = 3072;
/// At least so many iterations ahead: where each of them moves far.
const ITERATIONS_AHEAD: u64 = 8;
/// A line of the cache, in bytes.
const LINE: u64 = 64;

/// A loop's streams: by the instruction that computes the address, the bytes by which an iteration moves it.
#[derive(Default)]
pub(super) struct Streams(HashMap<usize, i64>);

impl Streams {
    /// Looks at the part that begins with the label at `start`; there are none if it is no loop.
    pub(super) fn plan(trace: &Trace, label: LabelId, start: usize) -> Streams {
        let mut streams = Streams::default();
        let Some(length) = trace.insts[start..].iter().position(|inst| inst.op.is(Flags::ENDS)) else {
            return streams;
        };
        let end = start + length;
        if trace.insts[end].payload != Payload::Label(label) {
            return streams;
        }
        let passed = || trace.insts[start].args.iter().zip(&trace.insts[end].args);
        let sums = sums(trace, start, end);
        let step = |(&param, arg)| {
            let &(root, step) = sums.get(arg)?;
            (root == param).then_some((param, step))
        };
        let steps: HashMap<Value, i64> = passed().filter_map(step).collect();
        let mut steady: HashSet<Value> =
            passed().filter(|(param, arg)| param == arg).map(|(&param, _)| param).collect();
        // By base and step: where there is a stream already.
        let mut known: HashMap<(Value, i64), Vec<i64>> = HashMap::new();
        for (index, inst) in trace.insts.iter().enumerate().take(end).skip(start) {
            match (inst.op, inst.payload, &inst.args[..]) {
                // A base that is loaded in each iteration will be the same in nearly all of them.
                (Op::Load, _, [from]) if steady.contains(from) => steady.extend(inst.result),
                (Op::ItemAddr, Payload::Scale { stride, .. }, &[base, item]) if steady.contains(&base) => {
                    let (root, constant) = sums.get(&item).copied().unwrap_or((item, 0));
                    let Some(step) = steps.get(&root) else { continue };
                    let (bytes, place) =
                        (step.wrapping_mul(stride.into()), constant.wrapping_mul(stride.into()));
                    let places = known.entry((base, bytes)).or_default();
                    if bytes != 0 && places.iter().all(|other| other.abs_diff(place) >= LINE) {
                        places.push(place);
                        streams.0.insert(index, bytes);
                    }
                }
                _ => {}
            }
        }
        streams
    }
}

/// The integers of a part that are another value plus a constant.
fn sums(trace: &Trace, start: usize, end: usize) -> HashMap<Value, (Value, i64)> {
    let mut sums = HashMap::new();
    for inst in &trace.insts[start..end] {
        let (Some(result), &[x, y]) = (inst.result, &inst.args[..]) else { continue };
        let (operand, constant) = match (inst.op, trace.int_of(x), trace.int_of(y)) {
            (Op::IntAdd | Op::IntAddOvf, None, Some(constant)) => (x, constant),
            (Op::IntAdd | Op::IntAddOvf, Some(constant), None) => (y, constant),
            (Op::IntSub | Op::IntSubOvf, None, Some(constant)) => (x, constant.wrapping_neg()),
            _ => continue,
        };
        let (root, before) = sums.get(&operand).copied().unwrap_or((operand, 0));
        sums.insert(result, (root, constant.wrapping_add(before)));
    }
    sums
}

impl Lowering<'_, '_> {
    /// Where an item's address has been computed: asks for what lies ahead, if that is a stream and at a new
    /// line.
    pub(super) fn prefetch(&mut self, address: Value) -> Result<()> {
        let Some(&bytes) = self.streams.0.get(&self.index) else { return Ok(()) };
        let line = |copy: usize| (copy as u64).saturating_mul(bytes.unsigned_abs()) / LINE;
        let copy = self.unroll.as_ref().map_or(0, Unroll::jumps_passed);
        if copy > 0 && line(copy) == line(copy - 1) {
            return Ok(());
        }
        let Def::Address(base, offset) = self.def(address)? else { return Ok(()) };
        let iterations = AHEAD.div_ceil(bytes.unsigned_abs()).max(ITERATIONS_AHEAD) as i64;
        let ahead = bytes.checked_mul(iterations).and_then(|ahead| ahead.checked_add(offset.into()));
        let Some(Ok(offset)) = ahead.map(i32::try_from) else { return Ok(()) };
        self.b.set_srcloc(SourceLoc::new(self.index as u32 | location::PREFETCH));
        // That it might trap is what keeps it: Cranelift drops what has neither effect nor use.
        self.b.ins().uload8(types::I32, MemFlagsData::new(), base, offset);
        self.b.set_srcloc(SourceLoc::new(self.index as u32));
        Ok(())
    }
}

/// Makes prefetches of the carriers in finished code for x86-64.
pub(crate) fn patch(code: &mut [u8], marks: &[MachSrcLoc<Final>]) -> Result<()> {
    let is_carrier = |mark: &&MachSrcLoc<Final>| location::is_prefetch(mark.loc.bits());
    for mark in marks.iter().filter(is_carrier) {
        let bytes = code.get_mut(mark.start as usize..mark.end as usize);
        bytes.and_then(patch_range).ok_or_else(|| {
            CompileError::Codegen(format!("no prefetch can be made of the code at {}", mark.start))
        })?;
    }
    Ok(())
}

/// All loads of bytes in what was made for carriers; the register allocator may have put moves beside them.
fn patch_range(bytes: &mut [u8]) -> Option<()> {
    let carriers: Vec<usize> = Decoder::new(64, bytes, DecoderOptions::NONE)
        .into_iter()
        .filter(|inst| {
            matches!(inst.code(), Code::Movzx_r32_rm8 | Code::Movzx_r64_rm8)
                && inst.op1_kind() == OpKind::Memory
        })
        .map(|inst| inst.ip() as usize)
        .collect();
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
    fn what_is_no_load_of_a_byte_is_no_carrier() {
        // mov (%rcx), %rax; movzbl %cl, %eax; movzwl (%rcx), %eax
        for code in [[0x48, 0x8b, 0x01], [0x0f, 0xb6, 0xc1], [0x0f, 0xb7, 0x01]] {
            assert_eq!(patched(&code), None);
        }
    }
}
