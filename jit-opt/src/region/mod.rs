//! Regions: control flow graphs of blocks with parameters.
//!
//! Problem: a trace knows one way through a loop and leaves by guards. What goes several ways, comes back to
//! several places, or is left where a loop begins is a graph. Design: a region is a [`Trace`] of several
//! labels that has `jump_if` beside `jump`; a label is a block, and its arguments are what other languages
//! call phis. Blocks are *closed*: all that a block uses are its arguments and what it computes itself. So a
//! block can be copied or moved without a look at those that it dominates, and text form, verifier
//! ([`Mode::Region`](tracelift_core::verify::Mode)), evaluator and code generators are those of traces.
//!
//! - [`Graph`]: order, dominators, loops;
//! - [`peel_loops`]: a loop that is left at its header is left at its back edge after that (Ark's loop
//!   peeling, seed 001);
//! - [`clean_up`]: blocks with one way in are merged with it, arguments that nobody uses removed.
//!
//! The runtime calls trees of traces that are one function regions, too. Those are put together when they are
//! lowered (`jit-cranelift/src/lower/region.rs`), and are no graphs before. The graphs here come from files
//! and from the generator of random ones.
//!
//! Invariant: a pass gives a region that the verifier accepts and that means the same; guards that wait for
//! interrupts or the collector (*safepoints*) may be fewer, as no loop is without one that had one.
//!
//! ```
//! use tracelift_core::text::{parse_file, print_trace};
//! use tracelift_opt::{region::optimize_region, Config};
//! let text = "L0(i0):\njump(L1, i0, 0)\nL1(i1, i2):\ni3 = i2 < i1\njump_if(i3, L2, i1, i2)\nfinish(i2)\n\
//!     L2(i4, i5):\ni6 = i5 + 2\njump(L1, i4, i6)\nrun: 5 -> finish(6)\n";
//! let file = parse_file(text, &|_| None).unwrap();
//! let (region, report) = optimize_region(&file.traces[0], &file.schema, &Config::new());
//! assert_eq!(report.peeled(), 1);
//! assert_eq!(region.labels.len(), 2, "before the loop, and the loop");
//! ```

mod clean;
mod graph;
mod peel;
#[cfg(test)]
mod tests;

pub use clean::clean_up;
pub use graph::{Graph, Loop};
pub use peel::{peel_loops, LoopReport, PeelReport, Refusal};

use tracelift_core::{Loops, Op, Schema, Trace};

use crate::{resume, Config, OpCounts, Optimized, PassName, Report};

/// Whether a trace is a region.
pub fn is_region(trace: &Trace) -> bool {
    trace.insts.iter().any(|inst| inst.op == Op::JumpIf)
}

/// Peels the loops of a region that the verifier accepts, and cleans up after that: the passes `peel` and
/// `dce`.
pub fn optimize_region(region: &Trace, schema: &Schema, config: &Config) -> (Trace, PeelReport) {
    let (region, report) = match config.is_on(PassName::Peel) {
        true => peel_loops(region),
        false => (region.clone(), PeelReport::default()),
    };
    match config.is_on(PassName::Dce) {
        true => (clean_up(region, schema), report),
        false => (region, report),
    }
}

/// A region as code generators take it, with its resume data.
pub fn ready(region: Trace, schema: &Schema) -> Optimized {
    let resume = resume::encode(&region);
    let counts = OpCounts::of(&region, schema);
    let report = Report { before: counts, after: counts, ..Report::default() };
    Optimized { trace: region, report, resume, peeled: None, loops: Loops::default(), target: None }
}
