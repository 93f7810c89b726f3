//! Bridges that keep their objects virtual: a second body of a loop, and the way there.
//!
//! Problem: objects that go round in a loop are virtual in it; but a bridge, a side trace that comes back to
//! the loop, has to make them, as the loop's preamble wants them real. Where a branch goes either way half of
//! the iterations make what the others do not. (Seed 000 goes back to the preamble, section 7.) Design: the
//! loop gets a *second body*: the recorded operations walked once more, from a label at which the objects
//! have the form that they have at the peeled loop's ([`Form`]), and nothing else is known. It is a loop of
//! its own, after the preamble and before the loop; nothing in the trace leads there. A bridge whose end has
//! objects of that form says so by `enter_loop`, before what makes them: what they hold are its arguments.
//! Where both traces are one function (regions) the program goes on in the second body; everywhere else
//! `enter_loop` does nothing, and the objects are made. RPython's bridges jump to the peeled loop itself, by
//! a short preamble that does again what was learned from guards; here nothing is learned twice, and nothing
//! needs to be.
//!
//! Invariants: the second body assumes no more than the recorded trace does at its head, which every bridge
//! to the loop brings about, and that objects are virtual which nobody else knows. Slots that the loop
//! changes may be stale in memory there, as they are from the second iteration on. Example:
//!
//! ```text
//! L0(p0, i1): ... jump(L1, i7, i4)                   the preamble reads p0.x as i7
//! L2(i8, i9): ... jump(L2, i11, i10)                 the second body: v0 = Point{x = i8}
//! L1(i12, i13): ... jump(L1, i15, i14)
//!
//! bridge: ... enter_loop(i5, i6) p7 = new(Point) set(p7, x, i5) finish(p7, i6)
//! ```

use rustc_hash::FxHashMap as HashMap;

use tracelift_core::ir::{EntrySlot, Label};
use tracelift_core::loops::{Entering, Given};
use tracelift_core::snapshot::{SlotValue, Source};
use tracelift_core::{Const, Inst, LabelId, Op, Payload, SnapId, Trace, Type, Value};

use crate::driver::Driver;
use crate::state::{State, Walked};
use crate::statics::{Element, Object};
use crate::{Config, OptError};

/// What a label takes, in place of an argument of the recorded jump or of what an object holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    /// An argument of the label, by position.
    Passed(u32),
    /// A virtual object, by position in [`Form::objects`].
    Virtual(u32),
}

/// The form of what a loop passes from one iteration to the next: which of it is virtual.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Form {
    /// The arguments of the recorded jump, in order.
    args: Vec<Part>,
    /// The virtual objects among and below them, each with what it holds: by the values' positions here.
    objects: Vec<Object>,
    /// By a value that stands in an object: what it is.
    parts: Vec<Part>,
    /// The keys of their entries: by the values' positions here.
    keys: Vec<(Type, Const)>,
    /// The types of what the label takes.
    types: Vec<Type>,
}

/// Where bridges to a loop may go on, if what they pass has its form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BridgeTarget {
    form: Form,
    /// By argument of the recorded jump: its slot, and whether the loop changes it.
    slots: Vec<(EntrySlot, bool)>,
    /// Slots whose tags say all.
    tags: Vec<EntrySlot>,
}

impl Form {
    /// The form of what a jump passes, where these objects are virtual. `None` if no object is.
    pub(crate) fn of(out: &Trace, passed: &[Value], shape: &HashMap<Value, Object>) -> Option<Form> {
        if shape.is_empty() {
            return None;
        }
        let mut form = Form::default();
        let mut numbers: HashMap<Value, u32> = HashMap::default();
        let mut todo: Vec<Value> = Vec::new();
        for &value in passed {
            let part = form.part(out, shape, value, &mut numbers, &mut todo);
            form.args.push(part);
        }
        while let Some(name) = todo.get(form.objects.len()).copied() {
            let mut object = shape.get(&name)?.clone();
            for value in parts_mut(&mut object) {
                let part = form.part(out, shape, *value, &mut numbers, &mut todo);
                *value = Value(form.parts.len() as u32);
                form.parts.push(part);
            }
            for (key, _) in &mut object.entries {
                let constant = (out.ty(*key), out.constant_of(*key)?);
                *key = Value(form.keys.len() as u32);
                form.keys.push(constant);
            }
            form.objects.push(object);
        }
        Some(form)
    }

