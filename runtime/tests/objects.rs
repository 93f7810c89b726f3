//! Exits that leave objects behind which nothing has made yet: plans, and the side traces that begin there.

#[path = "support/pairs.rs"]
mod pairs;
mod support;

use pairs::*;
use support::*;
use tracelift_core::ir::HOST_BITS;
use tracelift_core::{ExitKind, Op};
use tracelift_runtime::{Action, CloseOutcome, Config, TraceId};

/// The loop's head.
const HEAD: usize = 1;
/// Live slots at the head, and after r was made. Slot 5 is read by a side trace only.
const HEAD_LIVE: u8 = 0b10_1111;
const ALL: u8 = 0b11_1111;

/// What the program does with its objects.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Way {
    /// Each lives for one iteration.
    Drops,
    /// Each is stored into the pair h, and overwritten there in the next iteration.
    Keeps,
}

/// A host that runs this, with s, i, n, h, r, k in slots 0 to 5; the numbers are the frame's words:
///
/// ```text
/// 0 while i < n:  1 r = new pair  2 r.number = i  3 r.link = r  4 [Keeps:] h.link = r
/// 5   if i even:  6 s = s + r.number
///     else:       7 s = s + 3 * r.link.number [Keeps: + h.link.number] + k
/// 8   i = i + 1
/// ```
struct Program {
    host: Host,
    pairs: Pairs,
    way: Way,
}

/// The loop's first half, up to the guard on parity.
fn first_half(tape: &mut Tape<'_>, pairs: Pairs, way: Way) {
    tape.while_less(0, HEAD_LIVE, 1, 2);
    tape.at(1, HEAD_LIVE);
    let r = tape.new_pair(pairs);
    tape.write(4, pairs.tag, Some(r));
    tape.at(2, ALL);
    let i = tape.int(1);
    tape.set(r, pairs.number, i);
    tape.at(3, ALL);
    tape.set(r, pairs.link, r);
    if way == Way::Keeps {
        tape.at(4, ALL);
        let h = tape.read(3, pairs.tag).expect("a pair");
        tape.set(h, pairs.link, r);
    }
}

fn guard_parity(tape: &mut Tape<'_>, even: bool) {
    tape.at(5, ALL);
    let i = tape.int(1);
    let (one, zero) = (tape.constant(1), tape.constant(0));
    let bit = tape.op2(Op::IntAnd, i, one);
    let condition = tape.op2(if even { Op::IntEq } else { Op::IntNe }, bit, zero);
    tape.guard(condition, ExitKind::Guard);
}

/// An iteration with an even i.
fn even(tape: &mut Tape<'_>, pairs: Pairs, way: Way) {
    first_half(tape, pairs, way);
    guard_parity(tape, true);
    tape.at(6, ALL);
    let r = tape.read(4, pairs.tag).expect("a pair");
    let (s, number) = (tape.int(0), tape.get(r, pairs.number));
    let s = tape.op2(Op::IntAdd, s, number);
    tape.write_int(0, s);
    tape.add(8, HEAD_LIVE, 1, 1);
}

/// The same from the guard on, for an odd i.
fn odd(tape: &mut Tape<'_>, pairs: Pairs, way: Way) {
    guard_parity(tape, false);
    tape.at(7, ALL);
    let r = tape.read(4, pairs.tag).expect("a pair");
    let link = tape.get(r, pairs.link);
    tape.guard_pair(link, pairs);
    let (s, number, three) = (tape.int(0), tape.get(link, pairs.number), tape.constant(3));
    let product = tape.op2(Op::IntMul, number, three);
    let mut s = tape.op2(Op::IntAdd, s, product);
    if way == Way::Keeps {
        let h = tape.read(3, pairs.tag).expect("a pair");
        let last = tape.get(h, pairs.link);
        tape.guard_pair(last, pairs);
        let number = tape.get(last, pairs.number);
        s = tape.op2(Op::IntAdd, s, number);
    }
    let k = tape.int(5);
    let s = tape.op2(Op::IntAdd, s, k);
    tape.write_int(0, s);
    tape.add(8, HEAD_LIVE, 1, 1);
    tape.recorder.back_edge(HEAD, false);
    tape.at(0, HEAD_LIVE);
}

impl Program {
    fn new(config: Config, way: Way) -> Program {
        let mut host = Host::new(Config { threshold: 1, compile_share: None, ..config });
        let pairs = Pairs::declare(&mut host.vm);
        let mut program = Program { host, pairs, way };
        program.set(0, 10);
        assert!(matches!(program.host.back_edge(HEAD), Action::Record));
        let outcome = program.host.record(HEAD, |tape| even(tape, pairs, way));
        assert!(matches!(outcome, CloseOutcome::Compiled(TraceId(0))), "{outcome:?}");
        program
    }

