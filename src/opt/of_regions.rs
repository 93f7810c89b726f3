//! `tracelift opt` on regions: control flow graphs, of which Ark's loop peeling is shown.
//!
//! Prints the region as read, after peeling and at its end, and what became of each loop; runs its `run:`
//! lines with the evaluator before and after. Both must end in the same way with the same results: a run that
//! does not is an error with one line.
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
    for run in file.runs.iter().filter(|run| run.trace == index) {
        if let Some(func) = opaque(before, &schema) {
            writeln!(out, "; run (line {}): not evaluated: `{func}` has no body here", run.line)?;
            continue;
        }
        let one = |region: &Trace| evaluate_one(file, &schema, region, &run.inputs, Limits::default());
        let [(first, _), (second, _)] = [one(before)?, one(after)?];
        expected(&run.outcome, &first, before, run.line)?;
        let kind = |outcome: &Outcome| match &outcome.end {
            End::Finish(values) => format!("finish with {} values", values.len()),
            End::Exit { kind, .. } => format!("{} exit", kind.name()),
            other => format!("{other:?}"),
        };
        let results = |outcome: &Outcome| match &outcome.end {
            End::Finish(values) => values.clone(),
            _ => Vec::new(),
        };
        if kind(&first) != kind(&second) || results(&first) != results(&second) {
            bail!(
                "line {}: the optimized region ends as {}, this one as {}",
                run.line,
                kind(&second),
                kind(&first)
            );
        }
        let jumps = |outcome: &Outcome| outcome.op_counts.iter().sum::<u64>();
        let (then, now) = (jumps(&first), jumps(&second));
        writeln!(
            out,
            "; run (line {}): {}; instructions executed: {then} before, {now} after",
            run.line,
            kind(&first)
        )?;
    }
    Ok(out)
}
