//! Trees of traces make room for others when code memory is full.
//!
//! Problem: a program that makes new hot loops all the time fills any code memory, and what does not fit is
//! interpreted for ever, while code lies there that nobody enters any more. Design: before code is installed
//! that does not fit, trees are *evicted* one by one, first what was given up already and only waits for its
//! loop to be forgotten, then those that were least useful for their size ([`crate::usefulness`]). An evicted
//! tree is taken apart as a forgotten loop's is: nobody leads to it any more, and its loop is interpreted and
//! may be recorded again.
//!
//! A program that goes round more loops than fit must not exchange them for ever. So while all that is there
//! is of use, new code is not made for its share of the time, but only when interpreting has cost as much as
//! making it, and twice as much as the code has gained in the same time that would make room. Where
//! thresholds alone decide, an evicted loop waits twice as long each time.
//!
//! What the new code needs is kept: the tree that it hangs on, what it goes on in, and the units that it may
//! call. A tree that other code leads to is as useful as that. Regions evict only what was given up or has
//! not been of use for long, as the program runs without them.
//!
//! Invariant: what is evicted is freed at once, so no frame of it may lie on a native stack. While a call of
//! the host is open, only trees go that make no such calls, as all other code leaves its frame when it goes
//! on. What would not fit into empty memory evicts nobody.
//!
//! ```text
//! limit 64 KiB, 61 used, a loop of 5: trace 3 is evicted (given up, 2 KiB), then trace 7 (3 KiB, idle)
//! ```

use tracelift_cranelift::{room_of, Compiled, TreeId};

use crate::backend::Backend;
use crate::ids::{Key, TraceId};
use crate::traces::TraceData;
use crate::tree::Tree;
use crate::tunables::{ENTRY_COST, USEFUL_FOR};
use crate::usefulness::Looked;
use crate::vm::Vm;

/// Where no clock is looked at a tree is idle that has gained lately this part of what others have gained.
const IDLE: f64 = 0.1;
/// The usefulness of a tree counts for those that it leads to, over so many steps.
const MOST_STEPS: usize = 4;

/// A tree that could be evicted.
struct Candidate {
    root: TraceId,
    bytes: usize,
    useful: f64,
    /// Of those to be evicted for one reason the one with the lowest goes first: how useful it is for a byte,
    /// or when it was of use last.
    score: f64,
    why: Why,
}

/// Why a tree is evicted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Why {
    /// It was entered no more.
    GivenUp,
    /// It was hardly of use since others were made.
    Idle,
    /// It was of use, but less than all others.
    LeastUseful,
}

impl Why {
    fn name(self) -> &'static str {
        match self {
            Why::GivenUp => "given up",
            Why::Idle => "idle",
            Why::LeastUseful => "least useful",
        }
    }
}

