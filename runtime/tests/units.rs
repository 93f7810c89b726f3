//! Units: functions that compiled code calls without frames; what is left of them, how they grow and how they
//! go.

mod support;

use support::units::*;
use support::*;
use tracelift_core::ir::EntrySlot;
use tracelift_core::{ExitKind, Op};
use tracelift_runtime::{AbortReason, Action, CloseOutcome, Config, TraceId};

/// More than a unit may have that is always compiled as a whole.
const MUCH_WORK: usize = 100;

fn exact() -> Config {
    Config { side_threshold: 3, ..Config::exact() }
}

fn sums(work: usize) -> Sums {
    Sums::new(exact(), work, |_| ())
}

fn twice(tape: &mut Tape<'_>, _: tracelift_core::UnitId) -> tracelift_core::Value {
    let n = tape.int(0);
    tape.op2(Op::IntAdd, n, n)
}

/// What `f(n)` is where `f(end)` is `value`.
fn expected(n: i64, end: i64, value: i64, work: usize) -> i64 {
    (end + 1..=n).fold(value, |v, n| v.wrapping_add(worth(n, work)))
}

/// The gateway has passed this on.
fn returns(sums: &mut Sums, n: i64, value: i64) {
    let how = sums.call(n).expect("there is code");
    assert_eq!(how, How { kind: ExitKind::Finish, outer: 0, frames: vec![(0, RETURNS)] }, "{n}");
    assert_eq!(sums.host.frame[1], int(value), "{n}");
}

#[test]
fn all_frames_are_there_after_an_exit() {
    let mut sums = sums(1);
    for entry in 1..=20 {
        // Of each caller the frame that has called comes last, and is the next one's first.
        let frames = vec![(0, 4), (4, 0), (4, 4), (8, 0), (8, 4), (12, 0), (12, 0)];
        assert_eq!(sums.call(13), Some(How { kind: ExitKind::Guard, outer: 6, frames }), "{entry}");
        for (frame, n) in [13, 12, 11, 10].into_iter().enumerate() {
            let slots = &sums.host.frame[4 * frame..4 * frame + 4];
            assert_eq!(
                slots,
                [int(n), float(0.5), float(0.5), float(0.5)],
                "{entry}: what is live was written"
            );
        }
    }
    // Without callers it is an exit like others.
    assert_eq!(sums.call(10), Some(How { kind: ExitKind::Guard, outer: 0, frames: vec![(0, 0)] }));
    assert_eq!(sums.call(20), Some(How { kind: ExitKind::Guard, outer: 0, frames: vec![(0, 1)] }));
}

#[test]
fn a_unit_goes_no_deeper_than_the_limit() {
    let mut sums = sums(1);
    for (slots, callers) in [(0, 0), (7, 0), (8, 1), (15, 2), (16, 3)] {
        sums.set_limit(slots);
        let how = sums.call(19).expect("there is code");
        assert_eq!((how.kind, how.outer), (ExitKind::Interrupt, 2 * callers), "{slots}");
        assert_eq!(how.frames.last(), Some(&(4 * callers as i32, 0)), "at the callee's beginning");
        assert_eq!(sums.host.frame[4 * callers as usize], int(19 - i64::from(callers)));
        assert!(matches!(sums.next(), Action::Nothing));
    }
}

/// An exit is as dear as there are callers around it.
#[test]
fn callers_heat_an_exit() {
    assert_eq!(Sums::new(Config { side_threshold: 60, ..exact() }, 1, |_| ()).calls_until_asked(10), 60);
    assert_eq!(Sums::new(Config { side_threshold: 60, ..exact() }, 1, |_| ()).calls_until_asked(13), 15);
}

#[test]
fn a_small_unit_grows_as_a_whole() {
    let mut sums = sums(1);
    for (end, number) in [(10, 2), (20, 3), (30, 4)] {
        sums.calls_until_asked(end + 2);
        let outcome = sums.record_end(end, twice);
        assert!(matches!(outcome, CloseOutcome::Compiled(TraceId(id)) if id == number), "{outcome:?}");
        let stats = sums.host.vm.stats();
        let bytes = |trace: u32| stats.traces[trace as usize].code_bytes;
        assert!(bytes(number) > bytes(0), "all of it was made anew: {} {}", bytes(number), bytes(0));
        for (n, depth) in [(end, 0), (end + 1, 1), (end + 3, 3)] {
            returns(&mut sums, n, expected(n, end, 2 * end, 1));
            assert_eq!(depth, n - end);
        }
    }
    returns(&mut sums, 12, expected(12, 10, 20, 1));
}

