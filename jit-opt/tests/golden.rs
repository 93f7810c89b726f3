//! Golden tests: the trace files of `tests/traces/opt`, each trace with what the optimizer makes of it.
//!
//! Problem: "this trace in, that trace out" wants to be read, compared and changed as text, and not as
//! strings within Rust; but an expectation that a program writes by itself may well be wrong. Design: below
//! each trace stand its `run:` lines and an `; expect:` block for each configuration that is of interest;
//! its last line names the rules that fired. A `; test opt` line above the first trace states the options
//! of the whole file, one below a trace those of the next block alone:
//!
//! | option | meaning |
//! |---|---|
//! | `-NAME`, `+NAME`, with commas | passes, as for [`Config::parse`] |
//! | `keep-records` | record operations stay |
//! | `host-collects` | the host looks at its debt after each exit |
//! | `short-preamble` | the way into a peeled loop is printed, too |
//! | `no-fuel` | nothing may be rewritten |
//!
//! `UPDATE_EXPECT=1 cargo test -p tracelift-opt --test golden` rewrites the blocks. Invariant: nothing is
//! rewritten that is a miscompile as far as the file can tell: both forms of each trace verify, each run
//! ends as the file says, and optimized as recorded, with the same memory, also where any one guard is made
//! to fail. Example:
//!
//! ```text
//! # A load is not repeated.
//! trace twice
//! L0(p0):
//! i1 = load(p0, BoxedInteger.intval)
//! i2 = load(p0, BoxedInteger.intval)
//! finish(i1, i2)
//! run: @b5 -> finish(5, 5)
//! ; expect:
//! ; L0(p0):
//! ; i1 = load(p0, BoxedInteger.intval)
//! ; finish(i1, i1)
//! ; # rules: load_seen
//! ```

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use tracelift_core::eval::{compare_with_recorded, may_end_as, End, Evaluator, Limits, Outcome};
use tracelift_core::planted::{with_planted, Bug};
use tracelift_core::testbed::natives;
use tracelift_core::text::{self, parse_file, print_trace_in, Directive, Run, RunValue, TraceFile};
use tracelift_core::verify::{verify, Mode};
use tracelift_core::world::compare::same_number;
use tracelift_core::world::World;
use tracelift_core::{Schema, Trace, Type};
use tracelift_opt::{optimize, Config, Optimized};

/// At most so many guards of one run are made to fail, evenly chosen.
const FORCED: u64 = 30;

/// What a `; test opt` line says.
#[derive(Clone, Default)]
struct Options {
    config: Config,
}

impl Options {
    fn parse(words: &str) -> Result<Options, String> {
        let mut options = Options::default();
        for word in words.split_whitespace() {
            match word {
                "keep-records" => options.config.keep_records = true,
                "host-collects" => options.config.host_collects = true,
                "short-preamble" => options.config.wants_way_in = true,
                "no-fuel" => options.config.fuel = Some(0),
                passes => options.config.switch(passes).map_err(|error| error.to_string())?,
            }
        }
        Ok(options)
    }
}

/// An `; expect:` block: the trace above it, and the lines of the file that it has.
struct Block {
    trace: usize,
    options: Options,
    /// Its first line below `; expect:`, counted from 0, and how many there are.
    start: usize,
    lines: Vec<String>,
}

/// The blocks of a file, in order.
fn blocks(file: &TraceFile) -> Result<Vec<Block>, String> {
    let starts: Vec<usize> = file.inst_lines.iter().map(|lines| lines[0]).collect();
    let alone: Vec<&Directive> = file.directives.iter().filter(|directive| directive.alone).collect();
    let (mut blocks, mut of_file, mut of_next) = (Vec::new(), Options::default(), None);
    let mut rest = &alone[..];
    while let Some((directive, after)) = rest.split_first() {
        rest = after;
        let above = starts.iter().filter(|&&start| start < directive.line).count();
        let told = |error: String| format!("line {}: {error}", directive.line);
        if let Some(words) = directive.text.strip_prefix("test opt") {
            let options = Options::parse(words).map_err(told)?;
            match above {
                0 => of_file = options,
                _ => of_next = Some(options),
            }
        } else if directive.text == "expect:" {
            let trace = above.checked_sub(1).ok_or_else(|| told("no trace above it".into()))?;
            let is_next = |(index, line): &(usize, &&Directive)| {
                line.line == directive.line + 1 + index
                    && line.text != "expect:"
                    && !line.text.starts_with("test opt")
            };
            let lines: Vec<String> =
                rest.iter().enumerate().take_while(is_next).map(|(_, line)| line.text.clone()).collect();
            rest = &rest[lines.len()..];
            let options = of_next.take().unwrap_or_else(|| of_file.clone());
            blocks.push(Block { trace, options, start: directive.line, lines });
        }
    }
    let bare = (0..file.traces.len()).find(|index| blocks.iter().all(|block| block.trace != *index));
    match bare {
        Some(index) => Err(format!("line {}: a trace without `; expect:` below it", starts[index])),
        None => Ok(blocks),
    }
}

