//! Cuts the stencils of baseline code out of an object file.
//!
//! Problem: baseline code is made of copies of machine code that the C compiler made (`c/tlua_baseline.c`),
//! and `stencils/tlua_stencils.c` is compiled for that alone.
//!
//! Design: each function lies in a section of its own. Its bytes and its relocations become tables in C. A
//! relocation names a hole, or a helper of `c/tlua_baseline_slow.c` or `_calls.c`; its type says how it is
//! filled. Most of a stencil is for rare cases. Between two instructions' common ways that is a jump, and
//! half of the processor's cache for code. So each stencil is cut in two in the compiler's assembly: what
//! comes after the common way lies in a section of its own, and is copied to the end of the function's code.
//! The compiler puts the likely way first, and after a jump that is always taken any cut is right. 35
//! programs in baseline code alone take .98 of their time with it.
//!
//! Invariant: a stencil needs nothing but holes and helpers. One that has a constant in memory, calls, or
//! uses a relocation that `tlua_baseline.c` does not know, is an error that names it. So is one that would
//! extend a number below 0 with zeros: compilers take addresses for positive, and `hole_s` is filled with
//! numbers of both signs.
//!
//! Example: `static const Hole holes_MOVE[] = { { 3, HOLE_OFFSET, H_b, 0 }, … };`
//!
//! ```text
//! stencil_GETFIELD:  ... jne .L1 ... jmp hole_next | .L1: the search, metamethods, the helper
//! ```

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

/// Sections of the two parts of a stencil: the common way, and what is rare.
const PARTS: [&str; 2] = [".text.stencil_", ".text.rare_"];

/// The compiler's assembly with each stencil cut in two, where its common way ends.
pub fn cut(assembly: &str) -> String {
    let mut text = String::with_capacity(assembly.len());
    let (mut stencil, mut ways) = ("", 0);
    for line in assembly.lines() {
        // The two parts have no common size.
        if line.starts_with("\t.size\tstencil_") {
            continue;
        }
        writeln!(text, "{line}").unwrap();
        if let Some(name) = line.strip_prefix("stencil_").and_then(|line| line.strip_suffix(':')) {
            (stencil, ways) = (name, common_ways(name));
        }
        if ways > 0 && (line.starts_with("\tjmp\thole_") || line.starts_with("\tjmp\t*")) {
            ways -= 1;
            if ways == 0 {
                writeln!(text, "\t.section\t{}{stencil},\"ax\",@progbits", PARTS[1]).unwrap();
            }
        }
    }
    text
}

/// How many ways through a stencil are common: two where integers and floats are, or both outcomes of a
/// comparison; and a call of a function that is not Lua's goes on in the stencil after it.
fn common_ways(stencil: &str) -> usize {
    const NUMBERS: &[&str] = &["ADD", "SUB", "MUL", "ADDI", "ADDK_I", "SUBK_I", "MULK_I", "UNM"];
    const CALLS: &[&str] = &["CALL", "CALL_OPEN"];
    let is_comparison = stencil.ends_with("_T") || stencil.ends_with("_F");
    1 + usize::from(is_comparison || NUMBERS.contains(&stencil) || CALLS.contains(&stencil))
}

/// The text of `tlua_stencils.h`.
pub fn header(bytes: &[u8]) -> Result<String, String> {
    let file = object::File::parse(bytes).map_err(|error| error.to_string())?;
    let mut helpers = BTreeMap::new();
    let (mut names, mut parts) = (Vec::new(), Vec::new());
    let mut text = String::new();
    for section in file.sections() {
        let Some(name) = section.name().ok().and_then(|name| name.strip_prefix(PARTS[0])) else {
            continue;
        };
        for (number, prefix) in PARTS.iter().enumerate() {
            let section = file.section_by_name(&format!("{prefix}{name}"));
            let (code, holes) = part(name, &file, section, &mut helpers)?;
            let (size, count) = (code.len(), holes.len());
            let (code, holes) = (list(code, "0"), list(holes, "{ 0, 0, 0, 0 }"));
            writeln!(text, "static const unsigned char code_{name}_{number}[] = {{ {code} }};").unwrap();
            writeln!(text, "static const Hole holes_{name}_{number}[] = {{ {holes} }};").unwrap();
            parts.push(format!("{{ code_{name}_{number}, {size}, {count}, holes_{name}_{number} }}"));
        }
        names.push(name.to_owned());
    }
    if names.is_empty() {
        return Err("the object file has no stencils".into());
    }
    Ok(assemble(&text, &names, &parts, &helpers))
}

