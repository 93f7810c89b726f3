//! Loops within loops: whichever is hot first, a loop of few iterations becomes a part of the one around it.
//!
//! Problem: an inner loop is hot before the loop around it, and gets code first; then each iteration of the
//! outer loop enters and leaves it. What becomes better code depends on how the program goes on. Design: a
//! host of a few bytecodes, which interprets them and records what it interprets, as a real one does. So each
//! test says how many iterations the loops have, and sees which traces come about. Invariant: whatever the
//! service decides, the program's result is what the bytecodes mean.
//!
//! Example, with s, i, n, j, m in slots 0 to 4, and three iterations in the inner loop (m = 3): trace 0 is
//! the inner loop, trace 1 its side trace around the outer one. When the program has crossed between them
//! often, trace 1 is given up; trace 2 is the outer loop, with the inner one in it.
//!
//! ```text
//! 0  while i < n:  1  j = 0;  2  while j < m:  3  s = s + j;  4  j = j + 1;   5  i = i + 1
//! ```

mod support;

use support::*;
use tracelift_core::{ExitKind, Op};
use tracelift_runtime::{AbortReason, Action, CloseOutcome, Config, Run, TraceId, TraceStats};

const OUTER: usize = 1;
const INNER: usize = 2;
const ALL: u8 = 0b1_1111;
/// Operations of a side trace from a test of `j < m` on: up to the inner loop's head, and with two iterations
/// to the outer one's.
const ONE_OF_TWO: u64 = 4;
const ALL_OF_TWO: u64 = 10;
/// Jumps back that a recording takes in.
const MOST_EDGES: u32 = 8;

type State = [i64; 5];

/// The program, where it is, and what is recorded.
struct Nest {
    host: Host,
    recorded: Option<Recorded>,
    /// Exits of code since this was set to 0.
    exits: u32,
}

#[derive(Clone, Copy)]
struct Recorded {
    root: usize,
    is_side: bool,
    is_started: bool,
    edges: u32,
}

/// The loop whose head a bytecode is.
fn loop_at(word: u64) -> Option<usize> {
    [(0, OUTER), (2, INNER)].iter().find(|&&(head, _)| head == word).map(|&(_, key)| key)
}

/// `a < b`, or not, with the loop's end where it is the other way next time.
fn test(tape: &mut Tape<'_>, word: u64, [a, b]: [i32; 2], is_less: bool) {
    tape.at(word, ALL);
    let (a, b) = (tape.int(a), tape.int(b));
    let condition = tape.op2(if is_less { Op::IntLt } else { Op::IntGe }, a, b);
    tape.guard(condition, ExitKind::LoopEnd);
}

impl Nest {
    fn new() -> Nest {
        let config = Config {
            threshold: 40,
            side_threshold: 20,
            compile_share: None,
            count_iterations: true,
            ..Config::default()
        };
        Nest { host: Host::new(config), recorded: None, exits: 0 }
    }

    fn state(&self) -> State {
        [0, 1, 2, 3, 4].map(|slot| self.host.frame[slot].payload as i64)
    }

    /// Runs the program for so many iterations of the outer loop, each with `m` of the inner one.
    fn run(&mut self, n: i64, m: i64) {
        self.exits = 0;
        self.host.frame[..5].copy_from_slice(&[0, 0, n, 0, m].map(int));
        let mut word = 0;
        while word < 9 {
            self.records(word);
            let next = self.step(word);
            word = if next <= word { self.jumps_back(next) } else { next };
        }
        let sum = n * (m * (m - 1) / 2);
        assert_eq!(self.state()[..3], [sum, n, n], "{n} iterations of {m}");
    }

