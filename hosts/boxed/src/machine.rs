//! The interpreter, and where Tracelift is embedded in it.
//!
//! Problem: an interpreter must go on being one: exact, simple, and the oracle of its own JIT. Design:
//! [`Machine::run`] is a loop over operations. Tracelift appears in it at three places: a recording sees each
//! operation first (`recording.rs`); back edges count and may enter code (`back_edge`), and so do the entries
//! of functions that call themselves (`at_entry`); an exit rebuilds the frames (`enter`), after which other
//! code may go on, or a recording begin (`act`). With the JIT off none of them does anything.
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
use tracelift_runtime::{Action, Config, LinkedEntry, Run, UnitLimit, Vm};

use crate::code::{compile, Code, Op, Slot};
use crate::frames::{Frame, Frames};
use crate::heap::{Context, Heap, Number, Ref, Refused, COLLECT_AFTER};
use crate::host::{describe, Host};
use crate::parse::parse;

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
    /// Functions that call themselves may be units: code that code calls.
    pub units: bool,
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
            units: true,
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

/// Memory that compiled code knows by address: it never moves, and is used through this pointer only.
pub(crate) struct Pinned<T: ?Sized>(*mut T);

impl<T: ?Sized> Pinned<T> {
    fn new(value: Box<T>) -> Pinned<T> {
        Pinned(Box::into_raw(value))
    }

