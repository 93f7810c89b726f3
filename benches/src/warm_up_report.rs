//! What the warm-up measurement says: tables, and all figures as JSON.
//!
//! Design: a table for the rows and one for the programs. Each line has the milliseconds to 90 % of the final
//! speed for each contender, then what a call takes in the end: in milliseconds for the first contender, and
//! that over each other one's. Geometric means and medians stand below, over the lines that have the figure.
//! Invariant: what has no figure is named below its table with the reason.
//!
//! Example: `| FFT(1024,12) | 9.1 | 5.2 | 80.3 | 0.71 | 2.93 | 1.14 |` of three contenders.

use std::fmt::Write as _;

use serde_json::{json, Map, Value};

use crate::contenders::Contender;
use crate::measure::{geometric_mean, median};
use crate::warm_up::{MeasuredWork, Outcome};

/// What the pieces of work of a panel are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The paper's rows.
    Rows,
    /// Whole programs.
    Programs,
}

/// Pieces of work of one kind.
#[derive(Clone, Debug)]
pub struct Panel {
    /// What they are.
    pub kind: Kind,
    /// The pieces.
    pub works: Vec<MeasuredWork>,
}

impl Panel {
    /// What it is called.
    pub fn title(&self) -> &'static str {
        match self.kind {
            Kind::Rows => "rows of the paper",
            Kind::Programs => "programs",
        }
    }

    /// A figure of each piece of work that has it.
    fn figures(&self, figure: impl Fn(&MeasuredWork) -> Option<f64>) -> Vec<f64> {
        self.works.iter().filter_map(figure).collect()
    }
}

