//! An assembler for the part of x86-64 that quick code uses.
//!
//! Problem: instructions are to be appended as bytes in some ten nanoseconds each, and which one is chosen is
//! often a number: that of an operation, or of a condition. (Cranelift's own assembler has a type for each
//! instruction and form of its operands, so that choosing would take a table of them.) Design: nearly all
//! are a prefix, an opcode, a register and an operand that is a register or memory, which [`Asm::op`]
//! encodes; names for what is used often are here, the rest stands as numbers where it is selected. Jumps go
//! to [`Label`]s with 32-bit distances, filled in at the end. Constants of doubles lie after the code, each
//! once.
//!
//! Invariant: nothing depends on where the code is put, if that is aligned to 16 bytes. Example:
//! `asm.op(Op::wide(0x8b), RAX, Mem::at(RDI, 8))` is `mov rax, [rdi+8]`.

use cranelift_codegen::ir::Block;

/// A register by its number: 0 to 15 are `rax` to `r15`, 16 to 31 are `xmm0` to `xmm15`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Reg(pub u8);

pub(super) const RAX: Reg = Reg(0);
pub(super) const RCX: Reg = Reg(1);
pub(super) const RDX: Reg = Reg(2);
pub(super) const RSP: Reg = Reg(4);
pub(super) const RBP: Reg = Reg(5);
pub(super) const RSI: Reg = Reg(6);
pub(super) const RDI: Reg = Reg(7);
/// Constants that no instruction holds, and the moves of a cycle.
pub(super) const SCRATCH: Reg = Reg(11);
/// Moves from memory to memory.
pub(super) const FLOAT_SCRATCH: Reg = Reg(31);
/// The moves of a cycle.
pub(super) const FLOAT_CYCLE: Reg = Reg(30);

impl Reg {
    pub(super) fn is_float(self) -> bool {
        self.0 >= 16
    }

    pub(super) fn bit(self) -> u32 {
        1 << self.0
    }

    fn code(self) -> u8 {
        self.0 & 15
    }
}

/// Memory: base, index times scale (as a power of two), displacement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Mem {
    pub base: Reg,
    pub index: Option<(Reg, u8)>,
    pub disp: i32,
}

impl Mem {
    pub(super) fn at(base: Reg, disp: i32) -> Mem {
        Mem { base, index: None, disp }
    }
}

/// What an instruction works on beside its register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Operand {
    Reg(Reg),
    Mem(Mem),
    /// A constant after the code, by number.
    Constant(u32),
}

impl From<Reg> for Operand {
    fn from(reg: Reg) -> Operand {
        Operand::Reg(reg)
    }
}

impl From<Mem> for Operand {
    fn from(mem: Mem) -> Operand {
        Operand::Mem(mem)
    }
}

/// An opcode with its prefixes.
#[derive(Clone, Copy)]
pub(super) struct Op {
    /// 0x66, 0xf2 or 0xf3, or 0.
    prefix: u8,
    /// 64 bits.
    wide: bool,
    /// Registers are bytes: `sil` and the like need a prefix.
    bytes: bool,
    /// 0x0f, or 0x0f38 and the like, or 0.
    escape: u16,
    code: u8,
}

impl Op {
    /// 32 bits.
    pub(super) const fn narrow(code: u8) -> Op {
        Op { prefix: 0, wide: false, bytes: false, escape: 0, code }
    }

    /// 64 bits.
    pub(super) const fn wide(code: u8) -> Op {
        Op { wide: true, ..Op::narrow(code) }
    }

    /// After 0x0f.
    pub(super) const fn escaped(self) -> Op {
        Op { escape: 0x0f, ..self }
    }

    /// After 0x0f and this.
    pub(super) const fn escaped_by(self, second: u8) -> Op {
        Op { escape: 0x0f00 | second as u16, ..self }
    }

    pub(super) const fn prefixed(self, prefix: u8) -> Op {
        Op { prefix, ..self }
    }

    /// Its registers are bytes.
    pub(super) const fn of_bytes(self) -> Op {
        Op { bytes: true, ..self }
    }

    /// An operation on doubles: 0xf2 0x0f.
    pub(super) const fn double(code: u8) -> Op {
        Op::narrow(code).escaped().prefixed(0xf2)
    }

    /// An operation on the bits of doubles: 0x66 0x0f.
    pub(super) const fn packed(code: u8) -> Op {
        Op::narrow(code).escaped().prefixed(0x66)
    }
}

