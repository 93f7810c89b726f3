//! The numbers of the operations are part of the C ABI: hosts are compiled against them.
//!
//! Problem: a row that is moved, removed or put between others would give hosts other operations than they
//! ask for. Design: `op_numbers.txt` is the frozen list, one `number name` a line, and the table must agree
//! with it. Invariant: a line of the list never changes; `UPDATE_EXPECT=1` adds the lines of new operations,
//! and nothing else. An op that is removed keeps its line, marked by `(removed)`, so that nobody takes its
//! number.
//!
//! Example: `0 int_add`.

use std::collections::BTreeMap;
use std::path::Path;

use tracelift_core::Op;

const REMOVED: &str = " (removed)";

fn list() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/op_numbers.txt")
}

/// The lines of a list: number and the rest.
fn read(text: &str) -> BTreeMap<u32, &str> {
    let mut lines = BTreeMap::new();
    for line in text.lines() {
        let (number, name) = line.split_once(' ').expect("a line is a number and a name");
        let number = number.parse().expect("a line begins with a number");
        assert!(lines.insert(number, name).is_none(), "number {number} stands twice in the list");
    }
    lines
}

#[test]
fn the_numbers_are_those_of_the_frozen_list() {
    let mut text = std::fs::read_to_string(list()).expect("the list is there");
    let frozen: BTreeMap<u32, String> =
        read(&text).into_iter().map(|(number, name)| (number, name.to_string())).collect();
    let table: BTreeMap<u32, &str> = Op::ALL.iter().map(|op| (op.number(), op.info().name)).collect();
    assert_eq!(table.len(), Op::ALL.len(), "two operations have one number");
    for (number, name) in &frozen {
        let expected = Some(name.as_str()).filter(|name| !name.ends_with(REMOVED));
        assert_eq!(table.get(number).copied(), expected, "number {number} was given to {name}");
    }
    let next = frozen.keys().last().map_or(0, |last| last + 1);
    let new: Vec<_> = table.iter().filter(|(number, _)| !frozen.contains_key(number)).collect();
    for (position, (&number, name)) in new.iter().enumerate() {
        assert_eq!(number, next + position as u32, "{name} is new and takes the next number");
        text += &format!("{number} {name}\n");
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(list(), &text).expect("the list can be written");
    } else {
        assert!(new.is_empty(), "not in the list yet: {new:?}; run the test with UPDATE_EXPECT=1");
    }
}

#[test]
fn an_op_is_found_by_its_number() {
    for &op in Op::ALL {
        assert_eq!(Op::from_number(op.number()), Some(op));
        assert_eq!(Op::from_name(op.info().name), Some(op), "the row is its own");
    }
    assert_eq!(Op::from_number(Op::COUNT as u32), None);
}