/// What a block should say.
fn listing(file: &TraceFile, block: &Block) -> Result<Vec<String>, String> {
    let (trace, schema) = (&file.traces[block.trace], &file.schema);
    let verified = |what: &str, trace: &Trace, mode| match verify(trace, schema, mode).first() {
        Some(error) => Err(format!("{what} does not verify: {}\n{}", error.message, print(file, trace))),
        None => Ok(()),
    };
    verified("the trace", trace, Mode::Recorded)?;
    let optimized = match optimize(trace, schema, &block.options.config) {
        Ok(optimized) => optimized,
        Err(error) => return Ok(vec![format!("# refused: {error}")]),
    };
    let mode = if block.options.config.keep_records { Mode::Optimized } else { Mode::Expanded };
    verified("the optimized trace", &optimized.trace, mode)?;
    for run in file.runs.iter().filter(|run| run.trace == block.trace) {
        evaluate(file, run, &optimized)
            .map_err(|what| format!("line {}: {what}\n{}", run.line, print(file, &optimized.trace)))?;
    }
    let mut out = print(file, &optimized.trace);
    if block.options.config.wants_way_in {
        let short = optimized.peeled.as_ref().and_then(|peeled| peeled.short_preamble());
        let short = short.map_or(": none\n".to_string(), |short| format!("\n{}", print(file, short)));
        let _ = write!(out, "# short preamble{short}");
    }
    let rules: Vec<&str> = optimized.report.rules.keys().copied().collect();
    let rules = if rules.is_empty() { "none".to_string() } else { rules.join(", ") };
    let _ = writeln!(out, "# rules: {rules}");
    Ok(out.lines().map(str::to_string).collect())
}

/// A trace without its name.
fn print(file: &TraceFile, trace: &Trace) -> String {
    let mut trace = trace.clone();
    trace.name.clear();
    print_trace_in(&trace, &file.schema, &file.world)
}

/// A run as recorded and optimized, and with each guard made to fail: what differs.
fn evaluate(file: &TraceFile, run: &Run, optimized: &Optimized) -> Result<(), String> {
    let schema = Arc::new(file.schema.clone());
    let recorded = &file.traces[run.trace];
    let once = |trace: &Trace, limits: Limits| run_once(file, &schema, trace, run, limits);
    let first = once(recorded, Limits::default())?.0;
    as_said(run, recorded, &first)?;
    let second = compare(&schema, recorded, optimized, None, once)?;
    if !may_end_as(recorded, optimized.report.has_delayed(), &first, &second) {
        return Err(format!("recorded it ends with {}, optimized with {}", told(&first), told(&second)));
    }
    let step = 1 + second.guards_executed / FORCED;
    for guard in (1..=second.guards_executed).step_by(step as usize) {
        compare(&schema, recorded, optimized, Some(guard), once)
            .map_err(|what| format!("guard execution {guard} made to fail: {what}"))?;
    }
    Ok(())
}

/// Compares both forms where the optimized one ends. A guard without snapshot says nothing of its state: then
/// the recorded trace must leave, too.
fn compare(
    schema: &Schema,
    recorded: &Trace,
    optimized: &Optimized,
    force_guard: Option<u64>,
    run: impl Fn(&Trace, Limits) -> Result<(Outcome, World), String>,
) -> Result<Outcome, String> {
    let (alone, _) = run(&optimized.trace, Limits { force_guard, ..Limits::default() })?;
    if !matches!(alone.end, End::Exit { .. }) || alone.origin.is_some() {
        return compare_with_recorded(schema, recorded, &optimized.trace, force_guard, run);
    }
    let (first, _) = run(recorded, Limits::default())?;
    let is_exit = matches!(first.end, End::Exit { .. });
    match force_guard.is_some() || (is_exit && first.iteration == alone.iteration) {
        true => Ok(alone),
        false => Err(format!("recorded it ends with {}, optimized with {}", told(&first), told(&alone))),
    }
}

