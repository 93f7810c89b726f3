//! What a peeled loop takes for granted: its virtual state, and a short preamble that brings it about.
//!
//! Problem: the loop after a preamble tests less than a plain loop, since the preamble has tested before; a
//! way into it that did not pass the preamble, as the end of a bridge, has to make good what the loop relies
//! on. (Seed 000 goes back to the preamble, section 7; the remedy is RPython's.) Design: the [`VirtualState`]
//! says which arguments of the recorded jump must be which constants or virtual objects, and what is known of
//! the others. The *short preamble* is a trace of its own: it takes what the recorded jump passes, runs those
//! operations of the preamble that can be run from there (pure ones, loads of memory that nothing has written
//! since, guards), and finishes with everything that the loop's label takes. A carried value that a store of
//! the preamble left in memory is loaded from there.
//!
//! Why the guards are enough: the second walk names values by the loop's inputs, by operations on such values
//! that the preamble did too, and by what memory holds for such addresses; so whatever fact it used is about
//! values that the short preamble can compute, and was learned from a guard on them or is in the virtual
//! state.
//!
//! Invariant: run where the preamble jumps to the loop, the short preamble passes all its guards and finishes
//! with exactly the values that the jump passes. If a carried value cannot be had in this way, there is no
//! short preamble. Example (seed 000, Figure 8; the loop's label is `L1(p0, i4, i3)`):
//!
//! ```text
//! L0(p0, i4):
//! guard_class(p0, BoxedInteger)
//! i3 = get(p0, intval)
//! finish(p0, i4, i3)
//! ```

use rustc_hash::FxHashMap as HashMap;

use tracelift_core::effects::{CellAccess, Memory};
use tracelift_core::ops::Flags;
use tracelift_core::schema::{FieldId, LayoutId, TagId};
use tracelift_core::{Const, Inst, Op, Payload, Schema, Trace, Value};

use crate::collect::is_check;
use crate::facts::Facts;
use crate::passes::heap::only_reads;
use crate::range::Range as IntRange;
use crate::statics::{Element, Object};

/// An argument of the recorded jump, or what a virtual object holds, as the loop's label takes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// This constant: it is not passed.
    Constant(Const),
    /// An argument of the label, by position.
    Passed(u32),
    /// A virtual object, by position in [`VirtualState::objects`].
    Virtual(u32),
}

/// What is known of an argument of the loop's label.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Known {
    /// The exact class of the object.
    pub class: Option<LayoutId>,
    /// Whether it is a reference or address that is not null.
    pub nonnull: bool,
    /// Whether it is an integer other than 0.
    pub nonzero: bool,
    /// If it is an integer, how far it goes and which of its bits are known, as far as anything is.
    pub range: Option<IntRange>,
}

/// The form of a virtual object at a label.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VirtualShape {
    /// Its layout.
    pub layout: LayoutId,
    /// Room for items and for keyed entries.
    pub room: (u32, u32),
    /// Fields that were set, in the order of the layout.
    pub fields: Vec<(FieldId, Part)>,
    /// Items that were set, by index from the part's first.
    pub items: Vec<(u32, Option<TagId>, Option<Part>)>,
    /// Entries in the order of insertion; keys are constants.
    pub entries: Vec<(Const, Option<TagId>, Option<Part>)>,
}

/// The state that the loop's label wants (equal parts are one object: aliasing belongs to the state).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct VirtualState {
    /// The arguments of the recorded jump, in order.
    pub args: Vec<Part>,
    /// The virtual objects among and below them, in the order of their first mention.
    pub objects: Vec<VirtualShape>,
    /// What is known of each argument of the label.
    pub known: Vec<Known>,
}

/// What the driver knew when it came to the label.
pub(crate) struct AtLabel<'a> {
    /// The host's declarations.
    pub schema: &'a Schema,
    /// The output, which has grown since.
    pub out: &'a Trace,
    /// The facts of that time.
    pub facts: &'a Facts,
}

/// Describes the state at the end of the preamble: `passed` are the recorded jump's arguments, `shape` the
/// virtual objects among and below them, `carried` the label's arguments.
pub(crate) fn virtual_state(
    st: &AtLabel<'_>,
    passed: &[Value],
    shape: &HashMap<Value, Object>,
    carried: &[Value],
) -> VirtualState {
    let places = carried.iter().enumerate().map(|(at, &value)| (value, at as u32)).collect();
    let mut walk = Describing { st, shape, places, numbers: HashMap::default(), names: Vec::new() };
    let args = passed.iter().map(|&value| walk.part(value)).collect();
    let mut objects = Vec::new();
    while let Some(name) = walk.names.get(objects.len()).copied() {
        objects.push(walk.object(&shape[&name]));
    }
    let known = carried
        .iter()
        .map(|&value| Known {
            class: st.facts.class_of(st.schema, value),
            nonnull: st.facts.nonnull.get(value).is_some(),
            nonzero: st.facts.nonzero.get(value).is_some(),
            range: st.facts.ranges.get(value),
        })
        .collect();
    VirtualState { args, objects, known }
}

struct Describing<'a> {
    st: &'a AtLabel<'a>,
    shape: &'a HashMap<Value, Object>,
    places: HashMap<Value, u32>,
    numbers: HashMap<Value, u32>,
    names: Vec<Value>,
}

