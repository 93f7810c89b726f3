//! The interpreter, and where Tracelift is embedded in it.
//!
//! Problem: an interpreter must go on being one: exact, simple, and the oracle of its own JIT. Design:
//! [`Machine::run`] is a loop over operations. Tracelift appears in it at three places: a recording sees each
//! operation first (`record.rs`), a back edge counts and may enter code (`back_edge`), and an exit rebuilds
//! the frames (`enter`). With the JIT off none of them does anything.
//!
//! Invariant: compiled code is entered only when the frames that its exits may push fit, so what an exit
//! needs is there, and the depth limit strikes at the same call as in the interpreter.
//!
//! ```
//! use tracelift_boxed::{Machine, Number, Options, Outcome, SEED_002};
//! let mut machine = Machine::new(SEED_002, Options::default()).unwrap();
//! let result = machine.run("f", &[Number::Integer(3)], 1000);
//! assert_eq!(result, Ok(Outcome::Finished(Number::Integer(3 + 2 + 1 - 300))));
//! ```

use std::rc::Rc;

use tracelift_core::{ExitKind, Schema, Trace};
use tracelift_runtime::recorder::{Closed, Finished};
use tracelift_runtime::{AbortReason, Action, CloseOutcome, Config, LinkedEntry, Run, Vm};

use crate::code::{compile, Code, Op, Slot};
use crate::heap::{Context, Heap, Number, Object, Ref, Refused, COLLECT_AFTER, INTEGER};
use crate::host::{describe, Host};
use crate::parse::parse;
use crate::record::Tape;

/// Frames at most.
const MAX_FRAMES: usize = 200;
/// Slots of the stack: frames have at most 64 each.
const STACK_SLOTS: usize = (MAX_FRAMES + 2) * 64;
/// Counters of back edges.
const COUNTERS: usize = 64;

/// How a machine is made.
#[derive(Clone, Debug)]
pub struct Options {
    /// Tracelift's settings.
    pub config: Config,
    /// Loops check fuel and garbage; without, they are exactly as in the papers, and may never end.
    pub polls: bool,
    /// Test aid: allocations of compiled code and for exits that find no memory.
    pub refused: Refused,
    /// Keep recorded traces for [`Machine::recorded`].
    pub keep_recorded: bool,
    /// Stop the program when the first recording closes.
    pub stop_when_recorded: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            config: Config::default(),
            polls: true,
            refused: Refused::Never,
            keep_recorded: false,
            stop_when_recorded: false,
        }
    }
}

impl Options {
    /// Interpretation alone.
    pub fn interpreter() -> Options {
        Options { config: Config { enabled: false, ..Config::default() }, ..Options::default() }
    }
}

/// What became of a run.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// The function returned this.
    Finished(Number),
    /// The fuel was used up in a loop of a function; its live variables, by slot.
    OutOfFuel(String, Vec<(Slot, Number)>),
    /// Calls nest too deep.
    TooDeep,
    /// A recording closed, as asked for.
    Recorded,
}

/// A frame of the interpreter.
#[derive(Clone, Copy, Debug)]
struct Frame {
    function: usize,
    /// The next operation.
    pc: usize,
    /// Its first slot in the stack.
    base: usize,
}

/// Memory that compiled code knows by address: it never moves, and is used through this pointer only.
struct Pinned<T: ?Sized>(*mut T);

impl<T: ?Sized> Pinned<T> {
    fn new(value: Box<T>) -> Pinned<T> {
        Pinned(Box::into_raw(value))
    }

    fn get(&mut self) -> &mut T {
        // SAFETY: it came from a box; compiled code uses it only while it runs, when no such borrow is alive.
        unsafe { &mut *self.0 }
    }
}

impl<T: ?Sized> Drop for Pinned<T> {
    fn drop(&mut self) {
        // SAFETY: it came from a box and is not used again.
        drop(unsafe { Box::from_raw(self.0) });
    }
}

/// An interpreter instance with its JIT.
pub struct Machine {
    program: Rc<[Code]>,
    vm: Vm,
    host: Host,
    context: Pinned<Context>,
    counters: Pinned<[i32]>,
    stack: Pinned<[Ref]>,
    frames: Vec<Frame>,
    /// Number of frames when the recording in progress was started, and its loop.
    recording: Option<(usize, usize)>,
    recorded: Vec<Trace>,
    options: Options,
}

