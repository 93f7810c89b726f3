//! The listing: a trace and its machine code, side by side, for people.
//!
//! Problem: "what does this operation cost?" is asked of the machine code, which does not say what it belongs
//! to. Design: lowering marks all that it emits with the instruction that it is for, an exit's stub with the
//! guard (see [`location`]). Here the finished code is disassembled, and the trace's lines are put in front
//! of what was made for them: what has no machine instruction (it was folded into others, or is computed at
//! its use) shows as a line with nothing below. Stubs follow, by exit, then constants. Only made when asked
//! for.
//!
//! Invariant: the instructions of the trace stand in their order, each once, and every byte of the code is
//! shown. A place that the code comes back to is marked with `(more)`.
//!
//! Example:
//!
//! ```text
//! i40 = load(a37, array.tag)
//!     80  movzbq -8(%rcx,%r8),%rdx
//! guard_value(i40, 69) @3
//!     86  cmp $0x45,%rdx
//!     8a  jne 0x133
//! ```

use std::fmt::Write;

use cranelift_codegen::{Final, MachSrcLoc};
use target_lexicon::Architecture;
use tracelift_core::{text, Schema, Trace};

use crate::disassembly::disassemble;
use crate::exits::ExitInfo;

/// What marks the code: Cranelift carries it from its input to the finished bytes.
pub(crate) mod location {
    /// Marks exit stubs; the rest of the mark is the index of the instruction that is left.
    pub(crate) const STUB: u32 = 1 << 31;
    /// The entry's code instead of an instruction's; with [`STUB`], where entries are refused. All bits set
    /// would be Cranelift's own mark for nothing.
    pub(crate) const ENTRY: u32 = STUB - 2;
    /// Marks a prefetch; the rest of the mark is the index of the instruction whose address it is.
    pub(crate) const PREFETCH: u32 = 1 << 30;
    /// The code that all exits end in: the first instruction is a label, which is no exit.
    pub(crate) const RETURN: u32 = STUB;

    /// Whether a mark is a prefetch's.
    pub(crate) fn is_prefetch(mark: u32) -> bool {
        mark & (STUB | PREFETCH) == PREFETCH && mark != ENTRY
    }
}

/// What code is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    Entry,
    Inst(usize),
    Refused,
    Exit(usize),
    Return,
    Constants,
}

impl Place {
    fn of(mark: u32) -> Place {
        match mark {
            location::RETURN => Place::Return,
            location::ENTRY | u32::MAX => Place::Entry,
            _ if mark == location::ENTRY | location::STUB => Place::Refused,
            _ if mark & location::STUB != 0 => Place::Exit((mark & !location::STUB) as usize),
            _ => Place::Inst((mark & !location::PREFETCH) as usize),
        }
    }

    fn is_cold(self) -> bool {
        !matches!(self, Place::Entry | Place::Inst(_))
    }
}

/// What is listed.
pub(crate) struct Input<'a> {
    pub trace: &'a Trace,
    pub schema: &'a Schema,
    pub exits: &'a [ExitInfo],
    pub architecture: Architecture,
    /// The code, with the constants after it.
    pub code: &'a [u8],
    /// What the code is marked with, by position.
    pub marks: &'a [MachSrcLoc<Final>],
}

/// The listing as text.
pub(crate) fn listing(input: &Input<'_>) -> String {
    let end = input.marks.iter().map(|range| range.end as usize).max().unwrap_or(0).min(input.code.len());
    let lines = text::inst_lines(input.trace, input.schema);
    let mut out = Out { input, lines, text: String::new(), place: None, shown: 0 };
    let is_known = disassemble(input.architecture, &input.code[..end], &mut |position, inst| {
        out.go_to(out.place_of(position));
        out.line(position, inst);
    });
    if !is_known {
        out.text += "there is no disassembler for this machine: instructions as numbers\n";
        out.numbers(0, &input.code[..end], 4, ".word");
    }
    out.trace_up_to(input.trace.insts.len());
    if end < input.code.len() {
        out.go_to(Place::Constants);
        out.numbers(end, &input.code[end..], 8, ".quad");
    }
    out.text
}

struct Out<'a> {
    input: &'a Input<'a>,
    /// The trace's instructions.
    lines: Vec<String>,
    text: String,
    /// Where the last machine instruction belongs.
    place: Option<Place>,
    /// How many of the trace's lines are there.
    shown: usize,
}

