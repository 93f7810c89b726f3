//! The service's rules, one test each: when it records, what it enters, what it says when it cannot.

mod support;

use support::*;
use tracelift_core::{ExitKind, Op};
use tracelift_runtime::recorder::Start;
use tracelift_runtime::{
    AbortReason, Action, CloseOutcome, CompileStats, Config, LeftBy, Place, Stage, TraceId,
};

fn compiled(outcome: CloseOutcome) -> TraceId {
    match outcome {
        CloseOutcome::Compiled(number) => number,
        other => panic!("not compiled: {other:?}"),
    }
}

fn aborted(outcome: CloseOutcome) -> (AbortReason, String) {
    match outcome {
        CloseOutcome::Aborted(reason, sentence) => (reason, sentence),
        other => panic!("not aborted: {other:?}"),
    }
}

/// A host whose loop 1 is the sum, compiled.
fn summing(config: Config) -> Host {
    let mut host = Host::new(Config { threshold: 1, compile_share: None, ..config });
    host.frame[..3].copy_from_slice(&[int(0), int(0), int(10)]);
    assert!(matches!(host.back_edge(1), Action::Record));
    compiled(host.record(1, sum));
    host
}

#[test]
fn compiled_code_leaves_the_slots_as_the_interpreter_would() {
    let mut host = summing(Config::default());
    for n in [10, 0, 1, -5, 1000] {
        host.frame[..4].copy_from_slice(&[int(0), int(0), int(n), int(-7)]);
        assert_eq!(host.run(1), Some((ExitKind::LoopEnd, 0)));
        let n = n.max(0);
        assert_eq!(
            host.frame[..4],
            [int(n * (n - 1) / 2), int(n), int(host.frame[2].payload as i64), int(-7)]
        );
    }
}

#[test]
fn an_exit_that_is_taken_often_does_what_it_did_before() {
    let mut host = summing(Config::default());
    for n in 1..40 {
        host.frame[..4].copy_from_slice(&[int(n), int(0), int(n), int(-7)]);
        assert_eq!(host.run(1), Some((ExitKind::LoopEnd, 0)));
        assert_eq!(host.frame[..4], [int(n + n * (n - 1) / 2), int(n), int(n), int(-7)], "time {n}");
    }
    let exits = &host.vm.stats().traces[0].exits;
    assert_eq!(exits.values().sum::<u64>(), 39);
}

#[test]
fn each_exit_is_in_the_log_however_often_it_was_taken() {
    let path = std::env::temp_dir().join(format!("tracelift-exits-{}.log", std::process::id()));
    let log = vec![Stage::Exit];
    let mut host = summing(Config { log, log_file: Some(path.clone()), ..Config::default() });
    for n in 1..20 {
        host.frame[..3].copy_from_slice(&[int(0), int(0), int(n)]);
        assert_eq!(host.run(1), Some((ExitKind::LoopEnd, 0)));
    }
    drop(host);
    let text = std::fs::read_to_string(&path).expect("the log was written");
    std::fs::remove_file(&path).expect("the log can be removed");
    assert_eq!(text.matches("of trace 0: loop_end").count(), 19, "{text}");
}

