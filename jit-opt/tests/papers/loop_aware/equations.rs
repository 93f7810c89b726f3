//! A9: the nine equations of seed 000, over random traces.
//!
//! Equations 1 to 4 define the map `m` from the preamble's values to the loop's; with peeling alone, `m` can
//! be read off the output, since the loop is a copy of the preamble. Equations 5 to 9 say what the label
//! takes when more passes run: `Ĵ = J · H`, where virtual objects of `J` are replaced by what they hold, and
//! `K̂ = m(Ĵ)`. What each argument is, the optimizer says itself ([`CarriedKey`]); whether that is true is
//! found by running: preamble and first iteration are cut off at their jump and finish with what they pass,
//! which must be what the copy computed for these values.
//!
//! (Equation 9 prints `m(Ĵ1)` twice; the second is `m(Ĵ2)`.) Invariant: a random trace that is not peeled is
//! counted, so that the tests cannot pass by peeling nothing. Example: A8's Figure 8 has `J = (p0, i4)` and
//! `H = (i3)`.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use tracelift_core::eval::{compare_outcomes, finish_types, End, Limits, Outcome};
use tracelift_core::testbed::standard_schema;
use tracelift_core::testgen::{generate, Case};
use tracelift_core::text::print_trace;
use tracelift_core::world::World;
use tracelift_core::{Const, Inst, Op, Schema, Trace, Type, Value};
use tracelift_opt::{CarriedKey, Optimized};

use crate::support::{config, listing, optimized_by, Subject};

/// An operand: a value, or the constant that it is (each trace numbers its constants itself).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Operand {
    Value(Value),
    Constant(Type, Const),
}

fn operand(trace: &Trace, value: Value) -> Operand {
    match trace.constant_of(value) {
        Some(constant) => Operand::Constant(trace.ty(value), constant),
        None => Operand::Value(value),
    }
}

/// The recorded trace and its plain peeled form, taken apart.
struct Copy<'a> {
    recorded: &'a Trace,
    out: &'a Trace,
    /// The preamble's operand for each recorded value.
    p: HashMap<Value, Operand>,
    /// The loop's: `m`.
    m: HashMap<Value, Operand>,
}

impl<'a> Copy<'a> {
    /// Checks equations 1 to 4 while it builds the maps.
    fn new(recorded: &'a Trace, out: &'a Trace) -> Copy<'a> {
        let last = recorded.insts.len() - 1;
        let label = last + 1;
        let mut copy = Copy { recorded, out, p: HashMap::new(), m: HashMap::new() };
        assert_eq!((out.insts[last].op, out.insts[label].op), (Op::Jump, Op::Label));
        assert_eq!(out.insts.len(), label + 1 + last, "the loop has the operations of the preamble");
        for (&from, &to) in recorded.insts[0].args.iter().zip(&out.insts[0].args) {
            copy.p.insert(from, Operand::Value(to));
        }
        for at in 1..last {
            if let Some((from, to)) = copy.same(at, at, |value| copy.image(&copy.p, value)) {
                copy.p.insert(from, Operand::Value(to));
            }
        }
        // (1): m(I) = J, by the name that the label gives to what the jump passes. A constant needs no
        // passing.
        let (passed, names) = (&out.insts[last].args, &out.insts[label].args);
        for (&input, &arg) in recorded.insts[0].args.iter().zip(&recorded.insts[last].args) {
            let to = match copy.image(&copy.p, arg) {
                Operand::Value(from) => {
                    let position = passed.iter().position(|&other| other == from).expect("J is passed");
                    Operand::Value(names[position])
                }
                constant => constant,
            };
            copy.m.insert(input, to);
        }
        // (3): each operation over m of its arguments; (4): m grows by a fresh name for each result.
        let mut taken: HashSet<Value> = out.insts[..=label].iter().flat_map(|inst| inst.result).collect();
        taken.extend(out.insts[0].args.iter().chain(names));
        for at in 1..last {
            if let Some((from, to)) = copy.same(at, label + at, |value| copy.image(&copy.m, value)) {
                assert!(taken.insert(to), "the copy's names are new");
                copy.m.insert(from, Operand::Value(to));
            }
        }
        // K = m(J).
        let wanted: HashSet<Operand> =
            recorded.insts[last].args.iter().map(|&arg| copy.image(&copy.m, arg)).collect();
        let found: HashSet<Operand> =
            out.insts[label + last].args.iter().map(|&arg| operand(out, arg)).collect();
        assert!(wanted.iter().all(|value| matches!(value, Operand::Constant(..)) || found.contains(value)));
        copy
    }

    fn image(&self, map: &HashMap<Value, Operand>, value: Value) -> Operand {
        match operand(self.recorded, value) {
            Operand::Value(value) => map[&value],
            constant => constant,
        }
    }

    /// Asserts that an instruction of the output is the recorded one over mapped operands; the pair of
    /// results.
    fn same(&self, at: usize, to: usize, map: impl Fn(Value) -> Operand) -> Option<(Value, Value)> {
        let (from, to) = (&self.recorded.insts[at], &self.out.insts[to]);
        assert_eq!((from.op, from.payload, from.exit), (to.op, to.payload, to.exit));
        let found = |value: Value| operand(self.out, value);
        let arguments = from.args.iter().map(|&arg| map(arg)).eq(to.args.iter().map(|&arg| found(arg)));
        assert!(arguments, "arguments of {:?}", from.op);
        assert_eq!(from.snap.is_some(), to.snap.is_some());
        if let (Some(before), Some(after)) = (self.recorded.snapshot_of(from), self.out.snapshot_of(to)) {
            let (mut wanted, mut there) = (Vec::new(), Vec::new());
            before.for_each_value(|value| wanted.push(map(value)));
            after.for_each_value(|value| there.push(found(value)));
            assert_eq!(wanted, there, "the snapshot of {:?}", from.op);
        }
        from.result.zip(to.result)
    }
}

