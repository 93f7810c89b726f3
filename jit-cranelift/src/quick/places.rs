//! Where values are while code is made: registers, and slots of the frame.
//!
//! Problem: which value is in which register must be decided in one pass, quickly, and not badly: loops run
//! long. Design: a value gets a register where it is computed, and keeps it until it dies or the register is
//! wanted more. Then the value leaves whose next use is farthest (Belady); if it is in no slot yet it is
//! stored. A value is computed once, so that its slot, once written, stays right. Constants are in no place,
//! they are made where they are used. What outlives a call prefers registers that functions preserve.
//!
//! Invariants: a register holds one value at most; a value that is wanted is in a register or in its slot, or
//! in both. Example: with all registers full, `v9 = iadd v1, v2` puts that of the others into memory which is
//! used last.

use cranelift_codegen::ir::Value;

use super::asm::{Reg, RBP};

/// Registers of integers that values may be in: not `rsp`, `rbp` and the scratch register.
pub(super) const INTS: u32 = 0xffff & !(1 << 4 | 1 << 5 | 1 << 11);
/// Registers of doubles that values may be in.
pub(super) const FLOATS: u32 = 0x3fff << 16;
/// Registers that functions preserve, as far as values may be in them.
pub(super) const PRESERVED: u32 = 1 << 3 | 0xf << 12;
/// Those that are seldom wanted for something special.
const PLAIN: u32 = 1 << 6 | 1 << 7 | 1 << 8 | 1 << 9 | 1 << 10;

const NO_SLOT: u32 = u32::MAX;

/// A place of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    Reg(Reg),
    Slot(u32),
}

/// Where a value is: its register; whether its slot holds it; its slot; the register where it will be wanted.
#[derive(Clone, Copy)]
struct Whereabouts {
    reg: Option<Reg>,
    hint: Option<Reg>,
    is_stored: bool,
    slot: u32,
}

const NOWHERE: Whereabouts = Whereabouts { reg: None, hint: None, is_stored: false, slot: NO_SLOT };

/// See the file's top.
#[derive(Default)]
pub(super) struct Places {
    values: Vec<Whereabouts>,
    /// By register: what it holds.
    holders: [Option<Value>; 32],
    /// Registers that hold something.
    pub(super) held: u32,
    /// Slots so far.
    pub(super) count: u32,
}

impl Places {
    pub(super) fn reset(&mut self, values: usize) {
        self.values.clear();
        self.values.resize(values, NOWHERE);
        self.holders = [None; 32];
        (self.held, self.count) = (0, 0);
    }

    fn of(&mut self, value: Value) -> &mut Whereabouts {
        &mut self.values[value.as_u32() as usize]
    }

    pub(super) fn reg(&self, value: Value) -> Option<Reg> {
        self.values[value.as_u32() as usize].reg
    }

    /// The register where a value will be wanted, if that is known.
    pub(super) fn hint(&self, value: Value) -> Option<Reg> {
        self.values[value.as_u32() as usize].hint
    }

    pub(super) fn set_hint(&mut self, value: Value, reg: Reg) {
        self.of(value).hint = Some(reg);
    }

    pub(super) fn holder(&self, reg: Reg) -> Option<Value> {
        self.holders[usize::from(reg.0)]
    }

    pub(super) fn is_stored(&self, value: Value) -> bool {
        self.values[value.as_u32() as usize].is_stored
    }

    pub(super) fn set_stored(&mut self, value: Value, is_stored: bool) {
        self.of(value).is_stored = is_stored;
    }

    /// The slot of a value.
    pub(super) fn slot(&mut self, value: Value) -> u32 {
        let slot = &mut self.values[value.as_u32() as usize].slot;
        if *slot == NO_SLOT {
            *slot = self.count;
            self.count += 1;
        }
        *slot
    }

    /// A value is in this register now, and in no other.
    pub(super) fn put(&mut self, value: Value, reg: Reg) {
        debug_assert!(self.holders[usize::from(reg.0)].is_none_or(|holder| holder == value));
        if let Some(before) = self.of(value).reg.replace(reg) {
            self.leave(before);
        }
        self.holders[usize::from(reg.0)] = Some(value);
        self.held |= reg.bit();
    }

    /// A value is in no register any more.
    pub(super) fn take(&mut self, value: Value) {
        if let Some(reg) = self.of(value).reg.take() {
            self.leave(reg);
        }
    }

    fn leave(&mut self, reg: Reg) {
        self.holders[usize::from(reg.0)] = None;
        self.held &= !reg.bit();
    }

    /// No register of a set holds anything but what is wanted.
    pub(super) fn retain(&mut self, set: u32, is_wanted: impl Fn(Value) -> bool) {
        let mut rest = self.held & set;
        while rest != 0 {
            let reg = Reg(rest.trailing_zeros() as u8);
            rest &= rest - 1;
            if let Some(value) = self.holder(reg).filter(|&value| !is_wanted(value)) {
                self.take(value);
            }
        }
    }

    /// The registers of a set, and what they hold.
    pub(super) fn held_in(&self, set: u32) -> impl Iterator<Item = (Reg, Value)> + '_ {
        let mut rest = self.held & set;
        std::iter::from_fn(move || {
            let reg = (rest != 0).then(|| Reg(rest.trailing_zeros() as u8))?;
            rest &= rest - 1;
            self.holder(reg).map(|value| (reg, value))
        })
    }
}

/// What a value wants of its register.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Wish {
    /// This one.
    pub at: Option<Reg>,
    /// One that functions preserve.
    pub preserved: bool,
}

impl Wish {
    pub(super) fn at(self, at: Option<Reg>) -> Wish {
        Wish { at, ..self }
    }
}

/// One of these free registers, if there is any: as is wished, if one is.
pub(super) fn choose(free: u32, wish: Wish) -> Option<Reg> {
    if let Some(at) = wish.at.filter(|at| free & at.bit() != 0) {
        return Some(at);
    }
    let order = match wish.preserved {
        true => [free & PRESERVED, free & PLAIN, free],
        false => [free & PLAIN, free & !PRESERVED, free],
    };
    order.into_iter().find(|&set| set != 0).map(|set| Reg(set.trailing_zeros() as u8))
}

/// Where a slot is: below the five registers that are saved.
pub(super) fn slot_offset(slot: u32) -> i32 {
    -8 * (SAVED + 1 + slot as i32)
}

/// How many registers are saved at most.
pub(super) const SAVED: i32 = 5;

pub(super) fn slot_mem(slot: u32) -> super::asm::Mem {
    super::asm::Mem::at(RBP, slot_offset(slot))
}
