//! Random regions: control flow graphs of closed blocks.
//!
//! Problem: what passes over graphs get wrong shows where loops nest, are left in the middle, go back from
//! two places or are entered from the side. Design: a program of nested statements (assignments, guards,
//! tests, loops with the test at their head or at their end, `break`, `continue`, and now and then a jump to
//! any block at all) is written as blocks. Each block takes all variables as arguments. One variable is the
//! *budget*: each way back takes one off it and is not gone without it, so that all ends. Guards have the
//! variables in their snapshots; some are safepoints, which look at a flag that is always up.
//!
//! Invariant: the same seed gives the same region; it verifies, and ends by itself.
//!
//! Example: `generate_region(7, &schema)` is some ten blocks, two loops among them, of which one is peeled.

use super::{Case, Rng};
use crate::ir::{ExitKind, Inst, Label, LabelId, Payload, Trace, Value};
use crate::ops::Op;
use crate::schema::Schema;
use crate::snapshot::{Frame, SlotValue, Snapshot, Source};
use crate::types::Type;
use crate::world_spec::{SpecValue, WorldSpec};

/// Variables that programs compute with; two more are the budget and the flag.
const VARIABLES: usize = 4;
const BUDGET: usize = VARIABLES;
const FLAG: usize = VARIABLES + 1;
const ALL: usize = VARIABLES + 2;

/// How deep statements nest.
const DEPTH: u32 = 3;

/// The region of this seed. The schema has the tag `int`.
pub fn generate_region(seed: u64, schema: &Schema) -> Case {
    let mut maker = Maker {
        rng: Rng::new(seed),
        schema,
        region: Trace::new(&format!("region{seed}")),
        parts: Vec::new(),
        at: 0,
        now: Vec::new(),
    };
    let entry = maker.block();
    maker.begin(entry);
    maker.statements(DEPTH, None);
    let results = maker.now.clone();
    maker.add(Inst::new(Op::Finish, &results));
    let inputs = (0..ALL).map(|variable| match variable {
        BUDGET => maker.rng.below(12),
        FLAG => 1,
        _ => maker.rng.below(16),
    });
    let inputs = inputs.map(SpecValue::Bits).collect();
    let mut region = maker.region;
    region.insts = maker.parts.into_iter().flatten().collect();
    Case { seed, trace: region, spec: WorldSpec::default(), inputs }
}

/// Where `continue` and `break` lead.
type Around = Option<(LabelId, LabelId)>;

struct Maker<'s> {
    rng: Rng,
    schema: &'s Schema,
    region: Trace,
    /// Each block's instructions.
    parts: Vec<Vec<Inst>>,
    /// The block that is written, and its variables.
    at: usize,
    now: Vec<Value>,
}

