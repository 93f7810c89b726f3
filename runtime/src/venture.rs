//! Ventures: times in which code is bought before it has earned its price.
//!
//! Problem: a program with many ways through its loops gains nothing by the first traces, which are left at
//! once, and little by the next ones; only when nearly all ways have code does it run on in it. Who pays for
//! each trace with what code has gained, and lets code rest that loses, never gets there: path finding on a
//! grid takes 1.4 times as long as with all its 400 traces, for ever. Nobody can tell beforehand: for every
//! second program such a tree is never complete, or gains nothing when it is. Design: explore, then judge. A
//! program that has run for long *ventures*: for some time its recordings are not put off, whatever they have
//! gained, code that has rested is entered again, and loops may lose more than usual before they rest. When
//! the venture has spent its allowance, has lost more than that, or nothing is bought any more, the usual
//! rules are back, and what does not pay by then rests. If it has paid the next one comes when the program is
//! half as old again, and else when it is some times as old. Each may spend more than the one before. So what
//! is lost in vain becomes an ever smaller part of the program's time. Invariant: no clock is read here; a
//! venture is over at the latest after some times its allowance; where thresholds alone decide there is none.
//!
//! ```text
//! 400 ms: venture 1, 80 ms to spend  ->  600 ms: it has spent 52, and buys no more; gained 190: it has paid
//! 900 ms: venture 2, 136 ms to spend  ->  964 ms: nothing was bought; gained 40: it has paid
//! ```

use crate::stats::VentureUse;
use crate::tunables::{
    FIRST_VENTURE, VENTURE_AGAIN, VENTURE_GROWTH, VENTURE_IN_VAIN, VENTURE_LASTS, VENTURE_LOSES,
    VENTURE_PIECE, VENTURE_SPENDS, VENTURE_STALLED, VENTURE_WINDOW,
};

/// What a venture goes by: nanoseconds since the program began.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Balance {
    /// What the program has run.
    pub ran: u64,
    /// What compiling has taken of that.
    pub spent: u64,
    /// What code is believed to have gained, or lost.
    pub gained: f64,
}

/// A venture that is going on.
#[derive(Clone, Copy, Debug)]
struct Venture {
    began: Balance,
    /// At the last look that was long enough after the one before.
    seen: Balance,
}

/// All ventures of a program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ventures {
    current: Option<Venture>,
    /// How old the program is when the next one begins.
    next: u64,
    counts: VentureUse,
}

/// What a look has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Nothing.
    None,
    /// A venture begins.
    Begins,
    /// It is over, and has paid or not.
    Ends { has_paid: bool },
}

impl Default for Ventures {
    fn default() -> Ventures {
        Ventures { current: None, next: FIRST_VENTURE, counts: VentureUse::default() }
    }
}

impl Ventures {
    /// Whether one is going on.
    pub fn is_open(&self) -> bool {
        self.current.is_some()
    }

    /// What has become of those that are over.
    pub fn counts(&self) -> VentureUse {
        self.counts
    }

    /// What the current or the next one may spend.
    fn allowance(&self) -> f64 {
        let growth = VENTURE_GROWTH as f64 / 100.0;
        VENTURE_SPENDS as f64 * growth.powi(self.counts.over.min(32) as i32)
    }

    /// Whether a trace at this price is bought because a venture is going on: not if it takes a large part of
    /// what that may spend.
    pub fn covers(&self, price: u64) -> bool {
        self.is_open() && price as f64 <= self.allowance() / VENTURE_PIECE as f64
    }

    /// The program has come so far.
    pub fn look(&mut self, now: Balance) -> Turn {
        let Some(venture) = &mut self.current else {
            if now.ran < self.next {
                return Turn::None;
            }
            self.current = Some(Venture { began: now, seen: now });
            return Turn::Begins;
        };
        let Venture { began, seen } = *venture;
        let is_stalled = now.ran >= seen.ran + VENTURE_WINDOW && {
            venture.seen = now;
            (now.spent - seen.spent) * 100 < (now.ran - seen.ran) * VENTURE_STALLED
        };
        let (spent, gained) = ((now.spent - began.spent) as f64, now.gained - began.gained);
        let allowance = self.allowance();
        let is_hopeless = -gained > spent + VENTURE_LOSES as f64;
        let is_spent = spent > allowance || (now.ran - began.ran) as f64 > allowance * VENTURE_LASTS as f64;
        if !is_stalled && !is_hopeless && !is_spent {
            return Turn::None;
        }
        let has_paid = gained > spent;
        self.current = None;
        self.counts.over += 1;
        self.counts.paid += u32::from(has_paid);
        let times = if has_paid { VENTURE_AGAIN } else { VENTURE_IN_VAIN };
        self.next = (now.ran as f64 * times as f64 / 100.0) as u64;
        Turn::Ends { has_paid }
    }
}

