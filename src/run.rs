//! `tracelift run`: a Lua program, as the stand-alone interpreter runs it, with the JIT on.
//!
//! Invariant: the program's own output and exit code are those of stock Lua; what the command adds
//! (statistics, log) goes to standard error or to a file.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{bail, Context};
use clap::{Args, ValueEnum};
use tracelift_lua::{Config, JitConfig, LibraryConfig, Lua, Mode, Report};

/// Arguments of `tracelift run`. So many fields: one for each option.
#[derive(Args, Debug, Default, PartialEq, Eq)]
#[command(override_usage = "tracelift run [OPTIONS] <FILE.lua> [ARGS]...")]
pub struct RunArgs {
    /// Whether hot loops are compiled.
    #[arg(long, value_enum, default_value = "on")]
    jit: Switch,
    /// Whether functions that run often get machine code at once, before anything is known of them; with the
    /// JIT off there is none.
    #[arg(long, value_enum, default_value = "on")]
    baseline: Switch,
    /// Back edges of a loop before it is recorded. If not set: 2000, and later if compiling has taken its
    /// share of the time; so what is compiled may differ from run to run.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    threshold: Option<u32>,
    /// Exits by one guard, or by a loop's end, before a side trace is recorded there; 1000, or the threshold
    /// if that is lower.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    side_threshold: Option<u32>,
    /// Optimizer passes to switch, as `-fold,-guards`.
    #[arg(long, value_name = "PASSES", allow_hyphen_values = true)]
    opt: Option<String>,
    /// Test aid: make the Nth guard execution fail.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    force_exit: Option<u64>,
    /// Test aid: start recordings at random back edges, as many apart as the threshold says in the mean, and
    /// throw a third of them away. The program does not notice; the statistics do.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    start_seed: Option<u64>,
    /// Print statistics to standard error at the end.
    #[arg(long, value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "text")]
    stats: Option<Form>,
    /// Write a page of HTML to this file at the end, which says where the time went, what was not compiled
    /// and why; or the same as data, if the name ends in `.json`. Counting for it slows the program down.
    #[arg(long, value_name = "FILE", require_equals = true)]
    view: Option<PathBuf>,
    /// Count the guards that compiled code executes, for the statistics; slows all of them down.
    #[arg(long, requires = "stats")]
    count_guards: bool,
    /// Stages to log: trace (a line for each), record, opt, resume, clif, asm, code (the optimized trace with
    /// its machine code), region, exit, abort, all.
    #[arg(long, value_name = "STAGES")]
    log: Option<String>,
    /// Where the log goes instead of standard error.
    #[arg(long, value_name = "FILE")]
    log_file: Option<PathBuf>,
    /// Check every trace at every stage (slow; for tests).
    #[arg(long)]
    verify: bool,
    /// A directory where this run leaves hints for the next one, and finds those of earlier ones: what had
    /// machine code that has paid gets it at once. It is made if its parent is there.
    #[arg(long, value_name = "DIR", require_equals = true)]
    jit_cache: Option<PathBuf>,
    /// Limit of machine code in KiB: when it is full the least useful code makes room.
    #[arg(long, value_name = "KIB", value_parser = clap::value_parser!(u64).range(1..))]
    code_limit: Option<u64>,
    /// Make machine code of a short loop once, instead of several times in a row.
    #[arg(long)]
    no_unrolling: bool,
    /// Do not let loops ask early for the memory that they walk through.
    #[arg(long)]
    no_prefetching: bool,
    /// Let Cranelift make all machine code, also what can be made without it: for a comparison.
    #[arg(long)]
    no_quick_code: bool,
    /// Let traces of a tree stay functions that are linked: for a comparison.
    #[arg(long)]
    no_regions: bool,
    /// Where machine code is made: while the program waits, or on another thread while it goes on.
    #[arg(long, value_name = "WHERE", default_value = "inline")]
    compile: Compile,
    /// Take Lua's memory from the C library's malloc alone, which tools such as valgrind watch.
    #[arg(long)]
    malloc: bool,
    /// Test aid: behave as if the system refused executable memory.
    #[arg(long)]
    no_exec: bool,
    /// Test aid: inside each call that compiled code makes, other code is entered and left.
    #[arg(long)]
    nested_calls: bool,
    /// The program, where `-` is standard input, and its arguments: all words from here on are its own.
    #[arg(value_name = "FILE.lua", required = true, trailing_var_arg = true)]
    program: Vec<OsString>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
enum Switch {
    #[default]
    On,
    Off,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
enum Compile {
    #[default]
    Inline,
    Thread,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Form {
    Text,
    Json,
}

impl RunArgs {
    /// What `tracelift run FILE ARGS` means, where `FILE` is no option. The parser of options would say the
    /// same, but it takes a tenth of a millisecond and twenty pages, as much as a small script.
    pub fn without_options(words: impl IntoIterator<Item = OsString>) -> Option<RunArgs> {
        let mut words = words.into_iter().skip(1);
        let command = words.next()?;
        let file = words.next()?;
        let is_program = file == "-" || !file.is_empty() && !file.as_encoded_bytes().starts_with(b"-");
        let is_plain = command == "run" && is_program;
        let program = || std::iter::once(file).chain(words).collect();
        is_plain.then(|| RunArgs { program: program(), ..RunArgs::default() })
    }
}

/// Runs the program.
pub fn run(args: &RunArgs) -> anyhow::Result<u8> {
    let (file, words) = args.program.split_first().context("there is no program")?;
    let file = Path::new(file);
    if file.as_os_str() != "-" {
        let metadata = std::fs::metadata(file).with_context(|| format!("cannot open {}", file.display()))?;
        if metadata.is_dir() {
            bail!("cannot read {}: it is a directory", file.display());
        }
    }
    check_settings(args)?;
    let flags = [
        (args.jit == Switch::Off, LibraryConfig::OFF),
        (args.stats.is_some(), LibraryConfig::COUNT_ITERATIONS),
        (args.view.is_some(), LibraryConfig::VIEW),
        (args.count_guards, LibraryConfig::COUNT_GUARDS),
        (args.verify, LibraryConfig::VERIFY),
        (args.no_unrolling, LibraryConfig::NO_UNROLLING),
        (args.no_prefetching, LibraryConfig::NO_PREFETCHING),
        (args.no_quick_code, LibraryConfig::NO_QUICK_CODE),
        (args.no_regions, LibraryConfig::NO_REGIONS),
        (args.no_exec, LibraryConfig::NO_EXEC),
        (args.compile == Compile::Thread, LibraryConfig::THREAD),
    ];
    let flags = flags.iter().filter(|(is_set, _)| *is_set).fold(0, |all, (_, flag)| all | flag);
    let library = LibraryConfig {
        flags,
        code_bytes: args.code_limit.map_or(0, |kib| kib.saturating_mul(1024)),
        side_threshold: args.side_threshold.unwrap_or(0),
        force_exit: args.force_exit.unwrap_or(0),
        start_seed: args.start_seed.unwrap_or(0),
        passes: args.opt.clone().unwrap_or_default(),
        log: args.log.clone().unwrap_or_default(),
        log_file: args.log_file.clone(),
        ..LibraryConfig::default()
    };
    let jit = JitConfig {
        // With the JIT off the library is only needed to count for the statistics.
        mode: if args.jit == Switch::On || args.stats.is_some() || args.view.is_some() {
            Mode::Jit
        } else {
            Mode::Off
        },
        threshold: args.threshold.unwrap_or(0),
        nests: args.nested_calls,
        baseline: args.baseline == Switch::On,
        library,
        ..JitConfig::default()
    };
    let report = match args.stats {
        None => Report::None,
        Some(Form::Text) => Report::Text,
        Some(Form::Json) => Report::Json,
    };
    let config = Config {
        command: words_before(std::env::args_os().collect(), args.program.len()),
        jit,
        report,
        view: args.view.clone(),
        cache: args.jit_cache.clone(),
        uses_malloc: args.malloc,
        ..Config::default()
    };
    let status = Lua::new(config).run_file(file, words)?;
    Ok(status.code.clamp(0, 255) as u8)
}

/// The words of a command line before the program: what a script finds in `arg[-1]` and below.
fn words_before(mut words: Vec<OsString>, of_program: usize) -> Vec<OsString> {
    words.truncate(words.len().saturating_sub(of_program));
    words
}

/// What the library would refuse, said before anything starts.
fn check_settings(args: &RunArgs) -> anyhow::Result<()> {
    tracelift_opt::Config::parse(args.opt.as_deref().unwrap_or("")).context("--opt")?;
    let stages = tracelift_runtime::Stage::parse_list(args.log.as_deref().unwrap_or(""));
    stages.map_err(anyhow::Error::msg).context("--log")?;
    if let Some(view) = &args.view {
        let opened = std::fs::OpenOptions::new().append(true).create(true).open(view);
        opened.with_context(|| format!("the view cannot be written: {}", view.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        run: RunArgs,
    }

    /// What both ways make of `tracelift run WORDS`.
    fn both(words: &[&str]) -> (Option<RunArgs>, Option<RunArgs>) {
        let line = || ["tracelift", "run"].iter().chain(words).map(OsString::from);
        (RunArgs::without_options(line()), Line::try_parse_from(line().skip(1)).ok().map(|line| line.run))
    }

    #[test]
    fn a_line_without_options_means_what_the_parser_says() {
        let lines: [&[&str]; 9] = [
            &["a.lua"],
            &["-"],
            &["a.lua", "1", "two"],
            &["a.lua", "--jit=off", "-x"],
            &["a.lua", "--", "b"],
            &["a.lua", "", "--help"],
            &["-", "-"],
            &["a.lua", "--stats", "--bogus", "b"],
            &["a.lua", "-1"],
        ];
        for words in lines {
            let (short, long) = both(words);
            assert!(short.is_some(), "{words:?}");
            assert_eq!(short, long, "{words:?}");
        }
    }

    #[test]
    fn a_script_sees_the_words_before_it() {
        let line = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        let all = line(&["tracelift", "run", "--stats", "a.lua", "x"]);
        assert_eq!(words_before(all.clone(), 2), line(&["tracelift", "run", "--stats"]));
        assert_eq!(words_before(all, 9), line(&[]));
    }

    #[test]
    fn other_lines_are_left_to_the_parser() {
        for words in [&[][..], &["--jit=off", "a.lua"], &["--", "a.lua"], &["-h"], &[""]] {
            assert_eq!(both(words).0, None, "{words:?}");
        }
        let other = ["tracelift", "opt", "a.trace"].map(OsString::from);
        assert_eq!(RunArgs::without_options(other), None);
    }
}