    fn part(
        &mut self,
        out: &Trace,
        shape: &HashMap<Value, Object>,
        value: Value,
        numbers: &mut HashMap<Value, u32>,
        todo: &mut Vec<Value>,
    ) -> Part {
        if !shape.contains_key(&value) {
            self.types.push(out.ty(value));
            return Part::Passed(self.types.len() as u32 - 1);
        }
        let next = todo.len() as u32;
        let number = *numbers.entry(value).or_insert(next);
        if number == next {
            todo.push(value);
        }
        Part::Virtual(number)
    }
}

/// The values that an object holds, in one order.
fn parts_mut(object: &mut Object) -> impl Iterator<Item = &mut Value> {
    let fields = object.fields.iter_mut().map(|(_, value)| value);
    let items = object.items.values_mut().chain(object.entries.iter_mut().map(|(_, element)| element));
    fields.chain(items.filter_map(|(_, value): &mut Element| value.as_mut()))
}

/// What a bridge, or the second body itself, passes to the second body's label.
struct Passing<'f, 's> {
    form: &'f Form,
    st: &'f State<'s>,
    given: Vec<Option<Content>>,
    /// By number: the objects that stand for the form's.
    objects: Vec<Option<Value>>,
}

/// A value of the trace, or what a slot holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Content {
    Value(Value),
    Slot(i32),
}

impl Passing<'_, '_> {
    /// What is passed where the arguments of the recorded jump are these; `None` if they have another form.
    fn find(form: &Form, st: &State<'_>, args: &[Content]) -> Option<Vec<Content>> {
        let (given, objects) = (vec![None; form.types.len()], vec![None; form.objects.len()]);
        let mut passing = Passing { form, st, given, objects };
        let mut todo: Vec<(Part, Content)> = form.args.iter().copied().zip(args.iter().copied()).collect();
        while let Some((part, content)) = todo.pop() {
            passing.take(part, content, &mut todo)?;
        }
        passing.given.into_iter().collect()
    }

    fn take(&mut self, part: Part, content: Content, todo: &mut Vec<(Part, Content)>) -> Option<()> {
        let content = match content {
            Content::Value(value) => Content::Value(self.st.resolve(value)),
            slot => slot,
        };
        match (part, content) {
            (Part::Passed(place), Content::Value(value)) => {
                let is_real = !self.st.facts.statics.has(value);
                let fits = is_real && self.st.out.ty(value) == self.form.types[place as usize];
                self.given[place as usize] = Some(content).filter(|_| fits);
                fits.then_some(())
            }
            (Part::Passed(place), Content::Slot(_)) => {
                self.given[place as usize] = Some(content);
                Some(())
            }
            (Part::Virtual(_), Content::Slot(_)) => None,
            (Part::Virtual(number), Content::Value(name)) => {
                let known = self.objects[number as usize];
                if let Some(known) = known {
                    return (known == name).then_some(());
                }
                if self.objects.contains(&Some(name)) {
                    // Two objects of the form are two.
                    return None;
                }
                self.objects[number as usize] = Some(name);
                let object = self.st.facts.statics.get(name)?.sorted(|value| self.st.resolve(value));
                let wanted = &self.form.objects[number as usize];
                if !wanted.same_form(&self.with_keys_of(wanted, &object)?) {
                    return None;
                }
                let parts = wanted.parts().map(|at| self.form.parts[at.index()]);
                todo.extend(parts.zip(object.parts().map(Content::Value)));
                Some(())
            }
        }
    }

    /// The object with the form's keys, if they are the same constants.
    fn with_keys_of(&self, wanted: &Object, object: &Object) -> Option<Object> {
        let mut object = object.clone();
        if object.entries.len() != wanted.entries.len() {
            return None;
        }
        for ((key, _), &(of, _)) in object.entries.iter_mut().zip(&wanted.entries) {
            let constant = self.st.out.constant_of(self.st.resolve(*key))?;
            if constant != self.form.keys[of.index()].1 {
                return None;
            }
            *key = of;
        }
        Some(object)
    }
}

