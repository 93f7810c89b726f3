//! What it costs to enter compiled code from the host and to leave it again: `cargo bench -p
//! tracelift-runtime --bench exits`.
//!
//! Problem: a loop of few iterations per entry is as fast as its entry and its exit are, and benchmarks of
//! whole programs do not show them. Design: code that is left after a few instructions, by exits of each
//! kind, is entered again and again through [`Vm::hot`](tracelift_runtime::Vm::hot), the code itself,
//! [`exit`](tracelift_runtime::Vm::exit) and [`next`](tracelift_runtime::Vm::next), as a host does. No side
//! trace is recorded. Invariant: what is timed is checked: each entry happens, and leaves by the exit that
//! the row names.
//!
//! Example: `a pair that was kept virtual      91 ns` is the time of one entry and one exit, the allocation
//! included.

#[path = "../tests/support/pairs.rs"]
mod pairs;
#[path = "../tests/support/mod.rs"]
mod support;

use std::time::Instant;

use pairs::*;
use support::*;
use tracelift_core::{ExitKind, Op};
use tracelift_runtime::{Action, CloseOutcome, Config};

const HEAD: usize = 1;
const ENTRIES: u32 = 300_000;
/// Each row is measured so often; the quickest counts.
const TIMES: usize = 7;

/// The guard that every row leaves by: i, in slot 0, is less than n, in slot 1.
fn leave(tape: &mut Tape<'_>, word: u64, live: u8) {
    tape.while_less(word, live, 0, 1);
}

fn count(tape: &mut Tape<'_>) {
    tape.add(9, 0b11, 0, 1);
}

fn plain(tape: &mut Tape<'_>, _: Pairs) {
    leave(tape, 0, 0b11);
    count(tape);
}

/// A called function's frame, whose slot 0 is the caller's slot 4.
fn framed(tape: &mut Tape<'_>, _: Pairs) {
    tape.at(0, 0b11);
    let (i, n) = (tape.int(0), tape.int(1));
    tape.recorder.push_frame(4, &[1], &[0b11]);
    tape.at(2, 0b11);
    tape.write_int(0, i);
    tape.at(3, 0b11);
    tape.write_int(1, n);
    tape.at(4, 0b11);
    let less = tape.op2(Op::IntLt, i, n);
    tape.guard(less, ExitKind::LoopEnd);
    tape.recorder.pop_frame();
    count(tape);
}

fn pair_in_slot_2(tape: &mut Tape<'_>, pairs: Pairs) -> tracelift_core::Value {
    tape.at(0, 0b1011);
    let r = tape.new_pair(pairs);
    tape.write(2, pairs.tag, Some(r));
    tape.at(1, 0b1111);
    let i = tape.int(0);
    tape.set(r, pairs.number, i);
    r
}

fn virtual_pair(tape: &mut Tape<'_>, pairs: Pairs) {
    pair_in_slot_2(tape, pairs);
    leave(tape, 2, 0b1111);
    count(tape);
}

/// The pair is linked to from a real one, in slot 3.
fn pending_store(tape: &mut Tape<'_>, pairs: Pairs) {
    let r = pair_in_slot_2(tape, pairs);
    tape.at(2, 0b1111);
    let h = tape.read(3, pairs.tag).expect("a pair");
    tape.set(h, pairs.link, r);
    leave(tape, 3, 0b1111);
    count(tape);
}

/// Nanoseconds for an entry and an exit.
fn measure(iteration: fn(&mut Tape<'_>, Pairs), word: u64) -> f64 {
    let mut host = Host::new(Config {
        threshold: 1,
        side_threshold: u32::MAX,
        compile_share: None,
        ..Config::default()
    });
    let pairs = Pairs::declare(&mut host.vm);
    let start = [int(0), int(10), Slot::default(), slot(pair(0, 0))];
    host.frame[..4].copy_from_slice(&start);
    assert!(matches!(host.back_edge(HEAD), Action::Record));
    assert!(matches!(host.record(HEAD, |tape| iteration(tape, pairs)), CloseOutcome::Compiled(_)));
    let mut best = f64::INFINITY;
    for _ in 0..TIMES {
        let before = Instant::now();
        for _ in 0..ENTRIES {
            host.frame[0] = int(10);
            let exit = host.run_with_pairs(HEAD);
            assert_eq!(exit, Some((ExitKind::LoopEnd, word)));
            let base = host.base();
            // SAFETY: the last exit was from code that ran in this frame.
            assert!(matches!(unsafe { host.vm.next(base) }, Action::Nothing));
        }
        best = best.min(before.elapsed().as_nanos() as f64 / f64::from(ENTRIES));
    }
    best
}

fn main() {
    type Row = (&'static str, fn(&mut Tape<'_>, Pairs), u64);
    let rows: [Row; 4] = [
        ("two slots", plain, 0),
        ("two frames", framed, 1),
        ("a pair that was kept virtual", virtual_pair, 2),
        ("a store of it that waits", pending_store, 3),
    ];
    for (name, iteration, word) in rows {
        println!("{name:32} {:6.0} ns", measure(iteration, word));
    }
}
