//! B9: total work is linear in the trace, lifting included, and no graph is too deep.
//!
//! Problem: "although recursively lifting a static object is not a constant-time operation, the algorithm
//! only takes a total time linear in the length of the trace" (section 5.2); and a recursive implementation
//! overflows the stack on a long list. Design: a chain and a tree of 100,000 objects, lifted by a call and
//! described at a guard; the work is counted in looks at operations and at objects of the static heap, not in
//! seconds: lifting that went through the whole heap for each object would look at each of them 100,000
//! times. Invariant: ten times the objects, about ten times the work. Example:
//! `p2 = new(Pair); set(p2, left, p1)`, a hundred thousand times.

use std::fmt::Write;

use tracelift_core::eval::{End, Limits};
use tracelift_core::Op;
use tracelift_opt::optimize;

use super::ALONE;
use crate::support::{config, parse, Subject};

const OBJECTS: usize = 100_000;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Shape {
    /// Object n holds object n + 1.
    Chain,
    /// Object n holds objects 2n and 2n + 1.
    Tree,
}

/// Makes so many objects; all are reached from `p1`.
fn graph(shape: Shape, objects: usize) -> String {
    let mut text = String::from("L0(i0):\n");
    for n in (1..=objects).rev() {
        let held: &[usize] = match shape {
            Shape::Chain => &[n + 1],
            Shape::Tree => &[2 * n, 2 * n + 1],
        };
        writeln!(text, "p{n} = new(Pair)").expect("strings can be written to");
        for (field, held) in ["left", "right"].iter().zip(held).filter(|(_, held)| **held <= objects) {
            writeln!(text, "set(p{n}, {field}, p{held})").expect("strings can be written to");
        }
    }
    text
}

/// The optimizer's work per object in hundredths, for a tenth of the objects and for all.
fn work(text: impl Fn(usize) -> String, check: impl Fn(&tracelift_opt::Optimized, usize)) -> (u64, u64) {
    let per_object = |objects: usize| {
        let file = parse(&text(objects));
        let optimized = optimize(&file.traces[0], &file.schema, &config(ALONE)).expect("the trace is valid");
        check(&optimized, objects);
        optimized.report.visited * 100 / objects as u64
    };
    (per_object(OBJECTS / 10), per_object(OBJECTS))
}

fn assert_linear((few, many): (u64, u64)) {
    assert!(
        many.abs_diff(few) <= few / 20,
        "work per object: {few} hundredths for few objects, {many} for many"
    );
}

#[test]
fn b9_a_hundred_thousand_objects_are_lifted_in_linear_time() {
    for shape in [Shape::Chain, Shape::Tree] {
        let lifted = |objects| format!("{}call(seen, p1)\nfinish()\n", graph(shape, objects));
        assert_linear(work(lifted, |optimized, objects| {
            assert_eq!(
                (optimized.report.after.new, optimized.report.fired("lift")),
                (objects, objects as u64)
            );
        }));
    }
}

/// Objects of a hundred thousand cycles that only know one another are dropped.
#[test]
fn b9_a_hundred_thousand_objects_are_dropped_in_linear_time() {
    let dropped = |objects| format!("{}finish()\n", graph(Shape::Tree, objects));
    assert_linear(work(dropped, |optimized, _| assert_eq!(optimized.trace.insts.len(), 2)));
}

/// A guard describes them all; when it fails they are there, each once, and linked as they were.
#[test]
fn b9_a_hundred_thousand_objects_are_recovered_at_an_exit() {
    for shape in [Shape::Chain, Shape::Tree] {
        let guarded = |objects| {
            format!("{}@0 = frame[0: ref p1]\nguard_true(i0) @0\nfinish()\nrun: 0\n", graph(shape, objects))
        };
        assert_linear(work(guarded, |optimized, objects| {
            assert_eq!(optimized.report.after.new, 0);
            let described: Vec<usize> = optimized.trace.snapshots.iter().map(|s| s.virtuals.len()).collect();
            assert_eq!(described, [objects], "one description of each");
            assert!(optimized.report.resume_bytes < 16 * objects, "resume data is linear too");
            let state = optimized.resume.state(0).expect("the resume data can be read");
            assert_eq!(state.virtuals().count(), objects);
        }));
        let file = parse(&guarded(OBJECTS));
        let optimized = optimize(&file.traces[0], &file.schema, &config(ALONE)).expect("the trace is valid");
        let subject = Subject::of(&file);
        let (outcome, world) = subject.run(&optimized.trace, Limits::default()).expect("it runs");
        assert!(matches!(outcome.end, End::Exit { number: 0, .. }));
        assert_eq!(outcome.op_counts[Op::New as usize], 0);
        assert_eq!(world.allocations(), OBJECTS as u64);
        // Every object is reached from the slot, once.
        let pair = file.schema.find_layout("Pair").expect("the header has it");
        let cell =
            |name| file.schema.field_cell(file.schema.find_field(pair, name).expect("a field of Pair"));
        let mut todo = vec![outcome.frames[0].slots[0].bits.expect("a reference")];
        let mut found = 0;
        while let Some(object) = todo.pop().filter(|&object| object != 0) {
            found += 1;
            for name in ["right", "left"] {
                let held = world.load_cell(object, cell(name)).expect("an object of the world");
                todo.extend((held != 0).then_some(held));
            }
        }
        assert_eq!(found, OBJECTS, "{shape:?}");
    }
}
