//! The compiled traces, by number.
//!
//! Problem: traces live as long as their loop, are freed in the midst of others, and are still named by
//! others then. Design: a table with a place for each number that was ever given ([`crate::ids`]); the number
//! of a trace that is gone leads to nothing. Entering code is decided here for all who do it
//! ([`Traces::enter`]).
//!
//! Invariant: numbers are not used again, and a trace is entered only with slots whose tags it expects and
//! with memory for all that exits may make.
//!
//! ```text
//! trace 3 is freed: get(TraceId(3)) is None from now on, and the next trace is number 4 all the same
//! ```

use std::sync::Arc;

use tracelift_core::ir::EntrySlot;
use tracelift_core::snapshot::Words;
use tracelift_core::{ExitKind, Schema};
use tracelift_cranelift::{CodePtr, LinkedEntry, Stats as Generated};
use tracelift_opt::{BridgeTarget, ResumeTable};

use crate::ids::{ExitId, ExitPoint, TraceId};
use crate::names::{Names, Place};
use crate::plan::Plan;
use crate::policy::SideState;
use crate::reserve::{Need, Reserves};
use crate::run::Run;
use crate::stats::ExitCounts;
use crate::tree::{Member, Reach, Region, Tree};
use crate::tunables::GATE_REFUSALS;

/// An exit that the host was led to by [`crate::Vm::exit`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Left {
    pub at: ExitPoint,
    pub kind: ExitKind,
}

/// What a trace has cost, and what it is believed to gain.
pub(crate) struct Worth {
    /// Operations recorded and left after optimization.
    pub ops: (u64, u64),
    /// What a nanosecond in it saves: see [`crate::policy::saved_per_ns`].
    pub saved_per_ns: f64,
    /// Processor time that compiling it took.
    pub compile_ns: u64,
    /// Nanoseconds in code of its location that was there before.
    pub machine_before: f64,
}

/// A compiled trace, alive. So many fields: what the host needs to enter and to leave it, and what it may
/// still become.
pub(crate) struct TraceData {
    pub name: String,
    /// What it is called when it is told of.
    pub title: String,
    pub code: CodePtr,
    /// The same for the host.
    pub entry_code: LinkedEntry,
    /// For each exit, where the code goes on after it; it reads these cells itself.
    pub links: Box<[u64]>,
    /// The same for slots of other types than a side trace expects.
    pub other: Box<u64>,
    /// Sizes and times of its code. The code itself lies in the arena only.
    pub generated: Generated,
    pub resume: ResumeTable,
    /// The constants of `resume`, as bits.
    pub pool: Vec<u64>,
    pub entry: Vec<EntrySlot>,
    /// Virtual objects that an exit of its own may make.
    pub lifts: Vec<Need>,
    /// What must be there before the trace is entered, for its exits and those of all code that it leads to.
    pub reach: Reach,
    pub entries: u64,
    /// How often it was entered with slots of other types than it expects: see [`crate::fast_path`].
    pub refusals: u64,
    /// Its exits, by number.
    pub exits: Box<[ExitCell]>,
    pub worth: Worth,
    pub tree: Tree,
    /// What its code was made of.
    pub source: Arc<Member>,
    /// In a root: its tree as one function.
    pub region: Region,
    /// In a root with a second body: what it takes to go on there.
    pub target: Option<Arc<BridgeTarget>>,
}

impl TraceData {
    /// Whether entries that nobody has looked at are refused too often.
    pub fn refuses_often(&self) -> bool {
        self.refusals * GATE_REFUSALS > self.entries
    }

    /// How often it was left, by kind.
    pub fn exit_counts(&self) -> ExitCounts {
        let mut counts = ExitCounts::default();
        // Callers of units that were left are counted with these.
        let own = self.exits.iter().filter(|exit| exit.kind != ExitKind::Called);
        own.for_each(|exit| counts.count(exit.kind, exit.count));
        counts
    }

    /// What has become of an exit as a place where a side trace begins; see [`crate::Vm::next`].
    pub fn set_side(&mut self, exit: ExitId, state: SideState) {
        self.tree.sides.insert(exit, state);
        self.exits[exit.index()].quiet_until = 0;
    }

    /// Whether the exit leads to this side trace first.
    pub fn has_side(&self, exit: ExitId, side: TraceId) -> bool {
        self.tree.sides.get(&exit) == Some(&SideState::Compiled(side))
    }

    /// The cells that say where its code goes on.
    pub fn link_cells(&mut self) -> impl Iterator<Item = &mut u64> {
        self.links.iter_mut().chain([&mut *self.other])
    }

    /// Whether this is a trace of a unit, and no side trace can be hoped for at the exit.
    pub fn is_left_in_vain(&self, exit: ExitId) -> bool {
        self.tree.unit.is_some()
            && match self.exits[exit.index()].kind {
                ExitKind::Guard | ExitKind::LoopEnd => {
                    self.tree.sides.get(&exit).is_some_and(|side| side.failures() > 0)
                }
                ExitKind::Collect => false,
                _ => true,
            }
    }

