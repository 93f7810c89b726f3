//! Compiling a program of units for one world and running it there.
//!
//! Problem: code of units calls code of units, leaves with records of its callers, and may have side traces
//! that are a part of its function or functions of their own; the service that puts this together is not what
//! is tested here. Design: a [`UnitMachine`] owns all cells that such code shares; each trace has the number
//! of its position in the program plus one. A unit's code and its side traces are compiled to one function,
//! or each to its own, reached by link cells. Who was left and the records are read back, and the frames of
//! all are lifted from resume data, each from the values that belong to it.
//!
//! Invariant: all cells are put back before each run, records to words that no run writes, so that what is
//! not written shows.
//!
//! Example: `run(&code, …)` of a unit left two calls deep gives its exit, two callers and five frames.

use tracelift_core::eval::{Caller, FrameState, Side};
use tracelift_core::testgen::Program;
use tracelift_core::world::World;
use tracelift_core::{Bits, Op, Schema, Trace};
use tracelift_cranelift::{
    exit_number, trace_number, Arena, CodePtr, Compiled, Compiler, EntryKind, Glue, Links, Member, Options,
    Request, TreeId, UnitCells, Units, ENTRY_REFUSED, RECORD_WORDS,
};
use tracelift_opt::{Optimized, ResumeTable};

use super::lift::lift;

const BUFFER_CELLS: usize = 1024;
const RECORD_CELLS: usize = 1 << 14;
/// Traces of a program at most, and exits of each.
const TRACES: usize = 16;
const EXITS: usize = 256;
/// Guards that an unforced run may execute before it counts as endless.
const ENDLESS: u64 = 10_000_000;
/// What no run writes.
const UNWRITTEN: u64 = 0xDEAD_BEEF_0BAD_F00D;

struct Cells {
    buffer: [u64; BUFFER_CELLS],
    force: u64,
    context: u64,
    base: u64,
    next_record: u64,
    records: [u64; RECORD_CELLS],
    code: [u64; TRACES],
    links: [[u64; EXITS]; TRACES],
}

/// In which form a program is compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Form {
    /// Whether a unit and its side traces are one function.
    pub merged: bool,
    /// Whether the main trace is entered as linked traces are.
    pub linked: bool,
}

/// What compiles and runs programs.
pub struct UnitMachine {
    compiler: Compiler,
    arena: Arena,
    glue: Glue,
    cells: *mut Cells,
    next_tree: u32,
}

/// A trace of a compiled program, by position.
struct Part {
    resume: ResumeTable,
    pool: Vec<Bits>,
}

/// A program compiled for one world.
pub struct Code {
    tree: TreeId,
    main: CodePtr,
    form: Form,
    parts: Vec<Part>,
}

/// How compiled code was left.
#[derive(Debug)]
pub struct Left {
    /// The trace, by position, and its exit.
    pub trace: usize,
    pub exit: u32,
    pub base: i32,
    pub callers: Vec<Caller>,
    pub frames: Vec<FrameState>,
    pub origin: Option<u32>,
    pub results: Vec<Bits>,
}

impl Drop for UnitMachine {
    fn drop(&mut self) {
        // SAFETY: the pointer came from `Box::into_raw` in `new` and is freed nowhere else.
        drop(unsafe { Box::from_raw(self.cells) });
    }
}

impl UnitMachine {
    /// The cells; no code runs.
    fn cells(&mut self) -> &mut Cells {
        // SAFETY: they live as long as the machine, and nothing else refers to them while no code runs.
        unsafe { &mut *self.cells }
    }

    /// A machine whose code is quick code, or Cranelift's.
    pub fn new(quick: bool) -> UnitMachine {
        let options = Options { quick, verify: true, ..Options::default() };
        let mut compiler = Compiler::new(options).expect("the host's machine is a target");
        let mut arena = Arena::new(compiler.arena_options()).expect("executable memory");
        let [enter, leave] = compiler
            .glue()
            .expect("glue")
            .map(|code| arena.install_code(TreeId(0), &code).expect("executable memory"));
        let zeroed = Box::<Cells>::new_zeroed();
        // SAFETY: words may be zero.
        let cells = Box::into_raw(unsafe { zeroed.assume_init() });
        UnitMachine { compiler, arena, glue: Glue::new(enter, leave), cells, next_tree: 0 }
    }

