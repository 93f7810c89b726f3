//! With the JIT on, every program does exactly what the plain interpreter does.

use tracelift_boxed::{Machine, Number, Options, Outcome, Refused, SEED_000, SEED_002};
use tracelift_runtime::{Config, PASSES};

use Number::{Float, Integer};

/// A program that every configuration must agree on.
struct Program {
    name: &'static str,
    source: &'static str,
    /// Calls of `f` made one after the other on one machine.
    calls: Vec<Vec<Number>>,
    /// Whether functions may be units, which only matters where they call themselves.
    units: bool,
}

impl Program {
    fn expected(&self, fuel: i64) -> Vec<Outcome> {
        outcomes(&mut Machine::new(self.source, Options::interpreter()).unwrap(), &self.calls, fuel)
    }

    fn run(&self, fuel: i64, options: Options) -> (Vec<Outcome>, Machine) {
        run(self.source, &self.calls, fuel, Options { units: self.units, ..options })
    }
}

/// All programs; those with recursion twice: with units, and with linked entries alone.
fn programs() -> impl Iterator<Item = Program> {
    let recursive = ["recursion", "fib", "ackermann", "mutual", "tree"];
    sources().into_iter().flat_map(move |(name, source, calls)| {
        let ways: &[bool] = if recursive.contains(&name) { &[true, false] } else { &[true] };
        ways.iter().map(move |&units| Program { name, source, calls: calls.clone(), units })
    })
}

fn sources() -> Vec<(&'static str, &'static str, Vec<Vec<Number>>)> {
    let fibonacci = "\
def f(n):
    a = BoxedInteger(0)
    b = BoxedInteger(1)
    while n.is_positive():
        c = a.add(b)
        a = b
        b = c
        n = n.add(BoxedInteger(-1))
    return a
";
    let branches = "\
def f(y, z):
    res = BoxedFloat(0.5)
    while y.is_positive():
        if z.is_positive():
            res = res.add(y)
            z = z.add(BoxedInteger(-3))
        else:
            res = res.add(BoxedFloat(-0.25))
            z = z.add(BoxedInteger(2))
        y = y.add(BoxedInteger(-1))
    return res.add(z)
";
    let calls = "\
def twice(x):
    return x.add(x)
def shifted(x, by):
    y = twice(x).add(by)
    if y.is_positive():
        return y
    return x
def f(y):
    res = BoxedInteger(1)
    while y.is_positive():
        res = shifted(res, BoxedInteger(-1)).add(twice(y))
        y = y.add(BoxedInteger(-1))
    return res
";
    let nested = "\
def g(x, n):
    while n.is_positive():
        x = x.add(n)
        n = n.add(BoxedInteger(-1))
    return x
def f(y):
    res = BoxedInteger(0)
    while y.is_positive():
        i = BoxedInteger(12)
        while i.is_positive():
            res = res.add(i)
            i = i.add(BoxedInteger(-1))
        res = g(res, BoxedInteger(3))
        y = y.add(BoxedInteger(-1))
    return res
";
    // The class of an accumulator changes in the middle of the loop.
    let promotion = "\
def f(y, late):
    res = BoxedInteger(0)
    while y.is_positive():
        if late.is_positive():
            late = late.add(BoxedInteger(-1))
        else:
            res = res.add(BoxedFloat(0.125))
        res = res.add(y)
        y = y.add(BoxedInteger(-1))
    return res
";
    // Variables that are dead at the head, swapped, shared by two names, or live only after the loop.
    let moves = "\
def f(y):
    a = BoxedInteger(1)
    b = BoxedFloat(2.0)
    last = a
    while y.is_positive():
        t = a
        a = b
        b = t
        last = a.add(t)
        y = y.add(BoxedInteger(-1))
    return last.add(a).add(b)
";
    let recursion = "\
def down(n):
    if n.is_positive():
        return down(n.add(BoxedInteger(-1))).add(n)
    return n
def f(y):
    res = BoxedInteger(0)
    while y.is_positive():
        res = res.add(down(y))
        y = y.add(BoxedInteger(-1))
    return res
";
    // Two ways to return to, and results of both classes.
    let fib = "\
def f(n):
    m = n.add(BoxedInteger(-1))
    if m.is_positive():
        return f(m).add(f(m.add(BoxedInteger(-1))))
    return n
";
    let ackermann = "\
def f(m, n):
    if m.is_positive():
        less = m.add(BoxedInteger(-1))
        if n.is_positive():
            return f(less, f(m, n.add(BoxedInteger(-1))))
        return f(less, BoxedInteger(1))
    return n.add(BoxedInteger(1))
";
    // Functions that call one another, through one that is no recursion's, in a loop.
    let mutual = "\
def odd(n):
    if n.is_positive():
        return even(n.add(BoxedInteger(-1)))
    return BoxedInteger(0)
def even(n):
    if n.is_positive():
        return odd(n.add(BoxedInteger(-1)))
    return BoxedInteger(1)
def both(n):
    x = even(n)
    return x.add(odd(n)).add(x)
def f(n):
    res = BoxedInteger(0)
    while n.is_positive():
        res = res.add(both(n))
        n = n.add(BoxedInteger(-1))
    return res
";
    // A loop in a function that calls itself, and that ends at different depths.
    let tree = "\
def f(n):
    res = BoxedFloat(0.5)
    i = n
    while i.is_positive():
        i = i.add(BoxedInteger(-1))
        res = res.add(f(i)).add(i)
    return res
";
    vec![
        ("seed 000", SEED_000, vec![vec![Integer(3)], vec![Float(1e18)], vec![Integer(i64::MIN + 40)]]),
        (
            "seed 002",
            SEED_002,
            vec![vec![Integer(70)], vec![Float(70.5)], vec![Integer(70)], vec![Integer(0)]],
        ),
        ("seed 002, float first", SEED_002, vec![vec![Float(70.5)], vec![Integer(90)], vec![Float(20.0)]]),
        ("fibonacci", fibonacci, vec![vec![Integer(100)], vec![Float(33.0)]]),
        ("branches", branches, vec![vec![Integer(100), Integer(5)], vec![Integer(9), Float(3.5)]]),
        ("calls", calls, vec![vec![Integer(40)], vec![Float(12.5)]]),
        ("nested", nested, vec![vec![Integer(30)], vec![Float(9.0)]]),
        ("promotion", promotion, vec![vec![Integer(120), Integer(70)], vec![Integer(90), Integer(0)]]),
        ("moves", moves, vec![vec![Integer(75)], vec![Integer(76)], vec![Float(8.0)]]),
        ("recursion", recursion, vec![vec![Integer(14)], vec![Integer(250)], vec![Float(7.5)]]),
        ("fib", fib, vec![vec![Integer(6)], vec![Float(4.5)], vec![Integer(0)], vec![Integer(6)]]),
        ("ackermann", ackermann, vec![vec![Integer(2), Integer(2)], vec![Integer(1), Float(3.5)]]),
        ("mutual", mutual, vec![vec![Integer(7)], vec![Float(2.5)]]),
        ("tree", tree, vec![vec![Integer(5)], vec![Float(2.5)]]),
        (
            "not a number",
            SEED_002,
            vec![vec![Float(f64::NAN)], vec![Float(f64::NEG_INFINITY)], vec![Float(-0.0)], vec![Integer(60)]],
        ),
    ]
}

