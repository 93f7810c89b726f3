//! The trace files under `tests/traces`: parsed, printed, verified, and their runs evaluated.
//!
//! Problem: a trace file is a test for every layer, and this crate's part of it should fail first. Design:
//! each file is parsed; its text printed and parsed again must be the same file; each trace must verify in
//! the file's mode (`; mode: optimized`, else recorded); each `run:` line must come out as it says in the
//! evaluator. An `; error: message` comment says what parser or verifier must object to on its line, and
//! nothing else may be found.
//!
//! Invariant: every op of the table occurs in some file that verifies.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tracelift_core::eval::{End, Evaluator, Fault, Limits};
use tracelift_core::testbed::natives;
use tracelift_core::text::*;
use tracelift_core::verify::{verify, Mode};
use tracelift_core::world::World;
use tracelift_core::{Op, Trace};

/// All trace files, in order.
fn files() -> Vec<PathBuf> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).expect("the folder of trace files can be read") {
            let path = entry.expect("its entries can be read").path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "trace") {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/traces"), &mut found);
    found.sort();
    found
}

/// What `; error:` comments expect, by line.
fn expected_errors(source: &str) -> Vec<(usize, String)> {
    let errors = directives(source).into_iter();
    errors.filter_map(|d| Some((d.line, d.text.strip_prefix("error:")?.trim().to_string()))).collect()
}

fn mode(file: &TraceFile) -> Mode {
    let mode = file.headers("mode").next().map(str::to_string);
    match mode.as_deref() {
        None | Some("recorded") => Mode::Recorded,
        Some("optimized") => Mode::Optimized,
        Some("expanded") => Mode::Expanded,
        Some("region") => Mode::Region,
        Some(other) => panic!("unknown mode '{other}'"),
    }
}

/// Everything wrong with a file; also the ops of its traces that verify.
fn check(source: &str, ops: &mut HashSet<Op>) -> Vec<String> {
    let expected = expected_errors(source);
    let file = match parse_file(source, &natives) {
        Ok(file) => file,
        Err(error) => return compare_errors(&expected, &[(error.line, error.message)]),
    };
    let mut found = Vec::new();
    for (trace, lines) in file.traces.iter().zip(&file.inst_lines) {
        let errors = verify(trace, &file.schema, mode(&file));
        if errors.is_empty() {
            ops.extend(trace.insts.iter().map(|inst| inst.op));
        }
        let line = |inst: Option<usize>| lines.get(inst.unwrap_or(0)).copied().unwrap_or(0);
        found.extend(errors.into_iter().map(|error| (line(error.inst), error.message)));
    }
    let mut problems = compare_errors(&expected, &found);
    problems.extend(round_trip(&file));
    if expected.is_empty() {
        problems.extend(file.runs.iter().filter_map(|run| evaluate(&file, run)));
    }
    problems
}

/// Errors that were not expected, and expected ones that did not come.
fn compare_errors(expected: &[(usize, String)], found: &[(usize, String)]) -> Vec<String> {
    let matches = |e: &(usize, String), f: &(usize, String)| e.0 == f.0 && f.1.contains(&e.1);
    let unexpected = found.iter().filter(|f| !expected.iter().any(|e| matches(e, f)));
    let missing = expected.iter().filter(|e| !found.iter().any(|f| matches(e, f)));
    let unexpected = unexpected.map(|(line, message)| format!("line {line}: {message}"));
    unexpected.chain(missing.map(|(line, message)| format!("line {line}: no error '{message}'"))).collect()
}

/// Printing and parsing must give the same file.
fn round_trip(file: &TraceFile) -> Option<String> {
    let printed = print_file(file);
    let again = match parse_file(&printed, &natives) {
        Ok(again) => again,
        Err(error) => return Some(format!("what is printed does not parse: {error}\n{printed}")),
    };
    if print_file(&again) != printed {
        return Some(format!("it prints otherwise the second time:\n{printed}\n{}", print_file(&again)));
    }
    let same_traces = again.traces == file.traces && again.world == file.world;
    let same_schema =
        again.schema.layouts() == file.schema.layouts() && again.schema.fields() == file.schema.fields();
    (!same_traces || !same_schema)
        .then(|| format!("the file is another one after printing and parsing:\n{printed}"))
}

