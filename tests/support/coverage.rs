//! What the random traces have covered, as counts and as a table.
//!
//! Problem: a green differential run means nothing if the interesting things never happened. Design: count
//! executions per op and exits per op and kind, for the recorded traces, the optimized ones and machine code,
//! what exits of machine code lift, what peeling made of loops, and rewrites; the test fails if something
//! that must come never came. Invariant: a count is made where the thing happened, never where it was
//! planned.
//!
//! Example: `no machine code was left by try_call` fails a run of 2,000 traces.

use std::collections::BTreeMap;
use std::fmt::Write;

use tracelift_core::eval::Outcome;
use tracelift_core::ops::Flags;
use tracelift_core::snapshot::{Snapshot, Source, Virtual};
use tracelift_core::{ExitKind, Op, Trace};
use tracelift_opt::{rule_names, Carried, CarriedKey, Peeled};

/// By which op, and of which kind, an exit was.
pub type ExitCounts = BTreeMap<(Op, ExitKind), u64>;

/// What machine code's exits lifted, and what peeling did, by what it is.
pub type Counts = BTreeMap<&'static str, u64>;

/// What must be lifted by some exit of machine code.
const LIFTED: &[&str] = &[
    "exits that lift",
    "objects",
    "objects with fields",
    "objects with items",
    "objects with entries",
    "objects with room that is not used",
    "objects that hold objects",
    "objects that hold themselves",
    "objects in a longer circle",
    "objects in two places",
    "stores that waited",
    "stores that waited for one object",
];

/// Rules that must fire without waiting for so many traces: checks of bounds, and what stands for them before
/// a loop.
const BOUNDS: &[&str] = &["bound_known", "bound_hoisted"];

/// So many traces must fire every rule.
const MANY: u64 = 10_000;

/// What must come of peeling.
const PEELING: &[&str] = &[
    "loops peeled",
    "loops not peeled",
    "loops with virtual objects at the label",
    "arguments carried",
    "arguments carried from expansions",
    "loops with a short preamble",
    "loops without a short preamble",
    "loops with a preamble of two iterations",
    "loops with a preamble of three iterations",
    "arguments of iterations before",
];

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
    /// Optimized forms that were run, and those that were the same as one before.
    pub forms: [u64; 2],
    /// Unforced runs of optimized traces, and how many of them left where the recorded trace does.
    pub free_runs: u64,
    /// See `free_runs`.
    pub same_exit: u64,
    /// See [`LIFTED`].
    pub lifted: Counts,
    /// See [`PEELING`].
    pub peeling: Counts,
    /// Operations of loops that were peeled: without peeling, and with it.
    pub loop_ops: [u64; 2],
    /// Objects that unforced runs made until they were left in the same place: by recorded traces, and by
    /// those optimized with all passes.
    pub objects_made: [u64; 2],
    /// Loops that stand in machine code several times in a row, and prefetches.
    pub unrolled: u64,
    /// See `unrolled`.
    pub prefetches: u64,
    /// Rewrites by name.
    pub rules: BTreeMap<String, u64>,
}

/// Whether an object holds another.
fn holds(object: &Virtual, number: u32) -> bool {
    parts(object).any(|source| source == Source::Virtual(number))
}

fn parts(object: &Virtual) -> impl Iterator<Item = Source> + '_ {
    let fields = object.fields.iter().map(|&(_, source)| source);
    let items = object.item_values.iter().map(|&(_, _, source)| source);
    fields.chain(items).chain(object.entries.iter().map(|&(_, _, source)| source))
}

/// Whether an object can be reached from itself by way of others.
fn in_circle(virtuals: &[Virtual], number: usize) -> bool {
    let (mut seen, mut todo) = (vec![false; virtuals.len()], vec![number]);
    while let Some(at) = todo.pop() {
        for source in parts(&virtuals[at]) {
            match source {
                Source::Virtual(next) if next as usize == number && at != number => return true,
                Source::Virtual(next) if !std::mem::replace(&mut seen[next as usize], true) => {
                    todo.push(next as usize);
                }
                _ => {}
            }
        }
    }
    false
}

