//! Compiling a tree of traces for one world, and running it there.
//!
//! Problem: the same tree is linked functions, one function, or some of both, and all of these must do the
//! same. Design: a [`TreeMachine`] owns all cells that such code shares; each trace has the number of its
//! position in the tree plus one. The traces that are *members* become one function, and each other one a
//! function of its own, which link cells lead to. What was counted and where the code was left is read back,
//! and the frames are lifted from resume data.
//!
//! Invariant: all cells are put back before each run.
//!
//! Example: `compile(&tree, &[0, 2], …)` of a tree of three makes one function of the first and the last,
//! and another one of the second.

use tracelift_core::eval::FrameState;
use tracelift_core::testgen::TreeCase;
use tracelift_core::world::World;
use tracelift_core::{Bits, Op, Schema, Trace};
use tracelift_cranelift::{
    exit_number, trace_number, Arena, Compiler, Crossings, Glue, LinkedEntry, Links, Member, Options,
    Replaced, Request, TreeId, ENTRY_REFUSED,
};
use tracelift_opt::{Optimized, ResumeTable};

use super::lift::lift;

const BUFFER_CELLS: usize = 1024;
/// Traces of a tree at most, and exits of each.
const TRACES: usize = 16;
const EXITS: usize = 256;
/// Guards that an unforced run may execute before it counts as endless.
const ENDLESS: u64 = 10_000_000;

struct Cells {
    buffer: [u64; BUFFER_CELLS],
    force: u64,
    iterations: u64,
    replaced: u64,
    crossings: u64,
    due: u64,
    links: [[u64; EXITS]; TRACES],
    /// Where slots lead that are of other types than a side trace expects: to the host.
    other: u64,
}

/// A trace of a tree.
pub struct Part {
    pub recorded: Trace,
    pub optimized: Optimized,
    /// The position of the trace at whose exit it begins, and that exit; `None` for the loop.
    pub parent: Option<(usize, u32)>,
    /// Whether it goes back to the loop at its end.
    pub goes_back: bool,
    /// Whether it writes the slots at its end.
    pub is_linked: bool,
    pub edges_per_jump: u32,
    /// What is added up: at its entry, for an iteration, at its end.
    pub amounts: [u32; 3],
}

/// What compiles and runs trees.
pub struct TreeMachine {
    compiler: Compiler,
    arena: Arena,
    glue: Glue,
    cells: *mut Cells,
    next_tree: u32,
}

/// A tree compiled for one world.
pub struct Code {
    tree: TreeId,
    entry: LinkedEntry,
    resume: Vec<(ResumeTable, Vec<Bits>)>,
    /// Loops that stand in it several times in a row.
    pub unrolled: usize,
    /// Preambles with a second copy.
    pub again: usize,
}

/// How compiled code was left.
#[derive(Debug)]
pub struct Left {
    /// The trace, by position, and its exit.
    pub at: (usize, u32),
    /// Slots from the base at entry.
    pub base: i32,
    pub frames: Vec<FrameState>,
    pub iterations: u64,
    pub replaced: u64,
    /// Whether a crossing was refused.
    pub is_due: bool,
}

/// What differs between runs.
#[derive(Clone, Copy, Default, Debug)]
pub struct Variation {
    /// This guard execution fails.
    pub force: Option<u64>,
    /// This entry of a side trace that is a function of its own is refused.
    pub crossing: Option<u64>,
    pub allocations_left: Option<u64>,
}

impl Drop for TreeMachine {
    fn drop(&mut self) {
        // SAFETY: the pointer came from `Box::into_raw` in `new` and is freed nowhere else.
        drop(unsafe { Box::from_raw(self.cells) });
    }
}

impl TreeMachine {
    /// A machine with these code generation settings.
    pub fn new(options: Options) -> TreeMachine {
        let options = Options { verify: true, always_again: true, ..options };
        let mut compiler = Compiler::new(options).expect("the host's machine is a target");
        let mut arena = Arena::new(compiler.arena_options()).expect("executable memory");
        let [enter, leave] = compiler
            .glue()
            .expect("glue")
            .map(|code| arena.install_code(TreeId(0), &code).expect("executable memory"));
        let zeroed = Box::<Cells>::new_zeroed();
        // SAFETY: words may be zero.
        let cells = Box::into_raw(unsafe { zeroed.assume_init() });
        TreeMachine { compiler, arena, glue: Glue::new(enter, leave), cells, next_tree: 0 }
    }

    /// The cells; no code runs.
    fn cells(&mut self) -> &mut Cells {
        // SAFETY: they live as long as the machine, and nothing else refers to them while no code runs.
        unsafe { &mut *self.cells }
    }

    fn request(&mut self, part: &Part, position: usize) -> Request {
        let cells = self.cells();
        let [entry, iteration, finish] = part.amounts;
        let replaced = Replaced { total: &raw mut cells.replaced, entry: entry.into(), iteration, finish };
        let request = Request::new(position as u32 + 1, cells.buffer.as_mut_ptr())
            .know_loops(part.optimized.loops.clone().expect(Some(ENDLESS)))
            .force(&raw mut cells.force)
            .count_iterations(&raw mut cells.iterations)
            .count_replaced(replaced)
            .link(Links {
                cells: cells.links[position].as_ptr(),
                finish_writes_slots: part.is_linked,
                edges_per_jump: part.edges_per_jump,
                other: part.parent.map_or(std::ptr::null(), |_| &raw const cells.other),
            });
        let crossings = Crossings { count: &raw mut cells.crossings, due: &raw mut cells.due };
        match part.parent {
            Some(_) => request.count_crossings(crossings),
            None => request,
        }
    }

