//! Builds Wren with our hooks, and stock Wren as the oracle.
//!
//! Problem: the host is *stock* Wren, whose sources must not lie in this repository. Design: they come from
//! the pinned crate `ruwren-sys` (found through `cargo metadata`, or named by `WREN_SRC_DIR`), are copied to
//! the build folder, get the insertions of `build/insertions.rs`, and are compiled with our C files in `c/`.
//! The untouched sources and the same command without the JIT make the executable `stock-wren`.
//! Invariant: both builds use the same flags; each anchor matches exactly once.
//! Example: `WREN_SRC_DIR=/usr/src/wren cargo build -p tracelift-wren`, for a folder that holds `src`,
//! `include` and `optional`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

#[path = "build/insertions.rs"]
mod insertions;
use insertions::{Insertion, Place, INSERTIONS};

/// The crate with Wren's sources, and the folders of it that are used.
const SOURCES: &str = "ruwren-sys";
const FOLDERS: [&str; 3] = ["src", "include", "optional"];
/// The crate with Wren's own tests and benchmarks, and their folder.
const SUITE: (&str, &str) = ("wren-sys", "wren/test");
/// The command, which is in both builds.
const COMMAND: &str = "wl_command.c";

fn main() {
    if let Err(message) = build() {
        eprintln!("tracelift-wren: {message}");
        std::process::exit(1);
    }
}

fn build() -> Result<(), String> {
    let package = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(variable("OUT_DIR")?);
    for path in ["build.rs", "build", "c", "../../runtime/include"] {
        println!("cargo:rerun-if-changed={}", package.join(path).display());
    }
    println!("cargo:rerun-if-env-changed=WREN_SRC_DIR");
    let packages = Packages::read(&package)?;
    let sources = match env::var_os("WREN_SRC_DIR") {
        Some(folder) => PathBuf::from(folder),
        None => packages.folder(SOURCES)?,
    };
    println!("cargo:rerun-if-changed={}", sources.display());
    let [stock, patched] = ["stock", "patched"].map(|name| out.join(name));
    copy_sources(&sources, &stock)?;
    copy_sources(&sources, &patched)?;
    insert_all(&patched)?;
    let lines: usize = INSERTIONS.iter().map(|insertion| insertion.text.matches('\n').count()).sum();

    let mut library = flags(&patched);
    library.include(package.join("c")).include(package.join("../../runtime/include"));
    library.files(files_of(&patched, "c")?);
    for file in files_of(&package.join("c"), "c")? {
        library.file(file);
    }
    library.compile("wrenlift");
    println!("cargo:rustc-link-lib=m");

    let suite = packages.folder(SUITE.0)?.join(SUITE.1);
    println!("cargo:rustc-env=TRACELIFT_WREN_INSERTIONS={}", INSERTIONS.len());
    println!("cargo:rustc-env=TRACELIFT_WREN_INSERTED_LINES={lines}");
    println!("cargo:rustc-env=TRACELIFT_WREN_SUITE={}", suite.display());
    println!("cargo:rustc-env=TRACELIFT_STOCK_WREN={}", build_stock(&stock, &package, &out)?.display());
    Ok(())
}

fn variable(name: &str) -> Result<String, String> {
    env::var(name).map_err(|error| format!("environment variable {name}: {error}"))
}

/// What `cargo metadata` says of this package's dependencies.
struct Packages(serde_json::Value);

impl Packages {
    /// What this build uses is already on this machine, so the first try stays off the network.
    fn read(package: &Path) -> Result<Self, String> {
        let text = metadata(package, &["--offline"]).or_else(|_| metadata(package, &[]))?;
        serde_json::from_str(&text)
            .map(Packages)
            .map_err(|error| format!("cargo metadata printed no JSON: {error}"))
    }

    /// The folder of one of them.
    fn folder(&self, name: &str) -> Result<PathBuf, String> {
        let packages = self.0["packages"].as_array().into_iter().flatten();
        let manifest = packages
            .filter(|entry| entry["name"] == name)
            .find_map(|entry| entry["manifest_path"].as_str())
            .ok_or_else(|| format!("cargo metadata knows no package {name}"))?;
        Ok(Path::new(manifest).with_file_name(""))
    }
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

/// The files of a folder with this extension, sorted.
fn files_of(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .collect();
    files.sort();
    Ok(files)
}

/// All of Wren's files in one folder.
fn copy_sources(from: &Path, to: &Path) -> Result<(), String> {
    fs::create_dir_all(to).map_err(|error| format!("{}: {error}", to.display()))?;
    for folder in FOLDERS.map(|name| from.join(name)) {
        for extension in ["c", "h", "inc"] {
            for file in files_of(&folder, extension)? {
                // A copy would keep the read-only mode that some registries set.
                let text = fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
                let name = file.file_name().expect("a listed file has a name");
                fs::write(to.join(name), text).map_err(|error| format!("{}: {error}", to.display()))?;
            }
        }
    }
    Ok(())
}

fn insert_all(folder: &Path) -> Result<(), String> {
    let mut names: Vec<&str> = INSERTIONS.iter().map(|insertion| insertion.file).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let path = folder.join(name);
        let stock = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let rows = INSERTIONS.iter().filter(|insertion| insertion.file == name);
        // Each row is looked up in the stock text; then they are made from the back, so that offsets hold.
        let mut found: Vec<(usize, &str)> =
            rows.map(|row| Ok((position(&stock, row)?, row.text))).collect::<Result<_, String>>()?;
        found.sort_by_key(|(offset, _)| *offset);
        let mut text = stock;
        for (offset, inserted) in found.into_iter().rev() {
            text.insert_str(offset, inserted);
        }
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

fn position(text: &str, insertion: &Insertion) -> Result<usize, String> {
    let matches = text.matches(insertion.anchor).count();
    let Some(offset) = text.find(insertion.anchor).filter(|_| matches == 1) else {
        return Err(format!(
            "{}: the insertion for \"{}\" matches {matches} times instead of once; are these the sources of \
             Wren 0.4.0? Anchor: {:?}",
            insertion.file, insertion.why, insertion.anchor
        ));
    };
    Ok(match insertion.place {
        Place::Before => offset,
        Place::After => offset + insertion.anchor.len(),
    })
}

/// One set of flags for both builds, whatever the Cargo profile. Values are tagged structures of 16 bytes,
/// which is one of the two ways in which Wren can be built.
fn flags(folder: &Path) -> cc::Build {
    let mut build = cc::Build::new();
    build.opt_level(2).std("gnu11").include(folder).define("WREN_NAN_TAGGING", "0");
    build.force_frame_pointer(false).warnings(false);
    build.flag_if_supported("-falign-functions=64").flag_if_supported("-fno-strict-aliasing");
    build
}

/// The same command around untouched sources.
fn build_stock(stock: &Path, package: &Path, out: &Path) -> Result<PathBuf, String> {
    let path = out.join("stock-wren");
    let mut compile = flags(stock).define("WL_STOCK", None).get_compiler().to_command();
    compile.args(files_of(stock, "c")?).arg(package.join("c").join(COMMAND)).arg("-lm").arg("-o").arg(&path);
    let output = compile.output().map_err(|error| format!("{compile:?}: {error}"))?;
    if !output.status.success() {
        return Err(format!("stock Wren: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    Ok(path)
}
