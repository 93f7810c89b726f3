//! Cases that failed once, and others that are wanted for sure: trace files in `traces/found`, each with one
//! run.

use std::path::Path;

use tracelift_core::testbed::natives;
use tracelift_core::testgen::Case;
use tracelift_core::text::{parse_file, RunValue, TraceFile};
use tracelift_core::world_spec::SpecValue;

/// The files' names and what they hold, in order.
pub fn found() -> Vec<(String, TraceFile)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces/found");
    let entries = std::fs::read_dir(folder).expect("the folder of cases can be read");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("its entries can be read").path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "no case was found");
    let read = |path: &std::path::PathBuf| {
        let source = std::fs::read_to_string(path).expect("a case can be read");
        let file = parse_file(&source, &natives).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        (path.file_stem().unwrap_or_default().to_string_lossy().into_owned(), file)
    };
    paths.iter().map(read).collect()
}

/// The case that a trace file holds: its first trace with the inputs of its first run.
pub fn case_of(file: &TraceFile) -> Case {
    let inputs = file.runs[0].inputs.iter().map(|input| match *input {
        RunValue::Object(number) => SpecValue::Object(number),
        RunValue::Bits(_, bits) => SpecValue::Bits(bits),
        RunValue::Any => panic!("an input without a value"),
    });
    let (trace, inputs) = (file.traces[0].clone(), inputs.collect());
    Case { seed: 0, trace, spec: file.world.clone(), inputs }
}
