//! Loads and stores: what is forwarded, what must not be, and stores that go.
//!
//! Each pitfall of alias analysis has a test of its own, as the smallest trace that shows it: once where
//! forwarding is right and once where it would be wrong. Only the passes on memory run, unless a test says
//! otherwise, so that what is seen is theirs.

use std::collections::BTreeMap;
use std::sync::Arc;

use tracelift_core::eval::{compare_outcomes, Evaluator, Limits};
use tracelift_core::planted::{with_planted, Bug};
use tracelift_core::schema::{Cell, ClassSet, Func, FuncEffects};
use tracelift_core::testbed::standard_schema;
use tracelift_core::text::{parse_trace, print_trace};
use tracelift_core::world::World;
use tracelift_core::world_spec::{ObjectSpec, SpecValue, WorldSpec};
use tracelift_core::{Op, Schema, Trace, Type};

use super::optimized_text;
use super::random::Random;
use crate::Config;

/// The rules that the tests here show.
const RULES: [&str; 7] = [
    "load_seen",
    "load_of_store",
    "load_of_narrow_store",
    "loads_equal",
    "store_same",
    "store_overwritten",
    "call_seen",
];

const MEMORY: &str = "-all,+load_forward,+store_forward,+dead_store";

/// What comes out, a line per instruction, and the rules that fired.
fn lines(config: &str, input: &str) -> (Vec<String>, Vec<&'static str>) {
    let schema = standard_schema();
    let optimized = optimized_text(&Config::parse(config).unwrap(), input, &schema);
    let text = print_trace(&optimized.trace, &schema);
    let rules = optimized.report.rules.keys().copied().filter(|rule| RULES.contains(rule)).collect();
    (text.lines().map(|line| line.trim().to_string()).collect(), rules)
}

/// Nothing of the body is removed.
#[track_caller]
fn kept(input: &str) {
    let schema = standard_schema();
    let count = parse_trace(input, &schema).unwrap().insts.len();
    let (out, rules) = lines(MEMORY, input);
    assert!(rules.is_empty() && out.len() == count, "{rules:?} fired on\n{input}\n{}", out.join("\n"));
}

/// Exactly this rule fires, and this is the last line.
#[track_caller]
fn fires(rule: &str, input: &str, last: &str) {
    let (out, rules) = lines(MEMORY, input);
    assert_eq!(rules, [rule], "{}", out.join("\n"));
    assert_eq!(out.last().unwrap(), last, "{}", out.join("\n"));
}

#[test]
fn a_load_is_not_repeated() {
    let input = "L0(p0):\ni1 = load(p0, BoxedInteger.intval)\ni2 = load(p0, BoxedInteger.intval)\n\
                 finish(i1, i2)\n";
    fires("load_seen", input, "finish(i1, i1)");
    assert!(lines("-load_forward", input).1.is_empty());
}

#[test]
fn a_stored_value_is_not_loaded() {
    let input = "L0(p0, i1):\nstore(p0, BoxedInteger.intval, i1)\ni2 = load(p0, BoxedInteger.intval)\n\
                 finish(i2)\n";
    fires("load_of_store", input, "finish(i1)");
    assert!(lines("-store_forward", input).1.is_empty());
}

#[test]
fn a_store_of_what_is_there_goes() {
    let input = "L0(p0):\ni1 = load(p0, BoxedInteger.intval)\nstore(p0, BoxedInteger.intval, i1)\nfinish()\n";
    fires("store_same", input, "finish()");
    assert!(lines("-dead_store", input).1.is_empty());
    // Something else was stored in between.
    kept(
        "L0(p0, p1):\ni2 = load(p0, BoxedInteger.intval)\nstore(p1, BoxedInteger.intval, 3)\n\
          store(p0, BoxedInteger.intval, i2)\nfinish()\n",
    );
}

/// What both pointers of a guard led to is one, from the first step to the last.
#[test]
fn two_names_of_one_place_make_one_value() {
    let input = "L0(p0, p1):\np2 = load(p0, Pair.first)\np3 = load(p1, Pair.first)\n\
                 i4 = load(p2, BoxedInteger.intval)\ni5 = load(p3, BoxedInteger.intval)\n\
                 i6 = ref_eq(p0, p1)\nguard_true(i6)\np7 = load(p3, Pair.second)\np8 = load(p2, Pair.second)\n\
                 finish(i4, i5, p2, p3, p7, p8)\n";
    let config = "-all,+guards,+load_forward,+store_forward,+dead_store";
    let (out, rules) = lines(config, input);
    assert_eq!(out.last().unwrap(), "finish(i4, i4, p2, p2, p7, p7)", "{}", out.join("\n"));
    assert_eq!(rules, ["load_seen", "loads_equal"]);
}

