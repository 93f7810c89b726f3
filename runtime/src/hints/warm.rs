//! What a VM has of hints: the host's names, what was known before, and what this run has learned.
//!
//! Problem: a place is named while the host knows it, which may be long before the hints are written; and
//! most VMs have neither names nor hints, and must not pay for them. Design: what is learned of a place that
//! goes is kept by its name. Invariant: without the host's function nothing is looked up, and nothing kept.
//!
//! Example: the function of a hot loop is collected; its hint waits here for the end of the run.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Hints, Verdict, MOST_HINTS};
use crate::place::Place;

/// The host's function that gives names to places which are the same in each run; 0 for a place that has
/// none.
pub type StableNameOf = Box<dyn Fn(Place<'_>) -> u64>;

/// What is expected of a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Expected {
    /// Nobody has asked so far.
    #[default]
    Unasked,
    /// Nothing.
    Nothing,
    /// What came of it in an earlier run.
    Known(Verdict),
}

/// Hints of a VM.
#[derive(Default)]
pub(crate) struct Warm {
    host: Option<StableNameOf>,
    /// What earlier runs have taught.
    pub before: Hints,
    learned: FxHashMap<u64, Verdict>,
    /// Hints of exits that have served one: others at its place have the same name.
    pub used: FxHashSet<u64>,
    /// Places that were recorded sooner, and those that were not tried as soon.
    pub hastened: u64,
    pub avoided: u64,
    /// Why there are no hints.
    pub refused: Option<String>,
}

impl Warm {
    pub fn set(&mut self, host: Option<StableNameOf>) {
        self.host = host;
    }

    /// Whether anything can be learned.
    pub fn is_on(&self) -> bool {
        self.host.is_some()
    }

    /// The host's name of a place.
    pub fn name(&self, place: Place<'_>) -> Option<u64> {
        Some(self.host.as_ref()?(place)).filter(|&name| name != 0)
    }

    /// What is expected of a place.
    pub fn expected(&self, place: Place<'_>) -> Expected {
        if self.before.is_empty() {
            return Expected::Nothing;
        }
        self.of_name(self.name(place))
    }

    /// The same, by its name.
    pub fn of_name(&self, name: Option<u64>) -> Expected {
        name.and_then(|name| self.before.find(name)).map_or(Expected::Nothing, Expected::Known)
    }

    /// Something was learned; what has paid once has paid.
    pub fn learn(&mut self, name: u64, verdict: Verdict) {
        if self.learned.len() < MOST_HINTS || self.learned.contains_key(&name) {
            let known = self.learned.entry(name).or_insert(verdict);
            if verdict == Verdict::Pays {
                *known = verdict;
            }
        }
    }

    /// Whether what was learned is all there already.
    pub fn is_known(&self, before: &Hints) -> bool {
        self.learned.iter().all(|(&name, &verdict)| before.confirms(name, verdict))
    }

    /// What is known now, on top of what the file says by now.
    pub fn all(&self, mut before: Hints) -> Hints {
        before.learn(self.learned.iter().map(|(&name, &verdict)| (name, verdict)));
        before
    }
}

/// The name of an exit at a place, in the tree of a location. Another exit there has the same.
pub(crate) fn exit_name(location: u64, place: u64) -> u64 {
    let mixed = location.rotate_left(23).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ place;
    mixed.wrapping_mul(0xD6E8_FEB8_6659_FD93) | 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_expected_without_names_or_hints() {
        let mut warm = Warm::default();
        assert_eq!(warm.expected(Place::Key(5)), Expected::Nothing);
        warm.before.learn([(5, Verdict::Pays)]);
        assert_eq!(warm.expected(Place::Key(5)), Expected::Nothing);
        warm.set(Some(Box::new(|place| match place {
            Place::Key(key) => key as u64,
            Place::Frame(_) => 0,
        })));
        assert_eq!(warm.expected(Place::Key(5)), Expected::Known(Verdict::Pays));
        assert_eq!(warm.expected(Place::Key(6)), Expected::Nothing);
        assert_eq!(warm.expected(Place::Frame(&[5])), Expected::Nothing);
    }

    #[test]
    fn what_has_paid_once_has_paid() {
        let mut warm = Warm::default();
        for verdict in [Verdict::Fails, Verdict::Pays, Verdict::Fails] {
            warm.learn(9, verdict);
        }
        assert_eq!(warm.all(Hints::default()).find(9), Some(Verdict::Pays));
    }
}
