//! Side traces: where the program goes on after an exit that it takes often.
//!
//! Problem: a loop with two paths, or with a loop inside, leaves compiled code all the time, and the
//! interpreter runs the rest. Design: each exit counts. One that was taken
//! [`Config::side_threshold`](crate::Config) times is where a recording starts, in the state that the exit
//! has just restored; the *side trace* ends where the program comes to a loop that has code, and that code
//! runs next. So a nest of loops runs without the interpreter: the inner loop's end is an exit of its trace,
//! and the way around the outer loop back to the inner one is a side trace of that exit.
//!
//! A side trace is a function of its own. It takes what its exit leaves behind from the exit buffer, and
//! makes objects and stores that the exit would have made itself (`recorder/inherit.rs`); the exit goes there
//! by a link that the code follows. The end of a side trace is linked to the loop in the same way. Slots of
//! other types than it expects lead back to the host, which counts them as exits, and to another side trace
//! if there are enough of them. What could not be recorded is tried again later, each time after twice as
//! many exits.
//!
//! Invariant: a side trace is entered only after the exit that it was recorded at; the types of the slots
//! that it reads from the host's frames are checked. It lives as long as the loop's trace that it hangs on.
//! Whoever enters a trace holds what the exits of all that it leads to may need. The host never goes from an
//! exit that a test forces to other code; links are followed there too.
//!
//! ```text
//! exit 3 of trace 0, taken 10 times  ->  Record  ...  trace 1, a side trace of trace 0, linked to loop_7f00
//! exit 3 of trace 0                  ->  Run trace 1; it ends by finish  ->  Run the code of loop_7f00
//! ```

use std::sync::atomic::Ordering;

use tracelift_core::ExitKind;

use crate::abort::Failure;
use crate::backend::{free_code, Backend};
use crate::budget::{Order, Refusal};
use crate::ids::{ExitPoint, Key, TraceId};
use crate::location::Location;
use crate::log::Stage;
use crate::policy::{
    after_exit, crowds, exits_until, side_backed_off, LoopState, Rent, SideDecision, SideState,
};
use crate::recorder::{Recorder, Start};
use crate::run::Action;
use crate::traces::{Entered, Left, TraceData};
use crate::tree::{Turns, Way};
use crate::tunables::{
    BACK_EDGES_PER_EXIT, BACK_EDGES_PER_LEFT, LEAST_EXITS, MOST_IN_A_ROW, MOST_OTHERS, SIDES_IN_PRICE,
    SIDES_IN_PRICE_OF_UNIT, SIDES_OF_UNITS,
};
use crate::vm::Vm;

/// So often code of one location is given up with what it had assumed.
const MOST_OUTDATED: u32 = 4;
/// After so many exits it is: what has changed once seldom changes back.
const OUTDATED_EXITS: u64 = 16;

/// So many steps of code from where the program enters it are followed.
const MOST_STEPS: usize = 8;

impl Vm {
    /// Whether there is anything to decide after the exit that was restored last.
    #[inline]
    pub fn has_next(&self) -> bool {
        self.exits.last.is_some()
    }

