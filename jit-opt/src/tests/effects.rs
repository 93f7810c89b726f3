//! What a call may do decides what is known after it: every combination of declared effects, one probe per
//! user.
//!
//! Problem: a dozen places of the optimizer ask what an instruction does to memory, and one that asks in
//! another way than the rest is a miscompile that shows only with the combination of effects that it forgets.
//! Design: each *probe* is the smallest trace in which one such place can remove something around a call; it
//! says for every combination whether the thing must stay. Invariant: what must stay stays, and what may go
//! is removed, so that a place that gives up always is seen, too. Example:
//!
//! ```text
//! guard_class(p0, Box)
//! call(f, p0)                 f reenters: the class word may have been rewritten
//! guard_class(p0, Box)        must stay
//! ```

use std::sync::Arc;

use tracelift_core::effects::FuncEffects;
use tracelift_core::eval::{compare_with_recorded, Evaluator, Limits};
use tracelift_core::testbed::every::Combination;
use tracelift_core::testbed::standard_schema;
use tracelift_core::testgen::generate;
use tracelift_core::text::{parse_file, parse_trace, print_trace};
use tracelift_core::world::World;
use tracelift_core::world_spec::{ObjectSpec, WorldSpec};
use tracelift_core::{Op, Payload, Schema, Trace};

use super::optimized;
use super::random::Random;
use crate::driver::Driver;
use crate::{passes, Config, OpCounts};

/// What a function declares to read or to write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Set {
    Nothing,
    /// A class that no probe looks at.
    Other,
    /// The classes that the probes look at.
    Some,
    All,
}

/// A combination of declared effects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Declared {
    reads: Set,
    writes: Set,
    allocates: bool,
    reenters: bool,
}

impl Declared {
    fn all() -> Vec<Declared> {
        let sets = [Set::Nothing, Set::Other, Set::Some, Set::All];
        let mut all = Vec::new();
        for (reads, writes) in sets.iter().flat_map(|&reads| sets.map(|writes| (reads, writes))) {
            for (allocates, reenters) in [(false, false), (true, false), (false, true), (true, true)] {
                all.push(Declared { reads, writes, allocates, reenters });
            }
        }
        all
    }

    fn text(&self) -> String {
        let set = |word: &str, set: Set| match set {
            Set::Nothing => String::new(),
            Set::Other => format!(" {word} other"),
            Set::Some => format!(" {word} kind number link"),
            Set::All => format!(" {word} all"),
        };
        let flag = |word: &str, is_set: bool| if is_set { format!(" {word}") } else { String::new() };
        let text = [
            set("reads", self.reads),
            set("writes", self.writes),
            flag("allocates", self.allocates),
            flag("reenters", self.reenters),
        ]
        .concat();
        if text.is_empty() {
            " pure".into()
        } else {
            text
        }
    }

    /// Whether it may change what the probes look at.
    fn may_write(&self) -> bool {
        matches!(self.writes, Set::Some | Set::All) || self.reenters
    }

    /// Whether it may look at it.
    fn may_read(&self) -> bool {
        matches!(self.reads, Set::Some | Set::All) || self.reenters
    }

    /// Whether a second run would be seen.
    fn is_visible(&self) -> bool {
        self.writes != Set::Nothing || self.allocates || self.reenters
    }
}

/// Objects of two classes that share their class word, which the host may rewrite.
const HEADER: &str = "func make(addr, int, int, int) -> ref allocates = native world.alloc
cell kind: int @0 class kind
layout Box { size 24, class kind = 1, number: int @8 class number, alloc make }
layout Holder { size 24, class kind = 2, link: ref @16 class link, alloc make }
cell debt: int @0 class debt
";

