//! Entries: code that begins where a function does, or where one goes on after a call, and ends elsewhere.

mod support;

use support::*;
use tracelift_core::{ExitKind, Op};
use tracelift_runtime::{Action, CloseOutcome, Config, Run, TraceId};

/// Two entries of a function.
const FIRST: usize = 5;
const SECOND: usize = 7;
const ALL: u8 = 0b1111;

/// A host with a counter of entries.
struct Entered {
    host: Host,
    counter: Box<i32>,
}

fn new(config: Config) -> Entered {
    let mut host = Host::new(Config { threshold: 1, side_threshold: 3, compile_share: None, ..config });
    let mut counter = Box::new(0);
    // SAFETY: it lives as long as the host.
    unsafe { host.vm.add_counter(&mut *counter) };
    Entered { host, counter }
}

impl Entered {
    fn set(&mut self, values: [i64; 4]) {
        self.host.frame[..4].copy_from_slice(&values.map(int));
    }

    fn state(&self) -> [i64; 4] {
        [0, 1, 2, 3].map(|slot| self.host.frame[slot].payload as i64)
    }

    fn enter(&mut self, key: usize) -> Action {
        *self.counter -= 1;
        if *self.counter >= 0 {
            return Action::Nothing;
        }
        let base = self.host.base();
        // SAFETY: the frame has more slots than any test's trace names.
        unsafe { self.host.vm.hot(key, &*self.counter, base) }
    }

    /// Records from the entry on, up to where `end` goes on.
    fn record(&mut self, key: usize, end: usize, ops: impl FnOnce(&mut Tape<'_>)) -> CloseOutcome {
        let mut asked = 0;
        while !matches!(self.enter(key), Action::Record) {
            asked += 1;
            assert!(asked < 100, "it is hot at some time");
        }
        self.host.begin(key, ops);
        self.host.vm.link_recording(end)
    }

    /// Runs code, and says how it was left.
    fn run(&mut self, action: Action) -> Option<(ExitKind, u64)> {
        let Action::Run(Run { code, .. }) = action else { return None };
        let context: *mut std::ffi::c_void = (&raw mut self.host.counted).cast();
        let base: *mut u8 = self.host.frame[..].as_mut_ptr().cast();
        // SAFETY: the code was just offered for this frame.
        let left = unsafe { code.call(context, base) };
        // SAFETY: as above, and the frame is larger than any exit needs.
        let exit = unsafe { self.host.vm.exit(left, context) };
        exit.kind().map(|kind| (kind, exit.frames[0].words[0]))
    }

    fn next(&mut self) -> Action {
        let base = self.host.base();
        // SAFETY: the last exit was from code that ran in this frame.
        unsafe { self.host.vm.next(base) }
    }
}

/// `if i < n: s = s + i; i = i + 1`, with s, i, n in slots 0, 1, 2, from the word `at` on to the word `to`.
fn step(tape: &mut Tape<'_>, at: u64, to: u64) {
    tape.while_less(at, ALL, 1, 2);
    tape.at(at + 1, ALL);
    let (s, i) = (tape.int(0), tape.int(1));
    let s = tape.op2(Op::IntAdd, s, i);
    tape.write_int(0, s);
    tape.add(at + 2, ALL, 1, 1);
    tape.at(to, ALL);
}

#[test]
fn an_entry_may_go_on_at_itself() {
    let mut host = new(Config::default());
    host.set([0, 0, 100, 0]);
    assert!(matches!(host.record(FIRST, FIRST, |tape| step(tape, 0, 0)), CloseOutcome::Compiled(TraceId(0))));
    for n in [100, 1, 0] {
        host.set([0, 0, n, 0]);
        let action = host.enter(FIRST);
        assert_eq!(host.run(action), Some((ExitKind::LoopEnd, 0)));
        assert_eq!(host.state(), [n * (n - 1) / 2, n, n, 0]);
    }
    let stats = host.host.vm.stats();
    assert_eq!(stats.interpreted_back_edges, 0, "entries are no back edges");
    assert_eq!(stats.traces[0].entries, 3, "the code goes on at itself without the host");
    assert!(stats.traces[0].name.starts_with("entry_"));
}

/// A trace may end where there is no code yet: the host goes on there until there is.
#[test]
fn the_end_leads_to_the_host_until_there_is_code() {
    let mut host = new(Config::default());
    host.set([0, 0, 100, 0]);
    assert!(matches!(host.record(FIRST, SECOND, |tape| step(tape, 0, 10)), CloseOutcome::Compiled(_)));
    host.set([0, 0, 100, 0]);
    let action = host.enter(FIRST);
    assert_eq!(host.run(action), Some((ExitKind::Finish, 10)));
    assert_eq!(host.state(), [0, 1, 100, 0], "the code has written the slots");
    assert!(matches!(host.next(), Action::Nothing));
    host.set([0, 0, 100, 0]);
    assert!(matches!(host.record(SECOND, FIRST, |tape| step(tape, 10, 0)), CloseOutcome::Compiled(_)));
    // Once more through the host, which sets the link.
    host.set([0, 0, 100, 0]);
    let action = host.enter(FIRST);
    assert_eq!(host.run(action), Some((ExitKind::Finish, 10)));
    let action = host.next();
    assert_eq!(host.run(action), Some((ExitKind::LoopEnd, 0)));
    assert_eq!(host.state(), [4950, 100, 100, 0]);
    let before = host.host.vm.stats().traces.iter().map(|trace| trace.entries).sum::<u64>();
    host.set([0, 0, 101, 0]);
    let action = host.enter(FIRST);
    assert_eq!(host.run(action), Some((ExitKind::LoopEnd, 10)));
    assert_eq!(host.state(), [5050, 101, 101, 0]);
    let after = host.host.vm.stats().traces.iter().map(|trace| trace.entries).sum::<u64>();
    assert_eq!(after - before, 1, "both run without the host in between");
}

#[test]
fn what_begins_at_an_entry_does_not_close() {
    let mut host = new(Config::default());
    host.set([0, 0, 100, 0]);
    while !matches!(host.enter(FIRST), Action::Record) {}
    host.host.begin(FIRST, |tape| step(tape, 0, 0));
    let CloseOutcome::Aborted(_, sentence) = host.host.vm.close_recording() else { panic!("it closed") };
    assert_eq!(sentence, "only what began at a loop's head closes");
}

/// The function is gone, and its counter too; another one's may lie in its place.
#[test]
fn a_counter_that_is_dropped_is_written_no_more() {
    let mut host = new(Config::default());
    let mut others = [0, 0];
    for other in &mut others {
        // SAFETY: they live as long as they are known.
        unsafe { host.host.vm.add_counter(other) };
    }
    host.set([0, 0, 100, 0]);
    assert!(matches!(host.record(FIRST, FIRST, |tape| step(tape, 0, 0)), CloseOutcome::Compiled(_)));
    host.host.vm.forget(FIRST, FIRST + 1);
    host.host.vm.drop_counter(&*host.counter);
    *host.counter = 77;
    assert!(matches!(host.record_with(&mut others[1]), CloseOutcome::Compiled(_)));
    host.set([0, 0, 9, 0]);
    assert_eq!((*host.counter, others[0]), (77, 0));
}

/// The code that goes on at a location reads there how much room it needs. Where the location is forgotten
/// and comes to code again, the same code reads of that.
#[test]
fn the_room_of_a_location_is_where_code_reads_it() {
    let mut host = new(Config::default());
    let deeper = |tape: &mut Tape<'_>, frames: i32| {
        tape.while_less(10, ALL, 1, 2);
        for depth in 1..=frames {
            tape.recorder.push_frame(8, &[10], &[ALL]);
            tape.at(10 + depth as u64, 0);
            let (zero, context) = (tape.constant(0), tape.constant(1));
            let differ = tape.op2(Op::IntNe, zero, context);
            tape.guard(differ, ExitKind::Guard);
        }
        (0..frames).for_each(|_| tape.recorder.pop_frame());
        tape.at(10, ALL);
    };
    let cell = host.host.vm.room_cell(SECOND);
    // SAFETY: the code below holds the cell; nothing else writes it meanwhile.
    let room = || unsafe { cell.read() };
    host.set([0, 0, 100, 0]);
    assert!(matches!(host.record(FIRST, SECOND, |tape| step(tape, 0, 10)), CloseOutcome::Compiled(_)));
    assert!(matches!(host.record(SECOND, SECOND, |tape| deeper(tape, 0)), CloseOutcome::Compiled(_)));
    let before = room();
    assert!(before > 0);
    host.host.vm.forget(SECOND, SECOND + 1);
    assert_eq!(room(), 0, "there is no code any more");
    assert!(matches!(host.record(SECOND, SECOND, |tape| deeper(tape, 2)), CloseOutcome::Compiled(_)));
    assert_eq!(room(), before + 16);
    // The code that reads it is linked to that one.
    host.set([0, 0, 100, 0]);
    let action = host.enter(FIRST);
    assert_eq!(host.run(action), Some((ExitKind::Finish, 10)));
    assert!(matches!(host.next(), Action::Run(_)));
    assert_eq!(host.host.vm.room_cell(SECOND), cell);
}

