//! `docs/slow-loops.md` shows what `tlua` prints.
//!
//! Problem: a guide with outputs is true on the day it is written. Design: each program of the page is put
//! into a file, each command of it is run, and what it prints on standard error must stand below it, but for
//! numbers that each run has its own of: times, shares, counts and sizes. `UPDATE_EXPECT=1` writes the
//! outputs anew. Invariant: files, lines, functions and reasons are compared.
//!
//! Example: `$ tlua -jstats prices.lua`.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::path::{Path, PathBuf};
use std::process::Command;

const TLUA: &str = env!("CARGO_BIN_EXE_tlua");

/// A block of code: what its first line says after the quotes, and the lines in it.
struct Block {
    info: String,
    text: String,
}

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/slow-loops.md")
}

/// The page's text as prose and blocks in turn, beginning with prose.
fn parts(text: &str) -> (Vec<String>, Vec<Block>) {
    let (mut prose, mut blocks) = (vec![String::new()], Vec::<Block>::new());
    let mut is_code = false;
    for line in text.lines() {
        match line.strip_prefix("```") {
            Some(info) if !is_code => blocks.push(Block { info: info.into(), text: String::new() }),
            Some(_) => prose.push(String::new()),
            None if is_code => blocks.last_mut().expect("it has begun").text += &format!("{line}\n"),
            None => *prose.last_mut().expect("there is one") += &format!("{line}\n"),
        }
        is_code ^= line.starts_with("```");
    }
    (prose, blocks)
}

/// What a command prints on standard error.
fn told(command: &str, folder: &Path) -> String {
    let words = command.strip_prefix("$ tlua ").expect("it is a command").split(' ');
    let output = Command::new(TLUA).args(words).current_dir(folder).env_remove("TLUA_JIT").output();
    let output = output.expect("it starts");
    assert!(output.status.success(), "{command}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Lines without the numbers that are each run's own. Those of lines in programs follow a colon.
fn comparable(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().map(masked).collect();
    // Rows with nearly the same time may change places, and what is tried again is so more or less often.
    lines.sort();
    lines.dedup();
    lines
}

fn masked(line: &str) -> String {
    let mut out = String::new();
    let mut last = ' ';
    for c in line.trim_start().trim_start_matches("- ").trim_start().chars() {
        let is_number = c.is_ascii_digit() || (c == '.' && last == '#');
        let is_of_line = out.rsplit(|c: char| !c.is_ascii_digit()).nth(1).is_some() && out.contains(':') && {
            let digits = out.len() - out.trim_end_matches(|c: char| c.is_ascii_digit()).len();
            out[..out.len() - digits].ends_with(".lua:")
        };
        match (is_number, is_of_line, last) {
            (true, false, '#') => continue,
            (true, false, _) => out.push('#'),
            _ => out.push(c),
        }
        last = out.chars().last().unwrap_or(' ');
    }
    out.trim_start_matches("# %").trim_start().into()
}

#[test]
fn numbers_of_lines_are_compared_and_no_others() {
    assert_eq!(masked("   17.7 %  401861 iterations  loop a.lua:19 f"), "# iterations  loop a.lua:19 f");
    assert_eq!(masked("        -  2 calls  loop a.lua:9 f"), "# calls  loop a.lua:9 f");
    assert_ne!(masked("--- trace 0 loop a.lua:19 f"), masked("--- trace 1 loop a.lua:18 f"));
}

#[test]
fn the_page_shows_what_is_printed() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("slow_loops");
    std::fs::create_dir_all(&folder).expect("the test folder can be made");
    let text = std::fs::read_to_string(page()).expect("the page is there");
    let (prose, mut blocks) = parts(&text);
    let mut commands = 0;
    let mut wrong = Vec::new();
    for block in &mut blocks {
        if let Some(name) = block.info.strip_prefix("lua ") {
            std::fs::write(folder.join(name), &block.text).expect("the program can be written");
        } else if block.info == "console" {
            commands += 1;
            let (command, shown) = block.text.split_once('\n').expect("a command is a line");
            let printed = told(command, &folder);
            if comparable(shown) != comparable(&printed) {
                wrong.push(format!("{command}\nshown:\n{shown}\nprinted:\n{printed}"));
            }
            block.text = format!("{command}\n{printed}");
        }
    }
    assert!(commands >= 3, "{commands} commands");
    if std::env::var_os("UPDATE_EXPECT").is_some() && !wrong.is_empty() {
        let mut now = String::new();
        for (number, prose) in prose.iter().enumerate() {
            now += prose;
            if let Some(Block { info, text }) = blocks.get(number) {
                now += &format!("```{info}\n{text}```\n");
            }
        }
        std::fs::write(page(), now).expect("the page can be written");
        return;
    }
    assert!(wrong.is_empty(), "UPDATE_EXPECT=1 writes the page anew:\n{}", wrong.join("\n"));
}
