//! Compiling while the program goes on.
//!
//! Problem: a program waits for a millisecond or so where a trace is compiled, although another processor is
//! idle. Design: where that is wanted, a recorded trace is handed over to a thread ([`crate::worker`]), and
//! the program goes on as if it had not been recorded. At hot back edges and exits the VM looks whether the
//! code has come, publishes and attaches it; regions come about in the same way. As long as a task is away
//! nothing else is recorded: what is hot asks again soon ([`Vm::look_again`]), so there is no queue that
//! could hold what nobody wants any more. A recording that ends all the same, as it had begun before, waits
//! for what is away. What the thread takes is the program's own time, and counts as that of compiling. It
//! costs some hundredths of it more than in place (caches, locks), which is why in place is the default.
//!
//! Invariant: numbers are given to one trace at a time, since whoever makes a job has settled the one before.
//! What the recorded trace relied on is looked at again when its code is published, and the task is cancelled
//! when its function is forgotten.
//!
//! ```text
//! back edge 57: recorded, handed over     back edge 1,100: not yet     back edge 8,200: published, entered
//! ```

use tracelift_cranelift::Compiler;

use crate::abort::AbortReason;
use crate::away::{Attach, Away};
use crate::backend::{options, Backend};
use crate::config::Compiling;
use crate::ids::{Key, TraceId};
use crate::job::Job;
use crate::starts::Starts;
use crate::tree::Part;
use crate::tunables::{LOOK_AGAIN, MOST_LOOK_AGAIN};
use crate::vm::Vm;
use crate::worker::{Asked, Delivery, Made, Task, Worker};

impl Vm {
    /// Whether a task is away.
    #[inline]
    pub(crate) fn is_compiling(&self) -> bool {
        self.background.away.is_some()
    }

    /// Whether tasks are handed over.
    fn hands_over(&self) -> bool {
        self.config.compiling == Compiling::Thread && !self.background.is_refused
    }

    /// Hands a job over, if that is how this VM compiles; else it comes back.
    pub(crate) fn hand_over(&mut self, job: Job, attach: Attach, ops: u64) -> Result<(), Task> {
        let wanted = job.wanted.clone();
        self.send(Task::Trace(Box::new(job)))?;
        self.background.away = Some(Away::Trace { ops, attach, wanted });
        Ok(())
    }

    /// The same for a region.
    pub(crate) fn hand_over_region(&mut self, root: TraceId, parts: &[Part], task: Task) -> Result<(), Task> {
        self.send(task)?;
        self.background.away = Some(Away::Region { root, parts: parts.to_vec() });
        Ok(())
    }

    fn send(&mut self, task: Task) -> Result<(), Task> {
        if !self.hands_over() {
            return Err(task);
        }
        let Backend::Ready(ready) = &mut self.code.backend else { return Err(task) };
        let Some(compiler) = ready.compiler.take() else { return Err(task) };
        if self.background.worker.as_ref().is_some_and(Worker::is_lost) {
            self.background.worker = None;
        }
        let worker = match self.background.worker.take() {
            Some(worker) => worker,
            None => match Worker::start() {
                Ok(worker) => worker,
                Err(_) => {
                    // The system has no more threads.
                    self.background.is_refused = true;
                    ready.compiler = Some(compiler);
                    return Err(task);
                }
            },
        };
        self.background.looks = self.recording.starts.as_mut().map(Starts::looks_in_vain);
        match worker.hand_over(task, compiler) {
            Ok(()) => {
                self.background.used.handed_over += 1;
                self.background.worker = Some(worker);
                Ok(())
            }
            Err((task, compiler)) => {
                ready.compiler = Some(compiler);
                Err(task)
            }
        }
    }

    /// Looks whether code has come, and makes it ready to be entered.
    #[inline]
    pub(crate) fn look_for_code(&mut self) {
        if self.is_compiling() {
            self.look_closely();
        }
    }

    #[cold]
    fn look_closely(&mut self) {
        if self.recording.recorder.is_some() {
            return;
        }
        match &mut self.background.looks {
            Some(0) => return self.settle(),
            Some(looks) => {
                *looks -= 1;
                return;
            }
            None => {}
        }
        match self.background.worker.as_ref().map_or(Asked::Lost, Worker::ask) {
            Asked::Working => {}
            Asked::Delivered(delivery) => self.take(*delivery),
            Asked::Lost => self.lose(),
        }
    }

    /// Waits for what is away: the compiler, or the next number, is wanted now.
    pub(crate) fn settle(&mut self) {
        if !self.is_compiling() {
            return;
        }
        self.background.used.waited_for += 1;
        match self.background.worker.as_ref().and_then(Worker::wait) {
            Some(delivery) => self.take(*delivery),
            None => self.lose(),
        }
    }

