//! Which of many cases are tried this time.
//!
//! Problem: CI has an hour, and some tests have hundreds of cases. Design: `TRACELIFT_EVERY=n` takes one case
//! in n, and `TRACELIFT_TURN` says which; CI counts commits, so that all cases have their turn. Invariant:
//! without these variables a test takes as many as it would by itself.
//!
//! Example: of 7 cases, `TRACELIFT_EVERY=3 TRACELIFT_TURN=10` takes the second and the fifth.

/// What a variable of the environment says, if it is set. It must be a number then.
pub fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} must be a number, not {text:?}")))
}

/// The cases whose turn it is: one in `usual`, unless the environment says otherwise.
pub fn in_turn<T>(cases: Vec<T>, usual: u64) -> Vec<T> {
    let every = number("TRACELIFT_EVERY").unwrap_or(usual).max(1);
    let first = number("TRACELIFT_TURN").unwrap_or(0) % every;
    cases.into_iter().skip(first as usize).step_by(every as usize).collect()
}
