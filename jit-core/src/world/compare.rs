//! Comparing two worlds modulo the addresses of their objects.
//!
//! Problem: two runs of one trace over two copies of a world must leave the same state, but addresses differ,
//! and objects that one run made may have been lifted in another order by the other. Design: walk both worlds
//! together from pairs that must correspond (the spec's objects, the values in exits), building a one-to-one
//! map between their blocks; every cell that a layout describes is compared by its type, every other byte of
//! a record as raw memory. Objects that no root reaches are not compared: they are garbage.
//!
//! Invariant: the walk ends (each pair of blocks is visited once), and any two NaNs are equal: code made by
//! two compilers may give NaNs of different bits.
//!
//! Example: after a run that wrote 5 in one world and 6 in the other, the difference reads
//! `b1.intval: 5 vs 6`.

use std::collections::BTreeSet;
use std::fmt;

use rustc_hash::FxHashMap as HashMap;

use super::{BlockKind, Context, ContextCells, World};
use crate::schema::{Cell, CellId, Element, Layout, LayoutId, Schema};
use crate::testbed::REMEMBERED_AT;
use crate::types::{Bits, Type};

/// The first place where two worlds differ, as a readable path with both values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference(pub String);

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Difference {}

/// A walk through two worlds. Add the values that must correspond with [`Comparison::value`], then
/// [`finish`].
///
/// [`finish`]: Comparison::finish
pub struct Comparison<'a> {
    left: &'a World,
    right: &'a World,
    schema: &'a Schema,
    forward: HashMap<u64, u64>,
    backward: HashMap<u64, u64>,
    /// Pairs of objects still to be walked, with the path on which they were found.
    queue: Vec<(u64, u64, String)>,
    /// Slots of the frame whose memory does not matter.
    ignored: BTreeSet<i32>,
}

type Compared = Result<(), Difference>;

fn differ<T>(
    path: &dyn fmt::Display,
    left: impl fmt::Display,
    right: impl fmt::Display,
) -> Result<T, Difference> {
    Err(Difference(format!("{path}: {left} vs {right}")))
}

/// Whether two values of type int or float are equal, NaNs being equal to one another.
pub fn same_number(ty: Type, left: Bits, right: Bits) -> bool {
    left == right || ty == Type::Float && f64::from_bits(left).is_nan() && f64::from_bits(right).is_nan()
}

/// A number as the text form would show it.
pub fn show(ty: Type, bits: Bits) -> String {
    match ty {
        Type::Int => (bits as i64).to_string(),
        Type::Float => format!("{:?}", f64::from_bits(bits)),
        Type::Ref | Type::Addr => format!("{bits:#x}"),
    }
}

