//! `tl_config`: the one definition in Rust of the settings that cross the C border.
//!
//! Problem: the struct is written in `tracelift.h` and in Rust, and a host in Rust that goes through C, as
//! the one for Lua does, needs it too. Design: the struct, its flags and its version stand here, for this
//! library and for such hosts; sizes and offsets are asserted here and, of the header, in
//! `tests/capi/header.c`. Invariant: what a host can set has a value that works, or `read` says why not.
//!
//! Example: `TlConfig { abi: ABI_VERSION, threshold: 2, flags: FLAG_VERIFY, ..TlConfig::default() }`.

use std::ffi::c_char;
use std::mem::offset_of;

use super::text;
use crate::config::{Compiling, Config, DEFAULT_THRESHOLD};
use crate::debug::Tools;
use crate::log::Stage;

/// `TL_ABI_VERSION`: the version that this library implements.
pub const ABI_VERSION: u32 = 7;

/// `TL_FLAG_OFF`: never record.
pub const FLAG_OFF: u32 = 1;
/// `TL_FLAG_VERIFY`: verify every trace and Cranelift's input.
pub const FLAG_VERIFY: u32 = 2;
/// `TL_FLAG_COUNT_ITERATIONS`: compiled loops count their iterations.
pub const FLAG_COUNT_ITERATIONS: u32 = 4;
/// `TL_FLAG_COUNT_GUARDS`: compiled code counts guard executions.
pub const FLAG_COUNT_GUARDS: u32 = 8;
/// `TL_FLAG_NO_EXEC`: behave as if the system refused executable memory.
pub const FLAG_NO_EXEC: u32 = 16;
/// `TL_FLAG_NO_UNROLLING`: short loops become machine code once.
pub const FLAG_NO_UNROLLING: u32 = 32;
/// `TL_FLAG_NO_PREFETCHING`: loops do not ask early for memory.
pub const FLAG_NO_PREFETCHING: u32 = 64;
/// `TL_FLAG_NO_QUICK_CODE`: Cranelift makes all machine code.
pub const FLAG_NO_QUICK_CODE: u32 = 128;
/// `TL_FLAG_NO_REGIONS`: trees of traces do not become one function.
pub const FLAG_NO_REGIONS: u32 = 256;
/// `TL_FLAG_VIEW`: what the view shows is noted.
pub const FLAG_VIEW: u32 = 8192;

/// `TL_FLAG_CHECK`: what the host says is compared with what it does.
pub const FLAG_CHECK: u32 = 16384;

/// `TL_FLAG_THREAD`: code is made on a thread while the program goes on.
pub const FLAG_THREAD: u32 = 32768;

/// `TL_FLAG_PERF_MAP`: names of code for perf.
pub const FLAG_PERF_MAP: u32 = 512;
/// `TL_FLAG_JITDUMP`: code for `perf inject --jit`.
pub const FLAG_JITDUMP: u32 = 1024;
/// `TL_FLAG_GDB`: code for gdb.
pub const FLAG_GDB: u32 = 2048;
/// `TL_FLAG_CODE_MAP`: code for `tl_code_at`.
pub const FLAG_CODE_MAP: u32 = 4096;

const ALL_FLAGS: u32 = 65_535;

/// `tl_config`; 0 and null mean the default. See `tracelift.h`. So many fields: it is the header's.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TlConfig {
    /// [`ABI_VERSION`].
    pub abi: u32,
    /// Back edges of a loop before it is recorded.
    pub threshold: u32,
    /// Operations in a recorded trace.
    pub max_ops: u32,
    /// Snapshots in a recorded trace.
    pub max_snapshots: u32,
    /// Host frames in a snapshot.
    pub max_frames: u32,
    /// Sum of [`FLAG_OFF`] and so on.
    pub flags: u32,
    /// Exits before a side trace is recorded.
    pub side_threshold: u32,
    /// Side traces that hang on one loop.
    pub max_sides: u32,
    /// Limit of machine code in bytes.
    pub code_bytes: u64,
    /// Test aid: this guard execution fails.
    pub force_exit: u64,
    /// Optimizer passes to switch.
    pub passes: *const c_char,
    /// Stages to log.
    pub log: *const c_char,
    /// Where the log goes.
    pub log_file: *const c_char,
    /// Test aid: recordings start at random.
    pub start_seed: u64,
    /// What the interpreter takes for a bytecode, in tenths of nanoseconds.
    pub bytecode_price: u32,
    /// What it takes for a call beside its bytecodes, in nanoseconds.
    pub call_price: u32,
}

// Both sides of the border agree; tests/capi/header.c has the other side of this.
const _: () = {
    assert!(size_of::<TlConfig>() == 88 && offset_of!(TlConfig, abi) == 0);
    assert!(offset_of!(TlConfig, threshold) == 4 && offset_of!(TlConfig, max_ops) == 8);
    assert!(offset_of!(TlConfig, max_snapshots) == 12 && offset_of!(TlConfig, max_frames) == 16);
    assert!(offset_of!(TlConfig, flags) == 20 && offset_of!(TlConfig, side_threshold) == 24);
    assert!(offset_of!(TlConfig, max_sides) == 28 && offset_of!(TlConfig, code_bytes) == 32);
    assert!(offset_of!(TlConfig, force_exit) == 40 && offset_of!(TlConfig, passes) == 48);
    assert!(offset_of!(TlConfig, log) == 56 && offset_of!(TlConfig, log_file) == 64);
    assert!(offset_of!(TlConfig, start_seed) == 72 && offset_of!(TlConfig, bytecode_price) == 80);
    assert!(offset_of!(TlConfig, call_price) == 84);
};

