//! Lowering: one pass over an expanded trace, from its ops to operations of Cranelift's, as lowered code.
//!
//! Problem: every op needs machine code that agrees with its `eval` in the op table, and guards must cost a
//! compare and a branch that is not taken. Design: a *part* of a trace (a label up to its `jump` or `finish`)
//! becomes a chain of blocks in which each guard branches to a cold exit block and otherwise falls through;
//! labels become blocks with parameters, and the parallel move at a jump is left to who makes the code. Here
//! is the one exhaustive match over all ops; the arms live in files by group: `values` (operands and lazily
//! computed values), `ints`, `floats`, `memory`, `guards`.
//!
//! Rules that come from measurements: guards are `brif fail, exit, ok`, never the other way round; no call
//! rejoins from a cold block; comparisons are emitted where they are used, so that they fuse with the branch;
//! addresses keep their displacement apart, so that it ends in the addressing mode.
//!
//! Invariants: a part uses its label's arguments, its own values and constants, nothing of other parts; no
//! instruction that can trap is reachable with operands that make it trap.
//!
//! Example: `i2 = int_add_ovf(i0, i1)` becomes `v2, v3 = sadd_overflow v0, v1; brif v3, exit(0), next`.

mod again;
mod bridge;
mod checks;
mod floats;
mod frame;
mod guards;
mod held;
mod ints;
mod memory;
mod prefetch;
mod quotients;
mod region;
mod remainder;
mod rows;
pub(crate) mod units;
mod unroll;
mod values;
mod waiting;

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{self, types, AbiParam, Block, MemFlagsData, SourceLoc, StackSlot};
use cranelift_codegen::isa::CallConv;
use tracelift_core::ir::EntrySlot;
use tracelift_core::planted::{planted, Bug};
use tracelift_core::{Inst, LabelId, Op, Payload, Schema, Trace, Type, Value};

use crate::error::CompileError;
use crate::exits::{ExitInfo, ENTRY_REFUSED};
use crate::glue;
use crate::lir::{self, Builder};
use crate::listing::location;
use crate::request::{EntryKind, Request};
use again::Again;
use checks::{Groups, Role};
use frame::{Slots, Write};
use guards::Stubs;
use held::Held;
pub(crate) use prefetch::patch;
use prefetch::Streams;
use quotients::Quotients;
use region::{Heads, Way};
use remainder::Sign;
use rows::Rows;
use unroll::Unroll;
use values::{Def, Values};

/// A value in lowered code, to tell it from the trace's [`Value`].
type Ssa = ir::Value;
type Result<T> = std::result::Result<T, CompileError>;

/// What lowering has to know of the target.
pub(crate) struct Environment {
    /// How C functions are called, and how traces without links are.
    pub call_conv: CallConv,
    /// Whether rounding is one instruction.
    pub has_rounding: bool,
    /// Whether doubles are better selected by a blend of vectors.
    pub has_blend: bool,
    /// Whether remainders of doubles are made in place, and a function is called only for what that cannot
    /// do.
    pub has_remainders: bool,
    /// Whether to tell Cranelift which accesses cannot alias; only its mid-end asks.
    pub alias_regions: bool,
    /// Whether short loops are lowered several times.
    pub unrolls: bool,
    /// Whether a preamble has a second copy wherever that can leave anything out.
    pub always_again: bool,
    /// Whether loops ask early for the memory that they walk through.
    pub prefetches: bool,
    /// Whether this is x86-64, and C functions are called as System V says.
    pub is_system_v: bool,
}

/// What is lowered: a trace.
#[derive(Clone, Copy)]
pub(crate) struct Input<'a> {
    pub trace: &'a Trace,
    pub schema: &'a Schema,
    pub request: &'a Request,
    pub exits: &'a [ExitInfo],
    /// The exit by which each instruction leaves.
    pub exit_numbers: &'a [Option<u32>],
    pub environment: &'a Environment,
    /// In a tree that becomes one function, the trace whose exit it begins at, and that exit.
    pub parent: Option<(usize, u32)>,
    /// The trace of the function in which it goes on at its end: one without a parent.
    pub goes_to: Option<usize>,
    /// How many slots its frame lies above the function's.
    pub frame: i32,
    /// Its `enter_loop` is for the second body of the trace in which it goes on.
    pub enters: bool,
    /// It goes on in the second copy of the preamble of the trace in which it goes on.
    pub again: bool,
    /// The trace that it is made of once more.
    pub copy_of: Option<usize>,
}

