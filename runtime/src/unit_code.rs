//! What the service does about units: how they are recorded, compiled, called and left.
//!
//! Problem: a unit's traces are compiled together, are entered by code only, and where one is left there are
//! frames that nobody has made. Design: a unit's recording is one of an entry that ends by a return; each
//! trace that is added is optimized alone, and the code of all is made anew. The host enters a unit by a
//! trace that it records for its interpreter's frames (a *gateway*: arguments from slots, a call of the unit
//! in the same frame, the end). When a unit is left, its exit's state is restored first, then that of each
//! caller, from what the callers have written; the host is given the frames of all. Invariant: nothing is
//! allocated when a unit is left.
//!
//! ```text
//! exit 1 of trace 3 (base 40), records: trace 3 exit 4 (base 20), trace 6 exit 0 (base 0)
//! =>  frames of trace 6 @0, trace 3 @20, trace 3 @40: the last one goes on
//! ```

use std::ffi::c_void;

use tracelift_core::ir::EntrySlot;
use tracelift_core::schema::TagId;
use tracelift_core::{ExitKind, Inst, Op, Trace, Type, UnitId, Value};
use tracelift_cranelift::LeftBy;

use crate::abort::AbortReason;
use crate::away::{Attach, Role};
use crate::compile::{CloseOutcome, Compiled};
use crate::exit::{self, Exit};
use crate::ids::{ExitPoint, Key, TraceId};
use crate::job::NoCode;
use crate::log::Stage;
use crate::plan;
use crate::publish::units_called;
use crate::recorder::{Finished, Recorder, Start};
use crate::restore::Host;
use crate::traces::{Left, TraceData};
use crate::tree::{Tree, Turns, Way};
use crate::units::{Limit, Record, Unit};
use crate::vm::Vm;

/// Why a function for some arguments is no unit: it neither calls nor has any other way to go.
const NO_CALLS: &str = "unit without calls";

