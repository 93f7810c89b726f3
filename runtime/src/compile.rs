//! From a closed recording to a trace that is entered.
//!
//! Problem: between a recording and its code lie some stages, each of which may say no, and none of which may
//! take the program down. Design: a recording becomes a job (`job.rs`), whose code is published
//! (`publish.rs`) and attached to its loop or exit here; each no has a typed reason. An optimizer that panics
//! on a valid trace is a bug, counted as `internal error`, and the program goes on in the interpreter (with
//! `verify`, as in tests, it is an error that tests see). Invariant: a trace is attached only when it is
//! published.
//!
//! ```text
//! close_recording -> job -> compile -> publish -> attached to its loop: Compiled
//!                       '-> handed over (background.rs), published later: HandedOver
//! ```

use std::sync::atomic::AtomicU64;
use std::sync::Arc;

use tracelift_core::Trace;

use crate::abort::{AbortReason, Failure};
use crate::away::{Attach, EntryThere, Onward, Role};
use crate::backend::Backend;
use crate::budget::Order;
use crate::ids::{ExitPoint, Key, TraceId};
use crate::job::{can_be_left, NoCode};
use crate::policy::{self, Work};
use crate::recorder::{CallSite, Closed, Finished, Recorder, Start};
use crate::run::Room;
use crate::tree::Tree;
use crate::tunables::BYTECODES_PER_CALL;
use crate::vm::Vm;
use crate::worker::{Made, Task};

/// How often a recording is taken again because slot types changed under it.
const MAX_RETRIES: u32 = 3;

/// What became of a recording.
#[derive(Debug)]
pub enum CloseOutcome {
    /// Compiled.
    Compiled(TraceId),
    /// Handed over to the thread that compiles: its code, if there will be some, is entered later.
    HandedOver,
    /// Slot types changed: record again at once.
    Again,
    /// Given up, for this reason.
    Aborted(AbortReason, String),
}

/// What has become of a job.
pub(crate) enum Compiled {
    /// Its code is attached.
    Here(TraceId),
    /// It was handed over.
    Later,
}

fn onward(link: Option<Key>, base: *const u8) -> Option<Onward> {
    link.map(|key| Onward { key, entry: EntryThere::Fitting(base) })
}

/// What is said of a recording of a unit that ends in another way.
const ENDS_BY_RETURN: &str = "a unit ends by tl_unit_return";

impl Vm {
    /// The recorded loop is back at its head; see `tl_record_close`.
    pub fn close_recording(&mut self) -> CloseOutcome {
        self.settle();
        let Some(recorder) = self.take_recorder() else {
            return CloseOutcome::Aborted(AbortReason::Misuse, "no recording is in progress".into());
        };
        let (key, start, needs) = (recorder.key, recorder.start, recorder.needs());
        let owner = recorder.owner;
        let work = recorder.work();
        let base = recorder.base();
        let Start::Loop { retries } = start else {
            return self.misused(recorder, "only what began at a loop's head closes");
        };
        if let Some(outcome) = self.has_missed(&recorder) {
            return outcome;
        }
        let result = match recorder.close(&self.schema) {
            Ok(Closed::Loop(Finished { trace, edges, passed, sites, to_come })) => {
                let root = self.traces.next_id();
                let tree = Tree { key, root, owner, edges, passed, work, sites, to_come, ..Tree::default() };
                let attach = Attach { key, role: Role::Loop, onward: None, ends: None };
                self.look_at_calls(work, &tree.sites).and_then(|()| {
                    if can_be_left(&trace, &self.schema) {
                        return self.compile(*trace, needs, tree, attach);
                    }
                    let sentence = "nothing can leave the loop: it has no guard of any kind";
                    Err((AbortReason::Misuse, sentence.into()))
                })
            }
            Ok(Closed::Again) if retries < MAX_RETRIES => {
                self.totals.retaken += 1;
                self.recording.asked = Some(key).filter(|_| self.recording.was_asked);
                self.start_recording(key, base, retries + 1);
                return CloseOutcome::Again;
            }
            Ok(Closed::Again) => Err((AbortReason::Unstable, "slot types kept changing".into())),
            Err(failure) => Err(failure),
        };
        self.outcome(key, Role::Loop, result)
    }

