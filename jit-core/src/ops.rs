//! The op table: every operation of the trace language, once.
//!
//! Problem: an op has a name, a type, effects and a meaning, and half a dozen layers need some of these.
//! Design: one table macro; its rows make [`Op`], [`OpInfo`], the parser's and printer's names, the
//! verifier's arity and type checks, the folder, the oracle and the random-trace generator. Lowering is an
//! exhaustive match elsewhere, so that a new row does not compile until it has machine code.
//!
//! A row reads `Variant = number "name" (argument types) -> result [FLAGS] payload eval function;`. To add an
//! op: one row here, one lowering arm, one `.trace` test, and (where it touches memory) one arm in the
//! evaluator.
//!
//! The numbers are the C ABI's: a program that was compiled against an older header goes on passing them. A
//! new op takes the next number, wherever its row stands; a number is never changed, and that of a removed op
//! never given again. `tests/op_numbers.txt` is the frozen list, which a test compares.
//!
//! Invariant: `eval` is total on the bits of its arguments and returns `None` in exactly two cases: the op is
//! a guard and the guard fails, or the op is partial ([`Op::IntDiv`] by zero) and has no value there.
//!
//! ```
//! use tracelift_core::Op;
//! assert_eq!(Op::IntAdd.info().name, "int_add");
//! assert_eq!(Op::IntAdd.info().eval.unwrap()(&[2, 3]), Some(5));
//! assert_eq!(Op::IntAddOvf.info().eval.unwrap()(&[i64::MAX as u64, 1]), None);
//! ```

use crate::meaning::*;
use crate::types::{Bits, Type};

/// What an argument position accepts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArgType {
    /// Exactly this type.
    Is(Type),
    /// `Ref` or `Addr`.
    Pointer,
    /// Any type, but the same one in all `Same` positions of the instruction.
    Same,
    /// The type that the payload declares (a stored cell's, field's or tag's type).
    Declared,
}

/// How many arguments an op takes, and of what types.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arity {
    /// Exactly these.
    Fixed(&'static [ArgType]),
    /// As many as the payload says (a label's arguments, a function's parameters), or any number (`finish`).
    Variadic,
}

/// What an op results in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResultType {
    /// Nothing.
    Nothing,
    /// A value of this type.
    Is(Type),
    /// A value of the type that the `Same` arguments have.
    Same,
    /// What the payload declares: a cell's or field's type, a tag's payload (none for `nil`), a function's
    /// result.
    Declared,
}

/// Which [`Payload`](crate::ir::Payload) an op carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PayloadKind {
    /// None.
    None,
    /// A raw memory cell: `load`, `store`.
    Cell,
    /// A fixed field of a record: `get`, `set`.
    Field,
    /// A record layout: `guard_class`, `item_count`.
    Layout,
    /// A record layout with capacities: `new`.
    New,
    /// A record layout and the tag of an indexed item.
    Item,
    /// A record layout, the tag of a keyed entry, and hints.
    Key,
    /// A function.
    Func,
    /// A label.
    Label,
    /// A label after the condition: `jump_if`.
    Target,
    /// Stride and displacement: `item_addr`.
    Scale,
    /// A unit, and where its frame begins: `call_unit`.
    Unit,
    /// The slot and the tag of what a unit has returned: `unit_result`.
    Result,
    /// The tag of what a unit returns: `return_unit`.
    Tag,
}

/// Properties of an op, as a set of bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flags(u16);

impl Flags {
    /// No property.
    pub const NONE: Flags = Flags(0);
    /// The result depends on nothing but the arguments and the payload; no effect.
    pub const PURE: Flags = Flags(1);
    /// The two arguments may be exchanged.
    pub const COMMUTES: Flags = Flags(2);
    /// May leave the trace at its snapshot instead of going on.
    pub const GUARD: Flags = Flags(4);
    /// Reads memory (the payload says which).
    pub(crate) const READS: Flags = Flags(8);
    /// Writes memory (the payload says which): an effect that a snapshot must not lie before and its guard
    /// after.
    pub const WRITES: Flags = Flags(16);
    /// Makes an object.
    pub(crate) const ALLOCS: Flags = Flags(32);
    /// Calls a function with declared effects.
    pub(crate) const CALLS: Flags = Flags(64);
    /// Ends the trace or a part of it: `jump`, `finish`.
    pub const ENDS: Flags = Flags(128);
    /// A semantic operation on a record, expanded before lowering when the record is real.
    pub const RECORD: Flags = Flags(256);

