//! From notes to the model: what is done when something is forgotten, and at the end.
//!
//! Problem: a trace's exits and a loop's state lie in the service and change until the last moment; what was
//! freed before has only its notes. Design: both come to the same records. When a location or a trace is
//! forgotten its last state is put into its note; at the end that is done with all that are alive. Then
//! nothing but notes is read, and places become lines of files. Invariant: how often an exit was taken is the
//! number of times that the host was led there and that side traces which hang on it were entered: both are
//! counted, neither is estimated.
//!
//! ```text
//! exit 2 of trace 0: 40 times to the host, trace 3 hangs on it and has 9,960 entries  ->  10,000
//! ```

use std::collections::BTreeMap;

use tracelift_core::{text, ExitKind, Op, Schema, Trace};

use super::functions::{Functions, Place};
use super::heat::{self, Heat};
use super::model::{self, Level, Model};
use super::notes::{ExitNote, Failures, Last, LastOfTrace, Notes, Seen, TraceNote};
use super::verdict::{self, Facts};
use super::{exits, functions::Told, text as readable};
use crate::ids::{ExitId, Key, TraceId};
use crate::policy::SideState;
use crate::reasons::Reasons;
use crate::stats::{Stats, Time};
use crate::traces::TraceData;
use crate::vm::Vm;

/// A location that takes this share of the program's time in the interpreter is worth a look.
const WORTH_A_LOOK: f64 = 0.05;

impl Vm {
    /// The host has loaded a function; see `tl_view_function`.
    pub fn tell_function(&mut self, told: &Told<'_>) {
        if let Some(notes) = &mut self.notes {
            notes.functions.tell(told);
        }
    }

    /// Keys in this range are forgotten.
    pub(crate) fn note_forgotten(&mut self, low: Key, high: Key) {
        let Some(mut notes) = self.notes.take() else { return };
        notes.forget(low, high, |key| self.last_of(key));
        let gone = self.traces.alive().filter(|(_, trace)| (low..high).contains(&trace.tree.key));
        for (number, trace) in gone {
            let last = self.last_of_trace(number, trace);
            notes.trace_mut(number).into_iter().for_each(|note| note.last = Some(last.clone()));
        }
        self.notes = Some(notes);
    }

    /// A trace is freed, some time after its location was forgotten.
    pub(crate) fn note_freed(&mut self, number: TraceId, trace: &TraceData) {
        let last = self.last_of_trace(number, trace);
        let Some(note) = self.notes.as_mut().and_then(|notes| notes.trace_mut(number)) else { return };
        note.last = Some(match note.last.take() {
            Some(before) => LastOfTrace { kind: before.kind, is_given_up: before.is_given_up, ..last },
            None => last,
        });
    }

    fn last_of(&self, key: Key) -> Last {
        let location = self.locations.get(&key);
        location.map_or(Last::default(), |location| Last {
            state: location.state,
            rests: location.pay.times,
            ns: location.pace.ns(),
        })
    }

    fn last_of_trace(&self, number: TraceId, trace: &TraceData) -> LastOfTrace {
        let tree = &trace.tree;
        let location = self.locations.get(&tree.key);
        let is_given_up = location.is_some_and(|location| location.discarded.contains(&number));
        let exit = |(exit, cell): (usize, &crate::traces::ExitCell)| ExitNote {
            kind: cell.kind,
            count: cell.count,
            side: tree.sides.get(&ExitId(exit as u32)).copied(),
        };
        LastOfTrace {
            parent: tree.parent,
            root: tree.root,
            kind: kind_of(trace, location.is_some_and(|location| location.is_entry)),
            ops: trace.worth.ops,
            code_bytes: trace.generated.code_bytes as u64,
            compile_us: trace.worth.compile_ns / 1000,
            edges: tree.edges,
            is_loop: trace.source.trace.insts.last().is_some_and(|inst| inst.op == Op::Jump),
            unit: tree.unit.map(|unit| unit.0),
            region: trace.region.members.clone(),
            exits: trace.exits.iter().enumerate().map(exit).collect(),
            is_given_up,
        }
    }

