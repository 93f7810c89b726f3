//! Programs of the standing set with less to do.
//!
//! Problem: most scripts that people run are short, and what a JIT does in their first milliseconds matters
//! more than how fast it is in the end; but short programs that were written for a benchmark are all alike.
//! Design: the file `brief/SIZES` says what of a program of the standing set is to be replaced, its counts of
//! rounds mostly, so that it takes a tenth of its time or less. The programs are made when they are run, with
//! their forms for LuaJIT. Invariant: what is to be replaced stands in the program exactly once, in each form
//! that it has.
//!
//! Example: `csv`, `for file = 1, 36 do` and `for file = 1, 4 do`, with tabs between them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{bail, Context};

use crate::frozen::LUA51;

/// The file that says what is replaced.
pub const SIZES: &str = "SIZES";

/// What stands there, and what is put in its place.
type Change = (String, String);

/// Changes, by program.
fn parse(text: &str) -> anyhow::Result<BTreeMap<String, Vec<Change>>> {
    let mut found: BTreeMap<String, Vec<Change>> = BTreeMap::new();
    for (index, line) in text.lines().enumerate() {
        if line.starts_with('#') || line.trim().is_empty() {
            continue;
        }
        let parts: Vec<&str> = line.split('\t').collect();
        let [program, there, instead] = parts[..] else {
            bail!("line {}: not a program and two texts, with tabs between them", index + 1);
        };
        found.entry(program.into()).or_default().push((there.into(), instead.into()));
    }
    Ok(found)
}

/// The program with all changes.
fn change(mut program: String, changes: &[Change]) -> anyhow::Result<String> {
    for (there, instead) in changes {
        let count = program.matches(there.as_str()).count();
        if count != 1 {
            bail!("`{there}` stands there {count} times, not once");
        }
        program = program.replace(there, instead);
    }
    Ok(program)
}

/// Makes the programs of `folder`'s file in `into`, from those in `standing`. Returns their paths.
pub fn make(folder: &Path, standing: &Path, into: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let sizes = folder.join(SIZES);
    let text = std::fs::read_to_string(&sizes).with_context(|| format!("cannot read {}", sizes.display()))?;
    let all = parse(&text).with_context(|| sizes.display().to_string())?;
    std::fs::create_dir_all(into.join(LUA51)).with_context(|| format!("cannot make {}", into.display()))?;
    let mut made = Vec::new();
    for (name, changes) in &all {
        let file = format!("{name}.lua");
        for form in [PathBuf::from(&file), Path::new(LUA51).join(&file)] {
            let from = standing.join(&form);
            if form.parent() == Some(Path::new(LUA51)) && !from.is_file() {
                continue;
            }
            let program =
                std::fs::read_to_string(&from).with_context(|| format!("cannot read {}", from.display()))?;
            let program = change(program, changes).with_context(|| from.display().to_string())?;
            let path = into.join(&form);
            replace(&path, &program).with_context(|| format!("cannot write {}", path.display()))?;
        }
        made.push(into.join(file));
    }
    Ok(made)
}

/// Writes a file in one step: another process may be running it.
fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    if std::fs::read_to_string(path).is_ok_and(|there| there == text) {
        return Ok(());
    }
    let other = path.with_extension(format!("{}.new", std::process::id()));
    std::fs::write(&other, text)?;
    std::fs::rename(&other, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_replaced_stands_there_once() {
        let changes = [("1, 36".to_string(), "1, 4".to_string())];
        assert_eq!(change("for i = 1, 36 do".into(), &changes).expect("it is there"), "for i = 1, 4 do");
        assert!(change("for i = 1, 37 do".into(), &changes).is_err());
        assert!(change("1, 36 and 1, 36".into(), &changes).is_err());
    }

    #[test]
    fn a_file_is_replaced_and_nothing_is_left_beside_it() {
        let folder = std::env::temp_dir().join(format!("tracelift-smaller-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("it can be made");
        let path = folder.join("x.lua");
        for text in ["one", "two", "two"] {
            replace(&path, text).expect("it can be written");
            assert_eq!(std::fs::read_to_string(&path).expect("it is there"), text);
        }
        assert_eq!(std::fs::read_dir(&folder).expect("it is there").count(), 1);
        std::fs::remove_dir_all(&folder).expect("it is ours");
    }

    #[test]
    fn lines_have_three_parts() {
        let found = parse("# a remark\n\na\tb\tc\na\td\te\n").expect("it is right");
        assert_eq!(found["a"].len(), 2);
        assert!(parse("a\tb\n").is_err() && parse("a b c\n").is_err());
    }
}
