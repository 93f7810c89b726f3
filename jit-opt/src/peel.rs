//! Loop peeling (seed 000): the recorded iteration twice, once as preamble and once as loop; or more often.
//!
//! Problem: a loop tests the same class and loads the same field in every iteration, and makes an object for
//! the next iteration to take apart. Design: the chain of passes walks the recorded operations a second time,
//! without forgetting anything, with the inputs mapped to what the first walk passes to its jump. What the
//! first walk knows removes operations from the second. A value of the preamble that the loop still uses is
//! *carried*: it becomes an argument of the loop's label, after those that the jump passes anyway.
//!
//! Why this is sound: the preamble runs with any inputs, so whatever it knows at its end of the values that
//! it computed holds at the end of *every* iteration of the values that this iteration computed. The loop may
//! use such a fact if it can name these values: a carried value `h` needs a *key*, the recorded value that it
//! is. If the first walk gave the key's value as `h` and the second walk gives it as `m(h)`, then the
//! preamble's jump passes `h` and the loop's jump passes `m(h)` (seed 000, equations 5 and 6). Values made by
//! expansion have the recorded instruction and their place in its expansion as key. The context and the
//! frame's base never change and are their own `m`.
//!
//! Virtual objects that the jump passes stay virtual: what they hold is passed instead, each object once
//! (equations 7 to 9). At the loop's end there must be virtual objects of the same shape, one for one, or the
//! loop is not peeled; a virtual object where the label wants a real one is lifted before the jump.
//!
//! Objects that move from one place to another at each jump have the form that they keep only after some
//! iterations: then the preamble has as many ([`rotation`](crate::rotation)). What holds at its end holds at
//! the end of *each* row of so many iterations. So a carried value may be one of an iteration before the last
//! (its *age* says of which); its next is the same value of the iteration after that one.
//!
//! Stores that wait at the jump may go on to wait ([`kept`](crate::kept)).
//!
//! An object that is virtual in the preamble may have to be made in the loop: what its allocator writes is
//! forgotten in between.
//!
//! During the loop's walk everything keeps its name, so that facts need no translation; at the end the second
//! half is rewritten: carried values become the label's arguments, in instructions and in snapshots. Values
//! that only unused operations need are not carried.
//!
//! What is used from one iteration of the preamble in another is passed by their jumps, too, but that is
//! known only when all is clean ([`split_iterations`](crate::rotation::split_iterations)).
//!
//! Invariant: `None` leaves nothing behind, and the caller keeps the plain loop. Example (seed 000, section
//! 5):
//!
//! ```text
//! L0(i0):                    L0(i0):
//! i1 = int_add(i0, 1)        i1 = int_add(i0, 1)
//! call(print, i1)       =>   call(print, i1)
//! jump(L0, i0)               jump(L1, i0, i1)
//!                            L1(i2, i3):
//!                            call(print, i3)
//!                            jump(L1, i2, i3)
//! ```

use std::collections::VecDeque;

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use smallvec::SmallVec;

use tracelift_core::ir::Label;
use tracelift_core::planted::{planted, Bug};
use tracelift_core::{Inst, LabelId, Op, Payload, SnapId, Trace, Value};

use crate::bridge::Form;
use crate::collect;
use crate::dce::is_removable;
use crate::delayed::Delayed;
use crate::driver::Driver;
use crate::facts::Facts;
use crate::kept::seems_steady;
use crate::rotation::turns;
use crate::short::{short_preamble, virtual_state, AtLabel, VirtualState};
use crate::state::Walked;
use crate::statics::Object;
use crate::walks::MadeKey;
use crate::OptError;

/// What names a value of an iteration in every iteration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CarriedKey {
    /// A value of the recorded trace.
    Recorded(Value),
    /// The result of an operation that the expansion of a recorded instruction emits.
    Expanded {
        /// The recorded instruction.
        inst: u32,
        /// The operation.
        op: Op,
        /// What it carries.
        payload: Payload,
        /// How many such operations the expansion emits before.
        nth: u32,
    },
    /// The same value in every iteration (the host's context, the frame's base).
    Invariant,
}

/// An argument of the loop's label: a value of one of the iterations before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Carried {
    /// Which value of that iteration.
    pub key: CarriedKey,
    /// How many iterations lie between that one and the loop's: 0 for the last of the preamble.
    pub age: u32,
}

