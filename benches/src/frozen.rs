//! Programs that may not change: a folder's file `FROZEN` lists them with their hashes.
//!
//! Problem: a set of programs judges the JIT only as long as nobody fits the programs to the JIT. Design:
//! `FROZEN` has lists, each with a name; a list is a line `list NAME` and then lines as `sha256sum` writes
//! them, a hash and a file's path in the folder. Later programs form another list, and the report keeps lists
//! apart, so that old figures stay comparable. Lines that begin with `#` are remarks. Invariant: every file
//! of the folder is in exactly one list, and is what it was; a form for LuaJIT (in `lua51/`) stands beside a
//! program of the same name.
//!
//! Example: `list first`, then `9f86d081…0a08  lexer.lua`.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{bail, Context};
use sha2::{Digest, Sha256};

/// The file's name.
pub const FROZEN: &str = "FROZEN";

/// The folder of the forms for LuaJIT, inside the folder of programs.
pub const LUA51: &str = "lua51";

/// A line of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The list that it stands in.
    pub list: String,
    /// SHA-256 of the file, in hexadecimal digits.
    pub hash: String,
    /// The file's path in the folder.
    pub file: String,
}

/// The lists of a folder, in their order.
pub fn entries(folder: &Path) -> anyhow::Result<Vec<Entry>> {
    let path = folder.join(FROZEN);
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    parse(&text).with_context(|| path.display().to_string())
}

fn parse(text: &str) -> anyhow::Result<Vec<Entry>> {
    let mut found: Vec<Entry> = Vec::new();
    let mut list = None;
    for (index, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace();
        match (words.next(), words.next(), words.next()) {
            (None, ..) => {}
            (Some(word), ..) if word.starts_with('#') => {}
            (Some("list"), Some(name), None) => list = Some(name.to_string()),
            (Some(hash), Some(file), None) if hash.len() == 64 => {
                let list = list.clone().with_context(|| format!("line {}: no list has begun", index + 1))?;
                found.push(Entry { list, hash: hash.into(), file: file.into() });
            }
            _ => bail!("line {}: neither a list nor a hash and a file", index + 1),
        }
    }
    Ok(found)
}

/// What is not as the lists say, a line each; nothing if all is well.
pub fn differences(folder: &Path) -> anyhow::Result<Vec<String>> {
    let mut found = Vec::new();
    let mut listed: BTreeMap<String, String> = BTreeMap::new();
    for entry in entries(folder)? {
        if listed.insert(entry.file.clone(), entry.hash).is_some() {
            found.push(format!("{} is listed twice", entry.file));
        }
    }
    let mut present = hashes(folder)?;
    for (file, hash) in &listed {
        match present.remove(file) {
            None => found.push(format!("{file} is missing")),
            Some(now) if now != *hash => found.push(format!("{file} has changed since it was frozen")),
            Some(_) => {}
        }
    }
    for (file, hash) in &present {
        found.push(format!("{file} is in no list; to freeze it, add the line\n{hash}  {file}"));
    }
    for file in listed.keys().chain(present.keys()) {
        if let Some(program) = file.strip_prefix(LUA51).and_then(|rest| rest.strip_prefix('/')) {
            if !folder.join(program).is_file() {
                found.push(format!("{file} is a form of no program"));
            }
        }
    }
    Ok(found)
}

/// The hashes of all files of the folder and of its forms for LuaJIT.
fn hashes(folder: &Path) -> anyhow::Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    for prefix in ["", LUA51] {
        let inside = folder.join(prefix);
        if !inside.is_dir() {
            continue;
        }
        for entry in std::fs::read_dir(&inside).with_context(|| inside.display().to_string())? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() && prefix.is_empty() && name == LUA51 || prefix.is_empty() && name == FROZEN {
                continue;
            }
            let bytes = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
            let file = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
            found.insert(file, hex(&Sha256::digest(&bytes)));
        }
    }
    Ok(found)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read() {
        let hash = hex(&Sha256::digest(b"abc"));
        assert_eq!(hash, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        let found = parse(&format!("# why\nlist first\n{hash}  a.lua\n\nlist later\n{hash}  lua51/a.lua\n"))
            .expect("it is well formed");
        let found: Vec<(&str, &str)> =
            found.iter().map(|entry| (entry.list.as_str(), entry.file.as_str())).collect();
        assert_eq!(found, [("first", "a.lua"), ("later", "lua51/a.lua")]);
    }

    #[test]
    fn what_is_no_list_is_refused() {
        let hash = "0".repeat(64);
        for text in [format!("{hash}  a.lua"), "list first\nabc  a.lua".into(), "list\n".into()] {
            assert!(parse(&text).is_err(), "{text:?} is accepted");
        }
    }
}
