//! What trees of traces have been good for lately.
//!
//! Problem: code memory is limited, and when it is full some tree has to make room for another. Which one
//! will be missed least is known of the past only, and what was useful an hour ago may be over. Design: each
//! time that code is made while memory runs short there is a *look* at all trees. A tree's score is what it
//! has gained since the look before, added to what is left of its old score, of which who looks says how much
//! that is. So a phase of the program is forgotten as the next one goes on. A new tree begins with what is
//! expected of it; else it would be the first to go. A tree of no use for long is *idle*; how long that is,
//! is learned from those that were evicted too early. Invariant: no clock is read here, and the same numbers
//! give the same order.
//!
//! ```text
//! look 1: loop a gained 100, b 10                           scores: a 100, b 10
//! look 2, half is left: a gained 0, b 5, of c 50 expected   scores: a 50, b 10, c 50
//! ```

use rustc_hash::FxHashMap;

use crate::ids::TraceId;
use crate::tunables::{MOST_PATIENCE, PATIENCE};

/// What is known of a tree.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// All that it had gained at the last look.
    gained: f64,
    score: f64,
    /// How old the program was at the last look that found that it had gained something.
    used_at: u64,
}

/// A tree that is looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Looked {
    pub root: TraceId,
    /// All that it has gained since it was made.
    pub gained: f64,
    /// What was expected of it when it was made; the mean, if nobody knows.
    pub expected: Option<f64>,
}

/// What is known of all trees, by their roots.
#[derive(Debug, Default)]
pub(crate) struct Usefulness {
    seen: FxHashMap<TraceId, Seen>,
    /// How old the program was at the last look, in nanoseconds.
    looked_at: u64,
    /// A tree is idle that was of no use for so long.
    patience: u64,
}

impl Usefulness {
    /// Looks at all trees that there are, at an age of the program. Others are forgotten. `kept` says which
    /// part of the old scores is left. Returns the mean score.
    pub fn look(&mut self, trees: &[Looked], now: u64, kept: f64) -> f64 {
        self.looked_at = now;
        let known: Vec<f64> =
            trees.iter().filter_map(|tree| self.seen.get(&tree.root)).map(|seen| seen.score * kept).collect();
        let mean = if known.is_empty() { 0.0 } else { known.iter().sum::<f64>() / known.len() as f64 };
        let look = |&Looked { root, gained, expected }: &Looked| {
            let seen = match self.seen.get(&root) {
                Some(seen) => {
                    let more = (gained - seen.gained).max(0.0);
                    let used_at = if more > 0.0 { now } else { seen.used_at };
                    Seen { gained, score: seen.score * kept + more, used_at }
                }
                None => Seen { gained, score: expected.unwrap_or(mean) + gained.max(0.0), used_at: now },
            };
            (root, seen)
        };
        self.seen = trees.iter().map(look).collect();
        let all: f64 = self.seen.values().map(|seen| seen.score).sum();
        all / self.seen.len().max(1) as f64
    }

    /// How long ago the last look was.
    pub fn since(&self, now: u64) -> u64 {
        now - self.looked_at.min(now)
    }

    /// How old the program was when a tree was of use last, as far as looks can tell.
    pub fn used_at(&self, root: TraceId) -> u64 {
        self.seen.get(&root).map_or(self.looked_at, |seen| seen.used_at)
    }

    /// Whether a tree that was of use last at this age is idle by now.
    pub fn is_idle(&self, used_at: u64) -> bool {
        self.since_look(used_at) > self.patience.max(PATIENCE)
    }

    fn since_look(&self, used_at: u64) -> u64 {
        self.looked_at - used_at.min(self.looked_at)
    }

    /// An idle tree was evicted.
    pub fn evicts_idle(&mut self) {
        self.patience -= self.patience / 64;
    }

    /// A loop is hot again whose tree was evicted as it was idle since this age of the program: next time
    /// that is waited for, unless it is too long.
    pub fn comes_back(&mut self, used_at: u64) {
        let gap = self.since_look(used_at);
        if gap <= MOST_PATIENCE {
            self.patience = self.patience.max(gap + gap / 2);
        }
    }

    /// How useful a tree is, by the last look.
    pub fn of(&self, root: TraceId) -> f64 {
        self.seen.get(&root).map_or(0.0, |seen| seen.score)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: TraceId = TraceId(0);
    const B: TraceId = TraceId(1);
    const C: TraceId = TraceId(2);

    fn looked(root: TraceId, gained: f64) -> Looked {
        Looked { root, gained, expected: None }
    }

    #[test]
    fn what_is_used_no_more_falls_behind() {
        let mut useful = Usefulness::default();
        useful.look(&[looked(A, 1000.0), looked(B, 10.0)], 0, 0.5);
        assert!(useful.of(A) > useful.of(B));
        for look in 1..20 {
            useful.look(&[looked(A, 1000.0), looked(B, 10.0 + 5.0 * f64::from(look))], 0, 0.5);
        }
        assert!(useful.of(A) < 1.0 && useful.of(B) > 5.0, "{useful:?}");
    }

    #[test]
    fn a_new_tree_is_not_the_first_to_go() {
        let mut useful = Usefulness::default();
        assert_eq!(useful.look(&[looked(A, 100.0), looked(B, 10.0)], 0, 0.5), 55.0);
        let new = Looked { expected: Some(90.0), ..looked(TraceId(3), 0.0) };
        useful.look(&[looked(A, 100.0), looked(B, 10.0), looked(C, 0.0), new], 0, 0.5);
        let scores = [A, B, C, TraceId(3)].map(|root| useful.of(root));
        assert_eq!(scores, [50.0, 5.0, 27.5, 90.0]);
    }

    #[test]
    fn what_is_gone_is_forgotten() {
        let mut useful = Usefulness::default();
        useful.look(&[looked(A, 100.0), looked(B, 10.0)], 0, 0.5);
        useful.look(&[looked(B, 10.0)], 0, 0.5);
        assert_eq!((useful.of(A), useful.seen.len()), (0.0, 1));
    }

    #[test]
    fn patience_is_learned() {
        let mut useful = Usefulness::default();
        let look = |useful: &mut Usefulness, now, a, b| {
            useful.look(&[looked(A, a), looked(B, b)], now, 0.5);
        };
        look(&mut useful, 1_000, 1.0, 1.0);
        look(&mut useful, 1_000 + PATIENCE, 1.0, 2.0);
        assert!(!useful.is_idle(useful.used_at(A)));
        look(&mut useful, 1_001 + PATIENCE, 1.0, 3.0);
        assert_eq!([A, B].map(|root| useful.is_idle(useful.used_at(root))), [true, false]);
        useful.comes_back(useful.used_at(A));
        assert!(!useful.is_idle(useful.used_at(A)), "it should have stayed");
        (0..100).for_each(|_| useful.evicts_idle());
        assert!(useful.is_idle(useful.used_at(A)), "nobody came back");
        look(&mut useful, 2 * MOST_PATIENCE + PATIENCE, 1.0, 4.0);
        useful.comes_back(useful.used_at(A));
        assert!(useful.is_idle(useful.used_at(A)), "nobody waits so long");
    }
}
