//! Lua programs, run by stock Lua and by the JIT in every way there is: the output must be the same to the
//! byte.
//!
//! Problem: what a compiled loop gets wrong shows only where it is left, and most guards of a program never
//! fail by themselves. Design: each program of `tests/lua` runs with the JIT off, with the default settings,
//! at threshold 1 and 56, at thresholds taken at random, with each optimizer pass off, with each collector of
//! [`COLLECTORS`] (one of which collects everything at each allocation), with recordings that start at random
//! back edges, a third of which is thrown away (`--start-seed=N`), with other code that runs inside each call
//! from compiled code (`--nested-calls`), in code memory for few traces (`--code-limit=KIB`), and once for
//! each guard execution with that guard forced to fail (`--force-exit=N`). The same is done, more sparsely,
//! with programs that `tests/lua/generate.lua` writes. What is never run proves nothing: all opcodes and all
//! functions that are lowered must occur in the corpus, which `tests/lua/support/covered.lua` finds out in a
//! run of each program by stock Lua.
//!
//! In a build without optimization each program runs in a few of these ways, taken at random.
//!
//! Environment: `TRACELIFT_CORPUS=full` takes every way in any build, forces more guards (the first 9 of
//! each program, then 7 at random) and makes more programs; `TRACELIFT_CORPUS=sample`, for emulators, takes
//! few ways and one program in thirty-two, which `TRACELIFT_TURN` says (0 and 32 are the same turn).
//! `TRACELIFT_EVERY=n` takes one in n, by the turn too. `TRACELIFT_PROGRAMS` is how many programs are made,
//! `TRACELIFT_FIRST_SEED` the seed of the first one; `TRACELIFT_ONLY` keeps the programs of the corpus whose
//! names contain it.
//!
//! Invariant: a program uses nothing that may differ between two runs of stock Lua, nor between two
//! collectors. A failure names the command that shows it; programs that were made are kept then, and made
//! smaller.

use std::collections::{BTreeSet, VecDeque};
use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{mpsc, Mutex};
use std::time::{Duration, Instant};

#[path = "support/reduce.rs"]
mod reduce;
#[path = "support/runner.rs"]
mod runner;
#[path = "support/turn.rs"]
mod turn;

use tracelift_lua::STOCK_LUA;
use tracelift_opt::PASSES;
use turn::{in_turn, number};

/// Loops are recorded when they have run for a while, and yet far earlier than by default.
const LATER: [&str; 2] = ["--threshold=56", "--side-threshold=10"];

/// No program runs longer than this in any way, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// No program that is being made smaller runs longer: without some of its lines it may well run for ever.
const SHORT_PATIENCE: Duration = Duration::from_secs(4);

/// So long a failing program is made smaller.
const TIME_TO_REDUCE: Duration = Duration::from_secs(100);

/// How much is done.
#[derive(Clone, Copy)]
struct Effort {
    /// One program of the corpus in so many is run.
    one_in: u64,
    /// Whether each program runs in every way, or in a few that are taken at random.
    every_way: bool,
    /// Guard executions forced one after the other, from the first.
    in_turn: u64,
    /// Guard executions forced at random after those.
    at_random: u64,
    /// Seeds for each program with which recordings start at random.
    seeds: u64,
    /// Programs made.
    programs: u64,
}

fn effort() -> Effort {
    let mut effort = match std::env::var("TRACELIFT_CORPUS").as_deref() {
        Ok("full") => {
            Effort { one_in: 1, every_way: true, in_turn: 9, at_random: 7, seeds: 2, programs: 300 }
        }
        Ok("sample") => {
            Effort { one_in: 32, every_way: false, in_turn: 0, at_random: 0, seeds: 0, programs: 6 }
        }
        // A build without optimization takes ten times as long.
        _ => {
            let every_way = !cfg!(debug_assertions);
            Effort { one_in: 1, every_way, in_turn: 12, at_random: 6, seeds: 2, programs: 60 }
        }
    };
    effort.programs = number("TRACELIFT_PROGRAMS").unwrap_or(effort.programs);
    effort
}

/// A way to collect garbage: a name, and the chunk that sets it, which runs before the program (`LUA_INIT`).
struct Collector {
    name: &'static str,
    chunk: &'static str,
}