    pub fn get(&mut self) -> &mut T {
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

/// Where a recording begins, if there is to be one.
#[derive(Clone, Copy)]
enum Start {
    /// The loop whose head the program is at.
    Loop,
    /// The entry that the program is at.
    Entry,
    /// The exit that was just taken: the first slot of the frame that its frames are counted from, and the
    /// depth of the outermost of these.
    Exit { origin: usize, bottom: usize },
}

/// A recording in progress.
#[derive(Clone, Copy)]
pub(crate) struct Recording {
    /// The loop where it closes, if it began at a head.
    pub head: Option<usize>,
    /// The entry where it began, if it did.
    pub entry: Option<usize>,
    /// First slot of the frame that its code is entered with.
    pub origin: usize,
    /// Depth of its outermost frame.
    pub bottom: usize,
    /// Whether that one has just been returned to.
    pub has_returned: bool,
    /// Whether an operation was recorded.
    pub is_started: bool,
    /// Jumps back to loops without code.
    pub edges: u32,
    /// Whether it is one of a unit.
    pub is_unit: bool,
    /// Whether it has called a unit, at whose result nobody has looked.
    pub has_called: bool,
}

impl Recording {
    /// One that begins at this loop's head, or at none, in these frames.
    pub fn new(head: Option<usize>, origin: usize, bottom: usize) -> Recording {
        Recording {
            head,
            entry: None,
            origin,
            bottom,
            has_returned: false,
            is_started: false,
            edges: 0,
            is_unit: false,
            has_called: false,
        }
    }
}

/// A recording that waits for the unit that its frame has called.
pub(crate) struct Waiting {
    pub recording: Recording,
    /// The number of frames when it goes on.
    pub depth: usize,
    /// What the library wakes it by.
    pub number: u32,
}

/// What a machine knows of units.
#[derive(Default)]
pub(crate) struct Units {
    /// Functions that have turned out to be none.
    pub plain: Vec<bool>,
    /// Outermost first.
    pub waiting: Vec<Waiting>,
    /// Where they must end; none before the first one.
    pub limit: Option<*mut UnitLimit>,
    /// Of all functions: slots of the smallest frame, and of the largest.
    pub slots: [usize; 2],
}

impl Units {
    /// For this program.
    fn new(program: &[Code]) -> Units {
        let slots = || program.iter().map(|code| code.slots.max(1));
        let slots = [slots().min().unwrap_or(1), slots().max().unwrap_or(1)];
        Units { plain: vec![false; program.len()], slots, ..Units::default() }
    }
}

/// An interpreter instance with its JIT.
pub struct Machine {
    pub(crate) program: Rc<[Code]>,
    pub(crate) vm: Vm,
    pub(crate) host: Host,
    pub(crate) context: Pinned<Context>,
    /// Of back edges.
    counters: Pinned<[i32]>,
    /// Of entries, one for each function.
    entries: Pinned<[i32]>,
    stack: Pinned<[Ref]>,
    pub(crate) recording: Option<Recording>,
    pub(crate) units: Units,
    pub(crate) recorded: Vec<Trace>,
    pub(crate) options: Options,
    interpreted: u64,
}

impl Machine {
    /// A machine for a program.
    pub fn new(source: &str, options: Options) -> Result<Machine, String> {
        let program: Rc<[Code]> = compile(&parse(source)?, options.polls)?.into();
        let mut vm = Vm::new(options.config.clone()).map_err(|error| error.to_string())?;
        let host = describe(vm.schema_mut());
        let mut heap = Heap::default();
        heap.refused = options.refused;
        let context =
            Pinned::new(Box::new(Context { fuel: 0, debt: 0, frames: Frames::new(MAX_FRAMES), heap }));
        for layout in host.layouts {
            // SAFETY: the context lives as long as the machine, whose field `vm` is dropped without using it.
            unsafe { vm.set_reserve(layout, crate::heap::reserve, context.0.cast()) };
        }
        let mut counters = Pinned::new(vec![0i32; COUNTERS].into_boxed_slice());
        // SAFETY: the counters live as long as the machine, whose field `vm` is dropped without using them.
        unsafe { vm.set_counters(counters.get().as_mut_ptr(), COUNTERS) };
        let mut entries = Pinned::new(vec![0i32; program.len()].into_boxed_slice());
        for counter in entries.get() {
            // SAFETY: as above.
            unsafe { vm.add_counter(counter) };
        }
        let units = Units::new(&program);
        Ok(Machine {
            program,
            vm,
            host,
            context,
            counters,
            entries,
            stack: Pinned::new(vec![0; STACK_SLOTS].into_boxed_slice()),
            recording: None,
            units,
            recorded: Vec::new(),
            options,
            interpreted: 0,
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

    /// Operations that were interpreted so far.
    pub fn interpreted(&self) -> u64 {
        self.interpreted
    }

    /// Calls a function; at most `fuel` loop iterations are begun, if loops poll.
    pub fn run(&mut self, function: &str, args: &[Number], fuel: i64) -> Result<Outcome, String> {
        let program = Rc::clone(&self.program);
        let number = program.iter().position(|code| code.name == function);
        let number = number.ok_or_else(|| format!("there is no function '{function}'"))?;
        if program[number].params != args.len() {
            return Err(format!("{function} takes {} arguments", program[number].params));
        }
        let frames = &mut self.context.get().frames;
        frames.clear();
        frames.push(Frame { function: number, pc: 0, base: 0 });
        self.context.get().fuel = fuel;
        for (slot, &arg) in args.iter().enumerate() {
            self.stack.get()[slot] = self.context.get().heap.boxed(arg);
        }
        self.at_entry();
        loop {
            if let Some(outcome) = self.step(&program) {
                if self.recording.is_some() {
                    self.abort("program ended");
                }
                self.forget_waiting(0);
                return Ok(outcome);
            }
        }
    }

    /// The frame that runs.
    pub(crate) fn top(&mut self) -> Frame {
        self.context.get().frames.top()
    }

    pub(crate) fn slot(&mut self, slot: Slot) -> Ref {
        let base = self.top().base;
        self.stack.get()[base + usize::from(slot)]
    }

    fn set_slot(&mut self, slot: Slot, object: Ref) {
        let base = self.top().base;
        self.stack.get()[base + usize::from(slot)] = object;
    }

    pub(crate) fn number(&mut self, slot: Slot) -> Number {
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
        let frame = self.top();
        let code = &program[frame.function];
        let op = &code.ops[frame.pc];
        if self.recording.is_some() {
            self.record(frame, op);
        }
        self.interpreted += 1;
        self.context.get().frames.top_mut().pc += 1;
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
                if self.recording.is_some_and(|now| now.has_called) {
                    self.put_aside();
                }
                if self.context.get().frames.room() == 0 {
                    return Some(Outcome::TooDeep);
                }
                let base = frame.base + code.slots;
                for (index, &arg) in args.iter().enumerate() {
                    self.stack.get()[base + index] = self.slot(arg);
                }
                self.context.get().frames.push(Frame { function: *function, pc: 0, base });
                self.at_entry();
            }
            Op::Return { src } => {
                let object = self.slot(*src);
                let context = self.context.get();
                context.frames.pop();
                if context.frames.depth() == 0 {
                    return Some(Outcome::Finished(context.heap.number(object)));
                }
                let caller = self.top();
                let dst = program[caller.function].ops[caller.pc - 1].dst();
                self.set_slot(dst.expect("a call has a destination"), object);
                self.wake();
                self.at_entry();
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
        self.context.get().frames.top_mut().pc = target;
        if target <= from {
            return self.back_edge();
        }
        None
    }

    /// The program is at a loop head, coming from the loop's end.
    fn back_edge(&mut self) -> Option<Outcome> {
        let frame = self.top();
        let key = key(frame);
        let has_closed = self.recording.is_some() && self.record_back_edge(key);
        if has_closed && self.options.stop_when_recorded {
            return Some(Outcome::Recorded);
        }
        let counter = &mut self.counters.get()[(key ^ key >> 32) % COUNTERS];
        *counter -= 1;
        if *counter >= 0 {
            return None;
        }
        let counter = std::ptr::from_ref(counter);
        // SAFETY: the base is that of the current frame's slots, and every trace of this loop names slots of
        // that frame or of frames above it, for which the stack has room.
        let action = unsafe { self.vm.hot(key, counter, self.base_at(frame.base)) };
        self.act(action, Start::Loop);
        None
    }

    /// The program has come to a function, or back to one: that may be an entry.
    fn at_entry(&mut self) {
        let action = self.count_entry();
        self.act(action, Start::Entry);
    }

    fn count_entry(&mut self) -> Action {
        let frame = self.top();
        // A unit's calls come back into the unit.
        let is_in_unit = frame.pc > 0 && self.may_be_unit(frame.function);
        if !self.program[frame.function].entries[frame.pc] || is_in_unit {
            return Action::Nothing;
        }
        let counter = &mut self.entries.get()[frame.function];
        *counter -= 1;
        if *counter >= 0 {
            return Action::Nothing;
        }
        let counter = std::ptr::from_ref(counter);
        // SAFETY: as in `back_edge`. What returns to frames below has seen that these are there.
        unsafe { self.vm.hot(entry_key(frame), counter, self.base_at(frame.base)) }
    }

    /// Where slots lie in memory.
    pub(crate) fn base_at(&self, slot: usize) -> *mut u8 {
        self.stack.0.cast::<Ref>().wrapping_add(slot).cast()
    }

    /// Runs code, as long as there is some, and then records what comes next, if that is wanted.
    fn act(&mut self, mut action: Action, mut start: Start) {
        loop {
            match action {
                Action::Nothing => return,
                Action::Record => return self.start_recording(start),
                Action::Run(Run { code, needs }) => {
                    if needs.frames as usize > self.context.get().frames.room() {
                        return self.vm.declined();
                    }
                    let Some((kind, exit)) = self.enter(code) else { return };
                    // The exit may have made objects, and the loop need not look at the debt.
                    self.collect_if_due();
                    let base = self.top().base;
                    // SAFETY: the frames are those of the exit, and this is the innermost one's base.
                    action = unsafe { self.vm.next(self.base_at(base)) };
                    start = exit;
                    if kind == ExitKind::Finish {
                        start = Start::Entry;
                        if let Action::Nothing = action {
                            action = self.count_entry();
                        }
                    }
                }
            }
        }
    }

    /// Runs compiled code for the current frame and rebuilds the frames where it left.
    fn enter(&mut self, code: LinkedEntry) -> Option<(ExitKind, Start)> {
        let base = self.top().base;
        self.set_limit();
        let (context, base) = (self.context.0, self.base_at(base));
        // SAFETY: the code was made for this context and stack; its entry was chosen by `hot` or `next` for
        // this frame.
        let left = unsafe { code.call(context.cast(), base) };
        self.context.get().heap.lifting = true;
        // SAFETY: this machine's code was just called so and left so; the frames and slots that the exit may
        // need were secured in `act`, and by the code where it has made frames.
        let exit = unsafe { self.vm.exit(left, context.cast()) };
        self.context.get().heap.lifting = false;
        let kind = exit.kind()?;
        let origin = (exit.base as usize - self.stack.0.cast::<Ref>() as usize) / size_of::<Ref>();
        let bottom = self.context.get().frames.rebuild(exit.frames, exit.outer, origin);
        let origin = match exit.outer {
            0 => origin,
            _ => self.context.get().frames.at(bottom).base,
        };
        let depth = self.context.get().frames.depth();
        self.forget_waiting(depth.saturating_sub(1));
        Some((kind, Start::Exit { origin, bottom }))
    }

    fn start_recording(&mut self, start: Start) {
        let frame = self.top();
        let bottom = self.context.get().frames.depth();
        if matches!(start, Start::Entry) && frame.pc == 0 && self.may_be_unit(frame.function) {
            return self.record_unit(frame, bottom);
        }
        let (head, entry, origin, bottom) = match start {
            Start::Loop => (Some(key(frame)), None, frame.base, bottom),
            Start::Entry => (None, Some(entry_key(frame)), frame.base, bottom),
            Start::Exit { origin, bottom } => (None, None, origin, bottom),
        };
        let base = self.base_at(origin);
        let is_started = match head.or(entry) {
            Some(key) => self.vm.start_recording(key, base, 0),
            None => self.vm.start_side(base) && self.tell_frames(bottom),
        };
        let is_unit = self.vm.recorder().is_some_and(|(recorder, _)| recorder.unit().is_some());
        self.recording =
            is_started.then_some(Recording { entry, is_unit, ..Recording::new(head, origin, bottom) });
    }

    fn collect_if_due(&mut self) {
        let frame = self.top();
        let top = frame.base + self.program[frame.function].slots;
        let context = self.context.get();
        if context.debt > COLLECT_AFTER {
            context.heap.collect(&self.stack.get()[..top]);
            context.debt = 0;
        }
    }
}

/// The key of the loop whose head is the frame's next operation.
pub(crate) fn key(frame: Frame) -> usize {
    (frame.function << 32 | frame.pc) + 1
}

/// The key of the entry there, which is another one.
pub(crate) fn entry_key(frame: Frame) -> usize {
    key(frame) | 1 << 62
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

pub(crate) fn is_positive(number: Number) -> bool {
    match number {
        Number::Integer(value) => value > 0,
        Number::Float(value) => value > 0.0,
    }
}
