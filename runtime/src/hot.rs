//! What to do at a hot back edge: nothing, run code, or record.
//!
//! Problem: the host's fast path must be one decrement and one test, yet loops share counters by hashing.
//! Design: the counters are the host's array. Each says how many back edges may pass; the one after them
//! *fires*. The VM knows what each counter was last set to, so that the ticks that elapsed are credited to
//! whoever fires, and *pins* a counter to 0 while any loop that uses it has code. All counters start at 0
//! without being written, and the first back edge of each fires: memory of counters that no loop uses is
//! never touched. Invariant: the sum of elapsed ticks over all counters is exactly the number of back edges
//! that the interpreter took.
//!
//! ```text
//! threshold 200:  0 -> fires, set to 198 -> 198 back edges pass -> fires: the loop has run 200 times
//! ```

use crate::abort::AbortReason;
use crate::ids::Key;
use crate::policy::{back_edges_until, LoopState};
use crate::recorder::{Limits, Recorder, Start};
use crate::starts::Starts;
use crate::traces::Entered;
use crate::vm::{Backend, Vm};

/// The host's counters and what the VM last set them to.
pub struct Counters {
    start: *mut i32,
    /// By counter. Arrays, since zeros of these come without a word written.
    states: Vec<[u32; 2]>,
    spent: u64,
    /// Ticks from one firing to the next of a loop of which nothing else is known.
    initial: u32,
}

/// In a counter's state: at which back edge it fires, counted from when it was set. 0: it never was.
const SET_TO: usize = 0;
/// In a counter's state: how often it is pinned.
const PINS: usize = 1;

/// Ticks that a counter can be set to at most: all but one pass.
const MOST_TICKS: u32 = 1 << 31;

impl Counters {
    pub(crate) fn new(initial: u32) -> Counters {
        Counters { start: std::ptr::null_mut(), states: Vec::new(), spent: 0, initial }
    }

    /// Takes over the host's counters.
    ///
    /// # Safety
    /// `start` points to `count` counters that live as long as the VM and are only decremented by the host.
    pub(crate) unsafe fn attach(&mut self, start: *mut i32, count: usize) {
        self.start = start;
        self.states = vec![[0; 2]; count];
    }

    fn index(&self, counter: *const i32) -> Option<usize> {
        let offset = (counter as usize).checked_sub(self.start as usize)?;
        let index = offset / size_of::<i32>();
        (index < self.states.len()).then_some(index)
    }

    /// Whether it is one of them.
    pub(crate) fn owns(&self, counter: *const i32) -> bool {
        self.index(counter).is_some()
    }

    /// Back edges that pass before the counter fires, from when it was set.
    fn passing(&self, index: usize) -> u32 {
        self.states[index][SET_TO].saturating_sub(1)
    }

    /// Back edges that have passed since then.
    fn passed(&self, index: usize) -> u64 {
        // SAFETY: the index is below the number of counters, which live as long as the VM (see `attach`).
        let left = unsafe { self.start.add(index).read() };
        u64::from(self.passing(index).wrapping_sub(left as u32))
    }

    fn is_pinned(&self, index: usize) -> bool {
        self.states[index][PINS] > 0
    }

    /// The counter has fired: the back edges since it was set, this one among them, are accounted for.
    fn take(&mut self, index: usize) -> u64 {
        let ticks = u64::from(self.passing(index)) + 1;
        self.spent += ticks;
        ticks
    }

    /// The counter is to fire at the back edge of that number from now on.
    fn set(&mut self, index: usize, ticks: u32) {
        self.states[index][SET_TO] = ticks.clamp(1, MOST_TICKS);
        // SAFETY: as in `passed`.
        unsafe { self.start.add(index).write(self.passing(index) as i32) };
    }

    /// Whether that was the first back edge of a counter, and no loop is hot yet: most loops of a program run
    /// too few times to be remembered.
    fn starts(&mut self, index: usize) -> bool {
        let starts = self.states[index][SET_TO] == 0 && self.initial > 1;
        if starts {
            self.set(index, self.initial);
            // SAFETY: as in `passed`. This back edge is one of those that pass.
            unsafe { *self.start.add(index) -= 1 };
        }
        starts
    }

    /// Back edges that the interpreter took.
    pub(crate) fn ticks(&self) -> u64 {
        self.spent + (0..self.states.len()).map(|index| self.passed(index)).sum::<u64>()
    }

    /// Whether every back edge with this counter takes the slow path.
    pub(crate) fn is_pinned_at(&self, counter: *const i32) -> bool {
        self.index(counter).is_some_and(|index| self.is_pinned(index) && self.passing(index) == 0)
    }

