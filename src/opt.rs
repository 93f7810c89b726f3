//! `tracelift opt`: a trace file through the optimizer.
//!
//! Prints each trace as recorded, as each pass left it and as it goes to lowering; runs its `run:` lines with
//! the evaluator before and after; and counts operations in the form of seed 002's Figure 7. The optimized
//! run must return what the recorded one returns and leave the same in memory; where it leaves earlier, by a
//! guard that was put before the loop, it must leave what the recorded trace has there. Invariant: a file
//! that does not parse or verify, a run that does not end as the file says, and an optimized run that does
//! something else, is an error with one line, and the exit code is not 0.
//!
//! With `--stage` only the named stages are printed, as the papers print traces: no heading where there is
//! but one listing, no comments, indentation by call depth. Example: seed 000's Figure 5 is `tracelift opt
//! --keep-records --opt=-all,+peel,+guards --stage=optimized tests/traces/papers/loops-figure2.trace`.

mod of_regions;

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{bail, Context};
use clap::Args;
use tracelift_core::eval::{
    compare_outcomes, compare_with_recorded, may_end_as, End, Evaluator, Limits, Outcome,
};
use tracelift_core::text::{self, Run, RunValue, TraceFile};
use tracelift_core::world::World;
use tracelift_core::{testbed, verify, Payload, Schema, Trace, Type};
use tracelift_opt::{optimize, region, stage_names, Config, OpCounts, Optimized};

/// Arguments of `tracelift opt`.
#[derive(Args, Debug)]
pub struct OptArgs {
    /// Passes to switch, as `-fold,-guards`.
    #[arg(long, value_name = "PASSES", allow_hyphen_values = true)]
    opt: Option<String>,
    /// Keep record operations as the papers' figures show them.
    #[arg(long)]
    keep_records: bool,
    /// Print only what comes out at the end.
    #[arg(long, conflicts_with = "stage")]
    quiet: bool,
    /// Print only these stages: recorded, the name of a pass, peel, optimized.
    #[arg(long, value_name = "STAGES", value_delimiter = ',')]
    stage: Vec<String>,
    /// At most this many rewrites: to find a wrong one by halving.
    #[arg(long, value_name = "N")]
    fuel: Option<u64>,
    /// The trace file.
    #[arg(value_name = "FILE.trace")]
    file: PathBuf,
}

const CANNOT_WRITE: &str = "cannot write to standard output";

/// Optimizes every trace of the file.
pub fn opt(args: &OptArgs) -> anyhow::Result<u8> {
    let name = args.file.display();
    let wanted = stages(&args.stage)?;
    let source = std::fs::read_to_string(&args.file).with_context(|| format!("cannot read {name}"))?;
    let file = text::parse_file(&source, &testbed::natives).with_context(|| format!("{name}"))?;
    if file.traces.is_empty() {
        bail!("{name}: no trace in it");
    }
    let mut config = Config::parse(args.opt.as_deref().unwrap_or(""))?;
    config.keep_records = args.keep_records;
    config.stages = !args.quiet;
    config.fuel = args.fuel;
    let headed = wanted.len() * file.traces.len() > 1;
    let mut counts = Vec::new();
    let mut out = std::io::stdout().lock();
    for (index, trace) in file.traces.iter().enumerate() {
        if region::is_region(trace) {
            let text = of_regions::show(&file, index, &config, &wanted).with_context(|| format!("{name}"))?;
            out.write_all(text.as_bytes()).context(CANNOT_WRITE)?;
            continue;
        }
        check(&file, index, trace, verify::Mode::Recorded).with_context(|| format!("{name}"))?;
        let optimized = optimize(trace, &file.schema, &config)
            .with_context(|| format!("{name}: trace {}", trace.name))?;
        let runs = evaluate(&file, index, trace, &optimized).with_context(|| format!("{name}"))?;
        if !wanted.is_empty() {
            let listings = listings(&file, trace, &optimized, &wanted, headed);
            out.write_all(listings.with_context(|| format!("{name}"))?.as_bytes()).context(CANNOT_WRITE)?;
            continue;
        }
        let text = show(&file, trace, &optimized, args.quiet) + &runs;
        out.write_all(text.as_bytes()).context(CANNOT_WRITE)?;
        let report = &optimized.report;
        counts.push((trace.name.clone(), report.before, report.after));
        if optimized.peeled.is_some() {
            let in_loop = OpCounts::of_loop(&optimized.trace, &file.schema);
            counts.push((format!("{}, its loop", trace.name), report.before, in_loop));
        }
    }
    if wanted.is_empty() && !counts.is_empty() {
        out.write_all(table(&counts).as_bytes()).context(CANNOT_WRITE)?;
    }
    out.flush().context(CANNOT_WRITE)?;
    Ok(0)
}

