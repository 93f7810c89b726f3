//! Tracelift's trace optimizer: a recorded trace in, an optimized and expanded one out.
//!
//! Problem: a recorded trace repeats tests, moves constants about and speaks of records in the host's terms;
//! machine code wants as few loads, compares and guards as possible. Design: one forward walk; every
//! operation goes through a chain of small passes, each of which keeps it or *proposes* something simpler,
//! and the driver in `pass.rs` commits what is left to a new trace. Passes share knowledge as facts on the
//! driver and never name one another, so that the same chain can serve a recorded trace, its peeled copy and
//! a bridge. A backward walk then drops what nobody uses, the snapshots that are left are encoded as resume
//! data, and what lowering wants to know of the loop is found out (`loops.rs`).
//!
//! Invariant: the input is never changed, a verified trace never makes the optimizer panic, and its output
//! verifies; at every exit the output rebuilds the state that the recorded trace has at that snapshot.
//!
//! ```
//! use tracelift_core::{Inst, Op, Payload, Schema, Trace, Type};
//! use tracelift_opt::{optimize, Config};
//! let mut trace = Trace::new("count");
//! let i0 = trace.new_value(Type::Int);
//! let label = trace.add_label("L0", &[i0]);
//! let zero = trace.const_int(0);
//! let i1 = trace.push(Inst::new(Op::IntAdd, &[i0, zero]), Some(Type::Int)).unwrap();
//! trace.push(Inst::new(Op::Jump, &[i1]).with(Payload::Label(label)), None);
//! let optimized = optimize(&trace, &Schema::new(), &Config::parse("-peel").unwrap()).unwrap();
//! assert_eq!(optimized.trace.insts.len(), 2);
//! assert_eq!(optimized.report.fired("add_zero"), 1);
//! ```

use std::cell::OnceCell;
use std::collections::BTreeSet;

use thiserror::Error;
use tracelift_core::loops::Entering;
use tracelift_core::{ExitKind, Loops, Op, Schema, Trace};

mod bridge;
mod collect;
mod config;
mod dce;
mod delayed;
mod driver;
mod early;
mod facts;
mod kept;
mod linear;
mod loops;
mod pass;
mod passes;
mod peel;
mod range;
pub mod region;
mod report;
pub mod resume;
mod rotation;
pub mod short;
mod state;
mod statics;
#[cfg(test)]
mod tests;
mod walks;

pub use bridge::BridgeTarget;
pub use config::{Config, ConfigError, PassInfo, PassName, PASSES};
pub use loops::{counter_of, loops_of};
pub use passes::fold::{algebraic_rules, AlgebraicRule};
pub use passes::virtuals::can_be_virtual;
pub use peel::{Carried, CarriedKey, Peeled, WayIn};
pub use range::Range as IntRange;
pub use report::{OpCounts, Report, Stage};
pub use resume::{Resume, ResumeTable};

/// Why a trace has no optimized form. All are ordinary results: the host goes on in its interpreter.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum OptError {
    /// A record operation on a layout that lacks what it needs.
    #[error("layout `{layout}` has no {what}")]
    LayoutLacks {
        /// The layout's name.
        layout: String,
        /// The part or function that it lacks.
        what: &'static str,
    },
    /// The input is not a trace (the verifier says where).
    #[error("malformed trace: {0}")]
    Malformed(&'static str),
}

/// An optimized trace, ready for lowering.
#[derive(Clone, Debug)]
pub struct Optimized {
    /// The trace; its snapshots are the resume data of its exits.
    pub trace: Trace,
    /// What was done.
    pub report: Report,
    /// The same resume data, encoded, by exit.
    pub resume: ResumeTable,
    /// What the loop's label wants, if the trace was peeled.
    pub peeled: Option<Peeled>,
    /// What lowering is told of the trace's loops.
    pub loops: Loops,
    /// Where bridges to the loop may go on, if it has a second body for them.
    pub target: Option<BridgeTarget>,
}

/// Optimizes a recorded trace.
pub fn optimize(trace: &Trace, schema: &Schema, config: &Config) -> Result<Optimized, OptError> {
    let mut report = Report { before: OpCounts::of(trace, schema), ..Report::default() };
    if config.stages {
        report.stages = stages(trace, schema, config)?;
    }
    let plain = Plain { trace, schema, config, made: OnceCell::new() };
    let recorded = Report { before: report.before, ..Report::default() };
    let (optimized, mut peeled, entering) = match peel(&plain, recorded) {
        Some((with_peeling, of_it, peeled)) => {
            report = Report { stages: std::mem::take(&mut report.stages), ..of_it };
            let optimized = dce::compact(with_peeling);
            if config.stages {
                report.stages.push(Stage { name: "peel", trace: optimized.clone() });
            }
            (optimized, Some(peeled), None)
        }
        None => {
            let (optimized, entering, of_it) = plain.take()?;
            report = Report { before: report.before, stages: std::mem::take(&mut report.stages), ..of_it };
            (dce::compact(optimized), None, entering)
        }
    };
    let resume = resume::encode(&optimized);
    report.after = OpCounts::of(&optimized, schema);
    report.resume_bytes = resume.bytes.len();
    report.resume_distinct = resume.distinct;
    let mut loops = loops_of(&optimized, schema);
    let second = peeled.as_mut().and_then(|peeled| peeled.second.take());
    let target = second.and_then(|(label, form)| Some((label, BridgeTarget::new(form, trace)?)));
    (loops.second, loops.entering) = (target.as_ref().map(|&(label, _)| label), entering);
    let target = target.map(|(_, target)| target);
    Ok(Optimized { trace: optimized, report, resume, peeled, loops, target })
}