/// A condition as jumps, moves and sets have it in their lowest four bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Cond(pub u8);

impl Cond {
    pub(super) const OVERFLOW: Cond = Cond(0);
    pub(super) const NO_OVERFLOW: Cond = Cond(1);
    pub(super) const BELOW: Cond = Cond(2);
    pub(super) const ABOVE_EQUAL: Cond = Cond(3);
    pub(super) const EQUAL: Cond = Cond(4);
    pub(super) const NOT_EQUAL: Cond = Cond(5);
    pub(super) const BELOW_EQUAL: Cond = Cond(6);
    pub(super) const ABOVE: Cond = Cond(7);
    pub(super) const PARITY: Cond = Cond(10);
    pub(super) const NO_PARITY: Cond = Cond(11);
    pub(super) const LESS: Cond = Cond(12);
    pub(super) const GREATER_EQUAL: Cond = Cond(13);
    pub(super) const LESS_EQUAL: Cond = Cond(14);
    pub(super) const GREATER: Cond = Cond(15);

    pub(super) fn opposite(self) -> Cond {
        Cond(self.0 ^ 1)
    }
}

/// A place in the code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Label(u32);

impl Label {
    /// Where a block's code begins: the first labels are those of the blocks.
    pub(super) fn of_block(block: Block) -> Label {
        Label(block.as_u32())
    }
}

