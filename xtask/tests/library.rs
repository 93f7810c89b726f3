//! The libraries: installed in a folder, found by `pkg-config`'s words, used by a program that knows of no
//! JIT.
//!
//! Problem: what an application is linked with is neither Rust's archive nor the test's own executable.
//! Design: all is installed as users do it; one program in C is linked with stock Lua, with the static
//! library and with the shared one, and prints the same. The symbols of both libraries are what Lua's
//! headers declare, and no more. Invariant: the counts show that the program's loops were compiled; CI always
//! names an installation.
//!
//! Example: `cargo xtask install --prefix ~/.local`, then
//! `TRACELIFT_PREFIX=~/.local cargo test -p tracelift-xtask -- --include-ignored`.

#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::process::Command;

use tracelift_lua::{EXPORTS, HEADERS, STOCK_LIBRARY};

fn compile(words: &[&str], to: &Path) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program.c");
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-Wall", "-Wextra", "-Werror"]).arg(source).arg("-o").arg(to).args(words);
    let output = compiler.output().expect("there is a C compiler");
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Exit code and both streams.
fn run(program: &Path, jit: &str, libraries: &Path) -> (Option<i32>, String, String) {
    let mut command = Command::new(program);
    command.env("TLUA_JIT", jit).env("LD_LIBRARY_PATH", libraries);
    let output = command.output().expect("the program starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// Names that a library defines for others.
fn symbols(words: &[&str], library: &Path) -> Vec<String> {
    let output = Command::new("nm").args(words).arg(library).output().expect("there is nm");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut names: Vec<String> =
        text.lines().filter_map(|line| Some(line.split_whitespace().nth(2)?.to_owned())).collect();
    names.sort();
    names
}

/// The value of a line of `tlua5.4.pc`, with its variables.
fn told(page: &str, prefix: &str, key: &str) -> Vec<String> {
    let value = page.lines().find_map(|line| line.strip_prefix(key)).expect("the key is there");
    let value =
        value.replace("${includedir}", "${prefix}/include/tlua5.4").replace("${libdir}", "${prefix}/lib");
    value.replace("${prefix}", prefix).split_whitespace().map(str::to_owned).collect()
}

/// The installation that is to be tried.
fn installed() -> PathBuf {
    let prefix = std::env::var_os("TRACELIFT_PREFIX");
    prefix.expect("TRACELIFT_PREFIX names an installation (cargo xtask install --prefix ...)").into()
}

#[test]
#[ignore = "it tries an installation, which takes a build of everything: CI makes one"]
fn a_program_is_linked_with_either_library() {
    let prefix = installed();
    let (lib, work) = (prefix.join("lib"), Path::new(env!("CARGO_TARGET_TMPDIR")));
    let mut exports: Vec<&str> = EXPORTS.split(' ').collect();
    exports.sort_unstable();
    assert_eq!(symbols(&["--defined-only", "--extern-only"], &lib.join("libtlua5.4.a")), exports);
    assert_eq!(symbols(&["--defined-only", "--dynamic"], &lib.join("libtlua5.4.so")), exports);

    let stock = work.join("with-stock");
    compile(&["-I", HEADERS, STOCK_LIBRARY, "-lm", "-ldl", "-lpthread"], &stock);
    let expected = run(&stock, "", &lib);
    assert_eq!((expected.0, expected.2.as_str()), (Some(0), ""), "{}", expected.1);
    assert!(expected.1.ends_with("done with Lua 5.4\n") && expected.1.lines().count() > 35, "{}", expected.1);

    let page = std::fs::read_to_string(lib.join("pkgconfig/tlua5.4.pc")).expect("it was written");
    let of = |key| told(&page, prefix.to_str().expect("test paths are text"), key);
    let (flags, libraries, private) = (of("Cflags:"), of("Libs:"), of("Libs.private:"));
    let shared: Vec<&str> = flags.iter().chain(&libraries).map(String::as_str).collect();
    let archive = lib.join("libtlua5.4.a");
    let archive = [archive.to_str().expect("test paths are text")];
    let fixed: Vec<&str> =
        flags.iter().map(String::as_str).chain(archive).chain(private.iter().map(String::as_str)).collect();
    for (name, words) in [("shared", &shared), ("static", &fixed)] {
        let program = work.join(format!("with-{name}"));
        compile(&[&words[..], &["-lpthread"]].concat(), &program);
        for jit in ["", "opt=threshold=1,side-threshold=1", "opt=threshold=20,-baseline", "off"] {
            let ours = run(&program, jit, &lib);
            assert_eq!(expected, ours, "{name}, TLUA_JIT={jit}");
        }
        let counted = run(&program, "opt=threshold=1 counts", &lib);
        assert!(counted.2.contains("jit: on\ncompiled: "), "{name}: {}", counted.2);
        let refused = run(&program, "what", &lib);
        let why = "TLUA_JIT: unrecognized word 'what'\n";
        assert_eq!((refused.0, &refused.1, refused.2.as_str()), (Some(0), &expected.1, why), "{name}");
    }

    let greeting = Command::new(prefix.join("bin/tlua")).args(["-e", "print(_VERSION)"]).output();
    assert_eq!(greeting.expect("it starts").stdout, b"Lua 5.4\n");
}

/// What the program in Rust prints with stock Lua.
const WITH_MLUA: &str = "\
sum 899998
called 400020000
walked 10000 20000
squares 2664667000
resumed 3001
error runtime error: wrong:1: attempt to index a nil value (local 't')
caught false runtime error: five hundred
scope 2001000
memory true
hook true 50
table 500 41791750
";

/// The crate `mlua` finds the library where it looks for Lua's: by `pkg-config`, and where it is told.
#[test]
#[ignore = "it tries an installation, and builds a crate that the workspace does not need: CI does"]
fn a_program_in_rust_finds_it_by_mlua() {
    let prefix = installed();
    let lib = prefix.join("lib");
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mlua/Cargo.toml");
    let by_name = [("PKG_CONFIG_PATH", lib.join("tlua5.4/pkgconfig"))];
    let told = [("LUA_LIB", lib.clone()), ("LUA_LIB_NAME", "tlua5.4".into()), ("LUA_LINK", "static".into())];
    for (name, way) in [("shared", &by_name[..]), ("static", &told[..])] {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("mlua-{name}"));
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--locked", "--manifest-path"]).arg(&manifest);
        cargo.arg("--target-dir").arg(&folder).envs(way.iter().map(|(key, value)| (key, value)));
        assert!(cargo.status().expect("there is Cargo").success(), "{name}");
        let program = folder.join("debug/with-mlua");
        for jit in ["", "opt=threshold=1,side-threshold=1", "off"] {
            let expected = (Some(0), WITH_MLUA.to_owned(), String::new());
            assert_eq!(run(&program, jit, &lib), expected, "{name}, TLUA_JIT={jit}");
        }
        let counted = run(&program, "counts", &lib);
        assert!(counted.2.contains("jit: on\ncompiled: "), "{name}: {}", counted.2);
    }
}

/// LuaRocks runs under `tlua`, builds a rock for it, and what it installs runs under it.
#[test]
#[ignore = "it tries an installation, and LuaRocks, which CI installs"]
fn luarocks_installs_for_it() {
    let prefix = installed();
    let rocks = ["/usr/bin/luarocks", "/usr/local/bin/luarocks"].map(Path::new);
    let rocks = rocks.into_iter().find(|path| path.exists()).expect("scripts/install-deps installs LuaRocks");
    let work = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rock");
    std::fs::create_dir_all(&work).expect("the test folder can be made");
    for name in ["hello-1.0-1.rockspec", "hello.lua", "core.c", "greet"] {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rock").join(name);
        std::fs::copy(&from, work.join(name)).expect("the test file can be copied");
    }
    let (tlua, at) = (prefix.join("bin/tlua"), prefix.display());
    let settings = format!(
        "lua_version = '5.4'\nlua_interpreter = 'tlua'\nvariables = {{ LUA = '{at}/bin/tlua', \
         LUA_DIR = '{at}', LUA_BINDIR = '{at}/bin', LUA_INCDIR = '{at}/include/tlua5.4' }}\n"
    );
    std::fs::write(work.join("config.lua"), settings).expect("the test file can be written");
    for jit in ["", "opt=threshold=1,side-threshold=1"] {
        let luarocks = |words: &[&str]| {
            let mut command = Command::new(&tlua);
            command.arg(rocks).args(["--tree", "tree"]).args(words).current_dir(&work);
            command.env("LUAROCKS_CONFIG", work.join("config.lua")).env("TLUA_JIT", jit);
            let output = command.output().expect("tlua starts");
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
            text(&output.stdout)
        };
        luarocks(&["make", "hello-1.0-1.rockspec"]);
        assert!(luarocks(&["list"]).contains("1.0-1 (installed)"));
        let output = Command::new(work.join("tree/bin/greet")).arg("all").env("TLUA_JIT", jit).output();
        let output = output.expect("the script starts");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "greetings\t12502500\tall\n", "TLUA_JIT={jit}");
        luarocks(&["remove", "hello"]);
    }
}