/// What comes of a walk: the trace, how it enters a loop's second body, what was done.
type Made = Result<(Trace, Option<Entering>, Report), OptError>;

/// The trace without peeling, made if it is wanted: peeling has the same walk for its preamble.
struct Plain<'t> {
    trace: &'t Trace,
    schema: &'t Schema,
    config: &'t Config,
    made: OnceCell<Made>,
}

impl Plain<'_> {
    fn make(&self) -> Made {
        let mut report = Report::default();
        let (out, entering) = walk(self.trace, self.schema, self.config, usize::MAX, &mut report)?;
        Ok((clean(out, self.trace, self.schema, self.config, &mut report), entering, report))
    }

    fn take(self) -> Made {
        match self.made.into_inner() {
            Some(made) => made,
            None => Plain { made: OnceCell::new(), ..self }.make(),
        }
    }

    /// Its operations; none if it cannot be made.
    fn op_count(&self) -> usize {
        self.made.get_or_init(|| self.make()).as_ref().map_or(0, |(trace, ..)| trace.op_count())
    }
}

/// What is done after the forward walk over the recorded trace.
fn clean(mut trace: Trace, recorded: &Trace, schema: &Schema, config: &Config, report: &mut Report) -> Trace {
    if config.is_on(PassName::DeadStore) {
        passes::heap::remove_overwritten(&mut trace, schema, config.fuel, report);
    }
    if config.host_collects {
        let fuel = if config.is_on(PassName::Collect) { config.fuel } else { Some(0) };
        collect::finish(&mut trace, recorded, schema, fuel, report);
    }
    if config.is_on(PassName::Dce) {
        dce::remove_unused(&mut trace, schema, report);
    }
    if config.is_on(PassName::EarlyStore) && !config.keep_records {
        early::store_slots(&mut trace, schema, config.fuel, report);
    }
    trace
}

/// The peeled trace, if it can be peeled and its loop is not longer than the plain one.
fn peel(plain: &Plain<'_>, report: Report) -> Option<(Trace, Report, Peeled)> {
    if !plain.config.is_on(PassName::Peel) || !peel::is_loop(plain.trace) {
        return None;
    }
    let made = |(trace, ..): &(Trace, Report, Peeled)| OpCounts::of_loop(trace, plain.schema).new;
    let (turns, deep) = peel_with(plain, report.clone(), rotation::MOST_TURNS);
    let is_done = |deep: &(Trace, Report, Peeled)| turns == 0 || made(deep) == 0;
    if turns == 0 || deep.as_ref().is_some_and(is_done) {
        return deep;
    }
    // The objects escape after all: a longer preamble has to save some of them.
    let (_, short) = peel_with(plain, report, 0);
    match (deep, short) {
        (Some(deep), Some(short)) => Some(if made(&deep) < made(&short) { deep } else { short }),
        (deep, short) => short.or(deep),
    }
}

/// The same with so many iterations of the preamble beyond the first at most; and how many it had on some
/// walk.
fn peel_with(
    plain: &Plain<'_>,
    mut report: Report,
    most_turns: u32,
) -> (u32, Option<(Trace, Report, Peeled)>) {
    let &Plain { trace, schema, config, .. } = plain;
    // With fuel they go after the walk, where the fuel that is left is known.
    let checks_may_go = config.checks_may_go() && config.fuel.is_none();
    let (dce, way_in) = (config.is_on(PassName::Dce), config.wants_way_in);
    // Who enters the loop elsewhere has no stores that wait.
    let mut wanted = peel::Wanted { dce, checks_may_go, way_in, most_turns, keeps_stores: !way_in };
    let (mut real, mut turns) = (BTreeSet::new(), 0);
    let mut config = config.clone();
    for _ in 0..MAX_WALKS {
        let chain = passes::chain(&config);
        let driver = driver::Driver::new(trace, schema, &config, chain).with_real(real.clone());
        let Ok(outcome) = peel::run(driver, wanted) else { break };
        turns = outcome.turns.max(turns);
        let Some((walked, mut peeled)) = outcome.peeled else {
            if outcome.keeps_stores {
                wanted.keeps_stores = false;
                continue;
            }
            // Guards before the loop compute values that have no name in it: it may do without.
            if config.no_hoisting || !config.is_on(PassName::Bounds) {
                break;
            }
            config.no_hoisting = true;
            continue;
        };
        if !walked.more_real.is_empty() {
            real.extend(walked.more_real);
            continue;
        }
        if walked.is_unsteady {
            config.no_hoisting = true;
            continue;
        }
        walked.report(&mut report);
        let mut out = clean(walked.trace, trace, schema, &config, &mut report);
        rotation::split_iterations(&mut out, peeled.label);
        if is_longer(&out, outcome.turns, plain) {
            return (turns, None);
        }
        let form = peeled.form.take().filter(|_| config.second_body && bridge::is_on(&config));
        let second = form.and_then(|form| {
            let second = second_body(trace, schema, &config, real, &form)?;
            Some((bridge::add(&mut out, second, peeled.label)?, form))
        });
        peeled.second = second;
        return (turns, Some((out, report, peeled)));
    }
    (turns, None)
}