/// Runs a `run:` line; what is wrong with its outcome.
fn evaluate(file: &TraceFile, run: &Run) -> Option<String> {
    let schema = Arc::new(file.schema.clone());
    let mut world = World::build(&file.world, &schema);
    let bits = |world: &World, value: &RunValue| match *value {
        RunValue::Bits(_, bits) => Some(bits),
        RunValue::Object(number) => Some(world.object_address(number)),
        RunValue::Any => None,
    };
    let inputs: Option<Vec<_>> = run.inputs.iter().map(|value| bits(&world, value)).collect();
    let inputs = inputs?;
    let trace: &Trace = &file.traces[run.trace];
    let end = match Evaluator::new(trace, &schema).with_units(&file.traces).run(
        &mut world,
        &inputs,
        Limits::default(),
    ) {
        Ok(outcome) => outcome.end,
        Err(error) if matches!(error.fault, Fault::Opaque(_)) => return None,
        Err(error) => return Some(format!("line {}: {error}", run.line)),
    };
    let agrees = match (&run.outcome, &end) {
        (text_outcome, End::Finish(results)) => match text_outcome {
            Outcome::Finish(wanted) => {
                let same = |(wanted, bits_found): (&RunValue, &u64)| {
                    bits(&world, wanted).is_none_or(|wanted| wanted == *bits_found)
                };
                wanted.len() == results.len() && wanted.iter().zip(results).all(same)
            }
            other => *other == Outcome::Any,
        },
        (Outcome::Exit(wanted), End::Exit { number, .. }) => wanted == number,
        (outcome, _) => *outcome == Outcome::Any,
    };
    (!agrees).then(|| format!("line {}: the run ends with {}", run.line, describe(trace, &end)))
}

fn describe(trace: &Trace, end: &End) -> String {
    let End::Finish(results) = end else { return format!("{end:?}") };
    let finish = trace.insts.iter().rev().find(|inst| inst.op == Op::Finish);
    let types = finish.iter().flat_map(|inst| &inst.args).map(|&arg| trace.ty(arg));
    let show = |(ty, &bits): (tracelift_core::Type, &u64)| match ty {
        tracelift_core::Type::Int => format!("{}", bits as i64),
        tracelift_core::Type::Float => format!("{:?}", f64::from_bits(bits)),
        _ => format!("{bits:#x}"),
    };
    format!("finish({})", types.zip(results).map(show).collect::<Vec<_>>().join(", "))
}

#[test]
fn trace_files_parse_print_verify_and_run() {
    let mut problems = Vec::new();
    let mut ops = HashSet::new();
    for path in files() {
        let source = std::fs::read_to_string(&path).expect("a trace file can be read");
        for problem in check(&source, &mut ops) {
            problems.push(format!("{}: {problem}", path.display()));
        }
    }
    let missing: Vec<_> = Op::ALL.iter().filter(|op| !ops.contains(op)).map(|op| op.info().name).collect();
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
    assert!(missing.is_empty(), "no trace file uses {missing:?}");
}

#[test]
fn files_that_are_not_as_expected_are_noticed() {
    let problems = |source| check(source, &mut HashSet::new()).join("\n");
    assert_eq!(problems("L0(i0):\nfinish(i1)\n"), "line 2: 'i1' is not defined");
    assert_eq!(problems("L0(i0):\nfinish(i0)\n; error: nothing\n"), "line 3: no error 'nothing'");
    assert_eq!(problems("L0(i0):\nfinish(i0)\nrun: 3 -> finish(4)\n"), "line 3: the run ends with finish(3)");
    assert_eq!(problems("L0(i0):\nguard_true(f1)\nf1 = float_neg(1.5)\nfinish(i0)\n").lines().count(), 2);
}
