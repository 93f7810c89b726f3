//! Pointers and calls in which the collector may run.
//!
//! Problem: what a pointer leads to may be gone after such a call, or another object may be there; it shows
//! only if a collection happens in that very call. Design: one walk along the trace knows of each pointer
//! whether the host can find what it leads to. That is so for what it was entered with in slots, and for what
//! was stored into a slot of its frames, or loaded from one; whatever else was loaded, made or computed is
//! *fresh* up to the next such call and *gone* after it. What a label's arguments are is what all jumps to it
//! pass: the best is assumed first, and the walk is made again until that holds. An object that was in a slot
//! once counts as found from then on, though the slot may hold another one by now: the walk does not know
//! memory.
//!
//! Invariant: the lists of what a label's arguments are only grow worse, so that the walks come to an end.
//!
//! ```text
//! p1 = load(p0, list.next)            fresh
//! store(a2, slot.ref, p1)             a2 is an address in the frame: found from now on
//! p3 = load(p0, list.next)            fresh
//! a4 = call(host, a5, a6, a7)         the collector may run
//! p8 = load(p1, list.next)            good
//! p9 = load(p3, list.next)            p3 is used after a call that may run the collector
//! ```

use super::{Checker, ErrorKind};
use crate::ir::{Inst, LabelId, Payload, Trace, Value};
use crate::ops::Op;
use crate::schema::{Schema, SlotCells};
use crate::types::Type;

/// What becomes of a pointer in a call that may collect; the better the later.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Fate {
    /// It was there before such a call, and nobody held what it leads to.
    Gone,
    /// Nobody may hold what it leads to.
    Fresh,
    /// The host can find what it leads to.
    Found,
    /// A constant, the context, or a place at a fixed distance from these.
    Steady,
    /// The same from the frame's base: a slot, maybe.
    InFrame,
}

/// A walk over a trace.
struct Walk<'a> {
    trace: &'a Trace,
    schema: &'a Schema,
    cells: SlotCells,
    /// By value; numbers have none.
    fates: Vec<Option<Fate>>,
    /// What labels' arguments are, in their order.
    labels: Vec<Vec<Fate>>,
    has_changed: bool,
}

impl Checker<'_> {
    /// Checks that no pointer is used which a call may have made void.
    pub(super) fn collected(&mut self) {
        let (trace, schema) = (self.trace, self.schema);
        let Some(cells) = schema.slot_cells() else { return };
        if !trace.insts.iter().any(|inst| collects(inst, schema)) {
            return;
        }
        let mut walk = Walk::new(trace, schema, cells);
        loop {
            walk.has_changed = false;
            trace.insts.iter().for_each(|inst| walk.step(inst, |_| ()));
            if !walk.has_changed {
                break;
            }
        }
        for (index, inst) in trace.insts.iter().enumerate() {
            let mut gone = Vec::new();
            walk.step(inst, |value| gone.push(value));
            self.at = Some(index);
            for value in gone {
                let name = self.name(value);
                let message = format!("{name} is used after a call that may run the collector");
                self.error(ErrorKind::Collected, message);
            }
        }
    }
}

/// Whether an instruction may run the collector.
fn collects(inst: &Inst, schema: &Schema) -> bool {
    matches!(inst.payload, Payload::Func(_)) && inst.effects(schema).collects
}