/// The second side trace of a large unit is a function of its own, until the third comes.
#[test]
fn a_large_unit_grows_now_and_then() {
    let mut sums = sums(MUCH_WORK);
    sums.calls_until_asked(31);
    assert!(matches!(sums.record_end(30, twice), CloseOutcome::Compiled(TraceId(2))));
    returns(&mut sums, 33, expected(33, 30, 60, MUCH_WORK));
    sums.calls_until_asked(21);
    // f(20) = f(10) + f(10): calls from there, in a frame above that one's.
    let outcome = sums.record_end(20, |tape, unit| {
        let ten = tape.constant(10);
        let v = tape.call_unit(unit, ten, 6);
        tape.op2(Op::IntAdd, v, v)
    });
    assert!(matches!(outcome, CloseOutcome::Compiled(TraceId(3))), "{outcome:?}");
    let frames = vec![(0, 4), (4, 0), (4, 6), (8, 0), (8, 0)];
    for _ in 0..10 {
        let how = sums.call(21);
        assert_eq!(how, Some(How { kind: ExitKind::Guard, outer: 4, frames: frames.clone() }));
        assert_eq!([0, 4, 8].map(|slot| sums.host.frame[slot]), [21, 20, 10].map(int));
    }
    sums.calls_until_asked(21);
    assert!(matches!(sums.record_end(10, twice), CloseOutcome::Compiled(TraceId(4))));
    let stats = sums.host.vm.stats();
    let bytes = |trace: usize| stats.traces[trace].code_bytes;
    assert!(bytes(3) < bytes(2) / 2 && bytes(4) > bytes(2), "{} {} {}", bytes(2), bytes(3), bytes(4));
    for _ in 0..10 {
        returns(&mut sums, 21, expected(21, 20, 40, MUCH_WORK));
        returns(&mut sums, 33, expected(33, 30, 60, MUCH_WORK));
        returns(&mut sums, 10, 20);
    }
}

/// What a unit returns may have another type than when it was called: its caller is left after the call, and
/// goes on there with what memory has.
#[test]
fn a_result_of_another_type_is_read_from_its_slot() {
    let mut sums = with_slot_cells();
    sums.calls_until_asked(11);
    let base = sums.host.base();
    assert!(sums.host.vm.start_side(base));
    let mut half = None;
    sums.host.go_on(|tape| {
        tape.at(0, 0b1111);
        half = Some(tape.recorder.constant(tracelift_core::Type::Float, 0.25f64.to_bits()));
    });
    assert!(matches!(sums.host.vm.end_unit(sums.host.ids.float, half), CloseOutcome::Compiled(_)));
    // The innermost caller has its result in memory: f(11) goes on after the call.
    let frames = vec![(0, 4), (4, 0), (4, 4)];
    assert_eq!(sums.call(12), Some(How { kind: ExitKind::Guard, outer: 2, frames }));
    assert_eq!((sums.host.frame[4], sums.host.frame[5]), (int(11), float(0.25)));
    sums.calls_until_asked(12);
    let base = sums.host.base();
    assert!(sums.host.vm.start_side(base));
    let mut sum = None;
    sums.host.go_on(|tape| {
        tape.at(4, 0b1111);
        let v = tape.read(1, tape.ids.float).expect("it has a payload");
        let n = tape.int(0);
        let n = tape.op(Op::IntToFloat, &[n]).expect("it has a result");
        sum = tape.op(Op::FloatAdd, &[n, v]);
        assert_eq!(tape.failure(), None);
    });
    let outcome = sums.host.vm.end_unit(sums.host.ids.float, sum);
    assert!(matches!(outcome, CloseOutcome::Compiled(_)), "{outcome:?}");
    let how = sums.call(13).expect("there is code");
    assert_eq!((how.kind, how.frames), (ExitKind::Finish, vec![(0, RETURNS)]));
    assert_eq!(sums.host.frame[1], float(36.25));
}

