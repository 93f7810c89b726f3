//! The papers' programs, from source to machine code: what is recorded is the papers' traces, what is left of
//! them is the papers' loops, and how it runs is what the plain interpreter does.
//!
//! Problem: a listing typed into a test shows what the optimizer does, not that an interpreter gets there.
//! Design: the programs of both papers' Figure 1 are recorded by this host; their traces are compared with
//! the papers' (the files in `tests/traces/papers`) and then optimized. What the optimizer makes of the
//! papers' listings is tested in `jit-opt/tests/papers`; here, only what is left of the loops. What running
//! them allocates is counted by the heap, which knows nothing of traces. Invariant: every run is compared
//! with the interpreter's. Example: `f(BoxedInteger(2000))` makes as many objects as `f(BoxedInteger(1000))`.

use tracelift_boxed::{Machine, Number, Options, Outcome, SEED_000, SEED_002};
use tracelift_core::text::{equal_up_to_renaming, parse_file, parse_trace, print_trace};
use tracelift_core::{Op, Trace};
use tracelift_opt::optimize;
use tracelift_runtime::Config;

use Number::{Float, Integer};

/// Figure 2 of both papers, as the trace files have them.
const FIGURE_2_OF_000: &str = include_str!("../../../tests/traces/papers/loops-figure2.trace");
const FIGURE_2_OF_002: &str = include_str!("../../../tests/traces/papers/allocation-figure2.trace");

/// The trace without what the figures leave out: snapshots, exit kinds and entry slots.
fn bare(trace: &Trace) -> Trace {
    let mut trace = trace.clone();
    trace.entry.clear();
    trace.snapshots.clear();
    for inst in &mut trace.insts {
        (inst.snap, inst.exit) = (None, Default::default());
    }
    trace
}

/// A machine that has just recorded the loop of a paper's program, as it is printed.
fn recorded(source: &str) -> Machine {
    let config = Config { threshold: 3, ..Config::exact() };
    let options =
        Options { config, polls: false, keep_recorded: true, stop_when_recorded: true, ..Options::default() };
    let mut machine = Machine::new(source, options).unwrap();
    assert_eq!(machine.run("f", &[Integer(100)], 0), Ok(Outcome::Recorded));
    machine
}

/// The recorded trace is the figure, up to renaming.
fn check(source: &str, figure: &str) {
    let machine = recorded(source);
    let schema = machine.schema();
    let recorded = bare(&machine.recorded()[0]);
    let printed = print_trace(&recorded, schema);
    let file = parse_file(figure, &tracelift_core::testbed::natives).unwrap();
    // The file has a schema of its own: what the machine's layouts are called there is the same.
    let expected = parse_trace(&print_trace(&file.traces[0], &file.schema), schema).unwrap();
    if let Err(difference) = equal_up_to_renaming(&recorded, &expected, schema) {
        panic!("{difference}\n{printed}");
    }
    let depths = |trace: &Trace| trace.insts.iter().map(|inst| inst.depth).collect::<Vec<_>>();
    let reparsed = parse_trace(&printed, schema).unwrap();
    assert_eq!(depths(&reparsed), depths(&recorded), "call depths survive the text form\n{printed}");
}

#[test]
fn a3_seed_000_figure_2() {
    // Here labels follow the frame's slots, in which the parameter, p1, comes first.
    let figure = FIGURE_2_OF_000.replace("L0(p0, p1)", "L0(p1, p0)").replace("(L0, p0, p5)", "(L0, p5, p0)");
    check(SEED_000, &figure);
}

#[test]
fn b2_seed_002_figure_2() {
    check(SEED_002, FIGURE_2_OF_002);
}

/// What is left of a recorded loop after its last label.
fn body(machine: &Machine, config: &tracelift_opt::Config) -> Vec<Op> {
    let optimized = optimize(&machine.recorded()[0], machine.schema(), config).unwrap();
    let label = optimized.trace.insts.iter().rposition(|inst| inst.op == Op::Label).unwrap();
    optimized.trace.insts[label + 1..].iter().map(|inst| inst.op).collect()
}

/// Seed 000, Figure 8: "the resulting optimized peeled loop consists of a single integer addition".
#[test]
fn a8_the_loop_of_seed_000_is_one_addition() {
    assert_eq!(body(&recorded(SEED_000), &tracelift_opt::Config::new()), [Op::IntAdd, Op::Jump]);
}

/// Seed 002, Figure 4, as its authors had it, allocation removal and nothing else: two allocations and three
/// guards are left. The listing stands in `jit-opt/tests/papers`.
#[test]
fn b2_seed_002_figure_4() {
    let config = tracelift_opt::Config::parse("-all,+virtuals").unwrap().keeping_records();
    let machine = recorded(SEED_002);
    let before = &machine.recorded()[0];
    let after = optimize(before, machine.schema(), &config).unwrap().trace;
    let count = |trace: &Trace, op| trace.insts.iter().filter(|inst| inst.op == op).count();
    assert_eq!((count(before, Op::New), count(&after, Op::New)), (5, 2));
    assert_eq!((count(before, Op::GuardClass), count(&after, Op::GuardClass)), (7, 3));
}

