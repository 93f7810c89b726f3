//! What the driver and all passes work on: the trace that comes out, and what is known while it does.
//!
//! Problem: a dozen passes share one walk, and whatever one of them may touch directly, all others have to
//! reckon with. Design: each concern is a struct of its own with narrow methods. [`Index`] finds things in
//! the output, [`Position`] says where the walk is, [`Walks`] what the walks of a peeled loop have to do with
//! each other, [`Hoisted`] which guards were put before the loop, [`Lifting`] where virtual
//! objects can be made, [`Rewrites`] what was done and how much more may be. Passes read the output, the
//! source and the [`Facts`]; what changes any of the others goes through methods of [`State`].
//!
//! Invariants: output values are made when an instruction is committed, never before; a guard's snapshot is
//! mapped at that moment, so it shows what is known before the guard and not what the guard proves.
//!
//! ```text
//! commit(guard_true(i1) @3 of the source)  =>  the source's snapshot 3, with what is known now of its
//!                                              values, is the output's snapshot 1; guard_true(i1) @1
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::hash::BuildHasher;

use rustc_hash::{FxBuildHasher, FxHashMap as HashMap, FxHashSet as HashSet};
use smallvec::SmallVec;

use tracelift_core::effects::CellAccess;
use tracelift_core::planted::{planted, Bug};
use tracelift_core::schema::CellId;
use tracelift_core::snapshot::{Pending, Snapshot, Source};
use tracelift_core::{Const, ExitKind, Inst, Op, Payload, Schema, SnapId, Trace, Type, Value};

use crate::collect::is_check;
use crate::facts::{Facts, ValueTable};
use crate::walks::Walks;
use crate::{Config, OptError, Report};

/// Where an instruction on its way through the chain leaves to. It travels as the instruction's snapshot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Leave {
    /// A snapshot of the source: it is mapped when the instruction is committed.
    Recorded(SnapId),
    /// One of the output.
    Mapped(SnapId),
}

impl Leave {
    /// Only here: the highest bit tells the two apart. Recordings are limited to far fewer snapshots.
    const MAPPED: u32 = 1 << 31;

    fn of(snap: SnapId) -> Leave {
        match snap.0 & Leave::MAPPED {
            0 => Leave::Recorded(snap),
            _ => Leave::Mapped(SnapId(snap.0 & !Leave::MAPPED)),
        }
    }

    fn snap(self) -> SnapId {
        match self {
            Leave::Recorded(snap) => snap,
            Leave::Mapped(snap) => SnapId(snap.0 | Leave::MAPPED),
        }
    }
}

/// Finds things in the output.
#[derive(Default)]
struct Index {
    /// Position of the instruction that defines a value.
    defs: ValueTable<u32>,
    /// Snapshots by their hash.
    snapshots: HashMap<u64, SmallVec<[SnapId; 2]>>,
    /// The snapshot that was mapped last: of the source, the facts' version, of the output.
    last_snapshot: Option<(SnapId, u32, SnapId)>,
    /// The host's context pointer.
    context: Option<Value>,
}

/// Where the walk over the source is.
pub(crate) struct Position {
    /// The recorded instruction that is being walked.
    pub current: u32,
    /// Its depth in the host's functions.
    pub depth: u8,
    /// Output value of each source value, once it is known.
    pub map: Vec<Option<Value>>,
    /// Output position at which each source instruction began.
    pub started: Vec<u32>,
    /// What the results of recorded operations are called on a later walk; on the first they keep their
    /// names.
    pub names: Option<Vec<Option<Box<str>>>>,
    /// How many of each the current expansion has emitted.
    made_now: Vec<((Op, Payload), u32)>,
}

/// Guards that were put before the loop.
#[derive(Default)]
pub(crate) struct Hoisted {
    /// Their positions, and whether they stand for guards in the loop.
    pub guards: Vec<(u32, bool)>,
    /// On the loop's walk: values of the preamble of which something relies on being the same in all
    /// iterations.
    pub steady_wanted: HashSet<Value>,
    /// Whether one of these is not.
    pub is_unsteady: bool,
}

/// Where virtual objects can be made.
#[derive(Default)]
struct Lifting {
    /// The last snapshot that no committed effect has followed. Most are never asked for, and so it is mapped
    /// only then, or before a virtual object or a store that waits changes.
    resume_point: Option<Leave>,
    /// Whether an object is being made: what is written then is new, and nobody sees it.
    is_on: bool,
    /// While an operation's stores are told to wait: those met so far.
    delaying: Option<Vec<DelayedStore>>,
    /// Recorded `new`s whose objects must be real.
    real: BTreeSet<u32>,
    /// More of them, found on this walk.
    more_real: BTreeSet<u32>,
}

