//! Stores of virtual objects into real ones wait until somebody can look.
//!
//! Problem: the papers lift a virtual object as soon as it is stored into a real one (seed 002, Figure 6),
//! though the next store may overwrite it, the next load may take it out again, and between the two a dozen
//! guards may lie. Design: the operation that stores is expanded at its place, so that its tests are made
//! there; the stores that it ends with are not committed but noted ([`Delayed`]), and every snapshot from
//! there on lists them as pending ([`tracelift_core::snapshot::Pending`]). An operation that reads the very
//! place gets the virtual object; one that may read or write the memory makes the stores first: all virtual
//! objects are lifted, then the stores are committed in order. A loop's end makes them too.
//!
//! Many may wait, also of one alias class. What an operation touches is its element and what lies around it
//! ([`ElementEffects`]): at the element it meets only stores that may be at the same place, which those with
//! another key, with an index at a known distance, or in another field are not; around it all of the class.
//! Of two stores that may be at one place the later one is never made alone. One that overwrites the last
//! such store makes it vanish; if it need not wait itself, it is made at the address that was found for the
//! other, whose tests are its own.
//!
//! Invariant: the stores that wait, made in order, turn memory into what the recorded trace has there;
//! nothing that waits can be seen by an operation that was committed since. Example:
//!
//! ```text
//! set(p0, link, p5)          =>                          (p5 is virtual)
//! guard_true(i1)             => guard_true(i1) @1 … pending store(p0, link, v0)
//! p7 = get(p0, link)         => p5
//! ```

use tracelift_core::effects::{CellAccess, ElementEffects, Memory};
use tracelift_core::planted::{planted, Bug};
use tracelift_core::schema::{CellId, ClassId, Element, LayoutId, TagId};
use tracelift_core::{Inst, Op, Payload, Type, Value};

use super::{lift, overlap, same_key};
use crate::delayed::{Delayed, DelayedPlace};
use crate::pass::{Cx, Outcome};
use crate::state::{DelayedStore, State};
use crate::OptError;

/// So many operations may wait; each makes every later snapshot longer.
const MAX_DELAYED: usize = 16;

/// Memory that an operation may look at or change.
#[derive(Default)]
struct Touched {
    all: bool,
    /// Anywhere.
    classes: Vec<ClassId>,
    /// At one place only.
    there: Vec<ClassId>,
    place: Option<DelayedPlace>,
}

fn add(classes: &mut Vec<ClassId>, memory: &Memory<'_>) -> bool {
    classes.extend(memory.classes().unwrap_or_default());
    memory.is_everything()
}

impl Touched {
    /// All memory that an operation, expanded, may look at or change.
    fn of(st: &State<'_>, inst: &Inst) -> Touched {
        Touched::parts(st, inst, true)
    }

    /// The same for one whose stores wait: they come after what waits already.
    fn before(st: &State<'_>, inst: &Inst) -> Touched {
        Touched::parts(st, inst, false)
    }

    fn parts(st: &State<'_>, inst: &Inst, stores: bool) -> Touched {
        let mut touched = Touched::default();
        let part = ElementEffects::of(inst, st.schema).zip(place(st, inst));
        let around = match part {
            Some((ElementEffects { around, reads, writes }, (place, _))) => {
                touched.place = Some(place);
                touched.all = add(&mut touched.there, &reads) || stores && add(&mut touched.there, &writes);
                around
            }
            None => inst.effects(st.schema),
        };
        if !(planted(Bug::DelayedCallReads) && matches!(inst.payload, Payload::Func(_))) {
            touched.all |= add(&mut touched.classes, &around.reads);
        }
        touched.all |= add(&mut touched.classes, &around.writes);
        touched
    }

    fn is_nothing(&self) -> bool {
        !self.all && self.classes.is_empty() && self.there.is_empty()
    }

    fn meets(&self, st: &State<'_>, delayed: &Delayed) -> bool {
        let has = |classes: &[ClassId]| {
            delayed.stores.iter().any(|&(_, cell, _)| classes.contains(&st.schema.cell(cell).class))
        };
        let is_there = |place| has(&self.there) && !are_apart(st, &place, &delayed.place);
        self.all || has(&self.classes) || self.place.is_some_and(is_there)
    }
}

/// Whether two places are the same.
fn are_same(st: &State<'_>, a: &DelayedPlace, b: &DelayedPlace) -> bool {
    let known = |place: &DelayedPlace| (st.resolve(place.base), place.index.map(|index| st.resolve(index)));
    a.payload == b.payload && known(a) == known(b)
}