    /// What is asked of the compiler for a trace of the program.
    fn request(&mut self, traces: &[&Optimized], position: usize, form: Form) -> Request {
        let trace = &traces[position].trace;
        let cells = self.cells();
        let units = traces.iter().enumerate().filter_map(|(at, optimized)| {
            let is_entry = optimized.trace.entry_cells.is_empty();
            Some((optimized.trace.unit.filter(|_| is_entry)?, &raw const cells.code[at]))
        });
        let units = Units {
            code: units.collect(),
            cells: UnitCells {
                context: &raw mut cells.context,
                base: &raw mut cells.base,
                records: &raw mut cells.next_record,
            },
            is_side: !trace.entry_cells.is_empty(),
        };
        let request = Request::new(position as u32 + 1, cells.buffer.as_mut_ptr())
            .know_loops(traces[position].loops.clone().expect(Some(ENDLESS)))
            .know_units(units)
            .force(&raw mut cells.force);
        match trace.unit.is_some() || form.linked {
            true => request.enter_by(EntryKind::Buffer).link(Links {
                cells: cells.links[position].as_ptr(),
                finish_writes_slots: false,
                edges_per_jump: 0,
                other: std::ptr::null(),
            }),
            false => request.enter_by(EntryKind::Buffer),
        }
    }

    /// Compiles an optimized program for `world`.
    pub fn compile(
        &mut self,
        optimized: &[&Optimized],
        sides: &[Side],
        form: Form,
        schema: &Schema,
        world: &World,
    ) -> Result<Code, String> {
        if optimized.len() > TRACES || optimized.iter().any(|one| one.trace.exits().count() > EXITS) {
            return Err("too large a program".into());
        }
        self.next_tree += 1;
        let tree = TreeId(self.next_tree);
        let leave = self.glue.leave();
        self.cells().links.iter_mut().for_each(|links| links.fill(0));
        self.cells().links[0].fill(leave);
        let bound: Vec<Trace> = optimized
            .iter()
            .map(|optimized| {
                let mut trace = optimized.trace.clone();
                trace.bind(|number| world.object_address(number));
                trace
            })
            .collect();
        let requests: Vec<Request> =
            (0..bound.len()).map(|position| self.request(optimized, position, form)).collect();
        let mut main = None;
        for position in 0..bound.len() {
            let begins = sides.iter().find(|side| side.trace == position);
            if begins.is_some() && form.merged {
                continue;
            }
            let member = |position: usize, parent| Member {
                parent,
                ..Member::alone(&bound[position], &requests[position])
            };
            let mut members = vec![member(position, None)];
            for side in sides.iter().filter(|side| side.parent == position && form.merged) {
                members.push(member(side.trace, Some((0, side.exit))));
            }
            let compiled: Compiled =
                self.compiler.compile_tree(&members, schema).map_err(|error| error.to_string())?;
            if compiled.buffer_cells > BUFFER_CELLS {
                return Err("too many cells of the exit buffer".into());
            }
            let code = self.arena.install(tree, &compiled).map_err(|error| error.to_string())?;
            self.cells().code[position] = code.address() as u64;
            if let Some(side) = begins {
                self.cells().links[side.parent][side.exit as usize] = code.address() as u64;
            }
            main = main.or(Some(code));
        }
        let part = |optimized: &&Optimized| {
            let mut resume = optimized.resume.clone();
            for constant in &mut resume.pool {
                *constant = constant.bound(|number| world.object_address(number));
            }
            let pool = resume.pool_bits().ok_or("an object that was not bound")?;
            Ok(Part { resume, pool })
        };
        let parts: Result<Vec<Part>, String> = optimized.iter().map(part).collect();
        Ok(Code { tree, main: main.ok_or("no trace")?, form, parts: parts? })
    }

