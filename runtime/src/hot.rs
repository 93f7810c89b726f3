//! What to do at a hot back edge: nothing, run code, or record.
//!
//! Problem: a counter has fired at a loop's head, and what comes next depends on all that is known of the
//! loop: its state, its heat, whether its code fits the frame, whether there is time for compiling. Design:
//! the short way through a gate comes first (`fast_path.rs`); else the location is found, credited with the
//! ticks that elapsed ([`crate::counters`]), and asked in the order of what costs least. The counter is then
//! set to the back edge at which the answer may change. Invariant: each firing is accounted for once, and the
//! counter of a loop whose code is entered stays at 0.
//!
//! ```text
//! loop_7f00 fires with 200 ticks, threshold 200, no code  ->  Record
//! loop_7f00 fires with 1 tick, trace 0 expects its slots  ->  Run; the counter stays at 0
//! ```

use crate::abort::{AbortReason, Failure};
use crate::backend::Backend;
use crate::counters::MOST_TICKS;
use crate::ids::Key;
use crate::log::Stage;
use crate::policy::{at_most_twice, back_edges_until, LoopState, Rent};
use crate::recorder::{Limits, Recorder, Start};
use crate::run::Action;
use crate::starts::Starts;
use crate::traces::Entered;
use crate::tunables::MOST_ASIDE;
use crate::view::notes::LOOKS;
use crate::vm::Vm;

impl Vm {
    /// Makes the host's counters known, before any others and once; see `tl_set_counters`.
    ///
    /// # Safety
    /// `start` points to `count` zeros that live as long as the VM.
    pub unsafe fn set_counters(&mut self, start: *mut i32, count: usize) {
        // SAFETY: promised by the caller.
        unsafe { self.counters.attach(start, count) };
    }

    /// A counter that the host decrements at entries of a function, and where that goes on after calls; see
    /// `tl_add_counter`.
    ///
    /// # Safety
    /// It is 0 or below, and lives until it is dropped.
    pub unsafe fn add_counter(&mut self, counter: *mut i32) {
        // SAFETY: passed on from the caller.
        unsafe { self.counters.adopt(counter) };
    }

    /// That counter will soon be gone, and so will the keys of its locations: these are forgotten already.
    pub fn drop_counter(&mut self, counter: *const i32) {
        let Some(index) = self.counters.index(counter).filter(|&index| self.counters.is_of_entries(index))
        else {
            return;
        };
        self.gates.shut();
        let last = self.counters.last();
        self.counters.abandon(counter);
        for location in self.locations.values_mut() {
            location.counter = match location.counter {
                Some(at) if at == index => None,
                Some(at) if at == last => Some(index),
                other => other,
            };
        }
    }

    /// `counter` fell below zero at the loop `key` whose frame's slots are at `base`; see `tl_hot`.
    ///
    /// # Safety
    /// `base` points to the frame's slots, as many as any trace of this loop names.
    #[inline]
    pub unsafe fn hot(&mut self, key: Key, counter: *const i32, base: *const u8) -> Action {
        self.close_sample();
        // SAFETY: passed on from the caller.
        let action = match unsafe { self.pass(key, counter) } {
            Some(action) => action,
            // SAFETY: as above.
            None => unsafe { self.decide_anew(key, counter, base) },
        };
        match action {
            Action::Run(_) => self.note_entry(key),
            Action::Nothing | Action::Record => self.note_going_on(),
        }
        action
    }

    /// Code is entered at a location; see [`crate::view`].
    #[inline]
    pub(crate) fn note_entry(&mut self, key: Key) {
        if let Some(notes) = &mut self.notes {
            notes.enters(key, self.timing.ticks.now());
        }
    }

    /// The interpreter has come to a location; see [`crate::view`].
    fn note_arrival(&mut self, key: Key) {
        if let Some(notes) = &mut self.notes {
            notes.arrives(key, self.timing.ticks.now());
        }
    }

    /// The interpreter goes on.
    #[inline]
    pub(crate) fn note_going_on(&mut self) {
        if let Some(notes) = &mut self.notes {
            notes.goes_on(self.timing.ticks.now());
        }
    }

