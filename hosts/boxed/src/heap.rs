//! The heap: boxed numbers of 16 bytes, an allocator for compiled code, and a collector.
//!
//! Problem: compiled code must never collect, yet a loop that makes objects needs a collector. Design: the
//! allocator only takes memory; how many objects were made since the last collection is a cell that traces
//! look at once per iteration, leaving so that the interpreter collects. Objects hold no references, so
//! marking is a loop over the stack's slots. Compiled code reaches the heap through the context pointer,
//! which is a [`Context`].
//!
//! Memory for exits: an exit makes boxes that compiled code has left out, and cannot fail. The heap keeps as
//! many cells back as one exit may need ([`reserve`]), and gives them out when there is no other memory. (The
//! interpreter itself may use as much as it likes: it stands for hosts that end the program then.)
//!
//! Invariant: a slot of the stack holds 0 or the address of a cell of this heap, so marking follows any slot,
//! also a dead one. A cell that is free has class word 0, one that is kept back has `KEPT`.
//!
//! Example: `let object = heap.integer(5); assert_eq!(heap.number(object), Number::Integer(5))`.

use std::collections::BTreeMap;
use std::ffi::c_void;

use tracelift_core::schema::LayoutId;

use crate::frames::Frames;

/// Class word of a `BoxedInteger`.
pub const INTEGER: u64 = 1;
/// Class word of a `BoxedFloat`.
pub const FLOAT: u64 = 2;

/// Class word of a cell that is kept back for exits.
const KEPT: u64 = 3;

/// A boxed number, or a free cell.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Object {
    /// [`INTEGER`], [`FLOAT`], 0 for a free cell, or 3 for one that is kept back.
    pub class: u64,
    /// The number's bits; in a free cell, the next free one.
    pub value: u64,
}

/// A number, unboxed: what tests compare. Floats are equal when their bits are, or when both are NaN.
#[derive(Clone, Copy, Debug)]
pub enum Number {
    /// A `BoxedInteger`'s.
    Integer(i64),
    /// A `BoxedFloat`'s.
    Float(f64),
}

impl PartialEq for Number {
    fn eq(&self, other: &Number) -> bool {
        match (self, other) {
            (Number::Integer(a), Number::Integer(b)) => a == b,
            (Number::Float(a), Number::Float(b)) => a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(),
            _ => false,
        }
    }
}

/// The address of an object.
pub type Ref = u64;

/// Objects made since the last collection after which a loop leaves compiled code to collect.
pub const COLLECT_AFTER: i64 = 4096;

/// Objects per chunk of memory.
const CHUNK: usize = 1024;

/// What compiled code gets as its context: the cells that traces read and write, and the heap.
#[repr(C)]
pub struct Context {
    /// Iterations that the program may still begin (a cell of the schema).
    pub fuel: i64,
    /// Objects made since the last collection (a cell of the schema).
    pub debt: i64,
    /// The program's frames (two cells of the schema lie at its beginning).
    pub frames: Frames,
    /// The rest.
    pub heap: Heap,
}

/// Which allocations find no memory, counted from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Refused {
    /// None.
    #[default]
    Never,
    /// This one.
    Only(u64),
    /// This one and all after it.
    From(u64),
}

/// Objects and free cells.
#[derive(Default)]
pub struct Heap {
    /// Address of each chunk, with its marks.
    chunks: BTreeMap<usize, Vec<bool>>,
    free: Ref,
    /// Objects ever made, by the interpreter, by compiled code and by exits.
    pub made: u64,
    /// Collections.
    pub collections: u64,
    /// Test aid: allocations of compiled code, of exits, and of cells to keep back that find no memory.
    pub refused: Refused,
    /// Such allocations so far.
    pub asked: u64,
    /// An exit lifts objects: cells that are kept back may be used.
    pub lifting: bool,
    /// Cells that exits were given from those kept back.
    pub given: u64,
    /// Cells kept back, and how many it should be by layout.
    kept: Vec<Ref>,
    wanted: [usize; 2],
}

