//! What an instruction does beside computing its result: what memory it reads and writes, whether it
//! allocates, whether it may leave the trace.
//!
//! Problem: forwarding a load, removing a store, forgetting a class, keeping a check for the collector,
//! repeating an operation where a loop is entered: each asks what an instruction may touch. Where each place
//! answers that for itself, one of them forgets a kind of call. Design: one function, [`Effects::of`], from
//! an instruction and the host's declarations to its effects; its match names every operation. Where one cell
//! is read or written, [`CellAccess::of`] says which, of what, and what is stored there. What a host has
//! declared of a function is sealed in [`FuncEffects`]: nobody can look at it except through `Effects`, and a
//! function that may re-enter the host is taken at its declaration to read and write everything and to
//! allocate, so that nobody can forget it.
//!
//! A record operation has the effects of all that it may be expanded to. Memory is told apart by alias class
//! ([`crate::schema`]); what is immutable or volatile is a matter of the cell and not of the effect.
//!
//! Invariants: the function is total: an instruction that names what the schema does not have may do
//! anything. Effects are an upper bound; a smaller one is never wrong to replace by a larger one. Example:
//!
//! ```
//! use tracelift_core::{effects::*, schema::*, Inst, Op, Payload};
//! let mut schema = Schema::new();
//! let class = schema.alias_class("box.value");
//! let func = |name: &str, effects| Func {
//!     name: name.into(), params: vec![], result: None, effects, address: 0, evaluable: false,
//! };
//! let peek = schema.add_func(func("peek", FuncEffects::pure().reading(ClassSet::of(vec![class]))));
//! let call = schema.add_func(func("call", FuncEffects::pure().reentering()));
//! let effects = |func| Effects::of(&Inst::new(Op::Call, &[]).with(Payload::Func(func)), &schema);
//! assert!(effects(peek).reads.contains(class) && effects(peek).writes.is_nothing());
//! assert!(effects(call).writes.is_everything() && effects(call).allocates);
//! ```

mod access;
mod element;
mod visible;

use smallvec::SmallVec;

use crate::ir::{Inst, Payload};
use crate::ops::{Flags, Op, PayloadKind};
use crate::planted::{planted, Bug};
use crate::schema::{Barrier, CellId, ClassId, Element, FuncId, Keys, Layout, Schema};
pub use access::CellAccess;
pub use element::ElementEffects;

/// A set of alias classes, as hosts declare it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum ClassSet {
    /// None.
    #[default]
    None,
    /// These, sorted.
    Some(Vec<ClassId>),
    /// All.
    All,
}

impl ClassSet {
    /// The set of these classes.
    pub fn of(mut classes: Vec<ClassId>) -> ClassSet {
        classes.sort();
        classes.dedup();
        if classes.is_empty() {
            ClassSet::None
        } else {
            ClassSet::Some(classes)
        }
    }

    /// Whether all of `other`'s classes are here.
    fn includes(&self, other: &ClassSet) -> bool {
        match (self, other) {
            (ClassSet::All, _) | (_, ClassSet::None) => true,
            (ClassSet::Some(mine), ClassSet::Some(others)) => {
                others.iter().all(|class| mine.binary_search(class).is_ok())
            }
            _ => false,
        }
    }
}

/// What a host declares that a function may do beside computing its result. Only [`Effects`] can be asked
/// about it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FuncEffects {
    reads: ClassSet,
    writes: ClassSet,
    allocates: bool,
    reenters: bool,
}

impl FuncEffects {
    /// Nothing but the result, and that from the arguments alone.
    pub fn pure() -> FuncEffects {
        FuncEffects::default()
    }

    /// Any effect at all.
    pub fn anything() -> FuncEffects {
        FuncEffects { reads: ClassSet::All, writes: ClassSet::All, allocates: true, reenters: true }
    }

    /// It may read this memory.
    pub fn reading(mut self, classes: ClassSet) -> FuncEffects {
        if !self.reenters {
            self.reads = classes;
        }
        self
    }

    /// It may write this memory.
    pub fn writing(mut self, classes: ClassSet) -> FuncEffects {
        if !self.reenters {
            self.writes = classes;
        }
        self
    }

    /// It may make objects.
    pub fn allocating(mut self) -> FuncEffects {
        self.allocates = true;
        self
    }

