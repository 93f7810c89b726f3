//! Where the executables of this package run, and what they run.
//!
//! Problem: what is measured must be what the sources say, not what was built some time ago. Design: the
//! executables of this package have cargo build the command beside themselves before they begin, unless an
//! option names another one. Both have these options ([`Place`]). Invariant: a path that was built is one of
//! a build that succeeded.
//!
//! Example: without options `Place::tools(true)` builds `target/release/tracelift`.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{bail, Context};

use crate::contenders::Tools;
use crate::process::usual_core;

/// Options that say where things are.
#[derive(clap::Args, Clone, Debug)]
pub struct Place {
    /// The core that everything runs on.
    #[arg(long, value_name = "N")]
    core: Option<usize>,
    /// A LuaJIT of your own, instead of the one that the feature `peers` builds.
    #[arg(long, value_name = "PATH")]
    luajit: Option<PathBuf>,
    /// A command `tracelift` that is there already; otherwise it is built.
    #[arg(long, value_name = "PATH")]
    tracelift: Option<PathBuf>,
}

impl Place {
    /// The core that was named, or the usual one.
    pub fn core(&self) -> Option<usize> {
        self.core.or_else(usual_core)
    }

    /// The executables. If the command `tracelift` is needed and was not named, it is built.
    pub fn tools(&self, needs_tracelift: bool) -> anyhow::Result<Tools> {
        let target = target_folder()?;
        let tracelift = match &self.tracelift {
            Some(path) => path.clone(),
            None if needs_tracelift => build_tracelift(&target)?,
            None => PathBuf::new(),
        };
        let luajit =
            self.luajit.clone().or_else(|| option_env!("TRACELIFT_BENCHES_LUAJIT").map(PathBuf::from));
        Ok(Tools { tracelift, luajit, emulator: Vec::new(), build: target.join("tracelift-benches") })
    }
}

/// Cargo's target folder: this executable lies in a folder of it.
fn target_folder() -> anyhow::Result<PathBuf> {
    let executable = std::env::current_exe().context("where is this executable?")?;
    let folder =
        executable.parent().and_then(Path::parent).context("this executable lies in no target folder")?;
    Ok(folder.to_path_buf())
}

/// Builds the command, so that what is measured is what the sources say.
fn build_tracelift(target: &Path) -> anyhow::Result<PathBuf> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
    let status = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["build", "--release", "--package", "tracelift", "--bin", "tracelift", "--target-dir"])
        .arg(target)
        .arg("--manifest-path")
        .arg(manifest)
        .status()
        .context("cannot start cargo to build tracelift; --tracelift names one that is there already")?;
    if !status.success() {
        bail!("tracelift does not build ({status})");
    }
    Ok(target.join("release/tracelift"))
}
