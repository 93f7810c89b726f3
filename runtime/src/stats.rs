//! Statistics: what was compiled, how it runs, and what was not compiled and why.
//!
//! Everything that does not become machine code is counted by reason, so that a silent fallback cannot make a
//! number look good. Counters that cost something in compiled code (iterations, guards) are kept only if
//! configured; then they are exact, else they are absent (`null`), never zero. The JSON form is `serde`'s
//! view of [`Stats`]; the form for people is in `report.rs`.

use std::collections::BTreeMap;

use serde::Serialize;
use tracelift_core::ExitKind;

use crate::ids::{ExitPoint, TraceId};

/// A snapshot of the counters of a [`Vm`](crate::Vm). So many fields, all on one level: they are the keys of
/// the JSON object that other programs read.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Stats {
    /// Whether anything is compiled at all, and if not, why.
    pub jit: String,
    /// Back edges that the interpreter counted.
    pub interpreted_back_edges: u64,
    /// Iterations that ran as machine code; absent unless configured.
    pub compiled_iterations: Option<u64>,
    /// Share of all loop iterations that ran as machine code, 0 to 1; absent unless configured.
    pub compiled_share: Option<f64>,
    /// Guards that compiled code executed; absent unless configured.
    pub guards_executed: Option<u64>,
    /// Recordings started.
    pub recordings: u64,
    /// Times that something was hot, but compiling had taken its share of the time.
    pub postponed_recordings: u64,
    /// Back edges that were interpreted before the first trace was made; absent if none was.
    pub first_trace_after: Option<u64>,
    /// What earlier runs have told this one; absent if nobody keeps that.
    pub hints: Option<HintUse>,
    /// Times that a loop's code was not entered for a while, since its entries lost more than they saved.
    pub rests: u64,
    /// Loops that have rested so often that their code counts as retired.
    pub retired: u64,
    /// Times in which code was bought before it had earned its price; absent if there were none.
    pub ventures: Option<VentureUse>,
    /// Functions that code calls natively; absent if there were none.
    pub units: Option<UnitUse>,
    /// Trees of traces that became one function; absent if none did.
    pub regions: Option<RegionUse>,
    /// What was compiled on another thread; absent if nothing was.
    pub thread: Option<ThreadUse>,
    /// Where the program's processor time went.
    pub time: Time,
    /// Recordings taken again because slot types changed.
    pub retaken: u64,
    /// Loops whose code was given up, because a guard before the loop failed too often, to be compiled
    /// without such guards.
    pub unhoisted: u64,
    /// Loops compiled again with a preamble, as they went on for long.
    pub outgrown: u64,
    /// Traces that were given up, because what the host had taken for unchanging when they were recorded has
    /// changed.
    pub outdated: u64,
    /// Code that had to make room for other code; absent if none had to.
    pub evicted: Option<Evicted>,
    /// Permanent helpers that traces of this process call; absent if none has wanted any.
    pub helpers: Option<Helpers>,
    /// Code that the host has made itself; absent if there is none.
    pub host_code: Option<HostCodeUse>,
    /// Recordings given up, by reason.
    pub aborts: BTreeMap<String, u64>,
    /// Back edges at a compiled loop whose entries all expect other slot types.
    pub refused_entries: u64,
    /// Entries put off because the host could not hold memory for the objects that an exit may make.
    pub unsecured_entries: u64,
    /// Entries that the host declined: it had no room for the stack, the frames or the calls that an exit may
    /// need.
    pub declined_entries: u64,
    /// Layouts whose objects are never left virtual, since the host has no function that holds memory for
    /// them.
    pub never_virtual: Vec<String>,
    /// Times that the host has entered compiled code; going from trace to trace is not counted.
    pub entries: u64,
    /// Iterations that ran as machine code for each of these; absent unless iterations are counted.
    pub iterations_per_entry: Option<f64>,
    /// Traces that end before something that cannot be recorded, by what it is.
    pub ends: BTreeMap<String, u64>,
    /// Calls of the host that were recorded, by what they stand for.
    pub host_calls: BTreeMap<String, u64>,
    /// Exits by kind.
    pub exits: BTreeMap<&'static str, u64>,
    /// Traces in the order they were made: those alive, and if iterations are counted those that were freed,
    /// too.
    pub traces: Vec<TraceStats>,
    /// Loops and functions that were hot, or for which recordings were given up, those that are gone first.
    pub places: Vec<PlaceStats>,
    /// Exits that were often taken to the interpreter, for want of a side trace.
    pub left: Vec<LeftStats>,
    /// What of `host_calls` was recorded where.
    pub called_at: BTreeMap<String, u64>,
    /// Totals over all traces ever made.
    pub compile: CompileStats,
    /// What an operation and a guard cost, by these totals; absent before the first trace.
    pub costs: Option<Costs>,
    /// Fired rewrites of the optimizer, by name.
    pub rewrites: BTreeMap<String, u64>,
}