/// The host's names of places are in the log, the host's words for those of exits and operations.
#[test]
fn what_is_told_has_the_hosts_names() {
    let path = std::env::temp_dir().join(format!("tracelift-names-{}.log", std::process::id()));
    let log = vec![Stage::Trace, Stage::Abort, Stage::Exit];
    let config = Config { threshold: 1, log, log_file: Some(path.clone()), ..Config::exact() };
    let mut host = Host::new(config);
    host.vm.set_name_of(Some(Box::new(|place| match place {
        Place::Key(key) => Some(format!("sum.x:{key} f")),
        Place::Frame(words) => Some(format!("sum.x:{} f", 10 + words[0])),
    })));
    host.frame[..3].copy_from_slice(&[int(0), int(0), int(10)]);
    host.begin(1, sum);
    host.vm.abort_recording(AbortReason::Host("no goto".into()));
    host.begin(1, sum);
    compiled(host.vm.close_recording());
    host.run(1);
    host.vm.set_name_of(None);
    host.begin(2, sum);
    host.vm.abort_recording(AbortReason::Abandoned);
    let stats = host.vm.stats();
    assert_eq!((stats.traces[0].name.as_str(), stats.traces[0].title.as_str()), ("loop_1", "loop sum.x:1 f"));
    drop(host);
    let text = std::fs::read_to_string(&path).expect("the log was written");
    std::fs::remove_file(&path).expect("the log can be removed");
    let lines: Vec<&str> =
        text.lines().map(|line| line.split(" operations").next().unwrap_or(line)).collect();
    assert_eq!(lines[0], "--- abort loop sum.x:1 f: no goto, at sum.x:12 f");
    assert!(lines[1].starts_with("--- trace 0 loop sum.x:1 f: "), "{text}");
    assert_eq!(lines[2], "--- exit 1 of trace 0 (sum.x:10 f): loop_end");
    assert_eq!(lines[3], "--- abort loop_2: abandoned");
}

#[test]
fn what_the_host_declines_is_no_entry() {
    let mut host = summing(Config::default());
    assert!(matches!(host.back_edge(1), Action::Run(_)));
    host.vm.declined();
    host.vm.declined();
    let stats = host.vm.stats();
    assert_eq!((stats.entries, stats.traces[0].entries, stats.declined_entries), (0, 0, 1));
    assert_eq!(host.run(1), Some((ExitKind::LoopEnd, 0)));
    assert_eq!((host.vm.stats().entries, host.vm.stats().declined_entries), (1, 1));
}

#[test]
fn the_threshold_is_the_number_of_back_edges_before_recording() {
    for threshold in [1, 2, 56] {
        let mut host = Host::new(Config { threshold, ..Config::exact() });
        let edges = (1..).find(|_| matches!(host.back_edge(1), Action::Record));
        assert_eq!(edges, Some(threshold));
    }
    let mut off = Host::new(Config { enabled: false, threshold: 1, ..Config::exact() });
    assert!((0..1000).all(|_| matches!(off.back_edge(1), Action::Nothing)));
    assert_eq!((off.vm.stats().jit.as_str(), off.vm.stats().interpreted_back_edges), ("off", 1000));
}

/// A counter is zero until its first back edge, which sets it; each back edge is counted when it is taken.
#[test]
fn counters_start_as_zeros_and_count_each_back_edge() {
    for threshold in [1, 2, 3, 200, u32::MAX] {
        let mut host = Host::new(Config { threshold, ..Config::exact() });
        assert_eq!(*host.counters, [0, 0]);
        for taken in 1..=500 {
            let is_hot = matches!(host.back_edge(1), Action::Record);
            assert_eq!(is_hot, taken >= u64::from(threshold), "back edge {taken} of {threshold}");
            assert_eq!(host.vm.stats().interpreted_back_edges, taken);
            if is_hot {
                break;
            }
        }
        assert_eq!(host.counters[0], 0, "nobody used it");
    }
}

/// With the default settings the clock decides when a hot loop is recorded, and every back edge is counted
/// all the same.
#[test]
fn a_recording_waits_until_there_is_time_for_it() {
    let mut host = Host::new(Config::default());
    host.frame[..3].copy_from_slice(&[int(0), int(0), int(5)]);
    let edges = (1..).find(|_| matches!(host.back_edge(1), Action::Record)).expect("time goes by");
    let stats = host.vm.stats();
    assert!(edges > 200 && stats.postponed_recordings > 0, "{edges}: {}", stats.text());
    assert_eq!((stats.interpreted_back_edges, stats.recordings), (edges, 0));
    assert!(stats.text().contains("recordings put off"), "{}", stats.text());
    compiled(host.record(1, sum));
    assert!(matches!(host.back_edge(1), Action::Run(_)));
}