fn with_slot_cells() -> Sums {
    use tracelift_core::schema::{Cell, SlotCells};
    use tracelift_core::Type;
    Sums::new(exact(), 0, |vm| {
        let schema = vm.schema_mut();
        let [payload, tag] = ["slot.payload", "slot.tag"].map(|name| schema.alias_class(name));
        let value = [Type::Int, Type::Float, Type::Ref, Type::Addr]
            .map(|ty| schema.add_cell(Cell::new(&format!("slot.{}", ty.name()), 0, ty, payload)));
        let tag = schema.add_cell(Cell { width: 1, ..Cell::new("slot.tag", 8, Type::Int, tag) });
        schema.set_slot_cells(SlotCells { value, tag: Some(tag) });
    })
}

/// A trace of another function that calls `f(n)`, and ends after that.
const OTHER: usize = 7;

fn record_caller(sums: &mut Sums) {
    let unit = sums.unit;
    sums.host.frame[0] = int(12);
    sums.host.begin(OTHER, |tape| {
        tape.at(7, 0b1111);
        let n = tape.int(0);
        tape.call_unit(unit, n, 8);
        tape.at(9, 0b1111);
    });
}

fn end(sums: &mut Sums) -> CloseOutcome {
    sums.host.vm.end_recording(AbortReason::Host("end".into()))
}

#[test]
fn who_forgets_a_unit_forgets_the_calls_of_it() {
    let mut sums = sums(1);
    while !matches!(sums.host.back_edge(OTHER), Action::Record) {}
    record_caller(&mut sums);
    assert!(matches!(end(&mut sums), CloseOutcome::Compiled(TraceId(2))));
    sums.host.frame[0] = int(12);
    let action = sums.host.back_edge(OTHER);
    let how = sums.run(action).expect("there is code");
    assert_eq!((how.kind, how.outer), (ExitKind::Guard, 6), "its frames come first");
    assert_eq!(how.frames[..2], [(0, 8), (4, 0)]);
    assert_eq!([0, 4, 8, 12].map(|slot| sums.host.frame[slot]), [12, 12, 11, 10].map(int));
    // Another call of it is being recorded, and waits.
    sums.host.first = 0;
    record_caller(&mut sums);
    let waits = sums.host.vm.put_recording_aside().expect("one is in progress");
    let arguments = [EntrySlot { slot: 0, tag: sums.host.ids.int }];
    assert!(sums.host.vm.has_unit(ENTRY) && sums.host.vm.find_unit(ENTRY, &arguments).is_some());
    sums.host.vm.forget(ENTRY, ENTRY + 1);
    assert!(!sums.host.vm.has_unit(ENTRY) && sums.host.vm.find_unit(ENTRY, &arguments).is_none());
    assert!(sums.call(13).is_none());
    sums.host.frame[0] = int(12);
    assert!(!matches!(sums.host.back_edge(OTHER), Action::Run(_)), "it calls what is gone");
    assert!(sums.host.vm.wake_recording(waits));
    let CloseOutcome::Aborted(reason, sentence) = end(&mut sums) else { panic!("it is code") };
    assert_eq!((reason.name(), &*sentence), ("abandoned", "a unit that it calls is gone"));
    assert_eq!(sums.host.vm.stats().aborts.get("internal error"), None);
}

/// The function is to be a unit: what its entry had is entered no more, and it is recorded anew.
#[test]
fn entries_are_dropped() {
    let mut sums = sums(1);
    assert!(sums.call(13).is_some());
    sums.host.vm.drop_entries(OTHER);
    assert!(sums.call(13).is_some(), "another function's");
    sums.host.vm.drop_entries(ENTRY);
    assert!(!sums.host.vm.has_loop(ENTRY) && sums.host.vm.has_unit(ENTRY));
    let again = (1..5).find(|_| matches!(sums.enter(13), Action::Record));
    assert!(again.is_some(), "the gateway's recording is due");
}
