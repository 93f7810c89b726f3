//! The command `tracelift`.
//!
//! Problem: a user wants to run a Lua program, and to see what the JIT did with it; a student of JITs wants
//! to see a trace go through the optimizer. Design: one subcommand each; everything that can be got wrong on
//! the command line or in a file ends in one line on standard error and exit code 2 (the script's own errors:
//! 1, as stock Lua's).
//!
//! With glibc the C library calls our `main` directly. Rust's own start would read `/proc/self/maps`, which
//! takes a tenth of the time of a small script. It would also ignore SIGPIPE, so that a script that prints
//! for ever would go on after its reader has ended. Arguments are there all the same: glibc hands them to
//! Rust's library before `main`.
//!
//! ```text
//! tracelift run --stats examples/sum.lua 1000000
//! tracelift opt tests/traces/opt/count.trace
//! ```

#![cfg_attr(all(target_os = "linux", target_env = "gnu", not(test)), no_main)]

mod opt;
mod run;

use std::io::Write;

use clap::{Parser, Subcommand};

/// Runs Lua 5.4 programs with a tracing just-in-time compiler.
#[derive(Parser, Debug)]
#[command(name = "tracelift", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Run a Lua program as `lua FILE ARGS` does.
    Run(run::RunArgs),
    /// Optimize the traces of a trace file and show what became of them.
    Opt(opt::OptArgs),
}

/// Exit code for a mistake in the command line or in an input file.
const USAGE_ERROR: u8 = 2;

/// Exit code of a panic, as Rust's own start has it.
const PANICKED: u8 = 101;

/// The C library's way in.
#[cfg(all(target_os = "linux", target_env = "gnu", not(test)))]
#[unsafe(no_mangle)]
pub extern "C" fn main() -> std::ffi::c_int {
    command().into()
}

#[cfg(not(all(target_os = "linux", target_env = "gnu", not(test))))]
fn main() -> std::process::ExitCode {
    // SAFETY: nothing else runs yet, and it is what the signal meant before Rust's start.
    #[cfg(unix)]
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
    }
    command().into()
}

/// The exit code.
fn command() -> u8 {
    let code = std::panic::catch_unwind(|| {
        if let Some(args) = run::RunArgs::without_options(std::env::args_os()) {
            return carry_out(Command::Run(args));
        }
        match Cli::try_parse() {
            Ok(cli) => carry_out(cli.command),
            Err(error) => explain(&error),
        }
    });
    // Nothing sensible is left to do if standard output is closed.
    let _ = std::io::stdout().flush();
    code.unwrap_or(PANICKED)
}

fn carry_out(command: Command) -> u8 {
    let result = with_planted_bug(|| match command {
        Command::Run(args) => run::run(&args),
        Command::Opt(args) => opt::opt(&args),
    });
    result.unwrap_or_else(|error| {
        eprintln!("tracelift: {}", one_line(&format!("{error:#}")));
        USAGE_ERROR
    })
}

/// In a build for tests of the checks: with the bug that the environment names switched on.
#[cfg(feature = "planted-bugs")]
fn with_planted_bug<T>(command: impl FnOnce() -> T) -> T {
    use tracelift_core::planted::{with_planted, Bug};
    let name = std::env::var("TRACELIFT_PLANTED").unwrap_or_default();
    let mut bugs = Bug::ALL.iter().chain(Bug::OF_UNITS).chain(Bug::OF_GRAPHS);
    match bugs.find(|bug| format!("{bug:?}") == name) {
        Some(&bug) => with_planted(bug, command),
        None => command(),
    }
}

#[cfg(not(feature = "planted-bugs"))]
fn with_planted_bug<T>(command: impl FnOnce() -> T) -> T {
    command()
}

/// Help and version go to standard output in full; of an error the first line, which says what is wrong.
fn explain(error: &clap::Error) -> u8 {
    if !error.use_stderr() || error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    {
        // Nothing sensible is left to do if standard output is closed.
        let _ = error.print();
        return if error.use_stderr() { USAGE_ERROR } else { 0 };
    }
    let text = error.to_string();
    let what: Vec<&str> = text.lines().take_while(|line| !line.trim().is_empty()).map(str::trim).collect();
    eprintln!("tracelift: {} (see 'tracelift --help')", what.join(" ").trim_start_matches("error: "));
    USAGE_ERROR
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
