//! Programs that run as whole processes: short scripts, the standing set, one program for each known cost,
//! and examples.
//!
//! Problem: a timed call in a warm process says nothing of what a user sees, who starts a program and waits
//! for its end. Design: a [`Set`] is a folder of programs; each runs several times in turn with each
//! contender that runs Lua, and what counts is the processor time of the process, start and end included, and
//! its peak memory. What the JIT made is asked in a run of its own, since counting costs time. Programs of a
//! frozen set carry the name of their list, so that old and new ones are reported apart. Invariant: all
//! contenders print the same.
//!
//! Example: `Script { name: "lexer", list: "first", .. }`, whose time with Tracelift is divided by stock
//! Lua's.

use std::path::{Path, PathBuf};

use anyhow::Context;
use serde_json::Value;

use crate::confidence::{mean, Mean};
use crate::contenders::{Contender, Kind, Tools, CONTENDERS};
use crate::frozen::{self, FROZEN, LUA51};
use crate::jit_figures::read_statistics;
use crate::measure::median;
use crate::process::{run, Limits};
use crate::rows::folder;
use crate::smaller;

/// A group of programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Set {
    /// Scripts of a tenth of a second: what the JIT costs where it has no time to pay off.
    Short,
    /// The standing set with a tenth of the work or less: what users see of programs that end soon.
    Brief,
    /// Programs of about a second, of the kinds that people write. Frozen.
    Standing,
    /// One small program for each cost that was found. Frozen.
    Micro,
    /// The programs of which the README shows what the optimizer removes.
    Examples,
    /// Programs of some milliseconds around libraries that others have written, where these are installed.
    Libraries,
}

/// All sets, in the order of the report.
pub const SETS: [Set; 6] = [Set::Standing, Set::Micro, Set::Brief, Set::Short, Set::Libraries, Set::Examples];

impl Set {
    /// As `--rows` calls it.
    pub fn name(self) -> &'static str {
        match self {
            Set::Short => "short",
            Set::Brief => "brief",
            Set::Standing => "standing",
            Set::Micro => "micro",
            Set::Examples => "examples",
            Set::Libraries => "libraries",
        }
    }

    /// Where its programs lie.
    pub fn folders(self) -> Vec<PathBuf> {
        match self {
            Set::Examples => vec![folder("../examples"), folder("../hosts/lua/bench/idle")],
            Set::Libraries => vec![folder("../tests/libraries")],
            _ => vec![folder(self.name())],
        }
    }

    /// How often a program runs with each contender.
    pub fn times(self, is_quick: bool) -> Times {
        match (self, is_quick) {
            (Set::Short | Set::Brief | Set::Libraries, true) => Times { unmeasured: 1, measured: 5 },
            (Set::Short | Set::Brief | Set::Libraries, false) => Times { unmeasured: 1, measured: 15 },
            (_, true) => Times { unmeasured: 0, measured: 1 },
            (_, false) => Times { unmeasured: 1, measured: 5 },
        }
    }

    /// Whether a contender takes part: it runs Lua, and was named or is of interest here.
    fn takes(self, contender: &Contender, is_named: bool) -> bool {
        let runs_lua = !matches!(contender.kind, Kind::Gcc(_) | Kind::Python(..));
        let parses = self != Set::Examples || !matches!(contender.kind, Kind::LuaJit(_));
        let usual: &[&str] = match self {
            Set::Standing | Set::Micro | Set::Brief | Set::Libraries => {
                &["lua", "tracelift", "tracelift-off", "luajit"]
            }
            Set::Examples => &["lua", "tracelift", "tracelift-off", "tracelift-novirtuals"],
            Set::Short => return runs_lua && (is_named || contender.by_default),
        };
        runs_lua && parses && (is_named || usual.contains(&contender.name))
    }

    /// Who takes part, of all contenders if none was named.
    pub fn contenders(self, named: Option<&[Contender]>) -> Vec<Contender> {
        let all = named.unwrap_or(CONTENDERS);
        all.iter().filter(|contender| self.takes(contender, named.is_some())).copied().collect()
    }

    /// Its programs: those of a frozen set in the order of its lists, others by name.
    pub fn programs(self) -> anyhow::Result<Vec<Program>> {
        let mut found = Vec::new();
        if self == Set::Brief {
            // Beside this executable, in cargo's folder for what is made.
            let into = std::env::current_exe().context("where is this executable?")?.with_file_name("brief");
            smaller::make(&folder(self.name()), &folder(Set::Standing.name()), &into)?;
            return programs_in(&into);
        }
        for folder in self.folders() {
            found.extend(programs_in(&folder)?);
        }
        Ok(found)
    }

    /// Whether it needs what is not built with it: then it is measured only where it is asked for.
    pub fn is_extra(self) -> bool {
        self == Set::Libraries
    }

    /// Whether its times are so short that they are told in milliseconds.
    pub fn is_short(self) -> bool {
        matches!(self, Set::Short | Set::Brief | Set::Libraries)
    }
}

