//! What `tlua` tells debuggers and profilers, `-jdebug`, and its own profiler, `-jp`.
//!
//! Problem: perf and gdb may not be there, and what they are told can be wrong in ways that they pass over in
//! silence. Design: the files are read here, by their formats; `scripts/try-perf` and `scripts/try-gdb` try
//! the tools themselves. Invariant: a program prints the same, whoever is told.
//!
//! Example: `tlua -jdebug=perf sum.lua` leaves `/tmp/perf-PID.map` with a line for the loop.

#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const TLUA: &str = env!("CARGO_BIN_EXE_tlua");

const PROGRAM: &str = "local s = 0\nfor i = 1, 3000 do s = s + #tostring(i) end\nprint(s)\n";

/// A folder for a test's files.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Runs the program with these words; gives the process's number, too.
fn run(folder: &Path, words: &[&str]) -> (u32, Output) {
    let script = folder.join("program.lua");
    std::fs::write(&script, PROGRAM).unwrap();
    let mut command = Command::new(TLUA);
    command
        .args(words)
        .arg("-jopt=threshold=20")
        .arg(&script)
        .env("JITDUMPDIR", folder)
        .env_remove("TLUA_JIT");
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let id = child.id();
    (id, child.wait_with_output().unwrap())
}

fn printed(output: &Output) -> [String; 2] {
    [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned())
}

#[test]
fn a_program_prints_the_same_whoever_is_told_of_its_code() {
    let folder = folder("tools_same");
    let (_, plain) = run(&folder, &["-joff"]);
    let (id, told) = run(&folder, &["-jdebug=perf,jitdump,gdb"]);
    assert!(plain.status.success() && plain == told, "{plain:?} {told:?}");
    std::fs::remove_file(format!("/tmp/perf-{id}.map")).unwrap();
}

#[test]
fn perf_is_told_names_by_address() {
    let (id, output) = run(&folder("tools_perf"), &["-jdebug=perf"]);
    assert!(output.status.success(), "{output:?}");
    let path = format!("/tmp/perf-{id}.map");
    let map = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let mut pieces: Vec<(u64, u64, &str)> = (map.lines())
        .map(|line| {
            let mut parts = line.splitn(3, ' ');
            let mut number = || u64::from_str_radix(parts.next().unwrap(), 16).unwrap();
            (number(), number(), parts.next().unwrap())
        })
        .collect();
    pieces.sort();
    assert!(pieces.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0), "{map}");
    for name in ["loop ", "tracelift: into traces", "tracelift: out of traces"] {
        assert!(pieces.iter().any(|piece| piece.2.starts_with(name)), "{name}: {map}");
    }
}

