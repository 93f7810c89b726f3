//! The collector under the JIT: programs that wait for it end, and memory that a program has let go of is let
//! go of.
//!
//! Problem: a compiled loop keeps values in processor registers, leaves old ones in the interpreter's, and
//! does not make objects that nobody sees. A program may wait for one of these to be collected, or may need
//! the memory. Design: the programs `tests/lua/gc_*.lua` wait for finalizers and weak references in all the
//! ways that we know; they run at several thresholds and with recordings that start at random (the corpus
//! runs them in all other ways). Peak memory of each program of the corpus, and of the benchmarks that people
//! might write, is compared with that without the JIT.
//!
//! Environment: `TRACELIFT_EVERY=n` compares the memory of one program in n, which `TRACELIFT_TURN` says.
//!
//! Invariant: a program that never ends here is killed after [`SECONDS`], and fails the test.
//!
//! Example: `u = setmetatable({}, {__gc = function() finish = true end}); repeat u = {} until finish`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

#[path = "support/turn.rs"]
mod turn;

use tracelift_benches::process::{run, Finished, Limits};
use tracelift_lua::STOCK_LUA;
use turn::in_turn;

/// Processor time of one run, at most.
const SECONDS: u64 = 60;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The Lua programs of a folder whose names begin so, in order; none if there is no such folder.
fn programs(of: &str, prefix: &str) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder(of)) else { return Vec::new() };
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.expect("a folder can be read").path()).collect();
    found.retain(|path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with(prefix) && name.ends_with(".lua") && name != "generate.lua"
    });
    found.sort();
    found
}

/// What a program does in its own folder, with the collector set up by a chunk.
fn run_in_place(command: &[&str], program: &Path, collector: &str) -> anyhow::Result<Finished> {
    let folder = program.parent().expect("programs lie in folders");
    let name = program.file_name().expect("programs are files");
    let mut words: Vec<OsString> = ["/usr/bin/env", "-C"].map(OsString::from).to_vec();
    words.push(folder.into());
    words.push(format!("LUA_INIT={collector}").into());
    words.extend(command.iter().map(OsString::from));
    words.push(name.into());
    run(&words, &Limits::new(None, SECONDS))
}

fn tracelift(args: &[&str], program: &Path, collector: &str) -> anyhow::Result<Finished> {
    let command: Vec<&str> = [env!("CARGO_BIN_EXE_tracelift"), "run"].iter().chain(args).copied().collect();
    run_in_place(&command, program, collector)
}

/// Whether it prints what stock Lua does, with each of these arguments.
fn ends_as_expected(program: &Path, expected: &str, ways: &[Vec<String>]) {
    for way in ways {
        let args: Vec<&str> = way.iter().map(String::as_str).collect();
        let found = tracelift(&args, program, "").map(|finished| finished.stdout);
        let found = found.unwrap_or_else(|error| panic!("{} {way:?}: {error}", program.display()));
        assert_eq!(found, expected, "{} {way:?}", program.display());
    }
}

/// Passes without which a check for a collection looks like other guards.
const PASSES: [&str; 5] = ["fold", "guards", "ranges", "virtuals", "peel"];

/// The default, thresholds of 1 and 3, those with a pass off, and recordings that start at random.
fn ways() -> Vec<Vec<String>> {
    let mut ways = vec![vec![], vec!["--threshold=1".to_string()], vec!["--threshold=3".to_string()]];
    ways.extend(PASSES.map(|pass| vec!["--threshold=1".to_string(), format!("--opt=-{pass}")]));
    ways.extend((1..=20).map(|seed| vec!["--threshold=3".to_string(), format!("--start-seed={seed}")]));
    ways
}

#[test]
fn programs_that_wait_for_the_collector_end() {
    let programs = programs("tests/lua", "gc_");
    assert!(programs.len() >= 2, "{programs:?}");
    for program in programs {
        let expected = run_in_place(&[STOCK_LUA], &program, "").expect("stock Lua runs it").stdout;
        ends_as_expected(&program, &expected, &ways());
    }
}

/// A program written for a test.
fn written(name: &str, text: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).expect("the test folder can be written");
    path
}

#[test]
fn a_dead_register_keeps_no_memory() {
    let text = "
local function make() return { string.rep('x', 2^25) } end
do
  local a, b, c, d, e, f, g, h, i
  local big = make()
end
sinks = {}
for i = 1, 3e6 do sinks[i & 7] = { i } end
print(collectgarbage('count') < 2^14 and 'freed' or 'still held')
";
    ends_as_expected(&written("dead_register.lua", text), "freed\n", &ways()[..11]);
}