impl Machine {
    /// A machine for a program.
    pub fn new(source: &str, options: Options) -> Result<Machine, String> {
        let program: Rc<[Code]> = compile(&parse(source)?, options.polls)?.into();
        let mut vm = Vm::new(options.config.clone()).map_err(|error| error.to_string())?;
        let host = describe(vm.schema_mut());
        let mut heap = Heap::default();
        heap.refused = options.refused;
        let context = Pinned::new(Box::new(Context { fuel: 0, debt: 0, heap }));
        for layout in host.layouts {
            // SAFETY: the context lives as long as the machine, whose field `vm` is dropped without using it.
            unsafe { vm.set_reserve(layout, crate::heap::reserve, context.0.cast()) };
        }
        let mut counters = Pinned::new(vec![0i32; COUNTERS].into_boxed_slice());
        // SAFETY: the counters live as long as the machine, whose field `vm` is dropped without using them.
        unsafe { vm.set_counters(counters.get().as_mut_ptr(), COUNTERS) };
        Ok(Machine {
            program,
            vm,
            host,
            context,
            counters,
            stack: Pinned::new(vec![0; STACK_SLOTS].into_boxed_slice()),
            frames: Vec::new(),
            recording: None,
            recorded: Vec::new(),
            options,
        })
    }

    /// The JIT, for statistics.
    pub fn vm(&self) -> &Vm {
        &self.vm
    }

    /// What the JIT was told of this host.
    pub fn schema(&self) -> &Schema {
        self.vm.schema()
    }

    /// Traces recorded so far, if they are kept.
    pub fn recorded(&self) -> &[Trace] {
        &self.recorded
    }

    /// The heap, for its counts.
    pub fn heap(&mut self) -> &Heap {
        &self.context.get().heap
    }

    /// Calls a function; at most `fuel` loop iterations are begun, if loops poll.
    pub fn run(&mut self, function: &str, args: &[Number], fuel: i64) -> Result<Outcome, String> {
        let program = Rc::clone(&self.program);
        let number = program.iter().position(|code| code.name == function);
        let number = number.ok_or_else(|| format!("there is no function '{function}'"))?;
        if program[number].params != args.len() {
            return Err(format!("{function} takes {} arguments", program[number].params));
        }
        self.frames.clear();
        self.frames.push(Frame { function: number, pc: 0, base: 0 });
        self.context.get().fuel = fuel;
        for (slot, &arg) in args.iter().enumerate() {
            self.stack.get()[slot] = self.context.get().heap.boxed(arg);
        }
        loop {
            if let Some(outcome) = self.step(&program) {
                if self.recording.is_some() {
                    self.abort("program ended");
                }
                return Ok(outcome);
            }
        }
    }

    fn top(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("a running program has a frame")
    }

    fn slot(&mut self, slot: Slot) -> Ref {
        let base = self.top().base;
        self.stack.get()[base + usize::from(slot)]
    }

    fn set_slot(&mut self, slot: Slot, object: Ref) {
        let base = self.top().base;
        self.stack.get()[base + usize::from(slot)] = object;
    }

    fn number(&mut self, slot: Slot) -> Number {
        let object = self.slot(slot);
        self.context.get().heap.number(object)
    }

    fn write_new(&mut self, slot: Slot, number: Number) {
        let context = self.context.get();
        context.debt += 1;
        let object = context.heap.boxed(number);
        self.set_slot(slot, object);
    }

    /// One operation.
    fn step(&mut self, program: &[Code]) -> Option<Outcome> {
        let frame = *self.top();
        let code = &program[frame.function];
        let op = &code.ops[frame.pc];
        if self.recording.is_some() {
            self.record(program, frame, op);
        }
        self.top().pc += 1;
        match op {
            Op::Integer { dst, value } => self.write_new(*dst, Number::Integer(*value)),
            Op::Float { dst, value } => self.write_new(*dst, Number::Float(*value)),
            Op::Move { dst, src } => {
                let object = self.slot(*src);
                self.set_slot(*dst, object);
            }
            Op::Add { dst, receiver, argument } => {
                let sum = add(self.number(*receiver), self.number(*argument));
                self.write_new(*dst, sum);
            }
            Op::Jump { target } => return self.jump(frame.pc, *target),
            Op::Branch { src, target, when } => {
                if is_positive(self.number(*src)) == *when {
                    return self.jump(frame.pc, *target);
                }
            }
            Op::Call { function, args, .. } => {
                if self.frames.len() >= MAX_FRAMES {
                    return Some(Outcome::TooDeep);
                }
                let base = frame.base + code.slots;
                for (index, &arg) in args.iter().enumerate() {
                    self.stack.get()[base + index] = self.slot(arg);
                }
                self.frames.push(Frame { function: *function, pc: 0, base });
            }
            Op::Return { src } => {
                let object = self.slot(*src);
                self.frames.pop();
                let Some(&caller) = self.frames.last() else {
                    return Some(Outcome::Finished(self.context.get().heap.number(object)));
                };
                let dst = program[caller.function].ops[caller.pc - 1].dst();
                self.set_slot(dst.expect("a call has a destination"), object);
            }
            Op::Poll => return self.poll(code, frame),
        }
        None
    }

