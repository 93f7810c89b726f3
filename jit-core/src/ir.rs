//! A trace: SSA values, instructions, labels and snapshots.
//!
//! Problem: recorder, optimizer, evaluator and lowering pass traces to one another and to text files. Design:
//! a flat list of instructions over dense value ids; constants are values too (equal bits of equal type: one
//! id), so that every operand is a [`Value`]; a label's arguments are defined by its instruction. The type
//! stands beside the value id. Recorded and optimized traces have the same form: in an optimized one,
//! snapshots also hold virtual objects and pending stores (they are the resume data), and record operations
//! on real objects are expanded.
//!
//! Invariant: a value is defined once; `insts[0]` is the entry label, whose arguments are the trace's inputs;
//! the last instruction is a `jump` or a `finish`. [`crate::verify`] checks all of it.
//!
//! ```
//! use tracelift_core::{ir::*, Op, Type};
//! let mut trace = Trace::new("count");
//! let i0 = trace.new_value(Type::Int);
//! let loop_label = trace.add_label("L0", &[i0]);
//! let one = trace.const_int(1);
//! let i1 = trace.push(Inst::new(Op::IntAdd, &[i0, one]), Some(Type::Int)).unwrap();
//! trace.push(Inst::new(Op::Jump, &[i1]).with(Payload::Label(loop_label)), None);
//! assert_eq!(trace.insts.len(), 3);
//! ```

use rustc_hash::FxHashMap as HashMap;

use smallvec::SmallVec;

use crate::effects::Effects;
use crate::ops::Op;
use crate::schema::{define_id, CellId, FieldId, FuncId, LayoutId, Schema, TagId};
use crate::snapshot::Snapshot;
use crate::types::{Bits, Type};

define_id! {
    /// A value of a trace: an input, a label's argument, an instruction's result, or a constant.
    Value,
    /// A label.
    LabelId,
    /// A snapshot (in an optimized trace: resume data).
    SnapId,
    /// A unit: compiled code that compiled code calls, a tree of traces with one entry.
    UnitId,
}

/// A constant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Const {
    /// Bits of the value's type: an integer, a double (compared by bits), an object's or any other address.
    Bits(Bits),
    /// An object of the test world, by its number; bound to an address before the trace runs
    /// ([`Trace::bind`]). No host has such constants, nor does what it is built with.
    #[cfg(feature = "oracle")]
    Object(u32),
}

impl Const {
    /// The bits; `None` for an object of the test world, which has no address yet.
    #[inline]
    pub fn bits(self) -> Option<Bits> {
        match self {
            Const::Bits(bits) => Some(bits),
            #[cfg(feature = "oracle")]
            Const::Object(_) => None,
        }
    }

    /// Whether it is the same as another constant of its type; `None` where only one of them has an address.
    #[inline]
    pub fn is_same(self, other: Const) -> Option<bool> {
        (self.bits().is_some() == other.bits().is_some()).then_some(self == other)
    }

    /// With an address in place of an object of the test world.
    #[cfg(feature = "oracle")]
    pub fn bound(self, address: impl Fn(u32) -> Bits) -> Const {
        match self {
            Const::Bits(_) => self,
            Const::Object(number) => Const::Bits(address(number)),
        }
    }
}

/// What is known of a value by its id alone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ValueData {
    /// Its type.
    pub ty: Type,
    /// Its constant, if it is one.
    pub constant: Option<Const>,
    /// Its name in the text form, where the author chose one.
    pub name: Option<Box<str>>,
}

/// Where a record with a table of that size has a key, or would have it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Hint {
    /// The value of the cell that says how large the table of entries is.
    pub size: u32,
    /// The number of the entry; where the key is absent, of the one where a search for it begins.
    pub entry: u32,
    /// How many entries such a search passes after that one; 0 where the key is there.
    pub followed: u32,
}

/// Bits in a new record's room for keyed entries that belong to the host: the functions that make records get
/// them, and they mean nothing to the library. A host may say by them how a record comes to that room.
pub const HOST_BITS: u32 = 0xff00_0000;