impl Entered {
    /// Records the second entry by another counter.
    fn record_with(&mut self, counter: &mut i32) -> CloseOutcome {
        let base = self.host.base();
        loop {
            *counter -= 1;
            // SAFETY: as above.
            let action = unsafe { self.host.vm.hot(SECOND, counter, base) };
            if matches!(action, Action::Record) {
                break;
            }
        }
        self.host.begin(SECOND, |tape| step(tape, 10, 10));
        self.host.vm.link_recording(SECOND)
    }
}

/// A loop that has code: an entry's recording ends there, but takes in the first iterations of one in a
/// function that was called since, which may soon be over.
#[test]
fn a_called_loop_of_few_iterations_is_taken_in() {
    const LOOP: usize = 9;
    let mut entered = new(Config::default());
    entered.set([0, 0, 100, 0]);
    while !matches!(entered.host.back_edge(LOOP), Action::Record) {}
    let made = entered.host.record(LOOP, |tape| step(tape, 0, 0));
    assert!(matches!(made, CloseOutcome::Compiled(_)));

    while !matches!(entered.enter(FIRST), Action::Record) {}
    entered.host.begin(FIRST, |tape| tape.at(20, ALL));
    assert!(entered.host.vm.goes_on_at(LOOP, false), "it is the function's own");
    assert!(!entered.host.vm.goes_on_at(SECOND, false), "it has no code");
    entered.host.go_on(|tape| tape.recorder.push_frame(4, &[21], &[ALL]));
    for taken_in in 0..8 {
        assert!(!entered.host.vm.goes_on_at(LOOP, false), "{taken_in} iterations");
        entered.host.go_on(|tape| tape.recorder.back_edge(LOOP, false));
    }
    assert!(entered.host.vm.goes_on_at(LOOP, false), "the loop's code has the others");
}
