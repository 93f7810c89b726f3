//! Where in memory an access lies: addresses in a normal form, and whether two of them can meet.
//!
//! Problem: the same item is reached as `item_addr(a, i)` and as `addr_add(a, 16)` after `i + 1`, and two
//! accesses that never meet must not hinder each other. Design: every address is a root value, at most one
//! scaled index and a displacement, noted when its instruction is committed, so that an address costs
//! constant time. Integer sums, differences and products with constants are looked through (`linear.rs`). Two
//! accesses are disjoint by *distance* (same root and index, displacements apart), by *residue* (different
//! indexes, but displacements that differ modulo a power of two that divides both strides), and both of these
//! also hold for different roots that are each the start of an object, or of the same part of records: two
//! starts are equal, or their objects do not overlap.
//!
//! Invariant: an answer "disjoint" holds for every run; an answer "not disjoint" says nothing. Example: with
//! `i2 = int_add(i1, 1)`, items `i1` and `i2` of 16 bytes each are `a + 16 * i1` and `a + 16 * i1 + 16`:
//! disjoint.

use tracelift_core::effects::CellAccess;
use tracelift_core::schema::{Cell, CellId};
use tracelift_core::{Inst, Op, Payload, Schema, Trace, Type, Value};

use crate::facts::{SparseTable, ValueTable};
use crate::linear::{Sums, Terms};

/// An address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    /// What everything is relative to; `None` for absolute addresses.
    pub root: Option<Value>,
    /// What else is added: integers, and how many bytes each step of them is.
    pub index: Option<Terms>,
    /// Bytes added.
    pub disp: i64,
    /// The pointer that the address was made from: the root, unless a second index hides it.
    pub object: Option<Value>,
}

/// A place and what is read or written there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub place: Place,
    pub width: u8,
    pub ty: Type,
    pub signed: bool,
    pub immutable: bool,
    /// May change without a store: never known, and always stored.
    pub volatile: bool,
}

impl Access {
    pub fn new(place: Place, cell: &Cell) -> Access {
        let place = Place { disp: place.disp.wrapping_add(cell.offset as i64), ..place };
        let Cell { width, ty, signed, immutable, volatile, .. } = *cell;
        Access { place, width, ty, signed, immutable, volatile }
    }

    /// Whether both touch exactly the same bytes through the same view.
    pub fn is_same(&self, other: &Access) -> bool {
        let (a, b) = (&self.place, &other.place);
        a.disp == b.disp
            && (a.root, a.index) == (b.root, b.index)
            && (self.width, self.ty) == (other.width, other.ty)
    }

    /// Whether the two share no byte, if their roots are comparable.
    pub fn is_displaced(&self, other: &Access) -> bool {
        let distance = other.place.disp.wrapping_sub(self.place.disp) as u64;
        let (width, other_width) = (self.width as u64, other.width as u64);
        if self.place.index == other.place.index {
            return distance >= width && distance.wrapping_neg() >= other_width;
        }
        // The addresses differ by the distance and multiples of both strides; 2^64 is such a multiple only
        // for powers of two.
        let stride = |place: &Place| place.index.map_or(0, |terms| terms.scale as u64);
        let shift = (stride(&self.place) | stride(&other.place)).trailing_zeros().min(63);
        let modulus = 1u64 << shift;
        let residue = distance & (modulus - 1);
        residue >= width && modulus - residue >= other_width
    }
}

/// The normal forms of the addresses and integers of a trace, as far as it was walked.
#[derive(Default)]
pub(super) struct Places {
    places: SparseTable<Place>,
    sums: Sums,
    /// Values loaded from the cell that holds the address of a part: the start of that part.
    starts: ValueTable<CellId>,
    /// Those cells, once they were asked for.
    bases: Option<Vec<CellId>>,
}

impl Places {
    /// The place of an address or object.
    pub fn of(&self, trace: &Trace, pointer: Value) -> Place {
        if let Some(place) = self.places.get(pointer) {
            return place;
        }
        match (trace.ty(pointer), trace.bits_of(pointer)) {
            (Type::Addr, Some(bits)) => Place { root: None, index: None, disp: bits as i64, object: None },
            _ => Place { root: Some(pointer), index: None, disp: 0, object: Some(pointer) },
        }
    }

