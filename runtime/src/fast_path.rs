//! The fast path into code that is entered often: through a gate.
//!
//! Problem: a loop of few iterations is entered hundreds of thousands of times, and what is asked at a hot
//! back edge (the location, its state, the slots' tags, what exits may need, who is to be timed) has the same
//! answers nearly each time. Design: an entry that the long way ([`Vm::hot`]) has made *opens a gate* for the
//! entries up to the next one that is timed. A gate holds the answer; passing it is a comparison of the key
//! and of the counter, and counting. The slots' tags are not looked at, as the code does that itself: if it
//! refuses the entry, and there is code for other tags, the gate is closed, and the long way finds that; a
//! trace that refuses often gets no gate then for a while.
//!
//! Loops, and all entries of a function, share counters. Where one has code each back edge of the others
//! takes the slow path, although there is nothing to do: for these a gate leads to nothing, until they are
//! hot.
//!
//! Invariant: an open gate answers what the long way would, tags apart. So whatever changes a location, a
//! trace, or what the VM is about shuts all gates ([`crate::gate`]); that is rare, and they open again by
//! themselves. Memory for exits is asked for at a gate, too.
//!
//! ```text
//! loop_7f00, entry 32 (timed): the long way; it opens a gate for 31 entries
//! entries 33 to 50: through the gate.  A side trace is compiled: all gates shut.  Entry 51: the long way
//! ```

use crate::gate::{Gate, Way};
use crate::ids::Key;
use crate::policy::LoopState;
use crate::run::Action;
use crate::tunables::SAMPLE_STRIDE;
use crate::vm::Vm;

impl Vm {
    /// The short way at a hot back edge; `None` if the long one has to be taken.
    ///
    /// # Safety
    /// The same as for [`Vm::hot`].
    #[inline]
    pub unsafe fn pass(&mut self, key: Key, counter: *const i32) -> Option<Action> {
        self.nested.is_here();
        let gate = self.gates.of(key).filter(|gate| gate.counter == counter)?;
        if self.timing.sample.is_some_and(|sample| sample.depth >= self.nested.depth()) {
            return None;
        }
        let Some(way) = gate.way else {
            let location = self.locations.get_mut(&key)?;
            location.heat += 1;
            location.back_edges += 1;
            gate.left -= 1;
            self.last_run.has_passed = false;
            self.counters.fire_again(gate.counter);
            if let Some(notes) = &mut self.notes {
                notes.seen(key).interpreted += 1;
            }
            return Some(Action::Nothing);
        };
        if let Some(notes) = &mut self.notes {
            let now = self.timing.ticks.now();
            notes.arrives(key, now);
            notes.enters(key, now);
        }
        let trace = self.traces.get_mut(way.trace)?;
        // SAFETY: promised to `set_reserve`.
        if way.lifts && !unsafe { self.reserves.secure(&trace.reach.lifts) } {
            return None;
        }
        debug_assert!({
            let location = &self.locations[&key];
            matches!(location.state, LoopState::Compiled { .. })
                && location.entries.contains(&way.trace)
                && way.run.needs == trace.reach.needs
        });
        debug_assert!(
            self.recording.recorder.is_none()
                && self.exits.hot.is_none()
                && self.counters.is_pinned_at(counter)
        );
        gate.left -= 1;
        trace.entries += 1;
        (self.last_run.trace, self.last_run.has_passed) = (Some(way.trace), true);
        self.counters.fire_again(gate.counter);
        Some(Action::Run(way.run))
    }