/// What came out beside the code.
pub(crate) struct Lowered {
    /// Exit stubs made.
    pub stubs: usize,
    /// Loops that were lowered several times.
    pub unrolled: usize,
    /// Places where memory is asked for early.
    pub prefetches: usize,
    /// Preambles with a second copy.
    pub again: usize,
    /// Inputs taken from the exit buffer.
    pub buffer_inputs: usize,
}

/// Lowers a tree of traces, parents first, into an empty function.
pub(crate) fn lower<'a>(tree: &[Input<'a>], func: &mut lir::Function) -> Result<Lowered> {
    let Some(root) = tree.first() else { return Err(CompileError::Malformed { inst: 0, what: "no trace" }) };
    func.begin(match root.request.links {
        _ if root.trace.unit.is_some() => units::signature_of(root.trace, root.request),
        Some(_) => glue::signature(),
        None => {
            let mut signature = ir::Signature::new(root.environment.call_conv);
            signature.params.extend([AbiParam::new(types::I64); 2]);
            signature.returns.push(AbiParam::new(types::I64));
            signature
        }
    });
    let mut b = Builder::new(func);
    let function = b.create_block();
    b.append_block_params_for_function_params(function);
    let params: Vec<Ssa> = b.block_params(function).to_vec();
    let mut out = Lowered { stubs: 0, unrolled: 0, prefetches: 0, again: 0, buffer_inputs: 0 };
    let (mut tree, mut slots) = (tree.to_vec(), Slots::of(tree));
    let again = Again::plan(&mut tree, &mut slots);
    let mut shared = Shared { begun: Vec::new(), slots, again };
    let heads: Vec<Heads> = (0..tree.len()).map(|number| region::heads_of(&mut b, &tree, number)).collect();
    for (number, &input) in tree.iter().enumerate() {
        let start = match input.parent {
            None => (number == 0).then_some(function),
            // An exit that no code leads to any more has no side trace either.
            Some(_) => match shared.begun_block(number) {
                None => continue,
                start => start,
            },
        };
        if shared.again.as_ref().is_some_and(|again| again.is_unused(number)) {
            continue;
        }
        let mut lowering = Lowering::new(&tree, number, b, &heads, &params);
        lowering.shared = shared;
        lowering.b.set_srcloc(SourceLoc::new(location::ENTRY));
        match start {
            Some(start) => out.buffer_inputs = out.buffer_inputs.max(lowering.begin(start)?),
            // The other traces lead to its first label.
            None => lowering.open = false,
        }
        match lowering.pass_again()? {
            true => out.again += 1,
            false => lowering.insts()?,
        }
        if lowering.open {
            return Err(lowering.malformed("the trace does not end in a jump or finish"));
        }
        lowering.emit_ways()?;
        lowering.emit_return_block()?;
        out.stubs += lowering.stubs.made;
        out.unrolled += lowering.unrolled;
        out.prefetches += lowering.prefetches;
        (b, shared) = (lowering.b, lowering.shared);
    }
    Ok(out)
}

/// What lowering a trace leaves to the traces after it in one function.
#[derive(Default)]
struct Shared {
    /// The side traces that were begun, with their first blocks.
    begun: Vec<(usize, Block)>,
    slots: Slots,
    again: Option<Again>,
}

impl Shared {
    /// The block that a side trace begins in, if its exit was lowered.
    fn begun_block(&self, side: usize) -> Option<Block> {
        self.begun.iter().find(|(number, _)| *number == side).map(|(_, block)| *block)
    }
}

