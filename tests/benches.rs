//! The benchmarks agree: every program gives the same check value in every language, compiled or not.
//!
//! Problem: a benchmark that computes something else is fast for no reason. Design: each row of `benches/`
//! runs at a small size with stock Lua, which is right by definition, and is compared to the last bit with
//! the JIT at thresholds 1 and the default, with the program for LuaJIT (stock Lua runs that too), and with C
//! and Python where gcc and python3 are there.
//!
//! Invariant: no row and no script is left out. Example: the row `SOR(16,20)` has one check value everywhere.

use std::path::Path;
use std::process::Command;

#[path = "support/runner.rs"]
mod runner;

use tracelift_benches::contenders::{Contender, Kind, Protocol, Tools, CONTENDERS, EXACT, VALUES};
use tracelift_benches::measure::read_protocol;
use tracelift_benches::process::Limits;
use tracelift_benches::rows::{folder, Group, Row, Size, ROWS};
use tracelift_benches::scripts::Set;
use tracelift_benches::warm_up::{self, Plan};
use tracelift_lua::STOCK_LUA;

fn tools() -> Tools {
    Tools {
        tracelift: env!("CARGO_BIN_EXE_tracelift").into(),
        luajit: None,
        emulator: runner::emulator(),
        build: Path::new(env!("CARGO_TARGET_TMPDIR")).join("benches"),
    }
}

/// The table's entry of a name, started in another way.
fn contender(name: &str, kind: Kind) -> Contender {
    let found = CONTENDERS.iter().find(|contender| contender.name == name);
    Contender { kind, ..*found.expect("the table has that name") }
}