    /// What the host is to do after the exit that was restored last; see `tl_next`.
    ///
    /// # Safety
    /// `base` points to the slots of the innermost frame; all frames are those of that exit.
    pub unsafe fn next(&mut self, base: *const u8) -> Action {
        let Some(left) = self.exits.last.take() else { return Action::Nothing };
        let Left { at, kind } = left;
        let is_forced = self.config.force_exit.is_some() && *self.code.cells.force == 0;
        if is_forced || !self.config.enabled || self.recording.recorder.is_some() {
            return Action::Nothing;
        }
        let is_region_due = *self.code.cells.crossings_due != 0;
        self.look_around();
        let Some(trace) = self.traces.get(at.trace) else { return Action::Nothing };
        let waits = |recorder: &Recorder| recorder.start == Start::Side(at);
        if self.nested.doomed.contains(&trace.tree.root) || self.recording.aside.iter().any(waits) {
            return Action::Nothing;
        }
        if trace.tree.unit.is_some() {
            self.judge_unit(at.trace);
        }
        let Some(trace) = self.traces.get(at.trace) else { return Action::Nothing };
        if trace.tree.turns.as_ref().is_some_and(Turns::is_due) {
            self.has_turned(at.trace);
        }
        let Some(trace) = self.traces.get(at.trace) else { return Action::Nothing };
        if kind == ExitKind::Finish {
            let Some(key) = trace.tree.link else { return Action::Nothing };
            // SAFETY: passed on from the caller.
            return unsafe { self.go_on_at(at.trace, key, base) };
        }
        let count = trace.exits[at.exit.index()].heat();
        if kind == ExitKind::Hoisted && count >= u64::from(self.config.side_threshold) {
            self.discard(at.trace);
            return Action::Nothing;
        }
        let kind = match kind {
            ExitKind::Assumed if self.is_outdated(at.trace) => {
                let most = u64::from(self.config.side_threshold).min(OUTDATED_EXITS);
                if count < most {
                    self.be_quiet(at, most);
                } else {
                    self.give_up_outdated(at.trace);
                }
                return Action::Nothing;
            }
            ExitKind::Assumed => ExitKind::Guard,
            kind => kind,
        };
        let decision = match self.last_side(at).filter(|_| is_region_due) {
            // It may have fitted, and was refused for that.
            Some(_) => SideDecision::NothingUntil(count + 1),
            None => self.decide_side(at, kind, count),
        };
        let ops = match decision {
            SideDecision::NothingUntil(until) => {
                self.be_quiet(at, until);
                return Action::Nothing;
            }
            // Soon again.
            SideDecision::Record { .. } if self.is_compiling() => {
                self.be_quiet(at, count + 1);
                return Action::Nothing;
            }
            SideDecision::Record { ops } => ops,
        };
        let rent = self.rent_of_side(at);
        if let Some(missing) = self.budget.wait(Order::of(ops), rent).filter(|_| !self.is_in_price(at)) {
            if self.budget.back_edges_missing(Order::of(ops), rent) > 0 {
                self.put_off_side(at, Refusal { order: Order::of(ops), missing });
                return Action::Nothing;
            }
        }
        self.exits.last = Some(left);
        Action::Record
    }

    /// What comes after an exit of this kind that was taken so often.
    fn decide_side(&mut self, at: ExitPoint, kind: ExitKind, count: u64) -> SideDecision {
        let Some(trace) = self.traces.get(at.trace) else { return SideDecision::NothingUntil(u64::MAX) };
        let sides = self.traces.get(trace.tree.root).map_or(u32::MAX, |root| root.tree.count);
        let is_full = sides as usize >= self.config.max_sides;
        match kind {
            ExitKind::Hoisted => SideDecision::NothingUntil(u64::from(self.config.side_threshold)),
            ExitKind::Guard | ExitKind::LoopEnd if !is_full && !self.is_in_a_row(at) => {
                let (state, usual) = (self.side_at(at), self.side_threshold(trace));
                let threshold = if state.is_none() { self.hinted_exits(at, usual) } else { usual };
                after_exit(state, count, threshold, crowds(sides, self.budget.is_limited()))
            }
            _ => SideDecision::NothingUntil(u64::MAX),
        }
    }

    /// Whether so many side traces begin one after the other where the program is at this exit, as they do at
    /// a call that has another function each time, that one more would only make the way there longer.
    fn is_in_a_row(&self, at: ExitPoint) -> bool {
        let place = |at: ExitPoint| self.traces.get(at.trace)?.goes_on_at(at.exit);
        let Some(here) = place(at) else { return false };
        let parent = |at: &ExitPoint| self.traces.get(at.trace)?.tree.parent;
        let before =
            std::iter::successors(parent(&at), parent).take_while(|&at| place(at).as_ref() == Some(&here));
        before.take(MOST_IN_A_ROW as usize).count() == MOST_IN_A_ROW as usize
    }

    /// Does what has become due meanwhile, before anything is decided.
    fn look_around(&mut self) {
        self.look_for_code();
        self.look_for_regions();
        self.look_for_venture();
    }