    /// A pinned counter, which is one of them, has fired, and stays pinned.
    #[inline]
    pub(crate) fn fire_again(&mut self, counter: *const i32) {
        self.spent += 1;
        // SAFETY: as in `passed`.
        unsafe { counter.cast_mut().write(0) };
    }

    /// Another trace begins at a loop with this counter: every back edge from now on takes the slow path.
    pub(crate) fn pin(&mut self, index: usize) {
        let Some(state) = self.states.get_mut(index) else { return };
        state[PINS] += 1;
        self.spent += self.passed(index);
        self.set(index, 1);
    }

    /// The same for a counter that has just fired: its ticks are accounted for, and it is set next.
    pub(crate) fn pin_fired(&mut self, index: usize) {
        if let Some(state) = self.states.get_mut(index) {
            state[PINS] += 1;
        }
    }

    /// Such a trace is gone, or rests.
    pub(crate) fn unpin(&mut self, index: usize) {
        if let Some(state) = self.states.get_mut(index) {
            state[PINS] = state[PINS].saturating_sub(1);
        }
    }
}

/// What the host is to do.
#[derive(Clone, Copy, Debug)]
pub enum Action {
    /// Go on interpreting.
    Nothing,
    /// Call this code.
    Run(Run),
    /// Start a recording.
    Record,
}

/// Code to be called.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// The code.
    pub code: tracelift_cranelift::LinkedEntry,
    /// What an exit may need.
    pub needs: Room,
}

/// Room on the host's stack that exits need.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Room {
    /// Slots from the entry frame's base.
    pub slots: u32,
    /// Frames besides the entry frame.
    pub frames: u32,
}

impl Room {
    /// Room for both.
    pub(crate) fn or(self, other: Room) -> Room {
        Room { slots: self.slots.max(other.slots), frames: self.frames.max(other.frames) }
    }
}

impl Vm {
    /// Makes the host's counters known; see `tl_set_counters`.
    ///
    /// # Safety
    /// `start` points to `count` zeros that live as long as the VM.
    pub unsafe fn set_counters(&mut self, start: *mut i32, count: usize) {
        // SAFETY: promised by the caller.
        unsafe { self.counters.attach(start, count) };
    }

    /// `counter` fell below zero at the loop `key` whose frame's slots are at `base`; see `tl_hot`.
    ///
    /// # Safety
    /// `base` points to the frame's slots, as many as any trace of this loop names.
    #[inline]
    pub unsafe fn hot(&mut self, key: Key, counter: *const i32, base: *const u8) -> Action {
        self.close_sample();
        // SAFETY: passed on from the caller.
        match unsafe { self.pass(key, counter) } {
            Some(run) => Action::Run(run),
            // SAFETY: as above.
            None => unsafe { self.decide_anew(key, counter, base) },
        }
    }

    /// The long way.
    unsafe fn decide_anew(&mut self, key: Key, counter: *const i32, base: *const u8) -> Action {
        let Some(index) = self.counters.index(counter) else { return Action::Nothing };
        self.has_passed = false;
        if self.counters.starts(index) {
            return Action::Nothing;
        }
        self.time_back_edge(key, base);
        let ticks = self.counters.take(index);
        let location = self.locations.entry(key).or_default();
        location.counter = Some(index);
        if location.drawn.is_none() {
            location.drawn = self.starts.as_mut().map(Starts::heat);
        }
        let action = if self.config.enabled && self.recorder.is_none() {
            // SAFETY: passed on from the caller.
            unsafe { self.decide(key, ticks, base) }
        } else {
            Action::Nothing
        };
        self.asked = matches!(action, Action::Record).then_some(key);
        let next = match action {
            Action::Run(_) => 1,
            _ if !self.config.enabled => MOST_TICKS,
            _ if self.counters.is_pinned(index) => 1,
            _ => {
                let location = self.locations.entry(key).or_default();
                let needed = location.needed(self.config.threshold);
                needed.saturating_sub(location.heat).min(u64::from(MOST_TICKS)) as u32
            }
        };
        self.counters.set(index, next);
        self.time_iteration(key);
        match action {
            Action::Run(_) => self.open_gate(key, counter),
            Action::Record => self.gates.shut(),
            Action::Nothing => {}
        }
        action
    }

    /// The host did not call the code that it was told to run; see `tl_declined`.
    pub fn declined(&mut self) {
        if let Some(trace) = self.last_run.take().and_then(|number| self.traces.get_mut(number)) {
            trace.entries -= 1;
            let key = trace.tree.key;
            self.totals.declined += 1;
            self.sample = None;
            self.entry_refused(key);
        }
    }

