//! The command that measures how soon a contender is fast.
//!
//! Design: what is wrong with the command line is said in one line before anything starts; progress goes to
//! standard error, the tables to standard output. Invariant: exit code 1 if any result was wrong or any
//! program failed.
//!
//! Example: `cargo run --release -p tracelift-benches --bin tracelift-warm-up -- --only rows`.

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{bail, Context};
use clap::{Parser, ValueEnum};
use tracelift_benches::contenders::{Contender, Kind, Tools, CONTENDERS};
use tracelift_benches::process::Limits;
use tracelift_benches::target::Place;
use tracelift_benches::warm_up::{measure, Plan, Work};
use tracelift_benches::warm_up_chart::svg;
use tracelift_benches::warm_up_report::{self as report, markdown, to_json, Panel, Results};

/// Time to 90 % of the final speed, on the paper's rows and on the brief and short programs.
#[derive(Parser, Debug)]
#[command(name = "tracelift-warm-up")]
struct Cli {
    /// As few calls as there can be: to see that all of it works.
    #[arg(long)]
    quick: bool,
    /// One of the two panels.
    #[arg(long, value_name = "KIND", value_enum)]
    only: Option<Only>,
    /// Who runs, in the order of the tables.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    #[arg(default_value = "tracelift,tracelift-thread,luajit,pypy3")]
    contenders: Vec<String>,
    /// Processor time of a process.
    #[arg(long, value_name = "SECONDS")]
    limit: Option<f64>,
    /// Processes for each contender and piece of work; the one in the middle counts.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    repeats: Option<u32>,
    /// Writes all figures to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Draws the share of the work that is fast by when into this file.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    #[command(flatten)]
    place: Place,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Only {
    /// The paper's rows.
    Rows,
    /// The brief and short programs.
    Programs,
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) if !error.use_stderr() => error.exit(),
        Err(error) => {
            let text = error.to_string();
            let line = text.lines().next().unwrap_or_default();
            eprintln!("tracelift-warm-up: {}", line.trim_start_matches("error: "));
            return ExitCode::from(2);
        }
    };
    match benchmark(&cli) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("tracelift-warm-up: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn benchmark(cli: &Cli) -> anyhow::Result<bool> {
    let plan = plan(cli)?;
    let wanted = choose_contenders(&cli.contenders)?;
    let create =
        |path: &PathBuf| File::create(path).with_context(|| format!("cannot write {}", path.display()));
    let json_file = cli.json.as_ref().map(create).transpose()?;
    let svg_file = cli.svg.as_ref().map(create).transpose()?;

    let is_ours = |contender: &Contender| matches!(contender.kind, Kind::Tracelift(_));
    let tools = cli.place.tools(wanted.iter().any(is_ours))?;
    let (contenders, left_out) = tools.who_is_here(wanted)?;

    let mut panels = Vec::new();
    if cli.only != Some(Only::Programs) {
        panels.push(panel(report::Kind::Rows, &Work::rows(), &tools, &contenders, &plan));
    }
    if cli.only != Some(Only::Rows) {
        panels.push(panel(report::Kind::Programs, &Work::programs()?, &tools, &contenders, &plan));
    }
    let results = Results { contenders, left_out, panels, how: describe(&plan) };
    if let Some(mut file) = json_file {
        writeln!(file, "{}", to_json(&results)).context("cannot write the JSON file")?;
    }
    if let Some(mut file) = svg_file {
        let chart = svg(&results).context("there is no chart, as nothing became fast")?;
        file.write_all(chart.as_bytes()).context("cannot write the chart")?;
    }
    // A reader who has seen enough may close the pipe.
    let _ = std::io::stdout().write_all(markdown(&results).as_bytes());
    Ok(results.failures().is_empty())
}

fn plan(cli: &Cli) -> anyhow::Result<Plan> {
    let limit = cli.limit.unwrap_or(if cli.quick { 0.02 } else { 2.0 });
    if !(limit > 0.0 && limit <= 600.0) {
        bail!("--limit {limit} is no time from 0 to 600 seconds");
    }
    let core = cli.place.core();
    let limits = Limits { is_elapsed: true, ..Limits::new(core, 600) };
    let rounds = cli.repeats.unwrap_or(if cli.quick { 1 } else { 3 });
    Ok(Plan { limit, least: if cli.quick { 5 } else { 15 }, most: 2000, rounds, limits })
}

/// The contenders that were named, in that order.
fn choose_contenders(names: &[String]) -> anyhow::Result<Vec<Contender>> {
    let mut found: Vec<Contender> = Vec::new();
    for name in names {
        let known = CONTENDERS.iter().find(|contender| contender.name == name);
        let contender = known.with_context(|| format!("no contender is called {name}"))?;
        if matches!(contender.kind, Kind::Gcc(_)) {
            bail!("{name} has no warm-up");
        }
        if found.iter().all(|before| before.name != name) {
            found.push(*contender);
        }
    }
    Ok(found)
}

fn panel(kind: report::Kind, works: &[Work], tools: &Tools, contenders: &[Contender], plan: &Plan) -> Panel {
    let mut measured = Vec::new();
    for (index, work) in works.iter().enumerate() {
        eprintln!("{}/{} {}", index + 1, works.len(), work.name());
        let found = measure(tools, contenders, work, plan);
        for outcome in found.by_contender.iter().filter(|outcome| outcome.failure.is_some()) {
            eprintln!("  {}: {}", outcome.contender, outcome.failure.as_deref().unwrap_or_default());
        }
        measured.push(found);
    }
    Panel { kind, works: measured }
}

fn describe(plan: &Plan) -> String {
    let core = plan.limits.core.map_or_else(|| "any core".into(), |core| format!("core {core}"));
    format!(
        "Processor time on {core} since a process began, that of all its threads, up to the first call at 90 % \
         of the final speed; {} to {} calls in one process, no further one after {} s, and of {} process{} the \
         one in the middle.",
        plan.least,
        plan.most,
        plan.limit,
        plan.rounds,
        if plan.rounds == 1 { "" } else { "es" }
    )
}