/// The programs of a folder: of a frozen one in the order of its lists, of others by name.
fn programs_in(folder: &Path) -> anyhow::Result<Vec<Program>> {
    let entries = if folder.join(FROZEN).is_file() { frozen::entries(folder)? } else { Vec::new() };
    let mut programs = Vec::new();
    for path in lua_files(folder)? {
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let place = entries.iter().position(|entry| entry.file == file);
        let list = place.map_or("", |place| &entries[place].list).to_string();
        let own = folder.join(LUA51).join(&file);
        let luajit_path = if own.is_file() { own } else { path.clone() };
        let name = file.trim_end_matches(".lua").to_string();
        programs.push((place.unwrap_or(usize::MAX), Program { name, list, path, luajit_path }));
    }
    programs.sort_by_key(|(place, _)| *place);
    Ok(programs.into_iter().map(|(_, program)| program).collect())
}

/// The Lua files of a folder, sorted by name.
fn lua_files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "lua") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// A program of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Its file's name without extension.
    pub name: String,
    /// The list in which it is frozen; empty if it is in none.
    pub list: String,
    /// Its file.
    pub path: PathBuf,
    /// The file that LuaJIT runs.
    pub luajit_path: PathBuf,
}

/// How often a program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// Runs before the measured ones; they fill the caches of the disk.
    pub unmeasured: u32,
    /// Runs that count.
    pub measured: u32,
}

/// What one contender did.
#[derive(Clone, Debug, Default)]
pub struct ScriptRuns {
    /// The contender's name.
    pub contender: &'static str,
    /// Median seconds of processor time of the whole process, or their mean where `interval` is known.
    pub cpu: Option<f64>,
    /// Half of the 95 % confidence interval, if it was asked for.
    pub interval: Option<f64>,
    /// All measured seconds of processor time.
    pub times: Vec<f64>,
    /// Median seconds from start to end.
    pub wall: Option<f64>,
    /// The most memory that a process had, in KiB: the median of the runs.
    pub peak_kib: Option<f64>,
    /// What went wrong.
    pub failure: Option<String>,
}

/// A program with all contenders.
#[derive(Clone, Debug)]
pub struct Script {
    /// What it belongs to.
    pub set: Set,
    /// Its file's name without extension.
    pub name: String,
    /// The list in which it is frozen; empty if it is in none.
    pub list: String,
    /// One entry for each contender that runs Lua.
    pub by_contender: Vec<ScriptRuns>,
    /// What `--stats=json` prints.
    pub statistics: Option<Value>,
}

impl Script {
    /// What a contender did, if all went well.
    pub fn of(&self, contender: &str) -> Option<&ScriptRuns> {
        let runs = self.by_contender.iter().find(|runs| runs.contender == contender)?;
        runs.failure.is_none().then_some(runs)
    }

    /// Processor time of a contender, if all went well.
    pub fn cpu(&self, contender: &str) -> Option<f64> {
        self.of(contender)?.cpu
    }

    /// How many times as long as another contender's.
    pub fn ratio(&self, contender: &str, other: &str) -> Option<f64> {
        let base = self.cpu(other).filter(|seconds| *seconds > 0.0)?;
        Some(self.cpu(contender)? / base)
    }
}

/// How scripts are measured.
#[derive(Clone, Copy, Debug)]
pub struct ScriptPlan {
    /// How often.
    pub times: Times,
    /// Means with confidence intervals instead of medians.
    pub has_intervals: bool,
    /// What a process may use.
    pub limits: Limits,
}

/// Runs programs of a set.
pub fn measure_scripts(
    tools: &Tools,
    set: Set,
    programs: Vec<Program>,
    contenders: &[Contender],
    plan: &ScriptPlan,
    mut progress: impl FnMut(&str),
) -> Vec<Script> {
    let mut found = Vec::new();
    for program in programs {
        progress(&program.name);
        let by_contender = measure_script(tools, contenders, &program, plan);
        let is_on = contenders.iter().any(|contender| contender.name == "tracelift");
        let statistics = is_on.then(|| statistics(tools, &program, plan).ok()).flatten();
        let Program { name, list, .. } = program;
        found.push(Script { set, name, list, by_contender, statistics });
    }
    found
}

