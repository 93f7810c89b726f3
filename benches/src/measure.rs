//! Runs rows with all contenders in turn, and collects what they report.
//!
//! Problem: a shared machine is fast now and slow a second later, and a just-in-time compiler is slow at
//! first. Design: in round 0 every contender does the work once in a fresh process, which gives whole-process
//! figures. Each further round goes through all contenders again: those that make machine code warm up with
//! one call, or several short ones, and are timed for the next ones; interpreters are timed again only in
//! full, and if a call is short. Medians are over all timed calls.
//!
//! Invariant: a contender whose check value differs is reported as wrong, whatever its time.
//! Example: `Measured { seconds: Some(0.12), calls: 9, … }`.

use anyhow::{bail, Context};
use serde_json::Value;

use crate::confidence::mean;
use crate::contenders::{Contender, Kind, Protocol, Tools, CONTENDERS, EXACT};
use crate::jit_figures::read_statistics;
use crate::process::{run, Finished, Limits};
use crate::rows::{Row, Size};

/// How much is measured.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How much work a call does.
    pub size: Size,
    /// Rounds after the first.
    pub rounds: u32,
    /// Whether each process makes three warm-up runs and ten timed ones, and means count, as in the papers.
    pub is_papers: bool,
    /// Seconds of timed calls in one process.
    pub limit: f64,
    /// What a process may use.
    pub limits: Limits,
}

/// Samples that one process takes at most.
const CALLS: u32 = 3;

/// What the papers do: three warm-up runs and ten timed ones, however long they take. A run is a call, or as
/// many as take a tenth of a second.
const PAPERS: Protocol = Protocol { warmups: 3, calls: 10, limit: 1e9 };

/// gcc may round once where two operations can be one instruction; that much may its check values differ,
/// relatively.
const CONTRACTION: f64 = 1e-9;

/// What one contender did on one row.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// The contender's name.
    pub contender: &'static str,
    /// Median of the timed calls, or their mean where `interval` is known.
    pub seconds: Option<f64>,
    /// Half of the mean's 95 % confidence interval, in the papers' protocol.
    pub interval: Option<f64>,
    /// The timed calls.
    pub times: Vec<f64>,
    /// Whether there was no warm-up before them.
    pub is_cold: bool,
    /// The process that did the work once.
    pub whole: Option<Finished>,
    /// The check value.
    pub check: Option<f64>,
    /// What went wrong.
    pub failure: Option<String>,
}

/// A row with all contenders.
#[derive(Clone, Debug)]
pub struct MeasuredRow {
    /// The row.
    pub row: Row,
    /// What the report calls it.
    pub label: String,
    /// One entry for each contender that has a program for the row.
    pub by_contender: Vec<Measured>,
    /// What `--stats=json` prints.
    pub statistics: Option<Value>,
}

impl MeasuredRow {
    /// What a contender did.
    pub fn of(&self, contender: &str) -> Option<&Measured> {
        self.by_contender.iter().find(|measured| measured.contender == contender)
    }

    /// Median seconds of a contender.
    pub fn seconds(&self, contender: &str) -> Option<f64> {
        self.of(contender)?.seconds
    }
}

/// What a process of the protocol printed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Printed {
    /// Seconds of the timed calls.
    pub times: Vec<f64>,
    /// Whether the warm-up was the only call.
    pub is_cold: bool,
    /// The check value.
    pub check: f64,
}

/// Reads the lines of `lua/runner.lua`'s protocol.
pub fn read_protocol(text: &str) -> anyhow::Result<Printed> {
    let mut printed = Printed { check: f64::NAN, ..Printed::default() };
    let mut has_check = false;
    for line in text.lines() {
        let (word, number) = line.split_once(' ').with_context(|| format!("unexpected output: {line}"))?;
        let number: f64 = number.trim().parse().with_context(|| format!("unexpected output: {line}"))?;
        match word {
            "warm" => {}
            "time" => printed.times.push(number),
            "cold" => {
                printed.times.push(number);
                printed.is_cold = true;
            }
            "check" => {
                printed.check = number;
                has_check = true;
            }
            _ => bail!("unexpected output: {line}"),
        }
    }
    if !has_check || printed.times.is_empty() {
        bail!("the output ends too early");
    }
    Ok(printed)
}

