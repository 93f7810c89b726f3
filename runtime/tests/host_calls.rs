//! Calls of the host from compiled code, one rule each: what memory holds at the call, what is known after
//! it, and what may happen meanwhile.
//!
//! Problem: a function of the host's may do anything, and the code that has called it goes on. Design: loops
//! that call one function ([`calls`]), which looks at memory and does what a test says: it runs, records,
//! compiles and forgets loops, the one that has called it among them. Invariant: what the program computes is
//! what the interpreter would compute. Example of the loop that most tests use, with s, i, n, t, r in slots 0
//! to 4: `while i < n: i = i + 1; r = f(); s = s + r; t = t + 2`; t is changed after the call only.

#[path = "support/calls.rs"]
mod calls;
#[path = "support/pairs.rs"]
mod pairs;
mod support;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use calls::*;
use pairs::Pairs;
use support::*;
use tracelift_core::ir::EntrySlot;
use tracelift_core::schema::Schema;
use tracelift_core::{ExitKind, Op};
use tracelift_runtime::recorder::{Closed, Finished, Forgotten, Recorder, Start};
use tracelift_runtime::{AbortReason, Action, CloseOutcome, Config, TraceId, Vm};

/// The head of the loop that calls.
const HEAD: usize = 1;
/// The head of a loop that does not.
const OTHER: usize = 2;
/// Live slots at the head, and while r is.
const LIVE: u8 = 0b0_1111;
const WITH_R: u8 = 0b1_1111;

/// The loop up to the call, which may change these slots.
fn first_half(tape: &mut Tape<'_>, calls: Calls, changed: &[i32]) {
    tape.while_less(0, LIVE, 1, 2);
    tape.add(1, LIVE, 1, 1);
    tape.at(2, LIVE);
    tape.call_host(calls, 1, changed);
    tape.at(3, WITH_R);
}

/// What comes after it.
fn second_half(tape: &mut Tape<'_>, calls: Calls) {
    let r = tape.know_int(calls, 4);
    let s = tape.int(0);
    let s = tape.op2(Op::IntAdd, s, r);
    tape.write_int(0, s);
    tape.add(4, LIVE, 3, 2);
}

fn whole(tape: &mut Tape<'_>, calls: Calls) {
    first_half(tape, calls, &[4]);
    second_half(tape, calls);
}

fn compiled(outcome: CloseOutcome) -> TraceId {
    match outcome {
        CloseOutcome::Compiled(number) => number,
        other => panic!("{other:?}"),
    }
}