/// A number of four bytes, or of eight.
fn number(bytes: &[u8], at: usize, size: usize) -> u64 {
    bytes[at..at + size].iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

#[test]
fn perf_inject_is_told_code_and_how_to_unwind_it() {
    let folder = folder("tools_jitdump");
    let (id, output) = run(&folder, &["-jdebug=jitdump"]);
    assert!(output.status.success(), "{output:?}");
    let path = folder.join(format!("jit-{id}.dump"));
    let dump = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let header = [number(&dump, 0, 4), number(&dump, 4, 4), number(&dump, 8, 4), number(&dump, 20, 4)];
    assert_eq!(header, [0x4a69_5444, 1, 40, u64::from(id)]);
    let (mut at, mut names, mut unwinding, mut time) = (40, Vec::new(), None, 0);
    while at < dump.len() {
        let (kind, size) = (number(&dump, at, 4), number(&dump, at + 4, 4) as usize);
        let body = &dump[at + 16..at + size];
        assert!(number(&dump, at + 8, 8) >= time, "records are in order");
        time = number(&dump, at + 8, 8);
        match kind {
            4 => unwinding = Some(body),
            0 => {
                let (address, len) = (number(body, 16, 8), number(body, 24, 8) as usize);
                assert_eq!(number(body, 32, 8), names.len() as u64);
                let end = 40 + body[40..].iter().position(|&byte| byte == 0).unwrap();
                assert_eq!(body.len() - end - 1, len, "all of the code is there");
                names.push(String::from_utf8(body[40..end].to_vec()).unwrap());
                check_table(unwinding.take().expect("each piece has unwind information"), len);
                assert_eq!(address % 64, 0);
            }
            _ => panic!("a record of kind {kind}"),
        }
        at += size;
    }
    assert!(names.iter().any(|name| name.starts_with("loop ")), "{names:?}");
}

/// The table that is looked up leads to the code, and to the row that says the same of it.
fn check_table(body: &[u8], code_len: usize) {
    let [size, table_size] = [0, 8].map(|at| number(body, at, 8) as usize);
    let (section, table) = body[24..24 + size].split_at(size - table_size);
    assert_eq!(table[..4], [1, 0x1b, 0x03, 0x3b]);
    let signed = |bytes: &[u8], at| number(bytes, at, 4) as i32 as i64;
    // From the code's start, which the section stands after.
    let section_at = code_len.next_multiple_of(8) as i64;
    let table_at = section_at + section.len() as i64;
    assert_eq!(table_at + 4 + signed(table, 4), section_at, "where the section is");
    assert_eq!(number(table, 8, 4), 1);
    assert_eq!(table_at + signed(table, 12), 0, "where the code is");
    let row = (table_at + signed(table, 16) - section_at) as usize;
    assert_eq!(section_at + row as i64 + 8 + signed(section, row + 8), 0, "the row's code");
    assert_eq!(signed(section, row + 12), code_len as i64);
}

#[test]
fn a_tool_that_nobody_knows_is_complained_of_in_a_line() {
    let (_, output) = run(&folder("tools_unknown"), &["-jdebug=perf,lldb"]);
    assert_eq!(output.status.code(), Some(1));
    let [out, err] = printed(&output);
    assert_eq!((out.as_str(), err.lines().count()), ("", 1), "{err}");
    assert!(err.ends_with("JIT: debug: 'lldb' is not one of perf, jitdump, gdb\n"), "{err}");
}

#[test]
fn a_file_that_cannot_be_made_is_complained_of_in_a_line() {
    let script = folder("tools_no_folder").join("program.lua");
    std::fs::write(&script, PROGRAM).unwrap();
    let output = (Command::new(TLUA).arg("-jdebug=jitdump").arg(&script))
        .env("JITDUMPDIR", "/nowhere/at/all")
        .output()
        .unwrap();
    let [_, err] = printed(&output);
    assert_eq!((output.status.code(), err.lines().count()), (Some(1), 1), "{err}");
    assert!(err.contains("cannot open '/nowhere/at/all/jit-"), "{err}");
}

/// Spends most of its time in line 4, some in the collector, some in `string.rep` and a coroutine.
const BUSY: &str = "\
local function work(n)
  local s = 0
  for i = 1, n do
    s = (s * 3 + i % 7) % 1001 + (s // 3) * (i & 3) % 17 + (s ~ i) % 5 + (s << 1) % 3
    s = s + 1
  end
  return s
end
local kept = {}
local function tables(n) for i = 1, n do kept[i % 1000] = { i, { i } } end end
local step = coroutine.wrap(function() for i = 1, 1e9 do coroutine.yield(i) end end)
local s = 0
for i = 1, 30 do
  s = s + work(600000) + #string.rep('x', 200000)
  tables(20000)
  for _ = 1, 2000 do s = s + step() end
end
print(s)
";

/// What a profile says: shares of states, and rows with their shares, by name.
struct Profile {
    text: String,
}

impl Profile {
    /// Runs the program with these words; it prints what it prints without a profile.
    fn of(name: &str, words: &[&str]) -> Profile {
        let folder = folder(name);
        let (script, file) = (folder.join("busy.lua"), folder.join("profile.txt"));
        std::fs::write(&script, BUSY).unwrap();
        let run = |words: &[&str]| Command::new(TLUA).args(words).arg(&script).output().unwrap();
        let plain = run(&["-joff"]);
        let told = run(&[words, &[&format!("-jp=file={}", file.display())]].concat());
        assert!(plain.status.success() && plain == told, "{plain:?} {told:?}");
        Profile { text: std::fs::read_to_string(&file).unwrap() }
    }

    /// The share of a state.
    fn share(&self, of: &str) -> f64 {
        let line = self.text.lines().find(|line| line.ends_with(of)).expect(of);
        line.split_whitespace().next().unwrap().parse().unwrap()
    }

    /// A row's shares: of all, in traces, baseline code, the interpreter, C, the collector, and compiling.
    fn row(&self, name: &str) -> Vec<f64> {
        let row = self.text.lines().find(|line| line.ends_with(name));
        let words = row.unwrap_or_else(|| panic!("no row {name}:\n{}", self.text)).split_whitespace();
        words.map_while(|word| word.parse().ok()).collect()
    }
}

#[test]
fn a_profile_of_the_interpreter_has_lines() {
    let profile = Profile::of("tools_profile_off", &["-joff"]);
    assert!(profile.share("% in the interpreter") > 50.0, "{}", profile.text);
    assert_eq!(profile.share("% in traces") + profile.share("% in baseline code"), 0.0, "{}", profile.text);
    let (heavy, light) = (profile.row("busy.lua:4"), profile.row("busy.lua:1, function"));
    assert!(heavy[0] > 40.0 && heavy[3] > 0.9 * heavy[0], "{}", profile.text);
    assert!(light[0] >= heavy[0], "a function has its lines' samples: {}", profile.text);
    assert!(profile.share("% in the collector") > 1.0, "{}", profile.text);
}

#[test]
fn a_profile_of_compiled_code_has_lines() {
    let profile = Profile::of("tools_profile_on", &[]);
    assert!(profile.share("% in traces") > 15.0, "{}", profile.text);
    let function = profile.row("busy.lua:1, function");
    assert!(function[0] > 15.0 && function[1] > 0.5 * function[0], "{}", profile.text);
    let of_states = ["traces", "baseline code", "the interpreter", "C functions", "the collector"];
    let all: f64 = of_states.iter().map(|state| profile.share(&format!("% in {state}"))).sum();
    let all = all + profile.share("% compiling");
    assert!((all - 100.0).abs() < 0.5, "{all}: {}", profile.text);
}

#[test]
fn a_profile_is_told_when_the_process_exits() {
    let folder = folder("tools_profile_exit");
    let script = folder.join("exit.lua");
    std::fs::write(&script, "local s = 0 for i = 1, 3e7 do s = s + i % 7 end os.exit(3)").unwrap();
    let output = Command::new(TLUA).args(["-joff", "-jp=line"]).arg(&script).output().unwrap();
    let [_, err] = printed(&output);
    assert_eq!(output.status.code(), Some(3));
    assert!(
        err.starts_with("profile: ") && err.contains("exit.lua:1\n") && !err.contains("function\n"),
        "{err}"
    );
}

#[test]
fn an_option_of_profiles_that_nobody_knows_is_complained_of_in_a_line() {
    for word in ["lines", "interval=0", "least=101", "file="] {
        let (_, output) = run(&folder("tools_profile_unknown"), &[&format!("-jp={word}")]);
        let [_, err] = printed(&output);
        assert_eq!((output.status.code(), err.lines().count()), (Some(1), 1), "{err}");
        assert!(err.contains(&format!("JIT: p: '{word}' is not one of line")), "{err}");
    }
}