/// As the stand-alone interpreter has it: generational.
static USUAL: Collector = Collector { name: "usual", chunk: "" };

static COLLECTORS: [Collector; 3] = [
    // A pause of 0 makes a cycle due at each byte, and a step of more than any memory goes through all of it.
    Collector {
        name: "full at each allocation",
        chunk: if cfg!(feature = "lua55") {
            "collectgarbage('incremental') collectgarbage('param', 'pause', 0) \
             collectgarbage('param', 'stepmul', 0)"
        } else {
            "collectgarbage('incremental', 0, 0, 63) collectgarbage('setpause', 0)"
        },
    },
    // A step of 64 bytes each 64 bytes: all states of the collector meet all states of a loop.
    Collector {
        name: "incremental",
        chunk: if cfg!(feature = "lua55") {
            "collectgarbage('incremental') collectgarbage('param', 'pause', 100) \
             collectgarbage('param', 'stepsize', 64)"
        } else {
            "collectgarbage('incremental', 100, 100, 6)"
        },
    },
    Collector {
        name: "young often",
        chunk: if cfg!(feature = "lua55") {
            "collectgarbage('generational') collectgarbage('param', 'minormul', 1)"
        } else {
            "collectgarbage('generational', 1, 20)"
        },
    },
];

/// What a run left behind.
#[derive(Clone, PartialEq, Eq)]
struct Outcome {
    /// `None`: killed by a signal, or for taking too long.
    code: Option<i32>,
    stdout: Vec<u8>,
    stderr: String,
}

fn read_to_end(mut pipe: impl Read + Send + 'static) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What could be read before an error is compared all the same.
        let _ = pipe.read_to_end(&mut bytes);
        let _ = sender.send(bytes);
    });
    receiver
}

fn wait(mut child: Child, patience: Duration) -> Outcome {
    let stdout = read_to_end(child.stdout.take().expect("stdout is piped"));
    let stderr = read_to_end(child.stderr.take().expect("stderr is piped"));
    let output = stdout.recv_timeout(patience);
    if output.is_err() {
        // It may have ended just now; then there is nothing to kill.
        let _ = child.kill();
    }
    let errors = stderr.recv_timeout(patience).unwrap_or_default();
    let status = child.wait().expect("the child was started here");
    Outcome {
        code: status.code().filter(|_| output.is_ok()),
        stdout: output.unwrap_or_default(),
        stderr: String::from_utf8_lossy(&errors).into_owned(),
    }
}

/// Runs a program in its folder, so that messages name it in the same way everywhere.
fn start(
    executable: &str,
    args: &[&str],
    program: &Path,
    collector: &Collector,
    patience: Duration,
) -> Outcome {
    let folder = program.parent().expect("programs lie in folders");
    let name = program.file_name().expect("programs are files");
    let child = runner::command(executable)
        .args(args)
        .arg(name)
        .current_dir(folder)
        .env_remove("LUA_INIT_5_4")
        .env("LUA_INIT", collector.chunk)
        // With Lua's assertions strings have the same hashes in each run.
        .env("TRACELIFT_SAME_HASHES", if cfg!(debug_assertions) { "1" } else { "0" })
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the executable was built with this test");
    wait(child, patience)
}

/// What stock Lua makes of a program, with messages as our command has them.
fn stock(program: &Path, collector: &Collector, patience: Duration) -> Outcome {
    let mut outcome = start(STOCK_LUA, &[], program, collector, patience);
    if let Some(message) = outcome.stderr.strip_prefix("lua: ") {
        outcome.stderr = format!("tracelift: {message}");
    }
    outcome
}

const STATISTICS: &str = "--stats=json";

/// Where two outcomes begin to differ.
fn difference(expected: &Outcome, found: &Outcome) -> String {
    let mut text = String::new();
    if found.code != expected.code {
        let _ = writeln!(text, "  exit code {:?}: {}", found.code, found.stderr);
    }
    for (name, a, b) in [
        ("output", String::from_utf8_lossy(&expected.stdout), String::from_utf8_lossy(&found.stdout)),
        ("messages", expected.stderr.as_str().into(), found.stderr.as_str().into()),
    ] {
        let first = a.lines().zip(b.lines()).enumerate().find(|(_, (a, b))| a != b);
        let _ = match first {
            _ if a == b => Ok(()),
            Some((line, (a, b))) => {
                writeln!(text, "  {name}, line {}: expected {a}\n{:>12} found {b}", line + 1, "")
            }
            None => writeln!(text, "  {name}: {} bytes expected, {} found", a.len(), b.len()),
        };
    }
    text
}

