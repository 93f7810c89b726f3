//! What the random traces have covered, as counts and as a table.
//!
//! Problem: a green differential run means nothing if the interesting things never happened. Design: count executions
//! per op and exits per op and kind, for the recorded traces, the optimized ones and machine code; the test fails if
//! something that must come never came. Invariant: a count is made where the thing happened, never where it was planned.
//!
//! Example: `no machine code was left by try_call` fails a run of 2,000 traces.

use std::collections::BTreeMap;
use std::fmt::Write;

use tracelift_core::eval::Outcome;
use tracelift_core::ops::Flags;
use tracelift_core::{ExitKind, Op};

/// By which op, and of which kind, an exit was.
pub type ExitCounts = BTreeMap<(Op, ExitKind), u64>;

/// Counts of one thread; several are added up.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    /// Cases checked.
    pub traces: u64,
    /// Executions by the evaluator of recorded traces, by op.
    pub recorded_ops: BTreeMap<Op, u64>,
    /// The same for optimized traces.
    pub optimized_ops: BTreeMap<Op, u64>,
    /// Exits of recorded traces, of optimized ones in the evaluator, and of machine code.
    pub recorded_exits: ExitCounts,
    /// See `recorded_exits`.
    pub optimized_exits: ExitCounts,
    /// See `recorded_exits`.
    pub machine_exits: ExitCounts,
    /// Unforced runs of optimized traces, and how many of them left where the recorded trace does.
    pub free_runs: u64,
    /// See `free_runs`.
    pub same_exit: u64,
    /// Exits that lifted virtual objects or made pending stores.
    pub lifting_exits: u64,
    /// Rewrites by name.
    pub rules: BTreeMap<String, u64>,
}

fn add<K: Ord + Clone>(to: &mut BTreeMap<K, u64>, from: &BTreeMap<K, u64>) {
    for (key, count) in from {
        *to.entry(key.clone()).or_default() += count;
    }
}

impl Coverage {
    /// Adds another thread's counts.
    pub fn merge(&mut self, other: &Coverage) {
        self.traces += other.traces;
        self.free_runs += other.free_runs;
        self.same_exit += other.same_exit;
        self.lifting_exits += other.lifting_exits;
        add(&mut self.recorded_ops, &other.recorded_ops);
        add(&mut self.optimized_ops, &other.optimized_ops);
        add(&mut self.recorded_exits, &other.recorded_exits);
        add(&mut self.optimized_exits, &other.optimized_exits);
        add(&mut self.machine_exits, &other.machine_exits);
        add(&mut self.rules, &other.rules);
    }

    /// Counts the ops that a run executed.
    pub fn count_ops(ops: &mut BTreeMap<Op, u64>, outcome: &Outcome) {
        for (&op, &count) in Op::ALL.iter().zip(&outcome.op_counts).filter(|(_, &count)| count > 0) {
            *ops.entry(op).or_default() += count;
        }
    }

    /// What must come in enough random traces and did not.
    pub fn missing(&self) -> Vec<String> {
        let mut missing = Vec::new();
        let by_op = |exits: &ExitCounts, op: Op| exits.iter().any(|((o, _), _)| *o == op);
        let by_kind = |exits: &ExitCounts, kind: ExitKind| exits.iter().any(|((_, k), _)| *k == kind);
        for &op in Op::ALL {
            if !self.recorded_ops.contains_key(&op) {
                missing.push(format!("{} was never executed", op.info().name));
            }
            if op.is_guard() && !by_op(&self.recorded_exits, op) {
                missing.push(format!("no recorded trace was left by {}", op.info().name));
            }
            if op.is_guard() && !op.is(Flags::RECORD) && !by_op(&self.machine_exits, op) {
                missing.push(format!("no machine code was left by {}", op.info().name));
            }
            if !op.is(Flags::RECORD) && !self.optimized_ops.contains_key(&op) {
                missing.push(format!("{} was never executed in an optimized trace", op.info().name));
            }
        }
        for kind in ExitKind::ALL {
            if !by_kind(&self.machine_exits, kind) {
                missing.push(format!("no machine code was left by an exit of kind {}", kind.name()));
            }
        }
        missing
    }

    /// The table.
    pub fn table(&self) -> String {
        let mut out = String::new();
        let sum = |exits: &ExitCounts, op: Op| -> u64 {
            exits.iter().filter(|((o, _), _)| *o == op).map(|(_, count)| count).sum()
        };
        let _ = writeln!(
            out,
            "{} traces, {} of {} unforced runs left where the recorded trace does, {} exits lifted",
            self.traces, self.same_exit, self.free_runs, self.lifting_exits
        );
        let _ = writeln!(
            out,
            "{:<20}{:>12}{:>12} | {:>10}{:>10}{:>10}",
            "op", "recorded", "optimized", "exits rec.", "opt.", "machine"
        );
        for &op in Op::ALL {
            let count = |ops: &BTreeMap<Op, u64>| ops.get(&op).copied().unwrap_or(0);
            let _ = write!(
                out,
                "{:<20}{:>12}{:>12} |",
                op.info().name,
                count(&self.recorded_ops),
                count(&self.optimized_ops)
            );
            if op.is_guard() || op == Op::Finish {
                let exits = [&self.recorded_exits, &self.optimized_exits, &self.machine_exits];
                exits.iter().for_each(|exits| {
                    let _ = write!(out, " {:>9}", sum(exits, op));
                });
            }
            let _ = writeln!(out);
        }
        for kind in ExitKind::ALL {
            let of = |exits: &ExitCounts| -> u64 {
                exits.iter().filter(|((_, k), _)| *k == kind).map(|(_, count)| count).sum()
            };
            let _ = writeln!(
                out,
                "exit kind {:<34} | {:>9} {:>9} {:>9}",
                kind.name(),
                of(&self.recorded_exits),
                of(&self.optimized_exits),
                of(&self.machine_exits)
            );
        }
        let rules: Vec<String> = self.rules.iter().map(|(rule, count)| format!("{rule} {count}")).collect();
        let _ = writeln!(out, "rewrites: {}", rules.join(", "));
        out
    }
}
