//! Comments that a reader can follow without scrolling, and names in them that exist.
//!
//! Problem: no formatter breaks comments, and lines grow with each change. Design: lines of comments in Rust,
//! all lines in C, and those of Markdown that are neither code nor rows of tables are measured in characters;
//! the message names each that is too wide. Invariant: all sources that git knows are looked at, and there
//! are many.
//!
//! `docs/pitfalls.md` names tests, traces and programs: each must be there.
//!
//! Example: `runtime/src/gate.rs:12: 113 characters`.

use std::collections::HashSet;
use std::path::Path;
use std::process::Command;

/// Characters that a line may have.
const WIDEST: usize = 110;

/// The project's sources with such endings, as paths below its root.
fn sources(endings: &[&str]) -> Vec<String> {
    let root = env!("CARGO_MANIFEST_DIR");
    let listed = Command::new("git").args(["-C", root, "ls-files"]).args(endings).output();
    let listed = listed.expect("git is there, as the sources came by it");
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    String::from_utf8(listed.stdout).expect("names are text").lines().map(str::to_string).collect()
}

#[test]
fn prose_is_not_wider_than_the_code() {
    let files = sources(&["*.rs", "*.c", "*.h", "*.md"]);
    assert!(files.len() > 200, "{} files", files.len());
    let mut wide = Vec::new();
    for file in &files {
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file));
        let text = text.unwrap_or_else(|error| panic!("{file}: {error}"));
        let (is_rust, is_page) = (file.ends_with(".rs"), file.ends_with(".md"));
        let mut is_code = false;
        for (number, line) in text.lines().enumerate() {
            is_code ^= is_page && line.trim_start().starts_with("```");
            let counts = if is_rust {
                line.trim_start().starts_with("//")
            } else {
                !(is_code || is_page && line.starts_with('|'))
            };
            let width = line.chars().count();
            if counts && width > WIDEST {
                wide.push(format!("{file}:{}: {width} characters", number + 1));
            }
        }
    }
    assert!(wide.is_empty(), "{}", wide.join("\n"));
}

/// What a line of a source defines under a name that the page of pitfalls may mention.
fn defined(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let rest = ["fn ", "pub fn ", "trace "].iter().find_map(|start| line.strip_prefix(start))?;
    rest.split(|c: char| !(c.is_alphanumeric() || c == '_')).next()
}

#[test]
fn the_page_of_pitfalls_names_what_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |file: &str| std::fs::read_to_string(root.join(file)).expect("git lists files that are there");
    let mut names: HashSet<String> = HashSet::new();
    for file in sources(&["*.rs", "*.trace", "*.lua"]) {
        names.extend(
            file.strip_prefix("tests/lua/").and_then(|name| name.strip_suffix(".lua")).map(str::to_string),
        );
        if !file.ends_with(".lua") {
            names.extend(read(&file).lines().filter_map(defined).map(str::to_string));
        }
    }
    let page = read("docs/pitfalls.md");
    let quoted = page.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
    let is_name =
        |quoted: &&str| quoted.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    let others = ["origin", "x"];
    let missing: Vec<&str> =
        quoted.filter(is_name).filter(|name| !others.contains(name) && !names.contains(*name)).collect();
    assert!(missing.is_empty(), "docs/pitfalls.md names what is not there: {missing:?}");
    let rows: Vec<usize> =
        page.lines().filter_map(|line| line.strip_prefix("| ")?.split(' ').next()?.parse().ok()).collect();
    assert_eq!(rows, (1..=40).collect::<Vec<_>>());
}
