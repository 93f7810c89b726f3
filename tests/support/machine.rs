//! Compiling an optimized trace for one world and running it there.
//!
//! Problem: constants of the world are addresses in the code, so code belongs to a world. Design: a
//! [`Machine`] owns compiler, arena and exit buffer for all cases of a thread; [`Code`] is one trace compiled
//! for one world, which is put back at the same addresses before each run. Guards count down a cell, which
//! forces an exit when it reaches 0.
//!
//! Invariant: a run is bounded: without a forced guard the cell starts so high that only endless loops get
//! there.
//!
//! Example: `run(&code, &case, &mut world, Some(5))` leaves by the exit of the fifth guard that is executed.

use tracelift_core::testgen::Case;
use tracelift_core::world::World;
use tracelift_core::{Bits, Schema};
use tracelift_cranelift::{
    exit_number, Arena, CodePtr, Compiler, EntryKind, Options, Request, Stats, TreeId, ENTRY_REFUSED,
};
use tracelift_opt::{Optimized, ResumeTable};

use super::lift::{lift, Lifted};

/// Cells of the exit buffer: far more than random traces keep alive.
const BUFFER_CELLS: usize = 4096;

/// Guards that an unforced run may execute before it counts as endless.
const ENDLESS: u64 = 10_000_000;

/// Cells that compiled code writes to; their addresses are constants in it.
struct Cells {
    buffer: Box<[u64]>,
    force: u64,
    iterations: u64,
}

/// What compiles and runs the cases of one thread.
pub struct Machine {
    compiler: Compiler,
    arena: Arena,
    cells: *mut Cells,
    next_tree: u32,
}

impl Drop for Machine {
    fn drop(&mut self) {
        // SAFETY: the pointer came from `Box::into_raw` in `new` and is freed nowhere else.
        drop(unsafe { Box::from_raw(self.cells) });
    }
}

/// A trace compiled for one world.
pub struct Code {
    tree: TreeId,
    entry: CodePtr,
    resume: ResumeTable,
    pool: Vec<Bits>,
    from_buffer: bool,
    /// What was made.
    pub stats: Stats,
}

/// Whether code counts its guards, so that one can be made to fail.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Guards {
    Counted,
    Plain,
}

/// How compiled code was left.
pub struct Left {
    /// The exit's number.
    pub exit: u32,
    /// What it amounts to.
    pub lifted: Lifted,
}

impl Machine {
    /// A machine with these code generation settings.
    pub fn new(options: Options) -> Machine {
        let options = Options { verify: true, ..options };
        let cells = Cells { buffer: vec![0; BUFFER_CELLS].into_boxed_slice(), force: 0, iterations: 0 };
        let compiler = Compiler::new(options).expect("the host's machine is a target");
        Machine {
            arena: Arena::new(compiler.arena_options()).expect("executable memory"),
            compiler,
            cells: Box::into_raw(Box::new(cells)),
            next_tree: 0,
        }
    }

    /// Compiles an optimized trace for `world`.
    pub fn compile(
        &mut self,
        optimized: &Optimized,
        schema: &Schema,
        world: &World,
        guards: Guards,
    ) -> Result<Code, String> {
        let mut trace = optimized.trace.clone();
        trace.bind(|number| world.object_address(number));
        let mut resume = optimized.resume.clone();
        for constant in &mut resume.pool {
            *constant = constant.bound(|number| world.object_address(number));
        }
        let pool = resume.pool_bits().ok_or("an object that was not bound")?;
        self.next_tree += 1;
        // SAFETY: the cells live as long as the machine, and nothing else refers to them now.
        let cells = unsafe { &mut *self.cells };
        let mut request = Request::new(self.next_tree, cells.buffer.as_mut_ptr())
            .know_loops(optimized.loops.clone().expect(Some(ENDLESS)))
            .count_iterations(&raw mut cells.iterations);
        if guards == Guards::Counted {
            request = request.force(&raw mut cells.force);
        }
        let compiled = self.compiler.compile(&trace, schema, &request).map_err(|error| error.to_string())?;
        // Quick code that is not made would not be tested.
        let reason = compiled.stats.by_cranelift.filter(|_| self.compiler.options().quick);
        if reason.is_some() && cfg!(target_arch = "x86_64") {
            return Err(format!("no quick code: {reason:?}"));
        }
        if compiled.buffer_cells > BUFFER_CELLS {
            return Err(format!("{} cells of exit buffer", compiled.buffer_cells));
        }
        let tree = TreeId(self.next_tree);
        let entry = self.arena.install(tree, &compiled).map_err(|error| error.to_string())?;
        let from_buffer = EntryKind::of(&trace) == EntryKind::Buffer;
        Ok(Code { tree, entry, resume, pool, from_buffer, stats: compiled.stats })
    }

    /// Runs compiled code in the world that it was compiled for, from that world's first state; the guard
    /// execution with the number `force` fails.
    pub fn run(
        &mut self,
        code: &Code,
        case: &Case,
        world: &mut World,
        force: Option<u64>,
    ) -> Result<Left, String> {
        let inputs = case.enter(world);
        {
            // SAFETY: no code runs and no other reference exists.
            let cells = unsafe { &mut *self.cells };
            cells.force = force.unwrap_or(ENDLESS);
            cells.iterations = 0;
            if code.from_buffer {
                cells.buffer[..inputs.len()].copy_from_slice(&inputs);
            }
        }
        let (context, base) = (world.context() as usize as *mut _, world.frame_base() as usize as *mut u8);
        // SAFETY: the code is installed, its buffer and counters live in `cells`, and the evaluator has run
        // this trace in a copy of this world without touching memory outside it.
        let returned = unsafe { (code.entry.entry())(context, base) };
        let exit = exit_number(returned);
        if exit == ENTRY_REFUSED {
            return Err("the entry was refused".into());
        }
        // SAFETY: no code runs any more.
        let buffer = unsafe { &(*self.cells).buffer };
        let lifted = lift(&code.resume, exit, buffer, &code.pool, world)
            .map_err(|error| format!("exit {exit}: {error}"))?;
        Ok(Left { exit, lifted })
    }

    /// Forgets compiled code.
    pub fn free(&mut self, code: Code) {
        self.arena.free(code.tree);
    }
}
