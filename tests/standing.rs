//! The frozen programs are what they were.
//!
//! Problem: programs that judge the JIT are worth nothing once somebody has fitted them to it. Design:
//! `FROZEN` in `benches/standing` and `benches/micro` lists every file with its SHA-256; here the lists are
//! compared with the folders. To freeze new programs, write `list NAME` at the end and below it the lines
//! that this test prints.
//!
//! Invariant: a program never changes, and never leaves its list. Example: a space at the end of `lexer.lua`
//! is seen.

use std::path::{Path, PathBuf};

use tracelift_benches::frozen::{differences, entries};
use tracelift_benches::rows::folder;
use tracelift_benches::scripts::Set;

fn is_as_frozen(set: Set) {
    let found = differences(&folder(set.name())).expect("the list can be read");
    assert!(found.is_empty(), "benches/{}:\n{}", set.name(), found.join("\n"));
}

#[test]
fn the_standing_set_is_as_frozen() {
    is_as_frozen(Set::Standing);
}

#[test]
fn the_micro_programs_are_as_frozen() {
    is_as_frozen(Set::Micro);
}

/// The report knows the list of every program.
#[test]
fn every_program_has_a_list() {
    for set in [Set::Standing, Set::Micro] {
        let programs = set.programs().expect("the folder is there");
        assert!(programs.iter().all(|program| !program.list.is_empty()), "{programs:?}");
        let listed = entries(&folder(set.name())).expect("the list can be read");
        let programs_listed = listed.iter().filter(|entry| !entry.file.contains('/')).count();
        assert_eq!(programs_listed, programs.len());
    }
}

/// A folder with two programs and a form for LuaJIT, frozen.
fn frozen_folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(folder.join("lua51")).expect("the folder is ours");
    for file in ["a.lua", "b.lua", "lua51/a.lua"] {
        std::fs::write(folder.join(file), format!("print('{file}')\n")).expect("the folder is ours");
    }
    std::fs::write(folder.join("FROZEN"), "list first\n").expect("the folder is ours");
    // What the complaints offer is what freezes the files.
    let lines: Vec<String> = differences(&folder)
        .expect("the list can be read")
        .iter()
        .map(|difference| difference.lines().last().expect("the line to paste").to_string())
        .collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    std::fs::write(folder.join("FROZEN"), format!("list first\n{}\n", lines.join("\n"))).expect("ours");
    assert_eq!(differences(&folder).expect("the list can be read"), Vec::<String>::new());
    folder
}

#[test]
fn a_changed_program_is_seen() {
    let folder = frozen_folder("frozen-changed");
    std::fs::write(folder.join("a.lua"), "print('a.lua') \n").expect("the folder is ours");
    assert_eq!(differences(&folder).expect("readable"), ["a.lua has changed since it was frozen"]);
}

#[test]
fn a_lost_program_and_its_lost_form_are_seen() {
    let folder = frozen_folder("frozen-lost");
    std::fs::remove_file(folder.join("a.lua")).expect("the folder is ours");
    let found = differences(&folder).expect("readable");
    assert_eq!(found, ["a.lua is missing", "lua51/a.lua is a form of no program"]);
}

#[test]
fn a_new_program_is_seen() {
    let folder = frozen_folder("frozen-new");
    std::fs::write(folder.join("lua51/b.lua"), "").expect("the folder is ours");
    let found = differences(&folder).expect("readable");
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(
        found,
        [format!("lua51/b.lua is in no list; to freeze it, add the line\n{empty}  lua51/b.lua")]
    );
}

#[test]
fn a_program_is_listed_once() {
    let folder = frozen_folder("frozen-twice");
    let text = std::fs::read_to_string(folder.join("FROZEN")).expect("it is there");
    let line = text.lines().nth(1).expect("a program").to_string();
    std::fs::write(folder.join("FROZEN"), format!("{text}list later\n{line}\n")).expect("ours");
    assert_eq!(differences(&folder).expect("readable"), ["a.lua is listed twice"]);
}
