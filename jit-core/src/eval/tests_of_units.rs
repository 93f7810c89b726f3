//! Units that call one another: what they return, and what is left behind where one of them is left.
//!
//! Problem and design: see `run.rs`. Each test is a little program as text, over the standard test schema's
//! tags. Invariant: the world's frame has its base again after each run. Example: `fib(5)` is 5, by calls of
//! a unit whose side trace returns for small arguments.

use std::sync::Arc;

use super::*;
use crate::text::{parse_file, TraceFile};
use crate::world::World;

/// `fib` as a unit; where its argument is below 2, exit 0 leads to the side trace.
const FIB: &str = "
words 1
trace main
L0(i0):
@0 = frame(words 7)[0: int i0] frame(base 3, words 8)[0: int i0]
i1 = call_unit(0, 3, i0) @0
@1 = frame(words 9)[0: int i0]
i2 = unit_result(i1, 1: int) @1
finish(i2) @1

trace fib
unit 0
entry [0: int]
L0(i0):
@0 = frame(words 10)[0: int i0]
i1 = int_ge(i0, 2)
guard_true(i1) @0
i2 = int_sub(i0, 1)
@1 = frame(words 11)[0: int i0] frame(base 4, words 12)[0: int i2]
i3 = call_unit(0, 4, i2) @1
@2 = frame(words 13)[0: int i0]
i4 = unit_result(i3, 2: int) @2
i5 = int_sub(i0, 2)
@3 = frame(words 14)[0: int i0, 2: int i4] frame(base 4, words 12)[0: int i5]
i6 = call_unit(0, 4, i5) @3
@4 = frame(words 15)[0: int i0, 2: int i4]
i7 = unit_result(i6, 3: int) @4
i8 = int_add(i4, i7)
return_unit(i8, int)

trace small
unit 0
entry_cells [0]
L0(i0):
return_unit(i0, int)
";

const SIDES: [Side; 1] = [Side { parent: 2, exit: 0, trace: 3 }];

struct Fixture {
    file: TraceFile,
    world: World,
}

impl Fixture {
    fn new(text: &str) -> Fixture {
        let file = parse_file(text, &|_| None).unwrap_or_else(|error| panic!("{error}"));
        let world = World::build(&file.world, &Arc::new(file.schema.clone()));
        Fixture { file, world }
    }

    fn run(&mut self, sides: &[Side], input: i64, limits: Limits) -> Result<Outcome, EvalError> {
        self.world.reset();
        let base = self.world.frame_base();
        let TraceFile { traces, schema, .. } = &self.file;
        let evaluator = Evaluator::new(&traces[0], schema).with_units(traces).with_sides(sides);
        let outcome = evaluator.run(&mut self.world, &[input as u64], limits);
        assert_eq!(self.world.frame_base(), base);
        outcome
    }
}

/// Bases and first words of frames, and the payloads in their slots.
fn shown(frames: &[FrameState]) -> Vec<(i32, u64, Vec<Option<Bits>>)> {
    let slots = |frame: &FrameState| frame.slots.iter().map(|slot| slot.bits).collect();
    frames.iter().map(|frame| (frame.base, frame.words[0], slots(frame))).collect()
}

#[test]
fn units_call_themselves_and_return() {
    let mut f = Fixture::new(FIB);
    for (n, fib) in [(0, 0), (1, 1), (2, 1), (5, 5), (10, 55)] {
        let outcome = f.run(&SIDES, n, Limits::default()).unwrap();
        assert_eq!(outcome.end, End::Finish(vec![fib]), "fib({n})");
        assert_eq!((outcome.place, &outcome.callers[..]), (Place::default(), &[][..]));
    }
}

#[test]
fn the_unit_alone_returns() {
    let file = parse_file(FIB, &|_| None).unwrap();
    let mut world = World::build(&file.world, &Arc::new(file.schema.clone()));
    // Here the unit is both the trace that is run and one of those it may call.
    let sides = [Side { parent: 0, exit: 0, trace: 3 }];
    let evaluator = Evaluator::new(&file.traces[1], &file.schema).with_units(&file.traces).with_sides(&sides);
    let outcome = evaluator.run(&mut world, &[7], Limits::default()).unwrap();
    let tag = file.schema.find_tag("int").unwrap();
    assert_eq!(outcome.end, End::Returned { tag, bits: Some(13) });
}

