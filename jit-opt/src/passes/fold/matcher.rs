//! What a rule sees of an operation, and what it may answer.
//!
//! A rule is a function from a [`Match`] to a [`Rewrite`]; it asks for constants and for the definitions of
//! operands, and answers with terms, so that no rule touches the output. Invariant: a rule is a pure function
//! of what the match shows. Example: `|m| m.is_int(1, 0).then(|| m.arg(0))` with the law `x + 0 => x`.

use smallvec::{smallvec, SmallVec};
use tracelift_core::effects::CellAccess;
use tracelift_core::{Const, Inst, Op, Payload, Type, Value};

use crate::pass::Cx;
use crate::state::State;

/// A named rewrite.
pub(crate) struct Rule {
    /// Its name in reports.
    pub name: &'static str,
    /// What it says, for readers: `docs/rules.md` lists all.
    pub law: &'static str,
    /// The operations that it looks at.
    pub ops: &'static [Op],
    /// The rewrite, if it applies.
    pub apply: fn(&Match<'_, '_>) -> Option<Rewrite>,
}

/// An operand of what a rule answers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Term {
    /// A value of the output.
    Value(Value),
    /// A constant.
    Const(Type, u64),
}

impl Term {
    /// The value of the output that it is.
    pub fn value(self, cx: &mut Cx<'_, '_>) -> Value {
        match self {
            Term::Value(value) => value,
            Term::Const(ty, bits) => cx.st.constant(ty, bits),
        }
    }
}

impl From<Value> for Term {
    fn from(value: Value) -> Term {
        Term::Value(value)
    }
}

impl From<i64> for Term {
    fn from(int: i64) -> Term {
        Term::Const(Type::Int, int as u64)
    }
}

/// The operands of an operation that a rule answers.
pub(crate) type Terms = SmallVec<[Term; 3]>;

/// What a rule answers.
#[derive(Debug)]
pub(crate) enum Rewrite {
    /// The result is this.
    Is(Term),
    /// The guard always holds.
    Holds,
    /// This operation instead.
    Op(Op, Terms),
    /// This operation with a payload instead.
    With(Op, Terms, Payload),
}

/// Two operands.
pub(super) fn op2(op: Op, a: impl Into<Term>, b: impl Into<Term>) -> Rewrite {
    Rewrite::Op(op, smallvec![a.into(), b.into()])
}

/// One operand.
pub(super) fn op1(op: Op, a: impl Into<Term>) -> Rewrite {
    Rewrite::Op(op, smallvec![a.into()])
}

/// The result is an integer.
pub(super) fn int(int: i64) -> Rewrite {
    Rewrite::Is(int.into())
}

/// The result is a value.
pub(super) fn is(value: Value) -> Rewrite {
    Rewrite::Is(value.into())
}

/// An operation that a rule is asked about.
pub(crate) struct Match<'m, 's> {
    pub st: &'m State<'s>,
    pub inst: &'m Inst,
}

