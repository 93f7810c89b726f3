//! Builds the Lua virtual machine with our hooks, and stock Lua as the oracle.
//!
//! Problem: the flagship host is *stock* Lua, but its sources must not lie in this repository.
//!
//! Design: the sources come from the pinned crate `lua-src` (found through `cargo metadata`, or named by
//! `LUA_SRC_DIR`), are copied to the build folder, get the insertions of `build/insertions.rs`, and are
//! compiled as one file, with the flags that crate itself uses, together with our C files in `c/`. The
//! untouched sources and our driver make the executable `stock-lua`, the oracle of the differential tests:
//! file by file, as its users have it; and with `lua.c` the command `lua`, the oracle of `tlua`.
//!
//! `build/stencils.rs` makes the tables that baseline code is copied from; `build/command.rs` knows of
//! `lua.c`.
//!
//! Invariant: both builds use the same compiler flags, but for two in ours, which let the compiler see
//! through calls between Lua's files and align loops (stock Lua is no faster by that); every insertion
//! matched exactly once.
//!
//! Example: `LUA_SRC_DIR=/usr/src/lua-5.4.9 cargo build -p tracelift-lua`; `TRACELIFT_LUA_ASSERT=1` compiles
//! Lua's own assertions into a release build, too.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

#[path = "build/command.rs"]
mod command;
#[path = "build/insertions.rs"]
mod insertions;
use insertions::{Insertion, Place};
#[path = "build/insertions55.rs"]
mod insertions55;
#[path = "build/stencils.rs"]
mod stencils;
#[path = "build/version.rs"]
mod version;
use version::Version;

/// Our C files that make up the driver; the only ones the stock executable gets.
const DRIVER: &str = "tlua_driver.c";
/// The recorder; when the file is there, the rest is told so.
const RECORDER: &str = "tlua_rec.c";

fn main() {
    if let Err(message) = build() {
        eprintln!("tracelift-lua: {message}");
        std::process::exit(1);
    }
}

fn build() -> Result<(), String> {
    let package = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(variable("OUT_DIR")?);
    let our_c = package.join("c");
    let version = version::chosen(env::var_os("CARGO_FEATURE_LUA55").is_some())?;
    for path in ["build.rs", "build", "c", "stencils", "../../runtime/include"] {
        println!("cargo:rerun-if-changed={}", package.join(path).display());
    }
    for name in ["LUA_SRC_DIR", "TRACELIFT_LUA_ASSERT", "TLUA_PATH", "TLUA_CPATH"] {
        println!("cargo:rerun-if-env-changed={name}");
    }

    let sources = find_sources(&package, &version)?;
    let lua_c = command::find(&sources, &version, |name| package_folder(&package, name))?;
    for path in [&sources, &lua_c.path] {
        println!("cargo:rerun-if-changed={}", path.display());
    }
    let stock = out.join("stock");
    let patched = out.join("patched");
    copy_sources(&sources, &stock)?;
    copy_sources(&sources, &patched)?;
    let lines = insert_all(&patched, &version)?;
    let count = version.insertions.len();
    println!("tracelift-lua: Lua {}: {count} insertions, {lines} lines", version.name);
    for (row, why) in &version.left_out {
        println!("tracelift-lua: left out of {}: \"{}\" ({why})", row.file, row.why);
    }
    println!("cargo:rustc-env=TRACELIFT_LUA_VERSION={}", version.name);
    println!("cargo:rustc-env=TRACELIFT_LUA_INSERTIONS={count}");
    println!("cargo:rustc-env=TRACELIFT_LUA_LEFT_OUT={}", version.left_out.len());
    println!("cargo:rustc-env=TRACELIFT_LUA_INSERTED_LINES={lines}");

    // Outside of the folders of which all files are compiled.
    let [lua, tlua] = ["lua.c", "tlua.c"].map(|name| out.join(name));
    lua_c.write(&lua, &tlua)?;

    write_stencils(&patched, &package, &out, version.has_baseline)?;
    build_library(&version, &patched, &tlua, &out, &package)?;
    let [driver, command] = build_stock(&version, &stock, &our_c, &lua, &out)?;
    println!("cargo:rustc-env=TRACELIFT_STOCK_LUA={}", driver.display());
    println!("cargo:rustc-env=TRACELIFT_STOCK_COMMAND={}", command.display());
    let exports = command::exports(&sources)?;
    println!("cargo:exports={}", command::write_exports(&exports, &out)?.display());
    println!("cargo:rustc-env=TRACELIFT_LUA_EXPORTS={}", exports.join(" "));
    println!("cargo:rustc-env=TRACELIFT_STOCK_LIBRARY={}", out.join("libstock_lua.a").display());
    println!("cargo:rustc-env=TRACELIFT_LUA_HEADERS={}", stock.display());
    Ok(())
}

