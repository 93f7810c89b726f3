//! Helpers of the differential tests: one random case, run every way there is, compared everywhere.
//!
//! Problem: an optimized trace, its machine code and its resume data are right when the interpreter cannot
//! tell that they were used; results alone say little, since most bugs sit at exits that are hardly ever
//! taken. Design: the evaluator on the *recorded* trace is the reference. Every other way to run the case
//! ends at some snapshot and iteration; the reference is stopped there, and frames and worlds are compared.
//! All guard executions are forced to fail in turn. `check` holds the comparisons, `machine` compiles and
//! runs, `lift` reads resume data, `coverage` counts, `crash` names the seed when machine code crashes,
//! `found` reads the cases that are kept, `seeds` tries many, `turn` says which, `runner` starts programs.
//!
//! Invariant: every way works in a world of its own that is put back before each run, so that a failing run
//! cannot hide or cause another one's failure.
//!
//! Example: a load that was forwarded across a store shows as one slot that differs, at one exit of one
//! iteration.

#![allow(dead_code, reason = "each test file uses its own part")]

pub mod check;
pub mod coverage;
pub mod crash;
pub mod found;
pub mod graphs;
pub mod lift;
pub mod machine;
pub mod runner;
pub mod seeds;
pub mod tree_machine;
pub mod trees;
pub mod turn;
pub mod unit_machine;
pub mod units;
