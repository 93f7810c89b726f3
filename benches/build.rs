//! Builds LuaJIT as a command, if the feature `peers` asks for it.
//!
//! Problem: a fair comparison needs LuaJIT of a known version and build, but nobody who runs the tests should
//! have to compile it. Design: the crate `luajit-src` builds the library, and `c/luajit.c` is linked with it
//! to the executable `luajit`. Invariant: without the feature this does nothing. Example: `cargo run
//! --release -p tracelift-benches --features peers -- --quick`.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=c/luajit.c");
    #[cfg(feature = "peers")]
    if let Err(message) = luajit::build() {
        eprintln!("tracelift-benches: {message}");
        std::process::exit(1);
    }
}

#[cfg(feature = "peers")]
mod luajit {
    use std::path::PathBuf;

    pub fn build() -> Result<(), String> {
        let out = PathBuf::from(std::env::var("OUT_DIR").map_err(|error| format!("OUT_DIR: {error}"))?);
        let artifacts = luajit_src::Build::new()
            .debug(false)
            .try_build()
            .map_err(|error| format!("cannot build LuaJIT: {error}"))?;
        let library = artifacts.lib_dir().join(format!("lib{}.a", artifacts.libs()[0]));
        let executable = out.join("luajit");
        let compiler = cc::Build::new().opt_level(2).get_compiler();
        let status = compiler
            .to_command()
            .arg("-I")
            .arg(artifacts.include_dir())
            .arg("c/luajit.c")
            .arg(library)
            .arg("-o")
            .arg(&executable)
            .args(["-lm", "-ldl"])
            .status()
            .map_err(|error| format!("cannot link luajit: {error}"))?;
        if !status.success() {
            return Err(format!("cannot link luajit: {status}"));
        }
        println!("cargo:rustc-env=TRACELIFT_BENCHES_LUAJIT={}", executable.display());
        Ok(())
    }
}
