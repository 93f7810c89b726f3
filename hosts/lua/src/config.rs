//! What a run is to be like, and what it tells afterwards.
//!
//! Problem: the same settings are needed by Rust callers and by the C side.
//!
//! Design: [`Config`] and [`JitConfig`] are for Rust; [`RawConfig`] and [`Statistics`] are the structs of
//! `c/tlua.h`. `tl_config` has one definition in Rust, the library's own.
//!
//! Invariant: the `repr(C)` types here have the fields of their C namesakes in the same order; sizes and
//! offsets are asserted here and in `c/tlua_driver.c`.
//!
//! Example: `Config { jit: JitConfig { mode: Mode::Count, ..JitConfig::default() }, ..Config::default() }`.

use std::ffi::{CString, NulError, OsString};
use std::mem::offset_of;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::ptr;

use tracelift_runtime::capi::{config as flags, TlConfig};

/// What the hooks in the interpreter are used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Mode {
    /// Nothing: the interpreter behaves as stock Lua.
    Off = 0,
    /// Hot loops are counted, nothing else.
    Count = 1,
    /// A test: recordings at random loops that only look at the instructions.
    Stress = 2,
    /// A test: as [`Mode::Stress`], and registers that the liveness analysis calls dead are overwritten.
    Poison = 3,
    /// The recorder; refused when it was not built in.
    Jit = 4,
    /// A test of the test: as [`Mode::Poison`], but live registers get lost too, so programs go wrong.
    Sabotage = 5,
}

/// Settings of the JIT.
#[derive(Clone, Debug)]
pub struct JitConfig {
    /// What the hooks are used for.
    pub mode: Mode,
    /// Back edges until a loop is hot. With [`Mode::Jit`], 0 leaves it to the library, which then also limits
    /// the time that compiling takes.
    pub threshold: u32,
    /// Test modes: mean distance of random events, in instructions.
    pub period: u32,
    /// Test modes: start of the random numbers.
    pub seed: u64,
    /// Test aid: code of our own runs inside each call that compiled code makes.
    pub nests: bool,
    /// Whether functions get baseline code, with [`Mode::Jit`] and on machines that it can be made for.
    pub baseline: bool,
    /// The recorder's library: its settings beside the threshold.
    pub library: LibraryConfig,
}

/// Settings of the library behind [`Mode::Jit`]; what is 0 or empty has its default. See `tl_config` in
/// `tracelift.h`.
#[derive(Clone, Debug, Default)]
pub struct LibraryConfig {
    /// Sum of `TL_FLAG_…`, as [`LibraryConfig::VERIFY`].
    pub flags: u32,
    /// Exits by one guard, or by a loop's end, before a side trace is recorded there.
    pub side_threshold: u32,
    /// Side traces that hang on one loop.
    pub max_sides: u32,
    /// Operations in a recorded trace.
    pub max_ops: u32,
    /// Limit of machine code in bytes.
    pub code_bytes: u64,
    /// Test aid: this guard execution, counted from 1, fails.
    pub force_exit: u64,
    /// Test aid: start of the random numbers that say where recordings start, and which are thrown away.
    pub start_seed: u64,
    /// Optimizer passes to switch, as `-fold,-guards`.
    pub passes: String,
    /// Stages to log, as `record,exit`.
    pub log: String,
    /// Where the log goes; standard error if not set.
    pub log_file: Option<PathBuf>,
}

impl LibraryConfig {
    /// Compile nothing, but count.
    pub const OFF: u32 = flags::FLAG_OFF;
    /// Verify every trace and the compiler's input.
    pub const VERIFY: u32 = flags::FLAG_VERIFY;
    /// Count the iterations of compiled loops.
    pub const COUNT_ITERATIONS: u32 = flags::FLAG_COUNT_ITERATIONS;
    /// Count the executions of guards.
    pub const COUNT_GUARDS: u32 = flags::FLAG_COUNT_GUARDS;
    /// Test aid: behave as if the system refused executable memory.
    pub const NO_EXEC: u32 = flags::FLAG_NO_EXEC;
    /// Short loops become machine code once, instead of several times in a row.
    pub const NO_UNROLLING: u32 = flags::FLAG_NO_UNROLLING;
    /// Loops do not ask early for the memory that they walk through.
    pub const NO_PREFETCHING: u32 = flags::FLAG_NO_PREFETCHING;
    /// Cranelift makes all machine code.
    pub const NO_QUICK_CODE: u32 = flags::FLAG_NO_QUICK_CODE;
    /// Trees of traces stay functions that are linked.
    pub const NO_REGIONS: u32 = flags::FLAG_NO_REGIONS;
    /// Code is made on another thread, while the program goes on.
    pub const THREAD: u32 = flags::FLAG_THREAD;
    /// What [`Config::view`] shows is noted.
    pub const VIEW: u32 = flags::FLAG_VIEW;
}

impl JitConfig {
    /// A threshold that no loop reaches in practice.
    pub const OUT_OF_REACH: u32 = u32::MAX;
}

impl Default for JitConfig {
    fn default() -> Self {
        JitConfig {
            mode: Mode::Off,
            threshold: 57,
            period: 10,
            seed: 1,
            nests: false,
            baseline: true,
            library: LibraryConfig::default(),
        }
    }
}

/// Whether and how a run tells the library's counts on standard error at its end, also after `os.exit`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Report {
    /// Not at all.
    #[default]
    None = 0,
    /// A few lines for people.
    Text = 1,
    /// JSON.
    Json = 2,
}