/// Random memory operations over objects that may be the same, in the text form.
struct Program {
    text: String,
    ints: Vec<String>,
    boxes: Vec<String>,
    places: Vec<String>,
    next: usize,
}

impl Program {
    fn random(random: &mut Random) -> Program {
        let mut program = Program {
            text: "L0(p0, p1, p2, p3, p4, p5, i6, i7):\na8 = context()\na9 = ref_to_addr(p2)\na10 = ref_to_addr(p3)\n"
                .into(),
            ints: ["i6", "i7", "300", "-1", "5"].map(String::from).into(),
            boxes: ["p0", "p1"].map(String::from).into(),
            places: vec![],
            next: 11,
        };
        let plus = program.def("i", "int_add(i6, 1)");
        for _ in 0..4 {
            let base = random.pick(&["a9", "a10"]);
            let index = random.pick(&["i6", "i7", &plus]).to_string();
            let place = match random.below(2) {
                0 => format!("item_addr({base}, {index}, 4, {})", random.pick(&[16, 20, 24])),
                _ => format!("addr_add({base}, {})", random.pick(&[16, 18, 20, 24])),
            };
            let place = program.def("a", &place);
            program.places.push(place);
        }
        (0..4 + random.below(16)).for_each(|_| program.step(random));
        program.text += &format!("finish({})\n", program.ints[5..].join(", "));
        program
    }

    fn def(&mut self, prefix: &str, what: &str) -> String {
        let name = format!("{prefix}{}", self.next);
        self.next += 1;
        self.text += &format!("{name} = {what}\n");
        name
    }

    fn int(&mut self, what: &str) {
        let name = self.def("i", what);
        self.ints.push(name);
    }

    fn step(&mut self, random: &mut Random) {
        let pick = |random: &mut Random, of: &[String]| of[random.below(of.len())].clone();
        let (object, at) = (pick(random, &self.boxes), pick(random, &self.places));
        let value = pick(random, &self.ints);
        let cell = random.pick(&["raw.int", "raw.u8", "raw.i8", "raw.u16", "raw.i16", "raw.u32", "raw.i32"]);
        let pair = random.pick(&["p4", "p5"]);
        if random.below(30) == 0 {
            // From here on they are one: where they are not, the run ends here.
            let is_same = self.def("i", "ref_eq(p4, p5)");
            self.text += &format!("guard_true({is_same})\n");
        }
        match random.below(14) {
            0..=1 => self.int(&format!("load({object}, BoxedInteger.intval)")),
            2..=3 => self.text += &format!("store({object}, BoxedInteger.intval, {value})\n"),
            4..=6 => self.int(&format!("load({at}, {cell})")),
            7..=9 => self.text += &format!("store({at}, {cell}, {value})\n"),
            10 => match random.below(4) {
                0 => self.text += &format!("call(test.bump, {object})\n"),
                1 => self.text += "call(test.anything, a8)\n",
                2 => self.int(&format!("call(test.peek, {object})")),
                _ => drop(self.def("a", &format!("try_call(test.maybe_bump, {object}, {value})"))),
            },
            11 => {
                let made = self.def("p", "try_call(world.alloc, a8, 0, 0, 0)");
                self.boxes.push(made);
            }
            12 => self.text += &format!("store({pair}, Pair.first, {object})\n"),
            _ => {
                let loaded = self.def("p", &format!("load({pair}, Pair.first)"));
                self.boxes.push(loaded);
            }
        }
    }
}

/// Two objects of each kind.
fn world_spec(schema: &Schema, random: &mut Random) -> WorldSpec {
    let object = |name: &str, layout: &str, fields: Vec<(&str, SpecValue)>| {
        let layout = schema.find_layout(layout).unwrap();
        let field = |(field, value)| (schema.find_field(layout, field).unwrap(), value);
        let fields = fields.into_iter().map(field).collect();
        ObjectSpec {
            name: name.into(),
            layout,
            fields,
            items: vec![],
            item_capacity: 0,
            entries: vec![],
            key_capacity: 0,
        }
    };
    let first = vec![("first", SpecValue::Object(0))];
    let objects = vec![
        object("b0", "BoxedInteger", vec![("intval", SpecValue::Bits(random.next()))]),
        object("b1", "BoxedInteger", vec![]),
        object("m0", "Buffer", vec![]),
        object("m1", "Buffer", vec![]),
        object("p0", "Pair", first.clone()),
        object("p1", "Pair", first),
    ];
    WorldSpec { objects }
}

