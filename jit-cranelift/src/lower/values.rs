//! Operands: trace values as Cranelift values, some of them computed only where they are used.
//!
//! Problem: a comparison fuses with its branch only if both stand together, a displacement ends in the
//! addressing mode only if it is known at the load, and many a sum is wanted by exits only. Design: a trace
//! value is a Cranelift value or a recipe: a comparison not yet made, an address with its displacement apart,
//! an integer with a constant not yet added, an operation on doubles whose operands go round the loop.
//! [`Lowering::value`] carries a recipe out where a plain value is needed; branches and memory accesses look
//! at the recipe itself. Constants are made once a part: Cranelift makes them again at every use, in the
//! instruction where possible.
//!
//! Invariant: what is cached stands in the current chain of blocks, hence dominates everything that follows
//! in the part; what an exit's stub carries out is for that stub alone. Example: `a2 = item_addr(a0, i1)`
//! with stride 8 and offset 16 is kept as `(a0 + i1 * 8, 16)`; `load.elem(a2)` reads
//! `[a0 + i1*8 + 16 + elem]`.

use cranelift_codegen::ir::condcodes::{CondCode, FloatCC, IntCC};
use cranelift_codegen::ir::immediates::Ieee64;
use cranelift_codegen::ir::types;
use rustc_hash::FxHashMap as HashMap;
use tracelift_core::{Inst, Op, Payload, Type, Value};

use super::{arg, Lowering, Result, Ssa};
use crate::error::CompileError;

/// How a trace value is known.
#[derive(Clone, Copy)]
pub(super) enum Def {
    /// Not yet, or in another part.
    Unknown,
    /// In a register.
    Value(Ssa),
    /// The outcome of a comparison of integers or pointers.
    IntCompare(IntCC, Ssa, Ssa),
    /// The outcome of a comparison of doubles.
    FloatCompare(FloatCC, Ssa, Ssa),
    /// A sum whose last addend is constant.
    Address(Ssa, i32),
    /// An integer plus a constant, not yet added.
    Sum(Ssa, i32),
    /// An operation on doubles that the loop holds anyway, not yet made.
    Late(Op, Ssa, Ssa),
    /// An integer as a double, its quotient by a constant, and that rounded, none of them made yet.
    Double(Ssa),
    Quotient(Op, Ssa, Ssa),
    Rounded([Op; 2], Ssa, Ssa),
    /// What stays in a loop, what changes, and a constant, not yet added.
    Index(Ssa, Ssa, i32),
}

/// What a jump passes: how it is known, and the register plus constant that it is, if it is one.
pub(super) type Passed = (Def, Option<(Ssa, i64)>);

/// What is known of the trace's values in the current part.
pub(super) struct Values {
    defs: Vec<Def>,
    /// Integers that are a register plus a constant.
    affine: HashMap<Value, (Ssa, i64)>,
    /// `base + index * stride`, by these three: indexes that differ by a constant share one address.
    sums: HashMap<(Ssa, Ssa, u32), Ssa>,
    /// `index * stride`, by these two: one index is used with many bases.
    scaled: HashMap<(Ssa, u32), Ssa>,
    /// Integers that are the sum of what stays in the loop, a register, and a constant.
    pub(super) parts: HashMap<Value, (Ssa, Ssa, i32)>,
}

impl Values {
    pub(super) fn new(count: usize) -> Values {
        Values {
            defs: vec![Def::Unknown; count],
            affine: HashMap::default(),
            sums: HashMap::default(),
            scaled: HashMap::default(),
            parts: HashMap::default(),
        }
    }

    /// Forgets everything: another part begins.
    pub(super) fn forget(&mut self) {
        self.defs.fill(Def::Unknown);
        self.affine.clear();
        self.sums.clear();
        self.scaled.clear();
        self.parts.clear();
    }

    /// The sum of a base and a scaled index, where it is known before it is asked for.
    pub(super) fn learn_sum(&mut self, base: Ssa, index: Ssa, stride: u32, sum: Ssa) {
        self.sums.insert((base, index, stride), sum);
    }