/// Iterations that a call may begin; the endless program uses them all.
const FUEL: i64 = 500;
/// The same where each run is repeated for each guard or allocation.
const LITTLE_FUEL: i64 = 25;

fn outcomes(machine: &mut Machine, calls: &[Vec<Number>], fuel: i64) -> Vec<Outcome> {
    calls.iter().map(|args| machine.run("f", args, fuel).unwrap()).collect()
}

fn tested(threshold: u32) -> Config {
    let side_threshold = threshold;
    Config {
        threshold,
        side_threshold,
        verify: true,
        count_guards: true,
        count_iterations: true,
        ..Config::exact()
    }
}

fn run(source: &str, calls: &[Vec<Number>], fuel: i64, options: Options) -> (Vec<Outcome>, Machine) {
    let mut machine = Machine::new(source, options).unwrap();
    let found = outcomes(&mut machine, calls, fuel);
    let aborts = machine.vm().stats().aborts;
    for bug in ["internal error", "misuse of the recording interface"] {
        assert!(!aborts.contains_key(bug), "{aborts:?}");
    }
    (found, machine)
}

#[test]
fn at_every_threshold() {
    for program in programs() {
        let name = program.name;
        let expected = program.expected(FUEL);
        for threshold in [1, 2, 3, 10, 56] {
            let options = Options { config: tested(threshold), ..Options::default() };
            let (found, machine) = program.run(FUEL, options);
            assert_eq!(found, expected, "{name} at threshold {threshold}\n{}", machine.vm().stats().text());
            let stats = machine.vm().stats();
            assert!(threshold > 10 || stats.compile.traces > 0, "{name} at {threshold}: {}", stats.text());
        }
    }
}

#[test]
fn with_each_pass_off() {
    for program in programs() {
        let name = program.name;
        let expected = program.expected(FUEL);
        for pass in PASSES.iter().filter(|pass| pass.optional).map(|pass| pass.name).chain(["all"]) {
            let mut config = tested(2);
            config.opt.switch(&format!("-{pass}")).unwrap();
            let (found, _) = program.run(FUEL, Options { config, ..Options::default() });
            assert_eq!(found, expected, "{name} without {pass}");
        }
    }
}

