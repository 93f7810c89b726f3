//! Recordings that start at random back edges: a test aid.
//!
//! Problem: a threshold starts all recordings of a loop at one iteration, and a loop that was compiled is not
//! recorded again; what a recording must not disturb, and the states of a program in which it may start, are
//! then hardly seen. Design: with a seed, each loop draws the heat that its next attempt needs, anew after
//! each attempt and without any penalty for those that failed; a third of the recordings is thrown away, in
//! their midst or at their close, so that the same loops are recorded again and again. Invariant: what is
//! drawn depends on the seed and on the order in which loops run, never on addresses; a program cannot tell
//! which seed it runs with.
//!
//! Example: seed 7 at threshold 4 starts recordings 4 back edges apart in the mean, mostly fewer, at times
//! 20.

/// One recording in so many is thrown away.
const DISCARDED: u64 = 3;
/// A recording that is thrown away ends before it has so many operations, or at its close if it has fewer.
const LONGEST_DISCARDED: u64 = 200;
/// Code that another thread makes comes after fewer looks than one of these.
const MOST_LOOKS: [u64; 5] = [4, 40, 400, 4000, 40_000];

/// The random numbers behind it.
#[derive(Clone, Debug)]
pub(crate) struct Starts {
    state: u64,
    mean: u32,
}

impl Starts {
    /// Draws from `seed`, around the mean `threshold`.
    pub fn new(seed: u64, threshold: u32) -> Starts {
        Starts { state: seed, mean: threshold.max(1) }
    }

    /// 64 random bits: splitmix64, which any seed suits.
    fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// The heat that a loop's next attempt needs: geometric, so that each back edge is as likely as the one
    /// before it.
    pub fn heat(&mut self) -> u64 {
        if self.mean == 1 {
            return 1;
        }
        let unit = ((self.bits() >> 11) + 1) as f64 / (1u64 << 53) as f64; // above 0, at most 1
        let not_yet = (1.0 - 1.0 / f64::from(self.mean)).ln();
        // At most 37 times the mean, as `unit` is not smaller than 2^-53.
        1 + (unit.ln() / not_yet) as u64
    }

    /// How often the VM looks in vain for what another thread makes: a few times, or many.
    pub fn looks_in_vain(&mut self) -> u64 {
        let most = MOST_LOOKS[self.bits() as usize % MOST_LOOKS.len()];
        self.bits() % most
    }

    /// The operation at which the recording that now starts is thrown away; `None` for most.
    pub fn discard_at(&mut self) -> Option<usize> {
        let is_discarded = self.bits().is_multiple_of(DISCARDED);
        is_discarded.then(|| (self.bits() % LONGEST_DISCARDED) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heats_have_the_mean_and_all_small_values() {
        for mean in [1, 2, 4, 56] {
            let mut starts = Starts::new(42, mean);
            let drawn: Vec<u64> = (0..20_000).map(|_| starts.heat()).collect();
            let found = drawn.iter().sum::<u64>() as f64 / drawn.len() as f64;
            assert!((found / f64::from(mean) - 1.0).abs() < 0.05, "{mean}: {found}");
            let largest = if mean == 1 { 1 } else { u64::from(mean) * 2 };
            assert!((1..=largest).all(|value| drawn.contains(&value)), "{mean}");
        }
    }

    #[test]
    fn a_third_is_discarded_early_or_late() {
        let mut starts = Starts::new(0, 4);
        let drawn: Vec<usize> = (0..3000).filter_map(|_| starts.discard_at()).collect();
        assert!((900..1100).contains(&drawn.len()), "{}", drawn.len());
        assert!(drawn.contains(&0) && drawn.iter().any(|&at| at > 150));
    }

    #[test]
    fn the_largest_threshold_is_no_problem() {
        let mut starts = Starts::new(1, u32::MAX);
        assert!((0..1000).map(|_| starts.heat()).all(|heat| (1..1 << 38).contains(&heat)));
    }
}
