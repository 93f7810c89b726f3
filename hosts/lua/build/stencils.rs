//! Cuts the stencils of baseline code out of an object file.
//!
//! Problem: baseline code is made of copies of machine code that the C compiler made (`c/tlua_baseline.c`),
//! and `stencils/tlua_stencils.c` is compiled for that alone.
//!
//! Design: each function lies in a section of its own. Its bytes and its relocations become tables in C. A
//! relocation names a hole, or a helper of `c/tlua_baseline_slow.c` or `_calls.c`; its type says how it is
//! filled.
//!
//! Invariant: a stencil needs nothing but holes and helpers. One that has a constant in memory, calls, or
//! uses a relocation that `tlua_baseline.c` does not know, is an error that names it. So is one that would
//! extend a number below 0 with zeros: compilers take addresses for positive, and `hole_s` is filled with
//! numbers of both signs.
//!
//! Example: `static const Hole holes_MOVE[] = { { 3, HOLE_OFFSET, H_b, 0 }, … };`

use std::collections::BTreeMap;
use std::fmt::Write;

use object::{elf, Object, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget};

/// Names of the holes; offsets come first, in the order of `Maker::operand`.
const HOLES: [&str; 13] =
    ["a", "b", "c", "i", "pc", "other", "counter", "cell", "k", "index", "next", "jump", "after"];

/// The number of hole `i` where all its 64 bits matter and it may be below 0.
const SIGNED: &str = "hole_s";

/// What `tlua_stencils.h` says for machines without stencils.
pub const NONE: &str = "#define TLUA_HAVE_STENCILS 0\n";

/// The text of `tlua_stencils.h`.
pub fn header(bytes: &[u8]) -> Result<String, String> {
    let file = object::File::parse(bytes).map_err(|error| error.to_string())?;
    let mut helpers = BTreeMap::new();
    let mut names = Vec::new();
    let mut text = String::new();
    for section in file.sections() {
        let Some(name) = section.name().ok().and_then(|name| name.strip_prefix(".text.stencil_")) else {
            continue;
        };
        let code = section.data().map_err(|error| format!("{name}: {error}"))?;
        let mut holes = Vec::new();
        for (at, relocation) in section.relocations() {
            let RelocationTarget::Symbol(symbol) = relocation.target() else {
                return Err(format!("{name}: a relocation without a symbol"));
            };
            let target = file.symbol_by_index(symbol).map_err(|error| error.to_string())?;
            let target = target.name().map_err(|error| error.to_string())?;
            let at = usize::try_from(at).map_err(|_| format!("{name} is too large"))?;
            holes.push(hole(name, code, at, target, &relocation, &mut helpers)?);
        }
        if code.len() > usize::from(u16::MAX) {
            return Err(format!("{name} is too large"));
        }
        let listed: Vec<String> = code.iter().map(u8::to_string).collect();
        writeln!(text, "static const unsigned char code_{name}[] = {{ {} }};", listed.join(", ")).unwrap();
        writeln!(text, "static const Hole holes_{name}[] = {{ {} }};", holes.join(", ")).unwrap();
        names.push((name.to_owned(), code.len(), holes.len()));
    }
    if names.is_empty() {
        return Err("the object file has no stencils".into());
    }
    Ok(assemble(&text, &names, &helpers))
}

/// One hole as C, or why it cannot be one.
fn hole(
    stencil: &str,
    code: &[u8],
    at: usize,
    target: &str,
    relocation: &object::Relocation,
    helpers: &mut BTreeMap<String, usize>,
) -> Result<String, String> {
    let RelocationFlags::Elf { r_type } = relocation.flags() else {
        return Err(format!("{stencil}: a relocation that is not ELF's"));
    };
    let mut addend = relocation.addend();
    let kind = match r_type {
        elf::R_X86_64_64 => "HOLE_WORD",
        elf::R_X86_64_32 | elf::R_X86_64_32S => "HOLE_OFFSET",
        elf::R_X86_64_PLT32 | elf::R_X86_64_PC32 => {
            addend += 4;
            "HOLE_BRANCH"
        }
        other => return Err(format!("{stencil}: relocation {other} to {target}")),
    };
    let is_branch = kind == "HOLE_BRANCH";
    let is_work = target.starts_with("tlua_work_");
    let is_used_well = match target {
        "hole_after" => is_address(code, at),
        _ if is_work => is_call(code, at),
        _ => is_jump(code, at),
    };
    if is_branch && (addend != 0 || !is_used_well) {
        return Err(format!("{stencil}: {target} is called, or its address is taken"));
    }
    if target == SIGNED && r_type != elf::R_X86_64_32S {
        return Err(format!("{stencil}: relocation {r_type} to {target}, which may be below 0"));
    }
    let what = if target == SIGNED {
        "H_i".to_owned()
    } else if let Some(hole) = target.strip_prefix("hole_").filter(|hole| HOLES.contains(hole)) {
        let expected = match hole {
            "a" | "b" | "c" | "i" => "HOLE_OFFSET",
            "next" | "jump" | "after" => "HOLE_BRANCH",
            _ => "HOLE_WORD",
        };
        if kind != expected {
            return Err(format!("{stencil}: relocation {r_type} to {target}"));
        }
        format!("H_{hole}")
    } else if is_branch && (is_work || target.starts_with("tlua_slow_")) {
        let number = helpers.len();
        let number = *helpers.entry(target.to_owned()).or_insert(number);
        format!("H_COUNT + {number}")
    } else {
        return Err(format!("{stencil}: uses {target}"));
    };
    Ok(format!("{{ {at}, {kind}, {what}, {addend} }}"))
}

/// Whether the four bytes belong to a jump, with or without a condition.
fn is_jump(code: &[u8], at: usize) -> bool {
    (at >= 1 && code[at - 1] == 0xe9) || (at >= 2 && code[at - 2] == 0x0f && code[at - 1] & 0xf0 == 0x80)
}

/// Whether they belong to a call.
fn is_call(code: &[u8], at: usize) -> bool {
    at >= 1 && code[at - 1] == 0xe8
}

/// Whether they say how far an address is, which is put into a register.
fn is_address(code: &[u8], at: usize) -> bool {
    at >= 3 && code[at - 3] & 0xfb == 0x48 && code[at - 2] == 0x8d && code[at - 1] & 0xc7 == 0x05
}

fn assemble(tables: &str, names: &[(String, usize, usize)], helpers: &BTreeMap<String, usize>) -> String {
    let mut text = String::from("#define TLUA_HAVE_STENCILS 1\n");
    let holes: Vec<String> = HOLES.iter().map(|hole| format!("H_{hole}")).collect();
    writeln!(text, "enum {{ {}, H_COUNT }};", holes.join(", ")).unwrap();
    let numbers: Vec<String> = names.iter().map(|(name, ..)| format!("S_{name}")).collect();
    writeln!(text, "enum {{ {} }};", numbers.join(", ")).unwrap();
    text.push_str(tables);
    text.push_str("static const Stencil stencils[] = {\n");
    for (name, size, holes) in names {
        writeln!(text, "  {{ code_{name}, {size}, {holes}, holes_{name} }},").unwrap();
    }
    text.push_str("};\n");
    let mut by_number: Vec<_> = helpers.iter().collect();
    by_number.sort_by_key(|(_, number)| **number);
    let by_number: Vec<String> = by_number.into_iter().map(|(name, _)| format!("(void *){name}")).collect();
    writeln!(text, "static void *const helpers[] = {{ {} }};", by_number.join(", ")).unwrap();
    text
}
