//! Guards before a loop that stand for guards in it: what the host sees of one that fails, and that a loop
//! where this comes often is compiled again without.

mod support;

use support::*;
use tracelift_core::{ExitKind, Op};
use tracelift_runtime::{Action, CloseOutcome, Config, TraceId};

/// The loop with a bound, and another one.
const HEAD: usize = 1;
const OTHER: usize = 3;
const ALL: u8 = 0b111;
/// Where the loop's guard on its index leaves.
const BOUND: i64 = 100;

/// `while i < n: if i is beyond the bound then leave at word 1; s = s + i; i = i + 1` with s, i, n in slots 0
/// to 2.
fn bounded(tape: &mut Tape<'_>) {
    tape.while_less(0, ALL, 1, 2);
    tape.at(1, ALL);
    let (i, bound) = (tape.int(1), tape.constant(BOUND));
    let inside = tape.op2(Op::UintLt, i, bound);
    tape.guard(inside, ExitKind::Guard);
    tape.at(2, ALL);
    let (s, i) = (tape.int(0), tape.int(1));
    let s = tape.op2(Op::IntAdd, s, i);
    tape.write_int(0, s);
    tape.add(3, ALL, 1, 1);
}

fn set(host: &mut Host, values: [i64; 3]) {
    host.frame[..3].copy_from_slice(&values.map(int));
}

fn state(host: &Host) -> [i64; 3] {
    [0, 1, 2].map(|slot| host.frame[slot].payload as i64)
}

/// The state when `i` has come from 0 to `i`.
fn at(i: i64, n: i64) -> [i64; 3] {
    [i * (i - 1) / 2, i, n]
}

/// A host whose loop is compiled.
fn compiled(config: Config) -> Host {
    let mut host = Host::new(Config { threshold: 1, side_threshold: 3, ..config });
    set(&mut host, [0, 0, 50]);
    assert!(matches!(host.back_edge(HEAD), Action::Record));
    assert!(matches!(host.record(HEAD, bounded), CloseOutcome::Compiled(TraceId(0))));
    host
}

/// Goes on to a limit beyond the bound; the exit.
fn go_beyond(host: &mut Host) -> Option<(ExitKind, u64)> {
    set(host, [0, 0, BOUND + 1]);
    host.run(HEAD)
}

/// Takes the exit of the guard before the loop until the loop's code is given up.
fn give_up(host: &mut Host) {
    for time in 1..=3 {
        assert_eq!(
            (go_beyond(host), host.vm.stats().unhoisted),
            (Some((ExitKind::Hoisted, 1)), 0),
            "time {time}"
        );
        assert!(matches!(host.next(), Action::Nothing));
    }
    assert_eq!(host.vm.stats().unhoisted, 1);
}

#[test]
fn the_guard_before_the_loop_leaves_as_the_first_iteration_was_found() {
    let mut host = compiled(Config::exact());
    for n in [50, BOUND - 1, BOUND] {
        set(&mut host, [0, 0, n]);
        assert_eq!((host.run(HEAD), state(&host)), (Some((ExitKind::LoopEnd, 0)), at(n, n)));
    }
    // One iteration too many for the bound: nothing of the loop is done, the interpreter does it up to the
    // bound.
    assert_eq!((go_beyond(&mut host), state(&host)), (Some((ExitKind::Hoisted, 1)), [0, 0, BOUND + 1]));
    // From nearby it is the same; at the bound itself the loop's own guard leaves.
    set(&mut host, [7, BOUND - 1, BOUND + 1]);
    assert_eq!((host.run(HEAD), state(&host)), (Some((ExitKind::Hoisted, 1)), [7, BOUND - 1, BOUND + 1]));
    set(&mut host, [7, BOUND, BOUND + 1]);
    let (kind, word) = host.run(HEAD).expect("there is code");
    assert!(matches!(kind, ExitKind::Guard | ExitKind::Hoisted) && word == 1);
    assert_eq!(state(&host), [7, BOUND, BOUND + 1]);
}

#[test]
fn a_loop_whose_guard_fails_often_is_compiled_without() {
    let mut host = compiled(Config::exact());
    give_up(&mut host);
    // The next back edge records, whatever the limit is.
    set(&mut host, [0, 0, 50]);
    assert!(matches!(host.back_edge(HEAD), Action::Record));
    assert!(matches!(host.record(HEAD, bounded), CloseOutcome::Compiled(TraceId(1))));
    for _ in 0..2 {
        set(&mut host, [0, 0, BOUND]);
        assert_eq!((host.run(HEAD), state(&host)), (Some((ExitKind::LoopEnd, 0)), at(BOUND, BOUND)));
        assert_eq!((go_beyond(&mut host), state(&host)), (Some((ExitKind::Guard, 1)), at(BOUND, BOUND + 1)));
        assert!(matches!(host.next(), Action::Nothing));
    }
    // Its guard is one like others now: a side trace is wanted there.
    assert_eq!(go_beyond(&mut host), Some((ExitKind::Guard, 1)));
    assert!(matches!(host.next(), Action::Record));
    let stats = host.vm.stats();
    assert_eq!((stats.unhoisted, stats.recordings), (1, 2));
    assert!(stats.text().contains("loops compiled again without guards before the loop: 1"));
}

