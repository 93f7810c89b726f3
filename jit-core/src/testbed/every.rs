//! Functions with every combination of effects that a host can declare, which do the worst that they declare.
//!
//! Problem: an optimizer that forgets one combination of effects is seen only if a random trace calls a
//! function with that combination, and only if the function then does what it may do. Design: a
//! [`Combination`] is what is declared; there are two functions for each, one for `call` and one for
//! `try_call`, and both are one piece of code that is told the combination by its second argument. It makes
//! its result of everything that it may read, and changes everything that it may write, in the world's
//! objects and the one that it is given; one that may read everything goes on to all objects that it finds
//! there.
//!
//! Invariants: the result is made of numbers alone, never of an address, and all NaNs count as one; what is
//! written keeps the world well-formed (references lead to objects, tags fit their values, counts shrink and
//! never grow). Immutable cells stay as they are, and so do raw buffers, whose bytes may be anything, and the
//! frame, which belongs to the trace. Example: `call(does.reads_some.writes_all, a0, 7, i1, p2)`.

use crate::effects::{ClassSet, FuncEffects, Memory};
use crate::schema::{CellId, Element, FuncId, LayoutId, Schema};
use crate::types::{Bits, Type};
use crate::world::{BlockKind, Context};

/// How much memory a function declares to read or to write.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Extent {
    /// None.
    Nothing,
    /// That of some alias classes ([`SOME`]).
    Some,
    /// All.
    All,
}

/// The alias classes that [`Extent::Some`] means.
pub const SOME: [&str; 4] = ["intval", "floatval", "first", "shape.kind"];

/// Declared effects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Combination {
    /// What it may read.
    pub reads: Extent,
    /// What it may write.
    pub writes: Extent,
    /// It may make objects.
    pub allocates: bool,
    /// It may run other host code.
    pub reenters: bool,
}

const EXTENTS: [Extent; 3] = [Extent::Nothing, Extent::Some, Extent::All];

impl Combination {
    /// All of them; a function is told its own by the position here.
    pub fn all() -> impl Iterator<Item = Combination> {
        let flags = [(false, false), (true, false), (false, true), (true, true)];
        EXTENTS.into_iter().flat_map(move |reads| {
            EXTENTS.into_iter().flat_map(move |writes| {
                flags.map(|(allocates, reenters)| Combination { reads, writes, allocates, reenters })
            })
        })
    }

    /// The name of the function for `call` (`does`) or for `try_call` (`tries`).
    pub fn name(&self, prefix: &str) -> String {
        let extent = |word: &str, extent: Extent| match extent {
            Extent::Nothing => String::new(),
            Extent::Some => format!(".{word}_some"),
            Extent::All => format!(".{word}_all"),
        };
        let flag = |word: &str, is_set: bool| if is_set { format!(".{word}") } else { String::new() };
        let parts = [
            extent("reads", self.reads),
            extent("writes", self.writes),
            flag("allocates", self.allocates),
            flag("reenters", self.reenters),
        ]
        .concat();
        if parts.is_empty() {
            format!("{prefix}.nothing")
        } else {
            format!("{prefix}{parts}")
        }
    }

    /// The same as a host declares it.
    pub fn effects(&self, schema: &mut Schema) -> FuncEffects {
        let mut classes = |extent: Extent| match extent {
            Extent::Nothing => ClassSet::None,
            Extent::Some => ClassSet::of(SOME.iter().map(|name| schema.alias_class(name)).collect()),
            Extent::All => ClassSet::All,
        };
        let mut effects = FuncEffects::pure().reading(classes(self.reads)).writing(classes(self.writes));
        if self.allocates {
            effects = effects.allocating();
        }
        if self.reenters {
            effects = effects.reentering();
        }
        effects
    }
}

/// The address of the function with that name: `does.…` or `tries.…`.
pub(super) fn native(name: &str) -> Option<usize> {
    let is_named = |prefix: &str| Combination::all().any(|combination| combination.name(prefix) == name);
    if is_named("does") {
        Some(does as *const () as usize)
    } else if is_named("tries") {
        Some(tries as *const () as usize)
    } else {
        None
    }
}