/// What comes out of a trace that calls `f`, which has these effects.
fn run(config: &Config, declared: &Declared, input: &str) -> String {
    let functions = format!(
        "func f(ref) -> int{0}\nfunc g(ref) -> addr{0}\nfunc seen(int) writes out\n",
        declared.text()
    );
    let text = format!("{HEADER}{functions}trace t\n{input}");
    let file =
        parse_file(&text, &tracelift_core::testbed::natives).unwrap_or_else(|err| panic!("{err}\n{text}"));
    print_trace(&optimized(config, &file.traces[0], &file.schema).unwrap().trace, &file.schema)
}

/// In each combination there are so many lines with this word in what comes out.
#[track_caller]
fn probe(passes: &str, input: &str, word: &str, wanted: impl Fn(&Declared) -> usize) {
    let config = Config::parse(passes).unwrap();
    probe_with(&config, input, word, wanted);
}

#[track_caller]
fn probe_with(config: &Config, input: &str, word: &str, wanted: impl Fn(&Declared) -> usize) {
    for declared in Declared::all() {
        let out = run(config, &declared, input);
        let found = out.lines().filter(|line| line.contains(word)).count();
        assert_eq!(found, wanted(&declared), "`{word}` with{}:\n{out}", declared.text());
    }
}

const FRAME: &str = "@0 = frame[0: ref p0]\n";

#[test]
fn a_class_is_known_until_its_word_may_be_written() {
    for call in ["i1 = call(f, p0)", "a1 = try_call(g, p0) @0"] {
        let input = format!(
            "L0(p0):\n{FRAME}guard_class(p0, Box) @0\n{call}\n@1 = frame[0: ref p0]\nguard_class(p0, Box) @1\nfinish()\n"
        );
        probe("", &input, "guard_value", |declared| 1 + declared.may_write() as usize);
        // With the passes on memory off, the guard's fact has nothing else that stands for it.
        let alone = Config::parse("-all,+guards").unwrap();
        probe_with(&alone, &input, "guard_value", |declared| 1 + declared.may_write() as usize);
        let kept = Config::new().keeping_records();
        probe_with(&kept, &input, "guard_class", |declared| 1 + declared.may_write() as usize);
    }
}

#[test]
fn a_peeled_loop_tests_a_class_that_it_may_rewrite() {
    let input = "L0(p0):\n@0 = frame[0: ref p0]\nguard_class(p0, Box) @0\ni1 = call(f, p0)\ncall(seen, i1)\n\
                 @1 = frame[0: ref p0]\nguard_class(p0, Box) @1\njump(L0, p0)\n";
    // Preamble and loop test it once each after the call; the loop begins with what its end has tested.
    probe("", input, "guard_value", |declared| if declared.may_write() { 3 } else { 1 });
    let kept = Config::new().keeping_records();
    probe_with(&kept, input, "guard_class", |declared| if declared.may_write() { 3 } else { 1 });
}

#[test]
fn a_load_is_known_until_it_may_be_written() {
    let input = "L0(p0):\n@0 = frame[0: ref p0]\nguard_class(p0, Box) @0\ni1 = get(p0, Box.number)\ni2 = call(f, p0)\n\
                 i3 = get(p0, Box.number)\nfinish(i1, i2, i3)\n";
    probe("", input, "load(p0, Box.number)", |declared| 1 + declared.may_write() as usize);
    let kept = Config::new().keeping_records();
    probe_with(&kept, input, "get(p0, number)", |declared| 1 + declared.may_write() as usize);
}

#[test]
fn a_store_stays_where_it_may_be_read() {
    let input = "L0(p0):\n@0 = frame[0: ref p0]\nguard_class(p0, Box) @0\nset(p0, Box.number, 1) @0\ni2 = call(f, p0)\n\
                 set(p0, Box.number, 2)\nfinish(i2)\n";
    probe("", input, "store(p0, Box.number", |declared| 1 + declared.may_read() as usize);
}

