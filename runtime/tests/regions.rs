//! Trees of traces that have become one function, one rule each: when that happens, what the host sees of it,
//! and what becomes of it.
//!
//! Problem: a region takes the place of a loop's code while the program runs, and nobody may be able to tell.
//! Design: a loop of three ways, which the few-line host runs as an interpreter would: where code leaves, it
//! goes on from the very bytecode. So each refused entry, each exit and each result is compared with what the
//! program means, before the region is made, while it is, and after. Invariant: what is compared is the
//! frame, all of it.
//!
//! Example of the loop, with s, i, n, t, u in slots 0 to 4: `while i < n: if i % 2 == 0 then s = s + i elseif
//! i % 3 == 0 then t = t + 3 else u = u + t; i = i + 1`; trace 0 is the first way, trace 1 a side trace of
//! it, and trace 2 one of trace 1.

#[path = "host_calls/calls.rs"]
#[expect(dead_code, reason = "what calls do is tested in `host_calls`")]
mod calls;
mod support;

use calls::{compiled, Nest};
use support::*;
use tracelift_core::{ExitKind, Op};
use tracelift_runtime::{Action, CloseOutcome, Config, RegionUse, TraceId};

/// The loop's head.
const HEAD: usize = 1;
/// Another loop's.
const OTHER: usize = 2;
const ALL: u8 = 0b1_1111;

type State = [i64; 5];

/// The loop goes on at the bytecode `word` if `i % by` is 0, or if it is not.
fn divides(tape: &mut Tape<'_>, word: u64, by: i64, wanted: bool, kind: ExitKind) {
    tape.at(word, ALL);
    let i = tape.int(1);
    let (by, zero) = (tape.constant(by), tape.constant(0));
    let rest = tape.op2(Op::IntRem, i, by);
    let condition = tape.op2(if wanted { Op::IntEq } else { Op::IntNe }, rest, zero);
    tape.guard(condition, kind);
}

/// The end of each way, in a side trace.
fn goes_round(tape: &mut Tape<'_>) {
    tape.add(6, ALL, 1, 1);
    tape.recorder.back_edge(HEAD, false);
    tape.at(0, ALL);
}

/// The first way.
fn even(tape: &mut Tape<'_>) {
    tape.while_less(0, ALL, 1, 2);
    divides(tape, 1, 2, true, ExitKind::Guard);
    tape.at(2, ALL);
    let (s, i) = (tape.int(0), tape.int(1));
    let s = tape.op2(Op::IntAdd, s, i);
    tape.write_int(0, s);
    tape.add(6, ALL, 1, 1);
}

/// The same that takes n for less than this.
const MOST: i64 = 10_000;

fn even_below_most(tape: &mut Tape<'_>) {
    tape.at(0, ALL);
    let (n, most) = (tape.int(2), tape.constant(MOST));
    let less = tape.op2(Op::IntLt, n, most);
    tape.guard(less, ExitKind::Assumed);
    even(tape);
}

/// The second one, from the first one's exit on.
fn third_or(kind: ExitKind) -> impl Fn(&mut Tape<'_>) {
    move |tape| {
        divides(tape, 1, 2, false, ExitKind::Guard);
        divides(tape, 3, 3, true, kind);
        tape.add(4, ALL, 3, 3);
        goes_round(tape);
    }
}

/// The last one, from the second one's exit on.
fn other(tape: &mut Tape<'_>) {
    divides(tape, 3, 3, false, ExitKind::Guard);
    tape.at(5, ALL);
    let (u, t) = (tape.int(4), tape.int(3));
    let u = tape.op2(Op::IntAdd, u, t);
    tape.write_int(4, u);
    goes_round(tape);
}

/// The interpreter, from a bytecode to the next back edge or the loop's end.
fn interpret([mut s, i, n, mut t, mut u]: State, mut word: u64) -> State {
    loop {
        word = match word {
            0 if i < n => 1,
            0 => return [s, i, n, t, u],
            1 if i % 2 == 0 => 2,
            1 => 3,
            2 => {
                s += i;
                6
            }
            3 if i % 3 == 0 => 4,
            3 => 5,
            4 => {
                t += 3;
                6
            }
            5 => {
                u += t;
                6
            }
            _ => return [s, i + 1, n, t, u],
        }
    }
}

