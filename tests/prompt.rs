//! The prompt on a terminal: as stock Lua's where the terminal can only print, and with lines that can be
//! edited where it can do more.
//!
//! Problem: what is typed, echoed and printed meets on a terminal, and a pipe shows nothing of that. Design:
//! a pseudo-terminal for each process, which a test types into line by line, each after the prompt that it
//! is the answer to. With `TERM=dumb` all that appears is compared with stock Lua's, to the byte. Invariant:
//! a test that waits in vain fails with what had appeared.
//!
//! Example: `1 + 2`, arrow up, `3` twice.

#![cfg(target_os = "linux")]

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command};
use std::ptr::null_mut;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tracelift_lua::STOCK_COMMAND;

const TLUA: &str = env!("CARGO_BIN_EXE_tlua");

/// How long a test waits for something to appear.
const PATIENCE: Duration = Duration::from_secs(20);

/// A process at a terminal.
struct Session {
    child: Child,
    terminal: File,
    /// The terminal's modes before the child began.
    first_modes: Modes,
    /// All that has appeared so far.
    seen: String,
    /// How much of it was waited for.
    read: usize,
}

/// Local, input and output modes.
type Modes = [libc::tcflag_t; 3];

fn modes(terminal: &File) -> Modes {
    // SAFETY: all zeros is a value of it, and it is valid for the call.
    unsafe {
        let mut modes: libc::termios = std::mem::zeroed();
        libc::tcgetattr(terminal.as_raw_fd(), &mut modes);
        [modes.c_lflag, modes.c_iflag, modes.c_oflag]
    }
}

/// Who starts a session.
static STARTS: Mutex<()> = Mutex::new(());

