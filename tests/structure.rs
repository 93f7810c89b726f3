//! The structure that ARCHITECTURE.md draws is the one that the sources have.
//!
//! Problem: a circle of files, an edge between crates that nobody drew, a function that outgrows a screen:
//! each comes in by one small change, and none is seen in its diff. Design: Rust files are parsed, and a file
//! stands on another one if it names it in a path outside of its tests; a C file stands on another one if it
//! mentions a function that only the other one defines. Strongly connected files are a circle. Structs and
//! functions are measured in the same walk. Invariant: what is measured is production code, `#[cfg(test)]`
//! and files of tests left out, and each measure is seen to find something.
//!
//! Example: `runtime/src: a circle: hot -> vm -> hot`.

#[path = "structure/c.rs"]
mod c;
#[path = "structure/rust.rs"]
mod rust;

use std::collections::BTreeMap;
use std::hash::RandomState;
use std::path::{Path, PathBuf};

use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;

/// Lines that a function may have.
const LONGEST: usize = 80;

/// Fields that a struct may have unless [`REASON`] is said at it.
const MOST_FIELDS: usize = 15;

/// How the reason begins why a struct has more.
const REASON: &str = "So many fields";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Something that has a size: a function in lines, a struct in fields.
struct Sized {
    place: String,
    size: usize,
    /// The comment at it.
    comment: String,
}

/// Which files stand on which, by name.
type Edges = BTreeMap<String, Vec<String>>;

/// What was found in a folder's files.
#[derive(Default)]
struct Found {
    edges: Edges,
    functions: Vec<Sized>,
    structs: Vec<Sized>,
    /// Patterns that ask what cell a load or store is of.
    accesses: Vec<String>,
}

/// Files that stand on one another, each circle as one line.
fn circles(edges: &Edges) -> Vec<String> {
    let mut graph: DiGraphMap<&str, (), RandomState> = DiGraphMap::new();
    for (from, others) in edges {
        graph.add_node(from);
        for to in others.iter().filter(|&to| to != from) {
            graph.add_edge(from, to, ());
        }
    }
    let mut found = Vec::new();
    for mut circle in tarjan_scc(&graph).into_iter().filter(|files| files.len() > 1) {
        circle.sort_unstable();
        let inside = |from: &&str| {
            let others = graph.neighbors(from).filter(|to| circle.contains(to)).collect::<Vec<_>>();
            format!("{from} -> {}", others.join(", "))
        };
        found.push(circle.iter().map(inside).collect::<Vec<_>>().join("; "));
    }
    found
}

/// All files below a folder with this ending.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in
            std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        {
            let path = entry.expect("the folder can be read").path();
            match path.extension() {
                None if path.is_dir() => folders.push(path),
                Some(found_ending) if found_ending == ending => found.push(path),
                _ => {}
            }
        }
    }
    found.sort();
    found
}

const CRATES: [&str; 7] = [
    "jit-core/src",
    "jit-opt/src",
    "jit-cranelift/src",
    "runtime/src",
    "hosts/lua/src",
    "hosts/boxed/src",
    "src",
];

fn all() -> Vec<(&'static str, Found)> {
    let mut all: Vec<_> = CRATES.iter().map(|&folder| (folder, rust::read(&root().join(folder)))).collect();
    for folder in ["hosts/lua/c", "hosts/wren/c"] {
        all.push((folder, c::read(&root().join(folder), folder)));
    }
    all
}

/// Folders where circles of files are known and left.
const WITH_CIRCLES: [&str; 1] = ["jit-core/src"];

