//! The service that an interpreter embeds: from hot loops to running machine code and back.
//!
//! [`Vm`] is the JIT of one interpreter instance. Rust hosts use it directly: describe the host in
//! [`Vm::schema_mut`], call [`Vm::hot`] at hot back edges, record through [`Recorder`], run the code, and
//! hand the exit to [`Vm::exit`]. C hosts do the same through `include/tracelift.h`, which [`capi`]
//! implements.

pub mod abort;
mod backend;
mod budget;
pub mod capi;
pub mod compile;
pub mod config;
mod counters;
pub mod debug;
pub mod exit;
mod fast_path;
mod foresight;
mod gate;
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
pub mod view;
pub mod vm;

pub use abort::AbortReason;
pub use compile::CloseOutcome;
pub use config::{Config, DEFAULT_THRESHOLD};
pub use debug::{CodeKind, KnownCode, Tools};
pub use exit::{Exit, ExitFrame};
pub use ids::{ExitId, ExitPoint, TraceId};
pub use log::Stage;
pub use names::{NameOf, Place};
pub use recorder::Recorder;
pub use reserve::ReserveFn;
pub use run::{Action, Room, Run};
pub use stats::{
    CompileStats, Costs, GroupedOps, GuardCosts, HostCodeUse, OpGroups, RegionUse, Stats, TraceStats, UnitUse,
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
