//! Runs a command on one core and tells what it used.
//!
//! Problem: processor time and peak memory of *one* child, not of all children so far. Design: the child
//! binds itself to a core and limits its own time before it starts the program; it is waited for
//! with `wait4`, which answers its resource usage alone. Invariant: a program that hangs ends by the limit,
//! and is reported as failed.
//!
//! Example: `run(&["lua".into(), "x.lua".into()], &Limits::new(Some(1), 60))`.

use std::ffi::OsString;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{bail, Context};

/// What a process may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The only core that it runs on.
    pub core: Option<usize>,
    /// Seconds of processor time, or elapsed ones.
    pub seconds: u64,
    /// Whether they are elapsed ones. Under a limit of processor time Linux's clock of it moves with the
    /// scheduler's ticks alone, every few milliseconds, which is too coarse for short calls.
    pub is_elapsed: bool,
}

impl Limits {
    /// So many seconds of processor time on that core.
    pub fn new(core: Option<usize>, seconds: u64) -> Limits {
        Limits { core, seconds, is_elapsed: false }
    }
}

/// What a process did.
#[derive(Clone, Debug, Default)]
pub struct Finished {
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
    /// Seconds of processor time in its own code.
    pub user: f64,
    /// Seconds of processor time in the kernel.
    pub system: f64,
    /// Seconds from start to end.
    pub wall: f64,
    /// The most memory that it had, in KiB.
    pub peak_kib: u64,
}

impl Finished {
    /// Seconds of processor time.
    pub fn cpu(&self) -> f64 {
        self.user + self.system
    }
}

/// The last core that this process may use: the first ones get most interrupts.
pub fn usual_core() -> Option<usize> {
    // SAFETY: an all-zero set is a valid value, and the kernel writes no more than the size that is passed.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        if libc::sched_getaffinity(0, std::mem::size_of_val(&set), &mut set) != 0 {
            return None;
        }
        (0..libc::CPU_SETSIZE as usize).rev().find(|core| libc::CPU_ISSET(*core, &set))
    }
}

/// Runs a command to its end.
pub fn run(command: &[OsString], limits: &Limits) -> anyhow::Result<Finished> {
    let (executable, args) = command.split_first().context("an empty command")?;
    let limits = *limits;
    let mut builder = Command::new(executable);
    builder.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    builder.env_remove("LUA_INIT").env_remove("LUA_INIT_5_4").env("PYTHONDONTWRITEBYTECODE", "1");
    // SAFETY: between fork and exec the child makes two system calls and touches no memory but its own
    // copies.
    unsafe {
        builder.pre_exec(move || restrict(&limits));
    }
    let started = Instant::now();
    let mut child =
        builder.spawn().with_context(|| format!("cannot start {}", executable.to_string_lossy()))?;
    let mut errors = child.stderr.take().context("no standard error")?;
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What could be read before an error is shown all the same.
        let _ = errors.read_to_end(&mut bytes);
        bytes
    });
    let mut output = Vec::new();
    child.stdout.take().context("no standard output")?.read_to_end(&mut output)?;
    let stderr = reader.join().unwrap_or_default();

    let mut status = 0;
    // SAFETY: an all-zero usage is a valid value; the child is ours and nobody else waits for it.
    let (waited, usage) = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        (libc::wait4(child.id() as libc::pid_t, &mut status, 0, &mut usage), usage)
    };
    let wall = started.elapsed().as_secs_f64();
    let stderr = String::from_utf8_lossy(&stderr).into_owned();
    if waited < 0 {
        bail!("cannot wait for {}", executable.to_string_lossy());
    }
    if libc::WIFSIGNALED(status) {
        let signal = libc::WTERMSIG(status);
        if signal == libc::SIGALRM && limits.is_elapsed {
            bail!("took more than {} s", limits.seconds);
        }
        if signal == libc::SIGXCPU || signal == libc::SIGKILL {
            bail!("took more than {} s of processor time", limits.seconds);
        }
        bail!("was ended by signal {signal}");
    }
    if libc::WEXITSTATUS(status) != 0 {
        let last = stderr.lines().next().unwrap_or("no message");
        bail!("exit code {}: {last}", libc::WEXITSTATUS(status));
    }
    Ok(Finished {
        stdout: String::from_utf8_lossy(&output).into_owned(),
        stderr,
        user: seconds(usage.ru_utime),
        system: seconds(usage.ru_stime),
        wall,
        peak_kib: usage.ru_maxrss as u64,
    })
}

fn seconds(time: libc::timeval) -> f64 {
    time.tv_sec as f64 + time.tv_usec as f64 * 1e-6
}

/// In the child, before the program starts.
fn restrict(limits: &Limits) -> std::io::Result<()> {
    if let Some(core) = limits.core {
        // SAFETY: an all-zero set is a valid value; the core was found in a set of the same size.
        let bound = unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(core, &mut set);
            libc::sched_setaffinity(0, std::mem::size_of_val(&set), &set)
        };
        if bound != 0 {
            return Err(std::io::Error::last_os_error());
        }
    }
    if limits.is_elapsed {
        // SAFETY: the call sets a timer of this process, which the program to be started keeps.
        unsafe { libc::alarm(limits.seconds as libc::c_uint) };
        return Ok(());
    }
    let limit = libc::rlimit { rlim_cur: limits.seconds, rlim_max: limits.seconds + 1 };
    // SAFETY: the structure lives as long as the call.
    if unsafe { libc::setrlimit(libc::RLIMIT_CPU, &limit) } != 0 {
        return Err(std::io::Error::last_os_error());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, seconds: u64) -> anyhow::Result<Finished> {
        run(&["sh".into(), "-c".into(), script.into()], &Limits::new(usual_core(), seconds))
    }

    #[test]
    fn what_a_process_used_is_its_own() {
        let idle = shell("echo out; echo err >&2", 20).expect("it ends well");
        assert_eq!((idle.stdout.as_str(), idle.stderr.as_str()), ("out\n", "err\n"));
        let busy = shell("i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done", 20).expect("it ends well");
        let idle = shell(":", 20).expect("it ends well");
        assert!(busy.cpu() > 0.02 && idle.cpu() < busy.cpu(), "{busy:?}, {idle:?}");
        assert!(idle.peak_kib > 100 && idle.wall > 0.0, "{idle:?}");
    }

    #[test]
    fn what_hangs_or_fails_is_an_error() {
        let error = shell("while :; do :; done", 1).expect_err("it never ends").to_string();
        assert_eq!(error, "took more than 1 s of processor time");
        let elapsed = Limits { is_elapsed: true, ..Limits::new(usual_core(), 1) };
        let error = run(&["sleep".into(), "9".into()], &elapsed).expect_err("it sleeps for long").to_string();
        assert_eq!(error, "took more than 1 s");
        let error = shell("echo no >&2; exit 3", 20).expect_err("it fails").to_string();
        assert_eq!(error, "exit code 3: no");
        let error = shell("kill -SEGV $$", 20).expect_err("it is killed").to_string();
        assert_eq!(error, format!("was ended by signal {}", libc::SIGSEGV));
    }
}
