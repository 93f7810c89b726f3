//! The code maker, its memory, and the cells that compiled code writes.
//!
//! Problem: the code generator and executable memory are dear, many programs have no hot loop, and the system
//! may refuse such memory. Design: the [`Backend`] is made when the first loop is hot, and is then ready or
//! says why not; the glue between the host and compiled code is made for the first trace. Compiled code
//! writes to [`SharedCells`], whose addresses are constants in it. Invariant: these cells lie in boxes, and
//! once the backend is made none of them is replaced, so their addresses hold as long as the code lives.
//!
//! ```text
//! Pending -- a loop is hot --> Ready (compiler, code memory), or Refused: no executable memory
//! ```

use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use tracelift_cranelift::{room_for, Arena, ArenaOptions, Compiler, Glue, Options, TreeId, WithUnwind};

use crate::abort::AbortReason;
use crate::config::Config;
use crate::debug::{piece_name, CodeKind, Owner, Piece, Watch};
use crate::ids::TraceId;
use crate::log::Stage;
use crate::tunables::CAREFUL_REGION_OPS;
use crate::usefulness::Usefulness;

/// Cells of the exit buffer: the most live values that an exit can have.
pub const EXIT_BUFFER_CELLS: usize = 4096;

/// Operations of compiled code, four to twenty milliseconds of them, after which a loop leaves to let the
/// host's collector go on although it allocates nothing: the recorded program did. A step of Lua's collector
/// takes up to one millisecond.
pub(crate) const COLLECT_AFTER: i64 = 1 << 26;

/// Cells that compiled code writes: their addresses are constants in it.
pub(crate) struct SharedCells {
    /// Made with the backend.
    pub exit_buffer: Box<[u64]>,
    /// Counts guards down; see `Request::force_counter`.
    pub force: Box<u64>,
    /// Iterations and calls of units by the traces that count them; see [`SharedCells::counts`].
    #[expect(clippy::vec_box, reason = "code knows their addresses")]
    counts: Vec<Box<[u64; 2]>>,
    /// What the interpreter would have taken for what ran as code: see [`crate::pace`].
    pub replaced: Box<u64>,
    /// Set where crossings of a tree have made it worth a function: see [`crate::region`].
    pub crossings_due: Box<u64>,
    /// Counts operations of loops down whose objects are virtual; see `Request::collect_counter`.
    pub collect: Box<i64>,
}

impl SharedCells {
    /// Where the trace of this number counts its iterations, and the calls of its unit. They stay when it is
    /// gone.
    pub fn counts_of(&mut self, number: TraceId) -> &mut [u64; 2] {
        let at = number.0 as usize;
        if self.counts.len() <= at {
            self.counts.resize_with(at + 1, Box::default);
        }
        &mut self.counts[at]
    }

    /// Iterations and calls that a trace has counted.
    pub fn counts(&self, number: TraceId) -> [u64; 2] {
        self.counts.get(number.0 as usize).map_or([0; 2], |counts| **counts)
    }

    /// The same of all traces.
    pub fn all_counts(&self) -> [u64; 2] {
        self.counts.iter().fold([0; 2], |sum, counts| [sum[0] + counts[0], sum[1] + counts[1]])
    }
}

/// What makes code and holds it.
pub(crate) struct Ready {
    /// Away while a task is done on another thread: see [`crate::worker`].
    pub compiler: Option<Box<Compiler>>,
    pub arena: Arena,
    /// Made for the first trace.
    pub glue: Option<Glue>,
}

/// The tree that owns the glue; no trace has this number.
const GLUE_TREE: TreeId = TreeId(u32::MAX);

impl Ready {
    /// The glue, which is made if it was not needed before.
    pub fn glue(&mut self, watch: Option<&mut Watch>) -> Result<Glue, String> {
        if let Some(glue) = self.glue {
            return Ok(glue);
        }
        let compiler = self.compiler.as_mut().ok_or("the compiler is away")?;
        let pieces = compiler.glue_with_unwind().map_err(|error| error.to_string())?;
        let mut install = |(code, unwind): &WithUnwind| {
            let room = if watch.is_some() { room_for(code.len(), unwind.len()) } else { code.len() };
            self.arena.install_with_room(GLUE_TREE, code, room).map_err(|error| error.to_string())
        };
        let [enter, leave] = [install(&pieces[0])?, install(&pieces[1])?];
        if let Some(watch) = watch {
            let named =
                ["tracelift: into traces", "tracelift: out of traces"].into_iter().zip([enter, leave]);
            for ((name, ptr), (code, unwind)) in named.zip(&pieces) {
                watch.added(Piece {
                    owner: Owner::Tree(GLUE_TREE),
                    kind: CodeKind::Glue,
                    name: piece_name(CodeKind::Glue, name),
                    tree_owner: 0,
                    address: ptr.address(),
                    code,
                    unwind,
                    places: Vec::new(),
                });
            }
        }
        Ok(*self.glue.insert(Glue::new(enter, leave)))
    }
}