/// How many keyed entries have room, of the number that a new record carries.
///
/// ```
/// assert_eq!(tracelift_core::ir::key_room(0x0300_0004), 4);
/// ```
pub const fn key_room(keys: u32) -> u32 {
    keys & !HOST_BITS
}

/// What an instruction carries beside its arguments; [`crate::ops::PayloadKind`] says which op has which.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Payload {
    /// Nothing.
    #[default]
    None,
    /// A raw memory cell.
    Cell(CellId),
    /// A fixed field.
    Field(FieldId),
    /// A record layout.
    Layout(LayoutId),
    /// A layout and the capacities of its parts.
    New {
        /// The layout.
        layout: LayoutId,
        /// Room for items.
        items: u32,
        /// Room for keyed entries, which [`key_room`] tells, and [`HOST_BITS`].
        keys: u32,
    },
    /// An item of a record.
    Item {
        /// The layout.
        layout: LayoutId,
        /// The tag read (guarded) or written; `None` in untagged layouts.
        tag: Option<TagId>,
    },
    /// A keyed entry of a record.
    Key {
        /// The layout.
        layout: LayoutId,
        /// The tag read (guarded) or written; `None` in untagged layouts.
        tag: Option<TagId>,
        /// Where the recorder saw the entry. Advice: a miss leaves the trace.
        hint: Option<Hint>,
    },
    /// A function.
    Func(FuncId),
    /// A label.
    Label(LabelId),
    /// Address arithmetic.
    Scale {
        /// Bytes per index step.
        stride: u32,
        /// Bytes added.
        offset: i32,
    },
    /// A unit that is called.
    Unit {
        /// The unit.
        unit: UnitId,
        /// Slots from the base of the trace's entry to that of the unit's frame.
        base: i32,
    },
    /// What a unit has returned.
    Result {
        /// The slot that holds it where the trace is left, from the base of the trace's entry; `None` if
        /// nobody wants it.
        slot: Option<i32>,
        /// The tag that the trace goes on with; `None`: any.
        tag: Option<TagId>,
    },
    /// A tag.
    Tag(TagId),
}

/// Why an exit is taken: it decides what the runtime does and whether the exit counts as a failure.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, PartialOrd, Ord)]
#[repr(u8)]
pub enum ExitKind {
    /// A guard failed.
    #[default]
    Guard,
    /// The loop is over: a normal exit, no failure.
    LoopEnd,
    /// The host's collector wants to run; the loop is entered again afterwards.
    Collect,
    /// The host's interrupt flag (hooks, Ctrl-C) is up.
    Interrupt,
    /// The trace's end: it returns to the interpreter.
    Finish,
    /// A guard failed that the optimizer has put before the loop in place of work in each iteration (a later
    /// iteration would go out of bounds, say). The state is that of an operation beside it, and the host sees
    /// a guard that failed.
    Hoisted,
    /// A unit that the trace has called was left: no exit of its own, but what the trace has to add to that
    /// one.
    Called,
    /// A guard failed on what the host took for unchanging, say that a function has one closure. Where that
    /// is often so the code is entered no more, and recorded anew.
    Assumed,
}

impl ExitKind {
    /// Every kind.
    pub const ALL: [ExitKind; 8] = [
        ExitKind::Guard,
        ExitKind::LoopEnd,
        ExitKind::Collect,
        ExitKind::Interrupt,
        ExitKind::Finish,
        ExitKind::Hoisted,
        ExitKind::Called,
        ExitKind::Assumed,
    ];

    /// The kind that the exit of an operation has where nothing else is said.
    pub fn usual(op: Op) -> ExitKind {
        match op {
            Op::Finish => ExitKind::Finish,
            Op::CallUnit => ExitKind::Called,
            _ => ExitKind::Guard,
        }
    }

    /// The name in the text form and in statistics.
    pub fn name(self) -> &'static str {
        match self {
            ExitKind::Guard => "guard",
            ExitKind::LoopEnd => "loop_end",
            ExitKind::Collect => "collect",
            ExitKind::Interrupt => "interrupt",
            ExitKind::Finish => "finish",
            ExitKind::Hoisted => "hoisted",
            ExitKind::Called => "called",
            ExitKind::Assumed => "assumed",
        }
    }
}