/// Whether a peeled loop is longer than the plain one. Nearly always the preamble tells: it is what the plain
/// loop is, but for guards that stand for those of all iterations, with what they compute.
fn is_longer(peeled: &Trace, turns: u32, plain: &Plain<'_>) -> bool {
    let body = peeled.insts.iter().rev().take_while(|inst| inst.op != Op::Label).count();
    let preamble = peeled.insts.iter().skip(1).take_while(|inst| inst.op != Op::Label);
    let (ops, hoisted) = preamble.fold((0, 0), |(ops, hoisted), inst| {
        (ops + 1, hoisted + usize::from(inst.exit == ExitKind::Hoisted))
    });
    // So much shorter that it is no question.
    let is_short = turns == 0 && 2 * body + HOISTED_OPS * hoisted <= ops;
    !is_short && body > plain.op_count()
}

/// More operations than a guard before the loop has, with what it compares.
const HOISTED_OPS: usize = 8;

/// A loop's second body, for bridges that pass objects of this form.
fn second_body(
    trace: &Trace,
    schema: &Schema,
    config: &Config,
    real: BTreeSet<u32>,
    form: &bridge::Form,
) -> Option<Trace> {
    let driver = driver::Driver::new(trace, schema, config, passes::chain(config)).with_real(real);
    let walked = bridge::second_body(driver, form).ok()??;
    Some(dce::compact(clean(walked.trace, trace, schema, config, &mut Report::default())))
}

/// After so many walks that each found an object that must be real, all objects are.
const MAX_WALKS: u32 = 4;

/// Walks the trace through the first `passes` passes of the chain.
fn walk(
    trace: &Trace,
    schema: &Schema,
    config: &Config,
    passes: usize,
    report: &mut Report,
) -> Result<(Trace, Option<Entering>), OptError> {
    let mut real = BTreeSet::new();
    let target = config.bridge_to.as_deref().filter(|_| bridge::is_on(config) && passes == usize::MAX);
    for round in 1.. {
        let mut chain = passes::chain(config);
        chain.truncate(passes);
        let driver = driver::Driver::new(trace, schema, config, chain).with_real(real.clone());
        let (walked, entering) = match target {
            Some(target) => bridge::run(driver, target)?,
            None => (driver.run()?, None),
        };
        if walked.more_real.is_empty() {
            walked.report(report);
            return Ok((walked.trace, entering));
        }
        report.visited += walked.visited;
        match round < MAX_WALKS {
            true => real.extend(walked.more_real),
            false => real.extend(0..trace.insts.len() as u32),
        }
    }
    Err(OptError::Malformed("a virtual object that can be neither kept nor made"))
}

/// The trace after each pass: the chain is run once per stage, each time with one pass more.
fn stages(trace: &Trace, schema: &Schema, config: &Config) -> Result<Vec<Stage>, OptError> {
    let mut stages = vec![Stage { name: "recorded", trace: trace.clone() }];
    for count in 1..=passes::chain(config).len() {
        let name = passes::chain(config)[count - 1].name();
        let (out, _) = walk(trace, schema, config, count, &mut Report::default())?;
        stages.push(Stage { name, trace: dce::compact(out) });
    }
    Ok(stages)
}

/// The names of the stages that a trace can be shown at, in order: as recorded, after each pass (where a
/// name repeats, its last place counts), peeled, and optimized.
pub fn stage_names() -> Vec<&'static str> {
    let chain = passes::chain(&Config::new());
    let mut names: Vec<_> = chain.iter().map(|pass| pass.name()).collect();
    let last = |at: usize, names: &[&str]| !names[at + 1..].contains(&names[at]);
    names = (0..names.len()).filter(|&at| last(at, &names)).map(|at| names[at]).collect();
    [vec!["recorded"], names, vec!["peel", "optimized"]].concat()
}

/// The names of all rewrites that the passes know, in the order of the passes.
pub fn rule_names() -> Vec<&'static str> {
    let mut names: Vec<_> = passes::chain(&Config::new()).iter().flat_map(|pass| pass.rules()).collect();
    names.push("peel");
    names.extend(passes::heap::DEAD_RULES);
    names.extend(collect::RULES);
    names.extend(dce::RULES);
    names.extend(early::RULES);
    names
}