#[test]
fn with_every_guard_execution_failing_in_turn() {
    for program in programs() {
        let name = program.name;
        let expected = program.expected(LITTLE_FUEL);
        let options = Options { config: tested(3), ..Options::default() };
        let (_, machine) = program.run(LITTLE_FUEL, options);
        let guards = machine.vm().stats().guards_executed.unwrap();
        assert!(guards > 0, "{name}");
        // The first ones all, then ever fewer: what recursion executes is alike. An emulator takes a sample,
        // and so does what runs a second time.
        let own = if program.units { 1 } else { 4 };
        let every =
            std::env::var("TRACELIFT_GUARDS_EVERY").map_or(own, |every| every.parse().expect("a number"));
        let mut n = 0;
        while n < guards {
            n += every * (1 + n / 256);
            let config = Config { force_exit: Some(n), verify: false, ..tested(3) };
            let (found, _) = program.run(LITTLE_FUEL, Options { config, ..Options::default() });
            assert_eq!(found, expected, "{name} with guard execution {n} of {guards} failing");
        }
    }
}

#[test]
fn with_every_allocation_failing_in_turn() {
    for program in programs() {
        let name = program.name;
        let expected = program.expected(LITTLE_FUEL);
        let options = Options { config: tested(3), ..Options::default() };
        let (_, mut machine) = program.run(LITTLE_FUEL, options);
        for n in 1..=machine.heap().asked {
            let config = Config { verify: false, ..tested(3) };
            let refused = Refused::Only(n);
            let (found, _) = program.run(LITTLE_FUEL, Options { config, refused, ..Options::default() });
            assert_eq!(found, expected, "{name} with allocation {n} failing");
        }
    }
}

/// Exits make their objects from what was kept back, and nothing is entered that may need more.
#[test]
fn without_memory_from_some_allocation_on() {
    let (mut given, mut put_off) = (0, 0);
    for program in programs() {
        let name = program.name;
        let expected = program.expected(LITTLE_FUEL);
        let options = Options { config: tested(3), ..Options::default() };
        let (_, mut machine) = program.run(LITTLE_FUEL, options);
        for n in 1..=machine.heap().asked + 1 {
            let config = Config { verify: false, ..tested(3) };
            let refused = Refused::From(n);
            let (found, mut machine) =
                program.run(LITTLE_FUEL, Options { config, refused, ..Options::default() });
            assert_eq!(found, expected, "{name} without memory from allocation {n} on");
            given += machine.heap().given;
            put_off += machine.vm().stats().unsecured_entries;
        }
    }
    assert!(given > 20 && put_off > 20, "{given} cells given, {put_off} entries put off");
}

#[test]
fn garbage_is_collected_between_compiled_iterations() {
    let calls = [vec![Integer(20_000)]];
    let mut plain = Machine::new(SEED_002, Options::interpreter()).unwrap();
    let mut machine = Machine::new(SEED_002, Options { config: tested(3), ..Options::default() }).unwrap();
    let result = plain.run("f", &calls[0], 1 << 40);
    assert_eq!(machine.run("f", &calls[0], 1 << 40), result);
    assert!(plain.heap().collections > 10);
    let stats = machine.vm().stats();
    let left = stats.exits.get("collect").copied().unwrap_or(0);
    let made = machine.heap().made;
    assert!(left > 0 || made < 5000, "{made} objects made, {}", stats.text());
}

#[test]
fn iterations_add_up() {
    for program in programs() {
        let name = program.name;
        let mut plain = Machine::new(program.source, Options::interpreter()).unwrap();
        outcomes(&mut plain, &program.calls, FUEL);
        let all = plain.vm().stats().interpreted_back_edges;
        let (_, machine) = program.run(FUEL, Options { config: tested(3), ..Options::default() });
        let stats = machine.vm().stats();
        let compiled = stats.compiled_iterations.unwrap();
        assert_eq!(stats.interpreted_back_edges + compiled, all, "{name}\n{}", stats.text());
    }
}

#[test]
fn refused_memory_leaves_the_interpreter() {
    let calls = [vec![Integer(200)]];
    let mut plain = Machine::new(SEED_002, Options::interpreter()).unwrap();
    let expected = outcomes(&mut plain, &calls, FUEL);
    let refused = Config { refuse_executable_memory: true, ..tested(1) };
    let full = Config { fail_code_allocation: Some(1), ..tested(1) };
    for (config, reason) in [(refused, "no executable memory"), (full, "code memory full")] {
        let (found, machine) = run(SEED_002, &calls, FUEL, Options { config, ..Options::default() });
        assert_eq!(found, expected);
        let text = machine.vm().stats().text();
        assert!(text.contains(reason), "{text}");
    }
}
