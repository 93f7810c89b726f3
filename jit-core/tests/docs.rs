//! The op table in `docs/trace-language.md`, which is generated, and the page's examples, which must parse.
//!
//! Problem: a list of ops that is kept by hand is wrong soon. Design: the part between two markers is made
//! from `Op::ALL`; the test compares it and, with `UPDATE_EXPECT=1`, rewrites it. Invariant: the page lists
//! every op as the table has it. Example row: ``| `int_add(Int, Int) ->
//! Int` | PURE COMMUTES | Wrapping addition. |``.

use std::path::PathBuf;

use tracelift_core::ops::{ArgType, Arity, OpInfo, PayloadKind, ResultType};
use tracelift_core::text::parse_file;
use tracelift_core::{testbed, Op};

const BEGIN: &str = "<!-- ops: ";
const END: &str = "<!-- ops end -->";

fn page() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/trace-language.md")
}

fn signature(info: &OpInfo) -> String {
    let mut args: Vec<String> = match info.args {
        Arity::Variadic => vec!["…".to_string()],
        Arity::Fixed(kinds) => kinds
            .iter()
            .map(|kind| match kind {
                ArgType::Is(ty) => ty.to_string(),
                ArgType::Pointer => "ref or addr".to_string(),
                other => format!("{other:?}"),
            })
            .collect(),
    };
    match info.payload {
        PayloadKind::None => {}
        PayloadKind::Cell => args.insert(1, "CELL".into()),
        PayloadKind::Field => args.insert(1, "FIELD".into()),
        PayloadKind::Func => args.insert(0, "FUNCTION".into()),
        PayloadKind::Label => args.insert(0, "LABEL".into()),
        PayloadKind::Target => args = ["int", "LABEL", "…"].map(String::from).to_vec(),
        PayloadKind::New => args.insert(0, "LAYOUT, ITEMS, KEYS".into()),
        PayloadKind::Layout => args.push("LAYOUT".into()),
        PayloadKind::Item | PayloadKind::Key => args.push("LAYOUT:TAG".into()),
        PayloadKind::Scale => args.push("STRIDE, DISPLACEMENT".into()),
        PayloadKind::Unit => args.insert(0, "UNIT, BASE".into()),
        PayloadKind::Result => args.push("SLOT:TAG".into()),
        PayloadKind::Tag => args.push("TAG".into()),
    }
    let result = match info.result {
        ResultType::Nothing => String::new(),
        ResultType::Is(ty) => format!(" -> {ty}"),
        other => format!(" -> {other:?}"),
    };
    if info.name == "label" {
        return "LABEL(…):".to_string();
    }
    format!("{}({}){result}", info.name, args.join(", "))
}

fn table() -> String {
    let row = |op: &Op| {
        let info = op.info();
        format!("| `{}` | {} | {} |\n", signature(info), info.flags.names().join(", "), info.doc.trim())
    };
    format!(
        "\n| op | properties | meaning |\n|---|---|---|\n{}\n",
        Op::ALL.iter().map(row).collect::<String>()
    )
}

#[test]
fn the_op_table_is_up_to_date() {
    let text = std::fs::read_to_string(page()).expect("the page can be read");
    let begin = text.find(BEGIN).expect("the page has the marker of the table");
    let begin = begin + text[begin..].find('\n').expect("the marker is a line") + 1;
    let end = text.find(END).expect("the page has the table's end");
    if text[begin..end] == table() {
        return;
    }
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    assert!(
        update,
        "docs/trace-language.md: the op table is out of date; run this test with UPDATE_EXPECT=1"
    );
    let new = format!("{}{}{}", &text[..begin], table(), &text[end..]);
    std::fs::write(page(), new).expect("the page can be written");
}

#[test]
fn the_examples_parse() {
    let text = std::fs::read_to_string(page()).expect("the page can be read");
    let examples: Vec<&str> = text
        .split("```text\n")
        .skip(1)
        .map(|rest| rest.split("```").next().expect("split gives at least one piece"))
        .collect();
    assert!(examples.len() >= 6);
    let helpers = "func h_new(addr, int, int, int) -> ref allocates\nfunc h_find(addr, int, ref, ref) -> addr reads all\n\
                   func h_insert(addr, int, ref, ref) -> addr writes all\n";
    let layouts = "layout Key {}\nlayout Pair { left: ref, number: int }\n\
                   layout Table { meta: ref, items: tagged from 1, keys: tagged find h_find }\n";
    let objects = "object k = Key {}\n";
    let body = "L0(p0, i0, i1, i2, f4):\n";
    for example in examples {
        let is_snapshot = example.starts_with('@');
        let declares = |what: &str| example.contains(what);
        let mut file = String::new();
        if !declares("func h_new") {
            file += helpers;
        }
        if !declares("layout") {
            file += layouts;
        }
        if is_snapshot {
            file += &format!("{objects}{body}");
        }
        file += example;
        if let Err(error) = parse_file(&file, &testbed::natives) {
            panic!("{error} in\n{file}");
        }
    }
}
