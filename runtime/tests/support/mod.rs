//! A host of a few lines: tagged slots in an array, and recordings written by hand.
//!
//! Problem: the service's rules are about single calls; an interpreter around them would hide what is tested.
//! Design: [`Host`] has a frame and counters; a test records operations through [`Tape`] and runs code
//! itself. Invariant: slots are 16 bytes, a payload and a one-byte tag, as in the default slot layout.
//!
//! Example: `host.record(1, |tape| { let i = tape.read(0, tape.ids.int); … })` records one iteration of
//! loop 1.

#![allow(dead_code)] // each test file uses its part

use std::ffi::c_void;

use tracelift_core::schema::{ClassSet, Func, FuncEffects, FuncId, TagId};
use tracelift_core::{ExitKind, Op, Payload, Schema, Type, Value};
use tracelift_runtime::recorder::{Limits, Recorder};
use tracelift_runtime::{Action, CloseOutcome, Config, Run, Vm};

pub mod units;

/// A frame slot.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Slot {
    pub payload: u64,
    pub tag: u8,
}

/// Tag bytes, as in memory.
pub const INT: u8 = 0;
pub const FLOAT: u8 = 1;
pub const NIL: u8 = 4;

/// An integer in a slot.
pub fn int(value: i64) -> Slot {
    Slot { payload: value as u64, tag: INT }
}

/// A double in a slot.
pub fn float(value: f64) -> Slot {
    Slot { payload: value.to_bits(), tag: FLOAT }
}

/// What the schema calls things.
#[derive(Clone, Copy)]
pub struct Ids {
    pub int: TagId,
    pub float: TagId,
    pub nil: TagId,
    /// `count(context, int)`: adds the integer to the counter that is the context.
    pub count: FuncId,
}

extern "C" fn count(context: *mut i64, number: i64) {
    // SAFETY: tests pass a counter as the context.
    unsafe { *context += number };
}

pub fn describe(schema: &mut Schema) -> Ids {
    *schema = Schema::with_default_tags();
    schema.frame_words = 1;
    let effects = FuncEffects::pure().reading(ClassSet::All).writing(ClassSet::All);
    let count = schema.add_func(Func {
        name: "count".into(),
        params: vec![Type::Addr, Type::Int],
        result: None,
        effects,
        address: count as *const () as usize,
        evaluable: false,
    });
    let tag = |name: &str| schema.find_tag(name).unwrap();
    Ids { int: tag("int"), float: tag("float"), nil: tag("nil"), count }
}

/// A recording, written by hand.
pub struct Tape<'a> {
    pub recorder: &'a mut Recorder,
    pub schema: &'a Schema,
    pub ids: Ids,
    pub base: *const u8,
}

impl Tape<'_> {
    /// The bytecode `word` is next; `live` has a bit for each slot.
    pub fn at(&mut self, word: u64, live: u8) {
        self.recorder.resume_point(self.base, &[word], &[live]);
    }
    pub fn read(&mut self, slot: i32, tag: TagId) -> Option<Value> {
        self.recorder.read_slot(slot, tag, self.schema)
    }
    pub fn int(&mut self, slot: i32) -> Value {
        self.read(slot, self.ids.int).expect("the slot holds an integer")
    }
    pub fn write(&mut self, slot: i32, tag: TagId, value: Option<Value>) {
        self.recorder.write_slot(slot, tag, value, self.schema);
    }
    pub fn write_int(&mut self, slot: i32, value: Value) {
        self.write(slot, self.ids.int, Some(value));
    }
    pub fn constant(&mut self, value: i64) -> Value {
        self.recorder.constant(Type::Int, value as u64)
    }
    pub fn op(&mut self, op: Op, args: &[Value]) -> Option<Value> {
        self.recorder.emit(op, args, Payload::None, ExitKind::Guard, self.schema)
    }
    pub fn op2(&mut self, op: Op, a: Value, b: Value) -> Value {
        self.op(op, &[a, b]).expect("the operation has a result")
    }
    pub fn guard(&mut self, condition: Value, kind: ExitKind) {
        self.recorder.emit(Op::GuardTrue, &[condition], Payload::None, kind, self.schema);
    }
    /// Calls `count` with the integer.
    pub fn count(&mut self, number: Value) {
        let context = self.op(Op::Context, &[]).expect("there is a context");
        let payload = Payload::Func(self.ids.count);
        self.recorder.emit(Op::Call, &[context, number], payload, ExitKind::Guard, self.schema);
    }
    /// `slot = slot + step`, as a bytecode of its own.
    pub fn add(&mut self, word: u64, live: u8, slot: i32, step: i64) {
        self.at(word, live);
        let (old, step) = (self.int(slot), self.constant(step));
        let new = self.op2(Op::IntAdd, old, step);
        self.write_int(slot, new);
    }
    /// The loop goes on while `a < b`, as a bytecode of its own.
    pub fn while_less(&mut self, word: u64, live: u8, a: i32, b: i32) {
        self.at(word, live);
        let (a, b) = (self.int(a), self.int(b));
        let less = self.op2(Op::IntLt, a, b);
        self.guard(less, ExitKind::LoopEnd);
    }
    /// A second loop, at word 10: `i = i + 1; leave unless i < n`.
    pub fn other_loop(&mut self, live: u8, i: i32, n: i32) {
        self.while_less(10, live, i, n);
        self.add(11, live, i, 1);
    }
    /// What comes after that loop's end: i starts again, at the first loop's head.
    pub fn after_other_loop(&mut self, live: u8, i: i32, n: i32) {
        self.at(10, live);
        let (left, right) = (self.int(i), self.int(n));
        let is_over = self.op2(Op::IntGe, left, right);
        self.guard(is_over, ExitKind::Guard);
        self.at(12, live);
        let zero = self.constant(0);
        self.write_int(i, zero);
        self.at(0, live);
    }
    pub fn failure(&self) -> Option<(&str, &str)> {
        self.recorder.failure().map(|(reason, sentence)| (reason.name(), sentence.as_str()))
    }
}

