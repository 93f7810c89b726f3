//! Bounds checks that others imply, and one check before the loop in place of one in each iteration.
//!
//! Problem: a loop over an array tests in each iteration that its index is in bounds, for `t[i - 1]` and
//! `t[i + 1]` once more, although the loop's own limit says how far the index goes. Design: every integer is
//! a root and a constant more (`i - 1` is `i` and -1; `linear.rs`). Guards tell where such sums lie: not
//! negative, below a bound, or both, which is *in range*; what lies between two sums of one root that are in
//! range is so, too. In a loop that is peeled, a root that the loop changes by a constant, and of which it is
//! known how often it still will, is an *induction variable*; when the preamble has found it in range, one
//! more guard is put there, with the same snapshot: that it still will be when the loop ends
//! ([`Span::ahead`]). The loop then needs no check (bounds check elimination of counted loops; LuaJIT does it
//! where the loop's limit is within the array when it records). What guards have shown of the sums of a root
//! is in `bounds/ranges.rs`; what the loop changes, and by how much, is asked of `loops.rs`.
//!
//! How far the loop goes is known from a counter that it counts down to 0 (Lua's `for`), or from a guard that
//! it passes before the access (`while i <= n`). Where the counter is tested before the access, the access is
//! made once less than the counter says, and the guard is for that: a loop over a whole array passes it. The
//! guard put there may fail where the recorded trace would not: it is an exit like others, and where it is
//! taken often the loop is compiled without ([`ExitKind::Hoisted`](tracelift_core::ExitKind)).
//!
//! Why this is sound: let the index be `x` in `[0, u)`, the step 1, and `n` iterations still to come. The
//! guard says `n < u - x`, without overflow since `x < u`. So `x + k < u` for all `k` up to `n`; and what
//! holds in one iteration holds in the next, where `x` is one more and `n` is one less. It is needed that `u`
//! is the same in all iterations, which is known only when the loop is closed: [`State::rely_on_hoisted`]
//! asks for it, and if it is not so the loop is made without such guards. A guard on which nothing relies in
//! the end is removed. Constants of sums are below 2^31, so that none of those compared wraps around; where a
//! limit and not a counter ends the loop, the bound is below 2^62, lest the index wraps around before it
//! comes to the limit. A count of four bytes is; with one of eight the guard tests that too, and what follows
//! from it, that an index below the count is not negative, is known only to those who rely on the guard.
//!
//! A root may also change by a value that stays, the *stride* (`for j = i * i, n, i`). A constant step is
//! known to rise or fall; that a stride rises, and that so many of them do not wrap around, the guard before
//! the loop tests as well: both are below 2^31. Where the next iteration begins the root is another value;
//! which one of the first walk it stands for is kept ([`Bounds::laps`]), as both are one root for the guard.
//!
//! Invariant: a compare is answered only if it comes out so on every run that gets there. Example, where `i1`
//! counts down:
//!
//! ```text
//! i3 = int_add(i0, -1)          i3 = int_add(i0, -1)
//! i4 = uint_lt(i3, i2)          i4 = uint_lt(i3, i2)
//! guard_true(i4)           =>   i5 = int_sub(i2, i3)
//!                               i6 = uint_lt(i1, i5)
//!                               guard_true(i6)
//!                               guard_true(i4)
//! ```

mod ranges;

use rustc_hash::FxHashMap as HashMap;

use tracelift_core::effects::CellAccess;
use tracelift_core::planted::{planted, Bug};
use tracelift_core::schema::Cell;
use tracelift_core::{ExitKind, Inst, Op, Trace, Value};

use crate::linear::{Sums, Terms};
use crate::loops::{Loop, Step};
use crate::pass::{once, Cx, Ops, Outcome, Pass};
use crate::state::State;
use crate::{Config, OptError};
use ranges::{Ahead, Span, Start, Sum, FAR};

/// How often a root will still be changed.
#[derive(Clone, Copy, Debug)]
enum Left {
    /// As often as this value says, unsigned; each iteration takes one off, and leaves when there is none.
    Counter(Value),
    /// Until it has passed this value: each iteration leaves first if it has; `plus` more at most.
    Limit { limit: Value, plus: i64 },
}

/// A value, or a root, that the loop changes by a constant, or by that many times a stride.
#[derive(Clone, Copy, Debug)]
struct Induction {
    step: i64,
    /// A value that stays the same, greater than 0 where a guard before the loop has held.
    stride: Option<Value>,
    left: Option<Left>,
    /// On this walk: the guard that `left` speaks of was passed.
    is_passed: bool,
    /// Another part of the root, which has to be the same in all iterations.
    steady: Option<Value>,
}

