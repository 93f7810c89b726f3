//! What the optimizer costs per operation, and how that grows with the trace.
//!
//! Problem: a just-in-time compiler pays for its optimizer while the program waits; a pass that is quadratic in the
//! trace is felt only when somebody records a long one. Design: traces of four kinds, from 100 to 10,000 operations,
//! are optimized with all passes; the table shows nanoseconds per recorded operation (the least of several runs) and the slope, which is
//! the exponent `k` of the best fit `time = c * operations^k`. With `--check` a slope above 1.25 is an error.
//! Invariant: every kind does per operation the same amount of work, whatever the length.
//!
//! ```text
//! cargo bench -p tracelift-opt --bench optimizer -- --check
//! ```

use std::fmt::Write;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use tracelift_core::text::parse_file;
use tracelift_core::{Schema, Trace};
use tracelift_opt::{optimize, Config};

const SIZES: [usize; 5] = [100, 316, 1_000, 3_162, 10_000];
const MAX_SLOPE: f64 = 1.25;

const HEADER: &str = "func make(addr, int, int, int) -> ref allocates = native world.alloc
func seen(ref) writes out
layout Box { value: int, alloc make }
layout Pair { first: ref, second: ref, alloc make }
layout Array { items: tagged from 1 }
trace t
";

/// A kind of trace: its name and its text, with about so many operations.
type Kind = (&'static str, fn(usize) -> String);

const KINDS: [Kind; 4] =
    [("boxed arithmetic", boxes), ("array accesses", arrays), ("object graph", graph), ("live slots", slots)];

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

fn read(text: &str) -> (Trace, Schema) {
    let file = parse_file(&format!("{HEADER}{text}"), &tracelift_core::testbed::natives);
    let mut file = file.unwrap_or_else(|error| panic!("{error}"));
    (file.traces.remove(0), file.schema)
}

/// Nanoseconds for one run: the least of several.
fn time(trace: &Trace, schema: &Schema, config: &Config) -> f64 {
    let runs = (60_000 / trace.op_count().max(1)).clamp(5, 200);
    let once = || {
        let start = Instant::now();
        black_box(optimize(black_box(trace), schema, config).expect("the trace can be optimized"));
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

fn main() -> ExitCode {
    let check = std::env::args().any(|arg| arg == "--check");
    let mut worst: f64 = 0.0;
    print!("{:<18}", "ns per operation");
    SIZES.iter().for_each(|size| print!("{size:>9}"));
    println!("{:>9}", "slope");
    for (config_name, config) in
        [("", Config::new()), (", plain loop", Config::parse("-peel").expect("a pass"))]
    {
        for (name, make) in KINDS {
            let mut points = Vec::new();
            print!("{:<18}", format!("{name}{config_name}"));
            for size in SIZES {
                let (trace, schema) = read(&make(size));
                let ops = trace.op_count() as f64;
                let nanos = time(&trace, &schema, &config);
                print!("{:>9.0}", nanos / ops);
                points.push((ops, nanos));
            }
            let slope = slope(&points);
            println!("{slope:>9.2}");
            worst = worst.max(slope);
        }
    }
    if check && worst > MAX_SLOPE {
        eprintln!("the optimizer's time grows with the power {worst:.2} of the trace's length, more than {MAX_SLOPE}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
