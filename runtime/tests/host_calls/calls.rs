//! Calls of the host for the host of a few lines: one function that traces call, and that does what a test
//! says.
//!
//! Problem: such a function finds the whole host again, runs other code in it, and comes back into code that
//! is still running. Design: the host lies in a [`Nest`], of which the function of this thread knows the
//! address; what it does is the test's closure, which gets a [`Visit`]. All references to the host are made
//! anew, and live no longer than until the next code is entered. The frame's lower half belongs to the loop
//! that calls, the upper half to what runs in the call. Invariant: the function announces itself as
//! `tl_call_begin` and `tl_call_end` do, and answers null if the closure says so or the VM wants it.
//!
//! Example: `nest.on_call(|visit| { visit.set(4, int(7)); true })`, and in a recording
//! `tape.call_host(calls, 1, &[4])`.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::rc::Rc;

use tracelift_core::schema::{Cell as SchemaCell, CellId, Func, FuncEffects, FuncId, SlotCells, TagId};
use tracelift_core::{ExitKind, Op, Payload, Type, Value};
use tracelift_runtime::{Action, CloseOutcome, Config, Run, TraceId, Vm};

use crate::support::{int, Host, Slot, Tape};

type OnCall = Rc<dyn Fn(&Visit<'_>) -> bool>;

thread_local! {
    static HOST: Cell<*mut Host> = const { Cell::new(std::ptr::null_mut()) };
    static ON_CALL: RefCell<Option<OnCall>> = const { RefCell::new(None) };
    /// A panic in the function, which must not leave it through compiled code.
    static FAILED: RefCell<Option<Box<dyn std::any::Any + Send>>> = const { RefCell::new(None) };
}

/// A host that its own functions find again.
pub struct Nest {
    host: *mut Host,
    pub calls: Calls,
}

/// What the schema calls the function and the slots' cells.
#[derive(Clone, Copy)]
pub struct Calls {
    pub func: FuncId,
    pub cells: SlotCells,
}

impl Calls {
    pub fn declare(vm: &mut Vm) -> Calls {
        let schema = vm.schema_mut();
        let [value, tag] = ["slot.value", "slot.tag"].map(|name| schema.alias_class(name));
        let names = ["slot.int", "slot.float", "slot.ref", "slot.addr"];
        let mut cells = SlotCells { value: [CellId::default(); 4], tag: None };
        for (ty, name) in Type::ALL.iter().zip(names) {
            cells.value[*ty as usize] = schema.add_cell(SchemaCell::new(name, 0, *ty, value));
        }
        let byte = SchemaCell { width: 1, ..SchemaCell::new("slot.tag", 8, Type::Int, tag) };
        cells.tag = Some(schema.add_cell(byte));
        schema.set_slot_cells(cells);
        let func = schema.add_func(Func {
            name: "host".into(),
            params: vec![Type::Addr, Type::Addr, Type::Addr, Type::Int],
            result: Some(Type::Addr),
            effects: FuncEffects::pure().reentering(),
            address: host as *const () as usize,
            evaluable: false,
        });
        Calls { func, cells }
    }
}

/// The host's function in a call.
pub struct Visit<'a> {
    /// Where the frame's slots are.
    pub frame: *mut Slot,
    /// The call site: its words.
    pub site: *const u64,
    /// What it is called with.
    pub number: i64,
    marker: std::marker::PhantomData<&'a ()>,
}

extern "C" fn host(_context: *mut c_void, frame: *mut Slot, site: *const u64, number: i64) -> *const Slot {
    let mark = 0u8;
    let stack = std::ptr::from_ref(std::hint::black_box(&mark)) as usize;
    let visit = Visit { frame, site, number, marker: std::marker::PhantomData };
    let on_call = ON_CALL.with_borrow(|on_call| on_call.clone()).expect("the test says what is done");
    let epoch = visit.host().vm.begin_call(stack);
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| on_call(&visit)));
    let goes_on = caught.unwrap_or_else(|panic| {
        FAILED.set(Some(panic));
        false
    });
    let trace = visit.trace();
    if visit.host().vm.end_call(trace, stack, epoch) && goes_on {
        return frame;
    }
    std::ptr::null()
}