/// Runs random programs as recorded and optimized, and compares results and memory at their ends.
fn check_random(config: &str, seeds: std::ops::Range<u64>) -> Result<BTreeMap<&'static str, u64>, String> {
    let (schema, config) = (Arc::new(standard_schema()), Config::parse(config).unwrap());
    let mut fired = BTreeMap::new();
    for seed in seeds {
        let mut random = Random::new(seed);
        let text = Program::random(&mut random).text;
        let recorded = parse_trace(&text, &schema).unwrap_or_else(|err| panic!("{err}\n{text}"));
        let optimized = optimized_text(&config, &text, &schema);
        for (rule, count) in &optimized.report.rules {
            *fired.entry(*rule).or_default() += count;
        }
        let spec = world_spec(&schema, &mut random);
        let which: Vec<usize> = [0, 0, 2, 2, 4, 4].map(|first| first + random.below(2)).into();
        let indexes = [random.below(4) as u64, random.below(4) as u64];
        let run = |trace: &Trace| {
            let mut world = World::build(&spec, &schema);
            let inputs = which.iter().map(|&number| world.object_address(number as u32));
            let inputs: Vec<u64> = inputs.chain(indexes).collect();
            let outcome = Evaluator::new(trace, &schema).run(&mut world, &inputs, Limits::default());
            (outcome.unwrap_or_else(|err| panic!("{err}\n{text}")), world)
        };
        let ((expected, old), (found, new)) = (run(&recorded), run(&optimized.trace));
        let ints = vec![Type::Int; recorded.insts.last().map_or(0, |inst| inst.args.len())];
        let same_end = std::mem::discriminant(&expected.end) == std::mem::discriminant(&found.end);
        let told = |what: String| {
            Err(format!("seed {seed}: {what}\n{text}\n==>\n{}", print_trace(&optimized.trace, &schema)))
        };
        if !same_end {
            return told(format!("{:?} vs {:?}", expected.end, found.end));
        }
        if let Err(what) = compare_outcomes(&schema, (&expected, &old), (&found, &new), &ints) {
            return told(what.to_string());
        }
    }
    Ok(fired)
}

#[test]
fn random_memory_is_kept() {
    for config in [MEMORY, ""] {
        let fired = check_random(config, 0..10_000).unwrap_or_else(|what| panic!("{config}: {what}"));
        // Equal pointers are the business of guards.
        let fires = |rule: &str| fired.contains_key(rule) || (config == MEMORY && rule == "loads_equal");
        let silent: Vec<_> = RULES.iter().filter(|rule| !fires(rule)).collect();
        assert!(silent.is_empty(), "{config}: no trace fires {silent:?}");
    }
    for config in ["-all,+load_forward", "-all,+store_forward", "-all,+dead_store"] {
        check_random(config, 0..2_000).unwrap_or_else(|what| panic!("{config}: {what}"));
    }
}

#[test]
fn planted_bugs_are_seen() {
    for bug in [Bug::HeapStoreAliasIgnored, Bug::HeapCallKeepsLoads, Bug::HeapNarrowForwarded] {
        let result = with_planted(bug, || check_random(MEMORY, 0..1_000));
        assert!(result.is_err(), "{bug:?} was not seen");
    }
}

/// Pitfall: what was learned of an object from its fields must not outlive a change of the object.
#[test]
fn setfield_aliasing_by_field_content() {
    kept(
        "L0(p0, p1):\ni2 = load(p0, BoxedInteger.intval)\nguard_value(i2, 3)\n\
          i3 = load(p1, BoxedInteger.intval)\nguard_value(i3, 4)\nstore(p0, BoxedInteger.intval, 9)\n\
          store(p1, BoxedInteger.intval, 5)\ni4 = load(p0, BoxedInteger.intval)\nfinish(i4)\n",
    );
}

