//! One rule each: what memory holds at a call of the host, and what is known after it.
//!
//! Problem: the host looks at memory, and may change what it finds. Design: the loop of [`calls`], whose
//! function compares memory with what the interpreter would have there, and changes what a test says.
//! Invariant: what the recording names is stored, and what a call may change is read again. Example:
//! `nest.on_call(|visit| { visit.set(4, int(100)); true })`.
//!
//! [`calls`]: crate::calls

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use tracelift_core::ir::EntrySlot;
use tracelift_core::schema::Schema;
use tracelift_core::{ExitKind, Op};
use tracelift_runtime::recorder::{Closed, Finished, Forgotten, Recorder, Start};
use tracelift_runtime::{AbortReason, Action, Config, Vm};

use crate::calls::*;
use crate::pairs::{self, Pairs};
use crate::support::*;

// What memory holds.

#[test]
pub fn each_call_finds_all_live_slots_in_memory() {
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
        assert_eq!(visit.room(), (5 + 8, 1), "the inner frame has 8 slots: a byte of liveness");
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
pub fn null_leaves_after_the_call_and_writes_nothing() {
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
pub fn a_changed_slot_is_read_again() {
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
