//! `tlua` does what stock Lua's command does: command lines, streams, signals, the prompt, each function.
//!
//! Problem: people put `tlua` where `lua` stands, in first lines, makefiles and programs that start it; any
//! difference is one too many. Design: stock Lua's own command is built from the same sources
//! (`tracelift_lua::STOCK_COMMAND`); each case of a table is given to both, and to `tlua` with other settings
//! of the JIT. What they print, on which stream, and how they end is the same to the byte. The one difference
//! is a line on `-j` where all options are told. Invariant: `docs/conformance.md` is what these runs gave.
//!
//! Example: `UPDATE_EXPECT=1 cargo test --test conformance` writes the page anew.

#![cfg(target_os = "linux")]

#[path = "conformance/case.rs"]
mod case;
#[path = "conformance/cases.rs"]
mod cases;
#[path = "conformance/functions.rs"]
mod functions;
#[path = "conformance/page.rs"]
mod page;

use std::path::{Path, PathBuf};

use case::{case, Around, Case, Outcome};
use page::{Group, Line};
use tracelift_lua::STOCK_COMMAND;

const TLUA: &str = env!("CARGO_BIN_EXE_tlua");

/// What of `tlua`'s list of options stock Lua's has not.
const OWN_OPTION: &str =
    "  -jword    compile or not, and tell: on off v stats counts view= cache= p dump debug= compile= opt=\n";

/// Settings of the JIT under which the cases run.
const SETTINGS: [&[(&str, &str)]; 4] = [
    &[],
    &[("TLUA_JIT", "opt=threshold=1,side-threshold=1")],
    &[("TLUA_JIT", "opt=threshold=20,side-threshold=3,-baseline")],
    &[("TLUA_JIT", "off")],
];

/// A folder with all scripts.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("conformance").join(name);
    std::fs::create_dir_all(&folder).expect("the test folder can be made");
    for (name, text) in cases::SCRIPTS.iter().chain(functions::FILES) {
        std::fs::write(folder.join(name), text).expect("the test file can be written");
    }
    folder
}

/// What a case gives, without what `tlua` alone tells, and without what depends on the moment of an
/// interrupt: in which calls it found the program, and whether in a function that has lines.
fn outcome(case: &Case, executable: &str, folder: &Path, jit: &[(&str, &str)]) -> Outcome {
    let mut outcome = case.run(executable, folder, jit);
    outcome.stderr = outcome.stderr.replace(OWN_OPTION, "");
    if case.around == Around::Interrupt {
        for text in [&mut outcome.stdout, &mut outcome.stderr] {
            *text = text.replace("(command line):1: interrupted!", "interrupted!");
        }
        let lines: Vec<&str> = outcome.stderr.lines().collect();
        if let [first, second, .., before, last] = lines[..] {
            outcome.stderr = [first, second, before, last].join("\n");
        }
    }
    outcome
}

/// Runs all cases of a group, and says which differ.
fn compare(name: &str, cases: &[Case], differ: &mut Vec<String>) -> Vec<Line> {
    let stock_folder = folder(&format!("{name}-stock"));
    let folders: Vec<PathBuf> =
        (0..SETTINGS.len()).map(|number| folder(&format!("{name}-{number}"))).collect();
    let mut lines = Vec::new();
    for case in cases {
        let stock = outcome(case, STOCK_COMMAND, &stock_folder, &[]);
        let mut is_same = true;
        for (jit, folder) in SETTINGS.iter().zip(&folders) {
            let ours = outcome(case, TLUA, folder, jit);
            if ours != stock {
                is_same = false;
                differ.push(format!("{} {jit:?}\nstock: {stock:?}\ntlua:  {ours:?}", page::shown(case)));
            }
        }
        lines.push(Line { case: *case, stock, is_same });
    }
    lines
}