    /// All that there is to show; `None` unless configured. The counters are those of this service, to which
    /// a host may have added its own.
    pub fn view(&mut self, stats: Stats) -> Option<Model> {
        let mut notes = self.notes.take()?;
        let keys: Vec<Key> = notes.alive.keys().copied().collect();
        for key in keys {
            let last = self.last_of(key);
            notes.seen(key).last = last;
        }
        for (number, trace) in self.traces.alive() {
            let last = self.last_of_trace(number, trace);
            notes.trace_mut(number).into_iter().for_each(|note| note.last = Some(last.clone()));
        }
        let ticks = 1 << 20;
        let ns_per_tick = self.timing.ticks.peek_ns(ticks).unwrap_or(0.0) / ticks as f64;
        let model = Gathering::new(&notes, self, ns_per_tick).model(stats);
        self.notes = Some(notes);
        Some(model)
    }
}

fn kind_of(trace: &TraceData, is_entry: bool) -> &'static str {
    match (trace.tree.parent, trace.tree.unit) {
        (Some(_), _) => "side trace",
        (None, Some(_)) => "unit",
        (None, None) if !trace.tree.calls.is_empty() && is_entry => "way into a unit",
        (None, None) if is_entry => "function",
        (None, None) => "loop",
    }
}

/// The notes, as they are read.
struct Gathering<'a> {
    notes: &'a Notes,
    schema: &'a Schema,
    reasons: &'a Reasons,
    ns_per_tick: f64,
    is_off: bool,
    /// For each exit: how often side traces that hang on it were entered, and the last of them.
    to_sides: BTreeMap<(TraceId, u32), (u64, TraceId)>,
}

