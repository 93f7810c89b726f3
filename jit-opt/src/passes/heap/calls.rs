//! Calls that only read: the same call again, with nothing written in between that it reads, has the same
//! result.
//!
//! Problem: a method is looked for in the object first, by a function that walks the table; a loop that calls
//! twenty methods would walk twenty times, each iteration anew, and every call makes the machine code save
//! its floats. Design: a function that declares no visible effect is a load of all that it declares to read.
//! The pass keeps a short list of calls and their results; a store or another call strikes out those that
//! read what it may write. So the rules of loads hold: the first call of a loop can stand in for the others,
//! and the one in the preamble for the loop's.
//!
//! Invariants: a call in the list would answer the same now; functions that read everything, or a volatile
//! cell, are never in it, and what may do anything empties it, pure functions included (their answer may hang
//! on the locale). Example:
//!
//! ```text
//! a1 = call(find_key, a0, 1, p0, p9)       guard_null(a1)
//! a2 = call(find_key, a0, 1, p0, p9)  =>   a1, which is null
//! ```

use std::collections::VecDeque;

use rustc_hash::FxHashMap as HashMap;

use tracelift_core::effects::{Effects, Memory};
use tracelift_core::ir::Args;
use tracelift_core::schema::{Cell, ClassId, FuncId};
use tracelift_core::{Inst, Op, Payload, Schema, Value};

use crate::state::State;

/// How many calls are kept.
const KEPT: usize = 32;

/// A call and what it answered.
struct Seen {
    func: FuncId,
    args: Args,
    result: Value,
}

/// Whether a function's answer hangs on its arguments and on memory of known classes only, and nothing else
/// happens.
pub(crate) fn only_reads(schema: &Schema, id: FuncId) -> bool {
    let effects = Effects::of_call(id, schema);
    let reads = &effects.reads;
    let is_read_and_volatile = |cell: &Cell| cell.volatile && reads.contains(cell.class);
    let is_steady =
        reads.is_nothing() || !reads.is_everything() && !schema.cells().iter().any(is_read_and_volatile);
    schema.func(id).result.is_some() && !effects.is_visible() && is_steady
}

/// The calls that would answer the same now.
#[derive(Default)]
pub(super) struct Calls {
    seen: VecDeque<Seen>,
    /// The functions that were asked for.
    only_read: HashMap<FuncId, bool>,
}

impl Calls {
    fn function(&mut self, schema: &Schema, inst: &Inst) -> Option<FuncId> {
        let (Op::Call, Payload::Func(id)) = (inst.op, inst.payload) else { return None };
        let only_reads = *self.only_read.entry(id).or_insert_with(|| only_reads(schema, id));
        only_reads.then_some(id)
    }

    /// What this call answers, if that is known.
    pub fn find(&mut self, st: &State<'_>, inst: &Inst) -> Option<Value> {
        let id = self.function(st.schema, inst)?;
        let is_same = |seen: &&Seen| {
            let pairs = seen.args.iter().zip(&inst.args);
            seen.func == id
                && seen.args.len() == inst.args.len()
                && pairs.into_iter().all(|(&then, &now)| st.resolve(then) == now)
        };
        self.seen.iter().rev().find(is_same).map(|seen| st.resolve(seen.result))
    }

    /// Notes a committed call; whether an older one was given up for it.
    pub fn note(&mut self, schema: &Schema, inst: &Inst) -> bool {
        let (Some(func), Some(result)) = (self.function(schema, inst), inst.result) else { return false };
        let is_full = self.seen.len() == KEPT;
        if is_full {
            self.seen.pop_front();
        }
        self.seen.push_back(Seen { func, args: inst.args.clone(), result });
        is_full
    }

    /// Strikes out what reads this class.
    pub fn written(&mut self, schema: &Schema, class: ClassId) {
        self.seen.retain(|seen| !Effects::of_call(seen.func, schema).reads.contains(class));
    }

    /// Strikes out what reads any of this memory.
    pub fn forget(&mut self, schema: &Schema, memory: &Memory<'_>) {
        match memory.classes() {
            Some(classes) => classes.iter().for_each(|&class| self.written(schema, class)),
            None => self.seen.clear(),
        }
    }

    /// Nothing is known any more.
    pub fn clear(&mut self) {
        self.seen.clear();
    }
}
