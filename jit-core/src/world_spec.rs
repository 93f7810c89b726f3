//! What a test world holds: objects by layout, described so that any number of equal worlds can be built.
//!
//! Evaluator and machine code run on two copies of one world. A copy is real memory, so its addresses differ
//! from the other's; therefore a world is described by numbers of objects, not by addresses. The text form's
//! `object` lines are parsed into this, the random-trace generator makes it, and `World::build` turns it into
//! memory.
//!
//! This is data alone, and part of the text form: it is there without the feature `oracle` too, so that a
//! build without evaluator reads and prints worlds. Traces whose constants name objects need the feature.

use crate::schema::{FieldId, LayoutId, TagId};
use crate::types::Bits;

/// The objects of a world; constants of traces (`Const::Object`) and inputs name them by index.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct WorldSpec {
    /// The objects, by number.
    pub objects: Vec<ObjectSpec>,
}

/// One object.
#[derive(Clone, PartialEq, Debug)]
pub struct ObjectSpec {
    /// Name in the text form.
    pub name: String,
    /// Its layout.
    pub layout: LayoutId,
    /// Fields that are not 0 at first.
    pub fields: Vec<(FieldId, SpecValue)>,
    /// The items of its indexed part, first one first; the rest of the room holds the absent tag (or 0).
    pub items: Vec<(Option<TagId>, SpecValue)>,
    /// Room for items; at least `items.len()`.
    pub item_capacity: u32,
    /// Its keyed entries: number of the key object, tag, value.
    pub entries: Vec<(u32, Option<TagId>, SpecValue)>,
    /// Room for entries; at least `entries.len()`.
    pub key_capacity: u32,
}

/// A value in a world's description.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum SpecValue {
    /// No payload (tags such as nil).
    Nothing,
    /// An integer's or double's bits, or null.
    Bits(Bits),
    /// The object with that number.
    Object(u32),
}
