//! The exit table: what compiled code leaves behind when it returns.
//!
//! Problem: a guard fails in code that keeps the host's variables in registers; the runtime must find each
//! value. Design: an exit stub stores the values that the exit's snapshot mentions to the exit buffer, in the
//! order of [`live_values`], and the code returns `(trace number << 32) | exit number`. Here is the table
//! from exit number to kind, instruction, snapshot and values. The exit buffer's address is a constant in the
//! code.
//!
//! Invariant: `exits[n].number == n`; cell `k` of the buffer holds `exits[n].live[k]` after exit `n`,
//! integers and addresses as they are, doubles as their bits. Cells after these are unspecified.
//!
//! Example: the second guard of trace 7 fails: the code returns `7 << 32 | 1`.

use std::sync::Arc;

use tracelift_core::{live_values, ExitKind, Op, SnapId, Trace, Value};

/// The exit number that means: a slot's tag at entry was not the expected one. Nothing was changed.
pub const ENTRY_REFUSED: u32 = u32::MAX;

/// The exit number in what the code returned.
#[inline]
pub fn exit_number(returned: u64) -> u32 {
    returned as u32
}

/// The trace number in what the code returned.
#[inline]
pub fn trace_number(returned: u64) -> u32 {
    (returned >> 32) as u32
}

/// One exit of a compiled trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExitInfo {
    /// Its number: its position among the trace's exits ([`Trace::exits`]).
    pub number: u32,
    /// Why it is taken.
    pub kind: ExitKind,
    /// Index of the first guard that leaves by it, or of the `finish`, in the trace.
    pub inst: usize,
    /// Its snapshot, if it has one.
    pub snap: Option<SnapId>,
    /// What lies in the exit buffer, by cell.
    pub live: Arc<[Value]>,
}

/// The exits of a trace.
pub(crate) struct ExitTable {
    /// By number. Those with one snapshot share their list of values.
    pub exits: Vec<ExitInfo>,
    /// The exit by which each instruction leaves, if it does.
    pub numbers: Vec<Option<u32>>,
}

impl ExitTable {
    pub(crate) fn of(trace: &Trace) -> ExitTable {
        let mut by_snapshot: Vec<Option<Arc<[Value]>>> = vec![None; trace.snapshots.len()];
        let nothing: Arc<[Value]> = Arc::from(Vec::new());
        let numbers = trace.exit_numbers();
        let mut exits: Vec<ExitInfo> = Vec::with_capacity(trace.snapshots.len());
        for (index, (inst, &number)) in trace.insts.iter().zip(&numbers).enumerate() {
            // Its first instruction is what an exit is known by.
            let Some(number) = number.filter(|&number| number as usize == exits.len()) else { continue };
            let live = match inst.snap {
                _ if !inst.op.is_guard() || inst.op == Op::CallUnit => live_values(trace, inst).into(),
                Some(snap) => match by_snapshot.get_mut(snap.index()) {
                    Some(shared) => shared.get_or_insert_with(|| live_values(trace, inst).into()).clone(),
                    None => nothing.clone(),
                },
                None => nothing.clone(),
            };
            exits.push(ExitInfo { number, kind: inst.exit, inst: index, snap: inst.snap, live });
        }
        ExitTable { exits, numbers }
    }
}
