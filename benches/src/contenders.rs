//! Who is compared, and how each is started.
//!
//! Problem: the same program for compilers, just-in-time compilers and interpreters, of which some may not be
//! on the machine. Design: a table of contenders; [`Tools`] knows where their executables are, and turns a
//! contender, a row and a [`Protocol`] into a command. Who is missing is left out with a reason. Invariant:
//! all commands follow the protocol of `lua/runner.lua`.
//!
//! Example: `gcc` with row `SOR` compiles `c/runner.c` and `c/sor.c` once, and runs the executable.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{bail, Context};

use crate::rows::{folder, Group, Row};

/// How a contender is started.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Compiled by gcc with the paper's flags and these.
    Gcc(&'static [&'static str]),
    /// LuaJIT with these options.
    LuaJit(&'static [&'static str]),
    /// Stock Lua 5.4.
    StockLua,
    /// `tracelift run` with these options.
    Tracelift(&'static [&'static str]),
    /// This executable with these options.
    Python(&'static str, &'static [&'static str]),
}

/// Somebody to compare.
#[derive(Clone, Copy, Debug)]
pub struct Contender {
    /// As `--contenders` and the report call it.
    pub name: &'static str,
    /// What it is.
    pub what: &'static str,
    /// How it is started.
    pub kind: Kind,
    /// Whether it runs if `--contenders` is not given.
    pub by_default: bool,
    /// Whether it makes machine code; then a warm-up is worth its time.
    pub compiles: bool,
    /// The colour in the chart; none: not in the chart.
    pub colour: Option<&'static str>,
}

/// The paper's flags.
pub const GCC_FLAGS: [&str; 3] = ["-O3", "-march=native", "-fno-tree-vectorize"];

/// Without contraction, gcc rounds after each operation, as all others do.
pub const EXACT: &[&str] = &["-ffp-contract=off"];

/// As C++, with what arrays hold in memory as Lua has it: see `c/values.h`.
pub const VALUES: &[&str] = &["-x", "c++", "-DLUA_VALUES"];

const NO_UNROLL: &[&str] = &["--jit", "enable_opts=intbounds:rewrite:virtualize:string:pure:earlyforce:heap"];

const fn contender(
    name: &'static str,
    what: &'static str,
    kind: Kind,
    by_default: bool,
    compiles: bool,
    colour: Option<&'static str>,
) -> Contender {
    Contender { name, what, kind, by_default, compiles, colour }
}

/// All contenders, in the order of the report.
pub const CONTENDERS: &[Contender] = &[
    contender(
        "gcc",
        "gcc -O3 -march=native -fno-tree-vectorize",
        Kind::Gcc(&[]),
        true,
        true,
        Some("#444444"),
    ),
    contender("gcc-exact", "the same with -ffp-contract=off", Kind::Gcc(EXACT), false, true, None),
    contender(
        "gcc-values",
        "the same for arrays of values as Lua keeps them, with their tags (c/values.h)",
        Kind::Gcc(VALUES),
        false,
        true,
        None,
    ),
    contender(
        "luajit-noloop",
        "LuaJIT 2.1 -O-loop, plain tables",
        Kind::LuaJit(&["-O-loop"]),
        true,
        true,
        Some("#9ecae1"),
    ),
    contender("luajit", "LuaJIT 2.1, plain tables", Kind::LuaJit(&[]), true, true, Some("#3182bd")),
    contender("luajit-joff", "LuaJIT's interpreter", Kind::LuaJit(&["-joff"]), false, false, None),
    contender(
        "pypy3-nounroll",
        "PyPy 3 without loop peeling",
        Kind::Python("pypy3", NO_UNROLL),
        false,
        true,
        Some("#a1d99b"),
    ),
    contender("pypy3", "PyPy 3", Kind::Python("pypy3", &[]), true, true, Some("#31a354")),
    contender(
        "tracelift-nopeel",
        "tracelift run --opt=-peel",
        Kind::Tracelift(&["--opt=-peel"]),
        true,
        true,
        Some("#fdae6b"),
    ),
    contender(
        "tracelift-novirtuals",
        "tracelift run --opt=-virtuals, without the removal of allocations",
        Kind::Tracelift(&["--opt=-virtuals"]),
        false,
        true,
        None,
    ),
    contender("tracelift", "tracelift run", Kind::Tracelift(&[]), true, true, Some("#e6550d")),
    contender(
        "tracelift-thread",
        "tracelift run --compile=thread, whose processor time is that of both threads",
        Kind::Tracelift(&["--compile=thread"]),
        false,
        true,
        Some("#756bb1"),
    ),
    contender("tracelift-off", "tracelift run --jit=off", Kind::Tracelift(&["--jit=off"]), true, false, None),
    contender("lua", "stock Lua 5.4", Kind::StockLua, true, false, None),
    contender("python3", "CPython", Kind::Python("python3", &[]), false, false, None),
];

/// How often a process does the work.
#[derive(Clone, Copy, Debug)]
pub struct Protocol {
    /// Calls before the timed ones.
    pub warmups: u32,
    /// Samples of timed calls.
    pub calls: u32,
    /// Seconds of processor time after which no further call is begun.
    pub limit: f64,
}

impl Protocol {
    /// The work is done once.
    pub const ONCE: Protocol = Protocol { warmups: 0, calls: 1, limit: 0.0 };
}

/// Contenders that can run, and the names of those that cannot, with the reasons.
pub type Present = (Vec<Contender>, Vec<(&'static str, String)>);

/// Where the executables are.
#[derive(Clone, Debug)]
pub struct Tools {
    /// The command `tracelift`.
    pub tracelift: PathBuf,
    /// LuaJIT's command, if there is one.
    pub luajit: Option<PathBuf>,
    /// What is put before `tracelift` and stock Lua if they were built for another processor.
    pub emulator: Vec<OsString>,
    /// Where what gcc makes goes.
    pub build: PathBuf,
}

impl Tools {
    /// Why a contender cannot run here.
    pub fn missing(&self, contender: &Contender) -> Option<String> {
        match contender.kind {
            Kind::Gcc(flags) if flags.contains(&"c++") => not_found("g++".as_ref(), "--version"),
            Kind::Gcc(_) => not_found("gcc".as_ref(), "--version"),
            Kind::LuaJit(_) if self.luajit.is_none() => Some(
                "LuaJIT was not built; add --features peers to cargo's options, or name one with --luajit"
                    .into(),
            ),
            Kind::Python(executable, _) => not_found(executable.as_ref(), "--version"),
            Kind::LuaJit(_) => not_found(self.luajit.as_deref().unwrap_or("luajit".as_ref()), "-v"),
            Kind::StockLua | Kind::Tracelift(_) => None,
        }
    }

    /// The contenders that can run here, and the names of the others with the reasons, which are also told on
    /// standard error. It is an error if nobody can.
    pub fn who_is_here(&self, wanted: impl IntoIterator<Item = Contender>) -> anyhow::Result<Present> {
        let (mut contenders, mut left_out) = (Vec::new(), Vec::new());
        for contender in wanted {
            match self.missing(&contender) {
                None => contenders.push(contender),
                Some(reason) => {
                    eprintln!("left out: {}: {reason}", contender.name);
                    left_out.push((contender.name, reason));
                }
            }
        }
        if contenders.is_empty() {
            bail!("nobody is left to run");
        }
        Ok((contenders, left_out))
    }

    /// The executable and its options for a Lua script; none for what does not run Lua.
    pub fn lua_command(&self, contender: &Contender) -> Option<Vec<OsString>> {
        let options = |options: &[&str]| options.iter().map(OsString::from).collect::<Vec<_>>();
        let mut command: Vec<OsString> = Vec::new();
        match contender.kind {
            Kind::LuaJit(given) => {
                command.push(self.luajit.clone()?.into());
                command.extend(options(given));
            }
            Kind::StockLua => {
                command.extend_from_slice(&self.emulator);
                command.push(tracelift_lua::STOCK_LUA.into());
            }
            Kind::Tracelift(given) => {
                command.extend_from_slice(&self.emulator);
                command.extend([self.tracelift.clone().into(), "run".into()]);
                command.extend(options(given));
            }
            Kind::Gcc(_) | Kind::Python(..) => return None,
        }
        Some(command)
    }

    /// The command for a row; none if the row has no program for this contender.
    pub fn command(
        &self,
        contender: &Contender,
        row: &Row,
        protocol: Protocol,
        arguments: &[u64],
    ) -> anyhow::Result<Option<Vec<OsString>>> {
        let mut command: Vec<OsString>;
        match contender.kind {
            Kind::Gcc(_) if !row.is_in_c() => return Ok(None),
            Kind::Python(..) if row.group != Group::Paper => return Ok(None),
            Kind::Gcc(flags) => command = vec![self.compile(row.program, flags)?.into()],
            Kind::Python(executable, options) => {
                command = vec![executable.into()];
                command.extend(options.iter().map(OsString::from));
                command.extend([folder("python").join("runner.py").into(), row.program.into()]);
            }
            Kind::LuaJit(_) | Kind::StockLua | Kind::Tracelift(_) => {
                command = self.lua_command(contender).context("LuaJIT was not built")?;
                let is_luajit = matches!(contender.kind, Kind::LuaJit(_));
                let program = if is_luajit { row.luajit_program() } else { row.program.into() };
                command.extend([folder("lua").join("runner.lua").into(), program.into()]);
            }
        }
        let Protocol { warmups, calls, limit } = protocol;
        command.extend([warmups.to_string().into(), calls.to_string().into(), limit.to_string().into()]);
        command.extend(arguments.iter().map(|argument| OsString::from(argument.to_string())));
        Ok(Some(command))
    }

    /// Compiles a C program, unless it is newer than its sources.
    fn compile(&self, program: &str, flags: &[&str]) -> anyhow::Result<PathBuf> {
        let executable = self.build.join(format!("{program}{}", flags.concat()));
        let sources = folder("c");
        if is_newer(&executable, &sources) {
            return Ok(executable);
        }
        std::fs::create_dir_all(&self.build)
            .with_context(|| format!("cannot make {}", self.build.display()))?;
        let output = Command::new("gcc")
            .args(GCC_FLAGS)
            .args(flags)
            .arg("-o")
            .arg(&executable)
            .args([sources.join("runner.c"), sources.join(program).with_extension("c")])
            .arg("-lm")
            .output()
            .context("cannot start gcc")?;
        if !output.status.success() {
            bail!("gcc refuses {program}.c: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(executable)
    }
}

/// Whether a file is newer than all files of a folder.
fn is_newer(file: &Path, sources: &Path) -> bool {
    let changed = |path: &Path| std::fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    let (Some(made), Ok(entries)) = (changed(file), std::fs::read_dir(sources)) else {
        return false;
    };
    entries.flatten().all(|entry| changed(&entry.path()).is_some_and(|time| time < made))
}

/// Says so if an executable cannot be started to print its version.
fn not_found(executable: &Path, option: &str) -> Option<String> {
    let started = Command::new(executable).arg(option).stdout(Stdio::null()).stderr(Stdio::null()).status();
    match started {
        Ok(status) if status.success() => None,
        Ok(status) => Some(format!("{} {option}: {status}", executable.display())),
        Err(error) => Some(format!("{}: {error}", executable.display())),
    }
}
