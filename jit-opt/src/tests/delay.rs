//! Stores of virtual objects into real ones: what waits, what is read back, and who makes it happen.
//!
//! Each trace is the smallest that shows its rule; the random traces of `differential.rs` compare the states
//! at every exit.

use tracelift_core::text::{parse_file, print_trace, TraceFile};

use super::optimized;
use crate::{Config, Optimized};

const HEADER: &str = "func make(addr, int, int, int) -> ref allocates = native world.alloc
func \"find\"(addr, int, ref, ref) -> addr reads all = native world.find
func \"insert\"(addr, int, ref, ref) -> addr writes all = native world.insert
func look() reads Holder.link
func elsewhere(int) reads Holder.other writes Holder.other
func seen(ref) writes out
layout Box { value: int, alloc make }
layout Holder { link: ref, other: ref, number: int, alloc make }
layout Array { items: tagged from 1, alloc make }
layout Dict { keys: tagged find \"find\" insert \"insert\", alloc make }
layout Key {}
object k = Key {}
trace t
";

/// Optimizes with the passes on virtual objects alone.
fn run(input: &str) -> (Optimized, String) {
    run_with("-all,+virtuals,+delay_store", input)
}

fn run_with(passes: &str, input: &str) -> (Optimized, String) {
    let file: TraceFile = parse_file(&format!("{HEADER}{input}"), &tracelift_core::testbed::natives).unwrap();
    let optimized = optimized(&Config::parse(passes).unwrap(), &file.traces[0], &file.schema).unwrap();
    let text = print_trace(&optimized.trace, &file.schema);
    (optimized, text)
}

/// Lines with one of these words, in order, by these words.
fn order(text: &str, words: &[&str]) -> Vec<String> {
    let word = |line: &str| words.iter().find(|word| line.contains(*word)).map(|word| word.to_string());
    text.lines().filter_map(word).collect()
}

const BOX: &str = "p5 = new(Box) @0\nset(p5, value, i1)\n";

fn after_box(rest: &str) -> String {
    format!("L0(p0, i1, p2):\n@0 = frame[0: int i1]\n{BOX}{rest}")
}

#[test]
fn a_store_waits_across_a_guard_and_the_snapshot_says_so() {
    let input =
        after_box("set(p0, link, p5)\n@1 = frame[0: int i1]\nguard_true(i1) @1\ncall(look)\nfinish()\n");
    let (optimized, text) = run(&input);
    assert_eq!(
        order(&text, &["guard_true", "try_call(make", "store(p0, Holder.link", "call(look"]),
        [
            "store(p0, Holder.link", // pending, in the guard's snapshot
            "guard_true",
            "try_call(make",
            "store(p0, Holder.link",
            "call(look"
        ],
        "{text}"
    );
    assert!(text.contains("pending store(p0, Holder.link, v0)"), "{text}");
    assert_eq!(optimized.report.fired("delay_store"), 1);
}

#[test]
fn without_the_pass_the_object_is_lifted_at_the_store() {
    let input =
        after_box("set(p0, link, p5)\n@1 = frame[0: int i1]\nguard_true(i1) @1\ncall(look)\nfinish()\n");
    let (_, text) = run_with("-all,+virtuals", &input);
    assert_eq!(
        order(&text, &["guard_true", "store(p0, Holder.link"]),
        ["store(p0, Holder.link", "guard_true"],
        "{text}"
    );
}

#[test]
fn what_waits_is_read_back() {
    for (store, load) in [
        ("set(p0, link, p5)", "get(p0, link)"),
        ("put_item(p0, 3, p5, Array:ref)", "get_item(p0, 3, Array:ref)"),
        ("set_key(p0, @k, p5, Dict:ref)", "get_key(p0, @k, Dict:ref)"),
        ("insert_key(p0, @k, p5, Dict:ref)", "get_key(p0, @k, Dict:ref)"),
        ("store(p0, Holder.link, p5)", "load(p0, Holder.link)"),
    ] {
        let input = after_box(&format!(
            "@1 = frame[0: int i1]\n{store} @1\n@2 = frame[0: int i1]\np7 = {load} @2\ni8 = get(p7, value)\n\
             guard_true(i8) @2\ncall(seen, p7)\n@3 = frame[0: int i1]\nfinish() @3\n"
        ))
        .replace("store(p0, Holder.link, p5) @1", "store(p0, Holder.link, p5)")
        .replace("load(p0, Holder.link) @2", "load(p0, Holder.link)")
        .replace("link) @2", "link)");
        let (optimized, text) = run(&input);
        assert_eq!(optimized.report.fired("delayed_read"), 1, "{store}\n{text}");
        assert!(text.contains("guard_true(i1)"), "{store}\n{text}");
    }
}

#[test]
fn a_read_that_may_meet_it_makes_the_store_first() {
    for (reader, meets) in [
        ("p7 = get(p2, link)", true),
        ("p7 = get(p0, other)", false),
        ("i7 = get(p0, number)", false),
        ("call(look)", true),
        ("call(elsewhere, i1)", false),
        ("call(seen, p2)", false),
        ("guard_nonnull(p2) @1", false),
        ("set(p2, link, p0)", true),
        ("set(p2, other, p0)", false),
    ] {
        let input = after_box(&format!(
            "set(p0, link, p5)\n@1 = frame[0: int i1]\nguard_true(i1) @1\n{reader}\n@2 = frame[0: int i1]\n\
             guard_nonnull(p0) @2\nfinish() @2\n"
        ));
        let (_, text) = run(&input);
        let waits = order(&text, &["pending store(", "store(p0, Holder.link", "guard_nonnull(p0)"]);
        let made = waits.iter().position(|line| line == "store(p0, Holder.link").unwrap();
        let guard = waits.iter().position(|line| line == "guard_nonnull(p0)").unwrap();
        assert_eq!(made < guard, meets, "{reader}\n{text}");
    }
}

#[test]
fn an_overwritten_store_is_never_made() {
    let twice = "@1 = frame[0: int i1]\np6 = new(Box) @1\nset(p6, value, 7)\nset(p0, link, p5)\nset(p0, link, p6)\ncall(look)\nfinish()\n";
    let (optimized, text) = run(&after_box(twice));
    assert_eq!(optimized.report.fired("delayed_overwritten"), 1);
    assert_eq!(text.matches("store(p0, Holder.link").count(), 1, "{text}");
    assert_eq!(text.matches("try_call(make").count(), 1, "{text}");
    // One that may go to the same object lies between.
    let between = "@1 = frame[0: int i1]\np6 = new(Box) @1\nset(p6, value, 7)\nset(p0, link, p5)\nset(p2, link, p6)\nset(p0, link, p6)\n\
                   call(look)\nfinish()\n";
    let (optimized, text) = run(&after_box(between));
    assert_eq!(optimized.report.fired("delayed_overwritten"), 0);
    assert_eq!(order(&text, &["store(p0, Holder.link", "store(p2, Holder.link"]).len(), 3, "{text}");
}

#[test]
fn stores_are_made_in_their_order() {
    let input = after_box(
        "@1 = frame[0: int i1]\np6 = new(Box) @1\nset(p0, link, p5)\nset(p2, link, p6)\ncall(look)\nfinish()\n",
    );
    let (_, text) = run(&input);
    assert_eq!(
        order(&text, &["store(p0, Holder.link", "store(p2, Holder.link", "call(look"]),
        ["store(p0, Holder.link", "store(p2, Holder.link", "call(look"],
        "{text}"
    );
}

#[test]
fn one_class_made_takes_along_what_may_meet_it_before() {
    // The item's store waits with its tag; a reader of tags alone makes it, and with it the earlier one to
    // `p2`.
    let input = after_box(
        "@1 = frame[0: int i1]\nput_item(p0, 1, p5, Array:ref) @1\n@2 = frame[0: int i1]\n\
         i7 = item_count(p2, Array)\nput_item(p2, 2, p5, Array:ref) @2\n@3 = frame[0: int i1]\n\
         put_item(p0, 1, Array:nil) @3\nfinish()\n",
    );
    let (_, text) = run(&input);
    let stores = order(&text, &["Array.item.ref"]);
    assert!(stores.len() >= 2, "{text}");
}

#[test]
fn the_end_of_a_loop_makes_them() {
    let input = after_box("set(p0, link, p5)\njump(L0, p0, i1, p2)\n");
    for passes in ["-all,+virtuals,+delay_store", "-all,+virtuals,+delay_store,+peel"] {
        let (_, text) = run_with(passes, &input);
        let jumps = text.matches("jump(").count();
        assert_eq!(text.matches("Holder.link").count(), jumps, "{passes}\n{text}");
    }
}

#[test]
fn at_most_so_many_wait() {
    let mut body = String::new();
    for n in 0..40 {
        body +=
            &format!("@{n} = frame[0: ref p20]\np{m} = new(Box) @{n}\nset(p2{n}, link, p{m})\n", m = 100 + n);
    }
    let inputs: Vec<String> = (0..40).map(|n| format!("p2{n}")).collect();
    let input = format!(
        "L0({}):\n{body}@40 = frame[0: ref p20]\nguard_nonnull(p20) @40\nfinish() @40\n",
        inputs.join(", ")
    );
    let (optimized, text) = run(&input);
    let guard = optimized
        .trace
        .insts
        .iter()
        .rev()
        .find(|inst| inst.is_exit() && inst.op != tracelift_core::Op::Finish);
    let pending = optimized.trace.snapshot_of(guard.unwrap()).unwrap().pending.len();
    assert!(pending > 0 && pending <= 16, "{pending}\n{text}");
}
