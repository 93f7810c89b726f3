//! The blocks of memory that a world consists of.
//!
//! Problem: machine code writes raw memory, so a test world must be raw memory too, and yet every access of
//! the evaluator has to be checked. Design: each object, item array and entry table is one zeroed, 16-byte
//! aligned block; a table sorted by address finds the block an address lies in, and the block of the last
//! access is tried first. Invariant: a block's memory is valid until the heap is dropped or (for blocks made
//! after [`Heap::save`]) restored; retired blocks are kept, so that a stale pointer in machine code reads
//! poison and never foreign memory.
//!
//! Example: `add` gives 0x1000 for 24 bytes; then `contains(0x1010, 8)` is true and `contains(0x1014, 8)` is
//! not.

use std::alloc::{alloc_zeroed, dealloc, handle_alloc_error};
use std::cell::Cell;

use crate::schema::LayoutId;

/// What a block is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BlockKind {
    /// A record.
    Object(LayoutId),
    /// The items of a record of that layout.
    Items(LayoutId),
    /// The keyed entries of a record of that layout.
    Entries(LayoutId),
    /// The frame in which traces are entered.
    Frame,
}

struct Block {
    kind: BlockKind,
    size: usize,
    retired: bool,
    /// What it held when the heap was saved.
    saved: Option<Box<[u8]>>,
}

/// All blocks, sorted by start address.
#[derive(Default)]
pub(crate) struct Heap {
    starts: Vec<u64>,
    blocks: Vec<Block>,
    /// Index of the block that was found last: accesses come in groups.
    last: Cell<usize>,
}

fn memory_layout(size: usize) -> std::alloc::Layout {
    std::alloc::Layout::from_size_align(size.max(16), 16).expect("block sizes are far below isize::MAX")
}

impl Heap {
    /// A new zeroed block; its address.
    pub(crate) fn add(&mut self, kind: BlockKind, size: usize) -> u64 {
        let layout = memory_layout(size);
        // SAFETY: the layout's size is at least 16.
        let pointer = unsafe { alloc_zeroed(layout) };
        if pointer.is_null() {
            handle_alloc_error(layout);
        }
        let address = pointer as usize as u64;
        let index = self.starts.partition_point(|&start| start < address);
        self.starts.insert(index, address);
        self.blocks.insert(index, Block { kind, size, retired: false, saved: None });
        address
    }

    /// Poisons a block that is not used any more and refuses further accesses to it.
    pub(crate) fn retire(&mut self, address: u64) {
        if let Ok(index) = self.starts.binary_search(&address) {
            let block = &mut self.blocks[index];
            block.retired = true;
            // SAFETY: the block is ours and `size` bytes long.
            unsafe { (address as usize as *mut u8).write_bytes(0xDB, block.size) };
        }
    }

    fn find(&self, address: u64) -> Option<(u64, &Block)> {
        let at = |index: usize| {
            let (&start, block) = (self.starts.get(index)?, self.blocks.get(index)?);
            (address.checked_sub(start)? < block.size as u64).then_some((start, block))
        };
        at(self.last.get()).or_else(|| {
            let index = self.starts.partition_point(|&start| start <= address).checked_sub(1)?;
            self.last.set(index);
            at(index)
        })
    }

    /// Start and kind of the block in which the address lies, retired blocks included.
    pub(crate) fn block_at(&self, address: u64) -> Option<(u64, BlockKind)> {
        self.find(address).map(|(start, block)| (start, block.kind))
    }

    /// Size of the block that starts there, and whether it is retired.
    pub(crate) fn extent(&self, start: u64) -> Option<(usize, bool)> {
        let block = &self.blocks[self.starts.binary_search(&start).ok()?];
        Some((block.size, block.retired))
    }

    /// Whether these bytes lie inside one block that is in use.
    pub(crate) fn contains(&self, address: u64, width: usize) -> bool {
        self.find(address)
            .is_some_and(|(start, block)| !block.retired && (address - start) as usize + width <= block.size)
    }

    /// The first `size` bytes of the block that starts there, as words; none if it has not so many or is
    /// retired.
    pub(crate) fn words(&self, start: u64, size: usize) -> Option<&[u64]> {
        let (at, block) = self.find(start)?;
        if at != start || block.retired || size > block.size {
            return None;
        }
        // SAFETY: the block is ours, aligned to 16, and no shorter than this.
        Some(unsafe { std::slice::from_raw_parts(start as usize as *const u64, size / 8) })
    }

    /// Remembers what every block holds.
    pub(crate) fn save(&mut self) {
        for (&address, block) in self.starts.iter().zip(&mut self.blocks) {
            // SAFETY: the block is ours and `size` bytes long.
            let bytes = unsafe { std::slice::from_raw_parts(address as usize as *const u8, block.size) };
            block.saved = Some(bytes.into());
        }
    }

    /// Gives every saved block its bytes back and frees all others.
    pub(crate) fn restore(&mut self) {
        for (&address, block) in self.starts.iter().zip(&mut self.blocks) {
            match &block.saved {
                // SAFETY: the block was made by `add` with this size and is dropped from the table below.
                None => unsafe { dealloc(address as usize as *mut u8, memory_layout(block.size)) },
                Some(saved) => {
                    block.retired = false;
                    let to = address as usize as *mut u8;
                    // SAFETY: the block is ours and as long as what was saved of it.
                    unsafe { to.copy_from_nonoverlapping(saved.as_ptr(), saved.len()) };
                }
            }
        }
        let mut kept = self.blocks.iter().map(|block| block.saved.is_some());
        self.starts.retain(|_| kept.next().unwrap_or(false));
        self.blocks.retain(|block| block.saved.is_some());
    }
}

impl Drop for Heap {
    fn drop(&mut self) {
        for (&address, block) in self.starts.iter().zip(&self.blocks) {
            // SAFETY: the block was made by `add` with this size; the map is dropped with it.
            unsafe { dealloc(address as usize as *mut u8, memory_layout(block.size)) };
        }
    }
}

/// Reads `width` (1, 2, 4 or 8) bytes at any alignment, zero-extended.
///
/// # Safety
/// The bytes are readable.
pub(crate) unsafe fn read_raw(address: u64, width: u8) -> u64 {
    let mut bytes = [0u8; 8];
    // SAFETY: the caller says that the bytes are readable; width is at most 8.
    unsafe {
        bytes.as_mut_ptr().copy_from_nonoverlapping(address as usize as *const u8, width.min(8) as usize)
    };
    u64::from_le_bytes(bytes)
}

/// Writes the low `width` (1, 2, 4 or 8) bytes at any alignment.
///
/// # Safety
/// The bytes are writable.
pub(crate) unsafe fn write_raw(address: u64, width: u8, bits: u64) {
    let bytes = bits.to_le_bytes();
    // SAFETY: the caller says that the bytes are writable; width is at most 8.
    unsafe { (address as usize as *mut u8).copy_from_nonoverlapping(bytes.as_ptr(), width.min(8) as usize) };
}