/// The state of lowering one trace. So many fields: what was lowered so far, where it is, and what the loop
/// at hand is known to do, each of which the code of most operations looks at.
struct Lowering<'t, 'a, 'f> {
    input: Input<'a>,
    /// All traces of the function, and which one this is.
    tree: &'t [Input<'a>],
    number: usize,
    /// Instructions of the traces before it: what marks its code counts on from there.
    first_mark: usize,
    shared: Shared,
    b: Builder<'f>,
    values: Values,
    stubs: Stubs,
    /// The function's parameters: the frame's base, and the host's context if it is passed.
    context: Option<Ssa>,
    base: Ssa,
    /// The arguments of a unit.
    arguments: &'t [Ssa],
    /// The traces that begin at exits of this one, by exit.
    sides: Vec<(u32, usize)>,
    /// The ways there that are still to be made, and where traces without a parent are entered by others.
    ways: Vec<Way>,
    heads: &'t [Heads],
    /// Units called so far: the result that says what happened, the second word, and where it was called.
    called: Vec<(Value, Ssa, usize)>,
    /// In a linked trace: the exit by which the program came.
    origin: Option<Ssa>,
    /// By label: its block, and whether its instruction was passed.
    labels: Vec<(Block, bool)>,
    /// The instruction being lowered.
    index: usize,
    /// What instructions have to do with groups of checks, and what the guards of one have found so far.
    groups: Groups,
    differs: Option<Ssa>,
    /// Whether the current block still takes instructions.
    open: bool,
    /// Whether the current block is an exit's stub.
    in_stub: bool,
    /// The loop that is lowered several times, if the current part is one.
    unroll: Option<Unroll<'a>>,
    /// Such loops so far, and prefetches.
    unrolled: usize,
    prefetches: usize,
    /// What the current part walks through.
    streams: Streams,
    /// Where functions that are called aside leave their result.
    aside: Option<StackSlot>,
    /// In a loop: what the interpreter would have taken for what ran since the entry, if that is wanted. It
    /// goes round in a register, since a cell would cost a load and a store in each iteration: a sixth of a
    /// convolution's time.
    replaced: Option<Ssa>,
    /// What copies of the loop have to add to that.
    replaced_more: i64,
    counts_replaced: bool,
    /// Doubles that the current part holds all the time.
    held: Held,
    /// Quotients of integers that are made as doubles.
    quotients: Quotients,
    /// Rows of arrays in the current part.
    rows: Rows<'a>,
    /// The guard that counts the loop's iterations, if one is to.
    turns_at: Option<usize>,
    /// In a region: writes of slots that have not been made.
    waiting: Vec<Write>,
}