/// A run that is not as stock Lua's.
struct Failure {
    collector: &'static Collector,
    args: Vec<String>,
    text: String,
}

/// A program and what stock Lua makes of it.
struct Case {
    program: PathBuf,
    expected: Outcome,
    runs: u64,
    patience: Duration,
}

impl Case {
    /// `None` if stock Lua runs the program neither to its end, nor to an error that nobody catches.
    fn try_new(program: PathBuf, patience: Duration) -> Option<Case> {
        let expected = stock(&program, &USUAL, patience);
        let message = &expected.stderr;
        let is_fine = match expected.code {
            Some(0) => message.is_empty(),
            Some(1) => message.contains("tracelift: ") && !expected.stdout.is_empty(),
            _ => false,
        };
        is_fine.then_some(Case { program, expected, runs: 0, patience })
    }

    fn new(program: PathBuf) -> Case {
        let name = program.display().to_string();
        Case::try_new(program, PATIENCE).unwrap_or_else(|| panic!("stock Lua fails on {name}"))
    }

    /// Runs the program once more; on a difference, says how to see it.
    fn check(&mut self, args: &[&str]) -> Result<Outcome, Failure> {
        self.check_under(&USUAL, args)
    }

    fn check_under(&mut self, collector: &'static Collector, args: &[&str]) -> Result<Outcome, Failure> {
        self.runs += 1;
        let words: Vec<&str> = std::iter::once("run").chain(args.iter().copied()).collect();
        let found = start(env!("CARGO_BIN_EXE_tracelift"), &words, &self.program, collector, self.patience);
        let is_silent = !args.contains(&STATISTICS);
        if found == self.expected
            || !is_silent && (found.code, &found.stdout) == (self.expected.code, &self.expected.stdout)
        {
            return Ok(found);
        }
        let mut text = format!("tracelift {} {}\n", words.join(" "), self.program.display());
        if !collector.chunk.is_empty() {
            text.insert_str(0, &format!("LUA_INIT=\"{}\" ", collector.chunk));
        }
        text += &difference(&self.expected, &found);
        Err(Failure { collector, args: args.iter().map(|&arg| arg.to_owned()).collect(), text })
    }

    /// The guard executions of a run at threshold 1. Recordings that are given up for mistakes of ours are
    /// failures.
    fn guards(&mut self) -> Result<u64, Failure> {
        let outcome = self.check(&["--threshold=1", "--verify", STATISTICS, "--count-guards"])?;
        // A message of the program may stand before or after them.
        let start = outcome.stderr.find("{\n").expect("statistics are printed");
        let text = &outcome.stderr[start..];
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<serde_json::Value>();
        let json = values.next().expect("statistics are printed").expect("statistics are JSON");
        let aborts = json["aborts"].as_object().expect("aborts are counted by reason");
        let is_ours = |reason: &&String| reason.contains("misuse") || reason.contains("internal error");
        if let Some(reason) = aborts.keys().find(is_ours) {
            let text = format!("{}: a recording was given up: {reason}\n", self.program.display());
            let args = vec!["--threshold=1".to_owned(), "--verify".to_owned()];
            return Err(Failure { collector: &USUAL, args, text });
        }
        Ok(json["guards_executed"].as_u64().expect("guards are counted"))
    }

    fn check_forced(&mut self, guard: u64) -> Result<(), Failure> {
        self.check(&["--threshold=1", &format!("--force-exit={guard}")]).map(|_| ())
    }

    /// Whether the program fails in the way another one did. The guard to force is not the same then: all are
    /// tried.
    fn fails_likewise(&mut self, failure: &Failure) -> bool {
        let is_forced = |arg: &String| arg.starts_with("--force-exit=");
        let args: Vec<&str> = failure.args.iter().filter(|arg| !is_forced(arg)).map(String::as_str).collect();
        if args.len() == failure.args.len() {
            return self.check_under(failure.collector, &args).is_err();
        }
        let Ok(guards) = self.guards() else { return true };
        (1..=guards.min(400)).any(|guard| {
            let force = format!("--force-exit={guard}");
            let args: Vec<&str> = args.iter().copied().chain([force.as_str()]).collect();
            self.check_under(failure.collector, &args).is_err()
        })
    }
}

