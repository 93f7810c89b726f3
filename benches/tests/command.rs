//! The commands: what they refuse, who they leave out, and what they write.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn command(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tracelift-benches")).args(args).output().expect("the command starts")
}

fn warm_up(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tracelift-warm-up")).args(args).output().expect("the command starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn unknown_names_are_refused() {
    for (args, needle) in [
        (&["--rows", "nonsense"][..], "nonsense"),
        (&["--contenders", "gcc,nobody"], "nobody"),
        (&["--repeats", "0"], "0"),
        (&["--rows", "sor", "--json", "/no/such/folder/file"], "/no/such/folder/file"),
        (
            &["--rows", "sor", "--contenders", "luajit", "--luajit", "/no/such/luajit", "--tracelift", "-"],
            "luajit",
        ),
    ] {
        let output = command(args);
        let errors = text(&output.stderr);
        assert!(!output.status.success(), "{args:?} succeeded");
        assert!(errors.contains(needle) && !errors.contains("panicked"), "{args:?}: {errors}");
    }
}

#[test]
fn the_list_names_rows_and_contenders() {
    let list = text(&command(&["--list"]).stdout);
    for line in [
        "FFT(1024,12288)",
        "row standing json_alt (first)",
        "row examples particle",
        "sqrt(Fix16) 40000000",
        "ten lines 100000",
        "tracelift-nopeel",
        "pypy3",
    ] {
        assert!(list.contains(line), "no {line} in {list}");
    }
}

/// Stock Lua alone, on one row: the figures are there, in both forms.
#[test]
fn a_row_is_measured() {
    let json: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join("a_row_is_measured.json");
    let path = json.to_str().expect("test paths are UTF-8");
    let args = ["--quick", "--rows", "inner loop 1000000", "--contenders", "lua", "--tracelift", "-"];
    let output = command(&[&args[..], &["--json", path]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let table = text(&output.stdout);
    assert!(table.contains("| row | lua |\n|---|--:|\n| inner loop 1000000,10 | "), "{table}");
    let json: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(json).expect("it was written")).expect("it is JSON");
    let lua = &json["rows"][0]["contenders"]["lua"];
    assert!(lua["seconds"].as_f64().is_some_and(|seconds| seconds > 0.0), "{json}");
    assert!(lua["whole_process"]["peak_kib"].as_u64().is_some_and(|peak| peak > 500), "{json}");
    assert_eq!(lua["failure"], serde_json::Value::Null);
}

/// A program of a frozen set is a whole process; its table says which list it is of.
#[test]
fn a_program_is_measured() {
    let args = ["--quick", "--rows", "micro/m11_", "--contenders", "lua,gcc", "--tracelift", "-"];
    let output = command(&args);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let table = text(&output.stdout);
    assert!(table.contains("## Micro programs, list \"first\", seconds of processor time"), "{table}");
    assert!(table.contains("| program | lua |\n|---|--:|\n| m11_coroutine | "), "{table}");
}

/// The papers' protocol gives a mean with its interval.
#[test]
fn a_mean_has_an_interval() {
    let json: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join("a_mean_has_an_interval.json");
    let path = json.to_str().expect("test paths are UTF-8");
    let args = ["--quick", "--protocol=papers", "--rows", "inner loop 1000000", "--contenders", "lua"];
    let output = command(&[&args[..], &["--tracelift", "-", "--json", path]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let table = text(&output.stdout);
    assert!(table.contains(" ± ") && table.contains("95 % confidence"), "{table}");
    let json: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(json).expect("it was written")).expect("it is JSON");
    let lua = &json["rows"][0]["contenders"]["lua"];
    assert_eq!(lua["times"].as_array().map(Vec::len), Some(10), "{json}");
    assert!(lua["interval95"].as_f64().is_some_and(|half| half >= 0.0), "{json}");
}

/// The other command's lines on what is wrong with its arguments.
#[test]
fn bad_arguments_of_the_warm_up_are_refused_in_one_line() {
    for (args, needle) in [
        (&["--contenders", "lua,nobody"][..], "no contender is called nobody"),
        (&["--contenders", "gcc"], "gcc has no warm-up"),
        (&["--only", "half"], "half"),
        (&["--limit", "0"], "--limit 0"),
        (&["--limit", "NaN"], "--limit NaN"),
        (&["--repeats", "0"], "0"),
        (&["--nonsense"], "--nonsense"),
        (&["--contenders", "lua", "--json", "/no/such/folder/file"], "/no/such/folder/file"),
        (&["--contenders", "luajit", "--luajit", "/no/such/luajit"], "nobody is left"),
    ] {
        let output = warm_up(args);
        let errors = text(&output.stderr);
        let lines = errors.lines().filter(|line| !line.starts_with("left out: ")).count();
        assert!(!output.status.success() && output.stdout.is_empty(), "{args:?} succeeded");
        assert!(errors.contains(needle) && lines == 1, "{args:?}: {errors}");
    }
}

/// Stock Lua alone, with as few calls as there can be: all rows and programs have their figures.
#[test]
fn a_warm_up_is_measured() {
    let file = |name: &str| Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let (json, svg) = (file("warm_up.json"), file("warm_up.svg"));
    let path = |path: &PathBuf| path.to_str().expect("test paths are UTF-8").to_string();
    let args = ["--quick", "--contenders", "lua", "--json", &path(&json), "--svg", &path(&svg)];
    let output = warm_up(&args);
    let table = text(&output.stdout);
    assert!(output.status.success(), "{table}{}", text(&output.stderr));
    for line in ["## The 16 rows of the paper", "## The 41 programs", "| | lua, ms | final call of lua, ms |"]
    {
        assert!(table.contains(line), "no {line} in {table}");
    }
    assert_eq!(table.lines().filter(|line| line.starts_with("| geometric mean | ")).count(), 2, "{table}");
    let chart = std::fs::read_to_string(svg).expect("it was written");
    assert_eq!(chart.matches("class=\"steps\"").count(), 2, "{chart}");
    let json: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(json).expect("it was written")).expect("it is JSON");
    for (panel, count) in [(0, 16), (1, 41)] {
        let works = json["panels"][panel]["works"].as_array().expect("it is a list");
        assert_eq!(works.len(), count);
        for work in works {
            let lua = &work["contenders"]["lua"];
            assert_eq!(lua["failure"], serde_json::Value::Null, "{work}");
            let ends = lua["rounds"][0]["ends"].as_array().expect("it is a list");
            assert!(ends.len() >= 5, "{work}");
            assert!(ends.windows(2).all(|ends| ends[0].as_f64() <= ends[1].as_f64()), "{work}");
            let is_steady = lua["final_seconds"].as_f64().is_some_and(|seconds| seconds > 0.0);
            assert!(is_steady || lua["is_limit_raised"] == true, "{work}");
        }
    }
}

/// A result that is not stock Lua's is a failure: this `luajit` prints another check value.
#[test]
fn a_wrong_result_fails() {
    use std::os::unix::fs::PermissionsExt;
    let liar = Path::new(env!("CARGO_TARGET_TMPDIR")).join("liar.sh");
    std::fs::write(&liar, "#!/bin/sh\necho time 0.001\necho check 1\n").expect("it can be written");
    std::fs::set_permissions(&liar, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
    let liar = liar.to_str().expect("test paths are UTF-8");
    let args = ["--quick", "--rows", "inner loop 1000000", "--contenders", "lua,luajit", "--tracelift", "-"];
    let output = command(&[&args[..], &["--luajit", liar]].concat());
    let table = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{table}");
    assert!(table.contains("WRONG") && table.contains("luajit: wrong: check value 1.0"), "{table}");
}

/// Without LuaJIT the others still run, and a line says what is missing.
#[cfg(not(feature = "peers"))]
#[test]
fn who_is_missing_is_left_out() {
    let args = ["--quick", "--rows", "inner loop 1000000", "--contenders", "lua,luajit", "--tracelift", "-"];
    let output = command(&args);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("left out: luajit: LuaJIT was not built; add --features peers"));
    assert!(text(&output.stdout).contains("Left out: luajit (LuaJIT was not built"));
}
