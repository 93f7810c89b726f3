//! Loads and stores of random programs: what is forwarded, and stores that go.
//!
//! Problem: each pitfall of alias analysis has its smallest trace in `tests/traces/opt` (`loads`, `items`,
//! `calls`, `raw`, `aliasing`); what nobody has thought of has none. Design: random memory operations over
//! objects that may be the same, run as recorded and optimized. Invariant: results and memory agree at the
//! end, each rule fires, and each planted bug is seen. Example: two bytes stored into the middle of an item
//! that has just been loaded.

use std::collections::BTreeMap;
use std::sync::Arc;

use tracelift_core::eval::{compare_outcomes, Evaluator, Limits};
use tracelift_core::planted::{with_planted, Bug};
use tracelift_core::testbed::standard_schema;
use tracelift_core::text::{parse_trace, print_trace};
use tracelift_core::world::World;
use tracelift_core::world_spec::{ObjectSpec, SpecValue, WorldSpec};
use tracelift_core::{Schema, Trace, Type};

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