impl Out<'_> {
    /// Bytes as numbers of `width` bytes, the last perhaps of fewer.
    fn numbers(&mut self, start: usize, bytes: &[u8], width: usize, directive: &str) {
        for (index, chunk) in bytes.chunks(width).enumerate() {
            let position = start + index * width;
            let number = chunk.iter().rev().fold(0u64, |number, &byte| number << 8 | u64::from(byte));
            if self.place != Some(Place::Constants) {
                self.go_to(self.place_of(position));
            }
            self.line(position, &format!("{directive} {number:#x}"));
        }
    }

    fn line(&mut self, position: usize, text: &str) {
        let _ = writeln!(self.text, "{position:>8x}  {text}");
    }

    fn place_of(&self, position: usize) -> Place {
        let marks = self.input.marks;
        let begun = marks.partition_point(|range| range.start as usize <= position);
        match begun.checked_sub(1).map(|before| &marks[before]) {
            Some(range) if position < range.end as usize => Place::of(range.loc.bits()),
            // What the code generator has added on its own belongs to what stands before it.
            _ => self.place.unwrap_or(Place::Entry),
        }
    }

    fn trace_up_to(&mut self, end: usize) {
        for line in self.lines.get(self.shown..end).unwrap_or(&[]) {
            self.text += line;
            self.text.push('\n');
        }
        self.shown = self.shown.max(end);
    }

    /// Says what the machine instructions that follow are for.
    fn go_to(&mut self, place: Place) {
        if self.place == Some(place) {
            return;
        }
        if place.is_cold() && !self.place.is_some_and(Place::is_cold) {
            self.trace_up_to(self.input.trace.insts.len());
        }
        self.place = Some(place);
        let exits = self.input.exits;
        let heading = match place {
            Place::Entry => "entry:".to_string(),
            Place::Inst(index) if index >= self.shown => return self.trace_up_to(index + 1),
            Place::Inst(index) => match self.lines.get(index) {
                Some(line) => format!("(more) {line}"),
                None => "(more)".to_string(),
            },
            Place::Refused => "entry refused:".to_string(),
            Place::Exit(index) => match exits.iter().find(|exit| exit.inst == index) {
                Some(exit) => format!("exit {} ({}):", exit.number, exit.kind.name()),
                None => "exit:".to_string(),
            },
            Place::Return => "all exits:".to_string(),
            Place::Constants => "constants:".to_string(),
        };
        self.text += &heading;
        self.text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use tracelift_core::ir::Inst;
    use tracelift_core::Op;

    use super::*;
    use crate::compiler::Compiler;
    use crate::isa::{Options, Target};
    use crate::request::Request;

    /// What is below a guard's line leaves: `b.cond`, `cbz` or `tbz` and a position.
    #[test]
    fn code_for_aarch64_stands_below_its_instruction() {
        let source = "\
trace halves
L0(i0, f1):
@0 = frame[0: int i0, 1: float f1]
f2 = float_mul(f1, 0.3)
i3 = float_lt(f2, 0.3)
guard_false(i3) @0
i4 = int_sub(i0, 1)
guard_true(i4) @0
jump(L0, i4, f2)
";
        let schema = tracelift_core::testbed::standard_schema();
        let trace = text::parse_trace(source, &schema).unwrap();
        let options = Options { target: Target::Aarch64, want_listing: true, ..Options::default() };
        let mut compiler = Compiler::new(options).unwrap();
        let compiled = compiler.compile(&trace, &schema, &Request::new(1, std::ptr::null_mut())).unwrap();
        let listing = compiled.listing.unwrap();
        let lines: Vec<&str> = listing.lines().collect();
        let below = |inst: &Inst| {
            let text = text::print_inst(&trace, &schema, inst);
            let start = lines.iter().position(|&line| line == text).expect("each instruction has its line");
            let code = lines[start + 1..].iter().take_while(|line| line.starts_with("     "));
            code.map(|line| line.split_whitespace().nth(1).unwrap()).collect::<Vec<_>>()
        };
        let (mut guards, mut products) = (0, 0);
        for inst in &trace.insts {
            if inst.op.is_guard() {
                let leaves =
                    |name: &&str| name.starts_with("b.") || matches!(*name, "cbz" | "cbnz" | "tbz" | "tbnz");
                assert!(below(inst).iter().any(leaves), "{listing}");
                guards += 1;
            }
            if inst.op == Op::FloatMul {
                assert!(below(inst).contains(&"fmul"), "{listing}");
                products += 1;
            }
        }
        assert_eq!((guards, products), (2, 1));
        assert!(!listing.contains(".word") && listing.contains("exit 0 (guard):"), "{listing}");
    }
}
