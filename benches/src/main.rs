//! The command that runs the benchmarks.
//!
//! Design: what is wrong with the command line is said before anything starts; progress goes to standard error, the
//! tables to standard output. Invariant: exit code 1 if any result was wrong or any program failed.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{bail, Context};
use clap::Parser;
use tracelift_benches::chart;
use tracelift_benches::contenders::{Contender, Tools, CONTENDERS};
use tracelift_benches::measure::{measure, Plan};
use tracelift_benches::process::{usual_core, Limits};
use tracelift_benches::report::{markdown, to_json, Results};
use tracelift_benches::rows::{Group, Row, Size, ROWS};
use tracelift_benches::short::measure_scripts;

/// Runs the same programs with Tracelift and others, side by side.
#[derive(Parser, Debug)]
#[command(name = "tracelift-benches")]
struct Cli {
    /// Less work per call: everything in about three minutes.
    #[arg(long)]
    quick: bool,
    /// Rows whose name contains one of these, or whole groups: paper, small, short.
    #[arg(long, value_name = "NAME,...")]
    rows: Vec<String>,
    /// Who runs; `all` is everybody.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    contenders: Vec<String>,
    /// Rounds of timed calls.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    repeats: Option<u32>,
    /// Writes all figures to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Draws the rows relative to gcc into this file.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// The core that everything runs on.
    #[arg(long, value_name = "N")]
    core: Option<usize>,
    /// A LuaJIT of your own, instead of the one that the feature `peers` builds.
    #[arg(long, value_name = "PATH")]
    luajit: Option<PathBuf>,
    /// A command `tracelift` that is there already; otherwise it is built.
    #[arg(long, value_name = "PATH")]
    tracelift: Option<PathBuf>,
    /// Lists rows and contenders, and does nothing.
    #[arg(long)]
    list: bool,
}

