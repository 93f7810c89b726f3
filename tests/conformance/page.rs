//! `docs/conformance.md`: the cases, what stock Lua gives, and whether `tlua` gives the same.
//!
//! Problem: whoever thinks of replacing `lua` wants to see, option by option, what happens. Design: one
//! table for each group of cases and for each library, made of what was run. Invariant: the page has no row
//! that was not run, and each row says what was found.
//!
//! Example row: `` | `lua -e 'os.exit(3)'` | 3 | | | the same | ``.

use std::fmt::Write;
use std::path::Path;

use super::case::{Around, Case, Outcome};
use super::functions::Row;

/// Characters of an output that a row shows.
const SHOWN: usize = 160;

/// A case that was run.
pub struct Line {
    /// The case.
    pub case: Case,
    /// What stock Lua's command made of it.
    pub stock: Outcome,
    /// Whether `tlua` made the same of it, whatever the settings of its JIT.
    pub is_same: bool,
}

/// A section of the page.
pub struct Group {
    /// Its heading.
    pub name: &'static str,
    /// Its rows.
    pub lines: Vec<Line>,
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=./".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// A case as one types it into a shell.
pub fn shown(case: &Case) -> String {
    let mut text = String::new();
    if !case.stdin.is_empty() {
        write!(text, "printf {} | ", quoted(&case.stdin.replace('\n', "\\n").replace('\0', "\\0")))
            .expect("text takes all");
    }
    for (name, value) in case.env {
        write!(text, "{name}={} ", quoted(value)).expect("text takes all");
    }
    text.push_str("lua");
    for word in case.words {
        write!(text, " {}", quoted(word)).expect("text takes all");
    }
    text + match case.around {
        Around::Plain => "",
        Around::ClosedOutput => " >&-",
        Around::ClosedErrors => " >&- 2>&-",
        Around::Full => " >/dev/full",
        Around::Head => " | head -1",
        Around::Interrupt => " (Ctrl-C)",
    }
}

/// Text in a cell of a table.
fn cell(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let short: String = text.trim_end_matches('\n').chars().take(SHOWN).collect();
    let more = if short.len() < text.trim_end_matches('\n').len() { " …" } else { "" };
    let plain: String = short.chars().map(|c| if c.is_control() && c != '\n' { '·' } else { c }).collect();
    format!("{}{more}", code(&plain.replace('\n', " ⏎ ")))
}

/// Text as code, in a cell of a table.
fn code(text: &str) -> String {
    let ticks = if text.contains('`') { "``" } else { "`" };
    let space = if text.contains('`') || text.starts_with(' ') { " " } else { "" };
    format!("{ticks}{space}{}{space}{ticks}", text.replace('|', "\\|"))
}

/// The whole page.
pub fn page(groups: &[Group], functions: &[Row]) -> String {
    let mut page = String::from(
        "# Stock Lua's command and `tlua`, side by side\n\n\
         Each row was run by stock Lua's own command, built from the same sources, and four times by `tlua`:\n\
         as it is, with thresholds of 1, with other thresholds and without baseline code, and with the JIT\n\
         off. *The same* means: exit code or signal, standard output and standard error, to the byte. Where\n\
         all options are told `tlua` tells one more, `-j`. `tests/conformance.rs` makes this page and checks\n\
         it; ` ⏎ ` is the end of a line.\n",
    );
    for group in groups {
        write!(
            page,
            "\n## {}\n\n| command line | end | standard output | standard error | `tlua` |\n|---|---|---|---|---|\n",
            group.name
        )
        .expect("text takes all");
        for line in &group.lines {
            let Line { case, stock, is_same } = line;
            let same = if *is_same { "the same" } else { "**another**" };
            let (command, end) = (code(&shown(case).replace('\n', " ⏎ ")), &stock.end);
            let (stdout, stderr) = (cell(&stock.stdout), cell(&stock.stderr));
            writeln!(page, "| {command} | {end} | {stdout} | {stderr} | {same} |").expect("text takes all");
        }
    }
    page.push_str(
        "\n## Functions\n\nEach is computed in a loop of 60 iterations. `i` is the loop's number, `n` is 60.\n",
    );
    let mut library = "";
    for row in functions {
        let of = row.name.split(['.', ':']).next().filter(|of| *of != row.name).unwrap_or("basic");
        if of != library {
            library = of;
            write!(page, "\n### {of}\n\n| function | expression | stock Lua | `tlua` |\n|---|---|---|---|\n")
                .expect("text takes all");
        }
        let (name, text, values) = (code(&row.name), code(&row.text), cell(&row.values));
        writeln!(page, "| {name} | {text} | {values} | the same |").expect("text takes all");
    }
    page
}

/// Compares the page with the one that is there, or writes it.
pub fn check(page: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/conformance.md");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, page).expect("the page can be written");
        return;
    }
    let found = std::fs::read_to_string(&path).expect("the page is there");
    let differing = found.lines().zip(page.lines()).find(|(found, made)| found != made);
    assert!(found == page, "docs/conformance.md is out of date (UPDATE_EXPECT=1 writes it): {differing:?}");
}