/// What was compiled on another thread, while the program went on.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Serialize)]
pub struct ThreadUse {
    /// Traces, and trees that were to become one function, that were handed over.
    pub handed_over: u64,
    /// Those of which nothing came, as their function was gone.
    pub cancelled: u64,
    /// Those that the program has waited for all the same.
    pub waited_for: u64,
    /// Nanoseconds of the thread's processor time.
    pub ns: u64,
}

/// Where a program's processor time went, in seconds since the JIT was made.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Time {
    /// All of it.
    pub program: f64,
    /// In compiled code, what it calls included: estimated from the entries that were timed, which are all if
    /// iterations are counted.
    pub machine: f64,
    /// The same as a share of all, 0 to 1.
    pub machine_share: f64,
    /// What compiled code is believed to have saved, less what entering and leaving it has cost.
    pub saved: f64,
    /// Recording, what came of it or not.
    pub recording: f64,
    /// Compiling: the optimizer, Cranelift, and what makes code known.
    pub compiling: f64,
}

/// What earlier runs have told this one.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct HintUse {
    /// Hints that there were.
    pub known: u64,
    /// Loops and entries that were due sooner for that.
    pub hastened: u64,
    /// Those that were not tried as soon as others.
    pub avoided: u64,
    /// Why there were none, if what was found is none.
    pub refused: Option<String>,
}

/// Code that was freed since code memory was full.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Evicted {
    /// Loops with their side traces.
    pub trees: u64,
    /// Traces in them.
    pub traces: u64,
    /// Bytes of code memory.
    pub bytes: u64,
    /// Why these and no others: how many trees were entered no more (`given up`), hardly of use since others
    /// were made (`idle`), or less useful than all others for their size.
    pub reasons: BTreeMap<&'static str, u64>,
}

/// Times in which code was bought before it had earned its price.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct VentureUse {
    /// How many are over.
    pub over: u32,
    /// Those of them in which code has gained more than it took to make.
    pub paid: u32,
}

/// Functions that code calls natively.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct UnitUse {
    /// How many got code.
    pub compiled: u64,
    /// Those of them that are called no more, as they were left too often.
    pub retired: u64,
    /// Times that one was left by an exit.
    pub left: u64,
    /// How often one was called, if iterations are counted.
    pub calls: Option<u64>,
    /// Callers that were left with them, and went on in the interpreter: calls that did not return.
    pub callers_left: u64,
    /// Most callers that were left at once.
    pub deepest: u64,
}

/// Trees of traces that became one function.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct RegionUse {
    /// How many times that was done, each time that a tree had grown among them.
    pub made: u64,
    /// Traces in them, in all.
    pub traces: u64,
    /// Operations in them, in all.
    pub ops: u64,
    /// The same in the largest.
    pub largest: u64,
    /// Times that it could not be done.
    pub refused: u64,
    /// Nanoseconds that it took.
    pub ns: u64,
}

/// What permanent helpers take, beside the code of traces.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Helpers {
    /// How many there are.
    pub functions: usize,
    /// Bytes of their code.
    pub code_bytes: usize,
    /// Microseconds that it took to make them.
    pub us: u64,
}

/// What a host's own code takes, beside that of traces: in Lua, baseline code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HostCodeUse {
    /// Pieces that were made; in Lua one for each function that is called often.
    pub pieces: u32,
    /// Bytes of their code.
    pub code_bytes: usize,
    /// Pieces that there was no room for, or that the host could not make.
    pub refused: u64,
}

