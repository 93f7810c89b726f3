//! Running a script file as the stand-alone interpreter does.
//!
//! Problem: Rust programs want to run Lua files, but Lua's errors are `longjmp`s.
//!
//! Design: [`Lua::run_file`] lays the command line out as C strings, fills a `TluaRun` and calls `tlua_run`
//! once; state, protected calls and messages are the business of `c/tlua_driver.c`.
//!
//! Invariant: nothing of Rust runs while the script does.
//!
//! Example: `Lua::new(Config::default()).run_file("app.lua", &["--fast"])?.code`.

use std::ffi::{c_char, c_int, CStr, CString, OsStr};
use std::mem::offset_of;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;

use crate::config::{Config, OwnedLibraryConfig, RawConfig, Statistics};

/// Why a script could not be started. Errors of the script itself are an exit code.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A word of the command line holds a zero byte, which C strings cannot.
    #[error("an argument contains a zero byte")]
    ZeroByte(#[from] std::ffi::NulError),
    /// The command line has more words than the C side can count.
    #[error("too many arguments")]
    TooManyArguments,
    /// The Lua state or its engine could not be made.
    #[error("{0}")]
    Refused(String),
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExitStatus {
    /// Exit code for the process: 0, or 1 after an error (its message is on stderr already).
    pub code: i32,
    /// Requests for memory, if [`Config::refusal`] has them counted.
    pub requests: u64,
    /// Counts of the hooks.
    pub statistics: Statistics,
    /// Counts of the library behind [`Mode::Jit`](crate::Mode::Jit) as JSON; empty unless
    /// [`Config::keeps_counts`] asked for them, and without the recorder.
    pub jit_json: String,
    /// The same for people.
    pub jit_text: String,
}

/// `TluaRun` of `c/tlua_driver.h`. So many fields: one call from C to C takes and gives them all.
#[repr(C)]
struct RawRun {
    prefix: *const c_char,
    argv: *const *const c_char,
    argc: u32,
    script: u32,
    uses_environment: u32,
    report: u32,
    keeps_counts: u32,
    uses_malloc: u32,
    refuse_from: u64,
    refuse_count: u64,
    config: RawConfig,
    requests: u64,
    statistics: Statistics,
    refused: *const c_char,
    jit_json: *mut c_char,
    jit_text: *mut c_char,
    view: *const c_char,
    cache: *const c_char,
}

// The other side of this stands in `c/tlua_driver.c`.
const _: () = {
    assert!(size_of::<RawRun>() == 208 && offset_of!(RawRun, argc) == 16);
    assert!(offset_of!(RawRun, refuse_from) == 40 && offset_of!(RawRun, config) == 56);
    assert!(offset_of!(RawRun, requests) == 88 && offset_of!(RawRun, statistics) == 96);
    assert!(offset_of!(RawRun, refused) == 168 && offset_of!(RawRun, jit_text) == 184);
    assert!(offset_of!(RawRun, view) == 192 && offset_of!(RawRun, cache) == 200);
};

/// Takes a text from the C side's `malloc`.
///
/// # Safety
/// `text` is null or a NUL-terminated string from `malloc` that nobody else frees.
unsafe fn take_text(text: *mut c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: promised by the caller.
    unsafe {
        let copy = CStr::from_ptr(text).to_string_lossy().into_owned();
        libc::free(text.cast());
        copy
    }
}

extern "C" {
    fn tlua_run(run: *mut RawRun) -> c_int;
}

/// A way to run Lua scripts; each run has a state of its own.
#[derive(Clone, Debug, Default)]
pub struct Lua {
    config: Config,
}

impl Lua {
    /// Keeps the settings for later runs.
    pub fn new(config: Config) -> Lua {
        Lua { config }
    }

    /// Runs a script to its end, as `lua PATH ARGS` does; `-` is the standard input.
    ///
    /// A script that cannot be read or compiled, or that ends with an error, leaves a message on stderr and
    /// gives code 1. A script that calls `os.exit` ends the process.
    pub fn run_file<P, A>(&self, path: P, args: &[A]) -> Result<ExitStatus, Error>
    where
        P: AsRef<Path>,
        A: AsRef<OsStr>,
    {
        let config = &self.config;
        let words = config.command.iter().map(|word| word.as_os_str());
        let words = words.chain([path.as_ref().as_os_str()]).chain(args.iter().map(|word| word.as_ref()));
        let words: Vec<CString> =
            words.map(|word| CString::new(word.as_bytes())).collect::<Result<_, _>>()?;
        let argc = u32::try_from(words.len()).ok().filter(|count| *count < i32::MAX as u32);
        let argc = argc.ok_or(Error::TooManyArguments)?;
        let mut argv: Vec<*const c_char> = words.iter().map(|word| word.as_ptr()).collect();
        argv.push(ptr::null());
        let prefix = CString::new(config.prefix.as_bytes())?;
        let library = OwnedLibraryConfig::new(&config.jit)?;
        let text = |path: &Option<std::path::PathBuf>| {
            path.as_ref().map(|path| CString::new(path.as_os_str().as_bytes())).transpose()
        };
        let (view, cache) = (text(&config.view)?, text(&config.cache)?);
        let mut run = RawRun {
            prefix: if config.prefix.is_empty() { ptr::null() } else { prefix.as_ptr() },
            argv: argv.as_ptr(),
            argc,
            script: config.command.len() as u32,
            uses_environment: u32::from(config.uses_environment),
            report: config.report as u32,
            keeps_counts: u32::from(config.keeps_counts),
            uses_malloc: u32::from(config.uses_malloc),
            refuse_from: config.refusal.from,
            refuse_count: config.refusal.count,
            config: RawConfig::new(&config.jit, &library),
            requests: 0,
            statistics: Statistics::default(),
            refused: ptr::null(),
            jit_json: ptr::null_mut(),
            jit_text: ptr::null_mut(),
            view: view.as_ref().map_or(ptr::null(), |path| path.as_ptr()),
            cache: cache.as_ref().map_or(ptr::null(), |path| path.as_ptr()),
        };
        // SAFETY: `run` has the layout of `TluaRun`; its strings, `argv` and `library` live until after the
        // call; the function neither throws nor keeps the pointers, and returns with the state closed.
        let code = unsafe { tlua_run(&mut run) };
        // SAFETY: the C side sets both to null or to copies made for us.
        let (jit_json, jit_text) = unsafe { (take_text(run.jit_json), take_text(run.jit_text)) };
        if !run.refused.is_null() {
            // SAFETY: the C side sets it to a string literal or leaves it null.
            let reason = unsafe { CStr::from_ptr(run.refused) };
            return Err(Error::Refused(reason.to_string_lossy().into_owned()));
        }
        Ok(ExitStatus { code, requests: run.requests, statistics: run.statistics, jit_json, jit_text })
    }
}