/// A store that waits: address, cell, value.
pub(crate) type DelayedStore = (Value, CellId, Value);

/// What was done, and how much more may be.
#[derive(Default)]
struct Rewrites {
    /// How often each fired; names are compared by address, so a name may come twice.
    fired: HashMap<(*const u8, usize), (&'static str, u64)>,
    fuel: Option<u64>,
    /// How often a pass looked at an operation.
    visited: u64,
    /// What was known of memory and given up because a list was full.
    given_up: u64,
}

/// What a walk gave.
pub(crate) struct Walked {
    /// The output.
    pub trace: Trace,
    /// How often each rewrite fired.
    pub fired: BTreeMap<&'static str, u64>,
    /// How often a pass looked at an operation, or at an object that does not exist yet.
    pub visited: u64,
    /// What was known of memory and given up because a list was full.
    pub given_up: u64,
    /// Recorded `new`s that must be real: if there are any, the output is wrong.
    pub more_real: BTreeSet<u32>,
    /// Guards before the loop rely on something that changes in it: the output is wrong.
    pub is_unsteady: bool,
}

impl Walked {
    /// Adds the counters to a report.
    pub fn report(&self, report: &mut Report) {
        report.visited += self.visited;
        report.given_up += self.given_up;
        for (rule, count) in &self.fired {
            *report.rules.entry(rule).or_default() += count;
        }
    }
}

/// Room in tables that most traces do not outgrow.
const ROOM: usize = 28;

/// A table with room.
fn table_of<K, V>(room: usize) -> HashMap<K, V> {
    HashMap::with_capacity_and_hasher(room, FxBuildHasher)
}

/// What the driver and all passes work on.
pub(crate) struct State<'s> {
    /// The host's declarations.
    pub schema: &'s Schema,
    /// The trace that is walked.
    pub source: &'s Trace,
    /// The trace that comes out.
    pub out: Trace,
    /// What is known of its values.
    pub facts: Facts,
    /// Where the walk is.
    pub at: Position,
    /// The walks of a peeled loop.
    pub walks: Walks,
    /// Guards before the loop.
    pub hoisted: Hoisted,
    index: Index,
    lifting: Lifting,
    rewrites: Rewrites,
    /// Whether checks for a collection may be removed from what comes out.
    checks_say_nothing: bool,
}

impl<'s> State<'s> {
    /// Nothing is walked yet.
    pub fn new(source: &'s Trace, schema: &'s Schema, config: &Config) -> State<'s> {
        let mut out = Trace::new(&source.name);
        out.entry = source.entry.clone();
        out.entry_tags = source.entry_tags.clone();
        out.entry_known = source.entry_known.clone();
        out.entry_cells = source.entry_cells.clone();
        out.unit = source.unit;
        out.labels = source.labels.clone();
        // As much as comes out of most walks, so that nothing is moved while it grows.
        out.insts.reserve(source.insts.len() + source.insts.len() / 2);
        out.values.reserve(source.values.len() + source.values.len() / 2);
        out.snapshots.reserve(source.snapshots.len());
        out.reserve_constants(ROOM);
        State {
            schema,
            source,
            out,
            facts: Facts::default(),
            at: Position {
                current: 0,
                depth: 0,
                map: vec![None; source.values.len()],
                started: Vec::with_capacity(source.insts.len()),
                names: None,
                made_now: Vec::new(),
            },
            walks: Walks::default(),
            hoisted: Hoisted::default(),
            index: Index { snapshots: table_of(source.snapshots.len()), ..Index::default() },
            lifting: Lifting::default(),
            checks_say_nothing: config.checks_say_nothing(),
            rewrites: Rewrites { fuel: config.fuel, fired: table_of(ROOM), ..Rewrites::default() },
        }
    }

    /// What came of the walk.
    pub fn walked(self) -> Walked {
        let visited = self.rewrites.visited + self.facts.statics.looks();
        let mut fired = BTreeMap::new();
        for (rule, count) in self.rewrites.fired.into_values() {
            *fired.entry(rule).or_default() += count;
        }
        Walked {
            trace: self.out,
            fired,
            visited,
            given_up: self.rewrites.given_up,
            more_real: self.lifting.more_real,
            is_unsteady: self.hoisted.is_unsteady,
        }
    }
}