/// Arguments of an instruction.
pub type Args = SmallVec<[Value; 4]>;

/// A copy of these arguments. A few of them are moved in registers: a call of `memcpy` takes longer, and the
/// optimizer copies each instruction often.
#[inline]
pub fn args_of(from: &[Value]) -> Args {
    let mut few = [Value(0); 4];
    if from.len() > few.len() {
        return Args::from_slice(from);
    }
    few.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
    Args::from_buf_and_len(few, from.len())
}

/// An instruction.
#[derive(PartialEq, Eq, Debug)]
pub struct Inst {
    /// The operation.
    pub op: Op,
    /// Operands; for a label, the values that it defines.
    pub args: Args,
    /// The value that it defines, if the op has a result.
    pub result: Option<Value>,
    /// What it carries beside arguments.
    pub payload: Payload,
    /// Where the trace is left to when a guard fails. Guards of hand-written traces may have none: such an
    /// exit says only which guard it was.
    pub snap: Option<SnapId>,
    /// Why it would be left.
    pub exit: ExitKind,
    /// Depth of the host function it was recorded in, 0 for the outermost: only for listings (seed 000,
    /// Figure 2).
    pub depth: u8,
}

impl Clone for Inst {
    /// As derived, but for the arguments: see [`args_of`].
    #[inline]
    fn clone(&self) -> Inst {
        let Inst { op, ref args, result, payload, snap, exit, depth } = *self;
        Inst { op, args: args_of(args), result, payload, snap, exit, depth }
    }
}

impl Inst {
    /// An instruction without result, payload and snapshot.
    #[inline]
    pub fn new(op: Op, args: &[Value]) -> Inst {
        Inst {
            op,
            args: args_of(args),
            result: None,
            payload: Payload::None,
            snap: None,
            exit: ExitKind::usual(op),
            depth: 0,
        }
    }

    /// The same with a payload.
    #[inline]
    pub fn with(mut self, payload: Payload) -> Inst {
        self.payload = payload;
        self
    }

    /// The same with a snapshot.
    #[inline]
    pub fn at(mut self, snap: Option<SnapId>) -> Inst {
        self.snap = snap;
        self
    }

    /// The same with another kind of exit.
    #[inline]
    pub fn exit_kind(mut self, exit: ExitKind) -> Inst {
        self.exit = exit;
        self
    }

    /// The label that a `label` or `jump` names.
    pub fn label(&self) -> Option<LabelId> {
        match self.payload {
            Payload::Label(label) => Some(label),
            _ => None,
        }
    }

    /// Whether the instruction leaves the trace by an exit: guards and `finish`. See [`Trace::exit_numbers`].
    pub fn is_exit(&self) -> bool {
        self.op.is_guard() || self.op == Op::Finish
    }

    /// The type that the instruction's result has, from op, payload and argument types; `None` if it has
    /// none.
    pub fn result_type(&self, trace: &Trace, schema: &Schema) -> Option<Type> {
        use crate::ops::{ArgType, Arity, ResultType};
        match self.op.info().result {
            ResultType::Nothing => None,
            ResultType::Is(ty) => Some(ty),
            ResultType::Same => {
                let Arity::Fixed(kinds) = self.op.info().args else { return None };
                let position = kinds.iter().position(|kind| *kind == ArgType::Same)?;
                self.args.get(position).map(|&arg| trace.ty(arg))
            }
            ResultType::Declared => self.declared_type(schema),
        }
    }

    /// The type that the payload declares for a loaded or stored value or a call's result.
    pub fn declared_type(&self, schema: &Schema) -> Option<Type> {
        match self.payload {
            Payload::Cell(cell) => Some(schema.cell(cell).ty),
            Payload::Field(field) => Some(schema.field_cell(field).ty),
            Payload::Item { layout, tag } => {
                schema.layout(layout).items.as_ref().and_then(|part| schema.element_type(&part.element, tag))
            }
            Payload::Key { layout, tag, .. } => {
                schema.layout(layout).keys.as_ref().and_then(|part| schema.element_type(&part.element, tag))
            }
            Payload::Func(func) => schema.func(func).result,
            Payload::Result { tag, .. } => schema.tag(tag?).payload,
            Payload::Tag(tag) => schema.tag(tag).payload,
            _ => None,
        }
    }

