//! What the optimizer did to a trace: rewrites by name, operations before and after, bytes of resume data.
//!
//! The groups are those of seed 002's Figure 7: allocations, reads and writes of records, guards, all
//! operations. Both forms are counted by the same groups: an allocation is `new` or a call of a layout's
//! allocator; a load or store counts as a read or write. Invariant: counting never depends on the passes that
//! ran.

use std::collections::BTreeMap;

use tracelift_core::{Inst, Op, Payload, Schema, Trace};

/// Operations of a trace by the groups of seed 002's Figure 7.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OpCounts {
    /// Allocations.
    pub new: usize,
    /// Reads and writes of records and raw memory.
    pub get_set: usize,
    /// Guards.
    pub guard: usize,
    /// All operations; labels are none.
    pub all: usize,
}

impl OpCounts {
    /// Counts a trace.
    pub fn of(trace: &Trace, schema: &Schema) -> OpCounts {
        OpCounts::count(&trace.insts, schema)
    }

    /// Counts what lies after the last label: one iteration, without the preamble of a peeled trace.
    pub fn of_loop(trace: &Trace, schema: &Schema) -> OpCounts {
        let start = trace.insts.iter().rposition(|inst| inst.op == Op::Label).unwrap_or(0);
        OpCounts::count(&trace.insts[start..], schema)
    }

    fn count(insts: &[Inst], schema: &Schema) -> OpCounts {
        let mut counts = OpCounts::default();
        for inst in insts.iter().filter(|inst| inst.op != Op::Label) {
            counts.all += 1;
            if is_allocation(inst, schema) {
                counts.new += 1;
            } else if is_get_or_set(inst.op) {
                counts.get_set += 1;
            } else if inst.op.is_guard() {
                counts.guard += 1;
            }
        }
        counts
    }
}

fn is_allocation(inst: &Inst, schema: &Schema) -> bool {
    match inst.payload {
        Payload::New { .. } => true,
        Payload::Func(func) => schema.layouts().iter().any(|layout| layout.alloc == Some(func)),
        _ => false,
    }
}

fn is_get_or_set(op: Op) -> bool {
    // Guards that only test (guard_class, guard_key_absent) read memory too, but count as guards.
    use Op::*;
    matches!(
        op,
        Load | Store | Get | Set | ItemCount | GetItem | SetItem | PutItem | GetKey | SetKey | InsertKey
    )
}

/// A trace as it is after some passes.
#[derive(Clone, Debug)]
pub struct Stage {
    /// The last pass that ran.
    pub name: &'static str,
    /// What came out.
    pub trace: Trace,
}

/// What happened to a trace.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// How often each rewrite fired; those that never did are left out.
    pub rules: BTreeMap<&'static str, u64>,
    /// The recorded trace.
    pub before: OpCounts,
    /// The optimized one.
    pub after: OpCounts,
    /// How often a pass looked at an operation, or at an object that does not exist yet: the optimizer's
    /// work, for tests that it is linear.
    pub visited: u64,
    /// What was known of memory and given up because the list for its class, or that of calls, was full.
    pub given_up: u64,
    /// Bytes of resume data, shared parts once.
    pub resume_bytes: usize,
    /// Different resume data; exits with equal state share it.
    pub resume_distinct: usize,
    /// The trace after each pass, the recorded one first; only when [`Config::stages`](crate::Config) asks.
    pub stages: Vec<Stage>,
}

impl Report {
    /// How often a rewrite fired.
    pub fn fired(&self, rule: &str) -> u64 {
        self.rules.get(rule).copied().unwrap_or(0)
    }

    /// Whether a store was held back, so that an exit may come before what it would have met.
    pub fn has_delayed(&self) -> bool {
        self.fired("delay_store") > 0
    }

    /// How many rewrites there were: what [`Config::fuel`](crate::Config) counts.
    pub fn rewrites(&self) -> u64 {
        self.rules.values().sum()
    }
}