/// The loop that a peeled trace ends with, as somebody needs it who wants to enter it without passing the
/// preamble.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Peeled {
    /// The loop's label.
    pub label: LabelId,
    /// What each of its arguments is; the first [`Peeled::passed`] are what the recorded jump passes, the
    /// others are carried because the loop uses what an iteration before has computed.
    pub args: Vec<Carried>,
    /// How many arguments the recorded jump passes (virtual objects exploded into what they hold).
    pub passed: usize,
    /// Iterations of the preamble, from 1.
    pub iterations: u32,
    /// What it takes to enter the loop here, if [`Config::wants_way_in`](crate::Config).
    pub way_in: Option<WayIn>,
    /// Which of what goes round is virtual, if anything is and no store waits.
    pub(crate) form: Option<Form>,
    /// The label of the second body, if bridges get one, and what they have to pass.
    pub(crate) second: Option<(LabelId, Form)>,
}

/// What somebody has to bring about who enters a loop without passing its preamble.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WayIn {
    /// The state that the label wants.
    pub state: VirtualState,
    /// What brings the other arguments about, if they can be had from those that the recorded jump passes.
    pub short_preamble: Option<Trace>,
}

impl Peeled {
    /// The short preamble, if it was asked for and there is one.
    pub fn short_preamble(&self) -> Option<&Trace> {
        self.way_in.as_ref()?.short_preamble.as_ref()
    }
}

/// What is asked of peeling.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    /// Operations without use are removed from the loop.
    pub dce: bool,
    /// Checks for a collection are removed from a loop that allocates nothing, before their operands are
    /// carried.
    pub checks_may_go: bool,
    /// What it takes to enter the loop.
    pub way_in: bool,
    /// Iterations that the preamble may have beyond the first.
    pub most_turns: u32,
    /// Stores may wait at the end of an iteration ([`crate::kept`]).
    pub keeps_stores: bool,
}

/// What came of peeling.
pub(crate) struct Outcome {
    /// The peeled trace; `None` when the loop cannot be peeled. The walk tells if more objects must be real.
    pub peeled: Option<(Walked, Peeled)>,
    /// Iterations of the preamble beyond the first.
    pub turns: u32,
    /// Whether stores waited at the preamble's end.
    pub keeps_stores: bool,
}

/// What a label takes and what of it is virtual.
struct Entry {
    /// What the recorded jump passes, by recorded argument.
    passed: Vec<Value>,
    /// Virtual objects among it, and in what these hold.
    shape: HashMap<Value, Object>,
    /// Values that are arguments of the label.
    carried: Vec<Value>,
    /// Stores that wait there.
    waiting: Vec<Delayed>,
}

/// What a value is: mostly one recorded value, but an operation that was made once may be a part of several
/// recorded ones, not all of which make it in the loop.
type Keys = SmallVec<[Carried; 1]>;

/// So many are kept of each.
const MOST_KEYS: usize = 4;

/// The driver before the loop's walk, and after it.
struct Peeling<'s> {
    driver: Driver<'s>,
    entry: Entry,
    keys: HashMap<Value, Keys>,
    /// What parts of expansions became, by iteration from the second: the last one's is the loop's.
    made: Vec<HashMap<MadeKey, Value>>,
    /// Position where the second iteration begins, which may be the loop's.
    second: usize,
    /// What is known at the end of the preamble, if somebody wants to enter the loop.
    facts: Option<Facts>,
    /// Position of the loop's label.
    start: usize,
    wanted: Wanted,
    /// Whether the recorded trace allocates: then they are counted instead.
    allocated: bool,
}

/// Whether this trace can be peeled: one loop around the entry label.
pub(crate) fn is_loop(trace: &Trace) -> bool {
    let labels = trace.insts.iter().filter(|inst| inst.op == Op::Label).count();
    let ends_there =
        trace.insts.last().is_some_and(|last| last.op == Op::Jump && last.label() == Some(LabelId(0)));
    labels == 1 && ends_there && trace.insts[0].op == Op::Label
}