fn run_once(
    file: &TraceFile,
    schema: &Arc<Schema>,
    trace: &Trace,
    run: &Run,
    limits: Limits,
) -> Result<(Outcome, World), String> {
    let mut world = World::build(&file.world, schema);
    let bits = |input: &RunValue| match *input {
        RunValue::Bits(_, bits) => Ok(bits),
        RunValue::Object(number) => Ok(world.object_address(number)),
        RunValue::Any => Err("an input cannot be `_`".to_string()),
    };
    let inputs: Vec<u64> = run.inputs.iter().map(bits).collect::<Result<_, _>>()?;
    let mut bound = trace.clone();
    bound.bind(|number| world.object_address(number));
    // A loop without end is cut off early; the way to a certain place is not.
    let steps = if limits.stop_at.is_some() { 100_000 } else { 10_000 };
    let evaluator = Evaluator::new(&bound, schema).with_units(&file.traces);
    let outcome = evaluator.run(&mut world, &inputs, Limits { steps, ..limits });
    outcome.map(|outcome| (outcome, world)).map_err(|error| error.to_string())
}

/// Whether a run of the recorded trace ends as its line says.
fn as_said(run: &Run, recorded: &Trace, outcome: &Outcome) -> Result<(), String> {
    let types = || recorded.insts.last().into_iter().flat_map(|inst| &inst.args).map(|&arg| recorded.ty(arg));
    let same = |((wanted, &found), ty): ((&RunValue, &u64), Type)| match *wanted {
        RunValue::Bits(_, bits) => same_number(ty, bits, found),
        RunValue::Object(_) | RunValue::Any => true,
    };
    let is_said = match (&run.outcome, &outcome.end) {
        (text::Outcome::Any, _) => true,
        (text::Outcome::Exit(number), End::Exit { number: taken, .. }) => number == taken,
        (text::Outcome::Finish(wanted), End::Finish(found)) => {
            wanted.len() == found.len() && wanted.iter().zip(found).zip(types()).all(same)
        }
        _ => false,
    };
    if is_said {
        return Ok(());
    }
    Err(format!("the run ends with {}, not as the line says", told(outcome)))
}

fn told(outcome: &Outcome) -> String {
    format!("{:?} in iteration {}", outcome.end, outcome.iteration)
}

/// Lines that both have, that only the first has, and that only the second has.
fn difference(expected: &[String], found: &[String]) -> String {
    let mut common = vec![vec![0; found.len() + 1]; expected.len() + 1];
    for (row, left) in expected.iter().enumerate().rev() {
        for (column, right) in found.iter().enumerate().rev() {
            common[row][column] = match left == right {
                true => common[row + 1][column + 1] + 1,
                false => common[row + 1][column].max(common[row][column + 1]),
            };
        }
    }
    let (mut row, mut column, mut out) = (0, 0, String::new());
    while row < expected.len() || column < found.len() {
        let (left, right) = (expected.get(row), found.get(column));
        let takes_left =
            right.is_none() || left.is_some() && common[row + 1][column] >= common[row][column + 1];
        let (sign, line) = match (left, right) {
            (Some(left), Some(right)) if left == right => (' ', left),
            (Some(left), _) if takes_left => ('-', left),
            (_, Some(right)) => ('+', right),
            (_, None) => break,
        };
        let _ = writeln!(out, "  {sign} {line}");
        row += (sign != '+') as usize;
        column += (sign != '-') as usize;
    }
    out
}

/// The file with all its blocks as they should be; what is wrong with it besides.
fn check(source: &str) -> (String, Vec<String>) {
    let parsed = parse_file(source, &natives).map_err(|error| error.to_string());
    let blocks = parsed.and_then(|file| blocks(&file).map(|blocks| (file, blocks)));
    let (file, blocks) = match blocks {
        Ok(both) => both,
        Err(what) => return (source.to_string(), vec![what]),
    };
    let (mut out, mut problems, mut done) = (String::new(), Vec::new(), 0);
    let lines: Vec<&str> = source.lines().collect();
    for block in &blocks {
        let found = listing(&file, block).unwrap_or_else(|what| {
            problems.push(format!("trace {}: {what}", file.traces[block.trace].name));
            block.lines.clone()
        });
        out.extend(lines[done..block.start].iter().map(|line| format!("{line}\n")));
        out.extend(found.iter().map(|line| format!("; {line}\n")));
        done = block.start + block.lines.len();
    }
    out.extend(lines[done..].iter().map(|line| format!("{line}\n")));
    (out, problems)
}

