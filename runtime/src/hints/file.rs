//! Hints in a file of a directory.
//!
//! Problem: several processes may share a directory, be killed while they write, and find there whatever
//! else people put into it. Design: a file is read up to the length that a table may have, and only if it is
//! one; it is written as another file with a name of its own, which then takes its place. Who writes reads
//! once more what is there by then, and learns on top of it, so that what other processes have written in
//! the meantime is not lost but in a race, which costs hints and nothing else. Invariant: whoever reads finds
//! a whole table or none.
//!
//! ```text
//! read DIR/tracelift.hints    ...    write DIR/.tracelift.hints.4711.0, rename it to DIR/tracelift.hints
//! ```

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::{Hints, NoHints, EACH, HEAD, MOST_HINTS};

/// The longest file that is read.
pub const MOST_BYTES: u64 = (HEAD + MOST_HINTS * EACH) as u64;

/// The file's name: one for a directory, as places have the same names whatever script loads them.
const NAME: &str = "tracelift.hints";

/// Why there are no hints from a file.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It cannot be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is no table of hints.
    #[error("{}: {why}", path.display())]
    Contents {
        /// The file.
        path: PathBuf,
        /// Why not.
        why: NoHints,
    },
}

/// The hints in a directory; none if it has no file of them.
pub fn read_file(directory: &Path) -> Result<Option<Hints>, FileError> {
    let path = directory.join(NAME);
    match read(&path) {
        Ok(bytes) => match Hints::parse(&bytes) {
            Ok(hints) => Ok(Some(hints)),
            Err(why) => Err(FileError::Contents { path, why }),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(FileError::Io { path, source }),
    }
}

/// The bytes of a file, no more than one above what it may have. A pipe would wait for ever.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no file"));
    }
    let mut bytes = Vec::with_capacity(metadata.len().min(MOST_BYTES) as usize);
    File::open(path)?.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Puts hints into a directory, in the place of what is there.
pub fn write_file(directory: &Path, hints: &Hints) -> Result<(), FileError> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let path = directory.join(NAME);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let other = directory.join(format!(".{NAME}.{}.{number}", std::process::id()));
    // What lies there by this name is of a process that was killed, or somebody's trap.
    let _ = fs::remove_file(&other);
    let write = || -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).create_new(true).open(&other)?;
        file.write_all(&hints.bytes())?;
        drop(file);
        fs::rename(&other, &path)
    };
    write().map_err(|source| {
        let _ = fs::remove_file(&other);
        FileError::Io { path, source }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hints::Verdict;

    fn directory(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("tracelift-hints-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).unwrap();
        path
    }

    #[test]
    fn what_is_written_is_read_and_nothing_else_is_left() {
        let path = directory("written");
        assert!(read_file(&path).unwrap().is_none());
        let mut hints = Hints::default();
        for name in 1..4 {
            hints.learn([(name, Verdict::Pays)]);
            write_file(&path, &hints).unwrap();
            assert_eq!(read_file(&path).unwrap().as_ref(), Some(&hints));
        }
        let names: Vec<_> = fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, [NAME]);
        fs::remove_dir_all(path).unwrap();
    }

    #[test]
    fn what_is_no_table_is_refused() {
        let path = directory("refused");
        fs::write(path.join(NAME), vec![b'x'; 3 * MOST_BYTES as usize]).unwrap();
        assert!(matches!(read_file(&path), Err(FileError::Contents { why: NoHints::Magic, .. })));
        fs::remove_file(path.join(NAME)).unwrap();
        fs::create_dir(path.join(NAME)).unwrap();
        assert!(matches!(read_file(&path), Err(FileError::Io { .. })));
        assert!(write_file(&path, &Hints::default()).is_err());
        assert_eq!(fs::read_dir(&path).unwrap().count(), 1, "nothing is left of the attempt");
        fs::remove_dir_all(&path).unwrap();
        assert!(read_file(&path).unwrap().is_none());
        assert!(write_file(&path, &Hints::default()).is_err());
    }

    /// Threads stand for processes: names of files do not depend on which it is.
    #[test]
    fn who_reads_while_others_write_finds_a_whole_table() {
        let path = directory("shared");
        std::thread::scope(|scope| {
            for seed in 0..3u64 {
                let path = &path;
                scope.spawn(move || {
                    for round in 1..200 {
                        let mut hints = read_file(path).unwrap().unwrap_or_default();
                        hints.learn((0..20).map(|n| (seed * 1000 + round * 7 + n + 1, Verdict::Pays)));
                        write_file(path, &hints).unwrap();
                    }
                });
            }
        });
        assert!(read_file(&path).unwrap().is_some_and(|hints| hints.len() > 200));
        fs::remove_dir_all(path).unwrap();
    }
}