    /// The long way.
    unsafe fn decide_anew(&mut self, key: Key, counter: *const i32, base: *const u8) -> Action {
        let Some(index) = self.counters.index(counter) else { return Action::Nothing };
        self.last_run.has_passed = false;
        self.look_for_venture();
        self.note_arrival(key);
        self.settle_gates(key);
        self.note_declined();
        let is_wanted = self.locations.get(&key).is_some_and(|location| location.wanted_by.is_some());
        if !is_wanted && self.counters.starts(index) {
            self.hasten_hinted(key, index);
            return Action::Nothing;
        }
        self.time_back_edge(key, base);
        let ticks = self.counters.take(index);
        self.free_doomed();
        self.look_for_code();
        let location = self.locations.entry(key).or_default();
        if location.counter.replace(index).is_none() {
            location.rent_since = self.budget.ran;
        }
        location.is_entry = self.counters.is_of_entries(index);
        if location.drawn.is_none() {
            location.drawn = self.recording.starts.as_mut().map(Starts::heat);
        }
        self.look_up_hint(key);
        let action = if self.config.enabled && self.recording.recorder.is_none() {
            self.look_for_regions();
            // SAFETY: passed on from the caller.
            unsafe { self.decide(key, ticks, base) }
        } else {
            Action::Nothing
        };
        self.recording.asked = matches!(action, Action::Record).then_some(key);
        if !matches!(action, Action::Run(_)) {
            self.was_interpreted(key, ticks);
        }
        if let Some(notes) = &mut self.notes {
            // The last one leads into the code.
            let interpreted = ticks - u64::from(matches!(action, Action::Run(_)));
            notes.ticks(key, self.counters.is_of_entries(index), interpreted);
        }
        // Times are known the better the more often hot locations are come to.
        let most = if self.notes.is_some() { LOOKS } else { MOST_TICKS };
        let next = match action {
            Action::Run(_) => 1,
            _ if !self.config.enabled => most,
            _ if self.counters.is_pinned(index) => 1,
            _ => {
                let location = self.locations.entry(key).or_default();
                let needed = location.needed(self.config.threshold);
                needed.saturating_sub(location.heat).min(u64::from(most)) as u32
            }
        };
        self.counters.set(index, next);
        self.time_iteration(key);
        match action {
            Action::Run(_) => self.open_gate(key, counter),
            Action::Record => self.gates.shut(),
            Action::Nothing if self.recording.recorder.is_none() => self.open_gate_to_nothing(key, counter),
            Action::Nothing => {}
        }
        action
    }

    /// So many back edges of a location were interpreted. From the first time on its name is known, as the
    /// host may forget it.
    fn was_interpreted(&mut self, key: Key, ticks: u64) {
        if let Some(location) = self.locations.get_mut(&key) {
            location.interpreted += ticks;
            if location.place.is_none() && self.config.count_iterations {
                self.place_of(key);
            }
        }
    }

    /// How many were interpreted, those among them that no counter has told so far.
    pub(crate) fn interpreted_by_now(&self, key: Key) -> u64 {
        let Some(location) = self.locations.get(&key) else { return 0 };
        let waits = location.counter.filter(|&counter| !self.counters.is_pinned(counter));
        location.interpreted + waits.map_or(0, |counter| self.counters.passed(counter))
    }

    /// Whether to tell what counted loops have to come; see `tl_asks_ahead`.
    pub fn asks_ahead(&mut self) -> bool {
        self.budget.asks()
    }

    /// A counted loop has so many iterations to come; see `tl_foresee`.
    pub fn foresee(&mut self, counted: usize, left: u64) {
        self.budget.foresee(counted, left);
    }

    /// Back edges of a loop that the interpreter has taken, or entries; see `tl_back_edges_of`.
    pub fn back_edges_of(&self, key: Key) -> u64 {
        self.locations.get(&key).map_or(0, |location| location.back_edges)
    }

    /// The host wants to look at a loop again after so many back edges, if not before; see `tl_look_after`.
    pub fn look_after(&mut self, counter: *const i32, ticks: u32) {
        if let Some(index) = self.counters.index(counter) {
            self.counters.hasten(index, ticks);
        }
    }

