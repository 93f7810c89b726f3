//! The library's checks (`TL_FLAG_CHECK`) find nothing to complain of in what the Lua host says.
//!
//! Problem: a host that says something else than its interpreter does makes wrong traces, and a check that
//! complains of a host that is right teaches people to switch it off. Design: programs of the corpus in which
//! the host is ahead of its interpreter, calls what that does not, or tells of a point twice, run with
//! `-jopt=+check`. Invariant: nothing is written to standard error, and the output is that without the JIT.
//! Example: `tlua -jopt=+check,threshold=20 tests/lua/h_open_results.lua`.

use std::path::Path;

#[path = "support/runner.rs"]
mod runner;

const PROGRAMS: [&str; 9] = [
    "array_append",
    "closure_loop_variables",
    "closure_varargs_captured",
    "deep_stack_moves",
    "grow_keys",
    "h_open_results",
    "patterns_random",
    "texts_as_numbers",
    "units_callers",
];

fn run(words: &str, program: &str) -> (String, String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/lua/{program}.lua"));
    let output = runner::command(env!("CARGO_BIN_EXE_tlua"))
        .arg(words)
        .arg(path)
        .output()
        .expect("the command starts");
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn the_lua_host_says_what_is_so() {
    for program in PROGRAMS {
        let (expected, _) = run("-joff", program);
        let (found, said) = run("-jopt=+check,threshold=20,side-threshold=20", program);
        assert_eq!(said, "", "{program}");
        assert!(found == expected && !found.is_empty(), "{program}: another output");
    }
}