    /// The sum of a base and a scaled index, if it is known.
    pub(super) fn sum(&self, base: Ssa, index: Ssa, stride: u32) -> Option<Ssa> {
        self.sums.get(&(base, index, stride)).copied()
    }

    pub(super) fn define(&mut self, value: Value, ssa: Ssa) {
        self.define_as(value, Def::Value(ssa));
    }

    /// How a value is known now; constants need not be.
    pub(super) fn known(&self, value: Value) -> Def {
        self.defs.get(value.index()).copied().unwrap_or(Def::Unknown)
    }

    /// Whether a value is known now.
    pub(super) fn is_known(&self, value: Value) -> bool {
        !matches!(self.known(value), Def::Unknown)
    }

    /// Makes a value known as it was.
    pub(super) fn restore(&mut self, value: Value, def: Def) {
        self.define_as(value, def);
    }

    /// Makes a label's argument known as what a jump passes, for another copy of the loop.
    pub(super) fn bind(&mut self, param: Value, (def, affine): Passed) {
        self.define_as(param, def);
        match affine {
            Some(sum) => self.affine.insert(param, sum),
            None => self.affine.remove(&param),
        };
    }

    fn define_as(&mut self, value: Value, def: Def) {
        if let Some(place) = self.defs.get_mut(value.index()) {
            *place = def;
        }
    }
}

