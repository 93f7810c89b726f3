//! The service: one JIT for one interpreter instance.
//!
//! Problem: locations, traces, code memory, the exit buffer and the statistics belong together and live as
//! long as the interpreter. Design: [`Vm`] owns them; its work is spread over files by moment: `hot.rs`
//! decides at a hot back edge, `recorder.rs` records, `compile.rs` turns a recording into code, `exit.rs`
//! restores the interpreter's state. Invariant: compiled code refers only to cells that the `Vm` owns in
//! boxes (exit buffer, counters), so moving the `Vm` is harmless; dropping it frees the code.

use std::ffi::c_void;

use thiserror::Error;
use tracelift_core::schema::LayoutId;
use tracelift_core::Schema;
use tracelift_cranelift::{Arena, ArenaOptions, Compiler, Glue, Options, TreeId};

use crate::abort::AbortReason;
use crate::budget::Budget;
use crate::config::Config;
use crate::counters::Counters;
use crate::gate::Gates;
use crate::ids::{ExitPoint, Key, TraceId};
use crate::locations::Locations;
use crate::log::Log;
use crate::pace::Burst;
use crate::pay::Sample;
use crate::recorder::Recorder;
use crate::reserve::{ReserveFn, Reserves};
use crate::restore::ExitState;
use crate::starts::Starts;
use crate::stats::{CompileStats, ExitCounts, Stats, TraceStats};
use crate::ticks::Ticks;
use crate::traces::{Left, TraceData, Traces};

/// Cells of the exit buffer: the most live values that an exit can have.
pub const EXIT_BUFFER_CELLS: usize = 4096;

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
}

/// Operations of compiled code, four to twenty milliseconds of them, after which a loop leaves to let the
/// host's collector go on although it allocates nothing: the recorded program did. A step of Lua's collector
/// takes up to one millisecond.
pub(crate) const COLLECT_AFTER: i64 = 1 << 26;

/// Cells that compiled code writes: their addresses are constants in it.
pub(crate) struct SharedCells {
    /// Made with the backend.
    pub exit_buffer: Box<[u64]>,
    /// Counts guards down; see `Request::force_counter`.
    pub force: Box<u64>,
    pub iterations: Box<u64>,
    /// What the interpreter would have taken for what ran as code: see [`crate::pace`].
    pub replaced: Box<u64>,
    /// Counts operations of loops down whose objects are virtual; see `Request::collect_counter`.
    pub collect: Box<i64>,
}

/// What makes code and holds it.
pub(crate) struct Ready {
    pub compiler: Compiler,
    pub arena: Arena,
    /// Made for the first trace.
    pub glue: Option<Glue>,
}

/// The tree that owns the glue; no trace has this number.
const GLUE_TREE: TreeId = TreeId(u32::MAX);

impl Ready {
    pub fn glue(&mut self) -> Result<Glue, String> {
        if let Some(glue) = self.glue {
            return Ok(glue);
        }
        let [enter, leave] = self.compiler.glue().map_err(|error| error.to_string())?;
        let enter = self.arena.install_code(GLUE_TREE, &enter).map_err(|error| error.to_string())?;
        let leave = self.arena.install_code(GLUE_TREE, &leave).map_err(|error| error.to_string())?;
        Ok(*self.glue.insert(Glue::new(enter, leave)))
    }
}

/// The code maker, or why there is none.
pub(crate) enum Backend {
    /// Made when the first loop is hot: many programs have none.
    Pending,
    Ready(Box<Ready>),
    Refused(AbortReason, String),
}

/// A just-in-time compiler for one interpreter instance.
pub struct Vm {
    /// What the host has declared. It may grow until the first recording.
    pub schema: Schema,
    pub(crate) config: Config,
    pub(crate) counters: Counters,
    pub(crate) locations: Locations,
    pub(crate) traces: Traces,
    pub(crate) recorder: Option<Recorder>,
    pub(crate) backend: Backend,
    pub(crate) cells: SharedCells,
    pub(crate) log: Log,
    /// The loop whose recording was asked for last, and whether the recording that ended last had been asked
    /// for.
    pub(crate) asked: Option<Key>,
    pub(crate) was_asked: bool,
    /// Where recordings start, if not at the threshold.
    pub(crate) starts: Option<Starts>,
    pub(crate) totals: Totals,
    pub(crate) exit_state: ExitState,
    pub(crate) gates: Gates,
    /// The trace whose code the host was told to run last, and whether that came through a gate.
    pub(crate) last_run: Option<TraceId>,
    pub(crate) has_passed: bool,
    /// An exit that is to be decoded.
    pub(crate) hot_exit: Option<ExitPoint>,
    /// The exit that was restored last, if there is something to decide.
    pub(crate) last_exit: Option<Left>,
    pub(crate) reserves: Reserves,
    pub(crate) budget: Budget,
    pub(crate) ticks: Ticks,
    /// The entry that is timed.
    pub(crate) sample: Option<Sample>,
    /// The iterations that are timed.
    pub(crate) burst: Option<Burst>,
    /// Processor time of the program when a long entry was timed last.
    pub(crate) sampled_until: u64,
}

