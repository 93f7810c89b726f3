//! What is noted while the program runs, for the view alone.
//!
//! Problem: most of what the page says is forgotten by then: why attempts failed and where, back edges of a
//! loop before its code, traces that were freed. Design: the service calls one function here at each such
//! event; a [`Seen`] collects what is known of a location, a [`TraceNote`] what of a trace. When either is
//! forgotten its last state is put into it. Code counts its entries and iterations in a trace's cells.
//! Invariant: cells stay where they are as long as the notes, which outlive all code.
//!
//! ```text
//! loop_7f00: 2,000 back edges, "call of a C function" at app.lua:7 twice; trace 3: 5 entries, 90,000
//! iterations
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use rustc_hash::FxHashMap;
use tracelift_core::{ExitKind, Trace};

use super::functions::{Functions, Place};
use super::text;
use crate::abort::{self, AbortReason};
use crate::ids::{ExitId, ExitPoint, Key, TraceId};
use crate::policy::{LoopState, SideState};
use crate::recorder::Passed;
use crate::tree::{Member, Tree};

/// Back edges of a location from one event to the next, at most.
pub(crate) const LOOKS: u32 = 1000;

/// Iterations, or entries, of a location that is not worth a row of its own.
const FEW: u64 = 10 * LOOKS as u64;

/// Cells that the code of a trace counts in.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    pub entries: u64,
    pub iterations: u64,
}

/// Attempts that failed in one way.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Failure {
    pub reason: String,
    pub sentence: String,
    /// Where the recording was then.
    pub place: Option<Place>,
}

/// How often attempts failed in which ways.
pub(crate) type Failures = BTreeMap<Failure, u64>;

/// What is known of a location.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub place: Option<Place>,
    pub key: Key,
    pub is_entry: bool,
    /// Back edges, or entries, that the interpreter took and that were credited to it.
    pub interpreted: u64,
    pub recordings: u64,
    pub failures: Failures,
    /// Ticks in machine code that was entered here, up to the exit.
    pub machine_ticks: u64,
    /// Ticks in the interpreter, from the last event to this location's.
    pub interpreter_ticks: u64,
    /// What it was when it was forgotten.
    pub last: Last,
}

/// The state of a location, when the page is made or when it is forgotten.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Last {
    pub state: LoopState,
    pub rests: u32,
    /// Nanoseconds of an iteration in the interpreter.
    pub ns: Option<f64>,
}

/// An exit, when the page is made or when its trace is freed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExitNote {
    pub kind: ExitKind,
    /// How often the host was led here.
    pub count: u64,
    /// The trace that it leads to, or why to none.
    pub side: Option<SideState>,
}

/// What is known of a trace. So many fields: parts of it come at different times.
#[derive(Debug)]
pub(crate) struct TraceNote {
    pub number: TraceId,
    pub cells: Box<Cells>,
    /// The location of its tree, as the place that this was; and that where it goes on at its end.
    pub place: Option<Place>,
    pub key: Key,
    pub goes_on_at: Option<Place>,
    /// Loops whose back edges it passes without a jump of its own, and how many.
    pub passed: Vec<(Place, u32)>,
    /// The bytecodes that were recorded, and how many operations there were before each.
    pub steps: Vec<(Place, u32)>,
    pub recorded: Trace,
    /// The optimized trace.
    pub source: Option<Arc<Member>>,
    /// For each of its instructions the place where the interpreter would go on.
    pub places: Vec<Option<Place>>,
    pub listing: String,
    pub side_failures: BTreeMap<ExitId, Failures>,
    /// What it was when it was freed; nothing as long as it is alive.
    pub last: Option<LastOfTrace>,
}

/// The state of a trace, when the page is made or when it is freed.
#[derive(Clone, Debug, Default)]
pub(crate) struct LastOfTrace {
    pub parent: Option<ExitPoint>,
    pub root: TraceId,
    pub kind: &'static str,
    pub ops: (u64, u64),
    pub code_bytes: u64,
    pub compile_us: u64,
    /// Back edges of inner loops from one jump to the next.
    pub edges: u32,
    pub is_loop: bool,
    pub unit: Option<u32>,
    pub region: Vec<TraceId>,
    pub exits: Vec<ExitNote>,
    /// Whether it is entered no more.
    pub is_given_up: bool,
}

/// All notes.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    pub functions: Functions,
    pub alive: FxHashMap<Key, Seen>,
    /// Locations that were forgotten, and of which there is something to tell.
    pub gone: Vec<Seen>,
    /// Back edges of those of which there is not.
    pub others: u64,
    pub traces: Vec<TraceNote>,
    by_number: FxHashMap<TraceId, usize>,
    /// When the interpreter went on after the last event.
    since: Option<u64>,
    /// Where code was entered last.
    entered: Key,
    /// The bytecodes of the recording that has ended last.
    steps: Vec<(u64, u32)>,
    /// The trace that is being compiled.
    pending: Option<TraceNote>,
}

impl Notes {
    /// What is known of a location, from now on something.
    pub fn seen(&mut self, key: Key) -> &mut Seen {
        let functions = &self.functions;
        self.alive.entry(key).or_insert_with(|| {
            let place = functions.find(key as u64);
            Seen { place, key, ..Seen::default() }
        })
    }

    /// The interpreter has come to a location: what it took since the last event counts as that location's.
    /// As hot locations are come to often, the sums say where the time went, as samples do.
    pub fn arrives(&mut self, key: Key, now: u64) {
        if let Some(since) = self.since.take() {
            self.seen(key).interpreter_ticks += now.saturating_sub(since);
        }
    }