    /// Both sets together.
    pub const fn or(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }

    /// The properties' names, for the book.
    pub fn names(self) -> Vec<&'static str> {
        let names = [
            (Flags::PURE, "pure"),
            (Flags::COMMUTES, "commutes"),
            (Flags::GUARD, "guard"),
            (Flags::READS, "reads"),
            (Flags::WRITES, "writes"),
            (Flags::ALLOCS, "allocates"),
            (Flags::CALLS, "calls"),
            (Flags::ENDS, "ends"),
            (Flags::RECORD, "record"),
        ];
        names.iter().filter(|(flag, _)| self.has(*flag)).map(|(_, name)| *name).collect()
    }

    /// Whether all of `other`'s properties are here.
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }
}

/// The meaning of an op on the bits of its arguments; see the file's invariant for `None`.
pub type Eval = fn(&[Bits]) -> Option<Bits>;

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct OpInfo {
    /// The op's name in the text form.
    pub name: &'static str,
    /// One line on what it does.
    pub doc: &'static str,
    /// Arguments.
    pub args: Arity,
    /// Result.
    pub result: ResultType,
    /// Properties.
    pub flags: Flags,
    /// What it carries beside arguments.
    pub payload: PayloadKind,
    /// Its meaning, where that depends on the arguments alone.
    pub eval: Option<Eval>,
}

macro_rules! arity {
    (*) => {
        Arity::Variadic
    };
    ($($arg:ident)*) => {
        Arity::Fixed(&[$(arg!($arg)),*])
    };
}
macro_rules! arg {
    (Pointer) => {
        ArgType::Pointer
    };
    (Same) => {
        ArgType::Same
    };
    (Declared) => {
        ArgType::Declared
    };
    ($ty:ident) => {
        ArgType::Is(Type::$ty)
    };
}
macro_rules! result {
    (Nothing) => {
        ResultType::Nothing
    };
    (Same) => {
        ResultType::Same
    };
    (Declared) => {
        ResultType::Declared
    };
    ($ty:ident) => {
        ResultType::Is(Type::$ty)
    };
}
macro_rules! eval {
    () => {
        None
    };
    ($eval:expr) => {
        Some($eval)
    };
}