/// All that was measured.
#[derive(Clone, Debug)]
pub struct Results {
    /// Who took part.
    pub contenders: Vec<Contender>,
    /// Who did not, and why.
    pub left_out: Vec<(&'static str, String)>,
    /// What was measured.
    pub panels: Vec<Panel>,
    /// A sentence on how.
    pub how: String,
}

impl Results {
    /// What failed, a line each.
    pub fn failures(&self) -> Vec<String> {
        let works = self.panels.iter().flat_map(|panel| &panel.works);
        let all = works.flat_map(|work| work.by_contender.iter().map(move |outcome| (work, outcome)));
        let of = |(work, outcome): (&MeasuredWork, &Outcome)| {
            Some(format!("{}, {}: {}", work.name, outcome.contender, outcome.failure.as_ref()?))
        };
        all.filter_map(of).collect()
    }
}

/// A figure of a piece of work, if it has it.
type Figure = Box<dyn Fn(&MeasuredWork) -> Option<f64>>;

/// A column of a table.
struct Column {
    title: String,
    figure: Figure,
    /// Whether a star may stand at its figures: the limit was raised.
    starred: Option<&'static str>,
}

fn columns(contenders: &[&Contender]) -> Vec<Column> {
    let mut found = Vec::new();
    for contender in contenders {
        let name = contender.name;
        found.push(Column {
            title: format!("{name}, ms"),
            figure: Box::new(move |work| Some(1000.0 * work.warm_up(name)?.seconds)),
            starred: Some(name),
        });
    }
    let first = contenders[0].name;
    let last = move |work: &MeasuredWork, name: &str| Some(1000.0 * work.warm_up(name)?.last);
    found.push(Column {
        title: format!("final call of {first}, ms"),
        figure: Box::new(move |work| last(work, first)),
        starred: None,
    });
    for contender in &contenders[1..] {
        let name = contender.name;
        found.push(Column {
            title: format!("over {name}"),
            figure: Box::new(move |work| {
                Some(last(work, first)? / last(work, name).filter(|last| *last > 0.0)?)
            }),
            starred: None,
        });
    }
    found
}

/// The tables.
pub fn markdown(results: &Results) -> String {
    let mut out = format!("# Time to 90 % of the final speed\n\n{}\n", results.how);
    for panel in &results.panels {
        table(&mut out, results, panel);
    }
    if !results.left_out.is_empty() {
        let who: Vec<String> =
            results.left_out.iter().map(|(name, reason)| format!("{name} ({reason})")).collect();
        let _ = write!(out, "\nLeft out: {}.\n", who.join(", "));
    }
    let failures = results.failures();
    if !failures.is_empty() {
        let _ = write!(out, "\nFAILED:\n\n* {}\n", failures.join("\n* "));
    }
    out
}

fn table(out: &mut String, results: &Results, panel: &Panel) {
    let took_part = |contender: &&Contender| {
        panel.works.iter().any(|work| work.by_contender.iter().any(|one| one.contender == contender.name))
    };
    let contenders: Vec<&Contender> = results.contenders.iter().filter(took_part).collect();
    if contenders.is_empty() {
        return;
    }
    let columns = columns(&contenders);
    let titles: Vec<&str> = columns.iter().map(|column| column.title.as_str()).collect();
    let _ = write!(
        out,
        "\n## The {} {}\n\n| | {} |\n|---|{}\n",
        panel.works.len(),
        panel.title(),
        titles.join(" | "),
        "--:|".repeat(columns.len())
    );
    let mut is_starred = false;
    for work in &panel.works {
        let cell = |column: &Column| {
            let is_raised =
                column.starred.and_then(|name| work.of(name)).is_some_and(|outcome| outcome.is_limit_raised);
            (figure((column.figure)(work)), is_raised)
        };
        let cells: Vec<(String, bool)> = columns.iter().map(cell).collect();
        is_starred |= cells.iter().any(|(_, is_raised)| *is_raised);
        let cells: Vec<String> =
            cells.into_iter().map(|(text, is_raised)| text + if is_raised { "*" } else { "" }).collect();
        let _ = writeln!(out, "| {} | {} |", work.name, cells.join(" | "));
    }
    let of_all = |of: &dyn Fn(&[f64]) -> Option<f64>| -> String {
        columns
            .iter()
            .map(|column| figure(of(&panel.figures(&column.figure))))
            .collect::<Vec<_>>()
            .join(" | ")
    };
    let geometric = |figures: &[f64]| geometric_mean(figures.iter().copied().filter(|figure| *figure > 0.0));
    let _ = writeln!(out, "| geometric mean | {} |", of_all(&geometric));
    let _ = writeln!(out, "| median | {} |", of_all(&median));
    if is_starred {
        *out += "\n\\*: calls are so long, or the speed was so late steady, that a process got more time.\n";
    }
    let mut unsteady = Vec::new();
    for work in &panel.works {
        let is_unsteady = |outcome: &&Outcome| outcome.failure.is_none() && outcome.warm_up.is_none();
        for outcome in work.by_contender.iter().filter(is_unsteady) {
            unsteady.push(format!("{} of {}", work.name, outcome.contender));
        }
    }
    if !unsteady.is_empty() {
        let _ = write!(out, "\nNot steady in the end: {}.\n", unsteady.join(", "));
    }
}

/// Three digits or so; "-" if there is none.
fn figure(value: Option<f64>) -> String {
    match value {
        None => "-".into(),
        Some(value) if value >= 99.95 => format!("{value:.0}"),
        Some(value) if value >= 9.995 => format!("{value:.1}"),
        Some(value) => format!("{value:.2}"),
    }
}

/// All figures.
pub fn to_json(results: &Results) -> Value {
    let panels: Vec<Value> = results
        .panels
        .iter()
        .map(|panel| {
            let works: Vec<Value> = panel.works.iter().map(work_to_json).collect();
            json!({ "title": panel.title(), "works": works })
        })
        .collect();
    let left_out: Vec<Value> =
        results.left_out.iter().map(|(name, reason)| json!({ "name": name, "reason": reason })).collect();
    let contenders: Vec<Value> = results
        .contenders
        .iter()
        .map(|contender| json!({ "name": contender.name, "what": contender.what }))
        .collect();
    json!({ "how": results.how, "contenders": contenders, "left_out": left_out, "panels": panels })
}

fn work_to_json(work: &MeasuredWork) -> Value {
    let mut contenders = Map::new();
    for outcome in &work.by_contender {
        let found = outcome.warm_up.filter(|_| outcome.failure.is_none());
        let rounds: Vec<Value> = outcome
            .rounds
            .iter()
            .map(|series| json!({ "ends": series.ends, "seconds": series.seconds }))
            .collect();
        contenders.insert(
            outcome.contender.into(),
            json!({
                "seconds_to_90": found.map(|found| found.seconds),
                "calls_to_90": found.map(|found| found.calls),
                "final_seconds": found.map(|found| found.last),
                "lost_seconds": found.map(|found| found.lost),
                "is_limit_raised": outcome.is_limit_raised,
                "failure": outcome.failure,
                "rounds": rounds,
            }),
        );
    }
    json!({ "name": work.name, "contenders": contenders })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contenders::CONTENDERS;
    use crate::warm_up::{Series, WarmUp};

    fn outcome(contender: &'static str, seconds: f64, last: f64) -> Outcome {
        let warm_up = Some(WarmUp { calls: 2, seconds, last, lost: 0.5 });
        let rounds = vec![Series { ends: vec![0.5, 1.0], seconds: vec![0.25, 0.125], check: None }];
        Outcome { contender, rounds, warm_up, ..Outcome::default() }
    }

    fn results(works: Vec<Vec<Outcome>>) -> Results {
        let chosen = ["luajit", "tracelift"];
        let contenders =
            CONTENDERS.iter().filter(|contender| chosen.contains(&contender.name)).copied().collect();
        let names = ["a", "b", "c"];
        let works = names.iter().zip(works);
        let works = works.map(|(name, by_contender)| MeasuredWork { name: (*name).into(), by_contender });
        let panels = vec![Panel { kind: Kind::Rows, works: works.collect() }];
        Results { contenders, left_out: vec![("pypy3", "no".into())], panels, how: "So.".into() }
    }

    #[test]
    fn a_table_has_means_and_says_what_is_missing() {
        let late = Outcome { is_limit_raised: true, ..outcome("tracelift", 0.04, 0.003) };
        let table = markdown(&results(vec![
            vec![outcome("luajit", 0.01, 0.001), outcome("tracelift", 0.01, 0.002)],
            vec![outcome("luajit", 0.09, 0.003), late],
            vec![
                Outcome { failure: Some("fell".into()), ..outcome("luajit", 7.0, 7.0) },
                Outcome { warm_up: None, ..outcome("tracelift", 7.0, 7.0) },
            ],
        ]));
        for line in [
            "## The 3 rows of the paper",
            "| | luajit, ms | tracelift, ms | final call of luajit, ms | over tracelift |",
            "| a | 10.0 | 10.0 | 1.00 | 0.50 |",
            "| b | 90.0 | 40.0* | 3.00 | 1.00 |",
            "| c | - | - | - | - |",
            "| geometric mean | 30.0 | 20.0 | 1.73 | 0.71 |",
            "| median | 50.0 | 25.0 | 2.00 | 0.75 |",
            "Not steady in the end: c of tracelift.",
            "Left out: pypy3 (no).",
            "* c, luajit: fell",
        ] {
            assert!(table.contains(line), "no {line} in:\n{table}");
        }
    }

    #[test]
    fn the_json_has_all_calls() {
        let json = to_json(&results(vec![vec![outcome("tracelift", 0.04, 0.003)]]));
        let found = &json["panels"][0]["works"][0]["contenders"]["tracelift"];
        assert_eq!(found["seconds_to_90"], 0.04);
        assert_eq!(found["rounds"][0]["ends"], json!([0.5, 1.0]));
        assert_eq!(found["failure"], Value::Null);
        assert_eq!(json["left_out"][0]["name"], "pypy3");
    }
}
