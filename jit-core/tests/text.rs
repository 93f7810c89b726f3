//! The text form beyond what trace files show: errors, odd names, renaming, and inputs that are no files at
//! all.
//!
//! Problem: a parser meets what nobody thought of. Design: messages are pinned where they must help; every
//! trace file is broken in thousands of ways by a fixed random generator, and nothing may panic: not parser,
//! printer or verifier. Invariant: what parses after such a change also prints to something that parses to
//! the same text again. Example: `L0(i0` is answered with `line 1, column 3: this bracket is never closed`.

use expect_test::{expect, Expect};
use tracelift_core::ir::*;
use tracelift_core::schema::*;
use tracelift_core::text::*;
use tracelift_core::verify::{verify, Mode};
use tracelift_core::{testbed, Op, Type};

fn parse(text: &str) -> TraceFile {
    parse_file(text, &testbed::natives).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn check_error(text: &str, expected: Expect) {
    let error = parse_file(text, &testbed::natives).expect_err("this must not parse");
    expected.assert_eq(&error.to_string());
}

#[test]
fn errors_help() {
    check_error("L0(i0", expect!["line 1, column 3: this bracket is never closed"]);
    check_error("L0(i0))", expect!["line 1, column 7: this bracket closes nothing"]);
    check_error("L0(i0):\ni1 = int_ad(i0, 1)", expect!["line 2, column 6: unknown op 'int_ad'"]);
    check_error("L0(i0):\ni1 = i0 % 2", expect!["line 2, column 9: unexpected character '%'"]);
    check_error("L0(i0):\ni1 = i0 = 2", expect!["line 2, column 9: expected an operator, found '='"]);
    check_error("L0(x):", expect!["line 1, column 4: the type of 'x' is not known: write 'x: int'"]);
    check_error("L0(v0: int):", expect!["line 1, column 4: 'v0' cannot be the name of a value"]);
    check_error(
        "L0(i0: integer):",
        expect![[r#"line 1, column 8: unknown type 'integer': the types are int, float, ref and addr"#]],
    );
    check_error(
        "i1 = int_add(1, 2)",
        expect!["line 1, column 1: a trace begins with a label such as 'L0(p0, i1):'"],
    );
    check_error("L0(i0):\njump(L7, i0)", expect!["line 2, column 6: unknown label 'L7'"]);
    check_error("L0():\nL0():", expect!["line 2, column 1: label 'L0' is defined twice"]);
    check_error("L0(i0):\nguard_true(i0) @3", expect!["line 2, column 16: snapshot @3 is not defined"]);
    check_error(
        "L0(i0):\nguard_true(i0) loopend",
        expect![[
            r#"line 2, column 16: expected a snapshot, a kind of exit or the end of the line, found 'loopend'"#
        ]],
    );
    check_error(
        "L0(p0):\ni1 = get(p0)",
        expect!["line 2, column 12: 'get' needs a field as its second argument"],
    );
    check_error("L0(p0):\ni1 = get(p0, size)", expect!["line 2, column 14: unknown field 'size'"]);
    check_error("L0(p0):\ni1 = ref_eq(p0, @x)", expect!["line 2, column 17: this object is not declared"]);
    check_error(
        "L0(i0):\nfinish(18446744073709551616)",
        expect!["line 2, column 8: '18446744073709551616' does not fit in 64 bits"],
    );
    check_error(
        "L0(i0):\nfinish(9223372036854775808)",
        expect!["line 2, column 8: an integer does not fit in 64 bits"],
    );
    check_error("L0(i0):\nfinish(i0)\nrun: 1.5", expect!["line 3, column 6: this input is int, not float"]);
    check_error(
        "L0(i0):\nfinish(i0)\nrun:",
        expect!["line 3, column 1: the trace has 1 inputs, the run gives 0"],
    );
    check_error("run: 3", expect!["line 1, column 1: there is no trace above to run"]);
    check_error("func f() = native nowhere", expect!["line 1, column 19: unknown native function 'nowhere'"]);
    check_error(
        "cell c: float width 4",
        expect!["line 1, column 21: a width is 1, 2, 4 or 8, and less than 8 only for ints"],
    );
    check_error(
        "layout A { x: int }\nlayout A { }",
        expect!["line 2, column 8: layout 'A' is declared twice"],
    );
    check_error(
        "layout A { size 8, colour 3 }",
        expect!["line 1, column 20: expected a layout's entry, found 'colour'"],
    );
    check_error(
        "layout A { items: float }\nobject a = A { items: [1.5, 2.5] room 1 }",
        expect!["line 2, column 39: room for 1 is too little for 2"],
    );
    check_error("layout A { x: int }\nobject a = A { x: 1.5 }", expect!["line 2, column 19: this is no int"]);
}

#[test]
fn units_are_printed_as_they_are_parsed() {
    let text = "trace all\nunit 3\nentry [0: int]\nL0(i0):\n@0 = frame[0: int i0] frame(base 4)[0: int i0]\n\
                i1 = call_unit(7, 4, i0, 1.5) @0\n@1 = frame[0: int i0]\nf2 = unit_result(i1, 5: float) @1\n\
                i3 = call_unit(8, 4) @0\nunit_result(i3, 2) @1\ni4 = call_unit(9, 4, i0) @0\n\
                unit_result(i4, _) @1\ni5 = call_unit(9, 4, i0) @0\nunit_result(i5, 2: nil) @1\n\
                return_unit(f2, float)\n\ntrace side\nunit 3\nentry_cells [1, 0]\nL0(i0, i1):\nreturn_unit(nil)\n";
    let file = parse(text);
    assert_eq!(print_file(&file), text);
    assert_eq!((file.traces[0].unit, file.traces[0].insts[1].exit), (Some(UnitId(3)), ExitKind::Called));
    let found = |index: usize| file.traces[0].insts[index].payload;
    let tag = |name: &str| file.schema.find_tag(name);
    assert_eq!(found(1), Payload::Unit { unit: UnitId(7), base: 4 });
    assert_eq!(found(2), Payload::Result { slot: Some(5), tag: tag("float") });
    assert_eq!(found(4), Payload::Result { slot: Some(2), tag: None });
    assert_eq!(found(6), Payload::Result { slot: None, tag: None });
    assert_eq!(found(8), Payload::Result { slot: Some(2), tag: tag("nil") });
    let [a, b] = [text, &text.replace("call_unit(8, 4)", "call_unit(8, 3)")].map(parse);
    assert!(equal_up_to_renaming(&a.traces[0], &b.traces[0], &a.schema).is_err(), "another base");
}

#[test]
fn errors_in_units_help() {
    check_error(
        "unit x\nL0():\nfinish()",
        expect!["line 1, column 6: expected the unit's number, found 'x'"],
    );
    check_error(
        "unit 1 2\nL0():\nfinish()",
        expect!["line 1, column 8: expected the end of the line, found '2'"],
    );
    check_error(
        "L0(i0):\ni1 = call_unit(i0)",
        expect!["line 2, column 16: expected a unit's number, found 'i0'"],
    );
    check_error(
        "L0(i0):\ni1 = call_unit(3, i0)",
        expect!["line 2, column 19: expected where its frame begins, found 'i0'"],
    );
    check_error(
        "L0(i0):\ni1 = unit_result(i0)",
        expect!["line 2, column 18: expected a slot's number, or '_', found 'i0'"],
    );
    check_error(
        "L0(i0):\ni1 = unit_result(i0, i0)",
        expect!["line 2, column 22: expected a slot's number, or '_', found 'i0'"],
    );
    check_error("L0(i0):\ni1 = unit_result(i0, 1: i0)", expect!["line 2, column 25: unknown tag 'i0'"]);
    check_error("L0(i0):\nreturn_unit(i0)", expect!["line 2, column 13: unknown tag 'i0'"]);
    check_error("L0(i0):\nreturn_unit(i0, 3)", expect!["line 2, column 17: expected a tag, found '3'"]);
}

#[test]
fn a_trace_can_be_parsed_alone() {
    let file = parse("layout Box { x: int }\nobject b = Box {}\nL0(p0):\ni1 = get(p0, x)\ni2 = ref_eq(p0, @b)\nfinish(i1, i2)\n");
    let printed = print_trace(&file.traces[0], &file.schema);
    assert_eq!(printed, "L0(p0):\ni1 = get(p0, x)\ni2 = ref_eq(p0, @0)\nfinish(i1, i2)\n");
    assert_eq!(parse_trace(&printed, &file.schema).as_ref(), Ok(&file.traces[0]));
    assert!(parse_trace("L0():\nfinish()\ntrace b\nL0():\nfinish()\n", &file.schema).is_err(), "two traces");
    assert!(parse_trace("words 3\n", &file.schema).is_err());
}

/// A trace that no author wrote: values without names, or with names that are none or are taken.
#[test]
fn names_are_made_up_where_needed() {
    let mut trace = Trace::new("");
    let names = ["", "i1", "i1", "null", "v0", "two words", "x", "L0"];
    let args: Vec<Value> = names.iter().map(|_| trace.new_value(Type::Int)).collect();
    for (value, name) in args.iter().zip(names) {
        trace.values[value.index()].name = Some(name.into());
    }
    let label = trace.add_label("bad name", &args);
    let sum = trace.push(Inst::new(Op::IntAdd, &args[..2]), Some(Type::Int)).unwrap();
    trace.push(Inst::new(Op::GuardTrue, &[sum]), None);
    trace.push(Inst::new(Op::Jump, &args).with(Payload::Label(label)), None);
    let schema = Schema::with_default_tags();
    let printed = print_trace(&trace, &schema);
    expect![[r#"
        L0(i0, i1, i2, i3, i4, i5, x: int, L0: int):
        i8 = int_add(i0, i1)
        guard_true(i8)
        jump(L0, i0, i1, i2, i3, i4, i5, x, L0)
    "#]]
    .assert_eq(&printed);
    equal_up_to_renaming(&trace, &parse_trace(&printed, &schema).unwrap(), &schema).unwrap();
}

#[test]
fn a_name_used_again_after_a_label_is_another_value() {
    let text =
        "L0(p0, i1):\ni2 = int_neg(i1)\njump(L1, p0, i2)\nL1(p0, i1):\ni2 = int_neg(i1)\njump(L1, p0, i2)\n";
    let file = parse(text);
    assert_eq!(verify(&file.traces[0], &file.schema, Mode::Recorded), []);
    assert_eq!(print_file(&file), text);
    // In a wrong trace, the two must be told apart: here the loop uses the preamble's p0.
    let mut trace = file.traces[0].clone();
    trace.insts[5].args[0] = trace.insts[0].args[0];
    let printed = print_trace(&trace, &file.schema);
    let again = parse_trace(&printed, &file.schema).unwrap();
    assert_eq!(verify(&again, &file.schema, Mode::Recorded).len(), 1, "{printed}");
}

#[test]
fn snapshots_without_a_sensible_position_stand_before_their_guard() {
    let text = "L0(i0):\ni1 = int_neg(i0)\n@0 = frame[0: int i1]\nguard_true(i1) @0\nfinish(i1)\n";
    let file = parse(text);
    for position in [0, 1, 2, 3, 4, 1000, u32::MAX] {
        let mut trace = file.traces[0].clone();
        trace.snapshots[0].position = position;
        assert_eq!(print_trace(&trace, &file.schema), text, "position {position}");
    }
}

/// Whether two bodies are equal up to renaming, with declarations that both may use.
fn same(a: &str, b: &str) -> Result<(), String> {
    let declarations = "layout Box { x: int }\nfunc f(int, int) anything\n";
    let (a, b) = (parse(&format!("{declarations}{a}")), parse(&format!("{declarations}{b}")));
    let there = equal_up_to_renaming(&a.traces[0], &b.traces[0], &a.schema);
    let back = equal_up_to_renaming(&b.traces[0], &a.traces[0], &a.schema);
    assert_eq!(there.is_ok(), back.is_ok(), "equality is symmetric");
    there
}

#[test]
fn equality_up_to_renaming() {
    let base = "L0(i0, i1):\ni2 = i0 + i1\njump(M, i0, i2)\nM(i3, i4):\ni5 = i3 - i4\ncall(f, i5, 7)\njump(M, i5, i4)\n";
    let renamed = "A(i9, i8):\ni7 = i9 + i8\njump(B, i9, i7)\nB(i1, i2):\ni3 = i1 - i2\ncall(f, i3, 7)\njump(B, i3, i2)\n";
    let permuted = "L0(i0, i1):\ni2 = i0 + i1\njump(M, i2, i0)\nM(i4, i3):\ni5 = i3 - i4\ncall(f, i5, 7)\njump(M, i4, i5)\n";
    assert_eq!(same(base, base), Ok(()));
    assert_eq!(same(base, renamed), Ok(()));
    assert_eq!(same(base, permuted), Ok(()));
    let message = same(base, &base.replace("i3 - i4", "i4 - i3")).unwrap_err();
    assert_eq!(message, "no order of the labels' arguments makes the jumps equal");
    let message = same(base, &base.replace('7', "8")).unwrap_err();
    assert_eq!(message, "instruction 5: call(f, i5, 7) against call(f, i5, 8)");
    assert!(same(base, &base.replace("i0 + i1", "i1 + i0")).is_err(), "the entry's arguments have one order");
    assert!(same(base, &base.replace("jump(M, i5, i4)", "jump(M, i4, i5)")).is_err());
    assert!(same(base, &base.replace("jump(M, i5, i4)", "finish()")).is_err());
    assert!(same(base, &base.replace("jump(M, i5, i4)\n", "")).is_err(), "shorter");
}

#[test]
fn arguments_that_only_jumps_use_are_paired_too() {
    let a = "L0(i0, i1):\njump(M, i0, i1, 5)\nM(i2, i3, i4):\njump(M, i3, i2, i4)\n";
    let b = "L0(i0, i1):\njump(M, 5, i1, i0)\nM(i2, i3, i4):\njump(M, i2, i4, i3)\n";
    assert_eq!(same(a, b), Ok(()));
    assert!(same(a, &b.replace("i2, i4, i3", "i4, i2, i3")).is_err());
}

#[test]
fn snapshots_count_for_equality() {
    let base = "L0(i0, i1):\n@0 = frame[0: int i0]\nguard_true(i0) @0\njump(L0, i0, i1)\n";
    let moved = "L0(i4, i5):\n@7 = origin 3 frame[0: int i4]\nguard_true(i4) @7\njump(L0, i4, i5)\n";
    assert_eq!(same(base, moved), Ok(()));
    assert!(same(base, &base.replace("int i0]", "int i1]")).is_err());
    assert!(same(base, &base.replace("0: int", "1: int")).is_err());
    assert!(same(base, &base.replace(" @0\njump", "\njump")).is_err());
}

#[test]
fn canonical_text() {
    let file = parse("L0(index: int):\n  next: int = index + 1\n@9 = origin 4 frame[0: int next]\nguard_true(next) @9\njump(L0, next)\n");
    expect![[r#"
        L0(i0):
        i1 = int_add(i0, 1)
        @0 = frame[0: int i1]
        guard_true(i1) @0
        jump(L0, i1)
    "#]]
    .assert_eq(&print_trace_canonical(&file.traces[0], &file.schema));
}

#[test]
fn the_standard_schema_keeps_its_ids() {
    let schema = testbed::standard_schema();
    let printed = print_schema(&schema);
    let again = parse(&printed).schema;
    assert_eq!(print_schema(&again), printed);
    assert_eq!(
        (again.layouts(), again.fields(), again.tags()),
        (schema.layouts(), schema.fields(), schema.tags())
    );
    let without_class = |schema: &Schema| -> Vec<Cell> {
        schema.cells().iter().map(|cell| Cell { class: ClassId(0), ..cell.clone() }).collect()
    };
    assert_eq!(without_class(&again), without_class(&schema));
    let names = |schema: &Schema| -> Vec<String> {
        schema.cells().iter().map(|cell| schema.class_name(cell.class).to_string()).collect()
    };
    assert_eq!(names(&again), names(&schema));
}

#[test]
fn expectations_are_replaced() {
    let source = "; test opt\nL0():\nfinish()\n\n; expect:\n; old\n;\n; text\n";
    let file = parse(source);
    assert_eq!(file.headers("test").collect::<Vec<_>>(), ["opt"]);
    assert_eq!(file.expectation().as_deref(), Some("old\n\ntext\n"));
    let new = with_expectation(source, "L0():\n  finish()\n\nend\n");
    assert_eq!(new, "; test opt\nL0():\nfinish()\n\n; expect:\n; L0():\n;   finish()\n;\n; end\n");
    assert_eq!(parse(&new).expectation().as_deref(), Some("L0():\n  finish()\n\nend\n"));
    let without = "L0():\nfinish()\n";
    assert_eq!(with_expectation(without, "x\n"), "L0():\nfinish()\n\n; expect:\n; x\n");
    assert_eq!(parse(without).expectation(), None);
}

/// Thirty thousand guards with a snapshot each. No time is asserted, but whatever is quadratic in that takes
/// minutes instead of a second, which nobody who runs the tests will miss.
#[test]
fn long_traces_are_read_verified_and_compared() {
    let mut text = "L0(i0):\n".to_string();
    for index in 0..30_000 {
        text += &format!("i{} = int_add(i{index}, 1)\n@{index} = frame[0: int i{index}]\n", index + 1);
        text += &format!("guard_true(i{index}) @{index}\n");
    }
    text += "jump(L0, i0)\n";
    let file = parse(&text);
    assert_eq!(print_file(&file), text);
    assert_eq!(verify(&file.traces[0], &file.schema, Mode::Recorded), []);
    equal_up_to_renaming(&file.traces[0], &file.traces[0], &file.schema).unwrap();
}

/// A fixed random sequence (splitmix64).
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn trace_files() -> Vec<String> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/traces");
    let mut sources = Vec::new();
    let mut folders = vec![root];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the folder of trace files can be read") {
            let path = entry.expect("its entries can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "trace") {
                sources.push(std::fs::read_to_string(path).expect("a trace file can be read"));
            }
        }
    }
    sources
}

#[test]
fn broken_files_never_panic() {
    let sources = trace_files();
    let pieces = [
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ",",
        ":",
        "=",
        "@",
        "-",
        "\n",
        "#",
        ";",
        "\"",
        "i0",
        "L0",
        "0",
        "é",
        "99999999999",
        "1e999",
        "frame",
        "virtual v0 ",
        "pending ",
        "layout ",
        "trace\n",
        "jump(",
        "ref:",
        "nan",
        "_",
    ];
    let mut state = 1;
    let (mut parsed, mut refused) = (0, 0);
    for round in 0..6000 {
        let source = &sources[round % sources.len()];
        let mut text: Vec<char> = source.chars().collect();
        for _ in 0..1 + random(&mut state) % 3 {
            let at = random(&mut state) as usize % (text.len() + 1);
            let end = (at + random(&mut state) as usize % 8).min(text.len());
            let piece = pieces[random(&mut state) as usize % pieces.len()];
            match random(&mut state) % 4 {
                0 => drop(text.drain(at..end)),
                1 => drop(text.splice(at..at, piece.chars())),
                2 => drop(text.splice(at..end, piece.chars())),
                _ => text.truncate(at),
            }
        }
        let text: String = text.into_iter().collect();
        let Ok(file) = parse_file(&text, &testbed::natives) else {
            refused += 1;
            continue;
        };
        parsed += 1;
        let valid = file.traces.iter().all(|trace| verify(trace, &file.schema, Mode::Optimized).is_empty());
        let printed = print_file(&file);
        if valid {
            match parse_file(&printed, &testbed::natives) {
                Ok(again) => assert_eq!(print_file(&again), printed, "{text}"),
                Err(error) => panic!("{error}\n{printed}\nfrom\n{text}"),
            }
        }
    }
    assert!(parsed > 500 && refused > 500, "{parsed} parsed, {refused} refused: the changes are of no use");
}

#[test]
fn random_bytes_never_panic() {
    let mut state = 2;
    for _ in 0..2000 {
        let bytes: Vec<u8> = (0..random(&mut state) % 60).map(|_| random(&mut state) as u8 % 128).collect();
        let _ = parse_file(&String::from_utf8_lossy(&bytes), &testbed::natives);
    }
}

#[test]
#[cfg(feature = "testgen")]
fn random_traces_verify_and_read_back() {
    let schema = std::sync::Arc::new(testbed::standard_schema());
    for seed in 0..500 {
        let case = tracelift_core::testgen::generate(seed, &schema);
        assert_eq!(verify(&case.trace, &schema, Mode::Recorded), [], "seed {seed}");
        let file = TraceFile {
            schema: (*schema).clone(),
            world: case.spec.clone(),
            traces: vec![case.trace.clone()],
            ..TraceFile::default()
        };
        let printed = print_file(&file);
        let again = parse(&printed);
        assert_eq!(print_file(&again), printed, "seed {seed}");
        assert_eq!(again.world, case.spec, "seed {seed}");
        assert_eq!(
            equal_up_to_renaming(&case.trace, &again.traces[0], &schema),
            Ok(()),
            "seed {seed}\n{printed}"
        );
    }
}
