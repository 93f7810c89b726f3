//! Stores of virtual objects into real ones: how many may wait.
//!
//! Problem: each exit describes every store that waits, so that a trace with many of them would grow with
//! their square. Design: a trace with forty such stores. Invariant: a snapshot names sixteen at most. What
//! waits, what is read back and who makes it happen stands in `tests/traces/opt/delayed-stores.trace`; the
//! random traces of `differential.rs` compare the states at every exit. Example: of forty boxes that are
//! linked in turn most are made before the last guard.

use tracelift_core::text::{parse_file, print_trace};

use super::optimized;
use crate::Config;

const HEADER: &str = "func make(addr, int, int, int) -> ref allocates = native world.alloc
layout Box { value: int, alloc make }
layout Holder { link: ref, alloc make }
trace t
";

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
    let file = parse_file(&format!("{HEADER}{input}"), &tracelift_core::testbed::natives).unwrap();
    let config = Config::parse("-all,+virtuals,+delay_store").unwrap();
    let optimized = optimized(&config, &file.traces[0], &file.schema).unwrap();
    let text = print_trace(&optimized.trace, &file.schema);
    let guard = optimized
        .trace
        .insts
        .iter()
        .rev()
        .find(|inst| inst.is_exit() && inst.op != tracelift_core::Op::Finish);
    let pending = optimized.trace.snapshot_of(guard.unwrap()).unwrap().pending.len();
    assert!(pending > 0 && pending <= 16, "{pending}\n{text}");
}
