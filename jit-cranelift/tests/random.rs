//! Random traces without record operations: machine code against the evaluator, in two copies of one world,
//! once as they are and once for each guard execution forced to fail.
//!
//! Record operations have to be expanded by the optimizer first; traces with them are compared in the
//! workspace's own tests. `TRACELIFT_RANDOM_TRACES` is the number of seeds tried.

mod common;

use std::sync::Arc;

use common::*;
use tracelift_core::eval::{compare_outcomes, End, Evaluator, FrameState, Limits, Outcome as Run, SlotState};
use tracelift_core::ops::Flags;
use tracelift_core::snapshot::Source;
use tracelift_core::testbed::standard_schema;
use tracelift_core::testgen::{generate, Case};
use tracelift_core::world::World;
use tracelift_core::{ir::*, Schema, Type};
use tracelift_cranelift::*;

/// Runs the case's code in its world, and reads the exit as the runtime would.
fn native(
    case: &Case,
    trace: &Trace,
    compiled: &Compiled,
    code: CodePtr,
    world: &mut World,
    cells: &mut [u64],
) -> Run {
    let inputs = case.enter(world);
    cells[..inputs.len()].copy_from_slice(&inputs);
    // SAFETY: the code was compiled for these cells and this world's addresses.
    let returned = unsafe { (code.entry())(world.context() as *mut _, world.frame_base() as *mut u8) };
    let exit = &compiled.exits[exit_number(returned) as usize];
    let bits = |value: Value| {
        let cell = exit.live.iter().position(|&live| live == value);
        trace.bits_of(value).or_else(|| cell.map(|cell| cells[cell])).expect("a live value or a constant")
    };
    let inst = &trace.insts[exit.inst];
    let frames = trace.snapshot_of(inst).map_or(&[][..], |snapshot| &snapshot.frames);
    let frames = (frames.iter())
        .map(|frame| FrameState {
            base: frame.base,
            words: frame.words.to_vec(),
            slots: (frame.slots.iter())
                .map(|slot| {
                    let bits = match slot.source {
                        Source::Value(value) => Some(bits(value)),
                        Source::Nothing => None,
                        Source::Virtual(_) | Source::InPlace => {
                            unreachable!("recorded traces have no virtual objects")
                        }
                    };
                    SlotState { slot: slot.slot, tag: slot.tag, bits }
                })
                .collect(),
        })
        .collect();
    let end = match inst.exit {
        ExitKind::Finish => End::Finish(inst.args.iter().map(|&arg| bits(arg)).collect()),
        kind => End::Exit { number: exit.number, kind },
    };
    let origin = trace.snapshot_of(inst).map(|snapshot| snapshot.origin);
    Run {
        end,
        place: Default::default(),
        base: 0,
        callers: vec![],
        origin,
        iteration: 0,
        frames,
        live: Vec::new(),
        mentioned: Default::default(),
        guards_executed: 0,
        forced_aside: false,
        exit_counts: vec![],
        op_counts: vec![],
    }
}

/// Compares all runs of one case; returns how many there were, and how many loops were unrolled.
fn check(case: &Case, schema: &Arc<Schema>, harness: &mut Harness) -> (u64, usize) {
    let (mut left, mut right) = (World::build(&case.spec, schema), World::build(&case.spec, schema));
    let mut trace = case.trace.clone();
    trace.bind(|object| right.object_address(object));
    harness.force = Some(Box::new(0));
    let kind = EntryKind::of(&trace);
    let compiled = harness.compile(&trace, schema);
    assert!(kind == EntryKind::Slots || compiled.buffer_cells >= trace.inputs().len());
    let code = harness.arena.install(TreeId(1), &compiled).unwrap();
    let evaluator = Evaluator::new(&case.trace, schema);
    let mut guards = 0;
    for nth in 0..=40 {
        left.reset();
        right.reset();
        **harness.force.as_mut().unwrap() = nth;
        let limits = Limits { force_guard: (nth > 0).then_some(nth), ..Limits::default() };
        let inputs = case.enter(&mut left);
        let expected = evaluator.run(&mut left, &inputs, limits).expect("generated traces have a meaning");
        let found = native(case, &trace, &compiled, code, &mut right, &mut harness.buffer[..]);
        let context = || format!("seed {}, forced guard {nth}: {expected:?}\n{found:?}", case.seed);
        if !matches!(expected.end, End::Finish(_)) {
            assert_eq!((&expected.end, expected.origin), (&found.end, found.origin), "{}", context());
        }
        let finish = trace.insts.last().expect("a trace has an end");
        let types: Vec<Type> = finish.args.iter().map(|&arg| trace.ty(arg)).collect();
        if let Err(difference) = compare_outcomes(schema, (&expected, &left), (&found, &right), &types) {
            panic!("{difference:?}\n{}", context());
        }
        if nth == 0 {
            guards = expected.guards_executed;
        }
        if nth == guards {
            break;
        }
    }
    harness.arena.free(TreeId(1));
    (guards.min(40) + 1, compiled.stats.unrolled)
}

#[test]
fn random_traces_agree_with_the_evaluator() {
    let schema = Arc::new(standard_schema());
    let seeds = std::env::var("TRACELIFT_RANDOM_TRACES").map_or(10_000, |count| count.parse().unwrap());
    let mut harnesses = Harness::all();
    let (mut traces, mut runs, mut unrolled) = (0, 0, 0);
    for seed in 0..seeds {
        let case = generate(seed, &schema);
        if case.trace.insts.iter().any(|inst| inst.op.is(Flags::RECORD)) {
            continue;
        }
        traces += 1;
        let turn = traces % harnesses.len();
        let (more_runs, more_unrolled) = check(&case, &schema, &mut harnesses[turn]);
        runs += more_runs;
        unrolled += more_unrolled;
    }
    println!("{traces} traces of {seeds} seeds, {runs} runs, {unrolled} loops several times in a row");
    assert!(seeds < 10_000 || traces > 20, "too few traces without record operations: {traces}");
    assert!(seeds < 10_000 || unrolled > 200, "too few loops are lowered several times: {unrolled}");
}
