//! What a run does with the hints of earlier ones, and what it leaves to later ones.
//!
//! Problem: whether code pays is not known before it was made, so a program interprets its hot loops until
//! they have cost as much as compiling, in each process anew; a short one ends before that. Design: where an
//! earlier run says that a place's code has paid, or would have, it is recorded after a few back edges, and
//! bought without waiting for the share of the time; an exit that had a side trace is due after fewer exits,
//! when there is time.
//! Where it says that recordings failed, or that code did not pay, the first attempt comes later than it
//! would. All else stays: what is recorded is what this process sees, and the code is judged as any other.
//!
//! Hints are believed within limits: a program whose input is another one may have no use for that code. What
//! is bought so is no more than a quarter of the time that the program has run, some milliseconds, and twice
//! what code has saved. Where thresholds alone decide hints are not used, but are learned.
//!
//! Invariant: a hint changes when something is recorded, never what comes of it.
//!
//! ```text
//! run 1: loop app.lua:12 is hot after 2,000 back edges, waits 40 ms, is compiled, saves 300 ms    -> pays
//! run 2: loop app.lua:12 is recorded after 16 back edges, and compiled
//! ```

use std::path::Path;

use tracelift_core::snapshot::Words;

use crate::abort::AbortReason;
use crate::hints::{exit_name, read_file, write_file, Expected, FileError, Hints, StableNameOf, Verdict};
use crate::ids::{ExitId, ExitPoint, Key, TraceId};
use crate::location::Location;
use crate::place::Place;
use crate::policy::{Rent, SideState};
use crate::stats::HintUse;
use crate::tunables::{HINTED_BACK_EDGES, HINTED_EXITS, HINTED_NS, IN_VAIN, MOST_VAIN, WORTH};
use crate::vm::Vm;

const PAYS: Expected = Expected::Known(Verdict::Pays);
const FAILS: Expected = Expected::Known(Verdict::Fails);

impl Vm {
    /// Whom to ask for names of places that are the same in each run; see `tl_set_stable_name_of`.
    pub fn set_stable_name_of(&mut self, host: Option<StableNameOf>) {
        self.warm.set(host);
    }

    /// Takes what earlier runs have learned: before the program runs. Damaged bytes are refused; the program
    /// then runs as the first one did.
    pub fn give_hints(&mut self, bytes: &[u8]) -> Result<(), String> {
        match Hints::parse(bytes) {
            Ok(hints) => {
                self.warm.before = hints;
                Ok(())
            }
            Err(why) => Err(self.refuse_hints(&why.to_string())),
        }
    }

    /// The same from a file in a directory, where there may be none so far.
    pub fn read_hints(&mut self, directory: &Path) -> Result<(), String> {
        match read_file(directory) {
            Ok(hints) => {
                self.warm.before = hints.unwrap_or_default();
                Ok(())
            }
            Err(why) => Err(self.refuse_hints(&why.to_string())),
        }
    }

    fn refuse_hints(&mut self, why: &str) -> String {
        self.warm.refused = Some(why.to_string());
        self.tell(|_| format!("no hints from earlier runs: {why}"));
        why.to_string()
    }

    /// What this run has learned, on top of these bytes if they are hints: what was given, or what other
    /// processes have written since.
    pub fn take_hints(&mut self, before: &[u8]) -> Vec<u8> {
        let before = Hints::parse(before).unwrap_or_default();
        self.learn();
        self.warm.all(before).bytes()
    }

    /// Writes the same into a directory, unless it says so already.
    pub fn write_hints(&mut self, directory: &Path) -> Result<(), FileError> {
        // What is no table of hints is replaced by one; what cannot be read is left alone.
        let before = match read_file(directory) {
            Ok(hints) => hints.unwrap_or_default(),
            Err(FileError::Contents { .. }) => Hints::default(),
            Err(error) => return Err(error),
        };
        self.learn();
        match self.warm.is_known(&before) {
            true => Ok(()),
            false => write_file(directory, &self.warm.all(before)),
        }
    }

    /// What is known of all places that there are.
    fn learn(&mut self) {
        let keys: Vec<Key> = self.locations.keys().copied().collect();
        keys.into_iter().for_each(|key| self.learn_of(key));
    }