/// Pitfall: items at variable and constant indexes. `i` and `i + 1` differ, `i` and 2 may be equal.
#[test]
fn items_at_variable_and_constant_indexes() {
    let items = |second: &str| {
        format!(
            "L0(a0, i1):\ni2 = int_add(i1, 1)\na3 = item_addr(a0, i1, 16, 0)\na4 = {second}\n\
             i5 = load(a3, item.value.int)\nstore(a4, item.value.int, 7)\n\
             i6 = load(a3, item.value.int)\nfinish(i5, i6)\n"
        )
    };
    fires("load_seen", &items("item_addr(a0, i2, 16, 0)"), "finish(i5, i5)");
    fires("load_seen", &items("item_addr(a0, i1, 16, -16)"), "finish(i5, i5)");
    kept(&items("addr_add(a0, 32)"));
    kept(
        &items("item_addr(a0, i2, 16, -16)")
            .replace("store(a4, item.value.int, 7)", "store(a4, item.value.float, 7.0)"),
    );
    // The same item by another way of reckoning.
    fires("load_of_store", &items("item_addr(a0, i2, 16, -16)"), "finish(i5, 7)");
    // A pending store is seen by a load at an index that is not known.
    kept(
        "L0(a0, i1):\na2 = item_addr(a0, i1, 16, 0)\nstore(a0, item.value.int, 1)\n\
          i3 = load(a2, item.value.int)\nstore(a0, item.value.int, 2)\nfinish(i3)\n",
    );
}

/// `i` and `i + 1` differ whatever record they belong to, if both are counted from the start of its items.
#[test]
fn neighbours_differ_whatever_the_record() {
    let input =
        "L0(p0, p1, i2):\ni3 = int_add(i2, 1)\na4 = load(p0, table.items)\na5 = load(p1, table.items)\n\
                 a6 = item_addr(a4, i2, 16, 0)\na7 = item_addr(a5, i3, 16, 0)\n\
                 i8 = load(a6, item.value.int)\nstore(a7, item.value.int, 1)\n\
                 i9 = load(a6, item.value.int)\nfinish(i8, i9)\n";
    fires("load_seen", input, "finish(i8, i8)");
    kept(&input.replace("item_addr(a5, i3", "item_addr(a5, i2"));
    // Addresses of unknown origin may lie anywhere.
    kept(
        "L0(a4, a5, i2):\ni3 = int_add(i2, 1)\na6 = item_addr(a4, i2, 16, 0)\na7 = item_addr(a5, i3, 16, 0)\n\
         i8 = load(a6, item.value.int)\nstore(a7, item.value.int, 1)\ni9 = load(a6, item.value.int)\n\
         finish(i8, i9)\n",
    );
}

/// Pitfall: a call kills what it may write and nothing else; making an object kills nothing.
#[test]
fn calls_kill_what_they_write() {
    let around = |call: &str| {
        format!(
            "L0(p0, p1, i2):\na3 = context()\ni4 = load(p0, BoxedInteger.intval)\n{call}\n\
             i5 = load(p0, BoxedInteger.intval)\nfinish(i4, i5)\n"
        )
    };
    let unhindered = ["i9 = call(test.peek, p1)", "p9 = call(test.boxed, a3, i2)", "call(test.keep, p1, p0)"];
    for call in unhindered.into_iter().chain(["p9 = try_call(world.alloc, a3, 0, 0, 0)", "guard_true(i2)"]) {
        fires("load_seen", &around(call), "finish(i4, i4)");
    }
    for call in ["call(test.bump, p1)", "call(test.anything, a3)", "a9 = try_call(test.maybe_bump, p1, 1)"] {
        kept(&around(call));
    }
    // The class word is immutable: even a call that may do anything leaves it.
    fires(
        "load_seen",
        "L0(p0):\na1 = context()\ni2 = load(p0, header.class)\ncall(test.anything, a1)\n\
         i3 = load(p0, header.class)\nfinish(i2, i3)\n",
        "finish(i2, i2)",
    );
    // A store is seen by a call that reads, or that may fail.
    for call in ["i9 = call(test.peek, p1)", "a9 = try_call(test.maybe_bump, p1, 1)", "guard_true(i2)"] {
        kept(&format!(
            "L0(p0, p1, i2):\nstore(p0, BoxedInteger.intval, 1)\n{call}\nstore(p0, BoxedInteger.intval, 2)\nfinish()\n"
        ));
    }
}

