//! The papers that Tracelift starts from, item by item.
//!
//! Problem: "implements the paper" is easily said; the papers' listings, equations and rules must stay true
//! of the code as it changes. Design: one file for each paper, and in it at least one test for each item,
//! named after the item's tag: `a…` is seed 000 (loop-aware optimization by peeling), `b…` is seed 002
//! (allocation removal by partial evaluation). Input and expected listing stand in the test, and the passes
//! that are on are those that the figure had. Record operations are kept, as in the figures. Where the
//! listing is a figure, the printed text must be the paper's to the letter: names, order, indentation;
//! elsewhere it is compared up to renaming.
//!
//! Invariant: no test looks inside the optimizer; all go through `optimize`, the verifier and the evaluator.
//! Whole programs (A2, B1) run in `hosts/boxed/tests/figures.rs`.
//!
//! Example: with peeling and guard removal, seed 000's Figure 2 becomes its Figure 5 (`loop_aware::a5_…`).

mod allocation_removal;
mod loop_aware;
mod support;