/// What was asked for turns out to be long: it is asked for again when there is time for so much, or when it
/// pays.
#[test]
fn a_recording_that_is_too_long_waits_until_there_is_time() {
    let mut host = Host::new(Config::default());
    host.frame[..3].copy_from_slice(&[int(0), int(0), int(5)]);
    let long = |tape: &mut Tape<'_>| {
        (0..200).for_each(|n| tape.add(n, 7, 0, 1));
        tape.while_less(200, 7, 1, 2);
        tape.add(201, 7, 1, 1);
    };
    let ask = |host: &mut Host| (1u64..).find(|_| matches!(host.back_edge(1), Action::Record)).unwrap();
    // The first recording waits longer than others.
    host.begin(2, sum);
    host.vm.abort_recording(AbortReason::Abandoned);
    // Time for a small trace, but not for this one.
    while host.vm.stats().time.program < 0.03 {}
    let first = ask(&mut host);
    let refused = host.record(1, long);
    assert!(matches!(refused, CloseOutcome::Aborted(AbortReason::TooCostly, _)), "{refused:?}");
    assert_eq!(host.vm.last_abort(1), Some(&AbortReason::TooCostly));
    assert!(ask(&mut host) > 1000, "not at once: {first} before");
    compiled(host.record(1, long));
    assert_eq!(host.vm.last_abort(1), None);
    let aborts = host.vm.stats().aborts;
    let aborts: Vec<(&str, u64)> = aborts.iter().map(|(reason, &count)| (reason.as_str(), count)).collect();
    assert_eq!(aborts, [("abandoned", 1), ("too long to compile by now", 1)]);
    assert!(matches!(host.back_edge(1), Action::Run(_)));
}

/// The budget is for what the VM asks for: a host that begins on its own wants code.
#[test]
fn what_is_recorded_unasked_is_compiled() {
    let mut host = Host::new(Config::default());
    host.frame[..3].copy_from_slice(&[int(0), int(0), int(5)]);
    compiled(host.record(1, sum));
}

#[test]
fn loops_that_share_a_counter_are_both_compiled() {
    let mut host = Host::new(Config { threshold: 10, ..Config::exact() });
    host.frame[..3].copy_from_slice(&[int(0), int(0), int(5)]);
    let mut records = 0;
    for round in 0..200 {
        let key = if round % 2 == 0 { 1 } else { 3 };
        match host.back_edge(key) {
            Action::Record => {
                records += 1;
                compiled(host.record(key, sum));
            }
            Action::Run(_) => assert!(records > 0),
            Action::Nothing => {}
        }
    }
    assert_eq!(records, 2);
    let stats = host.vm.stats();
    assert_eq!(stats.interpreted_back_edges, 200);
    assert!(stats.entries > 150, "both are entered at each back edge");
}

#[test]
fn other_tags_refuse_the_entry_and_get_an_entry_of_their_own() {
    let mut host = summing(Config::default());
    host.frame[..3].copy_from_slice(&[float(0.5), int(0), int(10)]);
    // Slot 0 is a float now: the code for integers must not run; the loop is hot, so it is recorded again.
    assert!(matches!(host.back_edge(1), Action::Record));
    assert_eq!(host.frame[0], float(0.5));
    let second = host.record(1, |tape| {
        tape.while_less(0, 0b111, 1, 2);
        tape.at(1, 0b111);
        let i = tape.int(1);
        let (s, i) = (tape.read(0, tape.ids.float).unwrap(), tape.op(Op::IntToFloat, &[i]).unwrap());
        let s = tape.op2(Op::FloatAdd, s, i);
        tape.write(0, tape.ids.float, Some(s));
        tape.add(2, 0b111, 1, 1);
    });
    assert_eq!(compiled(second), TraceId(1));
    assert_eq!(host.run(1), Some((ExitKind::LoopEnd, 0)));
    assert_eq!(host.frame[..2], [float(45.5), int(10)]);
    host.frame[..3].copy_from_slice(&[int(7), int(0), int(4)]);
    assert_eq!(host.run(1), Some((ExitKind::LoopEnd, 0)));
    assert_eq!(host.frame[..2], [int(13), int(4)], "the first entry is still there");
    let traces = host.vm.stats().traces;
    assert_eq!(traces.iter().map(|trace| trace.entries).collect::<Vec<_>>(), [1, 1]);
}

