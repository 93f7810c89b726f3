//! Loads whose value is known from an earlier load or store, and stores that change nothing.
//!
//! Problem: expanded record operations read the same count, base address and tag again and again, and read
//! back what was written a few operations before. Design: for every alias class the pass keeps a short list
//! of what memory is known to hold ([`Entry`]): loads and stores add to it, stores and calls strike out what
//! they may have changed. A load that finds itself in the list is that value. Only the last [`KEPT`] entries
//! of a class are kept, so that the work is linear in the trace; how often an older one is given up is
//! counted ([`Report::given_up`](crate::Report::given_up)). What two addresses have to do with each other is
//! decided in `heap/place.rs`; here the pass adds what it knows of objects: one just made that nobody was
//! told of is no other one, older values never point to newer objects, and objects of different known classes
//! differ. Stores that are overwritten before anybody can look are found by a backward walk, `heap/dead.rs`.
//! Where a guard makes two places one, what both held is one value, which may make further places one. Calls
//! that only read are loads, too, and have a list of their own, `heap/calls.rs`. What a loop may know only if
//! two arrays are not one is what guards before the loop are for, `heap/apart.rs`.
//!
//! Rules of the list:
//! 1. **One view.** A value is forwarded to a load of the same bytes and the same type only. All views of a
//!    payload share a class, so a store through one strikes out the others.
//! 2. **Narrow stores truncate.** What was stored to 1, 2 or 4 bytes is forwarded only where it is a constant
//!    (then it is truncated and extended here) or known to fit; else the load stays, and is itself known from
//!    then on.
//! 3. **Guards change nothing.** Calls change the classes that they declare; one that re-enters the host
//!    changes all.
//! 4. **Immutable cells** are struck out only by stores to immutable cells: those that make the object.
//! 5. **Volatile cells** are never in the list.
//! 6. **Nothing across a label** that is not the entry.
//! 7. **No pointer across a call that may run the collector**, be the cell as immutable as it may.
//!
//! Invariant: every entry says what its bytes hold now, on every run that comes this far. Example:
//!
//! ```text
//! store(a7, item.tag, 3)
//! i8 = load(a7, item.tag)      => 3
//! guard_value(i8, 3)           => gone (by folding)
//! ```

mod apart;
mod calls;
mod dead;
mod place;

use std::collections::VecDeque;

use rustc_hash::FxHashMap as HashMap;

use tracelift_core::effects::{CellAccess, Memory};
use tracelift_core::ops::Flags;
use tracelift_core::planted::{planted, Bug};
use tracelift_core::schema::{CellId, ClassId, FuncId};
use tracelift_core::{Inst, Op, Payload, Schema, Type, Value};

use super::fold::is_compare;
use crate::facts::ValueTable;
use crate::linear::Terms;
use crate::pass::{once, Cx, Ops, Outcome, Pass};
use crate::state::State;
use crate::{Config, OptError, PassName};
use apart::{Apart, Pairs};
pub(crate) use calls::only_reads;
use calls::Calls;
pub(crate) use dead::{remove_overwritten, RULES as DEAD_RULES};
use place::{Access, Place, Places};

/// How many entries of an alias class are kept: an iteration that calls a handful of methods reads that many
/// tags.
const KEPT: usize = 64;

/// What some bytes of memory hold.
#[derive(Clone, Copy, Debug)]
struct Entry {
    at: Access,
    value: Value,
    /// Known from a store, whose value was truncated to the cell's width; else from a load.
    stored: bool,
    /// It would not be known if these starts were the same.
    relies: Pairs,
}

/// What is known of memory of one alias class.
#[derive(Default)]
struct Known {
    entries: VecDeque<Entry>,
    /// [`Facts::moved`](crate::facts::Facts::moved) when the entries' places were brought up to date.
    moved: u32,
}

