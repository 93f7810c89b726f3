//! What is said of a loop in one sentence, and how well it fares.
//!
//! Problem: the first screen has to answer "why is it slow?" without a trace being read. Design: a pure
//! function from what is known of a location to a sentence, a second one that says what to do or not to
//! worry about, and a level. The order of the cases is that of what explains most. Invariant: each location
//! gets a sentence.
//!
//! Example: hot, no code, "call of a C function" 3 times -> Bad, "Not compiled: 3 attempts to record it
//! failed, mostly because ..."

use super::model::{Failure, Level};
use crate::policy::LoopState;

/// What is known of a location.
#[derive(Debug, Default)]
pub(super) struct Facts<'a> {
    pub is_off: bool,
    pub is_entry: bool,
    pub state: LoopState,
    pub has_code: bool,
    pub interpreted: u64,
    pub machine: u64,
    /// How often its code was left to the interpreter for want of a side trace.
    pub left: u64,
    /// The exit that was taken most of these: where, what it means, and how often.
    pub worst: Option<(String, String, u64)>,
    pub failures: &'a [Failure],
    pub rests: u32,
    /// Whether the interpreter took much of the program's time here.
    pub is_slow: bool,
}

/// The level, what became of it, and what that means.
pub(super) type Verdict = (Level, String, String);

/// A number with its thousands apart.
pub(super) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A share in per cent.
pub(super) fn percent(part: u64, all: u64) -> String {
    match (part, all) {
        (_, 0) => "0 %".to_string(),
        _ if part > 0 && part * 1000 < all => "under 0.1 %".to_string(),
        _ if part < all && (all - part) * 1000 < all => "over 99.9 %".to_string(),
        _ => format!("{:.1} %", part as f64 / all as f64 * 100.0),
    }
}

pub(super) fn verdict(facts: &Facts<'_>) -> Verdict {
    let (one, many) = if facts.is_entry { ("entry", "entries") } else { ("iteration", "iterations") };
    let all = facts.interpreted + facts.machine;
    if facts.is_off {
        let text = format!("Interpreted: the JIT is off. It had {} {many}.", count(all));
        return (Level::Bad, text, String::new());
    }
    match facts.state {
        LoopState::Resting { .. } | LoopState::Retired { .. } => asleep(facts, many),
        _ if facts.has_code || facts.machine > facts.interpreted => with_code(facts, all, many),
        LoopState::BackedOff { .. } => failed(facts, many),
        LoopState::Postponed { .. } if !facts.failures.is_empty() => failed(facts, many),
        LoopState::Postponed { .. } => (
            Level::Fair,
            format!("Not compiled yet: it is hot, after {} {many}, but the program is young.", count(all)),
            "Compiling would have taken longer than it has cost so far; it would be compiled if it went on."
                .to_string(),
        ),
        _ if !facts.failures.is_empty() => failed(facts, many),
        _ => (
            Level::Good,
            format!("Not compiled: it had only {} {}.", count(all), if all == 1 { one } else { many }),
            "That is too few to be worth it.".to_string(),
        ),
    }
}

/// Its code is not entered, since it does not pay.
fn asleep(facts: &Facts<'_>, many: &str) -> Verdict {
    let text = format!(
        "Given up: its machine code was left so soon each time that entering it cost more than it saved; {} \
         of {} {many} were interpreted.",
        count(facts.interpreted),
        count(facts.interpreted + facts.machine)
    );
    let times =
        if facts.rests > 1 { format!("It was tried again {} times. ", facts.rests) } else { String::new() };
    (Level::Bad, text, format!("{times}{}", worst(facts)))
}

fn with_code(facts: &Facts<'_>, all: u64, many: &str) -> Verdict {
    let share = percent(facts.machine, all);
    if facts.left * 4 > facts.machine.max(1) {
        let text = format!(
            "Machine code, but it is left to the interpreter {} times in {} {many}.",
            count(facts.left),
            count(facts.machine)
        );
        return (Level::Fair, text, worst(facts));
    }
    if facts.interpreted * 10 > all {
        let text = format!("Machine code for {share} of its {} {many}.", count(all));
        let advice = match facts.failures.first() {
            Some(failure) => format!("Earlier attempts failed: {}.", failure.meaning),
            None => "The others came before it was compiled, or where its code did not fit.".to_string(),
        };
        let level = if facts.is_slow { Level::Fair } else { Level::Good };
        return (level, text, advice);
    }
    let text = format!("Machine code: {share} of its {} {many}.", count(all));
    if facts.is_slow {
        let advice = format!("The interpreter took long here all the same. {}", worst(facts));
        return (Level::Fair, text, advice);
    }
    let advice = if facts.has_code { "" } else { "It has no code of its own: it is a part of other loops'." };
    (Level::Good, text, advice.to_string())
}