/// The stages that were asked for, if they exist.
fn stages(names: &[String]) -> anyhow::Result<Vec<&'static str>> {
    let known = stage_names();
    let find = |name: &String| {
        let found = known.iter().find(|known| **known == name.trim());
        found
            .copied()
            .with_context(|| format!("there is no stage `{name}`; the stages are {}", known.join(", ")))
    };
    names.iter().map(find).collect()
}

/// The listings of these stages.
fn listings(
    file: &TraceFile,
    trace: &Trace,
    optimized: &Optimized,
    stages: &[&str],
    headed: bool,
) -> anyhow::Result<String> {
    let mut out = String::new();
    for &name in stages {
        let stage = optimized.report.stages.iter().rfind(|stage| stage.name == name);
        let mut listing = match (stage, name) {
            (_, "optimized") => optimized.trace.clone(),
            (Some(stage), _) => stage.trace.clone(),
            (None, "peel") => bail!("trace {}: no stage `peel`: the trace was not peeled", trace.name),
            (None, _) => bail!("trace {}: no stage `{name}`: the pass is off", trace.name),
        };
        listing.name.clear();
        if headed {
            let trace = if file.traces.len() > 1 { format!("{}, ", trace.name) } else { String::new() };
            let gap = if out.is_empty() { "" } else { "\n" };
            out += &format!("{gap}# {trace}{name}\n");
        }
        out += &text::print_trace_in(&listing, &file.schema, &file.world);
    }
    if headed && file.traces.last().is_some_and(|last| !std::ptr::eq(last, trace)) {
        out.push('\n');
    }
    Ok(out)
}

fn check(file: &TraceFile, index: usize, trace: &Trace, mode: verify::Mode) -> anyhow::Result<()> {
    let Some(error) = verify::verify(trace, &file.schema, mode).into_iter().next() else {
        return Ok(());
    };
    let line = error.inst.and_then(|inst| file.inst_lines.get(index)?.get(inst).copied());
    match line {
        Some(line) => bail!("line {line}: {}", error.message),
        None => bail!("trace {}: {}", trace.name, error.message),
    }
}

/// The trace after each stage and at the end, with what was done to it.
fn show(file: &TraceFile, trace: &Trace, optimized: &Optimized, quiet: bool) -> String {
    let mut out = String::new();
    let mut print = |title: &str, trace: &Trace| {
        out += &format!("; --- {title}\n{}\n", text::print_trace_in(trace, &file.schema, &file.world));
    };
    for stage in &optimized.report.stages {
        print(&format!("{}: after {}", trace.name, stage.name), &stage.trace);
    }
    if quiet || optimized.report.stages.is_empty() {
        print(&trace.name, &optimized.trace);
    } else {
        print(&format!("{}: optimized", trace.name), &optimized.trace);
    }
    let fired: Vec<_> =
        optimized.report.rules.iter().map(|(rule, count)| format!("{rule} {count}")).collect();
    let fired = if fired.is_empty() { "none".to_string() } else { fired.join(", ") };
    let report = &optimized.report;
    let (bytes, distinct) = (report.resume_bytes, report.resume_distinct);
    out + &format!("; rewrites: {fired}\n; resume data: {bytes} bytes, {distinct} distinct\n\n")
}

/// Runs the file's runs of one trace before and after; what came of them.
fn evaluate(file: &TraceFile, index: usize, before: &Trace, optimized: &Optimized) -> anyhow::Result<String> {
    let mut out = String::new();
    let schema = Arc::new(file.schema.clone());
    for run in runs_of(file, index, before, &mut out) {
        let run_one = |trace: &Trace, limits| evaluate_one(file, &schema, trace, &run.inputs, limits);
        let (first, _) = run_one(before, Limits::default()).with_context(|| format!("line {}", run.line))?;
        expected(&run.outcome, &first, before, run.line)?;
        let (alone, _) = run_one(&optimized.trace, Limits::default())
            .with_context(|| format!("line {}: optimized trace", run.line))?;
        let second = if matches!(alone.end, End::Exit { .. }) && alone.origin.is_none() {
            // The papers' traces have no snapshots: which guard has failed is all that can be compared.
            alone
        } else {
            let compared = compare_with_recorded(&schema, before, &optimized.trace, None, |trace, limits| {
                run_one(trace, limits).map_err(|error| format!("{error:#}"))
            });
            compared.map_err(|what| {
                anyhow::anyhow!("line {}: recorded and optimized trace differ: {what}", run.line)
            })?
        };
        let (shown, shown_optimized) = (describe(&first), describe(&second));
        if !may_end_as(before, optimized.report.has_delayed(), &first, &second) {
            bail!(
                "line {}: the optimized trace ends as {shown_optimized}, the recorded one as {shown}",
                run.line
            );
        }
        writeln!(out, "; run (line {}): {shown}; optimized: {shown_optimized}", run.line)?;
        writeln!(
            out,
            ";   instructions executed: {} before, {} after; guards: {} before, {} after",
            first.op_counts.iter().sum::<u64>(),
            second.op_counts.iter().sum::<u64>(),
            first.guards_executed,
            second.guards_executed
        )?;
    }
    Ok(out)
}