    /// It may run host code that is not described here: that may do anything, whatever else is declared, and
    /// run the collector too.
    pub fn reentering(self) -> FuncEffects {
        FuncEffects::anything()
    }

    /// Whether it declares no effect.
    pub fn is_pure(&self) -> bool {
        *self == FuncEffects::default()
    }

    /// Whether a function with these effects may do all that one with those may.
    pub fn includes(&self, other: &FuncEffects) -> bool {
        self.reads.includes(&other.reads)
            && self.writes.includes(&other.writes)
            && self.allocates >= other.allocates
            && self.reenters >= other.reenters
    }

    /// Whether it allocates.
    pub fn allocates(&self) -> bool {
        self.allocates
    }

    /// What it reads, what it writes and whether it allocates, for the text form.
    pub(crate) fn declared(&self) -> (&ClassSet, &ClassSet, bool) {
        (&self.reads, &self.writes, self.allocates)
    }
}

type ClassList = SmallVec<[ClassId; 8]>;

/// Memory that an instruction reads or writes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Memory<'s>(Part<'s>);

#[derive(Clone, PartialEq, Eq, Debug)]
enum Part<'s> {
    Everything,
    One(ClassId),
    Declared(&'s [ClassId]),
    Listed(ClassList),
}

impl<'s> Memory<'s> {
    /// No memory.
    pub const NOTHING: Memory<'static> = Memory(Part::Declared(&[]));
    /// All memory.
    pub const EVERYTHING: Memory<'static> = Memory(Part::Everything);

    fn class(class: ClassId) -> Memory<'s> {
        Memory(Part::One(class))
    }

    /// What a host declares, in the form in which passes ask about it.
    pub(crate) fn declared(classes: &'s ClassSet) -> Memory<'s> {
        match classes {
            ClassSet::None => Memory::NOTHING,
            ClassSet::Some(classes) => Memory(Part::Declared(classes)),
            ClassSet::All => Memory::EVERYTHING,
        }
    }

    /// Its alias classes, or `None` if it may be any memory.
    #[inline]
    pub fn classes(&self) -> Option<&[ClassId]> {
        match &self.0 {
            Part::Everything => None,
            Part::One(class) => Some(std::slice::from_ref(class)),
            Part::Declared(classes) => Some(classes),
            Part::Listed(classes) => Some(classes),
        }
    }

    /// Whether it is none.
    #[inline]
    pub fn is_nothing(&self) -> bool {
        self.classes().is_some_and(<[ClassId]>::is_empty)
    }

    /// Whether it may be any memory.
    #[inline]
    pub fn is_everything(&self) -> bool {
        self.classes().is_none()
    }

    /// Whether memory of this class may be part of it.
    #[inline]
    pub fn contains(&self, class: ClassId) -> bool {
        self.classes().is_none_or(|classes| classes.contains(&class))
    }

    /// Whether both may have memory in common.
    pub fn meets(&self, other: &Memory<'_>) -> bool {
        match (self.classes(), other.classes()) {
            (Some(classes), _) => classes.iter().any(|&class| other.contains(class)),
            (None, Some(classes)) => !classes.is_empty(),
            (None, None) => true,
        }
    }

    /// Whether all of the other is part of it.
    pub fn includes(&self, other: &Memory<'_>) -> bool {
        match other.classes() {
            Some(classes) => classes.iter().all(|&class| self.contains(class)),
            None => self.is_everything(),
        }
    }

    fn add_class(&mut self, class: ClassId) {
        if self.contains(class) {
            return;
        }
        if let Part::Listed(classes) = &mut self.0 {
            return classes.push(class);
        }
        let mut classes = ClassList::from_slice(self.classes().unwrap_or_default());
        classes.push(class);
        self.0 = Part::Listed(classes);
    }

    /// Makes the other a part of it.
    pub fn add(&mut self, other: &Memory<'_>) {
        match other.classes() {
            Some(classes) => classes.iter().for_each(|&class| self.add_class(class)),
            None => *self = Memory::EVERYTHING,
        }
    }
}