impl<'a> Comparison<'a> {
    /// A comparison of two worlds built from one spec.
    pub fn new(left: &'a World, right: &'a World) -> Result<Comparison<'a>, Difference> {
        let mut walk = Comparison {
            left,
            right,
            schema: &left.inner().schema,
            forward: HashMap::default(),
            backward: HashMap::default(),
            queue: Vec::new(),
            ignored: BTreeSet::new(),
        };
        if left.object_count() != right.object_count() {
            return differ(&"number of objects", left.object_count(), right.object_count());
        }
        for number in 0..left.object_count() {
            let (l, r) = (left.object_address(number), right.object_address(number));
            let name = left.object_name(l).unwrap_or("object").to_string();
            walk.pair(l, r, &name)?;
        }
        walk.pair(left.frame_base(), right.frame_base(), &"frame")?;
        Ok(walk)
    }

    /// The memory of these slots of the frame is not compared: it is dead, or the frames' state says what
    /// they hold.
    pub fn ignore_slots(&mut self, slots: impl IntoIterator<Item = i32>) {
        self.ignored.extend(slots);
    }

    /// Two values that must correspond.
    pub fn value(&mut self, ty: Type, left: Bits, right: Bits, path: &dyn fmt::Display) -> Compared {
        match ty {
            Type::Int | Type::Float if same_number(ty, left, right) => Ok(()),
            Type::Int | Type::Float => differ(path, show(ty, left), show(ty, right)),
            Type::Ref | Type::Addr => self.pointer(left, right, path),
        }
    }

    /// Walks everything that the values given reach, and the spec's objects and context cells.
    pub fn finish(mut self) -> Compared {
        let (l, r) = (self.left.context_cells(), self.right.context_cells());
        let named = |c: ContextCells| {
            [("interrupt", c.interrupt), ("debt", c.debt), ("counter", c.counter), ("spare", c.spare)]
        };
        for ((name, l), (_, r)) in named(l).into_iter().zip(named(r)) {
            if l != r {
                return differ(&format_args!("context.{name}"), l, r);
            }
        }
        while let Some((l, r, path)) = self.queue.pop() {
            match self.left.inner().heap.block_at(l) {
                Some((_, BlockKind::Object(layout))) => self.record(layout, l, r, &path)?,
                Some((_, BlockKind::Frame)) => {
                    let size = self.left.inner().heap.extent(l).map_or(0, |(size, _)| size as u32);
                    self.raw(l, r, size, &[], None, &path)?;
                }
                // Items and entries are walked with the record that holds them.
                _ => {}
            }
        }
        Ok(())
    }

    fn pointer(&mut self, l: Bits, r: Bits, path: &dyn fmt::Display) -> Compared {
        let (lefts, rights) = (place(self.left, l), place(self.right, r));
        match (lefts, rights) {
            (None, None) if l == r => Ok(()),
            (Some((l_start, l_offset)), Some((r_start, r_offset))) if l_offset == r_offset => {
                self.pair(l_start, r_start, path)
            }
            _ => differ(path, name(self.left, l), name(self.right, r)),
        }
    }

    /// Two blocks that must correspond.
    fn pair(&mut self, l: u64, r: u64, path: &dyn fmt::Display) -> Compared {
        match (self.forward.get(&l), self.backward.get(&r)) {
            (Some(&known), _) if known == r => return Ok(()),
            (None, None) => {}
            (Some(&known), _) => {
                let expected = name(self.right, known);
                return differ(path, format_args!("the object that is {expected}"), name(self.right, r));
            }
            (None, Some(&known)) => {
                let expected = name(self.left, known);
                return differ(path, name(self.left, l), format_args!("the object that is {expected}"));
            }
        }
        let kinds = (self.left.inner().heap.block_at(l), self.right.inner().heap.block_at(r));
        let kinds = (kinds.0.map(|(_, kind)| kind), kinds.1.map(|(_, kind)| kind));
        if kinds.0 != kinds.1 {
            let named = |kind: Option<BlockKind>| match kind {
                Some(BlockKind::Object(layout)) => self.schema.layout(layout).name.clone(),
                other => format!("{other:?}"),
            };
            return differ(path, named(kinds.0), named(kinds.1));
        }
        self.forward.insert(l, r);
        self.backward.insert(r, l);
        self.queue.push((l, r, path.to_string()));
        Ok(())
    }

    fn cell(&mut self, l: u64, r: u64, cell: CellId, path: &str) -> Compared {
        let schema = self.schema;
        let cell = schema.cell(cell);
        let (a, b) = (self.left.load_cell(l, cell), self.right.load_cell(r, cell));
        let path = format_args!("{path}.{}", cell.name);
        match (a, b) {
            (Some(a), Some(b)) => self.value(cell.ty, a, b, &path),
            _ => differ(&path, "outside memory", "outside memory"),
        }
    }

    /// Whether a barrier's function was called for the record: on the right it may have been when on the left
    /// it was not.
    fn remembered(&mut self, l: u64, r: u64, path: &str) -> Compared {
        let [left, right] = [(self.left, l), (self.right, r)]
            .map(|(world, at)| world.read(at + REMEMBERED_AT, 1).unwrap_or(0));
        match left > right {
            true => differ(&format_args!("{path}, remembered"), left, right),
            false => Ok(()),
        }
    }

    fn record(&mut self, id: LayoutId, l: u64, r: u64, path: &str) -> Compared {
        let schema = self.schema;
        let layout = schema.layout(id);
        let cells = described(schema, layout);
        for &cell in &cells {
            self.cell(l, r, cell, path)?;
        }
        let is_mended = layout.barrier.is_some_and(|barrier| barrier.mend.is_some());
        if is_mended {
            self.remembered(l, r, path)?;
        }
        let skipped = is_mended.then_some(REMEMBERED_AT as u32);
        self.raw(l, r, layout.size, &cells, skipped, path)?;
        let load = |world: &World, at: u64, cell: CellId| world.load_cell(at, schema.cell(cell)).unwrap_or(0);
        if let Some(part) = &layout.items {
            let bases = (load(self.left, l, part.base), load(self.right, r, part.base));
            for index in 0..load(self.left, l, part.count) {
                let offset = index * part.element.stride as u64;
                let path = format_args!("{path}[{}]", index as i64 + part.first).to_string();
                self.element(&part.element, bases.0 + offset, bases.1 + offset, &path)?;
            }
        }
        if let Some(part) = &layout.keys {
            let bases = (load(self.left, l, part.base), load(self.right, r, part.base));
            for index in 0..load(self.left, l, part.size) {
                let offset = index * part.element.stride as u64;
                let (a, b) = (bases.0 + offset, bases.1 + offset);
                let path = format_args!("{path}.entry#{index}").to_string();
                self.cell(a, b, part.key, &path)?;
                if load(self.left, a, part.key) == 0 {
                    continue;
                }
                if let Some((cell, _)) = part.key_tag {
                    self.cell(a, b, cell, &path)?;
                }
                self.element(&part.element, a, b, &path)?;
            }
        }
        Ok(())
    }

    fn element(&mut self, element: &Element, l: u64, r: u64, path: &str) -> Compared {
        let ty = match element.tag {
            None => Some(element.untagged),
            Some(tag) => {
                self.cell(l, r, tag, path)?;
                let bits = self.left.load_cell(l, self.schema.cell(tag)).unwrap_or(0);
                // Bits that are no tag at all: compare the payload as an integer.
                self.left.inner().payload_type(bits).unwrap_or(Some(Type::Int))
            }
        };
        ty.map_or(Ok(()), |ty| self.cell(l, r, element.value[ty as usize], path))
    }

    /// The bytes that no described cell covers: whole words may be addresses, the rest is compared as it is,
    /// but for one byte that may be skipped.
    fn raw(
        &mut self,
        l: u64,
        r: u64,
        size: u32,
        cells: &[CellId],
        skipped: Option<u32>,
        path: &str,
    ) -> Compared {
        let schema = self.schema;
        let covered = |from: u32, to: u32| {
            cells.iter().map(|&id| schema.cell(id)).any(|cell| {
                let start = cell.offset as i64;
                start < to as i64 && start + cell.width as i64 > from as i64
            })
        };
        let heaps = (&self.left.inner().heap, &self.right.inner().heap);
        let words = heaps.0.words(l, size as usize).zip(heaps.1.words(r, size as usize));
        let same = |at: usize| words.is_some_and(|(a, b)| a[at / 8] == b[at / 8]);
        let is_frame = l == self.left.frame_base();
        let stride = schema.slots().stride.max(1);
        let mut at = 0;
        while at < size {
            if is_frame && self.ignored.contains(&((at / stride) as i32)) {
                at += 1;
                continue;
            }
            if at % 8 == 0 && at + 8 <= size && same(at as usize) {
                at += 8;
                continue;
            }
            // Words that described cells fill are the common case.
            let fills = |cell: &Cell| cell.width == 8 && cell.offset as u32 == at;
            if cells.iter().any(|&id| fills(schema.cell(id))) {
                at += 8;
                continue;
            }
            if skipped == Some(at) {
                at += 1;
                continue;
            }
            let width = if at % 8 == 0 && at + 8 <= size && !covered(at, at + 8) { 8 } else { 1 };
            let (a, b) = (self.left.read(l + at as u64, width), self.right.read(r + at as u64, width));
            if width == 8 && a != b {
                self.pointer(a.unwrap_or(0), b.unwrap_or(0), &format_args!("{path}+{at}"))?;
            } else if a != b && !covered(at, at + width as u32) {
                return differ(&format_args!("{path}+{at}"), a.unwrap_or(0), b.unwrap_or(0));
            }
            at += width as u32;
        }
        Ok(())
    }
}