macro_rules! define_ops {
    ($( $(#[doc = $doc:literal])* $variant:ident = $number:literal $name:literal ($($args:tt)*)
        -> $result:ident [$($flag:ident)*] $payload:ident $(eval $eval:expr)?; )*) => {
        /// An operation of the trace language; its row in the table is [`Op::info`].
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Op {
            $( $(#[doc = $doc])* $variant = $number, )*
        }

        impl Op {
            /// Every op, in table order.
            pub const ALL: &'static [Op] = &[$(Op::$variant),*];
        }

        const ROWS: &[OpInfo] = &[$(
            OpInfo {
                name: $name,
                doc: concat!($($doc),*),
                args: arity!($($args)*),
                result: result!($result),
                flags: Flags::NONE$(.or(Flags::$flag))*,
                payload: PayloadKind::$payload,
                eval: eval!($($eval)?),
            },
        )*];
    };
}

define_ops! {
    // Integers. Results wrap to 64 bits unless the op says otherwise.
    /// Wrapping addition.
    IntAdd = 0 "int_add" (Int Int) -> Int [PURE COMMUTES] None eval |a| int2(a, i64::wrapping_add);
    /// Wrapping subtraction.
    IntSub = 1 "int_sub" (Int Int) -> Int [PURE] None eval |a| int2(a, i64::wrapping_sub);
    /// Wrapping multiplication.
    IntMul = 2 "int_mul" (Int Int) -> Int [PURE COMMUTES] None eval |a| int2(a, i64::wrapping_mul);
    /// Wrapping negation.
    IntNeg = 3 "int_neg" (Int) -> Int [PURE] None eval |a| int1(a, i64::wrapping_neg);
    /// Addition; leaves the trace on signed overflow.
    IntAddOvf = 4 "int_add_ovf" (Int Int) -> Int [GUARD COMMUTES] None eval |a| checked2(a, i64::checked_add);
    /// Subtraction; leaves the trace on signed overflow.
    IntSubOvf = 5 "int_sub_ovf" (Int Int) -> Int [GUARD] None eval |a| checked2(a, i64::checked_sub);
    /// Multiplication; leaves the trace on signed overflow.
    IntMulOvf = 6 "int_mul_ovf" (Int Int) -> Int [GUARD COMMUTES] None eval |a| checked2(a, i64::checked_mul);
    /// Division rounding towards zero; `MIN / -1` wraps; no value on a zero divisor.
    IntDiv = 7 "int_div" (Int Int) -> Int [PURE] None eval |a| partial2(a, i64::wrapping_div);
    /// Remainder with the sign of the dividend; `MIN % -1` is 0; no value on a zero divisor.
    IntRem = 8 "int_rem" (Int Int) -> Int [PURE] None eval |a| partial2(a, i64::wrapping_rem);
    /// Division rounding towards minus infinity; `MIN / -1` wraps; no value on a zero divisor.
    IntFloorDiv = 9 "int_floordiv" (Int Int) -> Int [PURE] None eval |a| partial2(a, floor_div);
    /// Remainder with the sign of the divisor; `MIN % -1` is 0; no value on a zero divisor.
    IntFloorMod = 10 "int_floormod" (Int Int) -> Int [PURE] None eval |a| partial2(a, floor_mod);
    /// Bitwise and.
    IntAnd = 11 "int_and" (Int Int) -> Int [PURE COMMUTES] None eval |a| int2(a, |x, y| x & y);
    /// Bitwise or.
    IntOr = 12 "int_or" (Int Int) -> Int [PURE COMMUTES] None eval |a| int2(a, |x, y| x | y);
    /// Bitwise exclusive or.
    IntXor = 13 "int_xor" (Int Int) -> Int [PURE COMMUTES] None eval |a| int2(a, |x, y| x ^ y);
    /// Bitwise complement.
    IntNot = 14 "int_not" (Int) -> Int [PURE] None eval |a| int1(a, |x| !x);
    /// Left shift; the count is taken modulo 64.
    IntShl = 15 "int_shl" (Int Int) -> Int [PURE] None eval |a| int2(a, |x, n| x.wrapping_shl(n as u32));
    /// Arithmetic right shift; the count is taken modulo 64.
    IntSar = 16 "int_sar" (Int Int) -> Int [PURE] None eval |a| int2(a, |x, n| x.wrapping_shr(n as u32));
    /// Logical right shift; the count is taken modulo 64.
    IntShr = 17 "int_shr" (Int Int) -> Int [PURE] None
        eval |a| int2(a, |x, n| (x as u64).wrapping_shr(n as u32) as i64);
    /// 1 if equal, else 0.
    IntEq = 18 "int_eq" (Int Int) -> Int [PURE COMMUTES] None eval |a| cmp2(a, |x, y| x == y);
    /// 1 if different, else 0.
    IntNe = 19 "int_ne" (Int Int) -> Int [PURE COMMUTES] None eval |a| cmp2(a, |x, y| x != y);
    /// Signed less than.
    IntLt = 20 "int_lt" (Int Int) -> Int [PURE] None eval |a| cmp2(a, |x, y| x < y);
    /// Signed less or equal.
    IntLe = 21 "int_le" (Int Int) -> Int [PURE] None eval |a| cmp2(a, |x, y| x <= y);
    /// Signed greater than.
    IntGt = 22 "int_gt" (Int Int) -> Int [PURE] None eval |a| cmp2(a, |x, y| x > y);
    /// Signed greater or equal.
    IntGe = 23 "int_ge" (Int Int) -> Int [PURE] None eval |a| cmp2(a, |x, y| x >= y);
    /// Unsigned less than.
    UintLt = 24 "uint_lt" (Int Int) -> Int [PURE] None eval |a| cmp2(a, |x, y| (x as u64) < y as u64);
    /// Unsigned less or equal.
    UintLe = 25 "uint_le" (Int Int) -> Int [PURE] None eval |a| cmp2(a, |x, y| x as u64 <= y as u64);
    /// Unsigned greater than.
    UintGt = 26 "uint_gt" (Int Int) -> Int [PURE] None eval |a| cmp2(a, |x, y| x as u64 > y as u64);
    /// Unsigned greater or equal.
    UintGe = 27 "uint_ge" (Int Int) -> Int [PURE] None eval |a| cmp2(a, |x, y| x as u64 >= y as u64);

    // Floats: IEEE 754 doubles, as the host's own machine computes them.
    /// Addition.
    FloatAdd = 28 "float_add" (Float Float) -> Float [PURE] None eval |a| arith2(a, |x, y| x + y);
    /// Subtraction.
    FloatSub = 29 "float_sub" (Float Float) -> Float [PURE] None eval |a| arith2(a, |x, y| x - y);
    /// Multiplication.
    FloatMul = 30 "float_mul" (Float Float) -> Float [PURE] None eval |a| arith2(a, |x, y| x * y);
    /// Division.
    FloatDiv = 31 "float_div" (Float Float) -> Float [PURE] None eval |a| arith2(a, |x, y| x / y);
    /// Negation: flips the sign bit.
    FloatNeg = 32 "float_neg" (Float) -> Float [PURE] None eval |a| float1(a, |x| -x);
    /// Absolute value: clears the sign bit.
    FloatAbs = 33 "float_abs" (Float) -> Float [PURE] None eval |a| float1(a, f64::abs);
    /// Square root.
    FloatSqrt = 34 "float_sqrt" (Float) -> Float [PURE] None eval |a| float1(a, f64::sqrt);
    /// Rounding towards minus infinity.
    FloatFloor = 35 "float_floor" (Float) -> Float [PURE] None eval |a| round1(a, f64::floor);
    /// Rounding towards plus infinity.
    FloatCeil = 36 "float_ceil" (Float) -> Float [PURE] None eval |a| round1(a, f64::ceil);
    /// Rounding towards zero.
    FloatTrunc = 37 "float_trunc" (Float) -> Float [PURE] None eval |a| round1(a, f64::trunc);
    /// 1 if equal, else 0 (also for NaN).
    FloatEq = 38 "float_eq" (Float Float) -> Int [PURE COMMUTES] None eval |a| fcmp2(a, |x, y| x == y);
    /// 1 if different or unordered, else 0.
    FloatNe = 39 "float_ne" (Float Float) -> Int [PURE COMMUTES] None eval |a| fcmp2(a, |x, y| x != y);
    /// 1 if less, else 0 (also for NaN).
    FloatLt = 40 "float_lt" (Float Float) -> Int [PURE] None eval |a| fcmp2(a, |x, y| x < y);
    /// 1 if less or equal, else 0 (also for NaN).
    FloatLe = 41 "float_le" (Float Float) -> Int [PURE] None eval |a| fcmp2(a, |x, y| x <= y);
    /// 1 if greater, else 0 (also for NaN).
    FloatGt = 42 "float_gt" (Float Float) -> Int [PURE] None eval |a| fcmp2(a, |x, y| x > y);
    /// 1 if greater or equal, else 0 (also for NaN).
    FloatGe = 43 "float_ge" (Float Float) -> Int [PURE] None eval |a| fcmp2(a, |x, y| x >= y);

    // Conversions.
    /// The nearest double.
    IntToFloat = 44 "int_to_float" (Int) -> Float [PURE] None eval |a| Some((int(a[0]) as f64).to_bits());
    /// Truncation towards zero; saturates at the ends, NaN gives 0.
    FloatToInt = 45 "float_to_int" (Float) -> Int [PURE] None eval |a| Some(float(a[0]) as i64 as u64);
    /// The integer with exactly that value; leaves the trace when there is none (fraction, NaN, out of
    /// range).
    FloatToIntExact = 46 "float_to_int_exact" (Float) -> Int [GUARD] None eval |a| float_to_int_exact(a[0]);
    /// The bits of a double as an integer.
    FloatToBits = 47 "float_to_bits" (Float) -> Int [PURE] None eval |a| Some(a[0]);
    /// The double with those bits.
    FloatFromBits = 48 "float_from_bits" (Int) -> Float [PURE] None eval |a| Some(a[0]);
    /// An object's address.
    RefToAddr = 49 "ref_to_addr" (Ref) -> Addr [PURE] None eval |a| Some(a[0]);
    /// An address as an integer.
    AddrToInt = 50 "addr_to_int" (Addr) -> Int [PURE] None eval |a| Some(a[0]);

    // Choice and identity.
    /// The second argument if the first is not 0, else the third.
    Select = 51 "select" (Int Same Same) -> Same [PURE] None
        eval |a| Some(if a[0] != 0 { a[1] } else { a[2] });
    /// 1 if both are the same object (or both null), else 0.
    RefEq = 52 "ref_eq" (Ref Ref) -> Int [PURE COMMUTES] None eval |a| cmp2(a, |x, y| x == y);
    /// 1 if they are different objects, else 0.
    RefNe = 53 "ref_ne" (Ref Ref) -> Int [PURE COMMUTES] None eval |a| cmp2(a, |x, y| x != y);
    /// 1 if null, else 0.
    RefIsNull = 54 "ref_is_null" (Ref) -> Int [PURE] None eval |a| Some((a[0] == 0) as u64);
    /// 1 if both addresses are equal, else 0.
    AddrEq = 55 "addr_eq" (Addr Addr) -> Int [PURE COMMUTES] None eval |a| cmp2(a, |x, y| x == y);

    // Addresses and raw memory.
    /// The host's context pointer (for Lua: `L`), an argument of the compiled code.
    Context = 56 "context" () -> Addr [PURE] None;
    /// The base address of the frame in which the trace was entered.
    FrameBase = 57 "frame_base" () -> Addr [PURE] None;
    /// Address plus byte offset.
    AddrAdd = 58 "addr_add" (Addr Int) -> Addr [PURE] None eval |a| int2(a, i64::wrapping_add);
    /// Address + index * stride + displacement.
    ItemAddr = 59 "item_addr" (Addr Int) -> Addr [PURE] Scale;
    /// Reads a raw cell of memory at an object or address.
    Load = 60 "load" (Pointer) -> Declared [READS] Cell;
    /// Writes a raw cell of memory at an object or address.
    Store = 61 "store" (Pointer Declared) -> Nothing [WRITES] Cell;

    // Records. On a virtual record these are answered by the optimizer; on a real one they are expanded.
    /// Makes a record; leaves the trace (before any effect) when there is no memory. Where the layout's
    /// `alloc` takes the frame's base, ITEMS is a site: a number for the host. The upper eight bits of KEYS
    /// are the host's, too.
    New = 62 "new" () -> Ref [ALLOCS GUARD RECORD] New;
    /// Leaves the trace unless the object is of exactly this class.
    GuardClass = 63 "guard_class" (Ref) -> Nothing [READS GUARD RECORD] Layout;
    /// Reads a fixed field.
    Get = 64 "get" (Ref) -> Declared [READS RECORD] Field;
    /// Writes a fixed field.
    Set = 65 "set" (Ref Declared) -> Nothing [WRITES GUARD RECORD] Field;
    /// How many items the indexed part holds.
    ItemCount = 66 "item_count" (Ref) -> Int [READS RECORD] Layout;
    /// Reads an item; leaves the trace when the index is outside or the item has another tag.
    GetItem = 67 "get_item" (Ref Int) -> Declared [READS GUARD RECORD] Item;
    /// Writes an item that is present (has a tag other than the absent one); else leaves the trace.
    SetItem = 68 "set_item" (Ref Int Declared) -> Nothing [READS WRITES GUARD RECORD] Item;
    /// Writes an item inside the bounds, whatever was there; else leaves the trace.
    PutItem = 69 "put_item" (Ref Int Declared) -> Nothing [READS WRITES GUARD RECORD] Item;
    /// Reads the value at a constant key; leaves the trace when the key is absent or has another tag.
    GetKey = 70 "get_key" (Ref Ref) -> Declared [READS GUARD RECORD] Key;
    /// Leaves the trace when the constant key is present.
    GuardKeyAbsent = 71 "guard_key_absent" (Ref Ref) -> Nothing [READS GUARD RECORD] Key;
    /// Writes the value at a constant key that is present; else leaves the trace.
    SetKey = 72 "set_key" (Ref Ref Declared) -> Nothing [READS WRITES GUARD RECORD] Key;
    /// Adds a constant key that is absent; leaves the trace (before any effect) when that fails.
    InsertKey = 73 "insert_key" (Ref Ref Declared) -> Nothing [READS WRITES ALLOCS GUARD RECORD] Key;

    // Calls.
    /// Calls a function with declared effects.
    Call = 74 "call" (*) -> Declared [CALLS] Func;
    /// Calls a function that may fail: on a null result it has had no effect, and the trace is left.
    TryCall = 75 "try_call" (*) -> Declared [CALLS GUARD] Func;

    // Guards. A failing guard leaves the trace at its snapshot.
    /// Goes on if the argument is not 0.
    GuardTrue = 76 "guard_true" (Int) -> Nothing [GUARD] None eval |a| holds(a[0] != 0);
    /// Goes on if the argument is 0.
    GuardFalse = 77 "guard_false" (Int) -> Nothing [GUARD] None eval |a| holds(a[0] == 0);
    /// Goes on if the first argument has the bits of the second, a constant.
    GuardValue = 78 "guard_value" (Same Same) -> Nothing [GUARD] None eval |a| holds(a[0] == a[1]);
    /// Goes on if the argument is null.
    GuardNull = 79 "guard_null" (Pointer) -> Nothing [GUARD] None eval |a| holds(a[0] == 0);
    /// Goes on if the argument is not null.
    GuardNonnull = 80 "guard_nonnull" (Pointer) -> Nothing [GUARD] None eval |a| holds(a[0] != 0);
    /// Never goes on: what a guard becomes when the optimizer knows that it fails (seed 002, Figure 6).
    GuardAlwaysFails = 81 "guard_always_fails" () -> Nothing [GUARD] None eval |_| None;

    // Structure.
    /// A place to jump to; defines its arguments.
    Label = 82 "label" (*) -> Nothing [] Label;
    /// Goes on at a label with these arguments.
    Jump = 83 "jump" (*) -> Nothing [ENDS] Label;
    /// Leaves the trace for good with these results, at its snapshot if it has one.
    Finish = 84 "finish" (*) -> Nothing [ENDS] None;

    // Remainders of floats.
    /// Remainder with the sign of the dividend, exactly, as C's `fmod`.
    FloatRem = 85 "float_rem" (Float Float) -> Float [PURE] None eval |a| float2(a, |x, y| x % y);
    /// `float_rem`, plus the divisor where both have opposite signs: the remainder has the divisor's sign.
    FloatFloorMod = 86 "float_floormod" (Float Float) -> Float [PURE] None eval |a| float2(a, float_floor_mod);

    // The host's collector.
    /// If the first argument is not 0, calls a function with the context and the other arguments: what a
    /// write barrier asks for. Seldom needed. It may be done at any time, and again: the program cannot tell.
    Mend = 87 "mend" (*) -> Nothing [CALLS] Func;

    // Units: compiled code that compiled code calls.
    /// Calls a unit, whose frame has its base so many slots above the trace's; its arguments are those of its
    /// entry. The result says what happened, and is for `unit_result` alone. If the unit was left, so is the
    /// trace: the frames of the snapshot are made but for the slots of the last one, which is the unit's.
    CallUnit = 88 "call_unit" (*) -> Int [READS WRITES GUARD] Unit;
    /// What a unit has returned, which `call_unit` knows. With another tag it is put into its slot, and the
    /// trace is left; without a tag it is only put there.
    UnitResult = 89 "unit_result" (Int) -> Declared [GUARD] Result;
    /// Ends a unit, which returns this.
    ReturnUnit = 90 "return_unit" (Declared) -> Nothing [ENDS] Tag;

    // Regions: control flow graphs.
    /// Goes on at a label with the other arguments if the first is not 0. Only of regions: what follows it is
    /// another `jump_if`, or ends the block.
    JumpIf = 91 "jump_if" (*) -> Nothing [] Target;
    /// Where the trace and the loop in which it goes on are one function: goes on in the loop's second body,
    /// with these values. Elsewhere nothing. Before it objects may be virtual that are made after it.
    EnterLoop = 93 "enter_loop" (*) -> Nothing [] None;

    // Words that hold references.
    /// The object at an address: of a host that takes its references from words, which it tests itself.
    AddrToRef = 92 "addr_to_ref" (Addr) -> Ref [PURE] None eval |a| Some(a[0]);
}

/// One more than the highest number.
const NUMBERS: usize = {
    let (mut row, mut most) = (0, 0);
    while row < Op::ALL.len() {
        if Op::ALL[row] as usize >= most {
            most = Op::ALL[row] as usize + 1;
        }
        row += 1;
    }
    most
};

/// The rows by number; that of a removed op has another one's, which nobody asks for.
static INFO: [OpInfo; NUMBERS] = {
    let mut infos = [ROWS[0]; NUMBERS];
    let mut row = 0;
    while row < ROWS.len() {
        infos[Op::ALL[row] as usize] = ROWS[row];
        row += 1;
    }
    infos
};

impl Op {
    /// How many numbers there are, those of removed ops included: the length of a table that is indexed by
    /// `op as usize`.
    pub const COUNT: usize = NUMBERS;

    /// The types of a call's arguments, by the parameters of the function that it calls; `None` if the op
    /// cannot call such a function. [`Op::Mend`] has a condition in the context's place.
    pub fn arguments_of(self, params: &[Type]) -> Option<Vec<Type>> {
        match (self, params) {
            (Op::Mend, [Type::Addr, others @ ..]) => Some([&[Type::Int], others].concat()),
            (Op::Mend, _) => None,
            _ => Some(params.to_vec()),
        }
    }

    /// The op's row in the table.
    #[inline]
    pub fn info(self) -> &'static OpInfo {
        &INFO[self as usize]
    }

    /// The op's number in the C ABI, which never changes.
    #[inline]
    pub fn number(self) -> u32 {
        self as u32
    }

    /// The op with that number.
    pub fn from_number(number: u32) -> Option<Op> {
        // The host asks for each operation that it records: where no op was removed or put among others, the
        // first look finds it.
        let guess = Op::ALL.get(number as usize).copied().filter(|op| op.number() == number);
        guess.or_else(|| Op::ALL.iter().copied().find(|op| op.number() == number))
    }

    /// The op with that name in the text form.
    pub fn from_name(name: &str) -> Option<Op> {
        // A linear search is enough: only the text form's parser asks, and the table is short.
        Op::ALL.iter().copied().find(|op| op.info().name == name)
    }

    /// Whether the op has this property.
    #[inline]
    pub fn is(self, flag: Flags) -> bool {
        self.info().flags.has(flag)
    }

    /// Whether the op may leave the trace at a snapshot.
    #[inline]
    pub fn is_guard(self) -> bool {
        self.is(Flags::GUARD)
    }
}
