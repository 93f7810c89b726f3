//! Loops ask early for the memory that they walk through, which nobody sees: not by a fault, nor by another
//! outcome.

mod common;

use common::*;
use tracelift_core::schema::{Cell, ClassId};
use tracelift_core::{ir::*, Op, Schema, Type};
use tracelift_cranelift::*;

/// Adds up the items of 16 bytes that an index passes in steps of `step`, and those `beside` it.
fn sum_of_items(step: i64, beside: &[i64]) -> (Trace, Schema) {
    let mut schema = Schema::new();
    let cell = schema.add_cell(Cell::new("item", 0, Type::Int, ClassId(1)));
    let mut trace = Trace::new("items");
    let inputs = trace.input(&[Type::Addr, Type::Int, Type::Int, Type::Int]);
    let [items, i, left, mut sum] = inputs[..] else { unreachable!() };
    let snap = Some(trace.snap(&[sum]));
    trace.guard(Op::GuardTrue, &[left], snap);
    for &beside in beside {
        let beside = trace.const_int(beside);
        let index = trace.op(Op::IntAdd, &[i, beside], Type::Int);
        let place = Inst::new(Op::ItemAddr, &[items, index]).with(Payload::Scale { stride: 16, offset: 0 });
        let place = trace.push(place, Some(Type::Addr)).unwrap();
        let load = Inst::new(Op::Load, &[place]).with(Payload::Cell(cell));
        let item = trace.push(load, Some(Type::Int)).unwrap();
        sum = trace.op(Op::IntAdd, &[sum, item], Type::Int);
    }
    let (step, less) = (trace.const_int(step), trace.const_int(-1));
    let i2 = trace.op(Op::IntAdd, &[i, step], Type::Int);
    let left2 = trace.op(Op::IntAdd, &[left, less], Type::Int);
    trace.jump(LabelId(0), &[items, i2, left2, sum]);
    (trace, schema)
}

/// The prefetches in the code for a trace, as displacements.
fn prefetches(trace: &Trace, schema: &Schema, options: Options) -> Vec<String> {
    let options = Options { want_listing: true, verify: true, ..options };
    let listing = Harness::with(options).compile(trace, schema).listing.unwrap();
    assert!(!listing.contains("movzb"), "a carrier is left: {listing}");
    let operands = listing.lines().filter_map(|line| line.split_once("prefetcht0 "));
    operands.map(|(_, operand)| operand.split('(').next().unwrap().to_string()).collect()
}

#[test]
fn a_stream_is_asked_for_once_a_line() {
    if !cfg!(target_arch = "x86_64") {
        return;
    }
    let found = |step, beside: &[i64], no_unrolling| {
        let (trace, schema) = sum_of_items(step, beside);
        prefetches(&trace, &schema, Options { no_unrolling, ..Options::default() })
    };
    // Four iterations of 16 bytes are a line.
    assert_eq!(found(1, &[0], false), ["0x3000"]);
    assert_eq!(found(1, &[0], true), ["0x3000"]);
    assert_eq!(found(-1, &[0], false), ["-0x3000"]);
    assert_eq!(found(2, &[0], false), ["0x3000", "0x3040"]);
    // Wider steps are asked for where they will fall, and eight iterations ahead at least.
    assert_eq!(found(9, &[0], false), ["0x3060", "0x30f0", "0x3180", "0x3210"]);
    assert_eq!(found(-4096, &[0], true), ["-0x80000"]);
    assert_eq!(found(1, &[0, 1, -1], false), ["0x3000"]);
    assert_eq!(found(1, &[0, 4, -100], true), ["0x3000", "0x3040", "0x29c0"]);
    // What stays is no stream, and some steps are too wide for a displacement.
    for step in [0, 1 << 30, 1 << 40, i64::MIN] {
        assert_eq!(found(step, &[0], false), [""; 0]);
    }
}

/// Walks over less than 8 KB ask for nothing, nor do those whose length nobody knows; long ones ask farther
/// ahead.
#[test]
fn the_length_of_a_walk_says_how_far_ahead() {
    let (trace, schema) = sum_of_items(1, &[0]);
    let (near, far) = (Some("prefetcht0 0xc00"), Some("prefetcht0 0x3000"));
    for (to_come, expected) in
        [(None, None), (Some(511), None), (Some(512), near), (Some(1 << 12), near), (Some(1 << 13), far)]
    {
        let options = Options { want_listing: true, verify: true, ..Options::default() };
        let compiled = Harness { to_come, ..Harness::with(options) }.compile(&trace, &schema);
        assert_eq!(compiled.stats.prefetches, usize::from(expected.is_some()), "{to_come:?}");
        if cfg!(target_arch = "x86_64") {
            let listing = compiled.listing.unwrap();
            assert!(expected.is_none_or(|expected| listing.contains(expected)), "{to_come:?}: {listing}");
        }
    }
}