/// The program as small as it can be had in a short time.
fn smaller(program: &Path, failure: &Failure) -> String {
    let text = std::fs::read_to_string(program).expect("the program was just run");
    let candidate = program.with_extension("small.lua");
    let mut fails = |text: &str| {
        std::fs::write(&candidate, text).expect("the test folder can be written");
        Case::try_new(candidate.clone(), SHORT_PATIENCE).is_some_and(|mut case| case.fails_likewise(failure))
    };
    let text = reduce::reduce(&text, Instant::now() + TIME_TO_REDUCE, &mut fails);
    std::fs::write(&candidate, &text).expect("the test folder can be written");
    text
}

/// Numbers from xorshift, so that a failure can be had again.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

fn passes_off() -> impl Iterator<Item = String> {
    let names = PASSES.iter().filter(|pass| pass.optional).map(|pass| pass.name);
    names.chain(["all"]).map(|name| format!("--opt=-{name}"))
}

/// Stock Lua itself must not care.
fn check_collectors(case: &mut Case, random: &mut Random) -> Result<(), Failure> {
    for collector in &COLLECTORS {
        let stock = stock(&case.program, collector, PATIENCE);
        if stock != case.expected {
            let what = format!("{}: stock Lua, collector {}", case.program.display(), collector.name);
            let text = format!("{what}\n{}", difference(&case.expected, &stock));
            return Err(Failure { collector, args: Vec::new(), text });
        }
        case.check_under(collector, &["--threshold=1"])?;
        case.check_under(collector, &[&format!("--threshold={}", 2 + random.below(8))])?;
    }
    Ok(())
}

/// Recordings start at random and are thrown away at random: neither may be seen, nor in which iteration a
/// loop was recorded.
fn check_starts(
    case: &mut Case,
    seed: u64,
    collector: &'static Collector,
    random: &mut Random,
) -> Result<(), Failure> {
    let threshold = format!("--threshold={}", 1 + random.below(12));
    let start = format!("--start-seed={seed}");
    case.check_under(collector, &[&threshold, &start, "--verify"])?;
    // Code comes late as well, and at times later than it is there.
    case.check_under(collector, &[&threshold, &start, "--compile=thread", "--verify"])?;
    // Among the first guards: a loop that starts late runs through few of them.
    let force = format!("--force-exit={}", 1 + random.below(60));
    case.check_under(collector, &[&threshold, &start, &force]).map(|_| ())
}

/// Other code runs inside each call that compiled code makes; and with a guard that fails.
fn check_nested(case: &mut Case, random: &mut Random) -> Result<(), Failure> {
    case.check(&["--threshold=1", "--nested-calls", "--verify"])?;
    case.check(&[&format!("--threshold={}", 2 + random.below(20)), "--side-threshold=3", "--nested-calls"])?;
    let force = format!("--force-exit={}", 1 + random.below(200));
    case.check(&["--threshold=1", "--nested-calls", &force]).map(|_| ())
}

/// Functions have baseline code from their first call on, and there are no traces.
const BASELINE: [&str; 1] = ["--threshold=1000000"];

/// With each collector.
fn check_under_all(case: &mut Case, args: &[&str]) -> Result<(), Failure> {
    COLLECTORS.iter().try_for_each(|collector| case.check_under(collector, args).map(|_| ()))
}

/// In so little code memory that new traces evict others all the time.
fn check_evictions(case: &mut Case) -> Result<(), Failure> {
    case.check(&["--threshold=1", "--side-threshold=1", "--code-limit=16", "--verify"])?;
    case.check(&["--threshold=1", "--side-threshold=1", "--code-limit=64"])?;
    case.check(&["--threshold=2", "--code-limit=8", "--nested-calls"]).map(|_| ())
}

