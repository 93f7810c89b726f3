//! What an operation on a field, an item or an entry touches, in two parts: that element, and all around it.
//!
//! Problem: who knows that two elements differ may let an operation on the one pass an access of the other,
//! but not if the operation looks at others on its way: a search reads keys, a barrier the record's mark.
//! Design: the effects of the operation's expansion, split. A search by the host's function is around the
//! element, and may read all elements. Invariant: both parts together are no less than what the expanded
//! operation does, for elements found under its own guards. Example: `set_key` with a hint reads the size and
//! the start of the table, and the keys; there it reads a tag, and writes tag and value.

use super::{cell, layout, Effects, Memory};
use crate::ir::{Inst, Payload};
use crate::ops::Op;
use crate::schema::{CellId, Element, Schema};

/// The effects of an operation on one element, in two parts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ElementEffects<'s> {
    /// All around the element.
    pub around: Effects<'s>,
    /// What it reads of the element.
    pub reads: Memory<'s>,
    /// What it writes there.
    pub writes: Memory<'s>,
}

fn memory<'s>(cells: impl IntoIterator<Item = CellId>, schema: &Schema) -> Option<Memory<'s>> {
    let mut memory = Memory::NOTHING;
    memory.add_cells(cells, schema)?;
    Some(memory)
}

fn values(element: &Element) -> impl Iterator<Item = CellId> + '_ {
    element.tag.into_iter().chain(element.value)
}

impl<'s> ElementEffects<'s> {
    /// Those of an instruction, if it is an access of one element that is there before.
    pub fn of(inst: &Inst, schema: &'s Schema) -> Option<ElementEffects<'s>> {
        let nothing = Memory::NOTHING;
        match inst.op {
            Op::Load | Op::Get => {
                let reads = memory([cell(inst, schema)?], schema)?;
                Some(ElementEffects { around: Effects::NOTHING, reads, writes: nothing })
            }
            Op::Store => {
                let writes = memory([cell(inst, schema)?], schema)?;
                Some(ElementEffects { around: Effects::NOTHING, reads: nothing, writes })
            }
            Op::Set => {
                let writes = memory([cell(inst, schema)?], schema)?;
                let around = Effects::NOTHING.with_barrier(layout(inst, schema)?.barrier, schema)?;
                Some(ElementEffects { around, reads: nothing, writes })
            }
            Op::GetItem | Op::SetItem | Op::PutItem => {
                let items = layout(inst, schema)?.items.as_ref()?;
                let mut around = Effects::NOTHING;
                around.reads.add_cells([items.count, items.base], schema)?;
                ElementEffects::of_element(inst, around, &items.element, schema)
            }
            Op::GetKey | Op::SetKey => {
                let keys = layout(inst, schema)?.keys.as_ref()?;
                let mut around = Effects::NOTHING;
                let key_tag = keys.key_tag.map(|(cell, _)| cell);
                around
                    .reads
                    .add_cells([keys.size, keys.base, keys.key].into_iter().chain(key_tag), schema)?;
                if !matches!(inst.payload, Payload::Key { hint: Some(_), .. }) {
                    let find = Effects::call(keys.find, schema)?;
                    around.reads.add(&find.reads);
                    around.writes.add(&find.writes);
                }
                ElementEffects::of_element(inst, around, &keys.element, schema)
            }
            _ => None,
        }
    }

    fn of_element(
        inst: &Inst,
        around: Effects<'s>,
        element: &Element,
        schema: &'s Schema,
    ) -> Option<ElementEffects<'s>> {
        if matches!(inst.op, Op::GetItem | Op::GetKey) {
            let reads = memory(values(element), schema)?;
            return Some(ElementEffects { around, reads, writes: Memory::NOTHING });
        }
        let around = around.with_barrier(layout(inst, schema)?.barrier, schema)?;
        let (reads, writes) = (memory(element.tag, schema)?, memory(values(element), schema)?);
        Some(ElementEffects { around, reads, writes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testbed::standard_schema;
    use crate::text::parse_trace;

    #[test]
    fn both_parts_are_all_that_an_operation_does_but_for_a_search_that_is_not_made() {
        let schema = standard_schema();
        let text = "L0(p0, i1):\n@0 = frame[]\ni2 = get(p0, BoxedInteger.intval)\n\
                    set(p0, BoxedInteger.intval, i1)\ni3 = load(p0, BoxedInteger.intval)\n\
                    @1 = frame[]\ni4 = get_item(p0, i1, Table:int) @1\nput_item(p0, i1, i1, Table:int) @1\n\
                    store(p0, BoxedInteger.intval, i1)\nfinish()\n";
        let trace = parse_trace(text, &schema).expect(text);
        for inst in &trace.insts[1..trace.insts.len() - 1] {
            let ElementEffects { mut around, reads, writes } = ElementEffects::of(inst, &schema).unwrap();
            around.reads.add(&reads);
            around.writes.add(&writes);
            let all = inst.effects(&schema);
            assert!(around.reads.includes(&all.reads) && all.reads.includes(&around.reads), "{inst:?}");
            assert!(around.writes.includes(&all.writes) && all.writes.includes(&around.writes), "{inst:?}");
        }
    }
}
