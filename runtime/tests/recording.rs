//! The recorder's rules, one test each: slots, snapshots, frames, limits.

mod support;

use support::*;
use tracelift_core::ir::EntrySlot;
use tracelift_core::snapshot::Source;
use tracelift_core::text::print_trace;
use tracelift_core::{ExitKind, Op, Schema, Trace};
use tracelift_runtime::recorder::{Closed, Finished, Limits, Recorder, Start};
use tracelift_runtime::AbortReason;

/// Records with those limits over those slots and closes.
fn close_with(
    limits: Limits,
    slots: &[Slot],
    iteration: impl FnOnce(&mut Tape<'_>),
) -> (Result<Closed, (AbortReason, String)>, Schema) {
    let mut schema = Schema::new();
    let ids = describe(&mut schema);
    let mut frame = [Slot::default(); 16];
    frame[..slots.len()].copy_from_slice(slots);
    let base = frame.as_ptr().cast();
    let mut recorder = Recorder::new(1, base, limits, Start::Loop { retries: 0 });
    iteration(&mut Tape { recorder: &mut recorder, schema: &schema, ids, base });
    (recorder.close(&schema), schema)
}

fn close(slots: &[Slot], iteration: impl FnOnce(&mut Tape<'_>)) -> (Trace, Schema) {
    match close_with(LIMITS, slots, iteration) {
        (Ok(Closed::Loop(Finished { trace, .. })), schema) => (*trace, schema),
        (other, _) => panic!("not a loop: {other:?}"),
    }
}

fn failure(limits: Limits, iteration: impl FnOnce(&mut Tape<'_>)) -> (String, String) {
    match close_with(limits, &[], iteration).0 {
        Err((reason, sentence)) => (reason.name().to_string(), sentence),
        other => panic!("not failed: {other:?}"),
    }
}

fn misuse(part: &str, iteration: impl FnOnce(&mut Tape<'_>)) {
    let (reason, sentence) = failure(LIMITS, iteration);
    assert_eq!(reason, "misuse of the recording interface", "{sentence}");
    assert!(sentence.contains(part), "'{part}' is not in '{sentence}'");
}

fn entry_slots(entry: &[EntrySlot]) -> Vec<i32> {
    entry.iter().map(|entry| entry.slot).collect()
}

#[test]
fn the_first_read_of_a_slot_makes_an_input_and_later_reads_give_it_again() {
    let (trace, schema) = close(&[int(1), int(2)], |tape| {
        tape.at(0, 0b11);
        let first = tape.int(1);
        assert_eq!(tape.int(1), first);
        let sum = tape.op2(Op::IntAdd, first, first);
        tape.write_int(1, sum);
        assert_eq!(tape.int(1), sum, "a read after a write gives what was written");
    });
    assert_eq!(
        print_trace(&trace, &schema),
        "trace loop_1\nentry [1: int]\nL0(i0):\ni1 = int_add(i0, i0)\njump(L0, i1)\n"
    );
}

#[test]
fn a_slot_that_is_written_and_live_at_the_head_is_carried_with_the_tag_that_memory_had() {
    let (trace, _) = close(&[int(1), int(2)], |tape| {
        tape.at(0, 0b10);
        let five = tape.constant(5);
        tape.write_int(0, five); // dead at the head
        tape.write_int(1, five);
    });
    assert_eq!(entry_slots(&trace.entry), [1]);
    assert_eq!(trace.int_of(trace.insts.last().unwrap().args[0]), Some(5));
}

#[test]
fn a_tag_without_payload_is_checked_and_carries_nothing() {
    let (trace, _) = close(&[int(1), Slot { payload: 77, tag: NIL }], |tape| {
        tape.at(0, 0b11);
        assert_eq!(tape.read(1, tape.ids.nil), None);
        let number = tape.int(0);
        tape.write_int(0, number);
    });
    assert_eq!((entry_slots(&trace.entry), entry_slots(&trace.entry_tags)), (vec![0], vec![1]));
}

#[test]
fn a_tag_that_differs_at_the_closing_means_again() {
    let change = |live: u8| {
        move |tape: &mut Tape<'_>| {
            tape.at(0, live);
            let number = tape.int(0);
            let value = tape.op(Op::IntToFloat, &[number]);
            tape.write(0, tape.ids.float, value);
        }
    };
    assert!(matches!(close_with(LIMITS, &[int(1)], change(1)).0, Ok(Closed::Again)));
    // A dead slot's tag does not matter: the next iteration writes it first.
    let (trace, _) = close(&[float(1.0)], |tape| {
        tape.at(0, 0);
        let five = tape.constant(5);
        tape.write_int(0, five);
    });
    assert!(trace.entry.is_empty());
}

#[test]
fn a_snapshot_has_the_changed_slots_that_are_live() {
    let (trace, _) = close(&[int(1), int(2), int(3), int(9)], |tape| {
        tape.add(0, 0b1111, 0, 1);
        tape.add(1, 0b1111, 1, 1);
        tape.while_less(2, 0b1101, 2, 3); // slot 1 is dead here
    });
    let slots = &trace.snapshots[0].frames[0].slots;
    assert_eq!(slots.iter().map(|slot| slot.slot).collect::<Vec<_>>(), [0]);
    assert_eq!(trace.snapshots[0].frames[0].words[0], 2);
}

#[test]
fn a_slot_changed_later_is_in_the_snapshots_before_it() {
    let (trace, _) = close(&[int(1), int(9), int(3)], |tape| {
        tape.while_less(0, 0b111, 0, 1);
        tape.add(1, 0b111, 0, 1);
        tape.while_less(2, 0b011, 0, 1);
        tape.add(3, 0b011, 2, 1);
    });
    let find = |snapshot: usize, slot: i32| {
        trace.snapshots[snapshot].frames[0].slots.iter().find(|found| found.slot == slot).map(|s| s.source)
    };
    // At the first guard slots 0 and 2 still have their values of the head; memory has those of the entry.
    let input =
        |slot: i32| trace.entry.iter().position(|entry| entry.slot == slot).map(|i| trace.inputs()[i]);
    assert_eq!(find(0, 0), input(0).map(Source::Value));
    assert_eq!(find(0, 2), input(2).map(Source::Value));
    assert_eq!(find(0, 1), None, "slot 1 never changes");
    assert_ne!(find(1, 0), find(0, 0), "slot 0 has changed by now");
    assert_eq!(find(1, 2), None, "slot 2 is dead there");
}

#[test]
fn guards_of_one_bytecode_share_a_snapshot() {
    let (trace, _) = close(&[int(1), int(2)], |tape| {
        tape.while_less(0, 0b11, 0, 1);
        let (a, b) = (tape.int(0), tape.int(1));
        let different = tape.op2(Op::IntNe, a, b);
        tape.guard(different, ExitKind::Guard);
        tape.while_less(1, 0b11, 0, 1);
    });
    let snaps: Vec<_> = trace.exits().map(|(_, inst)| inst.snap.unwrap().index()).collect();
    assert_eq!(snaps, [0, 0, 1]);
    let kinds: Vec<_> = trace.exits().map(|(_, inst)| inst.exit).collect();
    assert_eq!(kinds, [ExitKind::LoopEnd, ExitKind::Guard, ExitKind::LoopEnd]);
}

#[test]
fn a_guard_after_a_slot_was_written_has_what_it_held_before() {
    let (trace, _) = close(&[int(1)], |tape| {
        tape.at(0, 1);
        let number = tape.int(0);
        let one = tape.constant(1);
        let sum = tape.op(Op::IntAdd, &[number, one]).expect("it is an operation on two integers");
        tape.write_int(0, sum);
        tape.guard(number, ExitKind::Guard);
        tape.at(1, 1);
        tape.guard(number, ExitKind::Guard);
    });
    let held = |snapshot: usize| trace.snapshots[snapshot].frames[0].slots[0].source;
    let sum = trace.insts.iter().find(|inst| inst.op == Op::IntAdd).and_then(|inst| inst.result);
    assert_eq!(held(0), Source::Value(trace.labels[0].args[0]), "the interpreter adds again");
    assert_eq!(held(1), Source::Value(sum.expect("there is a sum")));
}

#[test]
fn a_guard_after_an_effect_is_refused() {
    misuse("could not redo it", |tape| {
        tape.at(0, 1);
        let number = tape.int(0);
        tape.count(number);
        tape.op(Op::IntAddOvf, &[number, number]);
    });
    let (trace, _) = close(&[int(1)], |tape| {
        tape.at(0, 1);
        let number = tape.int(0);
        tape.count(number);
        tape.at(1, 1);
        tape.guard(number, ExitKind::Guard);
    });
    assert_eq!(trace.snapshots.len(), 1, "the next bytecode may be left");
}

#[test]
fn wrong_operands_are_sentences() {
    misuse("int_add: 1 operands, expected 2", |tape| {
        tape.at(0, 1);
        let one = tape.constant(1);
        tape.op(Op::IntAdd, &[one]);
    });
    misuse("float_add: operand 1 is int, expected float", |tape| {
        tape.at(0, 1);
        let one = tape.constant(1);
        tape.op(Op::FloatAdd, &[one, one]);
    });
    misuse("no value of this recording", |tape| {
        tape.at(0, 1);
        tape.write_int(0, tracelift_core::Value(4711));
    });
    misuse("expected a constant", |tape| {
        tape.at(0, 1);
        let number = tape.int(0);
        tape.op(Op::GuardValue, &[number, number]);
    });
    misuse("before its first resume point", |_| {});
}

#[test]
fn slots_that_no_frame_has_are_sentences() {
    misuse("slot -1 of the frame at slot 0 lies below the entry frame", |tape| {
        tape.at(0, 1);
        tape.read(-1, tape.ids.int);
    });
    misuse("below the entry frame", |tape| {
        tape.at(0, 1);
        let one = tape.constant(1);
        tape.write_int(i32::MIN, one);
    });
    misuse("lies beyond all frames", |tape| {
        tape.at(0, 1);
        let one = tape.constant(1);
        tape.write_int(i32::MAX, one);
    });
    misuse("slot 8 is read, but the frames have 8 slots", |tape| {
        tape.at(0, 1);
        tape.read(8, tape.ids.int);
    });
    misuse("slot 0 is read before the first tl_resume_point", |tape| {
        tape.read(0, tape.ids.int);
    });
    misuse("slot 0 is written before the first tl_resume_point", |tape| {
        let one = tape.constant(1);
        tape.write_int(0, one);
    });
    for base in [-1, i32::MIN, 1 << 16, i32::MAX] {
        misuse("slots above its caller's", |tape| {
            tape.at(0, 1);
            tape.recorder.push_frame(base, &[0], &[1]);
        });
    }
    // What no frame needs is not looked at in memory: there is nothing there.
    let (trace, _) = close(&[int(1)], |tape| {
        tape.at(0, 1);
        let one = tape.constant(1);
        tape.recorder.push_frame(60_000, &[0], &[1]);
        tape.write_int(0, one);
        tape.at(1, 1);
        tape.guard(one, ExitKind::Guard);
        tape.recorder.pop_frame();
        tape.write_int(50_000, one);
    });
    assert!(trace.entry.is_empty());
}

#[test]
fn a_guard_needs_a_place_to_go_on_at() {
    misuse("a guard before the first tl_resume_point", |tape| {
        let one = tape.constant(1);
        tape.guard(one, ExitKind::Guard);
    });
    misuse("a guard after a frame was pushed or popped", |tape| {
        tape.at(0, 1);
        let one = tape.constant(1);
        tape.recorder.push_frame(1, &[0], &[1]);
        tape.guard(one, ExitKind::Guard);
    });
}

#[test]
fn the_first_failure_stays_and_silences_the_rest() {
    let (reason, sentence) = failure(LIMITS, |tape| {
        tape.at(0, 1);
        tape.recorder.fail(AbortReason::Host("no goto".into()), "goto is not recorded");
        assert_eq!(tape.read(0, tape.ids.int), None);
        let one = tape.constant(1);
        assert_eq!(tape.op(Op::IntAdd, &[one]), None);
        tape.recorder.pop_frame();
        assert_eq!(tape.failure(), Some(("no goto", "goto is not recorded")));
    });
    assert_eq!((reason.as_str(), sentence.as_str()), ("no goto", "goto is not recorded"));
}

#[test]
fn limits_give_named_reasons() {
    let ops = failure(Limits { ops: 5, ..LIMITS }, |tape| {
        tape.at(0, 1);
        let number = tape.int(0);
        for _ in 0..9 {
            tape.op(Op::IntAdd, &[number, number]);
        }
    });
    assert_eq!(ops.0, "trace too long");
    let snapshots = failure(Limits { snapshots: 2, ..LIMITS }, |tape| {
        tape.at(0, 0b11);
        let number = tape.int(0);
        for word in 0..9 {
            tape.at(word, 0b11);
            tape.guard(number, ExitKind::Guard);
        }
    });
    assert_eq!(snapshots.0, "too many snapshots");
    let frames = failure(Limits { frames: 3, ..LIMITS }, |tape| {
        for word in 0..9 {
            tape.at(word, 0b11);
            tape.recorder.push_frame(2, &[word], &[0b11]);
        }
    });
    assert_eq!(frames.0, "too many frames");
}

#[test]
fn a_snapshot_in_a_called_frame_has_both_frames() {
    let (trace, schema) = close(&[int(1), int(9)], |tape| {
        tape.add(10, 0b11, 0, 1);
        tape.at(11, 0b11);
        let arg = tape.int(0);
        tape.recorder.push_frame(4, &[12], &[0b11]);
        tape.write_int(0, arg); // the callee's slot 0: slot 4 from the entry frame
        tape.at(20, 0b1);
        let callee = tape.int(0);
        tape.guard(callee, ExitKind::Guard);
        let doubled = tape.op2(Op::IntAdd, callee, callee);
        tape.recorder.pop_frame();
        tape.write_int(1, doubled);
    });
    let frames = &trace.snapshots[0].frames;
    let shape: Vec<_> = frames
        .iter()
        .map(|frame| (frame.base, frame.words[0], frame.slots.iter().map(|s| s.slot).collect::<Vec<_>>()))
        .collect();
    // Slot 1 is written only after the call, but every iteration: the caller's memory is stale there too.
    assert_eq!(shape, [(0, 12, vec![0, 1]), (4, 20, vec![0])]);
    let text = print_trace(&trace, &schema);
    assert!(text.contains("\n  i3 = int_add"), "the callee is indented\n{text}");
}

#[test]
fn slots_of_a_returned_frame_are_forgotten() {
    misuse("read before it was written", |tape| {
        tape.at(0, 1);
        let arg = tape.int(0);
        tape.recorder.push_frame(4, &[1], &[1]);
        tape.write_int(0, arg);
        tape.recorder.pop_frame();
        tape.recorder.push_frame(4, &[1], &[1]);
        tape.read(0, tape.ids.int);
    });
    misuse("tl_frame_pop without tl_frame_push", |tape| tape.recorder.pop_frame());
    misuse("inside a called frame", |tape| {
        tape.at(0, 1);
        tape.recorder.push_frame(4, &[1], &[1]);
    });
}

#[test]
fn frames_are_counted_even_where_no_guard_is() {
    let mut schema = Schema::new();
    describe(&mut schema);
    let frame = [Slot::default(); 4];
    let mut recorder = Recorder::new(1, frame.as_ptr().cast(), LIMITS, Start::Loop { retries: 0 });
    recorder.resume_point(frame.as_ptr().cast(), &[0], &[1]);
    recorder.push_frame(2, &[0], &[1]);
    recorder.pop_frame();
    assert_eq!(recorder.needs().frames, 1);
}

#[test]
fn constants_fold_but_never_to_a_nan_and_never_guards() {
    let (trace, _) = close(&[int(1)], |tape| {
        tape.at(0, 1);
        let (two, three) = (tape.constant(2), tape.constant(3));
        let five = tape.op2(Op::IntAdd, two, three);
        assert_eq!(tape.recorder.int_of(five), Some(5));
        let zero = tape.recorder.constant(tracelift_core::Type::Float, 0);
        let nan = tape.op2(Op::FloatDiv, zero, zero);
        assert_eq!(tape.recorder.int_of(nan), None);
        let big = tape.constant(i64::MAX);
        tape.op(Op::IntAddOvf, &[big, two]);
        let nothing = tape.constant(0);
        tape.op(Op::IntDiv, &[two, nothing]);
    });
    let ops: Vec<_> = trace.insts.iter().map(|inst| inst.op).collect();
    assert_eq!(ops, [Op::Label, Op::FloatDiv, Op::IntAddOvf, Op::IntDiv, Op::Jump]);
}
