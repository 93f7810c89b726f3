//! The trace language of Tracelift: what every other layer speaks.
//!
//! A host's recorder writes a [`Trace`] over a [`Schema`]; the optimizer turns it into another `Trace`;
//! lowering turns that into machine code. This crate owns the op table ([`ops`]), types and values,
//! descriptors ([`schema`]), snapshots and resume data ([`snapshot`]), and what is known of
//! loops ([`loops`]). It depends on no other layer.
//!
//! The feature `oracle` adds what only tests and tools need: the evaluator, the worlds that it runs traces
//! in, and the test schema; `testgen` adds random traces. What compiles a host's traces is built without.
//!
//! ```
//! use tracelift_core::text::{parse_trace, print_trace};
//! use tracelift_core::verify::{verify, Mode};
//! use tracelift_core::{Op, Schema};
//!
//! let schema = Schema::new();
//! let text = "trace count\nL0(i0):\ni1 = int_add(i0, 1)\njump(L0, i1)\n";
//! let trace = parse_trace(text, &schema).unwrap();
//! assert!(verify(&trace, &schema, Mode::Recorded).is_empty());
//! assert_eq!(trace.insts.iter().map(|inst| inst.op).collect::<Vec<_>>(), [Op::Label, Op::IntAdd, Op::Jump]);
//! assert_eq!(print_trace(&trace, &schema), text);
//! ```

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