/// The code maker, or why there is none.
pub(crate) enum Backend {
    /// Made when the first loop is hot: many programs have none.
    Pending,
    Ready(Box<Ready>),
    Refused(AbortReason, String),
}

/// Where an arena lies; both 0 before there is one.
#[repr(C)]
#[derive(Default)]
pub(crate) struct Extent {
    start: AtomicUsize,
    end: AtomicUsize,
}

impl Extent {
    /// The arena was made.
    pub fn set(&self, range: Range<usize>) {
        self.end.store(range.end, Ordering::Relaxed);
        self.start.store(range.start, Ordering::Relaxed);
    }
}

/// `tl_code_bounds`: what a signal handler may read at any time.
#[repr(C)]
#[derive(Default)]
pub struct Bounds {
    pub(crate) traces: Extent,
    pub(crate) host: Extent,
    /// How many compilations are in progress.
    pub(crate) compiling: AtomicU32,
}

impl Bounds {
    /// Compiling begins.
    pub(crate) fn begin(&self) {
        self.compiling.fetch_add(1, Ordering::Relaxed);
    }

    /// Compiling is over.
    pub(crate) fn end(&self) {
        self.compiling.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What makes code, and what the code writes.
pub(crate) struct Code {
    pub backend: Backend,
    pub cells: SharedCells,
    /// Whom to tell of code.
    pub watch: Option<Box<Watch>>,
    /// Where code lies, for whoever may not ask.
    pub bounds: Box<Bounds>,
    /// Which trees are to make room for others first.
    pub usefulness: Usefulness,
}

impl Code {
    /// There is no code yet. `force` is where the counter of guards starts.
    pub fn new(force: u64, watch: Option<Box<Watch>>) -> Code {
        let cells = SharedCells {
            exit_buffer: [].into(),
            force: Box::new(force),
            counts: Vec::new(),
            replaced: Box::new(0),
            crossings_due: Box::new(0),
            collect: Box::new(COLLECT_AFTER),
        };
        let (bounds, usefulness) = (Box::default(), Usefulness::default());
        Code { backend: Backend::Pending, cells, watch, bounds, usefulness }
    }

    /// The backend, which is made if it was not needed before.
    pub fn ready(&mut self, config: &Config) -> &mut Backend {
        if let Backend::Pending = self.backend {
            self.cells.exit_buffer = vec![0; EXIT_BUFFER_CELLS].into();
            self.backend = make(config);
            if let Backend::Ready(ready) = &self.backend {
                self.bounds.traces.set(ready.arena.range());
            }
        }
        &mut self.backend
    }
}

/// Frees the code of a trace, which must not run any more.
pub(crate) fn free_code(ready: &mut Ready, watch: &mut Option<Box<Watch>>, number: TraceId) {
    if let Some(watch) = watch {
        watch.freed(Owner::Tree(number.tree()));
    }
    ready.arena.free(number.tree());
}

/// What a code generator for a VM with these settings is made with.
pub(crate) fn options(config: &Config) -> Options {
    Options {
        verify: config.verify,
        quick: !config.no_quick_code,
        carefully: CAREFUL_REGION_OPS as usize,
        no_unrolling: config.no_unrolling,
        no_prefetching: config.no_prefetching,
        want_clif: config.log.contains(&Stage::Clif),
        want_disasm: config.log.contains(&Stage::Asm),
        want_listing: config.view || config.log.contains(&Stage::Code),
        want_notes: config.tools.any(),
        ..Options::default()
    }
}

fn make(config: &Config) -> Backend {
    let compiler = match Compiler::new(options(config)) {
        Ok(compiler) => Box::new(compiler),
        Err(error) => return Backend::Refused(AbortReason::Internal, error.to_string()),
    };
    let arena = Arena::new(ArenaOptions {
        limit: config.code_bytes,
        is_anonymous: config.tools.perf_map,
        refuse_executable: config.refuse_executable_memory,
        fail_allocation: config.fail_code_allocation,
        ..compiler.arena_options()
    });
    match arena {
        Ok(arena) => Backend::Ready(Box::new(Ready { compiler: Some(compiler), arena, glue: None })),
        Err(error) => Backend::Refused(AbortReason::NoExecutableMemory, error.to_string()),
    }
}