/// A call that only reads is a load of all that it declares.
#[test]
fn a_call_that_only_reads_is_not_repeated() {
    let twice = |between: &str| {
        format!(
            "L0(p0, p1, i2):\na3 = context()\ni4 = call(test.peek, p0)\n{between}\ni5 = call(test.peek, p0)\n\
             finish(i4, i5)\n"
        )
    };
    let unhindered = ["guard_true(i2)", "store(p1, BoxedFloat.floatval, 1.5)", "call(test.keep, p1, p0)"];
    let calls = ["i9 = call(test.peek, p1)", "i9 = call(test.look, p0)", "p9 = call(test.boxed, a3, i2)"];
    for between in unhindered.into_iter().chain(calls) {
        fires("call_seen", &twice(between), "finish(i4, i4)");
        assert!(lines("-load_forward", &twice(between)).1.is_empty());
    }
    let writes = ["store(p1, BoxedInteger.intval, 1)", "call(test.bump, p1)", "call(test.anything, a3)"];
    for between in writes.into_iter().chain(["a9 = try_call(test.maybe_bump, p1, 1)"]) {
        kept(&twice(between));
    }
    // Another argument, another function; what needs no memory at all, and what makes something each time.
    kept("L0(p0, p1):\ni2 = call(test.peek, p0)\ni3 = call(test.peek, p1)\nfinish(i2, i3)\n");
    kept("L0(p0):\ni1 = call(test.peek, p0)\ni2 = call(test.look, p0)\nfinish(i1, i2)\n");
    kept("L0(i0):\na1 = context()\np2 = call(test.boxed, a1, i0)\np3 = call(test.boxed, a1, i0)\nfinish(p2, p3)\n");
    let pure = |between: &str| {
        format!(
            "L0(f0):\na1 = context()\nf2 = call(math.sin, f0)\n{between}\nf3 = call(math.sin, f0)\nfinish(f2, f3)\n"
        )
    };
    fires("call_seen", &pure("i9 = load(a1, context.debt)"), "finish(f2, f2)");
    kept(&pure("call(test.anything, a1)"));
}

/// What reads a cell that may change by itself, or everything, is called each time.
#[test]
fn a_call_that_reads_what_may_change_is_repeated() {
    let mut schema = standard_schema();
    let class = schema.alias_class("context.interrupt");
    let peek = schema.funcs().iter().find(|func| func.name == "test.peek").unwrap().clone();
    let mut add = |name: &str, reads: ClassSet| {
        schema.add_func(Func {
            name: name.into(),
            effects: FuncEffects::pure().reading(reads),
            ..peek.clone()
        });
    };
    add("test.steady", ClassSet::of(vec![class]));
    add("test.all", ClassSet::All);
    let fired = |schema: &Schema, name: &str| {
        let input = format!("L0(p0):\ni1 = call({name}, p0)\ni2 = call({name}, p0)\nfinish(i1, i2)\n");
        optimized_text(&Config::parse(MEMORY).unwrap(), &input, schema).report.rules.contains_key("call_seen")
    };
    assert!(fired(&schema, "test.steady"));
    assert!(!fired(&schema, "test.all"));
    schema.add_cell(Cell { volatile: true, ..Cell::new("context.switch", 0, Type::Int, class) });
    assert!(!fired(&schema, "test.steady"));
}

/// The first iteration's search stands for all, a way into the loop makes it, too; unless the loop writes
/// what it reads.
#[test]
fn a_peeled_loop_does_not_repeat_a_call_that_only_reads() {
    let input = |store: &str| {
        format!(
            "L0(p0, p1, i2):\ni3 = call(test.peek, p0)\nguard_value(i3, 7)\n{store}\ni4 = int_add(i2, i3)\n\
             jump(L0, p0, p1, i4)\n"
        )
    };
    let schema = standard_schema();
    let calls = |trace: &Trace| trace.insts.iter().filter(|inst| inst.op == Op::Call).count();
    let run = |store: &str| optimized_text(&Config::new().with_way_in(), &input(store), &schema);
    let hoisted = run("store(p1, Pair.first, p0)");
    assert_eq!(calls(&hoisted.trace), 1, "{}", print_trace(&hoisted.trace, &schema));
    let short = hoisted.peeled.unwrap().short_preamble().unwrap().clone();
    assert_eq!(calls(&short), 1, "{}", print_trace(&short, &schema));
    assert!(short.insts.iter().any(|inst| inst.op == Op::GuardValue));
    let written = run("store(p1, BoxedInteger.intval, i2)");
    assert_eq!(calls(&written.trace), 2.min(1 + written.peeled.is_some() as usize));
    let short = written.peeled.and_then(|peeled| peeled.short_preamble().cloned());
    assert!(short.is_none_or(|short| calls(&short) == 0));
}