    /// Interprets a bytecode.
    fn step(&mut self, word: u64) -> u64 {
        let [s, i, n, j, m] = self.state();
        let frame = &mut self.host.frame;
        let mut set = |slot: usize, value: i64| frame[slot] = int(value);
        match word {
            0 if i < n => 1,
            0 => 9,
            1 => {
                set(3, 0);
                2
            }
            2 if j < m => 3,
            2 => 5,
            3 => {
                set(0, s + j);
                4
            }
            4 => {
                set(3, j + 1);
                2
            }
            _ => {
                set(1, i + 1);
                0
            }
        }
    }

    /// Records the bytecode that is interpreted next, or ends the recording before it.
    fn records(&mut self, word: u64) {
        let Some(mut now) = self.recorded else { return };
        if let Some(key) = loop_at(word).filter(|_| now.is_started) {
            let goes_on = self.host.vm.goes_on_at(key, false);
            let outcome = match now.is_side {
                false if key == now.root => Some(self.host.vm.close_recording()),
                true if goes_on => {
                    self.host.go_on(|tape| tape.at(word, ALL));
                    Some(self.host.vm.link_recording(key))
                }
                _ => None,
            };
            if let Some(outcome) = outcome {
                assert!(!matches!(outcome, CloseOutcome::Again));
                self.recorded = None;
                return;
            }
        }
        let [_, i, n, j, m] = self.state();
        self.host.go_on(|tape| match word {
            0 => test(tape, word, [1, 2], i < n),
            2 => test(tape, word, [3, 4], j < m),
            1 => {
                tape.at(word, ALL);
                let zero = tape.constant(0);
                tape.write_int(3, zero);
            }
            3 => {
                tape.at(word, ALL);
                let (s, j) = (tape.int(0), tape.int(3));
                let s = tape.op2(Op::IntAdd, s, j);
                tape.write_int(0, s);
            }
            4 => tape.add(word, ALL, 3, 1),
            _ => tape.add(word, ALL, 1, 1),
        });
        now.is_started = true;
        self.recorded = Some(now);
        // The program leaves the nest.
        if word == 0 && i >= n {
            self.abort("loop left");
        }
    }

    fn abort(&mut self, reason: &str) {
        self.host.vm.abort_recording(AbortReason::Host(reason.into()));
        self.recorded = None;
    }

    /// The program jumps back: code may run from here on. Where it goes on.
    fn jumps_back(&mut self, head: u64) -> u64 {
        let key = loop_at(head).expect("a jump back is to a head");
        if let Some(now) = &mut self.recorded {
            let is_own = !now.is_side && key == now.root;
            now.edges += u32::from(!is_own);
            let (is_around, edges) = (now.root == INNER && key == OUTER, now.edges);
            if !now.is_side && key != now.root && self.host.vm.has_loop(key) || edges > MOST_EDGES {
                self.abort("inner loop");
            } else if !is_own {
                self.host.go_on(|tape| tape.recorder.back_edge(key, is_around));
            }
            return head;
        }
        match self.host.back_edge(key) {
            Action::Nothing => head,
            Action::Record => {
                let base = self.host.base();
                assert!(self.host.vm.start_recording(key, base, 0));
                self.recorded = Some(Recorded { root: key, is_side: false, is_started: false, edges: 0 });
                head
            }
            Action::Run(run) => self.code(run, head),
        }
    }

    /// Code runs, and what the service has to run after it.
    fn code(&mut self, mut run: Run, head: u64) -> u64 {
        loop {
            let Some((kind, word)) = self.host.call(run) else { return head };
            self.exits += 1;
            match self.host.next() {
                Action::Run(more) => run = more,
                Action::Nothing => return word,
                Action::Record => {
                    assert!(matches!(kind, ExitKind::Guard | ExitKind::LoopEnd));
                    let base = self.host.base();
                    assert!(self.host.vm.start_side(base));
                    let root = self.host.vm.recorder().expect("it has just begun").0.key;
                    self.recorded = Some(Recorded { root, is_side: true, is_started: false, edges: 0 });
                    return word;
                }
            }
        }
    }