#[cfg(test)]
impl Ventures {
    /// None ever begins.
    pub fn never() -> Ventures {
        Ventures { next: u64::MAX, ..Ventures::default() }
    }

    /// The first one begins at once.
    pub fn now() -> Ventures {
        Ventures { next: 0, ..Ventures::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const START: Balance = Balance { ran: FIRST_VENTURE, spent: 20 * MS, gained: 0.0 };

    /// A venture has begun.
    fn begun() -> Ventures {
        let mut ventures = Ventures::default();
        assert_eq!(ventures.look(Balance { ran: FIRST_VENTURE - 1, ..START }), Turn::None);
        assert!(!ventures.is_open() && !ventures.covers(1));
        assert_eq!(ventures.look(START), Turn::Begins);
        ventures
    }

    /// Looks at a program each millisecond that spends and gains so much of each, in hundredths, until the
    /// venture is over; returns how long that was.
    fn until_over(ventures: &mut Ventures, start: Balance, spends: u64, gains: i64) -> (u64, Turn) {
        for ms in 1..100_000 {
            let spent = start.spent + ms * MS * spends / 100;
            let gained = start.gained + (ms as i64 * MS as i64 * gains / 100) as f64;
            match ventures.look(Balance { ran: start.ran + ms * MS, spent, gained }) {
                Turn::None => {}
                turn => return (ms, turn),
            }
        }
        panic!("it goes on for ever")
    }

    #[test]
    fn it_ends_when_its_allowance_is_spent() {
        let mut ventures = begun();
        let (ms, turn) = until_over(&mut ventures, START, 50, 0);
        assert_eq!((ms, turn), (2 * VENTURE_SPENDS / MS + 1, Turn::Ends { has_paid: false }));
        assert_eq!((ventures.is_open(), ventures.counts()), (false, VentureUse { over: 1, paid: 0 }));
    }

    #[test]
    fn it_ends_when_nothing_is_bought_any_more() {
        let mut ventures = begun();
        assert_eq!(
            until_over(&mut ventures, START, 0, 30),
            (VENTURE_WINDOW / MS, Turn::Ends { has_paid: true })
        );
        assert_eq!(ventures.counts(), VentureUse { over: 1, paid: 1 });
    }

    #[test]
    fn it_ends_when_more_is_lost_than_was_spent() {
        let mut ventures = begun();
        let (ms, turn) = until_over(&mut ventures, START, 20, -70);
        assert_eq!((ms, turn), (VENTURE_LOSES / MS * 2 + 1, Turn::Ends { has_paid: false }));
    }

    #[test]
    fn it_ends_at_the_latest_after_some_time() {
        let mut ventures = begun();
        let (ms, _) = until_over(&mut ventures, START, VENTURE_STALLED, 1);
        assert_eq!(ms, VENTURE_LASTS * VENTURE_SPENDS / MS + 1);
    }

    #[test]
    fn those_in_vain_become_rare_and_each_may_spend_more() {
        let (mut ventures, mut start, mut in_vain) = (begun(), START, 0);
        for _ in 0..6 {
            let allowance = ventures.allowance();
            let (ms, _) = until_over(&mut ventures, start, 30, 0);
            in_vain += ms;
            assert!(ventures.allowance() > allowance && ventures.next > start.ran * 2);
            start = Balance { ran: ventures.next, ..start };
            assert_eq!(ventures.look(start), Turn::Begins);
        }
        assert!(in_vain * 20 < start.ran / MS * 3 / 2, "{in_vain} ms of {}", start.ran / MS);
    }

    #[test]
    fn it_buys_nothing_that_is_too_dear() {
        let ventures = begun();
        let most = VENTURE_SPENDS / VENTURE_PIECE;
        assert!(ventures.covers(most) && !ventures.covers(most + 1));
    }
}
