//! What the view counts is what has happened.
//!
//! Problem: counts on the page come from two sides, the host's exits and cells that code counts in, and the
//! code is made again when a tree becomes one function. Design: a loop of two ways, whose exits can be
//! counted by hand, runs as an interpreter would run it, before and after its traces are one function.
//! Invariant: each number is compared with what the program means.
//!
//! Example: `while i < n: if i % 3 == 0 then s = s + i else t = t + 1; i = i + 1`, with s, i, n, t in slots 0
//! to 3; trace 0 is the first way, traces 1 and 2 are the other one, from the loop and from its preamble.

mod support;

use support::*;
use tracelift_core::{ExitKind, Op};
use tracelift_runtime::view::functions::Told;
use tracelift_runtime::view::model::{Exit, Level, Location, Model, Trace};
use tracelift_runtime::{AbortReason, Action, CloseOutcome, Config, TraceId};

/// The loop's head, as an address of an instruction; words of resume points are the others'.
const HEAD: usize = 0x1000;
const ALL: u8 = 0b1111;

const SOURCE: &str = "local s, i, n, t = ...\nwhile i < n do\n  if i % 3 == 0 then\n    s = s + i\n  else \
                      t = t + 1 end\n  i = i + 1\nend\n";

fn config() -> Config {
    Config { threshold: 2, side_threshold: 2, count_iterations: true, view: true, ..Config::exact() }
}

/// A host that has told of its function.
fn host(config: Config) -> Host {
    let mut host = Host::new(config);
    host.vm.tell_function(&Told {
        low: HEAD,
        stride: 1,
        name: b"walk <&>",
        first_line: 1,
        source: SOURCE.as_bytes(),
        lines: &[2, 3, 4, 5, 6, 6],
        loops: &[(0, 5)],
    });
    host
}

fn word(index: u64) -> u64 {
    HEAD as u64 + index
}

fn divides(tape: &mut Tape<'_>, wanted: bool) {
    tape.at(word(1), ALL);
    let i = tape.int(1);
    let (three, zero) = (tape.constant(3), tape.constant(0));
    let rest = tape.op2(Op::IntRem, i, three);
    let condition = tape.op2(if wanted { Op::IntEq } else { Op::IntNe }, rest, zero);
    tape.guard(condition, ExitKind::Guard);
}

fn first_way(tape: &mut Tape<'_>) {
    tape.while_less(word(0), ALL, 1, 2);
    divides(tape, true);
    tape.at(word(2), ALL);
    let (s, i) = (tape.int(0), tape.int(1));
    let s = tape.op2(Op::IntAdd, s, i);
    tape.write_int(0, s);
    tape.add(word(4), ALL, 1, 1);
}

fn other_way(tape: &mut Tape<'_>) {
    divides(tape, false);
    tape.add(word(3), ALL, 3, 1);
    tape.add(word(4), ALL, 1, 1);
    tape.recorder.back_edge(HEAD, false);
    tape.at(word(0), ALL);
}

/// Runs from `i` up to `n`, the interpreter's part too; counts how often the program left by the guard, in
/// code, for the interpreter.
fn run(host: &mut Host, n: i64) {
    host.frame[..4].copy_from_slice(&[int(0), int(0), int(n), int(0)]);
    loop {
        let left = host.run(HEAD);
        let at_guard = matches!(left, Some((ExitKind::Guard, at)) if at == word(1));
        match left {
            Some((ExitKind::LoopEnd, _)) => break,
            _ if at_guard && matches!(host.next(), Action::Record) => {
                let base = host.base();
                assert!(host.vm.start_side(base));
                host.go_on(other_way);
                assert!(matches!(host.vm.link_recording(HEAD), CloseOutcome::Compiled(_)));
            }
            _ => {}
        }
        // One iteration in the interpreter.
        let [s, i, n, t] = [0, 1, 2, 3].map(|slot| host.frame[slot].payload as i64);
        if i >= n {
            break;
        }
        let next = if i % 3 == 0 { [s + i, i + 1, n, t] } else { [s, i + 1, n, t + 1] };
        host.frame[..4].copy_from_slice(&next.map(int));
    }
    let sum: i64 = (0..n).filter(|i| i % 3 == 0).sum();
    let state = [0, 1, 3].map(|slot| host.frame[slot].payload as i64);
    assert_eq!(state, [sum, n, (0..n).filter(|i| i % 3 != 0).count() as i64]);
}

/// The loop has code for its first way.
fn compiled(config: Config) -> Host {
    let mut host = host(config);
    host.frame[..4].copy_from_slice(&[int(0), int(0), int(100), int(0)]);
    while !matches!(host.back_edge(HEAD), Action::Record) {}
    assert!(matches!(host.record(HEAD, first_way), CloseOutcome::Compiled(_)));
    host
}

fn view(host: &mut Host) -> Model {
    let stats = host.vm.stats();
    host.vm.view(stats).expect("it was configured")
}

/// The exit by which the loop's way parts, over all exits that stand for it: the preamble has one, too.
fn parting(trace: &Trace) -> (u64, u64) {
    let is_it = |exit: &&Exit| exit.kind == "guard" && exit.place.as_ref().is_some_and(|at| at.line == 3);
    let exits = trace.exits.iter().filter(is_it);
    exits.fold((0, 0), |(host, side), exit| (host + exit.to_interpreter, side + exit.to_side))
}

