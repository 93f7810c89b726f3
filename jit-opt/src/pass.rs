//! The pass interface and the driver that feeds operations through the chain.
//!
//! Problem: a rewrite makes others possible, in the same pass and in later ones, and running whole passes to
//! a fixed point costs time that a just-in-time compiler does not have. Design: one operation goes through
//! the whole chain before the next one is looked at. A pass sees the operation over *output* values, with
//! everything known put in already, and answers with an [`Outcome`]; it never writes the output itself. What
//! a pass emits in place of an operation enters the chain after that pass ([`Cx::emit`]), so an expansion is
//! optimized like recorded code. Passes talk through [`Facts`] only. The walk is over a source trace and a
//! value map, so the same chain can walk the same trace twice, with its inputs mapped to other values the
//! second time.
//!
//! Invariants: output values are made when an instruction is committed, never before; a guard's snapshot is
//! mapped at that moment, so it shows what is known before the guard and not what the guard proves; a pass
//! has been told of every committed instruction before it is asked about the next one ([`Pass::committed`]).
//!
//! Example: for `get_item` the expanding pass emits a load of the count, `uint_lt` and `guard_true`. Folding
//! sees the `uint_lt` with its operands and may answer `Equal(1)`; then the guard never reaches the output.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::BuildHasher;

use rustc_hash::{FxBuildHasher, FxHashMap as HashMap, FxHashSet as HashSet};
use smallvec::SmallVec;

use tracelift_core::effects::{Effects, Memory};
use tracelift_core::ir::ValueData;
use tracelift_core::planted::{planted, Bug};
use tracelift_core::schema::{CellId, LayoutId};
use tracelift_core::snapshot::{Pending, Source};
use tracelift_core::{Const, Inst, Op, Payload, Schema, SnapId, Trace, Type, Value};

use crate::facts::{Facts, ValueTable};
use crate::passes::virtuals::{lift, make_all};
use crate::{OptError, Report};

/// What a pass proposes for an operation.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// Nothing: on to the next pass.
    Keep,
    /// This instead; the same pass is asked again.
    Replace(Inst),
    /// The result is this value; nothing more is committed.
    Equal(Value),
    /// Nothing (more) is committed, and there is no result.
    Drop,
}

/// A pass of the forward walk.
pub(crate) trait Pass {
    /// Its name in [`crate::PASSES`].
    fn name(&self) -> &'static str;

    /// The names of its rewrites.
    fn rules(&self) -> Vec<&'static str>;

    /// Asked about an operation whose operands are output values.
    fn feed(&mut self, cx: &mut Cx<'_, '_>, inst: &Inst) -> Result<Outcome, OptError>;

    /// Whether it wants to be told of committed instructions.
    fn listens(&self) -> bool {
        false
    }