    /// The long way has entered code at the loop `key`: the entries up to the next timed one need not take
    /// it.
    pub(crate) fn open_gate(&mut self, key: Key, counter: *const i32) {
        let Some(trace) = self.last_run.trace else { return };
        let Some(data) = self.traces.get(trace) else { return };
        // A gate leaves the counter at 0, which is what only a pinned one is set to.
        let is_pinned = self.counters.is_pinned_at(counter);
        if !is_pinned || self.config.count_iterations || self.is_pacing(key) {
            return;
        }
        let Some(location) = self.locations.get_mut(&key) else { return };
        if data.refuses_often() && location.entries.len() > 1 {
            return;
        }
        let way = Way { run: data.run(), trace, lifts: !data.reach.lifts.is_empty() };
        let left = location.pay.pass_until_timed();
        self.open(Gate { key, counter, way: Some(way), left });
    }

    /// There is nothing to do at the loop `key` until it is hotter. Its counter is another loop's as well,
    /// which has code, so that each back edge takes the slow path.
    pub(crate) fn open_gate_to_nothing(&mut self, key: Key, counter: *const i32) {
        if !self.counters.is_pinned_at(counter) || self.config.count_iterations || self.is_pacing(key) {
            return;
        }
        let Some(location) = self.locations.get(&key) else { return };
        if !location.entries.is_empty() && !location.state.is_asleep() {
            return;
        }
        let cooler = location.needed(self.config.threshold).saturating_sub(location.heat);
        let left = cooler.saturating_sub(1).min(SAMPLE_STRIDE) as u32;
        self.open(Gate { key, counter, way: None, left });
    }

    fn open(&mut self, gate: Gate) {
        if gate.left == 0 {
            return;
        }
        let displaced = self.gates.open(gate);
        self.did_not_pass(displaced);
    }

    /// The long way is taken at the loop `key`: entries that were counted when gates were opened, and did not
    /// pass, are counted no more.
    pub(crate) fn settle_gates(&mut self, key: Key) {
        let own = self.gates.close(key);
        self.did_not_pass(own);
        while let Some(gate) = self.gates.shut_early() {
            self.did_not_pass(Some(gate));
        }
    }

    /// A gate is no more.
    fn did_not_pass(&mut self, gate: Option<Gate>) {
        let Some(gate) = gate.filter(|gate| gate.way.is_some()) else { return };
        if let Some(location) = self.locations.get_mut(&gate.key) {
            location.pay.did_not_pass(gate.left);
        }
    }