#[test]
fn a_location_has_so_many_entries_and_no_more() {
    let mut host = Host::new(Config { threshold: 1, max_entries: 1, ..Config::exact() });
    host.frame[..3].copy_from_slice(&[int(0), int(0), int(10)]);
    compiled(host.record(1, sum));
    host.frame[0] = float(1.0);
    assert!((0..100).all(|_| matches!(host.back_edge(1), Action::Nothing)));
    assert_eq!(host.vm.stats().refused_entries, 100);
}

#[test]
fn changing_tags_are_recorded_again_and_then_compiled() {
    let mut host = Host::new(Config { threshold: 1, ..Config::exact() });
    host.frame[..3].copy_from_slice(&[int(0), int(0), int(10)]);
    let widen = |tape: &mut Tape<'_>| {
        tape.while_less(0, 0b111, 1, 2);
        tape.at(1, 0b111);
        let s = tape.int(0);
        let s = tape.op(Op::IntToFloat, &[s]);
        tape.write(0, tape.ids.float, s);
    };
    assert!(matches!(host.record(1, widen), CloseOutcome::Again));
    host.frame[0] = float(0.0); // what the interpreter did meanwhile
    host.go_on(|tape| {
        assert!(tape.recorder.is_new() && tape.recorder.start == Start::Loop { retries: 1 });
        tape.while_less(0, 0b111, 1, 2);
        tape.at(1, 0b111);
        let s = tape.read(0, tape.ids.float).unwrap();
        let s = tape.op2(Op::FloatAdd, s, s);
        tape.write(0, tape.ids.float, Some(s));
        tape.add(2, 0b111, 1, 1);
    });
    compiled(host.vm.close_recording());
    let stats = host.vm.stats();
    assert_eq!((stats.recordings, stats.retaken, stats.aborts.len()), (2, 1, 0));
}

#[test]
fn tags_that_never_settle_are_given_up_after_three_retries() {
    let mut host = Host::new(Config { threshold: 1, ..Config::exact() });
    let flip = |tape: &mut Tape<'_>| {
        tape.at(0, 1);
        let s = tape.int(0);
        let s = tape.op(Op::IntToFloat, &[s]);
        tape.write(0, tape.ids.float, s);
    };
    host.begin(1, flip);
    for _ in 0..3 {
        assert!(matches!(host.vm.close_recording(), CloseOutcome::Again));
        host.go_on(flip);
    }
    assert_eq!(aborted(host.vm.close_recording()).0, AbortReason::Unstable);
    assert_eq!(host.vm.last_abort(1), Some(&AbortReason::Unstable));
    assert_eq!(host.vm.stats().aborts["unstable slot types"], 1);
}

#[test]
fn aborts_back_off_and_try_again() {
    let mut host = Host::new(Config { threshold: 4, ..Config::exact() });
    let mut gaps = Vec::new();
    for _ in 0..5 {
        gaps.push((1..).find(|_| matches!(host.back_edge(1), Action::Record)).unwrap());
        host.begin(1, |_| {});
        host.vm.abort_recording(AbortReason::Host("no goto".into()));
    }
    assert_eq!(gaps, [4, 16 + 1, 32 + 2, 64 + 3, 128 + 4]);
    assert_eq!(host.vm.stats().aborts["no goto"], 5);
    assert_eq!(host.vm.last_abort(1).map(AbortReason::name), Some("no goto"));
}