/// The pass.
pub(crate) struct Bounds {
    /// Whether the walk may put guards into the preamble.
    may_hoist: bool,
    sums: Sums,
    spans: HashMap<Terms, Span>,
    /// Constants that values are greater than, unsigned.
    above: HashMap<Value, u64>,
    inductions: Option<HashMap<Value, Induction>>,
    /// In this walk: what a root with a stride is now, and what it was in the first one.
    laps: HashMap<Value, Value>,
    /// Recorded values of these, and what they were in the first walk.
    strided: Vec<(Value, Value)>,
    /// How many iterations were walked before this one.
    walks: i64,
    /// What was emitted for guards before the loop, by operation and operands.
    made: HashMap<(Op, [Value; 2]), Value>,
    /// The numbers of the guards that a count and a stride are near, see [`Bounds::are_near`].
    near: HashMap<(Value, Value), usize>,
}

/// A compare as a statement about a sum.
#[derive(Clone, Copy, Debug)]
enum Claim {
    /// The sum is not negative.
    NotNegative(Sum),
    /// The sum is less than the bound, as signed numbers.
    Below(Sum, Value),
    /// Both.
    InRange(Sum, Value),
    /// The sum is less than the bound, both without a sign: in range if the bound is not negative.
    BelowUnsigned(Sum, Value),
    /// The value is greater than the constant, unsigned.
    Above(Value, u64),
}

impl Bounds {
    pub fn new(config: &Config) -> Bounds {
        Bounds {
            may_hoist: !config.no_hoisting,
            sums: Sums::default(),
            spans: HashMap::default(),
            above: HashMap::default(),
            inductions: None,
            laps: HashMap::default(),
            strided: Vec::new(),
            walks: 0,
            made: HashMap::default(),
            near: HashMap::default(),
        }
    }

    fn sum(&self, trace: &Trace, value: Value) -> Option<Sum> {
        Sum::of(&self.sums, trace, value)
    }

    /// What a compare claims if it comes out as 1 (`true`), and what if as 0.
    fn claim(&self, st: &State<'_>, compare: &Inst, outcome: bool) -> Option<Claim> {
        let &[a, b] = &compare.args[..] else { return None };
        // Everything is brought to the form `a < b`, or `a >= b`.
        let (op, a, b) = match compare.op {
            Op::IntGt => (Op::IntLt, b, a),
            Op::IntLe => (Op::IntGe, b, a),
            Op::UintGt => (Op::UintLt, b, a),
            Op::UintLe => (Op::UintGe, b, a),
            op => (op, a, b),
        };
        let is_less = match op {
            Op::IntLt | Op::UintLt => outcome,
            Op::IntGe | Op::UintGe => !outcome,
            _ => return None,
        };
        let is_unsigned = matches!(op, Op::UintLt | Op::UintGe);
        match (st.out.int_of(a), st.out.int_of(b)) {
            // `a >= 0`
            (None, Some(0)) if !is_unsigned && !is_less => Some(Claim::NotNegative(self.sum(&st.out, a)?)),
            // `-1 < b`
            (Some(-1), None) if !is_unsigned && is_less => Some(Claim::NotNegative(self.sum(&st.out, b)?)),
            (Some(low), None) if is_unsigned && is_less => Some(Claim::Above(b, low as u64)),
            (None, _) if is_unsigned && is_less && is_not_negative(st, b) => {
                Some(Claim::InRange(self.sum(&st.out, a)?, b))
            }
            (None, None) if is_unsigned && is_less && is_count(st, b) => {
                Some(Claim::BelowUnsigned(self.sum(&st.out, a)?, b))
            }
            (None, _) if !is_unsigned && is_less => Some(Claim::Below(self.sum(&st.out, a)?, b)),
            _ => None,
        }
    }