    /// Runs compiled code in the world that it was compiled for, from that world's first state; the guard
    /// execution with the number `force` fails.
    pub fn run(
        &mut self,
        code: &Code,
        program: &Program,
        schema: &Schema,
        world: &mut World,
        force: Option<u64>,
    ) -> Result<Left, String> {
        let inputs = program.enter(world);
        let cells = self.cells();
        cells.buffer.fill(UNWRITTEN);
        cells.buffer[..inputs.len()].copy_from_slice(&inputs);
        cells.force = force.unwrap_or(ENDLESS);
        (cells.context, cells.base) = (0, 0);
        cells.records.fill(UNWRITTEN);
        cells.next_record = cells.records.as_ptr() as u64;
        let (context, base) = (world.context() as usize as *mut _, world.frame_base() as usize as *mut u8);
        let (exit, left_base) = match code.form.linked {
            true => {
                // SAFETY: the code is installed, its cells live, and the evaluator has run these traces in a
                // copy of this world without touching memory outside it.
                let left = unsafe { self.glue.entry(code.main).call(context, base) };
                (left.exit, left.base as u64)
            }
            false => {
                // SAFETY: as above.
                let exit = unsafe { (code.main.entry())(context, base) };
                let of_unit = self.cells().base;
                (exit, if trace_number(exit) == 1 { base as u64 } else { of_unit })
            }
        };
        if exit_number(exit) == ENTRY_REFUSED {
            return Err("the entry was refused".into());
        }
        self.left(code, schema, world, exit, left_base)
    }

    /// What was left behind.
    fn left(
        &self,
        code: &Code,
        schema: &Schema,
        world: &mut World,
        exit: u64,
        base: u64,
    ) -> Result<Left, String> {
        // SAFETY: they live as long as the machine, and no code runs any more.
        let cells = unsafe { &*self.cells };
        let known = |word: u64| {
            let at = (trace_number(word) as usize).wrapping_sub(1);
            let part = code.parts.get(at).ok_or_else(|| format!("an exit of no trace: {word:#x}"))?;
            let number = exit_number(word);
            let resume = part.resume.exits.get(number as usize);
            let resume = resume.ok_or_else(|| format!("exit {number} of trace {at}, which has none"))?;
            Ok::<_, String>((at, number, part, resume.live as usize))
        };
        let end = (cells.next_record - cells.records.as_ptr() as u64) as usize / 8;
        let mut records = Vec::new();
        let mut at = 0;
        while at < end {
            let (trace, number, part, count) = known(cells.records[at])?;
            let values = cells.records.get(at + RECORD_WORDS..at + RECORD_WORDS + count);
            let values = values.ok_or("a record without end")?;
            records.push((trace, number, part, cells.records[at + 1], values));
            at += RECORD_WORDS + count;
        }
        if at != end {
            return Err(format!("records of {at} words end after {end}"));
        }
        let (trace, number, part, _) = known(exit)?;
        let own = world.frame_base();
        let stride = i64::from(schema.slots().stride);
        let slots = |base: u64| (base.wrapping_sub(own) as i64 / stride) as i32;
        let callers =
            records.iter().map(|&(trace, exit, _, base, _)| Caller { trace, exit, base: slots(base) });
        let callers = callers.collect();
        let outer = records.iter().rev().map(|&(_, number, part, base, values)| (number, part, base, values));
        let inner = std::iter::once((number, part, base, &cells.buffer[..]));
        let (mut frames, mut last) = (Vec::new(), None);
        for (number, part, base, values) in outer.chain(inner) {
            world.move_frame(base);
            let lifted = lift(&part.resume, number, values, &part.pool, world);
            world.move_frame(own);
            let mut lifted = lifted.map_err(|error| format!("exit {number}: {error}"))?;
            lifted.frames.iter_mut().for_each(|frame| frame.base += slots(base));
            frames.append(&mut lifted.frames);
            last = Some(lifted);
        }
        let last = last.ok_or("nothing was left")?;
        let (origin, results) = (last.origin, last.results);
        Ok(Left { trace, exit: number, base: slots(base), callers, frames, origin, results })
    }

    /// Forgets compiled code.
    pub fn free(&mut self, code: &Code) {
        self.arena.free(code.tree);
    }
}

/// Whether an exit is the trace's end.
pub fn is_finish(trace: &Trace, exit: u32) -> bool {
    trace.exits().nth(exit as usize).is_some_and(|(_, inst)| inst.op == Op::Finish)
}