    /// Whether a side trace at this exit was paid for with its tree's first trace: the first few are, without
    /// which that one would be left at once, and would lose.
    pub(crate) fn is_in_price(&self, at: ExitPoint) -> bool {
        let tree = self.traces.get(at.trace).map(|trace| &trace.tree);
        let sides = tree.and_then(|tree| self.traces.get(tree.root)).map(|root| root.tree.count);
        let is_of_unit = tree.is_some_and(|tree| tree.unit.is_some());
        let most = if is_of_unit { SIDES_IN_PRICE_OF_UNIT } else { SIDES_IN_PRICE };
        sides.is_some_and(|sides| u64::from(sides) < most)
    }

    /// How often an exit of this trace is taken before it gets a side trace.
    fn side_threshold(&self, trace: &TraceData) -> u32 {
        match trace.tree.unit {
            Some(_) if self.budget.is_limited() => {
                (self.config.side_threshold / SIDES_OF_UNITS as u32).max(1)
            }
            _ => self.config.side_threshold,
        }
    }

    /// How often the program has gone on in the interpreter for want of a side trace at this exit: each time
    /// that the exit was taken, and each time that the loop was not even entered, since its code does not pay
    /// without. A side trace may be bought for that as a loop may, whatever the share.
    pub(crate) fn rent_of_side(&self, at: ExitPoint) -> Rent {
        let Some(trace) = self.traces.get(at.trace) else { return Rent::default() };
        let rent = self.rent_of(trace.tree.key);
        let each = if trace.tree.unit.is_some() { BACK_EDGES_PER_LEFT } else { BACK_EDGES_PER_EXIT };
        let exits = trace.exits[at.exit.index()].heat();
        Rent { back_edges: rent.back_edges + exits * each, ..rent }
    }

    /// How often the program has passed a location in the interpreter for want of code, in back edges. Where
    /// code leads to it that rests meanwhile, that counts as well.
    pub(crate) fn rent_of(&self, key: Key) -> Rent {
        let leader = self.leader(key);
        let of = |key| self.locations.get(&key).map_or(0, |at| at.back_edges * at.edges_per_tick());
        let back_edges = of(key) + if leader == key { 0 } else { of(leader) };
        let location = self.locations.get(&key);
        let ns = location.and_then(|location| location.pace.ns()).unwrap_or(0.0);
        let since = location.map_or(0, |location| location.rent_since);
        Rent { back_edges, ns, bytecode: self.prices.bytecode(), since, displaced: 0 }
    }

    /// The location that is entered by the program where this one is only reached by code, step by step.
    pub(crate) fn leader(&self, key: Key) -> Key {
        let mut leader = key;
        for _ in 0..MOST_STEPS {
            match self.locations.get(&leader).and_then(|location| location.wanted_by) {
                Some(by) => leader = by,
                None => break,
            }
        }
        leader
    }

    /// There is new code that the program reaches from this location: its entries are judged anew, and what
    /// was interpreted so far is paid for.
    pub(crate) fn judge_anew(&mut self, key: Key) {
        for key in [key, self.leader(key)] {
            if let Some(location) = self.locations.get_mut(&key) {
                location.pay.begin();
                location.pay.times = 0;
                location.back_edges = 0;
                location.rent_since = self.budget.ran;
            }
        }
    }

    /// There is nothing to decide after this exit until it was taken so often.
    fn be_quiet(&mut self, at: ExitPoint, until: u64) {
        if let Some(trace) = self.traces.get_mut(at.trace) {
            trace.exits[at.exit.index()].quiet_until = until;
        }
    }

    /// There is no time for a side trace now.
    fn put_off_side(&mut self, place: ExitPoint, Refusal { order, missing }: Refusal) {
        self.totals.postponed += 1;
        let threshold = self.traces.get(place.trace).map_or(1, |trace| self.side_threshold(trace));
        let wait = exits_until(missing, threshold);
        let Some(trace) = self.traces.get(place.trace) else { return };
        let at = trace.exits[place.exit.index()].heat() + wait;
        let failures = self.side_at(place).map_or(0, |side| side.failures());
        self.set_side_at(place, SideState::Postponed { at, ops: order.ops, failures });
    }

