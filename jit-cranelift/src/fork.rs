//! Code memory across `fork`.
//!
//! Problem: code memory is shared memory that is mapped twice (`arena.rs`), so a process and its child would
//! have it in common, and each would write what the other runs. Servers fork when their interpreters are
//! warm. Design: the arenas' mappings are known here. A child, before its `fork` returns, gets memory of its
//! own at the same addresses, with the same content; meanwhile its parent waits at a pipe, which ends when
//! the child has what it needs, or is no more. Nothing in between allocates or takes another lock, as other
//! threads' are held for ever in the child.
//!
//! Invariant: after `fork` nobody else writes a process's code. Where the child gets no memory its arenas
//! take no more code and free none; where there is no pipe, the parent does not wait.
//!
//! Example: `fork()` in a function that compiled code has called returns into that code, in both processes.

use std::cell::UnsafeCell;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// An arena's memory.
#[derive(Clone, Copy)]
struct Mapping {
    writable: usize,
    executable: usize,
    /// How the executable one is mapped.
    protection: libc::c_int,
    len: usize,
    /// Nothing after this was ever written.
    end: usize,
}

struct State {
    mappings: Vec<Mapping>,
    /// While a process forks: the pipe at which the parent waits.
    pipe: Option<[libc::c_int; 2]>,
    /// Whether `fork` tells us.
    is_told: bool,
}

/// A lock that is taken before `fork` and given back after it, in both processes.
struct Registry {
    lock: UnsafeCell<libc::pthread_mutex_t>,
    state: UnsafeCell<State>,
}

// SAFETY: the state is touched by who holds the lock only.
unsafe impl Sync for Registry {}

static REGISTRY: Registry = Registry {
    lock: UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER),
    state: UnsafeCell::new(State { mappings: Vec::new(), pipe: None, is_told: false }),
};

/// This process is a child that did not get memory of its own.
static SHARES: AtomicBool = AtomicBool::new(false);

/// Forks between the process that has made the first arena and this one.
static FORKS: AtomicU32 = AtomicU32::new(0);

impl Registry {
    fn take(&self) {
        // SAFETY: a mutex that was initialized statically, and is never moved.
        unsafe { libc::pthread_mutex_lock(self.lock.get()) };
    }

    fn give_back(&self) {
        // SAFETY: this thread has taken it.
        unsafe { libc::pthread_mutex_unlock(self.lock.get()) };
    }

    fn with<R>(&self, change: impl FnOnce(&mut State) -> R) -> R {
        self.take();
        // SAFETY: the lock is held, so there is no other reference.
        let result = change(unsafe { &mut *self.state.get() });
        self.give_back();
        result
    }
}

/// Whether code memory may be written: not in a child that shares it.
pub(crate) fn may_write() -> bool {
    !SHARES.load(Ordering::Relaxed)
}

/// A number that is another one in each child of a process with an arena. What a thread holds is lost where
/// it has changed: a child has only the thread that has forked.
pub fn forks() -> u32 {
    FORKS.load(Ordering::Relaxed)
}

/// There is such memory, which is empty.
pub(crate) fn made(writable: usize, executable: usize, protection: libc::c_int, len: usize) {
    REGISTRY.with(|state| {
        state.mappings.push(Mapping { writable, executable, protection, len, end: 0 });
        if !state.is_told {
            // SAFETY: the functions live as long as the process. Without room for them `fork` is as it was.
            state.is_told =
                unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) } == 0;
        }
    });
}

/// It was written for the first time up to here.
pub(crate) fn written(writable: usize, end: usize) {
    REGISTRY.with(|state| {
        let mapping = state.mappings.iter_mut().find(|mapping| mapping.writable == writable);
        mapping.into_iter().for_each(|mapping| mapping.end = mapping.end.max(end));
    });
}

/// It is about to be unmapped.
pub(crate) fn gone(writable: usize) {
    REGISTRY.with(|state| state.mappings.retain(|mapping| mapping.writable != writable));
}

extern "C" fn before() {
    REGISTRY.take();
    // SAFETY: the lock is held, until `in_parent` or `in_child`, so there is no other reference.
    let state = unsafe { &mut *REGISTRY.state.get() };
    let mut pipe = [-1; 2];
    let wants = state.mappings.iter().any(|mapping| mapping.end > 0);
    // SAFETY: there is room for two descriptors.
    let is_made = wants && unsafe { libc::pipe2(pipe.as_mut_ptr(), libc::O_CLOEXEC) } == 0;
    state.pipe = is_made.then_some(pipe);
}

extern "C" fn in_parent() {
    // SAFETY: `before` has taken the lock, so there is no other reference.
    if let Some([reads, writes]) = unsafe { &mut *REGISTRY.state.get() }.pipe.take() {
        let mut byte = 0u8;
        // SAFETY: both are ours; the pipe ends when the child has closed its end, or has ended.
        unsafe {
            libc::close(writes);
            while libc::read(reads, (&raw mut byte).cast(), 1) < 0
                && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
            {}
            libc::close(reads);
        }
    }
    REGISTRY.give_back();
}

extern "C" fn in_child() {
    // SAFETY: `before` has taken the lock, in the thread that is left, so there is no other reference.
    let state = unsafe { &mut *REGISTRY.state.get() };
    FORKS.fetch_add(1, Ordering::Relaxed);
    for mapping in &state.mappings {
        if !renew(mapping) {
            SHARES.store(true, Ordering::Relaxed);
        }
    }
    if let Some(pipe) = state.pipe.take() {
        // SAFETY: both are ours.
        pipe.iter().for_each(|&end| unsafe { _ = libc::close(end) });
    }
    REGISTRY.give_back();
}

/// Puts memory of this process's own in the place of what it shares with its parent; whether there is some.
fn renew(mapping: &Mapping) -> bool {
    let &Mapping { writable, executable, protection, len, end } = mapping;
    let both = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: the name is a C string. What is mapped over is the arena's own, and what is read was written.
    unsafe {
        let file = libc::memfd_create(c"tracelift-code".as_ptr(), libc::MFD_CLOEXEC);
        if file < 0 {
            return false;
        }
        let map = |address: usize, protection: libc::c_int, fixed: libc::c_int| {
            let flags = libc::MAP_SHARED | libc::MAP_NORESERVE | fixed;
            libc::mmap(address as *mut libc::c_void, len, protection, flags, file, 0)
        };
        let copy = match libc::ftruncate(file, len as libc::off_t) {
            0 => map(0, both, 0),
            _ => libc::MAP_FAILED,
        };
        let mut is_done = copy != libc::MAP_FAILED;
        if is_done {
            std::ptr::copy_nonoverlapping(executable as *const u8, copy.cast::<u8>(), end);
            is_done = map(executable, protection, libc::MAP_FIXED) != libc::MAP_FAILED
                && map(writable, both, libc::MAP_FIXED) != libc::MAP_FAILED;
            libc::munmap(copy, len);
        }
        libc::close(file);
        is_done
    }
}