    /// Compiles a tree for `world`; of the members, which are in order and of which each but the first hangs
    /// on another, one function is made.
    pub fn compile(
        &mut self,
        tree: &[Part],
        members: &[usize],
        schema: &Schema,
        world: &World,
    ) -> Result<Code, String> {
        let is_large = |part: &Part| part.optimized.trace.exits().count() > EXITS;
        if tree.len() > TRACES || tree.iter().any(is_large) {
            return Err("too large a tree".into());
        }
        self.next_tree += 1;
        let id = TreeId(self.next_tree);
        let leave = self.glue.leave();
        self.cells().other = leave;
        self.cells().links.iter_mut().for_each(|links| links.fill(leave));
        let bound: Vec<Trace> = (tree.iter())
            .map(|part| {
                let mut trace = part.optimized.trace.clone();
                trace.bind(|number| world.object_address(number));
                trace
            })
            .collect();
        let requests: Vec<Request> =
            tree.iter().enumerate().map(|(position, part)| self.request(part, position)).collect();
        let member = |position: usize, parent: Option<(usize, u32)>, goes_back: bool| Member {
            parent,
            goes_to: goes_back.then_some(0),
            enters: goes_back,
            ..Member::alone(&bound[position], &requests[position])
        };
        let (mut root, mut unrolled, mut again) = (None, 0, 0);
        for position in 0..tree.len() {
            let together: Vec<Member<'_>> = match members.contains(&position) {
                true if position > 0 => continue,
                true => (members.iter())
                    .map(|&position| {
                        let Part { parent, goes_back, .. } = tree[position];
                        let place = |at: usize| members.iter().position(|&of| of == at).unwrap_or(usize::MAX);
                        let goes_back = goes_back && members.len() > 1;
                        member(position, parent.map(|(at, exit)| (place(at), exit)), goes_back)
                    })
                    .collect(),
                false => vec![member(position, None, false)],
            };
            let compiled =
                self.compiler.compile_tree(&together, schema).map_err(|error| error.to_string())?;
            let reason = compiled.stats.by_cranelift.filter(|_| self.compiler.options().quick);
            if reason.is_some() && cfg!(target_arch = "x86_64") {
                return Err(format!("no quick code: {reason:?}"));
            }
            if compiled.buffer_cells > BUFFER_CELLS {
                return Err("too many cells of the exit buffer".into());
            }
            unrolled += compiled.stats.unrolled;
            again += compiled.stats.again;
            let code = self.arena.install(id, &compiled).map_err(|error| error.to_string())?;
            let address = code.address() as u64;
            let root = *root.get_or_insert((code, address));
            if let Some((parent, exit)) = tree[position].parent {
                self.cells().links[parent][exit as usize] = address;
            }
            for (at, part) in tree
                .iter()
                .enumerate()
                .filter(|(at, part)| part.goes_back && (*at == position || position == 0))
            {
                let exits = part.optimized.trace.exits().count();
                self.cells().links[at][exits - 1] = root.1;
            }
        }
        let resume = tree.iter().map(|part| {
            let mut resume = part.optimized.resume.clone();
            for constant in &mut resume.pool {
                *constant = constant.bound(|number| world.object_address(number));
            }
            let pool = resume.pool_bits().ok_or("an object that was not bound")?;
            Ok((resume, pool))
        });
        let resume: Result<Vec<_>, String> = resume.collect();
        let (code, _) = root.ok_or("no trace")?;
        Ok(Code { tree: id, entry: self.glue.entry(code), resume: resume?, unrolled, again })
    }

    /// Runs compiled code in the world that it was compiled for, from that world's first state.
    pub fn run(
        &mut self,
        code: &Code,
        tree: &[Part],
        case: &TreeCase,
        world: &mut World,
        variation: Variation,
    ) -> Result<Left, String> {
        let schema = world.schema();
        case.enter(world, &schema);
        let cells = self.cells();
        cells.buffer.fill(0);
        cells.force = variation.force.unwrap_or(ENDLESS);
        cells.crossings = variation.crossing.unwrap_or(ENDLESS);
        (cells.iterations, cells.replaced, cells.due) = (0, 0, 0);
        let (context, base) = (world.context() as usize as *mut _, world.frame_base() as usize as *mut u8);
        // SAFETY: the code is installed, its cells live, and the evaluator has run these traces in a copy of
        // this world without touching memory outside it.
        let left = unsafe { code.entry.call(context, base) };
        let exit = exit_number(left.exit);
        if exit == ENTRY_REFUSED {
            return Err("the entry was refused".into());
        }
        let position = (trace_number(left.exit) as usize).wrapping_sub(1);
        let part = tree.get(position).ok_or_else(|| format!("an exit of no trace: {:#x}", left.exit))?;
        let (resume, pool) = &code.resume[position];
        let exits = part.optimized.trace.exits();
        let is_end = exits.map(|(_, inst)| inst.op).nth(exit as usize) == Some(Op::Finish);
        let frames = match is_end && part.is_linked {
            // They are in memory.
            true => Vec::new(),
            false => {
                let buffer = self.cells().buffer;
                lift(resume, exit, &buffer, pool, world)
                    .map_err(|error| format!("exit {exit}: {error}"))?
                    .frames
            }
        };
        let distance = (left.base as u64).wrapping_sub(world.frame_base()) as i64;
        let cells = self.cells();
        Ok(Left {
            at: (position, exit),
            base: (distance / i64::from(schema.slots().stride)) as i32,
            frames,
            iterations: cells.iterations,
            replaced: cells.replaced,
            is_due: cells.due != 0,
        })
    }

    /// Forgets compiled code.
    pub fn free(&mut self, code: &Code) {
        self.arena.free(code.tree);
    }
}
