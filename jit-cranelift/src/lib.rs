//! Machine code for traces: lowering to Cranelift, exit stubs, and the memory that the code lives in.
//!
//! Problem: an optimized [`Trace`](tracelift_core::Trace) must become fast machine code that can be left at
//! any guard, entered from the interpreter, and freed without touching other code. Design: [`Compiler`] turns
//! one trace into a [`Compiled`]: relocation-free bytes, and a table that says for each exit which values lie
//! where in the exit buffer: it is lowered to simple operations (`lir.rs`), and of these come bytes, in one
//! pass by `quick.rs` where the options ask for it and the machine is the right one, else by Cranelift.
//! [`Arena`] puts the bytes into executable memory, per trace tree. Nobody else names Cranelift.
//!
//! The code is an [`EntryPoint`]: it gets the host's context pointer and the base of the frame, and returns
//! the trace number and the number of the exit that it left by (see [`exits`]). It restores nothing itself.
//!
//! Invariants: code memory is never writable and executable through one address; a verified, expanded trace
//! always compiles or yields a [`CompileError`]; the code never throws, and leaves only by its return.
//!
//! ```
//! use tracelift_core::{ir::*, Op, Schema, Type};
//! use tracelift_cranelift::*;
//!
//! // Adds its two inputs, which it finds in the exit buffer, and finishes with the sum there.
//! let mut trace = Trace::new("sum");
//! let (i0, i1) = (trace.new_value(Type::Int), trace.new_value(Type::Int));
//! trace.add_label("L0", &[i0, i1]);
//! let i2 = trace.push(Inst::new(Op::IntAdd, &[i0, i1]), Some(Type::Int)).unwrap();
//! trace.push(Inst::new(Op::Finish, &[i2]), None);
//!
//! let mut buffer = [40u64, 2];
//! let mut compiler = Compiler::new(Options::default()).unwrap();
//! let compiled = compiler.compile(&trace, &Schema::new(), &Request::new(1, buffer.as_mut_ptr())).unwrap();
//! let mut arena = Arena::new(ArenaOptions::default()).unwrap();
//! let code = arena.install(TreeId(0), &compiled).unwrap();
//! // SAFETY: the buffer is large enough, and the trace touches no other memory.
//! let returned = unsafe { (code.entry())(std::ptr::null_mut(), std::ptr::null_mut()) };
//! assert_eq!((trace_number(returned), exit_number(returned), buffer[0]), (1, 0, 42));
//! ```

mod arena;
mod compiler;
mod disassembly;
mod error;
pub mod exits;
mod fork;
mod glue;
mod helpers;
mod isa;
mod lir;
mod listing;
mod lower;
mod notes;
mod quick;
mod request;
mod unwind;

pub use arena::{room_of, Arena, ArenaOptions, ArenaUse, CodePtr, EntryPoint, TreeId};
pub use compiler::{Compiler, Member, WithUnwind};
pub use error::{CodeMemory, CompileError};
pub use exits::{exit_number, trace_number, ExitInfo, ENTRY_REFUSED};
pub use fork::forks;
pub use glue::{Enter, Glue, LeftBy, LinkedEntry};
pub use helpers::{helper_use, HelperUse};
pub use isa::{Options, Target};
pub use lower::units::{left_word, RECORD_WORDS};
pub use notes::{Notes, Place};
pub use request::{Compiled, Crossings, EntryKind, Links, Replaced, Request, Stats, UnitCells, Units};
pub use unwind::{frameless, room_for, room_for_host, section_offset, LOOKUP_BYTES};
