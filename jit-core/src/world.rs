//! The test world: real memory in which traces run, outside any host.
//!
//! Problem: evaluator and machine code must run the same trace over the same objects and then be compared,
//! but two runs change memory, and two copies of a heap have different addresses. Design: a [`WorldSpec`]
//! names objects by number; [`World::build`] lays them out as the schema's layouts say, in blocks of its own;
//! [`World::reset`] puts everything back *at the same addresses*, so that code compiled for a world can run
//! in it again and again; [`compare`] compares two worlds modulo addresses. The world's context pointer is
//! what machine code gets as its context, and through it the native functions in [`natives`] serve every
//! layout: allocate, find, insert.
//!
//! Invariant: every address that a correct trace loads from or stores to lies inside a block that the world
//! knows ([`World::read`] and [`World::write`] refuse all others), so a malformed trace gives an error and no
//! undefined behaviour. Blocks that were outgrown stay allocated, poisoned and refused.
//!
//! ```
//! use std::sync::Arc;
//! use tracelift_core::{testbed, world::World, world_spec::*};
//! let schema = Arc::new(testbed::standard_schema());
//! let boxed = schema.find_layout("BoxedInteger").unwrap();
//! let intval = schema.find_field(boxed, "intval").unwrap();
//! let spec = WorldSpec {
//!     objects: vec![ObjectSpec {
//!         name: "b1".into(),
//!         layout: boxed,
//!         fields: vec![(intval, SpecValue::Bits(5))],
//!         items: vec![],
//!         item_capacity: 0,
//!         entries: vec![],
//!         key_capacity: 0,
//!     }],
//! };
//! let world = World::build(&spec, &schema);
//! assert_eq!(world.load_cell(world.object_address(0), schema.field_cell(intval)), Some(5));
//! ```

pub mod compare;
mod heap;
pub mod natives;
mod parts;

use std::ptr::NonNull;
use std::sync::Arc;

use crate::schema::{Cell, LayoutId, Schema};
use crate::types::Bits;
use crate::world_spec::{SpecValue, WorldSpec};
pub(crate) use heap::BlockKind;
use heap::Heap;

/// Slots of the frame that a world offers to traces as the frame they were entered in.
pub const FRAME_SLOTS: u32 = 64;

/// The cells at the context pointer that traces may read and write; everything after them belongs to the
/// world.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ContextCells {
    /// Not 0 when the host wants compiled code to stop (exit kind `interrupt`).
    pub interrupt: u64,
    /// The collector's debt (exit kind `collect`).
    pub debt: u64,
    /// Counted by test functions that may do anything.
    pub counter: u64,
    /// For traces written by hand.
    pub spare: u64,
}

/// What the context pointer points to.
#[repr(C)]
pub(crate) struct Context {
    pub(crate) cells: ContextCells,
    pub(crate) schema: Arc<Schema>,
    pub(crate) heap: Heap,
    pub(crate) objects: Vec<u64>,
    names: Vec<String>,
    frame: u64,
    /// How many more allocations succeed; `None`: all.
    pub(crate) allocations_left: Option<u64>,
    pub(crate) allocations: u64,
}

/// Real memory with the objects of a [`WorldSpec`]. Not `Send`: native functions reach it through a raw
/// pointer.
pub struct World {
    // A raw pointer, not a box: machine code and native functions use the same memory while the evaluator
    // holds `&mut World`. References into it never live across a native call.
    context: NonNull<Context>,
}

impl Drop for World {
    fn drop(&mut self) {
        // SAFETY: the pointer came from `Box::into_raw` in `build` and is freed nowhere else.
        drop(unsafe { Box::from_raw(self.context.as_ptr()) });
    }
}

impl World {
    /// Lays out the objects of `spec`. Panics on a spec that does not fit the schema (a test's own mistake).
    pub fn build(spec: &WorldSpec, schema: &Arc<Schema>) -> World {
        let mut heap = Heap::default();
        let frame = heap.add(BlockKind::Frame, FRAME_SLOTS as usize * schema.slots().stride as usize);
        let mut context = Box::new(Context {
            cells: ContextCells::default(),
            schema: schema.clone(),
            heap,
            objects: Vec::new(),
            names: spec.objects.iter().map(|object| object.name.clone()).collect(),
            frame,
            allocations_left: None,
            allocations: 0,
        });
        for object in &spec.objects {
            let items = object.item_capacity.max(object.items.len() as u32);
            let keys = object.key_capacity.max(object.entries.len() as u32);
            let address =
                context.allocate(object.layout, items, keys).expect("a world's object fits in memory");
            context.objects.push(address);
        }
        for number in 0..spec.objects.len() {
            context.fill(spec, number);
        }
        context.heap.save();
        context.allocations = 0;
        World { context: NonNull::from(Box::leak(context)) }
    }

    /// Puts every object, the frame and the context cells back to what they were after [`World::build`], at
    /// the same addresses, and forgets all other objects.
    pub fn reset(&mut self) {
        let context = self.inner_mut();
        context.heap.restore();
        context.cells = ContextCells::default();
        context.allocations = 0;
        context.allocations_left = None;
    }

    pub(crate) fn inner(&self) -> &Context {
        // SAFETY: the pointer is valid for the life of `self`, and native code only runs inside calls that
        // hold no reference from here.
        unsafe { self.context.as_ref() }
    }

    fn inner_mut(&mut self) -> &mut Context {
        // SAFETY: as in `inner`; `&mut self` excludes other references made by this world.
        unsafe { self.context.as_mut() }
    }

    /// The context pointer: an argument of compiled code and the result of the op `context`.
    pub fn context(&self) -> Bits {
        self.context.as_ptr() as usize as u64
    }