impl Maker<'_> {
    /// A new block.
    fn block(&mut self) -> LabelId {
        let id = LabelId(self.parts.len() as u32);
        let args: Vec<Value> = (0..ALL).map(|_| self.region.new_value(Type::Int)).collect();
        self.parts.push(vec![Inst::new(Op::Label, &args).with(Payload::Label(id))]);
        self.region.labels.push(Label { name: format!("L{}", id.0), args });
        id
    }

    fn begin(&mut self, block: LabelId) {
        self.at = block.index();
        self.now = self.region.labels[self.at].args.clone();
    }

    fn add(&mut self, inst: Inst) {
        self.parts[self.at].push(inst);
    }

    fn compute(&mut self, op: Op, args: &[Value]) -> Value {
        let result = self.region.new_value(Type::Int);
        self.add(Inst { result: Some(result), ..Inst::new(op, args) });
        result
    }

    fn jump(&mut self, to: LabelId) {
        let passed = self.now.clone();
        self.add(Inst::new(Op::Jump, &passed).with(Payload::Label(to)));
    }

    fn jump_if(&mut self, condition: Value, to: LabelId) {
        let args: Vec<Value> = std::iter::once(condition).chain(self.now.iter().copied()).collect();
        self.add(Inst::new(Op::JumpIf, &args).with(Payload::Label(to)));
    }

    /// One of two ways, in either order.
    fn split(&mut self, condition: Value, then: LabelId, other: LabelId) {
        if self.rng.chance(50) {
            self.jump_if(condition, then);
            self.jump(other);
        } else {
            let zero = self.region.const_int(0);
            let not = self.compute(Op::IntEq, &[condition, zero]);
            self.jump_if(not, other);
            self.jump(then);
        }
    }

    fn variable(&mut self) -> usize {
        self.rng.below(VARIABLES as u64) as usize
    }

    fn value(&mut self) -> Value {
        let variable = self.variable();
        self.now[variable]
    }

    /// A variable's value, or a constant.
    fn operand(&mut self) -> Value {
        match self.rng.chance(70) {
            true => self.value(),
            false => self.region.const_int(self.rng.range(0, 5) as i64 - 2),
        }
    }

    fn assign(&mut self) {
        let op = *self.rng.pick(&[Op::IntAdd, Op::IntSub, Op::IntMul, Op::IntXor, Op::IntAnd, Op::IntLt]);
        let [x, y] = [self.value(), self.operand()];
        let variable = self.variable();
        self.now[variable] = match self.rng.chance(20) {
            true => y,
            false => self.compute(op, &[x, y]),
        };
    }

    /// Some comparison of variables.
    fn condition(&mut self) -> Value {
        let op = *self.rng.pick(&[Op::IntLt, Op::IntLe, Op::IntEq, Op::IntNe]);
        let [x, y] = [self.value(), self.operand()];
        self.compute(op, &[x, y])
    }

    /// Whether there is budget left, and `condition` holds, if there is one.
    fn affords(&mut self, condition: Option<Value>) -> Value {
        let zero = self.region.const_int(0);
        let has_budget = self.compute(Op::IntGt, &[self.now[BUDGET], zero]);
        condition.map_or(has_budget, |condition| self.compute(Op::IntAnd, &[has_budget, condition]))
    }

    fn spend(&mut self) {
        let one = self.region.const_int(1);
        self.now[BUDGET] = self.compute(Op::IntSub, &[self.now[BUDGET], one]);
    }

    /// A guard, or a safepoint.
    fn guard(&mut self) {
        let is_safepoint = self.rng.chance(75);
        let condition = match is_safepoint {
            true => self.now[FLAG],
            false => self.condition(),
        };
        let tag = self.schema.find_tag("int").expect("a standard tag");
        let slots = self.now.iter().enumerate().map(|(slot, &value)| SlotValue {
            slot: slot as i32,
            tag,
            source: Source::Value(value),
        });
        let words = vec![0; self.schema.frame_words as usize].into();
        let frames = vec![Frame { base: 0, words, slots: slots.collect() }];
        let origin = self.region.snapshots.len() as u32;
        let snap = self.region.add_snapshot(Snapshot { origin, frames, ..Snapshot::default() });
        let guard = Inst::new(Op::GuardTrue, &[condition]).at(Some(snap));
        self.add(guard.exit_kind(if is_safepoint { ExitKind::Interrupt } else { ExitKind::Guard }));
    }

    fn statements(&mut self, depth: u32, around: Around) {
        for _ in 0..self.rng.range(1, 4) {
            match self.rng.below(10) {
                0..=3 => self.assign(),
                4 => self.guard(),
                5 | 6 if depth > 0 => self.test(depth - 1, around),
                7 | 8 if depth > 0 => self.repeat(depth - 1),
                9 => self.leave(around),
                _ => self.assign(),
            }
        }
    }

    fn test(&mut self, depth: u32, around: Around) {
        let condition = self.condition();
        let [then, other, after] = [(); 3].map(|()| self.block());
        self.split(condition, then, other);
        for block in [then, other] {
            self.begin(block);
            self.statements(depth, around);
            self.jump(after);
        }
        self.begin(after);
    }

    fn repeat(&mut self, depth: u32) {
        let [head, body, after] = [(); 3].map(|()| self.block());
        self.jump(head);
        self.begin(head);
        (0..self.rng.below(3)).for_each(|_| if self.rng.chance(60) { self.assign() } else { self.guard() });
        let is_tested_first = self.rng.chance(75);
        if is_tested_first {
            let condition = self.rng.chance(50).then(|| self.condition());
            let goes_on = self.affords(condition);
            self.split(goes_on, body, after);
        } else {
            self.jump(body);
        }
        self.begin(body);
        self.spend();
        self.statements(depth, Some((head, after)));
        if is_tested_first {
            self.jump(head);
        } else {
            let goes_on = self.affords(None);
            self.split(goes_on, head, after);
        }
        self.begin(after);
    }

    /// Leaves the loop, goes on with its next iteration, or to any block at all.
    fn leave(&mut self, around: Around) {
        let anywhere = LabelId(self.rng.below(self.parts.len() as u64) as u32);
        let to = match around {
            Some((head, after)) if self.rng.chance(85) => *self.rng.pick(&[head, after]),
            _ if self.rng.chance(30) => anywhere,
            _ => return self.assign(),
        };
        let condition = self.condition();
        let goes = self.affords(Some(condition));
        self.spend();
        let here = self.block();
        self.split(goes, to, here);
        self.begin(here);
    }
}