    /// A trace has come to the location `key`: its code runs next, if it expects such slots. There may have
    /// been none when the trace was linked.
    ///
    /// # Safety
    /// `base` points to the slots of the frame that the loop runs in.
    unsafe fn go_on_at(&mut self, from: TraceId, key: Key, base: *const u8) -> Action {
        let Some(location) = self.locations.get(&key) else { return Action::Nothing };
        if location.state.is_asleep() {
            return Action::Nothing;
        }
        let (schema, reserves) = (&self.schema, &mut self.reserves);
        // SAFETY: passed on from the caller; the rest was promised to `set_reserve`.
        match unsafe { self.traces.enter(&location.entries, base, schema, reserves) } {
            Entered::Trace(id) => {
                self.link_late(from, id);
                (self.last_run.trace, self.last_run.has_passed) = (Some(id), false);
                self.note_entry(key);
                self.traces.get(id).map_or(Action::Nothing, |trace| Action::Run(trace.run()))
            }
            Entered::WithoutMemory => {
                self.totals.unsecured += 1;
                Action::Nothing
            }
            Entered::None => Action::Nothing,
        }
    }

    /// The end of a trace leads to the host as long as there is no code where it goes on: now there is.
    fn link_late(&mut self, from: TraceId, to: TraceId) {
        let Backend::Ready(ready) = &self.code.backend else { return };
        let (Some(glue), Some(code)) = (ready.glue, self.traces.get(to).map(TraceData::address)) else {
            return;
        };
        let Some(trace) = self.traces.get_mut(from) else { return };
        let frame = trace.tree.end;
        if let Some(last) = trace.links.last_mut().filter(|last| **last == glue.leave()) {
            *last = code;
            self.leads_to(Way { from, frame }, to);
        }
    }

    /// Starts the recording that [`Vm::next`] asked for; false if it asked for none.
    pub fn start_side(&mut self, base: *const u8) -> bool {
        let Some(Left { at, .. }) = self.exits.last.take() else { return false };
        if self.recording.recorder.is_some() {
            return false;
        }
        let limits = self.limits();
        let Some(trace) = self.traces.get(at.trace) else { return false };
        self.totals.recordings += 1;
        let mut recorder = Recorder::new(trace.tree.key, base, limits, Start::Side(at));
        recorder.is_asked = true;
        recorder.steps = self.notes.is_some().then(Vec::new);
        trace.tree.unit.into_iter().for_each(|unit| recorder.begin_unit(unit));
        self.budget.begin_recording();
        self.gates.shut();
        if let Ok(state) = trace.resume.state(at.exit.index()) {
            recorder.inherit(&state, &trace.pool, &self.schema);
        }
        self.recording.recorder = Some(recorder);
        true
    }

    /// Whether the loop `key` has code where the recording may go on: what is retired does not count, nor
    /// what has given way to the loop that is recorded.
    pub fn has_loop(&self, key: Key) -> bool {
        let of_loop = |recorder: &Recorder| matches!(recorder.start, Start::Loop { .. });
        let records_loop = self.recording.recorder.as_ref().is_some_and(of_loop);
        let gives_way = || self.locations.get(&key).is_some_and(|location| location.ways_given > 0);
        self.has_code(key) && !(records_loop && gives_way())
    }

    /// Whether the loop `key` has code that pays.
    pub(crate) fn has_code(&self, key: Key) -> bool {
        self.locations.get(&key).is_some_and(Location::has_code)
    }

    /// Whether some code of the loop takes the slots of a frame as they are now.
    ///
    /// # Safety
    /// `base` points to the frame's slots, as many as the loop's code reads.
    pub unsafe fn loop_fits(&self, key: Key, base: *const u8) -> bool {
        let entries = self.locations.get(&key).map_or(&[][..], |location| &location.entries);
        // SAFETY: promised by the caller.
        unsafe { self.traces.fitting(entries, base, &self.schema) }.is_some()
    }