    /// What the instruction does beside computing its result.
    pub fn effects<'s>(&self, schema: &'s Schema) -> Effects<'s> {
        Effects::of(self, schema)
    }

    /// Whether it may allocate, or run code that does: [`Effects::allocates`], for those who ask nothing else
    /// of every instruction of a trace.
    pub fn allocates(&self, schema: &Schema) -> bool {
        use Op::{
            GetItem, GetKey, GuardClass, GuardKeyAbsent, InsertKey, ItemCount, PutItem, SetItem, SetKey,
        };
        let layout = |payload: &Payload| match *payload {
            Payload::Key { layout, .. } => schema.layouts().get(layout.index()),
            _ => None,
        };
        match self.op {
            Op::Load
            | Op::Store
            | Op::Get
            | Op::Set
            | GuardClass
            | ItemCount
            | GetItem
            | SetItem
            | PutItem => false,
            Op::New | InsertKey => true,
            GetKey | GuardKeyAbsent | SetKey => layout(&self.payload).is_none_or(|layout| {
                layout.keys.as_ref().is_some_and(|keys| schema.func(keys.find).effects.allocates())
            }),
            _ => self.effects(schema).allocates,
        }
    }

    /// Whether it is a guard by its kind that never fails: it writes a field, and there is no barrier that
    /// would leave. A bytecode may so write several fields.
    pub fn never_leaves(&self, schema: &Schema) -> bool {
        match (self.op, self.payload) {
            (Op::Set, Payload::Field(field)) => {
                let barrier = schema.layout(schema.field(field).layout).barrier;
                let is_minded = schema.field_cell(field).ty == crate::types::Type::Ref;
                barrier.is_none_or(|barrier| barrier.mend.is_some() || !is_minded)
            }
            _ => false,
        }
    }
}

/// A label: its arguments are the values that its instruction defines.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// Name in the text form.
    pub name: String,
    /// Its arguments.
    pub args: Vec<Value>,
}

/// A slot of the host's frame from which an input of the trace is loaded at entry.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct EntrySlot {
    /// Slot number, relative to the frame base at entry.
    pub slot: i32,
    /// The tag that it must have; another one refuses the entry.
    pub tag: TagId,
}

/// A trace, recorded or optimized.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trace {
    /// What it is called in logs and in the text form.
    pub name: String,
    /// Values by id.
    pub values: Vec<ValueData>,
    /// Instructions in order.
    pub insts: Vec<Inst>,
    /// Labels by id; label 0 is the entry.
    pub labels: Vec<Label>,
    /// Snapshots by id.
    pub snapshots: Vec<Snapshot>,
    /// Where the arguments of the entry label come from; empty in traces whose caller passes the inputs.
    pub entry: Vec<EntrySlot>,
    /// Where the arguments after those of [`Trace::entry`] come from: slots whose tags need no check, since
    /// the exit at which a side trace begins has them in place.
    pub entry_known: Vec<EntrySlot>,
    /// The cells of the exit buffer that hold the arguments after those of [`Trace::entry_known`]: in a side
    /// trace, the values that the exit which it begins at leaves behind.
    pub entry_cells: Vec<u32>,
    /// Slots whose tag alone is checked at entry: they were only overwritten, or hold tags without a payload.
    pub entry_tags: Vec<EntrySlot>,
    /// The unit that it belongs to. The slots of its first frame are not in memory, as nobody has made that
    /// frame: the trace has its arguments, and its exits write all that is live.
    pub unit: Option<UnitId>,
    constants: HashMap<(Type, Const), Value>,
}

impl Trace {
    /// An empty trace.
    pub fn new(name: &str) -> Trace {
        Trace { name: name.to_string(), ..Trace::default() }
    }

    /// Makes room for more constants.
    pub fn reserve_constants(&mut self, more: usize) {
        self.constants.reserve(more);
    }

