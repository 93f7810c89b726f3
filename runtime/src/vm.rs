//! The service: one JIT for one interpreter instance.
//!
//! Problem: locations, traces, code memory, the exit buffer and the statistics belong together and live as
//! long as the interpreter. Design: [`Vm`] owns them, in groups by purpose. What it does is spread over files
//! by moment, each with methods of `Vm` that nobody has to import: `hot.rs` and `fast_path.rs` decide at a
//! hot back edge, `compile.rs` and `publish.rs` turn a recording into code, `exit.rs` restores the
//! interpreter's state, `side.rs` decides after an exit, `pacing.rs` and `sampling.rs` time loops, `nest.rs`
//! leaves loops to others. The types that the groups consist of lie below this file and know nothing of it:
//! imports lead down only. Invariant: compiled code refers only to cells that the `Vm` owns in boxes (exit
//! buffer, counters), so moving the `Vm` is harmless; dropping it frees the code.
//!
//! ```text
//! ids, run, policy  <-  plan, tree, pay, gate  <-  traces, locations  <-  vm  <-  hot, side, compile, exit
//! ```

use std::ffi::c_void;
use std::sync::Arc;

use thiserror::Error;
use tracelift_core::schema::LayoutId;
use tracelift_core::{ExitKind, Schema};
use tracelift_cranelift::helper_use;

use crate::abort::AbortReason;
use crate::away::Background;
use crate::backend::{Backend, Code};
use crate::budget::Budget;
use crate::config::Config;
use crate::counters::Counters;
use crate::debug::Watch;
use crate::gate::Gates;
use crate::hints::Warm;
use crate::ids::{ExitId, ExitPoint, Key, TraceId};
use crate::location::Location;
use crate::locations::Locations;
use crate::log::Log;
use crate::names::{code_name, Names};
use crate::open_calls::Nested;
use crate::pace::Burst;
use crate::pay::Sample;
use crate::policy::{Prices, SideState};
use crate::recorder::{Recorder, Start};
use crate::reserve::{ReserveFn, Reserves};
use crate::restore::ExitState;
use crate::starts::Starts;
use crate::stats::{
    CompileStats, Evicted, ExitCounts, Helpers, LeftStats, PlaceStats, RegionUse, Stats, ThreadUse,
    TraceStats, UnitUse, VentureUse,
};
use crate::ticks::Ticks;
use crate::traces::{ExitCell, Left, TraceData, Traces};
use crate::units::{Record, Units};
use crate::view::notes::{Notes, LOOKS};

