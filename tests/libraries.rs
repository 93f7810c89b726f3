//! Programs around libraries that others have written, in Lua alone.
//!
//! Problem: what people run is for the most part not their own: parsers, classes, templates, test frameworks,
//! each with habits of its own, and none written with a compiler in mind. Design: each script in
//! `tests/libraries` uses one of Debian's libraries for some milliseconds, and prints what comes of it: by
//! stock Lua, and by `tlua` at the usual thresholds and at low ones. The scripts are also what the policy is
//! measured with (`benches/README.md`). Invariant: the output is stock Lua's to the byte. The libraries are
//! tried where they are installed, and always in CI (`scripts/install-deps`).
//!
//! Example: `LUA_PATH='/usr/share/lua/5.1/?.lua;/usr/share/lua/5.1/?/init.lua' tlua tests/libraries/xml.lua`.

#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::Command;

use tracelift_lua::STOCK_COMMAND;

const TLUA: &str = env!("CARGO_BIN_EXE_tlua");

/// Where Debian has libraries for all versions of Lua.
const LIBRARIES: &str = "/usr/share/lua/5.1";

/// The file of the library that a script needs, by the script's name.
const SCRIPTS: [(&str, &str); 16] = [
    ("argparse", "argparse.lua"),
    ("basexx", "basexx.lua"),
    ("binaryheap", "binaryheap.lua"),
    ("class", "pl/class.lua"),
    ("dkjson", "dkjson.lua"),
    ("inspect", "inspect.lua"),
    ("lexer", "pl/lexer.lua"),
    ("lists", "pl/List.lua"),
    ("luacheck", "luacheck/init.lua"),
    ("luassert", "luassert/init.lua"),
    ("luaunit", "luaunit.lua"),
    ("messagepack", "MessagePack.lua"),
    ("moses", "moses.lua"),
    ("pretty", "pl/pretty.lua"),
    ("template", "pl/template.lua"),
    ("xml", "pl/xml.lua"),
];

const SETTINGS: [&str; 4] =
    ["", "opt=threshold=1,side-threshold=1", "opt=threshold=30,side-threshold=4,-baseline", "off"];

/// Exit code and both streams of a script.
fn run(executable: &str, script: &str, jit: &str) -> (Option<i32>, String, String) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/libraries/{script}.lua"));
    let mut command = Command::new(executable);
    command.arg(script).env("TLUA_JIT", jit);
    command.env("LUA_PATH", format!("{LIBRARIES}/?.lua;{LIBRARIES}/?/init.lua;;"));
    let output = command.output().unwrap_or_else(|error| panic!("{executable}: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn programs_around_libraries_print_what_they_print_by_stock_lua() {
    let mut tried = 0;
    for (script, library) in SCRIPTS {
        if !Path::new(LIBRARIES).join(library).exists() {
            assert!(std::env::var_os("CI").is_none(), "{library} is not installed: scripts/install-deps");
            eprintln!("left out: {library} is not installed");
            continue;
        }
        let stock = run(STOCK_COMMAND, script, "");
        assert_eq!((stock.0, stock.2.as_str()), (Some(0), ""), "{script}: {}", stock.1);
        assert!(!stock.1.is_empty(), "{script}");
        for jit in SETTINGS {
            assert_eq!(stock, run(TLUA, script, jit), "{script}, TLUA_JIT={jit}");
        }
        tried += 1;
    }
    println!("{tried} of {} scripts", SCRIPTS.len());
}

/// No script is forgotten.
#[test]
fn each_script_is_in_the_list() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/libraries");
    let entries = std::fs::read_dir(folder).expect("the folder is there").filter_map(|entry| entry.ok());
    let names =
        entries.map(|entry| entry.path().file_stem().unwrap_or_default().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.collect();
    names.sort();
    assert_eq!(names, SCRIPTS.map(|(script, _)| script));
}
