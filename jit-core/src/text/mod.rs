//! The text form of traces, schemas and worlds; `print` and `parse` are inverse.
//!
//! Problem: tests, dumps, bug reports and papers all speak of traces, and each needs one that a person can
//! type and a program can read back. Design: a *trace file* ([`TraceFile`]) holds declarations, a world,
//! traces, and runs with their outcome. It looks like the listings of the seeds: `i4 = int_add(i2, i3)`,
//! `jump(L0, p0, p5)`. The op table decides names, arguments and types; parser and printer only know where
//! each kind of payload stands. `docs/trace-language.md` has the grammar.
//!
//! Invariants: parsing never panics, whatever the input; `parse(print(file))` prints the same text again; a
//! failing case that is printed can be committed as a test.
//!
//! ```
//! use tracelift_core::text::{parse_file, print_file};
//! let text = "L0(i0):\ni1 = i0 + 1\njump(L0, i1)\nrun: 3\n";
//! let file = parse_file(text, &|_| None).unwrap();
//! assert_eq!(print_file(&file), "L0(i0):\ni1 = int_add(i0, 1)\njump(L0, i1)\n\nrun: 3\n");
//! assert_eq!(parse_file("L0():\ni1 = int_ad(1, 2)", &|_| None).unwrap_err().to_string(),
//!     "line 2, column 6: unknown op 'int_ad'");
//! ```

mod auto_layout;
mod body;
mod compare;
mod decl;
mod lex;
mod names;
mod operand;
mod parse;
mod print;
mod print_layouts;
mod print_schema;
mod snap;

pub use compare::{equal_up_to_renaming, print_trace_canonical};
pub use lex::Directive;
pub use parse::{directives, parse_file, parse_trace};
pub use print::{inst_lines, print_inst, print_trace, print_trace_in, value_names};
pub use print_schema::{print_file, print_schema, print_world};

use crate::ir::Trace;
use crate::schema::{FuncId, Schema};
use crate::types::{Bits, Type};
use crate::world_spec::WorldSpec;

/// Why a text is no trace file.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct ParseError {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong there.
    pub message: String,
}

impl ParseError {
    fn at(token: &lex::Token, message: impl Into<String>) -> ParseError {
        ParseError { line: token.line, column: token.column, message: message.into() }
    }
}

/// What a trace file holds.
#[derive(Clone, Debug, Default)]
pub struct TraceFile {
    /// Its declarations.
    pub schema: Schema,
    /// Its objects.
    pub world: WorldSpec,
    /// Its traces, in order.
    pub traces: Vec<Trace>,
    /// Its runs, in order.
    pub runs: Vec<Run>,
    /// Comments that begin with `;`, in order: what tests say about the file.
    pub directives: Vec<Directive>,
    /// The names after `native`, so that the file can be printed with them.
    pub natives: Vec<(FuncId, String)>,
    /// For each trace, the source line of each instruction.
    pub inst_lines: Vec<Vec<usize>>,
}

/// A `run:` line: inputs of a trace, and what comes of it.
#[derive(Clone, PartialEq, Debug)]
pub struct Run {
    /// Its line.
    pub line: usize,
    /// The trace that is run: the last one above the line.
    pub trace: usize,
    /// One value for each input of the trace.
    pub inputs: Vec<RunValue>,
    /// What must come of it.
    pub outcome: Outcome,
}

/// A value of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RunValue {
    /// Bits of that type.
    Bits(Type, Bits),
    /// An object of the world, by number.
    Object(u32),
    /// Any value (`_`): only in outcomes, for example for a fresh object.
    Any,
}

/// What comes of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// `-> finish(7)`: the trace finishes with these results.
    Finish(Vec<RunValue>),
    /// `-> exit(2)`: the trace is left by the exit with that number (its position in [`Trace::exits`]).
    Exit(u32),
    /// No `->`: only the ways to run the trace are compared with one another.
    Any,
}

impl TraceFile {
    /// The text after each `; key …` comment that stands alone, for a key such as `test`.
    pub fn headers<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        self.directives.iter().filter(|d| d.alone).filter_map(move |d| {
            let rest = d.text.strip_prefix(key)?;
            (rest.is_empty() || rest.starts_with([' ', ':'])).then(|| rest.trim_start_matches([':', ' ']))
        })
    }

    /// The comment block after `; expect:`, without the `; ` before each line.
    pub fn expectation(&self) -> Option<String> {
        let start = self.directives.iter().position(|d| d.alone && d.text == "expect:")?;
        let first = self.directives[start].line;
        let block = self.directives[start + 1..].iter().enumerate();
        let lines = block.take_while(|(i, d)| d.alone && d.line == first + 1 + i);
        Some(lines.map(|(_, d)| format!("{}\n", d.text)).collect())
    }
}

/// The source with its `; expect:` block replaced by `new` (or with one at its end): for `UPDATE_EXPECT=1`.
pub fn with_expectation(source: &str, new: &str) -> String {
    let is_comment = |line: &&str| line.trim_start().starts_with(';');
    let mut lines = source.lines();
    let mut kept: Vec<&str> = lines.by_ref().take_while(|line| line.trim() != "; expect:").collect();
    let rest: Vec<&str> = lines.skip_while(is_comment).collect();
    while rest.is_empty() && kept.last().is_some_and(|line| line.trim().is_empty()) {
        kept.pop();
    }
    let gap = if rest.is_empty() { "\n" } else { "" };
    let block: String = new.lines().map(|line| format!("; {line}\n").replace("; \n", ";\n")).collect();
    let joined = |lines: &[&str]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    format!("{}{gap}; expect:\n{block}{}", joined(&kept), joined(&rest))
}
