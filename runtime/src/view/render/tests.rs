//! What the page says, and that nothing of a program's text becomes a part of the page.
//!
//! Example: a file with the name `<script>` is shown by that name, and is no script.

use base64_of::base64;
use expect_test::expect;
use sha2::{Digest, Sha256};

use super::*;
use crate::ids::TraceId;
use crate::view::model::{Exit, Failure, File, Level, Line, Location, Op, Place, Trace};
use crate::view::text::readable;

/// A text that would do harm.
const EVIL: &str = "</pre></script><script>alert('1')</script>&amp;\" onclick=\"x";

fn place(line: u32) -> Place {
    Place { file: 0, line, function: "f".into(), name: format!("app.lua:{line} in f") }
}

fn exit(number: u32, kind: &'static str, to_interpreter: u64, to_side: u64) -> Exit {
    let side = (to_side > 0).then_some(TraceId(1));
    let meaning = "a condition went the other way".into();
    Exit { number, kind, place: Some(place(3)), meaning, to_interpreter, to_side, side, ..Exit::default() }
}

/// A loop with one side trace.
fn model() -> Model {
    let lines = ["local s = 0", "for i = 1, n do", "  if i % 3 == 0 then s = s + i end", "end"];
    let line = |text: &&str| Line { text: text.to_string(), ..Line::default() };
    let mut lines: Vec<Line> = lines.iter().map(line).collect();
    (lines[2].machine, lines[2].interpreted, lines[2].traces) = (90_000, 90, vec![TraceId(0), TraceId(1)]);
    let root = Trace {
        number: TraceId(0),
        kind: "loop",
        place: Some(place(2)),
        entries: 3,
        iterations: 30_000,
        ops: (20, 9),
        region: vec![TraceId(0), TraceId(1)],
        recorded: vec![Op { at: Some((0, 3)), text: "i3 = int_rem(i1, 3)".into() }],
        optimized: vec![Op { at: None, text: "L0(i1):".into() }],
        code: "  4a  add %rax,%rcx\n".into(),
        exits: vec![exit(0, "loop_end", 3, 0), exit(1, "guard", 2, 20_000), exit(2, "guard", 0, 0)],
        lines: vec![(0, 2), (0, 3)],
        ..Trace::default()
    };
    let side = Trace {
        number: TraceId(1),
        kind: "side trace",
        place: Some(place(3)),
        parent: Some((TraceId(0), 1)),
        root: TraceId(0),
        entries: 20_000,
        exits: vec![exit(0, "guard", 4, 0)],
        ..Trace::default()
    };
    let location = Location {
        place: Some(place(2)),
        kind: "loop",
        level: Level::Fair,
        verdict: "Machine code: 99.0 % of its iterations.".into(),
        cause: Some(place(3)),
        interpreted: 90,
        machine: 30_000,
        interpreter_s: 0.0021,
        roots: vec![TraceId(0)],
        failures: vec![Failure {
            reason: "call of print".into(),
            meaning: "the recorder does not know how to compile: call of print".into(),
            place: Some(place(3)),
            count: 2,
        }],
        ..Location::default()
    };
    let file = File { name: "app.lua".into(), path: "src/app.lua".into(), lines, missing: None };
    Model { files: vec![file], locations: vec![location], traces: vec![root, side], ..Model::default() }
}

