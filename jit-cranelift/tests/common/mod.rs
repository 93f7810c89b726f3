//! A harness that compiles a trace, installs it, runs it and looks at the exit.
//!
//! Traces get their inputs in the exit buffer, as side traces do. One harness serves a whole test: each trace
//! is its own tree and is freed after its run, so the arena's reuse is exercised by the way.
#![allow(dead_code, reason = "each test binary uses another part of the harness")]

use tracelift_core::schema::Cell;
use tracelift_core::testbed::standard_schema;
use tracelift_core::text::parse_trace;
use tracelift_core::{ir::*, Op, Schema, Type};
use tracelift_cranelift::*;
use tracelift_opt::loops_of;

/// What a run left behind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    pub exit: u32,
    pub cells: Vec<u64>,
}

pub struct Harness {
    pub compiler: Compiler,
    pub arena: Arena,
    pub buffer: Box<[u64; 256]>,
    pub context: u64,
    pub frame: Vec<u8>,
    pub force: Option<Box<u64>>,
    pub iterations: Option<Box<u64>>,
    /// What was replaced: see [`replaced_by`].
    pub replaced: Box<u64>,
    /// Entries alone count, each as 100.
    pub counts_entries: bool,
    pub collect: Option<Box<i64>>,
    /// Iterations that loops are to expect: many, or they would ask for no memory.
    pub to_come: Option<u64>,
}

/// An iteration counts as 7, a trace that finishes as 10.
pub fn replaced_by(total: &mut u64) -> Replaced {
    Replaced { total: &raw mut *total, entry: 0, iteration: 7, finish: 10 }
}

impl Harness {
    pub fn new() -> Harness {
        Harness::with(Options { verify: true, ..Options::default() })
    }

    pub fn with(options: Options) -> Harness {
        let compiler = Compiler::new(options).expect("the test's target is supported");
        Harness {
            arena: Arena::new(compiler.arena_options()).expect("the test machine has executable memory"),
            compiler,
            buffer: Box::new([0xDEAD_BEEF; 256]),
            context: 0,
            frame: vec![0; 1024],
            force: None,
            iterations: None,
            replaced: Box::new(0),
            counts_entries: false,
            collect: None,
            to_come: Some(1 << 32),
        }
    }

    /// A harness per set of options that produces code for this machine.
    pub fn all() -> Vec<Harness> {
        let options = [
            Options::default(),
            Options { optimize: true, ..Options::default() },
            Options { target: Target::Baseline, ..Options::default() },
            Options { quick: true, ..Options::default() },
            Options { quick: true, target: Target::Baseline, ..Options::default() },
        ];
        options.map(|options| Harness::with(Options { verify: true, ..options })).into()
    }

    pub fn compile(&mut self, trace: &Trace, schema: &Schema) -> Compiled {
        let loops = loops_of(trace, schema).expect(self.to_come);
        let mut request = Request::new(9, self.buffer.as_mut_ptr()).know_loops(loops);
        request.force_counter = self.force.as_deref_mut().map(|cell| cell as *mut u64);
        request.iteration_counter = self.iterations.as_deref_mut().map(|cell| cell as *mut u64);
        let amounts = match self.counts_entries {
            true => Replaced { total: &raw mut *self.replaced, entry: 100, iteration: 0, finish: 0 },
            false => replaced_by(&mut self.replaced),
        };
        request = request.count_replaced(amounts);
        request.collect_counter = self.collect.as_deref_mut().map(|cell| cell as *mut i64);
        let compiled = match self.compiler.compile(trace, schema, &request) {
            Ok(compiled) => compiled,
            Err(error) => panic!("{}: {error}", trace.name),
        };
        // Quick code that is not made would not be tested.
        if cfg!(target_arch = "x86_64") && self.compiler.options().quick {
            let reason = compiled.stats.by_cranelift;
            assert!(matches!(reason, None | Some("arguments on the stack")), "{}: {reason:?}", trace.name);
        }
        compiled
    }

    /// Runs compiled code any number of times, with other inputs each time.
    pub fn run_all(&mut self, compiled: &Compiled, inputs: &[Vec<u64>]) -> Vec<Outcome> {
        let code = self.arena.install(TreeId(0), compiled).expect("the arena has room");
        let outcomes = inputs
            .iter()
            .map(|inputs| {
                self.buffer[..inputs.len()].copy_from_slice(inputs);
                // SAFETY: the code was compiled for this buffer, which has room; frame and context are the
                // harness's.
                let returned =
                    unsafe { (code.entry())((&raw mut self.context).cast(), self.frame.as_mut_ptr()) };
                assert_eq!(trace_number(returned), 9);
                let exit = exit_number(returned);
                let live = compiled.exits.get(exit as usize).map_or(0, |exit| exit.live.len());
                Outcome { exit, cells: self.buffer[..live].to_vec() }
            })
            .collect();
        self.arena.free(TreeId(0));
        outcomes
    }

