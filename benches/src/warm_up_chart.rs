//! The chart of the warm-up: what share of the pieces of work is fast by when.
//!
//! Design: a panel for the rows and one for the programs; to the right goes processor time since the process
//! began, on a logarithmic axis, and up the share of the pieces of work that have reached 90 % of their final
//! speed by then, as a line of steps for each contender. A line that ends below the top says that some were
//! not steady, or later than the axis. Invariant: the file is complete by itself, without fonts or scripts.
//!
//! Example: a contender that is fast after 10 and after 40 ms has steps up to a half and to the top.

use std::fmt::Write as _;

use crate::contenders::Contender;
use crate::warm_up_report::{Panel, Results};

/// Where the axis begins and ends, in seconds.
const FIRST: f64 = 0.001;
const LAST: f64 = 3.0;
const TICKS: [(f64, &str); 8] = [
    (0.001, "1 ms"),
    (0.003, "3 ms"),
    (0.01, "10 ms"),
    (0.03, "30 ms"),
    (0.1, "100 ms"),
    (0.3, "300 ms"),
    (1.0, "1 s"),
    (3.0, "3 s"),
];
const WIDTH: f64 = 440.0;
const HEIGHT: f64 = 260.0;
const LEFT: f64 = 60.0;
const TOP: f64 = 76.0;
const BETWEEN: f64 = 60.0;

/// The chart of all panels; nothing if nobody became fast.
pub fn svg(results: &Results) -> Option<String> {
    let has_line = |contender: &&Contender| {
        results
            .panels
            .iter()
            .any(|panel| panel.works.iter().any(|work| work.warm_up(contender.name).is_some()))
    };
    let lines: Vec<&Contender> = results.contenders.iter().filter(has_line).collect();
    if lines.is_empty() {
        return None;
    }
    let count = results.panels.len() as f64;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.0}\" height=\"{:.0}\" font-family=\"sans-serif\" \
         font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        LEFT + count * (WIDTH + BETWEEN),
        TOP + HEIGHT + 50.0
    );
    legend(&mut out, &lines);
    for (index, panel) in results.panels.iter().enumerate() {
        let left = LEFT + index as f64 * (WIDTH + BETWEEN);
        axes(&mut out, panel, left);
        for contender in &lines {
            draw_line(&mut out, panel, contender, left);
        }
    }
    out += "</svg>\n";
    Some(out)
}

fn legend(out: &mut String, lines: &[&Contender]) {
    let mut x = LEFT;
    for contender in lines {
        let _ = writeln!(
            out,
            "<path d=\"M{x:.0} 24h16\" stroke=\"{}\" stroke-width=\"3\"/><text x=\"{:.0}\" y=\"28\">{}</text>",
            colour(contender),
            x + 21.0,
            contender.name
        );
        x += 40.0 + 6.5 * contender.name.len() as f64;
    }
}

/// What has no colour in the other chart is grey here.
fn colour(contender: &Contender) -> &'static str {
    contender.colour.unwrap_or("#888888")
}

/// Where a time stands, from the axis's beginning.
fn place(seconds: f64) -> f64 {
    WIDTH * (seconds.max(FIRST) / FIRST).ln() / (LAST / FIRST).ln()
}

fn axes(out: &mut String, panel: &Panel, left: f64) {
    let bottom = TOP + HEIGHT;
    let _ = writeln!(
        out,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-weight=\"bold\">{}: share at 90 % of the \
         final speed</text>",
        left + WIDTH / 2.0,
        TOP - 14.0,
        panel.title()
    );
    for quarter in 0..=4 {
        let y = bottom - HEIGHT * f64::from(quarter) / 4.0;
        let _ = writeln!(
            out,
            "<line x1=\"{left:.1}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\" stroke=\"#dddddd\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{} %</text>",
            left + WIDTH,
            left - 6.0,
            y + 4.0,
            25 * quarter
        );
    }
    for (seconds, label) in TICKS {
        let x = left + place(seconds);
        let _ = writeln!(
            out,
            "<line x1=\"{x:.1}\" y1=\"{TOP}\" x2=\"{x:.1}\" y2=\"{bottom:.1}\" stroke=\"#dddddd\"/>\
             <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{label}</text>",
            bottom + 16.0
        );
    }
    let _ = writeln!(
        out,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">processor time since the process began</text>",
        left + WIDTH / 2.0,
        bottom + 34.0
    );
}