impl Visit<'_> {
    /// The host. Not to be held while other code runs.
    #[expect(clippy::mut_from_ref, reason = "each reference is used before the next is made")]
    pub fn host(&self) -> &mut Host {
        // SAFETY: the nest lives as long as its code runs; tests hold no two of these at a time.
        unsafe { &mut *HOST.get() }
    }
    /// What memory holds in a slot.
    pub fn slot(&self, slot: usize) -> Slot {
        // SAFETY: tests name slots of the frame.
        unsafe { *self.frame.add(slot) }
    }
    /// The integer in a slot.
    pub fn int(&self, slot: usize) -> i64 {
        assert_eq!(self.slot(slot).tag, crate::support::INT, "slot {slot} holds an integer");
        self.slot(slot).payload as i64
    }
    pub fn ints<const N: usize>(&self, slots: [usize; N]) -> [i64; N] {
        slots.map(|slot| self.int(slot))
    }
    /// Changes a slot in memory.
    pub fn set(&self, slot: usize, value: Slot) {
        // SAFETY: as above.
        unsafe { *self.frame.add(slot) = value };
    }
    fn word(&self, word: usize) -> u64 {
        // SAFETY: tests read no more words than the site has.
        unsafe { *self.site.add(word) }
    }
    /// The trace that calls.
    pub fn trace(&self) -> TraceId {
        TraceId((self.word(0) >> 32) as u32)
    }
    /// The room that the code needs: slots and frames.
    pub fn room(&self) -> (u32, u32) {
        (self.word(1) as u32, (self.word(1) >> 32) as u32)
    }
    /// The frames: their bases and first words.
    pub fn frames(&self) -> Vec<(i32, u64)> {
        let count = self.word(0) as u32 as usize;
        let words = size_of::<tracelift_runtime::ExitFrame>() / 8;
        (0..count).map(|n| (self.word(2 + n * words) as i32, self.word(3 + n * words))).collect()
    }
    /// Runs the code of another loop on the frame's upper half, and restores what it leaves.
    pub fn run(&self, key: usize) -> Option<(ExitKind, u64)> {
        run(HOST.get(), key, UPPER)
    }
}

/// Where the upper half of the frame begins.
pub const UPPER: usize = 8;

/// Runs the code that a back edge offers, without holding the host meanwhile.
fn run(host: *mut Host, key: usize, first: usize) -> Option<(ExitKind, u64)> {
    let (code, context, base) = {
        // SAFETY: the nest keeps it, and nobody holds it now.
        let host = unsafe { &mut *host };
        let before = std::mem::replace(&mut host.first, first);
        let action = host.back_edge(key);
        host.first = before;
        let Action::Run(Run { code, .. }) = action else { return None };
        let base: *mut u8 = host.frame[first..].as_mut_ptr().cast();
        (code, (&raw mut host.counted).cast::<c_void>(), base)
    };
    // SAFETY: the code was just offered for this frame.
    let left = unsafe { code.call(context, base) };
    // SAFETY: nobody holds the host now, and the frame is larger than any exit needs.
    let exit = unsafe { (*host).vm.exit(left, context) };
    if let Some(panic) = FAILED.take() {
        std::panic::resume_unwind(panic);
    }
    exit.kind().map(|kind| (kind, exit.frames.last().expect("an exit has frames").words[0]))
}

