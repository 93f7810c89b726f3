//! `cargo xtask`: what is done with the project beside building and testing it.
//!
//! Example: `cargo xtask install --prefix /usr/local`.

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use tracelift_xtask::Install;

#[derive(Parser, Debug)]
#[command(name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand, Debug)]
enum Task {
    /// Install `tlua`, the library `libtlua5.4`, Lua's headers, and `tlua5.4.pc`.
    Install {
        /// Where they will be found.
        #[arg(long, default_value = "/usr/local")]
        prefix: PathBuf,
        /// A folder that stands for the root of the file system, for packages.
        #[arg(long)]
        root: Option<PathBuf>,
        /// Cargo's profile.
        #[arg(long, default_value = "release")]
        profile: String,
    },
}

fn main() -> anyhow::Result<()> {
    let Task::Install { prefix, root, profile } = Cli::parse().task;
    Install { prefix, root, profile }.install()
}