#[test]
fn command_lines_functions_and_the_page() {
    let mut differ = Vec::new();
    let groups: Vec<Group> = cases::GROUPS
        .iter()
        .enumerate()
        .map(|(number, &(name, cases))| Group {
            name,
            lines: compare(&number.to_string(), cases, &mut differ),
        })
        .collect();
    assert!(groups.iter().map(|group| group.lines.len()).sum::<usize>() > 200);

    let (stock, names) = functions::rows(STOCK_COMMAND, &folder("functions-stock"), &[]);
    assert_eq!(functions::without_row(&stock, &names), Vec::<String>::new());
    assert!(names.len() > 120, "{names:?}");
    for jit in SETTINGS {
        let (ours, our_names) = functions::rows(TLUA, &folder("functions"), jit);
        assert_eq!(names, our_names);
        for (stock, ours) in stock.iter().zip(&ours).filter(|(stock, ours)| stock != ours) {
            differ.push(format!("{jit:?}\nstock: {stock:?}\ntlua:  {ours:?}"));
        }
        assert_eq!(stock.len(), ours.len());
    }
    assert!(differ.is_empty(), "{} differences:\n{}", differ.len(), differ.join("\n\n"));
    page::check(&page::page(&groups, &stock));
}

/// The interpreter that distributions ship shows lines that come from no terminal, as GNU readline does.
#[test]
fn lines_are_shown_as_by_the_lua_of_distributions() {
    let debian = "/usr/bin/lua5.4";
    if !Path::new(debian).exists() {
        assert!(std::env::var_os("CI").is_none(), "CI installs it");
        println!("left out: {debian} is not installed");
        return;
    }
    let folder = folder("shown-lines");
    let cases = [
        "print(1)\n",
        "for i = 1, 3 do\nprint(i)\nend\n",
        "_PROMPT = 'lua% '\n_PROMPT2 = '... '\nfor i = 1, 2 do\nprint(i) end\n",
        "1, 2\n-- a comment\n\n",
        "os.exit(3)\n",
        "1",
        "",
    ];
    for stdin in cases {
        let case = case::case(&["-i"]).stdin(stdin);
        let [debian, ours] = [debian, TLUA].map(|executable| {
            let Outcome { end, stdout, stderr } = case.run(executable, &folder, &[]);
            let (version, rest) = stdout.split_once('\n').expect("the version comes first");
            assert!(version.starts_with("Lua 5.4."), "{version}");
            (end, rest.to_owned(), stderr)
        });
        assert_eq!(debian, ours, "{stdin:?}");
    }
}

#[test]
fn a_difference_is_seen() {
    let folder = folder("difference");
    let mut differ = Vec::new();
    let case = case(&["-e", "print(os.getenv('TLUA_JIT'))"]);
    let lines = compare("difference", &[case], &mut differ);
    assert!(!lines[0].is_same && differ.len() == SETTINGS.len() - 1, "{differ:?}");
    let usual = outcome(&case, TLUA, &folder, &[]);
    let other = Case { words: &["-e", "io.stderr:write('nil\\n')"], ..case };
    assert_ne!(usual, outcome(&other, TLUA, &folder, &[]));
}