    /// A hint of the host's own, about what only it knows; see `tl_note_hint`.
    pub fn note_hint(&mut self, name: u64) {
        if name != 0 {
            self.warm.learn(name, Verdict::Pays);
        }
    }

    /// What an earlier run says of something by this name.
    pub fn hint(&self, name: u64) -> Option<Verdict> {
        self.warm.before.find(name).filter(|_| self.budget.is_limited())
    }

    /// What hints were for this run; nothing if there can be none.
    pub(crate) fn hint_use(&self) -> Option<HintUse> {
        let warm = &self.warm;
        (warm.is_on() || warm.refused.is_some()).then(|| HintUse {
            known: warm.before.len() as u64,
            hastened: warm.hastened,
            avoided: warm.avoided,
            refused: warm.refused.clone(),
        })
    }

    // --- using them ---

    /// What is expected of a location.
    fn expected_of(&self, key: Key) -> Expected {
        match self.budget.is_limited() && self.config.enabled {
            true => self.warm.expected(Place::Key(key)),
            false => Expected::Nothing,
        }
    }

    /// A counter has started: where its loop is expected to be hot it fires soon.
    pub(crate) fn hasten_hinted(&mut self, key: Key, counter: usize) {
        if !self.warm.before.is_empty() && self.expected_of(key) == PAYS {
            self.counters.hasten(counter, HINTED_BACK_EDGES as u32);
        }
    }

    /// The host comes to a location: asks once what is expected of it.
    pub(crate) fn look_up_hint(&mut self, key: Key) {
        if self.locations.get(&key).is_some_and(|location| location.expected == Expected::Unasked) {
            let expected = self.expected_of(key);
            self.warm.hastened += u64::from(expected == PAYS);
            self.warm.avoided += u64::from(expected == FAILS);
            self.locations.entry(key).or_default().expected = expected;
        }
    }

    /// Whether the code of a location is bought although there is no time for it: it has paid before.
    pub(crate) fn is_bought(&self, key: Key) -> bool {
        self.locations.get(&key).is_some_and(Location::is_expected)
            && self.budget.displaces == 0
            && self.budget.is_within(HINTED_NS)
    }

    /// How long the program must run on before the location is recorded; `None` if it may be now.
    pub(crate) fn time_missing(&mut self, key: Key) -> Option<u64> {
        let order = self.locations.entry(key).or_default().order;
        match self.is_bought(key) {
            true => None,
            false => {
                let rent = self.rent_of(key);
                self.budget.wait(order, rent)
            }
        }
    }

    /// What is expected of an exit as a place where a side trace begins.
    fn expected_of_exit(&self, at: ExitPoint) -> Expected {
        match self.warm.before.is_empty() || !self.budget.is_limited() {
            true => Expected::Nothing,
            false => self.warm.of_name(self.exit_name(at).filter(|name| !self.warm.used.contains(name))),
        }
    }

    /// An exit has got a side trace.
    pub(crate) fn hint_has_served(&mut self, at: ExitPoint) {
        if !self.warm.before.is_empty() {
            let name = self.exit_name(at);
            self.warm.used.extend(name);
        }
    }

    /// The name of an exit in each run.
    fn exit_name(&self, at: ExitPoint) -> Option<u64> {
        let trace = self.traces.get(at.trace)?;
        let state = trace.resume.state(at.exit.index()).ok()?;
        let words = state.frames().last()?.words;
        let words: Words = words.map(|word| trace.pool.get(word as usize).copied().unwrap_or(0)).collect();
        let place = self.warm.name(Place::Frame(&words))?;
        Some(exit_name(self.warm.name(Place::Key(trace.tree.key))?, place))
    }

    /// How often an exit that was not tried so far is taken before it gets a side trace, where that is
    /// usually so often.
    pub(crate) fn hinted_exits(&self, at: ExitPoint, usual: u32) -> u32 {
        match self.expected_of_exit(at) {
            PAYS => usual.min(HINTED_EXITS as u32),
            FAILS => usual.saturating_mul(IN_VAIN as u32),
            _ => usual,
        }
    }

    // --- learning ---

