//! What can go wrong between a trace and its running code.
//!
//! A [`CompileError`] says that a trace cannot become code: the runtime counts it by [`CompileError::reason`]
//! and stays in the interpreter. A [`CodeMemory`] says that there is no place for code. Neither is ever a
//! panic. Example: a trace that calls a function without an address gives `CompileError::UnknownFunction`.

use tracelift_core::{Op, Value};

/// Why a trace has no machine code.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// A record operation was not expanded before lowering.
    #[error("instruction {inst}: `{}` is a record operation and must be expanded before lowering", op.info().name)]
    RecordOp {
        /// The operation.
        op: Op,
        /// Its index in the trace.
        inst: usize,
    },
    /// A called function has no address.
    #[error("instruction {inst}: the address of function `{name}` is not known")]
    UnknownFunction {
        /// The function's name.
        name: String,
        /// Index of the call.
        inst: usize,
    },
    /// A constant names an object of the test world, which has to be bound to an address first.
    #[error("instruction {inst}: value {} names an object that is not bound to an address", value.0)]
    UnboundObject {
        /// The constant.
        value: Value,
        /// Index of the instruction that uses it.
        inst: usize,
    },
    /// A value is used where it is not defined.
    #[error("instruction {inst}: value {} is not defined here", value.0)]
    Undefined {
        /// The value.
        value: Value,
        /// Index of the instruction that uses it.
        inst: usize,
    },
    /// The trace breaks a rule that the verifier checks.
    #[error("instruction {inst}: {what}")]
    Malformed {
        /// Index of the instruction.
        inst: usize,
        /// The rule.
        what: &'static str,
    },
    /// The code generator refused: a limit, or our own mistake.
    #[error("code generation: {0}")]
    Codegen(String),
    /// The code needs a relocation, which lowering promises not to produce.
    #[error("the code has {0} relocations")]
    Relocations(usize),
    /// The machine or the settings are not supported.
    #[error("target: {0}")]
    Target(String),
}

impl CompileError {
    /// A fixed word per variant, to count errors by.
    pub fn reason(&self) -> &'static str {
        match self {
            CompileError::RecordOp { .. } => "record_op",
            CompileError::UnknownFunction { .. } => "unknown_function",
            CompileError::UnboundObject { .. } => "unbound_object",
            CompileError::Undefined { .. } => "undefined_value",
            CompileError::Malformed { .. } => "malformed_trace",
            CompileError::Codegen(_) => "codegen",
            CompileError::Relocations(_) => "relocations",
            CompileError::Target(_) => "target",
        }
    }
}

/// Why there is no memory for code.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CodeMemory {
    /// The system gives no executable memory at all.
    #[error("the system refuses executable memory: {0}")]
    Refused(#[source] std::io::Error),
    /// The arena's limit is reached; freeing a tree makes room.
    #[error(
        "code memory is full: {needed} bytes needed, {free} of {limit} free but too scattered or too few"
    )]
    Full {
        /// Bytes that were asked for.
        needed: usize,
        /// Bytes that are free, in pieces.
        free: usize,
        /// The arena's size.
        limit: usize,
    },
}

impl CodeMemory {
    /// A fixed word per variant, to count errors by.
    pub fn reason(&self) -> &'static str {
        match self {
            CodeMemory::Refused(_) => "code_memory_refused",
            CodeMemory::Full { .. } => "code_memory_full",
        }
    }
}