/// Every way in turn, for a program of the corpus.
fn check_thoroughly(case: &mut Case, effort: Effort) -> Result<(), Failure> {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    case.check(&["--jit=off"])?;
    case.check(&[])?;
    case.check(&LATER)?;
    case.check(&["--threshold=2"])?;
    for _ in 0..4 {
        case.check(&[&format!("--threshold={}", 3 + random.below(40))])?;
    }
    case.check(&["--threshold=1", "--no-exec"])?;
    case.check(&BASELINE)?;
    case.check(&["--threshold=1", "--baseline=off"])?;
    case.check(&["--threshold=1", "--no-quick-code"])?;
    case.check(&["--threshold=1", "--no-regions"])?;
    case.check(&["--threshold=1", "--compile=thread"])?;
    case.check(&["--threshold=3", "--side-threshold=2", "--compile=thread", "--verify"])?;
    case.check(&["--compile=thread"])?;
    check_evictions(case)?;
    check_under_all(case, &BASELINE)?;
    check_nested(case, &mut random)?;
    for pass in passes_off() {
        case.check(&["--threshold=1", "--verify", &pass])?;
    }
    check_collectors(case, &mut random)?;
    for seed in 1..=effort.seeds {
        let collector = if seed % 4 == 0 { &COLLECTORS[0] } else { &USUAL };
        check_starts(case, seed, collector, &mut random)?;
    }
    let guards = case.guards()?;
    for guard in 1..=guards.min(effort.in_turn) {
        case.check_forced(guard)?;
    }
    for count in 0..guards.saturating_sub(effort.in_turn).min(effort.at_random) {
        let guard = effort.in_turn + 1 + random.below(guards - effort.in_turn);
        case.check_forced(guard)?;
        if count % 10 == 0 {
            case.check_under(&COLLECTORS[0], &["--threshold=1", &format!("--force-exit={guard}")])?;
        }
    }
    Ok(())
}

/// A few ways, others for each program of the corpus.
fn check_briefly(case: &mut Case) -> Result<(), Failure> {
    let name = case.program.file_name().expect("a program is a file").as_encoded_bytes();
    let seed = name.iter().fold(0u64, |seed, &byte| seed.wrapping_mul(31).wrapping_add(u64::from(byte)));
    for args in [&["--jit=off"][..], &[], &LATER, &["--threshold=2"], &["--threshold=1", "--verify"]] {
        case.check(args)?;
    }
    case.check(&BASELINE)?;
    case.check(&["--threshold=2", "--baseline=off"])?;
    case.check(&["--threshold=1", "--no-quick-code"])?;
    case.check(&["--threshold=2", "--side-threshold=2", "--compile=thread"])?;
    case.check(&["--threshold=1", "--side-threshold=1", "--code-limit=16"])?;
    check_sparsely(case, seed)
}

/// A few ways, for one of many programs.
fn check_sparsely(case: &mut Case, seed: u64) -> Result<(), Failure> {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let guards = case.guards()?;
    case.check(&[&format!("--threshold={}", 2 + random.below(8))])?;
    let passes: Vec<String> = passes_off().collect();
    let pass = &passes[random.below(passes.len() as u64) as usize];
    case.check(&["--threshold=1", "--verify", pass])?;
    let collector = &COLLECTORS[random.below(COLLECTORS.len() as u64) as usize];
    case.check_under(collector, &[&format!("--threshold={}", 1 + random.below(5))])?;
    check_starts(case, seed.max(1), &USUAL, &mut random)?;
    check_nested(case, &mut random)?;
    for _ in 0..guards.min(2) {
        case.check_forced(1 + random.below(guards))?;
    }
    Ok(())
}

/// Does all the work on all processors, and fails with what was found.
fn check_all<T: Send>(work: Vec<T>, what: &str, check: impl Fn(T) -> (u64, Result<(), Failure>) + Sync) {
    let total = work.len();
    let work = Mutex::new(VecDeque::from(work));
    let failures = Mutex::new(Vec::new());
    let runs = AtomicU64::new(0);
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get().min(8));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| loop {
                let next = work.lock().expect("no thread panics while it holds the lock").pop_front();
                let Some(item) = next else { break };
                let (count, result) = check(item);
                runs.fetch_add(count, Ordering::Relaxed);
                if let Err(failure) = result {
                    failures.lock().expect("no thread panics while it holds the lock").push(failure.text);
                }
            });
        }
    });
    let failures = failures.into_inner().expect("the threads have ended");
    println!("{what}: {total} programs, {} runs, {} failures", runs.into_inner(), failures.len());
    assert!(failures.is_empty(), "{what} differs from stock Lua:\n{}", failures.join("\n"));
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lua")
}

