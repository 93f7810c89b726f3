//! Pieces of code, as tools are told of them.
//!
//! Problem: each tool wants another form of the same. Design: a [`Piece`] has all that there is to tell of a
//! piece of code when it is installed, and [`piece_name`] makes its name from the trace's. Invariant:
//! nothing here does anything.
//!
//! Example: the region of the loop in line 3 is named `region of loop sum.lua:3 main`.

use std::io;
use std::path::PathBuf;

use tracelift_cranelift::{Place, TreeId};

use crate::ids::{ExitPoint, TraceId};

/// Who is to be told of machine code.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tools {
    /// `perf report`, by lines in `/tmp/perf-PID.map`.
    pub perf_map: bool,
    /// `perf inject --jit`, by `jit-PID.dump` in the folder that the variable `JITDUMPDIR` names, or the
    /// current one.
    pub jitdump: bool,
    /// gdb, by its interface for just-in-time compilers.
    pub gdb: bool,
    /// The host, which asks by `tl_code_at`.
    pub host: bool,
}

impl Tools {
    /// Whether there is anybody to be told.
    pub(crate) fn any(self) -> bool {
        self != Tools::default()
    }
}

/// What a piece of code is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CodeKind {
    /// A trace that begins at a loop's head.
    Loop(TraceId),
    /// A trace that begins where a function does, or goes on.
    Entry(TraceId),
    /// A side trace, and the exit where it begins.
    Side(TraceId, ExitPoint),
    /// All traces of a unit so far.
    Unit(TraceId),
    /// A tree of traces as one function; the root.
    Region(TraceId),
    /// What leads into traces, and out of them.
    Glue,
    /// Code that the host has made.
    Host,
}

/// What a piece of code is called by tools; a trace is called so everywhere ([`crate::names::code_name`]).
pub(crate) fn piece_name(kind: CodeKind, title: &str) -> String {
    match kind {
        CodeKind::Region(_) => format!("region of {title}"),
        _ => title.to_string(),
    }
}

/// Who owns a piece of code, and frees it with all that he owns.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Owner {
    /// A trace.
    Tree(TreeId),
    /// The host, by the number that it knows its code by.
    Host(u32),
}

/// A piece of code that was installed.
pub(crate) struct Piece<'a> {
    pub owner: Owner,
    pub kind: CodeKind,
    /// See [`piece_name`].
    pub name: String,
    /// What the host knows its tree by.
    pub tree_owner: usize,
    pub address: usize,
    pub code: &'a [u8],
    /// An `.eh_frame` section that stands after the code; empty if there is none.
    pub unwind: &'a [u8],
    pub places: Vec<Place>,
}

/// A tool's file cannot be made.
pub(crate) type NoFile = (PathBuf, io::Error);

/// Says once that a tool's file cannot be written any more.
pub(super) fn complain(path: &std::path::Path, error: &io::Error) {
    eprintln!("tracelift: {}: {error}", path.display());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_named_by_what_it_is_and_where_it_begins() {
        let number = TraceId(3);
        let names =
            [CodeKind::Loop(number), CodeKind::Region(number)].map(|kind| piece_name(kind, "loop a.lua:7 f"));
        assert_eq!(names, ["loop a.lua:7 f", "region of loop a.lua:7 f"]);
    }
}