impl<'a> Walk<'a> {
    fn new(trace: &'a Trace, schema: &'a Schema, cells: SlotCells) -> Walk<'a> {
        let of_label = |label: &crate::ir::Label| vec![Fate::InFrame; label.args.len()];
        let mut labels: Vec<Vec<Fate>> = trace.labels.iter().map(of_label).collect();
        if let Some(inputs) = labels.first_mut() {
            // What lies in the exit buffer is nowhere else.
            let in_slots = trace.entry.len() + trace.entry_known.len();
            let fate = |index| if index < in_slots { Fate::Found } else { Fate::Fresh };
            inputs.iter_mut().enumerate().for_each(|(index, input)| *input = fate(index));
        }
        let fates = vec![None; trace.values.len()];
        Walk { trace, schema, cells, fates, labels, has_changed: false }
    }

    /// What is known of a value; `None` of numbers, and of what is no value or not defined yet.
    fn fate(&self, value: Value) -> Option<Fate> {
        let data = self.trace.values.get(value.index()).filter(|data| data.ty.is_pointer())?;
        match data.constant {
            Some(_) => Some(Fate::Steady),
            None => self.fates[value.index()],
        }
    }

    fn set(&mut self, value: Value, fate: Fate) {
        let data = self.trace.values.get(value.index());
        if data.is_some_and(|data| data.ty.is_pointer() && data.constant.is_none()) {
            self.fates[value.index()] = Some(fate);
        }
    }

    /// Takes an instruction, and tells the pointers that it must not use.
    fn step(&mut self, inst: &Inst, mut tell: impl FnMut(Value)) {
        let mut look = |walk: &Self, value: Value| {
            if walk.fate(value) == Some(Fate::Gone) {
                tell(value);
            }
        };
        if inst.op == Op::Label {
            let known = inst.label().and_then(|label| self.labels.get(label.index())).cloned();
            for (&arg, fate) in inst.args.iter().zip(known.into_iter().flatten()) {
                self.set(arg, fate);
            }
            return;
        }
        inst.args.iter().for_each(|&arg| look(self, arg));
        if let Some(snapshot) = inst.snap.and_then(|snap| self.trace.snapshots.get(snap.index())) {
            snapshot.for_each_value(|value| look(self, value));
        }
        match inst.op {
            Op::Jump => self.pass(inst, &inst.args),
            Op::JumpIf => self.pass(inst, inst.args.get(1..).unwrap_or_default()),
            Op::Store => self.store(inst),
            _ if collects(inst, self.schema) => self.collect(),
            _ => {}
        }
        if let Some(result) = inst.result {
            self.set(result, self.made(inst));
        }
    }

    /// What an instruction's result is.
    fn made(&self, inst: &Inst) -> Fate {
        match (inst.op, inst.args.as_slice()) {
            (Op::Context, _) => Fate::Steady,
            (Op::FrameBase, _) => Fate::InFrame,
            (Op::AddrAdd | Op::ItemAddr, &[base, distance]) => match self.fate(base) {
                Some(fate @ (Fate::Steady | Fate::InFrame)) if self.is_constant(distance) => fate,
                _ => Fate::Fresh,
            },
            (Op::Load, &[place]) if self.is_slot(inst, place) => Fate::Found,
            _ => Fate::Fresh,
        }
    }

    /// Whether an access of this place is one of a slot with a pointer.
    fn is_slot(&self, inst: &Inst, place: Value) -> bool {
        let is_payload = |ty: Type| inst.payload == Payload::Cell(self.cells.value[ty as usize]);
        self.fate(place) == Some(Fate::InFrame) && (is_payload(Type::Ref) || is_payload(Type::Addr))
    }

    fn is_constant(&self, value: Value) -> bool {
        self.trace.values.get(value.index()).is_some_and(|data| data.constant.is_some())
    }

    /// What a slot holds is found.
    fn store(&mut self, inst: &Inst) {
        let &[place, value] = inst.args.as_slice() else { return };
        if self.is_slot(inst, place) && self.fate(value) == Some(Fate::Fresh) {
            self.set(value, Fate::Found);
        }
    }

    fn collect(&mut self) {
        for fate in self.fates.iter_mut().flatten().filter(|fate| **fate == Fate::Fresh) {
            *fate = Fate::Gone;
        }
    }

    /// A label's arguments are no better than what is passed.
    fn pass(&mut self, inst: &Inst, args: &[Value]) {
        let Some(LabelId(label)) = inst.label() else { return };
        for (index, &arg) in args.iter().enumerate() {
            let Some(passed) = self.fate(arg) else { continue };
            let Some(known) = self.labels.get_mut(label as usize).and_then(|label| label.get_mut(index))
            else {
                continue;
            };
            // What is gone was told here.
            let passed = passed.max(Fate::Fresh);
            if passed < *known {
                (*known, self.has_changed) = (passed, true);
            }
        }
    }
}