/// The program that writes programs; it is no part of the corpus.
const GENERATOR: &str = "generate.lua";

/// Programs for Lua 5.5 alone: a folder of the corpus.
const FOR_55: &str = "v55";

/// Programs that assign the variable of a loop, which 5.5 forbids; and one that compares what two runs of
/// the collector leave, whose answer is another one there with and without the JIT.
const NOT_FOR_55: [&str; 12] = [
    "bounds_variable.lua",
    "closure_break_captured.lua",
    "closure_loop_variables.lua",
    "counted_memory.lua",
    "h_closure_shared.lua",
    "h_multiple_assignment.lua",
    "iter_ends.lua",
    "loop_variable.lua",
    "recursion_iterators.lua",
    "upvalues_captured.lua",
    "x_range_ends.lua",
    "x_upvalue_cells.lua",
];

fn programs_in(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder)
        .expect("the corpus is part of the package")
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.extension().is_some_and(|e| e == "lua") && !path.ends_with(GENERATOR))
        .collect()
}

/// The corpus.
fn programs() -> Vec<PathBuf> {
    let mut programs = programs_in(&folder());
    if cfg!(feature = "lua55") {
        programs.retain(|path| !NOT_FOR_55.iter().any(|name| path.ends_with(name)));
        let for_55 = programs_in(&folder().join(FOR_55));
        assert!(for_55.len() >= 7, "only {} programs for 5.5", for_55.len());
        programs.extend(for_55);
    }
    programs.sort();
    assert!(programs.len() >= 160, "only {} programs", programs.len());
    programs
}

/// What a run of a program by stock Lua covers, one line each: `op MOVE`, `call math.floor`.
fn covered(program: &Path) -> Vec<String> {
    let name = program.file_name().expect("programs are files");
    let list = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name).with_extension("covered");
    let output = runner::command(STOCK_LUA)
        .arg(name)
        .current_dir(folder())
        .env_remove("LUA_INIT_5_4")
        .env("LUA_INIT", "@support/covered.lua")
        .env("TRACELIFT_COVERED", &list)
        .stdin(Stdio::null())
        .output()
        .expect("stock Lua was built with this test");
    // Programs that end with an error have a message; the list's own trouble must not pass for one.
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!message.contains("covered.lua"), "{}: {message}", program.display());
    let text = std::fs::read_to_string(&list).unwrap_or_else(|error| panic!("{}: {error}", list.display()));
    // Left for the next run if it cannot be removed.
    drop(std::fs::remove_file(list));
    text.lines().map(str::to_owned).collect()
}

/// The functions that the recorder lowers, by name: the rows of its tables.
fn lowered_functions() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("hosts/lua/c");
    let text: String = std::fs::read_dir(&folder)
        .expect("the recorder is part of the workspace")
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with("tlua_rec_lib")))
        .map(|path| std::fs::read_to_string(path).expect("the recorder's files can be read"))
        .collect();
    let mut functions = Vec::new();
    for table in text.split("const LibraryRow ").skip(1) {
        // `const LibraryRow *row` names a row; a declaration in a header has no rows.
        let Some((name, rows)) = table.split_once("[] = {") else { continue };
        if !name.chars().all(|c| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let rows = rows.split("};").next().unwrap_or_default();
        // Where the table is listed with its functions' prefix:
        // `{ "math.", tlua_math_functions, tlua_lib_math }`.
        let listed =
            text.lines().find(|line| line.contains("_functions, ") && line.contains(&format!(", {name} ")));
        let listed = listed.unwrap_or_else(|| panic!("no library has the table {name}"));
        let prefix = listed.split('"').nth(1).expect("the prefix comes first");
        let names = rows.split("{ \"").skip(1).filter_map(|row| row.split('"').next());
        functions.extend(names.map(|name| format!("{prefix}{name}")));
    }
    functions
}

/// Functions that loops are full of, lowered or not; iteration has tables of its own in the recorder.
const USED_IN_LOOPS: &str = "ipairs next pairs type select setmetatable getmetatable rawget rawset rawequal rawlen
    pcall error string.byte string.char string.find string.format string.gsub string.len string.sub table.concat
    table.insert table.remove table.sort table.unpack";

