//! Warm starts: what one run leaves to the next, and all that can be wrong with it.
//!
//! Problem: hints come from a file, which anybody can have written, and act on when code is made. Design: a
//! program runs twice with a directory of its own; the second run prints the same and compiles earlier, by
//! counts and not by times. Then the file is replaced by what it should never be, two processes write at
//! once, and the program changes in between. Invariant: a run with hints prints what a run without prints.
//!
//! Example: `tlua -jcache=DIR app.lua` leaves `DIR/tracelift.hints`.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

#[path = "support/runner.rs"]
mod runner;

const TLUA: &str = env!("CARGO_BIN_EXE_tlua");
const TRACELIFT: &str = env!("CARGO_BIN_EXE_tracelift");

/// Loops of several kinds, an exit that gets a side trace, a function that calls itself, and a loop that
/// cannot be recorded. It runs so long that code pays, in a build without optimization, too.
const PROGRAM: &str = "\
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local function sum(n)
  local s = 0
  for i = 1, n do if i % 3 == 0 then s = s + i else s = s ~ i end end
  return s
end
local points, total = {}, 0
for i = 1, 300 do points[i] = { x = i, y = -i } end
for round = 1, 3000 do for i = 1, #points do total = total + points[i].x - points[i].y end end
local co = coroutine.wrap(function() for i = 1, 1e9 do coroutine.yield(i) end end)
for i = 1, 3000 do total = total + co() end
print(sum(20000000), fib(25), total)
";

/// A new directory, with the program in it.
fn directory(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("warm").join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("the test folder can be made");
    fs::write(path.join("program.lua"), PROGRAM).expect("the test file can be written");
    path
}

fn hints(directory: &Path) -> PathBuf {
    directory.join("cache/tracelift.hints")
}

fn text(path: &Path) -> &str {
    path.to_str().expect("test paths are UTF-8")
}

/// Runs the program in its directory; what it prints, and its statistics.
fn run(directory: &Path, words: &[&str]) -> (String, serde_json::Value) {
    let output = runner::command(TRACELIFT)
        .current_dir(directory)
        .args(["run", "--jit-cache=cache", "--stats=json"])
        .args(words)
        .arg("program.lua")
        .output()
        .expect("the command starts");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{errors}");
    let json = serde_json::from_str(&errors).unwrap_or_else(|error| panic!("{error}: {errors}"));
    (String::from_utf8_lossy(&output.stdout).into_owned(), json)
}

