//! How long a contender takes until it is fast: the same piece of work again and again in one process.
//!
//! Problem: a JIT is judged by its final speed, but people wait for what comes before. Design: a process of
//! `lua/warm_up.lua` or `python/warm_up.py` tells when each call ended and what it took. The final speed is
//! the median of the last third of the calls. It has reached 90 % of it by the end of the first call that is
//! that fast itself, with the four after it in the median, and with nine of ten such fives that follow: a
//! single fast call does not count, nor does a slow one later. Time is processor time since the process
//! began, so that the start counts, and code that a second thread makes as well.
//!
//! Invariant: calls print the same each time and for each contender, or a failure stands instead of figures.
//! Example: calls of 9, 8, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2 ms are fast from the third on, at 19 ms.

use std::ffi::OsString;

use anyhow::{bail, Context};

use crate::contenders::{Contender, Kind, Tools};
use crate::measure::median;
use crate::process::{run, Finished, Limits};
use crate::rows::{folder, Group, Row, Size, ROWS};
use crate::scripts::{Program, Set};

/// Of the final speed; this much counts as fast.
const SHARE: f64 = 0.9;

/// Calls in a row whose median is looked at.
const TOGETHER: usize = 5;

/// What is done again and again.
#[derive(Clone, Debug)]
pub enum Work {
    /// A row of the table, at the size `Warm`.
    Row(Row),
    /// A program of a set.
    Program(Set, Program),
}

impl Work {
    /// What the report calls it.
    pub fn name(&self) -> String {
        match self {
            Work::Row(row) => row.label(Size::Warm),
            Work::Program(set, program) => format!("{}/{}", set.name(), program.name),
        }
    }

    /// The paper's rows.
    pub fn rows() -> Vec<Work> {
        ROWS.iter().filter(|row| row.group == Group::Paper).map(|row| Work::Row(*row)).collect()
    }

    /// The programs of the sets `brief` and `short`.
    pub fn programs() -> anyhow::Result<Vec<Work>> {
        let mut found = Vec::new();
        for set in [Set::Brief, Set::Short] {
            found.extend(set.programs()?.into_iter().map(|program| Work::Program(set, program)));
        }
        Ok(found)
    }
}

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Seconds of processor time after which a process begins no further call.
    pub limit: f64,
    /// Calls that it makes at least.
    pub least: usize,
    /// Calls that it makes at most.
    pub most: usize,
    /// Processes for each contender; the one in the middle counts.
    pub rounds: u32,
    /// What a process may use.
    pub limits: Limits,
}

/// What a process whose speed was not steady gets instead, in calls and in time.
const MORE: usize = 4;

/// The calls of one process.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Processor time since the process began, at the end of each.
    pub ends: Vec<f64>,
    /// What each took.
    pub seconds: Vec<f64>,
    /// The check value, of rows.
    pub check: Option<f64>,
}

/// When a process became fast.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WarmUp {
    /// Calls up to there, the first fast one included.
    pub calls: usize,
    /// Processor time since the process began, at the end of that call.
    pub seconds: f64,
    /// What a call takes in the end.
    pub last: f64,
    /// What the calls up to there took beyond that.
    pub lost: f64,
}

/// Looks for the call from which on a process is fast; nothing if its speed still changes in the end.
pub fn warm_up(series: &Series) -> Option<WarmUp> {
    let seconds = series.seconds.as_slice();
    let third = (seconds.len() / 3).max(1);
    let steady = seconds.len().checked_sub(third)?;
    let last = median(&seconds[steady..])?;
    let is_fast = |taken: f64| taken <= last / SHARE;
    let fives: Vec<bool> = seconds.windows(TOGETHER).map(|five| median(five).is_some_and(is_fast)).collect();
    let mut fast_ones = 0;
    let mut found = None;
    for (index, five) in fives.iter().enumerate().rev() {
        fast_ones += usize::from(*five);
        if *five && is_fast(seconds[index]) && 10 * fast_ones >= 9 * (fives.len() - index) {
            found = Some(index);
        }
    }
    let index = found.filter(|index| *index < steady)?;
    let lost = seconds[..=index].iter().map(|taken| taken - last).sum::<f64>().max(0.0);
    Some(WarmUp { calls: index + 1, seconds: series.ends[index], last, lost })
}

