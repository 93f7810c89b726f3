//! Side traces, one rule each: when they are recorded, what they begin with, where they lead, what is left of
//! them.

mod support;

use support::*;
use tracelift_core::{ExitKind, Op};
use tracelift_runtime::{AbortReason, Action, CloseOutcome, Config, TraceId};

/// The loop's head.
const HEAD: usize = 1;
const ALL: u8 = 0b1111;

/// Whether i, in slot 1, is even, as the guard of the instruction at word 1 wants it.
fn guard_parity(tape: &mut Tape<'_>, even: bool) {
    tape.at(1, ALL);
    let i = tape.int(1);
    let (one, zero) = (tape.constant(1), tape.constant(0));
    let bit = tape.op2(Op::IntAnd, i, one);
    let condition = tape.op2(if even { Op::IntEq } else { Op::IntNe }, bit, zero);
    tape.guard(condition, ExitKind::Guard);
}

/// `while i < n: if i even then s = s + i else t = t + 3; i = i + 1` with s, i, n, t in slots 0 to 3: an even
/// i.
fn even(tape: &mut Tape<'_>) {
    tape.while_less(0, ALL, 1, 2);
    guard_parity(tape, true);
    tape.at(2, ALL);
    let (s, i) = (tape.int(0), tape.int(1));
    let s = tape.op2(Op::IntAdd, s, i);
    tape.write_int(0, s);
    tape.add(4, ALL, 1, 1);
}

/// The same from the guard on, for an odd i.
fn odd(tape: &mut Tape<'_>) {
    guard_parity(tape, false);
    tape.add(3, ALL, 3, 3);
    tape.add(4, ALL, 1, 1);
    tape.recorder.back_edge(HEAD, false);
    tape.at(0, ALL);
}

/// What the program does from any state.
fn expected([mut s, mut i, n, mut t]: [i64; 4]) -> [i64; 4] {
    while i < n {
        if i % 2 == 0 {
            s += i;
        } else {
            t += 3;
        }
        i += 1;
    }
    [s, i, n, t]
}

fn state(host: &Host) -> [i64; 4] {
    [0, 1, 2, 3].map(|slot| host.frame[slot].payload as i64)
}

fn set(host: &mut Host, values: [i64; 4]) {
    host.frame[..4].copy_from_slice(&values.map(int));
}

/// A host whose loop is compiled for even numbers.
fn halved(config: Config) -> Host {
    halved_with(Config { no_regions: true, ..config })
}

/// The same, whose trees may become one function.
fn halved_with(config: Config) -> Host {
    let mut host = Host::new(Config { threshold: 1, side_threshold: 3, compile_share: None, ..config });
    set(&mut host, [0, 0, 100, 0]);
    assert!(matches!(host.back_edge(HEAD), Action::Record));
    assert!(matches!(host.record(HEAD, even), CloseOutcome::Compiled(TraceId(0))));
    host
}