    /// A new value of that type, not yet defined.
    pub fn new_value(&mut self, ty: Type) -> Value {
        self.values.push(ValueData { ty, constant: None, name: None });
        Value(self.values.len() as u32 - 1)
    }

    /// The value of a constant.
    pub fn constant(&mut self, ty: Type, constant: Const) -> Value {
        if let Some(&value) = self.constants.get(&(ty, constant)) {
            return value;
        }
        self.values.push(ValueData { ty, constant: Some(constant), name: None });
        let value = Value(self.values.len() as u32 - 1);
        self.constants.insert((ty, constant), value);
        value
    }

    /// An integer constant.
    pub fn const_int(&mut self, int: i64) -> Value {
        self.constant(Type::Int, Const::Bits(int as u64))
    }

    /// A double constant; 0.0 and -0.0 differ, and so do NaNs of different bits.
    pub fn const_float(&mut self, float: f64) -> Value {
        self.constant(Type::Float, Const::Bits(float.to_bits()))
    }

    /// A constant object (0 is null), which the host keeps alive.
    pub fn const_ref(&mut self, address: u64) -> Value {
        self.constant(Type::Ref, Const::Bits(address))
    }

    /// A constant address.
    pub fn const_addr(&mut self, address: u64) -> Value {
        self.constant(Type::Addr, Const::Bits(address))
    }

    /// The type of a value.
    #[inline]
    pub fn ty(&self, value: Value) -> Type {
        self.values[value.index()].ty
    }

    /// The constant that a value is.
    #[inline]
    pub fn constant_of(&self, value: Value) -> Option<Const> {
        self.values[value.index()].constant
    }

    /// The bits of a constant value; `None` for others and for unbound objects of the test world.
    #[inline]
    pub fn bits_of(&self, value: Value) -> Option<Bits> {
        self.constant_of(value).and_then(Const::bits)
    }

    /// Whether this is a *counted check* for a collection: it always holds, but in compiled code it leaves
    /// once in some millions of operations, so that a host whose objects are all virtual can let its
    /// collector go on.
    pub fn is_counted_check(&self, inst: &Inst) -> bool {
        inst.op == Op::GuardTrue
            && inst.exit == ExitKind::Collect
            && inst.args.first().is_some_and(|&condition| self.bits_of(condition) == Some(1))
    }

    /// The integer that a constant value is.
    pub fn int_of(&self, value: Value) -> Option<i64> {
        (self.ty(value) == Type::Int).then(|| self.bits_of(value)).flatten().map(|bits| bits as i64)
    }

    /// Adds an instruction; with a type, it gets a new value as its result (unless it has one already).
    pub fn push(&mut self, mut inst: Inst, result: Option<Type>) -> Option<Value> {
        if let (Some(ty), None) = (result, inst.result) {
            inst.result = Some(self.new_value(ty));
        }
        let result = inst.result;
        self.insts.push(inst);
        result
    }

    /// Adds a label and its instruction.
    pub fn add_label(&mut self, name: &str, args: &[Value]) -> LabelId {
        let id = LabelId(self.labels.len() as u32);
        self.labels.push(Label { name: name.to_string(), args: args.to_vec() });
        self.insts.push(Inst::new(Op::Label, args).with(Payload::Label(id)));
        id
    }

    /// Adds a snapshot.
    pub fn add_snapshot(&mut self, snapshot: Snapshot) -> SnapId {
        self.snapshots.push(snapshot);
        SnapId(self.snapshots.len() as u32 - 1)
    }

    /// The snapshot of an instruction.
    pub fn snapshot_of(&self, inst: &Inst) -> Option<&Snapshot> {
        inst.snap.map(|snap| &self.snapshots[snap.index()])
    }

    /// In how many slots' distance from the base at entry the innermost frame of an instruction's snapshot
    /// has its base; 0 without a snapshot.
    pub fn last_frame(&self, inst: &Inst) -> i32 {
        self.snapshot_of(inst).and_then(|snapshot| snapshot.frames.last()).map_or(0, |frame| frame.base)
    }