/// Counters that are not kept anywhere else.
#[derive(Default)]
pub(crate) struct Totals {
    pub recordings: u64,
    pub retaken: u64,
    /// Loops compiled again without guards before the loop.
    pub unhoisted: u64,
    pub aborts: std::collections::BTreeMap<String, u64>,
    pub ends: std::collections::BTreeMap<String, u64>,
    pub refused: u64,
    pub unsecured: u64,
    pub declined: u64,
    pub postponed: u64,
    pub rests: u64,
    pub retired: u64,
    /// Nanoseconds in compiled code, estimated from the entries that were timed.
    pub machine_ns: f64,
    /// Traces that are gone, if iterations are counted.
    pub freed: Vec<TraceStats>,
    /// Entries and exits of all that are gone.
    pub freed_entries: u64,
    pub freed_exits: ExitCounts,
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
            _ if !config.enabled => u32::MAX,
            // Counters are shared by address: at its first back edge each loop draws for itself.
            Some(_) => 1,
            None => config.threshold.max(1),
        };
        Ok(Vm {
            schema: Schema::new(),
            backend: Backend::Pending,
            counters: Counters::new(initial),
            locations: Locations::default(),
            traces: Traces::default(),
            recorder: None,
            cells: SharedCells {
                exit_buffer: [].into(),
                force: Box::new(force),
                iterations: Box::new(0),
                replaced: Box::new(0),
                collect: Box::new(COLLECT_AFTER),
            },
            log,
            asked: None,
            was_asked: false,
            starts: config.start_seed.map(|seed| Starts::new(seed, config.threshold)),
            totals: Totals::default(),
            exit_state: ExitState::default(),
            gates: Gates::default(),
            last_run: None,
            has_passed: false,
            hot_exit: None,
            last_exit: None,
            reserves: Reserves::default(),
            budget: Budget::new(
                config.compile_share.filter(|_| config.enabled && config.start_seed.is_none()),
            ),
            ticks: Ticks::new(),
            sample: None,
            burst: None,
            sampled_until: 0,
            config,
        })
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The recording in progress.
    pub fn recorder(&mut self) -> Option<(&mut Recorder, &Schema)> {
        self.recorder.as_mut().map(|recorder| (recorder, &self.schema))
    }

    /// Why the loop `key` is not compiled; `None` if it is, or was never tried.
    pub fn last_abort(&self, key: Key) -> Option<&AbortReason> {
        self.locations.get(&key)?.last_abort.as_ref()
    }

    /// How often recordings of the loop `key` were given up.
    pub fn aborts(&self, key: Key) -> u32 {
        self.locations.get(&key).map_or(0, |location| location.aborts)
    }

    /// The backend, which is made if it was not needed before.
    pub(crate) fn ready_backend(&mut self) -> &mut Backend {
        if let Backend::Pending = self.backend {
            self.cells.exit_buffer = vec![0; EXIT_BUFFER_CELLS].into();
            self.backend = make_backend(&self.config);
        }
        &mut self.backend
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
        self.counts_guards().then(|| start.wrapping_sub(*self.cells.force))
    }

    /// The statistics so far.
    pub fn stats(&self) -> Stats {
        let interpreted = self.counters.ticks();
        let iterations = self.config.count_iterations.then_some(*self.cells.iterations);
        let all = interpreted + iterations.unwrap_or(0);
        let mut exits = self.totals.freed_exits;
        self.traces.alive().for_each(|(_, trace)| exits.add(&trace.exit_counts()));
        let entries = self.traces.alive().map(|(_, trace)| trace.entries).sum::<u64>();
        let entries = self.totals.freed_entries + entries;
        let share = iterations.map(|iterations| iterations as f64 / all.max(1) as f64);
        let jit = match &self.backend {
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
            aborts: self.totals.aborts.clone(),
            ends: self.totals.ends.clone(),
            refused_entries: self.totals.refused,
            unsecured_entries: self.totals.unsecured,
            declined_entries: self.totals.declined,
            postponed_recordings: self.totals.postponed,
            rests: self.totals.rests,
            retired: self.totals.retired,
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
            compile: self.totals.compile,
            costs: self.totals.compile.costs(),
            rewrites: self.totals.rewrites.clone(),
        }
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

    /// Layouts of objects that could be virtual, but for which the host holds no memory.
    pub(crate) fn never_virtual(&self) -> impl Iterator<Item = LayoutId> + '_ {
        let layouts = self.schema.layouts().iter().enumerate();
        let possible = layouts.filter(|(_, layout)| layout.alloc.is_some());
        let ids = possible.map(|(number, _)| LayoutId(number as u32));
        ids.filter(|&layout| !self.reserves.can_hold(layout))
    }

    fn trace_stats(&self) -> Vec<TraceStats> {
        let alive = self.traces.alive().map(|(id, trace)| self.stats_of(id, trace));
        let mut all: Vec<TraceStats> = self.totals.freed.iter().cloned().chain(alive).collect();
        all.sort_by_key(|trace| trace.number);
        all
    }

    /// What is known of one trace.
    pub(crate) fn stats_of(&self, number: TraceId, trace: &TraceData) -> TraceStats {
        let location = self.locations.get(&trace.tree.key).filter(|_| trace.tree.parent.is_none());
        TraceStats {
            number,
            name: trace.name.clone(),
            parent: trace.tree.parent,
            failed_sides: trace.tree.failed(),
            entries: trace.entries,
            exits: trace.exit_counts().by_name(),
            ops: trace.ops,
            code_bytes: trace.generated.code_bytes as u64,
            saved_per_ns: trace.saved_per_ns,
            compile_us: trace.compile_ns / 1000,
            state: location.map_or("", |location| location.state.name()),
            interpreter_ns: location.and_then(|location| location.pace.ns()),
            ns_per_entry: location.and_then(|location| location.pay.ns_per_entry()),
        }
    }
}

