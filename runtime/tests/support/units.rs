//! A function that calls itself, for the host of a few lines, as a unit with a gateway.
//!
//! Problem: tests of units need code that is left with callers around it, at exits that get side traces one
//! after another. Design: [`Sums`] has one function, whose frame has four slots. It ends at three numbers,
//! and each end is an exit of its own (word 0, 1 and 2) until it is recorded:
//!
//! ```text
//! f(n):  0 if n == 10, 1 if n == 20, 2 if n == 30: what the test records there
//!        3 v = f(n - 1)   4 v = v + n * n * n ... (`work` times, plus n each)   return v
//! ```
//!
//! Invariant: slot 0 of a frame holds n, slot 1 v. Example: `f(13)` is left at word 0 with three callers.

use std::ffi::c_void;

use tracelift_core::ir::EntrySlot;
use tracelift_core::schema::{Cell, CellId};
use tracelift_core::{ExitKind, Op, Payload, Type, UnitId, Value};
use tracelift_runtime::{AbortReason, Action, CloseOutcome, Config, Run, Vm};

use super::{Host, Tape};

/// The function's entry.
pub const ENTRY: usize = 5;
/// Slots of its frame.
pub const SIZE: i32 = 4;
const ALL: u8 = 0b1111;
/// All but v, which is about to come.
const BUT_RESULT: u8 = 0b1101;
/// Where the gateway goes on.
pub const RETURNS: u64 = 5;

/// How code was left.
#[derive(Debug, PartialEq)]
pub struct How {
    pub kind: ExitKind,
    pub outer: u32,
    /// Base and word of each frame.
    pub frames: Vec<(i32, u64)>,
}

/// The host, whose function is a unit.
pub struct Sums {
    pub host: Host,
    pub unit: UnitId,
    pub work: usize,
    counter: Box<i32>,
    limit: CellId,
}

/// What `f(n)` adds to `f(n - 1)`.
pub fn worth(n: i64, work: usize) -> i64 {
    (0..work).fold(n, |v, _| v.wrapping_mul(n).wrapping_add(n))
}

impl Sums {
    /// With the unit and its gateway, but no side traces. `prepare` sees the VM first.
    pub fn new(config: Config, work: usize, prepare: impl FnOnce(&mut Vm)) -> Sums {
        let mut host = Host::new(Config { threshold: 1, ..config });
        prepare(&mut host.vm);
        let schema = host.vm.schema_mut();
        let class = schema.alias_class("limit");
        let limit = schema.add_cell(Cell::new("limit", 0, Type::Int, class));
        let mut sums = Sums { host, unit: UnitId(0), work, counter: Box::new(0), limit };
        // SAFETY: it lives as long as the host.
        unsafe { sums.host.vm.add_counter(&mut *sums.counter) };
        assert!(sums.host.vm.set_unit_depth(64));
        sums.set_limit(20);
        sums.record_unit();
        sums.record_gateway();
        sums
    }

    /// Units may use so many slots of the host's frames; with 20 the fourth frame may not call.
    pub fn set_limit(&mut self, slots: usize) {
        let end = self.host.frame.as_ptr_range().start.wrapping_add(slots) as u64;
        // SAFETY: the cell lives as long as the VM.
        unsafe { (*self.host.vm.unit_limit()).end = end };
    }

    /// `f(n)` begins in the interpreter.
    pub fn enter(&mut self, n: i64) -> Action {
        self.host.frame.fill(super::float(0.5));
        self.host.frame[0] = super::int(n);
        (self.host.first, *self.counter) = (0, -1);
        let base = self.host.base();
        // SAFETY: the frame has more slots than any trace names.
        unsafe { self.host.vm.hot(ENTRY, &*self.counter, base) }
    }

    /// Runs `f(n)`, if there is code for it.
    pub fn call(&mut self, n: i64) -> Option<How> {
        let action = self.enter(n);
        self.run(action)
    }

    /// Runs code.
    pub fn run(&mut self, action: Action) -> Option<How> {
        let Action::Run(Run { code, .. }) = action else { return None };
        let context: *mut c_void = (&raw mut self.host.counted).cast();
        let base: *mut u8 = self.host.frame.as_mut_ptr().cast();
        // SAFETY: the code was just offered for this frame.
        let left = unsafe { code.call(context, base) };
        // SAFETY: as above, and the frame is larger than any exit needs.
        let exit = unsafe { self.host.vm.exit(left, context) };
        assert_eq!(exit.base, base);
        let frames: Vec<_> = exit.frames.iter().map(|frame| (frame.base, frame.words[0])).collect();
        self.host.first = frames.last().map_or(0, |&(base, _)| base as usize);
        Some(How { kind: exit.kind()?, outer: exit.outer, frames })
    }

    /// What is to be done after the exit.
    pub fn next(&mut self) -> Action {
        let base = self.host.base();
        // SAFETY: the last exit was from code that ran in these frames.
        unsafe { self.host.vm.next(base) }
    }