impl<'t, 'a, 'f> Lowering<'t, 'a, 'f> {
    /// Prepares for a trace.
    fn new(
        tree: &'t [Input<'a>],
        number: usize,
        mut b: Builder<'f>,
        heads: &'t [Heads],
        params: &'t [Ssa],
    ) -> Lowering<'t, 'a, 'f> {
        let input = tree[number];
        let original = input.copy_of.unwrap_or(number);
        let first_mark = tree[..original].iter().map(|input| input.trace.insts.len()).sum();
        let (context, base, origin, arguments) = match input.trace.unit {
            Some(_) => (None, params[0], None, &params[1..]),
            None => (Some(params[0]), params[1], params.get(2).copied(), &[][..]),
        };
        let begin_at = |number: usize| -> Vec<(u32, usize)> {
            let parents = tree.iter().map(|input| input.parent).enumerate();
            let parents = parents.filter_map(|(side, parent)| Some((parent?, side)));
            parents
                .filter(|((parent, _), _)| *parent == number)
                .map(|((_, exit), side)| (exit, side))
                .collect()
        };
        let mut sides = begin_at(number);
        if let Some(of) = input.copy_of.filter(|_| input.parent.is_none() && sides.is_empty()) {
            sides = begin_at(of);
        }
        let groups = Groups::find(input.trace, input.schema, input.exit_numbers);
        let branches = guards::branches(&input, &groups);
        let counts_replaced = region::counts_replaced(tree, number);
        let stubs = Stubs::new(&mut b, branches, counts_replaced);
        let labels = (input.trace.labels.iter().enumerate())
            .map(|(at, label)| match heads[number].of(at, input.request) {
                Some(head) => (head, false),
                None => {
                    let rows = rows::bases_of(&input, at).len();
                    (region::label_block(&mut b, input.trace, &label.args, rows, counts_replaced), false)
                }
            })
            .collect();
        let values = Values::new(input.trace.values.len());
        Lowering {
            input,
            tree,
            number,
            first_mark,
            shared: Shared::default(),
            arguments,
            sides,
            ways: Vec::new(),
            heads,
            called: Vec::new(),
            b,
            values,
            stubs,
            context,
            base,
            origin,
            labels,
            index: 0,
            groups,
            differs: None,
            open: true,
            in_stub: false,
            unroll: None,
            unrolled: 0,
            prefetches: 0,
            streams: Streams::default(),
            aside: None,
            replaced: None,
            replaced_more: 0,
            counts_replaced,
            held: Held::default(),
            quotients: Quotients::of(input.trace),
            rows: Rows::default(),
            turns_at: input.request.turns.and_then(|_| guards::first_for_interruptions(input.trace)),
            waiting: Vec::new(),
        }
    }

    /// Lowers the trace's instructions.
    fn insts(&mut self) -> Result<()> {
        while let Some(inst) = self.input.trace.insts.get(self.index) {
            match self.unreached(inst) {
                Some(rest) => self.index += rest,
                None => {
                    match self.is_done() {
                        true => self.leave_out(inst)?,
                        false => self.inst(inst)?,
                    }
                    if inst.op == Op::Label {
                        self.know_steady();
                    }
                    self.index += 1;
                }
            }
        }
        Ok(())
    }

    /// Begins the trace in this block. Returns how many inputs the exit buffer holds.
    fn begin(&mut self, start: Block) -> Result<usize> {
        self.b.switch_to_block(start);
        let begins = self.counts_replaced && self.input.parent.is_none();
        self.replaced = begins.then(|| self.b.iconst(types::I64, 0));
        self.entry()
    }

    /// Checks tags, loads the inputs and goes to the entry label. Returns how many inputs the exit buffer
    /// holds.
    fn entry(&mut self) -> Result<usize> {
        let trace = self.input.trace;
        let &(first, _) =
            self.labels.first().ok_or_else(|| self.malformed("the trace has no entry label"))?;
        let kind = self.input.request.entry.unwrap_or(EntryKind::of(trace));
        let args: Vec<Ssa> = match kind {
            _ if self.is_in_unit() => self.unit_inputs()?,
            _ if self.input.parent.is_some() => self.passed_inputs()?,
            EntryKind::Slots => {
                let slots = trace.entry.len() + trace.entry_known.len();
                let cells = trace.entry_cells.len();
                if slots + cells != trace.inputs().len() {
                    return Err(self.malformed("the trace has not one entry slot or cell per input"));
                }
                self.check_entry_tags(trace)?;
                self.count_crossing()?;
                let layout = self.input.schema.slots();
                let mut args = Vec::with_capacity(trace.inputs().len());
                for (slot, &input) in trace.entry.iter().chain(&trace.entry_known).zip(trace.inputs()) {
                    let offset = self.slot_offset(slot.slot, layout.payload)?;
                    let ty = clif_type(trace.ty(input));
                    args.push(self.b.load(ty, MemFlagsData::trusted(), self.base, offset));
                }
                self.find_steady(&args)?;
                if cells > 0 {
                    let buffer = self.iconst(self.input.request.exit_buffer as i64);
                    for (&cell, &input) in trace.entry_cells.iter().zip(&trace.inputs()[slots..]) {
                        let ty = clif_type(trace.ty(input));
                        let flags = MemFlagsData::trusted();
                        args.push(self.b.load(ty, flags, buffer, cell as i32 * 8));
                    }
                }
                args
            }
            EntryKind::Buffer => {
                // A side trace may want nothing that there is.
                self.count_crossing()?;
                let buffer = self.iconst(self.input.request.exit_buffer as i64);
                (trace.inputs().iter().enumerate())
                    .map(|(cell, &input)| {
                        let ty = clif_type(trace.ty(input));
                        self.b.load(ty, MemFlagsData::trusted(), buffer, cell as i32 * 8)
                    })
                    .collect()
            }
        };
        if let Some(counter) = self.input.request.entry_counter {
            self.add_to_cell(counter, 1);
        }
        if let Some(amounts) = self.input.request.replaced.filter(|amounts| amounts.entry > 0) {
            self.add_to_cell(amounts.total, amounts.entry as i64);
        }
        let replaced = self.replaced;
        let passed: Vec<Ssa> = args.iter().copied().chain(replaced).collect();
        self.b.jump(first, &passed);
        self.open = false;
        let highest_cell = trace.entry_cells.iter().max().map_or(0, |&cell| cell as usize + 1);
        Ok(if kind == EntryKind::Buffer { args.len() } else { highest_cell })
    }

    /// Offset of a slot's part from the function's frame base.
    fn slot_offset(&self, slot: i32, part: u32) -> Result<i32> {
        let slot = i64::from(slot) + i64::from(self.input.frame);
        let offset = slot * i64::from(self.input.schema.slots().stride) + i64::from(part);
        i32::try_from(offset).map_err(|_| self.malformed("an entry slot is too far from the frame base"))
    }

    /// Leaves unless the slots have their tags, as if the trace had not been entered; untagged slots always
    /// pass. One branch for all of them: in Cranelift a block costs more to compile than an operation.
    fn check_entry_tags(&mut self, trace: &Trace) -> Result<()> {
        let slots: Vec<EntrySlot> = trace.entry.iter().chain(&trace.entry_tags).copied().collect();
        if let Some(differs) = self.tags_differ(&slots)? {
            self.refuse_if(differs)?;
        }
        Ok(())
    }

    /// A flag that is not zero if one of these slots has another tag in memory; `None` if none can have.
    fn tags_differ(&mut self, slots: &[EntrySlot]) -> Result<Option<Ssa>> {
        let Some((part, width)) = self.input.schema.slots().tag else { return Ok(None) };
        let ty = int_of_width(width).ok_or_else(|| self.malformed("a slot tag has no machine width"))?;
        let mask = u64::MAX >> (64 - u32::from(width) * 8);
        let mut differs = None;
        for slot in slots {
            let offset = self.slot_offset(slot.slot, part)?;
            let found = self.b.load(ty, MemFlagsData::trusted(), self.base, offset);
            let expected = (self.input.schema.tag(slot.tag).bits & mask) as i64;
            let expected = self.b.iconst(ty, expected);
            if slots.len() == 1 {
                return Ok(Some(self.b.icmp(IntCC::NotEqual, found, expected)));
            }
            let difference = self.b.bxor(found, expected);
            differs = Some(match differs {
                Some(before) => self.b.bor(before, difference),
                None => difference,
            });
        }
        Ok(differs)
    }

    /// What marks the code of an instruction.
    fn mark(&self, index: usize) -> u32 {
        (self.first_mark + index) as u32
    }

    /// Lowers one instruction.
    fn inst(&mut self, inst: &Inst) -> Result<()> {
        if !self.open && inst.op != Op::Label {
            return Err(self.malformed("an instruction follows a jump or finish without a label"));
        }
        self.b.set_srcloc(SourceLoc::new(self.mark(self.index) & !location::STUB));
        let exit = self.input.exit_numbers[self.index].unwrap_or(ENTRY_REFUSED);
        if self.input.request.force_counter.is_none()
            && self.unroll.as_ref().is_some_and(|u| u.leaves_out(self.index))
        {
            return Ok(());
        }
        // The state at a call of a unit is the unit's, which leaves itself; its result has to be put down.
        let is_counted = inst.op.is_guard() && !matches!(inst.op, Op::CallUnit | Op::UnitResult);
        if is_counted && !inst.op.is(tracelift_core::ops::Flags::RECORD) {
            self.count_guard(inst, exit)?;
        }
        match self.groups.role(self.index) {
            Role::Alone => self.dispatch(inst, exit),
            role => self.in_group(inst, exit, role),
        }
    }

    /// The match over all ops.
    #[rustfmt::skip]
    fn dispatch(&mut self, inst: &Inst, exit: u32) -> Result<()> {
        match inst.op {
            Op::IntAdd => self.sum(inst, 1),
            Op::IntSub => self.sum(inst, -1),
            Op::IntMul => self.int2(inst, |b, x, y| b.imul(x, y)),
            Op::IntNeg => self.int1(inst, |b, x| b.ineg(x)),
            Op::IntAddOvf => { self.note_affine(inst, 1)?; self.overflowing(inst, exit, |b, x, y| b.sadd_overflow(x, y)) }
            Op::IntSubOvf => { self.note_affine(inst, -1)?; self.overflowing(inst, exit, |b, x, y| b.ssub_overflow(x, y)) }
            Op::IntMulOvf => self.overflowing(inst, exit, |b, x, y| b.smul_overflow(x, y)),
            Op::IntDiv => self.int_div(inst),
            Op::IntRem => self.int_rem(inst),
            Op::IntFloorDiv => self.int_floor_div(inst),
            Op::IntFloorMod => self.int_floor_mod(inst),
            Op::IntAnd => self.int2(inst, |b, x, y| b.band(x, y)),
            Op::IntOr => self.int2(inst, |b, x, y| b.bor(x, y)),
            Op::IntXor => self.int2(inst, |b, x, y| b.bxor(x, y)),
            Op::IntNot => self.int1(inst, |b, x| b.bnot(x)),
            Op::IntShl => self.int2(inst, |b, x, n| b.ishl(x, n)),
            Op::IntSar => self.int2(inst, |b, x, n| b.sshr(x, n)),
            Op::IntShr => self.int2(inst, |b, x, n| b.ushr(x, n)),
            Op::IntEq | Op::RefEq | Op::AddrEq => self.int_compare(inst, IntCC::Equal),
            Op::IntNe | Op::RefNe => self.int_compare(inst, IntCC::NotEqual),
            Op::IntLt => self.int_compare(inst, IntCC::SignedLessThan),
            Op::IntLe => self.int_compare(inst, IntCC::SignedLessThanOrEqual),
            Op::IntGt => self.int_compare(inst, IntCC::SignedGreaterThan),
            Op::IntGe => self.int_compare(inst, IntCC::SignedGreaterThanOrEqual),
            Op::UintLt => self.uint_compare(inst, IntCC::UnsignedLessThan, IntCC::SignedLessThan),
            Op::UintLe => self.uint_compare(inst, IntCC::UnsignedLessThanOrEqual, IntCC::SignedLessThanOrEqual),
            Op::UintGt => self.uint_compare(inst, IntCC::UnsignedGreaterThan, IntCC::SignedGreaterThan),
            Op::UintGe => self.uint_compare(inst, IntCC::UnsignedGreaterThanOrEqual, IntCC::SignedGreaterThanOrEqual),
            Op::FloatNeg => self.float1(inst, |b, x| b.fneg(x)),
            Op::FloatAbs => self.float1(inst, |b, x| b.fabs(x)),
            Op::FloatSqrt => self.float1(inst, |b, x| b.sqrt(x)),
            Op::IntToFloat | Op::FloatMul | Op::FloatDiv | Op::FloatFloor | Op::FloatCeil
                if self.put_off_quotient(inst)? => Ok(()),
            Op::FloatAdd | Op::FloatSub | Op::FloatMul | Op::FloatDiv => self.float2(inst),
            Op::FloatFloor => self.float_round(inst, floats::floor, |b, x| b.floor(x)),
            Op::FloatCeil => self.float_round(inst, floats::ceil, |b, x| b.ceil(x)),
            Op::FloatTrunc => self.float_round(inst, floats::trunc, |b, x| b.trunc(x)),
            Op::FloatRem => self.float_remainder(inst, Sign::Dividend),
            Op::FloatFloorMod => self.float_remainder(inst, Sign::Divisor),
            Op::FloatEq => self.float_compare(inst, FloatCC::Equal),
            Op::FloatNe => self.float_compare(inst, FloatCC::NotEqual),
            Op::FloatLt => self.float_compare(inst, FloatCC::LessThan),
            Op::FloatLe => self.float_compare(inst, FloatCC::LessThanOrEqual),
            Op::FloatGt => self.float_compare(inst, FloatCC::GreaterThan),
            Op::FloatGe => self.float_compare(inst, FloatCC::GreaterThanOrEqual),
            Op::IntToFloat => self.int1(inst, |b, x| b.fcvt_from_sint(types::F64, x)),
            Op::FloatToInt => self.float1(inst, |b, x| b.fcvt_to_sint_sat(types::I64, x)),
            Op::FloatToIntExact => self.float_to_int_exact(inst, exit),
            Op::FloatToBits => self.float1(inst, |b, x| b.bitcast(types::I64, x)),
            Op::FloatFromBits => self.int1(inst, |b, x| b.bitcast(types::F64, x)),
            Op::RefToAddr | Op::AddrToRef | Op::AddrToInt => self.same(inst),
            Op::Select => self.select(inst),
            Op::RefIsNull => self.is_null(inst),
            Op::Context => { let context = self.context()?; self.define(inst, context) }
            Op::FrameBase => self.frame_base(inst),
            Op::AddrAdd => self.addr_add(inst),
            Op::ItemAddr => self.item_addr(inst),
            Op::Load => self.load(inst),
            Op::Store => if self.put_off(inst) { Ok(()) } else { self.store(inst) },
            Op::New | Op::GuardClass | Op::Get | Op::Set | Op::ItemCount | Op::GetItem | Op::SetItem | Op::PutItem
            | Op::GetKey | Op::GuardKeyAbsent | Op::SetKey | Op::InsertKey => {
                Err(CompileError::RecordOp { op: inst.op, inst: self.index })
            }
            Op::Call => self.call(inst),
            Op::TryCall => self.try_call(inst, exit),
            Op::Mend => self.mend(inst),
            Op::GuardTrue if self.input.trace.is_counted_check(inst) => self.counted_check(inst, exit),
            Op::GuardTrue | Op::GuardFalse => self.guard_condition(inst, exit, inst.op == Op::GuardTrue),
            Op::GuardValue => self.guard_value(inst, exit),
            Op::GuardNull | Op::GuardNonnull => self.guard_null(inst, exit, inst.op == Op::GuardNull),
            Op::GuardAlwaysFails => self.guard_always_fails(inst, exit),
            Op::Label => self.label(inst),
            Op::Jump | Op::JumpIf | Op::EnterLoop => self.jump(inst),
            Op::Finish => self.finish(inst, exit),
            Op::CallUnit | Op::UnitResult | Op::ReturnUnit => self.unit_op(inst, exit),
        }
    }

    /// The base of the trace's own frame, which may lie above the function's.
    fn frame_base(&mut self, inst: &Inst) -> Result<()> {
        let offset = self.slot_offset(0, 0)?;
        self.define_as(inst, Def::Address(self.base, offset))
    }

    /// Begins a part: its block, and its arguments as the only known values.
    fn label(&mut self, inst: &Inst) -> Result<()> {
        let label = self.label_of(inst)?;
        let (block, passed) = self.labels[label.index()];
        if passed {
            return Err(self.malformed("a label stands twice in the trace"));
        }
        if self.open {
            if !inst.args.is_empty() {
                return Err(self.malformed("a label with arguments is only reached by jumps"));
            }
            let replaced: Vec<Ssa> = self.replaced.into_iter().collect();
            self.b.jump(block, &replaced);
        }
        if inst.args[..] != self.input.trace.labels[label.index()].args[..] {
            return Err(self.malformed("a label's instruction defines other arguments than the label has"));
        }
        self.b.switch_to_block(block);
        self.open = true;
        self.labels[label.index()].1 = true;
        self.values.forget();
        self.stubs.forget();
        for (position, &arg) in inst.args.iter().enumerate() {
            let param = self.b.block_params(block)[position];
            self.values.define(arg, param);
        }
        let count = inst.args.len();
        let rows = rows::bases_of(&self.input, label.index()).len();
        let addresses = self.b.block_params(block)[count..count + rows].to_vec();
        self.begin_rows(label, &addresses)?;
        if self.counts_replaced {
            self.replaced = self.b.block_params(block).last().copied();
            self.replaced_more = 0;
        }
        let Input { request, environment, .. } = self.input;
        let facts = request.loops.at(self.index);
        let unroll = |facts| Unroll::plan(facts, label, self.input.trace);
        self.unroll = facts.filter(|_| environment.unrolls).and_then(unroll);
        self.unrolled += usize::from(self.unroll.is_some());
        self.streams = facts.filter(|_| environment.prefetches).map(Streams::plan).unwrap_or_default();
        self.held = facts.map(|facts| Held::of(self.input.trace, facts)).unwrap_or_default();
        Ok(())
    }

    /// Ends a part by going on at a label.
    fn jump(&mut self, inst: &Inst) -> Result<()> {
        match inst.op {
            Op::JumpIf => return self.jump_if(inst),
            Op::EnterLoop => return self.enter_loop(inst),
            _ => {}
        }
        let label = self.label_of(inst)?;
        self.check_passed(label, &inst.args)?;
        if self.begin_next_copy(inst, label)? {
            return Ok(());
        }
        let passed = self.jump_args(label, &inst.args)?;
        self.note_steady();
        self.go_to(label, passed);
        self.open = false;
        Ok(())
    }

    /// Goes on at a label of a region, or in the same part.
    fn jump_if(&mut self, inst: &Inst) -> Result<()> {
        let label = self.label_of(inst)?;
        let condition = self.value(arg(inst, 0, self.index)?)?;
        self.check_passed(label, &inst.args[1..])?;
        // Before the ways part: what is computed for one of them may be used on the other one.
        let passed = self.jump_args(label, &inst.args[1..])?;
        let [way, here] = [(); 2].map(|()| self.b.create_block());
        let [then, other] = if planted(Bug::LowerBranchReversed) { [here, way] } else { [way, here] };
        self.b.brif(condition, then, &[], other, &[]);
        self.b.switch_to_block(way);
        // What is counted on this way is not counted on the other one.
        let replaced = (self.replaced, self.replaced_more);
        self.go_to(label, passed);
        (self.replaced, self.replaced_more) = replaced;
        self.b.switch_to_block(here);
        Ok(())
    }

    /// Whether these are the label's arguments, by their number and their types.
    fn check_passed(&self, label: LabelId, passed: &[Value]) -> Result<()> {
        let trace = self.input.trace;
        let types = |values: &[Value]| values.iter().map(|&value| trace.ty(value)).collect::<Vec<_>>();
        match types(&trace.labels[label.index()].args) == types(passed) {
            true => Ok(()),
            false => Err(self.malformed("the jump's arguments are not those of the label")),
        }
    }

    /// What a jump passes to a label.
    fn jump_args(&mut self, label: LabelId, passed: &[Value]) -> Result<Vec<Ssa>> {
        let params = &self.input.trace.labels[label.index()].args;
        let mut args: Vec<Ssa> = Vec::with_capacity(params.len());
        for &arg in passed {
            let moved_before = params[..args.len()].iter().position(|&param| param == arg);
            let ssa = match moved_before {
                Some(earlier) if planted(Bug::LowerJumpArgsSequential) => args[earlier],
                _ => self.value(arg)?,
            };
            args.push(ssa);
        }
        Ok(args)
    }

    /// Jumps to a label.
    fn go_to(&mut self, label: LabelId, passed: Vec<Ssa>) {
        let (block, _) = self.labels[label.index()];
        let rows = self.rows_for(label, &passed);
        // Each jump ends an iteration: the one from a peeled loop's preamble to the loop does too.
        if let Some(counter) = self.input.request.iteration_counter {
            let jumps = self.unroll.as_ref().map_or(1, Unroll::jumps_passed);
            self.add_to_cell(counter, self.edges_of_jumps(jumps));
        }
        // The last of the copies is counted here, those before it where they ended.
        self.count_replaced();
        self.replaced = self.replaced_now();
        self.replaced_more = 0;
        let args: Vec<Ssa> = passed.into_iter().chain(rows).chain(self.replaced).collect();
        self.b.jump(block, &args);
    }

    /// An iteration ends: adds what the interpreter would have taken for it.
    fn count_replaced(&mut self) {
        if let Some(amounts) = self.input.request.replaced.filter(|_| self.input.parent.is_none()) {
            self.replaced_more += i64::from(amounts.iteration);
        }
    }

    /// What the interpreter would have taken for what ran since the entry: copies of a loop add to it only
    /// where they are left, and at the jump.
    fn replaced_now(&mut self) -> Option<Ssa> {
        match self.replaced_more {
            0 => self.replaced,
            more => self.replaced.map(|replaced| self.b.iadd_imm_s(replaced, more)),
        }
    }

    fn label_of(&self, inst: &Inst) -> Result<LabelId> {
        match inst.payload {
            Payload::Label(label) if label.index() < self.labels.len() => Ok(label),
            _ => Err(self.malformed("no such label")),
        }
    }

    /// Adds to a 64-bit cell at a constant address, and returns what is in it now.
    fn add_to_cell(&mut self, cell: *mut u64, amount: i64) -> Ssa {
        let address = self.iconst(cell as i64);
        let old = self.b.load(types::I64, MemFlagsData::trusted(), address, 0);
        let new = self.b.iadd_imm_s(old, amount);
        self.b.store(MemFlagsData::trusted(), new, address, 0);
        new
    }

    fn malformed(&self, what: &'static str) -> CompileError {
        CompileError::Malformed { inst: self.index, what }
    }
}

/// How values of a type are held in registers.
fn clif_type(ty: Type) -> ir::Type {
    match ty {
        Type::Int | Type::Ref | Type::Addr => types::I64,
        Type::Float => types::F64,
    }
}

/// The machine integer of that many bytes.
fn int_of_width(width: u8) -> Option<ir::Type> {
    match width {
        1 => Some(types::I8),
        2 => Some(types::I16),
        4 => Some(types::I32),
        8 => Some(types::I64),
        _ => None,
    }
}

/// The argument at a position, or an error where the verifier should have objected.
fn arg(inst: &Inst, position: usize, index: usize) -> Result<Value> {
    let missing = CompileError::Malformed { inst: index, what: "an argument is missing" };
    inst.args.get(position).copied().ok_or(missing)
}