    /// An attempt at an exit failed: the next one comes after twice as many exits.
    pub(crate) fn give_up_side(&mut self, at: ExitPoint, no: &Failure) {
        let ExitPoint { trace: number, exit } = at;
        let kind = format!("side trace: {}", no.reason);
        *self.totals.aborts.entry(kind).or_default() += 1;
        if let Some(notes) = &mut self.notes {
            notes.side_failed(at, no);
        }
        if self.log.wants(Stage::Abort) {
            let key = self.traces.get(number).map_or(0, |trace| trace.tree.key);
            let name = self.name_of_code(Start::Side(at), key);
            self.log.entry(Stage::Abort, &format!("abort {name}: {no}"), String::new);
        }
        if let Some(trace) = self.traces.get_mut(number) {
            trace.tree.failures.insert(exit, no.clone());
        }
        if let Some(refusal) = self.budget.refusal() {
            return self.put_off_side(at, refusal);
        }
        let failures = self.side_at(at).map_or(0, |side| side.failures()) + 1;
        let Some(trace) = self.traces.get(number) else { return };
        let count = trace.exits[exit.index()].heat();
        let next = match &mut self.recording.starts {
            Some(starts) => SideState::BackedOff { at: count + starts.heat(), failures },
            None => side_backed_off(failures, count, self.config.side_threshold),
        };
        self.set_side_at(at, next);
    }

    /// The side trace that the program comes to last after an exit, as long as slots have other types than
    /// those before expect; and how many there are.
    fn last_side(&self, at: ExitPoint) -> Option<(TraceId, u64)> {
        let mut next = self.traces.get(at.trace)?.tree.sides.get(&at.exit).copied();
        let mut last = None;
        while let Some(SideState::Compiled(side)) = next {
            last = Some((side, last.map_or(1, |(_, count)| count + 1)));
            next = self.traces.get(side)?.tree.other;
        }
        last
    }

    /// What has become of an exit as a place where a side trace begins: if it has one, where slots of other
    /// types begin one.
    fn side_at(&self, at: ExitPoint) -> Option<SideState> {
        match self.last_side(at) {
            Some((side, _)) => self.traces.get(side)?.tree.other.or(Some(SideState::Compiled(side))),
            None => self.traces.get(at.trace)?.tree.sides.get(&at.exit).copied(),
        }
    }

    fn set_side_at(&mut self, at: ExitPoint, state: SideState) {
        let last = self.last_side(at).and_then(|(side, _)| self.traces.get_mut(side));
        match last {
            Some(last) => {
                last.tree.other = Some(state);
                self.be_quiet(at, 0);
            }
            None => {
                self.traces.get_mut(at.trace).into_iter().for_each(|trace| trace.set_side(at.exit, state))
            }
        }
    }

    /// A side trace is compiled: from now on it runs after its exit, or where slots come to that have other
    /// types than those before it expect.
    pub(crate) fn attach_side(&mut self, at: ExitPoint, side: TraceId) {
        self.hint_has_served(at);
        let code = self.traces.get(side).map(TraceData::address);
        let last = self.last_side(at);
        self.set_side_at(at, SideState::Compiled(side));
        let from = last.map_or(at.trace, |(last, _)| last);
        let Some(trace) = self.traces.get_mut(from) else { return };
        let (key, root) = (trace.tree.key, trace.tree.root);
        let cell = if last.is_some() { &mut *trace.other } else { &mut trace.links[at.exit.index()] };
        code.into_iter().for_each(|code| *cell = code);
        if last.map_or(0, |(_, count)| count) < MOST_OTHERS {
            self.expects_others(at, side);
        }
        self.leads_to(Way { from, frame: 0 }, side);
        if let Some(root) = self.traces.get_mut(root) {
            root.tree.count += 1;
        }
        self.tree_has_grown(root, side);
        self.judge_anew(key);
    }