/// Pitfall: one location by two kinds of operations: a hint and a call find the same entry.
#[test]
fn an_entry_by_hint_and_by_call_is_one_location() {
    kept(
        "L0(p0):\na1 = context()\na2 = load(p0, table.entries)\na3 = call(world.find, a1, 4, p0, @1)\n\
          guard_nonnull(a3)\ni4 = load(a2, entry.value.int)\nstore(a3, entry.value.int, 1)\n\
          i5 = load(a2, entry.value.int)\nfinish(i4, i5)\n",
    );
}

/// Pitfall: memory read through another type, another width, or partly overwritten.
#[test]
fn views_widths_and_overlaps() {
    kept("L0(a0, f1):\nstore(a0, raw.float, f1)\ni2 = load(a0, raw.int)\nfinish(i2)\n");
    kept("L0(a0, i1):\nf2 = load(a0, raw.float)\nstore(a0, raw.int, i1)\nf3 = load(a0, raw.float)\nfinish(f2, f3)\n");
    kept("L0(a0, i1):\nstore(a0, raw.int, i1)\ni2 = load(a0, raw.u8)\nfinish(i2)\n");
    kept("L0(a0, i1):\ni2 = load(a0, raw.u8)\ni3 = load(a0, raw.i8)\nfinish(i2, i3)\n");
    let second = |at: i64| {
        format!(
            "L0(a0, i1):\na2 = addr_add(a0, {at})\ni3 = load(a0, raw.int)\nstore(a2, raw.u16, i1)\n\
             i4 = load(a0, raw.int)\nfinish(i3, i4)\n"
        )
    };
    [-1, 0, 3, 7].into_iter().for_each(|at| kept(&second(at)));
    [-2, 8].into_iter().for_each(|at| fires("load_seen", &second(at), "finish(i3, i3)"));
    // A wider store covers a narrow one, not the other way round.
    fires(
        "store_overwritten",
        "L0(a0, i1):\nstore(a0, raw.u8, i1)\nstore(a0, raw.float, 1.0)\nfinish()\n",
        "finish()",
    );
    kept("L0(a0, i1):\nstore(a0, raw.int, i1)\nstore(a0, raw.u8, 1)\nfinish()\n");
}

/// Pitfall: what a narrow store cuts off is not forwarded.
#[test]
fn narrow_stores_cut_off() {
    let around = |value: &str, cell: &str| {
        format!("L0(a0, i1):\ni2 = {value}\nstore(a0, {cell}, i2)\ni3 = load(a0, {cell})\nfinish(i3)\n")
    };
    let constant = "L0(a0):\nstore(a0, raw.u8, 300)\ni3 = load(a0, raw.u8)\nfinish(i3)\n";
    fires("load_of_narrow_store", constant, "finish(44)");
    fires("load_of_narrow_store", &constant.replace("u8", "i8").replace("300", "255"), "finish(-1)");
    for (value, cell) in
        [("int_and(i1, 255)", "raw.u8"), ("int_and(i1, 127)", "raw.i8"), ("int_shr(i1, 48)", "raw.u16")]
    {
        fires("load_of_narrow_store", &around(value, cell), "finish(i2)");
    }
    for (value, cell) in
        [("int_and(i1, 255)", "raw.i8"), ("int_and(i1, 511)", "raw.u8"), ("int_sar(i1, 60)", "raw.u8")]
    {
        kept(&around(value, cell));
    }
    // The load that stays is known from then on.
    let twice =
        "L0(a0, i1):\nstore(a0, raw.u8, i1)\ni2 = load(a0, raw.u8)\ni3 = load(a0, raw.u8)\nfinish(i3)\n";
    fires("load_seen", twice, "finish(i2)");
}

/// Pitfall: a store between a compare and its guard is made before the trace is left.
#[test]
fn a_store_stays_on_its_side_of_a_guard() {
    kept(
        "L0(p0, i1):\ni2 = int_lt(i1, 3)\nstore(p0, BoxedInteger.intval, 1)\nguard_true(i2)\n\
          store(p0, BoxedInteger.intval, 2)\nfinish()\n",
    );
}