#[test]
fn only_the_guard_before_the_loop_costs_it_its_code() {
    let mut host = compiled(Config::exact());
    for _ in 0..2 {
        assert_eq!(go_beyond(&mut host), Some((ExitKind::Hoisted, 1)));
        assert!(matches!(host.next(), Action::Nothing));
    }
    // Ends of the loop do not count.
    for _ in 0..10 {
        set(&mut host, [0, 0, 20]);
        assert_eq!(host.run(HEAD), Some((ExitKind::LoopEnd, 0)));
        host.next();
    }
    assert_eq!(host.vm.stats().unhoisted, 0);
    assert_eq!(go_beyond(&mut host), Some((ExitKind::Hoisted, 1)));
    assert!(matches!(host.next(), Action::Nothing));
    assert_eq!(host.vm.stats().unhoisted, 1);
}

/// The same loop without a bound, as long as i is even.
fn other(tape: &mut Tape<'_>) {
    tape.while_less(0, ALL, 1, 2);
    parity(tape, Op::IntEq);
    tape.add(3, ALL, 1, 1);
}

fn parity(tape: &mut Tape<'_>, op: Op) {
    tape.at(1, ALL);
    let (i, one, zero) = (tape.int(1), tape.constant(1), tape.constant(0));
    let bit = tape.op2(Op::IntAnd, i, one);
    let condition = tape.op2(op, bit, zero);
    tape.guard(condition, ExitKind::Guard);
}

#[test]
fn what_led_to_the_loop_leads_to_the_host_and_then_to_its_new_code() {
    let mut host = compiled(Config::exact());
    // Another loop, and after its guard a side trace that goes on in the first.
    set(&mut host, [0, 0, 50]);
    while !matches!(host.back_edge(OTHER), Action::Record) {}
    assert!(matches!(host.record(OTHER, other), CloseOutcome::Compiled(TraceId(1))));
    loop {
        set(&mut host, [0, 0, 50]);
        assert_eq!(host.run(OTHER), Some((ExitKind::Guard, 1)));
        if matches!(host.next(), Action::Record) {
            break;
        }
    }
    let base = host.base();
    assert!(host.vm.start_side(base));
    host.go_on(|tape| {
        parity(tape, Op::IntNe);
        tape.add(3, ALL, 1, 1);
        tape.recorder.back_edge(HEAD, false);
        tape.at(0, ALL);
    });
    assert!(matches!(host.vm.link_recording(HEAD), CloseOutcome::Compiled(TraceId(2))));
    let sum = |from: i64, n: i64| [(from..n).sum(), n, n];
    set(&mut host, [0, 0, 50]);
    assert_eq!((host.run(OTHER), state(&host)), (Some((ExitKind::LoopEnd, 0)), sum(2, 50)));
    give_up(&mut host);
    // The code is there no more for whoever comes: the side trace ends at the head, and the host finds
    // nothing to run.
    set(&mut host, [0, 0, 50]);
    assert_eq!((host.run(OTHER), state(&host)), (Some((ExitKind::Finish, 0)), [0, 2, 50]));
    assert!(matches!(host.next(), Action::Nothing));
    assert!(matches!(host.back_edge(HEAD), Action::Record));
    assert!(matches!(host.record(HEAD, bounded), CloseOutcome::Compiled(TraceId(3))));
    set(&mut host, [0, 0, BOUND + 1]);
    assert_eq!((host.run(OTHER), state(&host)), (Some((ExitKind::Finish, 0)), [0, 2, BOUND + 1]));
    assert!(matches!(host.next(), Action::Run(_)));
}

#[test]
fn a_loop_that_is_forgotten_frees_the_code_that_it_gave_up() {
    let mut host = compiled(Config::exact());
    give_up(&mut host);
    set(&mut host, [0, 0, 50]);
    assert!(matches!(host.back_edge(HEAD), Action::Record));
    assert!(matches!(host.record(HEAD, bounded), CloseOutcome::Compiled(TraceId(1))));
    let alive = |host: &Host| host.vm.stats().traces.iter().map(|trace| trace.number).collect::<Vec<_>>();
    assert_eq!(alive(&host), [TraceId(0), TraceId(1)], "the host may still be in the old code");
    host.vm.forget(HEAD, HEAD + 1);
    assert!(alive(&host).is_empty() && host.run(HEAD).is_none());
}
