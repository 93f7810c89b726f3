//! What the driver knows of the values of the trace so far: the only thing that passes share.
//!
//! Problem: a guard that was passed tells something about its operand, and several passes want to know.
//! Design: small tables by output value, filled by whichever pass learns a fact. Facts about an object's
//! class depend on memory when the class word may be rewritten; they carry the *epoch* of that alias class
//! and are void once a store or call writes it. Invariant: every fact holds from the instruction that was
//! committed last to the next label that is not the entry; there all facts are dropped, because other ways
//! lead there too.
//!
//! Example: after `guard_value(i1, 7)` the table `constant` maps `i1` to the value of the constant 7, and the
//! driver puts that constant wherever a later instruction or snapshot mentions `i1`.

use rustc_hash::FxHashMap as HashMap;

use tracelift_core::effects::Memory;
use tracelift_core::schema::{ClassId, LayoutId};
use tracelift_core::snapshot::Snapshot;
use tracelift_core::{Schema, Value};

use crate::delayed::Delayed;
use crate::range::Range;
use crate::statics::StaticHeap;

/// Room for so many values is made at first.
const FIRST_ROOM: usize = 256;

/// A table by value.
#[derive(Clone, Debug)]
pub(crate) struct ValueTable<T>(Vec<Option<T>>);

impl<T> Default for ValueTable<T> {
    fn default() -> Self {
        ValueTable(Vec::new())
    }
}

impl<T: Copy> ValueTable<T> {
    pub fn get(&self, value: Value) -> Option<T> {
        self.0.get(value.index()).copied().flatten()
    }

    pub fn set(&mut self, value: Value, entry: T) {
        if self.0.len() <= value.index() {
            // A walk has some hundred values: no need to move the first few again and again.
            if self.0.capacity() == 0 {
                self.0.reserve((value.index() + 1).next_multiple_of(FIRST_ROOM));
            }
            self.0.resize_with(value.index() + 1, || None);
        }
        self.0[value.index()] = Some(entry);
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// The same for larger things, which few values have: these lie one after the other.
#[derive(Clone, Debug)]
pub(crate) struct SparseTable<T> {
    places: ValueTable<u32>,
    entries: Vec<T>,
}

impl<T> Default for SparseTable<T> {
    fn default() -> Self {
        SparseTable { places: ValueTable::default(), entries: Vec::new() }
    }
}

impl<T: Copy> SparseTable<T> {
    pub fn get(&self, value: Value) -> Option<T> {
        self.places.get(value).map(|place| self.entries[place as usize])
    }

    pub fn set(&mut self, value: Value, entry: T) {
        match self.places.get(value) {
            Some(place) => self.entries[place as usize] = entry,
            None => {
                self.places.set(value, self.entries.len() as u32);
                self.entries.push(entry);
            }
        }
    }
}

/// How often an alias class was written so far, as far as anybody asked.
#[derive(Clone, Debug, Default)]
pub(crate) struct Epochs {
    all: u32,
    single: HashMap<ClassId, u32>,
}

impl Epochs {
    /// A number that changes when the class is written.
    pub fn of(&self, class: ClassId) -> (u32, u32) {
        (self.all, self.single.get(&class).copied().unwrap_or(0))
    }

    /// This memory may have been written.
    pub fn write(&mut self, memory: &Memory<'_>) {
        match memory.classes() {
            Some(classes) => {
                classes.iter().for_each(|&class| *self.single.entry(class).or_default() += 1);
            }
            None => self.all += 1,
        }
    }
}

/// A known class, and the epoch of its class word.
#[derive(Clone, Copy, Debug)]
struct KnownClass {
    layout: LayoutId,
    epoch: (u32, u32),
}

/// How many snapshots were mapped, and by value the last of them that mentions it.
#[derive(Clone, Debug, Default)]
struct Mentioned {
    snapshots: u32,
    by_value: ValueTable<u32>,
}

impl Mentioned {
    fn has(&self, value: Value) -> bool {
        self.by_value.get(value) == Some(self.snapshots)
    }
}

/// What is known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// Values that are known to be a constant: the constant's value.
    pub constant: ValueTable<Value>,
    /// Values that are known to be another, which was there before: that one.
    same: ValueTable<Value>,
    /// Changes when a value becomes known to be another.
    pub merged: u32,
    /// Integers that are known to be different from 0 (without being known).
    pub nonzero: ValueTable<()>,
    /// How far integers go, and which of their bits are known.
    pub ranges: ValueTable<Range>,
    /// References and addresses that are known not to be null.
    pub nonnull: ValueTable<()>,
    /// Objects that do not exist yet.
    pub statics: StaticHeap,
    /// Stores of such objects that wait.
    pub delayed: Vec<Delayed>,
    /// The real objects of those that were lifted.
    pub lifted: ValueTable<Value>,
    /// How often memory was written.
    pub epochs: Epochs,
    class: ValueTable<KnownClass>,
    /// Changes when facts do that the snapshot mapped last shows.
    pub version: u32,
    /// What the snapshot mapped last mentions.
    mentioned: Mentioned,
    /// Values that somebody has written down in another form than as themselves ([`Facts::watch`]).
    watched: ValueTable<()>,
    /// Changes when one of these becomes known to be another value.
    pub moved: u32,
}

impl Facts {
    /// The constant, the lifted object or the other value that a value is known to be, else the value.
    pub fn resolve(&self, value: Value) -> Value {
        let mut value = self.lifted.get(value).unwrap_or(value);
        while let Some(earlier) = self.same.get(value) {
            value = earlier;
        }
        self.constant.get(value).unwrap_or(value)
    }