/// The runs of a trace. There are none if it calls what has no body here: each is named then.
fn runs_of<'a>(file: &'a TraceFile, index: usize, trace: &Trace, out: &mut String) -> Vec<&'a Run> {
    let runs: Vec<&Run> = file.runs.iter().filter(|run| run.trace == index).collect();
    let Some(func) = opaque(trace, &file.schema) else { return runs };
    for run in runs {
        *out += &format!("; run (line {}): not evaluated: `{func}` has no body here\n", run.line);
    }
    Vec::new()
}

/// A function that the evaluator may not call.
fn opaque<'a>(trace: &Trace, schema: &'a Schema) -> Option<&'a str> {
    let called = |inst: &tracelift_core::Inst| match inst.payload {
        Payload::Func(func) => Some(func),
        Payload::New { layout, .. } => schema.layout(layout).alloc,
        _ => None,
    };
    let mut called = trace.insts.iter().filter_map(called).map(|func| schema.func(func));
    called.find(|func| !func.evaluable).map(|func| func.name.as_str())
}

fn evaluate_one(
    file: &TraceFile,
    schema: &Arc<Schema>,
    trace: &Trace,
    inputs: &[RunValue],
    limits: Limits,
) -> anyhow::Result<(Outcome, World)> {
    let mut world = World::build(&file.world, schema);
    let inputs: Vec<u64> = inputs
        .iter()
        .map(|input| match *input {
            RunValue::Bits(_, bits) => Ok(bits),
            RunValue::Object(number) => Ok(world.object_address(number)),
            RunValue::Any => bail!("an input cannot be `_`"),
        })
        .collect::<Result<_, _>>()?;
    let mut bound = trace.clone();
    bound.bind(|number| world.object_address(number));
    let outcome = Evaluator::new(&bound, schema).with_units(&file.traces).run(&mut world, &inputs, limits)?;
    Ok((outcome, world))
}

/// How a run ended, without addresses. A recorded and an optimized trace number their exits differently; the
/// snapshot they leave at is the same.
fn describe(outcome: &Outcome) -> String {
    match &outcome.end {
        End::Finish(values) => {
            format!("finish with {} values in iteration {}", values.len(), outcome.iteration)
        }
        End::Exit { kind, .. } => {
            let at = outcome.origin.map_or(String::new(), |origin| format!(" at snapshot {origin}"));
            format!("{} exit{at} in iteration {}", kind.name(), outcome.iteration)
        }
        End::Returned { .. } => "return of the unit".into(),
        End::Stopped => "stopped".into(),
        End::Enters(_) => "on in a loop".into(),
        End::OutOfFuel => "still running".into(),
    }
}

fn expected(expected: &text::Outcome, outcome: &Outcome, trace: &Trace, line: usize) -> anyhow::Result<()> {
    match (expected, &outcome.end) {
        (text::Outcome::Any, _) => Ok(()),
        (text::Outcome::Exit(number), End::Exit { number: taken, .. }) if number == taken => Ok(()),
        (text::Outcome::Finish(wanted), End::Finish(found)) if wanted.len() == found.len() => {
            let types = trace.insts.last().map(|inst| inst.args.iter().map(|&arg| trace.ty(arg)).collect());
            let types: Vec<Type> = types.unwrap_or_default();
            let differs =
                wanted.iter().zip(found).zip(types).position(|((wanted, &found), ty)| match *wanted {
                    RunValue::Bits(_, bits) => !tracelift_core::world::compare::same_number(ty, bits, found),
                    RunValue::Object(_) | RunValue::Any => false,
                });
            match differs {
                None => Ok(()),
                Some(position) => bail!("line {line}: result {} is not what the file says", position + 1),
            }
        }
        _ => bail!("line {line}: the run ended as {}, not as the file says", describe(outcome)),
    }
}

/// Operations before and after, as seed 002's Figure 7 shows them.
fn table(counts: &[(String, OpCounts, OpCounts)]) -> String {
    let removed = |before: usize, after: usize| {
        if before == 0 {
            "-".to_string()
        } else {
            format!("{:.0}%", 100.0 * (before as f64 - after as f64) / before as f64)
        }
    };
    let mut out =
        format!("{:<24} {:>15} {:>18} {:>17} {:>18}\n", "operations", "new", "get/set", "guard", "all");
    for (name, before, after) in counts {
        let cell = |before: usize, after: usize| format!("{before} -> {after} {}", removed(before, after));
        out += &format!(
            "{:<24} {:>15} {:>18} {:>17} {:>18}\n",
            name,
            cell(before.new, after.new),
            cell(before.get_set, after.get_set),
            cell(before.guard, after.guard),
            cell(before.all, after.all)
        );
    }
    out
}
