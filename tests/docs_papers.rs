//! The page that walks through the papers shows what the command prints.
//!
//! Problem: output that was pasted into a page is wrong as soon as anything changes, and nobody looks.
//! Design: every `console` block of `docs/papers.md` is a sequence of commands (`$ tracelift …`) with what
//! they print; each is run in the root of the repository and compared, and `UPDATE_EXPECT=1` rewrites the
//! page. A command that is refused prints to standard error and fails; its message begins with
//! `tracelift:`, which nothing else does. Invariant: no block is left out, and no command but `tracelift`
//! is run.
//!
//! Example: ```` $ tracelift opt --stage=recorded FILE ```` and the listing below it.

use std::path::PathBuf;

#[path = "support/runner.rs"]
mod runner;

fn page() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/papers.md")
}

/// Runs a command of the page; what it prints.
fn run(line: &str) -> String {
    let mut words = line.split_whitespace();
    assert_eq!(words.next(), Some("tracelift"), "the page runs another command: {line}");
    let output = runner::command(env!("CARGO_BIN_EXE_tracelift"))
        .args(words)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap_or_else(|error| panic!("{line}: {error}"));
    let (out, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.success(), errors.is_empty(), "{line}: {errors}");
    assert!(errors.is_empty() || errors.starts_with("tracelift: "), "{line}: {errors}");
    format!("{out}{errors}")
}

/// The page with the output of every command as it is now, and the commands.
fn refreshed(page: &str) -> (String, Vec<String>) {
    let (mut out, mut commands) = (String::new(), Vec::new());
    let mut is_console = false;
    for line in page.lines() {
        match (is_console, line.strip_prefix("$ ")) {
            (true, Some(command)) => {
                let gap = if out.ends_with("```console\n") { "" } else { "\n" };
                out += &format!("{gap}$ {command}\n{}", run(command));
                commands.push(command.to_string());
                continue;
            }
            (true, None) if line != "```" => continue,
            _ => is_console = line == "```console",
        }
        out += line;
        out.push('\n');
    }
    (out, commands)
}

#[test]
fn the_papers_page_shows_what_the_command_prints() {
    let text = std::fs::read_to_string(page()).expect("the page can be read");
    let (now, commands) = refreshed(&text);
    assert!(commands.len() >= 20, "only {} commands were found", commands.len());
    if now == text {
        return;
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(page(), now).expect("the page can be written");
        return;
    }
    let differs = text.lines().zip(now.lines()).position(|(old, new)| old != new);
    let line = differs.unwrap_or_else(|| text.lines().count().min(now.lines().count()));
    let at = |text: &str| text.lines().nth(line).unwrap_or("(end)").to_string();
    panic!(
        "docs/papers.md, line {}: the page says\n  {}\nthe command prints\n  {}\nrun this test with UPDATE_EXPECT=1",
        line + 1,
        at(&text),
        at(&now)
    );
}

/// The page's figures are those of the papers: a listing that came to print something else would be rewritten
/// without a word, so what matters most is said here again.
#[test]
fn the_papers_page_has_the_figures() {
    let text = std::fs::read_to_string(page()).expect("the page can be read");
    for listing in [
        // The introductory example.
        "jump(L1, i0, i1)\nL1(i0, i1):\ncall(print, i1)\njump(L1, i0, i1)\n",
        // Seed 000, Figures 4 to 8.
        "L1(p0, p5):\nguard_class(p5, BoxedInteger)\n  i6 = get(p5, intval)\n",
        "L1(p0, p5):\n  i6 = get(p5, intval)\n    i7 = get(p0, intval)\n    i8 = int_add(i6, i7)\n",
        "    i8 = int_add(i6, i3)\n    p9 = new(BoxedInteger)\n      set(p9, intval, i8)\njump(L1, p0, p9, i3)\n",
        "    i8 = int_add(i4, i3)\n    p9 = new(BoxedInteger)\n      set(p9, intval, i8)\njump(L1, p0, p9, i8, i3)\n",
        "L1(p0, i4):\n  guard_class(p0, BoxedInteger)\n    i7 = get(p0, intval)\n    i8 = int_add(i4, i7)\njump(L1, p0, i8)\n",
        "L1(p0, i4, i3):\n    i8 = int_add(i4, i3)\njump(L1, p0, i8, i3)\n",
        // Seed 002, Figure 4 and the example of lifting.
        "p15 = new(BoxedInteger)\nset(p15, intval, i14)\np10 = new(BoxedInteger)\nset(p10, intval, i9)\njump(L0, p15, p10)\n",
        "v: ref = new(T1)\nw: ref = new(T2)\nset(w, T2.L, u)\nset(w, T2.R, u)\nset(v, T1.L, w)\nset(v, T1.R, v)\n",
    ] {
        assert!(text.contains(listing), "the page lacks\n{listing}");
    }
}