#[test]
fn where_a_unit_is_left_all_its_callers_are() {
    let mut f = Fixture::new(FIB);
    // Without side trace, the first argument below 2 leaves: fib(3) calls fib(2), which calls fib(1).
    let outcome = f.run(&[], 3, Limits::default()).unwrap();
    assert_eq!(outcome.end, End::Exit { number: 0, kind: ExitKind::Guard });
    assert_eq!((outcome.place, outcome.base, outcome.origin), (Place { trace: 2, call: 3 }, 11, Some(0)));
    let caller = |trace, exit, base| Caller { trace, exit, base };
    assert_eq!(outcome.callers, [caller(2, 1, 7), caller(2, 1, 3), caller(0, 0, 0)]);
    let some = |value| vec![Some(value)];
    assert_eq!(
        shown(&outcome.frames),
        [
            (0, 7, some(3)),
            (3, 8, vec![]),
            (3, 11, some(3)),
            (7, 12, vec![]),
            (7, 11, some(2)),
            (11, 12, vec![]),
            (11, 10, some(1)),
        ]
    );
}

#[test]
fn guards_of_units_are_forced_and_runs_stopped_in_them() {
    let mut f = Fixture::new(FIB);
    let free = f.run(&SIDES, 3, Limits::default()).unwrap();
    // Of each call of fib its test, of each call what it returned: main 1, fib(3) 3, fib(2) 3, three small.
    assert_eq!(free.guards_executed, 10);
    // The second thing of fib(2) is what fib(1) has returned: it is put into slot 2 of the frame at 7.
    let forced = f.run(&SIDES, 3, Limits { force_guard: Some(4), ..Limits::default() }).unwrap();
    assert_eq!(
        (forced.end, forced.place),
        (End::Exit { number: 2, kind: ExitKind::Guard }, Place { trace: 2, call: 2 })
    );
    let at = f.world.frame_base() + (7 + 2) * 16;
    let tag = f.file.schema.tag(f.file.schema.find_tag("int").unwrap()).bits;
    assert_eq!((f.world.read(at, 8), f.world.read(at + 8, 1)), (Some(1), Some(tag)));
    let limits = Limits { stop_at: Some((2, 0)), stop_in: forced.place, ..Limits::default() };
    let stopped = f.run(&SIDES, 3, limits).unwrap();
    assert_eq!((stopped.end, stopped.callers, stopped.frames), (End::Stopped, forced.callers, forced.frames));
    assert_eq!((f.world.read(at, 8), f.world.read(at + 8, 1)), (Some(1), Some(tag)), "as the interpreter");
    // A test that fails goes on in the side trace.
    let aside = f.run(&SIDES, 3, Limits { force_guard: Some(1), ..Limits::default() }).unwrap();
    assert_eq!((aside.end, aside.forced_aside), (End::Finish(vec![3]), true));
}

#[test]
fn endless_calls_come_to_an_end() {
    let text =
        "trace main\nunit 0\nL0(i0):\n@0 = frame[] frame[]\ni1 = call_unit(0, 0, i0) @0\n@1 = frame[]\n\
                unit_result(i1, _) @1\nreturn_unit(nil)\n";
    let outcome = Fixture::new(text).run(&[], 1, Limits::default()).unwrap();
    assert_eq!((outcome.end, outcome.callers.len()), (End::OutOfFuel, 0));
}

#[test]
fn results_of_other_tags_are_put_down() {
    let text = |take: &str| {
        format!(
            "trace main\nL0(i0):\n@0 = frame[0: int i0] frame(base 2)[]\ni1 = call_unit(4, 2, i0) @0\n\
             @1 = frame[0: int i0]\n{take} @1\nfinish(i0)\n\
             trace half\nunit 4\nentry [0: int]\nL0(i0):\nf1 = int_to_float(i0)\nf2 = float_mul(f1, 0.5)\n\
             return_unit(f2, float)\n"
        )
    };
    let memory = |f: &Fixture| f.world.read(f.world.frame_base() + 16, 8).map(f64::from_bits);
    let ways = [
        ("i2 = unit_result(i1, 1: int)", false, Some(1.5)),
        ("f2 = unit_result(i1, 1: float)", true, Some(0.0)),
        ("unit_result(i1, 1)", true, Some(1.5)),
        ("unit_result(i1, _)", true, Some(0.0)),
    ];
    for (take, goes_on, in_memory) in ways {
        let mut f = Fixture::new(&text(take));
        let outcome = f.run(&[], 3, Limits::default()).unwrap();
        assert_eq!((outcome.end == End::Finish(vec![3]), memory(&f)), (goes_on, in_memory), "{take}");
        assert!(outcome.callers.is_empty());
    }
    let mut f = Fixture::new(&text("f2 = unit_result(i1, 1: float)").replace("call_unit(4", "call_unit(5"));
    let error = f.run(&[], 3, Limits::default()).unwrap_err();
    assert_eq!(error.to_string(), "instruction 1: malformed: a call of an unknown unit");
}