    fn poll(&mut self, code: &Code, frame: Frame) -> Option<Outcome> {
        if self.context.get().fuel <= 0 {
            let live = code.live[frame.pc];
            let slots = (0..code.slots as Slot).filter(|slot| live >> slot & 1 == 1);
            let values = slots.map(|slot| (slot, self.number(slot))).collect();
            return Some(Outcome::OutOfFuel(code.name.clone(), values));
        }
        self.collect_if_due();
        self.context.get().fuel -= 1;
        None
    }

    fn jump(&mut self, from: usize, target: usize) -> Option<Outcome> {
        self.top().pc = target;
        if target <= from {
            return self.back_edge();
        }
        None
    }

    /// The program is at a loop head, coming from the loop's end.
    fn back_edge(&mut self) -> Option<Outcome> {
        let frame = *self.top();
        let key = key(frame.function, frame.pc);
        if let Some((depth, recorded)) = self.recording {
            if (depth, recorded) == (self.frames.len(), key) {
                self.close();
                if self.options.stop_when_recorded {
                    return Some(Outcome::Recorded);
                }
            } else {
                self.abort("inner loop");
            }
        }
        let counter = &mut self.counters.get()[(key ^ key >> 32) % COUNTERS];
        *counter -= 1;
        if *counter >= 0 {
            return None;
        }
        let counter = std::ptr::from_ref(counter);
        // SAFETY: the base is that of the current frame's slots, and every trace of this loop names slots of
        // that frame or of frames above it, for which the stack has room.
        match unsafe { self.vm.hot(key, counter, self.base_of(frame)) } {
            Action::Nothing => {}
            Action::Run(Run { code, needs }) => {
                if self.frames.len() + needs.frames as usize <= MAX_FRAMES {
                    self.enter(code, frame);
                }
            }
            Action::Record => {
                self.vm.start_recording(key, self.base_of(frame), 0);
                self.recording = Some((self.frames.len(), key));
            }
        }
        None
    }

    fn base_of(&self, frame: Frame) -> *mut u8 {
        self.stack.0.cast::<Ref>().wrapping_add(frame.base).cast()
    }

    /// Runs compiled code for the current frame and rebuilds the frames where it left.
    fn enter(&mut self, code: LinkedEntry, frame: Frame) {
        let (context, base) = (self.context.0, self.base_of(frame));
        // SAFETY: the code was made for this context and stack; its entry was chosen by `hot` for this frame.
        let left = unsafe { code.call(context.cast(), base) };
        self.context.get().heap.lifting = true;
        // SAFETY: this machine's code was just called so and left so; the frames and slots that the exit may
        // need were secured in `back_edge`.
        let exit = unsafe { self.vm.exit(left, context.cast()) };
        if exit.kind.is_some() {
            self.frames.pop();
            self.frames.extend(exit.frames.iter().map(|resumed| Frame {
                function: resumed.words[0] as usize,
                pc: resumed.words[1] as usize,
                base: frame.base + resumed.base as usize,
            }));
        }
        self.context.get().heap.lifting = false;
        // The exit may have made objects, and the loop need not look at the debt.
        self.collect_if_due();
    }

    fn collect_if_due(&mut self) {
        let frame = *self.top();
        let top = frame.base + self.program[frame.function].slots;
        let context = self.context.get();
        if context.debt > COLLECT_AFTER {
            context.heap.collect(&self.stack.get()[..top]);
            context.debt = 0;
        }
    }

