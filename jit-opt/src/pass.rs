//! The pass interface: what a pass is asked, what it may answer, and what it may learn.
//!
//! Problem: a rewrite makes others possible, in the same pass and in later ones, and running whole passes to
//! a fixed point costs time that a just-in-time compiler does not have. Design: one operation goes through
//! the whole chain before the next one is looked at. A pass sees the operation over *output* values, with
//! everything known put in already, and answers with an [`Outcome`]; it never writes the output itself. What
//! a pass emits in place of an operation enters the chain after that pass ([`Cx::emit`]), so an expansion is
//! optimized like recorded code. Passes talk through [`Facts`](crate::facts::Facts) only and know of no other
//! pass. The walk is over a source trace and a value map ([`crate::state`]), so the same chain can walk the
//! same trace twice ([`crate::driver`]).
//!
//! The laws of a pass, which the chain sees to:
//! 1. It answers; only the chain commits. What it has emitted is told to all passes before its answer counts.
//! 2. It has been told of every committed instruction before it is asked about the next one
//!    ([`Pass::committed`]).
//! 3. It learns nothing from a guard that may be removed again ([`State::may_be_removed`]): it is not told of
//!    those.
//! 4. What it knows of earlier values is void at a label that is not the entry ([`Pass::label`]).
//! 5. Each rewrite asks first whether it may be made ([`State::fire`]).
//! 6. An operation is replaced by a simpler one: after [`MAX_REPLACEMENTS`] it is kept.
//!
//! Example: for `get_item` the expanding pass emits a load of the count, `uint_lt` and `guard_true`. Folding
//! sees the `uint_lt` with its operands and may answer `Equal(1)`; then the guard never reaches the output.

use tracelift_core::effects::Memory;
use tracelift_core::{Inst, Op, Schema, Value};

use crate::state::State;
use crate::OptError;

/// What a pass proposes for an operation.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// Nothing: on to the next pass.
    Keep,
    /// This instead; the same pass is asked again.
    Replace(Inst),
    /// The result is this value; nothing more is committed.
    Equal(Value),
    /// Nothing (more) is committed, and there is no result.
    Drop,
}

/// A pass of the forward walk.
pub(crate) trait Pass {
    /// Its name in [`crate::PASSES`].
    fn name(&self) -> &'static str;

    /// The names of its rewrites.
    fn rules(&self) -> Vec<&'static str>;

    /// The operations that it may answer anything but [`Outcome::Keep`] for, or learn from: it is asked about
    /// no others.
    fn minds(&self) -> Ops {
        Ops::ALL
    }

    /// Asked about an operation whose operands are output values.
    fn feed(&mut self, cx: &mut Cx<'_, '_>, inst: &Inst) -> Result<Outcome, OptError>;

    /// The operations that it wants to be told of when they are committed.
    fn hears(&self) -> Ops {
        Ops::NONE
    }