fn make_backend(config: &Config) -> Backend {
    let options = Options {
        verify: config.verify,
        no_unrolling: config.no_unrolling,
        no_prefetching: config.no_prefetching,
        want_clif: config.log.contains(&crate::log::Stage::Clif),
        want_disasm: config.log.contains(&crate::log::Stage::Asm),
        want_listing: config.log.contains(&crate::log::Stage::Code),
        ..Options::default()
    };
    let compiler = match Compiler::new(options) {
        Ok(compiler) => compiler,
        Err(error) => return Backend::Refused(AbortReason::Internal, error.to_string()),
    };
    let arena = Arena::new(ArenaOptions {
        limit: config.code_bytes,
        refuse_executable: config.refuse_executable_memory,
        fail_allocation: config.fail_code_allocation,
    });
    match arena {
        Ok(arena) => Backend::Ready(Box::new(Ready { compiler, arena, glue: None })),
        Err(error) => Backend::Refused(AbortReason::NoExecutableMemory, error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Action;

    /// A program without a hot loop pays neither for the code generator nor for its memory.
    #[test]
    fn the_backend_waits_for_a_hot_loop() {
        let mut vm = Vm::new(Config { threshold: 2, ..Config::exact() }).unwrap();
        let mut counters = [0; 4];
        let base = [0u8; 64];
        // SAFETY: the counters outlive the VM's use of them; no trace names a slot.
        unsafe { vm.set_counters(counters.as_mut_ptr(), counters.len()) };
        assert!(matches!(vm.backend, Backend::Pending) && vm.cells.exit_buffer.is_empty());
        let mut hot = || {
            // SAFETY: as above.
            let action = unsafe { vm.hot(8, counters.as_ptr(), base.as_ptr()) };
            (action, matches!(vm.backend, Backend::Pending))
        };
        assert!(matches!(hot(), (Action::Nothing, true)));
        assert!(matches!(hot(), (Action::Record, false)) && matches!(vm.backend, Backend::Ready(_)));
        assert_eq!(vm.cells.exit_buffer.len(), EXIT_BUFFER_CELLS);
    }
}
