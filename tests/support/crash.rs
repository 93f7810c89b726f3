//! Naming the seed when machine code crashes.
//!
//! Problem: a wrong lowering can crash the process, and then nobody knows which case it was. Design: the seed
//! being run lies in a thread-local cell; a handler of the fatal signals writes it to standard error and lets
//! the signal kill the process. Invariant: the handler only formats digits and calls `write`, which is safe
//! in handlers.
//!
//! Example: a load through a wild address prints `crash while running TRACELIFT_SEED=42` before the process
//! dies.

use std::cell::Cell;

thread_local! {
    static SEED: Cell<u64> = const { Cell::new(0) };
}

/// From now on this thread runs the case of that seed.
pub fn running(seed: u64) {
    SEED.set(seed);
}

/// Installs the handler, once.
pub fn install() {
    for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGABRT] {
        let handler = report as extern "C" fn(libc::c_int) as usize;
        // SAFETY: the handler only does what signal handlers may do, and the structure is fully initialized.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handler;
            action.sa_flags = libc::SA_RESETHAND | libc::SA_NODEFER;
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
}

extern "C" fn report(signal: libc::c_int) {
    let mut digits = [b'0'; 20];
    let (mut left, mut at) = (SEED.get(), digits.len());
    while at == digits.len() || left > 0 {
        at -= 1;
        digits[at] = b'0' + (left % 10) as u8;
        left /= 10;
    }
    for part in [b"crash while running TRACELIFT_SEED=".as_slice(), &digits[at..], b"\n"] {
        // SAFETY: the bytes are readable; `write` may be called in a handler.
        unsafe { libc::write(2, part.as_ptr().cast(), part.len()) };
    }
    // SAFETY: the handler was reset, so this ends the process as the signal would have.
    unsafe { libc::raise(signal) };
}
