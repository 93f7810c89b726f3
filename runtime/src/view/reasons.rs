//! Reasons in words that a user of the language understands.
//!
//! Problem: "trace too long" and "guard_value @3" are exact, and say nothing to someone who has written a
//! loop. Design: one table of reasons with a sentence each, and one of what an exit is about. A reason that
//! the table lacks is a host's own, whose text says what could not be recorded. Invariant: the exact word is
//! always shown beside the sentence.
//!
//! Example: "unstable slot types" -> "variables of the loop changed their types from one iteration to the
//! next"

use tracelift_core::ExitKind;

/// Reasons with what they mean. The first word of a row may be the beginning of a longer reason.
const MEANINGS: &[(&str, &str)] = &[
    ("short function", "it is short: it is compiled as a part of the functions and loops that call it"),
    ("trace too long", "one way through the loop is longer than what can be compiled at once"),
    ("too many snapshots", "one way through the loop has more tests than can be compiled at once"),
    ("too many frames", "calls lie deeper in one another than can be compiled"),
    ("unstable slot types", "variables kept changing their types from one iteration to the next"),
    ("no executable memory", "the system gave no memory for machine code"),
    ("code memory full", "the memory for machine code was used up"),
    ("discarded by the test aid", "a setting for tests threw it away"),
    ("too long to compile by now", "compiling it would have taken longer than it has cost so far"),
    (
        "little between calls",
        "it only calls functions that are not compiled: machine code would gain nothing",
    ),
    (
        "loop of few iterations",
        "it ends after few iterations: it is compiled as a part of the loop around it",
    ),
    ("loop that nothing leaves", "nothing would ever leave it"),
    ("abandoned", "the recording was interrupted"),
    ("misuse of the recording interface", "a mistake of the host's: please report it"),
    ("internal error", "a mistake of Tracelift's: please report it"),
    (
        "loop ended",
        "the loop ended while it was recorded: it has few iterations each time that it is entered",
    ),
    ("loop left", "the loop was left while it was recorded: by `break`, `return` or `goto`"),
    ("inner loop", "a loop within it that has no code of its own ran for too many iterations"),
    ("loop in a called function", "a function that it calls has a loop which is not compiled"),
    ("long way to a compiled loop", "the way to the next compiled loop was too long"),
    ("error or yield", "an error was raised, or a coroutine yielded, while it was recorded"),
    ("debug hook", "a debug hook was set"),
    ("finalizer", "a finalizer (`__gc`) ran while it was recorded"),
    ("thread ended", "the coroutine ended while it was recorded"),
    ("long call", "a function that it calls ran for too long"),
    ("recursion", "a function calls itself there"),
    ("calls nest too deep", "calls lie deeper in one another than can be compiled"),
    ("return to C", "the function returns to a function written in C, as `table.sort` or `string.gsub`"),
    ("metamethod in C", "a metamethod there is written in C"),
    ("opcode TAILCALL", "it ends by `return f(...)` of a function that cannot be recorded"),
    ("code for another closure", "another closure of the same function runs there each time"),
    ("loop with a variable to be closed", "it has a variable that must be closed at its end"),
    ("variable to be closed", "it has a variable that must be closed (`<close>`)"),
    ("out of memory", "there was no memory"),
    ("random recording", "a setting for tests threw it away"),
];

/// What a reason means.
pub(super) fn meaning(reason: &str) -> String {
    match MEANINGS.iter().find(|(known, _)| reason.starts_with(known)) {
        Some((_, meaning)) => meaning.to_string(),
        None => format!("the recorder does not know how to compile: {reason}"),
    }
}

/// What it means that an exit is taken.
pub(super) fn exit_meaning(kind: ExitKind, test: &str) -> String {
    let meaning = match kind {
        ExitKind::LoopEnd => "the loop is over",
        ExitKind::Collect => "the garbage collector had to run",
        ExitKind::Interrupt => "something outside wanted to interrupt: a hook, a signal, room on the stack",
        ExitKind::Finish => "the trace ends here and goes on elsewhere",
        ExitKind::Hoisted => "a test made once before the loop, in place of one in each iteration, failed",
        ExitKind::Called => "a function called natively had to go on in the interpreter",
        ExitKind::Assumed => "something that had never changed has changed (a function, say)",
        ExitKind::Guard => return guard_meaning(test).to_string(),
    };
    meaning.to_string()
}

/// What is tested where a loaded value has such a word in its name; the first one that fits counts.
const OPERANDS: &[(&str, &str)] = &[
    ("identity", "another function was called than when it was recorded (or another closure of it)"),
    ("metatable", "an object had another metatable than when it was recorded"),
    ("log_size", "a table was of another size than when it was recorded, so that its keys lie elsewhere"),
    ("key", "a table had other keys than when it was recorded, or has them elsewhere"),
    ("upvalue.tag", "an outer local variable had another type than when it was recorded"),
    ("tag", "a value had another type than when it was recorded"),
    ("limit", "an index was out of the array's bounds"),
];

/// What a guard's operation tests.
fn guard_meaning(test: &str) -> &'static str {
    let (test, operand) = test.split_once(", where ").unwrap_or((test, ""));
    let test = test.split_once(" = ").map_or(test, |(_, test)| test);
    let op = test.split(['(', ' ', '.']).next().unwrap_or_default();
    let known = OPERANDS.iter().find(|(word, _)| operand.contains("load(") && operand.contains(word));
    match op {
        "guard_value" | "guard_null" | "guard_nonnull" if known.is_some() => {
            known.map_or("", |known| known.1)
        }
        "try_call" => "something was not found, or could not be done without the interpreter",
        "guard_value" if test.contains("addr:") => {
            "a function, a table or another object was another one than when it was recorded"
        }
        "guard_value" => "a value, its type or a function was another one than when it was recorded",
        "guard_class" => "an object was of another kind than when it was recorded",
        "guard_true" | "guard_false" => "a condition went the other way than when it was recorded",
        "guard_nonnull" | "guard_null" => "something was missing, or there, unlike when it was recorded",
        _ if op.contains("ovf") => "an integer overflowed",
        _ if op.contains("key") => "a table had other keys than when it was recorded",
        _ => "the program went another way than when it was recorded",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abort::AbortReason;

    #[test]
    fn what_the_service_itself_says_has_a_meaning() {
        for reason in [
            AbortReason::TooManyOps,
            AbortReason::Unstable,
            AbortReason::TooCostly,
            AbortReason::MostlyCalls,
            AbortReason::FewIterations,
            AbortReason::Endless,
            AbortReason::Discarded,
        ] {
            assert!(!meaning(reason.name()).contains("does not know"), "{reason}");
        }
        assert_eq!(meaning("call of print"), "the recorder does not know how to compile: call of print");
    }

    #[test]
    fn guards_are_told_by_what_they_test() {
        let type_changed = "a value, its type or a function was another one than when it was recorded";
        assert_eq!(exit_meaning(ExitKind::Guard, "guard_value(i40, 69)"), type_changed);
        let tag = "guard_value(i40, 69) @3, where i40 = load(a37, array.tag)";
        assert_eq!(exit_meaning(ExitKind::Guard, tag), "a value had another type than when it was recorded");
        let condition = "a condition went the other way than when it was recorded";
        assert_eq!(exit_meaning(ExitKind::Guard, "guard_false(i3) @1"), condition);
        assert_eq!(exit_meaning(ExitKind::Guard, "i3 = int_add_ovf(i1, i2)"), "an integer overflowed");
        assert_eq!(exit_meaning(ExitKind::LoopEnd, "guard_true(i3)"), "the loop is over");
    }
}
