//! The four types of the trace language, and how their values are held as bits.
//!
//! Problem: a trace mixes numbers, objects and raw pointers, and every layer (evaluator, folder, machine
//! code, exit buffer) has to pass them through untyped 64-bit cells. Design: a type belongs to a *value id*,
//! never to a place; a cell is a plain `u64` ([`Bits`]) whose meaning is known from the value that names it.
//!
//! Invariant: a [`Type::Ref`] is an object that the host's collector knows (or null); a [`Type::Addr`] never
//! is a root. Example: `f64` 1.5 as bits is `f64::to_bits(1.5)`; an `Int` is its two's complement.

use std::fmt;

/// A value as the untyped 64-bit cell in which exit buffers and evaluator registers hold it.
pub type Bits = u64;

/// The type of a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[repr(u8)]
pub enum Type {
    /// A 64-bit integer; arithmetic wraps unless the op says otherwise.
    Int,
    /// An IEEE 754 double.
    Float,
    /// An object that the host's collector knows, or null.
    Ref,
    /// A raw address; never a root of the host's collector.
    Addr,
}

impl Type {
    /// Every type, in the order of their discriminants.
    pub const ALL: [Type; 4] = [Type::Int, Type::Float, Type::Ref, Type::Addr];

    /// The name in the text form.
    pub fn name(self) -> &'static str {
        match self {
            Type::Int => "int",
            Type::Float => "float",
            Type::Ref => "ref",
            Type::Addr => "addr",
        }
    }

    /// The letter that default value names of this type begin with: `i1`, `f2`, `p3`, `a4`, as in the seeds.
    pub fn letter(self) -> char {
        match self {
            Type::Int => 'i',
            Type::Float => 'f',
            Type::Ref => 'p',
            Type::Addr => 'a',
        }
    }

    /// The type with that name in the text form.
    pub fn from_name(name: &str) -> Option<Type> {
        Type::ALL.into_iter().find(|ty| ty.name() == name)
    }

    /// The type whose default value names begin with `letter`.
    pub fn from_letter(letter: char) -> Option<Type> {
        Type::ALL.into_iter().find(|ty| ty.letter() == letter)
    }

    /// Whether values of this type are pointers (`Ref` or `Addr`).
    pub fn is_pointer(self) -> bool {
        matches!(self, Type::Ref | Type::Addr)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