    /// What has become of a recording that was to be compiled.
    pub(crate) fn outcome(&mut self, key: Key, role: Role, result: Result<Compiled, NoCode>) -> CloseOutcome {
        match result {
            Ok(Compiled::Here(number)) => CloseOutcome::Compiled(number),
            Ok(Compiled::Later) => CloseOutcome::HandedOver,
            Err(no) => {
                self.came_to_nothing(key, role, &no);
                CloseOutcome::Aborted(no.0, no.1)
            }
        }
    }

    /// The recording has come to the location `link`, where code goes on; see `tl_record_link`.
    pub fn link_recording(&mut self, link: Key) -> CloseOutcome {
        self.settle();
        let Some(recorder) = self.take_recorder() else {
            return CloseOutcome::Aborted(AbortReason::Misuse, "no recording is in progress".into());
        };
        self.recorded(recorder, Some(link), None)
    }

    /// The recording ends before something that cannot be recorded, where the interpreter goes on; see
    /// `tl_record_end`.
    pub fn end_recording(&mut self, reason: AbortReason) -> CloseOutcome {
        self.settle();
        let Some(recorder) = self.take_recorder() else {
            return CloseOutcome::Aborted(AbortReason::Misuse, "no recording is in progress".into());
        };
        let at = self.place_of_recording(&recorder);
        let name = reason.name().to_string();
        let outcome = self.recorded(recorder, None, Some(Failure { reason, sentence: String::new(), at }));
        if let CloseOutcome::Compiled(_) | CloseOutcome::HandedOver = outcome {
            *self.totals.ends.entry(name).or_default() += 1;
        }
        outcome
    }

    /// A recording goes on at a location, or ends.
    fn recorded(&mut self, recorder: Recorder, link: Option<Key>, ends: Option<Failure>) -> CloseOutcome {
        if recorder.unit().is_some() {
            return self.misused(recorder, ENDS_BY_RETURN);
        }
        let (key, role) = (recorder.key, Role::of(recorder.start));
        let result = match role {
            Role::Side(at) => self.compile_side(recorder, at, link, ends),
            Role::Loop | Role::Root | Role::Unit(_) => self.compile_root(recorder, link, ends),
        };
        self.outcome(key, role, result)
    }

    /// The recording ends as it cannot; what failed before comes first.
    fn misused(&mut self, mut recorder: Recorder, sentence: &str) -> CloseOutcome {
        recorder.fail(AbortReason::Misuse, sentence);
        let failure = recorder.failure().cloned();
        self.gates.shut();
        self.recording.recorder = Some(recorder);
        self.abort_recording(AbortReason::Misuse);
        let (reason, sentence) = failure.unwrap_or((AbortReason::Misuse, sentence.into()));
        CloseOutcome::Aborted(reason, sentence)
    }

    /// A recording that began at a location does not come back to it by a jump: it ends at another one, or
    /// where the interpreter takes over.
    fn compile_root(
        &mut self,
        recorder: Recorder,
        link: Option<Key>,
        ends: Option<Failure>,
    ) -> Result<Compiled, NoCode> {
        let (key, owner, base) = (recorder.key, recorder.owner, recorder.base());
        let (needs, work) = (recorder.needs(), recorder.work());
        let Finished { trace, edges, passed, sites, .. } = recorder.finish(&self.schema)?;
        self.look_at_calls(work, &sites)?;
        let root = self.traces.next_id();
        let (end, room) = self.end_of(&trace, link, key);
        let tree = Tree { key, root, owner, link, end, room, edges, passed, work, sites, ..Tree::default() };
        self.compile(*trace, needs, tree, Attach { key, role: Role::Root, onward: onward(link, base), ends })
    }

    /// Code that does little between two calls of the host takes longer than the interpreter.
    fn look_at_calls(&self, work: Work, sites: &[CallSite]) -> Result<(), NoCode> {
        let calls = sites.len() as u64;
        if self.budget.is_limited() && work.steps < calls * BYTECODES_PER_CALL {
            return Err((AbortReason::MostlyCalls, format!("{} bytecodes, {calls} calls", work.steps)));
        }
        Ok(())
    }

    /// In which frame a trace in the tree of `key` ends that goes on at a location, and the cell that says
    /// how much room the code there needs.
    fn end_of(&mut self, trace: &Trace, link: Option<Key>, key: Key) -> (i32, Option<Arc<AtomicU64>>) {
        let Some(link) = link else { return (0, None) };
        let end = trace.insts.last().map_or(0, |last| trace.last_frame(last));
        let location = self.locations.entry(link).or_default();
        if location.entries.is_empty() && link != key {
            location.wanted_by = Some(key);
        }
        (end, location.room.clone())
    }

