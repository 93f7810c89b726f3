//! What a program has still to do, as far as its counted loops tell.
//!
//! Problem: compiling pays where a program goes on for long, and nobody knows how long that is. So a young
//! program may compile next to nothing, and one of a tenth of a second gets its first code when half of its
//! time is over. Design: a host that runs counted loops knows how many iterations each has to come. Asked
//! twice, it tells how long one takes, and so when the loop will be over. Then a young program counts as
//! being as old as half of that time makes it, up to the age at which programs are trusted anyhow. Invariant:
//! no program is believed to run on for more than some times what it has run so far: a loop may be left
//! before its end, and its later iterations may be shorter.
//!
//! ```text
//! after 2 ms: 118 of 120 iterations to come; after 3 ms: 117  ->  117 ms to come, believed are 30
//! ```

use crate::tunables::{FORESEEN, FORESIGHT_INTERVAL, YOUNG};

/// Loops that are kept in mind.
const LOOPS: usize = 8;

/// A counted loop that is running.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// What the host knows it by.
    place: usize,
    /// Iterations that were to come when it was first seen, and when that was.
    left: u64,
    since: u64,
    /// When it will be over; 0 as long as it is not known.
    end: u64,
}

/// What the host has said of its counted loops. Times are nanoseconds of processor time.
#[derive(Debug, Default)]
pub(crate) struct Foresight {
    seen: Vec<Seen>,
    asked: u64,
}

impl Foresight {
    /// Whether to ask the host, when the program has run so long.
    pub fn is_due(&self, ran: u64) -> bool {
        ran < YOUNG && ran >= self.asked + FORESIGHT_INTERVAL
    }

    /// The host has been asked, as far as it goes.
    pub fn was_asked(&mut self, ran: u64) {
        self.asked = ran;
    }

    /// The loop at this place has so many iterations to come.
    pub fn sees(&mut self, place: usize, left: u64, ran: u64) {
        let begins = Seen { place, left, since: ran, end: 0 };
        let known = self.seen.iter().position(|seen| seen.place == place);
        let Some(seen) = known.map(|at| &mut self.seen[at]) else {
            if self.seen.len() < LOOPS {
                self.seen.push(begins);
            }
            return;
        };
        if left < seen.left {
            let each = (ran - seen.since) as f64 / (seen.left - left) as f64;
            seen.end = ran.saturating_add((each * left as f64) as u64);
        } else if left > seen.left {
            *seen = begins;
        }
    }

    /// How old the program counts as, when it has run so long.
    pub fn age(&self, ran: u64) -> u64 {
        let end = self.seen.iter().map(|seen| seen.end).max().unwrap_or(0);
        let left = end.saturating_sub(ran).min(ran.saturating_mul(FORESEEN));
        ran.max((ran + left / 2).min(YOUNG))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn the_end_of_a_counted_loop_is_foreseen() {
        let mut foresight = Foresight::default();
        foresight.sees(1, 100, 2 * MS);
        assert_eq!(foresight.age(2 * MS), 2 * MS, "nobody knows how long an iteration takes");
        foresight.sees(1, 90, 4 * MS);
        assert_eq!(foresight.age(4 * MS), 13 * MS, "18 ms to come");
        foresight.sees(1, 80, 5 * MS);
        assert_eq!(foresight.age(5 * MS), 11 * MS, "it is faster by now: 12 ms to come");
        assert_eq!(foresight.age(50 * MS), 50 * MS, "it is over");
    }

    #[test]
    fn no_program_is_believed_to_run_for_ever() {
        let mut foresight = Foresight::default();
        foresight.sees(1, u64::MAX, MS);
        foresight.sees(1, u64::MAX - 1, 2 * MS);
        assert_eq!(foresight.age(2 * MS), (2 + FORESEEN) * MS);
        assert_eq!(foresight.age(40 * MS), YOUNG);
        assert_eq!(foresight.age(2 * YOUNG), 2 * YOUNG);
    }

    #[test]
    fn a_loop_that_begins_anew_is_another_one() {
        let mut foresight = Foresight::default();
        foresight.sees(1, 100, MS);
        foresight.sees(1, 50, 2 * MS);
        foresight.sees(1, 100, 3 * MS);
        assert_eq!(foresight.age(3 * MS), 3 * MS);
    }

    #[test]
    fn only_young_programs_are_asked_and_not_all_the_time() {
        let mut foresight = Foresight::default();
        assert!(foresight.is_due(FORESIGHT_INTERVAL) && !foresight.is_due(YOUNG));
        foresight.was_asked(FORESIGHT_INTERVAL);
        assert!(!foresight.is_due(FORESIGHT_INTERVAL + 1) && foresight.is_due(2 * FORESIGHT_INTERVAL));
    }
}