#[test]
fn the_picture_has_exits_with_counts_in_the_order_of_these() {
    let model = model();
    let rows = tree::rows(&model, &model.traces[0]);
    let text: String = rows
        .iter()
        .map(|row| format!("{:<7} {:12} {}{}\n", row.count, row.class, "  ".repeat(row.depth), row.text))
        .collect();
    expect![[r#"
        30000   trace region trace 0, loop, app.lua:2 in f
        20002   exit side      exit 1 at line 3: a condition went the other way → interpreter 2 times
        20000   trace region     trace 1, side trace, app.lua:3 in f
        4       exit lost          exit 0 at line 3: a condition went the other way → interpreter
        3       exit           exit 0 at line 3: a condition went the other way → interpreter
    "#]]
    .assert_eq(&text);
}

#[test]
fn the_first_screen_says_where_to_look() {
    let page = page(&model());
    let text = text_of(&page);
    let (_, text) = text.split_once("Look first").expect("there is a loop to look at");
    let (text, _) = text.split_once("Source").expect("sources come next");
    expect![[r#"
         at app.lua:2 in f (loop, about 2.1 ms in the interpreter): Machine code: 99.0 % of its iterations. the recorder does not know how to compile: call of print, at app.lua:3 in f (call of print, 2×) app.lua:3 in f : if i % 3 == 0 then s = s + i end
        Loops and functions, those that took longest first
        # where iterations time what became of it
        1 app.lua:2 in f loop 30,000 machine code 90 interpreted iterations 0 µs machine code ≈ 2.1 ms interpreted look Machine code: 99.0 % of its iterations. why recordings were given up the recorder does not know how to compile: call of print, at app.lua:3 in f (call of print, 2×) trace 0
    "#]]
    .assert_eq(text);
}

/// The text of a page, with a line for each heading and row.
fn text_of(page: &str) -> String {
    let page = page.replace("<h2>", "\n").replace("<tr>", "\n").replace("<h3>", "\n");
    let mut text = String::new();
    for part in page.split('<') {
        let shown = part.split_once('>').map_or(part, |(_, shown)| shown);
        text += shown.replace("&quot;", "\"").as_str();
        if !shown.ends_with(' ') && !shown.is_empty() && !shown.ends_with('\n') {
            text.push(' ');
        }
    }
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    text.lines().map(|line| words(line).replace(" ,", ",").replace(" )", ")") + "\n").collect()
}

/// All names in the page, and all that links lead to.
fn names_and_targets(page: &str) -> (Vec<&str>, Vec<&str>) {
    let all = |start: &'static str| {
        page.split(start).skip(1).filter_map(|rest| rest.split('"').next()).collect::<Vec<_>>()
    };
    (all(" id=\""), all("href=\"#"))
}

#[test]
fn links_lead_to_what_is_there() {
    let page = page(&model());
    let (names, targets) = names_and_targets(&page);
    assert!(targets.len() > 15, "{targets:?}");
    let missing: Vec<&&str> = targets.iter().filter(|target| !names.contains(target)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    let mut once = names.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), names.len(), "a name stands for one place");
}

/// Each text of the model is harmful, and the page has the same elements as with harmless ones.
#[test]
fn texts_of_a_program_stay_texts() {
    let texts = |evil: &str| {
        let mut model = model();
        let place = || Some(Place { function: evil.into(), name: evil.into(), ..place(2) });
        let failure = || Failure { reason: evil.into(), meaning: evil.into(), place: place(), count: 1 };
        (model.files[0].name, model.files[0].path) = (evil.into(), evil.into());
        model.files[0].lines.iter_mut().for_each(|line| line.text = evil.into());
        model.files[0].lines[1].failures = vec![failure()];
        model.files.push(File {
            name: evil.into(),
            path: evil.into(),
            lines: Vec::new(),
            missing: Some(evil.into()),
        });
        let location = &mut model.locations[0];
        location.cause = place();
        (location.place, location.failures) = (place(), vec![failure()]);
        (location.verdict, location.advice, location.key) = (evil.into(), evil.into(), evil.into());
        for trace in &mut model.traces {
            (trace.place, trace.goes_on_at, trace.code) = (place(), place(), evil.into());
            trace.recorded.iter_mut().chain(&mut trace.optimized).for_each(|op| op.text = evil.into());
            for exit in &mut trace.exits {
                (exit.place, exit.test, exit.meaning) = (place(), evil.into(), evil.into());
                exit.failures = vec![failure()];
            }
        }
        model.traces[1].place = Some(Place { file: 1, ..place().unwrap_or_default() });
        model.stats.jit = evil.into();
        page(&model)
    };
    let elements = |page: &str| {
        page.split('<')
            .skip(1)
            .map(|part| part.split([' ', '>']).next().map(str::to_string))
            .collect::<Vec<_>>()
    };
    let (evil, harmless) = (texts(EVIL), texts("harmless"));
    assert_eq!(elements(&evil), elements(&harmless));
    assert!(!evil.contains("alert('1')</script>") && !evil.contains("\" onclick=\"x"));
    assert!(evil.contains("&lt;script&gt;alert('1')&lt;/script&gt;&amp;amp;&quot; onclick=&quot;x"));
    let bytes = texts(&readable(b"a\xff\x00b"));
    assert!(bytes.contains("a\\xff\\u{0}b"));
}

#[test]
fn code_that_was_made_with_that_of_others_says_so() {
    let page = page(&model());
    assert_eq!(page.matches("there is no listing of it alone").count(), 1, "the side trace has none");
}

#[test]
fn a_run_without_loops_has_a_page() {
    let text = text_of(&page(&Model::default()));
    assert!(text.contains("There was no loop") && text.contains("Nothing was compiled."), "{text}");
}

#[test]
fn the_policy_names_the_script() {
    let sum = base64(&Sha256::digest(SCRIPT.as_bytes()));
    assert!(POLICY.contains(&format!("'sha256-{sum}'")), "script-src 'sha256-{sum}'");
    assert!(!SCRIPT.contains("</") && !STYLE.contains("</"));
}

mod base64_of {
    /// Base64 of a sum of 32 bytes.
    pub fn base64(bytes: &[u8]) -> String {
        let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut out = String::new();
        for chunk in bytes.chunks(3) {
            let word =
                chunk.iter().chain([0, 0].iter()).take(3).fold(0, |word, &byte| word << 8 | u32::from(byte));
            for at in 0..4 {
                let letter = letters[(word >> (18 - 6 * at) & 63) as usize] as char;
                out.push(if at <= chunk.len() { letter } else { '=' });
            }
        }
        out
    }
}