/// Whether two places never share a byte. Records are one, or do not overlap, and so are their parts; an
/// entry has one key.
fn are_apart(st: &State<'_>, a: &DelayedPlace, b: &DelayedPlace) -> bool {
    let (base, other) = (st.resolve(a.base), st.resolve(b.base));
    let (index, other_index) = (a.index.unwrap_or(a.base), b.index.unwrap_or(b.base));
    let cell = |payload| match payload {
        Payload::Cell(cell) => Some(st.schema.cell(cell)),
        Payload::Field(field) => Some(st.schema.field_cell(field)),
        _ => None,
    };
    let is_ref = |value| st.out.ty(value) == Type::Ref;
    match (a.payload, b.payload) {
        (Payload::Item { layout: one, .. }, Payload::Item { layout: two, .. }) if one == two => {
            st.are_different(base, other) || have_distance(st, index, other_index)
        }
        (Payload::Key { layout: one, .. }, Payload::Key { layout: two, .. }) if one == two => {
            let same = same_key(st, st.resolve(index), st.resolve(other_index));
            st.are_different(base, other) || same == Some(false)
        }
        (one, two) => cell(one).zip(cell(two)).is_some_and(|(one, two)| {
            let comparable = base == other || is_ref(base) && is_ref(other);
            st.are_different(base, other) || comparable && !overlap(one, two)
        }),
    }
}

/// Whether two indexes differ by what is known, and not 0.
fn have_distance(st: &State<'_>, a: Value, b: Value) -> bool {
    let ((a, plus), (b, other)) = (sum(st, a), sum(st, b));
    a == b && plus != other
}

/// An integer as something, if not a constant, and a constant.
fn sum(st: &State<'_>, value: Value) -> (Option<Value>, i64) {
    let value = st.resolve(value);
    if let Some(int) = st.out.int_of(value) {
        return (None, int);
    }
    let part = |def: &Inst| Some((st.resolve(*def.args.first()?), st.out.int_of(*def.args.get(1)?)?));
    match st.def(value).and_then(|def| Some((def.op, part(def)?))) {
        Some((Op::IntAdd, (of, plus))) => (Some(of), plus),
        Some((Op::IntSub, (of, minus))) => (Some(of), minus.wrapping_neg()),
        _ => (Some(value), 0),
    }
}

/// The place of an operation that reads or writes one, and the tag that it names.
fn place(st: &State<'_>, inst: &Inst) -> Option<(DelayedPlace, Option<TagId>)> {
    let (payload, indexed, tag) = match (inst.op, inst.payload) {
        _ if CellAccess::of(inst, st.schema).is_some() => (inst.payload, false, None),
        (Op::GetItem | Op::SetItem | Op::PutItem, Payload::Item { layout, tag }) => {
            (Payload::Item { layout, tag: None }, true, tag)
        }
        (Op::GetKey | Op::SetKey | Op::InsertKey, Payload::Key { layout, tag, .. }) => {
            (Payload::Key { layout, tag: None, hint: None }, true, tag)
        }
        _ => return None,
    };
    let index = if indexed { Some(st.resolve(inst.args[1])) } else { None };
    Some((DelayedPlace { payload, base: st.resolve(inst.args[0]), index }, tag))
}

/// Whether the operation does nothing to this memory but store a virtual object there, in a way that can
/// wait.
fn can_wait(st: &State<'_>, inst: &Inst) -> bool {
    let Some((&value, others)) = inst.args.split_last() else { return false };
    let schema = st.schema;
    let writes = !inst.effects(schema).writes.is_nothing();
    let only_value = st.facts.statics.has(value) && !others.iter().any(|&arg| st.facts.statics.has(arg));
    let element = |element: &Element| element.value[Type::Ref as usize];
    let layout = |layout: LayoutId| schema.layout(layout);
    let cell = match inst.payload {
        Payload::Cell(cell) => Some(cell),
        Payload::Field(field) => Some(schema.field(field).cell),
        Payload::Item { layout: of, .. } => layout(of).items.as_ref().map(|items| element(&items.element)),
        Payload::Key { layout: of, .. } => layout(of).keys.as_ref().map(|keys| element(&keys.element)),
        _ => None,
    };
    let Some(cell) = cell.filter(|_| writes && only_value).map(|cell| schema.cell(cell)) else {
        return false;
    };
    // What is known of an object's class is not looked up again in what waits.
    let is_class_word = |word: &(CellId, u64)| schema.cell(word.0).class == cell.class;
    let names_class = schema.layouts().iter().any(|layout| layout.class_word.iter().any(is_class_word));
    !cell.volatile && !cell.immutable && !names_class
}