/// Leaves by the guard on parity as often as it takes, and records what is after it.
fn record_side(host: &mut Host, iteration: impl FnOnce(&mut Tape<'_>)) -> CloseOutcome {
    for time in 1.. {
        set(host, [0, 0, 100, 0]);
        assert_eq!(host.run(HEAD), Some((ExitKind::Guard, 1)));
        match host.next() {
            Action::Record => break,
            action => assert!(matches!(action, Action::Nothing) && time < 1000),
        }
    }
    let base = host.base();
    assert!(host.vm.start_side(base));
    host.go_on(iteration);
    host.vm.link_recording(HEAD)
}

/// A host whose loop never leaves compiled code in between.
fn whole(config: Config) -> Host {
    let mut host = halved(config);
    assert!(matches!(record_side(&mut host, odd), CloseOutcome::Compiled(TraceId(1))));
    host
}

#[test]
fn a_side_trace_is_recorded_at_the_threshold_and_linked() {
    let mut host = halved(Config::default());
    for count in 1..=3 {
        set(&mut host, [0, 0, 100, 0]);
        assert_eq!(host.run(HEAD), Some((ExitKind::Guard, 1)));
        assert_eq!(matches!(host.next(), Action::Record), count == 3, "exit {count}");
    }
    let base = host.base();
    assert!(host.vm.start_side(base));
    host.go_on(odd);
    assert!(matches!(host.vm.link_recording(HEAD), CloseOutcome::Compiled(TraceId(1))));
    for start in [[0, 0, 100, 0], [5, 2, 4, -1], [5, 4, 4, -1], [1, 2, 3, 4], [0, -8, 9, 9]] {
        set(&mut host, start);
        assert_eq!(host.run(HEAD), Some((ExitKind::LoopEnd, 0)), "{start:?}");
        assert_eq!(state(&host), expected(start));
    }
    let stats = host.vm.stats();
    assert_eq!(
        (stats.compile.side_traces, stats.traces[1].entries),
        (1, 0),
        "only other code has entered it"
    );
}

/// Where the clock decides, and there is no time, the first side trace does not wait: the loop's price
/// contains it.
#[test]
fn the_first_side_trace_of_a_loop_was_bought_with_it() {
    let mut host = Host::new(Config { side_threshold: 3, no_regions: true, ..Config::default() });
    set(&mut host, [0, 0, 100, 0]);
    let edges = (1u64..).find(|_| matches!(host.back_edge(HEAD), Action::Record));
    assert!(edges > Some(200) && matches!(host.record(HEAD, even), CloseOutcome::Compiled(TraceId(0))));
    // Other loops, compiled unasked and whatever they cost, take all the time that there is. The loop's code
    // may rest meanwhile.
    for other in 1..=10 {
        set(&mut host, [0, 0, 100, 0]);
        assert!(matches!(host.record(HEAD + other, even), CloseOutcome::Compiled(_)));
    }
    let before = host.vm.stats().postponed_recordings;
    let exits = (1u64..).find(|_| {
        set(&mut host, [0, 0, 100, 0]);
        let left = host.run(HEAD);
        assert!(matches!(left, Some((ExitKind::Guard, 1)) | None));
        left.is_some() && matches!(host.next(), Action::Record)
    });
    let stats = host.vm.stats();
    assert!(exits == Some(3) && stats.postponed_recordings == before, "{exits:?}: {}", stats.text());
    assert_eq!((stats.traces[0].failed_sides, stats.aborts.len()), (0, 0));
    let base = host.base();
    assert!(host.vm.start_side(base));
    host.go_on(odd);
    assert!(matches!(host.vm.link_recording(HEAD), CloseOutcome::Compiled(TraceId(11))));
    set(&mut host, [0, 0, 100, 0]);
    assert_eq!(host.run(HEAD), Some((ExitKind::LoopEnd, 0)));
    assert_eq!(state(&host), expected([0, 0, 100, 0]));
}

#[test]
fn an_exit_takes_no_side_trace_before_the_host_has_asked() {
    let mut host = halved(Config::default());
    let base = host.base();
    assert!(!host.vm.start_side(base));
    assert!(matches!(host.next(), Action::Nothing));
    set(&mut host, [0, 0, 0, 0]);
    assert_eq!(host.run(HEAD), Some((ExitKind::LoopEnd, 0)));
    assert!(matches!(host.next(), Action::Nothing), "one exit is not often");
    assert!(matches!(host.next(), Action::Nothing), "an exit is asked about once");
}

#[test]
fn every_guard_can_fail_on_the_way() {
    let counting = whole(Config { count_guards: true, ..Config::default() });
    let before = counting.vm.guards_executed().expect("they are counted");
    let start = [7, 0, 12, 1];
    let mut runs = 0;
    for force in before + 1.. {
        let mut host = whole(Config { force_exit: Some(force), ..Config::default() });
        set(&mut host, start);
        let mut left = host.run(HEAD);
        // The interpreter goes on from wherever the exit is, to the loop's head, and enters again.
        let mut steps = 0;
        while state(&host)[1] < 12 {
            let Some((_, word)) = left else { panic!("the entry was refused") };
            interpret(&mut host, word);
            steps += 1;
            assert!(steps < 20);
            left = host.run(HEAD);
        }
        assert_eq!(state(&host), expected(start), "forced guard {force}");
        runs += 1;
        if host.vm.guards_executed() < Some(force) {
            break;
        }
    }
    assert!(runs > 20, "{runs} guards");
}

/// The interpreter, from a word to the next back edge or the loop's end.
fn interpret(host: &mut Host, mut word: u64) {
    let [mut s, mut i, n, mut t] = state(host);
    loop {
        word = match word {
            0 if i < n => 1,
            0 => break,
            1 if i % 2 == 0 => 2,
            1 => 3,
            2 => {
                s += i;
                4
            }
            3 => {
                t += 3;
                4
            }
            _ => {
                i += 1;
                break;
            }
        }
    }
    set(host, [s, i, n, t]);
}

#[test]
fn another_type_at_the_exit_is_the_parents_exit() {
    let mut host = whole(Config::default());
    set(&mut host, [0, 0, 100, 0]);
    // The side trace reads slot 3, which the loop does not know.
    host.frame[3] = float(0.5);
    assert_eq!(host.run(HEAD), Some((ExitKind::Guard, 1)));
    assert_eq!((host.frame[1], host.frame[3]), (int(1), float(0.5)));
    assert!(matches!(host.next(), Action::Nothing));
}

/// As `odd`, where t is a float: it doubles.
fn odd_of_float(tape: &mut Tape<'_>) {
    guard_parity(tape, false);
    tape.at(3, ALL);
    let tag = tape.ids.float;
    let t = tape.read(3, tag).unwrap();
    let t = tape.op2(Op::FloatAdd, t, t);
    tape.write(3, tag, Some(t));
    tape.add(4, ALL, 1, 1);
    tape.recorder.back_edge(HEAD, false);
    tape.at(0, ALL);
}

/// The same, where t is nil.
fn odd_of_nil(tape: &mut Tape<'_>) {
    guard_parity(tape, false);
    tape.at(3, ALL);
    let tag = tape.ids.nil;
    tape.read(3, tag);
    tape.add(4, ALL, 1, 1);
    tape.recorder.back_edge(HEAD, false);
    tape.at(0, ALL);
}

const NO_VALUE: Slot = Slot { payload: 0, tag: NIL };

/// Slot 3 holds such a value at the loop's exit: it comes there again and again, until a side trace is asked
/// for. Returns how often that was.
fn exits_until_asked(host: &mut Host, t: Slot) -> Option<usize> {
    (1..=100).find(|_| {
        set(host, [0, 0, 100, 0]);
        host.frame[3] = t;
        assert_eq!(host.run(HEAD), Some((ExitKind::Guard, 1)));
        assert_eq!((host.frame[1], host.frame[3]), (int(1), t));
        matches!(host.next(), Action::Record)
    })
}

fn record_for(host: &mut Host, iteration: impl FnOnce(&mut Tape<'_>)) {
    let base = host.base();
    assert!(host.vm.start_side(base));
    host.go_on(iteration);
    assert!(matches!(host.vm.link_recording(HEAD), CloseOutcome::Compiled(_)));
}

/// What an odd i makes of t.
fn after_odd(t: Slot) -> Slot {
    match t.tag {
        NIL => t,
        tag if tag == int(0).tag => int(t.payload as i64 + 3),
        _ => float(f64::from_bits(t.payload) * 2.0),
    }
}

/// Runs the whole loop, whatever t is. Returns how often code was left at an odd i.
fn run_all(host: &mut Host, t: &[Slot]) -> usize {
    let mut left = 0;
    for &slot in t {
        set(host, [0, 0, 20, 0]);
        host.frame[3] = slot;
        while host.run(HEAD) != Some((ExitKind::LoopEnd, 0)) {
            assert!(host.frame[1].payload % 2 == 1 && matches!(host.next(), Action::Nothing));
            host.frame[3] = after_odd(host.frame[3]);
            host.frame[1] = int(host.frame[1].payload as i64 + 1);
            left += 1;
        }
        let expected = (0..10).fold(slot, |t, _| after_odd(t));
        assert_eq!((host.frame[0], host.frame[1], host.frame[3]), (int(90), int(20), expected));
    }
    left
}

/// In turn, one for each type, also where the tree has become one function before.
#[test]
fn other_types_at_an_exit_get_side_traces_of_their_own() {
    for no_regions in [true, false] {
        let mut host = halved_with(Config { no_regions, ..Config::default() });
        assert!(matches!(record_side(&mut host, odd), CloseOutcome::Compiled(TraceId(1))));
        // Where it is made one function an entry is refused: once.
        let made = usize::from(!no_regions);
        assert_eq!((0..20).map(|_| run_all(&mut host, &[int(0)])).sum::<usize>(), made);
        assert_eq!(host.vm.stats().regions.map_or(0, |regions| regions.made), made as u64);
        assert!(exits_until_asked(&mut host, float(0.5)).is_some_and(|exits| exits <= 3), "as at an exit");
        record_for(&mut host, odd_of_float);
        assert!((0..20).map(|_| run_all(&mut host, &[int(0), float(0.5), int(7)])).sum::<usize>() <= made);
        // The entry that is refused is an exit, too.
        let asked = exits_until_asked(&mut host, NO_VALUE);
        assert!(asked.is_some_and(|exits| exits == 3 || !no_regions && exits == 2), "{asked:?}");
        record_for(&mut host, odd_of_nil);
        assert!((0..20).map(|_| run_all(&mut host, &[NO_VALUE, int(5), float(2.0)])).sum::<usize>() <= made);
        assert_eq!(run_all(&mut host, &[NO_VALUE, int(5), float(2.0)]), 0);
        assert_eq!(host.vm.stats().compile.side_traces, 3);
        host.vm.forget(HEAD, HEAD + 1);
        assert!(host.vm.stats().traces.is_empty(), "all are freed with the loop");
    }
}

/// A recording that fails for them is tried again later, and changes nothing for the first.
#[test]
fn a_failure_for_other_types_leaves_the_side_trace_alone() {
    let mut host = whole(Config::default());
    assert_eq!(exits_until_asked(&mut host, float(0.5)), Some(3));
    let base = host.base();
    assert!(host.vm.start_side(base));
    host.vm.abort_recording(AbortReason::Abandoned);
    assert_eq!(run_all(&mut host, &[int(0), int(1)]), 0);
    let again = exits_until_asked(&mut host, float(0.5));
    assert!(again > Some(3), "{again:?}");
    record_for(&mut host, odd_of_float);
    assert_eq!(run_all(&mut host, &[int(0), float(1.5)]), 0);
}

#[test]
fn another_type_at_the_loop_is_the_end_of_the_side_trace() {
    let mut host = halved(Config::default());
    let outcome = record_side(&mut host, |tape| {
        guard_parity(tape, false);
        tape.at(3, ALL);
        let nil = tape.ids.nil;
        tape.write(0, nil, None);
        tape.add(4, ALL, 1, 1);
        tape.at(0, ALL);
    });
    assert!(matches!(outcome, CloseOutcome::Compiled(TraceId(1))));
    set(&mut host, [0, 0, 100, 5]);
    assert_eq!(host.run(HEAD), Some((ExitKind::Finish, 0)));
    assert_eq!((host.frame[0].tag, host.frame[1], host.frame[3]), (NIL, int(2), int(5)));
    assert!(matches!(host.next(), Action::Nothing));
    set(&mut host, [0, 4, 4, 5]);
    assert_eq!(host.run(HEAD), Some((ExitKind::LoopEnd, 0)), "the loop still has its code");
}

#[test]
fn failed_attempts_come_less_and_less_often() {
    let mut host = halved(Config::default());
    let mut attempts = Vec::new();
    for exit in 1..=300 {
        set(&mut host, [0, 0, 100, 0]);
        assert_eq!(host.run(HEAD), Some((ExitKind::Guard, 1)));
        if let Action::Record = host.next() {
            let base = host.base();
            assert!(host.vm.start_side(base));
            host.vm.abort_recording(AbortReason::Host("a whim".into()));
            attempts.push(exit);
        }
    }
    assert_eq!(attempts, [3, 19, 51, 115, 243]);
    assert_eq!(host.vm.stats().aborts.values().sum::<u64>(), 5);
    assert!(
        matches!(record_side(&mut host, odd), CloseOutcome::Compiled(TraceId(1))),
        "no exit is given up for good"
    );
}

#[test]
fn a_loop_has_no_more_side_traces_than_allowed() {
    let mut host = halved(Config { max_sides: 0, ..Config::default() });
    for _ in 0..50 {
        set(&mut host, [0, 0, 100, 0]);
        assert_eq!(host.run(HEAD), Some((ExitKind::Guard, 1)));
        assert!(matches!(host.next(), Action::Nothing));
    }
}

#[test]
fn iterations_of_side_traces_are_counted() {
    let mut host = whole(Config { count_iterations: true, ..Config::default() });
    let before = host.vm.stats().compiled_iterations.expect("they are counted");
    set(&mut host, [0, 0, 100, 0]);
    assert_eq!(host.run(HEAD), Some((ExitKind::LoopEnd, 0)));
    assert_eq!(host.vm.stats().compiled_iterations.expect("they are counted") - before, 100);
}

#[test]
fn a_freed_loop_takes_its_side_traces_along() {
    let mut host = whole(Config::default());
    host.vm.forget(HEAD, HEAD + 1);
    assert!(host.vm.stats().traces.is_empty());
    set(&mut host, [0, 0, 100, 0]);
    assert!(host.run(HEAD).is_none());
}

/// A second loop, `while true: i = i + 1; leave unless i < n`, whose way on leads to the first.
#[test]
fn links_to_freed_code_are_taken_back() {
    const OTHER: usize = 2;
    let mut host = whole(Config::default());
    set(&mut host, [0, 0, 100, 0]);
    assert!(matches!(host.back_edge(OTHER), Action::Record));
    let outcome = host.record(OTHER, |tape| tape.other_loop(ALL, 1, 2));
    assert!(matches!(outcome, CloseOutcome::Compiled(TraceId(2))));
    for _ in 0..3 {
        set(&mut host, [0, 0, 10, 0]);
        assert_eq!(host.run(OTHER), Some((ExitKind::LoopEnd, 10)));
        if let Action::Record = host.next() {
            let base = host.base();
            assert!(host.vm.start_side(base));
            // After the loop's end: i starts again.
            host.go_on(|tape| tape.after_other_loop(ALL, 1, 2));
            assert!(matches!(host.vm.link_recording(HEAD), CloseOutcome::Compiled(TraceId(3))));
        }
    }
    set(&mut host, [0, 0, 10, 0]);
    assert_eq!(host.run(OTHER), Some((ExitKind::LoopEnd, 0)), "through both loops");
    assert_eq!(state(&host), expected([0, 0, 10, 0]));
    host.vm.forget(HEAD, HEAD + 1);
    set(&mut host, [0, 0, 10, 0]);
    assert_eq!(host.run(OTHER), Some((ExitKind::Finish, 0)), "the first loop's code is gone");
    assert_eq!(state(&host), [0, 0, 10, 0]);
}

#[test]
fn a_trace_may_end_before_what_cannot_be_recorded() {
    let mut host = Host::new(Config { threshold: 1, side_threshold: 1, ..Config::exact() });
    set(&mut host, [0, 0, 100, 0]);
    assert!(matches!(host.back_edge(HEAD), Action::Record));
    host.begin(HEAD, |tape| {
        tape.while_less(0, ALL, 1, 2);
        tape.add(1, ALL, 0, 5);
        tape.at(2, ALL);
    });
    let reason = || AbortReason::Host("call of print".into());
    assert!(matches!(host.vm.end_recording(reason()), CloseOutcome::Compiled(TraceId(0))));
    for time in 1..=10 {
        set(&mut host, [time, 0, 100, 7]);
        assert_eq!(host.run(HEAD), Some((ExitKind::Finish, 2)));
        assert_eq!(state(&host), [time + 5, 0, 100, 7]);
        assert!(matches!(host.next(), Action::Nothing), "the interpreter goes on after the end");
    }
    // So may a side trace.
    set(&mut host, [0, 100, 100, 0]);
    assert_eq!(host.run(HEAD), Some((ExitKind::LoopEnd, 0)));
    assert!(matches!(host.next(), Action::Record));
    let base = host.base();
    assert!(host.vm.start_side(base));
    host.go_on(|tape| {
        tape.add(9, ALL, 3, 1);
        tape.at(10, ALL);
    });
    assert!(matches!(host.vm.end_recording(reason()), CloseOutcome::Compiled(TraceId(1))));
    set(&mut host, [1, 100, 100, 1]);
    assert_eq!(host.run(HEAD), Some((ExitKind::Finish, 10)));
    assert_eq!(state(&host), [1, 100, 100, 2]);
    assert_eq!(host.vm.stats().ends.get("call of print"), Some(&2));
    assert!(host.vm.stats().aborts.is_empty());
}

/// The inner loop, `while i < n: i = i + 1`, runs in a frame at slot 4, the outer one, `while a < n: a = a +
/// 2`, in its caller's at slot 0. Both have i or a, and n, in slots 0 and 1.
const OUTER: usize = 2;

fn count_by(tape: &mut Tape<'_>, step: i64) {
    tape.while_less(0, ALL, 0, 1);
    tape.add(1, ALL, 0, step);
}

/// A host whose inner loop ends by a side trace that returns `i` as `a`, to the outer loop.
fn returning() -> Host {
    let mut host =
        Host::new(Config { threshold: 1, side_threshold: 3, compile_share: None, ..Config::default() });
    host.frame[..6].copy_from_slice(&[0, 100, 0, 0, 0, 100].map(int));
    assert!(matches!(host.back_edge(OUTER), Action::Record));
    assert!(matches!(host.record(OUTER, |tape| count_by(tape, 2)), CloseOutcome::Compiled(TraceId(0))));
    host.first = 4;
    assert!(matches!(host.back_edge(HEAD), Action::Record));
    assert!(matches!(host.record(HEAD, |tape| count_by(tape, 1)), CloseOutcome::Compiled(TraceId(1))));
    loop {
        host.frame[4] = int(95);
        assert_eq!(host.run(HEAD), Some((ExitKind::LoopEnd, 0)));
        if let Action::Record = host.next() {
            break;
        }
    }
    let base = host.base();
    assert!(host.vm.start_side(base));
    host.go_on(|tape| {
        tape.at(2, ALL);
        let i = tape.int(0);
        tape.recorder.return_frame(-4);
        tape.write_int(0, i);
        tape.at(0, ALL);
        tape.recorder.link_frames();
    });
    assert!(matches!(host.vm.link_recording(OUTER), CloseOutcome::Compiled(TraceId(2))));
    host
}

#[test]
fn a_side_trace_returns_to_a_loop_in_its_callers_frame() {
    let mut host = returning();
    for (a_limit, n, end) in [(20, 10, 20), (21, 10, 22), (5, 10, 10)] {
        host.frame[..6].copy_from_slice(&[-7, a_limit, 0, 0, 0, n].map(int));
        let Action::Run(run) = host.back_edge(HEAD) else { panic!("there is code") };
        let context = (&raw mut host.counted).cast();
        let base = host.frame[4..].as_mut_ptr().cast();
        // SAFETY: the code was just offered for this frame.
        let left = unsafe { run.code.call(context, base) };
        // SAFETY: as above.
        let exit = unsafe { host.vm.exit(left, context) };
        let (kind, base, words) = (exit.kind(), exit.base, exit.frames[0].words[0]);
        assert_eq!((kind, words, exit.frames.len()), (Some(ExitKind::LoopEnd), 0, 1));
        assert_eq!(base, host.frame.as_mut_ptr().cast(), "the exit is one of the outer loop's, in its frame");
        assert_eq!(host.frame[0].payload as i64, end, "{a_limit} {n}");
    }
}

/// The outer loop's types have changed: the side trace's own end is told, with the frame that it has returned
/// to below the one that it was entered in.
#[test]
fn who_is_refused_below_is_at_the_end_of_the_return() {
    let mut host = returning();
    host.frame[..6].copy_from_slice(&[-7, 20, 0, 0, 0, 10].map(int));
    host.frame[1] = float(1.5);
    let Action::Run(run) = host.back_edge(HEAD) else { panic!("there is code") };
    let context = (&raw mut host.counted).cast();
    let base: *mut u8 = host.frame[4..].as_mut_ptr().cast();
    // SAFETY: the code was just offered for this frame.
    let left = unsafe { run.code.call(context, base) };
    // SAFETY: as above.
    let exit = unsafe { host.vm.exit(left, context) };
    assert_eq!((exit.kind(), exit.base), (Some(ExitKind::Finish), base));
    assert_eq!((exit.frames[0].base, exit.frames[0].words[0]), (-4, 0));
    assert_eq!((host.frame[0].payload, host.frame[1].payload), (10, 1.5f64.to_bits()));
}

/// A caller may begin where its callee does, whose slots are then all that it has; what it goes on with it
/// has written itself.
#[test]
fn a_side_trace_returns_to_a_caller_at_the_same_slot() {
    let config = Config { threshold: 1, side_threshold: 3, compile_share: None, ..Config::default() };
    let mut host = Host::new(config);
    host.frame[..2].copy_from_slice(&[0, 100].map(int));
    assert!(matches!(host.back_edge(OUTER), Action::Record));
    assert!(matches!(host.record(OUTER, |tape| count_by(tape, 2)), CloseOutcome::Compiled(TraceId(0))));
    host.frame[..2].copy_from_slice(&[0, 100].map(int));
    assert!(matches!(host.back_edge(HEAD), Action::Record));
    assert!(matches!(host.record(HEAD, |tape| count_by(tape, 1)), CloseOutcome::Compiled(TraceId(1))));
    loop {
        host.frame[0] = int(95);
        assert_eq!(host.run(HEAD), Some((ExitKind::LoopEnd, 0)));
        if let Action::Record = host.next() {
            break;
        }
    }
    let base = host.base();
    assert!(host.vm.start_side(base));
    host.go_on(|tape| {
        tape.at(2, ALL);
        let i = tape.int(0);
        tape.recorder.return_frame(0);
        tape.write_int(0, i);
        let limit = tape.constant(21);
        tape.write_int(1, limit);
        tape.at(0, ALL);
        tape.recorder.link_frames();
    });
    assert!(matches!(host.vm.link_recording(OUTER), CloseOutcome::Compiled(TraceId(2))));
    for (n, end) in [(10, 22), (5, 21), (30, 30)] {
        host.frame[..2].copy_from_slice(&[-7, n].map(int));
        assert_eq!(host.run(HEAD), Some((ExitKind::LoopEnd, 0)));
        assert_eq!((host.frame[0].payload as i64, host.frame[1].payload), (end, 21), "{n}");
    }
}

#[test]
fn a_frame_that_was_returned_to_is_read_by_the_host() {
    let mut host = halved(Config::default());
    for (wrong, sentence) in [
        (0, "slot -3 of a frame that was returned to is read before tl_slot_known"),
        (1, "a caller's frame 2 slots from its callee's: expected 0, or a negative number"),
        (2, "tl_frame_return from a frame that was pushed"),
        (3, "a guard after a frame was pushed or popped"),
    ] {
        let failed = record_side(&mut host, |tape| {
            tape.at(1, ALL);
            if wrong == 2 {
                tape.recorder.push_frame(4, &[0], &[ALL]);
            }
            tape.recorder.return_frame(if wrong == 1 { 2 } else { -4 });
            let known = tape.constant(1);
            tape.recorder.know_slot(0, tape.ids.int, Some(known), tape.schema);
            if wrong == 3 {
                tape.guard(known, ExitKind::Guard);
            }
            tape.at(0, ALL);
            assert_eq!(tape.read(0, tape.ids.int), Some(known).filter(|_| wrong == 0));
            tape.read(1, tape.ids.int);
        });
        let CloseOutcome::Aborted(_, said) = failed else { panic!("{wrong} is recorded") };
        assert!(said.starts_with(sentence), "{said}");
    }
}