fn variable(name: &str) -> Result<String, String> {
    env::var(name).map_err(|error| format!("environment variable {name}: {error}"))
}

/// The folder with Lua's C sources.
fn find_sources(package: &Path, version: &Version) -> Result<PathBuf, String> {
    if let Some(folder) = env::var_os("LUA_SRC_DIR") {
        return Ok(PathBuf::from(folder));
    }
    Ok(package_folder(package, "lua-src")?.join(version.folder))
}

/// The folder of a package that this one names among its dependencies.
fn package_folder(package: &Path, name: &str) -> Result<PathBuf, String> {
    // What this build uses is already on this machine, so the first try stays off the network.
    let text = metadata(package, &["--offline"]).or_else(|_| metadata(package, &[]))?;
    let parsed: serde_json::Value =
        serde_json::from_str(&text).map_err(|error| format!("cargo metadata printed no JSON: {error}"))?;
    let manifest = parsed["packages"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|entry| entry["name"] == name)
        .and_then(|entry| entry["manifest_path"].as_str())
        .ok_or(format!("cargo metadata knows no package {name}; name Lua's sources with LUA_SRC_DIR"))?;
    Ok(Path::new(manifest).with_file_name(""))
}

fn metadata(package: &Path, options: &[&str]) -> Result<String, String> {
    let output = Command::new(variable("CARGO")?)
        .args(["metadata", "--format-version", "1", "--manifest-path"])
        .arg(package.join("Cargo.toml"))
        .args(options)
        .output()
        .map_err(|error| format!("cargo metadata: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    String::from_utf8(output.stdout).map_err(|error| format!("cargo metadata: {error}"))
}

/// Lists the files of a folder with one of the extensions, sorted.
fn files_of(folder: &Path, extensions: &[&str]) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|found| extensions.iter().any(|e| found == *e)))
        .collect();
    files.sort();
    Ok(files)
}

fn copy_sources(from: &Path, to: &Path) -> Result<(), String> {
    fs::create_dir_all(to).map_err(|error| format!("{}: {error}", to.display()))?;
    for file in files_of(from, &["c", "h"])? {
        // Lua's two commands have a `main` each.
        if ["lua.c", "luac.c"].iter().any(|command| file.ends_with(command)) {
            continue;
        }
        let name = file.file_name().expect("a listed file has a name");
        // Read and written rather than copied: a copy would keep the read-only mode some registries set.
        let text = fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        fs::write(to.join(name), text).map_err(|error| format!("{}: {error}", to.display()))?;
    }
    Ok(())
}