#[test]
fn settings_of_the_jit_are_words() {
    let folder = folder("settings");
    let run = |words: &'static [&'static str], jit: &[(&str, &str)]| case(words).run(TLUA, &folder, jit);
    let told = |words| run(words, &[]).stderr;
    let hot: &[&str] = &["-jstats", "hot.lua", "200000"];
    assert!(told(hot).starts_with("jit: on\nthe program took "), "{}", told(hot));
    assert!(told(hot).contains("iterations  loop hot.lua:"), "{}", told(hot));
    assert!(told(&["-jcounts", "hot.lua", "200000"]).starts_with("jit: on\ncompiled: "));
    let both = told(&["-jcounts", "-jstats", "hot.lua"]);
    assert!(both.find("the program took ") < both.find("compiled: "), "{both}");
    assert!(told(&["-joff", "-jstats", "hot.lua"]).starts_with("jit: off\n"));
    assert!(told(&["-jopt=threshold=2", "-jv", "hot.lua"]).contains("--- trace 0 "));
    assert!(told(&["-jopt=threshold=2", "-jdump", "hot.lua"]).contains("with its machine code"));
    assert!(told(&["-jopt=threshold=2", "-jdump=opt,region", "hot.lua"]).contains("optimized"));
    assert_eq!(told(&["-joff", "-jv", "hot.lua"]), "");
    assert_eq!(told(&["-jon", "-jopt=-fold,-regions,-baseline,+verify,code-limit=64", "hot.lua"]), "");
    for words in [
        &["-j"][..],
        &["-jfoo"],
        &["-jopt"],
        &["-jopt="],
        &["-jopt=fold"],
        &["-jopt=threshold=0"],
        &["-jopt=threshold=1x"],
        &["-jopt=threshold=99999999999"],
        &["-jopt=speed=9"],
        &["-jstats="],
        &["-jcounts="],
    ] {
        let outcome = case::case(&[]).run(TLUA, &folder, &[]);
        assert_eq!(outcome.end, "0");
        let mut command = case::command(TLUA, &folder);
        let output = command.args(words).output().expect("it starts");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            errors.starts_with(&format!("lua: unrecognized option '{}'\nusage: lua ", words[0])),
            "{errors}"
        );
        assert_eq!(output.status.code(), Some(1));
    }
    let refused = run(&["-jopt=-nonsense", "hot.lua"], &[]);
    assert!(refused.end == "1" && refused.stderr.starts_with("lua: JIT: passes: "), "{refused:?}");
    let refused = run(&["hot.lua"], &[("TLUA_JIT", "on, what")]);
    assert_eq!(
        (refused.end.as_str(), refused.stderr.as_str()),
        ("1", "lua: TLUA_JIT: unrecognized word 'what'\n")
    );
    let several = [("TLUA_JIT", "-jopt=threshold=2,-fold,-guards,stats=counts.json v")];
    let outcome = run(&["hot.lua"], &several);
    assert!(outcome.end == "0" && outcome.stderr.contains("--- trace 0 "), "{outcome:?}");
    let counts = std::fs::read_to_string(folder.join("counts.json")).expect("the report was written");
    assert!(counts.starts_with('{') && counts.contains("\"jit\": \"on\""), "{counts}");
    // What is said on the command line comes after the environment, and `-E` is without that.
    assert!(run(&["-jon", "-jopt=threshold=2", "-jv", "hot.lua"], &[("TLUA_JIT", "off")])
        .stderr
        .contains("--- trace 0 "));
    assert_eq!(run(&["-E", "hot.lua"], &[("TLUA_JIT", "nonsense")]).stderr, "");
}

/// `os.exit` reports as well, once.
#[test]
fn a_report_comes_at_any_end() {
    let folder = folder("report");
    for words in [
        &["-jstats", "-e", "os.exit(3)"][..],
        &["-jstats", "-e", "os.exit(3, true)"],
        &["-jstats", "-e", "error('x')"],
        &["-jstats", "-e", "x = 1"],
    ] {
        let output = case::command(TLUA, &folder).args(words).output().expect("it starts");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(errors.matches("jit: on\n").count(), 1, "{words:?}: {errors}");
    }
}

#[test]
fn endless_output_ends_with_its_reader() {
    let case = case(&["-e", "while true do print('again') end"]).around(Around::Head);
    let outcome = case.run(TLUA, &folder("head"), &[]);
    assert_eq!((outcome.end.as_str(), outcome.stdout.as_str()), ("signal 13", "again\n"));
}

/// The manual page names all words after `-j`, and the items of `opt=`.
#[test]
fn the_manual_page_names_all_words() {
    let read = |path: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let (source, page) = (read("hosts/lua/c/tlua_settings.c"), read("docs/tlua.1").replace("\\-", "-"));
    let tables = ["} numbers[] = {", "} switches[] = {", "*const bare[] = {"];
    let names: Vec<&str> = (tables.iter())
        .flat_map(|table| {
            let (_, rest) = source.split_once(table).expect("the table is there");
            let (rows, _) = rest.split_once("};").expect("it ends");
            rows.split('"').skip(1).step_by(2)
        })
        .collect();
    assert!(names.len() > 15, "{names:?}");
    let missing: Vec<&&str> = names.iter().filter(|name| !page.contains(**name)).collect();
    assert!(missing.is_empty(), "docs/tlua.1 lacks {missing:?}");
}
