//! The static heap: objects that the trace makes and that do not exist yet (seed 002, section 5).
//!
//! Problem: most objects that a trace makes are read, written and dropped by the same trace; making them is
//! waste. Design: the pass `virtuals` answers `new` with a *name*, an output value that no instruction
//! defines, and keeps here what the object would hold. The heap belongs to the driver's facts and not to the
//! pass, since every committed snapshot describes the objects that it mentions. When an object must exist
//! after all it is *lifted*: it leaves the heap, and its name stands for the real object from then on
//! ([`crate::facts::Facts::lifted`]).
//!
//! Invariant: a name is an operand of committed instructions only after lifting; parts are kept in the order
//! in which they were set first, so that lifting replays what the trace did. Example: after `p5 = new(Pair)`
//! and `set(p5, first, p5)` the heap is `{p5: (Pair, first = p5)}`.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap as HashMap;

use tracelift_core::planted::{planted, Bug};
use tracelift_core::schema::{FieldId, LayoutId, TagId};
use tracelift_core::snapshot::{Snapshot, Source, Virtual};
use tracelift_core::{Schema, Value};

/// A tag and a payload; the payload may be missing under tags that say it all.
pub(crate) type Element = (Option<TagId>, Option<Value>);

/// An object that does not exist.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Object {
    /// Its layout.
    pub layout: LayoutId,
    /// Fields that were set; the others are null.
    pub fields: Vec<(FieldId, Value)>,
    /// Room for items.
    pub item_room: u32,
    /// Items that were set, by index from the part's first.
    pub items: BTreeMap<u32, Element>,
    /// Room for keyed entries, with the host's bits.
    pub key_room: u32,
    /// Keyed entries in the order of insertion.
    pub entries: Vec<(Value, Element)>,
    /// The recorded instruction that makes it.
    pub made_at: u32,
}

impl Object {
    /// The same with its fields in the order of the layout, and with what is known now of the values that it
    /// holds, so that two objects can be compared.
    pub fn sorted(&self, resolve: impl Fn(Value) -> Value) -> Object {
        let mut object = self.clone();
        object.fields.sort_by_key(|&(field, _)| field);
        object.fields.iter_mut().for_each(|(_, value)| *value = resolve(*value));
        let elements = object.items.values_mut().chain(object.entries.iter_mut().map(|(_, element)| element));
        elements.flat_map(|(_, value)| value).for_each(|value| *value = resolve(*value));
        object
    }

    /// Everything that it holds.
    pub fn parts(&self) -> impl Iterator<Item = Value> + '_ {
        let fields = self.fields.iter().map(|&(_, value)| value);
        let items = self.items.values().filter_map(|&(_, value)| value);
        fields.chain(items).chain(self.entries.iter().filter_map(|&(_, (_, value))| value))
    }

    /// Whether two sorted objects differ in nothing but in the values that they hold.
    pub fn same_form(&self, other: &Object) -> bool {
        let form = |&(tag, value): &Element| (tag, value.is_some());
        (self.layout, self.item_room, self.key_room) == (other.layout, other.item_room, other.key_room)
            && self.fields.iter().map(|&(field, _)| field).eq(other.fields.iter().map(|&(field, _)| field))
            && self.items.iter().map(|(i, e)| (i, form(e))).eq(other.items.iter().map(|(i, e)| (i, form(e))))
            && self
                .entries
                .iter()
                .map(|(k, e)| (k, form(e)))
                .eq(other.entries.iter().map(|(k, e)| (k, form(e))))
    }
}

mod objects {
    //! A table by name that counts what is looked at, so that a test sees work that grows faster than the
    //! trace.

    use std::cell::Cell;

    use rustc_hash::FxHashMap as HashMap;
    use tracelift_core::Value;

    use super::Object;

    #[derive(Clone, Debug, Default)]
    pub struct Objects {
        table: HashMap<Value, Object>,
        pub looks: Cell<u64>,
    }

    impl Objects {
        fn look(&self) -> &HashMap<Value, Object> {
            self.looks.set(self.looks.get() + 1);
            &self.table
        }

        pub fn is_empty(&self) -> bool {
            self.table.is_empty()
        }

        pub fn get(&self, name: Value) -> Option<&Object> {
            self.look().get(&name)
        }

        pub fn get_mut(&mut self, name: Value) -> Option<&mut Object> {
            self.look();
            self.table.get_mut(&name)
        }

        pub fn insert(&mut self, name: Value, object: Object) {
            self.look();
            self.table.insert(name, object);
        }

        pub fn remove(&mut self, name: Value) -> Option<Object> {
            self.look();
            self.table.remove(&name)
        }

