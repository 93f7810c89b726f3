//! `tracelift opt` on regions: control flow graphs, of which Ark's loop peeling is shown.
//!
//! Prints the region as read, after peeling and at its end, and what became of each loop; runs its `run:`
//! lines with the evaluator before and after. Both must end in the same way, with the same results, state at
//! an exit, and memory: a run that does not is an error with one line.
//!
//! Example: seed 001's graph is `tracelift opt tests/traces/regions/ark.trace`.

use super::*;

/// The region with this number in all its stages, or in those that are wanted, and what its runs give.
pub(super) fn show(
    file: &TraceFile,
    index: usize,
    config: &Config,
    wanted: &[&'static str],
) -> anyhow::Result<String> {
    let read = &file.traces[index];
    check(file, index, read, verify::Mode::Region)?;
    let only = |pass: &str| Config::parse(&format!("-all,+{pass}"));
    let (peeled, _) = region::optimize_region(read, &file.schema, &only("peel")?);
    let (optimized, report) = region::optimize_region(read, &file.schema, config);
    let is_peeled = config.is_on(tracelift_opt::PassName::Peel);
    let stages = [("recorded", read), ("peel", &peeled), ("optimized", &optimized)];
    let shown = stages.into_iter().filter(|&(name, _)| is_peeled || name != "peel");
    let runs = evaluate(file, index, read, &optimized)?;
    if let Some(missing) = wanted.iter().find(|&&name| shown.clone().all(|(stage, _)| stage != name)) {
        bail!("trace {}: no stage `{missing}`: a region has none, or the pass is off", read.name);
    }
    let mut out = String::new();
    for (name, stage) in shown {
        if wanted.is_empty() {
            writeln!(out, "; --- {}: {name}", read.name)?;
        } else if !wanted.contains(&name) {
            continue;
        }
        let mut listing = stage.clone();
        if !wanted.is_empty() {
            listing.name.clear();
        }
        out += &text::print_trace_in(&listing, &file.schema, &file.world);
        out += if wanted.is_empty() { "\n" } else { "" };
    }
    if wanted.is_empty() {
        for one in &report.loops {
            let became = one.refusal.map_or("peeled", region::Refusal::reason);
            writeln!(out, "; loop {}: {became}", one.header)?;
        }
        out += &runs;
    }
    Ok(out)
}

/// Runs the file's runs of one region before and after; what came of them.
fn evaluate(file: &TraceFile, index: usize, before: &Trace, after: &Trace) -> anyhow::Result<String> {
    let mut out = String::new();
    let schema = Arc::new(file.schema.clone());
    for run in runs_of(file, index, before, &mut out) {
        let one = |region: &Trace| evaluate_one(file, &schema, region, &run.inputs, Limits::default());
        let (first, world) = one(before).with_context(|| format!("line {}", run.line))?;
        expected(&run.outcome, &first, before, run.line)?;
        let (second, other) = one(after).with_context(|| format!("line {}: optimized region", run.line))?;
        let end = how(&first);
        if how(&second) != end {
            bail!(
                "line {}: the optimized region ends as {}, the recorded one as {end}",
                run.line,
                how(&second)
            );
        }
        // Results, frames at an exit, and what is left in memory.
        let results = before.insts.iter().rfind(|inst| inst.op == tracelift_core::Op::Finish);
        let types = results.map_or(&[][..], |inst| &inst.args).iter().map(|&arg| before.ty(arg));
        let types: Vec<Type> = types.collect();
        compare_outcomes(&schema, (&first, &world), (&second, &other), &types).map_err(|what| {
            anyhow::anyhow!("line {}: recorded and optimized region differ: {what}", run.line)
        })?;
        let [then, now] = [&first, &second].map(|outcome| outcome.op_counts.iter().sum::<u64>());
        writeln!(out, "; run (line {}): {end}; instructions executed: {then} before, {now} after", run.line)?;
    }
    Ok(out)
}

/// How a region ended. The number of its jumps says nothing: blocks are merged.
fn how(outcome: &Outcome) -> String {
    match &outcome.end {
        End::Finish(values) => format!("finish with {} values", values.len()),
        End::Exit { kind, .. } => {
            let at = outcome.origin.map_or(String::new(), |origin| format!(" at snapshot {origin}"));
            format!("{} exit{at}", kind.name())
        }
        _ => describe(outcome),
    }
}