/// Whom new code is for.
#[derive(Clone, Copy)]
pub(crate) enum For<'a> {
    /// A trace at this place.
    Trace(&'a Tree),
    /// A tree as one function, with others.
    Region(&'a [TraceId]),
}

impl Vm {
    /// Makes room for the code of a trace, or of a tree's region, if it takes no more than there can be.
    /// Whether there is room now shows when it is installed.
    pub(crate) fn make_room(&mut self, number: TraceId, compiled: &Compiled, whom: For<'_>) {
        let Backend::Ready(ready) = &self.code.backend else { return };
        let (tree, room, usage) = (number.tree(), room_of(compiled), ready.arena.usage());
        if usage.used * 2 <= usage.limit {
            self.budget.displaces = 0;
            return;
        }
        let mean = self.look_at_trees();
        self.note_return(whom);
        if room <= usage.limit - usage.limit / 8 && !self.has_room(tree, room) {
            self.free_doomed();
            let kept = self.kept_for(whom);
            let candidates = self.candidates(&kept, whom, mean);
            let displaces = self.evict_for(tree, room, &candidates);
            if let For::Trace(_) = whom {
                self.budget.displaces = displaces;
            }
        }
    }

    /// Whether a loop gets code again whose tree was evicted, as nobody seemed to need it.
    fn note_return(&mut self, whom: For<'_>) {
        let For::Trace(Tree { key, parent: None, .. }) = whom else { return };
        let location = self.locations.get_mut(key).filter(|_| self.budget.is_limited());
        if let Some(used_at) = location.and_then(|location| location.idle_since.take()) {
            self.code.usefulness.comes_back(used_at);
        }
    }

    /// Evicts trees until there is room, and idle ones until there is some more: the next trace comes soon.
    /// Returns how useful the tree is that would be the next to go; 0 if it is of no use.
    fn evict_for(&mut self, tree: TreeId, room: usize, candidates: &[Candidate]) -> u64 {
        let Backend::Ready(ready) = &self.code.backend else { return 0 };
        let limit = ready.arena.usage().limit;
        let (most, ahead) = ((4 * room).max(limit / 8), limit / 16);
        let mut freed = 0;
        for candidate in candidates {
            let has_room = self.has_room(tree, room);
            let is_useful = candidate.why == Why::LeastUseful;
            if !has_room && freed <= most || !is_useful && freed < ahead {
                freed += self.evict(candidate);
            } else if self.traces.get(candidate.root).is_some() {
                return if is_useful { candidate.useful as u64 + 1 } else { 0 };
            }
        }
        0
    }

    fn has_room(&self, tree: TreeId, room: usize) -> bool {
        match &self.code.backend {
            Backend::Ready(ready) => ready.arena.has_room(tree, room),
            _ => true,
        }
    }

    /// What trees have gained since the last look. Returns the mean of their scores.
    fn look_at_trees(&mut self) -> f64 {
        let is_limited = self.budget.is_limited();
        let root = |(number, trace): (TraceId, &TraceData)| {
            (trace.tree.root == number).then(|| Looked {
                root: number,
                gained: self.gained_by(trace),
                expected: is_limited.then_some(trace.worth.compile_ns as f64),
            })
        };
        let trees: Vec<Looked> = self.traces.alive().filter_map(root).collect();
        let now = if is_limited { self.budget.ran } else { 0 };
        let kept = match is_limited {
            true => (-(self.code.usefulness.since(now) as f64) / USEFUL_FOR as f64).exp2(),
            // Half is left when as many traces were made as there are trees, or so.
            false => 1.0 - 1.0 / (trees.len() as f64 + 1.0),
        };
        self.code.usefulness.look(&trees, now, kept)
    }

    /// What a root has gained since it was made, as far as the program has entered it: an estimate in
    /// nanoseconds. Where thresholds alone decide no time counts.
    fn gained_by(&self, root: &TraceData) -> f64 {
        let entered = root.entries as f64 * ENTRY_COST as f64;
        let location = self.locations.get(&root.tree.key).filter(|_| self.budget.is_limited());
        let ran = location.map_or(0.0, |location| location.machine_ns - root.worth.machine_before);
        entered + ran.max(0.0) * root.worth.saved_per_ns
    }

    /// The roots of trees that must stay for new code.
    fn kept_for(&self, whom: For<'_>) -> Vec<TraceId> {
        let root_of = |number: &TraceId| self.traces.get(*number).map(|trace| trace.tree.root);
        match whom {
            For::Region(parts) => parts.iter().filter_map(root_of).collect(),
            For::Trace(tree) => {
                let link = tree.link.and_then(|key| self.locations.get(&key));
                let link = link.map_or(&[][..], |location| &location.entries);
                link.iter().copied().chain([tree.root]).collect()
            }
        }
    }

    /// Trees that may be evicted, those that will be missed least first.
    fn candidates(&mut self, kept: &[TraceId], whom: For<'_>, mean: f64) -> Vec<Candidate> {
        let is_open = self.nested.may_be_open();
        let last =
            self.last_run.trace.and_then(|number| self.traces.get(number)).map(|trace| trace.tree.root);
        // Which entry is timed depends on the clock.
        let timed = self.timing.sample.filter(|_| self.budget.is_limited()).map(|sample| sample.key);
        let mut all = Vec::new();
        for &key in self.locations.keys() {
            let location = &self.locations[&key];
            let given_up = location.discarded.iter().map(|&root| (root, true));
            for (root, is_given_up) in given_up.chain(location.entries.iter().map(|&root| (root, false))) {
                let is_in_use = !is_given_up && (last == Some(root) || timed == Some(key));
                all.push((root, is_given_up, is_in_use));
            }
        }
        // Others call units natively, and the new code may.
        let may_call = matches!(whom, For::Trace(tree) if tree.unit.is_some() || !tree.calls.is_empty());
        if !is_open && !may_call {
            let of_unit = |(number, trace): (TraceId, &TraceData)| {
                let unit = self.units.get(trace.tree.unit?)?;
                (unit.root() == Some(number)).then_some((number, false, false))
            };
            all.extend(self.traces.alive().filter_map(of_unit));
        }
        all.retain(|(root, ..)| !kept.contains(root) && !self.nested.doomed.contains(root));
        let mut candidates: Vec<Candidate> = (all.into_iter())
            .filter_map(|(root, is_given_up, is_in_use)| {
                let tree = self.tree_of(root);
                if is_open && tree.iter().any(|&number| self.calls_host(number)) {
                    return None;
                }
                let useful = self.usefulness_of(root);
                let bytes = tree.iter().map(|&number| self.bytes_of(number)).sum::<usize>().max(1);
                let used_at = self.used_at(root);
                let is_idle = match self.budget.is_limited() {
                    true => self.code.usefulness.is_idle(used_at),
                    false => useful < IDLE * mean,
                };
                let (score, why) = match () {
                    () if is_given_up => (0.0, Why::GivenUp),
                    () if is_in_use => (f64::MAX, Why::LeastUseful),
                    () if is_idle => (used_at as f64, Why::Idle),
                    () => (useful / bytes as f64, Why::LeastUseful),
                };
                Some(Candidate { root, bytes, useful, score, why })
            })
            .collect();
        if let For::Region(_) = whom {
            candidates.retain(|candidate| candidate.why != Why::LeastUseful);
        }
        candidates
            .sort_by(|a, b| a.why.cmp(&b.why).then(a.score.total_cmp(&b.score)).then(a.root.cmp(&b.root)));
        candidates
    }

    /// How useful a tree is: as useful as the most useful one that leads there.
    fn usefulness_of(&self, root: TraceId) -> f64 {
        let leaders = self.leaders_of(root);
        leaders.iter().map(|&root| self.code.usefulness.of(root)).fold(0.0, f64::max)
    }

    /// When a tree was of use last, or one that leads there.
    fn used_at(&self, root: TraceId) -> u64 {
        let leaders = self.leaders_of(root);
        leaders.iter().map(|&root| self.code.usefulness.used_at(root)).max().unwrap_or(0)
    }

    /// A tree and those that lead there, step by step.
    pub(crate) fn leaders_of(&self, root: TraceId) -> Vec<TraceId> {
        let mut roots = vec![root];
        for _ in 0..MOST_STEPS {
            let before = roots.len();
            for at in 0..before {
                let from = self.traces.get(roots[at]).map_or(&[][..], |trace| &trace.tree.from);
                for way in from {
                    let root = self.traces.get(way.from).map(|trace| trace.tree.root);
                    roots.extend(root.filter(|root| !roots.contains(root)));
                }
            }
            if roots.len() == before {
                break;
            }
        }
        roots
    }

    /// Code memory that belongs to a trace.
    fn bytes_of(&self, number: TraceId) -> usize {
        match &self.code.backend {
            Backend::Ready(ready) => ready.arena.owned_by(number.tree()),
            _ => 0,
        }
    }

    /// Frees a tree, and lets its loop be recorded again later. Returns the bytes that this has given back.
    fn evict(&mut self, candidate: &Candidate) -> usize {
        let &Candidate { root, bytes, why, .. } = candidate;
        let Some(trace) = self.traces.get(root) else { return 0 };
        let (key, unit, ops) = (trace.tree.key, trace.tree.unit, trace.worth.ops.0);
        let tree = self.tree_of(root);
        self.tell(|vm| format!("{} is evicted: {}, {bytes} bytes", vm.shown(root), why.name()));
        let evicted = &mut self.totals.evicted;
        evicted.trees += 1;
        evicted.traces += tree.len() as u64;
        evicted.bytes += bytes as u64;
        *evicted.reasons.entry(why.name()).or_default() += 1;
        self.learn_of(key);
        let roots = match unit {
            // Units that call it are no more, either.
            Some(_) => self.forget_units(key, key + 1),
            None => {
                self.drop_entry(root);
                vec![root]
            }
        };
        let idle_since = (why == Why::Idle).then(|| self.used_at(root));
        if why == Why::Idle {
            self.code.usefulness.evicts_idle();
        }
        let key_of = |number: &TraceId| self.traces.get(*number).map(|trace| trace.tree.key);
        let keys: Vec<Key> = roots.iter().filter_map(key_of).collect();
        self.free_trees(&roots);
        for key in keys {
            self.was_evicted(key, &roots, why, ops);
            if let Some(location) = self.locations.get_mut(&key) {
                (location.idle_since, location.rent_since) = (idle_since, self.budget.ran);
            }
        }
        bytes
    }

    /// What becomes of the location of a tree that is gone.
    fn was_evicted(&mut self, key: Key, roots: &[TraceId], why: Why, ops: u64) {
        let (threshold, is_exact) = (self.config.threshold, !self.budget.is_limited());
        if let Some(location) = self.locations.get_mut(&key) {
            location.discarded.retain(|number| !roots.contains(number));
            if location.outgrown.is_some_and(|outgrown| roots.contains(&outgrown.trace)) {
                location.outgrown = None;
            }
            if why != Why::GivenUp {
                location.evicted(ops, is_exact, threshold);
            }
        }
        self.note_room(key);
    }
}