/// The paths and texts of the files, in order.
fn files() -> Vec<(PathBuf, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/traces/opt");
    let entries = std::fs::read_dir(folder).expect("the folder of trace files can be read");
    let paths = entries.map(|entry| entry.expect("its entries can be read").path());
    let mut paths: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|extension| extension == "trace")).collect();
    paths.sort();
    let read = |path: PathBuf| {
        let source = std::fs::read_to_string(&path).expect("a trace file can be read");
        (path, source)
    };
    paths.into_iter().map(read).collect()
}

#[test]
fn traces_become_what_their_files_say() {
    let files = files();
    assert!(!files.is_empty(), "there are no trace files");
    let updates = std::env::var_os("UPDATE_EXPECT").is_some();
    let mut wrong = String::new();
    for (path, source) in files {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let (new, problems) = check(&source);
        problems.iter().for_each(|problem| wrong += &format!("\n{name}: {problem}\n"));
        if new == source {
            continue;
        }
        if updates {
            std::fs::write(&path, new).expect("the file can be written");
            continue;
        }
        wrong += &format!("\n{name}: what was expected (-) and what came out (+)\n");
        wrong += &changed_traces(&source, &new);
    }
    assert!(wrong.is_empty(), "{wrong}\nIf what came out is right, run this test with UPDATE_EXPECT=1.");
}

/// The traces of a file that come out otherwise, with the lines that differ.
fn changed_traces(old: &str, new: &str) -> String {
    let pieces = |source: &str| -> Vec<Vec<String>> {
        let mut pieces = vec![Vec::new()];
        for line in source.lines() {
            if line.starts_with("trace ") {
                pieces.push(Vec::new());
            }
            pieces.last_mut().expect("there is one from the start").push(line.to_string());
        }
        pieces
    };
    let both = pieces(old).into_iter().zip(pieces(new));
    both.filter(|(old, new)| old != new).map(|(old, new)| difference(&old, &new)).collect()
}

#[test]
fn a_file_is_not_as_expected() {
    let problems = |source: &str| check(source).1.join("\n");
    let found = |source: &str| check(source).0;
    let trace = "trace t\nL0(i0):\ni1 = int_add(i0, 0)\nfinish(i1)\n";
    assert!(problems(trace).contains("line 2: a trace without `; expect:`"));
    assert!(problems("; test opt -nonsense\n").contains("line 1: there is no pass `nonsense`"));
    assert!(
        problems(&format!("{trace}run: 3 -> finish(4)\n; expect:\n")).contains("line 5: the run ends with")
    );
    // What stands in a block is replaced, and nothing else is.
    let [above, below] = [format!("{trace}run: 3 -> finish(3)\n; expect:\n"), "\n# More.\n".to_string()];
    let wanted = format!("{above}; L0(i0):\n; finish(i0)\n; # rules: add_zero\n{below}");
    assert_eq!(found(&format!("{above}; some\n; lines\n{below}")), wanted);
    assert_eq!(found(&wanted), wanted);
    let kept = format!("{above}; L0(i0):\n; i1 = int_add(i0, 0)\n; finish(i1)\n; # rules: none\n");
    assert_eq!(
        found(&above.replace("; expect", "; test opt -all\n; expect")),
        kept.replace("; expect", "; test opt -all\n; expect")
    );
    assert_eq!(found(&format!("; test opt -all\n{above}")), format!("; test opt -all\n{kept}"));
    let [old, new] = [["a", "b", "c"], ["a", "d", "c"]].map(|lines| lines.map(str::to_string));
    assert_eq!(difference(&old, &new), "    a\n  - b\n  + d\n    c\n");
}

/// The runs alone see them, so that a wrong expectation is not written by mistake.
#[test]
fn runs_see_planted_bugs() {
    let files = files();
    let is_seen =
        |bug: Bug| with_planted(bug, || files.iter().any(|(_, source)| !check(source).1.is_empty()));
    let bugs = [
        Bug::GuardForgottenAcrossLabel,
        Bug::GuardFalseTakenAsTrue,
        Bug::ExpandNoBoundsCheck,
        Bug::ExpandNoTagCheck,
        Bug::HeapStoreAliasIgnored,
        Bug::HeapCallKeepsLoads,
        Bug::HeapNarrowForwarded,
        Bug::VirtualMissingInSnapshot,
        Bug::PeelInputsKept,
        Bug::DelayedMissingAtExit,
        Bug::DelayedCallReads,
        Bug::BoundsOneTooFar,
        Bug::UnitLoadsKept,
        Bug::UnitVirtualKept,
        Bug::UnitStorePending,
        Bug::UnitResumePointKept,
    ];
    let missed: Vec<Bug> = bugs.into_iter().filter(|&bug| !is_seen(bug)).collect();
    assert!(missed.is_empty(), "no run sees {missed:?}");
}