    /// Where the program goes on after an exit: the words of the innermost frame.
    pub fn goes_on_at(&self, exit: ExitId) -> Option<Words> {
        let state = self.resume.state(exit.index()).ok()?;
        let frame = state.frames().last()?;
        Some(frame.words.map(|word| self.pool.get(word as usize).copied().unwrap_or(0)).collect())
    }

    /// What the host calls that place.
    pub fn place_of_exit(&self, exit: ExitId, names: &Names) -> Option<String> {
        names.of(Place::Frame(&self.goes_on_at(exit)?))
    }

    /// The code's address, as links hold it.
    pub fn address(&self) -> u64 {
        self.code.address() as u64
    }

    /// How the host enters it.
    pub fn run(&self) -> Run {
        Run { code: self.entry_code, needs: self.reach.needs }
    }

    /// Whether the slots of a frame hold what it expects.
    ///
    /// # Safety
    /// `base` points to the frame's slots, as many as the trace names.
    unsafe fn fits(&self, base: *const u8, schema: &Schema) -> bool {
        let layout = schema.slots();
        self.entry.iter().all(|entry| {
            // SAFETY: promised by the caller.
            let bits = unsafe { crate::slots::read_tag(base, entry.slot, &layout) };
            bits.is_none_or(|bits| bits == schema.tag(entry.tag).bits)
        })
    }
}

/// What is kept of an exit for when it is taken.
#[derive(Debug)]
pub(crate) struct ExitCell {
    /// How often it was taken.
    pub count: u64,
    /// How many callers of units were left with it: each makes it as dear as another exit.
    pub callers: u64,
    /// As long as it was taken less often there is nothing to decide after it.
    pub quiet_until: u64,
    /// The exit, decoded.
    pub plan: Option<Box<Plan>>,
    pub kind: ExitKind,
    /// How much of the trace is over there, from 0 to 1; in a peeled one: of an iteration.
    pub progress: f32,
}

impl ExitCell {
    /// How often it was taken, as far as that is to be avoided.
    pub fn heat(&self) -> u64 {
        self.count + self.callers
    }
}

/// What came of the wish to enter one of some traces.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Entered {
    /// This one is entered; it counts the entry.
    Trace(TraceId),
    /// There is no memory for what its exits may make.
    WithoutMemory,
    /// None expects such slots.
    None,
}

/// All traces.
#[derive(Default)]
pub(crate) struct Traces {
    all: Vec<Option<Box<TraceData>>>,
}

impl Traces {
    /// The number of the trace that is compiled next.
    pub fn next_id(&self) -> TraceId {
        TraceId(self.all.len() as u32)
    }

    pub fn push(&mut self, trace: TraceData) {
        self.all.push(Some(Box::new(trace)));
    }

    /// A trace, if it is alive.
    #[inline]
    pub fn get(&self, id: TraceId) -> Option<&TraceData> {
        self.all.get(id.0 as usize)?.as_deref()
    }

    #[inline]
    pub fn get_mut(&mut self, id: TraceId) -> Option<&mut TraceData> {
        self.all.get_mut(id.0 as usize)?.as_deref_mut()
    }

    /// Takes a trace out, for good.
    pub fn take(&mut self, id: TraceId) -> Option<Box<TraceData>> {
        self.all.get_mut(id.0 as usize)?.take()
    }

    /// Those alive, by number.
    pub fn alive(&self) -> impl Iterator<Item = (TraceId, &TraceData)> {
        let numbered = self.all.iter().enumerate();
        numbered.filter_map(|(number, trace)| Some((TraceId(number as u32), trace.as_deref()?)))
    }

    /// The first of these that expects the slots of the frame.
    ///
    /// # Safety
    /// `base` points to the frame's slots, as many as these traces name.
    pub unsafe fn fitting(&self, ids: &[TraceId], base: *const u8, schema: &Schema) -> Option<TraceId> {
        // SAFETY: promised by the caller.
        let fits = |&id: &TraceId| self.get(id).is_some_and(|trace| unsafe { trace.fits(base, schema) });
        ids.iter().copied().find(fits)
    }

    /// The host is to enter the first of these that expects the slots of its frame.
    ///
    /// # Safety
    /// As for [`Traces::fitting`]; the host's functions that hold memory may be called.
    pub unsafe fn enter(
        &mut self,
        ids: &[TraceId],
        base: *const u8,
        schema: &Schema,
        reserves: &mut Reserves,
    ) -> Entered {
        // SAFETY: promised by the caller.
        let Some(id) = (unsafe { self.fitting(ids, base, schema) }) else { return Entered::None };
        let Some(trace) = self.get_mut(id) else { return Entered::None };
        // SAFETY: promised by the caller.
        if !unsafe { reserves.secure(&trace.reach.lifts) } {
            return Entered::WithoutMemory;
        }
        trace.entries += 1;
        Entered::Trace(id)
    }
}