/// What the program does from any state.
fn expected(mut state: State) -> State {
    while state[1] < state[2] {
        state = interpret(state, 0);
    }
    state
}

fn state(host: &Host) -> State {
    [0, 1, 2, 3, 4].map(|slot| host.frame[slot].payload as i64)
}

fn set(host: &mut Host, values: State) {
    host.frame[..5].copy_from_slice(&values.map(int));
}

fn regions(host: &Host) -> RegionUse {
    host.vm.stats().regions.unwrap_or_default()
}

/// Runs the program to its end, by code wherever there is some; how often that was left before.
fn finish(host: &mut Host) -> u32 {
    for exits in 0.. {
        let left = host.run(HEAD);
        let word = left.map_or(0, |(_, word)| word);
        if left.is_some() {
            host.next();
        }
        let now = state(host);
        if now[1] >= now[2] {
            return exits;
        }
        set(host, interpret(now, word));
    }
    unreachable!("i grows")
}

/// Runs the program from this state, and compares what it does.
fn check(host: &mut Host, start: State) -> u32 {
    set(host, start);
    let exits = finish(host);
    assert_eq!(state(host), expected(start), "from {start:?}");
    exits
}

fn check_many(host: &mut Host) {
    for start in [[0, 0, 100, 0, 0], [5, 1, 2, -1, 3], [5, 4, 4, -1, 3], [0, -9, 9, 9, 9], [1, 3, 80, 4, 0]] {
        check(host, start);
    }
}