impl Default for TlConfig {
    /// All defaults, for this version.
    fn default() -> TlConfig {
        TlConfig {
            abi: ABI_VERSION,
            threshold: 0,
            max_ops: 0,
            max_snapshots: 0,
            max_frames: 0,
            flags: 0,
            side_threshold: 0,
            max_sides: 0,
            code_bytes: 0,
            force_exit: 0,
            passes: std::ptr::null(),
            log: std::ptr::null(),
            log_file: std::ptr::null(),
            start_seed: 0,
            bytecode_price: 0,
            call_price: 0,
        }
    }
}

/// Operations and snapshots of a recording, at most: what is longer takes seconds to compile.
const MOST_OPS: u64 = 1_000_000;
/// Frames: so many depths a listing can show.
const MOST_FRAMES: u64 = 255;
/// Prices: a tenth of a millisecond for a bytecode, a whole one for a call.
const DEAREST: u64 = 1_000_000;
/// Code: so far a jump reaches.
const MOST_CODE: u64 = 1 << 30;

/// A limit that may be set up to `most`.
fn limit(name: &str, value: u64, default: usize, most: u64) -> Result<usize, String> {
    match value {
        0 => Ok(default),
        _ if value <= most => Ok(value as usize),
        _ => Err(format!("{name} is {value}: at most {most}")),
    }
}

/// The settings for Rust, or why there are none.
///
/// # Safety
/// The texts of `c` are null or NUL-terminated. Nothing but `abi` is read if that is another version's.
pub(super) unsafe fn read(c: &TlConfig) -> Result<Config, String> {
    if c.abi != ABI_VERSION {
        return Err(format!("the host was compiled for interface version {}, this is {ABI_VERSION}", c.abi));
    }
    if c.flags & !ALL_FLAGS != 0 {
        return Err(format!("flags: {:#x} is no TL_FLAG", c.flags & !ALL_FLAGS));
    }
    let optional = |name: &str, t: *const c_char| match t.is_null() {
        true => Ok(""),
        // SAFETY: promised by the caller.
        false => unsafe { text(t) }.map_err(|sentence| format!("{name}: {sentence}")),
    };
    let passes = optional("passes", c.passes)?;
    let (log, log_file) = (optional("log", c.log)?, optional("log_file", c.log_file)?);
    let default = Config::default();
    let price = |name, value: u32, default: u32| limit(name, value.into(), default as usize, DEAREST);
    Ok(Config {
        enabled: c.flags & FLAG_OFF == 0,
        threshold: if c.threshold == 0 { DEFAULT_THRESHOLD } else { c.threshold },
        // A threshold that is set is exact: the same is recorded in each run.
        compile_share: default.compile_share.filter(|_| c.threshold == 0),
        compiling: if c.flags & FLAG_THREAD == 0 { Compiling::Inline } else { Compiling::Thread },
        side_threshold: match (c.side_threshold, c.threshold) {
            (0, 0) => default.side_threshold,
            (0, threshold) => threshold.min(default.side_threshold),
            (threshold, _) => threshold,
        },
        step_price: price("bytecode_price", c.bytecode_price, default.step_price)? as u32,
        call_price: price("call_price", c.call_price, default.call_price)? as u32,
        max_sides: limit("max_sides", c.max_sides.into(), default.max_sides, u32::MAX.into())?,
        max_ops: limit("max_ops", c.max_ops.into(), default.max_ops, MOST_OPS)?,
        max_snapshots: limit("max_snapshots", c.max_snapshots.into(), default.max_snapshots, MOST_OPS)?,
        max_frames: limit("max_frames", c.max_frames.into(), default.max_frames, MOST_FRAMES)?,
        code_bytes: limit("code_bytes", c.code_bytes, default.code_bytes, MOST_CODE)?,
        opt: tracelift_opt::Config::parse(passes).map_err(|error| format!("passes: {error}"))?,
        verify: c.flags & FLAG_VERIFY != 0,
        check: c.flags & FLAG_CHECK != 0,
        force_exit: (c.force_exit != 0).then_some(c.force_exit),
        start_seed: (c.start_seed != 0).then_some(c.start_seed),
        count_guards: c.flags & FLAG_COUNT_GUARDS != 0,
        count_iterations: c.flags & FLAG_COUNT_ITERATIONS != 0,
        view: c.flags & FLAG_VIEW != 0,
        refuse_executable_memory: c.flags & FLAG_NO_EXEC != 0,
        no_unrolling: c.flags & FLAG_NO_UNROLLING != 0,
        no_prefetching: c.flags & FLAG_NO_PREFETCHING != 0,
        no_quick_code: c.flags & FLAG_NO_QUICK_CODE != 0,
        no_regions: c.flags & FLAG_NO_REGIONS != 0,
        log: Stage::parse_list(log).map_err(|sentence| format!("log: {sentence}"))?,
        log_file: (!log_file.is_empty()).then(|| log_file.into()),
        tools: Tools {
            perf_map: c.flags & FLAG_PERF_MAP != 0,
            jitdump: c.flags & FLAG_JITDUMP != 0,
            gdb: c.flags & FLAG_GDB != 0,
            host: c.flags & FLAG_CODE_MAP != 0,
        },
        ..default
    })
}
