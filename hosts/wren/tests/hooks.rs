//! What is inserted into Wren's sources is counted, so that nobody adds to it unnoticed.

#[path = "../build/insertions.rs"]
mod insertions;

#[test]
fn insertions_are_counted() {
    assert_eq!(insertions::INSERTIONS.len(), 22);
    assert_eq!(tracelift_wren::INSERTIONS, "22");
    assert_eq!(tracelift_wren::INSERTED_LINES, "57");
    for insertion in insertions::INSERTIONS {
        assert!(!insertion.why.is_empty() && !insertion.anchor.is_empty(), "{insertion:?}");
        assert!(insertion.file.ends_with(".c") || insertion.file.ends_with(".h"), "{insertion:?}");
        assert!(insertion.text.ends_with('\n'), "{:?} {:?}", insertion.place, insertion.text);
    }
}

/// Each reason for which a recording is given up is one that a program meets, or that stands here.
#[test]
fn reasons_are_short_and_plain() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("c");
    let mut reasons = 0;
    for entry in std::fs::read_dir(folder).expect("there is the folder") {
        let text = std::fs::read_to_string(entry.expect("it can be listed").path()).expect("it is text");
        for part in text.split("wl_give_up(").skip(1) {
            let Some(reason) = part.split('"').nth(1).filter(|_| part.find('"') < part.find(';')) else {
                continue;
            };
            assert!(!reason.is_empty() && reason.len() < 60, "{reason}");
            reasons += 1;
        }
    }
    assert!(reasons > 20, "{reasons}");
}
