//! Tracelift as one library: the crates of the workspace under one name.
//!
//! An interpreter in Rust needs [`runtime`] and the part of [`core`] that describes it; [`opt`] and
//! [`cranelift`] are for tools that look inside. The command `tracelift` is built from the same package.

pub use tracelift_core as core;
pub use tracelift_cranelift as cranelift;
pub use tracelift_opt as opt;
pub use tracelift_runtime as runtime;