    /// `base + index * stride + offset`.
    fn item(&self, trace: &Trace, base: Value, index: Value, stride: i64, offset: i64) -> Place {
        let from = self.of(trace, base);
        match self.sums.of(trace, index) {
            Err(int) => {
                let disp = from.disp.wrapping_add(int.wrapping_mul(stride)).wrapping_add(offset);
                Place { disp, ..from }
            }
            Ok(linear) => {
                let from = match from.index {
                    None => from,
                    Some(_) => Place { root: Some(base), index: None, disp: 0, object: from.object },
                };
                let plus = linear.plus.wrapping_mul(stride).wrapping_add(offset);
                let scale = linear.terms.scale.wrapping_mul(stride);
                let index = Some(Terms { scale, ..linear.terms });
                Place { index, disp: from.disp.wrapping_add(plus), ..from }
            }
        }
    }

    /// Whether [`Places::note`] does anything with this operation.
    pub fn notes(op: Op) -> bool {
        matches!(op, Op::RefToAddr | Op::AddrAdd | Op::ItemAddr | Op::Load) || Sums::notes(op)
    }

    /// Notes what a committed instruction defines.
    pub fn note(&mut self, trace: &Trace, schema: &Schema, inst: &Inst) {
        let Some(result) = inst.result else { return };
        match (inst.op, inst.payload) {
            (Op::RefToAddr, _) => self.places.set(result, self.of(trace, inst.args[0])),
            (Op::AddrAdd, _) => {
                self.places.set(result, self.item(trace, inst.args[0], inst.args[1], 1, 0));
            }
            (Op::ItemAddr, Payload::Scale { stride, offset }) => {
                let place = self.item(trace, inst.args[0], inst.args[1], stride as i64, offset as i64);
                self.places.set(result, place);
            }
            (Op::Load, _) if trace.ty(result) == Type::Addr => {
                let bases = self.bases.get_or_insert_with(|| bases(schema));
                if let Some(cell) = CellAccess::loaded(inst).filter(|cell| bases.contains(cell)) {
                    self.starts.set(result, cell);
                }
            }
            _ => self.sums.note(trace, inst),
        }
    }

    /// Whether two roots are starts of the same kind: then they are equal, or what they start does not
    /// overlap.
    fn are_starts(&self, trace: &Trace, a: Value, b: Value) -> bool {
        match (trace.ty(a), trace.ty(b)) {
            (Type::Ref, Type::Ref) => true,
            (Type::Addr, Type::Addr) => {
                self.starts.get(a).is_some_and(|cell| self.starts.get(b) == Some(cell))
            }
            _ => false,
        }
    }

    /// Whether two addresses are starts of the same part of records.
    pub fn are_starts_of_parts(&self, trace: &Trace, a: Value, b: Value) -> bool {
        trace.ty(a) == Type::Addr && self.are_starts(trace, a, b)
    }

    /// Whether displacements can tell two accesses apart: their roots are equal, or starts of the same kind.
    pub fn are_comparable(&self, trace: &Trace, a: &Place, b: &Place) -> bool {
        match (a.root, b.root) {
            (Some(one), Some(two)) => one == two || self.are_starts(trace, one, two),
            (one, two) => one == two,
        }
    }

    /// Whether two accesses never share a byte, whatever the values are.
    pub fn are_disjoint(&self, trace: &Trace, a: &Access, b: &Access) -> bool {
        self.are_comparable(trace, &a.place, &b.place) && a.is_displaced(b)
    }
}

/// The cells that hold addresses of parts.
fn bases(schema: &Schema) -> Vec<CellId> {
    let parts = |layout: &tracelift_core::schema::Layout| {
        [layout.items.as_ref().map(|items| items.base), layout.keys.as_ref().map(|keys| keys.base)]
    };
    let mut bases: Vec<CellId> = schema.layouts().iter().flat_map(parts).flatten().collect();
    bases.sort();
    bases.dedup();
    bases
}