/// The exit that costs most.
fn worst(facts: &Facts<'_>) -> String {
    match &facts.worst {
        Some((place, meaning, times)) => {
            format!("Most often it is left at {place}: {meaning} ({} times).", count(*times))
        }
        None => "It is entered often, and has little to do each time.".to_string(),
    }
}

/// Whether a failure means that the code is a part of other code.
pub(super) fn is_harmless(reason: &str) -> bool {
    ["loop of few iterations", "short function"].iter().any(|known| reason.starts_with(known))
}

fn failed(facts: &Facts<'_>, many: &str) -> Verdict {
    let attempts: u64 = facts.failures.iter().map(|failure| failure.count).sum();
    let Some(main) = facts.failures.first() else {
        return (Level::Fair, "Not compiled.".to_string(), String::new());
    };
    let at = main.place.as_ref().map_or(String::new(), |place| format!(" (at {})", place.name));
    let text = format!(
        "Not compiled: {}{at}. All {} {many} were interpreted.",
        main.meaning,
        count(facts.interpreted + facts.machine)
    );
    let level = match main.reason.as_str() {
        _ if facts.machine > facts.interpreted => Level::Good,
        reason if is_harmless(reason) && !facts.is_slow => Level::Good,
        reason if is_harmless(reason) => Level::Fair,
        _ => Level::Bad,
    };
    let advice = match (attempts, facts.failures.len()) {
        (1, _) => "One attempt to record it failed.".to_string(),
        (_, 1) => format!("{attempts} attempts to record it failed, all for this reason."),
        _ => format!("{attempts} attempts to record it failed, {} for this reason.", main.count),
    };
    (level, text, advice)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(reason: &str, count: u64) -> Failure {
        Failure { reason: reason.into(), meaning: format!("({reason})"), place: None, count }
    }

    #[test]
    fn each_way_to_fare_has_a_sentence() {
        let failures = [failure("call of print", 3), failure("loop left", 1)];
        let hot = Facts { interpreted: 1_000_000, ..Facts::default() };
        let cases = [
            (Facts { is_off: true, interpreted: 5, ..Facts::default() }, Level::Bad, "the JIT is off"),
            (
                Facts { state: LoopState::BackedOff { until: 1 }, failures: &failures, ..hot },
                Level::Bad,
                "Not compiled: (call of print). All 1,000,000 iterations were interpreted. 4 attempts to \
                 record it failed, 3 for this reason.",
            ),
            (Facts { interpreted: 1, ..Facts::default() }, Level::Good, "it had only 1 iteration."),
            (
                Facts { state: LoopState::Postponed { until: 1 }, interpreted: 9, ..Facts::default() },
                Level::Fair,
                "Not compiled yet",
            ),
            (
                Facts {
                    state: LoopState::Compiled { until: 0 },
                    has_code: true,
                    interpreted: 2000,
                    machine: 8_000_000,
                    ..Facts::default()
                },
                Level::Good,
                "Machine code: over 99.9 % of its 8,002,000 iterations.",
            ),
            (
                Facts {
                    has_code: true,
                    machine: 1000,
                    left: 900,
                    worst: Some(("a.lua:3".into(), "it was so".into(), 800)),
                    ..Facts::default()
                },
                Level::Fair,
                "left to the interpreter 900 times in 1,000 iterations. Most often it is left at a.lua:3: it \
                 was so (800 times).",
            ),
            (
                Facts {
                    state: LoopState::Retired { until: 1, times: 9 },
                    has_code: true,
                    is_entry: true,
                    rests: 9,
                    ..Facts::default()
                },
                Level::Bad,
                "tried again 9 times",
            ),
        ];
        for (facts, wanted, words) in cases {
            let (level, text, advice) = verdict(&facts);
            assert_eq!(level, wanted, "{text}");
            let all = format!("{text} {advice}");
            assert!(all.contains(words), "{words}: {all}");
        }
    }

    #[test]
    fn shares_are_never_said_to_be_all_or_nothing_if_they_are_not() {
        assert_eq!(percent(1, 1_000_000), "under 0.1 %");
        assert_eq!(percent(999_999, 1_000_000), "over 99.9 %");
        assert_eq!((percent(0, 10), percent(10, 10)), ("0.0 %".into(), "100.0 %".into()));
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(count(12), "12");
    }
}