    /// A function is forgotten: nobody wants code of it.
    pub(crate) fn cancel(&mut self, low: Key, high: Key) {
        if let Some(Away::Trace { attach, wanted, .. }) = &self.background.away {
            if (low..high).contains(&attach.key) {
                wanted.cancel();
            }
        }
    }

    fn take(&mut self, delivery: Delivery) {
        let Delivery { made, compiler, took } = delivery;
        let Backend::Ready(ready) = &mut self.code.backend else { return };
        ready.compiler = Some(compiler);
        self.background.used.ns += took;
        match (self.background.away.take(), made) {
            (Some(Away::Trace { ops, attach, wanted, .. }), Made::Trace(done)) => {
                self.budget.end_elsewhere(took, ops);
                let published = match wanted.is_cancelled() {
                    true => Err((AbortReason::Abandoned, String::new())),
                    false => self.publish(*done),
                };
                match published {
                    Ok(number) => {
                        if let Some(trace) = self.traces.get_mut(number) {
                            trace.worth.compile_ns = took;
                        }
                        self.attach(attach, number);
                    }
                    Err(no) => self.miss(attach, wanted.is_cancelled(), no),
                }
            }
            (Some(Away::Region { root, parts }), Made::Region(made)) => {
                self.budget.end_again_elsewhere(took);
                self.totals.regions.ns += took;
                self.region_has_come(root, &parts, made);
            }
            _ => self.count_internal_error(),
        }
    }

    /// A trace has no code in the end.
    fn miss(&mut self, attach: Attach, is_cancelled: bool, no: (AbortReason, String)) {
        let Attach { key, role, .. } = attach;
        if !is_cancelled {
            return self.came_to_nothing(key, role, &no);
        }
        // Its location is gone, and is not to come back.
        self.background.used.cancelled += 1;
        *self.totals.aborts.entry(AbortReason::Abandoned.name().to_string()).or_default() += 1;
    }

    /// This process has lost the thread, and what it had.
    fn lose(&mut self) {
        self.background.worker = None;
        if let Backend::Ready(ready) = &mut self.code.backend {
            match Compiler::new(options(&self.config)) {
                Ok(compiler) => ready.compiler = Some(Box::new(compiler)),
                Err(error) => {
                    self.code.backend = Backend::Refused(AbortReason::Internal, error.to_string());
                }
            }
        }
        match self.background.away.take() {
            Some(Away::Trace { attach, wanted, .. }) => {
                let no = (AbortReason::Abandoned, "the thread that compiled it is gone".into());
                self.miss(attach, wanted.is_cancelled(), no);
            }
            Some(Away::Region { root, .. }) => self.region_is_off(root),
            None => {}
        }
    }

    /// After how many back edges a location that is hot asks again while a task is away.
    pub(crate) fn look_again(&self, key: Key) -> u64 {
        if !self.budget.is_limited() {
            return 1;
        }
        let ns = self.locations.get(&key).and_then(|location| location.pace.ns());
        ns.map_or(MOST_LOOK_AGAIN / 8, |ns| (LOOK_AGAIN as f64 / ns.max(1.0)) as u64)
            .clamp(1, MOST_LOOK_AGAIN)
    }
}