    /// Learns that two values, neither known to be anything else, are equal: all that is known of the later
    /// one is known of the earlier one, which stands for both from then on.
    pub fn learn_same(&mut self, schema: &Schema, a: Value, b: Value) {
        let (earlier, later) = (a.min(b), a.max(b));
        if let (None, Some(layout)) = (self.class_of(schema, earlier), self.class_of(schema, later)) {
            self.learn_class(schema, earlier, layout);
        }
        if self.nonnull.get(later).is_some() {
            self.nonnull.set(earlier, ());
        }
        if self.nonzero.get(later).is_some() {
            self.nonzero.set(earlier, ());
        }
        if let Some(range) = self.ranges.get(later) {
            let known = self.ranges.get(earlier).unwrap_or(Range::ANY);
            self.ranges.set(earlier, known.met(range).unwrap_or(known));
        }
        self.same.set(later, earlier);
        self.merged += 1;
        self.note_known(later);
    }

    /// Learns that a value is a constant.
    pub fn learn_constant(&mut self, value: Value, constant: Value) {
        self.constant.set(value, constant);
        self.note_known(value);
    }

    /// Asks for [`Facts::moved`] to change when the value, as it is known now, becomes known to be another.
    /// So who keeps many values resolved looks at them again only when that is needed.
    pub fn watch(&mut self, value: Value) {
        let resolved = self.resolve(value);
        self.watched.set(resolved, ());
    }

    /// Notes what the snapshot mapped last mentions: when one of these values becomes known to be another,
    /// [`Facts::version`] changes.
    pub fn mention(&mut self, snapshot: &Snapshot) {
        let Mentioned { snapshots, by_value } = &mut self.mentioned;
        *snapshots += 1;
        snapshot.for_each_value(|value| by_value.set(value, *snapshots));
    }

    fn note_known(&mut self, value: Value) {
        self.version += self.mentioned.has(value) as u32;
        self.moved += self.watched.get(value).is_some() as u32;
    }

    /// Learns the class of an object.
    pub fn learn_class(&mut self, schema: &Schema, object: Value, layout: LayoutId) {
        let epoch = self.class_epoch(schema, layout);
        self.class.set(object, KnownClass { layout, epoch });
        self.nonnull.set(object, ());
    }

    /// The class of an object, if it is known and nothing can have changed it.
    pub fn class_of(&self, schema: &Schema, object: Value) -> Option<LayoutId> {
        let known = self.class.get(object)?;
        (known.epoch == self.class_epoch(schema, known.layout)).then_some(known.layout)
    }

    fn class_epoch(&self, schema: &Schema, layout: LayoutId) -> (u32, u32) {
        match schema.layout(layout).class_word {
            Some((cell, _)) if !schema.cell(cell).immutable => self.epochs.of(schema.cell(cell).class),
            _ => (0, 0),
        }
    }

    /// Forgets everything: a label that is not the entry was reached.
    pub fn forget(&mut self) {
        self.constant.clear();
        self.same.clear();
        self.statics.clear();
        self.delayed.clear();
        self.lifted.clear();
        self.nonzero.clear();
        self.ranges.clear();
        self.nonnull.clear();
        self.class.clear();
        self.version += 1;
    }

    /// Makes one value inherit what is known of another. Only the planted bug wants this: a label's argument
    /// must not inherit from the first jump that leads there.
    pub fn inherit(&mut self, from: Value, to: Value) {
        if let Some(constant) = self.constant.get(from) {
            self.constant.set(to, constant);
        }
        if self.nonzero.get(from).is_some() {
            self.nonzero.set(to, ());
        }
        if let Some(range) = self.ranges.get(from) {
            self.ranges.set(to, range);
        }
        if self.nonnull.get(from).is_some() {
            self.nonnull.set(to, ());
        }
        if let Some(class) = self.class.get(from) {
            self.class.set(to, class);
        }
    }
}