    /// Slots of other types than this side trace expects may come to its exit: often enough they get another
    /// one. Units are one function, in which there is no room for it.
    fn expects_others(&mut self, at: ExitPoint, side: TraceId) {
        let Some(trace) = self.traces.get(at.trace) else { return };
        let count = trace.exits[at.exit.index()].heat() + u64::from(self.side_threshold(trace));
        if let Some(side) = self.traces.get_mut(side).filter(|side| side.tree.unit.is_none()) {
            side.tree.other = Some(SideState::Postponed { at: count, ops: 0, failures: 0 });
        }
    }

    /// Links the end of a trace to the code of another.
    pub(crate) fn link_finish(&mut self, side: TraceId, target: TraceId) {
        let code = self.traces.get(target).map(TraceData::address);
        let Some(trace) = self.traces.get_mut(side) else { return };
        let frame = trace.tree.end;
        if let (Some(code), Some(last)) = (code, trace.links.last_mut()) {
            *last = code;
            self.leads_to(Way { from: side, frame }, target);
        }
    }

    /// The program may come from one trace to another without the host: whoever enters the first must hold
    /// what the exits of the second need.
    pub(crate) fn leads_to(&mut self, way: Way, to: TraceId) {
        self.gates.shut();
        self.nested.needs_change();
        let Some(target) = self.traces.get_mut(to) else { return };
        target.tree.from.push(way);
        let mut todo = vec![(way, target.reach.clone())];
        while let Some((way, reach)) = todo.pop() {
            let Some(trace) = self.traces.get_mut(way.from) else { continue };
            if !trace.reach.absorb(&reach.seen_from(way.frame)) {
                continue;
            }
            let needs = trace.reach.needs;
            trace.tree.sites.iter().for_each(|site| site.needs(needs));
            todo.extend(trace.tree.from.iter().map(|&way| (way, trace.reach.clone())));
            let key = trace.tree.key;
            if trace.tree.parent.is_none() {
                self.note_room(key);
            }
        }
    }

    /// Where compiled code reads how many slots the code of a loop may need: it goes on there from frames
    /// below. There need be none yet.
    pub fn room_cell(&mut self, key: Key) -> *const u64 {
        let location = self.locations.entry(key).or_default();
        let cell = location.room.get_or_insert_default().as_ptr().cast_const();
        self.note_room(key);
        cell
    }

    /// The loop's code may need more slots than before.
    pub(crate) fn note_room(&self, key: Key) {
        let Some(location) = self.locations.get(&key) else { return };
        let Some(room) = &location.room else { return };
        let traces = location.entries.iter().filter_map(|&id| self.traces.get(id));
        let slots = traces.map(|trace| trace.reach.needs.slots).max().unwrap_or(0);
        room.store(u64::from(slots), Ordering::Relaxed);
    }

    /// Takes back the links to a trace from others.
    pub(crate) fn unlink_all(&mut self, number: TraceId) {
        let Some(trace) = self.traces.get_mut(number) else { return };
        let (code, root) = (trace.address(), trace.tree.root);
        let from = std::mem::take(&mut trace.tree.from);
        let is_own = |way: &Way| self.traces.get(way.from).is_some_and(|from| from.tree.root == root);
        let (own, others): (Vec<Way>, Vec<Way>) = from.into_iter().partition(is_own);
        self.unlink(code, &others);
        if let Some(trace) = self.traces.get_mut(number) {
            trace.tree.from = own;
        }
    }

    /// Frees a trace's code, which must not run any more, and takes back the links to it.
    pub(crate) fn free_trace(&mut self, number: TraceId) {
        let Some(mut gone) = self.traces.take(number) else { return };
        for plan in gone.exits.iter_mut().filter_map(|exit| exit.plan.take()) {
            self.exits.state.keep(plan.frames);
        }
        self.gates.shut();
        self.totals.freed.entries += gone.entries;
        self.totals.freed.exits.add(&gone.exit_counts());
        self.note_freed(number, &gone);
        if self.config.count_iterations {
            self.totals.freed.traces.push(self.stats_of(number, &gone));
            let left = self.left_of(number, &gone);
            self.totals.freed.left.extend(left);
            let [iterations, calls] = self.counted(number);
            if let Some(location) = self.locations.get_mut(&gone.tree.key) {
                location.counted[0] += iterations;
                location.counted[1] += calls;
            }
        }
        let Backend::Ready(ready) = &mut self.code.backend else { return };
        free_code(ready, &mut self.code.watch, number);
        self.unlink(gone.address(), &gone.tree.from);
    }