/// Walks the trace once for each iteration of the preamble, and once more.
pub(crate) fn run(mut driver: Driver<'_>, wanted: Wanted) -> Result<Outcome, OptError> {
    let last = driver.st.source.insts.len() - 1;
    driver.st.walks.is_peeling = true;
    driver.walk(0..last)?;
    driver.catch_up();
    driver.st.at.current = last as u32;
    if !driver.st.fire("peel") {
        return Ok(Outcome { peeled: None, turns: 0, keeps_stores: false });
    }
    let mut entry = end_iteration(&mut driver, wanted.keeps_stores)?;
    let turns = turns(&driver.st, &entry.passed, &entry.shape, wanted.most_turns);
    let second = driver.st.out.insts.len();
    for _ in 0..turns {
        walk_again(&mut driver, &entry.passed, None)?;
        entry = end_iteration(&mut driver, wanted.keeps_stores)?;
    }
    let keeps_stores = !entry.waiting.is_empty();
    let keys = keys(&driver);
    let start = driver.st.out.insts.len() + 1;
    let facts = wanted.way_in.then(|| driver.st.facts.clone());
    let allocated = collect::allocations(driver.st.source, driver.st.schema) > 0;
    walk_again(&mut driver, &entry.passed, Some(entry.carried.iter().copied().collect()))?;
    let walks = &driver.st.walks;
    let made = walks.over.iter().skip(1).map(|walk| &walk.made).chain([&walks.made]);
    let made = made.map(|made| made.iter().copied().collect()).collect();
    let peeling = Peeling { driver, entry, keys, made, second, facts, start, wanted, allocated };
    Ok(Outcome { peeled: peeling.close()?, turns, keeps_stores })
}

/// Ends an iteration of the preamble: what its jump passes.
fn end_iteration(driver: &mut Driver<'_>, keeps_stores: bool) -> Result<Entry, OptError> {
    let st = &mut driver.st;
    let mut kept: Vec<bool> = Vec::new();
    for index in 0..st.facts.delayed.len() {
        let is_kept = keeps_stores && seems_steady(st, &st.facts.delayed[index]);
        kept.push(is_kept && st.fire("delayed_kept"));
    }
    driver.make_delayed(|_, index| !kept[index])?;
    driver.catch_up();
    let jump = &driver.st.source.insts[driver.st.at.current as usize];
    let passed = jump.args.iter().map(|&arg| driver.st.mapped(arg)).collect::<Result<Vec<_>, _>>()?;
    Ok(explode(driver, passed))
}

/// Walks the recorded operations again, after a new label whose arguments are known at the end. If it is the
/// loop's walk, these are the values that the jump to it passes at any rate.
fn walk_again(
    driver: &mut Driver<'_>,
    passed: &[Value],
    into_loop: Option<HashSet<Value>>,
) -> Result<(), OptError> {
    let last = driver.st.source.insts.len() - 1;
    let st = &mut driver.st;
    let label = LabelId(st.out.labels.len() as u32);
    let name = (1..).map(|n| format!("L{n}")).find(|name| st.out.labels.iter().all(|l| l.name != *name));
    st.out.labels.push(Label { name: name.unwrap_or_default(), args: Vec::new() });
    st.out.insts.push(Inst::new(Op::Jump, &[]).with(Payload::Label(label)));
    st.out.insts.push(Inst::new(Op::Label, &[]).with(Payload::Label(label)));
    st.begin_again(names_of_copy(st.source, st.walks.over.len() as u32));
    if !planted(Bug::PeelInputsKept) {
        for (input, &passed) in st.source.insts[0].args.iter().zip(passed) {
            if let (true, Some(first)) = (planted(Bug::PeelFactsByPosition), st.at.map[input.index()]) {
                st.facts.inherit(first, passed);
            }
            st.at.map[input.index()] = Some(passed);
        }
    }
    if planted(Bug::DelayedKeptForgotten) {
        driver.st.facts.delayed.clear();
        driver.st.facts.version += 1;
    }
    driver.next_walk();
    if let Some(passed) = into_loop {
        driver.st.begin_loop(passed);
        driver.enter_loop();
    }
    driver.walk(1..last)?;
    driver.catch_up();
    driver.st.at.current = last as u32;
    Ok(())
}