    /// Whether a claim is known to hold.
    fn holds(&self, st: &mut State<'_>, claim: Claim) -> bool {
        let (sum, bound) = match claim {
            Claim::NotNegative(sum) => (sum, None),
            Claim::Below(sum, bound) | Claim::InRange(sum, bound) | Claim::BelowUnsigned(sum, bound) => {
                (sum, Some(bound))
            }
            Claim::Above(value, low) => return self.above.get(&value).is_some_and(|&above| above >= low),
        };
        let is_known = self.spans.get(&sum.root).is_some_and(|span| match bound {
            None => span.is_not_negative(sum.plus),
            Some(bound) => span.is_in_range(sum.plus, bound),
        });
        let first = self.in_first_walk(&sum.root);
        let Some(induction) = self.induction(&first).filter(|_| !is_known && self.walks > 0) else {
            return is_known;
        };
        let Some(span) = self.spans.get(&first).filter(|_| induction.stride.is_some() == (first != sum.root))
        else {
            return false;
        };
        let covers = |ahead: &Ahead| {
            let is_it = bound.is_none_or(|bound| bound == ahead.bound);
            let walks = self.walks + (self.walks > 1 && planted(Bug::RotationBoundsFar)) as i64;
            let added = if induction.stride.is_some() { 0 } else { induction.step * walks };
            let covers = || span.covers(ahead, sum.plus, (induction.step, added), induction.is_passed);
            Some((*ahead, is_it.then(covers).flatten()?))
        };
        let Some((ahead, start)) = span.ahead.iter().find_map(covers) else { return false };
        let limit = match induction.left {
            Some(Left::Limit { limit, .. }) => Some(limit),
            _ => None,
        };
        let steady = limit.into_iter().chain(induction.steady).chain(induction.stride);
        st.rely_on_hoisted(ahead.number, steady.chain([ahead.bound]));
        if let Some(number) = ahead.are_near {
            st.rely_on_hoisted(number, []);
        }
        if let Start::Tested(number) = start {
            st.rely_on_hoisted(number, [ahead.bound]);
        }
        true
    }

    /// The terms that these were when the loop began, if they have come there by a stride.
    fn in_first_walk(&self, root: &Terms) -> Terms {
        let first = |value: Value| self.laps.get(&value).copied().unwrap_or(value);
        let (value, other) = (first(root.value), root.other.map(first));
        match other {
            Some(other) => Terms { value: value.min(other), other: Some(value.max(other)), ..*root },
            None => Terms { value, ..*root },
        }
    }

    /// How the loop changes a root: one of its values by a constant, the other, if there is one, not at all.
    fn induction(&self, root: &Terms) -> Option<Induction> {
        let of = |value: &Value| self.inductions.as_ref()?.get(value).copied();
        let (induction, steady) = match (of(&root.value), root.other, root.other.as_ref().and_then(of)) {
            (Some(induction), other, None) => (induction, other),
            (None, Some(_), Some(induction)) => (induction, Some(root.value)),
            _ => return None,
        };
        let step = induction.step.checked_mul(root.scale).filter(|step| step.unsigned_abs() < FAR)?;
        let left = induction.left.filter(|left| match left {
            Left::Counter(_) => step.unsigned_abs().is_power_of_two(),
            Left::Limit { .. } => root.scale == 1,
        });
        if induction.stride.is_some() && (step < 0 || !matches!(left, Some(Left::Counter(_)))) {
            return None;
        }
        Some(Induction { step, left, steady, ..induction })
    }

    /// Notes what a guard has shown; the sum, and a bound that it is now known to be in range of, or below
    /// without a sign.
    fn learn(&mut self, st: &mut State<'_>, claim: Claim) -> Option<(Sum, Value)> {
        let sum = match claim {
            Claim::NotNegative(sum) | Claim::Below(sum, _) | Claim::InRange(sum, _) => sum,
            Claim::BelowUnsigned(sum, bound) => return Some((sum, bound)),
            Claim::Above(value, low) => {
                let above = self.above.entry(value).or_insert(low);
                *above = low.max(*above);
                st.facts.nonzero.set(value, ());
                return None;
            }
        };
        let span = self.spans.entry(sum.root).or_default();
        // The guard that it is not negative may have been left out, as others imply it.
        if matches!(claim, Claim::NotNegative(_) | Claim::InRange(..)) || span.is_not_negative(sum.plus) {
            span.learn_not_negative(sum.plus);
        }
        if let Claim::Below(_, bound) | Claim::InRange(_, bound) = claim {
            span.learn_below(sum.plus, bound);
        }
        let bound = match claim {
            Claim::NotNegative(_) => span.bound_of(sum.plus)?,
            Claim::Below(_, bound) | Claim::InRange(_, bound) => bound,
            Claim::BelowUnsigned(..) | Claim::Above(..) => return None,
        };
        span.was_not_negative(sum.plus).then_some((sum, bound))
    }