/// Every opcode, every function that is lowered, and those of `math` and [`USED_IN_LOOPS`], occur in the
/// corpus.
#[test]
fn the_corpus_covers_all_opcodes_and_functions() {
    if cfg!(feature = "lua55") {
        return; // covered.lua reads the binary form of 5.4
    }
    let found = Mutex::new(BTreeSet::new());
    check_all(programs(), "coverage", |program| {
        let lines = covered(&program);
        found.lock().expect("no thread panics while it holds the lock").extend(lines);
        (1, Ok(()))
    });
    let found = found.into_inner().expect("the threads have ended");
    let mut wanted: BTreeSet<String> =
        found.iter().filter_map(|line| line.strip_prefix("want ")).map(str::to_owned).collect();
    let opcodes = wanted.iter().filter(|line| line.starts_with("op ")).count();
    assert_eq!(opcodes, 83, "Lua 5.4 has 83 opcodes");
    let math = wanted.iter().filter(|line| line.starts_with("call math.")).count();
    assert!(math >= 22, "only {math} functions of `math`");
    let lowered = lowered_functions();
    assert!(lowered.len() >= 42, "the recorder lowers only {lowered:?}");
    wanted.extend(
        lowered
            .iter()
            .map(String::as_str)
            .chain(USED_IN_LOOPS.split_whitespace())
            .map(|name| format!("call {name}")),
    );
    let missing: Vec<&String> = wanted.iter().filter(|line| !found.contains(*line)).collect();
    assert!(missing.is_empty(), "no program of the corpus has: {missing:?}");
    println!(
        "covered: {opcodes} opcodes and {} functions, of which {} are lowered",
        wanted.len() - opcodes,
        lowered.len()
    );
}

#[test]
fn corpus() {
    let effort = effort();
    let mut programs = programs();
    if let Ok(only) = std::env::var("TRACELIFT_ONLY") {
        programs.retain(|path| path.to_string_lossy().contains(&only));
    }
    check_all(in_turn(programs, effort.one_in), "the corpus", |program| {
        let mut case = Case::new(program);
        let result = match effort.every_way {
            true => check_thoroughly(&mut case, effort),
            false => check_briefly(&mut case),
        };
        (case.runs, result)
    });
}

/// Whether stock Lua 5.5 does not compile the program since it assigns the variable of a loop.
fn is_refused(program: &Path) -> bool {
    stock(program, &USUAL, PATIENCE).stderr.contains("attempt to assign to const variable")
}

#[test]
fn programs_made() {
    let first = number("TRACELIFT_FIRST_SEED").unwrap_or(1);
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("made");
    std::fs::create_dir_all(&target).expect("the test folder can be made");
    let seeds: Vec<u64> = (first..first + effort().programs).collect();
    check_all(seeds, "programs made", |seed| {
        let program = target.join(format!("made_{seed}.lua"));
        let made = runner::command(STOCK_LUA).arg(folder().join(GENERATOR)).arg(seed.to_string()).output();
        let text = made.expect("stock Lua was built with this test").stdout;
        std::fs::write(&program, text).expect("the test folder can be written");
        let mut case = match Case::try_new(program.clone(), PATIENCE) {
            Some(case) => case,
            // One in four or so assigns the variable of a loop.
            None if cfg!(feature = "lua55") && is_refused(&program) => return (0, Ok(())),
            None => panic!("stock Lua fails on {}", program.display()),
        };
        let mut result = check_sparsely(&mut case, seed);
        match &mut result {
            // Left for the next run if it cannot be removed.
            Ok(()) => drop(std::fs::remove_file(program)),
            Err(failure) => {
                let text = smaller(&program, failure);
                let _ = writeln!(failure.text, "reduced:\n{text}");
            }
        }
        (case.runs, result)
    });
}

#[test]
fn reduction() {
    let text = "a\nfor x do\n  b\n  if y then\n    boom\n  end\n  c\nend\nd";
    let mut tried = 0;
    let small = reduce::reduce(text, Instant::now() + TIME_TO_REDUCE, &mut |text| {
        tried += 1;
        text.contains("boom") && text.contains("if y")
    });
    assert_eq!(small, "  if y then\n    boom");
    assert!(tried < 40, "{tried} tries");
}
