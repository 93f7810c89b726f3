//! `jit-PID.dump`: code with its bytes, for `perf inject --jit`.
//!
//! Problem: perf's map of names (`perf_map.rs`) has no bytes, no unwind information, and does not know that
//! memory is used again. Design: a file of records, each with a time by the clock that `perf record -k mono`
//! uses. perf learns of the file as the program maps a page of it executable, and `perf inject --jit` makes
//! an object file of each piece of code. All VMs of a process share the file. The format is perf's
//! (`tools/perf/Documentation/jitdump-specification.txt` in Linux's sources); perf gives a piece of code its
//! unwind information if that comes in the record before.
//!
//! Invariant: records are written whole, one after the other. Example: `perf record -k mono -g tlua
//! -jdebug=jitdump a.lua; perf inject --jit -i perf.data -o perf.jit; perf report -i perf.jit`.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::Mutex;

use tracelift_cranelift::{section_offset, LOOKUP_BYTES};

use super::elf::machine;
use super::piece::{complain, NoFile, Piece};

const MAGIC: u32 = 0x4a69_5444;
const VERSION: u32 = 1;
const HEADER_BYTES: u32 = 40;

const CODE_LOAD: u32 = 0;
const UNWINDING_INFO: u32 = 4;
/// Bytes that each record begins with: kind, size, time.
const PREFIX_BYTES: usize = 16;

/// The process's file.
struct Dump {
    path: PathBuf,
    file: File,
    /// The number of the next piece of code.
    next: u64,
}

/// `None` before it is opened, and after an error.
static DUMP: Mutex<Option<Dump>> = Mutex::new(None);

/// Records in the process's file.
pub(super) struct Jitdump(());

impl Jitdump {
    pub fn open() -> Result<Jitdump, NoFile> {
        let mut shared = DUMP.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let folder = std::env::var_os("JITDUMPDIR").filter(|folder| !folder.is_empty());
        let mut path = PathBuf::from(folder.unwrap_or_else(|| ".".into()));
        path.push(format!("jit-{}.dump", std::process::id()));
        if shared.as_ref().is_none_or(|dump| dump.path != path) {
            match create(&path) {
                Ok(file) => *shared = Some(Dump { path, file, next: 0 }),
                Err(error) => return Err((path, error)),
            }
        }
        Ok(Jitdump(()))
    }

    pub fn add(&self, piece: &Piece<'_>) {
        let mut shared = DUMP.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let Some(dump) = &mut *shared else { return };
        let mut records = unwinding(piece);
        records.extend(load(piece, dump.next));
        dump.next += 1;
        if let Err(error) = dump.file.write_all(&records) {
            complain(&dump.path, &error);
            *shared = None;
        }
    }
}

/// A file with its header, and the mapping that tells perf of it.
fn create(path: &PathBuf) -> io::Result<File> {
    let mut file = (OpenOptions::new().read(true).write(true).create(true).truncate(true))
        .custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC)
        .open(path)?;
    let mut header = Vec::new();
    for word in [MAGIC, VERSION, HEADER_BYTES, machine().into(), 0, std::process::id()] {
        header.extend(word.to_le_bytes());
    }
    header.extend(now().to_le_bytes());
    header.extend(0u64.to_le_bytes());
    file.write_all(&header)?;
    // SAFETY: a new mapping at an address that the system chooses; it stays, and nobody reads it.
    let page = unsafe {
        let protection = libc::PROT_READ | libc::PROT_EXEC;
        libc::mmap(std::ptr::null_mut(), 4096, protection, libc::MAP_PRIVATE, file.as_raw_fd(), 0)
    };
    match page == libc::MAP_FAILED {
        true => Err(io::Error::last_os_error()),
        false => Ok(file),
    }
}

/// The time, by perf's clock.
fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the place is there.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// A record's prefix, with the size of what follows.
fn record(kind: u32, body: &[u8]) -> Vec<u8> {
    let mut record = Vec::with_capacity(PREFIX_BYTES + body.len());
    record.extend(kind.to_le_bytes());
    record.extend(((PREFIX_BYTES + body.len()) as u32).to_le_bytes());
    record.extend(now().to_le_bytes());
    record.extend(body);
    record
}

fn load(piece: &Piece<'_>, number: u64) -> Vec<u8> {
    let mut body = Vec::new();
    // SAFETY: asks for a number.
    let thread = unsafe { libc::syscall(libc::SYS_gettid) } as u32;
    body.extend(std::process::id().to_le_bytes());
    body.extend(thread.to_le_bytes());
    for word in [piece.address as u64, piece.address as u64, piece.code.len() as u64, number] {
        body.extend(word.to_le_bytes());
    }
    body.extend(piece.name.replace('\0', "").as_bytes());
    body.push(0);
    body.extend(piece.code);
    record(CODE_LOAD, &body)
}

/// Unwind information of the code that the next record has: the section, and a table in which it is looked
/// up, the `.eh_frame_hdr` section. Nothing if there is none.
fn unwinding(piece: &Piece<'_>) -> Vec<u8> {
    if piece.unwind.is_empty() {
        return Vec::new();
    }
    let table = lookup(section_offset(piece.code.len()), piece.unwind);
    let size = piece.unwind.len() + table.len();
    let mut body = Vec::new();
    for word in [size, table.len(), size] {
        body.extend((word as u64).to_le_bytes());
    }
    body.extend(piece.unwind);
    body.extend(table);
    // Records are multiples of eight bytes here, as perf makes its own.
    body.resize(body.len().next_multiple_of(8), 0);
    record(UNWINDING_INFO, &body)
}

/// An `.eh_frame_hdr` section with one row, right after the section that it is for. `behind` is where that
/// one stands, from the code's start.
fn lookup(behind: usize, unwind: &[u8]) -> Vec<u8> {
    const VERSION: u8 = 1;
    // Counted from the place itself; a number; counted from this section: four bytes each.
    const ENCODINGS: [u8; 3] = [0x1b, 0x03, 0x3b];
    let here = (behind + unwind.len()) as i32;
    // The row of the code stands after what holds for all rows, whose length comes first.
    let common = unwind.first_chunk().map_or(0, |&len| i32::from_le_bytes(len) + 4);
    let mut table = vec![VERSION];
    table.extend(ENCODINGS);
    table.extend((-(unwind.len() as i32) - 4).to_le_bytes());
    table.extend(1u32.to_le_bytes());
    table.extend((-here).to_le_bytes());
    table.extend((common - unwind.len() as i32).to_le_bytes());
    debug_assert_eq!(table.len(), LOOKUP_BYTES);
    table
}
