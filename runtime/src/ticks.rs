//! A clock that costs next to nothing.
//!
//! Problem: how long code runs between an entry and its exit says whether it pays, but asking the system
//! takes longer than many entries do. Design: the processor's own counter, read in a few nanoseconds; how
//! fast it goes is found out by comparing it with the system's clock over the time that the VM lives.
//! Invariant: differences only mean anything; where the program was off the processor meanwhile they are too
//! long, which whoever uses them has to expect.
//!
//! Example: two readings 40 ticks apart are 11 ns on a processor whose counter runs at 3.6 GHz.

use std::time::Instant;

/// The processor's counter.
#[cfg(target_arch = "x86_64")]
fn counter() -> u64 {
    // SAFETY: every x86-64 processor has the instruction.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// The processor's counter.
#[cfg(target_arch = "aarch64")]
fn counter() -> u64 {
    let ticks: u64;
    // SAFETY: user programs may read this register; it touches no memory.
    unsafe {
        core::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack, preserves_flags))
    };
    ticks
}

/// Nanoseconds, where the processor's counter is not known.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn counter() -> u64 {
    use std::sync::OnceLock;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// Such a clock, with its speed.
#[derive(Debug)]
pub(crate) struct Ticks {
    /// The counter, but for tests.
    pub read: fn() -> u64,
    start: (u64, Instant),
    per_ns: f64,
}

/// So long after the clock was made its speed is known well enough.
const KNOWN_AFTER_NS: u128 = 1_000_000;

impl Ticks {
    pub fn new() -> Ticks {
        Ticks { read: counter, start: (counter(), Instant::now()), per_ns: 0.0 }
    }

    /// The counter now.
    pub fn now(&self) -> u64 {
        (self.read)()
    }

    /// A difference in nanoseconds; `None` as long as the speed is not known.
    pub fn ns(&mut self, ticks: u64) -> Option<f64> {
        if self.per_ns == 0.0 {
            self.per_ns = self.speed()?;
        }
        Some(ticks as f64 / self.per_ns)
    }

    /// The same, without keeping the speed in mind.
    pub fn peek_ns(&self, ticks: u64) -> Option<f64> {
        let per_ns = if self.per_ns == 0.0 { self.speed()? } else { self.per_ns };
        Some(ticks as f64 / per_ns)
    }

    /// Ticks per nanosecond since the clock was made.
    fn speed(&self) -> Option<f64> {
        let elapsed = self.start.1.elapsed().as_nanos();
        let ticks = self.now().wrapping_sub(self.start.0) as f64;
        (elapsed >= KNOWN_AFTER_NS).then(|| (ticks / elapsed as f64).max(1e-6))
    }

    /// A clock for tests, of which a tick is a nanosecond.
    #[cfg(test)]
    pub fn of_test(read: fn() -> u64) -> Ticks {
        Ticks { read, start: (0, Instant::now()), per_ns: 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_as_fast_as_the_system_s_clock() {
        let mut ticks = Ticks::new();
        let start = Instant::now();
        let first = ticks.now();
        while start.elapsed().as_millis() < 5 {}
        let ns = ticks.ns(ticks.now().wrapping_sub(first)).expect("it is known by now");
        assert!(ns > 4e6, "{ns}");
    }
}