/// The operations between the last label and the end.
pub fn loop_length(trace: &Trace) -> u64 {
    trace.insts.iter().rev().take_while(|inst| inst.op != Op::Label).count() as u64
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
        self.unrolled += other.unrolled;
        self.prefetches += other.prefetches;
        for (to, from) in [
            (&mut self.loop_ops, other.loop_ops),
            (&mut self.objects_made, other.objects_made),
            (&mut self.forms, other.forms),
        ] {
            (to[0], to[1]) = (to[0] + from[0], to[1] + from[1]);
        }
        add(&mut self.lifted, &other.lifted);
        add(&mut self.peeling, &other.peeling);
        add(&mut self.recorded_ops, &other.recorded_ops);
        add(&mut self.optimized_ops, &other.optimized_ops);
        add(&mut self.recorded_exits, &other.recorded_exits);
        add(&mut self.optimized_exits, &other.optimized_exits);
        add(&mut self.machine_exits, &other.machine_exits);
        add(&mut self.rules, &other.rules);
    }

    /// Counts the ops that a run executed.
    pub fn count_ops(ops: &mut BTreeMap<Op, u64>, outcome: &Outcome) {
        let counts = Op::ALL.iter().map(|&op| (op, outcome.op_counts[op as usize]));
        for (op, count) in counts.filter(|&(_, count)| count > 0) {
            *ops.entry(op).or_default() += count;
        }
    }

    /// Counts what an exit of machine code lifted.
    pub fn count_lifted(&mut self, snapshot: &Snapshot) {
        let (virtuals, pending) = (&snapshot.virtuals, &snapshot.pending);
        if virtuals.is_empty() && pending.is_empty() {
            return;
        }
        let mut count = |what: &'static str, number: usize| {
            *self.lifted.entry(what).or_default() += number as u64;
        };
        count("exits that lift", 1);
        count("stores that waited", pending.len());
        let slots = || snapshot.frames.iter().flat_map(|frame| &frame.slots).map(|slot| slot.source);
        for (number, object) in virtuals.iter().enumerate() {
            let own = Source::Virtual(number as u32);
            let uses = virtuals.iter().flat_map(parts).chain(slots()).filter(|&source| source == own).count();
            let waiting = pending.iter().filter(|pending| pending.source == own).count();
            let unused = object.items as usize > object.item_values.len()
                || object.keys as usize > object.entries.len();
            count("objects", 1);
            count("objects with fields", !object.fields.is_empty() as usize);
            count("objects with items", !object.item_values.is_empty() as usize);
            count("objects with entries", !object.entries.is_empty() as usize);
            count("objects with room that is not used", unused as usize);
            count(
                "objects that hold objects",
                parts(object).any(|s| matches!(s, Source::Virtual(_))) as usize,
            );
            count("objects that hold themselves", holds(object, number as u32) as usize);
            count("objects in a longer circle", in_circle(virtuals, number) as usize);
            count("objects in two places", (uses + waiting > 1) as usize);
            count("stores that waited for one object", if waiting > 1 { waiting } else { 0 });
        }
    }

    /// Counts what became of a loop: its length without peeling and with it, and what its label takes.
    pub fn count_peeling(&mut self, lengths: [u64; 2], peeled: Option<&Peeled>) {
        let mut count = |what: &'static str, number: usize| {
            *self.peeling.entry(what).or_default() += number as u64;
        };
        let Some(peeled) = peeled else { return count("loops not peeled", 1) };
        let carried = &peeled.args[peeled.passed..];
        let expanded = |carried: &&Carried| matches!(carried.key, CarriedKey::Expanded { .. });
        count("loops peeled", 1);
        count("loops that became shorter", (lengths[1] < lengths[0]) as usize);
        count(
            "loops with virtual objects at the label",
            peeled.way_in.iter().any(|way| !way.state.objects.is_empty()) as usize,
        );
        count("arguments carried", carried.len());
        count("arguments carried from expansions", carried.iter().filter(expanded).count());
        count("arguments of iterations before", peeled.args.iter().filter(|of| of.age > 0).count());
        count("loops with a preamble of two iterations", (peeled.iterations == 2) as usize);
        count("loops with a preamble of three iterations", (peeled.iterations == 3) as usize);
        let is_short = peeled.short_preamble().is_some();
        count(if is_short { "loops with a short preamble" } else { "loops without a short preamble" }, 1);
        self.loop_ops = [self.loop_ops[0] + lengths[0], self.loop_ops[1] + lengths[1]];
    }

    /// What must come in enough random traces and did not.
    pub fn missing(&self) -> Vec<String> {
        let mut missing = Vec::new();
        let by_op = |exits: &ExitCounts, op: Op| exits.iter().any(|((o, _), _)| *o == op);
        let by_kind = |exits: &ExitCounts, kind: ExitKind| exits.iter().any(|((_, k), _)| *k == kind);
        // Traces alone call nobody, and go one way: see `tests/units.rs` and `graphs.rs`.
        let of_others = [Op::CallUnit, Op::UnitResult, Op::ReturnUnit, Op::JumpIf, Op::EnterLoop];
        for &op in Op::ALL.iter().filter(|op| !of_others.contains(op)) {
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
        for kind in ExitKind::ALL.into_iter().filter(|&kind| kind != ExitKind::Called) {
            if !by_kind(&self.machine_exits, kind) {
                missing.push(format!("no machine code was left by an exit of kind {}", kind.name()));
            }
        }
        for (counts, demanded) in [(&self.lifted, LIFTED), (&self.peeling, PEELING)] {
            let never = |what: &&&str| counts.get(**what).is_none_or(|&count| count == 0);
            missing.extend(demanded.iter().filter(never).map(|what| format!("no {what}")));
        }
        if self.objects_made[1] >= self.objects_made[0] {
            missing.push("no object was saved".into());
        }
        if self.loop_ops[1] >= self.loop_ops[0] {
            missing.push("peeling made no loop shorter".into());
        }
        if self.unrolled == 0 {
            missing.push("no loop stands in machine code several times in a row".into());
        }
        if self.prefetches == 0 && cfg!(target_arch = "x86_64") {
            missing.push("no machine code asks early for memory".into());
        }
        // Some rules want operands that come together once in a thousand traces.
        let silent = if self.traces >= MANY { rule_names() } else { BOUNDS.to_vec() };
        // By their contract these change where a trace is left, so that nothing here could compare them: only
        // hosts that promise to collect get them, and the host of these tests does not.
        let silent =
            silent.into_iter().filter(|rule| !["collect_unneeded", "collect_counted"].contains(rule));
        let silent = silent.filter(|rule| !self.rules.contains_key(*rule));
        missing.extend(silent.map(|rule| format!("no rewrite {rule}")));
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
            "{} traces, {} optimized forms ({} more were the same), {} of {} unforced runs left where the recorded trace does",
            self.traces, self.forms[0], self.forms[1], self.same_exit, self.free_runs
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
        let list = |counts: &Counts| -> String {
            counts.iter().map(|(what, count)| format!("{what} {count}")).collect::<Vec<_>>().join(", ")
        };
        let _ = writeln!(out, "lifted by machine code: {}", list(&self.lifted));
        let [recorded, optimized] = self.objects_made;
        let _ = writeln!(out, "objects made by recorded traces {recorded}, by optimized ones {optimized}");
        let _ = writeln!(out, "peeling: {}", list(&self.peeling));
        let [plain, peeled] = self.loop_ops;
        let _ = writeln!(out, "operations of loops that were peeled: {plain} without, {peeled} with peeling");
        let rules: Vec<String> = self.rules.iter().map(|(rule, count)| format!("{rule} {count}")).collect();
        let _ = writeln!(out, "rewrites: {}", rules.join(", "));
        out
    }
}