    /// The host did not call the code that it was told to run; see `tl_declined`.
    pub fn declined(&mut self) {
        if let Some(trace) = self.last_run.trace.take().and_then(|number| self.traces.get_mut(number)) {
            trace.entries -= 1;
            let key = trace.tree.key;
            self.totals.declined += 1;
            self.timing.sample = None;
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
        if matches!(self.code.backend, Backend::Refused(..)) {
            return Action::Nothing;
        }
        // SAFETY: passed on from the caller.
        if !self.is_compiling() && unsafe { self.has_outgrown(key, base) } {
            return Action::Record;
        }
        let (threshold, max_entries) = (self.config.threshold, self.config.max_entries);
        let mut location = self.locations.entry(key).or_default();
        if location.state.is_asleep() {
            location.heat += ticks;
            location.back_edges += ticks;
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
                self.last_run.trace = Some(id);
                let action = Action::Run(trace.run());
                let (saved_per_ns, adds_up) = (trace.worth.saved_per_ns, trace.tree.adds_up);
                let is_timed = trace.tree.replaced.is_timed;
                self.time_entry(key, saved_per_ns, adds_up, is_timed);
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
        // A recording of it waits for a call to come back, which may be a deep recursion.
        let is_aside = self.recording.aside.iter().any(|recorder| recorder.key == key);
        let wait = if is_aside { Some(self.look_again(key)) } else { self.has_to_wait(key) };
        if let Some(back_edges) = wait {
            self.locations.entry(key).or_default().postpone(back_edges);
            return Action::Nothing;
        }
        if let Backend::Refused(..) = self.code.ready(&self.config) {
            self.locations.entry(key).or_default().heat = 0;
            return Action::Nothing;
        }
        Action::Record
    }

    /// The host was asked for a recording and has begun none. It has its reasons, which may last: it is not
    /// asked at each back edge.
    fn note_declined(&mut self) {
        let Some(key) = self.recording.asked.take() else { return };
        let Some(location) = self.locations.get_mut(&key) else { return };
        // Who has outgrown its code is asked a number of times only.
        if location.outgrown.is_some() {
            return;
        }
        location.declined(self.config.threshold);
        self.totals.recordings += 1;
        self.count_abort(key, &Failure::new(AbortReason::Declined, ""));
    }

    /// For how many back edges a location that is hot has to wait, if it may not be recorded now.
    fn has_to_wait(&mut self, key: Key) -> Option<u64> {
        if self.is_compiling() {
            return Some(self.look_again(key));
        }
        let location = self.locations.entry(key).or_default();
        let (order, per_tick) = (location.order, location.edges_per_tick());
        let missing = self.time_missing(key)?;
        let until_it_pays = self.budget.back_edges_missing(order, self.rent_of(key)).div_ceil(per_tick);
        if until_it_pays == 0 {
            return None;
        }
        self.totals.postponed += 1;
        let wait = back_edges_until(missing, until_it_pays, self.config.threshold);
        let taken = self.locations.get(&key).map_or(0, |location| location.back_edges);
        Some(at_most_twice(wait, taken, self.config.threshold))
    }

    /// Starts a recording at the location `key`; false if one is in progress.
    pub fn start_recording(&mut self, key: Key, base: *const u8, retries: u32) -> bool {
        if self.recording.recorder.is_some() {
            return false;
        }
        self.totals.recordings += 1;
        let limits = self.limits();
        let is_entry = self.locations.get(&key).is_some_and(|location| location.is_entry);
        let mut recorder = Recorder::new(key, base, limits, Start::of_location(is_entry, retries));
        recorder.is_asked = self.recording.asked.take() == Some(key);
        recorder.steps = self.notes.is_some().then(Vec::new);
        self.budget.begin_recording();
        self.gates.shut();
        self.recording.recorder = Some(recorder);
        true
    }

    /// A function is called that is no part of the recording: it is put aside, and goes on when the call has
    /// come back; see `tl_record_aside`. Returns what it is woken by, or `None` if there is no recording. If
    /// too many wait the one that has waited longest is given up.
    pub fn put_recording_aside(&mut self) -> Option<u32> {
        let recorder = self.recording.recorder.take()?;
        let number = recorder.number;
        if self.recording.aside.len() as u64 >= MOST_ASIDE {
            let longest = self.recording.aside.remove(0);
            self.give_up_recording(longest, AbortReason::LongCall);
        }
        self.recording.aside.push(recorder);
        Some(number)
    }

    /// A recording that was put aside goes on; see `tl_record_wake`. False if it is there no more. If another
    /// one is in progress, it is given up, and the answer is false.
    pub fn wake_recording(&mut self, number: u32) -> bool {
        let place = self.recording.aside.iter().position(|recorder| recorder.number == number);
        let Some(place) = place else { return false };
        let recorder = self.recording.aside.remove(place);
        if self.recording.recorder.is_some() {
            self.give_up_recording(recorder, AbortReason::Abandoned);
            return false;
        }
        self.gates.shut();
        self.recording.recorder = Some(recorder);
        true
    }

    /// Gives up a recording that waits; the one in progress, if there is one, goes on.
    fn give_up_recording(&mut self, waiting: Recorder, reason: AbortReason) {
        let current = self.recording.recorder.replace(waiting);
        self.abort_recording(reason);
        self.recording.recorder = current;
    }

    pub(crate) fn limits(&mut self) -> Limits {
        Limits {
            ops: self.config.max_ops,
            snapshots: self.config.max_snapshots,
            frames: self.config.max_frames,
            discard_at: self.recording.starts.as_mut().and_then(Starts::discard_at),
            checks: self.config.check,
        }
    }

    /// A recording of a location has come to nothing: counts and logs that.
    pub(crate) fn count_abort(&mut self, key: Key, no: &Failure) {
        *self.totals.aborts.entry(no.reason.name().to_string()).or_default() += 1;
        if let Some(notes) = &mut self.notes {
            notes.failed(key, no);
        }
        if self.log.wants(Stage::Abort) {
            let name = self.name_of_location(key);
            self.log.entry(Stage::Abort, &format!("abort {name}: {no}"), String::new);
        }
    }

    /// Gives up on a location for now.
    pub(crate) fn give_up(&mut self, key: Key, no: Failure) {
        self.count_abort(key, &no);
        // While the host knows it.
        self.place_of(key);
        let Failure { reason, at, .. } = no;
        let threshold = self.config.threshold;
        let location = self.locations.entry(key).or_default();
        location.aborted_at = at;
        let per_tick = location.edges_per_tick();
        location.outgrown = None;
        match self.budget.refusal() {
            Some(refusal) => {
                location.order = refusal.order;
                location.last_abort = Some(reason);
                let (back_edges, ns) = (location.back_edges * per_tick, location.pace.ns().unwrap_or(0.0));
                let rent = Rent { back_edges, ns, since: location.rent_since, ..Rent::default() };
                let until_it_pays = self.budget.back_edges_missing(refusal.order, rent).div_ceil(per_tick);
                location.postpone(back_edges_until(refusal.missing, until_it_pays, threshold));
            }
            None => location.back_off(reason, threshold),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::run::Action;
    use crate::support::Host;
    use crate::Config;

    const HEAD: usize = 1;

    /// A host may be asked in the last iteration each time, and have nothing to record.
    #[test]
    fn who_is_never_recorded_is_asked_ever_more_seldom() {
        let mut host = Host::new(Config { threshold: 80, ..Config::exact() });
        let asked: Vec<u64> =
            (0..100_000).filter(|_| matches!(host.back_edge(HEAD), Action::Record)).collect();
        let waits: Vec<u64> = asked.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!((8..16).contains(&waits.len()), "{asked:?}");
        assert!(waits.windows(2).all(|pair| pair[1] > pair[0] + pair[0] / 2), "{waits:?}");
        let stats = host.vm.stats();
        assert_eq!(stats.aborts["not recorded where it was hot"], asked.len() as u64);
        assert_eq!(stats.recordings, asked.len() as u64);
    }

    /// A function that calls itself without end comes by its entry all the while that its recording waits.
    #[test]
    fn who_waits_for_a_recording_that_is_aside_is_not_asked_each_time() {
        let mut host = Host::new(Config { threshold: 80, compile_share: Some(50), ..Config::default() });
        host.vm.budget.stands_at(80_000_000);
        let is_hot = (0..100_000_000).any(|_| matches!(host.back_edge(HEAD), Action::Record));
        assert!(is_hot && host.vm.start_recording(HEAD, host.frame.as_ptr().cast(), 0));
        let waiting = host.vm.put_recording_aside();
        assert!(waiting.is_some());
        let waits =
            |host: &Host| host.vm.locations[&HEAD].needed(80).saturating_sub(host.vm.locations[&HEAD].heat);
        let mut long_waits = 0;
        for _ in 0..1000 {
            assert!(matches!(host.back_edge(HEAD), Action::Nothing));
            long_waits += u64::from(waits(&host) > 10);
        }
        assert!(long_waits > 900, "{long_waits}");
    }
}