/// What one contender did.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The contender's name.
    pub contender: &'static str,
    /// The calls of its processes.
    pub rounds: Vec<Series>,
    /// When the process in the middle became fast; nothing if that was not steady.
    pub warm_up: Option<WarmUp>,
    /// Whether a process got more time than the limit: calls were long, or speed not steady by then.
    pub is_limit_raised: bool,
    /// What went wrong.
    pub failure: Option<String>,
}

/// A piece of work with all contenders.
#[derive(Clone, Debug)]
pub struct MeasuredWork {
    /// What the report calls it.
    pub name: String,
    /// One entry for each contender that has a program for it.
    pub by_contender: Vec<Outcome>,
}

impl MeasuredWork {
    /// What a contender did, if all went well.
    pub fn of(&self, contender: &str) -> Option<&Outcome> {
        let outcome = self.by_contender.iter().find(|outcome| outcome.contender == contender)?;
        outcome.failure.is_none().then_some(outcome)
    }

    /// When a contender became fast, if it did.
    pub fn warm_up(&self, contender: &str) -> Option<WarmUp> {
        self.of(contender)?.warm_up
    }
}

/// Does a piece of work with all contenders in turn.
pub fn measure(tools: &Tools, contenders: &[Contender], work: &Work, plan: &Plan) -> MeasuredWork {
    let mut outcomes: Vec<Outcome> = Vec::new();
    let mut printed: Vec<Option<Answer>> = Vec::new();
    for contender in contenders.iter().filter(|contender| takes(contender, work)) {
        outcomes.push(Outcome { contender: contender.name, ..Outcome::default() });
        printed.push(None);
    }
    for _ in 0..plan.rounds {
        let takers = contenders.iter().filter(|contender| takes(contender, work));
        for (contender, (outcome, printed)) in takers.zip(outcomes.iter_mut().zip(&mut printed)) {
            if outcome.failure.is_some() {
                continue;
            }
            match outcome.add_round(tools, contender, work, plan) {
                Err(error) => outcome.failure = Some(format!("{error:#}")),
                Ok(answer) if printed.as_ref().is_some_and(|before| *before != answer) => {
                    outcome.failure = Some("wrong: another result than the time before".into());
                }
                Ok(answer) => *printed = Some(answer),
            }
        }
    }
    let expected = printed.iter().flatten().next();
    for (outcome, found) in outcomes.iter_mut().zip(&printed) {
        if outcome.failure.is_none() && found.as_ref() != expected {
            outcome.failure = Some("wrong: another result than the first contender's".into());
        }
        outcome.warm_up = middle(&outcome.rounds);
    }
    MeasuredWork { name: work.name(), by_contender: outcomes }
}

/// What must be the same each time: the bits of a check value, or what a program prints.
#[derive(PartialEq)]
struct Answer(Option<u64>, String);

impl Outcome {
    /// Runs one more process, and another one with more time if the first was not steady.
    fn add_round(
        &mut self,
        tools: &Tools,
        contender: &Contender,
        work: &Work,
        plan: &Plan,
    ) -> anyhow::Result<Answer> {
        let again = |plan: &Plan| -> anyhow::Result<(Series, Answer)> {
            let command = command(tools, contender, work, plan)?;
            read(&run(&command, &plan.limits)?)
        };
        let (mut series, mut answer) = again(plan)?;
        if warm_up(&series).is_none() {
            let more = MORE as f64 * plan.limit;
            (series, answer) = again(&Plan { limit: more, least: MORE * plan.least, ..*plan })?;
            self.is_limit_raised = true;
        }
        // No call is begun after the limit but for the sake of their number.
        let before_last = series.ends.len().checked_sub(2).and_then(|index| series.ends.get(index));
        self.is_limit_raised |= before_last.is_some_and(|end| *end > plan.limit);
        self.rounds.push(series);
        Ok(answer)
    }
}