/// Declares all of them: `(context, combination, any number, any object)`.
pub(super) fn declare(schema: &mut Schema) {
    let params = [Type::Addr, Type::Int, Type::Int, Type::Ref];
    for combination in Combination::all() {
        let effects = combination.effects(schema);
        super::add_func(schema, &combination.name("does"), &params, Some(Type::Int), effects.clone());
        super::add_func(schema, &combination.name("tries"), &params, Some(Type::Addr), effects);
    }
}

/// The world; none for null, which a case that is being made smaller may pass.
///
/// # Safety
/// `context` is null or the context pointer of a living world, and nothing else refers to it meanwhile.
unsafe fn context_at<'c>(context: u64) -> Option<&'c mut Context> {
    // SAFETY: promised by the caller.
    unsafe { (context as usize as *mut Context).as_mut() }
}

/// # Safety
/// `context` is as [`context_at`] wants it; `object` is null or one of its objects.
unsafe extern "C" fn does(context: u64, combination: u64, number: u64, object: u64) -> u64 {
    // SAFETY: promised by the caller.
    let Some(context) = (unsafe { context_at(context) }) else { return 0 };
    let Some(mut worst) = Worst::new(context, "does", combination, object) else { return 0 };
    let seen = worst.read(number);
    // Whether there was memory for it must not be seen: this function cannot fail.
    let _ = worst.make();
    worst.write(seen, 0);
    seen
}

/// The same; null, without effect, for a quarter of what it sees and where there is no memory for the object
/// that it makes. The address is none of the world's.
///
/// # Safety
/// As for [`does`].
unsafe extern "C" fn tries(context: u64, combination: u64, number: u64, object: u64) -> u64 {
    // SAFETY: promised by the caller.
    let Some(context) = (unsafe { context_at(context) }) else { return 0 };
    let Some(mut worst) = Worst::new(context, "tries", combination, object) else { return 0 };
    let seen = worst.read(number);
    if seen % 4 == 0 {
        return 0;
    }
    let Some(made) = worst.make() else { return 0 };
    worst.write(seen, made);
    seen << 4 | 1
}

/// A hash.
fn mix(hash: u64, bits: u64) -> u64 {
    (hash ^ bits).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23)
}

/// What a function may do by its declaration. The optimizer asks `Effects` instead: a bug that is planted in
/// what it believes must not change what the function does, or nobody would see it.
struct Declared<'s> {
    reads: Memory<'s>,
    writes: Memory<'s>,
    allocates: bool,
}

impl<'s> Declared<'s> {
    fn of(func: FuncId, schema: &'s Schema) -> Declared<'s> {
        let (reads, writes, allocates) = schema.func(func).effects.declared();
        Declared { reads: Memory::declared(reads), writes: Memory::declared(writes), allocates }
    }
}

/// A function at work.
struct Worst<'w> {
    context: &'w mut Context,
    schema: std::sync::Arc<Schema>,
    func: FuncId,
    /// Objects that it can reach, in an order that is the same in all copies of a world.
    objects: Vec<u64>,
}

/// A cell of an object, of an item or of an entry.
struct Place {
    base: u64,
    cell: CellId,
    /// The type that its tag says, if it is the value of a tagged element.
    ty: Type,
}

