//! Every check of the verifier, seen failing.
//!
//! Problem: a check that never objects is worth nothing. Design: a valid base trace, and for each rule one
//! change that breaks it; faults that the text form can say are planted as text, the others (ids out of
//! range, labels that disagree) in the data. Invariant: the base verifies, and each fault is found with its
//! kind; no trace at all makes the verifier panic. Example: dropping an argument of the jump must be an
//! [`ErrorKind::Arity`].

use tracelift_core::ir::*;
use tracelift_core::ops::PayloadKind;
use tracelift_core::schema::*;
use tracelift_core::snapshot::*;
use tracelift_core::text::{parse_file, TraceFile};
use tracelift_core::verify::{reads_unset_fields, verify, ErrorKind, Mode, VerifyError};
use tracelift_core::{Op, Type};

const DECLARATIONS: &str = "
words 1
func two(int, float) -> int pure
func change(int) writes all
func maybe(ref) -> ref pure
func find(addr, int, ref, ref) -> addr reads all
layout Box { x: int }
layout Key {}
layout Table { link: ref, items: tagged from 1, keys: tagged find \"find\" }
layout Floats { items: float }
object k = Key {}
";

const BASE: &str = "
entry [0: int, 1: float, 2: ref]
entry_tags [3: nil]
L0(i0, f1, p2):
@0 = frame(words 7)[0: int i0, 1: nil]
guard_true(i0) @0
i3 = int_add(i0, 1)
set_item(p2, i3, f1, Table:float) @0
@1 = frame(words 7)[0: int i3]
guard_class(p2, Table) @1
jump(L1, i3, p2)
L1(i4, p5):
i6 = int_add_ovf(i4, 1)
jump(L1, i6, p5)
";

/// The last line of the base's first part, before which tests put lines of their own.
const LAST: &str = "jump(L1, i3, p2)\n";

fn file(body: &str) -> TraceFile {
    let text = format!("{DECLARATIONS}{body}").replace("func find", "func \"find\"");
    parse_file(&text, &|_| None).unwrap_or_else(|error| panic!("{error}\n{body}"))
}

/// The kinds of errors of a trace written as text.
fn kinds(body: &str, mode: Mode) -> Vec<ErrorKind> {
    let file = file(body);
    verify(&file.traces[0], &file.schema, mode).into_iter().map(|error| error.kind).collect()
}

/// The base with one line replaced.
fn with(line: &str, by: &str) -> Vec<ErrorKind> {
    assert!(BASE.contains(line), "the base has no line {line}");
    kinds(&BASE.replace(line, by), Mode::Recorded)
}

/// The base with its data changed.
fn after(change: impl FnOnce(&mut Trace)) -> Vec<ErrorKind> {
    let mut file = file(BASE);
    change(&mut file.traces[0]);
    verify(&file.traces[0], &file.schema, Mode::Recorded).into_iter().map(|error| error.kind).collect()
}

/// One snapshot with virtual objects, at a guard of an optimized trace.
fn snapshot(parts: &str) -> Vec<ErrorKind> {
    let body = format!("L0(i0, f1, p2):\n@0 = {parts}\nguard_true(i0) @0\nfinish(i0)\n");
    kinds(&body, Mode::Optimized)
}

#[test]
fn the_base_is_valid() {
    assert_eq!(kinds(BASE, Mode::Recorded), []);
    assert_eq!(kinds(BASE, Mode::Optimized), []);
}

#[test]
fn structure() {
    assert_eq!(with(LAST, ""), [ErrorKind::Structure], "control falls into L1");
    assert_eq!(with(LAST, &LAST.repeat(2)), [ErrorKind::Structure], "after the end");
    assert_eq!(with("jump(L1, i6, p5)\n", ""), [ErrorKind::Structure], "no end");
    assert_eq!(after(|trace| trace.insts[0].payload = Payload::Label(LabelId(1)))[0], ErrorKind::Structure);
    assert!(after(|trace| trace.insts.clear()).contains(&ErrorKind::Structure), "nothing at all");
    let twice = |trace: &mut Trace| trace.labels.push(trace.labels[0].clone());
    assert_eq!(after(twice), [ErrorKind::Structure], "a label without a place");
    let disagree = |trace: &mut Trace| trace.labels[1].args.swap(0, 1);
    assert!(after(disagree).contains(&ErrorKind::Structure), "label and instruction disagree");
}

#[test]
fn definitions_and_uses() {
    let add = "i3 = int_add(i0, 1)\n";
    assert_eq!(with(add, "i3 = int_add(i0, 1)\ni3 = int_add(i0, 1)\n"), [ErrorKind::Definition]);
    assert_eq!(with(add, "i9 = int_add(i0, i3)\ni3 = int_add(i0, 1)\n"), [ErrorKind::Use], "too early");
    assert_eq!(with("int_add_ovf(i4, 1)", "int_add_ovf(i4, i0)"), [ErrorKind::Use], "not passed to L1");
    assert_eq!(with("int_add_ovf(i4, 1)", "int_add_ovf(i4, i3)"), [ErrorKind::Use], "not passed to L1");
    assert_eq!(
        after(|trace| trace.insts[6].args[1] = trace.insts[6].args[0])[1],
        ErrorKind::Definition,
        "an argument twice"
    );
    let constant = |trace: &mut Trace| trace.insts[2].result = Some(trace.const_int(1));
    assert!(after(constant).contains(&ErrorKind::Definition), "a constant is defined");
    assert!(after(|trace| trace.insts[2].result = Some(Value(999))).contains(&ErrorKind::Definition));
    assert!(after(|trace| trace.insts[2].args[0] = Value(999)).contains(&ErrorKind::Use));
}

#[test]
fn arity_and_types() {
    let plus = |text: &str| with(LAST, &format!("{text}\n{LAST}"));
    assert_eq!(plus("i9 = int_add(i0)"), [ErrorKind::Arity]);
    assert_eq!(plus("i9 = int_add(i0, f1)"), [ErrorKind::Type], "a fixed type");
    assert_eq!(plus("i9 = select(i0, i0, f1)"), [ErrorKind::Type], "Same");
    assert_eq!(plus("f9 = select(i0, i0, i0)"), [ErrorKind::Type], "Same as the result");
    assert_eq!(plus("guard_nonnull(i0)"), [ErrorKind::Type], "Pointer");
    assert_eq!(plus("set(p2, x, f1)"), [ErrorKind::Type], "Declared by a field");
    assert_eq!(plus("i9 = call(two, i0)"), [ErrorKind::Arity], "parameters");
    assert_eq!(plus("i9 = call(two, f1, f1)"), [ErrorKind::Type], "parameters");
    assert_eq!(plus("i9: float = int_add(i0, 1)"), [ErrorKind::Type], "the result");
    assert_eq!(plus("i9 = guard_true(i0)"), [ErrorKind::Type], "a result of nothing");
    assert_eq!(plus("int_add(i0, 1)"), [ErrorKind::Type], "an ignored result");
    assert_eq!(plus("call(two, i0, f1)"), [], "the result of a call may be ignored");
    assert_eq!(plus("i9 = call(change, i0)"), [ErrorKind::Type], "a function without a result");
    assert_eq!(plus("try_call(two, i0, f1)"), [ErrorKind::Type], "failure is a null pointer");
    assert_eq!(plus("p9 = try_call(maybe, p2)"), []);
    assert_eq!(with("jump(L1, i6, p5)", "jump(L1, i6)"), [ErrorKind::Arity]);
    assert_eq!(with("jump(L1, i6, p5)", "jump(L1, p5, i6)"), [ErrorKind::Type, ErrorKind::Type]);
    assert_eq!(plus("put_item(p2, i0, Table:nil) @0"), [ErrorKind::Effect], "nil takes no value");
    assert_eq!(plus("put_item(p2, i0, i0, Table:nil) @0"), [ErrorKind::Arity, ErrorKind::Effect]);
}

#[test]
fn constants() {
    let plus = |text: &str| with(LAST, &format!("{text}\n{LAST}"));
    assert_eq!(plus("guard_value(i0, 1)"), []);
    assert_eq!(plus("guard_value(i0, i3)"), [ErrorKind::Constant]);
    assert_eq!(plus("i9 = get_key(p2, @k, Table:int)"), []);
    assert_eq!(plus("i9 = get_key(p2, p2, Table:int)"), [ErrorKind::Constant]);
}

#[test]
fn payloads() {
    let plus = |text: &str| with(LAST, &format!("{text}\n{LAST}"));
    assert_eq!(plus("i9 = get_item(p2, i0, Table)"), [ErrorKind::Payload], "a tag is needed");
    assert_eq!(plus("f9 = get_item(p2, i0, Floats:float)"), [ErrorKind::Payload], "there are no tags");
    assert_eq!(plus("i9 = get_item(p2, i0, Box:int)"), [ErrorKind::Payload], "there are no items");
    assert_eq!(plus("i9 = item_count(p2, Box)"), [ErrorKind::Payload]);
    assert_eq!(plus("i9 = get_key(p2, @k, Floats)"), [ErrorKind::Payload], "there are no entries");
    assert_eq!(plus("guard_key_absent(p2, @k, Floats)"), [ErrorKind::Payload]);
    assert_eq!(plus("p9 = new(Box, 3)"), [ErrorKind::Payload], "room for nothing");
    let no_class = "layout Raw { size 8 }\nL0(p0):\nguard_class(p0, Raw)\njump(L0, p0)\n";
    assert_eq!(kinds(no_class, Mode::Recorded), [ErrorKind::Payload]);
    let far = 1000;
    for payload in [
        Payload::None,
        Payload::Cell(CellId(far)),
        Payload::Field(FieldId(far)),
        Payload::Layout(LayoutId(far)),
        Payload::New { layout: LayoutId(far), items: 0, keys: 0 },
        Payload::Item { layout: LayoutId(far), tag: None },
        Payload::Item { layout: LayoutId(2), tag: Some(TagId(far)) },
        Payload::Key { layout: LayoutId(far), tag: None, hint: None },
        Payload::Key { layout: LayoutId(2), tag: Some(TagId(far)), hint: None },
        Payload::Func(FuncId(far)),
        Payload::Label(LabelId(far)),
    ] {
        let without = |op: &&Op| payload == Payload::None && op.info().payload == PayloadKind::None;
        for op in Op::ALL.iter().filter(|op| !without(op)) {
            let change = |trace: &mut Trace| {
                trace.insts[2].op = *op;
                trace.insts[2].payload = payload;
            };
            assert!(!after(change).is_empty(), "{op:?} with {payload:?}");
        }
    }
}

#[test]
fn recorded_snapshots() {
    let plus = |text: &str| with(LAST, &format!("{text}\n{LAST}"));
    let effect = "set_item(p2, i3, f1, Table:float) @0\n";
    assert_eq!(with(effect, &format!("{effect}guard_true(i0) @0\n")), [ErrorKind::Effect]);
    assert_eq!(with(effect, &format!("call(change, i0)\n{effect}")), [ErrorKind::Effect]);
    assert_eq!(
        plus("@2 = frame(words 1)[0: ref v0] virtual v0 Box{x: i0}\nguard_true(i0) @2"),
        [ErrorKind::Snapshot]
    );
    assert_eq!(plus("i9 = int_add(i0, 1) @1"), [ErrorKind::Snapshot], "no guard");
    assert_eq!(
        plus("@2 = frame(words 1)[0: int i9]\nguard_true(i0) @2\ni9 = int_neg(i0)"),
        [ErrorKind::Snapshot]
    );
    assert_eq!(
        with("i6 = int_add_ovf(i4, 1)", "i6 = int_add_ovf(i4, 1) @1"),
        [ErrorKind::Snapshot],
        "i3 is not passed"
    );
    assert_eq!(after(|trace| trace.insts[1].snap = Some(SnapId(77))), [ErrorKind::Snapshot]);
    assert_eq!(after(|trace| trace.snapshots[0].position = 9), [ErrorKind::Snapshot, ErrorKind::Snapshot]);
    let on_label = |trace: &mut Trace| trace.insts[0].snap = Some(SnapId(0));
    assert_eq!(after(on_label), [ErrorKind::Snapshot]);
}

#[test]
fn back_edges_grow() {
    // All that there are have passed two; further ones are numbered from the last of them on.
    let of = |edges: &[(u32, u32)]| {
        after(|trace| {
            trace.snapshots.iter_mut().for_each(|snapshot| snapshot.edges = 2);
            let last = trace.snapshots.len() as u32 - 1;
            let further = |&(number, edges): &(u32, u32)| Snapshot {
                origin: last + number,
                edges,
                ..Snapshot::default()
            };
            trace.snapshots.extend(edges.iter().map(further));
        })
    };
    assert_eq!(of(&[(0, 2), (2, 5), (1, 2), (2, 5)]), [], "in any order");
    assert_eq!(of(&[(1, 1)]), [ErrorKind::Snapshot], "fewer than before");
    assert_eq!(of(&[(0, 3)]), [ErrorKind::Snapshot], "copies of one");
}

#[test]
fn resume_data() {
    let good = "frame(words 1)[0: ref v0, 1: int i0] virtual v0 Table{link: v1, items 2 [0: int i0], keys 1 {@k: nil}} \
                virtual v1 Box{x: i0} pending store(p2, link, v0) pending store(p2, link, p2)";
    assert_eq!(snapshot(good), []);
    for bad in [
        "frame[0: int i0]",
        "frame(words 1)[0: int f1]",
        "frame(words 1)[0: int]",
        "frame(words 1)[0: nil i0]",
        "frame(words 1)[0: ref v0]",
        "frame(words 1)[0: int v0] virtual v0 Box{x: i0}",
        "virtual v0 Box{x: f1}",
        "virtual v0 Box{x: v3}",
        "virtual v0 Key{Box.x: i0}",
        "virtual v0 Table{items 2 [2: int i0]}",
        "virtual v0 Table{items 2 [0: float i0]}",
        "virtual v0 Table{items 2 [0 = i0]}",
        "virtual v0 Floats{items 2 [0: float f1]}",
        "virtual v0 Floats{items 2 [0 = i0]}",
        "virtual v0 Box{items 2 []}",
        "virtual v0 Box{keys 2 {}}",
        "virtual v0 Table{keys 0 {@k: int i0}}",
        "virtual v0 Table{keys 1 {p2: int i0}}",
        "virtual v0 Table{keys 1 {1: int i0}}",
        "virtual v0 Table{keys 1 {@k: int f1}}",
        "pending store(i0, link, p2)",
        "pending store(p2, link, i0)",
        "pending store(p2, link, v0)",
    ] {
        let found = snapshot(bad);
        assert!(
            !found.is_empty() && found.iter().all(|kind| *kind == ErrorKind::Snapshot),
            "{bad}: {found:?}"
        );
    }
}

#[test]
fn ids_out_of_range_in_snapshots() {
    let (value, layout, tag, field) = (Value(999), LayoutId(999), TagId(999), FieldId(999));
    let object =
        |layout| Virtual { layout, fields: vec![], items: 9, item_values: vec![], keys: 9, entries: vec![] };
    let pending = |cell, source| Pending { address: value, cell, source };
    let frame = |tag, source| Frame { slots: vec![SlotValue { slot: 0, tag, source }], ..Frame::default() };
    let snapshots = [
        Snapshot { frames: vec![frame(tag, Source::Nothing)], ..Snapshot::default() },
        Snapshot { frames: vec![frame(TagId(0), Source::Value(value))], ..Snapshot::default() },
        Snapshot { virtuals: vec![object(layout)], ..Snapshot::default() },
        Snapshot {
            virtuals: vec![Virtual { fields: vec![(field, Source::Virtual(7))], ..object(LayoutId(0)) }],
            ..Snapshot::default()
        },
        Snapshot {
            virtuals: vec![Virtual {
                item_values: vec![(99, Some(tag), Source::Nothing)],
                ..object(LayoutId(2))
            }],
            ..Snapshot::default()
        },
        Snapshot {
            virtuals: vec![Virtual {
                entries: vec![(value, Some(tag), Source::Nothing)],
                ..object(LayoutId(2))
            }],
            ..Snapshot::default()
        },
        Snapshot { pending: vec![pending(CellId(99), Source::Value(value))], ..Snapshot::default() },
        Snapshot { pending: vec![pending(CellId(0), Source::Nothing)], ..Snapshot::default() },
        Snapshot { pending: vec![pending(CellId(0), Source::Virtual(3))], ..Snapshot::default() },
    ];
    for snapshot in snapshots {
        let found = after(|trace| trace.snapshots[0] = snapshot.clone());
        assert!(found.contains(&ErrorKind::Snapshot), "{snapshot:?}");
    }
}

#[test]
fn entry_slots() {
    assert_eq!(with("entry [0: int, 1: float, 2: ref]", "entry [0: int]"), [ErrorKind::Entry], "too few");
    assert_eq!(with("entry [0: int", "entry [0: float"), [ErrorKind::Entry], "another type");
    assert_eq!(with("entry_tags [3: nil]", "entry_tags [0: nil]"), [ErrorKind::Entry], "given twice");
    assert_eq!(after(|trace| trace.entry_tags[0].tag = TagId(99)), [ErrorKind::Entry]);
    let slots = "entry [0: int, 1: float, 2: ref]";
    assert_eq!(
        with(slots, "entry [0: int, 1: float]\nentry_cells [7]"),
        [],
        "the last one is in the exit buffer"
    );
    assert_eq!(
        with(slots, "entry [0: int, 1: float, 2: ref]\nentry_cells [7]"),
        [ErrorKind::Entry],
        "too many"
    );
    assert_eq!(with(slots, "entry_cells [7, 0]"), [ErrorKind::Entry], "too few");
}

#[test]
fn modes() {
    let record = "L0(p0):\ni1 = get(p0, x)\nfinish(i1)\n";
    assert_eq!(kinds(record, Mode::Optimized), []);
    assert_eq!(kinds(record, Mode::Expanded), [ErrorKind::Mode]);
    let raw = "L0(p0):\ni1 = load(p0, Box.x)\nfinish(i1)\n";
    assert_eq!(kinds(raw, Mode::Expanded), []);
}

#[test]
fn fields_that_are_read_before_they_are_set() {
    let found = |body: &str| {
        let file = file(body);
        let errors = reads_unset_fields(&file.traces[0], &file.schema);
        errors.into_iter().map(|error| error.message).collect::<Vec<_>>()
    };
    let malformed = "L0():\np1 = new(Box)\ni2 = get(p1, x)\nfinish(i2)\n";
    assert_eq!(found(malformed), ["x of p1 is read before it is set"]);
    assert!(found(&malformed.replace("i2 =", "set(p1, x, 5)\ni2 =")).is_empty());
    assert!(
        found(&malformed.replace("i2 =", "call(change, 1)\ni2 =")).is_empty(),
        "the function may have set it"
    );
    assert!(found("L0(p1):\ni2 = get(p1, x)\nfinish(i2)\n").is_empty(), "not made here");
}

/// Faults of a trace in which `host` may run the collector; p0 lies in slot 2, p1 in the exit buffer.
fn collected(insts: &str) -> Vec<String> {
    let text = format!(
        "func host(addr, addr) -> addr anything\nfunc kind() pure\nlayout Pair {{ link: ref, other: ref }}\n\
         views slot: @0 class slot\ncell slot.tag: int @8 width 1\n\
         slot_cells {{ slot.int, slot.float, slot.ref, slot.addr, tag slot.tag }}\n\
         entry [2: ref]\nentry_cells [7]\nL0(p0, p1):\na2 = context()\na3 = frame_base()\n{insts}"
    );
    let file = parse_file(&text, &|_| None).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let errors = [Mode::Recorded, Mode::Optimized].map(|mode| verify(&file.traces[0], &file.schema, mode));
    assert_eq!(errors[0], errors[1]);
    let [errors, _] = errors;
    assert!(errors.iter().all(|error| error.kind == ErrorKind::Collected), "{errors:?}");
    let name = |error: VerifyError| error.message.split(' ').next().unwrap_or_default().to_string();
    errors.into_iter().map(name).collect()
}

#[test]
fn pointers_that_a_call_may_make_void() {
    let call = "a9 = call(host, a2, a3)\n";
    let good = |insts: &str| assert_eq!(collected(insts), [] as [&str; 0], "{insts}");
    let bad = |insts: &str, names: &[&str]| assert_eq!(collected(insts), names, "{insts}");
    // What the host finds, and what stays.
    good(&format!("{call}guard_nonnull(a9)\np4 = load(p0, Pair.link)\nfinish(p0, a2, a3, p4)\n"));
    good(&format!(
        "a4 = item_addr(a3, 3, 16, 0)\na5 = addr_add(a4, 8)\na6 = addr_add(a2, 8)\n{call}finish(a4, a5, a6)\n"
    ));
    good(&format!("p4 = load(p0, Pair.link)\ni5 = ref_is_null(p4)\n{call}finish(i5)\n"));
    // What was loaded, computed, or lies in the exit buffer.
    bad(&format!("{call}finish(p1)\n"), &["p1"]);
    bad(&format!("p4 = load(p0, Pair.link)\n{call}p5 = load(p4, Pair.link)\nfinish(p5)\n"), &["p4"]);
    bad(&format!("a4 = ref_to_addr(p0)\n{call}finish(a4)\n"), &["a4"]);
    bad(&format!("i4 = addr_to_int(a2)\na5 = item_addr(a3, i4, 16, 0)\n{call}finish(a5)\n"), &["a5"]);
    bad(&format!("a4 = call(host, a2, a3)\n{call}finish(a4)\n"), &["a4"]);
    bad(&format!("p4 = new(Pair)\n{call}set(p0, link, p4)\nfinish()\n"), &["p4"]);
    // What is stored into a slot, and elsewhere, before the call and after it.
    let stored = |store: &str, call: &str, after: &str| {
        format!("a4 = item_addr(a3, 3, 16, 0)\np5 = load(p0, Pair.link)\n{store}{call}{after}finish(p5)\n")
    };
    let store = "store(a4, slot.ref, p5)\n";
    good(&stored(store, call, ""));
    good(&stored(store, &format!("{call}a10 = call(host, a2, a3)\n"), ""));
    bad(&stored("", call, store), &["p5", "p5"]);
    bad(&stored("store(p0, Pair.other, p5)\n", call, ""), &["p5"]);
    bad(&stored("store(a2, slot.ref, p5)\n", call, ""), &["p5"]);
    bad(&stored("a7 = item_addr(a2, 3, 16, 0)\nstore(a7, slot.ref, p5)\n", call, ""), &["p5"]);
    // What was loaded from a slot, and elsewhere.
    let loaded = |place: &str, cell: &str| {
        format!("a4 = item_addr({place}, 3, 16, 0)\np5 = load(a4, {cell})\n{call}finish(p5)\n")
    };
    good(&loaded("a3", "slot.ref"));
    bad(&loaded("a3", "Pair.link"), &["p5"]);
    bad(&loaded("a2", "slot.ref"), &["p5"]);
    // What an exit after the call mentions.
    let exit = |slot: &str| {
        format!("p4 = load(p0, Pair.link)\n{call}@0 = frame[{slot}]\nguard_nonnull(a9) @0\nfinish()\n")
    };
    good(&exit("2: ref p0"));
    bad(&exit("2: ref p4"), &["p4"]);
    // Labels' arguments are what all jumps pass.
    let looping = |first: &str, again: &str| {
        format!(
            "p4 = load(p0, Pair.link)\na20 = item_addr(a3, 3, 16, 0)\n{first}jump(L1, p0, p4, a20)\nL1(p5, p6, a7):\n\
             a8 = context()\na10 = frame_base()\na11 = call(host, a8, a10)\ni12 = load(p6, Pair.link)\n\
             p13 = load(p5, Pair.link)\n{again}\n"
        )
        .replace("i12 = load", "p12 = load")
    };
    let kept = "store(a20, slot.ref, p4)\n";
    bad(&looping("", "jump(L1, p5, p13, a7)"), &["p6"]);
    bad(&looping(kept, "jump(L1, p5, p13, a7)"), &["p6"]);
    good(&looping(kept, "store(a7, slot.ref, p13)\njump(L1, p5, p13, a7)"));
    good(&looping(kept, "jump(L1, p5, p6, a7)"));
    bad(&looping(kept, "jump(L1, p13, p6, a7)"), &["p5"]);
    // Several walks: p5 is what p13 was, and p6 what p5 was.
    bad(&looping(kept, "jump(L1, p13, p5, a7)"), &["p6", "p5", "p5"]);
    // Jumps to the entry too: what comes from its slots is what the jump passes from then on.
    bad(&format!("{call}p4 = load(p0, Pair.link)\njump(L0, p4, p0)\n"), &["p0", "p0"]);
    good("p4 = load(p0, Pair.link)\njump(L0, p4, p0)\n");
}

#[test]
fn no_trace_makes_the_verifier_panic() {
    // Every op with every argument count, arguments in and out of range, over a schema with nothing in it.
    let empty = Schema::new();
    for op in Op::ALL {
        for count in 0..5 {
            let mut trace = Trace::new("");
            let known = trace.new_value(Type::Float);
            trace.add_label("L0", &[known]);
            let args: Vec<Value> = (0..count).map(|index| Value(index * 3)).collect();
            trace.push(Inst::new(*op, &args).at(Some(SnapId(count))), Some(Type::Addr));
            trace.add_snapshot(Snapshot::default());
            assert!(!verify(&trace, &empty, Mode::Optimized).is_empty());
            assert!(!tracelift_core::text::print_trace(&trace, &empty).is_empty());
        }
    }
    assert!(!verify(&Trace::default(), &empty, Mode::Recorded).is_empty());
}

/// Faults of a trace with slot cells that is entered with slot 0 and ends at a snapshot.
fn in_place(insts: &str, snapshot: &str, end: &str) -> Vec<String> {
    let text = format!(
        "func anything() anything\nviews slot: @0 class slot\ncell slot.tag: int @8 width 1 class slot.tag\n\
         slot_cells {{ slot.int, slot.float, slot.ref, slot.addr, tag slot.tag }}\n\
         entry [0: int]\nL0(i0):\na1 = frame_base()\na2 = addr_add(a1, 16)\n{insts}@0 = frame[{snapshot}]\n\
         guard_true(i0) @0\n{end}"
    );
    let file = parse_file(&text, &|_| None).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let recorded = verify(&file.traces[0], &file.schema, Mode::Recorded);
    assert!(recorded.iter().any(|error| error.message.contains("a recorder leaves no slot in place")));
    let errors = verify(&file.traces[0], &file.schema, Mode::Expanded);
    errors.into_iter().map(|error| error.message.trim_start_matches("snapshot @0: ").to_string()).collect()
}

#[test]
fn slots_in_place_were_written() {
    let (int, tag) = ("store(a2, slot.int, i0)\n", "store(a2, slot.tag, 0)\n");
    let stored = format!("{int}{tag}");
    let none: [&str; 0] = [];
    assert_eq!(in_place(&stored, "0: int in_place, 1: int in_place", "finish()"), none);
    let missing = "slot 1 is in place, but was not written";
    assert_eq!(in_place("", "1: int in_place", "finish()"), [missing]);
    let other = "slot 1 is in place, but memory holds something else";
    assert_eq!(in_place(int, "1: int in_place", "finish()"), [other]);
    assert_eq!(in_place(tag, "1: int in_place", "finish()"), [other]);
    assert_eq!(in_place(&stored, "1: float in_place", "finish()"), [other]);
    let later = format!("{stored}store(a2, slot.tag, 1)\n");
    assert_eq!(in_place(&later, "1: int in_place", "finish()"), [other]);
    let somewhere = format!("{stored}a3 = item_addr(a1, i0, 16, 0)\nstore(a3, slot.int, i0)\n");
    assert_eq!(in_place(&somewhere, "1: int in_place", "finish()"), [missing]);
    assert_eq!(in_place(&format!("{stored}call(anything)\n"), "1: int in_place", "finish()"), [missing]);
    assert_eq!(in_place(&stored, "1: int in_place", "jump(L0, i0)"), [missing], "a loop");
}

/// A unit that calls itself.
const UNIT: &str = "
unit 2
entry [0: int]
L0(i0):
@0 = frame(words 7)[0: int i0]
guard_true(i0) @0
i1 = int_sub(i0, 1)
@1 = frame(words 7)[0: int i0] frame(base 3, words 8)[0: int i1]
i2 = call_unit(2, 3, i1) @1
@2 = frame(words 9)[0: int i0]
i3 = unit_result(i2, 1: int) @2
i4 = int_add(i0, i3)
return_unit(i4, int)
";

/// The unit with one line replaced.
fn unit_with(line: &str, by: &str) -> Vec<ErrorKind> {
    assert!(UNIT.contains(line), "the unit has no line {line}");
    kinds(&UNIT.replace(line, by), Mode::Recorded)
}

#[test]
fn units() {
    let call = "i2 = call_unit(2, 3, i1) @1\n";
    let result = "i3 = unit_result(i2, 1: int) @2\n";
    assert_eq!(kinds(UNIT, Mode::Recorded), []);
    assert_eq!(kinds(UNIT, Mode::Expanded), []);
    assert_eq!(unit_with("unit 2\n", ""), [ErrorKind::Payload], "a return of no unit");
    assert_eq!(unit_with("i4, int)", "int)"), [ErrorKind::Arity]);
    assert_eq!(unit_with("i4, int)", "i4, nil)"), [ErrorKind::Arity], "nil has no payload");
    assert_eq!(unit_with("i4, int)", "i4, float)"), [ErrorKind::Type]);
    assert_eq!(unit_with(call, "i2 = call_unit(2, 3, i1)\n"), [ErrorKind::Unit], "no snapshot");
    assert_eq!(unit_with(" frame(base 3, words 8)[0: int i1]", ""), [ErrorKind::Unit], "another base");
    assert_eq!(unit_with("call_unit(2, 3", "call_unit(2, 4"), [ErrorKind::Unit], "another base");
    assert_eq!(unit_with(call, "i2 = call_unit(2, 3, i1) @1 guard\n"), [ErrorKind::Unit]);
    assert_eq!(unit_with("guard_true(i0) @0", "guard_true(i0) @0 called"), [ErrorKind::Unit]);
    assert_eq!(unit_with(result, "i3 = int_add(i0, 7)\n"), [ErrorKind::Unit], "nobody looks");
    assert_eq!(unit_with(result, "i3 = unit_result(i1, 1: int) @2\n"), [ErrorKind::Unit; 2]);
    assert_eq!(
        unit_with(result, "i9 = int_neg(i0)\ni3 = unit_result(i2, 1: int) @2\n"),
        [ErrorKind::Unit; 2]
    );
    assert_eq!(unit_with("int_add(i0, i3)", "int_add(i2, i3)"), [ErrorKind::Unit], "for unit_result alone");
    assert_eq!(
        unit_with("i3)\n", "i3)\n@3 = frame(words 9)[0: int i2]\nguard_true(i0) @3\n"),
        [ErrorKind::Unit]
    );
    assert_eq!(unit_with("(words 9)[0: int i0]", "(words 9)[1: int i0]"), [ErrorKind::Unit], "the result's");
    assert_eq!(unit_with("i4 = int_add", "guard_true(i3) @2\ni4 = int_add"), [ErrorKind::Effect]);
    // What the text form cannot say.
    let changed = |change: fn(&mut Trace)| {
        let mut file = file(UNIT);
        change(&mut file.traces[0]);
        verify(&file.traces[0], &file.schema, Mode::Optimized).into_iter().map(|e| e.kind).collect::<Vec<_>>()
    };
    assert_eq!(changed(|trace| trace.snapshots[1].frames.clear()), [ErrorKind::Unit]);
    let tags = changed(|trace| trace.insts[4].payload = Payload::Result { slot: None, tag: Some(TagId(0)) });
    assert_eq!(tags, [ErrorKind::Payload], "a tag where nobody wants the result");
    let tags =
        changed(|trace| trace.insts[4].payload = Payload::Result { slot: Some(1), tag: Some(TagId(99)) });
    assert_eq!(tags, [ErrorKind::Payload], "no such tag");
    let tags = changed(|trace| trace.insts[4].payload = Payload::Result { slot: Some(1), tag: None });
    assert_eq!(tags, [ErrorKind::Type], "a value, but no tag");
    let store = changed(|trace| {
        let address = trace.const_addr(64);
        let source = Source::Value(trace.inputs()[0]);
        trace.snapshots[1].pending.push(Pending { address, cell: CellId(0), source });
    });
    assert_eq!(store, [ErrorKind::Unit], "a store that waits");
    let object = changed(|trace| {
        let (fields, item_values, entries) = (vec![], vec![], vec![]);
        let layout = LayoutId(0);
        trace.snapshots[1].virtuals.push(Virtual { layout, fields, items: 0, item_values, keys: 0, entries });
    });
    assert_eq!(object, [ErrorKind::Unit], "a virtual object");
}
