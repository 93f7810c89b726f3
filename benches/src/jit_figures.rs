//! What the JIT says about a run, read from `--stats=json` by name.
//!
//! Problem: several tables need the same few figures, and the command's statistics grow. Design: this is the
//! only place that knows the statistics' names; a figure that a command does not give is absent, and tables
//! show "-". Invariant: a share lies between 0 and 1.
//!
//! Example: `{"entries": 10, "compiled_iterations": 50, "interpreted_back_edges": 50, …}` has five iterations
//! per entry, and half of all iterations are machine code's.

use anyhow::Context;
use serde_json::Value;

/// The figures.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JitFigures {
    /// Iterations of machine code for each time that it was entered.
    pub iterations_per_entry: Option<f64>,
    /// The share of machine code in all iterations.
    pub iteration_share: Option<f64>,
    /// The share of machine code in the program's processor time.
    pub time_share: Option<f64>,
    /// Seconds of processor time that went into compiling, recording included.
    pub compile_seconds: Option<f64>,
    /// Loops that were compiled.
    pub traces: Option<f64>,
    /// Side traces that were compiled.
    pub side_traces: Option<f64>,
    /// Bytes of machine code.
    pub code_bytes: Option<f64>,
    /// Times that machine code was entered.
    pub entries: Option<f64>,
}

impl JitFigures {
    /// Reads them.
    pub fn of(statistics: &Value) -> JitFigures {
        let number = |path: &str| statistics.pointer(path)?.as_f64();
        let share = |part: Option<f64>, rest: Option<f64>| {
            let (part, rest) = (part?, rest?);
            (part + rest > 0.0).then(|| part / (part + rest))
        };
        let entries = number("/entries");
        let per_entry = || Some(number("/compiled_iterations")? / entries.filter(|entries| *entries > 0.0)?);
        JitFigures {
            iterations_per_entry: number("/iterations_per_entry").or_else(per_entry),
            iteration_share: number("/compiled_share")
                .or_else(|| share(number("/compiled_iterations"), number("/interpreted_back_edges"))),
            time_share: number("/time/machine_share"),
            compile_seconds: number("/time/compiling").zip(number("/time/recording")).map(|(a, b)| a + b),
            traces: number("/compile/traces"),
            side_traces: number("/compile/side_traces"),
            code_bytes: number("/compile/code_bytes"),
            entries,
        }
    }
}

/// Operations of one of seed 002's groups, before and after the optimizer, over all traces.
pub fn operations(statistics: &Value, group: &str) -> Option<(u64, u64)> {
    let count = |side: &str| statistics.pointer(&format!("/compile/operations/{side}/{group}"))?.as_u64();
    Some((count("before")?, count("after")?))
}

/// The statistics at the end of what a process wrote to standard error.
pub fn read_statistics(stderr: &str) -> anyhow::Result<Value> {
    let start = match stderr.find("\n{\n") {
        Some(before) => before + 1,
        None => stderr.find("{\n").context("no statistics")?,
    };
    Ok(serde_json::from_str(&stderr[start..])?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn figures_are_read_by_name() {
        let figures = JitFigures::of(&json!({
            "entries": 10,
            "compiled_iterations": 50,
            "interpreted_back_edges": 150,
            "time": { "machine_share": 0.75, "compiling": 0.375, "recording": 0.125 },
            "compile": { "traces": 2, "side_traces": 1, "code_bytes": 900 },
        }));
        assert_eq!(
            figures,
            JitFigures {
                iterations_per_entry: Some(5.0),
                iteration_share: Some(0.25),
                time_share: Some(0.75),
                compile_seconds: Some(0.5),
                traces: Some(2.0),
                side_traces: Some(1.0),
                code_bytes: Some(900.0),
                entries: Some(10.0),
            }
        );
    }

    #[test]
    fn what_is_not_there_is_absent() {
        assert_eq!(JitFigures::of(&json!({})), JitFigures::default());
        let idle =
            JitFigures::of(&json!({ "entries": 0, "compiled_iterations": 0, "interpreted_back_edges": 0 }));
        assert_eq!((idle.iterations_per_entry, idle.iteration_share), (None, None));
    }

    #[test]
    fn statistics_stand_at_the_end() {
        let text = "a script's own {\nwords\n{\n  \"entries\": 3\n}\n";
        assert_eq!(read_statistics("{\n \"entries\": 3\n}\n").expect("JSON"), json!({ "entries": 3 }));
        assert!(read_statistics("nothing").is_err());
        assert_eq!(read_statistics(text).expect("JSON"), json!({ "entries": 3 }));
    }
}