/// Type-based aliasing: another field's cell is not touched, an object just made is no older one, objects of
/// different classes differ; and a store that may hit does hit.
#[test]
fn type_based_aliasing() {
    let around = |first: &str, cell: &str| {
        format!(
            "L0(p0, p1, f2):\na3 = context()\ni4 = load(p0, BoxedInteger.intval)\n{first}\nstore({cell})\n\
             i5 = load(p0, BoxedInteger.intval)\nfinish(i4, i5)\n"
        )
    };
    let made = "p6 = try_call(world.alloc, a3, 0, 0, 0)";
    fires("load_seen", &around("", "p1, BoxedFloat.floatval, f2"), "finish(i4, i4)");
    fires("load_seen", &around(made, "p6, BoxedInteger.intval, 7"), "finish(i4, i4)");
    kept(&around("", "p1, BoxedInteger.intval, 7").replace("\n\n", "\n"));
    // Two fresh objects differ; one that was told of may be read back, by newer names only.
    let fresh = |between: &str, by: &str| {
        format!(
            "L0(p0, p9):\na1 = context()\np2 = try_call(world.alloc, a1, 0, 0, 0)\n{between}\n\
             i4 = load(p2, BoxedInteger.intval)\nstore({by}, BoxedInteger.intval, 7)\n\
             i5 = load(p2, BoxedInteger.intval)\nfinish(i4, i5)\n"
        )
    };
    let last = "finish(i4, i4)";
    fires("load_seen", &fresh("p3 = try_call(world.alloc, a1, 0, 0, 0)", "p3"), last);
    fires("load_seen", &fresh("p3 = load(p9, Pair.first)", "p3"), last);
    fires("load_seen", &fresh("store(p0, Pair.first, p2)", "p9"), last);
    kept(&fresh("store(p0, Pair.first, p2)\np3 = load(p9, Pair.first)", "p3"));
    kept(&fresh("p3 = select(1, p2, p0)", "p3"));
}

/// Objects of different classes share no memory, even in cells that all objects have.
#[test]
fn known_classes_differ() {
    let input =
        "L0(p0, p1):\nguard_class(p0, Pair)\nguard_class(p1, BoxedInteger)\ni2 = load(p0, header.mark)\n\
                 store(p1, header.mark, 1)\ni3 = load(p0, header.mark)\nfinish(i2, i3)\n";
    assert_eq!(lines(MEMORY, input).1, ["load_seen"]);
    assert!(lines(MEMORY, &input.replace("BoxedInteger", "Pair")).1.is_empty());
}

/// A value that is put into an item and read back needs neither loads nor a guard on its tag.
#[test]
fn an_item_is_put_and_got_back() {
    let input = "L0(p0, i1, f2):\nput_item(p0, i1, f2, Table:float)\nf3 = get_item(p0, i1, Table:float)\n\
                 f4 = float_add(f3, f3)\nset_item(p0, i1, f4, Table:float)\nfinish(f4)\n";
    let (out, _) = lines("", input);
    let expected = "L0(p0, i1, f2):\ni4 = int_add(i1, -1)\ni5 = load(p0, table.count)\ni6 = uint_lt(i4, i5)\n\
                    guard_true(i6)\na7 = load(p0, table.items)\na8 = item_addr(a7, i1, 16, -16)\n\
                    store(a8, item.tag, 19)\nf4 = float_add(f2, f2)\nstore(a8, item.value.float, f4)\nfinish(f4)";
    assert_eq!(out.join("\n"), expected);
}

#[test]
fn nothing_is_known_behind_a_label() {
    kept(
        "L0(p0):\ni1 = load(p0, BoxedInteger.intval)\njump(L1, p0)\nL1(p2):\n\
          i3 = load(p2, BoxedInteger.intval)\njump(L1, p2)\n",
    );
}

/// What is known of more places than a list holds is given up, and this is counted.
#[test]
fn places_given_up_are_counted() {
    let given_up = |count: usize| {
        let mut input = String::from("L0(a0):\n");
        for n in 1..=count {
            input += &format!("a{n} = addr_add(a0, {})\nstore(a{n}, raw.int, {n})\n", 8 * n);
        }
        let config = Config::parse("-dead_store").unwrap();
        optimized_text(&config, &(input + "finish()\n"), &standard_schema()).report.given_up
    };
    assert_eq!((given_up(64), given_up(65), given_up(100)), (0, 1, 36));
}
