//! What the page shows, as plain data: the same that is given out as JSON.
//!
//! Problem: a page must be made of something that tests can write down and other programs can read. Design:
//! structs of numbers and texts, with no reference to the service; what belongs together names one another by
//! number. Texts are for people, and are escaped by whoever renders them. Invariant: each number of a file or
//! of a trace that stands here is one that is here.
//!
//! Example: `Model { files: vec![File { name: "app.lua".into(), .. }], .. }`

use serde::Serialize;

use crate::ids::TraceId;
use crate::stats::Stats;

/// All of it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Model {
    /// The counters of the run.
    pub stats: Stats,
    /// Where the program's processor time went.
    pub time: Split,
    /// Files and texts whose functions were met.
    pub files: Vec<File>,
    /// Loops and entries of functions, those that took longest first.
    pub locations: Vec<Location>,
    /// Traces, by number.
    pub traces: Vec<Trace>,
    /// How many functions the host has told of.
    pub functions: usize,
}

/// Parts of the program's processor time, in seconds.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Split {
    /// In machine code of traces, and what that calls.
    pub machine_s: f64,
    /// Recording and compiling.
    pub compiling_s: f64,
    /// The interpreter, the library and all else.
    pub rest_s: f64,
}

/// A line of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The file's index.
    pub file: usize,
    /// The line, from 1.
    pub line: u32,
    /// The function, for people.
    pub function: String,
    /// All of it, for people.
    pub name: String,
}

/// A file, or a text that the program has compiled.
#[derive(Clone, Debug, Default, Serialize)]
pub struct File {
    /// Its name, short if that is no other's.
    pub name: String,
    /// All of its path.
    pub path: String,
    /// Its lines.
    pub lines: Vec<Line>,
    /// Why there are none.
    pub missing: Option<String>,
}

/// A line of a program.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Line {
    /// Its text.
    pub text: String,
    /// Instructions of it that ran as machine code, estimated.
    pub machine: u64,
    /// Instructions of it that the interpreter ran, estimated.
    pub interpreted: u64,
    /// Traces that pass it.
    pub traces: Vec<TraceId>,
    /// Why recordings ended here.
    pub failures: Vec<Failure>,
}

/// How well a location fares.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// It runs as machine code, or is not worth any.
    #[default]
    Good,
    /// A part of it is interpreted.
    Fair,
    /// It is interpreted, although it is hot.
    Bad,
}

/// A loop's head, or where a function is entered. So many fields: they are a row of a table.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Location {
    /// Where it is; nothing if the host has not told of the function.
    pub place: Option<Place>,
    /// Its key, for a host's author.
    pub key: String,
    /// `loop`, `function`, or `after a call`.
    pub kind: &'static str,
    /// How well it fares.
    pub level: Level,
    /// What became of it.
    pub verdict: String,
    /// What that means for the program, or what could be done.
    pub advice: String,
    /// The line that it is about: where recordings ended, or where machine code is left most.
    pub cause: Option<Place>,
    /// Iterations that the interpreter ran, or entries.
    pub interpreted: u64,
    /// Iterations that ran as machine code, or entries of it.
    pub machine: u64,
    /// Seconds in the interpreter from the last event to here, whatever ran.
    pub interpreter_s: f64,
    /// Seconds in machine code that was entered here: all entries are timed.
    pub machine_s: f64,
    /// How often machine code of its tree was left to the interpreter, other than by the loop's end.
    pub left: u64,
    /// Attempts to record it that failed.
    pub failures: Vec<Failure>,
    /// Its traces, each with a tree of side traces.
    pub roots: Vec<TraceId>,
}

/// Attempts that failed in one way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// The reason, as statistics count it.
    pub reason: String,
    /// What it means.
    pub meaning: String,
    /// Where the recording was.
    pub place: Option<Place>,
    /// How often.
    pub count: u64,
}

/// A trace. So many fields: all that there is to say of one.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Trace {
    /// Its number.
    pub number: TraceId,
    /// What it begins with: `loop`, `function`, `after a call`, `unit`, `side trace`.
    pub kind: &'static str,
    /// Where it begins.
    pub place: Option<Place>,
    /// The trace and the exit that it hangs on.
    pub parent: Option<(TraceId, u32)>,
    /// The root of its tree.
    pub root: TraceId,
    /// Where it goes on at its end, if it is no loop.
    pub goes_on_at: Option<Place>,
    /// How often the program came to it.
    pub entries: u64,
    /// Iterations that it ran.
    pub iterations: u64,
    /// Operations recorded, and left after optimization.
    pub ops: (u64, u64),
    /// Bytes of machine code.
    pub code_bytes: u64,
    /// Time that compiling it took, in microseconds.
    pub compile_us: u64,
    /// The number of the function that it belongs to, if code calls that natively.
    pub unit: Option<u32>,
    /// In a root: the traces that became one function with it.
    pub region: Vec<TraceId>,
    /// What it is now.
    pub state: &'static str,
    /// What was recorded.
    pub recorded: Vec<Op>,
    /// What was left of it.
    pub optimized: Vec<Op>,
    /// Its machine code, with the operations.
    pub code: String,
    /// Its exits, by number.
    pub exits: Vec<Exit>,
    /// Lines that it passes: files and lines.
    pub lines: Vec<(usize, u32)>,
}

/// An operation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Op {
    /// The line of the program that it is for: file and line.
    pub at: Option<(usize, u32)>,
    /// The operation.
    pub text: String,
}

/// An exit of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Exit {
    /// Its number.
    pub number: u32,
    /// Its kind, as statistics count it.
    pub kind: &'static str,
    /// Where the interpreter goes on.
    pub place: Option<Place>,
    /// What is tested there.
    pub test: String,
    /// What it means that it is taken.
    pub meaning: String,
    /// How often the interpreter went on there.
    pub to_interpreter: u64,
    /// How often a side trace went on there.
    pub to_side: u64,
    /// The last one that did.
    pub side: Option<TraceId>,
    /// Attempts to record one that failed.
    pub failures: Vec<Failure>,
}

impl Exit {
    /// How often it was taken.
    pub fn taken(&self) -> u64 {
        self.to_interpreter + self.to_side
    }
}

impl Model {
    /// A trace by its number.
    pub fn trace(&self, number: TraceId) -> Option<&Trace> {
        let at = self.traces.binary_search_by_key(&number, |trace| trace.number).ok()?;
        Some(&self.traces[at])
    }

    /// A root and all that hangs on it, outermost first, each with how deep it hangs.
    pub fn tree(&self, root: TraceId) -> Vec<(&Trace, usize)> {
        let mut tree = Vec::new();
        let mut todo = vec![(root, 0)];
        while let Some((number, depth)) = todo.pop() {
            let Some(trace) = self.trace(number) else { continue };
            tree.push((trace, depth));
            let mut sides: Vec<&Trace> = self.traces.iter().filter(|side| side.is_side_of(number)).collect();
            // The exit that is taken least is put first, and so comes last.
            sides.sort_by_key(|side| side.entries);
            todo.extend(sides.iter().map(|side| (side.number, depth + 1)));
        }
        tree
    }
}

impl Trace {
    fn is_side_of(&self, parent: TraceId) -> bool {
        self.parent.is_some_and(|(trace, _)| trace == parent && self.number > trace)
    }
}