    /// A guard on how far a root goes, seen on this walk.
    fn learn_limit(&mut self, st: &State<'_>, compare: &Inst, outcome: bool) {
        let &[a, b] = &compare.args[..] else { return };
        let (op, a, b) = match compare.op {
            Op::IntGt => (Op::IntLt, b, a),
            Op::IntGe => (Op::IntLe, b, a),
            op => (op, a, b),
        };
        let (plus, holds) = match op {
            Op::IntLt => (-1, outcome),
            Op::IntLe => (0, outcome),
            _ => return,
        };
        let Some(sum) = self.sum(&st.out, a) else { return };
        let Some(inductions) = &mut self.inductions else { return };
        let is_alone = sum.root.is_alone();
        let Some(induction) = inductions.get_mut(&sum.root.value).filter(|_| holds && is_alone) else {
            return;
        };
        match (induction.left, self.walks > 0) {
            (None, false) if sum.plus == 0 && induction.step > 0 => {
                induction.left = Some(Left::Limit { limit: b, plus });
                induction.is_passed = true;
            }
            (Some(Left::Limit { limit, plus: known }), true) => {
                induction.is_passed |= sum.plus == induction.step * self.walks && limit == b && known == plus;
            }
            _ => {}
        }
    }

    /// A guard on a counter, seen on this walk: what follows is done once less than the counter says.
    fn learn_counted(&mut self, st: &State<'_>, guard: &Inst) {
        let value = match st.def(guard.args[0]) {
            Some(Inst { op: Op::IntNe, args, .. }) if st.out.int_of(args[1]) == Some(0) => args[0],
            _ => guard.args[0],
        };
        let Some(sum) = self.sum(&st.out, value).filter(|_| guard.op == Op::GuardTrue) else { return };
        let is_alone = sum.root.is_alone();
        for induction in self.inductions.iter_mut().flat_map(|all| all.values_mut()) {
            if let Some(Left::Counter(counter)) = induction.left {
                induction.is_passed |= is_alone && sum.plus == -self.walks && sum.root.value == counter;
            }
        }
    }

    /// Emits the guard for all iterations to come, unless one for a sum further out is there or none is
    /// possible. `is_known` says that the sum is in range, and not only below the bound without a sign.
    fn hoist(
        &mut self,
        cx: &mut Cx<'_, '_>,
        (sum, bound): (Sum, Value),
        is_known: bool,
        guard: &Inst,
    ) -> Result<(), OptError> {
        let induction = self.induction(&sum.root).filter(|_| self.may_hoist && self.walks == 0);
        let Some(Induction { step, stride, left: Some(left), steady, is_passed }) = induction else {
            return Ok(());
        };
        let is_limit = matches!(left, Left::Limit { .. });
        let tests_bound = !is_known || is_limit && !is_small(cx.st, bound);
        let is_unsafe_limit = is_limit && tests_bound && !is_count(cx.st, bound);
        let is_further = |ahead: &Ahead| match step > 0 {
            true => ahead.plus >= sum.plus,
            false => ahead.plus <= sum.plus,
        };
        let span = self.spans.entry(sum.root).or_default();
        let is_start = |ahead: &Ahead| is_known || ahead.tests_bound && ahead.plus == sum.plus;
        let is_there = |ahead: &Ahead| ahead.bound == bound && is_further(ahead) && is_start(ahead);
        if is_unsafe_limit || span.ahead.iter().any(is_there) || !cx.st.fire("bound_hoisted") {
            return Ok(());
        }
        // How far it is from the index to the last place in range, in steps.
        let mut room = sum.value;
        if step > 0 {
            let one = cx.int(1);
            room = self.make(cx, Op::IntSub, [bound, room])?;
            if !planted(Bug::BoundsOneTooFar) {
                room = self.make(cx, Op::IntSub, [room, one])?;
            }
        }
        let way = match left {
            Left::Counter(count) => {
                let shift = cx.int(step.unsigned_abs().trailing_zeros() as i64);
                if step.unsigned_abs() > 1 {
                    room = self.make(cx, Op::IntShr, [room, shift])?;
                }
                match is_passed {
                    true => {
                        let less = cx.int(-1);
                        self.make(cx, Op::IntAdd, [count, less])?
                    }
                    false => count,
                }
            }
            Left::Limit { limit, plus } => {
                let changing = match (steady == Some(sum.root.value), sum.root.other) {
                    (true, Some(other)) => other,
                    _ => sum.root.value,
                };
                let way = self.make(cx, Op::IntSub, [limit, changing])?;
                let plus = (plus != 0).then(|| cx.int(plus));
                plus.map_or(Ok(way), |plus| self.make(cx, Op::IntAdd, [way, plus]))?
            }
        };
        let (way, are_near) = match stride {
            Some(stride) => {
                let number = self.are_near(cx, way, stride, guard)?;
                (self.make(cx, Op::IntMul, [way, stride])?, Some(number))
            }
            None => (way, None),
        };
        let mut fits = self.make(cx, Op::UintLe, [way, room])?;
        if tests_bound {
            let most = cx.int(1 << 62);
            let is_near = self.make(cx, Op::UintLt, [bound, most])?;
            fits = self.make(cx, Op::IntAnd, [fits, is_near])?;
        }
        let number = cx.st.hoist_next();
        let ahead = Ahead { bound, plus: sum.plus, number, are_near, is_after_end: is_passed, tests_bound };
        self.spans.entry(sum.root).or_default().ahead.push(ahead);
        cx.emit(Inst::new(Op::GuardTrue, &[fits]).at(guard.snap).exit_kind(ExitKind::Hoisted)).map(|_| ())
    }