    fn compile_side(
        &mut self,
        recorder: Recorder,
        at: ExitPoint,
        link: Option<Key>,
        ends: Option<Failure>,
    ) -> Result<Compiled, NoCode> {
        let (needs, base, work) = (recorder.needs(), recorder.base(), recorder.work());
        let Finished { trace, edges, passed, sites, .. } = recorder.finish(&self.schema)?;
        let Some(of) = self.traces.get(at.trace) else {
            return Err((AbortReason::Abandoned, "the trace that it hangs on is gone".into()));
        };
        let (key, root, owner) = (of.tree.key, of.tree.root, of.tree.owner);
        let (end, room) = self.end_of(&trace, link, key);
        let tree = Tree {
            key,
            root,
            owner,
            parent: Some(at),
            link,
            end,
            room,
            edges,
            passed,
            work,
            sites,
            ..Tree::default()
        };
        let attach = Attach { key, role: Role::Side(at), onward: onward(link, base), ends };
        self.compile(*trace, needs, tree, attach)
    }

    /// The recording ends, in whatever way: what it took is accounted for.
    pub(crate) fn take_recorder(&mut self) -> Option<Recorder> {
        let mut recorder = self.recording.recorder.take()?;
        if let Some(notes) = &mut self.notes {
            notes.recorded(recorder.key, recorder.steps.take().unwrap_or_default());
        }
        self.note_going_on();
        self.budget.recorded(recorder.trace().op_count());
        self.recording.was_asked = recorder.is_asked;
        Some(recorder)
    }

    /// Gives the recording up; see `tl_record_abort`. A failure that the recorder found itself goes first.
    pub fn abort_recording(&mut self, reason: AbortReason) {
        if let Some(recorder) = self.take_recorder() {
            let (reason, sentence) = recorder.failure().cloned().unwrap_or((reason, String::new()));
            let no = Failure { reason, sentence, at: self.place_of_recording(&recorder) };
            match recorder.start {
                Start::Loop { .. } | Start::Entry => self.give_up(recorder.key, no),
                Start::Unit(unit) => {
                    self.units.take(unit);
                    self.give_up(recorder.key, no);
                }
                Start::Side(at) => self.give_up_side(at, &no),
            }
        }
    }

    /// Makes a recorded trace code, or hands it over to who does.
    pub(crate) fn compile(
        &mut self,
        recorded: Trace,
        needs: Room,
        tree: Tree,
        attach: Attach,
    ) -> Result<Compiled, NoCode> {
        self.calls_what_is_there(&recorded)?;
        let ops = recorded.op_count() as u64;
        let side = tree.parent.map(|at| self.rent_of_side(at));
        let rent = side.unwrap_or_else(|| self.rent_of(tree.key));
        let dearer = if side.is_some() { 1.0 } else { self.dearer(&tree) };
        let is_outgrown = tree.parent.is_none()
            && self.locations.get(&tree.key).is_some_and(|location| location.outgrown.is_some());
        let is_bought = tree.parent.map_or_else(|| self.is_bought(tree.key), |at| self.is_in_price(at));
        let is_free = !self.recording.was_asked || is_outgrown || is_bought;
        if !is_free && !self.budget.affords(Order { ops, dearer }, rent) {
            return Err((AbortReason::TooCostly, format!("{ops} operations")));
        }
        self.budget.begin();
        self.code.bounds.begin();
        let end = tree.end;
        let made = self.job(recorded, needs, tree).map(|job| {
            let later = Attach { onward: self.know_onward(attach.onward, end), ..attach.clone() };
            self.hand_over(job, later, ops).err()
        });
        let result = match made {
            Ok(Some(task)) => Some(self.compile_here(task)),
            Ok(None) => None,
            Err(no) => Some(Err(no)),
        };
        self.code.bounds.end();
        let Some(result) = result else {
            self.note_going_on();
            return Ok(Compiled::Later);
        };
        let compile_ns = self.budget.end(ops);
        self.note_going_on();
        let number = result?;
        if let Some(trace) = self.traces.get_mut(number) {
            trace.worth.compile_ns = compile_ns;
        }
        self.attach(attach, number);
        Ok(Compiled::Here(number))
    }

