//! Loops that make objects, and how often they ask the allocator for memory.
//!
//! Problem: a compiled loop that is right may still make every object. Design: the allocator counts its
//! requests. Each loop runs with few and with many iterations; compiled, both runs make the same number of
//! requests, but for a constant; interpreted, or with the pass `virtuals` off, the longer run makes as many
//! more as its iterations make blocks.
//!
//! Invariant: every run prints what stock Lua prints.
//!
//! Example: `RUNLUA_MODE=jit RUNLUA_THRESHOLD=2 RUNLUA_REFUSE=18446744073709551615 RUNLUA_REPORT=1 runlua
//! loop.lua 1000`.

mod support;

use std::path::{Path, PathBuf};

use support::{count, patched, script, stock, Outcome};

const FEW: u64 = 1_000;
const MANY: u64 = 50_000;

/// Entering and leaving the longer loop may differ by so much: the collector's turns, a string for a longer
/// number.
const CONSTANT: u64 = 64;

/// A name, variables and the loop's body, what is printed, and the blocks that the interpreter asks for in
/// each iteration.
type Loop = (&'static str, &'static str, &'static str, &'static str, u64);

const LOOPS: [Loop; 10] = [
    ("record", "local p = { x = 0, y = 0 }", "p = { x = i, y = p.x + p.y }", "p.x, p.y", 2),
    ("floats", "local p = { x = 0.5 }", "local d = { y = i * 0.5 }; p = { x = p.x + d.y }", "p.x", 4),
    ("array", "local p = { 0, 0 }", "p = { i, p[1] + p[2] }", "p[1], p[2], #p", 2),
    ("mixed", "local p = { 0, k = 0 }", "p = { p[1] + p.k, k = i, nil, 'x' }", "p[1], p.k, #p", 3),
    (
        "nested",
        "local p = { at = { y = 0, list = { 0 } } }",
        "p = { at = { y = p.at.y + p.at.list[1], list = { i } } }",
        "p.at.y, p.at.list[1]",
        6,
    ),
    (
        "cyclic",
        "local p = { v = 0 }",
        "local t = { v = p.v + i, self = false }; t.self = t; p = t.self",
        "p.v, p.self == p, p.self.self.v",
        2,
    ),
    (
        "shared",
        "local p, q, h = { x = 0 }",
        "p = { x = i + (q and q.x or 0) }; q = p; h = { first = p, p }; q.x = q.x - 1",
        "p == q, h[1] == h.first, h.first == p, q.x",
        5,
    ),
    (
        "object",
        "local Class, s = {}, 0; Class.__index = Class; function Class:twice() return self.x * 2 end",
        "local p = setmetatable({ x = i }, Class); s = s + p:twice()",
        "s",
        2,
    ),
    (
        "kept_object",
        "local Class = {}; Class.__index = Class; local p = setmetatable({ x = 0, y = 0 }, Class)",
        "p = setmetatable({ x = i, y = p.x + p.y }, Class)",
        "p.x, p.y, getmetatable(p) == Class",
        2,
    ),
    ("left", "local p = { x = 0 }", "p = { x = p.x + i }; if i == n - 10 then break end", "p.x", 2),
];

struct Way {
    mode: &'static str,
    passes: &'static str,
}

fn run(program: &Path, iterations: u64, way: &Way) -> Outcome {
    let iterations = iterations.to_string();
    let args = [iterations.as_str()];
    let counting = u64::MAX.to_string();
    let settings = [
        ("RUNLUA_MODE", way.mode),
        ("RUNLUA_PASSES", way.passes),
        ("RUNLUA_THRESHOLD", "2"),
        ("RUNLUA_REFUSE", &counting),
        ("RUNLUA_REPORT", "1"),
    ];
    let found = patched(program, &args, &settings);
    let expected = stock(program, &args);
    assert_eq!((found.code, &found.stdout), (Some(0), &expected.stdout), "{}", found.stderr);
    if way.mode == "jit" {
        assert!(count(&found, "compiled") > 0, "{}", found.stderr);
    }
    found
}

fn requests(program: &Path, iterations: u64, way: &Way) -> u64 {
    count(&run(program, iterations, way), "requests")
}

fn write((name, variables, body, printed, _): Loop) -> PathBuf {
    let text = format!(
        "local n = tonumber(arg[1])\n{variables}\nfor i = 1, n do\n  {body}\nend\nprint({printed})\n"
    );
    script(&format!("allocations_{name}.lua"), &text)
}

/// Whether it makes tables with items, which exist in 5.5 wherever the program makes them.
fn has_items((name, ..): &Loop) -> bool {
    ["array", "mixed", "nested", "shared"].contains(name)
}

#[test]
fn loops_with_virtual_objects_ask_for_nothing() {
    let ways = [
        Way { mode: "jit", passes: "" },
        Way { mode: "jit", passes: "-virtuals" },
        Way { mode: "off", passes: "" },
    ];
    for case in LOOPS {
        let (name, blocks, program) = (case.0, case.4, write(case));
        if cfg!(feature = "lua55") && has_items(&case) {
            continue;
        }
        for (number, way) in ways.iter().enumerate() {
            let (few, many) = (requests(&program, FEW, way), requests(&program, MANY, way));
            let more = many.abs_diff(few);
            let all = (MANY - FEW) * blocks;
            println!("{name} {} {}: {few} and {many} requests", way.mode, way.passes);
            if number == 0 {
                assert!(more <= CONSTANT, "{name}: {more} requests more");
            } else {
                // A collection frees records of frames, which calls ask for again.
                let most = all + all / 64 + CONSTANT;
                assert!((all - CONSTANT..=most).contains(&more), "{name}: {more} requests more, not {all}");
            }
        }
    }
}

/// What goes round is virtual once the preamble has as many iterations as it takes to go round, up to four.
#[test]
fn an_object_that_goes_round_for_two_iterations_is_not_made() {
    let body = "a, b = b, { v = (a.v + b.v) & 0xFFFF }";
    let program = write(("two_old", "local a, b = { v = 1 }, { v = 2 }", body, "a.v, b.v, a == b", 0));
    let way = Way { mode: "jit", passes: "" };
    let more = requests(&program, MANY, &way).abs_diff(requests(&program, FEW, &way));
    assert!(more <= CONSTANT, "{more} requests more");
}

/// The label after four iterations wants a real object in `a`, since these got it from outside.
#[test]
fn an_object_kept_for_six_iterations_is_made() {
    let first = "local a, b, c = { v = 1 }, { v = 2 }, { v = 3 } local d, e, f = a, b, c";
    let body = "a, b, c, d, e, f = b, c, d, e, f, { v = (a.v + f.v) & 0xFFFF }";
    let program = write(("six_old", first, body, "a.v, f.v, a == b", 2));
    let way = Way { mode: "jit", passes: "" };
    let more = requests(&program, MANY, &way) - requests(&program, FEW, &way);
    assert!(more.abs_diff((MANY - FEW) * 2) <= CONSTANT, "{more} requests more");
    // The preamble made none, and yet the loop may not take it for granted that no collection is due.
    let report = run(&program, MANY, &way).stderr;
    let left =
        report.lines().find(|line| line.contains("left: ")).expect("the report says how the loop was left");
    assert!(left.contains(" collect"), "{left}");
}
