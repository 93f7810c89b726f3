//! The world of a random trace: a few objects of every standard layout, linked at random.
//!
//! Problem: aliasing needs objects that are reachable on several ways. Design: the number of objects is fixed
//! (so that the text form of a case reads familiarly), their contents are random. Invariant: object 0 is a
//! `BoxedInteger`, as `test.anything` wants it.
//!
//! Example: `object t0 = Table { meta: @t1, items: [int 3, nil] room 4, entries: {@b0: ref @p1} room 2 }`.

use super::{numbers, Rng};
use crate::schema::{LayoutId, Schema, TagId};
use crate::types::Type;
use crate::world_spec::{ObjectSpec, SpecValue, WorldSpec};

/// Names and layouts of the objects.
const OBJECTS: [(&str, &str); 16] = [
    ("b0", "BoxedInteger"),
    ("b1", "BoxedInteger"),
    ("b2", "BoxedInteger"),
    ("f0", "BoxedFloat"),
    ("f1", "BoxedFloat"),
    ("p0", "Pair"),
    ("p1", "Pair"),
    ("n0", "Narrow"),
    ("t0", "Table"),
    ("t1", "Table"),
    ("a0", "FloatArray"),
    ("r0", "RefArray"),
    ("m0", "Buffer"),
    ("m1", "Buffer"),
    ("q0", "Square"),
    ("c0", "Circle"),
];

/// Objects that serve as keys: the boxed integers.
pub(super) const KEYS: u32 = 3;

/// The numbers of the objects of this layout.
pub(super) fn objects_of(spec: &WorldSpec, layout: LayoutId) -> Vec<u32> {
    (0..spec.objects.len() as u32).filter(|&n| spec.objects[n as usize].layout == layout).collect()
}

/// A random value of a type, as specs hold it.
pub(super) fn random_value(rng: &mut Rng, ty: Type) -> SpecValue {
    match ty {
        Type::Int => SpecValue::Bits(numbers::random_int(rng) as u64),
        Type::Float => SpecValue::Bits(numbers::random_float(rng).to_bits()),
        Type::Ref if rng.chance(85) => SpecValue::Object(rng.below(OBJECTS.len() as u64) as u32),
        Type::Ref | Type::Addr => SpecValue::Bits(0),
    }
}

/// A random tag with a payload that fits it.
fn random_element(rng: &mut Rng, schema: &Schema) -> (Option<TagId>, SpecValue) {
    let name = *rng.pick(&["int", "int", "float", "float", "ref", "table", "nil", "true"]);
    let tag = schema.find_tag(name).expect("a standard tag");
    let value = schema.tag(tag).payload.map_or(SpecValue::Nothing, |ty| random_value(rng, ty));
    (Some(tag), value)
}

/// A random world.
pub(super) fn random(rng: &mut Rng, schema: &Schema) -> WorldSpec {
    let objects = OBJECTS.iter().map(|(name, layout)| {
        let id = schema.find_layout(layout).expect("a standard layout");
        let mut object = ObjectSpec {
            name: name.to_string(),
            layout: id,
            fields: vec![],
            items: vec![],
            item_capacity: 0,
            entries: vec![],
            key_capacity: 0,
        };
        for &field in &schema.layout(id).fields {
            let cell = schema.field_cell(field);
            let value = match cell.name.ends_with("_mark") {
                true if rng.chance(85) => continue,
                true => SpecValue::Bits(rng.range(1, 3)),
                // What a narrow cell cannot hold would be cut off: a spec shows what is there.
                false if cell.width < 8 => SpecValue::Bits(rng.bits() & ((1 << (8 * cell.width)) - 1)),
                false => random_value(rng, cell.ty),
            };
            object.fields.push((field, value));
        }
        if let Some(part) = &schema.layout(id).items {
            // Long ones and such of one type are for loops that go through them.
            let count = if rng.one_in(3) { rng.below(12) } else { rng.below(5) };
            let same = rng.chance(40).then(|| random_element(rng, schema));
            for _ in 0..count {
                object.items.push(match part.element.tag {
                    Some(_) => same.filter(|_| rng.chance(95)).unwrap_or_else(|| random_element(rng, schema)),
                    None => (None, random_value(rng, part.element.untagged)),
                });
            }
            object.item_capacity = (count + rng.below(3)) as u32;
        }
        if schema.layout(id).keys.is_some() {
            let first = rng.below(KEYS as u64) as u32;
            for key in 0..rng.below(KEYS as u64 + 1) as u32 {
                let (tag, value) = random_element(rng, schema);
                object.entries.push(((first + key) % KEYS, tag, value));
            }
            object.key_capacity = (object.entries.len() as u64 + rng.below(3)) as u32;
        }
        object
    });
    WorldSpec { objects: objects.collect() }
}