/// The middle of some numbers; of an even count the mean of the two in the middle.
pub fn median(numbers: &[f64]) -> Option<f64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        count if count % 2 == 1 => Some(sorted[middle]),
        _ => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
    }
}

/// The geometric mean of some positive numbers.
pub fn geometric_mean(numbers: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0u32);
    for number in numbers {
        sum += number.ln();
        count += 1;
    }
    (count > 0).then(|| (sum / f64::from(count)).exp())
}

/// Runs one row.
pub fn measure(tools: &Tools, contenders: &[Contender], row: &Row, plan: &Plan) -> MeasuredRow {
    let mut found: Vec<Measured> = Vec::new();
    for round in 0..=plan.rounds {
        for contender in contenders {
            let before = found.iter().position(|measured| measured.contender == contender.name);
            let Some(protocol) = protocol(contender, round, before.map(|index| &found[index]), plan) else {
                continue;
            };
            let command = match tools.command(contender, row, protocol, row.arguments(plan.size)) {
                Ok(Some(command)) => Ok(command),
                Ok(None) => continue,
                Err(error) => Err(error),
            };
            let index = before.unwrap_or_else(|| {
                found.push(Measured { contender: contender.name, ..Measured::default() });
                found.len() - 1
            });
            let result = command.and_then(|command| run(&command, &plan.limits)).and_then(|finished| {
                let printed = read_protocol(&finished.stdout)?;
                Ok((finished, printed))
            });
            match result {
                Ok((finished, printed)) => {
                    found[index].take(finished, printed, round, contender.compiles || plan.is_papers);
                }
                Err(error) => found[index].failure = Some(format!("{error:#}")),
            }
        }
    }
    for measured in &mut found {
        let interval = if plan.is_papers { mean(&measured.times) } else { None };
        measured.seconds = interval.map_or_else(|| median(&measured.times), |interval| Some(interval.mean));
        measured.interval = interval.map(|interval| interval.half);
    }
    judge(&mut found);
    let is_on = contenders.iter().any(|contender| contender.name == "tracelift");
    let statistics = is_on.then(|| statistics(tools, row, plan).ok()).flatten();
    MeasuredRow { row: *row, label: row.label(plan.size), by_contender: found, statistics }
}

/// What a contender does in a round; nothing if it is not worth its time.
fn protocol(contender: &Contender, round: u32, before: Option<&Measured>, plan: &Plan) -> Option<Protocol> {
    if round == 0 {
        return Some(Protocol::ONCE);
    }
    let before = before?;
    if plan.is_papers {
        return before.failure.is_none().then_some(PAPERS);
    }
    let last = before.times.last().copied();
    let is_long = last.is_some_and(|seconds| seconds > plan.limit);
    let is_enough = !contender.compiles && (is_long || plan.size == Size::Quick);
    if before.failure.is_some() || is_enough {
        return None;
    }
    // One call of a compiler's code that takes so long has warmed up on the way.
    if last.is_some_and(|seconds| seconds > 2.0 * plan.limit) {
        return None;
    }
    Some(Protocol { warmups: u32::from(contender.compiles), calls: CALLS, limit: plan.limit })
}

impl Measured {
    fn take(&mut self, finished: Finished, printed: Printed, round: u32, warms_up: bool) {
        if self.check.is_some_and(|check| check.to_bits() != printed.check.to_bits()) {
            self.failure = Some("another check value than the time before".into());
        }
        self.check = Some(printed.check);
        // The first call of what warms up counts only as long as there is nothing better.
        let is_cold = warms_up && (round == 0 || printed.is_cold);
        if self.is_cold && !is_cold {
            self.times.clear();
        }
        if self.times.is_empty() || self.is_cold == is_cold {
            self.is_cold = is_cold;
            self.times.extend(printed.times);
        }
        if round == 0 {
            self.whole = Some(finished);
        }
    }
}

