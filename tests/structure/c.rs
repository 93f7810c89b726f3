//! What C files stand on, and how large their parts are: by the layout that all of them have. A definition
//! begins in the first column, and its closing brace stands alone there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::{files, Found, Sized};

/// The text without comments, strings and characters; lines stay where they are.
fn bare(text: &str) -> String {
    let mut bare = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |at| at + 2),
            '"' | '\'' => literal(rest, first),
            _ => {
                bare.push(first);
                rest = &rest[first.len_utf8()..];
                continue;
            }
        };
        bare.extend(rest[..end].chars().filter(|&c| c == '\n'));
        rest = &rest[end..];
    }
    bare
}

/// Where a literal ends that begins here.
fn literal(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The words of a file's code, without those of comments and strings.
pub fn words_of(file: &Path) -> BTreeSet<String> {
    let text = std::fs::read_to_string(file).expect("it can be read");
    words(&bare(&text)).map(str::to_string).collect()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// The comment that ends in the line before.
fn comment_before(lines: &[&str], line: usize) -> String {
    let begin = (0..line).rev().take_while(|&at| !lines[at].trim().is_empty()).last().unwrap_or(line);
    lines[begin..line].join(" ")
}

/// Reads a folder's files, whose places are told with the name `shown`. A header belongs to whoever includes
/// it, so that only its structs are looked at.
pub fn read(folder: &Path, shown: &str) -> Found {
    let mut found = Found::default();
    let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut owner: BTreeMap<String, String> = BTreeMap::new();
    for file in [files(folder, "c"), files(folder, "h")].concat() {
        let text = std::fs::read_to_string(&file).expect("it can be read");
        let name = file.file_name().expect("it has one").to_string_lossy().into_owned();
        let (bare, is_source) = (bare(&text), name.ends_with(".c"));
        let (lines, original): (Vec<&str>, Vec<&str>) = (bare.lines().collect(), text.lines().collect());
        let mut begun: Option<(usize, String)> = None;
        for (at, line) in lines.iter().enumerate() {
            if line.starts_with("typedef struct") || line.starts_with("struct") && line.ends_with('{') {
                begun = Some((at, line.trim_end_matches(" {").to_string()));
            } else if line.ends_with('{') && line.contains('(') && line.starts_with(char::is_alphabetic) {
                let function = words(line.split('(').next().unwrap_or_default()).last().unwrap_or_default();
                if is_source && !line.starts_with("static") {
                    owner.insert(function.to_string(), name.clone());
                }
                begun = Some((at, function.to_string()));
            } else if line.starts_with('}') {
                let Some((from, what)) = begun.take() else { continue };
                let place = format!("{shown}/{name}:{}: {what}", from + 1);
                let comment = comment_before(&original, from);
                if what.starts_with("typedef struct") || what.starts_with("struct") {
                    let size = lines[from..at].iter().map(|line| members(line)).sum();
                    found.structs.push(Sized { place, size, comment });
                } else {
                    found.functions.push(Sized { place, size: at - from + 1, comment });
                }
            }
        }
        if is_source {
            uses.insert(name, words(&bare).map(str::to_string).collect());
        }
    }
    for (file, words) in uses {
        let others: BTreeSet<String> = words.iter().filter_map(|word| owner.get(word).cloned()).collect();
        found.edges.insert(file.clone(), others.into_iter().filter(|other| *other != file).collect());
    }
    found
}

/// Members that a line of a struct declares.
fn members(line: &str) -> usize {
    match line.contains(';') {
        true => 1 + line.split('(').next().unwrap_or_default().matches(',').count(),
        false => 0,
    }
}
