//! The log: what each stage made, in forms that can be read and pasted back.
//!
//! Problem: "why is it slow?" must be answerable on a user's machine without a rebuild. Design: stages are
//! switched on by name when the VM is made; each entry is a heading line that begins with `---` and the text
//! after it. A stage that is off costs one test of a bit. Invariant: logging never fails the program: a write
//! error is ignored.

use std::fs::File;
use std::io::Write;

/// A stage that can be logged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Stage {
    /// A line for each trace that got code.
    Trace,
    /// The recorded trace.
    Record,
    /// The optimized trace.
    Opt,
    /// The resume data of each exit.
    Resume,
    /// Cranelift's IR.
    Clif,
    /// The machine code as the code generator sees it.
    Asm,
    /// Each instruction of the optimized trace with its machine code.
    Code,
    /// The traces that became one function, and where each goes on.
    Region,
    /// Each exit taken.
    Exit,
    /// Recordings given up.
    Abort,
}

impl Stage {
    /// Every stage with its name.
    pub const ALL: [(Stage, &'static str); 10] = [
        (Stage::Trace, "trace"),
        (Stage::Record, "record"),
        (Stage::Opt, "opt"),
        (Stage::Resume, "resume"),
        (Stage::Clif, "clif"),
        (Stage::Asm, "asm"),
        (Stage::Code, "code"),
        (Stage::Region, "region"),
        (Stage::Exit, "exit"),
        (Stage::Abort, "abort"),
    ];

    /// Stages from a list such as `record,asm` or `all`; the unknown name is the error.
    pub fn parse_list(list: &str) -> Result<Vec<Stage>, String> {
        let mut stages = Vec::new();
        for name in list.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            match Stage::ALL.iter().find(|(_, known)| *known == name) {
                Some((stage, _)) => stages.push(*stage),
                None if name == "all" => stages.extend(Stage::ALL.iter().map(|(stage, _)| *stage)),
                None => {
                    let known: Vec<_> = Stage::ALL.iter().map(|(_, name)| *name).collect();
                    return Err(format!("unknown log stage '{name}' (known: {}, all)", known.join(", ")));
                }
            }
        }
        Ok(stages)
    }
}

/// Where log entries go.
#[derive(Debug)]
pub struct Log {
    stages: u32,
    file: Option<File>,
}

impl Log {
    /// A log of these stages to `file`, or to standard error.
    pub fn new(stages: &[Stage], file: Option<File>) -> Log {
        Log { stages: stages.iter().fold(0, |bits, &stage| bits | 1 << stage as u32), file }
    }

    /// Whether a stage is logged.
    pub fn wants(&self, stage: Stage) -> bool {
        self.stages & (1 << stage as u32) != 0
    }

    /// Writes an entry if its stage is logged; `body` is made only then.
    pub fn entry(&mut self, stage: Stage, heading: &str, body: impl FnOnce() -> String) {
        if !self.wants(stage) {
            return;
        }
        let body = body();
        let newline = if body.is_empty() || body.ends_with('\n') { "" } else { "\n" };
        let text = format!("--- {heading}\n{body}{newline}");
        // The program must not fail because its log cannot be written.
        let _ = match &mut self.file {
            Some(file) => file.write_all(text.as_bytes()),
            None => std::io::stderr().write_all(text.as_bytes()),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_parsed_and_unknown_ones_named() {
        assert_eq!(Stage::parse_list("record, asm"), Ok(vec![Stage::Record, Stage::Asm]));
        assert_eq!(Stage::parse_list("all").map(|all| all.len()), Ok(Stage::ALL.len()));
        assert!(Stage::parse_list("recod").is_err_and(|message| message.contains("'recod'")));
    }
}