    /// The same with a side trace for odd numbers.
    fn whole(config: Config, way: Way) -> Program {
        let mut program = Program::new(Config { side_threshold: 3, ..config }, way);
        let pairs = program.pairs;
        while !program.leaves_odd() {}
        let base = program.host.base();
        assert!(program.host.vm.start_side(base));
        program.host.go_on(|tape| odd(tape, pairs, way));
        let outcome = program.host.vm.link_recording(HEAD);
        assert!(matches!(outcome, CloseOutcome::Compiled(TraceId(1))), "{outcome:?}");
        program
    }

    fn set(&mut self, from: i64, to: i64) {
        let h = pair(-1, 0);
        self.host.frame[..6].copy_from_slice(&[int(0), int(from), int(to), slot(h), Slot::default(), int(2)]);
    }

    /// Runs from an even i to the exit at the odd one after it, looks at what is there, and asks whether to
    /// record.
    fn leaves_odd(&mut self) -> bool {
        self.set(40, 100);
        assert_eq!(self.host.run_with_pairs(HEAD), Some((ExitKind::Guard, 5)));
        let (h, r) = (self.host.frame[3], self.host.frame[4]);
        assert_eq!((r.tag, read(r.payload)[1..].to_vec()), (PAIR, vec![41, r.payload]));
        assert_eq!(read(h.payload)[2], if self.way == Way::Keeps { r.payload } else { 0 });
        let base = self.host.base();
        // SAFETY: the last exit was from code that ran in this frame.
        matches!(unsafe { self.host.vm.next(base) }, Action::Record)
    }

    fn number(&self, slot: usize) -> i64 {
        self.host.frame[slot].payload as i64
    }

    /// The interpreter, from a word to the next back edge or the loop's end.
    fn interpret(&mut self, mut word: u64) {
        loop {
            let (s, i, n, k) = (self.number(0), self.number(1), self.number(2), self.number(5));
            let (h, r) = (self.host.frame[3].payload, self.host.frame[4].payload);
            let set = |at: u64, part: usize, value: u64| {
                read(at);
                // SAFETY: it is a pair, which nobody else refers to meanwhile.
                unsafe { (*(at as *mut Pair))[part] = value };
            };
            word = match word {
                0 if i >= n => return,
                0 => 1,
                1 => {
                    self.host.frame[4] = slot(pair(0, 0));
                    2
                }
                2 => {
                    set(r, 1, i as u64);
                    3
                }
                3 => {
                    set(r, 2, r);
                    4
                }
                4 => {
                    if self.way == Way::Keeps {
                        set(h, 2, r);
                    }
                    5
                }
                5 => 6 + (i & 1) as u64,
                6 => {
                    self.host.frame[0] = int(s + read(r)[1] as i64);
                    8
                }
                7 => {
                    let last = if self.way == Way::Keeps { read(read(h)[2])[1] as i64 } else { 0 };
                    self.host.frame[0] = int(s + 3 * read(read(r)[2])[1] as i64 + last + k);
                    8
                }
                8 => {
                    self.host.frame[1] = int(i + 1);
                    return;
                }
                _ => panic!("there is no word {word}"),
            };
        }
    }

    /// Runs to the loop's end, in code where there is some and in the interpreter where it is left; gives how
    /// often it was.
    fn run_through(&mut self) -> usize {
        let mut left = 0;
        while self.number(1) < self.number(2) {
            match self.host.run_with_pairs(HEAD) {
                Some((_, word)) => self.interpret(word),
                None => self.interpret(0),
            }
            left += 1;
            assert!(left < 1000);
        }
        left
    }

    /// Whether everything is as it must be after a run that began with [`Program::set`].
    fn check(&self, from: i64, to: i64) {
        let per_odd = if self.way == Way::Keeps { 4 } else { 3 };
        let s: i64 = (from..to).map(|i| if i % 2 == 0 { i } else { per_odd * i + 2 }).sum();
        assert_eq!((self.number(0), self.number(1)), (s, to));
        let kept = read(self.host.frame[3].payload)[2];
        if self.way == Way::Keeps {
            assert_eq!(read(kept)[1..], [(to - 1) as u64, kept]);
        } else {
            assert_eq!(kept, 0);
        }
    }
}