    /// How many traces begin with a loop, and how many side traces have exits of these.
    fn traces(&self, key: usize) -> (usize, usize) {
        let stats = self.host.vm.stats();
        let is_root = |trace: &&TraceStats| trace.parent.is_none() && trace.name == format!("loop_{key:x}");
        (stats.traces.iter().filter(is_root).count(), self.sides(key).len())
    }

    /// How many operations were recorded of each of these side traces.
    fn sides(&self, key: usize) -> Vec<u64> {
        let stats = self.host.vm.stats();
        let is_root = |trace: &&TraceStats| trace.parent.is_none() && trace.name == format!("loop_{key:x}");
        let roots: Vec<TraceId> = stats.traces.iter().filter(is_root).map(|trace| trace.number).collect();
        let hangs = |trace: &&TraceStats| trace.parent.is_some_and(|at| roots.contains(&at.trace));
        stats.traces.iter().filter(hangs).map(|trace| trace.ops.0).collect()
    }

    fn regions(&self) -> u64 {
        self.host.vm.stats().regions.map_or(0, |regions| regions.made)
    }
}

#[test]
fn an_inner_loop_of_few_iterations_gives_way() {
    let mut nest = Nest::new();
    nest.run(2_000, 3);
    assert_eq!(nest.traces(INNER).0, 1, "it was hot first");
    let mut runs = 0;
    while nest.traces(OUTER).0 == 0 {
        nest.run(2_000, 3);
        runs += 1;
        assert!(runs < 100, "the outer loop never has its turn");
    }
    assert_eq!(nest.regions(), 0, "a region of the inner loop would have been made");
    nest.run(100_000, 3);
    assert!(nest.exits < 20, "{} exits: the outer loop's code runs", nest.exits);
    let regions = nest.regions();
    nest.run(100_000, 3);
    assert_eq!(nest.regions(), regions, "nothing is crossed any more");
}

#[test]
fn an_inner_loop_of_many_iterations_keeps_its_code() {
    let mut nest = Nest::new();
    for _ in 0..40 {
        nest.run(2_000, 12);
    }
    assert_eq!(nest.traces(OUTER).0, 0, "it takes in no more than {MOST_EDGES} iterations");
    assert_eq!((nest.traces(INNER).0, nest.regions()), (1, 1), "both became one function");
    nest.run(10_000, 12);
    assert!(nest.exits < 5, "{} exits", nest.exits);
}

/// A nest whose inner loop has code, and no side trace.
fn with_inner_code(mut nest: Nest) -> Nest {
    nest.run(10, 12);
    assert_eq!(nest.traces(INNER), (1, 0));
    nest
}

#[test]
fn a_loop_that_the_outer_one_has_met_is_taken_into_its_side_traces() {
    let mut nest = with_inner_code(Nest::new());
    nest.run(2_000, 0);
    assert_eq!(nest.traces(OUTER), (1, 0), "it met the inner loop and saw no iteration");
    nest.run(5_000, 2);
    assert_eq!(nest.sides(OUTER), [ALL_OF_TWO], "nothing leads to the inner loop's code");
    nest.run(1_000, 2);
    assert!(nest.exits < 5, "{} exits", nest.exits);
    // It takes in some iterations, and the loop's code has the others.
    for _ in 0..40 {
        nest.run(200, 30);
    }
    assert!(nest.traces(INNER).1 > 0, "its end leads around");
    nest.run(1_000, 30);
    assert!(nest.exits < 5, "{} exits", nest.exits);
}

#[test]
fn side_traces_that_lead_to_a_loop_of_few_iterations_are_recorded_anew() {
    let mut nest = Nest::new();
    nest.run(200, 0);
    let mut nest = with_inner_code(nest);
    nest.run(5_000, 2);
    assert_eq!(nest.sides(OUTER), [ONE_OF_TWO, ALL_OF_TWO], "first it led to the inner loop's code");
    let regions = nest.regions();
    nest.run(100_000, 2);
    assert_eq!(nest.regions(), regions, "nothing is crossed any more but that one's exit");
}