/// What the program prints without any cache.
fn expected(directory: &Path) -> String {
    let output = Command::new(tracelift_lua::STOCK_LUA)
        .current_dir(directory)
        .arg("program.lua")
        .output()
        .expect("stock Lua starts");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// `tlua` in the directory; standard error is returned.
fn tlua(directory: &Path, words: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = runner::command(TLUA);
    command.current_dir(directory).args(words).envs(environment.iter().copied());
    command.output().expect("the command starts")
}

fn count(json: &serde_json::Value, name: &str) -> u64 {
    json[name].as_u64().unwrap_or_else(|| panic!("{name}: {json}"))
}

#[test]
fn the_second_run_prints_the_same_and_compiles_earlier() {
    let directory = directory("twice");
    let expected = expected(&directory);
    let (printed, first) = run(&directory, &[]);
    assert_eq!(printed, expected);
    assert_eq!((&first["hints"]["known"], &first["hints"]["refused"]), (&0.into(), &serde_json::Value::Null));
    let size = fs::metadata(hints(&directory)).expect("there is a file").len();
    assert!((100..20_000).contains(&size), "{size}");
    let (printed, second) = run(&directory, &[]);
    assert_eq!(printed, expected);
    assert!(second["hints"]["known"].as_u64().unwrap() > 3, "{}", second["hints"]);
    assert!(second["hints"]["hastened"].as_u64().unwrap() >= 2, "{}", second["hints"]);
    let [before, after] = [&first, &second].map(|json| count(json, "first_trace_after"));
    assert!(after < 800 && after * 2 < before, "{before} {after}");
    let [before, after] = [&first, &second].map(|json| count(json, "interpreted_back_edges"));
    assert!(after < before, "{before} {after}");
    // And so on: what is confirmed stays.
    let (printed, third) = run(&directory, &[]);
    assert_eq!(printed, expected);
    assert!(count(&third, "first_trace_after") < 800, "{third}");
    assert_eq!(fs::read_dir(directory.join("cache")).unwrap().count(), 1, "nothing else is left");
}

#[test]
fn functions_that_had_baseline_code_get_it_at_their_first_call() {
    if !cfg!(target_arch = "x86_64") {
        return;
    }
    let directory = directory("baseline");
    fs::write(
        directory.join("program.lua"),
        "local function f(x) return x + 1 end\nlocal s = 0\nfor i = 1, 20 do s = f(s) end\n\
         for i = 1, (tonumber(os.getenv('MORE')) or 0) do s = f(s) end\nprint(s)\n",
    )
    .expect("the test file can be written");
    let pieces = |more: &str| {
        let output = runner::command(TRACELIFT)
            .current_dir(&directory)
            .args(["run", "--jit-cache=cache", "--stats=json", "program.lua"])
            .env("MORE", more)
            .output()
            .expect("the command starts");
        let json: serde_json::Value = serde_json::from_slice(&output.stderr).expect("statistics are JSON");
        json["host_code"]["pieces"].as_u64().unwrap_or(0)
    };
    assert_eq!(pieces("0"), 0, "twenty calls are too few");
    assert!(pieces("100000") >= 1);
    assert!(pieces("0") >= 1, "it is known by now");
}

#[test]
fn a_damaged_file_is_ignored_and_replaced() {
    let directory = directory("damaged");
    let expected = expected(&directory);
    run(&directory, &[]);
    let good = fs::read(hints(&directory)).expect("there is a file");
    let mut state = 12345u64;
    let mut random = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut flipped = good.clone();
    flipped[random(good.len())] ^= 1 << random(8);
    let mut old = good.clone();
    old[8] ^= 0x55;
    let noise: Vec<u8> = (0..5000).map(|_| random(256) as u8).collect();
    let cases: [(&str, Vec<u8>); 7] = [
        ("empty", Vec::new()),
        ("truncated", good[..random(good.len())].to_vec()),
        ("flipped", flipped),
        ("another version", old),
        ("noise", noise),
        ("longer", [&good[..], b"x"].concat()),
        ("huge", vec![b'T'; 3 << 20]),
    ];
    for (what, bytes) in cases {
        fs::write(hints(&directory), &bytes).expect("the file can be written");
        let (printed, json) = run(&directory, &[]);
        assert_eq!(printed, expected, "{what}");
        assert!(json["hints"]["refused"].is_string(), "{what}: {}", json["hints"]);
        assert!(count(&json, "first_trace_after") > 1500, "{what}: nothing was known");
        let (_, json) = run(&directory, &[]);
        assert!(json["hints"]["refused"].is_null(), "{what}: it was replaced");
    }
    // Nobody who did not ask hears of it; who logs does, in one line.
    fs::write(hints(&directory), b"nonsense").expect("the file can be written");
    let quiet = tlua(&directory, &["-jcache=cache", "program.lua"], &[]);
    assert_eq!((quiet.stderr.len(), String::from_utf8_lossy(&quiet.stdout)), (0, expected.as_str().into()));
    fs::write(hints(&directory), b"nonsense").expect("the file can be written");
    let told = tlua(&directory, &["-jcache=cache", "-jv", "-e", "print(1)"], &[]);
    let errors = String::from_utf8_lossy(&told.stderr);
    assert_eq!(errors.lines().filter(|line| line.contains("no hints")).count(), 1, "{errors}");
    // A directory in the file's place, and a file that nobody may read.
    fs::remove_file(hints(&directory)).expect("it is there");
    fs::create_dir(hints(&directory)).expect("it can be made");
    let (printed, json) = run(&directory, &[]);
    assert!(printed == expected && json["hints"]["refused"].is_string(), "{}", json["hints"]);
}

#[test]
fn two_processes_may_share_a_directory() {
    let directory = directory("shared");
    let expected = expected(&directory);
    for _ in 0..3 {
        let children: Vec<_> = (0..3)
            .map(|_| {
                runner::command(TLUA)
                    .current_dir(&directory)
                    .args(["-jcache=cache", "program.lua"])
                    .stdout(Stdio::piped())
                    .stderr(Stdio::piped())
                    .spawn()
                    .expect("the command starts")
            })
            .collect();
        for child in children {
            let output = child.wait_with_output().expect("it ends");
            assert_eq!(String::from_utf8_lossy(&output.stderr), "");
            assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
        }
    }
    let (_, json) = run(&directory, &[]);
    assert!(json["hints"]["refused"].is_null() && count(&json, "first_trace_after") < 800, "{json}");
    assert_eq!(fs::read_dir(directory.join("cache")).unwrap().count(), 1, "nothing else is left");
}

#[test]
fn a_program_that_has_changed_runs_as_it_says_now() {
    let directory = directory("changed");
    run(&directory, &[]);
    for (from, to) in [("i % 3 == 0", "i % 5 == 1"), ("s ~ i", "s - i"), ("local co", "\n\nlocal co")] {
        let changed = fs::read_to_string(directory.join("program.lua")).unwrap().replace(from, to);
        fs::write(directory.join("program.lua"), changed).expect("the test file can be written");
        let (printed, _) = run(&directory, &[]);
        assert_eq!(printed, expected(&directory), "{to}");
    }
}

#[test]
fn directories_are_made_used_or_refused() {
    let directory = directory("directories");
    let expected = expected(&directory);
    let refused = |words: &[&str], needle: &str| {
        let output = tlua(&directory, words, &[]);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && output.stdout.is_empty(), "{words:?}: {errors}");
        assert!(errors.lines().count() == 1 && errors.contains(needle), "{words:?}: {errors}");
    };
    refused(&["-jcache=no/such/folder", "program.lua"], "no/such/folder");
    refused(&["-jcache=program.lua", "program.lua"], "program.lua: Not a directory");
    let output = runner::command(TRACELIFT)
        .current_dir(&directory)
        .args(["run", "--jit-cache=no/such/folder", "program.lua"])
        .output()
        .expect("the command starts");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && errors.lines().count() == 1 && errors.contains("no/such/folder"));
    // The last part is made. What stands in the environment serves, but for -E.
    let environment = [("TLUA_JIT_CACHE", "cache")];
    let output = tlua(&directory, &["-E", "program.lua"], &environment);
    assert!(output.status.success() && !directory.join("cache").exists());
    let output = tlua(&directory, &["program.lua"], &environment);
    assert!(output.stderr.is_empty() && String::from_utf8_lossy(&output.stdout) == expected);
    let written = fs::read(hints(&directory)).expect("it was written");
    // os.exit leaves the state open.
    fs::remove_file(hints(&directory)).expect("it is there");
    tlua(&directory, &["-jcache=cache", "-e", "dofile('program.lua') os.exit(0)"], &[]);
    assert!(hints(&directory).exists());
    // Where nothing can be written what is there is used.
    fs::write(hints(&directory), &written).expect("the file can be written");
    fs::set_permissions(directory.join("cache"), fs::Permissions::from_mode(0o555)).unwrap();
    let (printed, json) = run(&directory, &[]);
    fs::set_permissions(directory.join("cache"), fs::Permissions::from_mode(0o755)).unwrap();
    assert!(printed == expected && count(&json, "first_trace_after") < 800, "{json}");
}

#[test]
fn with_the_jit_off_nothing_is_read_or_written() {
    let directory = directory("off");
    let expected = expected(&directory);
    let output = tlua(&directory, &["-joff", "-jcache=cache", "program.lua"], &[]);
    assert!(output.stderr.is_empty() && String::from_utf8_lossy(&output.stdout) == expected);
    let (printed, json) = run(&directory, &["--jit=off"]);
    assert!(printed == expected && json["hints"].is_null(), "{}", json["hints"]);
    assert!(!directory.join("cache").exists());
}

/// A threshold that is set is exact, whatever was learned.
#[test]
fn a_threshold_that_is_set_stays() {
    let directory = directory("exact");
    run(&directory, &[]);
    let words = ["--threshold=300", "--side-threshold=20"];
    let (printed, warm) = run(&directory, &words);
    assert_eq!(printed, expected(&directory));
    fs::remove_file(hints(&directory)).expect("it is there");
    let (_, cold) = run(&directory, &words);
    for name in ["first_trace_after", "recordings"] {
        assert_eq!(count(&warm, name), count(&cold, name), "{name}");
    }
    assert!(text(&hints(&directory)).ends_with("cache/tracelift.hints") && hints(&directory).exists());
}
