//! An object file for one piece of code, as debuggers read it.
//!
//! Problem: gdb knows names and frames from object files. Design: the smallest file that has both: a section
//! for the code, without bytes, at the code's address; the `.eh_frame` section after it; one symbol.
//!
//! Example: `objdump -h` of it shows `.text` at 0x7f5e1c0000c0 and `.eh_frame` at 0x7f5e1c000260.

use object::elf;
use object::write::elf::{FileHeader, SectionHeader, Sym, Writer};
use object::Endianness;
use tracelift_cranelift::section_offset;

use super::piece::Piece;

const MACHINE: u16 = if cfg!(target_arch = "aarch64") { elf::EM_AARCH64 } else { elf::EM_X86_64 };

/// The machine, as files name it.
pub(super) const fn machine() -> u16 {
    MACHINE
}

/// The file; `None` only if there were a bug in how it is laid out.
pub(super) fn object_file(piece: &Piece<'_>) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(Endianness::Little, true, &mut bytes);
    let (address, size) = (piece.address as u64, piece.code.len() as u64);
    writer.reserve_file_header();
    writer.reserve_null_section_index();
    let text = (writer.add_section_name(b".text"), writer.reserve_section_index());
    let unwind = (writer.add_section_name(b".eh_frame"), writer.reserve_section_index());
    writer.reserve_symtab_section_index();
    writer.reserve_strtab_section_index();
    writer.reserve_shstrtab_section_index();
    let name = writer.add_string(piece.name.as_bytes());
    writer.reserve_null_symbol_index();
    writer.reserve_symbol_index(Some(text.1));
    let unwind_at = writer.reserve(piece.unwind.len(), 8);
    writer.reserve_symtab();
    writer.reserve_strtab();
    writer.reserve_shstrtab();
    writer.reserve_section_headers();

    let header = FileHeader {
        os_abi: elf::ELFOSABI_NONE,
        abi_version: 0,
        e_type: elf::ET_EXEC,
        e_machine: MACHINE,
        e_entry: 0,
        e_flags: 0,
    };
    writer.write_file_header(&header).ok()?;
    writer.pad_until(unwind_at);
    writer.write(piece.unwind);
    writer.write_null_symbol();
    writer.write_symbol(&Sym {
        name: Some(name),
        section: Some(text.1),
        st_info: elf::STB_GLOBAL << 4 | elf::STT_FUNC,
        st_other: 0,
        st_shndx: 0,
        st_value: address,
        st_size: size,
    });
    writer.write_strtab();
    writer.write_shstrtab();
    writer.write_null_section_header();
    let section = |name, sh_type, flags: u32, sh_addr, sh_offset, sh_size| SectionHeader {
        name: Some(name),
        sh_type,
        sh_flags: flags.into(),
        sh_addr,
        sh_offset,
        sh_size,
        sh_link: 0,
        sh_info: 0,
        sh_addralign: 8,
        sh_entsize: 0,
    };
    let (code, data) = (elf::SHF_ALLOC | elf::SHF_EXECINSTR, elf::SHF_ALLOC);
    writer.write_section_header(&section(text.0, elf::SHT_NOBITS, code, address, unwind_at as u64, size));
    let behind = address + section_offset(piece.code.len()) as u64;
    let unwind_size = piece.unwind.len() as u64;
    writer.write_section_header(&section(
        unwind.0,
        elf::SHT_PROGBITS,
        data,
        behind,
        unwind_at as u64,
        unwind_size,
    ));
    writer.write_symtab_section_header(1);
    writer.write_strtab_section_header();
    writer.write_shstrtab_section_header();
    Some(bytes)
}