impl Nest {
    pub fn new(config: Config) -> Nest {
        Nest::of(Config { compile_share: None, ..config })
    }
    /// The same, where compiling may have a share of the time.
    pub fn of(config: Config) -> Nest {
        let mut host = Box::new(Host::new(Config { threshold: 1, ..config }));
        let calls = Calls::declare(&mut host.vm);
        let host = Box::into_raw(host);
        HOST.set(host);
        Nest { host, calls }
    }
    /// The host. Not to be held while code runs.
    #[expect(clippy::mut_from_ref, reason = "each reference is used before the next is made")]
    pub fn host(&self) -> &mut Host {
        // SAFETY: as in `Visit::host`.
        unsafe { &mut *self.host }
    }
    /// What the function does from now on; false: it answers null.
    pub fn on_call(&self, on_call: impl Fn(&Visit<'_>) -> bool + 'static) {
        ON_CALL.set(Some(Rc::new(on_call)));
    }
    /// Runs the loop's code on the frame's lower half.
    pub fn run(&self, key: usize) -> Option<(ExitKind, u64)> {
        run(self.host, key, 0)
    }
    /// The same on the upper half.
    pub fn run_upper(&self, key: usize) -> Option<(ExitKind, u64)> {
        run(self.host, key, UPPER)
    }
    pub fn set(&self, slots: &[Slot]) {
        self.host().frame[..slots.len()].copy_from_slice(slots);
    }
    /// The integers in the frame's first slots.
    pub fn ints<const N: usize>(&self) -> [i64; N] {
        std::array::from_fn(|slot| self.host().frame[slot].payload as i64)
    }
}

impl Drop for Nest {
    fn drop(&mut self) {
        ON_CALL.set(None);
        // SAFETY: it came from a box, and nothing runs any more.
        drop(unsafe { Box::from_raw(self.host) });
    }
}

impl Tape<'_> {
    /// Calls the function with this number; it may change these slots.
    pub fn call_host(&mut self, calls: Calls, number: i64, changed: &[i32]) {
        let number = self.constant(number);
        self.recorder.host_call(calls.func, &[number], changed, self.schema);
    }
    /// Reads a slot of the current frame, which lies at `base`, from memory, and makes it known.
    pub fn know(&mut self, calls: Calls, base: i32, slot: i32, tag: TagId) -> Option<Value> {
        let frame = self.op(Op::FrameBase, &[])?;
        let index = self.constant(i64::from(base + slot));
        let scale = Payload::Scale { stride: 16, offset: 0 };
        let place = self.recorder.emit(Op::ItemAddr, &[frame, index], scale, ExitKind::Guard, self.schema)?;
        let load = |tape: &mut Self, cell| {
            tape.recorder.emit(Op::Load, &[place], Payload::Cell(cell), ExitKind::Guard, tape.schema)
        };
        let found = load(self, calls.cells.tag.expect("slots have tags"))?;
        let (bits, payload) = (self.schema.tag(tag).bits, self.schema.tag(tag).payload);
        let expected = self.constant(bits as i64);
        self.op(Op::GuardValue, &[found, expected]);
        let value = payload.and_then(|ty| load(self, calls.cells.value[ty as usize]));
        self.recorder.know_slot(slot, tag, value, self.schema);
        value
    }
    /// The same of an integer in the entry frame.
    pub fn know_int(&mut self, calls: Calls, slot: i32) -> Value {
        self.know(calls, 0, slot, self.ids.int).expect("an integer")
    }
}

// The loop that calls.

/// The head of the loop that calls.
pub const HEAD: usize = 1;
/// The head of a loop that does not.
pub const OTHER: usize = 2;
/// Live slots at the head, and while r is.
pub const LIVE: u8 = 0b0_1111;
pub const WITH_R: u8 = 0b1_1111;

/// The loop up to the call, which may change these slots.
pub fn first_half(tape: &mut Tape<'_>, calls: Calls, changed: &[i32]) {
    tape.while_less(0, LIVE, 1, 2);
    tape.add(1, LIVE, 1, 1);
    tape.at(2, LIVE);
    tape.call_host(calls, 1, changed);
    tape.at(3, WITH_R);
}

/// What comes after it.
pub fn second_half(tape: &mut Tape<'_>, calls: Calls) {
    let r = tape.know_int(calls, 4);
    let s = tape.int(0);
    let s = tape.op2(Op::IntAdd, s, r);
    tape.write_int(0, s);
    tape.add(4, LIVE, 3, 2);
}

pub fn whole(tape: &mut Tape<'_>, calls: Calls) {
    first_half(tape, calls, &[4]);
    second_half(tape, calls);
}

pub fn compiled(outcome: CloseOutcome) -> TraceId {
    match outcome {
        CloseOutcome::Compiled(number) => number,
        other => panic!("{other:?}"),
    }
}

/// A nest with code for such a loop.
pub fn nest_of(config: Config, iteration: impl FnOnce(&mut Tape<'_>, Calls)) -> Nest {
    let nest = Nest::new(config);
    let calls = nest.calls;
    nest.set(&[int(0), int(0), int(10), int(0), int(0)]);
    assert!(matches!(nest.host().back_edge(HEAD), Action::Record));
    compiled(nest.host().record(HEAD, |tape| iteration(tape, calls)));
    nest
}
