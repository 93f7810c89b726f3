//! Objects for the host of a few lines: pairs of an integer and a reference, which traces make and exits may
//! have to.
//!
//! Problem: exits with virtual objects need an allocator that can refuse, and memory that is held for them.
//! Design: a pair is three words, a class, a number and a link; it is made by a function that takes the next
//! cells of a ring and counts. Told to, it refuses, as an allocator may, but never at an exit, since [`hold`]
//! has promised so. Invariant: a pair stays as it is until [`ROOM`] others were made.
//!
//! Example: `let pair = Pairs::declare(&mut host.vm)` before the first recording; then `tape.new_pair(pair)`.

#![allow(dead_code)] // each test file uses its part

use std::cell::Cell;
use std::ffi::c_void;

use tracelift_core::schema::{Cell as SchemaCell, FieldId, Func, FuncEffects, LayoutId, LayoutSpec, TagId};
use tracelift_core::{ExitKind, Op, Payload, Type, Value};
use tracelift_runtime::Vm;

use crate::support::{Host, Slot, Tape};

/// Pairs at a time.
pub const ROOM: usize = 1 << 14;
/// The tag byte of slots that hold one.
pub const PAIR: u8 = 2;
/// What a pair begins with.
const CLASS: u64 = 0x70616972;

/// The class, the number, the link.
pub type Pair = [u64; 3];

thread_local! {
    static RING: Box<[Cell<Pair>]> = vec![Cell::new([0; 3]); ROOM].into();
    /// How many were made.
    static MADE: Cell<usize> = const { Cell::new(0) };
    /// Which one to come the allocator refuses: 1 is the next one, 0 none.
    static REFUSED: Cell<usize> = const { Cell::new(0) };
    /// Whether an exit is being restored.
    static IS_EXITING: Cell<bool> = const { Cell::new(false) };
}

/// How many pairs were made so far.
pub fn made() -> usize {
    MADE.get()
}

/// Makes the allocator refuse the `number`th pair to come that is not made by an exit; 0: none. The one
/// before, if it was not come to yet.
pub fn refuse(number: usize) -> usize {
    REFUSED.replace(number)
}

/// A new pair, from the interpreter.
pub fn pair(number: i64, link: u64) -> u64 {
    let at = MADE.replace(MADE.get() + 1) % ROOM;
    RING.with(|ring| {
        ring[at].set([CLASS, number as u64, link]);
        ring[at].as_ptr() as u64
    })
}

extern "C" fn make(_context: *mut c_void, _layout: u64, _items: u64, _keys: u64) -> u64 {
    if !IS_EXITING.get() && REFUSED.get() > 0 {
        REFUSED.set(REFUSED.get() - 1);
        if REFUSED.get() == 0 {
            return 0;
        }
    }
    pair(0, 0)
}

/// What a pair holds.
pub fn read(pair: u64) -> Pair {
    // SAFETY: tests pass pairs, and the ring lives as long as its thread; its cells are read and written by
    // this thread only.
    let pair = unsafe { *(pair as *const Pair) };
    assert_eq!(pair[0], CLASS, "a pair");
    pair
}

/// A slot with a pair.
pub fn slot(pair: u64) -> Slot {
    Slot { payload: pair, tag: PAIR }
}

unsafe extern "C" fn hold(_context: *mut c_void, _layout: u32, _items: u32, _keys: u32, _count: u32) -> i32 {
    1
}

/// What the schema calls the parts of pairs.
#[derive(Clone, Copy)]
pub struct Pairs {
    pub layout: LayoutId,
    pub number: FieldId,
    pub link: FieldId,
    pub tag: TagId,
}

impl Pairs {
    /// Declares them, with memory held for exits.
    pub fn declare(vm: &mut Vm) -> Pairs {
        let schema = vm.schema_mut();
        let [class, number, link] =
            ["pair.class", "pair.number", "pair.link"].map(|name| schema.alias_class(name));
        let effects = FuncEffects::pure().allocating();
        let alloc = schema.add_func(Func {
            name: "make".into(),
            params: vec![Type::Addr, Type::Int, Type::Int, Type::Int],
            result: Some(Type::Ref),
            effects,
            address: make as *const () as usize,
            evaluable: false,
        });
        let layout = schema.add_layout(LayoutSpec { name: "Pair".into(), size: 24 });
        let word = SchemaCell { immutable: true, ..SchemaCell::new("pair.class", 0, Type::Int, class) };
        let word = schema.add_cell(word);
        schema.set_class_word(layout, word, CLASS);
        let number = schema.add_field(layout, SchemaCell::new("pair.number", 8, Type::Int, number));
        let link = schema.add_field(layout, SchemaCell::new("pair.link", 16, Type::Ref, link));
        schema.layout_mut(layout).alloc = Some(alloc);
        let tag = schema.add_tag("pair", u64::from(PAIR), Some(Type::Ref));
        // SAFETY: the function takes any context, and holds what it promises: nothing refuses an exit.
        unsafe { vm.set_reserve(layout, hold, std::ptr::null_mut()) };
        Pairs { layout, number, link, tag }
    }
}

impl Tape<'_> {
    fn record(&mut self, op: Op, args: &[Value], payload: Payload) -> Option<Value> {
        self.recorder.emit(op, args, payload, ExitKind::Guard, self.schema)
    }
    /// A new pair.
    pub fn new_pair(&mut self, pairs: Pairs) -> Value {
        let payload = Payload::New { layout: pairs.layout, items: 0, keys: 0 };
        self.record(Op::New, &[], payload).expect("it has a result")
    }
    /// A field of a pair.
    pub fn get(&mut self, pair: Value, field: FieldId) -> Value {
        self.record(Op::Get, &[pair], Payload::Field(field)).expect("it has a result")
    }
    /// Writes a field of a pair.
    pub fn set(&mut self, pair: Value, field: FieldId, value: Value) {
        self.record(Op::Set, &[pair, value], Payload::Field(field));
    }
    /// Leaves unless it is a pair.
    pub fn guard_pair(&mut self, pair: Value, pairs: Pairs) {
        self.record(Op::GuardClass, &[pair], Payload::Layout(pairs.layout));
    }
}

impl Host {
    /// As [`Host::run`], with an allocator that refuses no exit.
    pub fn run_with_pairs(&mut self, key: usize) -> Option<(ExitKind, u64)> {
        let tracelift_runtime::Action::Run(tracelift_runtime::Run { code, .. }) = self.back_edge(key) else {
            return None;
        };
        let context: *mut c_void = (&raw mut self.counted).cast();
        let base: *mut u8 = self.frame.as_mut_ptr().cast();
        // SAFETY: as in `run`.
        let left = unsafe { code.call(context, base) };
        IS_EXITING.set(true);
        // SAFETY: as in `run`.
        let exit = unsafe { self.vm.exit(left, context) };
        IS_EXITING.set(false);
        exit.kind().map(|kind| (kind, exit.frames[0].words[0]))
    }
}