/// The bytes of a part of a stencil, if there is one, and its holes, as C.
fn part(
    stencil: &str,
    file: &object::File<'_>,
    section: Option<object::Section<'_, '_>>,
    helpers: &mut BTreeMap<String, usize>,
) -> Result<(Vec<String>, Vec<String>), String> {
    let Some(section) = section else { return Ok((Vec::new(), Vec::new())) };
    let code = section.data().map_err(|error| format!("{stencil}: {error}"))?;
    if code.len() > usize::from(u16::MAX) {
        return Err(format!("{stencil} is too large"));
    }
    let mut holes = Vec::new();
    for (at, relocation) in section.relocations() {
        let target = target(stencil, file, &relocation)?;
        let at = usize::try_from(at).map_err(|_| format!("{stencil} is too large"))?;
        holes.push(hole(stencil, code, at, &target, &relocation, helpers)?);
    }
    Ok((code.iter().map(u8::to_string).collect(), holes))
}

/// What stands between the braces of an array: an empty one is not standard C.
fn list(items: Vec<String>, if_empty: &str) -> String {
    match items.is_empty() {
        true => if_empty.to_owned(),
        false => items.join(", "),
    }
}

/// What a relocation is for: the name of a symbol, or of a part of the stencil itself.
fn target(stencil: &str, file: &object::File<'_>, relocation: &object::Relocation) -> Result<String, String> {
    let RelocationTarget::Symbol(symbol) = relocation.target() else {
        return Err(format!("{stencil}: a relocation without a symbol"));
    };
    let symbol = file.symbol_by_index(symbol).map_err(|error| error.to_string())?;
    if symbol.kind() != object::SymbolKind::Section {
        return symbol.name().map(str::to_owned).map_err(|error| error.to_string());
    }
    let section = symbol.section_index().and_then(|index| file.section_by_index(index).ok());
    let section = section.as_ref().and_then(|section| section.name().ok()).unwrap_or("");
    let own = PARTS.iter().position(|prefix| section.strip_prefix(prefix) == Some(stencil));
    let own = own.ok_or_else(|| format!("{stencil}: a relocation to {section}"))?;
    Ok(OWN[own].to_owned())
}

/// The parts of the stencil itself, as targets.
const OWN: [&str; 2] = ["own_common", "own_rare"];

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
    let own = OWN.iter().position(|own| *own == target);
    if is_branch && (addend != 0 && own.is_none() || !is_used_well) {
        return Err(format!("{stencil}: {target} is called, or its address is taken"));
    }
    if target == SIGNED && r_type != elf::R_X86_64_32S {
        return Err(format!("{stencil}: relocation {r_type} to {target}, which may be below 0"));
    }
    let what = if let (Some(own), true) = (own, is_branch) {
        ["H_own_common", "H_own_rare"][own].to_owned()
    } else if target == SIGNED {
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

fn assemble(tables: &str, names: &[String], parts: &[String], helpers: &BTreeMap<String, usize>) -> String {
    let mut text = String::from("#define TLUA_HAVE_STENCILS 1\n");
    let holes: Vec<String> = HOLES.iter().map(|hole| format!("H_{hole}")).collect();
    writeln!(text, "enum {{ {}, H_own_common, H_own_rare, H_COUNT }};", holes.join(", ")).unwrap();
    let numbers: Vec<String> = names.iter().map(|name| format!("S_{name}")).collect();
    writeln!(text, "enum {{ {} }};", numbers.join(", ")).unwrap();
    text.push_str(tables);
    text.push_str("static const Stencil stencils[][2] = {\n");
    for both in parts.chunks(2) {
        writeln!(text, "  {{ {} }},", both.join(", ")).unwrap();
    }
    text.push_str("};\n");
    let mut by_number: Vec<_> = helpers.iter().collect();
    by_number.sort_by_key(|(_, number)| **number);
    let by_number: Vec<String> = by_number.into_iter().map(|(name, _)| format!("(void *){name}")).collect();
    writeln!(text, "static void *const helpers[] = {{ {} }};", by_number.join(", ")).unwrap();
    text
}
