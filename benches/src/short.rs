//! The programs of a tenth of a second: what the JIT costs where it has no time to pay off.
//!
//! Problem: most scripts end before a compiler has earned its keep; the JIT must not make them slower. Design: every
//! script of `short/` runs as a whole process, several times in turn with each contender that runs Lua; what counts is
//! the median of its processor time, start and end included. Invariant: all contenders print the same.
//!
//! Example: `Script { name: "sieve", .. }`, whose median with the JIT on is divided by the one with it off.

use std::path::Path;

use anyhow::Context;

use crate::contenders::{Contender, Tools};
use crate::measure::median;
use crate::process::{run, Limits};
use crate::rows::short_scripts;

/// What one contender did.
#[derive(Clone, Debug, Default)]
pub struct ScriptTimes {
    /// The contender's name.
    pub contender: &'static str,
    /// Median seconds of processor time of the whole process.
    pub cpu: Option<f64>,
    /// Median seconds from start to end.
    pub wall: Option<f64>,
    /// What went wrong.
    pub failure: Option<String>,
}

/// A script with all contenders.
#[derive(Clone, Debug)]
pub struct Script {
    /// Its file's name without extension.
    pub name: String,
    /// One entry for each contender that runs Lua.
    pub by_contender: Vec<ScriptTimes>,
}

impl Script {
    /// Median processor time of a contender, if all went well.
    pub fn cpu(&self, contender: &str) -> Option<f64> {
        let times = self.by_contender.iter().find(|times| times.contender == contender)?;
        times.cpu.filter(|_| times.failure.is_none())
    }
}

/// Runs all scripts.
pub fn measure_scripts(
    tools: &Tools,
    contenders: &[Contender],
    times: u32,
    limits: &Limits,
    mut progress: impl FnMut(&str),
) -> anyhow::Result<Vec<Script>> {
    let mut found = Vec::new();
    for path in short_scripts().context("the folder of short scripts")? {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        progress(&name);
        found.push(Script { by_contender: measure_script(tools, contenders, &path, times, limits), name });
    }
    Ok(found)
}

fn measure_script(
    tools: &Tools,
    contenders: &[Contender],
    path: &Path,
    times: u32,
    limits: &Limits,
) -> Vec<ScriptTimes> {
    let commands: Vec<_> = contenders
        .iter()
        .filter_map(|contender| {
            let mut command = tools.lua_command(contender)?;
            command.push(path.into());
            Some((contender.name, command))
        })
        .collect();
    let mut found: Vec<ScriptTimes> =
        commands.iter().map(|(contender, _)| ScriptTimes { contender, ..ScriptTimes::default() }).collect();
    let mut seconds = vec![(Vec::new(), Vec::new()); commands.len()];
    let mut expected: Option<String> = None;
    // The first time fills the caches of the disk, and does not count.
    for time in 0..=times {
        for (index, (_, command)) in commands.iter().enumerate() {
            match run(command, limits) {
                Err(error) => found[index].failure = Some(format!("{error:#}")),
                Ok(finished) => {
                    if *expected.get_or_insert_with(|| finished.stdout.clone()) != finished.stdout {
                        found[index].failure = Some("wrong: prints something else".into());
                    }
                    if time > 0 {
                        seconds[index].0.push(finished.cpu());
                        seconds[index].1.push(finished.wall);
                    }
                }
            }
        }
    }
    for (times, (cpu, wall)) in found.iter_mut().zip(&seconds) {
        (times.cpu, times.wall) = (median(cpu), median(wall));
    }
    found
}
