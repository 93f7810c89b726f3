//! Code memory that is too small for a program's loops.
//!
//! Problem: what is evicted must be led to by nobody, must come back, and must not be what the program needs
//! most; and a program that goes round more loops than fit must not compile for ever. Design: a host runs
//! loops that all compute a sum, in an order that each test chooses. Invariant: each loop computes its sum.

mod support;

use support::{int, sum, Host};
use tracelift_runtime::{Action, Config, TraceId};

/// A host with room for some ten loops of two or three hundred bytes, each in a block of its own.
fn host(threshold: u32) -> Host {
    Host::new(Config { threshold, code_bytes: 16 << 10, ..Config::exact() })
}

/// Runs a loop of `n` iterations as an interpreter does. Returns how many were interpreted.
fn run(host: &mut Host, key: usize, n: i64) -> u64 {
    host.frame[..3].copy_from_slice(&[int(0), int(0), int(n)]);
    let mut interpreted = 0;
    while (host.frame[1].payload as i64) < n {
        match host.back_edge(key) {
            Action::Run(run) => {
                host.call(run);
                continue;
            }
            Action::Record => _ = host.record(key, sum),
            Action::Nothing => {}
        }
        let (s, i) = (host.frame[0].payload, host.frame[1].payload);
        (host.frame[0], host.frame[1]) = (int((s + i) as i64), int(i as i64 + 1));
        interpreted += 1;
    }
    assert_eq!(host.frame[0], int(n * (n - 1) / 2), "loop {key}");
    interpreted
}

#[test]
fn loops_that_do_not_fit_make_room_for_one_another() {
    let mut host = host(1);
    for key in 1..=100 {
        run(&mut host, key, 50);
    }
    let stats = host.vm.stats();
    let evicted = stats.evicted.as_ref().expect("100 loops do not fit");
    assert!(stats.aborts.is_empty() && stats.compile.traces == 100, "{:?}", stats.aborts);
    assert!((80..100).contains(&evicted.trees), "{evicted:?}");
    assert_eq!(evicted.reasons.values().sum::<u64>(), evicted.trees);
    assert_eq!(evicted.traces, evicted.trees);
    // The last one has code still.
    assert_eq!(run(&mut host, 100, 50), 0);
    assert!(stats.text().contains("made room for other code"), "{}", stats.text());
}

#[test]
fn what_is_in_use_stays() {
    let mut host = host(1);
    for key in 2..=200 {
        run(&mut host, key, 20);
        let interpreted: u64 = (0..8).map(|_| run(&mut host, 1, 20)).sum();
        assert!(key == 2 || interpreted == 0, "{key}: {interpreted}");
    }
    assert!(host.vm.stats().traces.iter().any(|trace| trace.number == TraceId(1)), "that of loop 1");
    assert!(host.vm.stats().evicted.is_some_and(|evicted| evicted.trees > 150));
}

/// Going round, each loop is as useful as any other: to exchange them gains nothing.
#[test]
fn who_goes_round_stops_compiling() {
    let mut host = host(8);
    let mut compiled = Vec::new();
    for _ in 0..1000 {
        (1..=40).for_each(|key| _ = run(&mut host, key, 30));
        compiled.push(host.vm.stats().compile.traces);
    }
    assert!(compiled[999] < 40 * 14, "{compiled:?}");
    assert!(compiled[999] - compiled[500] < 80, "{compiled:?}");
}

/// A loop that was evicted has code again when the program comes back to it and stays.
#[test]
fn what_was_evicted_comes_back() {
    let mut host = host(4);
    for phase in 0..6 {
        for key in phase % 2 * 40..phase % 2 * 40 + 40 {
            run(&mut host, key + 1, 3000);
            let interpreted = run(&mut host, key + 1, 3000);
            assert_eq!(interpreted, 0, "phase {phase}, loop {key}");
        }
    }
    let stats = host.vm.stats();
    assert_eq!(stats.compile.traces, 6 * 40, "each loop was compiled in each of its phases");
}

/// What can never fit is refused, and evicts nobody.
#[test]
fn what_is_too_large_evicts_nobody() {
    let mut host = Host::new(Config { threshold: 1, code_bytes: 4 << 10, ..Config::exact() });
    run(&mut host, 1, 50);
    host.frame[..3].copy_from_slice(&[int(0), int(0), int(50)]);
    assert!(matches!(host.back_edge(3), Action::Record));
    let outcome = host.record(3, |tape| {
        sum(tape);
        // Each is another place to leave from.
        for _ in 0..60 {
            tape.while_less(0, 0b111, 1, 2);
            tape.add(2, 0b111, 1, 1);
        }
    });
    assert!(format!("{outcome:?}").contains("CodeMemoryFull"), "{outcome:?}");
    assert!(host.vm.stats().evicted.is_none());
    assert_eq!(run(&mut host, 1, 50), 0);
}