impl Known {
    /// Brings the entries' places up to date, if any of them has changed.
    fn refresh(&mut self, st: &mut State<'_>) {
        if self.moved != st.facts.moved {
            self.moved = st.facts.moved;
            for entry in &mut self.entries {
                entry.at = refreshed(st, entry.at);
                watch(st, &entry.at.place);
            }
        }
    }

    /// What is known of exactly these bytes through this view, the newest first.
    fn find<'k>(&'k self, at: &'k Access) -> impl Iterator<Item = &'k Entry> {
        let is_there = |entry: &&Entry| !at.volatile && entry.at.is_same(at);
        self.entries.iter().rev().filter(is_there)
    }
}

/// The pass.
pub(crate) struct Heap {
    load_forward: bool,
    store_forward: bool,
    dead_store: bool,
    known: Vec<Known>,
    places: Places,
    /// Objects made in this trace: the number of the first value that may be a second name of it, if any may.
    fresh: ValueTable<Option<u32>>,
    /// Pointers that were loaded from a fresh object: it may hold its own address.
    owner: ValueTable<Value>,
    allocators: HashMap<FuncId, bool>,
    calls: Calls,
    apart: Apart,
    may_hoist: bool,
    /// Slots of the frame may be stored where the trace so far does not store them (`early.rs`): a store
    /// that changes nothing now may then be needed.
    slots_change: bool,
    /// [`Facts::merged`] when the list was last looked through for one place under two names.
    merged: u32,
}

/// Whether a place lies in the frame of a trace that is no loop.
fn is_in_frame(st: &State<'_>, place: &Place) -> bool {
    let is_loop = st.source.insts.last().is_none_or(|last| last.op != Op::Finish);
    let root = place.root.and_then(|root| st.def(root));
    !is_loop && root.is_some_and(|inst| inst.op == Op::FrameBase)
}

impl Heap {
    /// The pass, if the configuration asks for any part of it.
    pub fn new(config: &Config) -> Option<Heap> {
        let heap = Heap {
            load_forward: config.is_on(PassName::LoadForward),
            store_forward: config.is_on(PassName::StoreForward),
            dead_store: config.is_on(PassName::DeadStore),
            known: Vec::new(),
            places: Places::default(),
            fresh: ValueTable::default(),
            owner: ValueTable::default(),
            allocators: HashMap::default(),
            calls: Calls::default(),
            apart: Apart::default(),
            may_hoist: config.is_on(PassName::Apart) && !config.no_hoisting,
            slots_change: config.is_on(PassName::EarlyStore),
            merged: 0,
        };
        (heap.load_forward || heap.store_forward || heap.dead_store).then_some(heap)
    }

    fn access(&self, st: &State<'_>, pointer: Value, cell: CellId) -> Access {
        refreshed(st, Access::new(self.places.of(&st.out, pointer), st.schema.cell(cell)))
    }

    /// What is known of a class, up to date.
    fn known(&mut self, st: &mut State<'_>, class: ClassId) -> &mut Known {
        if self.known.len() <= class.index() {
            self.known.resize_with(class.index() + 1, Known::default);
        }
        let known = &mut self.known[class.index()];
        known.refresh(st);
        known
    }

    fn load(&mut self, cx: &mut Cx<'_, '_>, inst: &Inst, cell: CellId) -> Outcome {
        let at = self.access(cx.st, inst.args[0], cell);
        let (load_forward, store_forward) = (self.load_forward, self.store_forward);
        let mut found = None;
        for entry in self.known(cx.st, cx.st.schema.cell(cell).class).find(&at) {
            let value = cx.st.resolve(entry.value);
            let (value, rule) = match entry.stored {
                false if load_forward && entry.at.signed == at.signed => (value, "load_seen"),
                true if store_forward && at.width == 8 => (value, "load_of_store"),
                true if store_forward => match narrowed(cx.st, value, &at) {
                    Some(value) => (value, "load_of_narrow_store"),
                    None => continue,
                },
                _ => continue,
            };
            if cx.st.fire(rule) {
                found = Some((value, entry.relies));
                break;
            }
        }
        let Some((value, relies)) = found else { return Outcome::Keep };
        self.apart.rely(cx.st, relies);
        Outcome::Equal(value)
    }

