//! What happens while compiled code waits in a call of the host: other code and the same code run, are
//! recorded, compiled and forgotten, on this thread and on another.
//!
//! Problem: the code that has called must find its memory and its exits as it left them, or be left. Design:
//! the loop of [`calls`]; its function runs loops in the upper half of the frame, of which one adds 0 to 9.
//! Invariant: code is not freed while a call of it may come back, and it does not go on without the memory
//! that its exits need. Example: `nest.on_call(|visit| { run_sum(visit, OTHER); true })`.
//!
//! [`calls`]: crate::calls

use std::cell::Cell;

use tracelift_core::{ExitKind, Op};
use tracelift_runtime::{AbortReason, Action, CloseOutcome, Config, TraceId, Vm};

use crate::calls::*;
use crate::pairs::{self, Pairs};
use crate::support::*;

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
pub fn calls_that_never_come_back_are_dropped_by_those_above() {
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
pub fn memory_that_an_exit_in_the_call_has_used_is_asked_for_again() {
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
                tape.recorder.back_edge(HEAD, false);
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

/// The host has come back from the call while something else is recorded: what waited can never go on.
#[test]
fn a_recording_that_waits_is_given_up_if_another_is_in_progress() {
    let nest = Nest::new(Config::exact());
    nest.set(&[int(0), int(0), int(10), int(0), int(0)]);
    let [first, second] = [HEAD, OTHER].map(|key| waits(&nest, key));
    assert!(nest.host().vm.wake_recording(second));
    assert!(!nest.host().vm.wake_recording(first), "another one is in progress");
    assert!(nest.host().vm.recorder().is_some(), "and it stays");
    assert_eq!(nest.host().vm.stats().aborts["abandoned"], 1);
    nest.host().vm.abort_recording(AbortReason::Host("enough".into()));
    assert!(!nest.host().vm.wake_recording(first), "it is there no more");
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
