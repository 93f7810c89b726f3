//! Stock Lua 5.4 as a host of the JIT.
//!
//! Problem: people have Lua 5.4 programs and want them faster, in the interpreter they know.
//!
//! Design: the build script compiles Lua's own sources with a few hook points (`build/insertions.rs`,
//! `c/tlua.h`); everything that touches Lua is C beside Lua's own headers, and this crate only fills in a
//! description of a run and calls one C function ([`Lua::run_file`]).
//!
//! Invariant: no Rust frame lies between a Lua function that may leave by `longjmp` and the `setjmp` that
//! catches it.
//!
//! Example:
//! ```
//! let path = std::env::temp_dir().join(format!("tracelift-doc-{}.lua", std::process::id()));
//! std::fs::write(&path, "assert(... == 'x')").unwrap();
//! let status = tracelift_lua::Lua::new(tracelift_lua::Config::default()).run_file(&path, &["x"]).unwrap();
//! assert_eq!(status.code, 0);
//! # std::fs::remove_file(path).unwrap();
//! ```

mod command;
mod config;
mod driver;
mod liveness;

// The recorder in C calls the library's C interface, and no Rust here names it.
use tracelift_runtime as _;

pub use command::{edit_lines, run_command, LineEditor};
pub use config::{Config, JitConfig, LibraryConfig, Mode, Refusal, Report, Statistics};
pub use driver::{Error, ExitStatus, Lua};
pub use liveness::list_liveness;

/// Path of an executable with unpatched Lua of the same version and flags, the oracle of differential tests.
pub const STOCK_LUA: &str = env!("TRACELIFT_STOCK_LUA");

/// Path of the command `lua` of that Lua: what `tlua` is compared with.
pub const STOCK_COMMAND: &str = env!("TRACELIFT_STOCK_COMMAND");

/// Path of the same Lua as a static library: what programs are linked with to be compared.
pub const STOCK_LIBRARY: &str = env!("TRACELIFT_STOCK_LIBRARY");

/// Names of Lua's interface for C, as its public headers have them, separated by spaces.
pub const EXPORTS: &str = env!("TRACELIFT_LUA_EXPORTS");

/// A folder with Lua's public headers, for C that is compiled against this Lua.
pub const HEADERS: &str = env!("TRACELIFT_LUA_HEADERS");

/// The version of Lua that was built, as in `lua_5.4`: 5.5 with the feature `lua55`.
pub const VERSION: &str = env!("TRACELIFT_LUA_VERSION");

/// Number of insertions of the other version that this one does without.
pub const LEFT_OUT: &str = env!("TRACELIFT_LUA_LEFT_OUT");

/// Number of insertions the build script made into Lua's sources.
pub const INSERTIONS: &str = env!("TRACELIFT_LUA_INSERTIONS");

/// Number of lines these insertions added.
pub const INSERTED_LINES: &str = env!("TRACELIFT_LUA_INSERTED_LINES");