    /// Told of an instruction that was committed, with its result, if it [`hears`](Pass::hears) of those; of
    /// no guard that may be removed again.
    fn committed(&mut self, _st: &mut State<'_>, _inst: &Inst) {}

    /// Whether the objects that do not exist are its own: they are made by the passes after it.
    fn makes_objects(&self) -> bool {
        false
    }

    /// Told of a label that is not the entry: what the pass knows of earlier values is void.
    fn label(&mut self) {}

    /// Told that the recorded operations are walked again, as the next iteration, whose inputs are known.
    fn next_walk(&mut self, _st: &State<'_>) {}

    /// Told at a peeled loop's label what its iterations may write beyond what the preamble wrote.
    fn loop_writes(&mut self, _schema: &Schema, _writes: &Memory<'_>) {}
}

/// A set of operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ops(u128);

const _: () = assert!(Op::COUNT <= 128);

impl Ops {
    /// None of them.
    pub const NONE: Ops = Ops(0);
    /// All of them.
    pub const ALL: Ops = Ops(u128::MAX);

    /// Those of which this holds.
    pub fn that(holds: impl Fn(Op) -> bool) -> Ops {
        Ops(Op::ALL.iter().filter(|&&op| holds(op)).fold(0, |ops, &op| ops | 1 << op as u32))
    }

    #[inline]
    fn has(self, op: Op) -> bool {
        self.0 >> op as u32 & 1 != 0
    }
}

/// A set of operations that is found once for all: each driver asks each pass.
macro_rules! once {
    ($ops:block) => {{
        static OPS: std::sync::LazyLock<Ops> = std::sync::LazyLock::new(|| $ops);
        *OPS
    }};
}
pub(crate) use once;

/// A pass in a chain, and how many committed instructions it was told of.
pub(crate) struct Slot {
    pub pass: Box<dyn Pass>,
    minds: Ops,
    hears: Ops,
    seen: usize,
}

impl Slot {
    /// It was told of nothing yet.
    pub fn new(pass: Box<dyn Pass>) -> Slot {
        Slot { minds: pass.minds(), hears: pass.hears(), pass, seen: 0 }
    }
}

/// What a pass is given when it is asked about an operation.
pub(crate) struct Cx<'c, 's> {
    /// What all passes work on.
    pub st: &'c mut State<'s>,
    /// The passes after this one.
    pub rest: &'c mut [Slot],
}

impl Cx<'_, '_> {
    /// Sends an instruction over output values into the passes after this one; its result, if it has one.
    pub fn emit(&mut self, mut inst: Inst) -> Result<Option<Value>, OptError> {
        catch_up(self.st, self.rest);
        inst.depth = self.st.at.depth;
        inst.args.iter_mut().for_each(|arg| *arg = self.st.resolve(*arg));
        run_chain(self.st, self.rest, inst)
    }

    /// The same for an operation that stands for a part of the recorded instruction: the next iteration has
    /// the same part, whatever is known then.
    pub fn emit_part(&mut self, inst: Inst) -> Result<Option<Value>, OptError> {
        let part = (inst.op, inst.payload);
        let result = self.emit(inst)?;
        if let Some(value) = result {
            self.st.note_part(part, value);
        }
        Ok(result)
    }

    /// The same for an instruction that has a result.
    pub fn emit_value(&mut self, inst: Inst) -> Result<Value, OptError> {
        let result = self.emit(inst)?;
        result.ok_or(OptError::Malformed("an instruction without result is used as a value"))
    }

    /// Emits a guard that leaves the trace where `like` would.
    pub fn guard(&mut self, op: Op, args: &[Value], like: &Inst) -> Result<(), OptError> {
        self.emit(Inst::new(op, args).at(like.snap).exit_kind(like.exit)).map(|_| ())
    }

    /// The host's context pointer.
    pub fn context(&mut self) -> Result<Value, OptError> {
        match self.st.context() {
            Some(context) => Ok(context),
            None => self.emit_value(Inst::new(Op::Context, &[])),
        }
    }

    /// The base of the frame that the trace was entered with.
    pub fn frame_base(&mut self) -> Result<Value, OptError> {
        self.emit_value(Inst::new(Op::FrameBase, &[]))
    }

    /// An integer constant.
    pub fn int(&mut self, int: i64) -> Value {
        self.st.out.const_int(int)
    }
}

/// Tells the passes what was committed since they were last told: one after the other, all of it.
pub(crate) fn catch_up(st: &mut State<'_>, slots: &mut [Slot]) {
    let committed = st.out.insts.len();
    // Whoever is told is told with all after it, so that the first one knows least.
    if slots.first().is_none_or(|slot| slot.seen == committed) {
        debug_assert!(slots.iter().all(|slot| slot.seen >= committed));
        return;
    }
    // Mostly one, of which two or three passes want to hear.
    let mut copy: Option<(usize, Inst)> = None;
    for slot in slots.iter_mut().filter(|slot| slot.seen < committed) {
        for index in std::mem::replace(&mut slot.seen, committed)..committed {
            let inst = &st.out.insts[index];
            if !slot.hears.has(inst.op) || st.may_be_removed(inst) {
                continue;
            }
            if copy.as_ref().is_none_or(|&(of, _)| of != index) {
                copy = Some((index, inst.clone()));
            }
            if let Some((_, inst)) = &copy {
                slot.pass.committed(st, inst);
            }
        }
    }
    debug_assert_eq!(committed, st.out.insts.len(), "a pass commits what it was told of");
}

/// How often one pass may replace one operation. Rewrites shrink, so the limit is never met by correct rules;
/// it keeps two rules that undo each other from hanging the host.
const MAX_REPLACEMENTS: u32 = 64;

/// Sends an instruction through these passes, and commits what is left of it; its result.
pub(crate) fn run_chain(
    st: &mut State<'_>,
    mut slots: &mut [Slot],
    mut inst: Inst,
) -> Result<Option<Value>, OptError> {
    while !slots.is_empty() {
        for round in 0.. {
            let Some((slot, rest)) = slots.split_first_mut() else { break };
            if !slot.minds.has(inst.op) {
                st.visit();
                break;
            }
            debug_assert!(round < MAX_REPLACEMENTS, "pass {} runs in circles at {inst:?}", slot.pass.name());
            st.visit();
            let committed = st.out.insts.len();
            let outcome = slot.pass.feed(&mut Cx { st, rest }, &inst)?;
            if st.out.insts.len() > committed {
                // Lifting and stores that waited come in front of the operation, which goes on.
                catch_up(st, slots);
            }
            match outcome {
                Outcome::Replace(new) if round < MAX_REPLACEMENTS => inst = new,
                Outcome::Keep | Outcome::Replace(_) => break,
                Outcome::Equal(value) => return Ok(Some(value)),
                Outcome::Drop => return Ok(None),
            }
        }
        slots = slots.split_first_mut().map_or(&mut [], |(_, rest)| rest);
    }
    st.commit(inst)
}
