//! Which cell an instruction reads or writes, where it is one.
//!
//! Problem: forwarding a load, removing a store, holding one back, loading once more what a store left: each
//! has to know the cell, the address or record that it belongs to, and what is written there. Design: one
//! function says so, of raw accesses and of those of fields alike. Invariant: what is found here is among the
//! effects ([`Effects`](super::Effects)), which may be more: the barrier of a field that is set looks at
//! others. Example: `store(a1, item.int, i2)` accesses `item.int` of `a1` and stores `i2`.

use crate::ir::{Inst, Payload, Value};
use crate::ops::Op;
use crate::schema::{CellId, Schema};

/// The one cell that an instruction reads or writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CellAccess {
    /// The cell.
    pub cell: CellId,
    /// The address or record that it belongs to.
    pub base: Value,
    /// What is written there; `None` if it is read.
    pub stored: Option<Value>,
    /// Whether it is a load or store, and no record operation.
    pub is_raw: bool,
}

impl CellAccess {
    /// What an instruction accesses, if that is one cell.
    #[inline]
    pub fn of(inst: &Inst, schema: &Schema) -> Option<CellAccess> {
        let (writes, is_raw) = match inst.op {
            Op::Load => (false, true),
            Op::Get => (false, false),
            Op::Store => (true, true),
            Op::Set => (true, false),
            _ => return None,
        };
        let stored = if writes { Some(*inst.args.get(1)?) } else { None };
        Some(CellAccess { cell: super::cell(inst, schema)?, base: *inst.args.first()?, stored, is_raw })
    }

    /// The cell that an instruction loads its result from.
    #[inline]
    pub fn loaded(inst: &Inst) -> Option<CellId> {
        match (inst.op, inst.payload) {
            (Op::Load, Payload::Cell(cell)) => Some(cell),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::Flags;
    use crate::testbed::standard_schema;
    use crate::text::parse_trace;
    use crate::types::Type;

    /// The accesses of a trace, and that each is among the instruction's effects.
    fn accesses(text: &str) -> Vec<Option<CellAccess>> {
        let schema = standard_schema();
        let trace = parse_trace(text, &schema).expect(text);
        let of = |inst: &Inst| {
            let found = CellAccess::of(inst, &schema);
            if let Some(CellAccess { cell, stored, .. }) = found {
                let effects = inst.effects(&schema);
                let memory = if stored.is_some() { effects.writes } else { effects.reads };
                assert!(memory.contains(schema.cell(cell).class), "{inst:?}");
            }
            found
        };
        let is_part = |inst: &&Inst| inst.op != Op::Label && !inst.op.is(Flags::ENDS);
        trace.insts.iter().filter(is_part).map(of).collect()
    }

    #[test]
    fn an_access_is_of_a_cell_and_what_it_belongs_to() {
        let [p0, i1] = [Value(0), Value(1)];
        let found = accesses(
            "L0(p0, i1):\nset(p0, BoxedInteger.intval, i1)\ni2 = get(p0, BoxedInteger.intval)\n\
             i3 = load(p0, BoxedInteger.intval)\nstore(p0, BoxedInteger.intval, i1)\nfinish()\n",
        );
        let cell = found[2].expect("a load reads a cell").cell;
        assert_eq!(standard_schema().cell(cell).ty, Type::Int);
        let access = |stored, is_raw| Some(CellAccess { cell, base: p0, stored, is_raw });
        let expected =
            [access(Some(i1), false), access(None, false), access(None, true), access(Some(i1), true)];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_touches_more_than_a_cell_or_nothing_has_no_access() {
        let found = accesses(
            "L0(p0, i1):\ni2 = item_count(p0, Table)\ni3 = get_item(p0, i1, Table:int)\n\
             i4 = call(test.peek, p0)\ni5 = int_add(i1, 1)\nguard_true(i5)\nfinish()\n",
        );
        assert_eq!(found, [None; 5]);
    }
}