    /// How many times its price has to be there for the loop that was recorded.
    fn dearer(&self, tree: &Tree) -> f64 {
        let pace = self.locations.get(&tree.key).map(|location| &location.pace);
        pace.map_or(1.0, |pace| policy::dearer(tree.work, self.prices, pace))
    }

    fn compile_here(&mut self, task: Task) -> Result<TraceId, NoCode> {
        let Backend::Ready(ready) = &mut self.code.backend else {
            return Err((AbortReason::Internal, "there is no code generator".into()));
        };
        let Some(compiler) = &mut ready.compiler else {
            return Err((AbortReason::Internal, "the compiler is away".into()));
        };
        match task.run(compiler) {
            Made::Trace(done) => self.publish(*done),
            Made::Region(_) => Err((AbortReason::Internal, "it is a region".into())),
        }
    }

    pub(crate) fn attach_loop(&mut self, key: Key, number: TraceId) {
        self.gates.shut();
        self.replace_outgrown(key);
        let location = self.locations.entry(key).or_default();
        let pins = location.pins();
        location.compiled(number);
        location.rent_since = self.budget.ran;
        let (more, counter) = (location.pins() - pins, location.counter);
        (0..more).for_each(|_| counter.into_iter().for_each(|counter| self.counters.pin(counter)));
        self.note_room(key);
    }

    /// Keys from `low` up to and without `high` are no longer valid: nobody enters their code any more. It is
    /// freed at once, or, if code that calls the host may be on the native stack, when that is over.
    pub fn forget(&mut self, low: Key, high: Key) {
        self.note_forgotten(low, high);
        self.cancel(low, high);
        let aside = self.recording.aside.len();
        self.recording.aside.retain(|recorder| !(low..high).contains(&recorder.key));
        let dropped = (aside - self.recording.aside.len()) as u64;
        if dropped > 0 {
            *self.totals.aborts.entry(AbortReason::Abandoned.name().to_string()).or_default() += dropped;
        }
        if self.recording.recorder.as_ref().is_some_and(|recorder| (low..high).contains(&recorder.key)) {
            self.recording.recorder = None;
            *self.totals.aborts.entry(AbortReason::Abandoned.name().to_string()).or_default() += 1;
        }
        let gone: Vec<Key> = self.locations.keys().copied().filter(|key| (low..high).contains(key)).collect();
        let units = self.forget_units(low, high);
        let is_any_gone = !gone.is_empty() || !units.is_empty();
        self.doom(&units);
        for key in gone {
            if self.config.count_iterations {
                self.place_of(key);
                let stats = self.stats_of_place(key);
                self.totals.freed.places.extend(stats);
            }
            self.learn_of(key);
            let location = &self.locations[&key];
            for _ in 0..location.pins() {
                location.counter.into_iter().for_each(|counter| self.counters.unpin(counter));
            }
            location.counter.into_iter().for_each(|counter| self.counters.renew(counter));
            let roots: Vec<TraceId> = location.entries.iter().chain(&location.discarded).copied().collect();
            self.doom(&roots);
            let room = self.locations.remove(&key).and_then(|location| location.room);
            self.keep_room(key, room);
        }
        if is_any_gone {
            self.gates.shut();
            self.free_doomed();
        }
    }

    /// Other code that goes on at a forgotten location reads the room that it needs there. That code is
    /// linked again when the location has new code, whose needs it must then read.
    fn keep_room(&mut self, key: Key, room: Option<Arc<AtomicU64>>) {
        let is_recording = self.recording.recorder.is_some() || !self.recording.aside.is_empty();
        let Some(room) = room.filter(|room| is_recording || Arc::strong_count(room) > 1) else { return };
        self.locations.entry(key).or_default().room = Some(room);
        self.note_room(key);
    }

    /// Nobody comes to these trees any more; they are freed as soon as they can be.
    fn doom(&mut self, roots: &[TraceId]) {
        self.lead_away_from(roots);
        self.nested.doomed.extend(roots);
    }

    /// The same where no frame of them can lie on a native stack: they are freed now.
    pub(crate) fn free_trees(&mut self, roots: &[TraceId]) {
        self.lead_away_from(roots);
        self.free_all(roots);
    }