    /// Emits the guard, once, that a stride and how often it is taken are below 2^31: their product has not
    /// wrapped around. The stride is not 0 either, as the file's top needs it. Returns its number.
    fn are_near(
        &mut self,
        cx: &mut Cx<'_, '_>,
        count: Value,
        stride: Value,
        guard: &Inst,
    ) -> Result<usize, OptError> {
        if let Some(&number) = self.near.get(&(count, stride)) {
            return Ok(number);
        }
        let (less, far) = (cx.int(-1), cx.int(FAR as i64));
        let further = self.make(cx, Op::IntAdd, [stride, less])?;
        let both = self.make(cx, Op::IntOr, [further, count])?;
        let mut are_near = self.make(cx, Op::UintLt, [both, far])?;
        if planted(Bug::BoundsStrideFar) {
            are_near = cx.int(1);
        }
        let number = cx.st.hoist_next();
        self.near.insert((count, stride), number);
        cx.emit(Inst::new(Op::GuardTrue, &[are_near]).at(guard.snap).exit_kind(ExitKind::Hoisted))?;
        Ok(number)
    }

    /// Emits an operation that guards before the loop are made of; one that is there already serves again.
    fn make(&mut self, cx: &mut Cx<'_, '_>, op: Op, args: [Value; 2]) -> Result<Value, OptError> {
        if let Some(&value) = self.made.get(&(op, args)) {
            return Ok(value);
        }
        let value = cx.emit_value(Inst::new(op, &args))?;
        self.made.insert((op, args), value);
        Ok(value)
    }

    fn compare_of(st: &State<'_>, guard: &Inst) -> Option<(Inst, bool)> {
        let outcome = match guard.op {
            Op::GuardTrue => true,
            Op::GuardFalse => false,
            _ => return None,
        };
        Some((st.def(guard.args[0])?.clone(), outcome))
    }
}

/// Whether an integer is not negative and below 2^32 for sure: a constant, or loaded from an unsigned cell of
/// at most four bytes.
fn is_small(st: &State<'_>, value: Value) -> bool {
    match st.out.int_of(value) {
        Some(int) => u32::try_from(int).is_ok(),
        None => is_not_negative(st, value),
    }
}

/// Whether an integer is not negative for sure: a constant, or loaded from an unsigned cell of at most four
/// bytes.
fn is_not_negative(st: &State<'_>, value: Value) -> bool {
    if let Some(int) = st.out.int_of(value) {
        return int >= 0;
    }
    loaded(st, value).is_some_and(|cell| cell.width <= 4 && !cell.signed)
}

/// Whether a value is read from eight bytes of memory, as an array's count may be. Other values change too
/// often for guards that rely on them.
fn is_count(st: &State<'_>, value: Value) -> bool {
    loaded(st, value).is_some_and(|cell| cell.width == 8)
}

/// The cell that a value was loaded from.
fn loaded<'s>(st: &State<'s>, value: Value) -> Option<&'s Cell> {
    st.def(value).and_then(CellAccess::loaded).map(|cell| st.schema.cell(cell))
}

