//! What the optimizer costs per operation, and how that grows with the trace.
//!
//! Problem: a just-in-time compiler pays for its optimizer while the program waits; a pass that is quadratic
//! in the trace is felt only when somebody records a long one. Design: traces of five kinds, from 100 to
//! 10,000 operations, are optimized with all passes and without peeling; the table shows nanoseconds per
//! recorded operation (the least of several runs) and the slope, which is the exponent `k` of the best fit
//! `cost = c * operations^k`. Times show what caches and the allocator add, too, and a machine that is busy
//! with something else falsifies them, so nothing is asserted of them. With `--check` the cost is
//! instructions instead, counted by valgrind's callgrind, which come out the same in each run: this program
//! runs under it twice for each kind and size, without and with one run of the optimizer, and the difference
//! is what that run takes. A slope above [`MAX_SLOPE`] is an error, and so is a machine without valgrind.
//! Invariant: every kind does per operation the same amount of work, whatever the length.
//!
//! ```text
//! cargo bench -p tracelift-opt --bench optimizer
//! cargo bench -p tracelift-opt --bench optimizer -- --check
//! ```

use std::fmt::Write;
use std::hint::black_box;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Instant;

use tracelift_core::text::parse_file;
use tracelift_core::{Schema, Trace};
use tracelift_opt::{optimize, Config};

/// Sizes of the table of times.
const SIZES: [usize; 5] = [100, 316, 1_000, 3_162, 10_000];

/// Sizes of the check: in shorter traces, lists of a fixed greatest length (`passes/heap.rs`) are not yet
/// full; longer ones take long under valgrind, and what grows shows over a factor of ten.
const COUNTED_SIZES: [usize; 2] = [500, 5_000];

/// With ten times as many operations each may take 1.15 times the instructions. Nothing is to grow, but the
/// longest lists still fill up at the smaller size, which makes a slope of 1.03; counts do not vary, so that
/// more is not needed. What is quadratic is seen as soon as it is a fiftieth of the smaller trace's cost.
const MAX_SLOPE: f64 = 1.06;

const HEADER: &str = "func make(addr, int, int, int) -> ref allocates = native world.alloc
func seen(ref) writes out
layout Box { value: int, alloc make }
layout Pair { first: ref, second: ref, alloc make }
layout Array { items: tagged from 1 }
cell raw.int: int @0 class raw
trace t
";

