//! The command that runs the benchmarks.
//!
//! Design: what is wrong with the command line is said before anything starts; progress goes to standard
//! error, the tables to standard output. Invariant: exit code 1 if any result was wrong or any program
//! failed.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{bail, Context};
use clap::Parser;
use tracelift_benches::chart;
use tracelift_benches::contenders::{Contender, CONTENDERS};
use tracelift_benches::measure::{measure, Plan};
use tracelift_benches::process::Limits;
use tracelift_benches::report::{markdown, to_json, Results};
use tracelift_benches::rows::{Group, Row, Size, ROWS};
use tracelift_benches::scripts::{measure_scripts, Program, ScriptPlan, Set, Times, SETS};
use tracelift_benches::target::Place;

/// Runs the same programs with Tracelift and others, side by side.
#[derive(Parser, Debug)]
#[command(name = "tracelift-benches")]
struct Cli {
    /// Less work per call: everything in about three minutes.
    #[arg(long)]
    quick: bool,
    /// Rows whose name contains one of these, or whole groups: paper, small, standing, micro, short,
    /// examples, all. `standing/json` is the programs of a group whose name contains `json`. If not given:
    /// paper, small, short.
    #[arg(long, value_name = "NAME,...")]
    rows: Vec<String>,
    /// How often, and what of it counts: medians of some rounds, or as the papers do: means of ten runs after
    /// three for the warm-up, with 95 % confidence intervals.
    #[arg(long, value_name = "NAME", value_enum, default_value_t = How::Usual)]
    protocol: How,
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
    #[command(flatten)]
    place: Place,
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

/// How often, and what of it counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum How {
    /// Medians of some rounds.
    Usual,
    /// Means of ten runs after a warm-up of three.
    Papers,
}

/// What the names on the command line choose.
struct Chosen {
    rows: Vec<Row>,
    programs: Vec<(Set, Vec<Program>)>,
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

    let tools = cli.place.tools(true)?;
    let by_set: Vec<_> = chosen.programs.iter().map(|(set, _)| set.contenders(wanted.as_deref())).collect();
    let of_rows: Vec<Contender> = match &wanted {
        Some(named) => named.clone(),
        None if chosen.rows.is_empty() => Vec::new(),
        None => CONTENDERS.iter().filter(|contender| contender.by_default).copied().collect(),
    };
    let is_wanted = |contender: &&Contender| {
        of_rows.iter().chain(by_set.iter().flatten()).any(|wanted| wanted.name == contender.name)
    };
    let (contenders, left_out) = tools.who_is_here(CONTENDERS.iter().filter(is_wanted).copied())?;
    let present = |wanted: &[Contender]| -> Vec<Contender> {
        let is_here = |one: &&Contender| contenders.iter().any(|here| here.name == one.name);
        wanted.iter().filter(is_here).copied().collect()
    };

    let is_papers = cli.protocol == How::Papers;
    let core = cli.place.core();
    let seconds = match (is_papers, cli.quick) {
        (true, _) => 24 * 3600,
        (false, true) => 60,
        (false, false) => 600,
    };
    let limits = Limits::new(core, seconds);
    let rounds = if is_papers { 1 } else { cli.repeats.unwrap_or(if cli.quick { 1 } else { 3 }) };
    let plan = Plan { size, rounds, is_papers, limit: if cli.quick { 0.5 } else { 4.0 }, limits };
    let mut rows = Vec::new();
    for (index, row) in chosen.rows.iter().enumerate() {
        eprintln!("{}/{} {}", index + 1, chosen.rows.len(), row.label(size));
        let measured = measure(&tools, &present(&of_rows), row, &plan);
        for one in measured.by_contender.iter().filter(|one| one.failure.is_some()) {
            eprintln!("  {}: {}", one.contender, one.failure.as_deref().unwrap_or_default());
        }
        rows.push(measured);
    }
    let papers = Times { unmeasured: 3, measured: 10 };
    let mut scripts = Vec::new();
    for ((set, programs), wanted) in chosen.programs.into_iter().zip(&by_set) {
        let mut times = set.times(cli.quick);
        times.measured *= cli.repeats.unwrap_or(1);
        let times = if is_papers { papers } else { times };
        let script_plan = ScriptPlan { times, has_intervals: is_papers, limits };
        let progress = |name: &str| eprintln!("{}: {name}", set.name());
        scripts.extend(measure_scripts(&tools, set, programs, &present(wanted), &script_plan, progress));
    }

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
    let size = if cli.quick { "quick" } else { "full" };
    if plan.is_papers {
        return format!(
            "Processor time on {core}, {size} size: means of ten runs after three for the warm-up, with \
             95 % confidence intervals; runs of a row are calls in one process, those of a program whole processes."
        );
    }
    format!(
        "Processor time on {core}, {size} size. Rows: medians of up to {} samples, in {} round{} through all \
         contenders, with a warm-up per process for what makes machine code; \"(cold)\" marks a call without.",
        3 * plan.rounds,
        plan.rounds,
        if plan.rounds == 1 { "" } else { "s" }
    )
}