impl<'w> Worst<'w> {
    fn new(context: &'w mut Context, prefix: &str, combination: u64, object: u64) -> Option<Worst<'w>> {
        let name = Combination::all().nth(combination as usize)?.name(prefix);
        let schema = context.schema.clone();
        let func = schema.find_func(&name)?;
        let finds = Declared::of(func, &schema).reads.is_everything();
        let mut worst = Worst { context, schema, func, objects: Vec::new() };
        let mut objects = worst.context.objects.clone();
        objects.push(object);
        let mut at = 0;
        while let Some(&object) = objects.get(at) {
            at += 1;
            if object != 0 && !worst.objects.contains(&object) && worst.layout_at(object).is_some() {
                worst.objects.push(object);
                // Where references lead is something that is read.
                let places = if finds { worst.places(object) } else { Vec::new() };
                objects.extend(
                    places.iter().filter(|place| place.ty == Type::Ref).map(|place| worst.load(place)),
                );
            }
        }
        Some(worst)
    }

    fn layout_at(&self, object: u64) -> Option<LayoutId> {
        match self.context.heap.block_at(object)? {
            (start, BlockKind::Object(layout)) if start == object => Some(layout),
            _ => None,
        }
    }

    fn load(&self, place: &Place) -> Bits {
        self.context.get(place.base, place.cell).unwrap_or(0)
    }

    /// The values of an object: fields, items, and the values of live entries.
    fn places(&self, object: u64) -> Vec<Place> {
        let Some(id) = self.layout_at(object) else { return Vec::new() };
        let layout = self.schema.layout(id);
        let field = |&field: &crate::schema::FieldId| {
            let cell = self.schema.field(field).cell;
            Place { base: object, cell, ty: self.schema.cell(cell).ty }
        };
        let mut places: Vec<Place> = layout.fields.iter().map(field).collect();
        for (at, element) in self.elements(object) {
            places.extend(self.value(at, &element));
        }
        places
    }

    /// The elements of an object's parts, free entries left out.
    fn elements(&self, object: u64) -> Vec<(u64, Element)> {
        let Some(id) = self.layout_at(object) else { return Vec::new() };
        let layout = self.schema.layout(id);
        let mut elements = Vec::new();
        let get = |cell| self.context.get(object, cell).unwrap_or(0);
        if let Some(part) = &layout.items {
            let (count, base) = (get(part.count), get(part.base));
            elements.extend((0..count).map(|n| (base + n * part.element.stride as u64, part.element)));
        }
        if let Some(part) = &layout.keys {
            let (size, base) = (get(part.size), get(part.base));
            let entries = (0..size).map(|n| base + n * part.element.stride as u64);
            let live = entries.filter(|&entry| self.context.get(entry, part.key).is_some_and(|key| key != 0));
            elements.extend(live.map(|entry| (entry, part.element)));
        }
        elements
    }

    /// The value of an element, if its tag has one.
    fn value(&self, at: u64, element: &Element) -> Option<Place> {
        let ty = match element.tag {
            None => element.untagged,
            Some(tag) => {
                let bits = self.context.get(at, tag)?;
                self.schema.tags().iter().find(|known| known.bits == bits)?.payload?
            }
        };
        Some(Place { base: at, cell: element.value[ty as usize], ty })
    }

    fn may(&self, memory: &Memory<'_>, cell: CellId) -> bool {
        memory.contains(self.schema.cell(cell).class)
    }

    /// A number made of the arguments and of everything that it may read.
    fn read(&self, number: u64) -> u64 {
        let mut hash = mix(self.func.0 as u64, number);
        let effects = Declared::of(self.func, &self.schema);
        for &object in &self.objects {
            for (at, element) in self.elements(object) {
                if let Some(tag) = element.tag.filter(|&tag| self.may(&effects.reads, tag)) {
                    hash = mix(hash, self.context.get(at, tag).unwrap_or(0));
                }
            }
            let Some(id) = self.layout_at(object) else { continue };
            let layout = self.schema.layout(id);
            let words = layout.class_word.map(|(cell, _)| cell);
            for cell in words.into_iter().chain(layout.items.as_ref().map(|items| items.count)) {
                if self.may(&effects.reads, cell) {
                    hash = mix(hash, self.context.get(object, cell).unwrap_or(0));
                }
            }
            for place in self.places(object).iter().filter(|place| self.may(&effects.reads, place.cell)) {
                let bits = self.load(place);
                hash = mix(
                    hash,
                    match place.ty {
                        Type::Int => bits,
                        Type::Float if f64::from_bits(bits).is_nan() => 7,
                        Type::Float => bits,
                        Type::Ref | Type::Addr => (bits == 0) as u64,
                    },
                );
            }
        }
        if effects.reads.is_everything() {
            let cells = self.context.cells;
            [cells.debt, cells.counter, cells.spare].into_iter().for_each(|cell| hash = mix(hash, cell));
        }
        hash
    }

    /// Makes an object, if it may; null if not, and none without memory.
    fn make(&mut self) -> Option<u64> {
        match Declared::of(self.func, &self.schema).allocates {
            true => self.context.allocate(LayoutId(0), 0, 0),
            false => Some(0),
        }
    }

    /// Changes everything that it may write; `made` may be stored, too.
    fn write(&mut self, seed: u64, made: u64) {
        let schema = self.schema.clone();
        let effects = Declared::of(self.func, &schema);
        let mut next = seed;
        let mut random = || {
            next = mix(next, 11);
            next >> 20
        };
        for object in self.objects.clone() {
            let Some(id) = self.layout_at(object) else { continue };
            for (at, element) in self.elements(object) {
                self.write_element(at, &element, &effects.writes, random());
            }
            for &field in &schema.layout(id).fields {
                let cell = schema.field(field).cell;
                if self.may(&effects.writes, cell) && !schema.cell(cell).immutable {
                    let bits = self.fitting(schema.cell(cell).ty, random(), made);
                    // What a barrier looks at is mostly nothing, or no store would get through.
                    let is_mark = schema.class_name(schema.cell(cell).class) == "header.mark";
                    let bits = if is_mark && random() % 16 != 0 { 0 } else { bits };
                    self.context.put(object, cell, bits);
                }
            }
            let word = schema.layout(id).class_word.filter(|&(cell, _)| !schema.cell(cell).immutable);
            if let Some((cell, _)) = word.filter(|&(cell, _)| self.may(&effects.writes, cell)) {
                let kinds = schema.layouts().iter().filter_map(|layout| layout.class_word);
                let kinds: Vec<u64> =
                    kinds.filter(|&(other, _)| other == cell).map(|(_, value)| value).collect();
                self.context.put(object, cell, kinds[random() as usize % kinds.len()]);
            }
            if let Some(part) = &schema.layout(id).items {
                let count = self.context.get(object, part.count).unwrap_or(0);
                if self.may(&effects.writes, part.count) && count > 0 && random() % 4 == 0 {
                    self.context.put(object, part.count, count - 1);
                }
            }
        }
        if effects.writes.is_everything() {
            self.context.cells.counter = random();
            self.context.cells.spare = random();
            self.context.cells.debt = (random() % 8 == 0) as u64;
        }
    }

    /// A value, with its tag where that may be written, too.
    fn write_element(&mut self, at: u64, element: &Element, writes: &Memory<'_>, random: u64) {
        if !self.may(writes, element.value[0]) {
            return;
        }
        if let Some(tag) = element.tag.filter(|&tag| self.may(writes, tag)) {
            let name = ["int", "int", "float", "true", "nil"][random as usize % 5];
            let bits = self.schema.find_tag(name).map_or(0, |tag| self.schema.tag(tag).bits);
            self.context.put(at, tag, bits);
        }
        if let Some(place) = self.value(at, element) {
            let bits = self.fitting(place.ty, random, 0);
            self.context.put(at, place.cell, bits);
        }
    }

    /// Bits of that type.
    fn fitting(&self, ty: Type, random: u64, made: u64) -> Bits {
        match ty {
            Type::Int => random & 0xffff,
            Type::Float => ((random & 0xff) as f64 * 0.5).to_bits(),
            Type::Ref => match random % 4 {
                0 => 0,
                1 if made != 0 => made,
                _ => self.context.objects[random as usize % self.context.objects.len()],
            },
            Type::Addr => 0,
        }
    }
}