/// An operation that reads the very place that a waiting one writes.
fn read_back(st: &mut State<'_>, inst: &Inst) -> Option<Outcome> {
    if !matches!(inst.op, Op::Get | Op::GetItem | Op::GetKey | Op::Load) {
        return None;
    }
    let (place, tag) = place(st, inst)?;
    let touched = Touched::of(st, inst);
    // One that waits after it may write there too.
    let ignores = |delayed: &Delayed| planted(Bug::DelayedAliasIgnored) && delayed.place != place;
    let meets = |delayed: &&Delayed| touched.meets(st, delayed) && !ignores(delayed);
    let last = st.facts.delayed.iter().rev().find(meets)?;
    if !are_same(st, &last.place, &place) || last.tag != tag {
        return None;
    }
    let value = st.resolve(last.value);
    st.fire("delayed_read").then_some(Outcome::Equal(value))
}

/// The stores of an operation that writes something else to the very place that a waiting one writes, which
/// is never seen then. That one has made all tests; they would not find what it has not stored yet.
fn stores_over(st: &mut State<'_>, inst: &Inst, waiting: usize) -> Option<Vec<DelayedStore>> {
    let schema = st.schema;
    let waiting = &st.facts.delayed[waiting];
    let value = inst.args.get(1 + waiting.place.index.is_some() as usize).copied();
    let has_barrier = |layout: LayoutId| schema.layout(layout).barrier.is_some();
    let is_ref = value.is_some_and(|value| st.out.ty(value) == Type::Ref && st.bits(value) != Some(0));
    if let Some(CellAccess { cell, base, stored: Some(value), .. }) = CellAccess::of(inst, schema) {
        let is_minded = |field| is_ref && has_barrier(schema.field(field).layout);
        let is_plain = !matches!(inst.payload, Payload::Field(field) if is_minded(field));
        return is_plain.then_some(vec![(base, cell, value)]);
    }
    let (element, layout, tag) = match (inst.op, inst.payload) {
        (Op::SetItem | Op::PutItem, Payload::Item { layout, tag }) => {
            (schema.layout(layout).items.as_ref()?.element, layout, tag)
        }
        (Op::SetKey, Payload::Key { layout, tag, .. }) => {
            (schema.layout(layout).keys.as_ref()?.element, layout, tag)
        }
        _ => return None,
    };
    let is_present = element.absent.is_none() || waiting.tag != element.absent;
    if !is_present || is_ref && has_barrier(layout) {
        return None;
    }
    let (address, ..) = *waiting.stores.first()?;
    let mut stores = Vec::new();
    stores.extend(value.map(|value| (address, element.value[st.out.ty(value) as usize], value)));
    if let (Some(cell), Some(tag)) = (element.tag, tag) {
        let bits = st.out.const_int(schema.tag(tag).bits as i64);
        stores.push((address, cell, bits));
    }
    Some(stores)
}

/// Stores over what waits.
fn overwrite(cx: &mut Cx<'_, '_>, inst: &Inst) -> Result<Option<Outcome>, OptError> {
    let st = &mut *cx.st;
    let Some((there, _)) = place(st, inst) else { return Ok(None) };
    let touched = Touched::of(st, inst);
    let last = st.facts.delayed.iter().rposition(|delayed| touched.meets(st, delayed));
    let last = last.filter(|&last| are_same(st, &st.facts.delayed[last].place, &there));
    let Some((last, stores)) = last.and_then(|last| Some((last, stores_over(st, inst, last)?))) else {
        return Ok(None);
    };
    if !st.fire("delayed_overwritten") {
        return Ok(None);
    }
    if !planted(Bug::DelayedDroppedFirst) {
        make_those(cx, |st, index| index != last && touched.meets(st, &st.facts.delayed[index]))?;
    }
    let is_over = |delayed: &Delayed| are_same(cx.st, &delayed.place, &there);
    if let Some(last) = cx.st.facts.delayed.iter().rposition(is_over) {
        cx.st.facts.delayed.remove(last);
        cx.st.facts.version += 1;
    }
    store_all(cx, stores)?;
    Ok(Some(Outcome::Drop))
}