impl Heap {
    /// A new object.
    pub fn make(&mut self, class: u64, value: u64) -> Ref {
        if self.free == 0 {
            self.grow();
        }
        let object = self.free as *mut Object;
        // SAFETY: the free list holds cells of the chunks that nobody else refers to.
        unsafe {
            self.free = (*object).value;
            *object = Object { class, value };
        }
        self.made += 1;
        object as Ref
    }

    fn grow(&mut self) {
        let chunk: Box<[Object]> = vec![Object { class: 0, value: 0 }; CHUNK].into();
        let start = Box::into_raw(chunk) as *mut Object;
        for index in 0..CHUNK {
            // SAFETY: the chunk has that many objects.
            unsafe { start.add(index).write(Object { class: 0, value: self.free }) };
            self.free = start as Ref + (index * size_of::<Object>()) as Ref;
        }
        self.chunks.insert(start as usize, vec![false; CHUNK]);
    }

    /// A new `BoxedInteger`.
    pub fn integer(&mut self, value: i64) -> Ref {
        self.make(INTEGER, value as u64)
    }

    /// A new `BoxedFloat`.
    pub fn float(&mut self, value: f64) -> Ref {
        self.make(FLOAT, value.to_bits())
    }

    /// A new object for a number.
    pub fn boxed(&mut self, number: Number) -> Ref {
        match number {
            Number::Integer(value) => self.integer(value),
            Number::Float(value) => self.float(value),
        }
    }

    /// The number in an object.
    pub fn number(&self, object: Ref) -> Number {
        debug_assert!(self.position(object).is_some(), "{object:#x} is no object");
        // SAFETY: slots that are read hold objects (see the file's and `code.rs`'s invariants).
        let object = unsafe { *(object as *const Object) };
        match object.class {
            INTEGER => Number::Integer(object.value as i64),
            FLOAT => Number::Float(f64::from_bits(object.value)),
            class => panic!("an object of class {class} was freed while it was live"),
        }
    }

    /// Chunk and index of an address.
    fn position(&self, object: Ref) -> Option<(usize, usize)> {
        let (&start, marks) = self.chunks.range(..=object as usize).next_back()?;
        let index = (object as usize - start) / size_of::<Object>();
        (index < marks.len()).then_some((start, index))
    }

    /// Counts an allocation; whether it finds no memory.
    fn is_refused(&mut self) -> bool {
        self.asked += 1;
        match self.refused {
            Refused::Never => false,
            Refused::Only(number) => self.asked == number,
            Refused::From(number) => self.asked >= number,
        }
    }

    /// Brings the cells kept back to the wanted number; whether there was memory.
    fn keep(&mut self) -> bool {
        let wanted = self.wanted.iter().sum();
        while self.kept.len() > wanted {
            let cell = self.kept.pop().expect("there are more than none");
            // SAFETY: cells that are kept back are cells of the chunks that nobody else refers to.
            unsafe { *(cell as *mut Object) = Object { class: 0, value: self.free } };
            self.free = cell;
        }
        while self.kept.len() < wanted {
            if self.is_refused() {
                return false;
            }
            let cell = self.make(KEPT, 0);
            self.made -= 1;
            self.kept.push(cell);
        }
        true
    }

    /// Cells that are kept back.
    pub fn kept(&self) -> usize {
        self.kept.len()
    }

    /// Frees all objects but those that `roots` refer to.
    pub fn collect(&mut self, roots: &[Ref]) {
        self.collections += 1;
        for &root in roots {
            if let Some((start, index)) = self.position(root) {
                self.chunks.get_mut(&start).expect("the chunk was just found")[index] = true;
            }
        }
        self.free = 0;
        for (&start, marks) in &mut self.chunks {
            for (index, mark) in marks.iter_mut().enumerate() {
                let object = (start + index * size_of::<Object>()) as *mut Object;
                // SAFETY: a cell of a chunk; what is not marked is referred to by nobody.
                unsafe {
                    if (!*mark || (*object).class == 0) && (*object).class != KEPT {
                        *object = Object { class: 0, value: self.free };
                        self.free = object as Ref;
                    }
                }
                *mark = false;
            }
        }
    }
}