/// Applies every insertion and returns the number of lines they add.
fn insert_all(folder: &Path, version: &Version) -> Result<usize, String> {
    let all = &version.insertions;
    let names: BTreeSet<&str> = all.iter().map(|insertion| insertion.file).collect();
    for name in names {
        let path = folder.join(name);
        let stock = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let rows: Vec<&Insertion> = all.iter().copied().filter(|insertion| insertion.file == name).collect();
        let text =
            insert(stock, &rows).map_err(|error| format!("{error} (sources of {}?)", version.folder))?;
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(all.iter().map(|insertion| insertion.text.matches('\n').count()).sum())
}

/// Makes insertions in the text of one file.
fn insert(stock: String, rows: &[&Insertion]) -> Result<String, String> {
    // Each row is looked up in the stock text; then all are made from the back, so that offsets stay right.
    let mut found = Vec::new();
    for insertion in rows {
        found.push((position(&stock, insertion)?, insertion.text));
    }
    found.sort_by_key(|(offset, _)| *offset);
    let mut text = stock;
    for (offset, inserted) in found.into_iter().rev() {
        text.insert_str(offset, inserted);
    }
    Ok(text)
}

fn position(text: &str, insertion: &Insertion) -> Result<usize, String> {
    let matches = text.matches(insertion.anchor).count();
    let Some(offset) = text.find(insertion.anchor).filter(|_| matches == 1) else {
        return Err(format!(
            "{}: the insertion for \"{}\" matches {matches} times instead of once. Anchor: {:?}",
            insertion.file, insertion.why, insertion.anchor
        ));
    };
    Ok(match insertion.place {
        Place::Before => offset,
        Place::After => offset + insertion.anchor.len(),
    })
}

/// The flags `lua-src` uses, whatever the Cargo profile: interpreter speed is compared with stock Lua's.
/// Where Rust's assertions are compiled in, so are Lua's: tests run with them. There strings have
/// the same hashes in each run, so that the order of 'next' is compared, too.
fn lua_flags(version: &Version) -> cc::Build {
    let mut build = cc::Build::new();
    build.opt_level(2).flag_if_supported("-fno-common");
    if let Some(name) = version.compatible {
        build.define(name, None);
    }
    // Otherwise a Cargo profile with debug information would cost the interpreter a register.
    build.force_frame_pointer(false);
    // The interpreter loop's speed differs by up to a third with its place within a cache line; fix that for
    // both builds.
    build.flag_if_supported("-falign-functions=64");
    let system = env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    build.define(if system == "macos" { "LUA_USE_MACOSX" } else { "LUA_USE_LINUX" }, None);
    let paths = command::module_paths(version.name);
    for (name, path) in ["LUA_PATH_DEFAULT", "LUA_CPATH_DEFAULT"].into_iter().zip(paths) {
        if let Some(path) = path {
            build.define(name, format!("\"{path}\"").as_str());
        }
    }
    let is_debug = env::var("PROFILE").is_ok_and(|profile| profile == "debug");
    if is_debug || env::var_os("TRACELIFT_LUA_ASSERT").is_some() {
        build.define("LUAI_ASSERT", None).define("LUA_USE_APICHECK", None);
        build.define("luai_makeseed(L)", "0x5eedu").define("TLUA_SAME_HASHES", None);
    }
    build
}

/// Makes `tlua_stencils.h`. Machines that it cannot be made for have no baseline code; where it should have
/// been possible, a warning says why not.
fn write_stencils(patched: &Path, package: &Path, out: &Path, has_baseline: bool) -> Result<(), String> {
    let is_known = has_baseline
        && variable("CARGO_CFG_TARGET_ARCH")? == "x86_64"
        && variable("CARGO_CFG_TARGET_OS")? == "linux";
    let text = if is_known {
        compile_stencils(patched, package, out).unwrap_or_else(|reason| {
            println!("cargo:warning=there will be no baseline code: {reason}");
            stencils::NONE.to_owned()
        })
    } else {
        stencils::NONE.to_owned()
    };
    let path = out.join("tlua_stencils.h");
    fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// Code that lies anywhere, uses addresses as operands, and has neither frames nor tables.
const STENCIL_FLAGS: &[&str] = &[
    "-O2",
    "-std=gnu11",
    "-DLUA_USE_LINUX",
    "-DLUA_COMPAT_5_3",
    "-fno-pic",
    "-fno-pie",
    "-mcmodel=small",
    "-ffunction-sections",
    "-fomit-frame-pointer",
    "-mno-red-zone",
    "-fno-stack-protector",
    "-fno-asynchronous-unwind-tables",
    "-fno-jump-tables",
    "-fno-common",
    "-fcf-protection=none",
    "-falign-functions=1",
    "-fno-align-jumps",
    "-fno-align-loops",
    "-fno-align-labels",
];

/// Registers that C functions save. Stencils do not save them when they use them: `run` does, in
/// `tlua_baseline.c`. Clang does not know these flags; stencils that it compiles save what they use.
const STENCIL_REGISTERS: &[&str] = &[
    "-fcall-used-rbx",
    "-fcall-used-r12",
    "-fcall-used-r13",
    "-fcall-used-r14",
    "-fcall-used-r15",
    // By this one debuggers find who has called: see `c/tlua_rec_note.c`.
    "-ffixed-rbp",
];

fn compile_stencils(patched: &Path, package: &Path, out: &Path) -> Result<String, String> {
    compile_stencils_with(STENCIL_REGISTERS, patched, package, out)
        .or_else(|_| compile_stencils_with(&[], patched, package, out))
}

fn compile_stencils_with(
    registers: &[&str],
    patched: &Path,
    package: &Path,
    out: &Path,
) -> Result<String, String> {
    let [assembly, parts, object] = ["s", "cut.s", "o"].map(|kind| out.join(format!("tlua_stencils.{kind}")));
    // The compiler itself, without the flags of the profile.
    let compiler = cc::Build::new().get_compiler();
    let mut compile = Command::new(compiler.path());
    compile.args(STENCIL_FLAGS).args(registers);
    compile.arg("-I").arg(patched).arg("-I").arg(package.join("c"));
    compile.arg("-S").arg(package.join("stencils/tlua_stencils.c")).arg("-o").arg(&assembly);
    run(&mut compile)?;
    let text = fs::read_to_string(&assembly).map_err(|error| format!("{}: {error}", assembly.display()))?;
    fs::write(&parts, stencils::cut(&text)).map_err(|error| format!("{}: {error}", parts.display()))?;
    run(Command::new(compiler.path()).arg("-c").arg(&parts).arg("-o").arg(&object))?;
    let bytes = fs::read(&object).map_err(|error| format!("{}: {error}", object.display()))?;
    stencils::header(&bytes)
}

/// Runs a compiler; an error is what it says.
fn run(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{program}: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).trim().replace('\n', " ")),
    }
}