    /// The address of the frame in which traces are entered ([`FRAME_SLOTS`] slots).
    pub fn frame_base(&self) -> Bits {
        self.inner().frame
    }

    /// Moves the frame's base, as a call does; whoever moves it moves it back.
    pub fn move_frame(&mut self, base: Bits) {
        self.inner_mut().frame = base;
    }

    /// The schema that the world was laid out by.
    pub fn schema(&self) -> Arc<Schema> {
        self.inner().schema.clone()
    }

    /// The address of the spec's object with that number. Panics if there is none.
    pub fn object_address(&self, number: u32) -> Bits {
        self.inner().objects[number as usize]
    }

    /// How many objects the spec had.
    pub fn object_count(&self) -> u32 {
        self.inner().objects.len() as u32
    }

    /// The name of the spec's object at that address.
    pub fn object_name(&self, address: Bits) -> Option<&str> {
        let inner = self.inner();
        inner.objects.iter().position(|&a| a == address).map(|n| inner.names[n].as_str())
    }

    /// The bits of a value of the spec's language in this world; 0 for no payload.
    pub fn bits(&self, value: SpecValue) -> Bits {
        self.inner().spec_bits(value)
    }

    /// The layout of the object that begins at that address.
    pub fn layout_at(&self, address: Bits) -> Option<LayoutId> {
        match self.inner().heap.block_at(address)? {
            (start, BlockKind::Object(layout)) if start == address => Some(layout),
            _ => None,
        }
    }

    /// From now on `count` allocations succeed and all later ones return null; `None`: all succeed.
    pub fn set_allocations_left(&mut self, count: Option<u64>) {
        self.inner_mut().allocations_left = count;
    }

    /// How many allocations succeed before all later ones fail.
    pub fn allocations_left(&self) -> Option<u64> {
        self.inner().allocations_left
    }

    /// How many objects were made, and entry tables grown, since the world was built or reset.
    pub fn allocations(&self) -> u64 {
        self.inner().allocations
    }

    /// The cells at the context pointer.
    pub fn context_cells(&self) -> ContextCells {
        self.inner().cells
    }

    /// Sets the cells at the context pointer.
    pub fn set_context_cells(&mut self, cells: ContextCells) {
        self.inner_mut().cells = cells;
    }

    /// Reads `width` bytes, zero-extended; `None` if they do not lie inside one block of the world.
    pub fn read(&self, address: Bits, width: u8) -> Option<u64> {
        self.check(address, width)?;
        // SAFETY: checked to lie inside a live block (or the context's cells).
        Some(unsafe { heap::read_raw(address, width) })
    }

    /// Writes the low `width` bytes; `None`, without effect, if they do not lie inside one block of the
    /// world.
    pub fn write(&mut self, address: Bits, width: u8, bits: u64) -> Option<()> {
        self.check(address, width)?;
        // SAFETY: checked to lie inside a live block (or the context's cells).
        unsafe { heap::write_raw(address, width, bits) };
        Some(())
    }

    fn check(&self, address: Bits, width: u8) -> Option<()> {
        let cells = self.context()..self.context() + size_of::<ContextCells>() as u64;
        if cells.contains(&address) {
            return (address + width as u64 <= cells.end).then_some(());
        }
        self.inner().heap.contains(address, width as usize).then_some(())
    }

    /// Reads a cell relative to `base`, extended as the cell says.
    pub fn load_cell(&self, base: Bits, cell: &Cell) -> Option<Bits> {
        self.read(cell_address(base, cell), cell.width).map(|raw| extend(raw, cell))
    }

    /// Writes a cell relative to `base`.
    pub fn store_cell(&mut self, base: Bits, cell: &Cell, bits: Bits) -> Option<()> {
        self.write(cell_address(base, cell), cell.width, bits)
    }

    /// Makes an empty record as [`natives::world_alloc`] and its like do, but never fails for lack of memory:
    /// for lifting.
    pub fn make(&mut self, layout: LayoutId, items: u32, keys: u32) -> Option<Bits> {
        let inner = self.inner_mut();
        let left = inner.allocations_left.take();
        let alloc = inner.schema.layout(layout).alloc.map(|alloc| inner.schema.func(alloc).address);
        let in_frame = alloc == Some(natives::world_alloc_in_frame as *const () as usize);
        let made = match in_frame {
            true => inner.allocate_in_frame(inner.frame, layout, items, keys),
            false => inner.allocate(layout, items, keys),
        };
        inner.allocations_left = left;
        made
    }

    /// The entry of a present key, as [`natives::world_find`] says.
    pub fn find_entry(&self, layout: LayoutId, record: Bits, key: Bits) -> Option<Bits> {
        self.inner().find(layout, record, key)
    }

    /// The entry of a key that is added if it is absent, as [`natives::world_insert`] does; for lifting.
    pub fn make_entry(&mut self, layout: LayoutId, record: Bits, key: Bits) -> Option<Bits> {
        let inner = self.inner_mut();
        let left = inner.allocations_left.take();
        let entry = inner.insert(layout, record, key);
        inner.allocations_left = left;
        entry
    }
}

fn cell_address(base: Bits, cell: &Cell) -> Bits {
    base.wrapping_add(cell.offset as i64 as u64)
}

/// A cell's raw bytes as the value that a load of it gives.
pub fn extend(raw: u64, cell: &Cell) -> Bits {
    match (cell.signed, cell.width) {
        (true, 1) => raw as i8 as i64 as u64,
        (true, 2) => raw as i16 as i64 as u64,
        (true, 4) => raw as i32 as i64 as u64,
        _ => raw,
    }
}