fn main() -> ExitCode {
    match benchmark(&Cli::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("tracelift-benches: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// What the names on the command line choose.
struct Chosen {
    rows: Vec<Row>,
    has_scripts: bool,
}

fn benchmark(cli: &Cli) -> anyhow::Result<bool> {
    let size = if cli.quick { Size::Quick } else { Size::Full };
    if cli.list {
        return list(size);
    }
    let chosen = choose_rows(&cli.rows, size)?;
    let wanted = choose_contenders(&cli.contenders)?;
    let output = |path: &Option<PathBuf>| -> anyhow::Result<Option<std::fs::File>> {
        let Some(path) = path else {
            return Ok(None);
        };
        Ok(Some(std::fs::File::create(path).with_context(|| format!("cannot write {}", path.display()))?))
    };
    let (json_file, svg_file) = (output(&cli.json)?, output(&cli.svg)?);

    let target = target_folder()?;
    let tools = Tools {
        tracelift: match &cli.tracelift {
            Some(path) => path.clone(),
            None => build_tracelift(&target)?,
        },
        luajit: cli.luajit.clone().or_else(|| option_env!("TRACELIFT_BENCHES_LUAJIT").map(PathBuf::from)),
        build: target.join("tracelift-benches"),
    };
    let mut left_out = Vec::new();
    let mut contenders = Vec::new();
    for contender in wanted {
        match tools.missing(&contender) {
            None => contenders.push(contender),
            Some(reason) => {
                eprintln!("left out: {}: {reason}", contender.name);
                left_out.push((contender.name, reason));
            }
        }
    }
    if contenders.is_empty() {
        bail!("nobody is left to run");
    }

    let core = cli.core.or_else(usual_core);
    let limits = Limits { core, seconds: if cli.quick { 60 } else { 600 } };
    let rounds = cli.repeats.unwrap_or(if cli.quick { 1 } else { 3 });
    let plan = Plan { size, rounds, limit: if cli.quick { 0.5 } else { 4.0 }, limits };
    let mut rows = Vec::new();
    for (index, row) in chosen.rows.iter().enumerate() {
        eprintln!("{}/{} {}", index + 1, chosen.rows.len(), row.label(size));
        let measured = measure(&tools, &contenders, row, &plan);
        for one in measured.by_contender.iter().filter(|one| one.failure.is_some()) {
            eprintln!("  {}: {}", one.contender, one.failure.as_deref().unwrap_or_default());
        }
        rows.push(measured);
    }
    let scripts = if chosen.has_scripts {
        let times = cli.repeats.unwrap_or(1) * if cli.quick { 5 } else { 15 };
        measure_scripts(&tools, &contenders, times, &limits, |name| eprintln!("short: {name}"))?
    } else {
        Vec::new()
    };

    let results = Results { contenders, left_out, rows, scripts, how: describe(cli, &plan) };
    if let Some(mut file) = json_file {
        writeln!(file, "{:#}", to_json(&results)).context("cannot write the JSON file")?;
    }
    if let Some(mut file) = svg_file {
        let chart =
            chart::svg(&results).context("there is no chart without gcc and one of the paper's rows")?;
        file.write_all(chart.as_bytes()).context("cannot write the chart")?;
    }
    // A reader who has seen enough may close the pipe.
    let _ = std::io::stdout().write_all(markdown(&results).as_bytes());
    Ok(results.failures().is_empty())
}

fn describe(cli: &Cli, plan: &Plan) -> String {
    let core = plan.limits.core.map_or_else(|| "any core".into(), |core| format!("core {core}"));
    format!(
        "Processor time on {core}, {} size: medians of up to {} samples, in {} round{} through all contenders, with a \
         warm-up per process for what makes machine code; \"(cold)\" marks a call without.",
        if cli.quick { "quick" } else { "full" },
        3 * plan.rounds,
        plan.rounds,
        if plan.rounds == 1 { "" } else { "s" }
    )
}

fn list(size: Size) -> anyhow::Result<bool> {
    for row in ROWS {
        println!("row {:8} {}", format!("{:?}", row.group).to_lowercase(), row.label(size));
    }
    for contender in CONTENDERS {
        let usual = if contender.by_default { "" } else { " (only if named)" };
        println!("contender {:17} {}{usual}", contender.name, contender.what);
    }
    Ok(true)
}

/// The names of a list; a row's own commas stand in parentheses.
fn split_names(list: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut depth = 0u32;
    for character in list.chars() {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if character == ',' && depth == 0 {
            names.push(String::new());
        } else {
            names.last_mut().expect("there is always one").push(character);
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

fn choose_rows(names: &[String], size: Size) -> anyhow::Result<Chosen> {
    if names.is_empty() {
        return Ok(Chosen { rows: ROWS.to_vec(), has_scripts: true });
    }
    let names: Vec<String> = names.iter().flat_map(|list| split_names(&list.to_lowercase())).collect();
    let fits = |row: &Row, name: &str| match name {
        "paper" => row.group == Group::Paper,
        "small" => row.group == Group::Small,
        "short" => false,
        _ => row.label(size).to_lowercase().contains(name),
    };
    for name in &names {
        if name != "short" && !ROWS.iter().any(|row| fits(row, name)) {
            bail!("no row is called {name}; --list shows all");
        }
    }
    let rows = ROWS.iter().filter(|row| names.iter().any(|name| fits(row, name))).copied().collect();
    Ok(Chosen { rows, has_scripts: names.iter().any(|name| name == "short") })
}

fn choose_contenders(names: &[String]) -> anyhow::Result<Vec<Contender>> {
    let known = |name: &String| name == "all" || CONTENDERS.iter().any(|contender| contender.name == name);
    if let Some(name) = names.iter().find(|name| !known(name)) {
        bail!("no contender is called {name}; --list shows all");
    }
    let is_chosen = |contender: &&Contender| match names {
        [] => contender.by_default,
        _ => names.iter().any(|name| name == "all" || name == contender.name),
    };
    Ok(CONTENDERS.iter().filter(is_chosen).copied().collect())
}

/// Cargo's target folder: this executable lies in a folder of it.
fn target_folder() -> anyhow::Result<PathBuf> {
    let executable = std::env::current_exe().context("where is this executable?")?;
    let folder =
        executable.parent().and_then(Path::parent).context("this executable lies in no target folder")?;
    Ok(folder.to_path_buf())
}

/// Builds the command, so that what is measured is what the sources say.
fn build_tracelift(target: &Path) -> anyhow::Result<PathBuf> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
    let status = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["build", "--release", "--package", "tracelift", "--bin", "tracelift", "--target-dir"])
        .arg(target)
        .arg("--manifest-path")
        .arg(manifest)
        .status()
        .context("cannot start cargo to build tracelift; --tracelift names one that is there already")?;
    if !status.success() {
        bail!("tracelift does not build ({status})");
    }
    Ok(target.join("release/tracelift"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_chosen_by_their_names() {
        let labels = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
            let chosen = choose_rows(&names, Size::Full).expect("there are such rows");
            let labels: Vec<String> = chosen.rows.iter().map(|row| row.label(Size::Full)).collect();
            (labels.join(" "), chosen.has_scripts)
        };
        assert_eq!(labels(&["FFT(1048576,1),lu(1000"]), ("FFT(1048576,1) LU(1000,2)".into(), false));
        assert_eq!(labels(&["conv3("]), ("conv3(1000000,300)".into(), false));
        assert_eq!(labels(&["short", "sqrt(int)"]), ("sqrt(int) 40000000".into(), true));
        assert_eq!(choose_rows(&[], Size::Full).expect("all").rows.len(), ROWS.len());
        assert!(choose_rows(&["sor,nonsense".into()], Size::Full).is_err());
    }
}