impl Vm {
    /// Starts the recording of a unit at a function's entry; or says why not. See `tl_record_unit`.
    pub fn start_unit(&mut self, key: Key, base: *const u8) -> Result<(), &'static str> {
        let is_retired = |&unit: &UnitId| self.units.get(unit).is_some_and(|unit| unit.is_retired);
        if self.units.of(key..key + 1).iter().any(is_retired) {
            return Err("the function was a unit, and was left too often");
        }
        if !self.start_recording(key, base, 0) {
            return Err("a recording is in progress");
        }
        let unit = self.units.begin(key);
        if let Some(recorder) = &mut self.recording.recorder {
            recorder.start = Start::Unit(unit);
            recorder.begin_unit(unit);
        }
        Ok(())
    }

    /// The types of the arguments that have a payload, in order, of a unit that can be called: it has code,
    /// or is the one that is recorded.
    pub fn unit_takes(&self, unit: UnitId) -> Option<Vec<Type>> {
        let recorder = self.recording.recorder.as_ref();
        let own = recorder.filter(|recorder| recorder.start == Start::Unit(unit));
        let entry = match own {
            Some(recorder) => recorder.arguments().0,
            None => &self.units.get(unit).filter(|unit| unit.has_code())?.entry,
        };
        Some(entry.iter().filter_map(|slot| self.schema.tag(slot.tag).payload).collect())
    }

    /// Whether all units that a trace calls can still be called: it may have waited since.
    pub(crate) fn calls_what_is_there(&self, trace: &Trace) -> Result<(), NoCode> {
        let is_there = |unit| self.units.get(unit).is_some_and(Unit::has_code);
        match units_called(trace).into_iter().all(|(unit, _)| is_there(unit)) {
            true => Ok(()),
            false => Err((AbortReason::Abandoned, "a unit that it calls is gone".into())),
        }
    }

    /// The same of one that was compiled, while the program went on.
    pub(crate) fn still_calls_what_is_there(&self, tree: &Tree) -> Result<(), NoCode> {
        let is_there = |unit| self.units.get(unit).is_some_and(Unit::has_code);
        match tree.calls.iter().all(|&(unit, _)| Some(unit) == tree.unit || is_there(unit)) {
            true => Ok(()),
            false => Err((AbortReason::Abandoned, "a unit that it calls is gone".into())),
        }
    }

    /// The unit that a function is for these arguments, if it can be called: it has code, or is the one that
    /// is recorded. See `tl_find_unit`.
    pub fn find_unit(&self, key: Key, arguments: &[EntrySlot]) -> Option<UnitId> {
        if let Some(recorder) = &self.recording.recorder {
            if let (Start::Unit(unit), true) = (recorder.start, recorder.key == key) {
                let (entry, tags) = recorder.arguments();
                let is_same = entry.len() + tags.len() == arguments.len()
                    && entry.iter().chain(tags).all(|slot| arguments.contains(slot));
                if is_same {
                    return Some(unit);
                }
            }
        }
        self.units.find(key, arguments).map(|unit| unit.id)
    }

    /// Whether the function has a unit that can be called, whatever its arguments.
    pub fn has_unit(&self, key: Key) -> bool {
        self.units
            .of(key..key + 1)
            .iter()
            .any(|&unit| self.units.get(unit).is_some_and(|unit| unit.has_code()))
    }

    /// The host lets units call one another up to so many slots above the first frame; see `tl_unit_depth`.
    /// Returns whether there is memory for that.
    pub fn set_unit_depth(&mut self, slots: u32) -> bool {
        // Each frame moves the base by a slot at least, and the last one of each caller comes twice.
        let most = slots as usize + self.config.max_frames;
        self.exits.state.reserve_frames(2 * most)
            && self.exits.records.try_reserve(most).is_ok()
            && self.units.set_depth(slots)
    }

    /// Where the host puts the highest base of a frame that may call units; see `tl_unit_limit`.
    pub fn unit_limit(&mut self) -> *mut Limit {
        self.units.limit()
    }

    /// The recording of a unit has come to a return of this; see `tl_unit_return`.
    pub fn end_unit(&mut self, tag: TagId, value: Option<Value>) -> CloseOutcome {
        self.settle();
        let Some(recorder) = self.take_recorder() else {
            return CloseOutcome::Aborted(AbortReason::Misuse, "no recording is in progress".into());
        };
        let (key, role) = (recorder.key, Role::of(recorder.start));
        let result = self.compile_unit(recorder, role, tag, value);
        match self.outcome(key, role, result) {
            CloseOutcome::Aborted(AbortReason::Host(why), _) if why == NO_CALLS => CloseOutcome::Again,
            outcome => outcome,
        }
    }

    fn compile_unit(
        &mut self,
        recorder: Recorder,
        role: Role,
        tag: TagId,
        value: Option<Value>,
    ) -> Result<Compiled, NoCode> {
        let (key, owner) = (recorder.key, recorder.owner);
        let (needs, mut work, unit) = (recorder.needs(), recorder.work(), recorder.unit());
        // The call that leads here, and its return.
        work.inlined += u64::from(matches!(role, Role::Unit(_)));
        let Finished { trace, edges, sites, .. } = recorder.finish_unit(tag, value, &self.schema)?;
        let may_call =
            |inst: &Inst| inst.op == Op::CallUnit || inst.op.is_guard() && inst.exit == ExitKind::Guard;
        if matches!(role, Role::Unit(_)) && !trace.insts.iter().any(may_call) {
            return Err((AbortReason::Host(NO_CALLS.into()), String::new()));
        }
        let mut tree =
            Tree { key, root: self.traces.next_id(), owner, edges, work, sites, unit, ..Tree::default() };
        if let Role::Side(at) = role {
            let Some(of) = self.traces.get(at.trace) else {
                return Err((AbortReason::Abandoned, "the trace that it hangs on is gone".into()));
            };
            (tree.key, tree.root, tree.owner, tree.parent) =
                (of.tree.key, of.tree.root, of.tree.owner, Some(at));
        }
        if let (Role::Unit(unit), Some(of)) = (role, unit.and_then(|unit| self.units.get_mut(unit))) {
            debug_assert_eq!(of.id, unit, "a recording is of one unit");
            (of.entry, of.entry_tags) = (trace.entry.clone(), trace.entry_tags.clone());
        }
        let attach = Attach { key: tree.key, role, onward: None, ends: None };
        self.compile(*trace, needs, tree, attach)
    }

    /// A unit was left by an exit of this trace of it. Where that happens too often it is called no more.
    pub(crate) fn judge_unit(&mut self, at: TraceId) {
        let unit = self.traces.get(at).and_then(|trace| trace.tree.unit);
        let Some(unit) = unit.and_then(|unit| self.units.get_mut(unit)) else { return };
        if !self.budget.is_limited() || unit.is_retired || !unit.judged.is_due() {
            return;
        }
        let (now, id) = (self.timing.ticks.now(), unit.id);
        if unit.judged.look(now, |ticks| self.timing.ticks.ns(ticks)) {
            self.retire_unit(id);
        }
    }

    /// Nobody calls the unit any more, nor units that call it: it costs more than it gains. Its code stays,
    /// as callers may be on the native stack.
    fn retire_unit(&mut self, unit: UnitId) {
        let mut todo = vec![unit];
        while let Some(unit) = todo.pop() {
            let Some(retired) = self.units.get_mut(unit).filter(|unit| !unit.is_retired) else { continue };
            retired.is_retired = true;
            let key = retired.key;
            self.totals.units.retired += 1;
            self.tell(|vm| {
                format!("{} is retired: it is left too often", vm.name_of_code(Start::Unit(unit), key))
            });
            todo.extend(self.drop_callers(unit));
        }
    }

    /// Code that calls the unit is entered no more. Those of the callers that are units themselves are for
    /// the caller of this.
    fn drop_callers(&mut self, unit: UnitId) -> Vec<UnitId> {
        let calls = |(number, trace): (TraceId, &TraceData)| {
            let is_caller = trace.tree.calls.iter().any(|&(called, _)| called == unit);
            is_caller.then_some((number, trace.tree.parent.is_some(), trace.tree.unit))
        };
        let callers: Vec<_> = self.traces.alive().filter_map(calls).collect();
        let mut units = Vec::new();
        for (caller, is_side, of_unit) in callers {
            match of_unit {
                Some(of_unit) => units.push(of_unit),
                None if is_side => self.drop_side(caller, u64::from(self.config.side_threshold)),
                None => _ = self.drop_entry(caller),
            }
        }
        units
    }

    /// The function's next entry is to be the gateway's recording.
    pub(crate) fn unit_is_there(&mut self, key: Key) {
        self.gates.shut();
        let threshold = u64::from(self.config.threshold);
        let location = self.locations.entry(key).or_default();
        location.attempts.forgive();
        if location.entries.is_empty() {
            location.state = Default::default();
        }
        location.heat = location.heat.max(threshold + threshold / 2);
        if let Some(counter) = location.counter {
            self.counters.hasten(counter, 1);
        }
    }

    /// A trace that calls units was compiled: whoever enters it needs what these need.
    pub(crate) fn calls_units(&mut self, number: TraceId) {
        let calls = self.traces.get(number).map(|trace| trace.tree.calls.clone()).unwrap_or_default();
        for (unit, frame) in calls {
            if let Some(root) = self.units.get(unit).and_then(|unit| unit.root()) {
                self.leads_to(Way { from: number, frame }, root);
            }
        }
    }

    /// The units of these functions are no more, nor are units that call them; no code that calls one is
    /// entered any more. Returns the roots of their trees.
    pub(crate) fn forget_units(&mut self, low: Key, high: Key) -> Vec<TraceId> {
        let mut todo = self.units.of(low..high);
        let mut roots = Vec::new();
        while let Some(unit) = todo.pop() {
            let Some(gone) = self.units.take(unit) else { continue };
            roots.extend(gone.root());
            self.units.keep_cell(gone);
            todo.extend(self.drop_callers(unit));
        }
        roots
    }

    /// Restores the state after a unit was left, and that of its callers.
    ///
    /// # Safety
    /// As for [`Vm::exit`].
    #[cold]
    pub(crate) unsafe fn exit_unit(&mut self, left: LeftBy, context: *mut c_void) -> Exit<'_> {
        let at = ExitPoint::of_code(left.exit);
        let mut records = std::mem::take(&mut self.exits.records);
        let traces = &self.traces;
        let values = |at: ExitPoint| {
            let exits = traces.get(at.trace).map(|trace| &trace.resume.exits);
            exits.and_then(|exits| exits.get(at.exit.index())).map_or(0, |exit| exit.live as usize)
        };
        self.units.take_records(&mut records, values);
        let part = |at: ExitPoint| {
            let trace = traces.get(at.trace)?;
            Some(trace.tree.replaced.at(trace.exits.get(at.exit.index())?.progress))
        };
        let begun = records.iter().map(|record| record.at).chain([at]);
        let partial = begun.filter_map(part).sum::<f64>();
        let outermost = records.last().map_or(left.base, |record| record.base);
        let stride = self.schema.slots().stride as isize;
        let kind = self.traces.get(at.trace).map(|trace| trace.exits[at.exit.index()].kind);
        self.exits.state.frames.clear();
        for record in records.iter().rev() {
            if let Some(trace) = self.traces.get_mut(record.at.trace) {
                let cell = &mut trace.exits[record.at.exit.index()];
                cell.count += 1;
                if cell.plan.is_none() && plan::is_hot(cell.count) {
                    self.exits.hot = Some(record.at);
                    self.gates.shut();
                }
            }
            let distance = (record.base as isize - outermost as isize) / stride;
            // SAFETY: passed on from the caller.
            unsafe { self.restore_of_unit(record.at, record.base, distance as i32, Some(record), context) };
        }
        let outer = self.exits.state.frames.len() as u32;
        let distance = (left.base as isize - outermost as isize) / stride;
        // SAFETY: as above.
        unsafe { self.restore_of_unit(at, left.base, distance as i32, None, context) };
        let callers = records.len() as u64;
        self.totals.units.left += 1;
        self.totals.units.callers_left += callers;
        self.totals.units.deepest = self.totals.units.deepest.max(callers);
        records.clear();
        self.exits.records = records;
        let mut owner = 0;
        if let Some(trace) = self.traces.get_mut(at.trace) {
            owner = trace.tree.owner;
            let cell = &mut trace.exits[at.exit.index()];
            cell.count += 1;
            cell.callers += callers;
            if cell.plan.is_none() && plan::is_hot(cell.count) {
                self.exits.hot = Some(at);
                self.gates.shut();
            }
            let is_quiet = cell.heat() < cell.quiet_until;
            // It counts what it is asked.
            let is_due = (trace.is_left_in_vain(at.exit) && self.units.was_left(trace.tree.unit))
                | !is_quiet
                | trace.tree.turns.as_ref().is_some_and(Turns::is_due);
            self.exits.last = kind.filter(|_| is_due).map(|kind| Left { at, kind });
        }
        if self.log.wants(Stage::Exit) {
            let heading = format!("{}, in a unit, {outer} frames around", self.shown_exit(at));
            self.log.entry(Stage::Exit, &heading, String::new);
        }
        if let Some(sample) = self.timing.sample.as_mut().filter(|sample| sample.depth == self.nested.depth())
        {
            sample.left_by(partial, self.timing.ticks.now());
        }
        Exit { code: exit::code_of(kind), base: outermost, frames: &self.exits.state.frames, outer, owner }
    }

    /// Restores the state at one exit, and adds its frames, which lie so many slots above the first one.
    unsafe fn restore_of_unit(
        &mut self,
        at: ExitPoint,
        base: *mut u8,
        distance: i32,
        record: Option<&Record>,
        context: *mut c_void,
    ) {
        let Some(trace) = self.traces.get(at.trace) else { return };
        let frames = &mut self.exits.state.frames;
        let registers = &mut self.exits.state.registers;
        registers.clear();
        let buffer = match record {
            Some(record) => self.units.values(record),
            None => &self.code.cells.exit_buffer,
        };
        let first = frames.len();
        if let Some(plan) = &trace.exits[at.exit.index()].plan {
            // SAFETY: passed on from the caller.
            unsafe { plan.restore(buffer, context, base, registers) };
            frames.extend_from_slice(&plan.frames);
            if plan.lifts {
                self.reserves.spend(&trace.lifts);
                self.nested.needs_change();
            }
            self.exits.state.frames[first..].iter_mut().for_each(|frame| frame.base += distance);
            return;
        }
        let mut host = Host { schema: &self.schema, context, buffer, pool: &trace.pool, lifted: registers };
        // SAFETY: passed on from the caller.
        unsafe { host.restore(&trace.resume, at.exit, base, frames) };
        if !self.exits.state.registers.is_empty() {
            self.reserves.spend(&trace.lifts);
            self.nested.needs_change();
        }
        self.exits.state.frames[first..].iter_mut().for_each(|frame| frame.base += distance);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use tracelift_core::ExitKind;

    use crate::run::Action;
    use crate::support::units::{Sums, ENTRY};
    use crate::ticks::Ticks;
    use crate::tunables::{LEFTS_JUDGED, LEFT_TOO_OFTEN, SIDES_OF_UNITS, STRIKES};
    use crate::{CloseOutcome, Config};

    thread_local!(static CLOCK: Cell<u64> = const { Cell::new(1) });

    /// A host whose clock stands, but for what a test adds to it, and which has time for compiling.
    fn sums(side_threshold: u32) -> Sums {
        Sums::new(Config { side_threshold, ..Config::default() }, 1, |vm| {
            vm.budget.stands_at(1_000_000_000);
            vm.timing.ticks = Ticks::of_test(|| CLOCK.get());
        })
    }

    /// Calls that find no room for their callee, one in so many nanoseconds, until the unit is called no
    /// more; `most` at most.
    fn lefts(sums: &mut Sums, each: u64, most: u64) -> u64 {
        sums.set_limit(8);
        for left in 0..most {
            CLOCK.set(CLOCK.get() + each);
            if sums.call(19).is_none() {
                return left;
            }
            assert!(matches!(sums.next(), Action::Nothing));
        }
        most
    }

    #[test]
    fn a_unit_that_is_left_again_and_again_is_called_no_more() {
        let mut sums = sums(1_000_000);
        // The first look at the clock only begins.
        assert_eq!(lefts(&mut sums, LEFT_TOO_OFTEN - 100, 100_000), (STRIKES + 1) * LEFTS_JUDGED);
        assert_eq!(sums.host.vm.totals.units.retired, 1);
        assert!(!sums.host.vm.has_unit(ENTRY) && !sums.host.vm.has_loop(ENTRY));
        let base = sums.host.base();
        assert_eq!(
            sums.host.vm.start_unit(ENTRY, base),
            Err("the function was a unit, and was left too often")
        );
        sums.host.vm.forget(ENTRY, ENTRY + 1);
        assert!(sums.host.vm.start_unit(ENTRY, base).is_ok(), "it is another function's now");
    }

    #[test]
    fn a_unit_that_is_left_now_and_then_stays() {
        let mut sums = sums(1_000_000);
        assert_eq!(lefts(&mut sums, LEFT_TOO_OFTEN + 100, 5000), 5000);
        assert_eq!(sums.host.vm.totals.units.retired, 0);
    }

    /// Side traces are worth more in units, and more still where many callers are left with them.
    #[test]
    fn exits_of_units_are_hot_sooner() {
        let threshold = 40 * SIDES_OF_UNITS as u32;
        assert_eq!(sums(threshold).calls_until_asked(10), 40);
        assert_eq!(sums(threshold).calls_until_asked(13), 10);
    }

    /// Who calls a unit is judged by what that replaces, call by call.
    #[test]
    fn units_add_up_what_they_replace() {
        let mut sums = sums(SIDES_OF_UNITS as u32);
        assert_eq!(sums.calls_until_asked(10), 1);
        let outcome = sums.record_end(10, |tape, _| tape.constant(7));
        assert!(matches!(outcome, CloseOutcome::Compiled(_)), "{outcome:?}");
        let mut replaced_by = |n| {
            let before = *sums.host.vm.code.cells.replaced;
            assert_eq!(sums.call(n).map(|how| how.kind), Some(ExitKind::Finish));
            *sums.host.vm.code.cells.replaced - before
        };
        let [one, two, three] = [11, 12, 13].map(&mut replaced_by);
        assert!(one < two && two - one == three - two, "{one} {two} {three}");
    }

    /// To leave it costs more than the few bytecodes that it has replaced.
    #[test]
    fn the_gateway_of_a_unit_that_is_left_at_once_rests() {
        let mut sums = sums(1_000_000);
        let is_called = |_: &u64| {
            CLOCK.set(CLOCK.get() + LEFT_TOO_OFTEN + 100);
            sums.call(10).is_some_and(|_| matches!(sums.next(), Action::Nothing))
        };
        assert!((0..10_000).take_while(is_called).count() < 10_000);
        let totals = &sums.host.vm.totals;
        assert_eq!((totals.rests, totals.units.retired), (1, 0));
    }
}