#[test]
fn exits_are_counted_whoever_takes_over_there() {
    for no_regions in [true, false] {
        let mut host = compiled(Config { no_regions, ..config() });
        let rounds = 400;
        (0..rounds).for_each(|_| run(&mut host, 99));
        let regions = host.vm.stats().regions.map_or(0, |regions| regions.made);
        assert_eq!(regions > 0, !no_regions, "{regions} regions");
        let before = view(&mut host);
        (0..10).for_each(|_| run(&mut host, 99));
        let after = view(&mut host);
        // 66 of 99 iterations go the other way: each leaves the first trace, or begins in the other one.
        let taken = |model: &Model| {
            let (to_host, to_side) = parting(&model.traces[0]);
            to_host + to_side
        };
        assert_eq!(taken(&after) - taken(&before), 660, "no_regions: {no_regions}");
        assert_eq!(after.trace(TraceId(1)).expect("it is there").parent.map(|at| at.0), Some(TraceId(0)));
        let sums: u64 = after.traces[1..].iter().map(|side| side.entries).sum();
        let exits = after.traces.iter().flat_map(|trace| &trace.exits);
        assert_eq!(sums, exits.map(|exit| exit.to_side).sum::<u64>());
        let all = |model: &Model| model.locations[0].machine + model.locations[0].interpreted;
        let each = 99;
        let more = all(&after) - all(&before);
        assert!((10 * each - 20..=10 * each + 20).contains(&more), "{more} iterations");
    }
}

#[test]
fn lines_have_their_traces_and_their_heat() {
    let mut host = compiled(config());
    (0..50).for_each(|_| run(&mut host, 99));
    let model = view(&mut host);
    assert_eq!((model.files.len(), model.files[0].name.as_str()), (1, "[text 1]"));
    let lines = &model.files[0].lines;
    assert_eq!(lines.iter().map(|line| format!("{}\n", line.text)).collect::<String>(), SOURCE);
    assert!(lines[3].machine > 1000 && lines[3].traces == [TraceId(0)], "{:?}", lines[3]);
    assert!(lines[4].machine > 1000 && lines[4].traces == [TraceId(1), TraceId(2)], "{:?}", lines[4]);
    assert_eq!((lines[0].machine, lines[0].interpreted), (0, 0));
    let place = model.locations[0].place.as_ref().expect("the host has told of it");
    assert_eq!(place.name, "[text 1]:2 in walk <&>");
    let Location { machine, interpreted, .. } = model.locations[0];
    assert!(machine > 10 * interpreted && interpreted > 0, "{machine} {interpreted}");
    let trace = &model.traces[0];
    assert!(trace.recorded.iter().any(|op| op.at == Some((0, 4)) && op.text.contains("int_add")));
    assert!(trace.optimized.iter().any(|op| op.at == Some((0, 3)) && op.text.contains("guard")));
    assert!(trace.code.contains("exit 0"), "{}", trace.code);
}

#[test]
fn failed_attempts_say_where() {
    let mut host = host(config());
    host.frame[..4].copy_from_slice(&[int(0), int(0), int(100), int(0)]);
    for _ in 0..2 {
        while !matches!(host.back_edge(HEAD), Action::Record) {}
        host.begin(HEAD, |tape| {
            tape.while_less(word(0), ALL, 1, 2);
            tape.at(word(2), ALL);
        });
        host.vm.abort_recording(AbortReason::Host("call of print".into()));
    }
    // The function is freed, and another one lies there: that changes nothing.
    host.vm.forget(HEAD, HEAD + 6);
    let model = view(&mut host);
    let location = &model.locations[0];
    let failure = &location.failures[0];
    assert_eq!((failure.count, failure.reason.as_str()), (2, "call of print"));
    assert_eq!(failure.place.as_ref().map(|place| place.line), Some(4));
    assert_eq!((location.level, location.machine), (Level::Bad, 0));
    assert!(location.verdict.contains("call of print (at [text 1]:4 in walk <&>)"), "{}", location.verdict);
    assert_eq!(model.files[0].lines[3].failures.len(), 1);
}

#[test]
fn freed_traces_are_shown_as_they_were() {
    let mut host = compiled(config());
    (0..50).for_each(|_| run(&mut host, 99));
    let before = view(&mut host);
    host.vm.forget(HEAD, HEAD + 6);
    assert!(!host.vm.has_loop(HEAD));
    let after = view(&mut host);
    assert_eq!(after.traces.len(), before.traces.len());
    assert!(after.traces.iter().all(|trace| trace.state.is_empty()));
    let exits = |model: &Model| model.traces.iter().map(|trace| trace.exits.clone()).collect::<Vec<_>>();
    assert_eq!(exits(&after), exits(&before));
    assert_eq!(after.locations.len(), 1);
}

#[test]
fn without_the_setting_nothing_is_kept() {
    let mut host = compiled(Config { view: false, ..config() });
    run(&mut host, 99);
    let stats = host.vm.stats();
    assert!(host.vm.view(stats).is_none());
}