    pub fn run(&mut self, trace: &Trace, schema: &Schema, inputs: &[u64]) -> Outcome {
        let compiled = self.compile(trace, schema);
        self.run_all(&compiled, &[inputs.to_vec()]).remove(0)
    }
}

/// Shorthands to write traces with.
pub trait Build {
    fn input(&mut self, types: &[Type]) -> Vec<Value>;
    fn op(&mut self, op: Op, args: &[Value], ty: Type) -> Value;
    fn guard(&mut self, op: Op, args: &[Value], snap: Option<SnapId>);
    fn label(&mut self, types: &[Type]) -> (LabelId, Vec<Value>);
    fn jump(&mut self, label: LabelId, args: &[Value]);
    fn finish(&mut self, args: &[Value]);
    fn snap(&mut self, live: &[Value]) -> SnapId;
}

impl Build for Trace {
    fn input(&mut self, types: &[Type]) -> Vec<Value> {
        Build::label(self, types).1
    }

    fn op(&mut self, op: Op, args: &[Value], ty: Type) -> Value {
        self.push(Inst::new(op, args), Some(ty)).expect("the op has a result")
    }

    fn guard(&mut self, op: Op, args: &[Value], snap: Option<SnapId>) {
        self.push(Inst::new(op, args).at(snap), None);
    }

    fn label(&mut self, types: &[Type]) -> (LabelId, Vec<Value>) {
        let args: Vec<Value> = types.iter().map(|&ty| self.new_value(ty)).collect();
        let name = format!("L{}", self.labels.len());
        (self.add_label(&name, &args), args)
    }

    fn jump(&mut self, label: LabelId, args: &[Value]) {
        self.push(Inst::new(Op::Jump, args).with(Payload::Label(label)), None);
    }

    fn finish(&mut self, args: &[Value]) {
        self.push(Inst::new(Op::Finish, args), None);
    }

    fn snap(&mut self, live: &[Value]) -> SnapId {
        use tracelift_core::schema::TagId;
        use tracelift_core::snapshot::{Frame, SlotValue, Snapshot, Source};
        let slots = (live.iter().enumerate())
            .map(|(slot, &value)| SlotValue {
                slot: slot as i32,
                tag: TagId(0),
                source: Source::Value(value),
            })
            .collect();
        let frames = vec![Frame { slots, ..Frame::default() }];
        self.add_snapshot(Snapshot { frames, ..Snapshot::default() })
    }
}

pub const INTS: [i64; 24] = [
    0,
    1,
    -1,
    2,
    -2,
    3,
    7,
    -7,
    10,
    63,
    64,
    65,
    -64,
    255,
    1 << 31,
    (1 << 32) - 1,
    1 << 32,
    (1 << 53) - 1,
    (1 << 53) + 1,
    i64::MAX,
    i64::MAX - 1,
    i64::MIN,
    i64::MIN + 1,
    -0x1234_5678_9ABC,
];

pub fn floats() -> Vec<u64> {
    let two63 = 9_223_372_036_854_775_808.0f64;
    let mut bits: Vec<u64> = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        1.5,
        -2.5,
        0.1,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MIN_POSITIVE,
        f64::from_bits(1),
        -f64::from_bits(3),
        f64::MAX,
        f64::MIN,
        f64::EPSILON,
        9_007_199_254_740_991.0,
        9_007_199_254_740_992.0,
        -9_007_199_254_740_993.0,
        4_503_599_627_370_497.5,
        two63,
        -two63,
        two63 - 1024.0,
        -two63 - 2048.0,
        1e300,
    ]
    .map(f64::to_bits)
    .into();
    // Quiet NaNs of both signs, one with a payload, and a signalling one.
    bits.extend([0x7FF8 << 48, 0xFFF8 << 48, (0x7FF8 << 48) | 0x1234, (0x7FF0 << 48) | 0x99]);
    bits
}

/// Adds up items of a row, `items[y + x - 1]` with `x` counting up and `left` down, in a loop whose label is
/// not the entry's; the exit holds `[y + x, y + x - 1, sum]`.
#[allow(dead_code)]
pub fn sum_of_row() -> (Trace, Schema) {
    let mut schema = standard_schema();
    let class = schema.alias_class("items");
    schema.add_cell(Cell::new("item", 0, Type::Int, class));
    let text = "L0(a0, i1, i2, i3, i4):\njump(L1, a0, i1, i2, i3, i4)\nL1(a5, i6, i7, i8, i9):\n\
                i10 = int_add(i6, i7)\ni11 = int_add(i10, -1)\na12 = item_addr(a5, i11, 16, 0)\n\
                i13 = load(a12, item)\ni14 = int_add(i9, i13)\n@0 = frame[0: int i10, 1: int i11, 2: int i14]\n\
                guard_true(i8) @0 loop_end\ni15 = int_add(i7, 1)\ni16 = int_add(i8, -1)\n\
                jump(L1, a5, i6, i15, i16, i14)\n";
    let trace = parse_trace(text, &schema).expect(text);
    (trace, schema)
}
