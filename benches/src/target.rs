//! Cargo's target folder, and the command that is built in it.
//!
//! Problem: what is measured must be what the sources say, not what was built some time ago. Design: the
//! executables of this package have cargo build the command beside themselves before they begin. Invariant: a
//! path that is returned is one of a build that succeeded.
//!
//! Example: `build_tracelift(&target_folder()?)?` is `target/release/tracelift`.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{bail, Context};

/// Cargo's target folder: this executable lies in a folder of it.
pub fn target_folder() -> anyhow::Result<PathBuf> {
    let executable = std::env::current_exe().context("where is this executable?")?;
    let folder =
        executable.parent().and_then(Path::parent).context("this executable lies in no target folder")?;
    Ok(folder.to_path_buf())
}

/// Builds the command, so that what is measured is what the sources say.
pub fn build_tracelift(target: &Path) -> anyhow::Result<PathBuf> {
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
