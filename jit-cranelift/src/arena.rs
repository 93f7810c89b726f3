//! Code memory: executable, never writable through the same address, freed per trace tree.
//!
//! Problem: traces come and go one tree at a time; memory that is writable and executable at once is an
//! invitation; flipping protections costs a system call per trace and stalls other threads that run on the
//! same page. Design: one anonymous file is mapped twice, once writable and once executable. The arena writes
//! through the first mapping, whose address never leaves this file, and hands out addresses in the second.
//! The region is reserved at once (virtual memory only) and cut into blocks; a *tree* owns blocks and fills
//! them one trace after the other; freeing the tree gives its blocks back, whole, and nothing else is
//! touched.
//!
//! On aarch64 the executable mapping of code with landing pads is *guarded*: where an indirect branch leads
//! to anything else the processor faults, so that a pointer that was overwritten leads to whole functions
//! only.
//!
//! Invariants: free blocks are disjoint, sorted and not adjacent; every piece of code is aligned to a cache
//! line; a freed block is filled with trapping instructions, so that a stale jump stops instead of running
//! something else.
//!
//! The arena does not know who is running: **freeing a tree while one of its traces runs, or while anything
//! may still jump to it, is the caller's error.**
//!
//! ```
//! # use tracelift_cranelift::*;
//! let arena = Arena::new(ArenaOptions { limit: 1 << 20, ..ArenaOptions::default() }).unwrap();
//! assert_eq!(arena.usage().used, 0);
//! ```

use std::collections::{BTreeMap, HashMap};
use std::ffi::c_void;
use std::io;
use std::ops::Range;
use std::ptr::NonNull;

use crate::error::CodeMemory;
use crate::fork;
use crate::request::Compiled;
use crate::unwind::room_for;

/// Compiled code: gets the host's context pointer and the frame base, returns trace and exit number.
pub type EntryPoint = unsafe extern "C" fn(context: *mut c_void, base: *mut u8) -> u64;

/// Code that is freed together: a root trace and the side traces that hang on it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct TreeId(pub u32);

/// Every piece of code begins at a multiple of this.
const ALIGNMENT: usize = 64;
/// Blocks are multiples of this.
const BLOCK: usize = 1024;
/// So many bytes at once are told to have been written.
const TOLD: usize = 64 << 10;

/// How large an arena may become, and what it should pretend in tests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ArenaOptions {
    /// Bytes of address space reserved; memory is used only as code arrives.
    pub limit: usize,
    /// The memory is such that perf looks addresses in it up in `/tmp/perf-PID.map`: it is nobody's file.
    pub is_anonymous: bool,
    /// On aarch64 all code begins with a landing pad, and so does each place in it that is jumped to by
    /// address: see [`Compiler::arena_options`](crate::Compiler::arena_options).
    pub has_landing_pads: bool,
    /// For tests: the allocation with this number (the first is 1) fails as if the arena were full.
    pub fail_allocation: Option<u64>,
    /// For tests: the system refuses executable memory.
    pub refuse_executable: bool,
}

impl Default for ArenaOptions {
    fn default() -> ArenaOptions {
        ArenaOptions {
            limit: 64 << 20,
            is_anonymous: false,
            has_landing_pads: false,
            fail_allocation: None,
            refuse_executable: false,
        }
    }
}

/// How much of an arena is in use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ArenaUse {
    /// Bytes of blocks that trees own.
    pub used: usize,
    /// Bytes of code in them.
    pub code: usize,
    /// Bytes that may be owned at most.
    pub limit: usize,
    /// Trees that own blocks.
    pub trees: usize,
}

/// Installed code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CodePtr {
    address: NonNull<u8>,
    len: usize,
}

// SAFETY: an address of code that nobody can write through.
unsafe impl Send for CodePtr {}
// SAFETY: as above.
unsafe impl Sync for CodePtr {}

impl CodePtr {
    /// The code as a function. Calling it is unsafe: the code must not have been freed, its exit buffer must
    /// be there, and context and base must be what the trace was compiled for.
    pub fn entry(self) -> EntryPoint {
        // SAFETY: the address is that of a function with this signature; lowering makes no others.
        unsafe { std::mem::transmute::<NonNull<u8>, EntryPoint>(self.address) }
    }

    /// Its first byte's address, for listings and profilers.
    pub fn address(self) -> usize {
        self.address.as_ptr() as usize
    }

    /// Its length in bytes.
    pub fn len(self) -> usize {
        self.len
    }

    /// Never true of installed code.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }
}

/// A run of bytes in the region.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Run {
    offset: usize,
    len: usize,
}

/// What one tree owns.
#[derive(Default)]
struct Tree {
    blocks: Vec<Run>,
    /// The part of the last block that holds no code yet.
    rest: Option<Run>,
    code: usize,
}

