//! One command line: what it is run with, and what came of it.
//!
//! Problem: a command line is words, what standard input holds, an environment, and where the streams go;
//! and two executables are to be given exactly the same. Design: a [`Case`] says all of that; [`Case::run`]
//! starts an executable under the name `lua`, which both see as their own, in a folder of scripts.
//! Invariant: nothing of the tester's environment that Lua looks at is passed on.
//!
//! Example: `case(&["-e", "print(...)"]).stdin("x")`.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

/// Processor time that a case may take.
const SECONDS: u64 = 60;

/// Where standard output goes, and what else happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Around {
    /// It is read to its end.
    Plain,
    /// It is closed from the start.
    ClosedOutput,
    /// It is closed from the start, and so is standard error.
    ClosedErrors,
    /// It is a device that is full.
    Full,
    /// Its reader ends after one line.
    Head,
    /// After its first line an interrupt comes.
    Interrupt,
}

/// A command line and what is around it.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The words after the executable.
    pub words: &'static [&'static str],
    /// What standard input holds.
    pub stdin: &'static str,
    /// Variables of the environment.
    pub env: &'static [(&'static str, &'static str)],
    /// Where the streams go.
    pub around: Around,
}

/// A case of these words alone.
pub const fn case(words: &'static [&'static str]) -> Case {
    Case { words, stdin: "", env: &[], around: Around::Plain }
}

impl Case {
    /// With this on standard input.
    pub const fn stdin(self, stdin: &'static str) -> Case {
        Case { stdin, ..self }
    }

    /// With this environment.
    pub const fn env(self, env: &'static [(&'static str, &'static str)]) -> Case {
        Case { env, ..self }
    }

    /// With streams like this.
    pub const fn around(self, around: Around) -> Case {
        Case { around, ..self }
    }
}

/// What came of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Exit code, or the signal that ended it.
    pub end: String,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

fn end(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => code.to_string(),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "?".into(),
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A command under the name `lua`, with no variable that Lua or the JIT looks at.
pub fn command(executable: &str, folder: &Path) -> Command {
    let mut command = Command::new(executable);
    command.arg0("lua").current_dir(folder);
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    for name in names.filter(|name| name.starts_with("LUA_") || name.starts_with("TLUA_")) {
        command.env_remove(name);
    }
    // SAFETY: `setrlimit` may be called between fork and exec.
    unsafe {
        command.pre_exec(|| {
            // What hangs is ended.
            let seconds = libc::rlimit { rlim_cur: SECONDS, rlim_max: SECONDS };
            libc::setrlimit(libc::RLIMIT_CPU, &seconds);
            Ok(())
        });
    }
    command
}

impl Case {
    /// Starts an executable in a folder, and with variables for the JIT beside the case's own.
    pub fn run(&self, executable: &str, folder: &Path, jit: &[(&str, &str)]) -> Outcome {
        let mut command = command(executable, folder);
        command.args(self.words).envs(jit.iter().copied()).envs(self.env.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        match self.around {
            Around::Full => {
                command.stdout(File::create("/dev/full").expect("there is such a device"));
            }
            Around::ClosedOutput => close(&mut command, &[1]),
            Around::ClosedErrors => close(&mut command, &[1, 2]),
            _ => {}
        }
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{executable}: {error}"));
        // Whoever has ended does not read.
        let _ = child.stdin.take().expect("it is piped").write_all(self.stdin.as_bytes());
        match self.around {
            Around::Head | Around::Interrupt => self.after_a_line(child),
            _ => {
                let output = child.wait_with_output().expect("it ends");
                Outcome {
                    end: end(output.status),
                    stdout: text(&output.stdout),
                    stderr: text(&output.stderr),
                }
            }
        }
    }

    fn after_a_line(&self, mut child: Child) -> Outcome {
        let mut output = child.stdout.take().expect("it is piped");
        let (mut line, mut byte) = (Vec::new(), [0]);
        while line.last() != Some(&b'\n') && output.read(&mut byte).is_ok_and(|count| count == 1) {
            line.push(byte[0]);
        }
        let mut errors = child.stderr.take().expect("it is piped");
        if self.around == Around::Interrupt {
            // The loop gets its code meanwhile.
            std::thread::sleep(std::time::Duration::from_millis(150));
            // SAFETY: it is our child, and nobody has waited for it.
            unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGINT) };
            output.read_to_end(&mut line).expect("it can be read");
        }
        drop(output);
        let mut told = Vec::new();
        errors.read_to_end(&mut told).expect("it can be read");
        let status = child.wait().expect("it ends");
        Outcome { end: end(status), stdout: text(&line), stderr: text(&told) }
    }
}

/// Closes streams before the executable begins.
fn close(command: &mut Command, streams: &'static [i32]) {
    // SAFETY: `close` may be called between fork and exec.
    unsafe {
        command.pre_exec(|| {
            streams.iter().for_each(|&stream| {
                libc::close(stream);
            });
            Ok(())
        });
    }
}