/// Totals of compilation.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CompileStats {
    /// Traces compiled.
    pub traces: u64,
    /// Side traces among them.
    pub side_traces: u64,
    /// Those among them whose code Cranelift's code generator has made, by reason. For all others quick code
    /// was made, without it.
    pub by_cranelift: BTreeMap<&'static str, u64>,
    /// Operations recorded.
    pub ops_recorded: u64,
    /// Operations left after optimization.
    pub ops_optimized: u64,
    /// Guards in compiled code.
    pub guards: u64,
    /// Bytes of machine code.
    pub code_bytes: u64,
    /// Bytes of resume data.
    pub resume_bytes: u64,
    /// Microseconds spent in the optimizer.
    pub optimize_us: u64,
    /// Microseconds spent making machine code.
    pub codegen_us: u64,
    /// Microseconds of these spent building Cranelift's input.
    pub build_us: u64,
    /// Places of memory that the optimizer forgot because it knew too many: loads of them may be repeated in
    /// vain.
    pub places_forgotten: u64,
    /// Operations of an iteration by group; absent unless iterations are counted.
    pub operations: Option<GroupedOps>,
}

/// What compiling costs on average: times in microseconds, sizes in bytes. Guards are operations too, so the
/// two columns share out the same whole in two ways.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Costs {
    /// Time in the optimizer for each operation that it left.
    pub optimize_us_per_op: f64,
    /// Time to build Cranelift's input for each of them.
    pub build_us_per_op: f64,
    /// Time to make machine code of that for each of them.
    pub machine_us_per_op: f64,
    /// The same by guards; absent if there are none.
    pub per_guard: Option<GuardCosts>,
}

/// What compiling costs for each guard of the optimized traces.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct GuardCosts {
    /// Time in the optimizer.
    pub optimize_us: f64,
    /// Time to build Cranelift's input.
    pub build_us: f64,
    /// Time to make machine code of that.
    pub machine_us: f64,
    /// Machine code.
    pub code_bytes: f64,
    /// Resume data.
    pub resume_bytes: f64,
}

impl CompileStats {
    /// The totals shared out to operations and guards.
    pub fn costs(&self) -> Option<Costs> {
        let machine_us = self.codegen_us - self.build_us;
        let shares = |count: u64| {
            (count > 0).then(|| {
                let share = move |total: u64| total as f64 / count as f64;
                ([self.optimize_us, self.build_us, machine_us].map(share), share)
            })
        };
        let ([optimize_us_per_op, build_us_per_op, machine_us_per_op], _) = shares(self.ops_optimized)?;
        let per_guard = shares(self.guards).map(|([optimize_us, build_us, machine_us], share)| GuardCosts {
            optimize_us,
            build_us,
            machine_us,
            code_bytes: share(self.code_bytes),
            resume_bytes: share(self.resume_bytes),
        });
        Some(Costs { optimize_us_per_op, build_us_per_op, machine_us_per_op, per_guard })
    }
}

/// Operations by the groups of seed 002's Figure 7.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct OpGroups {
    /// Allocations.
    pub new: u64,
    /// Loads and stores.
    pub get_set: u64,
    /// Guards.
    pub guard: u64,
    /// All operations.
    pub all: u64,
}

impl From<tracelift_opt::OpCounts> for OpGroups {
    fn from(counts: tracelift_opt::OpCounts) -> OpGroups {
        let tracelift_opt::OpCounts { new, get_set, guard, all } = counts;
        OpGroups { new: new as u64, get_set: get_set as u64, guard: guard as u64, all: all as u64 }
    }
}

impl std::ops::AddAssign for OpGroups {
    fn add_assign(&mut self, more: OpGroups) {
        self.new += more.new;
        self.get_set += more.get_set;
        self.guard += more.guard;
        self.all += more.all;
    }
}

