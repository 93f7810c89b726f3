//! Runs a Lua file with the hooks in a chosen mode.
//!
//! Problem: tests and measurements need the patched interpreter as a process of its own.
//!
//! Design: settings come from the environment, so that the command line is the script's own; messages have
//! the prefix `lua`, so that the output can be compared with stock Lua's to the byte.
//!
//! Invariant: with nothing set, counters run but are out of reach: what idle hooks cost.
//!
//! Example: `RUNLUA_MODE=poison RUNLUA_THRESHOLD=3 RUNLUA_REPORT=1 runlua FILE ARGS`.

use std::env;
use std::str::FromStr;

use tracelift_lua::{Config, JitConfig, LibraryConfig, Lua, Mode, Refusal};

fn number<T: FromStr>(name: &str, default: T) -> T {
    env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn main() {
    let mode = match env::var("RUNLUA_MODE").as_deref() {
        Ok("off") => Mode::Off,
        Ok("stress") => Mode::Stress,
        Ok("poison") => Mode::Poison,
        Ok("sabotage") => Mode::Sabotage,
        Ok("jit") => Mode::Jit,
        _ => Mode::Count,
    };
    let library = LibraryConfig {
        flags: number("RUNLUA_FLAGS", 0),
        force_exit: number("RUNLUA_FORCE_EXIT", 0),
        passes: env::var("RUNLUA_PASSES").unwrap_or_default(),
        log: env::var("RUNLUA_LOG").unwrap_or_default(),
        log_file: env::var_os("RUNLUA_LOG_FILE").map(Into::into),
        ..LibraryConfig::default()
    };
    let jit = JitConfig {
        library,
        mode,
        threshold: number("RUNLUA_THRESHOLD", JitConfig::OUT_OF_REACH),
        period: number("RUNLUA_PERIOD", 10),
        seed: number("RUNLUA_SEED", 1),
        baseline: number::<u32>("RUNLUA_BASELINE", 1) != 0,
        nests: number::<u32>("RUNLUA_NESTED", 0) != 0,
    };
    let refusal = Refusal { from: number("RUNLUA_REFUSE", 0), count: number("RUNLUA_REFUSE_COUNT", 0) };
    let command = vec!["lua".into()];
    let prefix = "lua".into();
    let lua = Lua::new(Config { prefix, command, refusal, jit, keeps_counts: true, ..Config::default() });
    let mut words = env::args_os().skip(1);
    let Some(script) = words.next() else {
        eprintln!("usage: runlua FILE [ARGS]");
        std::process::exit(2);
    };
    let args: Vec<_> = words.collect();
    match lua.run_file(&script, &args) {
        Ok(status) => {
            if env::var_os("RUNLUA_REPORT").is_some() {
                eprintln!("{:?}", status.statistics);
                eprintln!("requests: {}", status.requests);
                eprint!("{}", status.jit_text);
            }
            if let Some(path) = env::var_os("RUNLUA_JSON") {
                std::fs::write(path, &status.jit_json).expect("RUNLUA_JSON names a file that can be written");
            }
            std::process::exit(status.code);
        }
        Err(error) => {
            eprintln!("lua: {error}");
            std::process::exit(2);
        }
    }
}