/// The second body of a loop, as a trace of its own: a plain loop whose label takes what the form says. None
/// if the recorded operations do not come to its end with objects of that form.
pub(crate) fn second_body(mut driver: Driver<'_>, form: &Form) -> Result<Option<Walked>, OptError> {
    let source = driver.st.source;
    let last = source.insts.len() - 1;
    begin(&mut driver.st, form);
    driver.walk(1..last)?;
    driver.catch_up();
    driver.st.at.current = last as u32;
    driver.make_delayed(|_, _| true)?;
    driver.catch_up();
    let args = source.insts[last].args.iter().map(|&arg| driver.st.mapped(arg).map(Content::Value));
    let args = args.collect::<Result<Vec<_>, _>>()?;
    let Some(given) = Passing::find(form, &driver.st, &args) else { return Ok(None) };
    let values = given.iter().map(|content| match content {
        Content::Value(value) => Some(*value),
        Content::Slot(_) => None,
    });
    let Some(values) = values.collect::<Option<Vec<_>>>() else { return Ok(None) };
    let jump = Inst::new(Op::Jump, &values).with(Payload::Label(LabelId(0)));
    driver.st.out.insts.push(jump);
    let walked = driver.walked();
    let is_right = walked.more_real.is_empty() && !walked.is_unsteady;
    Ok(Some(walked).filter(|_| is_right))
}

/// The label of the second body, at which the form's objects are virtual.
fn begin(st: &mut State<'_>, form: &Form) {
    let inst = &st.source.insts[0];
    st.advance(0, inst.depth);
    let leaves: Vec<Value> = form.types.iter().map(|&ty| st.out.new_value(ty)).collect();
    let names: Vec<Value> = form.objects.iter().map(|_| st.out.new_value(Type::Ref)).collect();
    let value = |part: Part| match part {
        Part::Passed(place) => leaves[place as usize],
        Part::Virtual(number) => names[number as usize],
    };
    for (&name, object) in names.iter().zip(&form.objects) {
        let mut object = object.clone();
        for at in parts_mut(&mut object) {
            *at = value(form.parts[at.index()]);
        }
        for (key, _) in &mut object.entries {
            let (ty, constant) = form.keys[key.index()];
            *key = st.out.constant(ty, constant);
        }
        st.facts.statics.add(name, object);
    }
    for (&arg, &part) in inst.args.iter().zip(&form.args) {
        st.at.map[arg.index()] = Some(value(part));
    }
    st.facts.version += 1;
    let mut label = inst.clone();
    label.args = leaves.iter().copied().collect();
    st.out.labels[0].args = leaves;
    st.out.insts.push(label);
}

/// Puts a second body before the loop that begins with this label; returns its own label.
pub(crate) fn add(out: &mut Trace, second: Trace, before: LabelId) -> Option<LabelId> {
    let is_it = |inst: &Inst| inst.op == Op::Label && inst.label() == Some(before);
    let place = out.insts.iter().position(is_it)?;
    let label = LabelId(out.labels.len() as u32);
    let values: Vec<Value> = (second.values.iter())
        .map(|data| match data.constant {
            Some(constant) => out.constant(data.ty, constant),
            None => out.new_value(data.ty),
        })
        .collect();
    let moved = second.insts.len() as u32;
    let later = out.snapshots.iter_mut().filter(|snapshot| snapshot.position as usize >= place);
    later.for_each(|snapshot| snapshot.position += moved);
    let snapshots: Vec<SnapId> = (second.snapshots.into_iter())
        .map(|mut snapshot| {
            snapshot.map_values(|value| values[value.index()]);
            snapshot.position += place as u32;
            out.add_snapshot(snapshot)
        })
        .collect();
    let name = (1..).map(|n| format!("L{n}")).find(|name| out.labels.iter().all(|l| l.name != *name));
    let args = second.labels[0].args.iter().map(|arg| values[arg.index()]).collect();
    out.labels.push(Label { name: name.unwrap_or_default(), args });
    let insts = second.insts.into_iter().map(|mut inst| {
        inst.args.iter_mut().chain(&mut inst.result).for_each(|value| *value = values[value.index()]);
        inst.snap = inst.snap.map(|snap| snapshots[snap.index()]);
        if let Payload::Label(to) = &mut inst.payload {
            *to = label;
        }
        inst
    });
    out.insts.splice(place..place, insts);
    Some(label)
}

