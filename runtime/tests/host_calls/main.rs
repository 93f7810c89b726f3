//! Calls of the host from compiled code: what the code and the host find ([`rules`]), and what else may run
//! meanwhile ([`nested`]).
//!
//! Problem: a function of the host's may do anything, and the code that has called it goes on. Design: loops
//! that call one function ([`calls`]), which does what a test says. Invariant: what the program computes is
//! what the interpreter would compute. Example of the loop that most tests use, with s, i, n, t, r in slots 0
//! to 4: `while i < n: i = i + 1; r = f(); s = s + r; t = t + 2`; t is changed after the call only.

mod calls;
mod nested;
#[path = "../support/pairs.rs"]
mod pairs;
mod rules;
#[path = "../support/mod.rs"]
mod support;

/// Each bug that is planted in the service is seen by one of the tests. What would not end, or run into
/// freed memory, is not planted.
#[test]
fn planted_bugs_are_seen() {
    use tracelift_core::planted::{with_planted, Bug};
    let seen_by: [(Bug, fn()); 6] = [
        (Bug::CallSlotNotStored, rules::each_call_finds_all_live_slots_in_memory),
        (Bug::CallEndNotStored, rules::each_call_finds_all_live_slots_in_memory),
        (Bug::CallAnswerIgnored, rules::null_leaves_after_the_call_and_writes_nothing),
        (Bug::CallSlotStillKnown, rules::a_changed_slot_is_read_again),
        (Bug::CallEpochIgnored, nested::memory_that_an_exit_in_the_call_has_used_is_asked_for_again),
        (Bug::CallForgottenFreed, nested::calls_that_never_come_back_are_dropped_by_those_above),
    ];
    for &bug in Bug::OF_SERVICE {
        let (_, test) = seen_by.iter().find(|(of, _)| *of == bug).expect("each bug has its test");
        assert!(std::panic::catch_unwind(test).is_ok(), "{bug:?}: without the bug");
        assert!(std::panic::catch_unwind(|| with_planted(bug, test)).is_err(), "{bug:?} is not seen");
    }
}