#[test]
fn no_files_stand_on_one_another() {
    let mut wrong = Vec::new();
    for (folder, found) in all() {
        // The command's two files have nothing to do with each other.
        let has_edges = found.edges.values().any(|others| !others.is_empty());
        assert!(has_edges || folder == "src", "{folder}: no file stands on another");
        let circles = circles(&found.edges);
        if WITH_CIRCLES.contains(&folder) {
            assert!(!circles.is_empty(), "{folder} has no circle any more: take it from the list");
        } else {
            wrong.extend(circles.iter().map(|circle| format!("{folder}: a circle: {circle}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn functions_fit_on_a_screen() {
    let found: Vec<Sized> = all().into_iter().flat_map(|(_, found)| found.functions).collect();
    assert!(found.len() > 1500, "{} functions", found.len());
    let long: Vec<String> = found
        .iter()
        .filter(|function| function.size > LONGEST)
        .map(|function| format!("{}: {} lines", function.place, function.size))
        .collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
}

#[test]
fn structs_are_small_or_say_why_not() {
    let found: Vec<Sized> = all().into_iter().flat_map(|(_, found)| found.structs).collect();
    assert!(found.len() > 200, "{} structs", found.len());
    let large: Vec<String> = found
        .iter()
        .filter(|sized| sized.size > MOST_FIELDS && !sized.comment.contains(REASON))
        .map(|sized| format!("{}: {} fields, and no comment `{REASON}: …`", sized.place, sized.size))
        .collect();
    assert!(large.is_empty(), "{}", large.join("\n"));
}

#[test]
fn one_folder_says_what_a_load_or_store_is_of() {
    let accesses = |folder: &str| rust::read(&root().join(folder)).accesses;
    let found = accesses("jit-core/src");
    assert!(found.iter().any(|place| place.contains("effects/access.rs")), "{found:?}");
    let wrong: Vec<String> =
        ["jit-opt/src", "jit-cranelift/src", "runtime/src"].into_iter().flat_map(accesses).collect();
    assert!(wrong.is_empty(), "ask `CellAccess` of jit-core:\n{}", wrong.join("\n"));
}

/// The packages that each may stand on, as ARCHITECTURE.md draws it: `core <- opt` and so on. Benches and
/// tests of the root package, which stand on all, are left out.
const DRAWN: [(&str, &[&str]); 8] = [
    ("jit-core", &[]),
    ("jit-opt", &["tracelift-core"]),
    ("jit-cranelift", &["tracelift-core"]),
    ("runtime", &["tracelift-core", "tracelift-cranelift", "tracelift-opt"]),
    ("hosts/lua", &["tracelift-core", "tracelift-cranelift", "tracelift-opt", "tracelift-runtime"]),
    ("hosts/boxed", &["tracelift-core", "tracelift-cranelift", "tracelift-opt", "tracelift-runtime"]),
    ("hosts/wren", &["tracelift-runtime"]),
    ("benches", &["tracelift-lua"]),
];

/// The section of a manifest that says what the package itself is built with.
fn dependencies(manifest: &str) -> &str {
    let begin = manifest.find("[dependencies]").map_or(manifest.len(), |at| at + 1);
    manifest[begin..].split("\n[").next().unwrap_or_default()
}

#[test]
fn packages_stand_on_what_is_drawn() {
    let page = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("the page is there");
    let drawn = "Dependency edges: `core <- opt`, `core <- cranelift`, these three `<- runtime <- hosts`";
    assert!(page.contains(drawn), "ARCHITECTURE.md does not say any more: {drawn}");
    for (package, may) in DRAWN {
        let manifest =
            std::fs::read_to_string(root().join(package).join("Cargo.toml")).expect("it is a package");
        let section = dependencies(&manifest);
        let names = section.lines().filter_map(|line| line.split(['.', ' ', '=']).next());
        let wrong: Vec<&str> =
            names.filter(|name| name.starts_with("tracelift-") && !may.contains(name)).collect();
        assert!(wrong.is_empty(), "{package} stands on {wrong:?}, which nobody drew");
    }
}

/// Where all is said that the Lua host knows of a CallInfo.
const CALL_INFO: &str = "tlua_callinfo.h";

/// Whether a word belongs to what differs between versions of Lua in a CallInfo, or in the words of a frame.
fn is_of_call_info(word: &str) -> bool {
    ["callstatus", "nresults", "savedpc", "nextraargs", "luaE_extendCI", "hastocloseCfunc"].contains(&word)
        || ["CIST_", "TLUA_WORD_"].iter().any(|prefix| word.starts_with(prefix))
}

#[test]
fn one_file_knows_the_words_of_a_call_info() {
    let folder = root().join("hosts/lua/c");
    let sources = [files(&folder, "c"), files(&folder, "h")].concat();
    assert!(sources.len() > 40, "{} files", sources.len());
    let mut wrong = Vec::new();
    for file in &sources {
        let name = file.file_name().expect("it has one").to_string_lossy();
        let words = c::words_of(file);
        let found: Vec<&String> = words.iter().filter(|word| is_of_call_info(word)).collect();
        if name == CALL_INFO {
            assert!(found.len() > 10, "{name} knows {found:?} only");
        } else if !found.is_empty() {
            wrong.push(format!("hosts/lua/c/{name}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{CALL_INFO} has functions for this: {}", wrong.join("\n"));
}

/// Features of `tracelift-core` that tests and the command turn on, and nothing that a host is built with.
/// `.ci/run` builds without them; a build of the whole workspace has them on for all, as Cargo unites
/// features.
const FOR_TESTS: [&str; 3] = ["\"oracle\"", "\"testgen\"", "\"planted-bugs\""];

#[test]
fn hosts_are_built_without_the_oracle() {
    let asks = |folder: &Path| {
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).expect("it is a package");
        FOR_TESTS.into_iter().find(|feature| dependencies(&manifest).contains(feature))
    };
    for (package, _) in DRAWN {
        assert_eq!(asks(&root().join(package)), None, "{package} is built with what is for tests");
    }
    assert_eq!(asks(root()), Some(FOR_TESTS[0]), "`tracelift opt` runs traces in the evaluator");
    let core = std::fs::read_to_string(root().join("jit-core/src/lib.rs")).expect("it is a crate");
    for (feature, module) in
        [("oracle", "eval"), ("oracle", "world"), ("oracle", "testbed"), ("testgen", "testgen")]
    {
        let gated = format!("#[cfg(feature = \"{feature}\")]\npub mod {module};");
        assert!(core.contains(&gated), "jit-core/src/lib.rs: `{module}` does not wait for `{feature}`");
    }
}

#[test]
fn a_circle_is_found() {
    let edges = [("a", vec!["b"]), ("b", vec!["c"]), ("c", vec!["b"]), ("d", vec!["a", "d"])];
    let owned =
        |(from, to): (&str, Vec<&str>)| (from.to_string(), to.into_iter().map(String::from).collect());
    assert_eq!(circles(&edges.into_iter().map(owned).collect()), ["b -> c; c -> b"]);
}