    /// Makes the links of these traces that lead to `code` lead back to the host.
    pub(crate) fn unlink(&mut self, code: u64, from: &[Way]) {
        let Backend::Ready(ready) = &self.code.backend else { return };
        let Some(glue) = ready.glue else { return };
        for way in from {
            let Some(trace) = self.traces.get_mut(way.from) else { continue };
            trace.link_cells().filter(|link| **link == code).for_each(|link| *link = glue.leave());
        }
    }

    /// A guard that the optimizer has put before a loop fails too often: the loop's next recording is
    /// compiled without such guards. The code is entered no more; it is kept until the loop is forgotten, as
    /// the host may be in it further down its stack.
    fn discard(&mut self, number: TraceId) {
        if let Some(key) = self.drop_entry(number) {
            self.tell(|vm| {
                let name = vm.shown(number);
                format!("{name} is given up: what it tests before the loop fails too often")
            });
            self.locations.entry(key).or_default().no_hoisting = true;
            self.totals.unhoisted += 1;
        }
    }

    /// The loop's code does not pay. If that is since a guard before it fails most of the time, the code is
    /// given up at once: a loop that is entered seldom from now on would never come to the threshold. Returns
    /// whether it was.
    pub(crate) fn discard_hoisted(&mut self, key: Key) -> bool {
        let Some(location) = self.locations.get(&key) else { return false };
        let fails = |number: &TraceId| {
            self.traces.get(*number).is_some_and(|trace| {
                let hoisted = trace.exits.iter().filter(|exit| exit.kind == ExitKind::Hoisted);
                let count: u64 = hoisted.map(|exit| exit.count).sum();
                count >= LEAST_EXITS && 2 * count >= trace.entries
            })
        };
        let failing: Vec<TraceId> = location.entries.iter().copied().filter(fails).collect();
        failing.iter().for_each(|&number| self.discard(number));
        !failing.is_empty()
    }

    /// Whether a trace is to be recorded anew when what it has assumed has changed. A host that assumes it
    /// again and again gets side traces, and so do units, where all code is one function.
    fn is_outdated(&self, number: TraceId) -> bool {
        let Some(trace) = self.traces.get(number) else { return false };
        let given_up = self.locations.get(&trace.tree.key).map_or(0, |location| location.assumed);
        trace.tree.unit.is_none() && given_up < MOST_OUTDATED
    }

    /// What the trace has assumed has changed: its code is entered no more.
    fn give_up_outdated(&mut self, number: TraceId) {
        let Some(trace) = self.traces.get(number) else { return };
        let (key, is_root) = (trace.tree.key, trace.tree.root == number);
        self.tell(|vm| format!("{} is given up: what it relied on has changed", vm.shown(number)));
        match is_root {
            true => _ = self.drop_entry(number),
            false => self.drop_side(number, u64::from(self.config.side_threshold)),
        }
        self.locations.entry(key).or_default().assumed += 1;
        self.totals.outdated += 1;
    }

    /// Code of a location is entered no more. It is kept until the location is forgotten, as the host may be
    /// in it further down its stack. The location's key, if it was one of its entries.
    pub(crate) fn drop_entry(&mut self, number: TraceId) -> Option<Key> {
        self.gates.shut();
        self.leave_region(number);
        let trace = self.traces.get_mut(number)?;
        let (key, code) = (trace.tree.key, trace.address());
        let from = std::mem::take(&mut trace.tree.from);
        self.unlink(code, &from);
        let threshold = u64::from(self.config.threshold);
        let location = self.locations.entry(key).or_default();
        let pins = location.pins();
        let entries = location.entries.len();
        location.entries.retain(|&entry| entry != number);
        if location.entries.len() == entries {
            return None;
        }
        location.discarded.push(number);
        if location.entries.is_empty() {
            location.state = LoopState::Counting;
        }
        location.heat = location.heat.max(threshold);
        let unpinned = pins - location.pins();
        let counter = location.counter;
        (0..unpinned).for_each(|_| counter.into_iter().for_each(|counter| self.counters.unpin(counter)));
        Some(key)
    }

