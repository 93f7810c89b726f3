//! The service that an interpreter embeds: from hot loops to running machine code and back.
//!
//! [`Vm`] is the JIT of one interpreter instance. Rust hosts use it directly: describe the host in
//! [`Vm::schema_mut`], call [`Vm::hot`] at hot back edges, record through [`Recorder`], run the code, and
//! hand the exit to [`Vm::exit`]. C hosts do the same through `include/tracelift.h`, which [`capi`]
//! implements.
//!
//! The loop `while i < n: i = i + 1`, with `i` and `n` in a frame of two slots, by an interpreter that has no
//! more than that:
//!
//! ```
//! use tracelift_core::{ExitKind, Op, Payload, Schema, Type};
//! use tracelift_runtime::{Action, Config, Vm};
//!
//! #[repr(C)]
//! struct Slot {
//!     payload: i64,
//!     tag: u8,
//! }
//!
//! // Compiled after ten iterations, and not when compiling has earned its share of the time.
//! let config = Config { threshold: 10, compile_share: None, ..Config::default() };
//! let mut vm = Vm::new(config).unwrap();
//! *vm.schema_mut() = Schema::with_default_tags(); // 0 is the tag of integers
//! vm.schema_mut().frame_words = 1; // where a frame goes on
//! let int = vm.schema().find_tag("int").unwrap();
//!
//! let mut frame = [Slot { payload: 0, tag: 0 }, Slot { payload: 1_000_000, tag: 0 }];
//! let mut counter = [0i32];
//! let base = frame.as_mut_ptr().cast::<u8>();
//! let counters = counter.as_mut_ptr();
//! // SAFETY: the counter lives as long as the VM.
//! unsafe { vm.set_counters(counters, 1) };
//!
//! let (head, mut interpreted) = (7, 0); // the loop's key
//! // SAFETY: the frame and the counter are there, and each slot that is named is one of the frame's.
//! unsafe {
//!     while (*base.cast::<Slot>()).payload < (*base.cast::<Slot>().add(1)).payload {
//!         *counters -= 1;
//!         let action = if *counters < 0 { vm.hot(head, counters, base) } else { Action::Nothing };
//!         if let Action::Run(run) = action {
//!             let left = run.code.call(std::ptr::null_mut(), base);
//!             assert_eq!(vm.exit(left, std::ptr::null_mut()).kind(), Some(ExitKind::LoopEnd));
//!             continue; // the frame is as the interpreter would have left it
//!         }
//!         if let Action::Record = action {
//!             assert!(vm.start_recording(head, base, 0));
//!             let (recorder, schema) = vm.recorder().unwrap();
//!             recorder.resume_point(base, &[head as u64], &[0b11]); // both slots are live
//!             let [i, n] = [0, 1].map(|slot| recorder.read_slot(slot, int, schema).unwrap());
//!             let less = recorder.emit(Op::IntLt, &[i, n], Payload::None, ExitKind::Guard, schema);
//!             recorder.emit(Op::GuardTrue, &[less.unwrap()], Payload::None, ExitKind::LoopEnd, schema);
//!             let one = recorder.constant(Type::Int, 1);
//!             let next = recorder.emit(Op::IntAdd, &[i, one], Payload::None, ExitKind::Guard, schema);
//!             recorder.write_slot(0, int, next, schema);
//!             vm.close_recording();
//!         }
//!         (*base.cast::<Slot>()).payload += 1;
//!         interpreted += 1;
//!     }
//! }
//! assert_eq!((frame[0].payload, vm.stats().compile.traces), (1_000_000, 1));
//! assert!(interpreted < 100, "all other iterations were machine code");
//! ```

pub mod abort;
mod attach;
mod away;
mod backend;
mod background;
mod budget;
pub mod capi;
pub mod compile;
pub mod config;
mod counters;
pub mod debug;
mod evict;
pub mod exit;
mod fast_path;
mod foresight;
mod gate;
mod hinting;
pub mod hints;
mod hot;
mod ids;
mod job;
mod late;
pub mod location;
mod locations;
pub mod log;
pub mod names;
mod naming;
mod nest;
mod nested;
mod open_calls;
mod operands;
mod pace;
mod pacing;
mod pay;
mod place;
mod plan;
pub mod policy;
mod publish;
pub mod reasons;
pub mod recorder;
mod region;
mod report;
pub mod reserve;
mod restore;
pub mod run;
mod sampling;
mod side;
mod slots;
mod starts;
pub mod stats;
mod summary;
mod ticks;
mod traces;
mod tree;
mod tunables;
mod unit_code;
pub mod units;
mod usefulness;
mod venture;
pub mod view;
pub mod vm;
mod worker;

pub use abort::AbortReason;
pub use compile::CloseOutcome;
pub use config::{Compiling, Config, DEFAULT_THRESHOLD};
pub use debug::{CodeKind, KnownCode, Tools};
pub use exit::{Exit, ExitFrame};
pub use ids::{ExitId, ExitPoint, TraceId};
pub use log::Stage;
pub use names::{NameOf, Place};
pub use recorder::Recorder;
pub use reserve::ReserveFn;
pub use run::{Action, Room, Run};
pub use stats::{
    CompileStats, Costs, Evicted, GroupedOps, GuardCosts, HintUse, HostCodeUse, OpGroups, RegionUse, Stats,
    ThreadUse, TraceStats, UnitUse,
};
pub use units::Limit as UnitLimit;
pub use vm::{Vm, VmError};
// The optimizer's switches are part of `Config`.
pub use tracelift_cranelift::{LeftBy, LinkedEntry};
pub use tracelift_opt::{Config as OptConfig, PASSES};

/// Tests of what depends on the clock use the host of the other tests, and a clock of their own.
#[cfg(test)]
extern crate self as tracelift_runtime;
#[cfg(test)]
#[path = "../tests/support/mod.rs"]
mod support;