/// A nest with code for such a loop.
fn nest_of(config: Config, iteration: impl FnOnce(&mut Tape<'_>, Calls)) -> Nest {
    let nest = Nest::new(config);
    let calls = nest.calls;
    nest.set(&[int(0), int(0), int(10), int(0), int(0)]);
    assert!(matches!(nest.host().back_edge(HEAD), Action::Record));
    compiled(nest.host().record(HEAD, |tape| iteration(tape, calls)));
    nest
}

/// Code for a loop without calls, which may run in the frame's upper half: s, i, n.
fn sum(tape: &mut Tape<'_>) {
    tape.while_less(10, 0b111, 1, 2);
    tape.at(11, 0b111);
    let (s, i) = (tape.int(0), tape.int(1));
    let s = tape.op2(Op::IntAdd, s, i);
    tape.write_int(0, s);
    tape.add(12, 0b111, 1, 1);
}

/// Records it, and forgets what it has done to the frame.
fn record_sum(host: &mut Host, key: usize) -> TraceId {
    let before = std::mem::replace(&mut host.first, UPPER);
    host.frame[UPPER..UPPER + 3].copy_from_slice(&[int(0), int(0), int(10)]);
    let number = compiled(host.record(key, sum));
    host.first = before;
    number
}

/// Runs it in the upper half.
fn run_sum(visit: &Visit<'_>, key: usize) {
    for (slot, value) in [0, 0, 10].into_iter().enumerate() {
        visit.host().frame[UPPER + slot] = int(value);
    }
    assert_eq!(visit.run(key), Some((ExitKind::LoopEnd, 10)));
    assert_eq!(visit.host().frame[UPPER], int(45));
}

fn alive(vm: &Vm) -> Vec<u32> {
    vm.stats().traces.iter().map(|trace| trace.number.0).collect()
}

/// Calls that may be open.
fn depth(vm: &mut Vm) -> u32 {
    // SAFETY: the list lives as long as the VM.
    unsafe { (*vm.calls()).depth }
}

/// Each bug that is planted in the service is seen by one of the tests below. What would not end, or run into
/// freed memory, is not planted.
#[cfg(feature = "planted-bugs")]
#[test]
fn planted_bugs_are_seen() {
    use tracelift_core::planted::{with_planted, Bug};
    let seen_by: [(Bug, fn()); 6] = [
        (Bug::CallSlotNotStored, each_call_finds_all_live_slots_in_memory),
        (Bug::CallEndNotStored, each_call_finds_all_live_slots_in_memory),
        (Bug::CallAnswerIgnored, null_leaves_after_the_call_and_writes_nothing),
        (Bug::CallSlotStillKnown, a_changed_slot_is_read_again),
        (Bug::CallEpochIgnored, memory_that_an_exit_in_the_call_has_used_is_asked_for_again),
        (Bug::CallForgottenFreed, calls_that_never_come_back_are_dropped_by_those_above),
    ];
    for &bug in Bug::OF_SERVICE {
        let (_, test) = seen_by.iter().find(|(of, _)| *of == bug).expect("each bug has its test");
        assert!(std::panic::catch_unwind(test).is_ok(), "{bug:?}: without the bug");
        assert!(std::panic::catch_unwind(|| with_planted(bug, test)).is_err(), "{bug:?} is not seen");
    }
}

// What memory holds.

#[test]
fn each_call_finds_all_live_slots_in_memory() {
    let nest = nest_of(Config::exact(), whole);
    let seen = Rc::new(RefCell::new(Vec::new()));
    let sees = seen.clone();
    nest.on_call(move |visit| {
        assert_eq!(visit.frames(), [(0, 2)]);
        sees.borrow_mut().push(visit.ints([0, 1, 2, 3]));
        visit.set(4, int(100));
        true
    });
    nest.set(&[int(5), int(0), int(4), int(7), float(0.5)]);
    assert_eq!(nest.run(HEAD), Some((ExitKind::LoopEnd, 0)));
    assert_eq!(nest.ints(), [405, 4, 4, 15]);
    let expected: Vec<[i64; 4]> = (0..4).map(|k| [5 + 100 * k, k + 1, 4, 7 + 2 * k]).collect();
    assert_eq!(*seen.borrow(), expected);
}

/// A slot that is not live at the call need not be there.
#[test]
fn what_is_dead_at_the_call_is_not_stored() {
    let nest = nest_of(Config::exact(), |tape, calls| {
        tape.at(0, LIVE);
        let five = tape.constant(5);
        tape.write_int(4, five);
        whole(tape, calls);
    });
    nest.on_call(|visit| {
        assert_eq!(visit.slot(4), float(0.5));
        visit.set(4, float(0.5));
        false
    });
    nest.set(&[int(5), int(0), int(4), int(7), float(0.5)]);
    assert_eq!(nest.run(HEAD), Some((ExitKind::Interrupt, 3)));
}

/// `x = i * 10; y = f(x)` in a function of its own, whose frame lies at slot 5: i, x, y; then s = s + y.
fn inlined(tape: &mut Tape<'_>, calls: Calls) {
    tape.while_less(0, 0b111, 1, 2);
    tape.add(1, 0b111, 1, 1);
    tape.at(2, 0b111);
    let i = tape.int(1);
    tape.write_int(5, i);
    tape.recorder.push_frame(5, &[2], &[0b111]);
    tape.at(100, 0b001);
    let (i, ten) = (tape.int(0), tape.constant(10));
    let x = tape.op2(Op::IntMul, i, ten);
    tape.write_int(1, x);
    tape.at(101, 0b011);
    tape.call_host(calls, 2, &[2]);
    tape.at(102, 0b111);
    let y = tape.know(calls, 5, 2, tape.ids.int).unwrap();
    tape.recorder.pop_frame();
    tape.write_int(3, y);
    tape.at(3, 0b1111);
    let (s, y) = (tape.int(0), tape.int(3));
    let s = tape.op2(Op::IntAdd, s, y);
    tape.write_int(0, s);
}

#[test]
fn slots_of_pushed_frames_are_in_memory_too() {
    let nest = nest_of(Config::exact(), inlined);
    nest.on_call(|visit| {
        assert_eq!((visit.number, visit.frames()), (2, vec![(0, 2), (5, 101)]));
        let [i, inner, x] = visit.ints([1, 5, 6]);
        assert_eq!((inner, x), (i, 10 * i));
        assert_eq!(visit.int(0), (1..i).map(|i| 11 * i).sum::<i64>());
        visit.set(7, int(x + i));
        i < 4
    });
    nest.set(&[int(0), int(0), int(3)]);
    assert_eq!(nest.run(HEAD), Some((ExitKind::LoopEnd, 0)));
    assert_eq!(nest.ints(), [66, 3, 3]);
    // Left in the function, which has two frames.
    nest.set(&[int(66), int(3), int(9)]);
    assert_eq!(nest.run(HEAD), Some((ExitKind::Interrupt, 102)));
    assert_eq!(
        nest.ints(),
        [66, 4, 9, 0, 0, 4, 40, 44].map(|n| if n == 0 { nest.ints::<4>()[3] } else { n })
    );
}

// What is known after it.

#[test]
fn a_result_of_another_type_leaves_after_the_call() {
    let nest = nest_of(Config::exact(), whole);
    nest.on_call(|visit| {
        let i = visit.int(1);
        visit.set(4, if i == 3 { float(0.25) } else { int(i) });
        true
    });
    nest.set(&[int(0), int(0), int(10), int(0), int(0)]);
    assert_eq!(nest.run(HEAD), Some((ExitKind::Guard, 3)));
    assert_eq!(nest.ints::<4>(), [3, 3, 10, 4]);
    assert_eq!(nest.host().frame[4], float(0.25), "memory alone knows the result");
}

#[test]
fn null_leaves_after_the_call_and_writes_nothing() {
    for n in [1, 2, 5] {
        let nest = nest_of(Config::exact(), whole);
        nest.on_call(move |visit| {
            visit.set(4, int(1));
            if visit.int(1) < n {
                return true;
            }
            // What the recording has not named.
            visit.set(0, int(-1));
            visit.set(3, float(1.5));
            false
        });
        nest.set(&[int(0), int(0), int(10), int(0), int(0)]);
        assert_eq!(nest.run(HEAD), Some((ExitKind::Interrupt, 3)));
        assert_eq!(nest.host().frame[..5], [int(-1), int(n), int(10), float(1.5), int(1)]);
    }
}

/// A slot that the loop reads at its head, and that the call may change.
#[test]
fn a_changed_slot_is_read_again() {
    let nest = nest_of(Config::exact(), |tape, calls| {
        tape.at(0, LIVE);
        let t = tape.int(3);
        let s = tape.int(0);
        let s = tape.op2(Op::IntAdd, s, t);
        tape.write_int(0, s);
        first_half(tape, calls, &[3, 4]);
        let forgotten = |tape: &Tape<'_>| [0, 3, 4].map(|slot| tape.recorder.is_slot_forgotten(slot));
        assert_eq!(forgotten(tape), [None, Some(Forgotten::ButCarried), Some(Forgotten::Quite)]);
        assert_eq!([0, 3, 4].map(|slot| tape.recorder.is_slot_known(slot)), [true, false, false]);
        tape.know_int(calls, 3);
        assert_eq!(forgotten(tape), [None, None, Some(Forgotten::Quite)]);
        second_half(tape, calls);
        assert_eq!(forgotten(tape), [None; 3]);
    });
    nest.on_call(|visit| {
        let t = visit.int(3);
        visit.set(3, int(10 * t));
        visit.set(4, int(0));
        true
    });
    nest.set(&[int(0), int(0), int(3), int(1), int(0)]);
    assert_eq!(nest.run(HEAD), Some((ExitKind::LoopEnd, 0)));
    // 1; 1 * 10 + 2 = 12; 122; 1222, and the sum is that of all heads but the last, where i = n.
    assert_eq!(nest.ints(), [1 + 12 + 122 + 1222, 3, 3, 1222]);
}

/// Records an iteration of a loop that memory shows these slots to.
fn close(
    slots: &[Slot],
    iteration: impl FnOnce(&mut Tape<'_>, Calls),
) -> (Result<Closed, (AbortReason, String)>, Schema) {
    let mut vm = Vm::new(Config::exact()).unwrap();
    let ids = describe(vm.schema_mut());
    let calls = Calls::declare(&mut vm);
    let schema = vm.schema_mut().clone();
    let mut frame = [Slot::default(); 16];
    frame[..slots.len()].copy_from_slice(slots);
    let base = frame.as_ptr().cast();
    let mut recorder = Recorder::new(1, base, LIMITS, Start::Loop { retries: 0 });
    iteration(&mut Tape { recorder: &mut recorder, schema: &schema, ids, base }, calls);
    (recorder.close(&schema), schema)
}

fn misuse(part: &str, iteration: impl FnOnce(&mut Tape<'_>, Calls)) {
    match close(&[int(0); 5], iteration).0 {
        Err((AbortReason::Misuse, sentence)) => assert!(sentence.contains(part), "{sentence}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_the_head_knew_must_be_known_at_the_end() {
    misuse("slot 3 is not known at the loop's end after tl_host_call", |tape, calls| {
        tape.at(0, LIVE);
        tape.int(3);
        first_half(tape, calls, &[3, 4]);
    });
}

#[test]
fn a_slot_that_only_the_call_changes_is_no_input() {
    let (closed, _) =
        close(&[int(0), int(0), int(3), int(0)], |tape, calls| first_half(tape, calls, &[0, 3, 4]));
    let Ok(Closed::Loop(Finished { trace, sites, .. })) = closed else { panic!("{closed:?}") };
    let slots = |entry: &[EntrySlot]| entry.iter().map(|entry| entry.slot).collect::<Vec<_>>();
    assert_eq!((slots(&trace.entry), slots(&trace.entry_tags)), (vec![1, 2], vec![]));
    assert_eq!(sites.len(), 1);
    // No exit writes it.
    let slots = trace.snapshots.iter().flat_map(|snapshot| &snapshot.frames[0].slots);
    assert!(slots.into_iter().all(|slot| slot.slot == 1));
}

/// Slot 5 is live all along; only the call changes it, and only what comes after the call looks at it. Memory
/// has it right at each exit.
#[test]
fn a_slot_that_is_first_read_after_the_call_is_right() {
    let all = 0b11_1111;
    let nest = nest_of(Config::exact(), |tape, calls| {
        tape.while_less(0, all, 1, 2);
        tape.add(1, all, 1, 1);
        tape.at(2, all);
        tape.call_host(calls, 1, &[4, 5]);
        tape.at(3, all);
        let [a, b] = [4, 5].map(|slot| tape.know_int(calls, slot));
        let sum = tape.op2(Op::IntAdd, a, b);
        let s = tape.int(0);
        let s = tape.op2(Op::IntAdd, s, sum);
        tape.write_int(0, s);
        tape.add(4, all, 3, 2);
    });
    nest.on_call(|visit| {
        visit.set(4, int(0));
        visit.set(5, int(visit.int(5) + visit.int(1)));
        true
    });
    nest.set(&[int(0), int(0), int(3), int(0), int(0), int(100)]);
    assert_eq!(nest.run(HEAD), Some((ExitKind::LoopEnd, 0)));
    assert_eq!(nest.ints(), [101 + 103 + 106, 3, 3, 6, 0, 106]);
}

/// Whatever the host says of liveness, the trace is one.
#[test]
fn a_forgotten_slot_that_was_read_though_dead_makes_no_broken_trace() {
    let (closed, schema) = close(&[int(0); 5], |tape, calls| {
        tape.at(0, 0b0111);
        let t = tape.int(3);
        let s = tape.op2(Op::IntAdd, t, t);
        tape.write_int(0, s);
        first_half(tape, calls, &[3, 4]);
    });
    let Ok(Closed::Loop(Finished { trace, .. })) = closed else { panic!("{closed:?}") };
    let errors = tracelift_core::verify::verify(&trace, &schema, tracelift_core::verify::Mode::Recorded);
    assert!(errors.is_empty(), "{errors:?}");
}

#[test]
fn what_a_call_answers_is_looked_at_before_anything_else() {
    let next = "what follows tl_host_call is tl_resume_point in the same frame";
    let called = |tape: &mut Tape<'_>, calls| {
        tape.while_less(0, LIVE, 1, 2);
        tape.at(2, LIVE);
        tape.call_host(calls, 1, &[4]);
    };
    misuse(next, called);
    misuse(next, |tape, calls| {
        called(tape, calls);
        assert_eq!(tape.know(calls, 0, 4, tape.ids.int), None);
        tape.at(3, LIVE);
    });
    misuse(next, |tape, calls| {
        called(tape, calls);
        let five = tape.constant(5);
        tape.write_int(0, five);
        tape.at(3, LIVE);
    });
    misuse(next, |tape, calls| {
        called(tape, calls);
        tape.recorder.push_frame(5, &[2], &[LIVE]);
        tape.at(3, LIVE);
        tape.recorder.pop_frame();
        tape.at(4, LIVE);
    });
    misuse(next, |tape, calls| {
        tape.at(0, LIVE);
        tape.recorder.push_frame(5, &[2], &[LIVE]);
        tape.at(3, 0);
        tape.call_host(calls, 1, &[]);
        tape.recorder.pop_frame();
        tape.at(4, LIVE);
    });
    misuse(next, |tape, calls| {
        called(tape, calls);
        tape.call_host(calls, 1, &[]);
        tape.at(3, LIVE);
    });
}

#[test]
fn calls_are_made_where_the_interpreter_could_go_on() {
    misuse("before the first tl_resume_point", |tape, calls| tape.call_host(calls, 1, &[]));
    misuse("after an effect", |tape, calls| {
        tape.add(0, LIVE, 1, 1);
        tape.call_host(calls, 1, &[]);
    });
    misuse("is read after tl_host_call and before tl_slot_known", |tape, calls| {
        first_half(tape, calls, &[4]);
        assert_eq!(tape.read(4, tape.ids.int), None);
    });
    misuse("slot -1 of the frame", |tape, calls| first_half(tape, calls, &[-1]));
    misuse("tl_slot_known: slot 0 is one that tl_slot_read reads", |tape, calls| {
        first_half(tape, calls, &[4]);
        let int = tape.ids.int;
        let five = tape.constant(5);
        tape.recorder.know_slot(0, int, Some(five), tape.schema);
    });
}

// What runs in the call.

#[test]
fn other_code_and_the_same_code_run_in_the_call() {
    let nest = nest_of(Config::exact(), whole);
    record_sum(nest.host(), OTHER);
    nest.on_call(|visit| {
        let is_nested = visit.frame == visit.host().frame[UPPER..].as_mut_ptr();
        visit.set(4, int(1));
        if !is_nested {
            run_sum(visit, OTHER);
            let i = visit.int(1);
            visit.host().frame[UPPER..UPPER + 4].copy_from_slice(&[int(0), int(0), int(i), int(i)]);
            assert_eq!(visit.run(HEAD), Some((ExitKind::LoopEnd, 0)));
            assert_eq!(visit.host().frame[UPPER..UPPER + 4], [int(i), int(i), int(i), int(3 * i)]);
        }
        true
    });
    nest.set(&[int(0), int(0), int(60), int(0), int(0)]);
    assert_eq!(nest.run(HEAD), Some((ExitKind::LoopEnd, 0)));
    assert_eq!(nest.ints(), [60, 60, 60, 120]);
    assert_eq!(depth(&mut nest.host().vm), 0);
    let exits = nest.host().vm.stats().exits;
    assert_eq!(exits["loop_end"], 121);
}

#[test]
fn loops_are_recorded_and_compiled_in_the_call() {
    let nest = nest_of(Config::exact(), whole);
    nest.on_call(|visit| {
        let key = 10 + 2 * visit.int(1) as usize;
        visit.set(4, int(1));
        record_sum(visit.host(), key);
        run_sum(visit, key);
        true
    });
    nest.set(&[int(0), int(0), int(20), int(0), int(0)]);
    assert_eq!(nest.run(HEAD), Some((ExitKind::LoopEnd, 0)));
    assert_eq!(nest.ints(), [20, 20, 20, 40]);
    assert_eq!(alive(&nest.host().vm).len(), 21);
}

#[test]
fn forgotten_code_runs_on_and_is_freed_when_no_call_is_open() {
    for fails in [false, true] {
        let nest = nest_of(Config::exact(), whole);
        record_sum(nest.host(), OTHER);
        nest.on_call(move |visit| {
            let i = visit.int(1);
            visit.set(4, if fails && i == 8 { float(1.5) } else { int(1) });
            match i {
                3 => {
                    run_sum(visit, OTHER);
                    visit.host().vm.forget(OTHER, OTHER + 1);
                    assert_eq!(alive(&visit.host().vm), [0, 1]);
                    assert_eq!(visit.run(OTHER), None);
                    visit.host().vm.forget(HEAD, HEAD + 1);
                    assert_eq!(visit.run(HEAD), None);
                }
                4 => {
                    record_sum(visit.host(), OTHER);
                    run_sum(visit, OTHER);
                    assert_eq!(alive(&visit.host().vm), [0, 1, 2]);
                }
                _ => {}
            }
            true
        });
        nest.set(&[int(0), int(0), int(20), int(0), int(0)]);
        let left = nest.run(HEAD);
        if fails {
            assert_eq!(left, Some((ExitKind::Guard, 3)));
            assert_eq!(nest.ints::<4>(), [7, 8, 20, 14]);
        } else {
            assert_eq!(left, Some((ExitKind::LoopEnd, 0)));
            assert_eq!(nest.ints(), [20, 20, 20, 40]);
        }
        let base = nest.host().base();
        // SAFETY: the last exit was from code that ran in this frame.
        assert!(matches!(unsafe { nest.host().vm.next(base) }, Action::Nothing));
        assert!(matches!(nest.host().back_edge(5), Action::Record));
        assert_eq!(alive(&nest.host().vm), [2]);
    }
}

/// An error or a yield takes no call back from the list.
#[test]
fn calls_that_never_come_back_are_dropped_by_those_above() {
    let nest = nest_of(Config::exact(), whole);
    let places = [0u8; 256];
    let place = |n: usize| std::ptr::from_ref(&places[n]) as usize;
    let vm = &mut nest.host().vm;
    vm.begin_call(place(255));
    vm.begin_call(place(99));
    vm.begin_call(place(10));
    assert_eq!(depth(vm), 3);
    // A longjmp has left both inner ones: their places are used again.
    vm.begin_call(place(99));
    assert_eq!(depth(vm), 2);
    vm.begin_call(place(100));
    assert_eq!(depth(vm), 2);
    vm.forget(HEAD, HEAD + 1);
    assert_eq!(alive(vm), [0], "a call is open above");
    // The outer one comes back.
    let epoch = vm.begin_call(place(50));
    assert!(vm.end_call(TraceId(0), place(255), epoch));
    assert_eq!(depth(vm), 0);
    vm.forget(HEAD, HEAD + 1);
    assert_eq!(alive(vm), [0], "there was nothing new to forget");
    let _ = nest.host().back_edge(HEAD);
    assert!(alive(&nest.host().vm).is_empty());
}

/// What stands on the stack where no call is can free the code, whatever the list says.
#[test]
fn an_open_call_that_lies_below_is_over() {
    let nest = nest_of(Config::exact(), whole);
    #[inline(never)]
    fn deep(vm: &mut Vm, levels: usize) -> usize {
        let place = std::hint::black_box([levels; 64]);
        match levels {
            0 => _ = vm.begin_call(std::ptr::from_ref(&place) as usize),
            _ => _ = deep(vm, levels - 1),
        }
        std::hint::black_box(place)[0]
    }
    deep(&mut nest.host().vm, 1000);
    assert_eq!(depth(&mut nest.host().vm), 1);
    nest.host().vm.forget(HEAD, HEAD + 1);
    assert!(alive(&nest.host().vm).is_empty());
}

/// A call costs more than the interpreter's: what lies between has to make up for it. Where thresholds alone
/// decide, all of it is compiled.
#[test]
fn loops_with_little_between_calls_are_left_to_the_interpreter() {
    let outcome = |config: Config, more: i32| {
        let nest = Nest::of(config);
        let calls = nest.calls;
        nest.set(&[int(0), int(0), int(10), int(0), int(0)]);
        nest.host().record(HEAD, |tape| {
            whole(tape, calls);
            (0..more).for_each(|n| tape.add(5 + n as u64, LIVE, 3, 1));
        })
    };
    let refused = outcome(Config::default(), 0);
    assert!(matches!(refused, CloseOutcome::Aborted(AbortReason::MostlyCalls, _)), "{refused:?}");
    compiled(outcome(Config::default(), 12));
    compiled(outcome(Config::exact(), 0));
}

#[test]
fn more_calls_than_can_be_told_apart_free_nothing() {
    let nest = nest_of(Config::exact(), whole);
    let places = [0u8; 1024];
    let vm = &mut nest.host().vm;
    let start = std::ptr::from_ref(&places[1023]) as usize;
    for n in 0..=400 {
        let epoch = vm.begin_call(start - n);
        if n == 400 {
            assert!(vm.end_call(TraceId(0), start - n, epoch));
        }
    }
    assert_eq!(depth(vm), 400);
    for n in (0..400).rev() {
        // SAFETY: the list lives as long as the VM.
        let epoch = unsafe { (*vm.calls()).epoch };
        assert!(vm.end_call(TraceId(0), start - n, epoch));
    }
    assert_eq!(depth(vm), 0);
    vm.forget(HEAD, HEAD + 1);
    let _ = nest.host().back_edge(HEAD);
    assert_eq!(alive(&nest.host().vm), [0]);
}

// Memory for exits.

thread_local! {
    /// How many pairs the host can hold.
    static CAN_HOLD: Cell<u32> = const { Cell::new(u32::MAX) };
    /// How often it was asked.
    static ASKED: Cell<u32> = const { Cell::new(0) };
}

unsafe extern "C" fn hold(
    _: *mut std::ffi::c_void,
    _layout: u32,
    _items: u32,
    _keys: u32,
    count: u32,
) -> i32 {
    ASKED.set(ASKED.get() + 1);
    i32::from(count <= CAN_HOLD.get())
}

/// `while i < n: i = i + 1; r = f(); s = s + r; p = new pair(i) [and as many more]; if t < 1000 fails: leave;
/// s = s + p.number`, with p in slot 5 and the others above it; an exit with t >= 1000 makes them.
fn with_pairs(tape: &mut Tape<'_>, calls: Calls, pairs: Pairs, count: i32) {
    first_half(tape, calls, &[4]);
    let r = tape.know_int(calls, 4);
    let s = tape.int(0);
    let s = tape.op2(Op::IntAdd, s, r);
    tape.write_int(0, s);
    make_pairs(tape, pairs, count);
}

fn make_pairs(tape: &mut Tape<'_>, pairs: Pairs, count: i32) {
    for slot in 5..5 + count {
        tape.at(4, LIVE);
        let p = tape.new_pair(pairs);
        let i = tape.int(1);
        tape.set(p, pairs.number, i);
        tape.write(slot, pairs.tag, Some(p));
    }
    tape.at(5, 0xff);
    let (t, limit) = (tape.int(3), tape.constant(1000));
    let less = tape.op2(Op::IntLt, t, limit);
    tape.guard(less, ExitKind::Guard);
    tape.at(6, 0xff);
    let p = tape.read(5, pairs.tag).expect("a pair");
    let (s, number) = (tape.int(0), tape.get(p, pairs.number));
    let s = tape.op2(Op::IntAdd, s, number);
    tape.write_int(0, s);
}

fn nest_of_pairs() -> (Nest, Pairs) {
    let nest = Nest::new(Config { side_threshold: 1, ..Config::exact() });
    let pairs = Pairs::declare(&mut nest.host().vm);
    // SAFETY: the function needs no context.
    unsafe { nest.host().vm.set_reserve(pairs.layout, hold, std::ptr::null_mut()) };
    CAN_HOLD.set(u32::MAX);
    let calls = nest.calls;
    nest.set(&[int(0), int(0), int(10), int(0), int(0)]);
    assert!(matches!(nest.host().back_edge(HEAD), Action::Record));
    compiled(nest.host().record(HEAD, |tape| with_pairs(tape, calls, pairs, 1)));
    (nest, pairs)
}

/// In the call the loop itself runs and leaves by the exit that makes a pair.
fn spends(visit: &Visit<'_>) {
    let is_nested = visit.frame == visit.host().frame[UPPER..].as_mut_ptr();
    visit.set(4, int(0));
    if !is_nested && visit.int(1) == 2 {
        visit.host().frame[UPPER..UPPER + 4].copy_from_slice(&[int(0), int(0), int(9), int(1000)]);
        let made = pairs::made();
        assert_eq!(visit.run(HEAD), Some((ExitKind::Guard, 5)));
        assert_eq!(pairs::made(), made + 1);
    }
}

#[test]
fn memory_that_an_exit_in_the_call_has_used_is_asked_for_again() {
    let (nest, _) = nest_of_pairs();
    nest.on_call(|visit| {
        spends(visit);
        true
    });
    for n in [3, 4] {
        let asked = ASKED.get();
        nest.set(&[int(0), int(0), int(n), int(0), int(0)]);
        assert_eq!(nest.run(HEAD), Some((ExitKind::LoopEnd, 0)));
        assert_eq!(nest.ints(), [n * (n + 1) / 2, n, n, 0]);
        assert_eq!(ASKED.get(), asked + 1);
    }
    // Where it is refused the code is left.
    nest.on_call(|visit| {
        spends(visit);
        CAN_HOLD.set(0);
        true
    });
    nest.set(&[int(0), int(0), int(5), int(0), int(0)]);
    assert_eq!(nest.run(HEAD), Some((ExitKind::Interrupt, 3)));
    assert_eq!(nest.ints(), [1, 2, 5, 0]);
    assert_eq!(nest.run(HEAD), None, "nor is it entered");
    CAN_HOLD.set(1);
    nest.on_call(|visit| {
        visit.set(4, int(0));
        true
    });
    assert_eq!(nest.run(HEAD), Some((ExitKind::LoopEnd, 0)));
}

/// The side trace that is linked to the loop in the call may make two pairs where it is left.
#[test]
fn a_side_trace_that_is_linked_in_the_call_needs_more() {
    for can_hold in [1, 2] {
        let (nest, pairs) = nest_of_pairs();
        nest.on_call(move |visit| {
            spends(visit);
            let is_nested = visit.frame == visit.host().frame[UPPER..].as_mut_ptr();
            if is_nested || visit.int(1) != 2 {
                return true;
            }
            CAN_HOLD.set(can_hold);
            let host = visit.host();
            host.first = UPPER;
            let base = host.base();
            // SAFETY: the last exit was from code that ran there.
            assert!(matches!(unsafe { host.vm.next(base) }, Action::Record));
            assert!(host.vm.start_side(base));
            host.go_on(|tape| {
                tape.at(5, 0xff);
                let (t, limit) = (tape.int(3), tape.constant(1000));
                let less = tape.op2(Op::IntLt, t, limit);
                tape.op(Op::GuardFalse, &[less]);
                let i = tape.int(1);
                tape.write_int(3, i);
                make_pairs(tape, pairs, 2);
                tape.recorder.back_edge();
                tape.at(0, LIVE);
            });
            compiled(host.vm.link_recording(HEAD));
            host.first = 0;
            true
        });
        nest.set(&[int(0), int(0), int(3), int(0), int(0)]);
        let left = nest.run(HEAD);
        if can_hold == 1 {
            assert_eq!((left, nest.ints()), (Some((ExitKind::Interrupt, 3)), [1, 2, 3, 0]));
        } else {
            assert_eq!((left, nest.ints()), (Some((ExitKind::LoopEnd, 0)), [6, 3, 3, 0]));
        }
    }
}

/// Another loop wants more of the same shape than the host can hold: what was held before may be gone.
#[test]
fn what_a_loop_compiled_in_the_call_could_not_get_is_missed_by_the_others() {
    let (nest, pairs) = nest_of_pairs();
    let calls = nest.calls;
    nest.on_call(move |visit| {
        visit.set(4, int(0));
        if visit.int(1) == 2 {
            CAN_HOLD.set(1);
            let host = visit.host();
            host.first = UPPER;
            host.frame[UPPER..UPPER + 4].copy_from_slice(&[int(0), int(0), int(9), int(0)]);
            compiled(host.record(OTHER, |tape| with_pairs(tape, calls, pairs, 2)));
            host.first = 0;
        }
        true
    });
    nest.set(&[int(0), int(0), int(3), int(0), int(0)]);
    assert_eq!(nest.run(HEAD), Some((ExitKind::Interrupt, 3)));
}

// Recordings that wait.

fn waits(nest: &Nest, key: usize) -> u32 {
    assert!(matches!(nest.host().back_edge(key), Action::Record));
    nest.host().begin(key, |tape| tape.add(0, LIVE, 1, 1));
    nest.host().vm.put_recording_aside().expect("there is a recording")
}

#[test]
fn a_recording_that_waits_goes_on_where_it_was() {
    let nest = Nest::new(Config::exact());
    let calls = nest.calls;
    nest.set(&[int(0), int(0), int(10), int(0), int(0)]);
    assert!(matches!(nest.host().back_edge(HEAD), Action::Record));
    nest.host().begin(HEAD, |tape| {
        tape.while_less(0, LIVE, 1, 2);
        tape.add(1, LIVE, 1, 1);
        tape.at(2, LIVE);
        tape.call_host(calls, 1, &[4]);
    });
    let number = nest.host().vm.put_recording_aside().expect("there is a recording");
    assert!(nest.host().vm.recorder().is_none() && nest.host().vm.put_recording_aside().is_none());
    nest.set(&[int(0), int(1), int(10), int(0), int(5)]);
    record_sum(nest.host(), OTHER);
    let again = waits(&nest, 3);
    assert!(nest.host().vm.wake_recording(again));
    assert!(!nest.host().vm.wake_recording(number), "another one is in progress");
    nest.host().vm.abort_recording(AbortReason::Host("enough".into()));
    assert!(nest.host().vm.wake_recording(number));
    assert!(!nest.host().vm.wake_recording(number), "it is awake");
    nest.host().go_on(|tape| {
        tape.at(3, WITH_R);
        second_half(tape, calls);
    });
    compiled(nest.host().vm.close_recording());
    nest.on_call(|visit| {
        visit.set(4, int(1));
        true
    });
    nest.set(&[int(0), int(0), int(7), int(0), int(0)]);
    assert_eq!(nest.run(HEAD), Some((ExitKind::LoopEnd, 0)));
    assert_eq!(nest.ints(), [7, 7, 7, 14]);
}

#[test]
fn a_loop_whose_recording_waits_is_not_recorded_again() {
    let nest = Nest::new(Config::exact());
    nest.set(&[int(0), int(0), int(10), int(0), int(0)]);
    let number = waits(&nest, HEAD);
    for _ in 0..10 {
        assert!(matches!(nest.host().back_edge(HEAD), Action::Nothing));
    }
    assert!(nest.host().vm.wake_recording(number));
    nest.host().vm.abort_recording(AbortReason::Host("enough".into()));
    let edges = (0..1_000).find(|_| matches!(nest.host().back_edge(HEAD), Action::Record));
    assert!(edges.is_some(), "when it is over, it is tried again");
}

#[test]
fn of_many_recordings_that_wait_the_oldest_is_given_up() {
    let nest = Nest::new(Config::exact());
    nest.set(&[int(0), int(0), int(10), int(0), int(0)]);
    let numbers: Vec<u32> = (1..=10).map(|key| waits(&nest, key)).collect();
    assert_eq!(nest.host().vm.stats().aborts["long call"], 2);
    for (n, &number) in numbers.iter().enumerate().rev() {
        assert_eq!(nest.host().vm.wake_recording(number), n >= 2, "{n}");
        if n >= 2 {
            nest.host().vm.abort_recording(AbortReason::Host("enough".into()));
        }
    }
    // Forgotten while it waits.
    let number = waits(&nest, 20);
    nest.host().vm.forget(20, 21);
    assert!(!nest.host().vm.wake_recording(number));
}

/// A side trace that waits: in the call the same exit is taken again.
#[test]
fn an_exit_whose_recording_waits_is_not_recorded_again() {
    let nest = nest_of(Config { side_threshold: 1, ..Config::exact() }, whole);
    nest.on_call(|visit| {
        visit.set(4, float(0.5));
        true
    });
    let leaves = || {
        nest.set(&[int(0), int(0), int(10), int(0), int(0)]);
        assert_eq!(nest.run(HEAD), Some((ExitKind::Guard, 3)));
        let base = nest.host().base();
        // SAFETY: the last exit was from code that ran in this frame.
        unsafe { nest.host().vm.next(base) }
    };
    assert!(matches!(leaves(), Action::Record));
    let base = nest.host().base();
    assert!(nest.host().vm.start_side(base));
    let number = nest.host().vm.put_recording_aside().expect("a recording");
    for _ in 0..10 {
        assert!(matches!(leaves(), Action::Nothing));
    }
    assert!(nest.host().vm.wake_recording(number));
    nest.host().vm.abort_recording(AbortReason::Host("enough".into()));
    assert!((0..1000).any(|_| matches!(leaves(), Action::Record)));
}

// Objects.

/// `while i < n: i = i + 1; p = new pair(i) in slot 5; q = new pair(i) in slot 6; h.link = p;
/// s = s + q.number; f(); s = s + p.number`, with h in slot 3; q is dead at the call.
fn with_objects(tape: &mut Tape<'_>, calls: Calls, pairs: Pairs) {
    let (with_p, all) = (0b010_1111, 0b110_1111);
    tape.while_less(0, LIVE, 1, 2);
    tape.add(1, LIVE, 1, 1);
    for (slot, live) in [(5, LIVE), (6, with_p)] {
        tape.at(2, live);
        let new = tape.new_pair(pairs);
        let i = tape.int(1);
        tape.set(new, pairs.number, i);
        tape.write(slot, pairs.tag, Some(new));
    }
    tape.at(3, all);
    let h = tape.read(3, pairs.tag).expect("a pair");
    let [p, q] = [5, 6].map(|slot| tape.read(slot, pairs.tag).expect("a pair"));
    tape.guard_pair(h, pairs);
    tape.set(h, pairs.link, p);
    let (s, number) = (tape.int(0), tape.get(q, pairs.number));
    let s = tape.op2(Op::IntAdd, s, number);
    tape.write_int(0, s);
    tape.at(4, with_p);
    tape.call_host(calls, 1, &[]);
    tape.at(5, with_p);
    let (s, number) = (tape.int(0), tape.get(p, pairs.number));
    let s = tape.op2(Op::IntAdd, s, number);
    tape.write_int(0, s);
}

#[test]
fn objects_that_the_host_can_find_are_real_in_the_call() {
    let nest = Nest::new(Config::exact());
    let pairs = Pairs::declare(&mut nest.host().vm);
    let calls = nest.calls;
    let h = pairs::pair(0, 0);
    nest.set(&[int(0), int(0), int(10), pairs::slot(h), int(0)]);
    assert!(matches!(nest.host().back_edge(HEAD), Action::Record));
    compiled(nest.host().record(HEAD, |tape| with_objects(tape, calls, pairs)));
    let found = Rc::new(Cell::new(0));
    let finds = found.clone();
    nest.on_call(move |visit| {
        let p = visit.slot(5).payload;
        let [_, number, _] = pairs::read(p);
        assert_eq!(number as i64, visit.int(1));
        assert_eq!(pairs::read(visit.slot(3).payload)[2], p, "the store was made, and of the same object");
        assert_ne!(finds.replace(p), p);
        // SAFETY: a pair; its second word is the number.
        unsafe { *(p as *mut u64).add(1) += 1000 };
        visit.int(1) < 20
    });
    let made = pairs::made();
    nest.set(&[int(0), int(0), int(10)]);
    assert_eq!(nest.run(HEAD), Some((ExitKind::LoopEnd, 0)));
    assert_eq!(nest.ints::<3>(), [55 + 10 * 1000 + 55, 10, 10]);
    assert_eq!(pairs::made(), made + 10, "what is dead at the call is never made");
    nest.set(&[int(0), int(19), int(30)]);
    assert_eq!(nest.run(HEAD), Some((ExitKind::Interrupt, 5)));
    assert_eq!(nest.host().frame[5], pairs::slot(found.get()));
}

// Threads.

/// Two threads; the stack of the first lies above that of the second, or below it.
fn on_two_threads(first_is_above: bool, first: impl FnOnce(&dyn Fn(Box<dyn FnOnce() + Send>)) + Send) {
    use std::sync::mpsc::channel;
    type Task<'a> = Box<dyn FnOnce() + Send + 'a>;
    std::thread::scope(|scope| {
        let worker = || {
            let (place, place_of) = channel::<usize>();
            let (task, tasks) = channel::<Task<'_>>();
            let (done, is_done) = channel::<()>();
            scope.spawn(move || {
                let here = 0u8;
                place.send(std::ptr::from_ref(&here) as usize).unwrap();
                for task in tasks {
                    task();
                    done.send(()).unwrap();
                }
            });
            (place_of.recv().unwrap(), task, is_done)
        };
        let (a, b) = (worker(), worker());
        let (upper, lower) = if a.0 > b.0 { (a, b) } else { (b, a) };
        let (one, other) = if first_is_above { (upper, lower) } else { (lower, upper) };
        let (_, send, is_done) = other;
        let task = move || {
            first(&move |task| {
                send.send(task).unwrap();
                is_done.recv().unwrap();
            })
        };
        one.1.send(Box::new(task)).unwrap();
        one.2.recv().unwrap();
    });
}

/// A number for what other threads may not have.
#[derive(Clone, Copy)]
struct Shared(*const Nest);
// SAFETY: in these tests one thread at a time uses the nest.
unsafe impl Send for Shared {}
impl Shared {
    fn get(&self) -> &Nest {
        // SAFETY: it lives to the end of the test.
        unsafe { &*self.0 }
    }
}

#[test]
fn code_stays_while_a_call_of_another_thread_is_open() {
    for first_is_above in [false, true] {
        on_two_threads(first_is_above, |elsewhere| {
            let nest = nest_of(Config::exact(), whole);
            record_sum(nest.host(), OTHER);
            record_sum(nest.host(), OTHER + 2);
            let shared = Shared(&nest);
            // SAFETY: it is called only in this function.
            let elsewhere: &'static dyn Fn(Box<dyn FnOnce() + Send>) =
                unsafe { std::mem::transmute(elsewhere) };
            nest.on_call(move |visit| {
                visit.set(4, int(1));
                if visit.int(1) == 2 {
                    elsewhere(Box::new(move || {
                        let nest = shared.get();
                        let slots = [int(0), int(0), int(10)];
                        for key in [OTHER, OTHER + 2, OTHER] {
                            nest.host().frame[UPPER..UPPER + 3].copy_from_slice(&slots);
                            assert_eq!(nest.run_upper(key), Some((ExitKind::LoopEnd, 10)));
                        }
                        nest.host().vm.forget(HEAD, OTHER + 1);
                        assert_eq!(nest.run_upper(OTHER), None);
                        assert_eq!(alive(&nest.host().vm), [0, 1, 2]);
                        assert_eq!(depth(&mut nest.host().vm), 0, "of this thread");
                    }));
                }
                true
            });
            nest.set(&[int(0), int(0), int(9), int(0), int(0)]);
            assert_eq!(nest.run(HEAD), Some((ExitKind::LoopEnd, 0)));
            assert_eq!(nest.ints(), [9, 9, 9, 18]);
            let _ = nest.host().back_edge(HEAD);
            assert_eq!(alive(&nest.host().vm), [2]);
        });
    }
}