#[test]
fn a_loop_of_virtual_objects_goes_through_a_large_heap() {
    // A hundred thousand objects are more than one step of the incremental collector.
    for mode in ["incremental", "generational"] {
        let text = format!(
            "
local keep = {{}}
for i = 1, 100000 do keep[i] = {{ i }} end
collectgarbage('{mode}')
collectgarbage()
local finish = false
local u = setmetatable({{}}, {{ __gc = function() finish = true end }})
repeat u = {{}} until finish
print('done', #keep)
"
        );
        let program = written(&format!("virtual_{mode}.lua"), &text);
        ends_as_expected(&program, "done\t100000\n", &ways()[..11]);
    }
}

#[test]
fn a_loop_that_stock_lua_would_not_leave_is_not_left_for_the_collector() {
    // No objects, no collections: the statistics show no exit for one.
    let text = "local s = 0 for i = 1, 3e8 do s = s + i end print(s)";
    let program = written("no_objects.lua", text);
    let stats = tracelift(&["--threshold=3", "--stats=json"], &program, "").expect("it ends").stderr;
    let json: serde_json::Value = serde_json::from_str(&stats).expect("statistics are JSON");
    assert!(json["exits"]["loop_end"].as_u64() > Some(0), "{json}");
    assert_eq!(json["exits"]["collect"].as_u64().unwrap_or(0), 0, "{json}");
}

/// What our code and the code generator take, in KiB, whatever the program needs: the library's pages that
/// compiling touches, and tables of the engine.
const OWN_KIB: f64 = 8.0 * 1024.0;

/// What Cranelift takes for an operation while it compiles, in KiB: 3.5, as chance has loops of 600 to 4,800
/// operations compiled in `nbody_oo`. The longest trace counts.
const COMPILING_KIB: f64 = 4.0;

/// What an operation leaves: code, resume data, guards' plans, itself. 0.11 KiB in a program of 330 traces;
/// 0.20 in `heaps_alt` with a threshold of 3, where 700 traces of 280,000 operations have 84,000 guards.
const KEPT_KIB: f64 = 0.22;

/// How often the kernel counts a page of baseline code: it is mapped to be written and, elsewhere, to be run.
const MAPPINGS: f64 = 2.0;

/// What a call of a unit by a unit takes, in KiB: its native frame, and what is recorded of it if it is left.
/// There is room for twice as many as were ever left at once. 0.15 in recursion 150,000 deep.
const LEVEL_KIB: f64 = 2.0 * 0.2;

/// What the JIT itself may take, in KiB, by the statistics.
fn own_kib(finished: &Finished) -> f64 {
    // They come last, after what the program says.
    let start = if finished.stderr.starts_with('{') {
        0
    } else {
        finished.stderr.rfind("\n{").map_or(0, |at| at + 1)
    };
    let json: serde_json::Value =
        serde_json::from_str(&finished.stderr[start..]).expect("statistics are JSON");
    let traces = json["traces"].as_array().expect("a list of traces");
    let ops: Vec<f64> = traces.iter().map(|trace| trace["ops"][1].as_f64().expect("a count")).collect();
    // Regions are the code of traces, made once more.
    let [again, largest] = ["ops", "largest"].map(|of| json["regions"][of].as_f64().unwrap_or(0.0));
    let longest = ops.iter().copied().fold(largest, f64::max);
    // Without any the statistics do not speak of it.
    let baseline = json["host_code"]["code_bytes"].as_f64().unwrap_or(0.0) / 1024.0;
    let levels = json["units"]["deepest"].as_f64().unwrap_or(0.0);
    let code = KEPT_KIB * (again + ops.iter().sum::<f64>()) + MAPPINGS * baseline;
    OWN_KIB + COMPILING_KIB * longest + code + LEVEL_KIB * levels
}

/// Beyond our own, so much more than without the JIT.
const MOST: f64 = 1.1;

/// So often a program that takes more is run again both ways, with garbage of another size each time.
const PHASES: usize = 6;

/// A generational collector goes through everything when memory has doubled since the last time: a collection
/// a moment later may find much more and wait for twice as much again. What is kept alive does not depend on
/// such chance.
const INCREMENTAL: &str = "collectgarbage('incremental')";

#[test]
fn peak_memory_is_that_without_the_jit() {
    let folders = ["tests/lua", "benches/short", "benches/standing"];
    let (mut most, mut name) = (f64::MIN, String::new());
    let programs = folders.iter().flat_map(|folder| programs(folder, "")).collect();
    for program in in_turn(programs, 1) {
        let run = |arg: &str, collector: &str| tracelift(&[arg, "--stats=json"], &program, collector);
        let peak = |arg: &str, collector: &str| -> anyhow::Result<(f64, f64)> {
            let finished = run(arg, collector)?;
            Ok((finished.peak_kib as f64, own_kib(&finished)))
        };
        // Some end with an error, as they should; the corpus sees to these.
        let Ok((off, _)) = peak("--jit=off", INCREMENTAL) else { continue };
        for arg in ["--jit=on", "--threshold=3"] {
            let ends = "it ends with the JIT off";
            let (mut off, (mut on, own)) = (off, peak(arg, INCREMENTAL).expect(ends));
            // A stack of 16 MB is garbage for a while, or there twice while it grows: whether both at once is
            // a matter of when a collection ends. So the worst is compared with the worst.
            for phase in 1..=PHASES {
                if on <= MOST * off + own {
                    break;
                }
                let shifted = format!("{INCREMENTAL} local _ = ('x'):rep({})", 100_003 * phase);
                off = off.max(peak("--jit=off", &shifted).expect(ends).0);
                on = on.max(peak(arg, &shifted).expect(ends).0);
            }
            assert!(
                on <= MOST * off + own,
                "{} {arg}: {on} KiB, of which {own} may be our own; without the JIT {off}",
                program.display()
            );
            if on - MOST * off > most {
                (most, name) = (on - MOST * off, program.display().to_string());
            }
        }
    }
    println!("at most {most:.0} KiB of our own, in {name}");
    assert!(!name.is_empty());
}
