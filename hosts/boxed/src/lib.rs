//! The seeds' little language on Tracelift: the smallest complete host, in Rust.
//!
//! Problem: the papers explain everything on one tiny interpreter with `BoxedInteger` and `BoxedFloat`; a JIT
//! that claims their optimizations should run exactly that program. Design: `parse.rs` reads the papers'
//! Python, `code.rs` makes register bytecode of it, `machine.rs` interprets it and embeds Tracelift,
//! `recording.rs`, `record.rs` and `units.rs` record, `heap.rs` has the objects and `frames.rs` the frames,
//! and `host.rs` tells Tracelift about all this. Invariant: a program's outcome is the same with the JIT on
//! and off.
//!
//! Start reading at [`machine`]; `examples/papers.rs` prints what becomes of the papers' programs.

pub mod code;
pub mod frames;
pub mod heap;
pub mod host;
pub mod machine;
pub mod parse;
mod record;
mod recording;
mod units;

pub use heap::{Number, Refused};
pub use machine::{Machine, Options, Outcome};

/// Seed 000, Figure 1: counts down for ever.
pub const SEED_000: &str = "\
def f(y):
    step = BoxedInteger(-1)
    while True:
        y = y.add(step)
";

/// Seed 002, Figure 1: counts down to 0, making five objects per iteration.
pub const SEED_002: &str = "\
def f(y):
    res = BoxedInteger(0)
    while y.is_positive():
        res = res.add(y).add(BoxedInteger(-100))
        y = y.add(BoxedInteger(-1))
    return res
";
