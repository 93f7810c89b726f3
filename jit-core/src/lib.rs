//! The trace language of Tracelift: what every other layer speaks.
//!
//! A host's recorder writes a [`Trace`] over a [`Schema`]; the optimizer turns it into another `Trace`;
//! lowering turns that into machine code. This crate owns the op table ([`ops`]), types and values,
//! descriptors ([`schema`]), snapshots and resume data ([`snapshot`]), and what is known of
//! loops ([`loops`]). It depends on no other layer.
//!
//! The feature `oracle` adds what only tests and tools need: the evaluator, the worlds that it runs traces
//! in, and the test schema; `testgen` adds random traces. What compiles a host's traces is built without.

pub mod effects;
#[cfg(feature = "oracle")]
pub mod eval;
pub mod ir;
pub mod loops;
pub mod meaning;
pub mod ops;
pub mod planted;
pub mod schema;
pub mod slot_memory;
pub mod snapshot;
#[cfg(feature = "oracle")]
pub mod testbed;
#[cfg(feature = "testgen")]
pub mod testgen;
pub mod text;
pub mod types;
pub mod verify;
#[cfg(feature = "oracle")]
pub mod world;
pub mod world_spec;

pub use effects::Effects;
pub use ir::{Const, ExitKind, Hint, Inst, LabelId, Payload, SnapId, Trace, UnitId, Value};
pub use loops::Loops;
pub use ops::Op;
pub use schema::Schema;
pub use snapshot::{live_values, Snapshot};
pub use types::{Bits, Type};