    /// What is known of a location, and of the exits of its trees, is kept for later runs. The host knows the
    /// place still.
    pub(crate) fn learn_of(&mut self, key: Key) {
        let Some(name) = self.locations.get(&key).and_then(|_| self.warm.name(Place::Key(key))) else {
            return;
        };
        let entries = self.locations[&key].entries.clone();
        let pays = entries.iter().any(|&root| self.has_paid(root));
        if let Some(verdict) = self.verdict(key, pays) {
            self.warm.learn(name, verdict);
        }
        if pays {
            entries.into_iter().for_each(|root| self.learn_of_exits(root));
        }
    }

    fn verdict(&self, key: Key, pays: bool) -> Option<Verdict> {
        let location = &self.locations[&key];
        if location.state.is_asleep() {
            return Some(Verdict::Fails);
        }
        let (failures, reason) = (u64::from(location.attempts.for_one_reason()), &location.last_abort);
        let has_failed = failures >= MOST_VAIN && *reason != Some(AbortReason::TooCostly);
        match location.entries.is_empty() {
            true if has_failed => Some(Verdict::Fails),
            _ if location.pay.times > 0 => None,
            _ if pays || self.was_worth_code(key) => Some(Verdict::Pays),
            true => None,
            // It was made early for nothing: that it was interpreted for long, or has paid, is long ago.
            false => (location.expected == PAYS && self.has_lost(key)).then_some(Verdict::Fails),
        }
    }

    /// Whether so much was interpreted that code would have gained more than it costs, had it been there from
    /// the start: a short program may end before there is time for it.
    fn was_worth_code(&self, key: Key) -> bool {
        let location = &self.locations[&key];
        let back_edges = self.interpreted_by_now(key) * location.edges_per_tick();
        let rent = Rent { back_edges, ns: location.pace.ns().unwrap_or(0.0), ..Rent::default() };
        // Who was made for nothing once has to show more.
        let times = if location.expected == FAILS { IN_VAIN } else { WORTH };
        self.budget.is_limited() && self.budget.would_have_gained(location.order, rent, times)
    }

    /// Whether the code of a location has gained next to nothing of its price.
    fn has_lost(&self, key: Key) -> bool {
        let location = &self.locations[&key];
        let price: u64 = location.entries.iter().map(|&root| self.price_of_tree(root)).sum();
        self.timing.sample.is_none_or(|sample| sample.key != key) && location.gained < price as f64 / 4.0
    }

    /// What compiling a tree took, in nanoseconds.
    fn price_of_tree(&self, root: TraceId) -> u64 {
        self.tree_of(root)
            .into_iter()
            .filter_map(|of| self.traces.get(of))
            .map(|of| of.worth.compile_ns)
            .sum()
    }

    fn learn_of_exits(&mut self, root: TraceId) {
        for number in self.tree_of(root) {
            let Some(trace) = self.traces.get(number) else { continue };
            let verdict = |side: &SideState| match side {
                SideState::Compiled(_) => Some(Verdict::Pays),
                side if u64::from(side.failures()) >= MOST_VAIN => Some(Verdict::Fails),
                _ => None,
            };
            let sides = trace.tree.sides.iter();
            let learned: Vec<(ExitId, Verdict)> =
                sides.filter_map(|(&exit, side)| Some((exit, verdict(side)?))).collect();
            for (exit, verdict) in learned {
                if let Some(name) = self.exit_name(ExitPoint { trace: number, exit }) {
                    self.warm.learn(name, verdict);
                }
            }
        }
    }