/// The steps of one contender, if it did any of this work.
fn draw_line(out: &mut String, panel: &Panel, contender: &Contender, left: f64) {
    let all = panel.works.iter().filter(|work| work.of(contender.name).is_some()).count();
    let mut times: Vec<f64> = panel
        .works
        .iter()
        .filter_map(|work| work.warm_up(contender.name))
        .map(|found| found.seconds)
        .collect();
    times.sort_by(f64::total_cmp);
    if times.is_empty() {
        return;
    }
    let bottom = TOP + HEIGHT;
    let mut path = format!("M{left:.1} {bottom:.1}");
    for (index, seconds) in times.iter().enumerate().filter(|(_, seconds)| **seconds <= LAST) {
        let y = bottom - HEIGHT * (index + 1) as f64 / all as f64;
        let _ = write!(path, "H{:.1}V{y:.1}", left + place(*seconds));
    }
    let _ = writeln!(
        out,
        "<path class=\"steps\" d=\"{path}H{:.1}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"><title>{}, {}: \
         {} of {all}</title></path>",
        left + WIDTH,
        colour(contender),
        contender.name,
        panel.title(),
        times.len()
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contenders::CONTENDERS;
    use crate::warm_up::{MeasuredWork, Outcome, WarmUp};
    use crate::warm_up_report::Kind;

    fn work(times: &[(&'static str, Option<f64>)]) -> MeasuredWork {
        let of = |&(contender, seconds): &(&'static str, Option<f64>)| Outcome {
            contender,
            warm_up: seconds.map(|seconds| WarmUp { calls: 1, seconds, last: 0.001, lost: 0.0 }),
            ..Outcome::default()
        };
        MeasuredWork { name: "x".into(), by_contender: times.iter().map(of).collect() }
    }

    fn results(rows: Vec<MeasuredWork>, programs: Vec<MeasuredWork>) -> Results {
        let panels = [(Kind::Rows, rows), (Kind::Programs, programs)];
        let panels = panels.into_iter().map(|(kind, works)| Panel { kind, works }).collect();
        Results { contenders: CONTENDERS.to_vec(), left_out: Vec::new(), panels, how: String::new() }
    }

    #[test]
    fn each_contender_has_a_line_of_steps() {
        let rows = vec![
            work(&[("tracelift", Some(0.001)), ("luajit", Some(3.0)), ("pypy3", None)]),
            work(&[("tracelift", Some(0.003)), ("luajit", Some(9.0)), ("pypy3", Some(0.1))]),
        ];
        let programs = vec![work(&[("tracelift", Some(0.01)), ("luajit", Some(0.01))])];
        let chart = svg(&results(rows, programs)).expect("somebody is fast");
        assert_eq!(chart.matches("class=\"steps\"").count(), 5, "{chart}");
        // Both steps of a contender; the last one is drawn on to the axis's end.
        assert!(chart.contains("d=\"M60.0 336.0H60.0V206.0H120.4V76.0H500.0\""), "{chart}");
        // What is later than the axis does not reach the top.
        assert!(chart.contains("d=\"M60.0 336.0H500.0V206.0H500.0\""), "{chart}");
        assert!(chart.contains("pypy3, rows of the paper: 1 of 2"), "{chart}");
    }

    #[test]
    fn there_is_no_chart_of_nobody() {
        assert_eq!(svg(&results(vec![work(&[("tracelift", None)])], Vec::new())), None);
    }
}
