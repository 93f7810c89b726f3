//! Code memory across `fork`: parent and child write their own.
//!
//! Problem: memory that is mapped twice is shared memory. Design: the process forks with code installed; then
//! one of both frees it and installs other code in its place, and the other one runs what it had. Invariant:
//! each finds its own code, and can install more. Example: `who_forks_keeps_its_code`.

mod common;

use common::*;
use tracelift_core::{ir::*, Schema, Type};
use tracelift_cranelift::*;

/// The exit buffer: code knows its address.
type Buffer = *mut [u64; 4];

fn new_buffer() -> Buffer {
    Box::leak(Box::new([0; 4]))
}

/// Code that finishes with this number, plus what is in the buffer.
fn installed(arena: &mut Arena, buffer: Buffer, tree: u32, value: i64) -> CodePtr {
    let mut trace = Trace::new("constant");
    let inputs = trace.input(&[Type::Int]);
    let constant = trace.const_int(value);
    let sum = trace.op(tracelift_core::Op::IntAdd, &[inputs[0], constant], Type::Int);
    trace.finish(&[sum]);
    let mut compiler = Compiler::new(Options::default()).unwrap();
    let compiled = compiler.compile(&trace, &Schema::new(), &Request::new(1, buffer.cast())).unwrap();
    arena.install(TreeId(tree), &compiled).unwrap()
}

fn run(buffer: Buffer, code: CodePtr) -> u64 {
    // SAFETY: the code is installed, and the buffer is its own, and is never freed.
    unsafe {
        buffer.write([0; 4]);
        (code.entry())(std::ptr::null_mut(), std::ptr::null_mut());
        buffer.read()[0]
    }
}

/// Forks; the child does this, after the parent has done that, and ends with 0 if it says so.
fn fork_with(in_parent: impl FnOnce(), in_child: impl FnOnce() -> bool) {
    let mut pipe = [0; 2];
    // SAFETY: room for two descriptors; the child touches its own memory only, and ends without cleaning up.
    unsafe {
        assert_eq!(libc::pipe(pipe.as_mut_ptr()), 0);
        let child = libc::fork();
        if child == 0 {
            let mut byte = 0u8;
            libc::close(pipe[1]);
            libc::read(pipe[0], (&raw mut byte).cast(), 1);
            libc::_exit(i32::from(!in_child()));
        }
        assert!(child > 0);
        in_parent();
        libc::close(pipe[0]);
        libc::close(pipe[1]);
        let mut status = 0;
        assert_eq!(libc::waitpid(child, &mut status, 0), child);
        assert_eq!(status, 0, "the child has run what was not its own");
    }
}

#[test]
fn who_forks_keeps_its_code() {
    for is_anonymous in [false, true] {
        let options = ArenaOptions { limit: 1 << 20, is_anonymous, ..ArenaOptions::default() };
        let mut arena = Arena::new(options).unwrap();
        let buffer = new_buffer();
        let code = installed(&mut arena, buffer, 1, 7);
        assert_eq!(run(buffer, code), 7);
        let arena = std::cell::RefCell::new(arena);
        // The parent exchanges its code; the child has what it had.
        let new = std::cell::Cell::new(code);
        fork_with(
            || {
                let buffer = new_buffer();
                arena.borrow_mut().free(TreeId(1));
                new.set(installed(&mut arena.borrow_mut(), buffer, 2, 8));
                assert_eq!(new.get().address(), code.address(), "in the same place");
            },
            || run(buffer, code) == 7,
        );
        // The child exchanges its own; the parent has what it has.
        let buffer = new_buffer();
        arena.borrow_mut().free(TreeId(2));
        let code = installed(&mut arena.borrow_mut(), buffer, 3, 9);
        fork_with(
            || {},
            || {
                let buffer = new_buffer();
                arena.borrow_mut().free(TreeId(3));
                let other = installed(&mut arena.borrow_mut(), buffer, 4, 10);
                other.address() == code.address() && run(buffer, other) == 10
            },
        );
        assert_eq!(run(buffer, code), 9);
    }
}

/// A process without code forks as it did.
#[test]
fn who_has_no_code_forks_too() {
    let arena = Arena::new(ArenaOptions { limit: 1 << 20, ..ArenaOptions::default() }).unwrap();
    let mut arena = std::cell::RefCell::new(arena);
    fork_with(
        || {},
        || {
            let buffer = new_buffer();
            let code = installed(&mut arena.borrow_mut(), buffer, 1, 5);
            run(buffer, code) == 5
        },
    );
    let buffer = new_buffer();
    let code = installed(arena.get_mut(), buffer, 1, 6);
    assert_eq!(run(buffer, code), 6);
}