    /// Told of an instruction that was committed, with its result, if it [`listens`](Pass::listens).
    fn committed(&mut self, _st: &mut State<'_>, _inst: &Inst) {}

    /// Told of a label that is not the entry: what the pass knows of earlier values is void.
    fn label(&mut self) {}

    /// Told that the recorded operations are walked again, as the loop after the preamble.
    fn second_walk(&mut self) {}

    /// Told at a peeled loop's label what its iterations may write beyond what the preamble wrote.
    fn loop_writes(&mut self, _schema: &Schema, _writes: &Memory<'_>) {}
}

/// A pass in a chain, and how many committed instructions it was told of.
struct Slot {
    pass: Box<dyn Pass>,
    listens: bool,
    seen: usize,
}

/// What an expansion emits: recorded instruction, operation, payload, and how many such there were before.
pub(crate) type MadeKey = (u32, Op, Payload, u32);

/// Marks a snapshot of an instruction as one of the output already.
const MAPPED: u32 = 1 << 31;

/// What the driver and all passes work on.
pub(crate) struct State<'s> {
    pub schema: &'s Schema,
    pub out: Trace,
    pub facts: Facts,
    pub source: &'s Trace,
    /// Output value of each source value, once it is known.
    pub map: Vec<Option<Value>>,
    /// Position in `out` of the instruction that defines a value.
    defs: ValueTable<u32>,
    /// Output position at which each source instruction began.
    pub started: Vec<u32>,
    /// Snapshots of the output by their hash.
    snapshots: HashMap<u64, SmallVec<[SnapId; 2]>>,
    pub last_snapshot: Option<(SnapId, u32, SnapId)>,
    /// The last snapshot that no committed effect has followed, as an instruction's ([`MAPPED`]).
    pub resume_point: Option<SnapId>,
    /// While an operation's stores are told to wait: those met so far.
    pub delaying: Option<Vec<(Value, CellId, Value)>>,
    /// Whether a virtual object is being lifted: what is written then is new, and nobody sees it.
    pub lifting: bool,
    /// Recorded `new`s whose objects must be real.
    real: BTreeSet<u32>,
    /// More of them, found on this walk.
    more_real: BTreeSet<u32>,
    pub current: u32,
    /// Results of operations that expansions emit, on the first walk of two.
    pub made_first: Vec<(MadeKey, Value)>,
    /// The same on the second.
    pub made: HashMap<MadeKey, Value>,
    /// How many of each the current expansion has emitted.
    made_now: Vec<((Op, Payload), u32)>,
    /// What the results of recorded operations are called on a second walk; on the first they keep their
    /// names.
    pub names: Option<Vec<Option<Box<str>>>>,
    /// On a second walk: how many values the first has made.
    pub first_walk: usize,
    /// On a second walk: those of them that the jump passes.
    pub passed: HashSet<Value>,
    /// On a second walk: values of the first that the same operations have again.
    pub steady: HashSet<Value>,
    /// Whether there will be a second walk.
    pub is_peeling: bool,
    /// On a second walk: values of the first of which something relies on being the same in all iterations.
    pub steady_wanted: HashSet<Value>,
    /// Whether one of these is not.
    pub is_unsteady: bool,
    /// Guards before the loop that may stand for guards in it: their positions, and whether they do.
    pub hoisted: Vec<(u32, bool)>,
    context: Option<Value>,
    depth: u8,
    /// How often each rewrite fired; names are compared by address, so a name may come twice.
    fired: HashMap<(*const u8, usize), (&'static str, u64)>,
    fuel: Option<u64>,
    visited: u64,
    /// What was known of memory and given up because a list was full.
    pub given_up: u64,
    /// Arguments of the last jump; only the planted bug looks at them.
    last_jump: Vec<Value>,
}

impl State<'_> {
    /// Counts a rewrite; `false` when the fuel is used up and it must not be made.
    pub fn fire(&mut self, rule: &'static str) -> bool {
        if let Some(fuel) = &mut self.fuel {
            if *fuel == 0 {
                return false;
            }
            *fuel -= 1;
        }
        self.fired.entry((rule.as_ptr(), rule.len())).or_insert((rule, 0)).1 += 1;
        true
    }

    /// The instruction that defines an output value; none for inputs' and constants'.
    pub fn def(&self, value: Value) -> Option<&Inst> {
        self.defs.get(value).map(|index| &self.out.insts[index as usize])
    }

    /// The position of the instruction that defines an output value.
    pub fn def_index(&self, value: Value) -> Option<usize> {
        self.defs.get(value).map(|index| index as usize)
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

    /// The recorded instruction that is being walked.
    pub fn current(&self) -> u32 {
        self.current
    }

    /// Whether the `new` that is being walked must make a real object.
    pub fn is_real(&self) -> bool {
        self.real.contains(&self.current)
    }

    /// The snapshot of what lifts an object that was recorded at `made_at`. If there is none to leave to,
    /// this walk goes on without, and is made again with that object real.
    pub fn lifting_snapshot(&mut self, made_at: u32) -> Option<SnapId> {
        let wants = self.source.insts[made_at as usize].snap.is_some();
        if wants && self.resume_point.is_none() {
            self.more_real.insert(made_at);
        }
        self.resume_point
    }

    /// Stores that waited were made just before an operation with this recorded snapshot: the place to leave
    /// to is the same, the state there is that of now.
    pub fn renew_resume_point(&mut self, snap: Option<SnapId>) -> Result<(), OptError> {
        if let (Some(snap), None) = (snap, self.resume_point) {
            self.resume_point = Some(SnapId(self.snapshot(snap)?.0 | MAPPED));
        }
        Ok(())
    }

    /// Whether it is a value of the preamble, seen from the loop.
    pub fn is_preamble(&self, value: Value) -> bool {
        value.index() < self.first_walk && self.out.constant_of(value).is_none()
    }

    /// A guard before the loop stands for one in it, if these values are the same in all iterations.
    pub fn rely_on_hoisted(&mut self, hoisted: usize, steady: impl IntoIterator<Item = Value>) {
        self.hoisted[hoisted].1 = true;
        self.steady_wanted.extend(steady);
    }

    /// Gives a value the name of another.
    pub fn take_name(&mut self, from: Value, to: Value) {
        let name = self.out.values[from.index()].name.take();
        let data = &mut self.out.values[to.index()];
        if data.name.is_none() {
            data.name = name;
        }
    }

    /// The output value of a source value.
    pub fn mapped(&mut self, value: Value) -> Result<Value, OptError> {
        if let Some(constant) = self.source.constant_of(value) {
            return Ok(self.out.constant(self.source.ty(value), constant));
        }
        let mapped =
            self.map[value.index()].ok_or(OptError::Malformed("a value is used before its definition"))?;
        Ok(self.resolve(mapped))
    }

    /// The output's snapshot for a source snapshot, as of now.
    fn snapshot(&mut self, source: SnapId) -> Result<SnapId, OptError> {
        if source.0 & MAPPED != 0 {
            return Ok(SnapId(source.0 & !MAPPED));
        }
        if let Some((last, version, out)) = self.last_snapshot {
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
        snapshot.position =
            self.started.get(snapshot.position as usize).copied().unwrap_or(snapshot.position);
        let alike = self.snapshots.entry(FxBuildHasher.hash_one(&snapshot)).or_default();
        let same = alike.iter().find(|&&out| self.out.snapshots[out.index()] == snapshot);
        let out = match same {
            Some(&out) => out,
            None => {
                let out = self.out.add_snapshot(snapshot);
                alike.push(out);
                out
            }
        };
        self.last_snapshot = Some((source, self.facts.version, out));
        Ok(out)
    }

    /// Appends an instruction to the output. Its snapshot is still the source's.
    fn commit(&mut self, mut inst: Inst) -> Result<Option<Value>, OptError> {
        if let (Some(stores), Op::Store, Payload::Cell(cell)) = (&mut self.delaying, inst.op, inst.payload) {
            stores.push((inst.args[0], cell, inst.args[1]));
            return Ok(None);
        }
        if let Some(snap) = inst.snap {
            inst.snap = Some(self.snapshot(snap)?);
        }
        inst.result = inst.result_type(&self.out, self.schema).map(|ty| self.out.new_value(ty));
        if let Some(result) = inst.result {
            self.defs.set(result, self.out.insts.len() as u32);
            if inst.op == Op::Context {
                self.context = Some(result);
            }
        }
        let effects = inst.effects(self.schema);
        self.facts.epochs.write(&effects.writes);
        let is_new = self.source.insts[self.current as usize].op == Op::New;
        if !self.lifting && !is_new && effects.is_visible() {
            self.resume_point = None;
        }
        let result = inst.result;
        self.out.insts.push(inst);
        Ok(result)
    }
}

/// What a pass is given when it is asked about an operation.
pub(crate) struct Cx<'c, 's> {
    pub st: &'c mut State<'s>,
    rest: &'c mut [Slot],
}

impl Cx<'_, '_> {
    /// Sends an instruction over output values into the passes after this one; its result, if it has one.
    pub fn emit(&mut self, mut inst: Inst) -> Result<Option<Value>, OptError> {
        catch_up(self.st, self.rest);
        inst.depth = self.st.depth;
        inst.args.iter_mut().for_each(|arg| *arg = self.st.resolve(*arg));
        run_chain(self.st, self.rest, inst)
    }

    /// The same for an operation that stands for a part of the recorded instruction: the next iteration has
    /// the same part, whatever is known then.
    pub fn emit_part(&mut self, inst: Inst) -> Result<Option<Value>, OptError> {
        let part = (inst.op, inst.payload);
        let result = self.emit(inst)?;
        if let (Some(value), true) = (result, self.st.is_peeling && !self.st.lifting) {
            let made_now = &mut self.st.made_now;
            let at = made_now.iter().position(|&(of, _)| of == part).unwrap_or_else(|| {
                made_now.push((part, 0));
                made_now.len() - 1
            });
            let key = (self.st.current, part.0, part.1, made_now[at].1);
            made_now[at].1 += 1;
            match self.st.first_walk {
                0 => self.st.made_first.push((key, value)),
                _ => drop(self.st.made.insert(key, value)),
            }
        }
        Ok(result)
    }

    /// The same for an instruction that has a result.
    pub fn emit_value(&mut self, inst: Inst) -> Result<Value, OptError> {
        let result = self.emit(inst)?;
        result.ok_or(OptError::Malformed("an instruction without result is used as a value"))
    }

    /// Emits a guard that leaves the trace where `like` would.
    pub fn guard(&mut self, op: Op, args: &[Value], like: &Inst) -> Result<(), OptError> {
        self.emit(Inst::new(op, args).at(like.snap).exit_kind(like.exit)).map(|_| ())
    }

    /// The host's context pointer.
    pub fn context(&mut self) -> Result<Value, OptError> {
        match self.st.context {
            Some(context) => Ok(context),
            None => self.emit_value(Inst::new(Op::Context, &[])),
        }
    }

    /// An integer constant.
    pub fn int(&mut self, int: i64) -> Value {
        self.st.out.const_int(int)
    }
}

/// Tells the passes what was committed since they were last told.
fn catch_up(st: &mut State<'_>, slots: &mut [Slot]) {
    for slot in slots.iter_mut().filter(|slot| slot.listens) {
        while slot.seen < st.out.insts.len() {
            let inst = st.out.insts[slot.seen].clone();
            slot.seen += 1;
            slot.pass.committed(st, &inst);
        }
    }
}

/// How often one pass may replace one operation. Rewrites shrink, so the limit is never met by correct rules;
/// it keeps two rules that undo each other from hanging the host.
const MAX_REPLACEMENTS: u32 = 64;

fn run_chain(st: &mut State<'_>, mut slots: &mut [Slot], mut inst: Inst) -> Result<Option<Value>, OptError> {
    while !slots.is_empty() {
        for round in 0.. {
            let Some((slot, rest)) = slots.split_first_mut() else { break };
            debug_assert!(round < MAX_REPLACEMENTS, "pass {} runs in circles at {inst:?}", slot.pass.name());
            st.visited += 1;
            let committed = st.out.insts.len();
            let outcome = slot.pass.feed(&mut Cx { st, rest }, &inst)?;
            if st.out.insts.len() > committed {
                // Lifting and stores that waited come in front of the operation, which goes on.
                catch_up(st, slots);
            }
            match outcome {
                Outcome::Replace(new) if round < MAX_REPLACEMENTS => inst = new,
                Outcome::Keep | Outcome::Replace(_) => break,
                Outcome::Equal(value) => return Ok(Some(value)),
                Outcome::Drop => return Ok(None),
            }
        }
        slots = slots.split_first_mut().map_or(&mut [], |(_, rest)| rest);
    }
    st.commit(inst)
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

/// Walks a source trace through a chain of passes.
pub(crate) struct Driver<'s> {
    pub st: State<'s>,
    chain: Vec<Slot>,
}

impl<'s> Driver<'s> {
    /// A driver with nothing walked yet.
    pub fn new(
        source: &'s Trace,
        schema: &'s Schema,
        fuel: Option<u64>,
        chain: Vec<Box<dyn Pass>>,
    ) -> Driver<'s> {
        let mut out = Trace::new(&source.name);
        out.entry = source.entry.clone();
        out.entry_tags = source.entry_tags.clone();
        out.entry_cells = source.entry_cells.clone();
        out.labels = source.labels.clone();
        let st = State {
            schema,
            out,
            facts: Facts::default(),
            source,
            map: vec![None; source.values.len()],
            defs: ValueTable::default(),
            started: Vec::with_capacity(source.insts.len()),
            snapshots: HashMap::default(),
            last_snapshot: None,
            resume_point: None,
            delaying: None,
            lifting: false,
            real: BTreeSet::new(),
            more_real: BTreeSet::new(),
            current: 0,
            made: HashMap::default(),
            made_first: Vec::new(),
            made_now: Vec::new(),
            names: None,
            first_walk: 0,
            passed: HashSet::default(),
            steady: HashSet::default(),
            is_peeling: false,
            steady_wanted: HashSet::default(),
            is_unsteady: false,
            hoisted: Vec::new(),
            context: None,
            depth: 0,
            fired: HashMap::default(),
            fuel,
            visited: 0,
            given_up: 0,
            last_jump: Vec::new(),
        };
        Driver {
            st,
            chain: chain.into_iter().map(|pass| Slot { listens: pass.listens(), pass, seen: 0 }).collect(),
        }
    }

    /// The same with these recorded `new`s made real.
    pub fn with_real(mut self, real: BTreeSet<u32>) -> Driver<'s> {
        self.st.real = real;
        self
    }

    /// Walks the whole source trace.
    pub fn run(mut self) -> Result<Walked, OptError> {
        if self.st.source.insts.first().map(|inst| inst.op) != Some(Op::Label) {
            return Err(OptError::Malformed("a trace begins with a label"));
        }
        self.walk(0..self.st.source.insts.len())?;
        Ok(self.walked())
    }

    /// Walks these instructions.
    pub fn walk(&mut self, range: std::ops::Range<usize>) -> Result<(), OptError> {
        let source = self.st.source;
        for (index, inst) in source.insts.iter().enumerate().take(range.end).skip(range.start) {
            self.st.started.push(self.st.out.insts.len() as u32);
            self.st.depth = inst.depth;
            self.st.current = index as u32;
            self.st.made_now.clear();
            match inst.op {
                Op::Label => self.label(inst, index == 0)?,
                _ => self.step(inst)?,
            }
        }
        Ok(())
    }

    /// Tells all passes what was committed.
    pub fn catch_up(&mut self) {
        catch_up(&mut self.st, &mut self.chain);
    }

    /// Told that the loop of a peeled trace begins. An object that the first walk kept virtual may have to be
    /// made in the loop; what its allocator writes (the collector's accounts, say) is not known from the
    /// preamble.
    pub fn enter_loop(&mut self) {
        let (schema, source) = (self.st.schema, self.st.source);
        let mut layouts: Vec<LayoutId> = Vec::new();
        for inst in &source.insts {
            match inst.payload {
                Payload::New { layout, .. } if !layouts.contains(&layout) => layouts.push(layout),
                _ => {}
            }
        }
        self.chain.iter_mut().for_each(|slot| slot.pass.second_walk());
        for func in layouts.into_iter().filter_map(|layout| schema.layout(layout).alloc) {
            let effects = Effects::of_call(func, schema);
            self.chain.iter_mut().for_each(|slot| slot.pass.loop_writes(schema, &effects.writes));
        }
    }

    /// What the pass `virtuals` has after it.
    fn behind_virtuals(&mut self) -> Cx<'_, 's> {
        let behind = self.chain.iter().position(|slot| slot.pass.name() == "virtuals").map_or(0, |at| at + 1);
        Cx { st: &mut self.st, rest: &mut self.chain[behind..] }
    }

    /// Makes a virtual object real.
    pub fn lift(&mut self, value: Value) -> Result<Value, OptError> {
        lift(&mut self.behind_virtuals(), value)
    }

    /// Makes the stores that wait.
    pub fn make_delayed(&mut self) -> Result<(), OptError> {
        make_all(&mut self.behind_virtuals())
    }

    /// Ends the walk.
    pub fn walked(self) -> Walked {
        let State { out, visited, given_up, more_real, is_unsteady, facts, .. } = self.st;
        let visited = visited + facts.statics.looks();
        let mut fired = BTreeMap::new();
        for (rule, count) in self.st.fired.into_values() {
            *fired.entry(rule).or_default() += count;
        }
        Walked { trace: out, fired, visited, given_up, more_real, is_unsteady }
    }

    /// Walks one instruction.
    fn step(&mut self, inst: &Inst) -> Result<(), OptError> {
        catch_up(&mut self.st, &mut self.chain);
        if let Some(snap) = inst.snap {
            self.st.resume_point = Some(SnapId(self.st.snapshot(snap)?.0 | MAPPED));
        }
        let mut copy = inst.clone();
        copy.result = None;
        for arg in &mut copy.args {
            *arg = self.st.mapped(*arg)?;
        }
        if planted(Bug::GuardForgottenAcrossLabel) && inst.op == Op::Jump {
            self.st.last_jump = copy.args.to_vec();
        }
        let made_before = self.st.out.values.len();
        let result = run_chain(&mut self.st, &mut self.chain, copy)?;
        let Some(source_result) = inst.result else { return Ok(()) };
        let result = result.ok_or(OptError::Malformed("an instruction lost its result"))?;
        let before = self.st.map[source_result.index()].replace(result);
        let known = self.st.resolve(result);
        if before.map(|before| self.st.resolve(before)) == Some(known) && self.st.is_preamble(known) {
            self.st.steady.insert(known);
        }
        if result.index() >= made_before {
            self.keep_name(source_result, result);
        }
        Ok(())
    }

    /// Walks a label: its arguments become new values, and unless it is the entry, everything known is void.
    fn label(&mut self, inst: &Inst, is_entry: bool) -> Result<(), OptError> {
        catch_up(&mut self.st, &mut self.chain);
        let label = inst.label().ok_or(OptError::Malformed("a label without a number"))?;
        let mut copy = inst.clone();
        for arg in &mut copy.args {
            let value = self.st.out.new_value(self.st.source.ty(*arg));
            self.st.map[arg.index()] = Some(value);
            self.keep_name(*arg, value);
            *arg = value;
        }
        if !is_entry {
            self.forget(&copy);
        }
        self.st.out.labels[label.index()].args = copy.args.to_vec();
        self.st.out.insts.push(copy);
        Ok(())
    }

    fn forget(&mut self, label: &Inst) {
        if planted(Bug::GuardForgottenAcrossLabel) {
            for (&from, &to) in self.st.last_jump.iter().zip(&label.args) {
                match self.st.out.constant_of(from) {
                    Some(_) => self.st.facts.learn_constant(to, from),
                    None => self.st.facts.inherit(from, to),
                }
            }
        } else {
            self.st.facts.forget();
        }
        self.st.context = None;
        self.st.resume_point = None;
        self.chain.iter_mut().for_each(|slot| slot.pass.label());
    }

    fn keep_name(&mut self, source: Value, out: Value) {
        let name = match &self.st.names {
            Some(names) => &names[source.index()],
            None => &self.st.source.values[source.index()].name,
        };
        let data: &mut ValueData = &mut self.st.out.values[out.index()];
        if data.name.is_none() && data.constant.is_none() {
            data.name.clone_from(name);
        }
    }
}