impl<'a> Gathering<'a> {
    fn new(notes: &'a Notes, vm: &'a Vm, ns_per_tick: f64) -> Gathering<'a> {
        let mut to_sides = BTreeMap::new();
        for note in &notes.traces {
            let Some(at) = note.last.as_ref().and_then(|last| last.parent) else { continue };
            let side = to_sides.entry((at.trace, at.exit.0)).or_insert((0, note.number));
            *side = (side.0 + note.cells.entries, note.number);
        }
        let (schema, reasons, is_off) = (&*vm.schema, &vm.names.reasons, !vm.config.enabled);
        Gathering { notes, schema, reasons, ns_per_tick, is_off, to_sides }
    }

    fn functions(&self) -> &'a Functions {
        &self.notes.functions
    }

    fn locations(&self) -> impl Iterator<Item = &'a Seen> {
        self.notes.gone.iter().chain(self.notes.alive.values())
    }

    fn model(&self, stats: Stats) -> Model {
        let traces: Vec<model::Trace> = self.notes.traces.iter().map(|note| self.trace(note)).collect();
        let mut locations: Vec<model::Location> = self
            .locations()
            .filter(|seen| is_shown(seen))
            .map(|seen| self.location(seen, &traces, stats.time.program))
            .collect();
        let time = share_out(&stats.time, &mut locations);
        let cost = |location: &model::Location| location.interpreter_s + location.machine_s;
        locations.sort_by(|a, b| {
            cost(b).total_cmp(&cost(a)).then(b.interpreted.cmp(&a.interpreted)).then(a.key.cmp(&b.key))
        });
        let mut model =
            Model { stats, time, files: Vec::new(), locations, traces, functions: self.functions().count() };
        self.add_files(&mut model);
        model
    }

    fn place(&self, place: Option<Place>) -> Option<model::Place> {
        let place = place?;
        let functions = self.functions();
        Some(model::Place {
            file: functions.function(place).file,
            line: place.line,
            function: functions.function_name(place),
            name: functions.name_of(place),
        })
    }

    /// A location's place. A loop is where it begins in the text: its first instruction may be the body's.
    fn place_of_loop(&self, place: Option<Place>, is_entry: bool) -> Option<model::Place> {
        let function = self.functions().function(place?);
        let head = place.filter(|_| !is_entry).and_then(|place| function.loop_at(place.index));
        let line = |index: u32| function.lines.get(index as usize).copied().filter(|line| *line > 0);
        let end = head.and_then(|(_, end)| line(end));
        self.place(
            place.map(|place| Place { line: end.map_or(place.line, |end| end.min(place.line)), ..place }),
        )
    }

    fn failures(&self, failures: &Failures) -> Vec<model::Failure> {
        let mut all: Vec<model::Failure> = failures
            .iter()
            .map(|(failure, &count)| {
                let sentence = if failure.sentence.is_empty() { "" } else { ": " };
                model::Failure {
                    reason: format!("{}{sentence}{}", failure.reason, failure.sentence),
                    meaning: self.reasons.meaning(&failure.reason).unwrap_or_else(|| {
                        format!("the recorder does not know how to compile: {}", failure.reason)
                    }),
                    place: self.place(failure.place),
                    count,
                }
            })
            .collect();
        all.sort_by_key(|failure| std::cmp::Reverse(failure.count));
        all
    }

    fn trace(&self, note: &TraceNote) -> model::Trace {
        let last = note.last.clone().unwrap_or_default();
        let mut lines: Vec<heat::At> =
            note.steps.iter().filter_map(|&(step, _)| heat::line_of(self.functions(), step)).collect();
        lines.sort_unstable();
        lines.dedup();
        let source = note.source.as_ref().map(|source| &source.trace);
        let optimized = source.map(|trace| text::inst_lines(trace, self.schema)).unwrap_or_default();
        // The first instruction that leaves by each exit.
        let leaves: Vec<usize> = source.into_iter().flat_map(Trace::exits).map(|(index, _)| index).collect();
        let exit = |(number, exit): (usize, &ExitNote)| {
            let index = leaves.get(number).copied().unwrap_or(usize::MAX);
            let place = note.places.get(index).copied().flatten();
            self.exit(note, number as u32, exit, place, readable::test_of(&optimized, index))
        };
        model::Trace {
            number: note.number,
            kind: last.kind,
            // A side trace begins where its exit is.
            place: match last.parent {
                Some(_) => self.place(note.steps.first().map(|step| step.0)),
                None => self.place_of_loop(note.place, last.kind != "loop"),
            },
            parent: last.parent.map(|at| (at.trace, at.exit.0)),
            root: last.root,
            goes_on_at: self.place_of_loop(note.goes_on_at, false),
            entries: note.cells.entries,
            iterations: if last.is_loop { heat::runs(note) } else { 0 },
            ops: last.ops,
            code_bytes: last.code_bytes,
            compile_us: last.compile_us,
            unit: last.unit,
            region: last.region.clone(),
            state: if last.is_given_up { "given up" } else { "" },
            recorded: self.recorded(note),
            exits: last.exits.iter().enumerate().map(exit).collect(),
            optimized: optimized
                .iter()
                .zip(&note.places)
                .map(|(text, &place)| self.op(place, text))
                .collect(),
            code: note.listing.clone(),
            lines,
        }
    }

    fn op(&self, place: Option<Place>, text: &str) -> model::Op {
        model::Op {
            at: place.and_then(|place| heat::line_of(self.functions(), place)),
            text: text.to_string(),
        }
    }

    /// The recorded operations, each with the bytecode that it was recorded for.
    fn recorded(&self, note: &TraceNote) -> Vec<model::Op> {
        let mut steps = note.steps.iter().peekable();
        let mut place = None;
        let lines = text::inst_lines(&note.recorded, self.schema);
        let mut op = |(index, text): (usize, &String)| {
            while let Some(&(step, _)) = steps.next_if(|step| step.1 as usize <= index) {
                place = Some(step);
            }
            self.op(place.filter(|_| note.recorded.insts[index].op != Op::Label), text)
        };
        lines.iter().enumerate().map(&mut op).collect()
    }

    fn exit(
        &self,
        note: &TraceNote,
        number: u32,
        exit: &ExitNote,
        place: Option<Place>,
        test: String,
    ) -> model::Exit {
        let side = self.to_sides.get(&(note.number, number));
        let failures = note.side_failures.get(&ExitId(number));
        let mut failures = failures.map(|failures| self.failures(failures)).unwrap_or_default();
        if let Some(SideState::Postponed { .. }) = exit.side {
            let meaning = "compiling would have taken longer than it has cost so far".to_string();
            let reason = "put off".to_string();
            failures.push(model::Failure { reason, meaning, place: None, count: 1 });
        }
        model::Exit {
            number,
            kind: exit.kind.name(),
            place: self.place(place),
            meaning: exits::exit_meaning(exit.kind, &test),
            test,
            to_interpreter: exit.count,
            to_side: side.map_or(0, |side| side.0),
            side: side.map(|side| side.1),
            failures,
        }
    }

    /// The traces of a location's trees.
    fn traces_of(&self, seen: &Seen) -> Vec<TraceId> {
        let of = self.notes.traces.iter().filter(|note| note.place == seen.place && note.key == seen.key);
        of.map(|note| note.number).collect()
    }

    fn location(&self, seen: &Seen, traces: &[model::Trace], program_s: f64) -> model::Location {
        let interpreter_s = seen.interpreter_ticks as f64 * self.ns_per_tick / 1e9;
        let numbers = self.traces_of(seen);
        let own: Vec<&model::Trace> =
            traces.iter().filter(|trace| numbers.binary_search(&trace.number).is_ok()).collect();
        let roots: Vec<&&model::Trace> = own.iter().filter(|trace| trace.parent.is_none()).collect();
        let machine = match seen.is_entry {
            true => roots.iter().map(|trace| trace.entries).sum(),
            false => self.iterations(seen, &numbers),
        };
        let failures = self.failures(&seen.failures);
        let exits = own.iter().flat_map(|trace| trace.exits.iter());
        let unwanted = || exits.clone().filter(|exit| exit.kind != ExitKind::Finish.name());
        let left = unwanted().filter(|exit| exit.kind != ExitKind::LoopEnd.name());
        let left = left.map(|exit| exit.to_interpreter).sum();
        let worst = unwanted().max_by_key(|exit| exit.to_interpreter).filter(|exit| exit.to_interpreter > 0);
        let facts = Facts {
            is_off: self.is_off,
            is_entry: seen.is_entry,
            state: seen.last.state,
            has_code: roots.iter().any(|trace| trace.state.is_empty()),
            interpreted: seen.interpreted,
            machine,
            left,
            worst: worst.map(|exit| {
                let place = exit.place.as_ref().map_or("an unknown place".into(), |place| place.name.clone());
                (place, exit.meaning.clone(), exit.to_interpreter)
            }),
            failures: &failures,
            rests: seen.last.rests,
            is_slow: interpreter_s > WORTH_A_LOOK * program_s,
        };
        let (level, verdict, advice) = verdict::verdict(&facts);
        let is_left = facts.has_code && level > Level::Good;
        let cause = match worst.filter(|_| is_left) {
            Some(exit) => exit.place.clone(),
            None => failures.first().and_then(|failure| failure.place.clone()),
        };
        model::Location {
            place: self.place_of_loop(seen.place, seen.is_entry),
            key: format!("{:x}", seen.key),
            kind: self.kind(seen),
            level,
            verdict,
            advice,
            cause,
            interpreted: seen.interpreted,
            machine,
            interpreter_s,
            machine_s: seen.machine_ticks as f64 * self.ns_per_tick / 1e9,
            left,
            failures,
            roots: roots.iter().map(|trace| trace.number).collect(),
        }
    }

    /// Iterations of a loop that ran as machine code: in its own code, and in that of others which pass it.
    fn iterations(&self, seen: &Seen, own: &[TraceId]) -> u64 {
        let passes = |note: &TraceNote| {
            let is_own = note.last.as_ref().is_some_and(|last| last.is_loop && last.parent.is_none())
                && own.binary_search(&note.number).is_ok();
            let passed = note.passed.iter().filter(|(place, _)| Some(*place) == seen.place);
            passed.map(|(_, edges)| u64::from(*edges)).sum::<u64>() + u64::from(is_own)
        };
        self.notes.traces.iter().map(|note| passes(note) * heat::runs(note)).sum()
    }

    fn kind(&self, seen: &Seen) -> &'static str {
        match (seen.is_entry, seen.place) {
            (false, _) => "loop",
            (true, Some(place)) if place.index > 0 => "after a call",
            (true, _) => "function",
        }
    }

    fn add_files(&self, model: &mut Model) {
        let mut heat = heat::heat(self.functions(), self.locations(), &self.notes.traces);
        let mut failed: BTreeMap<heat::At, Vec<model::Failure>> = BTreeMap::new();
        for location in model.locations.iter().filter(|location| location.level > Level::Good) {
            for failure in &location.failures {
                let place = failure.place.as_ref().or(location.place.as_ref());
                place.into_iter().for_each(|place| {
                    failed.entry((place.file, place.line)).or_default().push(failure.clone());
                });
            }
        }
        for (number, file) in self.functions().files.iter().enumerate() {
            let (text, missing) = match &file.text {
                Ok(text) => (text.as_str(), None),
                Err(reason) => ("", Some(reason.clone())),
            };
            let line = |(at, text): (u32, &str)| {
                let Heat { machine, interpreted, traces } = heat.remove(&(number, at)).unwrap_or_default();
                let failures = failed.remove(&(number, at)).unwrap_or_default();
                model::Line { text: text.to_string(), machine, interpreted, traces, failures }
            };
            let lines = (1..).zip(text.lines()).map(line).collect();
            let (name, path) = (file.name.clone(), file.path.clone());
            model.files.push(model::File { name, path, lines, missing });
        }
    }
}

