//! `/tmp/perf-PID.map`: by what perf knows the names of code.
//!
//! Problem: perf has samples of addresses in memory that belongs to no file. Design: it looks for a text file
//! with a line for each piece of code: address, size and name. All VMs of a process share the file, so it is
//! opened once and each line is written at once. perf reads it when the program is over and believes the
//! later of two lines for one address, so nothing is taken back: where much code is freed `jitdump.rs` is
//! exact, and this is not.
//!
//! Example line: `7f5e1c0000c0 1a0 loop sum.lua:3 main`.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::Mutex;

use super::piece::{complain, NoFile, Piece};

/// The process's file; `None` before it is opened, and after an error.
static FILE: Mutex<Option<(PathBuf, File)>> = Mutex::new(None);

/// Lines in the process's file.
pub(super) struct PerfMap(());

impl PerfMap {
    pub fn open() -> Result<PerfMap, NoFile> {
        let mut shared = FILE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let path = PathBuf::from(format!("/tmp/perf-{}.map", std::process::id()));
        // A program that has forked has another number.
        if shared.as_ref().is_none_or(|(opened, _)| *opened != path) {
            // Anybody may write to the folder: what another user has put there is not followed.
            let opened = (OpenOptions::new().write(true).create(true).truncate(true))
                .custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC)
                .open(&path);
            match opened {
                Ok(file) => *shared = Some((path, file)),
                Err(error) => return Err((path, error)),
            }
        }
        Ok(PerfMap(()))
    }

    pub fn add(&self, piece: &Piece<'_>) {
        let mut shared = FILE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let Some((path, file)) = &mut *shared else { return };
        if let Err(error) = file.write_all(line(piece).as_bytes()) {
            complain(path, &error);
            *shared = None;
        }
    }
}

fn line(piece: &Piece<'_>) -> String {
    let name = piece.name.replace('\n', " ");
    format!("{:x} {:x} {name}\n", piece.address, piece.code.len())
}
