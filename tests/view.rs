//! `tlua -jview=FILE` on whole programs: what the page says is what has happened, and the command line holds.
//!
//! Problem: the page's parts have tests of their own; whether a user finds the cause of a slow loop in it
//! depends on the Lua host, too: lines, names of functions, reasons. Design: programs of the benchmarks and
//! a few lines with hostile names run as users run them, and the data of the page is compared with what the
//! programs do; the page itself is looked through for what must be in it. Invariant: the program's output
//! with the view is the one without.
//!
//! Example: in `benches/standing/raytrace.lua` each side trace was entered as often as its exit led there.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A folder of one test's own.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("view").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("the folder for tests can be written");
    folder
}

fn tlua<W: AsRef<OsStr>>(folder: &Path, words: &[W]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tlua"));
    command.args(words).current_dir(folder).env_remove("TLUA_JIT").env_remove("LUA_INIT");
    command.output().expect("tlua is there")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The data and the page of a program, which is run once for each.
fn view(folder: &Path, program: &OsStr, words: &[&str]) -> (Value, String) {
    let plain = tlua(folder, &[program]);
    for file in ["view.json", "view.html"] {
        let all = words.iter().map(OsString::from).chain([format!("-jview={file}").into(), program.into()]);
        let output = tlua(folder, &all.collect::<Vec<_>>());
        assert_eq!(stderr(&output), stderr(&plain));
        assert!(output.stdout == plain.stdout && output.status == plain.status, "{program:?}");
    }
    let read = |file: &str| std::fs::read_to_string(folder.join(file)).expect("it was written");
    (serde_json::from_str(&read("view.json")).expect("it is JSON"), read("view.html"))
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("a number: {value}"))
}

/// Each side trace is entered from its exit only; and what is summed up elsewhere is the same.
fn check_counts(data: &Value) {
    let traces = array(&data["traces"]);
    for trace in traces {
        for exit in array(&trace["exits"]) {
            let at = [&trace["number"], &exit["number"]];
            let hangs = |side: &&Value| [&side["parent"][0], &side["parent"][1]] == at;
            let entered: u64 = traces.iter().filter(hangs).map(|side| number(&side["entries"])).sum();
            assert_eq!(number(&exit["to_side"]), entered, "exit {at:?}");
        }
    }
    let to_host = |kind: &str| -> u64 {
        let exits =
            traces.iter().flat_map(|trace| array(&trace["exits"])).filter(|exit| exit["kind"] == kind);
        exits.map(|exit| number(&exit["to_interpreter"])).sum()
    };
    for kind in ["guard", "loop_end", "collect", "finish"] {
        let counted = data["stats"]["exits"].get(kind).map_or(0, number);
        assert_eq!(to_host(kind), counted, "{kind}");
    }
}

/// All names in the page, and all that links lead to.
fn names_and_targets(page: &str) -> (std::collections::HashSet<&str>, Vec<&str>) {
    let all = |start: &'static str| page.split(start).skip(1).filter_map(|rest| rest.split('"').next());
    (all(" id=\"").collect(), all("href=\"#").collect())
}

fn check_page(page: &str) {
    let (names, targets) = names_and_targets(page);
    let missing: Vec<&&str> = targets.iter().filter(|target| !names.contains(**target)).collect();
    assert!(missing.is_empty() && targets.len() > 5, "{missing:?} of {}", targets.len());
    for outside in ["src=\"", "href=\"http", "url(", "@import"] {
        assert!(!page.contains(outside), "{outside}");
    }
}

#[test]
fn a_program_with_many_side_traces_shows_them_all() {
    let folder = folder("raytrace");
    let program = root().join("benches/standing/raytrace.lua");
    let words = ["-jopt=threshold=50,side-threshold=20"];
    let (data, page) = view(&folder, program.as_os_str(), &words);
    check_counts(&data);
    check_page(&page);
    let traces = array(&data["traces"]);
    assert!(traces.iter().filter(|trace| trace["parent"].is_array()).count() > 15, "{}", traces.len());
    assert_eq!(data["stats"]["compile"]["traces"].as_u64(), Some(traces.len() as u64));
    assert!(page.matches("<svg").count() >= 3 && page.contains("raytrace.lua:89 in Box.intersect"));
    let is_complete = |trace: &&Value| {
        !array(&trace["recorded"]).is_empty()
            && !array(&trace["optimized"]).is_empty()
            && trace["unit"].is_u64() | trace["code"].as_str().is_some_and(|code| code.contains("entry:"))
    };
    assert_eq!(traces.iter().filter(is_complete).count(), traces.len());
    // What has a line of the program at all has one that is there.
    let lines = array(&data["files"][0]["lines"]).len() as u64;
    let known = |op: &&Value| op["at"].as_array().is_some_and(|at| (1..=lines).contains(&number(&at[1])));
    let recorded: Vec<&Value> = traces.iter().flat_map(|trace| array(&trace["recorded"])).collect();
    assert!(recorded.iter().filter(|op| known(op)).count() * 10 > recorded.len() * 9);
}

#[test]
fn a_loop_that_is_not_compiled_says_why() {
    let folder = folder("gsub");
    let program = root().join("benches/micro/m4_gsub_fn.lua");
    let (data, page) = view(&folder, program.as_os_str(), &[]);
    check_counts(&data);
    check_page(&page);
    let location = &data["locations"][0];
    assert!(number(&location["interpreted"]) > 100_000, "{location}");
    assert!(location["level"] != "good", "{location}");
    let place = location["place"]["name"].as_str().expect("it is known");
    assert!(place.starts_with("m4_gsub_fn.lua:"), "{place}");
    let failures = array(&location["failures"]);
    assert!(!failures.is_empty() && failures.iter().all(|failure| !failure["meaning"].is_null()));
    let meaning = failures[0]["meaning"].as_str().expect("it is text");
    assert!(page.contains("Look first at <a") && page.contains(meaning), "{meaning}");
}