    /// Whether a tree, or one that leads there, has gained what compiling all of it took: the next run makes
    /// its side traces, too. Where thresholds alone decide nobody knows, and all have.
    fn has_paid(&self, root: TraceId) -> bool {
        let paid = |root: &TraceId| {
            let Some(trace) = self.traces.get(*root) else { return false };
            let Some(location) = self.locations.get(&trace.tree.key) else { return false };
            let sample = self.timing.sample.filter(|sample| sample.key == trace.tree.key);
            let open = sample.map_or(0.0, |_| self.open_sample_ns() * trace.worth.saved_per_ns);
            location.gained + open > self.price_of_tree(*root) as f64
        };
        !self.budget.is_limited() || self.leaders_of(root).iter().any(paid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Action;
    use crate::support::{int, sum, Host};
    use crate::Config;

    const HEAD: usize = 1;

    /// A host with a clock that stands, in a program that is that old.
    fn host(ran: u64, hints: &[u8]) -> Host {
        let mut host = Host::new(Config::default());
        host.vm.budget.stands_at(ran);
        host.vm.set_stable_name_of(Some(Box::new(|place| match place {
            Place::Key(key) => 1000 + key as u64,
            Place::Frame(words) => 5000 + words[0],
        })));
        if !hints.is_empty() {
            host.vm.give_hints(hints).unwrap();
        }
        host.frame[..3].copy_from_slice(&[int(0), int(0), int(10)]);
        host
    }

    fn hints(verdict: Verdict) -> Vec<u8> {
        let mut hints = Hints::default();
        hints.learn([(1000 + HEAD as u64, verdict)]);
        hints.bytes()
    }

    /// Back edges until the loop is to be recorded, at most so many.
    fn until_recorded(host: &mut Host, most: u64) -> Option<u64> {
        (1..=most).find(|_| matches!(host.back_edge(HEAD), Action::Record))
    }

    #[test]
    fn what_has_paid_is_recorded_soon_and_without_time() {
        assert_eq!(until_recorded(&mut host(0, &[]), 30_000), None, "a young program waits");
        let mut hinted = host(0, &hints(Verdict::Pays));
        let after = until_recorded(&mut hinted, 30_000).expect("it is bought");
        assert!(after <= 2 * HINTED_BACK_EDGES + 10, "{after}");
        hinted.record(HEAD, sum);
        let stats = hinted.vm.stats();
        assert_eq!((stats.compile.traces, stats.hints.unwrap().hastened), (1, 1));
    }

    #[test]
    fn what_has_failed_is_tried_later() {
        const OLD: u64 = 10_000_000_000;
        let usual = until_recorded(&mut host(OLD, &[]), 30_000).unwrap();
        let mut hinted = host(OLD, &hints(Verdict::Fails));
        let after = until_recorded(&mut hinted, 30_000).unwrap();
        assert!(after > 4 * usual && usual >= 2000, "{usual} {after}");
        assert_eq!(hinted.vm.stats().hints.unwrap().avoided, 1);
    }

    /// Who has spent much without a gain buys no more by hints.
    #[test]
    fn hints_are_believed_within_limits() {
        let mut hinted = host(0, &hints(Verdict::Pays));
        hinted.vm.budget.spent = 10 * HINTED_NS;
        assert_eq!(until_recorded(&mut hinted, 30_000), None);
    }

    #[test]
    fn thresholds_that_are_set_stay() {
        let mut exact = Host::new(Config { threshold: 100, ..Config::exact() });
        exact.vm.set_stable_name_of(Some(Box::new(|_| 1000 + HEAD as u64)));
        exact.vm.give_hints(&hints(Verdict::Pays)).unwrap();
        assert_eq!(until_recorded(&mut exact, 1000), Some(100));
        exact.frame[..3].copy_from_slice(&[int(0), int(0), int(10)]);
        exact.record(HEAD, sum);
        let learned = Hints::parse(&exact.vm.take_hints(&[])).unwrap();
        assert_eq!((learned.len(), learned.find(1000 + HEAD as u64)), (1, Some(Verdict::Pays)));
        exact.vm.forget(HEAD, HEAD + 1);
        let learned = Hints::parse(&exact.vm.take_hints(&learned.bytes())).unwrap();
        assert_eq!(learned.find(1000 + HEAD as u64), Some(Verdict::Pays), "it was learned before");
    }

    #[test]
    fn damaged_hints_are_refused_and_told() {
        let mut host = host(0, &[]);
        let mut bytes = hints(Verdict::Pays);
        bytes[20] ^= 4;
        let why = host.vm.give_hints(&bytes).unwrap_err();
        assert!(why.contains("checksum"), "{why}");
        assert_eq!(host.vm.stats().hints.unwrap().refused, Some(why));
        assert!(Hints::parse(&host.vm.take_hints(&bytes)).unwrap().is_empty());
        host.vm.note_hint(77);
        host.vm.note_hint(0);
        let learned = Hints::parse(&host.vm.take_hints(&hints(Verdict::Fails))).unwrap();
        assert_eq!((learned.len(), learned.find(77)), (2, Some(Verdict::Pays)));
    }
}
