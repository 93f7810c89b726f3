//! Random cases by their seeds: which ones are asked for, and all of them on all processors.
//!
//! Problem: each kind of random case wants the same of its test: some thousand seeds, tried side by side
//! until one fails. Design: each thread has a checker of its own, which never leaves it, and takes the next
//! seed; at the end each says what it has seen. Invariant: after a failure no other seed is begun, and one
//! failure is returned.
//!
//! Example: `check_all(0..600, || Checker::new(&schema), |checker, seed| checker.check(&generate(seed)),
//! |checker| checker.seen)`.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Mutex;

/// Checks these seeds. Returns what each checker has seen, or a failure.
pub fn check_all<C, S: Send, F: Send>(
    seeds: Range<u64>,
    checker: impl Fn() -> C + Sync,
    check: impl Fn(&mut C, u64) -> Result<(), F> + Sync,
    seen: impl Fn(C) -> S + Sync,
) -> Result<Vec<S>, F> {
    let (next, failed) = (AtomicU64::new(seeds.start), AtomicBool::new(false));
    let results: Mutex<(Vec<S>, Option<F>)> = Mutex::new((Vec::new(), None));
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get().min(8));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let (mut own, mut failure) = (checker(), None);
                while failure.is_none() && !failed.load(Ordering::Relaxed) {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end {
                        break;
                    }
                    failure = check(&mut own, seed).err();
                }
                failed.fetch_or(failure.is_some(), Ordering::Relaxed);
                let mut results = results.lock().expect("no thread panics while it holds the lock");
                results.0.push(seen(own));
                results.1 = results.1.take().or(failure);
            });
        }
    });
    let (seen, failure) = results.into_inner().expect("no thread panics while it holds the lock");
    failure.map_or(Ok(seen), Err)
}