    /// Calls `f(n)`, which is left, until a side trace is asked for; so many times.
    pub fn calls_until_asked(&mut self, n: i64) -> u64 {
        (1..)
            .find(|_| self.call(n).is_some() && matches!(self.next(), Action::Record))
            .expect("it is asked for")
    }

    /// Records what comes after the exit at which `n` ends, up to the return of `value`.
    pub fn record_end(&mut self, n: i64, value: impl FnOnce(&mut Tape<'_>, UnitId) -> Value) -> CloseOutcome {
        let (base, unit) = (self.host.base(), self.unit);
        assert!(self.host.vm.start_side(base));
        let mut returned = None;
        self.host.go_on(|tape| {
            tape.at(n as u64 / 10 - 1, ALL);
            let (found, end) = (tape.int(0), tape.constant(n));
            let is_end = tape.op2(Op::IntEq, found, end);
            tape.guard(is_end, ExitKind::Guard);
            returned = Some(value(tape, unit));
        });
        self.host.vm.end_unit(self.host.ids.int, returned)
    }

    fn record_unit(&mut self) {
        while !matches!(self.enter(13), Action::Record) {}
        let (base, limit, work) = (self.host.base(), self.limit, self.work);
        self.host.vm.start_unit(ENTRY, base).expect("none is in progress");
        let cell = self.host.vm.unit_limit() as u64;
        let (mut unit, mut returned) = (None, None);
        self.host.go_on(|tape| {
            unit = tape.recorder.unit();
            let n = tape.recorder.unit_argument(0, tape.ids.int, tape.schema).expect("it has a payload");
            tape.at(0, ALL);
            tape.guard_limit(limit, cell);
            for (word, end) in [10, 20, 30].into_iter().enumerate() {
                tape.at(word as u64, ALL);
                let end = tape.constant(end);
                let goes_on = tape.op2(Op::IntNe, n, end);
                tape.guard(goes_on, ExitKind::Guard);
            }
            tape.at(3, ALL);
            let less = tape.constant(-1);
            let less = tape.op2(Op::IntAdd, n, less);
            let v = tape.call_unit(unit.expect("one is recorded"), less, 4);
            let mut own = n;
            for _ in 0..work {
                let product = tape.op2(Op::IntMul, own, n);
                own = tape.op2(Op::IntAdd, product, n);
            }
            returned = Some(tape.op2(Op::IntAdd, v, own));
        });
        self.unit = unit.expect("one is recorded");
        let outcome = self.host.vm.end_unit(self.host.ids.int, returned);
        assert!(matches!(outcome, CloseOutcome::Compiled(_)), "{outcome:?}");
    }

    fn record_gateway(&mut self) {
        let found = self.host.vm.find_unit(ENTRY, &[EntrySlot { slot: 0, tag: self.host.ids.int }]);
        assert_eq!(found, Some(self.unit));
        while !matches!(self.enter(13), Action::Record) {}
        let unit = self.unit;
        self.host.begin(ENTRY, |tape| {
            tape.at(0, ALL);
            let n = tape.int(0);
            tape.recorder.call_unit(unit, &[n], Some(1), &[], tape.schema);
            tape.at(RETURNS, ALL);
            tape.recorder.unit_returned(None, tape.schema);
        });
        let outcome = self.host.vm.end_recording(AbortReason::Host("gateway".into()));
        assert!(matches!(outcome, CloseOutcome::Compiled(_)), "{outcome:?}");
    }
}

impl Tape<'_> {
    /// Leaves if the function's frame and that of its callee do not lie below what the cell says.
    fn guard_limit(&mut self, limit: CellId, cell: u64) {
        let kind = ExitKind::Interrupt;
        let cell = self.recorder.constant(Type::Addr, cell);
        let limit = self.recorder.emit(Op::Load, &[cell], Payload::Cell(limit), kind, self.schema);
        let base = self.op(Op::FrameBase, &[]).expect("it has a result");
        let (size, scale) = (self.constant(2 * i64::from(SIZE)), Payload::Scale { stride: 16, offset: 0 });
        let end = self.recorder.emit(Op::ItemAddr, &[base, size], scale, kind, self.schema);
        let end = self.op(Op::AddrToInt, end.as_slice()).expect("it has a result");
        let fits = self.op2(Op::UintLe, end, limit.expect("it has a result"));
        self.guard(fits, kind);
    }

    /// `v = f(n)`, after which the program goes on at this word.
    pub fn call_unit(&mut self, unit: UnitId, n: Value, word: u64) -> Value {
        self.recorder.push_frame(SIZE, &[word], &[BUT_RESULT]);
        self.write_int(0, n);
        self.at(0, ALL);
        self.recorder.call_unit(unit, &[n], Some(1), &[], self.schema);
        self.at(word, ALL);
        self.recorder.unit_returned(Some(self.ids.int), self.schema).expect("an integer")
    }
}