/// Test aid: requests for memory that a run's allocator refuses, counted from 1. Requests to shrink a block
/// do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refusal {
    /// The first one; 0: none, and they are not even counted. `u64::MAX` only counts.
    pub from: u64,
    /// How many; 0: all from there on.
    pub count: u64,
}

/// Settings of a run.
#[derive(Clone, Debug)]
pub struct Config {
    /// Stands before each message on stderr, as `lua: ` does for stock Lua; empty for none.
    pub prefix: String,
    /// The words of the command line before the script: `arg[-1]` and below.
    pub command: Vec<OsString>,
    /// Whether the environment variables of Lua (`LUA_INIT`, `LUA_PATH`, …) are heeded.
    pub uses_environment: bool,
    /// What is told at the end.
    pub report: Report,
    /// Where the view goes, for which [`LibraryConfig::VIEW`] has to be set; `.json` at the end of the name
    /// makes it data.
    pub view: Option<PathBuf>,
    /// The directory where one run leaves hints for the next: which places are worth machine code. It is made
    /// if its parent is there.
    pub cache: Option<PathBuf>,
    /// Whether [`ExitStatus`](crate::ExitStatus) has the library's counts as texts.
    pub keeps_counts: bool,
    /// Whether Lua's memory comes from the C library's `malloc` alone, which tools can watch, and not from a
    /// heap made for Lua (`c/tlua_heap.c`).
    pub uses_malloc: bool,
    /// Test aid: when there is no memory.
    pub refusal: Refusal,
    /// Settings of the JIT.
    pub jit: JitConfig,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            prefix: "tracelift".to_owned(),
            command: vec!["tracelift".into()],
            uses_environment: true,
            report: Report::None,
            view: None,
            cache: None,
            keeps_counts: false,
            uses_malloc: false,
            refusal: Refusal::default(),
            jit: JitConfig::default(),
        }
    }
}

/// `TluaConfig` of `c/tlua.h`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct RawConfig {
    mode: u32,
    threshold: u32,
    period: u32,
    nests: u16,
    no_baseline: u16,
    seed: u64,
    jit: *const TlConfig,
}

impl RawConfig {
    /// The settings as the C side reads them; `library` must live until the state is open.
    pub(crate) fn new(config: &JitConfig, library: &OwnedLibraryConfig) -> Self {
        RawConfig {
            mode: config.mode as u32,
            threshold: config.threshold,
            period: config.period,
            nests: u16::from(config.nests),
            no_baseline: u16::from(!config.baseline),
            seed: config.seed,
            jit: &library.raw,
        }
    }
}

const _: () = {
    assert!(size_of::<RawConfig>() == 32 && offset_of!(RawConfig, mode) == 0);
    assert!(offset_of!(RawConfig, threshold) == 4 && offset_of!(RawConfig, period) == 8);
    assert!(offset_of!(RawConfig, nests) == 12 && offset_of!(RawConfig, no_baseline) == 14);
    assert!(offset_of!(RawConfig, seed) == 16 && offset_of!(RawConfig, jit) == 24);
    assert!(size_of::<Statistics>() == 72 && offset_of!(Statistics, violations) == 64);
};

/// A `tl_config` with the texts that it points to.
#[derive(Debug)]
pub(crate) struct OwnedLibraryConfig {
    raw: TlConfig,
    /// Only held: `raw` points into them, and a C string's text stays where it is when the string moves.
    _texts: [CString; 3],
}

impl OwnedLibraryConfig {
    pub(crate) fn new(config: &JitConfig) -> Result<Self, NulError> {
        let library = &config.library;
        let log_file = library.log_file.as_ref().map_or(&b""[..], |path| path.as_os_str().as_bytes());
        let texts = [
            CString::new(library.passes.as_bytes())?,
            CString::new(library.log.as_bytes())?,
            CString::new(log_file)?,
        ];
        let or_null = |text: &CString| if text.is_empty() { ptr::null() } else { text.as_ptr() };
        let raw = TlConfig {
            threshold: config.threshold,
            max_ops: library.max_ops,
            flags: library.flags,
            side_threshold: library.side_threshold,
            max_sides: library.max_sides,
            code_bytes: library.code_bytes,
            force_exit: library.force_exit,
            passes: or_null(&texts[0]),
            log: or_null(&texts[1]),
            log_file: or_null(&texts[2]),
            start_seed: library.start_seed,
            ..TlConfig::default()
        };
        Ok(OwnedLibraryConfig { raw, _texts: texts })
    }
}

/// Counts of a run: `TluaStatistics` of `c/tlua.h`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Statistics {
    /// Times a loop was hot.
    pub hot_loops: u64,
    /// Times a function entry was hot.
    pub hot_entries: u64,
    /// Recordings begun.
    pub recordings: u64,
    /// Instructions shown to a recorder.
    pub recorded_instructions: u64,
    /// Test modes: recordings that came back to their first instruction.
    pub recordings_closed: u64,
    /// Recordings ended by an error or a yield.
    pub recordings_thrown: u64,
    /// Registers overwritten by [`Mode::Poison`].
    pub poisoned_registers: u64,
    /// Blocks of memory held for exits that were given to one, since the allocator refused.
    pub spare_blocks: u64,
    /// Events that broke a rule of the hooks; always 0 unless there is a bug.
    pub violations: u64,
}
