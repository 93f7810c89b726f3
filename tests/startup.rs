//! An empty script costs little: the pages of memory that it touches are counted.
//!
//! Problem: a start takes some hundred microseconds, of which each page that is touched for the first time
//! costs two to four. Times differ from machine to machine and from run to run. Design: the system counts a
//! process's page faults. `tlua` may have as many as stock Lua's command, one for each page in which the
//! loader corrects addresses, and a few more. Invariant: who touches a page in each start (a heap with a page
//! for each size, a library that is made before it is needed, zeros written into zeros) fails here.
//!
//! Example: 79 by stock Lua, 41 pages of addresses, and 20 more: 140.

#![cfg(all(target_os = "linux", target_pointer_width = "64"))]

use std::path::Path;
use std::process::{Command, Stdio};

use object::elf::{FileHeader64, PT_GNU_RELRO};
use object::read::elf::{FileHeader, ProgramHeader};
use object::Endianness;
use tracelift_lua::STOCK_COMMAND;

const TLUA: &str = env!("CARGO_BIN_EXE_tlua");

/// Faults that `tlua` may have beside those of stock Lua and of the loader. It has 20 in a release, and 24
/// where assertions are compiled in; it had 52.
const MORE: i64 = 30;

/// The fewest of some runs: what the system reads ahead differs.
fn faults(command: &str, script: &Path) -> i64 {
    let once = |_| {
        let mut command = Command::new(command);
        let child = command.arg(script).stdin(Stdio::null()).env_remove("TLUA_JIT").spawn();
        let pid = child.expect("it starts").id() as libc::pid_t;
        let mut status = 0;
        // SAFETY: zeros are a value of it.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: nobody else waits for this child; both places are the function's own.
        let waited = unsafe { libc::wait4(pid, &mut status, 0, &mut usage) };
        assert!(waited == pid && status == 0, "{status}");
        usage.ru_minflt + usage.ru_majflt
    };
    (0..10).map(once).min().expect("it ran")
}

/// Pages that are written by the loader, and then only read.
fn pages_of_addresses(executable: &str) -> i64 {
    let bytes = std::fs::read(executable).expect("it can be read");
    let header = FileHeader64::<Endianness>::parse(&*bytes).expect("it is an executable");
    let endian = header.endian().expect("it has one");
    let segments = header.program_headers(endian, &*bytes).expect("it can be loaded");
    let relocated = segments.iter().find(|segment| segment.p_type(endian) == PT_GNU_RELRO);
    relocated.map_or(0, |segment| segment.p_memsz(endian).div_ceil(4096) as i64)
}

#[test]
fn an_empty_script_touches_few_pages() {
    let script = Path::new(env!("CARGO_TARGET_TMPDIR")).join("startup.lua");
    std::fs::write(&script, "").expect("it can be written");
    let [stock, ours] = [STOCK_COMMAND, TLUA].map(|command| faults(command, &script));
    let addresses = pages_of_addresses(TLUA);
    println!("{ours} page faults; stock Lua's {stock}, pages of addresses {addresses}");
    assert!(ours <= stock + addresses + MORE, "{ours} instead of {stock} + {addresses} + {MORE}");
}

/// The library is there when it is needed, or asked for.
#[test]
fn a_program_finds_the_library_when_it_wants_it() {
    let script = "local jit = require 'jit'\n\
        assert(jit.status())\n\
        local first = ...\n\
        if first == 'stats' then assert(jit.stats().recordings == 0) end\n\
        if first == 'option' then jit.opt.start('threshold=10') end\n\
        if first == 'wrong' then print(pcall(jit.opt.start, '-heat')) end\n\
        if first == 'flush' then jit.flush() end\n\
        local function f(n) if n > 0 then return f(n - 1) end return n end\n\
        if first == 'entries' then for _ = 1, 3 do f(200) end end\n\
        if first == 'hook' then debug.sethook(print, 'x') for _ = 1, 10 do end debug.sethook() end\n\
        local sum = 0 for n = 1, 3000000 do sum = sum + n % 3 end\n\
        print(sum, jit.stats().recordings > 0)\n";
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("library.lua");
    std::fs::write(&file, script).expect("it can be written");
    for first in ["none", "stats", "option", "wrong", "flush", "entries", "hook"] {
        let output = Command::new(TLUA).arg(&file).arg(first).env_remove("TLUA_JIT").output();
        let output = output.expect("it starts");
        assert!(output.status.success() && output.stderr.is_empty(), "{first}: {output:?}");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.ends_with("3000000\ttrue\n"), "{first}: {text}");
        assert_eq!(text.contains("there is no pass `heat`"), first == "wrong", "{text}");
    }
}
