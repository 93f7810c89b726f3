//! An optimized trace against the recorded one that it was made from.
//!
//! Problem: where two runs end the same their states can be compared, but an optimized trace has fewer
//! guards, and any of them may be made to fail. Design: run the optimized trace; then run the recorded one,
//! stopped at the snapshot and in the iteration at which the other has left. Invariant: each run has a world
//! of its own, built alike by the caller. Example: with guard 3 forced, the objects that the exit makes are
//! those that the recorded trace has there.

use super::{compare_outcomes, End, Limits, Outcome};
use crate::ir::{ExitKind, Inst, Payload, Trace};
use crate::ops::Op;
use crate::schema::Schema;
use crate::types::Type;
use crate::world::World;

/// The types of a trace's results; a loop has none.
pub fn finish_types(trace: &Trace) -> Vec<Type> {
    match trace.insts.last() {
        Some(inst) if inst.op == Op::Finish => inst.args.iter().map(|&arg| trace.ty(arg)).collect(),
        _ => Vec::new(),
    }
}

/// Whether a run of an optimized trace may end as `found` where one of the recorded trace ends as `expected`:
/// at the same place, or earlier by a guard that stands for later ones. `has_delayed`: the optimizer has held
/// stores back. What the runs have done until then is for [`compare_with_recorded`] to tell.
pub fn may_end_as(recorded: &Trace, has_delayed: bool, expected: &Outcome, found: &Outcome) -> bool {
    let (is_cut, is_hoisted) = match found.end {
        End::OutOfFuel => (expected.end == End::OutOfFuel, false),
        End::Exit { kind, .. } => (false, kind == ExitKind::Hoisted),
        _ => (false, false),
    };
    // A hint may miss where the key is still found, and the barrier of a store that waits is taken to mind
    // every new object: then the optimized trace leaves, and the host does the operation.
    let has_hint = |inst: &Inst| matches!(inst.payload, Payload::Key { hint: Some(_), .. });
    (expected.iteration, expected.origin) == (found.iteration, found.origin)
        || is_cut
        || is_hoisted
        || has_delayed
        || recorded.insts.iter().any(has_hint)
}

/// Runs `optimized`, with one guard execution forced to fail if `force_guard` says so, and compares its end
/// with `recorded` at the same place: the same results, or the same frames and everything that they reach,
/// fresh objects compared modulo their addresses. `run` runs a trace in a new world. How the optimized trace
/// ended, or what differs.
pub fn compare_with_recorded(
    schema: &Schema,
    recorded: &Trace,
    optimized: &Trace,
    force_guard: Option<u64>,
    mut run: impl FnMut(&Trace, Limits) -> Result<(Outcome, World), String>,
) -> Result<Outcome, String> {
    let (found, found_world) = run(optimized, Limits { force_guard, ..Limits::default() })?;
    let stop_at = match found.end {
        End::Exit { .. } => Some((found.origin.ok_or("an exit without snapshot")?, found.iteration)),
        _ => None,
    };
    let limits = Limits { stop_at, stop_in: found.place, ..Limits::default() };
    let (expected, expected_world) = run(recorded, limits)?;
    let same_end = match found.end {
        End::Exit { .. } => expected.end == End::Stopped,
        _ => std::mem::discriminant(&found.end) == std::mem::discriminant(&expected.end),
    };
    if found.end == End::OutOfFuel && same_end {
        // Both were cut off, after as many instructions and not at the same place.
        return Ok(found);
    }
    if !same_end || found.iteration != expected.iteration {
        return Err(format!(
            "ended with {:?} in iteration {}, not with {:?} in {}",
            found.end, found.iteration, expected.end, expected.iteration
        ));
    }
    let types = finish_types(recorded);
    compare_outcomes(schema, (&expected, &expected_world), (&found, &found_world), &types)
        .map_err(|difference| difference.to_string())?;
    Ok(found)
}