/// The warm-up of the process in the middle, of an even number of the earlier one; those that were not steady
/// are the last ones.
fn middle(rounds: &[Series]) -> Option<WarmUp> {
    let mut found: Vec<Option<WarmUp>> = rounds.iter().map(warm_up).collect();
    let seconds = |warm_up: &Option<WarmUp>| warm_up.map_or(f64::INFINITY, |warm_up| warm_up.seconds);
    found.sort_by(|a, b| seconds(a).total_cmp(&seconds(b)));
    found.get(found.len().checked_sub(1)? / 2).copied().flatten()
}

/// Whether a contender can do that work: C has no warm-up, and Python no programs.
fn takes(contender: &Contender, work: &Work) -> bool {
    match contender.kind {
        Kind::Gcc(_) => false,
        Kind::Python(..) => matches!(work, Work::Row(row) if row.group == Group::Paper),
        Kind::LuaJit(_) | Kind::StockLua | Kind::Tracelift(_) => true,
    }
}

fn command(tools: &Tools, contender: &Contender, work: &Work, plan: &Plan) -> anyhow::Result<Vec<OsString>> {
    let mut command: Vec<OsString> = match contender.kind {
        Kind::Python(executable, options) => {
            let mut command = vec![executable.into()];
            command.extend(options.iter().map(OsString::from));
            command.push(folder("python").join("warm_up.py").into());
            command
        }
        _ => {
            let mut command = tools.lua_command(contender).context("there is no command for it")?;
            command.push(folder("lua").join("warm_up.lua").into());
            command
        }
    };
    let is_luajit = matches!(contender.kind, Kind::LuaJit(_));
    command
        .extend([plan.limit.to_string(), plan.least.to_string(), plan.most.to_string()].map(OsString::from));
    match work {
        Work::Row(row) => {
            let program = if is_luajit { row.luajit_program() } else { row.program.into() };
            command.extend(["row".into(), program.into()]);
            command.extend(row.arguments(Size::Warm).iter().map(|argument| argument.to_string().into()));
        }
        Work::Program(_, program) => {
            let path = if is_luajit { &program.luajit_path } else { &program.path };
            command.extend(["program".into(), path.into()]);
        }
    }
    Ok(command)
}

/// Reads what a driver says, and takes what one call printed out of what all of them did.
fn read(finished: &Finished) -> anyhow::Result<(Series, Answer)> {
    let series = read_series(&finished.stderr)?;
    let count = series.ends.len();
    let one = &finished.stdout.as_bytes()[..finished.stdout.len() / count];
    let is_same = one.len() * count == finished.stdout.len()
        && (one.is_empty() || finished.stdout.as_bytes().chunks(one.len()).all(|part| part == one));
    if !is_same {
        bail!("it cannot be run twice in one process: its calls print different things");
    }
    let answer = Answer(series.check.map(f64::to_bits), String::from_utf8_lossy(one).into_owned());
    Ok((series, answer))
}