/// A random loop without anything that keeps it from being peeled.
fn random_loop(seed: u64, schema: &Arc<Schema>) -> Option<Case> {
    let case = generate(seed, schema);
    let count = |op| case.trace.insts.iter().filter(|inst| inst.op == op).count();
    let is_loop = count(Op::Label) == 1 && count(Op::Finish) == 0 && count(Op::GuardAlwaysFails) == 0;
    is_loop.then_some(case)
}

#[test]
fn a9_equations_1_to_4_map_the_preamble_to_the_loop() {
    let schema = Arc::new(standard_schema());
    let (mut loops, mut peeled) = (0, 0);
    for case in (0..1_500).filter_map(|seed| random_loop(seed, &schema)) {
        let out = optimized_by(&config("-all,+peel"), &case.trace, &schema);
        loops += 1;
        if out.peeled.is_some() {
            Copy::new(&case.trace, &out.trace);
            peeled += 1;
        }
    }
    assert!(loops > 500 && peeled * 10 > loops * 9, "{peeled} of {loops} loops were peeled");
}

/// The trace up to its `nth` jump, which finishes with these values.
fn cut(trace: &Trace, nth: usize, values: &[Operand]) -> Trace {
    let mut cut = trace.clone();
    let values: Vec<Value> = values
        .iter()
        .map(|&value| match value {
            Operand::Value(value) => value,
            Operand::Constant(ty, constant) => cut.constant(ty, constant),
        })
        .collect();
    let jumps = trace.insts.iter().enumerate().filter(|(_, inst)| inst.op == Op::Jump);
    let (at, _) = jumps.clone().nth(nth).expect("the trace was peeled");
    if nth == 0 {
        // What comes after it cannot be reached, and without its label nothing could jump there.
        cut.insts.truncate(at + 1);
        cut.labels.truncate(1);
    }
    cut.insts[at] = Inst::new(Op::Finish, &values).exit_kind(tracelift_core::ExitKind::Finish);
    cut
}

/// The values that an optimized trace names by recorded ones: positions of arguments, and the recorded
/// values.
fn named(out: &Optimized) -> Vec<(usize, Value)> {
    let args = out.peeled.iter().flat_map(|peeled| peeled.args.iter().enumerate());
    let named = args.filter_map(|(position, carried)| match carried.key {
        CarriedKey::Recorded(value) => Some((position, value)),
        CarriedKey::Expanded { .. } | CarriedKey::Invariant => None,
    });
    named.collect()
}

/// Integers that differ from world to world.
fn made_from_addresses(trace: &Trace) -> HashSet<Value> {
    let mut made = HashSet::new();
    for inst in &trace.insts {
        let is_made = inst.op == Op::AddrToInt || inst.args.iter().any(|arg| made.contains(arg));
        made.extend(inst.result.filter(|_| is_made));
    }
    made
}

/// What both finish with, compared; `None` when one of them leaves before.
fn same_results(subject: &Subject<'_>, left: &Trace, right: &Trace) -> Option<Result<(), String>> {
    let run = |trace: &Trace| -> Result<(Outcome, World), String> { subject.run(trace, Limits::default()) };
    let (l, r) = (run(left).expect("it runs"), run(right).expect("it runs"));
    let ends = matches!((&l.0.end, &r.0.end), (End::Finish(_), End::Finish(_)));
    let differ = |_| compare_outcomes(&subject.schema, (&l.0, &l.1), (&r.0, &r.1), &finish_types(left));
    ends.then_some(()).map(|()| differ(()).map_err(|difference| difference.to_string()))
}