    fn store(&mut self, cx: &mut Cx<'_, '_>, inst: &Inst, cell: CellId) -> Outcome {
        if !self.dead_store {
            return Outcome::Keep;
        }
        let at = self.access(cx.st, inst.args[0], cell);
        if self.slots_change && is_in_frame(cx.st, &at.place) {
            return Outcome::Keep;
        }
        let known = self.known(cx.st, cx.st.schema.cell(cell).class);
        let there = known.find(&at).find(|entry| cx.st.resolve(entry.value) == inst.args[1]);
        let Some(relies) = there.map(|entry| entry.relies).filter(|_| cx.st.fire("store_same")) else {
            return Outcome::Keep;
        };
        self.apart.rely(cx.st, relies);
        Outcome::Drop
    }

    /// A store goes ahead: other arrays that it could be in are told apart from its own.
    fn tell_apart(&mut self, cx: &mut Cx<'_, '_>, inst: &Inst, cell: CellId) -> Result<(), OptError> {
        if !self.apart.has_room(cx.st) {
            return Ok(());
        }
        let at = self.access(cx.st, inst.args[0], cell);
        let Some(start) = at.place.root else { return Ok(()) };
        let class = cx.st.schema.cell(cell).class;
        self.known(cx.st, class);
        let mut others: Vec<Value> = Vec::new();
        for Entry { at: old, .. } in &self.known[class.index()].entries {
            let other = old.place.root.filter(|&other| {
                other != start && !others.contains(&other) && self.apart.of(Some(start), Some(other)) == 0
            });
            let Some(other) =
                other.filter(|&other| self.places.are_starts_of_parts(&cx.st.out, start, other))
            else {
                continue;
            };
            if !self.places.are_disjoint(&cx.st.out, old, &at)
                && self.may_be_one(cx.st, &old.place, &at.place)
            {
                others.push(other);
            }
        }
        for other in others {
            if self.apart.has_room(cx.st) {
                self.apart.guard(cx, start, other)?;
            }
        }
        Ok(())
    }

    fn call(&mut self, cx: &mut Cx<'_, '_>, inst: &Inst) -> Outcome {
        if !self.load_forward {
            return Outcome::Keep;
        }
        match self.calls.find(cx.st, inst) {
            Some(result) if cx.st.fire("call_seen") => Outcome::Equal(result),
            _ => Outcome::Keep,
        }
    }

    /// Two pointers have turned out to be equal: what was loaded through the one is what was loaded through
    /// the other, and so on from there.
    fn merge(&mut self, st: &mut State<'_>) {
        while self.load_forward && self.merged != st.facts.merged {
            self.merged = st.facts.merged;
            let mut held = HashMap::default();
            let mut pairs = Vec::new();
            let is_certain = |entry: &&Entry| (!entry.stored || entry.at.width == 8) && entry.relies == 0;
            for known in &mut self.known {
                known.refresh(st);
                for entry in known.entries.iter().filter(is_certain) {
                    let Access { place, width, ty, signed, .. } = entry.at;
                    let value = st.resolve(entry.value);
                    let before =
                        held.insert((place.root, place.index, place.disp, (width, ty, signed)), value);
                    pairs.extend(before.filter(|&before| before != value).map(|before| (before, value)));
                }
            }
            for (a, b) in pairs {
                learn_equal(st, a, b);
            }
        }
    }

    fn learn(&mut self, st: &mut State<'_>, class: ClassId, entry: Entry) {
        if entry.at.volatile {
            return;
        }
        watch(st, &entry.at.place);
        let entries = &mut self.known(st, class).entries;
        let is_full = entries.len() == KEPT;
        if is_full {
            entries.pop_front();
        }
        entries.push_back(entry);
        st.give_up(is_full as u64);
    }