fn list(size: Size) -> anyhow::Result<bool> {
    for row in ROWS {
        println!("row {:8} {}", format!("{:?}", row.group).to_lowercase(), row.label(size));
    }
    for set in SETS {
        for program in set.programs()? {
            let list = if program.list.is_empty() { String::new() } else { format!(" ({})", program.list) };
            println!("row {:8} {}{list}", set.name(), program.name);
        }
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
    let mut names: Vec<String> = names.iter().flat_map(|list| split_names(&list.to_lowercase())).collect();
    if names.is_empty() {
        names = ["paper", "small", "short"].map(String::from).to_vec();
    }
    let fits = |row: &Row, name: &str| match name {
        "all" => true,
        "paper" => row.group == Group::Paper,
        "small" => row.group == Group::Small,
        _ => row.label(size).to_lowercase().contains(name),
    };
    let in_set = |set: Set, program: &Program, name: &str| match name.split_once('/') {
        Some((group, part)) => group == set.name() && program.name.contains(part),
        None => name == "all" && !set.is_extra() || name == set.name(),
    };
    let mut is_found = vec![false; names.len()];
    let mut note = |index: usize, fits: bool| {
        is_found[index] |= fits;
        fits
    };
    let mut chosen = Chosen { rows: Vec::new(), programs: Vec::new() };
    for row in ROWS {
        // All names are asked, so that each is known to be one.
        if (0..names.len()).filter(|index| note(*index, fits(row, &names[*index]))).count() > 0 {
            chosen.rows.push(*row);
        }
    }
    for set in SETS {
        let mut programs = set.programs()?;
        programs.retain(|program| {
            (0..names.len()).filter(|index| note(*index, in_set(set, program, &names[*index]))).count() > 0
        });
        if !programs.is_empty() {
            chosen.programs.push((set, programs));
        }
    }
    if let Some(index) = is_found.iter().position(|is_found| !is_found) {
        bail!("no row is called {}; --list shows all", names[index]);
    }
    Ok(chosen)
}

/// The contenders that were named; nothing if none was.
fn choose_contenders(names: &[String]) -> anyhow::Result<Option<Vec<Contender>>> {
    let known = |name: &String| name == "all" || CONTENDERS.iter().any(|contender| contender.name == name);
    if let Some(name) = names.iter().find(|name| !known(name)) {
        bail!("no contender is called {name}; --list shows all");
    }
    if names.is_empty() {
        return Ok(None);
    }
    let is_chosen = |contender: &&Contender| names.iter().any(|name| name == "all" || name == contender.name);
    Ok(Some(CONTENDERS.iter().filter(is_chosen).copied().collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows, and the sets with the number of programs.
    fn chosen(names: &[&str]) -> (String, String) {
        let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
        let chosen = choose_rows(&names, Size::Full).expect("there are such rows");
        let labels: Vec<String> = chosen.rows.iter().map(|row| row.label(Size::Full)).collect();
        let sets = chosen.programs.iter().map(|(set, programs)| format!("{} {}", set.name(), programs.len()));
        (labels.join(" "), sets.collect::<Vec<_>>().join(", "))
    }

    #[test]
    fn rows_are_chosen_by_their_names() {
        assert_eq!(chosen(&["FFT(1048576,1),lu(1000"]), ("FFT(1048576,1) LU(1000,2)".into(), String::new()));
        assert_eq!(chosen(&["conv3("]), ("conv3(1000000,300)".into(), String::new()));
        assert_eq!(chosen(&["short", "sqrt(int)"]), ("sqrt(int) 40000000".into(), "short 10".into()));
        assert_eq!(chosen(&["standing/heaps,micro/m1_"]).1, "standing 2, micro 1");
        let sets_of_all = chosen(&["all"]).1;
        assert!(sets_of_all.contains("examples ") && !sets_of_all.contains("libraries "), "{sets_of_all}");
        assert_eq!(chosen(&["libraries"]).1, "libraries 16");
        let (rows, sets) = chosen(&[]);
        assert_eq!((rows, sets), (chosen(&["paper,small"]).0, "short 10".into()));
        assert!(choose_rows(&["sor,nonsense".into()], Size::Full).is_err());
        assert!(choose_rows(&["standing/nonsense".into()], Size::Full).is_err());
    }
}