/// What a command prints.
fn output(command: &mut Command) -> String {
    let output = command
        .env_remove("LUA_INIT")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .expect("the command starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    String::from_utf8(output.stdout).expect("it prints text")
}

/// So much work that a row's first call is followed by others, which find its loops compiled.
const SEVERAL: Protocol = Protocol { warmups: 1, calls: 1, limit: 0.02 };

/// The check value of a row's last call.
fn check(contender: &Contender, row: &Row, protocol: Protocol) -> f64 {
    let command = tools().command(contender, row, protocol, row.arguments(Size::Tiny));
    let command = command.expect("it can be built").expect("there is a program");
    let text = output(Command::new(&command[0]).args(&command[1..]));
    read_protocol(&text).expect("it follows the protocol").check
}

/// All rows with a contender that must agree with stock Lua.
fn agrees(name: &str, kind: Kind, rows: impl Fn(&Row) -> bool) {
    let (stock, other) = (contender("lua", Kind::StockLua), contender(name, kind));
    if let Some(reason) = tools().missing(&other) {
        eprintln!("left out: {name}: {reason}");
        return;
    }
    for row in ROWS.iter().filter(|row| rows(row)) {
        let (expected, found) = (check(&stock, row, Protocol::ONCE), check(&other, row, SEVERAL));
        assert!(expected.is_finite(), "{}: {expected} says nothing", row.label(Size::Tiny));
        assert_eq!(
            found.to_bits(),
            expected.to_bits(),
            "{}: {found} instead of {expected}",
            row.label(Size::Tiny)
        );
    }
}

fn is_paper(row: &Row) -> bool {
    row.group == Group::Paper
}

#[test]
fn the_jit_agrees() {
    agrees("tracelift", Kind::Tracelift(&[]), |_| true);
}

#[test]
fn the_jit_agrees_from_the_first_iteration_on() {
    agrees("tracelift", Kind::Tracelift(&["--threshold=1"]), |_| true);
    agrees("tracelift-nopeel", Kind::Tracelift(&["--threshold=2", "--opt=-peel"]), |_| true);
}

#[test]
fn c_agrees_if_gcc_is_there() {
    agrees("gcc-exact", Kind::Gcc(EXACT), Row::is_in_c);
}

#[test]
fn c_with_values_as_lua_keeps_them_agrees_if_there_is_a_compiler() {
    const EXACT_VALUES: &[&str] = &[EXACT[0], VALUES[0], VALUES[1], VALUES[2]];
    agrees("gcc-values", Kind::Gcc(EXACT_VALUES), Row::is_in_c);
}

#[test]
fn python_agrees_if_it_is_there() {
    agrees("python3", Kind::Python("python3", &[]), is_paper);
}

/// Calls in one process agree with one another and with stock Lua's, for a sample of rows and programs.
///
/// A call of a program of the set `brief` takes ten seconds under an emulator, and a process whose speed is
/// not steady makes twenty: those are left to processors.
#[test]
fn calls_of_a_warm_up_agree() {
    let contenders = [contender("lua", Kind::StockLua), contender("tracelift", Kind::Tracelift(&[]))];
    let limits = Limits { is_elapsed: true, ..Limits::new(None, 100) };
    let plan = Plan { limit: 0.01, least: 5, most: 40, rounds: 1, limits };
    let works = warm_up::Work::rows().into_iter().chain(warm_up::Work::programs().expect("they can be made"));
    let is_emulated = !runner::emulator().is_empty();
    let is_short = |work: &warm_up::Work| !matches!(work, warm_up::Work::Program(Set::Brief, _));
    for work in works.filter(|work| !is_emulated || is_short(work)).step_by(5) {
        let found = warm_up::measure(&tools(), &contenders, &work, &plan);
        let [lua, tracelift] = &found.by_contender[..] else { panic!("both run {}", work.name()) };
        assert_eq!((&lua.failure, &tracelift.failure), (&None, &None), "{}", work.name());
        assert!(tracelift.rounds[0].ends.len() >= 5, "{}", work.name());
    }
}

/// Programs for LuaJIT use nothing that stock Lua has not; the table says which rows have one.
#[test]
fn the_programs_for_luajit_agree() {
    let stock = contender("lua", Kind::StockLua);
    let mut others = 0;
    for row in ROWS {
        let program: &'static str = row.luajit_program().leak();
        if program == row.program {
            continue;
        }
        let mut other = *row;
        other.program = program;
        let [expected, found] = [row, &other].map(|row| check(&stock, row, Protocol::ONCE));
        assert_eq!(found.to_bits(), expected.to_bits(), "{program}");
        others += 1;
    }
    assert_eq!(others, 3, "programs with operators that LuaJIT lacks");
}

/// Every row of the paper has all three programs, and no program is without a row.
#[test]
fn no_program_is_left_out() {
    const SHARED: [&str; 7] = ["runner", "warm_up", "random", "lehmer", "array2d", "timer", "sqrt"];
    for (name, extension) in [("lua", "lua"), ("c", "c"), ("python", "py")] {
        for entry in std::fs::read_dir(folder(name)).expect("the folder is there") {
            let path = entry.expect("it can be read").path();
            let stem = path.file_stem().expect("a file has a name").to_string_lossy().into_owned();
            let is_program = path.extension().is_some_and(|found| found == extension);
            if !is_program || SHARED.contains(&stem.as_str()) || stem == "luajit" {
                continue;
            }
            let program = stem.strip_suffix("_luajit").unwrap_or(&stem);
            assert!(ROWS.iter().any(|row| row.program == program), "{} has no row", path.display());
        }
    }
    let paper = ROWS.iter().filter(|row| is_paper(row));
    assert_eq!(paper.clone().count(), 16, "the paper's rows");
    for row in paper {
        assert!(row.is_in_c(), "{} in C", row.program);
        assert!(
            folder("python").join(row.program).with_extension("py").is_file(),
            "{} in Python",
            row.program
        );
    }
}

#[test]
fn short_scripts_print_the_same() {
    let scripts = Set::Short.programs().expect("the folder is there");
    assert_eq!(scripts.len(), 10);
    for script in scripts.into_iter().map(|program| program.path) {
        let stock = output(runner::command(STOCK_LUA).arg(&script));
        assert!(!stock.is_empty(), "{} prints nothing", script.display());
        let compiled = output(runner::command(env!("CARGO_BIN_EXE_tracelift")).arg("run").arg(&script));
        assert_eq!(compiled, stock, "{}", script.display());
    }
}