#[test]
fn what_cannot_be_compiled_is_counted_and_can_be_tried_later() {
    let mut host = Host::new(Config { threshold: 1, fail_code_allocation: Some(1), ..Config::exact() });
    host.frame[..3].copy_from_slice(&[int(0), int(0), int(10)]);
    assert!(matches!(host.back_edge(1), Action::Record));
    assert_eq!(aborted(host.record(1, sum)).0, AbortReason::CodeMemoryFull);
    assert_eq!((host.vm.stats().aborts["code memory full"], host.vm.stats().jit.as_str()), (1, "on"));
    assert_eq!(host.frame[..3], [int(0), int(0), int(10)], "the program's state is untouched");
    assert!((0..100).any(|_| matches!(host.back_edge(1), Action::Record)));
    compiled(host.record(1, sum));
    assert_eq!(host.run(1), Some((ExitKind::LoopEnd, 0)));
}

#[test]
fn refused_executable_memory_is_said_once_and_nothing_is_recorded() {
    let config = Config { threshold: 1, refuse_executable_memory: true, ..Config::exact() };
    let mut host = Host::new(config);
    assert!((0..100).all(|_| matches!(host.back_edge(1), Action::Nothing)));
    let stats = host.vm.stats();
    assert!(stats.jit.starts_with("off: no executable memory"), "{}", stats.jit);
    assert_eq!((stats.recordings, stats.interpreted_back_edges), (0, 100));
}

/// 16 KiB are full after some dozen loops: older ones make room then. What is forgotten is not evicted.
#[test]
fn code_memory_runs_out_and_older_loops_make_room() {
    let mut host = Host::new(Config { threshold: 1, code_bytes: 16 << 10, ..Config::exact() });
    host.frame[..3].copy_from_slice(&[int(0), int(0), int(10)]);
    let evicted = |host: &Host| host.vm.stats().evicted.map_or(0, |evicted| evicted.trees);
    for key in (1..401).step_by(2) {
        let _ = host.back_edge(key);
        compiled(host.record(key, sum));
    }
    let before = evicted(&host);
    assert!((100..200).contains(&before), "{before} of 200 trees were evicted");
    host.vm.forget(1, 401);
    for key in (1..21).step_by(2) {
        compiled(host.record(key, sum));
    }
    assert_eq!(evicted(&host), before);
}

#[test]
fn forgetting_frees_the_code_of_a_range_of_keys() {
    let mut host = Host::new(Config { threshold: 1, ..Config::exact() });
    host.frame[..3].copy_from_slice(&[int(0), int(0), int(10)]);
    for key in [10, 20, 30] {
        let _ = host.back_edge(key);
        compiled(host.record(key, sum));
    }
    host.vm.forget(15, 30);
    let alive: Vec<_> = host.vm.stats().traces.iter().map(|trace| trace.number).collect();
    assert_eq!(alive, [TraceId(0), TraceId(2)]);
    assert!(!matches!(host.back_edge(20), Action::Run(_)));
    assert!(matches!(host.back_edge(30), Action::Run(_)));
    // A recording of a forgotten key is given up.
    let base = host.base();
    assert!(host.vm.start_recording(40, base, 0));
    host.vm.forget(40, 41);
    assert!(host.vm.recorder().is_none());
    // The code's exit number leads nowhere any more.
    let context = std::ptr::null_mut();
    let base = host.frame.as_mut_ptr().cast();
    // SAFETY: trace 1 is gone, so nothing is restored.
    let exit = unsafe { host.vm.exit(LeftBy { exit: 1 << 32, base }, context) };
    assert_eq!((exit.kind(), exit.frames.len()), (None, 0));
    host.vm.forget(0, usize::MAX);
    assert!(host.vm.stats().traces.is_empty());
}

#[test]
fn effects_happen_as_often_as_iterations() {
    let mut host = Host::new(Config { threshold: 1, ..Config::exact() });
    host.frame[..2].copy_from_slice(&[int(0), int(10)]);
    let _ = host.back_edge(1);
    compiled(host.record(1, |tape| {
        tape.while_less(0, 0b11, 0, 1);
        tape.at(1, 0b11);
        let i = tape.int(0);
        tape.count(i);
        tape.add(2, 0b11, 0, 1);
    }));
    assert_eq!(host.run(1), Some((ExitKind::LoopEnd, 0)));
    assert_eq!(host.counted, 45);
}

