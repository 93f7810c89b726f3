//! The chart: grouped bars relative to gcc, in the manner of the paper's Figure 10.
//!
//! Design: one group for each row, one bar for each contender, from top to bottom; the axis ends at ten times
//! gcc, and a bar that is longer is cut there and says how long it is. Interpreters are not in it: they would
//! only say so. Invariant: the file is complete by itself, without fonts or scripts.
//!
//! Example: `svg(&results)` of one row and two contenders has two `<rect>` with a `<title>` each.

use std::fmt::Write as _;

use crate::contenders::Contender;
use crate::measure::MeasuredRow;
use crate::report::Results;
use crate::rows::Group;

/// The axis ends here.
const LAST: f64 = 10.0;
const BAR: f64 = 9.0;
const GAP: f64 = 12.0;
const LEFT: f64 = 250.0;
const WIDTH: f64 = 560.0;
const TOP: f64 = 56.0;

/// The chart of the paper's rows; nothing without gcc.
pub fn svg(results: &Results) -> Option<String> {
    let rows: Vec<&MeasuredRow> = results
        .rows
        .iter()
        .filter(|row| row.row.group == Group::Paper && Results::seconds(row, "gcc").is_some())
        .collect();
    let bars: Vec<(&Contender, &str)> = results
        .contenders
        .iter()
        .filter_map(|contender| Some((contender, contender.colour?)))
        .filter(|(contender, _)| rows.iter().any(|row| Results::seconds(row, contender.name).is_some()))
        .collect();
    if rows.is_empty() {
        return None;
    }
    let group = BAR * bars.len() as f64 + GAP;
    let bottom = TOP + group * rows.len() as f64;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.0}\" height=\"{:.0}\" font-family=\"sans-serif\" \
         font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        LEFT + WIDTH + 70.0,
        bottom + 44.0
    );
    legend(&mut out, &bars);
    for tick in 0..=LAST as u32 {
        let x = LEFT + WIDTH * f64::from(tick) / LAST;
        let colour = if tick == 1 { "#888888" } else { "#dddddd" };
        let _ = writeln!(
            out,
            "<line x1=\"{x:.1}\" y1=\"{TOP}\" x2=\"{x:.1}\" y2=\"{bottom:.1}\" stroke=\"{colour}\"/>\
             <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{tick}</text>",
            bottom + 16.0
        );
    }
    let _ = writeln!(
        out,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">time relative to gcc -O3 (shorter is faster)</text>",
        LEFT + WIDTH / 2.0,
        bottom + 34.0
    );
    for (index, row) in rows.iter().enumerate() {
        let top = TOP + group * index as f64 + GAP / 2.0;
        draw_row(&mut out, row, &bars, top);
    }
    out += "</svg>\n";
    Some(out)
}

fn legend(out: &mut String, bars: &[(&Contender, &str)]) {
    let mut x = 20.0;
    for (contender, colour) in bars {
        let _ = writeln!(
            out,
            "<path d=\"M{x:.0} 18h12v12h-12z\" fill=\"{colour}\"/><text x=\"{:.0}\" y=\"28\">{}</text>",
            x + 17.0,
            escape(contender.name)
        );
        x += 34.0 + 6.5 * contender.name.len() as f64;
    }
}

fn draw_row(out: &mut String, row: &MeasuredRow, bars: &[(&Contender, &str)], top: f64) {
    let label = escape(&row.label);
    let _ = writeln!(
        out,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
        LEFT - 8.0,
        top + BAR * bars.len() as f64 / 2.0 + 4.0
    );
    for (index, (contender, colour)) in bars.iter().enumerate() {
        let Some(ratio) = Results::ratio(row, contender.name, "gcc") else {
            continue;
        };
        let y = top + BAR * index as f64;
        let width = WIDTH * ratio.min(LAST) / LAST;
        let _ = writeln!(
            out,
            "<rect x=\"{LEFT}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{:.1}\" fill=\"{colour}\">\
             <title>{}, {label}: {ratio:.2}</title></rect>",
            BAR - 1.0,
            escape(contender.name)
        );
        if ratio > LAST {
            let _ = writeln!(
                out,
                "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"8\">{ratio:.1}x</text>",
                LEFT + WIDTH + 4.0,
                y + BAR - 2.0
            );
        }
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contenders::CONTENDERS;
    use crate::measure::Measured;
    use crate::rows::{Size, ROWS};

    fn row(times: &[(&'static str, f64)]) -> MeasuredRow {
        let of =
            |&(contender, seconds)| Measured { contender, seconds: Some(seconds), ..Measured::default() };
        let by_contender = times.iter().map(of).collect();
        MeasuredRow { row: ROWS[0], label: ROWS[0].label(Size::Full), by_contender, statistics: None }
    }

    fn results(rows: Vec<MeasuredRow>) -> Results {
        let (contenders, how) = (CONTENDERS.to_vec(), String::new());
        Results { contenders, left_out: Vec::new(), rows, scripts: Vec::new(), how }
    }

    #[test]
    fn long_bars_are_cut() {
        let chart = svg(&results(vec![row(&[("gcc", 1.0), ("tracelift", 25.0), ("lua", 60.0)])]));
        let chart = chart.expect("there is a row");
        assert_eq!(chart.matches("<title>").count(), 2, "interpreters have no bar:\n{chart}");
        assert!(chart.contains(">25.0x</text>") && chart.contains("width=\"560.0\""), "{chart}");
    }

    #[test]
    fn there_is_no_chart_without_gcc() {
        assert_eq!(svg(&results(vec![row(&[("tracelift", 2.0)])])), None);
    }
}
