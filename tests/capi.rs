//! The C interface, used from C: each program in `tests/capi` is compiled against `tracelift.h` and run.
//!
//! Problem: only a C compiler knows whether the header, the static and the shared library fit together.
//! Design: cargo builds `libtracelift_runtime.a` and `libtracelift_runtime.so` with the runtime, which this
//! package depends on, and leaves them beside this test's executable (`cargo build -p tracelift-runtime` also
//! puts them into `target/debug` or `target/release`). Each program is linked with both and must exit with 0;
//! with one of them, if `TRACELIFT_LINK` says `static` or `shared`, as linking takes long under emulation.
//! Invariant: every warning is an error, so the header and the examples stay clean; and no panic is caught at
//! the border.
//!
//! Where the tests are built for another processor, `CROSS_COMPILE` is what its tools' names begin with, as
//! in other builds (`aarch64-linux-gnu-`), and the programs are run as `support/runner.rs` says.
//!
//! Example: by hand, a host is built with
//! `cc -Iruntime/include host.c target/release/libtracelift_runtime.a -lpthread -ldl -lm`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

#[path = "support/runner.rs"]
mod runner;

const WARNINGS: [&str; 4] = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folder of the library and of this test.
fn folder() -> PathBuf {
    let executable = std::env::current_exe().expect("the test has a path");
    executable.parent().expect("it lies in a folder").to_path_buf()
}

/// How a program is linked.
#[derive(Clone, Copy, Debug)]
enum Link {
    Static,
    Shared,
}

/// The ways that are tried.
fn links() -> Vec<Link> {
    match std::env::var("TRACELIFT_LINK").as_deref() {
        Ok("static") => vec![Link::Static],
        Ok("shared") => vec![Link::Shared],
        Ok(other) => panic!("TRACELIFT_LINK must be static or shared, not {other:?}"),
        Err(_) => vec![Link::Static, Link::Shared],
    }
}

fn check(what: &str, output: Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{what}: {}\n{out}{err}", output.status);
    // A panic that was caught is a bug all the same.
    assert!(!err.contains("panicked"), "{what}: {err}");
    out
}

/// A tool for the processor that the library is built for.
fn tool(name: &str) -> Command {
    let prefix = std::env::var("CROSS_COMPILE").unwrap_or_default();
    let name = match name {
        // Cross compilers have no other names.
        "cc" if !prefix.is_empty() => "gcc",
        "c++" if !prefix.is_empty() => "g++",
        name => name,
    };
    Command::new(prefix + name)
}

/// Compiles a program of `tests/capi`, links it and runs it.
fn run(compiler: &[&str], name: &str, link: Link) -> String {
    let folder = folder();
    let source = root().join("tests/capi").join(format!("{name}.c"));
    let program =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("capi_{name}_{}_{link:?}", compiler[0]));
    let mut cc = tool(compiler[0]);
    cc.args(&compiler[1..]).args(WARNINGS).args(["-O1", "-g"]);
    cc.arg("-I").arg(root().join("runtime/include")).arg(&source).args(["-x", "none"]);
    match link {
        Link::Static => cc.arg(folder.join("libtracelift_runtime.a")),
        Link::Shared => {
            let path = format!("-Wl,-rpath,{}", folder.display());
            cc.arg(folder.join("libtracelift_runtime.so")).arg(path)
        }
    };
    cc.args(["-lpthread", "-ldl", "-lm", "-o"]).arg(&program);
    check(&format!("compiling {name}.c"), cc.output().expect("a C compiler is there"));
    check(&format!("{name}.c ({link:?})"), runner::command(&program).output().expect("it was just linked"))
}

const C: [&str; 4] = ["cc", "-std=c11", "-x", "c"];
const CPP: [&str; 4] = ["c++", "-std=c++17", "-x", "c++"];

/// What a program prints, which is the same whichever way it is linked but for what `varies` leaves out.
fn run_each_way(name: &str, varies: fn(&str) -> String) -> String {
    let mut printed = links().into_iter().map(|link| run(&C, name, link));
    let first = printed.next().expect("there is a way");
    printed.for_each(|other| assert_eq!(varies(&other), varies(&first), "{name}"));
    first
}

#[test]
fn the_example_interpreter() {
    let printed = run_each_way("registers", str::to_owned);
    assert_eq!(printed.lines().count(), 6, "{printed}");
}

/// Entries: functions that call themselves.
#[test]
fn recursion_runs_as_linked_code() {
    let printed = run_each_way("functions", str::to_owned);
    assert_eq!(printed.lines().count(), 5, "{printed}");
}