/// Iterations are counted once, by whoever runs them.
#[test]
fn iterations_add_up() {
    let folder = folder("sum");
    let text =
        "local function twice(x) return x * 2 end\nlocal s = 0\nfor i = 1, 1000000 do\n  if i % 3 == 0 \
                then s = s + twice(i) end\nend\nprint(s)\n";
    std::fs::write(folder.join("sum.lua"), text).expect("the folder can be written");
    let (data, _) = view(&folder, OsStr::new("sum.lua"), &["-jopt=threshold=50,side-threshold=20"]);
    check_counts(&data);
    let location = &data["locations"][0];
    assert_eq!((&location["place"]["line"], &location["kind"]), (&3.into(), &"loop".into()));
    let all = number(&location["interpreted"]) + number(&location["machine"]);
    assert!((999_900..=1_000_100).contains(&all), "{all}: {location}");
    let lines = array(&data["files"][0]["lines"]);
    let heat = |line: usize| number(&lines[line - 1]["machine"]);
    assert!(heat(4) > 2_000_000 && heat(6) == 0, "{} {}", heat(4), heat(6));
}

/// Names and texts are bytes: they can be markup, and need be no text at all.
#[cfg(unix)]
#[test]
fn hostile_names_and_texts_are_shown_as_they_are() {
    use std::os::unix::ffi::OsStrExt;
    let folder = folder("hostile");
    let name = OsStr::from_bytes(b"<b>&\"'\xff.lua");
    let text =
        b"-- </pre><script>alert(1)</script> \xfe &amp;\nlocal s = 0\nfor i = 1, 20000 do s = s + i end\n\
                 local f = load(\"local s = '<i>' for i = 1, 20000 do s = '<u>' end return s\")\nf()\n";
    std::fs::write(folder.join(name), text).expect("the system takes such names");
    let (data, page) = view(&folder, name, &["-jopt=threshold=50,side-threshold=20"]);
    assert_eq!(data["files"][0]["name"], "<b>&\"'\\xff.lua");
    assert!(page.contains("&lt;b&gt;&amp;&quot;'\\xff.lua:3 in main chunk"), "the name");
    assert!(page.contains("&lt;/pre&gt;&lt;script&gt;alert(1)&lt;/script&gt; \\xfe &amp;amp;"), "the text");
    assert!(page.contains("'&lt;i&gt;'") && !page.contains("<u>") && !page.contains("<b>&"));
    assert_eq!(page.matches("<script").count(), 1, "our own");
    check_page(&page);
}

#[test]
fn the_view_is_written_however_the_program_ends() {
    let folder = folder("ends");
    let hot = "local s = 0 for i = 1, 100000 do s = s + i end ";
    for (end, code) in [("os.exit(3)", 3), ("error('x')", 1), ("os.exit(true, true)", 0)] {
        let _ = std::fs::remove_file(folder.join("v.html"));
        let output = tlua(&folder, &["-jview=v.html", "-e", &format!("{hot} {end}")]);
        assert_eq!(output.status.code(), Some(code), "{end}");
        let page = std::fs::read_to_string(folder.join("v.html")).expect("it was written");
        assert!(page.ends_with("</html>") && page.contains("99,999"), "{end}");
    }
    let output = tlua(&folder, &["-joff", "-jview=v.html", "-e", hot]);
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
    let page = std::fs::read_to_string(folder.join("v.html")).expect("it was written");
    assert!(page.contains("the JIT is off. It had"), "{}", &page[page.len() / 2..]);
}

#[test]
fn what_is_wrong_is_said_in_one_line_before_the_program_runs() {
    let folder = folder("wrong");
    let run = |words: &[&str]| {
        let output = tlua(&folder, words);
        assert!(output.stdout.is_empty(), "the program has not run");
        (output.status.code(), stderr(&output))
    };
    let (code, text) = run(&["-jview=no/such/folder/v.html", "-e", "print(1)"]);
    assert_eq!(code, Some(1));
    assert!(text.ends_with("the view cannot be written: no/such/folder/v.html: No such file or directory\n"));
    assert_eq!(text.lines().count(), 1, "{text}");
    for word in ["-jview", "-jview="] {
        let (code, text) = run(&[word, "-e", "print(1)"]);
        assert_eq!(code, Some(1));
        assert!(text.contains(&format!("unrecognized option '{word}'")), "{text}");
    }
    let script = folder.join("s.lua");
    std::fs::write(&script, "print(1)").expect("the folder can be written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_tracelift"));
    command.current_dir(&folder).args(["run", "--view=no/v.html", "s.lua"]);
    let output = command.output().expect("tracelift is there");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    assert!(
        stderr(&output).starts_with("tracelift: the view cannot be written: no/v.html: "),
        "{}",
        stderr(&output)
    );
    let mut command = Command::new(env!("CARGO_BIN_EXE_tracelift"));
    command.current_dir(&folder).args(["run", "--view=v.html", "s.lua"]);
    assert!(command.output().expect("tracelift is there").status.success());
    let page = std::fs::read_to_string(folder.join("v.html")).expect("it was written");
    assert!(page.contains("There was no loop"));
}