impl<'m> Match<'m, '_> {
    /// An operand.
    pub fn value(&self, index: usize) -> Value {
        self.inst.args[index]
    }

    /// The answer that the result is that operand.
    pub fn arg(&self, index: usize) -> Rewrite {
        is(self.value(index))
    }

    /// Whether both operands are the same value.
    pub fn same(&self) -> bool {
        self.value(0) == self.value(1)
    }

    /// The integer constant that an operand is.
    pub fn int(&self, index: usize) -> Option<i64> {
        self.int_of(self.value(index))
    }

    /// The integer constant that a value is.
    pub fn int_of(&self, value: Value) -> Option<i64> {
        self.st.out.int_of(value)
    }

    /// Whether an operand is this integer.
    pub fn is_int(&self, index: usize, int: i64) -> bool {
        self.int(index) == Some(int)
    }

    /// Whether an operand is a constant of any type.
    pub fn is_const(&self, index: usize) -> bool {
        self.st.out.constant_of(self.value(index)).is_some()
    }

    /// Whether an operand is null.
    pub fn is_null(&self, index: usize) -> bool {
        self.st.out.constant_of(self.value(index)) == Some(Const::Bits(0))
    }

    /// The operands of the operation that defines an operand, if it is this one.
    pub fn def(&self, index: usize, op: Op) -> Option<&'m [Value]> {
        self.def_of(self.value(index), op)
    }

    /// The operands of the operation that defines a value, if it is this one.
    pub fn def_of(&self, value: Value, op: Op) -> Option<&'m [Value]> {
        self.st.def(value).filter(|def| def.op == op).map(|def| &def.args[..])
    }

    /// An operand of the form `x op c`: `x` and the constant.
    pub fn def_const(&self, index: usize, op: Op) -> Option<(Value, i64)> {
        let args = self.def(index, op)?;
        Some((args[0], self.int_of(args[1])?))
    }

    /// The compare that an operand is.
    pub fn compare(&self, index: usize) -> Option<&'m Inst> {
        self.st.def(self.value(index)).filter(|def| is_compare(def.op))
    }

    /// Whether an integer is known to lie in -2^53 ..= 2^53, where doubles hold every integer.
    pub fn is_exact_in_double(&self, value: Value) -> bool {
        const LIMIT: i64 = 1 << 53;
        if let Some(int) = self.int_of(value) {
            return (-LIMIT..=LIMIT).contains(&int);
        }
        let Some(def) = self.st.def(value) else { return false };
        let constant = def.args.get(1).and_then(|&arg| self.int_of(arg));
        match (def.op, constant) {
            (Op::IntAnd, Some(mask)) => (0..=LIMIT).contains(&mask),
            (Op::IntShr, Some(count)) => count & 63 >= 11,
            (Op::IntSar, Some(count)) => count & 63 >= 10,
            (Op::IntFloorMod | Op::IntRem, Some(divisor)) => (1..=LIMIT).contains(&divisor),
            _ => match CellAccess::loaded(def) {
                Some(cell) => self.st.schema.cell(cell).width <= 4,
                None => is_compare(def.op),
            },
        }
    }
}

/// Whether the op answers 0 or 1.
pub(crate) fn is_compare(op: Op) -> bool {
    use Op::*;
    matches!(op, IntEq | IntNe | IntLt | IntLe | IntGt | IntGe | UintLt | UintLe | UintGt | UintGe)
        || matches!(op, FloatEq | FloatNe | FloatLt | FloatLe | FloatGt | FloatGe)
        || matches!(op, RefEq | RefNe | RefIsNull | AddrEq)
}

/// The compare that answers 1 exactly where this one answers 0. Ordered float compares have none: with a NaN
/// both a compare and its opposite answer 0.
pub(crate) fn inverse(op: Op) -> Option<Op> {
    use Op::*;
    Some(match op {
        IntEq => IntNe,
        IntNe => IntEq,
        IntLt => IntGe,
        IntGe => IntLt,
        IntGt => IntLe,
        IntLe => IntGt,
        UintLt => UintGe,
        UintGe => UintLt,
        UintGt => UintLe,
        UintLe => UintGt,
        FloatEq => FloatNe,
        FloatNe => FloatEq,
        RefEq => RefNe,
        RefNe => RefEq,
        _ => return None,
    })
}

/// The compare that says the same with exchanged operands.
pub(crate) fn mirrored(op: Op) -> Option<Op> {
    use Op::*;
    Some(match op {
        IntEq | IntNe | FloatEq | FloatNe | RefEq | RefNe | AddrEq => op,
        IntLt => IntGt,
        IntGt => IntLt,
        IntLe => IntGe,
        IntGe => IntLe,
        UintLt => UintGt,
        UintGt => UintLt,
        UintLe => UintGe,
        UintGe => UintLe,
        FloatLt => FloatGt,
        FloatGt => FloatLt,
        FloatLe => FloatGe,
        FloatGe => FloatLe,
        _ => return None,
    })
}