/// Units: functions that call themselves, and one another, without frames. How often a unit is entered that
/// is left again and again depends on the clock, by which it is retired.
#[test]
fn recursion_runs_without_frames() {
    let printed = run_each_way("units", |printed| printed.replace(|c: char| c.is_ascii_digit(), ""));
    assert_eq!(printed.lines().count(), 8, "{printed}");
}

/// Several VMs at once, one that moves between threads, and processes that fork.
#[test]
fn threads_and_processes_have_their_own() {
    let printed = run_each_way("threads", str::to_owned);
    assert_eq!(printed.lines().count(), 5, "{printed}");
}

/// Each kind of mistake gives a status or a 0, and a sentence; the programs count the kinds.
#[test]
fn misuse_gives_sentences() {
    let kinds = ["misuse_run", "misuse_describe", "misuse_record"].map(|name| {
        let printed = run_each_way(name, str::to_owned);
        let kinds = printed.trim().strip_suffix(" kinds").and_then(|kinds| kinds.parse::<usize>().ok());
        kinds.unwrap_or_else(|| panic!("{name}: {printed}"))
    });
    assert!(kinds.iter().sum::<usize>() >= 60, "{kinds:?}");
}

/// What only memory can tell, or the calls before, with `TL_FLAG_CHECK`.
#[test]
fn checks_find_what_is_not_so() {
    let printed = run_each_way("checks", str::to_owned);
    assert!(
        printed.trim().strip_suffix(" kinds").is_some_and(|kinds| kinds.parse::<u32>().is_ok()),
        "{printed}"
    );
}

/// Values of one word: NaN boxing, tagged pointers.
#[test]
fn words_hold_tag_and_payload() {
    let printed = run_each_way("words", str::to_owned);
    assert_eq!(printed.matches("right").count(), 9, "{printed}");
}

/// Bytecodes that write more than once, and fields with tags.
#[test]
fn a_bytecode_may_have_several_effects() {
    let printed = run_each_way("effects", str::to_owned);
    assert_eq!(printed.matches("right").count(), 4, "{printed}");
}

#[test]
fn errors_may_jump_over_compiled_code() {
    run_each_way("longjmp", str::to_owned);
}

/// Memory for exits, held and not.
#[test]
fn exits_make_objects_without_memory() {
    run_each_way("objects", str::to_owned);
}

#[test]
fn the_header_is_c_and_cpp() {
    for link in links() {
        run(&C, "header", link);
        run(&CPP, "header", link);
    }
}

/// A host links only what the header declares.
#[test]
fn the_shared_library_exports_what_the_header_declares() {
    let header =
        std::fs::read_to_string(root().join("runtime/include/tracelift.h")).expect("the header is there");
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    // A declaration begins its line with a type; comments, macros and inline functions do not.
    let declared = header
        .lines()
        .filter(|line| {
            line.starts_with(|c: char| c.is_ascii_alphabetic())
                && !line.starts_with("typedef")
                && !line.starts_with("static")
        })
        .filter_map(|line| line[..line.find('(')?].rsplit(|c| !is_name(c)).next())
        .filter(|name| name.starts_with("tl_"));
    let library = folder().join("libtracelift_runtime.so");
    let nm = tool("nm").args(["-D", "--defined-only"]).arg(library).output();
    let exported = check("nm", nm.expect("nm is there"));
    let exported: Vec<&str> = exported.lines().filter_map(|line| line.split_whitespace().last()).collect();
    let missing: Vec<&str> = declared.clone().filter(|name| !exported.contains(name)).collect();
    assert!(missing.is_empty() && declared.count() > 50, "declared but not exported: {missing:?}");
}

/// `tracelift_ops.h` is made from the op table; `UPDATE_EXPECT=1` writes it anew.
#[test]
fn the_operations_header_equals_the_table() {
    let mut text = String::from(
        "/* tracelift_ops.h: the numbers of the operations, one TL_OP(NAME, number) each; included by tracelift.h.\n\
         ** Generated from the op table in jit-core/src/ops.rs; a test compares (UPDATE_EXPECT=1 writes it anew). */\n",
    );
    let mut ops = tracelift_core::Op::ALL.to_vec();
    ops.sort_by_key(|op| op.number());
    for op in ops {
        text += &format!("TL_OP({}, {})\n", op.info().name.to_uppercase(), op.number());
    }
    let path = root().join("runtime/include/tracelift_ops.h");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, &text).expect("the header can be written");
    }
    let found = std::fs::read_to_string(&path).expect("the header is there");
    assert_eq!(found, text, "run the test with UPDATE_EXPECT=1");
}