/// A kind of trace: its name and its text, with about so many operations.
type Kind = (&'static str, fn(usize) -> String);

const KINDS: [Kind; 5] = [
    ("boxed arithmetic", boxes),
    ("array accesses", arrays),
    ("object graph", graph),
    ("live slots", slots),
    ("many places", places),
];

/// Seed 002, Figure 2, over and over: a box is made, tested, read.
fn boxes(ops: usize) -> String {
    let mut text = "L0(p0, p1):\n@0 = frame[0: ref p0, 1: ref p1]\nguard_class(p0, Box) @0\n".to_string();
    let mut last = "p0".to_string();
    for n in 0..ops / 6 {
        let _ = write!(
            text,
            "@{s} = frame[0: ref {last}, 1: ref p1]\nguard_class({last}, Box) @{s}\ni{a} = get({last}, value)\n\
             i{b} = int_add(i{a}, {n})\np{c} = new(Box) @{s}\nset(p{c}, value, i{b})\n",
            s = n + 1,
            a = 3 * n + 10,
            b = 3 * n + 11,
            c = 3 * n + 12
        );
        last = format!("p{}", 3 * n + 12);
    }
    let _ = writeln!(text, "jump(L0, {last}, p1)");
    text
}

/// Bounds, tags and loads at indexes that are not known.
fn arrays(ops: usize) -> String {
    let mut text = "L0(p0, i1, i2):\n".to_string();
    for n in 0..ops / 4 {
        let (i, f) = (3 * n + 10, 3 * n + 11);
        let _ = write!(
            text,
            "@{n} = frame[0: int i1, 1: int i2]\ni{i} = int_add(i1, {n})\n\
             f{f} = get_item(p0, i{i}, Array:float) @{n}\nf{g} = float_add(f{f}, 1.0)\n\
             set_item(p0, i{i}, f{g}, Array:float) @{n}\n",
            g = f + 1
        );
    }
    text + "i3 = int_add(i1, 1)\njump(L0, p0, i3, i2)\n"
}

/// A list of virtual pairs as long as the trace, which a call lifts and an exit rebuilds.
fn graph(ops: usize) -> String {
    let mut text = "L0(i0, p1):\n@0 = frame[0: int i0]\n".to_string();
    let mut last = "p1".to_string();
    for n in 0..ops / 3 {
        let _ = write!(
            text,
            "@{s} = frame[0: int i0]\np{c} = new(Pair) @{s}\nset(p{c}, first, {last})\nset(p{c}, second, p{c})\n",
            s = n + 1,
            c = n + 10
        );
        last = format!("p{}", n + 10);
    }
    let _ = write!(
        text,
        "@{s} = frame[0: int i0, 1: ref {last}]\nguard_true(i0) @{s}\ncall(seen, {last})\njump(L0, i0, p1)\n",
        s = ops
    );
    text
}

/// Twenty slots in every snapshot.
fn slots(ops: usize) -> String {
    let inputs: Vec<String> = (0..20).map(|n| format!("i{n}")).collect();
    let mut now = inputs.clone();
    let mut text = format!("L0({}):\n", inputs.join(", "));
    for n in 0..ops / 3 {
        let (slot, i) = (n % 20, 2 * n + 100);
        let frame: Vec<String> =
            now.iter().enumerate().map(|(slot, value)| format!("{slot}: int {value}")).collect();
        let _ = write!(
            text,
            "@{n} = frame[{}]\ni{i} = int_add({}, {})\ni{j} = int_lt(i{i}, 1000000)\nguard_true(i{j}) @{n}\n",
            frame.join(", "),
            now[slot],
            now[(slot + 7) % 20],
            j = i + 1
        );
        now[slot] = format!("i{i}");
    }
    let _ = writeln!(text, "jump(L0, {})", now.join(", "));
    text
}

/// As many places in memory as there are stores.
fn places(ops: usize) -> String {
    let mut text = "L0(a0):\n".to_string();
    for n in 1..ops / 2 {
        let _ = write!(text, "a{n} = addr_add(a0, {})\nstore(a{n}, raw.int, {n})\n", 8 * n);
    }
    text + "jump(L0, a0)\n"
}

fn read(text: &str) -> (Trace, Schema) {
    let file = parse_file(&format!("{HEADER}{text}"), &tracelift_core::testbed::natives);
    let mut file = file.unwrap_or_else(|error| panic!("{error}"));
    (file.traces.remove(0), file.schema)
}

/// Nanoseconds for one run: the least of several.
fn time(case: Case) -> f64 {
    let (trace, schema) = case.read();
    let config = &configs()[case.config].1;
    let runs = (60_000 / trace.op_count().max(1)).clamp(5, 200);
    let once = || {
        let start = Instant::now();
        black_box(optimize(black_box(&trace), &schema, config).expect("the trace can be optimized"));
        start.elapsed().as_nanos() as f64
    };
    (0..runs).map(|_| once()).fold(f64::INFINITY, f64::min)
}

/// The exponent of the best fit (least squares over logarithms).
fn slope(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = points.iter().map(|&(x, y)| (x.ln(), y.ln())).collect();
    let count = logs.len() as f64;
    let (mean_x, mean_y) =
        (logs.iter().map(|p| p.0).sum::<f64>() / count, logs.iter().map(|p| p.1).sum::<f64>() / count);
    let above: f64 = logs.iter().map(|&(x, y)| (x - mean_x) * (y - mean_y)).sum();
    above / logs.iter().map(|&(x, _)| (x - mean_x) * (x - mean_x)).sum::<f64>()
}

/// The configurations by name.
fn configs() -> [(&'static str, Config); 2] {
    [("", Config::new()), (", plain loop", Config::parse("-peel").expect("a pass"))]
}

/// What is optimized how: number of the kind, number of the configuration, about how many operations.
#[derive(Clone, Copy)]
struct Case {
    kind: usize,
    config: usize,
    size: usize,
}

impl Case {
    fn read(self) -> (Trace, Schema) {
        read(&KINDS[self.kind].1(self.size))
    }
}

/// A table over all kinds and configurations: what a run of the optimizer costs per operation, and how that
/// grows. `costs` is asked for all sizes of a line at once. The greatest slope.
fn table(
    title: &str,
    sizes: &[usize],
    costs: impl Fn(&[Case]) -> Result<Vec<f64>, String>,
) -> Result<f64, String> {
    print!("{title:<30}");
    sizes.iter().for_each(|size| print!("{size:>9}"));
    println!("{:>9}", "slope");
    let mut worst: f64 = 0.0;
    for (config, (config_name, _)) in configs().iter().enumerate() {
        for (kind, (name, _)) in KINDS.iter().enumerate() {
            let cases: Vec<Case> = sizes.iter().map(|&size| Case { kind, config, size }).collect();
            let ops = cases.iter().map(|case| case.read().0.op_count() as f64);
            let points: Vec<(f64, f64)> = ops.zip(costs(&cases)?).collect();
            print!("{:<30}", format!("{name}{config_name}"));
            points.iter().for_each(|(ops, cost)| print!("{:>9.0}", cost / ops));
            let slope = slope(&points);
            println!("{slope:>9.3}");
            worst = worst.max(slope);
        }
    }
    Ok(worst)
}

/// The first argument of a process that is counted.
const COUNTED: &str = "--counted";

/// What is counted: a trace is made, and the optimizer runs on it so many times.
fn run(case: Case, times: usize) {
    let (trace, schema) = case.read();
    let config = &configs()[case.config].1;
    for _ in 0..times {
        black_box(optimize(black_box(&trace), &schema, config).expect("the trace can be optimized"));
    }
}

/// Starts a process under callgrind that runs the optimizer so many times.
fn start(Case { kind, config, size }: Case, times: usize) -> Result<Child, String> {
    let program =
        std::env::current_exe().map_err(|error| format!("this program cannot be found: {error}"))?;
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(program).arg(COUNTED);
    valgrind.args([kind, config, size, times].map(|number| number.to_string()));
    valgrind.stdout(Stdio::null()).stderr(Stdio::piped());
    valgrind.spawn().map_err(|error| format!("the check counts with valgrind, which cannot be run: {error}"))
}

/// How many instructions such a process has taken.
fn instructions(child: Child) -> Result<f64, String> {
    let output =
        child.wait_with_output().map_err(|error| format!("valgrind cannot be waited for: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let count = said.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse::<f64>().ok());
    count.filter(|_| output.status.success()).ok_or_else(|| format!("valgrind has counted nothing:\n{said}"))
}

/// Instructions of a run for each case; all processes of a line run side by side.
fn count(cases: &[Case]) -> Result<Vec<f64>, String> {
    let start_both = |&case: &Case| Ok((start(case, 0)?, start(case, 1)?));
    let started = cases.iter().map(start_both).collect::<Result<Vec<_>, String>>()?;
    started
        .into_iter()
        .map(|(without, with)| {
            let without = instructions(without)?;
            Ok(instructions(with)? - without)
        })
        .collect()
}

/// Whether instructions are in proportion to the trace's length.
fn check() -> Result<(), String> {
    let worst = table("instructions per operation", &COUNTED_SIZES, count)?;
    if worst > MAX_SLOPE {
        return Err(format!(
            "the optimizer's work grows with the power {worst:.3} of the trace's length, more than {MAX_SLOPE}"
        ));
    }
    Ok(())
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.first().is_some_and(|arg| arg == COUNTED) {
        let numbers: Vec<usize> =
            args[1..].iter().map(|arg| arg.parse().expect("the check passes numbers")).collect();
        run(Case { kind: numbers[0], config: numbers[1], size: numbers[2] }, numbers[3]);
        return ExitCode::SUCCESS;
    }
    let result = match args.iter().any(|arg| arg == "--check") {
        true => check(),
        false => {
            let times = |cases: &[Case]| Ok(cases.iter().map(|&case| time(case)).collect());
            table("ns per operation", &SIZES, times).map(drop)
        }
    };
    result.map_or_else(
        |error| {
            eprintln!("{error}");
            ExitCode::FAILURE
        },
        |()| ExitCode::SUCCESS,
    )
}
