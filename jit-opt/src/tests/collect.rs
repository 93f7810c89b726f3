//! Checks for a collection: where they go, and where they must stay.

use tracelift_core::schema::{ClassSet, FuncEffects};
use tracelift_core::testbed::standard_schema;
use tracelift_core::text::{parse_trace, print_trace};
use tracelift_core::verify::{verify, Mode};
use tracelift_core::ExitKind;

use crate::{collect, optimize, Config};

/// The rules that the tests here show.
const RULES: [&str; 2] = ["collect_unneeded", "collect_counted"];

/// How many checks are left of a trace.
#[track_caller]
fn checks(config: Config, input: &str) -> usize {
    let schema = standard_schema();
    let trace = parse_trace(input, &schema).unwrap_or_else(|err| panic!("{err}"));
    let optimized = optimize(&trace, &schema, &config).unwrap();
    let errors = verify(&optimized.trace, &schema, Mode::Expanded);
    let text = print_trace(&optimized.trace, &schema);
    assert!(errors.is_empty(), "{errors:?}\n{text}");
    assert!(text.contains(" interrupt"), "the way to interrupt stays\n{text}");
    let lines = |end: &str| text.lines().filter(|line| line.trim().ends_with(end)).count();
    let counted = text.matches("guard_true(1) @").count();
    let left = lines("collect") - counted;
    assert_eq!(text.contains("context.debt"), left > 0, "nothing of a check is left\n{text}");
    let fired = RULES.map(|rule| optimized.report.fired(rule));
    assert!(left == 0 || fired[0] == 0, "{text}");
    assert_eq!(fired[1], counted as u64, "{text}");
    let allocates = collect::allocations(&trace, &schema) > 0;
    assert!(fired[usize::from(!allocates)] == 0, "a trace is counted in if it allocated, else not\n{text}");
    left
}

fn promised(passes: &str) -> Config {
    let mut config = Config::parse(passes).unwrap();
    config.host_collects = true;
    config
}

fn program(body: &str, end: &str) -> String {
    format!(
        "L0(i0, p1):
a2 = context()
i3 = load(a2, context.interrupt)
@0 = frame(words 1 2)[0: int i0, 1: ref p1]
guard_false(i3) @0 interrupt
i4 = load(a2, context.debt)
guard_false(i4) @0 collect
{body}i9 = int_add(i0, 1)
jump(L0, {end})
"
    )
}

const BOX: &str = "p5 = new(BoxedInteger) @0\nset(p5, intval, i0)\n";

#[test]
fn a_loop_whose_objects_are_virtual_needs_none() {
    let input = program(BOX, "i9, p5");
    // The loop passes the box on: only peeling keeps it virtual. What is left counts, in the preamble too.
    assert_eq!(checks(promised(""), &input), 0);
    assert_eq!(checks(promised("-peel"), &input), 1);
    assert_eq!(checks(promised("-virtuals,-peel"), &input), 1);
    assert_eq!(checks(promised("-virtuals"), &input), 2, "preamble and loop");
}

#[test]
fn a_loop_that_allocates_nothing_needs_none() {
    assert_eq!(checks(promised("-peel"), &program("", "i9, p1")), 0);
    let input = program("p5 = try_call(test.boxed, a2, i0) @0\n", "i9, p1");
    assert_eq!(checks(promised("-peel"), &input), 1, "a function makes an object");
    assert_eq!(checks(promised(""), &input), 2);
}

#[test]
fn a_loop_whose_objects_are_virtual_counts_with_the_state_of_its_check() {
    let input = program(BOX, "i9, p1");
    let schema = standard_schema();
    let trace = parse_trace(&input, &schema).unwrap();
    for (passes, expected) in [("", 2), ("-peel", 1)] {
        let optimized = optimize(&trace, &schema, &promised(passes)).unwrap().trace;
        let text = print_trace(&optimized, &schema);
        let counted: Vec<_> =
            optimized.insts.iter().filter(|inst| optimized.is_counted_check(inst)).collect();
        assert_eq!(counted.len(), expected, "preamble and loop\n{text}");
        for check in counted {
            let slots = &optimized.snapshot_of(check).expect("a check leaves somewhere").frames[0].slots;
            assert_eq!(slots.len(), 2, "{text}");
        }
    }
    let gone = optimize(&parse_trace(&program("", "i9, p1"), &schema).unwrap(), &schema, &promised(""));
    assert!(!print_trace(&gone.unwrap().trace, &schema).contains("guard_true(1)"));
}

