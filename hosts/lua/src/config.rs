//! What a run is to be like, and what it tells afterwards.
//!
//! Problem: the same settings are needed by Rust callers and by the C side.
//!
//! Design: [`Config`] and [`JitConfig`] are for Rust; [`RawConfig`] and [`Statistics`] are the structs of `c/tlua.h`.
//!
//! Invariant: the `repr(C)` types here have the fields of their C namesakes in the same order.
//!
//! Example: `Config { jit: JitConfig { mode: Mode::Count, ..JitConfig::default() }, ..Config::default() }`.

use std::ffi::OsString;

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
}

/// Settings of the JIT.
#[derive(Clone, Debug)]
pub struct JitConfig {
    /// What the hooks are used for.
    pub mode: Mode,
    /// Back edges until a loop is hot.
    pub threshold: u32,
    /// Test modes: mean distance of random events, in instructions.
    pub period: u32,
    /// Test modes: start of the random numbers.
    pub seed: u64,
}

impl JitConfig {
    /// A threshold that no loop reaches in practice.
    pub const OUT_OF_REACH: u32 = u32::MAX;
}

impl Default for JitConfig {
    fn default() -> Self {
        JitConfig { mode: Mode::Off, threshold: 57, period: 10, seed: 1 }
    }
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
    /// Settings of the JIT.
    pub jit: JitConfig,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            prefix: "tracelift".to_owned(),
            command: vec!["tracelift".into()],
            uses_environment: true,
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
    reserved: u32,
    seed: u64,
}

impl From<&JitConfig> for RawConfig {
    fn from(config: &JitConfig) -> Self {
        RawConfig {
            mode: config.mode as u32,
            threshold: config.threshold,
            period: config.period,
            reserved: 0,
            seed: config.seed,
        }
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
    /// Events that broke a rule of the hooks; always 0 unless there is a bug.
    pub violations: u64,
}