impl Drop for Heap {
    fn drop(&mut self) {
        for &start in self.chunks.keys() {
            let chunk = std::ptr::slice_from_raw_parts_mut(start as *mut Object, CHUNK);
            // SAFETY: it came from `Box::into_raw` in `grow`, with this length.
            drop(unsafe { Box::from_raw(chunk) });
        }
    }
}

/// The allocator that compiled code and exits call: `alloc` of the record layouts. Layout 0 is
/// `BoxedInteger`, layout 1 is `BoxedFloat`.
///
/// # Safety
/// `context` is the context of the program that runs, and nothing else uses it during the call.
pub unsafe extern "C" fn alloc(context: *mut Context, layout: u64, _items: u64, _keys: u64) -> Ref {
    // SAFETY: promised by the caller.
    let context = unsafe { &mut *context };
    let (heap, class) = (&mut context.heap, class_of(LayoutId(layout as u32)));
    if !heap.is_refused() {
        context.debt += 1;
        return heap.make(class, 0);
    }
    let cell = if heap.lifting { heap.kept.pop() } else { None };
    let Some(cell) = cell else { return 0 };
    // SAFETY: cells that are kept back are cells of the chunks that nobody else refers to.
    unsafe { *(cell as *mut Object) = Object { class, value: 0 } };
    heap.made += 1;
    heap.given += 1;
    context.debt += 1;
    cell
}

/// Keeps cells back for exits: `tracelift_runtime::ReserveFn` of both layouts.
///
/// # Safety
/// As for [`alloc`].
pub unsafe extern "C" fn reserve(
    context: *mut c_void,
    layout: u32,
    _items: u32,
    _keys: u32,
    count: u32,
) -> i32 {
    // SAFETY: promised by the caller.
    let heap = unsafe { &mut (*context.cast::<Context>()).heap };
    heap.wanted[layout as usize] = count as usize;
    i32::from(heap.keep())
}

/// The class word of objects of a layout.
pub fn class_of(layout: LayoutId) -> u64 {
    u64::from(layout.0) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collection_frees_what_no_root_refers_to() {
        let mut heap = Heap::default();
        let kept = heap.integer(7);
        let dropped = heap.float(1.5);
        heap.collect(&[0, kept]);
        assert_eq!(heap.number(kept), Number::Integer(7));
        assert_eq!(heap.integer(8), dropped, "its memory is used again");
        assert_eq!((heap.made, heap.collections), (3, 1));
    }

    #[test]
    fn cells_kept_back_are_for_exits_alone() {
        let mut context = Context { fuel: 0, debt: 0, frames: Frames::new(1), heap: Heap::default() };
        let at = &raw mut context;
        // SAFETY: the context is alive, and nothing else uses it during the calls.
        unsafe {
            assert_eq!(reserve(at.cast(), 0, 0, 0, 2), 1);
            (*at).heap.refused = Refused::From(1);
            assert_eq!(alloc(at, 0, 0, 0), 0, "not at an exit");
            (*at).heap.lifting = true;
            let first = alloc(at, 0, 0, 0);
            (*at).heap.collect(&[first]);
            let second = alloc(at, 1, 0, 0);
            assert!(first != 0 && second != 0 && first != second);
            assert_eq!((*at).heap.number(second), Number::Float(0.0));
            assert_eq!(alloc(at, 0, 0, 0), 0, "no more than was promised");
            assert_eq!(reserve(at.cast(), 0, 0, 0, 2), 0, "refused");
            (*at).heap.refused = Refused::Never;
            assert_eq!(reserve(at.cast(), 0, 0, 0, 2), 1);
            assert_eq!(reserve(at.cast(), 0, 0, 0, 0), 1);
            assert_eq!((*at).heap.kept(), 0);
        }
    }
}