    /// Strikes out what a store may have changed.
    fn overwrite(&mut self, st: &mut State<'_>, class: ClassId, at: &Access) {
        self.calls.written(st.schema, class);
        let mut known = std::mem::take(self.known(st, class));
        let st = &*st;
        // Neighbours in the list are mostly parts of one object.
        let mut last = None;
        known.entries.retain_mut(|entry| {
            let old = &entry.at.place;
            if entry.at.immutable && !at.immutable {
                return true;
            }
            let (may_be_one, comparable) = match last {
                Some((root, object, answers)) if (root, object) == (old.root, old.object) => answers,
                _ => {
                    let may_be_one = self.may_be_one(st, old, &at.place);
                    let answers = (may_be_one, self.places.are_comparable(&st.out, old, &at.place));
                    last = Some((old.root, old.object, answers));
                    answers
                }
            };
            if !may_be_one || comparable && entry.at.is_displaced(at) {
                return true;
            }
            let is_other = *old != at.place;
            let apart = self.apart.of(old.root, at.place.root);
            entry.relies |= apart;
            apart != 0 || (planted(Bug::HeapStoreAliasIgnored) && is_other)
        });
        self.known[class.index()] = known;
    }

    /// Strikes out what an operation that writes this memory may have changed.
    fn forget(&mut self, schema: &Schema, memory: &Memory<'_>) {
        if planted(Bug::HeapCallKeepsLoads) {
            return;
        }
        self.calls.forget(schema, memory);
        let strike = |known: &mut Known| known.entries.retain(|entry| entry.at.immutable);
        match memory.classes() {
            Some(classes) => {
                classes
                    .iter()
                    .for_each(|class| self.known.get_mut(class.index()).into_iter().for_each(strike));
            }
            None => self.known.iter_mut().for_each(strike),
        }
    }

    /// What a pointer leads to may be gone, unless the host holds it.
    fn forget_pointers(&mut self, st: &State<'_>) {
        let is_number = |entry: &Entry| !entry.at.ty.is_pointer() && !st.out.ty(entry.value).is_pointer();
        self.known.iter_mut().for_each(|known| known.entries.retain(is_number));
        self.calls.clear();
    }

    /// Whether two places may be parts of one object.
    fn may_be_one(&self, st: &State<'_>, a: &Place, b: &Place) -> bool {
        a.root == b.root || !(self.excludes(st, a, b) || self.excludes(st, b, a) || differ(st, a, b))
    }

    /// Whether the first is a fresh object that the second cannot point to.
    fn excludes(&self, st: &State<'_>, a: &Place, b: &Place) -> bool {
        let Some((object, told)) = a.object.and_then(|object| Some((object, self.fresh.get(object)?))) else {
            return false;
        };
        let Some(other) = b.object else { return true };
        if other == object {
            return false;
        }
        let is_older = st.out.constant_of(other).is_some() || other.0 < object.0;
        let before_told = told.is_none_or(|told| other.0 < told);
        is_older || self.fresh.get(other).is_some() || (before_told && self.owner.get(other) != Some(object))
    }

    /// A pointer goes where it may be read back from.
    fn tell(&mut self, st: &State<'_>, pointer: Value, now: u32) {
        if !st.out.ty(pointer).is_pointer() {
            return;
        }
        let Some(object) = self.places.of(&st.out, pointer).object else { return };
        let object = self.owner.get(object).unwrap_or(object);
        if let Some(None) = self.fresh.get(object) {
            self.fresh.set(object, Some(now));
        }
    }

    fn is_allocator(&mut self, st: &State<'_>, func: FuncId) -> bool {
        let layouts = st.schema.layouts();
        *self
            .allocators
            .entry(func)
            .or_insert_with(|| layouts.iter().any(|layout| layout.alloc == Some(func)))
    }

