//! What compiling costs: per operation, per guard, per live value, and what the code weighs.
//!
//! A plain program instead of a benchmark library: the figures of interest are differences between traces (a
//! guard's cost is that of a trace with guards minus that of one without), and each is the minimum over many
//! compiles. `cargo bench -p tracelift-cranelift` prints the tables.

use tracelift_core::schema::TagId;
use tracelift_core::snapshot::{Frame, SlotValue, Snapshot, Source};
use tracelift_core::{ir::*, Op, Schema, Type};
use tracelift_cranelift::*;

/// A loop of `ops` operations over 8 carried values; every `guard_every`th is followed by a guard with `live`
/// values.
fn trace(ops: usize, guard_every: Option<usize>, live: usize, shared: bool) -> Trace {
    let mut trace = Trace::new("bench");
    let types =
        [Type::Int, Type::Int, Type::Int, Type::Int, Type::Float, Type::Float, Type::Float, Type::Float];
    let mut values: Vec<Value> = types.iter().map(|&ty| trace.new_value(ty)).collect();
    trace.add_label("L0", &values.clone());
    let mut snap = None;
    for n in 0..ops {
        // Another value of the same type; were it the same one, Cranelift's mid-end would find `x ^ x`.
        let to = n % 8;
        let from = to / 4 * 4 + (to + 1) % 4;
        let op = match types[to] {
            Type::Int => [Op::IntAdd, Op::IntXor, Op::IntMul][n % 3],
            _ => [Op::FloatAdd, Op::FloatMul, Op::FloatSub][n % 3],
        };
        let args = [values[to], values[from]];
        if guard_every.is_some_and(|every| n % every == every - 1) {
            if snap.is_none() || !shared {
                let slots = (values.iter().take(live).enumerate())
                    .map(|(slot, &value)| SlotValue {
                        slot: slot as i32,
                        tag: TagId(0),
                        source: Source::Value(value),
                    })
                    .collect();
                let frames = vec![Frame { slots, ..Frame::default() }];
                snap = Some(trace.add_snapshot(Snapshot { frames, ..Snapshot::default() }));
            }
            let limit = trace.const_int(n as i64 * 1000);
            let flag = trace.push(Inst::new(Op::IntLt, &[values[n % 4], limit]), Some(Type::Int)).unwrap();
            trace.push(Inst::new(Op::GuardTrue, &[flag]).at(snap), None);
        }
        values[to] = trace.push(Inst::new(op, &args), Some(types[to])).unwrap();
    }
    trace.push(Inst::new(Op::Jump, &values).with(Payload::Label(LabelId(0))), None);
    trace
}

/// The cheapest of many compiles.
fn measure(options: Options, trace: &Trace) -> Stats {
    let mut compiler = Compiler::new(options).expect("this machine is supported");
    let mut buffer = [0u64; 16];
    let loops = tracelift_opt::loops_of(trace, &Schema::new());
    let request = Request::new(1, buffer.as_mut_ptr()).know_loops(loops);
    let rounds = 20_000 / trace.insts.len().max(20);
    (0..rounds.max(20))
        .map(|_| compiler.compile(trace, &Schema::new(), &request).expect("the trace is valid").stats)
        .min_by_key(|stats| stats.build_ns + stats.codegen_ns)
        .expect("there is at least one round")
}

fn total(stats: Stats) -> f64 {
    (stats.build_ns + stats.codegen_ns) as f64 / 1000.0
}

fn main() {
    let quick = Options { quick: true, ..Options::default() };
    let mid_end = Options { optimize: true, ..Options::default() };
    for (name, options) in
        [("quick code", quick), ("Cranelift", Options::default()), ("Cranelift with its mid-end", mid_end)]
    {
        println!("{name}");
        println!("  ops guards live shared |  build us  codegen us  us/op | CLIF  bytes  stub bytes  stubs");
        for ops in [20, 100, 500, 2000] {
            for (every, live, shared) in [
                (None, 0, false),
                (Some(10), 0, false),
                (Some(10), 8, false),
                (Some(3), 8, false),
                (Some(3), 8, true),
            ] {
                let stats = measure(options, &trace(ops, every, live, shared));
                println!(
                    "{ops:5} {:6} {live:4} {shared:6} | {:9.1} {:11.1} {:6.2} | {:4} {:6} {:11} {:6}",
                    stats.guards,
                    stats.build_ns as f64 / 1000.0,
                    stats.codegen_ns as f64 / 1000.0,
                    total(stats) / stats.ops as f64,
                    stats.lowered_insts,
                    stats.code_bytes,
                    stats.stub_bytes,
                    stats.stubs,
                );
            }
        }
        let bare = total(measure(options, &trace(500, None, 0, false)));
        println!("  per op {:.2} us", bare / 501.0);
        for (live, shared) in [(0, false), (4, false), (8, false), (8, true)] {
            let stats = measure(options, &trace(500, Some(10), live, shared));
            let per_guard = (total(stats) - bare) / stats.guards as f64;
            println!(
                "  per guard with {live} live values{}: {per_guard:.2} us",
                if shared { ", shared" } else { "" }
            );
        }
    }
}