/// One program with all contenders in turn.
fn measure_script(
    tools: &Tools,
    contenders: &[Contender],
    program: &Program,
    plan: &ScriptPlan,
) -> Vec<ScriptRuns> {
    let commands: Vec<_> = contenders
        .iter()
        .filter_map(|contender| {
            let mut command = tools.lua_command(contender)?;
            let is_luajit = matches!(contender.kind, Kind::LuaJit(_));
            command.push(if is_luajit { &program.luajit_path } else { &program.path }.into());
            Some((contender.name, command))
        })
        .collect();
    let mut found: Vec<ScriptRuns> =
        commands.iter().map(|(contender, _)| ScriptRuns { contender, ..ScriptRuns::default() }).collect();
    let mut others = vec![(Vec::new(), Vec::new()); commands.len()];
    let mut printed: Vec<Option<String>> = vec![None; commands.len()];
    let times = plan.times;
    for time in 0..times.unmeasured + times.measured {
        for (index, (_, command)) in commands.iter().enumerate() {
            if found[index].failure.is_some() {
                continue;
            }
            match run(command, &plan.limits) {
                Err(error) => found[index].failure = Some(format!("{error:#}")),
                Ok(finished) => {
                    if *printed[index].get_or_insert_with(|| finished.stdout.clone()) != finished.stdout {
                        found[index].failure = Some("wrong: prints something else than before".into());
                    }
                    if time >= times.unmeasured {
                        found[index].times.push(finished.cpu());
                        others[index].0.push(finished.wall);
                        others[index].1.push(finished.peak_kib as f64);
                    }
                }
            }
        }
    }
    judge(&mut found, &printed);
    for (runs, (wall, peak)) in found.iter_mut().zip(&others) {
        let interval: Option<Mean> = if plan.has_intervals { mean(&runs.times) } else { None };
        runs.cpu = interval.map_or_else(|| median(&runs.times), |interval| Some(interval.mean));
        runs.interval = interval.map(|interval| interval.half);
        (runs.wall, runs.peak_kib) = (median(wall), median(peak));
    }
    found
}

/// Compares what was printed: with stock Lua's, or else with the first contender's.
fn judge(found: &mut [ScriptRuns], printed: &[Option<String>]) {
    let stock = found.iter().position(|runs| runs.contender == "lua");
    let by_stock = stock.and_then(|index| printed[index].as_ref());
    let Some(expected) = by_stock.or_else(|| printed.iter().flatten().next()) else {
        return;
    };
    for (runs, text) in found.iter_mut().zip(printed) {
        if text.as_ref().is_some_and(|text| text != expected) {
            runs.failure = Some("wrong: prints something else".into());
        }
    }
}

/// The JIT's own figures, from a run of its own: counting takes time.
fn statistics(tools: &Tools, program: &Program, plan: &ScriptPlan) -> anyhow::Result<Value> {
    let mut contender =
        *CONTENDERS.iter().find(|contender| contender.name == "tracelift").context("no tracelift")?;
    contender.kind = Kind::Tracelift(&["--stats=json"]);
    let mut command = tools.lua_command(&contender).context("no command")?;
    command.push((&program.path).into());
    read_statistics(&run(&command, &plan.limits)?.stderr)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(set: Set, names: Option<&[&str]>) -> Vec<&'static str> {
        let chosen: Option<Vec<Contender>> = names.map(|names| {
            CONTENDERS.iter().filter(|contender| names.contains(&contender.name)).copied().collect()
        });
        set.contenders(chosen.as_deref()).iter().map(|contender| contender.name).collect()
    }

    #[test]
    fn sets_have_their_usual_contenders() {
        assert_eq!(named(Set::Standing, None), ["luajit", "tracelift", "tracelift-off", "lua"]);
        assert_eq!(named(Set::Examples, None), ["tracelift-novirtuals", "tracelift", "tracelift-off", "lua"]);
        assert!(named(Set::Short, None).contains(&"tracelift-nopeel"));
        assert_eq!(named(Set::Micro, Some(&["gcc", "luajit-joff", "lua"])), ["luajit-joff", "lua"]);
        assert_eq!(named(Set::Examples, Some(&["luajit", "tracelift"])), ["tracelift"]);
    }

    #[test]
    fn every_set_has_programs() {
        for set in SETS {
            let programs = set.programs().expect("the folders are there");
            assert!(programs.len() > 9, "{}: {} programs", set.name(), programs.len());
            assert!(programs.iter().all(|program| program.luajit_path.is_file()), "{}", set.name());
        }
    }

    #[test]
    fn stock_lua_says_what_is_right() {
        let runs = |contender| ScriptRuns { contender, ..ScriptRuns::default() };
        let mut found = [runs("luajit"), runs("tracelift"), runs("lua"), runs("tracelift-off")];
        judge(&mut found, &[Some("1.0".into()), Some("1".into()), Some("1".into()), None]);
        let failed: Vec<bool> = found.iter().map(|runs| runs.failure.is_some()).collect();
        assert_eq!(failed, [true, false, false, false]);
    }

    #[test]
    fn a_failure_has_no_time() {
        let runs = |contender, cpu, failure: Option<&str>| ScriptRuns {
            contender,
            cpu: Some(cpu),
            failure: failure.map(str::to_string),
            ..ScriptRuns::default()
        };
        let script = Script {
            set: Set::Micro,
            name: "x".into(),
            list: String::new(),
            by_contender: vec![
                runs("lua", 2.0, None),
                runs("tracelift", 1.0, None),
                runs("luajit", 9.0, Some("wrong")),
            ],
            statistics: None,
        };
        assert_eq!(script.ratio("tracelift", "lua"), Some(0.5));
        assert_eq!((script.cpu("luajit"), script.ratio("tracelift", "luajit")), (None, None));
    }
}