/// Looks at an operation that no virtual object answers: reads what waits, waits itself, or makes what it may
/// touch.
pub(super) fn feed(cx: &mut Cx<'_, '_>, inst: &Inst, enabled: bool) -> Result<Option<Outcome>, OptError> {
    if !cx.st.facts.delayed.is_empty() {
        if let Some(outcome) = read_back(cx.st, inst) {
            return Ok(Some(outcome));
        }
        let is_real = !inst.args.iter().any(|&arg| cx.st.facts.statics.has(arg));
        if let Some(outcome) = if is_real { overwrite(cx, inst)? } else { None } {
            return Ok(Some(outcome));
        }
    }
    if !enabled || !can_wait(cx.st, inst) {
        return Ok(None);
    }
    let Some((place, tag)) = place(cx.st, inst) else { return Ok(None) };
    let before = Touched::before(cx.st, inst);
    make(cx, &before)?;
    if cx.st.facts.delayed.len() >= MAX_DELAYED {
        make_all(cx)?;
    }
    if !cx.st.fire("delay_store") {
        return Ok(None);
    }
    let Some(&value) = inst.args.last() else { return Ok(None) };
    let outer = cx.st.set_delaying(Some(Vec::new()));
    cx.emit(inst.clone())?;
    let stores = cx.st.set_delaying(outer).unwrap_or_default();
    // The operation's own tests leave to where what it overwrites was there: it went no sooner than now.
    let touched = Touched::of(cx.st, inst);
    let waiting = &cx.st.facts.delayed;
    let last = waiting.iter().rposition(|delayed| touched.meets(cx.st, delayed));
    // What waits for the same place is never seen, unless one after it may be stored to the same place, or it
    // stores more.
    let is_over = |&last: &usize| {
        let stored = |cell| stores.iter().any(|&(_, stored, _)| stored == cell);
        are_same(cx.st, &waiting[last].place, &place)
            && waiting[last].stores.iter().all(|store| stored(store.1))
    };
    if let Some(last) = last.filter(is_over) {
        if cx.st.fire("delayed_overwritten") {
            cx.st.facts.delayed.remove(last);
        }
    }
    cx.st.facts.delayed.push(Delayed { place, tag, value, stores });
    cx.st.facts.version += 1;
    Ok(Some(Outcome::Drop))
}

/// Makes the stores that this operation could see.
pub(super) fn make_touched(cx: &mut Cx<'_, '_>, inst: &Inst) -> Result<(), OptError> {
    let touched = Touched::of(cx.st, inst);
    if !touched.is_nothing() {
        make(cx, &touched)?;
        cx.st.renew_resume_point(inst.snap);
    }
    Ok(())
}

/// Makes all stores that wait.
pub(crate) fn make_all(cx: &mut Cx<'_, '_>) -> Result<(), OptError> {
    make_those(cx, |_, _| true)
}

/// Whether the order of two that wait matters.
fn follow(st: &State<'_>, one: &Delayed, other: &Delayed) -> bool {
    let class = |cell| st.schema.cell(cell).class;
    let shares =
        |&(_, cell, _): &DelayedStore| other.stores.iter().any(|store| class(store.1) == class(cell));
    one.stores.iter().any(shares) && !are_apart(st, &one.place, &other.place)
}

/// Makes the stores that meet this.
fn make(cx: &mut Cx<'_, '_>, touched: &Touched) -> Result<(), OptError> {
    make_those(cx, |st, index| touched.meets(st, &st.facts.delayed[index]))
}

/// Makes the stores that are wanted, by position. All objects are lifted first: after a store there is no way
/// out of the trace for the allocation that fails.
pub(crate) fn make_those(
    cx: &mut Cx<'_, '_>,
    wanted: impl Fn(&State<'_>, usize) -> bool,
) -> Result<(), OptError> {
    let waiting = &cx.st.facts.delayed;
    let mut made: Vec<usize> = Vec::new();
    // From the last to the first: one that is made takes along those before it that may be stored to the same
    // place.
    for (index, delayed) in waiting.iter().enumerate().rev() {
        let goes_along = |&later: &usize| follow(cx.st, delayed, &waiting[later]);
        let is_alone = planted(Bug::DelayedMadeAlone);
        if wanted(cx.st, index) || !is_alone && made.iter().any(goes_along) {
            made.push(index);
        }
    }
    for &index in made.iter().rev() {
        let value = cx.st.facts.delayed[index].value;
        lift(cx, value)?;
    }
    let mut stores = Vec::new();
    for index in made {
        stores.push(cx.st.facts.delayed.remove(index).stores);
        cx.st.facts.version += 1;
    }
    store_all(cx, stores.into_iter().rev().flatten())
}

fn store_all(cx: &mut Cx<'_, '_>, stores: impl IntoIterator<Item = DelayedStore>) -> Result<(), OptError> {
    for (address, cell, value) in stores {
        cx.emit(Inst::new(Op::Store, &[address, value]).with(Payload::Cell(cell)))?;
    }
    Ok(())
}