/// Everything that is reached from the jump's arguments, and from stores that wait, each once, in one order.
fn explode(driver: &Driver<'_>, passed: Vec<Value>) -> Entry {
    let st = &driver.st;
    let mut waiting = st.facts.delayed.clone();
    waiting.iter_mut().for_each(|delayed| delayed.map_values(|value| st.resolve(value)));
    let mut entry = Entry { passed, shape: HashMap::default(), carried: Vec::new(), waiting };
    let mut seen = HashSet::default();
    let stores = entry.waiting.iter().flat_map(|delayed| &delayed.stores);
    let all = entry.passed.iter().copied().chain(stores.flat_map(|&(address, _, value)| [address, value]));
    let mut stack: Vec<Value> = all.collect();
    stack.reverse();
    while let Some(value) = stack.pop() {
        let value = st.resolve(value);
        if st.out.constant_of(value).is_some() || !seen.insert(value) {
            continue;
        }
        let Some(object) = st.facts.statics.get(value) else {
            entry.carried.push(value);
            continue;
        };
        let object = object.sorted(|value| st.resolve(value));
        stack.extend(object.parts().collect::<Vec<_>>().into_iter().rev());
        entry.shape.insert(value, object);
    }
    entry
}

/// The keys of every value that has some: those of the latest iteration first.
fn keys(driver: &Driver<'_>) -> HashMap<Value, Keys> {
    let st = &driver.st;
    let mut keys: HashMap<Value, Keys> = HashMap::default();
    let mut add = |value, key, age| {
        let of = keys.entry(value).or_default();
        if of.len() < MOST_KEYS {
            of.push(Carried { key, age });
        }
    };
    let before = st.walks.over.iter().rev().map(|walk| (&walk.map, &walk.made));
    for ((map, made), age) in [(&st.at.map, &st.walks.made)].into_iter().chain(before).zip(0..) {
        for (index, mapped) in map.iter().enumerate() {
            if let Some(value) = *mapped {
                add(st.resolve(value), CarriedKey::Recorded(Value(index as u32)), age);
            }
        }
        for &((inst, op, payload, nth), value) in made {
            add(st.resolve(value), CarriedKey::Expanded { inst, op, payload, nth }, age);
        }
    }
    keys
}

/// Names for the values of a copy, after so many others: where recorded ones are a letter and a number, as in
/// the papers, the copy counts on.
fn names_of_copy(source: &Trace, copies: u32) -> Vec<Option<Box<str>>> {
    let parse = |value: Value| {
        let name = source.values[value.index()].name.as_deref()?;
        let letter = name.chars().next().filter(char::is_ascii_alphabetic)?;
        Some((letter, name[1..].parse::<u32>().ok()?))
    };
    let numbers = (0..source.values.len() as u32).filter_map(|index| parse(Value(index)));
    let results = source.insts.iter().filter_map(|inst| inst.result);
    let named = results.clone().filter(|&result| parse(result).is_some()).count() as u32;
    let mut last = numbers.map(|(_, number)| number).max().unwrap_or(0).saturating_add(copies * named);
    let mut names = vec![None; source.values.len()];
    for result in results {
        if let (Some((letter, _)), Some(next)) = (parse(result), last.checked_add(1)) {
            last = next;
            names[result.index()] = Some(format!("{letter}{next}").into());
        }
    }
    names
}