/// Reads the lines of `lua/warm_up.lua`.
fn read_series(text: &str) -> anyhow::Result<Series> {
    let mut series = Series::default();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |word: &str| -> anyhow::Result<f64> {
            word.parse().with_context(|| format!("unexpected output: {line}"))
        };
        match words[..] {
            ["call", end, seconds] => {
                series.ends.push(number(end)?);
                series.seconds.push(number(seconds)?);
            }
            ["check", value] => series.check = Some(number(value)?),
            _ => bail!("unexpected output: {line}"),
        }
    }
    if series.ends.is_empty() {
        bail!("the output ends too early");
    }
    Ok(series)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls of so many milliseconds, in a process that takes one to start.
    fn calls(milliseconds: &[u32]) -> Series {
        let seconds: Vec<f64> = milliseconds.iter().map(|call| f64::from(*call) / 1000.0).collect();
        let mut end = 0.001;
        let ends = seconds.iter().map(|call| {
            end += call;
            end
        });
        Series { ends: ends.collect(), seconds, check: None }
    }

    /// Calls and milliseconds up to the final speed.
    fn reached(milliseconds: &[u32]) -> Option<(usize, u32)> {
        let found = warm_up(&calls(milliseconds))?;
        Some((found.calls, (found.seconds * 1000.0).round() as u32))
    }

    #[test]
    fn who_is_steady_from_the_start_is_fast_after_one_call() {
        assert_eq!(reached(&[20; 12]), Some((1, 21)));
        assert_eq!(reached(&[20, 21, 19, 22, 20, 20, 21, 20]), Some((1, 21)));
        assert_eq!(reached(&[20; 5]), Some((1, 21)));
    }

    #[test]
    fn slow_calls_come_first() {
        let series = [90, 80, 30, 20, 20, 21, 20, 20, 20, 20, 20, 20];
        assert_eq!(reached(&series), Some((4, 221)));
        let found = warm_up(&calls(&series)).expect("it is steady");
        assert!((found.last - 0.02).abs() < 1e-9 && (found.lost - 0.14).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn a_fast_call_among_slow_ones_does_not_count() {
        assert_eq!(reached(&[90, 20, 90, 90, 90, 20, 20, 20, 20, 20, 20, 20]), Some((6, 401)));
    }

    #[test]
    fn a_fast_beginning_before_slow_calls_does_not_count() {
        let mut series = vec![20; 6];
        series.extend([50; 12]);
        series.extend([20; 30]);
        assert_eq!(reached(&series), Some((19, 741)));
    }

    #[test]
    fn a_slow_call_later_does_no_harm() {
        assert_eq!(reached(&[40, 20, 20, 20, 20, 90, 20, 20, 20, 20, 20, 20]), Some((2, 61)));
        let mut series = vec![20; 100];
        series[50..56].fill(90);
        assert_eq!(reached(&series), Some((1, 21)));
    }

    #[test]
    fn who_becomes_faster_to_the_end_is_not_steady() {
        let series: Vec<u32> = (1..=20).rev().map(|call| 10 * call).collect();
        assert_eq!(reached(&series), None);
        assert_eq!(reached(&[20; 4]), None, "there are no five calls");
        assert_eq!(reached(&[]), None);
    }

    #[test]
    fn the_process_in_the_middle_counts() {
        let (early, late) = (calls(&[20; 9]), calls(&[50, 20, 20, 20, 20, 20, 20, 20, 20]));
        let never = calls(&[20; 4]);
        let middle = |rounds: &[&Series]| {
            middle(&rounds.iter().map(|series| (*series).clone()).collect::<Vec<_>>())
                .map(|found| found.calls)
        };
        assert_eq!(middle(&[&never, &late, &early]), Some(2));
        assert_eq!(middle(&[&late, &early]), Some(1));
        assert_eq!(middle(&[&never, &never, &early]), None);
        assert_eq!(middle(&[]), None);
    }

    #[test]
    fn what_a_driver_says_is_read() {
        let of = |stdout: &str, stderr: &str| {
            read(&Finished { stdout: stdout.into(), stderr: stderr.into(), ..Finished::default() })
        };
        let two = "call 0.5 0.25\ncall 0.75 0.25\n";
        let (series, answer) = of("x\ny\nx\ny\n", two).expect("it is complete");
        assert_eq!(
            (series.ends.as_slice(), series.seconds.as_slice()),
            (&[0.5, 0.75][..], &[0.25, 0.25][..])
        );
        assert_eq!(answer.1, "x\ny\n");
        let (series, answer) = of("", &format!("{two}check 1.5\n")).expect("it is complete");
        assert_eq!((series.check, answer.0), (Some(1.5), Some(1.5f64.to_bits())));
        for (stdout, stderr) in [("", ""), ("", "call 1\n"), ("", "lua: error\n"), ("xy", two), ("xxx", two)]
        {
            assert!(of(stdout, stderr).is_err(), "{stdout:?} and {stderr:?} are accepted");
        }
    }
}