/// Whether there is anything to say of a location.
fn is_shown(seen: &Seen) -> bool {
    seen.interpreted > 0 || seen.recordings > 0 || seen.machine_ticks > 0
}

/// Where the program's processor time went. Locations were timed by a clock that goes on while another
/// program has the processor: what they have together is made no more than what is left beside compiling.
fn share_out(time: &Time, locations: &mut [model::Location]) -> model::Split {
    let compiling_s = time.recording + time.compiling;
    let rest = (time.program - compiling_s).max(0.0);
    let all: f64 = locations.iter().map(|location| location.machine_s + location.interpreter_s).sum();
    if all > rest && all > 0.0 {
        for location in &mut *locations {
            location.machine_s *= rest / all;
            location.interpreter_s *= rest / all;
        }
    }
    // Not `sum`: that of nothing is -0.
    let machine_s = locations.iter().fold(0.0, |sum, location| sum + location.machine_s);
    model::Split { machine_s, compiling_s, rest_s: (rest - machine_s).max(0.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_time_is_shared_out_than_there_was() {
        let location =
            |machine_s, interpreter_s| model::Location { machine_s, interpreter_s, ..Default::default() };
        let time = Time { program: 5.0, recording: 0.5, compiling: 0.5, ..Time::default() };
        let mut locations = [location(2.0, 1.0), location(0.0, 5.0)];
        let split = share_out(&time, &mut locations);
        assert_eq!((split.machine_s, split.compiling_s, split.rest_s), (1.0, 1.0, 3.0));
        assert_eq!((locations[0].interpreter_s, locations[1].interpreter_s), (0.5, 2.5));
        let split = share_out(&time, &mut locations[1..]);
        assert_eq!((split.machine_s, split.rest_s, locations[1].interpreter_s), (0.0, 4.0, 2.5));
    }
}
