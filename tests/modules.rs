//! C modules that were built for stock Lua load into `tlua` and `tracelift run`, and work there, in loops
//! that are compiled.
//!
//! Problem: most programs use modules in C, which others have compiled. They find Lua's interface in the
//! executable that loads them, and the memory of its objects as Lua's headers have it. Design: Debian's
//! modules and one of our own are used by a script each, whose output is stock Lua's to the byte, at usual
//! thresholds and at the lowest. Every function that Lua's headers declare is among the executable's dynamic
//! symbols. Invariant: our own module is always tried; Debian's are where they are installed, and always in
//! CI (`scripts/install-deps`).
//!
//! Example: `TLUA_JIT=opt=threshold=1 tlua tests/modules/lpeg.lua`.

#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::process::Command;

use object::{Object, ObjectSymbol};
use tracelift_lua::{EXPORTS, HEADERS, STOCK_COMMAND};

const TLUA: &str = env!("CARGO_BIN_EXE_tlua");
const TRACELIFT: &str = env!("CARGO_BIN_EXE_tracelift");

const SETTINGS: [&str; 5] = [
    "",
    "opt=threshold=1,side-threshold=1",
    "opt=threshold=30,side-threshold=4,-baseline",
    "opt=threshold=2,side-threshold=1,+verify,-quick-code",
    "off",
];

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("modules").join(name);
    std::fs::create_dir_all(&folder).expect("the test folder can be made");
    folder
}

/// Exit code and both streams of a script, with modules from a folder too.
fn run(executable: &str, module: &str, modules: &Path, jit: &str) -> (Option<i32>, String, String) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/modules").join(format!("{module}.lua"));
    let mut command = Command::new(executable);
    command.args((executable == TRACELIFT).then_some("run"));
    command.arg(script).current_dir(modules).env("TLUA_JIT", jit);
    command.env("LUA_CPATH", format!("{}/?.so;;", modules.display()));
    let output = command.output().unwrap_or_else(|error| panic!("{executable}: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// Runs a module's script by stock Lua and by both commands; loops are compiled.
fn agree(module: &str, modules: &Path) {
    let stock = run(STOCK_COMMAND, module, modules, "");
    assert_eq!((stock.0, stock.2.as_str()), (Some(0), ""), "{module}: {}", stock.1);
    assert!(stock.1.lines().count() >= 5, "{module}: {}", stock.1);
    for jit in SETTINGS {
        let ours = run(TLUA, module, modules, jit);
        assert_eq!(stock, ours, "{module}, TLUA_JIT={jit}");
    }
    assert_eq!(stock, run(TRACELIFT, module, modules, ""), "{module}, tracelift run");
    let counted = run(TLUA, module, modules, "opt=threshold=1,side-threshold=1 counts");
    let traces =
        counted.2.lines().find_map(|line| line.strip_prefix("compiled: ")?.split(' ').next()?.parse().ok());
    assert!(traces.is_some_and(|traces: u32| traces >= 3), "{module}: {}", counted.2);
}

#[test]
fn a_module_of_our_own() {
    let modules = folder("own");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/modules/own.c");
    let mut compiler = Command::new("cc");
    compiler.args([
        "-O2",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-fPIC",
        "-shared",
        "-fvisibility=hidden",
        "-I",
        HEADERS,
    ]);
    compiler.arg(source).arg("-o").arg(modules.join("own.so"));
    let output = compiler.output().expect("there is a C compiler");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    agree("own", &modules);
}

/// Debian's, by the folder that `package.cpath` knows.
fn debian(module: &str, file: &str) {
    let is_there = |folder: &str| Path::new(folder).join(file).exists();
    let folders = std::fs::read_dir("/usr/lib").expect("it is a Linux").filter_map(|entry| entry.ok());
    let mut folders = folders.map(|entry| entry.path().join("lua/5.4"));
    if !folders.any(|folder| is_there(&folder.to_string_lossy())) {
        assert!(std::env::var_os("CI").is_none(), "{file} is not installed: scripts/install-deps");
        eprintln!("left out: {file} is not installed");
        return;
    }
    agree(module, &folder(module));
}

#[test]
fn lpeg() {
    debian("lpeg", "lpeg.so");
}

#[test]
fn cjson() {
    debian("cjson", "cjson.so");
}

#[test]
fn lfs() {
    debian("lfs", "lfs.so");
}

#[test]
fn socket() {
    debian("socket", "socket/core.so");
}

#[test]
fn the_executables_export_what_the_headers_declare() {
    let exported: Vec<&str> = EXPORTS.split(' ').collect();
    for name in ["lua_callk", "lua_newuserdatauv", "luaL_newstate", "luaL_checkversion_", "luaopen_utf8"] {
        assert!(exported.contains(&name), "{name}");
    }
    // A second way to read the headers: each name in parentheses before its parameters.
    let mut declared = 0;
    for header in ["lua.h", "lauxlib.h", "lualib.h"] {
        let text = std::fs::read_to_string(Path::new(HEADERS).join(header)).expect("the header is there");
        for part in text.split("(lua").skip(1) {
            let Some((name, rest)) = part.split_once(')') else { continue };
            let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            // Types have capitals: `(lua_Integer)(n)` is a cast.
            let is_type = name.split('_').nth(1).is_some_and(|word| word.starts_with(char::is_uppercase));
            // Its parameters begin with a state, where the next part begins, or with another type.
            let is_function = rest.trim().is_empty() || rest.trim_start().starts_with('(');
            if !is_name || is_type || !is_function || name.is_empty() {
                continue;
            }
            let name = format!("lua{name}");
            declared += 1;
            assert!(exported.contains(&name.as_str()), "{header}: {name}");
        }
    }
    assert!(declared > 140, "{declared} names");
    for command in [TLUA, TRACELIFT] {
        let bytes = std::fs::read(command).expect("the executable is there");
        let file = object::File::parse(&*bytes).expect("it is an executable");
        let symbols: Vec<&str> = file
            .dynamic_symbols()
            .filter(|symbol| symbol.is_definition())
            .filter_map(|symbol| symbol.name().ok())
            .collect();
        let missing: Vec<&&str> = exported.iter().filter(|name| !symbols.contains(*name)).collect();
        assert!(missing.is_empty(), "{command}: {missing:?}");
        let more = symbols.len() - exported.len();
        assert!(more < 40, "{command} exports more than is wanted: {more} symbols");
    }
}