/// Lua's files in an order in which they can be one, as its makers' `onelua.c` has them.
const WHOLE: &[&str] = &[
    "lzio", "lctype", "lopcodes", "lmem", "lundump", "ldump", "lstate", "lgc", "llex", "lcode", "lparser",
    "ldebug", "lfunc", "lobject", "ltm", "lstring", "ltable", "ldo", "lvm", "lapi", "lauxlib", "lbaselib",
    "lcorolib", "ldblib", "liolib", "lmathlib", "loadlib", "loslib", "lstrlib", "ltablib", "lutf8lib",
    "linit",
];

/// One file that includes all of Lua: the compiler then sees through the calls between its files, which
/// programs that do much in C functions gain a twentieth by.
fn write_whole(patched: &Path, out: &Path) -> PathBuf {
    let listed = files_of(patched, &["c"]).expect("the folder was just written");
    let mut names: Vec<_> = listed.iter().filter_map(|file| file.file_stem()?.to_str()).collect();
    names.sort_by_key(|name| WHOLE.iter().position(|known| known == name).unwrap_or(WHOLE.len()));
    let mut text = String::from("#include \"lprefix.h\"\n");
    for name in ["LUA_CORE", "LUA_LIB", "ltable_c", "lvm_c"] {
        writeln!(text, "#define {name}").expect("text takes all");
    }
    for name in names {
        writeln!(text, "#include \"{name}.c\"").expect("text takes all");
    }
    let path = out.join("tlua_whole.c");
    fs::write(&path, text).expect("the folder of the build can be written to");
    path
}

/// Our C files for that version of Lua.
fn our_files(our_c: &Path, version: &Version) -> Result<Vec<PathBuf>, String> {
    let serves = |file: &PathBuf| !version.without.iter().any(|name| file.ends_with(name));
    let mut files: Vec<PathBuf> = files_of(our_c, &["c"])?.into_iter().filter(serves).collect();
    if let Some(own) = version.own {
        files.extend(files_of(&our_c.join(own), &["c"])?);
    }
    Ok(files)
}

fn build_library(
    version: &Version,
    patched: &Path,
    command: &Path,
    out: &Path,
    package: &Path,
) -> Result<(), String> {
    let our_c = package.join("c");
    let our_files = our_files(&our_c, version)?;
    let recorder = our_files.iter().any(|file| file.ends_with(RECORDER));
    let configured = || {
        let mut build = lua_flags(version);
        build.include(patched).include(&our_c).include(out).include(package.join("../../runtime/include"));
        if recorder {
            build.define("TLUA_HAVE_RECORDER", None);
        }
        // A loop that crosses a line of the cache may take half as long again: that of a string's hash did.
        build.flag_if_supported("-falign-loops=32");
        // Each table that grows sets 33 counters to zero, by an instruction that takes 30 cycles to begin.
        build.flag_if_supported("-mmemset-strategy=unrolled_loop:256:noalign,libcall:-1:noalign");
        build
    };
    let mut lua = configured();
    // Functions of the API are inlined into the libraries: nobody may replace them when programs are loaded.
    lua.warnings(false).flag_if_supported("-fno-semantic-interposition");
    let lua_objects = lua.file(write_whole(patched, out)).compile_intermediates();
    let mut front = configured();
    front.warnings(false).define("TLUA_FRONT", None).flag("-include").flag("tlua_front.h");
    let front_objects = front.file(command).compile_intermediates();
    let mut ours = configured();
    ours.warnings(true).extra_warnings(true).flag_if_supported("-Wno-unused-parameter");
    ours.files(our_files).objects(lua_objects).objects(front_objects).compile("tracelift_lua_vm");
    println!("cargo:rustc-link-lib=m");
    Ok(())
}

/// Links the oracles: untouched sources with our driver, and with Lua's own command.
fn build_stock(
    version: &Version,
    stock: &Path,
    our_c: &Path,
    command: &Path,
    out: &Path,
) -> Result<[PathBuf; 2], String> {
    let configured = || {
        let mut build = lua_flags(version);
        build.include(stock).include(our_c).warnings(false).cargo_metadata(false);
        build.out_dir(out.join("stock-objects"));
        build
    };
    let mut build = configured();
    let objects = build.files(files_of(stock, &["c"])?).compile_intermediates();
    let linked = |main: &Path, flags: &[&str], name: &str| {
        let mut one = configured();
        flags.iter().for_each(|flag| _ = one.flag(flag));
        let with_main = [objects.clone(), one.file(main).compile_intermediates()].concat();
        let executable = out.join(name);
        command::link(&build, &with_main, &executable).map(|()| executable)
    };
    configured().objects(&objects).out_dir(out).compile("stock_lua");
    let echoes = ["-DTLUA_ECHO", "-include", "tlua_echo.h"];
    let driver = linked(&our_c.join(DRIVER), &["-DTLUA_STOCK"], "stock-lua")?;
    Ok([driver, linked(command, &echoes, "lua")?])
}