    /// All code of an entry is entered no more: the function becomes a unit; see `tl_drop_entries`.
    pub fn drop_entries(&mut self, key: Key) {
        let entries = self.locations.get(&key).map(|location| location.entries.clone()).unwrap_or_default();
        entries.into_iter().for_each(|entry| _ = self.drop_entry(entry));
    }

    /// A side trace runs after its exit no more, which may be recorded again after so many exits.
    pub(crate) fn drop_side(&mut self, number: TraceId, exits: u64) {
        self.gates.shut();
        self.leave_region(number);
        let Some(trace) = self.traces.get_mut(number) else { return };
        let (key, code, parent) = (trace.tree.key, trace.address(), trace.tree.parent);
        let from = std::mem::take(&mut trace.tree.from);
        self.unlink(code, &from);
        let Some((at, trace)) = parent.and_then(|at| Some((at, self.traces.get_mut(at.trace)?))) else {
            return;
        };
        let count = trace.exits[at.exit.index()].heat();
        let state = SideState::BackedOff { at: count + exits, failures: 1 };
        match trace.has_side(at.exit, number) {
            true => trace.set_side(at.exit, state),
            // It was for slots of other types than those before it.
            false => from.iter().for_each(|way| {
                let before = self.traces.get_mut(way.from).map(|trace| &mut trace.tree.other);
                before.into_iter().for_each(|other| *other = Some(state));
            }),
        }
        self.locations.entry(key).or_default().discarded.push(number);
    }

    /// A trace and all side traces that hang on it, outermost first.
    pub(crate) fn tree_of(&self, root: TraceId) -> Vec<TraceId> {
        let mut tree = vec![root];
        let mut next = 0;
        while let Some(&number) = tree.get(next) {
            next += 1;
            let Some(trace) = self.traces.get(number) else { continue };
            tree.extend(trace.tree.sides.values().chain(&trace.tree.other).filter_map(|side| match *side {
                SideState::Compiled(side) => Some(side),
                SideState::Postponed { .. } | SideState::BackedOff { .. } => None,
            }));
        }
        tree
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::{int, leaves_at_once, Host};
    use crate::{CloseOutcome, Config};

    const HEAD: usize = 1;

    /// Of a thousand exits at one place, the first at which a side trace is asked for. Compiling has taken
    /// all the time that there is; the loop has so many side traces.
    fn asked_at(sides: u64) -> (Option<usize>, u64) {
        let mut host = Host::new(Config { threshold: 1, side_threshold: 10, ..Config::default() });
        host.frame[..2].copy_from_slice(&[int(-5), int(1)]);
        host.vm.budget.stands_at(1_000_000_000);
        assert!(matches!(host.back_edge(HEAD), Action::Record));
        assert!(matches!(host.record(HEAD, leaves_at_once), CloseOutcome::Compiled(TraceId(0))));
        host.vm.budget.spent = 1_000_000_000;
        host.vm.traces.get_mut(TraceId(0)).expect("it is there").tree.count = sides as u32;
        let asked = (1..=1000).find(|_| {
            host.frame[0] = int(5);
            assert!(host.run(HEAD).is_some());
            let base = host.base();
            // SAFETY: the exit was from code that ran in this frame.
            matches!(unsafe { host.vm.next(base) }, Action::Record)
        });
        (asked, host.vm.stats().postponed_recordings)
    }

    /// A loop's price contains a few, and others wait until there is time, which is no failure.
    #[test]
    fn side_traces_wait_for_time_but_for_the_first_few() {
        assert_eq!(asked_at(SIDES_IN_PRICE - 1), (Some(10), 0));
        let (asked, postponed) = asked_at(SIDES_IN_PRICE);
        assert!(asked.is_none() && postponed > 0, "{asked:?} {postponed}");
    }
}