/// Executable memory for compiled traces.
pub struct Arena {
    memory: DoubleMapping,
    options: ArenaOptions,
    free: BTreeMap<usize, usize>,
    trees: HashMap<TreeId, Tree>,
    allocations: u64,
}

impl Arena {
    /// Reserves the region. An error means that there can be no compiled code in this process.
    pub fn new(options: ArenaOptions) -> Result<Arena, CodeMemory> {
        let limit = options.limit.next_multiple_of(page_size());
        let options = ArenaOptions { limit, ..options };
        if options.refuse_executable {
            return Err(CodeMemory::Refused(io::Error::from_raw_os_error(libc::EACCES)));
        }
        let protection = libc::PROT_READ | libc::PROT_EXEC;
        let protection = protection | if options.has_landing_pads { GUARDED } else { 0 };
        let memory = match options.is_anonymous {
            true => DoubleMapping::anonymous(limit, protection),
            false => DoubleMapping::new(limit, protection),
        };
        let memory = memory.map_err(CodeMemory::Refused)?;
        let [writable, executable] = [memory.writable, memory.executable].map(|at| at.as_ptr() as usize);
        fork::made(writable, executable, protection, limit);
        icache::prepare();
        let free = BTreeMap::from([(0, limit)]);
        Ok(Arena { memory, options, free, trees: HashMap::new(), allocations: 0 })
    }

    /// Copies compiled code into the tree's memory and makes it executable.
    pub fn install(&mut self, tree: TreeId, compiled: &Compiled) -> Result<CodePtr, CodeMemory> {
        self.install_with_room(tree, &compiled.code, room_of(compiled))
    }

    /// The same for code that is no trace's.
    pub fn install_code(&mut self, tree: TreeId, code: &[u8]) -> Result<CodePtr, CodeMemory> {
        self.install_with_room(tree, code, code.len())
    }

    /// The same, in so many bytes, no fewer than the code's: nobody else's code lies there. See
    /// [`room_for`].
    pub fn install_with_room(
        &mut self,
        tree: TreeId,
        code: &[u8],
        room: usize,
    ) -> Result<CodePtr, CodeMemory> {
        self.allocations += 1;
        let len = aligned(room.max(code.len()));
        if self.options.fail_allocation == Some(self.allocations) {
            return Err(self.full(len));
        }
        if !fork::may_write() {
            return Err(CodeMemory::Refused(io::Error::from_raw_os_error(libc::ENOMEM)));
        }
        let offset = self.reserve(tree, len)?;
        self.memory.write(offset, code);
        let address = self.memory.executable(offset);
        icache::flush(address, code.len());
        Ok(CodePtr { address, len: code.len() })
    }

    /// Gives the tree's memory back; its code must not run any more. An unknown tree owns nothing.
    pub fn free(&mut self, tree: TreeId) {
        let Some(tree) = self.trees.remove(&tree).filter(|_| fork::may_write()) else { return };
        for block in tree.blocks {
            self.memory.fill_with_traps(block.offset, block.len);
            icache::flush(self.memory.executable(block.offset), block.len);
            self.give_back(block);
        }
    }

    /// Whether there is room for so many bytes more of a tree's code.
    pub fn has_room(&self, tree: TreeId, room: usize) -> bool {
        let len = aligned(room);
        let rest = self.trees.get(&tree).and_then(|tree| tree.rest);
        rest.is_some_and(|rest| rest.len >= len)
            || self.free.values().any(|&free| free >= len.next_multiple_of(BLOCK))
    }

    /// What freeing a tree would give back.
    pub fn owned_by(&self, tree: TreeId) -> usize {
        self.trees.get(&tree).map_or(0, |tree| tree.blocks.iter().map(|block| block.len).sum())
    }

    /// How much is in use.
    pub fn usage(&self) -> ArenaUse {
        ArenaUse {
            used: self.options.limit - self.free.values().sum::<usize>(),
            code: self.trees.values().map(|tree| tree.code).sum(),
            limit: self.options.limit,
            trees: self.trees.len(),
        }
    }

    /// Whether an address lies in the arena: for profilers and fault handlers.
    pub fn contains(&self, address: usize) -> bool {
        self.range().contains(&address)
    }

    /// The addresses that code may have.
    pub fn range(&self) -> Range<usize> {
        let start = self.memory.executable(0).as_ptr() as usize;
        start..start + self.options.limit
    }

    fn full(&self, needed: usize) -> CodeMemory {
        CodeMemory::Full { needed, free: self.free.values().sum(), limit: self.options.limit }
    }