    /// Code was entered, and has refused: if through a gate, its loop's slots are of more than one type. The
    /// gate stays if there is no other code that might have fitted.
    pub(crate) fn gate_refused(&mut self) {
        if !std::mem::take(&mut self.last_run.has_passed) {
            return;
        }
        let Some(number) = self.last_run.trace.take() else { return };
        let Some(trace) = self.traces.get_mut(number) else { return };
        trace.entries -= 1;
        trace.refusals += 1;
        let key = trace.tree.key;
        let Some(location) = self.locations.get_mut(&key) else { return };
        location.heat += 1;
        location.back_edges += 1;
        let is_due = location.heat >= location.needed(self.config.threshold);
        if location.entries.len() > 1 || is_due {
            let gate = self.gates.close(key);
            self.did_not_pass(gate);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use tracelift_core::schema::LayoutId;
    use tracelift_core::{ExitKind, Op};

    use crate::gate::GATES;
    use crate::ids::TraceId;
    use crate::reserve::WorstCase;
    use crate::run::Action;
    use crate::support::{float, int, Host, Slot, Tape};
    use crate::ticks::Ticks;
    use crate::tunables::{COLD_SAMPLES, FIRST_SAMPLES, GATE_REFUSALS, SAMPLE_STRIDE};
    use crate::{CloseOutcome, Config};

    const HEAD: usize = 4;
    /// Shares HEAD's counter, and its class.
    const OTHER: usize = HEAD + 4 * GATES;

    thread_local!(static CLOCK: Cell<u64> = const { Cell::new(0) });
    thread_local!(static STEP: Cell<u64> = const { Cell::new(0) });

    /// `while i < n: i = i + 1`, with i and n in slots 0 and 1.
    fn count(tape: &mut Tape<'_>) {
        tape.while_less(0, 3, 0, 1);
        tape.add(1, 3, 0, 1);
    }

    /// The same with doubles.
    fn count_in_floats(tape: &mut Tape<'_>) {
        tape.at(0, 3);
        let [i, n] = [0, 1].map(|slot| tape.read(slot, tape.ids.float).expect("it holds a double"));
        let less = tape.op2(Op::FloatLt, i, n);
        tape.guard(less, ExitKind::LoopEnd);
        tape.at(1, 3);
        let one = tape.recorder.constant(tracelift_core::Type::Float, 1f64.to_bits());
        let i = tape.op2(Op::FloatAdd, i, one);
        tape.write(0, tape.ids.float, Some(i));
    }

    fn record(host: &mut Host, key: usize, slots: [Slot; 2], iteration: fn(&mut Tape<'_>)) {
        host.frame[..2].copy_from_slice(&slots);
        assert!(matches!(host.back_edge(key), Action::Record));
        assert!(matches!(host.record(key, iteration), CloseOutcome::Compiled(_)));
    }

    /// Enters the loop and leaves it again; whether that came through a gate.
    fn enters(host: &mut Host, key: usize) -> bool {
        host.frame[..2].copy_from_slice(&[int(0), int(2)]);
        assert_eq!(host.run(key), Some((ExitKind::LoopEnd, 0)));
        assert_eq!(host.frame[..2], [int(2), int(2)]);
        host.vm.last_run.has_passed
    }

    /// A host with code for HEAD, of which not every entry is timed any more.
    fn host(config: Config) -> Host {
        host_wanted_by(None, config)
    }

    /// The same, where other code may lead to HEAD.
    fn host_wanted_by(leader: Option<usize>, config: Config) -> Host {
        let mut host = Host::new(Config { threshold: 1, side_threshold: 1 << 30, ..config });
        host.vm.locations.entry(HEAD).or_default().wanted_by = leader;
        host.vm.timing.ticks = Ticks::of_test(|| CLOCK.replace(CLOCK.get() + STEP.get()));
        STEP.set(1000);
        host.vm.budget.stands_at(1_000_000_000);
        record(&mut host, HEAD, [int(0), int(5)], count);
        (0..COLD_SAMPLES + FIRST_SAMPLES).for_each(|_| assert!(!enters(&mut host, HEAD), "timed"));
        assert!(!enters(&mut host, HEAD), "the last one is judged before this one");
        host
    }

    /// The same, with an open gate.
    fn open_host() -> Host {
        let mut host = host(Config::exact());
        while !enters(&mut host, HEAD) {}
        assert!(host.vm.gates.are_open());
        host
    }

    #[test]
    fn the_entries_between_two_timed_ones_pass() {
        let mut host = host(Config::exact());
        let passed = (0..10 * SAMPLE_STRIDE).filter(|_| enters(&mut host, HEAD)).count() as u64;
        assert_eq!(passed, 10 * SAMPLE_STRIDE - 10);
        let entries = COLD_SAMPLES + FIRST_SAMPLES + 1 + 10 * SAMPLE_STRIDE;
        let stats = host.vm.stats();
        assert_eq!((stats.entries, stats.traces[0].entries), (entries, entries));
        assert_eq!((stats.exits["loop_end"], stats.interpreted_back_edges), (entries, entries + 1));
    }

    #[test]
    fn where_iterations_are_counted_there_are_no_gates() {
        let mut host = host(Config { count_iterations: true, ..Config::exact() });
        assert!((0..100).all(|_| !enters(&mut host, HEAD)));
    }

    /// Its counter is not pinned: others that it counts for set it, and go by what it was set to.
    #[test]
    fn where_only_code_leads_there_is_no_gate() {
        let mut host = host_wanted_by(Some(OTHER), Config::exact());
        assert!((0..1000).all(|_| !enters(&mut host, HEAD)));
        assert_eq!(host.vm.stats().traces[0].entries, host.vm.stats().exits["loop_end"]);
    }

    #[test]
    fn loops_of_one_class_take_the_gate_from_one_another() {
        let mut host = open_host();
        record(&mut host, OTHER, [int(0), int(5)], count);
        for _ in 0..1000 {
            enters(&mut host, HEAD);
            enters(&mut host, OTHER);
        }
        let timed = |host: &mut Host, key| host.vm.locations[&key].pay.ns_per_entry().is_some();
        assert!(timed(&mut host, HEAD) && timed(&mut host, OTHER));
        let stats = host.vm.stats();
        assert_eq!(stats.traces[1].entries, 1000);
        assert_eq!(stats.entries, stats.exits["loop_end"]);
        // Alone again.
        let passed = (0..10 * SAMPLE_STRIDE).filter(|_| enters(&mut host, HEAD)).count() as u64;
        assert!(passed >= 10 * SAMPLE_STRIDE - 12, "{passed}");
    }

    #[test]
    fn slots_of_other_types_are_refused_by_the_code_itself() {
        let mut host = open_host();
        let entries = host.vm.stats().entries;
        let slots = [float(0.5), float(9.0)];
        host.frame[..2].copy_from_slice(&slots);
        assert_eq!(host.run(HEAD), None);
        assert!(host.vm.gates.of(HEAD).is_none() && host.frame[..2] == slots);
        assert_eq!((host.vm.stats().entries, host.vm.stats().refused_entries), (entries, 1));
        // Those types come by the long way: they get code of their own.
        record(&mut host, HEAD, slots, count_in_floats);
        host.frame[..2].copy_from_slice(&slots);
        assert_eq!(host.run(HEAD), Some((ExitKind::LoopEnd, 0)));
        assert_eq!(host.frame[0], float(9.5));
        let passed = (0..10 * SAMPLE_STRIDE).filter(|_| enters(&mut host, HEAD)).count() as u64;
        assert!(passed > 5 * SAMPLE_STRIDE, "once is no reason to have no gate: {passed}");
    }

    /// Slots of two types in turn: code that is entered blindly refuses few of these entries.
    #[test]
    fn who_is_refused_often_gets_no_gate() {
        let mut host = open_host();
        let slots = [float(0.5), float(9.0)];
        host.frame[..2].copy_from_slice(&slots);
        assert_eq!(host.run(HEAD), None);
        record(&mut host, HEAD, slots, count_in_floats);
        let (mut entered, before) = (0, host.vm.stats().refused_entries);
        for _ in 0..5000 {
            entered += u64::from(enters_or_not(&mut host, [int(0), int(2)]));
            entered += u64::from(enters_or_not(&mut host, slots));
        }
        let refused = host.vm.stats().refused_entries - before;
        assert_eq!(entered, 10_000 - refused, "who is refused goes on without code");
        assert!((10..10_000 / GATE_REFUSALS + 60).contains(&refused), "{refused}");
    }

    fn enters_or_not(host: &mut Host, slots: [Slot; 2]) -> bool {
        host.frame[..2].copy_from_slice(&slots);
        host.run(HEAD).is_some()
    }

    /// A loop that shares its counter with one that has code becomes hot as if it had one of its own.
    #[test]
    fn a_gate_to_nothing_loses_no_back_edge() {
        let mut host = open_host();
        host.vm.config.threshold = 500;
        host.frame[..2].copy_from_slice(&[int(0), int(2)]);
        let before = host.vm.stats().interpreted_back_edges;
        let mut passed = 0;
        for n in 1..500 {
            assert!(matches!(host.back_edge(OTHER), Action::Nothing), "{n}");
            let gate = host.vm.gates.of(OTHER);
            passed += u64::from(gate.is_some_and(|gate| gate.way.is_none() && gate.left < 31));
        }
        assert!(passed > 450, "{passed}");
        assert_eq!(host.vm.locations[&OTHER].heat, 499);
        assert_eq!(host.vm.stats().interpreted_back_edges, before + 499);
        assert!(matches!(host.back_edge(OTHER), Action::Record));
    }

    /// A timed entry stands for the entries up to it: each time that gates were shut, a loop that is seldom
    /// entered seemed to be entered 32 times.
    #[test]
    fn entries_that_did_not_pass_are_not_counted() {
        let mut host = open_host();
        while host.vm.timing.sample.is_none() {
            enters(&mut host, HEAD);
        }
        let mut timed = 0;
        for entry in 0..10 * SAMPLE_STRIDE {
            if entry % 3 == 0 {
                host.vm.gates.shut();
            }
            enters(&mut host, HEAD);
            timed += u64::from(host.vm.timing.sample.is_some());
        }
        assert_eq!(timed, 10);
    }

    #[test]
    fn what_is_declined_at_a_gate_is_no_entry() {
        let mut host = open_host();
        let entries = host.vm.stats().entries;
        assert!(matches!(host.back_edge(HEAD), Action::Run(_)) && host.vm.last_run.has_passed);
        host.vm.declined();
        assert_eq!((host.vm.stats().entries, host.vm.stats().declined_entries), (entries, 1));
    }

    #[test]
    fn whatever_changes_the_answer_shuts_the_gates() {
        // A recording: nothing is entered meanwhile.
        let mut host = open_host();
        let base = host.base();
        assert!(host.vm.start_recording(OTHER, base, 0));
        assert!(matches!(host.back_edge(HEAD), Action::Nothing));
        // Code that is gone.
        let mut host = open_host();
        host.vm.forget(HEAD, HEAD + 1);
        assert!(!matches!(host.back_edge(HEAD), Action::Run(_)));
        // A counter that is gone, whatever lies there now.
        let mut host = open_host();
        let mut counter = Box::new(0);
        // SAFETY: it lives until it is dropped.
        unsafe { host.vm.add_counter(&mut *counter) };
        host.frame[..2].copy_from_slice(&[int(0), int(2)]);
        host.vm.gates.shut();
        for _ in 0..10_000 {
            let base = host.base();
            // SAFETY: the frame has more slots than the trace names.
            if let Action::Record = unsafe { host.vm.hot(OTHER, &*counter, base) } {
                host.begin(OTHER, |tape| {
                    count(tape);
                    tape.at(0, 3);
                });
                assert!(matches!(host.vm.link_recording(OTHER), CloseOutcome::Compiled(_)));
            }
        }
        assert!(host.vm.gates.are_open());
        host.vm.drop_counter(&*counter);
        assert!(!host.vm.gates.are_open());
        // Code that rests, since its entries take no time any more.
        let mut host = self::host(Config::default());
        while !enters(&mut host, HEAD) {}
        STEP.set(10);
        assert!((0..100_000).any(|_| host.run(HEAD).is_none()));
    }

    #[test]
    fn memory_for_exits_is_asked_for_at_a_gate() {
        let mut host = open_host();
        let layout = LayoutId(0);
        unsafe extern "C" fn holds(held: *mut std::ffi::c_void, _: u32, _: u32, _: u32, _: u32) -> i32 {
            // SAFETY: the test below declares it with a flag that outlives the host.
            unsafe { *held.cast::<i32>() }
        }
        let mut held = Box::new(1);
        host.vm.reserves.declare(layout, holds, (&raw mut *held).cast());
        let needs = host.vm.reserves.want(&WorstCase::of_an_object(layout));
        let trace = host.vm.traces.get_mut(TraceId(0)).expect("it is alive");
        trace.reach = crate::tree::Reach::new(trace.reach.needs, &needs);
        host.vm.gates.shut();
        while !enters(&mut host, HEAD) {}
        *held = 0;
        host.vm.reserves.spend(&needs);
        assert!(matches!(host.back_edge(HEAD), Action::Nothing));
        assert_eq!(host.vm.stats().unsecured_entries, 1);
        *held = 1;
        while !enters(&mut host, HEAD) {}
    }
}