// Rewrites.
impl State<'_> {
    /// Counts a rewrite; `false` when the fuel is used up and it must not be made.
    pub fn fire(&mut self, rule: &'static str) -> bool {
        if let Some(fuel) = &mut self.rewrites.fuel {
            if *fuel == 0 {
                return false;
            }
            *fuel -= 1;
        }
        self.rewrites.fired.entry((rule.as_ptr(), rule.len())).or_insert((rule, 0)).1 += 1;
        true
    }

    /// A pass looks at an operation.
    pub fn visit(&mut self) {
        self.rewrites.visited += 1;
    }

    /// So much that was known of memory is given up because a list was full.
    pub fn give_up(&mut self, count: u64) {
        self.rewrites.given_up += count;
    }
}

// The output and what is known of it.
impl State<'_> {
    /// The instruction that defines an output value; none for inputs' and constants'.
    pub fn def(&self, value: Value) -> Option<&Inst> {
        self.index.defs.get(value).map(|index| &self.out.insts[index as usize])
    }

    /// The position of the instruction that defines an output value.
    pub fn def_index(&self, value: Value) -> Option<usize> {
        self.index.defs.get(value).map(|index| index as usize)
    }

    /// The bits of a value that is a constant of known bits.
    pub fn bits(&self, value: Value) -> Option<u64> {
        self.out.bits_of(value)
    }

    /// A constant of the output trace.
    pub fn constant(&mut self, ty: Type, bits: u64) -> Value {
        self.out.constant(ty, Const::Bits(bits))
    }

    /// The constant or the lifted object that a value is known to be, else the value.
    pub fn resolve(&self, value: Value) -> Value {
        self.facts.resolve(value)
    }

    /// Gives a value the name of another.
    pub fn take_name(&mut self, from: Value, to: Value) {
        let name = self.out.values[from.index()].name.take();
        let data = &mut self.out.values[to.index()];
        if data.name.is_none() {
            data.name = name;
        }
    }

    /// Whether two references are to different objects: different constants, or of classes that exclude each
    /// other.
    pub fn are_different(&self, a: Value, b: Value) -> bool {
        if self.out.ty(a) != Type::Ref || self.out.ty(b) != Type::Ref {
            return false;
        }
        let constants = self.out.constant_of(a).zip(self.out.constant_of(b));
        if let Some(is_same) = constants.and_then(|(a, b)| a.is_same(b)) {
            return !is_same;
        }
        let class_word = |object| {
            let layout = self.facts.class_of(self.schema, object)?;
            self.schema.layout(layout).class_word
        };
        match (class_word(a), class_word(b)) {
            (Some((cell, is)), Some((other, wants))) => cell == other && is != wants,
            _ => false,
        }
    }

    /// The host's context pointer, if it was asked for.
    pub fn context(&self) -> Option<Value> {
        self.index.context
    }

    /// Whether an instruction may run the host's collector: pointers from before are not used after it,
    /// unless the recorded trace does so.
    pub fn collects(&self, inst: &Inst) -> bool {
        matches!(inst.payload, Payload::Func(_)) && inst.effects(self.schema).collects
    }
}

// The walk over the source, and the second one.
impl State<'_> {
    /// The next instruction is walked.
    pub fn advance(&mut self, index: usize, depth: u8) {
        self.at.started.push(self.out.insts.len() as u32);
        self.at.depth = depth;
        self.at.current = index as u32;
        self.at.made_now.clear();
    }

    /// The recorded instruction that is being walked.
    pub fn current(&self) -> u32 {
        self.at.current
    }

    /// The output value of a source value.
    pub fn mapped(&mut self, value: Value) -> Result<Value, OptError> {
        if let Some(constant) = self.source.constant_of(value) {
            return Ok(self.out.constant(self.source.ty(value), constant));
        }
        let mapped =
            self.at.map[value.index()].ok_or(OptError::Malformed("a value is used before its definition"))?;
        Ok(self.resolve(mapped))
    }

    /// Whether this walk is one of the preamble, and the loop's will come.
    pub fn is_before_loop(&self) -> bool {
        self.walks.is_peeling && self.walks.first_values == 0
    }

    /// Whether this is the loop's walk, after the preamble's.
    pub fn is_loop(&self) -> bool {
        self.walks.first_values > 0
    }

    /// Whether it is a value of the preamble, seen from the loop.
    pub fn is_preamble(&self, value: Value) -> bool {
        value.index() < self.walks.first_values && self.out.constant_of(value).is_none()
    }

    /// A part of the recorded instruction's expansion has this result: the next iteration has the same part.
    pub fn note_part(&mut self, part: (Op, Payload), result: Value) {
        if !self.walks.is_peeling || self.lifting.is_on {
            return;
        }
        let made_now = &mut self.at.made_now;
        let at = made_now.iter().position(|&(of, _)| of == part).unwrap_or_else(|| {
            made_now.push((part, 0));
            made_now.len() - 1
        });
        let key = (self.at.current, part.0, part.1, made_now[at].1);
        made_now[at].1 += 1;
        self.walks.made.push((key, result));
    }

    /// The guard that is emitted next is one before the loop: its number among these.
    pub fn hoist_next(&mut self) -> usize {
        self.hoisted.guards.push((self.out.insts.len() as u32, false));
        self.hoisted.guards.len() - 1
    }

    /// Whether this guard is removed again if nothing needs it: nothing may rest on it.
    pub fn may_be_removed(&self, inst: &Inst) -> bool {
        inst.exit == ExitKind::Hoisted || self.checks_say_nothing && is_check(inst)
    }

    /// A guard before the loop stands for one in it, if these values are the same in all iterations.
    pub fn rely_on_hoisted(&mut self, hoisted: usize, steady: impl IntoIterator<Item = Value>) {
        self.hoisted.guards[hoisted].1 = true;
        self.hoisted.steady_wanted.extend(steady);
    }
}