/// A host whose loop has code for its first way.
fn first_way(config: Config, way: impl FnOnce(&mut Tape<'_>)) -> Host {
    let side_threshold = config.side_threshold.min(3);
    let mut host = Host::new(Config { threshold: 1, side_threshold, compile_share: None, ..config });
    set(&mut host, [0, 0, 100, 0, 0]);
    while !matches!(host.back_edge(HEAD), Action::Record) {}
    assert!(matches!(host.record(HEAD, way), CloseOutcome::Compiled(_)));
    host
}

/// Leaves by the guard of the bytecode `word` until that is worth a side trace, and records that. From an
/// odd i on it would be an exit of the loop's preamble.
fn record_side(host: &mut Host, i: i64, word: u64, way: impl FnOnce(&mut Tape<'_>)) {
    start_side(host, i, word);
    host.go_on(way);
    assert!(matches!(host.vm.link_recording(HEAD), CloseOutcome::Compiled(_)));
}

fn start_side(host: &mut Host, i: i64, word: u64) {
    for time in 1.. {
        set(host, [0, i, 100, 0, 0]);
        assert_eq!(host.run(HEAD), Some((ExitKind::Guard, word)));
        match host.next() {
            Action::Record => break,
            action => assert!(matches!(action, Action::Nothing) && time < 1000),
        }
    }
    let base = host.base();
    assert!(host.vm.start_side(base));
}

/// A host with all three ways.
fn three_ways(config: Config) -> Host {
    let mut host = first_way(config, even);
    record_other_ways(&mut host);
    host
}

fn record_other_ways(host: &mut Host) {
    record_side(host, 2, 1, third_or(ExitKind::Guard));
    record_side(host, 0, 3, other);
}

/// The same as one function, or as many as there may be.
fn one_function(config: Config) -> Host {
    let mut host = three_ways(config);
    until_made(&mut host, 1);
    host
}

/// Runs the program until so many regions were made.
fn until_made(host: &mut Host, count: u64) {
    for _ in 0..1000 {
        if regions(host).made == count {
            return;
        }
        check(host, [0, 0, 100, 0, 0]);
    }
    panic!("{:?} after 1000 runs", regions(host));
}

/// The config under which all is counted, and side traces are recorded soon.
fn soon() -> Config {
    Config { side_threshold: 1, count_iterations: true, ..Config::default() }
}

fn iterations(host: &Host) -> u64 {
    host.vm.stats().compiled_iterations.expect("they are counted")
}

#[test]
fn a_tree_becomes_one_function_when_its_traces_were_crossed_often() {
    let mut host = three_ways(soon());
    check(&mut host, [0, 0, 9, 0, 0]);
    assert_eq!(host.vm.stats().regions, None, "not yet");
    until_made(&mut host, 1);
    let RegionUse { made, traces, refused, .. } = regions(&host);
    assert_eq!((made, traces, refused), (1, 3, 0));
    check_many(&mut host);
    for _ in 0..20 {
        assert_eq!(check(&mut host, [0, 0, 1000, 0, 0]), 0, "nothing leaves it any more");
    }
    assert_eq!(regions(&host).made, 1);
    let text = host.vm.stats().text();
    assert!(text.contains("trees made one function: 1, of 3 traces"), "{text}");
}

/// Traces alone are made quickly, a small region by Cranelift; all is by Cranelift if that is wanted.
#[test]
#[cfg_attr(not(target_arch = "x86_64"), ignore = "there is no quick code")]
fn a_small_region_is_made_with_care() {
    let reasons = |config: Config| {
        let host = one_function(config);
        assert_eq!(regions(&host).made, 1);
        let by_cranelift = host.vm.stats().compile.by_cranelift;
        by_cranelift.into_iter().collect::<Vec<_>>()
    };
    assert_eq!(reasons(soon()), [("a small region", 1)]);
    let [(reason, traces)] = reasons(Config { no_quick_code: true, ..soon() })[..] else { panic!() };
    assert_eq!((reason, traces > 1), ("it is not wanted", true));
}

/// All entries of side traces but one pass; the one that is refused is the exit before it.
#[test]
fn one_entry_is_refused_for_it() {
    let mut host = three_ways(soon());
    let mut left = 0;
    while regions(&host).made == 0 {
        left += check(&mut host, [0, 0, 100, 0, 0]);
    }
    assert_eq!(left, 1);
}

/// It may have to collect first. Then it asks at the next back edge.
#[test]
fn a_host_need_not_ask_what_is_next() {
    let mut host = three_ways(soon());
    for _ in 0..1000 {
        set(&mut host, [0, 0, 100, 0, 0]);
        while state(&host)[1] < 100 {
            let word = host.run(HEAD).map_or(0, |(_, word)| word);
            let now = state(&host);
            set(&mut host, interpret(now, word));
        }
        assert_eq!(state(&host), expected([0, 0, 100, 0, 0]));
        if regions(&host).made == 1 {
            return;
        }
    }
    panic!("{:?}", regions(&host));
}

#[test]
fn none_is_made_if_none_is_wanted() {
    let mut host = three_ways(Config { no_regions: true, ..soon() });
    for _ in 0..200 {
        assert_eq!(check(&mut host, [0, 0, 100, 0, 0]), 0);
    }
    assert_eq!(host.vm.stats().regions, None);
}

#[test]
fn another_tag_where_a_side_trace_begins_is_the_exit_before_it() {
    for is_made in [false, true] {
        let mut host = if is_made { one_function(soon()) } else { three_ways(soon()) };
        // Only the side trace reads t, and only that one's side trace reads u.
        for (i, slot, word) in [(2, 3, 1), (0, 4, 3)] {
            set(&mut host, [7, i, 100, 5, 6]);
            host.frame[slot] = float(0.5);
            let mut wanted = *host.frame;
            (wanted[0], wanted[1]) = (int(7 + i), int(i + 1));
            assert_eq!(host.run(HEAD), Some((ExitKind::Guard, word)), "{is_made} {i}");
            assert_eq!(*host.frame, wanted);
            // A side trace for these slots may be asked for.
            host.next();
        }
        check_many(&mut host);
    }
}

#[test]
fn every_guard_can_fail_in_it() {
    let counting = one_function(Config { count_guards: true, ..soon() });
    let before = counting.vm.guards_executed().expect("they are counted");
    let mut runs = 0;
    for force in before + 1.. {
        let mut host = one_function(Config { force_exit: Some(force), ..soon() });
        check(&mut host, [7, -2, 8, 1, 2]);
        runs += 1;
        if host.vm.guards_executed() < Some(force) {
            break;
        }
    }
    assert!(runs > 20, "{runs} guards");
}

/// Iterations that code has run and those that were interpreted always add up.
#[test]
fn iterations_are_counted_alike() {
    let [mut linked, mut made] = [true, false].map(|no_regions| {
        let mut host = three_ways(Config { no_regions, ..soon() });
        if !no_regions {
            until_made(&mut host, 1);
        }
        host
    });
    for (start, leaves) in [([0, 0, 100, 0, 0], None), ([1, -6, 60, 3, 3], None), ([0, 0, 50, 0, 0], Some(4))]
    {
        let counted = [&mut linked, &mut made].map(|host| {
            let before = iterations(host);
            set(host, start);
            if let Some(slot) = leaves {
                host.frame[slot] = float(0.5);
            }
            assert!(host.run(HEAD).is_some());
            (iterations(host) - before, *host.frame)
        });
        assert_eq!(counted[0], counted[1], "from {start:?}");
        let [_, i, ..] = state(&made);
        assert_eq!(counted[1].0 as i64, i - start[1]);
    }
}

#[test]
fn a_side_trace_that_comes_later_hangs_on_it_and_gets_into_the_next() {
    let mut host = first_way(soon(), even);
    record_side(&mut host, 2, 1, third_or(ExitKind::Guard));
    let mut runs = 0;
    while regions(&host).made == 0 {
        // Without i that neither 2 nor 3 divides nothing has to be recorded.
        set(&mut host, [0, 2, 5, 0, 0]);
        assert_eq!(u64::from(finish(&mut host)), regions(&host).made);
        assert_eq!(state(&host), [6, 5, 5, 3, 0]);
        runs += 1;
        assert!(runs < 1000);
    }
    assert_eq!(regions(&host).traces, 2);
    record_side(&mut host, 0, 3, other);
    assert_eq!(check(&mut host, [0, 0, 10, 0, 0]), 0, "they are linked");
    check_many(&mut host);
    until_made(&mut host, 2);
    assert_eq!(regions(&host).traces, 2 + 3);
    check_many(&mut host);
    assert_eq!(check(&mut host, [0, 0, 1000, 0, 0]), 0);
    assert_eq!(regions(&host), RegionUse { made: 2, traces: 5, refused: 0, ..regions(&host) });
}

/// The second way has assumed something, and is given up.
#[test]
fn a_side_trace_that_is_given_up_takes_the_region_along() {
    let config = Config { side_threshold: 3, ..soon() };
    let mut host = first_way(config, even);
    record_side(&mut host, 2, 1, third_or(ExitKind::Assumed));
    while regions(&host).made == 0 {
        set(&mut host, [0, 2, 5, 0, 0]);
        finish(&mut host);
    }
    for time in 1..=3 {
        set(&mut host, [1, 0, 10, 5, 6]);
        assert_eq!((host.run(HEAD), host.vm.stats().outdated), (Some((ExitKind::Assumed, 3)), 0), "{time}");
        assert_eq!(state(&host), [1, 1, 10, 5, 6]);
        assert!(matches!(host.next(), Action::Nothing));
    }
    assert_eq!(host.vm.stats().outdated, 1);
    set(&mut host, [1, 2, 10, 5, 6]);
    assert_eq!(host.run(HEAD), Some((ExitKind::Guard, 1)), "the loop's own code is there again");
    assert_eq!(state(&host), [3, 3, 10, 5, 6]);
    check_many(&mut host);
    // The exit gets another one, and all of it becomes one function again.
    record_other_ways(&mut host);
    until_made(&mut host, 2);
    check_many(&mut host);
    assert_eq!(check(&mut host, [0, 0, 1000, 0, 0]), 0);
}

#[test]
fn a_forgotten_loop_takes_its_region_along() {
    let mut host = one_function(Config { count_iterations: false, ..soon() });
    host.vm.forget(HEAD, HEAD + 1);
    assert!(host.vm.stats().traces.is_empty());
    set(&mut host, [0, 0, 100, 0, 0]);
    assert!(host.run(HEAD).is_none());
    // It may begin from the start, in memory that was used before.
    while !matches!(host.back_edge(HEAD), Action::Record) {}
    assert!(matches!(host.record(HEAD, even), CloseOutcome::Compiled(TraceId(3))));
    record_other_ways(&mut host);
    until_made(&mut host, 2);
    check_many(&mut host);
}

#[test]
fn where_there_is_no_code_memory_for_it_the_traces_stay_linked() {
    // Two pieces of glue and three traces come first.
    let mut host = three_ways(Config { fail_code_allocation: Some(6), ..soon() });
    while regions(&host).refused == 0 {
        check(&mut host, [0, 0, 100, 0, 0]);
    }
    check_many(&mut host);
    for _ in 0..100 {
        assert_eq!(check(&mut host, [0, 0, 1000, 0, 0]), 0);
    }
    let RegionUse { made, refused, .. } = regions(&host);
    assert_eq!((made, refused), (0, 1), "it is not tried again and again");
}

/// A second loop, `while true: i = i + 1; leave unless i < n`, whose way on leads to the first one.
fn link_from_other(host: &mut Host) {
    set(host, [0, 0, 100, 0, 0]);
    while !matches!(host.back_edge(OTHER), Action::Record) {}
    let outcome = host.record(OTHER, |tape| tape.other_loop(ALL, 1, 2));
    assert!(matches!(outcome, CloseOutcome::Compiled(_)));
    loop {
        set(host, [0, 0, 10, 0, 0]);
        assert_eq!(host.run(OTHER), Some((ExitKind::LoopEnd, 10)));
        if let Action::Record = host.next() {
            break;
        }
    }
    let base = host.base();
    assert!(host.vm.start_side(base));
    // After the loop's end: i starts again.
    host.go_on(|tape| tape.after_other_loop(ALL, 1, 2));
    assert!(matches!(host.vm.link_recording(HEAD), CloseOutcome::Compiled(_)));
}

/// Code that leads to the loop leads to its region, and no more there when that is given up. It is kept until
/// the loop is forgotten, so that who was still led there would not crash.
#[test]
fn links_from_elsewhere_go_with_it() {
    let mut host = first_way(Config { side_threshold: 3, ..soon() }, even_below_most);
    record_other_ways(&mut host);
    link_from_other(&mut host);
    until_made(&mut host, 1);
    set(&mut host, [0, 0, 10, 0, 0]);
    assert_eq!(host.run(OTHER), Some((ExitKind::LoopEnd, 0)), "through both loops");
    assert_eq!(state(&host), expected([0, 0, 10, 0, 0]));
    for _ in 0..3 {
        set(&mut host, [0, 0, MOST, 0, 0]);
        assert_eq!(host.run(HEAD), Some((ExitKind::Assumed, 0)));
        assert!(matches!(host.next(), Action::Nothing));
    }
    assert_eq!(host.vm.stats().outdated, 1);
    set(&mut host, [0, 0, 10, 0, 0]);
    assert_eq!(host.run(OTHER), Some((ExitKind::Finish, 0)), "the first loop's code is given up");
    assert_eq!(state(&host), [0, 0, 10, 0, 0]);
}

/// Its second way goes on in another loop, whose code is there.
#[test]
fn a_side_trace_that_ends_elsewhere_does_not_go_back() {
    let mut host = first_way(soon(), even);
    set(&mut host, [0, 0, 100, 0, 0]);
    while !matches!(host.back_edge(OTHER), Action::Record) {}
    let outcome = host.record(OTHER, |tape| {
        tape.while_less(10, ALL, 1, 2);
        tape.add(11, ALL, 4, 1);
        tape.add(12, ALL, 1, 1);
    });
    assert!(matches!(outcome, CloseOutcome::Compiled(_)));
    start_side(&mut host, 2, 1);
    host.go_on(|tape| {
        divides(tape, 1, 2, false, ExitKind::Guard);
        tape.add(3, ALL, 3, 1);
        tape.add(6, ALL, 1, 1);
        tape.at(10, ALL);
    });
    assert!(matches!(host.vm.link_recording(OTHER), CloseOutcome::Compiled(_)));
    let mut leaves = 0;
    while regions(&host).made == 0 {
        set(&mut host, [0, 0, 9, 0, 0]);
        match host.run(HEAD) {
            Some((ExitKind::LoopEnd, 10)) => assert_eq!(state(&host), [0, 9, 9, 1, 7]),
            Some((ExitKind::Guard, 1)) => {
                assert_eq!(state(&host), [0, 1, 9, 0, 0]);
                leaves += 1;
            }
            left => panic!("{left:?}"),
        }
        host.next();
    }
    assert_eq!(leaves, 1);
    set(&mut host, [0, 0, 9, 0, 0]);
    assert_eq!(host.run(HEAD), Some((ExitKind::LoopEnd, 10)));
    assert_eq!(state(&host), [0, 9, 9, 1, 7]);
}

/// `while i < n: if i % 2 == 0 then s = s + t else f(); i = i + 1`, where f makes t a double when i is 51.
#[test]
fn a_tag_that_a_call_in_it_has_changed_is_seen_at_its_head() {
    for is_made in [false, true] {
        let nest = Nest::new(Config { side_threshold: 1, no_regions: !is_made, ..Config::exact() });
        let calls = nest.calls;
        nest.on_call(|visit| {
            if visit.int(1) == 51 {
                visit.set(3, float(0.5));
            }
            true
        });
        nest.set(&[0, 0, 50, 2, 0].map(int));
        assert!(matches!(nest.host().back_edge(HEAD), Action::Record));
        compiled(nest.host().record(HEAD, |tape| {
            tape.while_less(0, ALL, 1, 2);
            divides(tape, 1, 2, true, ExitKind::Guard);
            tape.at(2, ALL);
            let (s, t) = (tape.int(0), tape.int(3));
            let s = tape.op2(Op::IntAdd, s, t);
            tape.write_int(0, s);
            tape.add(6, ALL, 1, 1);
        }));
        let leaves = || {
            nest.set(&[0, 0, 50, 2, 0].map(int));
            while nest.run(HEAD) == Some((ExitKind::Guard, 1)) {
                if matches!(nest.host().next(), Action::Record) {
                    return true;
                }
                // What the interpreter does with an odd i.
                nest.host().frame[1].payload += 1;
            }
            assert_eq!(nest.ints(), [50, 50, 50, 2]);
            false
        };
        assert!(leaves());
        let base = nest.host().base();
        assert!(nest.host().vm.start_side(base));
        nest.host().go_on(|tape| {
            divides(tape, 1, 2, false, ExitKind::Guard);
            tape.at(5, ALL);
            tape.call_host(calls, 1, &[3]);
            goes_round(tape);
        });
        compiled(nest.host().vm.link_recording(HEAD));
        for _ in 0..200 {
            assert!(!leaves());
        }
        assert_eq!(regions(nest.host()).made, u64::from(is_made));
        nest.set(&[0, 0, 100, 2, 0].map(int));
        assert_eq!(nest.run(HEAD), Some((ExitKind::Finish, 0)));
        assert_eq!(nest.host().frame[..4], [int(52), int(52), int(100), float(0.5)]);
    }
}

/// Each bug that is planted in the service's part of regions is seen by one of the tests.
#[test]
fn planted_bugs_are_seen() {
    use tracelift_core::planted::{with_planted, Bug};
    let seen_by: [(Bug, fn()); 4] = [
        (Bug::RegionLinksKept, links_from_elsewhere_go_with_it),
        (Bug::RegionMemberKept, a_side_trace_that_is_given_up_takes_the_region_along),
        (Bug::RegionBackUnasked, a_side_trace_that_ends_elsewhere_does_not_go_back),
        (Bug::RegionGrowthIgnored, a_side_trace_that_comes_later_hangs_on_it_and_gets_into_the_next),
    ];
    for &bug in Bug::OF_REGION_SERVICE {
        let (_, test) = seen_by.iter().find(|(of, _)| *of == bug).expect("each bug has its test");
        assert!(std::panic::catch_unwind(test).is_ok(), "{bug:?}: without the bug");
        assert!(std::panic::catch_unwind(|| with_planted(bug, test)).is_err(), "{bug:?} is not seen");
    }
}
