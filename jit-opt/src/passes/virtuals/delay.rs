//! Stores of virtual objects into real ones wait until somebody can look.
//!
//! Problem: the papers lift a virtual object as soon as it is stored into a real one (seed 002, Figure 6),
//! though the next store may overwrite it, the next load may take it out again, and between the two a dozen
//! guards may lie. Design: the operation that stores is expanded at its place, so that its tests are made
//! there; the stores that it ends with are not committed but noted ([`Delayed`]), and every snapshot from
//! there on lists them as pending ([`tracelift_core::snapshot::Pending`]). An operation that reads the very
//! place gets the virtual object; one that may read or write the memory, by alias class, makes the stores
//! first: all virtual objects are lifted, then the stores are committed in order. A loop's end makes them
//! too.
//!
//! Invariant: the stores that wait, made in order, turn memory into what the recorded trace has there;
//! nothing that waits can be seen by an operation that was committed since. Example:
//!
//! ```text
//! set(p0, link, p5)          =>                          (p5 is virtual)
//! guard_true(i1)             => guard_true(i1) @1 … pending store(p0, link, v0)
//! p7 = get(p0, link)         => p5
//! ```

use tracelift_core::effects::{CellAccess, Memory};
use tracelift_core::planted::{planted, Bug};
use tracelift_core::schema::{CellId, ClassId, Element, LayoutId, Schema, TagId};
use tracelift_core::{Inst, Op, Payload, Type};

use super::lift;
use crate::delayed::{Delayed, DelayedPlace};
use crate::pass::{Cx, Outcome};
use crate::state::State;
use crate::OptError;

/// So many operations may wait; each makes every later snapshot longer.
const MAX_DELAYED: usize = 16;

/// Memory that an operation may look at or change.
#[derive(Default)]
struct Touched {
    all: bool,
    classes: Vec<ClassId>,
}

impl Touched {
    fn add(&mut self, memory: &Memory<'_>) {
        match memory.classes() {
            Some(classes) => self.classes.extend(classes),
            None => self.all = true,
        }
    }

    /// All memory that an operation, expanded, may look at or change.
    fn of(schema: &Schema, inst: &Inst) -> Touched {
        let effects = inst.effects(schema);
        let mut touched = Touched::default();
        if !(planted(Bug::DelayedCallReads) && matches!(inst.payload, Payload::Func(_))) {
            touched.add(&effects.reads);
        }
        touched.add(&effects.writes);
        touched
    }

    fn meets(&self, schema: &Schema, delayed: &Delayed) -> bool {
        let mut cells = delayed.stores.iter().map(|&(_, cell, _)| schema.cell(cell).class);
        self.all || cells.any(|class| self.classes.contains(&class))
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
    let touched = Touched::of(st.schema, inst);
    // One that waits after it may write there too.
    let ignores = |delayed: &Delayed| planted(Bug::DelayedAliasIgnored) && delayed.place != place;
    let meets = |delayed: &&Delayed| touched.meets(st.schema, delayed) && !ignores(delayed);
    let last = st.facts.delayed.iter().rev().find(meets)?;
    if last.place != place || last.tag != tag {
        return None;
    }
    let value = st.resolve(last.value);
    st.fire("delayed_read").then_some(Outcome::Equal(value))
}

/// Looks at an operation that no virtual object answers: reads what waits, waits itself, or makes what it may
/// touch.
pub(super) fn feed(cx: &mut Cx<'_, '_>, inst: &Inst, enabled: bool) -> Result<Option<Outcome>, OptError> {
    if !cx.st.facts.delayed.is_empty() {
        if let Some(outcome) = read_back(cx.st, inst) {
            return Ok(Some(outcome));
        }
    }
    if !enabled || !can_wait(cx.st, inst) {
        return Ok(None);
    }
    let Some((place, tag)) = place(cx.st, inst) else { return Ok(None) };
    let schema = cx.st.schema;
    // A plain store may pass those that wait for other places; what comes with a tag or a search may not.
    let is_plain = tag.is_none() && matches!(inst.op, Op::Set | Op::Store);
    if !is_plain {
        make(cx, Touched::of(schema, inst))?;
    }
    if matches!(inst.op, Op::Set) {
        let mut barrier = Touched::default();
        barrier.add(&inst.effects(schema).reads);
        make(cx, barrier)?;
    }
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
    let waiting = &cx.st.facts.delayed;
    let touched = Touched::of(schema, inst);
    let last = waiting.iter().rposition(|delayed| touched.meets(schema, delayed)).filter(|_| is_plain);
    // What waits for the same place is never seen, unless one after it may be stored to the same place.
    let overwritten = last.filter(|&last| waiting[last].place == place && waiting[last].tag.is_none());
    if let Some(last) = overwritten {
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
    let touched = Touched::of(cx.st.schema, inst);
    let any = !touched.classes.is_empty() || touched.all;
    if any {
        make(cx, touched)?;
        cx.st.renew_resume_point(inst.snap)?;
    }
    Ok(())
}

/// Makes all stores that wait.
pub(crate) fn make_all(cx: &mut Cx<'_, '_>) -> Result<(), OptError> {
    make(cx, Touched { all: true, ..Touched::default() })
}

/// Makes the stores that meet these classes. All objects are lifted first: after a store there is no way out
/// of the trace for the allocation that fails.
fn make(cx: &mut Cx<'_, '_>, mut touched: Touched) -> Result<(), OptError> {
    let schema = cx.st.schema;
    let mut made = Vec::new();
    // From the last to the first: one that is made takes along those before it that may be stored to the same
    // place.
    for (index, delayed) in cx.st.facts.delayed.iter().enumerate().rev() {
        if touched.meets(schema, delayed) {
            touched.classes.extend(delayed.stores.iter().map(|&(_, cell, _)| schema.cell(cell).class));
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
    for (address, cell, value) in stores.into_iter().rev().flatten() {
        cx.emit(Inst::new(Op::Store, &[address, value]).with(Payload::Cell(cell)))?;
    }
    Ok(())
}