/// The inputs that the recorded loop changes by a constant, in one operation, as values of the output.
/// Those that it changes by a stride come with their recorded values, too.
fn inductions(st: &State<'_>) -> (HashMap<Value, Induction>, Vec<(Value, Value)>) {
    let Some(recorded) = Loop::at(st.source, 0).filter(|_| st.walks.is_peeling) else {
        return Default::default();
    };
    let sums = recorded.sums();
    let mut steps = recorded.steps(&sums);
    steps.retain(|step| step.by.unsigned_abs() < FAR && recorded.is_made_at_once(step.value));
    let output = |value: Value| st.at.map[value.index()];
    let counter = recorded.counter(&steps).and_then(output);
    let left = counter.map(Left::Counter);
    let induction = |step: &Step| {
        let root = output(step.value).filter(|&root| Some(root) != counter)?;
        Some((root, Induction { step: step.by, stride: None, left, is_passed: false, steady: None }))
    };
    let mut inductions: HashMap<Value, Induction> = steps.iter().filter_map(induction).collect();
    let mut strided = Vec::new();
    for (value, by) in recorded.strides(&sums) {
        if let (Some(root), Some(by), true) = (output(value), output(by), recorded.is_made_at_once(value)) {
            let stride = Induction { step: 1, stride: Some(by), left, is_passed: false, steady: None };
            inductions.entry(root).or_insert(stride);
            strided.push((value, root));
        }
    }
    (inductions, strided)
}

impl Pass for Bounds {
    fn name(&self) -> &'static str {
        "bounds"
    }

    fn rules(&self) -> Vec<&'static str> {
        vec!["bound_known", "bound_hoisted"]
    }

    fn minds(&self) -> Ops {
        once!({
            use Op::*;
            let is_order =
                |op| matches!(op, IntLt | IntLe | IntGt | IntGe | UintLt | UintLe | UintGt | UintGe);
            Ops::that(|op| is_order(op) || matches!(op, GuardTrue | GuardFalse))
        })
    }

    fn feed(&mut self, cx: &mut Cx<'_, '_>, inst: &Inst) -> Result<Outcome, OptError> {
        match inst.op {
            Op::IntLt
            | Op::IntLe
            | Op::IntGt
            | Op::IntGe
            | Op::UintLt
            | Op::UintLe
            | Op::UintGt
            | Op::UintGe => {
                for outcome in [true, false] {
                    let claim = self.claim(cx.st, inst, outcome);
                    if claim.is_some_and(|claim| self.holds(cx.st, claim)) && cx.st.fire("bound_known") {
                        return Ok(Outcome::Equal(cx.int(outcome as i64)));
                    }
                }
                Ok(Outcome::Keep)
            }
            Op::GuardTrue | Op::GuardFalse if cx.st.may_be_removed(inst) => Ok(Outcome::Keep),
            Op::GuardTrue | Op::GuardFalse => {
                if self.inductions.is_none() {
                    let (inductions, strided) = inductions(cx.st);
                    (self.inductions, self.strided) = (Some(inductions), strided);
                }
                self.learn_counted(cx.st, inst);
                let Some((compare, outcome)) = Self::compare_of(cx.st, inst) else {
                    return Ok(Outcome::Keep);
                };
                self.learn_limit(cx.st, &compare, outcome);
                if let Some(claim) = self.claim(cx.st, &compare, outcome) {
                    let is_known = !matches!(claim, Claim::BelowUnsigned(..));
                    if let Some(place) = self.learn(cx.st, claim) {
                        self.hoist(cx, place, is_known, inst)?;
                    }
                }
                Ok(Outcome::Keep)
            }
            _ => Ok(Outcome::Keep),
        }
    }

    fn hears(&self) -> Ops {
        once!({ Ops::that(Sums::notes) })
    }

    fn committed(&mut self, st: &mut State<'_>, inst: &Inst) {
        self.sums.note(&st.out, inst);
    }

    fn label(&mut self) {
        self.spans.clear();
        self.above.clear();
        self.inductions = Some(HashMap::default());
        self.strided.clear();
    }

    fn next_walk(&mut self, st: &State<'_>) {
        self.walks += 1;
        for &(recorded, first) in &self.strided {
            if let Some(now) = st.at.map[recorded.index()].filter(|&now| now != first) {
                self.sums.set_alone(now);
                self.laps.insert(now, first);
            }
        }
        for induction in self.inductions.iter_mut().flat_map(|all| all.values_mut()) {
            induction.is_passed = false;
        }
    }
}
