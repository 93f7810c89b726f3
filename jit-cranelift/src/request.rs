//! What the compiler is asked for, and what it gives back.
//!
//! Problem: lowering, the compiler and code memory speak of the same things, and must not speak of one
//! another. Design: a [`Request`] holds what differs from call to call; [`Compiled`] owns what was made, so
//! that compiling can happen on another thread than running. Invariant: nothing here does anything.
//!
//! Example: `Request::new(7, buffer).count_iterations(counter)` compiles a trace whose exits return 7 in
//! their upper half, and which counts its jumps.

use tracelift_core::{Loops, Trace, UnitId};

use crate::exits::ExitInfo;
use crate::notes::Notes;

/// Where a trace finds its inputs when it is entered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EntryKind {
    /// In the slots that [`Trace::entry`] names; tags are checked, there and in [`Trace::entry_tags`]. After
    /// those come the inputs of [`Trace::entry_known`], of which no tag is checked, and those that lie in the
    /// cells [`Trace::entry_cells`] of the exit buffer.
    Slots,
    /// In the exit buffer, one cell each, in order: traces written by hand.
    Buffer,
}

impl EntryKind {
    /// What a trace asks for: slots if it names any, else the buffer.
    pub fn of(trace: &Trace) -> EntryKind {
        let Trace { entry, entry_tags, entry_known, entry_cells, .. } = trace;
        let slots = [entry, entry_tags, entry_known];
        if slots.iter().all(|slots| slots.is_empty()) && entry_cells.is_empty() {
            EntryKind::Buffer
        } else {
            EntryKind::Slots
        }
    }
}

/// How a trace goes on in others without coming back to the host: see `glue.rs`.
#[derive(Clone, Debug)]
pub struct Links {
    /// A cell per exit, for as long as the code may run: where the code goes on after it. It holds the
    /// address of [`Glue::leave`](crate::Glue), or of another linked trace's code, and may change whenever no
    /// code runs.
    pub cells: *const u64,
    /// The end of the trace writes the slots of its snapshot, so that a loop can be entered there, in the
    /// innermost of the snapshot's frames: that frame's base is passed on, and told to the host.
    pub finish_writes_slots: bool,
    /// Back edges of inner loops from one jump to the next, for the iteration counter; those up to an exit
    /// stand in its snapshot.
    pub edges_per_jump: u32,
    /// Where the code goes on that is entered with slots of other types than it expects: a cell as those of
    /// the exits. It is given what was given to this code. Null: it comes back to the host.
    pub other: *const u64,
}

/// One compilation's particulars. The addresses become constants in the code.
#[derive(Clone, Debug)]
pub struct Request {
    /// The number that the code returns in its upper half.
    pub trace_no: u32,
    /// The exit buffer: room for [`Compiled::buffer_cells`] cells for as long as the code may run.
    pub exit_buffer: *mut u64,
    /// Where inputs come from; `None`: as the trace says.
    pub entry: Option<EntryKind>,
    /// For tests: a cell that every execution of a guard counts down; the guard that brings it to 0 leaves by
    /// its exit, before it has computed or called anything. A cell that starts at 0 or at `u64::MAX` forces
    /// nothing, and counts the guards that ran.
    pub force_counter: Option<*mut u64>,
    /// A cell that every jump counts up: one per iteration, the preamble of a peeled loop included.
    pub iteration_counter: Option<*mut u64>,
    /// A cell that every entry of the trace counts up once it is not refused any more, whoever comes: the
    /// host, an exit of its parent, the end of another trace, or a caller of a unit.
    pub entry_counter: Option<*mut u64>,
    /// A cell that every call of a unit counts up.
    pub unit_call_counter: Option<*mut u64>,
    /// Cells that say what the interpreter would have taken for the iterations that ran.
    pub replaced: Option<Replaced>,
    /// A cell that counted checks for a collection (`Trace::is_counted_check`) count down by the operations
    /// of each iteration; below 0 they leave. `None`: they always hold.
    pub collect_counter: Option<*mut i64>,
    /// Links to other traces. With them the code is no [`EntryPoint`](crate::EntryPoint) but entered by
    /// [`Glue::enter`](crate::Glue).
    pub links: Option<Links>,
    /// What code of units, or that calls some, has to know.
    pub units: Option<Units>,
    /// In a side trace that is a function of its own: what counts its entries.
    pub crossings: Option<Crossings>,
    /// In a loop: what counts its iterations, which may make it worth other code.
    pub turns: Option<*mut i64>,
    /// What is known of the loops of the very trace that is compiled: it decides what is made of them. One
    /// of which nothing is known is lowered once, as it stands, and asks for no memory early.
    pub loops: Loops,
}

