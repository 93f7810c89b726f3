//! gdb's interface for just-in-time compilers.
//!
//! Problem: gdb reads names and unwind information of code from object files, and there are none. Design: it
//! looks for a function and a list of object files in memory, both by name, and stops at the function to read
//! the list. Both names belong to gdb. They are weak, so that a program that has another such compiler in it
//! can be linked, and has one list for all.
//!
//! Invariant: whatever is in the list is an object file that lives; the list is changed by one thread at a
//! time. Example: `gdb --args tlua -jdebug=gdb a.lua`, then `backtrace` in a function that a trace calls.

use std::collections::HashMap;
use std::ptr;
use std::sync::Mutex;

use super::elf::object_file;
use super::piece::{Owner, Piece};

// The function does nothing: gdb has a breakpoint in it.
std::arch::global_asm!(
    ".pushsection .text.__jit_debug_register_code, \"ax\", %progbits",
    ".weak __jit_debug_register_code",
    ".type __jit_debug_register_code, %function",
    ".balign 16",
    "__jit_debug_register_code:",
    "ret",
    ".size __jit_debug_register_code, . - __jit_debug_register_code",
    ".popsection",
    ".pushsection .data.__jit_debug_descriptor, \"aw\", %progbits",
    ".weak __jit_debug_descriptor",
    ".type __jit_debug_descriptor, %object",
    ".balign 8",
    "__jit_debug_descriptor:",
    ".long 1",
    ".long 0",
    ".quad 0",
    ".quad 0",
    ".size __jit_debug_descriptor, 24",
    ".popsection",
);

/// An entry of the list, as gdb reads it.
#[repr(C)]
struct Entry {
    next: *mut Entry,
    previous: *mut Entry,
    file: *const u8,
    size: u64,
}

/// The list, as gdb reads it.
#[repr(C)]
struct Descriptor {
    version: u32,
    action: u32,
    relevant: *mut Entry,
    first: *mut Entry,
}

const REGISTER: u32 = 1;
const UNREGISTER: u32 = 2;

extern "C" {
    fn __jit_debug_register_code();
    static mut __jit_debug_descriptor: Descriptor;
}

/// Held while the list is changed.
static LIST: Mutex<()> = Mutex::new(());

/// An object file in the list.
struct Registered {
    entry: *mut Entry,
    file: Vec<u8>,
}

/// The object files of a VM's code.
#[derive(Default)]
pub(super) struct Gdb {
    files: HashMap<Owner, Vec<Registered>>,
}

// SAFETY: the entries are this VM's, and the list is changed under a lock.
unsafe impl Send for Gdb {}

impl Gdb {
    pub fn add(&mut self, piece: &Piece<'_>) {
        let Some(file) = object_file(piece) else { return };
        let entry = Box::into_raw(Box::new(Entry {
            next: ptr::null_mut(),
            previous: ptr::null_mut(),
            file: file.as_ptr(),
            size: file.len() as u64,
        }));
        // SAFETY: the entry is new, and its file lives until it is taken out.
        unsafe { register(entry) };
        self.files.entry(piece.owner).or_default().push(Registered { entry, file });
    }

    pub fn free(&mut self, owner: Owner) {
        self.files.remove(&owner).into_iter().flatten().for_each(take_out);
    }
}

impl Drop for Gdb {
    fn drop(&mut self) {
        self.files.drain().flat_map(|(_, files)| files).for_each(take_out);
    }
}

fn take_out(Registered { entry, file }: Registered) {
    // SAFETY: the entry is in the list, and leaves it here.
    unsafe {
        unregister(entry);
        drop(Box::from_raw(entry));
    }
    drop(file);
}

/// # Safety
/// The entry is in no list, and lives until it is taken out.
unsafe fn register(entry: *mut Entry) {
    let _held = LIST.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    // SAFETY: the list is changed under the lock; what is in it lives.
    unsafe {
        let list = &raw mut __jit_debug_descriptor;
        (*entry).next = (*list).first;
        if !(*list).first.is_null() {
            (*(*list).first).previous = entry;
        }
        (*list).first = entry;
        (*list).relevant = entry;
        (*list).action = REGISTER;
        __jit_debug_register_code();
    }
}

/// # Safety
/// The entry is in the list.
unsafe fn unregister(entry: *mut Entry) {
    let _held = LIST.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    // SAFETY: as above.
    unsafe {
        let list = &raw mut __jit_debug_descriptor;
        let Entry { next, previous, .. } = *entry;
        if !next.is_null() {
            (*next).previous = previous;
        }
        match previous.is_null() {
            true => (*list).first = next,
            false => (*previous).next = next,
        }
        (*list).relevant = entry;
        (*list).action = UNREGISTER;
        __jit_debug_register_code();
        (*list).relevant = ptr::null_mut();
    }
}