/// With everything on: three additions, a compare and the guard that ends the loop.
#[test]
fn b2_the_loop_of_seed_002_with_all_passes() {
    let wanted = [Op::IntAdd, Op::IntAdd, Op::IntAdd, Op::IntGt, Op::GuardTrue, Op::Jump];
    assert_eq!(body(&recorded(SEED_002), &tracelift_opt::Config::new()), wanted);
}

/// All passes are on by default.
fn all_passes(threshold: u32) -> Config {
    Config { threshold, verify: true, count_guards: true, count_iterations: true, ..Config::exact() }
}

fn machine(source: &str, config: Config) -> Machine {
    Machine::new(source, Options { config, ..Options::default() }).unwrap()
}

fn interpreter(source: &str) -> Machine {
    Machine::new(source, Options::interpreter()).unwrap()
}

/// The heap's own count: a thousand more iterations make no object more.
#[test]
fn b1_the_loop_of_seed_002_allocates_nothing() {
    let made = |source: &str, count: i64, fuel: i64| {
        let mut machine = machine(source, all_passes(3));
        let outcome = machine.run("f", &[Integer(count)], fuel).unwrap();
        assert_eq!(Ok(outcome), interpreter(source).run("f", &[Integer(count)], fuel));
        (machine.heap().made, machine.heap().asked)
    };
    assert_eq!(made(SEED_002, 1_000, i64::MAX), made(SEED_002, 2_000, i64::MAX));
    assert_eq!(made(SEED_000, 0, 1_000), made(SEED_000, 0, 2_000));
    // The counts mean something: without the pass, each iteration makes its objects.
    let mut config = all_passes(3);
    config.opt.switch("-virtuals").unwrap();
    let mut without = machine(SEED_002, config);
    without.run("f", &[Integer(1_000)], i64::MAX).unwrap();
    assert!(without.heap().made > 4_900, "{} objects", without.heap().made);
}

/// Seed 002's program ends and gives what the interpreter gives, whatever the number.
#[test]
fn b1_seed_002_runs_to_completion() {
    for y in [Integer(0), Integer(1), Integer(60), Integer(5_000), Float(0.5), Float(700.25), Float(f64::NAN)]
    {
        for threshold in [1, 2, 7] {
            let mut machine = machine(SEED_002, all_passes(threshold));
            let expected = interpreter(SEED_002).run("f", &[y], i64::MAX);
            assert_eq!(machine.run("f", &[y], i64::MAX), expected, "f({y:?}) at threshold {threshold}");
            // A recording that meets the loop's end is given up; nothing else may be.
            let aborts = machine.vm().stats().aborts;
            assert!(aborts.keys().all(|reason| reason == "loop ended"), "{aborts:?}");
        }
    }
}

/// "When the trace is turned into machine code and afterwards executed with BoxedFloat, the first guard_class
/// instruction will fail and execution will continue using the interpreter."
#[test]
fn a2_a_boxed_float_fails_the_first_guard() {
    for (source, fuel) in [(SEED_000, 400), (SEED_002, i64::MAX)] {
        let mut machine = machine(source, all_passes(3));
        let mut plain = interpreter(source);
        assert_eq!(machine.run("f", &[Integer(300)], fuel), plain.run("f", &[Integer(300)], fuel));
        let before = machine.vm().stats();
        assert!(before.compiled_iterations.unwrap() > 290, "{}", before.text());
        assert_eq!(machine.run("f", &[Float(300.5)], fuel), plain.run("f", &[Float(300.5)], fuel));
        let after = machine.vm().stats();
        let guards = |stats: &tracelift_runtime::Stats| stats.exits.get("guard").copied().unwrap_or(0);
        assert!(guards(&after) > guards(&before), "{}", after.text());
        assert_eq!(
            after.compiled_iterations, before.compiled_iterations,
            "no iteration on floats was completed"
        );
        // And the code is still good for integers.
        assert_eq!(machine.run("f", &[Integer(300)], fuel), plain.run("f", &[Integer(300)], fuel));
        assert!(machine.vm().stats().compiled_iterations > after.compiled_iterations);
    }
}

/// Each guard of each iteration fails in turn; the objects that the loop never makes are there when it does.
#[test]
fn b1_objects_are_there_when_a_guard_fails() {
    for (source, fuel) in [(SEED_000, 20), (SEED_002, i64::MAX)] {
        let y = Integer(20);
        let expected = interpreter(source).run("f", &[y], fuel);
        let mut counting = machine(source, all_passes(3));
        assert_eq!(counting.run("f", &[y], fuel), expected);
        let guards = counting.vm().stats().guards_executed.unwrap();
        assert!(guards > 15, "{guards}");
        for guard in 1..=guards {
            let mut forced = machine(source, Config { force_exit: Some(guard), ..all_passes(3) });
            assert_eq!(forced.run("f", &[y], fuel), expected, "guard execution {guard} of {guards}");
        }
    }
}