/// Why a [`Vm`] cannot be made.
#[derive(Debug, Error)]
pub enum VmError {
    /// The log file cannot be opened.
    #[error("cannot open log file '{path}': {source}")]
    LogFile {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// A file for a tool cannot be made.
    #[error("cannot open '{path}' for a debugger or profiler: {source}")]
    ToolFile {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
}

/// A just-in-time compiler for one interpreter instance. So many fields: one for each thing that the service
/// is about, each a group of its own.
pub struct Vm {
    /// What the host has declared. Jobs share it ([`crate::job`]).
    pub(crate) schema: Arc<Schema>,
    pub(crate) config: Config,
    pub(crate) log: Log,
    pub(crate) names: Names,
    pub(crate) totals: Totals,
    pub(crate) counters: Counters,
    pub(crate) locations: Locations,
    pub(crate) traces: Traces,
    pub(crate) units: Units,
    pub(crate) gates: Gates,
    pub(crate) reserves: Reserves,
    pub(crate) budget: Budget,
    pub(crate) recording: Recording,
    pub(crate) code: Code,
    pub(crate) background: Background,
    pub(crate) last_run: LastRun,
    pub(crate) exits: Exits,
    pub(crate) timing: Timing,
    pub(crate) nested: Nested,
    /// What the host takes where there is no code.
    pub(crate) prices: Prices,
    /// What earlier runs have taught, and what this one teaches.
    pub(crate) warm: Warm,
    /// What is kept for the view, if there is to be one.
    pub(crate) notes: Option<Box<Notes>>,
}

/// Recordings: the one in progress, and how they come about.
#[derive(Default)]
pub(crate) struct Recording {
    pub recorder: Option<Recorder>,
    /// Those that wait for a call of the host to come back, outermost first.
    pub aside: Vec<Recorder>,
    /// The loop whose recording was asked for last.
    pub asked: Option<Key>,
    /// Whether the recording that ended last had been asked for.
    pub was_asked: bool,
    /// Where recordings start, if not at the threshold.
    pub starts: Option<Starts>,
}

/// The code that the host was told to run last.
#[derive(Default)]
pub(crate) struct LastRun {
    pub trace: Option<TraceId>,
    /// That came through a gate.
    pub has_passed: bool,
}

/// What exits need, and what they leave to be decided.
#[derive(Default)]
pub(crate) struct Exits {
    pub state: ExitState,
    /// The callers of a unit that was left; empty but while their state is restored.
    pub records: Vec<Record>,
    /// An exit that is to be decoded.
    pub hot: Option<ExitPoint>,
    /// The exit that was restored last, if there is something to decide.
    pub last: Option<Left>,
}

/// What is being timed.
pub(crate) struct Timing {
    pub ticks: Ticks,
    /// The entry that is timed.
    pub sample: Option<Sample>,
    /// The iterations that are timed.
    pub burst: Option<Burst>,
    /// Processor time of the program when a long entry was timed last.
    pub sampled_until: u64,
}

/// What is kept of the traces that are gone.
#[derive(Default)]
pub(crate) struct Freed {
    /// Each of them, if iterations are counted.
    pub traces: Vec<TraceStats>,
    /// Their exits that were taken often.
    pub left: Vec<LeftStats>,
    /// Locations that are gone, too.
    pub places: Vec<PlaceStats>,
    /// Entries of all.
    pub entries: u64,
    /// Exits of all.
    pub exits: ExitCounts,
}

/// Counters that are not kept anywhere else. So many fields: each counts another thing.
#[derive(Default)]
pub(crate) struct Totals {
    pub recordings: u64,
    pub retaken: u64,
    /// Loops compiled again without guards before the loop.
    pub unhoisted: u64,
    /// Loops compiled again with a preamble.
    pub outgrown: u64,
    /// Traces given up with what they had assumed.
    pub outdated: u64,
    pub evicted: Evicted,
    /// Back edges that were interpreted before the first trace was made.
    pub first_trace_after: Option<u64>,
    pub aborts: std::collections::BTreeMap<String, u64>,
    pub ends: std::collections::BTreeMap<String, u64>,
    pub host_calls: std::collections::BTreeMap<String, u64>,
    /// The same with the place of each.
    pub called_at: std::collections::BTreeMap<String, u64>,
    pub refused: u64,
    pub unsecured: u64,
    pub declined: u64,
    pub postponed: u64,
    pub rests: u64,
    pub units: UnitUse,
    pub regions: RegionUse,
    pub retired: u64,
    /// Nanoseconds in compiled code, estimated from the entries that were timed.
    pub machine_ns: f64,
    pub freed: Freed,
    pub compile: CompileStats,
    pub rewrites: std::collections::BTreeMap<String, u64>,
}

impl Vm {
    /// A new JIT. That the system refuses executable memory is no error: the program then runs in the
    /// interpreter, and the statistics say why.
    pub fn new(config: Config) -> Result<Vm, VmError> {
        let file = match &config.log_file {
            None => None,
            Some(path) => Some(
                std::fs::File::create(path)
                    .map_err(|source| VmError::LogFile { path: path.display().to_string(), source })?,
            ),
        };
        let log = Log::new(&config.log, file);
        let counting = config.force_exit.is_some() || config.count_guards;
        // A cell at its highest value forces nothing for longer than any program runs, and counts all the
        // same.
        let force = if counting { config.force_exit.filter(|&n| n > 0).unwrap_or(u64::MAX) } else { 0 };
        let initial = match config.start_seed {
            // Nothing is to be decided, but the view tells back edges by their loops.
            _ if !config.enabled && config.view => LOOKS,
            _ if !config.enabled => u32::MAX,
            // Counters are shared by address: at its first back edge each loop draws for itself.
            Some(_) => 1,
            None => config.threshold.max(1),
        };
        let starts = config.start_seed.map(|seed| Starts::new(seed, config.threshold));
        let is_limited = config.enabled && config.start_seed.is_none();
        let watch = Watch::new(config.tools)
            .map_err(|(path, source)| VmError::ToolFile { path: path.display().to_string(), source })?;
        Ok(Vm {
            schema: Arc::new(Schema::new()),
            log,
            names: Names::default(),
            totals: Totals::default(),
            counters: Counters::new(initial),
            locations: Locations::default(),
            traces: Traces::default(),
            units: Units::default(),
            gates: Gates::default(),
            reserves: Reserves::default(),
            budget: Budget::new(config.compile_share.filter(|_| is_limited)),
            recording: Recording { starts, ..Recording::default() },
            code: Code::new(force, watch),
            background: Background::default(),
            last_run: LastRun::default(),
            exits: Exits::default(),
            timing: Timing { ticks: Ticks::new(), sample: None, burst: None, sampled_until: 0 },
            nested: Nested::default(),
            prices: Prices::of_interpreter(&config),
            warm: Warm::default(),
            notes: config.view.then(Box::default),
            config,
        })
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Changes a setting on the way; see `tl_set_option`. What is wrong is said, and changes nothing.
    pub fn set_option(&mut self, text: &str) -> Result<(), String> {
        let Some((name, number)) = text.split_once('=') else {
            return self.config.opt.clone().switch(text).map_err(|error| error.to_string()).map(|()| {
                // It was seen to be right.
                let _ = self.config.opt.switch(text);
            });
        };
        let number: u32 =
            number.parse().ok().filter(|&number| number > 0).ok_or(format!("{text}: no count"))?;
        match name {
            "threshold" => {
                self.config.threshold = number;
                self.counters.initial = if self.config.enabled { number } else { u32::MAX };
            }
            "side-threshold" => self.config.side_threshold = number,
            _ => return Err(format!("{name}: cannot be changed on the way")),
        }
        Ok(())
    }

    /// From now on the host has code of its own, and what ours replaces is not interpreted: gains are judged
    /// by what such code takes.
    pub fn runs_host_code(&mut self) {
        self.prices = Prices::HOST_CODE;
    }

    /// What the host has declared.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The same, to declare more. Until the first recording; it is copied only while a trace is being
    /// compiled elsewhere.
    pub fn schema_mut(&mut self) -> &mut Schema {
        Arc::make_mut(&mut self.schema)
    }

    /// A call of the host was recorded, for want of anything better for this; see `tl_note_call`.
    pub fn note_call(&mut self, what: &str) {
        *self.totals.host_calls.entry(what.to_string()).or_default() += 1;
        let at = self.recording.recorder.as_ref().and_then(|recorder| self.names.of(recorder.place()?));
        let called = at.map_or_else(|| what.to_string(), |at| format!("{at}: {what}"));
        *self.totals.called_at.entry(called).or_default() += 1;
    }

    /// The recording in progress.
    pub fn recorder(&mut self) -> Option<(&mut Recorder, &Schema)> {
        self.recording.recorder.as_mut().map(|recorder| (recorder, &*self.schema))
    }

    /// Why the loop `key` is not compiled; `None` if it is, or was never tried.
    pub fn last_abort(&self, key: Key) -> Option<&AbortReason> {
        self.locations.get(&key)?.last_abort.as_ref()
    }

    /// How often recordings of the loop `key` were given up.
    pub fn aborts(&self, key: Key) -> u32 {
        self.locations.get(&key).map_or(0, |location| location.attempts.total)
    }

    pub(crate) fn count_internal_error(&mut self) {
        *self.totals.aborts.entry(AbortReason::Internal.name().to_string()).or_default() += 1;
    }

    pub(crate) fn counts_guards(&self) -> bool {
        self.config.force_exit.is_some() || self.config.count_guards
    }

    /// Guards executed by compiled code so far, if they are counted.
    pub fn guards_executed(&self) -> Option<u64> {
        let start = self.config.force_exit.filter(|&n| n > 0).unwrap_or(u64::MAX);
        self.counts_guards().then(|| start.wrapping_sub(*self.code.cells.force))
    }

    /// The statistics so far.
    pub fn stats(&self) -> Stats {
        let interpreted = self.counters.ticks();
        let counts = self.config.count_iterations || self.notes.is_some();
        let iterations = counts.then(|| self.iterations());
        let all = interpreted + iterations.unwrap_or(0);
        let mut exits = self.totals.freed.exits;
        self.traces.alive().for_each(|(_, trace)| exits.add(&trace.exit_counts()));
        let entries = self.traces.alive().map(|(_, trace)| trace.entries).sum::<u64>();
        let entries = self.totals.freed.entries + entries;
        let share = iterations.map(|iterations| iterations as f64 / all.max(1) as f64);
        let jit = match &self.code.backend {
            _ if !self.config.enabled => "off".to_string(),
            Backend::Pending | Backend::Ready(_) => "on".to_string(),
            Backend::Refused(reason, sentence) => format!("off: {reason} ({sentence})"),
        };
        Stats {
            jit,
            interpreted_back_edges: interpreted,
            compiled_iterations: iterations,
            compiled_share: share,
            guards_executed: self.guards_executed(),
            recordings: self.totals.recordings,
            retaken: self.totals.retaken,
            unhoisted: self.totals.unhoisted,
            outgrown: self.totals.outgrown,
            outdated: self.totals.outdated,
            evicted: Some(self.totals.evicted.clone()).filter(|evicted| evicted.trees > 0),
            host_code: None,
            helpers: helper_use().map(|used| Helpers {
                functions: used.functions,
                code_bytes: used.code,
                us: used.time.as_micros() as u64,
            }),
            aborts: self.totals.aborts.clone(),
            ends: self.totals.ends.clone(),
            host_calls: self.totals.host_calls.clone(),
            refused_entries: self.totals.refused,
            unsecured_entries: self.totals.unsecured,
            declined_entries: self.totals.declined,
            postponed_recordings: self.totals.postponed,
            first_trace_after: self.totals.first_trace_after,
            hints: self.hint_use(),
            rests: self.totals.rests,
            units: self.unit_use(),
            thread: Some(self.background.used).filter(|used| *used != ThreadUse::default()),
            regions: Some(self.totals.regions).filter(|regions| *regions != RegionUse::default()),
            retired: self.totals.retired,
            ventures: Some(self.budget.ventures.counts())
                .filter(|ventures| *ventures != VentureUse::default()),
            time: self.budget.time(self.totals.machine_ns + self.open_sample_ns()),
            never_virtual: self
                .never_virtual()
                .map(|layout| self.schema.layout(layout).name.clone())
                .collect(),
            entries,
            iterations_per_entry: iterations
                .filter(|_| entries > 0)
                .map(|iterations| iterations as f64 / entries as f64),
            exits: exits.by_name(),
            traces: self.trace_stats(),
            places: self.place_stats(),
            left: self.left_stats(),
            called_at: self.totals.called_at.clone(),
            compile: self.totals.compile.clone(),
            costs: self.totals.compile.costs(),
            rewrites: self.totals.rewrites.clone(),
        }
    }

    /// Iterations that ran as machine code, if they are counted: a view has them counted in its own cells.
    fn iterations(&self) -> u64 {
        self.notes.as_ref().map_or(self.code.cells.all_counts()[0], |notes| notes.iterations())
    }

    /// Iterations and calls that a trace's code has counted.
    pub(crate) fn counted(&self, number: TraceId) -> [u64; 2] {
        let [iterations, calls] = self.code.cells.counts(number);
        [self.notes.as_ref().map_or(iterations, |notes| notes.iterations_of(number)), calls]
    }

    fn unit_use(&self) -> Option<UnitUse> {
        let calls = self.config.count_iterations.then_some(self.code.cells.all_counts()[1]);
        Some(UnitUse { calls, ..self.totals.units }).filter(|units| units.compiled > 0)
    }

    /// The host holds memory for exits that make objects of this layout; see [`crate::reserve`]. Without it,
    /// no object of the layout is left virtual in compiled code. Before the first recording.
    ///
    /// # Safety
    /// The function keeps the promise of [`ReserveFn`], and may be called with this context as long as the VM
    /// lives. It calls nothing of this VM.
    pub unsafe fn set_reserve(&mut self, layout: LayoutId, function: ReserveFn, context: *mut c_void) {
        self.reserves.declare(layout, function, context);
    }

    /// Layouts of objects that code always makes: the host holds no memory for them, or what they hold cannot
    /// be told, as where parts overlap.
    pub(crate) fn never_virtual(&self) -> impl Iterator<Item = LayoutId> + '_ {
        let layouts = self.schema.layouts().iter().enumerate();
        let possible = layouts.filter(|(_, layout)| layout.alloc.is_some());
        let ids = possible.map(|(number, _)| LayoutId(number as u32));
        ids.filter(|&layout| {
            !self.reserves.can_hold(layout) || !tracelift_opt::can_be_virtual(&self.schema, layout)
        })
    }

    fn place_stats(&self) -> Vec<PlaceStats> {
        let keys = self.locations.keys();
        self.totals
            .freed
            .places
            .iter()
            .cloned()
            .chain(keys.filter_map(|&key| self.stats_of_place(key)))
            .collect()
    }

    /// What is known of a location, unless nothing has happened there that is worth telling.
    pub(crate) fn stats_of_place(&self, key: Key) -> Option<PlaceStats> {
        let location = self.locations.get(&key)?;
        let place = location.place.as_deref();
        let name = code_name(Start::of_location(location.is_entry, 0), key, place);
        let own = self.traces.alive().filter(|(_, trace)| trace.tree.key == key);
        let [iterations, calls] = own.fold(location.counted, |sum, (trace, _)| {
            let counts = self.counted(trace);
            [sum[0] + counts[0], sum[1] + counts[1]]
        });
        let waits = !self.has_pins(location) && (location.entries.is_empty() || location.state.is_asleep());
        let passed = location.counter.filter(|_| waits).map_or(0, |counter| self.counters.passed(counter));
        let interpreted = location.interpreted + passed;
        let is_open = self.timing.sample.is_some_and(|sample| sample.key == key);
        let open = if is_open { self.open_sample_ns() } else { 0.0 };
        let is_idle = location.attempts.total == 0 && location.entries.is_empty();
        if is_idle && location.discarded.is_empty() && interpreted <= u64::from(self.config.threshold) {
            return None;
        }
        Some(PlaceStats {
            name,
            place: place.map(str::to_string),
            is_entry: location.is_entry,
            state: location.state.name(),
            is_compiled: !location.entries.is_empty() && !location.state.is_asleep(),
            iterations,
            calls,
            interpreted,
            machine: (location.machine_ns + open) / 1e9,
            attempts: location.attempts.total,
            reason: location.last_abort.as_ref().map(|reason| reason.name().to_string()),
            meaning: location
                .last_abort
                .as_ref()
                .and_then(|reason| self.names.reasons.meaning(reason.name())),
            at: location.aborted_at.clone(),
        })
    }

    fn has_pins(&self, location: &Location) -> bool {
        location.counter.is_some_and(|counter| self.counters.is_pinned(counter))
    }

    fn left_stats(&self) -> Vec<LeftStats> {
        let alive = self.traces.alive().flat_map(|(id, trace)| self.left_of(id, trace));
        self.totals.freed.left.iter().cloned().chain(alive).collect()
    }

    /// The exits of a trace that were often taken to the interpreter, for want of a side trace.
    pub(crate) fn left_of(&self, number: TraceId, trace: &TraceData) -> Vec<LeftStats> {
        let often = u64::from(self.config.side_threshold);
        let exits = trace.exits.iter().enumerate().filter(|(exit, cell)| {
            let side = trace.tree.sides.get(&ExitId(*exit as u32));
            let has_code = matches!(side, Some(SideState::Compiled(_)));
            let is_such = matches!(cell.kind, ExitKind::Guard | ExitKind::LoopEnd | ExitKind::Hoisted);
            is_such && !has_code && cell.count > often
        });
        let of = |(exit, cell): (usize, &ExitCell)| {
            let at = ExitPoint { trace: number, exit: ExitId(exit as u32) };
            let failure = trace.tree.failures.get(&at.exit);
            LeftStats {
                exit: at,
                code: trace.title.clone(),
                place: trace.place_of_exit(at.exit, &self.names),
                kind: cell.kind.name(),
                count: cell.count,
                reason: failure.map(|failure| failure.reason.name().to_string()),
                meaning: failure.and_then(|failure| self.names.reasons.meaning(failure.reason.name())),
                at: failure.and_then(|failure| failure.at.clone()),
            }
        };
        exits.map(of).collect()
    }

    fn trace_stats(&self) -> Vec<TraceStats> {
        let alive = self.traces.alive().map(|(id, trace)| self.stats_of(id, trace));
        let mut all: Vec<TraceStats> = self.totals.freed.traces.iter().cloned().chain(alive).collect();
        all.sort_by_key(|trace| trace.number);
        all
    }

    /// What is known of one trace.
    pub(crate) fn stats_of(&self, number: TraceId, trace: &TraceData) -> TraceStats {
        let location = self.locations.get(&trace.tree.key).filter(|_| trace.tree.parent.is_none());
        TraceStats {
            number,
            name: trace.name.clone(),
            title: trace.title.clone(),
            parent: trace.tree.parent,
            failed_sides: trace.tree.failed(),
            entries: trace.entries,
            exits: trace.exit_counts().by_name(),
            ops: trace.worth.ops,
            code_bytes: trace.generated.code_bytes as u64,
            iterations: self.config.count_iterations.then_some(self.counted(number)[0]),
            calls: self.config.count_iterations.then_some(self.counted(number)[1]),
            saved_per_ns: trace.worth.saved_per_ns,
            compile_us: trace.worth.compile_ns / 1000,
            state: location.map_or("", |location| location.state.name()),
            interpreter_ns: location.and_then(|location| location.pace.ns()),
            ns_per_entry: location.and_then(|location| location.pay.ns_per_entry()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::EXIT_BUFFER_CELLS;
    use crate::run::Action;

    /// A program without a hot loop pays neither for the code generator nor for its memory.
    #[test]
    fn the_backend_waits_for_a_hot_loop() {
        let mut vm = Vm::new(Config { threshold: 2, ..Config::exact() }).unwrap();
        let mut counters = [0; 4];
        let base = [0u8; 64];
        // SAFETY: the counters outlive the VM's use of them; no trace names a slot.
        unsafe { vm.set_counters(counters.as_mut_ptr(), counters.len()) };
        assert!(matches!(vm.code.backend, Backend::Pending) && vm.code.cells.exit_buffer.is_empty());
        let mut hot = || {
            // SAFETY: as above.
            let action = unsafe { vm.hot(8, counters.as_ptr(), base.as_ptr()) };
            (action, matches!(vm.code.backend, Backend::Pending))
        };
        assert!(matches!(hot(), (Action::Nothing, true)));
        assert!(matches!(hot(), (Action::Record, false)) && matches!(vm.code.backend, Backend::Ready(_)));
        assert_eq!(vm.code.cells.exit_buffer.len(), EXIT_BUFFER_CELLS);
    }
}