    /// Room for `len` bytes in the tree: after its last code if it fits there, else in a new block.
    fn reserve(&mut self, tree: TreeId, len: usize) -> Result<usize, CodeMemory> {
        let rest = self.trees.get(&tree).and_then(|tree| tree.rest).filter(|rest| rest.len >= len);
        let (run, new_block) = match rest {
            Some(rest) => (rest, None),
            None => {
                let block = self.take_block(len.next_multiple_of(BLOCK)).ok_or_else(|| self.full(len))?;
                (block, Some(block))
            }
        };
        let tree = self.trees.entry(tree).or_default();
        tree.blocks.extend(new_block);
        tree.rest = Some(Run { offset: run.offset + len, len: run.len - len });
        tree.code += len;
        Ok(run.offset)
    }

    /// First fit: low addresses fill up first, so the pages in use stay few.
    fn take_block(&mut self, len: usize) -> Option<Run> {
        let (&offset, &free) = self.free.iter().find(|&(_, &free)| free >= len)?;
        self.free.remove(&offset);
        if free > len {
            self.free.insert(offset + len, free - len);
        }
        Some(Run { offset, len })
    }

    fn give_back(&mut self, block: Run) {
        let Run { mut offset, mut len } = block;
        if let Some((&before, &before_len)) = self.free.range(..offset).next_back() {
            if before + before_len == offset {
                self.free.remove(&before);
                (offset, len) = (before, before_len + len);
            }
        }
        if let Some(after_len) = self.free.remove(&(offset + len)) {
            len += after_len;
        }
        self.free.insert(offset, len);
    }
}

/// Bytes that code needs in an arena.
pub fn room_of(compiled: &Compiled) -> usize {
    let len = compiled.code.len();
    compiled.notes.as_ref().map_or(len, |notes| room_for(len, notes.unwind.len()))
}

fn aligned(len: usize) -> usize {
    len.next_multiple_of(ALIGNMENT).max(ALIGNMENT)
}

fn page_size() -> usize {
    // SAFETY: asks for a number, has no other effect.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize }
}

/// One anonymous file, mapped writable and executable at two addresses.
struct DoubleMapping {
    writable: NonNull<u8>,
    executable: NonNull<u8>,
    len: usize,
    /// Nothing after this was ever written.
    end: usize,
}

// SAFETY: the mapping is owned; every write needs `&mut Arena`.
unsafe impl Send for DoubleMapping {}

/// Linux's `PROT_BTI`, a bit that other processors refuse.
const GUARDED: libc::c_int = if cfg!(target_arch = "aarch64") { 0x10 } else { 0 };

impl DoubleMapping {
    fn new(len: usize, protection: libc::c_int) -> io::Result<DoubleMapping> {
        // SAFETY: the name is a C string; the result is checked.
        let file = unsafe { libc::memfd_create(c"tracelift-code".as_ptr(), libc::MFD_CLOEXEC) };
        if file < 0 {
            return Err(io::Error::last_os_error());
        }
        let mapping = Self::map_twice(file, len, protection);
        // SAFETY: the descriptor is ours, and mappings outlive it.
        unsafe { libc::close(file) };
        mapping
    }