/// What an instruction does beside computing its result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Effects<'s> {
    /// Memory that it may read.
    pub reads: Memory<'s>,
    /// Memory that it may write.
    pub writes: Memory<'s>,
    /// It may make objects.
    pub allocates: bool,
    /// It may run the host's collector: of what the trace refers to, only what the host can find lives on.
    pub collects: bool,
    /// It may leave the trace at its exit.
    pub leaves: bool,
    /// A second run would be seen.
    visible: bool,
}

impl<'s> Effects<'s> {
    const NOTHING: Effects<'static> = Effects {
        reads: Memory::NOTHING,
        writes: Memory::NOTHING,
        allocates: false,
        collects: false,
        leaves: false,
        visible: false,
    };
    const ANYTHING: Effects<'static> = Effects {
        reads: Memory::EVERYTHING,
        writes: Memory::EVERYTHING,
        allocates: true,
        collects: true,
        leaves: false,
        visible: true,
    };

    /// The effects of an instruction.
    #[inline]
    pub fn of(inst: &Inst, schema: &'s Schema) -> Effects<'s> {
        if Effects::touches_nothing(inst.op) {
            return Effects { leaves: inst.op.is_guard(), ..Effects::NOTHING };
        }
        Effects::of_any(inst, schema)
    }

    fn of_any(inst: &Inst, schema: &'s Schema) -> Effects<'s> {
        // What names nothing of the schema may do anything.
        let mut effects = Effects::of_operation(inst, schema).unwrap_or(Effects::ANYTHING);
        effects.leaves = inst.is_exit();
        effects
    }

    /// Whether the op alone says that there are no effects, but for leaving the trace: so it is with most
    /// instructions, whose effects are asked for again and again.
    #[inline]
    fn touches_nothing(op: Op) -> bool {
        let info = op.info();
        let is_test = info.flags.has(Flags::GUARD) && !info.flags.has(Flags::RECORD);
        info.flags.has(Flags::PURE) || is_test && info.payload == PayloadKind::None
    }

    /// The effects of a call of a function.
    pub fn of_call(func: FuncId, schema: &'s Schema) -> Effects<'s> {
        Effects::call(func, schema).unwrap_or(Effects::ANYTHING)
    }

    /// Whether something outside the trace can tell that the instruction was executed: what must not lie
    /// between a snapshot and a guard that uses it, and what is neither repeated nor left out. A new object
    /// is seen by nobody until it is stored or passed on, so that `new` is not visible, although its
    /// allocator keeps accounts.
    #[inline]
    pub fn is_visible(&self) -> bool {
        self.visible
    }

    /// Every operation has its place here. What leaves is left to the caller.
    #[rustfmt::skip]
    fn of_operation(inst: &Inst, schema: &'s Schema) -> Option<Effects<'s>> {
        use Op::*;
        Some(match inst.op {
            IntAdd | IntSub | IntMul | IntNeg | IntAddOvf | IntSubOvf | IntMulOvf | IntDiv | IntRem | IntFloorDiv
            | IntFloorMod | IntAnd | IntOr | IntXor | IntNot | IntShl | IntSar | IntShr | IntEq | IntNe | IntLt | IntLe
            | IntGt | IntGe | UintLt | UintLe | UintGt | UintGe
            | FloatAdd | FloatSub | FloatMul | FloatDiv | FloatNeg | FloatAbs | FloatSqrt | FloatFloor | FloatCeil
            | FloatTrunc | FloatRem | FloatFloorMod | FloatEq | FloatNe | FloatLt | FloatLe | FloatGt | FloatGe
            | IntToFloat | FloatToInt | FloatToIntExact | FloatToBits | FloatFromBits | RefToAddr | AddrToRef | AddrToInt
            | Select | RefEq | RefNe | RefIsNull | AddrEq
            | Context | FrameBase | AddrAdd | ItemAddr
            | GuardTrue | GuardFalse | GuardValue | GuardNull | GuardNonnull | GuardAlwaysFails
            // The slot that it may write is none that the trace knows anything of.
            | UnitResult
            // Where ways meet nothing is done; that nothing is known there is for those who know something.
            | Label => Effects::NOTHING,
            // Whoever goes on there may look at all memory.
            Jump | JumpIf | EnterLoop | Finish | ReturnUnit => Effects { reads: Memory::EVERYTHING, ..Effects::NOTHING },
            Load | Get => Effects::reading(cell(inst, schema)?, schema)?,
            Store => Effects::writing(cell(inst, schema)?, schema)?,
            Set => {
                let barrier = layout(inst, schema)?.barrier;
                Effects::writing(cell(inst, schema)?, schema)?.with_barrier(barrier, schema)?
            }
            Call | TryCall => match inst.payload {
                Payload::Func(func) => Effects::call(func, schema)?,
                _ => return None,
            },
            // Units look at the collector's debt themselves, and leave for a collection.
            CallUnit => Effects { allocates: false, collects: false, ..Effects::ANYTHING },
            // Done too early, or twice, it is no different.
            Mend => match inst.payload {
                Payload::Func(func) => Effects { visible: false, ..Effects::call(func, schema)? },
                _ => return None,
            },
            New => {
                let alloc = layout(inst, schema)?.alloc;
                let made = alloc.map_or(Some(Effects::NOTHING), |alloc| Effects::call(alloc, schema))?;
                Effects { allocates: true, visible: false, ..made }
            }
            GuardClass => match layout(inst, schema)?.class_word {
                Some((cell, _)) => Effects::reading(cell, schema)?,
                None => Effects::NOTHING,
            },
            ItemCount => match &layout(inst, schema)?.items {
                Some(items) => Effects::reading(items.count, schema)?,
                None => Effects::NOTHING,
            },
            GetItem => Effects::item(layout(inst, schema)?, false, schema)?,
            SetItem | PutItem => Effects::item(layout(inst, schema)?, true, schema)?,
            GetKey | GuardKeyAbsent => Effects::key(layout(inst, schema)?, false, schema)?,
            SetKey => Effects::key(layout(inst, schema)?, true, schema)?,
            InsertKey => {
                let table = layout(inst, schema)?;
                let mut effects = Effects::key(table, true, schema)?;
                if let Some(insert) = table.keys.as_ref().and_then(|keys| keys.insert) {
                    let call = Effects::call(insert, schema)?;
                    effects.reads.add(&call.reads);
                    effects.writes.add(&call.writes);
                    effects.collects |= call.collects;
                }
                // A table may grow, whatever the function that makes it grow says of itself.
                Effects { allocates: true, visible: true, ..effects }
            }
        })
    }

    fn reading(cell: CellId, schema: &Schema) -> Option<Effects<'s>> {
        let class = schema.cells().get(cell.index())?.class;
        Some(Effects { reads: Memory::class(class), ..Effects::NOTHING })
    }

    fn writing(cell: CellId, schema: &Schema) -> Option<Effects<'s>> {
        let class = schema.cells().get(cell.index())?.class;
        Some(Effects { writes: Memory::class(class), visible: true, ..Effects::NOTHING })
    }

    fn call(func: FuncId, schema: &'s Schema) -> Option<Effects<'s>> {
        let declared = &schema.funcs().get(func.index())?.effects;
        let FuncEffects { reads, writes, allocates, reenters } = declared;
        let visible = declared.is_visible();
        let (reads, mut writes) = (Memory::declared(reads), Memory::declared(writes));
        if *reenters && planted(Bug::EffectsReenteringForgotten) {
            writes = Memory::NOTHING;
        }
        Some(Effects { reads, writes, allocates: *allocates, collects: *reenters, leaves: false, visible })
    }

    /// An item is looked for, its tag is tested, and the element is read or written.
    fn item(layout: &Layout, writes: bool, schema: &'s Schema) -> Option<Effects<'s>> {
        let Some(items) = &layout.items else { return Some(Effects::NOTHING) };
        let mut effects = Effects::NOTHING;
        effects.reads.add_cells([items.count, items.base], schema)?;
        effects.element(&items.element, layout.barrier, writes, schema)
    }

    /// An entry is looked for, by its hint or by the host's function, and its element is read or written.
    fn key(layout: &Layout, writes: bool, schema: &'s Schema) -> Option<Effects<'s>> {
        let Some(keys @ Keys { size, base, key, key_tag, next, .. }) = &layout.keys else {
            return Some(Effects::NOTHING);
        };
        let mut effects = Effects::NOTHING;
        effects.reads.add_cells([*size, *base, *key], schema)?;
        effects.reads.add_cells(key_tag.map(|(cell, _)| cell).into_iter().chain(*next), schema)?;
        let find = Effects::call(keys.find, schema)?;
        effects.reads.add(&find.reads);
        effects.writes.add(&find.writes);
        effects.allocates = find.allocates;
        effects.collects = find.collects;
        effects.visible = find.visible;
        effects.element(&keys.element, layout.barrier, writes, schema)
    }

    fn element(
        mut self,
        element: &Element,
        barrier: Option<Barrier>,
        writes: bool,
        schema: &Schema,
    ) -> Option<Effects<'s>> {
        self.reads.add_cells(element.tag, schema)?;
        if !writes {
            self.reads.add_cells(element.value, schema)?;
            return Some(self);
        }
        self.writes.add_cells(element.tag.into_iter().chain(element.value), schema)?;
        self.visible = true;
        self.with_barrier(barrier, schema)
    }

    /// A barrier looks at the record and at what is stored, and its function does what it declares; it makes
    /// and collects nothing.
    fn with_barrier(mut self, barrier: Option<Barrier>, schema: &Schema) -> Option<Effects<'s>> {
        if let Some(barrier) = barrier {
            self.reads.add_cells([barrier.object, barrier.value], schema)?;
            if let Some(mend) = barrier.mend {
                let mend = Effects::call(mend, schema)?;
                self.reads.add(&mend.reads);
                self.writes.add(&mend.writes);
            }
        }
        Some(self)
    }
}

impl Memory<'_> {
    fn add_cells(&mut self, cells: impl IntoIterator<Item = CellId>, schema: &Schema) -> Option<()> {
        cells.into_iter().try_for_each(|cell| {
            self.add_class(schema.cells().get(cell.index())?.class);
            Some(())
        })
    }
}

/// The cell that a raw access or an access of a field is of.
fn cell(inst: &Inst, schema: &Schema) -> Option<CellId> {
    match inst.payload {
        Payload::Cell(cell) => Some(cell),
        Payload::Field(field) => schema.fields().get(field.index()).map(|field| field.cell),
        _ => None,
    }
}

/// The layout that an instruction names.
fn layout<'s>(inst: &Inst, schema: &'s Schema) -> Option<&'s Layout> {
    let layout = match inst.payload {
        Payload::Layout(layout)
        | Payload::New { layout, .. }
        | Payload::Item { layout, .. }
        | Payload::Key { layout, .. } => layout,
        Payload::Field(field) => schema.fields().get(field.index())?.layout,
        _ => return None,
    };
    schema.layouts().get(layout.index())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::FieldId;
    use crate::testbed::every::Combination;
    use crate::testbed::standard_schema;

    /// Something of the standard schema for an op to work on.
    fn payload(op: Op, schema: &Schema) -> Payload {
        let table = schema.find_layout("Table").unwrap();
        let layout = schema.layout(table);
        match op.info().payload {
            PayloadKind::None => Payload::None,
            PayloadKind::Cell => Payload::Cell(layout.items.unwrap().count),
            PayloadKind::Field => Payload::Field(layout.fields[0]),
            PayloadKind::Layout => Payload::Layout(table),
            PayloadKind::New => Payload::New { layout: table, items: 0, keys: 0 },
            PayloadKind::Item => Payload::Item { layout: table, tag: None },
            PayloadKind::Key => Payload::Key { layout: table, tag: None, hint: None },
            PayloadKind::Func => Payload::Func(schema.find_func("test.anything").unwrap()),
            PayloadKind::Label | PayloadKind::Target => Payload::Label(crate::ir::LabelId(0)),
            PayloadKind::Scale => Payload::Scale { stride: 8, offset: 0 },
            PayloadKind::Unit => Payload::Unit { unit: crate::ir::UnitId(0), base: 1 },
            PayloadKind::Result => Payload::Result { slot: Some(1), tag: None },
            PayloadKind::Tag => Payload::Tag(crate::schema::TagId(0)),
        }
    }

    /// What the table says of an op, the book and the generator read; it says no less than what is decided
    /// here.
    #[test]
    fn the_op_table_agrees() {
        let schema = standard_schema();
        for &op in Op::ALL {
            let effects = Effects::of(&Inst::new(op, &[]).with(payload(op, &schema)), &schema);
            let (is, calls) = (|flag| op.is(flag), op.is(Flags::CALLS));
            let name = op.info().name;
            assert_eq!(effects.leaves, op.is_guard() || op == Op::Finish, "{name}");
            // A barrier is looked at by a write of a field; who goes on after the end may look at everything.
            let goes_elsewhere = is(Flags::ENDS) || matches!(op, Op::JumpIf | Op::EnterLoop);
            let reads = is(Flags::READS) || calls || goes_elsewhere || op == Op::Set;
            assert_eq!(!effects.reads.is_nothing(), reads, "{name} reads");
            assert_eq!(!effects.writes.is_nothing(), is(Flags::WRITES) || calls, "{name} writes");
            let allocates = is(Flags::ALLOCS) || calls;
            assert_eq!(effects.allocates, allocates, "{name} allocates");
            let inst = Inst::new(op, &[]).with(payload(op, &schema));
            assert_eq!(inst.allocates(&schema), allocates, "{name}");
            assert_eq!(inst.has_visible_effect(&schema), effects.is_visible(), "{name}");
            assert_eq!(
                effects.is_visible(),
                is(Flags::WRITES) || calls && op != Op::Mend,
                "{name} is visible"
            );
            if is(Flags::PURE) {
                assert_eq!(effects, Effects::NOTHING, "{name} is pure");
            }
        }
    }

    #[test]
    fn the_short_way_agrees() {
        let schema = standard_schema();
        for &op in Op::ALL.iter().filter(|&&op| Effects::touches_nothing(op)) {
            for payload in [payload(op, &schema), Payload::None] {
                let inst = Inst::new(op, &[]).with(payload);
                assert_eq!(
                    Effects::of(&inst, &schema),
                    Effects::of_any(&inst, &schema),
                    "{}",
                    op.info().name
                );
            }
        }
    }

    #[test]
    fn what_reenters_may_do_anything() {
        let mut schema = standard_schema();
        for combination in Combination::all() {
            let func = schema.find_func(&combination.name("does")).unwrap();
            let effects = Effects::of_call(func, &schema);
            assert_eq!(
                effects.reads.is_everything() && effects.writes.is_everything() && effects.allocates,
                combination.reenters
                    || combination.allocates
                        && combination.reads == crate::testbed::every::Extent::All
                        && combination.writes == crate::testbed::every::Extent::All
            );
            assert!(!combination.reenters || effects.is_visible());
        }
        let class = ClassSet::of(vec![schema.alias_class("intval")]);
        let later = FuncEffects::pure().reentering().reading(class.clone()).writing(ClassSet::None);
        assert_eq!(later, FuncEffects::anything());
        assert_eq!(FuncEffects::pure().reading(class).reentering(), FuncEffects::anything());
    }

    #[test]
    fn what_names_nothing_of_the_schema_may_do_anything() {
        let schema = standard_schema();
        let strange = [
            (Op::Call, Payload::Func(FuncId(9999))),
            (Op::Load, Payload::Cell(CellId(9999))),
            (Op::Set, Payload::Field(FieldId(9999))),
            (Op::GetItem, Payload::Item { layout: crate::schema::LayoutId(9999), tag: None }),
            (Op::GetKey, Payload::None),
        ];
        for (op, payload) in strange {
            let effects = Effects::of(&Inst::new(op, &[]).with(payload), &schema);
            assert!(effects.writes.is_everything() && effects.reads.is_everything() && effects.is_visible());
            assert_eq!(effects.leaves, op.is_guard());
        }
    }

    #[test]
    fn memory_is_a_set() {
        let (a, b) = (ClassId(1), ClassId(2));
        let mut some = Memory::class(a);
        assert!(some.contains(a) && !some.contains(b) && some.meets(&Memory::EVERYTHING));
        assert!(!some.meets(&Memory::class(b)) && !Memory::EVERYTHING.meets(&Memory::NOTHING));
        some.add(&Memory::class(b));
        some.add_class(a);
        assert_eq!(some.classes(), Some(&[a, b][..]));
        assert!(some.includes(&Memory::class(b)) && !Memory::class(b).includes(&some));
        some.add(&Memory::EVERYTHING);
        assert!(some.is_everything() && some.includes(&Memory::EVERYTHING));
    }
}