    fn lead_away_from(&mut self, roots: &[TraceId]) {
        for number in roots.iter().flat_map(|&root| self.tree_of(root)).collect::<Vec<_>>() {
            self.leave_region(number);
            self.unlink_all(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tracelift_core::schema::LayoutSpec;
    use tracelift_core::ExitKind;
    use tracelift_cranelift::Compiler;

    use super::*;
    use crate::backend;
    use crate::ids::ExitId;
    use crate::job::{self, Done, Job};
    use crate::support::{int, sum, Host};
    use crate::Config;

    const HEAD: Key = 1;

    fn host() -> Host {
        let mut host = Host::new(Config { threshold: 1, ..Config::exact() });
        host.frame[..3].copy_from_slice(&[int(0), int(0), int(1000)]);
        host
    }

    /// The loop, recorded; what has become of its tree is for the test to say.
    fn job(host: &mut Host, change: impl FnOnce(&mut Tree)) -> Job {
        host.begin(HEAD, sum);
        let recorder = host.vm.take_recorder().unwrap();
        let (needs, work) = (recorder.needs(), recorder.work());
        let Ok(Closed::Loop(Finished { trace, edges, .. })) = recorder.close(&host.vm.schema) else {
            panic!("the loop does not close")
        };
        let mut tree = Tree { key: HEAD, root: host.vm.traces.next_id(), edges, work, ..Tree::default() };
        change(&mut tree);
        host.vm.job(*trace, needs, tree).unwrap()
    }

    /// What comes of a job on a thread of its own, with a code generator of its own.
    fn elsewhere(host: &Host, job: Job) -> Done {
        let options = backend::options(&host.vm.config);
        let run = move || job::compile(job, &mut Compiler::new(options).unwrap());
        std::thread::spawn(run).join().unwrap()
    }

    #[test]
    fn a_job_is_done_on_another_thread_and_published_on_this_one() {
        let mut host = host();
        let job = job(&mut host, |_| {});
        assert_eq!(Arc::strong_count(&host.vm.schema), 2, "the job costs a count and no copy");
        let layouts = job.schema.layouts().len();
        host.vm.schema_mut().add_layout(LayoutSpec { name: "Late".into(), size: 8 });
        assert_eq!(job.schema.layouts().len(), layouts, "what is declared later is not seen by the job");
        assert_eq!(host.vm.schema().layouts().len(), layouts + 1);
        let done = elsewhere(&host, job);
        assert_eq!(host.vm.stats().compile.traces, 0, "it waits to be published");
        let number = host.vm.publish(done).unwrap();
        host.vm.attach_loop(HEAD, number);
        for n in [1000, 10, 0] {
            host.frame[..3].copy_from_slice(&[int(0), int(0), int(n)]);
            assert_eq!(host.run(HEAD), Some((ExitKind::LoopEnd, 0)));
            assert_eq!(host.frame[..3], [int(n * (n - 1) / 2), int(n), int(n)]);
        }
    }

    /// A job on another thread and one in place lead to the same code and the same statistics.
    #[test]
    fn where_a_job_is_done_makes_no_difference() {
        let (mut here, mut there) = (host(), host());
        assert!(matches!(here.record(HEAD, sum), CloseOutcome::Compiled(TraceId(0))));
        let job = job(&mut there, |_| {});
        let done = elsewhere(&there, job);
        assert_eq!(there.vm.publish(done).unwrap(), TraceId(0));
        let [here, there] = [here, there].map(|host| host.vm.stats());
        assert!(!here.rewrites.is_empty() && here.rewrites == there.rewrites);
        let sizes = |stats: &crate::Stats| {
            let compile = &stats.compile;
            [compile.ops_recorded, compile.ops_optimized, compile.guards, compile.code_bytes, compile.traces]
        };
        assert_eq!(sizes(&here), sizes(&there));
        assert_eq!(here.traces[0].name, there.traces[0].name);
    }

    #[test]
    fn code_that_comes_too_late_is_not_published() {
        let mut host = host();
        let late = job(&mut host, |_| {});
        assert!(matches!(host.record(HEAD, sum), CloseOutcome::Compiled(TraceId(0))));
        let at = ExitPoint { trace: TraceId(7), exit: ExitId(0) };
        let orphan = job(&mut host, |tree| tree.parent = Some(at));
        let done = [late, orphan].map(|job| elsewhere(&host, job));
        let code = host.vm.stats().compile.code_bytes;
        let reasons = done.map(|done| host.vm.publish(done).unwrap_err().0);
        assert_eq!(reasons, [AbortReason::Internal, AbortReason::Abandoned]);
        assert_eq!((host.vm.stats().compile.code_bytes, host.vm.traces.next_id()), (code, TraceId(1)));
    }
}
