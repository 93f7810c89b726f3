//! The table of benchmarks.
//!
//! Problem: every contender must do the same work. Design: a row names a program, which lies in `lua/`, `c/`
//! and `python/` under that name, and the arguments for the sizes there are. Where LuaJIT cannot parse the
//! program for Lua 5.4, its own lies beside it, with `_luajit` after the name. Invariant: all contenders get
//! the same arguments.
//!
//! Example: the row `FFT` with `&[1024, 12288]` is `runner.lua fft … 1024 12288`, and is called
//! `FFT(1024,12288)`.

use std::path::{Path, PathBuf};

/// How much work is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Size {
    /// As in the paper, with repeats for today's machines.
    Full,
    /// The same data where it can be, fewer repeats.
    Quick,
    /// For tests.
    Tiny,
    /// A call of about a millisecond, to be made again and again while a JIT warms up.
    Warm,
}

/// What a row belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Group {
    /// The paper's programs, in Lua, C and Python.
    Paper,
    /// Loops that are hard in one way each, in Lua, and some in C.
    Small,
}

/// A benchmark.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// What it belongs to.
    pub group: Group,
    /// Name without the arguments.
    pub name: &'static str,
    /// The program's file, without folder and extension.
    pub program: &'static str,
    full: &'static [u64],
    quick: &'static [u64],
    tiny: &'static [u64],
    warm: &'static [u64],
}

const fn row(group: Group, name: &'static str, program: &'static str, sizes: [&'static [u64]; 4]) -> Row {
    Row { group, name, program, full: sizes[0], quick: sizes[1], tiny: sizes[2], warm: sizes[3] }
}

use Group::{Paper, Small};

/// All rows, in the order of the report.
pub const ROWS: &[Row] = &[
    row(Paper, "FFT", "fft", [&[1024, 12288], &[1024, 512], &[64, 4], &[1024, 12]]),
    row(Paper, "FFT", "fft", [&[1_048_576, 1], &[131_072, 1], &[256, 1], &[16_384, 1]]),
    row(Paper, "LU", "lu", [&[100, 2048], &[100, 80], &[12, 20], &[100, 3]]),
    row(Paper, "LU", "lu", [&[1000, 2], &[300, 2], &[40, 2], &[160, 1]]),
    row(Paper, "MonteCarlo", "monte_carlo", [&[67_108_864], &[3_000_000], &[3000], &[40_000]]),
    row(Paper, "SOR", "sor", [&[100, 12288], &[100, 800], &[16, 20], &[100, 30]]),
    row(Paper, "SOR", "sor", [&[1000, 96], &[1000, 8], &[40, 3], &[300, 4]]),
    row(
        Paper,
        "SparseMatMult",
        "sparse",
        [&[1000, 5000, 98304], &[1000, 5000, 4000], &[20, 60, 30], &[1000, 5000, 60]],
    ),
    row(
        Paper,
        "SparseMatMult",
        "sparse",
        [&[100_000, 1_000_000, 384], &[100_000, 1_000_000, 16], &[50, 500, 8], &[5000, 50_000, 8]],
    ),
    row(Paper, "conv3", "conv3", [&[1_000_000, 300], &[1_000_000, 12], &[400, 4], &[10_000, 60]]),
    row(Paper, "conv3x3", "conv3x3", [&[1000, 1000, 50], &[500, 500, 2], &[20, 12, 3], &[60, 60, 25]]),
    row(Paper, "dilate3x3", "dilate3x3", [&[1000, 1000, 50], &[500, 500, 2], &[20, 12, 3], &[60, 60, 25]]),
    row(Paper, "sobel", "sobel", [&[1000, 1000, 50], &[500, 500, 2], &[20, 12, 3], &[60, 60, 20]]),
    row(Paper, "sqrt(float)", "sqrt_float", [&[40_000_000], &[20_000_000], &[2000], &[150_000]]),
    row(Paper, "sqrt(int)", "sqrt_int", [&[40_000_000], &[20_000_000], &[2000], &[120_000]]),
    row(Paper, "sqrt(Fix16)", "sqrt_fix16", [&[40_000_000], &[400_000], &[2000], &[40_000]]),
    row(
        Small,
        "alternating branch",
        "small_alternating",
        [&[20_000_000], &[10_000_000], &[3000], &[600_000]],
    ),
    row(
        Small,
        "unpredictable branch",
        "small_unpredictable",
        [&[10_000_000], &[5_000_000], &[3000], &[100_000]],
    ),
    row(
        Small,
        "two stores",
        "small_two_stores",
        [&[4096, 5000, 0], &[4096, 1000, 0], &[64, 10, 0], &[4096, 25, 0]],
    ),
    row(
        Small,
        "two stores",
        "small_two_stores",
        [&[4096, 5000, 1], &[4096, 1000, 1], &[64, 10, 1], &[4096, 25, 1]],
    ),
    row(
        Small,
        "two objects",
        "small_two_objects",
        [&[4096, 5000, 0], &[4096, 1000, 0], &[64, 10, 0], &[4096, 25, 0]],
    ),
    row(
        Small,
        "two objects",
        "small_two_objects",
        [&[4096, 5000, 1], &[4096, 1000, 1], &[64, 10, 1], &[4096, 25, 1]],
    ),
    row(Small, "inner loop", "small_inner", [&[10_000_000, 1], &[3_000_000, 1], &[1000, 1], &[200_000, 1]]),
    row(Small, "inner loop", "small_inner", [&[6_000_000, 3], &[2_000_000, 3], &[1000, 3], &[120_000, 3]]),
    row(Small, "inner loop", "small_inner", [&[3_000_000, 10], &[1_000_000, 10], &[300, 10], &[60_000, 10]]),
    row(Small, "call", "small_call", [&[20_000_000], &[10_000_000], &[3000], &[800_000]]),
    row(Small, "record kept", "small_record", [&[3_000_000], &[1_000_000], &[2000], &[200_000]]),
    row(
        Small,
        "type changes once",
        "small_type_changes",
        [&[30_000_000], &[10_000_000], &[3000], &[800_000]],
    ),
    row(Small, "ten lines", "small_ten_lines", [&[100_000], &[30_000], &[300], &[2000]]),
];

impl Row {
    /// The program's arguments.
    pub fn arguments(&self, size: Size) -> &'static [u64] {
        match size {
            Size::Full => self.full,
            Size::Quick => self.quick,
            Size::Tiny => self.tiny,
            Size::Warm => self.warm,
        }
    }

    /// What the report calls it.
    pub fn label(&self, size: Size) -> String {
        let arguments: Vec<String> = self.arguments(size).iter().map(u64::to_string).collect();
        let arguments = arguments.join(",");
        if self.name.ends_with(')') || self.group == Group::Small {
            format!("{} {arguments}", self.name)
        } else {
            format!("{}({arguments})", self.name)
        }
    }

    /// Whether it is there in C, too.
    pub fn is_in_c(&self) -> bool {
        folder("c").join(self.program).with_extension("c").is_file()
    }

    /// The program for LuaJIT: its own if there is one.
    pub fn luajit_program(&self) -> String {
        let own = format!("{}_luajit", self.program);
        let exists = folder("lua").join(&own).with_extension("lua").is_file();
        if exists {
            own
        } else {
            self.program.to_string()
        }
    }
}

/// A folder of this package.
pub fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}
