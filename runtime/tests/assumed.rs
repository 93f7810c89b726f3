//! Guards on what the host takes for unchanging ([`ExitKind::Assumed`]): code whose assumption fails again
//! and again is entered no more, and is recorded anew; a host that goes on assuming the same gets side
//! traces.
//!
//! The program is `while i < n: s = s + k; i = i + 1`, where k is slot 3, and its recording takes k for the
//! constant that it finds:
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
        tape.at(1, ALL);
        let (found, wanted) = (tape.int(3), tape.constant(k));
        let is_that = tape.op2(Op::IntEq, found, wanted);
        tape.guard(is_that, ExitKind::Assumed);
        tape.at(2, ALL);
        let s = tape.int(0);
        let s = tape.op2(Op::IntAdd, s, wanted);
        tape.write_int(0, s);
        tape.add(3, ALL, 1, 1);
    }
}

fn set(host: &mut Host, values: [i64; 4]) {
    host.frame[..4].copy_from_slice(&values.map(int));
}

fn next(host: &mut Host) -> Action {
    let base = host.base();
    // SAFETY: the last exit was from code that ran in this frame.
    unsafe { host.vm.next(base) }
}

/// Records the loop with the assumption, when it is wanted next.
fn record(host: &mut Host, k: i64, number: u32) {
    set(host, [0, 0, 50, k]);
    while !matches!(host.back_edge(HEAD), Action::Record) {}
    let made = host.record(HEAD, assuming(k));
    assert!(matches!(made, CloseOutcome::Compiled(TraceId(found)) if found == number), "trace {number}");
    assert_eq!((host.run(HEAD), host.frame[0].payload as i64), (Some((ExitKind::LoopEnd, 0)), 50 * k));
    next(host);
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
            assert!(matches!(next(&mut host), Action::Nothing));
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
        if matches!(next(&mut host), Action::Record) {
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
        assert!(matches!(next(&mut host), Action::Nothing));
    }
    set(&mut host, [0, 0, 50, 7]);
    assert_eq!(host.run(HEAD), Some((ExitKind::LoopEnd, 0)));
    assert_eq!((host.vm.stats().outdated, host.frame[0].payload), (0, 350));
}