#[test]
fn a_loop_with_virtual_objects_and_calls_that_may_allocate_does_both() {
    let call = "p6 = try_call(test.boxed, a2, i0) @0\n";
    let both = |body: &str| {
        let schema = standard_schema();
        let trace = parse_trace(&program(body, "i9, p1"), &schema).unwrap();
        let optimized = optimize(&trace, &schema, &promised("-peel")).unwrap();
        let errors = verify(&optimized.trace, &schema, Mode::Expanded);
        let text = print_trace(&optimized.trace, &schema);
        assert!(errors.is_empty(), "{errors:?}\n{text}");
        let checks = optimized.trace.insts.iter().filter(|inst| inst.exit == ExitKind::Collect);
        let counted = checks.clone().filter(|inst| optimized.trace.is_counted_check(inst));
        (checks.count(), counted.count(), optimized.report.fired(RULES[1]))
    };
    assert_eq!(both(&format!("{BOX}{call}")), (2, 1, 1), "the box is gone");
    assert_eq!(both(call), (1, 0, 0));
    let escapes =
        "p5 = new(BoxedInteger) @0\nset(p5, intval, i0)\n@2 = frame(words 1 2)[0: int i0, 1: ref p1]\n";
    let escapes =
        format!("{escapes}p7 = new(BoxedInteger) @2\nset(p7, intval, i0)\ncall(test.keep, p1, p7)\n");
    assert_eq!(both(&escapes), (1, 0, 0), "one is made for all that is gone");
}

#[test]
fn hosts_that_promise_nothing_keep_theirs() {
    let input = program(BOX, "i9, p5");
    assert!(checks(Config::new(), &input) > 0);
    assert_eq!(checks(promised("-collect"), &input), 2, "each with a counted one beside it");
    assert!(checks(promised("").with_fuel(0), &input) > 0);
}

#[test]
fn nothing_relies_on_a_check_that_goes() {
    // The second guard says what the check has said, and must be made when the check is not.
    let body = "i5 = int_add(i0, 0)\n@1 = frame(words 1 2)[0: int i5, 1: ref p1]\nguard_false(i4) @1\n";
    let input = program(body, "i9, p1");
    let schema = standard_schema();
    let trace = parse_trace(&input, &schema).unwrap();
    let text = |config| print_trace(&optimize(&trace, &schema, &config).unwrap().trace, &schema);
    let with = text(promised("-peel"));
    assert_eq!(with.matches("guard_false").count(), 2, "{with}");
    assert!(!with.contains("collect"), "{with}");
}

/// Nor does a compare that says of the debt what the check has said.
#[test]
fn no_bound_relies_on_a_check_that_goes() {
    let schema = standard_schema();
    let input = program("", "i9, p1").replace("guard_false(i4) @0", "i5 = int_lt(i4, 9)\nguard_true(i5) @0");
    let input = input.replace(
        "i9 =",
        "i6 = int_ge(i4, 0)\nguard_true(i6) @0\ni7 = uint_lt(i4, 9)\nguard_true(i7) @0\ni9 =",
    );
    let trace = parse_trace(&input, &schema).unwrap();
    let text = |config| print_trace(&optimize(&trace, &schema, &config).unwrap().trace, &schema);
    let kept = text(Config::parse("-peel").unwrap());
    assert!(kept.contains("collect") && !kept.contains("uint_lt"), "{kept}");
    let gone = text(promised("-peel"));
    assert!(!gone.contains("collect") && gone.contains("uint_lt"), "{gone}");
}

#[test]
fn the_way_into_the_loop_asks_for_none_either() {
    // The loop allocates and keeps its check; that the preamble's has passed is nothing that it relies on.
    let schema = standard_schema();
    let body = "i6 = int_mul(i0, 3)\np5 = try_call(test.boxed, a2, i6) @0\n";
    let trace = parse_trace(&program(body, "i0, p1"), &schema).unwrap();
    let short = |config: Config| {
        let peeled = optimize(&trace, &schema, &config.with_way_in()).unwrap().peeled.expect("a loop");
        print_trace(peeled.short_preamble().expect("everything can be had again"), &schema)
    };
    let (with, without) = (short(Config::new()), short(promised("")));
    assert!(with.contains(" collect") && !without.contains(" collect"), "{with}{without}");
    assert!(with.contains("int_mul") && without.contains("int_mul"), "{with}{without}");
}

#[test]
fn a_loop_that_makes_what_the_preamble_did_not_reads_the_debt_anew() {
    // The older object comes from outside in the first iteration only, so that the loop makes each for the
    // next.
    let mut schema = standard_schema();
    let debt = schema.alias_class("context.debt");
    let boxed = schema.find_layout("BoxedInteger").unwrap();
    let alloc = schema.layout(boxed).alloc.unwrap();
    schema.func_mut(alloc).effects = FuncEffects::pure().allocating().writing(ClassSet::of(vec![debt]));
    let input = "L0(i0, p1, p2):
a2 = context()
i3 = load(a2, context.interrupt)
@0 = frame(words 1 2)[0: int i0, 1: ref p1, 2: ref p2]
guard_false(i3) @0 interrupt
i4 = load(a2, context.debt)
guard_false(i4) @0 collect
p5 = new(BoxedInteger) @0
set(p5, intval, i0)
i9 = int_add(i0, 1)
jump(L0, i9, p2, p5)
";
    let trace = parse_trace(input, &schema).unwrap();
    let optimized = optimize(&trace, &schema, &promised("")).unwrap();
    let text = print_trace(&optimized.trace, &schema);
    let lines: Vec<&str> = text.lines().collect();
    let label = lines.iter().rposition(|line| line.starts_with('L')).unwrap();
    let body = lines[label..].join("\n");
    assert!(label > 0 && body.contains("world.alloc"), "{text}");
    assert!(body.contains("context.debt") && body.contains(" collect"), "{text}");
}