/// Compares check values: with stock Lua's, or else with the first contender's that rounds after each
/// operation.
fn judge(found: &mut [Measured]) {
    let contracts = |name: &str| {
        let is_it = |kind: Kind| matches!(kind, Kind::Gcc(flags) if flags != EXACT);
        CONTENDERS.iter().any(|contender| contender.name == name && is_it(contender.kind))
    };
    let stock = found.iter().find(|measured| measured.contender == "lua" && measured.check.is_some());
    let exact = || found.iter().find(|measured| measured.check.is_some() && !contracts(measured.contender));
    let Some(reference) = stock.or_else(exact).and_then(|measured| measured.check) else {
        return;
    };
    for measured in found {
        let Some(check) = measured.check else {
            continue;
        };
        let is_near = (check - reference).abs() <= CONTRACTION * reference.abs();
        if check.to_bits() != reference.to_bits() && !(contracts(measured.contender) && is_near) {
            measured.failure = Some(format!("wrong: check value {check:?} instead of {reference:?}"));
        }
    }
}

/// The JIT's own figures, from one call in a run of its own: counting takes time.
fn statistics(tools: &Tools, row: &Row, plan: &Plan) -> anyhow::Result<Value> {
    let mut contender =
        *CONTENDERS.iter().find(|contender| contender.name == "tracelift").context("no tracelift")?;
    contender.kind = Kind::Tracelift(&["--stats=json"]);
    let arguments = row.arguments(plan.size);
    let command = tools.command(&contender, row, Protocol::ONCE, arguments)?.context("no program")?;
    let finished = run(&command, &plan.limits)?;
    read_statistics(&finished.stderr)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_protocol_is_read() {
        let printed = read_protocol("warm 0.5\ntime 0.25\ntime 0.125\ncheck 3.5\n").expect("it is complete");
        assert_eq!(printed, Printed { times: vec![0.25, 0.125], is_cold: false, check: 3.5 });
        let printed = read_protocol("cold 9\ncheck -1e3\n").expect("it is complete");
        assert_eq!(printed, Printed { times: vec![9.0], is_cold: true, check: -1000.0 });
        for text in ["", "time 1\n", "check 1\n", "time one\ncheck 1\n", "lua: error\n", "tame 1\ncheck 1\n"]
        {
            assert!(read_protocol(text).is_err(), "{text:?} is accepted");
        }
    }

    #[test]
    fn the_middle_of_numbers() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(geometric_mean([]), None);
        assert!((geometric_mean([2.0, 8.0]).expect("there are numbers") - 4.0).abs() < 1e-12);
    }

    #[test]
    fn a_cold_call_counts_only_alone() {
        let printed = |times: &[f64], is_cold| Printed { times: times.to_vec(), is_cold, check: 1.0 };
        let mut measured = Measured::default();
        measured.take(Finished::default(), printed(&[9.0], false), 0, true);
        assert_eq!((measured.times.as_slice(), measured.is_cold), (&[9.0][..], true));
        measured.take(Finished::default(), printed(&[8.0], true), 1, true);
        assert_eq!((measured.times.as_slice(), measured.is_cold), (&[9.0, 8.0][..], true));
        measured.take(Finished::default(), printed(&[1.0, 2.0], false), 2, true);
        measured.take(Finished::default(), printed(&[7.0], true), 3, true);
        assert_eq!((measured.times.as_slice(), measured.is_cold), (&[1.0, 2.0][..], false));
        let mut measured = Measured::default();
        measured.take(Finished::default(), printed(&[9.0], false), 0, false);
        measured.take(Finished::default(), printed(&[8.0], false), 1, false);
        assert_eq!((measured.times.as_slice(), measured.is_cold), (&[9.0, 8.0][..], false));
    }

    #[test]
    fn a_wrong_check_value_is_seen() {
        let of = |contender, check| Measured { contender, check: Some(check), ..Measured::default() };
        let mut found =
            [of("gcc", 1.0 + 1e-12), of("luajit", 1.0), of("tracelift", 1.0 + 1e-12), of("gcc", 1.01)];
        judge(&mut found);
        let failed: Vec<bool> = found.iter().map(|measured| measured.failure.is_some()).collect();
        assert_eq!(failed, [false, false, true, true]);
        let mut found = [of("gcc-values", 1.0 + 1e-12), of("gcc-exact", 1.0 + 1e-12), of("lua", 1.0)];
        judge(&mut found);
        let failed: Vec<bool> = found.iter().map(|measured| measured.failure.is_some()).collect();
        assert_eq!(failed, [false, true, false], "gcc alone may contract");
    }
}