// Objects that must become real, and where that can be done.
impl State<'_> {
    /// These recorded `new`s make real objects.
    pub fn make_real(&mut self, real: BTreeSet<u32>) {
        self.lifting.real = real;
    }

    /// Whether the `new` that is being walked must make a real object.
    pub fn is_real(&self) -> bool {
        self.lifting.real.contains(&self.at.current)
    }

    /// Whether there is a place to leave to where objects can still be dropped.
    pub fn has_resume_point(&self) -> bool {
        self.lifting.resume_point.is_some()
    }

    /// The place to leave to where objects can still be dropped, if there is one.
    pub fn resume_point(&mut self) -> Result<Option<SnapId>, OptError> {
        self.describe_resume_point()?;
        Ok(self.lifting.resume_point.map(Leave::snap))
    }

    /// The recorded instruction has this snapshot: everything can be left there as of now.
    pub fn set_resume_point(&mut self, snap: SnapId) {
        self.lifting.resume_point = Some(Leave::Recorded(snap));
    }

    /// Describes what the resume point mentions as it is now: a virtual object or a store that waits may
    /// change.
    pub fn map_resume_point(&mut self) -> Result<(), OptError> {
        if planted(Bug::VirtualMappedLate) {
            return Ok(());
        }
        self.describe_resume_point()
    }

    fn describe_resume_point(&mut self) -> Result<(), OptError> {
        if let Some(Leave::Recorded(snap)) = self.lifting.resume_point {
            self.lifting.resume_point = Some(Leave::Mapped(self.snapshot(snap)?));
        }
        Ok(())
    }

    /// The snapshot of what lifts an object that was recorded at `made_at`. If there is none to leave to,
    /// this walk goes on without, and is made again with that object real.
    pub fn lifting_snapshot(&mut self, made_at: u32) -> Result<Option<SnapId>, OptError> {
        let wants = self.source.insts[made_at as usize].snap.is_some();
        if wants && self.lifting.resume_point.is_none() {
            self.lifting.more_real.insert(made_at);
        }
        self.resume_point()
    }

    /// Whether the program can still be left at the snapshot of the recorded instruction: what never leaves
    /// may come after an effect of its bytecode.
    pub fn can_be_redone(&self) -> bool {
        let inst = &self.source.insts[self.at.current as usize];
        let Some(snap) = inst.snap.filter(|_| inst.never_leaves(self.schema)) else { return true };
        let since = self.source.snapshots[snap.index()].position.min(self.at.current);
        let between = &self.source.insts[since as usize..self.at.current as usize];
        !between.iter().any(|inst| inst.has_visible_effect(self.schema))
    }

    /// Stores that waited were made just before an operation with this recorded snapshot: the place to leave
    /// to is the same, the state there is that of now.
    pub fn renew_resume_point(&mut self, snap: Option<SnapId>) {
        match (snap, self.lifting.resume_point) {
            (Some(snap), None) if self.can_be_redone() => self.set_resume_point(snap),
            _ => {}
        }
    }

    /// Whether virtual objects are being made real and filled.
    pub fn is_lifting(&self) -> bool {
        self.lifting.is_on
    }

    /// An object is made real from here on, or no more; what it was before.
    pub fn set_lifting(&mut self, is_on: bool) -> bool {
        std::mem::replace(&mut self.lifting.is_on, is_on)
    }

    /// Stores wait from here on, or are made again (`None`); what was met before.
    pub fn set_delaying(&mut self, stores: Option<Vec<DelayedStore>>) -> Option<Vec<DelayedStore>> {
        std::mem::replace(&mut self.lifting.delaying, stores)
    }

    /// Whether stores are made as they were recorded: no object is being made, and none waits.
    pub fn stores_plainly(&self) -> bool {
        !self.lifting.is_on && self.lifting.delaying.is_none()
    }

    /// Nothing that lies before can be left to, and nothing is known of it: a label.
    pub fn forget_places(&mut self) {
        self.index.context = None;
        self.lifting.resume_point = None;
    }

    /// The source is walked again from its first instruction, with these names for its results.
    pub fn begin_again(&mut self, names: Vec<Option<Box<str>>>) {
        self.at.started.clear();
        self.at.started.push(self.out.insts.len() as u32);
        self.at.names = Some(names);
        self.index.last_snapshot = None;
        self.lifting.resume_point = None;
        self.walks.end_one(&self.at.map);
    }

    /// The walk that begins is the loop's, whose jump from before passes these values.
    pub fn begin_loop(&mut self, passed: HashSet<Value>) {
        self.walks.first_values = self.out.values.len();
        self.walks.passed = passed;
    }
}