impl Peeling<'_> {
    /// What the loop's jump passes for a carried value.
    fn next(&self, carried: Value) -> Option<Value> {
        self.found(carried).map(|(_, next)| next)
    }

    /// The key by which that is found.
    fn key(&self, carried: Value) -> Option<Carried> {
        self.found(carried).map(|(key, _)| key)
    }

    fn found(&self, carried: Value) -> Option<(Carried, Value)> {
        let st = &self.driver.st;
        let stays = Carried { key: CarriedKey::Invariant, age: 0 };
        let is_stale = planted(Bug::PeelJumpArgStale) && !self.entry.carried.contains(&carried);
        if is_stale || matches!(st.def(carried).map(|def| def.op), Some(Op::Context | Op::FrameBase)) {
            return Some((stays, carried));
        }
        self.keys.get(&carried)?.iter().find_map(|&key| Some((key, self.now(key)?)))
    }

    /// What this is on the loop's walk, or so many before.
    fn now(&self, Carried { key, age }: Carried) -> Option<Value> {
        let st = &self.driver.st;
        let age = if planted(Bug::RotationAgeForgotten) { 0 } else { age as usize };
        let value = match key {
            CarriedKey::Invariant => return None,
            CarriedKey::Recorded(value) => {
                // Those that are over, from the latest; before them the loop's.
                let maps = st.walks.over.iter().map(|walk| &walk.map).chain([&st.at.map]);
                maps.rev().nth(age)?[value.index()]?
            }
            CarriedKey::Expanded { inst, op, payload, nth } => {
                *self.made.iter().rev().nth(age)?.get(&(inst, op, payload, nth))?
            }
        };
        Some(st.resolve(value))
    }

    /// Finds what is carried, lifts what must be real, and writes the loop's jump.
    fn close(mut self) -> Result<Option<(Walked, Peeled)>, OptError> {
        let fails = |inst: &Inst| inst.op == Op::GuardAlwaysFails;
        if self.driver.st.out.insts[self.second..].iter().any(fails) {
            return Ok(None);
        }
        let changes = |&value: &Value| {
            self.driver.st.out.constant_of(value).is_none() && self.next(value) != Some(value)
        };
        self.driver.st.hoisted.is_unsteady =
            self.driver.st.hoisted.steady_wanted.iter().any(changes) && !planted(Bug::BoundsSteadyIgnored);
        if !self.ends_waiting()? {
            return Ok(None);
        }
        let (carried, used, unneeded) = loop {
            let Some(found) = self.carried() else { return Ok(None) };
            if found.lift.is_empty() {
                break (found.carried, found.used, found.unneeded_checks);
            }
            for value in found.lift {
                self.driver.lift(value)?;
            }
            self.driver.catch_up();
        };
        for index in unneeded {
            if self.driver.st.fire(collect::rule(self.allocated)) && self.allocated {
                collect::count(&mut self.driver.st.out, index);
            }
        }
        if !self.shapes_match() {
            return Ok(None);
        }
        let Some(args) = carried.iter().map(|&value| self.key(value)).collect::<Option<Vec<_>>>() else {
            return Ok(None);
        };
        let passed = self.entry.carried.len();
        let label = self.driver.st.out.insts[self.start].label().unwrap_or(LabelId(0));
        let next: Option<Vec<Value>> = carried.iter().map(|&value| self.next(value)).collect();
        let Some(next) = next else { return Ok(None) };
        self.void_unused_guards();
        let way_in = self.facts.as_ref().map(|facts| self.way_in(facts, &carried));
        self.rewrite(label, &carried, &next, &used);
        let iterations = self.driver.st.walks.over.len() as u32;
        let form = Form::of(&self.driver.st.out, &self.entry.passed, &self.entry.shape)
            .filter(|_| self.entry.waiting.is_empty());
        let peeled = Peeled { label, args, passed, iterations, way_in, form, second: None };
        Ok(Some((self.driver.walked(), peeled)))
    }

    /// What a value of the preamble, or a constant, is in the next iteration, if that is known.
    fn becomes(&self, then: Value, now: Value) -> bool {
        let st = &self.driver.st;
        let now = st.resolve(now);
        match st.out.constant_of(then) {
            Some(_) => then == now,
            None => self.next(then) == Some(now),
        }
    }

    /// Whether a store that waits now is what one that waited at the label is in the next iteration, but for
    /// what it stores.
    fn follows(&self, then: &Delayed, now: &Delayed) -> bool {
        let indexes = then.place.index.into_iter().zip(now.place.index);
        let mut places = indexes.chain([(then.place.base, now.place.base)]);
        let is_object = |value| self.entry.shape.contains_key(&value);
        let mut stores = then.stores.iter().zip(&now.stores);
        (then.place.payload, then.tag, then.stores.len()) == (now.place.payload, now.tag, now.stores.len())
            && places.all(|(then, now)| self.becomes(then, now))
            && stores.all(|(then, now)| {
                let same_value = is_object(then.2) || self.becomes(then.2, now.2);
                then.1 == now.1 && self.becomes(then.0, now.0) && same_value
            })
    }

    /// Makes the stores that wait, but for those that waited at the label, too; whether all of these do, in
    /// their order.
    fn ends_waiting(&mut self) -> Result<bool, OptError> {
        let waits = |now: &Delayed| self.entry.waiting.iter().any(|then| self.follows(then, now));
        let kept: Vec<bool> = self.driver.st.facts.delayed.iter().map(waits).collect();
        self.driver.make_delayed(|_, index| !kept[index])?;
        self.driver.catch_up();
        let (then, now) = (&self.entry.waiting, &self.driver.st.facts.delayed);
        Ok(then.len() == now.len() && then.iter().zip(now).all(|(then, now)| self.follows(then, now)))
    }

    /// What the loop's label wants, with the facts of the preamble's end.
    fn way_in(&self, facts: &Facts, carried: &[Value]) -> WayIn {
        let (st, passed) = (&self.driver.st, self.entry.carried.len());
        let at_label = AtLabel { schema: st.schema, out: &st.out, facts };
        let state = virtual_state(&at_label, &self.entry.passed, &self.entry.shape, carried);
        let preamble = 1..self.start - 1;
        let checks_may_go = self.wanted.checks_may_go;
        let short_preamble = short_preamble(&st.out, st.schema, preamble, carried, passed, checks_may_go);
        WayIn { state, short_preamble }
    }

    /// Hoisted guards that stand for nothing hold from now on, until they go with the rest that is not used.
    fn void_unused_guards(&mut self) {
        let out = &mut self.driver.st.out;
        for &(at, _) in self.driver.st.hoisted.guards.iter().filter(|(_, is_used)| !is_used) {
            let guard = &mut out.insts[at as usize];
            let holds = (guard.op == Op::GuardTrue) as i64;
            let constant = out.const_int(holds);
            out.insts[at as usize].args[0] = constant;
        }
    }

    /// The preamble's values that the loop needs, in the order of their first use.
    fn carried(&self) -> Option<Found> {
        let st = &self.driver.st;
        let mut found = Found::default();
        let (mut seen, mut snapshots) = (HashSet::default(), HashSet::default());
        let mut todo: VecDeque<Value> = self.entry.carried.iter().copied().collect();
        let body = &st.out.insts[self.start + 1..];
        let checks_go = self.wanted.checks_may_go && !body.iter().any(|inst| inst.allocates(st.schema));
        for (index, inst) in st.out.insts.iter().enumerate().skip(self.start + 1) {
            if checks_go && collect::is_check(inst) {
                found.unneeded_checks.push(index);
                if self.allocated {
                    found.used.insert(index);
                    self.snapshot_values(inst, &mut todo, &mut snapshots);
                }
                continue;
            }
            if !self.wanted.dce || !is_removable(inst, st.schema) {
                found.used.insert(index);
                self.operands(inst, &mut todo, &mut snapshots);
            }
        }
        while let Some(value) = todo.pop_front() {
            if st.out.constant_of(value).is_some() || !seen.insert(value) {
                continue;
            }
            if st.is_preamble(value) {
                found.carried.push(value);
                let next = self.next(value)?;
                match st.facts.statics.has(next) {
                    true => found.lift.push(next),
                    false => todo.push_back(next),
                }
            } else if let Some(index) = st.def_index(value) {
                if found.used.insert(index) {
                    self.operands(&st.out.insts[index], &mut todo, &mut snapshots);
                }
            }
        }
        Some(found)
    }

    fn operands(&self, inst: &Inst, todo: &mut VecDeque<Value>, snapshots: &mut HashSet<SnapId>) {
        todo.extend(&inst.args);
        self.snapshot_values(inst, todo, snapshots);
    }

    fn snapshot_values(&self, inst: &Inst, todo: &mut VecDeque<Value>, snapshots: &mut HashSet<SnapId>) {
        if let Some(snap) = inst.snap.filter(|&snap| snapshots.insert(snap)) {
            self.driver.st.out.snapshots[snap.index()].for_each_value(|value| todo.push_back(value));
        }
    }

    /// Whether the virtual objects at the loop's end have the shape of those at its label.
    fn shapes_match(&self) -> bool {
        let st = &self.driver.st;
        let jump = &st.source.insts[st.at.current as usize];
        let mut pairs: HashMap<Value, Value> = HashMap::default();
        let mut partners: HashMap<Value, Value> = HashMap::default();
        let mut todo: Vec<(Value, Value)> = Vec::new();
        for (&passed, arg) in self.entry.passed.iter().zip(&jump.args) {
            if self.entry.shape.contains_key(&passed) {
                let Some(now) = st.at.map[arg.index()] else { return false };
                todo.push((passed, now));
            }
        }
        let mut waiting: VecDeque<(&Delayed, &Delayed)> =
            self.entry.waiting.iter().zip(&st.facts.delayed).collect();
        let mut of_jump = true;
        loop {
            let Some((then, now)) = todo.pop() else {
                let Some((then, now)) = waiting.pop_front() else { break };
                of_jump = false;
                todo.push((then.value, now.value));
                continue;
            };
            let (then, now) = (then, st.resolve(now));
            let Some(wanted) = self.entry.shape.get(&then) else {
                // What the jump passes is the same recorded value in each iteration; what waits may be
                // another one's.
                if of_jump || self.becomes(then, now) {
                    continue;
                }
                return false;
            };
            let Some(object) = st.facts.statics.get(now) else { return false };
            let met = (pairs.insert(then, now), partners.insert(now, then));
            match met {
                (None, None) => {}
                (Some(other), Some(partner)) if other == now && partner == then => continue,
                _ => return false,
            }
            let object = object.sorted(|value| st.resolve(value));
            if !wanted.same_form(&object) {
                return false;
            }
            todo.extend(wanted.parts().zip(object.parts()));
        }
        true
    }

    /// Gives the loop's label and both jumps their arguments, and the loop its own names for carried values.
    fn rewrite(&mut self, label: LabelId, carried: &[Value], next: &[Value], used: &HashSet<usize>) {
        let out = &mut self.driver.st.out;
        let mut names: HashMap<Value, Value> = HashMap::default();
        for &value in carried {
            let name = out.new_value(out.ty(value));
            // The papers call an argument of the loop's label as what the preamble passes for it.
            out.values[name.index()].name = out.values[value.index()].name.clone();
            names.insert(value, name);
        }
        let args: Vec<Value> = carried.iter().map(|value| names[value]).collect();
        if planted(Bug::PeelAliasIgnored) {
            // Values that become equal in the loop are taken to be equal when it is entered.
            for (index, value) in carried.iter().enumerate() {
                let twin = next[..index].iter().position(|&earlier| earlier == next[index]);
                names.extend(twin.map(|twin| (*value, args[twin])));
            }
        }
        let renamed = |value: Value| names.get(&value).copied().unwrap_or(value);
        out.insts[self.start - 1].args = carried.iter().copied().collect();
        out.insts[self.start].args = args.iter().copied().collect();
        out.labels[label.index()].args = args;
        let mut snapshots: HashMap<SnapId, SnapId> = HashMap::default();
        let body = out.insts.split_off(self.start + 1);
        for (index, mut inst) in body.into_iter().enumerate() {
            if !used.contains(&(index + self.start + 1)) {
                continue;
            }
            inst.args.iter_mut().for_each(|arg| *arg = renamed(*arg));
            inst.snap = inst.snap.map(|snap| {
                *snapshots.entry(snap).or_insert_with(|| {
                    let mut snapshot = out.snapshots[snap.index()].clone();
                    snapshot.map_values(renamed);
                    out.add_snapshot(snapshot)
                })
            });
            out.insts.push(inst);
        }
        let mut next: Vec<Value> = next.iter().map(|&value| renamed(value)).collect();
        if planted(Bug::PeelCarriedOrder) {
            next[self.entry.carried.len()..].sort();
        }
        out.insts.push(Inst::new(Op::Jump, &next).with(Payload::Label(label)));
        let unused = self.driver.st.hoisted.guards.iter().rev().filter(|(_, is_used)| !is_used);
        unused.for_each(|&(at, _)| drop(out.insts.remove(at as usize)));
    }
}

/// What a loop needs.
#[derive(Default)]
struct Found {
    /// Values of the preamble, those that the jump passes first.
    carried: Vec<Value>,
    /// Virtual objects that the jump must pass as real ones.
    lift: Vec<Value>,
    /// Positions of the instructions that are used.
    used: HashSet<usize>,
    /// Positions of checks for a collection whose operands it does not need.
    unneeded_checks: Vec<usize>,
}