#[test]
fn a9_equations_5_to_9_say_what_the_label_takes() {
    let schema = Arc::new(standard_schema());
    for passes in ["-all,+peel,+cse,+guards,+load_forward,+store_forward", "-all,+peel,+virtuals", ""] {
        let (mut carried, mut exploded, mut compared) = (0, 0, [0, 0]);
        for case in (0..1_200).filter_map(|seed| random_loop(seed, &schema)) {
            let plain = optimized_by(&config("-all,+peel"), &case.trace, &schema);
            let out = optimized_by(&config(passes), &case.trace, &schema);
            let (Some(_), Some(peeled)) = (&plain.peeled, &out.peeled) else { continue };
            // The seed's preamble is one iteration.
            if peeled.iterations > 1 {
                continue;
            }
            let copy = Copy::new(&case.trace, &plain.trace);
            let hidden = made_from_addresses(&case.trace);
            let named: Vec<_> =
                named(&out).into_iter().filter(|(_, value)| !hidden.contains(value)).collect();
            carried += peeled.args.len() - peeled.passed;
            let jump = case.trace.insts.last().expect("a trace has instructions");
            let of_jump: HashSet<Value> = jump.args.iter().copied().collect();
            exploded += named.iter().filter(|(at, v)| *at < peeled.passed && !of_jump.contains(v)).count();
            let subject = Subject::random(&case, &schema);
            let loops_jump = out.trace.insts.last().expect("a trace has instructions");
            let preambles_jump =
                out.trace.insts.iter().find(|inst| inst.op == Op::Jump).expect("it was peeled");
            for (nth, jump) in [preambles_jump, loops_jump].into_iter().enumerate() {
                let passed: Vec<_> =
                    named.iter().map(|&(at, _)| operand(&out.trace, jump.args[at])).collect();
                let image = |&(_, value): &(usize, Value)| match nth {
                    0 => copy.image(&copy.p, value),
                    _ => copy.image(&copy.m, value),
                };
                let wanted: Vec<_> = named.iter().map(image).collect();
                let (left, right) = (cut(&plain.trace, nth, &wanted), cut(&out.trace, nth, &passed));
                if let Some(result) = same_results(&subject, &left, &right) {
                    compared[nth] += 1;
                    result.unwrap_or_else(|difference| {
                        let shown = |trace: &Trace| print_trace(trace, &schema);
                        panic!(
                            "seed {}: jump {nth}: {difference}\n{}\n{}",
                            case.seed,
                            shown(&left),
                            shown(&right)
                        )
                    });
                }
            }
        }
        assert!(compared[0] > 200 && compared[1] > 100, "{passes}: {compared:?}");
        assert!(carried > 100 || passes == "-all,+peel,+virtuals", "{passes}: {carried} values were carried");
        assert!(
            exploded > 10 || !config(passes).is_on(tracelift_opt::PassName::Virtuals),
            "{passes}: {exploded} values were exploded"
        );
    }
}

/// (7) and (8): one order on both jumps, objects where they first occur, what is shared only once; (9): the
/// loop passes the images, also where its object is another one.
#[test]
fn a9_equations_7_to_9_explode_in_one_order() {
    listing(
        "-all,+peel,+virtuals,+dce",
        "L0(p0, i1, p2, i3):
i4 = int_add(i1, i3)
p5 = new(BoxedInteger)
set(p5, intval, i4)
p6 = new(Pair)
set(p6, right, p5)
set(p6, left, p5)
p7 = new(BoxedInteger)
set(p7, intval, i3)
jump(L0, p6, i4, p7, i4)
",
        "L0(p0, i1, p2, i3):
i4 = int_add(i1, i3)
jump(L1, i4, i3)
L1(i4, i3):
i8 = int_add(i4, i4)
jump(L1, i8, i4)
",
    );
}

/// (9): where the preamble passes a real object and the loop would pass a virtual one, the loop makes it,
/// after all else.
#[test]
fn a9_an_object_that_the_label_wants_real_is_made_for_the_jump() {
    listing(
        "-all,+peel,+virtuals",
        "L0(p0, p1, i2):
call(seen, p0)
i3 = int_add(i2, 1)
p4 = new(BoxedInteger)
set(p4, intval, i3)
jump(L0, p1, p4, i3)
",
        "L0(p0, p1, i2):
call(seen, p0)
i3 = int_add(i2, 1)
jump(L1, p1, i3)
L1(p1, i3):
call(seen, p1)
i5 = int_add(i3, 1)
p4 = new(BoxedInteger)
set(p4, intval, i3)
jump(L1, p4, i5)
",
    );
}
