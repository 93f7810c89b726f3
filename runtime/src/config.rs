//! What can be set when a JIT is made; it is read once and never again.
//!
//! Example: `Config { threshold: 1, verify: true, ..Config::exact() }` records every loop at its first back
//! edge and checks every trace.

use std::path::PathBuf;

use crate::debug::Tools;
use crate::log::Stage;
use crate::tunables;

/// Settings of a [`Vm`](crate::Vm). So many fields: they are independent of one another, and a host names
/// those that it wants and takes the others from a default.
#[derive(Clone, Debug)]
pub struct Config {
    /// Whether anything is recorded at all.
    pub enabled: bool,
    /// Back edges of a loop before it is recorded, at least 1.
    pub threshold: u32,
    /// Exits by one guard, or by a loop's end, before a side trace is recorded there, at least 1.
    pub side_threshold: u32,
    /// How many hundredths of the processor time that a young program has run compiling may take; later it
    /// has to be earned by what code saves. What is hot before is put off, unless it is a loop that has cost
    /// as much in the interpreter as its code would. Code that does not pay rests. From time to time a
    /// program that runs for long may make code before it is earned. `None`: the thresholds alone decide, and
    /// the same is compiled and entered in each run.
    pub compile_share: Option<u32>,
    /// Where code is made.
    pub compiling: Compiling,
    /// What the host's interpreter takes for a bytecode, as a rule, in tenths of nanoseconds.
    pub step_price: u32,
    /// What it takes for a call of a function of the program, beside its bytecodes, in nanoseconds.
    pub call_price: u32,
    /// Side traces that hang on one loop's trace, directly or not.
    pub max_sides: usize,
    /// Operations in a recorded trace.
    pub max_ops: usize,
    /// Snapshots in a recorded trace.
    pub max_snapshots: usize,
    /// Host frames in a snapshot.
    pub max_frames: usize,
    /// Compiled entries of one loop, for different types of its slots.
    pub max_entries: usize,
    /// Limit of machine code in bytes.
    pub code_bytes: usize,
    /// The optimizer's passes.
    pub opt: tracelift_opt::Config,
    /// Check every trace after recording and after optimization, and Cranelift's input: for tests.
    pub verify: bool,
    /// Recordings compare what the host says with what its memory holds: for authors of hosts.
    pub check: bool,
    /// Test aid: the Nth guard execution (from 1) fails.
    pub force_exit: Option<u64>,
    /// Test aid: recordings start at random, the threshold apart in the mean, and a third of them is thrown
    /// away.
    pub start_seed: Option<u64>,
    /// Compiled code counts the guards that it executes.
    pub count_guards: bool,
    /// Compiled loops count their iterations.
    pub count_iterations: bool,
    /// What [`Vm::view`](crate::Vm::view) shows is noted, and counted by the code, iterations among it.
    pub view: bool,
    /// Short loops become machine code once, instead of several times in a row.
    pub no_unrolling: bool,
    /// Loops do not ask early for the memory that they walk through.
    pub no_prefetching: bool,
    /// Cranelift makes all machine code, also what can be made without it.
    pub no_quick_code: bool,
    /// Trees of traces stay functions that are linked, and do not become one.
    pub no_regions: bool,
    /// Test aid: behave as if the system refused executable memory.
    pub refuse_executable_memory: bool,
    /// Test aid: the Nth allocation of code memory (from 1) fails.
    pub fail_code_allocation: Option<u64>,
    /// Stages that are logged.
    pub log: Vec<Stage>,
    /// Where the log goes; standard error if not set.
    pub log_file: Option<PathBuf>,
    /// Who is told of machine code.
    pub tools: Tools,
}

/// Where code is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Compiling {
    /// In place, while the program waits: each run is the same, as far as thresholds decide.
    #[default]
    Inline,
    /// On a thread of the VM's own, while the program goes on. The program takes about as long, and some
    /// hundredths more of the processors' time.
    Thread,
}

/// Back edges of a loop before it is recorded, unless configured.
pub const DEFAULT_THRESHOLD: u32 = tunables::THRESHOLD as u32;
/// Exits before a side trace is recorded, unless configured.
pub const DEFAULT_SIDE_THRESHOLD: u32 = tunables::SIDE_THRESHOLD as u32;
/// See [`Config::compile_share`].
const DEFAULT_COMPILE_SHARE: u32 = tunables::SHARE as u32;

impl Config {
    /// Settings with which the thresholds alone decide what is recorded, and when.
    ///
    /// Example: `Config { threshold: 1, ..Config::exact() }` records every loop at its first back edge.
    pub fn exact() -> Config {
        Config { compile_share: None, ..Config::default() }
    }
}

impl Default for Config {
    fn default() -> Config {
        Config {
            enabled: true,
            threshold: DEFAULT_THRESHOLD,
            side_threshold: DEFAULT_SIDE_THRESHOLD,
            compile_share: Some(DEFAULT_COMPILE_SHARE),
            compiling: Compiling::Inline,
            step_price: tunables::BYTECODE as u32,
            call_price: tunables::INLINED_CALL as u32,
            max_sides: 200,
            max_ops: 8000,
            max_snapshots: 2000,
            max_frames: 20,
            max_entries: 4,
            code_bytes: 64 << 20,
            opt: tracelift_opt::Config::new(),
            verify: false,
            check: false,
            force_exit: None,
            start_seed: None,
            count_guards: false,
            count_iterations: false,
            view: false,
            no_unrolling: false,
            no_prefetching: false,
            no_quick_code: false,
            no_regions: false,
            refuse_executable_memory: false,
            fail_code_allocation: None,
            log: Vec::new(),
            log_file: None,
            tools: Tools::default(),
        }
    }
}
