//! What earlier runs of a program have taught about its places, as bytes and as a table.
//!
//! Problem: each process learns anew which loops are hot, whose code pays, and what cannot be recorded, and
//! interprets them meanwhile. Addresses say nothing to the next process, and what a file says may be about
//! another program, or damaged. Design: a *hint* is a name of 64 bits that the host gives to a place, the
//! same in each run, and what came of it: its code has paid, or it was tried in vain. A table of hints has
//! one form as bytes: a head with the library's version and a checksum, and 16 bytes for each hint, in the
//! order of names. It is searched as it lies. What a run has learned is merged into what was known before;
//! what nobody has confirmed grows older, and the oldest go where there would be too many.
//!
//! Invariants: bytes that differ from those that were written in one bit or more, or in their length, are
//! refused as a whole. A table is sorted, without doubles, and has at most [`MOST_HINTS`]. Hints say where
//! and when to record and nothing else: no code comes from them.
//!
//! ```text
//! TLHINTS1 version checksum 2 | 07f3... pays age 0 | 9b21... fails age 3
//! ```

mod file;
mod warm;

pub use file::{read_file, write_file, FileError, MOST_BYTES};
pub use warm::StableNameOf;
pub(crate) use warm::{exit_name, Expected, Warm};

/// The most hints that a table has: what does not fit is the oldest.
pub const MOST_HINTS: usize = 8192;

/// The first bytes. The digit is the version of the form.
const MAGIC: [u8; 8] = *b"TLHINTS1";
/// Magic, version of the library, checksum, number of hints, and a word of zeros.
const HEAD: usize = 32;
const EACH: usize = 16;

/// What has come of a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Verdict {
    /// It had code, which has gained more than it has cost.
    Pays = 1,
    /// Recording it has failed again and again, or its code did not pay.
    Fails = 2,
}

/// What is known of one place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hint {
    /// What the host calls the place in each run.
    pub name: u64,
    /// What has come of it.
    pub verdict: Verdict,
    /// Runs that came since, none of which has confirmed it.
    pub age: u8,
}

/// Hints, by name.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Hints {
    all: Vec<Hint>,
}

/// Why bytes are no table of hints.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoHints {
    /// It ends within the head, or does not have the length that the head says.
    #[error("it has been cut off, or is too long")]
    Length,
    /// It begins in another way.
    #[error("it is no file of hints, or of another form")]
    Magic,
    /// Another version of the library has written it.
    #[error("another version of Tracelift has written it")]
    Version,
    /// It has been changed.
    #[error("it is damaged: the checksum is wrong")]
    Checksum,
    /// The checksum is right, and the contents are not.
    #[error("it is damaged: a hint is impossible")]
    Hint,
}

/// The version of the library, as a number.
fn version() -> u64 {
    mix(env!("CARGO_PKG_VERSION").as_bytes())
}

/// A checksum that each change of one word changes, whatever else it does to the others: each step maps
/// different states to different ones.
fn mix(bytes: &[u8]) -> u64 {
    let mut sum = 0xcbf2_9ce4_8422_2325_u64 ^ bytes.len() as u64;
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        sum = (sum ^ u64::from_le_bytes(word)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
    }
    sum
}

/// The word at this place; 0 beyond the end, which nobody asks for.
fn word(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).and_then(|word| word.try_into().ok()).map_or(0, u64::from_le_bytes)
}

impl Hints {
    /// Reads a table.
    pub fn parse(bytes: &[u8]) -> Result<Hints, NoHints> {
        let (head, rest) = bytes.split_at_checked(HEAD).ok_or(NoHints::Length)?;
        if head[..8] != MAGIC {
            return Err(NoHints::Magic);
        }
        if word(head, 8) != version() {
            return Err(NoHints::Version);
        }
        let count = word(head, 24);
        if count > MOST_HINTS as u64 || rest.len() != count as usize * EACH {
            return Err(NoHints::Length);
        }
        if word(head, 16) != mix(rest) ^ mix(&count.to_le_bytes()) {
            return Err(NoHints::Checksum);
        }
        let hints: Option<Vec<Hint>> = rest.chunks_exact(EACH).map(Hint::parse).collect();
        let all = hints.ok_or(NoHints::Hint)?;
        let is_sorted = all.windows(2).all(|pair| pair[0].name < pair[1].name);
        if !is_sorted || all.first().is_some_and(|first| first.name == 0) {
            return Err(NoHints::Hint);
        }
        Ok(Hints { all })
    }

    /// The table as bytes.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEAD + self.all.len() * EACH);
        let count = self.all.len() as u64;
        bytes.extend(MAGIC);
        bytes.extend(version().to_le_bytes());
        bytes.extend([0; 8]);
        bytes.extend(count.to_le_bytes());
        self.all.iter().for_each(|hint| bytes.extend(hint.bytes()));
        let sum = mix(&bytes[HEAD..]) ^ mix(&count.to_le_bytes());
        bytes[16..24].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// What is known of a place.
    pub fn find(&self, name: u64) -> Option<Verdict> {
        let at = self.all.binary_search_by_key(&name, |hint| hint.name).ok()?;
        Some(self.all[at].verdict)
    }