/// A host asks which objects a recording has made, and who could still get hold of one.
#[test]
fn a_recording_tells_of_the_objects_that_it_makes() {
    let mut program = Program::new(Config::default(), Way::Keeps);
    let pairs = program.pairs;
    program.host.begin(HEAD, |tape| {
        tape.at(1, ALL);
        let first = tape.new_pair(pairs);
        let second = tape.new_pair(pairs);
        tape.write(4, pairs.tag, Some(first));
        assert_eq!(tape.recorder.nth_made(pairs.layout, 1), Some((second, 0)));
        assert_eq!(tape.recorder.nth_made(pairs.layout, 2), None);
        assert!(!tape.recorder.is_in_use(first, 4), "only a slot that dies knows it");
        assert!(tape.recorder.is_in_use(first, 5), "a slot that lives on does");
        assert!(tape.recorder.is_made(second));
        tape.at(2, ALL);
        let number = tape.int(1);
        tape.set(first, pairs.number, number);
        assert!(!tape.recorder.is_made(number), "that is no object");
        assert_eq!((tape.recorder.key_room(second), tape.recorder.key_room(number)), (Some(0), None));
        let refused = tape.recorder.set_key_room(second, HOST_BITS | 4, tape.schema);
        assert!(refused.is_err_and(|sentence| sentence.contains("has no keyed part")));
        assert_eq!(tape.recorder.key_room(second), Some(0));
        assert_eq!(tape.recorder.set_key_room(second, 0, tape.schema), Ok(()));
        assert!(tape.recorder.set_key_room(number, 0, tape.schema).is_err(), "that is no object");
        assert!(!tape.recorder.is_in_use(first, 4), "its own field is nothing to others");
        tape.at(3, ALL);
        tape.set(second, pairs.link, first);
        assert!(tape.recorder.is_in_use(first, 4) && !tape.recorder.is_in_use(second, 0));
    });
}

#[test]
fn plans_do_what_the_resume_data_says() {
    for way in [Way::Drops, Way::Keeps] {
        let mut program = Program::new(Config { side_threshold: 100, ..Config::default() }, way);
        for _ in 0..20 {
            let before = made();
            assert!(!program.leaves_odd());
            // One is the host's own h; the loop has made one that was kept.
            let expected = if way == Way::Keeps { 3 } else { 2 };
            assert_eq!(made() - before, expected, "{way:?}");
        }
    }
}

#[test]
fn a_side_trace_makes_the_objects_that_it_needs_and_no_others() {
    for (way, expected) in [(Way::Drops, 0), (Way::Keeps, 60)] {
        let mut program = Program::whole(Config { no_regions: true, ..Config::default() }, way);
        program.set(0, 60);
        let before = made();
        assert_eq!(
            program.host.run_with_pairs(HEAD),
            Some((ExitKind::LoopEnd, 0)),
            "without the host in between"
        );
        program.check(0, 60);
        assert_eq!(made() - before, expected, "{way:?}");
        assert_eq!(program.host.vm.stats().traces[1].entries, 0, "only other code has entered it");
    }
}

#[test]
fn every_guard_can_fail_on_the_way() {
    for way in [Way::Drops, Way::Keeps] {
        let counting = Program::whole(Config { count_guards: true, ..Config::default() }, way);
        let before = counting.host.vm.guards_executed().expect("they are counted");
        let mut runs = 0;
        for force in before + 1.. {
            let mut program = Program::whole(Config { force_exit: Some(force), ..Config::default() }, way);
            program.set(0, 12);
            program.run_through();
            program.check(0, 12);
            runs += 1;
            if program.host.vm.guards_executed() < Some(force) {
                break;
            }
        }
        assert!(runs > 20, "{runs} guards");
    }
}

/// The allocator says no: code is left, at a place from which the interpreter does the same.
#[test]
fn any_allocation_can_fail_on_the_way() {
    for passes in ["", "-virtuals", "-delay_store"] {
        for way in [Way::Drops, Way::Keeps] {
            let mut refusals = 0;
            for number in 1.. {
                let opt = tracelift_opt::Config::parse(passes).expect("they exist");
                let mut program = Program::whole(Config { opt, ..Config::default() }, way);
                program.set(0, 12);
                refuse(number);
                program.run_through();
                let is_over = refuse(0) > 0;
                program.check(0, 12);
                if is_over {
                    break;
                }
                refusals += 1;
            }
            let least = if way == Way::Drops && passes != "-virtuals" { 0 } else { 12 };
            assert!(refusals >= least, "{refusals} refusals, {way:?} {passes}");
        }
    }
}

/// A side trace reads a slot that its exit does not mention, and finds it with another tag: the program is
/// then after the exit, with its objects made and its stores done once.
#[test]
fn a_side_trace_that_is_refused_leaves_the_exit_to_the_host() {
    for way in [Way::Drops, Way::Keeps] {
        let mut program = Program::whole(Config::default(), way);
        for time in 1..=10 {
            program.set(40, 100);
            program.host.frame[5] = float(2.0);
            let before = made();
            assert_eq!(program.host.run_with_pairs(HEAD), Some((ExitKind::Guard, 5)));
            let r = program.host.frame[4].payload;
            assert_eq!(read(r)[1..], [41, r]);
            assert_eq!(read(program.host.frame[3].payload)[2], if way == Way::Keeps { r } else { 0 });
            assert_eq!(made() - before, if way == Way::Keeps { 2 } else { 1 });
            let base = program.host.base();
            // SAFETY: the last exit was from code that ran in this frame.
            let action = unsafe { program.host.vm.next(base) };
            assert_eq!(matches!(action, Action::Record), time >= 3, "as often as an exit: {time}");
        }
    }
}
