//! What `tlua -jv` calls loops, functions and operations: by file, line and function.
//!
//! Problem: who asks why a loop is slow knows the program's text, and nothing of traces and addresses.
//! Design: a program with each kind of loop and of function is run with exact thresholds, and what is told of
//! it names each of them as `debug.getinfo` would. Invariant: a place that is expected stands in the output
//! with what happened there, and no line of it has an address.
//!
//! Example: `--- trace 0 loop kinds.lua:3 main chunk: 18 operations, 6 guards, 680 bytes of code`.

#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::process::Command;

const TLUA: &str = env!("CARGO_BIN_EXE_tlua");

/// Each kind of loop and of function. What the lines are is said in the expectations below.
const KINDS: &str = "\
local s, list = 0, {1, 2, 3}
for k = 1, 50 do s = s
  + k
end
local n = 50
while n > 0 do
  n = n - 1
end
repeat
  n = n + 1
until n == 50
for _, v in ipairs(
  setmetatable({}, {__index = function(_, i)
    if i < 50 then return i end end})) do
  s = s + v
end
::again::
n = n - 1
if n > 0 then goto again end
local function fib(x)
  if x < 2 then return x end
  return fib(x - 1) + fib(x - 2)
end
fib(12)
local Point = {}
Point.__index = Point
function Point:far(limit)
  local far = 0
  for i = 1, limit do
    if i % 2 == 0 then
      far = far + self.x
    end
  end
  return far
end
setmetatable({x = 2}, Point):far(60)
pcall(function() for i = 1, 50 do s = s + i end end)
load('local s = 0 for i = 1, 50 do s = s + i end', '=text')()
load(string.dump(load('local s = 0 for i = 1, 50 do s = s + i end'), true), 'x')()
";

/// What the log must say of them, without numbers of traces and sizes.
const TOLD: &[&str] = &[
    "loop kinds.lua:2 main chunk",
    "loop kinds.lua:6 main chunk",
    "loop kinds.lua:10 main chunk",
    "loop kinds.lua:12 main chunk",
    "loop kinds.lua:18 main chunk",
    "function kinds.lua:20 fib",
    "loop kinds.lua:29 far",
    "side kinds.lua:30 far (exit ",
    "loop kinds.lua:37 function <kinds.lua:37>",
    "loop text:1 main chunk",
    "loop ?:? main chunk",
];

fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("places");
    std::fs::create_dir_all(&folder).expect("the test folder can be made");
    folder
}

/// What a program makes `tlua` tell.
fn told(name: &str, program: &str, words: &[&str]) -> String {
    std::fs::write(folder().join(name), program).expect("the program can be written");
    let output = Command::new(TLUA)
        .args(words)
        .arg(name)
        .current_dir(folder())
        .env_remove("TLUA_JIT")
        .output()
        .expect("it starts");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

const EXACT: &str = "-jopt=threshold=5,side-threshold=3,-regions";

#[test]
fn each_kind_of_loop_and_function_has_its_line_and_name() {
    let text = told("kinds.lua", KINDS, &[EXACT, "-jv"]);
    let missing: Vec<&&str> = TOLD.iter().filter(|place| !text.contains(**place)).collect();
    assert!(missing.is_empty(), "missing: {missing:?} in\n{text}");
    for start in ["loop_", "entry_", "unit_", "side_"] {
        assert!(!text.contains(start), "{text}");
    }
}

/// Recordings that are given up say of what, why and where.
#[test]
fn what_cannot_be_recorded_is_told_with_its_line() {
    let program =
        "local function check()\n  for i = 1, 100 do\n    if i > 5 then\n      error('x')\n    end\n  \
                   end\nend\nfor _ = 1, 3 do pcall(check) end\n";
    let text = told("given_up.lua", program, &[EXACT, "-jv"]);
    let line = "--- abort loop given_up.lua:2 function <given_up.lua:1>: error or yield, at given_up.lua:4 ";
    assert!(text.contains(line), "{text}");
}
