//! Lua programs, run by stock Lua and by the JIT in every way there is: the output must be the same to the byte.
//!
//! Problem: what a compiled loop gets wrong shows only where it is left, and most guards of a program never fail by
//! themselves. Design: each program of `tests/lua` runs with the JIT off, at the default threshold, at threshold 1,
//! with each optimizer pass off, and once for each guard execution with that guard forced to fail
//! (`--force-exit=N`). The same is done, more sparsely, with programs that `tests/lua/generate.lua` writes.
//!
//! Environment: `TRACELIFT_CORPUS=full` forces more guards (the first 300 of each program, then 150 at random) and
//! makes more programs; `TRACELIFT_FIRST_SEED` is the first seed of the programs made.
//!
//! Invariant: a program uses nothing that may differ between two runs of stock Lua. A failure names the command that
//! shows it; programs that were made are kept then.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{mpsc, Mutex};
use std::time::Duration;

use tracelift_lua::STOCK_LUA;
use tracelift_opt::PASSES;

/// No program runs longer than this in any way, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// How much is done.
#[derive(Clone, Copy)]
struct Effort {
    /// Guard executions forced one after the other, from the first.
    in_turn: u64,
    /// Guard executions forced at random behind those.
    at_random: u64,
    /// Programs made.
    programs: u64,
}

fn effort() -> Effort {
    match std::env::var("TRACELIFT_CORPUS").as_deref() {
        Ok("full") => Effort { in_turn: 300, at_random: 150, programs: 1500 },
        _ => Effort { in_turn: 40, at_random: 20, programs: 100 },
    }
}

/// What a run left behind.
#[derive(PartialEq, Eq)]
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

fn wait(mut child: Child) -> Outcome {
    let stdout = read_to_end(child.stdout.take().expect("stdout is piped"));
    let stderr = read_to_end(child.stderr.take().expect("stderr is piped"));
    let output = stdout.recv_timeout(PATIENCE);
    if output.is_err() {
        // It may have ended just now; then there is nothing to kill.
        let _ = child.kill();
    }
    let errors = stderr.recv_timeout(PATIENCE).unwrap_or_default();
    let status = child.wait().expect("the child was started here");
    Outcome {
        code: status.code().filter(|_| output.is_ok()),
        stdout: output.unwrap_or_default(),
        stderr: String::from_utf8_lossy(&errors).into_owned(),
    }
}

/// Runs a program in its folder, so that messages name it in the same way everywhere.
fn start(executable: &str, args: &[&str], program: &Path) -> Outcome {
    let folder = program.parent().expect("programs lie in folders");
    let name = program.file_name().expect("programs are files");
    let child = Command::new(executable)
        .args(args)
        .arg(name)
        .current_dir(folder)
        .env_remove("LUA_INIT")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the executable was built with this test");
    wait(child)
}

fn stock(program: &Path) -> Outcome {
    let outcome = start(STOCK_LUA, &[], program);
    assert_eq!(outcome.code, Some(0), "stock Lua fails on {}: {}", program.display(), outcome.stderr);
    outcome
}

/// A program and what stock Lua makes of it.
struct Case {
    program: PathBuf,
    expected: Outcome,
    runs: u64,
}

impl Case {
    fn new(program: PathBuf) -> Case {
        let expected = stock(&program);
        Case { program, expected, runs: 0 }
    }

    /// Runs the program once more; on a difference, says how to see it.
    fn check(&mut self, args: &[&str]) -> Result<Outcome, String> {
        self.runs += 1;
        let args: Vec<&str> = std::iter::once("run").chain(args.iter().copied()).collect();
        let found = start(env!("CARGO_BIN_EXE_tracelift"), &args, &self.program);
        if (found.code, &found.stdout) == (self.expected.code, &self.expected.stdout) {
            return Ok(found);
        }
        let (expected, output) =
            (String::from_utf8_lossy(&self.expected.stdout), String::from_utf8_lossy(&found.stdout));
        let mut text = format!("tracelift {} {}\n", args.join(" "), self.program.display());
        if found.code != self.expected.code {
            let _ = writeln!(text, "  exit code {:?}: {}", found.code, found.stderr);
        }
        let first = expected.lines().zip(output.lines()).enumerate().find(|(_, (a, b))| a != b);
        let _ = match first {
            Some((line, (a, b))) => {
                writeln!(text, "  line {}: expected {a}\n{:>12} found {b}", line + 1, "")
            }
            None => writeln!(text, "  {} bytes expected, {} found", expected.len(), output.len()),
        };
        Err(text)
    }