        pub fn clear(&mut self) {
            self.table.clear();
        }
    }
}
use objects::Objects;

/// All objects that do not exist, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct StaticHeap {
    objects: Objects,
}

impl StaticHeap {
    /// How many objects were looked at so far: the work that the static heap makes.
    pub fn looks(&self) -> u64 {
        self.objects.looks.get()
    }

    /// The object of that name.
    pub fn get(&self, name: Value) -> Option<&Object> {
        self.objects.get(name)
    }

    /// The object of that name, to be changed.
    pub fn get_mut(&mut self, name: Value) -> Option<&mut Object> {
        self.objects.get_mut(name)
    }

    /// Whether the value is the name of an object that does not exist.
    pub fn has(&self, value: Value) -> bool {
        !self.objects.is_empty() && self.objects.get(value).is_some()
    }

    /// Adds an object.
    pub fn add(&mut self, name: Value, object: Object) {
        self.objects.insert(name, object);
    }

    /// Takes an object out.
    pub fn take(&mut self, name: Value) -> Option<Object> {
        self.objects.remove(name)
    }

    /// Forgets all objects.
    pub fn clear(&mut self) {
        self.objects.clear();
    }

    /// Turns the names in a snapshot into virtual objects, with all that they reach; `resolve` says what is
    /// known of a value.
    pub fn describe(&self, schema: &Schema, snapshot: &mut Snapshot, resolve: impl Fn(Value) -> Value) {
        if self.objects.is_empty() {
            return;
        }
        // The snapshot at the head of a side trace has some already, none of which has a name.
        let before = snapshot.virtuals.len() as u32;
        let mut found = Found { heap: self, before, numbers: HashMap::default(), names: Vec::new(), resolve };
        for slot in snapshot.frames.iter_mut().flat_map(|frame| &mut frame.slots) {
            if let Source::Value(value) = slot.source {
                slot.source = found.source(value);
            }
        }
        for store in &mut snapshot.pending {
            if let Source::Value(value) = store.source {
                store.source = found.source(value);
            }
        }
        let mut next = 0;
        while let Some(object) = found.names.get(next).and_then(|&name| self.get(name)) {
            let mut described = found.object(schema, object);
            if planted(Bug::VirtualSelfDropped) {
                described.fields.retain(|&(_, source)| source != Source::Virtual(before + next as u32));
            }
            next += 1;
            snapshot.virtuals.push(described);
        }
    }
}

/// The objects that a snapshot was found to mention.
struct Found<'h, R> {
    heap: &'h StaticHeap,
    /// How many virtual objects the snapshot had before.
    before: u32,
    numbers: HashMap<Value, u32>,
    names: Vec<Value>,
    resolve: R,
}

impl<R: Fn(Value) -> Value> Found<'_, R> {
    fn source(&mut self, value: Value) -> Source {
        let value = (self.resolve)(value);
        if !self.heap.has(value) {
            return Source::Value(value);
        }
        let next = self.before + self.names.len() as u32;
        let number = *self.numbers.entry(value).or_insert(next);
        if number == next {
            self.names.push(value);
        }
        Source::Virtual(number)
    }

    fn element(&mut self, (_, value): Element) -> Source {
        value.map_or(Source::Nothing, |value| self.source(value))
    }

    fn object(&mut self, schema: &Schema, object: &Object) -> Virtual {
        let forgets = planted(Bug::VirtualMissingInSnapshot);
        let has_items =
            schema.layout(object.layout).items.is_some() || schema.is_made_in_frame(object.layout);
        let has_keys = schema.layout(object.layout).keys.is_some();
        let fields = object.fields.iter().skip(forgets as usize);
        let first = schema.layout(object.layout).items.map_or(0, |part| part.first) as u32;
        let shift = if planted(Bug::VirtualItemsFromFirst) { first } else { 0 };
        let mut entries: Vec<_> = object.entries.iter().collect();
        if planted(Bug::VirtualKeysReversed) {
            entries.reverse();
        }
        Virtual {
            layout: object.layout,
            fields: fields.map(|&(field, value)| (field, self.source(value))).collect(),
            items: if has_items && !planted(Bug::VirtualSiteForgotten) { object.item_room } else { 0 },
            item_values: object
                .items
                .iter()
                .map(|(&index, &item)| (index + shift, item.0, self.element(item)))
                .collect(),
            keys: if has_keys { object.key_room } else { 0 },
            entries: entries.into_iter().map(|&(key, entry)| (key, entry.0, self.element(entry))).collect(),
        }
    }
}