    fn called(&mut self, st: &mut State<'_>, inst: &Inst, func: FuncId, now: u32) {
        inst.args.iter().for_each(|&arg| self.tell(st, arg, now));
        self.forget(st.schema, &inst.effects(st.schema).writes);
        if st.collects(inst) && !planted(Bug::HeapKeepsPointers) {
            self.forget_pointers(st);
        }
        let full = self.calls.note(st.schema, inst);
        st.give_up(full as u64);
        if let (true, Some(result)) = (self.is_allocator(st, func), inst.result) {
            self.fresh.set(result, None);
        }
    }
}

impl Pass for Heap {
    fn name(&self) -> &'static str {
        "heap"
    }

    fn rules(&self) -> Vec<&'static str> {
        vec![
            "load_seen",
            "load_of_store",
            "load_of_narrow_store",
            "loads_equal",
            "store_same",
            "call_seen",
            "told_apart",
        ]
    }

    fn minds(&self) -> Ops {
        once!({ Ops::that(|op| matches!(op, Op::Load | Op::Get | Op::Store | Op::Set | Op::Call)) })
    }

    fn feed(&mut self, cx: &mut Cx<'_, '_>, inst: &Inst) -> Result<Outcome, OptError> {
        Ok(match CellAccess::of(inst, cx.st.schema) {
            Some(CellAccess { cell, stored: None, .. }) => self.load(cx, inst, cell),
            Some(CellAccess { cell, .. }) => {
                let outcome = self.store(cx, inst, cell);
                if self.may_hoist && matches!(outcome, Outcome::Keep) {
                    self.tell_apart(cx, inst, cell)?;
                }
                outcome
            }
            None => self.call(cx, inst),
        })
    }

    fn hears(&self) -> Ops {
        once!({
            // Only guards find two pointers to be one.
            let says = |op| matches!(op, Op::Select | Op::AddrToInt) || Places::notes(op);
            Ops::that(|op| !op.is(Flags::PURE) || says(op))
        })
    }

    fn committed(&mut self, st: &mut State<'_>, inst: &Inst) {
        self.merge(st);
        self.places.note(&st.out, st.schema, inst);
        let now = inst.result.map_or(st.out.values.len() as u32, |result| result.0);
        match (CellAccess::of(inst, st.schema), inst.payload) {
            (Some(CellAccess { cell, stored: None, .. }), _) => {
                let Some(value) = inst.result else { return };
                let at = self.access(st, inst.args[0], cell);
                self.learn(st, st.schema.cell(cell).class, Entry { at, value, stored: false, relies: 0 });
                if let Some(object) = at.place.object.filter(|_| st.out.ty(value).is_pointer()) {
                    let owner = self.owner.get(object).unwrap_or(object);
                    if self.fresh.get(owner).is_some() {
                        self.owner.set(value, owner);
                    }
                }
            }
            (Some(CellAccess { cell, base, stored: Some(value), .. }), _) => {
                self.tell(st, value, now);
                let at = self.access(st, base, cell);
                let class = st.schema.cell(cell).class;
                self.overwrite(st, class, &at);
                self.learn(st, class, Entry { at, value, stored: true, relies: 0 });
            }
            (_, Payload::Func(func)) => self.called(st, inst, func, now),
            // A unit may do anything to what it can find.
            _ if inst.op == Op::CallUnit && !planted(Bug::UnitLoadsKept) => {
                inst.args.iter().for_each(|&arg| self.tell(st, arg, now));
                self.label();
            }
            _ if matches!(inst.op, Op::Select | Op::AddrToInt) => {
                inst.args.iter().for_each(|&arg| self.tell(st, arg, now));
            }
            // Only where record operations are kept.
            _ if inst.op.is(Flags::RECORD) => {
                inst.args.iter().for_each(|&arg| self.tell(st, arg, now));
                self.forget(st.schema, &inst.effects(st.schema).writes);
                if let (Op::New, Some(result)) = (inst.op, inst.result) {
                    self.fresh.set(result, None);
                }
            }
            _ => {}
        }
    }

    fn label(&mut self) {
        self.known.clear();
        self.calls.clear();
        self.fresh.clear();
        self.owner.clear();
    }

    fn loop_writes(&mut self, schema: &Schema, writes: &Memory<'_>) {
        self.forget(schema, writes);
    }
}