    /// The same of shared memory without a file, mapped again at another address.
    fn anonymous(len: usize, protection: libc::c_int) -> io::Result<DoubleMapping> {
        let checked = |address: *mut c_void| match address == libc::MAP_FAILED {
            true => Err(io::Error::last_os_error()),
            false => Ok(address),
        };
        let kind = libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let both = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping at an address that the system chooses.
        let writable = checked(unsafe { libc::mmap(std::ptr::null_mut(), len, both, kind, -1, 0) })?;
        // SAFETY: of a shared mapping nothing is moved, and another one of the same memory is made.
        let executable = checked(unsafe { libc::mremap(writable, 0, len, libc::MREMAP_MAYMOVE) })
            // SAFETY: mapped just now, not used yet.
            .inspect_err(|_| _ = unsafe { libc::munmap(writable, len) })?;
        let [writable, executable] = [writable, executable].map(|address| NonNull::new(address.cast()));
        let out_of_memory = || io::Error::from_raw_os_error(libc::ENOMEM);
        let mapping = DoubleMapping {
            writable: writable.ok_or_else(out_of_memory)?,
            executable: executable.ok_or_else(out_of_memory)?,
            len,
            end: 0,
        };
        // SAFETY: all of it is ours.
        match unsafe { libc::mprotect(mapping.executable.as_ptr().cast(), len, protection) } {
            0 => Ok(mapping),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn map_twice(file: libc::c_int, len: usize, protection: libc::c_int) -> io::Result<DoubleMapping> {
        // SAFETY: the descriptor is open.
        if unsafe { libc::ftruncate(file, len as libc::off_t) } != 0 {
            return Err(io::Error::last_os_error());
        }
        let writable = Self::map(file, len, libc::PROT_READ | libc::PROT_WRITE)?;
        match Self::map(file, len, protection) {
            Ok(executable) => Ok(DoubleMapping { writable, executable, len, end: 0 }),
            Err(error) => {
                // SAFETY: mapped just now, not used yet.
                unsafe { libc::munmap(writable.as_ptr().cast(), len) };
                Err(error)
            }
        }
    }

    fn map(file: libc::c_int, len: usize, protection: libc::c_int) -> io::Result<NonNull<u8>> {
        // SAFETY: a new mapping at an address that the system chooses.
        let address = unsafe {
            libc::mmap(std::ptr::null_mut(), len, protection, libc::MAP_SHARED | libc::MAP_NORESERVE, file, 0)
        };
        if address == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        NonNull::new(address.cast()).ok_or_else(|| io::Error::from_raw_os_error(libc::ENOMEM))
    }

    fn write(&mut self, offset: usize, bytes: &[u8]) {
        assert!(offset + bytes.len() <= self.len, "code lies inside the region");
        if offset + bytes.len() > self.end {
            // In blocks, so that it is seldom told.
            self.end = (offset + bytes.len()).next_multiple_of(TOLD).min(self.len);
            fork::written(self.writable.as_ptr() as usize, self.end);
        }
        // SAFETY: inside the mapping (asserted), which nobody else writes.
        unsafe {
            self.writable.as_ptr().add(offset).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        }
    }

    fn fill_with_traps(&mut self, offset: usize, len: usize) {
        assert!(offset + len <= self.len, "a block lies inside the region");
        // On x86-64 0xCC is `int3`; on aarch64 four zero bytes are `udf`.
        let trap = if cfg!(target_arch = "x86_64") { 0xCC } else { 0 };
        // SAFETY: inside the mapping (asserted), which nobody else writes.
        unsafe { self.writable.as_ptr().add(offset).write_bytes(trap, len) };
    }

    fn executable(&self, offset: usize) -> NonNull<u8> {
        debug_assert!(offset <= self.len);
        // SAFETY: inside the mapping.
        unsafe { self.executable.add(offset) }
    }
}

impl Drop for DoubleMapping {
    fn drop(&mut self) {
        fork::gone(self.writable.as_ptr() as usize);
        // SAFETY: both are ours; whoever drops the arena knows that no code of it runs.
        unsafe {
            libc::munmap(self.writable.as_ptr().cast(), self.len);
            libc::munmap(self.executable.as_ptr().cast(), self.len);
        }
    }
}

/// Instruction caches: coherent on x86-64; cleaned by address on aarch64, where other cores are fenced by the
/// kernel.
#[cfg(not(target_arch = "aarch64"))]
mod icache {
    use std::ptr::NonNull;

    pub(super) fn prepare() {}
    pub(super) fn flush(_start: NonNull<u8>, _len: usize) {}
}

#[cfg(target_arch = "aarch64")]
mod icache {
    use std::arch::asm;
    use std::ptr::NonNull;

    // Linux's numbers for the private expedited core-serializing barrier; libc's constants are not on all
    // targets.
    const SYNC_CORE: libc::c_int = 1 << 5;
    const REGISTER_SYNC_CORE: libc::c_int = 1 << 6;

    fn membarrier(command: libc::c_int) {
        // A kernel without it is old, or an emulator; then threads that only run code must fence for
        // themselves. SAFETY: the call has no effect on memory.
        unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) };
    }

    pub(super) fn prepare() {
        membarrier(REGISTER_SYNC_CORE);
    }

    pub(super) fn flush(start: NonNull<u8>, len: usize) {
        let start = start.as_ptr() as usize;
        let types: usize;
        // SAFETY: reads a register that user code may read.
        unsafe { asm!("mrs {}, ctr_el0", out(reg) types, options(nomem, nostack, preserves_flags)) };
        let data_line = 4usize << ((types >> 16) & 15);
        let code_line = 4usize << (types & 15);
        for line in (start & !(data_line - 1)..start + len).step_by(data_line) {
            // SAFETY: cleans a line that is mapped readable.
            unsafe { asm!("dc cvau, {}", in(reg) line, options(nostack, preserves_flags)) };
        }
        // SAFETY: a barrier.
        unsafe { asm!("dsb ish", options(nostack, preserves_flags)) };
        for line in (start & !(code_line - 1)..start + len).step_by(code_line) {
            // SAFETY: drops a line that is mapped readable.
            unsafe { asm!("ic ivau, {}", in(reg) line, options(nostack, preserves_flags)) };
        }
        // SAFETY: barriers.
        unsafe { asm!("dsb ish", "isb", options(nostack, preserves_flags)) };
        membarrier(SYNC_CORE);
    }
}