    /// The trace's inputs: the arguments of the entry label.
    pub fn inputs(&self) -> &[Value] {
        self.labels.first().map_or(&[], |label| &label.args)
    }

    /// Turns the objects of the test world that are named as constants into their addresses there.
    #[cfg(feature = "oracle")]
    pub fn bind(&mut self, address: impl Fn(u32) -> Bits) {
        for data in &mut self.values {
            data.constant = data.constant.map(|constant| constant.bound(&address));
        }
        self.constants = self
            .values
            .iter()
            .enumerate()
            .filter_map(|(index, data)| Some(((data.ty, data.constant?), Value(index as u32))))
            .collect();
    }

    /// The exits in the order of their numbers, each by the first instruction that leaves by it.
    pub fn exits(&self) -> impl Iterator<Item = (usize, &Inst)> {
        let mut next = 0;
        self.insts.iter().enumerate().zip(self.exit_numbers()).filter_map(move |((index, inst), number)| {
            let is_first = number == Some(next);
            next += u32::from(is_first);
            is_first.then_some((index, inst))
        })
    }

    /// The exit by which each instruction leaves, if it does. Guards with one snapshot and one kind are one
    /// exit, as the program is at one place then, whichever of them fails: what it did before is the same,
    /// and so is what it does next (as in LuaJIT, where an exit is a snapshot). A guard without a snapshot is
    /// an exit of its own.
    pub fn exit_numbers(&self) -> Vec<Option<u32>> {
        // Nearly all guards of a snapshot are of one kind, the first one's.
        let mut firsts: Vec<Option<(ExitKind, u32)>> = vec![None; self.snapshots.len()];
        let mut others: HashMap<(SnapId, ExitKind), u32> = HashMap::default();
        let mut next = 0;
        let mut number = |inst: &Inst| {
            let fresh = next;
            let shared = inst.snap.filter(|_| inst.op.is_guard());
            let number = match shared.map(|snap| (snap, firsts.get_mut(snap.index()))) {
                Some((_, Some(first @ None))) => first.insert((inst.exit, fresh)).1,
                Some((_, Some(&mut Some((kind, number))))) if kind == inst.exit => number,
                Some((snap, _)) => *others.entry((snap, inst.exit)).or_insert(fresh),
                None => fresh,
            };
            next += u32::from(number == fresh);
            number
        };
        self.insts.iter().map(|inst| inst.is_exit().then(|| number(inst))).collect()
    }

    /// How many operations there are, labels left out (as seed 002's Figure 7 counts).
    pub fn op_count(&self) -> usize {
        self.insts.iter().filter(|inst| inst.op != Op::Label).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guards_of_one_kind_with_one_snapshot_are_one_exit() {
        let mut trace = Trace::new("exits");
        let input = trace.new_value(Type::Int);
        trace.add_label("L0", &[input]);
        let [first, second] = [(); 2].map(|()| Some(trace.add_snapshot(Snapshot::default())));
        let guard = |snap, kind| Inst { snap, exit: kind, ..Inst::new(Op::GuardTrue, &[input]) };
        for (snap, kind) in [
            (first, ExitKind::Guard),
            (second, ExitKind::Guard),
            (first, ExitKind::LoopEnd),
            (first, ExitKind::Guard),
            (None, ExitKind::Guard),
            (None, ExitKind::Guard),
            (second, ExitKind::Guard),
        ] {
            trace.push(guard(snap, kind), None);
        }
        trace.push(Inst { snap: second, ..Inst::new(Op::Finish, &[]) }, None);
        let numbers: Vec<u32> = trace.exit_numbers().into_iter().flatten().collect();
        assert_eq!(numbers, [0, 1, 2, 0, 3, 4, 1, 5], "the end is an exit of its own");
        let firsts: Vec<usize> = trace.exits().map(|(index, _)| index - 1).collect();
        assert_eq!(firsts, [0, 1, 2, 4, 5, 7]);
        let is_first = |&(number, index): &(u32, usize)| trace.exit_numbers()[index + 1] == Some(number);
        assert!((0..).zip(firsts).collect::<Vec<_>>().iter().all(is_first));
    }
}