    /// The operation is about to be executed.
    fn record(&mut self, program: &[Code], frame: Frame, op: &Op) {
        let Some((depth, head)) = self.recording else { return };
        let class = |machine: &mut Machine, slot: Slot| {
            let object = machine.slot(slot);
            // SAFETY: slots that are read hold objects.
            unsafe { (*(object as *const Object)).class }
        };
        // What must be looked at before the recording is borrowed.
        let (classes, outcome) = match op {
            Op::Add { receiver, argument, .. } => ([class(self, *receiver), class(self, *argument)], false),
            Op::Branch { src, .. } => ([class(self, *src), INTEGER], is_positive(self.number(*src))),
            _ => ([INTEGER; 2], false),
        };
        let code = &program[frame.function];
        let words = |pc: usize| [frame.function as u64, pc as u64];
        let live_bytes = |live: u64| live.to_le_bytes();
        let used = code.slots.div_ceil(8);
        let base = self.base_of(self.frames[depth - 1]);
        let out_of_fuel = self.context.get().fuel <= 0;
        let Some((recorder, schema)) = self.vm.recorder() else { return };
        recorder.resume_point(base, &words(frame.pc), &live_bytes(code.live[frame.pc])[..used]);
        let mut tape = Tape { recorder, schema, host: &self.host };
        let mut reason = None;
        let result = match op {
            Op::Integer { value, .. } => tape.integer(*value),
            Op::Float { value, .. } => tape.float(*value),
            Op::Move { src, .. } => tape.read(*src),
            Op::Add { receiver, argument, .. } => {
                let (receiver, argument) = (tape.read(*receiver), tape.read(*argument));
                receiver
                    .zip(argument)
                    .and_then(|(receiver, argument)| tape.add((receiver, classes[0]), (argument, classes[1])))
            }
            Op::Branch { src, target, when } => {
                let closes = self.frames.len() == depth && key(frame.function, *target) == head;
                let kind = if closes && *when { ExitKind::LoopEnd } else { ExitKind::Guard };
                if let Some(object) = tape.read(*src) {
                    tape.is_positive((object, classes[0]), outcome, kind);
                }
                if closes && outcome != *when {
                    reason = Some("loop ended");
                }
                None
            }
            Op::Call { dst, args, .. } => {
                let values: Vec<_> = args.iter().map(|&arg| tape.read(arg)).collect();
                // The destination is not live while the callee runs: it is written when that returns.
                let live = code.live[frame.pc + 1] & !(1 << dst);
                let (words, live) = (words(frame.pc + 1), live_bytes(live));
                tape.recorder.push_frame(code.slots as i32, &words, &live[..used]);
                for (index, value) in values.into_iter().enumerate() {
                    value.into_iter().for_each(|value| tape.write(index as Slot, value));
                }
                None
            }
            Op::Return { .. } if self.frames.len() == depth => {
                reason = Some("function returned");
                None
            }
            Op::Return { src } => {
                let caller = self.frames[self.frames.len() - 2];
                tape.return_to(program[caller.function].ops[caller.pc - 1].dst(), *src);
                None
            }
            Op::Poll => {
                if out_of_fuel {
                    reason = Some("out of fuel");
                }
                tape.poll();
                None
            }
            Op::Jump { .. } => None,
        };
        if let (Some(value), Some(dst), false) = (result, op.dst(), matches!(op, Op::Call { .. })) {
            tape.write(dst, value);
        }
        if reason.is_some() || tape.recorder.failure().is_some() {
            self.abort(reason.unwrap_or("recording failed"));
        }
    }

    fn close(&mut self) {
        self.recording = None;
        if self.options.keep_recorded {
            if let Some((recorder, schema)) = self.vm.recorder() {
                if let Ok(Closed::Loop(Finished { trace, .. })) = recorder.clone().close(schema) {
                    self.recorded.push(*trace);
                }
            }
        }
        if let CloseOutcome::Again = self.vm.close_recording() {
            // Cannot happen with untagged slots; another host would go on recording.
            self.vm.abort_recording(AbortReason::Unstable);
        }
    }

    fn abort(&mut self, reason: &str) {
        self.recording = None;
        self.vm.abort_recording(AbortReason::Host(reason.into()));
    }
}

/// The key of a loop head.
fn key(function: usize, pc: usize) -> usize {
    (function << 32 | pc) + 1
}

/// `receiver.add(argument)`: integers wrap, a float makes the result a float.
fn add(receiver: Number, argument: Number) -> Number {
    use Number::{Float, Integer};
    match (receiver, argument) {
        (Integer(a), Integer(b)) => Integer(a.wrapping_add(b)),
        (Integer(a), Float(b)) => Float(a as f64 + b),
        (Float(a), Integer(b)) => Float(a + b as f64),
        (Float(a), Float(b)) => Float(a + b),
    }
}

fn is_positive(number: Number) -> bool {
    match number {
        Number::Integer(value) => value > 0,
        Number::Float(value) => value > 0.0,
    }
}