impl Lowering<'_, '_, '_> {
    /// Defines the instruction's result.
    pub(super) fn define(&mut self, inst: &Inst, ssa: Ssa) -> Result<()> {
        self.define_as(inst, Def::Value(ssa))
    }

    pub(super) fn define_as(&mut self, inst: &Inst, def: Def) -> Result<()> {
        let result = inst.result.ok_or_else(|| self.malformed("the instruction has no result"))?;
        self.values.define_as(result, def);
        Ok(())
    }

    /// A 64-bit integer constant.
    pub(super) fn iconst(&mut self, bits: i64) -> Ssa {
        self.b.iconst(types::I64, bits)
    }

    /// How a value is known; constants become known here.
    pub(super) fn def(&mut self, value: Value) -> Result<Def> {
        let undefined = CompileError::Undefined { value, inst: self.index };
        let Some(&def) = self.values.defs.get(value.index()) else { return Err(undefined) };
        let Def::Unknown = def else { return Ok(def) };
        let bits = match self.input.trace.constant_of(value) {
            Some(constant) => {
                constant.bits().ok_or(CompileError::UnboundObject { value, inst: self.index })?
            }
            None => return Err(undefined),
        };
        let ssa = match self.input.trace.ty(value) {
            Type::Float => self.b.f64const(Ieee64::with_bits(bits)),
            Type::Int | Type::Ref | Type::Addr => self.iconst(bits as i64),
        };
        self.values.define(value, ssa);
        Ok(Def::Value(ssa))
    }

    /// A value in a register.
    pub(super) fn value(&mut self, value: Value) -> Result<Ssa> {
        let def = self.def(value)?;
        Ok(match def {
            Def::Value(ssa) => ssa,
            Def::IntCompare(..) | Def::FloatCompare(..) => {
                let flag = self.flag(def, true);
                self.b.uextend(types::I64, flag)
            }
            Def::Address(base, offset) => self.b.iadd_imm_s(base, i64::from(offset)),
            Def::Sum(root, addend) => {
                let sum = self.b.iadd_imm_s(root, i64::from(addend));
                self.keep(value, sum)
            }
            Def::Late(op, x, y) => {
                let result = self.float_of_two(op, x, y)?;
                self.keep(value, result)
            }
            Def::Double(int) => {
                let result = self.b.fcvt_from_sint(types::F64, int);
                self.keep(value, result)
            }
            Def::Quotient(op, int, by) => {
                let result = self.quotient_of_int(op, int, by)?;
                self.keep(value, result)
            }
            Def::Rounded([round, op], int, by) => {
                let quotient = self.quotient_of_int(op, int, by)?;
                let result = self.rounded(round, quotient);
                self.keep(value, result)
            }
            Def::Index(steady, changing, addend) => {
                let sum = self.b.iadd(steady, changing);
                let sum = if addend == 0 { sum } else { self.b.iadd_imm_s(sum, i64::from(addend)) };
                self.keep(value, sum)
            }
            Def::Unknown => return Err(CompileError::Undefined { value, inst: self.index }),
        })
    }

    /// A recipe was carried out: the result serves from here on. What stands in a stub does not dominate what
    /// follows.
    fn keep(&mut self, value: Value, result: Ssa) -> Ssa {
        if !self.in_stub {
            self.values.define(value, result);
        }
        result
    }

    /// The operand at a position, in a register.
    pub(super) fn operand(&mut self, inst: &Inst, position: usize) -> Result<Ssa> {
        self.value(arg(inst, position, self.index)?)
    }

    /// The operand at a position as base and displacement, with `more` added if the sum still fits.
    pub(super) fn address(&mut self, inst: &Inst, position: usize, more: i32) -> Result<(Ssa, i32)> {
        let value = arg(inst, position, self.index)?;
        if let Def::Address(base, offset) = self.def(value)? {
            if let Some(sum) = offset.checked_add(more) {
                return Ok((base, sum));
            }
        }
        Ok((self.value(value)?, more))
    }

    /// A condition as a flag to branch on: set where the value is not 0 (or, if `wanted` is false, where it
    /// is 0).
    pub(super) fn condition(&mut self, value: Value, wanted: bool) -> Result<Ssa> {
        let def = self.def(value)?;
        if let Def::IntCompare(..) | Def::FloatCompare(..) = def {
            return Ok(self.flag(def, wanted));
        }
        let cc = if wanted { IntCC::NotEqual } else { IntCC::Equal };
        // A sum is zero where its register is the constant's negative.
        let (register, zero) = match def {
            Def::Sum(root, addend) => (root, -i64::from(addend)),
            _ => (self.value(value)?, 0),
        };
        Ok(self.b.icmp_imm_s(cc, register, zero))
    }

    /// Carries out a comparison, or its opposite. The opposite of `less` is `greater, equal or unordered`, so
    /// NaN falls on the right side.
    fn flag(&mut self, def: Def, wanted: bool) -> Ssa {
        match def {
            Def::IntCompare(cc, x, y) => {
                let cc = if wanted { cc } else { cc.complement() };
                self.b.icmp(cc, x, y)
            }
            Def::FloatCompare(cc, x, y) => {
                let cc = if wanted { cc } else { cc.complement() };
                self.b.fcmp(cc, x, y)
            }
            _ => unreachable!("only comparisons are passed here"),
        }
    }

    /// The result is the operand in another type of the same registers.
    pub(super) fn same(&mut self, inst: &Inst) -> Result<()> {
        let def = self.def(arg(inst, 0, self.index)?)?;
        self.define_as(inst, def)
    }

    /// A sum (`sign` 1) or difference (-1). A constant is only added where the result is used: as an index it
    /// ends in a displacement, and what nothing but exits use is computed in their stubs.
    pub(super) fn sum(&mut self, inst: &Inst, sign: i64) -> Result<()> {
        if sign > 0 && self.index_of_row(inst)? {
            return Ok(());
        }
        if let Some((root, addend)) = self.note_affine(inst, sign)? {
            if let Ok(addend) = i32::try_from(addend) {
                return self.define_as(inst, Def::Sum(root, addend));
            }
        }
        self.int2(inst, |b, x, y| if sign > 0 { b.iadd(x, y) } else { b.isub(x, y) })
    }

    /// Remembers that the result is an operand plus a constant (`sign` 1) or minus one (-1), and says which.
    pub(super) fn note_affine(&mut self, inst: &Inst, sign: i64) -> Result<Option<(Ssa, i64)>> {
        let (Some(result), &[x, y]) = (inst.result, &inst.args[..]) else { return Ok(None) };
        let trace = self.input.trace;
        let (operand, constant) = match (trace.int_of(x), trace.int_of(y)) {
            (None, Some(constant)) => (x, constant.wrapping_mul(sign)),
            (Some(constant), None) if sign == 1 => (y, constant),
            _ => return Ok(None),
        };
        let (root, before) = self.affine(operand)?;
        let sum = (root, before.wrapping_add(constant));
        self.values.affine.insert(result, sum);
        Ok(Some(sum))
    }

    /// An integer as a register and a constant to be added.
    pub(super) fn affine(&mut self, value: Value) -> Result<(Ssa, i64)> {
        match self.values.affine.get(&value) {
            Some(&sum) => Ok(sum),
            None => Ok((self.value(value)?, 0)),
        }
    }

    /// What a jump passes, to be bound to the label's argument. Comparisons are made here: what they compare
    /// may be gone later.
    pub(super) fn passed(&mut self, value: Value) -> Result<Passed> {
        let def = match self.def(value)? {
            Def::IntCompare(..) | Def::FloatCompare(..) | Def::Late(..) | Def::Index(..) => {
                Def::Value(self.value(value)?)
            }
            def => def,
        };
        Ok((def, self.values.affine.get(&value).copied()))
    }

    /// Address plus integer: a constant becomes displacement.
    pub(super) fn addr_add(&mut self, inst: &Inst) -> Result<()> {
        let constant = self.input.trace.int_of(arg(inst, 1, self.index)?).and_then(|c| i32::try_from(c).ok());
        if let Some(constant) = constant {
            let (base, offset) = self.address(inst, 0, constant)?;
            return self.define_as(inst, Def::Address(base, offset));
        }
        let (base, offset) = self.address(inst, 0, 0)?;
        let index = self.operand(inst, 1)?;
        let sum = self.b.iadd(base, index);
        self.define_as(inst, Def::Address(sum, offset))
    }

    /// Address of an item. All that is constant, also in the index, becomes displacement: `a[i]` and `a[i+1]`
    /// share one register. Here loops ask for the items that they will come to.
    pub(super) fn item_addr(&mut self, inst: &Inst) -> Result<()> {
        let Payload::Scale { stride, offset } = inst.payload else {
            return Err(self.malformed("item_addr without stride"));
        };
        let index = arg(inst, 1, self.index)?;
        let (base, base_offset) = self.address(inst, 0, 0)?;
        let (base, root, constant) = match (self.input.trace.int_of(index), self.row_of(base, index, stride))
        {
            (Some(constant), _) => (base, None, constant),
            (None, Some((row, root, constant))) => (row, Some(root), constant),
            (None, None) => {
                let (root, constant) = self.affine(index)?;
                (base, Some(root), constant)
            }
        };
        let constant = constant.wrapping_mul(i64::from(stride)).wrapping_add(i64::from(offset));
        // Wrapping arithmetic makes the two forms equal whatever the index; only the displacement's size
        // matters.
        let (base, root, displacement) = match i32::try_from(constant.wrapping_add(i64::from(base_offset))) {
            Ok(displacement) => (base, root, displacement),
            Err(_) => (self.operand(inst, 0)?, Some(self.value(index)?), offset),
        };
        let sum = match root {
            Some(root) => self.item_sum(base, root, stride),
            None => base,
        };
        self.define_as(inst, Def::Address(sum, displacement))?;
        inst.result.map_or(Ok(()), |address| self.prefetch(address))
    }

    pub(super) fn item_sum(&mut self, base: Ssa, index: Ssa, stride: u32) -> Ssa {
        if let Some(&sum) = self.values.sums.get(&(base, index, stride)) {
            return sum;
        }
        let scaled = self.scaled(index, stride);
        let sum = self.b.iadd(base, scaled);
        self.values.sums.insert((base, index, stride), sum);
        sum
    }

    /// `index * stride`, computed once a part.
    fn scaled(&mut self, index: Ssa, stride: u32) -> Ssa {
        if let Some(&scaled) = self.values.scaled.get(&(index, stride)) {
            return scaled;
        }
        let scaled = match stride {
            1 => index,
            _ if stride.is_power_of_two() => self.b.ishl_imm_u(index, i64::from(stride.trailing_zeros())),
            _ => self.b.imul_imm_s(index, i64::from(stride)),
        };
        self.values.scaled.insert((index, stride), scaled);
        scaled
    }
}