#[cfg(test)]
#[path = "../../tests/support/runner.rs"]
mod runner;

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use tracelift_core::ExitKind;

    use super::runner;
    use crate::abort::AbortReason;
    use crate::run::Action;
    use crate::support::{int, sum, Host};
    use crate::{CloseOutcome, Compiling, Config, ThreadUse};

    const HEAD: usize = 1;
    const OTHER: usize = 2;
    /// Longer than any trace of a test takes to compile.
    const PATIENCE: Duration = Duration::from_secs(20);

    fn host(config: Config) -> Host {
        let mut host = Host::new(Config { threshold: 1, compiling: Compiling::Thread, ..config });
        host.frame[..3].copy_from_slice(&[int(0), int(0), int(1000)]);
        host
    }

    fn used(host: &Host) -> ThreadUse {
        host.vm.stats().thread.unwrap_or_default()
    }

    /// The program goes on until the loop has code.
    fn until_it_runs(host: &mut Host, key: usize) {
        let start = Instant::now();
        loop {
            match host.back_edge(key) {
                Action::Run(run) => {
                    assert_eq!(host.call(run), Some((ExitKind::LoopEnd, 0)));
                    return;
                }
                Action::Nothing => assert!(start.elapsed() < PATIENCE, "no code comes"),
                Action::Record => panic!("it is recorded already"),
            }
        }
    }

    #[test]
    fn the_program_goes_on_while_its_loop_is_compiled() {
        let mut host = host(Config::exact());
        assert!(matches!(host.back_edge(HEAD), Action::Record));
        assert!(matches!(host.record(HEAD, sum), CloseOutcome::HandedOver));
        until_it_runs(&mut host, HEAD);
        assert_eq!(host.frame[..3], [int(499_500), int(1000), int(1000)]);
        let used = used(&host);
        assert_eq!((used.handed_over, used.waited_for, used.cancelled), (1, 0, 0));
        assert!(used.ns > 0 && host.vm.stats().time.compiling > 0.0, "its time counts");
    }

    #[test]
    fn while_a_task_is_away_nothing_else_is_recorded() {
        let mut host = host(Config::exact());
        assert!(matches!(host.record(HEAD, sum), CloseOutcome::HandedOver));
        let recordings = host.vm.stats().recordings;
        while host.vm.is_compiling() {
            // The code may come while this one asks.
            let asks = matches!(host.back_edge(OTHER), Action::Record);
            assert!(!asks || !host.vm.is_compiling());
        }
        assert_eq!(host.vm.stats().recordings, recordings);
        assert!((0..1000).any(|_| matches!(host.back_edge(OTHER), Action::Record)), "it asks again");
        until_it_runs(&mut host, HEAD);
    }

    /// A recording that had begun before needs the compiler, and the next number.
    #[test]
    fn who_ends_a_recording_waits_for_what_is_away() {
        let mut host = host(Config::exact());
        assert!(matches!(host.record(HEAD, sum), CloseOutcome::HandedOver));
        assert!(matches!(host.record(OTHER, sum), CloseOutcome::HandedOver));
        assert_eq!((used(&host).waited_for, host.vm.stats().compile.traces), (1, 1));
        until_it_runs(&mut host, HEAD);
        host.frame[..3].copy_from_slice(&[int(0), int(0), int(1000)]);
        until_it_runs(&mut host, OTHER);
        assert_eq!(host.frame[0], int(499_500));
    }

    #[test]
    fn what_is_forgotten_meanwhile_is_cancelled() {
        let mut host = host(Config::exact());
        assert!(matches!(host.record(HEAD, sum), CloseOutcome::HandedOver));
        host.vm.forget(HEAD, HEAD + 1);
        host.vm.settle();
        let stats = host.vm.stats();
        assert_eq!((stats.compile.traces, used(&host).cancelled), (0, 1));
        assert_eq!(stats.aborts.get(AbortReason::Abandoned.name()), Some(&1));
        assert!(host.vm.locations.get(&HEAD).is_none(), "its location does not come back");
        assert!(matches!(host.back_edge(HEAD), Action::Record), "what is made there now is another one");
        assert!(matches!(host.record(HEAD, sum), CloseOutcome::HandedOver));
        until_it_runs(&mut host, HEAD);
    }

    #[test]
    fn code_that_cannot_be_made_is_given_up_later() {
        let mut host = host(Config { fail_code_allocation: Some(1), ..Config::exact() });
        assert!(matches!(host.record(HEAD, sum), CloseOutcome::HandedOver));
        host.vm.settle();
        assert_eq!(host.vm.stats().compile.traces, 0);
        assert_eq!(host.vm.aborts(HEAD), 1, "{:?}", host.vm.last_abort(HEAD));
    }

    #[test]
    fn a_vm_may_go_while_a_task_is_away() {
        for _ in 0..20 {
            let mut host = host(Config::exact());
            assert!(matches!(host.record(HEAD, sum), CloseOutcome::HandedOver));
        }
    }

    /// A child has no thread but its own: it makes what it wants itself. Other tests' threads may hold locks
    /// when the child begins, which nobody gives back there: so a process of its own runs this test.
    #[test]
    fn a_child_begins_anew() {
        const ALONE: &str = "TRACELIFT_TEST_IS_ALONE";
        if std::env::var_os(ALONE).is_none() {
            let mut command = runner::command(std::env::current_exe().expect("it is known"));
            command.args(["--exact", "background::tests::a_child_begins_anew", "--test-threads=1"]);
            let output = command.env(ALONE, "1").output().expect("it starts");
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success() && text.contains("1 passed"), "{text}");
            return;
        }
        let mut host = host(Config::exact());
        assert!(matches!(host.record(HEAD, sum), CloseOutcome::HandedOver));
        // SAFETY: the child does no more than this process, and ends without what is to be done at the end.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let tries = (0..100_000).find_map(|_| match host.back_edge(HEAD) {
                Action::Record => Some(()),
                _ => None,
            });
            let recorded = tries.map(|()| host.record(HEAD, sum));
            host.vm.settle();
            let exit = host.run(HEAD);
            let is_right = matches!(recorded, Some(CloseOutcome::HandedOver))
                && exit == Some((ExitKind::LoopEnd, 0))
                && host.frame[0] == int(499_500);
            drop(host);
            // SAFETY: as above.
            unsafe { libc::_exit(if is_right { 0 } else { 1 }) };
        }
        let mut status = 0;
        // SAFETY: there is room for the status.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert_eq!(status, 0, "the child has computed something else");
        until_it_runs(&mut host, HEAD);
    }
}
