//! What is done with a trace once its code is there.
//!
//! Problem: code may come at once, or later from another thread, when the recording is long over and the
//! program is elsewhere. Design: who ends a recording says what its trace is for ([`Role`]) and where it goes
//! on ([`Onward`]); [`Vm::attach`] is the only place where code becomes part of a loop, of an exit or of a
//! unit, and [`Vm::came_to_nothing`] the only one where such a trace is given up. Invariant: an [`Attach`]
//! that waits holds no pointer to the host's frames: which of a loop's entries a trace goes on in is then
//! decided by the slots that it was recorded with, or, where there was none yet, when the program comes there
//! ([`Vm::next`]).
//!
//! ```text
//! Side(exit 3 of trace 0), onward: loop_7f00, trace 0: exit 3 leads to the code, its end to trace 0
//! ```

use crate::abort::Failure;
use crate::away::{Attach, EntryThere, Onward, Role};
use crate::ids::{Key, TraceId};
use crate::job::NoCode;
use crate::vm::Vm;

impl Vm {
    /// The code is there.
    pub(crate) fn attach(&mut self, attach: Attach, number: TraceId) {
        let Attach { key, role, onward, ends } = attach;
        match role {
            Role::Loop => self.attach_loop(key, number),
            Role::Root => {
                self.attach_loop(key, number);
                self.judge_anew(key);
                self.go_onward(number, onward);
            }
            Role::Side(at) => {
                self.go_onward(number, onward);
                self.attach_side(at, number);
            }
            Role::Unit(_) => {
                self.totals.units.compiled += 1;
                self.unit_is_there(key);
            }
        }
        // What calls a unit ends there because it is meant to.
        if let Some(no) = ends.filter(|_| self.traces.get(number).is_some_and(|of| of.tree.calls.is_empty()))
        {
            self.tell(|vm| format!("{} ends: {no}", vm.shown(number)));
        }
    }

    /// There will be no code.
    pub(crate) fn came_to_nothing(&mut self, key: Key, role: Role, (reason, sentence): &NoCode) {
        let no = Failure::new(reason.clone(), sentence);
        match role {
            Role::Side(at) => self.give_up_side(at, &no),
            Role::Loop | Role::Root => self.give_up(key, no),
            Role::Unit(unit) => {
                self.give_up(key, no);
                self.units.take(unit);
            }
        }
    }

    fn go_onward(&mut self, number: TraceId, onward: Option<Onward>) {
        let Some(Onward { key, entry }) = onward else { return };
        let target = match entry {
            EntryThere::Fitting(base) => {
                let frame = self.traces.get(number).map_or(0, |trace| trace.tree.end);
                // SAFETY: the host has just recorded in this frame, or it would be known.
                unsafe { self.fitting_at(key, frame, base) }
            }
            EntryThere::Known(target) => {
                let is_entered = |target: &TraceId| {
                    self.locations.get(&key).is_some_and(|location| location.entries.contains(target))
                };
                target.filter(is_entered)
            }
        };
        if let Some(target) = target {
            self.link_finish(number, target);
        }
    }

    /// The trace is handed over: what its frame says is looked at now.
    pub(crate) fn know_onward(&self, onward: Option<Onward>, frame: i32) -> Option<Onward> {
        let Onward { key, entry } = onward?;
        let known = match entry {
            // SAFETY: the host has just recorded in this frame.
            EntryThere::Fitting(base) => unsafe { self.fitting_at(key, frame, base) },
            EntryThere::Known(target) => target,
        };
        Some(Onward { key, entry: EntryThere::Known(known) })
    }

    /// The entry of a location that takes the slots, `frame` slots from `base`.
    ///
    /// # Safety
    /// There are as many slots as the location's code reads.
    unsafe fn fitting_at(&self, key: Key, frame: i32, base: *const u8) -> Option<TraceId> {
        let location = self.locations.get(&key)?;
        let base = base.wrapping_offset(frame as isize * self.schema.slots().stride as isize);
        // SAFETY: promised by the caller.
        unsafe { self.traces.fitting(&location.entries, base, &self.schema) }
    }
}