// Committing.
impl State<'_> {
    /// Where the output has come to at the place of a recorded snapshot.
    fn position(&self, recorded: &Snapshot) -> u32 {
        self.at.started.get(recorded.position as usize).copied().unwrap_or(recorded.position)
    }

    /// The output's snapshot for a source snapshot, as of now.
    fn snapshot(&mut self, source: SnapId) -> Result<SnapId, OptError> {
        let source = match Leave::of(source) {
            Leave::Recorded(snap) => snap,
            Leave::Mapped(snap) => return Ok(snap),
        };
        if let Some((last, version, out)) = self.index.last_snapshot {
            if last == source && version == self.facts.version {
                return Ok(out);
            }
        }
        let mut snapshot = self.source.snapshots[source.index()].clone();
        let mut error = None;
        snapshot.map_values(|value| {
            self.mapped(value).unwrap_or_else(|err| {
                error = Some(err);
                value
            })
        });
        if let Some(error) = error {
            return Err(error);
        }
        for &(address, cell, value) in self.facts.delayed.iter().flat_map(|delayed| &delayed.stores) {
            let (address, source) = (self.resolve(address), Source::Value(self.resolve(value)));
            if !planted(Bug::DelayedMissingAtExit) {
                snapshot.pending.push(Pending { address, cell, source });
            }
        }
        self.facts.statics.describe(self.schema, &mut snapshot, |value| self.resolve(value));
        snapshot.position = self.position(&snapshot);
        self.facts.mention(&snapshot);
        let alike = self.index.snapshots.entry(FxBuildHasher.hash_one(&snapshot)).or_default();
        let same = alike.iter().find(|&&out| self.out.snapshots[out.index()] == snapshot);
        let out = match same {
            Some(&out) => out,
            None => {
                let out = self.out.add_snapshot(snapshot);
                alike.push(out);
                out
            }
        };
        self.index.last_snapshot = Some((source, self.facts.version, out));
        Ok(out)
    }

    /// Appends an instruction to the output. Its snapshot is still the source's.
    pub fn commit(&mut self, mut inst: Inst) -> Result<Option<Value>, OptError> {
        if let Some(stores) = &mut self.lifting.delaying {
            let access = CellAccess::of(&inst, self.schema);
            if let Some(CellAccess { cell, base, stored: Some(value), is_raw: true }) = access {
                stores.push((base, cell, value));
                return Ok(None);
            }
        }
        if let Some(snap) = inst.snap {
            inst.snap = Some(self.snapshot(snap)?);
        }
        inst.result = inst.result_type(&self.out, self.schema).map(|ty| self.out.new_value(ty));
        if let Some(result) = inst.result {
            self.index.defs.set(result, self.out.insts.len() as u32);
            if inst.op == Op::Context {
                self.index.context = Some(result);
            }
        }
        let effects = inst.effects(self.schema);
        self.facts.epochs.write(&effects.writes);
        let is_new = self.source.insts[self.at.current as usize].op == Op::New;
        // What a unit has returned lies in its slot before it is taken, and nowhere after that.
        let is_taken = inst.op == Op::UnitResult && !planted(Bug::UnitResumePointKept);
        if is_taken || !self.lifting.is_on && !is_new && effects.is_visible() {
            self.lifting.resume_point = None;
        }
        let result = inst.result;
        self.out.insts.push(inst);
        Ok(result)
    }
}