impl Describing<'_> {
    fn part(&mut self, value: Value) -> Part {
        let value = self.st.facts.resolve(value);
        if self.shape.contains_key(&value) {
            let next = self.names.len() as u32;
            let number = *self.numbers.entry(value).or_insert(next);
            if number == next {
                self.names.push(value);
            }
            return Part::Virtual(number);
        }
        match (self.places.get(&value), self.st.out.constant_of(value)) {
            (Some(&place), _) => Part::Passed(place),
            (None, constant) => Part::Constant(constant.expect("what is passed is carried or a constant")),
        }
    }

    fn object(&mut self, object: &Object) -> VirtualShape {
        let st = self.st;
        let mut element = |(tag, value): Element| (tag, value.map(|value| self.part(value)));
        let items = object.items.iter().map(|(&index, &item)| (index, element(item)));
        let items = items.map(|(index, (tag, part))| (index, tag, part)).collect();
        let key = |key: Value| st.out.constant_of(key).expect("the keys of virtual objects are constants");
        let entries = object.entries.iter().map(|&(name, entry)| (key(name), element(entry)));
        let entries = entries.map(|(name, (tag, part))| (name, tag, part)).collect();
        let fields = object.fields.iter().map(|&(field, value)| (field, self.part(value))).collect();
        VirtualShape {
            layout: object.layout,
            room: (object.item_room, object.key_room),
            fields,
            items,
            entries,
        }
    }
}

/// The operation that has, where the preamble ends, the same result as this one had; and whose result that
/// is. `written` is what is written between.
fn again(schema: &Schema, out: &Trace, inst: &Inst, written: &Memory<'_>) -> Option<(Inst, Option<Value>)> {
    let is_kept = |class| !written.contains(class);
    let mut copy = inst.clone();
    (copy.snap, copy.depth) = (None, 0);
    if let Some(CellAccess { cell: id, base, stored, is_raw }) = CellAccess::of(inst, schema) {
        let cell = schema.cell(id);
        let Some(value) = stored else {
            let stays = !cell.volatile && (cell.immutable || is_kept(cell.class));
            return stays.then_some((copy, inst.result));
        };
        let stays = is_raw && !cell.volatile && cell.width == 8 && is_kept(cell.class);
        let is_known = out.constant_of(value).is_some();
        let load = Inst::new(Op::Load, &[base]).with(Payload::Cell(id));
        return (stays && !is_known).then_some((load, Some(value)));
    }
    let repeats = match (inst.op, inst.payload) {
        (Op::GuardClass, Payload::Layout(layout)) => {
            let word = schema.layout(layout).class_word.map(|(cell, _)| schema.cell(cell));
            word.is_none_or(|cell| cell.immutable || is_kept(cell.class))
        }
        (_, Payload::Func(func)) => {
            let effects = inst.effects(schema);
            let reads_the_same =
                effects.reads.classes().is_some_and(|classes| classes.iter().all(|&class| is_kept(class)));
            !effects.leaves && reads_the_same && only_reads(schema, func)
        }
        (Op::GuardAlwaysFails | Op::Label | Op::CallUnit | Op::UnitResult, _) => false,
        (Op::Context | Op::FrameBase, _) => true,
        (op, _) => op.is(Flags::PURE) || (op.is_guard() && !op.is(Flags::RECORD)),
    };
    repeats.then_some((copy, inst.result))
}

/// The short preamble: from the first `passed` of the label's arguments to all of them. With `checks_may_go`
/// it asks for no collection.
pub(crate) fn short_preamble(
    out: &Trace,
    schema: &Schema,
    preamble: std::ops::Range<usize>,
    carried: &[Value],
    passed: usize,
    checks_may_go: bool,
) -> Option<Trace> {
    let mut written = Memory::NOTHING;
    let mut operations = Vec::new();
    for inst in out.insts[preamble].iter().rev() {
        // Nothing was learned from these, and the loop makes its own if it needs them.
        if !(checks_may_go && is_check(inst)) {
            operations.extend(again(schema, out, inst, &written));
        }
        written.add(&inst.effects(schema).writes);
    }
    let mut short = Trace::new("short preamble");
    let mut map: HashMap<Value, Value> = HashMap::default();
    let mut inputs = Vec::new();
    for &value in &carried[..passed] {
        let input = short.new_value(out.ty(value));
        inputs.push(input);
        map.insert(value, input);
    }
    short.add_label("L0", &inputs);
    for (mut inst, result) in operations.into_iter().rev() {
        if result.is_some_and(|result| map.contains_key(&result)) {
            continue;
        }
        let mut is_known = true;
        for arg in &mut inst.args {
            match (map.get(arg), out.constant_of(*arg)) {
                (Some(&value), _) => *arg = value,
                (None, Some(constant)) => *arg = short.constant(out.ty(*arg), constant),
                (None, None) => is_known = false,
            }
        }
        if !is_known {
            continue;
        }
        inst.result = None;
        let made = short.push(inst, result.map(|result| out.ty(result)));
        if let (Some(result), Some(made)) = (result, made) {
            map.insert(result, made);
        }
    }
    let results: Option<Vec<Value>> = carried.iter().map(|value| map.get(value).copied()).collect();
    short.push(Inst::new(Op::Finish, &results?), None);
    crate::dce::remove_unused(&mut short, schema, &mut crate::Report::default());
    Some(crate::dce::compact(short))
}