#[test]
fn a_call_is_made_again_if_that_may_be_seen() {
    let twice = "L0(p0):\ni1 = call(f, p0)\ni2 = call(f, p0)\nfinish(i1, i2)\n";
    probe("", twice, "call(f", |declared| {
        // What reads everything may read what changes by itself.
        1 + (declared.is_visible() || declared.reads == Set::All) as usize
    });
    probe("", "L0(p0):\ni1 = call(f, p0)\nfinish()\n", "call(f", |declared| declared.is_visible() as usize);
}

#[test]
fn a_virtual_object_is_made_where_its_place_may_be_looked_at() {
    let input = "L0(p0, p1):\n@0 = frame[0: ref p0]\nguard_class(p0, Holder) @0\np2 = new(Box) @0\n\
                 set(p2, Box.number, 7)\nset(p0, Holder.link, p2)\ni3 = call(f, p1)\n\
                 @1 = frame[0: ref p0]\np4 = new(Box) @1\nset(p0, Holder.link, p4)\nfinish(i3)\n";
    // The object that is stored next takes its place, so that nobody needs it if the call cannot see it.
    let touches = |declared: &Declared| declared.may_read() || declared.may_write();
    probe("", input, "try_call(make", |declared| 1 + touches(declared) as usize);
}

#[test]
fn a_loop_is_asked_for_a_collection_if_it_may_allocate() {
    let input = "L0(p0):\na1 = context()\ni2 = load(a1, debt)\n@0 = frame[0: ref p0]\ni3 = int_le(i2, 0)\n\
                 guard_true(i3) @0 collect\ni4 = call(f, p0)\ncall(seen, i4)\njump(L0, p0)\n";
    let mut config = Config::parse("-peel").unwrap();
    config.host_collects = true;
    probe_with(&config, input, "guard_true", |declared| (declared.allocates || declared.reenters) as usize);
}

#[test]
fn a_way_into_the_loop_tests_what_the_preamble_may_have_undone() {
    let input = "L0(p0, i9):\n@0 = frame[0: ref p0]\nguard_class(p0, Box) @0\ni1 = get(p0, Box.number)\n\
                 i3 = int_add(i1, i9)\ncall(seen, i3)\njump(L0, p0, i9)\n";
    for declared in Declared::all() {
        let text = format!(
            "{HEADER}func f(ref) -> int{}\nfunc seen(int) writes out\ntrace t\n{}",
            declared.text(),
            input.replace("jump", "i4 = call(f, p0)\ncall(seen, i4)\njump")
        );
        let file = parse_file(&text, &tracelift_core::testbed::natives).unwrap();
        let optimized = optimized(&Config::new().with_way_in(), &file.traces[0], &file.schema).unwrap();
        let short = optimized.peeled.as_ref().and_then(|peeled| peeled.short_preamble());
        let short = short.map(|short| print_trace(short, &file.schema)).unwrap_or_default();
        // A loop that takes the number for granted wants it from the short preamble; one that may rewrite it
        // does not.
        let relies = short.contains("load(p0, Box.number)");
        assert_eq!(relies, !declared.may_write(), "with{}:\n{short}", declared.text());
    }
}