    /// Code is entered at a location; or is about to be, and is not for want of memory.
    pub fn enters(&mut self, key: Key, now: u64) {
        self.entered = key;
        self.since = Some(now);
    }

    /// Code was left. What it has called of the host in between counts as its own.
    pub fn leaves(&mut self, now: u64) {
        if let (Some(since), Some(seen)) = (self.since, self.alive.get_mut(&self.entered)) {
            seen.machine_ticks += now.saturating_sub(since);
        }
        self.since = Some(now);
    }

    /// The interpreter goes on.
    pub fn goes_on(&mut self, now: u64) {
        self.since = Some(now);
    }

    /// A counter has fired at a location.
    pub fn ticks(&mut self, key: Key, is_entry: bool, ticks: u64) {
        let seen = self.seen(key);
        seen.is_entry = is_entry;
        seen.interpreted += ticks;
    }

    /// Keys in this range are those of other locations from now on. `last` says what a location was.
    pub fn forget(&mut self, low: Key, high: Key, last: impl Fn(Key) -> Last) {
        let gone: Vec<Key> = self.alive.keys().copied().filter(|key| (low..high).contains(key)).collect();
        for key in gone {
            let Some(seen) = self.alive.remove(&key) else { continue };
            let last = last(key);
            // What ran little and was never recorded is told of in one sum.
            if seen.interpreted < FEW && seen.recordings == 0 && last.ns.is_none() {
                self.others += if seen.is_entry { 0 } else { seen.interpreted };
                continue;
            }
            seen.place.into_iter().for_each(|place| self.functions.refer_to(place));
            self.gone.push(Seen { last, ..seen });
        }
        self.functions.forget(low, high);
    }

    /// A recording has ended, whatever becomes of it.
    pub fn recorded(&mut self, key: Key, steps: Vec<(u64, u32)>) {
        self.seen(key).recordings += 1;
        self.steps = steps;
    }

    fn failure(&mut self, reason: &AbortReason, sentence: &str) -> Failure {
        let last = self.steps.last().copied();
        let place = last.and_then(|(address, _)| self.functions.place(address));
        Failure { reason: reason.name().to_string(), sentence: sentence.to_string(), place }
    }

    /// An attempt at a location has failed.
    pub fn failed(&mut self, key: Key, no: &abort::Failure) {
        let failure = self.failure(&no.reason, &no.sentence);
        *self.seen(key).failures.entry(failure).or_default() += 1;
        self.steps.clear();
    }

    /// An attempt at an exit has failed.
    pub fn side_failed(&mut self, at: ExitPoint, no: &abort::Failure) {
        let failure = self.failure(&no.reason, &no.sentence);
        if let Some(note) = self.trace_mut(at.trace) {
            *note.side_failures.entry(at.exit).or_default().entry(failure).or_default() += 1;
        }
        self.steps.clear();
    }

    /// A trace is about to be compiled. The cells are what its code counts in. Returns how many nanoseconds
    /// it took to note that.
    pub fn begin_trace(&mut self, number: TraceId, trace: &Trace, tree: &Tree) -> u64 {
        let start = Instant::now();
        let steps = self.steps.clone();
        let functions = &mut self.functions;
        self.pending = Some(TraceNote {
            number,
            cells: Box::default(),
            place: functions.place(tree.key as u64),
            key: tree.key,
            goes_on_at: tree.link.and_then(|key| functions.place(key as u64)),
            passed: passed_by(&tree.passed, functions),
            recorded: trace.clone(),
            steps: steps.iter().filter_map(|&(at, ops)| Some((functions.place(at)?, ops))).collect(),
            source: None,
            places: Vec::new(),
            listing: String::new(),
            side_failures: BTreeMap::new(),
            last: None,
        });
        start.elapsed().as_nanos() as u64
    }

    /// The cells of the trace that is being compiled: entries and iterations.
    pub fn cells(&mut self) -> Option<[*mut u64; 2]> {
        let cells = &mut *self.pending.as_mut()?.cells;
        Some([&raw mut cells.entries, &raw mut cells.iterations])
    }

    /// It has code. Returns how many nanoseconds it took to note that.
    pub fn end_trace(&mut self, number: TraceId, source: &Arc<Member>, listing: Option<&str>) -> u64 {
        let start = Instant::now();
        let Some(mut note) = self.pending.take().filter(|note| note.number == number) else { return 0 };
        note.source = Some(Arc::clone(source));
        let addresses = text::addresses(&source.trace);
        note.places = addresses.map(|address| self.functions.place(address?)).collect();
        note.listing = listing.unwrap_or_default().to_string();
        self.by_number.insert(number, self.traces.len());
        self.traces.push(note);
        start.elapsed().as_nanos() as u64
    }

    /// A trace that has, or had, code.
    pub fn trace_mut(&mut self, number: TraceId) -> Option<&mut TraceNote> {
        self.traces.get_mut(*self.by_number.get(&number)?)
    }

    /// Iterations of a trace's code.
    pub fn iterations_of(&self, number: TraceId) -> u64 {
        self.by_number.get(&number).map_or(0, |&at| self.traces[at].cells.iterations)
    }

    /// Iterations that ran as machine code.
    pub fn iterations(&self) -> u64 {
        self.traces.iter().map(|note| note.cells.iterations).sum()
    }
}

fn passed_by(passed: &[Passed], functions: &mut Functions) -> Vec<(Place, u32)> {
    let passed = passed.iter().filter(|passed| passed.edges > 0);
    passed.filter_map(|passed| Some((functions.place(passed.head as u64)?, passed.edges))).collect()
}
