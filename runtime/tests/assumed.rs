//! Guards on what the host takes for unchanging ([`ExitKind::Assumed`]): code whose assumption fails again
//! and again is entered no more, and is recorded anew; a host that goes on assuming the same gets side
//! traces.
//!
//! The program is `while i < n: s = s + k; i = i + 1`, where k is in slot 3, and its recording takes k for
//! the constant that it finds:
//!
//! ```text
//! guard_value(k, 7) assumed; s = int_add(s, 7)
//! ```

mod support;

use support::*;
use tracelift_core::{ExitKind, Op};
use tracelift_runtime::{Action, CloseOutcome, Config, TraceId};

const HEAD: usize = 1;
const ALL: u8 = 0b1111;
/// Exits until something is done.
const EXITS: u32 = 3;
/// So often code of one loop is given up.
const MOST: u64 = 4;

fn assuming(k: i64) -> impl Fn(&mut Tape<'_>) {
    move |tape| {
        tape.while_less(0, ALL, 1, 2);
        rest(tape, k, ExitKind::Assumed);
    }
}

/// The loop's body where k is that.
fn rest(tape: &mut Tape<'_>, k: i64, kind: ExitKind) {
    tape.at(1, ALL);
    let (found, wanted) = (tape.int(3), tape.constant(k));
    let is_that = tape.op2(Op::IntEq, found, wanted);
    tape.guard(is_that, kind);
    tape.at(2, ALL);
    let s = tape.int(0);
    let s = tape.op2(Op::IntAdd, s, wanted);
    tape.write_int(0, s);
    tape.add(3, ALL, 1, 1);
}

fn set(host: &mut Host, values: [i64; 4]) {
    host.frame[..4].copy_from_slice(&values.map(int));
}

/// Records the loop with the assumption, when it is wanted next.
fn record(host: &mut Host, k: i64, number: u32) {
    set(host, [0, 0, 50, k]);
    while !matches!(host.back_edge(HEAD), Action::Record) {}
    let made = host.record(HEAD, assuming(k));
    assert!(matches!(made, CloseOutcome::Compiled(TraceId(found)) if found == number), "trace {number}");
    assert_eq!((host.run(HEAD), host.frame[0].payload as i64), (Some((ExitKind::LoopEnd, 0)), 50 * k));
    host.next();
}

#[test]
fn code_with_a_wrong_assumption_is_given_up_and_made_anew() {
    let config = Config { threshold: 1, side_threshold: EXITS, ..Config::exact() };
    let mut host = Host::new(config);
    for round in 0..MOST {
        let k = 7 + round as i64;
        record(&mut host, k, round as u32);
        for exit in 1..=EXITS {
            assert_eq!(host.vm.stats().outdated, round, "before exit {exit}");
            set(&mut host, [5, 0, 50, k + 1]);
            assert_eq!(host.run(HEAD), Some((ExitKind::Assumed, 1)));
            assert_eq!(host.frame[0].payload, 5, "nothing has happened yet");
            assert!(matches!(host.next(), Action::Nothing));
        }
        assert_eq!(host.vm.stats().outdated, round + 1);
    }
    assert!(host.vm.stats().text().contains("traces given up with what they had assumed: 4"));
    // Enough of that: what the host assumes once more is a guard like others.
    record(&mut host, 1, MOST as u32);
    let mut exits = 0;
    loop {
        set(&mut host, [5, 0, 50, 2]);
        assert_eq!(host.run(HEAD), Some((ExitKind::Assumed, 1)));
        exits += 1;
        if matches!(host.next(), Action::Record) {
            break;
        }
    }
    assert_eq!((exits, host.vm.stats().outdated), (EXITS, MOST));
}

#[test]
fn an_assumption_that_fails_seldom_costs_no_code() {
    let config = Config { threshold: 1, side_threshold: EXITS, ..Config::exact() };
    let mut host = Host::new(config);
    record(&mut host, 7, 0);
    for _ in 1..EXITS {
        set(&mut host, [5, 0, 50, 8]);
        assert_eq!(host.run(HEAD), Some((ExitKind::Assumed, 1)));
        assert!(matches!(host.next(), Action::Nothing));
    }
    set(&mut host, [0, 0, 50, 7]);
    assert_eq!(host.run(HEAD), Some((ExitKind::LoopEnd, 0)));
    assert_eq!((host.vm.stats().outdated, host.frame[0].payload), (0, 350));
}

/// Leaves by the guard of the loop's code as often as it takes, and records a side trace that assumes k.
fn record_side(host: &mut Host, k: i64, number: u32) {
    loop {
        set(host, [5, 0, 50, k]);
        assert_eq!(host.run(HEAD), Some((ExitKind::Guard, 1)));
        if matches!(host.next(), Action::Record) {
            break;
        }
    }
    let base = host.base();
    assert!(host.vm.start_side(base));
    host.go_on(|tape| {
        rest(tape, k, ExitKind::Assumed);
        tape.recorder.back_edge(HEAD, false);
        tape.at(0, ALL);
    });
    let made = host.vm.link_recording(HEAD);
    assert!(matches!(made, CloseOutcome::Compiled(TraceId(found)) if found == number), "trace {number}");
    set(host, [5, 0, 50, k]);
    assert_eq!((host.run(HEAD), host.frame[0].payload as i64), (Some((ExitKind::LoopEnd, 0)), 5 + 50 * k));
}

#[test]
fn a_side_trace_with_a_wrong_assumption_is_given_up_and_its_loop_is_not() {
    let config = Config { threshold: 1, side_threshold: EXITS, no_regions: true, ..Config::exact() };
    let mut host = Host::new(config);
    set(&mut host, [0, 0, 50, 7]);
    while !matches!(host.back_edge(HEAD), Action::Record) {}
    let made = host.record(HEAD, |tape| {
        tape.while_less(0, ALL, 1, 2);
        rest(tape, 7, ExitKind::Guard);
    });
    assert!(matches!(made, CloseOutcome::Compiled(TraceId(0))));
    record_side(&mut host, 8, 1);
    for _ in 0..EXITS {
        set(&mut host, [5, 0, 50, 9]);
        assert_eq!((host.run(HEAD), host.vm.stats().outdated), (Some((ExitKind::Assumed, 1)), 0));
        assert!(matches!(host.next(), Action::Nothing));
    }
    assert_eq!(host.vm.stats().outdated, 1);
    // The loop's own code is still there, and its exit gets another side trace.
    record_side(&mut host, 9, 2);
    set(&mut host, [0, 0, 50, 7]);
    assert_eq!((host.run(HEAD), host.frame[0].payload), (Some((ExitKind::LoopEnd, 0)), 350));
}
