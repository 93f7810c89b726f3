//! Tracelift beside compilers, just-in-time compilers and interpreters, on the programs of seed 000's
//! evaluation.
//!
//! Problem: a claim of speed is worth what its yardstick is worth. Design: the same programs in Lua, C and
//! Python, on the same data, with the same operations in the same order, so that the results must agree to
//! the last bit; all contenders run in turn, on one core, in one run; ratios are what counts. Invariant:
//! nothing is timed that is not checked.
//!
//! Example: `cargo run --release -p tracelift-benches --features peers -- --quick`.

pub mod chart;
pub mod confidence;
pub mod contenders;
pub mod frozen;
pub mod jit_figures;
pub mod measure;
pub mod process;
pub mod report;
pub mod rows;
pub mod script_report;
pub mod scripts;
pub mod smaller;
pub mod target;
pub mod warm_up;
pub mod warm_up_chart;
pub mod warm_up_report;
