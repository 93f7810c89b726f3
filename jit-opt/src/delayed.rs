//! Stores of virtual objects that wait.
//!
//! Problem: an object that is stored where somebody may look must be real, although it is often overwritten
//! there before anybody looks. Design: the pass `virtuals` lets such stores wait; what waits belongs to the
//! facts, as every committed snapshot says what an exit has to store. Invariant: the stores are kept in the
//! order of the trace, and each is made before anything that may see it. Example: after `set(p0, first, p5)`
//! with a virtual `p5` the list is `[p0.first: p5]`.

use tracelift_core::schema::{CellId, TagId};
use tracelift_core::{Payload, Value};

/// The place that an operation reads or writes: record or address, index or key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct DelayedPlace {
    /// What of the record, or which cell, without tag and hint.
    pub payload: Payload,
    /// The record or address.
    pub base: Value,
    /// The index or key, if there is one.
    pub index: Option<Value>,
}

/// An operation whose stores wait.
#[derive(Clone, Debug)]
pub(crate) struct Delayed {
    /// Where it stores.
    pub place: DelayedPlace,
    /// The tag that it stores, if there is one.
    pub tag: Option<TagId>,
    /// What it stores: a virtual object, at least when it began to wait.
    pub value: Value,
    /// The stores that it ends with: address, cell, value.
    pub stores: Vec<(Value, CellId, Value)>,
}

impl Delayed {
    /// Puts another value in the place of each.
    pub fn map_values(&mut self, new: impl Fn(Value) -> Value) {
        let place = &mut self.place;
        let stored = self.stores.iter_mut().flat_map(|(address, _, value)| [address, value]);
        let all = stored.chain(&mut place.index).chain([&mut place.base, &mut self.value]);
        all.for_each(|value| *value = new(*value));
    }
}