/// What an iteration of each compiled loop consists of, summed over the loops: recorded operations taken
/// apart into loads, stores and guards with every optimization off, and what is left with the passes that are
/// on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct GroupedOps {
    /// Without optimization.
    pub before: OpGroups,
    /// With it; the preamble of a peeled loop runs once and does not count.
    pub after: OpGroups,
}

/// One trace. So many fields: they are the keys of its JSON object.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TraceStats {
    /// Its number.
    pub number: TraceId,
    /// Its name in the text form.
    pub name: String,
    /// What it is called, with the host's name of the place where it begins.
    pub title: String,
    /// The trace and the exit that a side trace begins at.
    pub parent: Option<ExitPoint>,
    /// Exits, of those tried, where no side trace could be recorded.
    pub failed_sides: u32,
    /// Times that the host has entered it; not counted is who came by a link.
    pub entries: u64,
    /// Times that it was left to the host, by kind.
    pub exits: BTreeMap<&'static str, u64>,
    /// Operations recorded and left after optimization.
    pub ops: (u64, u64),
    /// Bytes of machine code.
    pub code_bytes: u64,
    /// Iterations that it has counted; absent unless configured.
    pub iterations: Option<u64>,
    /// Calls of its unit, likewise.
    pub calls: Option<u64>,
    /// What a nanosecond in it is believed to save, in nanoseconds.
    pub saved_per_ns: f64,
    /// Processor time that compiling it took, in microseconds.
    pub compile_us: u64,
    /// In a loop's trace: whether its code is entered at present, or rests, or is retired.
    pub state: &'static str,
    /// In a loop's trace: nanoseconds from the host's entry to the exit back to it, in the mean of the timed
    /// ones.
    pub ns_per_entry: Option<f64>,
    /// In a loop's trace: nanoseconds that the interpreter takes for an iteration, where some were timed.
    pub interpreter_ns: Option<f64>,
}

/// A loop's head, or where functions are entered.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PlaceStats {
    /// What its code is called.
    pub name: String,
    /// What the host calls the place.
    pub place: Option<String>,
    /// Whether functions are entered there, or go on after a call.
    pub is_entry: bool,
    /// What has become of it.
    pub state: &'static str,
    /// Whether it has code that is entered at present.
    pub is_compiled: bool,
    /// Iterations that began here and ran as machine code, if these are counted.
    pub iterations: u64,
    /// Calls of the function from machine code, without the interpreter, if these are counted.
    pub calls: u64,
    /// Iterations, or entries, that were interpreted.
    pub interpreted: u64,
    /// Seconds in machine code that was entered here, that which it led to included.
    pub machine: f64,
    /// Recordings that were given up since the last one that was not.
    pub attempts: u32,
    /// Why the last one was.
    pub reason: Option<String>,
    /// What that means to whoever has written the program, if it is known.
    pub meaning: Option<String>,
    /// What the host calls the place of the operation that could not be recorded.
    pub at: Option<String>,
}

/// An exit that was often taken to the interpreter.
#[derive(Clone, Debug, Serialize)]
pub struct LeftStats {
    /// Which it is.
    pub exit: ExitPoint,
    /// What the code is called.
    pub code: String,
    /// What the host calls the place where the program goes on.
    pub place: Option<String>,
    /// Its kind.
    pub kind: &'static str,
    /// How often it was taken.
    pub count: u64,
    /// Why there is no side trace, if one was recorded.
    pub reason: Option<String>,
    /// What that means to whoever has written the program, if it is known.
    pub meaning: Option<String>,
    /// Where that could not go on.
    pub at: Option<String>,
}

/// Counts exits by kind without searching.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExitCounts([u64; ExitKind::ALL.len()]);

impl ExitCounts {
    /// So many exits of that kind.
    pub fn count(&mut self, kind: ExitKind, exits: u64) {
        self.0[kind as usize] += exits;
    }

    /// Adds another count.
    pub fn add(&mut self, other: &ExitCounts) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, more)| *sum += more);
    }

    /// The counts that are not 0, by name.
    pub fn by_name(&self) -> BTreeMap<&'static str, u64> {
        let counts = ExitKind::ALL.iter().map(|&kind| (kind.name(), self.0[kind as usize]));
        counts.filter(|&(_, count)| count > 0).collect()
    }
}