/// The cells of a record that its layout describes, each place once.
fn described(schema: &Schema, layout: &Layout) -> Vec<CellId> {
    let mut cells: Vec<CellId> = layout.fields.iter().map(|&field| schema.field(field).cell).collect();
    cells.extend(layout.class_word.map(|(cell, _)| cell));
    cells.extend(layout.items.iter().flat_map(|part| [part.count, part.base]));
    cells.extend(layout.keys.iter().flat_map(|part| [part.size, part.base]));
    cells.extend(layout.barrier.map(|barrier| barrier.object));
    cells
}

/// Block and offset of an address; the context counts as a block.
fn place(world: &World, address: Bits) -> Option<(u64, u64)> {
    let offset = address.wrapping_sub(world.context());
    if offset < size_of::<Context>() as u64 {
        return Some((world.context(), offset));
    }
    world.inner().heap.block_at(address).map(|(start, _)| (start, address - start))
}

/// An address as the reader of a report knows it.
fn name(world: &World, address: Bits) -> String {
    match place(world, address) {
        _ if address == 0 => "null".into(),
        None => format!("{address:#x}, not of the world"),
        Some((start, offset)) => {
            let what = match (world.object_name(start), world.layout_at(start)) {
                (Some(name), _) => name.to_string(),
                (None, Some(layout)) => format!("a fresh {}", world.schema().layout(layout).name),
                (None, None) => "a part".to_string(),
            };
            if offset == 0 {
                what
            } else {
                format!("{what}+{offset}")
            }
        }
    }
}

/// Compares two worlds from the spec's objects alone.
pub fn compare(left: &World, right: &World) -> Compared {
    Comparison::new(left, right)?.finish()
}