/// What does nothing, by length.
const NOPS: [&[u8]; 9] = [
    &[0x90],
    &[0x66, 0x90],
    &[0x0f, 0x1f, 0x00],
    &[0x0f, 0x1f, 0x40, 0x00],
    &[0x0f, 0x1f, 0x44, 0x00, 0x00],
    &[0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00],
    &[0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00],
    &[0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
    &[0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
];

const UNPLACED: u32 = u32::MAX;
/// A label's place is another label's: code is shorter than 2 GiB.
const FORWARDED: u32 = 1 << 31;

#[derive(Default)]
pub(super) struct Asm {
    pub(super) bytes: Vec<u8>,
    /// Where labels are.
    labels: Vec<u32>,
    /// Distances to be filled in: where, and to which label.
    jumps: Vec<(u32, Label)>,
    /// Constants, and the distances to them: where, to which, and how many bytes follow.
    constants: Vec<u128>,
    loads: Vec<(u32, u32, u8)>,
}

impl Asm {
    /// Forgets all, for another function with so many blocks.
    pub(super) fn begin(&mut self, blocks: usize) {
        self.bytes.clear();
        self.labels.clear();
        self.labels.resize(blocks, UNPLACED);
        self.jumps.clear();
        self.constants.clear();
        self.loads.clear();
    }

    pub(super) fn position(&self) -> u32 {
        self.bytes.len() as u32
    }

    pub(super) fn label(&mut self) -> Label {
        self.labels.push(UNPLACED);
        Label(self.labels.len() as u32 - 1)
    }

    pub(super) fn place(&mut self, label: Label) {
        self.labels[label.0 as usize] = self.position();
    }

    /// Whether a label is where the next instruction will be.
    pub(super) fn is_here(&self, label: Label) -> bool {
        self.labels[label.0 as usize] == self.position()
    }

    /// Makes all jumps to a label go to another one.
    pub(super) fn forward(&mut self, label: Label, to: Label) {
        self.labels[label.0 as usize] = FORWARDED | to.0;
    }

    /// Where a label is in the end.
    fn place_of(&self, label: Label) -> Option<u32> {
        let mut place = self.labels[label.0 as usize];
        while place != UNPLACED && place & FORWARDED != 0 {
            place = self.labels[(place & !FORWARDED) as usize];
        }
        (place != UNPLACED).then_some(place)
    }

    /// Does nothing up to a multiple of so many bytes.
    pub(super) fn align(&mut self, to: usize) {
        let mut missing = self.bytes.len().next_multiple_of(to) - self.bytes.len();
        while missing > 0 {
            let nop = NOPS[missing.min(NOPS.len()) - 1];
            self.bytes.extend_from_slice(nop);
            missing -= nop.len();
        }
    }

    fn put32(&mut self, word: u32) {
        self.bytes.extend_from_slice(&word.to_le_bytes());
    }

    /// An instruction without an immediate.
    pub(super) fn op(&mut self, op: Op, reg: Reg, operand: impl Into<Operand>) {
        self.encode(op, reg, operand.into(), 0);
    }

    /// An instruction with one, of which so many bytes are written.
    pub(super) fn op_imm(&mut self, op: Op, reg: Reg, operand: impl Into<Operand>, imm: i32, bytes: usize) {
        self.encode(op, reg, operand.into(), bytes as u8);
        self.bytes.extend_from_slice(&imm.to_le_bytes()[..bytes]);
    }

    fn encode(&mut self, op: Op, reg: Reg, operand: Operand, follow: u8) {
        if op.prefix != 0 {
            self.bytes.push(op.prefix);
        }
        let (rex_x, rex_b) = match operand {
            Operand::Reg(rm) => (0, rm.code() >> 3),
            Operand::Mem(mem) => (mem.index.map_or(0, |(index, _)| index.code() >> 3), mem.base.code() >> 3),
            Operand::Constant(_) => (0, 0),
        };
        let rex = u8::from(op.wide) << 3 | (reg.code() >> 3) << 2 | rex_x << 1 | rex_b;
        let is_high = |reg: Reg| op.bytes && !reg.is_float() && (4..8).contains(&reg.0);
        if rex != 0 || is_high(reg) || matches!(operand, Operand::Reg(rm) if is_high(rm)) {
            self.bytes.push(0x40 | rex);
        }
        if op.escape != 0 {
            self.bytes.push(0x0f);
            if op.escape != 0x0f {
                self.bytes.push(op.escape as u8);
            }
        }
        self.bytes.push(op.code);
        self.operand(reg.code() & 7, operand, follow);
    }

    /// The operand's bytes; `reg` is a register or part of the opcode.
    fn operand(&mut self, reg: u8, operand: Operand, follow: u8) {
        let reg = reg << 3;
        match operand {
            Operand::Reg(rm) => self.bytes.push(0xc0 | reg | rm.code() & 7),
            Operand::Constant(number) => {
                self.bytes.push(reg | 5);
                self.loads.push((self.position(), number, follow));
                self.put32(0);
            }
            Operand::Mem(Mem { base, index, disp }) => {
                let low = base.code() & 7;
                // `rbp` and `r13` always have a displacement.
                let mode = match i8::try_from(disp) {
                    _ if disp == 0 && low != 5 => 0x00,
                    Ok(_) => 0x40,
                    Err(_) => 0x80,
                };
                match index {
                    Some((index, scale)) => {
                        self.bytes.push(mode | reg | 4);
                        self.bytes.push(scale << 6 | (index.code() & 7) << 3 | low);
                    }
                    // `rsp` and `r12` need the form with an index.
                    None if low == 4 => self.bytes.extend([mode | reg | 4, 0x24]),
                    None => self.bytes.push(mode | reg | low),
                }
                match mode {
                    0x00 => {}
                    0x40 => self.bytes.push(disp as u8),
                    _ => self.put32(disp as u32),
                }
            }
        }
    }

    /// An instruction of three operands: `to = x op operand`, as processors with AVX have them for doubles.
    pub(super) fn op3(&mut self, op: Op, to: Reg, x: Reg, operand: impl Into<Operand>) {
        let operand = operand.into();
        let (index, base) = match operand {
            Operand::Reg(rm) => (0, rm.code() >> 3),
            Operand::Mem(mem) => (mem.index.map_or(0, |(index, _)| index.code() >> 3), mem.base.code() >> 3),
            Operand::Constant(_) => (0, 0),
        };
        let high = |bit: u8| (bit ^ 1) << 7;
        let prefix = match op.prefix {
            0x66 => 1,
            0xf3 => 2,
            0xf2 => 3,
            _ => 0,
        };
        let rest = (!x.code() & 15) << 3 | prefix;
        if (index, base) == (0, 0) {
            self.bytes.extend([0xc5, high(to.code() >> 3) | rest]);
        } else {
            self.bytes.extend([0xc4, high(to.code() >> 3) | high(index) >> 1 | high(base) >> 2 | 1, rest]);
        }
        self.bytes.push(op.code);
        self.operand(to.code() & 7, operand, 0);
    }

    /// `vfmadd231sd sum, x, y`: adds the product, with one rounding.
    pub(super) fn add_product(&mut self, sum: Reg, x: Reg, y: Reg) {
        let (r, b) = (u8::from(sum.code() < 8), u8::from(y.code() < 8));
        self.bytes.extend([0xc4, r << 7 | 1 << 6 | b << 5 | 2, 1 << 7 | (!x.code() & 15) << 3 | 1, 0xb9]);
        self.bytes.push(0xc0 | (sum.code() & 7) << 3 | y.code() & 7);
    }

    /// A constant after the code, as an operand.
    pub(super) fn constant(&mut self, bits: u128) -> Operand {
        let found = self.constants.iter().position(|&known| known == bits);
        let number = found.unwrap_or_else(|| {
            self.constants.push(bits);
            self.constants.len() - 1
        });
        Operand::Constant(number as u32)
    }

    /// `reg = constant`, by the shortest instruction that leaves the flags alone.
    pub(super) fn mov_imm(&mut self, reg: Reg, imm: i64) {
        let (high, low) = (reg.code() >> 3, reg.code() & 7);
        if let Ok(imm) = u32::try_from(imm) {
            if high != 0 {
                self.bytes.push(0x41);
            }
            self.bytes.push(0xb8 | low);
            self.put32(imm);
        } else if let Ok(imm) = i32::try_from(imm) {
            self.bytes.extend([0x48 | high, 0xc7, 0xc0 | low]);
            self.put32(imm as u32);
        } else {
            self.bytes.extend([0x48 | high, 0xb8 | low]);
            self.bytes.extend_from_slice(&imm.to_le_bytes());
        }
    }

    /// `to = from`, of one kind.
    pub(super) fn mov(&mut self, to: Reg, from: Reg) {
        if to == from {
            return;
        }
        match (to.is_float(), from.is_float()) {
            (false, false) => self.op(Op::wide(0x8b), to, from),
            (true, true) => self.op(Op::narrow(0x28).escaped(), to, from),
            (true, false) => self.op(Op { wide: true, ..Op::packed(0x6e) }, to, from),
            (false, true) => self.op(Op { wide: true, ..Op::packed(0x7e) }, from, to),
        }
    }

    /// 64 bits from memory.
    pub(super) fn load(&mut self, to: Reg, from: impl Into<Operand>) {
        match to.is_float() {
            true => self.op(Op::double(0x10), to, from),
            false => self.op(Op::wide(0x8b), to, from),
        }
    }

    /// 64 bits to memory.
    pub(super) fn store(&mut self, to: Mem, from: Reg) {
        match from.is_float() {
            true => self.op(Op::double(0x11), from, to),
            false => self.op(Op::wide(0x89), from, to),
        }
    }

    pub(super) fn lea(&mut self, to: Reg, of: Mem) {
        self.op(Op::wide(0x8d), to, of);
    }

    /// `add`, `or`, `and`, `sub`, `xor` or `cmp` (0, 1, 4, 5, 6, 7) with a constant.
    pub(super) fn arith_imm(&mut self, number: u8, wide: bool, operand: impl Into<Operand>, imm: i32) {
        let (code, bytes) = if i8::try_from(imm).is_ok() { (0x83, 1) } else { (0x81, 4) };
        let op = if wide { Op::wide(code) } else { Op::narrow(code) };
        self.op_imm(op, Reg(number), operand, imm, bytes);
    }

    pub(super) fn jump(&mut self, to: Label) {
        self.bytes.push(0xe9);
        self.jumps.push((self.position(), to));
        self.put32(0);
    }

    pub(super) fn jump_if(&mut self, cond: Cond, to: Label) {
        self.bytes.extend([0x0f, 0x80 | cond.0]);
        self.jumps.push((self.position(), to));
        self.put32(0);
    }

    /// Calls the function whose address is in a register.
    pub(super) fn call(&mut self, function: Reg) {
        self.op(Op::narrow(0xff), Reg(2), function);
    }

    /// The sign of `rax` in all bits of `rdx`.
    pub(super) fn op_cqo(&mut self) {
        self.bytes.extend([0x48, 0x99]);
    }

    /// Goes on at the address in a register.
    pub(super) fn jump_to(&mut self, address: Reg) {
        self.op(Op::narrow(0xff), Reg(4), address);
    }

    /// Fills in all distances, and appends the constants. The code will stand after so many bytes.
    pub(super) fn finish(&mut self, before: usize) -> Option<()> {
        for &(at, label) in &self.jumps {
            let distance = self.place_of(label)?.wrapping_sub(at + 4);
            self.bytes[at as usize..][..4].copy_from_slice(&distance.to_le_bytes());
        }
        if self.constants.is_empty() {
            return Some(());
        }
        while !(self.bytes.len() + before).is_multiple_of(16) {
            self.bytes.push(0xcc);
        }
        let first = self.position();
        for &(at, number, follow) in &self.loads {
            let distance = (first + 16 * number).wrapping_sub(at + 4 + u32::from(follow));
            self.bytes[at as usize..][..4].copy_from_slice(&distance.to_le_bytes());
        }
        for constant in &self.constants {
            self.bytes.extend_from_slice(&constant.to_le_bytes());
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(make: impl FnOnce(&mut Asm)) -> String {
        let mut asm = Asm::default();
        make(&mut asm);
        asm.finish(0).expect("all labels are placed");
        let text = crate::disassembly::lines(target_lexicon::Architecture::X86_64, &asm.bytes);
        let lines: Vec<String> =
            text.lines().map(|line| line.split_whitespace().skip(1).collect::<Vec<_>>().join(" ")).collect();
        lines.join("; ")
    }

    /// Every register as base, index and register: some of them have encodings of their own.
    #[test]
    fn memory_is_encoded_for_every_register() {
        const NAMES: [&str; 16] = [
            "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13",
            "r14", "r15",
        ];
        for (base, name) in (0..).zip(NAMES) {
            for (disp, shown) in [(0, ""), (8, "8"), (-0x1000, "-0x1000")] {
                let found = text(|asm| asm.load(Reg(15 - base), Mem::at(Reg(base), disp)));
                let to = NAMES[usize::from(15 - base)];
                assert_eq!(found, format!("mov {shown}(%{name}), %{to}"));
            }
            for (index, other) in (0..).zip(NAMES).filter(|&(index, _)| index != 4) {
                let mem = Mem { base: Reg(base), index: Some((Reg(index), 0)), disp: 0x40 };
                assert_eq!(text(|asm| asm.store(mem, RAX)), format!("mov %rax, 0x40(%{name},%{other})"));
                let sum = format!("vaddsd 0x40(%{name},%{other}), %xmm9, %xmm2");
                assert_eq!(text(|asm| asm.op3(Op::double(0x58), Reg(18), Reg(25), mem)), sum);
            }
        }
    }

    #[test]
    fn bytes_of_registers_have_their_prefix() {
        let set = |reg: Reg| text(|asm| asm.op(Op::narrow(0x94).escaped().of_bytes(), Reg(0), reg));
        assert_eq!([RAX, RSI, Reg(9)].map(set), ["sete %al", "sete %sil", "sete %r9b"]);
    }

    #[test]
    fn products_are_added_in_any_registers() {
        for (sum, x, y) in [(0, 1, 2), (8, 9, 10), (7, 15, 0), (15, 0, 15)] {
            let found = text(|asm| asm.add_product(Reg(16 + sum), Reg(16 + x), Reg(16 + y)));
            assert_eq!(found, format!("vfmadd231sd %xmm{y}, %xmm{x}, %xmm{sum}"));
        }
    }

    #[test]
    fn constants_take_the_shortest_form() {
        let mov = |imm: i64| text(|asm| asm.mov_imm(Reg(11), imm));
        assert_eq!(mov(5), "mov $5, %r11d");
        assert_eq!(mov(-1), "mov $-1, %r11");
        assert_eq!(mov(1 << 40), "movabs $0x10000000000, %r11");
    }

    #[test]
    fn labels_lead_on_to_others() {
        let mut asm = Asm::default();
        let (first, second, nowhere) = (asm.label(), asm.label(), asm.label());
        asm.jump(first);
        asm.forward(first, second);
        asm.place(second);
        asm.op_cqo();
        asm.finish(0).expect("both are placed");
        assert_eq!(asm.bytes, [0xe9, 0, 0, 0, 0, 0x48, 0x99]);
        asm.jump(nowhere);
        assert!(asm.finish(0).is_none());
    }

    /// Constants stand after the code, once each, and are reached wherever an immediate follows.
    #[test]
    fn constants_stand_after_the_code() {
        let mut asm = Asm::default();
        let one = asm.constant(1);
        asm.load(Reg(16), one);
        let one = asm.constant(1);
        asm.op_imm(Op::packed(0x0b).escaped_by(0x3a), Reg(16), one, 9, 1);
        asm.finish(5).expect("there are no labels");
        let place = |at: usize, length: usize| {
            let distance = i32::from_le_bytes(asm.bytes[at..at + 4].try_into().expect("four bytes"));
            at + length + distance as usize
        };
        let start = asm.bytes.len() - 16;
        assert_eq!((start + 5) % 16, 0);
        assert_eq!([place(4, 4), place(8 + 5, 5)], [start; 2]);
        assert_eq!(asm.bytes[start..], 1u128.to_le_bytes());
    }
}