#[test]
fn forced_exits_fail_one_guard_execution_and_change_nothing() {
    for n in 1..=25 {
        let mut host = summing(Config { force_exit: Some(n), ..Config::default() });
        host.frame[..3].copy_from_slice(&[int(0), int(0), int(20)]);
        // The guard stands first in the loop, so its nth execution is that of iteration n.
        let (kind, word) = host.run(1).unwrap();
        let done = (n as i64 - 1).min(20);
        assert_eq!((kind, word), (ExitKind::LoopEnd, 0));
        assert_eq!(host.frame[..2], [int(done * (done - 1) / 2), int(done)], "execution {n}");
        assert_eq!(host.run(1), Some((ExitKind::LoopEnd, 0)));
        assert_eq!(host.frame[..2], [int(190), int(20)], "goes on after execution {n}");
    }
}

#[test]
fn statistics_add_up_and_are_null_when_not_kept() {
    let mut host = summing(Config { count_iterations: true, count_guards: true, ..Config::default() });
    host.frame[..3].copy_from_slice(&[int(0), int(0), int(100)]);
    assert_eq!(host.run(1), Some((ExitKind::LoopEnd, 0)));
    let stats = host.vm.stats();
    // Two back edges in the interpreter (the one that recorded, the one that entered), 100 in the code.
    assert_eq!((stats.interpreted_back_edges, stats.compiled_iterations), (2, Some(100)));
    assert_eq!(stats.compiled_share, Some(100.0 / 102.0));
    assert_eq!(stats.guards_executed, Some(101));
    assert_eq!((stats.entries, stats.exits["loop_end"], stats.traces[0].exits["loop_end"]), (1, 1, 1));
    assert_eq!((stats.compile.traces, stats.compile.ops_recorded), (1, stats.traces[0].ops.0));
    let (compile, costs) = (&stats.compile, stats.costs.expect("a trace was made"));
    let whole = |per_op: f64, ops: u64| (per_op * ops as f64).round() as u64;
    assert_eq!(whole(costs.optimize_us_per_op, compile.ops_optimized), compile.optimize_us);
    assert_eq!(whole(costs.build_us_per_op, compile.ops_optimized), compile.build_us);
    let per_guard = costs.per_guard.expect("the trace has guards");
    assert_eq!(whole(per_guard.build_us + per_guard.machine_us, compile.guards), compile.codegen_us);
    assert_eq!(whole(per_guard.code_bytes, compile.guards), compile.code_bytes);
    assert_eq!(whole(per_guard.resume_bytes, compile.guards), compile.resume_bytes);
    assert!(compile.resume_bytes > 0 && stats.text().contains("us for each guard"), "{}", stats.text());
    let uncounted = summing(Config::default()).vm.stats();
    assert_eq!(CompileStats::default().costs(), None);
    assert!(uncounted.text().contains("guards executed: not counted"), "{}", uncounted.text());
    assert!(uncounted.text().contains("as machine code not counted"), "{}", uncounted.text());
    assert_eq!((uncounted.compiled_iterations, uncounted.guards_executed), (None, None));
    assert!(serde_json::to_string(&uncounted).unwrap().contains("\"compiled_iterations\":null"));
}