impl Session {
    fn new(executable: &str, words: &[&str], variables: &[(&str, &str)]) -> Session {
        // A child of another test's that begins now would hold this terminal open, too.
        let alone = STARTS.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut ours, mut theirs) = (-1, -1);
        let size = libc::winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
        // SAFETY: the pointers are valid for the call or null.
        let code = unsafe { libc::openpty(&mut ours, &mut theirs, null_mut(), null_mut(), &size) };
        assert_eq!(code, 0, "there is no terminal");
        // SAFETY: both were just opened, for us.
        let (ours, theirs) = unsafe { (OwnedFd::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs)) };
        // SAFETY: `fcntl` on a file of ours: the child is not to keep our side open.
        unsafe { libc::fcntl(ours.as_raw_fd(), libc::F_SETFD, libc::FD_CLOEXEC) };
        let stream = || theirs.try_clone().expect("a file can be opened twice");
        let mut command = Command::new(executable);
        command.arg0("lua").args(words).env_remove("LUA_INIT").env_remove("TLUA_JIT");
        command.envs(variables.iter().copied()).stdin(stream()).stdout(stream()).stderr(stream());
        // SAFETY: all may be called between fork and exec.
        unsafe {
            command.pre_exec(|| {
                // Who runs the tests in the background may have it ignored.
                libc::signal(libc::SIGINT, libc::SIG_DFL);
                libc::setsid();
                libc::ioctl(0, libc::TIOCSCTTY, 0);
                Ok(())
            });
        }
        let terminal = File::from(ours);
        let first_modes = modes(&terminal);
        let child = command.spawn().unwrap_or_else(|error| panic!("{executable}: {error}"));
        drop((command, theirs, alone));
        Session { child, terminal, first_modes, seen: String::new(), read: 0 }
    }

    fn type_in(&mut self, text: &str) {
        self.terminal.write_all(text.as_bytes()).expect("the terminal takes what is typed");
    }

    /// Reads what appears; false at the end.
    fn more(&mut self) -> bool {
        let mut waiting = libc::pollfd { fd: self.terminal.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: it is one record.
        if unsafe { libc::poll(&mut waiting, 1, 100) } == 0 {
            return true;
        }
        let mut bytes = [0; 4096];
        let count = self.terminal.read(&mut bytes).unwrap_or(0);
        self.seen.push_str(&String::from_utf8_lossy(&bytes[..count]));
        count > 0
    }

    /// Waits until a text appears after what was waited for before.
    fn wait(&mut self, text: &str) {
        let begin = Instant::now();
        loop {
            if let Some(at) = self.seen[self.read..].find(text) {
                self.read += at + text.len();
                return;
            }
            assert!(self.more() && begin.elapsed() < PATIENCE, "no {text:?} in {:?}", self.seen);
        }
    }

    /// Waits for the end: all that appeared, and the exit code or the signal.
    fn end(mut self) -> (String, Option<i32>, Option<i32>) {
        let begin = Instant::now();
        while self.more() {
            assert!(begin.elapsed() < PATIENCE, "it goes on after {:?}", self.seen);
        }
        let status = self.child.wait().expect("it ends");
        (std::mem::take(&mut self.seen), status.code(), status.signal())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Nothing is left to do if it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const DUMB: &[(&str, &str)] = &[("TERM", "dumb")];
const XTERM: &[(&str, &str)] = &[("TERM", "xterm")];

/// What one types, and what one waits for before.
const TYPED: &[(&str, &str)] = &[
    ("> ", "1 + 1\n"),
    ("> ", "= 'text'\n"),
    ("> ", "for i = 1, 3 do\n"),
    (">> ", "print(i) end\n"),
    ("> ", "error('said')\n"),
    ("> ", "x = = 1\n"),
    ("> ", "s = 0 for i = 1, 100000 do s = s + i end\n"),
    ("> ", "s\n"),
    ("> ", "_PROMPT = 'lua' .. '% '\n"),
    ("lua% ", "io.read('l'), 'read'\n"),
    ("\r\n", "given\n"),
    ("lua% ", "print('begun') while true do end\n"),
    ("\r\nbegun", "\u{3}"),
    ("lua% ", "io.write('no end of line') and 0\n"),
    ("lua% ", "\u{4}"),
];

fn transcript(
    executable: &str,
    words: &[&str],
    variables: &[(&str, &str)],
) -> (String, Option<i32>, Option<i32>) {
    let mut session = Session::new(executable, words, variables);
    for (before, line) in TYPED {
        session.wait(before);
        if *line == "\u{3}" {
            std::thread::sleep(Duration::from_millis(200));
        }
        session.type_in(line);
    }
    session.end()
}

#[test]
fn a_terminal_that_only_prints_shows_what_stock_lua_shows() {
    for words in [&[][..], &["-i"], &["-i", "-e", "print('before')"]] {
        let stock = transcript(STOCK_COMMAND, words, DUMB);
        assert!(stock.0.contains("interrupted!") && stock.0.contains("given\tread"), "{stock:?}");
        assert_eq!(stock.1, Some(0));
        for jit in ["", "opt=threshold=1", "off"] {
            let ours = transcript(TLUA, words, &[("TERM", "dumb"), ("TLUA_JIT", jit)]);
            assert_eq!(stock, ours, "{words:?} {jit}");
        }
    }
}

#[test]
fn lines_are_edited_and_found_again() {
    let mut session = Session::new(TLUA, &[], XTERM);
    session.wait("Lua 5.4");
    session.wait("> ");
    session.type_in("10 + 2x\u{7f}0\r");
    session.wait("\n30");
    session.wait("> ");
    // To the begin of the line, and on.
    session.type_in("* 7\u{1}6 \r");
    session.wait("\n42");
    session.wait("> ");
    session.type_in("\u{1b}[A\u{1b}[A\r");
    session.wait("\n30");
    session.wait("> ");
    session.type_in("for i = 5, 5 do\r");
    session.wait(">> ");
    session.type_in("print(i * 111) end\r");
    session.wait("\n555");
    session.wait("> ");
    session.type_in("_PROMPT = 'ä' .. '> '\r");
    session.wait("ä> ");
    session.type_in("#'ö'\r");
    session.wait("\n2");
    session.wait("ä> ");
    session.type_in("error('said')\r");
    session.wait("stdin:1: said");
    session.wait("ä> ");
    session.type_in("print('begun') while true do end\r");
    session.wait("\nbegun");
    std::thread::sleep(Duration::from_millis(200));
    session.type_in("\u{3}");
    session.wait("interrupted!");
    session.wait("ä> ");
    session.type_in("io.read('l') .. '!'\r");
    session.wait("\n");
    session.type_in("plain\r");
    session.wait("plain!");
    session.wait("ä> ");
    session.type_in("\u{4}");
    let (seen, code, signal) = session.end();
    assert_eq!((code, signal), (Some(0), None), "{seen:?}");
}

/// At the prompt an interrupt is nobody's but the process's.
#[test]
fn an_interrupt_at_the_prompt_ends_the_process() {
    for (executable, variables) in [(STOCK_COMMAND, DUMB), (TLUA, DUMB), (TLUA, XTERM)] {
        let mut session = Session::new(executable, &[], variables);
        session.wait("> ");
        session.type_in("half a li");
        std::thread::sleep(Duration::from_millis(100));
        session.type_in("\u{3}");
        let (seen, code, signal) = session.end();
        assert_eq!((code, signal), (None, Some(libc::SIGINT)), "{executable} {variables:?}: {seen:?}");
    }
}

#[test]
fn os_exit_leaves_the_terminal_as_it_was() {
    let mut session = Session::new(TLUA, &["-i"], XTERM);
    session.wait("> ");
    session.type_in("print(6 * 7) os.exit(5, true)\r");
    session.wait("42");
    let begin = Instant::now();
    while session.child.try_wait().expect("it can be asked").is_none() && begin.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(session.first_modes, modes(&session.terminal));
    assert_eq!(session.end().1, Some(5));
}