    /// Whether the last run that wrote has said the same.
    fn confirms(&self, name: u64, verdict: Verdict) -> bool {
        let at = self.all.binary_search_by_key(&name, |hint| hint.name);
        at.is_ok_and(|at| (self.all[at].verdict, self.all[at].age) == (verdict, 0))
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// How many hints there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// A run is over that has learned this; a name that comes twice has paid if it has once. What was known
    /// and was not confirmed is one run older.
    pub fn learn(&mut self, learned: impl IntoIterator<Item = (u64, Verdict)>) {
        self.all.iter_mut().for_each(|hint| hint.age = hint.age.saturating_add(1));
        let new = learned.into_iter().filter(|&(name, _)| name != 0);
        self.all.extend(new.map(|(name, verdict)| Hint { name, verdict, age: 0 }));
        self.all.sort_by_key(|hint| (hint.name, hint.age, hint.verdict as u8));
        self.all.dedup_by_key(|hint| hint.name);
        if self.all.len() > MOST_HINTS {
            self.all.sort_by_key(|hint| (hint.age, hint.name));
            self.all.truncate(MOST_HINTS);
            self.all.sort_by_key(|hint| hint.name);
        }
    }
}

impl Hint {
    fn bytes(&self) -> [u8; EACH] {
        let mut bytes = [0; EACH];
        bytes[..8].copy_from_slice(&self.name.to_le_bytes());
        (bytes[8], bytes[9]) = (self.verdict as u8, self.age);
        bytes
    }

    fn parse(bytes: &[u8]) -> Option<Hint> {
        let verdict = match bytes[8] {
            1 => Verdict::Pays,
            2 => Verdict::Fails,
            _ => return None,
        };
        bytes[10..].iter().all(|&byte| byte == 0).then(|| Hint {
            name: word(bytes, 0),
            verdict,
            age: bytes[9],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Hints {
        let mut hints = Hints::default();
        hints.learn([(7, Verdict::Pays), (3, Verdict::Fails), (u64::MAX, Verdict::Pays)]);
        hints
    }

    #[test]
    fn what_is_written_is_read() {
        for hints in [Hints::default(), table()] {
            assert_eq!(Hints::parse(&hints.bytes()), Ok(hints));
        }
        let hints = table();
        assert_eq!([3, 7, 8].map(|name| hints.find(name)), [Some(Verdict::Fails), Some(Verdict::Pays), None]);
    }

    #[test]
    fn what_is_cut_off_or_longer_is_refused() {
        let bytes = table().bytes();
        for length in 0..bytes.len() {
            assert!(Hints::parse(&bytes[..length]).is_err(), "{length}");
        }
        for more in 1..40 {
            let longer = [&bytes[..], &vec![0; more]].concat();
            assert_eq!(Hints::parse(&longer), Err(NoHints::Length), "{more}");
        }
    }

    #[test]
    fn no_bit_can_be_flipped() {
        let bytes = table().bytes();
        for bit in 0..8 * bytes.len() {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(Hints::parse(&flipped).is_err(), "{bit}");
        }
    }

    /// A checksum can be made right by who wants to: the contents are checked all the same.
    #[test]
    fn what_is_impossible_is_refused() {
        let good = table().bytes();
        let with = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = good.clone();
            change(&mut bytes);
            let sum = mix(&bytes[HEAD..]) ^ mix(&bytes[24..32]);
            bytes[16..24].copy_from_slice(&sum.to_le_bytes());
            Hints::parse(&bytes)
        };
        assert_eq!(with(&|_| {}), Ok(table()));
        assert_eq!(with(&|bytes| bytes[HEAD + 8] = 3), Err(NoHints::Hint), "no verdict");
        assert_eq!(with(&|bytes| bytes[HEAD + 15] = 1), Err(NoHints::Hint), "no zero");
        assert_eq!(with(&|bytes| bytes[HEAD] = 9), Err(NoHints::Hint), "not sorted");
        assert_eq!(with(&|bytes| bytes[HEAD] = 7), Err(NoHints::Hint), "twice");
        assert_eq!(with(&|bytes| bytes[HEAD] = 0), Err(NoHints::Hint), "the name that no place has");
        assert_eq!(with(&|bytes| bytes[8] ^= 1), Err(NoHints::Version));
        assert_eq!(with(&|bytes| bytes[7] = b'2'), Err(NoHints::Magic));
        let huge = u64::MAX / EACH as u64 + 4;
        assert_eq!(with(&|bytes| bytes[24..32].copy_from_slice(&huge.to_le_bytes())), Err(NoHints::Length));
    }

    #[test]
    fn random_bytes_are_no_hints() {
        let mut state = 1u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize
        };
        for round in 0..20_000 {
            let mut bytes: Vec<u8> = (0..random() % 200).map(|_| random() as u8).collect();
            if round % 2 == 0 {
                // What gets past the first tests.
                let good = table().bytes();
                bytes.splice(..bytes.len().min(16), good[..16].iter().copied());
            }
            assert!(Hints::parse(&bytes).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn what_is_not_confirmed_grows_old_and_goes_first() {
        let mut hints = table();
        hints.learn([(7, Verdict::Fails), (3, Verdict::Fails), (3, Verdict::Pays), (0, Verdict::Pays)]);
        let ages: Vec<(u64, Verdict, u8)> =
            hints.all.iter().map(|hint| (hint.name, hint.verdict, hint.age)).collect();
        let expected = [(3, Verdict::Pays, 0), (7, Verdict::Fails, 0), (u64::MAX, Verdict::Pays, 1)];
        assert_eq!(ages, expected);
        hints.learn((10..10 + MOST_HINTS as u64 - 2).map(|name| (name, Verdict::Pays)));
        assert_eq!(
            (hints.len(), hints.find(u64::MAX), hints.find(3)),
            (MOST_HINTS, None, Some(Verdict::Pays))
        );
        assert_eq!(Hints::parse(&hints.bytes()), Ok(hints), "the largest one");
    }

    #[test]
    fn age_has_an_end() {
        let mut hints = table();
        (0..1000).for_each(|_| hints.learn([]));
        assert!(hints.all.iter().all(|hint| hint.age == u8::MAX));
    }
}