    /// The guard executions of a run at threshold 1.
    fn guards(&mut self) -> Result<u64, String> {
        let outcome = self.check(&["--threshold=1", "--verify", "--stats=json"])?;
        let json: serde_json::Value =
            serde_json::from_str(&outcome.stderr).map_err(|error| format!("statistics: {error}"))?;
        json["guards_executed"].as_u64().ok_or_else(|| "the statistics count no guards".to_string())
    }

    fn check_forced(&mut self, guard: u64) -> Result<(), String> {
        self.check(&["--threshold=1", &format!("--force-exit={guard}")]).map(|_| ())
    }
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

/// Every way in turn, for a program of the corpus.
fn check_thoroughly(case: &mut Case, effort: Effort) -> Result<(), String> {
    case.check(&["--jit=off"])?;
    case.check(&[])?;
    case.check(&["--threshold=2"])?;
    case.check(&["--threshold=1", "--no-exec"])?;
    for pass in passes_off() {
        case.check(&["--threshold=1", "--verify", &pass])?;
    }
    let guards = case.guards()?;
    for guard in 1..=guards.min(effort.in_turn) {
        case.check_forced(guard)?;
    }
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for _ in 0..guards.saturating_sub(effort.in_turn).min(effort.at_random) {
        case.check_forced(effort.in_turn + 1 + random.below(guards - effort.in_turn))?;
    }
    Ok(())
}

/// A few ways, for one of many programs.
fn check_sparsely(case: &mut Case, seed: u64) -> Result<(), String> {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let guards = case.guards()?;
    case.check(&[&format!("--threshold={}", 2 + random.below(8))])?;
    let passes: Vec<String> = passes_off().collect();
    let pass = &passes[random.below(passes.len() as u64) as usize];
    case.check(&["--threshold=1", "--verify", pass])?;
    for _ in 0..guards.min(4) {
        case.check_forced(1 + random.below(guards))?;
    }
    Ok(())
}

/// Does all the work on all processors, and fails with what was found.
fn check_all<T: Send>(work: Vec<T>, what: &str, check: impl Fn(T) -> (u64, Result<(), String>) + Sync) {
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
                if let Err(text) = result {
                    failures.lock().expect("no thread panics while it holds the lock").push(text);
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

#[test]
fn corpus() {
    let effort = effort();
    let mut programs: Vec<PathBuf> = std::fs::read_dir(folder())
        .expect("the corpus is part of the package")
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.extension().is_some_and(|e| e == "lua") && !path.ends_with(GENERATOR))
        .collect();
    programs.sort();
    assert!(programs.len() >= 40, "only {} programs", programs.len());
    check_all(programs, "the corpus", |program| {
        let mut case = Case::new(program);
        let result = check_thoroughly(&mut case, effort);
        (case.runs, result)
    });
}

#[test]
fn programs_made() {
    let first = std::env::var("TRACELIFT_FIRST_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("made");
    std::fs::create_dir_all(&target).expect("the test folder can be made");
    let seeds: Vec<u64> = (first..first + effort().programs).collect();
    check_all(seeds, "programs made", |seed| {
        let program = target.join(format!("made_{seed}.lua"));
        let made = Command::new(STOCK_LUA).arg(folder().join(GENERATOR)).arg(seed.to_string()).output();
        let text = made.expect("stock Lua was built with this test").stdout;
        std::fs::write(&program, text).expect("the test folder can be written");
        let mut case = Case::new(program.clone());
        let result = check_sparsely(&mut case, seed);
        if result.is_ok() {
            // Left for the next run if it cannot be removed.
            let _ = std::fs::remove_file(program);
        }
        (case.runs, result)
    });
}