/// The prefetches in code for aarch64: eights of bytes from a base, or none where a register says how far.
fn prefetches_on_aarch64(trace: &Trace, schema: &Schema, options: Options) -> Vec<Option<u32>> {
    let compiled = Harness::with(Options { verify: true, ..options }).compile(trace, schema);
    let words = compiled.code.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word));
    let found: Vec<Option<u32>> = words
        .filter_map(|word| match word {
            _ if word & 0xffc0001f == 0xf9800000 => Some(Some((word >> 10) & 0xfff)),
            _ if word & 0xffe00c1f == 0xf8a00800 => Some(None),
            // A load of a byte: a carrier.
            _ => {
                (word & 0xffc00000 == 0x39400000 || word & 0xffe00c00 == 0x38600800).then_some(Some(u32::MAX))
            }
        })
        .collect();
    assert_eq!(found.len(), compiled.stats.prefetches);
    found
}

#[test]
fn a_stream_is_asked_for_on_aarch64() {
    let options = Options { target: Target::Aarch64, ..Options::default() };
    for (step, beside, expected) in [
        (1, &[0][..], &[None][..]),
        (2, &[0], &[None, None]),
        (1, &[0, 4], &[None, None]),
        (1, &[-600], &[Some(336)]),
        (-1, &[0], &[None]),
        (-4096, &[0], &[None]),
        (1 << 30, &[0], &[]),
    ] {
        let (trace, schema) = sum_of_items(step, beside);
        let found = prefetches_on_aarch64(&trace, &schema, Options { no_unrolling: step < 0, ..options });
        assert_eq!(found, expected, "{step} {beside:?}");
    }
}

#[test]
fn code_that_the_mid_end_sees_has_none() {
    let (trace, schema) = sum_of_items(1, &[0]);
    for target in [Target::Native, Target::Aarch64] {
        for options in [
            Options { no_prefetching: true, target, ..Options::default() },
            Options { optimize: true, target, ..Options::default() },
        ] {
            match target {
                Target::Aarch64 => {
                    assert_eq!(prefetches_on_aarch64(&trace, &schema, options), [], "{options:?}")
                }
                _ => assert_eq!(prefetches(&trace, &schema, options), [""; 0], "{options:?}"),
            }
        }
    }
}

/// Two pages of items with pages that nobody may touch on both sides.
struct Fenced {
    start: *mut u8,
    page: usize,
}

impl Fenced {
    fn new() -> Fenced {
        // SAFETY: new pages; only what is made accessible is touched.
        unsafe {
            let page = libc::sysconf(libc::_SC_PAGESIZE) as usize;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let start = libc::mmap(std::ptr::null_mut(), 4 * page, libc::PROT_NONE, flags, -1, 0);
            assert_ne!(start, libc::MAP_FAILED);
            let start = start.cast::<u8>();
            let writable = libc::PROT_READ | libc::PROT_WRITE;
            assert_eq!(libc::mprotect(start.add(page).cast(), 2 * page, writable), 0);
            for item in 0..2 * page / 16 {
                start.add(page + item * 16).cast::<u64>().write(item as u64 + 1);
            }
            Fenced { start, page }
        }
    }
}

impl Drop for Fenced {
    fn drop(&mut self) {
        // SAFETY: the mapping is this object's.
        unsafe { libc::munmap(self.start.cast(), 4 * self.page) };
    }
}

#[test]
fn asking_for_memory_that_is_not_there_does_no_harm() {
    let fenced = Fenced::new();
    let count = (2 * fenced.page / 16) as u64;
    let first = fenced.start as u64 + fenced.page as u64;
    for (step, begin) in [(1, 0), (-1, count - 1)] {
        let (trace, schema) = sum_of_items(step, &[0]);
        for mut harness in Harness::all() {
            let outcome = harness.run(&trace, &schema, &[first, begin, count, 0]);
            assert_eq!(outcome.cells, [count * (count + 1) / 2]);
        }
    }
}