/// `while i < n: s = s + i; i = i + 1` with s, i, n in slots 0, 1, 2.
pub fn sum(tape: &mut Tape<'_>) {
    tape.while_less(0, 0b111, 1, 2);
    tape.at(1, 0b111);
    let (s, i) = (tape.int(0), tape.int(1));
    let s = tape.op2(Op::IntAdd, s, i);
    tape.write_int(0, s);
    tape.add(2, 0b111, 1, 1);
}

/// Limits of a recording on its own.
pub const LIMITS: Limits = Limits { ops: 100, snapshots: 20, frames: 4, discard_at: None, checks: false };

/// A host.
pub struct Host {
    pub vm: Vm,
    pub ids: Ids,
    pub frame: Box<[Slot; 16]>,
    /// The slot where the running function's frame begins.
    pub first: usize,
    pub counters: Box<[i32; 2]>,
    /// What `count` counted.
    pub counted: i64,
}

impl Host {
    pub fn new(config: Config) -> Host {
        let mut vm = Vm::new(Config { verify: true, ..config }).expect("nothing is logged");
        let ids = describe(vm.schema_mut());
        let mut counters = Box::new([0; 2]);
        // SAFETY: the counters are in a box that lives as long as the VM is used.
        unsafe { vm.set_counters(counters.as_mut_ptr(), 2) };
        Host { vm, ids, frame: Box::new([Slot::default(); 16]), first: 0, counters, counted: 0 }
    }

    pub fn base(&self) -> *const u8 {
        self.frame[self.first..].as_ptr().cast()
    }

    /// What the host is told to do after the last exit.
    pub fn next(&mut self) -> Action {
        let base = self.base();
        // SAFETY: the last exit was from code that ran in this frame.
        unsafe { self.vm.next(base) }
    }

    /// One back edge of the loop `key` in the interpreter: what the fast path does.
    pub fn back_edge(&mut self, key: usize) -> Action {
        let counter = &mut self.counters[key % 2];
        *counter -= 1;
        if *counter >= 0 {
            return Action::Nothing;
        }
        let counter = self.counters[key % 2..].as_ptr();
        // SAFETY: the frame has more slots than any test's trace names.
        unsafe { self.vm.hot(key, counter, self.base()) }
    }

    /// Records an iteration of the loop `key` without closing it.
    pub fn begin(&mut self, key: usize, iteration: impl FnOnce(&mut Tape<'_>)) {
        let base = self.base();
        assert!(self.vm.start_recording(key, base, 0));
        self.go_on(iteration);
    }

    /// Records more in the recording in progress.
    pub fn go_on(&mut self, iteration: impl FnOnce(&mut Tape<'_>)) {
        let (base, ids) = (self.base(), self.ids);
        let (recorder, schema) = self.vm.recorder().expect("a recording is in progress");
        iteration(&mut Tape { recorder, schema, ids, base });
    }

    /// Records and closes.
    pub fn record(&mut self, key: usize, iteration: impl FnOnce(&mut Tape<'_>)) -> CloseOutcome {
        self.begin(key, iteration);
        self.vm.close_recording()
    }

    /// Runs the code that a back edge offers; gives the exit's kind and the word to go on at.
    pub fn run(&mut self, key: usize) -> Option<(ExitKind, u64)> {
        let Action::Run(run) = self.back_edge(key) else { return None };
        self.call(run)
    }

    /// Runs code that was offered for the frame as it is.
    pub fn call(&mut self, Run { code, .. }: Run) -> Option<(ExitKind, u64)> {
        let context: *mut c_void = (&raw mut self.counted).cast();
        let base: *mut u8 = self.frame[self.first..].as_mut_ptr().cast();
        // SAFETY: the code was just offered for this frame; `count` gets its counter as the context.
        let left = unsafe { code.call(context, base) };
        // SAFETY: as above, and the frame is larger than any exit needs.
        let exit = unsafe { self.vm.exit(left, context) };
        exit.kind().map(|kind| (kind, exit.frames[0].words[0]))
    }
}

/// A loop that is left in its first iteration where i is not below 0:
/// `while 0 < n: i = i + 1; if i > 0 then leave`, with i and n in slots 0 and 1.
pub fn leaves_at_once(tape: &mut Tape<'_>) {
    tape.add(0, 3, 0, 1);
    tape.at(1, 3);
    let (i, zero) = (tape.int(0), tape.constant(0));
    let go_on = tape.op2(Op::IntLe, i, zero);
    tape.guard(go_on, ExitKind::Guard);
}
