//! The functions of Lua's libraries, one row or more for each, in loops.
//!
//! Problem: a function that compiled code does in a way of its own may do it otherwise. Design:
//! `scripts/functions.txt` has expressions for each function, which `scripts/functions.lua` computes in
//! loops, by each executable. Invariant: no function is without a row, since stock Lua itself says which
//! there are.
//!
//! Example: `string.rep ("ab"):rep(3, ",")`.

use std::collections::BTreeSet;
use std::path::Path;

use super::case::{case, Outcome};

/// Files that the script reads.
pub const FILES: &[(&str, &str)] = &[
    ("functions.lua", include_str!("scripts/functions.lua")),
    ("functions.txt", include_str!("scripts/functions.txt")),
];

/// An expression and what it gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The function that it is about.
    pub name: String,
    /// The expression.
    pub text: String,
    /// Its values.
    pub values: String,
}

/// What an executable makes of all rows, and the functions that it has.
pub fn rows(executable: &str, folder: &Path, jit: &[(&str, &str)]) -> (Vec<Row>, BTreeSet<String>) {
    let Outcome { end, stdout, stderr } = case(&["functions.lua"]).run(executable, folder, jit);
    assert_eq!((end.as_str(), stderr.as_str()), ("0", ""), "{executable} {jit:?}: {stdout}");
    let (mut rows, mut names) = (Vec::new(), BTreeSet::new());
    for line in stdout.lines() {
        let mut parts = line.split('\t');
        let mut next = || parts.next().unwrap_or_default().to_owned();
        match next().as_str() {
            "row" => rows.push(Row { name: next(), text: next(), values: next() }),
            "names" => names = next().split(' ').map(str::to_owned).collect(),
            _ => assert!(line.is_empty(), "{line}"),
        }
    }
    (rows, names)
}

/// Functions that no row is about.
pub fn without_row(rows: &[Row], names: &BTreeSet<String>) -> Vec<String> {
    let is_metamethod = |name: &&String| name.contains("__");
    let covered: BTreeSet<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    names.iter().filter(|name| !covered.contains(name.as_str()) && !is_metamethod(name)).cloned().collect()
}