/// A loop must be left some day, by a guard or by a call that jumps out of it.
#[test]
fn a_loop_that_nothing_leaves_is_refused() {
    let mut host = Host::new(Config { threshold: 1, ..Config::exact() });
    host.frame[0] = int(1);
    let outcome = host.record(1, |tape| tape.add(0, 1, 0, 1));
    let CloseOutcome::Aborted(AbortReason::Misuse, sentence) = outcome else { panic!("{outcome:?}") };
    assert!(sentence.contains("nothing can leave the loop"), "{sentence}");
    // The guard is there, but tells the same in each iteration, so that none is left in the loop.
    let outcome = host.record(3, |tape| {
        tape.at(0, 1);
        let number = tape.int(0);
        tape.guard(number, ExitKind::Guard);
    });
    let CloseOutcome::Aborted(AbortReason::Endless, sentence) = outcome else { panic!("{outcome:?}") };
    assert!(sentence.contains("TL_EXIT_INTERRUPT"), "{sentence}");
    let outcome = host.record(5, |tape| {
        tape.add(0, 1, 0, 1);
        tape.at(1, 1);
        let number = tape.int(0);
        tape.guard(number, ExitKind::LoopEnd);
    });
    assert!(matches!(outcome, CloseOutcome::Compiled(_)), "{outcome:?}");
}

/// What 400 back edges of two loops lead to, one letter each: recorded and compiled `c`, given up by the host
/// `a`, thrown away by the seed `d`; running code `r`; nothing `.`. Recordings of the first loop always fail.
fn what_happens(seed: u64, keys: [usize; 2]) -> String {
    let mut host = Host::new(Config { threshold: 4, start_seed: Some(seed), ..Config::exact() });
    host.frame[..3].copy_from_slice(&[int(0), int(0), int(10)]);
    let mut letters = String::new();
    for n in 0..400 {
        let key = keys[n / 5 % 2];
        let letter = match host.back_edge(key) {
            Action::Nothing => '.',
            Action::Run(_) => 'r',
            Action::Record => {
                host.begin(key, |tape| {
                    tape.at(0, 0b111);
                    let mut value = tape.int(1);
                    tape.guard(value, ExitKind::LoopEnd);
                    for factor in 1..50 {
                        let factor = tape.constant(factor);
                        let Some(sum) = tape.op(Op::IntMul, &[value, factor]) else { return };
                        value = sum;
                    }
                    tape.write_int(1, value);
                });
                let failed = host.vm.recorder().is_some_and(|(recorder, _)| recorder.failure().is_some());
                if key == keys[0] && !failed {
                    host.vm.abort_recording(AbortReason::Abandoned);
                    'a'
                } else {
                    match host.vm.close_recording() {
                        CloseOutcome::Compiled(_) => 'c',
                        CloseOutcome::Aborted(AbortReason::Discarded, _) => 'd',
                        other => panic!("{other:?}"),
                    }
                }
            }
        };
        letters.push(letter);
    }
    let stats = host.vm.stats();
    let count = |letter: char| letters.matches(letter).count() as u64;
    assert_eq!(stats.recordings, count('a') + count('c') + count('d'));
    let aborts = |reason: AbortReason| stats.aborts.get(reason.name()).copied().unwrap_or(0);
    assert_eq!((aborts(AbortReason::Abandoned), aborts(AbortReason::Discarded)), (count('a'), count('d')));
    // Running code was offered, but not run: all back edges are the interpreter's.
    assert_eq!(stats.interpreted_back_edges, 400);
    letters
}

#[test]
fn a_start_seed_starts_recordings_at_random_and_throws_some_away() {
    let letters: Vec<String> = (1..=20).map(|seed| what_happens(seed, [2, 5])).collect();
    for (seed, found) in (1..=20).zip(&letters) {
        assert_eq!(*found, what_happens(seed, [2, 5]), "the same seed does the same");
        assert_eq!(*found, what_happens(seed, [0x7100, 0x8451]), "wherever the loops lie");
        // A recording that fails is not put off for longer and longer: 200 back edges, 4 for each on the
        // average.
        assert!(found.matches(['a', 'd']).count() > 25, "{found}");
        assert_eq!(found.matches('c').count(), 1, "{found}");
    }
    let all = letters.concat();
    assert!(all.contains("aa") && all.contains('d'));
    let first: std::collections::BTreeSet<_> =
        letters.iter().map(|found| found.find(['a', 'c', 'd'])).collect();
    assert!(first.len() > 3, "recordings always start at {first:?}");
}