/// Whatever a record operation is expanded to, it has no effect that the operation does not have.
#[test]
fn an_expansion_does_no_more_than_its_operation() {
    let schema = Arc::new(standard_schema());
    let config = Config::parse("-all").unwrap();
    let mut compared = 0;
    for seed in 0..600 {
        let source = generate(seed, &schema).trace;
        let mut driver = Driver::new(&source, &schema, &config, passes::chain(&config));
        driver.walk(0..source.insts.len()).unwrap();
        let started = driver.st.at.started.clone();
        let out = driver.walked().trace;
        for (index, inst) in source.insts.iter().enumerate() {
            let end = started.get(index + 1).map_or(out.insts.len(), |&end| end as usize);
            let whole = inst.effects(&schema);
            for part in &out.insts[started[index] as usize..end] {
                let effects = part.effects(&schema);
                let is_seen = effects.is_visible() && inst.op != Op::New;
                assert!(
                    whole.reads.includes(&effects.reads)
                        && whole.writes.includes(&effects.writes)
                        && whole.allocates >= effects.allocates
                        && whole.leaves >= effects.leaves
                        && whole.is_visible() >= is_seen,
                    "seed {seed}: {inst:?} has {whole:?}\nand its part {part:?} has {effects:?}"
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 10_000, "only {compared}");
}

/// The same declarations, with one called function that declares less.
fn weaker(random: &mut Random, trace: &Trace, schema: &Schema) -> Option<Schema> {
    let funcs = trace.insts.iter().filter_map(|inst| match inst.payload {
        Payload::Func(func) if !schema.func(func).effects.is_pure() => Some(func),
        _ => None,
    });
    let funcs: Vec<_> = funcs.collect();
    if funcs.is_empty() {
        return None;
    }
    let func = random.pick(&funcs);
    let mut schema = schema.clone();
    let declared = schema.func(func).effects.clone();
    let effects: Vec<FuncEffects> = Combination::all()
        .map(|combination| combination.effects(&mut schema))
        .filter(|effects| declared.includes(effects) && *effects != declared)
        .collect();
    if effects.is_empty() {
        return None;
    }
    schema.func_mut(func).effects = effects[random.below(effects.len())].clone();
    Some(schema)
}

/// What is left of a trace: in the loop, or in all of it.
#[derive(PartialEq, Eq, Debug)]
struct Left {
    /// Whether the loop was peeled, and how many guards are known to fail.
    shape: (bool, usize),
    counts: OpCounts,
    calls: usize,
    /// Whether a store waited.
    delayed: bool,
}

fn left(config: &Config, source: &Trace, schema: &Schema) -> Left {
    let optimized = optimized(config, source, schema).unwrap();
    let count = |is: &dyn Fn(&Op) -> bool| optimized.trace.insts.iter().filter(|inst| is(&inst.op)).count();
    Left {
        shape: (optimized.peeled.is_some(), count(&|&op| op == Op::GuardAlwaysFails)),
        counts: OpCounts::of_loop(&optimized.trace, schema),
        calls: count(&|&op| matches!(op, Op::Call | Op::TryCall)),
        delayed: optimized.report.fired("delay_store") > 0,
    }
}

/// A function that declares less never makes the optimizer remove less. What is compared are loads, stores,
/// guards, objects and calls: an exit that can come later keeps a value alive that only its snapshot
/// mentions. A loop that is peeled in one form only, because more is known to fail or because the plain loop
/// has become as short, is compared in the plain form. Stores that wait are left out: one that may wait until
/// after a call is made where less is known of memory than before it.
#[test]
fn weaker_effects_remove_no_less() {
    let schema = Arc::new(standard_schema());
    let mut random = Random::new(1);
    let (mut compared, mut better, mut skipped, mut waiting) = (0, 0, 0, 0);
    for passes in ["", "-peel", "-virtuals", "-peel,-virtuals", "-delay_store", "-peel,-delay_store"] {
        let config = Config::parse(passes).unwrap();
        for seed in 0..2_000 {
            let source = generate(seed, &schema).trace;
            let Some(weaker) = weaker(&mut random, &source, &schema) else { continue };
            let (strong, weak) = (left(&config, &source, &schema), left(&config, &source, &weaker));
            if strong.delayed || weak.delayed {
                waiting += 1;
                continue;
            }
            if strong.shape != weak.shape {
                skipped += 1;
                continue;
            }
            let groups = |left: &Left| [left.counts.new, left.counts.get_set, left.counts.guard, left.calls];
            let is_less = |(weak, strong): (usize, usize)| weak <= strong;
            assert!(
                groups(&weak).into_iter().zip(groups(&strong)).all(is_less),
                "`{passes}`, seed {seed}: {strong:?}, but with less effects {weak:?}\n{}",
                print_trace(&source, &schema)
            );
            compared += 1;
            better += (weak != strong) as u32;
        }
    }
    assert!(
        compared > 1_500 && better > 500 && skipped < compared / 20 && waiting < compared,
        "{compared} compared, {better} better, {skipped} skipped, a store waited in {waiting}"
    );
}

/// The loop around a call of each function, with a body that does the worst that it declares: guards of a
/// class, loads and stores around the call, from the evaluator's point of view.
#[test]
fn each_combination_runs_as_recorded() {
    let schema = Arc::new(standard_schema());
    let object = |name: &str, layout: &str| ObjectSpec {
        name: name.into(),
        layout: schema.find_layout(layout).unwrap(),
        fields: vec![],
        items: vec![],
        item_capacity: 0,
        entries: vec![],
        key_capacity: 0,
    };
    let objects = [object("b0", "BoxedInteger"), object("p0", "Pair"), object("q0", "Square")];
    let spec = WorldSpec { objects: objects.to_vec() };
    let mut ends = [0, 0];
    for (number, combination) in Combination::all().enumerate() {
        for (op, prefix, leaves) in [("call", "does", ""), ("try_call", "tries", " @0")] {
            let result = if prefix == "does" { "i9" } else { "a9" };
            let text = format!(
                "L0(i0, i1):\na2 = context()\n@0 = frame(words 0 0)[0: int i0, 1: int i1]\nguard_class(@2, Square) @0\n\
                 i3 = get(@2, side)\np4 = get(@1, first)\nset(@0, intval, i3)\n\
                 @3 = frame(words 0 0)[0: int i0, 1: int i3]\n{result} = {op}(\"{}\", a2, {number}, i1, @2){}\n\
                 @1 = frame(words 0 0)[0: int i0, 1: int i3, 2: ref p4]\nguard_class(@2, Square) @1\n\
                 i5 = get(@2, side)\np6 = get(@1, first)\ni7 = get(@0, intval)\n\
                 @2 = frame(words 0 0)[0: int i5, 1: int i7, 2: ref p4, 3: ref p6]\nset(@0, intval, i1)\n\
                 i8 = int_add(i0, 1)\ni10 = int_add(i1, 3)\n@4 = frame(words 0 0)[0: int i5, 1: int i7, 2: ref p4, 3: ref p6]\n\
                 i11 = int_lt(i8, 6)\nguard_true(i11) @4\njump(L0, i8, i10)\n",
                combination.name(prefix),
                leaves.replace('0', "3")
            );
            let trace = parse_trace(&text, &schema).unwrap_or_else(|err| panic!("{err}\n{text}"));
            for passes in ["", "-peel"] {
                let optimized = optimized(&Config::parse(passes).unwrap(), &trace, &schema).unwrap().trace;
                for input in 0..8 {
                    let run = |trace: &Trace, limits: Limits| {
                        let mut world = World::build(&spec, &schema);
                        let mut bound = trace.clone();
                        bound.bind(|number| world.object_address(number));
                        let outcome = Evaluator::new(&bound, &schema).run(&mut world, &[0, input], limits);
                        Ok((outcome.map_err(|err| err.to_string())?, world))
                    };
                    let told = |what: String| {
                        format!(
                            "{what}: {}, input {input}\n{text}\n{}",
                            combination.name(prefix),
                            print_trace(&optimized, &schema)
                        )
                    };
                    let recorded =
                        run(&trace, Limits::default()).unwrap_or_else(|what| panic!("{}", told(what))).0;
                    let outcome = compare_with_recorded(&schema, &trace, &optimized, None, run);
                    let outcome = outcome.unwrap_or_else(|what| panic!("{}", told(what)));
                    assert_eq!(
                        (outcome.iteration, outcome.origin),
                        (recorded.iteration, recorded.origin),
                        "{}",
                        told("left elsewhere".into())
                    );
                    ends[(outcome.iteration == 5) as usize] += 1;
                }
            }
        }
    }
    // Some are left because the class has changed, some go round to the end.
    assert!(ends.iter().all(|&count| count > 100), "{ends:?}");
}