/// By what code tells what it has saved: each iteration adds what the interpreter takes for one. Where the
/// code goes on in a loop that has amounts of its own, these are added there, so that the sum is right for
/// all of them.
#[derive(Clone, Copy, Debug)]
pub struct Replaced {
    /// The sum, in the unit of the amounts. It wraps around.
    pub total: *mut u64,
    /// For each time that the trace is entered; 0: no code is made for it. A loop that adds nothing up for
    /// its iterations says by a large amount, a [`MARK`](Replaced::MARK), that it was run.
    pub entry: u64,
    /// For an iteration of this loop; 0: no code is made for it.
    pub iteration: u32,
    /// For a trace that finishes.
    pub finish: u32,
}

impl Replaced {
    /// An amount as large as this says that the trace was entered, and once is enough: its side traces need
    /// not add it again where they come back.
    pub const MARK: u64 = 1 << 40;
}

/// What counts how often the program comes from one trace of a tree to another. Where that is often enough
/// the tree is worth a function of its own, in which these ways cost nothing.
#[derive(Clone, Copy, Debug)]
pub struct Crossings {
    /// Counted down by each entry; the entry that brings it to 0 is refused: the host sees the exit by which
    /// the program came.
    pub count: *mut u64,
    /// Set to 1 then.
    pub due: *mut u64,
}

/// Cells that all units share, for as long as code may run.
#[derive(Clone, Copy, Debug)]
pub struct UnitCells {
    /// The host's context: written by whoever calls a unit from elsewhere, read by units.
    pub context: *mut u64,
    /// The base of the frame that a unit was left in.
    pub base: *mut u64,
    /// Where the next record of a caller goes: see `lower/units.rs`.
    pub records: *mut u64,
}

/// What code has to know of units.
#[derive(Clone, Debug)]
pub struct Units {
    /// The cells.
    pub cells: UnitCells,
    /// For each unit that is called, the cell with its code's address.
    pub code: Vec<(UnitId, *const u64)>,
    /// The trace is a side trace of a unit: where it becomes a function of its own, its inputs lie in the
    /// exit buffer.
    pub is_side: bool,
}

// SAFETY: the addresses are only copied into code; whoever runs the code answers for them.
unsafe impl Send for Request {}
// SAFETY: as above; a request is never changed through a shared reference.
unsafe impl Sync for Request {}

impl Request {
    /// A request without counters.
    pub fn new(trace_no: u32, exit_buffer: *mut u64) -> Request {
        Request {
            trace_no,
            exit_buffer,
            entry: None,
            force_counter: None,
            iteration_counter: None,
            entry_counter: None,
            unit_call_counter: None,
            replaced: None,
            collect_counter: None,
            links: None,
            units: None,
            crossings: None,
            turns: None,
            loops: Loops::default(),
        }
    }

    /// The same with what the optimizer knows of the trace's loops.
    pub fn know_loops(mut self, loops: Loops) -> Request {
        self.loops = loops;
        self
    }

    /// The same with what is to be known of units.
    pub fn know_units(mut self, units: Units) -> Request {
        self.units = Some(units);
        self
    }

    /// The same with links.
    pub fn link(mut self, links: Links) -> Request {
        self.links = Some(links);
        self
    }