impl BridgeTarget {
    /// The target that a recorded loop is whose second body has this form.
    pub(crate) fn new(form: Form, recorded: &Trace) -> Option<BridgeTarget> {
        let (inputs, passed) = (recorded.inputs(), &recorded.insts.last()?.args);
        let changes = inputs.iter().zip(passed).map(|(input, next)| input != next);
        let slots: Vec<(EntrySlot, bool)> = recorded.entry.iter().copied().zip(changes).collect();
        let is_whole = slots.len() == form.args.len() && slots.len() == passed.len();
        is_whole.then(|| BridgeTarget { form, slots, tags: recorded.entry_tags.clone() })
    }
}

/// Walks a bridge to this target; with how it goes on there, if it can.
pub(crate) fn run(
    mut driver: Driver<'_>,
    target: &BridgeTarget,
) -> Result<(Walked, Option<Entering>), OptError> {
    let all = driver.st.source.insts.len();
    if all < 2 || driver.st.source.insts[0].op != Op::Label {
        return Ok((driver.run()?, None));
    }
    driver.walk(0..all - 1)?;
    let entering = enter(&mut driver, target)?;
    driver.walk(all - 1..all)?;
    Ok((driver.walked(), entering))
}

/// At the end of a bridge, which is all that is left to walk: if what it leaves has the target's form, goes
/// on there.
fn enter(driver: &mut Driver<'_>, target: &BridgeTarget) -> Result<Option<Entering>, OptError> {
    let source = driver.st.source;
    let last = source.insts.len() - 1;
    let end = &source.insts[last];
    let Some(snapshot) = end.snap.map(|snap| &source.snapshots[snap.index()]) else { return Ok(None) };
    let is_plain = snapshot.virtuals.is_empty() && snapshot.pending.is_empty();
    let ([frame], true) = (&snapshot.frames[..], is_plain && end.op == Op::Finish) else { return Ok(None) };
    if frame.base != 0 {
        return Ok(None);
    }
    driver.catch_up();
    driver.st.at.current = last as u32;
    driver.make_delayed(|_, _| true)?;
    driver.catch_up();
    let st = &mut driver.st;
    let held = |slot: i32| frame.slots.iter().find(|held| held.slot == slot);
    let (mut args, mut entering) = (Vec::new(), Entering::default());
    for &(slot, changes) in &target.slots {
        args.push(match held(slot.slot).map(|held| (held.tag == slot.tag, held.source)) {
            Some((true, Source::Value(value))) => Content::Value(st.mapped(value)?),
            Some((true, Source::InPlace)) => Content::Slot(slot.slot),
            None => {
                entering.checks.push(slot);
                Content::Slot(slot.slot)
            }
            Some(_) => return Ok(None),
        });
        entering.carried.extend(changes.then_some(slot.slot));
    }
    for &slot in &target.tags {
        match held(slot.slot) {
            None => entering.checks.push(slot),
            Some(held) if held.tag == slot.tag => {}
            Some(_) => return Ok(None),
        }
    }
    let Some(given) = Passing::find(&target.form, st, &args) else { return Ok(None) };
    let mut copy = snapshot.clone();
    copy.frames[0].slots.retain(|held| !entering.carried.contains(&held.slot));
    for held in &mut copy.frames[0].slots {
        let SlotValue { source: Source::Value(value), .. } = *held else { continue };
        let value = st.mapped(value)?;
        let value = st.resolve(value);
        if st.facts.statics.has(value) {
            return Ok(None);
        }
        held.source = Source::Value(value);
    }
    let mut values = Vec::new();
    entering.given = (given.into_iter())
        .map(|content| match content {
            Content::Slot(slot) => Given::Slot(slot),
            Content::Value(value) => {
                values.push(value);
                Given::Arg(values.len() as u32 - 1)
            }
        })
        .collect();
    copy.position = st.out.insts.len() as u32;
    let snap = st.out.add_snapshot(copy);
    st.out.insts.push(Inst::new(Op::EnterLoop, &values).at(Some(snap)));
    driver.catch_up();
    Ok(Some(entering))
}

/// Whether traces are optimized to go on in each other: not where rewrites are counted.
pub(crate) fn is_on(config: &Config) -> bool {
    config.fuel.is_none() && !config.keep_records
}
