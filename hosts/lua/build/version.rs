//! Which Lua is built: 5.4, or 5.5 with the feature `lua55`.
//!
//! Problem: two versions of Lua share most of their text, and nearly all of our insertions and C files; what
//! differs must not be spread over the build.
//!
//! Design: a [`Version`] says where the sources are, what is inserted, and which of our C files serve it. The
//! insertions of 5.5 are those of 5.4, but for the rows that `insertions55.rs` names: each has another text
//! there, or is left out, with the reason. C files that serve one version only are in a folder of its name,
//! or named here.
//!
//! Invariant: a row of `insertions55.rs` names exactly one row of `insertions.rs`.
//!
//! Example: `cargo build -p tracelift-lua --features lua55`.

use crate::insertions::{Insertion, INSERTIONS};
use crate::insertions55::{ADDED, CHANGES};

/// What differs between the versions, for the build.
pub struct Version {
    /// Folder inside the crate `lua-src`.
    pub folder: &'static str,
    /// As in `lua_5.4`.
    pub name: &'static str,
    /// What its crate defines for programs of the version before.
    pub compatible: Option<&'static str>,
    /// All insertions.
    pub insertions: Vec<&'static Insertion>,
    /// Rows of the other version that have no place in this one, and why.
    pub left_out: Vec<(&'static Insertion, &'static str)>,
    /// Our C files that this version does without.
    pub without: &'static [&'static str],
    /// Our folder with C files for this version alone.
    pub own: Option<&'static str>,
    /// Whether functions get baseline code.
    pub has_baseline: bool,
}

/// C files that know the tables of 5.4, or its baseline code. What others need of them is in `c/lua55`.
const WITHOUT_55: &[&str] = &[
    "tlua_baseline.c",
    "tlua_baseline_calls.c",
    "tlua_baseline_find.c",
    "tlua_baseline_lib.c",
    "tlua_baseline_run.c",
    "tlua_baseline_slow.c",
    "tlua_baseline_text.c",
    "tlua_grow.c",
    "tlua_join.c",
    "tlua_new.c",
    "tlua_rec_item.c",
    "tlua_room.c",
    "tlua_sort.c",
];

/// The version that the features of the build say.
pub fn chosen(is_55: bool) -> Result<Version, String> {
    if !is_55 {
        return Ok(Version {
            folder: "lua-5.4.9",
            name: "5.4",
            compatible: Some("LUA_COMPAT_5_3"),
            insertions: INSERTIONS.iter().collect(),
            left_out: Vec::new(),
            without: &[],
            own: None,
            has_baseline: true,
        });
    }
    let (insertions, left_out) = rows_of_55()?;
    Ok(Version {
        folder: "lua-5.5.1",
        name: "5.5",
        compatible: None,
        insertions,
        left_out,
        without: WITHOUT_55,
        own: Some("lua55"),
        has_baseline: false,
    })
}

type Rows = (Vec<&'static Insertion>, Vec<(&'static Insertion, &'static str)>);

/// The insertions of 5.5, and the rows of 5.4 that it does without.
pub fn rows_of_55() -> Result<Rows, String> {
    let (mut rows, mut left_out) = (Vec::new(), Vec::new());
    for change in CHANGES {
        let found = INSERTIONS.iter().filter(|row| change.is_of(row)).count();
        if found != 1 {
            return Err(format!("insertions55.rs: {:?} names {found} insertions", change.anchor));
        }
    }
    for row in INSERTIONS {
        match CHANGES.iter().find(|change| change.is_of(row)) {
            None => rows.push(row),
            Some(change) => match &change.now {
                Ok(now) => rows.extend(now.iter()),
                Err(why) => left_out.push((row, *why)),
            },
        }
    }
    rows.extend(ADDED);
    Ok((rows, left_out))
}
