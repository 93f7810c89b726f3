//! Notes on code: what debuggers and profilers want to know of it.
//!
//! Problem: a tool that has an address in machine code asks how to find its caller, and where in the program
//! that is. Design: unwind information (`unwind.rs`), and for each part of the code the snapshot that was
//! recorded last before the instruction that the part is for: its words say where the host would go on.
//! What marks the code, for the listing, tells which instruction that is; in a tree of traces the marks count
//! on from one trace to the next.
//!
//! Invariant: places are sorted and do not overlap. Example: `Place { start: 64, end: 90, words }`.

use cranelift_codegen::{Final, MachSrcLoc};
use tracelift_core::snapshot::{Frame, Words};
use tracelift_core::{Inst, Trace};

use crate::listing::location;

/// What is known of a piece of code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// An `.eh_frame` section, which stands [`section_offset`](crate::section_offset) after the code's
    /// start; empty if there is none.
    pub unwind: Vec<u8>,
    /// What its parts are for.
    pub places: Vec<Place>,
}

impl Notes {
    /// Those of a tree's code, from what marks it.
    pub(crate) fn new<'a>(
        unwind: Vec<u8>,
        tree: impl Iterator<Item = &'a Trace>,
        marks: &[MachSrcLoc<Final>],
    ) -> Notes {
        Notes { unwind, places: places(tree, marks) }
    }
}

/// A part of a tree's code and a place in the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its first byte.
    pub start: u32,
    /// The one after its last.
    pub end: u32,
    /// The host's words of the innermost frame there.
    pub words: Words,
}

/// The places of a tree's code.
fn places<'a>(tree: impl Iterator<Item = &'a Trace>, marks: &[MachSrcLoc<Final>]) -> Vec<Place> {
    // By instruction, those of all traces in a row: the innermost frame of the snapshot.
    let mut frames: Vec<Option<&Frame>> = Vec::new();
    for trace in tree {
        let frame_of = |inst: &Inst| trace.snapshot_of(inst).and_then(|snapshot| snapshot.frames.last());
        let mut last = trace.insts.iter().find_map(frame_of);
        for inst in &trace.insts {
            last = frame_of(inst).or(last);
            frames.push(last);
        }
    }
    let mut places: Vec<Place> = Vec::new();
    for mark in marks {
        let bits = mark.loc.bits();
        if matches!(bits, location::RETURN | u32::MAX) || bits & !location::STUB == location::ENTRY {
            continue;
        }
        let index = bits & !location::STUB & !location::PREFETCH;
        let Some(&Some(frame)) = frames.get(index as usize) else { continue };
        match places.last_mut() {
            Some(last) if last.end == mark.start && last.words == frame.words => last.end = mark.end,
            _ => places.push(Place { start: mark.start, end: mark.end, words: frame.words.clone() }),
        }
    }
    places.sort_by_key(|place| place.start);
    places
}