    /// `counter` fell below zero at a time when the host can neither run code nor record; see `tl_tick`.
    pub fn tick(&mut self, counter: *const i32) {
        let Some(index) = self.counters.index(counter) else { return };
        self.counters.take(index);
        let next = if self.counters.is_pinned(index) { 1 } else { self.counters.initial };
        self.counters.set(index, next);
    }

    unsafe fn decide(&mut self, key: Key, ticks: u64, base: *const u8) -> Action {
        self.plan_hot_exit();
        if matches!(self.backend, Backend::Refused(..)) {
            return Action::Nothing;
        }
        let (threshold, max_entries) = (self.config.threshold, self.config.max_entries);
        let mut location = self.locations.entry(key).or_default();
        if location.state.is_asleep() {
            location.heat += ticks;
            if location.heat < location.needed(threshold) || self.times_iterations(key, base) {
                return Action::Nothing;
            }
            self.wake(key);
            location = self.locations.entry(key).or_default();
        }
        let (schema, reserves) = (&self.schema, &mut self.reserves);
        // SAFETY: passed on from the caller; the rest was promised to `set_reserve`.
        match unsafe { self.traces.enter(&location.entries, base, schema, reserves) } {
            Entered::Trace(id) => {
                let Some(trace) = self.traces.get(id) else { return Action::Nothing };
                self.last_run = Some(id);
                let action = Action::Run(trace.run());
                let (saved_per_ns, iteration) = (trace.saved_per_ns, trace.replaced);
                self.time_entry(key, saved_per_ns, iteration);
                return action;
            }
            Entered::WithoutMemory => {
                self.totals.unsecured += 1;
                self.entry_refused(key);
                return Action::Nothing;
            }
            Entered::None => {}
        }
        if !location.entries.is_empty() {
            self.totals.refused += 1;
            let is_full = location.entries.len() >= max_entries;
            // An entry for these types is as good as there: they are no loss that will last.
            let is_due = location.state == LoopState::Compiled { until: 0 } && !is_full;
            if !is_due {
                self.entry_refused(key);
            }
            location = self.locations.entry(key).or_default();
            if is_full || location.state.is_asleep() {
                return Action::Nothing;
            }
        }
        location.heat += ticks;
        location.back_edges += ticks;
        if location.heat < location.needed(threshold) {
            return Action::Nothing;
        }
        if location.entries.is_empty() && self.times_iterations(key, base) {
            return Action::Nothing;
        }
        let location = self.locations.entry(key).or_default();
        if let Some(missing) = self.budget.wait(location.ops) {
            let until_it_pays = self.budget.back_edges_missing(location.ops, location.back_edges);
            if until_it_pays > 0 {
                self.totals.postponed += 1;
                location.postpone(back_edges_until(missing, until_it_pays, threshold));
                return Action::Nothing;
            }
        }
        if let Backend::Refused(..) = self.ready_backend() {
            self.locations.entry(key).or_default().heat = 0;
            return Action::Nothing;
        }
        Action::Record
    }

    /// Starts a recording at the loop `key`; false if one is in progress.
    pub fn start_recording(&mut self, key: Key, base: *const u8, retries: u32) -> bool {
        if self.recorder.is_some() {
            return false;
        }
        self.totals.recordings += 1;
        let limits = self.limits();
        let mut recorder = Recorder::new(key, base, limits, Start::Loop { retries });
        recorder.is_asked = self.asked.take() == Some(key);
        self.budget.begin_recording();
        self.gates.shut();
        self.recorder = Some(recorder);
        true
    }

    pub(crate) fn limits(&mut self) -> Limits {
        Limits {
            ops: self.config.max_ops,
            snapshots: self.config.max_snapshots,
            frames: self.config.max_frames,
            discard_at: self.starts.as_mut().and_then(Starts::discard_at),
        }
    }

    /// A recording of a location has come to nothing: counts and logs that.
    pub(crate) fn count_abort(&mut self, key: Key, reason: &AbortReason, sentence: &str) {
        *self.totals.aborts.entry(reason.name().to_string()).or_default() += 1;
        self.log.entry(
            crate::log::Stage::Abort,
            &format!("abort loop_{key:x}: {reason}: {sentence}"),
            String::new,
        );
    }

    /// Gives up on a location for now.
    pub(crate) fn give_up(&mut self, key: Key, reason: AbortReason, sentence: &str) {
        self.count_abort(key, &reason, sentence);
        let threshold = self.config.threshold;
        let location = self.locations.entry(key).or_default();
        match self.budget.refusal() {
            Some(refusal) => {
                location.ops = refusal.ops;
                location.last_abort = Some(reason);
                let until_it_pays = self.budget.back_edges_missing(refusal.ops, location.back_edges);
                location.postpone(back_edges_until(refusal.missing, until_it_pays, threshold));
            }
            None => location.back_off(reason, threshold),
        }
    }
}