/// Notes that two values are equal, if they are not known to be.
fn learn_equal(st: &mut State<'_>, a: Value, b: Value) {
    let (a, b) = (st.resolve(a), st.resolve(b));
    let is_constant = |value| st.out.constant_of(value).is_some();
    let constants = (is_constant(a), is_constant(b));
    if a == b || constants == (true, true) || !st.fire("loads_equal") {
        return;
    }
    match constants {
        (false, false) => st.facts.learn_same(st.schema, a, b),
        (true, _) => st.facts.learn_constant(b, a),
        (_, true) => st.facts.learn_constant(a, b),
    }
}

/// Asks to be told when more becomes known of a place's root and index.
fn watch(st: &mut State<'_>, place: &Place) {
    let index = place.index.into_iter().flat_map(|terms| [Some(terms.value), terms.other]);
    index.chain([place.root]).flatten().for_each(|value| st.facts.watch(value));
}

/// The same access with what has become known of its root and index since.
fn refreshed(st: &State<'_>, mut at: Access) -> Access {
    if let Some(terms) = at.place.index {
        let (mut disp, mut left) = (at.place.disp, [None, None]);
        for (value, left) in [Some(terms.value), terms.other].into_iter().zip(&mut left) {
            match value.and_then(|value| st.out.int_of(st.resolve(value))) {
                Some(int) => disp = disp.wrapping_add(int.wrapping_mul(terms.scale)),
                None => *left = value,
            }
        }
        at.place.disp = disp;
        at.place.index = match left {
            [None, value] | [value, None] => value.map(|value| Terms { value, other: None, ..terms }),
            [Some(_), Some(_)] => Some(terms),
        };
    }
    if let Some(root) = at.place.root {
        let root = st.resolve(root);
        match st.out.bits_of(root) {
            Some(bits) if st.out.ty(root) == Type::Addr => {
                at.place.root = None;
                at.place.disp = at.place.disp.wrapping_add(bits as i64);
            }
            _ => at.place.root = Some(root),
        }
    }
    at
}

/// Whether two places lie in different objects, by what is known of these.
fn differ(st: &State<'_>, a: &Place, b: &Place) -> bool {
    a.root.zip(b.root).is_some_and(|(a, b)| st.are_different(a, b))
}

/// What a load reads after `value` was stored to the same narrow cell, where that is known.
fn narrowed(st: &mut State<'_>, value: Value, at: &Access) -> Option<Value> {
    if planted(Bug::HeapNarrowForwarded) {
        return Some(value);
    }
    let shift = 64 - 8 * at.width as u32;
    if let Some(int) = st.out.int_of(value) {
        let extended = match at.signed {
            true => int << shift >> shift,
            false => ((int as u64) << shift >> shift) as i64,
        };
        return Some(st.out.const_int(extended));
    }
    let room = 8 * at.width as u32 - at.signed as u32;
    fits(st, value, room, at).then_some(value)
}

/// Whether an integer is known to be what extension makes of its lowest bytes: not negative and of at most
/// `room` bits, or itself loaded from as small a cell.
fn fits(st: &State<'_>, value: Value, room: u32, at: &Access) -> bool {
    let Some(def) = st.def(value) else { return false };
    let constant = def.args.get(1).and_then(|&arg| st.out.int_of(arg));
    if let Some(cell) = CellAccess::loaded(def) {
        let cell = st.schema.cell(cell);
        return match cell.signed {
            true => at.signed && cell.width <= at.width,
            false => 8 * cell.width as u32 <= room,
        };
    }
    match (def.op, constant) {
        (Op::IntAnd, Some(mask)) => mask >= 0 && 64 - mask.leading_zeros() <= room,
        (Op::IntShr, Some(count)) => 64 - (count as u32 & 63) <= room,
        (op, _) => is_compare(op),
    }
}
