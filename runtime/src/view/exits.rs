//! What it means that an exit is taken, in words that a user of the language understands.
//!
//! Problem: "guard_value @3" is exact, and says nothing to someone who has written a loop. Design: the exit's
//! kind says it, and for a guard what its operation tests, by the names of the cells that it looks at.
//! Invariant: the exact test is always shown beside the sentence.
//!
//! Example: "guard_value(i40, 69), where i40 = load(a37, array.tag)" -> "a value had another type than when
//! it was recorded"

use tracelift_core::ExitKind;

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