    /// The same with cells that count entries of a side trace.
    pub fn count_crossings(mut self, crossings: Crossings) -> Request {
        self.crossings = Some(crossings);
        self
    }

    /// The same with a cell that each iteration of a loop counts down by one, and that makes the first guard
    /// for interruptions in it leave as long as it is below 0. A loop without such a guard counts nothing.
    pub fn count_turns(mut self, counter: *mut i64) -> Request {
        self.turns = Some(counter);
        self
    }

    /// The same with a cell that forces exits.
    pub fn force(mut self, counter: *mut u64) -> Request {
        self.force_counter = Some(counter);
        self
    }

    /// The same with a cell that counts iterations.
    pub fn count_iterations(mut self, counter: *mut u64) -> Request {
        self.iteration_counter = Some(counter);
        self
    }

    /// The same with a cell that counts entries.
    pub fn count_entries(mut self, counter: *mut u64) -> Request {
        self.entry_counter = Some(counter);
        self
    }

    /// The same with a cell that counts calls of units.
    pub fn count_unit_calls(mut self, counter: *mut u64) -> Request {
        self.unit_call_counter = Some(counter);
        self
    }

    /// The same with cells that add up the interpreter's time.
    pub fn count_replaced(mut self, cells: Replaced) -> Request {
        self.replaced = Some(cells);
        self
    }

    /// The same with a cell that counts operations for checks that leave once in a while.
    pub fn count_for_collections(mut self, counter: *mut i64) -> Request {
        self.collect_counter = Some(counter);
        self
    }

    /// The same with inputs from elsewhere than the trace says.
    pub fn enter_by(mut self, entry: EntryKind) -> Request {
        self.entry = Some(entry);
        self
    }
}

/// Sizes and times of one compilation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Bytes of code, constants included.
    pub code_bytes: usize,
    /// Bytes of it that belong to exit stubs.
    pub stub_bytes: usize,
    /// Guards in the trace.
    pub guards: usize,
    /// Exit stubs: fewer than guards where these share a snapshot.
    pub stubs: usize,
    /// Loops that stand in the code several times in a row.
    pub unrolled: usize,
    /// Prefetches.
    pub prefetches: usize,
    /// Preambles that those who come again pass by a second copy.
    pub again: usize,
    /// Operations of the trace, labels left out.
    pub ops: usize,
    /// Why Cranelift's code generator has made the code; `None` for quick code, which was made without it.
    pub by_cranelift: Option<&'static str>,
    /// Instructions of lowered code.
    pub lowered_insts: usize,
    /// Time to lower it, in nanoseconds.
    pub build_ns: u64,
    /// Time to make code of it, in nanoseconds.
    pub codegen_ns: u64,
    /// Time to make the listing, if there is one, in nanoseconds: it is no part of the others.
    pub listing_ns: u64,
}

/// A compiled trace, not yet in executable memory.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The number that it returns.
    pub trace_no: u32,
    /// Machine code, to be put at an address aligned to 64 bytes.
    pub code: Vec<u8>,
    /// Its exits, by number.
    pub exits: Vec<ExitInfo>,
    /// Cells of the exit buffer that entry and exits use at most.
    pub buffer_cells: usize,
    /// Bytes of the native stack that it takes below its caller's frame, about.
    pub frame_bytes: usize,
    /// Sizes and times.
    pub stats: Stats,
    /// Cranelift's input, if [`want_clif`](crate::Options::want_clif).
    pub clif: Option<String>,
    /// Machine code as text, if [`want_disasm`](crate::Options::want_disasm): as Cranelift has made it, with
    /// loads of bytes where prefetches go.
    pub disasm: Option<String>,
    /// The trace's instructions, each with the machine code that was made for it, if
    /// [`want_listing`](crate::Options::want_listing).
    pub listing: Option<String>,
    /// What debuggers and profilers want to know, if [`want_notes`](crate::Options::want_notes).
    pub notes: Option<Notes>,
}
